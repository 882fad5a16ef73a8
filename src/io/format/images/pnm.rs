//! PPM and PGM, of the Netpbm formats: binary samples after a header of text, without metadata.
//!
//! The reader supports grey (P5) and RGB (P6). If the highest sample value in the header is below 256, a picture has 8
//! bits, else 16. Samples are scaled to all codes and rounded to the nearest, in integers: the image library is off by
//! one for some. A comment lasts from `#` to the end of its line. The writer uses 8 or 16 bits.

use super::{Fault, Header, Input, Kind, Meta, accept, check_size, rows, tagged};
use grainfield_filters::frame::{Alpha, Depth, Family, Format, Frame};
use std::io::{Read, Seek, SeekFrom, Write};

/// The next number of a header, with the white space after it.
fn number(reader: &mut impl Read) -> Result<u64, Fault> {
    let mut next = || -> Result<u8, Fault> {
        let mut byte = [0];
        reader.read_exact(&mut byte)?;
        Ok(byte[0])
    };
    let mut value = None;
    loop {
        let mut byte = next()?;
        if byte == b'#' {
            while !matches!(byte, b'\n' | b'\r') {
                byte = next()?;
            }
        }
        match (byte, value) {
            (b'0'..=b'9', _) => {
                value = Some(value.unwrap_or(0u64).saturating_mul(10).saturating_add(u64::from(byte - b'0')));
            }
            (b'\t'..=b'\r' | b' ', Some(value)) => return Ok(value),
            (b'\t'..=b'\r' | b' ', None) => {}
            _ => {
                let found = byte.escape_ascii();
                return Err(Fault::Bad(format!("the header is damaged: '{found}' instead of a digit")));
            }
        }
    }
}

/// Reads the header: the format, the highest sample value, and the position of the samples' end.
fn open(input: &mut Input) -> Result<(Format, u32, u64), Fault> {
    let mut magic = [0; 2];
    input.reader.read_exact(&mut magic)?;
    let mut next = || number(&mut input.reader);
    let (width, height, max) = (next()?, next()?, next()?);
    if !(1..=65535).contains(&max) {
        return Err(Fault::Bad(format!("the highest sample value is {max}: it must be 1 to 65535")));
    }
    let family = if magic == *b"P5" { Family::Gray } else { Family::Rgb };
    let (depth, pixel) = if max < 256 { (8, 3) } else { (16, 6) };
    let (width, height) = check_size(width, height, pixel)?;
    let format = tagged(Format::new(width, height, family, Depth::Bits(depth), (0, 0)));
    let end = input.reader.stream_position()? + format.frame_bytes() as u64;
    if end > input.len {
        return Err(Fault::Bad(format!(
            "the file ends inside the picture: {width}x{height} take {end} bytes, there are {}",
            input.len
        )));
    }
    Ok((format, max as u32, end))
}

pub(super) fn probe(mut input: Input) -> Result<Header, Fault> {
    let (format, max, end) = open(&mut input)?;
    let mut rest = Vec::new();
    input.reader.seek(SeekFrom::Start(end))?;
    input.reader.take(3).read_to_end(&mut rest)?;
    let more = Kind::detect(&rest) == Some(Kind::Pnm);
    let notes =
        if more { vec!["a file with more than one picture: only its first is read".into()] } else { vec![] };
    let details = vec![("stored".to_owned(), format!("highest value {max}"))];
    Ok(Header { kind: Kind::Pnm, format, meta: Meta { more, ..Meta::default() }, details, notes })
}

pub(super) fn decode(mut input: Input, want: &Format, frame: &mut Frame) -> Result<Meta, Fault> {
    let (format, max, _) = open(&mut input)?;
    accept(&format, want, frame)?;
    let mut row = vec![0; format.frame_bytes() / format.height as usize];
    for y in 0..format.height as usize {
        input.reader.read_exact(&mut row)?;
        scale(&mut row, max);
        rows::unpack_row(frame, y, &row, true);
    }
    Ok(Meta::default())
}

/// Scales big-endian samples to all codes of 8 or 16 bits.
fn scale(row: &mut [u8], max: u32) {
    let full = if max < 256 { 255 } else { 65535 };
    let scaled = |value: u32| (value.min(max) * full + max / 2) / max;
    match max {
        255 | 65535 => {}
        0..255 => row.iter_mut().for_each(|b| *b = scaled(u32::from(*b)) as u8),
        _ => row.as_chunks_mut().0.iter_mut().for_each(|pair| {
            *pair = (scaled(u32::from(u16::from_be_bytes(*pair))) as u16).to_be_bytes();
        }),
    }
}

pub(super) fn encode(frame: &Frame, out: &mut Vec<u8>) -> Result<(), Fault> {
    let format = frame.format();
    let (kind, max) = match (format.family, format.depth, format.alpha) {
        (Family::Gray, Depth::Bits(bits @ (8 | 16)), Alpha::None) => (5, (1u32 << bits) - 1),
        (Family::Rgb, Depth::Bits(bits @ (8 | 16)), Alpha::None) => (6, (1u32 << bits) - 1),
        _ => return Err(Fault::Bad(format!("PPM/PGM cannot hold {}", format.name()))),
    };
    write!(out, "P{kind}\n{} {}\n{max}\n", format.width, format.height)?;
    out.extend(rows::interleaved(frame, true));
    Ok(())
}
