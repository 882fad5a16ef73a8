//! The time of a key.

use super::CurveError;
use super::literal::{TextError, TextProblem};
use crate::ratio::Ratio;
use core::fmt;

/// The time of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum KeyTime {
    /// A frame number; negative counts from the end, -1 is the last frame.
    Frame(i64),
    /// Seconds since the source's first frame, 0 or more.
    Seconds(Ratio),
    /// A share of the source in percent: 0 is its first frame, 100 its last.
    Percent(Ratio),
}

impl KeyTime {
    /// The time as a number, in its own unit.
    pub const fn ratio(self) -> Ratio {
        match self {
            KeyTime::Frame(n) => Ratio::whole(n),
            KeyTime::Seconds(s) | KeyTime::Percent(s) => s,
        }
    }

    /// The same time without counting from the end and without percent, for a source with these frames.
    ///
    /// # Errors
    /// The last frame is not known.
    pub(crate) fn resolve(self, first: i64, last: Option<i64>) -> Result<KeyTime, CurveError> {
        match self {
            KeyTime::Frame(n) if n < 0 => {
                let last = last.ok_or(CurveError::NoLength)?;
                Ok(KeyTime::Frame(last.saturating_add(n + 1)))
            }
            KeyTime::Percent(p) => {
                let last = last.ok_or(CurveError::NoLength)?;
                // to the nearest frame
                let (num, den) = (i128::from(p.num()), i128::from(p.den()) * 100);
                let steps = ((i128::from(last) - i128::from(first)) * num * 2 + den).div_euclid(den * 2);
                let frame = i128::from(first) + steps;
                Ok(KeyTime::Frame(i64::try_from(frame).unwrap_or(i64::MAX)))
            }
            plain => Ok(plain),
        }
    }
}

/// Prints `48`, `1.5s`, `25%`, or `1001/24s` if no decimal is exact, which reads back to the same time.
impl fmt::Display for KeyTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, unit) = match self {
            KeyTime::Frame(n) => return write!(f, "{n}"),
            KeyTime::Seconds(s) => (*s, "s"),
            KeyTime::Percent(p) => (*p, "%"),
        };
        match decimal(number) {
            Some((n, 0)) => write!(f, "{n}{unit}"),
            Some((n, digits)) => {
                let one = 10u64.pow(digits);
                let (whole, part) = (n.unsigned_abs() / one, n.unsigned_abs() % one);
                let sign = if n < 0 { "-" } else { "" };
                write!(f, "{sign}{whole}.{part:0width$}{unit}", width = digits as usize)
            }
            None => write!(f, "{number}{unit}"),
        }
    }
}

/// `n / 10^digits` with the fewest digits (15 at most), if `r` has such a form.
fn decimal(r: Ratio) -> Option<(i64, u32)> {
    (0..=15).find_map(|digits| {
        let one = 10i64.pow(digits);
        let n = (one % r.den() == 0).then(|| r.num().checked_mul(one / r.den()))?;
        Some((n?, digits))
    })
}

impl core::str::FromStr for KeyTime {
    type Err = TextError;

    /// Parses a frame (`48`, `-1`), a time (`1.5s`, `1001/24s`, `500ms`, `20us`, `hh:mm:ss.fff`, `mm:ss`) or a
    /// percentage (`25%`).
    fn from_str(text: &str) -> Result<KeyTime, TextError> {
        let err = |problem| Err(TextError::new(0..text.len(), problem));
        if text.is_empty() {
            return err(TextProblem::Time);
        }
        if text.contains(':') {
            return timecode(text);
        }
        for (unit, parts) in [("ms", 1000), ("us", 1_000_000), ("s", 1), ("%", 1)] {
            let Some(number) = text.strip_suffix(unit) else { continue };
            let share = |r| r * Ratio::new(1, parts).unwrap_or(Ratio::ONE);
            return match number.parse::<Ratio>() {
                Ok(r) if unit != "%" => Ok(KeyTime::Seconds(share(r))),
                Ok(r) if (Ratio::ZERO..=Ratio::whole(100)).contains(&r) => Ok(KeyTime::Percent(r)),
                Ok(_) => err(TextProblem::Percent),
                Err(_) if number.len() > 15 => err(TextProblem::TimeRange),
                Err(_) => err(TextProblem::Time),
            };
        }
        text.parse().map(KeyTime::Frame).or_else(|_| err(TextProblem::Time))
    }
}

fn timecode(text: &str) -> Result<KeyTime, TextError> {
    let err = |problem| Err(TextError::new(0..text.len(), problem));
    let parts: Vec<&str> = text.splitn(5, ':').collect();
    let (hours, minutes, seconds) = match parts[..] {
        [m, s] => ("0", m, s),
        [h, m, s] => (h, m, s),
        [_, _, _, _] => return err(TextProblem::FrameTimecode),
        _ => return err(TextProblem::Time),
    };
    let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    if !digits(hours) || !digits(minutes) || !seconds.starts_with(|c: char| c.is_ascii_digit()) {
        return err(TextProblem::Time);
    }
    let (Ok(h), Ok(m)) = (hours.parse::<u32>(), minutes.parse::<u32>()) else {
        return err(TextProblem::TimeRange);
    };
    let Ok(s) = seconds.parse::<Ratio>() else {
        return err(if seconds.len() > 15 { TextProblem::TimeRange } else { TextProblem::Time });
    };
    // `mm:ss` has no upper limit for minutes.
    if (parts.len() == 3 && m > 59) || s >= Ratio::whole(60) {
        return err(TextProblem::TimeRange);
    }
    Ok(KeyTime::Seconds(Ratio::whole(i64::from(h) * 3600 + i64::from(m) * 60) + s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixed;
    use proptest::prelude::*;

    fn seconds(n: i64, d: i64) -> KeyTime {
        KeyTime::Seconds(Ratio::new(n, d).unwrap())
    }

    #[test]
    fn times_of_every_spelling() {
        for (text, at, printed) in [
            ("48", KeyTime::Frame(48), "48"),
            ("-1", KeyTime::Frame(-1), "-1"),
            ("1.50s", seconds(3, 2), "1.5s"),
            (".5s", seconds(1, 2), "0.5s"),
            ("1001/24s", seconds(1001, 24), "1001/24s"),
            ("01:02:03.040", seconds(372_304, 100), "3723.04s"),
            ("90:00", seconds(5400, 1), "5400s"),
            ("00:00.125", seconds(1, 8), "0.125s"),
            ("500ms", seconds(1, 2), "0.5s"),
            ("40us", seconds(1, 25_000), "0.00004s"),
            ("25%", KeyTime::Percent(Ratio::whole(25)), "25%"),
            ("12.50%", KeyTime::Percent(Ratio::new(25, 2).unwrap()), "12.5%"),
            ("100/3%", KeyTime::Percent(Ratio::new(100, 3).unwrap()), "100/3%"),
        ] {
            assert_eq!(text.parse(), Ok(at), "{text}");
            assert_eq!(at.to_string(), printed);
        }
    }

    #[test]
    fn invalid_times_are_refused() {
        use TextProblem::*;
        for (text, problem) in [
            ("", Time),
            ("1.5", Time),
            ("x", Time),
            ("s", Time),
            ("1:2s", Time),
            ("99999999999999999999", Time),
            ("00:60:00", TimeRange),
            ("00:60", TimeRange),
            ("00:00:00:12", FrameTimecode),
            ("1:2:3:4:5", Time),
            (":1", Time),
            ("1:", Time),
            ("-1:00", Time),
            ("0:-1", Time),
            ("9999999999:00:00", TimeRange),
            ("0.1234567890123456s", TimeRange),
            ("101%", Percent),
            ("-1%", Percent),
            ("%", Time),
            ("1m", Time),
            ("ms", Time),
        ] {
            assert_eq!(text.parse::<KeyTime>().map_err(|e| e.problem), Err(problem), "{text}");
        }
    }

    #[test]
    fn percent_and_the_end_follow_the_clip() {
        let at = |text: &str, first, last| text.parse::<KeyTime>().unwrap().resolve(first, last);
        for (text, frame) in
            [("0%", 1001), ("100%", 1100), ("50%", 1051), ("25%", 1026), ("-1", 1100), ("-2", 1099)]
        {
            assert_eq!(at(text, 1001, Some(1100)), Ok(KeyTime::Frame(frame)), "{text}");
        }
        assert_eq!(at("100%", -5, Some(-5)), Ok(KeyTime::Frame(-5)));
        for text in ["50%", "-1"] {
            assert_eq!(at(text, 0, None), Err(CurveError::NoLength), "{text}");
        }
        assert_eq!(at("7", 0, None), Ok(KeyTime::Frame(7)));
        assert_eq!(at("99.999999999999%", i64::MIN, Some(i64::MAX)).map(|_| ()), Ok(()));
    }

    proptest! {
        #![proptest_config(fixed(3))]

        #[test]
        fn printing_reads_back(n in any::<i64>(), d in 1i64..200_000, kind in 0..3) {
            let at = match kind {
                0 => KeyTime::Frame(n),
                1 => seconds(n, d),
                _ => KeyTime::Percent(Ratio::new(n.rem_euclid(d * 100), d).unwrap()),
            };
            prop_assert_eq!(at.to_string().parse(), Ok(at));
        }

        #[test]
        fn no_text_panics(t in "[-0-9:.smu%/é]{0,20}") {
            let _ = t.parse::<KeyTime>();
        }
    }
}
