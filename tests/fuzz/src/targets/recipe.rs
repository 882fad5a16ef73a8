//! Recipes: `-f` chains and TOML; and for some of them the result of the filters.

use super::super::Target;
use super::hash;
use grainfield_filters::chain::{Chain, ChainError, Fields, Options, States, Workspace};
use grainfield_filters::frame::{Format, Frame, FrameTime};
use grainfield_filters::host::{CurrentThread, Host, NoCache};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::{Recipe, RecipeError};
use grainfield_filters::simd::Level;
use std::sync::atomic::AtomicBool;

const WORDS: &[&str] = &[
    "noise",
    "grain",
    "dither",
    "recipe=seed=7,",
    "strength=",
    "size=",
    "preset=",
    "=35mm",
    "vhs",
    "smoke",
    "curve=",
    "points=",
    "'0=0;0.5=1;1=0'",
    "'0=0;48~=12'",
    "distribution=binomial",
    "samples=16",
    "generator=xs64",
    "octaves=8",
    "persistence=",
    "across=64",
    "down=",
    "temporal=",
    "ar1",
    "pink",
    "correlation=",
    "layout=sequential",
    "state=",
    "static=1",
    "hold=",
    "monochrome=1",
    "protect=0",
    "space=linear",
    "mode=blue",
    "bits=8",
    "enable=0-9x2",
    "planes=y",
    "opacity=0.5",
    ":",
    ",",
    "=",
    "'",
    "\\",
    "[[filter]]\n",
    "name = ",
    "version = 1\n",
    "\"",
    "\n",
    "[",
    "]",
    "{",
    "}",
    "at = 0",
    "value = 1",
    "shape = \"smooth\"",
    "keys = [",
    "#",
    "nan",
    "inf",
    "1e400",
    "true",
];

/// A chain as `-f` takes it.
pub const CHAIN: Target = Target {
    name: "chain",
    run: |data| run(data, str::parse),
    words: WORDS,
    seeds: &[
        "noise=strength='0=0;48=12':planes=y,grain=preset=35mm",
        "grain=strength=9:size=2.8:sharpness=-0.5:points='0=0;0.4=1;1=0.3':temporal=0.3,dither=mode=blue",
        "recipe=seed=0xff,noise=6:distribution=binomial:samples=3:enable=1-9x2+12-:opacity='0=0;9=1'",
        "atmosphere=preset=clouds:scale=99,noise=preset=vhs:across=9,noise=temporal=pink",
        r"noise=strength=0=0\;48=12,dither=bits=8:mode=hp-tpdf:static=1",
        "noise=layout=sequential:state=1,grain=space=linear:hold=3:generator=lfsr31",
    ],
};

/// A recipe as TOML.
pub const TOML: Target = Target {
    name: "toml",
    run: |data| run(data, Recipe::parse_toml),
    words: WORDS,
    seeds: &[
        "version = 1\nseed = 7\n[[filter]]\nname = \"noise\"\nstrength = \"0=0;48~=12\"\nenable = \"0-48\"\n",
        "[[filter]]\nname = 'noise'\nstrength = [{ at = 0, value = 0 }, { at = 48, value = 12, shape = \"smooth\" }]\n",
        "[[filter]]\nname='grain'\npreset='16mm'\npoints=\"0=0;1=1\"\nopacity = { keys = [{at=\"1s\", value=1}], before \
         = \"hold\", after = \"repeat\" }\n",
        "[[filter]]\nname='dither'\nmode='blue'\nbits=8\nplanes=\"yuv\"\nstatic = true\n",
    ],
};

fn run(data: &[u8], parse: fn(&str) -> Result<Recipe, RecipeError>) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let recipe = match parse(text) {
        Ok(recipe) => recipe,
        Err(e) => {
            let _ = format!("{e} {e:?}");
            return false;
        }
    };
    let chain = recipe.to_chain().parse::<Recipe>();
    assert!(chain.is_ok_and(|again| again == recipe), "{} reads back", recipe.to_chain());
    let toml = Recipe::parse_toml(&recipe.to_toml());
    assert!(toml.is_ok_and(|again| again == recipe), "{} reads back", recipe.to_toml());
    let canonical = recipe.canonical();
    let again = canonical.parse::<Recipe>();
    assert!(again.is_ok_and(|again| again.canonical() == canonical), "{canonical} is canonical");
    if recipe.steps.len() <= 4 && hash(data).is_multiple_of(16) {
        render(&recipe);
    }
    true
}

/// Renders a frame of a small picture, if the settings can be bound to it.
fn render(recipe: &Recipe) {
    let names = ["yuv420p", "gray16", "gbrapf32", "yuv410p10"];
    let format = Format::from_name(names[recipe.steps.len() % 4], 33, 18).expect("a known format");
    let options = Options { seed: 1, level: Level::best(), first: 0, last: Some(99), fields: Fields::Frame };
    let chain = match Chain::bind::<ChainError>(&recipe.steps, format, &options, |made| Ok(*made)) {
        Ok(chain) => chain,
        Err(e) => return drop(e.to_string()),
    };
    // Simulations take time in proportion to the frame number.
    let numbers = if chain.is_simulation() { &[0, -1][..] } else { &[0, 48, -1, i64::MAX / 1001] };
    let stop = AtomicBool::new(false);
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &stop };
    for &number in numbers {
        let mut frame = Frame::new(format);
        let at = FrameTime::of_frame(number, Ratio::whole(24));
        let done =
            chain.run(&at, Ratio::ONE, &mut frame, &mut Workspace::default(), &States::default(), &host);
        assert!(done.is_ok());
    }
}
