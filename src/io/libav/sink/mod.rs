//! Video files with any container and encoder of libav.
//!
//! The container follows from the file's name; the encoder and its pixel format from container and picture, or from
//! the user's options ([`Encoding`]). No property of the picture is lost silently: see [`accepts`]. Times are those
//! of the source, in its ticks. Streams that are not filtered (sound, subtitles, chapters, tags) come from a second
//! reading of the input, see [`crate::libav::copy`].
//!
//! Memory: encoders hold many pictures. libx264 with its default preset holds about 60, which for 3840x2160 is 1.6
//! to 3 GB in addition to the memory of the pipeline; its option `rc-lookahead=10` or a faster preset reduce it.

mod choice;
mod choose;
mod clock;
mod encoder;
mod first_pass;
pub mod join;
mod losses;
mod part_reader;
mod segmented;
mod setup;
mod video;
mod video_file;

pub use super::container::is_pipe;

use super::container::Container;
use super::error::AvError;
use super::log::{Log, recent_messages};
use crate::disk::DiskError;
use crate::encoding::{Encoding, Pass};
use crate::media::{Plan, Sink, SinkError};
use grainfield_filters::frame::Format;
use std::ffi::OsStr;
use std::io;

/// Whether the output is named as a video file that libav can write.
pub fn recognises(output: &OsStr) -> bool {
    super::init();
    Container::for_output(output).is_some()
}

/// The format nearest to `format` that the encoder supports without loss: depth and alpha stay, chroma is not
/// subsampled further. RGB becomes YUV 4:2:0 for delivery codecs (H.264, HEVC, AV1, VP9), and stays RGB or becomes
/// 4:4:4 for editing and archiving (FFV1, ProRes).
///
/// If the encoder supports no such format, the error names encoders that do.
///
/// # Errors
/// The container or encoder is unknown, or supports no format without loss; the message names encoders that do.
pub fn accepts(output: &OsStr, format: &Format, encoding: &Encoding) -> Result<Format, SinkError> {
    super::init();
    choose::choose(output, format, encoding).map(|choice| choice.format)
}

/// The encoder that a video of this format gets.
pub fn encoder_of(output: &OsStr, format: &Format, encoding: &Encoding) -> Option<String> {
    super::init();
    choose::choose(output, format, encoding).ok().map(|choice| choice.name().to_owned())
}

/// Prepares the file under a temporary name: opens the encoder, makes the streams, and finds what the
/// container cannot store. `plan.format` must come from [`accepts`].
///
/// # Errors
/// The encoder rejects its options, the output exists, or cannot be written.
pub fn create(output: &OsStr, plan: &Plan) -> Result<Box<dyn Sink>, SinkError> {
    let _log = Log::new().enter();
    if matches!(plan.encoding.pass, Some(Pass::First(_))) {
        return Ok(Box::new(first_pass::FirstPass::create(output, plan)?));
    }
    Ok(match &plan.journal.segments {
        Some(grid) => Box::new(segmented::Segmented::create(output, plan, grid)?),
        None => Box::new(video::Video::create(output, plan)?),
    })
}

fn fault(name: impl AsRef<OsStr>, problem: String) -> SinkError {
    SinkError::bad(name.as_ref().to_string_lossy().into_owned(), problem)
}

/// The settings for encoding do not fit.
fn encoding_error(name: impl AsRef<OsStr>, problem: String) -> SinkError {
    SinkError::Encoding { name: name.as_ref().to_string_lossy().into_owned(), problem }
}

/// An error of libav with its messages.
fn av_fault(name: &str, doing: &str, error: AvError) -> SinkError {
    let messages = recent_messages();
    if error == AvError(-libc::EPIPE) {
        return SinkError::Disk(DiskError::Closed { name: name.into() });
    }
    let system = |cause: &io::Error| {
        use io::ErrorKind::{FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let kinds = [FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull];
        kinds.contains(&cause.kind()) || error == AvError(-libc::EIO) || error == AvError::EXIT
    };
    if let Some(cause) = error.io().filter(system) {
        return SinkError::io(name.into(), cause);
    }
    SinkError::bad(name.into(), format!("{doing}: {error}{messages}"))
}
