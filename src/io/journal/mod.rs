//! Records of finished files, with their sources and settings.
//!
//! The record is the [manifest](resume::manifest): a file of lines with checksums, appended to before a file gets its
//! name, so that every file with its final name has been recorded. The module [`resume`] writes, reads and compares it
//! for all kinds of files:
//!
//! | files | their numbers | location of the manifest |
//! |---|---|---|
//! | frames of a sequence | the frames' | `.NAME.0.manifest`, hidden beside them |
//! | a file that holds all frames | 0 | `.NAME.0.manifest`, hidden beside it |
//! | a [shard] that is one file | 0 | `NAME.I-of-N.EXT.shard`, with the lines for joining; copy it along with the shard |
//! | [segments] of a video | the segments' | in their folder; its lock also reserves the folder for one program |
//!
//! For files that are joined, the manifest also has a [`JoinRecord`].
//! [`JournalConfig`] is the interface for sinks.

mod config;
mod frame_list;
mod join_record;
pub mod resume;
pub mod segments;
pub mod shard;

pub use config::{CommitHook, JournalConfig};
pub use frame_list::{Cuts, FrameList, SourceEnds};
pub use join_record::{Hdr, JoinRecord, PacketRecord};
