//! The positions of rows in the cycle, and seeking.

use super::arch::seek;
use super::{LANES, Lanes, fill, step};
use crate::gf2::{Jump32, M31, Matrix32, mod_m31};
use crate::noise::seed::{FrameKey, Layer, key_of_frame};
use crate::noise::{CycleStart, Layout, Shape, ShapeError};
use crate::simd::{Level, multiversion};
use core::ops::Range;
use std::sync::{Arc, LazyLock};

/// M, the matrix of one step.
pub(super) fn matrix() -> Matrix32 {
    Matrix32::of(step)
}

/// The powers of M by digits, computed once.
static JUMP: LazyLock<Jump32> = LazyLock::new(|| Jump32::new(&matrix()));

/// Steps of a row of plane `plane`: L.
fn row_steps(shape: &Shape, plane: usize) -> u64 {
    shape.row_steps(plane, LANES as u32)
}

/// The number of words of one row, and of all planes before `plane` (of all planes if `plane` is the number
/// of planes).
fn words_before(shape: &Shape, plane: usize) -> u64 {
    (0..plane).map(|p| row_steps(shape, p) * LANES as u64 * u64::from(shape.size(p).1)).sum()
}

/// The exact position of lane 0 at the start of a row.
fn row_position(shape: &Shape, frame: i64, plane: usize, y: u32) -> i128 {
    match shape.layout {
        Layout::Keyed => key_of_frame(0, frame).row(plane as u32, y).into(),
        Layout::Sequential => {
            let row = row_steps(shape, plane) * LANES as u64 * u64::from(y);
            i128::from(frame) * i128::from(words_before(shape, shape.planes()))
                + i128::from(words_before(shape, plane))
                + i128::from(row)
        }
    }
}

/// The state of a lane after `steps` steps of a row, computed by the reference.
pub(super) fn closed_form(
    shape: &Shape,
    s0: u32,
    frame: i64,
    plane: usize,
    y: u32,
    lane: u64,
    steps: u64,
) -> u32 {
    let base = i128::from(mod_m31(row_position(shape, frame, plane, y)));
    let lane = i128::from(lane) * i128::from(row_steps(shape, plane));
    JUMP.jump(s0, mod_m31(base + lane + i128::from(steps)))
}

/// The constants of the rows of one plane.
#[derive(Clone, Debug)]
struct Plane {
    /// The words of the planes before, and of a row, modulo the period.
    before: u64,
    row: u64,
    height: u32,
    width: u32,
    /// The expansion from lane 0 to all lanes.
    fan: Arc<LaneExpansion>,
}

/// The stream for pictures of one shape, with random access to rows.
///
/// ```
/// use grainfield_filters::noise::seed::Layer;
/// use grainfield_filters::noise::{Distribution, Layout, CycleStart, Shape, lfsr31::Lfsr31};
/// use grainfield_filters::simd::Level;
/// let shape = Shape::new(&[(1920, 1080), (960, 540), (960, 540)], Layout::Sequential, Distribution::UNIFORM)?;
/// let stream = Lfsr31::new(&shape, CycleStart::Seed(0), Layer::BASE, Level::best())?;
/// let mut words = [0; 8];
/// stream.fill_row(0, 0, 0, 0..8, &mut words);
/// assert_eq!(words, [0x0000, 0x8779, 0x3e86, 0x4bb8, 0x9667, 0x303b, 0x5c89, 0xed3a]);
/// # Ok::<(), grainfield_filters::noise::ShapeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lfsr31 {
    layout: Layout,
    block: u32,
    block_steps: u32,
    layer: Layer,
    /// s0 * M^d: the lowest digit of every jump.
    first: Arc<[u32; 256]>,
    /// The words of a frame modulo the period.
    frame: u64,
    planes: Vec<Plane>,
    level: Level,
}

/// One frame of a stream, with its position reduced once for all rows.
#[derive(Clone, Copy, Debug)]
pub struct Frame31<'a> {
    stream: &'a Lfsr31,
    key: FrameKey,
    base: u64,
}

/// Expands the state of lane 0 to all eight lanes: the images of the eight nibbles of a state, split into halves. The
/// table takes 4 kB and eight loads, while a matrix per lane would take 28 dependent products.
#[derive(Debug)]
struct LaneExpansion([[Lanes; 16]; 8]);

impl LaneExpansion {
    /// `one`: the map from a lane to the next lane.
    fn new(one: &Matrix32) -> LaneExpansion {
        let mut lanes = [Matrix32::IDENTITY; LANES];
        for i in 1..LANES {
            lanes[i] = lanes[i - 1].then(one);
        }
        LaneExpansion(core::array::from_fn(|k| {
            core::array::from_fn(|nibble| Lanes::of(lanes.map(|m| m.apply((nibble as u32) << (4 * k)))))
        }))
    }

    #[inline(always)]
    fn apply(&self, state: u32) -> Lanes {
        let mut all = Lanes::default();
        for (k, images) in self.0.iter().enumerate() {
            let image = &images[(state >> (4 * k) & 15) as usize];
            all.hi = core::array::from_fn(|i| all.hi[i] ^ image.hi[i]);
            all.lo = core::array::from_fn(|i| all.lo[i] ^ image.lo[i]);
        }
        all
    }
}

#[inline(always)]
fn fan_body(fan: &LaneExpansion, state: u32) -> Lanes {
    fan.apply(state)
}

multiversion! {
    fn expand_lanes(level, fan: &LaneExpansion, state: u32) -> Lanes = fan_body;
}

impl Lfsr31 {
    /// Binds the stream to a shape. Fails if `origin` is a state that stays at zero, or for a second layer in
    /// [`Layout::Sequential`].
    pub fn new(shape: &Shape, origin: CycleStart, layer: Layer, level: Level) -> Result<Lfsr31, ShapeError> {
        let s0 = origin.state()?;
        if shape.layout == Layout::Sequential && layer != Layer::BASE {
            return Err(ShapeError::Layer(layer));
        }
        let reduced = |n: u64| n % u64::from(M31);
        let mut planes: Vec<Plane> = Vec::with_capacity(shape.planes());
        for p in 0..shape.planes() {
            let (width, height) = shape.size(p);
            let same = planes.iter().find(|other| other.width == width);
            let fan = same.map_or_else(
                || Arc::new(LaneExpansion::new(&matrix().pow(row_steps(shape, p).into()))),
                |other| Arc::clone(&other.fan),
            );
            planes.push(Plane {
                before: reduced(words_before(shape, p)),
                row: reduced(row_steps(shape, p) * LANES as u64),
                width,
                height,
                fan,
            });
        }
        let frame = reduced(words_before(shape, shape.planes()));
        let first = Arc::new(core::array::from_fn(|d| JUMP.digit(0, d as u8).apply(s0)));
        let (block, block_steps) = (shape.block(LANES as u32), shape.block_steps());
        Ok(Lfsr31 { layout: shape.layout, block, block_steps, layer, first, frame, planes, level })
    }

    /// Frame number `frame`, any whole number.
    #[inline]
    pub fn frame(&self, frame: i64) -> Frame31<'_> {
        // Below (2^31)^2 before the reduction.
        let base = frame.rem_euclid(i64::from(M31)) as u64 * self.frame % u64::from(M31);
        Frame31 { stream: self, key: key_of_frame(0, frame), base }
    }

    /// The words of pixels `x` of a row in step order, lane 0 first: those of the whole blocks that hold a pixel of
    /// `x` (a block is eight pixels, or 64 for H8), so `out` is as long as these. With one word per pixel they are
    /// in the order of the pixels.
    pub fn fill_row(&self, frame: i64, plane: usize, y: u32, x: Range<u32>, out: &mut [u16]) {
        let first = x.start / self.block;
        let blocks = x.end.div_ceil(self.block).saturating_sub(first) as usize;
        assert_eq!(out.len(), blocks * LANES * self.block_steps as usize, "words of the pixels {x:?}");
        let mut at = self.frame(frame).lanes(plane, y, first);
        fill(self.level, &mut at, out);
    }
}

impl Frame31<'_> {
    /// The position of lane 0 at a block of a row.
    #[inline(always)]
    fn position(&self, plane: usize, y: u32, block: u32) -> u32 {
        let stream = self.stream;
        let place = &stream.planes[plane];
        debug_assert!(y < place.height && block <= place.width.div_ceil(stream.block));
        let row = match stream.layout {
            Layout::Keyed => self.key.row(stream.layer.plane(plane as u32), y) % u64::from(M31),
            Layout::Sequential => self.base + place.before + u64::from(y) * place.row,
        };
        let steps = u64::from(block) * u64::from(stream.block_steps);
        ((row + steps) % u64::from(M31)) as u32
    }

    /// The states of lane 0 at the start of rows `y`, `y + 1` and so on: seeking many rows at once takes half
    /// of the time.
    #[inline]
    pub fn states(&self, plane: usize, y: u32, out: &mut [u32]) {
        for (out, y) in out.iter_mut().zip(y..) {
            *out = self.position(plane, y, 0);
        }
        seek(self.stream.level, &JUMP, &self.stream.first, out);
    }

    /// All lanes, from the state of lane 0.
    #[inline]
    pub fn all_lanes(&self, plane: usize, state: u32) -> Lanes {
        expand_lanes(self.stream.level, &self.stream.planes[plane].fan, state)
    }

    /// The lanes at a block of a row, ready for [`fill`].
    #[inline]
    pub fn lanes(&self, plane: usize, y: u32, block: u32) -> Lanes {
        let mut state = [self.position(plane, y, block)];
        seek(self.stream.level, &JUMP, &self.stream.first, &mut state);
        self.all_lanes(plane, state[0])
    }
}
