//! Trails: the earlier positions of a particle, as a row of streaks.
//!
//! Each streak is the same particle at an earlier age, drawn out over the time until the next, so nothing is kept
//! from frame to frame.

use super::block::ParticleBlock;
use super::bound_layer::{BoundLayer, EffectState, Scene, WindOffset};
use super::conversion::{emit, fly, shade_and_cull};
use crate::particle::FLICKS;
use crate::particle::draw::Splat;
use std::sync::Arc;

/// The fraction by which a trail is narrower at its end.
const TAPER: f32 = 0.6;

/// The trail of a layer.
pub(super) struct Trail {
    /// The layer, its shutter open for one streak.
    pub(super) layer: BoundLayer,
    /// Streaks.
    pub(super) steps: u32,
    /// Seconds of each.
    pub(super) step: f32,
}

impl Trail {
    /// The splats behind the particles of a block with positions, random numbers and starts.
    pub(super) fn splats(
        &self,
        now: &EffectState,
        scene: &Scene<'_>,
        fresh: &ParticleBlock,
        out: &mut Vec<Splat>,
    ) {
        let bound = &self.layer;
        for i in 0..self.steps {
            let back = i as f32 * self.step;
            let mut lanes = fresh.clone();
            rewind(bound, &mut lanes, back);
            if lanes.block.live == 0 {
                break;
            }
            let fraction = (i as f32 + 0.5) / self.steps as f32;
            let then = EffectState {
                flick: now.flick.saturating_sub((f64::from(back) * FLICKS as f64) as i64),
                // The shutter is open for a streak, whatever the speed.
                speed: 1.0,
                size: now.size * (1.0 - TAPER * fraction),
                lit: now.lit,
                visible: now.visible,
                wind: now.wind,
                wind_offset: now.wind_offset.clone().map(|offset| -> WindOffset {
                    let since = offset(back);
                    Arc::new(move |age| offset(age + back) - since)
                }),
                every: now.every,
            };
            let phases = vec![bound.phases(then.flick); bound.order as usize + 1];
            let scene = Scene { overlay: scene.overlay, tall: scene.tall, phases, views: Vec::new() };
            shade_and_cull(bound.level, bound, &then, &scene, &mut lanes);
            let first = out.len();
            emit(bound, &scene, &lanes, out);
            out[first..].iter_mut().for_each(|s| *s = s.faded(1.0 - fraction));
        }
    }
}

/// Moves particles back in time; those that were not yet born are not live.
fn rewind(bound: &BoundLayer, l: &mut ParticleBlock, back: f32) {
    for lane in l.block.lanes() {
        l.block.age[lane] -= back;
        if l.block.age[lane] < 0.0 {
            l.block.live &= !(1 << lane);
        }
    }
    let block = &mut l.block;
    fly(bound.level, &bound.layer, [&l.from, &l.start], block.live, &block.age, &mut block.position);
}
