//! Properties that a container can store. libav's muxers drop unsupported properties without a message; these rules were
//! found by reading back written files.

use super::container::{Container, ContainerFamily, among};
use ffmpeg_sys_next as sys;

/// When a container takes chapters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Chapters {
    /// With its header only: before the end of the last picture is known.
    First,
    /// With its trailer.
    Last,
    Never,
}

/// Tags that mp4 supports.
const MP4: &str = "title artist album_artist composer album date comment genre copyright grouping lyrics description \
    synopsis show episode_id network keywords episode_sort season_number media_type hd_video gapless_playback \
    compilation track disc creation_time location";
/// Tags that QuickTime supports.
const MOV: &str =
    "title artist album date comment genre copyright make model timecode creation_time location";
/// Tags that AVI supports.
const AVI: &str = "title artist comment copyright date genre track encoded_by timecode software";

impl Container {
    pub(crate) fn chapters(self) -> Chapters {
        match (self.family(), self.name()) {
            (ContainerFamily::Other, "nut" | "asf" | "asf_stream") => Chapters::First,
            (ContainerFamily::Other, _) => Chapters::Never,
            _ => Chapters::Last,
        }
    }

    /// Whether a tag of the whole file is kept.
    pub(crate) fn keeps_tag(self, name: &str) -> bool {
        let listed = |list: &str| among(list, &name.to_ascii_lowercase());
        match (self.family(), self.name()) {
            (_, "3gp" | "3g2") => listed("copyright creation_time location"),
            (_, "mp4") if name.eq_ignore_ascii_case("timecode") => true,
            (ContainerFamily::Mp4, _) => listed(MP4),
            (ContainerFamily::Mov, _) => listed(MOV),
            (_, "asf") => name != "creation_time",
            (ContainerFamily::Mkv | ContainerFamily::Webm, _) | (_, "nut" | "ogg" | "ogv" | "flv") => true,
            (_, "avi") => listed(AVI),
            (_, "dv") => listed("timecode"),
            (_, "mxf" | "mxf_d10" | "mxf_opatom") => {
                name.eq_ignore_ascii_case("timecode") || name.to_ascii_lowercase().starts_with("comment_")
            }
            _ => false,
        }
    }

    /// Whether the title of a stream is kept.
    pub(crate) fn keeps_title(self) -> bool {
        self.is_matroska() || ["nut", "avi", "ogg", "ogv"].contains(&self.name())
    }

    /// The dispositions of streams that are kept.
    pub(crate) fn dispositions(self, kind: sys::AVMediaType) -> i32 {
        use sys::*;
        let impaired = AV_DISPOSITION_HEARING_IMPAIRED | AV_DISPOSITION_VISUAL_IMPAIRED;
        let sound = kind == AVMediaType::AVMEDIA_TYPE_AUDIO;
        let subtitle = kind == AVMediaType::AVMEDIA_TYPE_SUBTITLE;
        let roles = AV_DISPOSITION_DEFAULT | AV_DISPOSITION_DUB | AV_DISPOSITION_COMMENT;
        match (self.family(), self.name()) {
            (ContainerFamily::Mov, _) => AV_DISPOSITION_DEFAULT,
            (ContainerFamily::Mp4, "mp4" | "ipod") => {
                let words = AV_DISPOSITION_CAPTIONS | AV_DISPOSITION_DESCRIPTIONS;
                roles | impaired | words | AV_DISPOSITION_FORCED
            }
            (ContainerFamily::Mkv, _) => {
                let described = if subtitle { AV_DISPOSITION_DESCRIPTIONS } else { 0 };
                roles | impaired | described | AV_DISPOSITION_FORCED | AV_DISPOSITION_ORIGINAL
            }
            (ContainerFamily::Webm, _) => AV_DISPOSITION_DEFAULT | AV_DISPOSITION_FORCED,
            (_, "nut") => roles | AV_DISPOSITION_ORIGINAL | AV_DISPOSITION_LYRICS | AV_DISPOSITION_KARAOKE,
            (_, "mpegts") if sound => impaired | AV_DISPOSITION_CLEAN_EFFECTS,
            _ => 0,
        }
    }
}
