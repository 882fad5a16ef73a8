//! Drawing the parameters of many particles at once.

use super::births::BLOCK;
use super::kind::{Kind, Spread};
use super::random::{mix32, step};
use crate::simd::{Level, multiversion};

/// Particles drawn side by side: each draw waits for the one before it, so more of them than a block hide the wait.
const CHUNK: usize = 128;

/// The parameters of every seed, parameter by parameter: value p of particle i goes to `out[p * seeds.len() + i]`.
/// The same as [`Kind::values`] of each.
///
/// # Panics
/// When `out` does not hold `kind.count() * seeds.len()` values.
pub fn regenerate(level: Level, kind: &Kind, seeds: &[u32], out: &mut [f32]) {
    assert_eq!(out.len(), kind.count() * seeds.len(), "room for every parameter of every particle");
    draw_rows(level, kind, seeds, out);
}

/// Goes on with the sequences `bits` (as [`Placed::bits`](super::Placed) leaves them) through `spreads`, one row of
/// `out` each, and leaves them behind the last: a kind's own parameters, for a block that was placed.
///
/// # Panics
/// When `out` has fewer rows than there are spreads.
pub fn continue_draws(level: Level, spreads: &[Spread], bits: &mut [u32; BLOCK], out: &mut [[f32; BLOCK]]) {
    assert!(out.len() >= spreads.len(), "a row for every parameter");
    draw_block(level, spreads, bits, out);
}

multiversion! {
    fn draw_rows(level, kind: &Kind, seeds: &[u32], out: &mut [f32]) = draw_rows_body;
    fn draw_block(level, spreads: &[Spread], bits: &mut [u32; BLOCK], out: &mut [[f32; BLOCK]]) = draw_block_body;
}

#[inline(always)]
fn draw_rows_body(kind: &Kind, seeds: &[u32], out: &mut [f32]) {
    let n = seeds.len();
    let (blocks, tail) = seeds.as_chunks::<CHUNK>();
    let spreads = || kind.standard().iter().chain(kind.extra()).enumerate();
    for (i, seeds) in blocks.iter().enumerate() {
        let mut bits = seeds.map(mix32);
        for (p, s) in spreads() {
            if let Some(row) = out[p * n + i * CHUNK..].first_chunk_mut::<CHUNK>() {
                draw(s, &mut bits, row);
            }
        }
    }
    for (i, seed) in tail.iter().enumerate() {
        let mut bits = [mix32(*seed)];
        for (p, s) in spreads() {
            draw(s, &mut bits, &mut out[p * n + blocks.len() * CHUNK + i..]);
        }
    }
}

#[inline(always)]
fn draw_block_body(spreads: &[Spread], bits: &mut [u32; BLOCK], out: &mut [[f32; BLOCK]]) {
    for (s, row) in spreads.iter().zip(out) {
        draw(s, bits, row);
    }
}

#[inline(always)]
fn draw(s: &Spread, bits: &mut [u32], row: &mut [f32]) {
    let s = *s;
    for (bits, out) in bits.iter_mut().zip(row) {
        let r = step(*bits);
        *bits = r.to_bits();
        *out = s.base + r * s.offset;
    }
}

#[cfg(test)]
mod tests {
    use super::super::kind::STANDARD;
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    fn kind(seed: u32, extra: usize) -> Kind {
        let mut draws = super::super::random::Draws::of(seed);
        let mut spread = || Spread { base: draws.draw() * 100.0, offset: draws.draw() * 50.0 };
        let standard = core::array::from_fn::<_, STANDARD, _>(|_| spread());
        Kind::new(standard, (0..extra).map(|_| spread()).collect()).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 256,
            rng_seed: RngSeed::Fixed(2),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn every_level_draws_the_same(seeds in prop::collection::vec(any::<u32>(), 0..200), extra in 0usize..20, k: u32) {
            let kind = kind(k, extra);
            for &level in Level::available() {
                let mut out = vec![0.0; kind.count() * seeds.len()];
                regenerate(level, &kind, &seeds, &mut out);
                for (i, &seed) in seeds.iter().enumerate() {
                    for (p, value) in kind.values(seed).enumerate() {
                        prop_assert_eq!(value.to_bits(), out[p * seeds.len() + i].to_bits(), "{} {} {}", level, i, p);
                    }
                }
            }
        }
    }

    #[test]
    fn going_on_is_drawing_through() {
        let kind = kind(3, 5);
        let seeds: [u32; BLOCK] = core::array::from_fn(|i| i as u32 * 7);
        for &level in Level::available() {
            let mut bits = seeds.map(mix32);
            let mut out = [[0.0; BLOCK]; STANDARD];
            continue_draws(level, kind.standard(), &mut bits, &mut out);
            let mut more = [[0.0; BLOCK]; 5];
            continue_draws(level, kind.extra(), &mut bits, &mut more);
            for (j, &seed) in seeds.iter().enumerate() {
                let want: Vec<f32> = kind.values(seed).collect();
                let got: Vec<f32> = out.iter().chain(&more).map(|row| row[j]).collect();
                assert_eq!(got, want);
            }
        }
    }
}
