//! The reasons why grain cannot be matched, or its strength is not certain.

use crate::session::job::NoFrame;
use grainfield_filters::chain::ChainError;
use grainfield_filters::frame::{Format, SpansError};
use grainfield_filters::host::PrepareError;
use grainfield_filters::plate::{MIN_SIDE, PlateError};
use grainfield_io::media::SinkError;
use grainfield_io::source::SourceError;
use grainfield_measure::blind::Check;

/// An error while matching.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// An input cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The plate's grain cannot be kept under this name.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// An input lacks a frame.
    #[error(transparent)]
    NoFrame(#[from] NoFrame),
    /// The requested times do not fit the plate.
    #[error(transparent)]
    Spans(#[from] SpansError),
    /// The plate has none of the requested frames.
    #[error("{0} has none of the requested frames")]
    NoFrames(String),
    /// The area reaches beyond the picture.
    #[error("the area reaches beyond the picture of {0}x{1}")]
    Area(usize, usize),
    /// The picture, or the area, is too small.
    #[error("{0}x{1} is too small to measure grain: at least 64x64 samples are needed")]
    Small(usize, usize),
    /// The inputs have different formats.
    #[error(
        "{} is {}, {} is {}: size, planes and range must be the same (the depth may differ)",
        .0[0].0, description(&.0[0].1), .0[1].0, description(&.0[1].1)
    )]
    Different(Box<[(String, Format); 2]>),
    /// No part of the plate is large enough.
    #[error("no part of {MIN_SIDE}x{MIN_SIDE} samples has enough measured grain: no grain can be kept")]
    NoTiles,
    /// The filter does not accept the kept grain.
    #[error("the measured grain cannot be kept: {0}")]
    Tiles(#[from] PlateError),
    /// The fitted look cannot be rendered.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The user cancelled, or a filter could not be prepared.
    #[error("{0}")]
    Prepare(#[from] PrepareError),
    /// The plate has no grain.
    #[error("{0}: there is no grain to match")]
    NoGrain(#[from] NoGrain),
}

/// The evidence that a plate has no grain.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum NoGrain {
    /// Without a clean version, too few blocks show grain only.
    #[error(
        "in {0} too few blocks differ from frame to frame by grain only, without motion, texture or compression"
    )]
    FewBlocks(String),
    /// Rounding makes differences of this strength, in 8-bit code values.
    #[error("{0} has differences of {1:.2}, which rounding to codes makes")]
    Rounding(String, f64),
    /// Plate and clean version are equal.
    #[error("{} do not differ", .0.join(" and "))]
    Equal(Vec<String>),
}

impl MatchError {
    /// Whether the user can fix the error by changing the request.
    pub fn is_usage(&self) -> bool {
        match self {
            MatchError::Source(e) => e.is_usage(),
            MatchError::Sink(e) => e.is_usage(),
            MatchError::Chain(_) | MatchError::Prepare(_) | MatchError::NoGrain(_) => false,
            _ => true,
        }
    }
}

fn description(format: &Format) -> String {
    let range = if format.full_range() { "full range" } else { "limited range" };
    format!("{}x{} {} {range}", format.width, format.height, format.name())
}

/// Why a measured strength is not certain.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum Doubt {
    /// There are no three different pictures.
    #[error(
        "fewer than three different pictures do not tell grain from motion or texture; measure more frames"
    )]
    Few,
    /// Plain parts of single frames were measured.
    #[error("texture of plain parts may count as grain; select a static shot, or give a clean version")]
    Texture,
    /// Compression has removed grain.
    #[error("compression has removed grain; match a less compressed plate")]
    Compressed,
    /// Motion may add this share to the strength.
    #[error("motion may change the strength by {:.0} %; select a static shot or part, or give a clean version", 100.0 * .0)]
    Motion(f64),
    /// The differences between frames contradict those from the clean version.
    #[error(
        "in the blocks that differ only by grain, neighbouring frames show a strength of {:.2} (coarse grain {:.2}), the \
         clean version of {:.2} ({:.2}): it still holds grain or lacks detail, as after denoising; compare with a match \
         without a clean version",
        .0.strengths[0], .0.coarse[0], .0.strengths[1], .0.coarse[1]
    )]
    Clean(Check),
    /// No blocks show grain without a clean version.
    #[error("the plate moves too much to check the clean version; a denoised one still holds grain")]
    Unchecked,
}
