//! Errors for the page.

use grainfield_render::session::{Error, ErrorKind};

/// An error, and its position in the recipe.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) text: String,
    /// The filter (among those that are on) and the setting with the error.
    pub(super) place: Option<(usize, &'static str)>,
    /// Whether the request was cancelled.
    pub(super) stopped: bool,
}

impl Fault {
    pub(super) fn new(text: impl std::fmt::Display) -> Fault {
        Fault { text: text.to_string(), place: None, stopped: false }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        let at = error.position();
        let place = at.filter.map(|place| (place - 1, at.setting.unwrap_or_default()));
        Fault { place, stopped: error.kind() == ErrorKind::Cancelled, ..Fault::new(error) }
    }
}
