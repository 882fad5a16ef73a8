//! The cache folder: what can be made again and is kept between runs.
//!
//! Every file can be made again, and the folder may be deleted at any time, also while it is in use. A file is written
//! under a name that nobody can know beforehand and gets its own when it is whole, so that processes share the folder
//! without a lock. A file that is something else than ours (a link) is never read. Beyond the limit the files used
//! longest ago go, whatever they hold.

use super::same::Identity;
use super::temp::{TEMPORARY, Temporary};
use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// Bytes that are kept when nothing is said.
pub const DEFAULT_LIMIT: u64 = 2_000_000_000;
/// How old an unfinished file must be to be given up.
const GIVEN_UP: Duration = Duration::from_secs(3600);

/// What is kept. Each kind has a folder of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// States of filters that are stepped.
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

    /// What its files are called behind their keys.
    fn suffix(self) -> &'static str {
        match self {
            Kind::State => ".state",
            Kind::Index => ".index",
        }
    }
}

/// `$XDG_CACHE_HOME/grainfield`, else `~/.cache/grainfield`.
pub fn default_folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|h| h.join(".cache")))?;
    Some(base.join("grainfield"))
}

/// What a cache holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A cache folder.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
    /// Bytes in the folder, as far as is known.
    used: Mutex<Option<u64>>,
}

/// One file of ours.
struct Item {
    path: PathBuf,
    size: u64,
    used: SystemTime,
}

impl Cache {
    /// In `folder`, which need not be there, with at most `limit` bytes.
    pub fn new(folder: &Path, limit: u64) -> Cache {
        Cache { folder: folder.to_path_buf(), limit, used: Mutex::default() }
    }

    /// The folder of everything.
    pub fn root(&self) -> &Path {
        &self.folder
    }

    /// The folder of a kind.
    pub fn folder(&self, kind: Kind) -> PathBuf {
        self.folder.join(kind.folder())
    }

    /// Where a file is kept.
    pub fn path(&self, kind: Kind, key: u128) -> PathBuf {
        self.folder(kind).join(format!("{key:032x}{}", kind.suffix()))
    }

    /// Files of ours, and unfinished ones that nobody can be at any more.
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
                // Others may delete at the same time.
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

    /// What there is.
    pub fn usage(&self) -> io::Result<Usage> {
        let items = self.items()?;
        Ok(Usage { files: items.len() as u64, bytes: items.iter().map(|i| i.size).sum() })
    }

    /// Deletes all of it; what it was.
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
        // Only an empty folder goes, and only if nobody else has something in it.
        Kind::ALL.iter().for_each(|kind| drop(fs::remove_dir(self.folder(*kind))));
        Ok(gone)
    }

    /// A file of at most `most` bytes.
    pub fn read(&self, kind: Kind, key: u128, most: u64) -> io::Result<Vec<u8>> {
        let none = || io::Error::from(ErrorKind::NotFound);
        let path = self.path(kind, key);
        let before = fs::symlink_metadata(&path)?;
        if !is_folder(&self.folder(kind)) || !before.is_file() || before.len() > most {
            return Err(none());
        }
        let file =
            fs::OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
        // It may have become another in between.
        if Identity::of(&before) != Identity::of(&file.metadata()?) {
            return Err(none());
        }
        let mut bytes = Vec::new();
        (&file).take(most).read_to_end(&mut bytes)?;
        // Used just now: the last to go.
        let _ = file.set_modified(SystemTime::now());
        Ok(bytes)
    }

    /// Removes a file, which was found damaged.
    pub fn remove(&self, kind: Kind, key: u128) {
        let _ = fs::remove_file(self.path(kind, key));
    }

    /// Whether a file is there.
    pub fn has(&self, kind: Kind, key: u128) -> bool {
        fs::symlink_metadata(self.path(kind, key)).is_ok_and(|m| m.is_file())
    }

    /// Keeps bytes, replacing what had the key, unless they alone are more than the limit.
    pub fn write(&self, kind: Kind, key: u128, bytes: &[u8]) -> io::Result<()> {
        let size = bytes.len() as u64;
        if size > self.limit {
            return Ok(());
        }
        let folder = self.folder(kind);
        // for its owner alone
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        if !is_folder(&folder) {
            return Err(ErrorKind::NotADirectory.into());
        }
        let mut file = Temporary::create_with(&folder, ".", 0o600)?;
        file.write_all(bytes)?;
        file.persist(&self.path(kind, key)).map_err(|(_, e)| e)?;
        // It is kept; another process that clears the folder at this moment is no trouble.
        let _ = self.trim(size);
        Ok(())
    }

    /// Counts what came, and deletes what was used longest ago where that is too much.
    fn trim(&self, more: u64) -> io::Result<()> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
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
            // A little more than must be, so that this is not done every time.
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

/// Whether it is a folder, and no link to one.
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
        // what a program left that died, and what is somebody else's
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
