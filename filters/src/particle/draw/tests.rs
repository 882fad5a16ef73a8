//! Drawing against its reference, and invariance tests.

mod added_light;
mod light;
pub(crate) mod reference;

use self::reference::coverage;
use super::draw_plane::DrawPlane;
use super::*;
use crate::frame::{Alpha, ColorRange, Depth, Family, Format, Frame, Parity, PlaneSet, Scratch, Siting};
use crate::host::{CurrentThread, Executor};
use crate::noise::seed::mix64;
use crate::ratio::Ratio;
use crate::simd::Level;

/// Random numbers for tests.
pub(super) struct Rng(pub(super) u64);

impl Rng {
    pub(super) fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(1);
        (mix64(self.0) >> 40) as f32 / (1u64 << 24) as f32
    }
    pub(super) fn range(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.next()
    }
}

fn shapes() -> Vec<Shape> {
    let kite = [[0.0, -1.0], [0.8, 0.1], [0.1, 0.9], [-0.7, 0.2]];
    vec![
        Shape::disc(1.0).unwrap(),
        Shape::disc(0.0).unwrap(),
        Shape::disc(0.4).unwrap(),
        Shape::ring(0.6, 1.0).unwrap(),
        Shape::ring(0.9, 0.2).unwrap(),
        Shape::streak(1.0, 0.0).unwrap(),
        Shape::streak(0.0, 0.0).unwrap(),
        Shape::polygon(&kite, 0.0).unwrap(),
        Shape::polygon(&kite, 1.0).unwrap(),
    ]
}

fn styles(blend: Blend) -> Vec<SplatStyle> {
    shapes().into_iter().map(|s| SplatStyle::new(s, blend)).collect()
}

/// Draws all of a picture at once.
pub(super) fn drawn(painter: &Painter, splats: &[Splat], frame: &mut Frame) {
    let mut bins = Bins::default();
    painter.bin(splats, &mut bins, &CurrentThread);
    painter.draw(&bins, &mut frame.as_mut(), PlaneSet::ALL, &mut Scratch::default());
}

fn format(family: Family, depth: Depth, subsampling: (u8, u8), size: (u32, u32)) -> Format {
    Format::new(size.0, size.1, family, depth, subsampling)
}

/// Every cell of one opaque splat, by the slow definition; the largest distance from it, in parts of the span.
fn worst(format: &Format, style: &SplatStyle, splat: &Splat) -> f32 {
    let painter = Painter::new(format, vec![style.clone()], BlendSpace::Gamma, Level::best()).unwrap();
    let mut frame = Frame::new(*format);
    drawn(&painter, &[*splat], &mut frame);
    let mut worst = 0.0f32;
    for p in 0..format.planes() {
        let place = DrawPlane::of(format, p);
        let ink = place.splat_terms(style, splat.colour).ink;
        let (w, h) = format.plane_size(p);
        for y in 0..h {
            for x in 0..w {
                let [dx, dy] =
                    [place.cells.offset(0, splat.x, x as i32), place.cells.offset(1, splat.y, y as i32)];
                let ([cw, ch], aspect) = (place.cells.size(), format.shape() as f32);
                let (at, cell) = ([dx * aspect, dy], [cw * aspect, ch]);
                let want = coverage(&style.shape, splat, at.map(f64::from), cell.map(f64::from)) as f32 * ink;
                let got = frame.row::<f32>(p, y)[x];
                worst = worst.max((want - got).abs());
            }
        }
    }
    worst
}

#[test]
fn coverage_of_tapered_streaks_is_that_of_256_places() {
    let mut rng = Rng(5);
    for (soft, taper) in [(0.8, 0.6), (0.0, 1.0), (1.0, 0.85), (0.3, 0.2)] {
        let style = SplatStyle::new(Shape::streak(soft, taper).unwrap(), Blend::Over);
        let format = format(Family::Yuv, Depth::Float, (1, 1), (83, 71));
        for large in [2.0, 6.0, 40.0].repeat(6) {
            let half = [rng.range(0.4, large), rng.range(0.4, large)];
            let splat = Splat::new([rng.range(-5.0, 88.0), rng.range(-5.0, 76.0)], half);
            let splat = Splat { colour: [65535, 65535, 1], opacity: 65535, ..splat };
            let most = worst(&format, &style, &splat.turned(rng.range(-1.0, 1.0)));
            assert!(most <= 1.0 / 255.0, "{soft} {taper} {half:?}: {} of 255", most * 255.0);
        }
    }
}

#[test]
fn coverage_is_that_of_256_places() {
    let mut rng = Rng(1);
    for (family, sub, siting) in [
        (Family::Gray, (0, 0), Siting::Unspecified),
        (Family::Yuv, (1, 1), Siting::Left),
        (Family::Yuv, (1, 0), Siting::Center),
        (Family::Yuv, (2, 2), Siting::BottomLeft),
    ] {
        let format = Format { siting, ..format(family, Depth::Float, sub, (83, 71)) };
        for (i, shape) in shapes().into_iter().enumerate() {
            let style = SplatStyle::new(shape, Blend::Over);
            let mut most = 0.0f32;
            for round in 0..24 {
                let large = [2.0, 6.0, 40.0][round % 3];
                let half = match i {
                    0..=2 if round % 2 == 0 => [rng.range(0.4, large); 2],
                    _ => [rng.range(0.4, large), rng.range(0.4, large)],
                };
                let splat = Splat::new([rng.range(-5.0, 88.0), rng.range(-5.0, 76.0)], half);
                let colour = [65535, 65535, 1];
                let splat = Splat { colour, opacity: 65535, ..splat }.turned(rng.range(-1.0, 1.0));
                most = most.max(worst(&format, &style, &splat));
            }
            assert!(most <= 1.0 / 255.0, "shape {i} {family:?} {sub:?}: {} of 255", most * 255.0);
        }
    }
}

#[test]
fn stamps_of_every_size_are_near() {
    let mut rng = Rng(2);
    for sub in [(0, 0), (1, 1), (1, 0)] {
        let format = format(Family::Yuv, Depth::Float, sub, (24, 24));
        for soft in [0.5, 0.75, 1.0] {
            let style = SplatStyle::new(Shape::disc(soft).unwrap(), Blend::Over);
            for radius in (8..=20).chain((21..56).step_by(5)) {
                for _ in 0..3 {
                    let splat = Splat::new([rng.range(6.0, 18.0), rng.range(6.0, 18.0)], [1.0, 1.0]);
                    let splat = Splat { half: [radius; 2], colour: [65535; 3], ..splat };
                    let most = worst(&format, &style, &splat);
                    assert!(most <= 1.0 / 255.0, "{sub:?} {soft} {radius}: {} of 255", most * 255.0);
                }
            }
        }
    }
}

#[test]
fn shapes_keep_their_form_on_samples_that_are_not_square() {
    let mut rng = Rng(31);
    for (num, den) in [(16, 15), (64, 45), (1, 2), (2, 1)] {
        let aspect = Ratio::new(num, den).unwrap();
        for (family, sub) in [(Family::Gray, (0, 0)), (Family::Yuv, (1, 1)), (Family::Yuv, (2, 0))] {
            let format = Format { aspect, ..format(family, Depth::Float, sub, (83, 71)) };
            for (i, shape) in shapes().into_iter().enumerate() {
                let style = SplatStyle::new(shape, Blend::Over);
                for round in 0..12 {
                    let large = [2.0, 6.0, 20.0][round % 3];
                    let half = match i {
                        0..=2 if round % 2 == 0 => [rng.range(0.5, large); 2],
                        _ => [rng.range(0.5, large), rng.range(0.5, large)],
                    };
                    let splat = Splat::new([rng.range(-5.0, 88.0), rng.range(-5.0, 76.0)], half);
                    let splat = Splat { colour: [65535, 65535, 1], opacity: 65535, ..splat };
                    let most = worst(&format, &style, &splat.turned(rng.range(-1.0, 1.0)));
                    // A soft polygon is bent inside, which a few places see less well.
                    let least = if i == 8 { 1.5 } else { 1.0 } / 255.0;
                    assert!(most <= least, "shape {i} {aspect} {sub:?}: {} of 255", most * 255.0);
                }
            }
        }
    }
    // A round disc is as wide as it is high on the screen.
    let format =
        Format { aspect: Ratio::new(2, 1).unwrap(), ..format(Family::Gray, Depth::Float, (0, 0), (80, 80)) };
    let styles = vec![SplatStyle::new(Shape::disc(0.0).unwrap(), Blend::Over)];
    let painter = Painter::new(&format, styles, BlendSpace::Gamma, Level::best()).unwrap();
    let mut frame = Frame::new(format);
    drawn(&painter, &[Splat { colour: [65535; 3], ..Splat::new([40.0, 40.0], [20.0, 20.0]) }], &mut frame);
    let wide: f32 = frame.row::<f32>(0, 40).iter().sum();
    let high: f32 = (0..80).map(|y| frame.row::<f32>(0, y)[40]).sum();
    assert!((wide - 20.0).abs() < 0.1 && (high - 40.0).abs() < 0.1, "{wide} {high}");
}

/// Splats of all looks and sizes over and around a picture.
fn scatter(count: usize, size: (f32, f32), styles: u16, seed: u64) -> Vec<Splat> {
    let mut rng = Rng(seed);
    (0..count)
        .map(|i| {
            let large = [1.5, 3.0, 20.0, 200.0][(rng.next() * rng.next() * 4.0) as usize];
            let half = [rng.range(0.2, large), rng.range(0.2, large)];
            let half = if rng.next() < 0.6 { [half[0]; 2] } else { half };
            let at = [rng.range(-20.0, size.0 + 20.0), rng.range(-20.0, size.1 + 20.0)];
            let colour = [0; 3].map(|_| (rng.next() * 65535.0) as u16);
            let splat = Splat::new(at, half).turned(rng.next()).faded(rng.next());
            let style = (rng.next() * f32::from(styles)) as u16;
            Splat { rank: rank((rng.next() * 4.0).floor(), i as i64), colour, style, ..splat }
        })
        .collect()
}

/// Calls tasks from the last to the first, which is as good as any order.
struct Backwards;

impl Executor for Backwards {
    fn execute(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..count).rev().for_each(task);
    }
    fn width(&self) -> usize {
        3
    }
}

#[test]
fn tiles_bands_levels_and_order_change_nothing() {
    for (name, count, light, covers) in [
        ("yuv420p", 3000, BlendSpace::Gamma, true),
        ("yuv420p", 500, BlendSpace::Gamma, false),
        ("yuv420p", 500, BlendSpace::Linear, false),
        ("yuv411p10", 500, BlendSpace::Linear, false),
        ("gbrap16", 500, BlendSpace::Gamma, true),
        ("gbrap16", 500, BlendSpace::Linear, false),
        ("yuva444p10", 500, BlendSpace::Gamma, true),
        ("yuva420p", 500, BlendSpace::Gamma, true),
        ("yuva420p", 500, BlendSpace::Linear, false),
        ("yuva420p", 500, BlendSpace::Gamma, false),
        ("grayf32", 500, BlendSpace::Gamma, false),
        ("ya8", 500, BlendSpace::Gamma, false),
    ] {
        let format = Format::from_name(name, 317, 203).unwrap();
        // Some on samples that are not square.
        let aspect = if count == 3000 { Ratio::ZERO } else { Ratio::new(16, 15).unwrap() };
        let format = Format { aspect, ..format };
        let blends = [Blend::Over, Blend::Add, Blend::Screen, Blend::Multiply];
        let blends = if covers { &blends[..1] } else { &blends[..] };
        let mut styles: Vec<SplatStyle> = blends.iter().flat_map(|b| styles(*b)).collect();
        let texels: Vec<[f32; 4]> =
            (0..63).map(|i| [0.1, 0.9, i as f32 / 63.0, (i % 5) as f32 / 4.0]).collect();
        let image = Image::new(9, 7, &texels).unwrap();
        styles.extend([Shape::Image(image.into()), Shape::Speck].map(|s| SplatStyle::new(s, Blend::Over)));
        let mut splats = scatter(count, (317.0, 203.0), styles.len() as u16, 3);
        let mut start = Frame::new(format);
        let mut rng = Rng(9);
        for p in 0..format.planes() {
            for y in 0..format.plane_size(p).1 {
                match format.depth {
                    Depth::Float => start.row_mut::<f32>(p, y).iter_mut().for_each(|s| *s = rng.next()),
                    _ => start.row_bytes_mut(p, y).iter_mut().for_each(|s| *s = (rng.next() * 4.0) as u8),
                }
            }
        }
        let paint = |log, level, splats: &[Splat], cut: usize, executor: &dyn Executor| {
            let painter = Painter::new(&format, styles.clone(), light, level).unwrap().with_tiles(log);
            let mut bins = Bins::default();
            // Bins that were used before are as good as new.
            painter.bin(&splats[..splats.len() / 2], &mut bins, &CurrentThread);
            painter.bin(splats, &mut bins, executor);
            let mut frame = start.clone();
            let mut scratch = Scratch::default();
            let (mut above, mut below) = frame.as_mut().split_at_row(cut);
            painter.draw(&bins, &mut below, PlaneSet::ALL, &mut scratch);
            painter.draw(&bins, &mut above, PlaneSet::ALL, &mut scratch);
            frame
        };
        let want = paint([6, 5], Level::SCALAR, &splats, 0, &CurrentThread);
        assert!(want != start);
        for &level in Level::available() {
            assert!(paint([6, 5], level, &splats, 100, &CurrentThread) == want, "{name} {level}");
        }
        for log in [[4, 4], [5, 7], [8, 6], [9, 9]] {
            let got = paint(log, Level::best(), &splats, 36, &Backwards);
            for (p, y) in (0..format.planes()).flat_map(|p| (0..format.plane_size(p).1).map(move |y| (p, y)))
            {
                let row = |f: &Frame| f.as_ref().plane(p).row_bytes(y).to_vec();
                assert!(
                    row(&got) == row(&want),
                    "{name} {light:?} {log:?}: {p} {y} {:?}",
                    row(&got)
                        .iter()
                        .zip(row(&want))
                        .enumerate()
                        .filter(|(_, (a, b))| *a != b)
                        .collect::<Vec<_>>()
                );
            }
        }
        splats.reverse();
        assert!(paint([6, 5], Level::best(), &splats, 64, &CurrentThread) == want, "{name} reversed");
        splats.sort_unstable();
        assert!(paint([6, 5], Level::best(), &splats, 64, &CurrentThread) == want, "{name} sorted");
    }
}

/// A few splats are drawn on a part of a tile, many on all of it. White that multiplies makes many, and changes nothing.
#[test]
fn the_touched_part_of_a_tile_is_drawn_like_all_of_it() {
    for name in ["yuv420p", "yuv411p10", "yuv440p16", "yuva420p", "gbrap16", "grayf32"] {
        for (i, light) in (0..48).zip([BlendSpace::Gamma, BlendSpace::Linear].into_iter().cycle()) {
            let format = Format::from_name(name, 151, 98 + i).unwrap();
            let format = if i % 3 > 0 { format.field(Parity::Bottom) } else { format };
            let mut styles = styles([Blend::Over, Blend::Add, Blend::Screen][i as usize % 3]);
            let white = styles.len() as u16;
            styles.push(SplatStyle::new(Shape::disc(0.0).unwrap(), Blend::Multiply));
            let painter = Painter::new(&format, styles, light, Level::best()).unwrap();
            let rows = format.plane_size(0).1 as f32;
            let mut splats = scatter(1 + i as usize % 7, (151.0, rows), white, u64::from(i));
            let mut start = Frame::new(format);
            let mut rng = Rng(i.into());
            for (p, y) in (0..format.planes()).flat_map(|p| (0..format.plane_size(p).1).map(move |y| (p, y)))
            {
                match format.depth {
                    Depth::Float => start.row_mut::<f32>(p, y).iter_mut().for_each(|s| *s = rng.next()),
                    _ => start.row_bytes_mut(p, y).iter_mut().for_each(|s| *s = (rng.next() * 4.0) as u8),
                }
            }
            let (mut part, mut whole) = (start.clone(), start);
            drawn(&painter, &splats, &mut part);
            let [x, y] = [75.0, 0.5 * rows];
            splats.extend((0..99).map(|k| Splat {
                rank: 1000 + k,
                style: white,
                colour: [65535; 3],
                ..Splat::new([x, y], [200.0; 2])
            }));
            drawn(&painter, &splats, &mut whole);
            assert!(part == whole, "{name} {light:?} {i}");
        }
    }
}

#[test]
fn energy_of_light_is_kept() {
    // Discs wholly inside, on nothing: their sum is their area times brightness, in each plane by its cells.
    let format = format(Family::Yuv, Depth::Float, (1, 1), (160, 120));
    let painter = Painter::new(&format, styles(Blend::Over), BlendSpace::Gamma, Level::best()).unwrap();
    let mut rng = Rng(5);
    for round in 0..60 {
        let radius = rng.range(0.2, 9.0);
        let mut splat = Splat::new([rng.range(20.0, 140.0), rng.range(20.0, 100.0)], [radius; 2]);
        (splat.colour, splat.style) = ([65535, 65535, 1], (round % 2) as u16);
        let mut frame = Frame::new(format);
        drawn(&painter, &[splat], &mut frame);
        let sum = |p: usize| -> f64 {
            (0..format.plane_size(p).1).flat_map(|y| frame.row::<f32>(p, y)).map(|v| f64::from(*v)).sum()
        };
        let area = core::f64::consts::PI * f64::from(radius * radius);
        // 3 t^2 - 2 t^3 over the whole radius holds 3/10 of the disc.
        let area = if splat.style == 0 { 0.3 * area } else { area };
        for (p, want) in [(0, area), (1, area / 8.0), (2, -area / 8.0)] {
            let got = sum(p);
            assert!((got - want).abs() <= 0.02 * want.abs() + 0.01, "{radius} {p}: {got} {want}");
        }
    }
}

#[test]
fn straight_and_premultiplied_agree() {
    for name in ["gbrap16", "yuva444p16"] {
        let straight = Format { range: ColorRange::Full, ..Format::from_name(name, 96, 80).unwrap() };
        let folded = Format { alpha: Alpha::Premultiplied, ..straight };
        let splats = scatter(300, (96.0, 80.0), 18, 11);
        let styles: Vec<SplatStyle> = [Blend::Over, Blend::Multiply].into_iter().flat_map(styles).collect();
        let (mut a, mut b) = (Frame::new(straight), Frame::new(folded));
        let mut rng = Rng(4);
        for y in 0..80 {
            for x in 0..96 {
                let alpha = rng.range(0.3, 1.0);
                for p in 0..4 {
                    let zero = DrawPlane::of(&straight, p).zero;
                    let v = if p == 3 { alpha * 65535.0 } else { zero + rng.range(-0.5, 0.5) * 60000.0 };
                    let v = v.clamp(0.0, 65535.0);
                    a.row_mut::<u16>(p, y)[x] = v as u16;
                    let v = if p == 3 { v } else { zero + (v - zero) * alpha };
                    b.row_mut::<u16>(p, y)[x] = v as u16;
                }
            }
        }
        drawn(
            &Painter::new(&straight, styles.clone(), BlendSpace::Gamma, Level::best()).unwrap(),
            &splats,
            &mut a,
        );
        drawn(&Painter::new(&folded, styles, BlendSpace::Gamma, Level::best()).unwrap(), &splats, &mut b);
        for y in 0..80 {
            for x in 0..96 {
                let alpha = f32::from(a.row::<u16>(3, y)[x]);
                assert_eq!(alpha, f32::from(b.row::<u16>(3, y)[x]));
                for p in 0..3 {
                    let zero = DrawPlane::of(&straight, p).zero;
                    let v = (f32::from(a.row::<u16>(p, y)[x]) - zero) * alpha / 65535.0 + zero;
                    let w = f32::from(b.row::<u16>(p, y)[x]);
                    assert!((v - w).abs() < 8.0, "{name} {p} {x} {y}: {v} {w}");
                }
            }
        }
    }
}

/// Light that is added to a transparent plate: alpha stays within 0 and 1, and what is seen over black is the same
/// whether colour came multiplied by alpha or not.
#[test]
fn light_is_added_to_transparent_plates() {
    for (name, light) in [
        ("gbrap", BlendSpace::Gamma),
        ("gbrap16", BlendSpace::Gamma),
        ("gbrapf32", BlendSpace::Gamma),
        ("gbrapf32", BlendSpace::Linear),
        ("gbrap16", BlendSpace::Linear),
        ("yuva444p16", BlendSpace::Linear),
    ] {
        let base = Format::from_name(name, 96, 80).unwrap();
        let straight = Format { range: ColorRange::Full, ..base };
        let folded = Format { alpha: Alpha::Premultiplied, ..straight };
        let painters = [straight, folded].map(|f| {
            let styles = [Blend::Add, Blend::Over, Blend::Add].into_iter().flat_map(styles).collect();
            Painter::new(&f, styles, light, Level::best()).unwrap()
        });
        let mut frames = [Frame::new(straight), Frame::new(folded)];
        let mut rng = Rng(41);
        let top = straight.depth.bits().map_or(1.0, |b| ((1u32 << b) - 1) as f32);
        let put = |frame: &mut Frame, p: usize, x: usize, y: usize, v: f32| match straight.depth.bytes() {
            1 => frame.row_mut::<u8>(p, y)[x] = (v * top + 0.5) as u8,
            2 => frame.row_mut::<u16>(p, y)[x] = (v * top + 0.5) as u16,
            _ => frame.row_mut::<f32>(p, y)[x] = v,
        };
        let get = |frame: &Frame, p: usize, x: usize, y: usize| match straight.depth.bytes() {
            1 => f32::from(frame.row::<u8>(p, y)[x]) / top,
            2 => f32::from(frame.row::<u16>(p, y)[x]) / top,
            _ => frame.row::<f32>(p, y)[x],
        };
        for (y, x) in (0..80).flat_map(|y| (0..96).map(move |x| (y, x))) {
            // A third of it is wholly transparent, a third wholly opaque.
            let alpha = (rng.next() * 3.0 - 1.0).clamp(0.0, 1.0);
            put(&mut frames[0], 3, x, y, alpha);
            put(&mut frames[1], 3, x, y, alpha);
            let alpha = get(&frames[0], 3, x, y);
            for p in 0..3 {
                // 0 is in the middle where it is a colour difference.
                let zero = if straight.family == Family::Yuv && p > 0 { 32768.0 / 65535.0 } else { 0.0 };
                let v = if zero > 0.0 { rng.range(0.4, 0.6) } else { rng.range(0.3, 0.8) };
                let v = if alpha > 0.0 { v } else { zero };
                put(&mut frames[0], p, x, y, v);
                let v = get(&frames[0], p, x, y);
                put(&mut frames[1], p, x, y, zero + (v - zero) * alpha);
            }
        }
        let splats = scatter(200, (96.0, 80.0), 27, 43);
        let mut rng = Rng(44);
        let colours: Vec<[f64; 3]> = splats.iter().map(|_| [0; 3].map(|_| f64::from(rng.next()))).collect();
        for (painter, frame) in painters.iter().zip(&mut frames) {
            let of = |(s, c): (&Splat, &[f64; 3])| Splat { colour: painter.colour(*c), ..*s };
            let splats: Vec<Splat> = splats.iter().zip(&colours).map(of).collect();
            drawn(painter, &splats, frame);
        }
        for (y, x) in (0..80).flat_map(|y| (0..96).map(move |x| (y, x))) {
            let [a, b] = [0, 1].map(|i| get(&frames[i], 3, x, y));
            assert!(a == b && (0.0..=1.0).contains(&a), "{name} {light:?} {x} {y}: alpha {a} {b}");
            for p in 0..3 {
                let zero = if straight.family == Family::Yuv && p > 0 { 32768.0 / 65535.0 } else { 0.0 };
                let v = (get(&frames[0], p, x, y) - zero) * a + zero;
                let w = get(&frames[1], p, x, y);
                let slack = if straight.depth == Depth::Bits(8) { 2.0 / 255.0 } else { 2e-4 };
                assert!((v - w).abs() <= slack, "{name} {light:?} {p} {x} {y}: {v} {w} of {a}");
            }
        }
    }
}

#[test]
fn nothing_is_too_large_or_too_small() {
    let format = Format::from_name("yuv420p", 64, 48).unwrap();
    let styles = [Blend::Over, Blend::Add].into_iter().flat_map(styles).collect();
    let painter = Painter::new(&format, styles, BlendSpace::Gamma, Level::best()).unwrap();
    let far = [f32::NAN, f32::INFINITY, -f32::INFINITY, 1e30, -1e30, 0.0, 1e-30, 65535.0];
    let mut splats = Vec::new();
    for x in far {
        for y in far {
            for half in far {
                splats.push(Splat::new([x, y], [half, y]).turned(x));
            }
        }
    }
    for (i, s) in splats.iter_mut().enumerate() {
        (s.rank, s.style) = (i as u64, (i % 19) as u16);
    }
    for (x, y) in [(i32::MIN, i32::MAX), (i32::MAX, 0), (0, i32::MIN)] {
        splats.push(Splat { x, y, half: [65535; 2], ..splats[0] });
        splats.push(Splat { x, y, half: [0; 2], ..splats[0] });
    }
    drawn(&painter, &splats, &mut Frame::new(format));

    // A hundred thousand on one spot: white stays white, and what is faint adds up.
    let white = painter.colour([1.0; 3]);
    // A hard disc.
    let one = Splat { colour: white, style: 10, ..Splat::new([32.0, 24.0], [3.0, 3.0]) };
    let many: Vec<Splat> = (0..100_000).map(|rank| Splat { rank, ..one }).collect();
    let mut frame = Frame::new(format);
    (0..48).for_each(|y| frame.row_mut::<u8>(0, y).fill(16));
    (0..24).for_each(|y| (1..3).for_each(|p| frame.row_mut::<u8>(p, y).fill(128)));
    let black = frame.clone();
    drawn(&painter, &many, &mut frame);
    assert_eq!((frame.row::<u8>(0, 24)[32], frame.row::<u8>(1, 12)[16]), (235, 128));
    let mut frame = black.clone();
    let faint: Vec<Splat> = many[..10_000].iter().map(|s| Splat { opacity: 2, ..*s }).collect();
    drawn(&painter, &faint, &mut frame);
    let most = frame.row::<u8>(0, 24)[32];
    // 10,000 times 2/65535 of 219 codes.
    assert!((82..=84).contains(&most), "{most}");
}

#[test]
fn images_are_copied_at_scale_1_and_averaged_when_reduced() {
    let format = Format::from_name("gbrapf32", 40, 30).unwrap();
    let mut rng = Rng(8);
    let texels: Vec<[f32; 4]> = (0..64).map(|_| [rng.next(), rng.next(), rng.next(), 1.0]).collect();
    let image = Image::new(8, 8, &texels).unwrap();
    let painter = Painter::new(
        &format,
        vec![SplatStyle::new(Shape::Image(image.into()), Blend::Over)],
        BlendSpace::Gamma,
        Level::best(),
    )
    .unwrap();
    let at = |splat: Splat| {
        let mut frame = Frame::new(format);
        drawn(&painter, &[splat], &mut frame);
        frame
    };
    let own = Splat::new([14.0, 12.0], [4.0, 4.0]);
    let frame = at(own);
    for y in 0..30 {
        for x in 0..40 {
            let want = if (10..18).contains(&x) && (8..16).contains(&y) {
                texels[(y - 8) * 8 + x - 10]
            } else {
                [0.0; 4]
            };
            let got = [2, 0, 1, 3].map(|p| frame.row::<f32>(p, y)[x]);
            assert!(want.iter().zip(got).all(|(a, b)| (a - b).abs() < 1e-6), "{x} {y}: {want:?} {got:?}");
        }
    }
    // A quarter turn clockwise: what was at the left is above.
    let frame = at(own.turned(0.25));
    assert!((frame.row::<f32>(2, 8)[17] - texels[0][0]).abs() < 1e-6);
    // Half a sample on: the mean of neighbours.
    let frame = at(Splat::new([14.5, 12.0], [4.0, 4.0]));
    assert!((frame.row::<f32>(2, 9)[12] - 0.5 * (texels[9][0] + texels[10][0])).abs() < 1e-6);
    // Shrunk to two by two samples: means of four by four texels.
    for half in [1.0, 0.5] {
        let frame = at(Splat { opacity: 65535, ..Splat::new([10.0 + half, 10.0 + half], [half, half]) });
        let side = (4.0 / half) as usize;
        let side = side.min(8);
        let mean: f32 =
            (0..side * side).map(|i| texels[i / side * 8 + i % side][0]).sum::<f32>() / (side * side) as f32;
        let want = if half == 1.0 {
            (0..16).map(|i| texels[i / 4 * 8 + i % 4][0]).sum::<f32>() / 16.0
        } else {
            mean
        };
        assert!((frame.row::<f32>(2, 10)[10] - want).abs() < 1e-5, "{half}");
    }
}

#[test]
fn a_draft_is_as_well_defined_and_near() {
    for name in ["yuv420p", "gbrapf32"] {
        let format = Format::from_name(name, 217, 133).unwrap();
        let mut styles = styles(Blend::Over);
        let texels: Vec<[f32; 4]> = (0..63).map(|i| [0.1, 0.9, i as f32 / 63.0, 1.0]).collect();
        styles.push(SplatStyle::new(Shape::Image(Image::new(9, 7, &texels).unwrap().into()), Blend::Over));
        let splats = scatter(200, (217.0, 133.0), styles.len() as u16, 21);
        let paint = |draft, log, level, cut: usize| {
            let painter = Painter::new(&format, styles.clone(), BlendSpace::Gamma, level)
                .unwrap()
                .with_tiles(log)
                .draft(draft);
            let (mut bins, mut frame) = (Bins::default(), Frame::new(format));
            painter.bin(&splats, &mut bins, &Backwards);
            let (mut above, mut below) = frame.as_mut().split_at_row(cut);
            painter.draw(&bins, &mut below, PlaneSet::ALL, &mut Scratch::default());
            painter.draw(&bins, &mut above, PlaneSet::ALL, &mut Scratch::default());
            frame
        };
        let draft = paint(true, [6, 5], Level::SCALAR, 0);
        for (i, &level) in Level::available().iter().enumerate() {
            let log = [[6, 5], [4, 4], [8, 6], [5, 7]][i % 4];
            assert!(paint(true, log, level, 36) == draft, "{name} {level}");
        }
        let whole = paint(false, [6, 5], Level::best(), 0);
        assert!(whole != draft, "{name}: a draft is cheaper");
        let mut far = 0.0;
        for (x, y) in (0..217 * 133).map(|i| (i % 217, i / 217)) {
            far += match format.depth {
                Depth::Float => (whole.row::<f32>(0, y)[x] - draft.row::<f32>(0, y)[x]).abs(),
                _ => f32::from(whole.row::<u8>(0, y)[x].abs_diff(draft.row::<u8>(0, y)[x])) / 255.0,
            };
        }
        assert!(far / (217.0 * 133.0) < 0.01, "{name}: {far}");
    }
}
