//! Threads for hosts that call from one thread.

use super::float;
use grainfield_filters::host::{Executor, take_tasks};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The threads of this process, started at first use and shared by all instances. A forked process has none of its
/// parent's threads, so it starts its own.
#[derive(Clone, Copy, Debug)]
pub struct WorkPool(&'static Threads);

#[derive(Debug)]
struct Threads {
    process: u32,
    /// `None` if one thread is enough, or the system cannot start any.
    pool: Option<ThreadPool>,
    helpers: usize,
}

static THREADS: AtomicPtr<Threads> = AtomicPtr::new(ptr::null_mut());

impl Threads {
    fn start() -> Threads {
        let helpers = std::thread::available_parallelism().map_or(0, |n| n.get().min(64) - 1);
        let build = || {
            let named =
                ThreadPoolBuilder::new().num_threads(helpers).thread_name(|i| format!("grainfield {i}"));
            named.build().ok()
        };
        let pool = if helpers > 0 { build() } else { None };
        let helpers = if pool.is_some() { helpers } else { 0 };
        Threads { process: std::process::id(), pool, helpers }
    }
}

impl WorkPool {
    /// The pool of this process.
    #[allow(unsafe_code)] // a pointer instead of a lock: a lock that another thread holds during a fork stays locked
    pub fn get() -> WorkPool {
        let found = THREADS.load(Ordering::Acquire);
        // SAFETY: only leaked boxes are ever stored, so a non-null pointer is valid until the end of the
        // process.
        if let Some(threads) = unsafe { found.as_ref() }
            && threads.process == std::process::id()
        {
            return WorkPool(threads);
        }
        let own = Box::into_raw(Box::new(Threads::start()));
        match THREADS.compare_exchange(found, own, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: leaked just now.
            Ok(_) => WorkPool(unsafe { &*own }),
            Err(other) => {
                // SAFETY: no one else has seen `own`.
                drop(unsafe { Box::from_raw(own) });
                // SAFETY: as above; the pool of a process is set once, so it belongs to this process.
                WorkPool(unsafe { &*other })
            }
        }
    }
}

impl Executor for WorkPool {
    fn execute(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let work = || take_tasks(&next, count, task);
        match &self.0.pool {
            // The caller also works, so nothing waits for a thread that is busy with another frame.
            Some(pool) if count > 1 => pool.in_place_scope(|scope| {
                for _ in 0..self.0.helpers.min(count - 1) {
                    // New threads inherit the floating-point state of the thread that started them.
                    scope.spawn(|_| float::expected(work));
                }
                work();
            }),
            _ => work(),
        }
    }

    fn width(&self) -> usize {
        self.0.helpers + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn every_task_runs_once_from_many_threads() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let seen = Mutex::new(vec![0; 100]);
                    WorkPool::get().execute(100, &|i| seen.lock().unwrap()[i] += 1);
                    assert!(seen.into_inner().unwrap().iter().all(|&n| n == 1));
                });
            }
        });
    }
}
