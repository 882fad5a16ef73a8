//! AV1 film grain as parameters, and the tables that carry them (`filmgrn1`).
//!
//! A decoder makes grain from a few numbers a frame: strength by brightness for each plane, the coefficients of an
//! autoregressive filter that shapes the spectrum, and a seed. A table says which parameters hold from when to when. The
//! filter [`av1grain`](crate::filter::av1grain) renders them exactly as decoders do.
//!
//! Names follow section 6.8.20 of the AV1 specification.

mod seed;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod vectors;

pub use seed::seed_of_frame;
pub use text::{MAX_SEGMENTS, MAX_TEXT, Problem, TableError};
pub use vectors::{VECTORS, vector};

/// Units of a table's times in a second.
pub const TICKS: i64 = 10_000_000;

/// The seed where no other is said.
pub const DEFAULT_SEED: u16 = 7391;

/// Most points of strength in luma, and in a chroma plane.
pub const MAX_POINTS: [usize; 3] = [14, 10, 10];

/// How a chroma plane's strength is looked up, from its own sample and the luma there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ChromaIndex {
    /// `cb_mult`: the factor of the own sample, 128 more than 64 times it.
    pub own: u8,
    /// `cb_luma_mult`: likewise of luma.
    pub luma: u8,
    /// `cb_offset`: 256 more than what is added, in codes of 8 bits; 0 to 511.
    pub offset: u16,
}

/// The grain of a frame, but for its seed. Planes are Y, Cb, Cr.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Params {
    /// Strength over brightness, both in codes of 8 bits, brightness rising; [`MAX_POINTS`] at most. Without points the
    /// plane has no grain.
    pub points: [Vec<[u8; 2]>; 3],
    /// How far the filter reaches: 0 to 3 samples.
    pub lag: u8,
    /// The filter's coefficients, row by row from the upper left to the sample before: `2 lag (lag + 1)` for each plane, and in
    /// chroma the coefficient of luma behind them.
    pub coefficients: [Vec<i8>; 3],
    /// Bits that coefficients are shifted by: 6 to 9.
    pub coefficient_shift: u8,
    /// Bits by which the white noise is weaker than full: 0 to 3.
    pub grain_shift: u8,
    /// Bits that strength times grain is shifted by: 8 to 11.
    pub scaling_shift: u8,
    /// Whether luma's points and luma alone say how strong chroma's grain is.
    pub chroma_from_luma: bool,
    /// Whether blocks overlap.
    pub overlap: bool,
    /// Where strength is looked up in Cb and Cr.
    pub index: [ChromaIndex; 2],
    /// Whether samples are kept to the limited range. Tables cannot say so.
    pub clip: bool,
}

impl Params {
    /// Coefficients of a plane at a lag.
    pub const fn coefficient_count(lag: u8, plane: usize) -> usize {
        2 * lag as usize * (lag as usize + 1) + (plane > 0) as usize
    }

    /// Whether there is grain in a plane of a picture whose chroma is subsampled so. Where luma has none, 4:2:0 streams cannot
    /// say that chroma has.
    pub fn has_grain(&self, plane: usize, subsampling: (u8, u8)) -> bool {
        let luma = !self.points[0].is_empty();
        match plane {
            0 => luma,
            _ if self.chroma_from_luma => luma,
            _ => !self.points[plane].is_empty() && (luma || subsampling != (1, 1)),
        }
    }
}

/// A stretch of time with one grain.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Segment {
    /// Its beginning in [`TICKS`], 0 or later.
    pub start: i64,
    /// Its end, which is not in it any more.
    pub end: i64,
    /// Whether there is grain.
    pub apply: bool,
    /// The seed of its first frame.
    pub seed: u16,
    /// What the grain is like; `None` (`update 0`): as in the last segment that says so.
    pub params: Option<Params>,
}

/// A film grain table.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Table {
    /// In the order of the file. They may overlap, the first counting, and leave gaps, which have no grain.
    pub segments: Vec<Segment>,
}

impl Table {
    /// The same grain from the first frame on.
    pub fn constant(params: Params, seed: u16) -> Table {
        Table { segments: vec![Segment { start: 0, end: i64::MAX, apply: true, seed, params: Some(params) }] }
    }

    /// The segment that holds at a time.
    pub fn at(&self, time: i64) -> Option<usize> {
        self.segments.iter().position(|s| s.start <= time && time < s.end)
    }

    /// The parameters of a segment: its own, or those of the last one before that has some.
    pub fn params(&self, segment: usize) -> Option<&Params> {
        self.segments[..=segment].iter().rev().find_map(|s| s.params.as_ref())
    }
}
