//! A common interface to both generators, for filters that let the user choose.

use super::distribution::{Distribution, centre};
use super::lfsr31::{self, Lfsr31};
use super::seed::Layer;
use super::xs64::{self, Xs64};
use super::{CycleStart, Shape, ShapeError};
use crate::simd::{Level, multiversion};

/// The generators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Generator {
    /// [`lfsr31`].
    Lfsr31,
    /// [`xs64`].
    Xs64,
}

/// A stream for pictures of one shape.
#[derive(Clone, Debug)]
pub struct Stream {
    distribution: Distribution,
    level: Level,
    inner: Inner,
}

#[derive(Clone, Debug)]
enum Inner {
    Lfsr31(Lfsr31),
    Xs64(Xs64),
}

/// One frame of it.
#[derive(Clone, Copy, Debug)]
pub struct StreamFrame<'a> {
    stream: &'a Stream,
    inner: InnerFrame<'a>,
}

#[derive(Clone, Copy, Debug)]
enum InnerFrame<'a> {
    Lfsr31(lfsr31::Frame31<'a>),
    Xs64(xs64::Frame64),
}

/// The position of the start of a row: expensive to compute and small to store.
#[derive(Clone, Copy, Default, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct RowStart(u32);

/// A position in a row, from which noise is generated onwards.
#[derive(Clone, Copy, Debug)]
pub struct RowCursor {
    distribution: Distribution,
    level: Level,
    lanes: AnyLanes,
}

#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)] // lives on the stack, one at a time
enum AnyLanes {
    Lfsr31(lfsr31::Lanes),
    Xs64(xs64::Lanes),
}

impl Stream {
    /// Binds a generator to a shape. Fails if the origin is a state that stays at zero, for a second layer in the
    /// sequential layout, or for a raw state if the generator has none.
    pub fn new(
        generator: Generator,
        shape: &Shape,
        origin: CycleStart,
        layer: Layer,
        level: Level,
    ) -> Result<Stream, ShapeError> {
        let inner = match (generator, origin) {
            (Generator::Lfsr31, _) => Inner::Lfsr31(Lfsr31::new(shape, origin, layer, level)?),
            (Generator::Xs64, CycleStart::Seed(seed)) => Inner::Xs64(Xs64::new(shape, seed, layer, level)),
            (Generator::Xs64, CycleStart::State(state)) => return Err(ShapeError::NoState(state)),
        };
        Ok(Stream { distribution: shape.distribution(), level, inner })
    }

    /// The number of lanes.
    pub fn lanes(&self) -> usize {
        match self.inner {
            Inner::Lfsr31(_) => lfsr31::LANES,
            Inner::Xs64(_) => xs64::LANES,
        }
    }

    /// Pixels of a block: noise is generated in whole blocks.
    pub fn block(&self) -> usize {
        self.lanes() * self.distribution.slots() as usize
    }

    /// The distribution of the noise.
    pub fn distribution(&self) -> Distribution {
        self.distribution
    }

    /// Frame number `frame`, any whole number.
    #[inline]
    pub fn frame(&self, frame: i64) -> StreamFrame<'_> {
        let inner = match &self.inner {
            Inner::Lfsr31(s) => InnerFrame::Lfsr31(s.frame(frame)),
            Inner::Xs64(s) => InnerFrame::Xs64(s.frame(frame)),
        };
        StreamFrame { stream: self, inner }
    }
}

impl StreamFrame<'_> {
    /// The positions of the starts of rows `y`, `y + 1` and so on of a plane, for [`at`](StreamFrame::at): computing
    /// several at once is faster.
    #[inline]
    pub fn row_starts(&self, plane: usize, y: u32, out: &mut [RowStart]) {
        match &self.inner {
            InnerFrame::Lfsr31(f) => f.states(plane, y, bytemuck::cast_slice_mut(out)),
            InnerFrame::Xs64(_) => {
                for (out, y) in out.iter_mut().zip(y..) {
                    *out = RowStart(y);
                }
            }
        }
    }

    /// The start of the row at a position of the same frame and plane.
    #[inline]
    pub fn at(&self, plane: usize, place: RowStart) -> RowCursor {
        let lanes = match &self.inner {
            InnerFrame::Lfsr31(f) => AnyLanes::Lfsr31(f.all_lanes(plane, place.0)),
            InnerFrame::Xs64(f) => AnyLanes::Xs64(f.lanes(plane, place.0, 0)),
        };
        RowCursor { distribution: self.stream.distribution, level: self.stream.level, lanes }
    }

    /// Half of the centred numbers, `c >> 1`, from the start of a row, whole blocks of them; as [`RowCursor::centred`]
    /// and then a shift, but in one pass where that is faster. `words` is a buffer as there.
    #[inline]
    pub fn halves(&self, plane: usize, y: u32, words: &mut [u16], out: &mut [i16]) {
        if let (InnerFrame::Xs64(f), Distribution::H8) = (&self.inner, self.stream.distribution)
            && out.len().is_multiple_of(8 * xs64::LANES)
            && f.halves(self.stream.level, plane, y, out)
        {
            return;
        }
        self.row(plane, y, 0).centred(words, out);
        halve(self.stream.level, out);
    }

    /// The position before block `block` of a row.
    #[inline]
    pub fn row(&self, plane: usize, y: u32, block: u32) -> RowCursor {
        let lanes = match &self.inner {
            InnerFrame::Lfsr31(f) => AnyLanes::Lfsr31(f.lanes(plane, y, block)),
            InnerFrame::Xs64(f) => AnyLanes::Xs64(f.lanes(plane, y, block)),
        };
        RowCursor { distribution: self.stream.distribution, level: self.stream.level, lanes }
    }
}

#[inline(always)]
fn halve_body(out: &mut [i16]) {
    out.iter_mut().for_each(|c| *c >>= 1);
}

multiversion! {
    /// Replaces c by `c >> 1`.
    pub fn halve(level, out: &mut [i16]) = halve_body;
}

impl RowCursor {
    /// The registers of `lfsr31`, for kernels that generate words themselves; `None` for the other generator.
    #[inline]
    pub fn lfsr31(&self) -> Option<&lfsr31::Lanes> {
        match &self.lanes {
            AnyLanes::Lfsr31(lanes) => Some(lanes),
            AnyLanes::Xs64(_) => None,
        }
    }

    /// The next words, in whole steps; with one word per pixel they are in the order of the pixels.
    #[inline]
    pub fn words(&mut self, out: &mut [u16]) {
        match &mut self.lanes {
            AnyLanes::Lfsr31(lanes) => lfsr31::fill(self.level, lanes, out),
            AnyLanes::Xs64(lanes) => xs64::fill(self.level, lanes, out),
        }
    }

    /// The centred numbers of the next pixels, in whole blocks. `words` is a buffer for
    /// [`distribution().words()`](Distribution::words) words per pixel.
    #[inline]
    pub fn centred(&mut self, words: &mut [u16], out: &mut [i16]) {
        let words = &mut words[..out.len() * self.distribution.words() as usize];
        self.words(words);
        let lanes = match self.lanes {
            AnyLanes::Lfsr31(_) => lfsr31::LANES,
            AnyLanes::Xs64(_) => xs64::LANES,
        };
        centre(self.level, self.distribution, lanes, words, out);
    }
}
