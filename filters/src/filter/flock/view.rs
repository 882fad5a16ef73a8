//! Converts agents to splats: perspective, light, haze, and motion blur. Small agents are a few ellipses, others pictures of
//! their own, see `portrait`.

use super::super::splats::Overlay;
use super::FlipBook;
use super::figure::{Figure, SIMPLE, palette, pose};
use super::mesh::Individual;
use super::rules::{Agent, CAMERA, Rules, scale};
use super::vector::{V, add, angle, cross, dot, mul, sub, unit, wave};
use crate::particle::draw::{Picture, Shape, ShapeError, Splat, rank};

/// The styles of splats: an ellipse, a small one, a picture of the frame, light; the pictures of a sheet follow.
const ROUND: u16 = 0;
const SMALL: u16 = 1;
const PICTURE: u16 = 2;
pub(super) const LIGHT: u16 = 3;
pub(super) const SHEET: u16 = 4;
/// The largest half width, in rows, of small ellipses, for which both styles look the same.
const NARROW: f32 = 3.0;

/// The largest number of splats of an agent.
pub(super) const SPLATS: usize = SIMPLE;
/// The half span, in rows, from which on a body is drawn as a picture of its own.
const DETAIL: f32 = 3.3;
/// The largest half span, in rows.
pub(super) const LARGEST: f32 = 3000.0;

/// The discs that make up the lamp: radius in frame heights, opacity, colour. Light falls with the square of the distance,
/// so each disc is twice as wide as the next and, in code values, about half as bright.
pub(super) const LAMP: [(f32, f32, [f64; 3]); 7] = [
    (0.88, 0.09, [1.0, 0.60, 0.24]),
    (0.44, 0.15, [1.0, 0.64, 0.28]),
    (0.22, 0.24, [1.0, 0.70, 0.34]),
    (0.11, 0.38, [1.0, 0.78, 0.44]),
    (0.055, 0.62, [1.0, 0.88, 0.62]),
    (0.026, 1.0, [1.0, 0.98, 0.93]),
    (0.018, 1.0, [1.0, 1.0, 1.0]),
];

/// The shapes of those styles.
pub(super) fn shapes() -> Result<[Shape; 4], ShapeError> {
    Ok([Shape::disc(0.22)?, Shape::Speck, Shape::Picture, Shape::disc(1.0)?])
}

/// The frame's samples that an agent may reach: the first, and the number across and down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Area {
    pub(super) from: [i32; 2],
    pub(super) size: [usize; 2],
}

impl Area {
    pub(super) fn texels(&self) -> usize {
        self.size[0] * self.size[1]
    }
}

/// The parameters of a frame.
#[derive(Clone, Debug)]
pub(super) struct FrameParams {
    /// Steps before the frame is shown.
    pub(super) steps: u64,
    /// Half a span, in rows of the frame.
    pub(super) half: f32,
    pub(super) haze: f32,
    pub(super) haze_colour: Option<[f64; 3]>,
    pub(super) colour: Option<[f64; 3]>,
    /// The exposure time in seconds.
    pub(super) shutter: f32,
    /// The brightness and position of the lamp.
    pub(super) glow: f32,
    pub(super) lamp: V,
    /// Seconds since the start of the flock.
    pub(super) time: f64,
}

impl FrameParams {
    /// The brightness of the lamp that lights moths: without a drawn lamp there is one in the picture.
    pub(super) fn lamplight(&self) -> f32 {
        if self.glow > 0.0 { self.glow } else { 0.8 }
    }
}

/// The data that are constant over frames.
pub(super) struct View<'a> {
    pub(super) overlay: &'a Overlay,
    pub(super) rules: &'a Rules,
    pub(super) figure: Figure,
    pub(super) beats: f32,
    pub(super) depth: f32,
    /// Whether agents may be pictures of their own.
    pub(super) full: bool,
    pub(super) flip_book: FlipBook,
    pub(super) params: &'a FrameParams,
}

/// The projected coordinate system of a body: its centre, and unit vectors ahead, to its right and up, in rows; and the
/// same in space.
#[derive(Clone, Copy)]
pub(super) struct Stance {
    pub(super) at: [f32; 2],
    pub(super) axes: [V; 3],
}

impl Stance {
    #[inline(always)]
    pub(super) fn turned(&self, v: V) -> V {
        let [a, b, c] = self.axes;
        add(add(mul(a, v[0]), mul(b, v[1])), mul(c, v[2]))
    }
}

/// The pose of an agent in a frame.
pub(super) struct AgentPose {
    pub(super) figure: Figure,
    pub(super) falcon: bool,
    pub(super) position: V,
    pub(super) own: Individual,
    /// As the shutter opens and as it closes.
    pub(super) here: Stance,
    pub(super) then: Stance,
}

impl View<'_> {
    pub(super) fn pose(&self, agent: &Agent, id: u64) -> AgentPose {
        let (position, v) = ([agent[0], agent[1], agent[2]], [agent[3], agent[4], agent[5]]);
        let hunts = id >= self.rules.agents as u64;
        let figure = match self.figure {
            Figure::Moth if hunts => Figure::Bat,
            figure => figure,
        };
        let falcon = hunts && matches!(figure, Figure::Starling | Figure::Gull);
        let half = self.half(agent, id);
        let roll = self.roll(figure, agent, id);
        let here = self.stance(position, v, roll, half);
        let then = self.stance(add(position, mul(v, self.params.shutter)), v, roll, half);
        let effort = self.effort(figure, id, dot(v, v).sqrt() / self.rules.speed.max(1e-6));
        let own = Individual { phase: agent[7], effort, ..Individual::new(self.rules.seed, id, half) };
        AgentPose { figure, falcon, position, own, here, then }
    }

    /// Half a span, in rows of the frame.
    fn half(&self, agent: &Agent, id: u64) -> f32 {
        let large = if id >= self.rules.agents as u64 { 2.2 } else { self.own_size(id) };
        (self.params.half * scale(agent[2]) * large).min(LARGEST)
    }

    fn stance(&self, p: V, v: V, roll: f32, half: f32) -> Stance {
        let [x, y] = self.rules.project(p);
        let rows = self.overlay.size()[1] as f32;
        let ahead = unit(v, [1.0, 0.0, 0.0]);
        let right = unit(cross(ahead, self.rules.up), [0.0, 0.0, 1.0]);
        let up = cross(right, ahead);
        let (sin, cos) = (wave(roll), wave(roll + 0.25));
        let (right, up) = (sub(mul(right, cos), mul(up, sin)), add(mul(up, cos), mul(right, sin)));
        Stance { at: [x * rows, y * rows], axes: [ahead, right, up].map(|a| mul(a, half)) }
    }

    /// Noise around 0 that changes smoothly over time; an agent has three, selected by `which`.
    fn wander_phase(&self, id: u64, rate: f64, which: usize) -> f32 {
        let mut step_wind = self.rules.step_wind(0);
        step_wind.wander_phase = self.params.time * rate;
        self.rules.wander_noise(&step_wind, id ^ 0x6d6f_6f64_0000)[which]
    }

    /// The bank of a body, in turns. Fish bank little and roll slightly at all times, which makes single flanks
    /// flash.
    pub(super) fn roll(&self, figure: Figure, agent: &Agent, id: u64) -> f32 {
        match figure {
            Figure::Herring => 0.3 * agent[6] + 0.065 * self.wander_phase(id, 0.7, 1),
            _ => agent[6],
        }
    }

    /// The current amplitude of the wings: some agents glide at times.
    pub(super) fn effort(&self, figure: Figure, id: u64, speed: f32) -> f32 {
        let wander = |rate: f64| self.wander_phase(id, rate, 0);
        match figure {
            Figure::Starling => (0.65 + 0.9 * wander(1.6)).clamp(0.06, 1.0),
            Figure::Gull => (1.8 * wander(0.45) - 0.2).clamp(0.04, 1.0),
            Figure::Bat => (0.9 + 0.2 * wander(1.5)).clamp(0.6, 1.0),
            Figure::Moth => (0.9 + 0.3 * wander(2.0)).clamp(0.4, 1.0),
            Figure::Herring => (0.25 + 0.55 * speed + 0.3 * wander(0.8)).clamp(0.2, 1.2),
        }
    }

    /// The area of an agent that is drawn as a picture of its own.
    pub(super) fn portrayed(&self, agent: &Agent, id: u64) -> Option<Area> {
        if !self.full || self.flip_book.is_some() || self.half(agent, id) < DETAIL {
            return None;
        }
        self.area(&self.pose(agent, id)).filter(|a| a.size.iter().all(|s| *s <= Picture::MAX_SIDE))
    }

    /// The splat of picture `index`, which is that of an agent.
    pub(super) fn splat_of(&self, agent: &Agent, id: u64, picture: &Picture, index: usize) -> Splat {
        let p = [agent[0], agent[1], agent[2]];
        let (_, opacity) = self.haze(p);
        let splat = self.overlay.painter.splat_of(picture, index, PICTURE).faded(opacity);
        Splat { rank: rank(p[2], (id << 6) as i64), ..splat }
    }

    /// The splats of an agent, from back to front.
    pub(super) fn splats(&self, agent: &Agent, id: u64, out: &mut Vec<Splat>) {
        let AgentPose { figure, position: p, own, here, then, .. } = self.pose(agent, id);
        let Individual { half, phase, effort, .. } = own;
        let [width, rows] = self.overlay.size();
        let around = 2.0 * half + 2.0;
        let shown = [width as f32 / self.overlay.narrow() as f32, rows as f32];
        if !(half > 0.0 && (0..2).all(|i| here.at[i] > -around && here.at[i] < shown[i] + around)) {
            return;
        }
        let (colour, opacity) = self.haze(p);
        let first = out.len();
        if let Some((cells, [w, h])) = self.flip_book {
            let cell = ((agent[7] * cells as f32) as usize).min(cells.max(1) - 1);
            let turns = angle(here.axes[0][0], here.axes[0][1]);
            let splat = self.put(mid(here.at, then.at), [half * w, half * h], turns);
            out.push(Splat { style: SHEET + cell as u16, ..splat }.faded(opacity));
        } else {
            let a = pose(figure, phase, effort);
            let b = pose(figure, phase + self.beats * self.params.shutter, effort);
            let paint = Paint { colours: palette(figure), haze: colour, light: self.light(figure, p, &here) };
            for ((a, axes, shade), (b, ..)) in a.iter().zip(&b) {
                let place = |stance: &Stance, c: &V| {
                    let t = stance.turned(*c);
                    [stance.at[0] + t[0], stance.at[1] + t[1]]
                };
                let (a, b) = (place(&here, a), place(&then, b));
                let rgb = self.shaded(&paint, figure, *shade);
                self.round(a, b, axes.map(|e| here.turned(e)), rgb, opacity, out);
            }
        }
        for (k, splat) in out[first..].iter_mut().enumerate() {
            splat.rank = rank(p[2], (id << 6) as i64 + k as i64);
        }
    }

    pub(super) fn own_size(&self, id: u64) -> f32 {
        // From 0 to 1.
        let part = 5.0 * (self.rules.own_speed(id) / self.rules.speed.max(1e-6) - 0.9);
        match self.figure {
            // Many kinds, most of them small.
            Figure::Moth => 0.4 + 1.3 * part * part * part,
            _ => 0.85 + 0.3 * part,
        }
    }

    /// The haze at a position: its colour and fraction, and the remaining visibility.
    pub(super) fn haze(&self, p: V) -> (Option<([f64; 3], f64)>, f32) {
        let far = ((p[2] + 0.1) / (self.depth + 0.1)).clamp(0.0, 1.2);
        let part = (self.params.haze * far).clamp(0.0, 1.0);
        match self.params.haze_colour {
            Some(colour) => (Some((colour, f64::from(part))), 1.0),
            None => (None, 1.0 - 0.85 * part),
        }
    }

    /// The effect of light: a factor, and the part that is emitted.
    fn light(&self, figure: Figure, p: V, stance: &Stance) -> (f64, f64) {
        match figure {
            Figure::Moth => {
                let to = sub(p, self.params.lamp);
                let far2 = f64::from(dot(to, to));
                (0.16 + f64::from(self.params.lamplight()) * 1.05 / (1.0 + far2 * 22.0), 0.0)
            }
            Figure::Herring => {
                // A flank that turns towards the viewer reflects the daylight.
                let side = unit(stance.axes[1], [0.0, 0.0, -1.0]);
                let side = if side[2] > 0.0 { mul(side, -1.0) } else { side };
                let s = dot(side, [-0.33, -0.42, -0.846]).max(0.0);
                let shine = (s * s) * (s * s);
                (f64::from(self.daylight(p)), f64::from(shine * shine * shine))
            }
            Figure::Bat => (0.5, 0.0),
            _ => (1.0, 0.0),
        }
    }

    /// The brightness of the light under water, from above, with ripples.
    pub(super) fn daylight(&self, p: V) -> f32 {
        let time = self.params.time as f32;
        let ripple =
            wave(p[0] * 1.7 + 0.6 * p[2] + 0.23 * time) * wave(p[0] * 0.9 - p[1] * 0.7 - 0.17 * time);
        1.08 - 0.34 * self.rules.project(p)[1] + 0.12 * ripple
    }

    fn shaded(&self, paint: &Paint, figure: Figure, shade: usize) -> [u16; 3] {
        let mut rgb = paint.colours[shade];
        if let Some(colour) = self.params.colour {
            let bright = rgb[0].max(rgb[1]).max(rgb[2]);
            let most = paint.colours.iter().flatten().fold(0.0f64, |m, v| m.max(*v));
            rgb = colour.map(|c| c * (0.5 + 0.5 * bright / most.max(1e-9)));
        }
        let (light, shine) = paint.light;
        rgb = rgb.map(|c| c * light);
        if figure == Figure::Herring {
            rgb = rgb.map(|c| c + (1.0 - c) * shine * 0.75);
        }
        if figure == Figure::Moth {
            rgb = [rgb[0], rgb[1] * 0.90, rgb[2] * 0.72];
        }
        if let Some((haze, part)) = paint.haze {
            rgb = [0, 1, 2].map(|i: usize| rgb[i] + (haze[i] - rgb[i]) * part);
        }
        self.overlay.painter.colour(rgb.map(|c| c.clamp(0.0, 1.0)))
    }

    /// A splat at a position in rows.
    fn put(&self, at: [f32; 2], half: [f32; 2], turns: f32) -> Splat {
        let centre = [f64::from(at[0]) * self.overlay.narrow(), f64::from(at[1])];
        self.overlay.splat(centre, half.map(f64::from), f64::from(turns))
    }

    /// An ellipsoid by its half axes, seen from `a` to `b`.
    fn round(
        &self,
        a: [f32; 2],
        b: [f32; 2],
        axes: [V; 3],
        colour: [u16; 3],
        opacity: f32,
        out: &mut Vec<Splat>,
    ) {
        // The outline of an ellipsoid is the ellipse of the sum of its axes' squares.
        let square = |v: [f32; 2]| [v[0] * v[0], v[0] * v[1], v[1] * v[1]];
        let mut m = [0f32; 3];
        for e in axes {
            let s = square([e[0], e[1]]);
            m = [m[0] + s[0], m[1] + s[1], m[2] + s[2]];
        }
        let before = (m[0] * m[2] - m[1] * m[1]).max(0.0).sqrt();
        let smear = square([0.45 * (b[0] - a[0]), 0.45 * (b[1] - a[1])]);
        m = [m[0] + smear[0], m[1] + smear[1], m[2] + smear[2]];
        let (mean, off) = (0.5 * (m[0] + m[2]), 0.5 * (m[0] - m[2]));
        let root = (off * off + m[1] * m[1]).sqrt();
        let half = [(mean + root).max(0.0).sqrt(), (mean - root).max(0.0).sqrt()];
        let part = if half[0] * half[1] > 1e-6 { (before / (half[0] * half[1])).min(1.0) } else { 1.0 };
        let splat = self.put(mid(a, b), half, 0.5 * angle(off, m[1]));
        let style = if half[1] < NARROW { SMALL } else { ROUND };
        out.push(Splat { style, colour, ..splat }.faded(opacity * part));
    }

    /// The lamp of moths: its bulb and its light.
    pub(super) fn lamp(&self, out: &mut Vec<Splat>) {
        let glow = self.params.glow;
        if self.figure != Figure::Moth || glow <= 0.0 {
            return;
        }
        let p = self.params.lamp;
        let [x, y] = self.rules.project(p);
        let rows = self.overlay.size()[1] as f32;
        let (at, s) = ([x * rows, y * rows], scale(p[2]) * rows);
        for (k, (wide, strong, rgb)) in LAMP.into_iter().enumerate() {
            let splat = self.put(at, [wide * s; 2], 0.0);
            let colour = self.overlay.painter.colour(rgb);
            let rank = rank(p[2], (1 << 38) + k as i64);
            out.push(Splat { style: LIGHT, colour, rank, ..splat }.faded(strong * glow));
        }
    }
}

/// The colours of a body.
struct Paint {
    colours: [[f64; 3]; 2],
    haze: Option<([f64; 3], f64)>,
    light: (f64, f64),
}

#[inline(always)]
fn mid(a: [f32; 2], b: [f32; 2]) -> [f32; 2] {
    [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])]
}

/// The largest possible half span, in rows, of agents with this half span.
pub(super) fn largest(half: f64) -> f64 {
    half * f64::from(scale(-0.5 * CAMERA)) * 2.2
}

/// Whether bodies with half spans up to this may be drawn with all their parts.
pub(super) fn detailed(half: f64) -> bool {
    largest(half) >= f64::from(DETAIL)
}
