//! The container for a file name, and its defaults.

use super::mux::Muxer;
use super::raw::{description, parameters_mut, set_channels};
use crate::encoding::Encoding;
use ffmpeg_next::{Codec, codec, encoder};
use ffmpeg_sys_next as sys;
use grainfield_filters::frame::{Depth, Format, Transfer};
use std::ffi::{CStr, CString, OsStr};
use std::path::Path;
use std::ptr;
use sys::AVCodecID;

/// The codecs that have stream types in MPEG-TS; libav's muxer does not declare them, and accepts anything.
const TS: &str =
    "h264 hevc mpeg2video mpeg1video mpeg4 vc1 mp2 mp3 aac ac3 eac3 dts opus dvb_subtitle dvb_teletext";

/// The codecs that readers support in MPEG program streams (mpg, vob), whose muxers accept any picture.
const PS: &str = "mpeg1video mpeg2video h264 mp2 mp3 ac3 dts dvd_subtitle";

/// Combinations of container and codec that a muxer accepts but no reader understands.
const UNREADABLE: &str = "matroska/qtrle avi/flac nut/flac nut/wmav1 nut/wmav2 mov/wmav1 mov/wmav2";

/// Whether a list of names, separated by blanks, contains one.
pub(crate) fn among(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == name)
}

/// A muxer of libav.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Container {
    /// libav's name of it.
    name: &'static str,
    flags: i32,
    /// The default codecs of pictures, sound and subtitles.
    codecs: [AVCodecID; 3],
    /// Whether it is written to a pipe.
    pub(crate) is_pipe: bool,
}

/// libav's muxer of a name, or for the name of a file.
fn muxer(name: Option<&CStr>, file: Option<&CStr>) -> Option<&'static sys::AVOutputFormat> {
    let [name, file] = [name, file].map(|text| text.map_or(ptr::null(), CStr::as_ptr));
    // SAFETY: the names are valid during the call; the result is static or null.
    unsafe { sys::av_guess_format(name, file, ptr::null()).as_ref() }
}

/// Containers with the same capabilities.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ContainerFamily {
    /// mp4, m4v, 3gp.
    Mp4,
    /// QuickTime.
    Mov,
    /// Matroska.
    Mkv,
    /// WebM, which is Matroska with few codecs.
    Webm,
    /// Anything else.
    Other,
}

/// Whether an output is a pipe, which gets a NUT stream.
pub fn is_pipe(output: &OsStr) -> bool {
    output == "-" || Path::new(output).metadata().is_ok_and(|m| !m.is_file() && !m.is_dir())
}

impl Container {
    /// Chooses by the extension of the name, NUT for a pipe; `None` if libav has no muxer for video files of that name.
    pub(crate) fn for_output(output: &OsStr) -> Option<Container> {
        let is_pipe = is_pipe(output);
        let extension = if is_pipe { "nut" } else { Path::new(output).extension()?.to_str()? };
        // only the extension matters: the rest of the name need not be UTF-8, and may look like a protocol
        let file = CString::new(format!("x.{}", extension.to_ascii_lowercase())).ok()?;
        let found = muxer(None, Some(&file))?;
        // SAFETY: a static string.
        let name = unsafe { CStr::from_ptr(found.name) }.to_str().ok()?;
        let codecs = [found.video_codec, found.audio_codec, found.subtitle_codec];
        let container = Container { name, flags: found.flags, codecs, is_pipe };
        let writes = codecs[0] != AVCodecID::AV_CODEC_ID_NONE && !container.flag(sys::AVFMT_NOFILE);
        (writes && !name.starts_with("image2")).then_some(container)
    }

    /// libav's name of the muxer.
    pub(crate) fn name(self) -> &'static str {
        self.name
    }

    pub(crate) fn family(self) -> ContainerFamily {
        match self.name {
            "mp4" | "ipod" | "3gp" | "3g2" | "psp" | "f4v" => ContainerFamily::Mp4,
            "mov" => ContainerFamily::Mov,
            "matroska" => ContainerFamily::Mkv,
            "webm" => ContainerFamily::Webm,
            _ => ContainerFamily::Other,
        }
    }

    /// Animated PNG and WebP.
    fn is_animation(self) -> bool {
        ["apng", "webp"].contains(&self.name)
    }

    /// Matroska and WebM, whose times are in milliseconds.
    pub(crate) fn is_matroska(self) -> bool {
        matches!(self.family(), ContainerFamily::Mkv | ContainerFamily::Webm)
    }

    /// AVI, MXF and similar: a stream is a sequence of packets without times, from zero on. (Not every muxer with
    /// variable times has the flag: mp4 only since FFmpeg 6.)
    pub(crate) fn counts_frames(self) -> bool {
        ["avi", "dv", "gxf", "rm", "swf"].contains(&self.name) || self.flag(sys::AVFMT_NOTIMESTAMPS)
    }

    /// Those in which every frame is shown for the same time. (AVI has empty packets for frames that last longer.)
    pub(crate) fn has_constant_rate(self) -> bool {
        self.counts_frames() && self.name() != "avi"
    }

    /// MXF: the muxer cuts off sound that is longer than the picture.
    pub(crate) fn ends_with_picture(self) -> bool {
        self.name().starts_with("mxf")
    }

    pub(crate) fn flag(self, flag: i32) -> bool {
        self.flags & flag != 0
    }

    /// Whether it supports streams of that codec.
    pub(crate) fn supports(self, codec: AVCodecID) -> bool {
        // its tag is defined, but few players support it
        let vorbis = codec == AVCodecID::AV_CODEC_ID_VORBIS
            && matches!(self.family(), ContainerFamily::Mp4 | ContainerFamily::Mov);
        let name = id_name(codec);
        if vorbis || among(UNREADABLE, &format!("{}/{name}", self.name)) {
            return false;
        }
        let own = CString::new(self.name).ok().and_then(|name| muxer(Some(&name), None));
        // SAFETY: a static description and an integer.
        let answer = own
            .map_or(0, |own| unsafe { sys::avformat_query_codec(own, codec, sys::FF_COMPLIANCE_UNOFFICIAL) });
        match (answer, self.name) {
            (1, _) => true,
            (_, "mpegts") => among(TS, name),
            (_, "mpeg" | "vcd" | "vob" | "svcd" | "dvd") => among(PS, name),
            // these support more than they declare, and reject other codecs when the header is written
            (_, "mov" | "mxf" | "mxf_d10" | "mxf_opatom" | "ogg" | "ogv" | "gxf") => self.begins_with(codec),
            // it does not declare its codecs: only its defaults are certain
            _ if answer < 0 => self.codecs.contains(&codec),
            _ => false,
        }
    }

    /// Whether a header with a stream of that codec can be written.
    fn begins_with(self, codec: AVCodecID) -> bool {
        let kind = |id: AVCodecID| codec::Id::from(id).medium().into();
        let video = sys::AVMediaType::AVMEDIA_TYPE_VIDEO;
        let codecs: &[_] = if kind(codec) == video { &[codec] } else { &[self.codecs[0], codec] };
        let began = Muxer::trial(self.name).and_then(|mut muxer| {
            for &codec in codecs {
                let stream = muxer.stream()?;
                let second = sys::AVRational { num: 1, den: 25 };
                (stream.time_base, stream.avg_frame_rate) = (second, sys::AVRational { num: 25, den: 1 });
                stream.sample_aspect_ratio = sys::AVRational { num: 1, den: 1 };
                let par = parameters_mut(stream);
                (par.codec_id, par.codec_type) = (codec, kind(codec));
                (par.width, par.height) = (1920, 1080);
                if kind(codec) == video {
                    // FFmpeg 9's muxer for MXF refuses pictures without one
                    par.format = sys::AVPixelFormat::AV_PIX_FMT_YUV420P as i32;
                }
                (par.sample_rate, par.block_align) = (48_000, 4);
                (par.bits_per_coded_sample, par.bits_per_raw_sample) = (16, 16);
                set_channels(&mut par.ch_layout, 2);
            }
            muxer.begin()
        });
        // messages about rejected codecs are irrelevant
        super::log::drain();
        began.is_ok()
    }

    /// The codecs to which sound can be converted if it cannot be copied, the default first.
    pub(crate) fn audio_codecs(self) -> Vec<AVCodecID> {
        let more = match (self.family(), self.name) {
            (ContainerFamily::Mp4 | ContainerFamily::Mov, _) => return vec![AVCodecID::AV_CODEC_ID_AAC],
            (ContainerFamily::Mkv | ContainerFamily::Webm, _) => {
                return vec![AVCodecID::AV_CODEC_ID_OPUS, AVCodecID::AV_CODEC_ID_VORBIS];
            }
            // for more than two channels
            (_, "mpegts" | "mpeg" | "vob" | "svcd" | "dvd" | "avi") => Some(AVCodecID::AV_CODEC_ID_AC3),
            (_, "flv") => Some(AVCodecID::AV_CODEC_ID_AAC),
            _ => None,
        };
        [self.codecs[1]].into_iter().chain(more).filter(|&id| id != AVCodecID::AV_CODEC_ID_NONE).collect()
    }

    /// The encoders to try for pictures of a format, best first, by name.
    pub(crate) fn encoders(self, format: &Format, encoding: &Encoding) -> Vec<String> {
        let deep = !matches!(format.depth, Depth::Bits(8..=10));
        // players support HDR only in HEVC
        let hdr = matches!(format.transfer, Transfer::PQ | Transfer::HLG);
        let list: &[&str] = match self.family() {
            _ if encoding.lossless && !self.is_animation() => &["ffv1"],
            _ if self.is_pipe => &["rawvideo", "ffv1"],
            ContainerFamily::Mp4 if self.name != "3gp" && hdr => &["libx265", "libx264"],
            ContainerFamily::Mp4 if self.name != "3gp" => &["libx264", "libx265"],
            ContainerFamily::Mov if format.has_alpha() => &["prores_ks"],
            ContainerFamily::Mov if hdr => &["libx265", "libx264", "prores_ks"],
            ContainerFamily::Mov => &["libx264", "libx265", "prores_ks"],
            ContainerFamily::Mkv if format.has_alpha() => &["ffv1"],
            ContainerFamily::Mkv if deep || hdr => &["libx265", "ffv1"],
            ContainerFamily::Mkv => &["libx264", "libx265", "ffv1"],
            ContainerFamily::Webm if format.has_alpha() => &["libvpx-vp9"],
            ContainerFamily::Webm => &["libsvtav1", "libvpx-vp9", "libaom-av1"],
            _ if self.name == "mpegts" && hdr => &["libx265", "libx264"],
            _ if ["mpegts", "flv"].contains(&self.name) => &["libx264"],
            _ => &[],
        };
        if !list.is_empty() {
            return list.iter().map(|&name| name.to_owned()).collect();
        }
        let own = encoder::find(self.codecs[0].into());
        own.iter().map(|codec| codec.name().to_owned()).collect()
    }
}

/// libav's name of a codec.
pub(crate) fn id_name(id: AVCodecID) -> &'static str {
    codec::Id::from(id).name()
}

/// libav's name of an encoder.
pub(crate) fn encoder_name(codec: Codec) -> &'static str {
    // SAFETY: the names of codecs are static strings.
    unsafe { CStr::from_ptr(description(codec).name) }.to_str().unwrap_or_default()
}

/// The video encoder of that name, or the default one for the codec of that name.
pub(crate) fn video_encoder(name: &str) -> Option<Codec> {
    encoder_of(name).filter(Codec::is_video)
}

/// The same for sound.
pub(crate) fn audio_encoder(name: &str) -> Option<Codec> {
    encoder_of(name).filter(Codec::is_audio)
}

fn encoder_of(name: &str) -> Option<Codec> {
    let c_name = CString::new(name).ok()?;
    let usual = match name {
        "av1" => "libsvtav1",
        "prores" => "prores_ks",
        _ => "",
    };
    encoder::find_by_name(name).or_else(|| encoder::find_by_name(usual)).or_else(|| {
        // SAFETY: the name is valid during the call; the result is static or null.
        let described = unsafe { sys::avcodec_descriptor_get_by_name(c_name.as_ptr()).as_ref() }?;
        encoder::find(described.id.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ask_for_containers() {
        let name = |output: &str| Container::for_output(OsStr::new(output)).map(Container::name);
        for (output, muxer) in [
            ("a.mp4", "mp4"),
            ("b:c.MKV", "matroska"),
            ("x.webm", "webm"),
            ("x.mov", "mov"),
            ("x.ts", "mpegts"),
        ] {
            assert_eq!(name(output), Some(muxer));
        }
        for none in ["a.txt", "mp4", "a.wav", "a.png", "a.", ""] {
            assert_eq!(name(none), None, "{none}");
        }
        let webm = Container::for_output(OsStr::new("a.webm")).unwrap();
        assert!(webm.supports(AVCodecID::AV_CODEC_ID_OPUS) && !webm.supports(AVCodecID::AV_CODEC_ID_AAC));
    }

    #[test]
    fn encoders_by_codec_too() {
        assert_eq!(video_encoder("hevc").as_ref().map(Codec::name), Some("libx265"));
        assert!(video_encoder("aac").is_none() && video_encoder("nothing").is_none());
    }
}
