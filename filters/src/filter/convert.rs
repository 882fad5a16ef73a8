//! Conversion between families, depths, ranges, matrices and chroma grids, as a filter that the chain inserts to change
//! a format. It is not in the catalog, because users choose pixel formats, not conversions.
//!
//! [`pixel::convert`](crate::pixel::convert) defines the arithmetic. Chroma is resampled from grid to grid; R, G and B
//! are resampled before the conversion to chroma, which gives the same sum. Planes that keep their grid and colour (all
//! planes if only the depth changes) are scaled exactly, code by code.

mod describe;
mod light;
#[cfg(test)]
mod light_tests;
mod ops;
mod rows;
mod target;
#[cfg(test)]
pub(super) mod tests;

pub use light::{assumed_transfer, displayed, path};
pub(super) use light::{divide, multiply};
pub use target::{assumed_matrix, retarget, with_matrix_of};

use super::{Band, Filter, Memory, Plan, Reach, Render};
use crate::frame::{Format, FormatError, FrameTime, Matrix, Primaries, Scratch, Transfer};
use crate::ratio::Ratio;
use crate::simd::Level;
use ops::{Op, Ops};

/// A conversion, bound to two formats.
pub struct Convert {
    from: Format,
    to: Format,
    level: Level,
    ops: Ops,
    reach: u32,
}

/// The reason why a conversion is impossible.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ConvertError {
    /// One of the formats is invalid.
    #[error("{0}")]
    Format(FormatError),
    /// Width or height differ.
    #[error("{}x{} cannot become {}x{}: conversion keeps the size", .0.0, .0.1, .1.0, .1.1)]
    Size((u32, u32), (u32, u32)),
    /// One is a frame and the other a field, or they are different fields.
    #[error("frames and fields cannot be converted to each other, nor one field to the other")]
    Picture,
    /// The frame rates differ.
    #[error("{0} frames per second cannot become {1}: conversion keeps the rate")]
    Rate(Ratio, Ratio),
    /// A matrix that is not linear, or depends on unspecified primaries.
    #[error("{}", matrix_problem(*.0, *.1))]
    Matrix(Matrix, Primaries),
    /// Tagged as RGB, but with subsampled planes.
    #[error("the matrix gbr needs planes of one size (4:4:4), but these are subsampled")]
    SubsampledRgb,
    /// The primaries differ.
    #[error(
        "primaries {} cannot become {}: conversion keeps the primaries",
        .0.name().unwrap_or("unknown"),
        .1.name().unwrap_or("unknown")
    )]
    Primaries(Primaries, Primaries),
    /// The transfer characteristics differ, and one of them is not supported.
    #[error(
        "transfer {} cannot become {to}, because no curve is known for it: name the transfer of the input, as in \
         --transfer srgb:{to}, or keep its values with --transfer keep",
        .0.name().unwrap_or("unknown"),
        to = .1.name().unwrap_or("unknown")
    )]
    Transfer(Transfer, Transfer),
}

fn matrix_problem(matrix: Matrix, primaries: Primaries) -> String {
    if matrix == Matrix::CHROMA_DERIVED_NC {
        let name = primaries.name().unwrap_or("unknown");
        return format!(
            "the matrix chroma-derived-nc needs primaries, and these are {name}: give the matrix itself"
        );
    }
    let name = matrix.name().map_or_else(|| matrix.0.to_string(), Into::into);
    format!(
        "the matrix {name} cannot be converted; bt709, smpte170m, bt470bg, fcc, smpte240m, bt2020nc, ycgco, \
         chroma-derived-nc and gbr can"
    )
}

impl Convert {
    /// Converts to a format of the same size, picture and rate without changing the values of R, G and B: transfer
    /// and kind of alpha are only tags here. [`bind`] and [`path`] convert those.
    ///
    /// Properties that the target leaves unspecified are those of the source (siting and matrix from YUV to YUV),
    /// else defaults: the matrix by [`assumed_matrix`], chroma at the left, range by [`Format::full_range`].
    ///
    /// # Errors
    /// A format is invalid, or the two differ in what no conversion changes: size, rate, field, primaries.
    pub fn new(from: &Format, to: &Format, level: Level) -> Result<Convert, ConvertError> {
        from.check().and(to.check()).map_err(ConvertError::Format)?;
        if (from.width, from.height) != (to.width, to.height) {
            return Err(ConvertError::Size((from.width, from.height), (to.width, to.height)));
        }
        if from.picture != to.picture {
            return Err(ConvertError::Picture);
        }
        if from.rate != to.rate {
            return Err(ConvertError::Rate(from.rate, to.rate));
        }
        let unsaid = Primaries::UNSPECIFIED;
        if from.primaries != to.primaries && from.primaries != unsaid && to.primaries != unsaid {
            return Err(ConvertError::Primaries(from.primaries, to.primaries));
        }
        let ops = Ops::new(from, to)?;
        let reach = ops.reach(from, to);
        Ok(Convert { from: *from, to: *to, level, ops, reach })
    }

    /// The number of luma rows beyond its own that an output row depends on.
    pub(super) fn reach(&self) -> u32 {
        self.reach
    }

    /// One line for users: the conversion, and the assumptions that it makes.
    pub fn describe(&self) -> String {
        describe::describe(&self.from, &self.to, &self.ops)
    }
}

/// Binds one step of a [`path`].
///
/// # Errors
/// As that of `Convert::new`.
pub fn bind(from: &Format, to: &Format, level: Level) -> Result<Box<dyn Filter>, ConvertError> {
    if let Some(light) = light::Light::between(from, to, level)? {
        return Ok(light.boxed());
    }
    Ok(Convert::new(from, to, level)?.boxed())
}

impl Render for Convert {
    type Params = ();
    type State = ();

    fn at(&self, _: &FrameTime) -> Option<(Plan, ())> {
        let writes = self.to.all_planes();
        Some((Plan { reach: Reach::Rows(self.reach), ..Plan::in_place(writes) }, ()))
    }

    fn memory(&self) -> Memory {
        Memory { fixed: 0, per_frame: rows::scratch_bytes(self.from.width as usize) }
    }

    fn map_codes(&self, (): &(), (): &(), p: usize, codes: &mut [u16]) -> Option<u32> {
        match self.ops.planes[p] {
            Op::Scale { source, scale } if source == p => {
                let row = codes.to_vec();
                scale.row(self.level, codes, &row);
                Some(0)
            }
            _ => None,
        }
    }

    fn render(&self, (): &(), (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
        rows::render(&self.from, &self.to, &self.ops, self.level, band, scratch);
    }
}
