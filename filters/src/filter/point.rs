//! What the effect filters share: codes and colours of planes, and a filter that does something to every sample by
//! itself.

use super::convert::assumed_matrix;
use super::{Band, Memory, Plan, Render};
use crate::frame::{Depth, Format, FrameTime, Matrix, Primaries, Scratch};
use crate::lend::{Host, PrepareError};
use crate::noise::seed::mix64;
use crate::pixel::convert::{Coefficients, coefficients};
use crate::pixel::tone::{Table, Tone};
use crate::settings::SettingError;
use crate::simd::Level;

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
pub(super) trait PointOperation: Send + Sync + 'static {
    /// What it is at a moment.
    type Params: Send + Sync + 'static;

    /// What it does at a moment. Where tables are looked up, the plan's state is what they hang on.
    fn at(&self, at: &FrameTime) -> Option<(Plan, Self::Params)>;

    /// What is done to plane `p`.
    fn tone(&self, now: &Self::Params, p: usize) -> Tone;
}

/// The filter of it.
pub(super) struct PointFilter<T> {
    pub(super) format: Format,
    pub(super) level: Level,
    pub(super) of: T,
}

impl<T: PointOperation> PointFilter<T> {
    fn tones(&self, now: &T::Params) -> Vec<Tone> {
        (0..self.format.planes()).map(|p| self.of.tone(now, p)).collect()
    }
}

impl<T: PointOperation> Render for PointFilter<T> {
    /// With the tones, where they are not prepared.
    type Params = (T::Params, Vec<Tone>);
    type State = Vec<Tone>;

    fn output(&self) -> &Format {
        &self.format
    }

    fn at(&self, at: &FrameTime) -> Option<(Plan, Self::Params)> {
        let (plan, now) = self.of.at(at)?;
        let tones = if plan.state.is_none() { self.tones(&now) } else { Vec::new() };
        Some((plan, (now, tones)))
    }

    fn memory(&self) -> Memory {
        Memory { fixed: 0, per_frame: Table::BYTES * self.format.planes() }
    }

    fn prepare(
        &self,
        (now, _): &Self::Params,
        _: Vec<Tone>,
        host: &Host<'_>,
    ) -> Result<Vec<Tone>, PrepareError> {
        host.check()?;
        Ok(self.tones(now))
    }

    fn render(&self, (_, own): &Self::Params, made: &Vec<Tone>, band: &mut Band<'_>, _: &mut Scratch) {
        let tones = if own.is_empty() { made } else { own };
        for p in band.writes.iter().filter(|&p| p < self.format.planes()) {
            let plane = band.output.plane_mut(p);
            for y in plane.rows() {
                tones[p].apply(self.level, self.format.depth, plane.row_bytes_mut(y));
            }
        }
    }
}
