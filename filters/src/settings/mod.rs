//! How a filter describes its settings, so that the command line, recipes, help and hosts are built from one list.

mod animated;
mod describe;
mod values;

pub use animated::Animated;
pub use describe::{Choice, Kind, Setting, Unit};
pub use values::{SettingError, Value, Values};
