//! Levels of pictures whose colour is multiplied by alpha: in f32, sample by sample, with the straight colour.

use super::super::point::{PointFilter, PointOperation, alpha_row};
use super::super::{Band, Memory, Plan, Render};
use super::{Levels, LevelsAt};
use crate::frame::{Depth, Format, FrameTime, Scratch};
use crate::pixel::convert::Code;
use crate::pixel::f32_rows::ConvertF32;
use crate::pixel::tone::{Nominal, Power, Scale};

/// [`Levels`] where alpha is to be divided out.
pub(super) struct PremultipliedLevels(pub(super) PointFilter<Levels>);

impl Render for PremultipliedLevels {
    /// What is done to the nominal values of each plane.
    type Params = Vec<(Nominal, Scale)>;
    type State = ();

    fn output(&self) -> &Format {
        &self.0.format
    }

    fn at(&self, at: &FrameTime) -> Option<(Plan, Self::Params)> {
        let (plan, now) = self.0.of.at(at)?;
        let planes = (0..self.0.format.planes()).map(|p| self.0.of.premultiplied(now, p)).collect();
        Some((Plan { state: None, ..plan }, planes))
    }

    fn memory(&self) -> Memory {
        Memory { fixed: 0, per_frame: 4 * self.0.format.width as usize + 128 }
    }

    fn render(&self, planes: &Self::Params, (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
        let format = self.0.format;
        for p in band.writes.iter().filter(|&p| p < format.planes() && format.alpha_plane() != Some(p)) {
            let (how, by) = &planes[p];
            let [alpha] = scratch.buffers::<f32, 1>([format.plane_size(p).0]);
            for y in band.output.plane(p).rows() {
                alpha_row(&format, band, p, y, alpha);
                let plane = band.output.plane_mut(p);
                match format.depth {
                    Depth::Bits(8) => row::<u8>(plane.row_mut(y), alpha, how, *by),
                    Depth::Bits(_) => row::<u16>(plane.row_mut(y), alpha, how, *by),
                    Depth::Float => row::<f32>(plane.row_mut(y), alpha, how, *by),
                }
            }
        }
    }
}

fn row<T: ConvertF32>(row: &mut [T], alpha: &[f32], how: &Nominal, by: Scale) {
    row.iter_mut().zip(alpha).for_each(|(x, &a)| *x = how.premultiplied(*x, a, by));
}

impl Levels {
    /// What is done to nominal values of plane `p`, and how its samples stand for them.
    fn premultiplied(&self, now: LevelsAt, p: usize) -> (Nominal, Scale) {
        let code = Code::of(&self.format, p);
        let span = f64::from(code.span);
        let whole = self.format.depth.bits().is_some();
        let top = self.format.depth.bits().map(|bits| ((1u32 << bits) - 1) as f32);
        let mut by = Scale { zero: code.zero as f32, span: span as f32, top, limits: None };
        if self.follows(p) {
            by.limits = whole.then_some([(-0.5, 0.5); 2]);
            return (Nominal::Line { gain: now.gain() as f32, offset: 0.0 }, by);
        }
        let LevelsAt { black, width, gamma, out } = now;
        if self.is_difference(p) {
            // Of a colour difference 0 is half of its range below the middle.
            by.zero -= (span / 2.0) as f32;
        }
        let sorted = |a: f64, b: f64| (a.min(b) as f32, a.max(b) as f32);
        by.limits = whole.then(|| [sorted(black, black + width), sorted(out.0, out.1)]);
        let how = if gamma == 1.0 {
            let gain = now.gain();
            Nominal::Line { gain: gain as f32, offset: (out.0 - black * gain) as f32 }
        } else {
            let line = ((1.0 / width) as f32, (out.1 - out.0) as f32, out.0 as f32);
            Nominal::Power(Power::new(1.0 / gamma, black as f32, line.0, line.1, line.2))
        };
        (how, by)
    }
}
