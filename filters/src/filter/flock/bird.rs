//! Birds: starlings, gulls, and the falcon that hunts them.

use super::mesh::{Individual, Mesh, Points, Skin, blend, bump, curve, ends, fract, mix, noise, step};
use super::vector::{V, wave};

/// The proportions of a bird; half its span is 1.
pub(super) struct Bird {
    /// Front and rear edges of the stretched wing: span from the body to the tip, and x.
    lead: Points,
    trail: Points,
    /// Where the wing bends, and from where on its feathers are apart.
    wrist: f32,
    fingers: f32,
    /// Half the body's height, from the bill (0) to the root of the tail (1), and how wide it is for its height.
    body: Points,
    stout: f32,
    /// x of the bill's root and of the tail's root; how long bill and tail are.
    ends: [f32; 2],
    bill: f32,
    tail: f32,
    /// Half the tail's width at its end, and how round its end is.
    fan: f32,
    round: f32,
    /// How the wings are held, in radians, and how far they beat.
    raised: f32,
    droop: f32,
    beat: f32,
    /// How far the hand is folded on the way up.
    folds: f32,
    plumage: Plumage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Plumage {
    Starling,
    Gull,
    Falcon,
}

pub(super) const STARLING: Bird = Bird {
    lead: [&[0.0, 0.12, 0.30, 0.42, 0.62, 0.82, 1.0], &[0.20, 0.26, 0.335, 0.315, 0.20, 0.035, -0.17]],
    trail: [
        &[0.0, 0.15, 0.35, 0.55, 0.78, 0.93, 1.0],
        &[-0.25, -0.235, -0.215, -0.185, -0.195, -0.195, -0.17],
    ],
    wrist: 0.33,
    fingers: 0.62,
    body: [
        &[0.0, 0.10, 0.20, 0.32, 0.52, 0.72, 0.88, 1.0],
        &[0.035, 0.085, 0.103, 0.125, 0.155, 0.125, 0.075, 0.045],
    ],
    stout: 1.08,
    ends: [0.50, -0.40],
    bill: 0.15,
    tail: 0.27,
    fan: 0.15,
    round: -0.02,
    raised: 0.08,
    droop: 0.10,
    beat: 0.80,
    folds: 0.42,
    plumage: Plumage::Starling,
};

pub(super) const GULL: Bird = Bird {
    lead: [
        &[0.0, 0.12, 0.28, 0.40, 0.52, 0.70, 0.88, 1.0],
        &[0.125, 0.155, 0.215, 0.235, 0.205, 0.115, -0.015, -0.125],
    ],
    trail: [
        &[0.0, 0.12, 0.28, 0.42, 0.56, 0.74, 0.90, 1.0],
        &[-0.125, -0.11, -0.055, -0.025, -0.035, -0.085, -0.13, -0.125],
    ],
    wrist: 0.40,
    fingers: 0.70,
    body: [
        &[0.0, 0.06, 0.12, 0.21, 0.32, 0.50, 0.68, 0.86, 1.0],
        &[0.022, 0.052, 0.067, 0.055, 0.066, 0.082, 0.072, 0.054, 0.042],
    ],
    stout: 0.98,
    ends: [0.40, -0.34],
    bill: 0.085,
    tail: 0.17,
    fan: 0.115,
    round: 0.03,
    raised: 0.30,
    droop: 0.30,
    beat: 0.46,
    folds: 0.34,
    plumage: Plumage::Gull,
};

pub(super) const FALCON: Bird = Bird {
    lead: [&[0.0, 0.12, 0.30, 0.42, 0.62, 0.82, 1.0], &[0.16, 0.20, 0.27, 0.26, 0.14, -0.04, -0.25]],
    trail: [
        &[0.0, 0.15, 0.35, 0.55, 0.78, 0.93, 1.0],
        &[-0.19, -0.185, -0.16, -0.155, -0.215, -0.265, -0.25],
    ],
    wrist: 0.34,
    fingers: 0.8,
    body: [
        &[0.0, 0.10, 0.20, 0.32, 0.5, 0.72, 0.88, 1.0],
        &[0.05, 0.09, 0.10, 0.12, 0.135, 0.105, 0.07, 0.05],
    ],
    stout: 1.1,
    ends: [0.38, -0.36],
    bill: 0.05,
    tail: 0.36,
    fan: 0.115,
    round: 0.03,
    raised: 0.05,
    droop: 0.10,
    beat: 0.55,
    folds: 0.4,
    plumage: Plumage::Falcon,
};

/// The shape of a wing that is bent at a phase: for a span, how far out, how high, and how far back it is.
struct Bend {
    places: [[f32; 3]; Bend::N + 1],
}

impl Bend {
    const N: usize = 24;

    fn new(bird: &Bird, phase: f32, effort: f32) -> Bend {
        // Down strokes are stretched, up strokes folded: the hand follows a seventh of a beat later.
        let beat = wave(phase);
        let late = wave(phase - 0.14);
        let fold = effort * bird.folds * (wave(phase + 0.22).max(0.0) * 0.85 + 0.15);
        let arm = bird.raised + effort * bird.beat * (beat + 0.12) + 0.5 * fold;
        let hand = arm - bird.droop + effort * bird.beat * 0.95 * (late - beat) - 0.9 * fold;
        let mut at = [0.0, 0.0, 0.0];
        let mut places = [[0.0; 3]; Bend::N + 1];
        for (i, place) in places.iter_mut().enumerate().skip(1) {
            let s = (i as f32 - 0.5) / Bend::N as f32;
            let out = step(bird.wrist - 0.16, bird.wrist + 0.20, s);
            let angle = mix(arm, hand, out) - 0.10 * bird.droop * out * s;
            let turns = angle * (0.5 / core::f32::consts::PI);
            // The arm is swept forward as the hand is swept back.
            let back = mix(-0.35, 0.95, out) * fold;
            let long = (1.0 - 0.32 * fold * out) / Bend::N as f32;
            at = [at[0] + long * wave(turns + 0.25), at[1] + long * wave(turns), at[2] + long * back];
            *place = at;
        }
        Bend { places }
    }

    fn at(&self, s: f32) -> [f32; 3] {
        let t = s.clamp(0.0, 1.0) * Bend::N as f32;
        let i = (t as usize).min(Bend::N - 1);
        blend(self.places[i], self.places[i + 1], t - i as f32)
    }
}

impl Bird {
    pub(super) fn build(&self, mesh: &mut Mesh, own: &Individual, phase: f32, effort: f32) {
        let bend = Bend::new(self, phase, effort);
        // The body rises as the wings go down.
        let heave = -0.045 * effort * wave(phase);
        let broad = own.vary(0, 1.0, 0.07);
        let twist = effort * 0.30 * wave(phase + 0.25);
        let nu = own.cuts(1.0, 4, 40);
        let nv = own.cuts(0.34, 1, 10);
        for side in [-1.0f32, 1.0] {
            let column = |u: f32| {
                // Columns are denser to the tip.
                let s = u * (1.25 - 0.25 * u);
                let (front, rear) = (curve(self.lead, s), curve(self.trail, s));
                let chord = (front - rear).max(0.0) * mix(1.0, broad, 1.0 - s);
                // The ends of feathers.
                let tips = 11.0 + 9.0 * step(0.4, 0.9, s);
                let notch = (fract(s * tips) - 0.5).abs() * 2.0;
                let notch =
                    if own.half < 14.0 { 0.0 } else { notch * mix(0.035, 0.13, step(self.fingers, 0.97, s)) };
                (s, front, chord, notch, bend.at(s))
            };
            let place = |(s, front, chord, notch, [y, z, back]): &(f32, f32, f32, f32, [f32; 3]), v: f32| {
                let chord = chord * (1.0 - v * v * notch);
                let camber = 0.42 * chord * v * (1.0 - v) * (1.0 - 0.6 * s);
                let lift = (0.10 + twist * s) * chord * (0.35 - v);
                [front - back - chord * v, side * (0.045 + 0.955 * y), z + heave + camber + lift + 0.025]
            };
            let skin = |u: f32, v: f32| self.wing(own, u * (1.25 - 0.25 * u), v);
            mesh.wing([nu, nv], side > 0.0, column, place, skin);
        }
        self.tail(mesh, own, heave, phase, effort);
        let [front, rear] = self.ends;
        let nx = own.cuts(1.1 * (front - rear), 5, 30);
        let nr = own.cuts(0.55, 4, 18);
        let at = |u: f32| front + (rear - front) * u;
        mesh.loft(
            [nx, nr],
            |u| {
                // Closer to the ends.
                let u = u * u * (3.0 - 2.0 * u) * 0.5 + u * 0.5;
                let r = curve(self.body, u) * ends(u);
                let head = step(0.34, 0.12, u);
                (
                    [at(u), 0.0, heave + 0.028 * head - 0.012 * bump(0.5, 0.3, u)],
                    r * mix(self.stout, 0.92, head),
                    r,
                )
            },
            |u, v| self.coat(own, u * u * (3.0 - 2.0 * u) * 0.5 + u * 0.5, v),
        );
        // The bill.
        let root = 0.55 * self.body[1][1];
        mesh.loft(
            [own.cuts(self.bill, 2, 6), own.cuts(0.15, 4, 8)],
            |u| {
                let r = root * (0.10 + 0.90 * u) * ends(u);
                let (x, drop) = (mix(front + self.bill + 0.02, front - 0.05, u), 1.0 - u);
                ([x, 0.0, heave + 0.024 - 0.018 * drop * drop], 0.62 * r, r)
            },
            |u, _| match self.plumage {
                Plumage::Gull => {
                    let spot = bump(0.22, 0.2, u);
                    Skin::plain(blend([0.93, 0.74, 0.20], [0.80, 0.26, 0.12], 0.5 * spot))
                }
                Plumage::Starling => Skin::plain([0.20, 0.17, 0.11]),
                Plumage::Falcon => Skin::plain([0.16, 0.17, 0.18]),
            },
        );
        if own.half > 22.0 {
            self.eyes(mesh, heave);
        }
    }

    fn eyes(&self, mesh: &mut Mesh, heave: f32) {
        let u = 0.125;
        let high = curve(self.body, u);
        let x = mix(self.ends[0], self.ends[1], u);
        let r = 0.17 * high;
        for side in [-1.0f32, 1.0] {
            mesh.loft(
                [4, 6],
                |u| {
                    let k = (u * (1.0 - u) * 4.0).max(0.0).sqrt() + 0.01;
                    (
                        [x + r * (1.0 - 2.0 * u), side * high * 0.78, heave + 0.028 + 0.30 * high],
                        0.6 * r * k,
                        r * k,
                    )
                },
                |_, _| Skin { gloss: 0.5, ..Skin::plain([0.09, 0.08, 0.07]) },
            );
        }
    }

    fn tail(&self, mesh: &mut Mesh, own: &Individual, heave: f32, phase: f32, effort: f32) {
        let root = self.ends[1] + 0.07;
        let fan = own.vary(1, self.fan, 0.25);
        let nod = 0.06 * effort * wave(phase + 0.5);
        let place = |u: f32, v: f32| {
            let across = 2.0 * v - 1.0;
            // Twelve feathers with round ends.
            let notch = (fract(v * 6.0) - 0.5).abs() * 2.0;
            let long = (self.tail + 0.07) * (1.0 - 0.035 * notch * u) - self.round * across * across * 1.5;
            let wide = mix(0.045, fan, u * (0.6 + 0.4 * u));
            [
                root - long * u,
                across * wide,
                heave + 0.012 - (nod + 0.03) * u - 0.05 * across * across * u * wide / 0.13,
            ]
        };
        let skin = |u: f32, v: f32| {
            let line = 1.0 - 0.10 * step(0.55, 1.0, (fract(v * 6.0) - 0.5).abs() * 2.0) * step(0.2, 0.6, u);
            match self.plumage {
                Plumage::Gull => {
                    let band = if own.traits[2] > 0.9 { bump(0.84, 0.16, u) } else { 0.0 };
                    let c = blend([0.95 * line; 3], [0.20, 0.17, 0.15], 0.85 * band);
                    Skin { over: c, under: c, gloss: 0.0, sheer: 0.45 }
                }
                Plumage::Starling => Skin {
                    over: [0.100 * line, 0.090 * line, 0.088 * line],
                    under: [0.15, 0.135, 0.125],
                    gloss: 0.1,
                    sheer: 0.25,
                },
                Plumage::Falcon => {
                    let bar = 0.5 + 0.5 * wave(u * 6.0);
                    let c = blend([0.30, 0.31, 0.34], [0.44, 0.43, 0.42], bar);
                    Skin { over: c, under: [c[0] * 1.3, c[1] * 1.25, c[2] * 1.15], gloss: 0.0, sheer: 0.25 }
                }
            }
        };
        mesh.sheet([own.cuts(self.tail, 1, 8), own.cuts(2.2 * fan, 2, 24)], false, 0, place, skin);
    }

    /// The wing at a span and a fraction of its chord.
    fn wing(&self, own: &Individual, s: f32, v: f32) -> Skin {
        let count = 11.0 + 9.0 * step(0.4, 0.9, s);
        // Feathers lie over each other: each is darker under the edge of the next.
        let long = step(0.42, 0.58, v);
        let edge = fract(s * count);
        let vane = 1.0 - 0.13 * long * step(0.65, 1.0, edge) + 0.05 * long * step(0.25, 0.0, edge);
        // Rows of coverts.
        let row = 1.0 - 0.09 * bump(0.46, 0.07, v) - 0.06 * bump(0.24, 0.06, v);
        let k = vane * row;
        match self.plumage {
            Plumage::Gull => {
                let young = own.traits[2] > 0.9;
                let gray = own.vary(3, 1.0, 0.05);
                let mantle = [0.60 * gray, 0.645 * gray, 0.70 * gray];
                let white = [0.96, 0.96, 0.95];
                // A white rear edge, up to the black hand.
                let rim = step(0.80, 0.90, v) * step(0.86, 0.70, s);
                let mut over = blend(mantle.map(|c| c * k), white, rim);
                // White at the front edge of the arm.
                over = blend(over, white, 0.6 * step(0.05, 0.0, v));
                let black = step(0.0, 0.05, s - 0.775 - 0.10 * v * (1.0 - v) * 4.0 + 0.05 * (1.0 - v));
                over = blend(over, [0.085, 0.085, 0.095], black);
                let mirror = bump(0.955, 0.035, s) * step(0.15, 0.4, v);
                over = blend(over, white, 0.95 * mirror);
                let mut under = blend(
                    blend([0.93, 0.94, 0.95], [0.80, 0.82, 0.85], step(0.45, 0.75, v))
                        .map(|c| c * (0.5 + 0.5 * k)),
                    white,
                    rim,
                );
                under = blend(under, [0.80, 0.80, 0.80], 0.5 * step(0.06, 0.0, v));
                under = blend(under, [0.19, 0.19, 0.20], black * 0.96);
                under = blend(under, white, 0.9 * mirror);
                if young {
                    // Brown and mottled.
                    let spots = noise(s * 40.0, v * 9.0, own.seed);
                    let brown = blend([0.40, 0.37, 0.34], [0.70, 0.67, 0.63], step(0.3, 0.75, spots));
                    over = blend(brown.map(|c| c * k), [0.16, 0.14, 0.13], step(0.62, 0.8, s));
                    under = blend([0.62, 0.57, 0.51].map(|c| c * k), [0.30, 0.27, 0.25], step(0.7, 0.85, s));
                }
                Skin { over, under, gloss: 0.0, sheer: 0.34 * long * (1.0 - 0.8 * black) }
            }
            Plumage::Starling => {
                // Buff edges of the feathers.
                let buff = 0.5 * long * step(0.75, 1.0, edge) + 0.35 * bump(0.46, 0.06, v);
                let over = blend([0.105, 0.094, 0.090], [0.23, 0.185, 0.14], buff);
                let under = blend([0.20, 0.18, 0.165], [0.29, 0.265, 0.245], long).map(|c| c * k);
                let dark = step(0.6, 0.95, s);
                Skin {
                    over: blend(over, [0.075, 0.07, 0.07], 0.6 * dark),
                    under: blend(under, [0.17, 0.155, 0.145], 0.6 * dark),
                    gloss: 0.15,
                    sheer: 0.30 * long,
                }
            }
            Plumage::Falcon => {
                let bar = 0.5 + 0.5 * wave(v * 5.0 + 0.3 * s);
                let over = blend([0.24, 0.255, 0.285], [0.32, 0.33, 0.36], bar).map(|c| c * k);
                let under = blend([0.66, 0.63, 0.58], [0.36, 0.34, 0.32], bar * 0.9);
                let dark = step(0.75, 1.0, s);
                Skin {
                    over: blend(over, [0.15, 0.15, 0.17], dark),
                    under: blend(under, [0.30, 0.28, 0.27], dark),
                    gloss: 0.0,
                    sheer: 0.2 * long,
                }
            }
        }
    }

    /// The body from the head (0) to the tail (1), at an angle from above.
    fn coat(&self, own: &Individual, u: f32, v: f32) -> Skin {
        // 1 above, -1 below.
        let up = wave(v + 0.25);
        let colour: V = match self.plumage {
            Plumage::Gull => {
                let mantle = step(0.30, 0.42, u) * step(0.86, 0.74, u) * step(0.05, 0.35, up);
                let gray = own.vary(3, 1.0, 0.05);
                let mut c = blend([0.97, 0.97, 0.965], [0.60 * gray, 0.645 * gray, 0.70 * gray], mantle);
                if own.traits[2] > 0.9 {
                    let spots = noise(u * 46.0, v * 30.0, own.seed);
                    c = blend([0.80, 0.765, 0.715], [0.66, 0.61, 0.555], step(0.25, 0.8, spots));
                }
                // A dark ear spot of some.
                if own.traits[1] > 0.6 {
                    blend(c, [0.62, 0.60, 0.58], 0.5 * bump(0.17, 0.06, u) * step(0.2, 0.7, up))
                } else {
                    c
                }
            }
            Plumage::Starling => {
                let spots = step(0.72, 0.88, noise(u * 24.0, v * 16.0, own.seed));
                let sheen = blend([0.075, 0.085, 0.085], [0.095, 0.072, 0.105], step(0.45, 0.15, u));
                blend(sheen, [0.34, 0.30, 0.25], 0.45 * spots)
            }
            Plumage::Falcon => {
                let bars = step(0.5, 0.8, noise(u * 40.0, v * 6.0, own.seed));
                let below = blend([0.80, 0.76, 0.69], [0.38, 0.34, 0.31], 0.6 * bars * step(0.25, 0.4, u));
                let c = blend(below, [0.26, 0.275, 0.305], step(-0.15, 0.35, up));
                // The hood and its moustache.
                blend(c, [0.11, 0.115, 0.13], step(0.16, 0.08, u) * step(-0.5, 0.0, up))
            }
        };
        let gloss = if self.plumage == Plumage::Starling { 0.35 } else { 0.0 };
        Skin { over: colour, under: colour, gloss, sheer: 0.0 }
    }
}
