//! How a filter describes its settings, so that the command line, recipes, help and hosts are built from one list.
//!
//! A filter declares them once, with [`settings!`](crate::settings!): from that follow the table of [`Setting`]s and the
//! struct that the filter reads. Everyone else goes by the table. A [`Setting`] says what a window or a help text needs (label,
//! unit, default, range of a slider, heading); its [`Kind`] says what values it takes.
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
//! // Curves move from frame to frame: from 2 in frame 0 to 9 in frame 48.
//! values.set("sigma", sigma.parse("0=2;48=9").expect("keys"))?;
//! assert!(values.set("sigma", Value::Number(501.0.into())).is_err());
//! # Ok::<(), grainfield_filters::settings::SettingError>(())
//! ```
//!
//! [`Values`] holds what was given; [`Values::get`] is the value in effect, which a preset or the default fills in. Text of a
//! whole chain is read by [`recipe`](crate::recipe). Images and effect files are named by text
//! and read by the host, which hands in what they hold ([`ImageAsset`], [`FileAsset`]).

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

pub use animated::Animated;
pub use declare::{ChoiceEnum, FromValue, Settings};
pub use describe::{Choice, Constant, Kind, OnlyWhen, Setting, Unit};
pub use file_asset::FileAsset;
pub use image_asset::ImageAsset;
pub use planes::{Planes, PlanesError};
pub use points::{MAX_POINTS, Points, PointsError, PointsProblem};
pub use text::{ValueError, ValueProblem};
pub use values::{SettingError, Value, Values};
