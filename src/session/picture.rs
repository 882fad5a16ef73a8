//! One filtered frame.

use super::Error;
use crate::session::job::JobError;
use grainfield_filters::chain::{Chain, Fields, Options, States, Workspace};
use grainfield_filters::filter::convert::retarget;
use grainfield_filters::frame::{Format, Frame, FrameTime};
use grainfield_filters::lend::{CurrentThread, Host, NoCache};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::simd::Level;
use std::sync::atomic::AtomicBool;

/// A frame as a render makes it.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The frame's number: a sequence's own, else counted from 0, with the offset that was asked for.
    pub number: i64,
    /// Exact seconds since the source's first frame.
    pub time: Ratio,
    /// How long it is shown, seconds.
    pub duration: Ratio,
    /// The samples.
    pub frame: Frame,
}

impl Picture {
    /// What the samples are.
    pub fn format(&self) -> &Format {
        self.frame.format()
    }

    /// The MD5 of the samples: what the output `hash:` writes for this frame.
    pub fn digest(&self) -> String {
        self.frame.digest().iter().map(|b| format!("{b:02x}")).collect()
    }

    /// Red, green, blue and alpha of 8 bits each, `4 * width * height` bytes, top row first, for a screen. Depth is
    /// reduced by plain rounding, so that nothing is added to what is looked at.
    pub fn rgba(&self) -> Result<Vec<u8>, Error> {
        let from = *self.format();
        let to = retarget(&from, "gbrap").map_err(JobError::from)?;
        let options = Options { seed: 0, level: Level::best(), last: None, fields: Fields::Frame };
        let steps = grainfield_filters::recipe::Recipe::parse_chain("dither=mode=none")?.steps;
        let chain = Chain::bind::<JobError>(&steps, from, &options, |_| Ok(to))?;
        let mut frame = self.frame.clone();
        let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &AtomicBool::new(false) };
        let at = FrameTime::of_time(self.number, self.time);
        let (mut work, states) = (Workspace::default(), States::default());
        chain
            .run(&at, self.duration, &mut frame, &mut work, &states, &host)
            .map_err(|cause| Error::Frame { number: self.number, cause: cause.into() })?;
        let (width, height) = (to.width as usize, to.height as usize);
        let mut bytes = Vec::with_capacity(4 * width * height);
        for y in 0..height {
            let [g, b, r, a] = [0, 1, 2, 3].map(|p| frame.row::<u8>(p, y));
            bytes.extend((0..width).flat_map(|x| [r[x], g[x], b[x], a[x]]));
        }
        Ok(bytes)
    }
}
