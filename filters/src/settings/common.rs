//! The settings that every filter takes, because the chain itself does them.

use super::{Animated, Kind, Setting, Unit, Value};

/// Only in these frames.
pub const ENABLE: &str = "enable";
/// Only on these planes.
pub const PLANES: &str = "planes";
/// How much of the filter's result is taken.
pub const OPACITY: &str = "opacity";

/// `enable`, `planes` and `opacity`, in the order help lists and recipes print them. No filter may have a setting
/// of its own by one of these names.
pub static COMMON: [Setting; 3] = [
    Setting {
        id: ENABLE,
        label: "Enable",
        help: "Only in these frames; elsewhere the picture passes unchanged. Without it: in every frame.",
        kind: Kind::Frames,
        unit: Unit::Frames,
        default: None,
    },
    Setting {
        id: PLANES,
        label: "Planes",
        help: "Only on these planes; the others pass unchanged. Without it: those the filter is made for; alpha only \
               where the picture moves as a whole. y, u and v of R, G and B are made for it and turned back.",
        kind: Kind::Planes,
        unit: Unit::None,
        default: None,
    },
    Setting {
        id: OPACITY,
        label: "Opacity",
        help: "How much of the filter's result is mixed into the picture: 0 is the picture as it was, 1 the result.",
        kind: Kind::Number { min: 0.0, max: 1.0 },
        unit: Unit::Fraction,
        default: Some(Value::Number(Animated::Constant(1.0))),
    },
];
