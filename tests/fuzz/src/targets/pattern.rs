//! Names of numbered files, globs, and descriptions of test signals.

use super::super::Target;
use grainfield::format::images::pattern::{Pattern, glob_matches};
use grainfield::source::pattern::Spec;
use std::ffi::OsString;
use std::path::Path;

/// A name.
pub const TARGET: Target = Target {
    name: "pattern",
    run,
    words: &[
        "%d",
        "%05d",
        "%%",
        "####",
        "#",
        "@@@",
        "$F4",
        "$F",
        "*",
        "?",
        "/",
        ".",
        "bars",
        "ramp",
        "grey",
        "zoneplate",
        "checker",
        "transparent",
        ":size=",
        ":frames=",
        ":rate=",
        ":format=",
        ":range=",
        ":level=",
        ":square=",
        ":alpha=",
        "65536x65536",
        "yuv420p10",
        "gbrapf32",
        "30000/1001",
        "full",
        "pattern:",
    ],
    seeds: &[
        "plate.%05d.exr",
        "a/b/plate.####.png",
        "x@@@y",
        "shot.$F4.tif",
        "100%%.%d.png",
        "im*ge?.png",
        "ramp:size=64x48:frames=3:format=yuv420p10:range=full",
        "grey:level=0.5:rate=30000/1001:alpha=1/2",
        "checker:square=3",
    ],
};

fn run(data: &[u8]) -> bool {
    let name = os(data.to_vec());
    let mut understood = false;
    match Pattern::parse(&name) {
        Ok(Some(pattern)) => {
            understood = true;
            for number in [0, 7, 1001, -3, i64::MAX, i64::MIN] {
                let file = pattern.file_name(number);
                assert_eq!(pattern.matches(&file), Some(number), "{pattern} takes its own {number}");
                assert_eq!(Path::new(&file).components().count(), 1, "{pattern}: a name, not a path");
            }
            let _ = (pattern.extension(), pattern.to_string(), pattern.folder());
        }
        Ok(None) => {}
        Err(e) => drop(e.to_string()),
    }
    let (glob, text) = data.split_at(data.len() / 2);
    understood |= glob_matches(glob, text);
    assert!(glob_matches(b"*", data));
    if let Ok(text) = std::str::from_utf8(data) {
        match Spec::parse(text.strip_prefix("pattern:").unwrap_or(text), None) {
            Ok(spec) => {
                understood = true;
                assert!(spec.frames >= 1 && spec.format.frame_bytes() > 0, "{spec:?}");
            }
            Err(e) => drop(format!("{e} {e:?}")),
        }
    }
    understood
}

fn os(bytes: Vec<u8>) -> OsString {
    #[cfg(unix)]
    {
        std::os::unix::ffi::OsStringExt::from_vec(bytes)
    }
    #[cfg(not(unix))]
    {
        String::from_utf8_lossy(&bytes).into_owned().into()
    }
}
