use super::*;
use crate::filter::testing::{at, bind, compare, format, noise, run, zero_span};
use crate::frame::Frame;

/// The Gaussian of a horizontal and a vertical sigma around a sample of a plane, out to 3.5 sigma.
fn gaussian(f: &Frame, place: (usize, usize), sigmas: [f64; 2], plane: usize) -> f64 {
    mean(f, place, sigmas, plane, |x, y| at(f, plane, x, y))
}

/// The same of the straight colour, weighted by alpha.
fn weighted(f: &Frame, place: (usize, usize), sigmas: [f64; 2], plane: usize) -> f64 {
    let Some(a) = f.format().alpha_plane() else { return gaussian(f, place, sigmas, plane) };
    let weight =
        |x: usize, y: usize| Some(at(f, a, x, y)).filter(|a| a.is_finite()).map_or(0.0, |a| a.max(0.0));
    let product = |x: usize, y: usize| {
        let weight = weight(x, y);
        if weight > 0.0 { weight * at(f, plane, x, y) } else { 0.0 }
    };
    let total = mean(f, place, sigmas, plane, weight);
    if total > 0.0 { mean(f, place, sigmas, plane, product) / total } else { at(f, plane, place.0, place.1) }
}

/// The Gaussian of a function of the samples of a plane.
fn mean(
    f: &Frame,
    (x, y): (usize, usize),
    sigmas: [f64; 2],
    plane: usize,
    value: impl Fn(usize, usize) -> f64,
) -> f64 {
    let (w, h) = f.format().plane_size(plane);
    let taps = |i: usize, len: usize, sigma: f64| {
        let reach = (libm::ceil(3.5 * sigma - 0.5) as i64).max(1);
        let list = (-reach..=reach).map(move |d| {
            let place = (i as i64 + d).clamp(0, len as i64 - 1) as usize;
            (place, libm::exp(-((d * d) as f64) / (2.0 * sigma * sigma)))
        });
        list.collect::<Vec<_>>()
    };
    let (across, down) = (taps(x, w, sigmas[0]), taps(y, h, sigmas[1]));
    let (mut sum, mut total) = (0.0, 0.0);
    for &(y, v) in &down {
        for &(x, u) in &across {
            sum += u * v * value(x, y);
            total += u * v;
        }
    }
    sum / total
}

fn soft(difference: f64, threshold: f64) -> f64 {
    difference.signum() * (difference.abs() - threshold).max(0.0)
}

fn against_the_definition(amount: f64, size: f64, threshold: f64) {
    let [a, s, t] = [amount, size, threshold].map(|v| v.to_string());
    let given = [("amount", a.as_str()), ("size", s.as_str()), ("threshold", t.as_str())];
    compare(&ENTRY, &given, 0, |source, p, x, y| {
        let f = source.format();
        let sigma = size * f64::from(f.width) / 1920.0;
        let (was, (_, span)) = (at(source, p, x, y), zero_span(f, p));
        if f.is_chroma(p) || f.alpha_plane() == Some(p) || amount == 0.0 || sigma < 0.05 {
            return None;
        }
        let difference = was - weighted(source, (x, y), [sigma; 2], p);
        let float = f.depth.bits().is_none();
        // Non-finite samples spread differently if the blur works at reduced resolution.
        if float && sigma > 3.9 {
            return Some((0.0, f64::INFINITY));
        }
        let value = was + amount * soft(difference, threshold * span);
        if !value.is_finite() {
            return None;
        }
        let Some((low, high)) = f.legal(p) else { return Some((value, 1e-5 * (1.0 + amount))) };
        let value = value.clamp(was.min(low.into()), was.max(high.into()));
        // The blur has an error of half a code and a fraction of the range (and more relative to a Gaussian cut at 3.5
        // sigma), and the result is rounded.
        let top = f64::from(f.codes().1);
        let off = if sigma > 3.9 { 0.002 } else { 0.0006 };
        Some((value, 0.51 + amount * (0.75 + off * top)))
    });
}

#[test]
fn the_difference_from_the_gaussian_is_added() {
    for (amount, size, threshold) in [(1.0, 40.0, 0.0), (2.5, 60.0, 0.0), (1.0, 50.0, 0.1), (0.0, 40.0, 0.0)]
    {
        against_the_definition(amount, size, threshold);
    }
    // Wide pictures use the blur at reduced resolution, too.
    against_the_definition(0.7, 120.0, 0.0);
}

#[test]
fn a_flat_picture_and_small_differences_stay() {
    let f = format("gray16", 64, 20);
    let mut source = Frame::new(f);
    for y in 0..20 {
        let row = source.row_mut::<u16>(0, y);
        row.iter_mut().enumerate().for_each(|(x, v)| *v = 30000 + (x % 2 * 500) as u16);
    }
    let of = |given: &[(&str, &str)]| run(&*bind(&ENTRY, given, &f, Level::best()), &source, 0, &[]);
    assert!(of(&[("size", "60"), ("threshold", "0.02")]) == source);
    assert!(of(&[("size", "60"), ("threshold", "0.001")]) != source);
}

#[test]
fn a_size_is_of_a_picture_1920_wide_and_a_field_has_every_second_row() {
    use crate::frame::{Parity, PictureStructure};
    let f = format("gray16", 480, 40);
    let f = Format { picture: PictureStructure::Field(Parity::Top), ..f };
    let source = noise(f);
    let made = run(&*bind(&ENTRY, &[("size", "8")], &f, Level::best()), &source, 0, &[8]);
    for (x, y) in [(0, 0), (7, 3), (100, 10), (479, 19)] {
        let was = at(&source, 0, x, y);
        let value = was + was - gaussian(&source, (x, y), [2.0, 1.0], 0);
        let (low, high) = f.legal(0).unwrap();
        let value = value.clamp(was.min(low.into()), was.max(high.into()));
        assert!((at(&made, 0, x, y) - value).abs() < 60.0, "{x},{y}: {} {value}", at(&made, 0, x, y));
    }
}

/// Premultiplied colour from a plane's nominal value, and alpha at a position.
fn multiplied(
    name: &str,
    alpha: impl Fn(usize, usize) -> f64,
    colour: impl Fn(usize, usize) -> f64,
) -> Frame {
    let f = Format { alpha: Alpha::Premultiplied, ..format(name, 96, 24) };
    let mut frame = Frame::new(f);
    for p in 0..f.planes() {
        let ((w, h), (zero, span), (sx, sy)) = (f.plane_size(p), zero_span(&f, p), f.plane_subsampling(p));
        for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
            let a = alpha(x << sx, y << sy);
            let nominal = if f.alpha_plane() == Some(p) { a } else { a * colour(x << sx, y << sy) };
            let v = zero + nominal * span;
            match f.depth {
                Depth::Bits(8) => frame.row_mut::<u8>(p, y)[x] = v.round() as u8,
                Depth::Bits(_) => frame.row_mut::<u16>(p, y)[x] = v.round() as u16,
                Depth::Float => frame.row_mut::<f32>(p, y)[x] = v as f32,
            }
        }
    }
    frame
}

#[test]
fn no_rim_appears_where_alpha_changes() {
    let alpha = |x: usize, _: usize| (x as f64 / 4.0 - 10.0).clamp(0.0, 1.0);
    for (name, off) in
        [("gbrapf32", 1e-5), ("gbrap16", 12.0), ("yuva444p10", 5.0), ("yuva420p", 5.0), ("ya16", 12.0)]
    {
        let source = multiplied(name, alpha, |_, _| 0.4);
        let f = *source.format();
        let filter = bind(&ENTRY, &[("size", "40"), ("amount", "2")], &f, Level::best());
        for cuts in [&[][..], &[8, 16]] {
            let made = run(&*filter, &source, 0, cuts);
            for p in f.all_planes().iter() {
                let (w, h) = f.plane_size(p);
                for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                    let (was, is) = (at(&source, p, x, y), at(&made, p, x, y));
                    assert!((was - is).abs() <= off, "{name} {p} {x},{y}: {was} {is}");
                    if f.alpha_plane() == Some(p) || alpha(x << f.plane_subsampling(p).0, 0) == 0.0 {
                        assert!(was == is, "{name} {p} {x},{y}");
                    }
                }
            }
        }
    }
}

#[test]
fn multiplied_colour_is_sharpened_as_the_colour_before() {
    let alpha = |x: usize, y: usize| ((x * 7 + y * 5) % 11) as f64 / 10.0;
    let source = multiplied("gbrapf32", alpha, |x, y| 0.3 + ((x * 3 + y * 13) % 17) as f64 / 40.0);
    let f = *source.format();
    let given = [("size", "30"), ("amount", "1.5"), ("threshold", "0.03")];
    let want = run(&*bind(&ENTRY, &given, &f, Level::SCALAR), &source, 0, &[]);
    for &level in Level::available() {
        assert!(run(&*bind(&ENTRY, &given, &f, level), &source, 0, &[4, 12]) == want, "{level}");
    }
    for (x, y) in (0..24).flat_map(|y| (0..96).map(move |x| (x, y))) {
        let (v, a) = (at(&source, 0, x, y), at(&source, 3, x, y));
        let b = |p| gaussian(&source, (x, y), [1.5; 2], p);
        let value = if a > 0.0 { v + 1.5 * a * soft(v / a - b(0) / b(3), 0.03) } else { v };
        assert!((at(&want, 0, x, y) - value).abs() < 1e-5, "{x},{y}: {} {value}", at(&want, 0, x, y));
    }
}
