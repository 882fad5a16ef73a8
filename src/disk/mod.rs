//! Everything that touches a user's folder: [temporary files](temp) that get their names in one step, the [output
//! file](output) of a job, the [cache folder](cache), [files of lines](lines), the check that a job never
//! [writes](same) a file that it reads, and the limit on [which files](reach) may be read.
//!
//! It uses no other module of the crate.

pub mod cache;
pub mod lines;
pub mod output;
pub mod partial;
pub mod reach;
pub mod same;
pub mod temp;

pub use output::{DiskError, Output};
pub use partial::Left;
pub use same::{Place, SameFile, Uses, Written, is_mute};
pub use temp::{TEMPORARY, Temporary, leave_unfinished, reopening, sweep};
