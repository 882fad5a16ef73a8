//! The dispatch to instruction sets, and prefetching: small forms of those of the filters crate, which are private.
#![allow(unsafe_code)] // calls into `target_feature` functions, guarded by a detected level; a prefetch

pub(crate) use grainfield_filters::simd::{Isa, Level};

/// Prefetches the memory of a value.
#[inline(always)]
pub(crate) fn prefetch<T>(it: &T) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..size_of::<T>()).step_by(64) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let at = core::ptr::from_ref(it).wrapping_byte_add(line);
        // SAFETY: a prefetch of any address is allowed, and SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = it;
}

/// `multiversion! { /// doc  fn add<T: Copy>(level, row: &mut [T]) = add_body; }` makes `add(level, row)`, which calls
/// `add_body` (an `#[inline(always)]` function) compiled for the instructions of the level.
macro_rules! multiversion {
    ($(#[$meta:meta])* $vis:vis fn $name:ident $(<$t:ident: $bound:path>)?
        (level $(, $arg:ident: $ty:ty)* $(,)?) $(-> $ret:ty)? = $body:path;) => {
        $(#[$meta])*
        #[allow(unsafe_code)]
        $vis fn $name $(<$t: $bound>)? (level: $crate::simd::Level $(, $arg: $ty)*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
                fn avx2 $(<$t: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
                    $body($($arg),*)
                }
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,popcnt,lzcnt")]
                fn avx512 $(<$t: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
                    $body($($arg),*)
                }
                if level.isa() >= $crate::simd::Isa::Avx512 {
                    // SAFETY: detection of an AVX-512 level includes the features that `avx512` is compiled for.
                    return unsafe { avx512($($arg),*) };
                }
                if level.isa() == $crate::simd::Isa::Avx2 {
                    // SAFETY: likewise for AVX2.
                    return unsafe { avx2($($arg),*) };
                }
            }
            let _ = level;
            $body($($arg),*)
        }
    };
}
pub(crate) use multiversion;
