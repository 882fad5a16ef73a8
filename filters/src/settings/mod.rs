//! How a filter describes its settings, so that the command line, recipes, help and hosts are built from one list.

mod animated;
pub mod common;
mod describe;
mod document;
mod picture;
mod planes;
mod points;
mod text;
mod values;

pub use animated::Animated;
pub use describe::{Choice, Kind, Setting, Unit};
pub use document::Document;
pub use picture::Picture;
pub use planes::{Planes, PlanesError};
pub use points::{MAX_POINTS, Points, PointsError, PointsProblem};
pub use text::{ValueError, ValueProblem};
pub use values::{SettingError, Value, Values};
