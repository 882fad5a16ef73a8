//! A long-period stream: 64-bit xorshift registers of four 16-bit words, 32 lanes, each row seeded by a hash.
//!
//! ```text
//! t = w0 ^ (w0 << 7);   out = t + w2;   (w0, w1, w2, w3) <- (w1, w2, w3, w1 ^ (w1 << 4) ^ t ^ (t >> 7))
//! ```
//!
//! All operations are on 16-bit lanes (shifts, XOR, and one addition that makes the output nonlinear); 32 lanes are
//! four, two or one vectors, and no operation crosses lanes. The update of the state is linear over GF(2) with a
//! primitive characteristic polynomial, so the period is 2^64 - 1, and a distant position in a row is reached by a
//! power of its 64x64 matrix ([`jump`]). Rows are reached by hashing their address, so frames, planes and rows are
//! unrelated.

mod arch;

use super::distribution::{self, Distribution};
use super::seed::{FrameKey, GOLDEN, Layer, key_of_frame, mix64};
use super::{Shape, seed};
use crate::gf2::{Matrix64, Powers64};
use crate::simd::Level;
use core::ops::Range;
use std::sync::LazyLock;

/// The number of lanes.
pub const LANES: usize = 32;

/// 32 registers, as four arrays of one word per lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(64))]
pub struct Lanes {
    /// w0 to w3.
    pub w: [[u16; LANES]; 4],
}

/// One step of one register: the reference. Returns the next state and the output.
pub const fn step(w: [u16; 4]) -> ([u16; 4], u16) {
    let t = w[0] ^ (w[0] << 7);
    let next = w[1] ^ (w[1] << 4) ^ t ^ (t >> 7);
    ([w[1], w[2], w[3], next], t.wrapping_add(w[2]))
}

impl Lanes {
    /// The registers of a row, before its first word.
    #[inline(always)]
    pub fn of_key(key: u64) -> Lanes {
        let mut fours = [0; LANES];
        for (n, four) in fours.iter_mut().enumerate() {
            *four = mix64(key.wrapping_add((n as u64 + 1).wrapping_mul(GOLDEN))).to_le();
        }
        let mut w: [[u16; LANES]; 4] = bytemuck::cast(fours);
        // On big-endian machines the four words of each 64-bit number are in reverse order.
        if cfg!(target_endian = "big") {
            w.iter_mut().flatten().for_each(|w| *w = w.swap_bytes());
        }
        // Avoids the state of all zeros, which does not change.
        w[3].iter_mut().for_each(|w| *w |= 1);
        Lanes { w }
    }
}

fn pack(w: [u16; 4]) -> u64 {
    w.iter().rev().fold(0, |x, &w| x << 16 | u64::from(w))
}

fn unpack(x: u64) -> [u16; 4] {
    [0, 1, 2, 3].map(|j| (x >> (16 * j)) as u16)
}

/// The update of the state as a matrix: bit i of w[j] is bit 16j + i.
fn matrix() -> Matrix64 {
    Matrix64::of(|x| pack(step(unpack(x)).0))
}

static POWERS: LazyLock<Powers64> = LazyLock::new(|| Powers64::new(&matrix()));

/// Advances the lanes by `steps` steps without generating words: a matrix product for each bit set in `steps`.
pub fn jump(lanes: &mut Lanes, steps: u64) {
    for i in 0..LANES {
        let w = unpack(POWERS.jump(pack(lanes.w.map(|plane| plane[i])), steps));
        lanes.w.iter_mut().zip(w).for_each(|(plane, w)| plane[i] = w);
    }
}

type Planes<const N: usize> = [[u16; N]; 4];

/// One step of `N` lanes; `a` is the array that is w0 now. The roles of the four arrays rotate, so that no words are
/// moved.
#[inline(always)]
fn turn<const N: usize>(w: &mut Planes<N>, a: usize) -> [u16; N] {
    let (w0, w1, w2) = (w[a], w[(a + 1) % 4], w[(a + 2) % 4]);
    let t: [u16; N] = core::array::from_fn(|i| w0[i] ^ (w0[i] << 7));
    w[a] = core::array::from_fn(|i| w1[i] ^ (w1[i] << 4) ^ t[i] ^ (t[i] >> 7));
    core::array::from_fn(|i| t[i].wrapping_add(w2[i]))
}

#[inline(always)]
fn run<const N: usize>(lanes: &mut Lanes, first: usize, out: &mut [u16]) {
    let mut w: Planes<N> = lanes.w.each_ref().map(|plane| core::array::from_fn(|i| plane[first + i]));
    let mut fours = out.chunks_exact_mut(4 * LANES);
    for four in &mut fours {
        for a in 0..4 {
            four[a * LANES + first..][..N].copy_from_slice(&turn(&mut w, a));
        }
    }
    for one in fours.into_remainder().chunks_exact_mut(LANES) {
        one[first..first + N].copy_from_slice(&turn(&mut w, 0));
        w.rotate_left(1);
    }
    for (plane, w) in lanes.w.iter_mut().zip(w) {
        plane[first..first + N].copy_from_slice(&w);
    }
}

/// Fills `out` with whole steps of 32 words each, lane 0 first, and advances the lanes to the position of the
/// next call. A remainder of `out` that is less than a step is not changed.
#[inline]
pub fn fill(level: Level, lanes: &mut Lanes, out: &mut [u16]) {
    if !arch::fill(level, lanes, out) {
        // Eight lanes at a time: this number fits the registers.
        (0..LANES).step_by(8).for_each(|first| run::<8>(lanes, first, out));
    }
}

/// The stream for pictures of one shape, with random access to rows. (The shape's layout has no effect.)
#[derive(Clone, Copy, Debug)]
pub struct Xs64 {
    shape: Shape,
    seed: u64,
    layer: Layer,
    level: Level,
}

/// One frame of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Frame64 {
    key: FrameKey,
    layer: Layer,
    block_steps: u32,
}

impl Xs64 {
    /// Binds the stream to a shape.
    pub fn new(shape: &Shape, seed: u64, layer: Layer, level: Level) -> Xs64 {
        Xs64 { shape: *shape, seed, layer, level }
    }

    /// Frame number `frame`, any whole number.
    #[inline]
    pub fn frame(&self, frame: i64) -> Frame64 {
        let block_steps = self.shape.block_steps();
        Frame64 { key: key_of_frame(self.seed, frame), layer: self.layer, block_steps }
    }

    /// The words of pixels `x` of a row in step order: those of the whole blocks (32 pixels, or 256 for H8) that hold
    /// a pixel of `x`; `out` is as long as these.
    pub fn fill_row(&self, frame: i64, plane: usize, y: u32, x: Range<u32>, out: &mut [u16]) {
        let block = self.shape.block(LANES as u32);
        let first = x.start / block;
        let blocks = x.end.div_ceil(block).saturating_sub(first) as usize;
        let steps = self.shape.block_steps() as usize;
        assert_eq!(out.len(), blocks * LANES * steps, "words of the pixels {x:?}");
        let mut at = self.frame(frame).lanes(plane, y, first);
        fill(self.level, &mut at, out);
    }
}

impl Frame64 {
    /// Half of the H8 numbers from the start of a row, at levels with a kernel.
    #[inline]
    pub(super) fn halves(&self, level: Level, plane: usize, y: u32, out: &mut [i16]) -> bool {
        arch::halves(level, self.key.row(self.layer.plane(plane as u32), y), out)
    }

    /// The lanes at a block of a row, ready for [`fill`].
    #[inline]
    pub fn lanes(&self, plane: usize, y: u32, block: u32) -> Lanes {
        let mut lanes = Lanes::of_key(self.key.row(self.layer.plane(plane as u32), y));
        if block != 0 {
            jump(&mut lanes, u64::from(block) * u64::from(self.block_steps));
        }
        lanes
    }
}

/// The noise of one pixel in closed form: the centred number c ([`distribution`]). Slow: the reference.
pub fn noise_at(shape: &Shape, seed: u64, frame: i64, plane: usize, x: u32, y: u32) -> i16 {
    let key = seed::key(seed, frame, plane as u32, y);
    let (lanes, lane) = (LANES as u32, x as usize % LANES);
    let w = Lanes::of_key(key).w.map(|plane| plane[lane]);
    let words = |first: u32, count: u32| -> Vec<u16> {
        let mut w = unpack(POWERS.jump(pack(w), first.into()));
        let mut next = || {
            let (after, out) = step(w);
            w = after;
            out
        };
        (0..count).map(|_| next()).collect()
    };
    match shape.distribution() {
        Distribution::Sum(k) => distribution::centred(&words(k * (x / lanes), k)),
        Distribution::H8 => {
            let eight = words(8 * (x / (8 * lanes)), 8);
            distribution::h8(core::array::from_fn(|q| eight[q]))[x as usize / LANES % 8]
        }
    }
}

#[cfg(test)]
mod tests;
