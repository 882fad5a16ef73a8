//! A long-period stream: 64-bit xorshift registers of four 16-bit words, 32 lanes, each row seeded by a hash.
//!
//! ```text
//! t = w0 ^ (w0 << 7);   out = t + w2;   (w0, w1, w2, w3) <- (w1, w2, w3, w1 ^ (w1 << 4) ^ t ^ (t >> 7))
//! ```
//!
//! Every operation is of 16-bit lanes (shift, XOR, one addition that breaks the linearity of the output), 32 lanes are
//! four, two or one vectors, and nothing ever crosses lanes. The update of the state is linear over GF(2) with a
//! primitive characteristic polynomial, so the period is 2^64 - 1, and a place far along a row is reached by a power of
//! its 64x64 matrix ([`jump`]). Rows are reached by hashing their address, so frames, planes and rows are unrelated.

use super::law::{self, Law};
use super::seed::{FrameKey, GOLDEN, Layer, key_of_frame, mix64};
use super::{Shape, seed};
use crate::gf2::{Matrix64, Powers64};
use crate::simd::{Level, multiversion};
use core::ops::Range;
use std::sync::LazyLock;

/// Lanes side by side.
pub const LANES: usize = 32;

/// 32 registers: four planes of one word a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(64))]
pub struct Lanes {
    /// w0 to w3.
    pub w: [[u16; LANES]; 4],
}

/// One step of one register: the definition. Returns the next state and the output.
pub const fn step(w: [u16; 4]) -> ([u16; 4], u16) {
    let t = w[0] ^ (w[0] << 7);
    let next = w[1] ^ (w[1] << 4) ^ t ^ (t >> 7);
    ([w[1], w[2], w[3], next], t.wrapping_add(w[2]))
}

impl Lanes {
    /// The registers of a row, before its first word.
    #[inline]
    pub fn of_key(key: u64) -> Lanes {
        let mut w = [[0; LANES]; 4];
        for (j, plane) in w.iter_mut().enumerate() {
            for (n, four) in plane.chunks_exact_mut(4).enumerate() {
                let u = mix64(key.wrapping_add(((8 * j + n) as u64 + 1).wrapping_mul(GOLDEN)));
                for (i, word) in four.iter_mut().enumerate() {
                    *word = (u >> (16 * i)) as u16;
                }
            }
        }
        // Never the state of all zeros, which would stay there.
        w[3].iter_mut().for_each(|w| *w |= 1);
        Lanes { w }
    }
}

fn pack(w: [u16; 4]) -> u64 {
    w.iter().rev().fold(0, |x, &w| x << 16 | u64::from(w))
}

fn unpack(x: u64) -> [u16; 4] {
    [0, 1, 2, 3].map(|j| (x >> (16 * j)) as u16)
}

/// The update of the state as a matrix: bit i of w[j] is bit 16j + i.
fn matrix() -> Matrix64 {
    Matrix64::of(|x| pack(step(unpack(x)).0))
}

static POWERS: LazyLock<Powers64> = LazyLock::new(|| Powers64::new(&matrix()));

/// Moves the lanes `steps` steps on without making what lies between: a matrix product for each bit set in `steps`.
pub fn jump(lanes: &mut Lanes, steps: u64) {
    for i in 0..LANES {
        let w = unpack(POWERS.jump(pack(lanes.w.map(|plane| plane[i])), steps));
        for j in 0..4 {
            lanes.w[j][i] = w[j];
        }
    }
}

/// So many lanes at a time as fit the registers.
#[inline(always)]
fn run<const N: usize>(lanes: &mut Lanes, first: usize, out: &mut [u16]) {
    let take = |plane: &[u16; LANES]| -> [u16; N] { core::array::from_fn(|i| plane[first + i]) };
    let mut w = lanes.w.each_ref().map(take);
    let turn = |w: &mut [[u16; N]; 4], a: usize, out: &mut [u16]| {
        // The roles of the four planes go round, so that nothing is moved.
        let (b, c) = ((a + 1) % 4, (a + 2) % 4);
        for i in 0..N {
            let t = w[a][i] ^ (w[a][i] << 7);
            out[first + i] = t.wrapping_add(w[c][i]);
            w[a][i] = w[b][i] ^ (w[b][i] << 4) ^ t ^ (t >> 7);
        }
    };
    let mut fours = out.chunks_exact_mut(4 * LANES);
    for four in &mut fours {
        let (x, y) = four.split_at_mut(2 * LANES);
        let ((s, t), (u, v)) = (x.split_at_mut(LANES), y.split_at_mut(LANES));
        turn(&mut w, 0, s);
        turn(&mut w, 1, t);
        turn(&mut w, 2, u);
        turn(&mut w, 3, v);
    }
    for one in fours.into_remainder().chunks_exact_mut(LANES) {
        turn(&mut w, 0, one);
        w.rotate_left(1);
    }
    for j in 0..4 {
        lanes.w[j][first..first + N].copy_from_slice(&w[j]);
    }
}

#[inline(always)]
fn fill_body(lanes: &mut Lanes, out: &mut [u16]) {
    if cfg!(target_feature = "avx2") {
        run::<LANES>(lanes, 0, out);
    } else {
        for first in (0..LANES).step_by(8) {
            run::<8>(lanes, first, out);
        }
    }
}

multiversion! {
    /// Fills `out` with whole steps of 32 words each, lane 0 first, and leaves the lanes where the next call goes on.
    /// A rest of `out` that is no whole step is left as it is.
    pub fn fill(level, lanes: &mut Lanes, out: &mut [u16]) = fill_body;
}

/// The stream laid over pictures of one shape, ready to be entered at any row. (A shape's layout means nothing here.)
#[derive(Clone, Copy, Debug)]
pub struct Xs64 {
    shape: Shape,
    seed: u64,
    layer: Layer,
    level: Level,
}

/// One frame of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Frame64 {
    key: FrameKey,
    layer: Layer,
    block_steps: u32,
}

impl Xs64 {
    /// Lays the stream over a shape.
    pub fn new(shape: &Shape, seed: u64, layer: Layer, level: Level) -> Xs64 {
        Xs64 { shape: *shape, seed, layer, level }
    }

    /// Frame number `frame`, any whole number.
    #[inline]
    pub fn frame(&self, frame: i64) -> Frame64 {
        let block_steps = self.shape.block_steps();
        Frame64 { key: key_of_frame(self.seed, frame), layer: self.layer, block_steps }
    }

    /// The words of pixels `x` of a row in step order: those of the whole blocks (32 pixels, or 256 for H8) that hold
    /// a pixel of `x`; `out` is as long as these.
    pub fn fill_row(&self, frame: i64, plane: usize, y: u32, x: Range<u32>, out: &mut [u16]) {
        let block = self.shape.block(LANES as u32);
        let first = x.start / block;
        let blocks = x.end.div_ceil(block).saturating_sub(first) as usize;
        let steps = self.shape.block_steps() as usize;
        assert_eq!(out.len(), blocks * LANES * steps, "words of the pixels {x:?}");
        let mut at = self.frame(frame).lanes(plane, y, first);
        fill(self.level, &mut at, out);
    }
}

impl Frame64 {
    /// The lanes at a block of a row, ready for [`fill`].
    #[inline]
    pub fn lanes(&self, plane: usize, y: u32, block: u32) -> Lanes {
        let mut lanes = Lanes::of_key(self.key.row(self.layer.plane(plane as u32), y));
        if block != 0 {
            jump(&mut lanes, u64::from(block) * u64::from(self.block_steps));
        }
        lanes
    }
}

/// The noise of one pixel, made alone: the centred number c ([`law`]). Slow: the reference.
pub fn noise_at(shape: &Shape, seed: u64, frame: i64, plane: usize, x: u32, y: u32) -> i16 {
    let key = seed::key(seed, frame, plane as u32, y);
    let (lanes, lane) = (LANES as u32, x as usize % LANES);
    let w = Lanes::of_key(key).w.map(|plane| plane[lane]);
    let words = |first: u32, count: u32| -> Vec<u16> {
        let mut w = unpack(POWERS.jump(pack(w), first.into()));
        let mut next = || {
            let (after, out) = step(w);
            w = after;
            out
        };
        (0..count).map(|_| next()).collect()
    };
    match shape.law() {
        Law::Sum(k) => law::centred(&words(k * (x / lanes), k)),
        Law::H8 => {
            let eight = words(8 * (x / (8 * lanes)), 8);
            law::h8(core::array::from_fn(|q| eight[q]))[x as usize / LANES % 8]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::seed::fnv1a64;
    use super::super::{Layout, Shape};
    use super::*;

    fn hd(law: Law) -> Shape {
        Shape::new(&[(1920, 1080); 3], Layout::Keyed, law).unwrap()
    }

    #[test]
    fn vectors() {
        type Row = (u64, i64, usize, u32, [u16; 12], u16);
        #[rustfmt::skip]
        let rows: [Row; 4] = [
            (0, 0, 0, 0, [0x0383, 0xb9cb, 0xa2be, 0x6651, 0x48b3, 0x9931, 0x7c9e, 0x08e6, 0x3f0b, 0x5686, 0x76a7, 0x37aa], 0x5be1),
            (1, 0, 0, 0, [0x6f71, 0xc323, 0x8c8e, 0xf361, 0x3496, 0xc318, 0xc7ce, 0x1b3e, 0x9060, 0x14e2, 0x8328, 0x20fc], 0x9490),
            (0, 1, 0, 0, [0x7a00, 0xfe1e, 0xb784, 0xfc5c, 0x2f8c, 0x2ffc, 0x0f6e, 0x7ffe, 0x8469, 0x7b14, 0x5388, 0xbf4f], 0x1464),
            (0x0123_4567_89ab_cdef, 1_000_000, 2, 1079,
                [0x2e55, 0x4fe9, 0xd71d, 0x3974, 0xea3c, 0x884e, 0x0864, 0xb825, 0x4581, 0x07c0, 0xf60a, 0xb4ac], 0x9ed4),
        ];
        for (seed, frame, plane, y, want, last) in rows {
            for &level in Level::available() {
                let mut row = vec![0; 1920];
                Xs64::new(&hd(Law::UNIFORM), seed, Layer::BASE, level).fill_row(
                    frame,
                    plane,
                    y,
                    0..1920,
                    &mut row,
                );
                assert_eq!((&row[..8], &row[32..36], row[1919]), (&want[..8], &want[8..], last), "{level}");
            }
        }
    }

    #[test]
    fn plane_hashes_of_words_and_of_h8() {
        for &level in Level::available() {
            let stream = Xs64::new(&hd(Law::UNIFORM), 1, Layer::BASE, level);
            let (mut words, mut bells) = (Vec::new(), Vec::new());
            let (mut row, mut c) = (vec![0; 2048], vec![0; 2048]);
            for y in 0..1080 {
                stream.fill_row(0, 0, y, 0..1920, &mut row[..1920]);
                words.extend(row[..1920].iter().flat_map(|w| w.to_le_bytes()));
                Xs64::new(&hd(Law::H8), 1, Layer::BASE, level).fill_row(0, 0, y, 0..1920, &mut row);
                law::centre(level, Law::H8, LANES, &row, &mut c);
                if y == 0 {
                    assert_eq!(c[..8], [-2107, -10143, -8746, 9184, -3663, -2752, -7483, -1931]);
                }
                bells.extend(c[..1920].iter().flat_map(|w| w.to_le_bytes()));
            }
            assert_eq!(fnv1a64(&words), 0x93de_dc1a_55b1_afa5, "{level}");
            assert_eq!(fnv1a64(&bells), 0xed2d_012f_21e9_77ff, "{level}");
        }
    }

    #[test]
    fn every_body_is_the_reference_at_every_length() {
        let start = Lanes::of_key(99);
        for &level in Level::available() {
            for steps in (0..14).chain([63, 64, 65]) {
                for cut in (0..=steps).step_by(3) {
                    let mut lanes = start;
                    let mut got = vec![0xaaaa; steps * LANES + 20];
                    let (a, b) = got[1..].split_at_mut(cut * LANES);
                    fill(level, &mut lanes, a);
                    fill(level, &mut lanes, b);
                    for i in 0..LANES {
                        let mut w = start.w.map(|p| p[i]);
                        for s in 0..steps {
                            let (next, out) = step(w);
                            assert_eq!(got[1 + s * LANES + i], out, "{level} {steps} {cut}");
                            w = next;
                        }
                        assert_eq!(lanes.w.map(|p| p[i]), w);
                    }
                    assert_eq!(got[1 + steps * LANES..], [0xaaaa; 19]);
                }
            }
        }
    }

    #[test]
    fn jumps_are_steps_and_the_period_is_full() {
        let start = Lanes::of_key(5);
        for steps in [0u64, 1, 2, 31, 1000] {
            let (mut jumped, mut stepped) = (start, start);
            jump(&mut jumped, steps);
            fill(Level::best(), &mut stepped, &mut vec![0; steps as usize * LANES]);
            assert_eq!(jumped, stepped);
        }
        let m = matrix();
        assert_eq!(m.pow((1 << 64) - 1), Matrix64::IDENTITY);
        for prime in [3u128, 5, 17, 257, 641, 65537, 6_700_417] {
            assert_ne!(m.pow(((1 << 64) - 1) / prime), Matrix64::IDENTITY, "{prime}");
        }
    }

    #[test]
    fn one_pixel_is_the_row_for_any_tile_and_shape() {
        for law in [Law::UNIFORM, Law::Sum(3), Law::Sum(16), Law::H8] {
            let shape = Shape::new(&[(600, 3), (33, 2)], Layout::Keyed, law).unwrap();
            let stream = Xs64::new(&shape, 77, Layer::BASE, Level::best());
            let block = shape.block(LANES as u32);
            for frame in [0, -1, i64::MIN, i64::MAX] {
                for (plane, w, y) in [(0, 600u32, 2), (1, 33, 1)] {
                    let pixels = w.next_multiple_of(block) as usize;
                    let mut row = vec![0; pixels * law.words() as usize];
                    stream.fill_row(frame, plane, y, 0..w, &mut row);
                    let mut c = vec![0; pixels];
                    law::centre(Level::SCALAR, law, LANES, &row, &mut c);
                    for x in 0..w {
                        assert_eq!(noise_at(&shape, 77, frame, plane, x, y), c[x as usize], "{law:?} {x}");
                    }
                    for x in [1, 32, 257, 599].into_iter().filter(|x| *x < w) {
                        let skip = (x / block * block * law.words()) as usize;
                        let mut tile = vec![0; row.len() - skip];
                        stream.fill_row(frame, plane, y, x..w, &mut tile);
                        assert_eq!(tile, row[skip..], "{law:?} from {x}");
                    }
                }
            }
        }
    }
}
