//! Tests of bounds, numbers of keys and guarantees.

use super::*;
use crate::fixed;
use proptest::prelude::*;

fn frames(values: &[f64]) -> Vec<Sample> {
    values.iter().enumerate().map(|(i, v)| (KeyTime::Frame(i as i64), *v)).collect()
}

fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24) - 0.5
    }
}

/// A random walk, noise, and a hand-held camera: slow movement with a tremble.
fn tracks(n: usize, seed: u64) -> [Vec<f64>; 3] {
    let mut r = random(seed);
    let mut at = 0.0;
    let walk = (0..n).map(|_| {
        at += r();
        at
    });
    let walk = walk.collect();
    let noise = (0..n).map(|_| 10.0 * r()).collect();
    let mut r = random(seed ^ 77);
    let (mut at, mut speed, mut target) = (0.0, 0.0, 0.0);
    let camera = (0..n).map(|i| {
        if i % 60 == 0 {
            target = 8.0 * r();
        }
        speed += 0.1 * (target - speed);
        at += speed;
        at + 0.3 * libm::sin(i as f64 * 0.7) + 0.05 * r()
    });
    [walk, noise, camera.collect()]
}

fn keys(samples: &[Sample], shape: FitShape, bound: f64) -> usize {
    let c = fit(samples, shape, bound).unwrap();
    let (_, far) = deviation(&c, samples).unwrap();
    assert!(far <= bound, "{shape:?} {bound}: {far}");
    assert_eq!(
        (c.keys()[0].at, c.keys()[c.keys().len() - 1].at),
        (samples[0].0, samples[samples.len() - 1].0)
    );
    c.keys().len()
}

#[test]
fn wider_bounds_need_fewer_keys() {
    for (name, track) in ["walk", "noise", "camera"].iter().zip(tracks(400, 5)) {
        let samples = frames(&track);
        for shape in FitShape::ALL {
            let counts = [0.02, 0.2, 2.0, 20.0].map(|b| keys(&samples, shape, b));
            eprintln!("{name} {shape:?}: {counts:?}");
            assert!(counts[1] <= counts[0] && counts[2] < counts[1] && counts[3] < counts[2], "{counts:?}");
        }
    }
}

#[test]
fn samples_of_curves_give_the_curves_back() {
    let sampled = |text: &str| -> Vec<Sample> {
        let c: Curve = text.parse().unwrap();
        let n = c.keys()[c.keys().len() - 1].when().floor();
        (0..=n).map(|i| (KeyTime::Frame(i), c.value_at(Ratio::whole(i)))).collect()
    };
    let line = "0=0;48=12;60=12;131=-4.25;132=7;300=0";
    // With a bound of zero.
    assert_eq!(fit(&sampled(line), FitShape::Linear, 0.0).unwrap().to_string(), line);
    assert_eq!(keys(&sampled(line), FitShape::Linear, 1e-3), 6);
    let smooth = "0~=0;48~=12;90~=30;131~=-4.25;200~=7;300~=0";
    assert_eq!(keys(&sampled(smooth), FitShape::Smooth, 1e-9), 6);
    let hermite = "0(hermite .5 -1)=0;48(hermite -1 .25)=12;131(hermite .25 0)=-4.25;300=5";
    assert_eq!(keys(&sampled(hermite), FitShape::Hermite, 1e-4), 4);
    assert_eq!(keys(&sampled(hermite), FitShape::Bezier, 1e-4), 4);
    // An ease in and out, given by handles: one Bezier stretch, several Hermite stretches.
    let bezier = "0(bezier .8 0 .2 0)=0;100(bezier .6 0 .9 0)=50;180=20";
    let samples = sampled(bezier);
    let counts = [FitShape::Bezier, FitShape::Hermite].map(|shape| keys(&samples, shape, 0.05));
    assert!(counts[0] <= 6 && counts[0] < counts[1], "{counts:?}");
    for shape in FitShape::ALL {
        let constant = frames(&[3.25; 500]);
        assert_eq!(keys(&constant, shape, 0.0), 2);
        assert_eq!(keys(&constant[..1], shape, 0.0), 1);
        assert_eq!(keys(&frames(&[1.0, -2.0]), shape, 0.0), 2);
    }
}

#[test]
fn numbers_are_short() {
    let [_, _, camera] = tracks(200, 9);
    let text = fit(&frames(&camera), FitShape::Linear, 0.1).unwrap().to_string();
    assert!(text.split(';').all(|k| k.len() <= 12), "{text}");
}

#[test]
fn invalid_samples_are_refused() {
    let of = |s: &[Sample], bound| fit(s, FitShape::Smooth, bound).map(|c| c.keys().len());
    let f = KeyTime::Frame;
    assert_eq!(of(&[], 1.0), Err(FitError::Empty));
    assert_eq!(of(&[(f(0), f64::NAN)], 1.0), Err(FitError::Value(0)));
    assert_eq!(of(&[(f(0), 1.0), (f(1), -1e101)], 1.0), Err(FitError::Value(1)));
    assert_eq!(of(&[(f(0), 1.0), (f(0), 1.0)], 1.0), Err(FitError::Order(1)));
    assert_eq!(of(&[(f(0), 1.0), (KeyTime::Seconds(Ratio::ONE), 1.0)], 1.0), Err(FitError::Order(1)));
    assert_eq!(of(&[(f(0), 1.0)], -1.0), Err(FitError::Bound));
    assert_eq!(of(&[(f(0), 1.0)], f64::NAN), Err(FitError::Bound));
    // The largest values allowed, and bounds beyond them.
    for shape in FitShape::ALL {
        for bound in [0.0, 1e-300, 1e99, 1e300] {
            keys(&frames(&[1e100, -1e100, 1e100, 3.0, 1e-300, 0.0, 1e100]), shape, bound);
        }
    }
}

/// Samples at increasing times, in frames or seconds.
fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let one = (1i64..9, -10.0f64..10.0);
    (proptest::collection::vec(one, 1..120), 0u8..4, any::<bool>(), 1i64..30, 0u64..100).prop_map(
        |(all, kind, seconds, den, seed)| {
            let made = tracks(all.len(), seed);
            let mut at = 0;
            let sample = |(i, (step, v)): (usize, (i64, f64))| {
                at += if kind == 3 { step } else { 1 };
                let time =
                    if seconds { KeyTime::Seconds(Ratio::new(at, den).unwrap()) } else { KeyTime::Frame(at) };
                (time, made.get(usize::from(kind)).map_or(v, |t| t[i]))
            };
            all.into_iter().enumerate().map(sample).collect()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..fixed(11) })]

    #[test]
    fn the_error_is_within_the_bound(s in samples(), bound in prop_oneof![Just(0.0), 1e-12f64..1e-6, 0.001f64..4.0]) {
        for shape in FitShape::ALL {
            let c = fit(&s, shape, bound).unwrap();
            let (_, far) = deviation(&c, &s).unwrap();
            prop_assert!(far <= bound, "{:?}: {} > {}", shape, far, bound);
            prop_assert!(c.keys().len() <= s.len());
        }
    }

    #[test]
    fn fits_of_rising_samples_rise(s in samples(), bound in 0.001f64..4.0) {
        let mut values: Vec<f64> = s.iter().map(|s| s.1).collect();
        values.sort_by(f64::total_cmp);
        let s: Vec<Sample> = s.iter().zip(values).map(|(s, v)| (s.0, v)).collect();
        let c = fit(&s, FitShape::Smooth, bound).unwrap();
        let (start, end) = (s[0].0.ratio(), s[s.len() - 1].0.ratio());
        let mut before = f64::NEG_INFINITY;
        for i in 0..=1000 {
            let v = c.value_at(start + (end - start) * Ratio::new(i, 1000).unwrap());
            prop_assert!(v >= before - 1e-12, "{} after {}", v, before);
            before = v;
        }
    }

    #[test]
    fn cubics_have_no_corner(s in samples(), bound in 0.01f64..4.0) {
        for shape in [FitShape::Hermite, FitShape::Bezier] {
            let c = fit(&s, shape, bound).unwrap();
            for i in 1..c.keys().len().saturating_sub(1) {
                let h = |i: usize| crate::curve::key::length(&c.keys()[i], &c.keys()[i + 1]);
                let (left, right) = (c.segment(i - 1, 0).ends().1 / h(i - 1), c.segment(i, 0).ends().0 / h(i));
                // They differ only by rounding.
                prop_assert!((left - right).abs() < 1e-2 * bound.max(1.0) * (1.0 + left.abs()), "{:?}: {} {}", shape, left, right);
            }
        }
    }
}
