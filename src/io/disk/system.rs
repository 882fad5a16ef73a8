//! What Unix and Windows do in different ways, under one name each. Nothing else names a system, except for signals,
//! files without a name, which only Linux has, and the allocator of glibc.
#![cfg_attr(not(feature = "ffmpeg"), allow(dead_code, unused_imports))] // some of it is for libav alone

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub(crate) use system::{
    descriptor, duplicate, errno, file_id, from_errno, has_data, is_fifo, link, open_no_link, path_id,
    private, sync_folder, without_waiting,
};
pub use system::{end, name_of};

use std::path::PathBuf;

/// The user's folder for files of this program: `grainfield` in the folder that `variable` names, else in the system's.
pub fn user_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute(variable).or_else(|| match system::USER_FOLDERS {
        Some((config, _)) if variable == "XDG_CONFIG_HOME" => absolute(config),
        Some((_, others)) => absolute(others),
        None => absolute("HOME").map(|home| home.join(below_home)),
    })?;
    Some(base.join("grainfield"))
}

/// What tells a file from all others: its disk, and its number there.
pub(crate) type FileId = (u64, u64);

#[cfg(unix)]
mod unix {
    use super::FileId;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::{AtFlags, CWD, linkat};
    use rustix::io::Errno;
    use rustix::process::{Pid, Signal, kill_process};
    use std::ffi::OsStr;
    use std::fs::{DirBuilder, File, Metadata, OpenOptions};
    use std::io;
    use std::os::fd::{AsFd, AsRawFd};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt};
    use std::path::{Path, PathBuf};
    use std::process::Child;
    use std::time::Duration;

    /// The variables that name the user's folders for configuration and for other files.
    pub(super) const USER_FOLDERS: Option<(&str, &str)> = None;

    /// A part of a name, from its bytes.
    pub fn name_of(bytes: &[u8]) -> &OsStr {
        OsStr::from_bytes(bytes)
    }

    /// A standard stream as a file, without the buffer that Rust puts before it.
    pub(crate) fn duplicate(stream: &impl AsFd) -> io::Result<File> {
        stream.as_fd().try_clone_to_owned().map(File::from)
    }

    fn id(meta: &Metadata) -> Option<FileId> {
        meta.is_file().then(|| (meta.dev(), meta.ino()))
    }

    /// The identity of an open file; `None` for anything but an ordinary file.
    pub(crate) fn file_id(file: &File) -> io::Result<Option<FileId>> {
        Ok(id(&file.metadata()?))
    }

    /// The identity of the file with this name; `None` for anything but an ordinary file.
    pub(crate) fn path_id(path: &Path, follow: bool) -> io::Result<Option<FileId>> {
        Ok(id(&if follow { path.metadata()? } else { path.symlink_metadata()? }))
    }

    /// Opening a named pipe does not wait for its writer.
    pub(crate) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
        options.custom_flags(libc::O_NONBLOCK)
    }

    /// Opens a file, without waiting; `None` for a link. The system refuses it at the moment of opening: a check before
    /// would leave time to replace the file.
    pub(crate) fn open_no_link(path: &Path, options: &OpenOptions) -> io::Result<Option<File>> {
        match options.clone().custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path) {
            Err(e) if e.raw_os_error() == Some(libc::ELOOP) => Ok(None),
            file => file.map(Some),
        }
    }

    /// Whether this is a named pipe.
    pub(crate) fn is_fifo(meta: &Metadata) -> bool {
        meta.file_type().is_fifo()
    }

    /// Whether a pipe has data or has been closed, within a time. One that never had a writer has neither.
    pub(crate) fn has_data(pipe: &File, within: Duration) -> io::Result<bool> {
        let time = Timespec { tv_sec: 0, tv_nsec: within.subsec_nanos().into() };
        match poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&time)) {
            Err(Errno::INTR) => Ok(false),
            found => Ok(found? > 0),
        }
    }

    /// Asks a program to end: it completes what it has finished.
    ///
    /// # Errors
    /// Those of the system.
    pub fn end(child: &mut Child) -> io::Result<()> {
        let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Ok(id.map_or(Ok(()), |id| kill_process(id, Signal::TERM))?)
    }

    /// The number that C has for an error.
    pub(crate) fn errno(error: &io::Error) -> i32 {
        error.raw_os_error().unwrap_or(libc::EIO)
    }

    /// The error with this number in C.
    pub(crate) fn from_errno(number: i32) -> io::Error {
        io::Error::from_raw_os_error(number)
    }

    /// Makes the names in a folder last through a crash.
    pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    /// Makes folders that only their owner can use.
    pub(crate) fn private(folders: &mut DirBuilder) -> &mut DirBuilder {
        folders.mode(0o700)
    }

    /// A path to an open file of this process.
    pub(crate) fn descriptor(file: &File) -> PathBuf {
        format!("/proc/self/fd/{}", file.as_raw_fd()).into()
    }

    /// Gives a name to a file that has none.
    pub(crate) fn link(file: &File, name: &Path) -> io::Result<()> {
        Ok(linkat(CWD, descriptor(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
    }
}

#[cfg(windows)]
mod windows {
    use super::FileId;
    use std::ffi::OsStr;
    use std::fs::{DirBuilder, File, Metadata, OpenOptions};
    use std::io;
    use std::os::windows::fs::OpenOptionsExt;
    use std::os::windows::io::AsHandle;
    use std::path::{Path, PathBuf};
    use std::process::Child;
    use std::time::Duration;
    use winapi_util::file::information;

    // Of CreateFileW: opens a link itself, and opens folders too.
    const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    const BACKUP_SEMANTICS: u32 = 0x0200_0000;

    /// Numbers of errors in C, and those that the system has for them.
    const ERRORS: [(i32, i32); 12] = [
        (libc::ENOENT, 2),
        (libc::ENOENT, 3),
        (libc::EACCES, 5),
        (libc::EACCES, 32),
        (libc::EIO, 1117),
        (libc::ENOSPC, 112),
        (libc::EPIPE, 232),
        (libc::EPIPE, 109),
        (libc::EEXIST, 80),
        (libc::EFBIG, 223),
        (libc::EROFS, 19),
        (libc::ECANCELED, 995),
    ];

    pub(super) const USER_FOLDERS: Option<(&str, &str)> = Some(("APPDATA", "LOCALAPPDATA"));

    /// A part of a name, from its bytes. One that is not Unicode is that of no file.
    pub fn name_of(bytes: &[u8]) -> &OsStr {
        OsStr::new(std::str::from_utf8(bytes).unwrap_or("\u{fffd}"))
    }

    pub(crate) fn duplicate(stream: &impl AsHandle) -> io::Result<File> {
        stream.as_handle().try_clone_to_owned().map(File::from)
    }

    pub(crate) fn file_id(file: &File) -> io::Result<Option<FileId>> {
        if !file.metadata()?.is_file() {
            return Ok(None);
        }
        information(file).map(|found| Some((found.volume_serial_number(), found.file_index())))
    }

    pub(crate) fn path_id(path: &Path, follow: bool) -> io::Result<Option<FileId>> {
        let link = if follow { 0 } else { OPEN_REPARSE_POINT };
        file_id(&OpenOptions::new().access_mode(0).custom_flags(BACKUP_SEMANTICS | link).open(path)?)
    }

    pub(crate) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
        options
    }

    pub(crate) fn open_no_link(path: &Path, options: &OpenOptions) -> io::Result<Option<File>> {
        let file = options.clone().custom_flags(OPEN_REPARSE_POINT).open(path)?;
        let is_link = file.metadata()?.is_symlink();
        Ok((!is_link).then_some(file))
    }

    pub(crate) fn is_fifo(_: &Metadata) -> bool {
        false
    }

    pub(crate) fn has_data(_: &File, _: Duration) -> io::Result<bool> {
        Ok(true)
    }

    /// Ends a program at once, since it cannot be asked: what it is writing keeps its partial name.
    ///
    /// # Errors
    /// Those of the system.
    pub fn end(child: &mut Child) -> io::Result<()> {
        child.kill()
    }

    /// The number that C has for an error.
    pub(crate) fn errno(error: &io::Error) -> i32 {
        let found = ERRORS.iter().find(|(_, system)| error.raw_os_error() == Some(*system));
        found.map_or(libc::EIO, |(number, _)| *number)
    }

    /// The error with this number in C.
    pub(crate) fn from_errno(number: i32) -> io::Error {
        let found = ERRORS.iter().find(|(known, _)| *known == number);
        found.map_or(io::ErrorKind::Other.into(), |(_, system)| io::Error::from_raw_os_error(*system))
    }

    /// Nothing: the file system keeps names by itself, and does not open folders.
    pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn private(folders: &mut DirBuilder) -> &mut DirBuilder {
        folders
    }

    /// No path: files have no such names here.
    pub(crate) fn descriptor(_: &File) -> PathBuf {
        PathBuf::new()
    }

    pub(crate) fn link(_: &File, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
