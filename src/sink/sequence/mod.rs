//! Image sequences and single images, written.
//!
//! Every frame is written under a temporary name beside its place and renamed, so a file under its final name is
//! always whole; what has been written stays when a job is broken off. Frames keep their numbers.

use super::{Encode, Plan, Sink, SinkError};
use crate::images::files::{is_glob, shown};
use crate::images::pattern::Pattern;
use crate::images::{Fault, Kind, MAX_BYTES, Meta, encode, tagged};
use crate::source::Stamp;
use grainfield_filters::frame::{Alpha, Depth, Family, Format, Frame, Siting};
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether an output looks like this kind: an image's extension, or a folder (which is then refused with advice).
pub fn recognises(output: &OsStr) -> bool {
    Kind::of_name(output).is_some()
        || is_folder(output)
        || matches!(Pattern::parse(output), Ok(Some(_)) | Err(_))
}

fn is_folder(output: &OsStr) -> bool {
    output.as_encoded_bytes().last().is_some_and(|&b| std::path::is_separator(b as char))
        || Path::new(output).is_dir()
}

fn bad(output: &OsStr, problem: String) -> SinkError {
    SinkError::Bad { name: shown(output), problem }
}

fn kind(output: &OsStr) -> Result<Kind, SinkError> {
    if is_folder(output) {
        let example = Path::new(output).join("####.png");
        return Err(bad(output, format!("is a folder; name the files in it, such as {}", example.display())));
    }
    Kind::of_name(output)
        .ok_or_else(|| bad(output, format!("no known extension: give one of {}", Kind::extensions())))
}

/// Whether writing `output` may replace files that `input` is still read from.
pub fn overwrites(input: &OsStr, output: &OsStr) -> bool {
    let Ok(Some(written)) = Pattern::parse(output) else { return false };
    if let Ok(Some(read)) = Pattern::parse(input) {
        return read.overlaps(&written);
    }
    let path = Path::new(input);
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
    let real = |folder: &Path| {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        folder.canonicalize().ok()
    };
    let files = || written.scan().is_ok_and(|numbers| !numbers.is_empty());
    real(folder).is_some_and(|f| Some(f) == real(written.folder()))
        && match path.file_name() {
            Some(name) if !path.is_dir() && !is_glob(input) => written.matches(name).is_some(),
            _ => files(),
        }
}

/// The format nearest to `format` that this kind of file can hold without loss of depth: family, depth and alpha.
///
/// JPEG and WebP have 8 bits only. Pictures are full range; RGB stays itself, YUV becomes RGB. The transfer stays as
/// it is tagged: OpenEXR is linear by custom, and no conversion to linear light is made here.
pub fn accepts(output: &OsStr, format: &Format) -> Result<Format, SinkError> {
    let kind = kind(output)?;
    let mut family = if format.family == Family::Gray { Family::Gray } else { Family::Rgb };
    let has_alpha = format.has_alpha() && kind != Kind::Jpeg;
    let bits = match format.depth {
        Depth::Bits(8) => Depth::Bits(8),
        _ => Depth::Bits(16),
    };
    let depth = match (kind, format.depth) {
        (Kind::Jpeg | Kind::Webp, _) => Depth::Bits(8),
        (Kind::Exr, _) | (Kind::Tiff, Depth::Float) => Depth::Float,
        _ => bits,
    };
    // what the image library's encoders lack
    if (kind == Kind::Tiff && (has_alpha || depth == Depth::Float)) || kind == Kind::Webp {
        family = Family::Rgb;
    }
    let alpha = match (has_alpha, kind) {
        (false, _) => Alpha::None,
        (true, Kind::Exr) => Alpha::Premultiplied,
        (true, _) => Alpha::Straight,
    };
    let sides = match kind {
        Kind::Webp => 16_383,
        Kind::Jpeg => 65_535,
        _ => u32::MAX,
    };
    if format.width > sides || format.height > sides {
        let (w, h) = (format.width, format.height);
        let problem = format!("{} holds at most {sides}x{sides}, the picture is {w}x{h}", kind.label());
        return Err(bad(output, problem));
    }
    let accepted =
        tagged(Format { family, depth, alpha, subsampling: (0, 0), siting: Siting::Unspecified, ..*format });
    let bytes = accepted.frame_bytes() as u64;
    if bytes > MAX_BYTES {
        return Err(bad(output, format!("a picture takes {bytes} bytes: at most {MAX_BYTES} are possible")));
    }
    Ok(accepted)
}

/// Where a sequence or single image goes.
enum Target {
    One(PathBuf),
    Many(Pattern),
}

/// Makes a sink for a pattern, or for the one file of a single frame.
///
/// The folder must exist. A file that exists is refused here when it is the only one, else when its frame comes,
/// unless the plan says to replace.
pub fn create(output: &OsStr, plan: &Plan) -> Result<Box<dyn Sink>, SinkError> {
    let kind = kind(output)?;
    let path = Path::new(output);
    let target = match Pattern::parse(output) {
        Err(e) => return Err(bad(output, e.to_string())),
        Ok(Some(pattern)) => Target::Many(pattern),
        Ok(None) if is_glob(output) => {
            return Err(bad(output, "* and ? find files; to name new ones write #### or %04d".into()));
        }
        Ok(None) if plan.frames == Some(1) => Target::One(path.to_path_buf()),
        Ok(None) => return Err(bad(output, several(path, plan.frames))),
    };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_path_buf();
    match std::fs::metadata(&folder) {
        Ok(meta) if meta.is_dir() => {}
        Ok(_) => return Err(bad(output, format!("{} is not a folder", folder.display()))),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return Err(bad(output, format!("there is no folder {}; make it first", folder.display())));
        }
        Err(cause) => return Err(SinkError::Io { name: folder.display().to_string(), cause }),
    }
    if let Target::One(path) = &target
        && !plan.overwrite
        && path.symlink_metadata().is_ok()
    {
        return Err(SinkError::Exists(path.clone()));
    }
    let encoder = Arc::new(Encoder { kind, name: shown(output) });
    Ok(Box::new(Sequence { target, folder, overwrite: plan.overwrite, written: 0, encoder }))
}

fn several(path: &Path, frames: Option<u64>) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let ext = path.extension().unwrap_or_default().to_string_lossy();
    let count = frames.map_or("more than one frame may come".to_owned(), |n| format!("{n} frames come"));
    format!("is one file and {count}; give a pattern such as {stem}.####.{ext}")
}

struct Sequence {
    target: Target,
    folder: PathBuf,
    overwrite: bool,
    written: u64,
    encoder: Arc<Encoder>,
}

impl Sink for Sequence {
    fn encoder(&self) -> Arc<dyn Encode> {
        self.encoder.clone()
    }

    fn write(&mut self, stamp: &Stamp, _: &Frame, encoded: &[u8]) -> Result<(), SinkError> {
        let path = match &self.target {
            Target::One(path) if self.written > 0 => {
                return Err(bad(path.as_os_str(), several(path, None)));
            }
            Target::One(path) => path.clone(),
            Target::Many(pattern) => pattern.path(stamp.number),
        };
        place(&self.folder, &path, encoded, self.overwrite)?;
        self.written += 1;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        Ok(())
    }

    fn abandon(self: Box<Self>) -> Result<Option<PathBuf>, SinkError> {
        Ok(None)
    }
}

/// Puts a whole file in its place in one step. On an error nothing of it is left.
fn place(folder: &Path, path: &Path, contents: &[u8], overwrite: bool) -> Result<(), SinkError> {
    let io = |cause| SinkError::Io { name: path.display().to_string(), cause };
    if !overwrite && path.symlink_metadata().is_ok() {
        return Err(SinkError::Exists(path.to_path_buf()));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".grainfield-").suffix(".tmp").rand_bytes(12);
    #[cfg(unix)]
    {
        // as any new file: what the umask leaves, not the private mode of temporary files
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder).map_err(io)?;
    file.as_file_mut().write_all(contents).map_err(io)?;
    let renamed = if overwrite { file.persist(path) } else { file.persist_noclobber(path) };
    renamed.map(drop).map_err(|e| match e.error.kind() {
        std::io::ErrorKind::AlreadyExists => SinkError::Exists(path.to_path_buf()),
        _ => io(e.error),
    })
}

struct Encoder {
    kind: Kind,
    name: String,
}

impl Encode for Encoder {
    fn encode(&self, stamp: &Stamp, frame: &Frame, out: &mut Vec<u8>) -> Result<(), SinkError> {
        let meta = stamp.carried.as_ref().and_then(|c| c.downcast_ref::<Meta>());
        encode(self.kind, frame, meta, out).map_err(|fault| match fault {
            Fault::Io(cause) => SinkError::Io { name: self.name.clone(), cause },
            Fault::Bad(problem) => SinkError::Bad {
                name: self.name.clone(),
                problem: format!("frame {}: {problem}", stamp.number),
            },
            Fault::Differs(format) => {
                let problem = format!("frame {} is {}", stamp.number, format.name());
                SinkError::Bad { name: self.name.clone(), problem }
            }
        })
    }
}
