//! Selects the frames to render: the requested ones, of these the shard's, of these those that are not
//! complete yet.

use super::opened::BoundRequest;
use super::{Fields, JobError, OnError, Request, RequestError};
use crate::pipeline::FrameList;
use grainfield_filters::frame::Ranges;
use grainfield_io::disk::partial::unfinished;
use grainfield_io::format::images::pattern::Pattern;
use grainfield_io::journal::resume::{
    self, JobSettings, ManifestFiles, ManifestNames, Resume, STREAM_VERSION, SourceIds, XxHash64,
};
use grainfield_io::journal::segments::{self, SegmentGrid};
use grainfield_io::journal::shard::{self, Kind, ShardRecord};
use grainfield_io::journal::{CommitHook, JoinRecord, JournalConfig};
use grainfield_io::sink::Files;
use grainfield_io::source;
use std::collections::BTreeMap;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
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

impl Selection {
    /// All requested frames, without existing ones.
    fn all(frames: Option<Ranges>) -> Selection {
        Selection {
            wanted: frames.map(FrameList::all),
            total: None,
            skipped: 0,
            journal: JournalConfig::default(),
            done: false,
            notes: Vec::new(),
        }
    }

    /// The frames of a list that are not complete.
    fn rest(mut list: FrameList, complete: Vec<i64>, journal: JournalConfig) -> Selection {
        let skipped = complete.len() as u64;
        list.skip = complete;
        let total = (!list.numbers.is_unbounded()).then(|| list.iter().count() as u64);
        let mut notes = Vec::new();
        if skipped > 0 {
            let of = total.map_or(String::new(), |t| format!(" of {}", t + skipped));
            notes.push(format!("{skipped}{of} frames are complete already"));
        }
        Selection { wanted: Some(list), total, skipped, journal, done: false, notes }
    }

    /// Whether a later render can continue from the files of this one.
    pub(super) fn is_resumable(&self) -> bool {
        let JournalConfig { manifest_files, segments, .. } = &self.journal;
        let manifest_files = manifest_files.as_ref().or(segments.as_ref().map(|grid| &grid.manifest_files));
        manifest_files.is_some_and(|m| m.source_ids().is_known())
    }
}

pub(super) fn select(bound: &BoundRequest<'_>) -> Result<Selection, JobError> {
    let BoundRequest { request, opened, frames, .. } = bound;
    let files = opened.output.files();
    let video = matches!(files, Files::One(_, Kind::Video));
    check_output(bound, &files, video)?;
    let tracked = request.resume != Resume::No || request.shard.is_some() || request.segments.is_some();
    // frames of single images and pipes are not counted
    if !tracked && !matches!(files, Files::Many(_)) {
        return Ok(Selection::all(frames.ranges.clone()));
    }
    // a source without frames reports it itself
    let Some(all) = requested(bound) else { return Ok(Selection::all(None)) };
    if request.shard.is_some() && all.is_unbounded() {
        return Err(RequestError::ShardLength.into());
    }
    // segments of a render that fits into one would only lose it whole when it is interrupted
    let several = all.is_unbounded() || all.count() > segments::DEFAULT_FRAMES;
    let in_segments = request.segments.is_some() || request.shard.is_some() || several;
    let segment_frames =
        (video && tracked && in_segments).then(|| request.segments.unwrap_or(segments::DEFAULT_FRAMES));
    let reads = opened.input.reads();
    let source_ids =
        SourceIds::for_input(opened.input.name(), opened.source.files(), &reads, request.frame_offset);
    if matches!(source_ids, SourceIds::Unknown) && request.resume != Resume::No {
        return Err(RequestError::ResumePipe.into());
    }
    let list = shard_frames(request, &all, segment_frames);
    let tracker = Tracker { bound, all, source_ids, segment_frames };
    match files {
        Files::Many(pattern) => {
            let rest = tracker.sequence(list, &pattern)?;
            if tracked {
                return Ok(rest);
            }
            Ok(Selection { journal: rest.journal, ..Selection::all(frames.ranges.clone()) })
        }
        Files::Image(path) if request.resume != Resume::No => tracker.image(list, &path),
        Files::One(path, kind) => tracker.file(list, path, kind),
        Files::Image(_) | Files::Nothing | Files::Stream(_) => {
            Ok(Selection::rest(list, Vec::new(), JournalConfig::default()))
        }
    }
}

/// Returns an error for frames, segments and resuming that the output does not allow.
fn check_output(bound: &BoundRequest<'_>, files: &Files, video: bool) -> Result<(), JobError> {
    let BoundRequest { request, opened, frames, .. } = bound;
    // a container holds pictures in order of time, each once
    let animation = matches!(files, Files::One(_, Kind::Animation));
    if animation && (request.shard.is_some() || request.segments.is_some()) {
        return Err(RequestError::Animation.into());
    }
    if let (true, Some(ranges)) = (video || animation, &frames.ranges) {
        check_ascending(request, ranges)?;
    }
    if request.segments.is_some() && !video {
        return Err(RequestError::Segments.into());
    }
    if matches!(files, Files::Nothing | Files::Stream(_)) && request.resume != Resume::No {
        let name = opened.output.name().to_string_lossy().into_owned();
        return Err(RequestError::ResumeStream(name).into());
    }
    Ok(())
}

/// The requested frames; `None` if the source has no frames.
fn requested(bound: &BoundRequest<'_>) -> Option<Ranges> {
    let (info, offset) = (&bound.opened.info, bound.request.frame_offset);
    bound.frames.ranges.clone().or_else(|| {
        let last = info.last.map_or(i64::MAX, |last| last.saturating_add(offset));
        Ranges::span(info.first.saturating_add(offset), last).ok()
    })
}

/// The frames of the shard: of a video in segments, those of whole segments.
fn shard_frames(request: &Request, all: &Ranges, segment_frames: Option<u64>) -> FrameList {
    let list = FrameList::all(all.clone());
    match (request.shard, segment_frames) {
        (None, _) => list,
        (Some(shard), None) => FrameList { part: shard.part(all.count()), ..list },
        (Some(shard), Some(frames)) => {
            let cells = segments::cells(all, frames, request.frame_offset);
            let (first, end) = shard.part(cells.len() as u64);
            let within = cells.get(first as usize..end as usize).unwrap_or_default();
            FrameList { within: segments::span(within, frames, request.frame_offset), ..list }
        }
    }
}

fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// Records what is rendered from what by which settings, and finds what is complete.
struct Tracker<'a> {
    bound: &'a BoundRequest<'a>,
    /// The frames of all shards.
    all: Ranges,
    source_ids: SourceIds,
    /// Frames per segment, for a video in segments.
    segment_frames: Option<u64>,
}

impl Tracker<'_> {
    fn manifest_files(&self, names: ManifestNames, settings: JobSettings) -> ManifestFiles {
        ManifestFiles::new(names, settings, self.source_ids.clone(), self.all.to_string())
    }

    /// The numbers of those files that are complete.
    fn complete(
        &self,
        manifest_files: &ManifestFiles,
        numbers: impl Iterator<Item = i64>,
        path: impl Fn(i64) -> PathBuf,
    ) -> Result<Vec<i64>, JobError> {
        let Request { resume, overwrite, .. } = *self.bound.request;
        Ok(resume::complete_files(manifest_files, numbers, path, resume, overwrite)?)
    }

    /// The selection for numbered images.
    fn sequence(self, list: FrameList, pattern: &Pattern) -> Result<Selection, JobError> {
        let name = pattern.open();
        let settings = self.settings("image sequence", &pattern.extension(), &self.stored());
        let manifest_files = self.manifest_files(ManifestNames::for_output(&name), settings);
        let numbers: Box<dyn Iterator<Item = i64>> = match self.bound.request.resume {
            Resume::No => Box::new(std::iter::empty()),
            _ if self.all.is_unbounded() => {
                let existing = pattern.scan().map_err(|cause| manifest(&name, cause))?;
                Box::new(existing.into_iter().filter(|n| list.numbers.contains(*n)))
            }
            _ => Box::new(list.iter()),
        };
        let complete = self.complete(&manifest_files, numbers, |n| pattern.path(n))?;
        let manifest_files = Some(Arc::new(manifest_files));
        Ok(Selection::rest(list, complete, JournalConfig { manifest_files, ..JournalConfig::default() }))
    }

    /// The selection for one image.
    fn image(self, list: FrameList, path: &Path) -> Result<Selection, JobError> {
        let settings = self.settings("image", &extension(path), &self.stored());
        let manifest_files = self.manifest_files(ManifestNames::for_output(path), settings);
        let complete = self.complete(&manifest_files, list.iter().take(1), |_| path.to_path_buf())?;
        let done = !complete.is_empty();
        let manifest_files = Some(Arc::new(manifest_files));
        let journal = JournalConfig { manifest_files, ..JournalConfig::default() };
        Ok(Selection { done, ..Selection::rest(list, complete, journal) })
    }

    /// The selection for an output that is one file of several frames.
    fn file(mut self, list: FrameList, path: PathBuf, kind: Kind) -> Result<Selection, JobError> {
        let request = self.bound.request;
        let (path, names) = ManifestNames::for_part(path, request.shard);
        self.source_ids = SourceIds::One(source_hash(&self.source_ids, &self.all));
        let settings = self.file_settings(&path, kind);
        let manifest_files = Arc::new(self.manifest_files(names, settings.clone()));
        // also without resuming: a file of someone else in its place is an error
        manifest_files.read().map_err(|cause| manifest(&path, cause))?;
        let folder = segments::folder(&path);
        if !self.complete(&manifest_files, std::iter::once(0), |_| path.clone())?.is_empty() {
            // left by a crash after the last step
            segments::discard(&folder);
            return Ok(Selection {
                skipped: list.iter().count() as u64,
                done: true,
                notes: vec![format!("{} is complete already", path.display())],
                ..Selection::rest(FrameList { part: (0, 0), ..list }, Vec::new(), JournalConfig::default())
            });
        }
        let shard = self.shard_record(&list, kind);
        let mut journal = JournalConfig::default();
        let mut complete = Vec::new();
        if let Some(frames) = self.segment_frames {
            let grid = SegmentGrid {
                frames,
                offset: request.frame_offset,
                manifest_files: Arc::new(self.manifest_files(ManifestNames::for_segments(&folder), settings)),
                folder,
                resume: request.resume,
                picture_only: request.shard.is_some(),
                requested: list.clone(),
                exact: request.missing != source::Missing::Skip,
            };
            complete = grid.complete(request.overwrite)?;
            journal.segments = Some(Arc::new(grid));
        }
        let join = JoinRecord { shard, ..JoinRecord::default() };
        journal.commit_hook = Some(CommitHook { manifest_files, join, frames: None });
        let begins = request.resume != Resume::No && complete.is_empty();
        let mut selection = Selection::rest(list, complete, journal);
        if begins {
            selection.notes.extend(self.notes_of_unfinished(&path, kind));
        }
        Ok(selection)
    }

    /// A single file cannot be continued: what earlier runs have left is named, and stays.
    fn notes_of_unfinished(&self, path: &Path, kind: Kind) -> Vec<String> {
        let remedy = match (kind, self.segment_frames) {
            (Kind::Video, None) => "; a video that is rendered in segments (--segments) can be continued",
            (Kind::Video, Some(_)) => "; this one is rendered in segments, which can be continued",
            _ => "",
        };
        let note = |file: PathBuf| {
            let file = file.display();
            format!(
                "{file} of an earlier run cannot be continued: the render begins anew, and the file stays{remedy}"
            )
        };
        unfinished(path).into_iter().map(note).collect()
    }

    /// The data for joining a shard.
    fn shard_record(&self, list: &FrameList, kind: Kind) -> Option<ShardRecord> {
        let Request { shard, input, encoding, allow_protocol, .. } = self.bound.request;
        let video = self.segment_frames.map(|_| shard::Video {
            tick: (0, 1),
            ends: self.bound.frames.ends,
            cuts: self.bound.frames.cuts.clone(),
            audio: encoding.audio,
            audio_codec: encoding.audio_codec.clone(),
            audio_bitrate: encoding.audio_bitrate,
            tag: encoding.tag.clone(),
            subs: encoding.subs,
            no_chapters: encoding.no_chapters,
            allow_protocol: allow_protocol.clone(),
        });
        shard.map(|shard| ShardRecord {
            index: shard.index(),
            count: shard.count(),
            kind,
            input: input.to_string_lossy().into(),
            wanted: list.iter().count() as u64,
            video,
        })
    }

    /// All settings that affect an output that is one file of several frames.
    fn file_settings(&self, path: &Path, kind: Kind) -> JobSettings {
        let request = self.bound.request;
        let missing = match request.missing {
            source::Missing::Error => "error",
            source::Missing::Hold => "hold",
            source::Missing::Black => "black",
            source::Missing::Skip => "skip",
        };
        let mut more = vec![("frames", self.all.to_string()), ("missing", missing.into())];
        if let Some(frames) = self.segment_frames {
            more.push(("segment frames", frames.to_string()));
            // sound and other streams are chosen when all segments are joined
            more.push(("encoding", request.encoding.picture_text()));
        }
        if kind == Kind::Raw {
            more.extend(request.pix_fmt.iter().map(|name| ("samples", name.clone())));
        }
        let label = match kind {
            Kind::Y4m => "y4m",
            Kind::Hash => "hash",
            Kind::Raw => "raw",
            Kind::Animation => "animation",
            Kind::Video => "video",
        };
        self.settings(label, &extension(path), &more)
    }

    /// The choices for storing images. The source of each file tells what stood for a missing frame.
    fn stored(&self) -> Vec<(&'static str, String)> {
        let encoding = &self.bound.request.encoding;
        if encoding.is_default() { Vec::new() } else { vec![("encoding", encoding.picture_text())] }
    }

    /// All settings that affect the output, except for the source.
    fn settings(&self, kind: &str, extension: &str, more: &[(&'static str, String)]) -> JobSettings {
        let BoundRequest { request, chain, .. } = self.bound;
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
        if request.on_error == OnError::Hold {
            all.insert("on error", "hold".into());
        }
        all.insert("lavfi", request.lavfi.clone().unwrap_or_default());
        all.extend(request.raw.iter().map(|raw| ("input samples", raw.to_string())));
        all.extend(more.iter().cloned());
        JobSettings::new(all)
    }
}

fn manifest(path: &Path, cause: std::io::Error) -> JobError {
    resume::ResumeError::Manifest { path: path.to_path_buf(), cause }.into()
}

/// Pictures of a video must be in order of time.
fn check_ascending(request: &Request, frames: &Ranges) -> Result<(), JobError> {
    // an unbounded range is the last one to be read, so a limited number of values after the bounded ones is
    // enough
    let enough = usize::try_from(frames.bounded(i64::MIN).count()).unwrap_or(usize::MAX).saturating_add(1);
    if frames.iter().take(enough).eq(frames.ascending().take(enough)) {
        return Ok(());
    }
    let (frames, output) = (frames.clone(), request.output.to_string_lossy().into_owned());
    Err(RequestError::Order { frames, output }.into())
}

/// The hash of the whole source.
fn source_hash(source_ids: &SourceIds, all: &Ranges) -> u64 {
    match source_ids {
        SourceIds::Unknown => 0,
        SourceIds::One(known) => *known,
        SourceIds::Each(..) if all.is_unbounded() => 0,
        SourceIds::Each(..) => {
            let mut sum = XxHash64::default();
            all.iter().for_each(|n| sum.write(&source_ids.get(n).to_le_bytes()));
            sum.finish().max(2)
        }
    }
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
        let before = source_hash(&source_ids, &all);
        assert_eq!(before, source_hash(&source_ids, &all));
        std::fs::write(folder.path().join("2"), b"b").unwrap();
        assert_ne!(before, source_hash(&source_ids, &all));
    }
}
