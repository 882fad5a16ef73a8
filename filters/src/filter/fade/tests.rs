use super::*;
use crate::filter::testing::{at, compare, compare_premultiplied, format, noise, run, try_bind, zero_span};
use crate::frame::Depth;

/// Compares with a fade to nominal values of Y, U, V and of G, B, R.
fn towards(amount: f64, yuv: [f64; 3], gbr: [f64; 3], given: &[(&str, &str)], number: i64) {
    compare(&ENTRY, given, number, |source, p, x, y| {
        let f = source.format();
        if f.alpha_plane() == Some(p) {
            return None;
        }
        let rgb = f.planes() >= 3 && !f.is_chroma(1);
        let color = if rgb { gbr[p] } else { yuv[p] };
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
    // BT.601, which pictures with so few rows use: red is (0.299, -0.168736, 0.5).
    let red = [0.299, -0.299 / 1.772, 0.5];
    towards(0.4, red, [0.0, 0.0, 1.0], &[("amount", "0.4"), ("color", "red")], 0);
    towards(1.0, red, [0.0, 0.0, 1.0], &[("amount", "1"), ("color", "red")], 0);
}

#[test]
fn alpha_fades_alone_and_premultiplied_colour_with_it() {
    let fading = [("amount", "0.25"), ("to", "alpha")];
    for name in ["yuva420p", "gbrap16", "gbrapf32"] {
        let source = noise(format(name, 33, 9));
        let out = run(&*try_bind(&ENTRY, &fading, source.format(), Level::best()).unwrap(), &source, 0, &[4]);
        for (p, x, y) in (0..4).flat_map(|p| (0..4).map(move |i| (p, 3 * i, i))) {
            let was = at(&source, p, x, y);
            let want = if p == 3 { was * 0.75 } else { was };
            assert!(!was.is_finite() || (at(&out, p, x, y) - want).abs() < 0.513, "{name} {p}");
        }
    }
    compare_premultiplied(&ENTRY, &fading, 0.513, |_, p, v, _| Some(v[p] * 0.75));
    let f = format("yuv420p", 8, 8);
    let problem = try_bind(&ENTRY, &[("to", "alpha")], &f, Level::best()).err().unwrap();
    assert!(problem.problem.contains("no alpha"), "{problem}");
}

/// For premultiplied chroma the colour is weighted with the mean of alpha over its block, and light without coverage
/// also fades.
#[test]
fn premultiplied_colour_fades_to_a_colour_times_alpha() {
    // BT.601, which pictures with so few rows use.
    let red = |f: &Format, p| if f.is_rgb() { [0.0, 0.0, 1.0][p] } else { [0.299, -0.299 / 1.772, 0.5][p] };
    for (text, amount) in [("0.3", 0.3), ("0.95", 0.95)] {
        compare_premultiplied(&ENTRY, &[("amount", text), ("color", "red")], 0.501, |f, p, v, a| {
            // A contribution of zero does not depend on alpha.
            let added = if red(f, p) == 0.0 { 0.0 } else { red(f, p) * a * amount };
            Some(v[p] * (1.0 - amount) + added)
        });
    }
    compare_premultiplied(&ENTRY, &[("amount", "0.3")], 0.513, |_, p, v, _| Some(v[p] * 0.7));
}
