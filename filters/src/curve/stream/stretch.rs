//! A prepared stretch of a track between two keys.

use crate::curve::segment::Segment;
use crate::ratio::Ratio;

/// With exact times.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreparedSegment {
    pub(super) start: Ratio,
    /// The time at which the next stretch begins.
    pub(super) end: Option<Ratio>,
    /// The length; 1 for a piece that depends on time itself.
    pub(super) length: f64,
    pub(super) piece: Segment,
}

impl PreparedSegment {
    /// The value, computed by the same operations on the same numbers as in the curve.
    pub(super) fn value(&self, now: Ratio) -> f64 {
        let u = (now - self.start).to_f64() / self.length;
        match self.piece {
            Segment::Ray(..) => self.piece.value(u),
            _ => self.piece.value(u.clamp(0.0, 1.0)),
        }
    }
}

/// With floating-point times.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainSegment {
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) length: f64,
    pub(super) piece: Segment,
}

/// Times that are exact as floats, with all their differences: whole frames and halves, quarters, ... of them,
/// below 2^40.
pub(super) fn plain(t: Ratio) -> Option<f64> {
    let good = t.den().count_ones() == 1 && t.den() <= 256 && t.num().unsigned_abs() < 1 << 40;
    good.then(|| t.to_f64())
}

impl PlainSegment {
    /// `None` if its times are not exact as floats.
    pub(super) fn new(ready: &PreparedSegment) -> Option<PlainSegment> {
        let end = ready.end.map_or(Some(f64::INFINITY), plain)?;
        Some(PlainSegment { start: plain(ready.start)?, end, length: ready.length, piece: ready.piece })
    }
}
