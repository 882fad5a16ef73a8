//! Effect files, and for some of them the frames of the filter.

use super::super::Target;
use super::hash;
use grainfield_filters::filter::particles::{Effect, Particles};
use grainfield_filters::filter::{Band, Spec};
use grainfield_filters::frame::{Format, Frame, FrameTime, PlaneSet, Scratch};
use grainfield_filters::host::{CurrentThread, Host, NoCache};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::effect::{parse, print};
use grainfield_filters::simd::Level;
use std::sync::atomic::AtomicBool;

/// An effect as TOML.
pub const TARGET: Target = Target {
    name: "effect",
    run,
    words: &[
        "[[layer]]\n",
        "rate = ",
        "every = ",
        "count = ",
        "place = \"box\"\n",
        "\"tunnel\"",
        "depth = [",
        "life = ",
        "speed = ",
        "pull = [0, 1, 0]\n",
        "drag = ",
        "floor = ",
        "shape = \"sprite\"\nsprite = \"a\"\n",
        "offset-x = ",
        "scroll-y = ",
        "born-of = \"a\"\n",
        "name = \"a\"\n",
        "trail = ",
        "wind = ",
        "swirl = ",
        "swirl-size = ",
        "sway = [0.1, 0.1]\n",
        "size = ",
        "growth = ",
        "size-over = [[0, 1], [1, 0]]\n",
        "spin = ",
        "tumble = ",
        "squash = ",
        "opacity = ",
        "colours = [\"#ff0000\"]\n",
        "colour-by = \"life\"\n",
        "shape = \"ring\"\n",
        "shutter = ",
        "blur = ",
        "{ base = 1, offset = 2 }",
        "{ base = 1, offset = -2 }",
        "[0.1, 0.2]",
        "\n",
        "1e308",
        "1e-320",
        "-0.0",
        "nan",
        "-",
    ],
    seeds: &[
        "version = 1\nblend = \"add\"\nwind = 0.2\n[[layer]]\nrate = 40\nlife = [2, 4]\nspeed = 0.3\nsize = [0.01, 0.02]\n\
         swirl = 0.1\ncolours = [\"#fff2c0\", \"red\"]\ncolour-by = \"life\"\nshutter = 0.02\n",
        "[[layer]]\nevery = 0.5\ncount = 9\nplace = \"box\"\ndepth = [1, 2]\nx = [0, 1]\ny = [0.1, 0.2]\nlife = 1\n\
         shape = \"ring\"\nhole = 0.5\nsize = { base = 0.02, offset = 0.01 }\ndrag = 1\ntumble = 2\n[[layer]]\nstream = 1\n",
        "[[layer]]\nplace = \"tunnel\"\nshape = \"polygon\"\ncorners = [[-1, -1], [1, -1], [0, 1]]\nblur = 0.01\n\
         opacity-over = [[0, 0], [0.5, 1], [1, 0]]\n",
    ],
};

fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let effect = match parse(text) {
        Ok(effect) => effect,
        Err(e) => {
            let _ = format!("{e} {e:?}");
            return false;
        }
    };
    let printed = print(&effect);
    let again = parse(&printed);
    assert!(again.as_ref() == Ok(&effect), "{printed} reads back");
    assert_eq!(again.map(|e| print(&e)), Ok(printed), "what it is known by");
    assert_eq!(effect.check(), Ok(()));
    if hash(data).is_multiple_of(8) {
        draw(effect);
    }
    true
}

/// Renders a frame of a small picture, if there are not many particles.
fn draw(effect: Effect) {
    let format = Format::from_name("yuv420p", 33, 18).expect("a known format");
    let filter = match Particles::new(effect).bind(&format, 1, Level::best()) {
        Ok(filter) => filter,
        Err(e) => return drop(e.to_string()),
    };
    if filter.memory().per_frame > 4 << 20 {
        return;
    }
    let (stop, mut scratch) = (AtomicBool::new(false), Scratch::default());
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &stop };
    for number in [0, -1, i64::MAX / 1001] {
        let at = FrameTime::of_frame(number, Ratio::whole(24));
        let Some(now) = filter.at(&at) else { continue };
        let state = filter.prepare(&now, None, &host).expect("nobody stops it");
        let mut frame = Frame::new(format);
        let mut band = Band { rows: 0..18, input: None, output: frame.as_mut(), writes: PlaneSet::ALL };
        filter.render(&now, Some(&state), &mut band, &mut scratch);
    }
}
