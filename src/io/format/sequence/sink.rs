//! Writes image sequences and single images.
//!
//! Every frame is written to a file without a name, so a file with its final name is always complete; completed files are
//! kept when a job is interrupted. Frames keep their numbers.

use crate::disk::{DiskError, Partial, PartialOutput, check_folder, folder_of, system};
use crate::encoding::Encoding;
use crate::format::ONLY_VIDEO;
use crate::format::images::exr::Storing;
use crate::format::images::files::{is_glob, shown};
use crate::format::images::pattern::Pattern;
use crate::format::images::{Fault, Kind, MAX_BYTES, Meta, encode, lost, lost_color, rename, tagged};
use crate::journal::resume::{Entry, ManifestFiles, xxh64};
use crate::media::{Carried, FrameStamp};
use crate::media::{Encode, FrameClock, Plan, Rescue, Sink, SinkError};
use grainfield_filters::filter::convert::displayed;
use grainfield_filters::frame::{Alpha, Depth, Family, Format, Frame, Primaries, Siting, Transfer};
use grainfield_filters::host::lock;
use grainfield_filters::pixel::convert::chromaticities;
use grainfield_filters::ratio::Ratio;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Whether an output is of this kind: an image's extension, a pattern without extension, or a folder. The last two
/// are then errors with advice. `take#2.mp4` is not of this kind.
pub fn recognises(output: &OsStr) -> bool {
    let bare = || matches!(Pattern::parse(output), Ok(Some(p)) if p.extension().is_empty());
    Kind::from_name(output).is_some() || is_folder(output) || bare()
}

fn is_folder(output: &OsStr) -> bool {
    output.as_encoded_bytes().last().is_some_and(|&b| std::path::is_separator(b as char))
        || Path::new(output).is_dir()
}

fn bad(output: &OsStr, problem: String) -> SinkError {
    SinkError::usage(shown(output), problem)
}

fn kind(output: &OsStr) -> Result<Kind, SinkError> {
    if is_folder(output) {
        let example = Path::new(output).join("####.png");
        return Err(bad(output, format!("is a folder; name the files in it, such as {}", example.display())));
    }
    Kind::from_name(output)
        .ok_or_else(|| bad(output, format!("no known extension: give one of {}", Kind::extensions())))
}

/// Appends a picture, of a format that [`accepts`] gives, as a file of the family that the name of `output` tells.
///
/// # Errors
/// [`SinkError`] if the name tells no family, or the picture cannot be encoded.
pub fn encoded(output: &OsStr, frame: &Frame, bytes: &mut Vec<u8>) -> Result<(), SinkError> {
    encode(kind(output)?, frame, None, Storing::default(), bytes)
        .map_err(|fault| bad(output, fault.to_string()))
}

/// The format nearest to `format` that this kind of file can hold without loss of depth: family, depth and alpha.
///
/// JPEG and WebP have 8 bits only, Cineon is written with 10. Pictures are full range; RGB stays RGB, YUV becomes RGB.
/// OpenEXR and float TIFF hold linear light by convention; film density is kept, also in files that cannot tag it.
/// Alpha is straight, except in OpenEXR and in a TIFF from a premultiplied source.
///
/// # Errors
/// A usage error for an unknown extension, for a picture that is too large, and for colour in a PGM.
pub fn accepts(output: &OsStr, format: &Format) -> Result<Format, SinkError> {
    let kind = kind(output)?;
    let mut family = if format.family == Family::Gray { Family::Gray } else { Family::Rgb };
    let alpha_free = matches!(kind, Kind::Jpeg | Kind::J2k | Kind::Jp2 | Kind::Cineon | Kind::Pnm);
    let has_alpha = format.has_alpha() && !alpha_free;
    // few readers support grey with alpha in DPX
    if kind == Kind::Dpx && (has_alpha || matches!(format.depth, Depth::Bits(9..=12))) {
        family = Family::Rgb;
    }
    let bits = match format.depth {
        Depth::Bits(8) => Depth::Bits(8),
        _ => Depth::Bits(16),
    };
    let depth = match (kind, format.depth) {
        (Kind::Jpeg | Kind::Webp | Kind::Bmp | Kind::Tga | Kind::Qoi, _) => Depth::Bits(8),
        (Kind::Cineon, _) => Depth::Bits(10),
        (Kind::Exr, _) | (Kind::Tiff, Depth::Float) => Depth::Float,
        (Kind::Dpx, Depth::Bits(9 | 10)) if !has_alpha => Depth::Bits(10),
        (Kind::Dpx, Depth::Bits(11 | 12)) if !has_alpha => Depth::Bits(12),
        _ => bits,
    };
    // the image library's encoders lack these
    if (kind == Kind::Tiff && (has_alpha || depth == Depth::Float))
        || matches!(kind, Kind::Webp | Kind::Cineon | Kind::Qoi)
        || (kind == Kind::Jxl && has_alpha)
        || (matches!(kind, Kind::Bmp | Kind::Tga) && has_alpha)
    {
        family = Family::Rgb;
    }
    let alpha = match (has_alpha, kind) {
        (false, _) => Alpha::None,
        (true, Kind::Exr) => Alpha::Premultiplied,
        (true, Kind::Tiff) => format.alpha,
        (true, _) => Alpha::Straight,
    };
    let transfer = match format.transfer {
        Transfer::DENSITY if matches!(kind, Kind::Dpx | Kind::Cineon) => Transfer::DENSITY,
        Transfer::DENSITY => Transfer::UNSPECIFIED,
        _ if depth == Depth::Float => Transfer::LINEAR,
        other => other,
    };
    if kind == Kind::Pnm
        && family == Family::Rgb
        && Path::new(output).extension().is_some_and(|e| e.eq_ignore_ascii_case("pgm"))
    {
        return Err(bad(output, "PGM holds only grey: use the extension ppm, or --pix-fmt gray".into()));
    }
    let sides = match kind {
        Kind::Webp => 16_383,
        Kind::Jpeg | Kind::Tga => 65_535,
        _ => u32::MAX,
    };
    if format.width > sides || format.height > sides {
        let (w, h) = (format.width, format.height);
        let problem = format!("{} holds at most {sides}x{sides}, the picture is {w}x{h}", kind.label());
        return Err(bad(output, problem));
    }
    let accepted = Format {
        family,
        depth,
        alpha,
        transfer,
        subsampling: (0, 0),
        siting: Siting::Unspecified,
        ..*format
    };
    let mut accepted = displayed(format, tagged(accepted));
    if kind == Kind::Dpx && accepted.transfer == Transfer::SRGB && format.transfer == Transfer::LINEAR {
        // it has a code for this one
        accepted.transfer = Transfer::BT709;
    }
    let bytes = accepted.frame_bytes() as u64;
    if bytes > MAX_BYTES {
        return Err(bad(output, format!("a picture takes {bytes} bytes: at most {MAX_BYTES} are possible")));
    }
    Ok(accepted)
}

/// Whether an encoding can be chosen: how OpenEXR stores samples.
///
/// # Errors
/// The error, for the user.
pub fn allows(output: &OsStr, encoding: &Encoding) -> Result<(), String> {
    if encoding.is_default() {
        return Ok(());
    }
    if Kind::from_name(output) == Some(Kind::Exr) && encoding.has_only_options() {
        return Storing::parse(&encoding.options)
            .map(|_| ())
            .map_err(|problem| format!("the codec option {problem}"));
    }
    Err(ONLY_VIDEO.into())
}

/// The target of a sequence or single image.
enum Target {
    One(PathBuf),
    Many(Pattern),
}

/// Makes a sink for a pattern, or for the one file of a single frame.
///
/// The folder must exist. An existing file is an error here if it is the only one, else when its frame is
/// written, unless the plan allows replacing.
///
/// # Errors
/// See [`SinkError`].
pub fn create(output: &OsStr, plan: &Plan) -> Result<Box<dyn Sink>, SinkError> {
    let kind = kind(output)?;
    let path = Path::new(output);
    let target = match Pattern::parse(output) {
        Err(e) => return Err(bad(output, e.to_string())),
        Ok(Some(pattern)) => Target::Many(pattern),
        Ok(None) if is_glob(output) => {
            return Err(bad(
                output,
                "* and ? only find existing files; to number new ones use #### or %04d".into(),
            ));
        }
        Ok(None) if plan.frames == Some(1) => Target::One(path.to_path_buf()),
        Ok(None) => return Err(bad(output, several(path, plan.frames))),
    };
    let (name, folder) = (shown(output), folder_of(path).to_path_buf());
    check_folder(&name, &folder)?;
    if let Target::One(path) = &target
        && !plan.overwrite
        && path.symlink_metadata().is_ok()
    {
        return Err(SinkError::from(DiskError::Exists(path.clone())));
    }
    let carried = plan.carried.clone();
    let manifest_files = plan.journal.manifest_files.clone();
    if let Some(manifest_files) = &manifest_files {
        manifest_files.acquire().map_err(|cause| recording(&name, cause))?;
    }
    let overwrite = plan.overwrite;
    let storing = match kind {
        Kind::Exr => Storing::parse(&plan.encoding.options).map_err(|problem| bad(output, problem))?,
        _ => Storing::default(),
    };
    let lost = carried.as_ref().and_then(|c| c.downcast_ref::<Meta>()).map(|m| lost(kind, m, &plan.format));
    let mut lost = lost.unwrap_or_default();
    // PNG and JPEG XL can tag both, and DPX has a code for linear light
    let linear = kind == Kind::Dpx && plan.format.transfer == Transfer::LINEAR;
    let transfer = if linear { Transfer::UNSPECIFIED } else { plan.format.transfer };
    let stated = kind == Kind::Exr && chromaticities(plan.format.primaries).is_some();
    let primaries = if stated { Primaries::UNSPECIFIED } else { plan.format.primaries };
    lost.extend(
        lost_color(&Format { transfer, primaries, ..plan.format })
            .filter(|_| ![Kind::Png, Kind::Jxl].contains(&kind)),
    );
    let states_code = kind == Kind::Dpx || kind == Kind::Exr && plan.format.rate <= Ratio::whole(30);
    let has_code = plan.clock.is_some_and(|clock| clock.start.is_some());
    lost.extend((has_code && !states_code).then(|| "the timecode".into()));
    let encoder = Arc::new(Encoder {
        kind,
        clock: plan.clock,
        storing,
        name,
        target,
        folder,
        overwrite,
        carried,
        frames: Mutex::default(),
        manifest_files,
    });
    Ok(Box::new(Sequence { encoder, lost }))
}

/// The error that the manifest cannot be written in the folder of the frames.
fn recording(name: &str, cause: std::io::Error) -> SinkError {
    SinkError::io(format!("{name} (the manifest in its folder)"), cause)
}

fn several(path: &Path, frames: Option<u64>) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let ext = path.extension().unwrap_or_default().to_string_lossy();
    let count = frames.map_or("the input may have more than one frame".to_owned(), |n| {
        format!("the render has {n} frames")
    });
    format!("is one file, but {count}; give a pattern such as {stem}.####.{ext}")
}

struct Sequence {
    encoder: Arc<Encoder>,
    /// Properties of the source's pictures that these files cannot hold.
    lost: Vec<String>,
}

impl Sink for Sequence {
    fn encoder(&self) -> Arc<dyn Encode> {
        self.encoder.clone()
    }

    fn rescue(&self) -> Result<Arc<dyn Rescue>, SinkError> {
        Ok(self.encoder.clone())
    }

    fn keeps_times(&self) -> bool {
        false
    }

    fn notes(&self) -> Vec<String> {
        let carried = self.encoder.carried.as_ref().and_then(|c| c.downcast_ref::<Meta>());
        if self.encoder.kind != Kind::Cineon || carried.is_some_and(|m| m.cineon.is_some()) {
            return Vec::new();
        }
        vec!["Cineon stores film density (logarithmic): the samples are written unchanged".into()]
    }

    fn warnings(&self) -> Vec<String> {
        if self.lost.is_empty() {
            return Vec::new();
        }
        vec![format!(
            "{} cannot store this information of the source: {}",
            self.encoder.kind.label(),
            self.lost.join(", ")
        )]
    }

    /// Names the file that the encoder has made, which contains the bytes already.
    fn write(&mut self, stamp: &FrameStamp, frame: &Frame, _: &[u8]) -> Result<(), SinkError> {
        let path = self.encoder.path(stamp.number);
        let ready = lock(&self.encoder.frames).ready.remove(&stamp.number);
        let Ready { file, entry } = match ready {
            Some(ready) => ready,
            // not encoded in advance: encode now
            None => self.encoder.file(stamp, frame, &mut Vec::new())?,
        };
        let mut frames = lock(&self.encoder.frames);
        if !frames.named.is_empty()
            && let Target::One(path) = &self.encoder.target
        {
            return Err(bad(path.as_os_str(), several(path, None)));
        }
        if frames.ended {
            return Err(SinkError::io(path.display().to_string(), ErrorKind::Interrupted.into()));
        }
        // first, so that every file has a record
        if let (Some(manifest_files), Some(entry)) = (&self.encoder.manifest_files, entry) {
            manifest_files.record(&entry, None).map_err(|cause| recording(&self.encoder.name, cause))?;
        }
        file.persist(self.encoder.overwrite).map_err(|(_, cause)| match cause.kind() {
            ErrorKind::AlreadyExists => SinkError::from(DiskError::Exists(path.clone())),
            _ => SinkError::io(path.display().to_string(), cause),
        })?;
        frames.named.push(stamp.number);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        let PartialOutput { frames, .. } = self.encoder.end()?;
        let gone = self.encoder.gone().map_err(|cause| SinkError::io(self.encoder.name.clone(), cause))?;
        let Some((number, more)) = gone else { return Ok(()) };
        let name = self.encoder.path(number).display().to_string();
        let others = if more > 0 { format!(" (and those of {more} more)") } else { String::new() };
        let problem = format!(
            "frame {number} was finished but its file is gone{others}; resume the render to make it again"
        );
        Err(SinkError::bad(name, problem)
            .leaving(PartialOutput { partial: None, frames: frames.map(|n| n - 1 - more) }))
    }

    fn abandon(self: Box<Self>) -> Result<PartialOutput, SinkError> {
        self.encoder.end()
    }
}

/// Compresses pictures and writes them to files without names, so that many threads do the slow part, including waiting
/// for the disk, and only naming is in order.
struct Encoder {
    kind: Kind,
    clock: Option<FrameClock>,
    storing: Storing,
    name: String,
    target: Target,
    folder: PathBuf,
    overwrite: bool,
    /// The metadata of the source: for frames without their own, such as black ones.
    carried: Carried,
    frames: Mutex<Frames>,
    /// The manifests for complete files.
    manifest_files: Option<Arc<ManifestFiles>>,
}

/// The frames that have been encoded.
#[derive(Default)]
struct Frames {
    /// Complete files that wait for their names, by number. Dropping one removes it.
    ready: BTreeMap<i64, Ready>,
    /// The numbers of frames that have their names.
    named: Vec<i64>,
    /// Whether no more frames get names.
    ended: bool,
}

/// A complete file that waits for its name, and its record.
struct Ready {
    file: Partial,
    entry: Option<Entry>,
}

impl Encoder {
    fn path(&self, number: i64) -> PathBuf {
        match &self.target {
            Target::One(path) => path.clone(),
            Target::Many(pattern) => pattern.path(number),
        }
    }

    /// A complete, synced file without a name. After an error no file is left.
    fn file(&self, stamp: &FrameStamp, frame: &Frame, bytes: &mut Vec<u8>) -> Result<Ready, SinkError> {
        let path = self.path(stamp.number);
        let io = |cause| SinkError::io(path.display().to_string(), cause);
        if !self.overwrite && path.symlink_metadata().is_ok() {
            return Err(SinkError::from(DiskError::Exists(path)));
        }
        bytes.clear();
        let carried = stamp.carried.as_ref().or(self.carried.as_ref());
        let stated = self.clock.map(|clock| Meta {
            rate: Some(clock.rate),
            timecode: clock.timecode(stamp.number).map(|code| code.to_string()),
            ..Meta::default()
        });
        let meta = carried.and_then(|c| c.downcast_ref::<Meta>()).or(stated.as_ref());
        encode(self.kind, frame, meta, self.storing, bytes)
            .map_err(|fault| self.error(stamp.number, fault))?;
        rename(self.kind, &path, bytes);
        let file = Partial::unnamed(&path, &self.folder).map_err(io)?;
        file.file().write_all(bytes).map_err(io)?;
        // without it, a crash of the machine can leave the name without the contents
        file.file().sync_data().map_err(io)?;
        let entry = |manifest_files: &Arc<ManifestFiles>| {
            manifest_files.entry(stamp.number, 1, file.file(), xxh64(bytes))
        };
        let entry = self.manifest_files.as_ref().map(entry).transpose().map_err(io)?;
        Ok(Ready { file, entry })
    }

    /// The first frame that has been written and is no longer there, and the number of further ones. Reads the folder
    /// once.
    fn gone(&self) -> io::Result<Option<(i64, u64)>> {
        let there = match &self.target {
            Target::Many(pattern) => pattern.scan()?,
            Target::One(path) if path.symlink_metadata().is_ok() => return Ok(None),
            Target::One(_) => Vec::new(),
        };
        let frames = lock(&self.frames);
        let mut gone = frames.named.iter().copied().filter(|n| there.binary_search(n).is_err());
        Ok(gone.next().map(|first| (first, gone.count() as u64)))
    }

    fn error(&self, number: i64, fault: Fault) -> SinkError {
        let name = self.name.clone();
        match fault {
            Fault::Io(cause) => SinkError::io(name, cause),
            fault => SinkError::bad(name, format!("frame {number}: {fault}")),
        }
    }
}

impl Encode for Encoder {
    /// Prepares a file for [`Sink::write`]; `out` is scratch space, and empty afterwards.
    fn encode(&self, stamp: &FrameStamp, frame: &Frame, out: &mut Vec<u8>) -> Result<(), SinkError> {
        let file = self.file(stamp, frame, out);
        out.clear();
        lock(&self.frames).ready.insert(stamp.number, file?);
        Ok(())
    }
}

impl Rescue for Encoder {
    /// Frames that have their names are kept; files that wait for theirs are removed.
    fn end(&self) -> Result<PartialOutput, SinkError> {
        let mut frames = lock(&self.frames);
        frames.ended = true;
        frames.ready.clear();
        // an error does not matter, since the files have been written
        if let Some(manifest_files) = &self.manifest_files {
            let _ = manifest_files.sync();
        }
        let _ = system::sync_folder(&self.folder);
        Ok(PartialOutput { partial: None, frames: Some(frames.named.len() as u64) })
    }
}
