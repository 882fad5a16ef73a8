//! The stages in which the particles of a block become splats, in order. A new one needs its twin for one particle, see
//! `flight.rs`.

#![allow(clippy::needless_range_loop)] // a lane is an index into many arrays

use super::block::{ParticleBlock, ROW};
use super::bound_layer::{BoundLayer, EXTRA, EffectState, LIFE, LifeTable, MIN_DEPTH, SHADES, Scene, TINTS};
use super::flight::{Flight, friction, wave};
use super::layer::{ColourBy, Layer, SpawnArea};
use super::spawn_offset::Row;
use crate::particle::{BLOCK, whole};

/// Drops the particles that a draft does not draw.
#[inline(always)]
pub(super) fn thin_out(now: &EffectState, l: &mut ParticleBlock) {
    if now.every > 1 {
        for lane in l.block.lanes() {
            if l.block.number(lane).rem_euclid(now.every) != 0 {
                l.block.live &= !(1 << lane);
            }
        }
    }
}

/// Opacity and size over life, twinkling, and particles that disappear as the amount falls.
#[inline(always)]
pub(super) fn fade(bound: &BoundLayer, now: &EffectState, l: &mut ParticleBlock) {
    let layer = &bound.layer;
    let mut at = [0u32; BLOCK];
    let mut fraction = ROW;
    for j in 0..BLOCK {
        let share = l.block.age[j] / l.block.life[j];
        let step = (share * LIFE as f32).min(LIFE as f32 - 0.001);
        let i = whole(step, 0, LIFE as i32 - 1);
        at[j] = i as u32;
        fraction[j] = step - i as f32;
    }
    interpolate(&bound.size_over, &at, &fraction, &mut l.grown);
    interpolate(&bound.opacity_over, &at, &fraction, &mut l.opacity);
    for j in 0..BLOCK {
        l.opacity[j] *= layer.opacity.at(l.extra[2][j]).clamp(0.0, 1.0);
    }
    if now.visible < 1.0 {
        for j in 0..BLOCK {
            l.opacity[j] *=
                ((now.visible - (l.extra[0][j] * 0.5 + 0.5)) * 24.0 + now.visible).clamp(0.0, 1.0);
        }
    }
    if layer.twinkle > 0.0 {
        for j in 0..BLOCK {
            // Around the layer's rate, so that particles do not stay in phase.
            let rate = layer.twinkle_rate * (1.0 + 0.4 * l.extra[4][j]);
            let up = 0.5 + 0.5 * wave(l.extra[3][j] + rate * l.block.age[j]);
            l.opacity[j] *= 1.0 - layer.twinkle * (1.0 - up * up);
        }
    }
    let mut flags = [0; BLOCK];
    for j in 0..BLOCK {
        flags[j] = u8::from(l.opacity[j] >= 1.0 / 1024.0);
    }
    l.keep(&flags);
}

/// Interpolates a table of a value over life: at these steps, and at this fraction towards the next.
#[inline(always)]
pub(super) fn interpolate(table: &LifeTable, at: &[u32; BLOCK], fraction: &Row, out: &mut Row) {
    if table.still {
        *out = [table.steps[0][0]; BLOCK];
        return;
    }
    let mut rise = ROW;
    for j in 0..BLOCK {
        let [value, more] = table.steps[at[j] as usize % LIFE];
        (out[j], rise[j]) = (value, more);
    }
    for j in 0..BLOCK {
        out[j] += rise[j] * fraction[j];
    }
}

#[inline(always)]
pub(super) fn fly_body(
    layer: &Layer,
    [from, start]: [&[Row; 3]; 2],
    live: u64,
    age: &Row,
    out: &mut [Row; 3],
) {
    let drag = layer.drag;
    if drag > 0.0 {
        let mut gone = ROW;
        for j in (0..BLOCK).filter(|j| live >> j & 1 == 1) {
            gone[j] = friction(drag, age[j])[0];
        }
        for axis in 0..3 {
            let pull = layer.pull[axis];
            for j in 0..BLOCK {
                out[axis][j] = from[axis][j] + start[axis][j] * gone[j] + pull * (age[j] - gone[j]) / drag;
            }
        }
    } else {
        for axis in 0..3 {
            let pull = layer.pull[axis];
            for j in 0..BLOCK {
                out[axis][j] = from[axis][j] + (start[axis][j] + pull * (0.5 * age[j])) * age[j];
            }
        }
    }
}

/// Adds the displacement by wind for a particle of this age at this time.
#[inline(always)]
pub(super) fn drift(
    bound: &BoundLayer,
    now: &EffectState,
    live: u64,
    [age, seconds_ago]: [&Row; 2],
    x: &mut Row,
) {
    let share = bound.layer.wind;
    if now.wind_offset.is_some() {
        for j in (0..BLOCK).filter(|j| live >> j & 1 == 1) {
            x[j] += now.drift(age[j], seconds_ago[j]) * share;
        }
    } else {
        for j in 0..BLOCK {
            x[j] += now.wind * age[j] * share;
        }
    }
}

/// A particle that leaves at one side comes in at the other, and its position when the shutter opened is
/// moved with it.
#[inline(always)]
pub(super) fn wrap(bound: &BoundLayer, axis: usize, row: &mut Row, past: &mut Row) {
    for j in 0..BLOCK {
        let shift = bound.wrap_shift(axis, row[j]);
        row[j] += shift;
        past[j] += shift;
    }
}

/// The positions when the shutter opened, before displacements.
#[inline(always)]
pub(super) fn position_at_shutter_open(bound: &BoundLayer, now: &EffectState, l: &mut ParticleBlock) {
    let open = bound.layer.shutter * now.speed;
    let mut then = ROW;
    for j in 0..BLOCK {
        l.open[j] = open.min(l.block.age[j]);
        then[j] = l.block.age[j] - l.open[j];
    }
    fly_body(&bound.layer, [&l.from, &l.start], l.block.live, &then, &mut l.past);
    drift(bound, now, l.block.live, [&then, &l.open], &mut l.past[0]);
}

/// Particles that hit the floor while the shutter is open end on it; those that hit it earlier are dropped.
#[inline(always)]
pub(super) fn stop_at_floor(bound: &BoundLayer, l: &mut ParticleBlock) {
    let Some(floor) = bound.layer.floor else { return };
    let mut flags = [0; BLOCK];
    let mut fraction = ROW;
    for j in 0..BLOCK {
        let line = floor.at(l.extra[5][j]) - 0.5;
        let before = l.past[1][j] - line * l.past[2][j];
        let after = l.block.position[1][j] - line * l.block.position[2][j];
        flags[j] = u8::from(before < 0.0);
        fraction[j] = if after > 0.0 { before / (before - after) } else { 2.0 };
    }
    if !bound.falls_once() {
        for j in l.block.lanes() {
            let at = |rows: &[Row; 3]| [rows[0][j], rows[1][j], rows[2][j]];
            let flight = Flight { from: at(&l.from), start: at(&l.start) };
            let line = floor.at(l.extra[5][j]) - 0.5;
            fraction[j] = 2.0;
            if let Some(end) = bound.landing(&flight, line, l.block.age[j]) {
                let since = end - (l.block.age[j] - l.open[j]);
                flags[j] &= u8::from(since > 0.0);
                fraction[j] = since / l.open[j];
            }
        }
    }
    for axis in 0..3 {
        for j in 0..BLOCK {
            let past = l.past[axis][j];
            let on = past + (l.block.position[axis][j] - past) * fraction[j];
            l.block.position[axis][j] = if fraction[j] <= 1.0 { on } else { l.block.position[axis][j] };
        }
    }
    l.keep(&flags);
}

/// Adds swirl displacements as they were some seconds ago.
#[inline(always)]
pub(super) fn swirl(bound: &BoundLayer, phases: &[f32], age: &Row, seconds_ago: &Row, places: &mut [Row; 3]) {
    let slow = bound.layer.swirl_age;
    let mut offset = [ROW; 3];
    let [x, y, z] = &*places;
    for (w, phase) in bound.waves.iter().zip(phases) {
        let rate = w.rate as f32;
        for j in 0..BLOCK {
            let phase = phase - rate * seconds_ago[j];
            let s = wave(w.direction[0] * x[j] + w.direction[1] * y[j] + w.direction[2] * z[j] + phase);
            offset[0][j] += w.amplitude[0] * s;
            offset[1][j] += w.amplitude[1] * s;
            offset[2][j] += w.amplitude[2] * s;
        }
    }
    for (place, offset) in places.iter_mut().zip(&offset) {
        for j in 0..BLOCK {
            let grown = if slow > 0.0 { ((age[j] - seconds_ago[j]) / slow).min(1.0) } else { 1.0 };
            place[j] += offset[j] * grown;
        }
    }
}

/// Adds the individual sway as it was some seconds ago.
#[inline(always)]
pub(super) fn sway(
    bound: &BoundLayer,
    extra: &[Row; EXTRA],
    age: &Row,
    seconds_ago: &Row,
    places: &mut [Row; 3],
) {
    let layer = &bound.layer;
    for j in 0..BLOCK {
        let turn = layer.sway_rate * (1.0 + 0.3 * extra[4][j]) * (age[j] - seconds_ago[j]);
        places[0][j] += layer.sway[0] * wave(turn + extra[4][j]);
        places[1][j] += layer.sway[1] * wave(2.0 * turn + extra[3][j]);
    }
}

/// Drops particles at or behind the camera; in a volume, particles fade in and out at either end.
#[inline(always)]
pub(super) fn fade_at_depth_ends(bound: &BoundLayer, l: &mut ParticleBlock) {
    let place = bound.layer.place;
    let mut flags = [0; BLOCK];
    for j in 0..BLOCK {
        flags[j] = u8::from(l.block.position[2][j] >= MIN_DEPTH);
    }
    l.keep(&flags);
    let [near, far] = bound.depth;
    if !matches!(place, SpawnArea::Box { .. }) {
        for j in 0..BLOCK {
            l.opacity[j] *= ((l.block.position[2][j] - 0.7 * near) / (0.6 * near)).clamp(0.0, 1.0);
        }
    }
    if matches!(place, SpawnArea::Tunnel { .. }) {
        for j in 0..BLOCK {
            l.opacity[j] *= ((far - l.block.position[2][j]) / (0.3 * far)).clamp(0.0, 1.0);
        }
    }
}

/// Perspective, and the blur of particles out of focus.
#[inline(always)]
pub(super) fn project(bound: &BoundLayer, now: &EffectState, scene: &Scene<'_>, l: &mut ParticleBlock) {
    let layer = &bound.layer;
    let (tall, aspect) = (scene.tall, bound.aspect);
    let [focus, blur] = layer.focus;
    let [x, y, z] = &l.block.position;
    for j in 0..BLOCK {
        let near = 1.0 / z[j];
        let sharp = l.block.size[j] * l.grown[j] * near * now.size;
        let mut half = sharp;
        if blur > 0.0 {
            // As for a thin lens: proportional to the difference of the reciprocal distances.
            half += blur * (1.0 - focus * near).abs() * now.size;
            l.opacity[j] *= (sharp / half) * (sharp / half);
        }
        l.centre[0][j] = (0.5 * aspect + x[j] * near) * tall + layer.aside[0] * sharp * tall;
        l.centre[1][j] = (0.5 + y[j] * near) * tall + layer.aside[1] * sharp * tall;
        let half = half * tall;
        l.half[0][j] = half;
        l.half[1][j] = half * layer.squash;
        l.sharp[j] = sharp;
        l.turns[j] = l.block.angle[j];
        l.long[j] = 0;
        l.shade[j] = SHADES as u32 - 1;
    }
}

/// Paper seen from the side is narrow and darker, and its back is darker than its front.
#[inline(always)]
pub(super) fn tumble(bound: &BoundLayer, l: &mut ParticleBlock) {
    let rate = bound.layer.tumble;
    for j in 0..BLOCK {
        let side = wave(l.extra[5][j] + rate * (1.0 + 0.3 * l.extra[3][j]) * l.block.age[j]);
        l.half[1][j] *= side.abs().max(0.08);
        let face = if side < 0.0 { 0.8 } else { 1.0 };
        let lit = face * (0.55 + 0.45 * side.abs());
        l.shade[j] = whole(lit * (SHADES - 1) as f32, 0, SHADES as i32 - 1) as u32;
    }
}

/// A particle that moves while the shutter is open becomes a streak from its earlier position.
#[inline(always)]
pub(super) fn streak(bound: &BoundLayer, scene: &Scene<'_>, l: &mut ParticleBlock) {
    let layer = &bound.layer;
    let (tall, aspect) = (scene.tall, bound.aspect);
    let z = &l.block.position[2];
    for j in 0..BLOCK {
        let past = l.past[2][j].max(0.5 * z[j]);
        let near = 1.0 / past;
        let from = [
            (0.5 * aspect + l.past[0][j] * near) * tall + layer.aside[0] * l.sharp[j] * tall,
            (0.5 + l.past[1][j] * near) * tall + layer.aside[1] * l.sharp[j] * tall,
        ];
        let half = l.half[0][j];
        let centre = [l.centre[0][j], l.centre[1][j]];
        let (dx, dy) = (centre[0] - from[0], centre[1] - from[1]);
        let length = (dx * dx + dy * dy).sqrt();
        let long = (length > 0.7 * half) & (length < 16.0 * tall);
        (l.motion[0][j], l.motion[1][j]) = (dx, dy);
        l.long[j] = u32::from(long);
        l.centre[0][j] = if long { 0.5 * (centre[0] + from[0]) } else { centre[0] };
        l.centre[1][j] = if long { 0.5 * (centre[1] + from[1]) } else { centre[1] };
        l.half[0][j] = if long { half + 0.5 * length } else { half };
        l.half[1][j] = if long { half } else { l.half[1][j] };
        let thin = 1.0 - layer.thin * (1.0 - 2.0 * half / (2.0 * half + length));
        l.opacity[j] *= if long { thin } else { 1.0 };
    }
}

/// Drops particles outside of the frame.
#[inline(always)]
pub(super) fn cull_outside(bound: &BoundLayer, scene: &Scene<'_>, l: &mut ParticleBlock) {
    let (wide, tall) = (bound.aspect * scene.tall, scene.tall);
    let mut flags = [0; BLOCK];
    for j in 0..BLOCK {
        let reach = l.half[0][j].max(l.half[1][j]) * 1.5 + 4.0;
        let [x, y] = [l.centre[0][j], l.centre[1][j]];
        let off = (x < -reach) | (y < -reach) | (x > wide + reach) | (y > tall + reach);
        flags[j] = u8::from(!off);
    }
    l.keep(&flags);
}

/// The direction of streaks.
#[inline(always)]
pub(super) fn streak_direction(l: &mut ParticleBlock) {
    for lane in l.block.lanes() {
        if l.long[lane] == 1 {
            l.turns[lane] =
                libm::atan2f(l.motion[1][lane], l.motion[0][lane]) * (0.5 / core::f32::consts::PI);
        }
    }
}

#[inline(always)]
pub(super) fn tint(bound: &BoundLayer, l: &mut ParticleBlock) {
    let over_life = bound.layer.tint.by == ColourBy::Life;
    for j in 0..BLOCK {
        let at = if over_life { l.block.age[j] / l.block.life[j] } else { l.extra[1][j] * 0.5 + 0.5 };
        let tint = whole(at * TINTS as f32, 0, TINTS as i32 - 1);
        l.shade[j] = l.shade[j].wrapping_mul(TINTS as u32).wrapping_add(tint as u32);
    }
}
