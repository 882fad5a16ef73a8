//! Moths: broad patterned wings, fur and feathered antennae.

use super::mesh::{
    Individual, Mesh, Points, Skin, blend, bump, curve, ends, fract, mix, noise, speckle, step,
};
use super::vector::{V, wave};

/// Front and rear edges of a fore wing and a hind wing: span, and x.
const FORE: [Points; 2] = [
    [&[0.0, 0.12, 0.35, 0.60, 0.80, 0.92, 1.0], &[0.20, 0.25, 0.30, 0.33, 0.305, 0.23, 0.09]],
    [
        &[0.0, 0.10, 0.30, 0.50, 0.68, 0.85, 0.95, 1.0],
        &[-0.02, -0.07, -0.12, -0.15, -0.155, -0.10, -0.01, 0.09],
    ],
];
const HIND: [Points; 2] = [
    [&[0.0, 0.2, 0.45, 0.75, 0.92, 1.0], &[0.06, 0.09, 0.07, -0.02, -0.14, -0.27]],
    [&[0.0, 0.10, 0.30, 0.55, 0.80, 0.95, 1.0], &[-0.33, -0.40, -0.45, -0.45, -0.40, -0.33, -0.27]],
];

/// The colours of a kind of moth: ground, dark marks, light marks, hind wing, and its band.
const KINDS: [[V; 5]; 4] = [
    [[0.56, 0.48, 0.39], [0.27, 0.20, 0.145], [0.80, 0.71, 0.57], [0.72, 0.65, 0.55], [0.40, 0.31, 0.23]],
    [[0.66, 0.60, 0.52], [0.30, 0.26, 0.23], [0.86, 0.82, 0.75], [0.82, 0.77, 0.70], [0.48, 0.43, 0.39]],
    [[0.66, 0.59, 0.48], [0.42, 0.29, 0.16], [0.90, 0.80, 0.58], [0.78, 0.71, 0.58], [0.55, 0.41, 0.24]],
    [[0.49, 0.42, 0.36], [0.20, 0.165, 0.145], [0.72, 0.66, 0.58], [0.66, 0.53, 0.40], [0.24, 0.18, 0.15]],
];

pub(super) fn build(mesh: &mut Mesh, own: &Individual, phase: f32, effort: f32) {
    let kind = &KINDS[(own.traits[0] * 4.0) as usize & 3];
    let beat = wave(phase);
    let up = 0.26 + 0.85 * effort * beat;
    let behind = 0.18 + 0.72 * effort * wave(phase - 0.06);
    let heave = -0.05 * effort * beat;
    let broad = own.vary(1, 1.0, 0.08);
    // The rear edge trails behind the front one.
    let lag = 0.28 * effort * wave(phase + 0.25);
    for side in [-1.0f32, 1.0] {
        let bent = |s: f32, x: f32, v: f32, angle: f32, long: f32| -> V {
            // Tips bend against the stroke.
            let turns = (angle - 0.30 * lag * s * s - lag * v * 0.5) * (0.5 / core::f32::consts::PI);
            let sway = -0.08 * beat * effort * s;
            [x + sway, side * (0.055 + long * s * wave(turns + 0.25)), heave + long * s * wave(turns)]
        };
        let edges = |u: f32, wing: &[Points; 2]| {
            let s = u * (1.3 - 0.3 * u);
            (s, curve(wing[0], s), curve(wing[1], s))
        };
        let hind = |&(s, front, rear): &(f32, f32, f32), v: f32| {
            let scallop = (fract(s * 6.0) - 0.5).abs() * 2.0;
            let x = mix(front, rear, v * (1.0 - 0.03 * scallop * v));
            let p = bent(s, x, v, behind, 0.58 * broad);
            [p[0], p[1], p[2] - 0.03 + 0.03 * v * (1.0 - v)]
        };
        let n = [own.cuts(0.8, 8, 40), own.cuts(0.7, 6, 36)];
        mesh.wing(
            n,
            side > 0.0,
            |u| edges(u, &HIND),
            hind,
            |u, v| hind_skin(own, kind, u * (1.3 - 0.3 * u), v),
        );
        let fore = |&(s, front, rear): &(f32, f32, f32), v: f32| {
            let p = bent(s, mix(front, rear, v), v, up, 0.945);
            [p[0], p[1], p[2] + 0.012 + 0.10 * v * (1.0 - v) * (1.0 - s)]
        };
        let n = [own.cuts(1.2, 9, 60), own.cuts(0.6, 6, 36)];
        mesh.wing(
            n,
            side > 0.0,
            |u| edges(u, &FORE),
            fore,
            |u, v| fore_skin(own, kind, u * (1.3 - 0.3 * u), v),
        );
    }
    let hair = |u: f32, v: f32, k: f32| 0.78 + 0.44 * noise(u * k, v * 24.0, own.seed);
    // The abdomen: rings with fur at its end.
    let tip = -0.50 * own.vary(2, 1.0, 0.08);
    mesh.loft(
        [own.cuts(0.6, 6, 26), own.cuts(0.45, 8, 14)],
        |u| {
            let r = curve([&[0.0, 0.25, 0.6, 0.88, 1.0], &[0.145, 0.185, 0.160, 0.095, 0.018]], u) * ends(u);
            let ring = 1.0 + 0.05 * wave(u * 7.0);
            ([mix(0.06, tip, u), 0.0, heave - 0.035 * u], r * ring, r * ring)
        },
        |u, v| {
            let ring = 0.80 + 0.22 * step(-0.4, 0.5, wave(u * 7.0 + 0.3));
            let k = ring * hair(u, v, 18.0);
            Skin::plain(blend(kind[0], kind[3], 0.55).map(|c| c * k))
        },
    );
    // The thorax is a ball of fur with a collar, before it the head.
    mesh.loft(
        [own.cuts(0.45, 7, 22), own.cuts(0.5, 10, 20)],
        |u| {
            let r = curve(
                [
                    &[0.0, 0.10, 0.22, 0.32, 0.45, 0.72, 0.92, 1.0],
                    &[0.02, 0.066, 0.086, 0.090, 0.158, 0.176, 0.145, 0.05],
                ],
                u,
            ) * ends(u);
            let rough =
                1.0 + 0.20 * (noise(u * 26.0, own.traits[3] * 40.0, own.seed) - 0.5) * step(0.3, 0.45, u);
            ([mix(0.385, -0.06, u), 0.0, heave + 0.012], r * rough, 0.95 * r * rough)
        },
        |u, v| {
            let collar = bump(0.42, 0.09, u);
            let crest = bump(0.0, 0.12, (v + 0.5).fract() - 0.5) * step(0.45, 0.6, u);
            let c = blend(blend(kind[0], kind[2], 0.35), kind[1], 0.75 * collar + 0.4 * crest);
            Skin::plain(c.map(|c| c * hair(u, v, 30.0)))
        },
    );
    for side in [-1.0f32, 1.0] {
        let eye = Skin { gloss: 0.7, ..Skin::plain([0.10, 0.07, 0.05]) };
        mesh.ball([4, 6], [0.335, side * 0.058, heave + 0.02], 0.030, eye);
        antenna(mesh, own, kind, side, heave);
    }
    // It hangs in the air with its head up.
    let turns = own.vary(3, 0.062, 0.6);
    let (sin, cos) = (wave(turns), wave(turns + 0.25));
    for p in &mut mesh.at {
        *p = [p[0] * cos - p[2] * sin, p[1], p[2] * cos + p[0] * sin];
    }
}

/// A bent stem with barbs to both sides that are longest in its middle.
fn antenna(mesh: &mut Mesh, own: &Individual, kind: &[V; 5], side: f32, heave: f32) {
    let stem = |t: f32| -> V {
        [
            0.36 + 0.255 * t - 0.05 * t * t,
            side * (0.035 + 0.20 * t + 0.075 * t * t),
            heave + 0.035 + 0.10 * t - 0.03 * t * t,
        ]
    };
    let colour = blend(kind[0], kind[2], 0.3);
    let comb = own.traits[2] < 0.7;
    let count = if own.half > 60.0 { 22 } else { 0 };
    let wide = |t: f32| 0.062 * wave(0.5 * (0.06 + 0.94 * t)) * (1.0 - 0.35 * t);
    if comb && count == 0 {
        // Barbs that are finer than samples: a leaf that lets through.
        mesh.sheet(
            [own.cuts(0.3, 5, 14), 4],
            side > 0.0,
            8,
            |u, v| {
                let (p, w) = (stem(u), (2.0 * v - 1.0) * wide(u));
                [p[0] + 0.75 * w, p[1] - side * 0.75 * w, p[2]]
            },
            |_, _| Skin { sheer: 0.4, ..Skin::plain(colour) },
        );
    } else if comb {
        for k in 0..count {
            let t = (k as f32 + 0.5) / count as f32;
            for way in [-1.0f32, 1.0] {
                let w = way * wide(t);
                let (a, b) = (stem(t), stem(t + 0.02));
                let tip = [a[0] + 0.75 * w + 0.035, a[1] - side * 0.75 * w + side * 0.03, a[2]];
                mesh.sheet(
                    [1, 1],
                    side > 0.0,
                    0,
                    |u, v| blend(blend(a, b, v), tip, u),
                    |_, _| Skin { sheer: 0.4, ..Skin::plain(colour) },
                );
            }
        }
    }
    for k in 0..3 {
        let tips = [stem(k as f32 / 3.0), stem((k + 1) as f32 / 3.0)];
        let thick = |t: f32| 0.013 * (1.0 - 0.55 * t);
        let radii = [thick(k as f32 / 3.0), thick((k + 1) as f32 / 3.0)];
        mesh.tube([own.cuts(0.1, 1, 4), 4], tips, radii, |_, _| Skin::plain(colour.map(|c| c * 0.9)));
    }
}

/// How far a wavy line across the wing is from a place, as a bump.
fn line(s: f32, v: f32, at: f32, wide: f32, teeth: f32, deep: f32) -> f32 {
    bump(at + deep * wave(v * teeth) + 0.03 * wave(v * 0.8), wide, s)
}

fn fore_skin(own: &Individual, kind: &[V; 5], s: f32, v: f32) -> Skin {
    let [ground, dark, light, ..] = *kind;
    let grain = noise(s * 26.0, v * 20.0, own.seed);
    let scales = speckle((s * 90.0) as i32, (v * 60.0) as i32, own.seed);
    let mut c = ground.map(|c| c * (0.80 + 0.24 * grain + 0.10 * scales));
    // Root, middle shade, outer band.
    c = blend(c, dark, 0.55 * step(0.16, 0.05, s));
    c = blend(c, dark, 0.45 * bump(0.50, 0.10, s + 0.03 * wave(v * 2.0)));
    c = blend(c, light, 0.55 * bump(0.79, 0.075, s + 0.02 * wave(v * 6.0)));
    c = blend(c, dark, 0.70 * step(0.845, 0.90, s + 0.02 * wave(v * 7.0)) * step(1.0, 0.93, s));
    for (at, wide, strong) in
        [(0.24, 0.022, 0.85), (0.285, 0.018, 0.5), (0.69, 0.020, 0.85), (0.735, 0.016, 0.45)]
    {
        c = blend(c, dark, strong * line(s, v, at, wide, 5.0, 0.014));
    }
    c = blend(
        c,
        light,
        0.6 * line(s, v, 0.262, 0.016, 5.0, 0.014) + 0.6 * line(s, v, 0.715, 0.014, 5.0, 0.014),
    );
    // A round spot and a kidney, with dark rims.
    for (at, across, wide) in [(0.385, 0.36, 0.042), (0.585, 0.40, 0.062)] {
        let (x, y) = ((s - at) / wide, (v - across) / (2.6 * wide));
        let kidney = if wide > 0.05 { 0.7 * y * y } else { 0.0 };
        let far = ((x + kidney) * (x + kidney) + y * y).sqrt();
        c = blend(c, dark, 0.9 * step(1.25, 1.0, far));
        c = blend(c, light, 0.85 * step(0.85, 0.6, far));
    }
    // Marks along the front edge; veins; the chequered fringe.
    c = blend(c, dark, 0.6 * step(0.10, 0.03, v) * step(0.1, 0.5, wave(s * 9.0)));
    let vein = step(0.86, 1.0, 1.0 - (fract(v * 7.0 + 0.4 * s) - 0.5).abs() * 2.0) * step(0.3, 0.5, s);
    c = blend(c, dark, 0.22 * vein);
    let fringe = step(0.955, 0.975, s).max(step(0.93, 0.97, v) * step(0.55, 0.7, s));
    let check = step(-0.2, 0.2, wave(v * 9.0 + s * 5.0));
    c = blend(c, blend(dark, light, check), 0.8 * fringe);
    let under = blend(
        blend(ground, light, 0.4),
        dark,
        0.35 * line(s, v, 0.7, 0.04, 5.0, 0.012) + 0.3 * step(0.85, 0.95, s),
    );
    Skin { over: c, under, gloss: 0.0, sheer: 0.55 }
}

fn hind_skin(own: &Individual, kind: &[V; 5], s: f32, v: f32) -> Skin {
    let [_, dark, light, ground, band] = *kind;
    let grain = noise(s * 20.0, v * 20.0, own.seed ^ 5);
    let mut c = ground.map(|c| c * (0.86 + 0.2 * grain));
    // Towards the free edge, from the root.
    let out = (0.55 * s * s + 0.62 * v * v).sqrt() / 0.86;
    c = blend(c, band, 0.85 * step(0.72, 0.82, out) * step(1.02, 0.96, out));
    c = blend(c, band, 0.55 * bump(0.58, 0.035, out + 0.012 * wave(8.0 * (s - 0.4 * v))));
    c = blend(c, dark, 0.6 * bump(0.36, 0.05, s) * bump(0.38, 0.09, v));
    c = blend(c, dark, 0.25 * step(0.2, 0.0, s));
    let vein = step(0.85, 1.0, 1.0 - (fract(s * 6.0) - 0.5).abs() * 2.0);
    c = blend(c, band, 0.25 * vein);
    c = blend(c, light, 0.7 * step(0.965, 0.99, v.max(s)));
    let under = blend(ground, band, 0.5 * bump(0.58, 0.05, out) + 0.25 * step(0.75, 0.9, out));
    Skin { over: c, under, gloss: 0.0, sheer: 0.70 }
}
