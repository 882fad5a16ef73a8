//! Keyframe strings, and the points of a response curve.

use super::super::Target;
use grainfield_filters::curve::{Animate, Curve, Integral, KeyTime, Shape};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::settings::Points;

/// Text of a curve.
pub const TARGET: Target = Target {
    name: "curve",
    run,
    words: &[
        "=",
        ";",
        "|=",
        "~=",
        "!=",
        "<repeat",
        "<mirror",
        "<extrapolate",
        ">hold",
        ">repeat",
        ">mirror",
        ">extrapolate",
        "(hermite 1 -2)=",
        "(bezier 0.3 0 0.7 -2)=",
        "(bspline)=",
        "(bounce-out)=",
        "(elastic-in)=",
        "s=",
        "00:00:01.5=",
        "1001/24s=",
        "-1=",
        "1e100",
        "nan",
        "inf",
        ",",
        "#ff8800",
        "a=",
        "D=",
        " ",
    ],
    seeds: &[
        "0=0;48~=12;-1=4",
        "<mirror;0=1;24|=2;48=3;>repeat",
        "1.5s=2;00:00:03=1;1001/24s=-7",
        "0(hermite 0.5 0)=1;10(bezier 0.3 0 0.7 -2)=5;20=0",
        "0(bspline)=0,1;10(bspline)=5,2;20(bspline)=3,3;30=0,0",
        "0=red;10=#00ff0080",
        "0=0;0.5=1;1=0.2",
        "0a=0;10g=1;20D=4;30=-1",
    ],
};

fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let points = match Points::parse(text, 0.0, 1.0) {
        Ok(points) => {
            for x in [0.0, 0.1, 0.5, 1.0, -1.0, 7.0, f64::NAN] {
                assert!((0.0..=1.0).contains(&points.at(x)) || x.is_nan(), "{points:?} at {x}");
            }
            true
        }
        Err(e) => {
            let _ = format!("{e} {e:?}");
            false
        }
    };
    if let Err(e) = Shape::<f64>::parse(text) {
        let _ = e.to_string();
    }
    let one = curve::<f64>(text);
    let two = curve::<[f64; 2]>(text);
    let four = curve::<[f64; 4]>(text);
    points || one || two || four
}

fn curve<T: Animate + PartialEq + std::fmt::Debug>(text: &str) -> bool {
    let curve: Curve<T> = match text.parse() {
        Ok(curve) => curve,
        Err(e) => {
            assert!(e.at.start <= e.at.end && text.get(e.at.clone()).is_some(), "{:?} in {text:?}", e.at);
            let _ = format!("{e} {e:?}");
            return false;
        }
    };
    let again = curve.to_string();
    assert_eq!(again.parse::<Curve<T>>().as_ref(), Ok(&curve), "{again} reads back");
    for last in [None, Some(0), Some(47), Some(i64::MAX), Some(-5)] {
        let Ok(resolved) = curve.resolve(0, last) else { continue };
        if resolved.keys().iter().any(|k| matches!(k.at, KeyTime::Frame(n) if n < 0)) {
            continue;
        }
        let integral = Integral::new(&resolved);
        for (n, d) in [(0, 1), (1, 3), (12, 1), (-7, 2), (i64::MAX, 1), (i64::MIN + 1, 1), (1, i64::MAX)] {
            let Some(now) = Ratio::new(n, d) else { continue };
            let value = resolved.value_at(now);
            assert_eq!(value, resolved.value_at(now));
            let _ = integral.value_at(now);
        }
        let _ = resolved.constant();
    }
    true
}
