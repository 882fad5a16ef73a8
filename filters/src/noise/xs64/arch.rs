//! Kernels for words, and for H8 of them, where they are faster than the compiler's vectorization. They return
//! `false`, and do nothing, at levels without a kernel.

use super::{LANES, Lanes};
use crate::noise::distribution::arch::h8;
use crate::simd::{Vector, multiversion};

multiversion! {
    /// Words, as [`fill`](super::fill).
    pub(super) fn fill(level, lanes: &mut Lanes, out: &mut [u16]) -> bool => fill_body;
    /// Half of the H8 numbers of the row of a key, whole blocks of 256.
    pub(super) fn halves(level, key: u64, out: &mut [i16]) -> bool => halves_body;
}

/// Some lanes of `xs64`, a register for each of the four planes.
#[inline(always)]
fn registers<V: Vector>(any: V, lanes: &Lanes, first: usize) -> [V; 4] {
    let mut w = [any; 4];
    for (w, plane) in w.iter_mut().zip(&lanes.w) {
        *w = any.load(&plane[first..]);
    }
    w
}

/// As [`step`](super::step).
#[inline(always)]
fn step<V: Vector>(w: &mut [V; 4]) -> V {
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
            step(&mut w).store(&mut out[first..]);
        }
        for (w, plane) in w.into_iter().zip(&mut lanes.w) {
            w.store(&mut plane[first..]);
        }
    }
    true
}

/// Keeps the words in registers.
#[inline(always)]
fn halves_body<V: Vector>(any: V, key: u64, out: &mut [i16]) -> bool {
    let lanes = Lanes::of_key(key);
    for first in (0..LANES).step_by(V::BYTES / 2) {
        let mut w = registers(any, &lanes, first);
        for out in out.as_chunks_mut::<256>().0 {
            let mut words = [any; 8];
            for word in &mut words {
                *word = step(&mut w);
            }
            for (q, c) in h8(words).into_iter().enumerate() {
                c.shr_i16(1).store(&mut out[32 * q + first..]);
            }
        }
    }
    true
}
