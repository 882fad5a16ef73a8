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
            "Applies the filter to these frames only; other frames pass unchanged. Default: every frame.",
            Kind::Frames,
        )
    },
    Setting::new(
        PLANES,
        "Applies the filter to these planes only; other planes pass unchanged. Default: the planes the filter is made for; \
         alpha only where the whole picture moves. On RGB, y, u and v are converted there and back.",
        Kind::Planes,
    ),
    Setting {
        unit: Unit::Fraction,
        default: Some(Constant::Number(1.0)),
        ..Setting::new(
            OPACITY,
            "Share of the result that is mixed into the picture: 0 is the input, 1 is the result.",
            Kind::Number { min: 0.0, max: 1.0 },
        )
    },
];

/// Of a filter that draws random numbers.
pub const SEED: Setting = Setting::new(
    "seed",
    "Start of the random numbers: another seed gives another result of the same kind. Default: it follows from the \
     seed of the render and the place of the filter in the chain.",
    Kind::Seed,
);

/// Of a filter whose random numbers may stand still.
pub const STATIC: Setting = Setting {
    default: Some(Constant::Switch(false)),
    ..Setting::new(
        "static",
        "Gives every frame the random numbers of frame 0, like dirt on a lens. Interlaced: each field has its own.",
        Kind::Switch,
    )
};

/// Of a filter that has presets.
pub const fn preset(looks: &'static [Choice], help: &'static str) -> Setting {
    Setting::new("preset", help, Kind::Choice(looks))
}
