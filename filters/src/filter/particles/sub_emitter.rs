//! Layers whose particles are born where particles of another layer die.
//!
//! This is a closed form, too: the parents that have died come from their emitter, over a window that is longer by the
//! children's life; their position at death follows from their birth like the position at any age. Child `k` of parent
//! `n` is number `n * count + k`, its random numbers come from the parent's.

use super::block::ParticleBlock;
use super::bound_layer::{BoundLayer, EXTRA, EffectState, Scene};
use super::conversion::fly;
use super::flight::Flight;
use super::spawn_offset::Row;
use crate::particle::{
    BLOCK, Draws, EmitterShape, Kind, Parameter, PlacedBlock, Pool, STANDARD, continue_draws, mix32,
};

/// The source of a layer's particles.
pub(super) struct SubEmitter {
    pub(super) parent: BoundLayer,
    /// The parent's kind, with its life extended by that of its children.
    pub(super) kind: Kind,
    /// The extension, in seconds.
    pub(super) longer: f32,
    /// The number of children per parent.
    pub(super) count: u32,
    /// The direction of their start.
    pub(super) shape: EmitterShape,
    /// The fraction of the parent's velocity that they start with.
    pub(super) inherit: f32,
    /// Layers with the same number have the same children.
    pub(super) stream: u64,
}

/// A parent at its death.
struct Death {
    number: i64,
    /// The time since then in seconds.
    seconds_ago: f32,
    place: [f32; 3],
    speed: [f32; 3],
    bits: u32,
}

impl SubEmitter {
    /// Calls `visit` with the children of the parents in block `index`, a block of lanes at a time.
    pub(super) fn each(
        &self,
        child: &BoundLayer,
        (pool, index): (&Pool, usize),
        now: &EffectState,
        scene: &Scene<'_>,
        lanes: &mut ParticleBlock,
        visit: &mut dyn FnMut(&mut ParticleBlock),
    ) {
        let mut block = PlacedBlock::EMPTY;
        pool.place(index, &scene.views[child.order as usize], &mut block);
        if block.live == 0 {
            return;
        }
        let (mut from, mut start) = ([[0.0; BLOCK]; 3], [[0.0; BLOCK]; 3]);
        pool.starts(index, &mut from, &mut start);
        if let (Some(origin), Some(births)) = (&self.parent.spawn_offset, pool.births(index)) {
            origin.shift(births, &mut block, &mut from);
        }
        pool.set_size_and_angle(&mut block);
        let mut extra = [[0.0; BLOCK]; EXTRA];
        continue_draws(child.level, self.parent.kind.extra(), &mut block.bits, &mut extra);
        let phases = self.parent.phases(now.flick);
        for lane in block.lanes() {
            let at = |rows: &[Row; 3]| [rows[0][lane], rows[1][lane], rows[2][lane]];
            let flight = Flight { from: at(&from), start: at(&start) };
            let extra = core::array::from_fn(|i| extra[i][lane]);
            let Some(life) = self.end(&flight, block.age[lane], block.life[lane] - self.longer, &extra)
            else {
                continue;
            };
            let (place, speed) = self.then(&flight, life, block.age[lane] - life, &extra, now, &phases);
            let seconds_ago = block.age[lane] - life;
            let death =
                Death { number: block.number(lane), seconds_ago, place, speed, bits: block.bits[lane] };
            for first in (0..self.count).step_by(BLOCK) {
                self.fill(child, &death, first, lanes);
                if lanes.block.live != 0 {
                    continue_draws(child.level, child.kind.extra(), &mut lanes.block.bits, &mut lanes.extra);
                    visit(lanes);
                }
            }
        }
    }

    /// The age of a parent at its death, if it has died: at the end of its life, or earlier on the floor.
    fn end(&self, flight: &Flight, age: f32, life: f32, extra: &[f32; EXTRA]) -> Option<f32> {
        if life.is_nan() || life <= 0.0 {
            return None;
        }
        let floor = self.parent.layer.floor;
        let landed = floor.and_then(|f| self.parent.landing(flight, f.at(extra[5]) - 0.5, age.min(life)));
        landed.or_else(|| (age >= life).then_some(life))
    }

    /// The position and velocity of a parent at its death, `age` seconds old and some seconds ago.
    fn then(
        &self,
        flight: &Flight,
        age: f32,
        seconds_ago: f32,
        extra: &[f32; EXTRA],
        now: &EffectState,
        phases: &[f32],
    ) -> ([f32; 3], [f32; 3]) {
        let (parent, layer) = (&self.parent, &self.parent.layer);
        let (mut place, mut speed) = (flight.at(layer, age), flight.velocity(layer, age));
        place[0] += now.drift(age, seconds_ago) * layer.wind;
        speed[0] += now.wind * layer.wind;
        for (axis, place) in place.iter_mut().enumerate() {
            *place += parent.wrap_shift(axis, *place);
        }
        (parent.displaced(place, (age, seconds_ago), extra, phases), speed)
    }

    /// Children `first` to `first + 63` of a parent.
    fn fill(&self, child: &BoundLayer, death: &Death, first: u32, lanes: &mut ParticleBlock) {
        let block = &mut lanes.block;
        *block = PlacedBlock::EMPTY;
        block
            .number_in_a_row(death.number.wrapping_mul(i64::from(self.count)).wrapping_add(i64::from(first)));
        let age = death.seconds_ago;
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
            let mut directions = Draws::of(seed ^ 0xc2b2_ae35);
            let direction = self.shape.direction(directions.draw(), directions.draw());
            for (axis, direction) in direction.into_iter().enumerate() {
                lanes.from[axis][lane] = death.place[axis];
                lanes.start[axis][lane] =
                    direction * value(Parameter::Speed) + self.inherit * death.speed[axis];
            }
            let size = value(Parameter::Size) + value(Parameter::Growth) * age;
            block.size[lane] = if size > 0.0 { size } else { 0.0 };
            block.angle[lane] = value(Parameter::Angle) + value(Parameter::Spin) * age;
            block.bits[lane] = draws.bits();
        }
        let flights = [&lanes.from, &lanes.start];
        fly(child.level, &child.layer, flights, block.live, &block.age, &mut block.position);
    }
}
