//! No two filters draw the same random numbers.

use super::made::{flat, read};
use super::{FRAME, bind, first_difference, frames, step};
use grainfield_filters::catalog::{FILTERS, find};
use grainfield_filters::frame::{FieldOrder, Format, Frame};
use grainfield_filters::host::CurrentThread;
use grainfield_filters::simd::Level;

/// Settings with which every filter that draws random numbers has a visible effect.
const LIVELY: [(&str, &str); 16] = [
    ("atmosphere", "amount=4"),
    ("analog", "jitter=9"),
    ("noise", "strength=20"),
    ("grain", "strength=20:size=0"),
    ("flicker", "amount=0.4"),
    ("weave", "across=0.1:down=0.1"),
    ("dust", "amount=60:size=20"),
    ("scratches", "amount=30:width=9"),
    ("particles", "preset=snow:size=4"),
    ("sprites", ""),
    ("fluid", "scene=rain:particles=300:start=2"),
    ("flock", "agents=400:size=200:start=0"),
    ("sand", "flow=400:size=40:start=1"),
    ("dither", ""),
    ("deband", "threshold=32:range=64"),
    ("av1grain", ""),
];

/// A ramp, so that movement is visible, with a ripple, so that it is not smooth.
fn ramp(format: &Format) -> Frame {
    let mut frame = flat(format);
    for y in 0..format.plane_size(0).1 {
        let row = frame.row_mut::<u16>(0, y);
        (0..).zip(row).for_each(|(x, v): (usize, _)| *v = ((x * 5 + y * 3 + x * y % 3) % 700 + 150) as u16);
    }
    frame
}

#[test]
fn two_equal_filters_in_a_row_draw_different_numbers() {
    let format = Format::from_name("yuv420p10", 130, 70).unwrap();
    let source = ramp(&format);
    for entry in FILTERS.iter().filter(|e| e.settings.iter().any(|s| s.id == "seed")) {
        let (_, text) =
            LIVELY.iter().find(|l| l.0 == entry.name).expect("a new filter that draws goes into LIVELY");
        if entry.name == "dither" {
            continue; // all frames or none: see the next test
        }
        if entry.name == "av1grain" {
            continue; // its table determines the numbers, as for decoders
        }
        let one = step(entry, read(entry, text));
        let mut off = one.clone();
        off.set("enable", "50-").unwrap();
        let [first, second] = [[one.clone(), off.clone()], [off, one]].map(|steps| {
            let chain = bind(&steps, format, Level::best(), None).unwrap();
            let [frame] = frames(&chain, &source, [FRAME], &CurrentThread);
            assert!(first_difference(&frame, &source).is_some(), "{} {text} does nothing", entry.name);
            frame
        });
        assert!(first_difference(&first, &second).is_some(), "{}: both draw the same", entry.name);
        if ["noise", "grain"].contains(&entry.name) {
            let drawn = |made: &Frame| errors(made, |x, y| f64::from(source.row::<u16>(0, y)[x]), 1.0);
            let alike = correlation(&drawn(&first), &drawn(&second));
            assert!(alike.abs() < 0.06, "{}: correlated by {alike}", entry.name);
        }
    }
}

/// The difference of each sample of luma from `before`, which is in codes times `scale`.
fn errors(made: &Frame, before: impl Fn(usize, usize) -> f64, scale: f64) -> Vec<f64> {
    let (width, height) = made.format().plane_size(0);
    let code = |x: usize, y: usize| match made.format().depth.bytes() {
        1 => f64::from(made.row::<u8>(0, y)[x]),
        _ => f64::from(made.row::<u16>(0, y)[x]),
    };
    (0..width * height).map(|i| code(i % width, i / width) * scale - before(i % width, i / width)).collect()
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let sum = |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(a, b)| f(a - ma, b - mb)).sum::<f64>();
    sum(&|a, b| a * b) / (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt()
}

/// A `dither` to more bits than the output has draws other numbers than the chain's final dither.
#[test]
fn dither_and_the_rounding_that_ends_the_chain_draw_different_numbers() {
    let format = Format::from_name("gray16", 322, 181).unwrap();
    let mut source = Frame::new(format);
    for y in 0..181 {
        let row = source.row_mut::<u16>(0, y);
        (0..).zip(row).for_each(|(x, v): (usize, _)| *v = (20_000 + (x * 7 + y * 11) % 9000) as u16);
    }
    let dither = find("dither").unwrap();
    for (mode, seed) in
        ["tpdf", "hp-tpdf", "blue", "uniform"].into_iter().flat_map(|m| [(m, ""), (m, ":seed=5")])
    {
        let steps = [step(dither, read(dither, &format!("bits=10:mode={mode}{seed}")))];
        let made = |bits| {
            let chain = bind(&steps, format, Level::best(), bits).unwrap();
            let [frame] = frames(&chain, &source, [FRAME], &CurrentThread);
            frame
        };
        let (ten, eight) = (made(None), made(Some(8)));
        let first = errors(&ten, |x, y| f64::from(source.row::<u16>(0, y)[x]), 64.0);
        let second = errors(&eight, |x, y| f64::from(ten.row::<u16>(0, y)[x]), 4.0);
        let alike = correlation(&first, &second);
        assert!(alike.abs() < 0.05, "{mode}{seed}: correlated by {alike}");
    }
}

/// Grain and noise with correlation in time are correlated from frame to frame, also in fields, but never between the
/// fields of a frame.
#[test]
fn time_counts_frames_in_fields_too() {
    let format = Format { fields: FieldOrder::TopFirst, ..Format::from_name("gray16", 256, 128).unwrap() };
    let source = flat(&format);
    for (name, text) in
        [("grain", "strength=20:size=0:temporal=0.7"), ("noise", "strength=20:temporal=ar1:correlation=0.7")]
    {
        let entry = find(name).unwrap();
        let chain = bind(&[step(entry, read(entry, text))], format, Level::best(), None).unwrap();
        let [before, after] = frames(&chain, &source, [FRAME, FRAME + 1], &CurrentThread);
        let field = |frame: &Frame, first: usize| -> Vec<f64> {
            let rows = (first..128).step_by(2);
            rows.flat_map(|y| frame.row::<u16>(0, y).iter().map(|v| f64::from(*v)).collect::<Vec<_>>())
                .collect()
        };
        let in_time = correlation(&field(&before, 0), &field(&after, 0));
        assert!((0.62..0.78).contains(&in_time), "{name}: {in_time} from frame to frame");
        for (a, b) in [(&before, &before), (&before, &after), (&after, &before)] {
            let across = correlation(&field(a, 0), &field(b, 1));
            assert!(across.abs() < 0.05, "{name}: {across} from field to field");
        }
    }
}
