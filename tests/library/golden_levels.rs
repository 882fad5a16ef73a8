//! The golden values on every level of this machine; `GRAINFIELD_BLESS=1` writes them.

use crate::golden::{Sources, golden, names};
use crate::video;
use grainfield::source::Slot;
use grainfield_filters::frame::Frame;
use grainfield_filters::simd::Level;
use rayon::prelude::*;

fn frames_of(format: &str) -> [Frame; 2] {
    let mut source = video::open(format!("pattern:zoneplate:size=67x35:frames=4:format={format}"));
    let mut slot = Slot::default();
    let mut all = Vec::new();
    while let Some(stamp) = source.next(&mut slot).unwrap() {
        source.decoder().decode(&stamp, &mut slot).unwrap();
        all.push(slot.frame.clone());
    }
    [all[0].clone(), all[3].clone()]
}

fn text(name: &str, level: Level, sources: &Sources, wanted: &dyn Fn(&str) -> bool) -> String {
    let mut text = String::from("# format | chain | number hash ...\n");
    golden(name, level, sources, wanted, &mut |line| text.extend([&line, "\n"]));
    text
}

/// One file for each filter, so that changes of two filters can be merged.
#[test]
fn values_are_stable() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let names: Vec<&str> = names().collect();
    let file = |name: &str| format!("{folder}/{name}.txt");
    let sources = Sources::new(frames_of);
    if std::env::var_os("GRAINFIELD_BLESS").is_some() {
        names.par_iter().for_each(|name| {
            std::fs::write(file(name), text(name, Level::best(), &sources, &|_| true)).unwrap()
        });
    }
    let runs: Vec<(&str, Level)> =
        names.iter().flat_map(|name| Level::available().iter().map(move |level| (*name, *level))).collect();
    runs.into_par_iter().for_each(|(name, level)| {
        let want = std::fs::read_to_string(file(name))
            .unwrap_or_else(|e| panic!("{name}: {e}; bless the new filter: see the top of golden.rs"));
        // Every chain at the best level, and at one of the others in turn: `walk` and `combinations` compare levels, too.
        let best = level == Level::best();
        let others: Vec<_> = Level::available().iter().filter(|l| **l != Level::best()).collect();
        let got = text(name, level, &sources, &|chain| best || *others[chain.len() % others.len()] == level);
        for line in got.lines() {
            let known = want.lines().any(|l| l == line);
            assert!(known, "level {level}: the output has changed; see the top of golden.rs:\n{line}");
        }
        let lines = [&want, &got].map(|text| text.lines().count());
        assert!(!best || lines[0] == lines[1], "{name}: bless the new lines: see the top of golden.rs");
    });
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(names.iter().any(|n| name == format!("{n}.txt")), "{name} belongs to no filter");
    }
}
