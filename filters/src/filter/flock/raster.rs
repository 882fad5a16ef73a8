//! Rasterizes triangles of several poses to a picture of premultiplied colour: each pose is sampled at its own points, the
//! nearest surface wins, and the mean over all points of a sample is blurred as by a lens.
//!
//! A triangle covers the points between its edges and those on its upper and left edges. The position where a row of points
//! crosses an edge depends on the edge's ends alone, so triangles that share an edge leave no gap between them.

use super::vector::V;

/// The largest number of points of a strip.
const POINTS: usize = 1 << 16;
/// Rows above and below a strip that its kernel reads.
pub(super) const REACH: usize = 2;

/// The distance of a point without a surface.
const FAR: f32 = f32::INFINITY;

/// The order in which points of four by four are left out of thin surfaces.
const ORDER: [u8; 16] = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5];

/// A corner of a triangle: x, y (in points from the corner of the picture) and distance; and its colour.
pub(super) type Corner = (V, V);

/// The points of one pose in a strip of rows of a picture.
#[derive(Clone, Debug, Default)]
pub(super) struct Strip {
    /// Points across and down, and per sample.
    size: [usize; 2],
    sub: usize,
    /// The first row of points.
    top: i32,
    /// Colour and distance.
    points: Vec<[f32; 4]>,
    /// Columns and rows that triangles have reached: from and to.
    dirty: [[usize; 2]; 2],
    /// Sums of all poses.
    sums: Vec<[f32; 4]>,
    /// The start of the pattern of points that are left out.
    pattern: [usize; 2],
}

/// The number of rows of a strip of a picture `width` samples wide, with `sub` points per sample across and down.
pub(super) fn strip_rows(width: usize, sub: usize) -> usize {
    (POINTS / (width * sub * sub).max(1)).max(8)
}

/// The largest number of bytes of a strip of a picture `width` samples wide.
pub(super) fn strip_bytes(width: usize) -> usize {
    // The least number of rows, with sixteen points of a sample and their sum; or the largest number of points and sums.
    16 * (2 * POINTS + 17 * width * (8 + 2 * REACH))
}

/// The changes of colour and distance per point across and down a triangle; `None` if it has no area.
#[inline(always)]
fn planes([a, b, c]: [&Corner; 3]) -> Option<[[f32; 2]; 4]> {
    let (e, f) = ([b.0[0] - a.0[0], b.0[1] - a.0[1]], [c.0[0] - a.0[0], c.0[1] - a.0[1]]);
    let area = e[0] * f[1] - f[0] * e[1];
    if area.is_nan() || area.abs() < 1e-9 {
        return None;
    }
    let scale = 1.0 / area;
    let value = |corner: &Corner, k: usize| if k < 3 { corner.1[k] } else { corner.0[2] };
    Some(core::array::from_fn(|k| {
        let (d, g) = (value(b, k) - value(a, k), value(c, k) - value(a, k));
        [(d * f[1] - g * e[1]) * scale, (g * e[0] - d * f[0]) * scale]
    }))
}

impl Strip {
    /// Starts a strip of `size` samples whose first row is row `top` of the picture.
    pub(super) fn start(&mut self, size: [usize; 2], top: i32, sub: usize) {
        self.sub = sub;
        self.size = size.map(|s| s * sub);
        self.top = top * sub as i32;
        self.sums.clear();
        self.sums.resize(size[0] * size[1], [0.0; 4]);
        self.points.clear();
        self.points.resize(self.size[0] * self.size[1], [0.0, 0.0, 0.0, FAR]);
        self.clean();
    }

    fn clean(&mut self) {
        self.dirty = [[usize::MAX, 0]; 2];
    }

    /// Starts a pose.
    pub(super) fn pose(&mut self, number: usize) {
        self.pattern = [number & 3, (number >> 1) & 3];
    }

    /// Draws a triangle; `gaps` of each sixteen points are left out.
    #[inline(always)]
    pub(super) fn triangle(&mut self, [a, b, c]: [&Corner; 3], gaps: u8) {
        let (mut a, mut b, mut c) = (a, b, c);
        if b.0[1] < a.0[1] {
            (a, b) = (b, a);
        }
        if c.0[1] < b.0[1] {
            (b, c) = (c, b);
        }
        if b.0[1] < a.0[1] {
            (a, b) = (b, a);
        }
        let (p, q, r) = (a.0, b.0, c.0);
        // `as` saturates and turns NaN into 0.
        let row = |y: f32| ((y.ceil() as i32).saturating_sub(self.top).max(0) as usize).min(self.size[1]);
        let [y0, y1, y2] = [p, q, r].map(|corner| row(corner[1]));
        if y0 >= y2 {
            return;
        }
        let Some(planes) = planes([a, b, c]) else { return };
        let start = [a.1[0], a.1[1], a.1[2], p[2]];
        let slope = |a: V, b: V| (b[0] - a[0]) / (b[1] - a[1]);
        let (long, upper, lower) = (slope(p, r), slope(p, q), slope(q, r));
        let wide = self.size[0];
        let column = |x: f32| (x.ceil().max(0.0) as usize).min(wide);
        let mut reached = [usize::MAX, 0];
        for j in y0..y2 {
            let y = (self.top + j as i32) as f32;
            let one = p[0] + (y - p[1]) * long;
            let other = if j < y1 { p[0] + (y - p[1]) * upper } else { q[0] + (y - q[1]) * lower };
            let [from, to] = if one < other { [one, other] } else { [other, one] }.map(column);
            if from >= to {
                continue;
            }
            reached = [reached[0].min(from), reached[1].max(to)];
            let base: [f32; 4] = core::array::from_fn(|k| start[k] + planes[k][1] * (y - p[1]));
            let Some(points) = self.points.get_mut(j * wide + from..j * wide + to) else { return };
            let order = 4 * ((y as i32 as usize).wrapping_add(self.pattern[1]) & 3);
            for (i, point) in (from..).zip(points) {
                let dx = i as f32 - p[0];
                let nearer = base[3] + planes[3][0] * dx < point[3];
                if nearer && ORDER[((i + self.pattern[0]) & 3) + order] >= gaps {
                    *point = core::array::from_fn(|k| base[k] + planes[k][0] * dx);
                }
            }
        }
        let spread = |d: [usize; 2], r: [usize; 2]| [d[0].min(r[0]), d[1].max(r[1])];
        self.dirty = [spread(self.dirty[0], reached), spread(self.dirty[1], [y0, y2])];
    }

    /// Adds the points of a pose to the sums, and removes them.
    pub(super) fn add(&mut self) {
        let [x, y] = self.dirty.map(|[from, to]| from / self.sub..to.div_ceil(self.sub));
        let (wide, across) = (self.size[0], self.size[0] / self.sub);
        if !x.is_empty() && !y.is_empty() {
            for j in y.start * self.sub..(y.end * self.sub).min(self.size[1]) {
                let sums = &mut self.sums[j / self.sub * across..][x.clone()];
                let points = &mut self.points[j * wide..][x.start * self.sub..x.end * self.sub];
                for (sum, points) in sums.iter_mut().zip(points.chunks_exact_mut(self.sub)) {
                    for point in points {
                        if point[3] < FAR {
                            // Rounding may lead a little out of a triangle's colours.
                            let [r, g, b, _] = point.map(|v| v.clamp(0.0, 1.0));
                            *sum = [sum[0] + r, sum[1] + g, sum[2] + b, sum[3] + 1.0];
                            *point = [0.0, 0.0, 0.0, FAR];
                        }
                    }
                }
            }
        }
        self.clean();
    }

    /// A row of `out`: sums times `scale`, blurred across and down with the weights 1, `k[0]` and `k[1]` of the sample and its
    /// neighbours. `down` is a buffer.
    pub(super) fn soft_row(
        &self,
        row: usize,
        scale: f32,
        k: [f32; 2],
        down: &mut Vec<[f32; 4]>,
        out: &mut Vec<[f32; 4]>,
    ) {
        let across = self.size[0] / self.sub;
        let rows = self.size[1] / self.sub;
        let norm = 1.0 / (1.0 + 2.0 * k[0] + 2.0 * k[1]);
        let weights = [k[1], k[0], 1.0, k[0], k[1]].map(|w| w * norm);
        down.clear();
        down.resize(across, [0.0; 4]);
        for (t, weight) in weights.iter().enumerate() {
            let Some(j) = (row + t).checked_sub(REACH).filter(|j| *j < rows) else { continue };
            let w = weight * scale;
            for (d, s) in down.iter_mut().zip(&self.sums[j * across..][..across]) {
                *d = core::array::from_fn(|c| d[c] + w * s[c]);
            }
        }
        out.clear();
        for i in 0..across {
            let mut sum = [0.0f32; 4];
            for (t, w) in weights.iter().enumerate() {
                let Some(d) = (i + t).checked_sub(REACH).and_then(|i| down.get(i)) else { continue };
                sum = core::array::from_fn(|c| sum[c] + w * d[c]);
            }
            // Invisible samples are left out.
            out.push(if sum[3] < 0.002 { [0.0; 4] } else { sum.map(|v| v.min(1.0)) });
        }
    }
}
