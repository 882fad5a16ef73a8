//! Integrals of curves over time.

use super::extrapolation::fold;
use super::key::length;
use super::keyed::Position;
use super::monotone::clamped_line;
use super::{Animate, Curve, Extrapolation};
use crate::ratio::Ratio;

/// The integral of a curve from time 0, in closed form for every shape, so the cost does not depend on the length of
/// time. The unit is value times frames or value times seconds, depending on the unit of the keys' times. It is the
/// integral of the values as they are [clamped](Curve::clamped).
///
/// Where the curve is not negative, the integral never decreases: exactly so in stretches that hold or are linear
/// and from stretch to stretch, and up to the rounding of 64-bit arithmetic inside other stretches.
#[derive(Clone, PartialEq, Debug)]
pub struct Integral<T = f64> {
    curve: Curve<T>,
    /// The integral from the first key to key `i`.
    sums: Vec<T>,
    /// In order; none for a curve within its limits.
    cuts: Vec<Cut>,
    /// The integral from the first key to time 0.
    zero: T,
}

/// A time within a stretch at which one component passes a limit.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Cut {
    stretch: usize,
    part: usize,
    /// The elapsed part of the stretch.
    from: f64,
    /// The value from there on, if it is clamped.
    held: Option<f64>,
    /// The integral from the first key.
    sum: f64,
}

impl<T: Animate> Integral<T> {
    /// Computes the integral of a curve whose keys are [resolved](Curve::resolve), in one pass over the keys.
    pub fn new(curve: &Curve<T>) -> Integral<T> {
        let zero = T::from_components(|_| 0.0);
        let mut all = Integral { curve: curve.clone(), sums: vec![zero], cuts: Vec::new(), zero };
        for stretch in 0..curve.keys().len() - 1 {
            let sum = T::from_components(|part| {
                for (from, side) in curve.segment(stretch, part).crossings(curve.limits) {
                    let sum = all.inside(stretch, from, part);
                    all.cuts.push(Cut { stretch, part, from, held: side.clamped(curve.limits), sum });
                }
                all.inside(stretch, 1.0, part)
            });
            all.sums.push(sum);
        }
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
            return self.between_keys(now);
        }
        let (rule, near, key) =
            if now < start { (self.curve.before(), start, 0) } else { (self.curve.after(), end, last) };
        let x = (now - near).to_f64();
        match rule {
            Extrapolation::Repeat | Extrapolation::Mirror if last > 0 => {
                let f = fold(now - start, self.curve.length(), rule == Extrapolation::Mirror);
                let (turns, rest) = (f.turns as f64, self.between_keys(start + f.since));
                T::from_components(|part| {
                    let all = self.sums[last].component(part);
                    turns * all + if f.backwards { all - rest.component(part) } else { rest.component(part) }
                })
            }
            Extrapolation::Extrapolate if last > 0 => T::from_components(|part| {
                let (at, slope) = self.curve.line(if x < 0.0 { 0 } else { last - 1 }, x, part);
                self.sums[key].component(part) + clamped_line(at, slope, x, self.curve.limits)
            }),
            _ => T::from_components(|part| {
                self.sums[key].component(part) + self.curve.clamp(keys[key].value.component(part)) * x
            }),
        }
    }

    fn between_keys(&self, now: Ratio) -> T {
        let Position::In(i, u) = self.curve.inside(now) else {
            unreachable!("a time between keys is in a stretch")
        };
        T::from_components(|part| self.inside(i, u, part))
    }

    /// The integral from the first key to part `u` of stretch `i`.
    fn inside(&self, i: usize, u: f64, part: usize) -> f64 {
        let sum = self.sums[i].component(part);
        let keys = self.curve.keys();
        let Some(next) = keys.get(i + 1) else { return sum };
        let (piece, h) = (self.curve.segment(i, part), length(&keys[i], next));
        let before = self.cuts.partition_point(|c| (c.stretch, c.part, c.from) <= (i, part, u));
        if let Some(cut) = self.cuts[..before].last().filter(|c| (c.stretch, c.part) == (i, part)) {
            let passed = match cut.held {
                Some(value) => value * (u - cut.from),
                None => piece.integral(u) - piece.integral(cut.from),
            };
            return cut.sum + h * passed;
        }
        let passed = h * piece.integral(u);
        // Rounding must not exceed the sum at the next key.
        if piece.is_positive() { sum + passed.max(0.0).min(h * piece.integral(1.0)) } else { sum + passed }
    }
}
