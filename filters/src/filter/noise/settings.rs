//! What the user can set, and the presets.

use super::field::{Space, Temporal, Way};
use crate::filter::Spec;
use crate::noise::{Generator, Law, Layout, Origin};
use crate::settings::{Animated, Choice, Kind, Setting, SettingError, Unit, Value, Values};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        id: "preset",
        label: "Preset",
        help: "A look in one word. What is typed beside it wins.",
        kind: Kind::Choice(&[
            Choice { id: "analog-tv", help: "the snow of a television set that is tuned to no station" },
            Choice { id: "vhs", help: "streaks of a video cassette, in luma and colour" },
            Choice { id: "clouds", help: "slow billows of eight octaves" },
        ]),
        unit: Unit::None,
        default: None,
    },
    Setting {
        id: "strength",
        label: "Strength",
        help: "How strong: the standard deviation of the noise in 8-bit code values, whatever the distribution and \
               the depth. 2 is barely seen, 6 is plain, 20 is a bad receiver.",
        kind: Kind::Number { min: 0.0, max: 255.0 },
        unit: Unit::Code8,
        default: Some(Value::Number(Animated::Constant(6.0))),
    },
    Setting {
        id: "monochrome",
        label: "Monochrome",
        help: "Leaves the colour differences alone, and gives R, G and B the same noise.",
        kind: Kind::Switch,
        unit: Unit::None,
        default: Some(Value::Switch(false)),
    },
    Setting {
        id: "octaves",
        label: "Octaves",
        help: "How many layers of noise are blended, each twice as coarse as the one before. 1 is white, 8 is clouds.",
        kind: Kind::Whole { min: 1, max: 8 },
        unit: Unit::None,
        default: Some(Value::Whole(1)),
    },
    Setting {
        id: "persistence",
        label: "Persistence",
        help: "How strong an octave is beside the next finer one: 1 is 1/f noise, less is finer, more is coarser. The \
               strength of the whole stays.",
        kind: Kind::Number { min: 0.0, max: 4.0 },
        unit: Unit::None,
        default: Some(Value::Number(Animated::Constant(1.0))),
    },
    Setting {
        id: "across",
        label: "Length across",
        help: "Draws noise out along rows: the distance in luma samples over which likeness falls to 1/e. 0 does not.",
        kind: Kind::Whole { min: 0, max: 64 },
        unit: Unit::None,
        default: Some(Value::Whole(0)),
    },
    Setting {
        id: "down",
        label: "Length down",
        help: "Draws noise out along columns, as `across` does along rows.",
        kind: Kind::Whole { min: 0, max: 64 },
        unit: Unit::None,
        default: Some(Value::Whole(0)),
    },
    Setting {
        id: "temporal",
        label: "In time",
        help: "How the noise of a frame hangs on that of the frames before it.",
        kind: Kind::Choice(&[
            Choice { id: "none", help: "new in every frame" },
            Choice { id: "ar1", help: "frames are like their neighbours, the more the higher `correlation`" },
            Choice { id: "pink", help: "1/f: fast and slow changes alike, from every frame to every 512" },
        ]),
        unit: Unit::None,
        default: Some(Value::Choice("none")),
    },
    Setting {
        id: "correlation",
        label: "Correlation",
        help: "Of the noise of a frame with that of the next, for temporal=ar1.",
        kind: Kind::Number { min: 0.0, max: 0.9 },
        unit: Unit::None,
        default: Some(Value::Number(Animated::Constant(0.5))),
    },
    Setting {
        id: "distribution",
        label: "Distribution",
        help: "How often small and large values come.",
        kind: Kind::Choice(&[
            Choice { id: "uniform", help: "all values within +-1.73 strengths equally often; the fastest" },
            Choice { id: "binomial", help: "a sum of `samples` uniform numbers: near to a bell curve" },
            Choice { id: "gaussian", help: "a bell curve, nearer to it than binomial and faster" },
        ]),
        unit: Unit::None,
        default: Some(Value::Choice("uniform")),
    },
    Setting {
        id: "samples",
        label: "Samples",
        help: "How many uniform numbers a binomial sums: 2 is a triangle, more come nearer to a bell curve and cost \
               as much more.",
        kind: Kind::Whole { min: 2, max: 16 },
        unit: Unit::None,
        default: Some(Value::Whole(4)),
    },
    Setting {
        id: "seed",
        label: "Seed",
        help: "Another number gives other noise of the same kind. When absent it follows from the render's seed and \
               this filter's place in the chain.",
        kind: Kind::Seed,
        unit: Unit::None,
        default: None,
    },
    Setting {
        id: "generator",
        label: "Generator",
        help: "Where the random numbers come from.",
        kind: Kind::Choice(&[
            Choice { id: "lfsr31", help: "shift registers of 31 bits: the fastest" },
            Choice { id: "xs64", help: "registers of 64 bits, whose numbers stand up to any statistics" },
        ]),
        unit: Unit::None,
        default: Some(Value::Choice("lfsr31")),
    },
    Setting {
        id: "state",
        label: "Register state",
        help: "Starts the shift register lfsr31 at this very state (32 bits, of which the lower 31 count) in place of \
               one made from a seed. When absent the seed decides.",
        kind: Kind::Seed,
        unit: Unit::None,
        default: None,
    },
    Setting {
        id: "static",
        label: "Static",
        help: "Every frame gets the noise of frame 0, as dirt on a lens.",
        kind: Kind::Switch,
        unit: Unit::None,
        default: Some(Value::Switch(false)),
    },
    Setting {
        id: "layout",
        label: "Layout",
        help: "How rows of pixels are laid over the cycle of lfsr31.",
        kind: Kind::Choice(&[
            Choice { id: "keyed", help: "each row at a hashed place: frames never echo each other" },
            Choice {
                id: "sequential",
                help: "one row behind the other, as a tape; an echo of the picture comes back after 2^27 words (65 \
                       frames of 1080p luma)",
            },
        ]),
        unit: Unit::None,
        default: Some(Value::Choice("keyed")),
    },
];

/// What a preset says.
struct Preset {
    name: &'static str,
    strength: f64,
    distribution: &'static str,
    monochrome: bool,
    octaves: i64,
    persistence: f64,
    lengths: [i64; 2],
    temporal: &'static str,
    correlation: f64,
}

/// What stands when no preset is named: the defaults.
const PLAIN: Preset = Preset {
    name: "",
    strength: 6.0,
    distribution: "uniform",
    monochrome: false,
    octaves: 1,
    persistence: 1.0,
    lengths: [0, 0],
    temporal: "none",
    correlation: 0.5,
};

const PRESETS: [Preset; 3] = [
    // A receiver's band is narrower than the picture's lines are long: specks are a little longer than high.
    Preset {
        name: "analog-tv",
        strength: 60.0,
        distribution: "gaussian",
        monochrome: true,
        lengths: [1, 0],
        ..PLAIN
    },
    Preset {
        name: "vhs",
        strength: 11.0,
        distribution: "gaussian",
        lengths: [7, 0],
        temporal: "ar1",
        correlation: 0.3,
        ..PLAIN
    },
    Preset {
        name: "clouds",
        strength: 26.0,
        distribution: "gaussian",
        monochrome: true,
        octaves: 8,
        persistence: 1.6,
        temporal: "ar1",
        correlation: 0.9,
        ..PLAIN
    },
];

pub(super) struct NoiseSpec {
    pub strength: Animated,
    pub law: Law,
    pub generator: Generator,
    pub seed: Option<u64>,
    pub state: Option<u32>,
    pub fixed: bool,
    pub layout: Layout,
    pub monochrome: bool,
    /// What makes it other than white; `None` when nothing does.
    pub way: Option<Way>,
}

fn err<T>(setting: &'static str, problem: impl Into<String>) -> Result<T, SettingError> {
    Err(SettingError { setting, problem: problem.into() })
}

pub(super) fn build(values: &Values) -> Result<Box<dyn Spec>, SettingError> {
    let preset = match values.get("preset") {
        Some(Value::Choice(name)) => PRESETS.iter().find(|p| p.name == *name).unwrap_or(&PLAIN),
        _ => &PLAIN,
    };
    let number = |id: &str, preset: f64| match values.given(id) {
        Some(_) => values.number(id),
        None => Animated::Constant(preset),
    };
    let distribution = choice(values, "distribution", preset.distribution);
    if distribution != "binomial" && values.given("samples").is_some() {
        return err(
            "samples",
            "only a binomial has samples: give distribution=binomial too, or leave it out",
        );
    }
    let law = match distribution {
        "binomial" => Law::Sum(values.whole("samples") as u32),
        "gaussian" => Law::H8,
        _ => Law::UNIFORM,
    };
    let generator = match values.choice("generator") {
        "xs64" => Generator::Xs64,
        _ => Generator::Lfsr31,
    };
    if generator != Generator::Lfsr31 {
        for id in ["state", "layout"] {
            if values.given(id).is_some() {
                return err(id, "only lfsr31 has it: give generator=lfsr31, or leave it out");
            }
        }
    }
    let layout = match values.choice("layout") {
        "sequential" => Layout::Sequential,
        _ => Layout::Keyed,
    };
    let seed = values.seed("seed");
    let (state, fixed) = (state(values)?, values.switch("static"));
    Ok(Box::new(NoiseSpec {
        strength: number("strength", preset.strength),
        law,
        generator,
        seed,
        state,
        fixed,
        layout,
        monochrome: match values.given("monochrome") {
            Some(_) => values.switch("monochrome"),
            None => preset.monochrome,
        },
        way: way(values, preset)?,
    }))
}

fn choice(values: &Values, id: &str, preset: &'static str) -> &'static str {
    if values.given(id).is_some() { values.choice(id) } else { preset }
}

/// All that makes noise other than white.
fn way(values: &Values, preset: &Preset) -> Result<Option<Way>, SettingError> {
    let typed = |id: &str| values.given(id).is_some();
    let whole = |id: &str, preset: i64| if typed(id) { values.whole(id) } else { preset };
    let number = |id: &str, preset: f64| {
        if typed(id) { values.number(id) } else { Animated::Constant(preset) }
    };
    // One way into space typed puts the preset's other way aside.
    let by_octaves = typed("octaves") && values.whole("octaves") > 1;
    let by_lengths = ["across", "down"].into_iter().any(|id| typed(id) && values.whole(id) > 0);
    if by_octaves && by_lengths {
        return err(
            "octaves",
            "noise is made coarse by octaves or by lengths: give octaves, or across and down",
        );
    }
    let octaves = whole("octaves", if by_lengths { 1 } else { preset.octaves });
    let lengths = if by_octaves { [0, 0] } else { preset.lengths };
    let lengths = [whole("across", lengths[0]), whole("down", lengths[1])];
    if octaves == 1 && typed("persistence") {
        return err("persistence", "a single octave has none: give octaves=2 or more, or leave it out");
    }
    let temporal = choice(values, "temporal", preset.temporal);
    if temporal != "ar1" && typed("correlation") {
        return err("correlation", "only ar1 has one: give temporal=ar1, or leave it out");
    }
    let space = if octaves > 1 {
        Space::Octaves(octaves as u32, number("persistence", preset.persistence))
    } else {
        Space::Lengths(lengths.map(|l| l as u32))
    };
    let temporal = match temporal {
        "ar1" => Temporal::Ar1(number("correlation", preset.correlation)),
        "pink" => Temporal::Pink,
        _ => Temporal::None,
    };
    let white = matches!((&space, &temporal), (Space::Lengths([0, 0]), Temporal::None));
    Ok(if white { None } else { Some(Way { space, temporal }) })
}

fn state(values: &Values) -> Result<Option<u32>, SettingError> {
    let Some(wide) = values.seed("state") else { return Ok(None) };
    if values.given("seed").is_some() {
        return err("state", "stands in the place of the seed: give one of the two");
    }
    let Ok(state) = u32::try_from(wide) else {
        return err("state", format!("{wide:#x} has more than 32 bits"));
    };
    match Origin::State(state).state() {
        Ok(_) => Ok(Some(state)),
        Err(e) => err("state", e.to_string()),
    }
}
