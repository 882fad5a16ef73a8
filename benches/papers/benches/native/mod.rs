//! The rivals of the fluid: what the paper calls the native code (after the habits of *Fluids* by R. Hoetzlein:
//! parcels as records in one array, chained by cell, lists of neighbours of a fixed length), and compact spatial
//! hashing. The equations are those of the library, one pair at a time.
#![allow(dead_code)] // each bench uses its part

pub mod hashing;
mod step;

use grainfield_papers::fluid::Settings;
#[allow(unused_imports)] // as above
pub use step::{Native, Policy, reference};

/// A small generator, the same each run.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 24) as f32
    }
}

/// A corner breaking dam of about `n` parcels in a box of so many cells of the radius.
pub struct Scene {
    pub settings: Settings,
    pub block: [f32; 3],
}

impl Scene {
    pub fn new(n: usize, cells: [f32; 3]) -> Scene {
        let spacing = 0.01f32;
        // As dense as the paper's: 20.7 neighbours.
        let radius = 1.735 * spacing;
        let size = cells.map(|c| (c - 0.5) * radius);
        let base = Settings::solid(size, spacing);
        // Sound four times as fast as a fall through the box: longer steps, more moves, as in the paper.
        let sound = 0.4 * base.sound;
        let settings = Settings { radius, sound, viscosity: 0.02 * radius * sound, ..base };
        // All of the depth, three quarters of the height, and as long as it takes.
        let (y, z) = ((0.75 * size[1] / spacing).floor(), (size[2] / spacing).floor());
        let x = (n as f32 / (y * z)).round();
        Scene { settings, block: [x, y, z].map(|v| v * spacing) }
    }
}

/// A parcel as the native code has it: 64 bytes, the size of a line.
#[derive(Clone, Copy, Default, Debug)]
#[repr(C, align(64))]
pub struct Body {
    pub pos: [f32; 3],
    pub vel: [f32; 3],
    pub force: [f32; 3],
    pub density: f32,
    pub pressure: f32,
    pub id: u32,
    /// The next of its cell, or `NONE`.
    pub next: u32,
    pub color: u32,
    pub spare: [u32; 2],
}

pub const NONE: u32 = u32::MAX;

/// Where the native code finds parcels: place `k` in reading order lies at `slot(k)`.
pub trait Hold {
    fn len(&self) -> usize;
    /// Beyond every slot.
    fn slots(&self) -> usize;
    fn slot(&self, k: usize) -> u32;
    fn at(&self, slot: u32) -> &Body;
    fn at_mut(&mut self, slot: u32) -> &mut Body;
}

/// Parcels in one array.
pub struct Bodies(pub Vec<Body>);

impl Bodies {
    pub fn new(places: &[[f32; 3]]) -> Bodies {
        Bodies((0..).zip(places).map(|(id, pos)| Body { id, pos: *pos, ..Body::default() }).collect())
    }
}

impl Hold for Bodies {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn slots(&self) -> usize {
        self.0.len()
    }
    #[inline(always)]
    fn slot(&self, k: usize) -> u32 {
        k as u32
    }
    #[inline(always)]
    fn at(&self, slot: u32) -> &Body {
        &self.0[slot as usize]
    }
    #[inline(always)]
    fn at_mut(&mut self, slot: u32) -> &mut Body {
        &mut self.0[slot as usize]
    }
}

/// Lists of neighbours of a fixed length, with squares of distances.
pub struct Near {
    pub count: Vec<u32>,
    pub near: Vec<u32>,
    pub d2: Vec<f32>,
}

/// The most neighbours of a parcel; more are dropped.
pub const STRIDE: usize = 64;

impl Near {
    pub fn new(n: usize) -> Near {
        Near { count: vec![0; n], near: vec![0; n * STRIDE], d2: vec![0.0; n * STRIDE] }
    }
    pub fn fit(&mut self, n: usize) {
        if self.count.len() < n {
            *self = Near::new(n + n / 4);
        }
    }
    pub fn clear(&mut self) {
        self.count.fill(0);
    }
    #[inline(always)]
    pub fn push(&mut self, i: u32, j: u32, d2: f32) {
        let n = self.count[i as usize] as usize;
        if n < STRIDE {
            self.near[i as usize * STRIDE + n] = j;
            self.d2[i as usize * STRIDE + n] = d2;
            self.count[i as usize] = n as u32 + 1;
        }
    }
    pub fn pairs(&self) -> usize {
        self.count.iter().map(|c| *c as usize).sum()
    }
}

/// A dense grid whose cells hold the first of a chain of parcels.
pub struct Chains {
    inv: f32,
    size: [i32; 3],
    wide: bool,
    h2: f32,
    heads: Vec<u32>,
}

impl Chains {
    /// Cells of `cell`, which is the radius (27 cells are searched) or twice that (8).
    pub fn new(domain: [f32; 3], cell: f32, radius: f32) -> Chains {
        let inv = 1.0 / (cell * 1.0003);
        let size = domain.map(|d| (d * inv) as i32 + 1);
        let cells = size.iter().map(|n| *n as usize).product();
        Chains { inv, size, wide: cell > 1.5 * radius, h2: radius * radius, heads: vec![NONE; cells] }
    }

    #[inline(always)]
    fn cell(&self, p: [f32; 3]) -> [i32; 3] {
        core::array::from_fn(|a| ((p[a] * self.inv) as i32).clamp(0, self.size[a] - 1))
    }

    #[inline(always)]
    fn index(&self, c: [i32; 3]) -> usize {
        ((c[2] * self.size[1] + c[1]) * self.size[0] + c[0]) as usize
    }

    /// Chains all parcels.
    pub fn insert(&mut self, bodies: &mut impl Hold) {
        self.heads.fill(NONE);
        for k in 0..bodies.len() {
            let slot = bodies.slot(k);
            let at = self.index(self.cell(bodies.at(slot).pos));
            bodies.at_mut(slot).next = self.heads[at];
            self.heads[at] = slot;
        }
    }

    /// Neighbours by slot.
    pub fn detect(&self, bodies: &impl Hold, near: &mut Near) {
        for k in 0..bodies.len() {
            let slot = bodies.slot(k);
            let pos = bodies.at(slot).pos;
            let cell = self.cell(pos);
            let (low, high): ([i32; 3], [i32; 3]) = if self.wide {
                let low =
                    core::array::from_fn(|a| cell[a] - i32::from(pos[a] * self.inv - (cell[a] as f32) < 0.5));
                (low, low.map(|v| v + 1))
            } else {
                (cell.map(|v| v - 1), cell.map(|v| v + 1))
            };
            for z in low[2].max(0)..=high[2].min(self.size[2] - 1) {
                for y in low[1].max(0)..=high[1].min(self.size[1] - 1) {
                    for x in low[0].max(0)..=high[0].min(self.size[0] - 1) {
                        let mut other = self.heads[self.index([x, y, z])];
                        while other != NONE {
                            let b = bodies.at(other);
                            let (dx, dy, dz) = (pos[0] - b.pos[0], pos[1] - b.pos[1], pos[2] - b.pos[2]);
                            let d2 = dx * dx + dy * dy + dz * dz;
                            if d2 < self.h2 && other != slot {
                                near.push(slot, other, d2);
                            }
                            other = b.next;
                        }
                    }
                }
            }
        }
    }
}
