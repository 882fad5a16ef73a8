//! The keys of an effect file: what each is called, what it takes, and where it stands in an [`Effect`](super::Effect).
//!
//! One table for reading, printing, checking and the documentation. Files themselves are the host's matter: it turns
//! text into [`Item`]s and puts them into a [`Draft`].

use super::effect::{Form, Layer, Place, Tint, When};
use crate::particle::Spread;
use crate::particle::draw::{Blend, MOST_CORNERS};
use crate::settings::Choice;
use core::fmt;

/// The most points of a value over life, and the most colours.
pub const MOST_POINTS: usize = 32;

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Takes {
    /// A number.
    Number {
        /// Lowest.
        min: f64,
        /// Highest.
        max: f64,
    },
    /// A whole number.
    Whole {
        /// Highest; the lowest is 0.
        max: u64,
    },
    /// Each particle's own: from one number to another.
    Spread {
        /// Lowest.
        min: f64,
        /// Highest.
        max: f64,
    },
    /// So many numbers.
    Numbers {
        /// How many.
        count: usize,
        /// Lowest of each.
        min: f64,
        /// Highest of each.
        max: f64,
    },
    /// Points over life: `[[0, 1], [1, 0]]`, 0 being birth and 1 death.
    Over {
        /// Highest value; the lowest is 0.
        max: f64,
    },
    /// Corners of a polygon, x and y of each from -1 to 1.
    Corners,
    /// Colours.
    Colours,
    /// One of these words.
    Word(&'static [Choice]),
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// Of [`Takes::Number`].
    Number(f64),
    /// Of [`Takes::Whole`].
    Whole(u64),
    /// Of [`Takes::Spread`].
    Spread(Spread),
    /// Of [`Takes::Numbers`].
    Numbers(Vec<f64>),
    /// Of [`Takes::Over`] and [`Takes::Corners`].
    Points(Vec<[f64; 2]>),
    /// Of [`Takes::Colours`]: red, green and blue as displayed, 0 to 1.
    Colours(Vec<[f64; 3]>),
    /// Of [`Takes::Word`].
    Word(&'static str),
}

/// What is wrong with the value of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wrong {
    /// A number that is not in its range.
    Outside {
        /// What it was.
        got: f64,
        /// Lowest.
        low: f64,
        /// Highest.
        high: f64,
    },
    /// So many where another number of them is wanted, from and to.
    Count(usize, usize, usize),
    /// The places of points over life do not rise from 0 (birth) to 1 (death).
    Order,
    /// Another kind of value.
    Kind,
    /// The key means nothing without this.
    With(&'static str),
    /// Another key is given that says the same.
    Beside(&'static str),
    /// Another key that belongs to it is missing.
    Lacks(&'static str),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Outside { got, low, high } => write!(f, "{got} is not from {low} to {high}"),
            Wrong::Count(n, low, high) if low == high => write!(f, "{n} values where {low} are wanted"),
            Wrong::Count(n, low, high) => write!(f, "{n} values where {low} to {high} are wanted"),
            Wrong::Order => f.write_str("the first numbers of the points rise, from 0 (birth) to 1 (death)"),
            Wrong::Kind => f.write_str("another kind of value"),
            Wrong::With(what) => write!(f, "this goes with {what} only"),
            Wrong::Beside(what) => write!(f, "'{what}' is given as well, and only one of the two can be"),
            Wrong::Lacks(what) => write!(f, "'{what}' is missing beside it"),
        }
    }
}

impl Takes {
    /// Refuses a value of another kind or out of range.
    pub fn check(&self, item: &Item) -> Result<(), Wrong> {
        let within = |got: f64, low: f64, high: f64| {
            // Values are kept in 32 bits: what is a rounding beyond the end is the end.
            let slack = 1e-6 * got.abs();
            let fits = got >= low - slack && got <= high + slack;
            if fits { Ok(()) } else { Err(Wrong::Outside { got, low, high }) }
        };
        let count = |n: usize, low: usize, high: usize| {
            if (low..=high).contains(&n) { Ok(()) } else { Err(Wrong::Count(n, low, high)) }
        };
        match (*self, item) {
            (Takes::Number { min, max }, Item::Number(v)) => within(*v, min, max),
            (Takes::Whole { max }, Item::Whole(v)) => within(*v as f64, 0.0, max as f64),
            (Takes::Spread { min, max }, Item::Spread(s)) => {
                let (base, offset) = (exact(s.base), exact(s.offset).abs());
                // The slack is that of the larger of the two, which is what was rounded.
                let slack = 1e-6 * (base.abs() + offset);
                let (low, high) = (base - offset, base + offset);
                let near = |v: f64, end: f64| if (v - end).abs() <= slack { end } else { v };
                within(near(low, min), min, max)?;
                within(near(high, max), min, max)
            }
            (Takes::Numbers { count: n, min, max }, Item::Numbers(all)) => {
                count(all.len(), n, n)?;
                all.iter().try_for_each(|v| within(*v, min, max))
            }
            (Takes::Over { max }, Item::Points(points)) => {
                count(points.len(), 1, MOST_POINTS)?;
                let rising = points.windows(2).all(|w| w[0][0] < w[1][0]);
                if !rising || !points.iter().all(|p| (0.0..=1.0).contains(&p[0])) {
                    return Err(Wrong::Order);
                }
                points.iter().try_for_each(|p| within(p[1], 0.0, max))
            }
            (Takes::Corners, Item::Points(points)) => {
                count(points.len(), 3, MOST_CORNERS)?;
                points.iter().flatten().try_for_each(|v| within(*v, -1.0, 1.0))
            }
            (Takes::Colours, Item::Colours(all)) => {
                count(all.len(), 1, MOST_POINTS)?;
                all.iter().flatten().try_for_each(|v| within(*v, 0.0, 1.0))
            }
            (Takes::Word(all), Item::Word(word)) if all.iter().any(|c| c.id == *word) => Ok(()),
            _ => Err(Wrong::Kind),
        }
    }
}

/// What a value looks like in a file.
impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Takes::Number { min, max } => write!(f, "a number, {min} to {max}"),
            Takes::Whole { max } => write!(f, "a whole number, 0 to {max}"),
            Takes::Spread { min, max } => {
                write!(f, "a number or [lowest, highest], {min} to {max}")
            }
            Takes::Numbers { count, min, max } => {
                let list = ["x", "y", "z"].iter().take(count).copied().collect::<Vec<_>>().join(", ");
                write!(f, "[{list}], each {min} to {max}")
            }
            Takes::Over { max } => write!(f, "points [[life, value], ...], values 0 to {max}"),
            Takes::Corners => write!(f, "3 to {MOST_CORNERS} corners [[x, y], ...], each -1 to 1"),
            Takes::Colours => write!(f, "1 to {MOST_POINTS} colours"),
            Takes::Word(all) => {
                f.write_str("one of")?;
                for (i, c) in all.iter().enumerate() {
                    write!(f, "{} \"{}\"", if i > 0 { "," } else { "" }, c.id)?;
                }
                Ok(())
            }
        }
    }
}

/// The number that is written for a 32-bit one: the shortest that reads back as it.
fn exact(v: f32) -> f64 {
    v.to_string().parse().unwrap_or(f64::from(v))
}

/// A key of a layer.
pub struct Key {
    /// What it is called.
    pub id: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What it counts; empty for nothing in particular.
    pub unit: &'static str,
    /// What it does.
    pub help: &'static str,
    get: fn(&Layer) -> Option<Item>,
    /// None for those that mean something together only.
    set: Option<fn(&mut Layer, &Item)>,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl Key {
    /// Its value in a layer; `None` where it means nothing there.
    pub fn get(&self, layer: &Layer) -> Option<Item> {
        (self.get)(layer)
    }
}

/// The key of a name.
pub fn find(id: &str) -> Option<&'static Key> {
    LAYER.iter().find(|k| k.id == id)
}

/// How particles mix with the frame.
pub const BLENDS: &[Choice] = &[
    Choice { id: "over", help: "they cover the frame" },
    Choice { id: "add", help: "their light is added" },
    Choice { id: "screen", help: "their light is added, and what is white stays white" },
    Choice { id: "multiply", help: "they lie on the frame as a slide" },
];

/// The blend of a word of [`BLENDS`].
pub fn blend(word: &str) -> Option<Blend> {
    Some(match word {
        "over" => Blend::Over,
        "add" => Blend::Add,
        "screen" => Blend::Screen,
        "multiply" => Blend::Multiply,
        _ => return None,
    })
}

/// The word of a blend.
pub fn blend_word(blend: Blend) -> &'static str {
    match blend {
        Blend::Over => "over",
        Blend::Add => "add",
        Blend::Screen => "screen",
        Blend::Multiply => "multiply",
    }
}

const PLACES: &[Choice] = &[
    Choice {
        id: "volume",
        help: "anywhere the camera sees between two depths; who drifts out comes in again",
    },
    Choice { id: "tunnel", help: "the same, and who passes the camera begins again at the far end" },
    Choice { id: "box", help: "in a box, which may be as flat as a line or a point" },
];

const SHAPES: &[Choice] = &[
    Choice { id: "disc", help: "a disc" },
    Choice { id: "ring", help: "a ring" },
    Choice { id: "polygon", help: "a convex polygon" },
];

const COLOURINGS: &[Choice] = &[
    Choice { id: "one", help: "one of the colours, by chance" },
    Choice { id: "mix", help: "something between the first and the last, by chance" },
    Choice { id: "life", help: "from the first at birth to the last at death" },
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
    together(
        "rate",
        Takes::Number { min: 0.0, max: 1e8 },
        "births a second",
        "How many are born, always: before the first frame as well. In a volume or tunnel it is said for a frame of \
         16:9, and others have more or fewer in proportion.",
        |l| if let When::Steady(rate) = l.when { Some(Item::Number(rate)) } else { None },
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
    together("place", Takes::Word(PLACES), "", "Where they are born.", |l| {
        Some(Item::Word(match l.place {
            Place::Volume { .. } => "volume",
            Place::Tunnel { .. } => "tunnel",
            Place::Box { .. } => "box",
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
        }))
    }),
    together(
        "soft",
        Takes::Number { min: 0.0, max: 1.0 },
        "",
        "The part of the radius (of a ring: of the band) that fades: 0 is a hard edge. 1, for a polygon 0, when not given.",
        |l| match l.form {
            Form::Disc(soft) | Form::Ring(_, soft) | Form::Polygon(_, soft) => {
                Some(Item::Number(exact(soft)))
            }
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
    Key {
        id: "blend",
        takes: Takes::Word(BLENDS),
        unit: "",
        help: "How they mix with the frame, where it is not as the effect says.",
        get: |l| l.blend.map(|b| Item::Word(blend_word(b))),
        set: Some(|l, i| {
            if let Item::Word(word) = i {
                l.blend = blend(word);
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

/// A layer in the making.
#[derive(Debug, Default)]
pub struct Draft {
    layer: Layer,
    given: Vec<(&'static Key, Item)>,
}

impl Draft {
    /// Puts in a value that its key has checked, the last one counting. Refuses what it does not take.
    pub fn put(&mut self, key: &'static Key, item: Item) -> Result<(), Wrong> {
        key.takes.check(&item)?;
        match key.set {
            Some(set) => set(&mut self.layer, &item),
            None => self.given.push((key, item)),
        }
        Ok(())
    }

    fn item(&self, id: &str) -> Option<&Item> {
        self.given.iter().rev().find(|(k, _)| k.id == id).map(|(_, item)| item)
    }

    fn number(&self, id: &str) -> Option<f64> {
        if let Some(Item::Number(v)) = self.item(id) { Some(*v) } else { None }
    }

    fn word(&self, id: &str) -> Option<&'static str> {
        if let Some(Item::Word(word)) = self.item(id) { Some(*word) } else { None }
    }

    fn pair(&self, id: &str) -> Option<[f32; 2]> {
        match self.item(id) {
            Some(Item::Numbers(all)) if all.len() == 2 => Some([all[0] as f32, all[1] as f32]),
            _ => None,
        }
    }

    /// Refuses keys that mean nothing without another.
    fn only(&self, ids: &[&'static str], with: &'static str) -> Result<(), (&'static str, Wrong)> {
        match ids.iter().find(|id| self.item(id).is_some()) {
            Some(id) => Err((id, Wrong::With(with))),
            None => Ok(()),
        }
    }

    /// The layer; or the key that does not go with the others, and why.
    pub fn finish(mut self) -> Result<Layer, (&'static str, Wrong)> {
        self.layer.when = self.when()?;
        self.layer.place = self.place()?;
        self.layer.tint = self.tint();
        self.layer.form = self.form()?;
        Ok(self.layer)
    }

    fn when(&self) -> Result<When, (&'static str, Wrong)> {
        match (self.number("rate"), self.number("every"), self.number("count")) {
            (None, Some(every), Some(count)) => Ok(When::Pulses { every, count }),
            (Some(_), Some(_), _) => Err(("every", Wrong::Beside("rate"))),
            (Some(_), None, Some(_)) => Err(("count", Wrong::Beside("rate"))),
            (None, Some(_), None) => Err(("every", Wrong::Lacks("count"))),
            (None, None, Some(_)) => Err(("count", Wrong::Lacks("every"))),
            (Some(rate), None, None) => Ok(When::Steady(rate)),
            (None, None, None) => Ok(self.layer.when),
        }
    }

    fn place(&self) -> Result<Place, (&'static str, Wrong)> {
        let word = self.word("place").unwrap_or("volume");
        let [near, far] = self.pair("depth").unwrap_or(if word == "box" { [1.0; 2] } else { [0.5, 3.0] });
        if far < near {
            let (got, low, high) = (exact(far), exact(near), 1000.0);
            return Err(("depth", Wrong::Outside { got, low, high }));
        }
        let sides = |id| self.pair(id).unwrap_or([0.0, 1.0]);
        match word {
            "box" => return Ok(Place::Box { x: sides("x"), y: sides("y"), z: [near, far] }),
            _ => self.only(&["x", "y"], "place = \"box\"")?,
        }
        Ok(if word == "tunnel" { Place::Tunnel { near, far } } else { Place::Volume { near, far } })
    }

    fn tint(&self) -> Tint {
        let colours = match self.item("colours") {
            Some(Item::Colours(all)) => all.clone(),
            _ => vec![[1.0; 3]],
        };
        match self.word("colour-by") {
            Some("one") => Tint::One(colours),
            Some("life") => Tint::Life(colours),
            _ => Tint::Mix(colours),
        }
    }

    fn form(&self) -> Result<Form, (&'static str, Wrong)> {
        let word = self.word("shape").unwrap_or("disc");
        let number = |id, or: f64| self.number(id).unwrap_or(or) as f32;
        if word != "ring" {
            self.only(&["hole"], "shape = \"ring\"")?;
        }
        if word != "polygon" {
            self.only(&["corners"], "shape = \"polygon\"")?;
        }
        match word {
            "ring" => Ok(Form::Ring(number("hole", 0.7), number("soft", 1.0))),
            "polygon" => match self.item("corners") {
                Some(Item::Points(all)) => {
                    let corners = all.iter().map(|c| c.map(|v| v as f32)).collect();
                    Ok(Form::Polygon(corners, number("soft", 0.0)))
                }
                _ => Err(("shape", Wrong::Lacks("corners"))),
            },
            _ => Ok(Form::Disc(number("soft", 1.0))),
        }
    }
}

/// What a layer says, key by key, where it is not what it would be without a word.
pub fn said(layer: &Layer) -> impl Iterator<Item = (&'static Key, Item)> + '_ {
    let usual = Layer::default();
    LAYER.iter().filter_map(move |key| {
        let item = key.get(layer)?;
        // Which births, places and shapes there are is always said.
        (key.set.is_none() || key.get(&usual) != Some(item.clone())).then_some((key, item))
    })
}

#[cfg(test)]
mod tests {
    use super::super::presets;
    use super::*;

    #[test]
    fn every_layer_is_what_its_keys_say() {
        for name in super::super::tests::NAMES {
            for layer in presets::preset(name).layers {
                let mut draft = Draft::default();
                for (key, item) in said(&layer) {
                    draft.put(key, item).unwrap_or_else(|e| panic!("{name}: {}: {e}", key.id));
                }
                assert_eq!(draft.finish(), Ok(layer), "{name}");
            }
        }
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let of = |given: &[(&str, Item)]| {
            let mut draft = Draft::default();
            given.iter().for_each(|(id, item)| draft.put(find(id).unwrap(), item.clone()).unwrap());
            draft.finish().map_err(|(id, wrong)| (id, wrong.to_string()))
        };
        let one = Item::Number(1.0);
        assert_eq!(of(&[]), Ok(Layer::default()));
        for (given, id) in [
            (vec![("rate", one.clone()), ("every", one.clone())], "every"),
            (vec![("count", one.clone())], "count"),
            (vec![("x", Item::Numbers(vec![0.0, 1.0]))], "x"),
            (vec![("hole", Item::Number(0.5))], "hole"),
            (vec![("shape", Item::Word("polygon"))], "shape"),
            (vec![("depth", Item::Numbers(vec![2.0, 1.0]))], "depth"),
        ] {
            assert_eq!(of(&given).map_err(|e| e.0), Err(id));
        }
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let life = find("life").unwrap().takes;
        assert_eq!(life.check(&Item::Spread(Spread::between(0.001, 10_000.0))), Ok(()));
        let low = life.check(&Item::Spread(Spread::between(-1.0, 2.0))).unwrap_err();
        assert_eq!(low.to_string(), "-1 is not from 0.001 to 10000");
        assert!(life.check(&Item::Spread(Spread::fixed(f32::NAN))).is_err());
        assert_eq!(life.check(&Item::Number(1.0)), Err(Wrong::Kind));
        let over = Takes::Over { max: 1.0 };
        assert_eq!(over.check(&Item::Points(vec![])), Err(Wrong::Count(0, 1, 32)));
        assert_eq!(over.check(&Item::Points(vec![[0.5, 1.0], [0.5, 1.0]])), Err(Wrong::Order));
        assert!(over.check(&Item::Points(vec![[0.0, f64::NAN]])).is_err());
    }
}
