//! Buffers for changes, kept between calls.

use super::layout::Layout;
use std::sync::Mutex;

/// Buffers for changes, kept between calls.
pub(super) struct Workspace<P> {
    /// The cells and payloads of incoming elements.
    pub(super) cells: Vec<u32>,
    pub(super) items: Vec<P>,
    /// Tags of elements that are being removed.
    pub(super) taken: Vec<u8>,
    /// Entries without a free slot.
    pub(super) overflow: Vec<u32>,
    /// One per task that rebalances.
    pub(super) rooms: Vec<Mutex<WindowBuffer<P>>>,
    /// The goal of each slot's element in a rebuild.
    pub(super) goals: Vec<u32>,
    /// Elements of each cell, one list per task.
    pub(super) tallies: Vec<Mutex<Vec<u32>>>,
    pub(super) layout: Layout,
    pub(super) fresh: Vec<P>,
}

/// The buffers of a task that lays out a window.
pub(super) struct WindowBuffer<P> {
    pub(super) counts: Vec<u32>,
    pub(super) layout: Layout,
    pub(super) lifted: Vec<(u32, P)>,
}

impl<P> Default for WindowBuffer<P> {
    fn default() -> Self {
        WindowBuffer { counts: Vec::new(), layout: Layout::default(), lifted: Vec::new() }
    }
}

/// Buffers are empty between calls, so a copy needs no contents.
impl<P> Clone for Workspace<P> {
    fn clone(&self) -> Self {
        Workspace::default()
    }
}

impl<P> Default for Workspace<P> {
    fn default() -> Self {
        Workspace {
            cells: Vec::new(),
            items: Vec::new(),
            taken: Vec::new(),
            overflow: Vec::new(),
            rooms: Vec::new(),
            goals: Vec::new(),
            tallies: Vec::new(),
            layout: Layout::default(),
            fresh: Vec::new(),
        }
    }
}
