use super::super::convert::tests::{codes, is_uncovered, raw, reference};
use super::super::testing::{FORMATS, format, noise, run};
use super::*;
use crate::frame::{Alpha, ColorRange, Family, Frame, Siting};
use crate::lut::Problem;
use crate::settings::{Value, Values};
use core::fmt::Write;

/// Values between -0.2 and 1.2 that no formula gives.
fn values(n: usize, seed: u64) -> Vec<[f64; 3]> {
    let value = |i: u64| (crate::noise::seed::mix64(seed ^ i) >> 40) as f64 / (1 << 24) as f64 * 1.4 - 0.2;
    (0..n as u64).map(|i| [0, 1, 2].map(|c| value(3 * i + c))).collect()
}

fn text(head: &str, values: &[&[[f64; 3]]]) -> String {
    let mut text = head.to_owned();
    for [r, g, b] in values.concat() {
        writeln!(text, "{r} {g} {b}").unwrap();
    }
    text
}

fn bound(text: &str, format: &Format, level: Level) -> Box<dyn Filter> {
    let lut: Lut = text.parse().unwrap();
    let mut given = Values::new(ENTRY.settings);
    given.set("file", Value::File(FileAsset::named("a.cube").read(Arc::new(lut), 1))).unwrap();
    ENTRY.bind(&given, format, 1, level).unwrap()
}

/// The definition: the tetrahedron is found by sorting the fractions, and walked corner by corner.
fn tetrahedral(table: &[[f64; 3]], size: usize, at: [f64; 3]) -> [f64; 3] {
    let at = at.map(|v| v.clamp(0.0, size as f64 - 1.0));
    let mut corner = at.map(|v| (v.floor() as usize).min(size - 2));
    let part = [0, 1, 2].map(|c| at[c] - corner[c] as f64);
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| part[b].total_cmp(&part[a]));
    let entry = |c: [usize; 3]| table[c[0] + size * (c[1] + size * c[2])];
    let mut sum = entry(corner);
    for c in order {
        let before = entry(corner);
        corner[c] += 1;
        (0..3).for_each(|k| sum[k] += part[c] * (entry(corner)[k] - before[k]));
    }
    sum
}

fn linear(table: &[[f64; 3]], c: usize, at: f64) -> f64 {
    let at = at.clamp(0.0, table.len() as f64 - 1.0);
    let cell = (at.floor() as usize).min(table.len() - 2);
    table[cell][c] + (at - cell as f64) * (table[cell + 1][c] - table[cell][c])
}

/// What a sample of each plane becomes, from a function of straight R, G and B in f64.
fn twin(source: &Frame, of: impl Fn([f64; 3]) -> [f64; 3]) -> impl Fn(usize, usize, usize) -> f64 {
    let f = *source.format();
    let alpha = f.alpha_plane().filter(|_| f.alpha == Alpha::Premultiplied);
    let rgb = Format::new(f.width, f.height, Family::Rgb, Depth::Float, (0, 0));
    let mut made = Frame::new(Format { picture: f.picture, ..rgb });
    let (w, h) = f.plane_size(0);
    for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
        let gbr = [0, 1, 2].map(|q| reference(source, made.format(), q, x, y));
        let a = alpha.map_or(1.0, |p| {
            let (zero, span) = codes(&f, p);
            (raw(source.plane(p), f.depth, x, y) - zero) / span
        });
        let covered = a > 0.0 && a.is_finite();
        let by = if covered { a } else { 1.0 };
        let [r, g, b] = of([gbr[2], gbr[0], gbr[1]].map(|v| v / by));
        for (p, v) in [g, b, r].into_iter().enumerate() {
            made.row_mut::<f32>(p, y)[x] = (v * by) as f32;
        }
    }
    move |p, x, y| reference(&made, &f, p, x, y)
}

fn check(source: &Frame, text: &str, of: impl Fn([f64; 3]) -> [f64; 3]) {
    let f = *source.format();
    let clip = |v: f64| if f.depth == Depth::Float { v } else { v.clamp(0.0, 1.0) };
    let want = twin(source, |rgb| of(rgb).map(clip));
    let got = run(&*bound(text, &f, Level::SCALAR), source, 0, &[]);
    for p in 0..f.planes() {
        let ((w, h), (zero, span)) = (f.plane_size(p), codes(&f, p));
        for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
            let [was, is] = [source, &got].map(|frame| raw(frame.plane(p), f.depth, x, y));
            let bare = is_uncovered(source, p, x, y);
            if Some(p) == f.alpha_plane() || !was.is_finite() || bare {
                assert!(was == is || was.is_nan() && is.is_nan(), "{f:?} plane {p} at {x},{y}: {was} {is}");
                continue;
            }
            let top = f.depth.bits().map_or(f64::INFINITY, |b| f64::from((1u32 << b) - 1));
            let exact = zero + want(p, x, y) * span;
            let exact = if exact.is_finite() { exact.clamp(top.min(0.0).min(-top), top) } else { was };
            let exact = if f.depth == Depth::Float { exact } else { exact.max(0.0) };
            let by = if f.depth == Depth::Float { 1e-4 * (1.0 + exact.abs()) } else { 0.57 + 2e-5 * top };
            assert!((is - exact).abs() <= by, "{f:?} plane {p} at {x},{y}: {was} became {is}, not {exact}");
        }
    }
    for (level, cuts) in Level::available().iter().flat_map(|l| [(*l, &[][..]), (*l, &[4, 8, 16])]) {
        assert!(run(&*bound(text, &f, level), source, 0, cuts) == got, "{f:?} {level} {cuts:?}");
    }
}

/// Formats of every kind, with tags that matter.
fn formats() -> Vec<Format> {
    let sitings = [Siting::Left, Siting::Center, Siting::TopLeft, Siting::PalDv, Siting::Bottom];
    let mut all = Vec::new();
    for (i, &(name, width, height)) in FORMATS.iter().enumerate() {
        let f = Format { siting: sitings[i % sitings.len()], ..format(name, width, height) };
        all.push(f);
        if f.has_alpha() {
            all.push(Format { alpha: Alpha::Premultiplied, range: ColorRange::Full, ..f });
        }
    }
    all
}

#[test]
fn every_sample_is_as_defined() {
    let (five, four) = (values(5, 1), values(64, 2));
    let domain = |v: [f64; 3], n: f64| {
        let (min, max) = ([-0.1, 0.0, 0.05], [1.2, 1.0, 1.1]);
        [0, 1, 2].map(|c| (v[c] - min[c]) / (max[c] - min[c]) * n)
    };
    let number = |v: f64| if v.is_nan() { f64::NEG_INFINITY } else { v };
    let head = "DOMAIN_MIN -0.1 0 0.05\nDOMAIN_MAX 1.2 1 1.1\n";
    let one = text(&format!("{head}LUT_1D_SIZE 5\n"), &[&five]);
    let three = text(&format!("{head}LUT_3D_SIZE 4\n"), &[&four]);
    let both = text(
        "LUT_1D_SIZE 5\nLUT_1D_INPUT_RANGE -0.5 1.5\nLUT_3D_SIZE 4\nLUT_3D_INPUT_RANGE 0.1 0.9\n",
        &[&five, &four],
    );
    for f in formats() {
        let source = noise(f);
        let curve = |v: [f64; 3]| [0, 1, 2].map(|c| linear(&five, c, v[c]));
        check(&source, &one, |v| curve(domain(v.map(number), 4.0)));
        check(&source, &three, |v| tetrahedral(&four, 4, domain(v.map(number), 3.0)));
        check(&source, &both, |v| {
            let shaped = curve(v.map(|v| (number(v) + 0.5) / 2.0 * 4.0));
            tetrahedral(&four, 4, shaped.map(|v| (v - 0.1) / 0.8 * 3.0))
        });
    }
}

#[test]
fn a_table_that_changes_nothing_changes_no_code() {
    for size in [2, 33, 65] {
        let n = size as f64 - 1.0;
        let grid = (0..size * size * size)
            .map(|i| [i % size, i / size % size, i / size / size].map(|v| v as f64 / n));
        let text = text(&format!("LUT_3D_SIZE {size}\n"), &[&grid.collect::<Vec<_>>()]);
        for name in ["gbrp", "gbrp16", "gray16", "yuv444p"] {
            let f = format(name, 300, 40);
            // Colours whose R, G and B are within 0..1.
            let grey = |p: usize| if f.is_chroma(p) { 0.0 } else { 1.0 };
            let mut source = Frame::new(f);
            for p in 0..f.planes() {
                let (zero, span) = codes(&f, p);
                for y in 0..40 {
                    for x in 0..300 {
                        let v =
                            zero + (span * grey(p) * ((x * 7 + y * 11 + p * 5) % 256) as f64 / 255.0).floor();
                        match f.depth {
                            Depth::Bits(8) => source.row_mut::<u8>(p, y)[x] = v as u8,
                            _ => source.row_mut::<u16>(p, y)[x] = v as u16,
                        }
                    }
                }
            }
            assert!(run(&*bound(&text, &f, Level::best()), &source, 0, &[]) == source, "{name} {size}");
        }
    }
}

#[test]
fn files_are_read_as_they_are_written_in_the_wild() {
    let rest = "0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n";
    let plain: Lut = format!("LUT_3D_SIZE 2\n{rest}").parse().unwrap();
    let loud = format!(
        "\u{feff}#Created by: somebody\r\nTITLE \"A look\"\r\n\r\n# size\r\nLUT_3D_SIZE   2\r\nDOMAIN_MIN 0.0 0.0 0.0\r\n\
         DOMAIN_MAX 1.0 1.0 1.0\r\n#data\r\n{}",
        rest.replace(' ', "\t ").replace('\n', " \r\n\r\n")
    );
    let loud: Lut = loud.parse().unwrap();
    assert_eq!(loud, plain);
}

#[test]
fn errors_name_the_line_and_the_problem() {
    let error = |text: &str| text.parse::<Lut>().unwrap_err();
    type Case = (&'static str, usize, fn(&Problem) -> bool);
    let cases: [Case; 13] = [
        ("", 1, |p| matches!(p, Problem::NoSize)),
        ("0 0 0", 1, |p| matches!(p, Problem::NoSize)),
        ("TITLE \"x\"\nLUT_3D_SIZE 1", 2, |p| matches!(p, Problem::Size { most: 129, .. })),
        ("LUT_3D_SIZE 130", 1, |p| matches!(p, Problem::Size { .. })),
        ("LUT_1D_SIZE 99999", 1, |p| matches!(p, Problem::Size { most: 65536, .. })),
        ("LUT_1D_SIZE 2\nLUT_1D_SIZE 2", 2, |p| matches!(p, Problem::Twice(_))),
        ("LUT_1D_SIZE 2\n\n0 0", 3, |p| matches!(p, Problem::Numbers { count: 3, .. })),
        ("LUT_1D_SIZE 2\n0 0 0 0", 2, |p| matches!(p, Problem::Numbers { .. })),
        ("LUT_1D_SIZE 2\n0 nan 0", 2, |p| matches!(p, Problem::Numbers { .. })),
        ("LUT_1D_SIZE 2\n0 0 0\n1 1 1\n1 1 1", 4, |p| matches!(p, Problem::More(2))),
        ("LUT_1D_SIZE 3\n0 0 0\n1 1 1", 3, |p| matches!(p, Problem::Ends { found: 2, expected: 3 })),
        ("LUT_1D_SIZE 2\nLUT_IN_VIDEO_RANGE\n", 2, |p| matches!(p, Problem::Keyword(_))),
        ("DOMAIN_MIN 0 1 0\nLUT_1D_SIZE 2\n0 0 0\n1 1 1", 4, |p| matches!(p, Problem::Domain { .. })),
    ];
    for (text, line, is) in cases {
        let e = error(text);
        assert!(e.line == line && is(&e.problem), "{text:?}: {e}");
    }
    assert!(matches!(error("LUT_1D_SIZE 2\n0 0 0\nTITLE x").problem, Problem::Late(_)));
}
