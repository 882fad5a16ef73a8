//! Converts and scales single pictures: for settings that name a frame of the source, and for what comes from another
//! clip.

use super::{Chain, ChainError, Fields, Options, States, Step, Workspace};
use crate::catalog::find;
use crate::frame::{Alpha, ColorRange, Depth, Family, Format, Frame, FrameRef, FrameTime};
use crate::host::{CurrentThread, Host, NoCache};
use crate::ratio::Ratio;
use crate::settings::{Value, Values};
use crate::simd::Level;
use core::error::Error;
use core::sync::atomic::AtomicBool;

type Fault = Box<dyn Error + Send + Sync>;

/// Converts a picture to R, G and B, 8 bits, full range, without alpha.
///
/// # Errors
/// If the picture's format cannot be converted.
pub fn still(picture: FrameRef<'_>) -> Result<Frame, Fault> {
    let rgb = Format {
        family: Family::Rgb,
        depth: Depth::Bits(8),
        subsampling: (0, 0),
        alpha: Alpha::None,
        range: ColorRange::Full,
        ..picture.format
    };
    run(&[], picture, Level::best(), |_| rgb)
}

/// A picture in another size and in its own pixel format, as the filter `scale` makes it with its defaults: bicubic, each
/// field of its own, transparent samples without weight. It is rounded without dither.
///
/// # Errors
/// The size is not 1 to 65536, or the picture cannot be scaled.
pub fn scaled(picture: FrameRef<'_>, width: u32, height: u32, level: Level) -> Result<Frame, Fault> {
    let step = |name: &str, settings: [(&str, Value); 2]| -> Result<Step, Fault> {
        let filter = find(name).ok_or_else(|| format!("there is no filter '{name}'"))?;
        let mut values = Values::new(filter.settings);
        for (id, value) in settings {
            values.set(id, value)?;
        }
        Ok(Step::new(filter, values))
    };
    let size = [("width", width), ("height", height)].map(|(id, side)| (id, Value::Integer(side.into())));
    let plain = [("mode", Value::Choice("none")), ("static", Value::Switch(true))];
    run(&[step("scale", size)?, step("dither", plain)?], picture, level, |made| *made)
}

fn run(
    steps: &[Step],
    picture: FrameRef<'_>,
    level: Level,
    target: impl Fn(&Format) -> Format,
) -> Result<Frame, Fault> {
    let fields = if steps.is_empty() { Fields::Frame } else { Fields::of(picture.format.fields) };
    let options = Options { seed: 0, level, first: 0, last: None, fields };
    let chain = Chain::bind::<ChainError>(steps, picture.format, &options, |made| Ok(target(made)))?;
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &AtomicBool::new(false) };
    let at = FrameTime::of_frame(0, Ratio::whole(24));
    let mut frame = Frame::new(*chain.output());
    let (mut work, states) = (Workspace::default(), States::default());
    chain.run_between(&at, Ratio::ZERO, picture, frame.as_mut(), &mut work, &states, &host)?;
    Ok(frame)
}
