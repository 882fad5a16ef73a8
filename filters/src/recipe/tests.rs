//! Tests chains and TOML with a table of filters that has every kind of setting.

use super::*;
use crate::catalog::{Entry, Role};
use crate::curve::{Animate, Curve, Ease, Extrapolation, Handles, Key, KeyTime, Shape};
use crate::filter::Spec;
use crate::fixed;
use crate::frame::Spans;
use crate::ratio::Ratio;
use crate::settings::common::{COMMON, ENABLE, OPACITY, PLANES};
use crate::settings::{Animated, Choice, Constant, Kind, Planes, Setting, SettingError, Value, Values};
use proptest::prelude::*;

const MODES: &[Choice] = &[
    Choice::new("uniform", ""),
    Choice::new("binomial", ""),
    // An unusual word, to test quoting.
    Choice::new(r"it's; [a:b], \", ""),
];

const fn setting(id: &'static str, kind: Kind, default: Option<Constant>) -> Setting {
    Setting { default, ..Setting::new(id, "", kind) }
}

static SETTINGS: [Setting; 8] = [
    setting("strength", Kind::Number { min: -1e99, max: 1e99 }, Some(Constant::Number(4.0))),
    setting("mode", Kind::Choice(MODES), Some(Constant::Choice("uniform"))),
    setting("static", Kind::Switch, Some(Constant::Switch(false))),
    setting("samples", Kind::Integer { min: -2, max: 16 }, Some(Constant::Integer(4))),
    setting("seed", Kind::Seed, None),
    setting("centre", Kind::Position { min: -1e6, max: 1e6 }, None),
    setting("tint", Kind::Colour, Some(Constant::Colour([0.0, 0.0, 0.0, 1.0]))),
    setting("keep", Kind::Frames, None),
];

fn build(_: &Values) -> Result<Box<dyn Spec>, SettingError> {
    Err(SettingError { setting: "", problem: "a table for tests".into() })
}

static TABLE: [Entry; 2] = [
    Entry { name: "noise", label: "", help: "", role: Role::Adjusts, settings: &SETTINGS, build },
    Entry { name: "invert", label: "", help: "", role: Role::Adjusts, settings: &[], build },
];

fn chain(text: &str) -> Recipe {
    chain::parse(text, &TABLE).unwrap_or_else(|e| panic!("{e}"))
}

fn toml(text: &str) -> Recipe {
    document::parse(text, &TABLE).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn both_spellings_say_the_same() {
    let a = chain(
        "recipe=seed=0xff , noise = strength = '0=0;48|=12' : mode=binomial:static=yes:keep=1-9x2+12-, invert",
    );
    let b = toml(
        r#"
        seed = 255
        [[filter]]
        name = "noise"
        static = true
        mode = "binomial"
        strength = [{ at = 0, value = 0 }, { at = 48, value = 12.0, shape = "hold" }]
        keep = "1-9x2, 12-"
        [[filter]]
        name = "invert"
        "#,
    );
    assert_eq!(a, b);
    assert_eq!(
        a.to_chain(),
        "recipe=seed=255,noise=strength='0=0;48|=12':mode=binomial:static=true:keep='1-9x2,12-',invert"
    );
    assert_eq!(chain(&a.to_chain()), a);
    assert_eq!(toml(&a.to_toml()), a);
    assert_eq!(chain(""), Recipe::default());
    assert_eq!(chain(" \n "), toml("version = 1"));
}

#[test]
fn the_chain_is_as_tolerant_as_ffmpeg() {
    for (text, canonical_start) in [
        ("noise=6", "recipe=seed=0,noise=strength=6:"),
        ("noise=6:mode=binomial", "recipe=seed=0,noise=strength=6:mode=binomial:"),
        ("noise='0=0;48=12'", "recipe=seed=0,noise=strength='0=0;48=12':"),
        (r"noise=0=0\;48=12", "recipe=seed=0,noise=strength='0=0;48=12':"),
        (r"noise=strength='00\:00\:01=5;2s=6'", "recipe=seed=0,noise=strength='1s=5;2s=6':"),
        ("noise='strength=6':'mode=binomial'", "recipe=seed=0,noise=strength=6:mode=binomial:"),
        ("noise=strength='00:00:01=5;2s=6'", "recipe=seed=0,noise=strength='1s=5;2s=6':"),
        ("\n noise\n =\n strength = ' 6' \n", "recipe=seed=0,noise=strength=6:"),
    ] {
        let canonical = chain(text).canonical();
        assert!(canonical.starts_with(canonical_start), "{text}: {canonical}");
    }
}

#[test]
fn every_filter_takes_the_common_settings() {
    let r = chain("invert=enable=0-48+96-:planes=y,noise=planes='u,v':opacity='0=0;9=1'");
    assert_eq!(r.steps[0].common.given(ENABLE), Some(&Value::Frames("0-48,96-".parse().unwrap())));
    assert_eq!(r.steps[0].planes(), Some("y".parse().unwrap()));
    let opacity = Value::Number(Animated::Curve("0=0;9=1".parse().unwrap()));
    assert_eq!(r.steps[1].common.given(OPACITY), Some(&opacity));
    assert_eq!(r, toml(&r.to_toml()));
    let t = toml("[[filter]]\nname='invert'\nenable=17\nplanes=0\nopacity=0.5");
    assert_eq!(t, chain("invert=enable=17:planes=0:opacity=.5"));
    // A value without a name is only accepted for the filter's first own setting.
    assert!(chain::parse("invert=0-48", &TABLE).is_err());
}

#[test]
fn one_meaning_has_one_canonical_text_and_key() {
    let texts = [
        "noise=strength=4:enable=1-9",
        "noise=enable=1-5+6-9:mode=uniform",
        "recipe=seed=0,noise=opacity=1:static=no:enable=1-9x1",
        "recipe=version=1,noise=strength='0=4;9|=4':samples=+4:tint=black:enable='7-9,1-8'",
    ];
    for text in texts {
        let r = chain(text);
        assert_eq!(
            r.canonical(),
            "recipe=seed=0,noise=strength=4:mode=uniform:static=false:samples=4:tint=#000000:enable=1-9",
            "{text}"
        );
        // From `md5sum` of the text with its first line.
        assert_eq!(format!("{:032x}", r.key()), "4eda7f8f86753ac4cf7c553766194b75");
        assert_eq!(chain(&r.canonical()).key(), r.key());
    }
    assert_ne!(chain("noise").key(), chain("recipe=seed=1,noise").key());
    assert_ne!(chain("noise,invert").key(), chain("invert,noise").key());
}

fn shown(text: &str) -> String {
    chain::parse(text, &TABLE).unwrap_err().to_string()
}

#[test]
fn errors_show_the_place() {
    assert_eq!(
        shown("noise=strenght=6"),
        "'noise' has no setting 'strenght'\n  noise=strenght=6\n        ^~~~~~~~ did you mean 'strength'?"
    );
    assert_eq!(
        shown("noize=strength=6"),
        "there is no filter 'noize'\n  noize=strength=6\n  ^~~~~ did you mean 'noise'?"
    );
    assert_eq!(
        shown("noise=keep='1–9'"),
        "keep: '–' is not part of a frame range: write 17, 1001-1100, 1-10x2, 100- or 2s-5.5s\n  noise=keep='1–9'\n              \u{20}^"
    );
    assert_eq!(
        shown(r"noise=centre='ü,1'"),
        "centre: not a number: write 12, 0.5 or 1e-3\n  noise=centre='ü,1'\n                ^"
    );
    assert_eq!(
        shown("noise=mode=binominal"),
        "mode: write one of uniform, binomial, it's; [a:b], \\\n  noise=mode=binominal\n             ^~~~~~~~~ did you mean 'binomial'?"
    );
    // Positions in strings with escapes are correct.
    assert_eq!(
        shown(r"noise=strength=0=1\;5*=2"),
        "strength: '*' is not a shape: '=' is linear, '|=' holds, '~=' is smooth, a letter or (sine-in) is an ease\n  noise=strength=0=1\\;5*=2\n                       ^"
    );
}

#[test]
fn every_fault_of_a_chain_has_its_place() {
    use Problem as P;
    for (text, at, problem) in [
        ("noise,", 6..6, P::NoFilter),
        (",noise", 0..0, P::NoFilter),
        ("noise, ,invert", 7..7, P::NoFilter),
        ("=6", 0..0, P::NoFilter),
        ("noise:strength=6", 5..6, P::NoEquals("noise")),
        ("noise:6", 5..6, P::NoEquals("noise")),
        ("noise=", 6..6, P::Unnamed),
        ("noise=strength", 6..14, P::NoValue("strength".into())),
        ("noise=strength= ", 15..15, P::NoValue("strength".into())),
        ("noise=strength=6:5", 17..18, P::Unnamed),
        ("noise=strength=6:", 17..17, P::Unnamed),
        ("noise=:strength=6", 6..6, P::Unnamed),
        ("noise==6", 6..6, P::NoSetting),
        ("noise=seed=1:seed=2", 13..17, P::Twice("seed".into())),
        ("noise=6:strength=2", 8..16, P::Twice("strength".into())),
        ("noise=strength=0=0;48=12", 18..19, P::Graph(';')),
        ("[in]noise", 0..1, P::Graph('[')),
        ("noise=strength='6", 15..16, P::OpenQuote),
        ("invert,recipe=seed=1", 7..13, P::NotFirst),
        ("recipe=sed=1", 7..10, P::UnknownSetting("recipe".into(), "sed".into())),
        ("recipe=version=2", 15..16, P::Version),
    ] {
        let e = chain::parse(text, &TABLE).unwrap_err();
        assert_eq!((e.parts().span.clone(), e.problem()), (at, &problem), "{text}");
    }
    let long = "x".repeat(MAX_TEXT + 1);
    assert_eq!(chain::parse(&long, &TABLE).unwrap_err().problem(), &P::TooLong);
    assert_eq!(document::parse(&long, &TABLE).unwrap_err().problem(), &P::TooLong);
    let many = "invert,".repeat(MAX_STEPS) + "invert";
    assert_eq!(chain::parse(&many, &TABLE).unwrap_err().problem(), &P::TooManySteps);
}

#[test]
fn every_fault_of_a_document_has_its_place() {
    for (text, start) in [
        ("sead = 1", "r.toml:1:1: a recipe has no entry 'sead'\n  sead = 1\n  ^~~~ did you mean 'seed'?"),
        ("version = 2", "r.toml:1:11: this program reads recipes of version 1"),
        ("seed = -1", "r.toml:1:8: seed: not a seed"),
        ("\nx = = 1", "r.toml:2:5: "),
        ("filter = 1", "r.toml:1:10: expected [[filter]]"),
        ("[[filter]]\nstrength = 1", "r.toml:1:1: 'name' is missing here"),
        ("[[filter]]\nname = 1", "r.toml:2:8: expected the name of a filter"),
        ("[[filter]]\nname = 'noize'", "r.toml:2:8: there is no filter 'noize'"),
        ("[[filter]]\nname = 'noise'\nstrenght = 1", "r.toml:3:1: 'noise' has no setting 'strenght'"),
        ("[[filter]]\nname = 'noise'\nstrength = true", "r.toml:3:12: strength: this setting takes a number"),
        ("[[filter]]\nname = 'noise'\nstrength = inf", "r.toml:3:12: strength: not a finite number"),
        ("[[filter]]\nname = 'noise'\nsamples = 17", "r.toml:3:11: samples: 17 is not from -2 to 16"),
        ("[[filter]]\nname = 'noise'\nsamples = 4.5", "r.toml:3:11: samples: not a whole number"),
        ("[[filter]]\nname = 'noise'\nkeep = '1,é'", "r.toml:3:11: keep: 'é' is not part"),
        ("[[filter]]\nname = 'noise'\nkeep = \"1,\\u00e9\"", "r.toml:3:8: keep: 'é' is not part"),
        ("[[filter]]\nname = 'noise'\ntint = [2, 0, 0]", "r.toml:3:8: tint: 2 is not from 0 to 1"),
        ("[[filter]]\nname = 'noise'\ntint = [[2], 0, 0]", "r.toml:3:8: tint: "),
        (
            "[[filter]]\nname = 'noise'\nstrength = [{ at = 5, value = 1 },\n { at = 5, value = 2 }]",
            "r.toml:4:2: strength: key 2 must be later",
        ),
        ("[[filter]]\nname = 'noise'\nstrength = [{ at = 5 }]", "r.toml:3:13: 'value' is missing"),
        ("[[filter]]\nname = 'noise'\nstrength = [7]", "r.toml:3:13: expected a key"),
        (
            "[[filter]]\nname = 'noise'\nstrength = []",
            "r.toml:3:12: strength: a curve needs at least one key",
        ),
        (
            "[[filter]]\nname = 'noise'\nopacity = [{ at = 5, value = 2 }]",
            "r.toml:3:30: opacity: 2 is not from 0 to 1",
        ),
        (
            "[[filter]]\nname = 'noise'\nopacity = [{ at = 5, value = 1, shape = 'liner' }]",
            "r.toml:3:42: shape: no such shape",
        ),
        (
            "[[filter]]\nname = 'noise'\nopacity = [{ at = 5, valu = 1 }]",
            "r.toml:3:22: a key has no entry 'valu'",
        ),
    ] {
        let e = document::parse(text, &TABLE).unwrap_err().named("r.toml").to_string();
        assert!(e.starts_with(start), "{text}\ngives {e}\nnot   {start}");
    }
}

#[test]
fn toml_has_its_own_ways_to_say_things() {
    let r = toml(
        "seed = \"0xffffffffffffffff\"\n[[filter]]\nname = 'noise'\ncentre = [960, 540.5]\ntint = [0, 0.5, 1]\n\
         strength = [{at=00:00:01.5, value=1}, {at='2s', value='2'}]\nsamples = 0x0a\nstatic = 1\nseed = 9223372036854775808",
    );
    assert_eq!(
        r,
        chain(
            "recipe=seed=18446744073709551615,noise=centre='960,540.5':tint='0,.5,1':strength='1.5s=1;2s=2':\
             samples=10:static=on:seed=0x8000000000000000"
        )
    );
    assert_eq!(toml(&r.to_toml()), r);
    let keys = toml(
        "[[filter]]\nname='noise'\ntint=[{at=0,value='red'},{at=-1,value=[0,0,1]}]\ncentre=[{at=0,value=[1,2]}]",
    );
    assert_eq!(keys, chain("noise=tint='0=red;-1=#0000ff':centre='0=1,2'"));
}

#[test]
fn no_filter_has_a_name_or_setting_of_the_chain() {
    for filter in FILTERS {
        assert_ne!(filter.name, RECIPE);
        for s in filter.settings {
            assert!(COMMON.iter().all(|c| c.id != s.id), "{} {}", filter.name, s.id);
        }
    }
}

fn at(seconds: bool) -> impl Strategy<Value = KeyTime> {
    (0i64..100_000, 1i64..2000).prop_map(move |(n, d)| {
        if seconds { KeyTime::Seconds(Ratio::new(n, d).unwrap()) } else { KeyTime::Frame(n) }
    })
}

fn animated<T: Animate>(value: impl Strategy<Value = T> + Clone) -> impl Strategy<Value = Animated<T>> {
    let handles = |(a, b, c, d)| Handles { leave: a, leave_by: b, arrive: c, arrive_by: d };
    let shape = prop_oneof![
        Just(Shape::Hold),
        Just(Shape::Linear),
        Just(Shape::Smooth),
        Just(Shape::BSpline),
        (0usize..30).prop_filter_map("", |i| Ease::all().nth(i)).prop_map(Shape::Ease),
        (value.clone(), value.clone()).prop_map(|(leave, arrive)| Shape::Hermite { leave, arrive }),
        (0.0f64..=1.0, value.clone(), 0.0f64..=1.0, value.clone()).prop_map(handles).prop_map(Shape::Bezier),
    ];
    let rule = prop_oneof![
        Just(Extrapolation::Hold),
        Just(Extrapolation::Repeat),
        Just(Extrapolation::Mirror),
        Just(Extrapolation::Extrapolate)
    ];
    let keys = |seconds| proptest::collection::vec((at(seconds), value.clone(), shape.clone()), 1..5);
    let curve =
        (prop_oneof![keys(true), keys(false)], rule.clone(), rule).prop_map(|(all, before, after)| {
            let mut keys: Vec<Key<T>> =
                all.into_iter().map(|(at, value, shape)| Key { at, value, shape }).collect();
            keys.sort_by_key(|k| match k.at {
                KeyTime::Frame(n) => Ratio::whole(n),
                KeyTime::Seconds(s) | KeyTime::Percent(s) => s,
            });
            keys.dedup_by_key(|k| k.at);
            Animated::Curve(Curve::new(keys).unwrap().with_extrapolation(before, after))
        });
    prop_oneof![value.clone().prop_map(Animated::Constant), curve]
}

fn ranges() -> impl Strategy<Value = Spans> {
    let numbers = "(-?[0-9]{1,3}(x[1-9])?[,+ ]){1,4}[0-9]-(x[1-9])?";
    let times = "(0?[0-9]:[0-5][0-9]|[0-9]{1,2}(s|ms|%))-";
    prop_oneof![numbers, times].prop_map(|t| t.parse().unwrap())
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let colour = prop_oneof![
        proptest::array::uniform4(0.0f64..=1.0),
        any::<[u8; 4]>().prop_map(|c| c.map(|v| f64::from(v) / 255.0)),
    ]
    .boxed();
    let value = prop_oneof![
        animated(-1e99f64..1e99).prop_map(|v| ("strength", Value::Number(v))),
        animated(-1f64..1.0).prop_map(|v| ("strength", Value::Number(v))),
        (0..MODES.len()).prop_map(|i| ("mode", Value::Choice(MODES[i].id))),
        any::<bool>().prop_map(|v| ("static", Value::Switch(v))),
        (-2i64..=16).prop_map(|v| ("samples", Value::Integer(v))),
        any::<u64>().prop_map(|v| ("seed", Value::Seed(v))),
        animated(proptest::array::uniform2(-1e6f64..1e6)).prop_map(|v| ("centre", Value::Position(v))),
        animated(colour).prop_map(|v| ("tint", Value::Colour(v))),
        ranges().prop_map(|v| ("keep", Value::Frames(v))),
    ];
    let common = (
        proptest::option::of(ranges()),
        proptest::option::of("[yuvrgba0123]{1,4}|all"),
        animated(0.0f64..=1.0),
    );
    let step =
        (0..TABLE.len(), proptest::collection::vec(value, 0..6), common).prop_map(|(i, values, common)| {
            let filter = &TABLE[i];
            let mut all = Values::new(filter.settings);
            for (id, value) in values {
                let _ = all.set(id, value);
            }
            let (enable, planes, opacity) = common;
            let planes = planes.map(|t| t.parse::<Planes>().unwrap());
            let mut step = Step::new(filter, all);
            let given = [
                enable.map(|v| (ENABLE, Value::Frames(v))),
                planes.map(|v| (PLANES, Value::Planes(v))),
                Some((OPACITY, Value::Number(opacity))),
            ];
            given.into_iter().flatten().for_each(|(id, v)| step.set_value(id, v).unwrap());
            step
        });
    (proptest::option::of(any::<u64>()), proptest::collection::vec(step, 0..4))
        .prop_map(|(seed, steps)| Recipe { steps, seed, links: Vec::new() })
}

proptest! {
    #![proptest_config(fixed(5))]

    #[test]
    fn printing_reads_back(r in recipe()) {
        prop_assert_eq!(chain(&r.to_chain()), r.clone());
        prop_assert_eq!(toml(&r.to_toml()), r.clone());
        let canonical = r.canonical();
        prop_assert_eq!(chain(&canonical).canonical(), canonical.clone());
        prop_assert_eq!(toml(&chain(&canonical).to_toml()).canonical(), canonical);
    }

    #[test]
    fn changed_texts_never_panic(r in recipe(), at in any::<prop::sample::Index>(), put in "[a-z=:,;'\\\\\\[\\]{}0-9\".#é\n]{0,3}", cut in 0usize..4) {
        let change = |text: String| {
            let mut chars: Vec<char> = text.chars().collect();
            let i = at.index(chars.len() + 1);
            chars.splice(i..(i + cut).min(chars.len()), put.chars());
            chars.into_iter().collect::<String>()
        };
        let (a, b) = (change(r.to_chain()), change(r.to_toml()));
        for (text, e) in [(&a, chain::parse(&a, &TABLE).err()), (&b, document::parse(&b, &TABLE).err())] {
            let Some(e) = e else { continue };
            let p = e.parts();
            prop_assert!(text.is_char_boundary(p.span.start) && text.is_char_boundary(p.span.end));
            prop_assert!(!e.to_string().is_empty());
            // The caret is below the first character of the span.
            let marked = text[p.span.start..].chars().next().filter(|c| !c.is_control());
            prop_assert_eq!(p.excerpt.chars().nth(p.marked.start).filter(|c| marked.is_some() && *c != ' '), marked.filter(|c| *c != ' '));
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(noise|invert|recipe|strength|tint|keep|seed|[=:,;'\\\\\\[\\]0-9 .é-]){0,14}") {
        let _ = (chain::parse(&text, &TABLE).map_err(|e| e.to_string()), document::parse(&text, &TABLE).map_err(|e| e.to_string()));
    }
}

#[test]
fn settings_of_a_step_are_set_by_name() {
    let mut look: Recipe = "noise".parse().unwrap();
    let step = &mut look.steps[0];
    step.set("strength", 6.5).unwrap();
    step.set("monochrome", true).unwrap();
    step.set("opacity", "0=0;48=1").unwrap();
    step.set("planes", "y").unwrap();
    assert_eq!(look, "noise=strength=6.5:monochrome=true:opacity='0=0;48=1':planes=y".parse().unwrap());
    let step = &mut look.steps[0];
    let unknown = step.set("strenght", 6).unwrap_err();
    assert_eq!(
        (unknown.parts().span.clone(), unknown.parts().hint.as_deref()),
        (0..8, Some("did you mean 'strength'?"))
    );
    assert_eq!(step.set("strength", "0=0;48=x").unwrap_err().parts().excerpt, "strength=0=0;48=x");
    assert!(step.set("strength", f64::NAN).is_err());
}
