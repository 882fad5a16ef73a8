//! The row kernels.

use super::Scale;
use crate::simd::{Level, multiversion};

/// The noise of a row of pixels, one number each.
#[derive(Clone, Copy, Debug)]
pub enum Noise<'a> {
    /// Words with a uniform distribution: c is `word \| 1`, read as signed.
    Words(&'a [u16]),
    /// Centred numbers c.
    Centred(&'a [i16]),
}

impl Noise<'_> {
    /// The words w, and the constant that makes c: `c = w \| or`.
    #[inline(always)]
    fn numbers(&self) -> (&[u16], i16) {
        match self {
            Noise::Words(w) => (w, 1),
            Noise::Centred(c) => (bytemuck::cast_slice(c), 0),
        }
    }

    /// The number of pixels.
    #[inline(always)]
    pub fn len(&self) -> usize {
        match self {
            Noise::Words(w) => w.len(),
            Noise::Centred(c) => c.len(),
        }
    }

    /// Whether there are no pixels.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One integer sample: the reference of the kernels below.
pub fn reference(sample: u16, c: i16, scale: Scale, (lo, hi): (u16, u16)) -> u16 {
    let sum = i32::from(sample) + scale.of(c);
    sum.clamp(sample.min(lo).into(), sample.max(hi).into()) as u16
}

/// Noise in codes, computed in 16-bit lanes; needs a shift of 17 or more.
#[derive(Clone, Copy)]
struct Narrow {
    gain: i16,
    round: i16,
    shift: u32,
}

impl Narrow {
    #[inline(always)]
    fn new(scale: Scale) -> Narrow {
        let (gain, shift) = scale.parts();
        Narrow { gain, round: 1 << (shift - 17), shift: shift - 16 }
    }

    #[inline(always)]
    fn of(self, c: i16) -> i16 {
        let high = ((i32::from(c) * i32::from(self.gain)) >> 16) as i16;
        // high is from -16384 to 16383 and round at most 8192: no overflow.
        high.wrapping_add(self.round) >> self.shift
    }
}

/// Samples per iteration: whole vectors at every level.
const BLOCK: usize = 64;

/// Runs `one` over whole blocks, whose length is known to the compiler, and then over the rest.
#[inline(always)]
fn by_blocks<T: Copy, N: Copy>(row: &mut [T], noise: &[N], one: impl Fn(T, N) -> T) {
    let n = row.len().min(noise.len());
    let (row, noise) = (&mut row[..n], &noise[..n]);
    let mut rows = row.chunks_exact_mut(BLOCK);
    let mut noises = noise.chunks_exact(BLOCK);
    for (row, noise) in (&mut rows).zip(&mut noises) {
        for i in 0..BLOCK {
            row[i] = one(row[i], noise[i]);
        }
    }
    for (x, &n) in rows.into_remainder().iter_mut().zip(noises.remainder()) {
        *x = one(*x, n);
    }
}

#[inline(always)]
fn u8_body(row: &mut [u8], noise: Noise<'_>, scale: Scale, lo: u8, hi: u8) {
    let by = Narrow::new(scale);
    let one = |x: u8, c: i16| {
        let sum = i16::from(x) + by.of(c);
        sum.min(x.max(hi).into()).max(x.min(lo).into()) as u8
    };
    match noise {
        Noise::Words(words) => by_blocks(row, words, |x, w| one(x, (w | 1) as i16)),
        Noise::Centred(centred) => by_blocks(row, centred, one),
    }
}

#[inline(always)]
fn u16_body(row: &mut [u16], noise: Noise<'_>, scale: Scale, lo: u16, hi: u16) {
    // Shifted by 2^15 the codes fit signed lanes, whose saturating addition, minimum and maximum exist at every
    // level.
    let signed = |x: u16| (x ^ 0x8000) as i16;
    let (lo, hi) = (signed(lo), signed(hi));
    let by = Narrow::new(scale);
    let one = |x: u16, c: i16| {
        let x = signed(x);
        let sum = x.saturating_add(by.of(c)).min(x.max(hi)).max(x.min(lo));
        sum as u16 ^ 0x8000
    };
    match noise {
        Noise::Words(words) => by_blocks(row, words, |x, w| one(x, (w | 1) as i16)),
        Noise::Centred(centred) => by_blocks(row, centred, one),
    }
}

#[inline(always)]
fn u16_wide_body(row: &mut [u16], noise: Noise<'_>, scale: Scale, lo: u16, hi: u16) {
    let one = |x: u16, c: i16| {
        let sum = i32::from(x) + scale.of(c);
        sum.min(x.max(hi).into()).max(x.min(lo).into()) as u16
    };
    match noise {
        Noise::Words(words) => by_blocks(row, words, |x, w| one(x, (w | 1) as i16)),
        Noise::Centred(centred) => by_blocks(row, centred, one),
    }
}

#[inline(always)]
fn f32_body(row: &mut [f32], noise: Noise<'_>, gain: f32) {
    let one = |x: f32, c: i16| {
        let sum = x + f32::from(c) * gain;
        // The NaN payload after an addition differs between machines.
        if x.is_finite() { sum } else { x }
    };
    match noise {
        Noise::Words(words) => by_blocks(row, words, |x, w| one(x, (w | 1) as i16)),
        Noise::Centred(centred) => by_blocks(row, centred, one),
    }
}

#[inline(always)]
fn constant_body<T: Copy>(row: &mut [T], one: impl Fn(T) -> T) {
    row.iter_mut().for_each(|x| *x = one(*x));
}

#[inline(always)]
fn constant_u8_body(row: &mut [u8], n: u8) {
    constant_body(row, |x| x.saturating_add(n));
}

#[inline(always)]
fn constant_u16_body(row: &mut [u16], n: u16) {
    constant_body(row, |x| x.saturating_add(n));
}

multiversion! {
    /// Adds a constant to every sample, saturating. This is the minimum work of a kernel in place, so it is the upper
    /// limit of speed in the benches.
    pub fn add_constant_u8(level, row: &mut [u8], n: u8) = constant_u8_body;

    /// As [`add_constant_u8`], for 16 bits.
    pub fn add_constant_u16(level, row: &mut [u16], n: u16) = constant_u16_body;

    fn u8_rows(level, row: &mut [u8], noise: Noise<'_>, scale: Scale, lo: u8, hi: u8) = u8_body;
    fn u16_rows(level, row: &mut [u16], noise: Noise<'_>, scale: Scale, lo: u16, hi: u16) = u16_body;
    fn u16_rows_wide(level, row: &mut [u16], noise: Noise<'_>, scale: Scale, lo: u16, hi: u16) = u16_wide_body;

    /// Adds noise to float samples: `c * gain`, to finite ones. `gain` is samples per unit of c.
    pub fn add_f32(level, row: &mut [f32], noise: Noise<'_>, gain: f32) = f32_body;
}

/// Adds noise to 8-bit samples, clamped to the legal codes `lo..=hi` or to the sample's value.
///
/// Processes the smaller of the numbers of samples and of noise numbers. Panics for noise of more than 8191 codes,
/// which strengths up to 255 do not reach.
pub fn add_u8(level: Level, row: &mut [u8], noise: Noise<'_>, scale: Scale, (lo, hi): (u8, u8)) {
    assert!(scale.fits_i16(), "noise of more than 8191 codes for 8-bit samples");
    let (c, or) = noise.numbers();
    if super::arch::add_bytes(level, row, c, or, scale, (lo, hi)) {
        return;
    }
    u8_rows(level, row, noise, scale, lo, hi);
}

/// Adds noise to samples of 9 to 16 bits, as [`add_u8`], of any strength.
pub fn add_u16(level: Level, row: &mut [u16], noise: Noise<'_>, scale: Scale, (lo, hi): (u16, u16)) {
    let (c, or) = noise.numbers();
    if super::arch::add_words(level, row, c, or, scale, (lo, hi)) {
        return;
    }
    if scale.fits_i16() {
        u16_rows(level, row, noise, scale, lo, hi);
    } else {
        u16_rows_wide(level, row, noise, scale, lo, hi);
    }
}
