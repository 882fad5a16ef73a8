//! Effect files: TOML that defines what the filter `particles` draws.
//!
//! ```toml
//! version = 1        # may be left out
//! blend = "add"      # over, add, screen or multiply
//! light = "gamma"    # or linear: the values that are mixed
//! wind = 0.1         # units per second
//!
//! [[layer]]          # an emitter with one kind of particle; may be repeated
//! rate = 40
//! place = "box"
//! y = [1.03, 1.1]
//! direction = [0, -1, 0]
//! life = [2, 5]
//! speed = [0.2, 0.4]
//! size = [0.002, 0.006]
//! colours = ["#fff2c0", "#e03a08"]
//! colour-by = "life"
//! ```
//!
//! `samples/effects/README.md` lists all keys with their values, units and defaults; [`page`] generates it from the
//! table that the parser uses. A value that varies between particles is one number, `[lowest, highest]` or `{ base = B,
//! offset = O }`: each particle has `B + r O` with its own r from -1 to 1.

mod page;
mod print;
mod read;

pub use page::page;
pub use print::{print, print_explained};

pub use crate::filter::particles::keys::LoadPicture;

use super::RecipeError;
use crate::filter::particles::Effect;
use crate::frame::md5;

/// The largest size of an effect file in bytes.
pub const MAX_TEXT: usize = 1 << 20;
/// The version of the format that this program reads and writes.
pub const VERSION: i64 = 1;

/// Parses an effect and reads its pictures. The caller adds the file name to an error:
/// [`RecipeError::named`].
///
/// # Errors
/// The first error in the text or in a picture, with its position.
pub fn parse_with(text: &str, picture: LoadPicture<'_>) -> Result<Effect, RecipeError> {
    read::parse(text, picture)
}

/// Parses an effect without reading its pictures.
///
/// # Errors
/// The first error in the text, with its position.
pub fn parse(text: &str) -> Result<Effect, RecipeError> {
    parse_with(text, &mut |_| Ok(None))
}

/// The identity of an effect: the MD5 of its text from [`print()`], first byte highest, and of the samples of each
/// picture that has been read. Comments and the order of keys make no difference.
pub fn digest(effect: &Effect) -> u128 {
    let mut all = print(effect).into_bytes();
    for frame in effect.pictures().filter_map(|p| p.frame()) {
        all.extend(frame.digest().to_be_bytes());
    }
    md5(all)
}

#[cfg(test)]
mod tests;
