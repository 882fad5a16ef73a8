//! Tests the guarantees of every shape on random curves.

use super::*;
use crate::fixed;
use crate::ratio::Ratio;
use proptest::prelude::*;

fn r(n: i64, d: i64) -> Ratio {
    Ratio::new(n, d).unwrap()
}

fn value<T: Animate>(range: core::ops::Range<f64>) -> impl Strategy<Value = T> {
    proptest::array::uniform4(range).prop_map(|all| T::from_components(|i| all[i]))
}

/// Any shape, with slopes and handles near the values of the keys.
pub(super) fn shape<T: Animate>() -> impl Strategy<Value = Shape<T>> {
    let unit = 0.0f64..=1.0;
    prop_oneof![
        1 => Just(Shape::Hold),
        1 => Just(Shape::Linear),
        3 => Just(Shape::Smooth),
        3 => Just(Shape::BSpline),
        1 => (value(-5.0..5.0), value(-5.0..5.0)).prop_map(|(leave, arrive)| Shape::Hermite { leave, arrive }),
        1 => (unit.clone(), value(-9.0..9.0), unit, value(-9.0..9.0)).prop_map(|(a, b, c, d)| {
            Shape::Bezier(Handles { leave: a, leave_by: b, arrive: c, arrive_by: d })
        }),
        1 => (0usize..30).prop_filter_map("", |i| Ease::all().nth(i)).prop_map(Shape::Ease),
    ]
}

fn rule() -> impl Strategy<Value = Extrapolation> {
    prop_oneof![
        Just(Extrapolation::Hold),
        Just(Extrapolation::Repeat),
        Just(Extrapolation::Mirror),
        Just(Extrapolation::Extrapolate)
    ]
}

pub(super) fn curve_of<T: Animate>(
    shape: impl Strategy<Value = Shape<T>>,
    values: core::ops::Range<f64>,
) -> impl Strategy<Value = Curve<T>> {
    let keys = proptest::collection::vec((1i64..50, value(values), shape), 1..9);
    (keys, 0i64..30, any::<bool>(), 1i64..25, rule(), rule()).prop_map(|(keys, start, seconds, den, b, a)| {
        let mut at = start;
        let keys = keys.into_iter().map(|(step, value, shape)| {
            at += step;
            Key { at: if seconds { KeyTime::Seconds(r(at, den)) } else { KeyTime::Frame(at) }, value, shape }
        });
        Curve::new(keys.collect()).unwrap().with_extrapolation(b, a)
    })
}

fn curve<T: Animate>() -> impl Strategy<Value = Curve<T>> {
    curve_of(shape(), -10.0..10.0)
}

/// Limits: the lower, the distance of the upper, and whether there are any.
fn limits() -> impl Strategy<Value = (f64, f64, bool)> {
    (-12.0f64..12.0, 0.0f64..20.0, any::<bool>())
}

/// Times that are not special, in all stretches and far beyond both ends.
fn times(c: &Curve) -> Vec<Ratio> {
    let (start, length) = (c.keys()[0].when(), c.length());
    let step = if length > Ratio::ZERO { length * r(1, 37) } else { r(1, 7) };
    (-90..130).map(|i| start + step * Ratio::whole(i) + step * r(1, 3)).collect()
}

#[test]
fn smooth_is_the_known_interpolant() {
    // Computed by hand from the formulas of the 1984 article: d = .5, -.2, .64, 1 over h = 10, 5, 25, 1.
    let c: Curve = "0~=0;10~=5;15~=4;40~=20;41~=21".parse().unwrap();
    let at = |n, d| c.value_at(r(n, d));
    assert_eq!([at(0, 1), at(10, 1), at(15, 1), at(40, 1), at(41, 1)], [0.0, 5.0, 4.0, 20.0, 21.0]);
    // Slopes at peaks are 0, here at 10 and 15, so the stretch between is 5 - (3u^2 - 2u^3).
    assert!((at(12, 1) - (5.0 - (3.0 * 0.16 - 2.0 * 0.064))).abs() < 1e-15);
    // First slope (25 * .5 - 10 * -.2) / 15 = .9667, within three times the secant's.
    let (m, u) = (14.5 / 15.0 * 10.0, 0.3);
    assert!((at(3, 1) - (m * u + (15.0 - 2.0 * m) * u * u + (m - 10.0) * u * u * u)).abs() < 1e-14);
    // Slope at 40: 78 / (27 / .64 + 51 / 1).
    let (m, u) = (78.0 / (27.0 / 0.64 + 51.0) * 25.0, 0.2);
    assert!((at(20, 1) - (4.0 + (48.0 - m) * u * u + (m - 32.0) * u * u * u)).abs() < 1e-13);
}

#[test]
fn bezier_is_what_browsers_draw() {
    // CSS `ease` and `ease-in`; and handles that make time stand still in the middle.
    let at = |text: &str, n, d| text.parse::<Curve>().unwrap().value_at(r(n, d));
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} {b}");
    near(at("0(bezier .25 .1 .25 0)=0;10=1", 5, 1), 0.802_403_387_584_857);
    near(at("0(bezier .42 0 1 0)=0;10=1", 5, 2), 0.093_464_650_718_824_82);
    near(at("0(bezier 1 0 0 0)=0;10=1", 4, 1), 0.111_397_339_268_070_1);
    near(at("0(bezier 0 0 1 0)=3;10=5", 7, 1), 4.4);
}

#[test]
fn a_bspline_passes_by_its_keys() {
    // With even spacing, the value at the inner key is (1 + 4 * 0 + 2) / 6; the curve passes through the
    // ends.
    let c: Curve = "0(bspline)=1;10(bspline)=0;20(bspline)=2".parse().unwrap();
    let at = |n| c.value_at(r(n, 1));
    assert_eq!([at(0), at(20)], [1.0, 2.0]);
    assert!((at(10) - 0.5).abs() < 1e-15);
    // Two keys give a line, and another shape ends the row.
    let c: Curve = "0(bspline)=1;10=0;15(bspline)=4;25(bspline)=6;35=9".parse().unwrap();
    assert!((c.value_at(r(5, 1)) - 0.5).abs() < 1e-15);
    assert_eq!([c.value_at(r(10, 1)), c.value_at(r(15, 1)), c.value_at(r(35, 1))], [0.0, 4.0, 9.0]);
}

#[test]
fn rules_beyond_the_ends() {
    let at = |text: &str, n| text.parse::<Curve>().unwrap().value_at(r(n, 1));
    let c = "<repeat;10=1;20=3;>mirror";
    assert_eq!(
        [at(c, 15), at(c, 22), at(c, 30), at(c, 35), at(c, 5), at(c, 0), at(c, -1)],
        [2.0, 2.6, 1.0, 2.0, 2.0, 1.0, 2.8]
    );
    let c = "<extrapolate;10=1;20|=3;30=9;>extrapolate";
    assert_eq!([at(c, 0), at(c, 40)], [-1.0, 9.0]);
    let c = "<extrapolate;10(hermite 2 -1)=1;20=3;>extrapolate";
    assert_eq!([at(c, 9), at(c, 22)], [-1.0, 1.0]);
    // A straight handle gives its slope, a vertical one that of the line, a missing one that of the other
    // handle.
    let c = "<extrapolate;0(bezier .5 10 0 1)=0;10=20;>extrapolate";
    assert_eq!([at(c, -1), at(c, 11)], [-2.0, 19.9]);
    let c = "<extrapolate;0(bezier 0 1 1 0)=0;10=20;>extrapolate";
    assert_eq!([at(c, -1), at(c, 11)], [-2.0, 22.0 - 0.1]);
    // An easing function continues as a line; a single key always holds.
    assert_eq!(at("0p=0;10=20", 11), 20.0);
    assert_eq!(at("0(circ-in)=0;10=20;>extrapolate", 11), 22.0);
    assert_eq!([at("<repeat;5=7;>mirror", 0), at("<extrapolate;5=7;>extrapolate", 9)], [7.0, 7.0]);
}

#[test]
fn limits_hold_where_shapes_swing() {
    let c: Curve = "0(back-in-out)=0;10=1;>extrapolate".parse().unwrap();
    assert!(c.value_at(r(2, 1)) < 0.0 && c.value_at(r(12, 1)) > 1.0);
    let c = c.clamped(0.0, 1.0);
    assert_eq!([c.value_at(r(2, 1)), c.value_at(r(12, 1))], [0.0, 1.0]);
}

#[test]
fn integrals_stop_at_the_limits() {
    let sum =
        |text: &str, n| Integral::new(&text.parse::<Curve>().unwrap().clamped(0.0, 4.0)).value_at(r(n, 1));
    // A triangle, then nothing.
    assert_eq!([sum("0=1;24=0;>extrapolate", 24), sum("0=1;24=0;>extrapolate", 240)], [12.0, 12.0]);
    // From 1 to 2 in 8 frames, and from there to 4 in 16.
    assert_eq!(sum("0=1;8=2;>extrapolate", 8 + 16 + 10), 12.0 + 48.0 + 40.0);
    assert_eq!(sum("<extrapolate;0=1;8=2", -20), -4.0);
    // Within the limits from 5 to 6.
    assert_eq!([5, 6, 12].map(|n| sum("0=-8;4=-4;8=12;12=12", n)), [0.0, 2.0, 26.0]);
}

#[test]
fn constants_are_known() {
    for (text, constant) in [
        ("5=3", Some(3.0)),
        ("<repeat;5~=3;6D=3;7(bspline)=3;8(bezier 0 0 1 0)=3;9(hermite 1 1)=3", Some(3.0)),
        ("5(hermite 0 1)=3;6=3", None),
        ("5(bezier 0 0 1 1)=3;6=3", None),
        ("5=3;6=4", None),
    ] {
        assert_eq!(text.parse::<Curve>().unwrap().constant(), constant, "{text}");
    }
}

#[test]
fn values_are_frozen() {
    // The bits must be the same on every machine; a change here changes renders.
    let c: Curve<[f64; 2]> = "<mirror;3~=0,1;5~=7,0.3;11(bspline)=2,9;12(bspline)=5,5;19(bspline)=4,1;\
        25(bezier .2 3,-1 .9 0,.1)=1,2;31(hermite .1,.2 -3,1)=0,0;40s=0,1;44A=5,3;50=1,1;>repeat"
        .replace("40s", "40(circ-in)")
        .parse()
        .unwrap();
    let sums = Integral::new(&c);
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for i in -100..400 {
        for v in c.value_at(r(i, 3)).into_iter().chain(sums.value_at(r(i, 3))) {
            for b in v.to_bits().to_le_bytes() {
                hash = (hash ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
    }
    assert_eq!(format!("{hash:016x}"), "7fff7270c354ea42");
}

#[test]
fn extremes_stay_finite() {
    let shapes = ["", "|", "~", "s", "A", "(hermite 1e100 -1e100)", "(bezier 1 1e100 0 -1e100)", "(bspline)"];
    for shape in shapes {
        for [a, b, c] in
            [["0s", "1/9223372036854775807s", "9223372036854775807s"], ["0", "1", "9223372036854775807"]]
        {
            let text =
                format!("<extrapolate;{a}{shape}=1e100;{b}{shape}=-1e100;{c}{shape}=1e100;>extrapolate");
            let curve: Curve = text.parse().unwrap_or_else(|e| panic!("{text} {e}"));
            let sums = Integral::new(&curve);
            for n in [i64::MIN, -1, 0, 1, 2, i64::MAX / 2, i64::MAX] {
                for d in [1, 3, i64::MAX] {
                    let v = curve.value_at(r(n, d));
                    assert!(v.is_finite(), "{text} at {n}/{d}: {v}");
                    assert!(!sums.value_at(r(n, d)).is_nan(), "{text} to {n}/{d}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(fixed(11))]

    #[test]
    fn printing_parses_back(a in curve::<f64>(), b in curve::<[f64; 2]>(), c in curve::<[f64; 4]>()) {
        prop_assert_eq!(a.to_string().parse(), Ok(a));
        prop_assert_eq!(b.to_string().parse(), Ok(b));
        prop_assert_eq!(c.to_string().parse(), Ok(c));
    }

    #[test]
    fn keys_are_hit_exactly(c in curve::<[f64; 2]>()) {
        for (i, k) in c.keys().iter().enumerate() {
            let inside = i > 0 && c.keys()[i - 1].shape == Shape::BSpline
                && k.shape == Shape::BSpline && i + 1 < c.keys().len();
            if !inside {
                prop_assert_eq!(c.value_at(k.when()), k.value);
            }
        }
    }

    #[test]
    fn values_arrive_at_the_next_key(c in curve::<f64>()) {
        for (i, k) in c.keys().iter().enumerate().skip(1) {
            if c.keys()[i - 1].shape != Shape::Hold {
                let just_before = c.segment(i - 1, 0).value(1.0);
                let there = c.value_at(k.when());
                prop_assert!((just_before - there).abs() < 1e-12, "{} {}", just_before, there);
            }
        }
    }

    #[test]
    fn smooth_never_leaves_its_keys_and_keeps_their_order(c in curve_of::<f64>(Just(Shape::Smooth), -10.0..10.0)) {
        for (i, pair) in c.keys().windows(2).enumerate() {
            let (a, b): (f64, f64) = (pair[0].value, pair[1].value);
            let p = c.segment(i, 0);
            let all: Vec<f64> = (0..=200).map(|j| p.value(f64::from(j) / 200.0)).collect();
            for w in all.windows(2) {
                prop_assert!(w[1] >= a.min(b) && w[1] <= a.max(b));
                prop_assert!((w[1] - w[0]) * (b - a).signum() > -1e-13);
            }
        }
    }

    #[test]
    fn smooth_has_no_corner(c in curve_of::<f64>(Just(Shape::Smooth), -10.0..10.0)) {
        for i in 1..c.keys().len().saturating_sub(1) {
            let h = |i: usize| (c.keys()[i + 1].when() - c.keys()[i].when()).to_f64();
            let (left, right) = (c.segment(i - 1, 0).ends().1 / h(i - 1), c.segment(i, 0).ends().0 / h(i));
            prop_assert!((left - right).abs() < 1e-9 * (1.0 + left.abs()), "{} {}", left, right);
        }
    }

    #[test]
    fn hermite_leaves_and_arrives_with_its_slopes(c in curve_of::<f64>(
        (-5.0f64..5.0, -5.0f64..5.0).prop_map(|(leave, arrive)| Shape::Hermite { leave, arrive }), -10.0..10.0))
    {
        for (i, k) in c.keys().iter().enumerate().take(c.keys().len() - 1) {
            let Shape::Hermite { leave, arrive } = k.shape else { panic!("{:?}", k.shape) };
            let h = (c.keys()[i + 1].when() - k.when()).to_f64();
            let (first, last) = c.segment(i, 0).ends();
            prop_assert!((first / h - leave).abs() < 1e-9 && (last / h - arrive).abs() < 1e-9 * (1.0 + 40.0 / h));
        }
    }

    #[test]
    fn a_bspline_has_no_break_in_slope_or_curvature(c in curve_of::<f64>(Just(Shape::BSpline), -10.0..10.0)) {
        let cubic = |i| match c.segment(i, 0) {
            super::segment::Segment::Cubic(k) => k,
            other => panic!("{other:?}"),
        };
        for i in 1..c.keys().len().saturating_sub(1) {
            let h = |i: usize| (c.keys()[i + 1].when() - c.keys()[i].when()).to_f64();
            let (a, b, ha, hb) = (cubic(i - 1), cubic(i), h(i - 1), h(i));
            let slopes = [(a[1] + 2.0 * a[2] + 3.0 * a[3]) / ha, b[1] / hb];
            let bends = [(2.0 * a[2] + 6.0 * a[3]) / (ha * ha), 2.0 * b[2] / (hb * hb)];
            for [l, r] in [slopes, bends] {
                prop_assert!((l - r).abs() < 1e-7 * (1.0 + l.abs()), "{} {}", l, r);
            }
        }
    }

    #[test]
    fn a_bspline_keeps_the_order_of_its_keys(mut c in curve_of::<f64>(Just(Shape::BSpline), -10.0..10.0)) {
        let mut values: Vec<f64> = c.keys().iter().map(|k| k.value).collect();
        values.sort_by(f64::total_cmp);
        let keys = c.keys().iter().zip(values).map(|(k, value)| Key { value, ..*k }).collect();
        c = Curve::new(keys).unwrap();
        let all: Vec<f64> = times(&c).into_iter().map(|t| c.value_at(t)).collect();
        prop_assert!(all.windows(2).all(|w| w[1] > w[0] - 1e-12));
    }

    #[test]
    fn repeating_and_mirroring_are_exact(c in curve::<f64>(), n in -5i64..6) {
        prop_assume!(c.keys().len() > 1);
        let (start, length) = (c.keys()[0].when(), c.length());
        let repeat = c.clone().with_extrapolation(Extrapolation::Repeat, Extrapolation::Repeat);
        let mirror = c.clone().with_extrapolation(Extrapolation::Mirror, Extrapolation::Mirror);
        for i in 1..20 {
            let inside = start + length * r(i, 20);
            let value = c.value_at(inside);
            prop_assert_eq!(repeat.value_at(inside + length * Ratio::whole(n)), value);
            let reflected = if n % 2 == 0 { inside } else { start + length - (inside - start) };
            prop_assert_eq!(mirror.value_at(reflected + length * Ratio::whole(n)), value);
        }
    }

    #[test]
    fn integrals_agree_with_summing(c in curve::<f64>(), (low, wide, clamps) in limits()) {
        let c = if clamps { c.clamped(low, low + wide) } else { c };
        let sums = Integral::new(&c);
        prop_assert_eq!(sums.value_at(Ratio::ZERO), 0.0);
        let times = times(&c);
        // Simpson's rule between two times, in pieces whose ends include all keys; jumps and vertical ends reduce
        // the accuracy.
        let mut cuts = times.clone();
        let (start, length) = (c.keys()[0].when(), c.length());
        for turn in -4..5 {
            for k in c.keys() {
                cuts.push(k.when() + length * Ratio::whole(turn));
                cuts.push(start + length * Ratio::whole(turn) - (k.when() - start));
            }
        }
        cuts.sort();
        cuts.dedup();
        let (first, last) = (times[0], times[times.len() - 1]);
        cuts.retain(|t| (first..=last).contains(t));
        let mut total = 0.0;
        let mut weight = 0.0;
        for pair in cuts.windows(2) {
            let step = (pair[1] - pair[0]) * r(1, 64);
            for i in 0..64 {
                // Use midpoints, so that no sample falls on a jump.
                let at = pair[0] + step * r(2 * i + 1, 2);
                let v = c.value_at(at);
                total += v * step.to_f64();
                weight += v.abs() * step.to_f64();
            }
        }
        let want = sums.value_at(last) - sums.value_at(first);
        prop_assert!((total - want).abs() < 3e-4 * (1.0 + weight), "{} {} of {}", total, want, weight);
    }

    #[test]
    fn bounds_agree_with_sampling(c in curve::<f64>(), (low, wide, clamps) in limits()) {
        let c = if clamps { c.clamped(low, low + wide) } else { c };
        let far = Ratio::whole(FAR);
        let mut all = vec![c.value_at(c.keys()[0].when() - far), c.value_at(c.keys()[c.keys().len() - 1].when() + far)];
        all.extend(times(&c).into_iter().map(|t| c.value_at(t)));
        for pair in c.keys().windows(2) {
            let long = pair[1].when() - pair[0].when();
            all.extend((0..1000).map(|i| c.value_at(pair[0].when() + long * r(i, 1000))));
        }
        all.extend(c.keys().iter().map(|k| c.value_at(k.when())));
        let sampled = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
        let bounds = c.bounds();
        let slack = 1e-12 * (1.0 + sampled.0.abs().max(sampled.1.abs()));
        prop_assert!(bounds.0 <= sampled.0 + slack && bounds.1 >= sampled.1 - slack, "{:?} {:?}", bounds, sampled);
        let near = 0.01 * (bounds.1 - bounds.0) + slack;
        prop_assert!(sampled.0 - bounds.0 <= near && bounds.1 - sampled.1 <= near, "{:?} {:?}", bounds, sampled);
    }

    #[test]
    fn limits_that_are_not_reached_change_no_bit(c in curve::<f64>()) {
        let (low, high) = c.bounds();
        let [free, clamped] = [c.clone(), c.clone().clamped(low, high)].map(|c| Integral::new(&c));
        for t in times(&c) {
            prop_assert_eq!(free.value_at(t).to_bits(), clamped.value_at(t).to_bits());
        }
    }

    #[test]
    fn integrals_of_nonnegative_curves_never_fall(c in curve_of(
        prop_oneof![
            Just(Shape::Hold), Just(Shape::Linear), Just(Shape::Smooth), Just(Shape::BSpline),
            (0usize..21).prop_filter_map("", |i| Ease::all().nth(i)).prop_map(Shape::Ease),
        ], 0.0..5.0), zeros in any::<u8>())
    {
        // Set some keys to 0, so that some stretches add almost nothing.
        let keys = c.keys().iter().enumerate().map(|(i, k)| Key { value: if zeros >> (i % 8) & 1 == 1 { 0.0 } else { k.value }, ..*k });
        let rule = |e| if e == Extrapolation::Extrapolate { Extrapolation::Hold } else { e };
        let c = Curve::new(keys.collect()).unwrap().with_extrapolation(rule(c.before()), rule(c.after()));
        let sums = Integral::new(&c);
        let (start, length) = (c.keys()[0].when(), c.length());
        let mut before = f64::NEG_INFINITY;
        for i in -2000..4000 {
            let now = sums.value_at(start + length * r(i, 1000));
            // Allows the rounding error of a sum over the whole curve and of folding beyond the ends.
            prop_assert!(now >= before - 1e-13 * (1.0 + before.abs()), "{} after {}", now, before);
            before = now;
        }
    }

    #[test]
    fn straight_integrals_never_fall_by_a_bit(c in curve_of(
        prop_oneof![Just(Shape::Hold), Just(Shape::Linear)], 0.0..5.0), zeros in any::<u8>())
    {
        let keys = c.keys().iter().enumerate().map(|(i, k)| Key { value: if zeros >> (i % 8) & 1 == 1 { 0.0 } else { k.value }, ..*k });
        let c = Curve::new(keys.collect()).unwrap();
        let sums = Integral::new(&c);
        let (start, length) = (c.keys()[0].when(), c.length());
        let all = (-500..5500).map(|i| sums.value_at(start + length * r(i, 5000))).collect::<Vec<_>>();
        prop_assert!(all.windows(2).all(|w| w[0] <= w[1]));
    }
}
