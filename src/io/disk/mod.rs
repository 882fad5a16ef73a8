//! Everything that touches a user's folder:
//!
//! - [`partial`]: incomplete files, which get their names in one step,
//! - [`output`]: the output file of a job,
//! - [`cache`]: the cache folder,
//! - [`lines`]: files of lines,
//! - [`graph`]: names and options of FFmpeg's filters, some of which name files,
//! - [`FileAccess`]: a job never writes a file that it reads, and no other program changes it,
//! - [`reach`]: which files may be read,
//! - `system`: what differs between Unix and Windows.
//!
//! It uses no other module of the crate.

pub mod cache;
mod error;
pub mod graph;
pub mod lines;
mod named_files;
pub(crate) mod opened;
pub mod output;
pub mod partial;
pub mod reach;
mod rescue;
mod same;
pub(crate) mod system;

pub use error::DiskError;
pub use named_files::{files_in_playlist, files_in_text, token};
pub use output::{OutputFile, check_folder};
pub use partial::{Partial, PartialOutput};
pub use rescue::OutputRescue;
pub use same::{Access, FileAccess, FileRef, SameFile, WrittenFiles, folder_of, is_mute};
pub use system::{end, name_of, user_folder};
