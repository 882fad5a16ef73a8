//! Functions of one sample: linear functions, tables, and constants.
//!
//! A filter describes a function of straight nominal values ([`Nominal`]), and [`Nominal::tone`] converts it to a
//! function of the samples of a format, including premultiplied ones. The linear function of an integer sample is
//! defined by [`Affine::of`]; a [`Table`] holds any function. Float samples go through one multiplication and one
//! addition; what is not finite stays as it is.

mod affine;
mod bends;
mod nominal;
mod power;
mod premultiplied;
mod table;
#[cfg(test)]
mod tests;

pub use affine::{Affine, affine_f32, affine_u8, affine_u16};
pub use bends::Bends;
pub use nominal::{Limits, Nominal};
pub use power::Power;
pub use premultiplied::{Premultiplied, PremultipliedScale};
pub use table::{CodeMap, Table};

use crate::frame::Depth;
use crate::simd::Level;

/// The function of every sample of a plane.
#[derive(Clone, Debug)]
pub enum Tone {
    /// No change.
    Same,
    /// A linear function of integer samples.
    Line(Affine),
    /// A linear function of float samples: `x * gain + offset`.
    Real {
        /// The factor.
        gain: f32,
        /// The summand.
        offset: f32,
    },
    /// A table of integer samples.
    Table(Table),
    /// A linear function, a power, and a linear function of float samples.
    Power(Power),
    /// Every sample becomes this code.
    Code(u16),
    /// Every sample becomes this float.
    Value(f32),
    /// Premultiplied samples are changed as the straight colour.
    Premultiplied(Premultiplied),
}

impl Tone {
    /// Along a line.
    pub fn line(line: Affine) -> Tone {
        if line.is_slow() { Tone::Table(Table::new(8, |x| line.of(x))) } else { Tone::Line(line) }
    }

    /// Applies it to a row of samples of this depth, as bytes. Panics if the tone is for the other kind of sample, or
    /// for samples with their alpha.
    pub fn apply(&self, level: Level, depth: Depth, row: &mut [u8]) {
        match (self, depth.bytes()) {
            (Tone::Same, _) => {}
            (Tone::Line(line), 1) => affine_u8(level, row, line),
            (Tone::Line(line), 2) => affine_u16(level, bytemuck::cast_slice_mut(row), line),
            (Tone::Table(table), 1) => table.apply_u8(level, row),
            (Tone::Table(table), 2) => table.apply_u16(bytemuck::cast_slice_mut(row)),
            (Tone::Code(code), 1) => row.fill(*code as u8),
            (Tone::Code(code), 2) => bytemuck::cast_slice_mut::<u8, u16>(row).fill(*code),
            (Tone::Real { gain, offset }, 4) => {
                affine_f32(level, bytemuck::cast_slice_mut(row), *gain, *offset);
            }
            (Tone::Power(power), 4) => power.apply(level, bytemuck::cast_slice_mut(row)),
            (Tone::Value(v), 4) => bytemuck::cast_slice_mut::<u8, f32>(row).fill(*v),
            _ => panic!("{self:?} is not for samples of {depth:?}"),
        }
    }
}
