//! Drawing the parameters of many particles at once.

use super::births::BLOCK;
use super::kind::Spread;
use super::random::step;
use crate::simd::{Level, multiversion};

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
    fn draw_block(level, spreads: &[Spread], bits: &mut [u32; BLOCK], out: &mut [[f32; BLOCK]]) = draw_block_body;
}

#[inline(always)]
fn draw_block_body(spreads: &[Spread], bits: &mut [u32; BLOCK], out: &mut [[f32; BLOCK]]) {
    for (s, row) in spreads.iter().zip(out) {
        draw(*s, bits, row);
    }
}

/// One parameter of all particles.
#[inline(always)]
pub(super) fn draw(s: Spread, bits: &mut [u32; BLOCK], row: &mut [f32; BLOCK]) {
    for (bits, out) in bits.iter_mut().zip(row) {
        let r = step(*bits);
        *bits = r.to_bits();
        *out = s.base + r * s.offset;
    }
}

#[cfg(test)]
mod tests {
    use super::super::kind::{Kind, STANDARD};
    use super::super::random::mix32;
    use super::*;
    use crate::fixed;
    use proptest::prelude::*;

    fn kind(seed: u32, extra: usize) -> Kind {
        let mut draws = super::super::random::Draws::of(seed);
        let mut spread = || Spread { base: draws.draw() * 100.0, offset: draws.draw() * 50.0 };
        let standard = core::array::from_fn::<_, STANDARD, _>(|_| spread());
        Kind::new(standard, (0..extra).map(|_| spread()).collect()).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, ..fixed(2) })]

        #[test]
        fn every_level_draws_the_same(seeds in prop::array::uniform::<_, BLOCK>(any::<u32>()), extra in 0usize..20, k: u32) {
            let kind = kind(k, extra);
            for &level in Level::available() {
                let mut bits = seeds.map(mix32);
                let mut out = vec![[0.0; BLOCK]; kind.count()];
                let (standard, own) = out.split_at_mut(STANDARD);
                continue_draws(level, kind.standard(), &mut bits, standard);
                continue_draws(level, kind.extra(), &mut bits, own);
                for (i, &seed) in seeds.iter().enumerate() {
                    for (p, value) in kind.values(seed).enumerate() {
                        prop_assert_eq!(value.to_bits(), out[p][i].to_bits(), "{} {} {}", level, i, p);
                    }
                }
            }
        }
    }
}
