//! What the kernels ask of the processor directly.
#![allow(unsafe_code)] // one hint instruction, which cannot fault

/// Asks for the memory of `it` ahead of its use. A hint: it changes nothing but speed.
#[inline(always)]
pub(super) fn prefetch<T>(it: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = core::ptr::from_ref(it).cast::<i8>();
        for line in (0..size_of::<T>()).step_by(64) {
            // SAFETY: a prefetch of any address is allowed, and these lie inside `it`.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(line)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = it;
}
