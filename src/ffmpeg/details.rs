//! What an input says of itself: its format, and everything else for `probe`.

use super::color::Tag;
use super::demux::{Demuxer, text};
use super::own::Picture;
use super::pixfmt::Layout;
use ffmpeg_sys_next as sys;
use grainfield_filters::frame::{
    ColorRange, Family, FieldOrder, Format, Matrix, Primaries, Siting, Transfer,
};
use grainfield_filters::ratio::Ratio;
use std::ffi::CStr;

/// Frames a second.
pub(crate) struct Rates {
    /// What the stream's timestamps are multiples of, as far as a container tells.
    pub(crate) nominal: Option<Ratio>,
    /// Frames by duration.
    pub(crate) average: Option<Ratio>,
    /// The two differ.
    pub(crate) variable: bool,
}

fn ratio(r: sys::AVRational) -> Option<Ratio> {
    Ratio::new(r.num.into(), r.den.into()).filter(|r| *r > Ratio::ZERO)
}

/// The rates of the filtered stream.
pub(crate) fn rates(demuxer: &Demuxer) -> Rates {
    let i = demuxer.video();
    // SAFETY: an open context and its stream; without a frame the container alone is asked.
    let guess = unsafe {
        sys::av_guess_frame_rate(demuxer.context_ptr(), demuxer.stream_ptr(i), std::ptr::null_mut())
    };
    // A rate above any real one is a container's unit of time.
    let sane = |r: &Ratio| *r <= Ratio::whole(1000);
    let average = ratio(demuxer.stream(i).avg_frame_rate).filter(sane);
    let nominal = ratio(guess).filter(sane).or(average);
    let variable = match (nominal, average) {
        (Some(a), Some(b)) => {
            let (a, b) = (a.to_f64(), b.to_f64());
            (a - b).abs() > 0.01 * a
        }
        _ => false,
    };
    Rates { nominal, average, variable }
}

/// What every frame is, but for the rate: the decoded frame's tags, and the container's where it says nothing.
pub(crate) fn format(demuxer: &Demuxer, first: &Picture, layout: &Layout) -> Format {
    let f = first.get();
    let p = demuxer.parameters(demuxer.video());
    let mut format = layout.format(f.width.max(0) as u32, f.height.max(0) as u32);
    let range = match ColorRange::from_av(f.color_range) {
        ColorRange::Unspecified => ColorRange::from_av(p.color_range),
        said => said,
    };
    if range != ColorRange::Unspecified {
        format.range = range;
    }
    let (own, container) = (Matrix::from_av(f.colorspace), Matrix::from_av(p.color_space));
    format.matrix = if own == Matrix::UNSPECIFIED { container } else { own };
    let (own, container) = (Primaries::from_av(f.color_primaries), Primaries::from_av(p.color_primaries));
    format.primaries = if own == Primaries::UNSPECIFIED { container } else { own };
    let (own, container) = (Transfer::from_av(f.color_trc), Transfer::from_av(p.color_trc));
    format.transfer = if own == Transfer::UNSPECIFIED { container } else { own };
    if format.family == Family::Rgb {
        format.matrix = Matrix::RGB;
    }
    if format.family == Family::Yuv && format.subsampling != (0, 0) {
        let siting = match Siting::from_av(f.chroma_location) {
            Siting::Unspecified => Siting::from_av(p.chroma_location),
            said => said,
        };
        if siting != Siting::Unspecified {
            format.siting = siting;
        }
    }
    format.fields = match FieldOrder::from_av(p.field_order) {
        FieldOrder::Unspecified | FieldOrder::Progressive if first.interlaced() => {
            if first.top_first() {
                FieldOrder::TopFirst
            } else {
                FieldOrder::BottomFirst
            }
        }
        said => said,
    };
    // SAFETY: an open context, its stream, and a valid frame.
    let aspect = unsafe {
        sys::av_guess_sample_aspect_ratio(
            demuxer.context_ptr(),
            demuxer.stream_ptr(demuxer.video()),
            first.as_ptr(),
        )
    };
    format.aspect = ratio(aspect).unwrap_or(Ratio::ZERO);
    format
}

/// Everything else, as name and value.
pub(crate) fn details(demuxer: &Demuxer, _first: &Picture) -> Vec<(String, String)> {
    let mut list = Vec::new();
    let mut add = |name: &str, value: String| list.push((name.to_owned(), value));
    // SAFETY: an open input has a format, whose name is a static string.
    let long = unsafe {
        let f = demuxer.context().iformat;
        if (*f).long_name.is_null() { String::new() } else { text((*f).long_name) }
    };
    add("container", format!("{} ({long})", demuxer.container()));
    let _ = CStr::from_bytes_with_nul(b"\0");
    list
}
