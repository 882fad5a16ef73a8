//! Whatever the picture does, grain is found with its strength, or not at all.

use super::super::testing::normal;
use super::*;

const WIDTH: usize = 384;
const HEIGHT: usize = 256;
const FRAMES: usize = 5;
/// The side of the texture that pictures are parts of.
const WHOLE: usize = 768;

/// Detail of all sizes, with edges, as in a photograph.
fn texture() -> Field {
    let layers: Vec<(usize, f32, Field)> = [(96, 60.0), (40, 30.0), (16, 18.0), (6, 9.0), (3, 5.0)]
        .into_iter()
        .enumerate()
        .map(|(i, (side, strength))| (side, strength, normal(WHOLE / side + 2, WHOLE / side + 2, i as u64)))
        .collect();
    Field::from_fn(WHOLE, WHOLE, |x, y| {
        let smooth: f32 = layers
            .iter()
            .map(|(side, strength, field)| {
                let at = |v: usize| v as f32 / *side as f32;
                strength * between(field, at(x), at(y))
            })
            .sum();
        let edge = if (x as f32 / 41.0).sin() * (y as f32 / 57.0).cos() > 0.6 { 45.0 } else { 0.0 };
        // A third of the picture is plain.
        let plain = if (x / 128 + y / 96) % 3 == 0 { 0.1 } else { 1.0 };
        (115.0 + plain * (0.6 * smooth + edge)).clamp(20.0, 235.0)
    })
}

fn between(field: &Field, x: f32, y: f32) -> f32 {
    let (i, j) = ((x as usize).min(field.width - 2), (y as usize).min(field.height - 2));
    let (u, v) = (x - i as f32, y - j as f32);
    let row = |j: usize| field.row(j)[i] * (1.0 - u) + field.row(j)[i + 1] * u;
    row(j) * (1.0 - v) + row(j + 1) * v
}

/// The place in the texture of a sample of frame `n`, and what brightness is multiplied by.
type Motion = fn(f32, f32, f32) -> (f32, f32, f32);

const MOTIONS: [(&str, Motion); 10] = [
    ("still", |x, y, _| (x + 150.0, y + 150.0, 1.0)),
    ("whole", |x, y, n| (x + 150.0 + 3.0 * n, y + 150.0 - 2.0 * n, 1.0)),
    ("half", |x, y, n| (x + 150.0 + 1.5 * n, y + 150.0 + 0.5 * n, 1.0)),
    ("slow", |x, y, n| (x + 150.0 + 0.31 * n, y + 150.0 + 0.17 * n, 1.0)),
    ("fast", |x, y, n| (x + 50.0 + 67.3 * n, y + 50.0 + 41.9 * n, 1.0)),
    ("shaken", |x, y, n| (x + 150.0 + 2.3 * (7.0 * n).sin(), y + 150.0 + 2.9 * (5.0 * n).cos(), 1.0)),
    ("zoomed", |x, y, n| (60.0 + x * (1.0 + 0.03 * n), 60.0 + y * (1.0 + 0.03 * n), 1.0)),
    ("turned", |x, y, n| {
        let (sin, cos) = (0.02 * n).sin_cos();
        let (x, y) = (x - 192.0, y - 128.0);
        (384.0 + cos * x - sin * y, 384.0 + sin * x + cos * y, 1.0)
    }),
    ("flickering", |x, y, n| (x + 150.0, y + 150.0, 1.0 + 0.05 * (11.0 * n).sin())),
    ("cut", |x, y, n| (x + 95.0 * n, y + 120.0 * (2.0 * n).sin().abs(), 1.0)),
];

/// Frames with white grain, or coarse grain, of a strength, and correlation `rho` with the frame before.
fn frames(texture: &Field, motion: Motion, strength: f32, coarse: bool, rho: f32) -> Vec<Frame> {
    let format = Format::from_name("gray", WIDTH as u32, HEIGHT as u32).unwrap();
    let mut grain = Field::from_fn(WIDTH, HEIGHT, |_, _| 0.0);
    let mut one = |n: usize| {
        let white = normal(WIDTH + 1, HEIGHT + 1, 77 + n as u64);
        let keep = if n > 0 { rho } else { 0.0 };
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                let [a, b] = [white.row(y), white.row(y + 1)];
                let new = if coarse { 0.5 * (a[x] + a[x + 1] + b[x] + b[x + 1]) } else { a[x] };
                let v = &mut grain.data[y * WIDTH + x];
                *v = keep * *v + (1.0 - keep * keep).sqrt() * new;
            }
        }
        let mut frame = Frame::new(format);
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                let (u, v, light) = motion(x as f32, y as f32, n as f32);
                let code = light * between(texture, u, v) + strength * grain.row(y)[x];
                frame.row_mut::<u8>(0, y)[x] = code.round().clamp(0.0, 255.0) as u8;
            }
        }
        frame
    };
    (0..FRAMES).map(&mut one).collect()
}

fn found(frames: &[Frame]) -> Option<(f64, Found)> {
    let found = measure(&frames.iter().collect::<Vec<_>>(), None);
    let plane = &found.grain.planes()[0];
    let known = found.evidence.is_grain() && plane.bins.iter().any(|b| b.counts());
    // Less is what rounding makes.
    let strength = plane.overall().0;
    (known && strength > 0.45).then_some((strength, found))
}

#[test]
fn motion_is_not_grain() {
    let texture = texture();
    for (name, motion) in MOTIONS {
        let found = found(&frames(&texture, motion, 0.0, false, 0.0));
        // Plain parts of single frames are never certain.
        let wrong = found.filter(|f| f.1.method != Method::Flat).map(|f| (f.0, f.1.evidence));
        assert!(wrong.is_none(), "{name}: {wrong:?}");
    }
}

#[test]
fn what_is_certain_is_within_its_bound() {
    let texture = texture();
    let mut certain = 0;
    for (name, motion) in MOTIONS {
        for (strength, coarse) in [(1.5, false), (3.0, true), (7.0, false)] {
            let Some((is, found)) = found(&frames(&texture, motion, strength, coarse, 0.0)) else { continue };
            let off = is / f64::from(strength * strength + 1.0 / 12.0).sqrt() - 1.0;
            let said = format!(
                "{name} {strength}: {is:.3} {:?} {:?} {:?}",
                found.method, found.blocks, found.evidence
            );
            if found.method != Method::Flat && found.evidence.bound <= 0.1 {
                certain += 1;
                assert!(off.abs() <= found.evidence.bound, "{off:.3} {said}");
            }
        }
    }
    assert!(certain >= 6, "{certain}");
}

#[test]
fn correlation_in_time_is_found() {
    let texture = texture();
    let (is, found) = found(&frames(&texture, MOTIONS[0].1, 4.0, false, 0.4)).unwrap();
    assert!((is / 4.0 - 1.0).abs() < 0.06, "{is} {:?}", found.evidence);
    let rho = found.grain.planes()[0].temporal[0].value();
    assert!((rho - 0.4).abs() < 0.05, "{rho}");
}
