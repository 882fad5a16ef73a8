//! Statistics of noise: a flat spectrum, no correlation, a normal distribution if set, and no echoes. All seeds are
//! fixed, so the figures never change.
//!
//! The planes come from the filter `noise` itself, on float pictures, so that nothing is rounded or clipped;
//! `grainfield-measure` makes the measurements. "Sigma" is 1/sqrt(samples).
//!
//! The tests also show the limits of `lfsr31`, for every layout:
//! - Its words obey w[n] = w[n-28*2^j] ^ w[n-31*2^j], so that triples of positions in a row are dependent. Pairs never
//!   are: spectrum, autocorrelation and cross-peaks are those of white noise. But sums along a row are slightly
//!   skewed, those of whole rows most, for every distribution ([`rows_of_lfsr31_are_skewed`]). Boxes of 8x8 and
//!   64x64 are not.
//! - `sequential` repeats after 2^27 words, and its frames have cross-peaks of 7 to 8 sigma even without a repetition
//!   ([`sequential_echoes`]). `keyed` has neither.

use grainfield::analyze::correlation::{Autocorrelation, Pair, Transform};
use grainfield::analyze::normal::Histogram;
use grainfield::analyze::peak::{Correlator, Fingerprint, Spare};
use grainfield::analyze::spectrum::{Plan, Spectrum, flatness_db};
use grainfield::analyze::{Field, Moments, boxes};
use grainfield_filters::chain::{Chain, ChainError, Fields, Options, States, Workspace};
use grainfield_filters::frame::{Depth, Family, Format, Frame, FrameTime};
use grainfield_filters::host::{CurrentThread, Host, NoCache};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::Recipe;
use grainfield_filters::simd::Level;
use std::sync::atomic::AtomicBool;

/// The two generators.
const GENERATORS: [&str; 2] = ["generator=lfsr31", "generator=xs64"];
/// Every kind of distribution.
const LAWS: [&str; 3] = ["distribution=uniform", "distribution=binomial:samples=4", "distribution=gaussian"];

fn both_with_all_laws() -> impl Iterator<Item = String> {
    GENERATORS.iter().flat_map(|g| LAWS.iter().map(move |l| format!("{g}:{l}")))
}

/// The filter, bound to pictures of a size.
struct Noise {
    chain: Chain,
    work: Workspace,
    frame: Frame,
}

impl Noise {
    fn new(settings: &str, format: Format) -> Noise {
        let recipe = format!("noise=strength=20:{settings}").parse::<Recipe>().unwrap();
        let options = Options { seed: 1, level: Level::best(), first: 0, last: None, fields: Fields::Frame };
        let chain = Chain::bind::<ChainError>(&recipe.steps, format, &options, |f| Ok(*f)).unwrap();
        Noise { chain, work: Workspace::default(), frame: Frame::new(format) }
    }

    fn gray(settings: &str, width: u32, height: u32) -> Noise {
        Noise::new(settings, Format::new(width, height, Family::Gray, Depth::Float, (0, 0)))
    }

    /// 1080p luma.
    fn hd(settings: &str) -> Noise {
        Noise::gray(settings, 1920, 1080)
    }

    fn render(&mut self, number: i64) -> &Frame {
        let format = *self.frame.format();
        for p in 0..format.planes() {
            for y in 0..format.plane_size(p).1 {
                self.frame.row_mut::<f32>(p, y).fill(0.0);
            }
        }
        let stop = AtomicBool::new(false);
        let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &stop };
        let at = FrameTime::of_frame(number, Ratio::whole(24));
        let Noise { chain, work, frame } = self;
        chain.run(&at, Ratio::ONE, frame, work, &States::default(), &host).unwrap();
        frame
    }

    /// A plane of frame `number` with its mean subtracted.
    fn plane(&mut self, number: i64, p: usize) -> Field {
        let mut field = Field::of(self.render(number), p);
        field.centre();
        field
    }
}

fn moments(field: &Field) -> Moments {
    Moments::of(field.data.iter().map(|&v| f64::from(v)))
}

#[test]
fn the_radial_spectrum_is_flat() {
    let plan = Plan::new(1920, 1080);
    for settings in both_with_all_laws() {
        let field = Noise::hd(&settings).plane(0, 0);
        let mut spectrum = Spectrum::new(&plan);
        spectrum.add(&field);
        let flatness = flatness_db(&spectrum.rings(moments(&field).variance()));
        println!("{settings}: flat to {flatness:.4} dB rms");
        assert!(flatness < 0.08, "{settings}: {flatness} dB rms");
    }
}

#[test]
fn the_autocorrelation_is_that_of_white_noise() {
    let transform = Transform::default();
    for settings in both_with_all_laws() {
        let mut auto = Autocorrelation::default();
        auto.add(&Noise::hd(&settings).plane(0, 0), &transform);
        let worst = auto.worst();
        println!("{settings}: {worst:?}");
        assert!(worst.sigmas.abs() < 5.0, "{settings}: {worst:?}");
    }
}

/// The peak of a picture's correlation with another at any shift, in sigmas.
fn sigmas(correlator: &Correlator, value: f64) -> f64 {
    value.abs() * (correlator.samples() as f64).sqrt()
}

#[test]
fn no_frame_or_plane_repeats_another() {
    // 1080p 4:4:4: all planes have the same size, so that each can be compared with each.
    let format = Format::new(1920, 1080, Family::Yuv, Depth::Float, (0, 0));
    let correlator = Correlator::new(1920, 1080);
    for settings in both_with_all_laws() {
        let mut noise = Noise::new(&settings, format);
        let fields: Vec<Field> = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (-1, 2)]
            .into_iter()
            .map(|(frame, plane)| noise.plane(frame, plane))
            .collect();
        let pairs: Vec<Fingerprint> =
            fields.chunks(2).map(|two| correlator.fingerprint(&two[0], two.get(1))).collect();
        let ones: Vec<Fingerprint> = fields[..5].iter().map(|f| correlator.fingerprint(f, None)).collect();
        let (mut worst, mut spare) = (0.0f64, Spare::default());
        for (i, one) in ones.iter().enumerate() {
            // A pair consists of fields 2j and 2j + 1; those up to i have been compared already.
            for (j, pair) in pairs.iter().enumerate().skip(i.div_ceil(2)) {
                for (k, peak) in correlator.peaks(one, pair, &mut spare).into_iter().enumerate() {
                    if 2 * j + k > i {
                        worst = worst.max(sigmas(&correlator, peak.value));
                    }
                }
            }
        }
        println!("{settings}: {worst:.2} sigma");
        assert!(worst < 6.5, "{settings}: {worst} sigma");
    }
}

/// z scores of skew and kurtosis of sums over boxes, relative to independent numbers of the same distribution.
fn box_z(field: &Field, (width, height): (usize, usize)) -> (f64, f64) {
    let sums = boxes::sums(field, width, height);
    let samples = if width == 0 { field.width } else { width * height };
    let (skew, kurtosis) = boxes::expected(&moments(field), samples);
    (sums.skew_z(skew), sums.kurtosis_z(kurtosis))
}

#[test]
fn sums_over_boxes_are_bell_shaped() {
    for settings in both_with_all_laws() {
        let field = Noise::hd(&settings).plane(0, 0);
        // Not for whole rows of lfsr31: see below.
        let rows = settings.contains("xs64");
        for size in boxes::SIZES.into_iter().filter(|s| rows || s.0 > 0) {
            let (skew, kurtosis) = box_z(&field, size);
            println!("{settings} {size:?}: skew {skew:.2}, kurtosis {kurtosis:.2}");
            assert!(skew.abs() < 4.0 && kurtosis.abs() < 4.0, "{settings} {size:?}: {skew} {kurtosis}");
        }
    }
}

#[test]
fn h8_is_normal() {
    for generator in GENERATORS {
        let field = Noise::hd(&format!("{generator}:distribution=gaussian")).plane(0, 0);
        let moments = moments(&field);
        let mut histogram = Histogram::new(16);
        histogram.add(&field);
        let ks = histogram.ks(&moments);
        println!("{generator}: KS {ks:.5}, kurtosis {:.3}", moments.kurtosis());
        assert!(ks < 0.006, "{generator}: {ks}");
        assert!((moments.kurtosis() + 0.15).abs() < 0.02, "{generator}: {}", moments.kurtosis());
    }
}

/// The next frames (`./x soak`: 200 of them), and those that a stream continuing from frame to frame would reach after
/// 2^k words.
pub(crate) fn echo_frames(words: f64) -> Vec<i64> {
    let next = if std::env::var_os("GRAINFIELD_SOAK").is_some() { 200 } else { 40 };
    let far = (21..=63).map(|k| ((k as f64).exp2() / words).round() as i64).filter(|&f| f > next);
    (1..=next).chain(far).collect()
}

/// The highest correlation peak of frame 0 with each of some frames.
fn echoes(noise: &mut Noise, correlator: &Correlator, frames: &[i64]) -> Vec<f64> {
    let one = correlator.fingerprint(&noise.plane(0, 0), None);
    let (mut all, mut pair, mut spare) = (Vec::new(), Fingerprint::new(), Spare::default());
    for two in frames.chunks(2) {
        let fields: Vec<Field> = two.iter().map(|&f| noise.plane(f, 0)).collect();
        correlator.fingerprint_into(&mut pair, &fields[0], fields.get(1), &mut spare);
        let peaks = correlator.peaks(&one, &pair, &mut spare);
        all.extend(peaks[..fields.len()].iter().map(|p| sigmas(correlator, p.value)));
    }
    all
}

fn no_echo(settings: &str) {
    let frames = echo_frames(1920.0 * 1080.0);
    let found = echoes(&mut Noise::hd(settings), &Correlator::new(1920, 1080), &frames);
    assert_eq!(found.len(), frames.len());
    let worst = found.iter().zip(&frames).max_by(|a, b| a.0.total_cmp(b.0)).unwrap();
    println!("{settings}: {worst:?}");
    assert!(*worst.0 < 6.5, "{settings}: {} sigma in frame {}", worst.0, worst.1);
}

#[test]
fn keyed_lfsr31_has_no_echo() {
    no_echo("generator=lfsr31:layout=keyed");
}

#[test]
fn xs64_has_no_echo() {
    no_echo("generator=xs64");
}

/// 2^27 words are 64.7 frames of 1080p: 27 of 100 words of frame 0 repeat in frame 64 and 73 in frame 65, doubled,
/// which is a correlation of 1/2 of the words. In a picture of 2^21 pixels the repetition is at the same pixels, 64
/// frames later.
///
/// Other frames exceed 6.5 sigma, too: the product of two parts of the sequence is another part of it (the
/// shift-and-add property), whose sum is as skewed as that of a row.
#[test]
fn sequential_echoes() {
    let settings = "generator=lfsr31:layout=sequential";
    let correlator = Correlator::new(1920, 1080);
    let frames = [64, 65, 1, 2, 63, 66];
    let found = echoes(&mut Noise::hd(settings), &correlator, &frames);
    println!("1080p, frames {frames:?}: {found:.2?} sigma");
    assert!(found[0] > 30.0 && found[1] > 100.0, "{found:?}");
    assert!(found[2..].iter().all(|&s| (6.5..10.0).contains(&s)), "{found:?}");

    // The filter adds the word as a signed number, for which the doubling is a correlation of -1/4. Flipping the
    // sign bit gives the word itself.
    let on_the_pixels = |settings: &str| {
        let mut noise = Noise::gray(settings, 2048, 1024);
        let half = 20.0 * 3f32.sqrt();
        let mut word = |number| {
            let mut field = Field::of(noise.render(number), 0);
            field.data.iter_mut().for_each(|v| *v += if *v < 0.0 { half } else { -half });
            field.centre();
            field
        };
        let mut pair = Pair::default();
        pair.add(&word(0).data, &word(64).data);
        pair
    };
    let echo = on_the_pixels(settings);
    assert!((echo.value() - 0.5).abs() < 0.002, "{echo:?}");
    let keyed = on_the_pixels("generator=lfsr31:layout=keyed");
    assert!(keyed.sigmas().abs() < 5.0, "{keyed:?}");
}

/// Sixteen frames show the effect, which one hardly does: E[w[n] w[n-28k] w[n-31k]] is not 0, and a row has
/// hundreds of such triples. xs64 has none.
#[test]
fn rows_of_lfsr31_are_skewed() {
    for distribution in LAWS {
        let z = |generator: &str| {
            let mut noise = Noise::hd(&format!("{generator}:{distribution}"));
            let mut rows = Moments::default();
            for frame in 0..16 {
                rows.merge(&boxes::sums(&noise.plane(frame, 0), 0, 1));
            }
            rows.skew_z(0.0)
        };
        let [lfsr31, xs64] = GENERATORS.map(z);
        println!(
            "{distribution}, rows of 16 frames: z of the skew {lfsr31:.1} for lfsr31, {xs64:.1} for xs64"
        );
        assert!(lfsr31.abs() > 4.0 && xs64.abs() < 4.0, "{distribution}: {lfsr31} {xs64}");
    }
}
