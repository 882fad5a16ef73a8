//! Layers that are born where particles of another layer die.
//!
//! In closed form as well: which parents have died is asked of their emitter over a window that is longer by the
//! children's life; where one was as it died follows from where it would be now. Child `k` of parent `n` is number
//! `n * count + k`, its random numbers come from the parent's.

use super::block::{ParticleBlock, wave};
use super::bound_layer::{BoundLayer, EffectState, OWN};
use super::effect::Layer;
use crate::particle::{
    BLOCK, Draws, EmitterShape, FLICKS, Kind, Parameter, PlacedBlock, Pool, STANDARD, View, continue_draws,
    mix32,
};

/// Where a layer's particles come from.
pub(super) struct SubEmitter {
    pub(super) parent: BoundLayer,
    /// The parent's kind, living on for as long as children do.
    pub(super) kind: Kind,
    /// By how much, in seconds.
    pub(super) longer: f32,
    /// Children of each parent.
    pub(super) count: u32,
    /// Which way they start.
    pub(super) shape: EmitterShape,
    /// The part of the parent's velocity that they start with.
    pub(super) inherit: f32,
    /// Layers of the same number have the same children.
    pub(super) stream: u64,
}

/// A parent as it died.
struct Death {
    number: i64,
    /// Seconds ago.
    ago: f32,
    place: [f32; 3],
    speed: [f32; 3],
    bits: u32,
}

/// Halvings of a life in which the time is found at which a parent came to the floor.
const HALVINGS: u32 = 24;

/// A parent as it would be now, had it lived on in a vacuum.
struct Flight {
    age: f32,
    place: [f32; 3],
    speed: [f32; 3],
}

impl Flight {
    /// Where it was at another age and how fast, friction being put to it, wind and what takes it aside not.
    fn at(&self, age: f32, layer: &Layer) -> ([f32; 3], [f32; 3]) {
        let (ago, mut place, mut speed) = (self.age - age, self.place, self.speed);
        for axis in 0..3 {
            let pull = layer.pull[axis];
            place[axis] -= speed[axis] * ago - 0.5 * pull * ago * ago;
            speed[axis] -= pull * ago;
            if layer.drag > 0.0 {
                let left = libm::expf(-layer.drag * age);
                let gone = (1.0 - left) / layer.drag;
                let start = speed[axis] - pull * age;
                let fell = 0.5 * pull * age * age;
                place[axis] += start * (gone - age) + pull * (age - gone) / layer.drag - fell;
                speed[axis] = start * left + pull * gone;
            }
        }
        (place, speed)
    }
}

impl SubEmitter {
    /// Gives `see` the children of the parents in block `index`, a block of lanes at a time, ready to be seen.
    pub(super) fn each(
        &self,
        child: &BoundLayer,
        pool: &Pool,
        index: usize,
        now: &EffectState,
        lanes: &mut ParticleBlock,
        see: &mut dyn FnMut(&mut ParticleBlock),
    ) {
        let mut block = PlacedBlock::EMPTY;
        pool.place(index, &View::ALL, &mut block);
        if block.live == 0 {
            return;
        }
        if let Some(origin) = &self.parent.spawn_offset {
            origin.shift(now.flick, &mut block);
        }
        pool.set_size_and_angle(&mut block);
        let mut own = [[0.0; BLOCK]; OWN];
        continue_draws(child.level, self.parent.kind.extra(), &mut block.bits, &mut own);
        let mut speeds = [[0.0; BLOCK]; 3];
        pool.velocities(index, &block, &mut speeds);
        for lane in block.lanes() {
            let life = block.life[lane] - self.longer;
            let own = core::array::from_fn(|i| own[i][lane]);
            let last = Flight {
                age: block.age[lane],
                place: core::array::from_fn(|a| block.position[a][lane]),
                speed: core::array::from_fn(|a| speeds[a][lane]),
            };
            let Some(life) = self.end(&last, life, &own) else { continue };
            let death = self.then(&last, life, &own, now, (block.number(lane), block.bits[lane]));
            for first in (0..self.count).step_by(BLOCK) {
                self.fill(child, &death, first, lanes);
                if lanes.block.live != 0 {
                    continue_draws(child.level, child.kind.extra(), &mut lanes.block.bits, &mut lanes.own);
                    see(lanes);
                }
            }
        }
    }

    /// How old a parent was as it died, if it has: at the end of its life, or before that on the floor.
    fn end(&self, last: &Flight, life: f32, own: &[f32; OWN]) -> Option<f32> {
        if life.is_nan() || life <= 0.0 {
            return None;
        }
        let lived = last.age.min(life);
        if let Some(floor) = self.parent.layer.floor {
            let line = floor.at(own[5]) - 0.5;
            let above = |age: f32| {
                let [_, y, z] = last.at(age, &self.parent.layer).0;
                y < line * z
            };
            // Below it from the first, it never was.
            if !above(0.0) {
                return None;
            }
            if !above(lived) {
                let (mut low, mut high) = (0.0, lived);
                for _ in 0..HALVINGS {
                    let middle = 0.5 * (low + high);
                    *if above(middle) { &mut low } else { &mut high } = middle;
                }
                return Some(high);
            }
        }
        (last.age >= life).then_some(life)
    }

    /// A parent as it died, `life` seconds old.
    fn then(
        &self,
        last: &Flight,
        life: f32,
        own: &[f32; OWN],
        now: &EffectState,
        (number, bits): (i64, u32),
    ) -> Death {
        let layer = &self.parent.layer;
        let (place, speed) = last.at(life, layer);
        let mut d = Death { number, ago: last.age - life, place, speed, bits };
        let blown = match &now.blown {
            Some(blown) => blown(life + d.ago) - blown(d.ago),
            None => now.wind * life,
        };
        d.place[0] += blown * layer.wind;
        d.speed[0] += now.wind * layer.wind;
        for axis in 0..3 {
            let wrap = self.parent.wrap[axis];
            if wrap > 0.0 {
                let from = d.place[axis] - self.parent.middle[axis];
                d.place[axis] -= wrap * (from / wrap + 0.5).floor();
            }
        }
        if layer.swirl > 0.0 {
            let flick = now.flick.saturating_sub((f64::from(d.ago) * FLICKS as f64) as i64);
            let phases = self.parent.phases_at(flick);
            let grown = if layer.swirl_age > 0.0 { (life / layer.swirl_age).min(1.0) } else { 1.0 };
            let at = d.place;
            for (w, phase) in self.parent.waves.iter().zip(phases) {
                let s = wave(w.way[0] * at[0] + w.way[1] * at[1] + w.way[2] * at[2] + phase);
                d.place.iter_mut().zip(w.aside).for_each(|(v, aside)| *v += aside * s * grown);
            }
        }
        if layer.sway != [0.0; 2] {
            let turn = layer.sway_rate * (1.0 + 0.3 * own[4]) * life;
            d.place[0] += layer.sway[0] * wave(turn + own[4]);
            d.place[1] += layer.sway[1] * wave(2.0 * turn + own[3]);
        }
        d
    }

    /// Children `first` to `first + 63` of a parent.
    fn fill(&self, child: &BoundLayer, death: &Death, first: u32, lanes: &mut ParticleBlock) {
        let block = &mut lanes.block;
        *block = PlacedBlock::EMPTY;
        block
            .number_in_a_row(death.number.wrapping_mul(i64::from(self.count)).wrapping_add(i64::from(first)));
        let age = death.ago;
        for lane in 0..BLOCK.min((self.count - first) as usize) {
            let k = first + lane as u32;
            let stream = (self.stream as u32).wrapping_mul(0x85eb_ca6b);
            let seed = mix32(death.bits ^ stream ^ (k + 1).wrapping_mul(0x9e37_79b9));
            let mut draws = Draws::of(seed);
            let values: [f32; STANDARD] = child.kind.standard().map(|s| s.at(draws.draw()));
            let value = |slot: Parameter| values[slot as usize];
            if age >= value(Parameter::Life) {
                continue;
            }
            block.live |= 1 << lane;
            (block.age[lane], block.life[lane]) = (age, value(Parameter::Life));
            let mut ways = Draws::of(seed ^ 0xc2b2_ae35);
            let way = self.shape.way(ways.draw(), ways.draw());
            for (axis, way) in way.into_iter().enumerate() {
                let start = way * value(Parameter::Speed) + self.inherit * death.speed[axis];
                let pull = child.layer.pull[axis];
                block.position[axis][lane] = death.place[axis] + (start + pull * (0.5 * age)) * age;
                lanes.speed[axis][lane] = start + pull * age;
            }
            let size = value(Parameter::Size) + value(Parameter::Growth) * age;
            block.size[lane] = if size > 0.0 { size } else { 0.0 };
            block.angle[lane] = value(Parameter::Angle) + value(Parameter::Spin) * age;
            block.bits[lane] = draws.bits();
        }
    }
}
