//! Settings of the whole process. They are here because they need `unsafe`, which no other module of the program has.

/// Keeps SVT-AV1 from printing to standard error, which it does unless a variable of the environment is set. Call
/// it at the start of the program: with a second thread it does nothing.
pub fn quiet_svt_av1() {
    let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    if (threads == 1 || cfg!(windows)) && std::env::var_os("SVT_LOG").is_none() {
        // SAFETY: the system has just reported that this is the only thread of the process, so no other one accesses
        // the environment; on Windows all threads may.
        unsafe { std::env::set_var("SVT_LOG", "1") };
    }
}

/// Keeps free memory small: large blocks go back to the system when they are freed, instead of waiting in one of the
/// allocator's heaps, of which each thread may have its own. Only for glibc, which does so.
pub fn limit_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: sets a number.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 20);
    }
}

/// Gives free memory back to the system.
pub fn release_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: has no requirements.
    unsafe {
        libc::malloc_trim(0);
    }
}
