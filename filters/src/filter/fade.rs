//! `fade`: to a colour, from a colour, or to transparency.
//!
//! A sample x becomes `x + (c - x) * amount`, c being the code of the colour in its plane: legal black for black.
//! Integers are rounded once, halves up, from sums that are exact to 2^-14 of a code ([`crate::pixel::tone::Affine`]);
//! at 1 every sample is the colour. With premultiplied colour, the target is premultiplied, too, and light without
//! coverage also fades.

use super::point::{PointFilter, PointOperation, nominal, weights};
use super::{Entry, Filter, Plan, Render, Spec};
use crate::frame::{Alpha, Format, FrameTime};
use crate::pixel::convert::Coefficients;
use crate::pixel::tone::Nominal;
use crate::settings::{Animated, SettingError, Unit};
use crate::simd::Level;
use crate::{choices, settings};

/// The catalog's entry.
pub const ENTRY: Entry =
    Entry::new::<FadeSpec>("fade", "Fade", "Fades the picture to or from black, a colour, or transparency");

settings! {
    struct FadeSpec {
        /// Position of the fade: 0 is the picture, 1 the colour. amount='0=1;48=0' fades in over 48 frames.
        amount: Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction),
        /// Colour to fade to. With planes=a its alpha is used.
        color: Animated<[f64; 4]> =
            colour().default([0.0, 0.0, 0.0, 1.0]).only_when("to", &["color"]),
        /// What the picture fades to.
        to: To = choice("color"),
    }
}

choices! {
    /// The target of the fade.
    enum To {
        /// the colour; alpha stays
        Color = "color",
        /// transparency
        Alpha = "alpha",
    }
}

impl Spec for FadeSpec {
    fn bind(&self, input: &Format, _: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        if self.to == To::Alpha && !input.has_alpha() {
            let problem = format!("{} has no alpha to fade: leave this out", input.name());
            return Err(SettingError::new("to", problem));
        }
        let of = Fade { set: self.clone(), weights: weights(input)? };
        Ok(PointFilter { format: *input, level, of }.boxed())
    }
}

struct Fade {
    set: FadeSpec,
    weights: Coefficients,
}

impl PointOperation for Fade {
    fn at(&self, format: &Format, at: &FrameTime) -> Option<(Plan, [Nominal; 4])> {
        let amount = self.set.amount.at(at);
        let alpha = format.alpha_planes();
        let (color, plan) = match (self.set.to, format.alpha) {
            (To::Alpha, Alpha::Premultiplied) => ([0.0; 4], Plan::in_place(format.all_planes())),
            (To::Alpha, _) => ([0.0; 4], Plan::in_place(alpha)),
            (To::Color, _) => {
                let plan = Plan { on_request: alpha, ..Plan::in_place(format.color_planes()) };
                (nominal(format, self.weights, self.set.color.at(at)), plan)
            }
        };
        (amount > 0.0).then(|| (plan, color.map(|to| Nominal::Mix { to, amount })))
    }
}

#[cfg(test)]
mod tests;
