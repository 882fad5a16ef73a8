//! Outputs stay in their folder: neither `..` nor a link may lead out of it.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// The reason why an output's location is not allowed.
#[derive(Debug, thiserror::Error)]
pub enum OutputPathError {
    /// It is outside the folder.
    #[error("{} would be written outside {}{how}", output.display(), folder.display())]
    Outside {
        /// The output.
        output: PathBuf,
        /// The folder for outputs.
        folder: PathBuf,
        /// The part that leads out.
        how: &'static str,
    },
    /// It is not a file.
    #[error("{}: a job writes files, not a pipe", .0.display())]
    Pipe(PathBuf),
    /// An error of the system.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The error.
        #[source]
        cause: io::Error,
    },
}

/// The output of a job from `folder` and its name; folders are created if `make`. `outside`: any location is
/// allowed.
///
/// # Errors
/// [`OutputPathError`] if the location is not allowed, or a folder cannot be created.
pub fn output_path(
    folder: &Path,
    output: &OsStr,
    outside: bool,
    make: bool,
) -> Result<OsString, OutputPathError> {
    let bytes = output.as_encoded_bytes();
    if bytes == b"null:" {
        return Ok(output.to_owned());
    }
    if bytes == b"-" || bytes == b"hash:" || bytes == b"hash:-" {
        return Err(OutputPathError::Pipe(output.into()));
    }
    if let Some(file) = output.to_str().and_then(|o| o.strip_prefix("hash:")) {
        let mut placed = OsString::from("hash:");
        placed.push(output_path(folder, OsStr::new(file), outside, make)?);
        return Ok(placed);
    }
    let outside_error =
        |how| OutputPathError::Outside { output: output.into(), folder: folder.to_path_buf(), how };
    let path = Path::new(output);
    let full = folder.join(path);
    let parent = full.parent().unwrap_or(Path::new("")).to_path_buf();
    if outside {
        if make {
            std::fs::create_dir_all(&parent).map_err(|cause| OutputPathError::Io { path: parent, cause })?;
        }
        return Ok(full.into_os_string());
    }
    let relative = full.strip_prefix(folder).map_err(|_| outside_error(""))?.to_path_buf();
    if relative.components().any(|c| !matches!(c, Component::Normal(_) | Component::CurDir)) {
        return Err(outside_error(" by '..'"));
    }
    let io = |path: &Path, cause| OutputPathError::Io { path: path.to_path_buf(), cause };
    if make {
        std::fs::create_dir_all(folder).map_err(|e| io(folder, e))?;
    }
    let root = match folder.canonicalize() {
        Ok(root) => root,
        // it does not exist, so it cannot lead out
        Err(e) if e.kind() == ErrorKind::NotFound && !make => return Ok(full.into_os_string()),
        Err(e) => return Err(io(folder, e)),
    };
    let mut at = folder.to_path_buf();
    let count = relative.components().count();
    for (i, part) in relative.components().enumerate() {
        at.push(part);
        let last = i + 1 == count;
        match at.symlink_metadata() {
            Ok(meta) if meta.is_symlink() => {
                // a dangling link is not inside
                if !at.canonicalize().is_ok_and(|real| real.starts_with(&root)) {
                    return Err(outside_error(" by a link"));
                }
            }
            Ok(_) => {}
            Err(e) if e.kind() == ErrorKind::NotFound && (last || !make) => break,
            Err(e) if e.kind() == ErrorKind::NotFound => match std::fs::create_dir(&at) {
                // another program has created it
                Err(e) if e.kind() != ErrorKind::AlreadyExists => return Err(io(&at, e)),
                _ => {}
            },
            Err(e) => return Err(io(&at, e)),
        }
    }
    Ok(full.into_os_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn outputs_stay_inside() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("out");
        let at = |output: &str| output_path(&folder, OsStr::new(output), false, true);
        assert_eq!(at("a/b/c.####.png").unwrap(), folder.join("a/b/c.####.png"));
        assert!(folder.join("a/b").is_dir());
        std::fs::create_dir(home.path().join("else")).unwrap();
        symlink(home.path().join("else"), folder.join("link")).unwrap();
        symlink(folder.join("a"), folder.join("inside")).unwrap();
        symlink(home.path().join("else/x.mkv"), folder.join("x.mkv")).unwrap();
        assert!(at("inside/d.mkv").is_ok() && at("./e.mkv").is_ok() && at("null:").is_ok());
        assert_eq!(at("hash:h.txt").unwrap().to_str().unwrap(), format!("hash:{}/h.txt", folder.display()));
        for bad in
            ["../x.mkv", "a/../../x.mkv", "a/../x.mkv", "/tmp/x.mkv", "link/x.mkv", "link/y/x.mkv", "x.mkv"]
        {
            assert!(matches!(at(bad), Err(OutputPathError::Outside { .. })), "{bad}");
            assert!(output_path(&folder, OsStr::new(bad), true, false).is_ok(), "{bad}");
        }
        assert!(matches!(at("-"), Err(OutputPathError::Pipe(_))));
        assert!(!home.path().join("else/y").exists());
    }

    #[test]
    fn looking_makes_nothing() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("out");
        assert!(output_path(&folder, OsStr::new("a/b.mkv"), false, false).is_ok());
        assert!(!folder.exists());
        assert!(output_path(&folder, OsStr::new("../b.mkv"), false, false).is_err());
    }
}
