//! The cache folder: data that can be computed again and is kept between runs.
//!
//! The folder may be deleted at any time, also while it is in use. A file is written under an unpredictable name and
//! renamed when it is complete, so that processes can share the folder without a lock. Links are never followed. When
//! the folder exceeds its limit, the least recently used files are deleted, whatever they contain.

use super::system;
use grainfield_filters::frame::md5;
use grainfield_filters::host::lock;
use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

/// The default limit in bytes.
pub const DEFAULT_LIMIT: u64 = 2_000_000_000;
/// The ending of names of unfinished files.
const TEMPORARY: &str = ".tmp";
/// The age at which an unfinished file is considered abandoned.
const GIVEN_UP: Duration = Duration::from_secs(3600);

/// Kinds of files. Each kind has its own folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// States of simulations.
    State,
    /// Indexes of videos.
    Index,
}

impl Kind {
    const ALL: [Kind; 2] = [Kind::State, Kind::Index];

    fn folder(self) -> &'static str {
        match self {
            Kind::State => "states",
            Kind::Index => "indexes",
        }
    }

    /// The ending of file names, after the key.
    fn suffix(self) -> &'static str {
        match self {
            Kind::State => ".state",
            Kind::Index => ".index",
        }
    }
}

/// `$XDG_CACHE_HOME/grainfield`, else `~/.cache/grainfield`; on Windows in `%LOCALAPPDATA%`.
pub fn default_folder() -> Option<PathBuf> {
    system::user_folder("XDG_CACHE_HOME", ".cache")
}

/// Appends the MD5 of the bytes of a file, by which [`unseal`] recognises damage.
pub fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(md5(&bytes).to_be_bytes());
    bytes
}

/// The contents of a [sealed](seal) file after `head`; `None` if it begins with another head or is damaged.
pub fn unseal<'a>(head: &[u8], file: &'a [u8]) -> Option<&'a [u8]> {
    let (body, sum) = file.split_last_chunk()?;
    body.strip_prefix(head).filter(|_| md5(body).to_be_bytes() == *sum)
}

/// The contents of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of files.
    pub files: u64,
    /// Size in bytes.
    pub bytes: u64,
}

/// A cache folder.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
    /// The size of the folder in bytes, as far as it is known.
    used: Mutex<Option<u64>>,
}

/// A file of the cache.
struct Item {
    path: PathBuf,
    size: u64,
    used: SystemTime,
}

impl Cache {
    /// A cache in `folder`, which need not exist, with at most `limit` bytes.
    pub fn new(folder: &Path, limit: u64) -> Cache {
        Cache { folder: folder.to_path_buf(), limit, used: Mutex::default() }
    }

    /// The folder of the cache.
    pub fn root(&self) -> &Path {
        &self.folder
    }

    /// The folder of a kind.
    pub fn folder(&self, kind: Kind) -> PathBuf {
        self.folder.join(kind.folder())
    }

    /// The path of a file.
    pub fn path(&self, kind: Kind, key: u128) -> PathBuf {
        self.folder(kind).join(format!("{key:032x}{}", kind.suffix()))
    }

    /// The files of the cache, and abandoned unfinished ones.
    fn items(&self) -> io::Result<Vec<Item>> {
        let mut items = Vec::new();
        let now = SystemTime::now();
        for kind in Kind::ALL {
            let folder = self.folder(kind);
            if !is_folder(&folder) {
                continue;
            }
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                let name = entry.file_name();
                let Some(name) = name.to_str() else { continue };
                let key = name.strip_suffix(kind.suffix());
                let ours = key.is_some_and(|k| k.len() == 32 && k.bytes().all(|b| b.is_ascii_hexdigit()));
                let unfinished = name.starts_with('.') && name.ends_with(TEMPORARY);
                if !ours && !unfinished {
                    continue;
                }
                // Another program may delete files at the same time.
                let Ok(meta) = fs::symlink_metadata(entry.path()) else { continue };
                let used = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                let old = now.duration_since(used).is_ok_and(|age| age > GIVEN_UP);
                if meta.is_file() && (ours || old) {
                    items.push(Item { path: entry.path(), size: meta.len(), used });
                }
            }
        }
        Ok(items)
    }

    /// The number and size of files.
    ///
    /// # Errors
    /// Those of the system.
    pub fn usage(&self) -> io::Result<Usage> {
        let items = self.items()?;
        Ok(Usage { files: items.len() as u64, bytes: items.iter().map(|i| i.size).sum() })
    }

    /// Deletes all files, and returns their number and size.
    ///
    /// # Errors
    /// Those of the system.
    pub fn clear(&self) -> io::Result<Usage> {
        let mut gone = Usage::default();
        for item in self.items()? {
            match fs::remove_file(&item.path) {
                Ok(()) => {
                    gone.files += 1;
                    gone.bytes += item.size;
                }
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
        }
        // Only empty folders are removed; another program may use them.
        Kind::ALL.iter().for_each(|kind| drop(fs::remove_dir(self.folder(*kind))));
        Ok(gone)
    }

    /// Reads a file of at most `most` bytes.
    ///
    /// # Errors
    /// `NotFound` for a file that does not exist, is too large or not an ordinary one; else those of the
    /// system.
    pub fn read(&self, kind: Kind, key: u128, most: u64) -> io::Result<Vec<u8>> {
        let none = || io::Error::from(ErrorKind::NotFound);
        let path = self.path(kind, key);
        let before = fs::symlink_metadata(&path)?;
        if !is_folder(&self.folder(kind)) || !before.is_file() || before.len() > most {
            return Err(none());
        }
        let known = system::path_id(&path, false)?;
        let file = system::open_no_link(&path, fs::OpenOptions::new().read(true))?.ok_or_else(none)?;
        // The file may have been replaced in between.
        if system::file_id(&file)? != known {
            return Err(none());
        }
        let mut bytes = Vec::new();
        (&file).take(most).read_to_end(&mut bytes)?;
        // Mark it as recently used.
        let _ = file.set_modified(SystemTime::now());
        Ok(bytes)
    }

    /// Removes a damaged file.
    pub fn remove(&self, kind: Kind, key: u128) {
        let _ = fs::remove_file(self.path(kind, key));
    }

    /// Whether a file exists.
    pub fn has(&self, kind: Kind, key: u128) -> bool {
        fs::symlink_metadata(self.path(kind, key)).is_ok_and(|m| m.is_file())
    }

    /// Stores bytes under a key, replacing an older file, unless they exceed the limit on their own.
    ///
    /// # Errors
    /// `NotADirectory` if the folder is a link, else those of the system.
    pub fn write(&self, kind: Kind, key: u128, bytes: &[u8]) -> io::Result<()> {
        let size = bytes.len() as u64;
        if size > self.limit {
            return Ok(());
        }
        let folder = self.folder(kind);
        // accessible to its owner only
        system::private(DirBuilder::new().recursive(true)).create(&folder)?;
        if !is_folder(&folder) {
            return Err(ErrorKind::NotADirectory.into());
        }
        let mut file = tempfile::Builder::new().prefix(".").suffix(TEMPORARY).tempfile_in(&folder)?;
        file.write_all(bytes)?;
        file.persist(self.path(kind, key))?;
        // The file is stored; an error because another process clears the folder at this moment does not
        // matter.
        let _ = self.trim(size);
        Ok(())
    }

    /// Adds to the size, and deletes the least recently used files if it exceeds the limit.
    fn trim(&self, more: u64) -> io::Result<()> {
        let mut used = lock(&self.used);
        let known = match *used {
            Some(n) => n + more,
            None => self.usage()?.bytes,
        };
        *used = Some(known);
        if known <= self.limit {
            return Ok(());
        }
        let mut items = self.items()?;
        items.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
        let mut total: u64 = items.iter().map(|i| i.size).sum();
        for item in &items {
            // Delete more than necessary, so that this happens rarely.
            if total <= self.limit - self.limit / 10 {
                break;
            }
            if fs::remove_file(&item.path).is_ok() {
                total -= item.size;
            }
        }
        *used = Some(total);
        Ok(())
    }
}

/// Whether this is a folder, not a link to one.
fn is_folder(folder: &Path) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|m| m.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn the_limit_and_clearing_are_of_all_kinds() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::new(home.path(), 2500);
        let hour = |n: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + 3600 * n);
        let put = |kind, key: u128, n| {
            cache.write(kind, key, &[1; 1000]).unwrap();
            File::open(cache.path(kind, key)).unwrap().set_modified(hour(n)).unwrap();
        };
        put(Kind::Index, 1, 0);
        put(Kind::State, 1, 1);
        put(Kind::Index, 2, 2);
        let there = [(Kind::Index, 1), (Kind::State, 1), (Kind::Index, 2)].map(|(k, n)| cache.has(k, n));
        assert_eq!(there, [false, true, true]);
        assert_eq!(cache.usage().unwrap(), Usage { files: 2, bytes: 2000 });
        cache.write(Kind::Index, 3, &[1; 2501]).unwrap();
        assert!(!cache.has(Kind::Index, 3));
        // files of a program that died, and a file of someone else
        for name in [".gone.tmp", ".new.tmp", "mine"] {
            fs::write(cache.folder(Kind::Index).join(name), "x").unwrap();
        }
        File::open(cache.folder(Kind::Index).join(".gone.tmp")).unwrap().set_modified(hour(0)).unwrap();
        assert_eq!(cache.clear().unwrap(), Usage { files: 3, bytes: 2001 });
        let left: Vec<_> =
            fs::read_dir(cache.folder(Kind::Index)).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(left.len() == 2 && !cache.folder(Kind::State).exists(), "{left:?}");
    }
}
