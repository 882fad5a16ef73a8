//! The templates from which blocks of grain are copied.

use super::gaussian::GAUSSIAN;
use crate::film_grain::Params;
use crate::frame::{Format, PlaneSet};
use crate::simd::{Level, multiversion};

/// The row stride of a template: more than its 82 samples, so that rows end with whole registers.
pub(super) const STRIDE: usize = 96;
/// Width and height of the template of luma, and of subsampled chroma.
const FULL: (usize, usize) = (82, 73);
const HALF: (usize, usize) = (44, 38);
/// Samples of the largest template.
pub(super) const LENGTH: usize = STRIDE * FULL.1;
/// Rows above, and samples left and right, that the filter does not change.
const MARGIN: usize = 3;

/// The random number generator of the specification: a shift register of 16 bits.
pub(super) struct Register(pub u16);

impl Register {
    pub(super) fn bits(&mut self, bits: u32) -> u16 {
        let r = self.0;
        self.0 = r >> 1 | (r ^ r >> 1 ^ r >> 3 ^ r >> 12) << 15;
        self.0 >> (16 - bits)
    }
}

/// `floor(v / 2^shift + 1/2)`.
pub(super) const fn round2(v: i32, shift: u32) -> i32 {
    if shift == 0 { v } else { (v + (1 << (shift - 1))) >> shift }
}

/// Whether a plane is subsampled horizontally and vertically.
pub(super) fn halved(format: &Format, plane: usize) -> (bool, bool) {
    let (x, y) = format.plane_subsampling(plane);
    (x > 0, y > 0)
}

/// The templates of Y, Cb and Cr.
#[derive(Default)]
pub(super) struct Templates {
    planes: [Vec<i16>; 3],
}

/// The contribution of luma to a chroma plane's filter.
#[derive(Clone, Copy)]
struct Correlation<'a> {
    luma: &'a [i16],
    halved: (bool, bool),
    coefficient: i32,
}

/// The autoregressive filter of a plane.
#[derive(Clone, Copy)]
struct Autoregression<'a> {
    size: (usize, usize),
    lag: usize,
    coefficients: &'a [i8],
    shift: u32,
    /// Samples are clipped to -limit..limit - 1.
    limit: i32,
    luma: Option<Correlation<'a>>,
}

impl Templates {
    pub(super) fn plane(&self, p: usize) -> &[i16] {
        &self.planes[p]
    }

    /// Makes the templates of `planes` for a bit depth, and that of luma if chroma needs it.
    pub(super) fn make(
        &mut self,
        level: Level,
        params: &Params,
        seed: u16,
        (format, bits): (&Format, u32),
        planes: PlaneSet,
    ) {
        let shift = 12 - bits + u32::from(params.grain_shift);
        let has_luma = !params.points[0].is_empty();
        for (p, key) in [(0, 0), (1, 0xb524), (2, 0x49d8)] {
            if !(planes.has(p) || p == 0 && has_luma) {
                continue;
            }
            let (own, luma) = match self.planes.split_at_mut(p) {
                ([luma, ..], [own, ..]) => (own, Some(&*luma)),
                (_, [own, ..]) => (own, None),
                _ => unreachable!("there are three planes"),
            };
            let halved = halved(format, p);
            let pick = |half, of: fn((usize, usize)) -> usize| of(if half { HALF } else { FULL });
            let size = (pick(halved.0, |s| s.0), pick(halved.1, |s| s.1));
            own.clear();
            own.resize(STRIDE * size.1, 0);
            let mut random = Register(seed ^ key);
            for row in own.chunks_exact_mut(STRIDE) {
                row[..size.0]
                    .fill_with(|| round2(GAUSSIAN[usize::from(random.bits(11))].into(), shift) as i16);
            }
            let correlation = |luma| {
                let coefficient = params.coefficients[p].last().copied().unwrap_or(0).into();
                Correlation { luma, halved, coefficient }
            };
            let filter = Autoregression {
                size,
                lag: params.lag.into(),
                coefficients: &params.coefficients[p],
                shift: params.coefficient_shift.into(),
                limit: 128 << (bits - 8),
                luma: luma.filter(|_| has_luma).map(|luma| correlation(luma)),
            };
            autoregress(level, own, filter);
        }
    }
}

#[inline(always)]
fn autoregress_body(samples: &mut [i16], filter: Autoregression<'_>) {
    match filter.lag {
        0 => rows::<0>(samples, filter),
        1 => rows::<1>(samples, filter),
        2 => rows::<2>(samples, filter),
        _ => rows::<3>(samples, filter),
    }
}

multiversion! {
    /// Filters a template in place.
    fn autoregress(level, samples: &mut [i16], filter: Autoregression<'_>) = autoregress_body;
}

#[inline(always)]
fn rows<const LAG: usize>(samples: &mut [i16], of: Autoregression<'_>) {
    let (width, height) = of.size;
    let taps = 2 * LAG + 1;
    let inner = MARGIN..width - MARGIN;
    for y in MARGIN..height {
        let (above, here) = samples.split_at_mut(y * STRIDE);
        let here = &mut here[..STRIDE];
        // First sum up the rows above and luma, which do not depend on the previous sample.
        let mut sums = [round2(1 << of.shift, 1); STRIDE];
        for (i, &c) in of.coefficients[..LAG * taps].iter().enumerate() {
            let from = &above[(y - LAG + i / taps) * STRIDE + MARGIN - LAG + i % taps..];
            for (sum, &v) in sums[MARGIN..MARGIN + 80].iter_mut().zip(&from[..80]) {
                *sum += i32::from(c) * i32::from(v);
            }
        }
        if let Some(luma) = of.luma {
            luma.add(&mut sums[inner.clone()], y);
        }
        let near: [i32; LAG] = core::array::from_fn(|i| of.coefficients[LAG * taps + i].into());
        for x in inner.clone() {
            let before = &here[x - LAG..x];
            let sum = before.iter().zip(near).fold(sums[x], |sum, (&v, c)| sum + i32::from(v) * c);
            here[x] = (i32::from(here[x]) + (sum >> of.shift)).clamp(-of.limit, of.limit - 1) as i16;
        }
    }
}

impl Correlation<'_> {
    /// Adds luma's contribution to row `y`.
    #[inline(always)]
    fn add(&self, sums: &mut [i32], y: usize) {
        let (across, down) = (usize::from(self.halved.0), usize::from(self.halved.1));
        let row = ((y - MARGIN) << down) + MARGIN;
        let luma = &self.luma[row * STRIDE + MARGIN..];
        for (x, sum) in sums.iter_mut().enumerate() {
            let at = x << across;
            let mut v = i32::from(luma[at]);
            if across > 0 {
                v += i32::from(luma[at + 1]);
            }
            if down > 0 {
                v += i32::from(luma[at + STRIDE])
                    + if across > 0 { i32::from(luma[at + STRIDE + 1]) } else { 0 };
            }
            *sum += round2(v, (across + down) as u32) * self.coefficient;
        }
    }
}
