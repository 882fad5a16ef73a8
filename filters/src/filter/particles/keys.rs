//! The keys of an effect file: their names, types and counterparts in an [`Effect`](super::Effect).
//!
//! One table for reading, printing, checking and the documentation. The host reads the files: it converts text into
//! [`KeyValue`]s and puts them into a [`LayerBuilder`].

mod builder;
mod table;
#[cfg(test)]
mod tests;

pub use builder::LayerBuilder;
pub use table::LAYER;

use super::curve_rate::peak;
use super::effect::Layer;
use crate::curve::Curve;
use crate::particle::Spread;
use crate::particle::draw::MAX_CORNERS;
use crate::settings::{Choice, ImageAsset};
use core::fmt;

/// The largest number of points of a value over life, and of colours.
pub const MAX_LIFE_POINTS: usize = 32;

/// The longest name of a layer, in bytes.
pub const MAX_LAYER_NAME: usize = 64;

/// The largest number of bursts.
pub const MAX_BURSTS: usize = 256;

/// The type of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyType {
    /// A number.
    Number {
        /// Lowest.
        min: f64,
        /// Highest.
        max: f64,
    },
    /// A whole number.
    Integer {
        /// Highest; the lowest is 0.
        max: u64,
    },
    /// A random number for each particle: the ends of its range.
    Spread {
        /// Lowest.
        min: f64,
        /// Highest.
        max: f64,
    },
    /// Several numbers.
    Numbers {
        /// Their number.
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
    Choice(&'static [Choice]),
    /// An image file.
    Picture,
    /// A number or a curve, not below 0.
    Rate {
        /// Highest.
        max: f64,
    },
    /// Times in seconds with numbers of births: `[[0, 40], [2.5, 100]]`.
    Bursts,
    /// A curve of positions.
    Path,
    /// A name.
    Name,
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyValue {
    /// Of [`KeyType::Number`].
    Number(f64),
    /// Of [`KeyType::Integer`].
    Integer(u64),
    /// Of [`KeyType::Spread`].
    Spread(Spread),
    /// Of [`KeyType::Numbers`].
    Numbers(Vec<f64>),
    /// Of [`KeyType::Over`], [`KeyType::Corners`] and [`KeyType::Bursts`].
    Points(Vec<[f64; 2]>),
    /// Of [`KeyType::Colours`]: red, green and blue as displayed, 0 to 1.
    Colours(Vec<[f64; 3]>),
    /// Of [`KeyType::Choice`].
    Choice(&'static str),
    /// Of [`KeyType::Picture`].
    Picture(ImageAsset),
    /// Of [`KeyType::Rate`], if it is animated.
    Curve(Curve),
    /// Of [`KeyType::Name`].
    Name(String),
    /// Of [`KeyType::Path`].
    Path(Curve<[f64; 2]>),
}

/// The error of a key's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyError {
    /// A number out of range.
    Outside {
        /// The number.
        got: f64,
        /// Lowest.
        low: f64,
        /// Highest.
        high: f64,
    },
    /// A wrong number of numbers: the given number, the smallest and the largest.
    Count(usize, usize, usize),
    /// The positions of points over life are not in ascending order from 0 (birth) to 1 (death).
    Order,
    /// No layer has this name and its own births.
    NoLayer,
    /// The times of bursts are not in ascending order.
    Times,
    /// A curve has keys relative to an end, which an effect does not have.
    End,
    /// Another kind of value.
    Kind,
    /// The key has no meaning without this one.
    With(&'static str),
    /// Another key with the same meaning is given.
    Beside(&'static str),
    /// A key that is required with it is missing.
    Lacks(&'static str),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::Outside { got, low, high } => write!(f, "{got} is not from {low} to {high}"),
            KeyError::Count(n, low, high) if low == high => write!(f, "{n} values, but {low} are needed"),
            KeyError::Count(n, low, high) => write!(f, "{n} values, but {low} to {high} are needed"),
            KeyError::Order => f.write_str(
                "the first numbers of the points must be in ascending order, from 0 (birth) to 1 (death)",
            ),
            KeyError::NoLayer => f.write_str("no layer with this 'name' has its own births"),
            KeyError::Times => f.write_str("the times of bursts must be in ascending order"),
            KeyError::End => {
                f.write_str("keys of an effect count from its start, because it has no last frame")
            }
            KeyError::Kind => f.write_str("another type of value"),
            KeyError::With(what) => write!(f, "this applies to {what} only"),
            KeyError::Beside(what) => write!(f, "'{what}' is given too: give only one of the two"),
            KeyError::Lacks(what) => write!(f, "'{what}' is needed too"),
        }
    }
}

impl KeyType {
    /// Rejects a value of another type or out of range.
    pub fn check(&self, item: &KeyValue) -> Result<(), KeyError> {
        let within = |got: f64, low: f64, high: f64| {
            // Values are stored in 32 bits: a rounding error beyond a limit counts as the limit.
            let slack = 1e-6 * got.abs();
            let fits = got.is_finite() && got >= low - slack && got <= high + slack;
            if fits { Ok(()) } else { Err(KeyError::Outside { got, low, high }) }
        };
        let count = |n: usize, low: usize, high: usize| {
            if (low..=high).contains(&n) { Ok(()) } else { Err(KeyError::Count(n, low, high)) }
        };
        match (*self, item) {
            (KeyType::Number { min, max }, KeyValue::Number(v)) => within(*v, min, max),
            (KeyType::Integer { max }, KeyValue::Integer(v)) => within(*v as f64, 0.0, max as f64),
            (KeyType::Spread { min, max }, KeyValue::Spread(s)) => {
                let (base, offset) = (exact(s.base), exact(s.offset).abs());
                // The tolerance is relative to the larger of the two, which was rounded.
                let slack = 1e-6 * (base.abs() + offset);
                let (low, high) = (base - offset, base + offset);
                let near = |v: f64, end: f64| if v.is_finite() && (v - end).abs() <= slack { end } else { v };
                within(near(low, min), min, max)?;
                within(near(high, max), min, max)
            }
            (KeyType::Numbers { count: n, min, max }, KeyValue::Numbers(all)) => {
                count(all.len(), n, n)?;
                all.iter().try_for_each(|v| within(*v, min, max))
            }
            (KeyType::Over { max }, KeyValue::Points(points)) => {
                count(points.len(), 1, MAX_LIFE_POINTS)?;
                let rising = points.windows(2).all(|w| w[0][0] < w[1][0]);
                if !rising || !points.iter().all(|p| (0.0..=1.0).contains(&p[0])) {
                    return Err(KeyError::Order);
                }
                points.iter().try_for_each(|p| within(p[1], 0.0, max))
            }
            (KeyType::Corners, KeyValue::Points(points)) => {
                count(points.len(), 3, MAX_CORNERS)?;
                points.iter().flatten().try_for_each(|v| within(*v, -1.0, 1.0))
            }
            (KeyType::Colours, KeyValue::Colours(all)) => {
                count(all.len(), 1, MAX_LIFE_POINTS)?;
                all.iter().flatten().try_for_each(|v| within(*v, 0.0, 1.0))
            }
            (KeyType::Picture, KeyValue::Picture(_)) => Ok(()),
            (KeyType::Name, KeyValue::Name(name)) => count(name.len(), 0, MAX_LAYER_NAME),
            (KeyType::Rate { max }, KeyValue::Number(v)) => within(*v, 0.0, max),
            (KeyType::Rate { max }, KeyValue::Curve(curve)) => {
                curve.resolve(None).map_err(|_| KeyError::End)?;
                within(peak(curve).unwrap_or_else(|wrong| wrong), 0.0, max)
            }
            (KeyType::Bursts, KeyValue::Points(all)) => {
                count(all.len(), 1, MAX_BURSTS)?;
                all.iter().try_for_each(|p| within(p[0], -1e6, 1e6).and_then(|()| within(p[1], 0.0, 1e6)))?;
                if all.windows(2).all(|w| w[0][0] < w[1][0]) { Ok(()) } else { Err(KeyError::Times) }
            }
            (KeyType::Path, KeyValue::Path(curve)) => {
                curve.resolve(None).map_err(|_| KeyError::End)?;
                curve.keys().iter().flat_map(|k| k.value).try_for_each(|v| within(v, -100.0, 100.0))
            }
            (KeyType::Choice(all), KeyValue::Choice(word)) if all.iter().any(|c| c.id == *word) => Ok(()),
            _ => Err(KeyError::Kind),
        }
    }
}

/// The form of a value in a file.
impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            KeyType::Number { min, max } => write!(f, "a number, {min} to {max}"),
            KeyType::Integer { max } => write!(f, "a whole number, 0 to {max}"),
            KeyType::Spread { min, max } => {
                write!(f, "a number or [lowest, highest], {min} to {max}")
            }
            KeyType::Numbers { count, min, max } => {
                let list = ["x", "y", "z"].iter().take(count).copied().collect::<Vec<_>>().join(", ");
                write!(f, "[{list}], each {min} to {max}")
            }
            KeyType::Over { max } => write!(f, "points [[life, value], ...], values 0 to {max}"),
            KeyType::Corners => write!(f, "3 to {MAX_CORNERS} corners [[x, y], ...], each -1 to 1"),
            KeyType::Rate { max } => write!(f, "a number or a curve \"0=0;48=100\", 0 to {max}"),
            KeyType::Bursts => write!(f, "1 to {MAX_BURSTS} bursts [[time, count], ...]"),
            KeyType::Path => f.write_str("a curve of places \"0=0,0.5;48=1,0.5\", each -100 to 100"),
            KeyType::Name => write!(f, "a name of up to {MAX_LAYER_NAME} letters"),
            KeyType::Picture => f.write_str("the name of an image file"),
            KeyType::Colours => write!(f, "1 to {MAX_LIFE_POINTS} colours"),
            KeyType::Choice(all) => {
                f.write_str("one of")?;
                for (i, c) in all.iter().enumerate() {
                    write!(f, "{} \"{}\"", if i > 0 { "," } else { "" }, c.id)?;
                }
                Ok(())
            }
        }
    }
}

/// The shortest number that reads back as the same 32-bit number.
fn exact(v: f32) -> f64 {
    v.to_string().parse().unwrap_or(f64::from(v))
}

/// A key of a layer.
pub struct Key {
    /// The name.
    pub id: &'static str,
    /// The type.
    pub key_type: KeyType,
    /// The unit; empty for none.
    pub unit: &'static str,
    /// The description.
    pub help: &'static str,
    get: fn(&Layer) -> Option<KeyValue>,
    /// `None` for keys that have a meaning only together.
    set: Option<fn(&mut Layer, &KeyValue)>,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl Key {
    /// Its value in a layer; `None` if it has no meaning there.
    pub fn get(&self, layer: &Layer) -> Option<KeyValue> {
        (self.get)(layer)
    }
}

/// The key with a name.
pub fn find(id: &str) -> Option<&'static Key> {
    LAYER.iter().find(|k| k.id == id)
}

/// The keys of a layer whose values differ from the defaults.
pub fn explicit_keys(layer: &Layer) -> impl Iterator<Item = (&'static Key, KeyValue)> + '_ {
    let usual = Layer::default();
    LAYER.iter().filter_map(move |key| {
        let item = key.get(layer)?;
        // The kinds of births, place and shape are always given.
        (key.set.is_none() || key.get(&usual) != Some(item.clone())).then_some((key, item))
    })
}
