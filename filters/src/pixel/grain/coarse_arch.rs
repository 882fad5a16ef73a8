//! The passes that make white noise coarse, in registers and without.
#![allow(unsafe_code)] // loads and stores in rows whose lengths are checked once, not at each of their seven places

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

/// Both directions at once, in whole registers.
#[inline(always)]
fn both_registers<V: Vector>(
    any: V,
    (out, row): (&mut [i16], Option<&[i16]>),
    fresh: &mut [i16],
    [above, here]: [&[i16]; 2],
    pass: &Pass,
    half: u32,
) -> bool {
    let (n, step) = (fresh.len(), pass.step);
    let needed = n + 2 * step;
    assert!(n.is_multiple_of(V::BYTES / 2) && above.len() >= n && here.len() >= n);
    assert!(row.map_or(out.len() >= needed, |row| row.len() >= needed && out.len() >= n));
    let (across, down, lift) = (any.splat16(pass.across), any.splat16(pass.down), any.splat16(pass.lift));
    let (least, most) = (any.splat16(-16384 >> half), any.splat16(16383 >> half));
    let (out, fresh) = (out.as_mut_ptr(), fresh.as_mut_ptr());
    let row = row.map_or(out.cast_const(), <[i16]>::as_ptr);
    for i in (0..n).step_by(V::BYTES / 2) {
        // SAFETY: every row was found to have the numbers from `i` on that are read or written here. In place a register
        // is written after the last one that needs its numbers was read.
        unsafe {
            let at = |d: usize| any.read(row.add(i + d));
            let h = at(step).add16(at(0).add16(at(2 * step)).mulhi_i16(across));
            h.write(fresh.add(i));
            let pair = any.read(above.as_ptr().add(i)).adds_i16(h).mulhi_i16(down);
            let sum = any.read(here.as_ptr().add(i)).adds_i16(pair).adds_i16(lift);
            sum.shr_i16(pass.shift + half).max_i16(least).min_i16(most).write(out.add(i));
        }
    }
    true
}

multiversion! {
    fn both(
        level, rows: (&mut [i16], Option<&[i16]>), fresh: &mut [i16], h: [&[i16]; 2], pass: &Pass, half: u32,
    ) -> bool => both_registers;
}

/// The pass along a row of halved numbers, `x >> 1`: `row` is longer than `out` by a step at either end.
pub fn pass_across(level: Level, out: &mut [i16], row: &[i16], pass: &Pass) {
    across_halves_rows(level, out, row, pass.step, Taps { a: pass.across, b: 0 });
}

/// A row of the pass in both directions: `row` (`None`: `out` itself) is the row of halved numbers a step below, two
/// steps longer than `fresh`, which becomes its h; `h` are those a step above and here. The length of `fresh` is a multiple of
/// 32 numbers, and no other row is shorter. `halved`: `y >> 1`, for another pass.
pub fn pass_both(
    level: Level,
    (out, row): (&mut [i16], Option<&[i16]>),
    fresh: &mut [i16],
    h: [&[i16]; 2],
    pass: &Pass,
    halved: bool,
) {
    let (n, half) = (fresh.len(), halved.into());
    if !both(level, (&mut *out, row), fresh, h, pass, half) {
        let row = row.unwrap_or(&*out);
        pass_across(level, fresh, &row[..n + 2 * pass.step], pass);
        down_body(&mut out[..n], [h[0], h[1], fresh], pass, half);
    }
}
