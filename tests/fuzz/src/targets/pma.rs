//! Packed memory arrays, compared with sorted lists.

use super::super::Target;
use super::hash;

/// Bytes as operations.
pub const TARGET: Target = Target {
    name: "pma",
    run,
    words: &[],
    seeds: &["\0\0\0\u{1}\0\u{2}\0\u{3}", "\u{1}\u{1}\u{2}\u{7}\u{2}\0\u{3}\u{5}\u{20}\u{1}\u{2}\u{3}\u{4}"],
};

fn run(data: &[u8]) -> bool {
    // Every operation is followed by a check of the whole array, so the work grows with the square of the
    // length: most inputs are short.
    let most = if hash(data).is_multiple_of(16) { 160 } else { 40 };
    let data = &data[..data.len().min(most)];
    if let Err(fault) = grainfield_filters::pma::fuzz::run(data) {
        panic!("{fault:?}");
    }
    data.len() > 16
}
