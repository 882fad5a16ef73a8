//! Indexes of large files, kept between runs in the user's cache folder.
//!
//! The key of an index consists of the file's identity (path, device, inode, size, time of change) and the versions
//! of libav and of this layout; a checksum protects the contents. If the folder is not accessible, opening files is
//! only slower.

use super::exact::{ExactIndex, SeekPoint, Shown};
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
const MAGIC: &[u8; 8] = b"GFINDEX3";
/// The same for [`ExactIndex`].
const MAGIC_EXACT: &[u8; 8] = b"GFEXACT2";
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
    pub(crate) fn of(place: &InputUrl, stream: usize) -> Option<IndexCache> {
        IndexCache::named(place, stream, MAGIC, WORTH_KEEPING)
    }

    /// The same for the index from decoding everything.
    pub(crate) fn of_exact(place: &InputUrl, stream: usize) -> Option<IndexCache> {
        IndexCache::named(place, stream, MAGIC_EXACT, WORTH_KEEPING_EXACT)
    }

    fn named(place: &InputUrl, stream: usize, magic: &[u8], least: u64) -> Option<IndexCache> {
        let cache = Arc::clone(place.cache.as_ref()?);
        let path = place.url.to_bytes().strip_prefix(b"file:")?;
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
        parse(&self.body()?)
    }

    /// The same for an exact index.
    pub(crate) fn take_exact(&self) -> Option<ExactIndex> {
        parse_exact(&self.body()?)
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
        write(index, &mut bytes);
        self.keep(bytes);
    }

    /// The same for an exact index.
    pub(crate) fn put_exact(&self, exact: &ExactIndex) {
        let mut bytes = self.key.clone();
        write_exact(exact, &mut bytes);
        self.keep(bytes);
    }

    fn keep(&self, mut bytes: Vec<u8>) {
        let sum = Md5::digest(&bytes);
        bytes.extend_from_slice(&sum);
        let _ = self.cache.write(Kind::Index, self.name, &bytes);
    }
}

fn write(index: &Index, out: &mut Vec<u8>) {
    for n in [index.frames.len(), index.packets.len(), index.entries.len(), usize::from(index.checked)] {
        out.extend((n as u64).to_le_bytes());
    }
    index.frames.iter().for_each(|t| out.extend(t.to_le_bytes()));
    for (t, order) in &index.packets {
        out.extend(t.to_le_bytes());
        out.extend(order.to_le_bytes());
    }
    for e in &index.entries {
        out.extend(e.pts.to_le_bytes());
        out.extend(e.seek.to_le_bytes());
        out.extend(e.order.to_le_bytes());
        out.extend(e.size.to_le_bytes());
    }
}

fn parse(bytes: &[u8]) -> Option<Index> {
    let mut rest = bytes;
    let mut take = |n: usize| -> Option<&[u8]> {
        let (head, tail) = rest.split_at_checked(n)?;
        rest = tail;
        Some(head)
    };
    let word = |b: &[u8]| b.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b));
    let (frames, packets, entries) = (word(take(8)?), word(take(8)?), word(take(8)?));
    let checked = word(take(8)?) != 0;
    let size = |n: u64, each: usize| usize::try_from(n).ok()?.checked_mul(each);
    let frames = take(size(frames, 8)?)?.chunks_exact(8).map(|c| word(c) as i64).collect();
    let packets = take(size(packets, 12)?)?.chunks_exact(12);
    let packets = packets.map(|c| (word(&c[..8]) as i64, word(&c[8..]) as u32)).collect();
    let entries = take(size(entries, 24)?)?.chunks_exact(24).map(|c| Entry {
        pts: word(&c[..8]) as i64,
        seek: word(&c[8..16]) as i64,
        order: word(&c[16..20]) as u32,
        size: word(&c[20..]) as u32,
    });
    Some(Index { frames, packets, entries: entries.collect(), checked }).filter(|_| rest.is_empty())
}

fn write_exact(exact: &ExactIndex, out: &mut Vec<u8>) {
    for n in [exact.frames.len(), exact.seek_points.len()] {
        out.extend((n as u64).to_le_bytes());
    }
    for f in &exact.frames {
        let words = [f.pts, f.durations.0, f.durations.1, f.sum as i64];
        words.iter().for_each(|w| out.extend(w.to_le_bytes()));
        out.extend(f.mark.to_le_bytes());
        out.extend(u32::from(f.damaged).to_le_bytes());
    }
    for s in &exact.seek_points {
        [s.pos, s.seek].iter().for_each(|w| out.extend(w.to_le_bytes()));
        out.extend(s.rank.to_le_bytes());
        out.extend(s.size.to_le_bytes());
    }
}

fn parse_exact(bytes: &[u8]) -> Option<ExactIndex> {
    let long = |b: &[u8], at: usize| Some(i64::from_le_bytes(b.get(at..at + 8)?.try_into().ok()?));
    let short = |b: &[u8], at: usize| Some(u32::from_le_bytes(b.get(at..at + 4)?.try_into().ok()?));
    let (frames, seek_points) =
        (usize::try_from(long(bytes, 0)?).ok()?, usize::try_from(long(bytes, 8)?).ok()?);
    let (frames, rest) = bytes.get(16..)?.split_at_checked(frames.checked_mul(40)?)?;
    if rest.len() != seek_points.checked_mul(24)? || frames.is_empty() {
        return None;
    }
    let shown = |f: &[u8]| {
        let durations = (long(f, 8)?, long(f, 16)?);
        let sum = long(f, 24)? as u64;
        Some(Shown { mark: short(f, 32)?, damaged: short(f, 36)? != 0, pts: long(f, 0)?, durations, sum })
    };
    let seek_point = |s: &[u8]| {
        let (rank, size) = (short(s, 16)?, short(s, 20)?);
        Some(SeekPoint { rank, size, pos: long(s, 0)?, seek: long(s, 8)?, doubt: 0 })
    };
    let frames = frames.chunks_exact(40).map(shown).collect::<Option<_>>()?;
    Some(ExactIndex { frames, seek_points: rest.chunks_exact(24).map(seek_point).collect::<Option<_>>()? })
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
        let shown = Shown { mark: 3, damaged: true, pts: -9, durations: (1 << 40, 2), sum: u64::MAX };
        let seek_point = SeekPoint { rank: 7, size: 8, pos: 1 << 50, seek: i64::MIN, doubt: 0 };
        let exact = ExactIndex {
            frames: vec![shown, Shown { damaged: false, ..shown }],
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
