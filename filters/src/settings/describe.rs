//! What a setting is.

use super::Value;

/// One setting of a filter, as shown to people and checked by machines. Ids are never reused.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// What recipes call it: lower case, `-` between words.
    pub id: &'static str,
    /// What a window calls it; empty where that is the id in other letters. See [`label`](Setting::label).
    pub label: &'static str,
    /// One or two sentences: what it does, and what a larger value looks like.
    pub help: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// What a number counts.
    pub unit: Unit,
    /// The value when none is given; `None` when being absent is a meaning of its own (the help says which).
    pub default: Option<Constant>,
    /// The heading that a window puts it under; empty for none.
    pub group: &'static str,
    /// The part of the range that a slider spans, where that is not all of it.
    pub soft: Option<(f64, f64)>,
    /// What one step of a slider changes.
    pub step: Option<f64>,
    /// Whether a slider goes by ratios.
    pub logarithmic: bool,
    /// What another setting must be for this one to matter.
    pub only_when: Option<OnlyWhen>,
}

impl Setting {
    /// A setting of which nothing else is to be said.
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

    /// What a window calls it: `Crop left` for `crop-left`.
    pub fn label(&self) -> String {
        if !self.label.is_empty() {
            return self.label.into();
        }
        let text = self.id.replace(['-', '_'], " ");
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
    /// Of a [`Kind::Switch`].
    Switch(bool),
    /// Of a [`Kind::Integer`].
    Integer(i64),
    /// Of a [`Kind::Number`] or [`Kind::Fixed`].
    Number(f64),
    /// Of a [`Kind::Choice`].
    Choice(&'static str),
    /// Of a [`Kind::Position`].
    Position([f64; 2]),
    /// Of a [`Kind::Colour`].
    Colour([f64; 4]),
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
        }
    }
}

/// A condition under which a setting matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnlyWhen {
    /// The id of the setting that it is about.
    pub setting: &'static str,
    /// The words that it may be.
    pub words: &'static [&'static str],
    /// Whether it is an error to give the setting otherwise.
    pub refused: bool,
}

/// The values that a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false` (also `1`, `0`, `yes`, `no`, `on`, `off`).
    Switch,
    /// A whole number that stays the same over the clip.
    Integer {
        /// Lowest.
        min: i64,
        /// Highest.
        max: i64,
    },
    /// A number that may move (a constant or a curve).
    Number {
        /// Lowest.
        min: f64,
        /// Highest.
        max: f64,
    },
    /// A number that stays the same over the clip.
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
    /// A place in the picture that may move: `x,y`.
    Position {
        /// Lowest coordinate.
        min: f64,
        /// Highest coordinate.
        max: f64,
    },
    /// A colour that may move: `#rrggbb`, `#rrggbbaa`, a name, or numbers from 0 to 1.
    Colour,
    /// Frame numbers: `1001-1100`, `1-10x2`, `0-48+96-`.
    Frames,
    /// Planes: `y`, `uv`, `rgb`, `a`, `0`, `all`.
    Planes,
    /// An image file, by its name. Whoever hosts the filters reads it and hands the picture in.
    Image,
    /// An effect file, by its name. Whoever hosts the filters reads it and hands in what it says.
    Effect,
    /// A film grain table, by its file's name. Whoever hosts the filters reads it and hands in what it says.
    GrainTable,
    /// A frame of the source, by its number. Whoever hosts the filters reads it and hands it in, grey, as an image.
    SourceFrame,
    /// Points of a function of 0..1, by straight lines between them: `0=0;0.4=1;1=0.2` (x=y, x growing).
    Points {
        /// Lowest y.
        min: f64,
        /// Highest y.
        max: f64,
    },
}

/// One word of a [`Kind::Choice`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The word.
    pub id: &'static str,
    /// What it means.
    pub help: &'static str,
    /// What a preset says of other settings, as in a chain: `strength=2.2:size=0.8`. Empty for other words.
    pub sets: &'static str,
}

impl Choice {
    /// A word.
    pub const fn new(id: &'static str, help: &'static str) -> Choice {
        Choice { id, help: help.trim_ascii(), sets: "" }
    }

    /// A word that stands for values of other settings.
    pub const fn preset(id: &'static str, help: &'static str, sets: &'static str) -> Choice {
        Choice { sets, ..Choice::new(id, help) }
    }
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nothing in particular.
    None,
    /// Code values of an 8-bit picture, whatever the real depth: 1 is 1/255 of full scale.
    Code8,
    /// Luma samples.
    Pixels,
    /// Frames.
    Frames,
    /// Seconds.
    Seconds,
    /// Degrees.
    Degrees,
    /// A part of one.
    Fraction,
}

impl Unit {
    /// What stands behind the number in help.
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
    /// Whether a curve may stand for the value.
    pub const fn animatable(self) -> bool {
        matches!(self, Kind::Number { .. } | Kind::Position { .. } | Kind::Colour)
    }
}
