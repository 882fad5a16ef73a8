//! How the values of options are read. Pure: text in, value or error out.

use super::exit::Failure;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};
use grainfield_filters::curve::KeyTime;
use grainfield_filters::frame::{Matrix, RangesError, Spans, Transfer};
use grainfield_filters::ratio::{Ratio, broadcast_rate};
use grainfield_io::source::raw;
use grainfield_render::session::job::{OutputTransfer, TransferChoice};
use std::ffi::OsStr;
use std::path::Path;

/// One of a few words, each with its value and a line of help. A word may be followed by other spellings, with `|`
/// between them, that are understood but not advertised.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keywords<T: 'static>(pub(super) &'static [(&'static str, T, &'static str)]);

impl<T> Keywords<T> {
    fn possible(&self) -> impl Iterator<Item = PossibleValue> + '_ {
        self.0.iter().map(|(spellings, _, help)| {
            let mut spellings = spellings.split('|');
            let value = PossibleValue::new(spellings.next().unwrap_or_default()).aliases(spellings);
            if help.is_empty() { value } else { value.help(*help) }
        })
    }
}

impl<T: Copy + Send + Sync + 'static> TypedValueParser for Keywords<T> {
    type Value = T;

    fn parse_ref(&self, cmd: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        // clap's own parser comes first, for its message with the words and a suggestion.
        let word =
            PossibleValuesParser::new(self.possible().collect::<Vec<_>>()).parse_ref(cmd, arg, value)?;
        let found = self.0.iter().find(|w| w.0.split('|').any(|spelling| spelling == word));
        found.map(|w| w.1).ok_or_else(|| clap::Error::new(clap::error::ErrorKind::InvalidValue).with_cmd(cmd))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.possible()))
    }
}

/// An error in the value of an option.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum ValueError {
    #[error(
        "a size is a number with K, M or G (1000 each step) or KiB, MiB, GiB (1024) after it: 400M, 1.5GiB"
    )]
    Size,
    #[error("the size is too large")]
    Huge,
    #[error("{0}{1}")]
    Frames(String, RangesError),
    #[error("one frame is a number or a time: 17, 12.5s or 00:01:00")]
    OneFrame,
    #[error("a time is a number of seconds or [HH:]MM:SS[.fraction]: 90, 12.5s, 500ms or 00:01:30")]
    Time,
    #[error("a seed is a whole number from 0 to 18446744073709551615, or hexadecimal with 0x in front")]
    Seed,
    #[error("{0}")]
    Rate(#[from] grainfield_filters::ratio::RatioError),
    #[error("a rate must be above zero: 25, 23.976 or 24000/1001")]
    RateNotPositive,
    #[error("an encoder's option is written name=value: tune=grain")]
    Pair,
    #[error("a quality is a number, 0 or more: 18")]
    Quality,
    #[error("there is no filter; write NAME=KEY=VALUE, or leave the option out to change nothing")]
    NoFilter,
}

/// Checks that a name is that of a PNG image, for `what` (after `option` in the message).
pub(super) fn check_png(option: &str, name: &OsStr, what: &str) -> Result<(), Failure> {
    if Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case("png")) {
        return Ok(());
    }
    let name = name.to_string_lossy();
    Err(Failure::usage(format!("{option}{name}: {what} is a PNG image: name it NAME.png")))
}

/// Frames by number or time.
pub(super) fn frames(text: &str) -> Result<Spans, ValueError> {
    text.parse().map_err(|error: RangesError| {
        let rest = text[error.at..].split([',', '+', ' ']).next().unwrap_or_default();
        let place =
            if rest.len() == text.len() || rest.is_empty() { String::new() } else { format!("'{rest}': ") };
        ValueError::Frames(place, error)
    })
}

/// One frame, by number or time.
pub(super) fn frame(text: &str) -> Result<Spans, ValueError> {
    let spans = frames(text)?;
    if spans.is_single() { Ok(spans) } else { Err(ValueError::OneFrame) }
}

/// A time in FFmpeg's syntax; a number alone is seconds.
pub(super) fn time(text: &str) -> Result<Ratio, ValueError> {
    let number = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let text = if number { format!("{text}s") } else { text.to_owned() };
    match text.parse() {
        Ok(KeyTime::Seconds(time)) if time >= Ratio::ZERO => Ok(time),
        _ => Err(ValueError::Time),
    }
}

/// Bytes: `400M`, `1.5GiB`, `65536`.
pub(super) fn size(text: &str) -> Result<u64, ValueError> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.trim().to_ascii_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    let (letter, base) = unit.strip_suffix('i').map_or((unit, 1000u64), |letter| (letter, 1024));
    let power = match letter {
        "" if base == 1000 => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(ValueError::Size),
    };
    let number: Ratio = number.parse().map_err(|_| ValueError::Size)?;
    let scale = i128::from(base.pow(power));
    let bytes = i128::from(number.num()) * scale / i128::from(number.den());
    if bytes >= i128::from(i64::MAX) {
        return Err(ValueError::Huge);
    }
    u64::try_from(bytes).map_err(|_| ValueError::Size)
}

/// A seed, decimal or `0x` hexadecimal.
pub(super) fn seed(text: &str) -> Result<u64, ValueError> {
    let hex = text.strip_prefix("0x").or(text.strip_prefix("0X"));
    let digits = hex.unwrap_or(text);
    if digits.starts_with('+') {
        return Err(ValueError::Seed);
    }
    u64::from_str_radix(digits, if hex.is_some() { 16 } else { 10 }).map_err(|_| ValueError::Seed)
}

/// `name=value`.
pub(super) fn pair(text: &str) -> Result<(String, String), ValueError> {
    let (name, value) = text.split_once('=').ok_or(ValueError::Pair)?;
    if name.is_empty() || text.contains('\0') {
        return Err(ValueError::Pair);
    }
    Ok((name.into(), value.into()))
}

/// A chain of filters, which is parsed later, when errors can point into it.
pub(super) fn chain(text: &str) -> Result<String, ValueError> {
    if text.trim().is_empty() { Err(ValueError::NoFilter) } else { Ok(text.to_owned()) }
}

/// A constant quality.
pub(super) fn quality(text: &str) -> Result<f64, ValueError> {
    text.parse().ok().filter(|q| (0.0..=1000.0).contains(q)).ok_or(ValueError::Quality)
}

/// Above zero: `25`, `0.5`, `24000/1001`.
pub(super) fn positive(text: &str) -> Result<Ratio, ValueError> {
    let number: Ratio = text.parse()?;
    if number > Ratio::ZERO { Ok(number) } else { Err(ValueError::RateNotPositive) }
}

/// Frames a second: `25`, `24000/1001`, and `23.976` for the same.
pub(super) fn rate(text: &str) -> Result<Ratio, ValueError> {
    positive(text).map(|rate| broadcast_rate(text).unwrap_or(rate))
}

/// A pixel format's name, checked and left as it is.
pub(super) fn pix_fmt(text: &str) -> Result<String, raw::PixFmtError> {
    raw::planar(text).map(|_| text.to_owned())
}

/// A matrix by FFmpeg's name.
pub(super) fn matrix() -> impl TypedValueParser<Value = Matrix> {
    let names = (0..=14).filter(|&n| Matrix(n) != Matrix::UNSPECIFIED).filter_map(|n| Matrix(n).name());
    PossibleValuesParser::new(names).map(|name| Matrix::from_name(&name).unwrap_or_default())
}

/// Transfers: `OUTPUT` or `INPUT:OUTPUT`, by FFmpeg's names and those that people use.
pub(super) fn transfer(text: &str) -> Result<TransferChoice, String> {
    let one = |name: &str| {
        let known = match name {
            "srgb" => Some(Transfer::SRGB),
            "pq" => Some(Transfer::PQ),
            "hlg" => Some(Transfer::HLG),
            name => Transfer::from_name(name).filter(|&t| t != Transfer::UNSPECIFIED),
        };
        let names = (0..=18).filter(|&n| n != 2).filter_map(|n| Transfer(n).name()).collect::<Vec<_>>();
        known.ok_or_else(|| {
            let names = names.join(", ");
            format!(
                "'{name}' is not known; OUTPUT or INPUT:OUTPUT are srgb, pq, hlg, density, {names}, keep or auto"
            )
        })
    };
    let (input, output) = text.split_once(':').map_or((None, text), |(a, b)| (Some(a), b));
    let output = match output {
        "auto" => OutputTransfer::Auto,
        "keep" => OutputTransfer::Passthrough,
        name => OutputTransfer::As(one(name)?),
    };
    Ok(TransferChoice { input: input.map(one).transpose()?, output })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("400M"), Ok(400_000_000));
        assert_eq!(size("400MB"), Ok(400_000_000));
        assert_eq!(size("1.5GiB"), Ok(1_610_612_736));
        assert_eq!(size("2gi"), Ok(2 << 30));
        assert_eq!(size("64 k"), Ok(64_000));
        assert_eq!(size("65536"), Ok(65536));
        assert_eq!(size("9000000T"), Ok(9_000_000_000_000_000_000));
        assert_eq!(size("9223372036854775807T"), Err(ValueError::Huge));
        for bad in ["", "M", "-1M", "1X", "1i", "1Mi M", "1..5M", "1.5.5", "0x10", "١M"] {
            assert_eq!(size(bad), Err(ValueError::Size), "{bad}");
        }
    }

    #[test]
    fn seeds() {
        assert_eq!(seed("0"), Ok(0));
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(seed("0xFFFFFFFFFFFFFFFF"), Ok(u64::MAX));
        assert_eq!(seed("0xc0ffee"), Ok(0xc0_ffee));
        for bad in ["", "-1", "+1", "0x", "0x+1", "18446744073709551616", "c0ffee", "1.5"] {
            assert_eq!(seed(bad), Err(ValueError::Seed), "{bad}");
        }
    }

    #[test]
    fn pairs_and_qualities() {
        assert_eq!(pair("x264-params=a=1:b=2"), Ok(("x264-params".into(), "a=1:b=2".into())));
        assert_eq!((pair("=1"), pair("grain")), (Err(ValueError::Pair), Err(ValueError::Pair)));
        assert_eq!((quality("18.5"), quality("0")), (Ok(18.5), Ok(0.0)));
        for bad in ["-1", "nan", "inf", "x", ""] {
            assert_eq!(quality(bad), Err(ValueError::Quality), "{bad}");
        }
    }

    #[test]
    fn rates_are_positive() {
        assert_eq!(rate("24000/1001"), Ok(Ratio::new(24000, 1001).unwrap()));
        // what broadcasting rounds, and what only looks like it
        for (text, nominal) in [
            ("23.976", 24),
            ("23.98", 24),
            ("23.97602", 24),
            ("23.976023976", 24),
            ("29.97", 30),
            ("29.970", 30),
            ("59.94", 60),
            ("119.88", 120),
            ("47.952", 48),
            ("14.985", 15),
            ("11.988", 12),
            ("239.76", 240),
        ] {
            assert_eq!(rate(text), Ok(Ratio::new(nominal * 1000, 1001).unwrap()), "{text}");
        }
        for (text, num, den) in
            [("23.9", 239, 10), ("24.975", 999, 40), ("29.96", 749, 25), ("12.50", 25, 2), ("24.00", 24, 1)]
        {
            assert_eq!(rate(text), Ok(Ratio::new(num, den).unwrap()), "{text}");
        }
        assert_eq!(positive("29.97"), Ok(Ratio::new(2997, 100).unwrap()));
        assert_eq!(rate("0"), Err(ValueError::RateNotPositive));
        assert_eq!(rate("-25"), Err(ValueError::RateNotPositive));
        assert!(rate("fast").is_err());
    }
}
