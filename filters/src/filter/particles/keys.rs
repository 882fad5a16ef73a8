//! The keys of an effect file: what each is called, what it takes, and where it stands in an [`Effect`](super::Effect).
//!
//! One table for reading, printing, checking and the documentation. Files themselves are the host's matter: it turns
//! text into [`Item`]s and puts them into a [`Draft`].

mod draft;
mod table;
#[cfg(test)]
mod tests;

pub use draft::Draft;
pub use table::LAYER;

use super::effect::Layer;
use super::flow::peak;
use crate::curve::Curve;
use crate::particle::Spread;
use crate::particle::draw::MOST_CORNERS;
use crate::settings::{Choice, Picture};
use core::fmt;

/// The most points of a value over life, and the most colours.
pub const MOST_POINTS: usize = 32;

/// The longest name of a layer, in bytes.
pub const MOST_NAME: usize = 64;

/// The most bursts.
pub const MOST_BURSTS: usize = 256;

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
    /// An image file.
    Picture,
    /// A number or a curve, not below 0.
    Rate {
        /// Highest.
        max: f64,
    },
    /// Times in seconds with how many: `[[0, 40], [2.5, 100]]`.
    Bursts,
    /// A curve of places.
    Path,
    /// A name.
    Name,
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
    /// Of [`Takes::Over`], [`Takes::Corners`] and [`Takes::Bursts`].
    Points(Vec<[f64; 2]>),
    /// Of [`Takes::Colours`]: red, green and blue as displayed, 0 to 1.
    Colours(Vec<[f64; 3]>),
    /// Of [`Takes::Word`].
    Word(&'static str),
    /// Of [`Takes::Picture`].
    Picture(Picture),
    /// Of [`Takes::Rate`], where it moves.
    Curve(Curve),
    /// Of [`Takes::Name`].
    Name(String),
    /// Of [`Takes::Path`].
    Path(Curve<[f64; 2]>),
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
    /// No layer has this name and births of its own.
    NoLayer,
    /// The times of bursts do not rise.
    Times,
    /// A curve has keys that count from an end that an effect does not have.
    End,
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
            Wrong::NoLayer => f.write_str("no layer of this 'name' has births of its own"),
            Wrong::Times => f.write_str("the times of bursts rise"),
            Wrong::End => f.write_str("keys of an effect count from its start: it has no last frame"),
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
            let fits = got.is_finite() && got >= low - slack && got <= high + slack;
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
                let near = |v: f64, end: f64| if v.is_finite() && (v - end).abs() <= slack { end } else { v };
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
            (Takes::Picture, Item::Picture(_)) => Ok(()),
            (Takes::Name, Item::Name(name)) => count(name.len(), 0, MOST_NAME),
            (Takes::Rate { max }, Item::Number(v)) => within(*v, 0.0, max),
            (Takes::Rate { max }, Item::Curve(curve)) => {
                curve.resolve(None).map_err(|_| Wrong::End)?;
                within(peak(curve).unwrap_or_else(|wrong| wrong), 0.0, max)
            }
            (Takes::Bursts, Item::Points(all)) => {
                count(all.len(), 1, MOST_BURSTS)?;
                all.iter().try_for_each(|p| within(p[0], -1e6, 1e6).and_then(|()| within(p[1], 0.0, 1e6)))?;
                if all.windows(2).all(|w| w[0][0] < w[1][0]) { Ok(()) } else { Err(Wrong::Times) }
            }
            (Takes::Path, Item::Path(curve)) => {
                curve.resolve(None).map_err(|_| Wrong::End)?;
                curve.keys().iter().flat_map(|k| k.value).try_for_each(|v| within(v, -100.0, 100.0))
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
            Takes::Rate { max } => write!(f, "a number or a curve \"0=0;48=100\", 0 to {max}"),
            Takes::Bursts => write!(f, "1 to {MOST_BURSTS} bursts [[time, count], ...]"),
            Takes::Path => f.write_str("a curve of places \"0=0,0.5;48=1,0.5\", each -100 to 100"),
            Takes::Name => write!(f, "a name of up to {MOST_NAME} letters"),
            Takes::Picture => f.write_str("the name of an image file"),
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

/// What a layer says, key by key, where it is not what it would be without a word.
pub fn said(layer: &Layer) -> impl Iterator<Item = (&'static Key, Item)> + '_ {
    let usual = Layer::default();
    LAYER.iter().filter_map(move |key| {
        let item = key.get(layer)?;
        // Which births, places and shapes there are is always said.
        (key.set.is_none() || key.get(&usual) != Some(item.clone())).then_some((key, item))
    })
}
