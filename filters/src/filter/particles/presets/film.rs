//! Effects of dust and hairs on a print and in the gate.

use super::*;

/// On the film itself, so that each is there for one frame of 24 a second: dirt, dark; where it lay as a print was
/// made, light.
pub(super) fn film_dust() -> Vec<Layer> {
    let torn = |i: usize| -> Vec<[f32; 2]> {
        let all: [[[f32; 2]; 7]; 3] = [
            [[-0.9, -0.2], [-0.3, -0.8], [0.5, -0.6], [1.0, 0.1], [0.6, 0.5], [-0.1, 0.7], [-0.7, 0.4]],
            [[-1.0, 0.1], [-0.5, -0.4], [0.2, -0.5], [0.8, -0.3], [0.9, 0.2], [0.3, 0.45], [-0.5, 0.4]],
            [[-0.6, -0.5], [0.1, -0.9], [0.6, -0.5], [0.7, 0.3], [0.2, 0.9], [-0.4, 0.7], [-0.8, 0.1]],
        ];
        all[i % 3].to_vec()
    };
    let life = Spread::fixed(1.0 / 24.0);
    let everywhere = SpawnArea::Box { x: [0.0, 1.0], y: [0.0, 1.0], z: [1.0, 1.0] };
    let layer = |stream: usize, rate: f64, size: Spread, form: Appearance, dark: bool| Layer {
        stream: stream as u64,
        when: Emission::Steady(rate),
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
            let form = Appearance::Polygon(torn(i), 0.35);
            Layer { squash: [1.0, 0.6, 0.8][i], ..layer(i, 130.0, between(0.0012, 0.006), form, true) }
        })
        .collect();
    all.push(layer(3, 150.0, between(0.001, 0.0042), Appearance::Polygon(torn(1), 0.4), false));
    // A few large ones, soft as they are not quite in the plane of the film.
    all.push(layer(4, 14.0, between(0.006, 0.013), Appearance::Polygon(torn(2), 0.7), true));
    let lint = |stream, bend| Layer {
        opacity: between(0.5, 0.95),
        ..layer(stream, 14.0, between(0.014, 0.036), Appearance::Hair(bend, 0.03), true)
    };
    all.extend([lint(5, 0.25), lint(6, 0.6)]);
    all
}

/// In the gate, not on the film: they stay for a while, most of them at its edges, and quiver.
pub(super) fn film_hairs() -> Vec<Layer> {
    let hair = |stream: u64, y: [f32; 2], bend: f32, size: Spread| {
        let life = between(0.8, 5.0);
        Layer {
            stream,
            when: alive(1.2, life),
            place: SpawnArea::Box { x: [0.02, 0.98], y, z: [1.0, 1.0] },
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
            form: Appearance::Hair(bend, 0.0115),
            ..Layer::default()
        }
    };
    vec![
        hair(0, [0.93, 1.03], 0.35, between(0.07, 0.16)),
        hair(1, [-0.03, 0.06], -0.5, between(0.06, 0.13)),
        hair(2, [0.05, 0.95], 0.75, between(0.04, 0.1)),
    ]
}
