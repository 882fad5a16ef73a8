//! Bats: fingers with skin between them, fur and ears.

use super::mesh::{Individual, Mesh, Points, SIDES, Skin, blend, bump, fract, mix, noise, profile};
use super::vector::{V, turns, wave};
use crate::math::smoothstep;

/// The stretched wing: span and x of the joints.
const SHOULDER: [f32; 2] = [0.035, 0.13];
const ELBOW: [f32; 2] = [0.20, 0.015];
const WRIST: [f32; 2] = [0.43, 0.235];
/// The tips of the third, fourth and fifth finger, and the ankle.
const THIRD: [f32; 2] = [1.0, -0.10];
const FOURTH: [f32; 2] = [0.735, -0.275];
const FIFTH: [f32; 2] = [0.455, -0.27];
const ANKLE: [f32; 2] = [0.085, -0.33];

/// The bent middles of those fingers.
const KNUCKLES: [[f32; 2]; 3] = [knuckle(THIRD, 0.0), knuckle(FOURTH, 0.0175), knuckle(FIFTH, 0.0175)];
/// A bone of a wing: both ends, the radii there, and the brightness of the fur.
type Bone = ([f32; 2], [f32; 2], [f32; 2], f32);
const BONES: [Bone; 9] = [
    (SHOULDER, ELBOW, [0.042, 0.026], 1.0),
    (ELBOW, WRIST, [0.026, 0.016], 1.15),
    (WRIST, KNUCKLES[0], [0.0135, 0.010], 1.12),
    (KNUCKLES[0], THIRD, [0.010, 0.004], 1.12),
    (WRIST, KNUCKLES[1], [0.0135, 0.010], 1.12),
    (KNUCKLES[1], FOURTH, [0.010, 0.004], 1.12),
    (WRIST, KNUCKLES[2], [0.0135, 0.010], 1.12),
    (KNUCKLES[2], FIFTH, [0.010, 0.004], 1.12),
    // The thumb.
    (WRIST, [WRIST[0] + 0.015, WRIST[1] + 0.065], [0.011, 0.004], 1.12),
];

/// u of the fifth and fourth finger in the wing's grid; the third is at 1.
const FANS: [f32; 2] = [0.46, 0.73];

/// Half the height of body and head from the nose (0) to the tail (1).
const BODY: Points = [
    &[0.0, 0.07, 0.16, 0.27, 0.40, 0.62, 0.82, 1.0],
    &[0.044, 0.068, 0.094, 0.090, 0.114, 0.112, 0.074, 0.03],
];

const fn knuckle(tip: [f32; 2], bend: f32) -> [f32; 2] {
    let [s, x] = between(WRIST, tip, 0.5);
    [s, x + bend]
}

const fn between(a: [f32; 2], b: [f32; 2], t: f32) -> [f32; 2] {
    [mix(a[0], b[0], t), mix(a[1], b[1], t)]
}

/// A point of the free edge, which curves in from one finger's tip to the next.
fn free_edge(a: [f32; 2], b: [f32; 2], hub: [f32; 2], t: f32, deep: f32) -> [f32; 2] {
    let k = deep * 4.0 * t * (1.0 - t);
    between(between(a, b, t), hub, k)
}

/// The wing bent at a phase.
struct Wing {
    arm: f32,
    hand: f32,
    fold: f32,
}

impl Wing {
    fn new(&Individual { phase, effort, .. }: &Individual) -> Wing {
        let (beat, late) = (wave(phase), wave(phase - 0.13));
        let fold = effort * (0.10 + 0.62 * wave(phase + 0.22).max(0.0));
        let arm = 0.16 + 0.80 * effort * (beat + 0.05) + 0.25 * fold;
        let hand = arm - 0.10 + 0.80 * effort * (late - beat) - 0.75 * fold;
        Wing { arm, hand, fold }
    }

    /// The position of a point of the stretched wing.
    fn at(&self, [s, x]: [f32; 2], billow: f32, side: f32) -> V {
        // The hand turns back around the wrist as it folds.
        let (mut s, mut x) = (s, x);
        let out = smoothstep(WRIST[0] - 0.10, WRIST[0] + 0.16, s);
        if self.fold > 0.0 {
            let (ds, dx) = (s - WRIST[0], x - WRIST[1]);
            let angle = 0.105 * self.fold * out;
            let (sin, cos) = (wave(angle), wave(angle + 0.25));
            (s, x) = (WRIST[0] + (ds * cos + dx * sin * 0.6), WRIST[1] + (dx * cos - ds * sin));
        }
        // Spans before and behind the bend, which is round: an arc from the arm's angle to the hand's.
        let soft = 0.16;
        let past = s - WRIST[0];
        let outer = if past <= -soft {
            0.0
        } else if past >= soft {
            past
        } else {
            (past + soft) * (past + soft) / (4.0 * soft)
        };
        let inner = s - outer;
        let (arm, hand) = (turns(self.arm), turns(self.hand));
        let y = inner * wave(arm + 0.25) + outer * wave(hand + 0.25);
        let z = inner * wave(arm) + outer * wave(hand);
        let lean = mix(arm, hand, out);
        [x, side * (y - billow * wave(lean)), z + billow * wave(lean + 0.25)]
    }
}

/// A point of the wing's grid (u along the span, v from the front edge to the free one) in the stretched wing, and how far
/// the air lifts the membrane there.
fn skin_at(u: f32, v: f32) -> ([f32; 2], f32) {
    if u <= FANS[0] {
        let t = u / FANS[0];
        // The arm's front edge: a fold of skin before the elbow.
        let front = if t < 0.45 {
            let k = t / 0.45;
            let bone = between(SHOULDER, ELBOW, k);
            [bone[0], bone[1] + 0.10 * k + 0.02 * wave(0.5 * k)]
        } else {
            let k = (t - 0.45) / 0.55;
            let bone = between(ELBOW, WRIST, k);
            [bone[0], bone[1] + 0.10 * (1.0 - k) * (1.0 - 0.3 * k)]
        };
        let rear = free_edge(ANKLE, FIFTH, ELBOW, t, 0.13);
        let sag = 0.10 * wave(0.5 * t) * wave(0.5 * (0.25 + 0.75 * v));
        (between(front, rear, v), sag)
    } else {
        let (a, b, t, deep) = if u <= FANS[1] {
            (FIFTH, FOURTH, (u - FANS[0]) / (FANS[1] - FANS[0]), 0.08)
        } else {
            (FOURTH, THIRD, (u - FANS[1]) / (1.0 - FANS[1]), 0.10)
        };
        let rear = free_edge(a, b, WRIST, t, deep);
        // Fingers are bent a little.
        let mut at = between(WRIST, rear, v);
        at[1] += 0.07 * v * (1.0 - v) * smoothstep(0.4, 1.0, u);
        (at, 0.085 * wave(0.5 * t) * v * (1.1 - 0.5 * v))
    }
}

pub(super) fn build(mesh: &mut Mesh, bat: &Individual) {
    for side in SIDES {
        wing(mesh, bat, side);
    }
    tail(mesh, bat);
    body(mesh, bat);
    for side in SIDES {
        ear(mesh, bat, side);
        if bat.half > 30.0 {
            let eye = Skin { gloss: 0.8, ..Skin::plain([0.03; 3]) };
            mesh.ball([3, 6], [0.305, side * 0.047, heave(bat) + 0.045], 0.011, eye);
        }
    }
}

fn brown(bat: &Individual) -> f32 {
    bat.vary(0, 1.0, 0.18)
}

fn fur(bat: &Individual, dark: f32) -> V {
    [0.165, 0.138, 0.122].map(|c| c * brown(bat) * dark)
}

/// The height of the body, which rises as the wings go down.
fn heave(bat: &Individual) -> f32 {
    -0.06 * bat.effort * wave(bat.phase)
}

fn wing(mesh: &mut Mesh, bat: &Individual, side: f32) {
    let (wing, heave) = (Wing::new(bat), heave(bat));
    let at = |point: [f32; 2], billow: f32| {
        let p = wing.at(point, billow, side);
        [p[0], p[1], p[2] + heave]
    };
    let place = |u: f32, v: f32| {
        let (point, sag) = skin_at(u, v);
        let p = at(point, sag * (0.6 + 0.4 * bat.effort));
        // Next to the body the membrane is below the back.
        [p[0], p[1], p[2] - 0.01]
    };
    let n = bat.cuts([(1.5, 11, 54), (0.55, 3, 16)]);
    mesh.sheet(n.flipped(side > 0.0), place, |u, v| membrane(bat, u, v));
    if bat.half > 9.0 {
        for (a, b, radii, dark) in BONES {
            let skin = Skin { gloss: 0.1, ..Skin::plain(fur(bat, dark)) };
            let n = bat.cuts([(0.2, 1, 4), (0.1, 4, 6)]);
            mesh.tube(n, [a, b].map(|p| at(p, 0.004)), radii, skin);
        }
    }
}

/// The membrane between the legs, and the tail in it.
fn tail(mesh: &mut Mesh, bat: &Individual) {
    let heave = heave(bat);
    let at = |u: f32, v: f32| {
        let across = 2.0 * v - 1.0;
        let long = 0.32 - 0.11 * (1.0 - (1.0 - across.abs()) * (1.0 - across.abs()))
            + 0.06 * bump(0.0, 0.35, across);
        [
            -0.13 - long * u * 0.95,
            across * mix(0.05, ANKLE[0] + 0.045, u),
            heave - 0.03 - 0.06 * u * bat.effort * wave(bat.phase + 0.4) - 0.05 * u,
        ]
    };
    let skin = |u: f32, v: f32| {
        let tail = bump(0.5, 0.10, v);
        let c = blend(membrane(bat, 0.1, 0.5 + 0.4 * u).over, fur(bat, 1.2), 0.7 * tail);
        Skin { over: c, under: c.map(|c| c * 1.1), gloss: 0.05, sheer: 0.5 * (1.0 - tail) }
    };
    mesh.sheet(bat.cuts([(0.3, 2, 8), (0.3, 4, 10)]), at, skin);
}

/// Body and head in one, with fur that stands off.
fn body(mesh: &mut Mesh, bat: &Individual) {
    let heave = heave(bat);
    let ring = |u: f32| {
        let r = profile(BODY, u);
        let tuft = noise(u * 30.0, bat.traits[1] * 50.0, bat.seed) - 0.5;
        let rough = 1.0 + 0.16 * tuft * smoothstep(0.08, 0.2, u);
        let head = smoothstep(0.30, 0.12, u);
        ([0.33 - 0.52 * u, 0.0, heave + 0.025 * head], 1.05 * r * rough, 0.95 * r * rough)
    };
    let skin = |u: f32, v: f32| {
        let belly = blend([1.45, 1.45, 1.5], [1.0; 3], smoothstep(-0.5, 0.4, wave(v + 0.25)));
        let face = blend([1.0; 3], [0.62, 0.60, 0.62], smoothstep(0.10, 0.03, u));
        let c = fur(bat, 0.80 + 0.40 * noise(u * 34.0, v * 26.0, bat.seed));
        Skin::plain([0, 1, 2].map(|i: usize| c[i] * belly[i] * face[i]))
    };
    mesh.loft(bat.cuts([(0.8, 7, 24), (0.6, 8, 18)]), ring, skin);
}

/// An ear: a pointed cup that opens to the front and outwards.
fn ear(mesh: &mut Mesh, bat: &Individual, side: f32) {
    let heave = heave(bat);
    let at = |u: f32, v: f32| {
        let across = 2.0 * v - 1.0;
        let wide = 0.052 * (1.0 - u) * (0.55 + 1.8 * u).min(1.0) + 0.004;
        let (x, y, z) = (0.255 - 0.015 * u, 0.042 + 0.055 * u, 0.065 + 0.155 * u);
        [
            x + 0.5 * wide * across - 0.022 * (1.0 - across * across) * (1.0 - u),
            side * (y + wide * across * 0.8),
            heave + z,
        ]
    };
    let skin = |u: f32, _: f32| {
        let c = blend(fur(bat, 0.9), [0.20, 0.145, 0.125], 0.5 * u);
        Skin { over: c, under: [0.30, 0.205, 0.18], gloss: 0.0, sheer: 0.45 }
    };
    mesh.sheet(bat.cuts([(0.15, 3, 8), (0.1, 2, 6)]).flipped(side > 0.0), at, skin);
}

/// The membrane of a wing: thin, with veins and folds that run to the free edge.
fn membrane(bat: &Individual, u: f32, v: f32) -> Skin {
    let folds =
        if u < FANS[0] { 0.5 + 0.5 * wave(u * 17.0 + 0.3 * v) } else { 0.5 + 0.5 * wave(v * 6.0 + u * 5.0) };
    let vein = smoothstep(0.80, 0.95, 1.0 - (fract(u * 13.0 + 0.25 * v) - 0.5).abs() * 0.8);
    let k =
        brown(bat) * (0.86 + 0.16 * folds + 0.05 * vein + 0.10 * (noise(u * 22.0, v * 9.0, bat.seed) - 0.5));
    let near = smoothstep(0.25, 0.0, u) * smoothstep(0.9, 0.2, v);
    let base = blend([0.175, 0.142, 0.126], [0.135, 0.108, 0.096], near);
    // The free edge is a little lighter.
    let rim = 1.0 + 0.25 * smoothstep(0.93, 1.0, v);
    let over = base.map(|c| c * k * rim);
    let under = [over[0] * 1.20, over[1] * 1.12, over[2] * 1.08];
    Skin { over, under, gloss: 0.10, sheer: 0.55 * (1.0 - 0.6 * near) }
}
