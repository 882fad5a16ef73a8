//! What a user may say about how a video file is written.

use grainfield_filters::film_grain::Table;
use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How a video file is written; for sinks that encode. The default says nothing: every choice is the sink's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Encoding {
    /// The encoder (`libx265`) or codec (`hevc`), by FFmpeg's names.
    pub codec: Option<String>,
    /// Options of the encoder as FFmpeg names them, in the order said.
    pub options: Vec<(String, String)>,
    /// Constant quality: the encoder's own scale, lower is better.
    pub crf: Option<f64>,
    /// The encoder's preset (`slow`, `8`).
    pub preset: Option<String>,
    /// Bits a second.
    pub bitrate: Option<u64>,
    /// Nothing may be lost.
    pub lossless: bool,
    /// The grain that the stream tells players to make: for libaom alone.
    pub film_grain: Option<Arc<Table>>,
    /// What becomes of the sound.
    pub audio: Audio,
    /// What becomes of subtitles.
    pub subs: Subs,
    /// Chapters are left out.
    pub no_chapters: bool,
    /// The same samples give the same packets in every run, as far as the encoder can be made to: segments need it,
    /// and it may cost time.
    pub repeatable: bool,
}

impl Encoding {
    /// Whether nothing was said.
    pub fn is_default(&self) -> bool {
        *self == Encoding::default()
    }

    /// What was said of the picture, in the words of the command line; what was not, is not there.
    pub fn picture_text(&self) -> String {
        let mut said = Vec::new();
        let mut say = |name: &str, value: Option<String>| {
            said.extend(value.map(|value| format!("{name} {value}")));
        };
        say("--codec", self.codec.clone());
        self.options.iter().for_each(|(key, value)| say("--codec-opt", Some(format!("{key}={value}"))));
        say("--crf", self.crf.map(|v| v.to_string()));
        say("--preset", self.preset.clone());
        say("--bitrate", self.bitrate.map(|v| v.to_string()));
        if self.lossless {
            said.push("--lossless".into());
        }
        said.extend(self.film_grain.as_ref().map(|table| {
            let digest = Md5::digest(table.to_string());
            format!("--film-grain-table with MD5 {:032x}", u128::from_be_bytes(digest.into()))
        }));
        if said.is_empty() { "by default".into() } else { said.join(" ") }
    }
}

/// What becomes of the sound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Audio {
    /// Copied where the container takes it, else encoded to what it does take.
    #[default]
    Auto,
    /// Copied or nothing.
    Copy,
    /// Encoded.
    Encode,
    /// None.
    None,
}

/// What becomes of subtitles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subs {
    /// Copied where the container takes them, text else written as the text it does take.
    #[default]
    Auto,
    /// Copied or nothing.
    Copy,
    /// None.
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
        let text = "--codec libx264 --codec-opt tune=grain --codec-opt g=9 --crf 20.5 --preset slow --bitrate 8000 \
                    --lossless";
        assert_eq!(all.picture_text(), text);
    }
}
