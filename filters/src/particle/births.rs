//! Births of particles in closed form: their number up to any time, and the time of the i-th.
//!
//! Numbers are whole on both sides: times in [flicks](super::FLICKS), rates in millionths of a birth a second. A rate
//! given as a real number is rounded to that millionth once; from there on everything is exact, so 25 births a second
//! at 25 frames a second are one in every frame, ten days in as in the first second.

use super::clock::{FLICKS, LAST};
use crate::noise::seed::{GOLDEN, mix64};
use crate::simd::{Level, multiversion};
use core::fmt;

/// The number of births per block, here and in the pool.
pub const BLOCK: usize = 64;

/// The time of a birth that never comes.
pub const NEVER: i64 = i64::MAX;

/// The highest rate, 10^8 births a second, in millionths.
const MAX_RATE: u64 = 100_000_000_000_000;

/// Units per birth: millionths of a birth per second times flicks.
const UNITS: i128 = 1_000_000 * FLICKS as i128;

/// A count of births over time.
///
/// [`born`](Births::born) is all there is to define, and must never fall as time goes on; times and bounds follow from
/// it. Particle i, counted from any anchor and possibly negative, is born at the first flick at which `born` exceeds
/// i. Times are looked at between -[`LAST`] and [`LAST`] only.
pub trait Births: Send + Sync + fmt::Debug {
    /// One more than the number of the last particle born at or before `at`.
    fn born(&self, at: i64) -> i64;

    /// When the particles `first`, `first + 1` ... are born; [`NEVER`] for those that are not.
    fn times(&self, level: Level, first: i64, out: &mut [i64; BLOCK]) {
        let _ = level;
        let mut guess = 0i64;
        for (j, out) in out.iter_mut().enumerate() {
            let number = first.saturating_add(j as i64);
            *out = first_at(guess, |t| self.born(t) > number);
            guess = *out;
        }
    }

    /// An upper bound of the births in any window of `life` flicks that ends in `from..=to`: proven for every such
    /// window, close to the true maximum but not always equal to it.
    ///
    /// Between two marks a and b the births of (t - life, t] are at most born(b) - born(a - life), because `born`
    /// does not fall; so a maximum over marks covers all times between them.
    fn max_alive(&self, from: i64, to: i64, life: i64) -> i64 {
        let (from, to) = (from.clamp(-LAST, LAST), to.clamp(-LAST, LAST));
        let step = (life / 16).max((to.saturating_sub(from)) / 65_536).max(1);
        let (mut a, mut most) = (from, self.born(from) - self.born(from.saturating_sub(life)));
        while a < to {
            let b = a.saturating_add(step).min(to);
            most = most.max(self.born(b).saturating_sub(self.born(a.saturating_sub(life))));
            a = b;
        }
        most
    }
}

/// The first time at which `reached` holds, which must stay true afterwards; searched for around `guess`, by
/// doubling steps and then bisection. The answer does not depend on the guess.
fn first_at(guess: i64, reached: impl Fn(i64) -> bool) -> i64 {
    if !reached(LAST) {
        return NEVER;
    }
    if reached(-LAST) {
        return -LAST;
    }
    // `low` is not reached, `high` is.
    let (mut low, mut high) = (-LAST, LAST);
    let guess = guess.clamp(-LAST, LAST);
    let mut step = 1;
    if reached(guess) {
        high = guess;
        while low < high - step && reached(high - step) {
            high -= step;
            step *= 2;
        }
        low = low.max(high - step);
    } else {
        low = guess;
        while low + step < high && !reached(low + step) {
            low += step;
            step *= 2;
        }
        high = high.min(low + step);
    }
    while high - low > 1 {
        let mid = low + (high - low) / 2;
        if reached(mid) { high = mid } else { low = mid }
    }
    high
}

/// Errors of rates.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum RateError {
    /// Below 0, above 10^8 or NaN: births per second as given.
    #[error("{} births per second: a rate is 0 to {}", .0, MAX_RATE / 1_000_000)]
    Range(f64),
    /// Burst `.0` (from 0) is not later than the one before it, or beyond [`LAST`].
    #[error("burst {} must be later than the one before it", .0 + 1)]
    Order(usize),
    /// Too many births to count.
    #[error("too many births: their numbers must stay below 2^62")]
    Count,
}

/// A rate in births per second, as whole millionths.
fn rate(per_second: f64) -> Result<u64, RateError> {
    let millionths = per_second * 1e6 + 0.5;
    if !(0.5..=MAX_RATE as f64 + 0.5).contains(&millionths) {
        return Err(RateError::Range(per_second));
    }
    Ok(millionths as u64)
}

/// A constant rate at all times: particle 0 is the first born after time 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConstantRate {
    rate: u64,
    /// The interval between births in flicks, and the remainder: `UNITS = gap * rate + rest`.
    gap: i64,
    rest: i64,
}

impl ConstantRate {
    /// `per_second` births per second, 0 to 10^8.
    ///
    /// # Errors
    /// A rate out of that range.
    pub fn new(per_second: f64) -> Result<ConstantRate, RateError> {
        let rate = rate(per_second)?;
        let by = i128::from(rate.max(1));
        Ok(ConstantRate { rate, gap: (UNITS / by) as i64, rest: (UNITS % by) as i64 })
    }
}

impl Births for ConstantRate {
    fn born(&self, at: i64) -> i64 {
        (i128::from(self.rate) * i128::from(at)).div_euclid(UNITS) as i64
    }

    fn times(&self, level: Level, first: i64, out: &mut [i64; BLOCK]) {
        if self.rate == 0 {
            let numbers = (0..).map(|j| first.saturating_add(j));
            return out.iter_mut().zip(numbers).for_each(|(t, n)| *t = if n < 0 { -LAST } else { NEVER });
        }
        // Birth i is at ceil((i + 1) * UNITS / rate): one long division per block, short ones within.
        let rate = i128::from(self.rate);
        let next = i128::from(first) + 1;
        let over = next * i128::from(self.rest) + (rate - 1);
        let whole = over.div_euclid(rate);
        let (base, rest) = (next * i128::from(self.gap) + whole, over - whole * rate);
        let end = base + (BLOCK as i128 + 1) * (i128::from(self.gap) + 1);
        if base < -i128::from(LAST) || end > i128::from(LAST) {
            // At the limits of time, where speed does not matter.
            for (j, out) in (0..).zip(out) {
                let t = ((next + j) * UNITS + (rate - 1)).div_euclid(rate);
                *out = if t > i128::from(LAST) { NEVER } else { t.max(-i128::from(LAST)) as i64 };
            }
            return;
        }
        steady(level, base as i64, self.gap, rest as i64, self.rest, self.rate as i64, out);
    }

    fn max_alive(&self, _: i64, _: i64, life: i64) -> i64 {
        let exact = i128::from(self.rate) * i128::from(life.max(0));
        -((-exact).div_euclid(UNITS)) as i64
    }
}

multiversion! {
    fn steady(level, base: i64, gap: i64, over: i64, rest: i64, rate: i64, out: &mut [i64; BLOCK]) = steady_body;
}

/// 1.5 * 2^52.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Up to this rate the quotients of [`steady_body`] need no correction: below 66, their error is less than 2^-45, and
/// half a unit of the dividend is at least that.
const EASY: f64 = (1u64 << 44) as f64;

/// `base + j * gap + floor((over + j * rest) / rate)`, the quotient below 66.
///
/// With rates up to 10^14 all products stay below 2^53 and are exact in `f64`. The quotient by way of the reciprocal
/// is less than one off, so the sign of the remainder selects the floor.
#[inline(always)]
fn steady_body(base: i64, gap: i64, over: i64, rest: i64, rate: i64, out: &mut [i64; BLOCK]) {
    let [over, rest, rate] = [over as f64, rest as f64, rate as f64];
    let part = 1.0 / rate;
    if rate <= EASY {
        // 1.5 * 2^52 rounds to the nearest whole number, which it leaves in the low bits. A dividend that is half a
        // unit higher, less half a divisor, has its floor there, and its quotient is never halfway between two.
        let over = over + 0.5 - 0.5 * rate;
        let base = base.wrapping_sub(ROUND.to_bits() as i64);
        for (j, out) in out.iter_mut().enumerate() {
            let near = (over + f64::from(j as u32) * rest) * part + ROUND;
            *out = (base.wrapping_add(j as i64 * gap)).wrapping_add(near.to_bits() as i64);
        }
        return;
    }
    let mut whole = [0i32; BLOCK];
    for (j, whole) in whole.iter_mut().enumerate() {
        let dividend = over + f64::from(j as u32) * rest;
        // Rounds to a whole number without a rounding instruction.
        let near = (dividend * part + ROUND) - ROUND;
        let left = dividend - near * rate;
        let floor = near + if left < 0.0 { -1.0 } else { 0.0 };
        *whole = (floor + ROUND).to_bits() as i32;
    }
    for (j, out) in out.iter_mut().enumerate() {
        *out = base + j as i64 * gap + i64::from(whole[j]);
    }
}

/// Several births at once, at given times.
#[derive(Clone, PartialEq, Debug)]
pub struct Bursts {
    /// Time, and the number of births up to and including this burst.
    totals: Vec<(i64, i64)>,
}

impl Bursts {
    /// Times in flicks, each later than the one before, with the number of births.
    ///
    /// # Errors
    /// Times that are not in ascending order, and 2^62 births or more.
    pub fn new(bursts: &[(i64, u32)]) -> Result<Bursts, RateError> {
        let mut totals: Vec<(i64, i64)> = Vec::with_capacity(bursts.len());
        for (i, &(at, count)) in bursts.iter().enumerate() {
            let before = totals.last().copied();
            if before.is_some_and(|b| b.0 >= at) || !(-LAST..=LAST).contains(&at) {
                return Err(RateError::Order(i));
            }
            let total = before.map_or(0, |b| b.1) + i64::from(count);
            if total >= 1 << 62 {
                return Err(RateError::Count);
            }
            totals.push((at, total));
        }
        Ok(Bursts { totals })
    }
}

impl Births for Bursts {
    fn born(&self, at: i64) -> i64 {
        match self.totals.partition_point(|b| b.0 <= at) {
            0 => 0,
            n => self.totals[n - 1].1,
        }
    }

    fn max_alive(&self, from: i64, to: i64, life: i64) -> i64 {
        // A window with the maximum ends with a burst or with the span.
        let ends = self.totals.iter().map(|b| b.0.clamp(from.min(to), to)).chain([to]);
        ends.map(|end| self.born(end) - self.born(end.saturating_sub(life.max(0)))).max().unwrap_or(0)
    }

    fn times(&self, _: Level, first: i64, out: &mut [i64; BLOCK]) {
        for (j, out) in out.iter_mut().enumerate() {
            let number = first.saturating_add(j as i64);
            let burst = self.totals.partition_point(|b| b.1 <= number);
            *out = if number < 0 { -LAST } else { self.totals.get(burst).map_or(NEVER, |b| b.0) };
        }
    }
}

/// The 64 random bits that belong to birth `number` of an emitter.
#[inline(always)]
pub(super) const fn key(seed: u64, number: i64) -> u64 {
    mix64(seed.wrapping_add((number as u64).wrapping_add(1).wrapping_mul(GOLDEN)))
}
