//! How fast the effect filters are, beside a copy of the same planes, and `transform` beside FFmpeg's filters.
//!
//! `cargo bench --bench effects` runs everything; `-- ratios` prints the tables alone. Frames cycle through a working set
//! of 512 MiB (`GRAINFIELD_BENCH_MIB` changes it), so that every one of them comes from memory and not from a cache.
//!
//! Ratios come from a loop of its own in which the rivals take turns, in processor time of this thread, and the least of
//! each is taken: other work on the machine only ever adds. FFmpeg's filters run on one thread; their time is the
//! processor time of `ffmpeg -benchmark` with the filter less that without.

#![allow(clippy::expect_used)] // a bench is a test: what it is given here is right, or it should stop
#![allow(unsafe_code)] // the clock of `timing`

mod timing;

use criterion::{Criterion, Throughput};
use grainfield_filters::catalog::find;
use grainfield_filters::filter::{Band, Filter, Plan, Reach, State};
use grainfield_filters::frame::{Format, FrameMut, FrameRef, Moment, PlaneMut, PlaneRef, Scratch};
use grainfield_filters::lend::{Alone, Host, NoStore};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::settings::Values;
use grainfield_filters::simd::Level;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A title, a filter and what is given.
type Way = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const WAYS: &[Way] = &[
    ("fade to black", "fade", &[("amount", "0.4")]),
    ("fade to red", "fade", &[("amount", "0.4"), ("color", "red")]),
    ("levels, straight", "levels", &[("black", "0.1"), ("white", "0.9")]),
    ("levels, gamma", "levels", &[("gamma", "1.3")]),
    ("color, luma", "color", &[("contrast", "1.2")]),
    ("color, all", "color", &[("saturation", "1.2"), ("hue", "10"), ("temperature", "0.3")]),
    ("vignette", "vignette", &[]),
    ("flicker", "flicker", &[]),
    ("blur sigma 1", "blur", &[("sigma", "1")]),
    ("blur sigma 5", "blur", &[("sigma", "5")]),
    ("blur sigma 30", "blur", &[("sigma", "30")]),
    ("blur line 20", "blur", &[("mode", "directional"), ("angle", "30")]),
    ("transform pan", "transform", &[("pan", "0.0103,0.0207")]),
    ("transform zoom", "transform", &[("zoom", "1.3")]),
    ("transform turn bilinear", "transform", &[("rotate", "10"), ("kernel", "bilinear")]),
    ("transform turn bicubic", "transform", &[("rotate", "10")]),
    ("weave", "weave", &[]),
];

const FRAMES: &[(&str, &str, u32, u32)] = &[
    ("1080p 4:2:0 8", "yuv420p", 1920, 1080),
    ("1080p 4:2:0 10", "yuv420p10", 1920, 1080),
    ("1080p 4:2:0 16", "yuv420p16", 1920, 1080),
    ("1080p RGB float", "gbrpf32", 1920, 1080),
];

/// Frames of one format, handed out in turn.
struct Frames {
    format: Format,
    bytes: Vec<u8>,
    frame: usize,
    next: usize,
}

impl Frames {
    fn new(name: &str, width: u32, height: u32) -> Frames {
        let format = Format::from_name(name, width, height).expect("a format of this file's list");
        let mib = std::env::var("GRAINFIELD_BENCH_MIB").ok().and_then(|s| s.parse().ok()).unwrap_or(512usize);
        let frame = format.frame_bytes().next_multiple_of(64);
        let count = ((mib << 20) / frame).max(4);
        let mut bytes = vec![0; count * frame];
        match format.depth.bytes() {
            1 => bytes.iter_mut().enumerate().for_each(|(i, b)| *b = (16 + (i / 8) % 220) as u8),
            2 => {
                let codes: &mut [u16] = bytemuck::cast_slice_mut(&mut bytes);
                codes.iter_mut().enumerate().for_each(|(i, b)| *b = (64 + (i / 2) % 876) as u16);
            }
            _ => {
                let codes: &mut [f32] = bytemuck::cast_slice_mut(&mut bytes);
                codes.iter_mut().enumerate().for_each(|(i, b)| *b = (i % 1000) as f32 / 1000.0);
            }
        }
        Frames { format, bytes, frame, next: 0 }
    }

    /// A frame, and another that was not touched lately.
    fn pair(&mut self) -> (&mut [u8], &mut [u8]) {
        let count = self.bytes.len() / self.frame;
        self.next = (self.next + 1) % count;
        let other = (self.next + count / 2) % count;
        let (low, high) = (self.next.min(other), self.next.max(other));
        let (a, b) = self.bytes.split_at_mut(high * self.frame);
        let (low_frame, high_frame) = (&mut a[low * self.frame..][..self.frame], &mut b[..self.frame]);
        if self.next == low { (low_frame, high_frame) } else { (high_frame, low_frame) }
    }

    fn copy(&mut self) {
        let (from, to) = self.pair();
        to.copy_from_slice(from);
    }

    fn render(&mut self, filter: &dyn Filter, number: i64, state: &mut Kept, scratch: &mut Scratch) {
        let format = self.format;
        let (to, from) = self.pair();
        let at = Moment::of_frame(number, Ratio::whole(24));
        let plan = filter.plan(&at);
        assert!(plan.active, "an idle filter is not measured");
        state.prepare(filter, &at, &plan);
        let mut rest = &mut *to;
        let planes = [0, 1, 2].map(|p| {
            let (width, height) = format.plane_size(p);
            let stride = width * format.depth.bytes();
            let (plane, after) = core::mem::take(&mut rest).split_at_mut(stride * height);
            rest = after;
            PlaneMut::new(plane, stride, stride, height)
        });
        let mut rest = &*from;
        let sources = [0, 1, 2].map(|p| {
            let (width, height) = format.plane_size(p);
            let stride = width * format.depth.bytes();
            let (plane, after) = rest.split_at(stride * height);
            rest = after;
            PlaneRef::new(plane, stride, stride, height)
        });
        let [y, u, v] = planes;
        let mut output = FrameMut::new(format, [y, u, v, PlaneMut::default()]);
        let [y, u, v] = sources;
        let input =
            (plan.reach != Reach::Same).then(|| FrameRef::new(format, [y, u, v, PlaneRef::default()]));
        // Bands as the chain cuts them.
        let height = format.plane_size(0).1;
        let rows = ((256 << 10) / (format.frame_bytes() / height)).next_multiple_of(2);
        for start in (0..height).step_by(rows) {
            let end = (start + rows).min(height);
            let (output_band, below) = output.split_at_row(end);
            output = below;
            let mut band = Band { rows: start..end, input, output: output_band, writes: plan.writes };
            filter.render(&at, state.0.as_ref().map(|s| &s.1), &mut band, scratch);
        }
    }
}

/// The state of the frame before, as the chain keeps it.
#[derive(Default)]
struct Kept(Option<(u128, State)>);

impl Kept {
    fn prepare(&mut self, filter: &dyn Filter, at: &Moment, plan: &Plan) {
        let Some(key) = plan.state else { return };
        if self.0.as_ref().is_some_and(|s| s.0 == key) {
            return;
        }
        let stop = AtomicBool::new(false);
        let host = Host { spread: &Alone, store: &NoStore, stop: &stop };
        let state = filter.prepare(at, None, &host).expect("nothing stops it");
        self.0 = Some((key, state));
    }
}

fn bind(format: &Format, (_, name, given): Way, level: Level) -> Box<dyn Filter> {
    let entry = find(name).expect("the catalog has it");
    let mut values = Values::new(entry.settings);
    for (id, text) in given {
        let setting = entry.settings.iter().find(|s| s.id == *id).expect("a setting");
        values.set(id, setting.parse(text).expect("a value")).expect("a legal value");
    }
    let spec = (entry.build)(&values).expect("settings that go together");
    spec.bind(format, 1, level).expect("a format that it takes")
}

/// Everything in turn, the least of each, as times memcpy; returns the milliseconds of each way at the best level in
/// the first format.
fn ratios() -> Vec<f64> {
    let rounds = std::env::var("GRAINFIELD_BENCH_ROUNDS").ok().and_then(|s| s.parse().ok()).unwrap_or(15);
    let mut first = Vec::new();
    for &(title, name, width, height) in FRAMES {
        let mut frames = Frames::new(name, width, height);
        let levels: Vec<Level> = Level::available().iter().copied().rev().take(3).collect();
        let heads: Vec<String> = levels.iter().map(|l| format!("{l:>8} ms  x memcpy")).collect();
        println!("\n{title:<26} {}", heads.join(" "));
        let mut rivals = Vec::new();
        for &way in WAYS {
            for &level in &levels {
                rivals.push((bind(&frames.format, way, level), Kept::default(), f64::INFINITY));
            }
        }
        let mut scratch = Scratch::default();
        let mut copy = f64::INFINITY;
        for round in 0..rounds {
            copy = copy.min(timing::time(|| frames.copy()));
            for (filter, kept, best) in &mut rivals {
                let time = timing::time(|| frames.render(&**filter, round, kept, &mut scratch));
                *best = best.min(time);
            }
        }
        println!("{:<26} {:>11.2}", "memcpy", copy * 1e3);
        for (way, group) in WAYS.iter().zip(rivals.chunks(levels.len())) {
            let cells: Vec<String> =
                group.iter().map(|r| format!("{:>11.2} {:>9.2}", r.2 * 1e3, copy / r.2)).collect();
            println!("{:<26} {}", way.0, cells.join(" "));
        }
        if first.is_empty() {
            first = rivals.chunks(levels.len()).map(|g| g[0].2 * 1e3).collect();
        }
    }
    first
}

/// Processor time of FFmpeg for 60 frames, in seconds.
fn ffmpeg(filter: &str) -> Option<f64> {
    let graph = format!("testsrc2=size=1920x1080:rate=25,format=yuv420p,{filter}");
    let out = Command::new("ffmpeg")
        .args([
            "-hide_banner",
            "-nostdin",
            "-benchmark",
            "-filter_threads",
            "1",
            "-filter_complex_threads",
            "1",
        ])
        .args(["-f", "lavfi", "-i", &graph, "-frames:v", "60", "-f", "null", "-"])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    let at = text.find("bench: utime=")? + "bench: utime=".len();
    text[at..].split('s').next()?.parse().ok()
}

/// `transform` beside the filters of FFmpeg that are nearest to it.
fn beside_ffmpeg(ours: &[f64]) {
    let own = |title: &str| WAYS.iter().position(|w| w.0 == title).map_or(f64::NAN, |i| ours[i]);
    println!("\n{:<48} {:>9} {:>9} {:>9}", "1080p 4:2:0 8, one thread", "ms", "ours ms", "x");
    for (filter, way) in [
        ("rotate=angle=PI/18", "transform turn bilinear"),
        ("rotate=angle=PI/18:bilinear=0", "transform turn bilinear"),
        ("perspective=x0=20:y0=40:x1=1900:y1=0:interpolation=linear", "transform turn bilinear"),
        ("perspective=x0=20:y0=40:x1=1900:y1=0:interpolation=cubic", "transform turn bicubic"),
        ("zoompan=zoom=1.3:d=1:s=1920x1080", "transform zoom"),
        ("scale=2496:1404:flags=bicubic,crop=1920:1080", "transform zoom"),
    ] {
        let least = |graph: &str| (0..3).filter_map(|_| ffmpeg(graph)).fold(f64::INFINITY, f64::min);
        let ms = (least(filter) - least("null")) * 1000.0 / 60.0;
        println!("{filter:<60} {ms:>9.2} {:>9.2} {:>9.2}", own(way), ms / own(way));
    }
}

fn benches(c: &mut Criterion) {
    for &(title, name, width, height) in FRAMES {
        let mut frames = Frames::new(name, width, height);
        let mut group = c.benchmark_group(format!("effects/{title}"));
        group
            .sample_size(10)
            .measurement_time(Duration::from_millis(500))
            .warm_up_time(Duration::from_millis(100));
        group.throughput(Throughput::Bytes(frames.frame as u64));
        group.bench_function("memcpy", |b| b.iter(|| frames.copy()));
        for &way in WAYS {
            for &level in Level::available() {
                let filter = bind(&frames.format, way, level);
                let (mut number, mut kept, mut scratch) = (0, Kept::default(), Scratch::default());
                group.bench_function(format!("{} {level}", way.0), |b| {
                    b.iter(|| {
                        number += 1;
                        frames.render(&*filter, number, &mut kept, &mut scratch);
                    });
                });
            }
        }
        group.finish();
    }
}

fn main() {
    let asked = |what: &str| std::env::args().any(|a| a == what);
    let filtered = std::env::args().skip(1).any(|a| !a.starts_with('-'));
    if !asked("ratios") {
        let mut criterion = Criterion::default().configure_from_args();
        benches(&mut criterion);
        criterion.final_summary();
    }
    // `cargo test --benches` only wants to see that it runs.
    if asked("ratios") || (!filtered && asked("--bench")) {
        let ours = ratios();
        beside_ffmpeg(&ours);
    }
}
