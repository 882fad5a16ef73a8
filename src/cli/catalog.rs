//! `filters`: the catalog, for people and as JSON.

use grainfield_filters::catalog::Entry;
use grainfield_filters::recipe::nearest;
use grainfield_filters::settings::common::COMMON;
use grainfield_filters::settings::{Kind, Setting, Unit, wrap};
use grainfield_render::session::describe;
use std::fmt::Write;

/// Text is broken at this column, which fits every terminal.
const WIDTH: usize = 80;

/// All filters, a line each.
pub(super) fn list(filters: &[Entry]) -> String {
    let width = filters.iter().map(|f| f.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for f in filters {
        wrapped(&mut text, &format!("{:width$}  ", f.name), f.help);
    }
    text + "\nSettings of one: grainfield filters NAME\n"
}

/// One filter and its settings.
pub(super) fn page(f: &Entry) -> String {
    let mut text = String::new();
    wrapped(&mut text, &format!("{} - ", f.name), f.help);
    text += "\nSettings:\n";
    f.settings.iter().for_each(|s| entry(&mut text, s));
    text += "\nEvery filter also takes:\n";
    COMMON.iter().for_each(|s| entry(&mut text, s));
    let _ = writeln!(text, "\nExample:\n  grainfield render clip.y4m out.y4m -f {}", example(f));
    if f.settings.iter().any(|s| s.kind.animatable()) {
        text +=
            "\nA setting that can be animated takes keys instead of a number:\n'0=0;48=12' (frame=value).\n";
    }
    text
}

/// Example chains of filters whose defaults change nothing, or little.
const EXAMPLES: &[(&str, &str)] = &[
    ("grain", "grain=preset=35mm"),
    ("flock", "flock=preset=starlings"),
    ("av1grain", "av1grain=iso=6400"),
    ("fade", "fade=amount='0=1;24=0'"),
    ("levels", "levels=black=0.05:gamma=1.2"),
    ("color", "color=saturation=0.6:temperature=0.3"),
    ("lut", "lut=file=look.cube"),
    ("lavfi", "lavfi='hue=s=0.4,unsharp'"),
    ("blur", "blur=sigma=4"),
    ("scale", "scale=width=1280"),
    ("crop", "crop=top=20:bottom=20"),
    ("pad", "pad=width=1920:height=1080"),
    ("transform", "transform=zoom='0c=1;48=1.25'"),
    ("text", "text='{timecode} {file}':size=0.04:anchor=bottom-left:box=0.6"),
    ("overlay", "overlay=file=logo.png:size=0.25:position='0.8,0.2'"),
    ("sprites", "sprites=image=logo.png:position='200,100':fade=0.8"),
];

/// An example chain of this filter.
fn example(f: &Entry) -> String {
    if let Some((_, chain)) = EXAMPLES.iter().find(|(name, _)| *name == f.name) {
        // the shell removes the quotes of the chain
        return if chain.contains('\'') { format!("\"{chain}\"") } else { (*chain).to_owned() };
    }
    let setting = f.settings.iter().find_map(|s| Some(format!("={}={}", s.id, s.default()?)));
    f.name.to_owned() + &setting.unwrap_or_default()
}

/// Kind, range, unit, default.
fn line(s: &Setting) -> String {
    let mut text = match s.kind {
        Kind::Switch => "true or false".into(),
        Kind::Integer { min, max } => format!("whole number, {min} to {max}"),
        Kind::Number { min, max } | Kind::Fixed { min, max } => format!("number, {min} to {max}"),
        Kind::Seed => "seed, decimal or 0x hex".into(),
        Kind::Choice(_) => "one of these".into(),
        Kind::Position { min, max } => format!("position x,y, each {min} to {max}"),
        Kind::Colour => "colour: #rrggbb, #rrggbbaa, a name, or numbers from 0 to 1".into(),
        Kind::Frames => "frames as in 1001-1100, 1-10x2, 0-48+96-, times as in 2s-5.5s, or 25%-50%".into(),
        Kind::Planes => "planes: y, uv, rgb, a, 0, all".into(),
        Kind::Text => "text".into(),
        Kind::Image => "name of an image file".into(),
        Kind::File(kind) => kind.help().trim_start_matches("the ").into(),
        Kind::SourceFrame => "number of a frame of the source".into(),
        Kind::Points { min, max } => {
            format!("points x=y;x=y;..., x ascending from 0 to 1, y from {min} to {max}")
        }
    };
    // If the kind implies the unit, the unit is not repeated.
    if !matches!(s.unit, Unit::None | Unit::Fraction) && !matches!(s.kind, Kind::Frames) {
        let _ = write!(text, " ({})", s.unit.text());
    }
    if let Some(default) = s.default() {
        let _ = write!(text, ", default {default}");
    }
    if s.kind.animatable() {
        text += ", can be animated";
    }
    text
}

/// A setting of a page.
fn entry(text: &mut String, s: &Setting) {
    wrapped(text, &format!("  {}  ", s.id), &line(s));
    wrapped(text, "      ", s.help);
    if let Kind::Choice(words) = s.kind {
        let width = words.iter().map(|w| w.id.len()).max().unwrap_or(0);
        for w in words {
            wrapped(text, &format!("        {:width$}  ", w.id), w.help);
        }
    }
}

/// `start`, then `words` broken at [`WIDTH`], further lines indented to where the first began.
fn wrapped(text: &mut String, start: &str, words: &str) {
    wrap(text, start, start.chars().count().min(WIDTH / 2), WIDTH, words);
}

/// Filters as JSON, with all their properties.
pub(super) fn list_json(filters: &[Entry]) -> String {
    pretty(&filters.iter().map(describe).collect())
}

/// One filter as JSON.
pub(super) fn page_json(f: &Entry) -> String {
    pretty(&describe(f))
}

fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}

/// `there is no filter 'noize': did you mean 'noise'?`
pub(super) fn unknown(name: &str, filters: &[Entry]) -> String {
    let hint = nearest(name, filters.iter().map(|f| f.name));
    let hint = hint.unwrap_or_else(|| "'grainfield filters' lists all filters".into());
    format!("there is no filter '{name}': {hint}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_filters::choices;
    use grainfield_filters::filter::{Filter, Role, Spec};
    use grainfield_filters::frame::Format;
    use grainfield_filters::settings::Animated;
    use grainfield_filters::settings::SettingError;
    use grainfield_filters::simd::Level;
    use serde_json::json;

    grainfield_filters::settings! {
        struct Dust {
            /// How much of it.
            amount: Animated = number(0.0..=12.5).default(2.5).unit(Unit::Code8).soft(0.0..=5.0).group("Look"),
            /// What a speck looks like.
            shape: Form = choice("round"),
            /// Stays in place.
            start: Option<u64> = seed().only_when("shape", &["hair"]),
        }
        presets "A look." {
            /// Much.
            "much" = "amount=12:start=18446744073709551615",
        }
        with seed
    }

    choices! {
        enum Form {
            /// A disc.
            Round = "round",
            /// A line.
            Hair = "hair",
        }
    }

    impl Spec for Dust {
        fn bind(&self, _: &Format, _: u64, _: Level) -> Result<Box<dyn Filter>, SettingError> {
            let problem = format!("{:?} {:?} {:?} is made up", self.amount, self.shape, self.start);
            Err(SettingError { setting: "", problem })
        }
    }

    const MADE_UP: &[Entry] = &[
        Entry::new::<Dust>(
            "dust",
            "Dust",
            "Specks of dust that come and go, with a help text that is long enough to be broken into two lines.",
        ),
        Entry {
            name: "nothing",
            label: "Nothing",
            help: "Does nothing.",
            role: Role::Adjusts,
            settings: &[],
            build: |_| Err(SettingError { setting: "", problem: String::new() }),
        },
    ];

    #[test]
    fn a_line_each() {
        let text = list(MADE_UP);
        assert!(text.starts_with("dust     Specks of dust"), "{text}");
        assert!(text.contains("\n         "), "{text}");
        assert!(text.contains("\nnothing  Does nothing.\n"), "{text}");
        assert!(text.lines().all(|l| l.len() <= WIDTH), "{text}");
    }

    #[test]
    fn a_page_has_every_setting() {
        let text = page(&MADE_UP[0]);
        for part in [
            "  amount  number, 0 to 12.5 (8-bit code values), default 2.5, can be animated\n      How much of it.\n",
            "  shape  one of these, default round\n",
            "        round  A disc.\n        hair   A line.\n",
            "  seed  seed, decimal or 0x hex\n",
            "  enable  ",
            "  planes  ",
            "  opacity  ",
            "-f dust=amount=2.5\n",
        ] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
        assert!(text.lines().all(|l| l.len() <= WIDTH), "{text}");
        assert!(page(&MADE_UP[1]).contains("-f nothing\n"));
    }

    #[test]
    fn json_has_the_same_contents() {
        let o: serde_json::Value = serde_json::from_str(&list_json(MADE_UP)).unwrap();
        let settings = &o[0]["settings"];
        let amount = &settings[1];
        assert_eq!(
            (&amount["kind"], &amount["label"], &amount["max"], &amount["soft_max"], &amount["default"]),
            (&json!("number"), &json!("Amount"), &json!(12.5), &json!(5.0), &json!(2.5))
        );
        assert_eq!((&amount["group"], &settings[2]["choices"][1]["id"]), (&json!("Look"), &json!("hair")));
        assert_eq!(settings[3]["only_when"], json!({ "setting": "shape", "values": ["hair"] }));
        assert_eq!(settings[4]["default"], serde_json::Value::Null);
        // The values of all settings with the preset; 64-bit numbers as text.
        let much = json!({ "amount": 12.0, "shape": "round", "start": "18446744073709551615" });
        assert_eq!(settings[0]["choices"][0]["values"], much);
        let one: serde_json::Value = serde_json::from_str(&page_json(&MADE_UP[1])).unwrap();
        assert_eq!(one, o[1]);
    }

    #[test]
    fn a_near_name_is_suggested() {
        assert_eq!(unknown("dsut", MADE_UP), "there is no filter 'dsut': did you mean 'dust'?");
        assert!(unknown("xyzzy", MADE_UP).contains("'grainfield filters' lists"));
    }
}
