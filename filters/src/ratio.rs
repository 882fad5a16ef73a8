//! Exact rational numbers for times, rates and aspect ratios.

use core::cmp::Ordering;
use core::fmt;
use core::str::FromStr;

/// An exact fraction `num/den` in lowest terms with `den > 0`.
///
/// Arithmetic uses 128 bits and saturates at 64, so no input can cause an overflow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ratio {
    num: i64,
    den: i64,
}

impl Ratio {
    /// 0.
    pub const ZERO: Ratio = Ratio { num: 0, den: 1 };
    /// 1.
    pub const ONE: Ratio = Ratio { num: 1, den: 1 };
    /// 1/2.
    pub const HALF: Ratio = Ratio { num: 1, den: 2 };

    /// `num/den` in lowest terms, or `None` when `den` is 0.
    pub fn new(num: i64, den: i64) -> Option<Ratio> {
        (den != 0).then(|| Ratio::reduce(num.into(), den.into()))
    }

    /// A whole number.
    pub const fn whole(n: i64) -> Ratio {
        Ratio { num: n, den: 1 }
    }

    /// The numerator, which carries the sign.
    pub const fn num(self) -> i64 {
        self.num
    }

    /// The denominator, always positive.
    pub const fn den(self) -> i64 {
        self.den
    }

    /// The nearest `f64`, the same bits on every machine: numerator and denominator convert exactly up to
    /// 2^53 and the one division is correctly rounded.
    pub fn to_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }

    /// `1/self`, or `None` for zero.
    pub fn recip(self) -> Option<Ratio> {
        Ratio::new(self.den, self.num)
    }

    /// The largest integer not above `self`.
    pub const fn floor(self) -> i64 {
        self.num.div_euclid(self.den)
    }

    /// `self / other`, or `None` when `other` is zero.
    pub fn checked_div(self, other: Ratio) -> Option<Ratio> {
        other.recip().map(|r| self * r)
    }

    fn plus(self, num: i128, den: i128) -> Ratio {
        // The fast path for integers, the usual case of frame numbers.
        if (self.den, den) == (1, 1)
            && let Ok(num) = i64::try_from(i128::from(self.num) + num)
        {
            return Ratio { num, den: 1 };
        }
        let (a, b) = (i128::from(self.num), i128::from(self.den));
        if b == den { Ratio::reduce(a + num, b) } else { Ratio::reduce(a * den + num * b, b * den) }
    }

    fn reduce(num: i128, den: i128) -> Ratio {
        fn gcd(mut a: i128, mut b: i128) -> i128 {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a.abs()
        }
        let g = gcd(num, den).max(1) * den.signum();
        let (mut num, mut den) = (num / g, den / g);
        // Saturate by halving both, which happens only for times beyond the age of the universe or extreme
        // time bases.
        let exact = den <= i64::MAX.into() && (i64::MIN.into()..=i64::MAX.into()).contains(&num);
        while den > i64::MAX.into() {
            num /= 2;
            den /= 2;
        }
        while num > i64::MAX.into() || num < i64::MIN.into() {
            num /= 2;
            den = (den / 2).max(1);
            if den == 1 {
                num = num.clamp(i64::MIN.into(), i64::MAX.into());
            }
        }
        // Equality compares the terms, so a halved fraction must be reduced to lowest terms.
        let g = if exact { 1 } else { gcd(num, den) };
        Ratio { num: (num / g) as i64, den: (den / g) as i64 }
    }
}

impl core::ops::Add for Ratio {
    type Output = Ratio;
    fn add(self, o: Ratio) -> Ratio {
        self.plus(o.num.into(), o.den.into())
    }
}

impl core::ops::Sub for Ratio {
    type Output = Ratio;
    fn sub(self, o: Ratio) -> Ratio {
        self.plus(-i128::from(o.num), o.den.into())
    }
}

impl core::ops::Mul for Ratio {
    type Output = Ratio;
    fn mul(self, o: Ratio) -> Ratio {
        Ratio::reduce(i128::from(self.num) * i128::from(o.num), i128::from(self.den) * i128::from(o.den))
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Ratio) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, o: &Ratio) -> Ordering {
        (i128::from(self.num) * i128::from(o.den)).cmp(&(i128::from(o.num) * i128::from(self.den)))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.den == 1 { write!(f, "{}", self.num) } else { write!(f, "{}/{}", self.num, self.den) }
    }
}

/// The text is not a fraction (`24000/1001`, `30000:1001`), an integer or a plain decimal (`23.976`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a number: write 25, 23.976 or 24000/1001")]
pub struct RatioError;

impl FromStr for Ratio {
    type Err = RatioError;

    fn from_str(s: &str) -> Result<Ratio, RatioError> {
        if let Some((n, d)) = s.split_once(['/', ':']) {
            let (n, d) = (n.parse().map_err(|_| RatioError)?, d.parse().map_err(|_| RatioError)?);
            return Ratio::new(n, d).ok_or(RatioError);
        }
        let (whole, part) = s.split_once('.').unwrap_or((s, ""));
        let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
        let unsigned = whole.strip_prefix('-').unwrap_or(whole);
        if unsigned.len() + part.len() == 0 || !digits(unsigned) || !digits(part) || part.len() > 15 {
            return Err(RatioError);
        }
        let joined = format!("{whole}{part}").parse().map_err(|_| RatioError)?;
        Ratio::new(joined, 10i64.pow(part.len() as u32)).ok_or(RatioError)
    }
}

/// The broadcast rate for a decimal number: `23.976`, `29.97` and `119.88` mean 24000/1001, 30000/1001 and
/// 120000/1001. A number with two or more decimals that equals such a rate after rounding means that rate; `None`
/// for any other.
pub fn broadcast_rate(text: &str) -> Option<Ratio> {
    let (integer, part) = text.trim().split_once('.')?;
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    if !(2..=9).contains(&part.len()) || integer.len() > 6 || !digits(integer) || !digits(part) {
        return None;
    }
    let unit = 10u64.pow(part.len() as u32);
    let exact = integer.parse::<u64>().ok()?.checked_mul(unit)?.checked_add(part.parse().ok()?)?;
    // the families of film and of video
    let nominal = exact / unit + 1;
    let is_family = nominal.is_multiple_of(12) || nominal.is_multiple_of(15);
    let rounded = (nominal * 1000 * unit * 2 + 1001) / 2002;
    if is_family && rounded == exact { Ratio::new(i64::try_from(nominal * 1000).ok()?, 1001) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_exact() {
        let r = |n, d| Ratio::new(n, d).unwrap();
        assert_eq!(r(1, 3) + r(1, 6), r(1, 2));
        assert_eq!(r(1, 3) - r(1, 2), r(-1, 6));
        assert_eq!(r(30000, 1001) * r(1001, 30000), Ratio::ONE);
        assert_eq!(r(2, -4), r(-1, 2));
        assert_eq!(r(-1, 2).floor(), -1);
        assert!(r(1, 3) < r(34, 100));
    }

    #[test]
    fn extremes_do_not_panic() {
        let all = [i64::MIN, i64::MIN + 1, -1, 1, i64::MAX - 1, i64::MAX];
        for a in all {
            for b in all {
                for c in all {
                    for d in all {
                        if let (Some(x), Some(y)) = (Ratio::new(a, b), Ratio::new(c, d)) {
                            let _ = (x + y, x - y, x * y, x.checked_div(y), x.cmp(&y));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn saturated_results_are_in_lowest_terms() {
        let r = Ratio::new(39_319_087, 1).unwrap() + "0.01429496719912".parse().unwrap();
        let far = r * Ratio::new(6_000_000_001, 7).unwrap();
        for made in [r, far, far * far, far * r.recip().unwrap()] {
            assert_eq!(Ratio::new(made.num, made.den), Some(made));
        }
        let near = Ratio::new(1, i64::MAX).unwrap();
        assert_eq!((near * near).den, 1, "what is left of it is nothing");
    }

    #[test]
    fn parses_common_forms() {
        assert_eq!("24000/1001".parse(), Ok(Ratio { num: 24000, den: 1001 }));
        assert_eq!("30000:1001".parse(), Ok(Ratio { num: 30000, den: 1001 }));
        assert_eq!("23.976".parse(), Ok(Ratio { num: 2997, den: 125 }));
        assert_eq!("-0.5".parse(), Ok(Ratio { num: -1, den: 2 }));
        for bad in ["", "-", "x", "1/0", "1/", "1e3", "--1", "1.2.3", "+1/2/3"] {
            assert_eq!(bad.parse::<Ratio>(), Err(RatioError), "{bad}");
        }
    }
}
