//! The segments that a batch changes, and the elements that each gains.

use super::kernel::{Piece, Rules, before};
use super::{Pma, arch, tag};
use crate::pma::Key;
use grainfield_filters::pma::Ranked;

impl<K: Key, V: Ranked> Pma<K, V> {
    /// Lists the segments that lose or gain elements, in order, with the gain of each, and those that would
    /// violate their bounds.
    pub(super) fn make_plan(&mut self, incoming: &[(K, V)], sparse: bool) {
        let rules = match self.limits.height() {
            0 => Rules { low: 0, high: self.limits.most() },
            _ => Rules { low: self.limits.low(0), high: self.limits.high(0) },
        };
        let work = &mut self.work;
        work.outside.clear();
        if sparse {
            self.plan_few(incoming, &rules);
            return;
        }
        let out = (&mut work.plan, &mut work.outside);
        if arch::plan(self.level, (&self.masks, &self.heads), incoming, &rules, out) {
            return;
        }
        work.plan.clear();
        let mut next = 0;
        for (segment, mask) in self.masks.iter().enumerate() {
            let from = next;
            next = match self.heads.get(segment + 1) {
                Some(end) => from + before(&incoming[from..], *end),
                None => incoming.len(),
            };
            if !rules.hold(mask.count_ones() as usize + next - from) {
                work.outside.push(segment as u32);
            }
            if next > from || mask & mask.wrapping_add(1) != 0 {
                work.plan.push(Piece { segment: segment as u32, from: from as u32, to: next as u32 });
            }
        }
    }

    /// The same if few segments change: each is searched for from the one before by doubling steps.
    fn plan_few(&mut self, incoming: &[(K, V)], rules: &Rules) {
        let work = &mut self.work;
        work.plan.clear();
        if !work.thinned.is_sorted() {
            work.thinned.sort_unstable();
        }
        work.thinned.dedup();
        let segments = self.heads.len();
        let (mut thin, mut next, mut segment) = (0, 0, 0);
        while next < incoming.len() {
            let t = tag(&incoming[next]);
            // The last segment whose head is not after t.
            let mut step = 1;
            while segment + step < segments && self.heads[segment + step] <= t {
                segment += step;
                step *= 2;
            }
            let end = (segment + step).min(segments).max(segment + 1);
            segment += self.heads[segment + 1..end].partition_point(|h| *h <= t);
            while thin < work.thinned.len() && (work.thinned[thin] as usize) < segment {
                work.plan.push(Piece { segment: work.thinned[thin], from: next as u32, to: next as u32 });
                thin += 1;
            }
            if thin < work.thinned.len() && work.thinned[thin] as usize == segment {
                thin += 1;
            }
            let from = next;
            next = match self.heads.get(segment + 1) {
                Some(end) => from + before(&incoming[from..], *end),
                None => incoming.len(),
            };
            work.plan.push(Piece { segment: segment as u32, from: from as u32, to: next as u32 });
        }
        let end = incoming.len() as u32;
        let rest = work.thinned[thin..].iter().map(|&segment| Piece { segment, from: end, to: end });
        work.plan.extend(rest);
        for piece in &work.plan {
            let held = self.masks[piece.segment as usize].count_ones() as usize;
            if !rules.hold(held + (piece.to - piece.from) as usize) {
                work.outside.push(piece.segment);
            }
        }
    }

    /// The number of elements of segments `from..to` after the batch.
    pub(super) fn planned_in(&self, from: usize, to: usize) -> usize {
        let plan = &self.work.plan;
        let first = plan.partition_point(|p| (p.segment as usize) < from);
        let coming: usize = plan[first..]
            .iter()
            .take_while(|p| (p.segment as usize) < to)
            .map(|p| (p.to - p.from) as usize)
            .sum();
        self.held_in(from, to) + coming
    }
}
