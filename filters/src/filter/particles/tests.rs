//! The filter as the chain uses it.

use super::*;
use crate::filter::State;
use crate::filter::testing::ThreadsBackwards;
use crate::frame::{Alpha, Frame};
use crate::host::{CurrentThread, Executor, NoCache};
use crate::settings::{ChoiceEnum, Value, Values};
use core::sync::atomic::AtomicBool;

mod motion;
mod reference;

static GO: AtomicBool = AtomicBool::new(false);

/// The names of all presets.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    Preset::CHOICES.iter().map(|p| p.id)
}

fn spec(given: &[(&str, &str)]) -> Result<Box<dyn Spec>, SettingError> {
    let given: Vec<String> = given.iter().map(|(id, text)| format!("{id}={text}")).collect();
    (ENTRY.build)(&Values::parse(ENTRY.settings, &given.join(":"))?)
}

fn bind(name: &str, format: &Format, level: Level) -> Box<dyn Filter> {
    spec(&[("preset", name)]).unwrap().bind(format, 42, level).unwrap()
}

fn at(n: i64) -> FrameTime {
    FrameTime::of_frame(n, Ratio::whole(24))
}

fn prepare(filter: &dyn Filter, n: i64, near: Option<State>, executor: &dyn Executor) -> State {
    let host = Host { executor, cache: &NoCache, stop: &GO };
    filter.prepare(&filter.at(&at(n)).unwrap(), near, &host).unwrap()
}

/// Draws frame `n` from a state, in bands cut at these rows, the last first.
fn drawn(format: &Format, filter: &dyn Filter, n: i64, state: &State, cuts: &[usize]) -> Frame {
    let (black, mut frame) = (Frame::new(*format), Frame::new(*format));
    let now = filter.at(&at(n)).unwrap();
    let input = (now.plan.reach == Reach::Whole).then(|| black.as_ref());
    let writes = now.plan.writes;
    let mut scratch = Scratch::default();
    let mut bands = Vec::new();
    let mut rest = frame.as_mut();
    for cut in cuts {
        let (band, after) = rest.split_at_row(*cut);
        bands.push(band);
        rest = after;
    }
    bands.push(rest);
    for output in bands.into_iter().rev() {
        let rows = output.plane(0).rows();
        let mut band = Band { rows, input, output, writes };
        filter.render(&now, Some(state), &mut band, &mut scratch);
    }
    frame
}

fn frame(format: &Format, filter: &dyn Filter, n: i64) -> Frame {
    drawn(format, filter, n, &prepare(filter, n, None, &CurrentThread), &[])
}

/// Of alpha, where there is any.
fn mean(frame: &Frame) -> f64 {
    mean_of(frame, |v| v)
}

fn mean_of(frame: &Frame, value: fn(f64) -> f64) -> f64 {
    let (w, h) = frame.format().plane_size(0);
    let plane = frame.format().alpha_plane().unwrap_or(0);
    let rows = (0..h).flat_map(|y| frame.row::<f32>(plane, y).iter());
    rows.map(|v| value(f64::from(*v))).sum::<f64>() / (w * h) as f64
}

#[test]
fn a_frame_does_not_depend_on_how_it_was_reached() {
    let format = Format::from_name("yuva420p", 160, 90).unwrap();
    let numbers = [0, 1, 40, 39, -5, 10_000_000];
    for name in names() {
        let filter = bind(name, &format, Level::best());
        let want: Vec<Frame> = numbers.iter().map(|n| frame(&format, &*filter, *n)).collect();
        let mut state = None;
        for (n, want) in numbers.iter().zip(&want) {
            let threads = ThreadsBackwards(1 + n.rem_euclid(16) as usize);
            let now = prepare(&*filter, *n, state, &threads);
            assert!(drawn(&format, &*filter, *n, &now, &[2, 34, 64]) == *want, "{name} {n}");
            state = Some(now);
        }
        for &level in Level::available() {
            let other = bind(name, &format, level);
            assert!(frame(&format, &*other, 40) == want[2], "{name} {level}");
        }
        assert!(want[0] != want[1], "{name} does not move");
    }
}

#[test]
fn it_has_always_been_running_and_never_ends() {
    let format = Format::from_name("gbrapf32", 320, 180).unwrap();
    for name in names() {
        let filter = bind(name, &format, Level::best());
        let mean = |n: i64| (0..4).map(|i| mean(&frame(&format, &*filter, n + 37 * i))).sum::<f64>() / 4.0;
        let (first, late) = (mean(0), mean(10_000_000));
        assert!(first > 1e-4, "{name}: {first}");
        // There are few hairs.
        let most = if name == "film-hairs" { 6.0 } else { 2.0 };
        assert!((1.0 / most..most).contains(&(late / first)), "{name}: {first} {late}");
    }
}

#[test]
fn a_look_does_not_depend_on_the_size() {
    // What emits keeps its light, which is added in linear light; what covers keeps its displayed values.
    type Of = fn(f64) -> f64;
    let (shown, light): (Of, Of) = (|v| v, |v| v.max(0.0).powf(2.4));
    for (name, value) in
        [("snow", shown), ("confetti", shown), ("rain", shown), ("embers", light), ("bokeh", light)]
    {
        let of = |w, h| {
            let format = Format::from_name("grayf32", w, h).unwrap();
            mean_of(&frame(&format, &*bind(name, &format, Level::best()), 10), value)
        };
        let (small, large) = (of(480, 270), of(960, 540));
        assert!((0.9..1.1).contains(&(small / large)), "{name}: {small} {large}");
    }
}

#[test]
fn straight_and_premultiplied_plates_agree() {
    for name in ["snow", "embers", "bubbles"] {
        let of = |alpha| {
            let format = Format { alpha, ..Format::from_name("gbrapf32", 160, 90).unwrap() };
            frame(&format, &*bind(name, &format, Level::best()), 10)
        };
        let (straight, multiplied) = (of(Alpha::Straight), of(Alpha::Premultiplied));
        let mut seen = 0;
        for y in 0..90 {
            let rows = |f: &Frame| [0, 1, 2, 3].map(|p| f.row::<f32>(p, y).to_vec());
            let (s, m) = (rows(&straight), rows(&multiplied));
            for x in 0..160 {
                assert!((s[3][x] - m[3][x]).abs() < 1e-5);
                for p in 0..3 {
                    assert!((s[p][x] * s[3][x] - m[p][x]).abs() < 1e-4, "{name} {x},{y}");
                }
                seen += usize::from(m[3][x] > 0.0);
            }
        }
        assert!(seen > 100, "{name}: {seen}");
    }
}

#[test]
fn twice_the_speed_is_twice_the_time() {
    let format = Format::from_name("gray16", 160, 90).unwrap();
    let of = |text: &str| {
        spec(&[("preset", "snow"), ("wind", "0.3"), ("speed", text)])
            .unwrap()
            .bind(&format, 1, Level::best())
            .unwrap()
    };
    assert!(frame(&format, &*of("2"), 30) == frame(&format, &*of("1"), 60));
    assert!(frame(&format, &*of("0"), 30) == frame(&format, &*of("1"), 0));
}

#[test]
fn curves_of_wind_and_speed_are_integrated() {
    let format = Format { rate: Ratio::whole(24), ..Format::from_name("gray", 64, 36).unwrap() };
    let of = |id: &'static str, text: &str| {
        let setting = ENTRY.settings.iter().find(|s| s.id == id).unwrap();
        let Value::Number(n) = setting.parse(text).unwrap() else { unreachable!("a number") };
        let mut spec = Particles::preset(Preset::Snow);
        if id == "wind" {
            spec.set.wind = Some(n)
        } else {
            spec.set.speed = n
        }
        spec.bound(&format, 1, Level::SCALAR).unwrap()
    };
    // From 0 to 1 over the first second, then 1: who was born a second before time 0 has come 1.5 at 2 seconds.
    let now = of("wind", "0=0;24=1").now(&at(48));
    assert!((now.wind_offset.unwrap()(3.0) - 1.5).abs() < 1e-3);
    let now = of("speed", "0=0;24=1").now(&at(48));
    assert_eq!(now.flick, FLICKS * 3 / 2);
}

#[test]
fn invalid_settings_are_refused_before_the_first_frame() {
    let format = Format::from_name("gray", 64, 36).unwrap();
    let many = spec(&[("preset", "blizzard"), ("amount", "1000")]).unwrap().bind(&format, 1, Level::SCALAR);
    assert!(many.err().unwrap().to_string().contains("at most 4000000"));
    let both = spec(&[("wind", "0=0;9=1"), ("speed", "0=0;9=1")]);
    assert!(both.err().unwrap().problem.contains("speed"));
    let mut endless = presets::preset(Preset::Snow);
    endless.layers[0].when = Emission::Steady(1e12);
    assert!(Particles::new(endless).bind(&format, 1, Level::SCALAR).is_err());
    assert!(Preset::VALUES.iter().all(|p| presets::preset(*p).check().is_ok()));
}

#[test]
fn memory_is_a_bound() {
    let format = Format::from_name("gray", 320, 180).unwrap();
    for name in ["snow", "sparks", "rain"] {
        let filter =
            Particles::preset(Preset::from_id(name).unwrap()).bound(&format, 1, Level::SCALAR).unwrap();
        let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &GO };
        let kept = filter.prepare(&filter.now(&at(100)), FrameCache::default(), &host).unwrap();
        let pools: usize = kept.pools.iter().map(Pool::bytes).sum();
        assert_eq!(pools, filter.pools);
        assert!(filter.memory().per_frame > pools);
    }
}

#[test]
fn fewer_are_some_of_the_same() {
    let format = Format::from_name("grayf32", 320, 180).unwrap();
    let of = |given: &[(&str, &str)]| {
        mean(&frame(&format, &*spec(given).unwrap().bind(&format, 1, Level::best()).unwrap(), 9))
    };
    let whole = of(&[("amount", "1")]);
    let half = of(&[("amount", "0=0.5;9=0.5;20=1")]);
    let draft = of(&[("draft", "1")]);
    assert!((0.3..0.7).contains(&(half / whole)), "{whole} {half}");
    assert!((0.15..0.35).contains(&(draft / whole)), "{whole} {draft}");
}

/// A rocket a second that rises from the middle and bursts 0.2 above it.
fn rocket(trail: f32) -> Effect {
    let rocket = Layer {
        name: "rocket".into(),
        when: Emission::Pulses { every: 1.0, count: 1.0 },
        place: SpawnArea::Box { x: [0.5; 2], y: [0.5; 2], z: [1.0; 2] },
        direction: [0.0, -1.0, 0.0],
        life: crate::particle::Spread::fixed(0.5),
        speed: crate::particle::Spread::fixed(0.4),
        size: crate::particle::Spread::fixed(0.01),
        opacity_over: vec![[0.0, 1.0]],
        trail,
        ..Layer::default()
    };
    let spark = Layer {
        stream: 1,
        name: String::new(),
        born_of: "rocket".into(),
        children: 70,
        cone: 0.5,
        life: crate::particle::Spread::fixed(0.4),
        speed: crate::particle::Spread::fixed(0.25),
        trail: 0.0,
        ..rocket.clone()
    };
    Effect {
        layers: vec![rocket, spark],
        blend: crate::particle::draw::Blend::Over,
        wind: 0.0,
        ..Default::default()
    }
}

/// Places of samples that are lit, from the middle of the frame and in its heights.
fn with_space(frame: &Frame) -> Vec<[f64; 2]> {
    let (w, h) = frame.format().plane_size(0);
    let at = |x: usize, y: usize| [x, y].map(|v| v as f64 + 0.5);
    let all = (0..h).flat_map(|y| (0..w).map(move |x| (x, y)));
    all.filter(|&(x, y)| frame.row::<f32>(0, y)[x] > 0.2)
        .map(|(x, y)| at(x, y))
        .map(|[x, y]| [(x - 0.5 * w as f64) / h as f64, y / h as f64 - 0.5])
        .collect()
}

#[test]
fn children_are_born_where_parents_die() {
    let format = Format::from_name("grayf32", 320, 180).unwrap();
    let filter = Particles::new(rocket(0.0)).bind(&format, 1, Level::best()).unwrap();
    let at = |n: i64| with_space(&frame(&format, &*filter, n));
    // Before it bursts there is the rocket alone; a sixteenth of a second after, a ring of sparks; then nothing.
    let up = at(6);
    assert!(!up.is_empty() && up.iter().all(|[x, y]| x.abs() < 0.02 && (y + 0.1).abs() < 0.02), "{up:?}");
    let sparks = at(18);
    let far = |[x, y]: [f64; 2]| (x * x + (y + 0.2) * (y + 0.2)).sqrt();
    let most = sparks.iter().map(|p| far(*p)).fold(0.0, f64::max);
    assert!(sparks.len() > 150 && (0.055..0.08).contains(&most), "{} {most}", sparks.len());
    assert!(at(22).is_empty());
    // Every second anew, with other ways.
    assert_eq!(at(24 + 6).len(), up.len());
    assert!(at(24 + 18) != sparks);
}

#[test]
fn trails_show_the_way() {
    let format = Format::from_name("grayf32", 320, 180).unwrap();
    let of = |trail: f32| {
        let filter = Particles::new(rocket(trail)).bind(&format, 1, Level::best()).unwrap();
        let all = with_space(&frame(&format, &*filter, 9));
        all.iter().map(|p| p[1]).fold((1.0f64, -1.0f64), |(low, high), y| (low.min(y), high.max(y)))
    };
    let ((top, bottom), (head, end)) = (of(0.0), of(0.2));
    assert!((top + 0.15).abs() < 0.012 && (bottom + 0.15).abs() < 0.012, "{top} {bottom}");
    // Above is the rocket; below, the trail ends about 0.2 s before, where it is too faint to count.
    assert!((head - top).abs() < 0.01 && (-0.11..-0.06).contains(&end), "{head} {end}");
}

#[test]
fn children_and_trails_do_not_depend_on_how_they_were_reached() {
    let format = Format { rate: Ratio::whole(24), ..Format::from_name("yuv420p", 160, 90).unwrap() };
    let mut effect = rocket(0.2);
    for layer in &mut effect.layers {
        (layer.when, layer.trail, layer.drag) = (Emission::Steady(9.0), 0.2, 0.6);
        (layer.swirl, layer.sway, layer.swirl_size) = (0.1, [0.02, 0.01], 0.4);
        layer.life = crate::particle::Spread::between(0.2, 0.8);
    }
    let mut spec = Particles::new(effect);
    let Value::Number(wind) =
        ENTRY.settings.iter().find(|s| s.id == "wind").unwrap().parse("0=0;48=1").unwrap()
    else {
        unreachable!("a number")
    };
    spec.set.wind = Some(wind);
    let filter = spec.bind(&format, 7, Level::best()).unwrap();
    let numbers = [0, 1, 40, 39, -5, 10_000_000];
    let want: Vec<Frame> = numbers.iter().map(|n| frame(&format, &*filter, *n)).collect();
    let mut state = None;
    for (n, want) in numbers.iter().zip(&want) {
        let now = prepare(&*filter, *n, state, &ThreadsBackwards(3));
        assert!(drawn(&format, &*filter, *n, &now, &[34, 64]) == *want, "{n}");
        state = Some(now);
    }
    for &level in Level::available() {
        assert!(frame(&format, &*spec.bind(&format, 7, level).unwrap(), 40) == want[2], "{level}");
    }
    assert!(want[0] != want[1]);
    // Every streak and every child has room.
    let bound = spec.bound(&format, 7, Level::SCALAR).unwrap();
    assert!(bound.alive > 9 * 8 + 9 * 70 * 8, "{}", bound.alive);
}

#[test]
fn parents_must_be_there() {
    let mut effect = rocket(0.0);
    effect.layers[1].born_of = "rockets".into();
    assert!(effect.check().unwrap_err().to_string().contains("layer 2: born-of"));
    effect.layers[1].born_of = "rocket".into();
    effect.layers[1].children = 10_000;
    effect.layers[0].when = Emission::Steady(10_000.0);
    let format = Format::from_name("gray", 64, 36).unwrap();
    let many = Particles::new(effect).bind(&format, 1, Level::SCALAR).err().unwrap();
    assert!(many.to_string().contains("at most"), "{many}");
}

#[test]
fn emitters_are_where_they_say() {
    let format = Format::from_name("grayf32", 320, 180).unwrap();
    let place = SpawnArea::Disc { centre: [0.9, 0.9], radius: 0.05, z: [1.0; 2] };
    let layer = Layer { place, size: crate::particle::Spread::fixed(0.01), ..Layer::default() };
    let effect = Effect {
        layers: vec![layer],
        blend: crate::particle::draw::Blend::Over,
        wind: 0.0,
        ..Default::default()
    };
    let all =
        with_space(&frame(&format, &*Particles::new(effect).bind(&format, 1, Level::best()).unwrap(), 5));
    let middle = [0.4 * 320.0 / 180.0, 0.4];
    let near = |p: &[f64; 2]| (p[0] - middle[0]).abs() < 0.07 && (p[1] - middle[1]).abs() < 0.07;
    assert!(all.len() > 50 && all.iter().all(near), "{}", all.len());
}

#[test]
fn samples_of_another_shape_change_places_across_alone() {
    let square = Format::from_name("gray", 1024, 576).unwrap();
    let aspect = Ratio::new(64, 45).unwrap();
    let narrow = Format { aspect, ..Format::from_name("gray", 720, 576).unwrap() };
    for name in ["snow", "rain", "embers", "hyperspace"] {
        let at = FrameTime::of_frame(50, Ratio::whole(25));
        let of = |format: &Format| {
            Particles::preset(Preset::from_id(name).unwrap()).splats(format, 3, Level::best(), &at).unwrap()
        };
        let (a, b) = (of(&square), of(&narrow));
        assert!(a.len() == b.len() && a.len() > 20, "{name}: {} {}", a.len(), b.len());
        for (a, b) in a.iter().zip(&b) {
            let want = f64::from(a.x) * 45.0 / 64.0;
            assert!((f64::from(b.x) - want).abs() <= 1.0 + want.abs() * 1e-6, "{name}: {a:?} {b:?}");
            assert_eq!(
                (a.y, a.half, a.angle, a.opacity, a.rank),
                (b.y, b.half, b.angle, b.opacity, b.rank),
                "{name}"
            );
        }
    }
}

/// White discs over a picture that is dark at the left and bright at the right: as bright as the light there, whatever the
/// bands, and over pictures with alpha as bright as ever.
#[test]
fn the_picture_lights_particles() {
    let of = |name: &str, lit: &str| {
        let format = Format::from_name(name, 640, 360).unwrap();
        let mut source = Frame::new(format);
        for y in 0..360 {
            (0..format.planes()).for_each(|p| source.row_mut::<u8>(p, y).fill(255));
            (0..3).for_each(|p| source.row_mut::<u8>(p, y)[..320].fill(20));
        }
        let filter = spec(&[("lit", lit), ("size", "4")]).unwrap().bind(&format, 1, Level::best()).unwrap();
        (
            crate::filter::testing::run(&*filter, &source, 5, &[]),
            crate::filter::testing::run(&*filter, &source, 5, &[7, 40, 41]),
        )
    };
    let brightest = |frame: &Frame, x: core::ops::Range<usize>| {
        (0..360).flat_map(|y| frame.row::<u8>(1, y)[x.clone()].to_vec()).max().unwrap()
    };
    let darkest = |frame: &Frame| (0..360).flat_map(|y| frame.row::<u8>(1, y)[400..].to_vec()).min().unwrap();
    let (own, (lit, banded)) = (of("gbrp", "0").0, of("gbrp", "1"));
    assert!(lit == banded);
    // The middle of the left half is lit by its own light and that of the bright half.
    assert!(
        brightest(&own, 0..200) > 240 && darkest(&own) > 215,
        "{} {}",
        brightest(&own, 0..200),
        darkest(&own)
    );
    let left = brightest(&lit, 0..200);
    assert!((200..235).contains(&left) && (200..235).contains(&darkest(&lit)), "{left} {}", darkest(&lit));
    assert!(of("gbrap", "0") == of("gbrap", "1"));
}
