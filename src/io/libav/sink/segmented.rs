//! A video file that is rendered in segments: see [`crate::journal::segments`].

use super::encoder::{Encoder, EncoderProgress};
use super::fault;
use super::packet::{from_stored, kind, stored_side_data, to_stored};
use super::setup::{Setup, prepare};
use super::video_file::VideoFile;
use crate::disk::{DiskError, Partial, PartialOutput};
use crate::journal::CommitHook;
use crate::journal::segments::file::{End, Reader, SegmentError, Stream, Writer};
use crate::journal::segments::timeline::timeline;
use crate::journal::segments::{self, SegmentGrid};
use crate::libav::raw::{Fields, extra, parameters_mut, set_extra};
use crate::libav::side_data::FrameSideData;
use crate::libav::versions::set_stream_side_data;
use crate::media::{Encode, FrameStamp, Plain, Plan, Rescue, Sink, SinkError};
use ffmpeg_next::Packet;
use ffmpeg_sys_next::AVRational;
use grainfield_filters::frame::Frame;
use grainfield_filters::host::lock;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind};
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
    packet: Packet,
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
    progress: EncoderProgress,
}

impl Shared {}

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
    writer: Writer<BufWriter<File>>,
    last: Option<i64>,
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
        let mut before = 0;
        for cell in grid.existing().map_err(io)? {
            before += End::open(&grid.path(cell)).map_err(|e| broken(grid, cell, e))?.pictures;
        }
        let prepared = prepare(output, plan, Some(&grid.folder));
        let (mut setup, encoder, video_file) = prepared.inspect_err(|_| {
            if before == 0 {
                grid.discard();
            }
        })?;
        setup.notes.push(format!("segments of {} frames in {}", grid.frames, grid.folder.display()));
        Ok(Segmented {
            grid: Arc::clone(grid),
            setup,
            video_file,
            spare: Some(encoder),
            current: None,
            packet: Packet::empty(),
            commit_hook: plan.journal.commit_hook.clone(),
            shared: Arc::new(Shared {
                folder: grid.folder.clone(),
                before,
                written: Mutex::new(Some(0)),
                progress: EncoderProgress::default(),
            }),
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
        let base = encoder.time_base();
        let extra = extra(encoder.parameters().av()).to_vec();
        let stream = Stream { tick: (base.num, base.den), extra, side: stored_side_data(hdr.side_data()) };
        let partial = Partial::unnamed(&self.grid.path(cell), &self.grid.folder).map_err(|e| self.io(e))?;
        let file = BufWriter::with_capacity(1 << 18, partial.file().try_clone().map_err(|e| self.io(e))?);
        let writer = Writer::new(file, &stream).map_err(|e| self.io(e))?;
        Ok(Segment { cell, encoder, partial, writer, last: None })
    }

    /// Writes all packets the encoder has ready.
    fn drain(&mut self, segment: &mut Segment) -> Result<(), SinkError> {
        let failed = |e| self.video_file.fault("the encoder failed", e);
        while segment.encoder.receive(&mut self.packet).map_err(failed)? {
            self.shared.progress.step(0, 1);
            segment.writer.packet(&to_stored(&self.packet)).map_err(|e| self.io(e))?;
        }
        Ok(())
    }

    /// Completes the segment: records it and gives it its name.
    fn complete(&mut self) -> Result<(), SinkError> {
        let Some(mut segment) = self.current.take() else { return Ok(()) };
        segment.encoder.end().map_err(|e| self.video_file.fault("the encoder failed", e))?;
        self.shared.progress.step(0, 0);
        self.drain(&mut segment)?;
        let Segment { cell, partial, writer, .. } = segment;
        let pictures = writer.pictures;
        let recorded = || -> io::Result<()> {
            let (file, hash) = writer.finish()?;
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.sync_data()?;
            let manifest_files = &self.grid.manifest_files;
            manifest_files.record(&manifest_files.entry(cell, &file, hash)?, None)?;
            manifest_files.sync()
        };
        recorded().map_err(|e| self.io(e))?;
        let mut written = lock(&self.shared.written);
        let count = written.as_mut().ok_or_else(|| self.io(ErrorKind::Interrupted.into()))?;
        partial.persist(true).map_err(|(_, e)| self.io(e))?;
        *count += pictures;
        File::open(&self.grid.folder).and_then(|folder| folder.sync_all()).map_err(|e| self.io(e))
    }

    /// Puts the packets of all segments into the file.
    fn join(&mut self, written: u64) -> Result<Vec<(i64, i64)>, SinkError> {
        let cells = self.grid.existing().map_err(|e| self.io(e))?;
        let mut times = Vec::new();
        let mut found = 0;
        for &cell in &cells {
            let end = End::open(&self.grid.path(cell)).map_err(|e| broken(&self.grid, cell, e))?;
            times.extend(end.times);
            found += end.pictures;
        }
        if found != self.shared.before + written {
            let problem = "the segments changed while they were joined; does another process write to them?";
            return Err(fault(&self.grid.folder, problem.into()));
        }
        let line = timeline(&times);
        let first = line.iter().map(|t| t.pts).min().unwrap_or(0);
        let end = line.iter().map(|t| t.pts.saturating_add(t.duration)).max().unwrap_or(0);
        let mut next = line.iter();
        let mut extra: Option<Stream> = None;
        let grid = Arc::clone(&self.grid);
        let checksum = grid.checksums().map_err(|e| self.io(e))?;
        for &cell in &cells {
            let broken = |e| broken(&grid, cell, e);
            let mut reader = Reader::open(&self.grid.path(cell)).map_err(broken)?;
            let base = AVRational { num: reader.stream.tick.0, den: reader.stream.tick.1 };
            match &extra {
                None => {
                    self.copy_header(&reader.stream)?;
                    self.video_file.begin(first)?;
                    extra = Some(reader.stream.clone());
                }
                Some(first) if first.extra != reader.stream.extra => {
                    let problem = "it was encoded by a different encoder version than the first segment; delete \
                        it and resume";
                    return Err(fault(self.grid.path(cell), problem.into()));
                }
                Some(_) => {}
            }
            while let Some(packet) = reader.next_packet().map_err(broken)? {
                let Some(time) = next.next() else { break };
                let packet = from_stored(&packet);
                let mut packet = packet.map_err(|e| self.video_file.fault("a packet cannot be made", e))?;
                self.video_file.write_packet_at(&mut packet, time, base)?;
            }
            if checksum(cell) != Some(reader.checksum()) {
                return Err(broken(SegmentError::Bad("its bytes are not those that were written")));
            }
        }
        if extra.is_none() {
            self.video_file.begin(0)?;
        }
        self.video_file.finish_copies((!self.setup.to_source_end).then_some(end))?;
        Ok(times)
    }

    /// Copies the header of the first segment's stream to the container.
    fn copy_header(&mut self, stream: &Stream) -> Result<(), SinkError> {
        let to = self.video_file.muxer.get(self.video_file.stream);
        for (number, bytes) in &stream.side {
            if let Some(kind) = kind(*number) {
                set_stream_side_data(to, kind, bytes);
            }
        }
        let done = set_extra(parameters_mut(to), &stream.extra);
        done.map_err(|e| self.video_file.fault("no stream can be made", e))
    }
}

fn broken(grid: &SegmentGrid, cell: i64, fault: SegmentError) -> SinkError {
    let name = grid.path(cell).display().to_string();
    match fault {
        SegmentError::Io(cause) => SinkError::io(name, cause),
        bad => SinkError::bad(name, format!("{bad}; delete it and resume")),
    }
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
        // encoders require increasing times
        let pts = segment.last.map_or(pts, |last| pts.max(last + 1));
        segment.last = Some(pts);
        self.shared.progress.step(1, 0);
        let sent = segment.encoder.send(frame, pts, duration, carried);
        self.shared.progress.step(0, 0);
        sent.map_err(|e| self.video_file.fault("the encoder refused the picture", e))?;
        segment.writer.pictures += 1;
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
        if let (Ok(times), Some(mut hook)) = (&joined, all.commit_hook.take()) {
            if let Some(record) = &mut hook.shard {
                record.written = all.shared.before + written;
                if let Some(video) = &mut record.video {
                    video.tick = (all.setup.base.num, all.setup.base.den);
                    video.times.clone_from(times);
                }
            }
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
        let segment = folder.join("00000000.segment");
        std::fs::write(&segment, "rendered for hours").unwrap();
        let (written, progress) = (Mutex::new(Some(written)), EncoderProgress::default());
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
