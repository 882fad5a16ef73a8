//! DPX and JPEG 2000, by FFmpeg's codecs; DPX is written by [`dpx`]. JPEG XL is only written here.
//!
//! The codecs decode whole pictures only, so probing a file costs as much as reading it.

use super::{Fault, FilmHeader, Header, Input, Kind, Meta, accept, check_size, dpx, rows, tagged};
use crate::libav::still::{self, Decoded, Still};
use grainfield_filters::frame::{Format, Frame, Transfer};

fn still(kind: Kind) -> Still {
    match kind {
        Kind::J2k => Still::J2k,
        Kind::Jp2 => Still::Jp2,
        Kind::Jxl => Still::Jxl,
        _ => Still::Dpx,
    }
}

fn decoded(kind: Kind, input: Input) -> Result<(Decoded, Format, Option<Box<FilmHeader>>), Fault> {
    let file = input.contents()?;
    let picture = still::decode(still(kind), &file)
        .map_err(|e| Fault::Bad(format!("the {} cannot be decoded: {e}", kind.label())))?;
    let mut format = tagged(picture.format);
    let header = (kind == Kind::Dpx).then(|| Box::new(dpx::parse(&file)));
    if let Some(header) = &header {
        format.transfer = dpx::transfer(header);
    }
    let bytes = (format.planes() * format.depth.bytes()) as u64;
    check_size(format.width.into(), format.height.into(), bytes)?;
    Ok((picture, format, header))
}

pub(super) fn probe(kind: Kind, input: Input) -> Result<Header, Fault> {
    let (picture, format, mut header) = decoded(kind, input)?;
    let mut details = vec![("stored".to_owned(), picture.stored().to_owned())];
    let (mut notes, mut fields, mut timecode, mut rate) = (Vec::new(), Vec::new(), None, None);
    if let Some(header) = &mut header {
        fields = dpx::names(header);
        timecode = dpx::time_code(header);
        rate = dpx::rate(header);
        details.extend(dpx::details(header));
        if format.transfer == Transfer::DENSITY {
            notes.push(
                "this DPX stores film density (logarithmic): its code values are used unchanged".into(),
            );
        }
        // fields common to all frames, for frames without a separate file
        dpx::forget_frame(header);
    }
    Ok(Header {
        kind,
        format,
        meta: Meta { fields, timecode, rate, dpx: header, ..Meta::default() },
        details,
        notes,
    })
}

pub(super) fn decode(kind: Kind, input: Input, want: &Format, frame: &mut Frame) -> Result<Meta, Fault> {
    let (picture, format, header) = decoded(kind, input)?;
    if format.subsampling != want.subsampling {
        return Err(Fault::Differs(Box::new(format)));
    }
    accept(&format, want, frame)?;
    picture.unpack(frame);
    Ok(Meta { dpx: header, ..Meta::default() })
}

pub(super) fn encode(kind: Kind, frame: &Frame, out: &mut Vec<u8>) -> Result<(), Fault> {
    let interleave = |y: usize, row: &mut [u8]| rows::pack_row(frame, y, row, false);
    still::encode(still(kind), frame, interleave, out)
        .map_err(|e| Fault::Bad(format!("the {} cannot be written: {e}", kind.label())))
}
