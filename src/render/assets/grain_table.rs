//! Film grain tables from files.

use super::text_file::{TextFileError, read_text};
use grainfield_filters::film_grain::{MAX_TEXT, Table};
use grainfield_filters::frame::md5;
use std::path::Path;

/// Reads a film grain table, and returns it with a 128-bit digest: the MD5 of its parameters, first byte
/// highest.
///
/// # Errors
/// [`TextFileError`] if the file cannot be read, or is no film grain table.
pub fn load_grain_table(path: &Path) -> Result<(Table, u128), TextFileError> {
    let text = read_text(path, "a film grain table", MAX_TEXT)?;
    let table: Table = text.parse().map_err(|e| TextFileError::Says(format!("{}: {e}", path.display())))?;
    let digest = md5(table.to_string());
    Ok((table, digest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_filters::film_grain::vector;

    #[test]
    fn tables_are_read_and_known_by_what_they_say() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tbl");
        let (params, seed) = vector(1).unwrap();
        let table = Table::constant(params, seed);
        std::fs::write(&path, table.to_string()).unwrap();
        let (read, digest) = load_grain_table(&path).unwrap();
        assert_eq!(read.to_string(), table.to_string());
        std::fs::write(&path, table.to_string().replace('\n', "\r\n\r\n")).unwrap();
        assert_eq!(load_grain_table(&path).unwrap(), (read, digest));
        std::fs::write(&path, "filmgrn1\nE 0 1 2 3 4\n").unwrap();
        let error = load_grain_table(&path).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("a.tbl: line 2: "), "{error}");
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(matches!(load_grain_table(&path), Err(TextFileError::NoText { .. })));
        let none = load_grain_table(&folder.path().join("b.tbl")).unwrap_err();
        assert!(matches!(none, TextFileError::Read { .. }) && !none.is_usage());
    }
}
