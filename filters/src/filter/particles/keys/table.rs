//! The table of keys.

use super::super::effect::{Appearance, Emission, Layer, Page, Side, SpawnArea, Sprite, Tint};
use super::{Key, KeyType, KeyValue, exact};
use crate::particle::draw::Blend;
use crate::settings::{Choice, ChoiceEnum};

const PLACES: &[Choice] = &[
    Choice::new(
        "volume",
        "anywhere in view between two depths; particles that drift out come in on the other side",
    ),
    Choice::new("tunnel", "the same, and particles that pass the camera start again at the far end"),
    Choice::new("box", "in a box, which may be a line or a point"),
    Choice::new("disc", "in a disc"),
    Choice::new("edge", "just beyond an edge of the frame"),
    Choice::new("mask", "where an image, stretched over the frame, is bright"),
    Choice::new("path", "at a point that follows a curve"),
];

const SIDES: &[Choice] = &[
    Choice::new("top", "above"),
    Choice::new("bottom", "below"),
    Choice::new("left", "on the left"),
    Choice::new("right", "on the right"),
];

const SHAPES: &[Choice] = &[
    Choice::new("disc", "a disc"),
    Choice::new("ring", "a ring"),
    Choice::new("polygon", "a convex polygon"),
    Choice::new("hair", "a thin curved line in the first of the colours"),
    Choice::new("sprite", "an image with its own colours"),
];

const PAGES: &[Choice] = &[
    Choice::new("chance", "a random one"),
    Choice::new("life", "from the first at birth to the last at death"),
    Choice::new("time", "in turn, from a random first one"),
];

/// The largest number of columns and rows of a flip-book.
const MAX_PAGES: u64 = 32;

const COLOURINGS: &[Choice] = &[
    Choice::new("one", "a random one of the colours"),
    Choice::new("mix", "a random mix of the first and the last"),
    Choice::new("life", "from the first at birth to the last at death"),
];

macro_rules! number {
    ($id:literal, $field:ident $([$n:literal])?, $min:expr, $max:expr, $unit:literal, $help:literal) => {
        Key {
            id: $id,
            key_type: KeyType::Number { min: $min, max: $max },
            unit: $unit,
            help: $help,
            get: |l| Some(KeyValue::Number(exact(l.$field $([$n])?))),
            set: Some(|l, i| if let KeyValue::Number(v) = i { l.$field $([$n])? = *v as f32 }),
        }
    };
}

macro_rules! spread {
    ($id:literal, $field:ident, $min:expr, $max:expr, $unit:literal, $help:literal) => {
        Key {
            id: $id,
            key_type: KeyType::Spread { min: $min, max: $max },
            unit: $unit,
            help: $help,
            get: |l| Some(KeyValue::Spread(l.$field)),
            set: Some(|l, i| {
                if let KeyValue::Spread(s) = i {
                    l.$field = *s
                }
            }),
        }
    };
}

macro_rules! numbers {
    ($id:literal, $field:ident, $count:literal, $min:expr, $max:expr, $unit:literal, $help:literal) => {
        Key {
            id: $id,
            key_type: KeyType::Numbers { count: $count, min: $min, max: $max },
            unit: $unit,
            help: $help,
            get: |l| Some(KeyValue::Numbers(l.$field.map(exact).to_vec())),
            set: Some(|l, i| {
                if let KeyValue::Numbers(all) = i {
                    l.$field.iter_mut().zip(all).for_each(|(f, v)| *f = *v as f32);
                }
            }),
        }
    };
}

macro_rules! over {
    ($id:literal, $field:ident, $max:expr, $help:literal) => {
        Key {
            id: $id,
            key_type: KeyType::Over { max: $max },
            unit: "",
            help: $help,
            get: |l| Some(KeyValue::Points(l.$field.iter().map(|p| p.map(exact)).collect())),
            set: Some(|l, i| {
                if let KeyValue::Points(p) = i {
                    l.$field = p.iter().map(|p| p.map(|v| v as f32)).collect();
                }
            }),
        }
    };
}

const fn together(
    id: &'static str,
    key_type: KeyType,
    unit: &'static str,
    help: &'static str,
    get: fn(&Layer) -> Option<KeyValue>,
) -> Key {
    Key { id, key_type, unit, help, get, set: None }
}

/// For a picture that moves within its frame.
macro_rules! moved {
    ($id:literal, $unit:literal, $help:literal, $field:ident, $axis:literal) => {
        together($id, KeyType::Spread { min: -100.0, max: 100.0 }, $unit, $help, |l| {
            sprite(l).map(|s| KeyValue::Spread(s.$field[$axis]))
        })
    };
}

/// The keys of a layer, in the order of printing.
pub const LAYER: &[Key] = &[
    Key {
        id: "stream",
        key_type: KeyType::Integer { max: u32::MAX as u64 },
        unit: "",
        help: "Layers of the same stream, births and place have the same particles: a glow around a spark.",
        get: |l| Some(KeyValue::Integer(l.stream)),
        set: Some(|l, i| {
            if let KeyValue::Integer(n) = i {
                l.stream = *n;
            }
        }),
    },
    Key {
        id: "name",
        key_type: KeyType::Name,
        unit: "",
        help: "The name that `born-of` refers to.",
        get: |l| Some(KeyValue::Name(l.name.clone())),
        set: Some(|l, i| {
            if let KeyValue::Name(name) = i {
                l.name.clone_from(name);
            }
        }),
    },
    Key {
        id: "born-of",
        key_type: KeyType::Name,
        unit: "",
        help: "Particles are born where and when particles of this layer die. Replaces `rate` and `place`.",
        get: |l| Some(KeyValue::Name(l.born_of.clone())),
        set: Some(|l, i| {
            if let KeyValue::Name(name) = i {
                l.born_of.clone_from(name);
            }
        }),
    },
    Key {
        id: "children",
        key_type: KeyType::Integer { max: 10_000 },
        unit: "",
        help: "Number of births for each dead particle.",
        get: |l| Some(KeyValue::Integer(l.children.into())),
        set: Some(|l, i| {
            if let KeyValue::Integer(n) = i {
                l.children = (*n).max(1) as u32;
            }
        }),
    },
    number!(
        "inherit",
        inherit,
        -10.0,
        10.0,
        "",
        "Share of the dead particle's velocity that they start with."
    ),
    together(
        "rate",
        KeyType::Rate { max: 1e8 },
        "births per second",
        "How often particles are born, also before the first frame. A curve counts the effect's time in frames or, with an \
            s, in seconds. In a volume or tunnel the rate is for a 16:9 frame; other shapes have more or fewer in \
            proportion.",
        |l| match &l.when {
            Emission::Steady(rate) => Some(KeyValue::Number(*rate)),
            Emission::Curve(curve) => Some(KeyValue::Curve(curve.clone())),
            _ => None,
        },
    ),
    together(
        "every",
        KeyType::Number { min: 0.001, max: 1e6 },
        "seconds",
        "Replaces `rate`: bursts per second, each with `count` births.",
        |l| if let Emission::Pulses { every, .. } = l.when { Some(KeyValue::Number(every)) } else { None },
    ),
    together(
        "count",
        KeyType::Number { min: 0.0, max: 1e8 },
        "births",
        "Number of births in each burst.",
        |l| {
            if let Emission::Pulses { count, .. } = l.when { Some(KeyValue::Number(count)) } else { None }
        },
    ),
    together(
        "bursts",
        KeyType::Bursts,
        "seconds, births",
        "Replaces `rate`: numbers of births at given times.",
        |l| if let Emission::Bursts(all) = &l.when { Some(KeyValue::Points(all.clone())) } else { None },
    ),
    together("place", KeyType::Choice(PLACES), "", "Where particles are born.", |l| {
        Some(KeyValue::Choice(match l.place {
            SpawnArea::Volume { .. } => "volume",
            SpawnArea::Tunnel { .. } => "tunnel",
            SpawnArea::Box { .. } => "box",
            SpawnArea::Disc { .. } => "disc",
            SpawnArea::Edge { .. } => "edge",
            SpawnArea::Mask { .. } => "mask",
            SpawnArea::Path { .. } => "path",
        }))
    }),
    together(
        "depth",
        KeyType::Numbers { count: 2, min: 0.01, max: 1000.0 },
        "units",
        "Nearest and farthest distance from the camera.",
        |l| Some(KeyValue::Numbers(l.place.depth().map(exact).to_vec())),
    ),
    together(
        "x",
        KeyType::Numbers { count: 2, min: -100.0, max: 100.0 },
        "frame widths",
        "Left and right side of a box, from the left edge of the frame, as seen at depth 1.",
        |l| {
            if let SpawnArea::Box { x, .. } = l.place {
                Some(KeyValue::Numbers(x.map(exact).to_vec()))
            } else {
                None
            }
        },
    ),
    together(
        "y",
        KeyType::Numbers { count: 2, min: -100.0, max: 100.0 },
        "frame heights",
        "Top and bottom of a box, from the top edge of the frame, as seen at depth 1.",
        |l| {
            if let SpawnArea::Box { y, .. } = l.place {
                Some(KeyValue::Numbers(y.map(exact).to_vec()))
            } else {
                None
            }
        },
    ),
    together(
        "centre",
        KeyType::Numbers { count: 2, min: -100.0, max: 100.0 },
        "frame widths, heights",
        "Centre of a disc, from the top left corner of the frame, as seen at depth 1. Default: the middle of the \
            frame.",
        |l| {
            if let SpawnArea::Disc { centre, .. } = l.place {
                Some(KeyValue::Numbers(centre.map(exact).to_vec()))
            } else {
                None
            }
        },
    ),
    together(
        "radius",
        KeyType::Number { min: 0.0, max: 100.0 },
        "units",
        "Radius of a disc. Default: 0.1.",
        |l| {
            if let SpawnArea::Disc { radius, .. } = l.place {
                Some(KeyValue::Number(exact(radius)))
            } else {
                None
            }
        },
    ),
    together("edge", KeyType::Choice(SIDES), "", "Which edge of the frame.", |l| match l.place {
        SpawnArea::Edge { side: Side::Top, .. } => Some(KeyValue::Choice("top")),
        SpawnArea::Edge { side: Side::Bottom, .. } => Some(KeyValue::Choice("bottom")),
        SpawnArea::Edge { side: Side::Left, .. } => Some(KeyValue::Choice("left")),
        SpawnArea::Edge { side: Side::Right, .. } => Some(KeyValue::Choice("right")),
        _ => None,
    }),
    together(
        "mask",
        KeyType::Picture,
        "",
        "Image of a mask; its name is relative to the folder of this file. Brighter and more opaque areas have more \
            births.",
        |l| l.mask.clone().map(KeyValue::Picture),
    ),
    together(
        "path",
        KeyType::Path,
        "frame widths, heights",
        "Place of births over time, from the top left corner of the frame. Keys count frames from the clip's first, whatever \
         number its file has.",
        |l| l.path.clone().map(KeyValue::Path),
    ),
    numbers!(
        "direction",
        direction,
        3,
        -1e6,
        1e6,
        "",
        "Direction at birth: right, down, away. Its length does not matter."
    ),
    number!("cone", cone, 0.0, 0.5, "turns", "Largest angle from that direction: 0.5 is any direction."),
    spread!("life", life, 0.001, 10_000.0, "seconds", "How long particles live."),
    Key {
        id: "floor",
        key_type: KeyType::Spread { min: -100.0, max: 100.0 },
        unit: "frame heights",
        help: "Height at which falling particles end, from the top edge of the frame, as seen at their depth. \
            Default: none. In a volume or tunnel they then fall from above.",
        get: |l| l.floor.map(KeyValue::Spread),
        set: Some(|l, i| {
            if let KeyValue::Spread(s) = i {
                l.floor = Some(*s);
            }
        }),
    },
    spread!("speed", speed, -1000.0, 1000.0, "units per second", "Speed at birth."),
    numbers!(
        "pull",
        pull,
        3,
        -1000.0,
        1000.0,
        "units per second squared",
        "Gravity and lift: right, down, away."
    ),
    number!("drag", drag, 0.0, 100.0, "1/second", "Friction: the speed decays as exp(-drag t)."),
    number!("wind", wind, -100.0, 100.0, "", "Share of the effect's wind that they follow, from birth on."),
    number!("swirl", swirl, 0.0, 10.0, "units", "How far a smooth turbulence field displaces them."),
    number!("swirl-size", swirl_size, 0.01, 1000.0, "units", "Length scale of that field."),
    number!("swirl-rate", swirl_rate, 0.0, 100.0, "1/second", "How often the field changes."),
    number!("swirl-age", swirl_age, 0.0, 1000.0, "seconds", "Age at which it has its full effect."),
    numbers!(
        "sway",
        sway,
        2,
        -10.0,
        10.0,
        "units",
        "How far each particle sways on its own: sideways, and up and down."
    ),
    number!("sway-rate", sway_rate, 0.0, 100.0, "1/second", "How often it sways."),
    spread!("size", size, 0.0, 10.0, "units", "Half the width."),
    spread!("growth", growth, -10.0, 10.0, "units per second", "Growth: added to the size each second."),
    over!("size-over", size_over, 100.0, "Factor of the size over life."),
    spread!("angle", angle, -1000.0, 1000.0, "turns", "Rotation at birth, clockwise."),
    spread!("spin", spin, -1000.0, 1000.0, "turns per second", "Speed of rotation."),
    number!(
        "tumble",
        tumble,
        0.0,
        100.0,
        "1/second",
        "How often they tumble: they alternate between wide and narrow, and are darker when narrow."
    ),
    number!("squash", squash, 0.01, 100.0, "", "Height over width."),
    spread!("opacity", opacity, 0.0, 1.0, "", "Opacity: 0 is invisible."),
    over!("opacity-over", opacity_over, 1.0, "Factor of the opacity over life."),
    number!("twinkle", twinkle, 0.0, 1.0, "", "Depth of twinkling: how far the opacity drops."),
    number!("twinkle-rate", twinkle_rate, 0.0, 100.0, "1/second", "How often they twinkle."),
    together(
        "colours",
        KeyType::Colours,
        "",
        "As displayed: \"#rrggbb\", a name such as \"gold\", or [red, green, blue] from 0 to 1.",
        |l| Some(KeyValue::Colours(l.tint.colours().to_vec())),
    ),
    together(
        "colour-by",
        KeyType::Choice(COLOURINGS),
        "",
        "How a particle chooses among the colours.",
        |l| {
            Some(KeyValue::Choice(match l.tint {
                Tint::One(_) => "one",
                Tint::Mix(_) => "mix",
                Tint::Life(_) => "life",
            }))
        },
    ),
    together("shape", KeyType::Choice(SHAPES), "", "Shape of the particles.", |l| {
        Some(KeyValue::Choice(match l.form {
            Appearance::Disc(_) => "disc",
            Appearance::Ring(..) => "ring",
            Appearance::Polygon(..) => "polygon",
            Appearance::Hair(..) => "hair",
            Appearance::Sprite(_) => "sprite",
        }))
    }),
    together(
        "soft",
        KeyType::Number { min: 0.0, max: 1.0 },
        "",
        "Share of the radius (of a ring: of its band) that fades: 0 is a hard edge. Default: 1, for a polygon 0.",
        |l| match l.form {
            Appearance::Disc(soft) | Appearance::Ring(_, soft) | Appearance::Polygon(_, soft) => {
                Some(KeyValue::Number(exact(soft)))
            }
            Appearance::Hair(..) | Appearance::Sprite(_) => None,
        },
    ),
    together(
        "hole",
        KeyType::Number { min: 0.0, max: 0.999 },
        "",
        "Radius of a ring's hole relative to the ring. Default: 0.7.",
        |l| if let Appearance::Ring(hole, _) = l.form { Some(KeyValue::Number(exact(hole))) } else { None },
    ),
    together(
        "corners",
        KeyType::Corners,
        "half widths",
        "Corners of a convex polygon around the middle, in order; x to the right, y down.",
        |l| match &l.form {
            Appearance::Polygon(corners, _) => {
                Some(KeyValue::Points(corners.iter().map(|c| c.map(exact)).collect()))
            }
            _ => None,
        },
    ),
    together(
        "bend",
        KeyType::Number { min: -4.0, max: 4.0 },
        "turns",
        "How far a hair bends from end to end. Default: 0.4.",
        |l| if let Appearance::Hair(bend, _) = l.form { Some(KeyValue::Number(exact(bend))) } else { None },
    ),
    together(
        "thick",
        KeyType::Number { min: 0.001, max: 1.0 },
        "half widths",
        "Half the thickness of a hair. Default: 0.01.",
        |l| if let Appearance::Hair(_, thick) = l.form { Some(KeyValue::Number(exact(thick))) } else { None },
    ),
    together(
        "sprite",
        KeyType::Picture,
        "",
        "Image of a sprite, with alpha; its name is relative to the folder of this file.",
        |l| sprite(l).map(|s| KeyValue::Picture(s.picture.clone())),
    ),
    together(
        "columns",
        KeyType::Integer { max: MAX_PAGES },
        "",
        "Number of flip-book pages side by side in the image. Default: 1.",
        |l| sprite(l).map(|s| KeyValue::Integer(s.columns.into())),
    ),
    together("rows", KeyType::Integer { max: MAX_PAGES }, "", "Number of rows of pages. Default: 1.", |l| {
        sprite(l).map(|s| KeyValue::Integer(s.rows.into()))
    }),
    together("page-by", KeyType::Choice(PAGES), "", "Which page a particle shows.", |l| {
        sprite(l).map(|s| {
            KeyValue::Choice(match s.page {
                Page::Chance => "chance",
                Page::Life => "life",
                Page::Time => "time",
            })
        })
    }),
    together(
        "page-rate",
        KeyType::Number { min: 0.0, max: 1000.0 },
        "pages per second",
        "Pages per second when they turn by time. Default: 12.",
        |l| sprite(l).map(|s| KeyValue::Number(exact(s.page_rate))),
    ),
    moved!(
        "offset-x",
        "widths",
        "Shift of the image to the right within the sprite; what leaves on one side returns on the other. With a \
            flip-book, the shift is that of a page.",
        offset,
        0
    ),
    moved!("offset-y", "heights", "The same, down.", offset, 1),
    moved!("scroll-x", "widths per second", "Speed of that shift to the right.", scroll, 0),
    moved!("scroll-y", "heights per second", "The same, down.", scroll, 1),
    Key {
        id: "blend",
        key_type: KeyType::Choice(Blend::CHOICES),
        unit: "",
        help: "Blend mode of this layer, if it differs from the effect's.",
        get: |l| l.blend.map(|b| KeyValue::Choice(b.id())),
        set: Some(|l, i| {
            if let KeyValue::Choice(word) = i {
                l.blend = Blend::from_id(word);
            }
        }),
    },
    numbers!(
        "aside",
        aside,
        2,
        -100.0,
        100.0,
        "half widths",
        "Offset of the drawn shape from the particle, for a highlight on a bubble."
    ),
    number!("shutter", shutter, 0.0, 10.0, "seconds", "Exposure time: moving particles become streaks."),
    number!(
        "trail",
        trail,
        0.0,
        100.0,
        "seconds",
        "Duration of the trail, which gets narrower and fainter; 0 is no trail."
    ),
    Key {
        id: "trail-steps",
        key_type: KeyType::Integer { max: 64 },
        unit: "",
        help: "Number of streaks in a trail. Each counts as a particle.",
        get: |l| Some(KeyValue::Integer(l.trail_steps.into())),
        set: Some(|l, i| {
            if let KeyValue::Integer(n) = i {
                l.trail_steps = (*n).max(1) as u32;
            }
        }),
    },
    number!(
        "thin",
        thin,
        0.0,
        1.0,
        "",
        "How much a streak fades with its length: 0 is not at all, 1 keeps its total light."
    ),
    number!("focus", focus[0], 0.01, 1000.0, "units", "Depth of focus."),
    number!("blur", focus[1], 0.0, 1.0, "units", "Radius of the blur at infinite depth; 0 is no blur."),
];

fn sprite(layer: &Layer) -> Option<&Sprite> {
    if let Appearance::Sprite(s) = &layer.form { Some(s) } else { None }
}
