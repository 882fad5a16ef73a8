//! The formulas of the easing functions, `In` form: value and integral from 0. The other forms follow from them.
//!
//! These are Robert Penner's equations. Exponential and elastic, which jump by 1/1024 in his form, are shifted and
//! scaled to begin at exactly 0, as in D3. Everything beyond + - * / and sqrt comes from the pinned `libm`.

use super::EaseKind;
use core::f64::consts::{FRAC_PI_2, LN_2, PI};

/// Overshoot of `Back`: it moves back by a tenth.
const BACK: f64 = 1.701_58;
/// The same for one half of in-out.
const BACK_HALF: f64 = BACK * 1.525;
/// 1 / (1 - 2^-10).
const EXPO: f64 = 1024.0 / 1023.0;
/// 2^-10.
const EXPO_0: f64 = 1.0 / 1024.0;
/// Angular frequency of `Elastic` in radians per unit of time: its period is 0.3.
const SWING: f64 = 2.0 * PI / 0.3;

pub(super) fn value(kind: EaseKind, u: f64) -> f64 {
    match kind {
        EaseKind::Sine if u == 1.0 => 1.0,
        EaseKind::Sine => 1.0 - libm::cos(u * FRAC_PI_2),
        EaseKind::Quad => u * u,
        EaseKind::Cubic => u * u * u,
        EaseKind::Quart => (u * u) * (u * u),
        EaseKind::Quint => (u * u) * (u * u) * u,
        EaseKind::Expo => exponential(u),
        EaseKind::Circ => 1.0 - (1.0 - u * u).sqrt(),
        EaseKind::Back => back(u, BACK),
        EaseKind::Elastic => exponential(u) * libm::cos((1.0 - u) * SWING),
        EaseKind::Bounce => 1.0 - bounce(1.0 - u),
    }
}

/// The value of `In` as one half of in-out; `Back` overshoots further there.
pub(super) fn value_of_half(kind: EaseKind, u: f64) -> f64 {
    if kind == EaseKind::Back { back(u, BACK_HALF) } else { value(kind, u) }
}

/// The times at which the value turns, in order.
pub(super) fn turns(kind: EaseKind) -> Vec<f64> {
    match kind {
        EaseKind::Back => vec![back_turn(BACK)],
        EaseKind::Elastic => ELASTIC_TURNS.to_vec(),
        // The ground and the apex of each arc.
        EaseKind::Bounce => ARCS
            .iter()
            .rev()
            .flat_map(|arc| [1.0 - arc.0, 1.0 - arc.1])
            .filter(|u| *u > 0.0 && *u < 1.0)
            .collect(),
        _ => Vec::new(),
    }
}

/// The turns of [`value_of_half`].
pub(super) fn turns_of_half(kind: EaseKind) -> Vec<f64> {
    if kind == EaseKind::Back { vec![back_turn(BACK_HALF)] } else { turns(kind) }
}

pub(super) fn integral(kind: EaseKind, u: f64) -> f64 {
    match kind {
        EaseKind::Sine => u - libm::sin(u * FRAC_PI_2) / FRAC_PI_2,
        EaseKind::Quad => u * u * u / 3.0,
        EaseKind::Cubic => (u * u) * (u * u) / 4.0,
        EaseKind::Quart => (u * u) * (u * u) * u / 5.0,
        EaseKind::Quint => (u * u) * (u * u) * (u * u) / 6.0,
        EaseKind::Expo => {
            let rise = libm::exp2(10.0 * u - 10.0) - EXPO_0;
            EXPO * (rise / (10.0 * LN_2) - EXPO_0 * u)
        }
        EaseKind::Circ => u - 0.5 * (u * (1.0 - u * u).sqrt() + libm::asin(u)),
        EaseKind::Back => back_integral(u, BACK),
        EaseKind::Elastic => elastic_integral(u),
        EaseKind::Bounce => u - (bounce_integral(1.0) - bounce_integral(1.0 - u)),
    }
}

/// The integral of [`value_of_half`].
pub(super) fn integral_of_half(kind: EaseKind, u: f64) -> f64 {
    if kind == EaseKind::Back { back_integral(u, BACK_HALF) } else { integral(kind, u) }
}

/// 2^(10u - 10), shifted to begin at 0 and scaled to end at 1.
fn exponential(u: f64) -> f64 {
    if u == 1.0 { 1.0 } else { EXPO * (libm::exp2(10.0 * u - 10.0) - EXPO_0) }
}

fn back(u: f64, by: f64) -> f64 {
    if u == 1.0 { 1.0 } else { u * u * ((by + 1.0) * u - by) }
}

/// The zero of the slope of [`back`].
const fn back_turn(by: f64) -> f64 {
    2.0 * by / (3.0 * (by + 1.0))
}

/// The zeros of the slope of `exponential(u) * cos((1 - u) * SWING)`, one between any two zeros of the cosine, computed
/// with 40 digits.
const ELASTIC_TURNS: [f64; 7] = [
    0.012_913_012_833_818_46,
    0.124_795_019_320_039_78,
    0.267_846_800_608_653_26,
    0.416_098_405_310_643_86,
    0.565_547_808_622_752_8,
    0.715_360_778_726_686_6,
    0.865_295_574_719_938_8,
];

fn back_integral(u: f64, by: f64) -> f64 {
    u * u * u * ((by + 1.0) * u / 4.0 - by / 3.0)
}

/// The integral of `exponential(u) * cos((1 - u) * SWING)`: with k = 10 ln 2, the antiderivative of e^(k(u-1))
/// cos(w(u-1)) is e^(k(u-1)) (k cos + w sin) / (k^2 + w^2).
fn elastic_integral(u: f64) -> f64 {
    let k = 10.0 * LN_2;
    let swung = |u: f64| {
        let (grown, angle) = (libm::exp2(10.0 * u - 10.0), (u - 1.0) * SWING);
        let (sin, cos) = (libm::sin(angle), libm::cos(angle));
        grown * (k * cos + SWING * sin) / (k * k + SWING * SWING) - EXPO_0 * sin / SWING
    };
    EXPO * (swung(u) - swung(0.0))
}

/// For each arc: the time at which the ball touches the ground, the time of the apex, and its height below 1,
/// 1 - 0.25^n.
const ARCS: [(f64, f64, f64); 4] = [
    (1.0 / 2.75, 0.0, 0.0),
    (2.0 / 2.75, 1.5 / 2.75, 0.75),
    (2.5 / 2.75, 2.25 / 2.75, 0.9375),
    (1.0, 2.625 / 2.75, 0.984_375),
];
/// The curvature of every arc, 2.75 squared.
const ARC: f64 = 7.5625;

/// Bounce, `Out` form.
fn bounce(u: f64) -> f64 {
    if u == 1.0 {
        return 1.0;
    }
    let arc = ARCS.iter().find(|a| u < a.0).unwrap_or(&ARCS[3]);
    let v = u - arc.1;
    ARC * v * v + arc.2
}

fn bounce_integral(u: f64) -> f64 {
    let mut sum = 0.0;
    let mut from = 0.0;
    for (end, top, height) in ARCS {
        let to = if u < end { u } else { end };
        let (a, b) = (from - top, to - top);
        sum += ARC / 3.0 * (b * b * b - a * a * a) + height * (to - from);
        if u <= end {
            break;
        }
        from = end;
    }
    sum
}
