//! Functions of one sample: straight lines, tables, and one value for all.
//!
//! A filter says what becomes of straight nominal values ([`Nominal`]), and [`Nominal::tone`] makes of it what is done to
//! the samples of a format, premultiplied ones too. What a straight line makes of an integer sample is stated once, by [`Affine::of`]; a [`Table`] holds any function.
//! Float samples go through one multiplication and one addition; what is not finite stays as it is.

mod affine;
mod nominal;
mod power;
mod premultiplied;
mod table;
#[cfg(test)]
mod tests;

pub use affine::{Affine, affine_f32, affine_u8, affine_u16};
pub use nominal::{Limits, Nominal};
pub use power::Power;
pub use premultiplied::{Premultiplied, PremultipliedScale};
pub use table::Table;

use crate::frame::Depth;
use crate::simd::Level;

/// What is done to every sample of a plane.
#[derive(Clone, Debug)]
pub enum Tone {
    /// Nothing.
    Same,
    /// Integer samples go along a straight line.
    Line(Affine),
    /// Float samples go along a straight line: `x * gain + offset`.
    Real {
        /// What a sample is multiplied by.
        gain: f32,
        /// What is added then.
        offset: f32,
    },
    /// Integer samples are looked up.
    Table(Table),
    /// Float samples go along a line, a power, and a line.
    Power(Power),
    /// All become this code.
    Code(u16),
    /// All become this float.
    Value(f32),
    /// Colour that is multiplied by alpha is changed as the straight colour.
    Premultiplied(Premultiplied),
}

impl Tone {
    /// Along a line.
    pub fn line(line: Affine) -> Tone {
        if line.is_slow() { Tone::Table(Table::new(8, |x| line.of(x))) } else { Tone::Line(line) }
    }

    /// Does it to a row of samples of this depth, as bytes. Panics when the tone is made for the other kind of sample,
    /// or for samples together with their alpha.
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
