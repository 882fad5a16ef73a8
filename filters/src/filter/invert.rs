//! `invert`: inverts light and dark, for scanned negatives.

use super::point::{PointFilter, PointOperation};
use super::{Entry, Filter, Plan, Render, Spec};
use crate::frame::{Format, FrameTime};
use crate::pixel::tone::{Limits, Nominal};
use crate::settings;
use crate::settings::{Animated, SettingError, Unit};
use crate::simd::Level;

/// The catalog's entry.
pub const ENTRY: Entry =
    Entry::new::<Invert>("invert", "Invert", "Inverts the picture, as for a scanned negative");

settings! {
    struct Invert {
        /// Position between the picture (0), grey (0.5) and the negative (1).
        amount: Animated = number(0.0..=1.0).default(1.0).unit(Unit::Fraction),
    }
}

impl Spec for Invert {
    fn bind(&self, input: &Format, _seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        Ok(PointFilter { format: *input, level, of: self.clone() }.boxed())
    }
}

impl PointOperation for Invert {
    fn at(&self, format: &Format, at: &FrameTime) -> Option<(Plan, [Nominal; 4])> {
        let gain = 1.0 - 2.0 * self.amount.at(at);
        // Colour differences are mirrored about 0, the others about the middle between black and white.
        let middle = |p| if format.is_chroma(p) { 0.0 } else { 0.5 };
        let plane = |p| Nominal::Line { gain, offset: middle(p) * (1.0 - gain), limits: Limits::Codes };
        (gain != 1.0).then(|| (Plan::in_place(format.color_planes()), [0, 1, 2, 3].map(plane)))
    }
}

#[test]
fn samples_turn_about_the_middle() {
    use super::testing::{at, compare, zero_span};
    for (amount, text) in [(1.0, "1"), (0.2, "0.2"), (0.0, "0"), (0.5, "0=0;24=1")] {
        compare(&ENTRY, &[("amount", text)], 12, |source, p, x, y| {
            let (f, was, (zero, span)) =
                (source.format(), at(source, p, x, y), zero_span(source.format(), p));
            let middle = if f.is_chroma(p) { zero } else { zero + span / 2.0 };
            let turned = was + (middle - was) * 2.0 * amount;
            let codes = f.depth.bits().map_or(f64::INFINITY, |bits| f64::from((1 << bits) - 1));
            let limited = if codes.is_finite() { turned.clamp(0.0, codes) } else { turned };
            let changes = f.alpha_plane() != Some(p) && was.is_finite();
            changes.then_some((limited, if codes.is_finite() { 0.513 } else { 1e-6 }))
        });
    }
}
