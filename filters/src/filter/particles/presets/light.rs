//! Effects of light: glowing particles, particles in a beam, and discs out of focus.

use super::*;

const TOWARDS: [f32; 3] = [0.0, 0.0, -1.0];

pub(super) fn dust_motes() -> Vec<Layer> {
    let fine = Layer {
        when: Emission::Steady(1100.0),
        place: SpawnArea::Volume { z: [0.5, 2.6] },
        life: between(7.0, 11.0),
        speed: between(0.0, 0.02),
        cone: 0.5,
        swirl: 0.16,
        swirl_size: 0.8,
        swirl_rate: 0.05,
        sway: [0.01, 0.008],
        sway_rate: 0.1,
        size: between(0.0013, 0.0034),
        opacity: between(0.35, 1.0),
        opacity_over: gently(0.25),
        twinkle: 0.75,
        twinkle_rate: 0.3,
        tint: mix(&[0xffdca0, 0xfff6e6]),
        focus: [1.0, 0.0007],
        ..Layer::default()
    };
    // The nearer to the lens, the larger, the fainter, and the sharper its edge.
    let near = Layer {
        stream: 2,
        when: Emission::Steady(60.0),
        place: SpawnArea::Volume { z: [0.55, 1.1] },
        swirl: 0.14,
        swirl_size: 0.7,
        sway: [0.0; 2],
        size: between(0.0028, 0.0052),
        opacity: between(0.2, 0.8),
        opacity_over: gently(0.3),
        twinkle: 0.7,
        twinkle_rate: 0.22,
        tint: mix(&[0xffd9a0, 0xfff1d8]),
        form: Appearance::Disc(0.7),
        focus: [1.0, 0.0],
        ..fine.clone()
    };
    let nearest = Layer {
        stream: 1,
        when: Emission::Steady(22.0),
        place: SpawnArea::Volume { z: [0.3, 0.62] },
        swirl: 0.12,
        size: between(0.004, 0.0105),
        opacity: between(0.05, 0.36),
        twinkle: 0.6,
        twinkle_rate: 0.16,
        form: Appearance::Disc(0.35),
        ..near.clone()
    };
    vec![fine, nearest, near]
}

/// The light around a core: each disc is about twice as wide as the one before and a fourth as bright, so that it falls
/// with the square of the distance and has no rim. `discs` are sizes and opacities relative to the core's.
fn halo(core: &Layer, colours: &[u32], discs: &[(f32, f32)]) -> Vec<Layer> {
    let disc = |&(wide, strong): &(f32, f32)| Layer {
        size: scaled(core.size, wide),
        opacity: scaled(core.opacity, strong),
        tint: Tint { by: core.tint.by, ..mix(colours) },
        form: Appearance::Disc(1.0),
        squash: 1.0,
        tumble: 0.0,
        blend: None,
        ..core.clone()
    };
    discs.iter().map(disc).collect()
}

const HOT: [u32; 3] = [0xff9838, 0xff6010, 0xc02c00];

pub(super) fn embers() -> Vec<Layer> {
    // A flake that turns. It covers, so that it is seen before what is bright.
    let flake = Layer {
        when: Emission::Steady(150.0),
        place: SpawnArea::Box { x: [-0.2, 1.2], y: [1.03, 1.18], z: [0.75, 2.0] },
        direction: UP,
        cone: 0.09,
        life: between(2.0, 6.0),
        speed: between(0.16, 0.5),
        pull: [0.0, -0.03, 0.0],
        swirl: 0.1,
        swirl_size: 0.3,
        swirl_rate: 0.4,
        swirl_age: 0.7,
        sway: [0.016, 0.01],
        sway_rate: 0.8,
        size: between(0.002, 0.0078),
        size_over: vec![[0.0, 1.0], [0.6, 0.85], [1.0, 0.35]],
        angle: between(0.0, 1.0),
        spin: between(-0.9, 0.9),
        tumble: 1.3,
        squash: 0.55,
        opacity: between(0.8, 1.0),
        opacity_over: fading(0.7, 0.85),
        twinkle: 0.5,
        twinkle_rate: 2.3,
        tint: ageing(&[0xffe9a8, 0xffb040, 0xff7018, 0xd83408, 0x8c1c04, 0x5a1004]),
        form: Appearance::Disc(0.45),
        blend: Some(Blend::Over),
        ..Layer::default()
    };
    // White-hot in the middle.
    let core = Layer {
        size: scaled(flake.size, 0.56),
        opacity_over: vec![[0.0, 1.0], [0.5, 0.7], [0.8, 0.1], [1.0, 0.0]],
        tumble: 0.0,
        tint: ageing(&[0xfff8e0, 0xffdc90, 0xff9a38, 0xc84008]),
        form: Appearance::Disc(0.8),
        blend: None,
        ..flake.clone()
    };
    let lit = Layer { size: flake.size, opacity_over: fading(0.7, 0.5), ..core.clone() };
    let small = Layer {
        stream: 1,
        when: Emission::Steady(420.0),
        place: SpawnArea::Box { x: [-0.4, 1.4], y: [1.1, 1.4], z: [1.0, 2.6] },
        life: between(1.5, 5.0),
        speed: between(0.2, 0.6),
        pull: [0.0; 3],
        swirl_size: 0.25,
        swirl_rate: 0.5,
        sway: [0.0; 2],
        size: between(0.0011, 0.003),
        size_over: vec![[0.0, 1.0]],
        squash: 1.0,
        tumble: 0.0,
        opacity: between(0.6, 1.0),
        opacity_over: fading(0.6, 0.8),
        twinkle: 0.7,
        twinkle_rate: 3.0,
        tint: ageing(&[0xfff0c0, 0xffb850, 0xff6a14, 0xb02804]),
        form: Appearance::Disc(0.7),
        shutter: 0.012,
        thin: 0.2,
        ..flake.clone()
    };
    // Fast ones draw curls.
    let curl = Layer {
        stream: 3,
        when: Emission::Steady(26.0),
        life: between(1.2, 3.4),
        speed: between(0.35, 0.85),
        swirl: 0.09,
        swirl_size: 0.16,
        swirl_rate: 0.6,
        swirl_age: 0.5,
        size: between(0.0014, 0.0034),
        opacity: between(0.7, 1.0),
        opacity_over: fading(0.7, 0.8),
        tint: ageing(&[0xfff4d0, 0xffc458, 0xff8420, 0xe04008]),
        trail: 0.09,
        thin: 0.0,
        ..core.clone()
    };
    let near = Layer {
        stream: 2,
        when: Emission::Steady(9.0),
        place: SpawnArea::Box { x: [0.2, 0.8], y: [0.85, 0.92], z: [0.4, 0.6] },
        cone: 0.05,
        life: between(2.5, 5.0),
        speed: between(0.16, 0.34),
        swirl: 0.12,
        swirl_size: 0.5,
        swirl_rate: 0.2,
        size: between(0.004, 0.012),
        squash: 0.8,
        opacity: between(0.15, 0.5),
        opacity_over: fading(0.7, 0.8),
        twinkle: 0.6,
        twinkle_rate: 1.6,
        tint: ageing(&[0xffb858, 0xff7a20, 0xb83008]),
        form: Appearance::Disc(0.9),
        shutter: 0.0,
        ..small.clone()
    };
    let mut all = halo(&lit, &HOT, &[(3.0, 0.07), (1.7, 0.2)]);
    all.extend(halo(&near, &HOT, &[(3.0, 0.05), (1.7, 0.2)]));
    all.extend([flake, core, small, curl, near]);
    all
}

pub(super) fn sparks() -> Vec<Layer> {
    let spark = Layer {
        when: Emission::Steady(420.0),
        place: SpawnArea::Box { x: [0.496, 0.504], y: [0.72, 0.725], z: [1.0, 1.0] },
        direction: [0.15, -1.0, -0.1],
        cone: 0.13,
        life: between(0.4, 1.7),
        speed: between(0.4, 2.5),
        pull: [0.0, 1.6, 0.0],
        drag: 1.2,
        size: between(0.0009, 0.0021),
        size_over: vec![[0.0, 1.0], [1.0, 0.45]],
        opacity: between(0.8, 1.0),
        opacity_over: fading(0.6, 0.9),
        tint: ageing(&[0xfffbe8, 0xffe6a0, 0xffb040, 0xff6a18, 0xb02404]),
        form: Appearance::Disc(0.4),
        shutter: 0.07,
        thin: 0.1,
        ..Layer::default()
    };
    let glow = Layer {
        size: between(0.005, 0.01),
        opacity: between(0.06, 0.14),
        tint: ageing(&[0xffd080, 0xffa030, 0xff5a10, 0xa02000]),
        form: Appearance::Disc(1.0),
        shutter: 0.05,
        trail: 0.0,
        thin: 0.4,
        ..spark.clone()
    };
    let source = Layer {
        stream: 3,
        when: Emission::Steady(40.0),
        place: SpawnArea::Box { x: [0.498, 0.502], y: [0.718, 0.724], z: [1.0, 1.0] },
        life: between(0.1, 0.22),
        size: between(0.006, 0.012),
        opacity: between(0.1, 0.3),
        opacity_over: vec![[0.0, 0.0], [0.3, 1.0], [1.0, 0.0]],
        tint: mix(&[0xfff0c0, 0xffb040]),
        ..Layer::default()
    };
    let mut all = halo(&source, &[0xffd080, 0xffa030], &[(12.0, 0.012), (5.0, 0.06), (2.2, 0.25)]);
    all.extend([spark, glow, source]);
    all
}

pub(super) fn fireflies() -> Vec<Layer> {
    const GLOW: [u32; 2] = [0xc0e838, 0xe0dc3c];
    // Four flashes, which come up fast and fade slowly.
    let flash = |t: f32| [[t, 0.0], [t + 0.02, 1.0], [t + 0.05, 0.75], [t + 0.1, 0.2], [t + 0.15, 0.0]];
    let flashes: LifeCurve = [0.1, 0.34, 0.6, 0.83].into_iter().flat_map(flash).collect();
    let fly = Layer {
        when: Emission::Steady(26.0),
        place: SpawnArea::Box { x: [-0.3, 1.3], y: [0.0, 1.2], z: [0.7, 2.2] },
        cone: 0.5,
        life: between(8.0, 12.0),
        speed: between(0.0, 0.03),
        swirl: 0.2,
        swirl_size: 0.55,
        swirl_rate: 0.09,
        sway: [0.05, 0.03],
        sway_rate: 0.17,
        size: between(0.003, 0.0052),
        opacity: between(0.85, 1.0),
        opacity_over: flashes,
        twinkle: 0.25,
        twinkle_rate: 1.1,
        tint: mix(&[0xfbffd0, 0xfff8c8]),
        ..Layer::default()
    };
    let near = Layer {
        stream: 1,
        when: Emission::Steady(2.4),
        place: SpawnArea::Box { x: [0.25, 0.75], y: [0.3, 0.75], z: [0.4, 0.55] },
        speed: between(0.0, 0.02),
        swirl: 0.1,
        swirl_size: 0.5,
        swirl_rate: 0.08,
        sway: [0.0; 2],
        size: between(0.008, 0.014),
        opacity: between(0.2, 0.4),
        tint: mix(&GLOW),
        ..fly.clone()
    };
    let mut all = halo(&fly, &GLOW, &[(12.0, 0.032), (6.0, 0.1), (3.0, 0.3)]);
    all.extend(halo(&near, &GLOW, &[(5.0, 0.07), (2.6, 0.25)]));
    all.extend([fly, near]);
    all
}

pub(super) fn bokeh() -> Vec<Layer> {
    let far = Layer {
        when: Emission::Steady(5.0),
        place: SpawnArea::Volume { z: [0.8, 1.5] },
        cone: 0.5,
        life: between(9.0, 14.0),
        speed: between(0.005, 0.02),
        swirl: 0.06,
        swirl_size: 1.4,
        swirl_rate: 0.03,
        size: between(0.09, 0.19),
        opacity: between(0.006, 0.05),
        opacity_over: gently(0.35),
        twinkle: 0.4,
        twinkle_rate: 0.1,
        tint: mix(&[0xff7a3c, 0xffb35c, 0xff5c7a, 0x7a8cff]),
        form: Appearance::Disc(0.5),
        ..Layer::default()
    };
    let disc = Layer {
        stream: 1,
        when: Emission::Steady(15.0),
        place: SpawnArea::Volume { z: [0.8, 2.2] },
        life: between(7.0, 12.0),
        speed: between(0.005, 0.03),
        swirl: 0.08,
        swirl_size: 1.2,
        swirl_rate: 0.04,
        size: between(0.02, 0.09),
        opacity: between(0.02, 0.32),
        opacity_over: gently(0.3),
        twinkle: 0.5,
        twinkle_rate: 0.16,
        tint: mix(&[0xff9a3c, 0xffc878, 0xffe9c8, 0xff7a5c, 0xffb0a0, 0xa8c4ff]),
        form: Appearance::Disc(0.09),
        ..far.clone()
    };
    let rim = Layer { opacity: between(0.01, 0.14), form: Appearance::Ring(0.86, 1.0), ..disc.clone() };
    let small = Layer {
        stream: 2,
        when: Emission::Steady(14.0),
        place: SpawnArea::Volume { z: [0.9, 2.4] },
        life: between(5.0, 9.0),
        swirl_size: 1.0,
        swirl_rate: 0.05,
        size: between(0.008, 0.026),
        opacity: between(0.08, 0.6),
        twinkle: 0.7,
        twinkle_rate: 0.25,
        tint: mix(&[0xffb45c, 0xffe0a8, 0xfff6e6, 0xff9a7a]),
        form: Appearance::Disc(0.14),
        ..disc.clone()
    };
    vec![far, disc, rim, small]
}

pub(super) fn starfield() -> Vec<Layer> {
    let many = Layer {
        when: Emission::Steady(620.0),
        place: SpawnArea::Tunnel { z: [0.5, 4.5] },
        direction: TOWARDS,
        life: between(18.0, 26.0),
        speed: Spread::fixed(0.11),
        wind: 0.0,
        size: between(0.0014, 0.0044),
        opacity: between(0.08, 1.0),
        twinkle: 0.35,
        twinkle_rate: 0.9,
        tint: mix(&[0x9dbcff, 0xcfdcff, 0xffffff, 0xffffff, 0xffe9c8, 0xffc890]),
        form: Appearance::Disc(0.9),
        ..Layer::default()
    };
    let bright = Layer {
        stream: 1,
        when: Emission::Steady(24.0),
        place: SpawnArea::Tunnel { z: [0.4, 4.5] },
        size: between(0.004, 0.0085),
        opacity: between(0.75, 1.0),
        twinkle: 0.3,
        twinkle_rate: 0.7,
        tint: mix(&[0xc8d8ff, 0xe8f0ff, 0xffffff, 0xfff0d8, 0xffdcb8]),
        form: Appearance::Disc(0.8),
        ..many.clone()
    };
    let glow = Layer {
        size_over: vec![[0.0, 6.0]],
        opacity: between(0.008, 0.04),
        tint: mix(&[0x5f8cff, 0x9fc0ff, 0xffffff, 0xffd8a0, 0xff9a60]),
        form: Appearance::Disc(1.0),
        ..bright.clone()
    };
    vec![many, glow, bright]
}

pub(super) fn hyperspace() -> Vec<Layer> {
    let star = Layer {
        when: Emission::Steady(390.0),
        place: SpawnArea::Tunnel { z: [0.35, 6.0] },
        direction: TOWARDS,
        life: between(9.0, 12.0),
        speed: Spread::fixed(3.6),
        wind: 0.0,
        size: between(0.0013, 0.005),
        opacity: between(0.45, 1.0),
        tint: mix(&[0x9cc0ff, 0xc4dcff, 0xf0f6ff, 0xffffff]),
        form: Appearance::Disc(0.9),
        shutter: 0.1,
        thin: 0.1,
        ..Layer::default()
    };
    let bright = Layer {
        stream: 1,
        when: Emission::Steady(36.0),
        size: between(0.0034, 0.0068),
        opacity: between(0.7, 1.0),
        ..star.clone()
    };
    let glow = Layer {
        size_over: vec![[0.0, 4.0]],
        opacity: between(0.01, 0.03),
        tint: mix(&[0x2f60ff, 0x4f8cff, 0x80b0ff]),
        form: Appearance::Disc(1.0),
        ..bright.clone()
    };
    vec![star, glow, bright]
}
