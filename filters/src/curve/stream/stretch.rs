//! The stretch of a track between two keys, made ready to be asked.

use crate::curve::segment::Segment;
use crate::ratio::Ratio;

/// In exact times.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreparedSegment {
    pub(super) start: Ratio,
    /// When another takes its place.
    pub(super) end: Option<Ratio>,
    /// How long it is; 1 where the piece goes by time itself.
    pub(super) length: f64,
    pub(super) piece: Segment,
}

impl PreparedSegment {
    /// The value: the same operations on the same numbers as the curve's own.
    pub(super) fn value(&self, now: Ratio) -> f64 {
        let u = (now - self.start).to_f64() / self.length;
        match self.piece {
            Segment::Ray(..) => self.piece.value(u),
            _ => self.piece.value(u.clamp(0.0, 1.0)),
        }
    }
}

/// The same in plain numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainSegment {
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) length: f64,
    pub(super) piece: Segment,
}

/// Times that a plain number holds exactly, with all their differences: whole frames and halves, quarters, ... of
/// them, below 2^40.
pub(super) fn plain(t: Ratio) -> Option<f64> {
    let good = t.den().count_ones() == 1 && t.den() <= 256 && t.num().unsigned_abs() < 1 << 40;
    good.then(|| t.to_f64())
}

impl PlainSegment {
    /// `None` when its times are not plain numbers.
    pub(super) fn new(ready: &PreparedSegment) -> Option<PlainSegment> {
        let end = ready.end.map_or(Some(f64::INFINITY), plain)?;
        Some(PlainSegment { start: plain(ready.start)?, end, length: ready.length, piece: ready.piece })
    }
}
