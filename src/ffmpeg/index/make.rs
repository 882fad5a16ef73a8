//! An index made, or taken from where it was kept.

use super::cache::Shelf;
use super::{Index, Unclear, scan};
use crate::ffmpeg::demux::{Demuxer, Origin};
use crate::ffmpeg::log::Log;
use crate::ffmpeg::place::Place;
use crate::ffmpeg::reader::{Item, Reader};

/// So many of the first pictures are decoded to see whether the packets keep what they promise.
const HEAD: usize = 24;
/// The most that are, when the stream begins where nothing can be decoded.
const HEAD_MOST: usize = 600;

/// The index that was kept, else a new one.
pub(crate) fn make(place: &Place, stream: usize) -> Result<Index, Unclear> {
    // what is said of the second reading is not for whoever reads the first
    let _log = Log::new().enter();
    let shelf = Shelf::of(place, stream);
    if let Some(index) = shelf.as_ref().and_then(Shelf::take) {
        return Ok(index);
    }
    let mut demuxer = Demuxer::packets(place, stream).map_err(|_| Unclear::Damaged)?;
    let (mut index, clean) = scan(&mut demuxer).map_err(|_| Unclear::Damaged)??;
    drop(demuxer);
    if !clean {
        decode_head(place, &mut index)?;
    }
    if let Some(shelf) = shelf {
        shelf.put(&index);
    }
    Ok(index)
}

/// Checks by decoding what a clean beginning lets one expect, if that has not been done yet: before the index is used
/// to go anywhere.
pub(crate) fn check(place: &Place, stream: usize, index: &mut Index) -> Result<(), Unclear> {
    if !index.checked {
        let _log = Log::new().enter();
        decode_head(place, index)?;
        if let Some(shelf) = Shelf::of(place, stream) {
            shelf.put(index);
        }
    }
    Ok(())
}

/// Decodes the first pictures.
fn decode_head(place: &Place, index: &mut Index) -> Result<(), Unclear> {
    let mut reader = Reader::open(Origin::Place(place.clone()), 0).map_err(|_| Unclear::Head)?;
    let first_entry = index.entries.first().map_or(i64::MIN, |e| e.pts);
    let (mut shown, mut behind) = (Vec::new(), 0);
    let all = loop {
        if behind >= HEAD || shown.len() >= HEAD_MOST {
            break false;
        }
        match reader.next() {
            Ok(Some(Item::Picture(p))) => {
                let pts = p.timestamp().ok_or(Unclear::Timestamps)?;
                behind += usize::from(pts >= first_entry);
                shown.push(pts);
            }
            Ok(Some(Item::Damage(_) | Item::Anew)) => return Err(Unclear::Damaged),
            Ok(Some(Item::Broken(..))) | Err(_) => return Err(Unclear::Damaged),
            Ok(None) => break true,
        }
    };
    index.settle(&shown, all)?;
    index.checked = true;
    Ok(())
}
