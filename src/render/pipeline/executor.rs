//! An [`Executor`] with rayon's threads.

use grainfield_filters::host::{Executor, take_tasks};
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

/// Number of times that the caller polls the helpers before it sleeps, about 20 microseconds. Waking a thread takes longer
/// than most tasks of a simulation step.
const SPINS: u32 = 1500;

/// Threads that help those that have tasks. The calling thread also works, so nothing waits for a helper that is busy
/// with other tasks.
pub(crate) struct HelperPool {
    pool: Option<rayon::ThreadPool>,
    helpers: usize,
    /// Number of further threads that may run. If more ran than there are cores, the system could suspend a thread whose
    /// task the others wait for.
    spare: AtomicIsize,
}

impl HelperPool {
    /// `helpers` threads, none for 0 or if the system cannot start any, of which `spare` may run while no caller
    /// [waits](Executor::wait).
    pub(crate) fn new(helpers: usize, spare: isize) -> HelperPool {
        let build = || {
            rayon::ThreadPoolBuilder::new().num_threads(helpers).thread_name(|i| format!("band {i}")).build()
        };
        let pool = if helpers > 0 { build().ok() } else { None };
        let helpers = if pool.is_some() { helpers } else { 0 };
        HelperPool { pool, helpers, spare: AtomicIsize::new(spare) }
    }

    /// Takes up to `most` permits for helpers.
    fn take(&self, most: usize) -> Permits<'_> {
        let mut taken = 0;
        let take_from = |spare: isize| {
            taken = spare.clamp(0, most as isize);
            Some(spare - taken)
        };
        let _ = self.spare.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take_from);
        Permits(taken, &self.spare)
    }
}

/// Permits for threads to run. Dropping gives them back, also during a panic.
struct Permits<'a>(isize, &'a AtomicIsize);

impl Drop for Permits<'_> {
    fn drop(&mut self) {
        self.1.fetch_add(self.0, Ordering::Relaxed);
    }
}

impl Executor for HelperPool {
    fn execute(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let work = || take_tasks(&next, count, task);
        let Some(pool) = &self.pool else { return work() };
        let taken = self.take(self.helpers.min(count.saturating_sub(1)));
        if taken.0 == 0 {
            return work();
        }
        let ended = AtomicIsize::new(0);
        pool.in_place_scope(|scope| {
            for _ in 0..taken.0 {
                scope.spawn(|_| {
                    work();
                    ended.fetch_add(1, Ordering::Relaxed);
                });
            }
            work();
            for _ in 0..SPINS {
                if ended.load(Ordering::Relaxed) == taken.0 {
                    break;
                }
                std::hint::spin_loop();
            }
        });
    }

    fn width(&self) -> usize {
        self.helpers + 1
    }

    fn wait(&self, until: &mut dyn FnMut()) {
        self.spare.fetch_add(1, Ordering::Relaxed);
        let _again = Permits(-1, &self.spare);
        until();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_filters::host::wait;
    use std::sync::Mutex;

    #[test]
    fn every_task_runs_once() {
        for helpers in [0, 1, 3] {
            let threads = HelperPool::new(helpers, helpers as isize);
            for count in [0, 1, 2, 100] {
                let seen = Mutex::new(vec![0; count]);
                threads.execute(count, &|i| seen.lock().unwrap()[i] += 1);
                assert!(
                    seen.into_inner().unwrap().iter().all(|&n| n == 1),
                    "{helpers} helpers, {count} tasks"
                );
            }
        }
    }

    /// No more threads run tasks than may, and one that waits is replaced, also after a panic.
    #[test]
    fn as_many_threads_run_as_may() {
        let threads = HelperPool::new(3, 1);
        // The largest number at the same time: with time to get there, and then for some more.
        let most = |at_least: usize| {
            let [now, most, more] = [0; 3].map(AtomicUsize::new);
            threads.execute(10_000, &|_| {
                let seen = most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                if seen < at_least || more.fetch_add(1, Ordering::SeqCst) < 60 {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                now.fetch_sub(1, Ordering::SeqCst);
            });
            most.into_inner()
        };
        assert_eq!(most(2), 2);
        let fails = || threads.execute(8, &|i| assert!(i != 3, "on purpose"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(fails)).is_err());
        assert_eq!(most(2), 2);
        let while_two_wait = wait(&threads, || wait(&threads, || most(4)));
        assert_eq!(while_two_wait, 4);
        assert_eq!(most(2), 2);
    }
}
