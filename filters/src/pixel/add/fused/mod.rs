//! Uniform noise of `lfsr31` made and added in one pass, in the level's own registers.
//!
//! Filling a row with words and then adding them moves each word through the first cache twice, which costs more than
//! an 8-bit plane's whole trip through memory. Here the last 32 steps stay in registers or on the stack, and a word goes
//! from the XOR that makes it straight into the multiplication.
//!
//! What comes out is, bit for bit, what [`lfsr31::fill`](crate::noise::lfsr31::fill) and the kernels of
//! [`add`](super) give. There is no way for noise of more than 8191 codes, and none for 8-bit samples but where the noise
//! is the high byte of a 16-bit number ([`Scale`]); then, as at the scalar level, the two passes are taken.
#![allow(unsafe_code)] // calls guarded by a detected level; loads and stores are in the files below

/// Writes the body once for each number, as a constant: places in a ring are then known when compiling.
#[cfg(target_arch = "x86_64")]
macro_rules! unrolled {
    ($i:ident in $($n:literal)+ $body:block) => {$({
        #[allow(non_upper_case_globals)]
        const $i: usize = $n;
        $body
    })+};
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod sse2;

use super::Scale;
use super::scale::BYTE_SHIFT;
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

/// Calls `one` with `N` samples and their numbers at a time; the last with a copy that is filled up.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn by_vectors<T: Copy + Default, const N: usize>(row: &mut [T], c: &[u16], one: impl Fn(*mut T, *const u16)) {
    let n = row.len().min(c.len());
    let mut rows = row[..n].chunks_exact_mut(N);
    let mut cs = c[..n].chunks_exact(N);
    for (x, c) in (&mut rows).zip(&mut cs) {
        one(x.as_mut_ptr(), c.as_ptr());
    }
    let (x, c) = (rows.into_remainder(), cs.remainder());
    if !x.is_empty() {
        let (mut samples, mut numbers) = ([T::default(); N], [0; N]);
        samples[..x.len()].copy_from_slice(x);
        numbers[..c.len()].copy_from_slice(c);
        one(samples.as_mut_ptr(), numbers.as_ptr());
        x.copy_from_slice(&samples[..x.len()]);
    }
}

macro_rules! dispatch {
    ($level:expr, $sse2:ident $avx2:ident $avx512:ident $(/ $vbmi:ident)?, $args:tt) => {
        match $level.isa() {
            // SAFETY: a `Level` is made by detection only, so the machine has these instructions, and the one more is
            // asked for on the spot.
            $(#[cfg(target_arch = "x86_64")]
            Isa::Avx512 if is_x86_feature_detected!("avx512vbmi") => unsafe { avx512::$vbmi $args },)?
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { avx512::$avx512 $args },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => unsafe { avx2::$avx2 $args },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Sse2 => unsafe { sse2::$sse2 $args },
            _ => return false,
        }
    };
}

/// Adds uniform noise, from `lanes` on, to a row of 8-bit samples, as [`add_u8`](super::add_u8). `false`, and nothing
/// done, where there is no fused way.
#[inline]
pub fn add_uniform_u8(level: Level, row: &mut [u8], lanes: &Lanes, scale: Scale, legal: (u8, u8)) -> bool {
    let Some(job) = Job::bytes(scale, legal) else { return false };
    dispatch!(level, bytes bytes bytes / bytes_vbmi, (row, lanes, job));
    true
}

/// The same for samples of 9 to 16 bits, as [`add_u16`](super::add_u16).
#[inline]
pub fn add_uniform_u16(
    level: Level,
    row: &mut [u16],
    lanes: &Lanes,
    scale: Scale,
    legal: (u16, u16),
) -> bool {
    let Some(job) = Job::words(scale, legal) else { return false };
    dispatch!(level, words words words, (row, lanes, job));
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
    dispatch!(level, add_bytes add_bytes add_bytes / add_bytes_vbmi, (row, c, or, job));
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
    dispatch!(level, add_words add_words add_words, (row, c, or, job));
    true
}

#[cfg(test)]
mod tests;
