//! What becomes of each stream of the input in a container.

use super::Input;
use crate::ffmpeg::sink::container::{Container, Kin, id_name};
use crate::ffmpeg::sink::handles::entries;
use crate::sink::Encoding;
use crate::sink::encoding::{Audio, Subs};
use ffmpeg_sys_next as sys;
use sys::{AVCodecID, AVMediaType};

/// What becomes of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Planned {
    /// The picture that is filtered.
    Picture,
    /// Its packets are copied.
    Copy,
    /// An attached picture becomes an attachment.
    Attach,
    /// Sound is decoded and encoded.
    Sound(AVCodecID),
    /// Subtitles are text and are written as other text.
    Text(AVCodecID),
    /// Left out.
    Drop,
}

/// What becomes of the streams, by index, and what has to be said: what cannot be held, what is done about it.
pub(crate) fn plan(
    input: &Input,
    video: usize,
    container: Container,
    encoding: &Encoding,
) -> (Vec<Planned>, Vec<String>) {
    let mut said = Vec::new();
    let streams = 0..input.streams().len();
    let plans = streams
        .map(|i| match input.stream(i) {
            _ if i == video => Planned::Picture,
            Some(stream) => one(i, stream, container, encoding, &mut said),
            None => Planned::Drop,
        })
        .collect();
    (plans, said)
}

fn one(
    i: usize,
    stream: &sys::AVStream,
    to: Container,
    encoding: &Encoding,
    said: &mut Vec<String>,
) -> Planned {
    // SAFETY: every stream has parameters.
    let par = unsafe { &*stream.codecpar };
    let id = par.codec_id;
    // SAFETY: the stream's own tags.
    let tags = unsafe { entries(stream.metadata) };
    let language = tags.iter().find(|t| t.0 == "language" && t.1 != "und").map(|t| format!(" {}", t.1));
    let call = |kind: &str| format!("{kind} {i} ({}{})", id_name(id), language.unwrap_or_default());
    let takes = to.takes(id);
    match par.codec_type {
        AVMediaType::AVMEDIA_TYPE_AUDIO => match encoding.audio {
            Audio::None => Planned::Drop,
            Audio::Auto | Audio::Copy if takes => Planned::Copy,
            Audio::Copy => {
                said.push(format!("{} is left out", call("sound")));
                Planned::Drop
            }
            how => {
                let other = to.sound();
                if other == AVCodecID::AV_CODEC_ID_NONE {
                    said.push(format!("{} is left out", call("sound")));
                    return Planned::Drop;
                }
                if how == Audio::Auto {
                    said.push(format!("{} is encoded as {}", call("sound"), id_name(other)));
                }
                Planned::Sound(other)
            }
        },
        AVMediaType::AVMEDIA_TYPE_SUBTITLE => match encoding.subs {
            Subs::None => Planned::Drop,
            _ if takes => Planned::Copy,
            Subs::Auto if let Some(other) = text_for(to, id) => {
                said.push(format!("{} is written as {}", call("subtitle"), id_name(other)));
                Planned::Text(other)
            }
            _ => {
                said.push(format!("{} is left out", call("subtitle")));
                Planned::Drop
            }
        },
        AVMediaType::AVMEDIA_TYPE_VIDEO => {
            let cover = stream.disposition & sys::AV_DISPOSITION_ATTACHED_PIC != 0;
            match (cover, to.kin()) {
                (true, Kin::Mkv) => Planned::Attach,
                (true, Kin::Mp4 | Kin::Mov) if is_cover(id) => Planned::Copy,
                (false, _) if takes => Planned::Copy,
                _ => {
                    said.push(format!("{} is left out", call(if cover { "cover" } else { "video" })));
                    Planned::Drop
                }
            }
        }
        AVMediaType::AVMEDIA_TYPE_ATTACHMENT if to.kin() == Kin::Mkv => Planned::Copy,
        AVMediaType::AVMEDIA_TYPE_ATTACHMENT => {
            said.push(format!("{} is left out", call("attachment")));
            Planned::Drop
        }
        AVMediaType::AVMEDIA_TYPE_DATA => {
            // A chapter track has been read as chapters, a time code track as a tag: the muxer makes them anew.
            let tag = par.codec_tag.to_le_bytes();
            let chapters = id == AVCodecID::AV_CODEC_ID_BIN_DATA && &tag == b"text";
            if chapters || (&tag == b"tmcd" && matches!(to.kin(), Kin::Mp4 | Kin::Mov)) {
                return Planned::Drop;
            }
            if id != AVCodecID::AV_CODEC_ID_NONE && takes && to.kin() != Kin::Mov {
                return Planned::Copy;
            }
            said.push(format!("{} is left out", call("data")));
            Planned::Drop
        }
        _ => Planned::Drop,
    }
}

fn is_cover(id: AVCodecID) -> bool {
    matches!(id, AVCodecID::AV_CODEC_ID_MJPEG | AVCodecID::AV_CODEC_ID_PNG | AVCodecID::AV_CODEC_ID_BMP)
}

/// The text subtitles of a container, for subtitles that are text as well.
fn text_for(to: Container, from: AVCodecID) -> Option<AVCodecID> {
    // SAFETY: a static description or null.
    let from = unsafe { sys::avcodec_descriptor_get(from).as_ref() }?;
    if from.props & sys::AV_CODEC_PROP_TEXT_SUB == 0 {
        return None;
    }
    match to.kin() {
        Kin::Mp4 | Kin::Mov => Some(AVCodecID::AV_CODEC_ID_MOV_TEXT),
        Kin::Mkv => Some(AVCodecID::AV_CODEC_ID_SUBRIP),
        Kin::Webm => Some(AVCodecID::AV_CODEC_ID_WEBVTT),
        Kin::Other => None,
    }
}
