//! The seeds of a segment's frames, in closed form.

use super::DEFAULT_SEED;

/// The increment of libaom's seed from frame to frame.
const STEP: u16 = 3381;
/// Its inverse modulo 65536.
const INVERSE: u16 = {
    // Newton's iteration doubles the correct bits; an odd number is its own inverse in three.
    let mut inverse = STEP;
    let mut i = 0;
    while i < 4 {
        inverse = inverse.wrapping_mul(2u16.wrapping_sub(STEP.wrapping_mul(inverse)));
        i += 1;
    }
    inverse
};

/// The number of steps from a seed until the sequence would reach 0: 1 to 65536.
const fn steps_to_zero(seed: u16) -> u64 {
    let steps = 0u16.wrapping_sub(seed).wrapping_mul(INVERSE) as u64;
    if steps == 0 { 65536 } else { steps }
}

/// The seed of the `n`th frame after one with `seed`. Each seed is 3381 more than the one before; a result of 0 is
/// replaced by [`DEFAULT_SEED`], as in libaom.
pub const fn seed_of_frame(seed: u16, n: u64) -> u16 {
    let first = steps_to_zero(seed);
    let (seed, n) =
        if n < first { (seed, n) } else { (DEFAULT_SEED, (n - first) % steps_to_zero(DEFAULT_SEED)) };
    seed.wrapping_add((n as u16).wrapping_mul(STEP))
}
