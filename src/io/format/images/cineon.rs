//! Cineon, by Kodak's "Image File Format Proposal for Digital Pictures" 4.5: the scan of a film frame, mostly as the
//! logarithm of its density.
//!
//! The reader supports three channels R, G, B, interleaved by pixel, of 10 bits with three in a 32-bit word (the two
//! lowest bits are padding), or of 8 or 16 bits; upright; in either byte order. Other kinds are errors that name the
//! kind. The writer uses 10 bits, in the byte order of the file that was read, else big-endian. Samples are the file's
//! code values, without any curve. All fields of the header that do not describe the layout of samples (film, edge
//! code, slate, scanner, user data) are kept, and written to Cineon files.

use super::head::{FilmHeader, HEAD, MAX_USER, UNDEFINED};
use super::{Density, Fault, Header, Input, Kind, Meta, Unit, accept, check_size, rows, tagged};
use grainfield_filters::frame::{Alpha, Depth, Family, Format, Frame, Transfer};
use std::io::{Read, Seek, SeekFrom};

/// The first word of a file, which determines the byte order.
const MAGIC: u32 = 0x802a_5fd7;
/// The magic number as bytes of a big-endian file.
pub(super) const BIG: [u8; 4] = MAGIC.to_be_bytes();
/// The magic number as bytes of a little-endian file.
pub(super) const LITTLE: [u8; 4] = MAGIC.to_le_bytes();

/// Size of the generic part in bytes, which every file has; the fields about film follow.
const GENERIC: usize = 1024;

// Positions of fields, in bytes from the start.
const OFFSET: usize = 4;
const GENERIC_SIZE: usize = 8;
const INDUSTRY_SIZE: usize = 12;
const USER_SIZE: usize = 16;
const FILE_SIZE: usize = 20;
const VERSION: usize = 24;
pub(super) const NAME: (usize, usize) = (32, 100);
const ORIENTATION: usize = 192;
const CHANNELS: usize = 193;
/// The first of eight channels of `CHANNEL_SIZE` bytes each: designator (2 bytes), bits, filler, width, height, the
/// lowest and highest code value, each with its quantity.
const CHANNEL: usize = 196;
const CHANNEL_SIZE: usize = 28;
/// Four chromaticities.
const CHROMATICITIES: usize = 420;
const INTERLEAVE: usize = 680;
const PACKING: usize = 681;
const SIGN: usize = 682;
const LINE_PADDING: usize = 684;
const CHANNEL_PADDING: usize = 688;
const DEVICE: (usize, usize) = (844, 64);
/// Samples per millimetre horizontally, then vertically.
const PITCH: usize = 972;
const GAMMA: usize = 980;
/// Codes of the film's manufacturer and type, and the offset in perforations, one byte each; one unused.
const FILM: usize = 1024;
const PERFORATION: usize = 1026;
/// The prefix and the count of the edge code.
const EDGE: usize = 1028;
const FRAME_POSITION: usize = 1068;
const FRAME_RATE: usize = 1072;
const SLATE: (usize, usize) = (1108, 200);

/// An undefined real number.
const UNDEFINED_REAL: u32 = 0x7f80_0000;

/// The orientations, by their numbers.
const ORIENTATIONS: [&str; 8] = [
    "upright",
    "upside down",
    "mirrored",
    "turned by 180 degrees",
    "with rows and columns swapped",
    "turned by 90 degrees anticlockwise",
    "turned by 90 degrees clockwise",
    "with rows and columns swapped, turned by 180 degrees",
];

/// The header of a picture without metadata.
fn fresh() -> FilmHeader {
    let mut header = FilmHeader { bytes: vec![0; HEAD], little: false, cut: false };
    header.bytes[..4].copy_from_slice(&BIG);
    header.bytes[VERSION..VERSION + 4].copy_from_slice(b"V4.5");
    for i in 0..8 {
        let at = CHANNEL + i * CHANNEL_SIZE;
        header.bytes[at..at + CHANNEL_SIZE].fill(0xff);
        header.put(at + 16, UNDEFINED_REAL);
        header.put(at + 24, UNDEFINED_REAL);
        if i < 3 {
            header.bytes[at..at + 2].copy_from_slice(&[0, 1 + i as u8]); // red, green, blue
        }
    }
    for at in (CHROMATICITIES..CHROMATICITIES + 32).step_by(4) {
        header.put(at, UNDEFINED_REAL);
    }
    for at in [PITCH, PITCH + 4, GAMMA, FRAME_RATE] {
        header.put(at, UNDEFINED_REAL);
    }
    header.bytes[FILM..FILM + 4].fill(0xff);
    forget_frame(&mut header);
    header
}

/// Removes the fields of a single frame.
pub(super) fn forget_frame(header: &mut FilmHeader) {
    header.bytes[PERFORATION] = 0xff;
    for at in [EDGE, EDGE + 4, FRAME_POSITION] {
        header.put(at, UNDEFINED);
    }
}

fn density(header: &FilmHeader) -> Option<Density> {
    let (x, y) = (header.real(PITCH)?, header.real(PITCH + 4)?);
    Some(Density { x: x * 10.0, y: y * 10.0, unit: Unit::Centimetre })
}

fn details(header: &FilmHeader, bits: u8) -> Vec<(String, String)> {
    let order = if header.little { "little" } else { "big" };
    let packed = if bits == 10 { ", three to a word" } else { "" };
    let mut all = vec![("stored".to_owned(), format!("{bits} bits{packed}, {order}-endian"))];
    let mut add = |name: &str, value: Option<String>| all.extend(value.map(|v| (name.to_owned(), v)));
    let byte = |at| header.byte(at).map(|v| v.to_string());
    let number = |at| header.number(at).map(|v| v.to_string());
    add("film manufacturer", byte(FILM));
    add("film type", byte(FILM + 1));
    add("edge code prefix", number(EDGE));
    add("edge code count", number(EDGE + 4));
    add("edge code offset", byte(PERFORATION));
    add("frame position", number(FRAME_POSITION));
    add("frame rate of the scan", header.real(FRAME_RATE).map(|v| v.to_string()));
    add("slate", header.text(SLATE));
    add("input device", header.text(DEVICE));
    add("user data", Some(header.bytes.len() - HEAD).filter(|&n| n > 0).map(|n| format!("{n} bytes")));
    all
}

/// The fields that are lost in a file of another kind.
pub(super) fn names(header: &FilmHeader) -> Vec<String> {
    details(header, 0).into_iter().map(|d| d.0).filter(|n| n != "stored").collect()
}

/// A file with a parsed header.
struct File {
    input: Input,
    header: FilmHeader,
    format: Format,
    bits: u8,
    /// Size of the samples of a row, and distance of rows, in bytes.
    row: usize,
    stride: u64,
    /// Position of the first row.
    offset: u64,
}

fn refused(what: String) -> Fault {
    Fault::Bad(format!("this variant of Cineon is not supported: {what}"))
}

impl File {
    fn open(mut input: Input) -> Result<File, Fault> {
        let mut generic = [0; GENERIC];
        input.reader.read_exact(&mut generic)?;
        let mut header = fresh();
        header.little = generic[..4] == LITTLE;
        if header.little {
            // the undefined value is the same in both orders, except for real numbers
            (GENERIC..HEAD).step_by(4).for_each(|at| header.bytes[at..at + 4].reverse());
        }
        header.bytes[..GENERIC].copy_from_slice(&generic);
        let offset = u64::from(header.word(OFFSET));
        if offset < GENERIC as u64 || offset > input.len {
            return Err(Fault::Bad(format!(
                "the Cineon is damaged: its header places the samples at byte {offset} of {}",
                input.len
            )));
        }
        let (format, bits) = picture(&header)?;
        let row = format.width as usize
            * match bits {
                10 => 4,
                8 => 3,
                _ => 6,
            };
        let stride = row as u64 + u64::from(header.number(LINE_PADDING).unwrap_or(0));
        let needed = offset + stride * u64::from(format.height - 1) + row as u64;
        if needed > input.len {
            return Err(Fault::Bad(format!(
                "the file ends inside the picture: {}x{} take {needed} bytes, there are {}",
                format.width, format.height, input.len
            )));
        }
        let film = offset.min(HEAD as u64) as usize;
        input.reader.read_exact(&mut header.bytes[GENERIC..film])?;
        let user = offset.saturating_sub(HEAD as u64);
        header.cut = user > MAX_USER as u64;
        input.reader.by_ref().take(user.min(MAX_USER as u64)).read_to_end(&mut header.bytes)?;
        Ok(File { input, header, format, bits, row, stride, offset })
    }
}

/// The picture's format, and bits per sample in the file.
fn picture(header: &FilmHeader) -> Result<(Format, u8), Fault> {
    let channel = |i: usize| CHANNEL + i * CHANNEL_SIZE;
    let channels = header.bytes[CHANNELS];
    if channels != 3 {
        return Err(refused(format!("{channels} channels; it must be three, R, G and B")));
    }
    let orientation = header.byte(ORIENTATION).unwrap_or(0);
    if orientation != 0 {
        let what = ORIENTATIONS.get(usize::from(orientation)).copied().unwrap_or("of unknown orientation");
        return Err(refused(format!(
            "the picture is {what} (orientation {orientation}); it must be upright"
        )));
    }
    let shape = |i| (header.bytes[channel(i) + 2], header.word(channel(i) + 4), header.word(channel(i) + 8));
    let (bits, width, height) = shape(0);
    if let Some(i) = (1..3).find(|&i| shape(i) != (bits, width, height)) {
        return Err(refused(format!("channel {} is of another size or depth than channel 1", i + 1)));
    }
    let color = |i| match header.bytes[channel(i) + 1] {
        d @ 1..=6 => Some((d - 1) % 3),
        _ => None,
    };
    let order = [color(0), color(1), color(2)];
    // if it is the same for all three, it is undefined
    if order.iter().all(Option::is_some)
        && order != [Some(0), Some(1), Some(2)]
        && order.windows(2).any(|w| w[0] != w[1])
    {
        return Err(refused("its channels are in another order than R, G, B".into()));
    }
    if let Some(interleave @ 1..) = header.byte(INTERLEAVE) {
        return Err(refused(format!("interleaving {interleave}; it must be by pixel (0)")));
    }
    if let Some(sign @ 1..) = header.byte(SIGN) {
        return Err(refused(format!("signed samples ({sign}); they must be unsigned (0)")));
    }
    // the highest bit only allows several pixels per cell, which these layouts do not use
    let packing = header.byte(PACKING).map(|p| p & 0x7f);
    let fits = match bits {
        10 => matches!(packing, None | Some(5)),
        8 => matches!(packing, None | Some(0..=2)),
        16 => matches!(packing, None | Some(0 | 3 | 4)),
        _ => return Err(refused(format!("{bits} bits per sample; it must be 8, 10 or 16"))),
    };
    if !fits {
        let packing = packing.unwrap_or_default();
        let right = if bits == 10 { "5: 32-bit words, padding in the lowest bits" } else { "0: none" };
        return Err(refused(format!("packing {packing} for {bits} bits; it must be {right}")));
    }
    let (width, height) = check_size(width.into(), height.into(), if bits == 8 { 3 } else { 6 })?;
    let format = Format::new(width, height, Family::Rgb, Depth::Bits(bits), (0, 0));
    Ok((tagged(Format { transfer: Transfer::DENSITY, ..format }), bits))
}

pub(super) fn probe(input: Input) -> Result<Header, Fault> {
    let File { mut header, format, bits, .. } = File::open(input)?;
    let details = details(&header, bits);
    let mut notes =
        vec!["Cineon stores film density (logarithmic): its code values are used unchanged".to_owned()];
    if header.cut {
        notes.push(format!("user data beyond {MAX_USER} bytes is not kept"));
    }
    // fields common to all frames, for frames without a separate file
    let fields = names(&header);
    forget_frame(&mut header);
    let (density, rate) = (density(&header), header.rate(FRAME_RATE));
    let meta = Meta { fields, density, rate, cineon: Some(Box::new(header)), ..Meta::default() };
    Ok(Header { kind: Kind::Cineon, format, meta, details, notes })
}

pub(super) fn decode(input: Input, want: &Format, frame: &mut Frame) -> Result<Meta, Fault> {
    let File { mut input, header, format, bits, row, stride, offset, .. } = File::open(input)?;
    accept(&format, want, frame)?;
    let mut samples = vec![0; row];
    for y in 0..format.height as usize {
        input.reader.seek(SeekFrom::Start(offset + stride * y as u64))?;
        input.reader.read_exact(&mut samples)?;
        match bits {
            10 => unpack(frame, y, &samples, header.little),
            _ => rows::unpack_row(frame, y, &samples, !header.little),
        }
    }
    Ok(Meta { density: density(&header), cineon: Some(Box::new(header)), ..Meta::default() })
}

/// Positions of the samples of planes G, B, R in a word.
const SHIFTS: [u32; 3] = [12, 2, 22];

fn unpack(frame: &mut Frame, y: usize, row: &[u8], little: bool) {
    for (p, shift) in SHIFTS.into_iter().enumerate() {
        for (sample, word) in frame.row_mut::<u16>(p, y).iter_mut().zip(row.as_chunks().0) {
            let word = if little { u32::from_le_bytes(*word) } else { u32::from_be_bytes(*word) };
            *sample = (word >> shift & 0x3ff) as u16;
        }
    }
}

fn pack(frame: &Frame, y: usize, out: &mut Vec<u8>, little: bool) {
    let [g, b, r] = [0, 1, 2].map(|p| frame.row::<u16>(p, y));
    for ((g, b), r) in g.iter().zip(b).zip(r) {
        let word = [g, b, r].into_iter().zip(SHIFTS).map(|(&v, s)| u32::from(v.min(0x3ff)) << s).sum::<u32>();
        out.extend_from_slice(&if little { word.to_le_bytes() } else { word.to_be_bytes() });
    }
}

pub(super) fn encode(frame: &Frame, meta: Option<&Meta>, out: &mut Vec<u8>) -> Result<(), Fault> {
    let format = frame.format();
    if (format.family, format.depth, format.alpha) != (Family::Rgb, Depth::Bits(10), Alpha::None) {
        return Err(Fault::Bad(format!("Cineon cannot hold {}", format.name())));
    }
    let head = match meta.and_then(|m| m.cineon.as_deref()) {
        Some(header) => {
            let mut head = header.clone();
            head.set_rate(&[FRAME_RATE], format.rate);
            head
        }
        None => {
            let mut fresh = fresh();
            if let Some((x, y)) = meta.and_then(|m| m.density).and_then(|d| d.per_metre()) {
                fresh.put(PITCH, (x as f32 / 1000.0).to_bits());
                fresh.put(PITCH + 4, (y as f32 / 1000.0).to_bits());
            }
            fresh
        }
    };
    let head = describe(head, format);
    out.extend_from_slice(&head.bytes);
    (0..format.height as usize).for_each(|y| pack(frame, y, out, head.little));
    Ok(())
}

/// Sets the layout of samples in a header, for this writer.
fn describe(mut head: FilmHeader, format: &Format) -> FilmHeader {
    let len = head.bytes.len();
    let size = len as u64 + 4 * u64::from(format.width) * u64::from(format.height);
    let number = |v: usize| u32::try_from(v).unwrap_or(UNDEFINED);
    head.put(OFFSET, number(len));
    head.put(GENERIC_SIZE, number(GENERIC));
    head.put(INDUSTRY_SIZE, number(HEAD - GENERIC));
    head.put(USER_SIZE, number(len - HEAD));
    head.put(FILE_SIZE, u32::try_from(size).unwrap_or(UNDEFINED));
    head.bytes[ORIENTATION] = 0;
    head.bytes[CHANNELS] = 3;
    for at in [0, 1, 2].map(|i| CHANNEL + i * CHANNEL_SIZE) {
        if head.bytes[at + 2] != 10 {
            // code values of another depth
            head.put(at + 12, 0);
            head.put(at + 20, 0x3ff);
        }
        head.bytes[at + 2] = 10;
        head.put(at + 4, format.width);
        head.put(at + 8, format.height);
    }
    head.bytes[INTERLEAVE] = 0;
    head.bytes[PACKING] = 5;
    head.bytes[SIGN] = 0;
    head.put(LINE_PADDING, 0);
    head.put(CHANNEL_PADDING, 0);
    head
}
