use super::*;
use crate::catalog;
use crate::filter::particles::effect;
use crate::settings::{Kind, Value, Values};
use std::path::PathBuf;

fn presets() -> Vec<(&'static str, Effect)> {
    let filter = catalog::find("particles").unwrap();
    let setting = filter.settings.iter().find(|s| s.id == "preset").unwrap();
    let Kind::Choice(all) = setting.kind else { panic!("words") };
    let one = |id| {
        let mut values = Values::new(filter.settings);
        values.set("preset", Value::Choice(id)).unwrap();
        effect(&values).unwrap()
    };
    all.iter().map(|c| (c.id, one(c.id))).collect()
}

fn samples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../samples/effects")
}

#[test]
fn presets_read_back() {
    for (name, effect) in presets() {
        for text in [print(&effect), print_explained(&effect)] {
            let again = parse(&text).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
            assert!(again == effect, "{name}:\n{text}\n{again:#?}\n{effect:#?}");
            assert_eq!(digest(&again), digest(&effect));
        }
    }
}

/// An effect that was parsed and printed parses to the same effect.
#[test]
fn odd_numbers_read_back() {
    for (said, printed) in [
        ("life = { base = 3, offset = -1 }", "life = { base = 3, offset = -1 }"),
        ("speed = { base = -0.0, offset = -0.0 }\nspin = -0.0", ""),
        ("speed = { base = -0.0, offset = 2 }", "speed = [-2, 2]"),
        ("speed = { base = 0, offset = -1e-44 }", "speed = { base = 0, offset = -0.0"),
        ("speed = { base = 7, offset = 1e-30 }", "speed = { base = 7, offset = 0.0"),
        ("speed = [1e-45, 1e3]", "speed = [0, 1000]"),
        ("every = 0.5\ncount = 1e-320", "count = 0.0"),
        ("every = 0.5\ncount = -0.0", "count = 0\n"),
        ("rate = -0.0", "rate = 0\n"),
        ("rate = 1e-308", "rate = 0.0"),
        ("bursts = [[-0.0, 3], [1e-300, -0.0]]", "bursts = [[0, 3], [0.0"),
        ("inherit = -1e-320", ""),
        ("aside = [-0.0, 0x10]", "aside = [0, 16]"),
        ("size-over = [[-0.0, 1], [1e-44, 0.5]]", "size-over = [[0, 1], [0.0"),
        ("colours = [[-0.0, 1e-320, 1]]", "colours = [[0, 0.0"),
    ] {
        let effect = parse(&format!("wind = -0.0\n[[layer]]\n{said}\n")).unwrap_or_else(|e| panic!("{e}"));
        let text = print(&effect);
        assert!(text.contains(printed) && text.contains("wind = 0\n"), "{said}: {text}");
        let again = parse(&text).unwrap_or_else(|e| panic!("{said}: {e}\n{text}"));
        assert!(again == effect, "{said}: {text}");
        assert_eq!(print(&again), text, "{said}");
        assert_eq!(digest(&again), digest(&effect), "{said}");
    }
}

#[test]
fn light_is_printed_if_it_is_not_the_default() {
    let effect = parse("light = \"linear\"\n[[layer]]\nrate = 3").unwrap();
    assert_eq!(effect.light, crate::particle::draw::BlendSpace::Linear);
    assert!(print(&effect).contains("light = \"linear\""));
    assert_eq!(parse(&print(&effect)).as_ref(), Ok(&effect));
    let usual = parse("light = \"gamma\"\n[[layer]]\nrate = 3").unwrap();
    // the explanations are sentences, which a parenthesis does not cut
    for line in print_explained(&usual).lines().filter_map(|l| l.split_once(" # ")) {
        assert_eq!(line.1.matches('(').count(), line.1.matches(')').count(), "{}", line.1);
    }
    assert!(!print(&usual).contains("light") && print_explained(&usual).contains("light = \"gamma\""));
    assert_ne!(digest(&effect), digest(&usual));
}

#[test]
fn all_spellings() {
    let long = parse(
        "[[layer]]\nrate = 40\nlife = { base = 3, offset = 1 }\nsize = 0.01\nopacity-over = [[0, 0], [1, 1]]\n\
         colours = [[1, 0, 0], \"#00ff00\", \"white\"]\ncolour-by = \"life\"\nsize-over = 0.5\n",
    )
    .unwrap();
    let short = parse(
        "version = 1\nblend = \"over\"\n[[layer]]\nrate = 40.0\nlife = [2, 4]\nsize = [0.01, 0.01]\n\
         opacity-over = [[0, 0], [1, 1]]\ncolours = [\"red\", \"#00ff00\", \"#ffffff\"]\ncolour-by = \"life\"\n\
         size-over = [[0.0, 0.5]]\n",
    )
    .unwrap();
    assert_eq!(long, short);
    let one = parse("[[layer]]\ncolours = [1, 0.5, 0]").unwrap();
    assert_eq!(
        one.layers[0].tint.clone(),
        parse("[[layer]]\ncolours = [[1, 0.5, 0]]").unwrap().layers[0].tint
    );
}

/// Errors have the right kind, line and suggestion.
#[test]
fn wrong_files_say_where_and_what() {
    for (text, line, says) in [
        ("[[layer]]\nlife = -1", 2, "life: -1 is not from 0.001 to 10000"),
        ("[[layer]]\n\nlfie = 2", 3, "a layer has no entry 'lfie'"),
        ("[[layer]]\nlfie = 2", 2, "did you mean 'life'?"),
        ("wnid = 2", 1, "an effect has no entry 'wnid'"),
        ("wind = 1e9\n[[layer]]", 1, "wind: 1000000000 is not from -100 to 100"),
        ("version = 2\n[[layer]]", 1, "effect files of version 1"),
        ("blend = \"ad\"\n[[layer]]", 1, "did you mean 'add'?"),
        ("light = \"liner\"\n[[layer]]", 1, "did you mean 'linear'?"),
        ("[[layer]]\nrate = 1e12", 2, "rate: 1000000000000 is not from 0 to 100000000"),
        ("[[layer]]\nrate = nan", 2, "rate: NaN is not"),
        ("[[layer]]\nrate = \"many\"", 2, "rate"),
        ("[[layer]]\ndrag = \"much\"", 2, "expected a number, 0 to 100"),
        ("[[layer]]\nrate = 3\nevery = 1\ncount = 2", 3, "'rate' is given too"),
        ("[[layer]]\nevery = 1", 2, "'count' is needed too"),
        ("[[layer]]\nlife = [3, 2]", 2, "put the lowest first"),
        ("[[layer]]\nlife = [3, 2, 1]", 2, "a number or [lowest, highest]"),
        ("[[layer]]\nlife = { base = 1, ofset = 2 }", 2, "did you mean 'offset'?"),
        ("[[layer]]\ncolours = [\"#12\"]", 2, "expected a colour"),
        ("[[layer]]\ncolours = []", 2, "0 values, but 1 to 32 are needed"),
        ("[[layer]]\nshape = \"polygon\"\ncorners = [[1, 1], [0, 0], [1, 0]]", 2, "as a convex polygon"),
        ("[[layer]]\ndirection = [0, 0, 0]", 2, "direction: 0 is not from 0.001"),
        ("[[layer]]\nopacity-over = [[0, 1], [0, 0]]", 2, "order, from 0 (birth) to 1 (death)"),
        ("[[layer]]\nstream = -1", 2, "a whole number"),
        ("layer = 3", 1, "write [[layer]]"),
        ("wind = 1", 1, "needs a [[layer]]"),
        ("[[layer]]\nlife = = 2", 2, ""),
    ] {
        let error = parse(text).unwrap_err().named("my.toml");
        let shown = error.to_string();
        assert!(shown.starts_with(&format!("my.toml:{line}:")), "{text:?}: {shown}");
        assert!(shown.contains(says), "{text:?}: {shown}");
    }
    let many = "[[layer]]\n".repeat(65);
    assert!(parse(&many).unwrap_err().to_string().contains("1 to 64 layers"));
    assert!(parse(&" ".repeat(MAX_TEXT + 1)).is_err());
}

#[test]
fn births_and_places_in_all_their_ways() {
    for text in [
        "rate = \"0=0;48=100\"",
        "rate = \"0s=0;2s(bspline)=100;3s=5;>repeat\"",
        "bursts = [[0, 40], [2.5, 100]]",
        "every = 0.5\ncount = 3",
        "place = \"disc\"\ncentre = [0.2, 0.8]\nradius = 0.3",
        "place = \"edge\"\nedge = \"left\"\ndepth = [0.5, 2]",
        "place = \"mask\"\nmask = \"m.png\"",
        "place = \"path\"\npath = \"0=0,0;24=1,0.5\"",
        "shape = \"sprite\"\nsprite = \"a \\\"b\\\".png\"\ncolumns = 4\npage-by = \"time\"",
        "shape = \"sprite\"\nsprite = \"a.png\"\noffset-x = [0, 1]\nscroll-x = 2\nscroll-y = { base = 0.5, offset = -0.5 }",
        "floor = [0.9, 1]",
        "shape = \"hair\"\nbend = -0.2",
        "blend = \"add\"",
        "trail = 0.2\ntrail-steps = 3",
        "name = \"a\"\n[[layer]]\nborn-of = \"a\"\nchildren = 7\ninherit = 0.5",
    ] {
        let effect = parse(&format!("[[layer]]\n{text}")).unwrap_or_else(|e| panic!("{e}"));
        let printed = print(&effect);
        assert!(text.lines().all(|line| printed.contains(line)), "{text}\n{printed}");
        assert_eq!(parse(&printed).as_ref(), Ok(&effect), "{printed}");
    }
    for (text, says) in [
        ("rate = \"0=0;48=-3\"", " is not from 0 to 100000000"),
        ("rate = \"0=1;48=3;>extrapolate\"", "rate: inf is not"),
        ("rate = \"0=1;-1=3\"", "it has no last frame"),
        ("rate = \"0=1;48\"", "rate: as a curve:"),
        ("bursts = [[1, 3], [1, 4]]", "the times of bursts must be in ascending order"),
        ("bursts = [[1, 3]]\nrate = 3", "'rate' is given too"),
        ("count = 1", "count: 'every' is needed too"),
        ("x = [0, 1]", "x: this applies to place = \"box\" only"),
        ("hole = 0.5", "hole: this applies to shape = \"ring\" only"),
        ("soft = 0.5\nshape = \"hair\"", "soft: this applies to discs, rings and polygons only"),
        ("shape = \"polygon\"", "shape: 'corners' is needed too"),
        ("depth = [2, 1]", "depth: 1 is not from 2 to 1000"),
        ("path = \"0=0,0\"", "this applies to place = \"path\" only"),
        ("place = \"mask\"", "'mask' is needed too"),
        ("place = \"edge\"\nedge = \"lft\"", "did you mean 'left'?"),
        ("shape = \"sprite\"", "'sprite' is needed too"),
        ("scroll-x = 1", "this applies to shape = \"sprite\" only"),
        ("floor = [1, 200]", "floor: 200 is not from -100 to 100"),
        ("name = \"a\"\nborn-of = \"b\"", "born-of: no layer with this 'name'"),
    ] {
        let error = parse(&format!("[[layer]]\n{text}")).unwrap_err().to_string();
        assert!(error.contains(says), "{text:?}: {error}");
    }
}

/// With `GRAINFIELD_BLESS=1` it writes the page.
#[test]
fn the_page_equals_the_table() {
    let path = samples().join("README.md");
    if std::env::var_os("GRAINFIELD_BLESS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap() == page(),
        "{} is not what the code says",
        path.display()
    );
}
