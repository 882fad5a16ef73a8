//! The slow definition of coverage, in f64: the mean over 16 x 16 points of a cell.

use super::super::splat::Splat;
use super::super::style::Shape;

/// The distance of a point from the edge of a shape with these half axes (below 0: inside), and the width of the soft
/// edge.
fn distance(shape: &Shape, [rx, ry]: [f64; 2], [x, y]: [f64; 2]) -> (f64, f64) {
    let least = rx.min(ry);
    let radius = libm::hypot(x / rx, y / ry);
    match shape {
        Shape::Disc { soft } => ((radius - 1.0) * least, f64::from(*soft) * least),
        Shape::Ring { inner, soft } => {
            let (middle, band) = (0.5 + 0.5 * f64::from(*inner), 0.5 - 0.5 * f64::from(*inner));
            (((radius - middle).abs() - band) * least, f64::from(*soft) * band * least)
        }
        Shape::Streak { soft, taper } => {
            let along = (x.abs() - (rx - ry).max(0.0)).max(0.0);
            // From the left end on, by so much of the thickness per row.
            let grown = f64::from(*taper) * 2.0 * rx.max(ry);
            let width =
                if grown > 0.0 { ((x.max(-(rx - ry).max(0.0)) + rx.max(ry)) / grown).min(1.0) } else { 1.0 };
            let steep = if grown > 0.0 { ry / grown } else { 0.0 };
            ((libm::hypot(along, y) - ry * width) / (1.0 + steep * steep).sqrt(), f64::from(*soft) * ry)
        }
        Shape::Polygon { corners, soft } => {
            let (mut most, mut inside) = (f64::NEG_INFINITY, f64::INFINITY);
            for (i, a) in corners.iter().enumerate() {
                let b = corners[(i + 1) % corners.len()];
                let ([ax, ay], [bx, by]) = (a.map(f64::from), b.map(f64::from));
                let ([ax, ay], [bx, by]) = ([ax * rx, ay * ry], [bx * rx, by * ry]);
                let (dx, dy) = (bx - ax, by - ay);
                let long = libm::hypot(dx, dy);
                let away = (dy * ax - dx * ay) / long;
                most = most.max((dy * x - dx * y) / long - away);
                inside = inside.min(away);
            }
            (most, f64::from(*soft) * inside)
        }
        Shape::Speck | Shape::Image(_) | Shape::Picture => unreachable!("they have definitions of their own"),
    }
}

/// The part that a splat covers of a cell whose centre is `at` from its own, in luma rows as shown.
pub(crate) fn coverage(shape: &Shape, splat: &Splat, at: [f64; 2], cell: [f64; 2]) -> f64 {
    let half = splat.half.map(|h| f64::from(h) / 16.0);
    let (sin, cos) = libm::sincos(f64::from(splat.angle) / 65536.0 * core::f64::consts::TAU);
    // A distance changes by at most one per row: most cells are outside or inside as a whole.
    let reach = libm::hypot(cell[0], cell[1]) / 2.0;
    let (d, edge) = distance(shape, half, [at[0] * cos + at[1] * sin, at[1] * cos - at[0] * sin]);
    if d > reach || -d > edge.max(1.0 / 1024.0) + reach {
        return f64::from(u8::from(d < 0.0));
    }
    let points = (0..256).map(|k| {
        let [x, y] = [0, 1].map(|a| at[a] + ((f64::from([k % 16, k / 16][a]) + 0.5) / 16.0 - 0.5) * cell[a]);
        let (d, edge) = distance(shape, half, [x * cos + y * sin, y * cos - x * sin]);
        let t = (-d / edge.max(1.0 / 1024.0)).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    });
    points.sum::<f64>() / 256.0
}
