//! Noise for the tests of this crate, from an independent generator.

use super::{Field, Moments};

/// Normal numbers of deviation 1 (Box and Muller's method, on Knuth's MMIX congruential generator with its high bits).
pub(super) fn normal(width: usize, height: usize, seed: u64) -> Field {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (state ^ (state >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        ((mixed >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    };
    Field::from_fn(width, height, |_, _| {
        ((-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()) as f32
    })
}

pub(super) fn variance(field: &Field) -> f64 {
    Moments::of(field.data.iter().map(|&v| f64::from(v))).variance()
}
