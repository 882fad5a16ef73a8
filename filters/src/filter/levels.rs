//! `levels`: black, white and gamma of the input, black and white of the output.
//!
//! With t the position of a sample between the input's black (0) and white (1), clamped to 0..1 in integers, the result
//! is `out-black + t^(1/gamma) * (out-white - out-black)`. A toe and a shoulder bend t at its ends before it is clamped, so
//! that the darkest and the brightest sample of the format become 0 and 1. Black and white are fractions of the format's legal range,
//! so the defaults are legal black and legal white at any depth and range.
//!
//! With all channels, R, G and B change in the same way. In YUV luma changes, and the colour differences are multiplied
//! by the slope of the line between black and white, which matches R, G and B at a gamma of 1. For one of R, G and B, or
//! all of them by name, YUV is taken through float RGB, and the differences are added. Premultiplied samples
//! are divided by alpha first and multiplied again afterwards. For integers the result is a linear function with one
//! rounding, or a table of the exact values, rounded halves up; float samples are not clamped, and below black the
//! function is linear.

use super::point::{PointFilter, PointOperation};
use super::rgb::ThroughRgb;
use super::{Band, Entry, Filter, Memory, Plan, Reach, Render, Spec};
use crate::frame::{Alpha, Depth, Family, Format, FrameTime, PlaneSet, Scratch};
use crate::pixel::tone::{Bends, Limits, Nominal, Tone};
use crate::settings::{Animated, ChoiceEnum, Planes, SettingError, Unit};
use crate::simd::Level;
use crate::{choices, settings};

/// The catalog's entry.
pub const ENTRY: Entry =
    Entry::new::<LevelsSpec>("levels", "Levels", "Sets black, white and gamma of all channels or of one");

settings! {
    struct LevelsSpec {
        /// Input value that becomes black. 0 is the black of the format, 1 its white (in full-range 8 bits: code /
        /// 255).
        black: Animated = number(-1.0..=2.0).default(0.0).label("Input black").unit(Unit::Fraction).soft(0.0..=1.0),
        /// Input value that becomes white. A value below `black` inverts the picture.
        white: Animated = number(-1.0..=2.0).default(1.0).label("Input white").unit(Unit::Fraction).soft(0.0..=1.0),
        /// Brightness of the midtones: above 1 is brighter, below 1 darker.
        gamma: Animated = number(0.1..=10.0).default(1.0).logarithmic(),
        /// Output value for black.
        out_black as "out-black": Animated = number(0.0..=1.0).default(0.0).label("Output black").unit(Unit::Fraction),
        /// Output value for white.
        out_white as "out-white": Animated = number(0.0..=1.0).default(1.0).label("Output white").unit(Unit::Fraction),
        /// Shadows that would become darker than black are bent into the range instead: the part of it above black that
        /// is bent. 0 cuts them off.
        toe: Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction).soft(0.0..=0.5),
        /// Highlights that would become brighter than white are bent into the range instead, as on film: the part of it
        /// below white that is bent. 0 cuts them off.
        shoulder: Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction).soft(0.0..=0.5),
        /// Which channel is changed. To change several differently, use the filter several times.
        channel: Channel = choice("all"),
    }
}

choices! {
    /// The channels that change.
    enum Channel {
        /// red, green and blue; in YUV, luma with its colour
        All = "all",
        /// red, green and blue, also of YUV, which is converted and back: toe and shoulder then keep strong colours, too
        Rgb = "rgb",
        /// red
        R = "r",
        /// green
        G = "g",
        /// blue
        B = "b",
        /// luma or grey only
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
        let all = matches!(self.channel, Channel::All | Channel::Rgb);
        let of_rgb = matches!(self.channel, Channel::Rgb | Channel::R | Channel::G | Channel::B);
        let through = of_rgb && input.family == Family::Yuv && !input.is_rgb();
        let format = *input;
        let input = if through { &format.float_rgb(Alpha::None) } else { input };
        let planes = match self.channel.id().parse::<Planes>() {
            _ if all => input.color_planes(),
            Ok(planes) => planes.resolve(input),
            Err(_) => PlaneSet::NONE,
        };
        if planes.is_empty() {
            let problem = format!(
                "{} has no channel '{}': leave this out, or name another channel",
                input.name(),
                self.channel.id()
            );
            return Err(SettingError::new("channel", problem));
        }
        let of = Levels { set: self.clone(), planes, all };
        if through {
            let rgb = ThroughRgb::adding(&format, level)?;
            return Ok(OfRgb { of, straight: *input, rgb, format, level }.boxed());
        }
        Ok(PointFilter { format, level, of }.boxed())
    }
}

struct Levels {
    set: LevelsSpec,
    planes: PlaneSet,
    all: bool,
}

impl PointOperation for Levels {
    fn at(&self, format: &Format, at: &FrameTime) -> Option<(Plan, [Nominal; 4])> {
        let set = &self.set;
        let [black, white, gamma, low, high] =
            [&set.black, &set.white, &set.gamma, &set.out_black, &set.out_white].map(|v| v.at(at));
        let width = white - black;
        // An empty range is a threshold; a very steep line is equivalent.
        let width = if width.abs() < 1e-7 { 1e-7 } else { width };
        let ends = [-black / width, (1.0 - black) / width];
        let bends =
            Bends::new([set.toe.at(at), set.shoulder.at(at)], ends[0].min(ends[1]), ends[0].max(ends[1]));
        let gain = (high - low) / width;
        let plane = |p: usize| {
            if !self.planes.has(p) || (black, width, gamma, low, high) == (0.0, 1.0, 1.0, 0.0, 1.0) {
                return Nominal::Same;
            }
            match (self.all, format.is_chroma(p)) {
                (true, true) if gain == 1.0 => Nominal::Same,
                (true, true) => Nominal::Line { gain, offset: 0.0, limits: Limits::Legal },
                (_, chroma) => {
                    // The settings measure colour differences from the lower end of their range.
                    let middle = if chroma { 0.5 } else { 0.0 };
                    let out = (low - middle, high - middle);
                    Nominal::Power {
                        black: black - middle,
                        width,
                        exponent: 1.0 / gamma,
                        bends: bends.filter(|_| !chroma),
                        out,
                    }
                }
            }
        };
        let planes = [0, 1, 2, 3].map(plane);
        let writes = self.planes.filter(|p| planes[p] != Nominal::Same);
        (!writes.is_empty()).then(|| (Plan::in_place(writes), planes))
    }
}

/// Levels of red, green and blue in YUV.
struct OfRgb {
    of: Levels,
    /// The format in which they are set.
    straight: Format,
    rgb: ThroughRgb,
    format: Format,
    level: Level,
}

impl Render for OfRgb {
    /// The functions of G, B and R, and the ends of their results.
    type Params = (Vec<Tone>, [f32; 2]);
    type State = ();

    fn at(&self, at: &FrameTime) -> Option<(Plan, Self::Params)> {
        let (_, nominal) = self.of.at(&self.straight, at)?;
        let tones = (0..3).map(|p| nominal[p].tone(&self.straight, p)).collect();
        let [low, high] = [&self.of.set.out_black, &self.of.set.out_white].map(|v| v.at(at) as f32);
        let plan =
            Plan { reach: Reach::Rows(self.rgb.reach()), ..Plan::in_place(self.format.color_planes()) };
        Some((plan, (tones, [low.min(high), low.max(high)])))
    }

    fn memory(&self) -> Memory {
        Memory { fixed: 0, per_frame: self.rgb.memory() }
    }

    fn render(&self, (tones, ends): &Self::Params, (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
        let clips = self.format.depth != Depth::Float;
        self.rgb.render(band, scratch, |_, room, [r, g, b]| {
            for (row, tone) in [g, b, r].into_iter().zip(tones) {
                let before = &mut room[..row.len()];
                before.copy_from_slice(row);
                tone.apply(self.level, Depth::Float, bytemuck::cast_slice_mut(row));
                if clips && !matches!(tone, Tone::Same) {
                    row.iter_mut().for_each(|v| *v = v.clamp(ends[0], ends[1]));
                }
                row.iter_mut().zip(before).for_each(|(v, before)| *v -= *before);
            }
        });
    }
}

#[cfg(test)]
mod tests;
