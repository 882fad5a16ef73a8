//! Chooses the encoder, and its nearest pixel format in which nothing is lost.

use super::choice::{Choice, assumed_siting, keeps_full_range, private_option};
use super::{encoding_error, fault};
use crate::encoding::Encoding;
use crate::libav::container::{Container, ContainerFamily, among, audio_encoder, id_name, video_encoder};
use crate::libav::pixfmt::{self, Layout};
use crate::media::SinkError;
use ffmpeg_next::Codec;
use ffmpeg_sys_next as sys;
use grainfield_filters::frame::{Alpha, ColorRange, Depth, Family, Format, Matrix, Siting};
use std::ffi::OsStr;

/// Encoders that require whole chroma blocks and reject odd sizes.
const EVEN_SIZE_ONLY: &str = "libx264 libx265 libsvtav1 librav1e vc2";
/// Encoders with a least width and height: smaller pictures are refused, or no decoder reads them.
const MIN_SIZES: [(&str, u32, u32); 5] = [
    ("libsvtav1", 64, 64),
    ("libx265", 16, 16),
    ("librav1e", 16, 16),
    ("libtheora", 18, 1),
    ("utvideo", 2, 2),
];
/// Encoders for editing and archiving: RGB stays RGB, or becomes 4:4:4.
const KEEPS_RGB: &str =
    "ffv1 prores_ks huffyuv ffvhuff utvideo png apng libwebp_anim qtrle magicyuv rawvideo libx264rgb";
/// Encoders that are lossless by default, or with `settings` for lossless encoding.
const LOSSLESS: &str = "ffv1 libx264 libx264rgb libx265 libvpx-vp9 libaom-av1 ffvhuff huffyuv utvideo magicyuv png \
    qtrle rawvideo apng libwebp_anim";
/// Encoders with two passes.
const TWO_PASSES: &str = "libx264 libx264rgb libx265 libvpx libvpx-vp9 libaom-av1";
/// Encoders that are suggested when another cannot encode a format.
const SUGGESTED: &str = "libx264 libx265 libsvtav1 libvpx-vp9 libaom-av1 prores_ks ffv1 qtrle";

/// Chooses by file name, format and the user's options.
pub(crate) fn choose(output: &OsStr, format: &Format, encoding: &Encoding) -> Result<Choice, SinkError> {
    let bad = |problem| encoding_error(output, problem);
    let container =
        Container::for_output(output).ok_or_else(|| bad("no video container has this extension".into()))?;
    if let Some(problem) = tag_problem(container, encoding).or_else(|| sound_problem(container, encoding)) {
        return Err(bad(problem));
    }
    let (names, by_user) = match &encoding.codec {
        Some(name) => (vec![name.clone()], true),
        None => (container.encoders(format, encoding), false),
    };
    let (mut refused, mut small) = (Vec::new(), None);
    for name in &names {
        let Some(codec) = video_encoder(name) else {
            if by_user {
                return Err(bad(unknown_encoder(name)));
            }
            continue;
        };
        if let Some(problem) = preset_problem(name, encoding)
            .or_else(|| quality_problem(name, codec, encoding))
            .or_else(|| two_pass_problem(name, encoding))
        {
            return Err(bad(problem));
        }
        if encoding.lossless && !among(LOSSLESS, name) {
            return Err(bad(lossless_problem(container, name, format)));
        }
        // Other encoders ignore the table, and encode without grain and without an error.
        if encoding.film_grain.is_some() && name != "libaom-av1" {
            return Err(bad(format!(
                "{name} writes no film grain table into the stream: the table needs the codec libaom-av1"
            )));
        }
        if !container.supports(codec.id().into()) {
            return Err(bad(container_problem(container, codec, format, encoding)));
        }
        if let Some((width, height)) = min_size(codec.name(), format) {
            let (own, others) = (codec.name(), capable_encoders(Some(container), format).join(", "));
            small = Some(format!(
                "{own} encodes pictures of {width}x{height} and more, and this one is {}x{}; {others} can encode it",
                format.width, format.height
            ));
            continue;
        }
        let picked = if encoding.lossless { pick_lossless(codec, format) } else { pick(codec, format) };
        match picked.filter(|_| alpha_fits(container, name, format)) {
            Some(mut choice) => {
                let signalled = keeps_full_range(container, name) || among(LOSSLESS, name);
                if choice.format.range == ColorRange::Full
                    && choice.format.family != Family::Rgb
                    && !signalled
                {
                    choice.format.range = ColorRange::Limited;
                }
                if name.starts_with("prores") && choice.format.matrix == Matrix::BT470BG {
                    // the same coefficients under the name that ProRes uses
                    choice.format.matrix = Matrix::SMPTE170M;
                }
                return Ok(choice);
            }
            None => refused.push(codec),
        }
    }
    if encoding.lossless && !refused.is_empty() {
        return Err(bad(lossless_problem(container, &names.join(", "), format)));
    }
    if let Some(problem) = small.filter(|_| refused.is_empty()) {
        return Err(bad(problem));
    }
    if refused.is_empty() {
        return Err(fault(
            output,
            format!("this FFmpeg has none of the encoders {}; choose another codec", names.join(", ")),
        ));
    }
    Err(bad(loss_problem(container, &refused, format, by_user)))
}

/// The error that an encoder cannot keep such pictures without loss, with those that can.
fn lossless_problem(container: Container, name: &str, format: &Format) -> String {
    let capable = lossless_encoders(container, format);
    let instead = match capable.is_empty() {
        true => format!("no encoder for {} can do that; name the output NAME.mkv", container.name()),
        false => format!("{} can", capable.join(", ")),
    };
    format!("lossless: {name} cannot keep {} as it is; {instead}", format.name())
}

/// The pixel format of an encoder that keeps every sample unchanged.
fn pick_lossless(codec: Codec, format: &Format) -> Option<Choice> {
    pick(codec, format).filter(|choice| {
        let to = &choice.format;
        let bits = |f: &Format| f.depth.bits().map_or(32, u32::from);
        let chroma = to.family == format.family && to.subsampling == format.subsampling;
        // A grey picture gets neutral chroma.
        (chroma || (format.family == Family::Gray && to.family == Family::Yuv)) && bits(to) >= bits(format)
    })
}

/// The error for an unknown encoder: a suggestion, or where to find a list.
fn unknown_encoder(name: &str) -> String {
    let nearest = match name.to_ascii_lowercase().as_str() {
        "h265" | "h.265" | "x265" => Some("did you mean 'libx265'?".to_owned()),
        "x264" | "h.264" | "avc" => Some("did you mean 'libx264'?".to_owned()),
        other => grainfield_filters::recipe::nearest(other, SUGGESTED.split_ascii_whitespace()),
    };
    let advice = nearest.unwrap_or_else(|| "'ffmpeg -encoders' lists them".to_owned());
    format!("codec {name}: this FFmpeg has no such video encoder; {advice}")
}

/// `libx264` and `libx265` print errors about presets directly, not to logs, so presets are checked before.
fn preset_problem(name: &str, encoding: &Encoding) -> Option<String> {
    const PRESETS: &str =
        "ultrafast, superfast, veryfast, faster, fast, medium, slow, slower, veryslow, placebo";
    let preset = encoding.preset.as_deref().filter(|_| matches!(name, "libx264" | "libx265"))?;
    let known =
        PRESETS.split(", ").any(|known| known == preset) || preset.bytes().all(|b| b.is_ascii_digit());
    (!known).then(|| format!("preset {preset}: {name} has {PRESETS}"))
}

/// The error that a quality is outside the encoder's scale. libx264 and libx265 clamp it, others fail without naming
/// the scale.
fn quality_problem(name: &str, codec: Codec, encoding: &Encoding) -> Option<String> {
    let crf = encoding.crf?;
    let most = match name {
        "libx264" | "libx264rgb" | "libx265" => 51.0,
        _ => private_option(codec, c"crf")?.max,
    };
    (crf > most).then(|| format!("quality {crf}: the scale of {name} is 0 to {most}; lower is better"))
}

/// The error that an encoder cannot measure in a first pass what a second one needs.
fn two_pass_problem(name: &str, encoding: &Encoding) -> Option<String> {
    if !encoding.two_pass && encoding.pass.is_none() {
        return None;
    }
    if !among(TWO_PASSES, name) {
        let others = TWO_PASSES.replace(' ', ", ");
        return Some(format!("{name} has no second pass; {others} have one"));
    }
    let by_rate = name.starts_with("libx26");
    let rate = encoding.bitrate.is_some() && encoding.crf.is_none();
    (encoding.lossless || (by_rate && !rate)).then(|| {
        format!("two passes of {name} spread a bit rate over the video: give a bit rate, and no quality")
    })
}

/// The error that the codec of sound cannot be used.
fn sound_problem(container: Container, encoding: &Encoding) -> Option<String> {
    let usual = || container.audio_codecs().first().copied().map(id_name);
    let name = encoding.audio_codec.as_deref().or_else(|| encoding.audio_bitrate.and(usual()))?;
    let Some(codec) = audio_encoder(name) else {
        return Some(format!(
            "sound as {name}: this FFmpeg has no such encoder; 'ffmpeg -encoders' lists them"
        ));
    };
    if !container.supports(codec.id().into()) {
        let codecs: Vec<_> = container.audio_codecs().into_iter().map(id_name).collect();
        let instead = match codecs.is_empty() {
            true => "name the output NAME.mkv".into(),
            false => format!("use {}, or name the output NAME.mkv", codecs.join(" or ")),
        };
        return Some(format!("{} cannot hold sound as {}; {instead}", container.name(), codec.id().name()));
    }
    // SAFETY: a static description or null.
    let props = unsafe { sys::avcodec_descriptor_get(codec.id().into()).as_ref() }.map_or(0, |d| d.props);
    let lossless = props & sys::AV_CODEC_PROP_LOSSLESS != 0 && props & sys::AV_CODEC_PROP_LOSSY == 0;
    (lossless && encoding.audio_bitrate.is_some())
        .then(|| format!("sound as {name} keeps every sample: it has no bit rate to choose"))
}

/// The error that the container has no such tag of a codec.
fn tag_problem(container: Container, encoding: &Encoding) -> Option<String> {
    let tag = encoding.tag.as_deref()?;
    let four = tag.len() == 4 && tag.bytes().all(|b| b.is_ascii_graphic() || b == b' ');
    if !four {
        return Some(format!("the tag '{tag}' of the codec: a tag is four letters, as hvc1"));
    }
    let tags = matches!(container.family(), ContainerFamily::Mp4 | ContainerFamily::Mov)
        || container.name() == "avi";
    (!tags).then(|| {
        format!("{} names codecs without tags of four letters; mp4, mov and avi have them", container.name())
    })
}

/// The error that a container does not support an encoder, with those that it supports.
fn container_problem(container: Container, codec: Codec, format: &Format, encoding: &Encoding) -> String {
    let capable = match encoding.lossless {
        true => lossless_encoders(container, format),
        false => capable_encoders(Some(container), format),
    };
    let by_user = encoding.codec.is_some();
    let what = if by_user || !encoding.lossless {
        format!("{} video", codec.id().name())
    } else {
        "FFV1 video, the default for lossless encoding".into()
    };
    let holds =
        |name: &&str| Container::for_output(OsStr::new(name)).is_some_and(|c| c.supports(codec.id().into()));
    let other = ["NAME.mov", "NAME.mkv"].into_iter().find(holds).unwrap_or("NAME.mkv");
    let instead = match capable.is_empty() {
        true => String::new(),
        false => format!("use the codec {}, or ", capable.join(", ")),
    };
    format!("{} cannot hold {what}; {instead}name the output {other}", container.name())
}

/// The encoders of a list that this FFmpeg has and that fit.
fn encoders_that(list: &'static str, fits: impl Fn(&str, Codec) -> bool) -> Vec<&'static str> {
    let names = list.split_ascii_whitespace();
    names.filter(|name| video_encoder(name).is_some_and(|codec| fits(name, codec))).collect()
}

/// Known encoders for such pictures, for a container or for any.
fn capable_encoders(container: Option<Container>, format: &Format) -> Vec<&'static str> {
    encoders_that(SUGGESTED, |name, codec| {
        container.is_none_or(|c| c.supports(codec.id().into()) && alpha_fits(c, name, format))
            && pick(codec, format).is_some()
    })
}

/// Encoders that keep such pictures without loss, for a container.
fn lossless_encoders(container: Container, format: &Format) -> Vec<&'static str> {
    encoders_that(LOSSLESS, |_, codec| {
        container.supports(codec.id().into()) && pick_lossless(codec, format).is_some()
    })
}

/// The error that no encoder supports such pictures, with options and other encoders. `by_user`: the user chose the
/// encoder, so its formats are listed.
fn loss_problem(container: Container, refused: &[Codec], format: &Format, by_user: bool) -> String {
    let names: Vec<&str> = refused.iter().map(Codec::name).collect();
    let mut text = format!(
        "{} cannot be encoded without loss of depth or alpha by {}",
        format.name(),
        names.join(" or ")
    );
    if let Some(codec) = refused.first().copied().filter(|_| by_user) {
        let mut takes: Vec<String> =
            layouts(codec).into_iter().flatten().map(|layout| layout.1.name).collect();
        takes.dedup();
        if takes.is_empty() {
            let name = names.join(" or ");
            let others = capable_encoders(Some(container), format).join(", ");
            return format!(
                "{name} takes frames in the memory of a graphics card, which only FFmpeg itself puts there (pipe y4m to \
                 'ffmpeg -i - -vf format=nv12,hwupload'); {others} can"
            );
        }
        text += &format!(", which takes {}", takes.join(", "));
    }
    let (here, anywhere) = (capable_encoders(Some(container), format), capable_encoders(None, format));
    let instead = match (here.is_empty(), anywhere.is_empty()) {
        (false, _) => format!("; {} can", here.join(", ")),
        (true, false) => format!("; use NAME.mkv or NAME.mov with the codec {}", anywhere.join(", ")),
        (true, true) => "; no encoder in this FFmpeg can do it".into(),
    };
    let lossy = refused.iter().find_map(|&codec| reduced_format(codec, format));
    let lossy =
        lossy.map_or_else(|| "another pixel format".into(), |name| format!("the pixel format {name}"));
    format!("{text}{instead}. To accept the loss, choose {lossy}")
}

/// The nearest pixel format of an encoder with less depth or else without alpha, by our name.
fn reduced_format(codec: Codec, format: &Format) -> Option<String> {
    let depth = format.depth.bits().map_or(32, u32::from);
    let alphas = [format.alpha, Alpha::None];
    let mut tries = alphas.into_iter().flat_map(|alpha| {
        let depths = [16, 14, 12, 10, 9, 8].into_iter().filter(move |bits| u32::from(*bits) <= depth);
        depths.map(move |bits| Format { alpha, depth: Depth::Bits(bits), ..*format })
    });
    tries.find_map(|format| pick(codec, &format)).map(|choice| choice.format.name())
}

/// VP8 and VP9 store alpha beside the packets, which only Matroska and WebM support.
fn alpha_fits(container: Container, name: &str, format: &Format) -> bool {
    !format.has_alpha() || !(name.starts_with("libvpx") || name.starts_with("vp")) || container.is_matroska()
}

/// The pixel formats of an encoder that can be written from planes; `None` if it accepts anything, as rawvideo.
fn layouts(codec: Codec) -> Option<Vec<(sys::AVPixelFormat, Layout)>> {
    let formats = codec.video().ok()?.formats()?.filter_map(|format| {
        let format = format.into();
        let layout = Layout::new(format).ok().filter(Layout::can_pack)?;
        // the yuvj names are deprecated names for full range, which has its own tag; nv12 and similar formats are
        // yuv420p with interleaved chroma
        let old = ["yuvj", "nv"].iter().any(|old| layout.name.starts_with(old));
        // FFmpeg 9 has them in version 4 of FFV1, which it calls experimental
        let experimental = codec.name() == "ffv1" && ["f16", "f32"].iter().any(|f| layout.name.contains(f));
        (!old && !experimental).then_some((format, layout))
    });
    Some(formats.collect())
}

/// The least size of an encoder's pictures, if this one is smaller.
fn min_size(name: &str, format: &Format) -> Option<(u32, u32)> {
    let &(_, width, height) = MIN_SIZES.iter().find(|min| min.0 == name)?;
    (format.width < width || format.height < height).then_some((width, height))
}

fn pick(codec: Codec, format: &Format) -> Option<Choice> {
    let name = codec.name();
    if min_size(name, format).is_some() {
        return None;
    }
    let preferred = preferred_format(name, format);
    // raw video is read by the tag of its pixel format
    // SAFETY: searches a static table.
    let tagged = |format: &_| unsafe { sys::avcodec_pix_fmt_to_codec_tag(*format) != 0 };
    let exact = || {
        let exact = pixfmt::exact(format).filter(tagged)?;
        Some((exact, Layout::new(exact).ok()?))
    };
    let all = layouts(codec).unwrap_or_else(|| exact().into_iter().collect());
    // libav decodes ProRes 4444 to 12 bits but encodes from 10: accept the round trip, and report the loss
    let spare = if name == "prores_ks" && format.depth == Depth::Bits(12) { 2 } else { 0 };
    let even = among(EVEN_SIZE_ONLY, name);
    let (_, pix_fmt, layout) = all
        .into_iter()
        .filter_map(|(pix_fmt, layout)| {
            let to = layout.format(format.width, format.height);
            let odd = (to.width % (1 << to.subsampling.0) != 0) || (to.height % (1 << to.subsampling.1) != 0);
            let cost = cost(&preferred, &to, spare).filter(|_| !(even && odd))?;
            Some((cost, pix_fmt, layout))
        })
        .min_by_key(|found| found.0)?;
    let to = with_tags(format, &layout.format(format.width, format.height), assumed_siting(name));
    Some(Choice { codec, format: to, pix_fmt, layout })
}

/// The format for an encoder that accepts anything.
fn preferred_format(encoder: &str, format: &Format) -> Format {
    let mut out = *format;
    if out.family == Family::Rgb && !among(KEEPS_RGB, encoder) {
        out.family = Family::Yuv;
        out.subsampling = (1, 1);
    }
    if out.family == Family::Yuv && encoder == "apng" {
        (out.family, out.subsampling) = (Family::Rgb, (0, 0));
    }
    out
}

/// The distance of `to` from `from`; `None` if more than `spare` bits, alpha or colour would be lost.
fn cost(from: &Format, to: &Format, spare: u32) -> Option<u32> {
    let bits = |f: &Format| f.depth.bits().map_or(32, u32::from);
    if bits(to) + spare < bits(from) || (from.has_alpha() && !to.has_alpha()) {
        return None;
    }
    let family = match (from.family, to.family) {
        (a, b) if a == b => 0,
        (Family::Gray, Family::Yuv) => 1,
        (Family::Gray, Family::Rgb) => 3,
        (Family::Rgb, Family::Yuv) if to.subsampling == (0, 0) => 2,
        _ => return None,
    };
    // a grey picture loses nothing to subsampled chroma, and 4:2:0 plays everywhere
    let finest = if from.family == Family::Gray { (1, 1) } else { from.subsampling };
    let (sx, sy) = to.subsampling;
    if to.family == Family::Yuv && (sx > finest.0 || sy > finest.1) {
        return None;
    }
    let finer =
        if to.family == Family::Yuv { u32::from(finest.0 - sx) + u32::from(finest.1 - sy) } else { 0 };
    let extra = u32::from(to.has_alpha() && !from.has_alpha());
    Some(family * 10_000 + extra * 1000 + finer * 100 + bits(to).abs_diff(bits(from)))
}

/// The samples of `to` with the tags of `from`, adjusted to a change of family; `siting` is where readers expect new
/// chroma.
fn with_tags(from: &Format, to: &Format, siting: Siting) -> Format {
    let mut out = Format {
        family: to.family,
        depth: to.depth,
        subsampling: to.subsampling,
        alpha: if to.has_alpha() { Alpha::Straight } else { Alpha::None },
        ..*from
    };
    // unspecified range means full for float, but would mean limited for integers
    if from.depth == Depth::Float && from.range == ColorRange::Unspecified && from.family != Family::Rgb {
        out.range = ColorRange::Full;
    }
    if from.family == Family::Rgb && to.family == Family::Yuv {
        out.range = ColorRange::Limited;
        if from.matrix == Matrix::RGB || from.matrix == Matrix::UNSPECIFIED {
            out.matrix = Matrix::assumed(from.height);
        }
        out.siting = siting;
    }
    if from.family == Family::Yuv && to.family == Family::Rgb {
        (out.matrix, out.range) = (Matrix::RGB, ColorRange::Full);
    }
    if to.family != Family::Yuv || to.subsampling == (0, 0) {
        out.siting = Siting::Unspecified;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(
        output: &str,
        format: &str,
        change: impl FnOnce(&mut Encoding),
    ) -> Result<(String, String), String> {
        let mut encoding = Encoding::default();
        change(&mut encoding);
        let format = Format::from_name(format, 128, 72).unwrap();
        let choice = choose(OsStr::new(output), &format, &encoding).map_err(|e| e.to_string())?;
        let again = choose(OsStr::new(output), &choice.format, &encoding).unwrap();
        assert_eq!(again.format, choice.format, "what is accepted stays");
        Ok((choice.name().into(), choice.layout.name))
    }

    #[test]
    fn defaults() {
        for (output, format, encoder, pix_fmt) in [
            ("a.mp4", "yuv420p", "libx264", "yuv420p"),
            ("a.mp4", "yuv420p10", "libx264", "yuv420p10le"),
            ("a.mp4", "yuv422p12", "libx265", "yuv422p12le"),
            ("a.mkv", "gbrp", "libx264", "yuv420p"),
            ("a.mkv", "yuv440p", "libx264", "yuv444p"),
            ("a.mkv", "gray", "libx264", "gray"),
            ("a.mkv", "yuv420p16", "ffv1", "yuv420p16le"),
            ("a.mov", "yuva420p", "prores_ks", "yuva444p10le"),
            ("a.mov", "gbrap", "prores_ks", "yuva444p10le"),
            ("a.mov", "yuva444p12", "prores_ks", "yuva444p10le"),
            ("a.webm", "yuv420p", "libsvtav1", "yuv420p"),
            ("a.webm", "yuv444p12", "libvpx-vp9", "yuv444p12le"),
            ("a.webm", "yuva420p", "libvpx-vp9", "yuva420p"),
            ("a.avi", "yuv420p", "mpeg4", "yuv420p"),
            ("a.apng", "yuv420p10", "apng", "rgb48be"),
            ("a.apng", "gray", "apng", "gray"),
        ] {
            assert_eq!(
                chosen(output, format, |_| ()),
                Ok((encoder.into(), pix_fmt.into())),
                "{output} {format}"
            );
        }
        let small = Format::from_name("yuv420p", 64, 48).unwrap();
        let choice = choose(OsStr::new("a.webm"), &small, &Encoding::default()).unwrap();
        assert_eq!(choice.name(), "libvpx-vp9", "SVT-AV1 takes 64 rows and more");
        let lossless = |format| chosen("a.mkv", format, |e| e.lossless = true).unwrap();
        assert_eq!(lossless("gbrp"), ("ffv1".into(), "bgr0".into()));
        assert_eq!(lossless("gbrap16"), ("ffv1".into(), "gbrap16le".into()));
        assert_eq!(lossless("yuv411p"), ("ffv1".into(), "yuv411p".into()));
    }

    #[test]
    fn losses_are_refused() {
        let alpha = chosen("a.mp4", "yuva420p", |_| ()).unwrap_err();
        assert!(
            alpha.contains("by libx264 or libx265; use NAME.mkv or NAME.mov ") && alpha.contains("prores_ks")
        );
        assert!(alpha.ends_with("To accept the loss, choose the pixel format yuv420p"), "{alpha}");
        for (format, advice) in [
            ("gbrp16", "the pixel format yuv420p10"),
            ("yuv422p16", "the pixel format yuv422p10"),
            ("grayf32", "the pixel format gray10"),
        ] {
            let text = chosen("a.mp4", format, |_| ()).unwrap_err();
            assert!(text.ends_with(advice), "{text}");
            let name = advice.rsplit(' ').next().unwrap();
            assert!(chosen("a.mp4", name, |_| ()).is_ok(), "{name} is refused too");
        }
        let deep = chosen("a.mp4", "yuv420p10", |e| e.codec = Some("mpeg4".into())).unwrap_err();
        assert!(deep.contains("mpeg4, which takes yuv420p; libx264, libx265"), "{deep}");
        let webm = chosen("a.webm", "yuv420p", |e| e.lossless = true).unwrap_err();
        let mpeg4 = |e: &mut Encoding| (e.lossless, e.codec) = (true, Some("mpeg4".into()));
        let lossy = chosen("a.mkv", "yuv420p", mpeg4).unwrap_err();
        assert!(lossy.contains("mpeg4 cannot keep yuv420p") && lossy.contains("; ffv1, libx264"), "{lossy}");
        let x264 = |e: &mut Encoding| (e.lossless, e.codec) = (true, Some("libx264".into()));
        assert!(chosen("a.mp4", "yuv422p10", x264).is_ok());
        let rgb = chosen("a.mkv", "gbrp", x264).unwrap_err();
        assert!(rgb.contains("libx264 cannot keep gbrp") && rgb.contains("libx264rgb"), "{rgb}");
        assert!(webm.contains("FFV1") && webm.contains("NAME.m"), "{webm}");
        assert!(chosen("a.mp4", "grayf32", |_| ()).is_err());
        let odd = Format::from_name("yuv420p", 35, 29).unwrap();
        let choice = choose(OsStr::new("a.mp4"), &odd, &Encoding::default()).unwrap();
        assert_eq!(choice.layout.name, "yuv444p");
    }
}
