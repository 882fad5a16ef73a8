//! Look-up tables of colours from files.

use super::text_file::{TextFileError, read_bytes};
use grainfield_filters::frame::md5;
use grainfield_filters::lut::{Lut, MAX_TEXT};
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
    Ok((lut, md5(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_any_encoding_are_read_and_errors_name_file_and_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.cube");
        let text = b"TITLE \"caf\xe9\"\r\nLUT_1D_SIZE 2\r\n0 0 0\r\n1 1 1\r\n";
        std::fs::write(&path, text).unwrap();
        let (_, digest) = load_lut(&path).unwrap();
        std::fs::write(&path, [text.as_slice(), b"# more\n"].concat()).unwrap();
        assert!(load_lut(&path).unwrap().1 != digest);
        std::fs::write(&path, "LUT_1D_SIZE 2\n0 0 0\n1 x 1\n").unwrap();
        let error = load_lut(&path).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("a.cube: line 3: "), "{error}");
        assert!(!load_lut(&folder.path().join("b.cube")).unwrap_err().is_usage());
    }
}
