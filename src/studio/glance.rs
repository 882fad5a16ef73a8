//! The size and length of clips in a folder, from their headers.
//!
//! The headers of MP4 and QuickTime files are read here, in a few short reads: libav would first read the whole index, which
//! grows with the recording and may lie behind the data, beyond the bytes to which such a look is limited. GIF has no length
//! in its header: the times of its images are added up.

use super::fault::Fault;
use grainfield_filters::host::lock;
use grainfield_io::disk::reach;
use grainfield_io::format::Formats;
use grainfield_io::source::{self, Length, Options};
use grainfield_render::session::Cancel;
use serde::Serialize;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// The largest number of clips that are remembered.
const MOST: usize = 8192;
/// The largest number of boxes in a part of an MP4 file.
const BOXES: usize = 1024;
/// The largest GIF file whose images are counted.
const LARGEST_GIF: u64 = 64 << 20;

/// The properties of a clip, for a listing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Glance {
    width: u32,
    height: u32,
    /// Seconds, if the header says them.
    seconds: Option<f64>,
}

/// The identity of a file: its path, size and time.
type Key = (std::ffi::OsString, u64, Option<SystemTime>);

/// The known properties of files.
#[derive(Default)]
pub(super) struct Glances(Mutex<HashMap<Key, Glance>>);

impl Glances {
    /// The size and length of a clip.
    pub(super) fn get(&self, input: &OsStr, cancel: &Cancel) -> Result<Glance, Fault> {
        let meta = fs::metadata(input).ok().filter(fs::Metadata::is_file);
        let key = meta.map(|m| (input.to_owned(), m.len(), m.modified().ok()));
        let known = |key: &Key| lock(&self.0).get(key).cloned();
        if let Some(known) = key.as_ref().and_then(known) {
            return Ok(known);
        }
        let found = look(input, cancel)?;
        if let Some(key) = key {
            let mut all = lock(&self.0);
            if all.len() >= MOST {
                all.clear();
            }
            all.insert(key, found.clone());
        }
        Ok(found)
    }
}

fn look(input: &OsStr, cancel: &Cancel) -> Result<Glance, Fault> {
    let options = Options { length: Length::Header, stop: Arc::clone(cancel.flag()), ..Options::default() };
    let mut rows = Formats::default().0.iter().filter_map(|row| Some((row.name, row.input.as_ref()?)));
    let Some((name, row)) = rows.find(|(_, row)| (row.matches)(input)) else {
        return Err(Fault::new(format!("{}: no format reads this file", Path::new(input).display())));
    };
    if name == "video" {
        let file = reach::open(input.as_ref()).ok();
        let found = file.and_then(|file| mp4(&file).ok().flatten().or_else(|| gif(&file).ok().flatten()));
        #[cfg(feature = "ffmpeg")]
        let found = found.or_else(|| {
            let (width, height, seconds) = grainfield_io::libav::glance(input, &options)?;
            Some(Glance { width, height, seconds })
        });
        return found
            .ok_or_else(|| Fault::new(format!("{}: its header has no size", Path::new(input).display())));
    }
    let source = (row.open)(input, &options).map_err(Fault::new)?;
    let source::Info { format, first, last, .. } = source.info();
    let seconds = last.map(|last| (last - first + 1) as f64 / format.rate.to_f64());
    Ok(Glance { width: format.width, height: format.height, seconds })
}

fn read_at(mut file: &File, into: &mut [u8], at: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(into)
}

/// The boxes of an MP4 or QuickTime file between two positions: names, and positions of their contents.
fn boxes(file: &File, mut from: u64, to: u64) -> io::Result<Vec<([u8; 4], u64, u64)>> {
    let mut all = Vec::new();
    while from + 8 <= to && all.len() < BOXES {
        let mut head = [0; 16];
        read_at(file, &mut head[..8], from)?;
        let (start, size) = match u32::from_be_bytes([head[0], head[1], head[2], head[3]]) {
            0 => (from + 8, to - from),
            1 => {
                read_at(file, &mut head[8..], from + 8)?;
                (from + 16, u64::from_be_bytes(std::array::from_fn(|i| head[8 + i])))
            }
            size => (from + 8, size.into()),
        };
        let Some(end) = from.checked_add(size).filter(|end| *end >= start && *end <= to) else { break };
        all.push(([head[4], head[5], head[6], head[7]], start, end));
        from = end;
    }
    Ok(all)
}

/// The contents of the box at the end of a way of names.
fn inside(file: &File, from: u64, to: u64, way: &[&[u8; 4]]) -> io::Result<Option<(u64, u64)>> {
    let [name, rest @ ..] = way else { return Ok(Some((from, to))) };
    let found = boxes(file, from, to)?.into_iter().find(|b| b.0 == **name);
    found.map_or(Ok(None), |(_, from, to)| inside(file, from, to, rest))
}

/// The size and duration of an MP4 or QuickTime file: libav would read all of its index for that.
fn mp4(file: &File) -> io::Result<Option<Glance>> {
    let mut head = [0; 12];
    read_at(file, &mut head, 0)?;
    if !matches!(&head[4..8], b"ftyp" | b"moov" | b"mdat" | b"wide" | b"free" | b"skip") {
        return Ok(None);
    }
    let Some((from, to)) = inside(file, 0, file.metadata()?.len(), &[b"moov"])? else { return Ok(None) };
    let bytes = |at: u64| -> io::Result<[u8; 32]> {
        let mut bytes = [0; 32];
        read_at(file, &mut bytes, at)?;
        Ok(bytes)
    };
    let word = |b: &[u8; 32], at: usize| u32::from_be_bytes(std::array::from_fn(|i| b[at + i]));
    let Some((header, _)) = inside(file, from, to, &[b"mvhd"])? else { return Ok(None) };
    let b = bytes(header)?;
    let (scale, duration) = match b[0] {
        0 => (word(&b, 12), u64::from(word(&b, 16))),
        _ => (word(&b, 20), u64::from(word(&b, 24)) << 32 | u64::from(word(&b, 28))),
    };
    // Fragmented files have no duration there.
    if scale == 0 || duration == 0 {
        return Ok(None);
    }
    for (_, from, to) in boxes(file, from, to)?.into_iter().filter(|b| &b.0 == b"trak") {
        let Some((handler, _)) = inside(file, from, to, &[b"mdia", b"hdlr"])? else { continue };
        if &bytes(handler)?[8..12] != b"vide" {
            continue;
        }
        let Some((entries, _)) = inside(file, from, to, &[b"mdia", b"minf", b"stbl", b"stsd"])? else {
            continue;
        };
        // The matrix that turns the picture upright has nothing on its diagonal where rows become columns.
        let Some((track, _)) = inside(file, from, to, &[b"tkhd"])? else { continue };
        let matrix = bytes(track + if bytes(track)?[0] == 0 { 40 } else { 52 })?;
        let is_on_its_side = word(&matrix, 0) == 0 && word(&matrix, 16) == 0 && word(&matrix, 4) != 0;
        // The first entry begins after 8 bytes, and has its size after 32 more.
        let size = word(&bytes(entries + 40)?, 0);
        let (width, height) = (size >> 16, size & 0xffff);
        let (width, height) = if is_on_its_side { (height, width) } else { (width, height) };
        if width > 0 && height > 0 {
            return Ok(Some(Glance { width, height, seconds: Some(duration as f64 / f64::from(scale)) }));
        }
    }
    Ok(None)
}

/// The size and duration of a GIF file. As FFmpeg plays it, an image without a time, or with less than two hundredths of a
/// second, stays for a tenth.
fn gif(mut file: &File) -> io::Result<Option<Glance>> {
    file.rewind()?;
    let mut from = BufReader::with_capacity(1 << 16, file.take(LARGEST_GIF));
    let head: [u8; 13] = array(&mut from)?;
    if !head.starts_with(b"GIF8") {
        return Ok(None);
    }
    let half = |at: usize| u32::from(u16::from_le_bytes([head[at], head[at + 1]]));
    let palette = |flags: u8| if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) };
    skip(&mut from, palette(head[10]))?;
    let (mut images, mut hundredths, mut delay) = (0, 0_u64, 10);
    // A file that ends early has no length.
    let is_whole = loop {
        match array(&mut from).unwrap_or([0]) {
            [0x21] => {
                let [label] = array(&mut from)?;
                if label == 0xf9 {
                    let [_, _, low, high]: [u8; 4] = array(&mut from)?;
                    delay = Some(u16::from_le_bytes([low, high])).filter(|d| *d > 1).unwrap_or(10);
                    skip(&mut from, 1)?;
                }
            }
            [0x2c] => {
                let image: [u8; 9] = array(&mut from)?;
                skip(&mut from, palette(image[8]) + 1)?;
                images += 1;
                hundredths += u64::from(delay);
                delay = 10;
            }
            [end] => break end == 0x3b,
        }
        // The data, in blocks up to an empty one.
        loop {
            match array(&mut from)? {
                [0] => break,
                [size] => skip(&mut from, size.into())?,
            }
        }
    };
    let seconds = (is_whole && images > 1).then_some(hundredths as f64 / 100.0);
    Ok(Some(Glance { width: half(6), height: half(8), seconds }))
}

fn array<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn skip(from: &mut impl BufRead, mut bytes: usize) -> io::Result<()> {
    while bytes > 0 {
        let there = from.fill_buf()?.len().min(bytes);
        if there == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        from.consume(there);
        bytes -= there;
    }
    Ok(())
}
