//! Pictures, sequences and videos as second inputs of filters.

use super::TextFileError;
use crate::source_frames::Frames;
use grainfield_filters::frame::{Format, Frame, SecondInput};
use grainfield_filters::ratio::Ratio;
use grainfield_io::journal::resume::SourceIds;
use grainfield_io::source::{self, Info, Length, Options, SourceError};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The limit on decoded pictures that a second input keeps, in bytes: a render asks for them nearly in order.
const KEPT_BYTES: usize = 128 << 20;

/// An open file.
struct Clip {
    info: Info,
    last: i64,
    frames: Frames,
}

impl Clip {
    /// The place at a time when the pictures follow at a rate.
    fn place_at_rate(&self, time: Ratio, rate: Ratio) -> i64 {
        self.info.first.saturating_add((time * rate).floor())
    }

    /// Whether the pictures have no times of their own.
    fn is_sequence(&self) -> bool {
        self.info.kind == source::SEQUENCE
    }
}

impl SecondInput for Clip {
    fn format(&self) -> &Format {
        &self.info.format
    }

    fn end(&self, rate: Ratio) -> Option<Ratio> {
        let count = Ratio::whole(self.last - self.info.first + 1);
        let rate = if self.is_sequence() { rate } else { self.info.format.rate };
        (self.last > self.info.first).then(|| count.checked_div(rate).unwrap_or(Ratio::ZERO))
    }

    fn place(&self, time: Ratio, rate: Ratio) -> i64 {
        let place = match self.is_sequence() {
            true => self.place_at_rate(time, rate),
            // An unreadable time is that of a constant rate, which any reader finds.
            false => self.frames.frame_from(time, true).map_or_else(
                |_| self.place_at_rate(time, self.info.format.rate),
                |next| next.saturating_sub(1),
            ),
        };
        place.clamp(self.info.first, self.last)
    }

    fn picture(&self, place: i64) -> Result<Arc<Frame>, String> {
        let found = self.frames.get(place, &AtomicBool::new(false)).map_err(|e| e.to_string())?;
        let found = found.ok_or_else(|| format!("{} has no frame {place}", self.info.name))?;
        Ok(Arc::new(found.frame.clone()))
    }
}

/// Opens a picture, a sequence or a video as second input, and returns it with its identity: that of its files' names,
/// sizes and times of change.
///
/// # Errors
/// [`TextFileError`] if it cannot be read, has no pictures, or can be read only once.
pub fn load_clip(path: &Path) -> Result<(Arc<dyn SecondInput>, u128), TextFileError> {
    let named = |e: SourceError| match e {
        SourceError::Io { cause, .. } => TextFileError::Read { path: path.into(), cause },
        e => TextFileError::Says(e.to_string()),
    };
    let name = path.as_os_str();
    let options = Options { length: Length::Exact, ..Options::default() };
    let source = source::open(name, &options).map_err(named)?;
    let info = source.info().clone();
    let last = info.last.filter(|last| info.seekable && *last >= info.first);
    let Some(last) = last else {
        let problem = "any of its frames may be needed at any time: give a file, not a pipe or an empty one";
        return Err(TextFileError::Says(format!("{}: {problem}", path.display())));
    };
    let id = SourceIds::for_input(name, None, &source::reads(name), 0).get(0);
    let frames = Frames::new(source, info.format, 0, KEPT_BYTES);
    Ok((Arc::new(Clip { info, last, frames }), id.into()))
}
