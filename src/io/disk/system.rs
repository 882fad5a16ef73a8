//! What Unix and Windows do in different ways, under one name each. Nothing else of what is built without FFmpeg names
//! a system, except for files without a name, which only Linux has.

#[cfg(unix)]
pub(crate) use unix::{
    descriptor, duplicate, file_id, link, open_no_link, path_id, private, without_waiting,
};
#[cfg(windows)]
pub(crate) use windows::{
    descriptor, duplicate, file_id, link, open_no_link, path_id, private, without_waiting,
};

#[cfg(unix)]
pub use unix::name_of;
#[cfg(windows)]
pub use windows::name_of;

/// What tells a file from all others: its disk, and its number there.
pub(crate) type FileId = (u64, u64);

#[cfg(unix)]
mod unix {
    use super::FileId;
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::ffi::OsStr;
    use std::fs::{DirBuilder, File, Metadata, OpenOptions};
    use std::io;
    use std::os::fd::{AsFd, AsRawFd};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
    use std::path::{Path, PathBuf};

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
    use std::fs::{DirBuilder, File, OpenOptions};
    use std::io;
    use std::os::windows::fs::OpenOptionsExt;
    use std::os::windows::io::AsHandle;
    use std::path::{Path, PathBuf};
    use winapi_util::file::information;

    // Of CreateFileW: opens a link itself, and opens folders too.
    const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    const BACKUP_SEMANTICS: u32 = 0x0200_0000;

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
