//! What the user can set, and the presets.

use crate::noise::Generator;
use crate::settings::{Animated, Points, SettingError, Unit, Values};
use crate::{choices, settings};

/// The most that a curve may raise grain above its strength.
const MOST: f64 = 1.0;

settings! {
    pub(super) struct GrainSpec {
        /// How strong: the standard deviation in 8-bit code values where the curve is at its peak, whatever the depth. 2 is
        /// barely seen, 4 is plain, 10 is heavy.
        strength: Animated = number(0.0..=100.0).default(4.0).unit(Unit::Code8).soft(0.0..=20.0),
        /// How coarse, as seen with the picture 1920 wide: it grows with the picture, so that the look stays. 0 is as fine
        /// as the pixels, 1 is film, above 2 it clumps.
        size: Animated = number(0.0..=16.0).default(1.0).soft(0.0..=4.0),
        /// Of the grain itself: -1 is soft, 1 crisp, at the same strength.
        sharpness: Animated = number(-1.0..=1.0).default(0.0),
        /// How coloured: in YUV the strength of the grain of U and V as a part of luma's, in RGB the part of the grain that
        /// each channel has for itself (1: all of it). Of that blue has most and green least, as the layers of film.
        chroma: Animated = number(0.0..=2.0).default(0.6).soft(0.0..=1.0),
        /// How coarse the grain of U and V is beside luma's: film has the same, a sensor 2 to 3 times coarser.
        chroma_size as "chroma-size": Animated = number(0.5..=4.0).default(1.0).label("Chroma size").soft(1.0..=3.0),
        /// Grain in brightness alone: none in U and V, the same in R, G and B.
        monochrome: bool = switch().default(false),
        /// How the grain follows the brightness of the source (for chroma, of the luma around it; for R, G and B of the
        /// channel itself). With `points` these.
        curve: Look = choice("film").group("Response"),
        /// A curve of your own: brightness = part of the strength, both 0 to 1, with straight lines between, as in
        /// 0=0;0.3=1;1=0.2. In the place of `curve`.
        points: Option<Points> = points(0.0..=MOST).group("Response"),
        /// How much of a frame's grain stays in the next one: the correlation of neighbouring frames. 0, as film has it, is
        /// the fastest; 0.3 calms grain down; each step up costs more frames of noise.
        temporal: Animated = number(0.0..=0.9).default(0.0).unit(Unit::Fraction).group("Time"),
        /// So many frames show the same grain before it changes, for animation on twos or threes.
        hold: i64 = integer(1..=1000).default(1).unit(Unit::Frames).group("Time"),
        /// Where the random numbers come from.
        generator: Generator = choice("xs64"),
        /// Keeps legal samples legal (in limited range 16 to 235, chroma to 240). Without it grain may use all codes.
        protect: bool = switch().default(true).group("Response"),
        /// What the samples stand for, and so where in them the curve's black and white lie.
        space: RequestedSpace = choice("auto").group("Response"),
    }
    presets "Strength, size, sharpness, chroma and curve in one word. What is typed beside it wins." {
        /// takes the smoothness off a clean picture
        "light" = "strength=2.2:size=0.8:chroma=0.5",
        /// plain to see, as in a film of today
        "medium" = "strength=4.5",
        /// grain as a look
        "heavy" = "strength=9:size=1.3",
        /// slow 35 mm stock in good light
        "fine-35mm" = "strength=2.4:size=0.6:sharpness=0.3:chroma=0.5",
        /// 35 mm stock as usual
        "35mm" = "strength=4:sharpness=0.1",
        /// 16 mm, as in documentaries
        "16mm" = "strength=7:size=1.8:chroma=0.55",
        /// home movies: coarse, soft and strong
        "super8" = "strength=9:size=2.8:sharpness=-0.5:chroma=0.35",
        /// fast stock, pushed: strong, crisp, with much colour
        "high-speed" = "strength=9:size=1.5:sharpness=0.4:chroma=0.4",
        /// a digital camera at high ISO: fine in brightness, coarse in colour, and not clean in black
        "digital-iso" = "strength=6.5:size=0.5:sharpness=0.2:chroma=0.9:chroma-size=2.5:curve=sensor",
    }
    with static, seed
}

choices! {
    /// A curve that has a name.
    pub(super) enum Look {
        /// as grains of silver do: most below the middle, none in black and white
        Film = "film",
        /// the same everywhere
        Flat = "flat",
        /// most in the dark, none in black and white
        Shadows = "shadows",
        /// most in the light, none in black and white
        Highlights = "highlights",
        /// as a sensor's: most in the dark, two thirds of it in black, least in white
        Sensor = "sensor",
    }
}

choices! {
    /// What samples stand for, as asked.
    pub(super) enum RequestedSpace {
        /// as the transfer characteristic is tagged (PQ and HLG too), else video
        Auto = "auto",
        /// brightness as displayed
        Video = "video",
        /// scene-linear light: grain is added on a logarithmic scale
        Linear = "linear",
        /// a camera's or scanner's logarithmic code, black at 95 of 1023
        Log = "log",
    }
}

/// Where the curve comes from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Curve {
    /// The same everywhere.
    Flat,
    /// u^a (1-u)^b, over its peak.
    Power(f64, f64),
    /// Read noise at black, over it the noise of light as a tone curve flattens it.
    Sensor,
    /// The user's.
    Points(Points),
}

/// Of the curve of a sensor, at u = 0.1253.
const SENSOR_PEAK: f64 = 1.42411;

impl Curve {
    /// The part of the strength at brightness u, 0 to 1.
    pub(super) fn at(&self, u: f64) -> f64 {
        match self {
            Curve::Points(points) => points.at(u),
            Curve::Flat => 1.0,
            Curve::Sensor => {
                let u = u.clamp(0.0, 1.0);
                (1.0 - 0.75 * u) * (1.0 + 0.8 * u / (u + 0.05)) / SENSOR_PEAK
            }
            &Curve::Power(a, b) => {
                let value = |u: f64| libm::pow(u, a) * libm::pow(1.0 - u, b);
                value(u.clamp(0.0, 1.0)) / value(a / (a + b))
            }
        }
    }

    /// Whether lines between nodes follow it.
    pub(super) fn has_nodes(&self) -> bool {
        !matches!(self, Curve::Points(_))
    }
}

impl GrainSpec {
    pub(super) fn agree(&self, given: &Values) -> Result<(), SettingError> {
        if self.points.is_some() && given.given("curve").is_some() {
            let problem = "stand in the place of the curve: give one of the two".into();
            return Err(SettingError { setting: "points", problem });
        }
        Ok(())
    }

    /// How strength follows brightness.
    pub(super) fn response(&self) -> Curve {
        match (&self.points, self.curve) {
            (Some(points), _) => Curve::Points(points.clone()),
            // A Boolean model of grains.
            (None, Look::Film) => Curve::Power(0.508, 0.664),
            (None, Look::Flat) => Curve::Flat,
            (None, Look::Shadows) => Curve::Power(0.35, 1.4),
            (None, Look::Highlights) => Curve::Power(1.4, 0.35),
            (None, Look::Sensor) => Curve::Sensor,
        }
    }
}
