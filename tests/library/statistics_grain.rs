//! Statistics of film grain: the spectrum of its kernel at every size, a normal distribution, and no correlation
//! between frames or planes. `statistics.rs` measures the white noise from which grain is made.
//!
//! The planes come from the filter `grain` on flat float pictures, so that nothing is rounded or clipped. Neighbouring
//! samples of grain are correlated; "sigma" is that of independent grain with the same kernel.
//!
//! Both generators pass, with one exception: sums along whole rows of `lfsr31` are skewed in grain as they are in
//! noise, for the reason in `statistics.rs`.

use crate::statistics::echo_frames;
use grainfield::analyze::correlation::{Autocorrelation, Transform};
use grainfield::analyze::normal::Histogram;
use grainfield::analyze::peak::{Correlator, Fingerprint, Spare};
use grainfield::analyze::spectrum::{Plan, Spectrum, distance_db};
use grainfield::analyze::{Field, Moments};
use grainfield_filters::chain::{Chain, ChainError, Fields, Options, States, Workspace};
use grainfield_filters::frame::{Depth, Family, Format, Frame, FrameTime};
use grainfield_filters::host::{CurrentThread, Host, NoCache};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::Recipe;
use grainfield_filters::simd::Level;
use std::sync::atomic::AtomicBool;

const GENERATORS: [&str; 2] = ["generator=xs64", "generator=lfsr31"];

/// The filter, bound to pictures of a size.
struct Grain {
    chain: Chain,
    work: Workspace,
    frame: Frame,
}

impl Grain {
    fn new(settings: &str, format: Format) -> Grain {
        let recipe = format!("grain=strength=20:curve=flat:{settings}").parse::<Recipe>().unwrap();
        let options = Options { seed: 1, level: Level::best(), first: 0, last: None, fields: Fields::Frame };
        let chain = Chain::bind::<ChainError>(&recipe.steps, format, &options, |f| Ok(*f)).unwrap();
        Grain { chain, work: Workspace::default(), frame: Frame::new(format) }
    }

    fn gray(settings: &str, width: u32, height: u32) -> Grain {
        Grain::new(settings, Format::new(width, height, Family::Gray, Depth::Float, (0, 0)))
    }

    /// Plane `p` of frame `number` with its mean subtracted.
    fn plane(&mut self, number: i64, p: usize) -> Field {
        let Grain { chain, work, frame } = self;
        let format = *frame.format();
        for p in 0..format.planes() {
            // Some curves add no grain in black and white; the middle gets full grain.
            (0..format.plane_size(p).1).for_each(|y| frame.row_mut::<f32>(p, y).fill(0.5));
        }
        let stop = AtomicBool::new(false);
        let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &stop };
        let at = FrameTime::of_frame(number, Ratio::whole(24));
        chain.run(&at, Ratio::ONE, frame, work, &States::default(), &host).unwrap();
        let mut field = Field::of(frame, p);
        field.centre();
        field
    }
}

fn moments(field: &Field) -> Moments {
    Moments::of(field.data.iter().map(|&v| f64::from(v)))
}

// ---- The spectrum ----

/// The kernels [b a 1 a b] of sizes, at a picture 1920 wide.
const KERNELS: [(f64, f64, f64); 5] =
    [(0.0, 0.0, 0.0), (0.5, 0.10, 0.0), (1.0, 0.21, 0.0), (1.5, 0.31, 0.0), (1.85, 0.5, 0.1)];

fn kernel(size: f64) -> (f64, f64) {
    let above = KERNELS.iter().position(|k| k.0 >= size).unwrap().max(1);
    let (low, high) = (KERNELS[above - 1], KERNELS[above]);
    let part = (size - low.0) / (high.0 - low.0);
    (low.1 + (high.1 - low.1) * part, low.2 + (high.2 - low.2) * part)
}

/// The response to one white sample: [b a 1 a b] times [c 1 c], two of [d 0 1 0 d], two of [e 0 0 0 1 0 0 0 e] and so
/// on. Above size 1.85 the second moment grows with the square of the size; b reaches 0 at size 2.6, and each of c, d,
/// d', e .. takes the rest of the moment, up to 1/2.
fn pulse(size: f64) -> Vec<f64> {
    let spread = |(a, b): (f64, f64)| (2.0 * a + 8.0 * b) / (1.0 + 2.0 * a + 2.0 * b);
    let (a, mut b) = kernel(size.min(1.85));
    let mut left = 0.0;
    if size > 1.85 {
        let want = spread((0.5, 0.1)) * (size / 1.85).powi(2);
        let part = ((size - 1.85) / 0.75).min(1.0);
        b = 0.1 - 0.1 * part;
        left = want - spread((a, b));
    }
    let (mut pulse, mut steps) = (vec![b, a, 1.0, a, b], [1, 2, 2, 4, 4, 8, 8, 16, 16].into_iter());
    while left > 1e-12 {
        let step = steps.next().unwrap();
        let square = (step * step) as f64;
        // A weight w contributes 2w / (1 + 2w) of the squared step.
        let most = square / 2.0;
        let weight = if left < most { left / square / 2.0 / (1.0 - left / square) } else { 0.5 };
        left = (left - most).max(0.0);
        let mut wider = vec![0.0; pulse.len() + 2 * step];
        for (i, v) in pulse.iter().enumerate() {
            for (j, w) in [weight, 1.0, weight].into_iter().enumerate() {
                wider[i + j * step] += v * w;
            }
        }
        pulse = wider;
    }
    pulse
}

/// The power that tiles of 256 with Hann windows measure for such grain along one axis, at k/256 cycles per sample,
/// averaged over the position of the tile; its mean over k is 1.
fn power(pulse: &[f64]) -> Vec<f64> {
    const N: usize = 256;
    let window: Vec<f64> =
        (0..N).map(|i| (std::f64::consts::PI * (i as f64 + 0.5) / N as f64).sin().powi(2)).collect();
    let own = |v: &[f64], lag: usize| v.iter().zip(&v[lag.min(v.len())..]).map(|(a, b)| a * b).sum::<f64>();
    let (all, fade) = (own(pulse, 0), own(&window, 0));
    let terms: Vec<f64> =
        (0..pulse.len()).map(|lag| own(pulse, lag) / all * own(&window, lag) / fade).collect();
    let turn = std::f64::consts::TAU / N as f64;
    let at = |k: usize| {
        let far = terms.iter().enumerate().skip(1);
        terms[0] + far.map(|(lag, t)| 2.0 * t * (turn * (k * lag) as f64).cos()).sum::<f64>()
    };
    (0..=N / 2).map(at).collect()
}

/// A smaller power is below the noise of rounding the field to 16 bits.
const FLOOR: f64 = 1e-4;

/// All methods for sizes: no kernel, three taps, five, and one to four passes before them.
#[test]
fn the_radial_spectrum_is_that_of_the_size() {
    let plan = Plan::new(1920, 1080);
    for generator in GENERATORS {
        for size in [0.0, 0.5, 1.0, 1.6, 2.0, 2.01, 2.8, 4.0, 5.6, 11.0, 16.0] {
            let mut grain = Grain::gray(&format!("{generator}:size={size}"), 1920, 1080);
            let mut spectrum = Spectrum::new(&plan);
            // A frame of coarser grain has fewer grains.
            let frames = if size > 4.0 { 4 } else { 1 };
            for number in 0..frames {
                spectrum.add(&grain.plane(number, 0));
            }
            let power = power(&pulse(size));
            let place = |f: f64| (f.abs() * 256.0).round() as usize;
            let want = spectrum.rings_of(|x, y| power[place(x)] * power[place(y)]);
            // The strength is set for the total deviation, so levels are compared, too.
            let got = spectrum.rings(20.0 * 20.0);
            let (got, want): (Vec<_>, Vec<_>) =
                got.into_iter().zip(want).filter(|(_, want)| want.power > FLOOR).unzip();
            let away = distance_db(&got, &want);
            println!("{generator} size {size}: {away:.4} dB rms over {} rings", got.len());
            assert!(got.len() >= 5 && away < 0.1, "{generator} size {size}: {away} dB rms");
        }
    }
}

// ---- Uniformity ----

/// The sums of the squared differences between neighbours: of each column and the next, and of each row and the next.
fn differences(fields: &[Field]) -> [Vec<f64>; 2] {
    let (width, height) = (fields[0].width, fields[0].height);
    let [mut across, mut down] = [vec![0.0; width - 1], vec![0.0; height - 1]];
    for field in fields {
        for y in 0..height {
            let row = field.row(y);
            for x in 1..width {
                across[x - 1] += f64::from(row[x] - row[x - 1]).powi(2);
            }
            if y > 0 {
                let above = field.row(y - 1);
                down[y - 1] += (0..width).map(|x| f64::from(row[x] - above[x]).powi(2)).sum::<f64>();
            }
        }
    }
    [across, down]
}

/// The ratio of the largest and the smallest mean, by phase of a period.
fn phases(sums: &[f64], period: usize) -> f64 {
    let mean = |phase: usize| {
        let own = sums[phase..].iter().step_by(period);
        own.clone().sum::<f64>() / own.count() as f64
    };
    let means = || (0..period).map(mean);
    means().fold(0.0, f64::max) / means().fold(f64::MAX, f64::min)
}

#[test]
fn strength_and_differences_are_the_same_at_every_sample() {
    let format = Format::new(1920, 1080, Family::Yuv, Depth::Float, (1, 1));
    for size in [0.0, 0.5, 1.0, 1.6, 2.0, 2.01, 2.8, 4.0, 5.6, 11.0] {
        let mut grain = Grain::new(&format!("chroma=1:size={size}"), format);
        for plane in [0, 1] {
            // The number of samples that count as one, because they are correlated.
            let own = |v: &[f64], lag: usize| v.iter().zip(&v[lag..]).map(|(a, b)| a * b).sum::<f64>();
            let pulse = pulse(if plane == 0 { size } else { size / 2.0 });
            let axis =
                (0..pulse.len()).map(|lag| (if lag > 0 { 2.0 } else { 1.0 }) * own(&pulse, lag).powi(2));
            let together = (axis.sum::<f64>() / own(&pulse, 0).powi(2)).powi(2);
            let frames = if size > 5.0 { 6 } else { 2 };
            let fields: Vec<Field> = (0..frames).map(|number| grain.plane(number, plane)).collect();
            let count: f64 = fields.iter().map(|f| f.data.len() as f64).sum();
            let power =
                fields.iter().flat_map(|f| &f.data).map(|&v| f64::from(v) * f64::from(v)).sum::<f64>();
            let away = (power / count).sqrt() / 20.0 - 1.0;
            let chance = 4.0 * (together / 2.0 / count).sqrt();
            assert!(away.abs() < 0.002 + chance, "size {size} plane {plane}: strength off by {away}");
            let sums = differences(&fields);
            let worst = (2..=16).flat_map(|p| sums.each_ref().map(|sums| (p, phases(sums, p))));
            for (period, ratio) in worst {
                let chance = 6.0 * (2.0 * together * period as f64 / count).sqrt();
                assert!(ratio < 1.005 + chance, "size {size} plane {plane}, period {period}: {ratio}");
            }
            println!("size {size} plane {plane}: strength off by {:.3} %", 100.0 * away);
        }
    }
}

// ---- Distribution ----

/// Sums over adjacent boxes, with their mean subtracted. Width 0 is a whole row.
fn boxes(field: &Field, (width, height): (usize, usize)) -> Field {
    let width = if width == 0 { field.width } else { width };
    let mut sums = Field::from_fn(field.width / width, field.height / height, |x, y| {
        let rows = (y * height..(y + 1) * height).flat_map(|y| &field.row(y)[x * width..(x + 1) * width]);
        rows.map(|&v| f64::from(v)).sum::<f64>() as f32
    });
    sums.centre();
    sums
}

/// Skew and kurtosis in deviations of those of normal numbers with the same correlation: the variance of the skew is
/// 6/n times the sum of the third powers of the correlations at all lags, of the kurtosis 24/n times that of the fourth
/// powers (Lomnicki, "Tests for departure from normality in the case of linear stochastic processes", 1961).
fn shape_z(sums: &Field) -> (f64, f64) {
    let moments = moments(sums);
    let mut auto = Autocorrelation::default();
    auto.add(sums, &Transform::default());
    // A lag also stands for its opposite. Small correlations are chance.
    let (mut third, mut fourth) = (1.0, 1.0);
    for lag in auto.lags().filter(|l| l.dx.abs() <= 4 && l.dy <= 4 && l.sigmas.abs() > 4.0) {
        third += 2.0 * lag.value.powi(3);
        fourth += 2.0 * lag.value.powi(4);
    }
    (moments.skew_z(0.0) / third.max(1.0).sqrt(), moments.kurtosis_z(0.0) / fourth.sqrt())
}

#[test]
fn sums_over_boxes_are_bell_shaped() {
    // Luma of 1080p, its chroma, and coarse grain; the sizes of presets.
    let format = Format::new(1920, 1080, Family::Yuv, Depth::Float, (1, 1));
    for generator in GENERATORS {
        for size in [0.4, 1.0, 1.8, 2.8] {
            let mut grain = Grain::new(&format!("{generator}:size={size}"), format);
            for plane in 0..3 {
                let field = grain.plane(0, plane);
                for side in [(8, 8), (64, 64), (0, 1)] {
                    // Rows of lfsr31 are skewed: see the top of the file.
                    if side.0 == 0 && generator == "generator=lfsr31" {
                        continue;
                    }
                    let (skew, kurtosis) = shape_z(&boxes(&field, side));
                    let what = format!("{generator} size {size} plane {plane} boxes {side:?}");
                    println!("{what}: skew {skew:.2}, kurtosis {kurtosis:.2}");
                    assert!(skew.abs() < 4.0 && kurtosis.abs() < 4.0, "{what}: {skew} {kurtosis}");
                }
            }
        }
    }
}

#[test]
fn grain_is_normal() {
    for generator in GENERATORS {
        // Coarser grain has too few grains per frame for such a narrow bound.
        for size in [0.4, 1.0, 1.8] {
            let field = Grain::gray(&format!("{generator}:size={size}"), 1920, 1080).plane(0, 0);
            let mut histogram = Histogram::new(16);
            histogram.add(&field);
            let ks = histogram.ks(&moments(&field));
            println!("{generator} size {size}: KS {ks:.5}");
            assert!(ks < 0.006, "{generator} size {size}: {ks}");
        }
    }
}

// ---- Echoes ----

/// The highest correlation peak of frame 0's plane `p` with each of some frames, in deviations of the correlations
/// at all shifts.
fn echoes(grain: &mut Grain, p: usize, frames: &[i64]) -> f64 {
    let first = grain.plane(0, p);
    let correlator = Correlator::new(first.width, first.height);
    let one = correlator.fingerprint(&first, None);
    let (mut worst, mut pair, mut spare) = (0.0f64, Fingerprint::new(), Spare::default());
    for two in frames.chunks(2) {
        let fields: Vec<Field> = two.iter().map(|&f| grain.plane(f, p)).collect();
        correlator.fingerprint_into(&mut pair, &fields[0], fields.get(1), &mut spare);
        let peaks = correlator.peaks(&one, &pair, &mut spare);
        worst = peaks[..fields.len()].iter().map(|p| p.sigmas()).fold(worst, f64::max);
    }
    worst
}

#[test]
fn grain_has_no_echo() {
    // A quarter of 1080p: sizes are twice those at 1920.
    let frames = echo_frames(960.0 * 540.0);
    for generator in GENERATORS {
        for settings in ["size=2", "size=5.6"] {
            let mut grain = Grain::gray(&format!("{generator}:{settings}"), 960, 540);
            let worst = echoes(&mut grain, 0, &frames);
            println!("{generator} {settings}: {worst:.2} sigma");
            assert!(worst < 6.5, "{generator} {settings}: {worst} sigma");
        }
    }
}

#[test]
fn chroma_has_no_echo() {
    let frames = echo_frames(480.0 * 270.0 * 6.0);
    let format = Format::new(960, 540, Family::Yuv, Depth::Float, (1, 1));
    for generator in GENERATORS {
        for plane in [1, 2] {
            let worst = echoes(&mut Grain::new(&format!("{generator}:size=2"), format), plane, &frames);
            println!("{generator} plane {plane}: {worst:.2} sigma");
            assert!(worst < 6.5, "{generator} plane {plane}: {worst} sigma");
        }
    }
}

#[test]
fn no_frame_or_plane_stands_in_another() {
    // All planes have the same size, so that each can be compared with each.
    let yuv = Format::new(960, 540, Family::Yuv, Depth::Float, (0, 0));
    let rgb = Format::new(960, 540, Family::Rgb, Depth::Float, (0, 0));
    let correlator = Correlator::new(960, 540);
    for generator in GENERATORS {
        for (format, settings) in [(yuv, "size=2"), (yuv, "size=5.6"), (rgb, "size=2:chroma=1")] {
            let mut grain = Grain::new(&format!("{generator}:{settings}"), format);
            let fields: Vec<Field> = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (-1, 0), (1 << 40, 0)]
                .into_iter()
                .map(|(frame, plane)| grain.plane(frame, plane))
                .collect();
            let ones: Vec<Fingerprint> = fields.iter().map(|f| correlator.fingerprint(f, None)).collect();
            let pairs: Vec<Fingerprint> =
                fields.chunks(2).map(|two| correlator.fingerprint(&two[0], two.get(1))).collect();
            let (mut worst, mut spare) = (0.0f64, Spare::default());
            for (i, one) in ones.iter().enumerate() {
                for (j, pair) in pairs.iter().enumerate().skip(i.div_ceil(2)) {
                    for (k, peak) in correlator.peaks(one, pair, &mut spare).into_iter().enumerate() {
                        if 2 * j + k > i {
                            worst = worst.max(peak.sigmas());
                        }
                    }
                }
            }
            println!("{generator} {settings} {:?}: {worst:.2} sigma", format.family);
            assert!(worst < 6.5, "{generator} {settings}: {worst} sigma");
        }
    }
}

/// The exception of lfsr31: sums of whole rows of sixteen frames show it.
#[test]
fn rows_of_lfsr31_are_skewed() {
    let [xs64, lfsr31] = GENERATORS.map(|generator| {
        let mut grain = Grain::gray(&format!("{generator}:size=1"), 1920, 1080);
        let mut rows = Moments::default();
        (0..16).for_each(|frame| rows.merge(&moments(&boxes(&grain.plane(frame, 0), (0, 1)))));
        rows.skew_z(0.0)
    });
    println!("z of the skew {lfsr31:.1} for lfsr31, {xs64:.1} for xs64");
    assert!(lfsr31.abs() > 4.0 && xs64.abs() < 4.0, "{lfsr31} {xs64}");
}

/// The checks find defects: a pattern that repeats, and one that is shared with another plane.
#[test]
fn echoes_are_seen() {
    let mut grain = Grain::gray("size=2:hold=2", 960, 540);
    assert!(echoes(&mut grain, 0, &[2, 3]) < 6.5);
    assert!(echoes(&mut grain, 0, &[1]) > 100.0);
    let mut alike = Grain::gray("size=2:temporal=0.3", 960, 540);
    assert!(echoes(&mut alike, 0, &[1]) > 100.0);
}
