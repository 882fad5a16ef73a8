//! Converts pictures to still images, for settings that name a frame of the source.

use super::{Chain, ChainError, Fields, Options, States, Workspace};
use crate::frame::{Alpha, ColorRange, Depth, Family, Format, Frame, FrameRef, FrameTime};
use crate::host::{CurrentThread, Host, NoCache};
use crate::ratio::Ratio;
use crate::simd::Level;
use core::error::Error;
use core::sync::atomic::AtomicBool;

/// Converts a picture to R, G and B, 8 bits, full range, without alpha.
///
/// # Errors
/// If the picture's format cannot be converted.
pub fn still(picture: FrameRef<'_>) -> Result<Frame, Box<dyn Error + Send + Sync>> {
    let from = picture.format;
    let rgb = Format {
        family: Family::Rgb,
        depth: Depth::Bits(8),
        subsampling: (0, 0),
        alpha: Alpha::None,
        range: ColorRange::Full,
        ..from
    };
    let options = Options { seed: 0, level: Level::best(), first: 0, last: None, fields: Fields::Frame };
    let chain = Chain::bind::<ChainError>(&[], from, &options, |_| Ok(rgb))?;
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &AtomicBool::new(false) };
    let at = FrameTime::of_frame(0, Ratio::whole(24));
    let mut frame = Frame::new(rgb);
    let (mut work, states) = (Workspace::default(), States::default());
    chain.run_between(&at, Ratio::ZERO, picture, frame.as_mut(), &mut work, &states, &host)?;
    Ok(frame)
}
