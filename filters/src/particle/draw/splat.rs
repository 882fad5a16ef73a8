//! A splat: one thing to draw.

use super::super::arch::whole;
use super::super::births::BLOCK;
use bytemuck::{Pod, Zeroable};

/// Steps of a position in a luma sample.
pub(super) const STEPS: f32 = 256.0;
/// Steps of a size in a luma sample.
pub(super) const SIZES: f32 = 16.0;
/// The smallest half size drawn, in steps: half a sample. Smaller splats are enlarged to it and made fainter.
pub(super) const LEAST: u16 = 8;
/// Positions beyond this number of samples are outside of any picture.
const FAR: f32 = 4_194_304.0;

/// One thing to draw: 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Splat {
    /// The position in the order of drawing, lowest first: see [`rank`]. Ranks should be unique; if two are equal, the
    /// other fields decide.
    pub rank: u64,
    /// The centre, in 1/256 of a luma sample from the left edge of the picture.
    pub x: i32,
    /// Centre, in 1/256 of a luma row from the top edge of the picture (or field).
    pub y: i32,
    /// Displayed half width and half height before rotation, in 1/16 of a luma row: a splat that is as wide as high
    /// stays so for every sample aspect ratio ([`Format::shape`](crate::frame::Format::shape)).
    pub half: [u16; 2],
    /// The rotation, clockwise, in 1/65536 of a turn.
    pub angle: u16,
    /// The index of the painter's style.
    pub style: u16,
    /// Colour as the painter mixes it, not multiplied by anything: [`Painter::colour`](super::Painter::colour).
    pub colour: [u16; 3],
    /// The opacity; 65535 is full.
    pub opacity: u16,
}

const _: () = assert!(size_of::<Splat>() == 32, "a splat is 32 bytes");

impl Splat {
    /// A splat at a position in luma samples (fractions are allowed) with half its width and height in luma rows,
    /// without rotation, of style 0 and colour 0, opaque.
    ///
    /// Sizes are stored in sixteenths of a sample, at least half a sample. Below four samples the opacity compensates
    /// the rounding of the area, up to full opacity. A position that is NaN is outside the picture; a size that is not
    /// above zero is invisible.
    pub fn new(centre: [f32; 2], half: [f32; 2]) -> Splat {
        let mut splat = Splat {
            rank: 0,
            x: fixed(centre[0]),
            y: fixed(centre[1]),
            half: [LEAST; 2],
            angle: 0,
            style: 0,
            colour: [0; 3],
            opacity: 65535,
        };
        splat.resize(half);
        splat
    }

    /// Changes the size, and sets the opacity (from 65535) as [`new`](Splat::new) does.
    fn resize(&mut self, half: [f32; 2]) {
        let (x, across) = steps(half[0]);
        let (y, down) = steps(half[1]);
        self.half = [x, y];
        self.opacity = (across * down * 65535.0 + 0.5) as u16;
    }

    /// The same, rotated clockwise by so many turns.
    #[must_use]
    pub fn turned(self, turns: f32) -> Splat {
        Splat { angle: angle(turns), ..self }
    }

    /// The same with its opacity multiplied by a factor, 0 to 1.
    #[must_use]
    pub fn faded(self, part: f32) -> Splat {
        Splat { opacity: share_of(self.opacity, part), ..self }
    }
}

/// A position in steps.
#[inline(always)]
fn fixed(v: f32) -> i32 {
    // `>` and `<` are false for NaN, which goes to the far end.
    let v = if v > -FAR { v } else { -FAR };
    let v = if v < FAR { v } else { FAR };
    whole(v * STEPS + if v < 0.0 { -0.5 } else { 0.5 }, i32::MIN, i32::MAX)
}

/// Half a size in steps, and the remaining factor of opacity.
#[inline(always)]
fn steps(v: f32) -> (u16, f32) {
    let steps = v * SIZES;
    // Rounded up, so that opacity does not exceed the maximum.
    let up = if steps < 64.0 { steps.ceil() } else { steps + 0.5 };
    let up = whole(up, i32::from(LEAST), 65535) as u16;
    let v = if steps > 0.0 { steps } else { 0.0 };
    (up, if v < 64.0 { v / f32::from(up) } else { 1.0 })
}

#[inline(always)]
fn angle(turns: f32) -> u16 {
    let turns = turns - turns.floor();
    whole(turns * 65536.0 + 0.5, 0, 65536) as u16
}

#[inline(always)]
fn share_of(opacity: u16, part: f32) -> u16 {
    let part = if part > 0.0 { part.min(1.0) } else { 0.0 };
    whole(f32::from(opacity) * part + 0.5, 0, 65535) as u16
}

/// [`BLOCK`] splats without rank, look and colour, field by field.
#[derive(Clone, Debug, Zeroable)]
#[repr(C, align(64))]
pub(crate) struct SplatColumns {
    x: [i32; BLOCK],
    y: [i32; BLOCK],
    half: [[u16; BLOCK]; 2],
    angle: [u16; BLOCK],
    opacity: [u16; BLOCK],
}

impl SplatColumns {
    /// The splat of a lane (below [`BLOCK`]), of rank, look and colour 0.
    #[inline(always)]
    pub(crate) fn get(&self, lane: usize) -> Splat {
        Splat {
            rank: 0,
            x: self.x[lane],
            y: self.y[lane],
            half: [self.half[0][lane], self.half[1][lane]],
            angle: self.angle[lane],
            style: 0,
            colour: [0; 3],
            opacity: self.opacity[lane],
        }
    }
}

/// A value of every lane.
type Row = [f32; BLOCK];

/// [`Splat::new`], [`turned`](Splat::turned) and [`faded`](Splat::faded) lane by lane; to be inlined into a body that
/// is compiled for a level.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // a lane is an index into many arrays
pub(crate) fn lanes(centre: &[Row; 2], half: &[Row; 2], turns: &Row, part: &Row, out: &mut SplatColumns) {
    for j in 0..BLOCK {
        out.x[j] = fixed(centre[0][j]);
    }
    for j in 0..BLOCK {
        out.y[j] = fixed(centre[1][j]);
    }
    for j in 0..BLOCK {
        let (x, across) = steps(half[0][j]);
        let (y, down) = steps(half[1][j]);
        out.half[0][j] = x;
        out.half[1][j] = y;
        out.opacity[j] = share_of(whole(across * down * 65535.0 + 0.5, 0, 65535) as u16, part[j]);
    }
    for j in 0..BLOCK {
        out.angle[j] = angle(turns[j]);
    }
}

/// The rank of a depth and a birth number: farther splats (of larger depth) are drawn earlier; at the same depth, in
/// the order of numbers (from -2^39 to below 2^39; 40 bits are kept). A depth that is NaN is nearest.
pub fn rank(depth: f32, number: i64) -> u64 {
    ranked(deepness(depth), number)
}

/// A depth as a 24-bit number that decreases with depth.
#[inline(always)]
pub(crate) fn deepness(depth: f32) -> u32 {
    let bits = (depth + 0.0).to_bits();
    // Floats as integers in the same order, then inverted.
    let rising = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    let falling = if depth.is_nan() { u32::MAX } else { !rising };
    falling >> 8
}

/// The rank of a depth as [`deepness`] has it.
#[inline(always)]
pub(crate) fn ranked(deepness: u32, number: i64) -> u64 {
    u64::from(deepness) << 40 | (number.wrapping_add(1 << 39) as u64 & ((1 << 40) - 1))
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
    fn lanes_are_splats() {
        use crate::noise::seed::mix64;
        let odd =
            [0.0, -0.0, 1e-9, -1e-9, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3e9, -1e20, 0.5, 4.0, 3.999];
        let mut state = 1;
        let mut any = |wide: f32| {
            state += 1;
            let n = mix64(state);
            match n % 4 {
                0 => odd[(n >> 8) as usize % odd.len()],
                _ => ((n >> 40) as f32 / (1u64 << 23) as f32 - 1.0) * wide,
            }
        };
        for _ in 0..500 {
            let centre = [0, 1].map(|_| core::array::from_fn(|_| any(3000.0)));
            let half = [0, 1].map(|_| core::array::from_fn(|_| any(9.0)));
            let (turns, part) = (core::array::from_fn(|_| any(3.0)), core::array::from_fn(|_| any(1.0)));
            let mut out = SplatColumns::zeroed();
            lanes(&centre, &half, &turns, &part, &mut out);
            for j in 0..BLOCK {
                let one = Splat::new([centre[0][j], centre[1][j]], [half[0][j], half[1][j]]);
                assert_eq!(out.get(j), one.turned(turns[j]).faded(part[j]));
            }
        }
    }

    #[test]
    fn far_comes_first_then_number() {
        assert!(rank(10.0, 5) < rank(9.0, 4));
        assert!(rank(1.0, 4) < rank(1.0, 5) && rank(1.0, -1) < rank(1.0, 0));
        assert!(rank(0.0, 7) < rank(-1.0, 0));
        assert!(rank(-1.0, 7) < rank(f32::NAN, 0));
        assert_eq!(rank(0.0, 1), rank(-0.0, 1));
        assert!(rank(f32::INFINITY, 7) < rank(1e30, 0));
    }
}
