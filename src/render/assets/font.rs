//! Fonts from files.

use super::text_file::{TextFileError, read_bytes};
use grainfield_filters::font::Font;
use grainfield_filters::frame::md5;
use std::path::Path;

/// The largest size of a font file in bytes.
const MAX_FONT: usize = 64 << 20;

/// Reads a font file, and returns it with a 128-bit digest: the MD5 of its bytes, first byte highest.
///
/// # Errors
/// [`TextFileError`] if the file cannot be read, or is no font with outlines.
pub fn load_font(path: &Path) -> Result<(Font, u128), TextFileError> {
    let bytes = read_bytes(path, "a font", MAX_FONT)?;
    let digest = md5(&bytes);
    let font = Font::new(bytes);
    Ok((font.map_err(|e| TextFileError::Says(format!("{}: {e}", path.display())))?, digest))
}
