//! Tracks that may need more than their newest key, and whose times may be any fraction: whatever there is.

use super::segment_columns::SegmentColumns;
use super::state::TrackState;
use super::stretch::{PlainSegment, PreparedSegment};
use crate::ratio::Ratio;
use crate::simd::Level;

/// Tracks that may need more than their newest key, by slots.
#[derive(Clone, Debug, Default)]
pub(super) struct GeneralTracks {
    pub(super) active: Vec<TrackState>,
    /// The track of each slot.
    tracks: Vec<u32>,
    /// What every track plays, in plain numbers.
    lanes: SegmentColumns,
    /// A time is no plain number: `ready` is in use in place of them.
    exact: bool,
    ready: Vec<PreparedSegment>,
    values: Vec<f64>,
}

impl GeneralTracks {
    pub(super) fn clear(&mut self) {
        self.active.clear();
        self.tracks.clear();
        self.lanes.clear();
        self.exact = false;
        self.ready.clear();
        self.values.clear();
    }

    /// The slot that the next track gets.
    pub(super) fn next_slot(&self) -> usize {
        self.active.len()
    }

    pub(super) fn add(&mut self, track: u32, active: TrackState) {
        let slot = self.active.len();
        if self.exact {
            self.ready.push(active.ready());
        }
        self.active.push(active);
        self.tracks.push(track);
        self.lanes.grow();
        self.values.push(0.0);
        self.renew(slot);
    }

    pub(super) fn memory(&self) -> usize {
        self.active.capacity() * size_of::<TrackState>()
            + self.ready.capacity() * size_of::<PreparedSegment>()
            + self.tracks.capacity() * size_of::<u32>()
            + self.values.capacity() * size_of::<f64>()
            + self.lanes.memory()
    }

    /// Makes ready what a track plays now.
    pub(super) fn renew(&mut self, slot: usize) {
        let ready = self.active[slot].ready();
        if self.exact {
            self.ready[slot] = ready;
        } else if let Some(hot) = PlainSegment::new(&ready) {
            self.lanes.set(slot, &hot);
        } else {
            // Goes on with exact times, until the next jump.
            self.exact = true;
            self.ready = self.active.iter().map(TrackState::ready).collect();
        }
    }

    /// Works out every value; all that is needed at `now` is there.
    pub(super) fn evaluate(&mut self, level: Level, now: Ratio, plain: Option<f64>, values: &mut [f64]) {
        self.own_values(level, now, plain);
        for (track, value) in self.tracks.iter().zip(&self.values) {
            values[*track as usize] = *value;
        }
    }

    fn own_values(&mut self, level: Level, now: Ratio, plain: Option<f64>) {
        if let Some(n) = plain {
            let mut from = 0;
            while let Some(slot) = self.lanes.ended(n, from).filter(|_| !self.exact) {
                if self.active[slot].advance(now) {
                    self.renew(slot);
                }
                from = slot + 1;
            }
            if !self.exact {
                return self.lanes.values(level, n, &mut self.values);
            }
        }
        for slot in 0..self.active.len() {
            // A time between plain ones, such as a third of a frame, is asked of every track exactly.
            let over = !self.exact || self.ready[slot].end.is_some_and(|end| now >= end);
            if over && self.active[slot].advance(now) {
                self.renew(slot);
            }
            self.values[slot] =
                if self.exact { self.ready[slot].value(now) } else { self.active[slot].ready().value(now) };
        }
    }
}
