//! y4m (`YUV4MPEG2`) to a file or a pipe.
//!
//! [`accepts`] defines the supported formats. The header of a y4m input is repeated byte for byte if it still describes
//! the frames, with the parameters of every FRAME line; otherwise a new header is written, of fewer than 80 bytes,
//! since some readers have that limit.

use crate::disk::{OutputFile, PartialOutput};
use crate::format::images::lost_color;
use crate::format::y4m::header::{FRAME, compose, parse};
use crate::format::y4m::{Y4mFrame, Y4mHeader};
use crate::media::FrameStamp;
use crate::media::sink::{not_stored, rescue};
use crate::media::{Plan, Rescue, Sink, SinkError};
use grainfield_filters::frame::{
    Alpha, ColorRange, Depth, Family, FieldOrder, Format, Frame, Matrix, PlaneRef, Siting,
};
use std::ffi::OsStr;
use std::io::IoSlice;
use std::sync::Arc;

/// The nearest format that y4m can hold, in names that FFmpeg reads.
///
/// - RGB becomes limited-range YUV 4:4:4; its matrix, where not given, is [`Matrix::assumed`].
/// - Float becomes 16 bits.
/// - 4:4:0 becomes 4:4:4, 4:1:0 becomes 4:2:0, 4:1:1 of more than 8 bits becomes 4:2:2.
/// - Alpha of 8 bits is kept as `444alpha`, with YUV of any subsampling; other alpha, and that of grey, is dropped.
///
/// Tags that y4m does not support (matrix, primaries, transfer, siting above 8 bits) are kept in the result; they are
/// lost only in the file.
pub fn accepts(format: &Format) -> Format {
    let mut out = *format;
    if out.depth == Depth::Float {
        out.depth = Depth::Bits(16);
        // unspecified range means full for float, but would mean limited for integers
        if out.range == ColorRange::Unspecified && out.family != Family::Rgb {
            out.range = ColorRange::Full;
        }
    }
    if out.family == Family::Rgb {
        out.family = Family::Yuv;
        out.subsampling = (0, 0);
        out.range = ColorRange::Limited;
        if out.matrix == Matrix::RGB || out.matrix == Matrix::UNSPECIFIED {
            out.matrix = Matrix::assumed(out.height);
        }
    }
    if out.family == Family::Yuv && out.depth == Depth::Bits(8) && out.has_alpha() {
        out.subsampling = (0, 0);
        out.alpha = Alpha::Straight;
    } else {
        out.alpha = Alpha::None;
    }
    out.subsampling = match (out.subsampling, out.depth) {
        ((2, 0), Depth::Bits(8)) => (2, 0),
        ((2, 0), _) => (1, 0),
        ((0, 1), _) => (0, 0),
        ((2, _), _) | ((1, 2), _) => (1, 1),
        ((0, 2), _) => (0, 0),
        (other, _) => other,
    };
    if out.subsampling == (0, 0) {
        out.siting = Siting::Unspecified;
    }
    out
}

/// Opens a y4m file or pipe (`-` is standard output) and writes its header. `plan.format` must come from [`accepts`].
///
/// # Errors
/// See [`SinkError`].
pub fn create(output: &OsStr, plan: &Plan) -> Result<Box<dyn Sink>, SinkError> {
    let carried = plan.carried.as_ref().and_then(|c| c.downcast_ref::<Y4mHeader>());
    // a header that contradicts the plan is not repeated
    let repeated = carried.filter(|header| plan.untouched_format && same_meaning(&header.line, &plan.format));
    let header = match repeated {
        Some(header) => [&header.line, &b"\n"[..]].concat(),
        None => compose(&plan.format, carried.is_some()).ok_or_else(|| {
            SinkError::bad(output.display().to_string(), format!("y4m cannot hold {}", plan.format.name()))
        })?,
    };
    let parameters = repeated.is_some() || (plan.format.fields == FieldOrder::Mixed && carried.is_some());
    let mut out = plan.open(output)?;
    out.put(&header)?;
    let lost = plan.lost_in_video.clone();
    let siting = (!says_siting(&header, &plan.format)).then(|| "the chroma siting".into());
    let lost = lost.into_iter().chain(lost_color(&plan.format)).chain(siting).collect();
    Ok(Box::new(Y4m { out, format: plan.format, parameters, lost }))
}

/// Whether a header specifies the siting of 4:2:0 chroma, or readers assume it.
fn says_siting(header: &[u8], format: &Format) -> bool {
    let place = |siting| if siting == Siting::Unspecified { Siting::Left } else { siting };
    let line = header.strip_suffix(b"\n").unwrap_or(header);
    format.subsampling != (1, 1)
        || format.siting == Siting::Unspecified
        || parse(line, Some(format.rate)).is_ok_and(|p| place(p.format.siting) == place(format.siting))
}

fn same_meaning(line: &[u8], format: &Format) -> bool {
    // an assumed rate may be the user's
    parse(line, Some(format.rate)).is_ok_and(|p| {
        let f = p.format;
        let tags = |f: &Format| (f.range, f.fields, f.siting, f.aspect, f.rate);
        let shape = |f: &Format| (f.width, f.height, f.family, f.depth, f.subsampling, f.has_alpha());
        tags(&f) == tags(format) && shape(&f) == shape(format)
    })
}

struct Y4m {
    out: OutputFile,
    format: Format,
    /// Whether the parameters of FRAME lines are repeated.
    parameters: bool,
    /// Properties of the source's pictures that y4m cannot hold.
    lost: Vec<String>,
}

impl Sink for Y4m {
    fn rescue(&self) -> Result<Arc<dyn Rescue>, SinkError> {
        rescue(&self.out)
    }

    fn keeps_times(&self) -> bool {
        false
    }

    fn warnings(&self) -> Vec<String> {
        not_stored("y4m", &self.lost)
    }

    fn write(&mut self, stamp: &FrameStamp, frame: &Frame, _: &[u8]) -> Result<(), SinkError> {
        let carried = stamp.carried.as_ref().filter(|_| self.parameters);
        let parameters =
            carried.and_then(|c| c.downcast_ref::<Y4mFrame>()).map_or(&[][..], |f| &f.parameters);
        let line = [FRAME, parameters, b"\n"].concat();
        debug_assert_eq!(
            frame.format().frame_bytes(),
            self.format.frame_bytes(),
            "frames are what was planned"
        );
        if cfg!(target_endian = "big") && self.format.depth.bytes() == 2 {
            self.out.put(&line)?;
            let mut failed = None;
            let mut swapped = Vec::new();
            frame.for_each_row(|row| {
                swapped.clear();
                swapped.extend(row.chunks_exact(2).flat_map(|s| [s[1], s[0]]));
                failed = failed.take().or(self.out.put(&swapped).err());
            });
            failed.map_or(Ok(()), Err)?;
        } else {
            let planes: [PlaneRef<'_>; 4] = [0, 1, 2, 3].map(|p| frame.plane(p));
            let rows = planes.iter().flat_map(|plane| plane.rows().map(|y| IoSlice::new(plane.row_bytes(y))));
            let mut pieces: Vec<_> = std::iter::once(IoSlice::new(&line)).chain(rows).collect();
            self.out.put_all(&mut pieces)?;
        }
        Ok(self.out.mark()?)
    }

    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        Ok(self.out.finish()?)
    }

    fn abandon(self: Box<Self>) -> Result<PartialOutput, SinkError> {
        Ok(self.out.abandon()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_filters::filter::convert::assumed_matrix;

    fn text(format: &Format) -> String {
        String::from_utf8(compose(format, true).unwrap()).unwrap()
    }

    #[test]
    fn everything_becomes_something_y4m_holds() {
        for (name, becomes) in [
            ("gray", "gray"),
            ("gray11", "gray11"),
            ("grayf32", "gray16"),
            ("ya8", "gray"),
            ("ya16", "gray16"),
            ("yuv420p", "yuv420p"),
            ("yuv411p", "yuv411p"),
            ("yuv411p10", "yuv422p10"),
            ("yuv410p", "yuv420p"),
            ("yuv440p12", "yuv444p12"),
            ("yuv422p10", "yuv422p10"),
            ("yuva420p", "yuva444p"),
            ("yuva444p", "yuva444p"),
            ("yuva422p10", "yuv422p10"),
            ("gbrp", "yuv444p"),
            ("gbrap", "yuva444p"),
            ("gbrap12", "yuv444p12"),
            ("gbrpf32", "yuv444p16"),
        ] {
            let format = accepts(&Format::from_name(name, 64, 36).unwrap());
            assert_eq!(format.name(), becomes, "{name}");
            assert_eq!(accepts(&format), format, "{name}");
            let again = parse(text(&format).trim_end().as_bytes(), None).unwrap().format;
            assert_eq!((again.name(), again.range), (format.name(), format.range));
        }
        // The matrix of RGB is the one that readers assume without a tag.
        for height in [576, 600, 720] {
            let format = accepts(&Format::from_name("gbrp", 1024, height).unwrap());
            let read = parse(text(&format).trim_end().as_bytes(), None).unwrap().format;
            assert_eq!(
                (assumed_matrix(&read).0, read.range),
                (format.matrix, ColorRange::Limited),
                "{height}"
            );
        }
    }
}
