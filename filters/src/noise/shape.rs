//! The shapes of pictures, for streams.

use super::distribution::{Distribution, MAX_SAMPLES};
use super::gf2::M31;
use super::seed::Layer;
use crate::frame::{Format, Parity, PictureStructure};

/// How the rows are mapped to the cycle of a stream that has only one (`lfsr31`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Layout {
    /// Each row starts at a hashed position of the cycle: no frame repeats as a whole, though a few pairs of rows
    /// overlap.
    #[default]
    Keyed,
    /// Rows, planes and frames follow each other without a gap. The cycle of 2^31 - 1 words is short for video: 2^27
    /// words later every word appears again, shifted left by one bit; at 1080p this is after 65 frames.
    Sequential,
}

/// The sizes of a picture's planes, and how a stream is laid over them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    sizes: [(u32, u32); 4],
    planes: usize,
    /// How rows are laid out.
    pub layout: Layout,
    distribution: Distribution,
}

/// Errors of shapes and origins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ShapeError {
    /// This number of words per pixel is not possible.
    #[error("{0} words per pixel: it must be 1 to {max}", max = MAX_SAMPLES)]
    Samples(u32),
    /// This number of planes is not possible.
    #[error("{0} planes: it must be 1 to 4")]
    Planes(usize),
    /// A plane of this width and height is too large or empty.
    #[error("a plane of {0}x{1}: it must be 1x1 to {max}x{max}", max = crate::frame::MAX_SIDE)]
    Size(u32, u32),
    /// This state stays at zero.
    #[error("the state {0:#x} would stay zero: one of its lower 31 bits must be set")]
    State(u32),
    /// A raw state, for a generator whose state is made from a seed only.
    #[error("only the generator lfsr31 takes a state; give xs64 a seed")]
    NoState(u32),
    /// A second layer in the sequential layout, which has one sequence only.
    #[error("layout=sequential provides one layer of noise only: use layout=keyed")]
    Layer(Layer),
}

impl Shape {
    /// A shape of the given plane sizes (width, height); `distribution` determines the words of each pixel.
    ///
    /// # Errors
    /// A plane is too large or empty, or the number of planes or words per pixel is not possible.
    pub fn new(
        sizes: &[(u32, u32)],
        layout: Layout,
        distribution: Distribution,
    ) -> Result<Shape, ShapeError> {
        if let Distribution::Sum(k) = distribution
            && !(1..=MAX_SAMPLES).contains(&k)
        {
            return Err(ShapeError::Samples(k));
        }
        if !(1..=4).contains(&sizes.len()) {
            return Err(ShapeError::Planes(sizes.len()));
        }
        let side = 1..=crate::frame::MAX_SIDE;
        if let Some(&(w, h)) = sizes.iter().find(|(w, h)| !side.contains(w) || !side.contains(h)) {
            return Err(ShapeError::Size(w, h));
        }
        let mut all = [(0, 0); 4];
        all[..sizes.len()].copy_from_slice(sizes);
        Ok(Shape { sizes: all, planes: sizes.len(), layout, distribution })
    }

    /// The shape of pictures of a format, all planes, alpha included. Both fields of a frame of odd height have the
    /// shape of the larger, so that they are parts of one sequence.
    ///
    /// # Errors
    /// A plane is too large or empty.
    pub fn of(format: &Format, layout: Layout, distribution: Distribution) -> Result<Shape, ShapeError> {
        let format = match format.picture {
            PictureStructure::Frame => *format,
            PictureStructure::Field(_) => format.field(Parity::Top),
        };
        let size = |p| {
            let (w, h) = format.plane_size(p);
            (w as u32, h as u32)
        };
        let sizes = [0, 1, 2, 3].map(|p| if p < format.planes() { size(p) } else { (1, 1) });
        Shape::new(&sizes[..format.planes()], layout, distribution)
    }

    /// The distribution of the noise, which determines the words of each pixel.
    pub fn distribution(&self) -> Distribution {
        self.distribution
    }

    /// Pixels of a block in a stream with this many lanes: the unit of generation and of random access.
    pub fn block(&self, lanes: u32) -> u32 {
        lanes * self.distribution.slots()
    }

    /// Steps of a block.
    pub fn block_steps(&self) -> u32 {
        self.distribution.words() * self.distribution.slots()
    }

    /// Steps of a row of plane `p` in a stream with this many lanes: L.
    pub fn row_steps(&self, p: usize, lanes: u32) -> u64 {
        u64::from(self.block_steps()) * u64::from(self.size(p).0.div_ceil(self.block(lanes)))
    }

    /// Number of planes.
    pub fn planes(&self) -> usize {
        self.planes
    }

    /// Width and height of plane `p`.
    pub fn size(&self, p: usize) -> (u32, u32) {
        assert!(p < self.planes, "plane {p} of {}", self.planes);
        self.sizes[p]
    }
}

/// The start of the cycle of `lfsr31`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CycleStart {
    /// At a position hashed from a seed.
    Seed(u64),
    /// At a state of the register as in the article; this is s0 in both layouts.
    State(u32),
}

impl CycleStart {
    /// The state at position 0: 31 bits, never zero.
    ///
    /// # Errors
    /// The state stays at zero.
    pub fn state(self) -> Result<u32, ShapeError> {
        match self {
            CycleStart::Seed(seed) => Ok(1 + (super::seed::mix64(seed) % u64::from(M31)) as u32),
            // Bit 31 is redundant: it has no effect on the output.
            CycleStart::State(s) if s & M31 != 0 => Ok(s & M31),
            CycleStart::State(s) => Err(ShapeError::State(s)),
        }
    }
}
