//! The effects that have names.

use super::effect::{Effect, Form, Layer, Place, Tint, When};
use crate::particle::Spread;
use crate::particle::draw::Blend;

const fn rgb(hex: u32) -> [f64; 3] {
    [(hex >> 16 & 255) as f64 / 255.0, (hex >> 8 & 255) as f64 / 255.0, (hex & 255) as f64 / 255.0]
}

fn mix(hex: &[u32]) -> Tint {
    Tint::Mix(hex.iter().map(|h| rgb(*h)).collect())
}

fn one(hex: &[u32]) -> Tint {
    Tint::One(hex.iter().map(|h| rgb(*h)).collect())
}

fn ageing(hex: &[u32]) -> Tint {
    Tint::Life(hex.iter().map(|h| rgb(*h)).collect())
}

fn between(low: f32, high: f32) -> Spread {
    Spread::between(low, high)
}

/// Births a second of something that lives for `life` seconds on average, for `count` at a time.
fn alive(count: f64, life: Spread) -> When {
    When::Steady(count / f64::from(life.base))
}

const UP: [f32; 3] = [0.0, -1.0, 0.0];
const TOWARDS: [f32; 3] = [0.0, 0.0, -1.0];

/// The effect of a name; snow for one that is not known.
pub(super) fn preset(name: &str) -> Effect {
    let (layers, blend, wind) = match name {
        "blizzard" => (blizzard(), Blend::Over, 1.5),
        "rain" => (rain(), Blend::Screen, 0.5),
        "dust-motes" => (dust_motes(), Blend::Screen, 0.02),
        "embers" => (embers(), Blend::Add, 0.04),
        "sparks" => (sparks(), Blend::Add, 0.0),
        "fireflies" => (fireflies(), Blend::Add, 0.0),
        "confetti" => (confetti(), Blend::Over, 0.0),
        "bubbles" => (bubbles(), Blend::Screen, 0.0),
        "smoke" => (smoke(), Blend::Over, 0.03),
        "bokeh" => (bokeh(), Blend::Screen, 0.0),
        "starfield" => (starfield(), Blend::Screen, 0.0),
        "leaves" => (leaves(), Blend::Over, 0.12),
        "hyperspace" => (hyperspace(), Blend::Add, 0.0),
        "film-dust" => (film_dust(), Blend::Over, 0.0),
        "film-hairs" => (film_hairs(), Blend::Over, 0.0),
        _ => (snow(), Blend::Over, 0.05),
    };
    Effect { layers, blend, wind, light: Default::default() }
}

fn snow() -> Vec<Layer> {
    let life = between(9.0, 12.0);
    vec![Layer {
        when: alive(8000.0, life),
        place: Place::Volume { near: 0.45, far: 3.6 },
        life,
        speed: between(0.26, 0.48),
        cone: 0.02,
        swirl: 0.1,
        swirl_size: 1.1,
        swirl_rate: 0.09,
        sway: [0.022, 0.006],
        sway_rate: 0.35,
        size: between(0.004, 0.0088),
        opacity: between(0.75, 1.0),
        tint: mix(&[0xe8eef6, 0xffffff]),
        form: Form::Disc(1.0),
        focus: [1.2, 0.0016],
        ..Layer::default()
    }]
}

fn blizzard() -> Vec<Layer> {
    let life = between(7.0, 9.0);
    let flakes = Layer {
        when: alive(34_000.0, life),
        place: Place::Volume { near: 0.4, far: 4.0 },
        life,
        speed: between(0.5, 1.0),
        cone: 0.04,
        swirl: 0.4,
        swirl_size: 1.4,
        swirl_rate: 0.3,
        sway: [0.03, 0.02],
        sway_rate: 0.7,
        size: between(0.0034, 0.0075),
        opacity: between(0.6, 1.0),
        tint: mix(&[0xdfe7f0, 0xffffff]),
        form: Form::Disc(1.0),
        shutter: 1.0 / 50.0,
        thin: 0.45,
        focus: [1.4, 0.0018],
        ..Layer::default()
    };
    let life = between(8.0, 10.0);
    let mist = Layer {
        stream: 1,
        when: alive(220.0, life),
        place: Place::Volume { near: 0.8, far: 3.5 },
        life,
        speed: between(0.05, 0.2),
        swirl: 0.3,
        size: between(0.35, 0.7),
        opacity: between(0.05, 0.12),
        opacity_over: vec![[0.0, 0.0], [0.3, 1.0], [0.7, 1.0], [1.0, 0.0]],
        tint: mix(&[0xd5dde6]),
        ..Layer::default()
    };
    vec![mist, flakes]
}

fn rain() -> Vec<Layer> {
    let life = between(4.0, 6.0);
    let drops = Layer {
        when: alive(9000.0, life),
        place: Place::Volume { near: 0.5, far: 4.5 },
        life,
        speed: between(6.0, 8.0),
        cone: 0.004,
        size: between(0.0014, 0.0024),
        opacity: between(0.25, 0.55),
        opacity_over: vec![[0.0, 1.0]],
        tint: mix(&[0xb9c6d6, 0xe6eef8]),
        shutter: 1.0 / 44.0,
        thin: 0.0,
        focus: [1.6, 0.0012],
        ..Layer::default()
    };
    let life = between(0.22, 0.34);
    let rings = Layer {
        stream: 1,
        when: alive(44.0, life),
        place: Place::Box { x: [-0.1, 1.1], y: [0.9, 1.02], z: [1.0, 1.0] },
        wind: 0.0,
        life,
        size: Spread::fixed(0.002),
        growth: between(0.05, 0.09),
        squash: 0.28,
        opacity: between(0.3, 0.6),
        opacity_over: vec![[0.0, 1.0], [1.0, 0.0]],
        tint: mix(&[0xc6d2e0]),
        form: Form::Ring(0.72, 1.0),
        ..Layer::default()
    };
    let life = between(0.16, 0.3);
    let splash = Layer {
        stream: 2,
        when: alive(90.0, life),
        place: Place::Box { x: [-0.1, 1.1], y: [0.9, 1.02], z: [1.0, 1.0] },
        wind: 0.0,
        direction: UP,
        cone: 0.14,
        life,
        speed: between(0.18, 0.4),
        pull: [0.0, 2.6, 0.0],
        size: between(0.0012, 0.0024),
        opacity: between(0.3, 0.7),
        opacity_over: vec![[0.0, 1.0], [1.0, 0.0]],
        tint: mix(&[0xd4dfeb]),
        shutter: 1.0 / 60.0,
        thin: 0.3,
        ..Layer::default()
    };
    vec![drops, rings, splash]
}

fn dust_motes() -> Vec<Layer> {
    let life = between(7.0, 11.0);
    vec![Layer {
        when: alive(2400.0, life),
        place: Place::Volume { near: 0.35, far: 2.4 },
        life,
        speed: between(0.0, 0.02),
        cone: 0.5,
        swirl: 0.16,
        swirl_size: 0.8,
        swirl_rate: 0.05,
        sway: [0.01, 0.008],
        sway_rate: 0.1,
        size: between(0.0025, 0.006),
        opacity: between(0.5, 1.0),
        opacity_over: vec![[0.0, 0.0], [0.25, 1.0], [0.75, 1.0], [1.0, 0.0]],
        twinkle: 0.6,
        twinkle_rate: 0.22,
        tint: mix(&[0xffe6b8, 0xfff6e6]),
        focus: [0.9, 0.0035],
        ..Layer::default()
    }]
}

/// The same particles larger, softer and fainter.
fn glow(of: &Layer, larger: f32, part: f32) -> Layer {
    let by = |s: Spread, f: f32| Spread { base: s.base * f, offset: s.offset * f };
    Layer {
        size: by(of.size, larger),
        growth: by(of.growth, larger),
        opacity: by(of.opacity, part),
        form: Form::Disc(1.0),
        tumble: 0.0,
        squash: 1.0,
        ..of.clone()
    }
}

fn embers() -> Vec<Layer> {
    let life = between(2.5, 6.0);
    let ember = Layer {
        when: alive(260.0, life),
        place: Place::Box { x: [-0.15, 1.15], y: [1.03, 1.15], z: [0.7, 1.9] },
        direction: UP,
        cone: 0.05,
        life,
        speed: between(0.16, 0.46),
        pull: [0.0, -0.03, 0.0],
        swirl: 0.16,
        swirl_size: 0.55,
        swirl_rate: 0.22,
        swirl_age: 1.0,
        sway: [0.02, 0.01],
        sway_rate: 0.6,
        size: between(0.0024, 0.0072),
        size_over: vec![[0.0, 1.0], [0.6, 0.85], [1.0, 0.35]],
        opacity: between(0.7, 1.0),
        opacity_over: vec![[0.0, 1.0], [0.7, 0.85], [1.0, 0.0]],
        twinkle: 0.55,
        twinkle_rate: 2.3,
        tint: life_of_fire(),
        form: Form::Disc(1.0),
        shutter: 1.0 / 60.0,
        thin: 0.5,
        ..Layer::default()
    };
    let mut around = glow(&ember, 6.0, 0.3);
    around.shutter = 0.0;
    around.tint = ageing(&[0xff9a30, 0xff5a10, 0xa01800]);
    vec![around, ember]
}

fn life_of_fire() -> Tint {
    ageing(&[0xfff2c0, 0xffc050, 0xff8020, 0xe03a08, 0x801000])
}

fn sparks() -> Vec<Layer> {
    let life = between(0.45, 1.5);
    let spark = Layer {
        when: When::Pulses { every: 0.09, count: 40.0 },
        place: Place::Box { x: [0.498, 0.502], y: [0.72, 0.722], z: [1.0, 1.0] },
        direction: [0.15, -1.0, -0.1],
        cone: 0.12,
        life,
        speed: between(0.5, 2.3),
        pull: [0.0, 1.5, 0.0],
        drag: 1.1,
        size: between(0.0014, 0.0026),
        size_over: vec![[0.0, 1.0], [1.0, 0.5]],
        opacity: between(0.75, 1.0),
        opacity_over: vec![[0.0, 1.0], [0.6, 0.9], [1.0, 0.0]],
        tint: life_of_fire(),
        form: Form::Disc(0.5),
        shutter: 1.0 / 34.0,
        thin: 0.15,
        ..Layer::default()
    };
    let mut around = glow(&spark, 5.0, 0.1);
    around.thin = 0.6;
    vec![around, spark]
}

fn fireflies() -> Vec<Layer> {
    let life = between(7.0, 11.0);
    let fly = Layer {
        when: alive(64.0, life),
        place: Place::Box { x: [-0.2, 1.2], y: [0.1, 1.1], z: [0.8, 1.9] },
        cone: 0.5,
        life,
        speed: between(0.0, 0.03),
        swirl: 0.16,
        swirl_size: 0.6,
        swirl_rate: 0.09,
        sway: [0.05, 0.03],
        sway_rate: 0.17,
        size: between(0.006, 0.01),
        opacity: between(0.8, 1.0),
        opacity_over: vec![[0.0, 0.0], [0.2, 1.0], [0.8, 1.0], [1.0, 0.0]],
        twinkle: 1.0,
        twinkle_rate: 0.42,
        tint: mix(&[0xf4ffa8, 0xfff7b0]),
        form: Form::Disc(1.0),
        ..Layer::default()
    };
    let mut around = glow(&fly, 5.5, 0.4);
    around.tint = mix(&[0xa8d820, 0xd8c820]);
    vec![around, fly]
}

fn confetti() -> Vec<Layer> {
    let life = between(8.0, 10.0);
    vec![Layer {
        when: alive(620.0, life),
        place: Place::Volume { near: 0.6, far: 2.3 },
        life,
        speed: between(0.22, 0.42),
        cone: 0.03,
        swirl: 0.1,
        swirl_size: 0.9,
        swirl_rate: 0.12,
        sway: [0.04, 0.012],
        sway_rate: 0.4,
        size: between(0.011, 0.017),
        squash: 0.62,
        angle: between(0.0, 1.0),
        spin: between(-0.5, 0.5),
        tumble: 0.9,
        tint: one(&[0xf2385a, 0xf5a503, 0xf7d913, 0x3ec46d, 0x2d9cdb, 0x9b51e0, 0xffffff]),
        form: Form::Polygon(vec![[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]], 0.0),
        focus: [1.1, 0.0012],
        ..Layer::default()
    }]
}

fn bubbles() -> Vec<Layer> {
    let life = between(9.0, 13.0);
    let skin = Layer {
        when: alive(56.0, life),
        place: Place::Box { x: [-0.1, 1.1], y: [1.15, 1.3], z: [0.7, 2.0] },
        direction: UP,
        cone: 0.02,
        life,
        speed: between(0.09, 0.2),
        swirl: 0.1,
        swirl_size: 0.9,
        swirl_rate: 0.08,
        sway: [0.025, 0.01],
        sway_rate: 0.25,
        size: between(0.012, 0.05),
        opacity: between(0.4, 0.75),
        opacity_over: vec![[0.0, 1.0], [0.97, 1.0], [1.0, 0.0]],
        tint: mix(&[0xa8d8ff, 0xd8f4ff, 0xe8d8ff]),
        form: Form::Ring(0.86, 1.0),
        ..Layer::default()
    };
    let body = Layer { form: Form::Disc(0.25), ..glow(&skin, 0.97, 0.14) };
    let body = Layer { form: Form::Disc(0.25), ..body };
    let light = Layer {
        aside: [-0.42, -0.45],
        tint: mix(&[0xffffff]),
        angle: Spread::fixed(-0.12),
        squash: 0.55,
        ..glow(&skin, 0.24, 1.3)
    };
    let low = Layer { aside: [1.9, 2.1], ..glow(&light, 0.8, 0.4) };
    let light = Layer { aside: [-1.9, -2.0], opacity: between(0.7, 1.0), ..light };
    vec![body, skin, low, light]
}

fn smoke() -> Vec<Layer> {
    let life = between(4.0, 6.5);
    vec![Layer {
        when: When::Steady(60.0),
        place: Place::Box { x: [0.49, 0.51], y: [1.03, 1.05], z: [1.0, 1.05] },
        direction: UP,
        cone: 0.025,
        life,
        speed: between(0.15, 0.24),
        swirl: 0.18,
        swirl_size: 0.8,
        swirl_rate: 0.13,
        swirl_age: 3.0,
        size: between(0.018, 0.032),
        growth: between(0.018, 0.036),
        opacity: between(0.12, 0.26),
        opacity_over: vec![[0.0, 0.0], [0.08, 1.0], [0.4, 0.55], [1.0, 0.0]],
        tint: mix(&[0x9a9a9c, 0xd2d2d2]),
        form: Form::Disc(1.0),
        ..Layer::default()
    }]
}

fn bokeh() -> Vec<Layer> {
    let life = between(7.0, 12.0);
    let disc = Layer {
        when: alive(110.0, life),
        place: Place::Volume { near: 0.8, far: 1.7 },
        cone: 0.5,
        life,
        speed: between(0.005, 0.03),
        swirl: 0.07,
        swirl_size: 1.2,
        swirl_rate: 0.04,
        size: between(0.03, 0.085),
        opacity: between(0.16, 0.42),
        opacity_over: vec![[0.0, 0.0], [0.3, 1.0], [0.7, 1.0], [1.0, 0.0]],
        twinkle: 0.4,
        twinkle_rate: 0.16,
        tint: mix(&[0xffb35c, 0xffd9a0, 0xff8a5c, 0xffe9c8]),
        form: Form::Disc(0.1),
        ..Layer::default()
    };
    let rim = Layer { form: Form::Ring(0.9, 1.0), ..disc.clone() };
    vec![disc, rim]
}

fn starfield() -> Vec<Layer> {
    let life = between(18.0, 26.0);
    vec![Layer {
        when: alive(7000.0, life),
        place: Place::Tunnel { near: 0.35, far: 4.0 },
        direction: TOWARDS,
        life,
        speed: Spread::fixed(0.11),
        wind: 0.0,
        size: between(0.002, 0.0054),
        opacity: between(0.6, 1.0),
        twinkle: 0.3,
        twinkle_rate: 0.7,
        tint: mix(&[0xa9c4ff, 0xffffff, 0xffffff, 0xffe2b8]),
        form: Form::Disc(0.9),
        ..Layer::default()
    }]
}

fn hyperspace() -> Vec<Layer> {
    let life = between(9.0, 12.0);
    vec![Layer {
        when: alive(3400.0, life),
        place: Place::Tunnel { near: 0.1, far: 6.0 },
        direction: TOWARDS,
        life,
        speed: Spread::fixed(3.4),
        wind: 0.0,
        size: between(0.0015, 0.0042),
        opacity: between(0.6, 1.0),
        tint: mix(&[0x7fb0ff, 0xd8e8ff, 0xffffff]),
        form: Form::Disc(0.9),
        shutter: 0.07,
        thin: 0.1,
        ..Layer::default()
    }]
}

fn leaves() -> Vec<Layer> {
    let life = between(9.0, 12.0);
    let leaf = vec![
        [-1.0, 0.0],
        [-0.62, -0.34],
        [-0.1, -0.5],
        [0.45, -0.36],
        [1.0, 0.0],
        [0.45, 0.36],
        [-0.1, 0.5],
        [-0.62, 0.34],
    ];
    vec![Layer {
        when: alive(190.0, life),
        place: Place::Volume { near: 0.6, far: 2.2 },
        life,
        speed: between(0.13, 0.24),
        cone: 0.04,
        swirl: 0.14,
        swirl_size: 0.9,
        swirl_rate: 0.1,
        sway: [0.09, 0.025],
        sway_rate: 0.3,
        size: between(0.028, 0.05),
        angle: between(0.0, 1.0),
        spin: between(-0.22, 0.22),
        tumble: 0.35,
        tint: one(&[0xb5451b, 0xd9772a, 0xe2a43a, 0x8f5a24, 0xc23b22, 0xa8872e]),
        form: Form::Polygon(leaf, 0.12),
        focus: [1.1, 0.002],
        ..Layer::default()
    }]
}

/// On the film itself, so that each is there for one frame of 24 a second: dirt, dark; where it lay as a print was
/// made, light.
fn film_dust() -> Vec<Layer> {
    let torn = |i: usize| -> Vec<[f32; 2]> {
        let all: [[[f32; 2]; 7]; 3] = [
            [[-0.9, -0.2], [-0.3, -0.8], [0.5, -0.6], [1.0, 0.1], [0.6, 0.5], [-0.1, 0.7], [-0.7, 0.4]],
            [[-1.0, 0.1], [-0.5, -0.4], [0.2, -0.5], [0.8, -0.3], [0.9, 0.2], [0.3, 0.45], [-0.5, 0.4]],
            [[-0.6, -0.5], [0.1, -0.9], [0.6, -0.5], [0.7, 0.3], [0.2, 0.9], [-0.4, 0.7], [-0.8, 0.1]],
        ];
        all[i % 3].to_vec()
    };
    let life = Spread::fixed(1.0 / 24.0);
    let everywhere = Place::Box { x: [0.0, 1.0], y: [0.0, 1.0], z: [1.0, 1.0] };
    let layer = |stream: usize, rate: f64, size: Spread, form: Form, dark: bool| Layer {
        stream: stream as u64,
        when: When::Steady(rate),
        place: everywhere,
        life,
        wind: 0.0,
        size,
        angle: between(0.0, 1.0),
        opacity: between(0.35, 0.95),
        opacity_over: vec![[0.0, 1.0]],
        tint: if dark { mix(&[0x060504, 0x1c1612]) } else { mix(&[0xe8e4da, 0xffffff]) },
        form,
        ..Layer::default()
    };
    let mut all: Vec<Layer> = (0..3)
        .map(|i| {
            let form = Form::Polygon(torn(i), 0.35);
            Layer { squash: [1.0, 0.6, 0.8][i], ..layer(i, 130.0, between(0.0012, 0.006), form, true) }
        })
        .collect();
    all.push(layer(3, 150.0, between(0.001, 0.0042), Form::Polygon(torn(1), 0.4), false));
    // A few large ones, soft as they are not quite in the plane of the film.
    all.push(layer(4, 14.0, between(0.006, 0.013), Form::Polygon(torn(2), 0.7), true));
    let lint = |stream, bend| Layer {
        opacity: between(0.5, 0.95),
        ..layer(stream, 14.0, between(0.014, 0.036), Form::Hair(bend, 0.03), true)
    };
    all.extend([lint(5, 0.25), lint(6, 0.6)]);
    all
}

/// In the gate, not on the film: they stay for a while, most of them at its edges, and quiver.
fn film_hairs() -> Vec<Layer> {
    let hair = |stream: u64, y: [f32; 2], bend: f32, size: Spread| {
        let life = between(0.8, 5.0);
        Layer {
            stream,
            when: alive(1.2, life),
            place: Place::Box { x: [0.02, 0.98], y, z: [1.0, 1.0] },
            life,
            wind: 0.0,
            sway: [0.0007, 0.001],
            sway_rate: 7.0,
            size,
            angle: between(0.0, 1.0),
            spin: between(-0.002, 0.002),
            opacity: between(0.75, 0.95),
            opacity_over: vec![[0.0, 1.0]],
            tint: one(&[0x0b0907]),
            form: Form::Hair(bend, 0.0115),
            ..Layer::default()
        }
    };
    vec![
        hair(0, [0.93, 1.03], 0.35, between(0.07, 0.16)),
        hair(1, [-0.03, 0.06], -0.5, between(0.06, 0.13)),
        hair(2, [0.05, 0.95], 0.75, between(0.04, 0.1)),
    ]
}
