//! Threads for benches that lend them.

use grainfield_filters::lend::Executor;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two threads that take tasks one by one.
pub(crate) struct Two;

impl Executor for Two {
    fn execute(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let work = || {
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= count {
                    break;
                }
                task(i);
            }
        };
        std::thread::scope(|s| {
            s.spawn(work);
            work();
        });
    }
    fn width(&self) -> usize {
        2
    }
}
