//! How a filter describes its settings, so that the command line, recipes, help and hosts are built from one list.
//!
//! A filter declares them once, with [`settings!`](crate::settings!).

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
