//! Birds: starlings, gulls, and the falcon that hunts them.

use super::mesh::{
    Individual, Mesh, Points, SIDES, Sheet, Skin, blend, bump, curve, ends, fract, mix, noise, profile,
};
use super::vector::{V, turns, wave};
use crate::math::{smooth, smoothstep};

/// The proportions of a bird; half its span is 1.
pub(super) struct Bird {
    /// Front and rear edges of the stretched wing: span from the body to the tip, and x.
    lead: Points,
    trail: Points,
    /// Half the body's height, from the bill (0) to the root of the tail (1).
    body: Points,
    /// The body's width for its height, and x of the roots of bill and tail.
    stout: f32,
    ends: [f32; 2],
    bill: f32,
    tail: Tail,
    wing: Wing,
    plumage: Plumage,
}

/// The length of a tail, half the width at its end, and how round that is.
struct Tail {
    long: f32,
    fan: f32,
    round: f32,
}

/// How a wing is held (angles in radians) and beats.
struct Wing {
    /// The spans of the wrist and of the end of the closed feathers.
    wrist: f32,
    fingers: f32,
    raised: f32,
    droop: f32,
    beat: f32,
    /// How far the hand is folded on the way up.
    folds: f32,
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
    body: [
        &[0.0, 0.10, 0.20, 0.32, 0.52, 0.72, 0.88, 1.0],
        &[0.035, 0.085, 0.103, 0.125, 0.155, 0.125, 0.075, 0.045],
    ],
    stout: 1.08,
    ends: [0.50, -0.40],
    bill: 0.15,
    tail: Tail { long: 0.27, fan: 0.15, round: -0.02 },
    wing: Wing { wrist: 0.33, fingers: 0.62, raised: 0.08, droop: 0.10, beat: 0.80, folds: 0.42 },
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
    body: [
        &[0.0, 0.06, 0.12, 0.21, 0.32, 0.50, 0.68, 0.86, 1.0],
        &[0.022, 0.052, 0.067, 0.055, 0.066, 0.082, 0.072, 0.054, 0.042],
    ],
    stout: 0.98,
    ends: [0.40, -0.34],
    bill: 0.085,
    tail: Tail { long: 0.17, fan: 0.115, round: 0.03 },
    wing: Wing { wrist: 0.40, fingers: 0.70, raised: 0.30, droop: 0.30, beat: 0.46, folds: 0.34 },
    plumage: Plumage::Gull,
};

pub(super) const FALCON: Bird = Bird {
    lead: [&[0.0, 0.12, 0.30, 0.42, 0.62, 0.82, 1.0], &[0.16, 0.20, 0.27, 0.26, 0.14, -0.04, -0.25]],
    trail: [
        &[0.0, 0.15, 0.35, 0.55, 0.78, 0.93, 1.0],
        &[-0.19, -0.185, -0.16, -0.155, -0.215, -0.265, -0.25],
    ],
    body: [
        &[0.0, 0.10, 0.20, 0.32, 0.5, 0.72, 0.88, 1.0],
        &[0.05, 0.09, 0.10, 0.12, 0.135, 0.105, 0.07, 0.05],
    ],
    stout: 1.1,
    ends: [0.38, -0.36],
    bill: 0.05,
    tail: Tail { long: 0.36, fan: 0.115, round: 0.03 },
    wing: Wing { wrist: 0.34, fingers: 0.8, raised: 0.05, droop: 0.10, beat: 0.55, folds: 0.4 },
    plumage: Plumage::Falcon,
};

/// The shape of a wing at a phase: for a span, the offset outwards, up and back.
struct Bend {
    places: [[f32; 3]; Bend::N + 1],
}

impl Bend {
    const N: usize = 24;

    fn new(wing: &Wing, &Individual { phase, effort, .. }: &Individual) -> Bend {
        // Down strokes are stretched, up strokes folded: the hand follows a seventh of a beat later.
        let beat = wave(phase);
        let late = wave(phase - 0.14);
        let fold = effort * wing.folds * (wave(phase + 0.22).max(0.0) * 0.85 + 0.15);
        let arm = wing.raised + effort * wing.beat * (beat + 0.12) + 0.5 * fold;
        let hand = arm - wing.droop + effort * wing.beat * 0.95 * (late - beat) - 0.9 * fold;
        let mut at = [0.0, 0.0, 0.0];
        let mut places = [[0.0; 3]; Bend::N + 1];
        for (i, place) in places.iter_mut().enumerate().skip(1) {
            let s = (i as f32 - 0.5) / Bend::N as f32;
            let out = smoothstep(wing.wrist - 0.16, wing.wrist + 0.20, s);
            let angle = mix(arm, hand, out) - 0.10 * wing.droop * out * s;
            let t = turns(angle);
            // The arm is swept forward as the hand is swept back.
            let back = mix(-0.35, 0.95, out) * fold;
            let long = (1.0 - 0.32 * fold * out) / Bend::N as f32;
            at = [at[0] + long * wave(t + 0.25), at[1] + long * wave(t), at[2] + long * back];
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
    pub(super) fn build(&self, mesh: &mut Mesh, own: &Individual) {
        // The body rises as the wings go down.
        let heave = -0.045 * own.effort * wave(own.phase);
        self.wings(mesh, own, heave);
        self.tail(mesh, own, heave);
        self.body(mesh, own, heave);
        self.bill(mesh, own, heave);
        if own.half > 22.0 {
            self.eyes(mesh, heave);
        }
    }

    fn wings(&self, mesh: &mut Mesh, own: &Individual, heave: f32) {
        let bend = Bend::new(&self.wing, own);
        let broad = own.vary(0, 1.0, 0.07);
        let twist = own.effort * 0.30 * wave(own.phase + 0.25);
        // Columns are denser to the tip.
        let span = |u: f32| u * (1.25 - 0.25 * u);
        let column = |u: f32| {
            let s = span(u);
            let (front, rear) = (curve(self.lead, s), curve(self.trail, s));
            let chord = (front - rear).max(0.0) * mix(1.0, broad, 1.0 - s);
            // The ends of feathers.
            let notch = (fract(s * feathers(s)) - 0.5).abs() * 2.0;
            let deep = mix(0.035, 0.13, smoothstep(self.wing.fingers, 0.97, s));
            (s, front, chord, if own.half < 14.0 { 0.0 } else { notch * deep }, bend.at(s))
        };
        for side in SIDES {
            let place = |(s, front, chord, notch, [y, z, back]): &(f32, f32, f32, f32, [f32; 3]), v: f32| {
                let chord = chord * (1.0 - v * v * notch);
                let camber = 0.42 * chord * v * (1.0 - v) * (1.0 - 0.6 * s);
                let lift = (0.10 + twist * s) * chord * (0.35 - v);
                [front - back - chord * v, side * (0.045 + 0.955 * y), z + heave + camber + lift + 0.025]
            };
            let n = own.cuts([(1.0, 4, 40), (0.34, 1, 10)]);
            mesh.wing(n.flipped(side > 0.0), column, place, |u, v| self.wing_skin(own, span(u), v));
        }
    }

    fn body(&self, mesh: &mut Mesh, own: &Individual, heave: f32) {
        let [front, rear] = self.ends;
        // Rings are closer to the ends.
        let dense = |u: f32| smooth(u) * 0.5 + u * 0.5;
        let ring = |u: f32| {
            let u = dense(u);
            let r = profile(self.body, u);
            let head = smoothstep(0.34, 0.12, u);
            let z = heave + 0.028 * head - 0.012 * bump(0.5, 0.3, u);
            ([mix(front, rear, u), 0.0, z], r * mix(self.stout, 0.92, head), r)
        };
        let n = own.cuts([(1.1 * (front - rear), 5, 30), (0.55, 4, 18)]);
        mesh.loft(n, ring, |u, v| self.body_skin(own, dense(u), v));
    }

    fn bill(&self, mesh: &mut Mesh, own: &Individual, heave: f32) {
        let front = self.ends[0];
        let root = 0.55 * self.body[1][1];
        let ring = |u: f32| {
            let r = root * (0.10 + 0.90 * u) * ends(u);
            let (x, drop) = (mix(front + self.bill + 0.02, front - 0.05, u), 1.0 - u);
            ([x, 0.0, heave + 0.024 - 0.018 * drop * drop], 0.62 * r, r)
        };
        let skin = |u: f32, _: f32| {
            Skin::plain(match self.plumage {
                Plumage::Gull => blend([0.93, 0.74, 0.20], [0.80, 0.26, 0.12], 0.5 * bump(0.22, 0.2, u)),
                Plumage::Starling => [0.20, 0.17, 0.11],
                Plumage::Falcon => [0.16, 0.17, 0.18],
            })
        };
        mesh.loft(own.cuts([(self.bill, 2, 6), (0.15, 4, 8)]), ring, skin);
    }

    fn eyes(&self, mesh: &mut Mesh, heave: f32) {
        let (high, x) = (curve(self.body, 0.125), mix(self.ends[0], self.ends[1], 0.125));
        let r = 0.17 * high;
        for side in SIDES {
            let ring = |u: f32| {
                let k = (u * (1.0 - u) * 4.0).max(0.0).sqrt() + 0.01;
                let at = [x + r * (1.0 - 2.0 * u), side * high * 0.78, heave + 0.028 + 0.30 * high];
                (at, 0.6 * r * k, r * k)
            };
            let skin = Skin { gloss: 0.5, ..Skin::plain([0.09, 0.08, 0.07]) };
            mesh.loft(Sheet::new([4, 6]), ring, |_, _| skin);
        }
    }

    fn tail(&self, mesh: &mut Mesh, own: &Individual, heave: f32) {
        let Tail { long, fan, round } = self.tail;
        let root = self.ends[1] + 0.07;
        let fan = own.vary(1, fan, 0.25);
        let nod = 0.06 * own.effort * wave(own.phase + 0.5);
        let place = |u: f32, v: f32| {
            let across = 2.0 * v - 1.0;
            // Twelve feathers with round ends.
            let notch = (fract(v * 6.0) - 0.5).abs() * 2.0;
            let long = (long + 0.07) * (1.0 - 0.035 * notch * u) - round * across * across * 1.5;
            let wide = mix(0.045, fan, u * (0.6 + 0.4 * u));
            let z = heave + 0.012 - (nod + 0.03) * u - 0.05 * across * across * u * wide / 0.13;
            [root - long * u, across * wide, z]
        };
        let n = own.cuts([(long, 1, 8), (2.2 * fan, 2, 24)]);
        mesh.sheet(n, place, |u, v| self.tail_skin(own, u, v));
    }

    fn tail_skin(&self, own: &Individual, u: f32, v: f32) -> Skin {
        let line =
            1.0 - 0.10 * smoothstep(0.55, 1.0, (fract(v * 6.0) - 0.5).abs() * 2.0) * smoothstep(0.2, 0.6, u);
        match self.plumage {
            Plumage::Gull => {
                let band = if is_young(own) { bump(0.84, 0.16, u) } else { 0.0 };
                let c = blend([0.95 * line; 3], [0.20, 0.17, 0.15], 0.85 * band);
                Skin { sheer: 0.45, ..Skin::plain(c) }
            }
            Plumage::Starling => {
                let over = [0.100, 0.090, 0.088].map(|c| c * line);
                Skin { over, under: [0.15, 0.135, 0.125], gloss: 0.1, sheer: 0.25 }
            }
            Plumage::Falcon => {
                let over = blend([0.30, 0.31, 0.34], [0.44, 0.43, 0.42], 0.5 + 0.5 * wave(u * 6.0));
                let under = [over[0] * 1.3, over[1] * 1.25, over[2] * 1.15];
                Skin { over, under, gloss: 0.0, sheer: 0.25 }
            }
        }
    }

    /// The skin of the wing at a span and a fraction of its chord.
    fn wing_skin(&self, own: &Individual, s: f32, v: f32) -> Skin {
        // Feathers lie over each other: each is darker under the edge of the next.
        let long = smoothstep(0.42, 0.58, v);
        let edge = fract(s * feathers(s));
        let vane =
            1.0 - 0.13 * long * smoothstep(0.65, 1.0, edge) + 0.05 * long * smoothstep(0.25, 0.0, edge);
        // Rows of coverts.
        let row = 1.0 - 0.09 * bump(0.46, 0.07, v) - 0.06 * bump(0.24, 0.06, v);
        let k = vane * row;
        match self.plumage {
            Plumage::Gull => gull_wing(own, s, v, long, k),
            Plumage::Starling => {
                // Buff edges of the feathers.
                let buff = 0.5 * long * smoothstep(0.75, 1.0, edge) + 0.35 * bump(0.46, 0.06, v);
                let over = blend([0.105, 0.094, 0.090], [0.23, 0.185, 0.14], buff);
                let under = blend([0.20, 0.18, 0.165], [0.29, 0.265, 0.245], long).map(|c| c * k);
                let dark = 0.6 * smoothstep(0.6, 0.95, s);
                let over = blend(over, [0.075, 0.07, 0.07], dark);
                Skin {
                    over,
                    under: blend(under, [0.17, 0.155, 0.145], dark),
                    gloss: 0.15,
                    sheer: 0.30 * long,
                }
            }
            Plumage::Falcon => {
                let bar = 0.5 + 0.5 * wave(v * 5.0 + 0.3 * s);
                let over = blend([0.24, 0.255, 0.285], [0.32, 0.33, 0.36], bar).map(|c| c * k);
                let under = blend([0.66, 0.63, 0.58], [0.36, 0.34, 0.32], bar * 0.9);
                let dark = smoothstep(0.75, 1.0, s);
                let over = blend(over, [0.15, 0.15, 0.17], dark);
                Skin { over, under: blend(under, [0.30, 0.28, 0.27], dark), gloss: 0.0, sheer: 0.2 * long }
            }
        }
    }

    /// The skin of the body from the head (0) to the tail (1), at an angle from above.
    fn body_skin(&self, own: &Individual, u: f32, v: f32) -> Skin {
        // 1 above, -1 below.
        let up = wave(v + 0.25);
        let spots = |across: f32, around: f32| noise(u * across, v * around, own.seed);
        let colour = match self.plumage {
            Plumage::Gull => {
                let mantle =
                    smoothstep(0.30, 0.42, u) * smoothstep(0.86, 0.74, u) * smoothstep(0.05, 0.35, up);
                let adult = blend([0.97, 0.97, 0.965], gull_gray(own), mantle);
                let young = || {
                    blend([0.80, 0.765, 0.715], [0.66, 0.61, 0.555], smoothstep(0.25, 0.8, spots(46.0, 30.0)))
                };
                // A dark ear spot of some.
                let ear = if own.traits[1] > 0.6 {
                    0.5 * bump(0.17, 0.06, u) * smoothstep(0.2, 0.7, up)
                } else {
                    0.0
                };
                blend(if is_young(own) { young() } else { adult }, [0.62, 0.60, 0.58], ear)
            }
            Plumage::Starling => {
                let sheen = blend([0.075, 0.085, 0.085], [0.095, 0.072, 0.105], smoothstep(0.45, 0.15, u));
                blend(sheen, [0.34, 0.30, 0.25], 0.45 * smoothstep(0.72, 0.88, spots(24.0, 16.0)))
            }
            Plumage::Falcon => {
                let bars = 0.6 * smoothstep(0.5, 0.8, spots(40.0, 6.0)) * smoothstep(0.25, 0.4, u);
                let below = blend([0.80, 0.76, 0.69], [0.38, 0.34, 0.31], bars);
                let c = blend(below, [0.26, 0.275, 0.305], smoothstep(-0.15, 0.35, up));
                // The hood and its moustache.
                blend(c, [0.11, 0.115, 0.13], smoothstep(0.16, 0.08, u) * smoothstep(-0.5, 0.0, up))
            }
        };
        Skin { gloss: if self.plumage == Plumage::Starling { 0.35 } else { 0.0 }, ..Skin::plain(colour) }
    }
}

/// The number of feathers of a wing, if all were as wide as those at this span.
fn feathers(s: f32) -> f32 {
    11.0 + 9.0 * smoothstep(0.4, 0.9, s)
}

/// Whether a gull is young: brown and mottled.
fn is_young(own: &Individual) -> bool {
    own.traits[2] > 0.9
}

/// The gray of a gull's back and wings.
fn gull_gray(own: &Individual) -> V {
    [0.60, 0.645, 0.70].map(|c| c * own.vary(3, 1.0, 0.05))
}

/// A gull's wing with long feathers from `long` = 1 on, whose shades are `k`.
fn gull_wing(own: &Individual, s: f32, v: f32, long: f32, k: f32) -> Skin {
    const WHITE: V = [0.96, 0.96, 0.95];
    let black = smoothstep(0.0, 0.05, s - 0.775 - 0.10 * v * (1.0 - v) * 4.0 + 0.05 * (1.0 - v));
    let sheer = 0.34 * long * (1.0 - 0.8 * black);
    if is_young(own) {
        let spots = noise(s * 40.0, v * 9.0, own.seed);
        let brown = blend([0.40, 0.37, 0.34], [0.70, 0.67, 0.63], smoothstep(0.3, 0.75, spots));
        let over = blend(brown.map(|c| c * k), [0.16, 0.14, 0.13], smoothstep(0.62, 0.8, s));
        let under = blend([0.62, 0.57, 0.51].map(|c| c * k), [0.30, 0.27, 0.25], smoothstep(0.7, 0.85, s));
        return Skin { over, under, gloss: 0.0, sheer };
    }
    // A white rear edge, up to the black hand.
    let rim = smoothstep(0.80, 0.90, v) * smoothstep(0.86, 0.70, s);
    let mirror = bump(0.955, 0.035, s) * smoothstep(0.15, 0.4, v);
    let mut over = blend(gull_gray(own).map(|c| c * k), WHITE, rim);
    // White at the front edge of the arm.
    over = blend(over, WHITE, 0.6 * smoothstep(0.05, 0.0, v));
    over = blend(over, [0.085, 0.085, 0.095], black);
    let mut under = blend([0.93, 0.94, 0.95], [0.80, 0.82, 0.85], smoothstep(0.45, 0.75, v));
    under = blend(under.map(|c| c * (0.5 + 0.5 * k)), WHITE, rim);
    under = blend(under, [0.80, 0.80, 0.80], 0.5 * smoothstep(0.06, 0.0, v));
    under = blend(under, [0.19, 0.19, 0.20], black * 0.96);
    Skin {
        over: blend(over, WHITE, 0.95 * mirror),
        under: blend(under, WHITE, 0.9 * mirror),
        gloss: 0.0,
        sheer,
    }
}
