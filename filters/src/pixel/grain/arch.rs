//! Which kernel by hand does a row.
#![allow(unsafe_code)] // calls into functions of a level, which was detected

use super::apply::Job;
use crate::simd::{Isa, Level};

/// Does as much of a row as a kernel by hand can; returns how many samples that were.
pub(super) fn add_u8(
    level: Level,
    row: &mut [u8],
    light: Option<&[u8]>,
    n: &[i16],
    job: &Job<'_>,
    (lo, hi): (u8, u8),
) -> usize {
    match level.isa() {
        // SAFETY: a `Level` is made by detection only, so the machine has these instructions.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { super::avx512::add_u8(row, light, n, job, lo, hi) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { super::avx2::add_u8(row, light, n, job, lo, hi) },
        _ => 0,
    }
}

/// As [`add_u8`], of deeper samples.
pub(super) fn add_u16(
    level: Level,
    row: &mut [u16],
    light: Option<&[u16]>,
    n: &[i16],
    job: &Job<'_>,
    (lo, hi): (u16, u16),
) -> usize {
    match level.isa() {
        // SAFETY: a `Level` is made by detection only, so the machine has these instructions.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { super::avx512::add_u16(row, light, n, job, lo, hi) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { super::avx2::add_u16(row, light, n, job, lo, hi) },
        _ => 0,
    }
}
