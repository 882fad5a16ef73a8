//! The test harness for filters: pictures, runs over bands and levels, and a comparison with the expected samples in
//! f64.

use super::{Band, Entry, Filter, Reach};
use crate::frame::{Alpha, ColorRange, Depth, Family, Format, Frame, FrameTime, Scratch};
use crate::host::{CurrentThread, Executor, Host, NoCache, StateCache, lock};
use crate::pixel::convert::Code;
use crate::ratio::Ratio;
use crate::settings::{SettingError, Values};
use crate::simd::Level;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Calls tasks from the last to the first, which is as good as any order. The number is the width.
pub(crate) struct Backwards(pub(crate) usize);

impl Executor for Backwards {
    fn execute(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..count).rev().for_each(task);
    }
    fn width(&self) -> usize {
        self.0
    }
}

/// So many threads that take tasks from the last to the first.
pub(crate) struct ThreadsBackwards(pub(crate) usize);

impl Executor for ThreadsBackwards {
    fn execute(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|s| {
            for thread in 0..self.0 {
                s.spawn(move || (0..count).rev().filter(|i| i % self.0 == thread).for_each(task));
            }
        });
    }
    fn width(&self) -> usize {
        self.0
    }
}

/// Stored states in memory, with counts.
#[derive(Default)]
pub(crate) struct CountingCache {
    pub(crate) kept: Mutex<BTreeMap<u128, Vec<u8>>>,
    pub(crate) found: AtomicUsize,
}

impl StateCache for CountingCache {
    fn get(&self, key: u128) -> Option<Vec<u8>> {
        let found = lock(&self.kept).get(&key).cloned();
        self.found.fetch_add(usize::from(found.is_some()), Ordering::Relaxed);
        found
    }
    fn put(&self, key: u128, bytes: &[u8]) {
        lock(&self.kept).insert(key, bytes.to_vec());
    }
}

/// Formats of every kind, odd and tiny sizes.
pub(crate) const FORMATS: &[(&str, u32, u32)] = &[
    ("yuv420p", 67, 35),
    ("yuv420p", 1, 1),
    ("gray", 301, 9),
    ("gray10", 33, 3),
    ("grayf32", 45, 7),
    ("yuv422p10", 70, 21),
    ("yuv411p", 65, 9),
    ("yuv440p", 31, 19),
    ("yuva420p", 34, 18),
    ("yuv444p16", 129, 11),
    ("yuvj420p", 40, 20),
    ("gbrp", 66, 10),
    ("gbrap16", 37, 13),
    ("gbrapf32", 39, 11),
];

pub(crate) fn format(name: &str, width: u32, height: u32) -> Format {
    Format::from_name(name, width, height).unwrap()
}

/// Random codes over the full range; floats from -0.3 to 1.3, some of them not finite.
pub(crate) fn noise(format: Format) -> Frame {
    let mut frame = Frame::new(format);
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as u32
    };
    for p in 0..format.planes() {
        for y in 0..format.plane_size(p).1 {
            match format.depth {
                Depth::Bits(8) => frame.row_mut::<u8>(p, y).iter_mut().for_each(|v| *v = next() as u8),
                Depth::Bits(bits) => {
                    let top = ((1u32 << bits) - 1) as u16;
                    frame.row_mut::<u16>(p, y).iter_mut().for_each(|v| *v = next() as u16 & top);
                }
                Depth::Float => frame.row_mut::<f32>(p, y).iter_mut().for_each(|v| {
                    *v = match next() {
                        n if n.is_multiple_of(97) => f32::NAN,
                        n if n % 97 == 1 => f32::INFINITY,
                        n => n as f32 / 16_777_216.0 * 1.6 - 0.3,
                    }
                }),
            }
        }
    }
    frame
}

pub(crate) fn bind(entry: &Entry, given: &[(&str, &str)], format: &Format, level: Level) -> Box<dyn Filter> {
    try_bind(entry, given, format, level).unwrap()
}

pub(crate) fn try_bind(
    entry: &Entry,
    given: &[(&str, &str)],
    format: &Format,
    level: Level,
) -> Result<Box<dyn Filter>, SettingError> {
    let mut values = values(entry, given);
    values.resolve(0, Some(99)).unwrap();
    entry.bind(&values, format, 42, level)
}

pub(crate) fn values(entry: &Entry, given: &[(&str, &str)]) -> Values {
    let mut values = Values::new(entry.settings);
    for (id, text) in given {
        let setting = entry.settings.iter().find(|s| s.id == *id).unwrap_or_else(|| panic!("{id}"));
        values.set(id, setting.parse(text).unwrap()).unwrap();
    }
    values
}

pub(crate) fn frame_time(number: i64) -> FrameTime {
    FrameTime::of_frame(number, Ratio::whole(24))
}

/// Runs a frame in bands that are split before the given luma rows.
pub(crate) fn run(filter: &dyn Filter, source: &Frame, number: i64, cuts: &[usize]) -> Frame {
    run_to(filter, source, source.clone(), number, cuts)
}

/// The same into a frame of the filter's output format.
pub(crate) fn run_to(
    filter: &dyn Filter,
    source: &Frame,
    mut out: Frame,
    number: i64,
    cuts: &[usize],
) -> Frame {
    let at = frame_time(number);
    let Some(now) = filter.at(&at) else { return out };
    let plan = now.plan;
    let stop = AtomicBool::new(false);
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &stop };
    let state = plan.state.map(|_| filter.prepare(&now, None, &host).unwrap());
    let mut scratch = Scratch::default();
    let height = out.format().plane_size(0).1;
    let mut rest = out.as_mut();
    let mut first = 0usize;
    for &cut in cuts.iter().filter(|&&c| c < height).chain([&height]) {
        let (mut output, below) = rest.split_at_row(cut);
        // Only the rows that the filter declares to read, in whole chroma blocks.
        let whole = height.max(source.format().plane_size(0).1);
        let reach = if let Reach::Rows(rows) = plan.reach { rows as usize } else { whole };
        let mut near = source.clone();
        let (_, rest_of) = near.as_mut().split_at_row(first.saturating_sub(reach) / 4 * 4);
        let (near, _) = rest_of.split_at_row((cut + reach).next_multiple_of(4));
        let input = (plan.reach != Reach::InPlace).then(|| near.as_ref());
        let mut band = Band { rows: first..cut, input, output: output.reborrow(), writes: plan.writes };
        filter.render(&now, state.as_ref(), &mut band, &mut scratch);
        (rest, first) = (below, cut);
    }
    assert!(scratch.bytes() <= filter.memory().per_frame, "{} bytes of scratch", scratch.bytes());
    out
}

/// A sample as a number.
pub(crate) fn at(frame: &Frame, p: usize, x: usize, y: usize) -> f64 {
    match frame.format().depth {
        Depth::Bits(8) => frame.row::<u8>(p, y)[x].into(),
        Depth::Bits(_) => frame.row::<u16>(p, y)[x].into(),
        Depth::Float => frame.row::<f32>(p, y)[x].into(),
    }
}

/// Code of nominal 0, and number of codes in a nominal 1, as the standards define them.
pub(crate) fn zero_span(format: &Format, p: usize) -> (f64, f64) {
    let Depth::Bits(bits) = format.depth else { return (0.0, 1.0) };
    let unit = f64::from(1u32 << (bits - 8));
    let top = 256.0 * unit - 1.0;
    let limited = match format.range {
        ColorRange::Unspecified => format.family != Family::Rgb,
        range => range == ColorRange::Limited,
    };
    match (format.is_chroma(p), limited && format.alpha_plane() != Some(p)) {
        (true, true) => (128.0 * unit, 224.0 * unit),
        (true, false) => (128.0 * unit, top),
        (false, true) => (16.0 * unit, 219.0 * unit),
        (false, false) => (0.0, top),
    }
}

/// Runs all formats, levels and bands. All levels and bands must give the same result, and every sample must be
/// within the tolerance of `reference(frame, plane, x, y)`, which returns value and tolerance, or nothing if the
/// sample must not change.
pub(crate) fn compare(
    entry: &Entry,
    given: &[(&str, &str)],
    number: i64,
    reference: impl Fn(&Frame, usize, usize, usize) -> Option<(f64, f64)>,
) {
    for &(name, width, height) in FORMATS {
        let format = format(name, width, height);
        let source = noise(format);
        let want = run(&*bind(entry, given, &format, Level::SCALAR), &source, number, &[]);
        for p in 0..format.planes() {
            let (w, h) = format.plane_size(p);
            for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                let (was, is) = (at(&source, p, x, y), at(&want, p, x, y));
                match reference(&source, p, x, y) {
                    None => {
                        assert!(was == is || was.is_nan() && is.is_nan(), "{name} {p} {x},{y}: {was} {is}")
                    }
                    Some((exact, by)) => assert!(
                        (is - exact).abs() <= by
                            || exact == is
                            || by == f64::INFINITY
                            || exact.is_nan() && is.is_nan(),
                        "{name} {given:?} plane {p} at {x},{y}: {was} became {is}, not {exact}"
                    ),
                }
            }
        }
        for &level in Level::available() {
            for cuts in [&[][..], &[4, 8, 16]] {
                let got = run(&*bind(entry, given, &format, level), &source, number, cuts);
                assert!(got == want, "{name} {given:?} {level} {cuts:?}");
            }
        }
    }
}

/// The mean of a plane's nominal values over the area of a sample of plane `p`.
fn mean(frame: &Frame, of: usize, p: usize, x: usize, y: usize) -> f64 {
    let f = frame.format();
    let ((sx, sy), (w, h), (zero, span)) = (f.plane_subsampling(p), f.plane_size(of), zero_span(f, of));
    let (sx, sy) = if f.is_chroma(of) { (0, 0) } else { (sx, sy) };
    let rows = (y << sy..(y + 1) << sy).flat_map(|y| (x << sx..(x + 1) << sx).map(move |x| (x, y)));
    let sum: f64 = rows.map(|(x, y)| (at(frame, of, x.min(w - 1), y.min(h - 1)) - zero) / span).sum();
    sum / f64::from(1u32 << (sx + sy))
}

/// Runs premultiplied formats of every kind, levels and bands. Every sample must be within `by` (for integers, in
/// codes) of the nominal value `of(format, plane, values, alpha)`, or unchanged if that is `None` or not finite.
/// `values` are the premultiplied values of the first three planes at the position of the sample, or 0 for planes that
/// it does not depend on.
pub(crate) fn compare_premultiplied(
    entry: &Entry,
    given: &[(&str, &str)],
    by: f64,
    of: impl Fn(&Format, usize, [f64; 3], f64) -> Option<f64>,
) {
    let names = ["gbrap", "gbrap16", "gbrapf32", "yuva420p", "yuva444p10", "yuva422p12", "ya8", "ya16"];
    for (name, full) in names.into_iter().flat_map(|name| [(name, false), (name, true)]) {
        let range = if full { ColorRange::Full } else { ColorRange::Limited };
        let f = Format { alpha: Alpha::Premultiplied, range, ..format(name, 37, 14) };
        let mut source = noise(f);
        let alpha = f.planes() - 1;
        // Blocks of alpha 0, low, half and full, and random values below them.
        for (x, y) in (0..8).flat_map(|y| (0..37).map(move |x| (x, y))) {
            let a = [0.0, 0.1, 0.5, 1.0][(x / 2 + y / 2) % 4] * zero_span(&f, alpha).1;
            match f.depth {
                Depth::Bits(8) => source.row_mut::<u8>(alpha, y)[x] = a as u8,
                Depth::Bits(_) => source.row_mut::<u16>(alpha, y)[x] = a as u16,
                Depth::Float => source.row_mut::<f32>(alpha, y)[x] = a as f32,
            }
        }
        let want = run(&*bind(entry, given, &f, Level::SCALAR), &source, 0, &[]);
        for p in f.color_planes().iter() {
            let ((w, h), (zero, span)) = (f.plane_size(p), zero_span(&f, p));
            for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                let (was, is) = (at(&source, p, x, y), at(&want, p, x, y));
                let sees = |q: usize| q < alpha && (q == p || p > 0 || f.is_rgb());
                let values = [0, 1, 2]
                    .map(|q| if sees(q) { mean(&source, q, if q == p { q } else { p }, x, y) } else { 0.0 });
                let value = of(&f, p, values, mean(&source, alpha, p, x, y));
                let ok = match value.filter(|v| v.is_finite() && was.is_finite()) {
                    None => was == is || was.is_nan() && is.is_nan(),
                    Some(v) if f.depth == Depth::Float => (is - v).abs() <= 1e-5 * (1.0 + v.abs()),
                    Some(v) => {
                        let code = (zero + v * span).clamp(0.0, f64::from(f.codes().1));
                        (is - code).abs() <= by
                    }
                };
                assert!(
                    ok,
                    "{name} {given:?} plane {p} at {x},{y}: {was} became {is}, not {value:?} ({values:?})"
                );
            }
        }
        for (level, cuts) in Level::available().iter().flat_map(|l| [(*l, &[][..]), (*l, &[4, 8])]) {
            let got = run(&*bind(entry, given, &f, level), &source, 0, cuts);
            assert!(got == want, "{name} {given:?} {level} {cuts:?}");
        }
    }
}

#[test]
fn codes_are_the_standards() {
    for &(name, width, height) in FORMATS {
        let f = format(name, width, height);
        for p in 0..f.planes() {
            let c = Code::of(&f, p);
            assert_eq!((f64::from(c.zero), f64::from(c.span)), zero_span(&f, p), "{name} {p}");
        }
    }
}

/// The ratio of the largest and the smallest variance of the differences of neighbours, by phase in a period: 1 without
/// a lattice.
pub(crate) fn lattice(n: &[Vec<f64>], period: usize) -> f64 {
    let mut ratio = 1.0f64;
    for down in [false, true] {
        let mut sums = vec![(0.0, 0.0); period];
        let (height, width) = (n.len(), n[0].len());
        for y in 0..height - usize::from(down) {
            for x in 0..width - usize::from(!down) {
                let d = if down { n[y + 1][x] } else { n[y][x + 1] } - n[y][x];
                let sum = &mut sums[if down { y } else { x } % period];
                *sum = (sum.0 + d * d, sum.1 + 1.0);
            }
        }
        let mean = sums.iter().map(|s| s.0 / s.1);
        ratio = ratio.max(mean.clone().fold(0.0, f64::max) / mean.fold(f64::MAX, f64::min));
    }
    ratio
}
