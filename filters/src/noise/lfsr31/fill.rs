//! Running eight registers along a row.

use super::LANES;
use crate::simd::{Level, multiversion};

/// Eight registers as split halves. Since the high half of a state is the word before the last and the low half the
/// last, it is also the last two words of each lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(align(16))]
pub struct Lanes {
    /// High halves.
    pub hi: [u16; LANES],
    /// Low halves.
    pub lo: [u16; LANES],
}

impl Lanes {
    /// From whole states.
    #[inline(always)]
    pub fn of(states: [u32; LANES]) -> Lanes {
        Lanes { hi: states.map(|s| (s >> 16) as u16), lo: states.map(|s| s as u16) }
    }
}

/// Steps that the lag form looks back at most.
const LONG: usize = 31 * LANES;
/// Steps that it makes without looking at any of them.
const SHORT: usize = 28 * LANES;

#[inline(always)]
fn halves_body(lanes: &mut Lanes, out: &mut [u16]) {
    let Lanes { mut hi, mut lo } = *lanes;
    for out in out.chunks_exact_mut(LANES) {
        let mut new = [0; LANES];
        for i in 0..LANES {
            let t = hi[i] << 1;
            new[i] = (t ^ (lo[i] >> 12)) ^ ((hi[i] << 4) ^ (lo[i] >> 15));
        }
        out.copy_from_slice(&new);
        (hi, lo) = (lo, new);
    }
    *lanes = Lanes { hi, lo };
}

#[inline(always)]
fn lag_body(lanes: &mut Lanes, out: &mut [u16]) {
    let len = out.len() - out.len() % LANES;
    let out = &mut out[..len];
    halves_body(lanes, &mut out[..len.min(LONG)]);
    for start in (LONG..len).step_by(SHORT) {
        let (past, now) = out.split_at_mut(start);
        let now = if now.len() > SHORT { &mut now[..SHORT] } else { now };
        let near = &past[start - SHORT..][..now.len()];
        let far = &past[start - LONG..][..now.len()];
        for i in 0..now.len() {
            now[i] = near[i] ^ far[i];
        }
    }
    if len > LONG {
        lanes.hi.copy_from_slice(&out[len - 2 * LANES..len - LANES]);
        lanes.lo.copy_from_slice(&out[len - LANES..]);
    }
}

multiversion! {
    /// Split halves: as [`fill`], always this way.
    pub fn fill_halves(level, lanes: &mut Lanes, out: &mut [u16]) = halves_body;

    /// Lag form, started by split halves: as [`fill`], always this way.
    pub fn fill_lag(level, lanes: &mut Lanes, out: &mut [u16]) = lag_body;
}

/// Fills `out` with whole steps of eight words each, lane 0 first, and leaves the lanes where the next call goes on.
/// A rest of `out` that is no whole step is left as it is.
///
/// The lag form serves every level: with 128-bit registers too it is several times faster than split halves, whose
/// steps wait for each other.
#[inline]
pub fn fill(level: Level, lanes: &mut Lanes, out: &mut [u16]) {
    fill_lag(level, lanes, out);
}
