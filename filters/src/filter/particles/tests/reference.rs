//! The splats of a particle, one at a time: the reference of `block.rs`, and comparisons.

use super::super::block::ParticleBlock;
use super::super::bound_layer::{
    Binding, BoundLayer, EXTRA, EffectState, LIFE, LifeTable, MIN_DEPTH, SHADES, Scene, TINTS,
};
use super::super::effect::Effect;
use super::super::flight::{Flight, wave};
use super::super::layer::{Appearance, ColourBy, Emission, Layer, Page, SpawnArea, Sprite, Tint};
use super::super::layer_renderer::LayerRenderer;
use super::super::{Preset, presets};
use crate::filter::splats::Overlay;
use crate::frame::{Format, Frame, Parity};
use crate::particle::draw::{Blend, Splat, SplatStyle, rank};
use crate::particle::{BLOCK, PlacedBlock, Pool, Spread, View, continue_draws};
use crate::settings::{ChoiceEnum, ImageAsset};
use crate::simd::Level;

/// One particle from the pool.
struct ParticleState {
    number: i64,
    age: f32,
    life: f32,
    flight: Flight,
    place: [f32; 3],
    size: f32,
    angle: f32,
    extra: [f32; EXTRA],
    bits: u32,
}

impl LayerRenderer {
    /// The result of [`LayerRenderer::splats`].
    fn reference_splats(
        &self,
        pool: &Pool,
        index: usize,
        now: &EffectState,
        scene: &Scene<'_>,
        out: &mut Vec<Splat>,
    ) {
        let bound = &self.bound;
        let mut block = PlacedBlock::EMPTY;
        pool.place(index, &View::ALL, &mut block);
        if block.live == 0 {
            return;
        }
        let (mut from, mut start) = ([[0.0f32; BLOCK]; 3], [[0.0f32; BLOCK]; 3]);
        pool.starts(index, &mut from, &mut start);
        if let Some(origin) = &bound.spawn_offset {
            origin.shift(pool.births(index).unwrap(), &mut block, &mut from);
        }
        pool.set_size_and_angle(&mut block);
        let mut extra = [[0.0f32; BLOCK]; EXTRA];
        continue_draws(bound.level, bound.kind.extra(), &mut block.bits, &mut extra);
        for lane in block.lanes() {
            let number = block.number(lane);
            if now.every > 1 && number.rem_euclid(now.every) != 0 {
                continue;
            }
            let extra: [f32; EXTRA] = core::array::from_fn(|i| extra[i][lane]);
            let one = ParticleState {
                number,
                age: block.age[lane],
                life: block.life[lane],
                flight: Flight { from: from.map(|row| row[lane]), start: start.map(|row| row[lane]) },
                place: [0.0; 3],
                size: block.size[lane],
                angle: block.angle[lane],
                extra,
                bits: block.bits[lane],
            };
            out.extend(bound.splat(one, now, scene));
        }
    }
}

impl BoundLayer {
    fn splat(&self, mut one: ParticleState, now: &EffectState, scene: &Scene<'_>) -> Option<Splat> {
        let layer = &self.layer;
        let share = one.age / one.life;
        let step = (share * LIFE as f32).min(LIFE as f32 - 0.001);
        let (i, f) = (step as usize, step - (step as usize) as f32);
        let read = |table: &LifeTable| table.steps[i][0] + table.steps[i][1] * f;
        // Opacity first: invisible particles need no position.
        let mut opacity = (layer.opacity.at(one.extra[2])).clamp(0.0, 1.0) * read(&self.opacity_over);
        if now.visible < 1.0 {
            opacity *= ((now.visible - (one.extra[0] * 0.5 + 0.5)) * 24.0 + now.visible).clamp(0.0, 1.0);
        }
        if layer.twinkle > 0.0 {
            // Around the layer's rate, so that particles do not stay in phase.
            let rate = layer.twinkle_rate * (1.0 + 0.4 * one.extra[4]);
            let up = 0.5 + 0.5 * wave(one.extra[3] + rate * one.age);
            opacity *= 1.0 - layer.twinkle * (1.0 - up * up);
        }
        if opacity < 1.0 / 1024.0 {
            return None;
        }
        let open = (layer.shutter * now.speed).min(one.age);
        one.place = one.flight.at(layer, one.age);
        one.place[0] += now.drift(one.age, 0.0) * layer.wind;
        // The position when the shutter opened, or at birth.
        let mut past = one.flight.at(layer, one.age - open);
        past[0] += now.drift(one.age - open, open) * layer.wind;
        for (axis, (place, past)) in one.place.iter_mut().zip(&mut past).enumerate() {
            let shift = self.wrap_shift(axis, *place);
            *place += shift;
            *past += shift;
        }
        if let Some(floor) = layer.floor {
            let line = floor.at(one.extra[5]) - 0.5;
            let [before, after] = [past, one.place].map(|p| BoundLayer::below(line, p));
            if before >= 0.0 {
                return None;
            }
            let mut part = (after > 0.0).then(|| before / (before - after));
            if !self.falls_once() {
                let since = self.landing(&one.flight, line, one.age).map(|end| end - (one.age - open));
                if since.is_some_and(|since| since <= 0.0) {
                    return None;
                }
                part = since.map(|since| since / open);
            }
            if let Some(part) = part {
                one.place = core::array::from_fn(|a| past[a] + (one.place[a] - past[a]) * part);
            }
        }
        let phases = &scene.phases[self.order as usize];
        one.place = self.displaced(one.place, (one.age, 0.0), &one.extra, phases);
        past = self.displaced(past, (one.age - open, open), &one.extra, phases);
        let z = one.place[2];
        if z < MIN_DEPTH {
            return None;
        }
        if !matches!(layer.place, SpawnArea::Box { .. }) {
            // Particles fade in and out at either end.
            let [near, far] = self.depth;
            opacity *= ((z - 0.7 * near) / (0.6 * near)).clamp(0.0, 1.0);
            if matches!(layer.place, SpawnArea::Tunnel { .. }) {
                opacity *= ((far - z) / (0.3 * far)).clamp(0.0, 1.0);
            }
        }
        self.seen(&one, past, read(&self.size_over), opacity, now, scene)
    }

    fn seen(
        &self,
        one: &ParticleState,
        past: [f32; 3],
        grown: f32,
        mut opacity: f32,
        now: &EffectState,
        scene: &Scene<'_>,
    ) -> Option<Splat> {
        let layer = &self.layer;
        let [x, y, z] = one.place;
        let near = 1.0 / z;
        let tall = scene.tall;
        let mut half = one.size * grown * near * now.size;
        let sharp = half;
        if layer.focus[1] > 0.0 {
            // The blur of a thin lens: proportional to the difference of the reciprocal distances.
            half += layer.focus[1] * (1.0 - layer.focus[0] * near).abs() * now.size;
            opacity *= (sharp / half) * (sharp / half);
        }
        let at = |x: f32, y: f32, near: f32| {
            let [x, y] = [(0.5 * self.aspect + x * near) * tall, (0.5 + y * near) * tall];
            [x + layer.aside[0] * sharp * tall, y + layer.aside[1] * sharp * tall]
        };
        let mut centre = at(x, y, near);
        let half = half * tall;
        let mut both = [half, half * layer.squash];
        let (mut turns, mut style) = (one.angle, self.styles[0]);
        let mut shade = SHADES - 1;
        if layer.tumble > 0.0 {
            let side = wave(one.extra[5] + layer.tumble * (1.0 + 0.3 * one.extra[3]) * one.age);
            both[1] *= side.abs().max(0.08);
            let face = if side < 0.0 { 0.8 } else { 1.0 };
            shade = (face * (0.55 + 0.45 * side.abs()) * (SHADES - 1) as f32) as usize;
        }
        if layer.shutter > 0.0 {
            let from = at(past[0], past[1], 1.0 / past[2].max(0.5 * z));
            let [dx, dy] = [centre[0] - from[0], centre[1] - from[1]];
            let long = (dx * dx + dy * dy).sqrt();
            if long > 0.7 * half && long < 16.0 * tall {
                centre = [0.5 * (centre[0] + from[0]), 0.5 * (centre[1] + from[1])];
                both = [half + 0.5 * long, half];
                turns = libm::atan2f(dy, dx) * (0.5 / core::f32::consts::PI);
                style = self.styles[1];
                opacity *= 1.0 - layer.thin * (1.0 - 2.0 * half / (2.0 * half + long));
            }
        }
        let reach = both[0].max(both[1]) * 1.5 + 4.0;
        if centre[0] < -reach
            || centre[1] < -reach
            || centre[0] > self.aspect * tall + reach
            || centre[1] > tall + reach
        {
            return None;
        }
        centre[0] *= self.narrow;
        let at = match layer.tint.by {
            ColourBy::Life => one.age / one.life,
            ColourBy::One | ColourBy::Mix => one.extra[1] * 0.5 + 0.5,
        };
        let tint = ((at * TINTS as f32) as usize).min(TINTS - 1);
        // Farther particles first; flat ones in order of birth, which is the order of computation.
        let deep = if self.depth[0] == self.depth[1] { self.depth[0] } else { z };
        let rank = rank(deep, one.number.wrapping_mul(self.layers).wrapping_add(self.order));
        let [centre, both] = [centre, both].map(|v| v.map(f64::from));
        let splat = scene.overlay.splat(centre, both, f64::from(turns));
        let mut colour = *self.colours.get(shade * TINTS + tint)?;
        if style == self.styles[0] {
            colour = self.shift(one.bits, one.age).unwrap_or(colour);
        }
        style += if self.pages > 1 { self.page(one.age / one.life, one.age, one.extra[1]) } else { 0 };
        Some(Splat { rank, style, colour, ..splat }.faded(opacity))
    }
}

/// Everything that a layer can have, at once.
fn all() -> Effect {
    let layer = Layer {
        when: Emission::Steady(400.0),
        place: SpawnArea::Tunnel { z: [0.3, 3.0] },
        direction: [0.2, 1.0, -0.4],
        cone: 0.3,
        life: Spread::between(0.0, 3.0),
        speed: Spread::between(-0.2, 0.9),
        pull: [0.1, 0.4, -0.05],
        drag: 0.7,
        swirl: 0.2,
        swirl_age: 0.5,
        sway: [0.05, 0.02],
        size: Spread::between(0.0, 0.04),
        growth: Spread::between(-0.01, 0.01),
        size_over: vec![[0.1, 0.0], [0.5, 1.0], [0.9, 0.3]],
        angle: Spread::between(0.0, 1.0),
        spin: Spread::between(-2.0, 2.0),
        tumble: 0.8,
        squash: 0.6,
        opacity: Spread::between(0.0, 1.0),
        twinkle: 0.9,
        tint: Tint { by: ColourBy::Life, colours: vec![[1.0; 3], [1.0, 0.0, 0.3]] },
        form: Appearance::Disc(0.5),
        aside: [0.3, -0.2],
        shutter: 0.02,
        focus: [1.0, 0.01],
        ..Layer::default()
    };
    let flat = Layer {
        place: SpawnArea::Box { x: [-0.5, 1.5], y: [0.4, 0.6], z: [1.0, 1.0] },
        tint: Tint { by: ColourBy::One, colours: vec![[0.2; 3], [0.4; 3]] },
        pull: [0.0, -0.6, 0.0],
        drag: 0.0,
        twinkle: 0.0,
        ..layer.clone()
    };
    // From far outside of the frame, where most can be known not to be seen.
    let wide = Layer {
        place: SpawnArea::Box { x: [-4.0, 3.0], y: [-3.0, 3.5], z: [0.4, 1.4] },
        shutter: 0.0,
        drag: 0.3,
        ..flat.clone()
    };
    // That ends in the picture, with an open shutter and without.
    let ending = Layer {
        place: SpawnArea::Volume { z: [0.5, 2.0] },
        direction: [0.1, 1.0, 0.1],
        cone: 0.02,
        speed: Spread::between(0.5, 2.0),
        floor: Some(Spread::between(0.4, 0.9)),
        ..flat.clone()
    };
    let shut = Layer { shutter: 0.0, drag: 0.4, sway: [0.0; 2], ..ending.clone() };
    let picture = ImageAsset::named("p.png").read(Frame::new(Format::from_name("gray", 9, 6).unwrap()));
    let (offset, scroll) =
        ([Spread::between(-1.0, 2.0), Spread::fixed(0.3)], [Spread::between(-0.5, 0.5); 2]);
    let sprite = Sprite { picture, columns: 3, rows: 2, page: Page::Time, page_rate: 7.0, offset, scroll };
    let moved = Layer { form: Appearance::Sprite(sprite), shutter: 0.0, ..layer.clone() };
    let layers = vec![layer, flat, wide, ending, shut, moved];
    Effect { layers, blend: Blend::Over, wind: 0.2, ..Default::default() }
}

#[test]
fn lanes_are_one_by_one() {
    let names = Preset::VALUES.iter().map(|p| presets::preset(*p));
    let frame = Format::from_name("gray", 320, 180).unwrap();
    let (mut seen, mut culled) = ([0; 4], 0);
    for mut effect in names.chain([all()]) {
        // Whose children and tails are the same particles at other places and times.
        effect.layers.retain(|l| l.born_of.is_empty());
        effect.layers.iter_mut().for_each(|l| l.trail = 0.0);
        for (case, format) in [frame, frame, frame, frame.field(Parity::Bottom)].into_iter().enumerate() {
            let styles = effect.layers.iter().flat_map(|l| {
                let (mut shapes, streak) =
                    l.form.shapes([0.0; 3], l.taper(l.blend.unwrap_or(effect.blend))).unwrap();
                shapes.push(streak);
                shapes.into_iter().map(|shape| SplatStyle::new(shape, Blend::Over))
            });
            let overlay = Overlay::new(&format, styles.collect(), 1, Level::SCALAR).unwrap();
            for &level in Level::available() {
                for index in 0..effect.layers.len() {
                    let binding = Binding { effect: &effect, amount: 0.5, seed: 7, overlay: &overlay, level };
                    let renderer = LayerRenderer::new(&binding, index).unwrap();
                    let now = EffectState {
                        flick: crate::particle::FLICKS * 7 / 3,
                        speed: 1.5,
                        size: 0.9,
                        lit: 0.0,
                        visible: if case == 1 { 0.4 } else { 1.0 },
                        wind: 0.3,
                        wind_offset: (case == 2).then(|| {
                            let f: std::sync::Arc<dyn Fn(f32) -> f32 + Send + Sync> =
                                std::sync::Arc::new(|age| age * age);
                            f
                        }),
                        every: if case == 2 { 4 } else { 1 },
                    };
                    let scene = Scene {
                        overlay: &overlay,
                        tall: 180.0,
                        phases: vec![renderer.bound.phases(now.flick); index + 1],
                        views: vec![renderer.view(&now, 180.0); index + 1],
                    };
                    let mut pool = renderer.pool().unwrap();
                    pool.seek(now.flick);
                    let (mut lanes, mut got, mut want) = (ParticleBlock::empty(), vec![], vec![]);
                    for block in 0..pool.blocks() {
                        renderer.splats(&pool, block, &now, &scene, &mut lanes, &mut got);
                        renderer.reference_splats(&pool, block, &now, &scene, &mut want);
                        let mut all = PlacedBlock::EMPTY;
                        pool.place(block, &View::ALL, &mut all);
                        let live = all.live;
                        pool.place(block, &scene.views[index], &mut all);
                        culled += (live & !all.live).count_ones();
                    }
                    // A splat of no opacity is none: only one of the two may have thrown it away.
                    got.retain(|s| s.opacity > 0);
                    want.retain(|s| s.opacity > 0);
                    assert_eq!(got, want, "layer {index}, case {case}, {level}");
                    seen[case] += got.len();
                }
            }
        }
    }
    assert!(seen.iter().all(|n| *n > 1000) && culled > 100, "{seen:?} {culled}");
}
