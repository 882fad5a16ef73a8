//! Joins shards, after checking that they belong to one render: none missing, none twice, the same settings, no
//! changed bytes.

use crate::session::Cancel;
use grainfield_filters::frame::Ranges;
use grainfield_io::disk::{DiskError, OutputFile, SameFile, folder_of};
use grainfield_io::format::Formats;
use grainfield_io::format::images::pattern::Pattern;
use grainfield_io::journal::resume::{
    Entry, FileState, Manifest, ManifestNames, Mismatch, ResumeError, Wanted, changed, file_state,
};
use grainfield_io::journal::shard::{Kind, Shard, ShardRecord};
use grainfield_io::sink::{Files, Output, SinkError};
use grainfield_io::source::{self, SourceError};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// An error while joining shards.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// Frames were selected, but the output is not numbered images.
    #[error("a range of frames applies to numbered images only")]
    FramesOfFile,
    /// Shards were given for numbered images.
    #[error("shards of a sequence write to one folder; without shards, joining checks that it is complete")]
    ShardsOfSequence,
    /// The output cannot be joined from shards.
    #[error("shards cannot be joined into {0}: name a video, y4m or hash file")]
    Output(String),
    /// There are no shards.
    #[error("no shards given")]
    NoShards,
    /// A video needs FFmpeg.
    #[error("{0}: this program was built without FFmpeg")]
    NoFfmpeg(String),
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
        problem: Difference,
    },
    /// A shard or a frame differs from what was written.
    #[error("{}: {problem}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: FileProblem,
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

/// The difference between two shards.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Difference {
    /// Another render.
    #[error(transparent)]
    Render(Mismatch),
    /// Another number of shards, or another kind of file.
    #[error("is one of {0} shards, not of {1}")]
    Count(u32, u32),
}

/// The problem of a shard or a frame.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum FileProblem {
    /// The output is of another kind than the shard.
    #[error("it is a shard of the kind {shard:?}, but {} is of the kind {output_kind:?}", output.display())]
    Kind {
        /// The shard's kind.
        shard: Kind,
        /// The output.
        output: PathBuf,
        /// The output's kind.
        output_kind: Kind,
    },
    /// A shard has no record.
    #[error("there is no record of this shard: copy the .shard file together with the shard")]
    NoRecord,
    /// There are no shards of an output.
    #[error("no shards of it found ({}.I-of-N): name them", .0.display())]
    NoShards(PathBuf),
    /// The bytes of a shard have changed.
    #[error("{}; render this shard again", Mismatch::Damaged)]
    Damaged,
    /// The y4m header of a shard differs.
    #[error("its y4m header differs from that of the first shard")]
    Header,
    /// The record of a shard is incomplete.
    #[error("its .shard file does not contain the times of its frames")]
    NoTimes,
    /// The source is not the one that was rendered.
    #[error("it has been changed since the shards were made")]
    SourceChanged,
    /// A sequence has no manifest.
    #[error("it has no manifest, so it cannot be checked")]
    NoManifest,
    /// The manifest knows no file of the sequence.
    #[error("none of its files is in the manifest")]
    Unknown,
    /// Frames are missing.
    #[error("frame {first} is missing{}", others(*more))]
    MissingFrames {
        /// The first missing one.
        first: i64,
        /// How many more are missing.
        more: u64,
    },
    /// A file was removed meanwhile.
    #[error("it is gone")]
    Gone,
    /// A frame is not what was rendered.
    #[error(transparent)]
    Mismatch(Mismatch),
}

impl JoinError {
    fn bad(path: impl Into<PathBuf>, problem: FileProblem) -> JoinError {
        JoinError::Bad { path: path.into(), problem }
    }

    fn io(path: &Path) -> impl Fn(io::Error) -> JoinError + Copy + '_ {
        |cause| JoinError::Io { path: path.into(), cause }
    }

    /// Whether the user can fix the error by changing the request.
    pub fn is_usage(&self) -> bool {
        match self {
            JoinError::FramesOfFile | JoinError::ShardsOfSequence | JoinError::Output(_) => true,
            JoinError::NoShards | JoinError::NoFfmpeg(_) => true,
            JoinError::SameFile(_) | JoinError::Disk(DiskError::Name { .. }) => true,
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
        _ if frames.is_some() => Err(JoinError::FramesOfFile),
        Files::Many(_) => Err(JoinError::ShardsOfSequence),
        Files::Nothing | Files::Stream(_) | Files::Image(_) | Files::One(_, Kind::Animation) => {
            Err(JoinError::Output(output.to_string_lossy().into_owned()))
        }
        Files::One(path, kind) => {
            let paths = if shards.is_empty() { find_shards(&path)? } else { shards.to_vec() };
            check_overwrite(output, &paths)?;
            let all = check_shards(&paths, cancel)?;
            let Some(ShardFile { path: first, record, .. }) = all.first() else {
                return Err(JoinError::NoShards);
            };
            if record.kind != kind {
                let problem = FileProblem::Kind { shard: record.kind, output: path, output_kind: kind };
                return Err(JoinError::bad(first, problem));
            }
            let joined = match kind {
                Kind::Video => video(output, overwrite, &all)?,
                Kind::Y4m => concatenate(path.as_os_str(), overwrite, &all, true, cancel)?,
                Kind::Hash | Kind::Raw | Kind::Animation => {
                    concatenate(path.as_os_str(), overwrite, &all, false, cancel)?
                }
            };
            let mut joined =
                Joined { shards: record.count, frames: total(&all, |n| n.entry.frames), ..joined };
            let left_out = total(&all, |n| n.record.wanted).saturating_sub(joined.frames);
            if left_out > 0 {
                joined.warnings.push(format!("{left_out} frames were left out when the shards were made"));
            }
            Ok(joined)
        }
    }
}

fn output_of(name: &OsStr) -> Result<Output, SinkError> {
    Output::parse(name, Formats::default())
}

fn total(all: &[ShardFile], count: impl Fn(&ShardFile) -> u64) -> u64 {
    all.iter().map(count).fold(0, u64::saturating_add)
}

/// A shard, and its records.
struct ShardFile {
    path: PathBuf,
    manifest: Manifest,
    entry: Entry,
    record: ShardRecord,
}

impl ShardFile {
    fn read(path: &Path) -> Result<ShardFile, JoinError> {
        let names = ManifestNames::for_shard(path);
        let manifest = names.read();
        let manifest = manifest.map_err(|cause| ResumeError::Manifest { path: path.to_path_buf(), cause })?;
        let meta = path.metadata().map_err(JoinError::io(path))?;
        // a copy may have another time, so use the latest entry
        let entry = manifest.find(0, meta.len(), changed(&meta));
        let entry = entry.or_else(|| manifest.entries.get(&0)?.last()).copied();
        let part = entry.and_then(|entry| {
            let record = manifest.joins.get(&entry.id())?.shard.clone()?;
            Some(ShardFile { path: path.to_path_buf(), manifest, entry, record })
        });
        part.ok_or_else(|| JoinError::bad(names.path(0), FileProblem::NoRecord))
    }
}

/// Returns an error if the output would replace a shard, its records, or its source.
fn check_overwrite(output: &OsStr, shards: &[PathBuf]) -> Result<(), JoinError> {
    let mut access = output_of(output)?.writes(None);
    for shard in shards {
        access.read("a shard", shard.clone());
        access.read_all("the .shard file of a shard", ManifestNames::for_shard(shard).files());
        // a shard without records is an error when it is checked
        let input = ShardFile::read(shard).map(|part| source::reads(OsStr::new(&part.record.input)));
        access.read_all("the source of the shards", input.into_iter().flatten());
    }
    Ok(access.check()?)
}

/// All existing files `NAME.I-of-N.EXT`.
fn find_shards(output: &Path) -> Result<Vec<PathBuf>, JoinError> {
    let folder = folder_of(output);
    let entries = std::fs::read_dir(folder).map_err(JoinError::io(folder))?;
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
        let problem = FileProblem::NoShards(output.with_extension(""));
        return Err(JoinError::bad(output, problem));
    }
    Ok(found)
}

/// All shards of one render, in order.
fn check_shards(paths: &[PathBuf], cancel: &Cancel) -> Result<Vec<ShardFile>, JoinError> {
    let mut all: Vec<ShardFile> = Vec::new();
    for path in paths {
        let part = ShardFile::read(path)?;
        if let Some(first) = all.first() {
            let (key, source_hash) = (first.entry.key, Some(first.entry.source_hash));
            let settings = first.manifest.settings.get(&key).map_or("", String::as_str);
            let wanted = Wanted { key, settings, source_hash };
            let counts = (part.record.count, first.record.count);
            let problem = match wanted.mismatch(&part.manifest, &part.entry) {
                Some(why) => Some(Difference::Render(why)),
                None if counts.0 != counts.1 || part.record.kind != first.record.kind => {
                    Some(Difference::Count(counts.0, counts.1))
                }
                None => None,
            };
            if let Some(problem) = problem {
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
    for ShardFile { path, entry, .. } in &all {
        if cancel.is_cancelled() {
            return Err(JoinError::Cancelled);
        }
        if !entry.is_intact(path).map_err(JoinError::io(path))? {
            return Err(JoinError::bad(path, FileProblem::Damaged));
        }
    }
    Ok(all)
}

/// Concatenates frames or lines; for y4m the header once.
fn concatenate(
    output: &OsStr,
    overwrite: bool,
    all: &[ShardFile],
    header: bool,
    cancel: &Cancel,
) -> Result<Joined, JoinError> {
    const MAX_HEADER: u64 = 1 << 16;
    let mut out = OutputFile::create(output, overwrite)?;
    let mut head: Option<Vec<u8>> = None;
    let mut bytes = vec![0; 1 << 18];
    for ShardFile { path, .. } in all {
        let io = JoinError::io(path);
        let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(io)?);
        if header {
            let mut line = Vec::new();
            file.by_ref().take(MAX_HEADER).read_until(b'\n', &mut line).map_err(io)?;
            match &head {
                None => out.put(&line)?,
                Some(head) if *head == line => {}
                Some(_) => {
                    return Err(JoinError::bad(path, FileProblem::Header));
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
fn video(output: &OsStr, overwrite: bool, all: &[ShardFile]) -> Result<Joined, JoinError> {
    use grainfield_io::libav::sink::join::{Shard, join};
    let mut shards = Vec::new();
    for ShardFile { path, record, manifest, entry } in all {
        let Some(video) = &record.video else {
            return Err(JoinError::bad(path, FileProblem::NoTimes));
        };
        let packets = manifest.joins.get(&entry.id()).map_or(Vec::new(), |join| join.packets.clone());
        shards.push(Shard { path: path.clone(), packets, video: video.clone() });
    }
    let Some(ShardFile { record, entry, .. }) = all.first() else { return Ok(Joined::default()) };
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
                return Err(JoinError::bad(input, FileProblem::SourceChanged));
            }
            source.info().carried.clone()
        }
    };
    let warnings = join(output, overwrite, &shards, &carried)?;
    Ok(Joined { warnings, ..Joined::default() })
}

#[cfg(not(feature = "ffmpeg"))]
fn video(output: &OsStr, _: bool, _: &[ShardFile]) -> Result<Joined, JoinError> {
    Err(JoinError::NoFfmpeg(output.to_string_lossy().into_owned()))
}

/// Checks that all frames of a sequence exist, are intact, and have the same settings.
fn sequence(pattern: &Pattern, frames: Option<&Ranges>, cancel: &Cancel) -> Result<Joined, JoinError> {
    let name = pattern.open();
    let io = JoinError::io(&name);
    let manifest = ManifestNames::for_output(&name).read().map_err(io)?;
    if manifest.entries.is_empty() {
        return Err(JoinError::bad(&name, FileProblem::NoManifest));
    }
    let existing = pattern.scan().map_err(io)?;
    // all frames must have the settings of the first
    let recorded = existing.iter().find_map(|&n| {
        let meta = pattern.path(n).symlink_metadata().ok()?;
        manifest.find(n, meta.len(), changed(&meta))
    });
    let Some(key) = recorded.map(|e| e.key) else {
        return Err(JoinError::bad(&name, FileProblem::Unknown));
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
        let problem = FileProblem::MissingFrames { first: *first, more: missing.count() as u64 };
        return Err(JoinError::bad(pattern.path(*first), problem));
    }
    for &number in &numbers {
        if cancel.is_cancelled() {
            return Err(JoinError::Cancelled);
        }
        let path = pattern.path(number);
        match file_state(&manifest, number, &path, &wanted, true)? {
            FileState::Complete => {}
            FileState::Missing => return Err(JoinError::bad(&path, FileProblem::Gone)),
            FileState::Other(why) => return Err(JoinError::bad(&path, FileProblem::Mismatch(why))),
        }
    }
    let mut warnings = Vec::new();
    let beyond = existing.iter().filter(|n| numbers.binary_search(n).is_err()).count();
    if beyond > 0 {
        warnings.push(format!("{beyond} files with names of this sequence do not belong to this render"));
    }
    Ok(Joined { frames: numbers.len() as u64, shards: 0, warnings })
}
