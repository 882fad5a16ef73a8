//! The speed of generating and adding noise.
//!
//! `cargo bench --bench noise` runs everything; `-- L1` or `-- "add/1080p u8"` runs a part; `-- ratios` prints the
//! table of ratios only, `-- ratios 1080p,avx2` the lines with all of these words; `-- clip` compares a random frame
//! with the next one, `-- threads` two threads with one. Planes cycle through a working set of 1 GiB
//! (`GRAINFIELD_BENCH_MIB` changes it), so that every plane comes from memory and not from a cache.
//!
//! Ratios come from a separate loop in which the rivals alternate, so that other loads affect all of them equally. They
//! use the best twentieth of the times, since a load on the same core slows computation far more than memory.

#![allow(clippy::expect_used)] // a failure ends the bench

use criterion::{Criterion, Throughput};
use grainfield_filters::catalog::find;
use grainfield_filters::filter::{Band, Filter};
use grainfield_filters::frame::{
    CacheLine, ColorRange, Depth, Format, FrameMut, FrameTime, PlaneMut, PlaneSet, Scratch,
};
use grainfield_filters::noise::lfsr31::{self, Lanes, Lfsr31};
use grainfield_filters::noise::seed::{Layer, mix64};
use grainfield_filters::noise::{CycleStart, Distribution, Layout, Shape, xs64};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::settings::{Value, Values};
use grainfield_filters::simd::Level;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Settings of the `noise` filter to measure: a name and the settings.
type FieldSettings = (&'static str, &'static [(&'static str, &'static str)]);
const WAYS: &[FieldSettings] = &[
    ("uniform", &[]),
    ("gaussian", &[("distribution", "gaussian")]),
    ("binomial 4", &[("distribution", "binomial")]),
    ("xs64 uniform", &[("generator", "xs64")]),
    ("xs64 gaussian", &[("generator", "xs64"), ("distribution", "gaussian")]),
];

const PLANES: &[(&str, &str, u32, u32)] = &[
    ("1080p u8", "gray", 1920, 1080),
    ("1080p u16", "gray10", 1920, 1080),
    ("4K u8", "gray", 3840, 2160),
    ("4K u16", "gray10", 3840, 2160),
];

/// A gibibyte of planes of one format, used in turn.
struct Planes {
    format: Format,
    blocks: Vec<CacheLine>,
    plane: usize,
    next: usize,
}

impl Planes {
    fn new(name: &str, width: u32, height: u32) -> Planes {
        let mib =
            std::env::var("GRAINFIELD_BENCH_MIB").ok().and_then(|s| s.parse().ok()).unwrap_or(1024usize);
        Planes::of_size(name, width, height, mib << 20)
    }

    /// Planes that fill so many bytes.
    fn of_size(name: &str, width: u32, height: u32, bytes: usize) -> Planes {
        let format = Format::from_name(name, width, height).expect("a format of this file's list");
        let format = Format { range: ColorRange::Full, ..format };
        let plane = format.frame_bytes();
        let count = (bytes / plane).max(2);
        // Rows of these sizes are whole cache lines, and are aligned to them as in a frame.
        let mut blocks = vec![CacheLine::ZERO; count * plane / 64];
        bytemuck::cast_slice_mut::<_, u8>(&mut blocks).fill(64);
        Planes { format, blocks, plane, next: 0 }
    }

    fn count(&self) -> usize {
        self.blocks.len() * 64 / self.plane
    }

    fn index(&mut self) -> usize {
        self.next = (self.next + 1) % self.count();
        self.next
    }

    fn plane(&mut self) -> &mut [u8] {
        let i = self.index();
        &mut bytemuck::cast_slice_mut(&mut self.blocks)[i * self.plane..][..self.plane]
    }

    fn copy(&mut self) {
        // From one plane to another that was not used recently.
        let count = self.count();
        let from = self.index();
        let to = (from + count / 2) % count;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.blocks);
        bytes.copy_within(from * self.plane..(from + 1) * self.plane, to * self.plane);
    }

    /// Adds a constant to every sample: the minimum work of a kernel in place, so the upper limit of speed.
    fn constant(&mut self) {
        let (depth, plane, n) = (self.format.depth, self.plane(), black_box(1));
        match depth {
            Depth::Bits(8) => plane.iter_mut().for_each(|x| *x = x.saturating_add(n)),
            _ => {
                let words: &mut [u16] = bytemuck::cast_slice_mut(plane);
                words.iter_mut().for_each(|x| *x = x.saturating_add(n.into()));
            }
        }
    }

    fn noise(&mut self, filter: &dyn Filter, number: i64, scratch: &mut Scratch) {
        let format = self.format;
        let (width, height) = format.plane_size(0);
        let stride = width * format.depth.bytes();
        let plane = PlaneMut::new(self.plane(), stride, stride, height);
        let empty = || PlaneMut::default();
        let output = FrameMut::new(format, [plane, empty(), empty(), empty()]);
        let at = FrameTime::of_frame(number, Ratio::whole(24));
        let now = filter.at(&at).expect("an idle filter is not measured");
        filter.render(
            &now,
            None,
            &mut Band { rows: 0..height, input: None, output, writes: PlaneSet::one(0) },
            scratch,
        );
    }
}

fn bind(format: &Format, given: &[(&str, &str)], level: Level) -> Box<dyn Filter> {
    let entry = find("noise").expect("the catalog has it");
    let mut values = Values::new(entry.settings);
    for (id, word) in given {
        let choices = entry.settings.iter().find(|s| s.id == *id).map(|s| s.kind);
        let Some(grainfield_filters::settings::Kind::Choice(all)) = choices else {
            panic!("{id} is no choice")
        };
        let choice = all.iter().find(|c| c.id == *word).expect("a word of the list");
        values.set(id, Value::Choice(choice.id)).expect("a legal value");
    }
    entry.bind(&values, format, 1, level).expect("settings that go together, and a format that they take")
}

/// Fills a buffer of 16 KiB, which fits the L1 cache.
fn level_one(c: &mut Criterion) {
    let mut group = c.benchmark_group("L1");
    group
        .sample_size(15)
        .measurement_time(Duration::from_millis(400))
        .warm_up_time(Duration::from_millis(100));
    let mut out = vec![0u16; 8192];
    group.throughput(Throughput::Bytes(2 * out.len() as u64));
    let start = Lanes::of([1, 2, 3, 4, 5, 6, 7, 8]);
    group.bench_function("lfsr31 reference", |b| {
        let mut states = [1u32, 2, 3, 4, 5, 6, 7, 8];
        b.iter(|| {
            for step in out.chunks_exact_mut(8) {
                for (state, out) in states.iter_mut().zip(step) {
                    *state = lfsr31::step(*state);
                    *out = *state as u16;
                }
            }
            black_box(&mut out);
        });
    });
    for &level in Level::available() {
        let mut lanes = start;
        group.bench_function(format!("lfsr31 {level}"), |b| {
            b.iter(|| {
                lfsr31::fill(level, &mut lanes, &mut out);
                black_box(&mut out);
            });
        });
    }
    for &level in Level::available() {
        let mut lanes = xs64::Lanes::of_key(1);
        group.bench_function(format!("xs64 {level}"), |b| {
            b.iter(|| {
                xs64::fill(level, &mut lanes, &mut out);
                black_box(&mut out);
            });
        });
    }
    group.finish();

    // Rows in the L1 cache: the cost of seeking, generating and adding without memory.
    let mut group = c.benchmark_group("L1 row");
    group
        .sample_size(15)
        .measurement_time(Duration::from_millis(300))
        .warm_up_time(Duration::from_millis(100));
    for (name, width) in ["gray", "gray10"].into_iter().flat_map(|n| [(n, 1920), (n, 7680)]) {
        let mut planes = Planes::of_size(name, width, 1, 0);
        for &level in Level::available() {
            let filter = bind(&planes.format, &[], level);
            let mut scratch = Scratch::default();
            group.bench_function(format!("{name} {width} {level}"), |b| {
                b.iter(|| planes.noise(&*filter, 1, &mut scratch));
            });
        }
    }
    group.finish();

    // The cost of a row before its first word: seeking.
    let mut group = c.benchmark_group("seek");
    group
        .sample_size(15)
        .measurement_time(Duration::from_millis(300))
        .warm_up_time(Duration::from_millis(100));
    let shape = Shape::new(&[(1920, 1080)], Layout::Keyed, Distribution::UNIFORM).expect("a shape");
    for &level in Level::available() {
        let stream =
            Lfsr31::new(&shape, CycleStart::Seed(1), Layer::BASE, level).expect("a seed is an origin");
        let frame = stream.frame(0);
        let mut y = 0;
        group.bench_function(format!("lfsr31 {level}"), |b| {
            b.iter(|| {
                y = (y + 1) % 1080;
                black_box(frame.lanes(0, y, 0))
            });
        });
        // 32 rows at once; the figure is for all of them.
        let mut states = [0; 32];
        group.bench_function(format!("lfsr31 32 rows {level}"), |b| {
            b.iter(|| {
                y = (y + 32) % 1024;
                frame.states(0, y, &mut states);
                for state in states {
                    black_box(frame.all_lanes(0, state));
                }
            });
        });
    }
    group.finish();
}

/// Noise added to planes in memory, compared with a copy of the plane and with adding a constant.
fn add(c: &mut Criterion) {
    for &(title, name, width, height) in PLANES {
        let mut planes = Planes::new(name, width, height);
        let mut group = c.benchmark_group(format!("add/{title}"));
        group
            .sample_size(10)
            .measurement_time(Duration::from_secs(1))
            .warm_up_time(Duration::from_millis(200));
        group.throughput(Throughput::Bytes(planes.plane as u64));
        group.bench_function("memcpy", |b| b.iter(|| planes.copy()));
        group.bench_function("constant", |b| b.iter(|| planes.constant()));
        for &level in Level::available() {
            for (way, given) in WAYS {
                let filter = bind(&planes.format, given, level);
                let (mut number, mut scratch) = (0, Scratch::default());
                group.bench_function(format!("{way} {level}"), |b| {
                    b.iter(|| {
                        number += 1;
                        planes.noise(&*filter, number, &mut scratch);
                    });
                });
            }
        }
        group.finish();
    }
}

/// What is measured.
enum Contender {
    Copy,
    Constant,
    Noise(Box<dyn Filter>),
}

fn best(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 20]
}

/// The table: all rivals in turn, the best twentieth of each, relative to the ceiling and to memcpy.
fn ratios(words: &[String]) {
    println!("\n{:<10} {:<22} {:>9} {:>11} {:>9}", "plane", "way", "ms", "of ceiling", "x memcpy");
    for &(title, name, width, height) in PLANES {
        let wanted = |way: &str| words.iter().all(|w| format!("{title} {way}").contains(w.as_str()));
        let mut planes = Planes::new(name, width, height);
        let mut scratch = Scratch::default();
        let mut contenders =
            vec![("memcpy".to_owned(), Contender::Copy), ("constant".to_owned(), Contender::Constant)];
        for &level in Level::available() {
            for (way, given) in WAYS {
                let way = format!("{way} {level}");
                if wanted(&way) {
                    contenders.push((way, Contender::Noise(bind(&planes.format, given, level))));
                }
            }
        }
        if contenders.len() == 2 {
            continue;
        }
        let mut times = vec![Vec::new(); contenders.len()];
        let until = Instant::now() + Duration::from_secs(5);
        let mut number = 0;
        while Instant::now() < until {
            for ((_, contender), times) in contenders.iter().zip(&mut times) {
                let start = Instant::now();
                for _ in 0..4 {
                    number += 1;
                    match contender {
                        Contender::Noise(filter) => planes.noise(&**filter, number, &mut scratch),
                        Contender::Constant => planes.constant(),
                        Contender::Copy => planes.copy(),
                    }
                }
                times.push(start.elapsed().as_secs_f64() * 1e3 / 4.0);
            }
        }
        let times: Vec<f64> = times.iter_mut().map(|t| best(t)).collect();
        for ((name, _), ms) in contenders.iter().zip(&times) {
            println!("{title:<10} {name:<22} {ms:>9.4} {:>11.2} {:>9.2}", times[1] / ms, times[0] / ms);
        }
    }
}

/// The number of frames of ten hours at 24 fps.
const CLIP: i64 = 10 * 3600 * 24;

/// A random frame in a clip of ten hours compared with the next one in order: addresses are hashed, so their times
/// should be equal.
fn random_frames() {
    println!(
        "\n{:<10} {:<22} {:>12} {:>12} {:>22}",
        "plane", "way", "in order, ms", "random, ms", "random over in order"
    );
    for &(title, name, width, height) in &PLANES[..2] {
        let mut planes = Planes::new(name, width, height);
        let mut scratch = Scratch::default();
        for (way, given) in &WAYS[..2] {
            let filter = bind(&planes.format, given, Level::best());
            let (mut next, mut anywhere) = (0, 1u64);
            let mut times = [Vec::new(), Vec::new()];
            let until = Instant::now() + Duration::from_secs(3);
            while Instant::now() < until {
                for (random, times) in [false, true].into_iter().zip(&mut times) {
                    let start = Instant::now();
                    for _ in 0..4 {
                        anywhere = mix64(anywhere);
                        next = (next + 1) % CLIP;
                        let number = if random { (anywhere % CLIP as u64) as i64 } else { next };
                        planes.noise(&*filter, number, &mut scratch);
                    }
                    times.push(start.elapsed().as_secs_f64() * 1e3 / 4.0);
                }
            }
            let [ordered, random] = times.each_mut().map(|t| best(t));
            println!("{title:<10} {way:<22} {ordered:>12.4} {random:>12.4} {:>22.3}", random / ordered);
        }
    }
}

/// Two threads, each with separate planes, compared with one, and the same for adding a constant.
fn threads() {
    println!("\n{:<10} {:<22} {:>12} {:>22}", "plane", "way", "two over one", "of the ceiling's gain");
    for &(title, name, width, height) in &PLANES[..2] {
        let mut both = [Planes::new(name, width, height), Planes::new(name, width, height)];
        let format = both[0].format;
        let mut contenders: Vec<(&str, Option<Box<dyn Filter>>)> = vec![("constant", None)];
        for (way, given) in &WAYS[..2] {
            contenders.push((way, Some(bind(&format, given, Level::best()))));
        }
        // Rounds with enough planes that the start of a thread is negligible; one thread and two alternate.
        let round = |planes: &mut [Planes], filter: Option<&dyn Filter>| {
            let start = Instant::now();
            std::thread::scope(|scope| {
                for planes in planes {
                    scope.spawn(move || {
                        let mut scratch = Scratch::default();
                        for number in 0..64 {
                            match filter {
                                Some(filter) => planes.noise(filter, number, &mut scratch),
                                None => planes.constant(),
                            }
                        }
                    });
                }
            });
            start.elapsed().as_secs_f64()
        };
        let mut times = vec![[Vec::new(), Vec::new()]; contenders.len()];
        let until = Instant::now() + Duration::from_secs(4);
        while Instant::now() < until {
            for ((_, filter), [one, two]) in contenders.iter().zip(&mut times) {
                one.push(round(&mut both[..1], filter.as_deref()));
                two.push(round(&mut both, filter.as_deref()));
            }
        }
        let gain = |[one, two]: &mut [Vec<f64>; 2]| 2.0 * best(one) / best(two);
        let gains: Vec<f64> = times.iter_mut().map(gain).collect();
        for ((way, _), gain) in contenders.iter().zip(&gains) {
            println!("{title:<10} {way:<22} {gain:>12.2} {:>22.2}", gain / gains[0]);
        }
    }
}

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let filtered = !words.is_empty();
    let asked = |what: &str| words.iter().any(|a| a == what);
    if asked("clip") || asked("threads") {
        if asked("clip") {
            random_frames();
        }
        if asked("threads") {
            threads();
        }
        return;
    }
    let only_ratios = words.iter().any(|a| a == "ratios");
    words.retain(|a| a != "ratios");
    if !only_ratios {
        let mut criterion = Criterion::default().configure_from_args();
        level_one(&mut criterion);
        add(&mut criterion);
        criterion.final_summary();
    }
    // `cargo test --benches` only checks that it runs.
    if only_ratios || (!filtered && std::env::args().any(|a| a == "--bench")) {
        ratios(&words.iter().flat_map(|w| w.split(',')).map(String::from).collect::<Vec<_>>());
        if words.is_empty() {
            random_frames();
            threads();
        }
    }
}
