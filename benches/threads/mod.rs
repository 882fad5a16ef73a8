//! An executor with threads for benches.

use grainfield_filters::host::{Executor, take_tasks};
use std::sync::atomic::AtomicUsize;

/// Two threads that take tasks one by one.
pub(crate) struct Two;

impl Executor for Two {
    fn execute(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let work = || take_tasks(&next, count, task);
        std::thread::scope(|s| {
            s.spawn(work);
            work();
        });
    }
    fn width(&self) -> usize {
        2
    }
}
