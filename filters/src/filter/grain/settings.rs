//! What the user can set, and the presets.

use crate::noise::Generator;
use crate::settings::{Animated, FileAsset, FileKind, Points, SettingError, Unit, Values};
use crate::{choices, settings};

/// The most that a curve may raise grain above its strength.
const MOST: f64 = 1.0;

settings! {
    pub(super) struct GrainSpec {
        /// Standard deviation in 8-bit code values at the peak of the curve, whatever the depth, in a picture 1920 wide. A
        /// picture of another width looks the same once both are reduced to one size. 2 is barely visible, 4 is obvious,
        /// 10 is heavy.
        strength: Animated = number(0.0..=100.0).default(4.0).unit(Unit::Code8).soft(0.0..=20.0),
        /// Coarseness, relative to a picture 1920 wide, so that the look does not depend on the resolution. 0 is as
        /// fine as the pixels, 1 is film, above 2 the grain clumps.
        size: Animated = number(0.0..=16.0).default(1.0).soft(0.0..=4.0),
        /// Sharpness of the grain at equal strength: -1 is soft, 1 is crisp. It fades out as grain becomes as fine as the
        /// pixels.
        sharpness: Animated = number(-1.0..=1.0).default(0.0),
        /// Colour of the grain. In YUV: strength of the grain in U and V relative to luma. In RGB: share of the grain
        /// that each channel has to itself (1: all of it). Blue has most and green least, as in the layers of film.
        chroma: Animated = number(0.0..=2.0).default(0.6).soft(0.0..=1.0),
        /// Coarseness of the grain in U and V relative to luma; in RGB, of what each channel has to itself, where above 1.
        /// Film has 1 to 1.4, a denoised sensor 10.
        chroma_size as "chroma-size": Animated = number(0.5..=12.0).default(1.0).label("Chroma size").soft(1.0..=3.0),
        /// Variation of grain size: the part of the grain (of its variance) that is two and a half times as coarse. 0 is
        /// grain of one size and the fastest.
        variation: Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction),
        /// Skewness of the grain in Y, R, G and B: more bright than dark grains where strength rises with brightness, as
        /// in the shadows of film, and the reverse where it falls, as in highlights. 0 has as many of both, 1 is as grain
        /// that is counted, like photons; higher values exaggerate it.
        skew: Animated = number(0.0..=10.0).default(0.0).soft(0.0..=4.0),
        /// Grain in brightness only: none in U and V, the same in R, G and B.
        monochrome: bool = switch().default(false),
        /// A clip or picture of grain and nothing else, as `match --keep` writes it: patches of it replace generated
        /// grain, sample for sample at any resolution, with the plate's own sizes, colours and structure. A file for
        /// other planes gives the grain of its first plane to all.
        plate: Option<FileAsset> = file(FileKind::GrainPlate).label("Grain plate"),
        /// How strength follows the brightness of the source (for chroma, of the luma around it; in RGB, of the channel
        /// itself). `points` replaces it.
        curve: Look = choice("film").group("Response"),
        /// A curve of your own, brightness=strength, both from 0 to 1, connected by straight lines: 0=0;0.3=1;1=0.2.
        /// Replaces `curve`.
        points: Option<Points> = points(0.0..=MOST).group("Response"),
        /// Factor of the strength in R; in YUV, of that in V.
        red: Animated = number(0.0..=4.0).default(1.0).soft(0.0..=2.0).group("Channels"),
        /// Factor of the strength in B; in YUV, of that in U. Scans of colour negatives often have one and a half to two times
        /// as much grain in B as in G.
        blue: Animated = number(0.0..=4.0).default(1.0).soft(0.0..=2.0).group("Channels"),
        /// Correlation of the grain of neighbouring frames. 0, as on film, is fastest; 0.3 reduces the flicker of grain; higher
        /// values cost more frames of noise.
        temporal: Animated =
            number(0.0..=0.9).default(0.0).label("Correlation").unit(Unit::Fraction).group("Time"),
        /// Number of frames that show the same grain, as in animation on twos or threes.
        hold: i64 = integer(1..=1000).default(1).label("Hold for").unit(Unit::Frames).group("Time"),
        /// Source of the random numbers.
        generator: Generator = choice("xs64").group("Advanced"),
        /// Keeps samples within the legal range (limited range: 16 to 235, chroma 16 to 240). Without it grain may use all codes.
        protect: bool = switch().default(true).label("Keep legal range").group("Advanced"),
        /// What the samples represent, which decides where black and white of the curve lie.
        space: RequestedSpace = choice("auto").label("Samples are").group("Advanced"),
    }
    presets "Sets strength, size, sharpness, chroma and curve at once. A setting that you give overrides the preset." {
        /// removes the plastic look of a clean picture
        "light" = "strength=3:size=0.8:chroma=0.7",
        /// clearly visible, like a modern film
        "medium" = "strength=4.5:sharpness=0.3:chroma=0.7:chroma-size=1.3:variation=0.2",
        /// grain as a look
        "heavy" = "strength=10:size=1.3:sharpness=0.3:chroma=0.65:chroma-size=1.3:variation=0.25:curve=print",
        /// slow 35 mm stock in good light
        "fine-35mm" = "strength=2.6:size=0.65:sharpness=0.6:chroma=0.7",
        /// normal 35 mm stock
        "35mm" = "strength=4.2:sharpness=0.4:chroma=0.7",
        /// 16 mm, as in documentaries
        "16mm" = "strength=6.5:size=1.7:chroma=0.65:chroma-size=1.3:variation=0.25",
        /// home movies: coarse, soft and strong
        "super8" = "strength=8.5:size=2.3:chroma=0.6:chroma-size=1.4:variation=0.4",
        /// fast stock, pushed: strong and crisp
        "high-speed" = "strength=8:sharpness=0.6:chroma=0.8:chroma-size=1.3:variation=0.3:curve=pushed",
        /// a digital camera at high ISO: fine luma noise, coarse chroma noise, also in black
        "digital-iso" = "strength=5:size=0.45:sharpness=0.4:chroma=0.65:chroma-size=10:curve=sensor",
    }
    with static, seed
}

choices! {
    /// A curve that has a name.
    pub(super) enum Look {
        /// like silver grains: most below middle grey, none in black and white
        Film = "film",
        /// the same at every brightness
        Flat = "flat",
        /// most in the shadows, none in black and white
        Shadows = "shadows",
        /// most in the highlights, none in black and white
        Highlights = "highlights",
        /// like a print: most in the mid-tones, little in the shadows, none in black and white
        Print = "print",
        /// like a sensor: most in the shadows, least in white, and a little in black
        Sensor = "sensor",
        /// like film that is developed longer: more than `film` in the shadows, less in the highlights
        Pushed = "pushed",
    }
}

choices! {
    /// The meaning of samples, from the settings.
    pub(super) enum RequestedSpace {
        /// by the tag of the picture (linear, logarithmic, film density, PQ, HLG), else video
        Auto = "auto",
        /// brightness as displayed
        Video = "video",
        /// scene-linear light: grain is added on a logarithmic scale
        Linear = "linear",
        /// logarithmic code of a camera or scanner, black at 95 of 1023; grain is added from there to the highest code
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

/// The value of a sensor's curve at u = 0.1253.
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

    /// The number of 8-bit codes by which clipping at black and white may shift the mean; `None` where the user wants it. Blue is
    /// twice as far off as the colour differences it is made of.
    pub(super) fn clip_shift(&self, chroma: bool) -> Option<f64> {
        match self {
            Curve::Power(..) => Some(0.08),
            Curve::Sensor => Some(if chroma { 0.1 } else { 0.18 }),
            Curve::Flat | Curve::Points(_) => None,
        }
    }

    /// Whether lines between nodes follow it.
    pub(super) fn has_nodes(&self) -> bool {
        !matches!(self, Curve::Points(_))
    }
}

impl GrainSpec {
    /// The settings that decide how much grain there is.
    pub(super) fn amounts(&self) -> [&Animated; 5] {
        [&self.strength, &self.chroma, &self.skew, &self.red, &self.blue]
    }

    pub(super) fn agree(&self, given: &Values) -> Result<(), SettingError> {
        if self.points.is_some() && given.given("curve").is_some() {
            let problem = "they replace the curve: give only one of the two";
            return Err(SettingError::new("points", problem));
        }
        let replaced = ["size", "sharpness", "chroma-size", "variation", "skew", "generator"];
        if self.plate.is_some()
            && let Some(&setting) = replaced.iter().find(|id| given.given(id).is_some())
        {
            let problem = "the plate's grain has it already: leave this out";
            return Err(SettingError::new(setting, problem));
        }
        Ok(())
    }

    /// How strength follows brightness.
    pub(super) fn response(&self) -> Curve {
        Curve::of(self.points.as_ref(), self.curve)
    }
}

impl Curve {
    fn of(points: Option<&Points>, look: Look) -> Curve {
        match (points, look) {
            (Some(points), _) => Curve::Points(points.clone()),
            // A Boolean model of grains.
            (None, Look::Film) => Curve::Power(0.508, 0.664),
            (None, Look::Pushed) => Curve::Power(0.4, 0.8),
            (None, Look::Print) => Curve::Power(0.75, 0.7),
            (None, Look::Flat) => Curve::Flat,
            (None, Look::Shadows) => Curve::Power(0.35, 1.4),
            (None, Look::Highlights) => Curve::Power(1.4, 0.35),
            (None, Look::Sensor) => Curve::Sensor,
        }
    }
}

/// The part of the strength that grain with these settings has at a brightness, 0 (black) to 1 (white): what a window
/// draws.
pub fn response(values: &Values, brightness: f64) -> f64 {
    Curve::of(values.read::<Option<Points>>("points").as_ref(), values.read("curve")).at(brightness)
}
