//! DPX, SMPTE ST 268: its header, and the writer. FFmpeg decodes the samples.
//!
//! The header of a file that was read is written to DPX files, except for the layout of samples: film (edge code,
//! frame position, slate), television (time code, user bits), project, creator, transfer characteristic, colorimetry
//! and user data are kept, and so are byte order and packing if the depth is. Samples are the file's code values,
//! without any curve.

use super::head::{FilmHeader, HEAD, MAX_USER, UNDEFINED};
use super::{Fault, Meta, rows};
use grainfield_filters::frame::{Depth, Family, Format, Frame, Transfer};
use grainfield_filters::ratio::Ratio;

const MAGIC: u32 = 0x5344_5058;
/// Size of its generic part in bytes, including image and orientation.
const GENERIC: usize = 1664;

// Positions of fields, in bytes from the start; for texts with their lengths.
const OFFSET: usize = 4;
const VERSION: usize = 8;
const FILE_SIZE: usize = 16;
const SIZES: usize = 24;
pub(super) const NAME: (usize, usize) = (36, 100);
const MADE: (usize, usize) = (136, 24);
const CREATOR: (usize, usize) = (160, 100);
const PROJECT: (usize, usize) = (260, 200);
const COPYRIGHT: (usize, usize) = (460, 200);
const ORIENTATION: usize = 768;
const ELEMENTS: usize = 770;
const WIDTH: usize = 772;
const HEIGHT: usize = 776;
/// The first of eight elements of `ELEMENT_SIZE` bytes: sign, lowest code, its quantity, highest code, its quantity,
/// then bytes: descriptor, transfer, colorimetry, bits; then packing, encoding (2 bytes each), offset, two paddings.
const ELEMENT: usize = 780;
const ELEMENT_SIZE: usize = 72;
const DESCRIPTOR: usize = ELEMENT + 20;
const TRANSFER: usize = ELEMENT + 21;
const COLORIMETRY: usize = ELEMENT + 22;
const BITS: usize = ELEMENT + 23;
const PACKING: usize = ELEMENT + 24;
const ENCODING: usize = ELEMENT + 26;
const DATA: usize = ELEMENT + 28;
const SOURCE_NAME: (usize, usize) = (1432, 100);
const DEVICE: (usize, usize) = (1556, 32);
/// Codes of manufacturer, type, perforations, prefix and count of the edge code: two, two, two, six and four
/// characters.
const FILM: (usize, usize) = (1664, 16);
const PERFORATIONS: (usize, usize) = (1668, 2);
const COUNT: (usize, usize) = (1676, 4);
const FRAME_POSITION: usize = 1712;
const FRAME_RATE: usize = 1724;
const FRAME_ID: (usize, usize) = (1732, 32);
const SLATE: (usize, usize) = (1764, 100);
const TIME_CODE: usize = 1920;
const USER_BITS: usize = 1924;
/// The frame rates of television and of film: the first that is set counts.
const RATES: [usize; 2] = [1940, FRAME_RATE];

/// The header of a picture without metadata.
fn fresh() -> FilmHeader {
    let mut bytes = vec![0xff; HEAD];
    for (at, len) in [NAME, MADE, CREATOR, PROJECT, COPYRIGHT, SOURCE_NAME, DEVICE, FILM, FRAME_ID, SLATE] {
        bytes[at..at + len].fill(0);
    }
    bytes[VERSION..VERSION + 8].copy_from_slice(b"V1.0\0\0\0\0");
    let mut header = FilmHeader { bytes, little: false, cut: false };
    header.put_short(ORIENTATION, 0);
    header.bytes[COLORIMETRY] = 0;
    header
}

/// The header of a file, which may be cut off.
pub(super) fn parse(file: &[u8]) -> FilmHeader {
    let mut header = fresh();
    header.little = file.starts_with(&MAGIC.to_le_bytes());
    let len = file.len().min(HEAD);
    header.bytes[..len].copy_from_slice(&file[..len]);
    // the header ends where the samples begin, regardless of its size field
    let data = header.number(OFFSET).map_or(HEAD, |at| at as usize).clamp(GENERIC, file.len().max(GENERIC));
    if data < HEAD {
        let fresh = FilmHeader { little: header.little, ..fresh() };
        header.bytes[data..].copy_from_slice(&fresh.bytes[data..]);
    } else {
        let size = header.number(SIZES + 8).map_or(0, |n| n as usize);
        let user = size.min(data - HEAD);
        header.cut = user > MAX_USER;
        let user = file.get(HEAD..HEAD + user.min(MAX_USER)).unwrap_or_default();
        header.bytes.extend_from_slice(user);
    }
    header
}

/// Removes the fields of a single frame.
pub(super) fn forget_frame(header: &mut FilmHeader) {
    for at in [FRAME_POSITION, TIME_CODE, USER_BITS] {
        header.put(at, UNDEFINED);
    }
    for (at, len) in [NAME, MADE, SOURCE_NAME, PERFORATIONS, COUNT, FRAME_ID] {
        header.bytes[at..at + len].fill(0);
    }
}

/// The transfer characteristic, if there is a tag for it.
pub(super) fn transfer(header: &FilmHeader) -> Transfer {
    match header.bytes[TRANSFER] {
        // Printing density, logarithmic, and the density of ST 2065-3 (ADX).
        1 | 3 | 13 => Transfer::DENSITY,
        2 => Transfer::LINEAR,
        5 | 6 => Transfer::BT709,
        7..=10 => Transfer::SMPTE170M,
        _ => Transfer::UNSPECIFIED,
    }
}

pub(super) fn time_code(header: &FilmHeader) -> Option<String> {
    let [h, m, s, f] = header.number(TIME_CODE)?.to_be_bytes();
    Some(format!("{h:02x}:{m:02x}:{s:02x}:{f:02x}"))
}

pub(super) fn rate(header: &FilmHeader) -> Option<Ratio> {
    RATES.iter().find_map(|&at| header.rate(at))
}

/// For `probe`.
pub(super) fn details(header: &FilmHeader) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |name: &str, value: Option<String>| all.extend(value.map(|v| (name.to_owned(), v)));
    let transfers = [
        "user-defined",
        "printing density",
        "linear",
        "logarithmic",
        "unspecified video",
        "SMPTE 274M",
        "ITU-R 709",
        "ITU-R 601, 625 lines",
        "ITU-R 601, 525 lines",
        "composite NTSC",
        "composite PAL",
        "linear depth",
        "homogeneous depth",
        "ADX",
    ];
    let code = header.byte(TRANSFER);
    let known = code.map(|t| transfers.get(usize::from(t)).map_or_else(|| t.to_string(), |&t| t.into()));
    add("DPX transfer", known);
    add("time code", time_code(header));
    add("user bits", header.number(USER_BITS).map(|v| format!("{v:08x}")));
    add("edge code", header.text(FILM));
    add("frame position", header.number(FRAME_POSITION).map(|v| v.to_string()));
    add("frame rate of the scan", header.real(FRAME_RATE).map(|v| v.to_string()));
    add("frame identification", header.text(FRAME_ID));
    add("slate", header.text(SLATE));
    add("project", header.text(PROJECT));
    add("creator", header.text(CREATOR));
    add("copyright", header.text(COPYRIGHT));
    add("input device", header.text(DEVICE));
    add("user data", Some(header.bytes.len() - HEAD).filter(|&n| n > 0).map(|n| format!("{n} bytes")));
    all
}

/// The fields that are lost in a file of another kind.
pub(super) fn names(header: &FilmHeader) -> Vec<String> {
    details(header).into_iter().map(|d| d.0).filter(|n| n != "DPX transfer").collect()
}

/// The fields that are lost in a DPX file.
pub(super) fn lost(header: &FilmHeader) -> Vec<String> {
    let mut list = Vec::new();
    if header.cut {
        list.push(format!("user data beyond {MAX_USER} bytes"));
    }
    if !matches!(header.short(ELEMENTS), 0 | 1 | u16::MAX) {
        list.push(format!("{} further image elements", header.short(ELEMENTS) - 1));
    }
    list
}

/// Sets the layout of samples in a header, for this writer. Returns the packing.
fn describe(head: &mut FilmHeader, format: &Format, bits: u8, from_source: bool) -> u16 {
    let packings: &[u16] = match bits {
        10 => &[1, 2],
        12 => &[1, 0],
        _ => &[0],
    };
    let same = from_source && head.bytes[BITS] == bits;
    let packing = Some(head.short(PACKING)).filter(|p| same && packings.contains(p)).unwrap_or(packings[0]);
    let number = |v: usize| u32::try_from(v).unwrap_or(UNDEFINED);
    let len = head.bytes.len();
    let size = len + stride(format, bits, packing) * format.height as usize;
    head.put(0, MAGIC);
    head.put(OFFSET, number(len));
    head.put(FILE_SIZE, number(size));
    head.put(SIZES, number(GENERIC));
    head.put(SIZES + 4, number(HEAD - GENERIC));
    head.put(SIZES + 8, number(len - HEAD));
    if head.short(ELEMENTS) != 1 {
        head.put_short(ELEMENTS, 1);
        head.bytes[ELEMENT + ELEMENT_SIZE..ELEMENT + 8 * ELEMENT_SIZE].fill(0xff);
    }
    head.put(WIDTH, format.width);
    head.put(HEIGHT, format.height);
    head.put(ELEMENT, 0);
    if !same {
        // code values of another depth
        for at in [4, 8, 12, 16] {
            head.put(ELEMENT + at, UNDEFINED);
        }
    }
    head.bytes[DESCRIPTOR] = match (format.family, format.has_alpha()) {
        (Family::Gray, _) => 6,
        (_, false) => 50,
        (_, true) => 51,
    };
    // a characteristic that was not converted is kept, also if there is no tag for it
    if !from_source || transfer(head) != format.transfer {
        head.bytes[TRANSFER] = match format.transfer {
            Transfer::DENSITY => 1,
            Transfer::LINEAR => 2,
            Transfer::BT709 | Transfer::BT2020_10 | Transfer::BT2020_12 => 6,
            Transfer::SMPTE170M => 8,
            Transfer::UNSPECIFIED => 4,
            _ => 0,
        };
    }
    head.bytes[BITS] = bits;
    head.put_short(PACKING, packing);
    head.put_short(ENCODING, 0);
    head.put(DATA, number(len));
    head.put(DATA + 4, 0);
    head.put(DATA + 8, 0);
    packing
}

/// Size of a row in bytes: whole 32-bit words.
fn stride(format: &Format, bits: u8, packing: u16) -> usize {
    let samples = format.width as usize * format.planes();
    let bits = match (bits, packing) {
        (10, _) => return samples.div_ceil(3) * 4,
        (12, 1) => 16,
        (bits, _) => usize::from(bits),
    };
    (samples * bits).div_ceil(32) * 4
}

pub(super) fn encode(frame: &Frame, meta: Option<&Meta>, out: &mut Vec<u8>) -> Result<(), Fault> {
    let format = frame.format();
    let Depth::Bits(bits @ (8 | 10 | 12 | 16)) = format.depth else {
        return Err(Fault::Bad(format!("DPX cannot hold {}", format.name())));
    };
    let header = meta.and_then(|m| m.dpx.as_deref());
    let mut head = header.cloned().unwrap_or_else(fresh);
    head.set_rate(&RATES, format.rate);
    if header.is_none()
        && let Some(meta) = meta
    {
        if let Some(rate) = meta.rate {
            head.put(RATES[0], (rate.to_f64() as f32).to_bits());
        }
        // Binary-coded decimals: its digits, read as hexadecimal.
        let digits = meta.timecode.as_ref().map(|code| code.replace([':', ';'], ""));
        if let Some(code) = digits.and_then(|digits| u32::from_str_radix(&digits, 16).ok()) {
            head.put(TIME_CODE, code);
        }
    }
    let packing = describe(&mut head, format, bits, header.is_some());
    out.extend_from_slice(&head.bytes);
    let mut row = vec![0; format.width as usize * format.planes() * format.depth.bytes()];
    let stride = stride(format, bits, packing);
    for y in 0..format.height as usize {
        let start = out.len();
        rows::pack_row(frame, y, &mut row, false);
        if bits == 8 {
            out.extend_from_slice(&row);
        } else {
            let samples = row.as_chunks().0.iter().map(|s| u16::from_le_bytes(*s));
            pack(samples, bits, packing, head.little, out);
        }
        out.resize(start + stride, 0);
    }
    Ok(())
}

/// Appends samples of more than 8 bits.
fn pack(samples: impl Iterator<Item = u16>, bits: u8, packing: u16, little: bool, out: &mut Vec<u8>) {
    let short = |v: u16| if little { v.to_le_bytes() } else { v.to_be_bytes() };
    let word = |v: u32| if little { v.to_le_bytes() } else { v.to_be_bytes() };
    match (bits, packing) {
        (16, _) => samples.for_each(|v| out.extend(short(v))),
        (12, 1) => samples.for_each(|v| out.extend(short(v.min(0xfff) << 4))),
        (10, _) => {
            // three per word, the first in the highest bits, with padding in the lowest two (method A) or the
            // highest (B)
            let shift = if packing == 2 { 20 } else { 22 };
            let (mut sum, mut n) = (0, 0);
            for v in samples {
                sum |= u32::from(v.min(0x3ff)) << (shift - 10 * n);
                n += 1;
                if n == 3 {
                    out.extend(word(sum));
                    (sum, n) = (0, 0);
                }
            }
            if n > 0 {
                out.extend(word(sum));
            }
        }
        _ => {
            // packed, the first in the lowest bits
            let (mut sum, mut held) = (0u64, 0);
            for v in samples {
                sum |= u64::from(v & ((1 << bits) - 1)) << held;
                held += u32::from(bits);
                if held >= 32 {
                    out.extend(word(sum as u32));
                    (sum, held) = (sum >> 32, held - 32);
                }
            }
            if held > 0 {
                out.extend(word(sum as u32));
            }
        }
    }
}
