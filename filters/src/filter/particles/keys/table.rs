//! The table.

use super::super::effect::{Form, Layer, Page, Place, Side, Sprite, Tint, When};
use super::{Item, Key, Takes, exact};
use crate::particle::draw::Blend;
use crate::settings::{Choice, Word};

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
const MOST_PAGES: u64 = 32;

const COLOURINGS: &[Choice] = &[
    Choice::new("one", "one of the colours, by chance"),
    Choice::new("mix", "something between the first and the last, by chance"),
    Choice::new("life", "from the first at birth to the last at death"),
];

macro_rules! number {
    ($id:literal, $field:ident $([$n:literal])?, $min:expr, $max:expr, $unit:literal, $help:literal) => {
        Key {
            id: $id,
            takes: Takes::Number { min: $min, max: $max },
            unit: $unit,
            help: $help,
            get: |l| Some(Item::Number(exact(l.$field $([$n])?))),
            set: Some(|l, i| if let Item::Number(v) = i { l.$field $([$n])? = *v as f32 }),
        }
    };
}

macro_rules! spread {
    ($id:literal, $field:ident, $min:expr, $max:expr, $unit:literal, $help:literal) => {
        Key {
            id: $id,
            takes: Takes::Spread { min: $min, max: $max },
            unit: $unit,
            help: $help,
            get: |l| Some(Item::Spread(l.$field)),
            set: Some(|l, i| {
                if let Item::Spread(s) = i {
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
            takes: Takes::Numbers { count: $count, min: $min, max: $max },
            unit: $unit,
            help: $help,
            get: |l| Some(Item::Numbers(l.$field.map(exact).to_vec())),
            set: Some(|l, i| {
                if let Item::Numbers(all) = i {
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
            takes: Takes::Over { max: $max },
            unit: "",
            help: $help,
            get: |l| Some(Item::Points(l.$field.iter().map(|p| p.map(exact)).collect())),
            set: Some(|l, i| {
                if let Item::Points(p) = i {
                    l.$field = p.iter().map(|p| p.map(|v| v as f32)).collect();
                }
            }),
        }
    };
}

const fn together(
    id: &'static str,
    takes: Takes,
    unit: &'static str,
    help: &'static str,
    get: fn(&Layer) -> Option<Item>,
) -> Key {
    Key { id, takes, unit, help, get, set: None }
}

/// Of a picture that moves in its frame.
macro_rules! moved {
    ($id:literal, $unit:literal, $help:literal, $field:ident, $axis:literal) => {
        together($id, Takes::Spread { min: -100.0, max: 100.0 }, $unit, $help, |l| {
            sprite(l).map(|s| Item::Spread(s.$field[$axis]))
        })
    };
}

/// The keys of a layer, in the order they are printed in.
pub const LAYER: &[Key] = &[
    Key {
        id: "stream",
        takes: Takes::Whole { max: u32::MAX as u64 },
        unit: "",
        help: "Layers of the same stream, births and place have the same particles: a glow around a spark.",
        get: |l| Some(Item::Whole(l.stream)),
        set: Some(|l, i| {
            if let Item::Whole(n) = i {
                l.stream = *n;
            }
        }),
    },
    Key {
        id: "name",
        takes: Takes::Name,
        unit: "",
        help: "What `born-of` calls it.",
        get: |l| Some(Item::Name(l.name.clone())),
        set: Some(|l, i| {
            if let Item::Name(name) = i {
                l.name.clone_from(name);
            }
        }),
    },
    Key {
        id: "born-of",
        takes: Takes::Name,
        unit: "",
        help: "They are born where and when particles of this layer die, in the place of `rate` and `place`.",
        get: |l| Some(Item::Name(l.born_of.clone())),
        set: Some(|l, i| {
            if let Item::Name(name) = i {
                l.born_of.clone_from(name);
            }
        }),
    },
    Key {
        id: "children",
        takes: Takes::Whole { max: 10_000 },
        unit: "",
        help: "How many are born of each.",
        get: |l| Some(Item::Whole(l.children.into())),
        set: Some(|l, i| {
            if let Item::Whole(n) = i {
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
        Takes::Rate { max: 1e8 },
        "births a second",
        "How many are born, always: before the first frame as well. A curve is of the effect's time, in frames or (with \
         an s) in seconds. In a volume or tunnel it is said for a frame of 16:9, and others have more or fewer in \
         proportion.",
        |l| match &l.when {
            When::Steady(rate) => Some(Item::Number(*rate)),
            When::Curve(curve) => Some(Item::Curve(curve.clone())),
            _ => None,
        },
    ),
    together(
        "every",
        Takes::Number { min: 0.001, max: 1e6 },
        "seconds",
        "In the place of `rate`, with `count`: many are born at once, so often.",
        |l| if let When::Pulses { every, .. } = l.when { Some(Item::Number(every)) } else { None },
    ),
    together("count", Takes::Number { min: 0.0, max: 1e8 }, "births", "How many are born each time.", |l| {
        if let When::Pulses { count, .. } = l.when { Some(Item::Number(count)) } else { None }
    }),
    together(
        "bursts",
        Takes::Bursts,
        "seconds, births",
        "In the place of `rate`: so many at once, at these times.",
        |l| if let When::Bursts(all) = &l.when { Some(Item::Points(all.clone())) } else { None },
    ),
    together("place", Takes::Word(PLACES), "", "Where they are born.", |l| {
        Some(Item::Word(match l.place {
            Place::Volume { .. } => "volume",
            Place::Tunnel { .. } => "tunnel",
            Place::Box { .. } => "box",
            Place::Disc { .. } => "disc",
            Place::Edge { .. } => "edge",
            Place::Mask { .. } => "mask",
            Place::Path { .. } => "path",
        }))
    }),
    together(
        "depth",
        Takes::Numbers { count: 2, min: 0.01, max: 1000.0 },
        "units",
        "The nearest and the farthest place, from the camera.",
        |l| Some(Item::Numbers(l.place.depth().map(exact).to_vec())),
    ),
    together(
        "x",
        Takes::Numbers { count: 2, min: -100.0, max: 100.0 },
        "frame widths",
        "Left and right of a box, from the left edge of the frame, as seen at depth 1.",
        |l| {
            if let Place::Box { x, .. } = l.place { Some(Item::Numbers(x.map(exact).to_vec())) } else { None }
        },
    ),
    together(
        "y",
        Takes::Numbers { count: 2, min: -100.0, max: 100.0 },
        "frame heights",
        "Top and bottom of a box, from the top edge of the frame, as seen at depth 1.",
        |l| {
            if let Place::Box { y, .. } = l.place { Some(Item::Numbers(y.map(exact).to_vec())) } else { None }
        },
    ),
    together(
        "centre",
        Takes::Numbers { count: 2, min: -100.0, max: 100.0 },
        "frame widths, heights",
        "The middle of a disc, from the top left corner of the frame, as seen at depth 1. The middle of the frame when \
         not given.",
        |l| {
            if let Place::Disc { centre, .. } = l.place {
                Some(Item::Numbers(centre.map(exact).to_vec()))
            } else {
                None
            }
        },
    ),
    together(
        "radius",
        Takes::Number { min: 0.0, max: 100.0 },
        "units",
        "The radius of a disc. 0.1 when not given.",
        |l| if let Place::Disc { radius, .. } = l.place { Some(Item::Number(exact(radius))) } else { None },
    ),
    together("edge", Takes::Word(SIDES), "", "Which edge of the frame.", |l| match l.place {
        Place::Edge { side: Side::Top, .. } => Some(Item::Word("top")),
        Place::Edge { side: Side::Bottom, .. } => Some(Item::Word("bottom")),
        Place::Edge { side: Side::Left, .. } => Some(Item::Word("left")),
        Place::Edge { side: Side::Right, .. } => Some(Item::Word("right")),
        _ => None,
    }),
    together(
        "mask",
        Takes::Picture,
        "",
        "The picture of a mask, by its name from this file's folder: the brighter and the more opaque, the more are born.",
        |l| l.mask.clone().map(Item::Picture),
    ),
    together(
        "path",
        Takes::Path,
        "frame widths, heights",
        "Where births are, from the top left corner of the frame, over the effect's time.",
        |l| l.path.clone().map(Item::Path),
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
        takes: Takes::Spread { min: -100.0, max: 100.0 },
        unit: "frame heights",
        help: "Where they end as they come down to it, from the top edge of the frame, as seen at their depth; nowhere \
               when not given. In a volume or tunnel they then fall from above.",
        get: |l| l.floor.map(Item::Spread),
        set: Some(|l, i| {
            if let Item::Spread(s) = i {
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
        Takes::Colours,
        "",
        "As displayed: \"#rrggbb\", a name such as \"gold\", or [red, green, blue] from 0 to 1.",
        |l| Some(Item::Colours(l.tint.colours().to_vec())),
    ),
    together("colour-by", Takes::Word(COLOURINGS), "", "Which of the colours each has.", |l| {
        Some(Item::Word(match l.tint {
            Tint::One(_) => "one",
            Tint::Mix(_) => "mix",
            Tint::Life(_) => "life",
        }))
    }),
    together("shape", Takes::Word(SHAPES), "", "What they look like.", |l| {
        Some(Item::Word(match l.form {
            Form::Disc(_) => "disc",
            Form::Ring(..) => "ring",
            Form::Polygon(..) => "polygon",
            Form::Hair(..) => "hair",
            Form::Sprite(_) => "sprite",
        }))
    }),
    together(
        "soft",
        Takes::Number { min: 0.0, max: 1.0 },
        "",
        "The part of the radius that fades (of a ring, of its band): 0 is a hard edge. 1, for a polygon 0, when not given.",
        |l| match l.form {
            Form::Disc(soft) | Form::Ring(_, soft) | Form::Polygon(_, soft) => {
                Some(Item::Number(exact(soft)))
            }
            Form::Hair(..) | Form::Sprite(_) => None,
        },
    ),
    together(
        "hole",
        Takes::Number { min: 0.0, max: 0.999 },
        "",
        "The radius of a ring's hole, in its own. 0.7 when not given.",
        |l| if let Form::Ring(hole, _) = l.form { Some(Item::Number(exact(hole))) } else { None },
    ),
    together(
        "corners",
        Takes::Corners,
        "half widths",
        "Corners of a polygon, once around the middle and bulging out; x to the right, y down.",
        |l| match &l.form {
            Form::Polygon(corners, _) => Some(Item::Points(corners.iter().map(|c| c.map(exact)).collect())),
            _ => None,
        },
    ),
    together(
        "bend",
        Takes::Number { min: -4.0, max: 4.0 },
        "turns",
        "How far a hair bends from end to end. 0.4 when not given.",
        |l| if let Form::Hair(bend, _) = l.form { Some(Item::Number(exact(bend))) } else { None },
    ),
    together(
        "thick",
        Takes::Number { min: 0.001, max: 1.0 },
        "half widths",
        "Half the thickness of a hair. 0.01 when not given.",
        |l| if let Form::Hair(_, thick) = l.form { Some(Item::Number(exact(thick))) } else { None },
    ),
    together(
        "sprite",
        Takes::Picture,
        "",
        "The picture of a sprite, by its name from this file's folder; its alpha is what shows of it.",
        |l| sprite(l).map(|s| Item::Picture(s.picture.clone())),
    ),
    together(
        "columns",
        Takes::Whole { max: MOST_PAGES },
        "",
        "How many pages of a flip-book stand side by side in the picture. 1 when not given.",
        |l| sprite(l).map(|s| Item::Whole(s.columns.into())),
    ),
    together(
        "rows",
        Takes::Whole { max: MOST_PAGES },
        "",
        "How many rows of pages there are. 1 when not given.",
        |l| sprite(l).map(|s| Item::Whole(s.rows.into())),
    ),
    together("page-by", Takes::Word(PAGES), "", "Which page each shows.", |l| {
        sprite(l).map(|s| {
            Item::Word(match s.page {
                Page::Chance => "chance",
                Page::Life => "life",
                Page::Time => "time",
            })
        })
    }),
    together(
        "page-rate",
        Takes::Number { min: 0.0, max: 1000.0 },
        "pages a second",
        "How fast pages turn by time. 12 when not given.",
        |l| sprite(l).map(|s| Item::Number(exact(s.page_rate))),
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
        takes: Takes::Word(Blend::WORDS),
        unit: "",
        help: "How they mix with the frame, where it is not as the effect says.",
        get: |l| l.blend.map(|b| Item::Word(b.word())),
        set: Some(|l, i| {
            if let Item::Word(word) = i {
                l.blend = Blend::of_word(word);
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
        takes: Takes::Whole { max: 64 },
        unit: "",
        help: "Of how many streaks a trail is made. Each counts as a particle.",
        get: |l| Some(Item::Whole(l.trail_steps.into())),
        set: Some(|l, i| {
            if let Item::Whole(n) = i {
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
    if let Form::Sprite(s) = &layer.form { Some(s) } else { None }
}
