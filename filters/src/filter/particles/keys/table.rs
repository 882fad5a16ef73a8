//! The table.

use super::super::effect::{Appearance, Emission, Layer, Page, Side, SpawnArea, Sprite, Tint};
use super::{Key, KeyType, KeyValue, exact};
use crate::particle::draw::Blend;
use crate::settings::{Choice, ChoiceEnum};

const PLACES: &[Choice] = &[
    Choice::new("volume", "anywhere the camera sees between two depths; who drifts out comes in again"),
    Choice::new("tunnel", "the same, and who passes the camera begins again at the far end"),
    Choice::new("box", "in a box, which may be as flat as a line or a point"),
    Choice::new("disc", "in a disc"),
    Choice::new("edge", "just beyond an edge of the frame"),
    Choice::new("mask", "where a picture, laid over the frame, is bright"),
    Choice::new("path", "at a point that a curve moves"),
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
    Choice::new("hair", "a thin line that bends, of the first of the colours"),
    Choice::new("sprite", "a picture, which keeps its own colours"),
];

const PAGES: &[Choice] = &[
    Choice::new("chance", "one, by chance"),
    Choice::new("life", "from the first at birth to the last at death"),
    Choice::new("time", "one after the other, beginning anywhere"),
];

/// The most columns and rows of a flip-book.
const MAX_PAGES: u64 = 32;

const COLOURINGS: &[Choice] = &[
    Choice::new("one", "one of the colours, by chance"),
    Choice::new("mix", "something between the first and the last, by chance"),
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

/// Of a picture that moves in its frame.
macro_rules! moved {
    ($id:literal, $unit:literal, $help:literal, $field:ident, $axis:literal) => {
        together($id, KeyType::Spread { min: -100.0, max: 100.0 }, $unit, $help, |l| {
            sprite(l).map(|s| KeyValue::Spread(s.$field[$axis]))
        })
    };
}

/// The keys of a layer, in the order they are printed in.
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
        help: "What `born-of` calls it.",
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
        help: "They are born where and when particles of this layer die, in the place of `rate` and `place`.",
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
        help: "How many are born of each.",
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
        "The part of the dead particle's velocity that they start with."
    ),
    together(
        "rate",
        KeyType::Rate { max: 1e8 },
        "births a second",
        "How many are born, always: before the first frame as well. A curve is of the effect's time, in frames or (with \
         an s) in seconds. In a volume or tunnel it is said for a frame of 16:9, and others have more or fewer in \
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
        "In the place of `rate`, with `count`: many are born at once, so often.",
        |l| if let Emission::Pulses { every, .. } = l.when { Some(KeyValue::Number(every)) } else { None },
    ),
    together(
        "count",
        KeyType::Number { min: 0.0, max: 1e8 },
        "births",
        "How many are born each time.",
        |l| {
            if let Emission::Pulses { count, .. } = l.when { Some(KeyValue::Number(count)) } else { None }
        },
    ),
    together(
        "bursts",
        KeyType::Bursts,
        "seconds, births",
        "In the place of `rate`: so many at once, at these times.",
        |l| if let Emission::Bursts(all) = &l.when { Some(KeyValue::Points(all.clone())) } else { None },
    ),
    together("place", KeyType::Choice(PLACES), "", "Where they are born.", |l| {
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
        "The nearest and the farthest place, from the camera.",
        |l| Some(KeyValue::Numbers(l.place.depth().map(exact).to_vec())),
    ),
    together(
        "x",
        KeyType::Numbers { count: 2, min: -100.0, max: 100.0 },
        "frame widths",
        "Left and right of a box, from the left edge of the frame, as seen at depth 1.",
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
        "The middle of a disc, from the top left corner of the frame, as seen at depth 1. The middle of the frame when \
         not given.",
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
        "The radius of a disc. 0.1 when not given.",
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
        "The picture of a mask, by its name from this file's folder: the brighter and the more opaque, the more are born.",
        |l| l.mask.clone().map(KeyValue::Picture),
    ),
    together(
        "path",
        KeyType::Path,
        "frame widths, heights",
        "Where births are, from the top left corner of the frame, over the effect's time.",
        |l| l.path.clone().map(KeyValue::Path),
    ),
    numbers!(
        "direction",
        direction,
        3,
        -1e6,
        1e6,
        "",
        "Which way they start: right, down, away. Its length does not count."
    ),
    number!("cone", cone, 0.0, 0.5, "turns", "How far from that way they may start: 0.5 is any way."),
    spread!("life", life, 0.001, 10_000.0, "seconds", "How long they live."),
    Key {
        id: "floor",
        key_type: KeyType::Spread { min: -100.0, max: 100.0 },
        unit: "frame heights",
        help: "Where they end as they come down to it, from the top edge of the frame, as seen at their depth; nowhere \
               when not given. In a volume or tunnel they then fall from above.",
        get: |l| l.floor.map(KeyValue::Spread),
        set: Some(|l, i| {
            if let KeyValue::Spread(s) = i {
                l.floor = Some(*s);
            }
        }),
    },
    spread!("speed", speed, -1000.0, 1000.0, "units a second", "How fast they start."),
    numbers!(
        "pull",
        pull,
        3,
        -1000.0,
        1000.0,
        "units a second a second",
        "Gravity and lift: right, down, away."
    ),
    number!(
        "drag",
        drag,
        0.0,
        100.0,
        "1/second",
        "Friction: the part of their speed that is lost each second, by which v goes as exp(-drag t)."
    ),
    number!(
        "wind",
        wind,
        -100.0,
        100.0,
        "",
        "How much of the effect's wind they take, from the first moment."
    ),
    number!("swirl", swirl, 0.0, 10.0, "units", "How far a smooth field of place and time takes them aside."),
    number!("swirl-size", swirl_size, 0.01, 1000.0, "units", "The length over which that field changes."),
    number!("swirl-rate", swirl_rate, 0.0, 100.0, "1/second", "How often it changes."),
    number!("swirl-age", swirl_age, 0.0, 1000.0, "seconds", "The age from which on it is felt in full."),
    numbers!(
        "sway",
        sway,
        2,
        -10.0,
        10.0,
        "units",
        "How far each sways on its own, to the sides and up and down."
    ),
    number!("sway-rate", sway_rate, 0.0, 100.0, "1/second", "How often it sways."),
    spread!("size", size, 0.0, 10.0, "units", "Half their width."),
    spread!("growth", growth, -10.0, 10.0, "units a second", "What is added to the size."),
    over!("size-over", size_over, 100.0, "What the size is multiplied by, over life."),
    spread!("angle", angle, -1000.0, 1000.0, "turns", "How they are turned at birth, clockwise."),
    spread!("spin", spin, -1000.0, 1000.0, "turns a second", "How fast they turn."),
    number!(
        "tumble",
        tumble,
        0.0,
        100.0,
        "1/second",
        "How often they tumble: they look narrow and wide in turn, and darker when narrow."
    ),
    number!("squash", squash, 0.01, 100.0, "", "Height over width."),
    spread!("opacity", opacity, 0.0, 1.0, "", "How much of them shows."),
    over!("opacity-over", opacity_over, 1.0, "What the opacity is multiplied by, over life."),
    number!("twinkle", twinkle, 0.0, 1.0, "", "How deep the opacity goes down as they twinkle."),
    number!("twinkle-rate", twinkle_rate, 0.0, 100.0, "1/second", "How often they twinkle."),
    together(
        "colours",
        KeyType::Colours,
        "",
        "As displayed: \"#rrggbb\", a name such as \"gold\", or [red, green, blue] from 0 to 1.",
        |l| Some(KeyValue::Colours(l.tint.colours().to_vec())),
    ),
    together("colour-by", KeyType::Choice(COLOURINGS), "", "Which of the colours each has.", |l| {
        Some(KeyValue::Choice(match l.tint {
            Tint::One(_) => "one",
            Tint::Mix(_) => "mix",
            Tint::Life(_) => "life",
        }))
    }),
    together("shape", KeyType::Choice(SHAPES), "", "What they look like.", |l| {
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
        "The part of the radius that fades (of a ring, of its band): 0 is a hard edge. 1, for a polygon 0, when not given.",
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
        "The radius of a ring's hole, in its own. 0.7 when not given.",
        |l| if let Appearance::Ring(hole, _) = l.form { Some(KeyValue::Number(exact(hole))) } else { None },
    ),
    together(
        "corners",
        KeyType::Corners,
        "half widths",
        "Corners of a polygon, once around the middle and bulging out; x to the right, y down.",
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
        "How far a hair bends from end to end. 0.4 when not given.",
        |l| if let Appearance::Hair(bend, _) = l.form { Some(KeyValue::Number(exact(bend))) } else { None },
    ),
    together(
        "thick",
        KeyType::Number { min: 0.001, max: 1.0 },
        "half widths",
        "Half the thickness of a hair. 0.01 when not given.",
        |l| if let Appearance::Hair(_, thick) = l.form { Some(KeyValue::Number(exact(thick))) } else { None },
    ),
    together(
        "sprite",
        KeyType::Picture,
        "",
        "The picture of a sprite, by its name from this file's folder; its alpha is what shows of it.",
        |l| sprite(l).map(|s| KeyValue::Picture(s.picture.clone())),
    ),
    together(
        "columns",
        KeyType::Integer { max: MAX_PAGES },
        "",
        "How many pages of a flip-book stand side by side in the picture. 1 when not given.",
        |l| sprite(l).map(|s| KeyValue::Integer(s.columns.into())),
    ),
    together(
        "rows",
        KeyType::Integer { max: MAX_PAGES },
        "",
        "How many rows of pages there are. 1 when not given.",
        |l| sprite(l).map(|s| KeyValue::Integer(s.rows.into())),
    ),
    together("page-by", KeyType::Choice(PAGES), "", "Which page each shows.", |l| {
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
        "pages a second",
        "How fast pages turn by time. 12 when not given.",
        |l| sprite(l).map(|s| KeyValue::Number(exact(s.page_rate))),
    ),
    moved!(
        "offset-x",
        "widths",
        "How far the picture of a sprite lies to the right in its own frame; what leaves it at one side comes in at the \
         other. A flip-book's page is a picture.",
        offset,
        0
    ),
    moved!("offset-y", "heights", "The same, down.", offset, 1),
    moved!("scroll-x", "widths a second", "How fast it goes to the right in its own frame.", scroll, 0),
    moved!("scroll-y", "heights a second", "The same, down.", scroll, 1),
    Key {
        id: "blend",
        key_type: KeyType::Choice(Blend::CHOICES),
        unit: "",
        help: "How they mix with the frame, where it is not as the effect says.",
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
        "Where they are drawn, from where they are: a highlight on a bubble."
    ),
    number!(
        "shutter",
        shutter,
        0.0,
        10.0,
        "seconds",
        "For how long the shutter is open: what moves becomes a streak."
    ),
    number!(
        "trail",
        trail,
        0.0,
        100.0,
        "seconds",
        "For how long the way that they have come is seen, narrower and fainter; 0 is no trail."
    ),
    Key {
        id: "trail-steps",
        key_type: KeyType::Integer { max: 64 },
        unit: "",
        help: "Of how many streaks a trail is made. Each counts as a particle.",
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
        "How much fainter a streak is for being longer: 0 not at all, 1 its light stays the same."
    ),
    number!("focus", focus[0], 0.01, 1000.0, "units", "The depth that is sharp."),
    number!(
        "blur",
        focus[1],
        0.0,
        1.0,
        "units",
        "Half the width of the blur at infinite depth; 0 is no blur."
    ),
];

fn sprite(layer: &Layer) -> Option<&Sprite> {
    if let Appearance::Sprite(s) = &layer.form { Some(s) } else { None }
}
