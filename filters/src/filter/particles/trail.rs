//! Trails: where a particle was, as a row of streaks.
//!
//! Each streak is the same particle at an earlier age, drawn out over the time until the next, so nothing is kept
//! from frame to frame.

use super::block::{ParticleBlock, emit, see};
use super::bound_layer::{BoundLayer, EffectState, Scene};
use crate::particle::draw::Splat;
use crate::particle::{BLOCK, FLICKS};
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
    /// The splats behind the particles of a block that is placed and dressed, with own numbers and velocities.
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
            rewind(&mut lanes, back, bound.layer.pull);
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
            let phases = vec![bound.phases(&then); bound.order as usize + 1];
            let scene = Scene { overlay: scene.overlay, tall: scene.tall, phases, views: Vec::new() };
            see(bound.level, bound, &then, &scene, &mut lanes);
            let first = out.len();
            emit(bound, &scene, &lanes, out);
            out[first..].iter_mut().for_each(|s| *s = s.faded(1.0 - part));
        }
    }
}

/// Takes particles back in time, before friction and wind are put to them; who was not born then is not live.
fn rewind(l: &mut ParticleBlock, back: f32, pull: [f32; 3]) {
    for lane in l.block.lanes() {
        l.block.age[lane] -= back;
        if l.block.age[lane] < 0.0 {
            l.block.live &= !(1 << lane);
        }
    }
    for (axis, pull) in pull.into_iter().enumerate() {
        for lane in 0..BLOCK {
            l.block.position[axis][lane] -= l.speed[axis][lane] * back - 0.5 * pull * back * back;
            l.speed[axis][lane] -= pull * back;
        }
    }
}
