//! Plans how each stream of the input is written to a container.

use super::audio::{Target, supported_rate};
use super::extent::{AudioExtent, is_audio};
use super::language::language_in;
use super::tags::is_statistic;
use crate::encoding::Encoding;
use crate::encoding::{Audio, Subs};
use crate::journal::SourceEnds;
use crate::libav::container::{Container, ContainerFamily, among, audio_encoder, encoder_name, id_name};
use crate::libav::dict::Tagged;
use crate::libav::input::Input;
use crate::libav::raw::parameters;
use ffmpeg_sys_next as sys;
use std::ffi::CStr;
use sys::{AVCodecID, AVMediaType};

/// A larger offset between the starts of sound and picture is audible, seconds.
const MAX_AUDIO_OFFSET: f64 = 0.05;

/// The plan for a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Planned {
    /// The picture that is filtered.
    Picture,
    /// Copy its packets.
    Copy,
    /// Convert an attached picture to an attachment.
    Attach,
    /// Decode and encode sound.
    Audio(Target),
    /// Convert text subtitles to another text format.
    Text(AVCodecID),
    /// Leave it out.
    Drop,
}

/// A plan for a stream, and a warning about it.
type Candidate = (Planned, Option<String>);

/// Plans the streams, by index, and returns warnings about losses and conversions. `extents` are those of the streams,
/// by index, for a container without times; `accepts` tests whether the container accepts a plan.
pub(crate) fn plan(
    input: &Input,
    video: usize,
    container: Container,
    encoding: &Encoding,
    ends: SourceEnds,
    extents: &[AudioExtent],
    accepts: impl FnMut(&[Planned]) -> bool,
) -> (Vec<Planned>, Vec<String>) {
    let first = input.stream(video).and_then(start_seconds);
    let lag = |stream| Some(start_seconds(stream)? - first?).filter(|_| container.counts_frames());
    let candidates = (0..input.streams().len()).map(|i| match input.stream(i) {
        _ if i == video => vec![(Planned::Picture, None)],
        Some(stream) => {
            let late = lag(stream).is_some_and(|lag| lag > MAX_AUDIO_OFFSET);
            let gap = extents.get(i).and_then(|extent| extent.gap);
            candidates(i, stream, container, encoding, (late, gap))
        }
        None => vec![(Planned::Drop, None)],
    });
    let (plans, mut warnings) = choose(&candidates.collect::<Vec<_>>(), accepts);
    let kept = plans.iter().enumerate().filter(|(_, plan)| **plan != Planned::Drop);
    let kept: Vec<_> = kept.filter_map(|(i, _)| Some((i, input.stream(i)?))).collect();
    warnings.extend(lost_properties(&kept, container));
    let end = |i: usize| extents.get(i).and_then(|extent| extent.end);
    for &(i, stream) in &kept {
        let early = lag(stream).map_or(0.0, |lag| -lag);
        if ends.first && early > MAX_AUDIO_OFFSET {
            warnings.push(format!("{early:.3} s of stream {i} before the first picture are left out"));
        }
        let after = end(i).zip(end(video)).map_or(0.0, |(sound, picture)| sound - picture);
        if ends.last && is_audio(stream) && after > MAX_AUDIO_OFFSET && container.ends_with_picture() {
            warnings.push(format!("{after:.3} s of stream {i} after the last picture are left out"));
        }
    }
    (plans, warnings)
}

/// Chooses the first plan of each stream if the container accepts them together, else for one stream after the other the
/// best plan that it accepts with those before.
fn choose(
    candidates: &[Vec<Candidate>],
    mut accepts: impl FnMut(&[Planned]) -> bool,
) -> (Vec<Planned>, Vec<String>) {
    let mut chosen: Vec<&Candidate> = candidates.iter().map(|candidates| &candidates[0]).collect();
    let mut plans: Vec<Planned> = chosen.iter().map(|candidate| candidate.0).collect();
    if !accepts(&plans) {
        plans.iter_mut().filter(|p| **p != Planned::Picture).for_each(|p| *p = Planned::Drop);
        for (i, candidates) in candidates.iter().enumerate() {
            let found = candidates.iter().find(|candidate| {
                plans[i] = candidate.0;
                candidate.0 == Planned::Drop || candidate.0 == Planned::Picture || accepts(&plans)
            });
            // There is always one: the last candidate leaves the stream out.
            chosen[i] = found.unwrap_or(&candidates[0]);
        }
    }
    (plans, chosen.iter().filter_map(|candidate| candidate.1.clone()).collect())
}

/// Warnings about properties of the copied streams that the container loses.
fn lost_properties(kept: &[(usize, &sys::AVStream)], container: Container) -> Vec<String> {
    let mut warnings = Vec::new();
    for (i, stream) in kept {
        let names = lost_tags(stream, container);
        if !names.is_empty() {
            warnings.push(format!("tags of stream {i} are lost ({})", names.join(", ")));
        }
    }
    let mut lost = |what: &str, is: &dyn Fn(&sys::AVStream) -> bool| {
        let lost: Vec<String> =
            kept.iter().filter(|(_, stream)| is(stream)).map(|(i, _)| i.to_string()).collect();
        if !lost.is_empty() {
            warnings.push(format!("{what} of stream {} is lost", lost.join(", ")));
        }
    };
    lost("the language", &|s| {
        let pictures = container.name() == "mpegts" && kind(s) == AVMediaType::AVMEDIA_TYPE_VIDEO;
        language(s).is_some_and(|code| pictures || language_in(container, &code).is_none())
    });
    if !container.keeps_title() {
        lost("the title", &|s| tag(s, "title").is_some());
    }
    for flag in (0..31).map(|bit| 1 << bit) {
        lost(&format!("'{}'", disposition_name(flag)), &|s| {
            let kind = kind(s);
            // the first stream of a kind is the default one anyway, and covers have a plan of their own
            let first = || kept.iter().find(|(_, other)| self::kind(other) == kind).map(|found| found.0);
            let known = flag == sys::AV_DISPOSITION_ATTACHED_PIC
                || (flag == sys::AV_DISPOSITION_DEFAULT && first() == usize::try_from(s.index).ok());
            s.disposition & flag & !container.dispositions(kind) != 0 && !known
        });
    }
    warnings
}

/// The start of a stream, seconds.
fn start_seconds(stream: &sys::AVStream) -> Option<f64> {
    let unit = f64::from(stream.time_base.num) / f64::from(stream.time_base.den);
    (stream.start_time != sys::AV_NOPTS_VALUE).then_some(stream.start_time as f64 * unit)
}

/// A stream's tags that a container loses, except for the title and the language, and for those about the old file.
fn lost_tags(stream: &sys::AVStream, to: Container) -> Vec<String> {
    const OTHERS: &str = "title language encoder handler_name vendor_id creation_time timecode rotate stereo_mode \
        filename mimetype file_package_umid";
    if to.is_matroska() || ["nut", "ogg", "ogv"].contains(&to.name()) {
        return Vec::new();
    }
    let names = stream.tags().into_iter().map(|tag| tag.0);
    names.filter(|name| !is_statistic(name) && !among(OTHERS, &name.to_ascii_lowercase())).collect()
}

fn kind(stream: &sys::AVStream) -> AVMediaType {
    parameters(stream).codec_type
}

fn disposition_name(flag: i32) -> &'static str {
    // SAFETY: a static string, or null for bits without a meaning.
    let name = unsafe { sys::av_disposition_to_string(flag).as_ref().map(|name| CStr::from_ptr(name)) };
    name.and_then(|name| name.to_str().ok()).unwrap_or_default()
}

/// The language of a stream.
fn language(stream: &sys::AVStream) -> Option<String> {
    tag(stream, "language").filter(|l| l != "und")
}

/// One of a stream's tags.
fn tag(stream: &sys::AVStream, name: &str) -> Option<String> {
    stream.tags().into_iter().find(|t| t.0.eq_ignore_ascii_case(name)).map(|t| t.1)
}

/// The plans for a stream, the best first; the last leaves it out. For a container without times: whether the stream
/// begins `late`, after the picture, and whether it has a gap.
fn candidates(
    i: usize,
    stream: &sys::AVStream,
    to: Container,
    encoding: &Encoding,
    late_and_gap: (bool, Option<f64>),
) -> Vec<Candidate> {
    let par = parameters(stream);
    let id = par.codec_id;
    let language = language(stream).map_or_else(String::new, |l| format!(" {l}"));
    let label = |kind: &str| format!("{kind} {i} ({}{language})", id_name(id));
    let copy = to.supports(id).then_some((Planned::Copy, None));
    let without_warning = vec![(Planned::Drop, None)];
    let (kind, mut candidates): (_, Vec<Candidate>) = match par.codec_type {
        AVMediaType::AVMEDIA_TYPE_AUDIO if encoding.audio == Audio::None => return without_warning,
        AVMediaType::AVMEDIA_TYPE_AUDIO => {
            ("sound", audio_candidates(par, to, encoding, &label("sound"), late_and_gap))
        }
        AVMediaType::AVMEDIA_TYPE_SUBTITLE if encoding.subs == Subs::None => return without_warning,
        AVMediaType::AVMEDIA_TYPE_SUBTITLE => {
            let text = text_codec(to, id).filter(|_| encoding.subs == Subs::Auto).map(|other| {
                let warning = format!("{} is converted to {}", label("subtitle"), id_name(other));
                (Planned::Text(other), Some(warning))
            });
            ("subtitle", copy.into_iter().chain(text).collect())
        }
        AVMediaType::AVMEDIA_TYPE_VIDEO => {
            let cover = stream.disposition & sys::AV_DISPOSITION_ATTACHED_PIC != 0;
            let candidate = match (cover, to.family()) {
                (true, ContainerFamily::Mkv) => Some((Planned::Attach, None)),
                (true, ContainerFamily::Mp4) if is_cover(id) && !to.name().starts_with("3g") => {
                    Some((Planned::Copy, None))
                }
                (false, _) => copy,
                _ => None,
            };
            (if cover { "cover" } else { "video" }, candidate.into_iter().collect())
        }
        AVMediaType::AVMEDIA_TYPE_ATTACHMENT => {
            let copy = (to.family() == ContainerFamily::Mkv).then_some((Planned::Copy, None));
            ("attachment", copy.into_iter().collect())
        }
        AVMediaType::AVMEDIA_TYPE_DATA => {
            // A chapter track has been read as chapters, a time code track as a tag: both are kept, or named as lost,
            // as such.
            let tag = par.codec_tag.to_le_bytes();
            let chapters = id == AVCodecID::AV_CODEC_ID_BIN_DATA && &tag == b"text";
            if chapters || &tag == b"tmcd" {
                return without_warning;
            }
            let copies = id != AVCodecID::AV_CODEC_ID_NONE && to.family() != ContainerFamily::Mov;
            ("data", copy.filter(|_| copies).into_iter().collect())
        }
        _ => return without_warning,
    };
    candidates.push((Planned::Drop, Some(format!("{} is left out", label(kind)))));
    candidates
}

/// The plans that keep sound, the best first.
fn audio_candidates(
    par: &sys::AVCodecParameters,
    to: Container,
    encoding: &Encoding,
    label: &str,
    (late, gap): (bool, Option<f64>),
) -> Vec<Candidate> {
    let chosen = encoding.audio_codec.is_some() || encoding.audio_bitrate.is_some();
    let audio = if chosen { Audio::Encode } else { encoding.audio };
    let id = par.codec_id;
    let own = (par.sample_rate, par.ch_layout.nb_channels.max(1));
    // consecutive samples without times: silence must be inserted in gaps
    let gapless =
        id_name(id).starts_with("pcm_") && (to.counts_frames() || to.family() == ContainerFamily::Mov);
    let into = Target { codec: id, encoder: None, bit_rate: None, rate: own.0, channels: own.1 };
    let plan = if gapless { Planned::Audio(into) } else { Planned::Copy };
    let copy = to.supports(id).then_some(plan);
    if audio == Audio::Copy {
        let late = late.then(|| "starts with the picture instead of after it".to_owned());
        let gap = gap.map(|at| format!("is early after its gap at {at:.3} s"));
        let early = late.into_iter().chain(gap).reduce(|a, b| format!("{a}, and {b}"));
        let early = early.filter(|_| !gapless).map(|early| format!("{label} {early}"));
        return copy.map(|plan| (plan, early)).into_iter().collect();
    }
    let encodings = encodings(to, own, encoding).into_iter().map(|into| {
        let warning = || format!("{label} is {}", conversion_text(own, into));
        let changed = (into.rate, into.channels) != own;
        (Planned::Audio(into), (audio == Audio::Auto || changed).then(warning))
    });
    let copy = copy.filter(|_| audio == Audio::Auto && (gapless || (!late && gap.is_none())));
    copy.map(|plan| (plan, None)).into_iter().chain(encodings).collect()
}

/// The encodings for sound of a rate and number of channels, the best first: all channels in any of the container's
/// codecs come before fewer in the default one, and the sound's own rate before another.
fn encodings(to: Container, (own_rate, own_channels): (i32, i32), encoding: &Encoding) -> Vec<Target> {
    let mut all: Vec<Target> = Vec::new();
    let chosen = encoding.audio_codec.as_deref().and_then(audio_encoder);
    let codecs: Vec<_> = match chosen {
        Some(codec) => vec![(codec.id().into(), Some(encoder_name(codec)))],
        None => to.audio_codecs().into_iter().map(|codec| (codec, None)).collect(),
    };
    let bit_rate = encoding.audio_bitrate.and_then(|bits| i64::try_from(bits).ok());
    let fewer = [6, 2, 1].into_iter().filter(|&c| c < own_channels);
    for channels in [own_channels].into_iter().chain(fewer) {
        for &(codec, encoder) in &codecs {
            let target = Target { codec, encoder, bit_rate, rate: own_rate, channels };
            for rate in [supported_rate(&target, own_rate), 48_000, 44_100] {
                let into = Target { rate, ..target };
                if !all.contains(&into) {
                    all.push(into);
                }
            }
        }
    }
    all
}

/// Describes the conversion of sound.
fn conversion_text(own: (i32, i32), into: Target) -> String {
    let mut text = format!("encoded as {}", id_name(into.codec));
    if into.channels != own.1 {
        let names = match into.channels {
            1 => "mono".into(),
            2 => "stereo".into(),
            n => format!("{n} channels"),
        };
        text += &format!(", mixed from {} channels to {names}", own.1);
    }
    if into.rate != own.0 {
        text += &format!(", resampled from {} to {} Hz", own.0, into.rate);
    }
    text
}

fn is_cover(id: AVCodecID) -> bool {
    matches!(id, AVCodecID::AV_CODEC_ID_MJPEG | AVCodecID::AV_CODEC_ID_PNG | AVCodecID::AV_CODEC_ID_BMP)
}

/// The text subtitle codec of a container, for text subtitles.
fn text_codec(to: Container, from: AVCodecID) -> Option<AVCodecID> {
    // SAFETY: a static description or null.
    let from = unsafe { sys::avcodec_descriptor_get(from).as_ref() }?;
    if from.props & sys::AV_CODEC_PROP_TEXT_SUB == 0 {
        return None;
    }
    match to.family() {
        ContainerFamily::Mp4 | ContainerFamily::Mov => Some(AVCodecID::AV_CODEC_ID_MOV_TEXT),
        ContainerFamily::Mkv => Some(AVCodecID::AV_CODEC_ID_SUBRIP),
        ContainerFamily::Webm => Some(AVCodecID::AV_CODEC_ID_WEBVTT),
        ContainerFamily::Other => None,
    }
}
