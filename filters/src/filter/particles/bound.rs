//! A layer bound to a picture: where each particle is seen, and as what.

use super::super::overlay::Overlay;
use super::effect::{Effect, Layer, MOST, Place, Pulses, Tint, When, over};
use crate::noise::seed::mix64;
use crate::particle::draw::{Painter, Splat, rank};
use crate::particle::{
    BLOCK, Emitter, Kind, LAST, Nozzle, PlacedBlock, Pool, STANDARD, Slot, Spray, Spread, Steady, View, go_on,
};
use crate::simd::Level;
use std::sync::Arc;

/// A particle's own numbers beyond the standard ones, each -1 to 1: whether it is there at all when there are fewer,
/// colour, opacity, and three phases.
const OWN: usize = 6;
/// Steps of a tint, and of its shades.
const TINTS: usize = 64;
const SHADES: usize = 16;
/// Steps of what changes over life.
const LIFE: usize = 64;
/// Nothing nearer to the camera is drawn.
const NEAREST: f32 = 0.02;
/// Waves of the swirl field.
const WAVES: usize = 5;

/// How the whole effect is at a moment.
pub(super) struct Now {
    /// Time of the effect.
    pub(super) flick: i64,
    /// How much time passes in the effect in a second of the picture's.
    pub(super) speed: f32,
    /// What sizes are multiplied by.
    pub(super) size: f32,
    /// The part of the particles that is seen.
    pub(super) part: f32,
    /// The wind's speed now, and where an age ago it would have been blown from.
    pub(super) wind: f32,
    pub(super) blown: Option<Box<dyn Fn(f32) -> f32 + Send + Sync>>,
    /// Every which particle is drawn, by number.
    pub(super) every: i64,
}

/// One transversal wave of the swirl field: it moves nothing along its own way, so the sum neither gathers nor
/// thins out (its divergence is zero).
struct Wave {
    way: [f32; 3],
    aside: [f32; 3],
    /// Turns a second, and at time 0.
    rate: f64,
    phase: f64,
}

pub(super) struct Bound {
    layer: Layer,
    kind: Kind,
    emitter: Emitter,
    waves: Vec<Wave>,
    colours: Vec<[u16; 3]>,
    size_over: [f32; LIFE + 1],
    opacity_over: [f32; LIFE + 1],
    /// Widths after which places come again, x, y and z; 0 is never.
    wrap: [f32; 3],
    middle: [f32; 3],
    depth: [f32; 2],
    /// Looks of the painter: as it is, and as a streak.
    looks: [u16; 2],
    /// Its place in the effect, for the order of drawing.
    order: i64,
    layers: i64,
    level: Level,
    /// Width over height of the picture as seen.
    aspect: f32,
}

/// `sin` of turns, to within 2e-4: only + and *, the same bits everywhere.
#[inline(always)]
pub(super) fn wave(turns: f32) -> f32 {
    let t = turns - (turns + 0.5).floor();
    // A parabola through the zeros and peaks, then bent towards the sine.
    let p = 8.0 * t - 16.0 * t * t.abs();
    p * (0.775 + 0.225 * p.abs())
}

fn fault(e: impl ToString) -> String {
    e.to_string()
}

impl Bound {
    pub(super) fn new(
        effect: &Effect,
        index: usize,
        amount: f64,
        seed: u64,
        overlay: &Overlay,
        level: Level,
    ) -> Result<Bound, String> {
        let layer = effect.layers[index].clone();
        let [width, height] = overlay.size();
        let aspect = (width / height) as f32;
        let depth = layer.place.depth();
        let turning = if layer.sway == [0.0; 2] { 0.0 } else { layer.sway[0].abs().max(layer.sway[1].abs()) };
        let margin = 0.05
            + 2.0 * layer.size.reach()
            + layer.focus[1]
            + layer.swirl
            + turning
            + layer.shutter * layer.speed.reach();
        let ends = |[a, b]: [f32; 2]| ((a + b) * 0.5, (b - a).abs() * 0.5);
        let (z, deep) = ends(depth);
        let (mut wrap, mut per) = ([0.0; 3], f64::from(aspect) / (16.0 / 9.0));
        let (middle, half) = match layer.place {
            Place::Box { x, y, .. } => {
                let ((x, wide), (y, tall)) = (ends(x), ends(y));
                per = 1.0;
                ([(x - 0.5) * aspect, y - 0.5, z], [wide * aspect, tall, deep])
            }
            Place::Volume { far, .. } | Place::Tunnel { far, .. } => {
                let half = [far * aspect * 0.5 + margin, far * 0.5 + margin, deep];
                wrap = half.map(|h| 2.0 * h);
                if matches!(layer.place, Place::Volume { .. }) || deep == 0.0 {
                    wrap[2] = 0.0;
                }
                ([0.0, 0.0, z], half)
            }
        };
        let mut standard = [Spread::default(); STANDARD];
        for (slot, value) in [
            (Slot::Life, layer.life),
            (Slot::Speed, layer.speed),
            (Slot::AccelX, Spread::fixed(layer.pull[0])),
            (Slot::AccelY, Spread::fixed(layer.pull[1])),
            (Slot::AccelZ, Spread::fixed(layer.pull[2])),
            (Slot::Size, layer.size),
            (Slot::Growth, layer.growth),
            (Slot::Angle, layer.angle),
            (Slot::Spin, layer.spin),
        ] {
            standard[slot as usize] = value;
        }
        let own = vec![Spread { base: 0.0, offset: 1.0 }; OWN];
        let kind = Kind::new(standard, own).map_err(fault)?;
        let cap = 1.0 - libm::cos(f64::from(layer.cone) * core::f64::consts::TAU);
        let nozzle = Nozzle::new(middle, half, layer.direction, Spray::Cone(cap as f32)).map_err(fault)?;
        let births: Arc<dyn crate::particle::Births> = match layer.when {
            When::Steady(rate) => Arc::new(Steady::new(rate * amount * per).map_err(fault)?),
            When::Pulses { every, count } => Arc::new(Pulses::new(every, count * amount * per)),
        };
        let emitter = Emitter { seed: mix64(seed ^ mix64(layer.stream)), kind: index as u16, births, nozzle };
        let table = |points: &[[f32; 2]]| core::array::from_fn(|i| over(points, i as f32 / LIFE as f32));
        Ok(Bound {
            colours: colours(&layer, &overlay.painter),
            size_over: table(&layer.size_over),
            opacity_over: table(&layer.opacity_over),
            waves: waves(&layer),
            kind,
            emitter,
            wrap,
            middle,
            depth,
            looks: [2 * index as u16, 2 * index as u16 + 1],
            order: index as i64,
            layers: effect.layers.len() as i64,
            level,
            aspect,
            layer,
        })
    }

    /// Births that may live at a time, and the bytes of a pool of them.
    pub(super) fn room(&self) -> (i64, usize) {
        let room = Pool::room(&self.emitter, &self.kind, None, -LAST..LAST);
        (room.alive, room.bytes)
    }

    pub(super) fn pool(&self) -> Result<Pool, String> {
        Pool::new(self.emitter.clone(), self.kind.clone(), None, -LAST..LAST, MOST as u32, self.level)
            .map_err(fault)
    }

    /// The splats of block `index` of a pool that was sought to `now`.
    pub(super) fn splats(
        &self,
        pool: &Pool,
        index: usize,
        now: &Now,
        scene: &Scene<'_>,
        out: &mut Vec<Splat>,
    ) {
        let mut block = PlacedBlock::EMPTY;
        pool.place(index, &View::ALL, &mut block);
        if block.live == 0 {
            return;
        }
        pool.dress(&mut block);
        let mut own = [[0.0f32; BLOCK]; OWN];
        go_on(self.level, self.kind.extra(), &mut block.bits, &mut own);
        let mut speeds = [[0.0f32; BLOCK]; 3];
        let moved = self.layer.shutter > 0.0 || self.layer.drag > 0.0;
        if moved {
            pool.velocities(index, &block, &mut speeds);
        }
        for lane in block.lanes() {
            let number = block.number(lane);
            if now.every > 1 && number.rem_euclid(now.every) != 0 {
                continue;
            }
            let own: [f32; OWN] = core::array::from_fn(|i| own[i][lane]);
            let one = One {
                number,
                age: block.age[lane],
                life: block.life[lane],
                place: core::array::from_fn(|a| block.position[a][lane]),
                speed: core::array::from_fn(|a| speeds[a][lane]),
                size: block.size[lane],
                angle: block.angle[lane],
                own,
            };
            out.extend(self.splat(one, now, scene));
        }
    }

    fn splat(&self, mut one: One, now: &Now, scene: &Scene<'_>) -> Option<Splat> {
        let layer = &self.layer;
        let share = one.age / one.life;
        let step = (share * LIFE as f32).min(LIFE as f32 - 0.001);
        let (i, f) = (step as usize, step - (step as usize) as f32);
        let read = |table: &[f32; LIFE + 1]| table[i] + (table[i + 1] - table[i]) * f;
        // Opacity first: what is not seen need not be placed.
        let mut opacity = (layer.opacity.at(one.own[2])).clamp(0.0, 1.0) * read(&self.opacity_over);
        if now.part < 1.0 {
            opacity *= ((now.part - (one.own[0] * 0.5 + 0.5)) * 24.0 + now.part).clamp(0.0, 1.0);
        }
        if layer.twinkle > 0.0 {
            // Around its own rate, so that no two go together for long.
            let rate = layer.twinkle_rate * (1.0 + 0.4 * one.own[4]);
            let up = 0.5 + 0.5 * wave(one.own[3] + rate * one.age);
            opacity *= 1.0 - layer.twinkle * (1.0 - up * up);
        }
        if opacity < 1.0 / 1024.0 {
            return None;
        }
        self.drag(&mut one);
        let blown = now.blown.as_ref().map_or(now.wind * one.age, |b| b(one.age)) * layer.wind;
        one.place[0] += blown;
        one.speed[0] += now.wind * layer.wind;
        for (axis, wrap) in self.wrap.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            let from = one.place[axis] - self.middle[axis];
            one.place[axis] -= wrap * (from / wrap + 0.5).floor();
        }
        if layer.swirl > 0.0 {
            self.swirl(&mut one, &scene.phases[self.order as usize]);
        }
        if layer.sway != [0.0; 2] {
            let turn = layer.sway_rate * (1.0 + 0.3 * one.own[4]) * one.age;
            one.place[0] += layer.sway[0] * wave(turn + one.own[4]);
            one.place[1] += layer.sway[1] * wave(2.0 * turn + one.own[3]);
        }
        let z = one.place[2];
        if z < NEAREST {
            return None;
        }
        if !matches!(layer.place, Place::Box { .. }) {
            // Nobody comes or goes at once at either end.
            let [near, far] = self.depth;
            opacity *= ((z - 0.7 * near) / (0.6 * near)).clamp(0.0, 1.0);
            if matches!(layer.place, Place::Tunnel { .. }) {
                opacity *= ((far - z) / (0.3 * far)).clamp(0.0, 1.0);
            }
        }
        self.seen(&one, read(&self.size_over), opacity, now, scene)
    }

    /// Puts friction to a particle that was placed without.
    fn drag(&self, one: &mut One) {
        let drag = self.layer.drag;
        if drag > 0.0 {
            let left = libm::expf(-drag * one.age);
            let gone = (1.0 - left) / drag;
            for axis in 0..3 {
                let pull = self.layer.pull[axis];
                let start = one.speed[axis] - pull * one.age;
                let fell = 0.5 * pull * one.age * one.age;
                one.place[axis] += start * (gone - one.age) + pull * (one.age - gone) / drag - fell;
                one.speed[axis] = start * left + pull * gone;
            }
        }
    }

    fn swirl(&self, one: &mut One, phases: &[f32]) {
        let grown = if self.layer.swirl_age > 0.0 { (one.age / self.layer.swirl_age).min(1.0) } else { 1.0 };
        let mut aside = [0.0f32; 3];
        for (w, phase) in self.waves.iter().zip(phases) {
            let turns = w.way[0] * one.place[0] + w.way[1] * one.place[1] + w.way[2] * one.place[2] + phase;
            let s = wave(turns);
            for (aside, part) in aside.iter_mut().zip(w.aside) {
                *aside += part * s;
            }
        }
        for (place, aside) in one.place.iter_mut().zip(aside) {
            *place += aside * grown;
        }
    }

    /// The phases of the waves at a time, in turns from 0 to 1.
    pub(super) fn phases(&self, now: &Now) -> Vec<f32> {
        let seconds = now.flick as f64 / crate::particle::FLICKS as f64;
        let at = |w: &Wave| {
            let turns = w.phase + w.rate * seconds;
            (turns - turns.floor()) as f32
        };
        self.waves.iter().map(at).collect()
    }

    fn seen(&self, one: &One, grown: f32, mut opacity: f32, now: &Now, scene: &Scene<'_>) -> Option<Splat> {
        let layer = &self.layer;
        let [x, y, z] = one.place;
        let near = 1.0 / z;
        let tall = scene.tall;
        let mut half = one.size * grown * near * now.size;
        let sharp = half;
        if layer.focus[1] > 0.0 {
            // The blur of a thin lens: it goes as the difference of the reciprocal distances.
            half += layer.focus[1] * (1.0 - layer.focus[0] * near).abs() * now.size;
            opacity *= (sharp / half) * (sharp / half);
        }
        let at = |x: f32, y: f32, near: f32| [(0.5 * self.aspect + x * near) * tall, (0.5 + y * near) * tall];
        let mut centre = at(x, y, near);
        centre[0] += layer.aside[0] * sharp * tall;
        centre[1] += layer.aside[1] * sharp * tall;
        let half = half * tall;
        let mut both = [half, half * layer.squash];
        let (mut turns, mut look) = (one.angle, self.looks[0]);
        let mut shade = SHADES - 1;
        if layer.tumble > 0.0 {
            let side = wave(one.own[5] + layer.tumble * (1.0 + 0.3 * one.own[3]) * one.age);
            both[1] *= side.abs().max(0.08);
            shade = ((0.55 + 0.45 * side.abs()) * (SHADES - 1) as f32) as usize;
        }
        if layer.shutter > 0.0 {
            let open = layer.shutter * now.speed;
            let [u, v, w] = one.speed;
            let past = (z - w * open).max(0.5 * z);
            let from = at(x - u * open, y - v * open, 1.0 / past);
            let [dx, dy] = [centre[0] - from[0], centre[1] - from[1]];
            let long = (dx * dx + dy * dy).sqrt();
            if long > 0.7 * half && long < 16.0 * tall {
                centre = [0.5 * (centre[0] + from[0]), 0.5 * (centre[1] + from[1])];
                both = [half + 0.5 * long, half];
                turns = libm::atan2f(dy, dx) * (0.5 / core::f32::consts::PI);
                look = self.looks[1];
                opacity *= 1.0 - layer.thin * (1.0 - 2.0 * half / (2.0 * half + long));
            }
        }
        let reach = both[0].max(both[1]) * 1.5 + 4.0;
        if centre[0] < -reach
            || centre[1] < -reach
            || centre[0] > self.aspect * tall + reach
            || centre[1] > tall + reach
        {
            return None;
        }
        let own = match layer.tint {
            Tint::Life(_) => one.age / one.life,
            Tint::One(_) | Tint::Mix(_) => one.own[1] * 0.5 + 0.5,
        };
        let tint = ((own * TINTS as f32) as usize).min(TINTS - 1);
        // Farther ones first; what is flat by order of birth, which is the order they are made in.
        let deep = if self.depth[0] == self.depth[1] { self.depth[0] } else { z };
        let rank = rank(deep, one.number.wrapping_mul(self.layers).wrapping_add(self.order));
        let [centre, both] = [centre, both].map(|v| v.map(f64::from));
        let splat = scene.overlay.splat(centre, both, f64::from(turns));
        let colour = *self.colours.get(shade * TINTS + tint)?;
        Some(Splat { rank, look, colour, ..splat }.faded(opacity))
    }
}

/// What all layers of a frame have in common.
pub(super) struct Scene<'a> {
    pub(super) overlay: &'a Overlay,
    /// Rows of the frame.
    pub(super) tall: f32,
    /// Of each layer's waves.
    pub(super) phases: Vec<Vec<f32>>,
}

/// One particle, as the pool has it.
struct One {
    number: i64,
    age: f32,
    life: f32,
    place: [f32; 3],
    speed: [f32; 3],
    size: f32,
    angle: f32,
    own: [f32; OWN],
}

fn colours(layer: &Layer, painter: &Painter) -> Vec<[u16; 3]> {
    let given = layer.tint.colours();
    let mut all = Vec::with_capacity(SHADES * TINTS);
    for shade in 0..SHADES {
        let part = shade as f64 / (SHADES - 1) as f64;
        for i in 0..TINTS {
            let at = (i as f64 + 0.5) / TINTS as f64;
            let colour = match layer.tint {
                Tint::One(_) => given[((at * given.len() as f64) as usize).min(given.len() - 1)],
                Tint::Mix(_) | Tint::Life(_) => {
                    let at = at * (given.len() - 1) as f64;
                    let (a, b) = (at as usize, (at as usize + 1).min(given.len() - 1));
                    let f = at - a as f64;
                    core::array::from_fn(|c| given[a][c] + (given[b][c] - given[a][c]) * f)
                }
            };
            all.push(painter.colour(colour.map(|c| c * part)));
        }
    }
    all
}

/// Waves in ways that go around the sphere by the golden angle, each longer than the last, with sizes that add up to
/// the layer's swirl.
fn waves(layer: &Layer) -> Vec<Wave> {
    let golden = 2.399_963_229_728_653;
    let share = layer.swirl / (0.5 * WAVES as f32);
    (0..if layer.swirl > 0.0 { WAVES } else { 0 })
        .map(|i| {
            let n = i as f64;
            let up = 0.85 - 1.7 * (n + 0.5) / WAVES as f64;
            let (s, c) = libm::sincos(golden * n + 0.7);
            let flat = (1.0 - up * up).sqrt();
            // Little along z: what goes to the camera and back is hardly seen.
            let way = [flat * c, up, 0.4 * flat * s];
            let short = 1.0 / (f64::from(layer.swirl_size) * (0.7 + 0.31 * n));
            // Square to the way: its cross product with another vector.
            let across = [0.0, 0.0, 1.0];
            let turned = [way[1] * across[2], -way[0] * across[2], 0.0];
            let mut aside = [turned[0], turned[1], 0.3 * s];
            let along =
                (0..3).map(|a| aside[a] * way[a]).sum::<f64>() / (0..3).map(|a| way[a] * way[a]).sum::<f64>();
            (0..3).for_each(|a| aside[a] -= along * way[a]);
            Wave {
                way: way.map(|v| (v * short) as f32),
                aside: aside.map(|v| v as f32 * share * (0.7 + 0.15 * i as f32)),
                rate: f64::from(layer.swirl_rate) * (1.3 - 0.17 * n) * if i % 2 == 0 { 1.0 } else { -1.0 },
                phase: 0.618 * n,
            }
        })
        .collect()
}
