//! Presentation times of pictures, in ticks of the output.

use super::choice::Choice;
use crate::libav::container::Container;
use crate::libav::raw::rational;
use crate::libav::side_data::{self, FrameSideData};
use crate::media::FrameStamp;
use grainfield_filters::ratio::Ratio;

/// The clock of a video file's pictures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Seconds per tick.
    pub(super) tick: Ratio,
    /// Seconds from zero of the source's clock to its frame 0: times of frames count from there, timestamps do not.
    pub(super) start: Ratio,
    /// If the source's times are not kept, because a tick is a frame: the seconds per tick of its clock, and its
    /// timestamp of frame 0.
    pub(super) rounded_from: Option<(Ratio, i64)>,
}

/// Encoders that use the clock as the rate.
const CLOCK_IS_RATE: [&str; 4] = ["mpeg1video", "mpeg2video", "libtheora", "theora"];

/// Codecs of the MPEG-4 part 2 family, which have 16-bit time bases.
const TIME_BASE_16_BIT: [&str; 5] = ["mpeg4", "msmpeg4", "msmpeg4v2", "msmpeg4v3", "libxvid"];

impl Clock {
    /// The source's clock; one tick per frame if there is none, or if the container (AVI, MXF) or the encoder supports
    /// only a constant rate.
    pub(super) fn new(
        choice: &Choice,
        container: Container,
        source: Option<&side_data::SourceFile>,
    ) -> Clock {
        let frame = choice.format.rate.recip().unwrap_or(Ratio::ONE);
        let Some(source) = source else { return Clock::counting(frame) };
        let (source_tick, name) = (source.time_base, choice.name());
        let start = Ratio::whole(source.first) * source_tick;
        let by_rate = CLOCK_IS_RATE.contains(&name) || container.counts_frames();
        let coarse = TIME_BASE_16_BIT.contains(&name) && source_tick.den() > 65535;
        if by_rate || coarse || rational(source_tick).is_none() {
            let loses = source_tick != frame || container.has_constant_rate();
            return Clock { tick: frame, start, rounded_from: loses.then_some((source_tick, source.first)) };
        }
        Clock { tick: source_tick, start, rounded_from: None }
    }

    /// A clock for frames that have only the times of their numbers.
    pub(super) fn counting(tick: Ratio) -> Clock {
        Clock { tick, start: Ratio::ZERO, rounded_from: None }
    }

    /// Timestamp and duration of a picture.
    pub(super) fn pts_and_duration(&self, stamp: &FrameStamp) -> (i64, i64) {
        let ticks = |t: Ratio| round(t.checked_div(self.tick).unwrap_or(t));
        let carried = stamp.carried.as_ref().and_then(|c| c.downcast_ref::<FrameSideData>());
        let (pts, duration) = match (carried, self.rounded_from) {
            // a frame that was replaced by another one
            (None, _) => (ticks(stamp.time + self.start), ticks(stamp.duration)),
            (Some(c), None) if c.duration > 0 => (c.pts, c.duration),
            (Some(c), None) => (c.pts, ticks(stamp.duration)),
            // both are rounded separately: frames of a constant rate then have constant durations, even if the
            // first one is between two ticks
            (Some(c), Some((source_tick, first))) => {
                let to_ticks = |n: i64| ticks(Ratio::whole(n) * source_tick);
                (to_ticks(first).saturating_add(to_ticks(c.pts.saturating_sub(first))), ticks(stamp.duration))
            }
        };
        (pts, duration.max(1))
    }
}

fn round(t: Ratio) -> i64 {
    (t + Ratio::HALF).floor()
}
