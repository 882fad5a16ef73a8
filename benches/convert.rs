//! Conversion of one 1920x1080 picture on one thread, compared with a copy of its bytes. `GRAINFIELD_LEVEL` lowers
//! the level, as in the program. What the working depth costs an 8-bit chain is "yuv420p to yuv420p16" and "yuv420p16
//! to yuv420p, rounded as a chain does".

#![allow(clippy::expect_used)] // a failure ends the bench

#[allow(dead_code)] // this bench makes frames of its own
mod frames;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use frames::bind;
use grainfield_filters::filter::convert::{Convert, retarget};
use grainfield_filters::filter::{Band, Render};
use grainfield_filters::frame::{Depth, Format, Frame, FrameTime, PlaneSet, Scratch};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::simd::{Isa, Level};
use std::hint::black_box;

const PAIRS: [(&str, &str); 14] = [
    ("yuv420p", "gbrp"),
    ("gbrp", "yuv420p"),
    ("yuv420p10", "gbrp10"),
    ("gbrp10", "yuv420p10"),
    ("yuv420p", "gbrp16"),
    ("gbrp16", "yuv420p"),
    ("gbrp16", "yuv444p16"),
    ("yuv420p", "yuv444p"),
    ("yuv420p", "yuv420p16"),
    ("yuv420p16", "yuv420p"),
    ("gbrp", "gbrp16"),
    ("gbrp16", "gbrp"),
    ("gbrp10", "gbrp16"),
    ("yuv420p", "gbrpf32"),
];

fn level() -> Level {
    let named = std::env::var("GRAINFIELD_LEVEL").ok().and_then(|v| v.parse::<Isa>().ok());
    named.and_then(Level::of).unwrap_or_else(Level::best)
}

fn noise(format: Format) -> Frame {
    let mut frame = Frame::new(format);
    let mut x = 1u32;
    let mut next = || {
        x = x.wrapping_mul(1664525).wrapping_add(1013904223);
        x >> 16
    };
    for p in 0..format.planes() {
        for y in 0..format.plane_size(p).1 {
            match format.depth {
                Depth::Bits(8) => frame.row_mut::<u8>(p, y).fill_with(|| next() as u8),
                Depth::Bits(n) => frame.row_mut::<u16>(p, y).fill_with(|| (next() >> (16 - n)) as u16),
                Depth::Float => frame.row_mut::<f32>(p, y).fill_with(|| next() as f32 / 65535.0),
            }
        }
    }
    frame
}

fn conversions(c: &mut Criterion) {
    let mut group = c.benchmark_group(format!("convert 1080p, {}", level()));
    group.throughput(Throughput::Elements(1920 * 1080));
    group.sample_size(20);
    for (from, to) in PAIRS {
        let Ok(format) = Format::from_name(from, 1920, 1080) else { continue };
        let Ok(target) = retarget(&format, to) else { continue };
        let Ok(convert) = Convert::new(&format, &target, level()) else { continue };
        let input = noise(format);
        let mut output = Frame::new(target);
        let mut scratch = Scratch::default();
        group.bench_function(format!("{from} to {to}"), |b| {
            b.iter(|| {
                let mut band = Band {
                    rows: 0..1080,
                    input: Some(input.as_ref()),
                    output: output.as_mut(),
                    writes: PlaneSet::ALL,
                };
                convert.render(&(), &(), &mut band, &mut scratch);
                black_box(&mut output);
            });
        });
    }
    let deep = noise(Format::from_name("yuv420p16", 1920, 1080).expect("a format of this program"));
    let rounding = bind(deep.format(), "dither", &[("bits", "8"), ("mode", "uniform")], level());
    let (mut number, mut scratch) = (0, Scratch::default());
    let mut output = Frame::new(Format { depth: Depth::Bits(8), ..*deep.format() });
    group.bench_function("yuv420p16 to yuv420p, rounded as a chain does", |b| {
        b.iter(|| {
            number += 1;
            let now = rounding.at(&FrameTime::of_frame(number, Ratio::whole(24))).expect("it is never idle");
            let mut band = Band {
                rows: 0..1080,
                input: Some(deep.as_ref()),
                output: output.as_mut(),
                writes: PlaneSet::ALL,
            };
            rounding.render(&now, None, &mut band, &mut scratch);
            black_box(&mut output);
        });
    });
    for bytes in [1920 * 1080 * 3 / 2, 1920 * 1080 * 3, 1920 * 1080 * 6] {
        let (a, mut b) = (vec![1u8; bytes], vec![0u8; bytes]);
        group.bench_function(format!("copy of {bytes} bytes"), |bench| {
            bench.iter(|| black_box(&mut b).copy_from_slice(black_box(&a)));
        });
    }
    group.finish();
}

criterion_group!(benches, conversions);
criterion_main!(benches);
