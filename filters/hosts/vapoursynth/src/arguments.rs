//! Settings as arguments of the host's functions.

use crate::host::MapRef;
use grainfield_filters::catalog::Entry;
use grainfield_filters::settings::common::COMMON;
use grainfield_filters::settings::{Kind, Setting};
use host_kit::Argument;
use std::fmt::Write;

/// The function for a chain or a recipe file.
pub(crate) const CHAIN: &str = "Chain";

/// `Noise`, for `noise`.
pub(crate) fn function_name(filter: &str) -> String {
    let words = filter.split(['-', '_']).filter(|word| !word.is_empty());
    words.map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect()
}

/// The arguments of every function besides the settings of its filter.
const OURS: &str = "alpha:vnode:opt;clips:vnode[]:opt;offset:int:opt;recipe_seed:data:opt;";

/// `crop_left`, for `crop-left`; `av1grain_offset`, for a setting that is named as what every function takes.
fn argument_name(filter: &Entry, setting: &Setting) -> String {
    let name = setting.id.replace('-', "_");
    let taken = OURS.split(';').filter_map(|a| a.split(':').next()).any(|ours| ours == name);
    if taken { format!("{}_{name}", filter.name.replace('-', "_")) } else { name }
}

/// The host's type for a kind of values. Values that can be animated are text, which Python makes from
/// numbers.
fn host_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Switch | Kind::Integer { .. } | Kind::SourceFrame => "int",
        Kind::Fixed { .. } => "float",
        Kind::Number { .. } | Kind::Position { .. } | Kind::Colour | Kind::Planes => "data[]",
        Kind::Seed
        | Kind::Choice(_)
        | Kind::Frames
        | Kind::Text
        | Kind::Image
        | Kind::File(_)
        | Kind::Points { .. } => "data",
    }
}

fn settings(filter: &'static Entry) -> impl Iterator<Item = &'static Setting> {
    filter.settings.iter().chain(&COMMON)
}

/// The arguments of a filter's function, or of [`CHAIN`].
pub(crate) fn signature(filter: Option<&'static Entry>) -> String {
    let mut text = String::from("clip:vnode;");
    match filter {
        Some(filter) => settings(filter).for_each(|s| {
            let _ = write!(text, "{}:{}:opt;", argument_name(filter, s), host_type(s.kind));
        }),
        None => text += "chain:data:opt;recipe:data:opt;",
    }
    text + OURS
}

/// The values given for a filter's settings.
pub(crate) fn given(filter: &'static Entry, map: MapRef) -> Vec<Argument> {
    let read = |setting: &'static Setting| {
        let name = argument_name(filter, setting);
        let values = match host_type(setting.kind) {
            _ if map.count(&name) == 0 => return None,
            "int" => vec![map.int(&name)?.to_string()],
            "float" => vec![map.float(&name)?.to_string()],
            _ => (0..map.count(&name)).filter_map(|i| map.text(&name, i)).collect(),
        };
        Some(Argument { setting, values })
    };
    settings(filter).filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_filters::catalog::{FILTERS, find};

    #[test]
    fn names_are_the_hosts() {
        assert_eq!((function_name("noise"), function_name("av1-grain")), ("Noise".into(), "Av1Grain".into()));
        let transform = signature(find("transform"));
        for part in [
            "clip:vnode;",
            "zoom:data[]:opt;",
            "crop_left:data[]:opt;",
            "kernel:data:opt;",
            "enable:data:opt;",
        ] {
            assert!(transform.contains(part), "{part} is not in {transform}");
        }
        assert!(signature(find("av1grain")).contains(";av1grain_offset:int:opt;"));
        for filter in FILTERS.iter().map(Some).chain([None]) {
            let text = signature(filter);
            let mut names: Vec<&str> = text.split(';').filter_map(|a| a.split(':').next()).collect();
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count, "{text}");
            assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_:;[]".contains(&b)), "{text}");
        }
    }
}
