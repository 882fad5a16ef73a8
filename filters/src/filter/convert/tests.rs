//! Tests against a reference in f64 that shares no code with the conversion: per sample, from the
//! definitions.

use super::*;
use crate::frame::sites::{SITINGS, place};
use crate::frame::{
    Alpha, ColorRange, Depth, Family, Frame, Parity, PictureStructure, PlaneRef, PlaneSet, Siting,
};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let x = self.0;
        (((x >> 18) ^ x) >> 27) as u32
    }
    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.next() as usize % all.len()]
    }
}

fn fill(frame: &mut Frame, random: &mut Random) {
    let format = *frame.format();
    for p in 0..format.planes() {
        let (_, h) = format.plane_size(p);
        for y in 0..h {
            match format.depth {
                Depth::Float => {
                    let middle = if format.is_chroma(p) { 0.5 } else { 0.0 };
                    let wide = |v: u32| (v >> 8) as f32 / (1 << 24) as f32 * 1.2 - 0.1 - middle;
                    frame.row_mut::<f32>(p, y).fill_with(|| wide(random.next()));
                }
                Depth::Bits(8) => frame.row_mut::<u8>(p, y).fill_with(|| random.next() as u8),
                Depth::Bits(n) => frame.row_mut::<u16>(p, y).fill_with(|| random.next() as u16 >> (16 - n)),
            }
        }
    }
}

pub(super) fn random_frame(format: Format, seed: u64) -> Frame {
    let mut frame = Frame::new(format);
    fill(&mut frame, &mut Random(seed));
    frame
}

pub(super) fn frame_time() -> FrameTime {
    FrameTime::of_time(0, Ratio::ZERO)
}

/// Converts in bands of `height` luma rows.
fn run(convert: &Convert, input: &Frame, height: usize) -> Frame {
    let mut out = Frame::new(convert.to);
    let mut scratch = Scratch::default();
    let rows = out.format().plane_size(0).1;
    let mut rest = out.as_mut();
    let mut top = 0;
    loop {
        let bottom = (top + height).min(rows);
        let (part, below) = if bottom == rows {
            (rest, None)
        } else {
            let (a, b) = rest.split_at_row(bottom);
            (a, Some(b))
        };
        let mut band =
            Band { rows: top..bottom, input: Some(input.as_ref()), output: part, writes: PlaneSet::ALL };
        convert.render(&(), &(), &mut band, &mut scratch);
        top = bottom;
        match below {
            Some(b) => rest = b,
            None => break,
        }
    }
    assert!(scratch.bytes() <= convert.memory().per_frame, "more memory than said");
    out
}

fn convert(from: &Format, to: &Format, level: Level) -> Convert {
    Convert::new(from, to, level).unwrap_or_else(|e| panic!("{from:?} {to:?}: {e}"))
}

// ---- reference ----

pub(in crate::filter) fn raw(plane: PlaneRef<'_>, depth: Depth, x: usize, y: usize) -> f64 {
    match depth {
        Depth::Float => plane.row::<f32>(y)[x].into(),
        Depth::Bits(8) => plane.row::<u8>(y)[x].into(),
        Depth::Bits(_) => plane.row::<u16>(y)[x].into(),
    }
}

/// Whether a sample has no coverage in premultiplied colour: the mean alpha of the luma samples that it stands for is 0,
/// or not a number.
pub(in crate::filter) fn is_uncovered(frame: &Frame, p: usize, x: usize, y: usize) -> bool {
    let f = frame.format();
    let Some(a) = f.alpha_plane().filter(|_| f.alpha == Alpha::Premultiplied) else { return false };
    let ((sx, sy), (w, h)) = (f.plane_subsampling(p), f.plane_size(a));
    let block = (y << sy..(y + 1) << sy).flat_map(|y| (x << sx..(x + 1) << sx).map(move |x| (x, y)));
    let sum: f64 = block.map(|(x, y)| raw(frame.plane(a), f.depth, x.min(w - 1), y.min(h - 1))).sum();
    !(sum > 0.0 && sum.is_finite())
}

/// (offset, scale) of plane `p`'s codes.
pub(in crate::filter) fn codes(f: &Format, p: usize) -> (f64, f64) {
    let Depth::Bits(bits) = f.depth else { return (0.0, 1.0) };
    let all = (1u32 << bits) as f64;
    let gbr = f.family == Family::Yuv && f.matrix == Matrix::RGB;
    let chroma = f.is_chroma(p) && !gbr;
    let full = f.full_range() || f.alpha_plane() == Some(p);
    let offset = if chroma {
        all / 2.0
    } else if full {
        0.0
    } else {
        all / 16.0
    };
    let span = if chroma && f.matrix != Matrix::YCGCO { 224.0 } else { 219.0 };
    (offset, if full { all - 1.0 } else { span * all / 256.0 })
}

/// Weights along one axis; `at` is the position of sample n.
fn weights(target: f64, step_in: f64, step_out: f64, at: impl Fn(i64) -> f64) -> Vec<(i64, f64)> {
    let near: Vec<(i64, f64)> =
        (-24..1000).map(|n| (n, (at(n) - target).abs())).filter(|n| n.1 < 9.0).collect();
    let midway = near.iter().any(|n| n.1 == step_in / 2.0);
    let accumulate = |d: f64| {
        if step_out > step_in && midway {
            return f64::from(u8::from(d < step_out / 2.0));
        }
        (1.0 - d / step_in.max(step_out)).max(0.0)
    };
    let sum: f64 = near.iter().map(|n| accumulate(n.1)).sum();
    near.iter().map(|&(n, d)| (n, accumulate(d) / sum)).filter(|w| w.1 > 0.0).collect()
}

/// Nominal values of `f`'s plane `p`, given for each input sample, at output sample (i, j) of plane `q` of
/// `t`.
fn resampled(
    f: &Format,
    p: usize,
    t: &Format,
    q: usize,
    i: usize,
    j: usize,
    value: impl Fn(usize, usize) -> f64,
) -> f64 {
    let (w, h) = f.plane_size(p);
    if h == 0 {
        return 0.0;
    }
    let [x, y] = place(t, q, i as i64, j as i64);
    let ((ix, iy), (ox, oy)) = (f.plane_subsampling(p), t.plane_subsampling(q));
    let step = |s: u8| (1i64 << s) as f64;
    let across = weights(x, step(ix), step(ox), |n| place(f, p, n, 0)[0]);
    let down = weights(y, step(iy), step(oy), |n| place(f, p, 0, n)[1]);
    let mut sum = 0.0;
    for &(n, wy) in &down {
        for &(m, wx) in &across {
            sum += wx * wy * value(m.clamp(0, w as i64 - 1) as usize, n.clamp(0, h as i64 - 1) as usize);
        }
    }
    sum
}

fn weights_of(m: Matrix) -> (f64, f64) {
    match m {
        Matrix::BT709 => (0.2126, 0.0722),
        Matrix::FCC => (0.3, 0.11),
        Matrix::BT470BG | Matrix::SMPTE170M | Matrix::UNSPECIFIED => (0.299, 0.114),
        Matrix::SMPTE240M => (0.212, 0.087),
        Matrix::BT2020NC => (0.2627, 0.0593),
        _ => panic!("{m:?}"),
    }
}

fn rgb_of(m: Matrix, [y, u, v]: [f64; 3]) -> [f64; 3] {
    match m {
        Matrix::RGB => [v, y, u],
        Matrix::YCGCO => [y - u + v, y + u, y - u - v],
        _ => {
            let (kr, kb) = weights_of(m);
            let (r, b) = (y + 2.0 * (1.0 - kr) * v, y + 2.0 * (1.0 - kb) * u);
            [r, (y - kr * r - kb * b) / (1.0 - kr - kb), b]
        }
    }
}

fn yuv_of(m: Matrix, [r, g, b]: [f64; 3]) -> [f64; 3] {
    match m {
        Matrix::RGB => [g, b, r],
        Matrix::YCGCO => [(r + 2.0 * g + b) / 4.0, (2.0 * g - r - b) / 4.0, (r - b) / 2.0],
        _ => {
            let (kr, kb) = weights_of(m);
            let y = kr * r + (1.0 - kr - kb) * g + kb * b;
            [y, (b - y) / 2.0 / (1.0 - kb), (r - y) / 2.0 / (1.0 - kr)]
        }
    }
}

/// The nominal value of sample (i, j) of plane `q` of `t`.
pub(in crate::filter) fn reference(input: &Frame, t: &Format, q: usize, i: usize, j: usize) -> f64 {
    let f = input.format();
    let nominal = |p: usize, x: usize, y: usize| {
        let (offset, scale) = codes(f, p);
        (raw(input.plane(p), f.depth, x, y) - offset) / scale
    };
    let at = |p: usize| resampled(f, p, t, q, i, j, |x, y| nominal(p, x, y));
    let matrix = |f: &Format| if f.family == Family::Rgb { Matrix::RGB } else { f.matrix };
    let (mf, mt) = (matrix(f), matrix(t));
    if t.alpha_plane() == Some(q) {
        return f.alpha_plane().map_or(1.0, |p| nominal(p, i, j));
    }
    // planes G B R are Y U V with the RGB matrix
    let rgb_in = f.family != Family::Gray && mf == Matrix::RGB;
    let rgb_out = t.family != Family::Gray && mt == Matrix::RGB;
    match (f.family, t.family) {
        (Family::Gray, _) if q == 0 || rgb_out => nominal(0, i, j),
        (Family::Gray, _) => 0.0,
        _ if rgb_in && rgb_out => nominal(q, i, j),
        _ if rgb_in => resampled(f, 0, t, q, i, j, |x, y| {
            yuv_of(mt, rgb_of(Matrix::RGB, [nominal(0, x, y), nominal(1, x, y), nominal(2, x, y)]))[q]
        }),
        (_, Family::Gray) => nominal(0, i, j),
        _ if q == 0 || rgb_out => yuv_of(mt, rgb_of(mf, [nominal(0, i, j), at(1), at(2)]))[q],
        _ => yuv_of(mt, rgb_of(mf, [0.0, at(1), at(2)]))[q],
    }
}

fn compare(input: &Frame, out: &Frame) {
    let t = out.format();
    for q in 0..t.planes() {
        let (w, h) = t.plane_size(q);
        let (offset, scale) = codes(t, q);
        for j in 0..h {
            for i in 0..w {
                let want = reference(input, t, q, i, j) * scale + offset;
                let got = raw(out.plane(q), t.depth, i, j);
                let slack = match t.depth {
                    Depth::Float => 4e-6,
                    Depth::Bits(_) => 0.5 + 1.0 / 16.0,
                };
                let want = match t.depth {
                    Depth::Float => want,
                    Depth::Bits(b) => want.clamp(0.0, f64::from((1u32 << b) - 1)),
                };
                assert!(
                    (want - got).abs() <= slack,
                    "{:?}\n{t:?}\nplane {q} at {i},{j}: {got} for {want}",
                    input.format()
                );
            }
        }
    }
}

const NAMES: [&str; 22] = [
    "gray",
    "gray12",
    "gray16",
    "grayf32",
    "ya8",
    "ya16",
    "yuv420p",
    "yuv422p10",
    "yuv444p",
    "yuv444p16",
    "yuv411p",
    "yuv410p12",
    "yuv440p9",
    "yuva420p10",
    "yuva444p",
    "yuv420pf32",
    "gbrp",
    "gbrp10",
    "gbrp16",
    "gbrap",
    "gbrap16",
    "gbrapf32",
];
const MATRICES: [Matrix; 8] = [
    Matrix::BT709,
    Matrix::FCC,
    Matrix::BT470BG,
    Matrix::SMPTE170M,
    Matrix::SMPTE240M,
    Matrix::YCGCO,
    Matrix::BT2020NC,
    Matrix::RGB,
];

/// A format of that name with random tags.
fn tagged(name: &str, random: &mut Random, (w, h): (u32, u32), picture: PictureStructure) -> Format {
    let mut f = Format::from_name(name, w, h).unwrap();
    f.picture = picture;
    f.range = random.pick(&[ColorRange::Limited, ColorRange::Full]);
    f.siting = random.pick(&SITINGS);
    if f.subsampling != (0, 0) && random.next().is_multiple_of(3) {
        // including those that have no name
        f.subsampling = random.pick(&[(0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)]);
    }
    f.matrix = random.pick(if f.subsampling == (0, 0) && f.family == Family::Yuv {
        &MATRICES
    } else {
        &MATRICES[..7]
    });
    f
}

#[test]
fn every_pair_of_formats_is_as_defined_at_every_level_and_in_any_bands() {
    let mut random = Random(20_240_611);
    let sizes = [(1, 1), (2, 2), (3, 5), (13, 9), (19, 6), (34, 17)];
    let pictures = [
        PictureStructure::Frame,
        PictureStructure::Frame,
        PictureStructure::Field(Parity::Top),
        PictureStructure::Field(Parity::Bottom),
    ];
    for a in NAMES {
        for b in NAMES {
            for round in 0..4 {
                let (size, picture) = (random.pick(&sizes), random.pick(&pictures));
                let from = tagged(a, &mut random, size, picture);
                let mut to = tagged(b, &mut random, size, picture);
                if round == 0 && from.family == to.family {
                    // only the depth or the chroma grid changes
                    (to.range, to.matrix, to.siting) = (from.range, from.matrix, from.siting);
                    if to.subsampling != (0, 0) && to.matrix == Matrix::RGB {
                        continue;
                    }
                }
                let unsaid = |s| s == Siting::Unspecified;
                if unsaid(to.siting) && !unsaid(from.siting) {
                    to.siting = Siting::Left;
                }
                let input = random_frame(from, u64::from(random.next()));
                let whole = run(&convert(&from, &to, Level::SCALAR), &input, usize::MAX / 2);
                compare(&input, &whole);
                let step = 1 << from.subsampling.1.max(to.subsampling.1);
                for &level in Level::available() {
                    let c = convert(&from, &to, level);
                    for bands in 1..=20 / step {
                        let got = run(&c, &input, bands * step);
                        assert!(got == whole, "{from:?} {to:?} {level} in bands of {}", bands * step);
                    }
                }
            }
        }
    }
}

#[test]
fn rows_beyond_the_reach_do_not_matter() {
    let mut random = Random(7);
    for a in NAMES {
        for b in NAMES {
            for picture in [PictureStructure::Frame, PictureStructure::Field(Parity::Bottom)] {
                let from = tagged(a, &mut random, (6, 96), picture);
                let to = tagged(b, &mut random, (6, 96), picture);
                let c = convert(&from, &to, Level::best());
                let Reach::Rows(reach) = c.at(&frame_time()).unwrap().0.reach else { panic!("no rows") };
                assert!(reach <= 16, "{reach}");
                let mut input = random_frame(from, 1);
                let want = run(&c, &input, 1000);
                let band = 20..24;
                // overwrite all rows of the input that are entirely outside
                for p in 0..from.planes() {
                    let sy = from.plane_subsampling(p).1;
                    for y in 0..from.plane_size(p).1 {
                        let (top, bottom) = (y << sy, (y + 1) << sy);
                        if bottom + reach as usize <= band.start || top >= band.end + reach as usize {
                            input.row_bytes_mut(p, y).fill(1);
                        }
                    }
                }
                let got = run(&c, &input, 1000);
                for p in 0..to.planes() {
                    let sy = to.plane_subsampling(p).1;
                    for y in band.start >> sy..band.end >> sy {
                        assert_eq!(got.plane(p).row_bytes(y), want.plane(p).row_bytes(y), "{from:?} {to:?}");
                    }
                }
            }
        }
    }
}

fn there_and_back(from: Format, to: Format, input: &Frame) -> Frame {
    let there = run(&convert(&from, &to, Level::best()), input, 1000);
    run(&convert(&to, &from, Level::best()), &there, 1000)
}

#[test]
fn more_bits_and_back_is_where_it_began() {
    for (a, b) in [
        ("gray", "gray16"),
        ("gray", "gray10"),
        ("gbrp", "gbrp16"),
        ("gbrap", "gbrap16"),
        ("yuv420p", "yuv420p10"),
        ("yuva422p", "yuva422p16"),
        ("gray", "grayf32"),
        ("gray16", "grayf32"),
        ("gbrp", "gbrpf32"),
        ("yuv420p10", "yuv420pf32"),
        ("yuv420p16", "yuv420pf32"),
        ("gray", "gbrp"),
        ("gray16", "yuv444p16"),
        ("gray", "yuv420p"),
        ("gbrp", "gbrap"),
    ] {
        let from = Format::from_name(a, 64, 32).unwrap();
        let input = random_frame(from, 3);
        let to = retarget(&from, b).unwrap();
        // limited-range grey has codes that full-range RGB does not have
        let to = if from.family == Family::Gray { Format { range: ColorRange::Limited, ..to } } else { to };
        assert!(there_and_back(from, to, &input) == input, "{a} {b}");
    }
}

#[test]
fn rgb_comes_back_from_16_bit_yuv_as_it_was_and_from_8_bit_nearly() {
    for matrix in &MATRICES[..7] {
        let from = Format::from_name("gbrp", 64, 64).unwrap();
        let input = random_frame(from, 4);
        let to = Format { matrix: *matrix, ..retarget(&from, "yuv444p16").unwrap() };
        assert!(there_and_back(from, to, &input) == input, "{matrix:?}");
        let to = Format { matrix: *matrix, ..retarget(&from, "yuv444p").unwrap() };
        let back = there_and_back(from, to, &input);
        let most = (0..3).flat_map(|p| (0..64).map(move |y| (p, y))).flat_map(|(p, y)| {
            input
                .row::<u8>(p, y)
                .iter()
                .zip(back.row::<u8>(p, y))
                .map(|(a, b)| a.abs_diff(*b))
                .collect::<Vec<_>>()
        });
        assert!(most.max().unwrap() <= 3, "{matrix:?}");
    }
}

#[test]
fn grey_stays_grey() {
    for matrix in &MATRICES[..7] {
        for (name, back) in
            [("gbrp", "yuv420p"), ("gbrp16", "yuv444p16"), ("gbrp16", "yuv422p10"), ("gbrpf32", "yuv410p")]
        {
            let rgb = Format::from_name(name, 37, 21).unwrap();
            let gray = random_frame(Format::from_name("gray16", 37, 21).unwrap(), 5);
            let flat = run(&convert(gray.format(), &rgb, Level::best()), &gray, 1000);
            let to = Format { matrix: *matrix, ..retarget(&rgb, back).unwrap() };
            let yuv = run(&convert(&rgb, &to, Level::best()), &flat, 1000);
            let Depth::Bits(bits) = to.depth else { panic!() };
            for p in [1, 2] {
                for y in 0..to.plane_size(p).1 {
                    if bits == 8 {
                        assert!(yuv.row::<u8>(p, y).iter().all(|&v| v == 128), "{matrix:?} {name} {back}");
                    } else {
                        assert!(
                            yuv.row::<u16>(p, y).iter().all(|&v| v == 1 << (bits - 1)),
                            "{matrix:?} {name} {back}"
                        );
                    }
                }
            }
            let again = run(&convert(&to, &rgb, Level::best()), &yuv, 1000);
            for y in 0..21 {
                assert_eq!(again.plane(0).row_bytes(y), again.plane(1).row_bytes(y));
                assert_eq!(again.plane(0).row_bytes(y), again.plane(2).row_bytes(y));
            }
        }
    }
}

#[test]
fn impossible_conversions_are_refused_by_name() {
    let f = |name: &str| Format::from_name(name, 64, 48).unwrap();
    let refuse = |a: Format, b: Format| match Convert::new(&a, &b, Level::SCALAR) {
        Err(e) => e.to_string(),
        Ok(c) => panic!("{}", c.describe()),
    };
    for matrix in [Matrix::BT2020C, Matrix::SMPTE2085, Matrix::CHROMA_DERIVED_C, Matrix::ICTCP, Matrix(99)] {
        let text = refuse(Format { matrix, ..f("yuv420p10") }, f("gbrp"));
        assert!(
            text.contains("bt709") && text.contains(&matrix.name().map_or("99".into(), String::from)),
            "{text}"
        );
        // no linear system is solved if the matrix does not change
        assert!(
            Convert::new(
                &Format { matrix, ..f("yuv420p10") },
                &Format { matrix, ..f("yuv444p") },
                Level::SCALAR
            )
            .is_ok()
        );
    }
    let text = refuse(Format { matrix: Matrix::CHROMA_DERIVED_NC, ..f("yuv444p") }, f("gbrp"));
    assert!(text.contains("needs primaries"), "{text}");
    assert!(refuse(f("gbrp"), Format { width: 65, ..f("gbrp") }).contains("keeps the size"));
    assert!(refuse(f("gbrp"), Format { rate: Ratio::whole(25), ..f("gbrp") }).contains("keeps the rate"));
    assert_eq!(refuse(f("gbrp"), f("gbrp").field(Parity::Top)), ConvertError::Picture.to_string());
    assert_eq!(
        refuse(Format { matrix: Matrix::RGB, ..f("yuv420p") }, f("gbrp")),
        ConvertError::SubsampledRgb.to_string()
    );
    let (a, b) = (Primaries::BT709, Primaries::BT2020);
    assert!(
        refuse(Format { primaries: a, ..f("gray") }, Format { primaries: b, ..f("gray") }).contains("bt2020")
    );
    assert!(refuse(f("gray"), Format { depth: Depth::Bits(3), ..f("gray") }).contains("8 to 16"));
}

#[test]
fn a_description_names_the_assumptions() {
    let tell =
        |from: Format, name: &str| convert(&from, &retarget(&from, name).unwrap(), Level::SCALAR).describe();
    let video = Format::from_name("yuv420p", 1920, 1080).unwrap();
    let said = Format { matrix: Matrix::BT709, range: ColorRange::Limited, siting: Siting::Left, ..video };
    assert_eq!(tell(said, "gbrp16"), "yuv420p bt709 limited -> gbrp16 full");
    assert_eq!(
        tell(Format { siting: Siting::Unspecified, ..said }, "gbrp16"),
        "yuv420p bt709 limited -> gbrp16 full; no chroma siting tag: assuming left"
    );
    assert_eq!(
        tell(video, "gbrp"),
        "yuv420p bt709 limited -> gbrp full; no matrix tag: assuming bt709 for 1080 rows; no range tag: assuming limited; \
         no chroma siting tag: assuming left"
    );
    assert_eq!(tell(video, "yuv420p10"), "yuv420p limited -> yuv420p10 limited");
    let png = Format::from_name("gbrap", 720, 480).unwrap();
    assert_eq!(tell(png, "yuv420p"), "gbrap full -> yuv420p smpte170m limited; alpha is dropped");
}
