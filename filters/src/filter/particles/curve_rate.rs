//! Births at a rate from a curve, and the time of curves within an effect.

use crate::curve::{Animate, Curve, Extrapolation, Integral};
use crate::particle::{Births, FLICKS, LAST};
use crate::ratio::Ratio;

/// The highest value of a rate, or the invalid value: below 0, or unbounded.
pub(super) fn peak(curve: &Curve) -> Result<f64, f64> {
    if [curve.before(), curve.after()].contains(&Extrapolation::Extrapolate) {
        return Err(f64::INFINITY);
    }
    let (least, most) = curve.resolve(0, None).map_err(|_| f64::NAN)?.bounds();
    // A shape that reaches 0 may be below it by rounding.
    if least < -1e-6 { Err(least) } else { Ok(most.max(0.0)) }
}

/// The time of an effect in the unit of a curve's keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    num: i64,
    den: i64,
    /// Seconds per unit.
    pub(super) unit: f64,
}

impl Clock {
    /// For a curve in a picture with this many frames per second.
    pub(super) fn new<T: Animate>(curve: &Curve<T>, rate: Ratio) -> Clock {
        if curve.in_seconds() {
            return Clock { num: 1, den: FLICKS, unit: 1.0 };
        }
        let rate = if rate > Ratio::ZERO { rate } else { Ratio::whole(24) };
        let den = i128::from(FLICKS) * i128::from(rate.den());
        let (mut a, mut b) = (i128::from(rate.num()), den);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let [num, den] = [i128::from(rate.num()) / a, den / a].map(|v| i64::try_from(v).unwrap_or(i64::MAX));
        Clock { num, den, unit: 1.0 / rate.to_f64() }
    }

    pub(super) fn at(&self, flick: i64) -> Ratio {
        let exact = flick.checked_mul(self.num).and_then(|n| Ratio::new(n, self.den));
        exact.unwrap_or_else(|| {
            let far = i128::from(flick) * i128::from(self.num) / i128::from(self.den.max(1));
            Ratio::whole(far.clamp(-i128::from(LAST), i128::from(LAST)) as i64)
        })
    }
}

/// The number of births is the integral of the curve; number 0 is the first after time 0.
#[derive(Clone, Debug)]
pub(super) struct CurveRate {
    sum: Integral,
    clock: Clock,
    /// The factor of the curve.
    scale: f64,
    /// The upper bound of births per second.
    peak: f64,
}

impl CurveRate {
    /// `peak` is the result of [`peak`].
    pub(super) fn new(curve: &Curve, peak: f64, scale: f64, rate: Ratio) -> CurveRate {
        let clock = Clock::new(curve, rate);
        CurveRate { sum: Integral::new(curve), clock, scale, peak: peak * scale }
    }
}

impl Births for CurveRate {
    fn born(&self, at: i64) -> i64 {
        let at = at.clamp(-LAST, LAST);
        let count = self.sum.value_at(self.clock.at(at)) * self.clock.unit * self.scale;
        let whole = count as i64;
        (whole - i64::from(whole as f64 > count)).clamp(-(1 << 62), 1 << 62)
    }

    /// The integral over a window is at most its length times the peak. Two more births are those that only rounding to
    /// whole births adds, and that rounding of the integral and of the peak may add.
    fn max_alive(&self, _: i64, _: i64, life: i64) -> i64 {
        (self.peak * life.max(0) as f64 / FLICKS as f64) as i64 + 2
    }
}

/// Births in pulses, for all times; number 0 is the first of the pulse at time 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pulses {
    every: i64,
    count: i64,
}

impl Pulses {
    pub(super) fn new(every: f64, count: f64) -> Pulses {
        Pulses { every: ((every * FLICKS as f64) as i64).max(1), count: (count + 0.5) as i64 }
    }
}

impl Births for Pulses {
    fn born(&self, at: i64) -> i64 {
        (at.clamp(-LAST, LAST).div_euclid(self.every) + 1).saturating_mul(self.count)
    }

    fn max_alive(&self, _: i64, _: i64, life: i64) -> i64 {
        (life.max(0) / self.every + 1).saturating_mul(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::particle::BLOCK;
    use crate::simd::Level;

    #[test]
    fn births_are_the_integral() {
        let curve: Curve = "0=0;48=20".parse().unwrap();
        assert_eq!(peak(&curve), Ok(20.0));
        let flow = CurveRate::new(&curve, 20.0, 1.0, Ratio::whole(24));
        // None before; 20 in the two seconds of the ramp; 20 per second after it.
        let born = [-FLICKS, 0, FLICKS, 2 * FLICKS, 3 * FLICKS].map(|t| flow.born(t));
        assert_eq!(born, [0, 0, 5, 20, 40]);
        let mut times = [0; BLOCK];
        flow.times(Level::SCALAR, 0, &mut times);
        for (i, t) in times.iter().enumerate() {
            assert!(flow.born(*t) > i as i64 && flow.born(*t - 1) <= i as i64, "{i}");
        }
        for life in [FLICKS / 10, FLICKS, 5 * FLICKS] {
            let windows = (0..200).map(|i| i * FLICKS / 40);
            let most = windows.map(|t| flow.born(t) - flow.born(t - life)).max().unwrap();
            assert!(flow.max_alive(0, FLICKS, life) >= most);
        }
        let seconds: Curve = "0s=0;2s=20".parse().unwrap();
        assert_eq!(CurveRate::new(&seconds, 20.0, 1.0, Ratio::whole(25)).born(3 * FLICKS), 40);
    }

    #[test]
    fn the_peak_is_that_of_all_times() {
        let curve: Curve = "0(hermite 6 -3)=0;10(elastic-out)=0;20=7".parse().unwrap();
        let all = (0..20_000).map(|i| curve.value_at(Ratio::new(i, 1000).unwrap()));
        assert!(peak(&curve).unwrap() >= all.fold(0.0, f64::max));
    }

    #[test]
    fn invalid_rates_are_refused() {
        for text in ["0=5;9=-1", "0=5;9=6;>extrapolate", "0=5;-1=6"] {
            let curve: Curve = text.parse().unwrap();
            assert!(peak(&curve).is_err(), "{text}");
        }
    }
    #[test]
    fn pulses_come_all_at_once() {
        let pulses = Pulses::new(0.5, 10.0);
        assert_eq!([-1, 0, FLICKS / 2 - 1, FLICKS / 2].map(|t| pulses.born(t)), [0, 10, 10, 20]);
        let mut times = [0; 64];
        pulses.times(crate::simd::Level::SCALAR, -10, &mut times);
        assert_eq!([times[0], times[9], times[10], times[20]], [-FLICKS / 2, -FLICKS / 2, 0, FLICKS / 2]);
        for life in [1, FLICKS / 2, FLICKS / 2 + 1, 3 * FLICKS] {
            let most = (0..40).map(|i| i * FLICKS / 20);
            let most = most.map(|t| pulses.born(t) - pulses.born(t - life)).max().unwrap();
            assert!(pulses.max_alive(0, FLICKS, life) >= most);
        }
    }
}
