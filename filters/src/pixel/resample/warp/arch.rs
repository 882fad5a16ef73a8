//! Selects the hand-written kernel of a level for a row; each function returns the number of samples that it
//! has processed.
#![allow(unsafe_code)] // calls into functions of a level, which was detected

use super::{Patch, Phases, SampleLine};
use crate::pixel::convert::CodeSample;
use crate::pixel::resample::level::{Groups, Octets};
use crate::simd::Level;

#[cfg(target_arch = "x86_64")]
use super::walk_x86;
#[cfg(target_arch = "x86_64")]
use crate::pixel::resample::{
    level_x86,
    rows::{Pass, shift},
};
#[cfg(target_arch = "x86_64")]
use crate::simd::Isa;

/// The samples along a walk whose windows are all inside.
pub(super) fn walk<T: CodeSample>(
    level: Level,
    out: &mut [T],
    from: &Patch<'_, T>,
    walk: SampleLine,
    by: (&Phases<i32>, &Phases<i32>),
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if level.isa() >= Isa::Avx2 {
        let (second, top) = shift::<T>(from.bits, Pass::Narrow);
        let from = walk_x86::From {
            samples: from.samples,
            stride: from.stride,
            shifts: (shift::<T>(from.bits, Pass::Widen).0, second),
            top: top as u16,
        };
        // SAFETY: a `Level` is made by detection only, so the machine has these instructions.
        return unsafe {
            match (by.0.taps, by.1.taps) {
                (4, 4) => walk_x86::four(out, &from, walk, by),
                (2, 2) => walk_x86::two(out, &from, walk, by),
                _ => 0,
            }
        };
    }
    let _ = (level, out, from, walk, by);
    0
}

/// Windows of four, weighed and rounded to samples.
pub(super) fn windows<T: CodeSample>(
    level: Level,
    out: &mut [T],
    row: &[u16],
    groups: &Groups,
    bits: u8,
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if level.isa() >= Isa::Avx2 {
        let (by, top) = shift::<T>(bits, Pass::Narrow);
        // SAFETY: as above.
        return unsafe { level_x86::windows(out, row, groups, by, top as u16) };
    }
    let _ = (level, out, row, groups, bits);
    0
}

/// Windows of multiples of eight, weighed and rounded to samples.
pub(super) fn long_windows<T: CodeSample>(
    level: Level,
    out: &mut [T],
    row: &[u16],
    octets: &Octets,
    bits: u8,
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if level.isa() >= Isa::Avx2 {
        let (by, top) = shift::<T>(bits, Pass::Narrow);
        // SAFETY: as above.
        return unsafe { level_x86::long_windows(out, row, octets, by, top as u16) };
    }
    let _ = (level, out, row, octets, bits);
    0
}
