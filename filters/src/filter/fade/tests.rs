use super::*;
use crate::filter::testing::{at, bind, compare, format, noise, run, try_bind, zero_span};

/// Towards nominal values of Y, U, V and of G, B, R.
fn towards(amount: f64, yuv: [f64; 3], gbr: [f64; 3], given: &[(&str, &str)], number: i64) {
    compare(&ENTRY, given, number, |source, p, x, y| {
        let f = source.format();
        if f.alpha_plane() == Some(p) {
            return None;
        }
        let rgb = f.planes() >= 3 && !f.is_chroma(1);
        let color = if rgb { gbr[p] } else { yuv[p] };
        // Premultiplied: the colour times alpha. None of the formats is, see below.
        let (zero, span) = zero_span(f, p);
        let (was, by) = (at(source, p, x, y), if f.depth == Depth::Float { 3e-7 } else { 0.513 });
        if amount < 1.0 && !was.is_finite() {
            return None;
        }
        let mixed =
            if amount < 1.0 { was + (zero + color * span - was) * amount } else { zero + color * span };
        Some((mixed, by))
    });
}

#[test]
fn black_is_legal_and_mixing_is_exact() {
    towards(0.0, [0.0; 3], [0.0; 3], &[], 0);
    for (text, amount) in [("1", 1.0), ("0.3", 0.3), ("0.5", 0.5), ("0.999", 0.999), ("0.0001", 0.0001)] {
        towards(amount, [0.0; 3], [0.0; 3], &[("amount", text)], 0);
    }
    // A fade in over 48 frames.
    for (number, amount) in [(0, 1.0), (12, 0.75), (47, 1.0 / 48.0), (48, 0.0), (90, 0.0)] {
        towards(amount, [0.0; 3], [0.0; 3], &[("amount", "0=1;48=0")], number);
    }
}

#[test]
fn colours_go_through_the_matrix() {
    // BT.601, as pictures of so few rows are: red is (0.299, -0.168736, 0.5).
    let red = [0.299, -0.299 / 1.772, 0.5];
    towards(0.4, red, [0.0, 0.0, 1.0], &[("amount", "0.4"), ("color", "red")], 0);
    towards(1.0, red, [0.0, 0.0, 1.0], &[("amount", "1"), ("color", "red")], 0);
}

#[test]
fn alpha_fades_alone_and_premultiplied_colour_with_it() {
    for name in ["yuva420p", "gbrap16", "gbrapf32"] {
        for alpha in [Alpha::Straight, Alpha::Premultiplied] {
            let f = Format { alpha, ..format(name, 33, 9) };
            let source = noise(f);
            let given = [("amount", "0.25"), ("to", "alpha")];
            let out = run(&*bind(&ENTRY, &given, &f, Level::best()), &source, 0, &[]);
            let white = [("amount", "0.25"), ("color", "white")];
            let over = run(&*bind(&ENTRY, &white, &f, Level::best()), &source, 0, &[4]);
            for p in 0..f.planes() {
                let (w, h) = f.plane_size(p);
                let (zero, span) = zero_span(&f, p);
                for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                    let was = at(&source, p, x, y);
                    if !was.is_finite() {
                        continue;
                    }
                    let by = if f.depth == Depth::Float { 1e-6 } else { 0.513 };
                    let both = alpha == Alpha::Premultiplied || f.alpha_plane() == Some(p);
                    let want = if both { was + (zero - was) * 0.25 } else { was };
                    assert!((at(&out, p, x, y) - want).abs() < by, "{name} {alpha:?} {p}");
                    if both && f.alpha_plane() != Some(p) && !f.is_chroma(p) && f.subsampling == (0, 0) {
                        let (az, aspan) = zero_span(&f, 3);
                        let a = (at(&source, 3, x, y) - az) / aspan;
                        let want = was + (zero + a * span - was) * 0.25;
                        if a.is_finite() {
                            assert!((at(&over, p, x, y) - want).abs() < by, "{name} over {p} {x},{y}");
                        }
                    }
                }
            }
        }
    }
    let f = format("yuv420p", 8, 8);
    let problem = try_bind(&ENTRY, &[("to", "alpha")], &f, Level::best()).err().unwrap();
    assert!(problem.problem.contains("no alpha"), "{problem}");
}

/// Chroma that is multiplied by alpha gets as much of the colour as the mean of its own block of alpha.
#[test]
fn subsampled_chroma_goes_by_the_alpha_of_its_block() {
    let f = Format { alpha: Alpha::Premultiplied, ..format("yuva420p", 33, 24) };
    let mut source = noise(f);
    for y in 0..24 {
        (0..).zip(source.row_mut::<u8>(3, y)).for_each(|(x, a): (usize, _)| *a = (7 * x + 3 * y) as u8);
    }
    let given = [("amount", "0.5"), ("color", "red")];
    for cuts in [&[][..], &[8, 16]] {
        let out = run(&*bind(&ENTRY, &given, &f, Level::best()), &source, 0, cuts);
        for (x, y) in (0..12).flat_map(|y| (0..17).map(move |x| (x, y))) {
            let alpha = |x: usize, y: usize| at(&source, 3, x.min(32), y) / 255.0;
            let block = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| alpha(2 * x + i, 2 * y + j));
            let mean = block.iter().sum::<f64>() / 4.0;
            // BT.601: V of red is 1/2.
            let want = 128.0 + (at(&source, 2, x, y) - 128.0) * 0.5 + 0.5 * 224.0 * mean * 0.5;
            let got = at(&out, 2, x, y);
            assert!((got - want.clamp(0.0, 255.0)).abs() < 0.8, "{x},{y}: {got}, not {want}");
        }
    }
}
