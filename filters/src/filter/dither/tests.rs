//! Tests the filter, and chains that end with it.

use super::*;
use crate::frame::{Alpha, ColorRange, Frame};
use crate::ratio::Ratio;

fn format(name: &str, width: u32, height: u32, range: ColorRange) -> Format {
    Format { range, ..Format::from_name(name, width, height).unwrap() }
}

/// A slow ramp in 16 bits: 20 8-bit codes over the width.
fn ramp(format: Format) -> Frame {
    let mut frame = Frame::new(format);
    let bits = format.depth.bits().unwrap();
    for p in 0..format.planes() {
        let (w, h) = format.plane_size(p);
        for y in 0..h {
            let row = frame.row_mut::<u16>(p, y);
            (0..).zip(row).for_each(|(x, v): (usize, _)| {
                *v = ((100 * 256 + x * 20 * 256 / w + 13 * p) >> (16 - bits)) as u16
            });
        }
    }
    frame
}

fn dithered(source: &Frame, bits: u8, mode: Mode, number: i64, level: Level, cuts: &[usize]) -> Frame {
    let to = Format { depth: Depth::Bits(bits), ..*source.format() };
    let dither = Dither::new(source.format(), &to, mode, 42, level).unwrap();
    let mut out = Frame::new(to);
    let mut scratch = Scratch::default();
    let height = to.plane_size(0).1;
    let at = FrameTime::of_frame(number, Ratio::whole(24));
    let mut rest = out.as_mut();
    let mut first = 0;
    for &cut in cuts.iter().chain([&height]) {
        let (mut output, below) = rest.split_at_row(cut);
        let (plan, now) = dither.at(&at).unwrap();
        let writes = plan.writes;
        let mut band =
            Band { rows: first..cut, input: Some(source.as_ref()), output: output.reborrow(), writes };
        dither.render(&now, &(), &mut band, &mut scratch);
        (rest, first) = (below, cut);
    }
    assert!(scratch.bytes() <= dither.memory().per_frame);
    out
}

const MODES: [Mode; 5] = [Mode::Tpdf, Mode::HighPass, Mode::Blue, Mode::Uniform, Mode::None];

#[test]
fn levels_and_bands_agree_and_alpha_is_plain() {
    for name in ["yuv420p16", "gbrap16", "gray12", "yuv422p10"] {
        let format = format(name, 301, 23, ColorRange::Unspecified);
        let source = ramp(format);
        for mode in MODES {
            for bits in [8, 9] {
                let want = dithered(&source, bits, mode, 5, Level::SCALAR, &[]);
                for &level in Level::available() {
                    assert!(dithered(&source, bits, mode, 5, level, &[2, 8, 20]) == want, "{name} {mode:?}");
                }
                let plain = dithered(&source, bits, Mode::None, 5, Level::best(), &[]);
                for p in 0..format.planes() {
                    let same = (0..format.plane_size(p).1)
                        .all(|y| want.plane(p).row_bytes(y) == plain.plane(p).row_bytes(y));
                    assert_eq!(
                        same,
                        mode == Mode::None || format.alpha_plane() == Some(p),
                        "{name} {mode:?} {p}"
                    );
                }
            }
        }
    }
    assert_ne!(format("gbrap16", 8, 8, ColorRange::Full).alpha, Alpha::None);
}

#[test]
fn frames_differ() {
    let source = ramp(format("gray16", 128, 64, ColorRange::Full));
    for mode in [Mode::Tpdf, Mode::HighPass, Mode::Blue, Mode::Uniform] {
        let show = |n| dithered(&source, 8, mode, n, Level::best(), &[]);
        assert!(show(0) == show(0) && show(0) != show(1));
    }
}

/// The error of the 8-bit ramp, in codes, row by row.
fn errors(range: ColorRange, mode: Mode) -> Vec<Vec<f64>> {
    let source = ramp(format("gray16", 1024, 256, range));
    let out = dithered(&source, 8, mode, 3, Level::best(), &[]);
    let per = if range == ColorRange::Full { 257.0 } else { 256.0 };
    (0..256)
        .map(|y| {
            let pairs = out.row::<u8>(0, y).iter().zip(source.row::<u16>(0, y));
            pairs.map(|(&o, &v)| f64::from(o) - f64::from(v) / per).collect()
        })
        .collect()
}

/// The mean of each column over all rows: the visible part of the bands.
fn band(errors: &[Vec<f64>]) -> f64 {
    let columns = errors[0].len();
    // Average neighbouring columns, too.
    let mean = |x: usize| {
        let sum: f64 = errors.iter().map(|row| row[x..x + 16].iter().sum::<f64>()).sum();
        sum / (16.0 * errors.len() as f64)
    };
    let all: Vec<f64> = (0..columns - 16).step_by(16).map(mean).collect();
    (all.iter().map(|m| m * m).sum::<f64>() / all.len() as f64).sqrt()
}

#[test]
fn a_ramp_has_no_bands_and_its_error_is_the_same_everywhere() {
    for range in [ColorRange::Full, ColorRange::Limited] {
        // Plain rounding gives whole bands with errors up to half a code.
        assert!(band(&errors(range, Mode::None)) > 0.15);
        assert!(band(&errors(range, Mode::Uniform)) < 0.02);
        for mode in [Mode::Tpdf, Mode::HighPass, Mode::Blue] {
            let errors = errors(range, mode);
            assert!(band(&errors) < 0.02, "{mode:?} {}", band(&errors));
            // The variance is 1/12 of rounding and 1/6 of the noise, independent of the position between two
            // codes.
            for start in (0..1024).step_by(13).take(70) {
                let part: Vec<f64> = errors.iter().flat_map(|r| r[start..start + 13].to_vec()).collect();
                let mean = part.iter().sum::<f64>() / part.len() as f64;
                let var = part.iter().map(|e| (e - mean) * (e - mean)).sum::<f64>() / part.len() as f64;
                // Neighbours are correlated and the mask repeats, so there are fewer independent samples.
                let bound = if mode == Mode::Tpdf { 0.025 } else { 0.04 };
                assert!((var - 0.25).abs() < bound, "{mode:?} at {start}: {var}");
            }
        }
    }
}

/// The mean power of errors below an eighth of the highest frequency, along rows, in codes squared.
fn low(errors: &[Vec<f64>]) -> f64 {
    const N: usize = 256;
    let (mut sum, mut count) = (0.0, 0.0);
    for row in errors.iter().step_by(4) {
        for part in row.chunks_exact(N) {
            for k in 1..N / 16 {
                let w = 2.0 * core::f64::consts::PI * k as f64 / N as f64;
                let (mut re, mut im) = (0.0, 0.0);
                for (x, e) in part.iter().enumerate() {
                    re += e * libm::cos(w * x as f64);
                    im += e * libm::sin(w * x as f64);
                }
                sum += (re * re + im * im) / N as f64;
                count += 1.0;
            }
        }
    }
    sum / count
}

#[test]
fn the_error_of_high_pass_and_blue_is_less_at_low_frequencies() {
    let white = low(&errors(ColorRange::Full, Mode::Tpdf));
    assert!((white - 0.25).abs() < 0.02, "{white}");
    // Half of the noise is high-frequency along rows, half along columns. The gain along one direction over all rows
    // is smaller than in the corner where both frequencies are low, but it is the same for both directions.
    let high_pass = errors(ColorRange::Full, Mode::HighPass);
    let turned: Vec<Vec<f64>> = (0..1024).map(|x| high_pass.iter().map(|row| row[x]).collect()).collect();
    let [along, down] = [low(&high_pass), low(&turned)].map(|p| 10.0 * libm::log10(p / white));
    assert!((along - down).abs() < 0.2, "{along} dB along rows, {down} dB down");
    assert!((-2.5..-1.0).contains(&along), "{along} dB");
    // Sums over squares of eight by eight samples, as the eye averages. Only the rounding error is left.
    let squares = |errors: &[Vec<f64>]| {
        let sum = |x: usize, y: usize| {
            let rows = errors[y..y + 8].iter();
            rows.map(|row| row[x..x + 8].iter().sum::<f64>()).sum::<f64>()
        };
        let all = (0..248).step_by(8).flat_map(|y| (0..1016).step_by(8).map(move |x| (x, y)));
        all.map(|(x, y)| sum(x, y) * sum(x, y)).sum::<f64>()
    };
    let white = squares(&errors(ColorRange::Full, Mode::Tpdf));
    let left = 10.0 * libm::log10(squares(&high_pass) / white);
    assert!(left < -3.0, "{left} dB");
    let white = low(&errors(ColorRange::Full, Mode::Tpdf));
    let blue = 10.0 * libm::log10(low(&errors(ColorRange::Full, Mode::Blue)) / white);
    assert!(blue < -1.0, "{blue} dB");
}

mod chain {
    use super::*;
    use crate::catalog;
    use crate::chain::{Chain, ChainError, Fields, Options, Step};
    use crate::settings::Values;

    fn step(name: &str, given: &[(&str, &str)]) -> Step {
        let filter = catalog::find(name).unwrap();
        let text: Vec<String> = given.iter().map(|(id, text)| format!("{id}={text}")).collect();
        let values = Values::parse(filter.settings, &text.join(":")).unwrap();
        Step::new(filter, values)
    }

    fn notes(steps: &[Step], from: &str, to: Option<&str>) -> Result<String, String> {
        let from = format(from, 64, 48, ColorRange::Unspecified);
        let options = Options { seed: 0, level: Level::best(), first: 0, last: None, fields: Fields::Frame };
        let target = |made: &Format| {
            let name = to.map_or(made.name(), String::from);
            Ok::<_, ChainError>(crate::filter::convert::retarget(made, &name).unwrap())
        };
        let chain = Chain::bind(steps, from, &options, target).map_err(|e| e.to_string())?;
        Ok(chain.notes().join(" | "))
    }

    #[test]
    fn depth_is_lost_with_dither_at_the_end_and_only_there() {
        let grain = || step("grain", &[]);
        let ok = |steps: &[Step], from, to| notes(steps, from, to).unwrap();
        assert_eq!(ok(&[grain()], "yuv420p", None), "");
        assert_eq!(ok(&[grain()], "yuv420p", Some("yuv420p10")), "yuv420p limited -> yuv420p10 limited");
        assert_eq!(ok(&[], "gray16", Some("gray")), "gray16 -> gray; dithered (uniform)");
        let ten = ok(&[grain()], "gray10", Some("gray"));
        assert_eq!(ten, "gray10 limited -> gray16 limited | gray16 -> gray; dithered (uniform)");
        let rgb = ok(&[], "yuv444p16", Some("gbrp"));
        assert!(rgb.contains("-> gbrp16") && rgb.ends_with("gbrp16 -> gbrp; dithered (uniform)"), "{rgb}");
        let float = ok(&[], "grayf32", Some("gray10"));
        assert!(float.ends_with("gray16 -> gray10; dithered (uniform)"), "{float}");
        // The last filter decides.
        let blue = ok(&[grain(), step("dither", &[("mode", "blue")])], "gray", None);
        assert_eq!(blue, "gray limited -> gray16 limited | gray16 -> gray; dithered (blue)");
        let plain = ok(&[grain(), step("dither", &[("mode", "none")])], "gray16", Some("gray"));
        assert_eq!(plain, "gray16 limited -> gray limited");
        assert_eq!(ok(&[step("dither", &[])], "gray", None), "");
        assert_eq!(ok(&[step("dither", &[("bits", "8")])], "gray16", None), "");
    }

    /// Renders a flat 8-bit frame.
    fn shown(steps: &[Step], name: &str, code: u8, number: i64) -> Frame {
        use crate::chain::{States, Workspace};
        use crate::host::{CurrentThread, Host, NoCache};
        let from = format(name, 200, 130, ColorRange::Limited);
        let options = Options { seed: 3, level: Level::best(), first: 0, last: None, fields: Fields::Frame };
        let chain = Chain::bind::<ChainError>(steps, from, &options, |made| Ok(*made)).unwrap();
        let mut frame = Frame::new(from);
        (0..from.planes())
            .for_each(|p| (0..from.plane_size(p).1).for_each(|y| frame.row_mut::<u8>(p, y).fill(code)));
        let (at, go) =
            (FrameTime::of_frame(number, Ratio::whole(24)), std::sync::atomic::AtomicBool::new(false));
        let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &go };
        let (mut work, states) = (Workspace::default(), States::default());
        chain.run(&at, Ratio::ZERO, &mut frame, &mut work, &states, &host).unwrap();
        frame
    }

    #[test]
    fn slow_changes_of_8_bit_pictures_have_no_steps() {
        let plane = |frame: &Frame, p: usize| -> Vec<f64> {
            let (_, h) = frame.format().plane_size(p);
            (0..h).flat_map(|y| frame.row::<u8>(p, y).to_vec()).map(f64::from).collect()
        };
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        for (name, given) in [("fade", ("amount", "0=0;96=0.04")), ("levels", ("gamma", "0=1;96=1.05"))] {
            let fade = [step(name, &[given])];
            let means: Vec<f64> =
                (1..40).map(|n| mean(&plane(&shown(&fade, "yuv420p", 126, n), 0))).collect();
            // Flat areas change by fractions of a code from frame to frame, not by a whole one.
            for two in means.windows(2) {
                let step = (two[1] - two[0]).abs();
                assert!(step > 0.005 && step < 0.2, "{name}: {step}");
            }
        }
        // Planes that are not changed, and exact codes, stay as they are.
        let mut luma = step("fade", &[("amount", "0.3")]);
        luma.set("planes", "y").unwrap();
        let out = shown(&[luma], "yuv420p", 100, 1);
        assert!(plane(&out, 1).iter().all(|&v| v == 100.0));
        let black = shown(&[step("fade", &[("amount", "1")])], "gray", 100, 1);
        assert!(plane(&black, 0).iter().all(|&v| v == 16.0));
        assert_eq!(notes(&[step("fade", &[("amount", "0.3")])], "yuv420p", None).unwrap(), "");
    }

    #[test]
    fn a_mark_on_the_last_key_is_noted() {
        let told = |amount| notes(&[step("fade", &[("amount", amount)])], "gray", None).unwrap();
        for idle in ["0=0;48~=1", "0=0;24=1;48c=0", "0=0;48|=1"] {
            assert!(told(idle).contains("'fade': amount: the mark on the last key"), "{}", told(idle));
        }
        for fine in ["0~=0;48=1", "0c=0;48=1", "0=0.5", "0.5"] {
            assert_eq!(told(fine), "", "{fine}");
        }
    }

    #[test]
    fn invalid_depths_are_refused() {
        let fail = |steps: &[Step], from| notes(steps, from, None).unwrap_err();
        let middle = fail(&[step("dither", &[]), step("grain", &[])], "gray16");
        assert!(middle.contains("move the filter to the end"), "{middle}");
        let mut part = step("dither", &[]);
        part.set("planes", "y").unwrap();
        assert!(fail(&[part], "gray16").contains("planes"));
        assert!(fail(&[step("dither", &[("bits", "8")])], "grayf32").contains("float"));
    }
}
