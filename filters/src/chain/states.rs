//! Prepared states, kept between frames and shared by all workers.

use crate::filter::State;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Whose state: the layer's number in the chain, and which field (0 for whole frames).
pub(super) type Owner = (usize, usize);

struct PooledState {
    owner: Owner,
    index: i64,
    key: u128,
    state: State,
}

/// A pool of prepared states: whichever is nearest is moved on. What is in it changes speed alone.
#[derive(Default)]
pub struct States {
    kept: Mutex<Vec<PooledState>>,
    /// What layers that are stepped move on, by the layer's number.
    simulations: Mutex<BTreeMap<usize, SharedSimulation>>,
}

/// What one worker at a time moves on.
pub(super) type SharedSimulation = Arc<Mutex<Option<State>>>;

/// More than any sensible number of workers times layers; beyond it the oldest goes.
const MAX_STATES: usize = 256;

impl States {
    /// The state with this key, or else the nearest of the same owner (preferring the past).
    pub(super) fn take(&self, owner: Owner, index: i64, key: u128) -> (Option<State>, bool) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut best: Option<(usize, (bool, u64))> = None;
        for (i, k) in kept.iter().enumerate().filter(|(_, k)| k.owner == owner) {
            if k.key == key {
                return (Some(kept.swap_remove(i).state), true);
            }
            let cost = (k.index > index, k.index.abs_diff(index));
            if best.is_none_or(|(_, c)| cost < c) {
                best = Some((i, cost));
            }
        }
        (best.map(|(i, _)| kept.swap_remove(i).state), false)
    }

    /// What a stepped layer moves on; both fields of a frame share it. Whoever locks it waits for nothing else while
    /// holding it, so that every wait for it ends.
    pub(super) fn simulation(&self, layer: usize) -> SharedSimulation {
        let mut simulations = self.simulations.lock().unwrap_or_else(PoisonError::into_inner);
        simulations.entry(layer).or_default().clone()
    }

    pub(super) fn put(&self, owner: Owner, index: i64, key: u128, state: State) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_STATES {
            kept.remove(0);
        }
        kept.push(PooledState { owner, index, key, state });
    }
}

impl core::fmt::Debug for States {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("States")
    }
}
