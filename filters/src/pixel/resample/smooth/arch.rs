//! Sums of symmetric windows in registers; `false` for a level without them.
#![allow(unsafe_code)] // loads in rows whose lengths are checked once, not at each of up to 64 places

use super::{BITS, STRIP};
use crate::simd::{Vector, multiversion, prefetch_at};

multiversion! {
    pub(super) fn interleave(level, block: &mut [u16], a: &[u16], b: &[u16]) -> bool => interleave_body;
    pub(super) fn sum_columns(level, out: &mut [u16], block: &[u16], w: &[i32]) -> bool => columns_body;
    pub(super) fn sum_neighbours(level, out: &mut [u16], row: &[u16], w: &[i32]) -> bool => neighbours_body;
}

/// Interleaves two rows, register by register, and offsets them. NEON adds rows and multiplies the sums in fewer
/// instructions, which is what the compiler makes of the plain body.
#[inline(always)]
fn interleave_body<V: Vector>(any: V, block: &mut [u16], a: &[u16], b: &[u16]) -> bool {
    if !V::PAIR_PRODUCTS {
        return false;
    }
    let (n, lanes) = (a.len().min(b.len()), V::BYTES / 2);
    let (whole, tail) = block.split_at_mut(2 * (n - n % lanes));
    for ((block, a), b) in
        whole.chunks_exact_mut(2 * lanes).zip(a.chunks_exact(lanes)).zip(b.chunks_exact(lanes))
    {
        // The next strip of these rows.
        prefetch_at(a.as_ptr().wrapping_add(STRIP));
        prefetch_at(b.as_ptr().wrapping_add(STRIP));
        interleave_register(any, block, a, b);
    }
    if n % lanes > 0 {
        let (mut last_a, mut last_b) = ([0; 32], [0; 32]);
        last_a[..n % lanes].copy_from_slice(&a[n - n % lanes..n]);
        last_b[..n % lanes].copy_from_slice(&b[n - n % lanes..n]);
        interleave_register(any, tail, &last_a, &last_b);
    }
    true
}

#[inline(always)]
fn interleave_register<V: Vector>(any: V, block: &mut [u16], a: &[u16], b: &[u16]) {
    let sign = any.splat16(i16::MIN);
    let (a, b) = (any.load(a).xor(sign), any.load(b).xor(sign));
    a.unpack_low16(b).store(block);
    a.unpack_high16(b).store(&mut block[V::BYTES / 2..]);
}

/// The sums of eight registers by pairs of weights, to be rounded; `read` gives register `i` of pair `j`.
#[inline(always)]
fn sums<V: Vector>(any: V, w: &[i32], read: impl Fn(usize, usize) -> V) -> [V; 8] {
    let mut sums = [any.splat32(1 << (BITS - 1)); 8];
    for (j, &w) in w.iter().enumerate() {
        let w = any.splat32(w);
        for (i, sum) in sums.iter_mut().enumerate() {
            *sum = sum.add32(read(j, i).madd16(w));
        }
    }
    sums
}

/// Sums of interleaved rows, which stay offset.
#[inline(always)]
fn columns_body<V: Vector>(any: V, out: &mut [u16], block: &[u16], w: &[i32]) -> bool {
    let (n, lanes) = (out.len(), V::BYTES / 2);
    assert!(n <= STRIP && block.len() >= 2 * STRIP * w.len());
    let mut x = 0;
    while x < n {
        let sums = sums(any, w, |j, i| {
            // SAFETY: strips have a whole number of eight registers, and the block has one for each weight.
            unsafe { any.read(block.as_ptr().add(2 * STRIP * j + 2 * x + i * lanes)) }
        });
        for (i, two) in sums.as_chunks::<2>().0.iter().enumerate() {
            // Packing restores the order from before the interleaving.
            let all = two[0].shr_i32(BITS).pack_i32(two[1].shr_i32(BITS));
            store_part(all, out, x + i * lanes);
        }
        x += 4 * lanes;
    }
    true
}

/// Sums of neighbours of an offset row.
#[inline(always)]
fn neighbours_body<V: Vector>(any: V, out: &mut [u16], row: &[u16], w: &[i32]) -> bool {
    let (n, lanes) = (out.len(), V::BYTES / 2);
    assert!(row.len() > n.next_multiple_of(4 * lanes) + 2 * w.len(), "a row without room behind it");
    let sign = any.splat16(i16::MIN);
    let (even, odd) = (any.splat32(0xffff), any.splat32(-0x10000));
    let mut x = 0;
    while x < n {
        let sums = sums(any, w, |j, i| {
            // SAFETY: the row is longer than the results of whole registers and all weights.
            unsafe { any.read(row.as_ptr().add(x + i / 2 * lanes + i % 2 + 2 * j)) }
        });
        for (i, two) in sums.as_chunks::<2>().0.iter().enumerate() {
            // The upper half of twice the sum is the sum in 2^-15.
            let odd = two[1].add32(two[1]).and(odd);
            let all = two[0].shr_i32(BITS).and(even).or(odd).xor(sign);
            store_part(all, out, x + i * lanes);
        }
        x += 4 * lanes;
    }
    true
}

/// Stores as much of a register as there is room from `x` on.
#[inline(always)]
fn store_part<V: Vector>(all: V, out: &mut [u16], x: usize) {
    let n = out.len();
    if n >= x + V::BYTES / 2 {
        all.store(&mut out[x..]);
    } else if n > x {
        let mut last = [0u16; 32];
        all.store(&mut last);
        out[x..].copy_from_slice(&last[..n - x]);
    }
}
