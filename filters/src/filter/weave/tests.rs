use super::*;
use crate::filter::testing::{FORMATS, at, bind, format, frame_time, noise, run};
use crate::frame::Frame;

#[test]
fn all_levels_and_bands_agree() {
    for &(name, w, h) in FORMATS {
        let f = format(name, w, h);
        let source = noise(f);
        let given = [("across", "0.02"), ("down", "0.02"), ("hops", "0.5")];
        let want = run(&*bind(&ENTRY, &given, &f, Level::SCALAR), &source, 5, &[]);
        for &level in Level::available() {
            assert!(run(&*bind(&ENTRY, &given, &f, level), &source, 5, &[4, 8]) == want, "{name} {level}");
        }
    }
}

/// The vertical displacement of a bar of one row, by its centre of mass.
fn place(given: &[(&str, &str)], number: i64) -> f64 {
    let f = format("gray16", 8, 400);
    let mut source = Frame::new(f);
    for y in 190..210 {
        source.row_mut::<u16>(0, y).fill(60000);
    }
    let out = run(&*bind(&ENTRY, given, &f, Level::best()), &source, number, &[]);
    let (mut sum, mut total) = (0.0, 0.0);
    for y in 0..400 {
        sum += at(&out, 0, 4, y) * y as f64;
        total += at(&out, 0, 4, y);
    }
    sum / total - 199.5
}

#[test]
fn as_in_a_gate_each_frame_has_its_own_place() {
    let places: Vec<f64> = (0..300).map(|n| place(&[("down", "0.01")], n)).collect();
    let product = |by: usize| places.iter().zip(&places[by..]).map(|(a, b)| a * b).sum::<f64>();
    let correlation = product(1) / product(0);
    assert!(correlation.abs() < 0.2, "{correlation}");
}

#[test]
fn it_wanders_smoothly_and_hops_now_and_then() {
    let slow: Vec<f64> = (0..200).map(|n| place(&[("down", "0.01"), ("speed", "0.1")], n)).collect();
    let deviation = (slow.iter().map(|v| v * v).sum::<f64>() / 200.0).sqrt();
    assert!((2.0..6.0).contains(&deviation), "{deviation}");
    assert!(slow.windows(2).all(|p| (p[0] - p[1]).abs() < 2.5));
    let still = [("down", "0"), ("across", "0"), ("hop", "0.02"), ("hops", "0.1")];
    let hops: Vec<f64> = (0..300).map(|n| place(&still, n)).collect();
    let moved = hops.iter().filter(|v| v.abs() > 0.5).count();
    assert!((20..140).contains(&moved), "{moved}");
    let f = format("gray", 8, 8);
    let filter = bind(&ENTRY, &[("down", "0"), ("across", "0")], &f, Level::best());
    assert!(filter.at(&frame_time(3)).is_none());
}
