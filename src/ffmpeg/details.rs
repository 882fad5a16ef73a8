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

/// Everything else, as name and value: the container, its tags, chapters, every stream, and what goes with the
/// pictures.
pub(crate) fn details(demuxer: &Demuxer, first: &Picture) -> Vec<(String, String)> {
    let mut list = Vec::new();
    let mut add = |name: String, value: String| list.push((name, value));
    let context = demuxer.context();
    // SAFETY: an open input has a format, whose names are static strings.
    let long = unsafe {
        let f = context.iformat;
        if (*f).long_name.is_null() { String::new() } else { text((*f).long_name) }
    };
    add("container".into(), format!("{} ({long})", demuxer.container()));
    if context.duration > 0 {
        add("container duration".into(), format!("{:.3} s", context.duration as f64 / MICRO));
    }
    if context.start_time != sys::AV_NOPTS_VALUE {
        add("start".into(), format!("{:.3} s", context.start_time as f64 / MICRO));
    }
    if context.bit_rate > 0 {
        add("bit rate".into(), bits(context.bit_rate));
    }
    for (key, value) in tags(context.metadata) {
        add(format!("tag {key}"), value);
    }
    for i in 0..demuxer.count() {
        let filtered = if i == demuxer.video() { " (filtered)" } else { "" };
        add(format!("stream {i}"), stream(demuxer, i) + filtered);
    }
    for (name, value) in side_data(first) {
        add(name, value);
    }
    for i in 0..context.nb_chapters as usize {
        // SAFETY: the array has `nb_chapters` valid entries.
        let c = unsafe { &**context.chapters.add(i) };
        let unit = f64::from(c.time_base.num) / f64::from(c.time_base.den.max(1));
        let title = tags(c.metadata).into_iter().find(|t| t.0 == "title").map_or(String::new(), |t| t.1);
        let (from, to) = (c.start as f64 * unit, c.end as f64 * unit);
        add(format!("chapter {i}"), format!("{from:.3} to {to:.3} s {title}").trim_end().to_owned());
    }
    list
}

const MICRO: f64 = sys::AV_TIME_BASE as f64;

fn bits(rate: i64) -> String {
    format!("{} kb/s", (rate + 500) / 1000)
}

/// Keys and values of a dictionary.
fn tags(dictionary: *mut sys::AVDictionary) -> Vec<(String, String)> {
    let mut list = Vec::new();
    let mut entry: *const sys::AVDictionaryEntry = std::ptr::null();
    // SAFETY: the dictionary may be null; entries live as long as it.
    unsafe {
        loop {
            entry = sys::av_dict_get(dictionary, c"".as_ptr(), entry, sys::AV_DICT_IGNORE_SUFFIX);
            match entry.as_ref() {
                Some(e) => list.push((text(e.key), text(e.value))),
                None => return list,
            }
        }
    }
}

/// One stream in a line.
fn stream(demuxer: &Demuxer, i: usize) -> String {
    let (s, p) = (demuxer.stream(i), demuxer.parameters(i));
    let mut parts = vec![demuxer.label(i)];
    // SAFETY: returns a static string or null.
    unsafe {
        let profile = sys::avcodec_profile_name(p.codec_id, p.profile);
        if !profile.is_null() {
            parts.push(format!("profile {}", text(profile)));
        }
    }
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
    for (key, value) in tags(s.metadata) {
        parts.push(format!("{key}={value}"));
    }
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

/// What goes with the first picture: rotation, HDR10 and the rest.
fn side_data(first: &Picture) -> Vec<(String, String)> {
    let mut list = Vec::new();
    let f = first.get();
    for i in 0..usize::try_from(f.nb_side_data).unwrap_or(0) {
        // SAFETY: the array has so many valid entries, whose data is as long as said; structures are read only when
        // all of them is there, and without regard to alignment.
        unsafe {
            let d = &**f.side_data.add(i);
            let name = sys::av_frame_side_data_name(d.type_);
            let name = if name.is_null() { "side data".into() } else { text(name) };
            let size = d.size;
            let value = match d.type_ {
                sys::AVFrameSideDataType::AV_FRAME_DATA_DISPLAYMATRIX if size >= 36 => {
                    let matrix = d.data.cast::<[i32; 9]>().read_unaligned();
                    // libav counts counter-clockwise; players and phones the other way.
                    let turn = -sys::av_display_rotation_get(matrix.as_ptr());
                    list.push(("rotation".into(), format!("{:.0} degrees clockwise", turn + 0.0)));
                    continue;
                }
                sys::AVFrameSideDataType::AV_FRAME_DATA_MASTERING_DISPLAY_METADATA
                    if size >= size_of::<Mastering>() =>
                {
                    mastering(&d.data.cast::<Mastering>().read_unaligned())
                }
                sys::AVFrameSideDataType::AV_FRAME_DATA_CONTENT_LIGHT_LEVEL
                    if size >= size_of::<[u32; 2]>() =>
                {
                    let [most, average] = d.data.cast::<[u32; 2]>().read_unaligned();
                    format!("MaxCLL {most} cd/m2, MaxFALL {average} cd/m2")
                }
                _ => format!("{size} bytes"),
            };
            list.push((name, value));
        }
    }
    list
}

/// libav's `AVMasteringDisplayMetadata`: ratios of red, green and blue (x, y), white, darkest, brightest; then whether
/// primaries and luminance are there.
#[repr(C)]
struct Mastering {
    primaries: [[[i32; 2]; 2]; 3],
    white: [[i32; 2]; 2],
    min: [i32; 2],
    max: [i32; 2],
    has_primaries: i32,
    has_luminance: i32,
}

fn mastering(m: &Mastering) -> String {
    let number = |[num, den]: [i32; 2]| f64::from(num) / f64::from(den.max(1));
    let mut parts = Vec::new();
    if m.has_primaries != 0 {
        let pair = |p: [[i32; 2]; 2]| format!("{:.4},{:.4}", number(p[0]), number(p[1]));
        let [r, g, b] = m.primaries;
        parts.push(format!("R {} G {} B {} white {}", pair(r), pair(g), pair(b), pair(m.white)));
    }
    if m.has_luminance != 0 {
        parts.push(format!("{:.4} to {:.0} cd/m2", number(m.min), number(m.max)));
    }
    parts.join(", ")
}
