//! Functions of straight nominal values, and their conversion to tones of a format.

use super::{Affine, Bends, Power, Premultiplied, Table, Tone};
use crate::frame::{Alpha, Depth, Format};
use crate::pixel::convert::Code;

/// A function of a nominal value `v` of a plane: black is 0, white 1, and chroma goes from -0.5 to 0.5. If colour is
/// premultiplied, `v` is the straight colour: a sample `x` becomes `alpha * f(x / alpha)`, and limits are multiplied by
/// alpha, too.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Nominal {
    /// No change.
    Same,
    /// `v * gain + offset`. Where alpha is 0, premultiplied colour stays.
    Line {
        /// The factor.
        gain: f64,
        /// The summand.
        offset: f64,
        /// The limits of integer samples.
        limits: Limits,
    },
    /// `v + (to - v) * amount`. Where alpha is 0, premultiplied colour fades as well: it is light without coverage.
    Mix {
        /// The value at an amount of 1.
        to: f64,
        /// 0 to 1; above it counts as 1.
        amount: f64,
    },
    /// `out.0 + t^exponent * (out.1 - out.0)`, with `t = (v - black) / width`, bent at its ends. Integer samples are clamped to the ends
    /// of `out`; float samples are extrapolated, linearly below `black`. Where alpha is 0, premultiplied colour stays.
    Power {
        /// The value that becomes `out.0`.
        black: f64,
        /// The distance to the value that becomes `out.1`.
        width: f64,
        /// Above 0.
        exponent: f64,
        /// The toe and the shoulder of t.
        bends: Option<Bends>,
        /// The results for `black` and `black + width`.
        out: (f64, f64),
    },
}

/// The limits of integer results; float samples have no limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limits {
    /// All codes of the depth.
    Codes,
    /// The legal codes.
    Legal,
    /// The legal codes, or the code of the sample beyond them.
    Widened,
}

impl Nominal {
    /// The slope of the linear function, and its value at 0; `None` if it is not linear.
    pub(super) fn line(&self) -> Option<(f64, f64)> {
        match *self {
            Nominal::Same => Some((1.0, 0.0)),
            Nominal::Line { gain, offset, .. } => Some((gain, offset)),
            Nominal::Mix { to, amount } => Some((1.0 - amount.min(1.0), to * amount.min(1.0))),
            Nominal::Power { black, width, exponent, bends, out } => {
                let gain = (out.1 - out.0) / width;
                (exponent == 1.0 && bends.is_none()).then_some((gain, out.0 - black * gain))
            }
        }
    }

    /// The power of a function that is not linear.
    pub(super) fn power(&self) -> Option<Power> {
        let Nominal::Power { black, width, exponent, bends, out } = *self else { return None };
        let line = ((1.0 / width) as f32, (out.1 - out.0) as f32);
        let power = || Power::new(exponent, black as f32, line.0, line.1, out.0 as f32).with(bends);
        (exponent != 1.0 || bends.is_some()).then(power)
    }

    /// Whether its [`tone`](Nominal::tone) takes long to compute.
    pub fn is_slow(&self, format: &Format) -> bool {
        let steep = |gain: f64| gain.abs() > Affine::MAX_GAIN && format.depth != Depth::Float;
        matches!(self, Nominal::Power { .. }) && self.line().is_none_or(|(gain, _)| steep(gain))
    }

    /// Whether the results of plane `p` depend on alpha, too.
    pub fn needs_alpha(&self, format: &Format, p: usize) -> bool {
        format.alpha == Alpha::Premultiplied
            && format.alpha_plane() != Some(p)
            && match *self {
                Nominal::Same => false,
                // Scaling without an offset commutes with the multiplication by alpha.
                Nominal::Mix { to, .. } => to != 0.0,
                Nominal::Line { offset, limits, .. } => offset != 0.0 || limits != Limits::Widened,
                Nominal::Power { .. } => true,
            }
    }

    /// Its tone for samples of plane `p`.
    pub fn tone(&self, format: &Format, p: usize) -> Tone {
        if self.needs_alpha(format, p) {
            return Tone::Premultiplied(Premultiplied::new(self, format, p));
        }
        if format.depth == Depth::Float
            && let Some(power) = self.power()
        {
            return Tone::Power(power);
        }
        let code = Code::of(format, p);
        let (zero, span) = (f64::from(code.zero), f64::from(code.span));
        let (lo, hi) = format.codes();
        let round = |v: f64| libm::floor(zero + v * span + 0.5).clamp(lo.into(), hi.into()) as u16;
        match (*self, format.depth) {
            (Nominal::Same, _) => Tone::Same,
            (Nominal::Mix { to, amount }, Depth::Bits(_)) if amount >= 1.0 => Tone::Code(round(to)),
            (Nominal::Mix { to, amount }, Depth::Float) if amount >= 1.0 => Tone::Value(to as f32),
            (Nominal::Power { black, width, exponent, bends, out }, Depth::Bits(bits))
                if self.is_slow(format) =>
            {
                let bent = |t: f64| bends.map_or(t, |bends| bends.of(t)).clamp(0.0, 1.0);
                let power = |t: f64| if exponent == 1.0 { t } else { libm::pow(t, exponent) };
                let of = |v: f64| out.0 + power(bent((v - black) / width)) * (out.1 - out.0);
                Tone::Table(Table::new(bits, |x| round(of((f64::from(x) - zero) / span))))
            }
            (_, depth) => {
                let (gain, offset) = self.line().unwrap_or((1.0, 0.0));
                let Depth::Bits(bits) = depth else {
                    return Tone::Real { gain: gain as f32, offset: offset as f32 };
                };
                let legal = format.legal(p).unwrap_or((lo, hi));
                let (limits, keep) = match *self {
                    Nominal::Line { limits: Limits::Legal, .. } => (legal, false),
                    Nominal::Line { limits: Limits::Widened, .. } => (legal, true),
                    Nominal::Power { out, .. } => ((round(out.0.min(out.1)), round(out.0.max(out.1))), false),
                    _ => ((lo, hi), false),
                };
                let gain = gain.clamp(-Affine::MAX_GAIN, Affine::MAX_GAIN);
                Tone::line(Affine::new(bits, gain, zero * (1.0 - gain) + offset * span, limits, keep))
            }
        }
    }

    /// The limits of the straight value of integer samples of plane `p`.
    pub(super) fn bounds(&self, format: &Format, p: usize) -> (f64, f64) {
        let low = if format.is_chroma(p) { -0.5 } else { 0.0 };
        let code = Code::of(format, p);
        let value = |x: u16| f64::from(i32::from(x) - code.zero) / f64::from(code.span);
        match *self {
            Nominal::Line { limits: Limits::Codes, .. } => (value(format.codes().0), value(format.codes().1)),
            Nominal::Line { limits: Limits::Legal | Limits::Widened, .. } => (low, low + 1.0),
            Nominal::Power { out, .. } => (out.0.min(out.1), out.0.max(out.1)),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }
}
