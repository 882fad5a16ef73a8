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

use super::distribution::h8_registers;
use super::gf2::{Matrix64, Powers64};
use super::seed::{FrameKey, GOLDEN, Layer, key_of_frame, mix64};
use crate::simd::{Level, Vector, multiversion};
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

multiversion! {
    fn fill_registers(level, lanes: &mut Lanes, out: &mut [u16]) -> bool => fill_body;

    /// The H8 numbers of the row of a key, shifted to the right, whole blocks of 256, with the words kept in registers.
    /// Returns `false`, and does nothing, at the scalar level.
    pub(super) fn shifted(level, key: u64, shift: u32, out: &mut [i16]) -> bool => shifted_body;
}

/// Fills `out` with whole steps of 32 words each, lane 0 first, and advances the lanes to the position of the
/// next call. A remainder of `out` that is less than a step is not changed.
#[inline]
pub fn fill(level: Level, lanes: &mut Lanes, out: &mut [u16]) {
    if !fill_registers(level, lanes, out) {
        // Eight lanes at a time: this number fits the registers.
        (0..LANES).step_by(8).for_each(|first| run::<8>(lanes, first, out));
    }
}

/// Some lanes, a register for each of the four planes.
#[inline(always)]
fn registers<V: Vector>(any: V, lanes: &Lanes, first: usize) -> [V; 4] {
    let mut w = [any; 4];
    for (w, plane) in w.iter_mut().zip(&lanes.w) {
        *w = any.load(&plane[first..]);
    }
    w
}

/// As [`step`].
#[inline(always)]
fn step_registers<V: Vector>(w: &mut [V; 4]) -> V {
    let [a, b, c, d] = *w;
    let t = a.xor(a.shl16(7));
    *w = [b, c, d, b.xor(b.shl16(4)).xor(t).xor(t.shr_u16(7))];
    t.add16(c)
}

#[inline(always)]
fn fill_body<V: Vector>(any: V, lanes: &mut Lanes, out: &mut [u16]) -> bool {
    for first in (0..LANES).step_by(V::BYTES / 2) {
        let mut w = registers(any, lanes, first);
        for out in out.as_chunks_mut::<{ LANES }>().0 {
            step_registers(&mut w).store(&mut out[first..]);
        }
        for (w, plane) in w.into_iter().zip(&mut lanes.w) {
            w.store(&mut plane[first..]);
        }
    }
    true
}

#[inline(always)]
fn shifted_body<V: Vector>(any: V, key: u64, shift: u32, out: &mut [i16]) -> bool {
    let lanes = Lanes::of_key(key);
    for first in (0..LANES).step_by(V::BYTES / 2) {
        let mut w = registers(any, &lanes, first);
        for out in out.as_chunks_mut::<256>().0 {
            let mut words = [any; 8];
            for word in &mut words {
                *word = step_registers(&mut w);
            }
            for (q, c) in h8_registers(words).into_iter().enumerate() {
                c.shr_i16(shift).store(&mut out[32 * q + first..]);
            }
        }
    }
    true
}

/// The rows of one frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame64 {
    key: FrameKey,
    layer: Layer,
}

impl Frame64 {
    /// Frame number `frame`, any whole number.
    #[inline]
    pub fn new(seed: u64, layer: Layer, frame: i64) -> Frame64 {
        Frame64 { key: key_of_frame(seed, frame), layer }
    }

    /// The key of a row.
    #[inline]
    pub(super) fn key(&self, plane: usize, y: u32) -> u64 {
        self.key.row(self.layer.plane(plane as u32), y)
    }

    /// The lanes after `steps` steps of a row, ready for [`fill`].
    #[inline]
    pub fn lanes(&self, plane: usize, y: u32, steps: u64) -> Lanes {
        let mut lanes = Lanes::of_key(self.key(plane, y));
        if steps != 0 {
            jump(&mut lanes, steps);
        }
        lanes
    }
}

/// The word of a lane after `steps` steps of its row, in closed form: the reference. Slow: up to 64 matrix products.
#[cfg(test)]
pub(crate) fn word_at(seed: u64, frame: i64, plane: usize, y: u32, lane: u32, steps: u64) -> u16 {
    let w = Lanes::of_key(super::seed::key(seed, frame, plane as u32, y)).w.map(|plane| plane[lane as usize]);
    step(unpack(POWERS.jump(pack(w), steps))).1
}

#[cfg(test)]
mod tests;
