//! The sink for video files.

use super::av_fault;
use super::encoder::{Encoder, EncoderProgress};
use super::setup::{Setup, prepare};
use super::video_file::VideoFile;
use crate::disk::{Partial, PartialOutput};
use crate::encoding::{Encoding, Pass};
use crate::journal::Cuts;
use crate::libav::error::AvError;
use crate::libav::log::Log;
use crate::libav::side_data::FrameSideData;
use crate::media::{Encode, FrameStamp, Plain, Plan, Rescue, Sink, SinkError};
use grainfield_filters::frame::Frame;
use grainfield_filters::host::lock;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::{Duration, Instant};

/// A video file being written.
pub(super) struct Video {
    setup: Setup,
    shared: Arc<Shared>,
    encoder: Encoder,
    /// The second pass, until it begins.
    second_pass: Option<Pass>,
    cuts: Cuts,
    /// The number of cuts before the last frame.
    passed: usize,
    /// The offset that is subtracted from all times, known with the first picture; it grows with each cut.
    shift: Option<i64>,
    /// The end of all pictures so far, before the shift.
    end: i64,
}

/// The part that does not wait for the encoder.
struct Shared {
    /// `None` after it has been finished or abandoned.
    video_file: Mutex<Option<VideoFile>>,
    /// The file's name as long as it is incomplete.
    partial: Option<PathBuf>,
    progress: Arc<EncoderProgress>,
}

impl Shared {
    /// Runs a function on the file, which is an error after it has been ended from another thread.
    fn with_file<T>(
        &self,
        setup: &Setup,
        f: impl FnOnce(&mut VideoFile) -> Result<T, SinkError>,
    ) -> Result<T, SinkError> {
        let mut file = lock(&self.video_file);
        file.as_mut().map_or_else(|| Err(av_fault(&setup.name, ENDED, AvError::EXIT)), f)
    }
}

impl Rescue for Shared {
    fn end(&self) -> Result<PartialOutput, SinkError> {
        let _log = Log::new().enter();
        let begun = Instant::now();
        // nothing of a pipe is left
        if self.partial.is_none() {
            return Ok(PartialOutput::default());
        }
        while begun.elapsed() < PATIENCE {
            let file = match self.video_file.try_lock() {
                Ok(mut file) => file.take(),
                Err(TryLockError::Poisoned(file)) => file.into_inner().take(),
                Err(TryLockError::WouldBlock) => None,
            };
            match file {
                Some(file) => return file.abandon(),
                None => std::thread::sleep(PATIENCE / 100),
            }
        }
        let name = self.partial.as_deref().unwrap_or(Path::new("")).display().to_string();
        let problem = "it may not play, since writing it stands still, and its end is missing".into();
        Err(SinkError::bad(name, problem)
            .leaving(PartialOutput { partial: self.partial.clone(), frames: None }))
    }

    fn progress(&self) -> (u64, u64) {
        self.progress.get()
    }
}

/// The problem of an output that another thread has ended.
const ENDED: &str = "it has been ended";

/// How long a write may stand still when the output is to end at once.
const PATIENCE: Duration = Duration::from_secs(1);

impl Video {
    pub(super) fn create(output: &OsStr, plan: &Plan) -> Result<Video, SinkError> {
        let (setup, encoder, mut video_file) = {
            // the measurements do not exist yet
            let encoding = Encoding { pass: None, ..plan.encoding.clone() };
            prepare(output, &Plan { encoding, ..plan.clone() }, None)?
        };
        if let Some(hook) = &plan.journal.commit_hook {
            video_file.out.before_commit(hook.clone().boxed());
        }
        let partial = video_file.out.partial().map(Partial::path);
        let progress = Arc::clone(&setup.progress);
        let shared = Arc::new(Shared { video_file: Mutex::new(Some(video_file)), partial, progress });
        let (second_pass, cuts) = (plan.encoding.pass.clone(), plan.cuts.clone());
        Ok(Video { setup, shared, encoder, second_pass, cuts, passed: 0, shift: None, end: 0 })
    }

    fn fault(&self, doing: &str, error: AvError) -> SinkError {
        av_fault(&self.setup.name, doing, error)
    }

    /// Writes the header, for which the first picture is needed. Returns the shift of all times.
    fn begin(&mut self, pts: i64, carried: Option<&FrameSideData>) -> Result<i64, SinkError> {
        // If the picture has more HDR10 metadata than the container, or for a second pass, open the encoder again.
        let (more_hdr, pass) = (self.setup.more_hdr(carried), self.second_pass.take());
        if more_hdr.is_some() || pass.is_some() {
            let hdr = more_hdr.unwrap_or(self.setup.hdr);
            (self.setup.hdr, self.setup.encoding.pass) = (hdr, pass);
            self.encoder = self.setup.encoder(&hdr)?;
            let (setup, encoder) = (&self.setup, &self.encoder);
            self.shared.with_file(setup, |file| {
                setup
                    .describe(file.muxer.get(file.stream), encoder, &hdr)
                    .map_err(|e| file.fault("no stream can be made", e))
            })?;
        }
        self.shared.with_file(&self.setup, |file| file.begin(pts).map(|()| file.shift))
    }

    /// Writes all packets that the encoder has ready.
    fn drain(&mut self) -> Result<(), SinkError> {
        let (shared, setup) = (&self.shared, &self.setup);
        self.encoder.drain(&setup.name, |packet, base| {
            shared.with_file(setup, |file| file.write_packet(packet, base))
        })
    }

    /// Flushes the encoder and writes the remaining packets. Returns the file without its trailer.
    fn close(&mut self, abandoned: bool) -> Result<(VideoFile, Result<(), SinkError>), SinkError> {
        let mut result = Ok(());
        if self.shared.with_file(&self.setup, |file| Ok(file.muxer.is_open()))? {
            result = self
                .encoder
                .end()
                .map_err(|e| self.fault("the encoder failed", e))
                .and_then(|()| self.drain());
            if result.is_ok() {
                result = self.shared.with_file(&self.setup, |file| {
                    file.finish_copies((abandoned || !file.ends.last).then_some(self.end))
                });
            }
        }
        let file = lock(&self.shared.video_file).take();
        // always write the trailer: without it most files do not play
        Ok((file.ok_or_else(|| self.fault(ENDED, AvError::EXIT))?, result))
    }
}

impl Sink for Video {
    fn encoder(&self) -> Arc<dyn Encode> {
        Arc::new(Plain)
    }

    fn rescue(&self) -> Result<Arc<dyn Rescue>, SinkError> {
        Ok(self.shared.clone())
    }

    fn write(&mut self, stamp: &FrameStamp, frame: &Frame, _: &[u8]) -> Result<(), SinkError> {
        let _log = self.setup.log.enter();
        let carried = stamp.carried.as_ref().and_then(|c| c.downcast_ref::<FrameSideData>());
        let (pts, duration) = self.setup.clock.pts_and_duration(stamp);
        let is_begun = self.shift.is_some();
        let mut shift = self.shift.map_or_else(|| self.begin(pts, carried), Ok)?;
        let passed = self.cuts.before(stamp.number);
        let is_next = std::mem::replace(&mut self.passed, passed) < passed;
        if is_begun && is_next && pts > self.end {
            let from = self.end;
            self.shared.with_file(&self.setup, |file| {
                file.cut((from, pts));
                Ok(())
            })?;
            shift += pts - from;
        }
        self.shift = Some(shift);
        let time = self.encoder.next_time(pts.saturating_sub(shift));
        self.end = self.end.max(time.saturating_add(shift).saturating_add(duration));
        let sent = self.encoder.send(frame, time, duration, carried);
        sent.map_err(|e| self.fault("the encoder refused the picture", e))?;
        self.drain()
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
        let (_log, mut video) = (self.setup.log.enter(), self);
        let (file, result) = video.close(false)?;
        file.finish(result)
    }

    fn abandon(self: Box<Self>) -> Result<PartialOutput, SinkError> {
        let (_log, mut video) = (self.setup.log.enter(), self);
        // Errors of writing or copying are the reason for abandoning, or irrelevant.
        video.close(true)?.0.abandon()
    }
}
