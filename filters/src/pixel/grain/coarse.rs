//! The passes that make white noise coarse.

use super::kernel::{Taps, across_halves_rows, mulhi};
use crate::simd::{Level, Vector, multiversion};

/// The largest number of passes, one of step 1 and two of each other step: the last two reach 64 samples.
pub const MAX_PASSES: usize = 13;

/// One pass over neighbours `step` samples away, horizontally and then vertically. For rows x
///
/// ```text
/// h = (x >> 1) + mulhi((x[-step] >> 1) + (x[+step] >> 1), across)
/// y = clamp(sat(sat(h + mulhi(sat(h[-step] + h[+step]), down)) + lift) >> shift, -16384, 16383)
/// ```
///
/// `lift` removes the mean that rounding down leaves, and `shift`, 0 or 1, keeps correlated numbers within the
/// range.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pass {
    /// 1, 2, 4 ... 64.
    pub step: usize,
    /// The weight of horizontal neighbours, in 1/65536.
    pub across: i16,
    /// The weight of vertical neighbours.
    pub down: i16,
    /// Added to every number.
    pub lift: i16,
    /// The number of halvings of the sum.
    pub shift: u32,
}

impl Pass {
    /// Passes of (step, across, down, shift) in the order in which they run.
    pub fn all(steps: impl Iterator<Item = (usize, i16, i16, u32)>) -> Vec<Pass> {
        // Half of a white number is rounded down, and so is each of its eight words.
        let mut mean = -0.5;
        let pass = |(step, across, down, shift): (usize, i16, i16, u32)| {
            let part = |w: i16| f64::from(w) / 65536.0;
            let product = |w: i16| if w == 0 { 0.0 } else { 0.5 };
            mean = 0.5 * mean * (1.0 + 2.0 * part(across)) - 0.25 - 0.5 * part(across) - product(across);
            mean = mean * (1.0 + 2.0 * part(down)) - product(down);
            let goal = if shift == 0 { 0.0 } else { 0.5 };
            let lift = libm::floor(0.5 + goal - mean);
            mean += lift;
            if shift != 0 {
                mean = 0.5 * mean - 0.25;
            }
            Pass { step, across, down, lift: lift as i16, shift }
        };
        steps.map(pass).collect()
    }
}

#[inline(always)]
fn down_body(out: &mut [i16], rows: [&[i16]; 3], pass: &Pass, half: u32) {
    let n = out.len();
    let [u, h, d] = rows.map(|r| &r[..n]);
    for i in 0..n {
        let sum = h[i].saturating_add(mulhi(u[i].saturating_add(d[i]), pass.down));
        out[i] = (sum.saturating_add(pass.lift) >> (pass.shift + half)).clamp(-16384 >> half, 16383 >> half);
    }
}

/// The same in registers, the last of which overlaps the one before; `false` for a shorter row. The compiler makes four
/// times as many instructions of the loop above for SSE2.
#[inline(always)]
fn down_registers<V: Vector>(any: V, out: &mut [i16], rows: [&[i16]; 3], pass: &Pass, half: u32) -> bool {
    let (n, lanes) = (out.len(), V::BYTES / 2);
    let (weight, lift, shift) = (any.splat16(pass.down), any.splat16(pass.lift), pass.shift + half);
    let (least, most) = (any.splat16(-16384 >> half), any.splat16(16383 >> half));
    let [u, h, d] = [&rows[0][..n], &rows[1][..n], &rows[2][..n]];
    let mut next = 0;
    while next < n && lanes <= n {
        let i = next.min(n - lanes);
        let pair = any.load(&u[i..]).adds_i16(any.load(&d[i..]));
        let sum = any.load(&h[i..]).adds_i16(pair.mulhi_i16(weight)).adds_i16(lift);
        sum.shr_i16(shift).max_i16(least).min_i16(most).store(&mut out[i..]);
        next += lanes;
    }
    lanes <= n
}

multiversion! {
    fn down_rows(level, out: &mut [i16], rows: [&[i16]; 3], pass: &Pass, half: u32) = down_body;
    fn down_whole(level, out: &mut [i16], rows: [&[i16]; 3], pass: &Pass, half: u32) -> bool => down_registers;
}

/// The pass along a row of halved numbers, `x >> 1`: `row` is longer than `out` by a step at either end.
pub fn pass_across(level: Level, out: &mut [i16], row: &[i16], pass: &Pass) {
    across_halves_rows(level, out, row, pass.step, Taps { a: pass.across, b: 0 });
}

/// The pass along columns: of the rows h a step above, here and a step below. `halved`: `y >> 1`, for another pass.
pub fn pass_down(level: Level, out: &mut [i16], rows: [&[i16]; 3], pass: &Pass, halved: bool) {
    let half = halved.into();
    if !down_whole(level, out, rows, pass, half) {
        down_rows(level, out, rows, pass, half);
    }
}
