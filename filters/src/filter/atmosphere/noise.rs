//! Gradient noise that flows: the octaves of the density.
//!
//! Every integer point of a lattice has a random gradient, which turns with time, half of them the other way (Perlin and
//! Neyret, "Flow noise", 2001). The value between four points is the quintic interpolation of their linear functions
//! (Perlin, 2002). The lattice is scaled, turned and moved, so octaves drift and change at speeds of their own; its points
//! are hashed, so nothing repeats. The curl of such noise is a velocity without sources (Bridson et al., "Curl-noise for
//! procedural fluid flow", 2007), by which [`warp`] moves positions.

use crate::noise::seed::{Layer, key};
use crate::simd::multiversion;

/// The noise of one octave at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Octave {
    /// From positions to the lattice: a matrix and the fractions of the offset.
    pub(super) matrix: [[f32; 2]; 2],
    pub(super) part: [f32; 2],
    /// The whole lattice steps of the offset.
    pub(super) whole: [u32; 2],
    pub(super) key: u32,
    /// Cosine and sine of the angle by which gradients have turned.
    pub(super) turn: [f32; 2],
}

impl Octave {
    /// Octave `number` of a seed: features of about `size` (across, down), moved by `drift` in the same unit, with gradients
    /// turned by `turn` radians.
    pub(super) fn new(seed: u64, number: u32, size: [f64; 2], drift: [f64; 2], turn: f64) -> Octave {
        let hash = key(seed, i64::from(number), Layer::AIR.plane(0), number);
        // The golden angle: no two lattices are parallel.
        let angle = f64::from(number) * 2.399_963;
        let (cos, sin) = (libm::cos(angle), libm::sin(angle));
        let matrix = [[cos / size[0], -sin / size[1]], [sin / size[0], cos / size[1]]];
        let random = [hash & 0xffff, hash >> 16 & 0xffff].map(|h| h as f64 / 65536.0);
        let place = [0, 1].map(|i| random[i] - matrix[i][0] * drift[0] - matrix[i][1] * drift[1]);
        let whole = place.map(libm::floor);
        Octave {
            matrix: matrix.map(|row| row.map(|v| v as f32)),
            part: [0, 1].map(|i| (place[i] - whole[i]) as f32),
            whole: whole.map(|v| v as i64 as u32),
            key: (hash >> 32) as u32,
            turn: [libm::cos(turn) as f32, libm::sin(turn) as f32],
        }
    }
}

/// Adding it rounds to whole numbers, which stand in the lowest bits.
const MAGIC: f32 = 12_582_912.0;
/// The factors of lattice coordinates in a hash.
pub(super) const ACROSS: u32 = 0x9e37_79b1;
pub(super) const DOWN: u32 = 0x85eb_ca6b;
/// From gradients of 15 bits to noise whose deviation is about a third.
pub(super) const SCALE: f64 = 1.6 / 16384.0;

#[inline(always)]
pub(super) fn hash(h: u32) -> u32 {
    let h = (h ^ (h >> 15)).wrapping_mul(0x2c1b_3c6d);
    let h = (h ^ (h >> 12)).wrapping_mul(0x297a_2d39);
    h ^ (h >> 15)
}

/// The gradient at a lattice point.
#[inline(always)]
fn gradient(h: u32, [cos, sin]: [f32; 2]) -> [f32; 2] {
    let h = hash(h);
    let x = (h & 0x7fff) as i32 as f32 - 16383.5;
    let y = (h >> 15 & 0x7fff) as i32 as f32 - 16383.5;
    let sin = f32::from_bits(sin.to_bits() ^ (h & 0x8000_0000));
    [cos * x - sin * y, sin * x + cos * y]
}

/// The noise at a position, and its derivatives.
#[inline(always)]
fn noise(x: f32, y: f32, o: &Octave) -> [f32; 3] {
    let [[a, b], [c, d]] = o.matrix;
    let (x, y) = (x * a + y * b + o.part[0], x * c + y * d + o.part[1]);
    let (column, row) = (x - 0.5 + MAGIC, y - 0.5 + MAGIC);
    let (x, y) = (x - (column - MAGIC), y - (row - MAGIC));
    let left = column.to_bits().wrapping_add(o.whole[0]).wrapping_mul(ACROSS);
    let right = left.wrapping_add(ACROSS);
    let top = (row.to_bits().wrapping_add(o.whole[1])).wrapping_mul(DOWN) ^ o.key;
    let bottom = (row.to_bits().wrapping_add(o.whole[1]).wrapping_add(1)).wrapping_mul(DOWN) ^ o.key;
    let [g0, g1] = [left ^ top, right ^ top].map(|h| gradient(h, o.turn));
    let [g2, g3] = [left ^ bottom, right ^ bottom].map(|h| gradient(h, o.turn));
    let n0 = g0[0] * x + g0[1] * y;
    let n1 = g1[0] * (x - 1.0) + g1[1] * y;
    let n2 = g2[0] * x + g2[1] * (y - 1.0);
    let n3 = g3[0] * (x - 1.0) + g3[1] * (y - 1.0);
    let quintic = |t: f32| t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
    let slope = |t: f32| 30.0 * t * t * (t * (t - 2.0) + 1.0);
    let (u, v) = (quintic(x), quintic(y));
    let (upper, lower) = (n0 + u * (n1 - n0), n2 + u * (n3 - n2));
    let between = |i: usize| {
        let (upper, lower) = (g0[i] + u * (g1[i] - g0[i]), g2[i] + u * (g3[i] - g2[i]));
        upper + v * (lower - upper)
    };
    let across = between(0) + slope(x) * ((n1 - n0) + v * ((n3 - n2) - (n1 - n0)));
    let down = between(1) + slope(y) * (lower - upper);
    let scale = SCALE as f32;
    [(upper + v * (lower - upper)) * scale, (a * across + c * down) * scale, (b * across + d * down) * scale]
}

#[inline(always)]
fn warp_body(xs: &mut [f32], ys: &mut [f32], octave: &Octave, amount: f32) {
    let o = *octave;
    for (x, y) in xs.iter_mut().zip(ys) {
        let [_, across, down] = noise(*x, *y, &o);
        (*x, *y) = (*x + amount * down, *y - amount * across);
    }
}

#[inline(always)]
fn values_body(xs: &[f32], ys: &[f32], octave: &Octave, out: &mut [f32]) {
    let o = *octave;
    for ((x, y), out) in xs.iter().zip(ys).zip(out) {
        *out = noise(*x, *y, &o)[0];
    }
}

multiversion! {
    /// Moves positions by the curl of the noise times an amount.
    pub(super) fn warp(level, xs: &mut [f32], ys: &mut [f32], octave: &Octave, amount: f32) = warp_body;
    /// The noise at positions.
    pub(super) fn values(level, xs: &[f32], ys: &[f32], octave: &Octave, out: &mut [f32]) = values_body;
}
