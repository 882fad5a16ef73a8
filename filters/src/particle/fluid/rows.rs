//! Sums of the flat fluid, row by row: the parcels of three neighbouring cells of a row follow each other, so that what
//! is near is read as three runs, with no list of neighbours.
//!
//! Sixteen partial sums at a time, run by run, that are added up in a fixed tree.

use super::list::LANES;
use super::sums::total;
use crate::simd::multiversion;
use core::ops::Range;

/// What the sums of a stretch of rows are made of.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    /// Where the parcels of each cell begin; one more behind the last.
    pub(super) starts: &'a [u32],
    /// Cells across and down, and numbers from row to row.
    pub(super) size: [usize; 2],
    pub(super) row: usize,
    /// By place; sixteen more behind the last.
    pub(super) x: &'a [f32],
    pub(super) y: &'a [f32],
    pub(super) vx: &'a [f32],
    pub(super) vy: &'a [f32],
    /// Pressure over density squared.
    pub(super) press: &'a [f32],
    /// Rest density over density.
    pub(super) thin: &'a [f32],
    pub(super) c: &'a Constants,
}

/// Constants of the flat sums; as in [`settings`](super::settings), by the same derivation.
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
    /// Pressure over density squared, and rest density over density, of the parcels in the rows of cells.
    pub(super) fn densities(level, view: View<'_>, rows: Range<usize>, press: &mut [f32], thin: &mut [f32]) = densities_body;
    /// Accelerations of the parcels in the rows of cells.
    pub(super) fn forces(level, view: View<'_>, rows: Range<usize>, ax: &mut [f32], ay: &mut [f32]) = forces_body;
}

impl View<'_> {
    /// The parcels of the cell, and those of it and all around it.
    #[inline(always)]
    fn around(&self, i: usize, j: usize) -> (Range<usize>, [(usize, usize); 3]) {
        let [w, h] = self.size;
        let at = |j: usize, i: usize| self.starts[j * self.row + i] as usize;
        let own = at(j, i)..at(j, i + 1);
        let (left, right) = (i.saturating_sub(1), (i + 1).min(w - 1) + 1);
        let run = |j: usize| (at(j, left), at(j, right));
        let above = if j > 0 { run(j - 1) } else { (0, 0) };
        let below = if j + 1 < h { run(j + 1) } else { (0, 0) };
        (own, [above, run(j), below])
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

#[inline(always)]
fn densities_body(view: View<'_>, rows: Range<usize>, press: &mut [f32], thin: &mut [f32]) {
    let c = view.c;
    let mut out = press.iter_mut().zip(thin);
    for j in rows {
        for i in 0..view.size[0] {
            let (own, runs) = view.around(i, j);
            for k in own {
                let (x, y) = (view.x[k], view.y[k]);
                let mut sum = [0f32; LANES];
                for (from, to) in runs {
                    let mut at = from;
                    while at < to {
                        let left = to - at;
                        let (xs, ys) = (lanes(view.x, at), lanes(view.y, at));
                        for l in 0..LANES {
                            let (dx, dy) = (x - xs[l], y - ys[l]);
                            let s = (dx * dx + dy * dy).sqrt() * c.inv_h;
                            // At and beyond the radius, and behind the end of the run, nothing.
                            let t = if (l < left) & (s < 1.0) { 1.0 - s } else { 0.0 };
                            let t2 = t * t;
                            sum[l] += t2 * t2 * (1.0 + 4.0 * s);
                        }
                        at += LANES;
                    }
                }
                let density = total(&sum) * c.scale;
                let p = c.stiff * (density - 1.0);
                if let Some((press, thin)) = out.next() {
                    *thin = 1.0 / density;
                    *press = (if p > 0.0 { p } else { 0.0 }) / (density * density);
                }
            }
        }
    }
}

#[inline(always)]
fn forces_body(view: View<'_>, rows: Range<usize>, ax: &mut [f32], ay: &mut [f32]) {
    let c = view.c;
    let mut out = ax.iter_mut().zip(ay);
    for j in rows {
        for i in 0..view.size[0] {
            let (own, runs) = view.around(i, j);
            for k in own {
                let (x, y, u, v) = (view.x[k], view.y[k], view.vx[k], view.vy[k]);
                let (press, thin) = (view.press[k], view.thin[k]);
                let (mut sx, mut sy) = ([0f32; LANES], [0f32; LANES]);
                for (from, to) in runs {
                    let mut at = from;
                    while at < to {
                        let left = to - at;
                        let (xs, ys) = (lanes(view.x, at), lanes(view.y, at));
                        let (us, vs) = (lanes(view.vx, at), lanes(view.vy, at));
                        let (ps, ts) = (lanes(view.press, at), lanes(view.thin, at));
                        for l in 0..LANES {
                            let (dx, dy) = (x - xs[l], y - ys[l]);
                            let (du, dv) = (u - us[l], v - vs[l]);
                            let s = (dx * dx + dy * dy).sqrt() * c.inv_h;
                            // The parcel itself is at no distance, and does nothing to itself.
                            let t = if (l < left) & (s < 1.0) { 1.0 - s } else { 0.0 };
                            let along = dx * du + dy * dv;
                            let push = c.push * (press + ps[l]);
                            let drag = c.drag * (thin * ts[l]) * along;
                            let pull = c.pull * (t * (1.0 + 4.0 * s));
                            let f = (t * t * t) * ((push - drag) - pull);
                            sx[l] += f * dx;
                            sy[l] += f * dy;
                        }
                        at += LANES;
                    }
                }
                if let Some((ax, ay)) = out.next() {
                    (*ax, *ay) = (total(&sx), total(&sy));
                }
            }
        }
    }
}
