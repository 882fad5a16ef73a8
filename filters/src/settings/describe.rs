//! Descriptions of settings.

use super::Value;

/// The description of a setting, for display and for checks. Ids are never reused.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The name in recipes: lower case, `-` between words.
    pub id: &'static str,
    /// The label in a window; empty if it follows from the id. See [`label`](Setting::label).
    pub label: &'static str,
    /// One or two sentences: what the setting does, and the effect of a larger value.
    pub help: &'static str,
    /// The kind of its values.
    pub kind: Kind,
    /// The unit of a number.
    pub unit: Unit,
    /// The value if none is given; `None` if absence has its own meaning, which the help explains.
    pub default: Option<Constant>,
    /// The heading of its group in a window; empty for none.
    pub group: &'static str,
    /// The part of the range that a slider spans, if not all of it.
    pub soft: Option<(f64, f64)>,
    /// The change per step of a slider.
    pub step: Option<f64>,
    /// Whether the slider is logarithmic.
    pub logarithmic: bool,
    /// The condition on another setting for this one to have an effect.
    pub only_when: Option<OnlyWhen>,
}

impl Setting {
    /// A setting without label, unit, default, group or condition.
    pub const fn new(id: &'static str, help: &'static str, kind: Kind) -> Setting {
        Setting {
            id,
            label: "",
            help,
            kind,
            unit: Unit::None,
            default: None,
            group: "",
            soft: None,
            step: None,
            logarithmic: false,
            only_when: None,
        }
    }

    /// The label in a window: `Crop left` for `crop-left`, and `Edge colour` for `edge-color`, as all text is spelled.
    pub fn label(&self) -> String {
        if !self.label.is_empty() {
            return self.label.into();
        }
        let text = self.id.replace(['-', '_'], " ").replace("color", "colour");
        text[..1].to_ascii_uppercase() + &text[1..]
    }

    /// The default as a value.
    pub fn default(&self) -> Option<Value> {
        self.default.map(Value::from)
    }
}

/// A default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    /// For [`Kind::Switch`].
    Switch(bool),
    /// For [`Kind::Integer`].
    Integer(i64),
    /// For [`Kind::Number`] or [`Kind::Fixed`].
    Number(f64),
    /// For [`Kind::Choice`].
    Choice(&'static str),
    /// For [`Kind::Position`].
    Position([f64; 2]),
    /// For [`Kind::Colour`].
    Colour([f64; 4]),
    /// For [`Kind::Text`].
    Text(&'static str),
}

impl From<Constant> for Value {
    fn from(constant: Constant) -> Value {
        match constant {
            Constant::Switch(v) => Value::Switch(v),
            Constant::Integer(v) => Value::Integer(v),
            Constant::Number(v) => Value::Number(v.into()),
            Constant::Choice(v) => Value::Choice(v),
            Constant::Position(v) => Value::Position(v.into()),
            Constant::Colour(v) => Value::Colour(v.into()),
            Constant::Text(v) => Value::Text(v.into()),
        }
    }
}

/// A condition for a setting to have an effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnlyWhen {
    /// The id of the other setting.
    pub setting: &'static str,
    /// The words that it must have.
    pub words: &'static [&'static str],
    /// Whether giving the setting otherwise is an error.
    pub refused: bool,
}

/// The values that a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false` (also `1`, `0`, `yes`, `no`, `on`, `off`).
    Switch,
    /// An integer that is constant over the clip.
    Integer {
        /// Lowest.
        min: i64,
        /// Highest.
        max: i64,
    },
    /// A number that can be animated (a constant or a curve).
    Number {
        /// Lowest.
        min: f64,
        /// Highest.
        max: f64,
    },
    /// A number that is constant over the clip.
    Fixed {
        /// Lowest.
        min: f64,
        /// Highest.
        max: f64,
    },
    /// An unsigned 64-bit number, decimal or `0x` hex.
    Seed,
    /// One of a few words.
    Choice(&'static [Choice]),
    /// A position in the picture that can be animated: `x,y`.
    Position {
        /// Lowest coordinate.
        min: f64,
        /// Highest coordinate.
        max: f64,
    },
    /// A colour that can be animated: `#rrggbb`, `#rrggbbaa`, a name, or numbers from 0 to 1.
    Colour,
    /// Text that only the filter understands.
    Text,
    /// Frame numbers: `1001-1100`, `1-10x2`, `0-48+96-`.
    Frames,
    /// Planes: `y`, `uv`, `rgb`, `a`, `0`, `all`.
    Planes,
    /// The name of an image file, which the host reads.
    Image,
    /// The name of a file of another kind, which the host reads.
    File(FileKind),
    /// The number of a frame of the source, which the host supplies in R, G and B, 8 bits.
    SourceFrame,
    /// Points of a function of 0..1, connected by straight lines: `0=0;0.4=1;1=0.2` (x=y, x increasing).
    Points {
        /// Lowest y.
        min: f64,
        /// Highest y.
        max: f64,
    },
}

/// The contents of a file that only the filter understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// An effect.
    Effect,
    /// A film grain table.
    GrainTable,
    /// A clip or picture of grain, read as a [`Plate`](crate::plate::Plate).
    GrainPlate,
    /// Tracks.
    TrackFile,
    /// A TrueType or OpenType font, read as a [`Font`](crate::font::Font).
    Font,
    /// A look-up table of colours, read as a [`Lut`](crate::lut::Lut).
    Lut,
    /// A picture, sequence or video, read as an [`Arc`](std::sync::Arc) of a [`SecondInput`](crate::frame::SecondInput).
    Clip,
    /// The same, or one of its [`words`](FileKind::words).
    Mask,
}

impl FileKind {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            FileKind::Effect => "effect",
            FileKind::GrainTable => "grain table",
            FileKind::GrainPlate => "grain plate",
            FileKind::TrackFile => "track file",
            FileKind::Font => "font",
            FileKind::Lut => "look-up table",
            FileKind::Clip => "clip",
            FileKind::Mask => "mask",
        }
    }

    /// What a user is asked for.
    pub const fn help(self) -> &'static str {
        match self {
            FileKind::Effect => "the name of an effect file",
            FileKind::GrainTable => "the name of a film grain table",
            FileKind::GrainPlate => "the name of a clip or picture of grain",
            FileKind::TrackFile => "the name of a track file",
            FileKind::Font => "the name of a font file (.ttf, .otf)",
            FileKind::Lut => "the name of a look-up table (.cube)",
            FileKind::Clip => "the name of a picture, sequence or video",
            FileKind::Mask => {
                "the name of a picture, sequence or video, or ellipse, rectangle, alpha, luma or color"
            }
        }
    }

    /// Words that stand for something that is no file.
    pub const fn words(self) -> &'static [&'static str] {
        match self {
            FileKind::Mask => &["ellipse", "rectangle", "alpha", "luma", "color"],
            _ => &[],
        }
    }
}

/// One word of a [`Kind::Choice`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The word.
    pub id: &'static str,
    /// The meaning of the word.
    pub help: &'static str,
    /// The settings of a preset, as in a chain: `strength=2.2:size=0.8`. Empty for other words.
    pub sets: &'static str,
}

impl Choice {
    /// A word of a choice.
    pub const fn new(id: &'static str, help: &'static str) -> Choice {
        Choice { id, help: help.trim_ascii(), sets: "" }
    }

    /// A preset: a word that sets other settings.
    pub const fn preset(id: &'static str, help: &'static str, sets: &'static str) -> Choice {
        Choice { sets, ..Choice::new(id, help) }
    }
}

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// No unit.
    None,
    /// Code values of an 8-bit picture at any depth: 1 is 1/255 of full scale.
    Code8,
    /// Luma samples.
    Pixels,
    /// Frames.
    Frames,
    /// Seconds.
    Seconds,
    /// Degrees.
    Degrees,
    /// A fraction of 1.
    Fraction,
}

impl Unit {
    /// The text after the number in help.
    pub const fn text(self) -> &'static str {
        match self {
            Unit::None => "",
            Unit::Code8 => "8-bit code values",
            Unit::Pixels => "pixels",
            Unit::Frames => "frames",
            Unit::Seconds => "seconds",
            Unit::Degrees => "degrees",
            Unit::Fraction => "0 to 1",
        }
    }
}

impl Kind {
    /// Whether a name of a file is one of the words that stand for something else.
    pub fn is_word(self, name: &str) -> bool {
        matches!(self, Kind::File(kind) if kind.words().contains(&name))
    }

    /// The number of a clip that a host gives, for the name `clip:0`, `clip:1` and so on of a second input.
    pub fn clip_number(self, name: &str) -> Option<usize> {
        let is_clip = matches!(self, Kind::File(FileKind::Clip | FileKind::Mask));
        name.strip_prefix("clip:").filter(|_| is_clip)?.parse().ok()
    }

    /// Whether the value may be a curve.
    pub const fn animatable(self) -> bool {
        matches!(self, Kind::Number { .. } | Kind::Position { .. } | Kind::Colour)
    }
}
