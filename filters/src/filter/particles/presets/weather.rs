//! Snow, rain, leaves. Each has layers for what is far, in focus, and close to the lens.

use super::*;

pub(super) fn snow() -> Vec<Layer> {
    let far = Layer {
        when: Emission::Steady(900.0),
        place: SpawnArea::Volume { z: [1.7, 5.0] },
        life: between(9.0, 12.0),
        speed: between(0.26, 0.5),
        cone: 0.02,
        swirl: 0.14,
        swirl_size: 1.3,
        swirl_rate: 0.09,
        sway: [0.02, 0.006],
        sway_rate: 0.35,
        size: between(0.0036, 0.0086),
        opacity: between(0.65, 1.0),
        tint: mix(&[0xeef3fa, 0xffffff]),
        focus: [1.3, 0.0009],
        ..Layer::default()
    };
    let farthest = Layer {
        stream: 3,
        when: Emission::Steady(300.0),
        place: SpawnArea::Volume { z: [4.5, 9.0] },
        swirl: 0.2,
        swirl_size: 2.0,
        size: between(0.0045, 0.0085),
        opacity: between(0.4, 0.8),
        focus: [1.0, 0.0],
        ..far.clone()
    };
    // No two flakes are alike, which shows where they are sharp.
    let sharp = Layer {
        stream: 1,
        when: Emission::Steady(130.0),
        place: SpawnArea::Volume { z: [0.75, 1.9] },
        speed: between(0.28, 0.5),
        cone: 0.03,
        swirl: 0.12,
        swirl_size: 0.9,
        swirl_rate: 0.1,
        sway: [0.03, 0.01],
        sway_rate: 0.4,
        size: between(0.0034, 0.0095),
        squash: 0.72,
        angle: between(0.0, 1.0),
        spin: between(-0.2, 0.2),
        opacity: between(0.85, 1.0),
        tint: mix(&[0xf6f9ff, 0xffffff]),
        form: Appearance::Disc(0.8),
        focus: [1.25, 0.0016],
        ..far.clone()
    };
    // Flakes that hang together: each of their parts lies in another direction.
    let near = Layer {
        stream: 2,
        when: Emission::Steady(12.0),
        place: SpawnArea::Volume { z: [0.22, 0.7] },
        life: between(8.0, 11.0),
        speed: between(0.22, 0.42),
        swirl: 0.1,
        swirl_size: 0.8,
        sway_rate: 0.3,
        size: between(0.006, 0.0125),
        squash: 0.5,
        spin: between(-0.08, 0.08),
        opacity: between(0.5, 0.8),
        form: Appearance::Disc(0.9),
        focus: [1.25, 0.001],
        ..sharp.clone()
    };
    let part = |aside, size, turn, squash| Layer {
        aside,
        size: scaled(near.size, size),
        angle: between(turn, 1.0 + turn),
        squash,
        ..near.clone()
    };
    let parts = [
        part([0.2, 0.1], 0.85, 0.3, 0.45),
        part([-0.25, 0.15], 0.7, 0.62, 0.6),
        part([0.05, -0.3], 0.65, 0.15, 0.9),
    ];
    let mut all = vec![farthest, far, sharp];
    all.extend(parts);
    all.push(near);
    all
}

pub(super) fn blizzard() -> Vec<Layer> {
    // White air, and the gusts in it.
    let veil = Layer {
        stream: 4,
        when: Emission::Steady(20.0),
        place: SpawnArea::Volume { z: [1.2, 5.0] },
        life: between(5.0, 7.0),
        speed: between(0.05, 0.2),
        swirl: 0.2,
        swirl_size: 2.5,
        size: between(0.6, 1.4),
        squash: 0.7,
        angle: between(0.02, 0.09),
        opacity: between(0.2, 0.45),
        opacity_over: gently(0.3),
        tint: mix(&[0xe4ebf2, 0xf6f9fc]),
        ..Layer::default()
    };
    let gust = Layer {
        stream: 1,
        when: Emission::Steady(34.0),
        place: SpawnArea::Volume { z: [0.9, 3.0] },
        speed: between(0.2, 0.5),
        wind: 1.3,
        size: between(0.3, 0.9),
        squash: 0.16,
        angle: between(0.03, 0.1),
        opacity: between(0.06, 0.24),
        tint: mix(&[0xe8eef4, 0xffffff]),
        ..veil.clone()
    };
    let far = Layer {
        when: Emission::Steady(9000.0),
        place: SpawnArea::Volume { z: [1.1, 6.0] },
        life: between(7.0, 9.0),
        speed: between(0.5, 1.0),
        cone: 0.12,
        swirl: 0.13,
        swirl_size: 2.1,
        swirl_rate: 0.16,
        sway: [0.03, 0.02],
        sway_rate: 0.7,
        size: between(0.0026, 0.0095),
        opacity: between(0.5, 1.0),
        tint: mix(&[0xeef3f8, 0xffffff]),
        shutter: 0.009,
        thin: 0.2,
        ..Layer::default()
    };
    let sharp = Layer {
        stream: 2,
        when: Emission::Steady(560.0),
        place: SpawnArea::Volume { z: [0.55, 1.5] },
        speed: between(0.5, 1.1),
        cone: 0.15,
        swirl: 0.11,
        swirl_size: 1.7,
        swirl_rate: 0.2,
        sway: [0.05, 0.03],
        sway_rate: 0.9,
        size: between(0.0034, 0.009),
        opacity: between(0.75, 1.0),
        form: Appearance::Disc(0.8),
        focus: [1.3, 0.0014],
        ..far.clone()
    };
    let near = Layer {
        stream: 3,
        when: Emission::Steady(70.0),
        place: SpawnArea::Volume { z: [0.22, 0.5] },
        speed: between(0.4, 0.9),
        swirl: 0.08,
        swirl_size: 1.5,
        sway: [0.0; 2],
        size: between(0.007, 0.014),
        opacity: between(0.3, 0.65),
        form: Appearance::Disc(1.0),
        thin: 0.5,
        focus: [1.0, 0.0],
        ..sharp.clone()
    };
    vec![veil, gust, far, sharp, near]
}

/// Most drops fall through the picture; some come down to a line near its lower edge, and splash.
pub(super) fn rain() -> Vec<Layer> {
    let far = Layer {
        when: Emission::Steady(1700.0),
        place: SpawnArea::Volume { z: [1.4, 5.0] },
        life: between(4.0, 6.0),
        speed: between(6.0, 8.0),
        cone: 0.004,
        size: between(0.0011, 0.0022),
        opacity: between(0.3, 0.7),
        opacity_over: vec![[0.0, 1.0]],
        tint: mix(&[0xb9c6d6, 0xe6eef8]),
        shutter: 0.02,
        thin: 0.0,
        focus: [1.6, 0.0008],
        ..Layer::default()
    };
    let near = Layer {
        stream: 1,
        when: Emission::Steady(110.0),
        place: SpawnArea::Volume { z: [0.55, 1.5] },
        speed: between(6.4, 8.4),
        cone: 0.005,
        size: between(0.001, 0.0021),
        opacity: between(0.35, 0.75),
        tint: mix(&[0xc4d0de, 0xf0f6ff]),
        focus: [1.2, 0.0012],
        ..far.clone()
    };
    let nearest = Layer {
        stream: 2,
        when: Emission::Steady(14.0),
        place: SpawnArea::Volume { z: [0.25, 0.5] },
        life: between(3.0, 4.0),
        speed: between(6.0, 8.0),
        cone: 0.006,
        size: between(0.0014, 0.0022),
        opacity: between(0.1, 0.28),
        focus: [1.0, 0.0],
        ..near.clone()
    };
    let hits = Layer {
        name: "hits".into(),
        stream: 3,
        when: Emission::Steady(360.0),
        place: SpawnArea::Volume { z: [0.85, 2.0] },
        life: Spread::fixed(0.6),
        cone: 0.004,
        floor: Some(between(0.9, 1.01)),
        size: between(0.001, 0.002),
        opacity: between(0.3, 0.6),
        focus: [1.0, 0.0],
        ..near.clone()
    };
    let crown = Layer {
        stream: 4,
        born_of: "hits".into(),
        children: 7,
        direction: UP,
        cone: 0.11,
        life: between(0.13, 0.26),
        speed: between(0.12, 0.42),
        pull: [0.0, 3.0, 0.0],
        wind: 0.2,
        size: between(0.0012, 0.0028),
        opacity: between(0.5, 0.95),
        opacity_over: fading(0.6, 0.9),
        tint: mix(&[0xd4dfeb, 0xffffff]),
        shutter: 0.012,
        thin: 0.3,
        ..Layer::default()
    };
    let ring = Layer {
        stream: 5,
        born_of: "hits".into(),
        life: between(0.2, 0.34),
        wind: 0.0,
        size: Spread::fixed(0.004),
        growth: between(0.08, 0.16),
        squash: 0.26,
        opacity: between(0.15, 0.4),
        opacity_over: vec![[0.0, 1.0], [1.0, 0.0]],
        tint: mix(&[0xc6d2e0, 0xeef4fa]),
        form: Appearance::Ring(0.78, 1.0),
        ..Layer::default()
    };
    let flash = Layer {
        stream: 6,
        life: between(0.07, 0.12),
        size: between(0.004, 0.007),
        growth: Spread::fixed(0.0),
        squash: 0.9,
        opacity: between(0.3, 0.6),
        tint: mix(&[0xe6eef8]),
        form: Appearance::Disc(1.0),
        ..ring.clone()
    };
    vec![far, near, nearest, hits, crown, ring, flash]
}

pub(super) fn leaves() -> Vec<Layer> {
    let mut all = leaf(0, 9.0, [0.52, 0.42], &[0xd8582a, 0xf0912e, 0xf6c04c, 0xc07a30, 0xe2502e, 0xdcb83a]);
    all.extend(leaf(1, 6.5, [0.66, 0.36], &[0xf0a038, 0xf8d060, 0xe67a2a, 0xd04c24, 0xe8c034]));
    all.extend(leaf(2, 6.0, [0.26, 0.5], &[0xe6c044, 0xc6b048, 0xf08e30, 0xb07838]));
    all
}

/// The upper half of a blade that is so broad at a part of its length, with a pointed tip: x along the midrib.
fn blade([broad, at]: [f32; 2]) -> Vec<[f32; 2]> {
    let edge = (0..=12).map(|i| {
        let t = i as f32 / 12.0;
        // Rises as a quarter of a circle, and falls to the tip as a parabola.
        let v = if t < at { 1.0 - t / at } else { (t - at) / (1.0 - at) };
        [1.75 * t - 0.8, -broad * if t < at { (1.0 - v * v).sqrt() } else { 1.0 - v * v }]
    });
    edge.chain([[0.4, 0.02], [-0.2, 0.025]]).collect()
}

/// A leaf that is folded a little along its midrib: a half in the light, a half in the shade, and the rib with a stem.
fn leaf(stream: u64, rate: f64, broad: [f32; 2], colours: &[u32]) -> Vec<Layer> {
    let half = blade(broad);
    let shaded = |part: f64| Tint {
        by: ColourBy::One,
        colours: colours.iter().map(|h| rgb(*h).map(|c| c * part)).collect(),
    };
    let lit = Layer {
        stream,
        when: Emission::Steady(rate),
        place: SpawnArea::Volume { z: [0.6, 2.4] },
        life: between(9.0, 12.0),
        speed: between(0.13, 0.26),
        cone: 0.05,
        swirl: 0.16,
        swirl_size: 0.9,
        swirl_rate: 0.1,
        sway: [0.1, 0.03],
        sway_rate: 0.3,
        size: between(0.028, 0.058),
        angle: between(0.0, 1.0),
        spin: between(-0.25, 0.25),
        tumble: 0.35,
        opacity_over: gently(0.012),
        tint: shaded(1.0),
        form: Appearance::Polygon(half.clone(), 0.1),
        focus: [1.15, 0.0022],
        ..Layer::default()
    };
    let other: Vec<[f32; 2]> = half.iter().rev().map(|[x, y]| [*x, -y]).collect();
    let dark = Layer { tint: shaded(0.8), form: Appearance::Polygon(other.clone(), 0.1), ..lit.clone() };
    // Light through the blade, between rib and edge.
    let through = |half: Vec<[f32; 2]>| Layer {
        size: scaled(lit.size, 0.8),
        opacity: between(0.2, 0.45),
        tint: Tint {
            by: ColourBy::One,
            colours: lit.tint.colours.iter().map(|c| c.map(|v| v.sqrt())).collect(),
        },
        form: Appearance::Polygon(half, 0.9),
        ..lit.clone()
    };
    let (above, below) = (through(half), through(other));
    let rib = vec![[-1.0, -1.0], [0.6, -0.2], [0.6, 0.2], [-1.0, 1.0]];
    let rib = Layer { squash: 0.02, tint: shaded(0.62), form: Appearance::Polygon(rib, 0.0), ..lit.clone() };
    vec![lit, dark, above, below, rib]
}
