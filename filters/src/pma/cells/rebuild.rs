//! Laying out everything anew, and taking over a layout.

use super::layout::{Fill, Layout};
use super::{CellPma, FREE, MOST_SLOTS, WIDE, ask_ahead, in_word, lowest, walk};
use crate::pma::{PmaError, Ranked, arch};

/// How many elements ahead of the one being placed memory is asked for.
const NEAR: usize = 16;

impl<P: Ranked> CellPma<P> {
    /// Lays out everything anew, with the entries of the incoming list that `waiting` names (all, if `None`).
    pub(super) fn rebuild_waiting(&mut self, waiting: Option<&[u32]>) {
        let cells = core::mem::take(&mut self.work.cells);
        let items = core::mem::take(&mut self.work.items);
        let slots = core::mem::take(&mut self.slots);
        match waiting {
            None => self.rebuild(&slots, false, || cells.iter().copied().zip(&items)),
            Some(w) => {
                let entries = || w.iter().map(|i| (cells[*i as usize], &items[*i as usize]));
                self.rebuild(&slots, !w.is_empty(), entries);
            }
        }
        self.work.fresh = slots;
        self.work.cells = cells;
        self.work.items = items;
    }

    /// Lays out everything anew, from `slots` (taken out of `self`), with the elements that come in: `coming()` lists
    /// their cells and payloads, which may be in slots that were freed. `crowded`: for want of room.
    pub(super) fn rebuild<'a, I>(&mut self, slots: &[P], crowded: bool, coming: impl Fn() -> I)
    where
        I: Iterator<Item = (u32, &'a P)>,
        P: 'a,
    {
        // Nothing is read from a slot that was not written; any value serves to fill the room.
        let Some(any) = coming().next().map(|(_, item)| *item).or(slots.first().copied()) else {
            // There never was an element.
            self.clear();
            return;
        };
        let mut work = core::mem::take(&mut self.work);
        let cells = self.route.len();
        let heads = &self.heads;
        work.counts.clear();
        work.counts.resize(cells, 0);
        for (segment, mask) in self.masks.iter().enumerate() {
            let base = heads[segment].base as usize;
            for (w, word) in mask.iter().enumerate() {
                let tags = &self.tags[segment * WIDE + 64 * w..][..64];
                in_word(*word, tags, |_, tag| work.counts[base + tag as usize] += 1);
            }
        }
        coming().for_each(|(cell, _)| work.counts[cell as usize] += 1);
        let target = self.settings.target();
        // What comes here for want of room shall find some near, the next times.
        let spare = if crowded { 8 } else { 0 };
        let most = self.settings.most();
        work.layout.make(0, &work.counts, &Fill { target, full: target, most, spare });
        work.layout.pad(1, cells as u32);
        work.layout.set_next(0);
        cursors(&mut work.counts, 0, 0, &work.layout);
        // Payloads into fresh room; tags and masks follow from the layout.
        let segments = work.layout.heads.len();
        work.fresh.resize(segments * WIDE, any);
        let (counts, fresh) = (&mut work.counts[..], &mut work.fresh[..]);
        walk(&self.masks, &self.tags, slots, |segment, at, tag, item| {
            if at % 64 == 0 {
                ask_ahead(fresh, segment, at % WIDE / 64);
            }
            let to = &mut counts[heads[segment].base as usize + tag as usize];
            fresh[*to as usize] = *item;
            *to += 1;
        });
        let mut soon = coming().skip(NEAR);
        for (cell, item) in coming() {
            if let Some((cell, item)) = soon.next() {
                arch::prefetch(item);
                if let Some(to) = fresh.get(counts[cell as usize] as usize) {
                    arch::prefetch(to);
                }
            }
            let to = &mut counts[cell as usize];
            fresh[*to as usize] = *item;
            *to += 1;
        }
        self.slots = core::mem::take(&mut work.fresh);
        self.tags.resize(segments * WIDE, FREE);
        self.masks.resize(segments, [0; WIDE / 64]);
        self.heads.resize(segments, work.layout.heads[0]);
        self.work = work;
        self.adopt(0, 0, cells as u32);
        self.built = self.len;
        self.moves += self.len as u64;
    }

    /// Takes over the layout in the work room, whose elements are in place and whose cursors stand at the ends of
    /// the cells' slots, for the segments from `first` on and the cells `low..high`.
    pub(super) fn adopt(&mut self, first: usize, low: u32, high: u32) {
        let Layout { heads, counts } = &self.work.layout;
        let segments = heads.len();
        self.heads[first..first + segments].copy_from_slice(heads);
        let mut from = low;
        for (i, (head, &n)) in heads.iter().zip(counts).enumerate() {
            let segment = first + i;
            // Cells before the base belong to the segment before.
            let owner = segment.saturating_sub(1) as u32;
            self.route[from as usize..head.base as usize].fill(owner);
            from = head.base;
            self.masks[segment] = lowest(n as usize);
            let tags = &mut self.tags[segment * WIDE..][..WIDE];
            tags[n as usize..].fill(FREE);
            if head.span == 1 {
                tags[..n as usize].fill(0);
                continue;
            }
            let mut start = 0;
            let mut cell = head.base;
            while start < n as usize {
                let end = self.work.counts[(cell - low) as usize] as usize;
                let end = end.saturating_sub(segment * WIDE);
                // Cells without elements keep a cursor of zero.
                if end > start {
                    tags[start..end].fill((cell - head.base) as u8);
                    start = end;
                }
                cell += 1;
            }
        }
        self.route[from as usize..high as usize].fill((first + segments - 1) as u32);
    }

    /// Whether `len` elements can be numbered, however they lie: in the worst case two neighbouring segments together
    /// reach the fill of one, and empty cells part them.
    pub(super) fn room_for(&self, len: usize) -> Result<(), PmaError> {
        let most = (MOST_SLOTS / WIDE).saturating_sub(self.cells() as usize / 128)
            * (self.settings.target() / 4).max(1);
        if len > most { Err(PmaError::TooMany { len, most }) } else { Ok(()) }
    }
}

/// Turns the counts of the cells from `low` on into their first slots, under a layout that begins with segment
/// `first`. Empty cells get 0.
pub(super) fn cursors(counts: &mut [u32], first: usize, low: u32, layout: &Layout) {
    let mut segment = 0;
    let mut end = 0;
    let mut at = 0;
    for (cell, count) in (low..).zip(counts.iter_mut()) {
        if *count == 0 {
            continue;
        }
        if at == end {
            // The segment is complete: go on with the next that begins at or before this cell.
            while layout.counts[segment] == 0 {
                segment += 1;
            }
            debug_assert!(layout.heads[segment].base <= cell);
            at = (first + segment) * WIDE;
            end = at + layout.counts[segment] as usize;
            segment += 1;
            if layout.heads[segment - 1].span == 1 {
                // A run is filled without a gap, so one cursor goes through all of it.
                while layout.heads[segment - 1].run == 1 {
                    end += layout.counts[segment] as usize;
                    segment += 1;
                }
            }
        }
        let n = core::mem::replace(count, at as u32);
        at += n as usize;
    }
}
