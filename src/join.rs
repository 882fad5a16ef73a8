//! Shards made one again, after it has been checked that they are one render: nothing missing, nothing doubled,
//! nothing of other settings, no byte changed.

use crate::disk::{DiskError, Output, Place, SameFile};
use crate::format::Formats;
use crate::format::images::pattern::Pattern;
use crate::journal::resume::{JobSettings, ManifestFiles, Mismatch, SourceIds, difference, sum};
use crate::journal::shard::sidecar::{Kind, Sidecar, SidecarError, beside};
use crate::sink::{Files, Output as Parsed, SinkError};
use crate::source::{self, SourceError};
use grainfield_filters::frame::Ranges;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Why shards cannot be joined.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// It makes no sense as asked.
    #[error("{0}")]
    Usage(String),
    /// A file that is read would be written.
    #[error(transparent)]
    SameFile(#[from] SameFile),
    /// What is said of a shard cannot be read.
    #[error(transparent)]
    Note(#[from] SidecarError),
    /// A shard is missing.
    #[error("shard {index} of {count} is missing{}", others(*more))]
    Missing {
        /// The first that is.
        index: u32,
        /// How many there should be.
        count: u32,
        /// How many more are.
        more: u64,
    },
    /// Two files are the same shard.
    #[error("{} and {} are both shard {index}", a.display(), b.display())]
    Doubled {
        /// Which.
        index: u32,
        /// One.
        a: PathBuf,
        /// The other.
        b: PathBuf,
    },
    /// Two shards are not of one render.
    #[error("{} does not belong to {}: {problem}", other.display(), first.display())]
    Other {
        /// The first shard.
        first: PathBuf,
        /// The one that differs.
        other: PathBuf,
        /// In what.
        problem: String,
    },
    /// A shard or a frame is not what was written.
    #[error("{}: {problem}", path.display())]
    Bad {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The system said no.
    #[error("{}: {cause}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// The system's word.
        #[source]
        cause: io::Error,
    },
    /// The result cannot be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// Likewise.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// What has to be copied from the source cannot be read.
    #[error("{0} (sound, subtitles and other streams are copied from the source)")]
    Source(#[from] SourceError),
    /// It was asked to stop.
    #[error("interrupted")]
    Stopped,
}

impl JoinError {
    /// Whether asking differently would help, as against the world being otherwise.
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

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// Frames in the result.
    pub frames: u64,
    /// Shards that were joined; 0 for a sequence.
    pub shards: u32,
    /// What should be said.
    pub warnings: Vec<String>,
}

/// Joins shards in whatever order; without any, those beside the output, named as it. A sequence has none: its frames
/// are checked against the manifest, every byte; `frames` are those that must be there, where that is not what the
/// manifest says was asked for.
pub fn join(
    output: &OsStr,
    shards: &[PathBuf],
    frames: Option<&Ranges>,
    overwrite: bool,
    stop: &AtomicBool,
) -> Result<Joined, JoinError> {
    match output_of(output)?.files() {
        Files::Many(pattern) if shards.is_empty() => sequence(&pattern, frames, stop),
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
            unread(output, &found)?;
            let all = checked(&found, stop)?;
            let Some((first, note)) = all.first() else {
                return Err(JoinError::Usage("no shards given".into()));
            };
            if note.kind != kind {
                let problem = format!("it is a shard of the kind {:?}, but {} is of the kind {kind:?}",
                    note.kind, path.display());
                return Err(JoinError::Bad { path: first.clone(), problem });
            }
            let (count, wanted, written) = (note.count, total(&all, |n| n.wanted), total(&all, |n| n.written));
            let mut joined = match kind {
                Kind::Video => video(output, overwrite, &all)?,
                Kind::Y4m => plain(path.as_os_str(), overwrite, &all, true, stop)?,
                Kind::Hash => plain(path.as_os_str(), overwrite, &all, false, stop)?,
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

fn total(all: &[(PathBuf, Sidecar)], of: impl Fn(&Sidecar) -> u64) -> u64 {
    all.iter().map(|(_, note)| of(note)).fold(0, u64::saturating_add)
}

/// Refuses to write over a shard, the note beside it, or the source that it was made from.
fn unread(output: &OsStr, shards: &[PathBuf]) -> Result<(), JoinError> {
    let mut uses = output_of(output)?.writes(None);
    for shard in shards {
        uses.read("a shard", Place::Path(shard.clone()));
        uses.read("the .shard file of a shard", Place::Path(beside(shard)));
        // a shard without a note is refused when it is its turn
        let input = Sidecar::read(shard).map(|note| source::reads(OsStr::new(&note.input)));
        input.into_iter().flatten().for_each(|place| uses.read("the source of the shards", place));
    }
    Ok(uses.check()?)
}

/// `NAME.I-of-N.EXT` for every `I` and `N` there are.
fn found(output: &Path) -> Result<Vec<PathBuf>, JoinError> {
    let folder = output.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
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
            crate::journal::shard::Shard::new(index.parse().ok()?, count.parse().ok()?).ok()
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
fn checked(paths: &[PathBuf], stop: &AtomicBool) -> Result<Vec<(PathBuf, Sidecar)>, JoinError> {
    let mut all: BTreeMap<u32, (PathBuf, Sidecar)> = BTreeMap::new();
    let mut first: Option<(PathBuf, Sidecar)> = None;
    for path in paths {
        let note = Sidecar::read(path)?;
        let (first_path, head) = first.get_or_insert_with(|| (path.clone(), note.clone()));
        let problem = if note.key != head.key {
            Some(format!("other settings ({})", difference(&head.made, Some(&note.made))))
        } else if note.origin != head.origin {
            Some("it was made from another source, or the source was changed in between".into())
        } else if (note.count, note.kind) != (head.count, head.kind) {
            Some(format!("it is one of {} shards, not of {}", note.count, head.count))
        } else if note.frames != head.frames {
            Some(format!("it belongs to a render of frames {}, not {}", note.frames, head.frames))
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(JoinError::Other { first: first_path.clone(), other: path.clone(), problem });
        }
        if let Some((a, _)) = all.get(&note.index) {
            return Err(JoinError::Doubled { index: note.index, a: a.clone(), b: path.clone() });
        }
        all.insert(note.index, (path.clone(), note));
    }
    let count = first.map_or(0, |(_, note)| note.count);
    let mut missing = (1..=count).filter(|i| !all.contains_key(i));
    if let Some(index) = missing.next() {
        return Err(JoinError::Missing { index, count, more: missing.count() as u64 });
    }
    for (path, note) in all.values() {
        if stop.load(Ordering::Relaxed) {
            return Err(JoinError::Stopped);
        }
        let io = |cause| JoinError::Io { path: path.clone(), cause };
        let size = path.metadata().map_err(io)?.len();
        if size != note.size || format!("{:016x}", sum(path).map_err(io)?) != note.hash {
            let problem = "it was changed after it was written; render this shard again".into();
            return Err(JoinError::Bad { path: path.clone(), problem });
        }
    }
    Ok(all.into_values().collect())
}

/// Frames or lines one behind the other; of y4m the header once.
fn plain(
    output: &OsStr,
    overwrite: bool,
    all: &[(PathBuf, Sidecar)],
    header: bool,
    stop: &AtomicBool,
) -> Result<Joined, JoinError> {
    const MAX_HEADER: u64 = 1 << 16;
    let mut out = Output::create(output, overwrite)?;
    let mut head: Option<Vec<u8>> = None;
    let mut bytes = vec![0; 1 << 18];
    for (path, _) in all {
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
            if stop.load(Ordering::Relaxed) {
                return Err(JoinError::Stopped);
            }
        }
    }
    out.finish()?;
    Ok(Joined::default())
}

#[cfg(feature = "ffmpeg")]
fn video(output: &OsStr, overwrite: bool, all: &[(PathBuf, Sidecar)]) -> Result<Joined, JoinError> {
    use crate::libav::sink::join::{Shard, join};
    let mut shards = Vec::new();
    for (path, note) in all {
        let Some(video) = &note.video else {
            let problem = "its .shard file does not contain the times of its frames".into();
            return Err(JoinError::Bad { path: crate::journal::shard::sidecar::beside(path), problem });
        };
        shards.push(Shard { path: path.clone(), video: video.clone() });
    }
    let Some((_, note)) = all.first() else { return Ok(Joined::default()) };
    // a sequence or a test signal has nothing beside the picture
    let input = std::ffi::OsString::from(&note.input);
    let protocols = note.video.as_ref().map(|v| v.allow_protocol.clone()).unwrap_or_default();
    let carried = match input.as_encoded_bytes().starts_with(b"pattern:")
        || input == "-"
        || crate::source::sequence::recognises(&input)
    {
        true => None,
        false => {
            let options = crate::source::Options { allow_protocol: protocols, ..Default::default() };
            let source = crate::source::open(&input, &options)?;
            let origin = SourceIds::of(&input, source.files(), &source::reads(&input), 0);
            if format!("{:016x}", origin.get(0)) != note.origin {
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
fn video(output: &OsStr, _: bool, _: &[(PathBuf, Sidecar)]) -> Result<Joined, JoinError> {
    Err(JoinError::Usage(format!("{}: this program was built without FFmpeg", output.display())))
}

/// Checks that all frames of a sequence are there, whole, and of one making.
fn sequence(pattern: &Pattern, frames: Option<&Ranges>, stop: &AtomicBool) -> Result<Joined, JoinError> {
    let name = pattern.open();
    let io = |cause| JoinError::Io { path: name.clone(), cause };
    let bad = |path: &Path, problem: String| JoinError::Bad { path: path.to_path_buf(), problem };
    let reader =
        ManifestFiles::new(&name, JobSettings::new(BTreeMap::new()), SourceIds::Unknown, String::new());
    let manifest = reader.read().map_err(io)?;
    if manifest.entries.is_empty() {
        return Err(bad(&name, "it has no manifest, so it cannot be checked".into()));
    }
    let there = pattern.scan().map_err(io)?;
    // the making of the first frame is that of all
    let found = there.iter().find_map(|&n| {
        let meta = pattern.path(n).symlink_metadata().ok()?;
        manifest.find(n, meta.len(), crate::journal::resume::changed(&meta))
    });
    let Some(key) = found.map(|e| e.key) else {
        return Err(bad(&name, "none of its files is in the manifest".into()));
    };
    let asked = match frames {
        Some(frames) => vec![frames.clone()],
        None => manifest.asked.get(&key).cloned().unwrap_or_default(),
    };
    let ours = manifest.made.get(&key).cloned().unwrap_or_default();
    let mut numbers: Vec<i64> = Vec::new();
    for ranges in &asked {
        let ended = ranges.bounded(there.last().copied().unwrap_or(0));
        numbers.extend(ended.iter());
    }
    numbers.sort_unstable();
    numbers.dedup();
    let mut missing = numbers.iter().filter(|n| there.binary_search(n).is_err());
    if let Some(first) = missing.next() {
        let problem = format!("frame {first} is missing{}", others(missing.count() as u64));
        return Err(bad(&pattern.path(*first), problem));
    }
    for &number in &numbers {
        if stop.load(Ordering::Relaxed) {
            return Err(JoinError::Stopped);
        }
        let path = pattern.path(number);
        let meta = path.symlink_metadata().map_err(|cause| JoinError::Io { path: path.clone(), cause })?;
        let Some(entry) = manifest.find(number, meta.len(), crate::journal::resume::changed(&meta)) else {
            return Err(bad(&path, Mismatch::Unknown.to_string()));
        };
        if entry.key != key {
            let theirs = manifest.made.get(&entry.key).map(String::as_str);
            return Err(bad(&path, Mismatch::Settings(difference(&ours, theirs)).to_string()));
        }
        if sum(&path).map_err(|cause| JoinError::Io { path: path.clone(), cause })? != entry.hash {
            return Err(bad(&path, Mismatch::Damaged.to_string()));
        }
    }
    let mut warnings = Vec::new();
    let beyond = there.iter().filter(|n| numbers.binary_search(n).is_err()).count();
    if beyond > 0 {
        warnings.push(format!("{beyond} files with names of this sequence do not belong to this render"));
    }
    Ok(Joined { frames: numbers.len() as u64, shards: 0, warnings })
}
