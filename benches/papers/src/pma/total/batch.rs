//! Many changes in one call.

use super::kernel::{Piece, merge_body};
use super::{Pma, SEGMENT, arch};
use crate::pma::Key;
use crate::pma::sort::sort;
use crate::simd::Level;
use grainfield_filters::host::Executor;
use grainfield_filters::pma::{PmaError, Ranked, Slot};
use std::sync::{Mutex, PoisonError};

/// Changes that are made together.
///
/// Slots are those before the batch; each may occur once.
#[derive(Clone, Debug)]
pub struct Batch<K, V> {
    /// New elements, in any order.
    pub inserts: Vec<(K, V)>,
    /// Slots of elements to be removed. Ascending order is the fastest.
    pub removes: Vec<Slot>,
    /// Slots of elements, and their new keys. Ascending order is the fastest.
    pub moves: Vec<(Slot, K)>,
}

impl<K, V> Default for Batch<K, V> {
    fn default() -> Self {
        Batch { inserts: Vec::new(), removes: Vec::new(), moves: Vec::new() }
    }
}

impl<K, V> Batch<K, V> {
    /// Removes all changes and keeps the memory.
    pub fn clear(&mut self) {
        self.inserts.clear();
        self.removes.clear();
        self.moves.clear();
    }

    /// The number of changes.
    pub fn len(&self) -> usize {
        self.inserts.len() + self.removes.len() + self.moves.len()
    }

    /// Whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Buffers that are kept between calls.
#[derive(Clone)]
pub(super) struct Workspace<K, V> {
    pub(super) keys: Vec<K>,
    pub(super) vals: Vec<V>,
    incoming: Vec<(K, V)>,
    spare: Vec<(K, V)>,
    /// Segments that lost elements.
    pub(super) thinned: Vec<u32>,
    pub(super) plan: Vec<Piece>,
    /// Segments that would violate their bounds.
    pub(super) outside: Vec<u32>,
    windows: Vec<(usize, usize)>,
}

impl<K, V> Default for Workspace<K, V> {
    fn default() -> Self {
        Workspace {
            keys: Vec::new(),
            vals: Vec::new(),
            incoming: Vec::new(),
            spare: Vec::new(),
            thinned: Vec::new(),
            plan: Vec::new(),
            outside: Vec::new(),
            windows: Vec::new(),
        }
    }
}

/// The work of one task: a range of the plan and its segments.
struct Partition<'a, K, V: Ranked> {
    level: Level,
    first: usize,
    plan: &'a [Piece],
    keys: &'a mut [K],
    vals: &'a mut [V],
    masks: &'a mut [u64],
    heads: &'a mut [(K, V::Rank)],
    moves: u64,
}

impl<K: Key, V: Ranked> Pma<K, V> {
    /// Makes all changes of a batch, as if first all moving and removed elements were removed, and then all moved
    /// and new ones inserted, without rebalancing in between. The result is the same for any `executor`.
    ///
    /// # Errors
    /// [`PmaError::Vacant`] and [`PmaError::TooMany`]; then nothing has changed.
    pub fn apply(&mut self, batch: &Batch<K, V>, executor: &dyn Executor) -> Result<(), PmaError> {
        let new_len = (self.len + batch.inserts.len()).saturating_sub(batch.removes.len());
        let height = self.height_for(new_len)?;
        self.take_out(batch)?;
        let mut incoming = core::mem::take(&mut self.work.incoming);
        sort(&mut incoming, &mut self.work.spare);
        let halve = new_len < self.limits.least() && height < self.limits.height();
        if self.masks.is_empty() || new_len > self.limits.most() || halve {
            self.resize(height, &incoming);
        } else {
            self.len = new_len;
            self.make_plan(&incoming, batch.len() * 8 < self.masks.len());
            self.rebalance_windows(&incoming);
            self.merge_rest(&incoming, executor);
        }
        incoming.clear();
        self.work.incoming = incoming;
        Ok(())
    }

    /// Clears the bits of removed and moving elements, and copies moving and new elements to `work.incoming`.
    fn take_out(&mut self, batch: &Batch<K, V>) -> Result<(), PmaError> {
        let work = &mut self.work;
        work.incoming.clear();
        work.thinned.clear();
        let mut last = u32::MAX;
        let sparse = batch.len() * 8 < self.masks.len();
        let moving = batch.moves.iter().map(|&(slot, _)| slot);
        for (done, slot) in moving.chain(batch.removes.iter().copied()).enumerate() {
            let (segment, bit) = (slot / SEGMENT as u32, 1u64 << (slot % SEGMENT as u32));
            match self.masks.get_mut(segment as usize) {
                Some(mask) if *mask & bit != 0 => *mask ^= bit,
                _ => {
                    // Restores the bits: the call has no effect.
                    let moving = batch.moves.iter().map(|&(slot, _)| slot);
                    for slot in moving.chain(batch.removes.iter().copied()).take(done) {
                        self.masks[slot as usize / SEGMENT] |= 1 << (slot as usize % SEGMENT);
                    }
                    return Err(PmaError::Vacant { slot });
                }
            }
            if sparse && segment != last {
                work.thinned.push(segment);
                last = segment;
            }
        }
        work.incoming.extend(batch.moves.iter().map(|&(slot, key)| (key, self.vals[slot as usize])));
        work.incoming.extend_from_slice(&batch.inserts);
        Ok(())
    }

    /// Rebalances the windows around segments that would violate their bounds, and removes them from the
    /// plan.
    fn rebalance_windows(&mut self, incoming: &[(K, V)]) {
        let mut windows = core::mem::take(&mut self.work.windows);
        windows.clear();
        for segment in self.work.outside.iter().map(|s| *s as usize) {
            if windows.last().is_some_and(|&(_, to)| segment < to) {
                continue;
            }
            let (from, to) = self.window_by(segment, |from, to| self.planned_in(from, to));
            // Windows are disjoint or nested.
            while windows.last().is_some_and(|&(start, _)| start >= from) {
                windows.pop();
            }
            windows.push((from, to));
        }
        for &(from, to) in &windows {
            let plan = &self.work.plan;
            let first = plan.partition_point(|p| (p.segment as usize) < from);
            let last = plan.partition_point(|p| (p.segment as usize) < to);
            let range = match &plan[first..last] {
                [a, .., b] => a.from as usize..b.to as usize,
                [a] => a.from as usize..a.to as usize,
                [] => 0..0,
            };
            self.rebalance(from, to, &incoming[range]);
        }
        let mut next = 0;
        if !windows.is_empty() {
            self.work.plan.retain(|p| {
                let segment = p.segment as usize;
                while next < windows.len() && windows[next].1 <= segment {
                    next += 1;
                }
                windows.get(next).is_none_or(|&(from, _)| segment < from)
            });
        }
        self.work.windows = windows;
    }

    /// Merges the incoming elements of each segment that is still in the plan.
    fn merge_rest(&mut self, incoming: &[(K, V)], executor: &dyn Executor) {
        let plan = core::mem::take(&mut self.work.plan);
        let tasks = executor.width().clamp(1, 64).min(plan.len() / 256 + 1);
        if tasks == 1 {
            let mut share = Partition {
                level: self.level,
                first: 0,
                plan: &plan,
                keys: &mut self.keys,
                vals: &mut self.vals,
                masks: &mut self.masks,
                heads: &mut self.heads,
                moves: 0,
            };
            share.merge(incoming);
            self.moves += share.moves;
        } else {
            let (mut keys, mut vals) = (&mut self.keys[..], &mut self.vals[..]);
            let (mut masks, mut heads) = (&mut self.masks[..], &mut self.heads[..]);
            let mut first = 0;
            let mut shares = Vec::with_capacity(tasks);
            for t in 0..tasks {
                let part = &plan[plan.len() * t / tasks..plan.len() * (t + 1) / tasks];
                let end = part.last().map_or(first, |p| p.segment as usize + 1);
                let n = end - first;
                let (k, v, m, h);
                (k, keys) = keys.split_at_mut(n * SEGMENT);
                (v, vals) = vals.split_at_mut(n * SEGMENT);
                (m, masks) = masks.split_at_mut(n);
                (h, heads) = heads.split_at_mut(n);
                shares.push(Mutex::new(Partition {
                    level: self.level,
                    first,
                    plan: part,
                    keys: k,
                    vals: v,
                    masks: m,
                    heads: h,
                    moves: 0,
                }));
                first = end;
            }
            // Each partition is locked by its own task only, so no task waits.
            executor.execute(tasks, &|t| {
                shares[t].lock().unwrap_or_else(PoisonError::into_inner).merge(incoming);
            });
            self.moves +=
                shares.iter().map(|s| s.lock().unwrap_or_else(PoisonError::into_inner).moves).sum::<u64>();
        }
        self.work.plan = plan;
    }
}

impl<K: Key, V: Ranked> Partition<'_, K, V> {
    fn merge(&mut self, incoming: &[(K, V)]) {
        let segments = (&mut *self.keys, &mut *self.masks, &mut *self.heads);
        if let Some(moves) = arch::merge::<K, V>(self.level, segments, self.first, self.plan, incoming) {
            self.moves += moves;
            return;
        }
        for piece in self.plan {
            let segment = piece.segment as usize - self.first;
            let base = segment * SEGMENT;
            let (keys, vals) = (&mut self.keys[base..base + SEGMENT], &mut self.vals[base..base + SEGMENT]);
            let coming = &incoming[piece.from as usize..piece.to as usize];
            let mask = merge_body(keys, vals, self.masks[segment], coming);
            self.masks[segment] = mask;
            if mask != 0 {
                self.heads[segment] = (keys[0], vals[0].rank());
            }
            self.moves += u64::from(mask.count_ones());
        }
    }
}
