//! The user's choices for encoding video files.

use grainfield_filters::film_grain::Table;
use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// Choices for encoding a video file. By default all choices are left to the sink.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Encoding {
    /// The encoder (`libx265`) or codec (`hevc`), by FFmpeg's names.
    pub codec: Option<String>,
    /// Options of the encoder with FFmpeg's names, in the given order.
    pub options: Vec<(String, String)>,
    /// Constant quality on the encoder's scale; lower is better.
    pub crf: Option<f64>,
    /// The encoder's preset (`slow`, `8`).
    pub preset: Option<String>,
    /// Bits per second.
    pub bitrate: Option<u64>,
    /// Encode without loss.
    pub lossless: bool,
    /// Film grain parameters for the stream, so that players render the grain: libaom only.
    pub film_grain: Option<Arc<Table>>,
    /// How sound is written.
    pub audio: Audio,
    /// The encoder (`libopus`) or codec (`opus`) of sound, by FFmpeg's names: sound is then encoded.
    pub audio_codec: Option<String>,
    /// Bits per second of each sound that is encoded.
    pub audio_bitrate: Option<u64>,
    /// The four letters by which mp4, mov and avi name the codec of the picture, as `hvc1`.
    pub tag: Option<String>,
    /// Encode twice: the first pass measures how many bits each frame needs.
    pub two_pass: bool,
    /// The pass of this encoder, which the job sets.
    pub pass: Option<Pass>,
    /// How subtitles are written.
    pub subs: Subs,
    /// Leave chapters out.
    pub no_chapters: bool,
    /// Make packets repeatable: the same samples give the same packets in every run, as far as the encoder allows.
    /// Segments require it; it may be slower.
    pub repeatable: bool,
}

impl Encoding {
    /// Whether all choices are left to the sink.
    pub fn is_default(&self) -> bool {
        *self == Encoding::default()
    }

    /// Whether all choices but the encoder's options are left to the sink.
    pub fn has_only_options(&self) -> bool {
        *self == Encoding { options: self.options.clone(), ..Encoding::default() }
    }

    /// The value of an encoder's option, if it is given: the last one.
    #[cfg(feature = "ffmpeg")]
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The choices for the picture by the names of the options, without those left to the sink.
    pub fn picture_text(&self) -> String {
        let mut parts = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            parts.extend(value.map(|value| format!("{name} {value}")));
        };
        add("codec", self.codec.clone());
        self.options.iter().for_each(|(key, value)| add("codec-opt", Some(format!("{key}={value}"))));
        add("crf", self.crf.map(|v| v.to_string()));
        add("preset", self.preset.clone());
        add("bitrate", self.bitrate.map(|v| v.to_string()));
        if self.lossless {
            parts.push("lossless".into());
        }
        parts.extend(self.film_grain.as_ref().map(|table| {
            let digest = Md5::digest(table.to_string());
            format!("film-grain-table with MD5 {:032x}", u128::from_be_bytes(digest.into()))
        }));
        if parts.is_empty() { "by default".into() } else { parts.join(" ") }
    }
}

/// One of two passes over a video, and the file in which the first one leaves its measurements.
#[derive(Clone, Debug, PartialEq)]
pub enum Pass {
    /// Writes the measurements, and no video.
    First(PathBuf),
    /// Reads them.
    Second(PathBuf),
}

/// How sound is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Audio {
    /// Copied if the container supports it, else encoded.
    #[default]
    Auto,
    /// Copied or left out.
    Copy,
    /// Encoded.
    Encode,
    /// Left out.
    None,
}

/// How subtitles are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subs {
    /// Copied if the container supports them, else text is converted.
    #[default]
    Auto,
    /// Copied or left out.
    Copy,
    /// Left out.
    None,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_in_words() {
        assert_eq!(
            Encoding { audio: Audio::None, no_chapters: true, ..Encoding::default() }.picture_text(),
            "by default"
        );
        let all = Encoding {
            codec: Some("libx264".into()),
            options: vec![("tune".into(), "grain".into()), ("g".into(), "9".into())],
            crf: Some(20.5),
            preset: Some("slow".into()),
            bitrate: Some(8000),
            lossless: true,
            ..Encoding::default()
        };
        let text =
            "codec libx264 codec-opt tune=grain codec-opt g=9 crf 20.5 preset slow bitrate 8000 lossless";
        assert_eq!(all.picture_text(), text);
    }
}
