//! Dither rounds a slow ramp, and one from a resize, to 8 bits without bands.
//!
//! A band is an area where the error has one sign, which the eye integrates. The tests measure:
//! - the longest run of equal samples in a row,
//! - the mean error of boxes of 16x16 samples, the error at low frequencies,
//! - the correlation of the error with the position of the signal between two codes, which causes bands, and that of
//!   its square, which causes noise that varies with the signal.

use grainfield_filters::chain::{Chain, ChainError, Fields, Options, States, Workspace};
use grainfield_filters::filter::convert::retarget;
use grainfield_filters::frame::{ColorRange, Format, Frame, FrameTime};
use grainfield_filters::host::{CurrentThread, Host, NoCache};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::Recipe;
use grainfield_filters::simd::Level;
use std::sync::atomic::AtomicBool;

const WIDTH: usize = 1280;
const HEIGHT: usize = 256;

/// Values in 8-bit codes, row by row.
struct Picture {
    width: usize,
    height: usize,
    data: Vec<f64>,
}

impl Picture {
    fn from_fn(width: usize, height: usize, f: impl Fn(usize, usize) -> f64) -> Picture {
        let at = |i: usize| f(i % width, i / width);
        Picture { width, height, data: (0..width * height).map(at).collect() }
    }

    fn at(&self, x: i64, y: i64) -> f64 {
        let x = x.clamp(0, self.width as i64 - 1) as usize;
        self.data[y.clamp(0, self.height as i64 - 1) as usize * self.width + x]
    }

    fn rounded(mut self) -> Picture {
        self.data.iter_mut().for_each(|v| *v = v.round());
        self
    }

    /// Bicubic interpolation (Catmull-Rom), treating samples as areas.
    fn bicubic(&self, width: usize, height: usize) -> Picture {
        let weights = |t: f64| {
            let near = |x: f64| 1.5 * x * x * x - 2.5 * x * x + 1.0;
            let far = |x: f64| -0.5 * x * x * x + 2.5 * x * x - 4.0 * x + 2.0;
            [far(1.0 + t), near(t), near(1.0 - t), far(2.0 - t)]
        };
        let place = |i: usize, to: usize, from: usize| {
            let place = (i as f64 + 0.5) * from as f64 / to as f64 - 0.5;
            (place.floor() as i64, weights(place - place.floor()))
        };
        Picture::from_fn(width, height, |x, y| {
            let ((x, across), (y, down)) = (place(x, width, self.width), place(y, height, self.height));
            let row =
                |j: i64| (0..4).map(|i| across[i as usize] * self.at(x + i - 1, y + j - 1)).sum::<f64>();
            (0..4).map(|j| down[j as usize] * row(j)).sum()
        })
    }

    /// The exact mean of the area behind each sample.
    fn area(&self, width: usize, height: usize) -> Picture {
        let parts = |i: usize, to: usize, from: usize| {
            let scale = from as f64 / to as f64;
            let (start, end) = (i as f64 * scale, (i + 1) as f64 * scale);
            let cover = move |j: usize| (end.min((j + 1) as f64) - start.max(j as f64)).max(0.0) / scale;
            (start as usize..(end.ceil() as usize).min(from)).map(move |j| (j as i64, cover(j)))
        };
        Picture::from_fn(width, height, |x, y| {
            let row = |y: i64| parts(x, width, self.width).map(|(x, w)| w * self.at(x, y)).sum::<f64>();
            parts(y, height, self.height).map(|(y, w)| w * row(y)).sum()
        })
    }
}

/// Ramps over five codes, with a slight slope down.
fn sources() -> [(&'static str, Picture); 3] {
    let ramp = |x: f64, y: f64| 100.0 + 5.0 * x + 0.6 * y;
    let part = |i: usize, n: usize| (i as f64 + 0.5) / n as f64;
    [
        ("a ramp", Picture::from_fn(WIDTH, HEIGHT, |x, y| ramp(part(x, WIDTH), part(y, HEIGHT)))),
        // 8 bits: ten samples wide, each band becomes one or two.
        (
            "a small banded ramp made larger",
            Picture::from_fn(10, 4, |x, y| ramp(part(x, 10) * 1.8, part(y, 4)))
                .rounded()
                .bicubic(WIDTH, HEIGHT),
        ),
        // 8 bits: the bands are dithered by a pattern of 4x4, of which area averaging leaves sixteenths of a
        // code.
        (
            "a large stippled ramp made smaller",
            Picture::from_fn(4 * WIDTH, 4 * HEIGHT, |x, y| {
                let bits = [x ^ y, y, (x ^ y) >> 1, y >> 1].map(|b| b & 1);
                let rank = bits.iter().fold(0, |rank, b| 2 * rank + b);
                ramp(part(x / 4, WIDTH), part(y / 4, HEIGHT)) + (rank as f64 - 7.5) / 16.0
            })
            .rounded()
            .area(WIDTH, HEIGHT),
        ),
    ]
}

/// Rounds 16 bits to 8 with the filter: the input in 8-bit codes, and the output.
fn rounded_to_8(source: &Picture, mode: &str, range: ColorRange) -> (Vec<f64>, Vec<u8>) {
    let format =
        Format { range, ..Format::from_name("gray16", source.width as u32, source.height as u32).unwrap() };
    let recipe = format!("dither=mode={mode}").parse::<Recipe>().unwrap();
    let options = Options { seed: 1, level: Level::best(), first: 0, last: None, fields: Fields::Frame };
    let target = |made: &Format| Ok(retarget(made, "gray").unwrap());
    let chain = Chain::bind::<ChainError>(&recipe.steps, format, &options, target).unwrap();
    let unit = if range == ColorRange::Full { 257.0 } else { 256.0 };
    let mut frame = Frame::new(format);
    let mut exact = Vec::new();
    for (y, row) in source.data.chunks(source.width).enumerate() {
        for (out, v) in frame.row_mut::<u16>(0, y).iter_mut().zip(row) {
            *out = (v * unit).round() as u16;
            exact.push(f64::from(*out) / unit);
        }
    }
    let stop = AtomicBool::new(false);
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &stop };
    let at = FrameTime::of_frame(0, Ratio::whole(24));
    chain.run(&at, Ratio::ONE, &mut frame, &mut Workspace::default(), &States::default(), &host).unwrap();
    (exact, (0..source.height).flat_map(|y| frame.row::<u8>(0, y).to_vec()).collect())
}

fn rms(values: &[f64]) -> f64 {
    (values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64).sqrt()
}

/// The largest correlation coefficient with a function of the signal's position between two codes.
fn along_the_codes(signal: &[f64], values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let centred: Vec<f64> = values.iter().map(|v| v - mean).collect();
    let of = |wave: &dyn Fn(f64) -> f64| {
        let wave: Vec<f64> = signal.iter().map(|v| wave(std::f64::consts::TAU * v)).collect();
        let mean = wave.iter().sum::<f64>() / wave.len() as f64;
        let wave: Vec<f64> = wave.iter().map(|v| v - mean).collect();
        let products: f64 = wave.iter().zip(&centred).map(|(a, b)| a * b).sum();
        products / wave.len() as f64 / rms(&wave) / rms(&centred).max(1e-12)
    };
    of(&f64::sin).abs().max(of(&f64::cos).abs())
}

#[derive(Debug)]
struct Found {
    run: usize,
    low: f64,
    error: f64,
    noise: f64,
}

fn measure(source: &Picture, mode: &str, range: ColorRange) -> Found {
    let (exact, out) = rounded_to_8(source, mode, range);
    let errors: Vec<f64> = out.iter().zip(&exact).map(|(&o, e)| f64::from(o) - e).collect();
    let runs = out.chunks(WIDTH).flat_map(|row| row.chunk_by(|a, b| a == b)).map(<[u8]>::len);
    let boxed: Vec<f64> = (0..HEIGHT / 16)
        .flat_map(|y| (0..WIDTH / 16).map(move |x| (x, y)))
        .map(|(x, y)| {
            let rows = (16 * y..16 * y + 16).flat_map(|y| &errors[y * WIDTH + 16 * x..][..16]);
            rows.sum::<f64>() / 256.0
        })
        .collect();
    let squares: Vec<f64> = errors.iter().map(|e| e * e).collect();
    Found {
        run: runs.max().unwrap(),
        low: rms(&boxed),
        error: along_the_codes(&exact, &errors),
        noise: along_the_codes(&exact, &squares),
    }
}

#[test]
fn no_mode_but_none_leaves_bands() {
    for range in [ColorRange::Full, ColorRange::Limited] {
        for (name, source) in sources() {
            // The signal has no steps that 16 bits could not represent.
            let steps = source.data.chunks(WIDTH).flat_map(|r| r.windows(2)).map(|w| (w[1] - w[0]).abs());
            assert!(steps.fold(0.0, f64::max) < 0.2, "{name}");
            let plain = measure(&source, "none", range);
            println!("{name}, none: {plain:?}");
            // Bands of one code's width, with an error up to half a code.
            assert!(plain.run > 150 && plain.low > 0.2 && plain.error > 0.7, "{name}: {plain:?}");
            for mode in ["tpdf", "hp-tpdf", "blue", "uniform"] {
                let found = measure(&source, mode, range);
                println!("{name}, {mode}: {found:?}");
                // The mean of 256 samples of deviation 1/2 has a deviation of 1/32.
                let low = if mode == "tpdf" { 0.034 } else { 0.025 };
                // Around exact codes, which it does not change, uniform noise is sparse: long runs are not bands there,
                // since the mean is that of the signal.
                let short = found.run < 60 && 2 * found.run < plain.run;
                assert!(short || mode == "uniform", "{name} {mode}: {found:?}");
                assert!(found.low < low && 6.0 * found.low < plain.low, "{name} {mode}: {found:?}");
                // 5 sigma of chance: 5/sqrt(327680).
                assert!(found.error < 0.0088, "{name} {mode}: {found:?}");
                // A mode that does not change exact codes has noise that varies with the signal.
                assert!(found.noise < 0.03 || mode == "uniform", "{name} {mode}: {found:?}");
            }
        }
    }
}
