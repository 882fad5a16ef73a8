//! Selects the frames to render: the requested ones, of these the shard's, of these those that are not
//! complete yet.

use super::{Fields, JobError, OnError, Request};
use crate::pipeline::FrameList;
use grainfield_filters::chain::Chain;
use grainfield_filters::frame::Ranges;
use grainfield_io::journal::resume::{
    self, JobSettings, ManifestFiles, ManifestNames, Resume, STREAM_VERSION, SourceIds, Xxh64,
};
use grainfield_io::journal::segments::{self, SegmentGrid};
use grainfield_io::journal::shard::{self, Kind, ShardRecord};
use grainfield_io::journal::{CommitHook, JournalConfig, SourceEnds};
use grainfield_io::sink::{Files, Output};
use grainfield_io::source::{self, Info, Input, Source, SourceError};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The remaining work.
pub(super) struct Selection {
    pub(super) wanted: Option<FrameList>,
    /// The number of frames left, if it is known.
    pub(super) total: Option<u64>,
    /// The number of frames that are complete.
    pub(super) skipped: u64,
    pub(super) journal: JournalConfig,
    /// Whether the output exists, so that nothing is to be written.
    pub(super) done: bool,
    pub(super) notes: Vec<String>,
}

/// The data for a selection.
pub(super) struct SelectionInput<'a> {
    pub(super) request: &'a Request,
    pub(super) input: &'a Input,
    pub(super) output: &'a Output,
    pub(super) source: &'a dyn Source,
    pub(super) info: &'a Info,
    pub(super) chain: &'a Chain,
    /// Cut off at the source's end if that is known.
    pub(super) frames: Option<Ranges>,
    pub(super) ends: SourceEnds,
}

/// The last frame of a source whose length is unknown, found by reading all of it.
pub(super) fn last(
    request: &Request,
    input: &Input,
    options: &source::Options,
) -> Result<Option<i64>, JobError> {
    // a pipe can be read once
    if input.is_pipe() {
        return Ok(None);
    }
    let mut source = input.open(options)?;
    let mut slot = source::Slot::default();
    let mut last = None;
    loop {
        match source.next(&mut slot) {
            Ok(Some(stamp)) => last = Some(stamp.number),
            Ok(None) => return Ok(last),
            // such a frame is rendered with the error concealment of the decoder
            Err(SourceError::Damaged { stamp, .. }) if request.on_error == OnError::Skip => {
                last = Some(stamp.number);
            }
            Err(e) => return Err(e.into()),
        }
    }
}

fn usage<T>(text: impl Into<String>) -> Result<T, JobError> {
    Err(JobError::Usage(text.into()))
}

pub(super) fn select(given: &SelectionInput<'_>) -> Result<Selection, JobError> {
    let SelectionInput { request, input, output: typed, info, frames, .. } = given;
    let files = typed.files();
    let video = matches!(files, Files::One(_, Kind::Video));
    // a container holds pictures in order of time, each once
    if let (true, Some(frames)) = (video, frames) {
        ascending(request, frames)?;
    }
    if request.segments.is_some() && !video {
        return usage(
            "--segments applies to video files only (NAME.mkv, .mp4 ...): other outputs can be resumed without it",
        );
    }
    let tracked = request.resume != Resume::No || request.shard.is_some() || request.segments.is_some();
    if matches!(files, Files::Nothing | Files::Stream(_)) && request.resume != Resume::No {
        return usage(format!(
            "--resume: {} is not a file, so there is nothing to resume",
            typed.name().display()
        ));
    }
    // frames of single images and pipes are not counted
    if !tracked && !matches!(files, Files::Many(_)) {
        return Ok(plain(frames.clone()));
    }
    let all = match frames {
        Some(frames) => frames.clone(),
        None => {
            let last = info.last.map_or(i64::MAX, |last| last.saturating_add(request.frame_offset));
            match Ranges::span(info.first.saturating_add(request.frame_offset), last) {
                Ok(all) => all,
                // a source without frames reports it itself
                Err(_) => return Ok(plain(None)),
            }
        }
    };
    if request.shard.is_some() && all.is_unbounded() {
        return usage("--shard: the length of this input is not known; give --frames A-B");
    }
    // segments of a render that fits into one would only lose it whole when it is interrupted
    let several = all.is_unbounded() || all.count() > segments::DEFAULT_FRAMES;
    let in_segments = request.segments.is_some() || request.shard.is_some() || several;
    let grid =
        (video && tracked && in_segments).then(|| request.segments.unwrap_or(segments::DEFAULT_FRAMES));
    let mut part = FrameList::all(all.clone());
    if let Some(shard) = request.shard {
        part = match grid {
            None => {
                let (first, end) = shard.part(all.count());
                FrameList { part: (first, end), ..part }
            }
            Some(frames) => {
                let cells = segments::cells(&all, frames, request.frame_offset);
                let (first, end) = shard.part(cells.len() as u64);
                let within = cells.get(first as usize..end as usize).unwrap_or_default();
                FrameList { within: segments::span(within, frames, request.frame_offset), ..part }
            }
        };
    }
    let source_ids =
        SourceIds::for_input(input.name(), given.source.files(), &input.reads(), request.frame_offset);
    if matches!(source_ids, SourceIds::Unknown) && request.resume != Resume::No {
        return usage("--resume: a pipe cannot be compared with the earlier source; name a file");
    }
    match files {
        Files::Image(_) if request.resume == Resume::No => {
            Ok(finish(part, Vec::new(), JournalConfig::default()))
        }
        Files::Nothing | Files::Stream(_) => Ok(finish(part, Vec::new(), JournalConfig::default())),
        Files::Many(pattern) => {
            let settings = settings(given, "image sequence", &pattern.extension(), &stored(request));
            let name = pattern.open();
            let manifest_files =
                ManifestFiles::new(ManifestNames::for_output(&name), settings, source_ids, all.to_string());
            let numbers: Box<dyn Iterator<Item = i64>> = match request.resume {
                Resume::No => Box::new(std::iter::empty()),
                _ if all.is_unbounded() => {
                    let existing = pattern.scan().map_err(|cause| manifest(&name, cause))?;
                    Box::new(existing.into_iter().filter(|n| part.numbers.contains(*n)))
                }
                _ => Box::new(part.iter()),
            };
            let path = |n| pattern.path(n);
            let complete =
                resume::complete_files(&manifest_files, numbers, path, request.resume, request.overwrite)?;
            let journal =
                JournalConfig { manifest_files: Some(Arc::new(manifest_files)), ..JournalConfig::default() };
            if !tracked {
                return Ok(Selection { journal, ..plain(frames.clone()) });
            }
            Ok(finish(part, complete, journal))
        }
        Files::Image(path) => {
            let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
            let settings = settings(given, "image", &extension, &stored(request));
            let manifest_files =
                ManifestFiles::new(ManifestNames::for_output(&path), settings, source_ids, all.to_string());
            let (first, at) = (part.iter().take(1), |_| path.clone());
            let complete =
                resume::complete_files(&manifest_files, first, at, request.resume, request.overwrite)?;
            let done = !complete.is_empty();
            let manifest_files = Some(Arc::new(manifest_files));
            Ok(Selection {
                done,
                ..finish(part, complete, JournalConfig { manifest_files, ..JournalConfig::default() })
            })
        }
        Files::One(path, kind) => one(given, part, &all, (&path, kind), source_ids, grid),
    }
}

/// All requested frames, without existing ones.
fn plain(frames: Option<Ranges>) -> Selection {
    let wanted = frames.map(FrameList::all);
    Selection {
        wanted,
        total: None,
        skipped: 0,
        journal: JournalConfig::default(),
        done: false,
        notes: Vec::new(),
    }
}

fn manifest(path: &Path, cause: std::io::Error) -> JobError {
    resume::ResumeError::Manifest { path: path.to_path_buf(), cause }.into()
}

/// Pictures of a video must be in order of time.
fn ascending(request: &Request, frames: &Ranges) -> Result<(), JobError> {
    // an unbounded range is the last one to be read, so a limited number of values after the bounded ones is
    // enough
    let enough = usize::try_from(frames.bounded(i64::MIN).count()).unwrap_or(usize::MAX).saturating_add(1);
    if frames.iter().take(enough).eq(frames.ascending().take(enough)) {
        return Ok(());
    }
    let output = request.output.to_string_lossy();
    usage(format!(
        "--frames {frames}: {output} is a video, which needs frames in ascending order without repeats; write \
            numbered images or y4m instead"
    ))
}

/// The choices for storing images. The source of each file tells what stood for a missing frame.
fn stored(request: &Request) -> Vec<(&'static str, String)> {
    if request.encoding.is_default() {
        return Vec::new();
    }
    vec![("encoding", request.encoding.picture_text())]
}

/// The selection for an output that is one file.
fn one(
    given: &SelectionInput<'_>,
    part: FrameList,
    all: &Ranges,
    (path, kind): (&Path, Kind),
    source_ids: SourceIds,
    grid: Option<u64>,
) -> Result<Selection, JobError> {
    let SelectionInput { request, .. } = given;
    let (path, names) = ManifestNames::for_part(path.to_path_buf(), request.shard);
    let source_hash = together(&source_ids, all);
    let missing = match request.missing {
        source::Missing::Error => "error",
        source::Missing::Hold => "hold",
        source::Missing::Black => "black",
        source::Missing::Skip => "skip",
    };
    let mut more = vec![("frames", all.to_string()), ("missing", missing.into())];
    if let Some(frames) = grid {
        more.push(("segment frames", frames.to_string()));
        // sound and other streams are chosen when all segments are joined
        more.push(("encoding", request.encoding.picture_text()));
    }
    let label = match kind {
        Kind::Y4m => "y4m",
        Kind::Hash => "hash",
        Kind::Video => "video",
    };
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let settings = settings(given, label, &extension, &more);
    let mut shard = request.shard.map(|shard| ShardRecord {
        index: shard.index(),
        count: shard.count(),
        kind,
        input: request.input.to_string_lossy().into(),
        wanted: part.iter().count() as u64,
        written: 0,
        video: None,
    });
    let recorded = |names, settings| {
        Arc::new(ManifestFiles::new(names, settings, SourceIds::One(source_hash), all.to_string()))
    };
    let manifest_files = recorded(names, settings.clone());
    // also without resuming: a file of someone else in its place is an error
    manifest_files.read().map_err(|cause| manifest(&path, cause))?;
    let folder = segments::folder(&path);
    let (only, at) = (std::iter::once(0), |_| path.clone());
    if !resume::complete_files(&manifest_files, only, at, request.resume, request.overwrite)?.is_empty() {
        // left by a crash after the last step
        segments::discard(&folder);
        let skipped = part.iter().count() as u64;
        let mut done = finish(FrameList { part: (0, 0), ..part }, Vec::new(), JournalConfig::default());
        done.notes = vec![format!("{} is complete already", path.display())];
        return Ok(Selection { skipped, done: true, ..done });
    }
    let mut journal = JournalConfig::default();
    let mut complete = Vec::new();
    if let Some(frames) = grid {
        if let Some(shard) = &mut shard {
            shard.video = Some(shard::Video {
                tick: (0, 1),
                times: Vec::new(),
                ends: given.ends,
                audio: request.encoding.audio,
                subs: request.encoding.subs,
                no_chapters: request.encoding.no_chapters,
                allow_protocol: request.allow_protocol.clone(),
            });
        }
        let grid = SegmentGrid {
            frames,
            offset: request.frame_offset,
            manifest_files: recorded(ManifestNames::for_segments(&folder), settings),
            folder,
            resume: request.resume,
            picture_only: request.shard.is_some(),
            requested: part.clone(),
            exact: request.missing != source::Missing::Skip,
        };
        complete = grid.complete(request.overwrite)?;
        journal.segments = Some(Arc::new(grid));
    }
    journal.commit_hook = Some(CommitHook { manifest_files, shard });
    Ok(finish(part, complete, journal))
}

/// The identity of the whole source.
fn together(source_ids: &SourceIds, all: &Ranges) -> u64 {
    match source_ids {
        SourceIds::Unknown => 0,
        SourceIds::One(known) => *known,
        SourceIds::Each(..) if all.is_unbounded() => 0,
        SourceIds::Each(..) => {
            let mut sum = Xxh64::default();
            all.iter().for_each(|n| sum.update(&source_ids.get(n).to_le_bytes()));
            sum.finish().max(2)
        }
    }
}

fn finish(mut part: FrameList, complete: Vec<i64>, journal: JournalConfig) -> Selection {
    let skipped = complete.len() as u64;
    part.skip = complete;
    let total = (!part.numbers.is_unbounded()).then(|| part.iter().count() as u64);
    let mut notes = Vec::new();
    if skipped > 0 {
        let of = total.map_or(String::new(), |t| format!(" of {}", t + skipped));
        notes.push(format!("{skipped}{of} frames are complete already"));
    }
    Selection { wanted: Some(part), total, skipped, journal, done: false, notes }
}

/// All settings that affect the output, except for the source.
fn settings(
    given: &SelectionInput<'_>,
    kind: &str,
    extension: &str,
    more: &[(&'static str, String)],
) -> JobSettings {
    let SelectionInput { request, chain, .. } = given;
    let recipe = &request.recipe;
    let mut all: BTreeMap<&str, String> = BTreeMap::new();
    all.insert("output", format!("{kind} {extension}"));
    all.insert("recipe", recipe.canonical());
    all.insert("recipe key", format!("{:032x}", recipe.key()));
    all.insert("seed", recipe.seed.unwrap_or(0).to_string());
    all.insert("stream version", STREAM_VERSION.to_string());
    all.insert("input format", resume::format_text(chain.input()));
    all.insert("output format", resume::format_text(chain.output()));
    let fields = match request.fields {
        Fields::Auto => "auto",
        Fields::Frame => "frame",
        Fields::Field => "field",
    };
    all.insert("fields", fields.into());
    all.insert("frame offset", request.frame_offset.to_string());
    all.insert("lavfi", request.lavfi.clone().unwrap_or_default());
    all.extend(more.iter().cloned());
    JobSettings::new(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_known_by_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_path_buf();
        std::fs::write(path.join("1"), b"a").unwrap();
        let files: resume::FrameFiles = Arc::new(move |n| Some(path.join(n.to_string())));
        let source_ids = SourceIds::Each(files, 0);
        let all: Ranges = "1-2".parse().unwrap();
        let before = together(&source_ids, &all);
        assert_eq!(before, together(&source_ids, &all));
        std::fs::write(folder.path().join("2"), b"b").unwrap();
        assert_ne!(before, together(&source_ids, &all));
    }
}
