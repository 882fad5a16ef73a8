//! Jump frames on disk: states of what must be stepped, so that any frame is at most some steps away.
//!
//! A cache and nothing more: every file can be made again, and the folder may be deleted at any time, also while it is
//! in use. A file is written under a name that nobody can know beforehand and gets its own when it is whole, so that
//! processes share the folder without a lock. What is damaged, or something else than a file of ours (a link), is never
//! read; what was damaged is taken away, so that it is made again. Beyond a size the files used longest ago go.
//!
//! # The bytes
//!
//! Little endian: magic (8 bytes, 89 'G' 'F' 'J' 0d 0a 1a 0a), version u32 = 1, key u128, length u64 of the state, the
//! state packed (DEFLATE, RFC 1951), MD5 of all before.

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use grainfield_filters::lend::Store;
use md5::{Digest, Md5};
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

const MAGIC: [u8; 8] = *b"\x89GFJ\r\n\x1a\n";
/// The version of the format.
const VERSION: u32 = 1;
const HEAD: usize = 36;
const SUM: usize = 16;
/// Largest state, in bytes.
const MOST: u64 = 1 << 28;
/// What the files are called behind their keys.
const SUFFIX: &str = "state";
/// What unfinished ones begin with, and how old one must be to be given up.
const UNFINISHED: &str = ".state-";
const GIVEN_UP: Duration = Duration::from_secs(3600);
/// Bytes that are kept when nothing is said.
pub const DEFAULT_LIMIT: u64 = 2_000_000_000;

/// What a file of a state is made of.
pub fn pack(key: u128, state: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(HEAD + SUM + state.len());
    out.extend(MAGIC);
    out.extend(VERSION.to_le_bytes());
    out.extend(key.to_le_bytes());
    out.extend((state.len() as u64).to_le_bytes());
    let mut encoder = DeflateEncoder::new(out, Compression::new(3));
    encoder.write_all(state)?;
    let mut out = encoder.finish()?;
    let sum = Md5::digest(&out);
    out.extend_from_slice(&sum);
    Ok(out)
}

/// The state of a file, if the file is whole and of this key.
pub fn unpack(key: u128, file: &[u8]) -> Option<Vec<u8>> {
    let (body, sum) = file.split_at_checked(file.len().checked_sub(SUM)?)?;
    let (head, packed) = body.split_at_checked(HEAD)?;
    let right = head.starts_with(&MAGIC) && head[8..12] == VERSION.to_le_bytes();
    if !right || head[12..28] != key.to_le_bytes() || Md5::digest(body).as_slice() != sum {
        return None;
    }
    let length = u64::from_le_bytes(*head.last_chunk()?);
    // DEFLATE makes at most 1032 bytes of one.
    if length > MOST || length > (packed.len() as u64).saturating_mul(1100) {
        return None;
    }
    let mut state = Vec::with_capacity(length as usize);
    DeflateDecoder::new(packed).take(length + 1).read_to_end(&mut state).ok()?;
    (state.len() as u64 == length).then_some(state)
}

/// `$XDG_CACHE_HOME/grainfield`, else `~/.cache/grainfield`.
pub fn default_folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|h| h.join(".cache")))?;
    Some(base.join("grainfield"))
}

/// Jump frames in a folder.
#[derive(Debug)]
pub struct Jumps {
    folder: PathBuf,
    limit: u64,
    /// Bytes in the folder, as far as is known.
    used: Mutex<Option<u64>>,
    /// Why something could not be kept, the first time.
    trouble: Mutex<Option<String>>,
}

/// What a cache holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// One file of ours.
struct Item {
    path: PathBuf,
    size: u64,
    used: SystemTime,
}

impl Jumps {
    /// In the folder `states` of `cache`, which need not be there, with at most `limit` bytes.
    pub fn new(cache: &Path, limit: u64) -> Jumps {
        Jumps { folder: cache.join("states"), limit, used: Mutex::default(), trouble: Mutex::default() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Why something could not be kept, if that was so: the folder, and what the system said.
    pub fn trouble(&self) -> Option<String> {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble.as_ref().map(|why| format!("{}: {why}", self.folder.display()))
    }

    fn path(&self, key: u128) -> PathBuf {
        self.folder.join(format!("{key:032x}.{SUFFIX}"))
    }

    /// Whether the folder is one, and no link.
    fn there(&self) -> bool {
        fs::symlink_metadata(&self.folder).is_ok_and(|m| m.is_dir())
    }

    /// Files of ours, and unfinished ones that nobody can be at any more.
    fn items(&self) -> io::Result<Vec<Item>> {
        let mut items = Vec::new();
        if !self.there() {
            return Ok(items);
        }
        let now = SystemTime::now();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let key = name.strip_suffix(SUFFIX).and_then(|n| n.strip_suffix('.'));
            let ours = key.is_some_and(|k| k.len() == 32 && k.bytes().all(|b| b.is_ascii_hexdigit()));
            let unfinished = name.starts_with(UNFINISHED);
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
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
        }
        // Only an empty folder goes, and only if nobody else has something in it.
        let _ = fs::remove_dir(&self.folder);
        Ok(gone)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let none = || io::Error::from(io::ErrorKind::NotFound);
        let before = fs::symlink_metadata(path)?;
        if !self.there() || !before.is_file() || before.len() > MOST + (1 << 20) {
            return Err(none());
        }
        let file = File::open(path)?;
        // It may have become a link in between.
        if !same(&before, &file.metadata()?) {
            return Err(none());
        }
        let mut bytes = Vec::new();
        (&file).take(MOST + (1 << 20)).read_to_end(&mut bytes)?;
        // Used just now: the last to go.
        let _ = file.set_modified(SystemTime::now());
        Ok(bytes)
    }

    fn write(&self, key: u128, state: &[u8]) -> io::Result<()> {
        let path = self.path(key);
        if fs::symlink_metadata(&path).is_ok_and(|m| m.is_file()) || state.len() as u64 > MOST {
            return Ok(());
        }
        let bytes = pack(key, state)?;
        let size = bytes.len() as u64;
        if size > self.limit {
            return Ok(());
        }
        make(&self.folder)?;
        if !self.there() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        // A new file of a name with chance in it, made exclusively; the rename replaces whatever has the name by then.
        let mut file =
            tempfile::Builder::new().prefix(UNFINISHED).rand_bytes(16).tempfile_in(&self.folder)?;
        file.write_all(&bytes)?;
        file.persist(&path)?;
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

/// Best effort: what cannot be kept is made again.
impl Store for Jumps {
    fn get(&self, key: u128) -> Option<Vec<u8>> {
        let path = self.path(key);
        let bytes = self.read(&path).ok()?;
        let state = unpack(key, &bytes);
        if state.is_none() {
            let _ = fs::remove_file(&path);
        }
        state
    }

    fn put(&self, key: u128, bytes: &[u8]) {
        if let Err(error) = self.write(key, bytes) {
            // Others may take the folder away at any time.
            if error.kind() != io::ErrorKind::NotFound {
                let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
                // The file's name is made of chance: it says nothing.
                trouble.get_or_insert_with(|| said(&error));
            }
        }
    }
}

/// What the system said, without the name of a file that is gone.
fn said(error: &io::Error) -> String {
    let system = error.raw_os_error().or_else(|| {
        // Made by the crate for temporary files around the system's.
        error.get_ref()?.source()?.downcast_ref::<io::Error>()?.raw_os_error()
    });
    system.map_or_else(|| error.kind().to_string(), |code| io::Error::from_raw_os_error(code).to_string())
}

/// Makes the folder, for its owner alone.
fn make(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}

fn same(a: &Metadata, b: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (a.dev(), a.ino()) == (b.dev(), b.ino())
    }
    #[cfg(not(unix))]
    {
        a.is_file() && b.is_file()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(n: u8) -> Vec<u8> {
        (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8 ^ n).collect()
    }

    fn files(jumps: &Jumps) -> Vec<PathBuf> {
        let mut all: Vec<_> = fs::read_dir(jumps.folder()).unwrap().map(|e| e.unwrap().path()).collect();
        all.sort();
        all
    }

    #[test]
    fn what_was_put_comes_back_and_nothing_else() {
        let cache = tempfile::tempdir().unwrap();
        let jumps = Jumps::new(cache.path(), DEFAULT_LIMIT);
        assert_eq!(jumps.get(1), None);
        assert_eq!(jumps.usage().unwrap(), Usage::default());
        jumps.put(1, &state(1));
        jumps.put(2, &[]);
        assert_eq!(jumps.get(1), Some(state(1)));
        assert_eq!(jumps.get(2), Some(vec![]));
        assert_eq!(jumps.get(3), None);
        assert_eq!(jumps.usage().unwrap().files, 2);
        // A file under another's name is not its.
        fs::copy(jumps.path(1), jumps.path(3)).unwrap();
        assert_eq!(jumps.get(3), None);
        assert!(!jumps.path(3).exists());
        // Deleted while in use.
        fs::remove_dir_all(jumps.folder()).unwrap();
        assert_eq!(jumps.get(1), None);
        jumps.put(1, &state(1));
        assert_eq!(jumps.get(1), Some(state(1)));
        assert_eq!(jumps.clear().unwrap().files, 1);
        assert!(!jumps.folder().exists());
    }

    #[test]
    fn damage_is_noticed_wherever_it_is() {
        let whole = pack(77, &state(9)).unwrap();
        assert_eq!(unpack(77, &whole), Some(state(9)));
        for at in 0..whole.len() {
            let mut bad = whole.clone();
            bad[at] ^= 1 << (at % 8);
            assert_eq!(unpack(77, &bad), None, "byte {at}");
            assert_eq!(unpack(77, &whole[..at]), None, "cut at {at}");
        }
        let cache = tempfile::tempdir().unwrap();
        let jumps = Jumps::new(cache.path(), DEFAULT_LIMIT);
        jumps.put(77, &state(9));
        let mut bad = fs::read(jumps.path(77)).unwrap();
        bad[100] ^= 4;
        fs::write(jumps.path(77), &bad).unwrap();
        // Dropped, and room for the next.
        assert_eq!(jumps.get(77), None);
        assert!(!jumps.path(77).exists());
        jumps.put(77, &state(9));
        assert_eq!(jumps.get(77), Some(state(9)));
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let cache = tempfile::tempdir().unwrap();
        let one = pack(0, &state(0)).unwrap().len() as u64;
        // Packed sizes differ by a few bytes.
        let limit = 5 * one + one / 2;
        let jumps = Jumps::new(cache.path(), limit);
        let hour = |n: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + 3600 * n);
        for key in 0..5 {
            jumps.put(key, &state(key as u8));
            File::open(jumps.path(key)).unwrap().set_modified(hour(key as u64)).unwrap();
        }
        // The oldest is used again.
        assert!(jumps.get(0).is_some());
        jumps.put(5, &state(5));
        assert!(jumps.usage().unwrap().bytes <= limit);
        assert!(jumps.get(0).is_some() && jumps.get(5).is_some() && jumps.get(1).is_none());
        // One that does not fit at all is not kept.
        let small = Jumps::new(cache.path(), 100);
        small.put(9, &state(9));
        assert!(!small.path(9).exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        use std::os::unix::fs::symlink;
        let (cache, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let jumps = Jumps::new(cache.path(), DEFAULT_LIMIT);
        jumps.put(1, &state(1));
        let elsewhere = other.path().join("file");
        fs::rename(jumps.path(1), &elsewhere).unwrap();
        symlink(&elsewhere, jumps.path(1)).unwrap();
        assert_eq!(jumps.get(1), None);
        jumps.put(1, &state(1));
        assert_eq!(jumps.get(1), Some(state(1)));
        assert!(fs::symlink_metadata(jumps.path(1)).unwrap().is_file());
        // What the link named is as it was.
        assert_eq!(unpack(1, &fs::read(&elsewhere).unwrap()), Some(state(1)));
        // Nor is a folder that is one.
        fs::remove_dir_all(jumps.folder()).unwrap();
        symlink(other.path(), jumps.folder()).unwrap();
        jumps.put(2, &state(2));
        assert_eq!((jumps.get(2), jumps.usage().unwrap()), (None, Usage::default()));
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn what_cannot_be_kept_is_told_once() {
        let cache = tempfile::tempdir().unwrap();
        // A file stands in the folder's place.
        fs::write(cache.path().join("states"), b"").unwrap();
        let jumps = Jumps::new(cache.path(), DEFAULT_LIMIT);
        assert_eq!(jumps.trouble(), None);
        jumps.put(1, &state(1));
        jumps.put(2, &state(2));
        let text = jumps.trouble().unwrap();
        let folder = jumps.folder().display().to_string();
        assert!(text.starts_with(&format!("{folder}: ")) && text.len() > folder.len() + 4, "{text}");
        assert_eq!(jumps.get(1), None);
        fs::remove_file(jumps.folder()).unwrap();
        let jumps = Jumps::new(cache.path(), DEFAULT_LIMIT);
        jumps.put(1, &state(1));
        assert_eq!((jumps.get(1), jumps.trouble()), (Some(state(1)), None));
    }

    #[test]
    fn processes_share_it() {
        let cache = tempfile::tempdir().unwrap();
        std::thread::scope(|s| {
            for t in 0..4u128 {
                let jumps = Jumps::new(cache.path(), DEFAULT_LIMIT);
                s.spawn(move || {
                    for round in 0..50 {
                        let key = (round + t) % 7;
                        jumps.put(key, &state(key as u8));
                        assert!(jumps.get(key).is_none_or(|s| s == state(key as u8)));
                        if round % 20 == 19 {
                            let _ = jumps.clear();
                        }
                    }
                });
            }
        });
        let jumps = Jumps::new(cache.path(), DEFAULT_LIMIT);
        if jumps.there() {
            assert!(files(&jumps).iter().all(|p| p.extension().is_some_and(|e| e == SUFFIX)));
        }
    }
}
