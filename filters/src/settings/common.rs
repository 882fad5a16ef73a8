//! The settings that the chain handles for filters: those of all filters, and those of several.

use super::{Choice, Constant, Kind, Setting, Unit};

/// The frames in which the filter is active.
pub const ENABLE: &str = "enable";
/// The planes that it filters.
pub const PLANES: &str = "planes";
/// Weight of the filter's result.
pub const OPACITY: &str = "opacity";

/// `enable`, `planes` and `opacity`, in the order of help and printed recipes. No filter may have a setting with
/// one of these names.
pub static COMMON: [Setting; 3] = [
    Setting {
        unit: Unit::Frames,
        label: "Frames",
        ..Setting::new(
            ENABLE,
            "Applies the filter to these frames or times only; other frames pass unchanged. Default: every frame.",
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

/// The seed of a filter that draws random numbers.
pub const SEED: Setting = Setting::new(
    "seed",
    "Start of the random numbers: another seed gives another result of the same kind. Default: it follows from the \
     seed of the render and the place of the filter in the chain.",
    Kind::Seed,
);

/// Keeps the random numbers of a filter the same in every frame.
pub const STATIC: Setting = Setting {
    default: Some(Constant::Switch(false)),
    label: "Same in all frames",
    ..Setting::new(
        "static",
        "Gives every frame the random numbers of frame 0, like dirt on a lens. Interlaced: each field has its own.",
        Kind::Switch,
    )
};

/// The presets of a filter.
pub const fn preset(looks: &'static [Choice], help: &'static str) -> Setting {
    Setting::new("preset", help, Kind::Choice(looks))
}
