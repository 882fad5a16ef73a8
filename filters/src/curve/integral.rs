//! Integrals of curves over time.

use super::extrapolation::fold;
use super::key::length;
use super::keyed::Position;
use super::{Animate, Curve, Extrapolation};
use crate::ratio::Ratio;

/// The integral of a curve from time 0, in closed form for every shape, so the cost does not depend on the length of
/// time. The unit is value times frames or value times seconds, depending on the unit of the keys' times.
///
/// Where the curve is not negative, the integral never decreases: exactly so in stretches that hold or are linear
/// and from stretch to stretch, and up to the rounding of 64-bit arithmetic inside other stretches.
/// [Limits](Curve::clamped) are ignored: it is the integral of the curve without clamping.
#[derive(Clone, PartialEq, Debug)]
pub struct Integral<T = f64> {
    curve: Curve<T>,
    /// The integral from the first key to key `i`.
    sums: Vec<T>,
    /// The integral from the first key to time 0.
    zero: T,
}

impl<T: Animate> Integral<T> {
    /// Computes the integral of a curve whose keys are [resolved](Curve::resolve), in one pass over the keys.
    pub fn new(curve: &Curve<T>) -> Integral<T> {
        let mut sum = T::from_components(|_| 0.0);
        let mut sums = vec![sum];
        for i in 1..curve.keys().len() {
            sum = T::from_components(|part| sum.component(part) + whole(curve, i - 1, part));
            sums.push(sum);
        }
        let mut all = Integral { curve: curve.clone(), sums, zero: T::from_components(|_| 0.0) };
        all.zero = all.since_first(Ratio::ZERO);
        all
    }

    /// The integral from time 0 to a time; for negative times, minus the integral from there to 0.
    pub fn value(&self, frame: Ratio, time: Ratio) -> T {
        self.value_at(if self.curve.in_seconds() { time } else { frame })
    }

    /// The integral from time 0 to a time in the unit of the keys.
    pub fn value_at(&self, now: Ratio) -> T {
        let sum = self.since_first(now);
        T::from_components(|part| sum.component(part) - self.zero.component(part))
    }

    fn since_first(&self, now: Ratio) -> T {
        let keys = self.curve.keys();
        let last = keys.len() - 1;
        let (start, end) = (keys[0].when(), keys[last].when());
        if now >= start && now <= end {
            return self.inside(now);
        }
        let (rule, near, key) =
            if now < start { (self.curve.before(), start, 0) } else { (self.curve.after(), end, last) };
        let x = (now - near).to_f64();
        match rule {
            Extrapolation::Repeat | Extrapolation::Mirror if last > 0 => {
                let f = fold(now - start, self.curve.length(), rule == Extrapolation::Mirror);
                let (turns, rest) = (f.turns as f64, self.inside(start + f.since));
                T::from_components(|part| {
                    let all = self.sums[last].component(part);
                    turns * all + if f.backwards { all - rest.component(part) } else { rest.component(part) }
                })
            }
            Extrapolation::Extrapolate if last > 0 => T::from_components(|part| {
                let (at, slope) = self.curve.line(if x < 0.0 { 0 } else { last - 1 }, x, part);
                self.sums[key].component(part) + x * (at + 0.5 * slope * x)
            }),
            _ => T::from_components(|part| {
                self.sums[key].component(part) + keys[key].value.component(part) * x
            }),
        }
    }

    fn inside(&self, now: Ratio) -> T {
        let Position::In(i, u) = self.curve.inside(now) else {
            unreachable!("a time between keys is in a stretch")
        };
        T::from_components(|part| {
            let sum = self.sums[i].component(part);
            let Some(next) = self.curve.keys().get(i + 1) else { return sum };
            let piece = self.curve.segment(i, part);
            let passed = length(&self.curve.keys()[i], next) * piece.integral(u);
            // Rounding must not exceed the sum at the next key.
            if piece.is_positive() {
                sum + passed.max(0.0).min(whole(&self.curve, i, part))
            } else {
                sum + passed
            }
        })
    }
}

/// The integral of one whole stretch.
fn whole<T: Animate>(curve: &Curve<T>, i: usize, part: usize) -> f64 {
    length(&curve.keys()[i], &curve.keys()[i + 1]) * curve.segment(i, part).integral(1.0)
}
