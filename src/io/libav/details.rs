//! The format of an input, and other properties for `probe`.

use super::color::Tag;
use super::demux::{Demuxer, label};
use super::dict::Tagged;
use super::graph::GraphInput;
use super::picture;
use super::pixfmt::Layout;
use super::raw::{Fields, parameters};
use super::versions::stream_side_data;
use crate::media::TIMECODE;
use ffmpeg_next::frame;
use ffmpeg_sys_next as sys;
use grainfield_filters::frame::{
    ColorRange, Family, FieldOrder, Format, Matrix, Primaries, Siting, Transfer,
};
use grainfield_filters::ratio::Ratio;
use std::ffi::CStr;

/// Frame rates.
pub(crate) struct Rates {
    /// The rate that the stream's timestamps are multiples of, as far as the container specifies it.
    pub(crate) nominal: Option<Ratio>,
    /// The alternative: number of frames divided by duration.
    pub(crate) average: Option<Ratio>,
    /// Whether the two differ.
    pub(crate) variable: bool,
}

/// A ratio above zero.
pub(crate) fn ratio(r: sys::AVRational) -> Option<Ratio> {
    Ratio::new(r.num.into(), r.den.into()).filter(|r| *r > Ratio::ZERO)
}

/// The intended rate. Matroska stores the duration of a frame in nanoseconds, which libav converts to a fraction of
/// small numbers: 60000/1001 frames per second become 19001/317.
fn intended(rate: Ratio) -> Ratio {
    common(rate, 2e-7).unwrap_or(rate)
}

/// The integer or broadcast rate that differs from a rate by less than `off` of its value.
fn common(rate: Ratio, off: f64) -> Option<Ratio> {
    let near = rate.to_f64();
    let whole = Ratio::whole((near + 0.5) as i64);
    let broadcast = Ratio::new((near * 1.001 + 0.5) as i64 * 1000, 1001).unwrap_or(whole);
    [whole, broadcast].into_iter().find(|r| (r.to_f64() - near).abs() < off * near)
}

/// The rates of the filtered stream.
pub(crate) fn rates(demuxer: &Demuxer) -> Rates {
    // A rate above any practical one is the container's time unit.
    let sane = |r: &Ratio| *r <= Ratio::whole(1000);
    let average = ratio(demuxer.stream().avg_frame_rate).filter(sane).map(intended);
    let nominal = ratio(demuxer.input.guess(demuxer.stream(), None).0).filter(sane).map(intended).or(average);
    match demuxer.input.container().as_str() {
        // The header has the time unit, a frame or a field; a rate that does not divide it is a guess from too few
        // timestamps.
        "avi" => {
            let clock = ratio(demuxer.stream().time_base).and_then(Ratio::recip).filter(sane);
            let divides = |rate: Ratio| clock?.checked_div(rate).filter(|n| n.den() == 1);
            let nominal = nominal.filter(|rate| divides(*rate).is_some()).or(clock).or(nominal);
            return Rates { nominal, average: None, variable: false };
        }
        // The header has the rate, with few digits; a guess from times in milliseconds is less accurate.
        "flv" => {
            if let Some(rate) = average.and_then(|rate| common(rate, 1e-4)) {
                return Rates { nominal: Some(rate), average: nominal, variable: false };
            }
        }
        _ => {}
    }
    let variable = match (nominal, average) {
        (Some(a), Some(b)) => {
            let (a, b) = (a.to_f64(), b.to_f64());
            (a - b).abs() > 0.01 * a
        }
        _ => false,
    };
    Rates { nominal, average, variable }
}

/// The parameters of the frames for filters.
pub(crate) fn feed(demuxer: &Demuxer) -> GraphInput {
    let base = demuxer.stream().time_base;
    let (rate, aspect) = demuxer.input.guess(demuxer.stream(), None);
    GraphInput {
        time_base: (base.num, base.den),
        rate: (rate.num, rate.den),
        aspect: (aspect.num, aspect.den.max(1)),
        threads: 0,
    }
}

/// The format of all frames, without the rate: the decoded frame's tags, completed from the container.
pub(crate) fn format(demuxer: &Demuxer, first: &frame::Video, layout: &Layout) -> Format {
    let f = first.av();
    let p = demuxer.parameters();
    let mut format = layout.format(f.width.max(0) as u32, f.height.max(0) as u32);
    // Some pixel formats have a range and a siting of their own.
    let ranges = [f.color_range, p.color_range].map(ColorRange::from_av);
    format.range = first_known([ranges[0], ranges[1], format.range], ColorRange::Unspecified);
    // ProRes uses 0 for unspecified, which elsewhere means RGB, whose planes all have the same size
    let nothing = p.codec_id == sys::AVCodecID::AV_CODEC_ID_PRORES || format.subsampling != (0, 0);
    let meant = |matrix| if nothing && matrix == Matrix::RGB { Matrix::UNSPECIFIED } else { matrix };
    let (own, container) = (Matrix::from_av(f.colorspace), Matrix::from_av(p.color_space));
    format.matrix = first_known([meant(own), meant(container)], Matrix::UNSPECIFIED);
    let primaries = [f.color_primaries, p.color_primaries].map(Primaries::from_av);
    format.primaries = first_known(primaries, Primaries::UNSPECIFIED);
    let transfers = [f.color_trc, p.color_trc].map(Transfer::from_av);
    format.transfer = first_known(transfers, Transfer::UNSPECIFIED);
    if format.family == Family::Rgb {
        format.matrix = Matrix::RGB;
    }
    if format.family == Family::Yuv && format.subsampling != (0, 0) {
        let sitings = [f.chroma_location, p.chroma_location].map(Siting::from_av);
        format.siting = first_known([sitings[0], sitings[1], format.siting], Siting::Unspecified);
    }
    format.fields = fields(demuxer);
    format.aspect = ratio(demuxer.input.guess(demuxer.stream(), Some(first)).1).unwrap_or(Ratio::ZERO);
    format
}

/// The first of some values that is specified, else the last.
fn first_known<T: Copy + PartialEq, const N: usize>(values: [T; N], unspecified: T) -> T {
    values.into_iter().find(|v| *v != unspecified).unwrap_or(values[N - 1])
}

/// The field order by the container's tag, or by libav's parser.
pub(crate) fn fields(demuxer: &Demuxer) -> FieldOrder {
    FieldOrder::from_av(demuxer.parameters().field_order)
}

/// Other properties as names and values: the container, its tags, chapters, every stream, and side data of the
/// pictures.
pub(crate) fn details(demuxer: &Demuxer, first: &frame::Video) -> Vec<(String, String)> {
    let mut list = Vec::new();
    let mut add = |name: String, value: String| list.push((name, value));
    let context = demuxer.input.context();
    // SAFETY: an open input has a format, whose names are static strings or null.
    let long = unsafe { text((*context.iformat).long_name) }.unwrap_or_default();
    add("container".into(), format!("{} ({long})", demuxer.input.container()));
    if context.duration > 0 {
        add("container duration".into(), format!("{:.3} s", context.duration as f64 / MICRO));
    }
    if context.start_time != sys::AV_NOPTS_VALUE {
        add("start".into(), format!("{:.3} s", context.start_time as f64 / MICRO));
    }
    if context.bit_rate > 0 {
        add("bit rate".into(), bits(context.bit_rate));
    }
    for (key, value) in context.tags() {
        add(format!("tag {key}"), value);
    }
    if let Some(code) = demuxer.input.timecodes().into_iter().next() {
        add(TIMECODE.into(), code);
    }
    for (i, s) in demuxer.input.streams().iter().enumerate() {
        let filtered = if i == demuxer.video() { " (filtered)" } else { "" };
        add(format!("stream {i}"), stream(s) + filtered);
    }
    for (name, value) in side_data(demuxer, first) {
        add(name, value);
    }
    for (i, c) in demuxer.input.chapters().enumerate() {
        let unit = f64::from(c.time_base.num) / f64::from(c.time_base.den.max(1));
        let title = c.tags().into_iter().find(|t| t.0 == "title").map_or(String::new(), |t| t.1);
        let (from, to) = (c.start as f64 * unit, c.end as f64 * unit);
        add(format!("chapter {i}"), format!("{from:.3} to {to:.3} s {title}").trim_end().to_owned());
    }
    list
}

const MICRO: f64 = sys::AV_TIME_BASE as f64;

fn bits(rate: i64) -> String {
    format!("{} kb/s", (rate + 500) / 1000)
}

/// One line about a stream.
fn stream(s: &sys::AVStream) -> String {
    let p = parameters(s);
    let mut parts = vec![label(s)];
    // SAFETY: returns a static string or null.
    let profile = unsafe { text(sys::avcodec_profile_name(p.codec_id, p.profile)) };
    parts.extend(profile.map(|name| format!("profile {name}")));
    match p.codec_type {
        sys::AVMediaType::AVMEDIA_TYPE_VIDEO => {
            parts.push(format!("{}x{}", p.width, p.height));
            parts.extend(ratio(s.avg_frame_rate).map(|r| format!("{:.3} frames/s", r.to_f64())));
        }
        sys::AVMediaType::AVMEDIA_TYPE_AUDIO => parts.push(format!("{} Hz", p.sample_rate)),
        _ => {}
    }
    if p.bit_rate > 0 {
        parts.push(bits(p.bit_rate));
    }
    if s.duration > 0 && s.time_base.den > 0 {
        let seconds = s.duration as f64 * f64::from(s.time_base.num) / f64::from(s.time_base.den);
        parts.push(format!("{seconds:.3} s"));
    }
    for (flag, name) in DISPOSITIONS {
        if s.disposition & flag != 0 {
            parts.push((*name).to_owned());
        }
    }
    parts.extend(s.tags().iter().map(|(key, value)| format!("{key}={value}")));
    parts.join(", ")
}

const DISPOSITIONS: &[(i32, &str)] = &[
    (sys::AV_DISPOSITION_DEFAULT, "default"),
    (sys::AV_DISPOSITION_FORCED, "forced"),
    (sys::AV_DISPOSITION_COMMENT, "commentary"),
    (sys::AV_DISPOSITION_HEARING_IMPAIRED, "for the hearing impaired"),
    (sys::AV_DISPOSITION_VISUAL_IMPAIRED, "for the visually impaired"),
    (sys::AV_DISPOSITION_ATTACHED_PIC, "attached picture"),
    (sys::AV_DISPOSITION_STILL_IMAGE, "still image"),
];

/// FFmpeg's filters that turn pictures upright, as the display matrix says; `None` for what is upright, and for angles
/// between.
pub(crate) fn turn(demuxer: &Demuxer) -> Option<&'static str> {
    let matrix = stream_side_data(demuxer.stream(), sys::AVPacketSideDataType::AV_PKT_DATA_DISPLAYMATRIX)?;
    let word = |i: usize| Some(i32::from_ne_bytes(matrix.get(4 * i..4 * i + 4)?.try_into().ok()?).signum());
    // Where the right and the lower neighbour of a sample are shown: columns and rows from it.
    Some(match (word(0)?, word(1)?, word(3)?, word(4)?) {
        (-1, 0, 0, 1) => "hflip",
        (-1, 0, 0, -1) => "hflip,vflip",
        (1, 0, 0, -1) => "vflip",
        (0, 1, 1, 0) => "transpose=cclock_flip",
        (0, 1, -1, 0) => "transpose=clock",
        (0, -1, -1, 0) => "transpose=clock_flip",
        (0, -1, 1, 0) => "transpose=cclock",
        _ => return None,
    })
}

/// FFmpeg's filters after the decoder: those that turn pictures upright, then the user's.
pub(crate) fn graph(demuxer: &Demuxer, lavfi: Option<&str>) -> Option<String> {
    match (turn(demuxer), lavfi) {
        (Some(turn), Some(text)) if text.contains("[in]") => {
            Some(format!("[in]{turn}[upright];{}", text.replace("[in]", "[upright]")))
        }
        (Some(turn), Some(text)) => Some(format!("{turn},{text}")),
        (turn, text) => turn.or(text).map(str::to_owned),
    }
}

/// Side data of the pictures: rotation, HDR10 and others, from the container and the first picture.
fn side_data(demuxer: &Demuxer, first: &frame::Video) -> Vec<(String, String)> {
    use sys::AVFrameSideDataType as Frame;
    use sys::AVPacketSideDataType as Stream;
    let mut list: Vec<(String, String)> = Vec::new();
    for (of_stream, of_frame) in [
        (Stream::AV_PKT_DATA_DISPLAYMATRIX, Frame::AV_FRAME_DATA_DISPLAYMATRIX),
        (Stream::AV_PKT_DATA_MASTERING_DISPLAY_METADATA, Frame::AV_FRAME_DATA_MASTERING_DISPLAY_METADATA),
        (Stream::AV_PKT_DATA_CONTENT_LIGHT_LEVEL, Frame::AV_FRAME_DATA_CONTENT_LIGHT_LEVEL),
    ] {
        let bytes = stream_side_data(demuxer.stream(), of_stream);
        list.extend(bytes.map(|b| (name_of(of_frame), value_of(of_frame, b))));
    }
    let dovi = stream_side_data(demuxer.stream(), Stream::AV_PKT_DATA_DOVI_CONF);
    // dv_version_major and minor, then dv_profile and dv_level, a byte each
    if let Some([_, _, profile, level, ..]) = dovi {
        list.push(("Dolby Vision".into(), format!("profile {profile}, level {level}")));
    }
    for (kind, bytes) in picture::side_data(first) {
        let name = name_of(kind);
        if list.iter().all(|l| l.0 != name) {
            list.push((name, value_of(kind, bytes)));
        }
    }
    if turn(demuxer).is_some() {
        list.iter_mut().filter(|l| l.0 == ROTATION).for_each(|l| l.0 = "turned upright".into());
    }
    list
}

const ROTATION: &str = "rotation";

fn name_of(kind: sys::AVFrameSideDataType) -> String {
    if kind == sys::AVFrameSideDataType::AV_FRAME_DATA_DISPLAYMATRIX {
        return ROTATION.into();
    }
    // SAFETY: returns a static string or null.
    unsafe { text(sys::av_frame_side_data_name(kind)) }.unwrap_or_else(|| "side data".into())
}

/// # Safety
/// `text` must be null or zero-terminated.
unsafe fn text(text: *const std::ffi::c_char) -> Option<String> {
    // SAFETY: guaranteed by the caller.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

fn value_of(kind: sys::AVFrameSideDataType, bytes: &[u8]) -> String {
    let words: Vec<i32> =
        bytes.chunks_exact(4).map(|b| i32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect();
    match (kind, words.as_slice()) {
        (sys::AVFrameSideDataType::AV_FRAME_DATA_DISPLAYMATRIX, matrix @ [_, _, _, _, _, _, _, _, _, ..]) => {
            // SAFETY: nine words, as libav requires.
            let turn = unsafe { sys::av_display_rotation_get(matrix.as_ptr()) };
            // libav's angle is counter-clockwise, that of players and phones clockwise.
            let turn = if turn.is_nan() { 0.0 } else { -turn.round() };
            format!("{:.0} degrees clockwise", if turn == 0.0 { 0.0 } else { turn.rem_euclid(360.0) })
        }
        (sys::AVFrameSideDataType::AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, m) if m.len() >= 22 => {
            mastering(m)
        }
        (sys::AVFrameSideDataType::AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, [most, average, ..]) => {
            format!("MaxCLL {most} cd/m2, MaxFALL {average} cd/m2")
        }
        _ => format!("{} bytes", bytes.len()),
    }
}

/// libav's `AVMasteringDisplayMetadata`, as words: ratios of red, green and blue (x, y), white, darkest, brightest;
/// then flags for primaries and luminance.
fn mastering(m: &[i32]) -> String {
    let number = |i: usize| f64::from(m[2 * i]) / f64::from(m[2 * i + 1].max(1));
    let mut parts = Vec::new();
    if m[20] != 0 {
        let pair = |i: usize| format!("{:.4},{:.4}", number(i), number(i + 1));
        parts.push(format!("R {} G {} B {} white {}", pair(0), pair(2), pair(4), pair(6)));
    }
    if m[21] != 0 {
        parts.push(format!("{:.4} to {:.0} cd/m2", number(8), number(9)));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_a_container_rounds() {
        let ratio = |n, d| Ratio::new(n, d).unwrap();
        assert_eq!(intended(ratio(19001, 317)), ratio(60000, 1001));
        assert_eq!(intended(ratio(1_000_000_000, 33_366_667)), ratio(30000, 1001));
        assert_eq!(intended(ratio(1_000_000_000, 33_333_333)), ratio(30, 1));
        for kept in [(2997, 125), (2997, 100), (24000, 1001), (25, 2), (25, 1), (1, 3), (1001, 30)] {
            assert_eq!(intended(ratio(kept.0, kept.1)), ratio(kept.0, kept.1));
        }
    }
}
