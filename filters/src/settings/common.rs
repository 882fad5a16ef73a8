//! The settings that the chain handles for filters: those of all filters, and those of several.

use super::{Choice, Constant, FileKind, Kind, OnlyWhen, Setting, Unit};

/// The frames in which the filter is active.
pub const ENABLE: &str = "enable";
/// The planes that it filters.
pub const PLANES: &str = "planes";
/// Weight of the filter's result.
pub const OPACITY: &str = "opacity";

/// The mask: a file, or one of [`FileKind::words`].
pub const MASK: &str = "mask";
/// The middle of a placed mask.
pub const MASK_AT: &str = "mask_at";
/// The width of a placed mask.
pub const MASK_WIDTH: &str = "mask_width";
/// The height of a placed mask.
pub const MASK_HEIGHT: &str = "mask_height";
/// The largest ratio of width to height of a placed mask.
pub const MASK_MAX_ASPECT: &str = "mask_max_aspect";
/// The roundness of the corners of a rectangle.
pub const MASK_ROUND: &str = "mask_round";
/// Sigma of the blur of the mask.
pub const MASK_FEATHER: &str = "mask_feather";
/// Whether the mask is inverted.
pub const MASK_INVERT: &str = "mask_invert";
/// The lowest luma or alpha in the mask.
pub const MASK_LOW: &str = "mask_low";
/// The highest luma or alpha in the mask.
pub const MASK_HIGH: &str = "mask_high";
/// The colour of a colour key.
pub const MASK_COLOR: &str = "mask_color";
/// The tolerance of a colour key.
pub const MASK_NEAR: &str = "mask_near";
/// The width of the transitions of a key.
pub const MASK_SOFT: &str = "mask_soft";
/// The clip from which the picture has to differ.
pub const WHERE: &str = "where";
/// The least difference from that clip.
pub const WHERE_OVER: &str = "where_over";

/// A number of a mask.
const fn mask_number(id: &'static str, help: &'static str, range: (f64, f64), default: f64) -> Setting {
    let (min, max) = range;
    Setting {
        default: Some(Constant::Number(default)),
        group: "Mask",
        ..Setting::new(id, help, Kind::Number { min, max })
    }
}

/// A fraction of a mask.
const fn mask_part(id: &'static str, help: &'static str, range: (f64, f64), default: f64) -> Setting {
    Setting { unit: Unit::Fraction, soft: Some((0.0, 1.0)), ..mask_number(id, help, range, default) }
}

/// What only masks of these words have.
const fn of_masks(words: &'static [&'static str]) -> Option<OnlyWhen> {
    Some(OnlyWhen { setting: MASK, words, refused: false })
}

/// The settings of all filters, in the order of help and printed recipes. No filter may have a setting with one of these
/// names.
pub static COMMON: [Setting; 18] = [
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
    Setting {
        group: "Mask",
        ..Setting::new(
            MASK,
            "Applies the filter only where a mask is white. The mask is a picture, sequence or video (its luma times its \
             alpha, stretched over the picture), a drawn `ellipse` or `rectangle`, or a key of the picture before the \
             filter: its `alpha`, a range of its `luma`, or a `color` and its neighbours. For a file with such a name \
             write `./luma`.",
            Kind::File(FileKind::Mask),
        )
    },
    Setting {
        default: Some(Constant::Position([0.5, 0.5])),
        unit: Unit::Fraction,
        soft: Some((0.0, 1.0)),
        group: "Mask",
        ..Setting::new(
            MASK_AT,
            "Middle of a mask that is a file or drawn, in fractions of width and height: 0.5,0.5 is the middle of the \
             picture.",
            Kind::Position { min: -9.0, max: 10.0 },
        )
    },
    mask_part(
        MASK_WIDTH,
        "Width of a mask that is a file or drawn, in fractions of the picture's. Beyond it the mask is black.",
        (0.01, 100.0),
        1.0,
    ),
    mask_part(MASK_HEIGHT, "Height of such a mask, in fractions of the picture's.", (0.01, 100.0), 1.0),
    Setting {
        soft: Some((0.5, 3.0)),
        group: "Mask",
        ..Setting::new(
            MASK_MAX_ASPECT,
            "Largest ratio of width to height of such a mask, as displayed: a wider one becomes narrower. With 1.333 a \
             frame is 4:3 on wide pictures, and as narrow as the picture on narrower ones. Default: any ratio.",
            Kind::Fixed { min: 0.1, max: 10.0 },
        )
    },
    Setting {
        only_when: of_masks(&["rectangle"]),
        ..mask_part(
            MASK_ROUND,
            "Radius of the corners of `mask=rectangle`, as a part of half of its shorter side.",
            (0.0, 1.0),
            0.0,
        )
    },
    Setting {
        unit: Unit::Pixels,
        soft: Some((0.0, 100.0)),
        ..mask_number(
            MASK_FEATHER,
            "Softens the mask by a Gaussian of this sigma, in samples of a picture 1920 wide.",
            (0.0, 500.0),
            0.0,
        )
    },
    Setting {
        default: Some(Constant::Switch(false)),
        group: "Mask",
        ..Setting::new(MASK_INVERT, "Applies the filter where the mask is black.", Kind::Switch)
    },
    Setting {
        only_when: of_masks(&["luma", "alpha"]),
        ..mask_part(MASK_LOW, "For `luma` and `alpha`: the lowest value in the mask.", (0.0, 1.0), 0.5)
    },
    Setting {
        only_when: of_masks(&["luma", "alpha"]),
        ..mask_part(MASK_HIGH, "For `luma` and `alpha`: the highest value in the mask.", (0.0, 1.0), 1.0)
    },
    Setting {
        default: Some(Constant::Colour([0.0, 1.0, 0.0, 1.0])),
        group: "Mask",
        only_when: of_masks(&["color"]),
        ..Setting::new(
            MASK_COLOR,
            "For `mask=color`: the colour, whose brightness does not matter.",
            Kind::Colour,
        )
    },
    Setting {
        only_when: of_masks(&["color"]),
        ..mask_number(
            MASK_NEAR,
            "For `mask=color`: the largest distance of colours in the mask, in the plane of colour differences. White is \
             about 0.5 from pure blue and red, 0.6 from pure green.",
            (0.0, 1.0),
            0.1,
        )
    },
    Setting {
        only_when: of_masks(&["luma", "alpha", "color"]),
        ..mask_number(
            MASK_SOFT,
            "For `luma`, `alpha` and `color`: the distance beyond the range or colour at which the mask ends. 0 is a hard \
             edge.",
            (0.0, 1.0),
            0.1,
        )
    },
    Setting {
        group: "Mask",
        ..Setting::new(
            WHERE,
            "Applies the filter only where the picture differs from this clip of the same size: grain on a composite, \
             for example, where it differs from the plate that still has its grain. The transition is soft. It replaces \
             `mask`; `mask_feather` and `mask_invert` apply.",
            Kind::File(FileKind::Clip),
        )
    },
    Setting {
        unit: Unit::Code8,
        soft: Some((0.0, 16.0)),
        ..mask_number(
            WHERE_OVER,
            "For `where`: the difference, in the mean around each sample, up to which the pictures count as equal. From \
             twice as much on the filter applies fully.",
            (0.0, 255.0),
            2.0,
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
