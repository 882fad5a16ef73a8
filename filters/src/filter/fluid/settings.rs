//! What can be set.

use super::super::effect::number;
use super::super::overlay::SEED;
use super::MOST;
use crate::settings::{Animated, Choice, Kind, Setting, Unit, Value};

const fn still(
    id: &'static str,
    label: &'static str,
    help: &'static str,
    range: (f64, f64),
    unit: Unit,
    default: f64,
) -> Setting {
    number(id, label, help, range, unit, default)
}

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        id: "scene",
        label: "Scene",
        help: "Which liquid it is. It begins with the source's first frame.",
        kind: Kind::Choice(&[
            Choice { id: "dam", help: "a dam on the left that breaks" },
            Choice { id: "drop", help: "a large drop that falls into a pool" },
            Choice { id: "fountain", help: "a fountain in a basin, without end" },
            Choice { id: "pour", help: "poured from above until the frame is half full, and on" },
            Choice { id: "rain", help: "rain that fills the lower part of the frame, and goes on" },
            Choice { id: "shape", help: "the bright areas of the image `shape` become liquid" },
        ]),
        unit: Unit::None,
        default: Some(Value::Choice("dam")),
    },
    Setting {
        id: "particles",
        label: "Particles",
        help: "How many parcels the liquid has when it is whole: more are finer, and slower, for the steps become more \
               too.",
        kind: Kind::Whole { min: 100, max: MOST },
        unit: Unit::None,
        default: Some(Value::Whole(12_000)),
    },
    still(
        "gravity",
        "Gravity",
        "How strongly it falls, in frame heights a second squared: less looks larger and slower. It does not move.",
        (0.0, 20.0),
        Unit::None,
        1.6,
    ),
    still(
        "viscosity",
        "Viscosity",
        "How thick it is: 0 is water, 1 honey. It does not move.",
        (0.0, 1.0),
        Unit::Fraction,
        0.0,
    ),
    still(
        "tension",
        "Surface tension",
        "How much it draws together: more makes larger drops. It does not move.",
        (0.0, 1.0),
        Unit::Fraction,
        0.3,
    ),
    still(
        "start",
        "Start",
        "How long it has been going on at the source's first frame. It does not move.",
        (0.0, 600.0),
        Unit::Seconds,
        0.0,
    ),
    Setting {
        id: "shape",
        label: "Shape",
        help: "For scene=shape: the image whose bright areas become liquid, laid over the whole frame. What is \
               transparent is dark.",
        kind: Kind::Image,
        unit: Unit::None,
        default: None,
    },
    Setting {
        id: "obstacle",
        label: "Obstacle",
        help: "An image, laid over the whole frame, whose bright areas are solid. What is transparent is dark.",
        kind: Kind::Image,
        unit: Unit::None,
        default: None,
    },
    Setting {
        id: "obstacle_frame",
        label: "Obstacle frame",
        help: "The number of a frame of the source whose bright areas are solid, over the whole clip, in the place of \
               an image.",
        kind: Kind::SourceFrame,
        unit: Unit::Frames,
        default: None,
    },
    Setting {
        id: "solid",
        label: "Solid",
        help: "Which areas of the obstacle are solid.",
        kind: Kind::Choice(&[
            Choice { id: "bright", help: "the bright ones" },
            Choice { id: "dark", help: "the dark ones" },
        ]),
        unit: Unit::None,
        default: Some(Value::Choice("bright")),
    },
    still(
        "threshold",
        "Threshold",
        "How bright the shape and the obstacle are at their edges. It does not move.",
        (0.0, 1.0),
        Unit::Fraction,
        0.5,
    ),
    Setting {
        id: "tint",
        label: "Tint",
        help: "The colour that depth takes on; its alpha is taken times `depth`.",
        kind: Kind::Colour,
        unit: Unit::None,
        default: Some(Value::Colour(Animated::Constant([0.05, 0.33, 0.56, 1.0]))),
    },
    number(
        "depth",
        "Depth",
        "How much of the tint there is where the liquid is deepest: 0 is clear, 1 hides the picture.",
        (0.0, 1.0),
        Unit::Fraction,
        0.55,
    ),
    number(
        "refraction",
        "Refraction",
        "How far the picture behind is bent: 0 not at all, 2 twice as far as water does.",
        (0.0, 4.0),
        Unit::None,
        1.0,
    ),
    number("shine", "Shine", "How bright the lights on the surface are.", (0.0, 1.0), Unit::Fraction, 0.8),
    still(
        "smoothness",
        "Smoothness",
        "How far the surface is drawn round: 0 shows each drop, 1 runs all together. It does not move.",
        (0.0, 1.0),
        Unit::Fraction,
        0.3,
    ),
    still(
        "ripples",
        "Ripples",
        "How ruffled the surface is, from 0, which is smooth as glass. It does not move.",
        (0.0, 4.0),
        Unit::None,
        1.0,
    ),
    Setting {
        id: "draft",
        label: "Draft",
        help: "For a quick look: nothing is bent, and the surface is coarser; it moves as it will.",
        kind: Kind::Switch,
        unit: Unit::None,
        default: Some(Value::Switch(false)),
    },
    SEED,
];
