//! Indexes of large files, kept between runs in the user's cache folder.
//!
//! The key of an index consists of the file's identity (path, device, inode, size, time of change) and the versions
//! of libav and of this layout; a checksum protects the contents. If the folder is not accessible, opening files is
//! only slower.

use super::exact::{ExactIndex, FrameRecord, SeekPoint};
use super::{Entry, Index};
use crate::disk::cache::{Cache, Kind};
use crate::libav::input_url::InputUrl;
use md5::{Digest, Md5};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

/// Changes whenever the layout below or the meaning of an index changes.
const MAGIC: &[u8; 8] = b"GFINDEX4";
/// The same for [`ExactIndex`].
const MAGIC_EXACT: &[u8; 8] = b"GFEXACT3";
/// Reading smaller files is faster than using the cache.
const WORTH_KEEPING: u64 = 4 << 20;
/// The same for decoding, which takes longer.
const WORTH_KEEPING_EXACT: u64 = 256 << 10;
/// The size limit of a file.
const MAX_BYTES: u64 = 1 << 31;

/// The cache entry for the index of an input.
pub(crate) struct IndexCache {
    cache: Arc<Cache>,
    name: u128,
    key: Vec<u8>,
}

impl IndexCache {
    /// `None` for something that is not an ordinary file, a small file, or without a cache folder.
    pub(crate) fn new(address: &InputUrl, stream: usize) -> Option<IndexCache> {
        IndexCache::with_magic(address, stream, MAGIC, WORTH_KEEPING)
    }

    /// The same for the index from decoding everything.
    pub(crate) fn new_exact(address: &InputUrl, stream: usize) -> Option<IndexCache> {
        IndexCache::with_magic(address, stream, MAGIC_EXACT, WORTH_KEEPING_EXACT)
    }

    fn with_magic(address: &InputUrl, stream: usize, magic: &[u8], least: u64) -> Option<IndexCache> {
        let cache = Arc::clone(address.cache.as_ref()?);
        let path = address.url.to_bytes().strip_prefix(b"file:")?;
        let path = fs::canonicalize(Path::new(OsStr::from_bytes(path))).ok()?;
        let meta = fs::metadata(&path).ok().filter(|m| m.is_file() && m.len() >= least)?;
        let mut key = magic.to_vec();
        let versions = [ffmpeg_next::format::version(), ffmpeg_next::codec::version()];
        let numbers = [meta.dev(), meta.ino(), meta.len(), meta.mtime() as u64, meta.mtime_nsec() as u64];
        versions.iter().for_each(|v| key.extend(v.to_le_bytes()));
        numbers.iter().for_each(|v| key.extend(v.to_le_bytes()));
        key.extend((stream as u64).to_le_bytes());
        key.extend(path.as_os_str().as_bytes());
        Some(IndexCache { cache, name: u128::from_be_bytes(Md5::digest(&key).into()), key })
    }

    /// The stored index, if it is intact and belongs to this file.
    pub(crate) fn take(&self) -> Option<Index> {
        let body = self.body()?;
        let mut rest = body.as_slice();
        let frames = take_rows(&mut rest)?.into_iter().map(|[pts]| pts).collect();
        let packets = take_rows(&mut rest)?.into_iter().map(|[pts, order]| (pts, order as u32)).collect();
        let entries = take_rows(&mut rest)?.into_iter().map(|[pts, seek, order, size]| Entry {
            pts,
            seek,
            order: order as u32,
            size: size as u32,
        });
        let index = Index { frames, packets, entries: entries.collect(), checked: rest == [1] };
        (rest.len() == 1).then_some(index)
    }

    /// The same for an exact index.
    pub(crate) fn take_exact(&self) -> Option<ExactIndex> {
        let body = self.body()?;
        let mut rest = body.as_slice();
        let frames =
            take_rows(&mut rest)?.into_iter().map(|[pts, gap, ticks, sum, mark, damaged]| FrameRecord {
                mark: mark as u32,
                damaged: damaged != 0,
                pts,
                durations: (gap, ticks),
                sum: sum as u64,
            });
        let frames = frames.collect();
        let seek_points = take_rows(&mut rest)?.into_iter().map(|[pos, seek, rank, size]| SeekPoint {
            rank: rank as u32,
            size: size as u32,
            pos,
            seek,
            failures: 0,
        });
        let exact = ExactIndex { frames, seek_points: seek_points.collect() };
        (rest.is_empty() && !exact.frames.is_empty()).then_some(exact)
    }

    fn body(&self) -> Option<Vec<u8>> {
        let bytes = self.cache.read(Kind::Index, self.name, MAX_BYTES).ok()?;
        let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(16)?)?;
        if Md5::digest(body).as_slice() != sum {
            return None;
        }
        body.strip_prefix(self.key.as_slice()).map(<[u8]>::to_vec)
    }

    /// Stores an index if possible.
    pub(crate) fn put(&self, index: &Index) {
        let mut bytes = self.key.clone();
        put_rows(&mut bytes, index.frames.iter().map(|&pts| [pts]));
        put_rows(&mut bytes, index.packets.iter().map(|&(pts, order)| [pts, order.into()]));
        put_rows(&mut bytes, index.entries.iter().map(|e| [e.pts, e.seek, e.order.into(), e.size.into()]));
        bytes.push(index.checked.into());
        self.keep(bytes);
    }

    /// The same for an exact index.
    pub(crate) fn put_exact(&self, exact: &ExactIndex) {
        let mut bytes = self.key.clone();
        let row = |f: &FrameRecord| {
            [f.pts, f.durations.0, f.durations.1, f.sum as i64, f.mark.into(), f.damaged.into()]
        };
        put_rows(&mut bytes, exact.frames.iter().map(row));
        put_rows(&mut bytes, exact.seek_points.iter().map(|s| [s.pos, s.seek, s.rank.into(), s.size.into()]));
        self.keep(bytes);
    }

    fn keep(&self, mut bytes: Vec<u8>) {
        let sum = Md5::digest(&bytes);
        bytes.extend_from_slice(&sum);
        let _ = self.cache.write(Kind::Index, self.name, &bytes);
    }
}

/// Appends a table of numbers, after the number of its rows.
fn put_rows<const N: usize>(out: &mut Vec<u8>, rows: impl ExactSizeIterator<Item = [i64; N]>) {
    out.extend((rows.len() as u64).to_le_bytes());
    rows.flatten().for_each(|n| out.extend(n.to_le_bytes()));
}

/// Reads a table from the front; `None` if it is incomplete.
fn take_rows<const N: usize>(bytes: &mut &[u8]) -> Option<Vec<[i64; N]>> {
    let (count, rest) = bytes.split_first_chunk()?;
    let size = usize::try_from(u64::from_le_bytes(*count)).ok()?.checked_mul(8 * N)?;
    let (rows, rest) = rest.split_at_checked(size)?;
    *bytes = rest;
    let numbers: Vec<i64> = rows.as_chunks().0.iter().map(|n| i64::from_le_bytes(*n)).collect();
    Some(numbers.as_chunks().0.to_vec())
}

#[cfg(test)]
mod tests {
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
        let index_cache = IndexCache { cache: cache("new"), name: 7, key: b"key".to_vec() };
        assert_eq!(index_cache.take(), None);
        index_cache.put(&index());
        assert_eq!(index_cache.take(), Some(index()));
        let record = FrameRecord { mark: 3, damaged: true, pts: -9, durations: (1 << 40, 2), sum: u64::MAX };
        let seek_point = SeekPoint { rank: 7, size: 8, pos: 1 << 50, seek: i64::MIN, failures: 0 };
        let exact = ExactIndex {
            frames: vec![record, FrameRecord { damaged: false, ..record }],
            seek_points: vec![seek_point],
        };
        let other = IndexCache { name: 8, cache: cache("new"), key: b"key".to_vec() };
        other.put_exact(&exact);
        assert_eq!(other.take_exact(), Some(exact));
        // Entries of another file, a damaged one, and a link.
        let other = IndexCache { name: 7, cache: cache("new"), key: b"kez".to_vec() };
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
        IndexCache { cache: cache("elsewhere/x"), name: 7, key: Vec::new() }.put(&index());
    }
}
