//! Look-up tables of colours from files.

use super::text_file::{TextFileError, read_bytes};
use grainfield_filters::lut::{Lut, MAX_TEXT};
use md5::{Digest, Md5};
use std::path::Path;

/// Reads a `.cube` file, and returns it with a 128-bit digest: the MD5 of its text, first byte highest.
///
/// # Errors
/// [`TextFileError`] if the file cannot be read, or is no look-up table.
pub fn load_lut(path: &Path) -> Result<(Lut, u128), TextFileError> {
    let bytes = read_bytes(path, "a look-up table (.cube)", MAX_TEXT)?;
    // Old titles and comments are in other encodings; keywords and numbers are ASCII.
    let lut = String::from_utf8_lossy(&bytes).parse();
    let lut: Lut = lut.map_err(|e| TextFileError::Says(format!("{}: {e}", path.display())))?;
    Ok((lut, u128::from_be_bytes(Md5::digest(&bytes).into())))
}
