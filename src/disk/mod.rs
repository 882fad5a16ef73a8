//! Everything that touches a user's folder: [temporary files](temp) that get their names in one step, the
//! [output file](output) of a job, the [cache folder](cache), and the rule that a file which a job reads is never a
//! file that it [writes](same).
//!
//! Imports nothing else of the crate.

pub mod cache;
pub mod output;
pub mod same;
pub mod temp;

pub use output::{DiskError, Output};
pub use same::{Place, SameFile, Uses, Written};
pub use temp::{TEMPORARY, Temporary, remove_unfinished, reopening, sweep};
