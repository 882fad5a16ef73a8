//! `levels`: black, white and gamma of the input, black and white of the output.
//!
//! With t the place of a sample between the input's black (0) and white (1), kept to 0..1 in integers, the result
//! is `out-black + t^(1/gamma) * (out-white - out-black)`. Black and white are parts of the format's legal range, so
//! the defaults mean legal black and legal white whatever the depth and range.
//!
//! Over all channels, R, G and B are changed alike; of YUV luma is changed, and the colour differences grow by as much
//! as the straight line between black and white steepens, which is what R, G and B would do for a gamma of 1.
//! Where colour is multiplied by alpha, that is the colour before: samples are divided by alpha and multiplied again.
//! Integers go along a straight line with one rounding, or through a table of the exact values rounded halves up; float
//! samples are not limited, and below black they go on along the line.

use super::point::{PointFilter, PointOperation, key};
use super::{Entry, Filter, Plan, Render, Spec};
use crate::frame::{Alpha, Depth, Format, FrameTime, PlaneSet};
use crate::pixel::convert::Code;
use crate::pixel::tone::{Affine, Power, Table, Tone};
use crate::settings::{Animated, ChoiceEnum, Planes, SettingError, Unit};
use crate::simd::Level;
use crate::{choices, settings};

/// The catalog's entry.
pub const ENTRY: Entry =
    Entry::new::<LevelsSpec>("levels", "Levels", "Sets black, white and gamma, of all channels or of one");

settings! {
    struct LevelsSpec {
        /// What becomes black: 0 is the format's own black, 1 its white (of an 8-bit picture of full range, code / 255).
        black: Animated = number(-1.0..=2.0).default(0.0).label("Input black").unit(Unit::Fraction).soft(0.0..=1.0),
        /// What becomes white. Below `black` the picture is inverted.
        white: Animated = number(-1.0..=2.0).default(1.0).label("Input white").unit(Unit::Fraction).soft(0.0..=1.0),
        /// Of what is between: above 1 is brighter, below 1 darker.
        gamma: Animated = number(0.1..=10.0).default(1.0).logarithmic(),
        /// What black becomes.
        out_black as "out-black": Animated = number(0.0..=1.0).default(0.0).label("Output black").unit(Unit::Fraction),
        /// What white becomes.
        out_white as "out-white": Animated = number(0.0..=1.0).default(1.0).label("Output white").unit(Unit::Fraction),
        /// What is changed. For several, put several filters one after the other.
        channel: Channel = choice("all"),
    }
}

choices! {
    /// What is changed.
    enum Channel {
        /// red, green and blue; of YUV luma, and the colour with it
        All = "all",
        /// red
        R = "r",
        /// green
        G = "g",
        /// blue
        B = "b",
        /// luma or grey alone
        Y = "y",
        /// the colour difference U (Cb): 0.5 is no colour
        U = "u",
        /// the colour difference V (Cr): 0.5 is no colour
        V = "v",
        /// alpha
        A = "a",
    }
}

impl Spec for LevelsSpec {
    fn bind(&self, input: &Format, _: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let all = self.channel == Channel::All;
        let planes = match self.channel.id().parse::<Planes>() {
            _ if all => input.color_planes(),
            Ok(planes) => planes.resolve(input),
            Err(_) => PlaneSet::NONE,
        };
        if planes.is_empty() {
            let problem = format!(
                "a picture of {} has no channel '{}': leave it out, or name one that there is",
                input.name(),
                self.channel.id()
            );
            return Err(SettingError { setting: "channel", problem });
        }
        let of = Levels { format: *input, set: self.clone(), planes, all };
        let colour = !planes.filter(|p| input.alpha_plane() != Some(p)).is_empty();
        let filter = PointFilter { format: *input, level, of };
        if input.has_alpha() && input.alpha == Alpha::Premultiplied && colour {
            return Ok(premultiplied::PremultipliedLevels(filter).boxed());
        }
        Ok(filter.boxed())
    }
}

struct Levels {
    format: Format,
    set: LevelsSpec,
    planes: PlaneSet,
    all: bool,
}

/// The settings at a moment.
#[derive(Clone, Copy, PartialEq)]
struct LevelsAt {
    black: f64,
    width: f64,
    gamma: f64,
    out: (f64, f64),
}

impl LevelsAt {
    const SAME: LevelsAt = LevelsAt { black: 0.0, width: 1.0, gamma: 1.0, out: (0.0, 1.0) };

    /// The slope of the straight line.
    fn gain(self) -> f64 {
        (self.out.1 - self.out.0) / self.width
    }

    /// What becomes of a nominal value that is kept to the range.
    fn of(self, v: f64) -> f64 {
        let t = ((v - self.black) / self.width).clamp(0.0, 1.0);
        let t = if self.gamma == 1.0 { t } else { libm::pow(t, 1.0 / self.gamma) };
        self.out.0 + t * (self.out.1 - self.out.0)
    }
}

impl Levels {
    fn now(&self, at: &FrameTime) -> LevelsAt {
        let set = &self.set;
        let [black, white, gamma, low, high] =
            [&set.black, &set.white, &set.gamma, &set.out_black, &set.out_white].map(|v| v.at(at));
        let width = white - black;
        // A range of nothing is a threshold: as steep as makes no difference.
        let width = if width.abs() < 1e-7 { 1e-7 } else { width };
        LevelsAt { black, width, gamma, out: (low, high) }
    }

    /// Whether plane `p` is a colour difference that goes along with luma.
    fn follows(&self, p: usize) -> bool {
        self.all && self.format.is_chroma(p)
    }

    fn is_difference(&self, p: usize) -> bool {
        self.format.is_chroma(p)
    }

    fn is_line(&self, now: LevelsAt, p: usize) -> bool {
        self.follows(p) || (now.gamma == 1.0 && now.gain().abs() <= Affine::MAX_GAIN)
    }
}

impl PointOperation for Levels {
    type Params = LevelsAt;

    fn at(&self, at: &FrameTime) -> Option<(Plan, LevelsAt)> {
        let now = self.now(at);
        let changes = |p| if self.follows(p) { now.gain() != 1.0 } else { now != LevelsAt::SAME };
        let writes = self.planes.filter(changes);
        let prepared = self.planes.iter().any(|p| !self.is_line(now, p));
        let state = prepared.then(|| key(&[now.black, now.width, now.gamma, now.out.0, now.out.1]));
        (!writes.is_empty()).then(|| (Plan { state, ..Plan::in_place(writes) }, now))
    }

    fn tone(&self, &now: &LevelsAt, p: usize) -> Tone {
        if !self.planes.has(p) {
            return Tone::Same;
        }
        let code = Code::of(&self.format, p);
        let difference = self.is_difference(p);
        let span = f64::from(code.span);
        // Of a colour difference 0 is half of its range below the middle.
        let zero = f64::from(code.zero) - if difference { span / 2.0 } else { 0.0 };
        let (lo, hi) = self.format.codes();
        let Depth::Bits(bits) = self.format.depth else {
            let zero = zero as f32;
            let (gain, out) = (now.gain(), now.out);
            return if self.follows(p) {
                Tone::Real { gain: gain as f32, offset: 0.0 }
            } else if now.gamma == 1.0 {
                let offset = out.0 - (now.black + f64::from(zero)) * gain + f64::from(zero);
                Tone::Real { gain: gain as f32, offset: offset as f32 }
            } else {
                let black = now.black as f32 + zero;
                let (span, base) = ((out.1 - out.0) as f32, out.0 as f32 + zero);
                Tone::Power(Power::new(1.0 / now.gamma, black, (1.0 / now.width) as f32, span, base))
            };
        };
        let round = |v: f64| libm::floor(v + 0.5).clamp(lo.into(), hi.into()) as u16;
        if self.follows(p) {
            let gain = now.gain().clamp(-Affine::MAX_GAIN, Affine::MAX_GAIN);
            let middle = f64::from(code.zero);
            let legal = self.format.legal(p).unwrap_or((lo, hi));
            return Tone::line(Affine::new(bits, gain, middle * (1.0 - gain), legal, false));
        }
        if self.is_line(now, p) {
            let gain = now.gain();
            let offset = zero + (now.out.0 - now.black * gain) * span - zero * gain;
            let ends = [now.out.0, now.out.1].map(|v| round(zero + v * span));
            let kept = (ends[0].min(ends[1]), ends[0].max(ends[1]));
            return Tone::line(Affine::new(bits, gain, offset, kept, false));
        }
        Tone::Table(Table::new(bits, |x| round(zero + now.of((f64::from(x) - zero) / span) * span)))
    }
}

mod premultiplied;
#[cfg(test)]
mod tests;
