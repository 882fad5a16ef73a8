//! The kinds of animals, and their simple bodies for small ones: three ellipsoids in the body's own frame (x ahead, y to its
//! right, z up; half its span, or half its length, is 1), for a phase of its wings or fins.

use super::vector::{V, add, cross, dot, mul, sub, turns, wave};

/// A kind of animal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Figure {
    Starling,
    Gull,
    Herring,
    Moth,
    Bat,
}

/// A part of a simple body: an ellipsoid's middle and half axes, and its colour in the [`palette`].
pub(super) type Part = (V, [V; 3], usize);

/// The number of parts of a body.
pub(super) const SIMPLE: usize = 3;

/// An ellipsoid along x.
fn round(at: V, half: V, shade: usize) -> Part {
    (at, [[half[0], 0.0, 0.0], [0.0, half[1], 0.0], [0.0, 0.0, half[2]]], shade)
}

/// An ellipsoid from `a` to `b`, `wide` to the sides and `thick` across `around`.
fn limb(a: V, b: V, wide: V, thick: f32, shade: usize) -> Part {
    let long = mul(sub(b, a), 0.5);
    let across = cross(long, wide);
    let size = dot(across, across).sqrt().max(1e-6);
    (mul(add(a, b), 0.5), [long, wide, mul(across, thick / size)], shade)
}

/// The simple body of a figure with its wings or fins at a phase, in the order of drawing. `effort` is the amplitude of the
/// beat, 0 (gliding) to 1.
pub(super) fn pose(figure: Figure, phase: f32, effort: f32) -> [Part; SIMPLE] {
    if figure == Figure::Herring {
        let swing = 0.3 * effort * wave(phase);
        let tail = limb([-0.5, 0.4 * swing, 0.0], [-1.0, swing, 0.0], [0.0, 0.0, 0.24], 0.03, 1);
        let back = limb([-0.72, 0.45 * swing, 0.0], [0.2, 0.0, 0.0], [0.0, 0.0, 0.11], 0.07, 0);
        return [tail, back, round([0.2, 0.0, 0.0], [0.78, 0.10, 0.19], 0)];
    }
    let chord = if figure == Figure::Moth { 0.42 } else { 0.135 };
    let wing = |side: f32| {
        let angle = turns(0.65 * effort * wave(phase) + 0.10);
        let (z, y) = (0.92 * wave(angle), 0.92 * wave(angle + 0.25));
        // From beyond the middle on: an ellipse that began there would leave a gap to the body.
        let root = [0.10, -0.24 * side * y, 0.02 - 0.24 * z];
        limb(root, [-0.05, side * y, z], [chord, 0.0, 0.0], 0.02, 1)
    };
    [round([-0.04, 0.0, 0.0], [0.42, 0.125, 0.12], 0), wing(-1.0), wing(1.0)]
}

/// Colours of simple bodies: body and wing or tail.
pub(super) fn palette(figure: Figure) -> [[f64; 3]; 2] {
    match figure {
        Figure::Starling => [[0.060, 0.060, 0.070], [0.080, 0.078, 0.086]],
        Figure::Gull => [[0.86, 0.87, 0.88], [0.72, 0.74, 0.77]],
        Figure::Herring => [[0.50, 0.60, 0.65], [0.36, 0.46, 0.50]],
        Figure::Moth => [[0.70, 0.60, 0.46], [0.66, 0.56, 0.43]],
        Figure::Bat => [[0.20, 0.155, 0.13], [0.18, 0.14, 0.12]],
    }
}
