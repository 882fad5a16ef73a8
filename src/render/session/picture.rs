//! One filtered frame.

use super::Error;
use crate::session::job::JobError;
use grainfield_filters::chain::{Chain, Fields, Options, States, Workspace};
use grainfield_filters::filter::convert::retarget;
use grainfield_filters::frame::{Format, Frame, FrameTime};
use grainfield_filters::host::{CurrentThread, Host, NoCache};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::simd::Level;
use grainfield_io::disk::OutputFile;
use grainfield_io::format::sequence;
use grainfield_io::media::SinkError;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A rendered frame.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The frame's number: that of the sequence, else counted from 0, plus the requested offset.
    pub number: i64,
    /// Exact seconds since the source's first frame.
    pub time: Ratio,
    /// Duration in seconds.
    pub duration: Ratio,
    /// The samples.
    pub frame: Frame,
}

impl Picture {
    /// The format of the samples.
    pub fn format(&self) -> &Format {
        self.frame.format()
    }

    /// The MD5 of the samples, as the output `hash:` prints it for this frame.
    pub fn digest(&self) -> String {
        format!("{:032x}", self.frame.digest())
    }

    /// Writes an image file of the family that its extension names, in the nearest format that the family can hold,
    /// rounded without dither. The file gets its name when it is complete.
    ///
    /// # Errors
    /// Of the kind usage for an unknown extension or an impossible conversion, of the kind output if the file exists or
    /// cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.write(path.as_ref(), false)
    }

    /// The same, replacing an existing file.
    ///
    /// # Errors
    /// As [`save`](Picture::save).
    pub fn overwrite(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.write(path.as_ref(), true)
    }

    fn write(&self, path: &Path, overwrite: bool) -> Result<(), Error> {
        let name = path.as_os_str();
        let to = sequence::sink::accepts(name, self.format()).map_err(JobError::from)?;
        let frame = in_format(&self.frame, to)?;
        let mut bytes = Vec::new();
        let mut write = || -> Result<(), SinkError> {
            sequence::sink::encoded(name, &frame, &mut bytes)?;
            let mut file = OutputFile::create(name, overwrite)?;
            file.put(&bytes)?;
            Ok(file.finish()?)
        };
        Ok(write().map_err(JobError::from)?)
    }

    /// Red, green, blue and alpha of 8 bits each, `4 * width * height` bytes, top row first, for a screen. The
    /// depth is reduced by rounding without dither.
    ///
    /// # Errors
    /// Of the kind usage, if the frame cannot be converted.
    pub fn to_rgba8(&self) -> Result<Vec<u8>, Error> {
        let frame = converted(&self.frame, "gbrap")?;
        let (width, height) = (frame.format().width as usize, frame.format().height as usize);
        let mut bytes = Vec::with_capacity(4 * width * height);
        for y in 0..height {
            let [g, b, r, a] = [0, 1, 2, 3].map(|p| frame.row::<u8>(p, y));
            bytes.extend((0..width).flat_map(|x| [r[x], g[x], b[x], a[x]]));
        }
        Ok(bytes)
    }
}

/// A finished frame in the sample format of this name, with rounding without dither, independent of its frame number.
///
/// # Errors
/// Of the kind usage, if there is no such format or the frame cannot be converted to it.
pub fn converted(frame: &Frame, name: &str) -> Result<Frame, Error> {
    let to = retarget(frame.format(), name).map_err(JobError::from)?;
    in_format(frame, to)
}

fn in_format(frame: &Frame, to: Format) -> Result<Frame, Error> {
    let from = *frame.format();
    let mut frame = frame.clone();
    if to == from {
        return Ok(frame);
    }
    let options =
        Options { seed: 0, level: Level::best(), first: 0, last: None, fields: Fields::of(from.fields) };
    let steps = "dither=mode=none".parse::<grainfield_filters::recipe::Recipe>()?.steps;
    let chain = Chain::bind::<JobError>(&steps, from, &options, |_| Ok(to))?;
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &AtomicBool::new(false) };
    let at = FrameTime::of_frame(0, from.rate);
    let duration = Ratio::ONE.checked_div(from.rate).unwrap_or(Ratio::ONE);
    chain
        .run(&at, duration, &mut frame, &mut Workspace::default(), &States::default(), &host)
        .map_err(|cause| Error::Frame { number: 0, cause: cause.into() })?;
    Ok(frame)
}
