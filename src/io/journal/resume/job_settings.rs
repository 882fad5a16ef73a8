//! The settings that affect the contents of a file.

use grainfield_filters::frame::{Format, md5};
use std::collections::BTreeMap;

/// The settings of a job that its output depends on, with a key. Threads, level, memory and the shard are not
/// included: they do not affect samples.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobSettings {
    key: u128,
    json: String,
}

impl JobSettings {
    /// Settings by name, with their values.
    pub fn new(settings: BTreeMap<&str, String>) -> JobSettings {
        // a map of texts can always be serialised
        let json = serde_json::to_string(&settings).unwrap_or_default();
        JobSettings { key: md5(format!("grainfield made 1\n{json}")), json }
    }

    /// The key of the settings in manifests, segments and shards: the MD5 of `grainfield made 1`, a line feed
    /// and [`json`](JobSettings::json), first byte highest.
    pub fn key(&self) -> u128 {
        self.key
    }

    /// The settings as a JSON object on one line, sorted by name.
    pub fn json(&self) -> &str {
        &self.json
    }
}

/// The text of a format in manifests: its name and size, then its tags, with H.273 code points for colour.
pub fn format_text(format: &Format) -> String {
    let Format { width, height, matrix, primaries, transfer, aspect, rate, .. } = format;
    let (alpha, range, siting) = (format.alpha.name(), format.range.name(), format.siting.name());
    format!(
        "{} {width}x{height}, alpha {alpha}, range {range}, matrix {}, primaries {}, transfer {}, siting {siting}, fields \
         {}, aspect {aspect}, rate {rate}",
        format.name(),
        matrix.0,
        primaries.0,
        transfer.0,
        format.fields.name()
    )
}

/// The differences of two texts of settings, for a message.
pub fn difference(ours: &str, theirs: Option<&str>) -> String {
    type Read = BTreeMap<String, String>;
    let read = |text: &str| serde_json::from_str::<Read>(text).ok();
    let (Some(ours), Some(theirs)) = (read(ours), theirs.and_then(read)) else {
        return "other settings".into();
    };
    // leave out settings that only repeat others
    let names =
        ours.keys().chain(theirs.keys().filter(|k| !ours.contains_key(*k))).filter(|k| *k != "recipe key");
    let value = |of: &Read, name: &String| of.get(name).cloned().unwrap_or_else(|| "nothing".into());
    let differing = names.filter(|n| ours.get(*n) != theirs.get(*n)).map(|n| {
        let (ours, theirs) = (value(&ours, n), value(&theirs, n));
        let alike = ours.chars().zip(theirs.chars()).take_while(|(a, b)| a == b).count();
        format!("{n} is {} instead of {}", around(&theirs, alike), around(&ours, alike))
    });
    let differing: Vec<String> = differing.take(3).collect();
    // the key also covers contents of files, which the other texts do not
    if differing.is_empty() {
        "an image or effect file of the recipe has changed".into()
    } else {
        differing.join(", ")
    }
}

/// The part of a long text around a position.
fn around(text: &str, place: usize) -> String {
    const SHORT: usize = 60;
    let length = text.chars().count();
    if length <= SHORT {
        return text.to_owned();
    }
    let from = place.saturating_sub(SHORT / 2).min(length - SHORT);
    let part: String = text.chars().skip(from).take(SHORT).collect();
    let (before, after) = (if from > 0 { "..." } else { "" }, if from + SHORT < length { "..." } else { "" });
    format!("{before}{part}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key is stored on disk: a change invalidates every manifest.
    #[test]
    fn formats_have_one_text() {
        let format = Format::from_name("yuva420p10", 64, 36).unwrap();
        assert_eq!(
            format_text(&Format { matrix: grainfield_filters::frame::Matrix::BT2020NC, ..format }),
            "yuva420p10 64x36, alpha straight, range unspecified, matrix 9, primaries 2, transfer 2, siting unspecified, \
             fields unspecified, aspect 0, rate 24"
        );
    }

    #[test]
    fn equal_settings_have_equal_keys() {
        let settings =
            |seed: &str| JobSettings::new([("seed", seed.to_owned()), ("recipe", "noise".into())].into());
        assert_eq!(settings("1"), settings("1"));
        assert_ne!(settings("1").key(), settings("2").key());
        assert_eq!(settings("1").json(), r#"{"recipe":"noise","seed":"1"}"#);
        assert_eq!(difference(settings("1").json(), Some(settings("2").json())), "seed is 2 instead of 1");
        assert_eq!(difference(settings("1").json(), Some("{")), "other settings");
        let keyed =
            |key: &str| JobSettings::new([("recipe", "x".into()), ("recipe key", key.to_owned())].into());
        assert!(difference(keyed("1").json(), Some(keyed("2").json())).contains("has changed"));
    }
}
