//! Clocks for benches: the thread's processor time, which other loads do not affect.
#![allow(dead_code)] // each bench uses a part of it

/// Processor time of this thread in seconds; wall time if that is not available.
pub(crate) fn seconds() -> f64 {
    #[cfg(target_os = "linux")]
    {
        #[repr(C)]
        struct Timespec {
            seconds: i64,
            nanoseconds: i64,
        }
        unsafe extern "C" {
            fn clock_gettime(clock: i32, to: *mut Timespec) -> i32;
        }
        const THREAD_CPU: i32 = 3;
        let mut time = Timespec { seconds: 0, nanoseconds: 0 };
        // SAFETY: the pointer is to a struct with the layout of 64-bit Linux.
        if unsafe { clock_gettime(THREAD_CPU, &raw mut time) } == 0 {
            return time.seconds as f64 + time.nanoseconds as f64 * 1e-9;
        }
    }
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// The time of `work` in seconds.
pub(crate) fn time(work: impl FnOnce()) -> f64 {
    let start = seconds();
    work();
    seconds() - start
}

/// The median; NaN if there are no values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut v: Vec<f64> = values.into_iter().collect();
    v.sort_by(f64::total_cmp);
    v.get(v.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The median over the rounds of `a` over `b` in the same round.
pub(crate) fn ratio(a: &[f64], b: &[f64]) -> f64 {
    median(a.iter().zip(b).map(|(a, b)| a / b))
}
