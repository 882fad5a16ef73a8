//! The types behind [`settings!`](crate::settings!) and [`choices!`](crate::choices!).

use super::{
    Animated, Choice, Constant, FileAsset, FileKind, ImageAsset, Kind, OnlyWhen, Planes, Points, Setting,
    Unit, Value, Values,
};
use crate::frame::Spans;
use core::marker::PhantomData;
use core::ops::RangeInclusive;

/// The settings of one filter as typed values; [`settings!`](crate::settings!) implements it.
pub trait Settings: Sized {
    /// Their descriptions, in the order of the declaration.
    const TABLE: &'static [Setting];

    /// The given value, else that of the preset, else the default. Panics for values of another table.
    fn read(values: &Values) -> Self;
}

/// A type that a setting's value can be read as.
pub trait FromValue: Sized {
    /// The value; `None` for one of another kind.
    fn from_value(value: &Value) -> Option<Self>;

    /// The value if none is given; `None` if there must be one.
    fn absent() -> Option<Self> {
        None
    }
}

/// An enum with a word for each variant; [`choices!`](crate::choices!) implements it.
pub trait ChoiceEnum: Copy + PartialEq + 'static {
    /// The words, in the order of help.
    const CHOICES: &'static [Choice];
    /// The variants, in the same order.
    const VALUES: &'static [Self];

    /// The variant of a word.
    fn from_id(word: &str) -> Option<Self> {
        Self::CHOICES.iter().position(|c| c.id == word).map(|i| Self::VALUES[i])
    }

    /// The word of a variant.
    fn id(self) -> &'static str {
        Self::VALUES.iter().position(|v| *v == self).map_or("", |i| Self::CHOICES[i].id)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: &Value) -> Option<Self> {
        T::from_value(value).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<W: ChoiceEnum> FromValue for W {
    fn from_value(value: &Value) -> Option<W> {
        if let Value::Choice(word) = value { W::from_id(word) } else { None }
    }
}

macro_rules! from_value {
    ($($variant:ident: $t:ty,)*) => {
        $(impl FromValue for $t {
            fn from_value(value: &Value) -> Option<$t> {
                if let Value::$variant(v) = value { Some(v.clone()) } else { None }
            }
        })*
    };
}

from_value! {
    Switch: bool,
    Integer: i64,
    Number: Animated,
    Seed: u64,
    Position: Animated<[f64; 2]>,
    Colour: Animated<[f64; 4]>,
    Points: Points,
    Text: String,
    Frames: Spans,
    Planes: Planes,
    Image: ImageAsset,
    File: FileAsset,
}

impl FromValue for f64 {
    fn from_value(value: &Value) -> Option<f64> {
        if let Value::Number(Animated::Constant(v)) = value { Some(*v) } else { None }
    }
}

/// A setting while it is declared, with values of type `T`; `T` is an `Option` until the setting has a
/// default.
#[derive(Debug)]
pub struct SettingBuilder<T> {
    setting: Setting,
    value: PhantomData<fn() -> T>,
}

const fn builder<T>(kind: Kind) -> SettingBuilder<T> {
    SettingBuilder { setting: Setting::new("", "", kind), value: PhantomData }
}

/// A number that can be animated.
pub const fn number(range: RangeInclusive<f64>) -> SettingBuilder<Option<Animated>> {
    builder(Kind::Number { min: *range.start(), max: *range.end() })
}

/// A number that is constant over the clip.
pub const fn fixed(range: RangeInclusive<f64>) -> SettingBuilder<Option<f64>> {
    builder(Kind::Fixed { min: *range.start(), max: *range.end() })
}

/// An integer that is constant over the clip.
pub const fn integer(range: RangeInclusive<i64>) -> SettingBuilder<Option<i64>> {
    builder(Kind::Integer { min: *range.start(), max: *range.end() })
}

/// A switch, on or off.
pub const fn switch() -> SettingBuilder<Option<bool>> {
    builder(Kind::Switch)
}

/// One of the words of a type, with this default.
pub const fn choice<W: ChoiceEnum>(default: &'static str) -> SettingBuilder<W> {
    assert!(is_one_of(default, W::CHOICES), "the default is none of the words");
    optional_choice::<W>().by_default(Constant::Choice(default))
}

/// One of the words of a type, or no word.
pub const fn optional_choice<W: ChoiceEnum>() -> SettingBuilder<Option<W>> {
    builder(Kind::Choice(W::CHOICES))
}

/// Text.
pub const fn text() -> SettingBuilder<Option<String>> {
    builder(Kind::Text)
}

/// A position that can be animated.
pub const fn position(range: RangeInclusive<f64>) -> SettingBuilder<Option<Animated<[f64; 2]>>> {
    builder(Kind::Position { min: *range.start(), max: *range.end() })
}

/// A colour that can be animated.
pub const fn colour() -> SettingBuilder<Option<Animated<[f64; 4]>>> {
    builder(Kind::Colour)
}

/// A function of 0..1, as points.
pub const fn points(range: RangeInclusive<f64>) -> SettingBuilder<Option<Points>> {
    builder(Kind::Points { min: *range.start(), max: *range.end() })
}

/// A seed of random numbers.
pub const fn seed() -> SettingBuilder<Option<u64>> {
    builder(Kind::Seed)
}

/// An image file.
pub const fn image() -> SettingBuilder<Option<ImageAsset>> {
    builder(Kind::Image)
}

/// A frame of the source, as an image.
pub const fn source_frame() -> SettingBuilder<Option<ImageAsset>> {
    builder(Kind::SourceFrame)
}

/// A file that only the filter understands.
pub const fn file(kind: FileKind) -> SettingBuilder<Option<FileAsset>> {
    builder(Kind::File(kind))
}

impl<T> SettingBuilder<T> {
    const fn with(self, setting: Setting) -> SettingBuilder<T> {
        SettingBuilder { setting, ..self }
    }

    const fn by_default<V>(self, default: Constant) -> SettingBuilder<V> {
        SettingBuilder { setting: Setting { default: Some(default), ..self.setting }, value: PhantomData }
    }

    /// The label in a window, if it differs from the id.
    pub const fn label(self, label: &'static str) -> SettingBuilder<T> {
        let setting = Setting { label, ..self.setting };
        self.with(setting)
    }

    /// The unit of the number.
    pub const fn unit(self, unit: Unit) -> SettingBuilder<T> {
        let setting = Setting { unit, ..self.setting };
        self.with(setting)
    }

    /// The heading of its group in a window.
    pub const fn group(self, group: &'static str) -> SettingBuilder<T> {
        let setting = Setting { group, ..self.setting };
        self.with(setting)
    }

    /// The part of the range that a slider spans.
    pub const fn soft(self, range: RangeInclusive<f64>) -> SettingBuilder<T> {
        let setting = Setting { soft: Some((*range.start(), *range.end())), ..self.setting };
        self.with(setting)
    }

    /// The change per step of a slider.
    pub const fn step(self, step: f64) -> SettingBuilder<T> {
        let setting = Setting { step: Some(step), ..self.setting };
        self.with(setting)
    }

    /// The slider is logarithmic.
    pub const fn logarithmic(self) -> SettingBuilder<T> {
        let setting = Setting { logarithmic: true, ..self.setting };
        self.with(setting)
    }

    /// The setting has an effect only if the choice `setting` is one of `words`.
    pub const fn only_when(self, setting: &'static str, words: &'static [&'static str]) -> SettingBuilder<T> {
        let only_when = Some(OnlyWhen { setting, words, refused: false });
        let setting = Setting { only_when, ..self.setting };
        self.with(setting)
    }

    /// The same, but giving it otherwise is an error.
    pub const fn refused_unless(
        self,
        setting: &'static str,
        words: &'static [&'static str],
    ) -> SettingBuilder<T> {
        let only_when = Some(OnlyWhen { setting, words, refused: true });
        let setting = Setting { only_when, ..self.setting };
        self.with(setting)
    }

    /// The whole description.
    pub const fn named(self, id: &'static str, help: &'static str) -> Setting {
        Setting { id, help: help.trim_ascii(), ..self.setting }
    }
}

impl SettingBuilder<Option<Animated>> {
    /// The value if neither the recipe nor a preset gives one.
    pub const fn default(self, v: f64) -> SettingBuilder<Animated> {
        self.by_default(Constant::Number(v))
    }
}

impl SettingBuilder<Option<f64>> {
    /// The value if neither the recipe nor a preset gives one.
    pub const fn default(self, v: f64) -> SettingBuilder<f64> {
        self.by_default(Constant::Number(v))
    }
}

impl SettingBuilder<Option<i64>> {
    /// The value if neither the recipe nor a preset gives one.
    pub const fn default(self, v: i64) -> SettingBuilder<i64> {
        self.by_default(Constant::Integer(v))
    }
}

impl SettingBuilder<Option<bool>> {
    /// The value if neither the recipe nor a preset gives one.
    pub const fn default(self, v: bool) -> SettingBuilder<bool> {
        self.by_default(Constant::Switch(v))
    }
}

impl SettingBuilder<Option<Animated<[f64; 2]>>> {
    /// The value if neither the recipe nor a preset gives one.
    pub const fn default(self, v: [f64; 2]) -> SettingBuilder<Animated<[f64; 2]>> {
        self.by_default(Constant::Position(v))
    }
}

impl SettingBuilder<Option<Animated<[f64; 4]>>> {
    /// The value if neither the recipe nor a preset gives one.
    pub const fn default(self, v: [f64; 4]) -> SettingBuilder<Animated<[f64; 4]>> {
        self.by_default(Constant::Colour(v))
    }
}

impl SettingBuilder<Option<String>> {
    /// The value if neither the recipe nor a preset gives one.
    pub const fn default(self, v: &'static str) -> SettingBuilder<String> {
        self.by_default(Constant::Text(v))
    }
}

const fn is_one_of(word: &str, words: &[Choice]) -> bool {
    let mut i = 0;
    while i < words.len() {
        let (a, b) = (word.as_bytes(), words[i].id.as_bytes());
        let mut same = a.len() == b.len();
        let mut k = 0;
        while same && k < a.len() {
            same = a[k] == b[k];
            k += 1;
        }
        if same {
            return true;
        }
        i += 1;
    }
    false
}

/// Declares the settings of a filter once: their descriptions for help, recipes and windows, and the struct from which
/// the filter reads them.
///
/// ```
/// use grainfield_filters::settings::{Animated, Settings, Unit, Values};
///
/// grainfield_filters::choices! {
///     /// How it blurs.
///     pub enum Mode {
///         /// softly in all directions
///         Gaussian = "gaussian",
///         /// along a line
///         Directional = "directional",
///     }
/// }
///
/// grainfield_filters::settings! {
///     /// The settings of `blur`.
///     pub struct Blur {
///         /// How it blurs.
///         mode: Mode = choice("gaussian"),
///         /// How far: 1 is soft, 5 out of focus.
///         sigma: Animated = number(0.0..=500.0).default(2.0).unit(Unit::Pixels).only_when("mode", &["gaussian"]),
///         /// Stays within this part of the picture. Without it: everywhere.
///         out_to as "out-to": Option<f64> = fixed(0.0..=1.0),
///     }
///     presets "Sets several settings at once. A setting that you give overrides the preset." {
///         /// as through a wet pane
///         "pane" = "sigma=7.5:out-to=0.9",
///     }
///     with seed
/// }
///
/// let blur = Blur::read(&Values::parse(Blur::TABLE, "preset=pane:sigma=3").unwrap());
/// assert_eq!((blur.mode, blur.sigma.constant(), blur.out_to), (Mode::Gaussian, Some(3.0), Some(0.9)));
/// ```
///
/// The documentation of a field is its help. Its type must agree with the description, so a field without a default is
/// an `Option`. `as "..."` gives a setting a name that is not valid for a field. Presets become the setting `preset`.
/// `with seed` adds the seed of a filter that draws random numbers, `with static` the switch that gives every frame
/// the random numbers of frame 0; the chain handles both, so the struct has no fields for them.
#[macro_export]
macro_rules! settings {
    (
        $(#[doc = $about:literal])*
        $vis:vis struct $name:ident {
            $( $(#[doc = $help:literal])+ $field:ident $(as $id:literal)? : $type:ty = $described:expr ),* $(,)?
        }
        $(presets $presets:literal { $( $(#[doc = $look:literal])+ $preset:literal = $sets:literal ),* $(,)? })?
        $(with $($common:tt),+)?
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug)]
        $vis struct $name { $( $(#[doc = $help])+ $vis $field: $type, )* }

        impl $crate::settings::Settings for $name {
            const TABLE: &'static [$crate::settings::Setting] = &[
                $( $crate::settings::common::preset(
                    &[$( $crate::settings::Choice::preset($preset, concat!($($look),+), $sets) ),*],
                    $presets,
                ), )?
                $( {
                    #[allow(unused_imports)]
                    use $crate::settings::declare::*;
                    let described: SettingBuilder<$type> = $described;
                    described.named($crate::settings!(@id $field $($id)?), concat!($($help),+))
                }, )*
                $( $( $crate::settings!(@common $common) ),+ )?
            ];

            fn read(values: &$crate::settings::Values) -> $name {
                let _ = values;
                $name { $( $field: values.read($crate::settings!(@id $field $($id)?)) ),* }
            }
        }
    };
    (@id $field:ident) => { stringify!($field) };
    (@id $field:ident $id:literal) => { $id };
    (@common seed) => { $crate::settings::common::SEED };
    (@common static) => { $crate::settings::common::STATIC };
}

/// Defines an enum whose variants are the words of a choice, each documented by its help; or, with `for TYPE`, gives
/// words to an existing enum. See [`settings!`](crate::settings!).
#[macro_export]
macro_rules! choices {
    (for $name:ident { $( $(#[doc = $help:literal])+ $value:ident = $word:literal ),* $(,)? }) => {
        impl $crate::settings::ChoiceEnum for $name {
            const CHOICES: &'static [$crate::settings::Choice] =
                &[$( $crate::settings::Choice::new($word, concat!($($help),+)) ),*];
            const VALUES: &'static [$name] = &[$( $name::$value ),*];
        }
    };
    (
        $(#[doc = $about:literal])*
        $vis:vis enum $name:ident { $( $(#[doc = $help:literal])+ $value:ident = $word:literal ),* $(,)? }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis enum $name { $( $(#[doc = $help])+ $value ),* }
        $crate::choices! { for $name { $( $(#[doc = $help])+ $value = $word ),* } }
    };
}
