use super::*;
use crate::filter::convert::assumed_matrix;
use crate::filter::testing::{FORMATS, at, format, noise, run_to, values};
use crate::frame::sites::frame_place;
use crate::frame::{Frame, Matrix, Parity, PictureStructure};
use crate::settings::ChoiceEnum;

const KERNELS: [&str; 4] = ["nearest", "bilinear", "bicubic", "lanczos"];

/// The kernels as books write them: the cubic with a = -1/2, and sinc times sinc.
fn weight(kernel: &str, x: f64) -> f64 {
    let (x, a) = (x.abs(), -0.5);
    let sinc =
        |x: f64| if x == 0.0 { 1.0 } else { (x * std::f64::consts::PI).sin() / (x * std::f64::consts::PI) };
    match kernel {
        "bilinear" => (1.0 - x).max(0.0),
        "bicubic" if x <= 1.0 => (a + 2.0) * x.powi(3) - (a + 3.0) * x.powi(2) + 1.0,
        "bicubic" if x < 2.0 => a * x.powi(3) - 5.0 * a * x.powi(2) + 8.0 * a * x - 4.0 * a,
        "lanczos" if x < 3.0 => sinc(x) * sinc(x / 3.0),
        _ => 0.0,
    }
}

/// The samples and weights of one axis: `place` of the output's sample, and `first` and `step` of those of the source.
fn taps(kernel: &str, place: f64, ratio: f64, (first, step): (f64, f64), len: usize) -> Vec<(usize, f64)> {
    let center = (place - first) / step;
    let index = |k: i64| k.clamp(0, len as i64 - 1) as usize;
    if kernel == "nearest" {
        return vec![(index((center + 0.5).floor() as i64), 1.0)];
    }
    let wide = ratio.max(1.0);
    // Windows at an edge reach farther, without weight.
    let reach = (6.0 * wide).ceil() as i64;
    let around = (center as i64 - reach..=center as i64 + reach)
        .map(|k| (k, weight(kernel, (center - k as f64) / wide)));
    let sum: f64 = around.clone().map(|(_, w)| w).sum();
    around.map(|(k, w)| (index(k), w / sum)).collect()
}

/// The definition of a sample, the sum of its weights' absolute values, and whether all samples near it are finite; `None`
/// if it depends on one that is not.
fn twin(source: &Frame, to: &Format, kernel: &str, p: usize, x: usize, y: usize) -> Option<(f64, f64, bool)> {
    let from = source.format();
    let ratio = [f64::from(from.width) / f64::from(to.width), f64::from(from.height) / f64::from(to.height)];
    let place = frame_place(to, p, x as i64, y as i64);
    let (zero, one) = (frame_place(from, p, 0, 0), frame_place(from, p, 1, 1));
    let (new_zero, new_one) = (frame_place(to, p, 0, 0), frame_place(to, p, 1, 1));
    let size = from.plane_size(p);
    let axis = |i: usize, len: usize| {
        let step = one[i] - zero[i];
        let reduced = (new_one[i] - new_zero[i]) * ratio[i] / step;
        taps(kernel, place[i] * ratio[i], reduced, (zero[i], step), len)
    };
    let (across, down) = (axis(0, size.0), axis(1, size.1));
    let (mut sum, mut weights, mut finite) = (0.0, 0.0, true);
    for &(k, w) in &down {
        for &(i, v) in &across {
            finite &= at(source, p, i, k).is_finite();
            sum += if v * w == 0.0 { 0.0 } else { at(source, p, i, k) * v * w };
            weights += (v * w).abs();
        }
    }
    sum.is_finite().then_some((sum, weights, finite))
}

/// Scales with a kernel, on all levels and in bands, which must agree.
fn scaled(source: &Frame, kernel: &str, (width, height): (u32, u32)) -> Frame {
    let shape = InterpolationKernel::from_id(kernel).unwrap();
    let to = resized(source.format(), width, height);
    let make = |level, cuts: &[usize]| {
        let filter = bind(source.format(), &to, shape, level).unwrap();
        run_to(&*filter, source, Frame::new(to), 0, cuts)
    };
    let made = make(Level::SCALAR, &[]);
    for &level in Level::available() {
        for cuts in [&[][..], &[4, 8, 16]] {
            assert!(
                make(level, cuts) == made,
                "{} to {width}x{height} {kernel} {level}",
                source.format().name()
            );
        }
    }
    made
}

fn agrees(from: Format, kernel: &str, (width, height): (u32, u32)) {
    let source = noise(from);
    let made = scaled(&source, kernel, (width, height));
    let to = made.format();
    for p in 0..to.planes() {
        let (w, h) = to.plane_size(p);
        for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
            let is = at(&made, p, x, y);
            // The nearest sample where a sample of the window is not finite, even one without weight.
            let near = twin(&source, to, "nearest", p, x, y).map_or(f64::NAN, |t| t.0);
            let is_near = is == near || !is.is_finite() && !near.is_finite();
            let (exact, weights) = match twin(&source, to, kernel, p, x, y) {
                Some((_, _, false)) if is_near => continue,
                Some((exact, weights, _)) => (exact, weights),
                None => {
                    assert!(is_near, "{} {p} {x},{y}: {is}, not {near}", to.name());
                    continue;
                }
            };
            let (exact, by) = match from.depth {
                Depth::Float => (exact, 3e-6 * weights),
                Depth::Bits(bits) => {
                    let top = f64::from((1u32 << bits) - 1);
                    // Half a code, half of one of 16 bits after the first direction, and 14 bits of every weight.
                    let taps = 2.0 * (6.0 + weights);
                    (exact.clamp(0.0, top), 0.501 + top / 65536.0 * (1.0 + 4.0 * taps))
                }
            };
            // Sums of the first direction are clipped to the codes.
            let clipped = from.depth != Depth::Float && kernel != "bilinear" && kernel != "nearest";
            let by = if clipped { by + 0.3 * f64::from(from.codes().1) * (weights - 1.0) } else { by };
            assert!(
                (is - exact).abs() <= by,
                "{} {:?} to {width}x{height} {kernel} plane {p} at {x},{y}: {is}, not {exact} within {by}",
                from.name(),
                from.picture
            );
        }
    }
}

#[test]
fn samples_are_the_definition() {
    for &(name, width, height) in FORMATS {
        let from = format(name, width, height);
        for kernel in KERNELS {
            for (w, h) in [(2 * width, 2 * height), (width.div_ceil(2), height.div_ceil(3)), (45, 32), (1, 1)]
            {
                if (w, h) != (width, height) {
                    agrees(from, kernel, (w, h));
                }
            }
        }
    }
}

#[test]
fn planes_are_sited_and_fields_keep_their_rows() {
    for from in crate::frame::sites::sited([22, 18], Depth::Bits(16)) {
        for size in [(33, 24), (14, 12)] {
            agrees(from, "bicubic", size);
        }
    }
}

#[test]
fn long_windows_are_the_definition() {
    for (width, to) in [(300, 97), (700, 61), (64, 8), (1000, 16)] {
        for name in ["gray", "gray16", "gray12"] {
            for kernel in ["bilinear", "bicubic", "lanczos"] {
                agrees(format(name, width, 5), kernel, (to, 5));
            }
        }
    }
}

#[test]
fn a_side_that_does_not_change_is_not_resampled() {
    let source = noise(format("yuv420p10", 40, 22));
    let nearest = |made: &Frame, x: usize, y: usize| (at(made, 0, x, y), at(&source, 0, x, y / 2));
    let made = scaled(&source, "nearest", (40, 44));
    assert!((0..44).all(|y| (0..40).all(|x| nearest(&made, x, y).0 == nearest(&made, x, y).1)));
    // A flat picture stays exactly flat.
    let mut flat = Frame::new(format("yuv444p16", 40, 22));
    (0..3).for_each(|p| (0..22).for_each(|y| flat.row_mut::<u16>(p, y).fill(54321)));
    for kernel in KERNELS {
        let made = scaled(&flat, kernel, (57, 9));
        assert!((0..3).all(|p| (0..9).all(|y| made.row::<u16>(p, y).iter().all(|v| *v == 54321))));
    }
}

fn spec(given: &[(&str, &str)]) -> Result<ScaleSpec, SettingError> {
    use crate::settings::Settings;
    let values = values(&ENTRY, given);
    values.check()?;
    let mut spec = ScaleSpec::read(&values);
    spec.check(&values)?;
    Ok(spec)
}

#[test]
fn sizes_follow_from_the_settings() {
    let size = |from: &Format, given: &[(&str, &str)]| spec(given).unwrap().size(from).map_err(|e| e.problem);
    let hd = format("yuv420p", 1920, 1080);
    assert_eq!(size(&hd, &[("width", "1280")]), Ok((1280, 720)));
    assert_eq!(size(&hd, &[("height", "540")]), Ok((960, 540)));
    assert_eq!(size(&hd, &[("width", "1000")]), Ok((1000, 562)));
    assert_eq!(size(&format("yuv420p", 41, 37), &[("width", "41")]), Ok((41, 37)));
    assert_eq!(size(&hd, &[("width", "1001"), ("height", "3")]), Ok((1001, 3)));
    let inside = |w, h| size(&hd, &[("width", w), ("height", h), ("fit", "inside")]);
    assert_eq!(inside("1280", "1280"), Ok((1280, 720)));
    assert_eq!(inside("4000", "720"), Ok((1280, 720)));
    assert_eq!(inside("3", "1"), Ok((2, 1)));
    let interlaced = Format { fields: FieldOrder::TopFirst, ..hd };
    assert_eq!(size(&interlaced, &[("width", "1000")]), Ok((1000, 564)));
    assert_eq!(size(&format("gray", 3, 3000), &[("height", "7")]), Ok((2, 7)));
    let flat = format("gray", 60000, 1);
    assert!(size(&flat, &[("height", "2")]).unwrap_err().contains("120000"));
    assert_eq!(spec(&[]).unwrap_err().setting, "width");
    assert!(spec(&[]).unwrap_err().problem.contains("scale=width=1280"));
}

#[test]
fn the_screen_shows_the_same_shape_and_colours() {
    let pal = Format { aspect: Ratio::new(64, 45).unwrap(), ..format("yuv420p", 720, 576) };
    let square = resized(&pal, 1024, 576);
    assert_eq!(square.aspect, Ratio::ONE);
    assert_eq!(resized(&pal, 360, 288).aspect, pal.aspect);
    assert_eq!(resized(&format("yuv420p", 720, 576), 1024, 576).aspect, Ratio::ZERO);
    let hd = resized(&format("yuv420p", 720, 576), 1440, 1152);
    assert_eq!(hd.matrix, assumed_matrix(&pal).0);
    assert_eq!(resized(&format("gray", 720, 576), 1440, 1152).matrix, Matrix::UNSPECIFIED);
}

#[test]
fn a_field_without_chroma_is_refused() {
    let low = format("yuv420p", 8, 2).field(Parity::Bottom);
    assert_eq!(low.picture, PictureStructure::Field(Parity::Bottom));
    let tall = resized(&low, 8, 8);
    assert!(bind(&low, &tall, InterpolationKernel::Bicubic, Level::SCALAR).is_err());
}
