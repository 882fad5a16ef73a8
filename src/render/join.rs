//! Joins shards, after checking that they belong to one render: none missing, none twice, the same settings, no
//! changed bytes.

use crate::session::Cancel;
use grainfield_filters::frame::Ranges;
use grainfield_io::disk::{DiskError, Output, SameFile, folder_of};
use grainfield_io::format::Formats;
use grainfield_io::format::images::pattern::Pattern;
use grainfield_io::journal::resume::{
    Entry, Manifest, ManifestNames, Mismatch, ResumeError, State, Wanted, changed, state,
};
use grainfield_io::journal::shard::{Kind, Shard, ShardRecord};
use grainfield_io::sink::{Files, Output as Parsed, SinkError};
use grainfield_io::source::{self, SourceError};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// An error while joining shards.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The request is invalid.
    #[error("{0}")]
    Usage(String),
    /// The output is a file that is read.
    #[error(transparent)]
    SameFile(#[from] SameFile),
    /// The records of a shard cannot be read.
    #[error(transparent)]
    Record(#[from] ResumeError),
    /// A shard is missing.
    #[error("shard {index} of {count} is missing{}", others(*more))]
    Missing {
        /// The first missing one.
        index: u32,
        /// The number of shards.
        count: u32,
        /// How many more are missing.
        more: u64,
    },
    /// Two files are the same shard.
    #[error("{} and {} are both shard {index}", a.display(), b.display())]
    Doubled {
        /// The shard's number.
        index: u32,
        /// One file.
        a: PathBuf,
        /// The other file.
        b: PathBuf,
    },
    /// Two shards belong to different renders.
    #[error("{} does not belong to {}: it {problem}", other.display(), first.display())]
    Other {
        /// The first shard.
        first: PathBuf,
        /// The one that differs.
        other: PathBuf,
        /// The difference.
        problem: String,
    },
    /// A shard or a frame differs from what was written.
    #[error("{}: {problem}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// An error of the system.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        #[source]
        cause: io::Error,
    },
    /// The result cannot be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// The result cannot be encoded.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Streams to copy from the source cannot be read.
    #[error("{0} (sound, subtitles and other streams are copied from the source)")]
    Source(#[from] SourceError),
    /// The user cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl JoinError {
    /// Whether the user can fix the error by changing the command.
    pub fn is_usage(&self) -> bool {
        match self {
            JoinError::Usage(_) | JoinError::SameFile(_) | JoinError::Disk(DiskError::Name { .. }) => true,
            JoinError::Sink(e) => e.is_usage(),
            _ => false,
        }
    }
}

fn others(more: u64) -> String {
    if more == 0 { String::new() } else { format!(", and {more} more") }
}

/// The result of joining.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// Frames in the result.
    pub frames: u64,
    /// Shards that were joined; 0 for a sequence.
    pub shards: u32,
    /// Warnings to show.
    pub warnings: Vec<String>,
}

/// Joins shards in any order; without a list, those in the folder of the output, by its name. A sequence has no
/// shards: every byte of its frames is checked against the manifest; `frames` must exist, by default those that were
/// requested in the render.
///
/// # Errors
/// [`JoinError`] if a shard is missing, differs from the others or has changed, or the result cannot be written.
pub fn join(
    output: &OsStr,
    shards: &[PathBuf],
    frames: Option<&Ranges>,
    overwrite: bool,
    cancel: &Cancel,
) -> Result<Joined, JoinError> {
    match output_of(output)?.files() {
        Files::Many(pattern) if shards.is_empty() => sequence(&pattern, frames, cancel),
        _ if frames.is_some() => Err(JoinError::Usage("--frames applies to numbered images only".into())),
        Files::Many(_) => Err(JoinError::Usage(
            "shards of a sequence write to one folder: 'grainfield join OUTPUT', without shards, checks that it \
                is complete"
                .into(),
        )),
        Files::Nothing | Files::Stream(_) | Files::Image(_) => Err(JoinError::Usage(format!("shards cannot be \
            joined into {}: name a video, y4m or hash file", output.display()))),
        Files::One(path, kind) => {
            let found = if shards.is_empty() { found(&path)? } else { shards.to_vec() };
            check_overwrite(output, &found)?;
            let all = checked(&found, cancel)?;
            let Some(Part { path: first, record, .. }) = all.first() else {
                return Err(JoinError::Usage("no shards given".into()));
            };
            if record.kind != kind {
                let problem = format!("it is a shard of the kind {:?}, but {} is of the kind {kind:?}",
                    record.kind, path.display());
                return Err(JoinError::Bad { path: first.clone(), problem });
            }
            let (count, wanted, written) = (record.count, total(&all, |n| n.wanted), total(&all, |n| n.written));
            let mut joined = match kind {
                Kind::Video => video(output, overwrite, &all)?,
                Kind::Y4m => plain(path.as_os_str(), overwrite, &all, true, cancel)?,
                Kind::Hash => plain(path.as_os_str(), overwrite, &all, false, cancel)?,
            };
            joined.shards = count;
            joined.frames = written;
            if written < wanted {
                joined.warnings.push(format!("{} frames were left out when the shards were made", wanted - written));
            }
            Ok(joined)
        }
    }
}

fn output_of(name: &OsStr) -> Result<Parsed, SinkError> {
    Parsed::parse(name, Formats::default())
}

fn total(all: &[Part], count: impl Fn(&ShardRecord) -> u64) -> u64 {
    all.iter().map(|part| count(&part.record)).fold(0, u64::saturating_add)
}

/// A shard, and its records.
struct Part {
    path: PathBuf,
    manifest: Manifest,
    entry: Entry,
    record: ShardRecord,
}

impl Part {
    fn read(path: &Path) -> Result<Part, JoinError> {
        let names = ManifestNames::for_shard(path);
        let manifest = names.read();
        let mut manifest =
            manifest.map_err(|cause| ResumeError::Manifest { path: path.to_path_buf(), cause })?;
        let meta = path.metadata().map_err(|cause| JoinError::Io { path: path.to_path_buf(), cause })?;
        // a copy may have another time, so use the latest entry
        let entry = manifest.find(0, meta.len(), changed(&meta));
        let entry = entry.or_else(|| manifest.entries.get(&0)?.last()).copied();
        match entry.and_then(|entry| Some((entry, manifest.shards.remove(&entry.hash)?))) {
            Some((entry, record)) => Ok(Part { path: path.to_path_buf(), manifest, entry, record }),
            None => {
                let problem =
                    "there is no record of this shard: copy the .shard file together with the shard";
                Err(JoinError::Bad { path: names.path(0), problem: problem.into() })
            }
        }
    }
}

/// Returns an error if the output would replace a shard, its records, or its source.
fn check_overwrite(output: &OsStr, shards: &[PathBuf]) -> Result<(), JoinError> {
    let mut access = output_of(output)?.writes(None);
    for shard in shards {
        access.read("a shard", shard.clone());
        access.read_all("the .shard file of a shard", ManifestNames::for_shard(shard).files());
        // a shard without records is an error when it is checked
        let input = Part::read(shard).map(|part| source::reads(OsStr::new(&part.record.input)));
        access.read_all("the source of the shards", input.into_iter().flatten());
    }
    Ok(access.check()?)
}

/// All existing files `NAME.I-of-N.EXT`.
fn found(output: &Path) -> Result<Vec<PathBuf>, JoinError> {
    let folder = folder_of(output);
    let entries = std::fs::read_dir(folder);
    let entries = entries.map_err(|cause| JoinError::Io { path: folder.to_path_buf(), cause })?;
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let shard = name.to_str().and_then(|name| {
            let middle = match output.extension() {
                Some(ext) => name.strip_suffix(ext.to_str()?)?.strip_suffix('.')?,
                None => name,
            };
            let part = middle.strip_prefix(output.file_stem()?.to_str()?)?.strip_prefix('.')?;
            let (index, count) = part.split_once("-of-")?;
            Shard::new(index.parse().ok()?, count.parse().ok()?).ok()
        });
        if shard.is_some_and(|s| s.named(output.as_os_str()) == output.with_file_name(&name)) {
            found.push(output.with_file_name(&name));
        }
    }
    if found.is_empty() {
        let like = output.with_extension("").display().to_string();
        let problem = format!("no shards of it found ({like}.I-of-N): name them as arguments");
        return Err(JoinError::Bad { path: output.to_path_buf(), problem });
    }
    Ok(found)
}

/// All shards of one render, in order.
fn checked(paths: &[PathBuf], cancel: &Cancel) -> Result<Vec<Part>, JoinError> {
    let mut all: Vec<Part> = Vec::new();
    for path in paths {
        let part = Part::read(path)?;
        if let Some(first) = all.first() {
            let (key, source_hash) = (first.entry.key, Some(first.entry.source_hash));
            let settings = first.manifest.settings.get(&key).map_or("", String::as_str);
            let problem = match (Wanted { key, settings, source_hash }).mismatch(&part.manifest, &part.entry)
            {
                Some(why) => why.to_string(),
                None if (part.record.count, part.record.kind) != (first.record.count, first.record.kind) => {
                    format!("is one of {} shards, not of {}", part.record.count, first.record.count)
                }
                None => String::new(),
            };
            if !problem.is_empty() {
                let (first, other) = (first.path.clone(), path.clone());
                return Err(JoinError::Other { first, other, problem });
            }
        }
        if let Some(same) = all.iter().find(|other| other.record.index == part.record.index) {
            let (index, a, b) = (part.record.index, same.path.clone(), path.clone());
            return Err(JoinError::Doubled { index, a, b });
        }
        all.push(part);
    }
    all.sort_by_key(|part| part.record.index);
    let count = all.first().map_or(0, |part| part.record.count);
    let is_there = |index: &u32| all.binary_search_by_key(index, |part| part.record.index).is_ok();
    let mut missing = (1..=count).filter(|index| !is_there(index));
    if let Some(index) = missing.next() {
        return Err(JoinError::Missing { index, count, more: missing.count() as u64 });
    }
    for Part { path, entry, .. } in &all {
        if cancel.is_cancelled() {
            return Err(JoinError::Cancelled);
        }
        if !entry.is_intact(path).map_err(|cause| JoinError::Io { path: path.clone(), cause })? {
            let problem = format!("{}; render this shard again", Mismatch::Damaged);
            return Err(JoinError::Bad { path: path.clone(), problem });
        }
    }
    Ok(all)
}

/// Concatenates frames or lines; for y4m the header once.
fn plain(
    output: &OsStr,
    overwrite: bool,
    all: &[Part],
    header: bool,
    cancel: &Cancel,
) -> Result<Joined, JoinError> {
    const MAX_HEADER: u64 = 1 << 16;
    let mut out = Output::create(output, overwrite)?;
    let mut head: Option<Vec<u8>> = None;
    let mut bytes = vec![0; 1 << 18];
    for Part { path, .. } in all {
        let io = |cause| JoinError::Io { path: path.clone(), cause };
        let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(io)?);
        if header {
            let mut line = Vec::new();
            file.by_ref().take(MAX_HEADER).read_until(b'\n', &mut line).map_err(io)?;
            match &head {
                None => out.put(&line)?,
                Some(head) if *head == line => {}
                Some(_) => {
                    let problem = "its y4m header differs from that of the first shard".into();
                    return Err(JoinError::Bad { path: path.clone(), problem });
                }
            }
            head.get_or_insert(line);
        }
        loop {
            match file.read(&mut bytes) {
                Ok(0) => break,
                Ok(n) => out.put(&bytes[..n])?,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(io(e)),
            }
            if cancel.is_cancelled() {
                return Err(JoinError::Cancelled);
            }
        }
    }
    out.finish()?;
    Ok(Joined::default())
}

#[cfg(feature = "ffmpeg")]
fn video(output: &OsStr, overwrite: bool, all: &[Part]) -> Result<Joined, JoinError> {
    use grainfield_io::libav::sink::join::{Shard, join};
    let mut shards = Vec::new();
    for Part { path, record, .. } in all {
        let Some(video) = &record.video else {
            let problem = "its .shard file does not contain the times of its frames".into();
            return Err(JoinError::Bad { path: path.clone(), problem });
        };
        shards.push(Shard { path: path.clone(), video: video.clone() });
    }
    let Some(Part { record, entry, .. }) = all.first() else { return Ok(Joined::default()) };
    // a sequence or a test signal has no other streams
    let input = std::ffi::OsString::from(&record.input);
    let protocols = record.video.as_ref().map(|v| v.allow_protocol.clone()).unwrap_or_default();
    let carried = match input.as_encoded_bytes().starts_with(b"pattern:")
        || input == "-"
        || grainfield_io::source::sequence::recognises(&input)
    {
        true => None,
        false => {
            let options = grainfield_io::source::Options { allow_protocol: protocols, ..Default::default() };
            let source = grainfield_io::source::open(&input, &options)?;
            let source_hash = grainfield_io::journal::resume::SourceIds::for_input(
                &input,
                source.files(),
                &source::reads(&input),
                0,
            );
            if source_hash.get(0) != entry.source_hash {
                let problem = "it has been changed since the shards were made".into();
                return Err(JoinError::Bad { path: input.into(), problem });
            }
            source.info().carried.clone()
        }
    };
    let (_, warnings) = join(output, overwrite, &shards, &carried)?;
    Ok(Joined { warnings, ..Joined::default() })
}

#[cfg(not(feature = "ffmpeg"))]
fn video(output: &OsStr, _: bool, _: &[Part]) -> Result<Joined, JoinError> {
    Err(JoinError::Usage(format!("{}: this program was built without FFmpeg", output.display())))
}

/// Checks that all frames of a sequence exist, are intact, and have the same settings.
fn sequence(pattern: &Pattern, frames: Option<&Ranges>, cancel: &Cancel) -> Result<Joined, JoinError> {
    let name = pattern.open();
    let io = |cause| JoinError::Io { path: name.clone(), cause };
    let bad = |path: &Path, problem: String| JoinError::Bad { path: path.to_path_buf(), problem };
    let manifest = ManifestNames::for_output(&name).read().map_err(io)?;
    if manifest.entries.is_empty() {
        return Err(bad(&name, "it has no manifest, so it cannot be checked".into()));
    }
    let existing = pattern.scan().map_err(io)?;
    // all frames must have the settings of the first
    let found = existing.iter().find_map(|&n| {
        let meta = pattern.path(n).symlink_metadata().ok()?;
        manifest.find(n, meta.len(), changed(&meta))
    });
    let Some(key) = found.map(|e| e.key) else {
        return Err(bad(&name, "none of its files is in the manifest".into()));
    };
    let requested = match frames {
        Some(frames) => vec![frames.clone()],
        None => manifest.frames.get(&key).cloned().unwrap_or_default(),
    };
    // frames of a sequence may have separate sources
    let settings = manifest.settings.get(&key).map_or("", String::as_str);
    let wanted = Wanted { key, settings, source_hash: None };
    let mut numbers: Vec<i64> = Vec::new();
    for ranges in &requested {
        let ended = ranges.bounded(existing.last().copied().unwrap_or(0));
        numbers.extend(ended.iter());
    }
    numbers.sort_unstable();
    numbers.dedup();
    let mut missing = numbers.iter().filter(|n| existing.binary_search(n).is_err());
    if let Some(first) = missing.next() {
        let problem = format!("frame {first} is missing{}", others(missing.count() as u64));
        return Err(bad(&pattern.path(*first), problem));
    }
    for &number in &numbers {
        if cancel.is_cancelled() {
            return Err(JoinError::Cancelled);
        }
        let path = pattern.path(number);
        match state(&manifest, number, &path, &wanted, true)? {
            State::Complete => {}
            State::Missing => return Err(bad(&path, "it is gone".into())),
            State::Other(why) => return Err(bad(&path, why.to_string())),
        }
    }
    let mut warnings = Vec::new();
    let beyond = existing.iter().filter(|n| numbers.binary_search(n).is_err()).count();
    if beyond > 0 {
        warnings.push(format!("{beyond} files with names of this sequence do not belong to this render"));
    }
    Ok(Joined { frames: numbers.len() as u64, shards: 0, warnings })
}
