//! Point operations: filters that change every sample independently.
//!
//! Such a filter defines a function of straight nominal values ([`Nominal`]); [`PointFilter`] applies it to samples of
//! every format, including premultiplied ones.

use super::convert::assumed_matrix;
use super::{Band, Memory, Plan, Render};
use crate::for_depth;
use crate::frame::{Depth, Format, FrameTime, Matrix, PlaneRef, Primaries, Scratch};
use crate::host::{Host, PrepareError};
use crate::noise::seed::hash128;
use crate::pixel::convert::{Coefficients, coefficients};
use crate::pixel::tone::{Nominal, Table, Tone};
use crate::settings::SettingError;
use crate::simd::Level;

/// The weights of red, green and blue in luma: from the matrix, or for RGB from the primaries.
pub(super) fn weights(format: &Format) -> Result<Coefficients, SettingError> {
    let matrix = match (format.is_rgb(), format.primaries) {
        (true, Primaries::BT2020) => Matrix::BT2020NC,
        (true, _) => Matrix::BT709,
        // Grey from an image may have the RGB matrix.
        (false, _) if format.matrix == Matrix::RGB => Matrix::BT709,
        (false, _) => assumed_matrix(format).0,
    };
    coefficients(matrix, format.primaries).ok_or_else(|| SettingError {
        setting: "",
        problem: format!(
            "the matrix {} is not supported here: say that the picture has another one, such as bt709",
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

/// A cache key of numbers.
pub(super) fn key(values: &[f64]) -> u128 {
    hash128(values.iter().map(|v| v.to_bits()))
}

/// Alpha, 0 to 1, at the samples of row `y` of plane `p`: the mean over the area of each.
pub(super) fn alpha_row(format: &Format, band: &Band<'_>, p: usize, y: usize, out: &mut [f64]) {
    let Some(a) = format.alpha_plane() else { return out.fill(1.0) };
    mean_alpha(format, band.output.plane(a), p, y, out);
}

/// Like [`alpha_row`], from an alpha plane.
pub(super) fn mean_alpha(format: &Format, plane: PlaneRef<'_>, p: usize, y: usize, out: &mut [f64]) {
    let (sx, sy) = format.plane_subsampling(p);
    let Some(last) = plane.rows().last() else { return };
    let top = format.depth.bits().map_or(1.0, |_| f64::from(format.codes().1));
    let count = f64::from(1u16 << (sx + sy)) * top;
    // The width of luma.
    let width = format.width as usize;
    out.fill(0.0);
    for row in (y << sy..(y + 1) << sy).map(|y| y.min(last)) {
        for (x, out) in out.iter_mut().enumerate() {
            for x in (x << sx..(x + 1) << sx).map(|x| x.min(width - 1)) {
                *out += match format.depth {
                    Depth::Bits(8) => f64::from(plane.row::<u8>(row)[x]),
                    Depth::Bits(_) => f64::from(plane.row::<u16>(row)[x]),
                    Depth::Float => plane.row::<f32>(row)[x].into(),
                };
            }
        }
    }
    out.iter_mut().for_each(|v| *v /= count);
}

/// A function of each sample.
pub(super) trait PointOperation: Send + Sync + 'static {
    /// The planes that are written at a time (the rest of the plan is filled in), and the function of the straight
    /// nominal values of each; `None` if nothing changes. Called once for each picture.
    fn at(&self, format: &Format, at: &FrameTime) -> Option<(Plan, [Nominal; 4])>;
}

/// The filter of a point operation.
pub(super) struct PointFilter<T> {
    pub(super) format: Format,
    pub(super) level: Level,
    pub(super) of: T,
}

impl<T> PointFilter<T> {
    fn tones(&self, nominal: &[Nominal; 4]) -> Vec<Tone> {
        (0..self.format.planes()).map(|p| nominal[p].tone(&self.format, p)).collect()
    }
}

impl<T: PointOperation> Render for PointFilter<T> {
    /// With the tones, if they are not in the state.
    type Params = ([Nominal; 4], Vec<Tone>);
    type State = Vec<Tone>;

    fn at(&self, at: &FrameTime) -> Option<(Plan, Self::Params)> {
        let (plan, nominal) = self.of.at(&self.format, at)?;
        let slow = nominal.iter().any(|n| n.is_slow(&self.format));
        let state = slow.then(|| {
            let numbers = nominal.iter().flat_map(|n| match *n {
                Nominal::Same => vec![0.0],
                Nominal::Line { gain, offset, limits } => vec![1.0, gain, offset, f64::from(limits as u8)],
                Nominal::Mix { to, amount } => vec![2.0, to, amount],
                Nominal::Power { black, width, exponent, bends, out } => {
                    let bends = bends.map_or([0.0; 4], |bends| bends.numbers());
                    [&[3.0, black, width, exponent, out.0, out.1], &bends[..]].concat()
                }
            });
            key(&numbers.collect::<Vec<_>>())
        });
        let tones = if slow { Vec::new() } else { self.tones(&nominal) };
        Some((Plan { state, ..plan }, (nominal, tones)))
    }

    fn memory(&self) -> Memory {
        let alpha = 8 * self.format.width as usize + 64;
        Memory { fixed: 0, per_frame: Table::BYTES * self.format.planes() + alpha }
    }

    fn prepare(
        &self,
        (nominal, _): &Self::Params,
        _: Vec<Tone>,
        host: &Host<'_>,
    ) -> Result<Vec<Tone>, PrepareError> {
        host.check()?;
        Ok(self.tones(nominal))
    }

    fn map_codes(
        &self,
        (_, own): &Self::Params,
        made: &Vec<Tone>,
        p: usize,
        codes: &mut [u16],
    ) -> Option<u32> {
        if self.format.depth.bytes() != 2 {
            return None;
        }
        let tone = &(if own.is_empty() { made } else { own })[p];
        let cost = match tone {
            Tone::Same => 0,
            Tone::Line(_) | Tone::Code(_) => 1,
            Tone::Table(_) => 4,
            _ => return None,
        };
        tone.apply(self.level, self.format.depth, bytemuck::cast_slice_mut(codes));
        Some(cost)
    }

    fn render(&self, (_, own): &Self::Params, made: &Vec<Tone>, band: &mut Band<'_>, scratch: &mut Scratch) {
        let tones = if own.is_empty() { made } else { own };
        // Alpha comes last: colour needs the original alpha.
        for p in band.writes.iter().filter(|&p| p < self.format.planes()) {
            for y in band.output.plane(p).rows() {
                let Tone::Premultiplied(tone) = &tones[p] else {
                    let row = band.output.plane_mut(p).row_bytes_mut(y);
                    tones[p].apply(self.level, self.format.depth, row);
                    continue;
                };
                let [alpha] = scratch.buffers::<f64, 1>([self.format.plane_size(p).0]);
                alpha_row(&self.format, band, p, y, alpha);
                let plane = band.output.plane_mut(p);
                for_depth!(self.format.depth, T => tone.apply::<T>(plane.row_mut(y), alpha));
            }
        }
    }
}
