//! Uniform and Gaussian noise of `lfsr31` made and added in one pass, in the level's own registers.
//!
//! Filling a row with words and then adding them moves each word through the first cache twice, which costs more than
//! an 8-bit plane's whole trip through memory. Here the last 32 steps stay in registers or on the stack, and a word goes
//! from the XOR that makes it straight into the multiplication.
//!
//! What comes out is, bit for bit, what [`lfsr31::fill`](crate::noise::lfsr31::fill) and the kernels of
//! [`add`](super) give. There is no way for noise of more than 8191 codes, and none for 8-bit samples but where the noise
//! is the high byte of a 16-bit number ([`Scale`]); then, as at the scalar level, the two passes are taken.
#![allow(unsafe_code)] // calls guarded by a detected level; loads and stores are in the files below

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod kernels;
#[cfg(target_arch = "x86_64")]
mod sse2;

use super::Scale;
use super::scale::BYTE_SHIFT;
use crate::noise::Law;
use crate::noise::lfsr31::Lanes;
use crate::simd::{Isa, Level};

/// How many bytes ahead of the samples that are being changed memory is asked for.
const AHEAD: usize = 3072;

/// What a kernel needs to know beside the samples and the lanes.
#[derive(Clone, Copy)]
struct Job<T> {
    gain: i16,
    /// For 16-bit samples: 2^(shift-1) and shift, of a high product.
    round: i16,
    shift: u32,
    lo: T,
    hi: T,
}

impl Job<u8> {
    /// `None` where the noise is not the high byte of a 16-bit number.
    #[inline]
    fn bytes(scale: Scale, (lo, hi): (u8, u8)) -> Option<Job<u8>> {
        let (gain, shift) = scale.parts();
        (shift == BYTE_SHIFT).then_some(Job { gain, round: 128, shift: 8, lo, hi })
    }
}

impl Job<u16> {
    /// `None` for noise of more than 8191 codes.
    #[inline]
    fn words(scale: Scale, (lo, hi): (u16, u16)) -> Option<Job<u16>> {
        let (gain, shift) = scale.parts();
        // Samples and bounds are moved by 2^15 to fit signed lanes.
        scale.narrow().then(|| Job {
            gain,
            round: 1 << (shift - 17),
            shift: shift - 16,
            lo: lo ^ 0x8000,
            hi: hi ^ 0x8000,
        })
    }
}

/// Calls a kernel of the level's file; elsewhere `false` is returned.
macro_rules! dispatch {
    ($level:expr, $kernel:ident $(::<$h8:literal>)?, $args:tt) => {
        match $level.isa() {
            // SAFETY: a `Level` is made by detection only, so the machine has these instructions, and the one more is
            // asked for on the spot.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 if is_x86_feature_detected!("avx512vbmi") => unsafe {
                avx512::vbmi::$kernel $(::<{ $h8 }>)? $args
            },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { avx512::$kernel $(::<{ $h8 }>)? $args },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => unsafe { avx2::$kernel $(::<{ $h8 }>)? $args },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Sse2 => unsafe { sse2::$kernel $(::<{ $h8 }>)? $args },
            _ => return false,
        }
    };
}

/// Adds noise of `lfsr31`, from `lanes` on, to a row of 8-bit samples, as filling, centring and
/// [`add_u8`](super::add_u8) would. `false`, and nothing done, where there is no fused way: for sums of several words,
/// at the scalar level, or for a scale that has none.
#[inline]
pub fn add_lfsr31_u8(
    level: Level,
    row: &mut [u8],
    lanes: &Lanes,
    law: Law,
    scale: Scale,
    legal: (u8, u8),
) -> bool {
    let Some(job) = Job::bytes(scale, legal) else { return false };
    match law {
        Law::UNIFORM => dispatch!(level, bytes::<false>, (row, lanes, job)),
        Law::H8 => dispatch!(level, bytes::<true>, (row, lanes, job)),
        Law::Sum(_) => return false,
    }
    true
}

/// The same for samples of 9 to 16 bits, as [`add_u16`](super::add_u16).
#[inline]
pub fn add_lfsr31_u16(
    level: Level,
    row: &mut [u16],
    lanes: &Lanes,
    law: Law,
    scale: Scale,
    legal: (u16, u16),
) -> bool {
    let Some(job) = Job::words(scale, legal) else { return false };
    match law {
        Law::UNIFORM => dispatch!(level, words::<false>, (row, lanes, job)),
        Law::H8 => dispatch!(level, words::<true>, (row, lanes, job)),
        Law::Sum(_) => return false,
    }
    true
}

/// Adds `c | or` where there is a way by hand.
#[inline]
pub(super) fn add_bytes(
    level: Level,
    row: &mut [u8],
    c: &[u16],
    or: i16,
    scale: Scale,
    legal: (u8, u8),
) -> bool {
    let Some(job) = Job::bytes(scale, legal) else { return false };
    dispatch!(level, add_bytes, (row, c, or, job));
    true
}

/// Adds `c | or` where there is a way by hand.
#[inline]
pub(super) fn add_words(
    level: Level,
    row: &mut [u16],
    c: &[u16],
    or: i16,
    scale: Scale,
    legal: (u16, u16),
) -> bool {
    let Some(job) = Job::words(scale, legal) else { return false };
    dispatch!(level, add_words, (row, c, or, job));
    true
}

#[cfg(test)]
mod tests;
