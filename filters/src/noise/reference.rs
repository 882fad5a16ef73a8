//! The noise of one pixel in closed form, for tests.

use super::distribution::{self, Distribution, MAX_SAMPLES};
use super::{CycleStart, Generator, Shape, lfsr31, xs64};

/// The noise of one pixel in closed form: the centred number c ([`distribution`]) that filters scale to their strength.
/// It equals the number of a filled row, and is slow: the reference.
///
/// Pixel x takes the words of lane x mod n of n: k of them from step k * (x / n) on, or for H8 the eight from step 8 * (x
/// / 8n) on, of whose transform it takes slot (x / n) mod 8.
pub(crate) fn noise_at(
    generator: Generator,
    shape: &Shape,
    seed: u64,
    (frame, plane): (i64, usize),
    x: u32,
    y: u32,
) -> i16 {
    let lanes = generator.lanes() as u32;
    let word = |steps: u32| match generator {
        Generator::Xs64 => xs64::word_at(seed, frame, plane, y, x % lanes, steps.into()),
        Generator::Lfsr31 => {
            let origin = CycleStart::Seed(seed);
            match lfsr31::word_at(shape, origin, frame, plane, y, x % lanes, steps.into()) {
                Ok(word) => word,
                Err(e) => unreachable!("a seed always gives a state: {e}"),
            }
        }
    };
    match shape.distribution() {
        Distribution::Sum(k) => {
            let mut words = [0; MAX_SAMPLES as usize];
            let words = &mut words[..k as usize];
            words.iter_mut().zip(k * (x / lanes)..).for_each(|(w, steps)| *w = word(steps));
            distribution::centred(words)
        }
        Distribution::H8 => {
            let first = 8 * (x / (8 * lanes));
            distribution::h8(core::array::from_fn(|q| word(first + q as u32)))[(x / lanes % 8) as usize]
        }
    }
}
