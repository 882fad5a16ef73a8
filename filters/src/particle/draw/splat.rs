//! One thing to draw.

use crate::pma::Ranked;
use bytemuck::{Pod, Zeroable};

/// Steps of a position in a luma sample.
pub(super) const STEPS: f32 = 256.0;
/// Steps of a size in a luma sample.
pub(super) const SIZES: f32 = 16.0;
/// The smallest half size drawn, in steps: half a sample. What is smaller is made so large, and fainter.
pub(super) const LEAST: u16 = 8;
/// Positions beyond this many samples are off any picture.
const FAR: f32 = 4_194_304.0;

/// One thing to draw: 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Splat {
    /// Place in the order of drawing, lowest first, which alone decides what lies over what: see [`rank`]. Give each
    /// splat its own; where two are equal, the other fields decide.
    pub rank: u64,
    /// Centre, in 1/256 of a luma sample from the left edge of the picture.
    pub x: i32,
    /// Centre, in 1/256 of a luma row from the top edge of the picture (or field).
    pub y: i32,
    /// Half width and half height before it is turned, in 1/16 of a luma sample.
    pub half: [u16; 2],
    /// How far it is turned, clockwise, in 1/65536 of a turn.
    pub angle: u16,
    /// Which of the painter's looks.
    pub look: u16,
    /// Colour in the space of the planes, not multiplied by anything: [`Painter::colour`](super::Painter::colour).
    pub colour: [u16; 3],
    /// How much of it there is, 65535 being all.
    pub opacity: u16,
}

const _: () = assert!(size_of::<Splat>() == 32, "a splat is 32 bytes");

impl Splat {
    /// A splat at a place (in luma samples, fractions counting) with half its width and height, not turned, of look 0,
    /// colour 0, wholly opaque.
    ///
    /// Sizes are kept in sixteenths of a sample and not below half a sample; below four samples opacity is changed by
    /// what that does to the area, up to all there is. A place that is not a number is off the picture, a size that is not above zero
    /// gives nothing to see.
    pub fn new(centre: [f32; 2], half: [f32; 2]) -> Splat {
        let place = |v: f32| {
            // `>` and `<` are false for NaN, which goes to the far end.
            let v = if v > -FAR { v } else { -FAR };
            let v = if v < FAR { v } else { FAR };
            (v * STEPS + if v < 0.0 { -0.5 } else { 0.5 }) as i32
        };
        let mut splat = Splat {
            rank: 0,
            x: place(centre[0]),
            y: place(centre[1]),
            half: [LEAST; 2],
            angle: 0,
            look: 0,
            colour: [0; 3],
            opacity: 65535,
        };
        splat.resize(half);
        splat
    }

    /// Gives it another size, and opacity (back from 65535) as [`new`](Splat::new) does.
    fn resize(&mut self, half: [f32; 2]) {
        let mut share = 1.0f32;
        for (out, v) in self.half.iter_mut().zip(half) {
            let steps = v * SIZES;
            // `as` saturates, NaN becomes 0.
            // Up, so that opacity need not be more than all.
            *out = ((if steps < 64.0 { steps.ceil() } else { steps + 0.5 }) as u16).max(LEAST);
            let v = if steps > 0.0 { steps } else { 0.0 };
            share *= if v < 64.0 { v / f32::from(*out) } else { 1.0 };
        }
        self.opacity = (share * 65535.0 + 0.5) as u16;
    }

    /// The same, turned clockwise by so many turns.
    #[must_use]
    pub fn turned(self, turns: f32) -> Splat {
        let turns = turns - turns.floor();
        Splat { angle: ((turns * 65536.0 + 0.5) as u32 & 0xffff) as u16, ..self }
    }

    /// The same with a part, 0 to 1, of its opacity.
    #[must_use]
    pub fn faded(self, part: f32) -> Splat {
        let part = if part > 0.0 { part.min(1.0) } else { 0.0 };
        Splat { opacity: (f32::from(self.opacity) * part + 0.5) as u16, ..self }
    }
}

impl Ranked for Splat {
    type Rank = Splat;

    fn rank(&self) -> Splat {
        *self
    }
}

/// The rank of a depth and a birth number: the farther (the larger the depth), the earlier it is drawn; at the same depth
/// by number, of which 40 bits are kept. Depth that is not a number is nearest.
pub fn rank(depth: f32, number: i64) -> u64 {
    let bits = (depth + 0.0).to_bits();
    // Floats as integers that rise with them, then turned around.
    let rising = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    let falling = if depth.is_nan() { u32::MAX } else { !rising };
    u64::from(falling >> 8) << 40 | (number as u64 & ((1 << 40) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_sizes_are_rounded_once() {
        let s = Splat::new([1.25, -0.75], [1.5, 0.75]);
        assert_eq!((s.x, s.y, s.half, s.opacity), (320, -192, [24, 12], 65535));
        let tiny = Splat::new([0.0; 2], [0.25, 0.25]);
        assert_eq!((tiny.half, tiny.opacity), ([8, 8], 16384));
        let odd = Splat::new([f32::NAN, f32::INFINITY], [f32::NAN, -1.0]);
        assert_eq!((odd.x, odd.y, odd.opacity), (-1 << 30, 1 << 30, 0));
        assert_eq!(Splat::new([0.0; 2], [f32::INFINITY; 2]).half, [65535; 2]);
        assert_eq!(s.turned(-0.25).angle, 0xc000);
        assert_eq!(s.turned(f32::NAN).angle, 0);
        assert_eq!(s.faded(0.5).opacity, 32768);
        assert_eq!(s.faded(f32::NAN).opacity, 0);
    }

    #[test]
    fn far_comes_first_then_number() {
        assert!(rank(10.0, 5) < rank(9.0, 4));
        assert!(rank(1.0, 4) < rank(1.0, 5));
        assert!(rank(0.0, 7) < rank(-1.0, 0));
        assert!(rank(-1.0, 7) < rank(f32::NAN, 0));
        assert_eq!(rank(0.0, 1), rank(-0.0, 1));
        assert!(rank(f32::INFINITY, 7) < rank(1e30, 0));
    }
}
