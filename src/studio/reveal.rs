//! Shows the folder of a finished file in the file manager.

use super::fault::Fault;
use crate::Options;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program that opens files and folders.
pub(super) const OPENER: &str = match () {
    () if cfg!(target_os = "macos") => "open",
    () if cfg!(windows) => "explorer.exe",
    () => "xdg-open",
};

/// The program that opens a folder; `None` where there is no screen, or the page may be on another machine.
pub(super) fn program(options: &Options) -> Option<PathBuf> {
    let is_screen = |name: &str| std::env::var_os(name).is_some_and(|screen| !screen.is_empty());
    let needs_screen = !cfg!(any(target_os = "macos", windows));
    if !options.allow_host.is_empty()
        || needs_screen && !is_screen("DISPLAY") && !is_screen("WAYLAND_DISPLAY")
    {
        return None;
    }
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    folders.iter().filter(|f| f.is_absolute()).map(|f| f.join(OPENER)).find(|program| program.is_file())
}

/// Opens the folder of a file, never the file: which program that would start is not ours to choose.
pub(super) fn folder_of(program: &Path, file: &Path) -> Result<(), Fault> {
    let folder = file.parent().map(Path::canonicalize).and_then(Result::ok).filter(|folder| folder.is_dir());
    let folder = folder.ok_or_else(|| Fault::new(format!("{}: its folder is gone", file.display())))?;
    let mut command = Command::new(program);
    command.arg(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|e| Fault::new(format!("{}: {e}", program.display())))?;
    std::thread::spawn(move || child.wait());
    Ok(())
}
