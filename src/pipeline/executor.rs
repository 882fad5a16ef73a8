//! An [`Executor`] with rayon's threads.

use grainfield_filters::lend::{Executor, take_tasks};
use std::sync::atomic::AtomicUsize;

/// A pool of helper threads. The calling thread also works, so nothing waits for a helper that is busy with
/// bands of another frame.
pub(crate) struct HelperPool {
    pool: Option<rayon::ThreadPool>,
    helpers: usize,
}

impl HelperPool {
    /// `helpers` threads; none for 0, or if the system cannot start any.
    pub(crate) fn new(helpers: usize) -> HelperPool {
        let build = || {
            rayon::ThreadPoolBuilder::new().num_threads(helpers).thread_name(|i| format!("band {i}")).build()
        };
        let pool = if helpers > 0 { build().ok() } else { None };
        let helpers = if pool.is_some() { helpers } else { 0 };
        HelperPool { pool, helpers }
    }
}

impl Executor for HelperPool {
    fn execute(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let work = || take_tasks(&next, count, task);
        match &self.pool {
            Some(pool) if count > 1 => pool.in_place_scope(|scope| {
                for _ in 0..self.helpers.min(count - 1) {
                    scope.spawn(|_| work());
                }
                work();
            }),
            _ => work(),
        }
    }

    fn width(&self) -> usize {
        self.helpers + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn every_task_runs_once() {
        for helpers in [0, 1, 3] {
            let threads = HelperPool::new(helpers);
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
}
