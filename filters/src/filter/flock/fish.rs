//! Herrings: one smooth body that bends, silver flanks under a dark back, and fins with rays.

use super::mesh::{
    Individual, Mesh, Points, Skin, blend, bump, curve, ends, fract, mix, noise, speckle, step,
};
use super::vector::{V, wave};

/// Half the height of the body, and where its middle is, from the snout (0) to the root of the tail (1).
const HEIGHT: Points = [
    &[0.0, 0.04, 0.10, 0.20, 0.34, 0.48, 0.64, 0.80, 0.93, 1.0],
    &[0.018, 0.060, 0.102, 0.152, 0.188, 0.190, 0.152, 0.096, 0.056, 0.056],
];
const MIDDLE: Points = [&[0.0, 0.2, 0.45, 0.7, 1.0], &[0.0, -0.008, -0.022, -0.012, 0.0]];
/// x of the snout and of the root of the tail.
const ENDS: [f32; 2] = [1.0, -0.70];

pub(super) fn build(mesh: &mut Mesh, own: &Individual, phase: f32, effort: f32) {
    let high = own.vary(0, 1.0, 0.09);
    // A wave that runs to the tail and grows on its way.
    let bend = |x: f32| {
        let part = 0.5 * (1.0 - x);
        effort * (0.27 * part * part * wave(phase + 0.40 * x) + 0.025 * wave(phase + 0.40 * x))
    };
    let at = |x: f32, y: f32, z: f32| -> V { [x, bend(x) + y, z * high] };
    // Distances along the body from x.
    let along = |x: f32| (ENDS[0] - x) / (ENDS[0] - ENDS[1]);
    let top = |x: f32| curve(MIDDLE, along(x)) + curve(HEIGHT, along(x));
    let bottom = |x: f32| curve(MIDDLE, along(x)) - curve(HEIGHT, along(x));
    let fin = [0.40, 0.50, 0.535];
    let rays = |count: f32, u: f32, v: f32| {
        let ray = step(0.25, 0.75, (fract(v * count) - 0.5).abs() * 2.0);
        let c = blend([0.36, 0.44, 0.47], fin, ray).map(|c| c * (1.0 - 0.15 * u));
        Skin { gloss: 0.15, sheer: 0.5, ..Skin::plain(c) }
    };
    // The forked tail: two lobes that are swept back.
    for lobe in [1.0f32, -1.0] {
        let long = own.cuts(0.35, 3, 14);
        mesh.sheet(
            [long, own.cuts(0.3, 3, 12)],
            lobe < 0.0,
            0,
            |u, v| {
                // From the middle ray (v = 0) to the outer edge.
                let tip_x = mix(-0.795, -1.05, v * (0.35 + 0.65 * v));
                let tip_z = mix(0.0, 0.315, v.sqrt() * (0.55 + 0.45 * v));
                let curl = 0.045 * wave(0.5 * u) * v;
                let x = mix(ENDS[1] + 0.04, tip_x, u);
                let z = lobe * (mix(0.050 * v, tip_z, u) + curl * 0.3 - 0.035 * v * u * (1.0 - u));
                let late = 1.0 + 0.22 * u;
                [x, bend(x) * late, z * high]
            },
            |u, v| {
                let edge = step(0.82, 0.98, v) + 0.6 * step(0.85, 1.0, u);
                let s = rays(9.0, u, v);
                Skin {
                    over: blend(s.over, [0.16, 0.23, 0.26], 0.6 * edge.min(1.0)),
                    under: blend(s.under, [0.16, 0.23, 0.26], 0.6 * edge.min(1.0)),
                    ..s
                }
            },
        );
    }
    // Back fin, and the one behind the belly: x of the front and rear root, height, lean.
    let upright = |mesh: &mut Mesh, from: f32, to: f32, tall: f32, lean: f32, sign: f32| {
        let edge = |x: f32| if sign > 0.0 { top(x) } else { bottom(x) };
        mesh.sheet(
            [own.cuts(tall, 2, 7), own.cuts(from - to, 3, 14)],
            sign > 0.0,
            3,
            |u, v| {
                let root = mix(from, to, v);
                // Highest near its front, with a hollow rear edge.
                let tip = tall
                    * curve([&[0.0, 0.10, 0.24, 0.5, 0.8, 1.0], &[0.05, 0.62, 1.0, 0.62, 0.33, 0.26]], v);
                let x = root - lean * u * (0.4 + 0.6 * tip / tall);
                at(x, 0.0, edge(root) - sign * 0.02 + sign * (tip + 0.02) * u)
            },
            |u, v| rays(10.0, u, v),
        );
    };
    upright(mesh, 0.12, -0.16, 0.135, 0.10, 1.0);
    upright(mesh, -0.36, -0.62, 0.06, 0.06, -1.0);
    for side in [-1.0f32, 1.0] {
        // Belly fins.
        mesh.sheet(
            [own.cuts(0.15, 2, 6), 3],
            side > 0.0,
            3,
            |u, v| {
                let x = -0.02 - 0.05 * v - 0.13 * u + 0.03 * u * v;
                at(x, side * (0.02 + 0.035 * u), bottom(-0.02) + 0.015 - 0.075 * u * (1.0 - 0.55 * v))
            },
            |u, v| rays(4.0, u, v),
        );
        // Breast fins, which spread as it slows down.
        let open = 0.035 + 0.05 * (0.5 + 0.5 * wave(0.5 * phase + own.traits[1]));
        mesh.sheet(
            [own.cuts(0.2, 2, 7), own.cuts(0.1, 2, 5)],
            side > 0.0,
            2,
            |u, v| {
                let x = 0.52 - 0.03 * v - 0.19 * u * (1.0 - 0.35 * v);
                at(x, side * (0.055 + open * u + 0.01), bottom(0.55) + 0.055 - (0.03 + 0.05 * v) * u)
            },
            |u, v| rays(5.0, u, v),
        );
    }
    let (nx, nr) = (own.cuts(2.0, 10, 62), own.cuts(0.62, 8, 26));
    mesh.loft(
        [nx, nr],
        |u| {
            let u = 0.25 * u * u + 0.75 * u;
            let x = mix(ENDS[0], ENDS[1], u);
            let r = curve(HEIGHT, u) * ends(u);
            let flat = curve([&[0.0, 0.15, 0.4, 0.8, 1.0], &[0.75, 0.60, 0.50, 0.42, 0.30]], u);
            (at(x, 0.0, curve(MIDDLE, u)), flat * r, r * high)
        },
        |u, v| scales(own, 0.25 * u * u + 0.75 * u, v),
    );
    if own.half > 12.0 {
        // Eyes lie on the head as it is there: a ring and a pupil.
        for side in [-1.0f32, 1.0] {
            let (u, x) = (0.092, mix(ENDS[0], ENDS[1], 0.092));
            let wide = 0.60 * curve(HEIGHT, u);
            for (r, out, colour, gloss) in
                [(0.041, 0.004, [0.80, 0.81, 0.76], 0.5), (0.026, 0.009, [0.02, 0.025, 0.03], 0.3)]
            {
                mesh.sheet(
                    [2, own.cuts(0.3, 8, 14)],
                    side < 0.0,
                    0,
                    |t, v| {
                        let v = if v >= 1.0 { 0.0 } else { v };
                        let (dx, dz) = (r * t * wave(v + 0.25), r * t * wave(v));
                        at(x + dx, side * (wide * 0.965 + out - 0.25 * dx), 0.022 + dz)
                    },
                    |t, v| {
                        let glint =
                            if r < 0.03 { 0.85 * step(0.8, 0.2, t) * bump(0.62, 0.2, v) } else { 0.0 };
                        Skin { gloss, ..Skin::plain(blend(colour, [0.9; 3], glint)) }
                    },
                );
            }
        }
    }
}

/// The skin of the body at a place from the snout (0) to the tail's root (1), at an angle from above.
fn scales(own: &Individual, u: f32, v: f32) -> Skin {
    // 1 above, -1 below.
    let up = wave(v + 0.25);
    let green = own.vary(2, 1.0, 0.15);
    let back: V = [0.05, 0.15 * green, 0.20];
    let ragged = 0.10 * (noise(u * 22.0, v * 2.0, own.seed) - 0.5);
    let flank: V = [0.58, 0.735, 0.78];
    let belly: V = [0.78, 0.86, 0.87];
    let mut c = blend(belly, flank, step(-0.85, -0.35, up));
    // A line of blue green light between flank and back.
    c = blend(c, [0.42, 0.66, 0.66], 0.7 * bump(0.50, 0.22, up + ragged));
    c = blend(c, back, step(0.46, 0.74, up + ragged));
    let head = step(0.215, 0.195, u + 0.035 * up * up);
    // Scales in staggered rows, each with a shine of its own.
    let (across, down) = (u * 62.0, v * 34.0);
    let row = down.floor();
    let across = across + if row as i32 & 1 == 0 { 0.5 } else { 0.0 };
    let own_shine = speckle(across.floor() as i32, row as i32, own.seed);
    let rim = step(0.55, 0.95, fract(across));
    // Scales that are finer than the mesh are left out.
    let body = (1.0 - head) * step(45.0, 110.0, own.half);
    let k = 1.0 + body * (0.16 * (own_shine - 0.5) - 0.13 * rim);
    c = c.map(|c| c * k);
    // The gill cover: a dark curved edge, plates before it, and the mouth.
    let gill = bump(0.205 - 0.035 * up * up, 0.013, u);
    c = blend(c, [0.16, 0.24, 0.28], 0.75 * gill * step(-0.95, -0.6, up));
    let plate = bump(0.155 - 0.02 * up * up, 0.008, u) * step(0.5, 0.2, up);
    c = blend(c, [0.38, 0.47, 0.50], 0.5 * plate);
    let mouth = bump(0.05, 0.09, u) * bump(-0.12 - 5.0 * u * 0.8, 0.16, up);
    c = blend(c, [0.14, 0.19, 0.22], 0.6 * mouth);
    let gloss = mix(0.35, 1.0, step(0.75, 0.25, up)) * (0.85 + 0.4 * (own_shine - 0.3) * body);
    Skin { over: c, under: c, gloss, sheer: 0.0 }
}
