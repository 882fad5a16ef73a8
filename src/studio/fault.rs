//! Why something cannot be done, as the page is told.

use crate::session::{Error, ErrorKind};

/// What is wrong, and where in the recipe.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) text: String,
    /// The filter (of those that are on) and the setting that it is about.
    pub(super) place: Option<(usize, &'static str)>,
    /// Nobody wants it any more.
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
        Fault { place, stopped: error.kind() == ErrorKind::Interrupted, ..Fault::new(error) }
    }
}
