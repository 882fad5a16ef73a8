//! Hairs in the gate.

use super::*;

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
