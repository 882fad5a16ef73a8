//! DPX and JPEG 2000, by FFmpeg's codecs.
//!
//! They decode whole pictures only, so asking what a file is costs as much as reading it.

use super::{Fault, Header, Input, Kind, MAX_BYTES, Meta, accept, check_size, rows, tagged};
use crate::ffmpeg::still::{self, Decoded, Still};
use grainfield_filters::frame::{Depth, Format, Frame};
use std::io::Read;

fn still(kind: Kind) -> Still {
    match kind {
        Kind::J2k => Still::J2k,
        Kind::Jp2 => Still::Jp2,
        _ => Still::Dpx,
    }
}

fn decoded(kind: Kind, mut input: Input) -> Result<(Decoded, Format), Fault> {
    let mut file = Vec::with_capacity(input.len as usize);
    input.reader.by_ref().take(MAX_BYTES).read_to_end(&mut file).map_err(Fault::Io)?;
    let picture = still::decode(still(kind), &file)
        .map_err(|e| Fault::Bad(format!("the {} cannot be decoded: {e}", kind.label())))?;
    let format = tagged(picture.format);
    let bytes = (format.planes() * format.depth.bytes()) as u64;
    check_size(format.width.into(), format.height.into(), bytes)?;
    Ok((picture, format))
}

pub(super) fn probe(kind: Kind, input: Input) -> Result<Header, Fault> {
    let (picture, format) = decoded(kind, input)?;
    let details = vec![("stored".to_owned(), picture.stored().to_owned())];
    Ok(Header { kind, format, meta: Meta::default(), details, notes: Vec::new() })
}

pub(super) fn decode(kind: Kind, input: Input, want: &Format, frame: &mut Frame) -> Result<Meta, Fault> {
    let (picture, format) = decoded(kind, input)?;
    if format.subsampling != want.subsampling {
        return Err(Fault::Differs(Box::new(format)));
    }
    accept(&format, want, frame)?;
    picture.unpack(frame);
    Ok(Meta::default())
}

pub(super) fn encode(kind: Kind, frame: &Frame, out: &mut Vec<u8>) -> Result<(), Fault> {
    let interleave = |y: usize, row: &mut [u8]| match frame.format().depth {
        Depth::Bits(8) => rows::pack::<u8, 1>(frame, y, row, |b| [b]),
        _ => rows::pack::<u16, 2>(frame, y, row, u16::to_le_bytes),
    };
    still::encode(still(kind), frame, interleave, out)
        .map_err(|e| Fault::Bad(format!("the {} cannot be written: {e}", kind.label())))
}
