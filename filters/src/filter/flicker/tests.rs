use super::*;
use crate::filter::testing::{at, bind, compare, format, frame_time, zero_span};

fn exposure(given: &[(&str, &str)], number: i64) -> f64 {
    let f = format("grayf32", 1, 1);
    let filter = bind(&ENTRY, given, &f, Level::best());
    let mut frame = crate::frame::Frame::new(f);
    frame.row_mut::<f32>(0, 0)[0] = 1.0;
    at(&crate::filter::testing::run(&*filter, &frame, number, &[]), 0, 0, 0)
}

#[test]
fn samples_are_scaled_from_black() {
    for number in [0, 7, 1_000_003] {
        let given = [("amount", "0.3")];
        let gain = exposure(&given, number);
        compare(&ENTRY, &given, number, |source, p, x, y| {
            let f = source.format();
            if f.alpha_plane() == Some(p) {
                return None;
            }
            let was = at(source, p, x, y);
            let (zero, _) = zero_span(f, p);
            let to = zero + (was - zero) * gain;
            match f.legal(p) {
                None => Some((if was.is_finite() { to } else { was }, 1e-6)),
                Some((lo, hi)) => Some((to.clamp(was.min(lo.into()), was.max(hi.into())), 0.513)),
            }
        });
    }
}

#[test]
fn exposures_have_the_amount_as_deviation() {
    let values: Vec<f64> = (0..4000).map(|n| exposure(&[("amount", "0.1")], n) - 1.0).collect();
    let mean = values.iter().sum::<f64>() / 4000.0;
    let deviation = (values.iter().map(|v| v * v).sum::<f64>() / 4000.0).sqrt();
    assert!(mean.abs() < 0.005 && (deviation - 0.1).abs() < 0.005, "{mean} {deviation}");
    // At low speed, neighbouring values are similar.
    let slow: Vec<f64> = (0..500).map(|n| exposure(&[("amount", "0.1"), ("speed", "0.1")], n)).collect();
    assert!(slow.windows(2).all(|p| (p[0] - p[1]).abs() < 0.06));
    let held: Vec<f64> = (0..8).map(|n| exposure(&[("speed", "0.25"), ("mode", "step")], n)).collect();
    assert!(held[..4].iter().all(|v| *v == held[0]) && held[4] != held[0]);
}

#[test]
fn a_speed_that_moves_is_summed() {
    let f = format("gray", 8, 8);
    let phase = |text: &str, n| {
        let speed = ENTRY.settings[1].parse(text).unwrap();
        let crate::settings::Value::Number(speed) = speed else { panic!() };
        Phase::new(&speed, &f).at(&frame_time(n))
    };
    assert_eq!(phase("0.5", 10), 5.0);
    assert!((phase("0=0;10=1", 10) - 5.0).abs() < 1e-12);
    assert!((phase("0s=1;1s=1", 36) - 36.0).abs() < 1e-9, "{}", phase("0s=1;1s=1", 36));
}
