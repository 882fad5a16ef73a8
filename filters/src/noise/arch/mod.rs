//! Which body by hand serves a level; `false` where none does, and nothing has been done.

#[cfg(target_arch = "x86_64")]
mod x86;

use super::law::Law;
use super::xs64;
use crate::simd::Level;

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn centre(_: Level, _: Law, _: usize, _: &[u16], _: &mut [i16]) -> bool {
    false
}

/// The centred numbers of whole blocks, as [`law::centre`](super::law::centre).
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // calls guarded by a detected level
pub(super) fn centre(level: Level, law: Law, lanes: usize, words: &[u16], out: &mut [i16]) -> bool {
    use crate::simd::Isa;
    use x86::*;
    // SAFETY: a `Level` is made by detection only, so the machine has these instructions.
    unsafe {
        match (law, lanes, level.isa()) {
            (_, _, Isa::Scalar) => return false,
            (Law::Sum(k), 8, Isa::Sse2) => sums_8_sse2(k, words, out),
            (Law::Sum(k), 8, _) => sums_8_avx2(k, words, out),
            (Law::Sum(k), _, Isa::Sse2) => sums_32_sse2(k, words, out),
            (Law::Sum(k), _, Isa::Avx2) => sums_32_avx2(k, words, out),
            (Law::Sum(k), _, Isa::Avx512) => sums_32_avx512(k, words, out),
            (Law::H8, 8, Isa::Sse2) => h8_8_sse2(words, out),
            (Law::H8, 8, Isa::Avx2) => h8_8_avx2(words, out),
            (Law::H8, 8, Isa::Avx512) => h8_8_avx512(words, out),
            (Law::H8, _, Isa::Sse2) => h8_32_sse2(words, out),
            (Law::H8, _, Isa::Avx2) => h8_32_avx2(words, out),
            (Law::H8, _, Isa::Avx512) => h8_32_avx512(words, out),
        }
    }
    true
}

/// Words of `xs64`, as [`xs64::fill`].
#[allow(unsafe_code)] // a call guarded by a detected level
#[inline]
pub(super) fn xs64(level: Level, lanes: &mut xs64::Lanes, out: &mut [u16]) -> bool {
    match level.isa() {
        // SAFETY: a `Level` is made by detection only, so the machine has these instructions.
        #[cfg(target_arch = "x86_64")]
        crate::simd::Isa::Avx512 => unsafe { x86::xs64_avx512(lanes, out) },
        _ => {
            let _ = (lanes, out);
            return false;
        }
    }
    #[allow(unreachable_code)]
    true
}

/// Half of the H8 numbers of the row of a key of `xs64`, whole blocks of 256.
#[allow(unsafe_code)] // calls guarded by a detected level
#[inline]
pub(super) fn halves(level: Level, key: u64, out: &mut [i16]) -> bool {
    match level.isa() {
        // SAFETY: a `Level` is made by detection only, so the machine has these instructions.
        #[cfg(target_arch = "x86_64")]
        crate::simd::Isa::Avx512 => unsafe { x86::halves_avx512(key, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        crate::simd::Isa::Avx2 => unsafe { x86::halves_avx2(key, out) },
        _ => {
            let _ = (key, out);
            return false;
        }
    }
    #[allow(unreachable_code)]
    true
}
