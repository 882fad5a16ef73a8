//! The current stretch of every track, field by field, so that all values are computed in one pass.
//!
//! All polynomials of time have one form, four coefficients and two limits, so the pass has no branches and vectorises.
//! Bezier curves are evaluated in groups, and easing functions one by one.

use super::stretch::PlainSegment;
use crate::curve::bezier::{self, BATCH, Bezier};
use crate::curve::segment::Segment;
use crate::simd::Level;

/// No index in `special`.
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug, Default)]
pub(super) struct SegmentColumns {
    start: Vec<f64>,
    length: Vec<f64>,
    end: Vec<f64>,
    c: [Vec<f64>; 4],
    low: Vec<f64>,
    high: Vec<f64>,
    /// The index of a track in `special`.
    slot: Vec<u32>,
    special: Vec<(u32, Segment)>,
}

/// Coefficients and limits that give the same values as the piece, bit for bit: the added products are zero and
/// change nothing, since no first coefficient is a negative zero.
fn polynomial(piece: &Segment) -> Option<([f64; 4], f64, f64)> {
    let free = |c| Some((c, f64::NEG_INFINITY, f64::INFINITY));
    match *piece {
        Segment::Flat(a) => free([a, 0.0, 0.0, 0.0]),
        Segment::Line(a, b) => free([a, b - a, 0.0, 0.0]),
        Segment::Ray(a, slope) => free([a, slope, 0.0, 0.0]),
        Segment::Cubic(c) => free(c),
        Segment::Bounded(c, low, high) => Some((c, low, high)),
        Segment::Bezier(_) | Segment::Ease(..) => None,
    }
}

impl SegmentColumns {
    /// Removes all tracks.
    pub(super) fn clear(&mut self) {
        let [c0, c1, c2, c3] = &mut self.c;
        let (low, high) = (&mut self.low, &mut self.high);
        for field in [&mut self.start, &mut self.length, &mut self.end, c0, c1, c2, c3, low, high] {
            field.clear();
        }
        self.slot.clear();
        self.special.clear();
    }

    /// Adds a track, which is not set.
    pub(super) fn grow(&mut self) {
        let [c0, c1, c2, c3] = &mut self.c;
        let (low, high) = (&mut self.low, &mut self.high);
        for field in [&mut self.start, &mut self.length, &mut self.end, c0, c1, c2, c3, low, high] {
            field.push(0.0);
        }
        self.slot.push(NONE);
    }

    pub(super) fn memory(&self) -> usize {
        9 * self.start.capacity() * size_of::<f64>()
            + self.slot.capacity() * size_of::<u32>()
            + self.special.capacity() * size_of::<(u32, Segment)>()
    }

    pub(super) fn set(&mut self, track: usize, hot: &PlainSegment) {
        (self.start[track], self.length[track], self.end[track]) = (hot.start, hot.length, hot.end);
        let slot = self.slot[track];
        if let Some((c, low, high)) = polynomial(&hot.piece) {
            self.c.iter_mut().zip(c).for_each(|(field, c)| field[track] = c);
            (self.low[track], self.high[track]) = (low, high);
            if slot != NONE {
                self.special.swap_remove(slot as usize);
                if let Some((moved, _)) = self.special.get(slot as usize) {
                    self.slot[*moved as usize] = slot;
                }
                self.slot[track] = NONE;
            }
        } else if slot == NONE {
            self.slot[track] = self.special.len() as u32;
            self.special.push((track as u32, hot.piece));
        } else {
            self.special[slot as usize].1 = hot.piece;
        }
    }

    /// The first track, from `from` on, whose stretch has ended.
    pub(super) fn ended(&self, now: f64, from: usize) -> Option<usize> {
        let mut at = from;
        for block in self.end.get(from..)?.chunks(64) {
            // Compare whole blocks without an early exit, so that several are compared at once.
            if block.iter().fold(false, |any, end| any | (now >= *end)) {
                return block.iter().position(|end| now >= *end).map(|i| at + i);
            }
            at += block.len();
        }
        None
    }

    /// Computes the value of every track.
    pub(super) fn values(&self, level: Level, now: f64, out: &mut [f64]) {
        let n = out.len();
        let (start, length) = (&self.start[..n], &self.length[..n]);
        let (low, high) = (&self.low[..n], &self.high[..n]);
        let [c0, c1, c2, c3] = self.c.each_ref().map(|field| &field[..n]);
        for i in 0..n {
            let u = (now - start[i]) / length[i];
            let v = c0[i] + u * (c1[i] + u * (c2[i] + u * c3[i]));
            let v = if v < low[i] { low[i] } else { v };
            out[i] = if v > high[i] { high[i] } else { v };
        }
        let part = |i: usize| (now - start[i]) / length[i];
        let still = Bezier { x: [0.0; 2], y: [0.0; 4] };
        let (mut all, mut u, mut tracks) = ([still; BATCH], [0.0; BATCH], [0; BATCH]);
        let (mut values, mut count) = ([0.0; BATCH], 0);
        for (track, piece) in &self.special {
            let i = *track as usize;
            let Segment::Bezier(bezier) = piece else {
                out[i] = piece.value(part(i));
                continue;
            };
            (all[count], u[count], tracks[count]) = (*bezier, part(i), i);
            count += 1;
            if count == BATCH {
                bezier::values(level, &all, &u, &mut values);
                tracks.iter().zip(values).for_each(|(i, v)| out[*i] = v);
                count = 0;
            }
        }
        if count > 0 {
            bezier::values(level, &all, &u, &mut values);
            tracks[..count].iter().zip(values).for_each(|(i, v)| out[*i] = v);
        }
    }
}
