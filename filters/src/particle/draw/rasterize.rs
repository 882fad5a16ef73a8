//! The coverage of many cells at a time, row by row.
//!
//! In each row only the cells between two bounds are computed, outside of which the coverage is zero. The values at
//! their centres show which cells are entirely outside or inside; the others are listed, and the means over their
//! points are computed for sixteen cells at a time. Between the ends of a streak, points across it are enough.
#![allow(clippy::needless_range_loop)] // a lane is an index into many arrays

use super::super::arch::whole;
use super::coverage::{Form, Outline, Taper};
use super::draw_plane::Cells;
use super::point_rule::{MAX_SUBSAMPLES, PointRule};
use super::style::MAX_CORNERS;
use bytemuck::Zeroable;

/// The number of cells of a vector.
pub(super) const LANES: usize = 16;
/// The width and height of a block in cells.
pub(super) const WIDE: usize = 64;
pub(super) const HIGH: usize = 32;
/// The stride of rows of cells: the last cells of a row are computed together with the padding after them.
const STRIDE: usize = WIDE + 2 * LANES;
/// The precision of distances with a margin, in luma samples.
const NEAR: f32 = 1.0 / 256.0;

pub(super) type F32x16 = [f32; LANES];

/// The coverage of the cells of a block by a shape.
#[derive(Zeroable)]
pub(super) struct CoverageMask {
    cover: [f32; HIGH * STRIDE],
    /// For each row, the range of cells with coverage.
    span: [[usize; 2]; HIGH],
    /// Cells whose means are needed: those for which the straight form of the distance is sufficient, and others.
    straight: [u16; HIGH * WIDE],
    others: [u16; HIGH * WIDE],
    rows: PointRows,
}

/// The y of rows of places in sixteen cells, times cosine and times sine.
type PointRows = [[F32x16; 2]; MAX_SUBSAMPLES];

impl CoverageMask {
    /// The first computed cell of a row, and the coverage of the cells, sixteen by sixteen; cells after the last have
    /// none.
    #[inline(always)]
    pub(super) fn row(&self, row: usize) -> (usize, &[F32x16]) {
        let [from, to] = self.span[row % HIGH];
        let cells = self.cover.get(row * STRIDE + from..).unwrap_or(&[]).as_chunks::<LANES>().0;
        (from, cells.get(..to.saturating_sub(from).div_ceil(LANES)).unwrap_or(&[]))
    }
}

/// The cells of a plane whose coverage is computed.
#[derive(Clone, Copy)]
pub(super) struct CellBlock<'a> {
    pub(super) cells: &'a Cells,
    /// Width over height of a sample as shown.
    pub(super) aspect: f32,
    /// The first cell, and the numbers of columns and rows.
    pub(super) first: [i32; 2],
    pub(super) size: [usize; 2],
    /// The shape's centre, in 1/256 of a luma sample.
    pub(super) centre: [i32; 2],
}

impl CellBlock<'_> {
    /// From the shape's centre to those of sixteen cells from column `i` on.
    #[inline(always)]
    pub(super) fn across(&self, i: usize) -> F32x16 {
        let (by, first) = (8 + self.cells.shift[0], self.cells.first[0]);
        let i = self.first[0] + i as i32;
        core::array::from_fn(|l| {
            let centre = ((i + l as i32) << by) + first;
            centre.wrapping_sub(self.centre[0]) as f32 * (1.0 / 256.0) * self.aspect
        })
    }

    /// The displayed size of a cell, in luma rows.
    #[inline(always)]
    pub(super) fn cell(&self) -> [f32; 2] {
        self.cells.displayed(self.aspect)
    }

    /// From the shape's centre to that of row `j`.
    #[inline(always)]
    pub(super) fn down(&self, j: usize) -> f32 {
        self.cells.offset(1, self.centre[1], self.first[1] + j as i32)
    }
}

/// A rotated box that contains the visible part.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) cos: f32,
    pub(super) sin: f32,
    /// Half its width and height.
    pub(super) half: [f32; 2],
    /// The radius of a circle that contains everything as well.
    pub(super) round: f32,
}

impl Bounds {
    /// With a margin for approximate depths: it does not change the coverage.
    fn with_margin(self, more: f32) -> Bounds {
        let grown = |v: f32| v * (257.0 / 256.0) + more;
        Bounds { half: self.half.map(grown), round: grown(self.round), ..self }
    }

    /// For every row of a block, the range of columns inside.
    #[inline(always)]
    pub(super) fn spans(&self, block: &CellBlock<'_>, out: &mut [[usize; 2]; HIGH]) {
        // A side that is nearly parallel to the rows does not bound them.
        let over = |v: f32| if v.abs() > 1.0 / 64.0 { 1.0 / v } else { 0.0 };
        let far = |over: f32, half: f32| if over == 0.0 { f32::INFINITY } else { half * over.abs() };
        let (over_sin, over_cos) = (over(self.sin), over(self.cos));
        let (by_sin, by_cos) = (far(over_sin, self.half[1]), far(over_cos, self.half[0]));
        let start = block.across(0)[0];
        let cells_per_sample = 1.0 / block.cell()[0];
        let most = block.size[0] as i32;
        let round = self.round * self.round;
        for (group, out) in out.chunks_mut(LANES).enumerate().take(block.size[1].div_ceil(LANES)) {
            let mut y = [0.0f32; LANES];
            for l in 0..LANES {
                y[l] = block.down(group * LANES + l);
            }
            let (mut from, mut to) = ([0i32; LANES], [0i32; LANES]);
            for l in 0..LANES {
                let (a, b) = (y[l] * self.cos * over_sin, -y[l] * self.sin * over_cos);
                let rest = round - y[l] * y[l];
                let wide = if rest > 0.0 { rest.sqrt() } else { -1e9 };
                let (low, other) = (a - by_sin, b - by_cos);
                let low = if other > low { other } else { low };
                let low = if -wide > low { -wide } else { low };
                let (high, other) = (a + by_sin, b + by_cos);
                let high = if other < high { other } else { high };
                let high = if wide < high { wide } else { high };
                // Integer parts are sufficient: there is a margin of half a cell on either side.
                from[l] = whole((low - start) * cells_per_sample - 0.5, 0, most);
                to[l] = whole((high - start) * cells_per_sample + 1.5, 0, most);
            }
            for (out, (from, to)) in out.iter_mut().zip(from.iter().zip(to)) {
                *out = [*from as usize, to as usize];
            }
        }
    }
}

/// The distances of points from the edge of a shape, in luma samples, positive inside. Points are rotated with the shape.
trait InsideDistance: Copy {
    /// Whether a point may be further inside than the soft edge is wide.
    const EXCEEDS_EDGE: bool = true;
    fn at(&self, x: &F32x16, y: &F32x16) -> F32x16;
    /// A simpler function with the same values where x is between minus and plus [`limit`](InsideDistance::limit), and
    /// that does not change with x; for soft edges it may, a little.
    #[inline(always)]
    fn straight(&self, _: bool) -> Option<impl InsideDistance> {
        None::<Self>
    }
    fn limit(&self) -> f32 {
        -1.0
    }
}

/// A function of sixteen points.
#[inline(always)]
fn each(x: &F32x16, y: &F32x16, f: impl Fn(f32, f32) -> f32) -> F32x16 {
    let mut out = [0.0; LANES];
    for l in 0..LANES {
        out[l] = f(x[l], y[l]);
    }
    out
}

#[derive(Clone, Copy)]
struct Disc {
    inverse_size: [f32; 2],
    smaller_half_size: f32,
}

impl InsideDistance for Disc {
    #[inline(always)]
    fn at(&self, x: &F32x16, y: &F32x16) -> F32x16 {
        each(x, y, |x, y| {
            let (u, v) = (x * self.inverse_size[0], y * self.inverse_size[1]);
            (1.0 - (u * u + v * v).sqrt()) * self.smaller_half_size
        })
    }
}

#[derive(Clone, Copy)]
struct Ring {
    inverse_size: [f32; 2],
    smaller_half_size: f32,
    middle: f32,
    band: f32,
}

impl InsideDistance for Ring {
    #[inline(always)]
    fn at(&self, x: &F32x16, y: &F32x16) -> F32x16 {
        each(x, y, |x, y| {
            let (u, v) = (x * self.inverse_size[0], y * self.inverse_size[1]);
            (self.band - ((u * u + v * v).sqrt() - self.middle).abs()) * self.smaller_half_size
        })
    }
}

#[derive(Clone, Copy)]
struct Streak<const EXCEEDS_EDGE: bool> {
    half: f32,
    thick: f32,
    taper: Taper,
}

impl<const EXCEEDS_EDGE: bool> InsideDistance for Streak<EXCEEDS_EDGE> {
    const EXCEEDS_EDGE: bool = EXCEEDS_EDGE;
    #[inline(always)]
    fn at(&self, x: &F32x16, y: &F32x16) -> F32x16 {
        each(x, y, |x, y| {
            let along = (x.abs() - self.half).max(0.0);
            // The left end is round.
            let from = if x > -self.half { x } else { -self.half };
            let width = self.taper.base + self.taper.slope * from;
            let width = if width < 1.0 { width } else { 1.0 };
            (self.thick * width - (along * along + y * y).sqrt()) * self.taper.norm
        })
    }
    #[inline(always)]
    fn straight(&self, soft: bool) -> Option<impl InsideDistance> {
        let even = self.taper.slope * self.thick <= if soft { MOST_GROWTH } else { 0.0 };
        even.then_some(Line::<EXCEEDS_EDGE> { thick: self.thick, taper: self.taper })
    }
    #[inline(always)]
    fn limit(&self) -> f32 {
        self.half
    }
}

/// A streak between its ends.
#[derive(Clone, Copy)]
struct Line<const EXCEEDS_EDGE: bool> {
    thick: f32,
    taper: Taper,
}

/// How much a streak may grow along a sample for a cell to be seen as a piece of an even one: within a cell of four
/// samples the middle then differs from the mean by less than the 1/510 that the rules of points keep.
const MOST_GROWTH: f32 = 1.0 / 32.0;

impl<const EXCEEDS_EDGE: bool> InsideDistance for Line<EXCEEDS_EDGE> {
    const EXCEEDS_EDGE: bool = EXCEEDS_EDGE;
    #[inline(always)]
    fn at(&self, x: &F32x16, y: &F32x16) -> F32x16 {
        each(x, y, |x, y| {
            let width = self.taper.base + self.taper.slope * x;
            let width = if width < 1.0 { width } else { 1.0 };
            (self.thick * width - y.abs()) * self.taper.norm
        })
    }
}

/// Parts of a cell across a streak, which stand for all of it between the ends, where nothing changes along the streak:
/// the distance of the middle of each from the cell's middle, and its share of the cell. The cell is as wide as its
/// diagonal is across the streak, and the lengths of lines through it along the streak are those of a trapezoid.
struct Across([[f32; 2]; 24]);

impl Across {
    /// For a cell of this size that is turned against the streak.
    #[inline(always)]
    fn new([w, h]: [f32; 2], [cos, sin]: [f32; 2]) -> Across {
        let (a, b) = (0.5 * w * sin.abs(), 0.5 * h * cos.abs());
        let (less, more) = if a < b { (a, b) } else { (b, a) };
        // Of the half on one side, the part up to a distance, times `more`. A rectangle has no slopes.
        let slope = if less > 0.001 * more { 0.25 / less } else { 0.0 };
        let part = |at: f32| {
            let rest = a + b - at;
            if rest >= 2.0 * less { at } else { more - rest * rest * slope }
        };
        let mut parts = [[0.0; 2]; 24];
        let step = 2.0 * (a + b) / parts.len() as f32;
        let (left, right) = parts.split_at_mut(12);
        let mut before = 0.0;
        for (k, (right, left)) in right.iter_mut().zip(left.iter_mut().rev()).enumerate() {
            let end = part((k + 1) as f32 * step);
            let (at, share) = ((k as f32 + 0.5) * step, (end - before) * (0.5 / more));
            (*left, *right) = ([-at, share], [at, share]);
            before = end;
        }
        Across(parts)
    }
}

#[derive(Clone, Copy)]
struct Polygon<'a> {
    lines: &'a [[f32; 3]],
}

impl InsideDistance for Polygon<'_> {
    #[inline(always)]
    fn at(&self, x: &F32x16, y: &F32x16) -> F32x16 {
        let mut d = [f32::INFINITY; LANES];
        for [nx, ny, away] in self.lines {
            for l in 0..LANES {
                let e = away - (x[l] * nx + y[l] * ny);
                d[l] = if e < d[l] { e } else { d[l] };
            }
        }
        d
    }
}

/// Computes the coverage of the cells of a block, times an opacity, from means over at most `most` by `most` points.
#[inline(always)]
pub(super) fn rasterize(
    outline: &Outline,
    block: &CellBlock<'_>,
    opacity: f32,
    most: u32,
    mask: &mut CoverageMask,
) {
    let n = outline.points_per_side(block.cell()).min(most);
    let to = Rasterizer { outline, block, opacity, rule: PointRule::of_points(n) };
    match outline.form {
        Form::Disc(inverse_size, smaller_half_size) => {
            to.shape(Disc { inverse_size, smaller_half_size }, mask);
        }
        Form::Ring(inverse_size, smaller_half_size, middle, band) => {
            to.shape(Ring { inverse_size, smaller_half_size, middle, band }, mask);
        }
        // No point is further inside than the soft edge is wide, so the coverage needs no upper limit.
        Form::Streak(half, thick, taper) if thick * outline.inv_edge <= 1.0 => {
            to.shape(Streak::<false> { half, thick, taper }, mask);
        }
        Form::Streak(half, thick, taper) => to.shape(Streak::<true> { half, thick, taper }, mask),
        Form::Polygon(ref lines, n) => to.shape(Polygon { lines: &lines[..n.min(MAX_CORNERS)] }, mask),
    }
}

#[derive(Clone, Copy)]
struct Rasterizer<'a> {
    outline: &'a Outline,
    block: &'a CellBlock<'a>,
    opacity: f32,
    /// The points of a cell along either axis.
    rule: &'static PointRule,
}

impl Rasterizer<'_> {
    #[inline(always)]
    fn shape<D: InsideDistance>(&self, d: D, mask: &mut CoverageMask) {
        match self.rule.n {
            0..=1 => self.middles(d, mask),
            _ => self.means(d, mask),
        }
    }

    /// The bounds of the shape, widened by half the diagonal of a cell and a quarter.
    #[inline(always)]
    fn spans(&self, mask: &mut CoverageMask) {
        let Outline { cos, sin, half, form, .. } = self.outline;
        let round = matches!(form, Form::Disc(..) | Form::Ring(..)) && half[0] == half[1];
        let round = if round { half[0] } else { f32::INFINITY };
        let bounds = Bounds { cos: *cos, sin: *sin, half: *half, round };
        bounds.with_margin(self.reach() + 0.25).spans(self.block, &mut mask.span);
    }

    /// Half the diagonal of a cell.
    #[inline(always)]
    fn reach(&self) -> f32 {
        let [w, h] = self.block.cell();
        0.5 * (w * w + h * h).sqrt()
    }

    /// Turned as the shape is.
    #[inline(always)]
    fn turned(&self, x: &F32x16, y: &F32x16) -> [F32x16; 2] {
        let (cos, sin) = (self.outline.cos, self.outline.sin);
        let (mut u, mut v) = ([0.0; LANES], [0.0; LANES]);
        for l in 0..LANES {
            u[l] = x[l] * cos + y[l] * sin;
            v[l] = y[l] * cos - x[l] * sin;
        }
        [u, v]
    }

    /// Four times the coverage at points of these depths: as in `coverage` except for powers of two, which do not
    /// change the bits of a product.
    #[inline(always)]
    fn ramp<D: InsideDistance>(&self, d: &F32x16) -> F32x16 {
        let inv_edge = 2.0 * self.outline.inv_edge;
        each(d, d, |d, _| {
            let t = d * inv_edge;
            let t = if t > 0.0 { t } else { 0.0 };
            let t = if !D::EXCEEDS_EDGE || t < 2.0 { t } else { 2.0 };
            t * t * (3.0 - t)
        })
    }

    /// The centre of a cell represents all of it.
    #[inline(always)]
    fn middles<D: InsideDistance>(&self, d: D, mask: &mut CoverageMask) {
        self.spans(mask);
        for j in 0..self.block.size[1].min(HIGH) {
            let [from, to] = mask.span[j];
            if from >= to {
                continue;
            }
            let y = [self.block.down(j); LANES];
            for i in (from..to).step_by(LANES) {
                let [u, v] = self.turned(&self.block.across(i), &y);
                let mut cover = self.ramp::<D>(&d.at(&u, &v));
                for l in 0..LANES {
                    cover[l] *= 0.25 * self.opacity;
                }
                put(mask, j * STRIDE + i, &cover);
            }
            put(mask, j * STRIDE + to, &[0.0; LANES]);
        }
    }

    /// Means over the points of a cell, where the centre is not sufficient.
    #[inline(always)]
    fn means<D: InsideDistance>(&self, d: D, mask: &mut CoverageMask) {
        self.spans(mask);
        let Outline { cos, sin, edge, .. } = *self.outline;
        let [w, h] = self.block.cell();
        // How far sample points are from the middle, where the corners are at 1.
        let share = self.rule.points().last().map_or(0.0, |[at, _]| 2.0 * at);
        let reach = share * self.reach() + NEAR;
        let straight = 0.5 * (w * sin.abs() + h * cos.abs()) + NEAR;
        let limit = d.limit() - reach;
        // A hard edge needs all points of the rule, which are those of the definition.
        let soft = self.rule.n >= 6 && edge >= 0.2 * w.max(h);
        let straight_form = d.straight(soft);
        let simpler = straight_form.is_some();
        let (mut straights, mut others) = (0, 0);
        for j in 0..self.block.size[1].min(HIGH) {
            let [from, to] = mask.span[j];
            if from >= to {
                continue;
            }
            let y = [self.block.down(j); LANES];
            for i in (from..to).step_by(LANES) {
                let [u, v] = self.turned(&self.block.across(i), &y);
                let deep = d.at(&u, &v);
                let mut cover = [0.0; LANES];
                let mut flags = [0u32; LANES];
                for l in 0..LANES {
                    let easy = simpler && u[l].abs() <= limit;
                    let near = if easy { straight } else { reach };
                    let (out, inside) = (deep[l] <= -near, deep[l] >= near + edge);
                    cover[l] = if inside { self.opacity } else { 0.0 };
                    let open = !(out | inside);
                    flags[l] = u32::from(open) << l | u32::from(open & easy) << (LANES + l);
                }
                put(mask, j * STRIDE + i, &cover);
                let bits = flags.iter().fold(0, |all, bit| all | bit);
                let here = 0xffff >> (LANES - (to - i).min(LANES));
                let (open, simple) = (bits & here, bits >> LANES & here);
                let id = (j * STRIDE + i) as u16;
                if simpler {
                    list(&mut mask.straight, &mut straights, id, simple);
                }
                list(&mut mask.others, &mut others, id, open ^ simple);
            }
            put(mask, j * STRIDE + to, &[0.0; LANES]);
        }
        let CoverageMask { cover, straight: easy, others: rest, rows, .. } = mask;
        if let Some(form) = straight_form {
            let across = soft.then(|| Across::new([w, h], [cos, sin]));
            self.listed(form, across.as_ref(), &easy[..straights], rows, cover);
        }
        self.listed(d, None, &rest[..others], rows, cover);
    }

    /// The means of the cells of a list.
    #[inline(always)]
    fn listed<D: InsideDistance>(
        &self,
        d: D,
        across: Option<&Across>,
        list: &[u16],
        rows: &mut PointRows,
        cover: &mut [f32; HIGH * STRIDE],
    ) {
        let (by, first) = ([0, 1].map(|a| 8 + self.block.cells.shift[a]), self.block.cells.first);
        for few in list.chunks(LANES) {
            let mut ids = [0u16; LANES];
            ids[..few.len()].copy_from_slice(few);
            let (mut x, mut y) = ([0.0f32; LANES], [0.0f32; LANES]);
            for l in 0..LANES {
                let (i, j) = (i32::from(ids[l]) % STRIDE as i32, i32::from(ids[l]) / STRIDE as i32);
                let at = [self.block.first[0] + i, self.block.first[1] + j];
                let from = |a: usize| {
                    ((at[a] << by[a]) + first[a]).wrapping_sub(self.block.centre[a]) as f32 * (1.0 / 256.0)
                };
                (x[l], y[l]) = (from(0) * self.block.aspect, from(1));
            }
            let mean = match across {
                Some(across) => self.mean_across(d, &x, &y, across),
                None => self.mean(d, &x, &y, rows),
            };
            for (id, mean) in few.iter().zip(mean) {
                cover[usize::from(*id) % (HIGH * STRIDE)] = mean;
            }
        }
    }

    /// The means around sixteen centres, times opacity, of what changes across a streak alone.
    #[inline(always)]
    fn mean_across<D: InsideDistance>(&self, d: D, x: &F32x16, y: &F32x16, across: &Across) -> F32x16 {
        let [u, v] = self.turned(x, y);
        let mut total = [0.0f32; LANES];
        for [at, share] in &across.0 {
            let mut shifted = [0.0f32; LANES];
            for l in 0..LANES {
                shifted[l] = v[l] + at;
            }
            let cover = self.ramp::<D>(&d.at(&u, &shifted));
            for l in 0..LANES {
                total[l] += cover[l] * share;
            }
        }
        for total in &mut total {
            *total *= 0.25 * self.opacity;
        }
        total
    }

    /// The means over the points around sixteen centres, times opacity: each column from top to bottom, then their sums
    /// from left to right.
    #[inline(always)]
    fn mean<D: InsideDistance>(&self, d: D, x: &F32x16, y: &F32x16, rows: &mut PointRows) -> F32x16 {
        let (cos, sin) = (self.outline.cos, self.outline.sin);
        let cell = self.block.cell();
        let (points, weighted) = (self.rule.points(), self.rule.weighted);
        for ([by_cos, by_sin], [at, _]) in rows.iter_mut().zip(points) {
            for l in 0..LANES {
                let y = y[l] + at * cell[1];
                (by_cos[l], by_sin[l]) = (y * cos, y * sin);
            }
        }
        let mut total = [0.0f32; LANES];
        for [at, weight] in points {
            let (mut by_cos, mut by_sin) = ([0.0f32; LANES], [0.0f32; LANES]);
            for l in 0..LANES {
                let x = x[l] + at * cell[0];
                (by_cos[l], by_sin[l]) = (x * cos, x * sin);
            }
            let mut sum = [0.0f32; LANES];
            for ([y_by_cos, y_by_sin], [_, weight]) in rows.iter().zip(points) {
                let (mut u, mut v) = ([0.0f32; LANES], [0.0f32; LANES]);
                for l in 0..LANES {
                    u[l] = by_cos[l] + y_by_sin[l];
                    v[l] = y_by_cos[l] - by_sin[l];
                }
                let cover = self.ramp::<D>(&d.at(&u, &v));
                for l in 0..LANES {
                    sum[l] += if weighted { cover[l] * weight } else { cover[l] };
                }
            }
            for l in 0..LANES {
                total[l] += sum[l] * weight;
            }
        }
        for total in &mut total {
            *total *= 0.25 * self.rule.scale * self.opacity;
        }
        total
    }
}

/// Writes sixteen cells.
#[inline(always)]
fn put(mask: &mut CoverageMask, at: usize, cells: &F32x16) {
    if let Some(to) = mask.cover.get_mut(at..).and_then(|c| c.first_chunk_mut::<LANES>()) {
        *to = *cells;
    }
}

/// Appends the indices of set bits, from `first` on, to a list.
#[inline(always)]
fn list(cells: &mut [u16; HIGH * WIDE], count: &mut usize, first: u16, mut bits: u32) {
    while bits != 0 {
        if let Some(to) = cells.get_mut(*count) {
            *to = first + bits.trailing_zeros() as u16;
            *count += 1;
        }
        bits &= bits - 1;
    }
}
