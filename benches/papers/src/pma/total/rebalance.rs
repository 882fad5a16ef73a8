//! Windows: searching for the window to rebalance, and distributing its elements evenly.

use super::{Pma, SEGMENT, Tag, packed, tag};
use crate::pma::Key;
use grainfield_filters::pma::Ranked;

impl<K: Key, V: Ranked> Pma<K, V> {
    /// The smallest window around `segment` that is within its bounds with `extra` more elements; the whole array,
    /// if there is none.
    pub(super) fn window(&self, segment: usize, extra: usize) -> (usize, usize) {
        self.window_by(segment, |from, to| self.held_in(from, to) + extra)
    }

    /// The same; `count` returns the number of elements of segments `from..to` after the change. It is called
    /// for windows of increasing width.
    pub(super) fn window_by(&self, segment: usize, count: impl Fn(usize, usize) -> usize) -> (usize, usize) {
        for level in 1..self.limits.height() {
            let from = segment >> level << level;
            let to = from + (1 << level);
            if self.limits.hold(level, count(from, to)) {
                return (from, to);
            }
        }
        (0, self.masks.len())
    }

    pub(super) fn held_in(&self, from: usize, to: usize) -> usize {
        self.masks[from..to].iter().map(|m| m.count_ones() as usize).sum()
    }

    /// Distributes the elements of segments `from..to` and incoming ones (sorted) evenly.
    pub(super) fn rebalance(&mut self, from: usize, to: usize, incoming: &[(K, V)]) {
        self.gather(from, to, incoming);
        self.scatter(from, to);
    }

    /// Moves all elements, and incoming ones (sorted), into an array of `2^height` segments.
    pub(super) fn resize(&mut self, height: u32, incoming: &[(K, V)]) {
        self.gather(0, self.masks.len(), incoming);
        let segments = 1usize << height;
        if let (Some(&key), Some(&val)) = (self.work.keys.first(), self.work.vals.first()) {
            // No slot is read before it is written, so any value serves to initialise the memory.
            self.keys.resize(segments * SEGMENT, key);
            self.vals.resize(segments * SEGMENT, val);
            self.masks.resize(segments, 0);
            self.heads.resize(segments, (key, val.rank()));
        } else {
            self.masks.truncate(segments);
            self.heads.truncate(segments);
        }
        self.resize_limits(height);
        self.len = self.work.keys.len();
        self.scatter(0, self.masks.len());
    }

    /// Merges the elements of segments `from..to` and `incoming` into the workspace.
    fn gather(&mut self, from: usize, to: usize, incoming: &[(K, V)]) {
        let (keys, vals) = (&mut self.work.keys, &mut self.work.vals);
        keys.clear();
        vals.clear();
        let mut next = 0;
        for segment in from..to {
            let base = segment * SEGMENT;
            let mut mask = self.masks[segment];
            while mask != 0 {
                let at = base + mask.trailing_zeros() as usize;
                mask &= mask - 1;
                let here: Tag<K, V> = (self.keys[at], self.vals[at].rank());
                while next < incoming.len() && tag(&incoming[next]) < here {
                    keys.push(incoming[next].0);
                    vals.push(incoming[next].1);
                    next += 1;
                }
                keys.push(self.keys[at]);
                vals.push(self.vals[at]);
            }
        }
        for item in &incoming[next..] {
            keys.push(item.0);
            vals.push(item.1);
        }
    }

    /// Distributes the elements of the workspace over segments `from..to`.
    fn scatter(&mut self, from: usize, to: usize) {
        let (total, segments) = (self.work.keys.len(), to - from);
        let mut start = 0;
        // The last tag that was distributed, or the first one: the head of segments that stay empty.
        let mut last = match (self.work.keys.first(), self.work.vals.first()) {
            (Some(&key), Some(val)) => Some((key, val.rank())),
            _ => self.heads.get(from).copied(),
        };
        for i in 0..segments {
            let end = (total as u64 * (i as u64 + 1) / segments as u64) as usize;
            let (segment, count) = (from + i, end - start);
            let base = segment * SEGMENT;
            self.keys[base..base + count].copy_from_slice(&self.work.keys[start..end]);
            self.vals[base..base + count].copy_from_slice(&self.work.vals[start..end]);
            self.masks[segment] = packed(count);
            if count > 0 {
                self.heads[segment] = (self.work.keys[start], self.work.vals[start].rank());
                last = Some((self.work.keys[end - 1], self.work.vals[end - 1].rank()));
            } else if let Some(tag) = last {
                self.heads[segment] = tag;
            }
            start = end;
        }
        self.moves += total as u64;
    }
}
