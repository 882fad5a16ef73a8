use super::*;
use crate::frame::{Depth, Family, Frame, PlaneSet};
use crate::host::{CurrentThread, NoCache};
use crate::ratio::Ratio;
use crate::settings::{Settings, Value};
use std::sync::atomic::AtomicBool;

/// Binds a filter; `picture` gets a frame that crumbles.
fn bound(settings: &str, input: &Format) -> SandFilter {
    let mut values = Values::new(ENTRY.settings);
    for (id, text) in settings.split(':').filter_map(|s| s.split_once('=')) {
        let setting = ENTRY.settings.iter().find(|s| s.id == id).unwrap();
        values.set(id, setting.parse(text).unwrap()).unwrap();
    }
    let mut frame = Frame::new(Format { family: Family::Gray, ..*input });
    (0..54).for_each(|y| frame.row_mut::<u8>(0, y).fill(40 + 3 * y as u8));
    values.set("picture_frame", Value::Image(ImageAsset::named("p").read(frame))).unwrap();
    SandSpec::read(&values).bound(input, 3, Level::best()).unwrap()
}

type Track = Option<SimulationTrack<State, Snapshot>>;

/// Frames that are stepped to in this order, and drawn in the opposite order.
fn frames(filter: &SandFilter, input: &Format, track: &mut Track, numbers: &[i64]) -> Vec<Frame> {
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &AtomicBool::new(false) };
    let at = |n: i64| filter.at(&FrameTime::of_frame(n, Ratio::whole(24))).unwrap().1;
    let steps: Vec<_> =
        numbers.iter().map(|n| (at(*n), filter.step(&at(*n), track, &host).unwrap())).collect();
    let draw = |(now, near): (SandAt, SandFrame)| {
        let frame = filter.prepare(&now, near, &host).unwrap();
        let mut out = Frame::new(*input);
        let rows = 0..input.height as usize;
        let mut band = Band { rows, input: None, output: out.as_mut(), writes: PlaneSet::ALL };
        filter.render(&now, &frame, &mut band, &mut Scratch::default());
        out
    };
    let mut out: Vec<Frame> = steps.into_iter().rev().map(draw).collect();
    out.reverse();
    out
}

/// Kept tiles are those that would be drawn: frames in turn, in pairs and alone are equal.
#[test]
fn kept_tiles_are_never_stale() {
    let input = Format::new(200, 54, Family::Yuv, Depth::Bits(8), (1, 1));
    for settings in [
        "size=16:flow=300:start=2:spread=0.5",
        "material=coins:size=60:flow=60:start=2:colour=0=red;9=red;12=blue",
        "material=snow:source=sky:size=30:flow=200:start=2:melt=100",
        "material=picture:source=picture:size=20:duration=1:behind=0=red;9=red;12=blue",
    ] {
        let filter = bound(settings, &input);
        let numbers: Vec<i64> = (0..16).collect();
        let (mut track, mut pairs) = (None, None);
        let alone = numbers.iter().map(|n| frames(&filter, &input, &mut None, &[*n]).remove(0));
        let alone: Vec<Frame> = alone.collect();
        assert!(alone.windows(2).any(|w| w[0] != w[1]));
        for (n, want) in alone.iter().enumerate() {
            let got = frames(&filter, &input, &mut track, &[n as i64]);
            assert!(got[0] == *want, "{settings}: frame {n} in turn");
        }
        for n in numbers.chunks(2) {
            let got = frames(&filter, &input, &mut pairs, n);
            assert!(got == alone[n[0] as usize..][..n.len()], "{settings}: frames {n:?}");
        }
        // Another material and the same grains.
        let other = bound(&format!("{settings}:material=leaves"), &input);
        let want = frames(&other, &input, &mut None, &[15]);
        assert!(frames(&other, &input, &mut track, &[15]) == want, "{settings}: another material");
    }
}

/// A deep heap of small grains comes to rest: each step is short enough for their number.
#[test]
fn deep_heaps_of_small_grains_sleep() {
    let input = Format::new(64, 1000, Family::Yuv, Depth::Bits(8), (1, 1));
    let filter = bound("size=40:flow=4000:spread=1:walls=true:grains=2000", &input);
    let mut state = filter.start().unwrap();
    for step in 0..8 * 24 * filter.clock.frame {
        filter.advance(&mut state, step, &CurrentThread);
    }
    let awake = state.items()[1..].iter().filter(|item| item[5].to_bits() % 256 < 24).count();
    assert!(state.sand.len() == 2000 && awake < 40, "{awake} of {}", state.sand.len());
}
