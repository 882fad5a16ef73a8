//! Instruction-set levels: detected once, handed down as a value, never assumed.
//!
//! A [`Level`] can only be had by detection, so holding one proves that the machine has it; that is what makes the
//! `unsafe` calls of [`multiversion!`](crate::simd) sound. Kernels take the level as an argument, so tests and
//! benches can walk over [`Level::available`].
#![allow(unsafe_code)] // the dispatch below: a call into a `target_feature` function, guarded by a detected level

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

use core::fmt;
use core::str::FromStr;

/// What a level is made of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Isa {
    /// Whatever the compiler's baseline target gives; no intrinsics.
    Scalar,
    /// x86-64 baseline intrinsics.
    Sse2,
    /// AVX2 with BMI1 and BMI2 (never FMA: its rounding differs).
    Avx2,
    /// AVX-512 F, BW, VL, DQ.
    Avx512,
}

/// An instruction-set level that this machine has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Level(Isa);

impl Level {
    /// The level every machine has.
    pub const SCALAR: Level = Level(Isa::Scalar);

    /// Every level of this machine, lowest first.
    pub fn available() -> &'static [Level] {
        const ALL: [Level; 4] = [Level(Isa::Scalar), Level(Isa::Sse2), Level(Isa::Avx2), Level(Isa::Avx512)];
        let best = Level::best();
        let n = ALL.iter().filter(|l| **l <= best).count();
        &ALL[..n]
    }

    /// The highest level of this machine.
    pub fn best() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq");
            match (avx512, avx2) {
                (true, _) => Level(Isa::Avx512),
                (false, true) => Level(Isa::Avx2),
                (false, false) => Level(Isa::Sse2),
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Level::SCALAR
    }

    /// The level with the given instruction set, if this machine has it.
    pub fn of(isa: Isa) -> Option<Level> {
        (Level(isa) <= Level::best()).then_some(Level(isa))
    }

    /// Its instruction set.
    pub fn isa(self) -> Isa {
        self.0
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Isa::Scalar => "scalar",
            Isa::Sse2 => "sse2",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        })
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The text was not `scalar`, `sse2`, `avx2` or `avx512`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IsaError;

impl fmt::Display for IsaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a level is scalar, sse2, avx2 or avx512")
    }
}

impl core::error::Error for IsaError {}

impl FromStr for Isa {
    type Err = IsaError;
    fn from_str(s: &str) -> Result<Isa, IsaError> {
        [Isa::Scalar, Isa::Sse2, Isa::Avx2, Isa::Avx512]
            .into_iter()
            .find(|i| i.to_string() == s)
            .ok_or(IsaError)
    }
}

/// Compiles one plain body for every level and picks by the level handed in.
///
/// `multiversion! { /// doc  pub fn add(level, row: &mut [u8], n: &[u16]) = add_body; }` makes `add(level, ...)`,
/// which calls `add_body` (an `#[inline(always)]` function) compiled with that level's instructions.
macro_rules! multiversion {
    ($($(#[$meta:meta])* $vis:vis fn $name:ident($level:ident $(, $arg:ident: $ty:ty)* $(,)?) $(-> $ret:ty)? = $body:path;)+) => {$(
        $(#[$meta])*
        #[allow(unsafe_code, clippy::too_many_arguments)]
        $vis fn $name($level: $crate::simd::Level $(, $arg: $ty)*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
                fn avx2($($arg: $ty),*) $(-> $ret)? { $body($($arg),*) }
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,popcnt,lzcnt")]
                fn avx512($($arg: $ty),*) $(-> $ret)? { $body($($arg),*) }
                match $level.isa() {
                    // SAFETY: a `Level` is made by detection only, so the machine has these instructions.
                    $crate::simd::Isa::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    $crate::simd::Isa::Avx2 => return unsafe { avx2($($arg),*) },
                    _ => {}
                }
            }
            let _ = $level;
            $body($($arg),*)
        }
    )+};
}
pub(crate) use multiversion;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_in_order_and_start_at_scalar() {
        let all = Level::available();
        assert_eq!(all[0], Level::SCALAR);
        assert!(all.is_sorted());
        assert_eq!(all.last(), Some(&Level::best()));
    }

    #[inline(always)]
    fn sum_body(v: &[u16]) -> u32 {
        v.iter().map(|&x| u32::from(x)).sum()
    }
    multiversion! { fn sum(level, v: &[u16]) -> u32 = sum_body; }

    #[test]
    fn dispatch_reaches_every_level() {
        let v: Vec<u16> = (0..1000).collect();
        for &level in Level::available() {
            assert_eq!(sum(level, &v), 499_500, "{level}");
        }
    }
}
