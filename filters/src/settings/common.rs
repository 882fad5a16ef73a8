//! The settings that the chain does for filters: those of every filter, and those that several have.

use super::{Choice, Constant, Kind, Setting, Unit};

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
        unit: Unit::Frames,
        ..Setting::new(
            ENABLE,
            "Only in these frames; elsewhere the picture passes unchanged. Without it: in every frame.",
            Kind::Frames,
        )
    },
    Setting::new(
        PLANES,
        "Only on these planes; the others pass unchanged. Without it: those the filter is made for; alpha only where the \
         picture moves as a whole. y, u and v of R, G and B are made for it and turned back.",
        Kind::Planes,
    ),
    Setting {
        unit: Unit::Fraction,
        default: Some(Constant::Number(1.0)),
        ..Setting::new(
            OPACITY,
            "How much of the filter's result is mixed into the picture: 0 is the picture as it was, 1 the result.",
            Kind::Number { min: 0.0, max: 1.0 },
        )
    },
];

/// Of a filter that draws random numbers.
pub const SEED: Setting = Setting::new(
    "seed",
    "Another number gives another result of the same kind. Without it the seed follows from the render's seed and this \
     filter's place in the chain.",
    Kind::Seed,
);

/// Of a filter whose random numbers may stand still.
pub const STATIC: Setting = Setting {
    default: Some(Constant::Switch(false)),
    ..Setting::new(
        "static",
        "Every frame gets the random numbers of frame 0, as dirt on a lens; of interlaced pictures each field its own.",
        Kind::Switch,
    )
};

/// Of a filter that has presets.
pub const fn preset(looks: &'static [Choice], help: &'static str) -> Setting {
    Setting::new("preset", help, Kind::Choice(looks))
}
