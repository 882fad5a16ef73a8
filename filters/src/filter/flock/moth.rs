//! Moths: broad patterned wings, fur and feathered antennae.

use super::mesh::{
    Individual, Mesh, Points, SIDES, Sheet, Skin, blend, bump, curve, fract, mix, noise, profile, speckle,
};
use super::vector::{V, turns, wave};
use crate::math::smoothstep;

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

/// Half the height of the abdomen and of head and thorax, from the front to the rear.
const ABDOMEN: Points = [&[0.0, 0.25, 0.6, 0.88, 1.0], &[0.145, 0.185, 0.160, 0.095, 0.018]];
const THORAX: Points = [
    &[0.0, 0.10, 0.22, 0.32, 0.45, 0.72, 0.92, 1.0],
    &[0.02, 0.066, 0.086, 0.090, 0.158, 0.176, 0.145, 0.05],
];

/// Barbs on each side of an antenna.
const BARBS: usize = 22;

/// The colours of a kind of moth: ground, dark marks, light marks, hind wing, and its band.
const KINDS: [[V; 5]; 4] = [
    [[0.56, 0.48, 0.39], [0.27, 0.20, 0.145], [0.80, 0.71, 0.57], [0.72, 0.65, 0.55], [0.40, 0.31, 0.23]],
    [[0.66, 0.60, 0.52], [0.30, 0.26, 0.23], [0.86, 0.82, 0.75], [0.82, 0.77, 0.70], [0.48, 0.43, 0.39]],
    [[0.66, 0.59, 0.48], [0.42, 0.29, 0.16], [0.90, 0.80, 0.58], [0.78, 0.71, 0.58], [0.55, 0.41, 0.24]],
    [[0.49, 0.42, 0.36], [0.20, 0.165, 0.145], [0.72, 0.66, 0.58], [0.66, 0.53, 0.40], [0.24, 0.18, 0.15]],
];

pub(super) fn build(mesh: &mut Mesh, moth: &Individual) {
    for side in SIDES {
        wings(mesh, moth, side);
    }
    abdomen(mesh, moth);
    thorax(mesh, moth);
    for side in SIDES {
        let eye = Skin { gloss: 0.7, ..Skin::plain([0.10, 0.07, 0.05]) };
        mesh.ball([4, 6], [0.335, side * 0.058, heave(moth) + 0.02], 0.030, eye);
        antenna(mesh, moth, side);
    }
    // It hangs in the air with its head up.
    let tilt = moth.vary(3, 0.062, 0.6);
    let (sin, cos) = (wave(tilt), wave(tilt + 0.25));
    for p in &mut mesh.at {
        *p = [p[0] * cos - p[2] * sin, p[1], p[2] * cos + p[0] * sin];
    }
}

/// The colours of a moth.
fn kind(moth: &Individual) -> &'static [V; 5] {
    &KINDS[(moth.traits[0] * 4.0) as usize & 3]
}

/// The height of the body, which rises as the wings go down.
fn heave(moth: &Individual) -> f32 {
    -0.05 * moth.effort * wave(moth.phase)
}

/// The wings of a side: the hind one, then the fore one.
fn wings(mesh: &mut Mesh, moth: &Individual, side: f32) {
    let (&Individual { phase, effort, .. }, heave) = (moth, heave(moth));
    let beat = wave(phase);
    // The rear edge trails behind the front one, and the hind wing behind the fore wing.
    let lag = 0.28 * effort * wave(phase + 0.25);
    let fore_angle = 0.26 + 0.85 * effort * beat;
    let hind_angle = 0.18 + 0.72 * effort * wave(phase - 0.06);
    let hind_long = 0.58 * moth.vary(1, 1.0, 0.08);
    let bent = |s: f32, x: f32, v: f32, angle: f32, long: f32| -> V {
        // Tips bend against the stroke.
        let t = turns(angle - 0.30 * lag * s * s - lag * v * 0.5);
        let sway = -0.08 * beat * effort * s;
        [x + sway, side * (0.055 + long * s * wave(t + 0.25)), heave + long * s * wave(t)]
    };
    // Columns are denser to the tip.
    let span = |u: f32| u * (1.3 - 0.3 * u);
    let edges = |u: f32, wing: &[Points; 2]| (span(u), curve(wing[0], span(u)), curve(wing[1], span(u)));
    let hind = |&(s, front, rear): &(f32, f32, f32), v: f32| {
        let scallop = (fract(s * 6.0) - 0.5).abs() * 2.0;
        let x = mix(front, rear, v * (1.0 - 0.03 * scallop * v));
        let p = bent(s, x, v, hind_angle, hind_long);
        [p[0], p[1], p[2] - 0.03 + 0.03 * v * (1.0 - v)]
    };
    let fore = |&(s, front, rear): &(f32, f32, f32), v: f32| {
        let p = bent(s, mix(front, rear, v), v, fore_angle, 0.945);
        [p[0], p[1], p[2] + 0.012 + 0.10 * v * (1.0 - v) * (1.0 - s)]
    };
    let n = moth.cuts([(0.8, 8, 40), (0.7, 6, 36)]);
    mesh.wing(n.flipped(side > 0.0), |u| edges(u, &HIND), hind, |u, v| hind_skin(moth, span(u), v));
    let n = moth.cuts([(1.2, 9, 60), (0.6, 6, 36)]);
    mesh.wing(n.flipped(side > 0.0), |u| edges(u, &FORE), fore, |u, v| fore_skin(moth, span(u), v));
}

fn hair(moth: &Individual, u: f32, v: f32, k: f32) -> f32 {
    0.78 + 0.44 * noise(u * k, v * 24.0, moth.seed)
}

/// The abdomen: rings, with fur at its end.
fn abdomen(mesh: &mut Mesh, moth: &Individual) {
    let [ground, _, _, hind, _] = *kind(moth);
    let tip = -0.50 * moth.vary(2, 1.0, 0.08);
    let ring = |u: f32| {
        let r = profile(ABDOMEN, u) * (1.0 + 0.05 * wave(u * 7.0));
        ([mix(0.06, tip, u), 0.0, heave(moth) - 0.035 * u], r, r)
    };
    let skin = |u: f32, v: f32| {
        let k = (0.80 + 0.22 * smoothstep(-0.4, 0.5, wave(u * 7.0 + 0.3))) * hair(moth, u, v, 18.0);
        Skin::plain(blend(ground, hind, 0.55).map(|c| c * k))
    };
    mesh.loft(moth.cuts([(0.6, 6, 26), (0.45, 8, 14)]), ring, skin);
}

/// The head, and the thorax: a ball of fur with a collar.
fn thorax(mesh: &mut Mesh, moth: &Individual) {
    let [ground, dark, light, ..] = *kind(moth);
    let ring = |u: f32| {
        let r = profile(THORAX, u);
        let tuft = noise(u * 26.0, moth.traits[3] * 40.0, moth.seed) - 0.5;
        let rough = 1.0 + 0.20 * tuft * smoothstep(0.3, 0.45, u);
        ([mix(0.385, -0.06, u), 0.0, heave(moth) + 0.012], r * rough, 0.95 * r * rough)
    };
    let skin = |u: f32, v: f32| {
        let collar = bump(0.42, 0.09, u);
        let crest = bump(0.0, 0.12, (v + 0.5).fract() - 0.5) * smoothstep(0.45, 0.6, u);
        let c = blend(blend(ground, light, 0.35), dark, 0.75 * collar + 0.4 * crest);
        Skin::plain(c.map(|c| c * hair(moth, u, v, 30.0)))
    };
    mesh.loft(moth.cuts([(0.45, 7, 22), (0.5, 10, 20)]), ring, skin);
}

/// A bent stem with barbs to both sides that are longest in its middle.
fn antenna(mesh: &mut Mesh, moth: &Individual, side: f32) {
    let ([ground, _, light, ..], heave) = (*kind(moth), heave(moth));
    let stem = |t: f32| -> V {
        [
            0.36 + 0.255 * t - 0.05 * t * t,
            side * (0.035 + 0.20 * t + 0.075 * t * t),
            heave + 0.035 + 0.10 * t - 0.03 * t * t,
        ]
    };
    let colour = blend(ground, light, 0.3);
    let barbs = Skin { sheer: 0.4, ..Skin::plain(colour) };
    let wide = |t: f32| 0.062 * wave(0.5 * (0.06 + 0.94 * t)) * (1.0 - 0.35 * t);
    let comb = moth.traits[2] < 0.7;
    if comb && moth.half <= 60.0 {
        // Barbs that are finer than samples: a sheet with gaps.
        let at = |u: f32, v: f32| {
            let (p, w) = (stem(u), (2.0 * v - 1.0) * wide(u));
            [p[0] + 0.75 * w, p[1] - side * 0.75 * w, p[2]]
        };
        mesh.sheet(moth.cuts([(0.3, 5, 14), (0.0, 4, 4)]).flipped(side > 0.0).with_gaps(8), at, |_, _| barbs);
    } else if comb {
        for k in 0..BARBS {
            let t = (k as f32 + 0.5) / BARBS as f32;
            for w in SIDES.map(|s| s * wide(t)) {
                let (a, b) = (stem(t), stem(t + 0.02));
                let tip = [a[0] + 0.75 * w + 0.035, a[1] - side * 0.75 * w + side * 0.03, a[2]];
                let barb = |u: f32, v: f32| blend(blend(a, b, v), tip, u);
                mesh.sheet(Sheet::new([1, 1]).flipped(side > 0.0), barb, |_, _| barbs);
            }
        }
    }
    for ends in [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]].map(|ends: [f32; 2]| ends.map(|k| k / 3.0)) {
        let radii = ends.map(|t| 0.013 * (1.0 - 0.55 * t));
        let skin = Skin::plain(colour.map(|c| c * 0.9));
        mesh.tube(moth.cuts([(0.1, 1, 4), (0.0, 4, 4)]), ends.map(stem), radii, skin);
    }
}

/// The strength of a wavy line across the wing at a point.
fn line(s: f32, v: f32, at: f32, wide: f32, teeth: f32, deep: f32) -> f32 {
    bump(at + deep * wave(v * teeth) + 0.03 * wave(v * 0.8), wide, s)
}

fn fore_skin(moth: &Individual, s: f32, v: f32) -> Skin {
    let [ground, dark, light, ..] = *kind(moth);
    let grain = noise(s * 26.0, v * 20.0, moth.seed);
    let scales = speckle((s * 90.0) as i32, (v * 60.0) as i32, moth.seed);
    let mut c = ground.map(|c| c * (0.80 + 0.24 * grain + 0.10 * scales));
    // Root, middle shade, outer band.
    c = blend(c, dark, 0.55 * smoothstep(0.16, 0.05, s));
    c = blend(c, dark, 0.45 * bump(0.50, 0.10, s + 0.03 * wave(v * 2.0)));
    c = blend(c, light, 0.55 * bump(0.79, 0.075, s + 0.02 * wave(v * 6.0)));
    c = blend(c, dark, 0.70 * smoothstep(0.845, 0.90, s + 0.02 * wave(v * 7.0)) * smoothstep(1.0, 0.93, s));
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
        c = blend(c, dark, 0.9 * smoothstep(1.25, 1.0, far));
        c = blend(c, light, 0.85 * smoothstep(0.85, 0.6, far));
    }
    // Marks along the front edge; veins; the chequered fringe.
    c = blend(c, dark, 0.6 * smoothstep(0.10, 0.03, v) * smoothstep(0.1, 0.5, wave(s * 9.0)));
    let vein =
        smoothstep(0.86, 1.0, 1.0 - (fract(v * 7.0 + 0.4 * s) - 0.5).abs() * 2.0) * smoothstep(0.3, 0.5, s);
    c = blend(c, dark, 0.22 * vein);
    let fringe = smoothstep(0.955, 0.975, s).max(smoothstep(0.93, 0.97, v) * smoothstep(0.55, 0.7, s));
    let check = smoothstep(-0.2, 0.2, wave(v * 9.0 + s * 5.0));
    c = blend(c, blend(dark, light, check), 0.8 * fringe);
    let under = blend(
        blend(ground, light, 0.4),
        dark,
        0.35 * line(s, v, 0.7, 0.04, 5.0, 0.012) + 0.3 * smoothstep(0.85, 0.95, s),
    );
    Skin { over: c, under, gloss: 0.0, sheer: 0.55 }
}

fn hind_skin(moth: &Individual, s: f32, v: f32) -> Skin {
    let [_, dark, light, ground, band] = *kind(moth);
    let grain = noise(s * 20.0, v * 20.0, moth.seed ^ 5);
    let mut c = ground.map(|c| c * (0.86 + 0.2 * grain));
    // Towards the free edge, from the root.
    let out = (0.55 * s * s + 0.62 * v * v).sqrt() / 0.86;
    c = blend(c, band, 0.85 * smoothstep(0.72, 0.82, out) * smoothstep(1.02, 0.96, out));
    c = blend(c, band, 0.55 * bump(0.58, 0.035, out + 0.012 * wave(8.0 * (s - 0.4 * v))));
    c = blend(c, dark, 0.6 * bump(0.36, 0.05, s) * bump(0.38, 0.09, v));
    c = blend(c, dark, 0.25 * smoothstep(0.2, 0.0, s));
    let vein = smoothstep(0.85, 1.0, 1.0 - (fract(s * 6.0) - 0.5).abs() * 2.0);
    c = blend(c, band, 0.25 * vein);
    c = blend(c, light, 0.7 * smoothstep(0.965, 0.99, v.max(s)));
    let under = blend(ground, band, 0.5 * bump(0.58, 0.05, out) + 0.25 * smoothstep(0.75, 0.9, out));
    Skin { over: c, under, gloss: 0.0, sheer: 0.70 }
}
