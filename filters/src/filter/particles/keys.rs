//! The keys of an effect file: how they are declared, their types and the errors of their values.
//!
//! One declaration for the fields of a [`Layer`](super::Layer), reading, printing, checking and the documentation.

pub(crate) mod field;
#[cfg(test)]
mod tests;

use crate::frame::Frame;
use crate::particle::draw::MAX_CORNERS;
use crate::settings::Choice;
use core::fmt;
use field::{Fault, MAX_BURSTS, MAX_LIFE_POINTS, MAX_NAME, Value};

/// The type of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyType {
    /// A number: lowest and highest.
    Number(f64, f64),
    /// A whole number from 0 to this.
    Integer(u64),
    /// A random number for each particle: lowest and highest.
    Spread(f64, f64),
    /// Several numbers: how many, and the lowest and highest of each.
    Numbers(usize, f64, f64),
    /// Points over life: `[[0, 1], [1, 0]]`, 0 being birth and 1 death, and values from 0 to this.
    Over(f64),
    /// Corners of a polygon, x and y of each from -1 to 1.
    Corners,
    /// Colours.
    Colours,
    /// One of these words.
    Choice(&'static [Choice]),
    /// An image file.
    Picture,
    /// A number or a curve, from 0 to this.
    Rate(f64),
    /// Times in seconds with numbers of births: `[[0, 40], [2.5, 100]]`.
    Bursts,
    /// A curve of positions.
    Path,
    /// A name.
    Name,
}

/// The error of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum KeyError {
    /// A number out of range.
    #[error("{got} is not from {low} to {high}")]
    Outside {
        /// The number.
        got: f64,
        /// Lowest.
        low: f64,
        /// Highest.
        high: f64,
    },
    /// A wrong number of values: the given number, the smallest and the largest.
    #[error("{} values, but {}{} are needed", .0, .1, if .1 == .2 { String::new() } else { format!(" to {}", .2) })]
    Count(usize, usize, usize),
    /// The positions of points over life are not in ascending order from 0 (birth) to 1 (death).
    #[error("the first numbers of the points must be in ascending order, from 0 (birth) to 1 (death)")]
    Order,
    /// No layer has this name and its own births.
    #[error("no layer with this 'name' has its own births")]
    NoLayer,
    /// The times of bursts are not in ascending order.
    #[error("the times of bursts must be in ascending order")]
    Times,
    /// A curve has keys relative to an end, which an effect does not have.
    #[error("keys of an effect count from its start, because it has no last frame")]
    End,
    /// The key has no meaning without this one.
    #[error("this applies to {0} only")]
    With(&'static str),
    /// Another key with the same meaning is given.
    #[error("'{0}' is given too: give only one of the two")]
    Beside(&'static str),
    /// A key that is required with it is missing.
    #[error("'{0}' is needed too")]
    Lacks(&'static str),
}

impl KeyType {
    /// The lowest and the highest number.
    fn range(self) -> (f64, f64) {
        match self {
            KeyType::Number(min, max) | KeyType::Spread(min, max) | KeyType::Numbers(_, min, max) => {
                (min, max)
            }
            KeyType::Integer(max) => (0.0, max as f64),
            KeyType::Over(max) | KeyType::Rate(max) => (0.0, max),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }
}

/// The form of a value in a file.
impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            KeyType::Number(min, max) => write!(f, "a number, {min} to {max}"),
            KeyType::Integer(max) => write!(f, "a whole number, 0 to {max}"),
            KeyType::Spread(min, max) => {
                write!(f, "a number or [lowest, highest], {min} to {max}")
            }
            KeyType::Numbers(count, min, max) => {
                let list = ["x", "y", "z"].iter().take(count).copied().collect::<Vec<_>>().join(", ");
                write!(f, "[{list}], each {min} to {max}")
            }
            KeyType::Over(max) => write!(f, "points [[life, value], ...], values 0 to {max}"),
            KeyType::Corners => write!(f, "3 to {MAX_CORNERS} corners [[x, y], ...], each -1 to 1"),
            KeyType::Rate(max) => write!(f, "a number or a curve \"0=0;48=100\", 0 to {max}"),
            KeyType::Bursts => write!(f, "1 to {MAX_BURSTS} bursts [[time, count], ...]"),
            KeyType::Path => f.write_str("a curve of places \"0=0,0.5;48=1,0.5\", each -100 to 100"),
            KeyType::Name => write!(f, "a name of up to {MAX_NAME} letters"),
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

/// Reads a picture by name; `None` leaves it unread.
pub type LoadPicture<'a> = &'a mut dyn FnMut(&str) -> Result<Option<Frame>, String>;

/// A key of an `L`.
pub struct Key<L> {
    /// The name.
    pub id: &'static str,
    /// The type.
    pub key_type: KeyType,
    /// The unit; empty for none.
    pub unit: &'static str,
    /// The description.
    pub help: &'static str,
    /// The choice without which it has no meaning; empty for none.
    pub(crate) with: &'static str,
    /// Whether it is printed even with its default value.
    pub(super) always: bool,
    /// Sets it; `false` if it has no meaning in the layer.
    pub(crate) set: fn(&mut L, &Value<'_>, LoadPicture<'_>) -> Result<bool, Fault>,
    /// Its value as TOML; `None` if it has no meaning in the layer.
    pub(crate) print: fn(&L) -> Option<String>,
    /// Rejects a value out of range.
    pub(super) check: fn(&L) -> Result<(), KeyError>,
}

impl<L> fmt::Debug for Key<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

/// Declares a struct whose fields have keys: its fields, their defaults, and the table of keys in the order of printing.
/// The documentation of a field is the help of its key. A field is followed by the type and unit of its key, or, if a
/// value has several keys, by a list of them, each with the pattern in which it has a meaning. The keys of a list are always
/// printed, except those marked `[false]`.
macro_rules! keys {
    (
        $(#[doc = $about:literal])*
        pub struct $name:ident {
            $( $(#[doc = $help:literal])+ $field:ident $(as $id:literal)? : $type:ty = $default:expr => $keys:tt, )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $( $(#[doc = $help])+ pub $field: $type, )* }

        impl Default for $name {
            fn default() -> $name {
                $name { $( $field: $default ),* }
            }
        }

        impl $name {
            const TABLE: &'static [&'static [Key<$name>]] =
                &[$( keys!(@list $name, $field, ($($id)?), (concat!($($help),+)), $keys) ),*];

            /// The keys, in the order of printing.
            pub fn keys() -> impl Iterator<Item = &'static Key<$name>> {
                Self::TABLE.iter().flat_map(|keys| keys.iter())
            }

            /// The keys that are printed, or `all`, with their values as TOML.
            pub(crate) fn explicit_keys(&self, all: bool) -> impl Iterator<Item = (&'static Key<$name>, String)> + '_ {
                let usual = $name::default();
                $name::keys().filter_map(move |key| {
                    let text = (key.print)(self)?;
                    let explicit = all || key.always || (key.print)(&usual).as_ref() != Some(&text);
                    explicit.then_some((key, text))
                })
            }
        }
    };
    (@list $name:ident, $field:ident, $id:tt, $help:tt, ($($kind:ident $(($($range:tt)*))?, $unit:literal)?)) => {
        &[$( keys!(
            @key $name, keys!(@id $field $id), KeyType::$kind $(($($range)*))?, $unit, $help,
            "", false, $name { $field, .. } => $field
        ) )?]
    };
    (@list $name:ident, $field:ident, $id:tt, $help:tt, [$(
        $(#[doc = $text:literal])+ $key:literal $([$always:literal])?: $kind:ident $(($($range:tt)*))?, $unit:literal,
        $pattern:pat => $part:ident $(, $with:literal)?;
    )+]) => {
        &[$( keys!(
            @key $name, $key, KeyType::$kind $(($($range)*))?, $unit, concat!($($text),+),
            concat!($($with)?), true $(&& $always)?, $pattern => $part
        ) ),+]
    };
    (@key $name:ident, $id:expr, $type:expr, $unit:literal, $help:expr, $with:expr, $always:expr, $pattern:pat => $part:ident) => {
        Key {
            id: $id,
            key_type: $type,
            unit: $unit,
            help: $help.trim_ascii(),
            with: $with,
            always: $always,
            set: |layer, value, load| match layer {
                $pattern => field::set($part, value, $id, $type, load).map(|()| true),
                #[allow(unreachable_patterns)]
                _ => Ok(false),
            },
            print: |layer| match layer {
                $pattern => field::Field::print($part),
                #[allow(unreachable_patterns)]
                _ => None,
            },
            check: |layer| match layer {
                $pattern => field::Field::check($part, $type),
                #[allow(unreachable_patterns)]
                _ => Ok(()),
            },
        }
    };
    (@id $field:ident ()) => { stringify!($field) };
    (@id $field:ident ($id:literal)) => { $id };
}
pub(super) use keys;
