//! The separable kernel.

use crate::pixel::field::mirror;
use crate::simd::{Level, Vector, multiversion};

/// The weights of `[b a 1 a b]` in 1/65536, each within -32767..=32767.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Taps {
    /// The weight of the neighbours.
    pub a: i16,
    /// The weight of the samples at a distance of two.
    pub b: i16,
}

impl Taps {
    /// The reach of the kernel: 0, 1 or 2 samples.
    pub const fn reach(self) -> usize {
        match (self.a, self.b) {
            (0, 0) => 0,
            (_, 0) => 1,
            _ => 2,
        }
    }

    /// From weights below 1/2.
    pub fn new(a: f64, b: f64) -> Taps {
        let fixed = |w: f64| (libm::floor(w * 65536.0 + 0.5).clamp(-32767.0, 32767.0)) as i16;
        Taps { a: fixed(a), b: fixed(b) }
    }
}

/// `floor(v * m / 65536)`.
#[inline(always)]
pub const fn mulhi(v: i16, m: i16) -> i16 {
    ((v as i32 * m as i32) >> 16) as i16
}

/// Padding before and after a row.
const PAD: usize = 2;

// All bodies work on slices of the same length, cut before the loop, so that the compiler vectorizes them.

/// The kernel along a row of numbers that are halved already, with neighbours `step` samples away.
#[inline(always)]
fn across_halves_body(out: &mut [i16], padded: &[i16], step: usize, taps: Taps) {
    let [ll, l, g, r, rr] = neighbours(padded, out.len(), step, taps);
    for (i, out) in out.iter_mut().enumerate() {
        let near = mulhi(l[i].wrapping_add(r[i]), taps.a);
        let far = mulhi(ll[i].wrapping_add(rr[i]), taps.b);
        *out = g[i].wrapping_add(near).saturating_add(far);
    }
}

/// Views of `n` samples of a padded row, two steps and one before, in its middle, and behind. If the taps reach only one
/// step, the outer views repeat the inner ones, and their weight is 0.
#[inline(always)]
fn neighbours(padded: &[i16], n: usize, step: usize, taps: Taps) -> [&[i16]; 5] {
    let middle = (padded.len() - n) / 2;
    let outer = if taps.reach() == 2 { 2 * step } else { step };
    let at = |first: usize| &padded[first..first + n];
    [at(middle - outer), at(middle - step), at(middle), at(middle + step), at(middle + outer)]
}

#[inline(always)]
fn down_body(out: &mut [i16], rows: [&[i16]; 5], taps: Taps) {
    let n = out.len();
    let [uu, u, h, d, dd] = rows.map(|r| &r[..n]);
    for i in 0..n {
        let near = mulhi(u[i].saturating_add(d[i]), taps.a);
        let far = mulhi(uu[i].saturating_add(dd[i]), taps.b);
        out[i] = h[i].saturating_add(near).saturating_add(far);
    }
}

/// Both kernels in registers, the last of which overlaps the one before; `false` for a shorter row. The compiler makes
/// four times as many instructions of the loops above for SSE2.
#[inline(always)]
fn across_halves_registers<V: Vector>(
    any: V,
    out: &mut [i16],
    padded: &[i16],
    step: usize,
    taps: Taps,
) -> bool {
    let (n, lanes) = (out.len(), V::BYTES / 2);
    let (a, b, five) = (any.splat16(taps.a), any.splat16(taps.b), taps.reach() == 2);
    let [ll, l, g, r, rr] = neighbours(padded, n, step, taps);
    let mut next = 0;
    while next < n && lanes <= n {
        let i = next.min(n - lanes);
        let near = any.load(&l[i..]).add16(any.load(&r[i..]));
        let mut h = any.load(&g[i..]).add16(near.mulhi_i16(a));
        if five {
            let far = any.load(&ll[i..]).add16(any.load(&rr[i..]));
            h = h.adds_i16(far.mulhi_i16(b));
        }
        h.store(&mut out[i..]);
        next += lanes;
    }
    lanes <= n
}

#[inline(always)]
fn down_registers<V: Vector>(any: V, out: &mut [i16], rows: [&[i16]; 5], taps: Taps) -> bool {
    let (n, lanes) = (out.len(), V::BYTES / 2);
    let (a, b, five) = (any.splat16(taps.a), any.splat16(taps.b), taps.reach() == 2);
    let mut next = 0;
    while next < n && lanes <= n {
        let i = next.min(n - lanes);
        let near = any.load(&rows[1][i..]).adds_i16(any.load(&rows[3][i..]));
        let mut v = any.load(&rows[2][i..]).adds_i16(near.mulhi_i16(a));
        if five {
            let far = any.load(&rows[0][i..]).adds_i16(any.load(&rows[4][i..]));
            v = v.adds_i16(far.mulhi_i16(b));
        }
        v.store(&mut out[i..]);
        next += lanes;
    }
    lanes <= n
}

#[inline(always)]
fn mix_body(n: &mut [i16], other: &[i16], weights: [i16; 2]) {
    let [w, v] = weights.map(i32::from);
    for (n, &m) in n.iter_mut().zip(other) {
        let sum = i32::from(*n) * w + i32::from(m) * v;
        *n = ((sum + MIX_HALF) >> MIX_SHIFT).clamp(-32768, 32767) as i16;
    }
}

multiversion! {
    fn mix(level, n: &mut [i16], other: &[i16], weights: [i16; 2]) = mix_body;
    fn across_halves_plain(level, out: &mut [i16], padded: &[i16], step: usize, taps: Taps) = across_halves_body;
    fn across_halves_whole(level, out: &mut [i16], padded: &[i16], step: usize, taps: Taps) -> bool
        => across_halves_registers;
    fn down_rows(level, out: &mut [i16], rows: [&[i16]; 5], taps: Taps) = down_body;
    fn down_whole(level, out: &mut [i16], rows: [&[i16]; 5], taps: Taps) -> bool => down_registers;
}

/// Fills the padding of two samples at either end of `row`, which is `[_, _, samples.., _, _]`.
fn pad(row: &mut [i16]) {
    let len = row.len() - 2 * PAD;
    for d in 1..=PAD {
        row[PAD - d] = row[PAD + mirror(-(d as isize), len)];
        row[PAD + len + d - 1] = row[PAD + mirror((len + d - 1) as isize, len)];
    }
}

/// The kernel along a row: h. `row` is `[_, _, g >> 1.., _, _]`, four longer than `out`; its ends are overwritten.
pub fn across_halves(level: Level, out: &mut [i16], row: &mut [i16], taps: Taps) {
    assert_eq!(row.len(), out.len() + 2 * PAD);
    pad(row);
    across_halves_rows(level, out, row, 1, taps);
}

/// As [`across_halves`], with the padding filled, whatever its length, and neighbours `step` samples away.
pub(super) fn across_halves_rows(level: Level, out: &mut [i16], padded: &[i16], step: usize, taps: Taps) {
    assert!(padded.len() >= out.len() + 2 * step * taps.reach());
    if !across_halves_whole(level, out, padded, step, taps) {
        across_halves_plain(level, out, padded, step, taps);
    }
}

/// The kernel along columns: n of rows h at y-2 to y+2.
pub fn down(level: Level, out: &mut [i16], rows: [&[i16]; 5], taps: Taps) {
    if !down_whole(level, out, rows, taps) {
        down_rows(level, out, rows, taps);
    }
}

/// Samples of an iteration: rows of h are written and read in whole iterations.
pub const TURN: usize = 64;

/// Padding before and after a halved row of white noise.
pub const MARGIN: usize = 32;

/// The inputs of a row of n.
#[derive(Debug)]
pub struct Sources<'a> {
    /// Rows h at y-2 to y+2, in whole [iterations](TURN). Only as many are read as the taps reach; if there is a
    /// fresh row, the lowest of them is not read.
    pub h: [&'a [i16]; 5],
    /// For the lowest row that the taps reach: the white row `[margin.., g >> 1, .., margin..]`, from [`halves_end`],
    /// and the output for its h.
    pub fresh: Option<(&'a [i16], &'a mut [i16])>,
    /// The kernel along rows.
    pub across: Taps,
    /// The kernel along columns.
    pub down: Taps,
}

/// The fields whose sum is a row of n.
#[derive(Debug)]
pub struct Fields<'a> {
    /// The only field, or the first of two.
    pub first: Sources<'a>,
    /// The other one.
    pub second: Option<Sources<'a>>,
    /// The factors of two grains, in 1/32768, at most 32767.
    pub weights: [i16; 2],
    /// Room for a row of numbers of each.
    pub n: &'a mut [i16],
}

/// The fraction bits of the weights, and what rounds the sum.
pub(super) const MIX_SHIFT: u32 = 15;
pub(super) const MIX_HALF: i32 = 1 << (MIX_SHIFT - 1);

impl<'a> Fields<'a> {
    /// Makes `width` numbers step by step.
    pub(super) fn n(mut self, level: Level, width: usize) -> &'a mut [i16] {
        let (n, other) = self.n.split_at_mut(width);
        self.first.n(level, n);
        if let Some(second) = &mut self.second {
            second.n(level, &mut other[..width]);
            mix(level, n, other, self.weights);
        }
        n
    }
}

/// Mirrors the ends of a halved row of `width` white numbers after a [`MARGIN`].
pub fn halves_end(row: &mut [i16], width: usize) {
    pad(&mut row[MARGIN - PAD..MARGIN + width + PAD]);
}

impl Sources<'_> {
    /// Computes grain n of a row in separate passes.
    pub fn n(&mut self, level: Level, out: &mut [i16]) {
        assert!(self.suffice(out.len()));
        let reach = self.down.reach();
        let mut h = self.h;
        if let Some((white, fresh)) = &mut self.fresh {
            let padded = &white[MARGIN - PAD..MARGIN + out.len() + PAD];
            across_halves_rows(level, &mut fresh[..out.len()], padded, 1, self.across);
            h[2 + reach.max(1)] = fresh;
        }
        for (d, h) in [2, 1, 0, 1, 2].into_iter().zip(&mut h) {
            if d > reach {
                *h = self.h[2];
            }
        }
        down(level, out, h, self.down);
    }

    /// Whether the inputs and outputs are long enough for a row of `width`.
    pub(super) fn suffice(&self, width: usize) -> bool {
        let whole = width.next_multiple_of(TURN);
        let reach = if self.down.reach() == 2 { 2 } else { 1 };
        let old = if self.fresh.is_some() { 2 + reach } else { 3 + reach };
        self.h[2 - reach..old].iter().all(|h| h.len() >= whole)
            && self
                .fresh
                .as_ref()
                .is_none_or(|(white, h)| white.len() >= whole + 2 * MARGIN && h.len() >= whole)
    }
}
