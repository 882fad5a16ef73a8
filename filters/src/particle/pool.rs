//! The one pool: the living particles of an emitter, kept between frames so that births are made once.
//!
//! A ring of blocks, each the [`BLOCK`] particles whose numbers begin with the same digits, field by field. Where a
//! particle is follows from its number; which numbers may live follows from the time. So going on, going back and
//! starting anywhere leave the same pool, it is read in order of birth without sorting, nothing moves when a
//! particle dies, and nothing is allocated after [`Pool::new`].
//!
//! What a ring pays is the dead between the living. A life is BASE + r*OFFSET with |r| <= 1, so at a steady rate at
//! least half of any window of the longest life is alive.

use super::arch::prefetch;
use super::births::BLOCK;
use super::clock::LAST;
use super::emitter::{Columns, Emitter};
use super::kind::Kind;
use super::motion::{PlacedBlock, View, dress, place, velocities};
use crate::simd::Level;
use core::fmt;
use core::ops::Range;

/// How many blocks ahead memory is asked for: 4 kB, a few hundred nanoseconds of work.
const AHEAD: usize = 4;

/// A pool cannot be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PoolError {
    /// Up to `alive` particles live at a time, more than the `most` there is room for.
    TooMany {
        /// The proven bound.
        alive: i64,
        /// The most that was allowed.
        most: u32,
    },
    /// The machine does not give the memory: bytes asked for.
    Memory(usize),
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PoolError::TooMany { alive, most } => write!(
                f,
                "up to {alive} particles at a time, room for {most}: lower the rate or the life, or set a cap"
            ),
            PoolError::Memory(bytes) => write!(f, "no memory for particles: {bytes} bytes"),
        }
    }
}

impl core::error::Error for PoolError {}

/// Which particles of an emitter may live at a time: a rule of the emitter, its kind and the cap alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lives {
    /// Flicks after which none of the kind lives.
    pub longest: i64,
    /// Whoever is older than the youngest this many is dropped, dead or alive; no cap: `u32::MAX`.
    ///
    /// It goes by birth number, so a particle that is dropped stays dropped.
    pub cap: u32,
}

impl Lives {
    /// Lives of `kind`, capped.
    pub fn of(kind: &Kind, cap: Option<u32>) -> Lives {
        Lives { longest: kind.longest(), cap: cap.unwrap_or(u32::MAX) }
    }

    /// The numbers that may live at flick `at`: all others are dead, unborn or dropped.
    pub fn window(&self, emitter: &Emitter, at: i64) -> Range<i64> {
        let at = at.clamp(-LAST, LAST);
        let end = emitter.births.born(at);
        let start = emitter.births.born(at.saturating_sub(self.longest).max(-LAST));
        start.max(end.saturating_sub(i64::from(self.cap))).min(end)..end
    }

    /// No more than this many numbers are in any [`window`](Lives::window) between the two times.
    pub fn most(&self, emitter: &Emitter, span: Range<i64>) -> i64 {
        emitter.births.most(span.start, span.end, self.longest).clamp(0, i64::from(self.cap))
    }
}

/// The living particles of one emitter.
#[derive(Clone, Debug)]
pub struct Pool {
    emitter: Emitter,
    kind: Kind,
    lives: Lives,
    /// Block b of the numbers is at `b mod blocks.len()`.
    blocks: Vec<Columns>,
    /// Blocks that are filled.
    filled: Range<i64>,
    /// Numbers that may live now.
    window: Range<i64>,
    /// Where the window's first block is.
    head: usize,
    at: i64,
    level: Level,
}

impl Pool {
    /// A pool for every time in `span` (flicks), of at most `most` particles. It is empty until the first
    /// [`seek`](Pool::seek).
    pub fn new(
        emitter: Emitter,
        kind: Kind,
        cap: Option<u32>,
        span: Range<i64>,
        most: u32,
        level: Level,
    ) -> Result<Pool, PoolError> {
        let lives = Lives::of(&kind, cap);
        let alive = lives.most(&emitter, span);
        if alive > i64::from(most) {
            return Err(PoolError::TooMany { alive, most });
        }
        let count = Pool::blocks_for(alive);
        let mut blocks = Vec::new();
        blocks.try_reserve_exact(count).map_err(|_| PoolError::Memory(Pool::bytes_for(alive)))?;
        blocks.resize(count, Columns::EMPTY);
        Ok(Pool { emitter, kind, lives, blocks, filled: 0..0, window: 0..0, head: 0, at: 0, level })
    }

    /// Blocks that hold any `alive` numbers in a row.
    fn blocks_for(alive: i64) -> usize {
        if alive == 0 { 0 } else { (alive as usize - 1) / BLOCK + 2 }
    }

    /// Bytes that a pool of at most `alive` particles takes.
    pub fn bytes_for(alive: i64) -> usize {
        size_of::<Pool>() + Pool::blocks_for(alive.max(0)) * size_of::<Columns>()
    }

    /// Goes to flick `at`, which must be in the span the pool was made for: births that are not there yet are made.
    /// The nearer to where it was, the cheaper; the result is the same.
    ///
    /// Outside the span it may hold the youngest only, as many as there is room for: the window is cut at its old
    /// end, as a cap does.
    pub fn seek(&mut self, at: i64) {
        let window = self.lives.window(&self.emitter, at);
        (self.at, self.window) = (at, window.clone());
        if window.is_empty() {
            return;
        }
        let size = BLOCK as i64;
        let room = self.blocks.len() as i64;
        let last = (window.end - 1).div_euclid(size);
        let first = window.start.div_euclid(size).max(last + 1 - room);
        self.window.start = window.start.max(first.saturating_mul(size));
        let want = first..last + 1;
        for block in want.clone() {
            if !self.filled.contains(&block) {
                let slot = block.rem_euclid(room) as usize;
                self.emitter.fill(self.level, block, &mut self.blocks[slot]);
            }
        }
        // Blocks outside `want` may have been overwritten, so only those are known to be there.
        self.filled = want;
        self.head = first.rem_euclid(room) as usize;
    }

    /// How many blocks there are to place; changes with [`seek`](Pool::seek).
    pub fn blocks(&self) -> usize {
        let size = BLOCK as i64;
        if self.window.is_empty() {
            return 0;
        }
        ((self.window.end - 1).div_euclid(size) - self.window.start.div_euclid(size) + 1) as usize
    }

    /// Says who of block `index` (below [`blocks`](Pool::blocks)) lives and where, at the time of the last seek. Blocks may be placed in any
    /// order and at the same time; their numbers rise with the index.
    pub fn place(&self, index: usize, view: &View, out: &mut PlacedBlock) {
        let size = BLOCK as i64;
        let block = self.window.start.div_euclid(size) + index as i64;
        out.first = block * size;
        let lanes = lanes(out.first, &self.window);
        // The ring's place of the first block was found by the seek; the rest follow.
        let slot = self.head + index;
        let slot = if slot < self.blocks.len() { slot } else { slot - self.blocks.len() };
        if let Some(ahead) = self.blocks.get(slot + AHEAD) {
            prefetch(ahead);
        }
        match self.blocks.get(slot) {
            Some(columns) if lanes != 0 => {
                place(self.level, &self.kind, columns, self.at, view, lanes, out);
            }
            _ => out.live = 0,
        }
    }

    /// Gives the particles of a block that was placed their sizes and angles.
    pub fn dress(&self, placed: &mut PlacedBlock) {
        dress(self.level, &self.kind, placed);
    }

    /// The velocities, x, y and z, of what [`place`](Pool::place) has put into `placed`: of its lanes that live.
    pub fn velocities(&self, placed: &PlacedBlock, out: &mut [[f32; BLOCK]; 3]) {
        let slot = placed.first.div_euclid(BLOCK as i64).rem_euclid(self.blocks.len().max(1) as i64);
        if let Some(columns) = self.blocks.get(slot as usize) {
            velocities(self.level, &self.kind, columns, &placed.age, out);
        }
    }

    /// The particles the pool holds now, in order of number: those that may live.
    pub fn particles(&self) -> impl Iterator<Item = (i64, super::Particle)> + '_ {
        self.window.clone().map(|number| {
            let (block, lane) = (number.div_euclid(BLOCK as i64), number.rem_euclid(BLOCK as i64));
            let slot = block.rem_euclid(self.blocks.len() as i64) as usize;
            (number, self.blocks[slot].particle(lane as usize, self.emitter.kind))
        })
    }

    /// The numbers that may live now.
    pub fn window(&self) -> Range<i64> {
        self.window.clone()
    }

    /// The kind of its particles.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Bytes it takes, all of them since it was made.
    pub fn bytes(&self) -> usize {
        size_of::<Pool>() + self.blocks.capacity() * size_of::<Columns>()
    }
}

/// Which lanes of the block that begins with number `first` are in `window`, as bits.
pub fn lanes(first: i64, window: &Range<i64>) -> u64 {
    let size = BLOCK as i64;
    let low = window.start.saturating_sub(first).clamp(0, size) as u32;
    let high = window.end.saturating_sub(first).clamp(0, size) as u32;
    let below = |n: u32| 1u64.checked_shl(n).map_or(u64::MAX, |bit| bit - 1);
    below(high) & !below(low)
}
