//! What the effect filters share: codes and colours of planes, and a filter that does something to every sample by
//! itself.

use super::convert::assumed_matrix;
use super::{Band, Filter, Memory, Plan, State};
use crate::frame::{Depth, Format, Matrix, Moment, Picture, PlaneSet, Primaries, Scratch};
use crate::lend::{Host, Stop};
use crate::noise::seed::mix64;
use crate::pixel::convert::{Code, Coefficients, coefficients};
use crate::pixel::tone::{Table, Tone};
use crate::settings::SettingError;
use crate::simd::Level;

/// How the samples of plane `p` stand for nominal values.
pub(super) fn code(format: &Format, p: usize) -> Code {
    let Depth::Bits(bits) = format.depth else { return Code::FLOAT };
    let full = format.full_range();
    match () {
        () if format.alpha_plane() == Some(p) => Code::alpha(bits),
        () if !format.is_chroma(p) => Code::luma(bits, full),
        () if format.matrix == Matrix::YCGCO => Code::chroma_ycgco(bits, full),
        () => Code::chroma(bits, full),
    }
}

/// The lowest and highest code that there are; for float none that counts.
pub(super) fn all_codes(format: &Format) -> (u16, u16) {
    (0, format.depth.bits().map_or(0, |bits| ((1u32 << bits) - 1) as u16))
}

/// How luma is made of red, green and blue: by the matrix, or for RGB by the primaries.
pub(super) fn weights(format: &Format) -> Result<Coefficients, SettingError> {
    let matrix = match (format.is_rgb(), format.primaries) {
        (true, Primaries::BT2020) => Matrix::BT2020NC,
        (true, _) => Matrix::BT709,
        // Grey from an image may say RGB.
        (false, _) if format.matrix == Matrix::RGB => Matrix::BT709,
        (false, _) => assumed_matrix(format).0,
    };
    coefficients(matrix, format.primaries).ok_or_else(|| SettingError {
        setting: "",
        problem: format!(
            "colours of the matrix {} are not known here: name another with --matrix, such as bt709",
            matrix.name().map_or_else(|| matrix.0.to_string(), Into::into)
        ),
    })
}

/// The nominal value of each plane for a colour.
pub(super) fn nominal(format: &Format, weights: Coefficients, [r, g, b, a]: [f64; 4]) -> [f64; 4] {
    let gbr = [g, b, r];
    let mut planes = if format.is_rgb() {
        [g, b, r, a]
    } else {
        let [y, u, v] = weights.to_yuv().map(|m| m[0] * gbr[0] + m[1] * gbr[1] + m[2] * gbr[2]);
        [y, u, v, a]
    };
    if let Some(p) = format.alpha_plane() {
        planes[p] = a;
    }
    planes
}

/// A key of numbers.
pub(super) fn key(values: &[f64]) -> u128 {
    let half = |start: u64| {
        values
            .iter()
            .fold(start, |h, v| mix64(h.wrapping_add(v.to_bits()).wrapping_mul(0x2545_f491_4f6c_dd1d)))
    };
    u128::from(half(1)) << 64 | u128::from(half(0x9e37_79b9_7f4a_7c15))
}

/// Rows of the whole frame in one of this picture, and the first of them: fields have every second row.
pub(super) fn rows_of(format: &Format) -> (f64, f64) {
    match format.picture {
        Picture::Frame => (1.0, 0.0),
        Picture::Field(parity) => (2.0, f64::from(u8::from(parity == crate::frame::Parity::Bottom))),
    }
}

/// Alpha, 0 to 1, as the samples of row `y` of plane `p` see it: the mean over what each of them covers.
pub(super) fn alpha_row(format: &Format, band: &Band<'_>, p: usize, y: usize, out: &mut [f32]) {
    let Some(a) = format.alpha_plane() else { return out.fill(1.0) };
    let (sx, sy) = format.plane_subsampling(p);
    let plane = band.output.plane(a);
    let Some(last) = plane.rows().last() else { return };
    let top = format.depth.bits().map_or(1.0, |bits| ((1u32 << bits) - 1) as f32);
    let count = f32::from(1u16 << (sx + sy)) * top;
    let width = format.plane_size(a).0;
    out.fill(0.0);
    for row in (y << sy..(y + 1) << sy).map(|y| y.min(last)) {
        for (x, out) in out.iter_mut().enumerate() {
            for x in (x << sx..(x + 1) << sx).map(|x| x.min(width - 1)) {
                *out += match format.depth {
                    Depth::Bits(8) => f32::from(plane.row::<u8>(row)[x]),
                    Depth::Bits(_) => f32::from(plane.row::<u16>(row)[x]),
                    Depth::Float => plane.row::<f32>(row)[x],
                };
            }
        }
    }
    out.iter_mut().for_each(|v| *v /= count);
}

/// Something that is done to every sample by itself.
pub(super) trait Tones: Send + Sync {
    /// The planes that it changes at a moment, and those that it can change beside them when asked to.
    fn writes(&self, at: &Moment) -> (PlaneSet, PlaneSet);

    /// What is done to plane `p`.
    fn tone(&self, at: &Moment, p: usize) -> Tone;

    /// Where tables are looked up, what they hang on.
    fn key(&self, _: &Moment) -> Option<u128> {
        None
    }
}

/// The filter of it.
pub(super) struct ToneFilter<T> {
    pub(super) format: Format,
    pub(super) level: Level,
    pub(super) of: T,
}

impl<T: Tones> Filter for ToneFilter<T> {
    fn output(&self) -> &Format {
        &self.format
    }

    fn plan(&self, at: &Moment) -> Plan {
        let (writes, on_request) = self.of.writes(at);
        if (writes | on_request).is_empty() {
            return Plan::IDLE;
        }
        Plan { on_request, state: self.of.key(at), ..Plan::in_place(writes) }
    }

    fn memory(&self) -> Memory {
        Memory { fixed: 0, per_frame: Table::BYTES * self.format.planes() }
    }

    fn prepare(&self, at: &Moment, _: Option<State>, host: &Host<'_>) -> Result<State, Stop> {
        host.check()?;
        let tones: Vec<Tone> = (0..self.format.planes()).map(|p| self.of.tone(at, p)).collect();
        Ok(Box::new(tones))
    }

    fn render(&self, at: &Moment, state: Option<&State>, band: &mut Band<'_>, _: &mut Scratch) {
        let made = state.and_then(|s| s.downcast_ref::<Vec<Tone>>());
        for p in band.writes.iter().filter(|&p| p < self.format.planes()) {
            let own;
            let tone = match made {
                Some(tones) => &tones[p],
                None => {
                    own = self.of.tone(at, p);
                    &own
                }
            };
            let plane = band.output.plane_mut(p);
            for y in plane.rows() {
                tone.apply(self.level, self.format.depth, plane.row_bytes_mut(y));
            }
        }
    }
}

/// The planes of a set for which something holds.
pub(super) fn planes_where(all: PlaneSet, holds: impl Fn(usize) -> bool) -> PlaneSet {
    all.iter().filter(|&p| holds(p)).fold(PlaneSet::NONE, |set, p| set | PlaneSet::one(p))
}

#[cfg(test)]
pub(super) mod tests;
