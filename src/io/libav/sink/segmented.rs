//! A video file that is rendered in segments: see [`crate::journal::segments`].

use super::encoder::{Encoder, EncoderProgress};
use super::join::Part;
use super::part_reader::PartReader;
use super::setup::{Setup, prepare};
use super::video_file::VideoFile;
use super::{av_fault, fault};
use crate::disk::{DiskError, Partial, PartialOutput, system};
use crate::journal::segments::{self, SegmentGrid};
use crate::journal::{CommitHook, JoinRecord, PacketRecord};
use crate::libav::container::Container;
use crate::libav::error::AvError;
use crate::libav::mux::Muxer;
use crate::libav::raw::{Fields, extra, parameters, parameters_mut, set_extra, set_parameters};
use crate::libav::side_data::FrameSideData;
use crate::libav::versions::set_stream_side_data;
use crate::media::{Encode, FrameStamp, Plain, Plan, Rescue, Sink, SinkError};
use grainfield_filters::frame::Frame;
use grainfield_filters::host::lock;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Segments being written, and the file in which they are joined.
pub(super) struct Segmented {
    grid: Arc<SegmentGrid>,
    setup: Setup,
    video_file: VideoFile,
    /// An unused encoder, for the first segment.
    spare: Option<Encoder>,
    current: Option<Segment>,
    commit_hook: Option<CommitHook>,
    shared: Arc<Shared>,
}

/// The part that does not wait for the encoder.
struct Shared {
    /// The folder of the segments.
    folder: PathBuf,
    /// Number of pictures in segments that existed before, and in those that have been written; `None` after the end.
    before: u64,
    written: Mutex<Option<u64>>,
    progress: Arc<EncoderProgress>,
}

impl Rescue for Shared {
    /// Complete segments are kept for resuming.
    fn end(&self) -> Result<PartialOutput, SinkError> {
        let frames = lock(&self.written).take();
        // A second call finds `None`, and leaves what the first one kept.
        if frames.is_some_and(|frames| self.before + frames == 0) {
            segments::discard(&self.folder);
            return Ok(PartialOutput { partial: None, frames });
        }
        let partial = self.folder.exists().then(|| self.folder.clone());
        Ok(PartialOutput { partial, frames })
    }

    fn progress(&self) -> (u64, u64) {
        self.progress.get()
    }
}

/// The segment being written.
struct Segment {
    cell: i64,
    encoder: Encoder,
    partial: Partial,
    muxer: Muxer,
    join: JoinRecord,
    frames: u64,
}

impl Segmented {
    pub(super) fn create(
        output: &OsStr,
        plan: &Plan,
        grid: &Arc<SegmentGrid>,
    ) -> Result<Segmented, SinkError> {
        let io = |cause| SinkError::io(grid.folder.display().to_string(), cause);
        // before the folder is created
        if !plan.overwrite && Path::new(output).symlink_metadata().is_ok() {
            return Err(SinkError::from(DiskError::Exists(output.into())));
        }
        grid.acquire(plan.overwrite).map_err(io)?;
        let before = grid.recorded().map_err(io)?.iter().map(|(_, entry, _)| entry.frames).sum();
        let prepared = prepare(output, plan, Some(&grid.folder));
        let (mut setup, encoder, video_file) = prepared.inspect_err(|_| {
            if before == 0 {
                grid.discard();
            }
        })?;
        setup.notes.push(format!("segments of {} frames in {}", grid.frames, grid.folder.display()));
        let progress = Arc::clone(&setup.progress);
        let shared = Shared { folder: grid.folder.clone(), before, written: Mutex::new(Some(0)), progress };
        Ok(Segmented {
            grid: Arc::clone(grid),
            setup,
            video_file,
            spare: Some(encoder),
            current: None,
            commit_hook: plan.journal.commit_hook.clone(),
            shared: Arc::new(shared),
        })
    }

    fn io(&self, cause: io::Error) -> SinkError {
        SinkError::io(self.grid.folder.display().to_string(), cause)
    }

    fn start(&mut self, cell: i64, carried: Option<&FrameSideData>) -> Result<Segment, SinkError> {
        let more = self.setup.more_hdr(carried);
        let hdr = more.unwrap_or(self.setup.hdr);
        let encoder = match self.spare.take().filter(|_| more.is_none()) {
            Some(encoder) => encoder,
            None => self.setup.encoder(&hdr)?,
        };
        let partial = Partial::unnamed(&self.grid.path(cell), &self.grid.folder).map_err(|e| self.io(e))?;
        let muxer = nut(partial.file().try_clone().map_err(|e| self.io(e))?, &encoder);
        let muxer = muxer.map_err(|e| self.fault("a segment cannot be started", e))?;
        let join = JoinRecord { hdr, ..JoinRecord::default() };
        Ok(Segment { cell, encoder, partial, muxer, join, frames: 0 })
    }

    fn fault(&self, doing: &str, error: AvError) -> SinkError {
        av_fault(&self.grid.folder.to_string_lossy(), doing, error)
    }

    /// Writes all packets that the encoder has ready.
    fn drain(&self, Segment { encoder, join, muxer, .. }: &mut Segment) -> Result<(), SinkError> {
        encoder.drain(&self.setup.name, |packet, base| {
            let av = packet.av();
            join.packets.push((av.pts, av.duration, av.flags));
            muxer.write(packet, base, 0).map_err(|e| self.fault("a segment cannot be written", e))
        })
    }

    /// Completes the segment: records it and gives it its name.
    fn complete(&mut self) -> Result<(), SinkError> {
        let Some(mut segment) = self.current.take() else { return Ok(()) };
        segment.encoder.end().map_err(|e| self.video_file.fault("the encoder failed", e))?;
        self.drain(&mut segment)?;
        let Segment { cell, partial, mut muxer, join, frames, .. } = segment;
        muxer.end().map_err(|e| self.fault("a segment cannot be written", e))?;
        let (file, manifest_files) = (partial.file(), &self.grid.manifest_files);
        file.sync_data()
            .and_then(|()| manifest_files.record_synced(cell, file, &partial.path(), frames, Some(&join)))
            .map_err(|e| self.io(e))?;
        let mut written = lock(&self.shared.written);
        let count = written.as_mut().ok_or_else(|| self.io(ErrorKind::Interrupted.into()))?;
        partial.persist(true).map_err(|(_, e)| self.io(e))?;
        *count += frames;
        system::sync_folder(&self.grid.folder).map_err(|e| self.io(e))
    }

    /// Puts the packets of all segments into the file. Returns them.
    fn join(&mut self, written: u64) -> Result<Vec<PacketRecord>, SinkError> {
        let recorded = self.grid.recorded().map_err(|e| self.io(e))?;
        if recorded.iter().map(|(_, entry, _)| entry.frames).sum::<u64>() != self.shared.before + written {
            let problem = "the segments changed while they were joined; does another process write to them?";
            return Err(fault(&self.grid.folder, problem.into()));
        }
        // a segment of which the encoder made no packets cannot be opened
        let filled: Vec<_> = recorded.iter().filter(|(_, _, join)| !join.packets.is_empty()).collect();
        let open = |part: usize| {
            let (path, entry, _) = filled[part];
            match entry.is_intact(path) {
                Ok(true) => PartReader::open(path, false),
                Ok(false) => {
                    Err(fault(path, "its bytes are not those that were written; delete it and resume".into()))
                }
                Err(cause) => Err(SinkError::io(path.display().to_string(), cause)),
            }
        };
        let mut header = Vec::new();
        if let Some((_, _, join)) = filled.first() {
            header = extra(parameters(open(0)?.stream())).to_vec();
            let to = self.video_file.muxer.get(self.video_file.stream);
            for (kind, bytes) in join.hdr.side_data() {
                set_stream_side_data(to, kind, &bytes);
            }
            let done = set_extra(parameters_mut(to), &header);
            done.map_err(|e| self.video_file.fault("no stream can be made", e))?;
        }
        let parts: Vec<Part<'_>> =
            filled.iter().map(|(path, _, join)| (path.as_path(), &*join.packets)).collect();
        self.video_file.write_parts(&parts, &header, open)?;
        Ok(filled.iter().flat_map(|(_, _, join)| &join.packets).copied().collect())
    }
}

/// A muxer for a segment, with its header.
fn nut(file: File, encoder: &Encoder) -> Result<Muxer, AvError> {
    let mut muxer = Muxer::nut(file)?;
    let stream = muxer.stream()?;
    set_parameters(stream, encoder.parameters().av())?;
    stream.time_base = encoder.time_base();
    let par = parameters_mut(stream);
    // NUT has no stream without a tag
    let known = Container::for_output("x.nut".as_ref()).is_some_and(|nut| nut.supports(par.codec_id));
    par.codec_tag = if known { 0 } else { u32::from_le_bytes(*b"GRFD") };
    muxer.begin()?;
    Ok(muxer)
}

impl Sink for Segmented {
    fn encoder(&self) -> Arc<dyn Encode> {
        Arc::new(Plain)
    }

    fn rescue(&self) -> Result<Arc<dyn Rescue>, SinkError> {
        Ok(self.shared.clone())
    }

    fn write(&mut self, stamp: &FrameStamp, frame: &Frame, _: &[u8]) -> Result<(), SinkError> {
        let _log = self.setup.log.enter();
        let cell = self.grid.cell(stamp.number);
        if self.current.as_ref().is_some_and(|s| s.cell != cell) {
            self.complete()?;
        }
        let carried = stamp.carried.as_ref().and_then(|c| c.downcast_ref::<FrameSideData>());
        let mut segment = match self.current.take() {
            Some(segment) => segment,
            None => self.start(cell, carried)?,
        };
        let (pts, duration) = self.setup.clock.pts_and_duration(stamp);
        let pts = segment.encoder.next_time(pts);
        let sent = segment.encoder.send(frame, pts, duration, carried);
        sent.map_err(|e| self.video_file.fault("the encoder refused the picture", e))?;
        segment.frames += 1;
        self.drain(&mut segment)?;
        self.current = Some(segment);
        Ok(())
    }

    fn keeps_times(&self) -> bool {
        self.setup.clock.rounded_from.is_none()
    }

    fn warnings(&self) -> Vec<String> {
        self.setup.warnings.clone()
    }

    fn notes(&self) -> Vec<String> {
        self.setup.notes.clone()
    }

    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        let (_log, mut all) = (self.setup.log.enter(), self);
        all.complete()?;
        let written = lock(&all.shared.written).ok_or_else(|| all.io(ErrorKind::Interrupted.into()))?;
        let joined = all.join(written);
        if let (Ok(packets), Some(mut hook)) = (&joined, all.commit_hook.take()) {
            if let Some(video) = hook.join.shard.as_mut().and_then(|shard| shard.video.as_mut()) {
                video.tick = (all.setup.base.num, all.setup.base.den);
                hook.join.packets.clone_from(packets);
            }
            let hook = CommitHook { frames: Some(all.shared.before + written), ..hook };
            all.video_file.out.before_commit(hook.boxed());
        }
        let Segmented { video_file, grid, .. } = *all;
        video_file.finish(joined.map(drop))?;
        grid.discard();
        Ok(())
    }

    fn abandon(self: Box<Self>) -> Result<PartialOutput, SinkError> {
        let _log = self.setup.log.enter();
        let Segmented { video_file, current, shared, .. } = *self;
        drop((video_file, current));
        shared.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended_twice(written: u64) -> (bool, [PartialOutput; 2], PathBuf) {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("a.mkv.segments");
        std::fs::create_dir(&folder).unwrap();
        let segment = folder.join("00000000.nut");
        std::fs::write(&segment, "rendered for hours").unwrap();
        let (written, progress) = (Mutex::new(Some(written)), Arc::default());
        let shared = Shared { folder: folder.clone(), before: 0, written, progress };
        let ends = [shared.end().unwrap(), shared.end().unwrap()];
        (segment.exists(), ends, folder)
    }

    #[test]
    fn a_second_end_keeps_what_the_first_one_kept() {
        let (kept, ends, folder) = ended_twice(7);
        assert!(kept);
        let partial = Some(folder);
        let first = PartialOutput { partial: partial.clone(), frames: Some(7) };
        assert_eq!(ends, [first, PartialOutput { partial, frames: None }]);
        let (kept, ends, _) = ended_twice(0);
        assert!(!kept && ends.iter().all(|end| end.partial.is_none()));
    }
}
