//! Jump frames on disk: states of simulations, so that any frame is at most a few steps away from a stored one. They
//! are in the [cache folder](grainfield_io::disk::cache). Damaged files are removed, and their states are computed again.
//!
//! # The bytes
//!
//! Little endian: magic (8 bytes, 89 'G' 'F' 'J' 0d 0a 1a 0a), version u32 = 1, key u128, length u64 of the state, the
//! state packed (DEFLATE, RFC 1951), MD5 of all bytes before.

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use grainfield_filters::host::{StateCache, lock};
use grainfield_io::disk::cache::{Cache, Kind, seal, unseal};
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex};

const MAGIC: [u8; 8] = *b"\x89GFJ\r\n\x1a\n";
/// The version of the format.
const VERSION: u32 = 1;
/// The largest state in bytes.
const MAX_BYTES: u64 = 1 << 28;
/// The start of a file: magic, version and key.
fn head(key: u128) -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes(), &key.to_le_bytes()].concat()
}

/// The file contents of a state.
///
/// # Errors
/// Those of the compression.
pub fn pack(key: u128, state: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = head(key);
    out.extend((state.len() as u64).to_le_bytes());
    let mut encoder = DeflateEncoder::new(out, Compression::new(3));
    encoder.write_all(state)?;
    Ok(seal(encoder.finish()?))
}

/// The state in a file, if the file is intact and has this key.
pub fn unpack(key: u128, file: &[u8]) -> Option<Vec<u8>> {
    let (length, packed) = unseal(&head(key), file)?.split_first_chunk()?;
    let length = u64::from_le_bytes(*length);
    // DEFLATE expands by a factor of at most 1032.
    if length > MAX_BYTES || length > (packed.len() as u64).saturating_mul(1100) {
        return None;
    }
    let mut state = Vec::with_capacity(length as usize);
    DeflateDecoder::new(packed).take(length + 1).read_to_end(&mut state).ok()?;
    (state.len() as u64 == length).then_some(state)
}

/// Stores jump frames in a cache.
#[derive(Debug)]
pub struct DiskStateCache {
    cache: Arc<Cache>,
    /// The first error while storing a state.
    trouble: Mutex<Option<String>>,
}

impl DiskStateCache {
    /// Uses the folder `states` of a cache.
    pub fn new(cache: Arc<Cache>) -> DiskStateCache {
        DiskStateCache { cache, trouble: Mutex::default() }
    }

    /// The first error while storing a state, if there was one: the folder, and the error of the system.
    pub fn failure(&self) -> Option<String> {
        let trouble = lock(&self.trouble);
        trouble.as_ref().map(|why| format!("{}: {why}", self.cache.folder(Kind::State).display()))
    }

    fn write(&self, key: u128, state: &[u8]) -> io::Result<()> {
        if self.cache.has(Kind::State, key) || state.len() as u64 > MAX_BYTES {
            return Ok(());
        }
        self.cache.write(Kind::State, key, &pack(key, state)?)
    }
}

/// Best effort: states that cannot be stored are computed again.
impl StateCache for DiskStateCache {
    fn get(&self, key: u128) -> Option<Vec<u8>> {
        let bytes = self.cache.read(Kind::State, key, MAX_BYTES + (1 << 20)).ok()?;
        let state = unpack(key, &bytes);
        if state.is_none() {
            self.cache.remove(Kind::State, key);
        }
        state
    }

    fn put(&self, key: u128, bytes: &[u8]) {
        if let Err(error) = self.write(key, bytes) {
            // Another program may remove the folder at any time.
            if error.kind() != io::ErrorKind::NotFound {
                let mut trouble = lock(&self.trouble);
                // The file's name is random and would not help in a message.
                trouble.get_or_insert_with(|| message(&error));
            }
        }
    }
}

/// The error of the system, without the name of a file that no longer exists.
fn message(error: &io::Error) -> String {
    let system = error.raw_os_error().or_else(|| {
        // The crate for temporary files wraps the error of the system.
        error.get_ref()?.source()?.downcast_ref::<io::Error>()?.raw_os_error()
    });
    system.map_or_else(|| error.kind().to_string(), |code| io::Error::from_raw_os_error(code).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_io::disk::cache::{DEFAULT_LIMIT, Usage};
    use std::fs::{self, File};
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime};

    fn jumps_in(folder: &Path, limit: u64) -> DiskStateCache {
        DiskStateCache::new(Arc::new(Cache::new(folder, limit)))
    }

    impl DiskStateCache {
        fn folder(&self) -> PathBuf {
            self.cache.folder(Kind::State)
        }

        fn path(&self, key: u128) -> PathBuf {
            self.cache.path(Kind::State, key)
        }

        fn usage(&self) -> io::Result<Usage> {
            self.cache.usage()
        }

        fn clear(&self) -> io::Result<Usage> {
            self.cache.clear()
        }
    }

    fn state(n: u8) -> Vec<u8> {
        (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8 ^ n).collect()
    }

    fn files(jumps: &DiskStateCache) -> Vec<PathBuf> {
        let mut all: Vec<_> = fs::read_dir(jumps.folder()).unwrap().map(|e| e.unwrap().path()).collect();
        all.sort();
        all
    }

    #[test]
    fn stored_states_are_returned_and_no_others() {
        let cache = tempfile::tempdir().unwrap();
        let jumps = jumps_in(cache.path(), DEFAULT_LIMIT);
        assert_eq!(jumps.get(1), None);
        assert_eq!(jumps.usage().unwrap(), Usage::default());
        jumps.put(1, &state(1));
        jumps.put(2, &[]);
        assert_eq!(jumps.get(1), Some(state(1)));
        assert_eq!(jumps.get(2), Some(vec![]));
        assert_eq!(jumps.get(3), None);
        assert_eq!(jumps.usage().unwrap().files, 2);
        // A file under the name of another one is rejected.
        fs::copy(jumps.path(1), jumps.path(3)).unwrap();
        assert_eq!(jumps.get(3), None);
        assert!(!jumps.path(3).exists());
        // The folder is removed while it is in use.
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
        let jumps = jumps_in(cache.path(), DEFAULT_LIMIT);
        jumps.put(77, &state(9));
        let mut bad = fs::read(jumps.path(77)).unwrap();
        bad[100] ^= 4;
        fs::write(jumps.path(77), &bad).unwrap();
        // The damaged file is removed, and a new one can be stored.
        assert_eq!(jumps.get(77), None);
        assert!(!jumps.path(77).exists());
        jumps.put(77, &state(9));
        assert_eq!(jumps.get(77), Some(state(9)));
    }

    #[test]
    fn least_recently_used_states_are_deleted_first() {
        let cache = tempfile::tempdir().unwrap();
        let one = pack(0, &state(0)).unwrap().len() as u64;
        // Compressed sizes differ by a few bytes.
        let limit = 5 * one + one / 2;
        let jumps = jumps_in(cache.path(), limit);
        let hour = |n: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + 3600 * n);
        for key in 0..5 {
            jumps.put(key, &state(key as u8));
            File::open(jumps.path(key)).unwrap().set_modified(hour(key as u64)).unwrap();
        }
        // Reading it makes the oldest one the most recently used.
        assert!(jumps.get(0).is_some());
        jumps.put(5, &state(5));
        assert!(jumps.usage().unwrap().bytes <= limit);
        assert!(jumps.get(0).is_some() && jumps.get(5).is_some() && jumps.get(1).is_none());
        // A state that is larger than the limit is not stored.
        let small = jumps_in(cache.path(), 100);
        small.put(9, &state(9));
        assert!(!small.path(9).exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        use std::os::unix::fs::symlink;
        let (cache, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let jumps = jumps_in(cache.path(), DEFAULT_LIMIT);
        jumps.put(1, &state(1));
        let elsewhere = other.path().join("file");
        fs::rename(jumps.path(1), &elsewhere).unwrap();
        symlink(&elsewhere, jumps.path(1)).unwrap();
        assert_eq!(jumps.get(1), None);
        jumps.put(1, &state(1));
        assert_eq!(jumps.get(1), Some(state(1)));
        assert!(fs::symlink_metadata(jumps.path(1)).unwrap().is_file());
        // The file that the link points to is unchanged.
        assert_eq!(unpack(1, &fs::read(&elsewhere).unwrap()), Some(state(1)));
        // A folder that is a link is not used either.
        fs::remove_dir_all(jumps.folder()).unwrap();
        symlink(other.path(), jumps.folder()).unwrap();
        jumps.put(2, &state(2));
        assert_eq!((jumps.get(2), jumps.usage().unwrap()), (None, Usage::default()));
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_failure_to_store_is_reported_once() {
        let cache = tempfile::tempdir().unwrap();
        // A file has the name of the folder.
        fs::write(cache.path().join("states"), b"").unwrap();
        let jumps = jumps_in(cache.path(), DEFAULT_LIMIT);
        assert_eq!(jumps.failure(), None);
        jumps.put(1, &state(1));
        jumps.put(2, &state(2));
        let text = jumps.failure().unwrap();
        let folder = jumps.folder().display().to_string();
        assert!(text.starts_with(&format!("{folder}: ")) && text.len() > folder.len() + 4, "{text}");
        assert_eq!(jumps.get(1), None);
        fs::remove_file(jumps.folder()).unwrap();
        let jumps = jumps_in(cache.path(), DEFAULT_LIMIT);
        jumps.put(1, &state(1));
        assert_eq!((jumps.get(1), jumps.failure()), (Some(state(1)), None));
    }

    #[test]
    fn processes_share_it() {
        let cache = tempfile::tempdir().unwrap();
        std::thread::scope(|s| {
            for t in 0..4u128 {
                let jumps = jumps_in(cache.path(), DEFAULT_LIMIT);
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
        let jumps = jumps_in(cache.path(), DEFAULT_LIMIT);
        if jumps.folder().is_dir() {
            assert!(files(&jumps).iter().all(|p| p.extension().is_some_and(|e| e == "state")));
        }
    }
}
