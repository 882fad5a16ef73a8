//! Coverage of outlines, and distances from them.

use crate::font::Point;

/// Coverage below this comes from rounding.
const NOTHING: f32 = 1.0 / 2048.0;

/// A rectangle of whole samples of the frame into which outlines are drawn.
pub(super) struct Canvas {
    /// The first column and row.
    pub(super) from: [i32; 2],
    pub(super) size: [usize; 2],
    /// The change of signed coverage from the sample on the left.
    steps: Vec<f32>,
    /// Squares of the distance to the nearest outline, in rows; empty if nobody asks for them.
    near: Vec<f32>,
}

impl Canvas {
    pub(super) fn new(from: [i32; 2], size: [usize; 2], with_distances: bool) -> Canvas {
        let count = size[0] * size[1];
        let near = if with_distances { vec![f32::MAX; count] } else { Vec::new() };
        Canvas { from, size, steps: vec![0.0; count], near }
    }

    /// The bytes that a canvas takes.
    pub(super) const fn bytes(samples: usize) -> usize {
        2 * size_of::<f32>() * samples
    }

    /// Adds the outline of a character. Distances are found up to `reach` rows; `shape` is the width of a sample over
    /// its height.
    pub(super) fn add(&mut self, lines: &[[Point; 2]], reach: f64, shape: f64) {
        let [x, y] = self.from.map(f64::from);
        for line in lines {
            let [a, b] = line.map(|p| [p[0] - x, p[1] - y]);
            self.add_line(a, b);
            if !self.near.is_empty() {
                self.add_distances(a, b, reach, shape);
            }
        }
    }

    /// Adds the coverage of everything to the right of a line, with the sign of its direction.
    fn add_line(&mut self, a: Point, b: Point) {
        let (sign, [x, top], [end, bottom]) = if a[1] < b[1] { (1.0, a, b) } else { (-1.0, b, a) };
        let (first, last) = (top.max(0.0), bottom.min(self.size[1] as f64));
        if first >= last {
            return;
        }
        let slope = (end - x) / (bottom - top);
        for row in first.floor() as usize..last.ceil() as usize {
            let (from, to) = (first.max(row as f64), last.min(row as f64 + 1.0));
            let [p, q] = [from, to].map(|y| x + (y - top) * slope);
            self.add_piece(row, p.min(q), p.max(q), sign * (to - from));
        }
    }

    /// The same for a piece within a row that covers `high` of its height.
    fn add_piece(&mut self, row: usize, low: f64, top: f64, high: f64) {
        let width = self.size[0];
        let steps = &mut self.steps[row * width..][..width];
        let long = top - low;
        let share = |from: f64, to: f64| if long > 0.0 { high * (to - from) / long } else { high };
        if low < 0.0 {
            steps[0] += share(low, top.min(0.0)) as f32;
        }
        if top < 0.0 {
            return;
        }
        for column in low.max(0.0) as usize..((top + 1.0).floor() as usize).min(width) {
            let (from, to) = (low.max(column as f64), top.min(column as f64 + 1.0));
            let share = share(from, to);
            let right = 0.5 * (from + to) - column as f64;
            steps[column] += (share * (1.0 - right)) as f32;
            if let Some(next) = steps.get_mut(column + 1) {
                *next += (share * right) as f32;
            }
        }
    }

    fn add_distances(&mut self, a: Point, b: Point, reach: f64, shape: f64) {
        let within = |i: usize, reach: f64| {
            let (low, high) = (a[i].min(b[i]) - reach, a[i].max(b[i]) + reach);
            // `as` saturates.
            (low.floor().max(0.0) as usize, (high.ceil().max(0.0) as usize).min(self.size[i]))
        };
        let (columns, rows) = (within(0, reach / shape), within(1, reach));
        if columns.0 >= columns.1 {
            return;
        }
        let (dx, dy) = ((b[0] - a[0]) * shape, b[1] - a[1]);
        let square = dx * dx + dy * dy;
        let by = if square > 0.0 { 1.0 / square } else { 0.0 };
        for row in rows.0..rows.1 {
            let v = row as f64 + 0.5 - a[1];
            let near = &mut self.near[row * self.size[0]..][columns.0..columns.1];
            for (column, near) in (columns.0..).zip(near) {
                let u = (column as f64 + 0.5 - a[0]) * shape;
                let t = ((u * dx + v * dy) * by).clamp(0.0, 1.0);
                let (p, q) = (u - t * dx, v - t * dy);
                *near = near.min((p * p + q * q) as f32);
            }
        }
    }

    /// Writes the coverage of a row, 0 to 1, and the squares of distances, if there are any.
    pub(super) fn row(&self, row: usize, cover: &mut [f32]) -> &[f32] {
        let start = row * self.size[0];
        let mut sum = 0.0f32;
        for (to, step) in cover.iter_mut().zip(&self.steps[start..]) {
            sum += step;
            let part = sum.abs().min(1.0);
            *to = if part < NOTHING { 0.0 } else { part };
        }
        self.near.get(start..start + self.size[0]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::font::Font;

    /// Whether a point is in an outline: it goes around the point.
    fn inside(lines: &[[Point; 2]], [x, y]: Point) -> bool {
        let mut around = 0;
        for [a, b] in lines {
            if (a[1] <= y) != (b[1] <= y) {
                let cross = a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]);
                around += if cross > x {
                    0
                } else if a[1] < b[1] {
                    1
                } else {
                    -1
                };
            }
        }
        around != 0
    }

    fn distance(lines: &[[Point; 2]], [x, y]: Point, shape: f64) -> f64 {
        let one = |[a, b]: &[Point; 2]| {
            // Points of the line.
            let at =
                |t: f64| libm::hypot((a[0] + t * (b[0] - a[0]) - x) * shape, a[1] + t * (b[1] - a[1]) - y);
            (0..=1000).map(|i| at(f64::from(i) / 1000.0)).fold(f64::MAX, f64::min)
        };
        lines.iter().map(one).fold(f64::MAX, f64::min)
    }

    /// Letters of several sizes, also over the edges, against 32 by 32 points of each sample.
    #[test]
    fn coverage_and_distance_are_those_of_points() {
        let font = Font::bundled();
        let face = font.face().unwrap();
        let mut lines = Vec::new();
        for (c, at, scale, shape) in [
            ('R', [3.3, 20.7], [24.0, 24.0], 1.0),
            ('8', [-4.6, 14.2], [20.0, 20.0], 1.0),
            ('Ä', [12.5, 30.0], [15.0, 30.0], 2.0),
            ('g', [1.0, 5.0], [3.0, 3.0], 1.0),
            ('@', [15.1, 8.0], [40.0, 40.0], 1.0),
        ] {
            face.outline(c, at, scale, &mut lines);
            let mut canvas = Canvas::new([2, 1], [23, 24], true);
            canvas.add(&lines, 3.0, shape);
            let mut cover = [0.0; 23];
            let mut covered = 0;
            for y in 0..24 {
                let near = canvas.row(y, &mut cover);
                for x in 0..23 {
                    let corner = [x as f64 + 2.0, y as f64 + 1.0];
                    let points = (0..1024).filter(|i| {
                        let part = |n: i32| (f64::from(n) + 0.5) / 32.0;
                        inside(&lines, [corner[0] + part(i % 32), corner[1] + part(i / 32)])
                    });
                    let want = points.count() as f64 / 1024.0;
                    let got = f64::from(cover[x]);
                    assert!((got - want).abs() < 0.02, "{c} {x},{y}: {got}, not {want}");
                    covered += usize::from(want > 0.2);
                    let want = distance(&lines, [corner[0] + 0.5, corner[1] + 0.5], shape);
                    let got = f64::from(near[x]).sqrt();
                    assert!(want > 3.0 || (got - want).abs() < 0.01, "{c} {x},{y}: {got} away, not {want}");
                }
            }
            assert!(covered > 1, "{c}: {covered}");
        }
    }

    #[test]
    fn nothing_is_left_beside_outlines() {
        let font = Font::bundled();
        let mut lines = Vec::new();
        let mut canvas = Canvas::new([0, 0], [3000, 40], false);
        for i in 0..100 {
            font.face().unwrap().outline('%', [30.1 * f64::from(i), 30.3], [37.7; 2], &mut lines);
            canvas.add(&lines, 0.0, 1.0);
        }
        let mut cover = vec![0.0; 3000];
        assert!(canvas.row(0, &mut cover).is_empty());
        assert!(cover.iter().all(|v| *v == 0.0));
        canvas.row(15, &mut cover);
        assert!(cover.iter().filter(|v| **v == 0.0).count() > 800);
    }
}
