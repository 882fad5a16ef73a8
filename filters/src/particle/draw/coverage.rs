//! The coverage of cells by shapes.
//!
//! A shape is the set of points whose distance is negative: a function of position that changes by at most one per luma
//! sample, so its value at the centre of a cell shows whether the whole cell is inside or outside. Coverage at a point
//! increases from the edge inwards over the shape's softness as 3 t^2 - 2 t^3. A cell within the softness gets the mean
//! over n x n points of the Gauss-Legendre rule, or over 16 x 16 equal parts where the edge is too hard for it. n is the
//! smallest whose mean is within 1/510 of that over 96 x 96 points.
//! `rasterize` computes many cells at a time.

use super::speck::Speck;
use super::splat::{SIZES, Splat};
use super::style::{MAX_CORNERS, Shape};

/// The smallest softness in luma samples: a hard edge.
const HARD: f32 = 1.0 / 1024.0;

/// A shape at a splat's size and angle, around its centre.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outline {
    pub(super) cos: f32,
    pub(super) sin: f32,
    pub(super) form: Form,
    /// The length of the soft edge, and 1 over it.
    pub(super) edge: f32,
    pub(super) inv_edge: f32,
    /// Half width and half height of the bounding box before rotation.
    pub(super) half: [f32; 2],
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// 1 / radii, smaller radius.
    Disc([f32; 2], f32),
    /// 1 / radii, smaller radius, middle of the band and half its width (both in radii).
    Ring([f32; 2], f32, f32, f32),
    /// Half length without the ends, half thickness.
    Streak(f32, f32, Taper),
    /// Edges: normal and distance from the centre.
    Polygon([[f32; 3]; MAX_CORNERS], usize),
}

/// How the thickness of a streak grows from its left end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taper {
    /// The part of the thickness at the centre, and its growth per sample.
    pub(super) base: f32,
    pub(super) slope: f32,
    /// Makes the distance from the edge grow by at most one per sample.
    pub(super) norm: f32,
}

impl Taper {
    /// Over a part of the length of a streak, half of which is `tip` with its ends.
    fn new(part: f32, tip: f32, thick: f32) -> Taper {
        if part <= 0.0 {
            return Taper { base: 1.0, slope: 0.0, norm: 1.0 };
        }
        let slope = 1.0 / (2.0 * tip * part);
        let steep = thick * slope;
        Taper { base: tip * slope, slope, norm: 1.0 / (1.0 + steep * steep).sqrt() }
    }
}

/// Cosine and sine of a splat's angle. Quarter turns are exact.
pub(super) fn rotation(angle: u16) -> [f32; 2] {
    match angle {
        0 => [1.0, 0.0],
        0x4000 => [0.0, 1.0],
        0x8000 => [-1.0, 0.0],
        0xc000 => [0.0, -1.0],
        _ => {
            let (sin, cos) = libm::sincos(f64::from(angle) * (core::f64::consts::TAU / 65536.0));
            [cos as f32, sin as f32]
        }
    }
}

impl Outline {
    /// Rotated as in [`rotation`]; `None` for images.
    pub(super) fn of(shape: &Shape, splat: &Splat, [cos, sin]: [f32; 2]) -> Option<Outline> {
        let [rx, ry] = splat.half.map(|h| f32::from(h) * (1.0 / SIZES));
        let least = rx.min(ry);
        let per = [1.0 / rx, 1.0 / ry];
        let (form, edge) = match shape {
            Shape::Disc { soft } => (Form::Disc(per, least), soft * least),
            Shape::Ring { inner, soft } => {
                let (middle, band) = (0.5 + 0.5 * inner, 0.5 - 0.5 * inner);
                (Form::Ring(per, least, middle, band), soft * band * least)
            }
            Shape::Streak { soft, taper } => {
                let half = (rx - ry).max(0.0);
                (Form::Streak(half, ry, Taper::new(*taper, half + ry, ry)), soft * ry)
            }
            Shape::Polygon { corners, soft } => {
                let mut lines = [[0.0; 3]; MAX_CORNERS];
                let n = corners.len().min(MAX_CORNERS);
                let mut inside = f32::INFINITY;
                for i in 0..n {
                    let (a, b) = (corners[i], corners[(i + 1) % n]);
                    let (a, b) = ([a[0] * rx, a[1] * ry], [b[0] * rx, b[1] * ry]);
                    let d = [b[0] - a[0], b[1] - a[1]];
                    let long = (d[0] * d[0] + d[1] * d[1]).sqrt();
                    // Corners go clockwise as rows count down: the way out is to the other side.
                    let normal = [d[1] / long, -d[0] / long];
                    let away = normal[0] * a[0] + normal[1] * a[1];
                    inside = inside.min(away);
                    lines[i] = [normal[0], normal[1], away];
                }
                (Form::Polygon(lines, n), soft * inside)
            }
            Shape::Speck | Shape::Image(_) | Shape::Picture => return None,
        };
        let edge = edge.max(HARD);
        let half = [if matches!(form, Form::Streak(..)) { rx.max(ry) } else { rx }, ry];
        Some(Outline { cos, sin, form, edge, inv_edge: 1.0 / edge, half })
    }

    /// The numbers of columns and rows of sample points for cells of this size.
    pub(super) fn points_per_side(&self, cell: [f32; 2]) -> u32 {
        // The soft edge of a polygon also bends inside, along the lines to the corners, and that of a taper along its axis.
        let bend = match self.form {
            Form::Polygon(..) => 3.0,
            Form::Streak(.., taper) if taper.slope > 0.0 => 3.0,
            _ => 1.0,
        };
        let soft = self.edge / (bend * cell[0].max(cell[1]));
        match () {
            () if soft < 0.4 => 16,
            () if soft < 0.6 => 8,
            () if soft < 1.0 => 6,
            () if soft < 1.6 => 4,
            () if soft < 3.0 => 3,
            () if soft < 16.0 => 2,
            () => 1,
        }
    }
}

/// The reach of a splat of this shape from its centre along x and y, in 1/256 of a luma sample, rounded up, on cells of
/// this displayed size.
#[inline(always)]
pub(super) fn extent(shape: &Shape, splat: &Splat, cell: [f32; 2]) -> [i32; 2] {
    match shape {
        Shape::Speck => Speck::new(splat, rotation(splat.angle), cell).extent(),
        _ => extent_rotated(shape, splat, || rotation(splat.angle)),
    }
}

/// [`extent`] of all shapes but specks, with the cosine and sine where they are needed.
#[inline(always)]
pub(super) fn extent_rotated(shape: &Shape, splat: &Splat, turned: impl Fn() -> [f32; 2]) -> [i32; 2] {
    let [x, y] = splat.half.map(i32::from);
    // An image fades over half a texel or half a cell of up to four samples beyond its edge.
    let (x, y, more) = match shape {
        Shape::Disc { .. } if x == y => return [16 * x; 2],
        Shape::Streak { .. } => (x.max(y), y, 2.0),
        // The largest cell is four samples wide.
        Shape::Image(_) | Shape::Picture => (x, y, 1024.0),
        _ => (x, y, 2.0),
    };
    let (mut x, mut y) = (16.0 * x as f32, 16.0 * y as f32);
    if let Shape::Image(image) = shape {
        let [w, h] = image.size().map(|s| 1.0 / s as f32);
        (x, y) = (x + x * w, y + y * h);
    }
    let [cos, sin] = turned().map(f32::abs);
    [x * cos + y * sin, x * sin + y * cos].map(|v| (v + more) as i32)
}
