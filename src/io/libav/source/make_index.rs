//! Makes an index, or reads it from the cache.

use crate::libav::demux::{ByteSource, Demuxer, Purpose};
use crate::libav::index::cache::IndexCache;
use crate::libav::index::{Index, IndexError, scan};
use crate::libav::input_url::InputUrl;
use crate::libav::log::Log;
use crate::libav::reader::{Item, Reader};

/// The number of first pictures that are decoded to verify the index.
const HEAD: usize = 24;
/// The limit of that number, if the stream begins with pictures that cannot be decoded.
const HEAD_MOST: usize = 600;

/// The index from the cache, else a new one.
pub(super) fn make(address: &InputUrl, stream: usize) -> Result<Index, IndexError> {
    // keep messages about the second reading out of the log of the first
    let _log = Log::new().enter();
    let index_cache = IndexCache::new(address, stream);
    if let Some(index) = index_cache.as_ref().and_then(IndexCache::take) {
        return Ok(index);
    }
    let mut demuxer = Demuxer::open(ByteSource::Address(address.clone()), Purpose::Packets(stream))
        .map_err(|_| IndexError::Damaged)?;
    let (mut index, clean) = scan(&mut demuxer).map_err(|_| IndexError::Damaged)??;
    drop(demuxer);
    if !clean {
        decode_head(address, &mut index)?;
    }
    if let Some(index_cache) = index_cache {
        index_cache.put(&index);
    }
    Ok(index)
}

/// Verifies the frames expected from a clean beginning by decoding, if that has not been done: before the index is
/// used for seeking.
pub(super) fn check(address: &InputUrl, stream: usize, index: &mut Index) -> Result<(), IndexError> {
    if !index.checked {
        let _log = Log::new().enter();
        decode_head(address, index)?;
        if let Some(index_cache) = IndexCache::new(address, stream) {
            index_cache.put(index);
        }
    }
    Ok(())
}

/// Decodes the first pictures.
fn decode_head(address: &InputUrl, index: &mut Index) -> Result<(), IndexError> {
    let mut reader = Reader::open(ByteSource::Address(address.clone()), 0).map_err(|_| IndexError::Head)?;
    let first_entry = index.entries.first().map_or(i64::MIN, |e| e.pts);
    let (mut decoded, mut behind) = (Vec::new(), 0);
    let all = loop {
        if behind >= HEAD || decoded.len() >= HEAD_MOST {
            break false;
        }
        match reader.next() {
            Ok(Some(Item::Picture(p))) => {
                let pts = p.timestamp().ok_or(IndexError::Timestamps)?;
                behind += usize::from(pts >= first_entry);
                decoded.push(pts);
            }
            Ok(Some(Item::Damage(_) | Item::Restart)) => return Err(IndexError::Damaged),
            Ok(Some(Item::Broken(..))) | Err(_) => return Err(IndexError::Damaged),
            Ok(None) => break true,
        }
    };
    index.verify(&decoded, all)?;
    index.checked = true;
    Ok(())
}
