//! Effect files: what the filter `particles` draws, as TOML.
//!
//! ```toml
//! version = 1        # may be left out
//! blend = "add"      # over, add, screen or multiply
//! light = "gamma"    # or linear: in what they mix
//! wind = 0.1         # units a second
//!
//! [[layer]]          # an emitter with one kind of particle; as many as there are layers
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
//! All keys with what they take, their units and defaults stand in `samples/effects/README.md`, which [`page`] writes
//! from the table that files are read by. A number that each particle has its own of is one number, `[lowest, highest]`
//! or `{ base = B, offset = O }`: each particle has `B + r O`, r from -1 to 1.

mod page;
mod print;
mod read;

pub use page::page;
pub use print::{print, print_explained};

use super::RecipeError;
use crate::filter::particles::Effect;
use crate::frame::Frame;
use md5::{Digest, Md5};

/// Longest text of an effect file, in bytes.
pub const MAX_TEXT: usize = 1 << 20;
/// The version of the format that this program reads and writes.
pub const VERSION: i64 = 1;

/// Reads the picture of a name, or says why it cannot; `None` leaves it unread.
pub type LoadPicture<'a> = &'a mut dyn FnMut(&str) -> Result<Option<Frame>, String>;

/// Reads an effect and its pictures. The caller adds the file's name to an error: [`RecipeError::named`].
pub fn parse_with(text: &str, picture: LoadPicture<'_>) -> Result<Effect, RecipeError> {
    read::parse(text, picture)
}

/// Reads an effect without its pictures.
pub fn parse(text: &str) -> Result<Effect, RecipeError> {
    parse_with(text, &mut |_| Ok(None))
}

/// What an effect is known by: the MD5 of what [`print()`] says of it, first byte highest. Comments and the order of
/// keys do not count; then, for each picture in it that has been read, that of its samples.
pub fn digest(effect: &Effect) -> u128 {
    let mut md5 = Md5::new();
    md5.update(print(effect));
    for frame in effect.pictures().filter_map(|p| p.frame()) {
        md5.update(frame.digest());
    }
    u128::from_be_bytes(md5.finalize().into())
}

#[cfg(test)]
mod tests;
