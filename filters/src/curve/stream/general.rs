//! Plays all other tracks: those that depend on more than their newest key, or whose times are any fraction.

use super::segment_columns::SegmentColumns;
use super::state::TrackState;
use super::stretch::{PlainSegment, PreparedSegment};
use crate::ratio::Ratio;
use crate::simd::Level;

/// Tracks that depend on more than their newest key, by slot.
#[derive(Clone, Debug, Default)]
pub(super) struct GeneralTracks {
    pub(super) active: Vec<TrackState>,
    /// The track of each slot.
    tracks: Vec<u32>,
    /// The current stretch of every track, with floating-point times.
    lanes: SegmentColumns,
    /// A time cannot be represented as a float, so `ready` is used instead of `lanes`.
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

    /// The slot of the next track.
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

    /// Prepares the current stretch of a track.
    pub(super) fn renew(&mut self, slot: usize) {
        let ready = self.active[slot].ready();
        if self.exact {
            self.ready[slot] = ready;
        } else if let Some(hot) = PlainSegment::new(&ready) {
            self.lanes.set(slot, &hot);
        } else {
            // Use exact times until the next jump.
            self.exact = true;
            self.ready = self.active.iter().map(TrackState::ready).collect();
        }
    }

    /// Computes every value, after all keys needed at `now` have been taken up.
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
            // A time that is not exact as a float, such as a third of a frame, uses exact times for every
            // track.
            let over = !self.exact || self.ready[slot].end.is_some_and(|end| now >= end);
            if over && self.active[slot].advance(now) {
                self.renew(slot);
            }
            self.values[slot] =
                if self.exact { self.ready[slot].value(now) } else { self.active[slot].ready().value(now) };
        }
    }
}
