//! The user's own looks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The recipes NAME.toml of a folder, by name; none if there is no such folder.
pub fn own_looks(folder: &Path) -> BTreeMap<String, PathBuf> {
    let paths = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
    let toml = paths.filter(|path| path.extension().is_some_and(|e| e == "toml"));
    toml.filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), path))).collect()
}
