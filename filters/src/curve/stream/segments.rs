//! The current segments of all tracks, and their values.
//!
//! Lines and cubics are stored field by field for eight tracks together, so that a frame is one linear pass over
//! them, without branches. Blocks in which nothing moves are skipped. Bezier curves are evaluated in batches, and the
//! other shapes one by one.

use super::state::Active;
use crate::curve::bezier::{self, BATCH, Bezier};
use crate::curve::segment::Segment;
use crate::ratio::Ratio;
use crate::simd::{Level, multiversion};

/// Tracks per block.
const WIDTH: usize = 8;
/// No index in `special`.
const NONE: u32 = u32::MAX;
/// The start of a segment that does not move: the elapsed time is positive at any time.
const NEVER: f64 = -1e30;

/// Eight tracks: cubics in the elapsed fraction of the segment.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Block {
    start: [f64; WIDTH],
    length: [f64; WIDTH],
    c: [[f64; WIDTH]; 4],
}

const STILL: Block = Block { start: [NEVER; WIDTH], length: [1.0; WIDTH], c: [[0.0; WIDTH]; 4] };

/// The current segments of all tracks.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    pub(super) level: Level,
    blocks: Vec<Block>,
    /// The tracks of each block that are evaluated with it. The values of the others are already set.
    moving: Vec<u8>,
    /// Tracks with other shapes than lines and cubics.
    special: Vec<(u32, Segment)>,
    /// The index of a track in `special`.
    slots: Vec<u32>,
    /// A start cannot be represented as a float, so times are computed exactly until the next reset.
    exact: bool,
}

/// Times that are exact as floats, with all their differences: whole frames and halves, quarters, ... of them,
/// below 2^40.
fn plain(t: Ratio) -> Option<f64> {
    let good = t.den().count_ones() == 1 && t.den() <= 256 && t.num().unsigned_abs() < 1 << 40;
    good.then(|| t.to_f64())
}

/// The coefficients of a line or cubic. Adding products of negative zeros changes no value, not even a negative zero.
const fn coefficients(segment: &Segment) -> Option<[f64; 4]> {
    match *segment {
        Segment::Flat(a) => Some([a, -0.0, -0.0, -0.0]),
        Segment::Line(a, b) => Some([a, b - a, -0.0, -0.0]),
        Segment::Cubic(c) => Some(c),
        _ => None,
    }
}

impl Segments {
    pub(super) fn new(level: Level) -> Segments {
        let (blocks, moving, special, slots) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Segments { level, blocks, moving, special, slots, exact: false }
    }

    /// Resets to so many tracks, none of which moves.
    pub(super) fn reset(&mut self, tracks: usize) {
        let blocks = tracks.div_ceil(WIDTH);
        self.blocks.clear();
        self.blocks.resize(blocks, STILL);
        self.moving.clear();
        self.moving.resize(blocks, 0);
        self.special.clear();
        self.slots.clear();
        self.slots.resize(tracks, NONE);
        self.exact = false;
    }

    pub(super) fn memory(&self) -> usize {
        self.blocks.capacity() * size_of::<Block>()
            + self.moving.capacity()
            + self.special.capacity() * size_of::<(u32, Segment)>()
            + self.slots.capacity() * size_of::<u32>()
    }

    /// Sets the segment of a track, and its value if it does not move.
    #[inline(always)]
    pub(super) fn set(&mut self, track: usize, active: &Active, values: &mut [f64]) {
        let (block, i) = (&mut self.blocks[track / WIDTH], track % WIDTH);
        let still = match active.segment {
            Segment::Flat(a) => {
                values[track] = a;
                true
            }
            _ => false,
        };
        match (still, plain(active.start)) {
            (true, _) => block.start[i] = NEVER,
            (false, Some(start)) => block.start[i] = start,
            (false, None) => self.exact = true,
        }
        block.length[i] = active.length;
        let c = coefficients(&active.segment);
        block.c.iter_mut().zip(c.unwrap_or([-0.0; 4])).for_each(|(field, c)| field[i] = c);
        if c.is_some() && !still {
            self.moving[track / WIDTH] |= 1 << i;
        } else {
            self.moving[track / WIDTH] &= !(1 << i);
        }
        self.set_special(track, c.is_none().then_some(active.segment));
    }

    #[inline(always)]
    fn set_special(&mut self, track: usize, segment: Option<Segment>) {
        let slot = self.slots[track];
        match segment {
            Some(segment) if slot == NONE => {
                self.slots[track] = self.special.len() as u32;
                self.special.push((track as u32, segment));
            }
            Some(segment) => self.special[slot as usize].1 = segment,
            None if slot == NONE => {}
            None => {
                self.special.swap_remove(slot as usize);
                if let Some((moved, _)) = self.special.get(slot as usize) {
                    self.slots[*moved as usize] = slot;
                }
                self.slots[track] = NONE;
            }
        }
    }

    /// Sets every value that changes. `start` is the exact start of a track's segment.
    pub(super) fn evaluate(&self, now: Ratio, start: impl Fn(usize) -> Ratio, values: &mut [f64]) {
        let block = |track: usize| (&self.blocks[track / WIDTH], track % WIDTH);
        match plain(now).filter(|_| !self.exact) {
            Some(now) => {
                evaluate(self.level, &self.blocks, &self.moving, now, values);
                self.evaluate_special(
                    |track| {
                        let (b, i) = block(track);
                        (now - b.start[i]) / b.length[i]
                    },
                    values,
                );
            }
            // A time such as a third of a frame.
            None => {
                let elapsed = |track: usize| {
                    let (b, i) = block(track);
                    (now - start(track)).to_f64() / b.length[i]
                };
                for (track, value) in values.iter_mut().enumerate() {
                    let (b, i) = block(track);
                    if self.moving[track / WIDTH] & 1 << i != 0 {
                        *value = Segment::Cubic(b.c.map(|c| c[i])).value(elapsed(track));
                    }
                }
                self.evaluate_special(elapsed, values);
            }
        }
    }

    fn evaluate_special(&self, elapsed: impl Fn(usize) -> f64, values: &mut [f64]) {
        let still = Bezier { x: [0.0; 2], y: [0.0; 4] };
        let (mut batch, mut u, mut tracks) = ([still; BATCH], [0.0; BATCH], [0; BATCH]);
        let mut count = 0;
        let evaluate_batch = |batch: &_, u: &_, tracks: &[usize], values: &mut [f64]| {
            let mut out = [0.0; BATCH];
            bezier::values(self.level, batch, u, &mut out);
            tracks.iter().zip(out).for_each(|(track, v)| values[*track] = v);
        };
        for (track, segment) in &self.special {
            let track = *track as usize;
            match segment {
                Segment::Bezier(bezier) => {
                    (batch[count], u[count], tracks[count]) = (*bezier, elapsed(track), track);
                    count += 1;
                    if count == BATCH {
                        evaluate_batch(&batch, &u, &tracks, values);
                        count = 0;
                    }
                }
                Segment::Ray(..) => values[track] = segment.value(elapsed(track)),
                _ => values[track] = segment.value(elapsed(track).clamp(0.0, 1.0)),
            }
        }
        if count > 0 {
            evaluate_batch(&batch, &u, &tracks[..count], values);
        }
    }
}

#[inline(always)]
fn evaluate_body(blocks: &[Block], moving: &[u8], now: f64, values: &mut [f64]) {
    for ((block, moving), out) in blocks.iter().zip(moving).zip(values.chunks_mut(WIDTH)) {
        if *moving != 0 {
            let all: [f64; WIDTH] = core::array::from_fn(|i| {
                let u = (now - block.start[i]) / block.length[i];
                block.c[0][i] + u * (block.c[1][i] + u * (block.c[2][i] + u * block.c[3][i]))
            });
            out.copy_from_slice(&all[..out.len()]);
        }
    }
}

multiversion! {
    /// Evaluates all blocks in which any track moves.
    fn evaluate(level, blocks: &[Block], moving: &[u8], now: f64, values: &mut [f64]) = evaluate_body;
}
