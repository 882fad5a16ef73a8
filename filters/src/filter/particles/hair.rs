//! A hair as a picture.

use crate::particle::draw::{Image, ImageError};

/// Texels per side.
const SIDE: usize = 256;
/// Points along it.
const POINTS: usize = 96;

/// A hair with so many turns of increasing curvature from end to end, within the picture; `thick` is half its
/// thickness in half sides, tapering towards the ends.
pub(super) fn hair(bend: f32, thick: f32, colour: [f64; 3]) -> Result<Image, ImageError> {
    let (points, thick) = (line(f64::from(bend), f64::from(thick)), f64::from(thick));
    let [r, g, b] = colour.map(|c| c as f32);
    let step = 2.0 / SIDE as f64;
    // The distance inside the edge of the nearest segment, in texels. Each segment visits the texels that it may cover.
    let mut inside = vec![f64::NEG_INFINITY; SIDE * SIDE];
    for (i, pair) in points.windows(2).enumerate() {
        let [a, b] = [pair[0], pair[1]];
        let u = [b[0] - a[0], b[1] - a[1]];
        let long = u[0] * u[0] + u[1] * u[1];
        let reach = |axis: usize| {
            let texel = |v: f64| libm::floor((v + 1.0) / step).clamp(0.0, SIDE as f64) as usize;
            let (first, last) = (a[axis].min(b[axis]) - thick - step, a[axis].max(b[axis]) + thick + step);
            texel(first)..(texel(last) + 1).min(SIDE)
        };
        for y in reach(1) {
            for x in reach(0) {
                let at = [x, y].map(|v| (v as f64 + 0.5) * step - 1.0);
                let v = [at[0] - a[0], at[1] - a[1]];
                let t = ((u[0] * v[0] + u[1] * v[1]) / long.max(1e-12)).clamp(0.0, 1.0);
                let [dx, dy] = [v[0] - t * u[0], v[1] - t * u[1]];
                let part = (i as f64 + t) / (POINTS - 1) as f64;
                let taper = 1.0 - (2.0 * part - 1.0) * (2.0 * part - 1.0) * 0.7;
                let most = &mut inside[y * SIDE + x];
                *most = most.max((thick * taper - (dx * dx + dy * dy).sqrt()) / step);
            }
        }
    }
    let texels: Vec<[f32; 4]> = inside.iter().map(|v| [r, g, b, (v + 0.5).clamp(0.0, 1.0) as f32]).collect();
    Image::new(SIDE, SIDE, &texels)
}

/// Points along its middle, within -1 to 1 minus the thickness.
fn line(bend: f64, thick: f64) -> Vec<[f64; 2]> {
    let mut at = [0.0f64; 2];
    let mut points = vec![at];
    for i in 1..POINTS {
        let s = i as f64 / (POINTS - 1) as f64;
        let (wobble, _) = libm::sincos(9.0 * s + 1.0);
        let turn = bend * s * (0.35 + 0.65 * s) + 0.06 * wobble;
        let (sin, cos) = libm::sincos(turn * core::f64::consts::TAU);
        at = [at[0] + cos, at[1] + sin];
        points.push(at);
    }
    let ends = |axis: usize| {
        points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(p[axis]), h.max(p[axis])))
    };
    let ([left, right], [top, bottom]) = (<[f64; 2]>::from(ends(0)), <[f64; 2]>::from(ends(1)));
    let room = (1.0 - thick - 0.02).max(0.1);
    let scale = 2.0 * room / (right - left).max(bottom - top).max(1e-9);
    let middle = [0.5 * (left + right), 0.5 * (top + bottom)];
    points.iter().map(|p| [(p[0] - middle[0]) * scale, (p[1] - middle[1]) * scale]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hairs_are_within_the_picture() {
        for bend in [0.0, 0.3, -0.7, 2.0] {
            let points = line(bend, 0.01);
            assert!(points.iter().flatten().all(|v| v.abs() <= 0.98), "{bend}");
            let wide = |axis: usize| {
                points.iter().map(|p| p[axis]).fold(f64::NEG_INFINITY, f64::max)
                    - points.iter().map(|p| p[axis]).fold(f64::INFINITY, f64::min)
            };
            assert!((wide(0).max(wide(1)) - 1.94).abs() < 1e-9, "{bend}");
        }
        assert!(hair(0.4, 0.01, [0.1; 3]).is_ok());
    }
}
