//! Filters of another library as members of a chain.

use super::{Format, Frame, FrameRef};
use crate::ratio::Ratio;
use core::fmt::Debug;

/// A library of filters, which the host runs: FFmpeg's. See
/// [`Values::supply_library`](crate::settings::Values::supply_library).
pub trait FilterLibrary: Send + Sync + Debug {
    /// Binds the filters that a text describes to a format. A field is a picture of half the height.
    ///
    /// # Errors
    /// The text is wrong, a result would depend on more than the picture and its time, or no format fits; the error says
    /// which filter and why.
    fn bind(&self, text: &str, input: &Format) -> Result<Box<dyn ExternalFilter>, String>;
}

/// Filters of another library, bound to a format. Any thread may call them; a result depends on the picture and its time
/// alone.
pub trait ExternalFilter: Send + Sync {
    /// The format in which they work: the one to which they were bound, or one of fewer bits.
    fn input(&self) -> &Format;

    /// Width and height of their result, in luma samples of the picture; all else is as in the input.
    fn size(&self) -> (usize, usize);

    /// Filters a picture in the format [`input`](ExternalFilter::input), shown at `time` in seconds, into one of
    /// [`size`](ExternalFilter::size).
    ///
    /// # Errors
    /// The library fails.
    fn filter(&self, picture: FrameRef<'_>, time: Ratio, out: &mut Frame) -> Result<(), String>;
}
