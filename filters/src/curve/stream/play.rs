//! The player of a stream: a position in time that moves.

use super::fast::{FastTracks, TakeEnd, TrackPlace};
use super::general::GeneralTracks;
use super::state::TrackState;
use super::stretch::plain;
use crate::curve::Key;
use crate::ratio::Ratio;
use crate::simd::Level;

/// A position in time: the active keys and the value of every track. Made by
/// [`Tracks::start`](super::Tracks::start) and moved by [`Tracks::seek`](super::Tracks::seek). Its size depends
/// only on the number of tracks.
#[derive(Clone, Debug)]
pub struct Playhead {
    pub(super) now: Option<Ratio>,
    /// Tracks that need only their newest key.
    pub(super) fast: FastTracks,
    /// The other tracks; all tracks, including the cyclic ones, if the states themselves are wanted.
    pub(super) general: GeneralTracks,
    pub(super) states: bool,
    pub(super) values: Vec<f64>,
    /// The current chunk of points, its position, and how much of it has been read.
    pub(super) chunk: Vec<u8>,
    pub(super) place: u64,
    pub(super) done: usize,
    /// The next key and its track, read but not yet needed, and its position.
    pub(super) next: Option<(u32, Key, u64)>,
    /// When the last key was needed: times of need must not decrease.
    pub(super) last_need: Option<Ratio>,
}

impl Playhead {
    /// A playhead before any jump frame has been read. With `states`, it is used to read the state of every
    /// track.
    pub(super) fn new(states: bool) -> Playhead {
        Playhead {
            now: None,
            fast: FastTracks::new(Level::best()),
            general: GeneralTracks::default(),
            states,
            values: Vec::new(),
            chunk: Vec::new(),
            place: 0,
            done: 0,
            next: None,
            last_need: None,
        }
    }

    /// The value of each track at the current time.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The time of the last seek; `None` before the first.
    pub const fn now(&self) -> Option<Ratio> {
        self.now
    }

    /// Memory in bytes.
    pub fn memory(&self) -> usize {
        let lists = self.fast.memory() + self.general.memory() + self.values.capacity() * size_of::<f64>();
        size_of::<Playhead>() + lists + self.chunk.capacity()
    }

    /// Drops all states, and prepares for so many tracks.
    pub(super) fn reset(&mut self, tracks: usize) {
        self.fast.reset(tracks);
        self.general.clear();
        self.values.clear();
        self.values.resize(tracks, 0.0);
    }

    /// Sets the state of a track, once each after [`reset`](Playhead::reset).
    pub(super) fn put(&mut self, track: usize, active: TrackState) {
        if !self.states && (active.is_cyclic() || self.fast.put(track, &active, &mut self.values)) {
            return;
        }
        self.fast.other(track, self.general.next_slot() as u32);
        self.general.add(track as u32, active);
    }

    /// Takes up simple keys that are needed up to `now`.
    pub(super) fn take(&mut self, now: Ratio) -> TakeEnd {
        let mut last = self.last_need.map_or(i64::MIN, Ratio::floor);
        let stop = self.fast.take(&self.chunk, &mut self.done, now.floor(), &mut last, &mut self.values);
        if last > i64::MIN {
            self.last_need = self.last_need.max(Some(Ratio::whole(last)));
        }
        stop
    }

    /// When the next key of a track is needed; `None` if there is none.
    pub(super) fn need(&self, track: usize) -> Option<Ratio> {
        match self.fast.place(track)? {
            TrackPlace::Here(need) => need.map(Ratio::whole),
            TrackPlace::Slot(slot) => self.general.active[slot].need(),
            TrackPlace::Aside => None,
        }
    }

    /// Takes up a track's next key, which is needed now; `false` if it cannot be the next.
    pub(super) fn push(&mut self, track: usize, key: Key, need: Ratio) -> bool {
        let slot = match self.fast.place(track) {
            Some(TrackPlace::Here(_)) if self.fast.push_key(track, &key, &mut self.values) => return true,
            Some(TrackPlace::Here(_)) => {
                let slot = self.general.next_slot();
                let active = self.fast.leave(track, slot as u32);
                self.general.add(track as u32, active);
                slot
            }
            Some(TrackPlace::Slot(slot)) => slot,
            _ => return false,
        };
        let active = &mut self.general.active[slot];
        active.advance(need);
        let fits = active.push(key);
        self.general.renew(slot);
        fits
    }

    /// Computes every value, after all keys needed at `now` have been taken up.
    pub(super) fn evaluate(&mut self, now: Ratio) {
        self.now = Some(now);
        let plain = plain(now);
        self.fast.evaluate(now, plain, &mut self.values);
        self.general.evaluate(self.fast.level, now, plain, &mut self.values);
    }
}
