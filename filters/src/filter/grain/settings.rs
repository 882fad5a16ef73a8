//! What the user can set, and the presets.

use crate::settings::{Animated, Choice, Kind, Points, Setting, SettingError, Unit, Value, Values};

/// The most that a curve may raise grain above its strength.
const MOST: f64 = 1.0;

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        id: "preset",
        label: "Preset",
        help: "Strength, size, sharpness, chroma and curve in one word. What is typed beside it wins.",
        kind: Kind::Choice(&[
            Choice { id: "light", help: "takes the smoothness off a clean picture" },
            Choice { id: "medium", help: "plain to see, as in a film of today" },
            Choice { id: "heavy", help: "grain as a look" },
            Choice { id: "fine-35mm", help: "slow 35 mm stock in good light" },
            Choice { id: "35mm", help: "35 mm stock as usual" },
            Choice { id: "16mm", help: "16 mm, as in documentaries" },
            Choice { id: "super8", help: "home movies: coarse, soft and strong" },
            Choice { id: "high-speed", help: "fast stock, pushed: strong, crisp, with much colour" },
            Choice {
                id: "digital-iso",
                help: "a digital camera at high ISO: fine, coloured, in the shadows",
            },
        ]),
        unit: Unit::None,
        default: None,
    },
    Setting {
        id: "strength",
        label: "Strength",
        help: "How strong: the standard deviation in 8-bit code values where the curve is at its peak, whatever the \
               depth. 2 is barely seen, 4 is plain, 10 is heavy. When absent it is the preset's, or 4.",
        kind: Kind::Number { min: 0.0, max: 100.0 },
        unit: Unit::Code8,
        default: None,
    },
    Setting {
        id: "size",
        label: "Size",
        help: "How coarse, as seen with the picture 1920 wide: it grows with the picture, so that the look stays. 0 \
               is as fine as the pixels, 1 is film, above 2 it clumps. When absent it is the preset's, or 1.",
        kind: Kind::Number { min: 0.0, max: 16.0 },
        unit: Unit::None,
        default: None,
    },
    Setting {
        id: "sharpness",
        label: "Sharpness",
        help: "Of the grain itself: -1 is soft, 1 crisp, at the same strength. When absent it is the preset's, or 0.",
        kind: Kind::Number { min: -1.0, max: 1.0 },
        unit: Unit::None,
        default: None,
    },
    Setting {
        id: "chroma",
        label: "Chroma",
        help: "How coloured: in YUV the strength of the grain of U and V as a part of luma's, in RGB the part of the \
               grain that each channel has for itself (1: all of it). When absent it is the preset's, or 0.6.",
        kind: Kind::Number { min: 0.0, max: 2.0 },
        unit: Unit::None,
        default: None,
    },
    Setting {
        id: "monochrome",
        label: "Monochrome",
        help: "Grain in brightness alone: none in U and V, the same in R, G and B.",
        kind: Kind::Switch,
        unit: Unit::None,
        default: Some(Value::Switch(false)),
    },
    Setting {
        id: "curve",
        label: "Curve",
        help: "How the grain follows the brightness of the source (for chroma, of the luma around it; for R, G and B \
               of the channel itself). When absent it is the preset's, or film; with `points` these.",
        kind: Kind::Choice(&[
            Choice {
                id: "film",
                help: "as grains of silver do: most below the middle, none in black and white",
            },
            Choice { id: "flat", help: "the same everywhere" },
            Choice { id: "shadows", help: "most in the dark, none in black and white" },
            Choice { id: "highlights", help: "most in the light, none in black and white" },
        ]),
        unit: Unit::None,
        default: None,
    },
    Setting {
        id: "points",
        label: "Points",
        help: "A curve of your own: brightness = part of the strength, both 0 to 1, with straight lines between, as in \
               0=0;0.3=1;1=0.2. In the place of `curve`.",
        kind: Kind::Points { min: 0.0, max: MOST },
        unit: Unit::None,
        default: None,
    },
    Setting {
        id: "temporal",
        label: "Temporal",
        help: "How much of a frame's grain stays in the next one: the correlation of neighbouring frames. 0, as film \
               has it, is the fastest; 0.3 calms grain down; each step up costs more frames of noise.",
        kind: Kind::Number { min: 0.0, max: 0.9 },
        unit: Unit::Fraction,
        default: Some(Value::Number(Animated::Constant(0.0))),
    },
    Setting {
        id: "hold",
        label: "Hold",
        help: "So many frames show the same grain before it changes, for animation on twos or threes.",
        kind: Kind::Whole { min: 1, max: 1000 },
        unit: Unit::Frames,
        default: Some(Value::Whole(1)),
    },
    Setting {
        id: "static",
        label: "Static",
        help: "Every frame gets the grain of frame 0.",
        kind: Kind::Switch,
        unit: Unit::None,
        default: Some(Value::Switch(false)),
    },
    Setting {
        id: "seed",
        label: "Seed",
        help: "Another number gives other grain of the same kind. When absent it follows from the render's seed and \
               this filter's place in the chain.",
        kind: Kind::Seed,
        unit: Unit::None,
        default: None,
    },
    Setting {
        id: "generator",
        label: "Generator",
        help: "Where the random numbers come from.",
        kind: Kind::Choice(&[
            Choice { id: "xs64", help: "registers of 64 bits, whose numbers stand up to any statistics" },
            Choice { id: "lfsr31", help: "shift registers of 31 bits" },
        ]),
        unit: Unit::None,
        default: Some(Value::Choice("xs64")),
    },
    Setting {
        id: "protect",
        label: "Protect",
        help: "Keeps legal samples legal (in limited range 16 to 235, chroma to 240). Without it grain may use all \
               codes.",
        kind: Kind::Switch,
        unit: Unit::None,
        default: Some(Value::Switch(true)),
    },
    Setting {
        id: "space",
        label: "Space",
        help: "What the samples stand for, and so where in them the curve's black and white lie.",
        kind: Kind::Choice(&[
            Choice {
                id: "auto",
                help: "as the transfer characteristic is tagged (PQ and HLG too), else video",
            },
            Choice { id: "video", help: "brightness as displayed" },
            Choice { id: "linear", help: "scene-linear light: grain is added on a logarithmic scale" },
            Choice { id: "log", help: "a camera's or scanner's logarithmic code, black at 95 of 1023" },
        ]),
        unit: Unit::None,
        default: Some(Value::Choice("auto")),
    },
];

/// What a preset says.
struct Preset {
    name: &'static str,
    strength: f64,
    size: f64,
    sharpness: f64,
    chroma: f64,
    curve: &'static str,
}

const fn preset(
    name: &'static str,
    [strength, size, sharpness, chroma]: [f64; 4],
    curve: &'static str,
) -> Preset {
    Preset { name, strength, size, sharpness, chroma, curve }
}

/// When none is named.
const PLAIN: Preset = preset("", [4.0, 1.0, 0.0, 0.6], "film");

const PRESETS: [Preset; 9] = [
    preset("light", [2.2, 0.8, 0.0, 0.5], "film"),
    preset("medium", [4.5, 1.0, 0.0, 0.6], "film"),
    preset("heavy", [9.0, 1.3, 0.0, 0.6], "film"),
    preset("fine-35mm", [2.4, 0.6, 0.3, 0.5], "film"),
    preset("35mm", [4.0, 1.0, 0.1, 0.6], "film"),
    preset("16mm", [7.0, 1.8, 0.0, 0.55], "film"),
    preset("super8", [9.0, 2.8, -0.5, 0.35], "film"),
    preset("high-speed", [9.0, 1.5, 0.4, 0.7], "film"),
    preset("digital-iso", [5.0, 0.4, 0.2, 0.9], "shadows"),
];

/// Where the curve comes from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Curve {
    /// 17 points, in 1/255.
    Table(&'static [u8; 17]),
    /// The user's.
    Points(Points),
}

/// A Boolean model of grains: sd ~ u^.508 (1-u)^.664.
const FILM: [u8; 17] = [0, 133, 181, 212, 232, 246, 253, 255, 252, 245, 234, 217, 196, 168, 134, 87, 0];
const FLAT: [u8; 17] = [255; 17];
/// u^.35 (1-u)^1.4.
const SHADOWS: [u8; 17] = [0, 212, 245, 255, 252, 241, 225, 205, 182, 157, 132, 105, 79, 55, 32, 12, 0];
const HIGHLIGHTS: [u8; 17] = [0, 12, 32, 55, 79, 105, 132, 157, 182, 205, 225, 241, 252, 255, 245, 212, 0];

impl Curve {
    /// The part of the strength at brightness u, 0 to 1.
    pub(super) fn at(&self, u: f64) -> f64 {
        match self {
            Curve::Points(points) => points.at(u),
            Curve::Table(table) => {
                let place = u.clamp(0.0, 1.0) * 16.0;
                let i = (place as usize).min(15);
                let (low, high) = (f64::from(table[i]), f64::from(table[i + 1]));
                (low + (high - low) * (place - i as f64)) / 255.0
            }
        }
    }

    /// Whether it is straight between sixteenths.
    pub(super) fn has_nodes(&self) -> bool {
        matches!(self, Curve::Table(_))
    }
}

/// What samples stand for, as asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Asked {
    Auto,
    Video,
    Linear,
    Log,
}

/// All of it, presets applied.
pub(super) struct Settings {
    pub(super) strength: Animated,
    pub(super) size: Animated,
    pub(super) sharpness: Animated,
    pub(super) chroma: Animated,
    pub(super) monochrome: bool,
    pub(super) curve: Curve,
    pub(super) temporal: Animated,
    pub(super) hold: i64,
    pub(super) fixed: bool,
    pub(super) seed: Option<u64>,
    pub(super) xs64: bool,
    pub(super) protect: bool,
    pub(super) space: Asked,
}

pub(super) fn read(values: &Values) -> Result<Settings, SettingError> {
    let preset = match values.get("preset") {
        Some(Value::Choice(name)) => PRESETS.iter().find(|p| p.name == *name).unwrap_or(&PLAIN),
        _ => &PLAIN,
    };
    let number = |id: &str, preset: f64| match values.given(id) {
        Some(_) => values.number(id),
        None => Animated::Constant(preset),
    };
    let curve = match (values.points("points"), values.get("curve")) {
        (Some(_), Some(_)) => {
            return Err(SettingError {
                setting: "points",
                problem: "stand in the place of the curve: give one of the two".into(),
            });
        }
        (Some(points), None) => Curve::Points(points.clone()),
        (None, curve) => {
            let name = if let Some(Value::Choice(name)) = curve { *name } else { preset.curve };
            Curve::Table(match name {
                "flat" => &FLAT,
                "shadows" => &SHADOWS,
                "highlights" => &HIGHLIGHTS,
                _ => &FILM,
            })
        }
    };
    Ok(Settings {
        strength: number("strength", preset.strength),
        size: number("size", preset.size),
        sharpness: number("sharpness", preset.sharpness),
        chroma: number("chroma", preset.chroma),
        monochrome: values.switch("monochrome"),
        curve,
        temporal: values.number("temporal"),
        hold: values.whole("hold"),
        fixed: values.switch("static"),
        seed: values.seed("seed"),
        xs64: values.choice("generator") == "xs64",
        protect: values.switch("protect"),
        space: match values.choice("space") {
            "video" => Asked::Video,
            "linear" => Asked::Linear,
            "log" => Asked::Log,
            _ => Asked::Auto,
        },
    })
}
