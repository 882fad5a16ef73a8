//! Room that changes need, kept between calls.

use super::layout::Layout;
use std::sync::Mutex;

/// Room that changes need, kept between calls.
pub(super) struct Workspace<P> {
    /// The cells and payloads of what comes in.
    pub(super) cells: Vec<u32>,
    pub(super) items: Vec<P>,
    /// Tags of what is being taken out.
    pub(super) taken: Vec<u8>,
    /// Entries of those that found no room.
    pub(super) overflow: Vec<u32>,
    /// One a task that settles.
    pub(super) rooms: Vec<Mutex<WindowBuffer<P>>>,
    /// The cell that each slot's element goes to, when all is built anew.
    pub(super) goals: Vec<u32>,
    /// Elements of each cell, one list a task.
    pub(super) tallies: Vec<Mutex<Vec<u32>>>,
    pub(super) layout: Layout,
    pub(super) fresh: Vec<P>,
}

/// What one task needs to lay out a window anew.
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

/// Rooms are empty between calls: a copy needs none.
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
