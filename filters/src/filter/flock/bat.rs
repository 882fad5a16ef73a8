//! Bats: fingers with skin between them, fur and ears.

use super::mesh::{Individual, Mesh, Points, Skin, blend, bump, curve, ends, fract, mix, noise, step};
use super::vector::{V, wave};

/// The stretched wing: span and x of the joints.
const SHOULDER: [f32; 2] = [0.035, 0.13];
const ELBOW: [f32; 2] = [0.20, 0.015];
const WRIST: [f32; 2] = [0.43, 0.235];
/// The tips of the third, fourth and fifth finger, and the ankle.
const THIRD: [f32; 2] = [1.0, -0.10];
const FOURTH: [f32; 2] = [0.735, -0.275];
const FIFTH: [f32; 2] = [0.455, -0.27];
const ANKLE: [f32; 2] = [0.085, -0.33];

/// Half of the outer membranes' share of the grid: fingers are at .46, .73 and 1.
const FANS: [f32; 2] = [0.46, 0.73];

fn between(a: [f32; 2], b: [f32; 2], t: f32) -> [f32; 2] {
    [mix(a[0], b[0], t), mix(a[1], b[1], t)]
}

/// From one finger's tip to the next: the free edge curves in.
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
    fn new(phase: f32, effort: f32) -> Wing {
        let (beat, late) = (wave(phase), wave(phase - 0.13));
        let fold = effort * (0.10 + 0.62 * wave(phase + 0.22).max(0.0));
        let arm = 0.16 + 0.80 * effort * (beat + 0.05) + 0.25 * fold;
        let hand = arm - 0.10 + 0.80 * effort * (late - beat) - 0.75 * fold;
        Wing { arm, hand, fold }
    }

    /// A place of the stretched wing.
    fn at(&self, [s, x]: [f32; 2], billow: f32, side: f32) -> V {
        // The hand turns back around the wrist as it folds.
        let (mut s, mut x) = (s, x);
        let out = step(WRIST[0] - 0.10, WRIST[0] + 0.16, s);
        if self.fold > 0.0 {
            let (ds, dx) = (s - WRIST[0], x - WRIST[1]);
            let turns = 0.105 * self.fold * out;
            let (sin, cos) = (wave(turns), wave(turns + 0.25));
            let far = [ds * cos + dx * sin * 0.6, dx * cos - ds * sin];
            (s, x) = (WRIST[0] + far[0], WRIST[1] + far[1]);
        }
        // Along an arc from the arm's angle to the hand's.
        let turns = |angle: f32| angle * (0.5 / core::f32::consts::PI);
        let knee = WRIST[0];
        let soft = 0.16;
        // Spans before and behind the bend, which is round.
        let past = s - knee;
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

/// A place of the wing's grid: u along it, v from its front edge to the free one; in the stretched wing, and how far the
/// skin is blown up there.
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
        at[1] += 0.07 * v * (1.0 - v) * step(0.4, 1.0, u);
        (at, 0.085 * wave(0.5 * t) * v * (1.1 - 0.5 * v))
    }
}

pub(super) fn build(mesh: &mut Mesh, own: &Individual, phase: f32, effort: f32) {
    let wing = Wing::new(phase, effort);
    let heave = -0.06 * effort * wave(phase);
    let lift = |p: V| [p[0], p[1], p[2] + heave];
    let brown = own.vary(0, 1.0, 0.18);
    let fur = |dark: f32| -> V { [0.165 * brown * dark, 0.138 * brown * dark, 0.122 * brown * dark] };
    let (nu, nv) = (own.cuts(1.5, 11, 54), own.cuts(0.55, 3, 16));
    for side in [-1.0f32, 1.0] {
        let place = |u: f32, v: f32| {
            let (at, sag) = skin_at(u, v);
            let p = lift(wing.at(at, sag * (0.6 + 0.4 * effort), side));
            // Towards the body the skin is below the back.
            [p[0], p[1], p[2] - 0.01]
        };
        let skin = |u: f32, v: f32| membrane(own, u, v, brown);
        mesh.sheet([nu, nv], side > 0.0, 0, place, skin);
        if own.half > 9.0 {
            let bone = |mesh: &mut Mesh, a: [f32; 2], b: [f32; 2], radii: [f32; 2], colour: V| {
                let n = [own.cuts(0.2, 1, 4), own.cuts(0.1, 4, 6)];
                let tips = [a, b].map(|p| lift(wing.at(p, 0.004, side)));
                mesh.tube(n, tips, radii, |_, _| Skin { gloss: 0.1, ..Skin::plain(colour) });
            };
            bone(mesh, SHOULDER, ELBOW, [0.042, 0.026], fur(1.0));
            bone(mesh, ELBOW, WRIST, [0.026, 0.016], fur(1.15));
            let finger = fur(1.12);
            for (tip, bend) in [(THIRD, 0.0), (FOURTH, 0.0175), (FIFTH, 0.0175)] {
                let knuckle = between(WRIST, tip, 0.5);
                let knuckle = [knuckle[0], knuckle[1] + bend];
                bone(mesh, WRIST, knuckle, [0.0135, 0.010], finger);
                bone(mesh, knuckle, tip, [0.010, 0.004], finger);
            }
            // The thumb.
            let thumb = [WRIST[0] + 0.015, WRIST[1] + 0.065];
            bone(mesh, WRIST, thumb, [0.011, 0.004], finger);
        }
    }
    // The skin between the legs, and the tail in it.
    mesh.sheet(
        [own.cuts(0.3, 2, 8), own.cuts(0.3, 4, 10)],
        false,
        0,
        |u, v| {
            let across = 2.0 * v - 1.0;
            let long = 0.32 - 0.11 * (1.0 - (1.0 - across.abs()) * (1.0 - across.abs()))
                + 0.06 * bump(0.0, 0.35, across);
            [
                -0.13 - long * u * 0.95,
                across * mix(0.05, ANKLE[0] + 0.045, u),
                heave - 0.03 - 0.06 * u * effort * wave(phase + 0.4) - 0.05 * u,
            ]
        },
        |u, v| {
            let tail = bump(0.5, 0.10, v);
            let c = blend(membrane(own, 0.1, 0.5 + 0.4 * u, brown).over, fur(1.2), 0.7 * tail);
            Skin { over: c, under: c.map(|c| c * 1.1), gloss: 0.05, sheer: 0.5 * (1.0 - tail) }
        },
    );
    // Body and head in one, with fur that stands off.
    let shape: Points = [
        &[0.0, 0.07, 0.16, 0.27, 0.40, 0.62, 0.82, 1.0],
        &[0.044, 0.068, 0.094, 0.090, 0.114, 0.112, 0.074, 0.03],
    ];
    mesh.loft(
        [own.cuts(0.8, 7, 24), own.cuts(0.6, 8, 18)],
        |u| {
            let r = curve(shape, u) * ends(u);
            let rough =
                1.0 + 0.16 * (noise(u * 30.0, own.traits[1] * 50.0, own.seed) - 0.5) * step(0.08, 0.2, u);
            let head = step(0.30, 0.12, u);
            ([0.33 - 0.52 * u, 0.0, heave + 0.025 * head], 1.05 * r * rough, 0.95 * r * rough)
        },
        |u, v| {
            let up = wave(v + 0.25);
            let hair = 0.80 + 0.40 * noise(u * 34.0, v * 26.0, own.seed);
            let belly = blend([1.45, 1.45, 1.5], [1.0; 3], step(-0.5, 0.4, up));
            let face = blend([1.0; 3], [0.62, 0.60, 0.62], step(0.10, 0.03, u));
            let c = fur(hair);
            Skin::plain([0, 1, 2].map(|i: usize| c[i] * belly[i] * face[i]))
        },
    );
    for side in [-1.0f32, 1.0] {
        // Ears: pointed cups that open to the front and outwards.
        mesh.sheet(
            [own.cuts(0.15, 3, 8), own.cuts(0.1, 2, 6)],
            side > 0.0,
            0,
            |u, v| {
                let across = 2.0 * v - 1.0;
                let wide = 0.052 * (1.0 - u) * (0.55 + 1.8 * u).min(1.0) + 0.004;
                let (x, y, z) = (0.255 - 0.015 * u, 0.042 + 0.055 * u, 0.065 + 0.155 * u);
                [
                    x + 0.5 * wide * across - 0.022 * (1.0 - across * across) * (1.0 - u),
                    side * (y + wide * across * 0.8),
                    heave + z,
                ]
            },
            |u, _| {
                let c = blend(fur(0.9), [0.20, 0.145, 0.125], 0.5 * u);
                Skin { over: c, under: [0.30, 0.205, 0.18], gloss: 0.0, sheer: 0.45 }
            },
        );
        if own.half > 30.0 {
            let eye = Skin { gloss: 0.8, ..Skin::plain([0.03; 3]) };
            mesh.ball([3, 6], [0.305, side * 0.047, heave + 0.045], 0.011, eye);
        }
    }
}

/// The skin of a wing: thin, with bones and folds that run to the free edge.
fn membrane(own: &Individual, u: f32, v: f32, brown: f32) -> Skin {
    let folds =
        if u < FANS[0] { 0.5 + 0.5 * wave(u * 17.0 + 0.3 * v) } else { 0.5 + 0.5 * wave(v * 6.0 + u * 5.0) };
    let vein = step(0.80, 0.95, 1.0 - (fract(u * 13.0 + 0.25 * v) - 0.5).abs() * 0.8);
    let k = brown * (0.86 + 0.16 * folds + 0.05 * vein + 0.10 * (noise(u * 22.0, v * 9.0, own.seed) - 0.5));
    let near = step(0.25, 0.0, u) * step(0.9, 0.2, v);
    let base = blend([0.175, 0.142, 0.126], [0.135, 0.108, 0.096], near);
    // The free edge is a little lighter.
    let rim = 1.0 + 0.25 * step(0.93, 1.0, v);
    let over = base.map(|c| c * k * rim);
    let under = [over[0] * 1.20, over[1] * 1.12, over[2] * 1.08];
    Skin { over, under, gloss: 0.10, sheer: 0.55 * (1.0 - 0.6 * near) }
}
