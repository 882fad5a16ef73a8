//! Drawing of splats: soft discs 3 samples across into 1080p 4:2:0, its parts, beside a copy of the frame and beside
//! tiny-skia drawing the same discs.
//!
//! `cargo bench --bench draw`. All sides of a table run in every round; a figure is the least of the rounds, a ratio
//! the median of the rounds' ratios. Times are this thread's processor time, but for "two threads", which is the
//! clock's.
#![allow(missing_docs)]
#![allow(unsafe_code)] // the clock of this thread

use grainfield_filters::frame::{Format, Frame, PlaneSet, Scratch};
use grainfield_filters::host::{CurrentThread, Executor};
use grainfield_filters::noise::seed::mix64;
use grainfield_filters::particle::draw::{Bins, Blend, BlendSpace, Painter, Shape, Splat, SplatStyle};
use grainfield_filters::simd::Level;
use std::hint::black_box;

mod threads;
mod timing;
use threads::Two;
use timing::{ratio, time};

const WIDTH: u32 = 1920;
const HEIGHT: u32 = 1080;
const ROUNDS: usize = 9;

fn right<T, E: std::fmt::Debug>(made: Result<T, E>) -> T {
    made.unwrap_or_else(|e| panic!("the bench's own settings are right: {e:?}"))
}

/// Discs all over the picture, in colours and opacities of their own.
fn splats(count: usize) -> Vec<Splat> {
    let unit = |n: u64| (n >> 40) as f32 / (1u64 << 24) as f32;
    (0..count as u64)
        .map(|rank| {
            let n = [0, 1, 2, 3].map(|i| mix64(4 * rank + i + 1));
            let splat = Splat::new([unit(n[0]) * WIDTH as f32, unit(n[1]) * HEIGHT as f32], [1.5, 1.5]);
            let colour = [n[2] as u16, (n[2] >> 16) as u16, (n[2] >> 32) as u16];
            Splat { rank, colour, ..splat }.faded(unit(n[3]))
        })
        .collect()
}

fn least(all: &[f64]) -> f64 {
    all.iter().copied().fold(f64::INFINITY, f64::min)
}

fn skia(splats: &[Splat], pixmap: &mut tiny_skia::Pixmap) {
    use tiny_skia::{
        Color, FillRule, GradientStop, Paint, PathBuilder, Point, RadialGradient, SpreadMode, Transform,
    };
    for s in splats {
        let (x, y) = (s.x as f32 / 256.0, s.y as f32 / 256.0);
        let part = |v: u16| f32::from(v) / 65535.0;
        let [r, g, b] = s.colour.map(part);
        let stop = |at: f32, cover: f32| {
            let colour = Color::from_rgba(r, g, b, part(s.opacity) * cover).unwrap_or(Color::BLACK);
            GradientStop::new(at, colour)
        };
        // The profile 1 - 3 t^2 + 2 t^3, by four straight lines.
        let stops = [(0.0, 1.0), (0.25, 0.844), (0.5, 0.5), (0.75, 0.156), (1.0, 0.0)];
        let stops = stops.map(|(at, cover)| stop(at, cover)).to_vec();
        let centre = Point::from_xy(x, y);
        let shader =
            RadialGradient::new(centre, 0.0, centre, 1.5, stops, SpreadMode::Pad, Transform::identity());
        let (Some(shader), Some(path)) = (shader, PathBuilder::from_circle(x, y, 1.5)) else { continue };
        let paint = Paint { shader, anti_alias: true, ..Paint::default() };
        pixmap.fill_path(&path, &paint, FillRule::Winding, Transform::identity(), None);
    }
}

/// The same as solid discs, which is the least that library does for a disc.
fn skia_solid(splats: &[Splat], pixmap: &mut tiny_skia::Pixmap) {
    use tiny_skia::{Color, FillRule, Paint, PathBuilder, Transform};
    for s in splats {
        let part = |v: u16| f32::from(v) / 65535.0;
        let [r, g, b] = s.colour.map(part);
        let mut paint = Paint { anti_alias: true, ..Paint::default() };
        paint.set_color(Color::from_rgba(r, g, b, part(s.opacity)).unwrap_or(Color::BLACK));
        let Some(path) = PathBuilder::from_circle(s.x as f32 / 256.0, s.y as f32 / 256.0, 1.5) else {
            continue;
        };
        pixmap.fill_path(&path, &paint, FillRule::Winding, Transform::identity(), None);
    }
}

fn table(count: usize, level: Level) {
    let format = right(Format::from_name("yuv420p", WIDTH, HEIGHT));
    let style = SplatStyle::new(right(Shape::disc(1.0)), Blend::Over);
    let painter = right(Painter::new(&format, vec![style], BlendSpace::Gamma, level));
    let splats = splats(count);
    let (mut bins, mut scratch) = (Bins::default(), Scratch::default());
    let mut frame = Frame::new(format);
    let copy = Frame::new(format);
    let few = &splats[..count.min(20_000)];
    let mut pixmap = right(tiny_skia::Pixmap::new(WIDTH, HEIGHT).ok_or("no pixmap"));
    let mut t: [Vec<f64>; 6] = Default::default();
    for _ in 0..ROUNDS {
        painter.bin(&splats, &mut bins, &CurrentThread);
        t[0].push(time(|| painter.bin(black_box(&splats), &mut bins, &CurrentThread)));
        t[1].push(time(|| painter.draw(&bins, &mut frame.as_mut(), PlaneSet::ALL, &mut scratch)));
        t[2].push(time(|| {
            for p in 0..3 {
                for y in 0..format.plane_size(p).1 {
                    frame.row_bytes_mut(p, y).copy_from_slice(copy.row::<u8>(p, y));
                }
            }
            black_box(&mut frame);
        }));
        let start = std::time::Instant::now();
        both(&painter, &splats, &mut bins, &mut frame);
        t[3].push(start.elapsed().as_secs_f64());
        let scale = count as f64 / few.len() as f64;
        t[4].push(time(|| skia(few, &mut pixmap)) * scale);
        t[5].push(time(|| skia_solid(few, &mut pixmap)) * scale);
    }
    let ours: Vec<f64> = t[0].iter().zip(&t[1]).map(|(a, b)| a + b).collect();
    let per = |name: &str, v: &[f64]| {
        let s = least(v);
        println!("  {name:<28} {:>9.3} ms  {:>7.1} ns a disc", s * 1e3, s / count as f64 * 1e9);
    };
    println!("{count} soft discs of 3 samples, 1080p 4:2:0, {level}");
    per("bin", &t[0]);
    per("draw", &t[1]);
    per("bin + draw", &ours);
    per("two threads", &t[3]);
    println!("  {:<28} {:>9.1} frames/s", "two threads", 1.0 / least(&t[3]));
    per("copy of the frame", &t[2]);
    per("tiny-skia, gradient", &t[4]);
    per("tiny-skia, solid", &t[5]);
    println!(
        "  tiny-skia's time over ours    {:>9.1} x  (solid {:.1} x)",
        ratio(&t[4], &ours),
        ratio(&t[5], &ours)
    );
}

/// Bins and draws on two threads, in bands as the chain makes them.
fn both(painter: &Painter, splats: &[Splat], bins: &mut Bins, frame: &mut Frame) {
    use std::sync::{Mutex, PoisonError};
    painter.bin(splats, bins, &Two);
    let rows = painter.tile_rows() * 3;
    let mut bands = Vec::new();
    let mut rest = frame.as_mut();
    for start in (rows..HEIGHT as usize).step_by(rows) {
        let (band, below) = rest.split_at_row(start);
        bands.push(Mutex::new(band));
        rest = below;
    }
    bands.push(Mutex::new(rest));
    Two.execute(bands.len(), &|i| {
        let mut band = bands[i].lock().unwrap_or_else(PoisonError::into_inner);
        painter.draw(bins, &mut band, PlaneSet::ALL, &mut Scratch::default());
    });
}

fn main() {
    // Built by `cargo test`, too, where it has nothing to do.
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    for count in [100_000, 1_000_000] {
        table(count, Level::best());
    }
    for &level in Level::available() {
        if level != Level::best() {
            table(100_000, level);
        }
    }
}
