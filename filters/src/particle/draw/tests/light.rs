//! Drawing in R, G and B and in linear light against a slow reference in f64.

use super::super::draw_plane::{self, DrawPlane, PlaneContent};
use super::super::*;
use super::reference::coverage;
use super::{Rng, drawn};
use crate::frame::{Alpha, ColorRange, Depth, Family, Format, Frame, Matrix, Siting, Transfer};
use crate::pixel::transfer::TransferFunction;
use crate::simd::Level;

pub(super) fn sample(frame: &Frame, p: usize, x: usize, y: usize) -> f64 {
    match frame.format().depth.bytes() {
        1 => frame.row::<u8>(p, y)[x].into(),
        2 => frame.row::<u16>(p, y)[x].into(),
        _ => frame.row::<f32>(p, y)[x].into(),
    }
}

pub(super) fn set(frame: &mut Frame, p: usize, x: usize, y: usize, v: f64) {
    match frame.format().depth.bytes() {
        1 => frame.row_mut::<u8>(p, y)[x] = v as u8,
        2 => frame.row_mut::<u16>(p, y)[x] = v as u16,
        _ => frame.row_mut::<f32>(p, y)[x] = v as f32,
    }
}

/// What the plate is read as.
struct Twin<'a> {
    format: Format,
    places: Vec<DrawPlane>,
    start: &'a Frame,
    curve: TransferFunction,
    styles: &'a [SplatStyle],
    splats: &'a [Splat],
}

impl Twin<'_> {
    fn nominal(&self, p: usize, x: usize, y: usize) -> f64 {
        let place = &self.places[p];
        (sample(self.start, p, x, y) - f64::from(place.zero)) / f64::from(place.span)
    }

    /// The mean of a plane as fine as luma over a block.
    fn block(&self, p: usize, [x, y]: [usize; 2], [sx, sy]: [u32; 2]) -> f64 {
        let (w, h) = self.format.plane_size(p);
        let (mut sum, mut count) = (0.0, 0.0);
        for y in (y << sy..(y + 1) << sy).filter(|y| *y < h) {
            for x in (x << sx..(x + 1) << sx).filter(|x| *x < w) {
                sum += self.nominal(p, x, y);
                count += 1.0;
            }
        }
        sum / count
    }

    /// Values of G, B and R (or grey) in a cell of plane `p`, and its alpha.
    fn cell(&self, p: usize, x: usize, y: usize) -> (Vec<f64>, f64) {
        let shift = self.places[p].cells.shift;
        let alpha = self.format.alpha_plane().map_or(1.0, |a| self.block(a, [x, y], shift));
        let values = match draw_plane::matrix(&self.format) {
            Some(m) if self.format.family == Family::Yuv => {
                let fine = self.places[1].cells.shift;
                let (cx, cy) = if shift == fine { (x, y) } else { (x >> fine[0], y >> fine[1]) };
                let yuv = [self.block(0, [x, y], shift), self.nominal(1, cx, cy), self.nominal(2, cx, cy)];
                m.to_rgb().map(|row| row[0] * yuv[0] + row[1] * yuv[1] + row[2] * yuv[2]).to_vec()
            }
            Some(_) => vec![self.nominal(0, x, y)],
            None => (0..3).map(|q| self.nominal(q, x, y)).collect(),
        };
        (values, alpha)
    }

    /// Alpha of a cell as fine as luma after all splats.
    fn alpha_after(&self, x: usize, y: usize) -> f64 {
        let Some(p) = self.format.alpha_plane() else { return 1.0 };
        let alpha = self.nominal(p, x, y);
        let mut now = alpha;
        for (style, _, a) in self.coverages(&self.places[p], x, y) {
            match style.blend {
                Blend::Over | Blend::Screen => now = now * (1.0 - a) + a,
                Blend::Add => now += a,
                Blend::Multiply => {}
            }
        }
        now.min(alpha.max(1.0))
    }

    /// The splats that cover a cell: style, colour, and coverage times opacity.
    fn coverages(&self, place: &DrawPlane, x: usize, y: usize) -> Vec<(&SplatStyle, [u16; 3], f64)> {
        let found = self.splats.iter().filter_map(|splat| {
            let style = &self.styles[splat.style as usize];
            let at = [place.cells.offset(0, splat.x, x as i32), place.cells.offset(1, splat.y, y as i32)];
            let reach = f32::from(splat.half[0] + splat.half[1]) / 16.0 + 5.0;
            if at[0].abs().max(at[1].abs()) > reach {
                return None;
            }
            let cell = place.cells.size().map(f64::from);
            let cover = coverage(&style.shape, splat, at.map(f64::from), cell);
            let a = cover * f64::from(splat.opacity) / 65535.0;
            (a > 0.0).then_some((style, splat.colour, a))
        });
        found.collect()
    }

    /// The values of G, B and R (or grey) in a cell of plane `p` as its samples have them, and their change.
    fn change(&self, p: usize, x: usize, y: usize) -> [Vec<f64>; 2] {
        let place = &self.places[p];
        let (values, alpha) = self.cell(p, x, y);
        let own = if alpha > 0.0 { alpha } else { 1.0 };
        let premultiplied = self.format.alpha == Alpha::Premultiplied;
        let light = |v: &f64| self.curve.light(if premultiplied { v / own } else { *v });
        let by = if premultiplied { own } else { alpha };
        let mut now: Vec<f64> = values.iter().map(|v| light(v) * by).collect();
        let coverages = self.coverages(place, x, y);
        for (style, colour, a) in &coverages {
            for (p, c) in now.iter_mut().zip(colour) {
                let c = f64::from(*c) / 65535.0;
                let c = if self.curve == TransferFunction::Linear { c } else { c * c };
                *p = match style.blend {
                    Blend::Over => *p * (1.0 - a) + c * a,
                    Blend::Add => *p + c * a,
                    Blend::Screen => *p + c * a - *p * c * a,
                    Blend::Multiply => *p * (1.0 - a + c * a),
                };
            }
        }
        let [sx, sy] = place.cells.shift;
        let (w, h) = self.format.plane_size(0);
        let block = (y << sy..(y + 1) << sy).flat_map(|y| (x << sx..(x + 1) << sx).map(move |x| (x, y)));
        let all: Vec<f64> =
            block.filter(|(x, y)| *x < w && *y < h).map(|(x, y)| self.alpha_after(x, y)).collect();
        let now_alpha = all.iter().sum::<f64>() / all.len() as f64;
        let has = self.format.has_alpha();
        let hidden = has && !premultiplied && now_alpha <= 0.0;
        if hidden || (coverages.is_empty() && now_alpha == alpha) {
            return [values.clone(), vec![0.0; values.len()]];
        }
        let out = if has && now_alpha > 0.0 { now_alpha } else { 1.0 };
        let limited = self.format.depth != Depth::Float;
        let change = now.iter().zip(&values).map(|(n, was)| {
            let now = self.curve.code(n / out) * if premultiplied { out } else { 1.0 };
            if !limited {
                return now - was;
            }
            let (rise, room) = (now.clamp(was.min(0.0), f64::INFINITY) - was, was.max(1.0) - was);
            let softens = self.styles.iter().all(|s| s.blend == Blend::Add) && !self.format.has_alpha();
            if !softens || rise <= 0.75 * room {
                return rise.min(room);
            }
            let t = ((rise / room - 0.75) / 0.5).min(1.0);
            room * (0.75 + 0.25 * t * (2.0 - t))
        });
        let change = change.collect();
        [values, change]
    }

    /// The least change of luma of a sample for changes of U and V.
    fn least_luma(&self, [was, more]: &[Vec<f64>; 2], uv: [f64; 2]) -> f64 {
        let to_rgb = draw_plane::matrix(&self.format).unwrap().to_rgb();
        let top = if self.format.depth == Depth::Float { f64::INFINITY } else { 1.0 };
        let least = (0..3)
            .map(|c| more[c].min(0.0).min(top - was[c]) - (to_rgb[c][1] * uv[0] + to_rgb[c][2] * uv[1]));
        least.fold(f64::NEG_INFINITY, f64::max)
    }

    /// The changes of U and V of a block by what was drawn in their cells.
    fn uv(&self, x: usize, y: usize) -> [f64; 2] {
        let m = draw_plane::matrix(&self.format).unwrap().to_yuv();
        [1, 2].map(|p| self.change(p, x, y)[1].iter().zip(m[p]).map(|(c, by)| c * by).sum())
    }

    /// The code of plane `p` at a place after all splats, before it is rounded. Luma depends on the codes of chroma as
    /// they were rounded, in `end`.
    fn after(&self, p: usize, x: usize, y: usize, end: &Frame) -> f64 {
        let place = &self.places[p];
        let old = sample(self.start, p, x, y);
        let matrix = draw_plane::matrix(&self.format).filter(|_| self.format.family == Family::Yuv);
        let [sx, sy] = self.places[self.format.planes().min(3) - 1].cells.shift;
        let change = match (place.content, matrix) {
            (PlaneContent::Alpha, _) => self.alpha_after(x, y) - self.nominal(p, x, y),
            (_, None) => self.change(p, x, y)[1][p],
            (PlaneContent::Light(_), Some(m)) => {
                let change = self.change(p, x, y);
                let own: f64 = change[1].iter().zip(m.to_yuv()[0]).map(|(c, by)| c * by).sum();
                let uv = [1, 2].map(|p| {
                    let (x, y) = (x >> sx, (y >> sy).min(self.format.plane_size(p).1 - 1));
                    (sample(end, p, x, y) - sample(self.start, p, x, y)) / f64::from(self.places[p].span)
                });
                if [sx, sy] != [0, 0] { own.max(self.least_luma(&change, uv)) } else { own }
            }
            (_, Some(m)) => {
                let uv = self.uv(x, y);
                let mut part = 1.0f64;
                let (w, h) = self.format.plane_size(0);
                let luma =
                    (y << sy..(y + 1) << sy).flat_map(|y| (x << sx..(x + 1) << sx).map(move |x| (x, y)));
                let limited = [sx, sy] != [0, 0] && self.format.depth != Depth::Float;
                for (x, y) in luma.filter(|(x, y)| limited && *x < w && *y < h) {
                    let change = self.change(0, x, y);
                    let (all, none) = (self.least_luma(&change, uv), self.least_luma(&change, [0.0; 2]));
                    let luma: f64 = change[0].iter().zip(m.to_yuv()[0]).map(|(c, by)| c * by).sum();
                    let above = (1.0 - luma).max(0.0);
                    part = part.min(if all > above { (above - none) / (all - none) } else { 1.0 });
                }
                uv[p - 1] * part
            }
        };
        let v = old + change * f64::from(place.span);
        match place.legal {
            Some((low, high)) => v.clamp(old.min(low.into()), old.max(high.into())),
            None => v,
        }
    }
}

/// A picture of codes from dark to light, some of them transparent.
fn plate(format: Format, rng: &mut Rng) -> Frame {
    let mut frame = Frame::new(format);
    for p in 0..format.planes() {
        let place = DrawPlane::of(&format, p);
        let (w, h) = format.plane_size(p);
        for y in 0..h {
            for x in 0..w {
                let v = match place.content {
                    PlaneContent::Alpha if rng.next() < 0.1 => 0.0,
                    PlaneContent::Alpha => rng.range(0.2, 1.0),
                    PlaneContent::Light(_) => rng.range(0.1, 1.0),
                    PlaneContent::Chroma(_) => rng.range(-0.1, 0.1),
                };
                set(&mut frame, p, x, y, f64::from(place.zero + v * place.span));
            }
        }
    }
    if format.alpha == Alpha::Premultiplied {
        let (a, start) = (format.planes() - 1, frame.clone());
        let places: Vec<DrawPlane> = (0..format.planes()).map(|p| DrawPlane::of(&format, p)).collect();
        let curve = TransferFunction::Linear;
        let twin = Twin { format, places, start: &start, curve, styles: &[], splats: &[] };
        for p in 0..a {
            let place = DrawPlane::of(&format, p);
            let (w, h) = format.plane_size(p);
            for (y, x) in (0..h).flat_map(|y| (0..w).map(move |x| (y, x))) {
                let part = twin.block(a, [x, y], place.cells.shift);
                let zero = f64::from(place.zero);
                let v = zero + (sample(&start, p, x, y) - zero) * part;
                set(&mut frame, p, x, y, v);
            }
        }
    }
    frame
}

/// Hard edges, whose coverage is always that of 16 x 16 places.
pub(super) fn hard(blends: &[Blend]) -> Vec<SplatStyle> {
    let kite = [[0.0, -1.0], [0.8, 0.1], [0.1, 0.9], [-0.7, 0.2]];
    let shapes =
        [Shape::disc(0.0), Shape::ring(0.5, 0.0), Shape::streak(0.0, 0.0), Shape::polygon(&kite, 0.0)];
    let shapes: Vec<Shape> = shapes.into_iter().map(Result::unwrap).collect();
    blends.iter().flat_map(|b| shapes.iter().map(|s| SplatStyle::new(s.clone(), *b))).collect()
}

pub(super) fn scatter(painter: &Painter, count: usize, styles: usize, rng: &mut Rng) -> Vec<Splat> {
    let (w, h) = painter.format().plane_size(0);
    (0..count)
        .map(|i| {
            let large = [1.0, 4.0, 15.0][i % 3];
            let at = [rng.range(-3.0, w as f32 + 3.0), rng.range(-3.0, h as f32 + 3.0)];
            let half = [rng.range(0.4, large), rng.range(0.4, large)];
            let colour = painter.colour([0; 3].map(|_| f64::from(rng.next())));
            let style = (rng.next() * styles as f32) as u16;
            let splat = Splat::new(at, half).turned(rng.next()).faded(rng.range(0.05, 1.0));
            Splat { rank: i as u64, colour, style, ..splat }
        })
        .collect()
}

const ALL: [Blend; 4] = [Blend::Over, Blend::Add, Blend::Screen, Blend::Multiply];

/// Draws onto a plate, compares every sample with the twin, and gives the largest distance in codes.
fn worst(format: Format, light: BlendSpace, blends: &[Blend], count: usize, seed: u64) -> f64 {
    let mut rng = Rng(seed);
    let styles = hard(blends);
    let painter = Painter::new(&format, styles.clone(), light, Level::best()).unwrap();
    let splats = scatter(&painter, count, styles.len(), &mut rng);
    let start = plate(format, &mut rng);
    let mut frame = start.clone();
    drawn(&painter, &splats, &mut frame);
    let curve =
        if light == BlendSpace::Linear { TransferFunction::of(&format) } else { TransferFunction::Linear };
    let places: Vec<DrawPlane> = (0..format.planes()).map(|p| DrawPlane::of(&format, p)).collect();
    let twin = Twin { format, places, start: &start, curve, styles: &styles, splats: &splats };
    let mut worst = 0.0f64;
    for p in 0..format.planes() {
        let (w, h) = format.plane_size(p);
        for y in 0..h {
            for x in 0..w {
                let want = twin.after(p, x, y, &frame);
                let got = sample(&frame, p, x, y);
                let off = (got - want).abs();
                assert!(
                    off < 3.0,
                    "{} {} {light:?} {p} {x} {y}: {got}, not {want}",
                    format.name(),
                    format.transfer.0
                );
                worst = worst.max(off);
            }
        }
    }
    worst
}

#[test]
fn every_format_equals_the_reference() {
    let mut seed = 100;
    for name in [
        "yuv420p",
        "yuv422p10",
        "yuv444p",
        "yuv440p12",
        "yuv411p",
        "yuv410p",
        "yuva420p",
        "yuva444p16",
        "yuv444p16",
        "gray",
        "gray16",
        "grayf32",
        "ya8",
        "ya16",
        "gbrp",
        "gbrp16",
        "gbrpf32",
        "gbrap",
        "gbrap16",
        "gbrapf32",
    ] {
        for (size, siting) in [((45, 39), Siting::Left), ((1, 1), Siting::Center), ((66, 35), Siting::PalDv)]
        {
            for range in [ColorRange::Limited, ColorRange::Full] {
                seed += 1;
                let base = Format::from_name(name, size.0, size.1).unwrap();
                let kind = match base.alpha {
                    Alpha::Straight if seed % 2 == 0 => Alpha::Premultiplied,
                    kind => kind,
                };
                let format = Format { siting, range, alpha: kind, ..base };
                let off = worst(format, BlendSpace::Linear, &ALL, 40, seed);
                // Half a code is rounding.
                let most = match format.depth {
                    Depth::Float => 2e-5,
                    Depth::Bits(8) => 0.52,
                    Depth::Bits(_) => 1.2,
                };
                assert!(off <= most, "{name} {size:?} {range:?}: {off}");
                if format.family == Family::Yuv {
                    let off = worst(format, BlendSpace::Gamma, &ALL, 40, seed);
                    assert!(off <= most, "{name} {size:?} {range:?} as it is: {off}");
                }
            }
        }
    }
}

/// Where all that is drawn adds light, it bends towards white.
#[test]
fn added_light_bends_towards_white_as_defined() {
    for name in
        ["yuv420p", "yuv422p10", "yuv444p16", "gray", "gray16", "gbrp", "gbrp16", "gbrap16", "grayf32"]
    {
        let format = Format::from_name(name, 66, 35).unwrap();
        for light in [BlendSpace::Linear, BlendSpace::Gamma] {
            let off = worst(format, light, &[Blend::Add], 60, 9);
            let most = if format.depth == Depth::Bits(8) { 0.52 } else { 1.5 };
            assert!(off <= most, "{name} {light:?}: {off}");
        }
    }
}

#[test]
fn every_transfer_and_matrix_equals_the_reference() {
    for code in [1, 4, 5, 9, 10, 13, 16, 17, 18] {
        let format = Format { transfer: Transfer(code), ..Format::from_name("yuv420p16", 50, 40).unwrap() };
        let off = worst(format, BlendSpace::Linear, &[Blend::Over, Blend::Multiply], 40, 7);
        assert!(off <= 1.5, "transfer {code}: {off}");
    }
    for code in [1, 4, 5, 7, 8, 9] {
        let format = Format { matrix: Matrix(code), ..Format::from_name("yuv422p16", 50, 40).unwrap() };
        for light in [BlendSpace::Linear, BlendSpace::Gamma] {
            let off = worst(format, light, &ALL, 40, 8);
            assert!(off <= 1.2, "matrix {code}: {off}");
        }
    }
}

#[test]
fn opaque_splats_look_the_same_in_either_light() {
    for name in ["yuv420p", "yuv422p10", "gbrp", "gbrp16", "gray", "ya16", "gbrap", "yuva444p"] {
        let format = Format::from_name(name, 70, 50).unwrap();
        let styles = || vec![SplatStyle::new(Shape::disc(0.0).unwrap(), Blend::Over)];
        let mut rng = Rng(3);
        let start = plate(format, &mut rng);
        for rgb in [[0.0; 3], [1.0; 3], [0.9, 0.2, 0.4], [0.03, 0.5, 0.01]] {
            let [a, b] = [BlendSpace::Gamma, BlendSpace::Linear].map(|light| {
                let painter = Painter::new(&format, styles(), light, Level::best()).unwrap();
                let mut frame = start.clone();
                let splat = Splat::new([35.0, 25.0], [90.0, 91.0]);
                drawn(&painter, &[Splat { colour: painter.colour(rgb), ..splat }], &mut frame);
                frame
            });
            for p in 0..format.planes() {
                let (w, h) = format.plane_size(p);
                for (y, x) in (0..h).flat_map(|y| (0..w).map(move |x| (y, x))) {
                    let off = (sample(&a, p, x, y) - sample(&b, p, x, y)).abs();
                    let most = if format.depth == Depth::Bits(16) { 2.0 } else { 1.0 };
                    // In 8 bits both are rounded from nearly the same.
                    assert!(off <= most, "{name} {rgb:?} {p} {x} {y}: {off}");
                }
            }
        }
    }
}

#[test]
fn pictures_are_copied_in_linear_light_too() {
    for (name, top) in [("gbrp", 255.0), ("gbrap16", 65535.0f32)] {
        let format = Format::from_name(name, 32, 24).unwrap();
        let mut rng = Rng(6);
        let texels: Vec<[f32; 4]> = (0..256)
            .map(|_| [rng.next(), rng.next(), rng.next(), 1.0].map(|v| (v * top).round() / top))
            .collect();
        let image = Image::new(16, 16, &texels).unwrap();
        let styles = vec![SplatStyle::new(Shape::Image(image.into()), Blend::Over)];
        let painter = Painter::new(&format, styles, BlendSpace::Linear, Level::best()).unwrap();
        let mut frame = plate(format, &mut rng);
        drawn(&painter, &[Splat::new([12.0, 12.0], [8.0, 8.0])], &mut frame);
        for (i, texel) in texels.iter().enumerate() {
            for (p, c) in [2, 0, 1].into_iter().enumerate().map(|(c, p)| (p, texel[c])) {
                let got = sample(&frame, p, 4 + i % 16, 4 + i / 16);
                assert_eq!(got, f64::from((c * top).round()), "{name} {i} {p}");
            }
        }
    }
}

#[test]
fn light_that_is_added_is_kept() {
    let base = Format { transfer: Transfer::SRGB, ..Format::from_name("gbrpf32", 90, 70).unwrap() };
    let yuv = Format::from_name("yuv444p16", 90, 70).unwrap();
    for format in [base, yuv] {
        let soft = vec![SplatStyle::new(Shape::disc(1.0).unwrap(), Blend::Add)];
        let painter = Painter::new(&format, soft, BlendSpace::Linear, Level::best()).unwrap();
        let curve = TransferFunction::of(&format);
        let mut rng = Rng(12);
        for _ in 0..12 {
            let radius = rng.range(1.0, 12.0);
            let rgb = [0.6, 0.3, 0.45];
            let splat = Splat::new([rng.range(20.0, 70.0), rng.range(20.0, 50.0)], [radius; 2]);
            // From a grey plate, so that nothing is cut off.
            let mut frame = plate(format, &mut rng);
            let place = DrawPlane::of(&format, 0);
            for (p, y) in (0..3).flat_map(|p| (0..70).map(move |y| (p, y))) {
                let place = DrawPlane::of(&format, p);
                let grey = if place.content == PlaneContent::Chroma(p) { 0.0 } else { 0.4 };
                (0..90).for_each(|x| {
                    set(&mut frame, p, x, y, f64::from(place.zero + grey * place.span).round())
                });
                if format.depth == Depth::Float {
                    (0..90).for_each(|x| set(&mut frame, p, x, y, 0.4));
                }
            }
            let start = frame.clone();
            drawn(&painter, &[Splat { colour: painter.colour(rgb), ..splat }], &mut frame);
            let places: Vec<DrawPlane> = (0..3).map(|p| DrawPlane::of(&format, p)).collect();
            let sums = |frame: &Frame| {
                let (places, styles, splats) = (places.clone(), &[], &[]);
                let twin = Twin { format, places, start: frame, curve, styles, splats };
                let mut sums = [0.0; 3];
                for (y, x) in (0..70).flat_map(|y| (0..90).map(move |x| (y, x))) {
                    let (values, _) = twin.cell(0, x, y);
                    sums.iter_mut().zip(values).for_each(|(s, v)| *s += curve.light(v));
                }
                sums
            };
            let (was, now) = (sums(&start), sums(&frame));
            let area = 0.3 * core::f64::consts::PI * f64::from(radius * radius);
            for (i, v) in [rgb[1], rgb[2], rgb[0]].into_iter().enumerate() {
                let (got, want) = (now[i] - was[i], area * curve.light(v));
                assert!(
                    (got - want).abs() <= 0.02 * want + 0.01,
                    "{radius} {i}: {got} {want} {}",
                    place.span
                );
            }
        }
    }
}

#[test]
fn samples_without_coverage_are_unchanged() {
    for name in ["yuv420p", "yuva420p10", "gbrapf32", "gbrap16", "grayf32", "yuv444p16"] {
        let base = Format::from_name(name, 300, 20).unwrap();
        for alpha in [Alpha::Straight, Alpha::Premultiplied] {
            let alpha = if base.has_alpha() { alpha } else { Alpha::None };
            let format = Format { alpha, range: ColorRange::Limited, ..base };
            let mut frame = Frame::new(format);
            let mut rng = Rng(15);
            let top = format.depth.bits().map_or(0.0, |b| f64::from((1u32 << b) - 1));
            for p in 0..format.planes() {
                let (w, h) = format.plane_size(p);
                for (y, x) in (0..h).flat_map(|y| (0..w).map(move |x| (y, x))) {
                    let odd = [f64::NAN, f64::INFINITY, -0.0, -3.0, 1e30, 1e-30];
                    let v = match format.depth {
                        Depth::Float if rng.next() < 0.3 => odd[(rng.next() * 6.0) as usize],
                        Depth::Float => f64::from(rng.next()),
                        Depth::Bits(_) => (f64::from(rng.next()) * (top + 1.0)).floor(),
                    };
                    set(&mut frame, p, x, y, v);
                }
            }
            let start = frame.clone();
            let styles = hard(&ALL);
            let painter = Painter::new(&format, styles, BlendSpace::Linear, Level::best()).unwrap();
            // In the tile that is drawn on, and beside it.
            let splat =
                Splat { colour: painter.colour([1.0, 0.5, 0.2]), ..Splat::new([10.0, 10.0], [6.0, 8.0]) };
            drawn(&painter, &[splat], &mut frame);
            assert!(frame != start);
            for p in 0..format.planes() {
                let (w, h) = format.plane_size(p);
                let from = w * 20 / 300 * format.depth.bytes();
                for y in 0..h {
                    assert_eq!(
                        frame.as_ref().plane(p).row_bytes(y)[from..],
                        start.as_ref().plane(p).row_bytes(y)[from..],
                        "{name} {p} {y}"
                    );
                }
            }
        }
    }
}

#[test]
fn covering_alone_is_done_in_the_planes() {
    let format = Format::from_name("yuv420p", 64, 48).unwrap();
    let disc = |blend| SplatStyle::new(Shape::disc(0.5).unwrap(), blend);
    let of =
        |format, styles, space| Painter::new(&format, styles, space, Level::best()).unwrap().space.is_direct;
    assert!(of(format, vec![disc(Blend::Over)], BlendSpace::Gamma));
    assert!(!of(format, vec![disc(Blend::Over), disc(Blend::Add)], BlendSpace::Gamma));
    assert!(!of(format, vec![disc(Blend::Over)], BlendSpace::Linear));
    let linear = Format { transfer: Transfer::LINEAR, ..Format::from_name("gbrpf32", 8, 8).unwrap() };
    assert!(of(linear, vec![disc(Blend::Add)], BlendSpace::Linear));
}
