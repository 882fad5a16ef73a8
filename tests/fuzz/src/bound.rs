//! Counts memory: how much an input holds at a time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which counts the memory of each thread. A binary installs it with
/// `#[global_allocator] static COUNTED: Counted = Counted;`
pub struct Counted;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // A thread that is ending has no counters any more.
    let _ = NOW.try_with(|now| {
        now.set(now.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now.get())));
    });
}

/// Bytes that a layout's size says; they are far below the limit of `isize`.
fn bytes(layout: Layout) -> isize {
    layout.size() as isize
}

// SAFETY: the system's allocator does all the work, and counting allocates nothing.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(bytes(layout));
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-bytes(layout));
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(bytes(layout));
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - bytes(layout));
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// The peak of memory that this thread allocated during `work`, in addition to what it held before; 0 if
/// [`Counted`] is not the binary's allocator.
pub fn peak_of(work: impl FnOnce()) -> usize {
    let before = NOW.with(Cell::get);
    PEAK.with(|peak| peak.set(before));
    work();
    PEAK.with(|peak| peak.get() - before).max(0) as usize
}
