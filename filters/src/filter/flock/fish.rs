//! Herrings: one smooth body that bends, silver flanks under a dark back, and fins with rays.

use super::mesh::{
    Individual, Mesh, Points, SIDES, Skin, blend, bump, curve, fract, mix, noise, profile, speckle,
};
use super::vector::{V, wave};
use crate::math::smoothstep;

/// Half the height of the body, the height of its middle, and its width for its height, from the snout (0) to the root of the
/// tail (1).
const HEIGHT: Points = [
    &[0.0, 0.04, 0.10, 0.20, 0.34, 0.48, 0.64, 0.80, 0.93, 1.0],
    &[0.018, 0.060, 0.102, 0.152, 0.188, 0.190, 0.152, 0.096, 0.056, 0.056],
];
const MIDDLE: Points = [&[0.0, 0.2, 0.45, 0.7, 1.0], &[0.0, -0.008, -0.022, -0.012, 0.0]];
const STOUT: Points = [&[0.0, 0.15, 0.4, 0.8, 1.0], &[0.75, 0.60, 0.50, 0.42, 0.30]];
/// x of the snout and of the root of the tail.
const ENDS: [f32; 2] = [1.0, -0.70];

/// The height of a fin in the body's plane along its root, as a fraction: highest near its front, with a hollow rear edge.
const FIN: Points = [&[0.0, 0.10, 0.24, 0.5, 0.8, 1.0], &[0.05, 0.62, 1.0, 0.62, 0.33, 0.26]];
/// Those fins, on the back and behind the belly: x of the front and rear root, height, lean, and 1 above or -1 below.
const FINS: [[f32; 5]; 2] = [[0.12, -0.16, 0.135, 0.10, 1.0], [-0.36, -0.62, 0.06, 0.06, -1.0]];
/// Rings of an eye: radius, distance from the head, colour and gloss of the iris and of the pupil.
const EYE: [(f32, f32, V, f32); 2] =
    [(0.041, 0.004, [0.80, 0.81, 0.76], 0.5), (0.026, 0.009, [0.02, 0.025, 0.03], 0.3)];
/// The dark edge of the tail.
const EDGE: V = [0.16, 0.23, 0.26];

pub(super) fn build(mesh: &mut Mesh, fish: &Individual) {
    for lobe in [1.0, -1.0] {
        tail(mesh, fish, lobe);
    }
    for fin in FINS {
        upright_fin(mesh, fish, fin);
    }
    for side in SIDES {
        belly_fin(mesh, fish, side);
        breast_fin(mesh, fish, side);
    }
    body(mesh, fish);
    if fish.half > 12.0 {
        for side in SIDES {
            eye(mesh, fish, side);
        }
    }
}

/// The height of the body relative to others.
fn high(fish: &Individual) -> f32 {
    fish.vary(0, 1.0, 0.09)
}

/// The offset to the side at x: a wave that runs to the tail and grows on its way.
fn bend(fish: &Individual, x: f32) -> f32 {
    let part = 0.5 * (1.0 - x);
    let swing = wave(fish.phase + 0.40 * x);
    fish.effort * (0.27 * part * part * swing + 0.025 * swing)
}

fn at(fish: &Individual, x: f32, y: f32, z: f32) -> V {
    [x, bend(fish, x) + y, z * high(fish)]
}

/// One lobe of the forked tail, which is swept back: the upper one (1) or the lower one (-1).
fn tail(mesh: &mut Mesh, fish: &Individual, lobe: f32) {
    let place = |u: f32, v: f32| {
        // From the middle ray (v = 0) to the outer edge.
        let tip_x = mix(-0.795, -1.05, v * (0.35 + 0.65 * v));
        let tip_z = mix(0.0, 0.315, v.sqrt() * (0.55 + 0.45 * v));
        let curl = 0.045 * wave(0.5 * u) * v;
        let x = mix(ENDS[1] + 0.04, tip_x, u);
        let z = lobe * (mix(0.050 * v, tip_z, u) + curl * 0.3 - 0.035 * v * u * (1.0 - u));
        [x, bend(fish, x) * (1.0 + 0.22 * u), z * high(fish)]
    };
    let skin = |u: f32, v: f32| {
        let edge = 0.6 * (smoothstep(0.82, 0.98, v) + 0.6 * smoothstep(0.85, 1.0, u)).min(1.0);
        let s = rays(9.0, u, v);
        Skin { over: blend(s.over, EDGE, edge), under: blend(s.under, EDGE, edge), ..s }
    };
    mesh.sheet(fish.cuts([(0.35, 3, 14), (0.3, 3, 12)]).flipped(lobe < 0.0), place, skin);
}

fn upright_fin(mesh: &mut Mesh, fish: &Individual, [from, to, tall, lean, sign]: [f32; 5]) {
    let place = |u: f32, v: f32| {
        let root = mix(from, to, v);
        let tip = tall * curve(FIN, v);
        let x = root - lean * u * (0.4 + 0.6 * tip / tall);
        at(fish, x, 0.0, edge(root, sign) - sign * 0.02 + sign * (tip + 0.02) * u)
    };
    let n = fish.cuts([(tall, 2, 7), (from - to, 3, 14)]);
    mesh.sheet(n.flipped(sign > 0.0).with_gaps(3), place, |u, v| rays(10.0, u, v));
}

fn belly_fin(mesh: &mut Mesh, fish: &Individual, side: f32) {
    let root = edge(-0.02, -1.0) + 0.015;
    let place = |u: f32, v: f32| {
        let x = -0.02 - 0.05 * v - 0.13 * u + 0.03 * u * v;
        at(fish, x, side * (0.02 + 0.035 * u), root - 0.075 * u * (1.0 - 0.55 * v))
    };
    let n = fish.cuts([(0.15, 2, 6), (0.0, 3, 3)]);
    mesh.sheet(n.flipped(side > 0.0).with_gaps(3), place, |u, v| rays(4.0, u, v));
}

/// A breast fin, which spreads as the fish slows down.
fn breast_fin(mesh: &mut Mesh, fish: &Individual, side: f32) {
    let open = 0.035 + 0.05 * (0.5 + 0.5 * wave(0.5 * fish.phase + fish.traits[1]));
    let root = edge(0.55, -1.0) + 0.055;
    let place = |u: f32, v: f32| {
        let x = 0.52 - 0.03 * v - 0.19 * u * (1.0 - 0.35 * v);
        at(fish, x, side * (0.055 + open * u + 0.01), root - (0.03 + 0.05 * v) * u)
    };
    let n = fish.cuts([(0.2, 2, 7), (0.1, 2, 5)]);
    mesh.sheet(n.flipped(side > 0.0).with_gaps(2), place, |u, v| rays(5.0, u, v));
}

fn body(mesh: &mut Mesh, fish: &Individual) {
    // Denser to the snout.
    let dense = |u: f32| 0.25 * u * u + 0.75 * u;
    let ring = |u: f32| {
        let u = dense(u);
        let r = profile(HEIGHT, u);
        (at(fish, mix(ENDS[0], ENDS[1], u), 0.0, curve(MIDDLE, u)), curve(STOUT, u) * r, r * high(fish))
    };
    let n = fish.cuts([(2.0, 10, 62), (0.62, 8, 26)]);
    mesh.loft(n, ring, |u, v| scales(fish, dense(u), v));
}

/// An eye, flat on the head as it is there.
fn eye(mesh: &mut Mesh, fish: &Individual, side: f32) {
    let (u, x) = (0.092, mix(ENDS[0], ENDS[1], 0.092));
    let wide = 0.60 * curve(HEIGHT, u);
    for (r, out, colour, gloss) in EYE {
        let place = |t: f32, v: f32| {
            let v = if v >= 1.0 { 0.0 } else { v };
            let (dx, dz) = (r * t * wave(v + 0.25), r * t * wave(v));
            at(fish, x + dx, side * (wide * 0.965 + out - 0.25 * dx), 0.022 + dz)
        };
        let skin = |t: f32, v: f32| {
            let glint = if r < 0.03 { 0.85 * smoothstep(0.8, 0.2, t) * bump(0.62, 0.2, v) } else { 0.0 };
            Skin { gloss, ..Skin::plain(blend(colour, [0.9; 3], glint)) }
        };
        mesh.sheet(fish.cuts([(0.0, 2, 2), (0.3, 8, 14)]).flipped(side < 0.0), place, skin);
    }
}

/// z of the back (`sign` 1) or of the belly (-1) at x.
fn edge(x: f32, sign: f32) -> f32 {
    let u = (ENDS[0] - x) / (ENDS[0] - ENDS[1]);
    curve(MIDDLE, u) + sign * curve(HEIGHT, u)
}

/// The skin of a fin with so many rays.
fn rays(count: f32, u: f32, v: f32) -> Skin {
    let ray = smoothstep(0.25, 0.75, (fract(v * count) - 0.5).abs() * 2.0);
    let c = blend([0.36, 0.44, 0.47], [0.40, 0.50, 0.535], ray).map(|c| c * (1.0 - 0.15 * u));
    Skin { gloss: 0.15, sheer: 0.5, ..Skin::plain(c) }
}

/// The skin of the body at a place from the snout (0) to the tail's root (1), at an angle from above.
fn scales(fish: &Individual, u: f32, v: f32) -> Skin {
    // 1 above, -1 below.
    let up = wave(v + 0.25);
    let green = fish.vary(2, 1.0, 0.15);
    let back: V = [0.05, 0.15 * green, 0.20];
    let ragged = 0.10 * (noise(u * 22.0, v * 2.0, fish.seed) - 0.5);
    let flank: V = [0.58, 0.735, 0.78];
    let belly: V = [0.78, 0.86, 0.87];
    let mut c = blend(belly, flank, smoothstep(-0.85, -0.35, up));
    // A line of blue green light between flank and back.
    c = blend(c, [0.42, 0.66, 0.66], 0.7 * bump(0.50, 0.22, up + ragged));
    c = blend(c, back, smoothstep(0.46, 0.74, up + ragged));
    let head = smoothstep(0.215, 0.195, u + 0.035 * up * up);
    // Scales in staggered rows, each with a shine of its fish.
    let (across, down) = (u * 62.0, v * 34.0);
    let row = down.floor();
    let across = across + if row as i32 & 1 == 0 { 0.5 } else { 0.0 };
    let own_shine = speckle(across.floor() as i32, row as i32, fish.seed);
    let rim = smoothstep(0.55, 0.95, fract(across));
    // Scales finer than the mesh are left out.
    let body = (1.0 - head) * smoothstep(45.0, 110.0, fish.half);
    let k = 1.0 + body * (0.16 * (own_shine - 0.5) - 0.13 * rim);
    c = c.map(|c| c * k);
    // The gill cover: a dark curved edge, plates before it, and the mouth.
    let gill = bump(0.205 - 0.035 * up * up, 0.013, u);
    c = blend(c, [0.16, 0.24, 0.28], 0.75 * gill * smoothstep(-0.95, -0.6, up));
    let plate = bump(0.155 - 0.02 * up * up, 0.008, u) * smoothstep(0.5, 0.2, up);
    c = blend(c, [0.38, 0.47, 0.50], 0.5 * plate);
    let mouth = bump(0.05, 0.09, u) * bump(-0.12 - 5.0 * u * 0.8, 0.16, up);
    c = blend(c, [0.14, 0.19, 0.22], 0.6 * mouth);
    let gloss = mix(0.35, 1.0, smoothstep(0.75, 0.25, up)) * (0.85 + 0.4 * (own_shine - 0.3) * body);
    Skin { gloss, ..Skin::plain(c) }
}
