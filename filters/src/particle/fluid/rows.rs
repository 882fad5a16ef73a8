//! Sums of the 2-D fluid: the parcels of three adjacent cells of a row are consecutive, so that neighbours are read as
//! runs, without lists of neighbours.
//!
//! A parcel is compared with the parcels of its own row of cells, and they with it; pairs with the row below are
//! computed once for both, and the contributions to that row are summed cell by cell. So a task returns the sums of its
//! rows from these rows and the rows below, and the contributions to the rows below; the two parts are added
//! afterwards. Sixteen partial sums are computed per run and added in a fixed tree, so no sum depends on the division
//! of rows among tasks.

mod arch;

use crate::simd::multiversion;
pub(super) use arch::{densities, forces};
use core::ops::Range;

/// The data for the sums of consecutive rows.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    /// Where the parcels of each cell begin, row by row; one more behind the last.
    pub(super) starts: &'a [u32],
    /// Cells across and down.
    pub(super) size: [usize; 2],
    /// The cell of each parcel.
    pub(super) cells: &'a [u32],
    /// The parcels by place, and sixteen more behind the last.
    pub(super) x: &'a [f32],
    pub(super) y: &'a [f32],
    pub(super) vx: &'a [f32],
    pub(super) vy: &'a [f32],
    /// Pressure over density squared.
    pub(super) pressure_term: &'a [f32],
    /// Rest density over density.
    pub(super) inv_density: &'a [f32],
    pub(super) constants: &'a Constants,
}

/// Numbers per vector.
pub(super) const LANES: usize = 16;

/// Sixteen partial sums. Aligned, because a read that follows a write across two cache lines waits for the cache.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Sums([f32; LANES]);

impl Sums {
    const ZERO: Sums = Sums([0.0; LANES]);

    /// Their sum, in a fixed tree.
    #[inline(always)]
    fn total(&self) -> f32 {
        let v = &self.0;
        let v: [f32; 8] = core::array::from_fn(|k| v[k] + v[k + 8]);
        let v: [f32; 4] = core::array::from_fn(|k| v[k] + v[k + 4]);
        (v[0] + v[2]) + (v[1] + v[3])
    }
}

/// Constants of the sums, scaled by what they are on a square lattice of the settings' spacing, which is therefore at
/// rest. The kernel is Wendland's C2 with support `h`: `w(s) = (1-s)^4 (1+4s)` with `s = r/h`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    pub(super) inv_h: f32,
    pub(super) scale: f32,
    pub(super) push: f32,
    pub(super) drag: f32,
    pub(super) pull: f32,
    /// `c^2`.
    pub(super) stiff: f32,
}

multiversion! {
    /// Pressure over density squared, and rest density over density, from the two parts of the sums.
    pub(super) fn pressures(level, constants: &Constants, sums: [&[f32]; 2], pressure_term: &mut [f32], inv_density: &mut [f32]) = pressures_body;
}

impl<'a> View<'a> {
    /// Where the parcels of a row of cells begin; behind the last row, where all end.
    fn row(&self, j: usize) -> usize {
        self.starts[j.min(self.size[1]) * self.size[0]] as usize
    }

    /// The parcels of cell `i` of row `j`, those of it and the cells beside it, and those of the three cells below.
    #[inline(always)]
    fn around(&self, i: usize, j: usize) -> [Range<usize>; 3] {
        let [w, h] = self.size;
        let (left, right) = (i.saturating_sub(1), (i + 1).min(w - 1) + 1);
        let at = |j: usize, i: usize| self.starts[j * w + i] as usize;
        let below = if j + 1 < h { at(j + 1, left)..at(j + 1, right) } else { 0..0 };
        [at(j, i)..at(j, i + 1), at(j, left)..at(j, right), below]
    }

    /// The cells of a stretch of rows that hold something: see [`around`](View::around).
    #[inline(always)]
    fn held(self, rows: Range<usize>) -> impl Iterator<Item = [Range<usize>; 3]> + use<'a> {
        let (mut at, end, mut j) = (self.row(rows.start), self.row(rows.end), rows.start);
        core::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let cell = self.cells[at] as usize;
            while cell >= (j + 1) * self.size[0] {
                j += 1;
            }
            let around = self.around(cell - j * self.size[0], j);
            at = around[0].end;
            Some(around)
        })
    }
}

/// Sixteen numbers from a place on.
#[inline(always)]
fn lanes(v: &[f32], at: usize) -> &[f32; LANES] {
    match v[at..].first_chunk() {
        Some(lanes) => lanes,
        None => unreachable!("the arrays go on for sixteen behind the last parcel"),
    }
}

/// Sixteen sums from a place on.
#[inline(always)]
fn lanes_mut(v: &mut [f32], at: usize) -> &mut [f32; LANES] {
    match v[at..].first_chunk_mut() {
        Some(lanes) => lanes,
        None => unreachable!("the sums of a run go on to whole sixteens"),
    }
}

/// The sums of the parcels of a run over those of a cell: the first sixteen, usually all of them, and the rest.
struct NeighborSums {
    first: Sums,
    rest: Vec<f32>,
}

impl NeighborSums {
    const NONE: NeighborSums = NeighborSums { first: Sums::ZERO, rest: Vec::new() };

    /// Sums of zero, for a run.
    #[inline(always)]
    fn clear(&mut self, run: &Range<usize>) {
        self.first = Sums::ZERO;
        if run.len() > LANES {
            self.rest.clear();
            self.rest.resize((run.len() - LANES).next_multiple_of(LANES), 0.0);
        }
    }

    /// Adds it to the sums of the run's row, which begin with place `first`.
    #[inline(always)]
    fn add(&self, to: &mut [f32], first: usize, run: &Range<usize>) {
        if run.is_empty() {
            return;
        }
        let to = &mut to[run.start - first..];
        // Sums behind the end of the run are zero. Sixteen of them, a known number, are added as vectors.
        match to.first_chunk_mut::<LANES>() {
            Some(to) => to.iter_mut().zip(&self.first.0).for_each(|(to, sum)| *to += sum),
            None => to.iter_mut().zip(&self.first.0).for_each(|(to, sum)| *to += sum),
        }
        if run.len() > LANES {
            let to = &mut to[LANES..run.len()];
            to.iter_mut().zip(&self.rest).for_each(|(to, sum)| *to += sum);
        }
    }
}

/// Adds the kernel at sixteen places to both sums; nothing at and beyond the radius and from place `left` on.
#[inline(always)]
fn accumulate_density(
    view: &View<'_>,
    [x, y]: [f32; 2],
    at: usize,
    left: usize,
    sums: [&mut [f32; LANES]; 2],
) {
    let ([own, neighbors], inv_h) = (sums, view.constants.inv_h);
    let (xs, ys) = (lanes(view.x, at), lanes(view.y, at));
    for l in 0..LANES {
        let (dx, dy) = (x - xs[l], y - ys[l]);
        let s = (dx * dx + dy * dy).sqrt() * inv_h;
        let t = if (l < left) & (s < 1.0) { 1.0 - s } else { 0.0 };
        let t2 = t * t;
        let w = t2 * t2 * (1.0 + 4.0 * s);
        own[l] += w;
        neighbors[l] += w;
    }
}

#[inline(always)]
fn densities_body(view: View<'_>, rows: Range<usize>, own: &mut [f32], below: &mut [f32]) {
    let (first, next) = (view.row(rows.start), view.row(rows.start + 1));
    below.fill(0.0);
    let mut neighbors = NeighborSums::NONE;
    for [cell, beside, under] in view.held(rows) {
        neighbors.clear(&under);
        for k in cell {
            let place = [view.x[k], view.y[k]];
            let mut sum = Sums::ZERO;
            for at in beside.clone().step_by(LANES) {
                // The neighbour adds this pair in its own pass.
                accumulate_density(&view, place, at, beside.end - at, [&mut sum.0, &mut [0.0; LANES]]);
            }
            if !under.is_empty() {
                accumulate_density(
                    &view,
                    place,
                    under.start,
                    under.len(),
                    [&mut sum.0, &mut neighbors.first.0],
                );
                for at in (under.start + LANES..under.end).step_by(LANES) {
                    let neighbors = lanes_mut(&mut neighbors.rest, at - under.start - LANES);
                    accumulate_density(&view, place, at, under.end - at, [&mut sum.0, neighbors]);
                }
            }
            own[k - first] = sum.total();
        }
        neighbors.add(below, next, &under);
    }
}

#[inline(always)]
fn pressures_body(
    constants: &Constants,
    [own, above]: [&[f32]; 2],
    pressure_term: &mut [f32],
    inv_density: &mut [f32],
) {
    let n = own.len();
    let (above, pressure_term, inv_density) = (&above[..n], &mut pressure_term[..n], &mut inv_density[..n]);
    for k in 0..n {
        let density = (own[k] + above[k]) * constants.scale;
        let p = constants.stiff * (density - 1.0);
        inv_density[k] = 1.0 / density;
        pressure_term[k] = (if p > 0.0 { p } else { 0.0 }) / (density * density);
    }
}

/// A parcel: place, velocity, pressure over density squared, rest density over density.
type Known = [f32; 6];

/// Accumulates the pair forces of sixteen neighbours on a parcel, x and y; subtracts them from the neighbours.
#[inline(always)]
fn accumulate_forces(
    view: &View<'_>,
    own: Known,
    at: usize,
    left: usize,
    [sx, sy]: [&mut [f32; LANES]; 2],
    [tx, ty]: [&mut [f32; LANES]; 2],
) {
    let (c, [x, y, u, v, pressure_term, inv_density]) = (*view.constants, own);
    let (xs, ys) = (lanes(view.x, at), lanes(view.y, at));
    let (us, vs) = (lanes(view.vx, at), lanes(view.vy, at));
    let (ps, ts) = (lanes(view.pressure_term, at), lanes(view.inv_density, at));
    for l in 0..LANES {
        let (dx, dy) = (x - xs[l], y - ys[l]);
        let (du, dv) = (u - us[l], v - vs[l]);
        let s = (dx * dx + dy * dy).sqrt() * c.inv_h;
        // The parcel itself is at no distance, and does nothing to itself.
        let t = if (l < left) & (s < 1.0) { 1.0 - s } else { 0.0 };
        let along = dx * du + dy * dv;
        let push = c.push * (pressure_term + ps[l]);
        let drag = c.drag * (inv_density * ts[l]) * along;
        let pull = c.pull * (t * (1.0 + 4.0 * s));
        let f = (t * t * t) * ((push - drag) - pull);
        let (fx, fy) = (f * dx, f * dy);
        sx[l] += fx;
        sy[l] += fy;
        tx[l] -= fx;
        ty[l] -= fy;
    }
}

#[inline(always)]
fn forces_body(view: View<'_>, rows: Range<usize>, own: [&mut [f32]; 2], below: [&mut [f32]; 2]) {
    let (first, next) = (view.row(rows.start), view.row(rows.start + 1));
    let ([ax, ay], [bx, by]) = (own, below);
    bx.fill(0.0);
    by.fill(0.0);
    let (mut tx, mut ty) = (NeighborSums::NONE, NeighborSums::NONE);
    for [cell, beside, under] in view.held(rows) {
        tx.clear(&under);
        ty.clear(&under);
        for k in cell {
            let known =
                [view.x[k], view.y[k], view.vx[k], view.vy[k], view.pressure_term[k], view.inv_density[k]];
            let (mut sx, mut sy) = (Sums::ZERO, Sums::ZERO);
            for at in beside.clone().step_by(LANES) {
                let none = [&mut [0.0; LANES], &mut [0.0; LANES]];
                accumulate_forces(&view, known, at, beside.end - at, [&mut sx.0, &mut sy.0], none);
            }
            if !under.is_empty() {
                let neighbors = [&mut tx.first.0, &mut ty.first.0];
                accumulate_forces(&view, known, under.start, under.len(), [&mut sx.0, &mut sy.0], neighbors);
                for at in (under.start + LANES..under.end).step_by(LANES) {
                    let [tx, ty] =
                        [&mut tx, &mut ty].map(|t| lanes_mut(&mut t.rest, at - under.start - LANES));
                    accumulate_forces(&view, known, at, under.end - at, [&mut sx.0, &mut sy.0], [tx, ty]);
                }
            }
            (ax[k - first], ay[k - first]) = (sx.total(), sy.total());
        }
        tx.add(bx, next, &under);
        ty.add(by, next, &under);
    }
}
