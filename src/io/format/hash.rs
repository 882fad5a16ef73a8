//! `hash:`: one line per frame with its number and the MD5 of its samples.
//!
//! The hash covers the visible samples, planes in order `Y U V A` or `G B R A`, rows without padding, little endian.
//! Grey with alpha is interleaved, as in FFmpeg's packed `ya8` and `ya16`. The result equals that of FFmpeg's
//! `framemd5` for the same pixel format.

use super::{Files, FormatDescriptor, OutputDescriptor, only_for_videos};
use crate::disk::name_of;
use crate::journal::shard::Kind;
use crate::media::sink::EncodedFile;
use crate::media::{Encode, FrameStamp, Plan, Sink, SinkError};
use grainfield_filters::frame::Frame;
use std::ffi::OsStr;
use std::io::Write;
use std::sync::Arc;

/// The output format.
pub const FORMAT: FormatDescriptor = FormatDescriptor {
    name: "hash",
    input: None,
    output: Some(OutputDescriptor {
        matches: |name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()),
        accepts: |_, format, _| Ok(*format),
        create: |name, plan| create(file_of(name), plan),
        files: |name| Files::one(file_of(name), Kind::Hash),
        prefix: PREFIX,
        drops_metadata: false,
        allows: only_for_videos,
    }),
};

const PREFIX: &str = "hash:";

/// The text after the prefix.
fn file_of(name: &OsStr) -> &OsStr {
    name_of(name.as_encoded_bytes().get(PREFIX.len()..).unwrap_or_default())
}

/// Opens a hash sink. `file` is the text after `hash:`; an empty text or `-` is standard output.
///
/// # Errors
/// See [`SinkError`].
pub fn create(file: &OsStr, plan: &Plan) -> Result<Box<dyn Sink>, SinkError> {
    let file = if file.is_empty() { OsStr::new("-") } else { file };
    let (out, encoder) = (plan.open(file)?, Arc::new(Lines));
    Ok(Box::new(EncodedFile { out, encoder, keeps_times: true, warnings: Vec::new(), notes: Vec::new() }))
}

/// Formats the lines.
struct Lines;

impl Encode for Lines {
    fn encode(&self, stamp: &FrameStamp, frame: &Frame, out: &mut Vec<u8>) -> Result<(), SinkError> {
        // writing to memory does not fail
        let _ = writeln!(out, "{} {:032x}", stamp.number, frame.digest());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::Carried;
    use grainfield_filters::frame::Format;
    use grainfield_filters::ratio::Ratio;

    fn line(format: &str, width: u32, fill: impl Fn(&mut Frame)) -> String {
        let mut frame = Frame::new(Format::from_name(format, width, 1).unwrap());
        fill(&mut frame);
        let carried: Carried = None;
        let stamp = FrameStamp { number: -3, time: Ratio::ZERO, duration: Ratio::ONE, carried };
        let mut out = Vec::new();
        Lines.encode(&stamp, &frame, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn equals_md5_of_the_bytes() {
        // printf 'abc' | md5sum, and so on
        let abc = line("gray", 3, |f| f.row_mut::<u8>(0, 0).copy_from_slice(b"abc"));
        assert_eq!(abc, "-3 900150983cd24fb0d6963f7d28e17f72\n");
        let packed = line("ya8", 2, |f| {
            f.row_mut::<u8>(0, 0).copy_from_slice(b"ac");
            f.row_mut::<u8>(1, 0).copy_from_slice(b"bd");
        });
        assert_eq!(packed, "-3 e2fc714c4727ee9395f324cd2e7f331f\n"); // abcd
        let wide = line("gray16", 2, |f| f.row_mut::<u16>(0, 0).copy_from_slice(&[0x6261, 0x6463]));
        assert_eq!(wide, "-3 e2fc714c4727ee9395f324cd2e7f331f\n");
    }
}
