//! Deinterlacing by FFmpeg's filters in front of the chain. What they make of a frame depends on its neighbours alone, so
//! any frame can be sought: reading begins a few frames before it.

use super::clock::Clock;
use super::open::invalid;
use super::{Shape, Video, durations, first_from};
use crate::disk::graph::filters;
use crate::libav::details;
use crate::libav::error::AvError;
use crate::libav::graph::{beyond, is_frame_by_frame};
use crate::libav::log::recent_messages;
use crate::libav::pixfmt::Layout;
use crate::libav::raw::Fields;
use crate::libav::side_data::SourceFile;
use crate::libav::stage::Stage;
use crate::libav::unpack::{Decoded, Unpack};
use crate::media::source::FORWARD_LIMIT;
use crate::media::{Decode, FrameStamp, Info, Pending, Slot, Source, SourceError};
use ffmpeg_next::frame;
use grainfield_filters::frame::{FieldOrder, Format};
use grainfield_filters::ratio::Ratio;
use std::collections::VecDeque;
use std::sync::Arc;

/// FFmpeg's filters that see a frame and the two beside it, and make one frame of each, or two.
const DEINTERLACERS: [&str; 4] = ["bwdif", "estdif", "w3fdif", "yadif"];

/// The number of frames before the one that is sought from which reading begins. They need one; another is to spare.
const WARM_UP: i64 = 2;

/// The number of errors before the first frame after which a video is given up.
const TRIES: usize = 16;

/// Whether a graph consists of one deinterlacer, which takes every frame, and filters that see one frame.
pub(super) fn deinterlaces(graph: &str) -> bool {
    let all = filters(graph);
    let is_deinterlacer = |name: &str| DEINTERLACERS.contains(&name);
    let takes_all = |options: &[(String, String)]| {
        options.iter().enumerate().all(|(i, (key, value))| match &**key {
            "" => i < 2,
            "mode" | "parity" | "filter" => true,
            "deint" => ["all", "0"].contains(&&**value),
            _ => false,
        })
    };
    !graph.contains(['[', ';', '\0'])
        && beyond(graph).is_none()
        && all.iter().filter(|(name, _)| is_deinterlacer(name)).count() == 1
        && all.iter().all(|(name, options)| match is_deinterlacer(name) {
            true => takes_all(options),
            false => is_frame_by_frame(name),
        })
}

/// A video behind a deinterlacer.
pub(super) struct Deinterlaced {
    inner: Video,
    stage: Stage,
    info: Info,
    /// The number of frames that follow from one of the video.
    each: i64,
    clock: Clock,
    shape: Shape,
    decoder: Arc<Unpack>,
    /// The frames that follow, and errors among them.
    ready: VecDeque<Result<frame::Video, SourceError>>,
    /// Damaged frames of the video, with the problem, of which no frame has been returned yet.
    damaged: VecDeque<(i64, String)>,
    /// Number of the next frame.
    next: i64,
    /// Timestamp of the frame before it.
    last_pts: Option<i64>,
}

impl Deinterlaced {
    /// Adds a graph to a video of which nothing has been read.
    pub(super) fn open(mut inner: Video, graph: &str) -> Result<Deinterlaced, SourceError> {
        // The graph may make pictures of one size of others, and its frames have no fields.
        (inner.shape, inner.fields_differ) = (None, true);
        let log = inner.log.clone();
        let _log = log.enter();
        let mut stage = Stage::new(graph.to_owned(), details::feed(&inner.reader.demuxer));
        let (mut ready, mut damaged) = (VecDeque::new(), VecDeque::new());
        for count in 1..=TRIES {
            fill(&mut inner, &mut stage, &mut ready, &mut damaged, count);
            if ready.back().is_some_and(Result::is_ok) {
                break;
            }
        }
        while let Ok(Some(picture)) = stage.pull() {
            ready.push_back(Ok(picture));
        }
        let name = inner.info.name.clone();
        let pictures = || ready.iter().filter_map(|read| read.as_ref().ok());
        let (Some(first), each) = (pictures().next(), pictures().count() as i64) else {
            let nothing = || invalid(&name, format!("no frame can be decoded{}", recent_messages()));
            return Err(ready.pop_front().and_then(Result::err).unwrap_or_else(nothing));
        };
        let demuxer = &inner.reader.demuxer;
        let (layout, shape) = (Layout::new(first.format()), Shape::new(first));
        let layout = layout.map_err(|e| invalid(&name, e.to_string()))?;
        let rate = inner.info.format.rate * Ratio::whole(each);
        let format = details::format(demuxer, first, &layout);
        let format = Format { fields: FieldOrder::Progressive, rate, ..format };
        format.check().map_err(|e| invalid(&name, e.to_string()))?;
        let tick =
            stage.graph().and_then(|graph| details::ratio(graph.time_base)).unwrap_or(inner.clock.tick);
        let clock = inner.clock.divided(each, tick);
        let carried = inner.info.carried.as_deref().and_then(|carried| carried.downcast_ref::<SourceFile>());
        let carried =
            carried.map(|file| SourceFile { time_base: clock.tick, first: clock.first, ..file.clone() });
        let info = Info {
            format,
            last: None,
            carried: carried.map(|file| Arc::new(file) as _),
            ..inner.info.clone()
        };
        let decoder = Arc::new(Unpack { name, format, layout });
        let mut all = Deinterlaced {
            inner,
            stage,
            info,
            each,
            clock,
            shape,
            decoder,
            ready,
            damaged,
            next: 0,
            last_pts: None,
        };
        all.describe();
        Ok(all)
    }

    /// Takes over what is known of the video by now.
    fn describe(&mut self) {
        let Info { last, variable_rate, details, .. } = &self.inner.info;
        self.info.last = last.map(|last| last.saturating_add(1).saturating_mul(self.each) - 1);
        (self.info.variable_rate, self.info.details) = (*variable_rate, details.clone());
    }

    fn fill(&mut self, count: usize) {
        fill(&mut self.inner, &mut self.stage, &mut self.ready, &mut self.damaged, count);
    }

    /// The next picture, and its timestamp.
    fn step(&mut self) -> Result<Option<(frame::Video, i64)>, SourceError> {
        self.fill(1);
        let Some(picture) = self.ready.pop_front() else { return Ok(None) };
        let picture = picture?;
        let later = |t: &i64| self.last_pts.is_none_or(|last| *t > last);
        let pts = picture.timestamp().filter(later);
        let pts = pts.unwrap_or_else(|| self.clock.guess(self.next, self.last_pts));
        (self.next, self.last_pts) = (self.next + 1, Some(pts));
        Ok(Some((picture, pts)))
    }

    /// When frame `n` begins, of a video whose times are known.
    fn indexed_time(&self, n: usize) -> Ratio {
        let n = i64::try_from(n).unwrap_or(i64::MAX);
        let known = |k: i64| self.inner.indexed_pts(k);
        // After the last frame, time goes on as before it.
        let at = |k: i64| match (known(k), known(k - 1), known(k - 2)) {
            (Some(pts), ..) => pts,
            (_, Some(last), Some(before)) => last.saturating_add(last.saturating_sub(before)),
            (_, last, _) => last.unwrap_or(self.inner.clock.first).saturating_add(self.inner.clock.step),
        };
        let (k, part) = (n / self.each, Ratio::new(n % self.each, self.each).unwrap_or(Ratio::ZERO));
        let (begin, end) = (Ratio::whole(at(k)), Ratio::whole(at(k + 1)));
        let ticks = (begin + (end - begin) * part) * self.inner.clock.tick;
        let pts = ticks.checked_div(self.clock.tick).map_or(self.clock.first, Ratio::floor);
        self.clock.time_and_duration(n, pts, 0).0
    }

    fn bad(&self, problem: String) -> SourceError {
        invalid(&self.info.name, problem)
    }
}

/// Reads until `count` frames are ready, or there are no more.
fn fill(
    inner: &mut Video,
    stage: &mut Stage,
    ready: &mut VecDeque<Result<frame::Video, SourceError>>,
    damaged: &mut VecDeque<(i64, String)>,
    count: usize,
) {
    let name = inner.info.name.clone();
    let failed = |e: AvError| invalid(&name, format!("FFmpeg's filters: {e}{}", recent_messages()));
    let mut slot = Slot::default();
    while ready.len() < count {
        match stage.pull() {
            Ok(None) if stage.ended() => return,
            Ok(None) => {}
            Ok(Some(picture)) => {
                ready.push_back(Ok(picture));
                continue;
            }
            Err(e) => {
                ready.push_back(Err(failed(e)));
                continue;
            }
        }
        let read = inner.next(&mut slot);
        let picture = match slot.pending.take() {
            Some(Pending::Opaque(work)) => work.downcast::<Decoded>().ok().map(|decoded| {
                let Decoded { mut picture, pts, .. } = *decoded;
                picture.set_pts(Some(pts));
                picture.av_mut().best_effort_timestamp = pts;
                picture
            }),
            _ => None,
        };
        let sent = match read {
            Ok(_) => stage.push(picture),
            // The decoder has concealed it; what is made of it has the number that is due.
            Err(SourceError::Damaged { problem, stamp, .. }) if picture.is_some() => {
                damaged.push_back((stamp.number, problem));
                stage.push(picture)
            }
            Err(error) => {
                ready.push_back(Err(error));
                continue;
            }
        };
        if let Err(e) = sent {
            ready.push_back(Err(failed(e)));
        }
    }
}

impl Source for Deinterlaced {
    fn info(&self) -> &Info {
        &self.info
    }

    fn seek(&mut self, number: i64) -> Result<(), SourceError> {
        let log = self.inner.log.clone();
        let _log = log.enter();
        self.info.check_number(number)?;
        let at_end = self.ready.is_empty() && self.stage.ended();
        if at_end || number < self.next || self.info.seekable && number - self.next > FORWARD_LIMIT {
            if !self.info.seekable {
                let (before, why) = (self.next - 1, self.inner.forward_only_reason);
                return Err(self.bad(format!("frame {number} was requested after frame {before}, but {why}")));
            }
            let begin = (number / self.each - WARM_UP).max(0);
            self.stage.reset();
            self.ready.clear();
            self.damaged.clear();
            if let Err(e) = self.inner.seek(begin) {
                // Whatever comes next has to seek.
                let _ = self.stage.push(None);
                return Err(e);
            }
            self.describe();
            (self.next, self.last_pts) = (begin * self.each, None);
        }
        while self.next < number {
            match self.step() {
                Ok(Some(_)) | Err(SourceError::NoFrame { .. }) => {}
                Ok(None) => {
                    let count = self.next;
                    return Err(
                        self.bad(format!("frame {number} was requested, but there are only {count} frames"))
                    );
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn next(&mut self, slot: &mut Slot) -> Result<Option<FrameStamp>, SourceError> {
        let log = self.inner.log.clone();
        let _log = log.enter();
        (slot.pending, slot.carried) = (None, None);
        let number = self.next;
        let Some((picture, pts)) = self.step()? else { return Ok(None) };
        // The next one tells how long this one is shown.
        self.fill(1);
        let following = self.ready.front().and_then(|next| next.as_ref().ok()?.timestamp());
        let gap = following.map(|t| t.saturating_sub(pts)).filter(|ticks| *ticks > 0);
        let (ticks, packet_duration) = durations(0, gap, self.clock.step);
        let (time, duration) = self.clock.time_and_duration(number, pts, ticks);
        let stamp = FrameStamp { number, time, duration, carried: None };
        let (name, at) = (self.info.name.clone(), format!("frame {number} ({:.3} s)", time.to_f64()));
        if let Some(problem) = self.shape.changed(&picture, &self.decoder, &at) {
            return Err(SourceError::Unusable { name, problem, stamp: Box::new(stamp) });
        }
        slot.pending = Some(Pending::Opaque(Box::new(Decoded { picture, pts, duration: packet_duration })));
        let of = number / self.each;
        while self.damaged.front().is_some_and(|(n, _)| *n < of) {
            self.damaged.pop_front();
        }
        match self.damaged.front() {
            Some((n, problem)) if *n == of => {
                let problem =
                    if self.each > 1 { format!("{at} is made of {problem}") } else { problem.clone() };
                Err(SourceError::Damaged { name, problem, stamp: Box::new(stamp) })
            }
            _ => Ok(Some(stamp)),
        }
    }

    fn key_frame(&mut self, number: i64, back: bool) -> Option<i64> {
        // Decoding begins at an entry of the video, and the frames that follow from it alone are some later.
        let up = if back { self.each - 1 } else { 0 };
        let of = number.saturating_add(up).div_euclid(self.each).saturating_sub(WARM_UP);
        let found = match self.inner.key_frame(of.max(0), back) {
            Some(entry) if entry > 0 => Some((entry + WARM_UP).saturating_mul(self.each)),
            _ => (back && number > 0).then_some(0),
        };
        found.filter(|n| self.info.last.is_none_or(|last| *n <= last))
    }

    fn frame_from(&mut self, time: Ratio, after: bool) -> Result<i64, SourceError> {
        self.inner.find_times()?;
        self.describe();
        let Some(count) = self.inner.indexed_count() else {
            self.inner.frame_from(time, after)?;
            return Ok(self.info.frame_at_constant_rate(time, after));
        };
        Ok(first_from(count * self.each as usize, |n| self.indexed_time(n), time, after))
    }

    fn frame_times(&mut self) -> Option<Vec<Ratio>> {
        self.inner.find_times().ok()?;
        self.describe();
        let count = self.inner.indexed_count().filter(|_| self.info.variable_rate)?;
        Some((0..=count * self.each as usize).map(|n| self.indexed_time(n)).collect())
    }

    fn decoder(&self) -> Arc<dyn Decode> {
        self.decoder.clone()
    }

    fn drain_notes(&mut self) -> Vec<String> {
        self.inner.drain_notes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_whose_frames_can_be_sought() {
        for graph in [
            "bwdif",
            "yadif=1:0",
            "crop=iw:ih-2,bwdif=mode=send_field:parity=tff:deint=all,scale=64:-2",
            "w3fdif=complex:frame",
        ] {
            assert!(deinterlaces(graph), "{graph}");
        }
        for graph in
            ["bwdif,yadif", "yadif=1:-1:1", "bwdif=deint=interlaced", "hqdn3d,bwdif", "null", "", "[in]bwdif"]
        {
            assert!(!deinterlaces(graph), "{graph}");
        }
    }
}
