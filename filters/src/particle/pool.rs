//! The one pool: the living particles of an emitter, kept between frames so that births are made once.
//!
//! A ring of blocks, each the [`BLOCK`] particles whose numbers begin with the same digits, field by field. Where a
//! particle is follows from its number; which numbers may live follows from the time. So going on, going back and
//! starting anywhere leave the same pool, it is read in order of birth without sorting, nothing moves when a
//! particle dies, and nothing is allocated after [`Pool::new`].
//!
//! A ring also stores dead particles: a quarter of it at lives of 1 to 2 seconds, half of it at lives of
//! 0 to any length. Where lives vary that much, the ring holds the births since the last full sixteenth of the longest
//! life only, and a [`SurvivorCache`] those before that lived then. It moves with the clock, not with the player, so
//! the pool is still a function of the time.

use super::arch::prefetch;
use super::births::BLOCK;
use super::clock::LAST;
use super::emitter::{Columns, Emitter};
use super::kind::{Kind, Parameter};
use super::motion::{PlacedBlock, View, place, set_size_and_angle, starts};
use super::ring::{LiveWindow, Ring, blocks_of, lanes};
use super::survivor_cache::{SurvivorBlock, SurvivorCache};
use crate::simd::Level;
use core::ops::Range;

/// The part of dead particles in a window of the longest life from which a survivor cache is used. Found by measuring:
/// a ring of a fifth dead and a survivor cache cost the same.
const VARIED: f32 = 0.2;

/// The number of times that the survivor cache is filled in the longest life. More cost time, fewer leave more dead.
const STEPS: i64 = 16;

/// The prefetch distance in blocks: 4 kB, a few hundred nanoseconds of work.
const AHEAD: usize = 4;

/// A pool cannot be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PoolError {
    /// Up to `alive` particles live at a time, more than the `most` there is room for.
    #[error("up to {alive} particles at a time, room for {most}: lower the rate or the life, or set a cap")]
    TooMany {
        /// The proven bound.
        alive: i64,
        /// The most that was allowed.
        most: u32,
    },
    /// The machine does not give the memory: bytes asked for.
    #[error("no memory for particles: {0} bytes")]
    Memory(usize),
}

/// The living particles of one emitter.
#[derive(Clone, Debug)]
pub struct Pool {
    emitter: Emitter,
    kind: Kind,
    live_window: LiveWindow,
    ring: Ring,
    /// Those born before the ring's, where lives vary much.
    survivors: Option<SurvivorCache>,
    /// Numbers that may live now.
    window: Range<i64>,
    /// Blocks of the window that are in the ring, and the ring's place of the first.
    young: Range<i64>,
    head: usize,
    at: i64,
    level: Level,
}

/// The size of a pool, computed before it is created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PoolSize {
    /// The proven bound on the numbers that may live at a time.
    pub alive: i64,
    /// Bytes, all that the pool ever takes.
    pub bytes: usize,
    ring: usize,
    survivors: usize,
    step: i64,
}

impl PoolSize {
    /// Room for every time in `span`.
    fn find(live_window: &LiveWindow, kind: &Kind, emitter: &Emitter, span: Range<i64>) -> PoolSize {
        let alive = live_window.max_alive(emitter, span.clone());
        // Numbers in a row that begin anywhere in a block.
        let blocks = |numbers: i64| if numbers == 0 { 0 } else { (numbers as usize - 1) / BLOCK + 2 };
        let life = kind.parameter(Parameter::Life);
        let (ring, survivors, step) = if life.offset.abs() < VARIED * (life.base + life.offset.abs()) {
            (blocks(alive), 0, 0)
        } else {
            let step = (live_window.longest / STEPS).max(1);
            let births =
                emitter.births.max_alive(span.start, span.end, step).clamp(0, i64::from(live_window.cap));
            // The ring's first block may begin before the step does.
            (blocks(births + BLOCK as i64), (alive as usize).div_ceil(BLOCK), step)
        };
        let bytes = size_of::<Pool>() + ring * size_of::<Columns>() + survivors * size_of::<SurvivorBlock>();
        PoolSize { alive, bytes, ring, survivors, step }
    }
}

impl Pool {
    /// The size that a pool would have.
    pub fn room(emitter: &Emitter, kind: &Kind, cap: Option<u32>, span: Range<i64>) -> PoolSize {
        PoolSize::find(&LiveWindow::of(kind, cap), kind, emitter, span)
    }

    /// A pool for every time in `span` (flicks), of at most `most` particles. It is empty until the first
    /// [`seek`](Pool::seek).
    ///
    /// # Errors
    /// More than `most` particles may live at a time, or the machine does not give the memory.
    pub fn new(
        emitter: Emitter,
        kind: Kind,
        cap: Option<u32>,
        span: Range<i64>,
        most: u32,
        level: Level,
    ) -> Result<Pool, PoolError> {
        let live_window = LiveWindow::of(&kind, cap);
        let room = PoolSize::find(&live_window, &kind, &emitter, span);
        if room.alive > i64::from(most) {
            return Err(PoolError::TooMany { alive: room.alive, most });
        }
        let blocks = reserve(room.ring, Columns::EMPTY).ok_or(PoolError::Memory(room.bytes))?;
        let kept = reserve(room.survivors, SurvivorBlock::EMPTY).ok_or(PoolError::Memory(room.bytes))?;
        let survivors = (room.step > 0).then(|| SurvivorCache::new(kept, room.step));
        let ring = Ring { blocks, filled: 0..0 };
        Ok(Pool {
            emitter,
            kind,
            live_window,
            ring,
            survivors,
            window: 0..0,
            young: 0..0,
            head: 0,
            at: 0,
            level,
        })
    }

    /// Goes to flick `at`, which must be in the span the pool was made for: births that are not there yet are made.
    /// The nearer to where it was, the cheaper; the result is the same.
    ///
    /// Outside the span it may hold the youngest only, as many as there is room for: the window is cut at its old
    /// end, as a cap does.
    pub fn seek(&mut self, at: i64) {
        let at = at.clamp(-LAST, LAST);
        self.at = at;
        self.window = self.live_window.window(&self.emitter, at);
        let mut start = self.window.start;
        if let Some(survivors) = &mut self.survivors {
            survivors.seek(at, &self.emitter, &self.kind, &self.live_window, &mut self.ring, self.level);
            start = start.max(survivors.edge());
        }
        self.young = if start < self.window.end { blocks_of(start..self.window.end) } else { 0..0 };
        let room = self.ring.blocks.len() as i64;
        if self.young.end - self.young.start > room {
            self.young.start = self.young.end - room;
            self.window.start = self.window.start.max(self.young.start * BLOCK as i64);
        }
        self.ring.want(self.young.clone(), &self.emitter, self.level);
        self.head = self.ring.slot(self.young.start);
    }

    /// How many blocks there are to place; changes with [`seek`](Pool::seek).
    pub fn blocks(&self) -> usize {
        self.old() + (self.young.end - self.young.start) as usize
    }

    /// The number of blocks of the survivor cache.
    fn old(&self) -> usize {
        self.survivors.as_ref().map_or(0, SurvivorCache::blocks)
    }

    /// Block `index` of the survivor cache, and the one to prefetch.
    fn survivor_block(&self, index: usize) -> Option<(&SurvivorBlock, Option<&Columns>)> {
        let survivors = self.survivors.as_ref()?;
        survivors.block(index).map(|kept| (kept, survivors.block(index + AHEAD).map(|k| &k.columns)))
    }

    /// Block `index` of the ring, counted from its first, and the one to prefetch.
    #[inline(always)]
    fn in_ring(&self, index: usize) -> Option<(&Columns, Option<&Columns>)> {
        // The ring's place of the first block was found by the seek; the rest follow.
        let slot = self.head + index;
        let slot = if slot < self.ring.blocks.len() { slot } else { slot - self.ring.blocks.len() };
        self.ring.blocks.get(slot).map(|c| (c, self.ring.blocks.get(slot + AHEAD)))
    }

    /// The columns of block `index`.
    pub(super) fn block(&self, index: usize) -> Option<&Columns> {
        match self.survivor_block(index) {
            Some((kept, _)) => Some(&kept.columns),
            None => self.in_ring(index - self.old().min(index)).map(|b| b.0),
        }
    }

    /// Writes the live mask and the positions of block `index` (below [`blocks`](Pool::blocks)) at the time of the last
    /// seek. Blocks may be placed in any order and at the same time; their numbers rise with the index.
    pub fn place(&self, index: usize, view: &View, out: &mut PlacedBlock) {
        let (lanes, found) = match self.survivor_block(index) {
            Some((kept, ahead)) => {
                out.number_by(kept.first, &kept.offset);
                (kept.lanes(&self.window), Some((&kept.columns, ahead)))
            }
            None => {
                let index = index - self.old().min(index);
                let first = (self.young.start + index as i64) * BLOCK as i64;
                out.number_in_a_row(first);
                (lanes(first, &self.window), self.in_ring(index))
            }
        };
        match found {
            Some((columns, ahead)) if lanes != 0 => {
                if let Some(ahead) = ahead {
                    prefetch(ahead);
                }
                place(self.level, &self.kind, columns, self.at, view, lanes, out);
            }
            _ => out.live = 0,
        }
    }

    /// Gives the particles of a block that was placed their sizes and angles.
    pub fn set_size_and_angle(&self, placed: &mut PlacedBlock) {
        set_size_and_angle(self.level, &self.kind, placed);
    }

    /// When the particles of block `index` are born, in flicks, lane by lane.
    pub fn births(&self, index: usize) -> Option<&[i64; BLOCK]> {
        self.block(index).map(|columns| &columns.birth)
    }

    /// Where the particles of block `index` are born and the velocities that they start with, x, y and z.
    pub fn starts(&self, index: usize, from: &mut [[f32; BLOCK]; 3], start: &mut [[f32; BLOCK]; 3]) {
        if let Some(columns) = self.block(index) {
            *from = columns.position;
            starts(self.level, &self.kind, columns, start);
        }
    }

    /// The kind of its particles.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Bytes it takes, all of them since it was made.
    pub fn bytes(&self) -> usize {
        size_of::<Pool>()
            + self.ring.blocks.capacity() * size_of::<Columns>()
            + self.survivors.as_ref().map_or(0, SurvivorCache::bytes)
    }
}

/// `count` of them, or nothing if the memory is not given.
fn reserve<T: Clone>(count: usize, empty: T) -> Option<Vec<T>> {
    let mut all = Vec::new();
    all.try_reserve_exact(count).ok()?;
    all.resize(count, empty);
    Some(all)
}
