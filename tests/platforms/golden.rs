//! Prints golden values as they are in `tests/golden`, on any machine: `golden [--without CHAIN]... [NAME]...`.
//!
//! `NAME` is a file of that folder; all by default. Chains that take an emulator long can be left out. The environment
//! variable `GRAINFIELD_LEVEL` names a level, as for the program.
#![allow(clippy::unwrap_used, clippy::expect_used)] // as tests do

#[path = "../../src/io/format/pattern/draw.rs"]
mod draw;
#[path = "../library/fixture.rs"]
#[allow(dead_code)] // other tests use the rest
mod fixture;
#[path = "../library/golden.rs"]
mod golden;
#[path = "../../src/io/format/pattern/spec.rs"]
#[allow(unreachable_pub)] // public in its crate
mod spec;

use grainfield_filters::frame::Frame;
use grainfield_filters::simd::Level;

fn frames_of(format: &str) -> [Frame; 2] {
    let spec = spec::Spec::parse(&format!("zoneplate:size=67x35:frames=4:format={format}"), None).unwrap();
    let mut frame = Frame::new(spec.format);
    let drawing = draw::Drawing::new(spec);
    [0, 3].map(|number| {
        drawing.draw(number, &mut frame);
        frame.clone()
    })
}

fn main() {
    let (mut names, mut without) = (Vec::new(), Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--without" => without.push(args.next().expect("--without CHAIN")),
            _ => names.push(arg),
        }
    }
    let sources = golden::Sources::new(frames_of);
    let wanted = |chain: &str| !without.iter().any(|text| text == chain);
    let named = std::env::var("GRAINFIELD_LEVEL").ok().and_then(|name| Level::of(name.parse().unwrap()));
    let level = named.unwrap_or(Level::best());
    for name in golden::names().filter(|n| names.is_empty() || names.iter().any(|name| name == n)) {
        println!("== {name} ({level})");
        golden::golden(name, level, &sources, &wanted, &mut |line| println!("{line}"));
    }
}
