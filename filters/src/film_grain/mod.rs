//! AV1 film grain as parameters, and the tables that carry them (`filmgrn1`).
//!
//! A decoder generates grain from a few parameters per frame: strength by brightness for each plane, the coefficients
//! of an autoregressive filter that shapes the spectrum, and a seed. A table gives the parameters of each time
//! interval. The filter [`av1grain`](crate::filter::av1grain) renders them exactly as decoders do.
//!
//! Names follow section 6.8.20 of the AV1 specification.

#[cfg(test)]
pub(crate) mod tests;
mod text;
mod vectors;

pub use text::{MAX_SEGMENTS, MAX_TEXT, Problem, TableError};
pub use vectors::{VECTORS, vector};

/// Units of a table's times per second.
pub const TICKS: i64 = 10_000_000;

/// The default seed.
pub const DEFAULT_SEED: u16 = 7391;

/// The largest numbers of scaling points in luma and in each chroma plane.
pub const MAX_POINTS: [usize; 3] = [14, 10, 10];

/// Defines how the strength in a chroma plane follows from its own sample and the luma at the same place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ChromaIndex {
    /// `cb_mult`: the weight of the chroma sample, as 64 times the factor plus 128.
    pub own: u8,
    /// `cb_luma_mult`: the weight of luma, in the same form.
    pub luma: u8,
    /// `cb_offset`: the offset in 8-bit codes plus 256; 0 to 511.
    pub offset: u16,
}

/// The grain of a frame without its seed. Planes are Y, Cb, Cr.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Params {
    /// Strength over brightness, both in 8-bit codes, in order of brightness; [`MAX_POINTS`] at most. A plane without
    /// points has no grain.
    pub points: [Vec<[u8; 2]>; 3],
    /// The reach of the autoregressive filter: 0 to 3 samples.
    pub lag: u8,
    /// The filter's coefficients, row by row from the upper left to the sample before: `2 lag (lag + 1)` for each plane, and in
    /// chroma the coefficient of luma behind them.
    pub coefficients: [Vec<i8>; 3],
    /// Right shift of the coefficients: 6 to 9.
    pub coefficient_shift: u8,
    /// Right shift of the white noise: 0 to 3.
    pub grain_shift: u8,
    /// Right shift of strength times grain: 8 to 11.
    pub scaling_shift: u8,
    /// Whether luma's points and the luma sample give the strength of chroma grain.
    pub chroma_from_luma: bool,
    /// Whether neighbouring blocks overlap.
    pub overlap: bool,
    /// The index at which strength is looked up in Cb and Cr.
    pub index: [ChromaIndex; 2],
    /// Whether samples are clipped to the limited range. Tables cannot express this.
    pub clip: bool,
}

impl Params {
    /// The number of coefficients of a plane at a lag.
    pub const fn coefficient_count(lag: u8, plane: usize) -> usize {
        2 * lag as usize * (lag as usize + 1) + (plane > 0) as usize
    }

    /// Whether a plane of a picture with this chroma subsampling has grain. A 4:2:0 stream cannot have grain in chroma
    /// without grain in luma.
    pub fn has_grain(&self, plane: usize, subsampling: (u8, u8)) -> bool {
        let luma = !self.points[0].is_empty();
        match plane {
            0 => luma,
            _ if self.chroma_from_luma => luma,
            _ => !self.points[plane].is_empty() && (luma || subsampling != (1, 1)),
        }
    }
}

/// A time interval with constant grain parameters.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Segment {
    /// Its start in [`TICKS`], 0 or later.
    pub start: i64,
    /// Its end in [`TICKS`], exclusive.
    pub end: i64,
    /// Whether grain is applied.
    pub apply: bool,
    /// The seed of its first frame.
    pub seed: u16,
    /// The grain parameters; `None` (`update 0`) repeats those of the last segment that has some.
    pub params: Option<Params>,
}

/// A film grain table.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Table {
    /// In the order of the file. Where they overlap the first one applies; gaps have no grain.
    pub segments: Vec<Segment>,
}

impl Table {
    /// A table with the same grain from the first frame on.
    pub fn constant(params: Params, seed: u16) -> Table {
        Table { segments: vec![Segment { start: 0, end: i64::MAX, apply: true, seed, params: Some(params) }] }
    }

    /// The segment at a time.
    pub fn at(&self, time: i64) -> Option<usize> {
        self.segments.iter().position(|s| s.start <= time && time < s.end)
    }

    /// The parameters of a segment: its own, or those of the last segment before it that has some.
    pub fn params(&self, segment: usize) -> Option<&Params> {
        self.segments[..=segment].iter().rev().find_map(|s| s.params.as_ref())
    }
}

/// The increment of libaom's seed from frame to frame.
const STEP: u16 = 3381;
/// Its inverse modulo 65536.
const INVERSE: u16 = {
    // Newton's iteration doubles the correct bits; an odd number is its own inverse in three.
    let mut inverse = STEP;
    let mut i = 0;
    while i < 4 {
        inverse = inverse.wrapping_mul(2u16.wrapping_sub(STEP.wrapping_mul(inverse)));
        i += 1;
    }
    inverse
};

/// The number of steps from a seed until the sequence would reach 0: 1 to 65536.
const fn steps_to_zero(seed: u16) -> u64 {
    let steps = 0u16.wrapping_sub(seed).wrapping_mul(INVERSE) as u64;
    if steps == 0 { 65536 } else { steps }
}

/// The seed of the `n`th frame after one with `seed`. Each seed is 3381 more than the one before; a result of 0 is
/// replaced by [`DEFAULT_SEED`], as in libaom.
pub const fn seed_of_frame(seed: u16, n: u64) -> u16 {
    let first = steps_to_zero(seed);
    let (seed, n) =
        if n < first { (seed, n) } else { (DEFAULT_SEED, (n - first) % steps_to_zero(DEFAULT_SEED)) };
    seed.wrapping_add((n as u16).wrapping_mul(STEP))
}
