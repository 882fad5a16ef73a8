//! Contacts of the awake grains: position-based, in short steps.
//!
//! Overlaps and friction are corrected in positions, all grains at once and averaged over a grain's contacts (M. Macklin,
//! M. Müller, N. Chentanez, T.-Y. Kim, *Unified particle physics for real-time applications*, 2014, sections 4 and 6.1),
//! in short steps of few iterations (M. Macklin et al., *Small steps in physics simulation*, 2019). Two rules are for
//! piles: of two grains, the upper one gives way (their section 5.2 scales masses by height for the same purpose), and
//! one that lies on the surface keeps the velocity along it, less the friction (see [`slope`](super::slope)): bumps would
//! take it away.

use super::cells::{Cells, NONE};
use super::grain::Body;
use super::solids::Solids;
use core::cell::Cell as Shared;

/// The largest number of contacts of a grain. Seven fit around one of equal size without overlaps; others are left out.
const MOST: usize = 12;
/// Marks the number of a sleeping grain.
const SLEEPING: u32 = 1 << 31;
/// The largest gap of a contact, in diameters: grains approach each other during the iterations.
const GAP: f32 = 0.06;
/// The largest gap at which a grain supports another.
const SUPPORT: f32 = 0.02;
/// The largest distance in a short step: a body of half a diameter cannot be passed.
pub(super) const FASTEST: f32 = 0.45;
/// Iterations per short step.
pub(super) const ITERATIONS: usize = 2;
/// The part of the correction that is applied, over the mean of all contacts.
const RELAXATION: f32 = 1.5;
/// The velocity that is kept in a short step: inside a pile; and by a grain that hits something on its way.
const INSIDE: f32 = 0.9;
const BLOCKED: f32 = 0.97;

/// The contacts of a grain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contacts {
    count: u32,
    with: [u32; MOST],
    /// Whether it lies on something on both sides.
    is_held: bool,
    /// Whether it touched anything in any of the short steps.
    pub(super) touched: bool,
}

pub(super) const NO_CONTACTS: Contacts =
    Contacts { count: 0, with: [0; MOST], is_held: false, touched: false };

impl Contacts {
    fn push(&mut self, number: u32) {
        if let Some(place) = self.with.get_mut(self.count as usize) {
            *place = number;
            self.count += 1;
        }
    }

    /// The numbers of sleeping grains.
    pub(super) fn sleepers(&self) -> impl Iterator<Item = usize> {
        self.with[..self.count as usize]
            .iter()
            .filter(|j| **j & SLEEPING != 0)
            .map(|j| (j & !SLEEPING) as usize)
    }
}

/// What a short step needs.
#[derive(Clone, Copy)]
pub(super) struct ShortStep<'a> {
    pub(super) size: [f32; 2],
    pub(super) solids: &'a Solids,
    pub(super) cells: &'a Cells,
    pub(super) sleepers: &'a [Body],
    /// Friction inside the pile, and on its surface.
    pub(super) friction: [f32; 2],
    /// Diameters per second squared.
    pub(super) gravity: f32,
    /// Seconds.
    pub(super) time: f32,
}

fn length([x, y]: [f32; 2]) -> f32 {
    (x * x + y * y).sqrt()
}

/// The length of a vector along a normal, and what is left of it.
fn split(vector: [f32; 2], normal: [f32; 2]) -> (f32, [f32; 2]) {
    let along = vector[0] * normal[0] + vector[1] * normal[1];
    (along, [vector[0] - along * normal[0], vector[1] - along * normal[1]])
}

/// The correction of a contact: out of the overlap, and against the motion across the normal, as far as friction holds.
fn correction(normal: [f32; 2], overlap: f32, relative: [f32; 2], friction: f32) -> [f32; 2] {
    let (_, slide) = split(relative, normal);
    let (far, hold) = (length(slide), friction * overlap);
    let part = if far > hold { hold / far } else { 1.0 };
    [overlap * normal[0] - part * slide[0], overlap * normal[1] - part * slide[1]]
}

/// Moves a body for `time` seconds.
pub(super) fn predict(body: &mut Body, velocity: &mut [f32; 2], gravity: f32, time: f32) {
    velocity[1] += gravity * time;
    let by = velocity.map(|v| v * time);
    let far = length(by);
    let scale = if far > FASTEST { FASTEST / far } else { 1.0 };
    body.at = [body.at[0] + by[0] * scale, body.at[1] + by[1] * scale];
}

impl ShortStep<'_> {
    /// Finds the contacts of body `i`.
    pub(super) fn find(&self, bodies: &[Body], links: &[u32], i: usize, out: &mut Contacts) {
        let body = &bodies[i];
        out.count = 0;
        let (mut left, mut right, mut is_touched) = (false, false, false);
        self.solids.contacts(
            body,
            GAP,
            self.size,
            self.cells.is_near_wall(body.at),
            |([nx, ny], overlap)| {
                is_touched = true;
                // A slope of up to 17 degrees supports both sides, a steeper one the side on which it lies.
                if overlap > -SUPPORT && ny < 0.1 {
                    left |= nx > -0.3;
                    right |= nx < 0.3;
                }
            },
        );
        self.cells.around(body.at, |cell| {
            let mut test = |other: &Body, number: u32| {
                let [dx, dy] = [body.at[0] - other.at[0], body.at[1] - other.at[1]];
                let (reach, d2) = (body.radius + other.radius, dx * dx + dy * dy);
                if d2 < (reach + GAP) * (reach + GAP) {
                    out.push(number);
                    if dy < 0.1 && d2 < (reach + SUPPORT) * (reach + SUPPORT) {
                        left |= dx > 0.0;
                        right |= dx <= 0.0;
                    }
                }
            };
            for j in cell.sleepers[0]..cell.sleepers[1] {
                test(&self.sleepers[j as usize], j | SLEEPING);
            }
            let mut j = cell.awake;
            while j != NONE {
                if j as usize != i {
                    test(&bodies[j as usize], j);
                }
                j = links[j as usize];
            }
        });
        out.is_held = left && right;
        out.touched |= is_touched || out.count > 0;
    }

    /// The place of body `i` after an iteration.
    pub(super) fn correct(
        &self,
        before: &[Body],
        bodies: &[Body],
        contacts: &Contacts,
        is_on_surface: bool,
        i: usize,
    ) -> Body {
        let body = bodies[i];
        let moved = |k: usize| [bodies[k].at[0] - before[k].at[0], bodies[k].at[1] - before[k].at[1]];
        let own = moved(i);
        let with = &contacts.with[..contacts.count as usize];
        // Supported on one side only, it rolls.
        let friction = if !is_on_surface && contacts.is_held { self.friction[0] } else { 0.0 };
        let (sum, count) = (Shared::new([0.0f32; 2]), Shared::new(0u32));
        let correct = |normal: [f32; 2], overlap: f32, relative: [f32; 2], share: f32| {
            let by = correction(normal, overlap, relative, friction);
            let [x, y] = sum.get();
            sum.set([x + share * by[0], y + share * by[1]]);
            count.set(count.get() + 1);
        };
        for j in with {
            let other = self.other(bodies, *j);
            let [dx, dy] = [body.at[0] - other.at[0], body.at[1] - other.at[1]];
            let (reach, d2) = (body.radius + other.radius, dx * dx + dy * dy);
            if d2 >= reach * reach {
                continue;
            }
            let distance = d2.sqrt();
            let normal = if distance > 1e-6 {
                [dx / distance, dy / distance]
            } else {
                [0.0, if body.id > other.id { -1.0 } else { 1.0 }]
            };
            if j & SLEEPING != 0 {
                correct(normal, reach - distance, own, 1.0);
            } else {
                let its = moved(*j as usize);
                correct(normal, reach - distance, [own[0] - its[0], own[1] - its[1]], 0.5 - 0.45 * normal[1]);
            }
        }
        let (sum, count) = (sum.get(), count.get());
        let scale = if count > 1 { RELAXATION / count as f32 } else { 1.0 };
        let mut out = Body { at: [body.at[0] + sum[0] * scale, body.at[1] + sum[1] * scale], ..body };
        // Solids do not give way, however many grains press.
        let from = before[i].at;
        let ahead = out;
        self.solids.contacts(
            &ahead,
            0.0,
            self.size,
            self.cells.is_near_wall(ahead.at),
            |(normal, overlap)| {
                let relative = [out.at[0] - from[0], out.at[1] - from[1]];
                let by = correction(normal, overlap, relative, friction);
                out.at = [out.at[0] + by[0], out.at[1] + by[1]];
            },
        );
        out
    }

    fn other<'b>(&'b self, bodies: &'b [Body], number: u32) -> &'b Body {
        if number & SLEEPING != 0 {
            &self.sleepers[(number & !SLEEPING) as usize]
        } else {
            &bodies[number as usize]
        }
    }

    /// Whether body `i` lies on something that is carried, from what carried the others before.
    pub(super) fn is_carried(
        &self,
        bodies: &[Body],
        contacts: &Contacts,
        carried: &[bool],
        i: usize,
    ) -> bool {
        let body = &bodies[i];
        let mut is_solid = false;
        self.solids.contacts(body, GAP, self.size, self.cells.is_near_wall(body.at), |([_, ny], _)| {
            is_solid |= ny < 0.0
        });
        is_solid
            || contacts.with[..contacts.count as usize].iter().any(|j| {
                let is_below = self.other(bodies, *j).at[1] > body.at[1];
                is_below && (j & SLEEPING != 0 || carried[*j as usize])
            })
    }

    /// The velocity of body `i` after the short step. `predicted` is the one before the corrections.
    pub(super) fn velocity(
        &self,
        before: &[Body],
        bodies: &[Body],
        contacts: &Contacts,
        surface: Option<[f32; 2]>,
        predicted: [f32; 2],
        i: usize,
    ) -> [f32; 2] {
        let body = &bodies[i];
        let real = [0, 1].map(|a: usize| (body.at[a] - before[i].at[a]) / self.time);
        let Some(normal) = surface else { return real.map(|v| v * INSIDE) };
        let mut is_carried = false;
        self.solids.contacts(body, 0.05, self.size, self.cells.is_near_wall(body.at), |_| is_carried = true);
        let with = &contacts.with[..contacts.count as usize];
        if !is_carried && !with.iter().any(|j| self.other(bodies, *j).at[1] > body.at[1] - 0.1) {
            return predicted;
        }
        let v = predicted;
        let (along, slide) = split(v, normal);
        let speed = length(slide);
        // Friction follows from the weight: an impact would add to it what the bumps of the surface take.
        let load = self.gravity * self.time * -normal[1];
        let lost = self.friction[1] * (-along).max(0.0).min(load);
        let part = if speed > lost { (speed - lost) / speed } else { 0.0 };
        let away = along.max(0.0);
        let blocked = real[0] * v[0] + real[1] * v[1] < 0.5 * (v[0] * v[0] + v[1] * v[1]);
        let keep = if blocked { BLOCKED } else { 1.0 };
        let after = [0, 1].map(|a: usize| (slide[a] * part + away * normal[a]) * keep);
        let (speed, fastest) = (length(after), FASTEST / self.time);
        if speed > fastest { after.map(|v| v * (fastest / speed)) } else { after }
    }
}
