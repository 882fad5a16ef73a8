//! Reading in slot order, by cell, or in total order.

use super::{CellPma, FREE, WIDE, prefetch_ahead, walk};
use crate::pma::{Ranked, Slot};

/// The indirection list of a [`CellPma`]: its slots in reading order, and the start of each cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellIndex {
    /// Cells that are not empty, ascending, and the index in `slots` where each begins.
    pub cells: Vec<(u32, u32)>,
    /// All slots in use, by cell, then by rank.
    pub slots: Vec<Slot>,
}

impl<P: Ranked> CellPma<P> {
    /// All elements in slot order, which depends on the history: for uses that do not depend on order.
    pub fn for_each(&self, mut f: impl FnMut(Slot, u32, &P)) {
        walk(&self.masks, &self.tags, &self.slots, |segment, at, tag, item| {
            f(at as Slot, self.heads[segment].base + u32::from(tag), item);
        });
    }

    /// The slots of a cell's elements, by rank. `list` is emptied first.
    pub fn cell(&self, cell: u32, list: &mut Vec<Slot>) {
        list.clear();
        let Some(&segment) = self.route.get(cell as usize) else { return };
        let Some(head) = self.heads.get(segment as usize) else { return };
        let tag = cell.wrapping_sub(head.base);
        if tag >= head.span {
            return;
        }
        let last = segment as usize;
        for segment in last + 1 - head.run as usize..=last {
            let at = segment * WIDE;
            for (w, tags) in self.tags[at..at + WIDE].chunks_exact(64).enumerate() {
                let mut m = 0u64;
                for (i, t) in tags.iter().enumerate() {
                    m |= u64::from(*t == tag as u8) << i;
                }
                while m != 0 {
                    list.push((at + 64 * w) as Slot + m.trailing_zeros());
                    m &= m - 1;
                }
            }
        }
        self.sort_by_rank(list);
    }

    /// The payload of a slot from a list of this array, since its last change.
    ///
    /// # Panics
    /// If there is no such slot.
    #[inline(always)]
    pub fn at(&self, slot: Slot) -> &P {
        &self.slots[slot as usize]
    }

    fn sort_by_rank(&self, slots: &mut [Slot]) {
        /// Up to this size, counting is faster than sorting.
        const FEW: usize = 32;
        let rank = |s: &Slot| self.slots[*s as usize].rank();
        let n = slots.len();
        if n < 2 {
            return;
        }
        if n > FEW {
            slots.sort_unstable_by_key(rank);
            return;
        }
        // The index of each is the number of those before it: branchless.
        let first = rank(&slots[0]);
        let (mut ranks, mut from) = ([first; FEW], [0; FEW]);
        for ((r, f), s) in ranks.iter_mut().zip(&mut from).zip(slots.iter()) {
            *r = rank(s);
            *f = *s;
        }
        let ranks = &ranks[..n];
        for i in 0..n {
            let earlier: u32 = ranks[..i].iter().map(|r| u32::from(*r <= ranks[i])).sum();
            let later: u32 = ranks[i + 1..].iter().map(|r| u32::from(*r < ranks[i])).sum();
            slots[(earlier + later) as usize] = from[i];
        }
    }

    /// All elements in reading order: by cell, then by rank.
    pub fn for_each_in_order(&self, mut f: impl FnMut(u32, Slot, &P)) {
        let mut group = Vec::new();
        self.groups(&mut group, |cell, slots| {
            for slot in slots {
                f(cell, *slot, &self.slots[*slot as usize]);
            }
        });
    }

    /// Fills the indirection list.
    pub fn index(&self, index: &mut CellIndex) {
        index.cells.clear();
        index.slots.clear();
        index.slots.reserve(self.len);
        self.groups(&mut Vec::new(), |cell, slots| {
            index.cells.push((cell, index.slots.len() as u32));
            index.slots.extend_from_slice(slots);
        });
    }

    /// Calls `f` with each cell that is not empty and its slots by rank.
    fn groups(&self, room: &mut Vec<Slot>, mut f: impl FnMut(u32, &[Slot])) {
        let mut segment = 0;
        while segment < self.masks.len() {
            let head = self.heads[segment];
            if head.span == 1 {
                room.clear();
                let mut last = segment;
                while self.heads[last].run == 1 {
                    last += 1;
                }
                for s in segment..=last {
                    let at = (s * WIDE) as Slot;
                    let tags = (at..).zip(&self.tags[s * WIDE..][..WIDE]);
                    room.extend(tags.filter(|(_, tag)| **tag != FREE).map(|(slot, _)| slot));
                }
                self.sort_by_rank(room);
                if !room.is_empty() {
                    f(head.base, room);
                }
                segment = last + 1;
                continue;
            }
            (0..WIDE / 64).for_each(|w| prefetch_ahead(&self.slots, segment, w));
            // A counting sort of at most 256 slots by tag.
            let at = segment * WIDE;
            let tags = &self.tags[at..at + WIDE];
            let mut starts = [0u16; WIDE];
            // The tag of a free slot is the highest, so it is sorted to the end.
            for tag in tags {
                starts[usize::from(*tag)] += 1;
            }
            let mut sum = 0;
            for s in &mut starts {
                sum += core::mem::replace(s, sum);
            }
            let held = usize::from(starts[usize::from(FREE)]);
            room.clear();
            room.resize(WIDE, 0);
            for (slot, tag) in (at as Slot..).zip(tags) {
                let to = &mut starts[usize::from(*tag)];
                room[usize::from(*to)] = slot;
                *to += 1;
            }
            room.truncate(held);
            let mut start = 0;
            while start < room.len() {
                let tag = tags[room[start] as usize - at];
                let end = usize::from(starts[usize::from(tag)]);
                self.sort_by_rank(&mut room[start..end]);
                f(head.base + u32::from(tag), &room[start..end]);
                start = end;
            }
            segment += 1;
        }
    }
}
