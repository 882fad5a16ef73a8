//! Converts the particles of a block to splats, 64 at a time, by the [stages](super::stages).
//!
//! Each stage is a loop over the lanes, which every level compiles to its own width; stages that a layer does not need
//! are skipped for the whole block. Lanes whose bit in `live` is not set have unspecified contents: a stage may compute
//! or skip them.

use super::block::{ParticleBlock, ROW};
use super::bound_layer::{BoundLayer, EffectState, Scene};
use super::layer::Layer;
use super::spawn_offset::Row;
use super::stages::*;
use crate::particle::BLOCK;
use crate::particle::draw::{self, Splat, deepness, ranked};
use crate::simd::multiversion;

multiversion! {
    /// The positions of particles at an age, in still air: [`Flight::at`] for those whose bit in `live` is
    /// set.
    pub(super) fn fly(level, layer: &Layer, flights: [&[Row; 3]; 2], live: u64, age: &Row, out: &mut [Row; 3]) = fly_body;

    /// Moves, shades and culls a placed block; particles that are not visible are no longer live.
    pub(super) fn shade_and_cull(level, bound: &BoundLayer, now: &EffectState, scene: &Scene<'_>, l: &mut ParticleBlock) = shade_and_cull_body;
}

#[inline(always)]
fn shade_and_cull_body(bound: &BoundLayer, now: &EffectState, scene: &Scene<'_>, l: &mut ParticleBlock) {
    let layer = &bound.layer;
    thin_out(now, l);
    // Opacity first: invisible particles need no position.
    fade(bound, now, l);
    if l.block.live == 0 {
        return;
    }
    let shutter = layer.shutter > 0.0;
    if shutter {
        position_at_shutter_open(bound, now, l);
    }
    drift(bound, now, l.block.live, [&l.block.age, &ROW], &mut l.block.position[0]);
    for axis in 0..3 {
        if bound.wrap[axis] > 0.0 {
            wrap(bound, axis, &mut l.block.position[axis], &mut l.past[axis]);
        }
    }
    if layer.floor.is_some() {
        if !shutter {
            (l.past, l.open) = (l.block.position, ROW);
        }
        stop_at_floor(bound, l);
    }
    if layer.swirl > 0.0 {
        let phases = &scene.phases[bound.order as usize];
        swirl(bound, phases, &l.block.age, &ROW, &mut l.block.position);
        if shutter {
            swirl(bound, phases, &l.block.age, &l.open, &mut l.past);
        }
    }
    if layer.sway != [0.0; 2] {
        sway(bound, &l.extra, &l.block.age, &ROW, &mut l.block.position);
        if shutter {
            sway(bound, &l.extra, &l.block.age, &l.open, &mut l.past);
        }
    }
    fade_at_depth_ends(bound, l);
    project(bound, now, scene, l);
    if layer.tumble > 0.0 {
        tumble(bound, l);
    }
    if shutter {
        streak(bound, scene, l);
    }
    cull_outside(bound, scene, l);
    if shutter {
        streak_direction(l);
    }
    if bound.narrow != 1.0 {
        l.centre[0].iter_mut().for_each(|x| *x *= bound.narrow);
    }
    tint(bound, l);
    // Farther particles first; flat ones in order of birth, which is the order of computation.
    if bound.depth[0] == bound.depth[1] {
        l.deep = [deepness(bound.depth[0]); BLOCK];
    } else {
        for (deep, z) in l.deep.iter_mut().zip(&l.block.position[2]) {
            *deep = deepness(*z);
        }
    }
    if !scene.field() {
        draw::lanes(&l.centre, &l.half, &l.turns, &l.opacity, &mut l.splats);
    }
}

/// The splats of the visible particles of a block, in order of birth.
pub(super) fn emit(bound: &BoundLayer, scene: &Scene<'_>, l: &ParticleBlock, out: &mut Vec<Splat>) {
    out.reserve(BLOCK);
    for lane in l.block.lanes() {
        let Some(&colour) = bound.colours.get(l.shade[lane] as usize) else { continue };
        let moved = if l.long[lane] == 1 { None } else { bound.shift(l.block.bits[lane], l.block.age[lane]) };
        let colour = moved.unwrap_or(colour);
        let number = l.block.number(lane).wrapping_mul(bound.layers).wrapping_add(bound.order);
        let rank = ranked(l.deep[lane], number);
        let mut style = bound.styles[l.long[lane] as usize % 2];
        if bound.pages > 1 {
            let age = l.block.age[lane];
            style += bound.page(age / l.block.life[lane], age, l.extra[1][lane]);
        }
        let splat = if scene.field() {
            let both = [0, 1].map(|a| f64::from(l.half[a][lane]));
            let centre = [0, 1].map(|a| f64::from(l.centre[a][lane]));
            scene.overlay.splat(centre, both, f64::from(l.turns[lane])).faded(l.opacity[lane])
        } else {
            l.splats.get(lane)
        };
        out.push(Splat { rank, style, colour, ..splat });
    }
}
