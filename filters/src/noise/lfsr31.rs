//! The 31-bit shift register of Avery Lee's article "Fast noise", with eight lanes and random access.
//!
//! # The generator
//!
//! One bit at a time the register is `x' = (x << 1) | (bit 27 ^ bit 30)`: the new bit b(t) is b(t-28) ^ b(t-31), of the
//! primitive polynomial x^31 + x^28 + 1. The next sixteen bits depend only on existing bits, so they are made at once:
//!
//! ```text
//! x' = (x << 16) + (((x >> 12) ^ (x >> 15)) & 0xffff)         output word = low half of x'
//! ```
//!
//! 31 of the 32 bits are used: bit 31 is shifted out by the next step and is not read, so states are compared under the
//! mask 2^31 - 1, and a state that is zero under that mask stays zero. See [`step`].
//!
//! # Split halves
//!
//! A vector holds eight registers as two vectors of sixteen-bit halves, so that the shift by 16 and the output cost
//! nothing: the old low halves *are* the new high halves.
//!
//! ```text
//! t = hi << 1;   lo' = (t ^ (lo >> 12)) ^ ((hi << 4) ^ (lo >> 15));   hi' = lo
//! ```
//!
//! `hi << 1` needs no mask: the bit that a mask would clear is the redundant one.
//!
//! # Lag form
//!
//! Over GF(2) a polynomial p has p(x)^16 = p(x^16), so the recurrence with lags of 28 and 31 bits also holds for whole
//! 16-bit words: `w[n] = w[n-28] ^ w[n-31]`, lane by lane. After the first 31 steps, a row needs two loads and one XOR
//! per vector at any register width, and 28 steps do not depend on each other. The first 31 steps are made in a few
//! rounds by the same rule with smaller lags (28 and 31 times 1, 2, 4, 8 bits), so that no step depends on the step
//! before, as in split halves. In measurements this is faster at every width, including 128 bits; split halves remain
//! as the reference and for rows of less than 31 steps.
//!
//! # Seeking
//!
//! The step is a linear map M of the state, so position n is `s0 * M^n` ([`gf2`](super::gf2)). Positions are exact integers,
//! reduced modulo the period 2^31 - 1, and no row, tile or frame is reached by stepping. Eight lanes share a row as
//! eight adjacent portions of the cycle: lane i starts L steps after lane i-1, where L is the number of steps of a row.
//!
//! # Limits
//!
//! The generator is short and linear: it fails tests of matrix rank and of low-weight parity, and `w[n] = w[n - 28 *
//! 2^j] ^ w[n - 31 * 2^j]` holds for every j. This is invisible in noise of a few code values; filters that sum noise
//! along rows use the stream with a longer period, [`xs64`](super::xs64).
//!
//! Keyed rows are pieces of the one cycle of 2^31 - 1 words, at hashed positions, so some of them overlap: of rows of a
//! and b words a pair in 2^31 / (a + b). In a frame of 1080p in 4:2:0 with one word per pixel, about three of the 2.3
//! million pairs share a part of their words, at other columns. This, too, is invisible.

#[cfg(test)]
use super::gf2::mod_m31;
use super::gf2::{Jump32, M31, Matrix32};
use super::seed::{FrameKey, Layer, key_of_frame};
use super::{CycleStart, Layout, Shape, ShapeError};
use crate::simd::{Level, Vector, multiversion};
use std::sync::{Arc, LazyLock};

/// The number of lanes.
pub const LANES: usize = 8;

/// One step of one register: the reference. The output is the low half of the returned state.
#[inline(always)]
pub const fn step(x: u32) -> u32 {
    (x << 16).wrapping_add(((x >> 12) ^ (x >> 15)) & 0xffff)
}

/// The word of a lane after `steps` steps of its row, in closed form: the reference. Slow: four matrix products.
///
/// # Errors
/// If the origin is a state that stays at zero.
#[cfg(test)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn word_at(
    shape: &Shape,
    origin: CycleStart,
    frame: i64,
    plane: usize,
    y: u32,
    lane: u32,
    steps: u64,
) -> Result<u16, ShapeError> {
    let base = i128::from(mod_m31(row_position(shape, frame, plane, y)));
    let lane = i128::from(lane) * i128::from(row_steps(shape, plane));
    Ok(step(JUMP.jump(origin.state()?, mod_m31(base + lane + i128::from(steps)))) as u16)
}

/// Eight registers as split halves. Since the high half of a state is the word before the last and the low half the
/// last, it is also the last two words of each lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(align(16))]
pub struct Lanes {
    /// High halves.
    pub hi: [u16; LANES],
    /// Low halves.
    pub lo: [u16; LANES],
}

impl Lanes {
    /// From whole states.
    #[inline(always)]
    pub fn of(states: [u32; LANES]) -> Lanes {
        Lanes { hi: states.map(|s| (s >> 16) as u16), lo: states.map(|s| s as u16) }
    }
}

/// The largest lag of the lag form, in words.
const LONG: usize = 31 * LANES;
/// The number of words that do not depend on each other in the lag form.
const SHORT: usize = 28 * LANES;

#[inline(always)]
fn halves_body(lanes: &mut Lanes, out: &mut [u16]) {
    let Lanes { mut hi, mut lo } = *lanes;
    for out in out.chunks_exact_mut(LANES) {
        let mut new = [0; LANES];
        for i in 0..LANES {
            let t = hi[i] << 1;
            new[i] = (t ^ (lo[i] >> 12)) ^ ((hi[i] << 4) ^ (lo[i] >> 15));
        }
        out.copy_from_slice(&new);
        (hi, lo) = (lo, new);
    }
    *lanes = Lanes { hi, lo };
}

type Step = [u16; LANES];

/// The words `d` bits before those whose predecessors by whole words are `near` (a = d / 16) and `far` (a + 1).
#[inline(always)]
fn before<const R: u32>(far: &Step, near: &Step) -> Step {
    core::array::from_fn(|i| far[i] << (16 - R) | near[i] >> R)
}

#[inline(always)]
fn xor(a: Step, b: Step) -> Step {
    core::array::from_fn(|i| a[i] ^ b[i])
}

/// The first 31 steps with the smallest depth. Split halves make them one after the other, each depending on the
/// last; here they are made in a few rounds: bits obey b(t) = b(t - 28 * 2^j) ^ b(t - 31 * 2^j) for every j, and a
/// larger j has longer lags, so that more steps follow from the steps before: 1, 3, 7 and 14 at once for j = 0 to 3.
#[inline(always)]
fn start(lanes: &Lanes) -> [Step; 33] {
    // w[n + 2] is step n. Bit 15 of w[0] is redundant and is not read below.
    let mut w = [[0; LANES]; 33];
    (w[0], w[1]) = (lanes.hi, lanes.lo);
    for n in 2..4 {
        w[n] = xor(before::<12>(&w[n - 2], &w[n - 1]), before::<15>(&w[n - 2], &w[n - 1]));
    }
    for n in 4..8 {
        w[n] = xor(before::<8>(&w[n - 4], &w[n - 3]), before::<14>(&w[n - 4], &w[n - 3]));
    }
    for n in 8..16 {
        w[n] = xor(w[n - 7], before::<12>(&w[n - 8], &w[n - 7]));
    }
    for n in 16..33 {
        w[n] = xor(w[n - 14], before::<8>(&w[n - 16], &w[n - 15]));
    }
    w
}

#[inline(always)]
fn lag_body(lanes: &mut Lanes, out: &mut [u16]) {
    let len = out.len() - out.len() % LANES;
    let out = &mut out[..len];
    if len < LONG {
        return halves_body(lanes, out);
    }
    for (out, w) in out.chunks_exact_mut(LANES).zip(&start(lanes)[2..]) {
        out.copy_from_slice(w);
    }
    for start in (LONG..len).step_by(SHORT) {
        let (past, now) = out.split_at_mut(start);
        let now = if now.len() > SHORT { &mut now[..SHORT] } else { now };
        let near = &past[start - SHORT..][..now.len()];
        let far = &past[start - LONG..][..now.len()];
        for i in 0..now.len() {
            now[i] = near[i] ^ far[i];
        }
    }
    lanes.hi.copy_from_slice(&out[len - 2 * LANES..len - LANES]);
    lanes.lo.copy_from_slice(&out[len - LANES..]);
}

multiversion! {
    /// Fills `out` with whole steps of eight words each, lane 0 first, and advances the lanes to the position of the
    /// next call. A remainder of `out` that is less than a step is not changed.
    ///
    /// The lag form is used at every level: it is several times faster than split halves, whose steps depend on each
    /// other, also with 128-bit registers.
    pub fn fill(level, lanes: &mut Lanes, out: &mut [u16]) = lag_body;
}

/// M, the matrix of one step.
fn matrix() -> Matrix32 {
    Matrix32::of(step)
}

/// The powers of M by digits, computed once.
static JUMP: LazyLock<Jump32> = LazyLock::new(|| Jump32::new(&matrix()));

/// Steps of a row of plane `plane`: L.
fn row_steps(shape: &Shape, plane: usize) -> u64 {
    shape.row_steps(plane, LANES as u32)
}

/// The number of words of all planes before `plane` (of all planes if `plane` is the number of planes).
fn words_before(shape: &Shape, plane: usize) -> u64 {
    (0..plane).map(|p| row_steps(shape, p) * LANES as u64 * u64::from(shape.size(p).1)).sum()
}

/// The exact position of lane 0 at the start of a row.
#[cfg(test)]
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

/// The constants of the rows of one plane.
#[derive(Clone, Debug)]
struct Plane {
    /// The words of the planes before, and of a row, modulo the period.
    before: u64,
    row: u64,
    /// The expansion from lane 0 to all lanes.
    fan: Arc<LaneExpansion>,
}

/// The stream for pictures of one shape, with random access to rows.
#[derive(Clone, Debug)]
pub struct Lfsr31 {
    shape: Shape,
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
fn expand_body(fan: &LaneExpansion, state: u32) -> Lanes {
    fan.apply(state)
}

multiversion! {
    fn expand_lanes(level, fan: &LaneExpansion, state: u32) -> Lanes = expand_body;
    fn seek_registers(level, first: &[u32; 256], positions: &mut [u32]) -> bool => seek_body;
}

/// Converts positions below 2^32 into states, in place. `first` has the image of the origin for each lowest digit.
///
/// Each product depends on the one before, but the processor executes the conversions of several rows in parallel. The
/// compiler finds no good way to turn the bits of a number into masks, so a comparison in registers does it.
fn seek(level: Level, first: &[u32; 256], positions: &mut [u32]) {
    if !seek_registers(level, first, positions) {
        positions.iter_mut().for_each(|n| *n = JUMP.jump(first[0], *n));
    }
}

#[inline(always)]
fn seek_body<V: Vector>(any: V, first: &[u32; 256], positions: &mut [u32]) -> bool {
    let jump = &*JUMP;
    for position in positions {
        let [a, b, c, d] = position.to_le_bytes();
        let mut x = any.splat32(first[a as usize] as i32);
        for (k, digit) in [(1, b), (2, c), (3, d)] {
            x = product(x, jump.digit(k, digit));
        }
        let mut all = [0; 16];
        x.store(&mut all);
        *position = all[0];
    }
    true
}

/// `x * m`, x and the result in all lanes.
#[inline(always)]
fn product<V: Vector>(x: V, m: &Matrix32) -> V {
    let lanes = V::BYTES / 4;
    let mut sum = x.splat32(0);
    // Bit i in lane i.
    for (bits, rows) in Matrix32::IDENTITY.rows.chunks_exact(lanes).zip(m.rows.chunks_exact(lanes)) {
        sum = sum.xor(x.load(rows).select_if_test32(x, x.load(bits)));
    }
    sum.xor_reduce32()
}

impl Lfsr31 {
    /// Binds the stream to a shape.
    ///
    /// # Errors
    /// If `origin` is a state that stays at zero, or for a second layer in [`Layout::Sequential`].
    pub fn new(shape: &Shape, origin: CycleStart, layer: Layer, level: Level) -> Result<Lfsr31, ShapeError> {
        let s0 = origin.state()?;
        if shape.layout == Layout::Sequential && layer != Layer::BASE {
            return Err(ShapeError::Layer(layer));
        }
        let reduced = |n: u64| n % u64::from(M31);
        let mut planes: Vec<Plane> = Vec::with_capacity(shape.planes());
        for p in 0..shape.planes() {
            let same = (0..p).find(|&other| shape.size(other).0 == shape.size(p).0);
            let fan = same.map_or_else(
                || Arc::new(LaneExpansion::new(&matrix().pow(row_steps(shape, p).into()))),
                |other| Arc::clone(&planes[other].fan),
            );
            let (before, row) =
                (reduced(words_before(shape, p)), reduced(row_steps(shape, p) * LANES as u64));
            planes.push(Plane { before, row, fan });
        }
        let frame = reduced(words_before(shape, shape.planes()));
        let first = Arc::new(core::array::from_fn(|d| JUMP.digit(0, d as u8).apply(s0)));
        Ok(Lfsr31 { shape: *shape, layer, first, frame, planes, level })
    }

    /// Frame number `frame`, any whole number.
    #[inline]
    pub fn frame(&self, frame: i64) -> Frame31<'_> {
        // Below (2^31)^2 before the reduction.
        let base = frame.rem_euclid(i64::from(M31)) as u64 * self.frame % u64::from(M31);
        Frame31 { stream: self, key: key_of_frame(0, frame), base }
    }
}

impl Frame31<'_> {
    /// The position of lane 0 at a block of a row.
    #[inline(always)]
    fn position(&self, plane: usize, y: u32, block: u32) -> u32 {
        let Lfsr31 { shape, layer, planes, .. } = self.stream;
        let place = &planes[plane];
        let row = match shape.layout {
            Layout::Keyed => self.key.row(layer.plane(plane as u32), y) % u64::from(M31),
            Layout::Sequential => self.base + place.before + u64::from(y) * place.row,
        };
        let steps = u64::from(block) * u64::from(shape.block_steps());
        ((row + steps) % u64::from(M31)) as u32
    }

    /// The states of lane 0 at the start of rows `y`, `y + 1` and so on: seeking many rows at once takes half
    /// of the time.
    #[inline]
    pub fn states(&self, plane: usize, y: u32, out: &mut [u32]) {
        for (out, y) in out.iter_mut().zip(y..) {
            *out = self.position(plane, y, 0);
        }
        seek(self.stream.level, &self.stream.first, out);
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
        seek(self.stream.level, &self.stream.first, &mut state);
        self.all_lanes(plane, state[0])
    }
}

#[cfg(test)]
mod tests;
