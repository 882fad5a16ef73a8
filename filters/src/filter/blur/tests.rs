use super::*;
use crate::filter::testing::zero_span;
use crate::filter::testing::{FORMATS, at, bind, compare, format, noise, run};
use crate::frame::{Frame, FrameRef};

/// A position, with repeated edges.
fn clamped(f: &Format, p: usize, x: i64, y: i64) -> [usize; 2] {
    let (w, h) = f.plane_size(p);
    [x.clamp(0, w as i64 - 1) as usize, y.clamp(0, h as i64 - 1) as usize]
}

fn finite(f: &Frame, p: usize) -> bool {
    let (w, h) = f.format().plane_size(p);
    (0..h).all(|y| (0..w).all(|x| at(f, p, x, y).is_finite()))
}

/// The weights of all samples of an axis for sample `i`; those beyond the edges are added to the outermost.
fn folded(i: usize, len: usize, sigma: f64) -> Vec<f64> {
    let reach = libm::ceil(6.0 * sigma) as i64;
    let mut all = vec![0.0; len];
    for d in -reach..=reach {
        let weight = libm::exp(-((d * d) as f64) / (2.0 * sigma * sigma).max(1e-9));
        all[(i as i64 + d).clamp(0, len as i64 - 1) as usize] += weight;
    }
    let total: f64 = all.iter().sum();
    all.iter().map(|w| w / total).collect()
}

/// The mean alpha over the area of a sample of colour: 1 without alpha.
fn weight(f: &Frame, p: usize, x: usize, y: usize) -> f64 {
    let format = f.format();
    let Some(a) = format.alpha_plane().filter(|a| *a != p) else { return 1.0 };
    let ((sx, sy), (w, h)) = (format.plane_subsampling(p), format.plane_size(a));
    let area = (y << sy..(y + 1) << sy).flat_map(|y| (x << sx..(x + 1) << sx).map(move |x| (x, y)));
    let sum: f64 = area.map(|(x, y)| at(f, a, x.min(w - 1), y.min(h - 1))).sum();
    sum / f64::from(1u32 << (sx + sy)) / zero_span(format, a).1
}

/// The mean of the straight values of the samples, weighted by alpha, as a sample; that of the middle if no weight is left.
fn mean(
    f: &Frame,
    p: usize,
    (x, y): (usize, usize),
    parts: impl Iterator<Item = (f64, usize, usize)>,
) -> f64 {
    let (zero, is_multiplied) = (zero_span(f.format(), p).0, f.format().alpha == Alpha::Premultiplied);
    let (mut sum, mut total) = (0.0, 0.0);
    for (part, x, y) in parts.filter(|part| part.0 > 0.0) {
        let a = weight(f, p, x, y);
        sum += part * (at(f, p, x, y) - zero) * if is_multiplied { 1.0 } else { a };
        total += part * a;
    }
    let own = if is_multiplied { weight(f, p, x, y) } else { 1.0 };
    if total > 0.0 && own > 0.0 { zero + sum / total * own } else { at(f, p, x, y) }
}

/// The exact Gaussian, far beyond 3.5 sigma.
fn exact(f: &Frame, p: usize, (x, y): (usize, usize), [sx, sy]: [f64; 2]) -> f64 {
    let (w, h) = f.format().plane_size(p);
    let (across, down) = (folded(x, w, sx), folded(y, h, sy));
    let parts = (0..h).flat_map(|y| (0..w).map(move |x| (x, y))).map(|(x, y)| (across[x] * down[y], x, y));
    mean(f, p, (x, y), parts)
}

fn top(f: &Format) -> f64 {
    f.depth.bits().map_or(1.0, |b| f64::from((1u32 << b) - 1))
}

/// The largest difference from the exact Gaussian, as a fraction of the range, over some samples of all
/// planes.
fn worst(source: &Frame, sigma: f64) -> f64 {
    let f = *source.format();
    // The setting is in samples of a picture 1920 wide.
    let text = format!("{}", sigma * 1920.0 / f64::from(f.width));
    let given = [("sigma", text.as_str())];
    let want = run(&*bind(&ENTRY, &given, &f, Level::SCALAR), source, 0, &[]);
    for &level in Level::available() {
        let got = run(&*bind(&ENTRY, &given, &f, level), source, 0, &[4, 8, 16]);
        assert!(got == want, "{} {sigma} {level}", f.name());
    }
    let mut worst = 0.0f64;
    for p in (0..f.planes()).filter(|&p| f.alpha_plane() != Some(p) && finite(source, p)) {
        let (w, h) = f.plane_size(p);
        let (sx, sy) = f.plane_subsampling(p);
        let sigmas = [sigma / f64::from(1u32 << sx), sigma / f64::from(1u32 << sy)];
        for i in (0..w * h).step_by(1 + w * h / 60) {
            let (x, y) = (i % w, i / w);
            worst = worst.max((at(&want, p, x, y) - exact(source, p, (x, y), sigmas)).abs() / top(&f));
        }
    }
    worst
}

/// Black on the left, white on the right, and one white corner.
fn edge(f: Format) -> Frame {
    let mut frame = Frame::new(f);
    for p in 0..f.planes() {
        let (w, h) = f.plane_size(p);
        for y in 0..h {
            for x in 0..w {
                let v = if x > w / 2 || y < h / 5 { top(&f) } else { 0.0 };
                match f.depth {
                    Depth::Bits(8) => frame.row_mut::<u8>(p, y)[x] = v as u8,
                    Depth::Bits(_) => frame.row_mut::<u16>(p, y)[x] = v as u16,
                    Depth::Float => frame.row_mut::<f32>(p, y)[x] = v as f32,
                }
            }
        }
    }
    frame
}

#[test]
fn small_sigmas_are_the_gaussian_to_a_rounding() {
    for &(name, w, h) in FORMATS {
        let f = format(name, w, h);
        for sigma in [0.3, 1.0, 3.3].into_iter().filter(|s| s * 1920.0 <= 500.0 * f64::from(w)) {
            // Allows one rounding to a code, weights of 15 bits, and the cut at 3.5 sigma.
            let bound = 0.51 / top(&f) + 0.0005;
            assert!(worst(&noise(f), sigma) < bound, "{name} {sigma} {}", worst(&noise(f), sigma));
        }
    }
}

#[test]
fn large_sigmas_are_within_half_a_code_of_8_bits_of_the_gaussian() {
    for (name, w, h) in [("yuv420p", 390, 90), ("gray16", 390, 77), ("grayf32", 150, 60), ("yuv440p", 61, 99)]
    {
        let f = format(name, w, h);
        for sigma in
            [4.0, 4.5, 8.0, 12.0, 17.0, 30.0, 100.0].into_iter().filter(|s| s * 1920.0 < 500.0 * f64::from(w))
        {
            for source in [edge(f), noise(f)] {
                let off = worst(&source, sigma);
                assert!(off < 0.0016 + 0.5 / top(&f).min(65535.0), "{name} {sigma} {off}");
            }
        }
    }
    for (w, h) in [(20, 1), (30, 200), (300, 2)] {
        let flat = edge(format("gray10", w, h));
        assert!(worst(&flat, 500.0 * f64::from(w) / 1920.0) < 0.002, "{w}x{h}");
    }
}

#[test]
fn a_flat_picture_stays_as_it_is() {
    for sigma in ["0.5", "5", "9", "33", "500"] {
        let f = format("yuv420p", 70, 50);
        let mut frame = Frame::new(f);
        for p in 0..3 {
            for y in 0..f.plane_size(p).1 {
                frame.row_mut::<u8>(p, y).fill(255 - 100 * p as u8);
            }
        }
        let out = run(&*bind(&ENTRY, &[("sigma", sigma)], &f, Level::best()), &frame, 0, &[]);
        assert!(out == frame, "{sigma}");
    }
}

#[test]
fn a_line_is_its_mean() {
    for (angle, length) in [(0.0, 200.0), (90.0, 115.0), (30.0, 400.0), (200.0, 37.0), (315.0, 390.0)] {
        let (a, l) = (format!("{angle}"), format!("{length}"));
        let given = [("mode", "directional"), ("angle", a.as_str()), ("length", l.as_str())];
        let (sin, cos) = (f64::sin(f64::to_radians(angle)), f64::cos(f64::to_radians(angle)));
        compare(&ENTRY, &given, 0, |source, p, x, y| {
            let f = source.format();
            if f.alpha_plane() == Some(p) {
                return None;
            }
            if !finite(source, p) {
                return Some((0.0, f64::INFINITY));
            }
            let (sx, sy) = f.plane_subsampling(p);
            let length = length * f64::from(f.width) / 1920.0;
            let (dx, dy) = (cos * length / f64::from(1u32 << sx), sin * length / f64::from(1u32 << sy));
            let count = (libm::ceil((dx * dx + dy * dy).sqrt() * 2.0 - 1e-9) as i32).max(1);
            let mut parts = Vec::new();
            for i in 0..count {
                let t = (f64::from(i) + 0.5) / f64::from(count) - 0.5;
                let (u, v) = (x as f64 + t * dx, y as f64 + t * dy);
                let (l, t) = (u.floor(), v.floor());
                let (fu, fv) = (u - l, v - t);
                for (i, j) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    let part = (if i == 0 { 1.0 - fu } else { fu }) * (if j == 0 { 1.0 - fv } else { fv });
                    let [x, y] = clamped(f, p, l as i64 + i, t as i64 + j);
                    parts.push((part, x, y));
                }
            }
            // Weights are multiples of 2^-14; the error of hundreds of them adds up to a fraction of an 8-bit
            // code.
            Some((mean(source, p, (x, y), parts.into_iter()), 0.6 + top(f) * 0.0015))
        });
    }
}

/// A card with a soft edge over a hidden colour, in the middle of transparent black.
fn card(f: Format) -> Frame {
    let mut frame = Frame::new(f);
    let a = f.alpha_plane().unwrap();
    let alpha = |x: usize| [0.0, 0.2, 0.5, 1.0][x.saturating_sub(8).min(36usize.saturating_sub(x)).min(3)];
    for p in (0..=a).rev() {
        let ((w, h), (zero, span), (sx, _)) = (f.plane_size(p), zero_span(&f, p), f.plane_subsampling(p));
        for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
            let hidden = if x << sx < 20 { 0.9 } else { 0.0 };
            let covered = alpha(x << sx) > 0.0;
            let v = if f.is_chroma(p) { 0.2 } else { 0.5 };
            let v = if p == a {
                alpha(x)
            } else if covered {
                v
            } else {
                hidden
            };
            let by = if p != a && f.alpha == Alpha::Premultiplied { weight(&frame, p, x, y) } else { 1.0 };
            let code = (zero + v * by * span).clamp(0.0, top(&f).max(1.0));
            match f.depth {
                Depth::Bits(8) => frame.row_mut::<u8>(p, y)[x] = code as u8,
                Depth::Bits(_) => frame.row_mut::<u16>(p, y)[x] = code as u16,
                Depth::Float => frame.row_mut::<f32>(p, y)[x] = code as f32,
            }
        }
    }
    frame
}

#[test]
fn transparent_samples_leave_no_rim() {
    for name in ["gbrap", "gbrap16", "gbrapf32", "yuva420p", "yuva444p10", "ya8"] {
        for (alpha, together) in
            [Alpha::Straight, Alpha::Premultiplied].iter().flat_map(|a| [(*a, false), (*a, true)])
        {
            let f = Format { alpha, ..format(name, 45, 12) };
            let source = card(f);
            let filter = bind(&ENTRY, &[("sigma", "85")], &f, Level::best());
            let now = filter.at(&crate::filter::testing::frame_time(0)).unwrap();
            let writes = if together { f.all_planes() } else { f.color_planes() };
            let mut made = source.clone();
            let (rows, input): (_, Option<FrameRef<'_>>) = (0..12, Some(source.as_ref()));
            let mut scratch = Scratch::default();
            filter.render(&now, None, &mut Band { rows, input, output: made.as_mut(), writes }, &mut scratch);
            assert!(scratch.bytes() <= filter.memory().per_frame, "{} {name}", scratch.bytes());
            let a = f.alpha_plane().unwrap();
            let sigma = 85.0 * 45.0 / 1920.0;
            for p in 0..=a {
                let ((w, h), (sx, sy)) = (f.plane_size(p), f.plane_subsampling(p));
                let sigmas = [sx, sy].map(|s| sigma / f64::from(1u32 << s));
                for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                    let is = at(&made, p, x, y);
                    let want = match (p == a, together) {
                        (true, false) => at(&source, a, x, y),
                        // Products and alpha, as they are.
                        (false, true) if alpha == Alpha::Premultiplied => {
                            let plain = Format { alpha: Alpha::None, ..format("gray", w as u32, h as u32) };
                            let mut plane = Frame::new(Format { depth: Depth::Float, ..plain });
                            for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                                plane.row_mut::<f32>(0, y)[x] = at(&source, p, x, y) as f32;
                            }
                            exact(&plane, 0, (x, y), sigmas)
                        }
                        _ => exact(&source, p, (x, y), sigmas),
                    };
                    // The Gaussian ends at 3.5 sigma; beyond, a sample may keep its value.
                    let seen = weight(&made, p, x, y) > 0.0 || weight(&source, p, x, y) > 0.0 || p == a;
                    let by = if f.depth == Depth::Float { 2e-3 } else { 0.6 + 2e-3 * top(&f) };
                    assert!(
                        !seen || (is - want).abs() <= by,
                        "{name} {alpha:?} {together} plane {p} {x},{y}: {is}, not {want}"
                    );
                }
            }
            // The card keeps its colour up to its edge.
            if alpha == Alpha::Straight {
                let (zero, span) = zero_span(&f, 0);
                let edge = (at(&made, 0, 9, 5) - zero) / span;
                assert!((edge - 0.5).abs() < 0.01, "{name} {edge}");
            }
        }
    }
}
