//! Prepared states, kept between frames and shared by all workers.

use crate::filter::State;
use crate::frame::Frame;
use crate::host::lock;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

/// The owner of a state: the stage's number in the chain, and the field (0 for whole frames).
pub(super) type Owner = (usize, usize);

struct PooledState {
    owner: Owner,
    index: i64,
    key: u128,
    state: State,
}

/// A pool of prepared states. The nearest state is advanced to the new frame. The contents of the pool affect
/// speed only, never the result.
#[derive(Default)]
pub struct States {
    kept: Mutex<Vec<PooledState>>,
    /// The states of stepped stages, by stage number.
    simulations: Mutex<BTreeMap<usize, SharedSimulation>>,
    /// The states of the masks of stages, by stage number.
    masks: Mutex<BTreeMap<usize, Arc<MaskStates>>>,
}

/// The states of a mask.
#[derive(Default)]
pub(super) struct MaskStates {
    pub(super) states: States,
    /// The mask, if it is the same in all frames.
    pub(super) constant: OnceLock<Arc<Frame>>,
}

/// A state that one worker at a time advances.
pub(super) type SharedSimulation = Arc<Mutex<Option<State>>>;

/// More than workers times stages in any practical chain; beyond it a state is dropped.
const MAX_STATES: usize = 256;

impl States {
    /// Takes the state with this key, else the nearest one of the same owner (preferring the past).
    pub(super) fn take(&self, owner: Owner, index: i64, key: u128) -> (Option<State>, bool) {
        let mut kept = lock(&self.kept);
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

    /// The state of a stepped stage; both fields of a frame share it. A worker that holds its lock takes
    /// only locks whose owners wait for nothing (the cache's, the pool's), so there is no deadlock.
    pub(super) fn simulation(&self, stage: usize) -> SharedSimulation {
        let mut simulations = lock(&self.simulations);
        simulations.entry(stage).or_default().clone()
    }

    /// The states of a stage's mask.
    pub(super) fn mask(&self, stage: usize) -> Arc<MaskStates> {
        Arc::clone(lock(&self.masks).entry(stage).or_default())
    }

    pub(super) fn put(&self, owner: Owner, index: i64, key: u128, state: State) {
        let mut kept = lock(&self.kept);
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
