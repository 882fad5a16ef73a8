mod looks;
mod twins;

use super::*;
use crate::filter::State;
use crate::filter::testing::{self, CountingCache};
use crate::frame::{Alpha, Depth, Family, Frame, Primaries};
use crate::host::{CurrentThread, NoCache, StateCache};
use crate::ratio::Ratio;
use crate::settings::{Value, ValueProblem};
use std::sync::atomic::{AtomicBool, Ordering};

fn values(settings: &[(&str, &str)]) -> Values {
    testing::values(&ENTRY, settings)
}

fn small() -> Format {
    Format::new(96, 54, Family::Yuv, Depth::Bits(8), (1, 1))
}

pub(super) fn bound(settings: &[(&str, &str)], format: &Format, level: Level) -> Box<dyn Filter> {
    ENTRY.bind(&values(settings), format, 3, level).unwrap()
}

/// A picture with some contents.
pub(super) fn picture(format: Format) -> Frame {
    let mut frame = Frame::new(format);
    for p in 0..format.planes() {
        let (w, h) = format.plane_size(p);
        for y in 0..h {
            for x in 0..w {
                let v = (x * 7 + y * 13 + p * 50 + (x / 5 % 2) * 60) % 256;
                match format.depth.bytes() {
                    1 => frame.row_mut::<u8>(p, y)[x] = v as u8,
                    2 => frame.row_mut::<u16>(p, y)[x] = (v << (format.depth.bits().unwrap() - 8)) as u16,
                    _ => frame.row_mut::<f32>(p, y)[x] = v as f32 / 255.0,
                }
            }
        }
    }
    frame
}

fn render(
    format: &Format,
    filter: &dyn Filter,
    line: &mut Option<State>,
    n: i64,
    store: &dyn StateCache,
    cuts: &[usize],
) -> Frame {
    render_over(&picture(*format), filter, line, n, store, cuts)
}

fn render_over(
    source: &Frame,
    filter: &dyn Filter,
    line: &mut Option<State>,
    n: i64,
    store: &dyn StateCache,
    cuts: &[usize],
) -> Frame {
    let format = *source.format();
    let at = FrameTime::of_frame(n, Ratio::whole(24));
    let stop = AtomicBool::new(false);
    let host = Host { executor: &CurrentThread, cache: store, stop: &stop };
    let now = filter.at(&at).unwrap();
    let stepped = filter.step(&now, line, &host).unwrap();
    let state = filter.prepare(&now, Some(stepped), &host).unwrap();
    let mut out = Frame::new(format);
    let mut rest = out.as_mut();
    let mut scratch = Scratch::default();
    let mut composite = |band: crate::frame::FrameMut<'_>| {
        let rows = band.plane(0).rows();
        let writes = now.plan.writes;
        let mut band = Band { rows, input: Some(source.as_ref()), output: band, writes };
        filter.render(&now, Some(&state), &mut band, &mut scratch);
    };
    for cut in cuts {
        let (band, below) = rest.split_at_row(*cut);
        composite(band);
        rest = below;
    }
    composite(rest);
    out
}

const RAIN: &[(&str, &str)] = &[("scene", "rain"), ("particles", "500"), ("start", "1")];
const DAM: &[(&str, &str)] = &[("particles", "700")];

#[test]
fn every_order_and_every_store_gives_the_same_frames() {
    for settings in [DAM, RAIN, &[("scene", "fountain"), ("particles", "400")]] {
        let filter = bound(settings, &small(), Level::best());
        let shelf = CountingCache::default();
        let mut line = None;
        let want: Vec<Frame> =
            (0..60).map(|n| render(&small(), &*filter, &mut line, n, &shelf, &[])).collect();
        assert!(want[50] != want[20]);
        let kept = shelf.kept.lock().unwrap().len();
        assert!(kept >= 2, "{kept}");
        // Backwards, with and without kept states; in random order; with one cache and with new ones.
        let cold = CountingCache::default();
        for store in [&shelf as &dyn StateCache, &cold, &NoCache] {
            let mut line = None;
            for n in (0..60).rev().step_by(7).chain([5, 59, 24, 23, 25, 0]) {
                assert!(render(&small(), &*filter, &mut line, n, store, &[]) == want[n as usize], "{n}");
            }
        }
        let before = shelf.found.load(Ordering::Relaxed);
        for n in [59, 30, 47] {
            assert!(render(&small(), &*filter, &mut None, n, &shelf, &[]) == want[n as usize], "{n}");
        }
        assert!(shelf.found.load(Ordering::Relaxed) > before);
        // Damaged states are not accepted.
        for bytes in shelf.kept.lock().unwrap().values_mut() {
            bytes.truncate(bytes.len() - 1);
        }
        assert!(render(&small(), &*filter, &mut None, 50, &shelf, &[]) == want[50]);
        // The kept states of another filter are not used.
        let other = bound(&[("particles", "300"), ("seed", "9")], &small(), Level::best());
        let mut line = None;
        render(&small(), &*other, &mut line, 10, &NoCache, &[]);
        assert!(render(&small(), &*filter, &mut line, 12, &NoCache, &[]) == want[12]);
    }
}

/// Cancels after so many frames.
struct Halt<'a>(&'a AtomicBool, u64);

impl StateCache for Halt<'_> {
    fn get(&self, _: u128) -> Option<Vec<u8>> {
        None
    }
    fn put(&self, _: u128, _: &[u8]) {}
    fn simulating(&self, done: u64, all: u64) {
        assert!(done <= self.1 && all == 90, "{done} of {all}");
        self.0.fetch_or(done == self.1, Ordering::Relaxed);
    }
}

#[test]
fn it_stops_at_once_and_goes_on_from_there() {
    let filter = bound(DAM, &small(), Level::best());
    let (stop, mut line) = (AtomicBool::new(false), None);
    let store = Halt(&stop, 30);
    let host = Host { executor: &CurrentThread, cache: &store, stop: &stop };
    let far = FrameTime::of_frame(90, Ratio::whole(24));
    assert!(matches!(filter.step(&filter.at(&far).unwrap(), &mut line, &host), Err(PrepareError::Cancelled)));
    for n in [31, 30, 2] {
        let want = render(&small(), &*filter, &mut None, n, &NoCache, &[]);
        assert!(render(&small(), &*filter, &mut line, n, &NoCache, &[]) == want, "{n}");
    }
}

#[test]
fn states_of_other_settings_are_not_taken() {
    let slow = [("particles", "300"), ("gravity", "0.1")];
    let shelf = CountingCache::default();
    render(&small(), &*bound(&slow, &small(), Level::best()), &mut None, 30, &shelf, &[]);
    for other in [
        ("gravity", "0.15"),
        ("viscosity", "0.4"),
        ("tension", "0.9"),
        ("seed", "8"),
        ("particles", "310"),
        ("scene", "drop"),
    ] {
        let mut settings = slow.to_vec();
        settings.retain(|(id, _)| *id != other.0);
        settings.push(other);
        let filter = bound(&settings, &small(), Level::best());
        let want = render(&small(), &*filter, &mut None, 30, &NoCache, &[]);
        assert!(render(&small(), &*filter, &mut None, 30, &shelf, &[]) == want, "{other:?}");
    }
}

#[test]
fn a_second_field_is_half_a_frame_later() {
    let filter = bound(DAM, &small(), Level::best());
    let key = |halves: i64| {
        let (frame, time) = (Ratio::new(halves, 2).unwrap(), Ratio::new(halves, 48).unwrap());
        filter.at(&FrameTime { index: halves, frame, time, late: Ratio::ZERO }).unwrap().plan.state
    };
    assert!(key(20) != key(21) && key(21) != key(22) && key(20).is_some());
}

#[test]
fn memory_grows_with_parcels_and_picture() {
    let of =
        |particles: &str, format: &Format| bound(&[("particles", particles)], format, Level::best()).memory();
    let (few, many) = (of("1000", &small()), of("200000", &small()));
    // Each parcel has an entry in the latest frames, one in the packed array, and one by number.
    assert!(many.fixed - few.fixed > 199_000 * (RECENT * size_of::<drops::ParcelPoint>() + 64), "{many:?}");
    let large = Format { width: 1920, height: 1080, ..small() };
    assert!(of("200000", &large).per_frame > 4 * many.per_frame);
}

#[test]
fn levels_and_bands_change_nothing() {
    for name in ["gray", "yuv420p", "yuv422p10", "yuv411p", "gbrp16", "gbrapf32", "yuva444p", "ya8"] {
        let format = Format::from_name(name, 67, 44).unwrap();
        let want = render(&format, &*bound(RAIN, &format, Level::SCALAR), &mut None, 9, &NoCache, &[]);
        assert!(want != picture(format), "{name}");
        for &level in Level::available() {
            let filter = bound(RAIN, &format, level);
            for cuts in [&[][..], &[2, 4, 20, 40], &[16]] {
                assert!(
                    render(&format, &*filter, &mut None, 9, &NoCache, cuts) == want,
                    "{name} {level} {cuts:?}"
                );
            }
        }
    }
}

#[test]
fn where_there_is_no_liquid_the_picture_is_as_it_was() {
    let format = small();
    let filter = bound(&[("scene", "pour"), ("particles", "500")], &format, Level::best());
    assert!(render(&format, &*filter, &mut None, 0, &NoCache, &[]) == picture(format));
    let filter = bound(DAM, &format, Level::best());
    let frame = render(&format, &*filter, &mut None, 1, &NoCache, &[]);
    // The right half has no liquid yet.
    for y in 0..54 {
        assert_eq!(frame.row::<u8>(0, y)[60..], picture(format).row::<u8>(0, y)[60..]);
    }
    assert!(frame.row::<u8>(0, 50)[..30] != picture(format).row::<u8>(0, 50)[..30]);
}

/// Premultiplied and straight pictures look the same; over transparent areas there is only the liquid.
#[test]
fn alpha_is_composited() {
    let base = Format {
        alpha: Alpha::Straight,
        primaries: Primaries::BT709,
        ..Format::from_name("gbrapf32", 64, 48).unwrap()
    };
    let multiplied = Format { alpha: Alpha::Premultiplied, ..base };
    let draw = |format: Format, alpha: f32| {
        let mut source = picture(format);
        for y in 0..48 {
            source.row_mut::<f32>(3, y).fill(alpha);
            if format.alpha == Alpha::Premultiplied {
                for p in 0..3 {
                    source.row_mut::<f32>(p, y).iter_mut().for_each(|v| *v *= alpha);
                }
            }
        }
        let filter = bound(DAM, &format, Level::best());
        let at = FrameTime::of_frame(12, Ratio::whole(24));
        let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &AtomicBool::new(false) };
        let now = filter.at(&at).unwrap();
        let stepped = filter.step(&now, &mut None, &host).unwrap();
        let state = filter.prepare(&now, Some(stepped), &host).unwrap();
        let mut out = Frame::new(format);
        let writes = now.plan.writes;
        let mut band = Band { rows: 0..48, input: Some(source.as_ref()), output: out.as_mut(), writes };
        filter.render(&now, Some(&state), &mut band, &mut Scratch::default());
        out
    };
    for alpha in [0.0, 0.3, 1.0] {
        let (straight, whole) = (draw(base, alpha), draw(multiplied, alpha));
        let mut covered_span = 0;
        for y in 0..48 {
            for x in 0..64 {
                let a = straight.row::<f32>(3, y)[x];
                assert!((a - whole.row::<f32>(3, y)[x]).abs() < 1e-5 && (alpha - 1e-6..=1.0).contains(&a));
                for p in 0..3 {
                    let (s, m) = (straight.row::<f32>(p, y)[x] * a, whole.row::<f32>(p, y)[x]);
                    assert!((s - m).abs() < 1e-4, "{alpha} {p} {x} {y}: {s} {m}");
                }
                covered_span += usize::from(a > alpha + 0.01);
            }
        }
        assert!(alpha == 1.0 || covered_span > 300, "{covered_span}");
    }
}

#[test]
fn invalid_settings_are_refused() {
    let refused = |settings: &[(&str, &str)], format: &Format| match (ENTRY.build)(&values(settings)) {
        Err(e) => e,
        Ok(spec) => spec.bind(format, 1, Level::best()).err().unwrap(),
    };
    let small = small();
    let gravity = ENTRY.settings.iter().find(|s| s.id == "gravity").unwrap();
    let e = gravity.parse("0=1;9=2").unwrap_err();
    assert!(matches!(e.problem, ValueProblem::Fixed), "{e:?}");
    assert_eq!(refused(&[("scene", "shape")], &small).setting, "shape");
    let e = refused(&[("shape", "x.png")], &small);
    assert!(e.setting == "shape" && e.problem.contains("scene=shape"), "{e}");
    assert_eq!(refused(&[("obstacle", "x.png")], &small).setting, "obstacle");
    let e = refused(&[("obstacle", "x.png"), ("obstacle_frame", "3")], &small);
    assert!(e.setting == "obstacle_frame" && e.problem.contains("one of the two"), "{e}");
    let long = Format { width: 2000, height: 20, ..small };
    assert!(refused(&[], &long).problem.contains("crop"));
    let particles = ENTRY.settings.iter().find(|s| s.id == "particles").unwrap();
    assert!(particles.parse("200001").is_err() && particles.parse("10000000000000").is_err());
    let mut dark = values(&[("scene", "shape")]);
    let black = Frame::new(Format::new(8, 8, Family::Gray, Depth::Bits(8), (0, 0)));
    dark.set("shape", Value::Image(ImageAsset::named("b.png").read(black))).unwrap();
    let e = ENTRY.bind(&dark, &small, 1, Level::best()).err().unwrap();
    assert!(e.problem.contains("threshold"), "{e}");
    // Beyond the last frame.
    let filter = bound(DAM, &small, Level::best());
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &AtomicBool::new(false) };
    let far = FrameTime::of_frame(i64::MAX / 1001, Ratio::whole(24));
    assert!(matches!(filter.step(&filter.at(&far).unwrap(), &mut None, &host), Err(PrepareError::Failed(_))));
}

#[test]
fn obstacles_shapes_and_sides_count() {
    let mut half = Frame::new(Format::new(16, 9, Family::Gray, Depth::Bits(8), (0, 0)));
    (5..9).for_each(|y| half.row_mut::<u8>(0, y)[6..10].fill(255));
    let with = |settings: &[(&str, &str)], id: &str| {
        let mut values = values(settings);
        values.set(id, Value::Image(ImageAsset::named("h.png").read(half.clone()))).unwrap();
        ENTRY.bind(&values, &small(), 3, Level::best()).unwrap()
    };
    // Even a small shape has a valid spacing.
    let mut dot = Frame::new(Format::new(30, 30, Family::Gray, Depth::Bits(8), (0, 0)));
    dot.row_mut::<u8>(0, 15)[15] = 255;
    let mut tiny = values(&[("scene", "shape"), ("particles", "200000")]);
    tiny.set("shape", Value::Image(ImageAsset::named("d.png").read(dot))).unwrap();
    let filter = ENTRY.bind(&tiny, &small(), 3, Level::best()).unwrap();
    assert!(render(&small(), &*filter, &mut None, 0, &NoCache, &[]) != picture(small()));
    // A shape is liquid in its bright areas only.
    let filter = with(&[("scene", "shape"), ("particles", "700")], "shape");
    let (first, dry) = (render(&small(), &*filter, &mut None, 0, &NoCache, &[]), picture(small()));
    assert!(first.row::<u8>(0, 42)[40..56] != dry.row::<u8>(0, 42)[40..56]);
    for y in 0..22 {
        assert_eq!(first.row::<u8>(0, y), dry.row::<u8>(0, y), "{y}");
    }
    assert_eq!(first.row::<u8>(0, 42)[..28], dry.row::<u8>(0, 42)[..28]);
    let shown = |filter: &dyn Filter| render(&small(), filter, &mut None, 30, &NoCache, &[]);
    let free = shown(&*bound(DAM, &small(), Level::best()));
    let blocked = shown(&*with(DAM, "obstacle"));
    let dark = shown(&*with(&[("particles", "700"), ("solid", "dark")], "obstacle"));
    let shape = shown(&*with(&[("scene", "shape"), ("particles", "700")], "shape"));
    assert!(free != blocked && blocked != dark && shape != free);
    // There is no liquid inside the obstacle.
    let source = picture(small());
    for y in 38..52 {
        assert_eq!(blocked.row::<u8>(0, y)[42..54], source.row::<u8>(0, y)[42..54], "{y}");
    }
}
