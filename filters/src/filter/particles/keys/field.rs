//! The types of values of keys: each is read from TOML, printed and checked here.

use super::{KeyError, KeyType, LoadPicture};
use crate::curve::{Animate, Curve, TextError};
use crate::particle::Spread;
use crate::particle::draw::MAX_CORNERS;
use crate::settings::{Choice, ChoiceEnum, ImageAsset, Printable, nearest, toml_string};
use core::ops::{Add, Range};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// A value in an effect file.
pub(crate) type Value<'a> = Spanned<DeValue<'a>>;

/// The largest number of points of a value over life, and of colours.
pub(super) const MAX_LIFE_POINTS: usize = 32;
/// The longest name of a layer, in bytes.
pub(super) const MAX_NAME: usize = 64;
/// The largest number of bursts.
pub(super) const MAX_BURSTS: usize = 256;

/// An error in an effect file.
pub(crate) struct Fault {
    /// The byte range in the text.
    pub(crate) at: Range<usize>,
    pub(crate) problem: String,
    /// A suggestion.
    pub(crate) hint: Option<String>,
}

impl Fault {
    pub(crate) fn new(at: Range<usize>, problem: impl ToString) -> Fault {
        Fault { at, problem: problem.to_string(), hint: None }
    }

    /// A value that is not of type `of`.
    pub(crate) fn expected(value: &Value<'_>, of: KeyType) -> Fault {
        Fault::new(value.span(), format!("expected {of}"))
    }

    /// A key that `of` does not have, with the most similar known one as a hint.
    pub(crate) fn unknown<'a>(
        key: &Spanned<DeString<'_>>,
        of: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Fault {
        let name = key.get_ref().as_ref();
        let problem = format!("{of} has no entry '{}'", Printable(name));
        Fault { hint: nearest(name, known), ..Fault::new(key.span(), problem) }
    }
}

/// The type of a key's value.
pub(crate) trait Field: Sized {
    /// Reads a value of type `of`; [`check`](Field::check) comes after.
    ///
    /// # Errors
    /// A value of another form, with its position.
    fn read(value: &Value<'_>, of: KeyType, load: LoadPicture<'_>) -> Result<Self, Fault>;

    /// The value as TOML, equal for equal values; `None` if it is absent.
    fn print(&self) -> Option<String>;

    /// Rejects a value out of range. `of` is the type of a key with values of this type.
    fn check(&self, of: KeyType) -> Result<(), KeyError> {
        let _ = of;
        Ok(())
    }
}

/// Reads and checks a value of the key `id`.
///
/// # Errors
/// A value of another form or out of range, with its position.
pub(crate) fn set<T: Field>(
    field: &mut T,
    value: &Value<'_>,
    id: &str,
    of: KeyType,
    load: LoadPicture<'_>,
) -> Result<(), Fault> {
    let read = T::read(value, of, load);
    let checked = read.and_then(|v| v.check(of).map(|()| v).map_err(|e| Fault::new(value.span(), e)));
    *field = checked.map_err(|e| Fault { problem: format!("{id}: {}", e.problem), ..e })?;
    Ok(())
}

/// The entries in the order of the text, so that the first error in the text is reported.
pub(crate) fn in_order<'t, 'a>(table: &'t DeTable<'a>) -> Vec<(&'t Spanned<DeString<'a>>, &'t Value<'a>)> {
    let mut all: Vec<_> = table.iter().collect();
    all.sort_by_key(|(key, _)| key.span().start);
    all
}

/// Rejects a number out of range.
fn within(got: f64, (low, high): (f64, f64)) -> Result<(), KeyError> {
    // Values are stored in 32 bits: a rounding error beyond a limit counts as the limit.
    let slack = 1e-6 * got.abs();
    let fits = got.is_finite() && got >= low - slack && got <= high + slack;
    if fits { Ok(()) } else { Err(KeyError::Outside { got, low, high }) }
}

fn count(n: usize, low: usize, high: usize) -> Result<(), KeyError> {
    if (low..=high).contains(&n) { Ok(()) } else { Err(KeyError::Count(n, low, high)) }
}

/// A number in TOML.
pub(crate) fn number(value: &Value<'_>) -> Option<f64> {
    match value.get_ref() {
        DeValue::Integer(n) => i128::from_str_radix(n.as_str(), n.radix()).ok().map(|n| n as f64),
        DeValue::Float(x) => x.as_str().parse().ok(),
        _ => None,
    }
}

fn numbers(value: &Value<'_>) -> Option<Vec<f64>> {
    value.get_ref().as_array()?.iter().map(number).collect()
}

/// The choice that a text names.
///
/// # Errors
/// Any other value, with the most similar choice.
pub(crate) fn choice(all: &'static [Choice], value: &Value<'_>) -> Result<usize, Fault> {
    let text = value.get_ref().as_str().unwrap_or_default();
    let found = all.iter().position(|c| c.id == text);
    found.ok_or_else(|| Fault {
        hint: nearest(text, all.iter().map(|c| c.id)).filter(|_| !text.is_empty()),
        ..Fault::expected(value, KeyType::Choice(all))
    })
}

fn list(all: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", all.into_iter().collect::<Vec<_>>().join(", "))
}

/// A number of 32 or 64 bits.
pub(crate) trait Float: Copy + Default + ToString + Add<Output = Self> {
    fn from_f64(v: f64) -> Self;

    /// The shortest number that reads back as the same number of this type.
    fn exact(self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// Prints zero without a sign, so that equal numbers have equal texts.
    fn digits(self) -> String {
        (self + Self::default()).to_string()
    }
}

macro_rules! field_of_float {
    ($($t:ty)*) => {$(
        impl Float for $t {
            fn from_f64(v: f64) -> $t {
                v as $t
            }
        }

        impl Field for $t {
            fn read(value: &Value<'_>, of: KeyType, _: LoadPicture<'_>) -> Result<$t, Fault> {
                number(value).map(<$t>::from_f64).ok_or_else(|| Fault::expected(value, of))
            }

            fn print(&self) -> Option<String> {
                Some(self.digits())
            }

            fn check(&self, of: KeyType) -> Result<(), KeyError> {
                within(self.exact(), of.range())
            }
        }
    )*};
}

field_of_float!(f32 f64);

/// Whole numbers; smaller ones than the second count as it.
macro_rules! field_of_integer {
    ($($t:ty, $least:literal;)*) => {$(
        impl Field for $t {
            fn read(value: &Value<'_>, of: KeyType, _: LoadPicture<'_>) -> Result<$t, Fault> {
                let (low, high) = of.range();
                let n = number(value).filter(|n| (low..=high).contains(n) && *n == n.trunc());
                n.map(|n| n.max($least) as $t).ok_or_else(|| Fault::expected(value, of))
            }

            fn print(&self) -> Option<String> {
                Some(self.to_string())
            }

            fn check(&self, of: KeyType) -> Result<(), KeyError> {
                within(*self as f64, of.range())
            }
        }
    )*};
}

field_of_integer!(u64, 0.0; u32, 1.0;);

impl<const N: usize> Field for [f32; N] {
    fn read(value: &Value<'_>, of: KeyType, _: LoadPicture<'_>) -> Result<[f32; N], Fault> {
        let all = numbers(value).and_then(|all| <[f64; N]>::try_from(all).ok());
        all.map(|all| all.map(|v| v as f32)).ok_or_else(|| Fault::expected(value, of))
    }

    fn print(&self) -> Option<String> {
        Some(list(self.map(f32::digits)))
    }

    fn check(&self, of: KeyType) -> Result<(), KeyError> {
        self.iter().try_for_each(|v| v.check(of))
    }
}

/// A number, `[lowest, highest]` or `{ base = B, offset = O }`.
impl Field for Spread {
    fn read(value: &Value<'_>, of: KeyType, load: LoadPicture<'_>) -> Result<Spread, Fault> {
        if let Some(v) = number(value) {
            return Ok(Spread::fixed(v as f32));
        }
        if let Some(table) = value.get_ref().as_table() {
            let [mut base, mut offset] = [None, Some(0.0)];
            let (low, high) = of.range();
            for (key, value) in in_order(table) {
                *match key.get_ref().as_ref() {
                    "base" => &mut base,
                    "offset" => &mut offset,
                    _ => return Err(Fault::unknown(key, "a spread", ["base", "offset"])),
                } = Option::read(value, KeyType::Number(low, high), load)?;
            }
            let missing = || Fault::new(value.span(), "'base' is missing here");
            return Ok(Spread { base: base.ok_or_else(missing)?, offset: offset.unwrap_or_default() });
        }
        match numbers(value).unwrap_or_default()[..] {
            [low, high] if low <= high => Ok(Spread::between(low as f32, high as f32)),
            [_, _] => Err(Fault::new(value.span(), "put the lowest first")),
            _ => Err(Fault::expected(value, of)),
        }
    }

    /// The fewest digits that read back to the same value. A negative offset cannot become a range: exchanging the ends
    /// would change the value of each particle.
    fn print(&self) -> Option<String> {
        let [base, offset] = [self.base + 0.0, self.offset + 0.0];
        if offset == 0.0 {
            return base.print();
        }
        let [low, high] = [f64::from(base) - f64::from(offset), f64::from(base) + f64::from(offset)];
        for digits in if offset > 0.0 { 0..9 } else { 0..0 } {
            let [low, high] = [low, high].map(|v| format!("{v:.digits$e}").parse::<f64>().unwrap_or(v));
            if Spread::between(low as f32, high as f32) == *self {
                return Some(format!("[{low}, {high}]"));
            }
        }
        Some(format!("{{ base = {base}, offset = {offset} }}"))
    }

    fn check(&self, of: KeyType) -> Result<(), KeyError> {
        let ((min, max), base, offset) = (of.range(), self.base.exact(), self.offset.exact().abs());
        // The tolerance is relative to the larger of the two, which was rounded.
        let slack = 1e-6 * (base.abs() + offset);
        let near = |v: f64, end: f64| if v.is_finite() && (v - end).abs() <= slack { end } else { v };
        within(near(base - offset, min), (min, max))?;
        within(near(base + offset, max), (min, max))
    }
}

/// Points over life, bursts, or corners.
impl<T: Float> Field for Vec<[T; 2]> {
    fn read(value: &Value<'_>, of: KeyType, _: LoadPicture<'_>) -> Result<Vec<[T; 2]>, Fault> {
        if let Some(v) = number(value) {
            return Ok(vec![[0.0, v].map(T::from_f64)]);
        }
        let point = |p: &Value<'_>| Some(<[f64; 2]>::try_from(numbers(p)?).ok()?.map(T::from_f64));
        let all = value.get_ref().as_array().and_then(|all| all.iter().map(point).collect());
        all.ok_or_else(|| Fault::expected(value, of))
    }

    fn print(&self) -> Option<String> {
        Some(list(self.iter().map(|p| list(p.map(T::digits)))))
    }

    fn check(&self, of: KeyType) -> Result<(), KeyError> {
        let (least, most, x, y, order) = match of {
            KeyType::Corners => (3, MAX_CORNERS, (-1.0, 1.0), (-1.0, 1.0), None),
            KeyType::Bursts => (1, MAX_BURSTS, (-1e6, 1e6), (0.0, 1e6), Some(KeyError::Times)),
            _ => (1, MAX_LIFE_POINTS, (0.0, 1.0), of.range(), Some(KeyError::Order)),
        };
        count(self.len(), least, most)?;
        let all: Vec<[f64; 2]> = self.iter().map(|p| p.map(T::exact)).collect();
        all.iter().try_for_each(|p| within(p[0], x).and_then(|()| within(p[1], y)))?;
        let rises = all.is_sorted_by(|a, b| a[0] < b[0]);
        order.filter(|_| !rises).map_or(Ok(()), Err)
    }
}

/// One colour or a list; red, green and blue as displayed, 0 to 1.
impl Field for Vec<[f64; 3]> {
    fn read(value: &Value<'_>, _: KeyType, _: LoadPicture<'_>) -> Result<Vec<[f64; 3]>, Fault> {
        match value.get_ref().as_array() {
            Some(all) if numbers(value).is_none() || all.is_empty() => all.iter().map(color).collect(),
            _ => Ok(vec![color(value)?]),
        }
    }

    fn print(&self) -> Option<String> {
        Some(list(self.iter().map(|rgb| {
            let codes = rgb.map(|v| (v * 255.0).round());
            if codes.map(|n| n / 255.0) == *rgb {
                let [r, g, b] = codes.map(|n| n as u8);
                return format!("\"#{r:02x}{g:02x}{b:02x}\"");
            }
            list(rgb.map(f64::digits))
        })))
    }

    fn check(&self, _: KeyType) -> Result<(), KeyError> {
        count(self.len(), 1, MAX_LIFE_POINTS)?;
        self.iter().flatten().try_for_each(|v| within(*v, (0.0, 1.0)))
    }
}

fn color(value: &Value<'_>) -> Result<[f64; 3], Fault> {
    let wrong = || {
        let expected = "expected a colour: \"#rrggbb\", a name, or [red, green, blue] from 0 to 1";
        Fault::new(value.span(), expected)
    };
    let Some(text) = value.get_ref().as_str() else {
        return numbers(value).and_then(|n| n.try_into().ok()).ok_or_else(wrong);
    };
    match <[f64; 4]>::parse(text.trim_ascii()) {
        Ok([r, g, b, 1.0]) => Ok([r, g, b]),
        Ok(_) => Err(Fault::new(value.span(), "set its opacity with the key 'opacity'")),
        Err(_) => Err(wrong()),
    }
}

impl<W: ChoiceEnum> Field for W {
    fn read(value: &Value<'_>, _: KeyType, _: LoadPicture<'_>) -> Result<W, Fault> {
        choice(W::CHOICES, value).map(|i| W::VALUES[i])
    }

    fn print(&self) -> Option<String> {
        Some(toml_string(self.id()))
    }
}

impl Field for ImageAsset {
    fn read(value: &Value<'_>, of: KeyType, load: LoadPicture<'_>) -> Result<ImageAsset, Fault> {
        let name = value.get_ref().as_str().filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| Fault::expected(value, of))?;
        let frame = load(name).map_err(|problem| Fault::new(value.span(), problem))?;
        let picture = ImageAsset::named(name);
        Ok(if let Some(frame) = frame { picture.read(frame) } else { picture })
    }

    fn print(&self) -> Option<String> {
        Some(toml_string(self.name()))
    }
}

/// A name.
impl Field for String {
    fn read(value: &Value<'_>, of: KeyType, _: LoadPicture<'_>) -> Result<String, Fault> {
        value.get_ref().as_str().map(str::to_owned).ok_or_else(|| Fault::expected(value, of))
    }

    fn print(&self) -> Option<String> {
        Some(toml_string(self))
    }

    fn check(&self, _: KeyType) -> Result<(), KeyError> {
        count(self.len(), 0, MAX_NAME)
    }
}

/// A curve in the text of a value.
pub(crate) fn curve<T: Animate>(value: &Value<'_>, of: KeyType) -> Result<Curve<T>, Fault> {
    let text = value.get_ref().as_str().ok_or_else(|| Fault::expected(value, of))?;
    let curve = text.trim_ascii().parse();
    curve.map_err(|e: TextError| Fault::new(value.span(), format!("as a curve: {e}")))
}

/// A path.
impl Field for Curve<[f64; 2]> {
    fn read(value: &Value<'_>, of: KeyType, _: LoadPicture<'_>) -> Result<Curve<[f64; 2]>, Fault> {
        curve(value, of)
    }

    fn print(&self) -> Option<String> {
        Some(toml_string(&self.to_string()))
    }

    fn check(&self, _: KeyType) -> Result<(), KeyError> {
        self.resolve(0, None).map_err(|_| KeyError::End)?;
        self.keys().iter().flat_map(|k| k.value).try_for_each(|v| within(v, (-100.0, 100.0)))
    }
}

impl<T: Field> Field for Option<T> {
    fn read(value: &Value<'_>, of: KeyType, load: LoadPicture<'_>) -> Result<Option<T>, Fault> {
        T::read(value, of, load).map(Some)
    }

    fn print(&self) -> Option<String> {
        self.as_ref()?.print()
    }

    fn check(&self, of: KeyType) -> Result<(), KeyError> {
        self.as_ref().map_or(Ok(()), |v| v.check(of))
    }
}
