//! The particle of 32 bytes.

use bytemuck::{Pod, Zeroable};

/// All that is kept of one particle. Whatever else it has (life, speed, size, spin, colour ...) is made again from
/// its seed and its kind's definition when it is needed, and only then.
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Particle {
    /// When it is born, in [flicks](super::FLICKS) since the source's first frame.
    pub birth: i64,
    /// The birthplace, in world units.
    pub position: [f32; 3],
    /// Which way it starts: components of a unit vector in steps of 1/[`UNIT`].
    pub direction: [i16; 3],
    /// Which definition it follows: an index into the effect's kinds.
    pub kind: u16,
    /// The seed of its random numbers.
    pub seed: u32,
}

const _: () = assert!(size_of::<Particle>() == 32, "the particle is 32 bytes");

/// The fixed-point value of 1 in a direction.
pub const UNIT: f32 = 32767.0;

/// One fixed-point step of a direction.
pub(super) const STEP: f32 = 1.0 / UNIT;

/// A component of a direction, -1..=1, to the nearest step (half to even). Anything beyond is clamped; not a number
/// becomes -1.
#[inline(always)]
pub fn to_fixed(v: f32) -> i16 {
    // 1.5 * 2^23 moves the units place to the lowest bit of the mantissa, so the addition does the rounding.
    // `>` is false for NaN, which then takes the other branch like any value that is too low.
    let v = if v > -1.0 { v } else { -1.0 };
    let v = if v < 1.0 { v } else { 1.0 };
    (v * UNIT + 12_582_912.0).to_bits() as u16 as i16
}

/// The component that a fixed-point value stands for.
#[inline(always)]
pub fn from_fixed(v: i16) -> f32 {
    f32::from(v) * STEP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_the_fields_in_order() {
        let p = Particle {
            birth: 0x0807_0605_0403_0201,
            position: [1.0, -2.0, 0.5],
            direction: [1, -1, 256],
            kind: 7,
            seed: 9,
        };
        let bytes: [u8; 32] = bytemuck::cast(p);
        let back: Particle = bytemuck::cast(bytes);
        assert_eq!(back, p);
        if cfg!(target_endian = "little") {
            assert_eq!(&bytes[..12], &[1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0x80, 0x3f]);
            assert_eq!(&bytes[20..], &[1, 0, 255, 255, 0, 1, 7, 0, 9, 0, 0, 0]);
        }
    }

    #[test]
    fn fixed_point_goes_there_and_back() {
        for v in -32767..=32767 {
            assert_eq!(to_fixed(from_fixed(v)), v);
        }
        assert_eq!(to_fixed(2.0), 32767);
        assert_eq!(to_fixed(f32::NEG_INFINITY), -32767);
        assert_eq!(to_fixed(f32::NAN), -32767);
        assert_eq!(to_fixed(0.5 / UNIT), 0);
        assert_eq!(to_fixed(1.5 / UNIT), 2);
        for i in 0..=20_000 {
            let v = i as f32 / 10_000.0 - 1.0;
            let near = (f64::from(v) * 32767.0).round();
            assert!(
                (f64::from(to_fixed(v)) - near).abs() <= 1.0
                    && (from_fixed(to_fixed(v)) - v).abs() <= STEP * 0.51
            );
        }
    }
}
