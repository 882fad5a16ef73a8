//! What an agent looks like: a jointed body of triangles and ellipsoids in its own frame (x ahead, y to its right, z up;
//! half its span, or half its length, is 1), for a phase of its wings or fins.

use super::vector::{V, add, cross, mul, sub, wave};

/// What kind of animal it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Figure {
    Starling,
    Gull,
    Fish,
    Moth,
    Bat,
}

/// A colour of a figure: which of its [`palette`], and how far it is moved towards the second.
pub(super) type Shade = usize;

/// A part of a body.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// A flat piece.
    Flat([V; 3], Shade),
    /// An ellipsoid: its middle and half axes.
    Round(V, [V; 3], Shade),
}

/// The largest numbers of parts of a body, and of a simplified one.
pub(super) const MOST: usize = 24;
pub(super) const SIMPLE: usize = 4;

/// Parts, in the order of drawing.
pub(super) struct Body {
    pub(super) parts: [Part; MOST],
    pub(super) len: usize,
}

impl Body {
    pub(super) const EMPTY: Body = Body { parts: [Part::Flat([[0.0; 3]; 3], 0); MOST], len: 0 };

    fn push(&mut self, part: Part) {
        self.parts[self.len] = part;
        self.len += 1;
    }

    fn flat(&mut self, a: V, b: V, c: V, shade: Shade) {
        self.push(Part::Flat([a, b, c], shade));
    }

    /// An ellipsoid along x, moved.
    fn round(&mut self, at: V, half: V, shade: Shade) {
        self.push(Part::Round(at, [[half[0], 0.0, 0.0], [0.0, half[1], 0.0], [0.0, 0.0, half[2]]], shade));
    }

    /// An ellipsoid from `a` to `b`, `wide` to the sides and `thick` across `around`.
    fn limb(&mut self, a: V, b: V, wide: V, thick: f32, shade: Shade) {
        let long = mul(sub(b, a), 0.5);
        let across = cross(long, wide);
        let size = (across[0] * across[0] + across[1] * across[1] + across[2] * across[2]).sqrt().max(1e-6);
        self.push(Part::Round(mul(add(a, b), 0.5), [long, wide, mul(across, thick / size)], shade));
    }

    /// The figure with its wings or fins at a phase. `effort` is how far they go, 0 (gliding) to 1.
    pub(super) fn pose(&mut self, figure: Figure, simple: bool, phase: f32, effort: f32) {
        self.len = 0;
        match (figure, simple) {
            (Figure::Starling, false) => self.bird(&STARLING, phase, effort),
            (Figure::Gull, false) => self.bird(&GULL, phase, effort),
            (Figure::Bat, false) => self.bat(phase, effort),
            (Figure::Moth, false) => self.moth(phase, effort),
            (Figure::Fish, false) => self.fish(phase, effort),
            (Figure::Fish, true) => {
                let swing = 0.3 * effort * wave(phase);
                self.round([0.12, 0.0, 0.0], [0.8, 0.14, 0.26], 0);
                self.limb([-0.5, 0.4 * swing, 0.0], [-1.0, swing, 0.0], [0.0, 0.0, 0.24], 0.03, 1);
            }
            (_, true) => {
                let chord = if figure == Figure::Moth { 0.42 } else { 0.17 };
                self.round([-0.04, 0.0, 0.0], [0.42, 0.115, 0.115], 0);
                for side in [-1.0, 1.0] {
                    let (z, y) = swung(0.92, 0.65 * effort * wave(phase) + 0.10);
                    // From beyond the middle on: an ellipse that began there would leave a gap to the body.
                    let root = [0.10, -0.24 * side * y, 0.02 - 0.24 * z];
                    self.limb(root, [-0.05, side * y, z], [chord, 0.0, 0.0], 0.02, 1);
                }
            }
        }
    }

    fn bird(&mut self, shape: &Bird, phase: f32, effort: f32) {
        let beat = wave(phase);
        // Down strokes are wide, up strokes folded: the hand follows a sixth of a beat later.
        let late = wave(phase - 0.16);
        let arm = shape.raised + effort * shape.beat * beat;
        let hand = arm - shape.droop + effort * shape.beat * 0.9 * (late - 0.25);
        let fold = effort * 0.24 * (-wave(phase + 0.25)).max(0.0);
        // The body rises as the wings go down.
        let heave = -0.05 * effort * beat;
        let tail = [-shape.length, 0.0, 0.0];
        for side in [-1.0, 1.0] {
            let spread = |x: f32| [tail[0] - x, side * shape.tail, heave];
            self.flat(
                [-0.5 * shape.length, 0.0, heave],
                spread(shape.tail * 0.4),
                [tail[0] - shape.fork, 0.0, heave],
                1,
            );
        }
        for side in [-1.0, 1.0] {
            let at = |x: f32, y: f32| [x, side * y, heave + 0.02];
            let (rise, out) = swung(shape.wrist, arm);
            let wrist = |x: f32| add(at(x, 0.06), [0.0, side * out, rise]);
            let (up, far) = swung(0.94 - shape.wrist, hand);
            let reach = 1.0 - fold;
            let tip = |x: f32, part: f32| {
                let [_, y, z] = wrist(0.0);
                [x - 0.9 * fold * part, y + side * far * part * reach, z + up * part * reach]
            };
            let (front, back) = (shape.front, shape.front - shape.chord);
            let (lead, trail) = (wrist(front + shape.sweep), wrist(front + shape.sweep - 0.86 * shape.chord));
            self.flat(at(front, 0.05), lead, trail, 0);
            self.flat(at(front, 0.05), trail, at(back, 0.05), 0);
            // The hand narrows to the tip.
            let mid = tip(front + shape.sweep - 0.80 * shape.chord - 0.04, 0.55);
            let mid_lead = tip(front + 0.75 * shape.sweep, 0.55);
            let end = tip(shape.tip, 1.0);
            self.flat(lead, mid_lead, trail, 0);
            self.flat(trail, mid_lead, mid, 0);
            self.flat(mid_lead, end, mid, 2);
        }
        self.round([-0.02, 0.0, heave], [shape.body, 0.105 * shape.stout, 0.10 * shape.stout], 3);
        self.round(
            [shape.body * 0.86, 0.0, heave + 0.03],
            [0.13 * shape.stout, 0.075 * shape.stout, 0.075 * shape.stout],
            3,
        );
        let beak = shape.body * 0.86 + 0.10 * shape.stout;
        self.flat(
            [beak, -0.03, heave + 0.03],
            [beak, 0.03, heave + 0.03],
            [beak + shape.beak, 0.0, heave],
            4,
        );
    }

    fn bat(&mut self, phase: f32, effort: f32) {
        let (beat, late) = (wave(phase), wave(phase - 0.14));
        let arm = 0.15 + 0.85 * effort * beat;
        let hand = arm + 0.75 * effort * (late - 0.3);
        let fold = 0.45 * effort * (-wave(phase + 0.25)).max(0.0);
        for side in [-1.0, 1.0] {
            let at = |x: f32, y: f32| {
                // Along the arm up to the wrist at .4, then along the hand.
                let inner = y.min(0.40) - 0.06;
                let (rise, out) = swung(inner.max(0.0), arm);
                let (up, far) = swung((y - 0.40).max(0.0) * (1.0 - fold), hand);
                [x - 0.5 * fold * (y - 0.4).max(0.0), side * (0.06 + out + far), rise + up]
            };
            let (shoulder, wrist, tip) = (at(0.12, 0.06), at(0.27, 0.40), at(-0.10, 0.98));
            let (third, fourth, fifth) = (at(-0.30, 0.66), at(-0.36, 0.36), at(-0.34, 0.08));
            // The skin between two fingers curves in.
            self.flat(wrist, tip, at(-0.08, 0.72), 0);
            self.flat(wrist, at(-0.08, 0.72), third, 0);
            self.flat(wrist, third, at(-0.19, 0.46), 0);
            self.flat(wrist, at(-0.19, 0.46), fourth, 0);
            self.flat(shoulder, wrist, fourth, 0);
            self.flat(shoulder, fourth, at(-0.22, 0.19), 0);
            self.flat(shoulder, at(-0.22, 0.19), fifth, 0);
        }
        self.round([-0.06, 0.0, 0.0], [0.27, 0.085, 0.085], 3);
        self.round([0.20, 0.0, 0.02], [0.09, 0.075, 0.075], 3);
        for side in [-1.0, 1.0] {
            self.flat([0.16, side * 0.02, 0.06], [0.24, side * 0.05, 0.06], [0.19, side * 0.085, 0.19], 3);
        }
    }

    fn moth(&mut self, phase: f32, effort: f32) {
        let up = 0.35 + 1.0 * effort * wave(phase);
        let behind = 0.30 + 0.9 * effort * wave(phase - 0.07);
        for side in [-1.0, 1.0] {
            let at = |x: f32, y: f32, angle: f32| {
                let (z, y) = swung(y, angle);
                [x, side * (0.05 + y), z]
            };
            let hind = |x: f32, y: f32| at(x, y, behind);
            self.flat(hind(0.05, 0.0), hind(-0.10, 0.62), hind(-0.58, 0.42), 1);
            self.flat(hind(0.05, 0.0), hind(-0.58, 0.42), hind(-0.52, 0.06), 1);
            let fore = |x: f32, y: f32| at(x, y, up);
            self.flat(fore(0.22, 0.0), fore(0.42, 0.92), fore(-0.05, 0.90), 0);
            self.flat(fore(0.22, 0.0), fore(-0.05, 0.90), fore(-0.22, 0.35), 0);
            self.flat(fore(0.22, 0.0), fore(-0.22, 0.35), fore(-0.14, 0.0), 0);
            self.flat(fore(0.40, 0.80), fore(0.42, 0.92), fore(-0.05, 0.90), 2);
        }
        self.round([-0.12, 0.0, 0.0], [0.40, 0.085, 0.085], 3);
        self.round([0.24, 0.0, 0.01], [0.13, 0.11, 0.11], 2);
        for side in [-1.0, 1.0] {
            self.flat([0.34, side * 0.03, 0.02], [0.37, side * 0.05, 0.02], [0.62, side * 0.26, 0.10], 3);
        }
    }

    fn fish(&mut self, phase: f32, effort: f32) {
        // A wave that runs to the tail and grows on its way.
        let bend = |x: f32| {
            let part = 0.5 * (1.0 - x);
            effort * 0.34 * part * part * wave(phase + 0.42 * x)
        };
        let at = |x: f32, z: f32| [x, bend(x), z];
        let (stem, root) = (at(-0.68, 0.0), 0.05);
        let tip = |x: f32, z: f32| [x, bend(x) * 1.3, z];
        let fork = tip(-0.84, 0.0);
        for side in [-1.0, 1.0] {
            self.flat([stem[0] + 0.04, stem[1], side * root], tip(-1.06, side * 0.30), fork, 1);
            self.flat(
                [stem[0] + 0.04, stem[1], side * root],
                [stem[0] + 0.04, stem[1], -side * root],
                fork,
                1,
            );
        }
        self.flat(at(0.16, 0.20), at(-0.22, 0.16), at(-0.14, 0.34), 1);
        self.flat(at(0.02, -0.20), at(-0.30, -0.14), at(-0.20, -0.32), 1);
        // Flank, back, belly, from behind to ahead.
        let rounds = [(-0.66, -0.10, 0.15, 0.08), (-0.42, 0.42, 0.24, 0.13), (-0.06, 0.84, 0.235, 0.13)];
        for (from, to, high, wide) in rounds {
            let (a, b) = (at(from - 0.06, 0.0), at(to, 0.0));
            let middle = mul(add(a, b), 0.5);
            let long = mul(sub(b, a), 0.5);
            self.push(Part::Round(middle, [long, [0.0, wide, 0.0], [0.0, 0.0, high]], 0));
        }
        let along = |body: &mut Body, from: f32, to: f32, z: f32, high: f32, shade: Shade| {
            let (a, b) = (at(from, z), at(to, z));
            let long = mul(sub(b, a), 0.5);
            body.push(Part::Round(mul(add(a, b), 0.5), [long, [0.0, 0.09, 0.0], [0.0, 0.0, high]], shade));
        };
        along(self, -0.58, 0.62, 0.125, 0.085, 2);
        along(self, -0.34, 0.56, -0.12, 0.075, 3);
        along(self, -0.50, 0.40, 0.02, 0.035, 5);
        let eye = at(0.62, 0.045);
        self.round(eye, [0.050, 0.025, 0.050], 6);
        self.round(eye, [0.030, 0.030, 0.030], 4);
    }
}

/// How high and how far out the end of something `long` is that is raised by an angle (a quarter of a turn is about 1.57).
#[inline(always)]
fn swung(long: f32, angle: f32) -> (f32, f32) {
    let turns = angle * (0.5 / core::f32::consts::PI);
    (long * wave(turns), long * wave(turns + 0.25))
}

/// The proportions of a bird.
struct Bird {
    /// From the middle to the end of the tail, half its spread, and how deep it is cut.
    length: f32,
    tail: f32,
    fork: f32,
    /// Half its body's length, and how stout it is.
    body: f32,
    stout: f32,
    beak: f32,
    /// Where the wrist is; the front edge at the shoulder; depth of the wing; how far the wrist is ahead; where the tip is.
    wrist: f32,
    front: f32,
    chord: f32,
    sweep: f32,
    tip: f32,
    /// How the wings are held, and how far they beat, in radians.
    raised: f32,
    droop: f32,
    beat: f32,
}

const STARLING: Bird = Bird {
    length: 0.52,
    tail: 0.13,
    fork: -0.02,
    body: 0.34,
    stout: 1.0,
    beak: 0.11,
    wrist: 0.36,
    front: 0.17,
    chord: 0.34,
    sweep: 0.07,
    tip: -0.14,
    raised: 0.10,
    droop: 0.06,
    beat: 0.75,
};

const GULL: Bird = Bird {
    length: 0.46,
    tail: 0.12,
    fork: -0.05,
    body: 0.33,
    stout: 0.82,
    beak: 0.08,
    wrist: 0.42,
    front: 0.12,
    chord: 0.215,
    sweep: 0.10,
    tip: -0.10,
    raised: 0.20,
    droop: 0.30,
    beat: 0.55,
};

/// Colours: wing or flank, tail or hind wing, tip or back, body or belly, beak or eye, band, rim of the eye.
pub(super) fn palette(figure: Figure) -> [[f64; 3]; 7] {
    match figure {
        Figure::Starling => [
            [0.105, 0.095, 0.10],
            [0.095, 0.088, 0.09],
            [0.085, 0.08, 0.085],
            [0.07, 0.066, 0.075],
            [0.12, 0.11, 0.09],
            [0.1; 3],
            [0.1; 3],
        ],
        Figure::Gull => [
            [0.80, 0.82, 0.85],
            [0.93, 0.93, 0.93],
            [0.16, 0.16, 0.18],
            [0.94, 0.94, 0.94],
            [0.92, 0.70, 0.22],
            [0.9; 3],
            [0.9; 3],
        ],
        Figure::Fish => [
            [0.60, 0.70, 0.76],
            [0.42, 0.53, 0.58],
            [0.13, 0.27, 0.36],
            [0.90, 0.93, 0.92],
            [0.03, 0.04, 0.05],
            [0.70, 0.76, 0.70],
            [0.90, 0.88, 0.72],
        ],
        Figure::Moth => [
            [0.80, 0.69, 0.52],
            [0.88, 0.80, 0.66],
            [0.55, 0.43, 0.29],
            [0.70, 0.60, 0.46],
            [0.2; 3],
            [0.6; 3],
            [0.6; 3],
        ],
        Figure::Bat => [
            [0.105, 0.085, 0.085],
            [0.09, 0.075, 0.075],
            [0.09; 3],
            [0.06, 0.05, 0.05],
            [0.06; 3],
            [0.06; 3],
            [0.06; 3],
        ],
    }
}
