//! Instruction-set levels: detected once and passed as values.
//!
//! Only detection makes a [`Level`], so its existence proves that the machine supports it, which makes the
//! `unsafe` calls of [`multiversion!`](crate::simd) sound. Kernels take the level as an argument, so tests and
//! benches can iterate over [`Level::available`].
#![allow(unsafe_code)] // the dispatch below: a call into a `target_feature` function, guarded by a detected level

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) mod neon;
mod vector;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

pub(crate) use vector::Vector;

use core::fmt;
use core::str::FromStr;

/// The instruction sets of a level. A machine has some of them; the order is that of its levels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Isa {
    /// The compiler's baseline target; no intrinsics.
    Scalar,
    /// ARM64 baseline intrinsics, on little-endian systems.
    Neon,
    /// x86-64 baseline intrinsics.
    Sse2,
    /// AVX2 with BMI1, BMI2, POPCNT and LZCNT (never FMA: its rounding differs).
    Avx2,
    /// AVX-512 F, BW, VL, DQ.
    Avx512,
    /// The same and VBMI, which permutes bytes by a table.
    Avx512Vbmi,
}

/// All of them.
const ISAS: [Isa; 6] = [Isa::Scalar, Isa::Neon, Isa::Sse2, Isa::Avx2, Isa::Avx512, Isa::Avx512Vbmi];

/// An instruction-set level that this machine has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Level(Isa);

impl Level {
    /// The level every machine has.
    pub const SCALAR: Level = Level(Isa::Scalar);

    /// Every level of this machine, lowest first.
    pub fn available() -> &'static [Level] {
        #[cfg(target_arch = "x86_64")]
        const ALL: &[Level] =
            &[Level::SCALAR, Level(Isa::Sse2), Level(Isa::Avx2), Level(Isa::Avx512), Level(Isa::Avx512Vbmi)];
        #[cfg(not(target_arch = "x86_64"))]
        const ALL: &[Level] = &[Level::SCALAR, Level(Isa::Neon)];
        let best = Level::best();
        let n = ALL.iter().filter(|l| **l <= best).count();
        &ALL[..n]
    }

    /// The highest level of this machine.
    pub fn best() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            // All that the dispatch below compiles for.
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt")
                && is_x86_feature_detected!("lzcnt");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq");
            match (avx512, avx2) {
                (true, _) if is_x86_feature_detected!("avx512vbmi") => Level(Isa::Avx512Vbmi),
                (true, _) => Level(Isa::Avx512),
                (false, true) => Level(Isa::Avx2),
                (false, false) => Level(Isa::Sse2),
            }
        }
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        {
            Level(Isa::Neon)
        }
        #[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
        Level::SCALAR
    }

    /// The level with the given instruction set, if this machine has it.
    pub fn of(isa: Isa) -> Option<Level> {
        Level::available().iter().copied().find(|l| l.isa() == isa)
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
            Isa::Neon => "neon",
            Isa::Sse2 => "sse2",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
            Isa::Avx512Vbmi => "avx512vbmi",
        })
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The text was not `scalar`, `neon`, `sse2`, `avx2`, `avx512` or `avx512vbmi`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a level is scalar, neon, sse2, avx2, avx512 or avx512vbmi")]
pub struct IsaError;

impl FromStr for Isa {
    type Err = IsaError;
    fn from_str(s: &str) -> Result<Isa, IsaError> {
        ISAS.into_iter().find(|i| i.to_string() == s).ok_or(IsaError)
    }
}

/// Prefetches the memory at an address: a hint, so any address is allowed.
#[inline(always)]
pub(crate) fn prefetch_at<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch of any address is allowed, and SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Prefetches the memory of a value.
#[inline(always)]
pub(crate) fn prefetch<T>(it: &T) {
    for line in (0..size_of::<T>()).step_by(64) {
        prefetch_at(core::ptr::from_ref(it).wrapping_byte_add(line));
    }
}

/// The dispatch: compiles a body for every level and selects one by the level passed in.
///
/// `multiversion! { /// doc  pub fn add<T: Code>(level, row: &mut [T], n: &[u16]) = add_body; }` makes `add(level,
/// ...)`, which calls the plain `add_body` (an `#[inline(always)]` function) compiled with that level's instructions.
/// If the arguments do not determine its types, name them: `= add_body::<T>`.
///
/// `... -> usize => add_vectors;` takes a body written for vector registers, generic over [`Vector`], whose first
/// argument is a register as the witness that the machine supports it. On a level without registers it does nothing and
/// returns the default: no samples, `false`.
macro_rules! multiversion {
    ($($(#[$meta:meta])* $vis:vis fn $name:ident $(<$($t:ident: $bound:path),+>)?
        ($level:ident $(, $arg:ident: $ty:ty)* $(,)?) $(-> $ret:ty)? $(= $plain:path)? $(=> $vectors:path)?;)+) => {$(
        $(#[$meta])*
        #[allow(unsafe_code, unused_unsafe, clippy::too_many_arguments)]
        $vis fn $name $(<$($t: $bound),+>)? ($level: $crate::simd::Level $(, $arg: $ty)*) $(-> $ret)? {
            $crate::simd::multiversion! {
                @ [$(= $plain)? $(=> $vectors)?] $level [$($($t: $bound),+)?] ($($arg: $ty),*) ($(-> $ret)?)
            }
        }
    )+};
    (@ [= $body:path] $level:ident $generics:tt $args:tt $ret:tt) => {{
        #[cfg(target_arch = "x86_64")]
        {
            use $crate::simd::Isa;
            $crate::simd::multiversion! { @ fn avx2 "avx2,bmi1,bmi2,popcnt,lzcnt" $body; () $generics $args $ret }
            $crate::simd::multiversion! {
                @ fn avx512 "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,popcnt,lzcnt" $body; () $generics $args $ret
            }
            match $level.isa() {
                // SAFETY: detection of an AVX-512 level includes the features that `avx512` is compiled for.
                Isa::Avx512 | Isa::Avx512Vbmi => return unsafe { $crate::simd::multiversion!(@ call avx512 $generics $args) },
                // SAFETY: likewise for AVX2.
                Isa::Avx2 => return unsafe { $crate::simd::multiversion!(@ call avx2 $generics $args) },
                Isa::Sse2 | Isa::Neon | Isa::Scalar => {}
            }
        }
        let _ = $level;
        $crate::simd::multiversion!(@ call $body; $args)
    }};
    (@ [=> $body:path] $level:ident $generics:tt $args:tt $ret:tt) => {{
        #[cfg(target_arch = "x86_64")]
        {
            use $crate::simd::{Isa, x86};
            $crate::simd::multiversion! { @ fn sse2 "sse2" $body; (x86::Sse2) $generics $args $ret }
            $crate::simd::multiversion! { @ fn avx2 "avx2,bmi1,bmi2,popcnt,lzcnt" $body; (x86::Avx2) $generics $args $ret }
            $crate::simd::multiversion! {
                @ fn avx512 "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,popcnt,lzcnt"
                $body; (x86::Avx512) $generics $args $ret
            }
            $crate::simd::multiversion! {
                @ fn vbmi "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx2,bmi1,bmi2,popcnt,lzcnt"
                $body; (x86::Vbmi) $generics $args $ret
            }
            match $level.isa() {
                // SAFETY: detection of this level includes the features that `vbmi` is compiled for.
                Isa::Avx512Vbmi => return unsafe { $crate::simd::multiversion!(@ call vbmi $generics $args) },
                // SAFETY: likewise.
                Isa::Avx512 => return unsafe { $crate::simd::multiversion!(@ call avx512 $generics $args) },
                // SAFETY: likewise.
                Isa::Avx2 => return unsafe { $crate::simd::multiversion!(@ call avx2 $generics $args) },
                // SAFETY: SSE2 is part of x86-64.
                Isa::Sse2 => return unsafe { $crate::simd::multiversion!(@ call sse2 $generics $args) },
                Isa::Neon | Isa::Scalar => {}
            }
        }
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        {
            use $crate::simd::{Isa, neon};
            $crate::simd::multiversion! { @ fn with_neon "neon" $body; (neon::Neon) $generics $args $ret }
            if $level.isa() == Isa::Neon {
                // SAFETY: NEON is part of ARM64.
                return unsafe { $crate::simd::multiversion!(@ call with_neon $generics $args) };
            }
        }
        $crate::simd::multiversion!(@ unused $level $args);
        Default::default()
    }};
    (@ fn $name:ident $features:literal $body:path; ($($v:ty)?) [$($t:ident: $bound:path),*] ($($arg:ident: $ty:ty),*) ($($ret:tt)*)) => {
        #[target_feature(enable = $features)]
        fn $name<$($t: $bound),*>($($arg: $ty),*) $($ret)* {
            // SAFETY: the features of this function are those of its registers.
            $body($(unsafe { <$v>::witness() },)? $($arg),*)
        }
    };
    (@ call $of:ident [$($t:ident: $bound:path),*] ($($arg:ident: $ty:ty),*)) => { $of::<$($t),*>($($arg),*) };
    (@ call $of:path; ($($arg:ident: $ty:ty),*)) => { $of($($arg),*) };
    (@ unused $level:ident ($($arg:ident: $ty:ty),*)) => { let _ = ($level, $($arg),*); };
}
pub(crate) use multiversion;

#[cfg(test)]
mod tests;
