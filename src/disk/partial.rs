//! The remaining part of an incomplete output, and its name.

use super::temp::Names;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The remaining part of an incomplete output.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Left {
    /// Its path, if it is a file.
    pub partial: Option<PathBuf>,
    /// The number of its whole frames; `None` if all frames that were written are in it.
    pub frames: Option<u64>,
}

/// The name of an incomplete file: `out.partial.y4m` for `out.y4m`, `out.partial` for `out`.
pub fn partial_name(path: &Path) -> PathBuf {
    tagged(path, ".partial")
}

/// Inserts a text between stem and extension of a file name.
fn tagged(path: &Path, tag: &str) -> PathBuf {
    let mut name = OsString::from(path.file_stem().unwrap_or_default());
    name.push(tag);
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// The names for an incomplete file: `out.partial.y4m`, and if that may not be replaced, `out.partial-2.y4m` and so on.
pub(super) fn partial_names(path: &Path, overwrite: bool) -> Names {
    const TRIES: u32 = 100;
    let more = (2..TRIES).filter(|_| !overwrite).map(|n| tagged(path, &format!(".partial-{n}")));
    ([partial_name(path)].into_iter().chain(more).collect(), overwrite)
}
