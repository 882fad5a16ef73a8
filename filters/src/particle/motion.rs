//! Where a particle is at a time, in closed form: no step before it is needed.

use super::births::BLOCK;
use super::clock::seconds;
use super::emitter::Columns;
use super::kind::{Kind, Parameter, STANDARD, Spread};
use super::random::{Draws, mix32};
use super::record::{Particle, STEP};
use super::regenerate;
use crate::simd::multiversion;

/// The visible space: a box in world units. Infinite sides are allowed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct View {
    /// The lower corner.
    pub low: [f32; 3],
    /// The upper corner.
    pub high: [f32; 3],
}

impl View {
    /// Everything.
    pub const ALL: View = View { low: [f32::NEG_INFINITY; 3], high: [f32::INFINITY; 3] };

    /// Whether a particle born at `position` may be in the view, if it reaches no farther than `reach`
    /// ([`Kind::reach`]). It may be true for an invisible particle, but is never false for a visible one.
    ///
    /// 2^-20 of the birthplace's size covers what its position is rounded by.
    #[inline(always)]
    pub fn can_hold(&self, position: [f32; 3], reach: [f32; 3]) -> bool {
        let mut can = true;
        for axis in 0..3 {
            let p = position[axis];
            let wide = reach[axis] + p.abs() * (1.0 / 1_048_576.0);
            can &= (p + wide >= self.low[axis]) & (p - wide <= self.high[axis]);
        }
        can
    }
}

/// One living particle at a time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Placed {
    /// Seconds since its birth.
    pub age: f32,
    /// How long it lives, in seconds.
    pub life: f32,
    /// Where it is.
    pub position: [f32; 3],
    /// Half its width, at least 0.
    pub size: f32,
    /// Its angle in turns.
    pub angle: f32,
    /// Where its sequence stands after the standard parameters; the kind's own come next.
    pub bits: u32,
}

/// One particle at flick `at`, or nothing if it does not live then: the definition.
///
/// It lives from its birth on, while its age is below its life. p = p0 + d v t + a t^2 / 2.
pub fn placed(kind: &Kind, particle: &Particle, at: i64) -> Option<Placed> {
    let since = at.checked_sub(particle.birth).filter(|&s| (0..1 << 51).contains(&s))?;
    let age = seconds(since);
    let mut draws = Draws::of(particle.seed);
    let values: [f32; STANDARD] = kind.standard().map(|s| s.at(draws.draw()));
    let value = |slot: Parameter| values[slot as usize];
    if age >= value(Parameter::Life) {
        return None;
    }
    let start = particle.direction.map(|d| f32::from(d) * (value(Parameter::Speed) * STEP));
    let pull = [value(Parameter::AccelX), value(Parameter::AccelY), value(Parameter::AccelZ)];
    let size = value(Parameter::Size) + value(Parameter::Growth) * age;
    Some(Placed {
        age,
        life: value(Parameter::Life),
        position: core::array::from_fn(|a| particle.position[a] + (start[a] + pull[a] * (0.5 * age)) * age),
        size: if size > 0.0 { size } else { 0.0 },
        angle: value(Parameter::Angle) + value(Parameter::Spin) * age,
        bits: draws.bits(),
    })
}

/// Offsets of numbers in a row.
const IN_A_ROW: [u32; BLOCK] = {
    let mut row = [0; BLOCK];
    let mut j = 0;
    while j < BLOCK {
        row[j] = j as u32;
        j += 1;
    }
    row
};

/// [`BLOCK`] particles at a time, field by field as in [`Placed`]: [`place`] sets `live` and the positions,
/// [`set_size_and_angle`] size and angle. Only lanes whose bit in `live` is set mean anything.
#[derive(Clone, Debug, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct PlacedBlock {
    // The rows come first, so that each begins with a line of memory.
    /// The distance of each lane's number from `first`, ascending.
    offset: [u32; BLOCK],
    /// Seconds since birth.
    pub age: [f32; BLOCK],
    /// Seconds of life.
    pub life: [f32; BLOCK],
    /// x, y, z.
    pub position: [[f32; BLOCK]; 3],
    /// Half widths, set by [`set_size_and_angle`].
    pub size: [f32; BLOCK],
    /// Turns, likewise.
    pub angle: [f32; BLOCK],
    /// Where the sequences stand: after the parameters that are drawn so far.
    pub bits: [u32; BLOCK],
    /// The base of the numbers: lane j holds number `first + offset[j]`.
    first: i64,
    /// `offset` is 0, 1, 2 ... as it is in most blocks: then it need not be written again.
    row: bool,
    /// Bit j: lane j lives now and may be in the view.
    pub live: u64,
}

impl PlacedBlock {
    /// Nothing yet.
    pub const EMPTY: PlacedBlock = PlacedBlock {
        offset: IN_A_ROW,
        age: [0.0; BLOCK],
        life: [0.0; BLOCK],
        position: [[0.0; BLOCK]; 3],
        size: [0.0; BLOCK],
        angle: [0.0; BLOCK],
        bits: [0; BLOCK],
        first: 0,
        row: true,
        live: 0,
    };

    /// The lanes hold the numbers from `first` on, one after the other.
    #[inline(always)]
    pub(crate) fn number_in_a_row(&mut self, first: i64) {
        self.first = first;
        if !self.row {
            (self.offset, self.row) = (IN_A_ROW, true);
        }
    }

    /// Lane j holds number `first + offset[j]`.
    pub(super) fn number_by(&mut self, first: i64, offset: &[u32; BLOCK]) {
        (self.first, self.offset, self.row) = (first, *offset, false);
    }

    /// The lanes that live, in order.
    pub fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let mut left = self.live;
        core::iter::from_fn(move || {
            let lane = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (lane < BLOCK).then_some(lane)
        })
    }

    /// The number of the particle in a lane (below [`BLOCK`]).
    pub fn number(&self, lane: usize) -> i64 {
        self.first.wrapping_add(i64::from(self.offset[lane]))
    }
}

multiversion! {
    /// Places the lanes of `columns` whose bit in `lanes` is set, at flick `at`: culls by reach, draws the
    /// parameters of what is left as far as motion needs them, and moves it. Sets age, life, position, bits and
    /// `live`; where nothing can be seen, only `live`.
    ///
    /// Lanes in `lanes` must be born at `at`, in order of birth, and not more than 2^51 flicks old; others may hold
    /// anything. Culling takes the reach of the oldest.
    pub fn place(level, kind: &Kind, columns: &Columns, at: i64, view: &View, lanes: u64, out: &mut PlacedBlock) = place_body;

    /// Goes on after [`place`], and once only: sets size and angle, and leaves the sequences before the kind's own
    /// parameters (see [`continue_draws`](super::continue_draws)).
    pub fn set_size_and_angle(level, kind: &Kind, block: &mut PlacedBlock) = set_size_and_angle_body;

    /// The velocities that all lanes of `columns` start with, x, y and z: for places at other ages.
    pub fn starts(level, kind: &Kind, columns: &Columns, out: &mut [[f32; BLOCK]; 3]) = starts_body;
}

#[inline(always)]
fn place_body(kind: &Kind, columns: &Columns, at: i64, view: &View, lanes: u64, out: &mut PlacedBlock) {
    let mut flags = [0u8; BLOCK];
    // In a row of its own, which stays in registers: what is written in halves and read whole has to be waited for.
    let mut ages = [0.0f32; BLOCK];
    for (age, birth) in ages.iter_mut().zip(&columns.birth) {
        *age = seconds(at.wrapping_sub(*birth));
    }
    out.age = ages;
    out.live = lanes;
    if *view != View::ALL {
        // The oldest reaches farthest, and is the first: numbers are in order of birth.
        let reach = kind.reach(ages[lanes.trailing_zeros() as usize % BLOCK]);
        let [x, y, z] = &columns.position;
        for (j, flag) in flags.iter_mut().enumerate() {
            *flag = u8::from(view.can_hold([x[j], y[j], z[j]], reach));
        }
        out.live &= pack(&flags);
        if out.live == 0 {
            return;
        }
    }
    // Draw by draw for all lanes, not lane by lane: each draw waits ten cycles for the one before it, and the other
    // lanes fill them.
    let mut bits = columns.seed.map(mix32);
    let [life, speed, ax, ay, az] = draw(kind.standard(), &mut bits);
    for (axis, pull) in [&ax, &ay, &az].into_iter().enumerate() {
        for j in 0..BLOCK {
            let age = ages[j];
            let start = f32::from(columns.direction[axis][j]) * (speed[j] * STEP);
            out.position[axis][j] = columns.position[axis][j] + (start + pull[j] * (0.5 * age)) * age;
        }
    }
    for (flag, (age, life)) in flags.iter_mut().zip(ages.iter().zip(&life)) {
        *flag = u8::from(age < life);
    }
    out.life = life;
    out.bits = bits;
    out.live &= pack(&flags);
}

#[inline(always)]
fn set_size_and_angle_body(kind: &Kind, block: &mut PlacedBlock) {
    let mut bits = block.bits;
    let [size, growth, angle, spin] = draw(&kind.standard()[Parameter::Size as usize..], &mut bits);
    for j in 0..BLOCK {
        let age = block.age[j];
        let size = size[j] + growth[j] * age;
        block.size[j] = if size > 0.0 { size } else { 0.0 };
        block.angle[j] = angle[j] + spin[j] * age;
    }
    block.bits = bits;
}

#[inline(always)]
fn starts_body(kind: &Kind, columns: &Columns, out: &mut [[f32; BLOCK]; 3]) {
    let mut bits = columns.seed.map(mix32);
    let [_, speed]: [_; Parameter::Speed as usize + 1] = draw(kind.standard(), &mut bits);
    for (axis, out) in out.iter_mut().enumerate() {
        for (j, out) in out.iter_mut().enumerate() {
            *out = f32::from(columns.direction[axis][j]) * (speed[j] * STEP);
        }
    }
}

/// The first `N` parameters of all lanes.
#[inline(always)]
fn draw<const N: usize>(spreads: &[Spread], bits: &mut [u32; BLOCK]) -> [[f32; BLOCK]; N] {
    let mut values = [[0.0f32; BLOCK]; N];
    for (row, s) in values.iter_mut().zip(spreads) {
        regenerate::draw(*s, bits, row);
    }
    values
}

/// Bytes of 0 or 1 to bits. The factor moves bit 0 of byte k to bit 56 + k, and no two meet elsewhere above 56.
#[inline(always)]
pub(crate) fn pack(flags: &[u8; BLOCK]) -> u64 {
    let mut bits = 0;
    for (i, eight) in flags.as_chunks::<8>().0.iter().enumerate() {
        bits |= (u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
    }
    bits
}
