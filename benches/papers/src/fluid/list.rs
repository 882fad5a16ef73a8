//! Neighbour lists by vectors.
//!
//! The parcels of a cell and of the 26 around it are copied next to each other once a cell; then each parcel of the
//! cell is compared with sixteen of them at a time, and those near enough are written to its list.

mod arch;

use super::{FluidError, Layout};
use crate::simd::{Level, multiversion};

/// Parcels compared, and summed over, at a time.
pub const LANES: usize = 16;
/// The most parcels within reach of one cell.
pub const MAX_NEIGHBORS: usize = 4096;

/// Entries of the room for candidates: whole vectors are written behind the last.
const ROOM: usize = MAX_NEIGHBORS + 2 * LANES;

/// The neighbours of the parcels of a stretch of cells.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// The first parcel.
    first: u32,
    /// For each parcel, where its neighbours begin; then the end of all.
    starts: Vec<u32>,
    /// Neighbours, by parcel; behind the last there is room.
    near: Vec<u32>,
    /// The squares of their distances.
    d2: Vec<f32>,
}

impl List {
    /// The number of parcels that have a list.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether no parcel has one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of pairs, each counted in both directions.
    pub fn pairs(&self) -> usize {
        self.starts.last().map_or(0, |n| *n as usize)
    }

    /// The first parcel.
    pub fn first(&self) -> usize {
        self.first as usize
    }

    /// The neighbours of the list's parcel `k` (the layout's `first + k`), in the order of the grid (cells by z, y, x,
    /// then by place in the layout), and the squares of their distances.
    #[inline(always)]
    pub fn of(&self, k: usize) -> (&[u32], &[f32]) {
        let range = self.starts[k] as usize..self.starts[k + 1] as usize;
        (&self.near[range.clone()], &self.d2[range])
    }

    /// The same, with what follows, up to a whole number of vectors.
    #[inline(always)]
    pub(super) fn wide(&self, k: usize) -> (usize, &[u32], &[f32]) {
        let (from, to) = (self.starts[k] as usize, self.starts[k + 1] as usize);
        let end = from + (to - from).next_multiple_of(LANES);
        (to - from, &self.near[from..end], &self.d2[from..end])
    }

    /// Finds the neighbours of the parcels of the cells `held[cells]` of a layout whose cells are `radius` in size.
    ///
    /// # Errors
    /// [`FluidError::Crowded`] if more than [`MAX_NEIGHBORS`] parcels lie in the 27 cells around one.
    pub fn fill(
        &mut self,
        level: Level,
        layout: &Layout,
        cells: core::ops::Range<usize>,
        radius: f32,
        room: &mut Candidates,
    ) -> Result<(), FluidError> {
        let held = &layout.held()[cells];
        self.first = held.first().map_or(0, |h| h.first);
        self.starts.clear();
        self.starts.push(0);
        let mut used = 0;
        for cell in held {
            let count = gather(level, layout, cell.cell, room);
            if count > MAX_NEIGHBORS {
                return Err(FluidError::Crowded { count, most: MAX_NEIGHBORS });
            }
            // Room for every candidate, and the vector that is written behind the last.
            let need = used + cell.len as usize * count + LANES;
            if self.near.len() < need {
                let more = need + need / 4;
                self.near.resize(more, 0);
                self.d2.resize(more, 0.0);
            }
            for i in cell.first..cell.first + cell.len {
                let at = layout.at(i as usize);
                let out = (&mut self.near[used..], &mut self.d2[used..]);
                used += arch::test(level, room, i, at, radius * radius, out);
                self.starts.push(used as u32);
            }
        }
        Ok(())
    }
}

/// The parcels around a cell, copied to contiguous memory; a buffer that is kept between calls.
#[derive(Clone, Debug)]
pub struct Candidates {
    pub(super) x: Box<[f32; ROOM]>,
    pub(super) y: Box<[f32; ROOM]>,
    pub(super) z: Box<[f32; ROOM]>,
    pub(super) index: Box<[u32; ROOM]>,
    /// The number of vectors in use.
    pub(super) vectors: usize,
}

impl Default for Candidates {
    fn default() -> Candidates {
        let zeros = || Box::new([0.0; ROOM]);
        Candidates { x: zeros(), y: zeros(), z: zeros(), index: Box::new([0; ROOM]), vectors: 0 }
    }
}

multiversion! {
    /// Copies the parcels around a cell; how many there are, which may be more than were copied.
    fn gather(level, layout: &Layout, cell: [i32; 3], room: &mut Candidates) -> usize = gather_body;
}

#[inline(always)]
fn gather_body(layout: &Layout, cell: [i32; 3], room: &mut Candidates) -> usize {
    let mut runs = [(0, 0); 27];
    let n = layout.around(cell, &mut runs);
    let mut count = 0;
    // Arrays of one length each, so that one test serves all.
    let end = layout.x.len();
    let (x, y, z) = (&layout.x[..end], &layout.y[..end], &layout.z[..end]);
    for &(first, len) in &runs[..n] {
        let mut done = 0;
        while done < len as usize && count + done < MAX_NEIGHBORS {
            // Always a whole vector: what is beyond the parcels is overwritten by the next.
            let (from, n) = (first as usize + done, count + done);
            let (from, to) = (from..from + LANES, n..n + LANES);
            room.x[to.clone()].copy_from_slice(&x[from.clone()]);
            room.y[to.clone()].copy_from_slice(&y[from.clone()]);
            room.z[to.clone()].copy_from_slice(&z[from.clone()]);
            for (k, index) in room.index[to].iter_mut().enumerate() {
                *index = (from.start + k) as u32;
            }
            done += LANES;
        }
        count += len as usize;
    }
    let used = count.min(MAX_NEIGHBORS);
    // Nothing is near to what is infinitely far away.
    room.x[used..used + LANES].fill(f32::INFINITY);
    room.vectors = used.div_ceil(LANES);
    count
}

/// The definition: writes the candidates nearer than the root of `h2` to `out`, whose ends beyond them may be
/// overwritten too; how many there are.
#[inline(always)]
fn test_body(room: &Candidates, i: u32, at: [f32; 3], h2: f32, out: (&mut [u32], &mut [f32])) -> usize {
    const AT_ONCE: usize = 4;
    let mut n = 0;
    // Four vectors at a time: the end of the loop over the bits is guessed wrong each time.
    for first in (0..room.vectors).step_by(AT_ONCE) {
        let mut d2 = [0f32; AT_ONCE * LANES];
        let mut near = 0u64;
        for (v, d2) in (first..room.vectors).zip(d2.chunks_exact_mut(LANES)) {
            let range = v * LANES..(v + 1) * LANES;
            let (x, y, z) = (&room.x[range.clone()], &room.y[range.clone()], &room.z[range.clone()]);
            let index = &room.index[range];
            let mut hits = [0u32; LANES];
            for k in 0..LANES {
                let (dx, dy, dz) = (at[0] - x[k], at[1] - y[k], at[2] - z[k]);
                d2[k] = dx * dx + dy * dy + dz * dz;
                // No shortcut and one bit a lane, so that all lanes go at once.
                hits[k] = if (d2[k] < h2) & (index[k] != i) { 1 << k } else { 0 };
            }
            let hits = hits.iter().fold(0, |all, hit| all | hit);
            near |= u64::from(hits) << ((v - first) * LANES);
        }
        while near != 0 {
            let k = near.trailing_zeros() as usize;
            near &= near - 1;
            out.0[n] = room.index[first * LANES + k];
            out.1[n] = d2[k];
            n += 1;
        }
    }
    n
}
