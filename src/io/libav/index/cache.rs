//! Indexes of large files, kept between runs in the user's cache folder.
//!
//! The key of an index consists of the file's identity (path, device, inode, size, time of change) and the versions
//! of libav and of this layout; a checksum protects the contents. If the folder is not accessible, opening files is
//! only slower.

use super::Index;
use super::exact::ExactIndex;
use crate::disk::cache::{Cache, Kind, seal, unseal};
use crate::disk::{name_of, system};
use crate::libav::input_url::InputUrl;
use grainfield_filters::frame::md5;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// An index that is stored.
pub(crate) trait Cached: Serialize + DeserializeOwned {
    /// Changes whenever the layout or the meaning of the index changes.
    const MAGIC: &[u8; 8];
    /// For smaller files, making it is faster than using the cache.
    const MIN_BYTES: u64;
}

impl Cached for Index {
    const MAGIC: &[u8; 8] = b"GFINDEX5";
    const MIN_BYTES: u64 = 4 << 20;
}

impl Cached for ExactIndex {
    const MAGIC: &[u8; 8] = b"GFEXACT4";
    const MIN_BYTES: u64 = 256 << 10;
}

/// The size limit of a file.
const MAX_BYTES: u64 = 1 << 31;

/// The cache entry for an index of an input.
pub(crate) struct IndexCache<T> {
    cache: Arc<Cache>,
    name: u128,
    key: Vec<u8>,
    contents: PhantomData<T>,
}

impl<T: Cached> IndexCache<T> {
    /// `None` for something that is not an ordinary file, a small file, or without a cache folder.
    pub(crate) fn new(address: &InputUrl, stream: usize) -> Option<IndexCache<T>> {
        let cache = Arc::clone(address.cache.as_ref()?);
        let path = address.url.to_bytes().strip_prefix(b"file:")?;
        let path = fs::canonicalize(Path::new(name_of(path))).ok()?;
        let meta = fs::metadata(&path).ok().filter(|m| m.is_file() && m.len() >= T::MIN_BYTES)?;
        let mut key = T::MAGIC.to_vec();
        let versions = [ffmpeg_next::format::version(), ffmpeg_next::codec::version()];
        let (device, inode) = system::path_id(&path, true).ok()??;
        let changed = meta.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let numbers = [device, inode, meta.len(), changed.as_secs(), changed.subsec_nanos().into()];
        versions.iter().for_each(|v| key.extend(v.to_le_bytes()));
        numbers.iter().for_each(|v| key.extend(v.to_le_bytes()));
        key.extend((stream as u64).to_le_bytes());
        key.extend(path.as_os_str().as_encoded_bytes());
        Some(IndexCache { cache, name: md5(&key), key, contents: PhantomData })
    }

    /// The stored index, if it is intact and belongs to this file.
    pub(crate) fn take(&self) -> Option<T> {
        let bytes = self.cache.read(Kind::Index, self.name, MAX_BYTES).ok()?;
        postcard::from_bytes(unseal(&self.key, &bytes)?).ok()
    }

    /// Stores an index if possible.
    pub(crate) fn put(&self, index: &T) {
        let Ok(bytes) = postcard::to_extend(index, self.key.clone()) else { return };
        let _ = self.cache.write(Kind::Index, self.name, &seal(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Entry;
    use super::super::exact::{FrameRecord, SeekPoint};
    use super::*;

    fn index() -> Index {
        let entries = vec![Entry { pts: -7, seek: i64::MIN, order: 0, size: 9 }];
        Index {
            frames: vec![-7, 1, 1 << 40],
            packets: vec![(-7, 0), (1, 2), (1 << 40, 1)],
            entries,
            checked: true,
        }
    }

    #[test]
    fn stored_indexes_are_returned_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let cache = |at: &str| Arc::new(Cache::new(&folder.path().join(at), 1 << 20));
        let file = folder.path().join("new/indexes").join(format!("{:032x}.index", 7));
        fn entry<T>(cache: Arc<Cache>, name: u128, key: &[u8]) -> IndexCache<T> {
            IndexCache { cache, name, key: key.to_vec(), contents: PhantomData }
        }
        let index_cache = entry(cache("new"), 7, b"key");
        assert_eq!(index_cache.take(), None);
        index_cache.put(&index());
        assert_eq!(index_cache.take(), Some(index()));
        let record = FrameRecord { mark: 3, damaged: true, pts: -9, durations: (1 << 40, 2), sum: u64::MAX };
        let seek_point = SeekPoint { rank: 7, size: 8, pos: 1 << 50, seek: i64::MIN, failures: 0 };
        let exact = ExactIndex {
            frames: vec![record, FrameRecord { damaged: false, ..record }],
            seek_points: vec![seek_point],
        };
        let other = entry(cache("new"), 8, b"key");
        other.put(&exact);
        assert_eq!(other.take(), Some(exact));
        // Entries of another file, a damaged one, and a link.
        let other = entry::<Index>(cache("new"), 7, b"kez");
        assert_eq!(other.take(), None);
        let mut bytes = fs::read(&file).unwrap();
        bytes[20] ^= 1;
        fs::write(&file, &bytes).unwrap();
        assert_eq!(index_cache.take(), None);
        let elsewhere = folder.path().join("elsewhere");
        fs::write(&elsewhere, "precious").unwrap();
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
        assert_eq!(index_cache.take(), None);
        index_cache.put(&index());
        assert_eq!(index_cache.take(), Some(index()));
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious");
        // A folder that cannot be created is not an error.
        entry(cache("elsewhere/x"), 7, b"").put(&index());
    }
}
