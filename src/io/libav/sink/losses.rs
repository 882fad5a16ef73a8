//! Warnings about properties that a container or an encoder loses. libav drops them without a message; these rules were
//! found by reading back written files.

use super::choice::{
    Choice, PROGRESSIVE_ONLY, SIGNAL_COLOR, SIGNAL_COLOR_EXCEPT_RANGE, SIGNAL_FIELDS, assumed_siting,
    keeps_full_range, private_option,
};
use crate::libav::capabilities::Chapters;
use crate::libav::container::{Container, ContainerFamily, among};
use crate::libav::copy::tags;
use crate::libav::hdr::Hdr;
use crate::libav::input::Input;
use crate::libav::versions::stream_side_data;
use ffmpeg_sys_next as sys;
use grainfield_filters::frame::{
    ColorRange, Family, FieldOrder, Format, Matrix, Primaries, Siting, Transfer,
};
use grainfield_filters::ratio::Ratio;
use std::ffi::CStr;
use sys::{AVFrameSideDataType, AVPacketSideDataType};

/// The input's tags and chapters that the container loses.
pub(super) fn lost_metadata(
    input: &Input,
    to: Container,
    chapters: bool,
    to_source_end: bool,
) -> Vec<String> {
    let mut losses = Vec::new();
    match to.chapters() {
        _ if input.context().nb_chapters == 0 || !chapters => {}
        Chapters::Never => losses.push("chapters are lost".into()),
        Chapters::First if !to_source_end => {
            losses
                .push("chapters are lost: this container stores them before the last frame is known".into());
        }
        _ => {}
    }
    let names: Vec<String> =
        tags(input).into_iter().map(|tag| tag.0).filter(|name| !to.keeps_tag(name)).collect();
    if !names.is_empty() {
        losses.push(format!("tags are lost ({})", names.join(", ")));
    }
    losses
}

/// Properties of the picture that container and encoder lose.
pub(super) fn lost_picture(
    from: Option<&sys::AVStream>,
    turned: bool,
    in_frames: &[AVFrameSideDataType],
    to: Container,
    choice: &Choice,
    hdr: &Hdr,
) -> Vec<String> {
    use AVPacketSideDataType::*;
    let has = |kind| from.is_some_and(|from| stream_side_data(from, kind).is_some());
    let mut losses = Vec::new();
    let turns = turned
        || matches!(to.family(), ContainerFamily::Mp4 | ContainerFamily::Mov)
        || (cfg!(ffmpeg_6_1) && to.is_matroska());
    if has(AV_PKT_DATA_DISPLAYMATRIX) && !turns {
        losses.push("rotation is lost (.mp4 and .mov keep it)".into());
    }
    // the muxer for mov does not write them
    let shaped = to.is_matroska() || to.name() == "mp4";
    for (kind, what) in [
        (AV_PKT_DATA_STEREO3D, "the arrangement of the two views (stereo 3D)"),
        (AV_PKT_DATA_SPHERICAL, "the spherical projection"),
    ] {
        if has(kind) && !shaped {
            losses.push(format!("{what} is lost (.mp4 and .mkv keep it)"));
        }
    }
    if has(AV_PKT_DATA_ICC_PROFILE) {
        losses.push("the colour profile is lost".into());
    }
    let lost = IN_FRAMES
        .iter()
        .filter(|data| in_frames.contains(&data.0) && private_option(choice.codec, data.2).is_none());
    losses.extend(lost.map(|data| format!("{} lost: {} does not write them", data.1, choice.name())));
    if has(AV_PKT_DATA_DOVI_CONF) || in_frames.contains(&AVFrameSideDataType::AV_FRAME_DATA_DOVI_RPU_BUFFER) {
        losses.push("Dolby Vision data is lost".into());
    }
    let complete = hdr.display.is_some() == hdr.display_text().is_some();
    let coded = complete && ["libx264", "libx264rgb", "libx265"].contains(&choice.name());
    let boxed = match to.family() {
        ContainerFamily::Mkv | ContainerFamily::Webm => true,
        ContainerFamily::Mp4 | ContainerFamily::Mov => complete && !to.name().starts_with("3g"),
        ContainerFamily::Other => false,
    };
    if hdr.presence() != (false, false) && !boxed && !coded {
        losses.push("HDR10 data is lost (.mp4, .mov, .mkv and .webm keep it)".into());
    }
    losses.extend(lost_fields(to, choice));
    losses.extend(lost_aspect(to, choice));
    losses.extend(lost_color(to, choice));
    losses
}

/// Side data of frames, and the option of those encoders that write it.
const IN_FRAMES: [(AVFrameSideDataType, &str, &CStr); 4] = [
    (AVFrameSideDataType::AV_FRAME_DATA_A53_CC, "closed captions are", c"a53cc"),
    (AVFrameSideDataType::AV_FRAME_DATA_S12M_TIMECODE, "time codes of frames are", c"s12m_tc"),
    (AVFrameSideDataType::AV_FRAME_DATA_AFD, "active format descriptions are", c"afd"),
    (AVFrameSideDataType::AV_FRAME_DATA_DYNAMIC_HDR_PLUS, "HDR10+ data are", c"hdr10plus"),
];

/// Whether the order of fields is lost.
fn lost_fields(to: Container, choice: &Choice) -> Option<String> {
    let name = choice.name();
    let fields = choice.format.fields;
    if !matches!(fields, FieldOrder::TopFirst | FieldOrder::BottomFirst | FieldOrder::Mixed) {
        return None;
    }
    if among(PROGRESSIVE_ONLY, name) {
        return Some(format!("the field order is lost: {name} codes whole frames"));
    }
    // QuickTime and Matroska have their own field for it, which readers of MPEG-4 override
    let boxed = to.is_matroska()
        || (matches!(to.family(), ContainerFamily::Mp4 | ContainerFamily::Mov) && name != "libxvid");
    let kept = boxed || among(SIGNAL_FIELDS, name);
    (!kept).then(|| format!("the field order is lost: {name} does not store it in {}", to.name()))
}

/// A warning about the sample aspect ratio.
fn lost_aspect(to: Container, choice: &Choice) -> Option<String> {
    let format = &choice.format;
    let aspect = format.aspect;
    if aspect <= Ratio::ZERO {
        return None;
    }
    let exact = |most: i64| aspect.num() <= most && aspect.den() <= most;
    let (width, height) = (i64::from(format.width), i64::from(format.height));
    let display = Ratio::new(aspect.num().checked_mul(width)?, aspect.den().checked_mul(height)?)?;
    let displayed = |most: i64| display.num() <= most && display.den() <= most;
    let stream = match choice.name() {
        "libx264" | "libx264rgb" | "libx265" | "mjpeg" => exact(65535),
        "mpeg4" | "libxvid" => exact(255),
        "libtheora" => exact((1 << 24) - 1),
        "ffv1" => exact(i32::MAX.into()),
        // square samples, or the aspect ratio of the picture
        "mpeg2video" => {
            let shapes = [(4, 3), (16, 9), (221, 100)].map(|(a, b)| Ratio::new(a, b));
            aspect == Ratio::ONE || shapes.contains(&Some(display))
        }
        "dvvideo" => [(4, 3), (16, 9)].map(|(a, b)| Ratio::new(a, b)).contains(&Some(display)),
        _ => aspect == Ratio::ONE,
    };
    let kept = match (to.family(), to.name()) {
        (ContainerFamily::Mp4 | ContainerFamily::Mov, _) | (_, "nut" | "asf") => true,
        (ContainerFamily::Mkv, _) => displayed(1 << 20),
        // a whole number of samples in the displayed width
        (ContainerFamily::Webm, _) => {
            let shown = (aspect * Ratio::whole(width) + Ratio::HALF).floor();
            let becomes = Ratio::new(shown, width)?;
            let change = format!("the sample aspect ratio {} becomes {}", colon(aspect), colon(becomes));
            return (becomes != aspect).then_some(change);
        }
        (_, "mxf") => displayed(1 << 20) && stream,
        // readers use the stream's aspect ratio if it has one
        (_, "avi") if ["mpeg4", "libxvid"].contains(&choice.name()) => stream,
        (_, "avi") => displayed(65535) || stream,
        _ => stream,
    };
    (!kept).then(|| format!("the sample aspect ratio {} is lost", colon(aspect)))
}

fn colon(r: Ratio) -> String {
    format!("{}:{}", r.num(), r.den())
}

/// Whether readers use the tagged siting of 4:2:0 chroma: because it is written, or because it is their default.
fn keeps_siting(to: Container, choice: &Choice) -> bool {
    let (name, tag) = (choice.name(), choice.format.siting);
    let assumed = [Siting::Unspecified, assumed_siting(name)].contains(&tag);
    choice.format.subsampling != (1, 1) || assumed || among(SIGNAL_COLOR, name) || to.is_matroska()
}

/// The colour tags that are lost.
fn lost_color(to: Container, choice: &Choice) -> Option<String> {
    let f: &Format = &choice.format;
    let name = choice.name();
    let (all, but_range) = (among(SIGNAL_COLOR, name), among(SIGNAL_COLOR_EXCEPT_RANGE, name));
    let kept = to.family() != ContainerFamily::Other || all;
    let ranged = keeps_full_range(to, name);
    let mut lost = Vec::new();
    let vp9 = name == "libvpx-vp9";
    if !kept && !but_range {
        let yuv = f.family == Family::Yuv && !vp9;
        lost.extend((yuv && f.matrix != Matrix::UNSPECIFIED).then_some("matrix"));
        lost.extend((f.primaries != Primaries::UNSPECIFIED).then_some("primaries"));
        lost.extend((f.transfer != Transfer::UNSPECIFIED).then_some("transfer"));
    }
    // unspecified YUV is limited, as is common
    let full = f.range == ColorRange::Full && f.family != Family::Rgb;
    lost.extend((!ranged && full).then_some("full range"));
    lost.extend((!keeps_siting(to, choice)).then_some("chroma siting"));
    (!lost.is_empty()).then(|| format!("colour tags are lost ({})", lost.join(", ")))
}
