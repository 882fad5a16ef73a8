//! Runs eight registers along a row.

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

/// The largest lag of the lag form, in words.
const LONG: usize = 31 * LANES;
/// The number of words that do not depend on each other in the lag form.
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

type Step = [u16; LANES];

/// The words `d` bits before those whose predecessors by whole words are `near` (a = d / 16) and `far` (a + 1).
#[inline(always)]
fn before<const R: u32>(far: &Step, near: &Step) -> Step {
    core::array::from_fn(|i| far[i] << (16 - R) | near[i] >> R)
}

#[inline(always)]
fn xor(a: Step, b: Step) -> Step {
    core::array::from_fn(|i| a[i] ^ b[i])
}

/// The first 31 steps with the smallest depth. Split halves make them one after the other, each depending on the
/// last; here they are made in a few rounds: bits obey b(t) = b(t - 28 * 2^j) ^ b(t - 31 * 2^j) for every j, and a
/// larger j has longer lags, so that more steps follow from the steps before: 1, 3, 7 and 14 at once for j = 0 to 3.
#[inline(always)]
fn start(lanes: &Lanes) -> [Step; 33] {
    // w[n + 2] is step n. Bit 15 of w[0] is redundant and is not read below.
    let mut w = [[0; LANES]; 33];
    (w[0], w[1]) = (lanes.hi, lanes.lo);
    for n in 2..4 {
        w[n] = xor(before::<12>(&w[n - 2], &w[n - 1]), before::<15>(&w[n - 2], &w[n - 1]));
    }
    for n in 4..8 {
        w[n] = xor(before::<8>(&w[n - 4], &w[n - 3]), before::<14>(&w[n - 4], &w[n - 3]));
    }
    for n in 8..16 {
        w[n] = xor(w[n - 7], before::<12>(&w[n - 8], &w[n - 7]));
    }
    for n in 16..33 {
        w[n] = xor(w[n - 14], before::<8>(&w[n - 16], &w[n - 15]));
    }
    w
}

#[inline(always)]
fn lag_body(lanes: &mut Lanes, out: &mut [u16]) {
    let len = out.len() - out.len() % LANES;
    let out = &mut out[..len];
    if len < LONG {
        return halves_body(lanes, out);
    }
    for (out, w) in out.chunks_exact_mut(LANES).zip(&start(lanes)[2..]) {
        out.copy_from_slice(w);
    }
    for start in (LONG..len).step_by(SHORT) {
        let (past, now) = out.split_at_mut(start);
        let now = if now.len() > SHORT { &mut now[..SHORT] } else { now };
        let near = &past[start - SHORT..][..now.len()];
        let far = &past[start - LONG..][..now.len()];
        for i in 0..now.len() {
            now[i] = near[i] ^ far[i];
        }
    }
    lanes.hi.copy_from_slice(&out[len - 2 * LANES..len - LANES]);
    lanes.lo.copy_from_slice(&out[len - LANES..]);
}

multiversion! {
    /// As [`fill`], always by split halves.
    pub fn fill_halves(level, lanes: &mut Lanes, out: &mut [u16]) = halves_body;

    /// As [`fill`], always by the lag form, started by split halves.
    pub fn fill_lag(level, lanes: &mut Lanes, out: &mut [u16]) = lag_body;
}

/// Fills `out` with whole steps of eight words each, lane 0 first, and advances the lanes to the position of the
/// next call. A remainder of `out` that is less than a step is not changed.
///
/// The lag form is used at every level: it is several times faster than split halves, whose steps depend on each
/// other, also with 128-bit registers.
#[inline]
pub fn fill(level: Level, lanes: &mut Lanes, out: &mut [u16]) {
    fill_lag(level, lanes, out);
}
