//! `fade`: to a colour, from a colour, or in transparency.
//!
//! A sample x becomes `x + (c - x) * amount`, c being the code of the colour in its plane: legal black for black. In
//! integers it is rounded once, halves up, from sums that are exact to 2^-14 of a code ([`crate::pixel::tone::Affine`]);
//! at 1 every sample is the colour. Where colour is premultiplied, so is the colour it fades to.

use super::effect::{ToneFilter, Tones, all_codes, alpha_row, code, nominal, planes_where, weights};
use super::{Band, Entry, Filter, Memory, Plan, Spec, State};
use crate::frame::{Alpha, Depth, Format, Moment, PlaneSet, Scratch};
use crate::pixel::convert::Coefficients;
use crate::pixel::tone::{Affine, Over, Tone};
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
        let of = Fade { format: *input, set: self.clone(), weights };
        Ok(Box::new(FadeFilter(ToneFilter { format: *input, level, of })))
    }
}

struct Fade {
    format: Format,
    set: FadeSpec,
    weights: Coefficients,
}

impl Fade {
    fn amount(&self, at: &Moment) -> f64 {
        self.set.amount.at(at)
    }

    /// The code of the colour in plane `p`, not rounded.
    fn target(&self, at: &Moment, p: usize) -> f64 {
        let code = code(&self.format, p);
        let zero = f64::from(code.zero);
        if self.set.to == To::Alpha {
            return zero;
        }
        zero + nominal(&self.format, self.weights, self.set.color.at(at))[p] * f64::from(code.span)
    }

    /// Whether plane `p` fades to a colour that is multiplied by alpha first.
    fn over(&self, at: &Moment, p: usize) -> bool {
        self.format.alpha == Alpha::Premultiplied
            && self.format.alpha_plane() != Some(p)
            && self.set.to != To::Alpha
            && self.target(at, p) != f64::from(code(&self.format, p).zero)
    }
}

impl Tones for Fade {
    fn writes(&self, at: &Moment) -> (PlaneSet, PlaneSet) {
        if self.amount(at) <= 0.0 {
            return (PlaneSet::NONE, PlaneSet::NONE);
        }
        let alpha = self.format.alpha_plane().map_or(PlaneSet::NONE, PlaneSet::one);
        match (self.set.to, self.format.alpha) {
            (To::Alpha, Alpha::Premultiplied) => (alpha | self.format.color_planes(), PlaneSet::NONE),
            (To::Alpha, _) => (alpha, PlaneSet::NONE),
            (To::Color, _) => (self.format.color_planes(), alpha),
        }
    }

    fn tone(&self, at: &Moment, p: usize) -> Tone {
        let (amount, target) = (self.amount(at), self.target(at, p));
        let (lo, hi) = all_codes(&self.format);
        match self.format.depth {
            Depth::Bits(_) if amount >= 1.0 => {
                Tone::Code(libm::floor(target + 0.5).clamp(lo.into(), hi.into()) as u16)
            }
            Depth::Bits(bits) => {
                Tone::line(Affine::new(bits, 1.0 - amount, target * amount, (lo, hi), false))
            }
            Depth::Float if amount >= 1.0 => Tone::Value(target as f32),
            Depth::Float => Tone::Real { gain: (1.0 - amount) as f32, offset: (target * amount) as f32 },
        }
    }
}

/// Fades by tones, but where the colour has to be multiplied by alpha.
struct FadeFilter(ToneFilter<Fade>);

impl Filter for FadeFilter {
    fn output(&self) -> &Format {
        self.0.output()
    }

    fn plan(&self, at: &Moment) -> Plan {
        self.0.plan(at)
    }

    fn memory(&self) -> Memory {
        Memory { fixed: 0, per_frame: 4 * self.0.format.width as usize + 128 }
    }

    fn render(&self, at: &Moment, state: Option<&State>, band: &mut Band<'_>, scratch: &mut Scratch) {
        let fade = &self.0.of;
        let writes = band.writes;
        let over = planes_where(writes, |p| p < self.0.format.planes() && fade.over(at, p));
        for p in over.iter() {
            for y in band.output.plane(p).rows() {
                fade.over_row(at, p, y, band, scratch);
            }
        }
        band.writes = planes_where(writes, |p| !over.has(p));
        self.0.render(at, state, band, scratch);
        band.writes = writes;
    }
}

impl Fade {
    fn over_row(&self, at: &Moment, p: usize, y: usize, band: &mut Band<'_>, s: &mut Scratch) {
        let (amount, code) = (self.amount(at), code(&self.format, p));
        let zero = f64::from(code.zero);
        // What a full alpha adds, in codes.
        let full = (self.target(at, p) - zero) * amount;
        let [alpha] = s.buffers::<f32, 1>([self.format.plane_size(p).0]);
        alpha_row(&self.format, band, p, y, alpha);
        let row = band.output.plane_mut(p);
        match self.format.depth {
            Depth::Float => {
                let (gain, weight) = ((1.0 - amount) as f32, full as f32);
                for (x, a) in row.row_mut::<f32>(y).iter_mut().zip(&*alpha) {
                    let sum = *x * gain + *a * weight;
                    *x = if sum.is_finite() && x.is_finite() { sum } else { *x };
                }
            }
            Depth::Bits(bits) => {
                let top = f64::from(all_codes(&self.format).1);
                let by = Over::new(bits, 1.0 - amount, zero * amount, full / top);
                let codes = alpha.iter().map(|a| (*a * top as f32 + 0.5) as u16);
                if bits == 8 {
                    let pairs = row.row_mut::<u8>(y).iter_mut().zip(codes);
                    pairs.for_each(|(x, a)| *x = by.of((*x).into(), a) as u8);
                } else {
                    row.row_mut::<u16>(y).iter_mut().zip(codes).for_each(|(x, a)| *x = by.of(*x, a));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
