//! Pictures, sequences and videos as second inputs of filters.

use super::TextFileError;
use crate::source_frames::Frames;
use grainfield_filters::frame::{Format, Frame, SecondInput};
use grainfield_filters::ratio::Ratio;
use grainfield_io::disk::FileRef;
use grainfield_io::journal::resume::SourceIds;
use grainfield_io::source::{self, Info, Length, Options};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// The limit on decoded pictures that a second input keeps, in bytes: a render asks for them nearly in order.
const KEPT_BYTES: usize = 128 << 20;

/// A file that is opened when it is needed.
struct Clip {
    name: OsString,
    opened: OnceLock<Result<Opened, String>>,
}

struct Opened {
    info: Info,
    /// The number of the last picture.
    last: i64,
    frames: Frames,
}

impl Opened {
    fn new(name: &OsString) -> Result<Opened, String> {
        let options = Options { length: Length::Exact, ..Options::default() };
        let source = source::open(name, &options).map_err(|e| e.to_string())?;
        let info = source.info().clone();
        let last = info.last.filter(|last| info.seekable && *last >= info.first).ok_or_else(|| {
            let problem =
                "any of its frames may be needed at any time: give a file, not a pipe or an empty one";
            format!("{}: {problem}", info.name)
        })?;
        let frames = Frames::new(source, info.format, 0, KEPT_BYTES);
        Ok(Opened { info, last, frames })
    }

    /// The rate of the pictures: a sequence follows at that of the source.
    fn rate(&self, of_source: Ratio) -> Ratio {
        if self.info.kind == source::SEQUENCE { of_source } else { self.info.format.rate }
    }
}

impl Clip {
    fn opened(&self) -> Result<&Opened, String> {
        self.opened.get_or_init(|| Opened::new(&self.name)).as_ref().map_err(Clone::clone)
    }
}

impl SecondInput for Clip {
    fn format(&self) -> Result<Format, String> {
        Ok(self.opened()?.info.format)
    }

    fn end(&self, rate: Ratio) -> Option<Ratio> {
        let Opened { info, last, .. } = self.opened().ok()?;
        let count = Ratio::whole(last - info.first + 1);
        if *last > info.first { count.checked_div(self.opened().ok()?.rate(rate)) } else { None }
    }

    fn place(&self, time: Ratio, rate: Ratio) -> i64 {
        let Ok(opened) = self.opened() else { return 0 };
        let Opened { info, last, frames } = opened;
        let at_rate = || info.first.saturating_add((time * opened.rate(rate)).floor());
        let place = match info.kind {
            source::SEQUENCE => at_rate(),
            _ => frames.frame_from(time, true).map_or_else(|_| at_rate(), |next| next.saturating_sub(1)),
        };
        place.clamp(info.first, *last)
    }

    fn numbers(&self) -> Option<(i64, i64)> {
        let Opened { info, last, .. } = self.opened().ok()?;
        (info.kind == source::SEQUENCE).then_some((info.first, *last))
    }

    fn picture(&self, place: i64) -> Result<Arc<Frame>, String> {
        let opened = self.opened()?;
        let found = opened.frames.get(place, &AtomicBool::new(false)).map_err(|e| e.to_string())?;
        let found = found.ok_or_else(|| format!("{} has no frame {place}", opened.info.name))?;
        Ok(Arc::new(found.frame.clone()))
    }
}

/// A picture, a sequence or a video as second input, with its identity: that of its files' names, sizes and times of
/// change. It is opened when a filter is bound.
///
/// # Errors
/// [`TextFileError`] if there is no such file.
pub fn load_clip(path: &Path) -> Result<(Arc<dyn SecondInput>, u128), TextFileError> {
    let name = path.as_os_str().to_owned();
    let reads = source::reads(&name);
    let file = match reads.first() {
        Some(FileRef::Path(file)) => Some(&**file),
        // A test signal reads no file.
        None if name.to_string_lossy().starts_with("pattern:") => None,
        _ => Some(path),
    };
    if let Some(file) = file {
        fs::metadata(file).map_err(|cause| TextFileError::Read { path: file.into(), cause })?;
    }
    let id = SourceIds::for_input(&name, None, &reads, 0).get(0);
    Ok((Arc::new(Clip { name, opened: OnceLock::new() }), id.into()))
}
