//! The monotone pieces of a segment: its extremes, and the parts of it that a range clamps.

use super::bezier::{BISECTIONS, coefficients, cubic};
use super::segment::Segment;

/// Turns are ignored so near to an end: there the value equals that of the end up to rounding.
const NEAR: f64 = 1e-9;
/// A value outside a range by less than this part of the largest value is the result of rounding.
const ROUNDING: f64 = 1e-12;

/// The position of a value relative to a range.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
pub(super) enum Side {
    Below,
    Inside,
    Above,
}

impl Side {
    fn from_value(value: f64, (min, max): (f64, f64)) -> Side {
        if value < min {
            Side::Below
        } else if value > max {
            Side::Above
        } else {
            Side::Inside
        }
    }

    /// The value to which the range clamps; `None` inside.
    pub(super) const fn clamped(self, (min, max): (f64, f64)) -> Option<f64> {
        match self {
            Side::Below => Some(min),
            Side::Inside => None,
            Side::Above => Some(max),
        }
    }
}

/// The zeros of `a + b x + c x^2`. For `c` far below `b`, one of them is infinite or NaN.
fn zeros(a: f64, b: f64, c: f64) -> [f64; 2] {
    // Without a difference of nearly equal numbers.
    let q = -0.5 * (b + (b * b - 4.0 * a * c).sqrt().copysign(b));
    [q / c, a / q]
}

/// The parameters between 0 and 1 at which a cubic turns, in order.
fn cubic_turns(c: [f64; 4]) -> Vec<f64> {
    // The scale prevents overflow and does not move the zeros.
    let scale = c[1].abs().max(c[2].abs()).max(c[3].abs()).max(f64::MIN_POSITIVE);
    let mut turns = zeros(c[1] / scale, 2.0 * c[2] / scale, 3.0 * c[3] / scale).to_vec();
    turns.retain(|s| *s > NEAR && *s < 1.0 - NEAR);
    turns.sort_by(f64::total_cmp);
    turns
}

/// The parameter is that of a Bezier segment, and the part of the time that has passed for all others.
impl Segment {
    fn at(&self, parameter: f64) -> f64 {
        match self {
            Segment::Bezier(b) => cubic(coefficients(b.y), parameter),
            _ => self.value(parameter),
        }
    }

    fn time(&self, parameter: f64) -> f64 {
        match self {
            Segment::Bezier(b) => cubic(coefficients([0.0, b.x[0], b.x[1], 1.0]), parameter).clamp(0.0, 1.0),
            _ => parameter,
        }
    }

    /// The parameters between 0 and 1 at which the value changes from rising to falling or back, in order.
    fn turns(&self) -> Vec<f64> {
        match self {
            Segment::Flat(_) | Segment::Line(..) | Segment::Bounded(..) | Segment::Ray(..) => Vec::new(),
            Segment::Cubic(c) => cubic_turns(*c),
            Segment::Bezier(b) => cubic_turns(coefficients(b.y)),
            Segment::Ease(.., ease) => ease.turns(),
        }
    }

    /// Values among which are the lowest and the highest of the segment, except that of its end.
    pub(super) fn extremes(self) -> impl Iterator<Item = f64> {
        core::iter::once(0.0).chain(self.turns()).map(move |s| self.at(s))
    }

    /// The times from 0 to 1, in order, at which the value passes a limit, each with the side from there on; the first
    /// is 0 if the segment begins outside. Nothing for a segment that stays inside up to rounding.
    pub(super) fn crossings(&self, limits: (f64, f64)) -> Vec<(f64, Side)> {
        let mut pieces = self.turns();
        pieces.push(1.0);
        let all = || [0.0].iter().chain(&pieces).map(|s| self.at(*s));
        let slack = ROUNDING * all().fold(0.0, |most: f64, v| most.max(v.abs()));
        if all().all(|v| v >= limits.0 - slack && v <= limits.1 + slack) {
            return Vec::new();
        }
        let (mut low, mut side) = (0.0, Side::from_value(self.at(0.0), limits));
        let mut found = if side == Side::Inside { Vec::new() } else { vec![(0.0, side)] };
        for end in pieces {
            let goal = Side::from_value(self.at(end), limits);
            while side != goal {
                // The value has passed the limit when it has left its side towards the goal.
                let passed = |s: f64| {
                    let now = Side::from_value(self.at(s), limits);
                    if goal > side { now > side } else { now < side }
                };
                let mut high = end;
                for _ in 0..BISECTIONS {
                    let s = 0.5 * (low + high);
                    if passed(s) { high = s } else { low = s }
                }
                low = high;
                side = if side == Side::Inside { goal } else { Side::from_value(self.at(low), limits) };
                found.push((self.time(low), side));
            }
            low = end;
        }
        found
    }
}

/// The integral from 0 to `x` of a line that is `value` at 0 and clamped to the limits.
pub(super) fn clamped_line(value: f64, slope: f64, x: f64, (min, max): (f64, f64)) -> f64 {
    if x < 0.0 {
        return -clamped_line(value, -slope, -x, (min, max));
    }
    let (first, last) = if slope < 0.0 { (max, min) } else { (min, max) };
    // When the line enters the range and when it leaves it. A level line does neither.
    let reach = |limit: f64| if slope == 0.0 { x } else { ((limit - value) / slope).clamp(0.0, x) };
    let start = value.max(min).min(max);
    let (enter, leave) = if start == value { (0.0, reach(last)) } else { (reach(first), reach(last)) };
    let inside = leave - enter;
    let sum = start * enter + inside * (start + 0.5 * slope * inside);
    if leave < x { sum + last * (x - leave) } else { sum }
}
