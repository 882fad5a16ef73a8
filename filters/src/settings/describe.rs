//! What a setting is.

use super::Value;

/// One setting of a filter, as shown to people and checked by machines. Ids are never reused.
#[derive(Clone, Debug)]
pub struct Setting {
    /// What recipes call it: lower case, `-` between words.
    pub id: &'static str,
    /// What a window would call it.
    pub label: &'static str,
    /// One or two sentences: what it does, and what a larger value looks like.
    pub help: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// What a number counts.
    pub unit: Unit,
    /// The value when none is given; `None` when being absent is a meaning of its own (the help says which).
    pub default: Option<Value>,
}

/// The values that a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false` (also `1`, `0`, `yes`, `no`, `on`, `off`).
    Switch,
    /// A whole number that stays the same over the clip.
    Whole {
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
