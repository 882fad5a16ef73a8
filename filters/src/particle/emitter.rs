//! Particles from an emitter: the particle with a given number depends only on the emitter and the number.

use super::births::{BLOCK, Births, key};
use super::random::mix32;
use super::record::{Particle, from_fixed, to_fixed};
use crate::simd::{Level, multiversion};
use std::sync::Arc;

/// [`BLOCK`] particles with numbers in a row, field by field: 30 bytes each, as the pool keeps them (the kind is the
/// emitter's).
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Columns {
    /// Times of birth, in flicks.
    pub birth: [i64; BLOCK],
    /// Birthplaces: x, y, z.
    pub position: [[f32; BLOCK]; 3],
    /// The random bits for each particle's numbers.
    pub seed: [u32; BLOCK],
    /// Directions, fixed point: x, y, z.
    pub direction: [[i16; BLOCK]; 3],
}

impl Columns {
    /// Not used yet.
    pub const EMPTY: Columns = Columns {
        birth: [super::births::NEVER; BLOCK],
        position: [[0.0; BLOCK]; 3],
        seed: [0; BLOCK],
        direction: [[0; BLOCK]; 3],
    };
}

/// Errors of emitter shapes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EmitterShapeError {
    /// A coordinate of the place that is not a number within ±[`MAX_SPREAD`](super::MAX_SPREAD).
    #[error("the place and size of an emitter must be numbers within ±1e12")]
    Place,
    /// The axis has no length, or contains NaN.
    #[error("the direction of an emitter must be a vector with a length")]
    Axis,
    /// A cone outside 0..=2.
    #[error("a cone is 0 to 2, the height of its cap")]
    Cone,
}

/// The birthplaces and directions of particles: uniform in a box (or rectangle, line, point), spraying around an
/// axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EmitterShape {
    centre: [f32; 3],
    half: [f32; 3],
    /// The height of the cap of the sphere around the axis in which directions are: 1 - cos of the half angle.
    cone: f32,
    /// The axis, and two unit vectors perpendicular to it; the first is parallel to x and y.
    frame: [[f32; 3]; 3],
}

impl EmitterShape {
    /// A box by its centre and half its size (0 for a point); the axis may have any length except 0. Directions are
    /// evenly in a cone around it, given by the height of its cap, 1 - cos of the half angle: 0 is only the axis, 1 the
    /// half sphere, 2 all directions.
    ///
    /// # Errors
    /// A value out of range.
    pub fn new(
        centre: [f32; 3],
        half: [f32; 3],
        axis: [f32; 3],
        cone: f32,
    ) -> Result<EmitterShape, EmitterShapeError> {
        let largest = super::kind::MAX_SPREAD;
        if !centre.iter().chain(&half).all(|v| (-largest..=largest).contains(v)) {
            return Err(EmitterShapeError::Place);
        }
        if !(0.0..=2.0).contains(&cone) {
            return Err(EmitterShapeError::Cone);
        }
        let a = axis.map(f64::from);
        let length = (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt();
        // The cubes of `f32` values fit `f64`, so only zero, infinity and NaN are rejected.
        if !(length > 0.0 && length < f64::INFINITY) {
            return Err(EmitterShapeError::Axis);
        }
        let a = a.map(|v| v / length);
        let flat = (a[0] * a[0] + a[1] * a[1]).sqrt();
        let u = if flat > 1e-9 { [-a[1] / flat, a[0] / flat, 0.0] } else { [1.0, 0.0, 0.0] };
        let v = [a[1] * u[2] - a[2] * u[1], a[2] * u[0] - a[0] * u[2], a[0] * u[1] - a[1] * u[0]];
        Ok(EmitterShape { centre, half, cone, frame: [a, u, v].map(|w| w.map(|c| c as f32)) })
    }

    /// The direction, of length 1, for two numbers from -1 to 1.
    pub(crate) fn direction(&self, r: f32, s: f32) -> [f32; 3] {
        let along = along(self.cone, r, s);
        [0, 1, 2].map(|axis| from_fixed(turned(self, axis, along)))
    }
}

/// A source of particles. Particle `number` is a function of the emitter and the number, without any other state.
#[derive(Clone, Debug)]
pub struct Emitter {
    /// The key of all its random numbers.
    pub seed: u64,
    /// The index of the kind of its particles.
    pub kind: u16,
    /// The births.
    pub births: Arc<dyn Births>,
    /// The birthplaces and directions.
    pub shape: EmitterShape,
}

impl Emitter {
    /// Particles `64 * block` to `64 * block + 63`, whether they are born yet or not. Particles that are never born
    /// have the birth [`NEVER`](super::NEVER).
    pub fn fill(&self, level: Level, block: i64, out: &mut Columns) {
        let first = block.saturating_mul(BLOCK as i64);
        self.births.times(level, first, &mut out.birth);
        place(level, &self.shape, self.seed, first, out);
    }

    /// One particle: the reference of [`fill`](Emitter::fill), which makes 64.
    pub fn particle(&self, number: i64) -> Particle {
        let mut birth = [0; BLOCK];
        self.births.times(Level::SCALAR, number, &mut birth);
        let key = key(self.seed, number);
        let drawn = numbers(key as u32, (key >> 32) as u32);
        let along = along(self.shape.cone, drawn[3], drawn[4]);
        Particle {
            birth: birth[0],
            position: core::array::from_fn(|a| self.shape.centre[a] + self.shape.half[a] * drawn[a]),
            direction: [0, 1, 2].map(|a| turned(&self.shape, a, along)),
            kind: self.kind,
            seed: (key >> 32) as u32,
        }
    }
}

/// A random number in -1..1, a multiple of 2^-22: the bits hashed, and 23 of them made a mantissa.
#[inline(always)]
fn signed(bits: u32) -> f32 {
    f32::from_bits(mix32(bits) >> 9 | 0x4000_0000) - 3.0
}

/// Sine and cosine of `h` half turns, -1 <= h <= 1, to within 8e-6, half a step of the fixed-point direction: Taylor's
/// polynomials at half the angle, then doubled. Only + and *: the same bits everywhere.
#[inline(always)]
fn sin_cos(h: f32) -> [f32; 2] {
    const S: [f32; 5] = [1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5_040.0, 1.0 / 362_880.0];
    const C: [f32; 6] = [1.0, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0, -1.0 / 3_628_800.0];
    let x = h * core::f32::consts::FRAC_PI_2;
    let q = x * x;
    let s = x * (S[0] + q * (S[1] + q * (S[2] + q * (S[3] + q * S[4]))));
    let c = C[0] + q * (C[1] + q * (C[2] + q * (C[3] + q * (C[4] + q * C[5]))));
    [2.0 * s * c, (c - s) * (c + s)]
}

/// The five numbers of a birth (three of the place, two of the way) from the particle's random bits: `high` is its
/// seed, from which its kind's parameters are drawn. Each number is hashed from another mixture of the halves, so two
/// particles share them all only when they share all 64 bits.
#[inline(always)]
fn numbers(low: u32, high: u32) -> [f32; 5] {
    [
        signed(low),
        signed(high ^ 0x9e37_79b9),
        signed(low ^ high.rotate_left(16)),
        signed(low ^ 0x85eb_ca6b),
        signed((low ^ high).wrapping_add(0xc2b2_ae35)),
    ]
}

/// The way a particle starts, along the axis and the two vectors square to it, for the numbers `r` and `s`.
#[inline(always)]
fn along(cone: f32, r: f32, s: f32) -> [f32; 3] {
    let cos = 1.0 - cone * (r * 0.5 + 0.5);
    let sin = (1.0 - cos * cos).max(0.0).sqrt();
    let [sp, cp] = sin_cos(s);
    [cos, sin * cp, sin * sp]
}

/// One axis of the same way in the world, fixed point.
#[inline(always)]
fn turned(shape: &EmitterShape, axis: usize, along: [f32; 3]) -> i16 {
    let [a, u, v] = shape.frame;
    to_fixed(a[axis] * along[0] + u[axis] * along[1] + v[axis] * along[2])
}

multiversion! {
    fn place(level, shape: &EmitterShape, seed: u64, first: i64, out: &mut Columns) = place_body;
}

/// In passes of a few steps each, so that many lanes are processed in parallel.
#[inline(always)]
fn place_body(shape: &EmitterShape, seed: u64, first: i64, out: &mut Columns) {
    let shape = *shape;
    let mut low = [0u32; BLOCK];
    for (j, (low, high)) in low.iter_mut().zip(&mut out.seed).enumerate() {
        let key = key(seed, first.wrapping_add(j as i64));
        (*low, *high) = (key as u32, (key >> 32) as u32);
    }
    let mut drawn = [[0.0f32; BLOCK]; 5];
    row::<0>(&low, &out.seed, &mut drawn);
    row::<1>(&low, &out.seed, &mut drawn);
    row::<2>(&low, &out.seed, &mut drawn);
    row::<3>(&low, &out.seed, &mut drawn);
    row::<4>(&low, &out.seed, &mut drawn);
    for (axis, (out, drawn)) in out.position.iter_mut().zip(&drawn).enumerate() {
        for (out, r) in out.iter_mut().zip(drawn) {
            *out = shape.centre[axis] + shape.half[axis] * r;
        }
    }
    let mut ways = [[0.0f32; BLOCK]; 3];
    for j in 0..BLOCK {
        let along = along(shape.cone, drawn[3][j], drawn[4][j]);
        for axis in 0..3 {
            ways[axis][j] = along[axis];
        }
    }
    for (axis, out) in out.direction.iter_mut().enumerate() {
        for (j, out) in out.iter_mut().enumerate() {
            *out = turned(&shape, axis, [ways[0][j], ways[1][j], ways[2][j]]);
        }
    }
}

/// Number `N` of every lane.
#[inline(always)]
fn row<const N: usize>(low: &[u32; BLOCK], high: &[u32; BLOCK], drawn: &mut [[f32; BLOCK]; 5]) {
    for ((out, low), high) in drawn[N].iter_mut().zip(low).zip(high) {
        *out = numbers(*low, *high)[N];
    }
}

#[cfg(test)]
mod tests {
    use super::super::births::ConstantRate;
    use super::*;

    fn emitter(cone: f32) -> Emitter {
        Emitter {
            seed: 7,
            kind: 3,
            births: Arc::new(ConstantRate::new(1234.5).unwrap()),
            shape: EmitterShape::new([1.0, 2.0, 3.0], [0.5, 0.0, 4.0], [1.0, -2.0, 0.5], cone).unwrap(),
        }
    }

    #[test]
    fn blocks_equal_single_births_at_every_level() {
        for cone in [0.0, 0.3, 2.0] {
            let emitter = emitter(cone);
            for &level in Level::available() {
                for block in [0, -1, 5, 1 << 40, -(1 << 40)] {
                    let mut got = Columns::EMPTY;
                    emitter.fill(level, block, &mut got);
                    for j in 0..BLOCK {
                        let want = emitter.particle(block * 64 + j as i64);
                        assert_eq!(got.particle(j, 3), want, "{level} {block} {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn sine_and_cosine_are_close() {
        for i in -10_000..=10_000 {
            let h = f64::from(i) / 10_000.0;
            let [s, c] = sin_cos(h as f32);
            let x = h * core::f64::consts::PI;
            assert!((f64::from(s) - x.sin()).abs() < 8e-6 && (f64::from(c) - x.cos()).abs() < 8e-6, "{h}");
        }
    }

    #[test]
    fn births_fill_the_box_and_the_cap_evenly() {
        let n = 100_000;
        let emitter = emitter(0.5);
        let shape = emitter.shape;
        let (mut mean, mut heights) = ([0.0f64; 3], 0.0f64);
        for i in 0..n {
            let p = emitter.particle(i);
            for (m, v) in mean.iter_mut().zip(p.position) {
                *m += f64::from(v) / n as f64;
            }
            assert!((0.5..1.5).contains(&p.position[0]) && p.position[1] == 2.0);
            let d = p.direction.map(|v| f64::from(v) / 32767.0);
            let long = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
            assert!((long - 1.0).abs() < 1e-4);
            let height: f64 = d.iter().zip(shape.frame[0]).map(|(d, a)| d * f64::from(a)).sum();
            assert!(height > 0.4999, "{height}");
            heights += height / n as f64;
        }
        assert!((mean[0] - 1.0).abs() < 0.005 && (mean[2] - 3.0).abs() < 0.04, "{mean:?}");
        assert!((heights - 0.75).abs() < 0.003, "{heights}");
    }

    #[test]
    fn invalid_emitters_are_refused() {
        let with = |axis, cone| EmitterShape::new([0.0; 3], [0.0; 3], axis, cone);
        assert_eq!(with([0.0; 3], 0.0), Err(EmitterShapeError::Axis));
        assert_eq!(with([0.0, f32::NAN, 0.0], 0.0), Err(EmitterShapeError::Axis));
        assert_eq!(with([1.0; 3], 2.1), Err(EmitterShapeError::Cone));
        assert_eq!(with([1.0; 3], f32::NAN), Err(EmitterShapeError::Cone));
        assert!(with([1e-40, 0.0, 0.0], 0.0).is_ok());
        assert!(with([f32::MAX; 3], 0.0).is_ok());
        let far = EmitterShape::new([f32::INFINITY, 0.0, 0.0], [0.0; 3], [1.0; 3], 0.0);
        assert_eq!(far, Err(EmitterShapeError::Place));
    }
}
