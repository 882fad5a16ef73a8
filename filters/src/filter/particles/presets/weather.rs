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
        size: between(0.0036, 0.0082),
        opacity: between(0.35, 0.95),
        tint: mix(&[0xd8e2ee, 0xffffff]),
        focus: [1.3, 0.0016],
        ..Layer::default()
    };
    // No two flakes are alike, which shows where they are sharp.
    let sharp = Layer {
        stream: 1,
        when: Emission::Steady(120.0),
        place: SpawnArea::Volume { z: [0.75, 1.9] },
        speed: between(0.28, 0.5),
        cone: 0.03,
        swirl: 0.12,
        swirl_size: 0.9,
        swirl_rate: 0.1,
        sway: [0.03, 0.01],
        sway_rate: 0.4,
        size: between(0.0035, 0.0095),
        squash: 0.72,
        angle: between(0.0, 1.0),
        spin: between(-0.2, 0.2),
        opacity: between(0.6, 1.0),
        tint: mix(&[0xe8eef6, 0xffffff]),
        form: Appearance::Disc(0.7),
        focus: [1.25, 0.0035],
        ..far.clone()
    };
    let near = Layer {
        stream: 2,
        when: Emission::Steady(16.0),
        place: SpawnArea::Volume { z: [0.22, 0.7] },
        life: between(8.0, 11.0),
        speed: between(0.22, 0.42),
        swirl: 0.1,
        swirl_size: 0.8,
        sway_rate: 0.3,
        size: between(0.006, 0.013),
        squash: 1.0,
        angle: Spread::fixed(0.0),
        spin: Spread::fixed(0.0),
        opacity: between(0.75, 1.0),
        tint: mix(&[0xeef3fa, 0xffffff]),
        form: Appearance::Disc(0.8),
        focus: [1.25, 0.0042],
        ..sharp.clone()
    };
    vec![far, sharp, near]
}

pub(super) fn blizzard() -> Vec<Layer> {
    let mist = Layer {
        stream: 1,
        when: Emission::Steady(16.0),
        place: SpawnArea::Volume { z: [0.9, 3.6] },
        life: between(5.0, 7.0),
        speed: between(0.05, 0.2),
        swirl: 0.2,
        swirl_size: 2.5,
        size: between(0.25, 0.8),
        squash: 0.45,
        angle: between(0.02, 0.09),
        opacity: between(0.05, 0.16),
        opacity_over: gently(0.3),
        tint: mix(&[0xcfd8e2, 0xe8eef4]),
        ..Layer::default()
    };
    let far = Layer {
        when: Emission::Steady(3000.0),
        place: SpawnArea::Volume { z: [1.2, 4.6] },
        life: between(7.0, 9.0),
        speed: between(0.5, 1.0),
        cone: 0.12,
        swirl: 0.13,
        swirl_size: 2.1,
        swirl_rate: 0.16,
        sway: [0.03, 0.02],
        sway_rate: 0.7,
        size: between(0.0028, 0.008),
        opacity: between(0.35, 0.95),
        tint: mix(&[0xd5dee8, 0xffffff]),
        shutter: 0.014,
        thin: 0.5,
        ..Layer::default()
    };
    let sharp = Layer {
        stream: 2,
        when: Emission::Steady(170.0),
        place: SpawnArea::Volume { z: [0.55, 1.5] },
        speed: between(0.5, 1.1),
        cone: 0.15,
        swirl: 0.11,
        swirl_size: 1.7,
        swirl_rate: 0.2,
        sway: [0.05, 0.03],
        sway_rate: 0.9,
        size: between(0.003, 0.0085),
        opacity: between(0.6, 1.0),
        tint: mix(&[0xe4ebf2, 0xffffff]),
        form: Appearance::Disc(0.8),
        focus: [1.3, 0.0028],
        ..far.clone()
    };
    let near = Layer {
        stream: 3,
        when: Emission::Steady(26.0),
        place: SpawnArea::Volume { z: [0.22, 0.5] },
        speed: between(0.4, 0.9),
        swirl: 0.08,
        swirl_size: 1.5,
        sway: [0.0; 2],
        size: between(0.007, 0.013),
        opacity: between(0.2, 0.5),
        form: Appearance::Disc(1.0),
        focus: [1.0, 0.0],
        ..sharp.clone()
    };
    vec![mist, far, sharp, near]
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
    // Blades of three kinds, the upper half of each; x along the midrib.
    let oval =
        [[-0.72, 0.012], [-0.5, -0.34], [-0.05, -0.5], [0.45, -0.36], [0.95, 0.0], [0.5, 0.03], [0.0, 0.035]];
    let broad = [
        [-0.6, 0.012],
        [-0.55, -0.36],
        [-0.25, -0.62],
        [0.15, -0.66],
        [0.55, -0.42],
        [0.9, 0.0],
        [0.4, 0.03],
        [0.0, 0.04],
    ];
    let narrow = [[-0.8, 0.012], [-0.3, -0.2], [0.2, -0.22], [0.6, -0.14], [1.0, 0.0], [0.3, 0.02]];
    let mut all = leaf(0, 9.0, &oval, &[0xb5451b, 0xd9772a, 0xe2a43a, 0x9a6426, 0xc23b22, 0xb8952e]);
    all.extend(leaf(1, 6.5, &broad, &[0xd98a2a, 0xe8b84a, 0xc8641e, 0xa83a1c, 0xc9a227]));
    all.extend(leaf(2, 6.0, &narrow, &[0xc8a030, 0xa89038, 0xd0782a, 0x8a5a26]));
    all
}

/// A leaf that is folded a little along its midrib: a half in the light, a half in the shade, and the rib with a stem.
fn leaf(stream: u64, rate: f64, half: &[[f32; 2]], colours: &[u32]) -> Vec<Layer> {
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
        form: Appearance::Polygon(half.to_vec(), 0.12),
        focus: [1.15, 0.0022],
        ..Layer::default()
    };
    let other: Vec<[f32; 2]> = half.iter().rev().map(|[x, y]| [*x, -y]).collect();
    let dark = Layer { tint: shaded(0.74), form: Appearance::Polygon(other, 0.08), ..lit.clone() };
    let rib = vec![[-1.0, -1.0], [0.72, -0.35], [0.72, 0.35], [-1.0, 1.0]];
    let rib = Layer { squash: 0.035, tint: shaded(0.5), form: Appearance::Polygon(rib, 0.0), ..lit.clone() };
    vec![lit, dark, rib]
}
