//! Weighted sums of rows of 16-bit samples in registers, each rounded immediately: one instruction multiplies two taps.
//!
//! Products are signed, so samples are offset by -32768; weights sum to 2^14, so the offset of a sum is a constant.
#![allow(unsafe_code)] // loads in rows whose lengths are checked once, not at each of up to 64 places

use super::BITS;
use crate::simd::{Vector, multiversion};

/// The largest number of rows.
pub(super) const MAX_TAPS: usize = 64;

/// Two rows, and their weights in the lower and the upper half.
type Taps = (*const u16, *const u16, i32);

multiversion! {
    /// Sums `rows` with weights `w`, shifts and rounds each sum and clamps it to `0..=top`. `false`, with `out` as it
    /// was, for weights of more than 16 bits, for a row that is shorter than a register, and on a level without products of
    /// pairs. Panics if there are more rows than [`MAX_TAPS`] or weights, or one of them is shorter than `out`.
    pub(super) fn weighted_sum(level, out: &mut [u16], rows: &[&[u16]], w: &[i32], shift: u32, top: u16) -> bool
        => weighted_sum_body;
}

#[inline(always)]
fn weighted_sum_body<V: Vector>(
    any: V,
    out: &mut [u16],
    rows: &[&[u16]],
    w: &[i32],
    shift: u32,
    top: u16,
) -> bool {
    let (n, lanes) = (out.len(), V::BYTES / 2);
    assert!(rows.len() == w.len() && rows.iter().all(|r| r.len() >= n));
    // Without products of pairs the compiler makes fewer instructions of the plain body.
    if !V::PAIR_PRODUCTS || n < lanes || w.iter().any(|&w| i16::try_from(w).is_err()) {
        return false;
    }
    let mut taps = [(core::ptr::null(), core::ptr::null(), 0); MAX_TAPS / 2];
    let taps = &mut taps[..rows.len().div_ceil(2)];
    for ((tap, rows), w) in taps.iter_mut().zip(rows.chunks(2)).zip(w.chunks(2)) {
        // The last of an odd number of rows has itself beside it, with a weight of 0.
        let second = rows.get(1).unwrap_or(&rows[0]);
        *tap = (rows[0].as_ptr(), second.as_ptr(), (w[0] & 0xffff) | w.get(1).unwrap_or(&0) << 16);
    }
    let sum = Sum::new(any, shift, top);
    let mut next = 0;
    while next < n {
        // The last register overlaps the one before.
        if n - next >= 2 * lanes {
            // SAFETY: all rows have at least the `n` samples of `out`, and this is two registers before.
            let [a, b] = unsafe { sum.registers(taps, next) };
            a.store(&mut out[next..]);
            b.store(&mut out[next + lanes..]);
            next += 2 * lanes;
        } else {
            let x = next.min(n - lanes);
            // SAFETY: likewise for one register.
            let [a] = unsafe { sum.registers(taps, x) };
            a.store(&mut out[x..]);
            next += lanes;
        }
    }
    true
}

/// The start and the end of a sum.
struct Sum<V> {
    start: V,
    shift: u32,
    least: V,
    flip: V,
    top: V,
}

impl<V: Vector> Sum<V> {
    #[inline(always)]
    fn new(any: V, shift: u32, top: u16) -> Sum<V> {
        let half = (1i32 << shift) >> 1;
        // Results of 16 bits are packed as signed numbers, offset by -32768 again.
        let (least, after) = if shift <= BITS { (i16::MIN, 32768 << shift) } else { (0, 0) };
        Sum {
            start: any.splat32(half + (32768 << BITS) - after),
            shift,
            least: any.splat16(least),
            flip: any.splat16(least),
            top: any.splat16(top as i16),
        }
    }

    /// The results from `x` on.
    ///
    /// # Safety
    /// `N` registers must be readable there in every row.
    #[inline(always)]
    unsafe fn registers<const N: usize>(&self, taps: &[Taps], x: usize) -> [V; N] {
        let sign = self.start.splat16(i16::MIN);
        let mut sums = [[self.start; 2]; N];
        for &(a, b, w) in taps {
            let w = self.start.splat32(w);
            for (i, sums) in sums.iter_mut().enumerate() {
                let x = x + i * (V::BYTES / 2);
                // SAFETY: the caller's promise.
                let (a, b) = unsafe { (sign.read(a.add(x)), sign.read(b.add(x))) };
                *sums = a.xor(sign).add_products16(b.xor(sign), w, *sums);
            }
        }
        let mut all = [sign; N];
        for (all, [low, high]) in all.iter_mut().zip(sums) {
            // Unpacking and packing change the order in the same way.
            let sum = low.shr_i32(self.shift).pack_i32(high.shr_i32(self.shift));
            *all = sum.max_i16(self.least).xor(self.flip).min_u16(self.top);
        }
        all
    }
}
