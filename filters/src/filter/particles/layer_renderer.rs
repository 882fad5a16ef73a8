//! The splats of a layer: of its particles, which are born by themselves or where particles of another layer die, and of
//! their trails.

use super::block::ParticleBlock;
use super::bound_layer::{Binding, BoundLayer, EffectState, LifeTable, Scene};
use super::conversion::{emit, fly, shade_and_cull};
use super::effect::MAX_PARTICLES;
use super::layer::SpawnArea;
use super::sub_emitter::SubEmitter;
use super::trail::Trail;
use crate::particle::draw::Splat;
use crate::particle::{Emitter, Kind, LAST, Parameter, Pool, View, continue_draws};

/// A bound layer with its parents and its trail.
pub(super) struct LayerRenderer {
    pub(super) bound: BoundLayer,
    trail: Option<Trail>,
    sub_emitter: Option<SubEmitter>,
}

impl LayerRenderer {
    pub(super) fn new(binding: &Binding<'_>, index: usize) -> Result<LayerRenderer, String> {
        let mut bound = BoundLayer::new(binding, index)?;
        let effect = binding.effect;
        let layer = &effect.layers[index];
        let trail = (layer.trail > 0.0).then(|| {
            // The layer itself with the shutter open for a streak.
            let (steps, mut of) = (layer.trail_steps.max(1), effect.clone());
            let step = layer.trail / steps as f32;
            (of.layers[index].trail, of.layers[index].shutter) = (0.0, step);
            let streak = BoundLayer::new(&Binding { effect: &of, ..*binding }, index)?;
            // It wraps where the layer itself does.
            let streak = BoundLayer { wrap: bound.wrap, middle: bound.middle, ..streak };
            Ok::<_, String>(Trail { layer: streak, steps, step })
        });
        let sub_emitter = bound.parent.take().map(|parent| {
            let life = bound.kind.parameter(Parameter::Life);
            let longer = life.base + life.offset.abs();
            let mut standard = *parent.kind.standard();
            standard[Parameter::Life as usize].base += longer;
            let kind = Kind::new(standard, parent.kind.extra().to_vec()).map_err(|e| e.to_string())?;
            let (count, inherit, stream) = (layer.children.max(1), layer.inherit, layer.stream);
            let shape = bound.emitter.shape;
            Ok::<_, String>(SubEmitter { parent: *parent, kind, longer, count, shape, inherit, stream })
        });
        Ok(LayerRenderer { trail: trail.transpose()?, sub_emitter: sub_emitter.transpose()?, bound })
    }

    /// The largest number of births at a time, and the bytes of a pool for them.
    pub(super) fn room(&self) -> (i64, usize) {
        let (emitter, kind, each) = self.emission();
        let room = Pool::room(emitter, kind, None, -LAST..LAST);
        let splats = each * (1 + self.trail.as_ref().map_or(0, |t| i64::from(t.steps)));
        (room.alive.saturating_mul(splats), room.bytes)
    }

    /// The source of the pool, and the number of the layer's particles per birth.
    fn emission(&self) -> (&Emitter, &Kind, i64) {
        match &self.sub_emitter {
            Some(sub_emitter) => {
                (&sub_emitter.parent.emitter, &sub_emitter.kind, i64::from(sub_emitter.count))
            }
            None => (&self.bound.emitter, &self.bound.kind, 1),
        }
    }

    pub(super) fn pool(&self) -> Result<Pool, String> {
        let (emitter, kind, _) = self.emission();
        Pool::new(emitter.clone(), kind.clone(), None, -LAST..LAST, MAX_PARTICLES as u32, self.bound.level)
            .map_err(|e| e.to_string())
    }

    /// The splats of block `index` of a pool that has sought `now`.
    pub(super) fn splats(
        &self,
        pool: &Pool,
        index: usize,
        now: &EffectState,
        scene: &Scene<'_>,
        lanes: &mut ParticleBlock,
        out: &mut Vec<Splat>,
    ) {
        if let Some(sub_emitter) = &self.sub_emitter {
            return sub_emitter.each(&self.bound, (pool, index), now, scene, lanes, &mut |lanes| {
                self.finish(now, scene, lanes, out)
            });
        }
        pool.place(index, &scene.views[self.bound.order as usize], &mut lanes.block);
        if lanes.block.live == 0 {
            return;
        }
        let (bound, block) = (&self.bound, &mut lanes.block);
        let starts = self.starts();
        if starts {
            pool.starts(index, &mut lanes.from, &mut lanes.start);
        }
        if let (Some(spawn_offset), Some(births)) = (&bound.spawn_offset, pool.births(index)) {
            spawn_offset.shift(births, block, &mut lanes.from);
        }
        pool.set_size_and_angle(block);
        continue_draws(bound.level, bound.kind.extra(), &mut block.bits, &mut lanes.extra);
        // Without friction the positions of the pool are final.
        if bound.layer.drag > 0.0 {
            let flights = [&lanes.from, &lanes.start];
            fly(bound.level, &bound.layer, flights, block.live, &block.age, &mut block.position);
        }
        self.finish(now, scene, lanes, out);
    }

    /// Whether the start of particles is needed: for positions at other ages, or with friction.
    pub(super) fn starts(&self) -> bool {
        let layer = &self.bound.layer;
        layer.shutter > 0.0 || layer.drag > 0.0 || layer.floor.is_some() || self.trail.is_some()
    }

    /// Converts particles to splats, including the trail.
    fn finish(&self, now: &EffectState, scene: &Scene<'_>, lanes: &mut ParticleBlock, out: &mut Vec<Splat>) {
        if let Some(trail) = &self.trail {
            trail.splats(now, scene, lanes, out);
        }
        shade_and_cull(self.bound.level, &self.bound, now, scene, lanes);
        emit(&self.bound, scene, lanes, out);
    }

    /// The region of positions, according to the motion of their kind only, in which particles may be visible: others
    /// are not regenerated. It has a margin; invisible particles are still dropped when their position is known.
    /// The axes are x to the right, y down and z away from the camera, in frame heights; the view bounds x and y.
    pub(super) fn view(&self, now: &EffectState, tall: f32) -> View {
        let (bound, layer) = (&self.bound, &self.bound.layer);
        // The motion of a parent before its children are born.
        let parent = self.sub_emitter.as_ref().map(|s| (&s.parent, &s.kind, s.inherit));
        // Wrapped or displaced particles are tested individually.
        let origin = parent.map_or(bound, |(parent, ..)| parent);
        if origin.spawn_offset.is_some() || !matches!(origin.layer.place, SpawnArea::Box { .. }) {
            return View::ALL;
        }
        // Streaks and trails use earlier positions, which are within the reach as well.
        let life = layer.life.reach();
        let most = |over: &LifeTable| over.steps.iter().fold(0.0f32, |m, s| m.max(s[0]).max(s[0] + s[1]));
        let half = (layer.size.reach() + layer.growth.reach() * life) * most(&bound.size_over) * now.size;
        let waves = |of: &BoundLayer, a: usize| of.waves.iter().map(|w| w.amplitude[a].abs()).sum::<f32>();
        let sway = |of: &BoundLayer, a: usize| of.layer.sway.get(a).map_or(0.0, |s| s.abs());
        // The distance beyond the reach of the pool's kind.
        let beyond = |a: usize| {
            let Some((parent, _, inherit)) = parent else { return waves(bound, a) + sway(bound, a) };
            let (of, wind) = (&parent.layer, if a == 0 { (now.wind * parent.layer.wind).abs() } else { 0.0 });
            let old = of.life.reach();
            let fast = of.speed.reach() + of.pull[a].abs() * old + wind;
            let born = waves(parent, a) + sway(parent, a) + wind * old;
            born + bound.kind.reach(life)[a] + inherit.abs() * fast * life + waves(bound, a) + sway(bound, a)
        };
        let (kind, oldest) = match parent {
            Some((parent, kind, _)) => (kind, parent.layer.life.reach() + life),
            None => (&bound.kind, life),
        };
        let deep = bound.depth[1] + kind.reach(oldest)[2] + beyond(2);
        let (focus, blur) = (layer.focus[0], layer.focus[1] * now.size);
        let large = 1.5 * layer.squash.max(1.0);
        let mut view = View::ALL;
        for (a, side) in [0.5 * bound.aspect, 0.5].into_iter().enumerate() {
            let seen = (side + 4.0 / tall + large * blur) * deep + large * (half + blur * focus);
            let moved = beyond(a) + layer.aside[a].abs() * half;
            let wide = 1.01 * (seen + moved) + 0.01;
            // The displacement by an animated wind is not known in advance.
            if a == 0 && now.wind_offset.is_some() {
                continue;
            }
            let drift = if a == 0 { now.wind * layer.wind * life } else { 0.0 };
            (view.low[a], view.high[a]) = (-wide - drift.max(0.0), wide - drift.min(0.0));
        }
        view
    }
}
