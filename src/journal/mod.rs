//! What is finished, from what, by which settings.
//!
//! There is one record of it, the [manifest](resume::manifest): a file of lines with checks, appended to before a file gets
//! its name, so that a name which is there has been recorded. It is written, read and compared by [`resume`] alone,
//! whatever the files are:
//!
//! | files | their numbers | where the manifest lies |
//! |---|---|---|
//! | frames of a sequence | the frames' | `.NAME.0.manifest`, hidden beside them |
//! | a file that holds all frames | 0 | `.NAME.0.manifest`, hidden beside it |
//! | a [shard] that is one file | 0 | `NAME.I-of-N.EXT.shard`, with the lines that joining needs; it goes where the shard goes |
//! | [segments] of a video | the segments' | in their folder, where its lock also says who works there |
//!
//! [`keep`] is what a sink is told of this.

mod frame_list;
pub mod keep;
pub mod resume;
pub mod segments;
pub mod shard;

pub use frame_list::FrameList;
