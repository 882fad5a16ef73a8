//! Film grain tables from files.

use grainfield_filters::film_grain::{MAX_TEXT, Table, TableError};
use md5::{Digest, Md5};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Why a film grain table cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum GrainTableError {
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
    #[error("{}: a film grain table is text of at most {} MiB", .0.display(), MAX_TEXT >> 20)]
    NoText(PathBuf),
    /// What it says is wrong.
    #[error("{}: {cause}", path.display())]
    Says {
        /// The file.
        path: PathBuf,
        /// What, and in which line.
        #[source]
        cause: TableError,
    },
}

impl GrainTableError {
    /// Whether writing something else would help, as against the file not being there.
    pub fn is_usage(&self) -> bool {
        !matches!(self, GrainTableError::Read { .. })
    }
}

/// Reads a film grain table, and 128 bits that it is known by: the MD5 of what it says, first byte highest.
pub fn load_grain_table(path: &Path) -> Result<(Table, u128), GrainTableError> {
    let failed = |cause| GrainTableError::Read { path: path.into(), cause };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_TEXT as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    let text = String::from_utf8(bytes).ok().filter(|t| t.len() <= MAX_TEXT);
    let text = text.ok_or_else(|| GrainTableError::NoText(path.into()))?;
    let table: Table = text.parse().map_err(|cause| GrainTableError::Says { path: path.into(), cause })?;
    let mut md5 = Md5::new();
    md5.update(table.to_string());
    Ok((table, u128::from_be_bytes(md5.finalize().into())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_filters::film_grain::{Problem, vector};

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
        assert!(
            matches!(&error, GrainTableError::Says { cause, .. } if cause.line == 2 && matches!(cause.problem, Problem::Number { .. }))
        );
        assert!(error.is_usage() && error.to_string().contains("a.tbl: line 2: "), "{error}");
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(matches!(load_grain_table(&path), Err(GrainTableError::NoText(_))));
        let none = load_grain_table(&folder.path().join("b.tbl")).unwrap_err();
        assert!(matches!(none, GrainTableError::Read { .. }) && !none.is_usage());
    }
}
