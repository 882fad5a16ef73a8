//! Prints golden values as they are in `tests/golden`, on any machine: `golden [--chains N] [--without TEXT]... [NAME]...`.
//!
//! `NAME` is a file of that folder; all by default. `--chains` computes the first few chains of each file alone, and
//! `--without` leaves out those whose text contains something, as both make an emulator faster.
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
use std::cell::Cell;

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
    let (mut names, mut without, mut most) = (Vec::new(), Vec::new(), usize::MAX);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--chains" => most = args.next().and_then(|n| n.parse().ok()).expect("--chains N"),
            "--without" => without.push(args.next().expect("--without TEXT")),
            _ => names.push(arg),
        }
    }
    let sources = golden::Sources::new(frames_of);
    for name in golden::names().filter(|n| names.is_empty() || names.iter().any(|wanted| wanted == n)) {
        println!("== {name} ({})", Level::best());
        let left = Cell::new(most);
        let wanted = |chain: &str| {
            let wanted = left.get() > 0 && !without.iter().any(|text| chain.contains(text));
            left.set(left.get() - usize::from(wanted));
            wanted
        };
        golden::golden(name, Level::best(), &sources, &wanted, &mut |line| println!("{line}"));
    }
}
