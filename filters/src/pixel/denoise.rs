//! Weighted sums of similar samples: the inner loop of non-local means.
//!
//! The distance of two samples is the sum of the squares of the differences of the 3 by 3 samples around each, in all
//! planes of a group. Its weight is `w = t^2`, where `t = top - slope * distance`, limited to 0 to 1. Each sample gets the
//! sum of its weights, and for each plane the sum of `w * (other - own)`. All sums are made afresh in one order, never by
//! adding to and subtracting from a running sum, so the result depends neither on levels nor on the parts in which a
//! picture is computed.

use crate::simd::multiversion;

/// Columns that are computed at a time: few enough for the sums of a strip to stay in the first cache.
const BLOCK: usize = 120;

/// Columns of a block's sums: samples of other blocks get a part of their sums here, which is dropped.
const SUMS: usize = BLOCK + 2 * MARGIN;

/// Columns for which weights are computed: a block, and those whose distance from a sample of the block is shared.
const WEIGHTS: usize = BLOCK + 8;

/// Columns of squares, two more than weights, rounded up to whole vectors.
const SQUARES: usize = WEIGHTS + 8;

/// Columns before the first sample of a row; the largest search radius is one less.
pub const MARGIN: usize = 8;

/// Rows of a group of planes of one size, as `f32`, with rows and columns around them.
#[derive(Clone, Copy, Debug)]
pub struct Strip {
    /// Number of planes.
    pub planes: usize,
    /// Samples of a row.
    pub width: usize,
    /// Rows for which sums are computed.
    pub rows: usize,
    /// Rows above and below these that the samples include, and columns to the left and the right: at least the search
    /// radius plus 1, and at most [`MARGIN`].
    pub reach: usize,
}

impl Strip {
    fn blocks(&self) -> usize {
        self.width.div_ceil(BLOCK)
    }

    /// The distance of two rows. Sample `x` of a row is its element `MARGIN + x`.
    pub fn stride(&self) -> usize {
        self.blocks() * BLOCK + 3 * MARGIN
    }

    /// The samples, margins included: planes one after the other, each from row `-reach` on.
    pub fn samples(&self) -> usize {
        self.planes * (self.rows + 2 * self.reach) * self.stride()
    }

    /// The sums: weights, then those of each plane, in rows like those of the samples, without rows around them.
    pub fn sums(&self) -> usize {
        (1 + self.planes) * self.rows * self.stride()
    }

    /// The memory that [`add_similar`] works in.
    pub fn block_sums(&self) -> usize {
        (1 + self.planes) * self.rows * SUMS
    }

    /// The start of row `y` of plane `p` among the samples.
    pub fn row(&self, p: usize, y: isize) -> usize {
        let y = (y + self.reach as isize) as usize;
        (p * (self.rows + 2 * self.reach) + y) * self.stride()
    }
}

/// Which samples count, and how much.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// The farthest rows and columns.
    pub radius: usize,
    /// The weight's root at a distance of 0, before it is limited to 1.
    pub top: f32,
    /// Its decrease per unit of distance.
    pub slope: f32,
}

/// Adds the sums over the samples around each sample, itself left out, of the same picture (`other` is `None`: the
/// distance of two samples counts for both) or of another.
#[inline(always)]
fn add_similar_body(
    strip: &Strip,
    samples: &[f32],
    other: Option<&[f32]>,
    search: &Search,
    block_sums: &mut [f32],
    sums: &mut [f32],
) {
    let radius = search.radius as isize;
    let top = if other.is_some() { -radius } else { 0 };
    for block in 0..strip.blocks() {
        let x = MARGIN + block * BLOCK;
        block_sums.fill(0.0);
        for (dy, dx) in (top..=radius).flat_map(|dy| (-radius..=radius).map(move |dx| (dy, dx))) {
            if other.is_some() || (dy, dx) > (0, 0) {
                add_at(strip, samples, other, search, (x, [dx, dy]), block_sums);
            }
        }
        for (sums, of_block) in sums.chunks_exact_mut(strip.stride()).zip(block_sums.chunks_exact(SUMS)) {
            let sums = sums[x..][..BLOCK].iter_mut();
            sums.zip(&of_block[MARGIN..]).for_each(|(sum, part)| *sum += part);
        }
    }
}

/// The columns of a slice from `start` on, as an array.
#[inline(always)]
fn columns<const N: usize>(row: &[f32], start: usize) -> &[f32; N] {
    match row[start..].first_chunk() {
        Some(columns) => columns,
        None => unreachable!("rows end with a margin"),
    }
}

#[inline(always)]
fn columns_mut<const N: usize>(row: &mut [f32], start: usize) -> &mut [f32; N] {
    match row[start..].first_chunk_mut() {
        Some(columns) => columns,
        None => unreachable!("rows end with a margin"),
    }
}

/// Adds the weighted differences of the samples at one offset, for the block that begins at column `x`.
#[inline(always)]
fn add_at(
    strip: &Strip,
    samples: &[f32],
    other: Option<&[f32]>,
    search: &Search,
    (x, [dx, dy]): (usize, [isize; 2]),
    sums: &mut [f32],
) {
    let (both, from) = (other.is_none(), other.unwrap_or(samples));
    // The first column and row for which a weight is needed.
    let left = if both { dx.max(0) as usize } else { 0 };
    let above = if both { -dy } else { 0 };
    let rows = strip.rows as isize;
    let start = x - left;
    let shifted = start.wrapping_add_signed(dx);
    let mut squares = [0f32; SQUARES];
    // The sums of three columns, of the last three rows.
    let mut triples = [[0f32; WEIGHTS]; 3];
    let mut weights = [0f32; WEIGHTS];
    for (i, y) in (above - 1..=rows).enumerate() {
        for p in 0..strip.planes {
            let own = columns::<SQUARES>(&samples[strip.row(p, y)..], start - 1);
            let other = columns::<SQUARES>(&from[strip.row(p, y + dy)..], shifted - 1);
            for ((square, own), other) in squares.iter_mut().zip(own).zip(other) {
                let difference = other - own;
                let before = if p == 0 { 0.0 } else { *square };
                *square = before + difference * difference;
            }
        }
        for (j, triple) in triples[i % 3].iter_mut().enumerate() {
            *triple = (squares[j] + squares[j + 1]) + squares[j + 2];
        }
        if i < 2 {
            continue;
        }
        let [a, b, c] = [i - 2, i - 1, i].map(|i| &triples[i % 3]);
        for (j, weight) in weights.iter_mut().enumerate() {
            let root = search.top - search.slope * ((a[j] + b[j]) + c[j]);
            let root = if root > 0.0 { root } else { 0.0 };
            let root = if root < 1.0 { root } else { 1.0 };
            *weight = root * root;
        }
        // The row in the middle.
        let y = y - 1;
        let at = |q: usize, y: isize| (q * strip.rows + y as usize) * SUMS + MARGIN - left;
        let here = (0..rows).contains(&y);
        let there = both && (0..rows).contains(&(y + dy));
        let there_at = |q: usize| at(q, y + dy).wrapping_add_signed(dx);
        if here {
            let sums = columns_mut::<WEIGHTS>(sums, at(0, y));
            sums.iter_mut().zip(&weights).for_each(|(sum, w)| *sum += w);
        }
        if there {
            let sums = columns_mut::<WEIGHTS>(sums, there_at(0));
            sums.iter_mut().zip(&weights).for_each(|(sum, w)| *sum += w);
        }
        for p in 0..strip.planes {
            let own = columns::<WEIGHTS>(&samples[strip.row(p, y)..], start);
            let other = columns::<WEIGHTS>(&from[strip.row(p, y + dy)..], shifted);
            let mut parts = [0f32; WEIGHTS];
            for (j, part) in parts.iter_mut().enumerate() {
                *part = weights[j] * (other[j] - own[j]);
            }
            if here {
                let sums = columns_mut::<WEIGHTS>(sums, at(1 + p, y));
                sums.iter_mut().zip(&parts).for_each(|(sum, part)| *sum += part);
            }
            if there {
                let sums = columns_mut::<WEIGHTS>(sums, there_at(1 + p));
                sums.iter_mut().zip(&parts).for_each(|(sum, part)| *sum -= part);
            }
        }
    }
}

#[inline(always)]
fn average_body(weights: &[f32], sums: &mut [f32]) {
    for (sum, weight) in sums.iter_mut().zip(weights) {
        *sum /= weight + 1.0;
    }
}

multiversion! {
    /// Adds to `sums` the weights and weighted differences of all samples around each sample, the sample itself left out.
    /// `other` has the samples of another picture; `None` is the same one. `block_sums` is memory.
    pub fn add_similar(
        level, strip: &Strip, samples: &[f32], other: Option<&[f32]>, search: &Search, block_sums: &mut [f32],
        sums: &mut [f32],
    ) = add_similar_body;

    /// Replaces weighted differences by their mean with a difference of 0 and the weight 1: that of the sample itself.
    pub fn average(level, weights: &[f32], sums: &mut [f32]) = average_body;
}
