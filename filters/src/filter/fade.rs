//! `fade`: to a colour, from a colour, or in transparency.
//!
//! A sample x becomes `x + (c - x) * amount`, c being the code of the colour in its plane: legal black for black. In
//! integers it is rounded once, halves up, from sums that are exact to 2^-14 of a code ([`crate::pixel::tone::Affine`]);
//! at 1 every sample is the colour. Where colour is premultiplied, so is the colour it fades to.

use super::point::{alpha_row, nominal, weights};
use super::{Band, Entry, Filter, Memory, Plan, Render, Spec};
use crate::frame::{Alpha, Depth, Format, FrameTime, PlaneSet, Scratch};
use crate::pixel::convert::{Code, Coefficients};
use crate::pixel::tone::{Affine, Premultiplied, Tone};
use crate::settings::{Animated, SettingError, Unit};
use crate::simd::Level;
use crate::{choices, settings};

/// The catalog's entry.
pub const ENTRY: Entry =
    Entry::new::<FadeSpec>("fade", "Fade", "Fades the picture to or from black, a colour, or transparency");

settings! {
    struct FadeSpec {
        /// How far: 0 is the picture as it was, 1 the colour alone. amount='0=1;48=0' fades in over 48 frames.
        amount: Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction),
        /// What it fades to. With planes=a its alpha is what alpha fades to.
        color: Animated<[f64; 4]> =
            colour().default([0.0, 0.0, 0.0, 1.0]).label("Colour").only_when("to", &["color"]),
        /// What fades.
        to: To = choice("color"),
    }
}

choices! {
    /// What fades.
    enum To {
        /// the picture, to the colour; alpha stays
        Color = "color",
        /// alpha, to nothing: the picture becomes transparent
        Alpha = "alpha",
    }
}

impl Spec for FadeSpec {
    fn bind(&self, input: &Format, _: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        if self.to == To::Alpha && !input.has_alpha() {
            let problem = format!("a picture of {} has no alpha to fade: leave it out", input.name());
            return Err(SettingError { setting: "to", problem });
        }
        let weights = weights(input)?;
        let of = Fade { format: *input, set: self.clone(), weights, level };
        Ok(of.boxed())
    }
}

struct Fade {
    format: Format,
    set: FadeSpec,
    weights: Coefficients,
    level: Level,
}

/// What is done to a plane at a moment.
enum How {
    Tone(Tone),
    /// Towards a colour that is multiplied by alpha first.
    Over(Premultiplied),
    /// The same of float samples: what they and alpha are multiplied by.
    OverReal(f32, f32),
}

impl Fade {
    /// The code of the colour in plane `p`, not rounded.
    fn target(&self, at: &FrameTime, p: usize) -> f64 {
        let code = Code::of(&self.format, p);
        let zero = f64::from(code.zero);
        if self.set.to == To::Alpha {
            return zero;
        }
        zero + nominal(&self.format, self.weights, self.set.color.at(at))[p] * f64::from(code.span)
    }

    fn how(&self, at: &FrameTime, amount: f64, p: usize) -> How {
        let (target, zero) = (self.target(at, p), f64::from(Code::of(&self.format, p).zero));
        let over = self.format.alpha == Alpha::Premultiplied
            && self.format.alpha_plane() != Some(p)
            && self.set.to != To::Alpha
            && target != zero;
        // What a full alpha adds, in codes.
        let full = (target - zero) * amount;
        let (lo, hi) = self.format.codes();
        match self.format.depth {
            Depth::Float if over => How::OverReal((1.0 - amount) as f32, full as f32),
            Depth::Bits(bits) if over => {
                How::Over(Premultiplied::new(bits, 1.0 - amount, zero * amount, full / f64::from(hi)))
            }
            Depth::Bits(_) if amount >= 1.0 => {
                How::Tone(Tone::Code(libm::floor(target + 0.5).clamp(lo.into(), hi.into()) as u16))
            }
            Depth::Bits(bits) => {
                How::Tone(Tone::line(Affine::new(bits, 1.0 - amount, target * amount, (lo, hi), false)))
            }
            Depth::Float if amount >= 1.0 => How::Tone(Tone::Value(target as f32)),
            Depth::Float => {
                How::Tone(Tone::Real { gain: (1.0 - amount) as f32, offset: (target * amount) as f32 })
            }
        }
    }
}

impl Render for Fade {
    type Params = Vec<How>;
    type State = ();

    fn output(&self) -> &Format {
        &self.format
    }

    fn at(&self, at: &FrameTime) -> Option<(Plan, Vec<How>)> {
        let amount = self.set.amount.at(at);
        if amount <= 0.0 {
            return None;
        }
        let alpha = self.format.alpha_planes();
        let (writes, on_request) = match (self.set.to, self.format.alpha) {
            (To::Alpha, Alpha::Premultiplied) => (alpha | self.format.color_planes(), PlaneSet::NONE),
            (To::Alpha, _) => (alpha, PlaneSet::NONE),
            (To::Color, _) => (self.format.color_planes(), alpha),
        };
        let planes = (0..self.format.planes()).map(|p| self.how(at, amount, p)).collect();
        Some((Plan { on_request, ..Plan::in_place(writes) }, planes))
    }

    fn memory(&self) -> Memory {
        Memory { fixed: 0, per_frame: 4 * self.format.width as usize + 128 }
    }

    fn render(&self, planes: &Vec<How>, (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
        // Those that follow alpha first: alpha may fade, too.
        let writes = |over: bool| {
            let which = move |p: usize| p < planes.len() && over != matches!(planes[p], How::Tone(_));
            band.writes.filter(which)
        };
        for p in writes(true).iter().chain(writes(false).iter()) {
            for y in band.output.plane(p).rows() {
                if let How::Tone(tone) = &planes[p] {
                    tone.apply(self.level, self.format.depth, band.output.plane_mut(p).row_bytes_mut(y));
                } else {
                    let [alpha] = scratch.buffers::<f32, 1>([self.format.plane_size(p).0]);
                    alpha_row(&self.format, band, p, y, alpha);
                    self.premultiplied_row(&planes[p], band.output.plane_mut(p).row_bytes_mut(y), alpha);
                }
            }
        }
    }
}

impl Fade {
    fn premultiplied_row(&self, how: &How, row: &mut [u8], alpha: &[f32]) {
        let top = f32::from(self.format.codes().1);
        let codes = alpha.iter().map(|a| (*a * top + 0.5) as u16);
        match (how, self.format.depth.bytes()) {
            (How::Over(by), 1) => {
                row.iter_mut().zip(codes).for_each(|(x, a)| *x = by.of((*x).into(), a) as u8);
            }
            (How::Over(by), _) => {
                let row: &mut [u16] = bytemuck::cast_slice_mut(row);
                row.iter_mut().zip(codes).for_each(|(x, a)| *x = by.of(*x, a));
            }
            (How::OverReal(gain, weight), _) => {
                for (x, a) in bytemuck::cast_slice_mut::<u8, f32>(row).iter_mut().zip(alpha) {
                    let sum = *x * gain + *a * weight;
                    *x = if sum.is_finite() && x.is_finite() { sum } else { *x };
                }
            }
            (How::Tone(_), _) => {}
        }
    }
}

#[cfg(test)]
mod tests;
