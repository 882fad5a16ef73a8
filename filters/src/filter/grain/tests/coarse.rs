//! Coarse grain against its definition, and against what it promises: the same statistics at every sample, and no step
//! in size.

use super::*;
use crate::filter::testing::lattice;
use crate::noise::{Generator, Shape, noise_at};
use crate::pixel::grain::Pass;

/// White numbers of plane `p` beyond its edges too, halved.
fn white(number: i64, p: usize, size: (usize, usize), x: isize, y: isize) -> i16 {
    let shape = Shape::new(&[(1, 1)], Layout::Keyed, Distribution::H8).unwrap();
    let [x, y] = [(x, size.0), (y, size.1)].map(|(i, len)| {
        let len = len as isize;
        (if i < 0 { len - 2 * i - 1 } else { i.max(2 * i - len) }) as u32
    });
    noise_at(Generator::Xs64, &shape, 42, (number, p), x, y) >> 1
}

/// n of the whole plane, each row and column from the formulas, without a kernel or a ring of rows.
fn field(number: i64, p: usize, field: &Field) -> Vec<Vec<i16>> {
    let (width, height) = field.size;
    let mut beyond = field.reach() as isize;
    let side = |n: usize, beyond: isize| -beyond..n as isize + beyond;
    let mut rows: Vec<Vec<i16>> = side(height, beyond)
        .map(|y| side(width, beyond).map(|x| white(number, p, field.size, x, y)).collect())
        .collect();
    for Pass { step, across, down, lift, shift } in field.passes.iter().copied() {
        let across = |row: &Vec<i16>| -> Vec<i16> {
            let at = |x: usize| i32::from(row[x]) >> 1;
            let sum = |x: usize| at(x) + (((at(x - step) + at(x + step)) * i32::from(across)) >> 16);
            (step..row.len() - step).map(|x| sum(x) as i16).collect()
        };
        let h: Vec<Vec<i16>> = rows.iter().map(across).collect();
        let sat = |v: i32| v.clamp(-32768, 32767);
        let sum = |x: usize, y: usize| {
            let [u, c, d] = [y - step, y, y + step].map(|y| i32::from(h[y][x]));
            let made = sat(sat(c + ((sat(u + d) * i32::from(down)) >> 16)) + i32::from(lift));
            (made >> shift).clamp(-16384, 16383) as i16
        };
        rows = (step..h.len() - step).map(|y| (0..h[0].len()).map(|x| sum(x, y)).collect()).collect();
        beyond -= step as isize;
    }
    assert!(beyond == 0 && rows.len() == height && rows[0].len() == width);
    let [across_taps, down_taps] = field.axes.map(|a| a.taps);
    let h: Vec<Vec<i16>> = rows
        .into_iter()
        .map(|row| {
            let (mut padded, mut out) = ([&[0; 2][..], &row, &[0; 2]].concat(), vec![0; width]);
            crate::pixel::grain::across_halves(Level::SCALAR, &mut out, &mut padded, across_taps);
            out
        })
        .collect();
    let row = |y: usize| {
        let at = |d: isize| &h[mirror(y as isize + d, height)][..];
        let mut out = vec![0; width];
        crate::pixel::grain::down(Level::SCALAR, &mut out, [-2, -1, 0, 1, 2].map(at), down_taps);
        out
    };
    (0..height).map(row).collect()
}

#[test]
fn coarse_grain_is_its_definition() {
    let sizes = [
        (2.01, 0.0),
        (2.3, 1.0),
        (2.8, -0.5),
        (4.0, 0.0),
        (5.6, 0.3),
        (11.0, 0.0),
        (16.0, -1.0),
        (30.0, 1.0),
    ];
    for (i, (size, sharpness)) in sizes.into_iter().enumerate() {
        let name = ["yuv420p16", "gray16", "yuv422p16", "gray16"][i % 4];
        let (w, h) = [(301, 67), (37, 21), (1, 9), (64, 3)][(i + i / 4) % 4];
        let format = Format { range: ColorRange::Full, ..Format::from_name(name, w, h).unwrap() };
        // As coarse as asked for in samples, whatever the width: the setting itself ends at 16.
        let look = grain(&format, "").look_of(size * 1920.0 / f64::from(w), sharpness, 1.0, 0.0).remove(0);
        for p in 0..format.planes() {
            let want = field(3, p, &look.fields[p]);
            let (width, height) = format.plane_size(p);
            for &level in Level::available() {
                for first in [0, height / 3] {
                    let block = 256;
                    let parts = vec![(look.own.frame(3), p, 32767)];
                    let mut room = vec![77; Rows::buffer_len(&look.fields[p], block)];
                    let mut rows = Rows::new(&look.fields[p], White { parts, block }, level, &mut room);
                    for (y, want) in want.iter().enumerate().skip(first) {
                        let mut n = vec![0; width];
                        rows.sources(y).n(level, &mut n);
                        assert_eq!(&n, want, "size {size} {name} plane {p} row {y} {level}");
                    }
                }
            }
        }
    }
}

/// n of a whole plane, as numbers.
fn numbers(grain: &Grain, size: f64, p: usize) -> Vec<Vec<f64>> {
    let look = grain.look_of(size, 0.0, 1.0, 0.0).remove(0);
    let field = &look.fields[p];
    let block = 256;
    let mut room = vec![0; Rows::buffer_len(field, block)];
    let parts = vec![(look.own.frame(1), p, 32767)];
    let mut rows = Rows::new(field, White { parts, block }, grain.level, &mut room);
    let deviation = field.deviation(Distribution::H8.deviation());
    let mut n = vec![0; field.size.0];
    let mut row = |y| {
        rows.sources(y).n(grain.level, &mut n);
        n.iter().map(|&n| f64::from(n) / deviation).collect()
    };
    (0..field.size.1).map(&mut row).collect()
}

fn grain(format: &Format, given: &str) -> Grain {
    let set = GrainSpec::read(&values(given));
    let (curve, level) = (set.response(), Level::best());
    let plate = None;
    Grain {
        format: *format,
        set,
        plate,
        curve,
        space: Space::Video,
        seed: 42,
        level,
        look: None,
        kernels: None,
    }
}

#[test]
fn every_sample_has_the_same_statistics() {
    let format = Format::from_name("yuv420p16", 1920, 700).unwrap();
    let grain = grain(&format, "");
    for size in [0.5, 1.6, 2.0, 2.01, 2.8, 4.0, 5.6, 11.0, 16.0] {
        for p in [0, 1] {
            let n = numbers(&grain, size, p);
            let count = (n.len() * n[0].len()) as f64;
            let mean = n.iter().flatten().sum::<f64>() / count;
            let variance = n.iter().flatten().map(|v| v * v).sum::<f64>() / count;
            // Coarse grain has fewer independent samples.
            let few = 1.0 + 2.0 * size * size / (1.0 + 3.0 * p as f64);
            let slack = 5.0 * (few / count).sqrt();
            assert!((variance - 1.0).abs() < 2.0 * slack + 0.004, "size {size} plane {p}: {variance}");
            assert!(mean.abs() < 2.0 * slack + 0.002, "size {size} plane {p}: mean {mean}");
            for period in 2..=16 {
                let ratio = lattice(&n, period);
                // Chance: the variance of so many independent differences, the most and the least of all phases.
                let chance = 6.0 * (2.0 * few * period as f64 / count).sqrt();
                assert!(ratio < 1.01 + chance, "size {size} plane {p} period {period}: {ratio}");
            }
            // The edge is like the middle.
            let edge = |x: usize| n.iter().map(|row| row[x] * row[x]).sum::<f64>() / n.len() as f64;
            let edges: f64 = (0..4).map(|i| edge(i) + edge(n[0].len() - 1 - i)).sum::<f64>() / 8.0;
            assert!(
                (edges - 1.0).abs() < 10.0 * (few / n.len() as f64 / 4.0).sqrt() + 0.1,
                "{size}: {edges}"
            );
        }
    }
}

#[test]
fn grain_grows_and_never_cuts() {
    for generator in ["xs64", "lfsr31"] {
        let format = Format::from_name("gray16", 1920, 40).unwrap();
        let grain = grain(&format, &format!("generator={generator}"));
        let far = |a: f64, b: f64| {
            let (a, b) = (numbers(&grain, a, 0), numbers(&grain, b, 0));
            let each = a.iter().flatten().zip(b.iter().flatten());
            (each.map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / (40.0 * 1920.0)).sqrt()
        };
        for size in [1.0, 2.0, 2.5, 3.238, 4.37, 6.63, 13.35] {
            let step = far(size - 0.01, size + 0.01);
            assert!(step < 0.06, "at {size}: {step}");
        }
        assert!(far(2.0, 4.0) > 0.3);
    }
}
