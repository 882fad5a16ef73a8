//! What is left of an output that will never be whole, and what that is called.

use super::temp::Names;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What there is of an output that will never be whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Left {
    /// Its name, where it is a file.
    pub partial: Option<PathBuf>,
    /// The whole frames of it; `None` where those are all that were given.
    pub frames: Option<u64>,
}

/// `out.y4m` is `out.partial.y4m` while it is not whole, `out` is `out.partial`.
pub fn partial_name(path: &Path) -> PathBuf {
    tagged(path, ".partial")
}

/// The name of the file with something between its stem and its extension.
fn tagged(path: &Path, tag: &str) -> PathBuf {
    let mut name = OsString::from(path.file_stem().unwrap_or_default());
    name.push(tag);
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// The names for what is not whole: `out.partial.y4m`, and where that may not be replaced `out.partial-2.y4m` and so on.
pub(super) fn partial_names(path: &Path, overwrite: bool) -> Names {
    const TRIES: u32 = 100;
    let more = (2..TRIES).filter(|_| !overwrite).map(|n| tagged(path, &format!(".partial-{n}")));
    ([partial_name(path)].into_iter().chain(more).collect(), overwrite)
}
