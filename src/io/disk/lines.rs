//! Files of lines beside a user's files, which are only appended to: manifests, and the status of a batch.

use super::system;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Returns an error for a link, with which anyone who can write to the folder could redirect our files.
///
/// # Errors
/// `InvalidInput` for a link, else those of the system.
pub fn plain(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_symlink() => Err(link(path)),
        Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

fn link(path: &Path) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, format!("{} is a link", path.display()))
}

/// Opens a file that is not a link.
///
/// # Errors
/// As [`plain`].
pub fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    system::open_no_link(path, options)?.ok_or_else(|| link(path))
}

/// Reads a file that is not a link; `None` if it does not exist. A file larger than `most` is an error.
///
/// # Errors
/// As [`plain`], and `FileTooLarge`.
pub fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match open(path, OpenOptions::new().read(true)) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let problem = format!("{} has more than {most} bytes", path.display());
        return Err(io::Error::new(ErrorKind::FileTooLarge, problem));
    }
    Ok(Some(bytes))
}

/// Appends lines in one write. If a crash has left an incomplete line, it is ended first.
///
/// # Errors
/// Those of the system.
pub fn append(file: &mut File, lines: &[u8]) -> io::Result<()> {
    let mut torn = false;
    if file.seek(SeekFrom::End(0))? > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        torn = last != *b"\n";
    }
    match torn {
        true => file.write_all(&[b"\n", lines].concat()),
        false => file.write_all(lines),
    }
}
