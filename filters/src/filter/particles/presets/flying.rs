//! Paper and soap in the air.

use super::*;

pub(super) fn confetti() -> Vec<Layer> {
    const PAPER: [u32; 7] = [0xf2385a, 0xffb424, 0xffe250, 0x3ec46d, 0x2d9cdb, 0x9b51e0, 0xffffff];
    let square = vec![[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let far = Layer {
        when: Emission::Steady(85.0),
        place: SpawnArea::Volume { z: [1.3, 3.6] },
        life: between(8.0, 10.0),
        speed: between(0.22, 0.42),
        cone: 0.03,
        swirl: 0.12,
        swirl_size: 0.9,
        swirl_rate: 0.12,
        sway: [0.04, 0.012],
        sway_rate: 0.4,
        size: between(0.009, 0.017),
        squash: 0.6,
        angle: between(0.0, 1.0),
        spin: between(-0.6, 0.6),
        tumble: 0.9,
        opacity_over: gently(0.012),
        tint: one(&PAPER),
        form: Appearance::Polygon(square.clone(), 0.0),
        focus: [1.2, 0.0008],
        ..Layer::default()
    };
    let round = Layer {
        stream: 1,
        when: Emission::Steady(22.0),
        place: SpawnArea::Volume { z: [0.7, 2.4] },
        speed: between(0.2, 0.38),
        cone: 0.04,
        sway: [0.05, 0.014],
        sway_rate: 0.45,
        size: between(0.007, 0.013),
        squash: 1.0,
        spin: between(-0.4, 0.4),
        tumble: 1.1,
        tint: one(&[0xffe250, 0xff6b9a, 0x35c9c1, 0xf2385a, 0xffffff, 0xff9d2e]),
        form: Appearance::Disc(0.06),
        focus: [1.2, 0.0016],
        ..far.clone()
    };
    let sharp = Layer {
        stream: 2,
        when: Emission::Steady(28.0),
        place: SpawnArea::Volume { z: [0.7, 1.5] },
        speed: between(0.24, 0.46),
        size: between(0.009, 0.019),
        squash: 0.55,
        spin: between(-0.7, 0.7),
        tumble: 1.0,
        tint: one(&PAPER),
        // Cut by hand.
        form: Appearance::Polygon(vec![[-1.0, -0.9], [1.0, -1.0], [0.96, 1.0], [-0.94, 0.92]], 0.0),
        focus: [1.2, 0.0018],
        ..round.clone()
    };
    let near = Layer {
        stream: 3,
        when: Emission::Steady(2.0),
        place: SpawnArea::Volume { z: [0.26, 0.5] },
        life: between(7.0, 9.0),
        speed: between(0.24, 0.42),
        swirl: 0.1,
        swirl_rate: 0.1,
        sway: [0.04, 0.014],
        sway_rate: 0.3,
        size: between(0.012, 0.018),
        squash: 0.6,
        spin: between(-0.5, 0.5),
        tumble: 0.7,
        tint: one(&PAPER[..6]),
        form: Appearance::Polygon(square, 0.5),
        focus: [1.0, 0.0],
        ..sharp.clone()
    };
    vec![far, round, sharp, near]
}

pub(super) fn bubbles() -> Vec<Layer> {
    let skin = Layer {
        when: Emission::Steady(5.5),
        place: SpawnArea::Box { x: [-0.2, 1.2], y: [1.15, 1.3], z: [0.75, 2.2] },
        direction: UP,
        cone: 0.02,
        life: between(9.0, 13.0),
        speed: between(0.1, 0.22),
        swirl: 0.1,
        swirl_size: 0.9,
        swirl_rate: 0.08,
        sway: [0.025, 0.01],
        sway_rate: 0.25,
        size: between(0.009, 0.058),
        opacity: between(0.5, 0.85),
        opacity_over: fading(0.97, 1.0),
        tint: mix(&[0xc8e8ff, 0xffffff, 0xf0e0ff]),
        form: Appearance::Ring(0.95, 1.0),
        ..Layer::default()
    };
    // Looked at along the skin there is more of it, and it shimmers in other colours.
    let within = |part: f32, opacity, colours: &[u32], form, aside| Layer {
        size: scaled(skin.size, part),
        opacity,
        tint: mix(colours),
        form,
        aside,
        ..skin.clone()
    };
    let body =
        within(0.98, between(0.03, 0.08), &[0xa8d8ff, 0xd8f4ff, 0xe8d8ff], Appearance::Disc(0.2), [0.0; 2]);
    let hue = [0x7fd0ff, 0xff9fe0, 0xa8ffd8, 0xffe08a];
    let wide = within(0.985, between(0.06, 0.16), &hue, Appearance::Ring(0.5, 1.0), [0.02, 0.03]);
    let hue = [0xff9fe0, 0xffe9a0, 0x80d0ff, 0xb8a0ff];
    let edge = within(0.985, between(0.14, 0.34), &hue, Appearance::Ring(0.78, 1.0), [-0.015, -0.02]);
    // A window in the skin before and, upside down, in the one behind.
    let window = |part, opacity, soft, squash, aside| Layer {
        angle: Spread::fixed(-0.12),
        squash,
        ..within(part, opacity, &[0xffffff], Appearance::Disc(soft), aside)
    };
    let before = window(0.2, between(0.85, 1.0), 0.8, 0.5, [-2.5, -2.6]);
    let behind = window(0.17, between(0.25, 0.4), 1.0, 0.45, [3.0, 3.2]);
    vec![body, wide, edge, skin, before, behind]
}
