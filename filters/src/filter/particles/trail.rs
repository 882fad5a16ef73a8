//! Trails: where a particle was, as a row of streaks.
//!
//! Each streak is the same particle at an earlier age, drawn out over the time until the next, so nothing is kept
//! from frame to frame.

use super::block::{ParticleBlock, emit, fly, shade_and_cull};
use super::bound_layer::{BoundLayer, EffectState, Scene};
use crate::particle::FLICKS;
use crate::particle::draw::Splat;
use std::sync::Arc;

/// How much narrower the end of a trail is.
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
    /// The splats behind the particles of a block that is placed and dressed, with own numbers and how they started.
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
            let part = (i as f32 + 0.5) / self.steps as f32;
            let then = EffectState {
                flick: now.flick.saturating_sub((f64::from(back) * FLICKS as f64) as i64),
                // The shutter is open for a streak, whatever the speed.
                speed: 1.0,
                size: now.size * (1.0 - TAPER * part),
                part: now.part,
                wind: now.wind,
                blown: now.blown.clone().map(|blown| -> Arc<dyn Fn(f32) -> f32 + Send + Sync> {
                    let since = blown(back);
                    Arc::new(move |age| blown(age + back) - since)
                }),
                every: now.every,
            };
            let phases = vec![bound.phases(then.flick); bound.order as usize + 1];
            let scene = Scene { overlay: scene.overlay, tall: scene.tall, phases, views: Vec::new() };
            shade_and_cull(bound.level, bound, &then, &scene, &mut lanes);
            let first = out.len();
            emit(bound, &scene, &lanes, out);
            out[first..].iter_mut().for_each(|s| *s = s.faded(1.0 - part));
        }
    }
}

/// Takes particles back in time; who was not born then is not live.
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
