//! Plays the simple tracks, which depend on their newest key only: hold, linear and Hermite shapes with whole frames as
//! times. Most tracks are of this kind, so they decide the speed.
//!
//! The parameters of the current stretches are stored field by field for eight tracks together (five cache lines), so
//! that a frame is one linear pass. The newest key itself, which is needed when the next one arrives, is stored apart
//! in half a cache line per track.

use super::state::TrackState;
use crate::curve::segment::hermite;
use crate::curve::{Extrapolation, Key, KeyTime, MAX_VALUE, Shape};
use crate::ratio::Ratio;
use crate::simd::{Level, multiversion};
use core::cmp::Reverse;
use std::collections::BinaryHeap;

/// Tracks per block.
const WIDTH: usize = 8;
/// Frame numbers up to this one, and their differences, are exact in `f32`.
const LAST: i64 = 1 << 23;
/// The value of `left` for a track that is not played here; the lower bits are its slot.
const OTHER: u32 = 3 << 30;
/// The slot of a cyclic track, which is evaluated separately.
const NO_SLOT: u32 = !OTHER;

/// Eight tracks: cubics in the elapsed fraction of the stretch.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Block {
    start: [f32; WIDTH],
    length: [f32; WIDTH],
    c: [[f64; WIDTH]; 4],
}

const STILL: Block = Block { start: [0.0; WIDTH], length: [1.0; WIDTH], c: [[0.0; WIDTH]; 4] };

/// The newest key of a track.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct LatestKey {
    value: f64,
    leave: f64,
    arrive: f64,
    time: i32,
    /// The number of keys still to come; above it, in two bits, the shape: 0 hold, 1 linear, 2 Hermite.
    left: u32,
}

/// A key as stored in the stream, if it is one of the simple kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimpleKey {
    time: i32,
    shape: u32,
    value: f64,
    leave: f64,
    arrive: f64,
}

impl SimpleKey {
    fn of(key: &Key) -> Option<SimpleKey> {
        let KeyTime::Frame(n) = key.at else { return None };
        let (shape, leave, arrive) = match key.shape {
            Shape::Hold => (0, 0.0, 0.0),
            Shape::Linear => (1, 0.0, 0.0),
            Shape::Hermite { leave, arrive } => (2, leave, arrive),
            _ => return None,
        };
        (-LAST..=LAST).contains(&n).then_some(SimpleKey {
            time: n as i32,
            shape,
            value: key.value,
            leave,
            arrive,
        })
    }

    /// Decodes the track and key at the beginning of `data`, and their length in bytes; `None` also for invalid
    /// data.
    #[inline(always)]
    fn read(data: &[u8]) -> Option<(u32, SimpleKey, usize)> {
        fn number(data: &[u8; 37], at: usize) -> f64 {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&data[at..at + 8]);
            f64::from_le_bytes(bytes)
        }
        // The last few keys of a chunk may be shorter than this read; the general path decodes them.
        let all = data.first_chunk::<37>()?;
        let track = u32::from_le_bytes([all[0], all[1], all[2], all[3]]);
        let time = number(all, 4).to_bits() as i64;
        let (shape, bytes) = match all[12] {
            0 => (0, 21),
            1 => (1, 21),
            4 => (2, 37),
            _ => return None,
        };
        let (value, mut leave, mut arrive) = (number(all, 13), 0.0, 0.0);
        if shape == 2 {
            (leave, arrive) = (number(all, 21), number(all, 29));
        }
        let good = value.abs() <= MAX_VALUE && leave.abs() <= MAX_VALUE && arrive.abs() <= MAX_VALUE;
        let fits = (-LAST..=LAST).contains(&time) && good;
        fits.then_some((track, SimpleKey { time: time as i32, shape, value, leave, arrive }, bytes))
    }
}

/// The reason why reading of keys stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TakeEnd {
    /// The next key is needed later.
    Later,
    /// The next key is not of the simple kind, or is invalid, or the bytes have ended.
    Other,
}

/// All simple tracks.
#[derive(Clone, Debug)]
pub(super) struct FastTracks {
    pub(super) level: Level,
    blocks: Vec<Block>,
    newest: Vec<LatestKey>,
    /// Which tracks of a block change; the values of the others are already set.
    moving: Vec<u8>,
    /// When tracks reach their last keys. Other tracks change their stretch when a key is taken up.
    ends: BinaryHeap<Reverse<(i32, u32)>>,
}

impl FastTracks {
    pub(super) fn new(level: Level) -> FastTracks {
        FastTracks {
            level,
            blocks: Vec::new(),
            newest: Vec::new(),
            moving: Vec::new(),
            ends: BinaryHeap::new(),
        }
    }

    /// Resets to so many tracks, none of which is played here.
    pub(super) fn reset(&mut self, tracks: usize) {
        self.blocks.clear();
        self.blocks.resize(tracks.div_ceil(WIDTH), STILL);
        self.moving.clear();
        self.moving.resize(self.blocks.len(), 0);
        let aside = LatestKey { value: 0.0, leave: 0.0, arrive: 0.0, time: 0, left: OTHER | NO_SLOT };
        self.newest.clear();
        self.newest.resize(tracks, aside);
        self.ends.clear();
    }

    pub(super) fn memory(&self) -> usize {
        self.blocks.capacity() * size_of::<Block>()
            + self.newest.capacity() * size_of::<LatestKey>()
            + self.moving.capacity()
            + self.ends.capacity() * size_of::<(i32, u32)>()
    }

    /// Takes over a track if it is simple: its extrapolations, kept keys and number of keys to come.
    pub(super) fn put(&mut self, track: usize, active: &TrackState, values: &mut [f64]) -> bool {
        let (before, after, left) = active.about();
        if (before, after) != (Extrapolation::Hold, Extrapolation::Hold) || left >= 1 << 30 {
            return false;
        }
        let (first, last) = match *active.kept() {
            [one] if left == 0 => (None, SimpleKey::of(&one)),
            [one, two] if active.is_at_first() => match SimpleKey::of(&one) {
                Some(first) => (Some(first), SimpleKey::of(&two)),
                None => return false,
            },
            _ => return false,
        };
        let Some(last) = last else { return false };
        if let Some(first) = first {
            self.newest[track] = newest(&first, left + 1);
            self.push(track, &last, values);
        } else {
            self.newest[track] = newest(&last, 0);
            self.stop(track, last.value, values);
        }
        true
    }

    /// Marks a track as played in a slot of the general player, and returns its state: its newest key and the number
    /// of keys to come.
    pub(super) fn leave(&mut self, track: usize, slot: u32) -> TrackState {
        let LatestKey { value, leave, arrive, time, left } = self.newest[track];
        let shape = match left >> 30 {
            0 => Shape::Hold,
            1 => Shape::Linear,
            _ => Shape::Hermite { leave, arrive },
        };
        self.moving[track / WIDTH] &= !(1 << (track % WIDTH));
        self.other(track, slot);
        TrackState::after(Key { at: KeyTime::Frame(time.into()), value, shape }, left & !OTHER)
    }

    pub(super) fn other(&mut self, track: usize, slot: u32) {
        self.newest[track].left = OTHER | slot;
    }

    /// Where a track is played; `None` if there is no such track.
    pub(super) fn place(&self, track: usize) -> Option<TrackPlace> {
        let newest = self.newest.get(track)?;
        Some(match newest.left {
            n if n >> 30 != 3 => TrackPlace::Here((n & !OTHER > 0).then_some(newest.time.into())),
            n if n == OTHER | NO_SLOT => TrackPlace::Aside,
            n => TrackPlace::Slot((n & !OTHER) as usize),
        })
    }

    /// Takes up keys from `data` that are needed up to the frame `now`. Advances `done`; `last_need` is the time at
    /// which the last one was needed.
    pub(super) fn take(
        &mut self,
        data: &[u8],
        done: &mut usize,
        now: i64,
        last_need: &mut i64,
        values: &mut [f64],
    ) -> TakeEnd {
        let now = now.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        loop {
            let Some((track, key, bytes)) = data.get(*done..).and_then(SimpleKey::read) else {
                return TakeEnd::Other;
            };
            let Some(newest) = self.newest.get(track as usize) else { return TakeEnd::Other };
            let need = newest.time;
            if newest.left >= OTHER {
                return TakeEnd::Other;
            }
            if need > now {
                return TakeEnd::Later;
            }
            if newest.left & !OTHER == 0 || key.time <= need || i64::from(need) < *last_need {
                return TakeEnd::Other;
            }
            *last_need = need.into();
            *done += bytes;
            self.push(track as usize, &key, values);
        }
    }

    /// Takes up a key of a simple track; `false` if the key is not simple or cannot be the next one.
    pub(super) fn push_key(&mut self, track: usize, key: &Key, values: &mut [f64]) -> bool {
        let LatestKey { time, left, .. } = self.newest[track];
        match SimpleKey::of(key) {
            Some(key) if key.time > time && left & !OTHER > 0 => self.push(track, &key, values),
            _ => return false,
        }
        true
    }

    /// Sets the stretch from the newest key to the next.
    #[inline(always)]
    fn push(&mut self, track: usize, key: &SimpleKey, values: &mut [f64]) {
        let from = self.newest[track];
        let left = (from.left & !OTHER) - 1;
        self.newest[track] = newest(key, left);
        let h = f64::from(key.time) - f64::from(from.time);
        let (c, moves) = match from.left >> 30 {
            0 => (flat(from.value), false),
            1 => ([from.value, key.value - from.value, -0.0, -0.0], true),
            _ => (hermite(from.value, key.value, from.leave * h, from.arrive * h), true),
        };
        let (block, i) = (&mut self.blocks[track / WIDTH], track % WIDTH);
        // Exact, since both are small integers.
        (block.start[i], block.length[i]) = (from.time as f32, h as f32);
        block.c.iter_mut().zip(c).for_each(|(field, c)| field[i] = c);
        if moves {
            self.moving[track / WIDTH] |= 1 << i;
        } else {
            self.moving[track / WIDTH] &= !(1 << i);
            values[track] = c[0];
        }
        if left == 0 {
            self.ends.push(Reverse((key.time, track as u32)));
        }
    }

    fn stop(&mut self, track: usize, value: f64, values: &mut [f64]) {
        let (block, i) = (&mut self.blocks[track / WIDTH], track % WIDTH);
        block.c.iter_mut().zip(flat(value)).for_each(|(field, c)| field[i] = c);
        self.moving[track / WIDTH] &= !(1 << i);
        values[track] = value;
    }

    /// Sets every value that changes, after all keys needed at `now` have been taken up. `plain` is `now` as a float,
    /// if that and its differences to frames are exact.
    pub(super) fn evaluate(&mut self, now: Ratio, plain: Option<f64>, values: &mut [f64]) {
        let frame = now.floor();
        while let Some(Reverse((_, track))) = self.ends.peek().filter(|end| i64::from(end.0.0) <= frame) {
            let track = *track as usize;
            self.ends.pop();
            self.stop(track, self.newest[track].value, values);
        }
        match plain {
            Some(now) => evaluate(self.level, &self.blocks, &self.moving, now, values),
            None => self.exactly(now, values),
        }
    }

    /// Evaluates at a time that is not exact as a float, such as a third of a frame.
    fn exactly(&self, now: Ratio, values: &mut [f64]) {
        for (track, value) in values.iter_mut().enumerate() {
            let (b, i) = (&self.blocks[track / WIDTH], track % WIDTH);
            if self.moving[track / WIDTH] & 1 << i != 0 {
                let passed = (now - Ratio::whole(b.start[i] as i64)).to_f64();
                let u = (passed / f64::from(b.length[i])).clamp(0.0, 1.0);
                *value = b.c[0][i] + u * (b.c[1][i] + u * (b.c[2][i] + u * b.c[3][i]));
            }
        }
    }
}

/// Where a track is played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TrackPlace {
    /// In the simple player; the time at which its next key is needed, if there is one.
    Here(Option<i64>),
    /// In this slot of the general player.
    Slot(usize),
    /// A cyclic track, which is not played from the stream.
    Aside,
}

/// Adding negative zero changes no value, not even a negative zero.
const fn flat(value: f64) -> [f64; 4] {
    [value, -0.0, -0.0, -0.0]
}

fn newest(key: &SimpleKey, left: u32) -> LatestKey {
    let SimpleKey { time, shape, value, leave, arrive } = *key;
    LatestKey { value, leave, arrive, time, left: shape << 30 | left }
}

#[inline(always)]
fn evaluate_body(blocks: &[Block], moving: &[u8], now: f64, values: &mut [f64]) {
    let (whole, rest) = values.as_chunks_mut::<WIDTH>();
    for ((block, moving), out) in blocks.iter().zip(moving).zip(whole) {
        if *moving != 0 {
            *out = block_values(block, now);
        }
    }
    if let (Some(block), Some(1..)) = (blocks.last(), moving.last())
        && !rest.is_empty()
    {
        rest.copy_from_slice(&block_values(block, now)[..rest.len()]);
    }
}

#[inline(always)]
fn block_values(block: &Block, now: f64) -> [f64; WIDTH] {
    let mut out = [0.0; WIDTH];
    for (i, out) in out.iter_mut().enumerate() {
        let u = (now - f64::from(block.start[i])) / f64::from(block.length[i]);
        // Before its first key a track holds that value; after its last it has been stopped.
        let u = if u > 0.0 { u } else { 0.0 };
        *out = block.c[0][i] + u * (block.c[1][i] + u * (block.c[2][i] + u * block.c[3][i]));
    }
    out
}

multiversion! {
    /// Evaluates all blocks in which any track changes.
    fn evaluate(level, blocks: &[Block], moving: &[u8], now: f64, values: &mut [f64]) = evaluate_body;
}
