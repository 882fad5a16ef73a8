//! Settings of filters: one description from which the command line, recipes, help and hosts are built.
//!
//! A filter declares them once, with [`settings!`](crate::settings!): which makes the table of [`Setting`]s and the
//! struct that the filter reads. All other code uses the table. A [`Setting`] has the data for windows and help (label,
//! unit, default, range of a slider, heading); its [`Kind`] defines the accepted values.
//!
//! ```
//! use grainfield_filters::catalog;
//! use grainfield_filters::settings::{Kind, Value, Values};
//!
//! let blur = catalog::find("blur").expect("a filter of the catalog");
//! let sigma = blur.settings.iter().find(|s| s.id == "sigma").expect("a setting of blur");
//! assert_eq!((sigma.kind, sigma.soft), (Kind::Number { min: 0.0, max: 500.0 }, Some((0.0, 50.0))));
//!
//! let mut values = Values::new(blur.settings);
//! values.set("sigma", Value::Number(3.5.into()))?;
//! values.set("mode", blur.settings[0].parse("gaussian").expect("a word of the choice"))?;
//! // A curve: from 2 in frame 0 to 9 in frame 48.
//! values.set("sigma", sigma.parse("0=2;48=9").expect("keys"))?;
//! assert!(values.set("sigma", Value::Number(501.0.into())).is_err());
//! # Ok::<(), grainfield_filters::settings::SettingError>(())
//! ```
//!
//! [`Values`] holds the given values; [`Values::get`] returns the value in effect, which may come from a preset or the
//! default. [`recipe`](crate::recipe) parses whole chains. Images and effect files are given by name; the host reads
//! them and supplies their contents ([`ImageAsset`], [`FileAsset`]).

mod animated;
pub mod common;
pub mod declare;
mod describe;
mod file_asset;
mod image_asset;
mod planes;
mod points;
#[cfg(test)]
mod tests;
mod text;
mod values;
mod words;

pub use animated::Animated;
pub use declare::{ChoiceEnum, FromValue, Settings};
pub use describe::{Choice, Constant, FileKind, Kind, OnlyWhen, Setting, Unit};
pub use file_asset::FileAsset;
pub use image_asset::ImageAsset;
pub use planes::{Planes, PlanesError};
pub use points::{MAX_POINTS, Points, PointsError, PointsProblem};
pub use text::{ValueError, ValueProblem};
pub use values::{SettingError, Value, Values};
pub(crate) use words::Printable;
pub use words::toml_string;
pub use words::{nearest, wrap};
