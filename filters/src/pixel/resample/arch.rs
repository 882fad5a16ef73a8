//! Which kernel by hand does a row; each says how many samples it has done.
#![allow(unsafe_code)] // calls into functions of a level, which was detected

use super::level::{Quads, narrow};
use super::rows::{Pass, shift};
use super::warp::{Patch, Phases, SampleLine};
use crate::simd::Level;

#[cfg(target_arch = "x86_64")]
use super::{level_x86, walk_x86};
#[cfg(target_arch = "x86_64")]
use crate::simd::Isa;

macro_rules! dispatch {
    ($t:ty, $walk:ident, $four:ident, $two:ident, $down:ident, $along:ident, $windows:ident) => {
        /// Samples along a walk, whose windows are all there.
        pub(super) fn $walk(
            level: Level,
            out: &mut [$t],
            from: &Patch<'_, $t>,
            walk: SampleLine,
            by: (&Phases<i32>, &Phases<i32>),
        ) -> usize {
            #[cfg(target_arch = "x86_64")]
            if level.isa() >= Isa::Avx2 {
                let (second, top) = shift(from.bits, Pass::Narrow);
                let from = walk_x86::From {
                    samples: from.samples,
                    stride: from.stride,
                    shifts: (shift(from.bits, Pass::Widen).0, second),
                    top: top as u16,
                };
                // SAFETY: a `Level` is made by detection only, so the machine has these instructions.
                return unsafe {
                    match (by.0.taps, by.1.taps) {
                        (4, 4) => walk_x86::$four(out, &from, walk, by),
                        (2, 2) => walk_x86::$two(out, &from, walk, by),
                        _ => 0,
                    }
                };
            }
            let _ = (level, out, from, walk, by);
            0
        }

        /// Rows, weighed and rounded to what stands between two passes.
        pub(super) fn $down(level: Level, out: &mut [u16], rows: &[&[$t]], w: &[i32], bits: u8) -> usize {
            #[cfg(target_arch = "x86_64")]
            if level.isa() >= Isa::Avx2
                && let Some((w, n)) = narrow(w)
            {
                // SAFETY: as above.
                return unsafe { level_x86::$down(out, rows, &w[..n], shift(bits, Pass::Widen).0) };
            }
            let _ = (level, out, rows, w, bits, narrow);
            0
        }

        /// A row and its neighbours, weighed and rounded to samples.
        pub(super) fn $along(level: Level, out: &mut [$t], row: &[u16], w: &[i32], bits: u8) -> usize {
            #[cfg(target_arch = "x86_64")]
            if level.isa() >= Isa::Avx2
                && let Some((w, n)) = narrow(w)
            {
                let (by, top) = shift(bits, Pass::Narrow);
                // SAFETY: as above.
                return unsafe { level_x86::$along(out, row, &w[..n], by, top as u16) };
            }
            let _ = (level, out, row, w, bits);
            0
        }

        /// Windows of four, weighed and rounded to samples.
        pub(super) fn $windows(level: Level, out: &mut [$t], row: &[u16], quads: &Quads, bits: u8) -> usize {
            #[cfg(target_arch = "x86_64")]
            if level.isa() >= Isa::Avx2 {
                let (by, top) = shift(bits, Pass::Narrow);
                // SAFETY: as above.
                return unsafe { level_x86::$windows(out, row, quads, by, top as u16) };
            }
            let _ = (level, out, row, quads, bits);
            0
        }
    };
}

dispatch!(u8, walk_u8, four_u8, two_u8, down_u8, along_u8, windows_u8);
dispatch!(u16, walk_u16, four_u16, two_u16, down_u16, along_u16, windows_u16);
