//! The 31-bit shift register of Avery Lee's article "Fast noise", with eight lanes and random access.
//!
//! # The generator
//!
//! One bit at a time the register is `x' = (x << 1) | (bit 27 ^ bit 30)`: the new bit b(t) is b(t-28) ^ b(t-31), of the
//! primitive polynomial x^31 + x^28 + 1. The next sixteen bits depend only on existing bits, so they are made at once:
//!
//! ```text
//! x' = (x << 16) + (((x >> 12) ^ (x >> 15)) & 0xffff)         output word = low half of x'
//! ```
//!
//! 31 of the 32 bits are used: bit 31 is shifted out by the next step and is not read, so states are compared under the
//! mask 2^31 - 1, and a state that is zero under that mask stays zero. See [`step`].
//!
//! # Split halves
//!
//! A vector holds eight registers as two vectors of sixteen-bit halves, so that the shift by 16 and the output cost
//! nothing: the old low halves *are* the new high halves.
//!
//! ```text
//! t = hi << 1;   lo' = (t ^ (lo >> 12)) ^ ((hi << 4) ^ (lo >> 15));   hi' = lo
//! ```
//!
//! `hi << 1` needs no mask: the bit that a mask would clear is the redundant one.
//!
//! # Lag form
//!
//! Over GF(2) a polynomial p has p(x)^16 = p(x^16), so the recurrence with lags of 28 and 31 bits also holds for whole
//! 16-bit words: `w[n] = w[n-28] ^ w[n-31]`, lane by lane. After the first 31 steps, a row needs two loads and one XOR
//! per vector at any register width, and 28 steps do not depend on each other. The first 31 steps are made in a few
//! rounds by the same rule with smaller lags (28 and 31 times 1, 2, 4, 8 bits), so that no step depends on the step
//! before, as in split halves. In measurements this is faster at every width, including 128 bits; split halves remain
//! as the reference and for rows of less than 31 steps.
//!
//! # Seeking
//!
//! The step is a linear map M of the state, so position n is `s0 * M^n` ([`crate::gf2`]). Positions are exact integers,
//! reduced modulo the period 2^31 - 1, and no row, tile or frame is reached by stepping. Eight lanes share a row as
//! eight adjacent portions of the cycle: lane i starts L steps after lane i-1, where L is the number of steps of a row.
//!
//! # Limits
//!
//! The generator is short and linear: it fails tests of matrix rank and of low-weight parity, and `w[n] = w[n - 28 *
//! 2^j] ^ w[n - 31 * 2^j]` holds for every j. This is invisible in noise of a few code values; filters that sum noise
//! along rows use the stream with a longer period, [`xs64`](super::xs64).
//!
//! Keyed rows are pieces of the one cycle of 2^31 - 1 words, at hashed positions, so some of them overlap: of rows of a
//! and b words a pair in 2^31 / (a + b). In a frame of 1080p in 4:2:0 with one word per pixel, about three of the 2.3
//! million pairs share a part of their words, at other columns. This, too, is invisible.

mod arch;
mod fill;
mod position;
#[cfg(test)]
mod tests;

pub use fill::{Lanes, fill, fill_halves, fill_lag};
pub use position::{Frame31, Lfsr31};

use super::distribution::{self, Distribution};
use super::{CycleStart, Shape, ShapeError};

/// The number of lanes.
pub const LANES: usize = 8;

/// One step of one register: the reference. The output is the low half of the returned state.
#[inline(always)]
pub const fn step(x: u32) -> u32 {
    (x << 16).wrapping_add(((x >> 12) ^ (x >> 15)) & 0xffff)
}

/// The words of one pixel's lane from step `steps` of its row on, in closed form, without making other pixels.
/// [`noise_at`] documents which words belong to a pixel.
#[allow(clippy::too_many_arguments)]
pub fn word_at(
    shape: &Shape,
    origin: CycleStart,
    frame: i64,
    plane: usize,
    y: u32,
    lane: u32,
    steps: u64,
) -> Result<u16, ShapeError> {
    let state = position::closed_form(shape, origin.state()?, frame, plane, y, lane.into(), steps);
    Ok(step(state) as u16)
}

/// The noise of one pixel in closed form: the centred number c ([`distribution`]) that the `noise` filter scales to its
/// strength. It equals the number from filling a row, and is slow: four matrix products per word.
///
/// Pixel x takes the words of lane x mod 8: k of them from step k * (x / 8) on, or for H8 the eight from step 8 * (x /
/// 64) on, of whose transform it takes slot (x / 8) mod 8.
pub fn noise_at(shape: &Shape, seed: u64, frame: i64, plane: usize, x: u32, y: u32) -> i16 {
    let lane = x % LANES as u32;
    let word = |steps: u64| match word_at(shape, CycleStart::Seed(seed), frame, plane, y, lane, steps) {
        Ok(word) => word,
        Err(e) => unreachable!("a seed always gives a state: {e}"),
    };
    match shape.distribution() {
        Distribution::Sum(k) => {
            let mut words = [0; distribution::MAX_SAMPLES as usize];
            let words = &mut words[..k as usize];
            let first = u64::from(k) * u64::from(x / LANES as u32);
            words.iter_mut().zip(first..).for_each(|(w, steps)| *w = word(steps));
            distribution::centred(words)
        }
        Distribution::H8 => {
            let first = 8 * u64::from(x / (8 * LANES as u32));
            distribution::h8(core::array::from_fn(|q| word(first + q as u64)))[x as usize / LANES % 8]
        }
    }
}
