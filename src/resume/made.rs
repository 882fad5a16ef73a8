//! What made a file, as far as it decides over the file's contents.

use md5::{Digest, Md5};
use std::collections::BTreeMap;

/// The settings of a job that its output depends on, with a key. Threads, level, memory and the shard are not among
/// them: they change no sample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made {
    key: u128,
    json: String,
}

impl Made {
    /// By name and value.
    pub fn new(settings: BTreeMap<&str, String>) -> Made {
        // text under text makes JSON always
        let json = serde_json::to_string(&settings).unwrap_or_default();
        let mut md5 = Md5::new();
        md5.update("grainfield made 1\n");
        md5.update(&json);
        Made { key: u128::from_be_bytes(md5.finalize().into()), json }
    }

    /// What manifests, segments and shards know the settings by: the MD5 of `grainfield made 1`, a line feed and
    /// [`json`](Made::json), first byte highest.
    pub fn key(&self) -> u128 {
        self.key
    }

    /// The settings as a JSON object on one line, names in order.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// In what `other`, a text of [`json`](Made::json), differs, for a message.
    pub fn unlike(&self, other: Option<&str>) -> String {
        unlike(&self.json, other)
    }
}

/// In what two texts of settings differ, for a message.
pub fn unlike(ours: &str, theirs: Option<&str>) -> String {
    type Read = BTreeMap<String, String>;
    let read = |text: &str| serde_json::from_str::<Read>(text).ok();
    let (Some(ours), Some(theirs)) = (read(ours), theirs.and_then(read)) else {
        return "other settings".into();
    };
    // what says the same in fewer words is enough
    let names =
        ours.keys().chain(theirs.keys().filter(|k| !ours.contains_key(*k))).filter(|k| *k != "recipe key");
    let value = |of: &Read, name: &String| of.get(name).cloned().unwrap_or_else(|| "nothing".into());
    let said = names.filter(|n| ours.get(*n) != theirs.get(*n)).map(|n| {
        let (ours, theirs) = (value(&ours, n), value(&theirs, n));
        let alike = ours.chars().zip(theirs.chars()).take_while(|(a, b)| a == b).count();
        format!("{n} {} where {} is wanted", around(&theirs, alike), around(&ours, alike))
    });
    said.take(3).collect::<Vec<_>>().join(", ")
}

/// The part of a long text that stands around a place.
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

    #[test]
    fn equal_settings_have_equal_keys() {
        let made = |seed: &str| Made::new([("seed", seed.to_owned()), ("recipe", "noise".into())].into());
        assert_eq!(made("1"), made("1"));
        assert_ne!(made("1").key(), made("2").key());
        assert_eq!(made("1").json(), r#"{"recipe":"noise","seed":"1"}"#);
        assert_eq!(made("1").unlike(Some(made("2").json())), "seed 2 where 1 is wanted");
        assert_eq!(made("1").unlike(Some("{")), "other settings");
    }
}
