//! Curves of every setting that can be animated, over 120 frames: those that go on beyond their keys or overshoot are
//! what they mean.

use super::made::{high, value};
use super::{Random, bind, frames_with, picture, rows, step};
use crate::fixture::StatesInMemory;
use grainfield_filters::catalog::{Entry, FILTERS};
use grainfield_filters::curve::{Animate, Curve, Key, KeyTime, Shape};
use grainfield_filters::frame::{Format, Frame};
use grainfield_filters::host::CurrentThread;
use grainfield_filters::ratio::Ratio;
use grainfield_filters::settings::{Animated, Kind, Setting, Value, Values};
use grainfield_filters::simd::Level;
use rayon::prelude::*;

const NUMBERS: [i64; 6] = [0, 7, 24, 31, 50, 121];
const RATE: i64 = 24;

/// Settings that are integrated. Their curve means the curve through its values, with many keys and without
/// extrapolation.
const INTEGRALS: [(&str, &str); 8] = [
    ("atmosphere", "wind"),
    ("atmosphere", "rise"),
    ("atmosphere", "evolution"),
    ("analog", "tracking-drift"),
    ("flicker", "speed"),
    ("weave", "speed"),
    ("particles", "speed"),
    ("particles", "wind"),
];

/// The largest mean difference of samples between an integrated curve and the one through its values. Particles at
/// another time or in no wind differ by more than ten times as much.
const NEAR: f64 = 1.0;

/// Settings whose curve has another effect besides its value at the frame: it bounds the births or the room of agents,
/// or it is evaluated at every step. They are compared with such curves too.
const BOUNDS: [(&str, &str); 18] = [
    ("particles", "amount"),
    ("scratches", "amount"),
    ("scratches", "life"),
    ("flock", "size"),
    ("flock", "goal"),
    ("flock", "threat"),
    ("sand", "flow"),
    ("sand", "position"),
    ("sand", "front"),
    ("sand", "gravity"),
    ("sand", "wind"),
    ("sand", "gusts"),
    ("sand", "drift"),
    ("sand", "melt"),
    ("sand", "friction"),
    ("sand", "shaking"),
    ("sand", "drain"),
    ("sand", "drain_at"),
];

/// Keys in between for settings that are integrated: so many a frame, for straight lines to be near to curves.
const DENSE: i64 = 16;

/// Settings that a filter refuses to animate.
const CONSTANT: [(&str, &str); 1] = [("particles", "colour")];

/// With these other settings a setting has an effect.
const BASE: [(&str, &str); 23] = [
    ("atmosphere", "kind=plume:width=900:scale=400:height=1500:gusts=0.5:amount=4"),
    ("analog", "crt=0.6:lines=8:tracking=0.6:crease=0.4:crease-position=0.62:dropouts=20"),
    ("blur", "sigma=60:length=400"),
    ("deband", "range=64"),
    ("dust", "amount=12:size=20"),
    ("fade", "amount=0.5"),
    ("flicker", "amount=0.4"),
    ("flock", "agents=40:size=120:start=0:spread=1"),
    ("fluid", "scene=drop:particles=100:start=0"),
    ("grain", "strength=40"),
    ("halation", "tint=white"),
    ("levels", "black=0.2:white=0.6"),
    ("noise", "strength=40:octaves=3:temporal=ar1"),
    ("pad", "left=8"),
    ("particles", "preset=snow:size=12:amount=0.05"),
    ("sand", "size=64:grains=200:flow=100"),
    ("scale", "width=40"),
    ("scratches", "amount=8:width=20"),
    ("sprites", "columns=3"),
    ("text", "text=Ag:size=0.5:box=0.5"),
    ("transform", "zoom=0.6:rotate=30"),
    ("unsharp", "size=100"),
    ("weave", "across=0.05:down=0.05:hop=0.1:hops=0.2"),
];

type Named = (&'static str, String);

/// The names of curves, and their texts for a way from the setting's lowest value, 0, to a high one, 1.
fn curves(at: impl Fn(f64) -> String, to_limit: bool) -> Vec<Named> {
    let [low, quarter, three, high] = [0.0, 0.25, 0.75, 1.0].map(at);
    // A shape that swings above a value that is not the highest allowed goes on above it.
    let swing = if to_limit { "elastic-in-out" } else { "back-in" };
    let mut all = vec![
        ("falls", format!("0={high};24={three};>extrapolate")),
        ("repeats", format!("0={low};12={high};24={low};>repeat")),
        ("mirrors", format!("0~={low};24={high};>mirror")),
        ("overshoots", format!("0({swing})={low};48={high};>mirror")),
    ];
    if to_limit {
        all.push(("rises", format!("0={low};24={quarter};>extrapolate")));
    }
    all
}

/// The curve through the values of a curve, each frame or more often.
fn through<T: Animate>(curve: &Curve<T>) -> Animated<T> {
    let key = |n: i64| {
        let frame = Ratio::new(n, DENSE).unwrap();
        let at = KeyTime::Seconds(Ratio::new(n, DENSE * RATE).unwrap());
        Key { at, value: curve.value_at(frame), shape: Shape::Linear }
    };
    Animated::Curve(Curve::new((0..=DENSE * NUMBERS[5]).map(key).collect()).unwrap())
}

/// What an animated value means: in a frame, or as a whole.
fn meaning<T: Animate>(value: &Animated<T>, limits: (f64, f64), frame: Option<i64>) -> Animated<T> {
    let Animated::Curve(curve) = value.clone().clamped(limits.0, limits.1) else { panic!("{value:?}") };
    match frame {
        Some(n) => Animated::Constant(curve.value_at(Ratio::whole(n))),
        None => through(&curve),
    }
}

struct Case {
    entry: &'static Entry,
    setting: &'static Setting,
    format: Format,
    source: Frame,
    base: Values,
}

impl Case {
    fn new(entry: &'static Entry, setting: &'static Setting) -> Case {
        let format = Format { rate: Ratio::whole(RATE), ..Format::from_name("yuv420p", 48, 32).unwrap() };
        let base = BASE.iter().find(|b| b.0 == entry.name).map_or("", |b| b.1);
        let mut base = Values::parse(entry.settings, base).unwrap();
        if let Some(only) = setting.only_when {
            base.set(only.setting, Value::Choice(only.words[0])).unwrap();
        }
        let mut random = Random(7);
        let image = match (entry.name, setting.id) {
            ("overlay", _) => Some("file"),
            ("sprites", _) => Some("image"),
            ("sand", "outline") => Some("obstacle"),
            ("sand", "front" | "behind") => Some("picture_frame"),
            _ => None,
        };
        if let Some(id) = image {
            let image = entry.settings.iter().find(|s| s.id == id).unwrap();
            base.set(id, value(entry, image, &mut random).unwrap()).unwrap();
        }
        if (entry.name, setting.id) == ("sand", "drain_at") {
            let drain = entry.settings.iter().find(|s| s.id == "drain").unwrap();
            base.set("drain", drain.parse("0.4").unwrap()).unwrap();
        }
        if image == Some("picture_frame") {
            let source = entry.settings.iter().find(|s| s.id == "source").unwrap();
            base.set("source", source.parse("picture").unwrap()).unwrap();
        }
        let mut source = picture(&format, &mut random);
        if ["deband", "denoise"].contains(&entry.name) {
            // They change only what is nearly flat.
            for (p, y) in rows(&format) {
                source.row_mut::<u8>(p, y).iter_mut().for_each(|v| *v = 100 + *v % 32);
            }
        }
        Case { entry, setting, format, source, base }
    }

    fn frames<const N: usize>(
        &self,
        value: Value,
        numbers: [i64; N],
        kept: &StatesInMemory,
    ) -> Result<[Frame; N], String> {
        let mut values = self.base.clone();
        values.set(self.setting.id, value).map_err(|e| e.to_string())?;
        let chain =
            bind(&[step(self.entry, values)], self.format, Level::best(), None).map_err(|e| e.to_string())?;
        Ok(frames_with(&chain, &self.source, numbers, &CurrentThread, kept))
    }

    /// Curves of the setting, and its range.
    fn curves(&self) -> Option<(Vec<Named>, (f64, f64))> {
        Some(match self.setting.kind {
            Kind::Number { min, max } => {
                // Small pictures are blurred quickly.
                let top =
                    if self.entry.name == "blur" { max } else { high(self.entry.name, self.setting.id, max) };
                (curves(|t| (min + (top - min) * t).to_string(), top == max), (min, max))
            }
            Kind::Position { min, max } => {
                // In and around the picture.
                let (low, top) = (min.max(-60.0), max.min(60.0));
                (curves(|t| format!("{0},{0}", low + (top - low) * t), top == max), (min, max))
            }
            Kind::Colour => {
                let grey = |t: f64| format!("#{0:02x}{0:02x}{0:02x}", (t * 255.0).round() as u8);
                (curves(grey, true), (0.0, 1.0))
            }
            _ => return None,
        })
    }

    fn check(&self) -> Result<(), String> {
        let (name, id) = (self.entry.name, self.setting.id);
        let Some((all, limits)) = self.curves() else { return Ok(()) };
        let kept = StatesInMemory::default();
        for (kind, text) in all {
            let wrong = |why: String| format!("{name}: {id} {kind}, '{text}': {why}");
            let value = self.setting.parse(&text).map_err(|e| wrong(e.to_string()))?;
            let meant = |frame| match &value {
                Value::Number(v) => Value::Number(meaning(v, limits, frame)),
                Value::Position(v) => Value::Position(meaning(v, limits, frame)),
                Value::Colour(v) => Value::Colour(meaning(v, limits, frame)),
                other => panic!("{other:?}"),
            };
            let made = self.frames(value.clone(), NUMBERS, &kept);
            if CONSTANT.contains(&(name, id)) {
                assert!(made.is_err(), "{name}: {id} can be animated");
                return Ok(());
            }
            let made = made.map_err(wrong)?;
            let want = if INTEGRALS.contains(&(name, id)) || BOUNDS.contains(&(name, id)) {
                self.frames(meant(None), NUMBERS, &kept).map_err(wrong)?.to_vec()
            } else {
                let one = |n: &i64| self.frames(meant(Some(*n)), [*n], &kept).map(|[frame]| frame);
                NUMBERS.iter().map(one).collect::<Result<_, _>>().map_err(wrong)?
            };
            // Straight lines between dense keys are near to a curve, not equal to it.
            let most = if INTEGRALS.contains(&(name, id)) { NEAR } else { 0.0 };
            for ((n, made), want) in NUMBERS.iter().zip(&made).zip(&want) {
                let off = difference(made, want);
                if off > most {
                    return Err(wrong(format!("frame {n} differs by {off} codes on average")));
                }
            }
            // A picture that has crumbled stays so.
            if kind == "falls" && (name, id) != ("sand", "front") {
                let still = self.frames(meant(Some(0)), NUMBERS, &kept).map_err(wrong)?;
                if still.iter().zip(&made).all(|(a, b)| difference(a, b) == 0.0) {
                    return Err(wrong("it has no effect".into()));
                }
            }
        }
        Ok(())
    }
}

/// The mean difference of samples, in codes.
fn difference(a: &Frame, b: &Frame) -> f64 {
    let all: Vec<f64> = rows(a.format())
        .flat_map(|(p, y)| a.row::<u8>(p, y).iter().zip(b.row::<u8>(p, y)))
        .map(|(a, b)| f64::from(a.abs_diff(*b)))
        .collect();
    all.iter().sum::<f64>() / all.len() as f64
}

#[test]
fn curves_of_every_setting_are_what_they_mean() {
    let all: Vec<_> = FILTERS.iter().flat_map(|e| e.settings.iter().map(move |s| (e, s))).collect();
    let failures: Vec<String> =
        all.into_par_iter().filter_map(|(entry, setting)| Case::new(entry, setting).check().err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
