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

use crate::images;
use crate::recipe::RecipeError;
use grainfield_filters::filter::particles::Effect;
use grainfield_filters::frame::Frame;
use md5::{Digest, Md5};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Longest text of an effect file, in bytes.
pub const MAX_TEXT: usize = 1 << 20;
/// The version of the format that this program reads and writes.
pub const VERSION: i64 = 1;

/// Why an effect file cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum EffectFileError {
    /// It cannot be read.
    #[error("{}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// It is no text, or too long.
    #[error("{}: an effect file is UTF-8 text of at most 1 MiB", .0.display())]
    NoText(PathBuf),
    /// What it says is wrong.
    #[error("{0}")]
    Says(RecipeError),
}

impl EffectFileError {
    /// Whether writing something else would help, as against the file not being there.
    pub fn is_usage(&self) -> bool {
        !matches!(self, EffectFileError::Read { .. })
    }
}

/// Reads the picture of a name, or says why not.
type Load<'a> = &'a mut dyn FnMut(&str) -> Result<Option<Frame>, String>;

/// Reads an effect without its pictures. The caller adds the file's name to an error: [`RecipeError::named`].
pub fn parse(text: &str) -> Result<Effect, RecipeError> {
    read::parse(text, &mut |_| Ok(None))
}

/// Reads an effect file and the pictures that it names, relative to its own folder.
pub fn load(path: &Path) -> Result<Effect, EffectFileError> {
    let failed = |cause| EffectFileError::Read { path: path.into(), cause };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_TEXT as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    let text = String::from_utf8(bytes).ok().filter(|t| t.len() <= MAX_TEXT);
    let text = text.ok_or_else(|| EffectFileError::NoText(path.into()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut picture = |name: &str| match images::read(&folder.join(name)) {
        Ok(frame) => Ok(Some(frame)),
        Err(images::Fault::Io(e)) => Err(format!("{}: {e}", folder.join(name).display())),
        Err(images::Fault::Bad(problem)) => Err(format!("{}: {problem}", folder.join(name).display())),
        Err(images::Fault::Differs(_)) => Err(format!("{} changes while it is read", name)),
    };
    read::parse(&text, &mut picture).map_err(|e| EffectFileError::Says(e.named(&path.to_string_lossy())))
}

/// What an effect is known by: the MD5 of what [`print()`] says of it, first byte highest. Comments and the order of
/// keys do not count; then, for each picture in it that has been read, that of its samples.
pub fn digest(effect: &Effect) -> u128 {
    let mut md5 = Md5::new();
    md5.update(print(effect));
    for frame in effect.pictures().filter_map(|p| p.frame()) {
        md5.update(crate::sink::hash::digest(frame));
    }
    u128::from_be_bytes(md5.finalize().into())
}

#[cfg(test)]
mod tests;
