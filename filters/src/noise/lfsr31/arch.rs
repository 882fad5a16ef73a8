//! Converts positions to states, several at a time.
//!
//! Each conversion takes three products with matrices selected by the digits of its position (the first digit is a
//! look-up), and each product depends on the one before. The plain product, compiled for any instruction set, takes 10
//! ns, since the compiler finds no good way to turn the bits of a number into masks; here a comparison does it. In a
//! loop over rows the processor executes several conversions in parallel.

use crate::gf2::{Jump32, Matrix32};
use crate::simd::{Level, Vector, multiversion};

fn plain(jump: &Jump32, first: &[u32; 256], places: &mut [u32]) {
    for place in places {
        let [a, b, c, d] = place.to_le_bytes();
        let state = jump.digit(1, b).apply(first[a as usize]);
        *place = jump.digit(3, d).apply(jump.digit(2, c).apply(state));
    }
}

/// Converts positions below 2^32 into states, in place. `first` has the image of the origin for each lowest
/// digit.
pub(super) fn seek(level: Level, jump: &Jump32, first: &[u32; 256], places: &mut [u32]) {
    if !by_registers(level, jump, first, places) {
        plain(jump, first, places);
    }
}

multiversion! {
    fn by_registers(level, jump: &Jump32, first: &[u32; 256], places: &mut [u32]) -> bool => registers_body;
}

#[inline(always)]
fn registers_body<V: Vector>(any: V, jump: &Jump32, first: &[u32; 256], places: &mut [u32]) -> bool {
    for place in places {
        let [a, b, c, d] = place.to_le_bytes();
        let mut x = any.splat32(first[a as usize] as i32);
        for (k, digit) in [(1, b), (2, c), (3, d)] {
            x = apply(x, jump.digit(k, digit));
        }
        let mut all = [0; 16];
        x.store(&mut all);
        *place = all[0];
    }
    true
}

/// `x * m`, x and the result in all lanes.
#[inline(always)]
fn apply<V: Vector>(x: V, m: &Matrix32) -> V {
    let lanes = V::BYTES / 4;
    let mut sum = x.splat32(0);
    // Bit i in lane i.
    for (bits, rows) in Matrix32::IDENTITY.rows.chunks_exact(lanes).zip(m.rows.chunks_exact(lanes)) {
        sum = sum.xor(x.load(rows).select_if_test32(x, x.load(bits)));
    }
    sum.xor_reduce32()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gf2::M31;
    use crate::noise::lfsr31::position::matrix;
    use crate::noise::seed::mix64;

    #[test]
    fn every_level_is_the_plain_product() {
        let jump = Jump32::new(&matrix());
        let first: [u32; 256] = core::array::from_fn(|d| jump.digit(0, d as u8).apply(0x1234_5678));
        let mut places: Vec<u32> = (0..1000).map(|i| mix64(i + 1) as u32).collect();
        places.extend([0, 1, 255, 256, M31 - 1, u32::MAX]);
        let want: Vec<u32> = places.iter().map(|&n| matrix().pow(n.into()).apply(0x1234_5678)).collect();
        for &level in Level::available() {
            let mut got = places.clone();
            seek(level, &jump, &first, &mut got);
            assert_eq!(got, want, "{level}");
        }
    }
}
