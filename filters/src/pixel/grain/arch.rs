//! Which kernel by hand does a row.
#![allow(unsafe_code)] // calls into functions of a level, which was detected

use super::apply::Job;
use super::finish::{Codes, Sources};
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

/// Calls a kernel for the sources' reach; `true`.
#[cfg(target_arch = "x86_64")]
macro_rules! by_reach {
    ($sources:ident, $kernel:path, $args:tt) => {{
        use $kernel as kernel;
        let fresh = match (&$sources.fresh, $sources.across.reach()) {
            (None, _) => 0,
            (_, 2) => 2,
            _ => 1,
        };
        // SAFETY: a `Level` is made by detection only, so the machine has these instructions.
        unsafe {
            match (fresh, $sources.down.reach() == 2) {
                (0, false) => kernel::<0, false> $args,
                (1, false) => kernel::<1, false> $args,
                (_, false) => kernel::<2, false> $args,
                (0, true) => kernel::<0, true> $args,
                (1, true) => kernel::<1, true> $args,
                (_, true) => kernel::<2, true> $args,
            }
        }
        true
    }};
}

/// Grain made of its sources and added, by a table of codes.
pub(super) fn finish_codes(
    level: Level,
    row: &mut [u8],
    light: Option<&[u8]>,
    sources: &mut Sources<'_>,
    codes: &Codes,
    legal: (u8, u8),
) -> bool {
    match level.isa() {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if is_x86_feature_detected!("avx512vbmi") => {
            by_reach!(sources, super::avx512::finish_codes, (row, light, sources, codes, legal))
        }
        _ => {
            let _ = (row, light, sources, codes, legal);
            false
        }
    }
}

/// The same by the nodes of the response.
pub(super) fn finish_u8(
    level: Level,
    row: &mut [u8],
    light: Option<&[u8]>,
    sources: &mut Sources<'_>,
    job: &Job<'_>,
    legal: (u8, u8),
) -> bool {
    match level.isa() {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 | Isa::Avx2 => {
            by_reach!(sources, super::avx2::finish_u8, (row, light, sources, job, legal))
        }
        _ => {
            let _ = (row, light, sources, job, legal);
            false
        }
    }
}

/// As [`finish_u8`], of deeper samples.
pub(super) fn finish_u16(
    level: Level,
    row: &mut [u16],
    light: Option<&[u16]>,
    sources: &mut Sources<'_>,
    job: &Job<'_>,
    legal: (u16, u16),
) -> bool {
    match level.isa() {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => by_reach!(sources, super::avx512::finish_u16, (row, light, sources, job, legal)),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => by_reach!(sources, super::avx2::finish_u16, (row, light, sources, job, legal)),
        _ => {
            let _ = (row, light, sources, job, legal);
            false
        }
    }
}

/// Means of two by two samples of as much of two rows as a kernel by hand can do; says how many that were.
pub(super) fn mean_u8(level: Level, out: &mut [u8], upper: &[u8], lower: &[u8]) -> usize {
    match level.isa() {
        // SAFETY: a `Level` is made by detection only, so the machine has these instructions.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { super::mean_x86::u8_avx512(out, upper, lower) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { super::mean_x86::u8_avx2(out, upper, lower) },
        _ => {
            let _ = (out, upper, lower);
            0
        }
    }
}

/// Means of two by two samples of as much of two rows as a kernel by hand can do; says how many that were.
pub(super) fn mean_u16(level: Level, out: &mut [u16], upper: &[u16], lower: &[u16]) -> usize {
    match level.isa() {
        // SAFETY: a `Level` is made by detection only, so the machine has these instructions.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { super::mean_x86::u16_avx512(out, upper, lower) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { super::mean_x86::u16_avx2(out, upper, lower) },
        _ => {
            let _ = (out, upper, lower);
            0
        }
    }
}
