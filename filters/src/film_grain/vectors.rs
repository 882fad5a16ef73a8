//! The sixteen test vectors with which libaom tests decoders (`film-grain-test=1` to `16` of its encoder).
//!
//! `vectors.tbl` has their numbers from `av1/encoder/grain_test_vectors.h`, (c) 2016 Alliance for Open Media, BSD
//! 2-Clause, as a table with a segment for each.

use super::{Params, Table};

/// The number of vectors.
pub const VECTORS: usize = 16;

/// The vectors whose samples are clipped to the limited range, which a table cannot express.
const CLIPPED: [usize; 7] = [1, 3, 5, 6, 7, 11, 14];

/// Test vector `number`, from 1 to [`VECTORS`], and its seed.
pub fn vector(number: usize) -> Option<(Params, u16)> {
    let mut table: Table = include_str!("vectors.tbl").parse().ok()?;
    let index = number.checked_sub(1).filter(|index| *index < table.segments.len())?;
    let segment = table.segments.swap_remove(index);
    Some((Params { clip: CLIPPED.contains(&number), ..segment.params? }, segment.seed))
}
