//! The floating-point state: a host may flush denormals or use another rounding, which would change pictures, and
//! expects its own state when a plugin returns.
#![allow(unsafe_code)] // reads and writes one register, for which there is no safe function

/// The state that Rust expects: round to nearest, denormals enabled, no traps.
#[cfg(target_arch = "x86_64")]
const EXPECTED: u32 = 0x1f80;
#[cfg(target_arch = "aarch64")]
const EXPECTED: u64 = 0;

#[cfg(target_arch = "x86_64")]
type State = u32;
#[cfg(target_arch = "aarch64")]
type State = u64;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
type State = ();

fn read() -> State {
    #[cfg(target_arch = "x86_64")]
    {
        let mut state = 0u32;
        // SAFETY: stores the control register MXCSR, which every x86-64 has, into the variable.
        unsafe { core::arch::asm!("stmxcsr [{}]", in(reg) &mut state, options(nostack, preserves_flags)) };
        state
    }
    #[cfg(target_arch = "aarch64")]
    {
        let state: u64;
        // SAFETY: reads FPCR, which user code may.
        unsafe { core::arch::asm!("mrs {}, fpcr", out(reg) state, options(nomem, nostack, preserves_flags)) };
        state
    }
}

fn write(state: State) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the state is the expected one or was read from the register, so no reserved bit is set.
    unsafe {
        core::arch::asm!("ldmxcsr [{}]", in(reg) &state, options(nostack, preserves_flags, readonly));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!("msr fpcr, {}", in(reg) state, options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let () = state;
}

/// Restores the host's state when it is dropped.
struct Found(State);

impl Drop for Found {
    fn drop(&mut self) {
        write(self.0);
    }
}

/// Runs `f` on this thread with the state that Rust expects.
pub(super) fn expected<T>(f: impl FnOnce() -> T) -> T {
    let _found = Found(read());
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    write(EXPECTED);
    f()
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn denormals_live_inside_and_the_host_finds_its_state() {
        let half = || black_box(f32::MIN_POSITIVE) / black_box(2.0);
        let before = read();
        // Flush to zero, which some hosts set.
        let flushing = if cfg!(target_arch = "x86_64") { 0x9fc0 } else { 1 << 24 };
        write(flushing);
        let (outside, inside) = (half(), expected(half));
        let after = read();
        write(before);
        assert_eq!(outside, 0.0);
        assert!(inside > 0.0);
        // Except for the exception flags.
        assert_eq!(after & !0x3f, flushing);
    }
}
