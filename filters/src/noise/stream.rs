//! Streams of random numbers with random access, from either generator.

use super::distribution::{Distribution, centre};
use super::lfsr31::{self, Lfsr31};
use super::seed::Layer;
use super::xs64::{self, Frame64};
use super::{CycleStart, Shape, ShapeError};
use crate::simd::{Level, multiversion};
use core::ops::Range;

/// The generators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Generator {
    /// [`lfsr31`].
    Lfsr31,
    /// [`xs64`].
    Xs64,
}

impl Generator {
    pub(super) const fn lanes(self) -> usize {
        match self {
            Generator::Lfsr31 => lfsr31::LANES,
            Generator::Xs64 => xs64::LANES,
        }
    }
}

/// A stream for pictures of one shape, with random access to rows.
///
/// ```
/// use grainfield_filters::noise::seed::Layer;
/// use grainfield_filters::noise::{CycleStart, Distribution, Generator, Layout, Shape, Stream};
/// use grainfield_filters::simd::Level;
/// let shape = Shape::new(&[(1920, 1080), (960, 540), (960, 540)], Layout::Sequential, Distribution::UNIFORM)?;
/// let stream = Stream::new(Generator::Lfsr31, &shape, CycleStart::Seed(0), Layer::BASE, Level::best())?;
/// let mut words = [0; 8];
/// stream.fill_row(0, 0, 0, 0..8, &mut words);
/// assert_eq!(words, [0x0000, 0x8779, 0x3e86, 0x4bb8, 0x9667, 0x303b, 0x5c89, 0xed3a]);
/// # Ok::<(), grainfield_filters::noise::ShapeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stream {
    shape: Shape,
    level: Level,
    rows: Rows,
}

#[derive(Clone, Debug)]
enum Rows {
    Lfsr31(Lfsr31),
    Xs64(u64, Layer),
}

/// One frame of it.
#[derive(Clone, Copy, Debug)]
pub struct StreamFrame<'a> {
    stream: &'a Stream,
    rows: FrameRows<'a>,
}

#[derive(Clone, Copy, Debug)]
enum FrameRows<'a> {
    Lfsr31(lfsr31::Frame31<'a>),
    Xs64(Frame64),
}

impl Stream {
    /// Binds a generator to a shape.
    ///
    /// # Errors
    /// If the origin is a state that stays at zero, for a second layer in the sequential layout, or for a raw state if
    /// the generator has none.
    pub fn new(
        generator: Generator,
        shape: &Shape,
        origin: CycleStart,
        layer: Layer,
        level: Level,
    ) -> Result<Stream, ShapeError> {
        let rows = match (generator, origin) {
            (Generator::Lfsr31, _) => Rows::Lfsr31(Lfsr31::new(shape, origin, layer, level)?),
            (Generator::Xs64, CycleStart::Seed(seed)) => Rows::Xs64(seed, layer),
            (Generator::Xs64, CycleStart::State(state)) => return Err(ShapeError::NoState(state)),
        };
        Ok(Stream { shape: *shape, level, rows })
    }

    fn generator(&self) -> Generator {
        match self.rows {
            Rows::Lfsr31(_) => Generator::Lfsr31,
            Rows::Xs64(..) => Generator::Xs64,
        }
    }

    /// The rows of `lfsr31`, for kernels that generate words themselves; `None` for the other generator.
    pub fn lfsr31(&self) -> Option<&Lfsr31> {
        match &self.rows {
            Rows::Lfsr31(rows) => Some(rows),
            Rows::Xs64(..) => None,
        }
    }

    /// Pixels of a block: noise is generated in whole blocks.
    pub fn block(&self) -> usize {
        self.shape.block(self.generator().lanes() as u32) as usize
    }

    /// The distribution of the noise.
    pub fn distribution(&self) -> Distribution {
        self.shape.distribution()
    }

    /// Frame number `frame`, any whole number.
    #[inline]
    pub fn frame(&self, frame: i64) -> StreamFrame<'_> {
        let rows = match &self.rows {
            Rows::Lfsr31(rows) => FrameRows::Lfsr31(rows.frame(frame)),
            Rows::Xs64(seed, layer) => FrameRows::Xs64(Frame64::new(*seed, *layer, frame)),
        };
        StreamFrame { stream: self, rows }
    }

    /// The words of pixels `x` of a row in step order, lane 0 first: those of the whole blocks that hold a pixel of
    /// `x`, so `out` is as long as these. With one word per pixel they are in the order of the pixels.
    pub fn fill_row(&self, frame: i64, plane: usize, y: u32, x: Range<u32>, out: &mut [u16]) {
        let block = self.block() as u32;
        let first = x.start / block;
        let blocks = x.end.div_ceil(block).saturating_sub(first) as usize;
        let words = self.generator().lanes() * self.shape.block_steps() as usize;
        assert_eq!(out.len(), blocks * words, "words of the pixels {x:?}");
        self.frame(frame).words_from(plane, y, first, out);
    }
}

impl StreamFrame<'_> {
    /// The words of a row, in whole steps; with one word per pixel they are in the order of the pixels.
    #[inline]
    pub fn words(&self, plane: usize, y: u32, out: &mut [u16]) {
        self.words_from(plane, y, 0, out);
    }

    #[inline]
    fn words_from(&self, plane: usize, y: u32, block: u32, out: &mut [u16]) {
        let Stream { level, shape, .. } = self.stream;
        match &self.rows {
            FrameRows::Lfsr31(rows) => lfsr31::fill(*level, &mut rows.lanes(plane, y, block), out),
            FrameRows::Xs64(rows) => {
                let steps = u64::from(block) * u64::from(shape.block_steps());
                xs64::fill(*level, &mut rows.lanes(plane, y, steps), out);
            }
        }
    }

    /// The centred numbers of a row, in whole blocks. `words` is a buffer for
    /// [`distribution().words()`](Distribution::words) words per pixel.
    #[inline]
    pub fn centred(&self, plane: usize, y: u32, words: &mut [u16], out: &mut [i16]) {
        let distribution = self.stream.distribution();
        let words = &mut words[..out.len() * distribution.words() as usize];
        self.words(plane, y, words);
        centre(self.stream.level, distribution, self.stream.generator().lanes(), words, out);
    }

    /// The centred numbers of a row, `c >> shift`; as [`centred`](StreamFrame::centred) and then a shift, but in one pass
    /// where that is faster.
    #[inline]
    pub fn shifted(&self, plane: usize, y: u32, shift: u32, words: &mut [u16], out: &mut [i16]) {
        let level = self.stream.level;
        if let (FrameRows::Xs64(rows), Distribution::H8) = (&self.rows, self.stream.distribution())
            && out.len().is_multiple_of(8 * xs64::LANES)
            && xs64::shifted(level, rows.key(plane, y), shift, out)
        {
            return;
        }
        self.centred(plane, y, words, out);
        shift_right(level, out, shift);
    }
}

#[inline(always)]
fn shift_right_body(out: &mut [i16], shift: u32) {
    out.iter_mut().for_each(|c| *c >>= shift);
}

multiversion! {
    /// Replaces c by `c >> shift`.
    pub fn shift_right(level, out: &mut [i16], shift: u32) = shift_right_body;
}
