//! Contacts of the awake grains: position-based, in short steps.
//!
//! Overlaps and friction are corrected in positions, all grains at once and averaged over a grain's contacts (M. Macklin,
//! M. Müller, N. Chentanez, T.-Y. Kim, *Unified particle physics for real-time applications*, 2014, sections 4 and 6.1),
//! in short steps of few iterations (M. Macklin et al., *Small steps in physics simulation*, 2019). Two rules are for
//! piles: of two grains, the upper one is moved (their section 5.2 scales masses by height for the same purpose), and a
//! grain on the surface keeps its velocity along the surface, less friction (see [`slope`](super::slope)), because bumps
//! would remove it.

use super::cells::Near;
use super::grain::{Body, Motion};
use super::slope::Place;
use super::solids::Solids;

/// The largest number of contacts of a grain. Seven fit around one of equal size without overlaps; others are left out.
const MOST: usize = 12;
/// The largest gap of a contact, in diameters: grains approach each other during the iterations.
pub(super) const GAP: f32 = 0.06;
/// The largest gap at which a grain supports another.
const SUPPORT: f32 = 0.02;
/// A grain that is beside another one is higher or lower by no more than this.
const BESIDE: f32 = 0.1;
/// Grains that are closer than this in x count as above or below, not as ahead or behind.
const AHEAD: f32 = 0.3;
/// The largest distance in a short step: a body of half a diameter cannot be passed.
pub(super) const FASTEST: f32 = 0.45;
/// Iterations per short step.
pub(super) const ITERATIONS: usize = 2;
/// The part of the correction that is applied, over the mean of all contacts.
const RELAXATION: f32 = 1.5;
/// The fraction of the velocity that is kept in a short step: inside a pile, and by a grain that hits something.
const INSIDE: f32 = 0.75;
const BLOCKED: f32 = 0.97;

/// The contacts of a grain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contacts {
    count: u8,
    /// Whether it lies on something on both sides.
    pub(super) is_held: bool,
    /// Whether something solid may be near.
    is_near_solid: bool,
    /// Whether it touched anything in any of the short steps.
    pub(super) touched: bool,
    /// The last entry is overwritten by contacts that are left out.
    with: [u32; MOST + 1],
}

pub(super) const NO_CONTACTS: Contacts =
    Contacts { count: 0, is_held: false, is_near_solid: false, touched: false, with: [0; MOST + 1] };

impl Contacts {
    /// Adds body `number` if `is_contact`, without a branch.
    #[inline(always)]
    fn push_if(&mut self, number: usize, is_contact: bool) {
        self.with[usize::from(self.count)] = number as u32;
        self.count += u8::from(is_contact && usize::from(self.count) < MOST);
    }

    /// The numbers of the bodies.
    #[inline(always)]
    pub(super) fn bodies(&self) -> impl Iterator<Item = usize> {
        self.with[..usize::from(self.count)].iter().map(|j| *j as usize)
    }
}

/// The parameters of a short step.
#[derive(Clone, Copy)]
pub(super) struct ShortStep<'a> {
    pub(super) size: [f32; 2],
    pub(super) solids: &'a Solids,
    /// Friction inside the pile, and on its surface.
    pub(super) friction: [f32; 2],
    /// Diameters per second squared.
    pub(super) gravity: f32,
    /// Seconds.
    pub(super) time: f32,
}

#[inline(always)]
fn length([x, y]: [f32; 2]) -> f32 {
    (x * x + y * y).sqrt()
}

/// The parts of a vector along a normal and across it (to the right of the normal, if y grows downwards).
#[inline(always)]
fn split(vector: [f32; 2], [nx, ny]: [f32; 2]) -> [f32; 2] {
    [vector[0] * nx + vector[1] * ny, vector[1] * nx - vector[0] * ny]
}

/// The inverse of [`split`].
#[inline(always)]
fn join([along, across]: [f32; 2], [nx, ny]: [f32; 2]) -> [f32; 2] {
    [along * nx - across * ny, along * ny + across * nx]
}

/// The correction of a contact: out of the overlap, and against the motion across the normal, as far as friction holds.
#[inline(always)]
fn correction(normal: [f32; 2], overlap: f32, relative: [f32; 2], friction: f32) -> [f32; 2] {
    let [_, across] = split(relative, normal);
    let hold = friction * overlap;
    join([overlap, -across.max(-hold).min(hold)], normal)
}

/// Moves a body for `time` seconds.
pub(super) fn predict(body: &mut Body, velocity: &mut [f32; 2], gravity: f32, time: f32) {
    velocity[1] += gravity * time;
    let by = velocity.map(|v| v * time);
    let far2 = by[0] * by[0] + by[1] * by[1];
    let scale = if far2 > FASTEST * FASTEST { FASTEST / far2.sqrt() } else { 1.0 };
    body.from = body.at;
    body.at = [body.at[0] + by[0] * scale, body.at[1] + by[1] * scale];
}

impl ShortStep<'_> {
    /// Finds the contacts of body `i`.
    pub(super) fn find(&self, near: &Near<'_>, i: usize, out: &mut Contacts) {
        let body = &near.bodies[i];
        out.count = 0;
        out.is_near_solid = near.cells.is_near_solid(body.at);
        let (mut left, mut right, mut is_touched) = (false, false, false);
        self.solids(out, body, GAP, |([nx, ny], overlap)| {
            is_touched = true;
            // A slope of up to 17 degrees supports both sides, a steeper one the side on which it lies.
            if overlap > -SUPPORT && ny < 0.1 {
                left |= nx > -0.3;
                right |= nx < 0.3;
            }
        });
        near.around(body.at, |j, other| {
            let [dx, dy] = [body.at[0] - other.at[0], body.at[1] - other.at[1]];
            let (reach, d2) = (body.radius + other.radius, dx * dx + dy * dy);
            out.push_if(j, (d2 < (reach + GAP) * (reach + GAP)) & (j != i));
            let supports = (dy < BESIDE) & (d2 < (reach + SUPPORT) * (reach + SUPPORT)) & (j != i);
            left |= supports & (dx > 0.0);
            right |= supports & (dx <= 0.0);
        });
        out.is_held = left && right;
        out.touched |= is_touched || out.count > 0;
    }

    /// The solids that a body overlaps, or misses by less than `gap`.
    #[inline(always)]
    fn solids(&self, contacts: &Contacts, body: &Body, gap: f32, f: impl FnMut(([f32; 2], f32))) {
        if contacts.is_near_solid {
            self.solids.contacts(body, gap, self.size, f);
        }
    }

    /// Body `i` after an iteration.
    pub(super) fn correct(&self, near: &Near<'_>, contacts: &Contacts, is_buried: bool, i: usize) -> Body {
        let body = near.bodies[i];
        let own = body.moved();
        // A grain that is supported on one side only rolls.
        let friction = if is_buried && contacts.is_held { self.friction[0] } else { 0.0 };
        let (mut sum, mut count) = ([0.0f32; 2], 0u32);
        for j in contacts.bodies() {
            let other = &near.bodies[j];
            let [dx, dy] = [body.at[0] - other.at[0], body.at[1] - other.at[1]];
            let (reach, d2) = (body.radius + other.radius, dx * dx + dy * dy);
            // Pairs that are still apart add no force.
            let distance = d2.sqrt();
            let overlap = (reach - distance).max(0.0);
            let normal = if distance > 1e-6 {
                let scale = 1.0 / distance;
                [dx * scale, dy * scale]
            } else {
                [0.0, if body.id > other.id { -1.0 } else { 1.0 }]
            };
            let its = other.moved();
            let by = correction(normal, overlap, [own[0] - its[0], own[1] - its[1]], friction);
            let share = if j < near.sleepers { 1.0 } else { 0.5 - 0.45 * normal[1] };
            sum = [sum[0] + share * by[0], sum[1] + share * by[1]];
            count += u32::from(overlap > 0.0);
        }
        let scale = if count > 1 { RELAXATION / count as f32 } else { 1.0 };
        let mut out = Body { at: [body.at[0] + sum[0] * scale, body.at[1] + sum[1] * scale], ..body };
        // Solids do not move, however many grains press on them.
        let ahead = out;
        self.solids(contacts, &ahead, 0.0, |(normal, overlap)| {
            let by = correction(normal, overlap, out.moved(), friction);
            out.at = [out.at[0] + by[0], out.at[1] + by[1]];
        });
        out
    }

    /// The motion of body `i` after the short step, from the one before it with the velocity before the corrections.
    pub(super) fn motion(
        &self,
        near: &Near<'_>,
        contacts: &Contacts,
        place: Place,
        before: Motion,
        i: usize,
    ) -> Motion {
        let body = &near.bodies[i];
        // A grain that bounces between others is supported in some of the short steps only.
        let (mut is_supported, mut lies) = (false, before.lies);
        self.solids(contacts, body, GAP, |([_, ny], _)| {
            is_supported = true;
            lies |= ny < 0.0;
        });
        for j in contacts.bodies() {
            let below = near.bodies[j].at[1] - body.at[1];
            is_supported |= below > -BESIDE;
            lies |= below > BESIDE && j < near.sleepers;
        }
        let velocity = match place {
            Place::Buried => body.moved().map(|v| v * (INSIDE / self.time)),
            Place::Undermined => body.moved().map(|v| v * (1.0 / self.time)),
            Place::Surface(normal) if is_supported => {
                self.collide(near, contacts, body, self.slide(body, normal, before.velocity))
            }
            Place::Surface(_) => before.velocity,
        };
        Motion { velocity, lies, ..before }
    }

    /// A velocity after inelastic collisions with awake bodies beside: those that are faster would climb over them.
    fn collide(&self, near: &Near<'_>, contacts: &Contacts, body: &Body, velocity: [f32; 2]) -> [f32; 2] {
        contacts.bodies().filter(|j| *j >= near.sleepers).fold(velocity, |sum, j| {
            let other = &near.bodies[j];
            let [dx, dy] = [other.at[0] - body.at[0], other.at[1] - body.at[1]];
            if dx.abs() < AHEAD {
                return sum;
            }
            let scale = 1.0 / length([dx, dy]);
            let normal = [dx * scale, dy * scale];
            let its = other.moved().map(|v| v * (1.0 / self.time));
            let [along, _] = split([velocity[0] - its[0], velocity[1] - its[1]], normal);
            let lost = 0.5 * along.max(0.0);
            [sum[0] - lost * normal[0], sum[1] - lost * normal[1]]
        })
    }

    /// The velocity of a body that slides over a surface.
    fn slide(&self, body: &Body, normal: [f32; 2], velocity: [f32; 2]) -> [f32; 2] {
        let [along, across] = split(velocity, normal);
        // Friction is proportional to the weight alone: that of impacts is already lost on the bumps of the surface.
        let load = self.gravity * self.time * -normal[1];
        let lost = self.friction[1] * (-along).max(0.0).min(load);
        let kept = across.max(-lost).min(lost);
        let [x, y] = body.moved();
        let fastest = velocity[0] * velocity[0] + velocity[1] * velocity[1];
        let blocked = x * velocity[0] + y * velocity[1] < 0.5 * self.time * fastest;
        let keep = if blocked { BLOCKED } else { 1.0 };
        let after = join([along.max(0.0), across - kept], normal).map(|v| v * keep);
        let (speed, fastest) = (length(after), FASTEST / self.time);
        if speed > fastest { after.map(|v| v * (fastest / speed)) } else { after }
    }
}
