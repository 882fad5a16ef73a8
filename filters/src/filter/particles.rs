//! `particles`: snow, rain, sparks and similar effects over the picture, in closed form.
//!
//! An [`Effect`] is a list of [`Layer`]s. The position of a particle at a time is computed from its number alone, so
//! frame 10,000,000 costs as much as frame 0, and at frame 0 the effect has always been running. Three displacements
//! are added to the motion of [`particle`](crate::particle): friction in closed form; wind, whose displacement from a
//! particle's birth until now is a difference of the curve's integral; and displacements that are functions of position
//! and time (a smooth field without divergence) or of a particle's own phase.
//!
//! Everything is measured in frame heights, so a look does not change with the frame's size.

mod appearance;
mod block;
mod bound_layer;
mod conversion;
mod curve_rate;
mod effect;
mod flight;
mod hair;
pub mod keys;
mod layer;
mod layer_renderer;
mod presets;
mod spawn_offset;
mod stages;
mod sub_emitter;
#[cfg(test)]
mod tests;
mod trail;

pub use effect::{Effect, EffectError, MAX_LAYERS, MAX_PARTICLES};
pub use layer::{Appearance, ColourBy, Emission, Layer, LifeCurve, Page, Side, SpawnArea, Sprite, Tint};
pub use presets::Preset;

use super::ambient::Ambient;
use super::splats::Overlay;
use super::{Band, Entry, Filter, Memory, Plan, Reach, Render, Role, Spec, point};
use crate::curve::Integral;
use crate::frame::{Alpha, Format, FrameTime, Scratch};
use crate::host::{Host, PrepareError, lock};
use crate::particle::draw::{Bins, Blend, BlendSpace, Painter, Shape, Splat, SplatStyle};
use crate::particle::{BLOCK, FLICKS, LAST, Pool, flicks};
use crate::pixel::convert::Coefficients;
use crate::ratio::Ratio;
use crate::settings;
use crate::settings::{Animated, FileAsset, FileKind, ImageAsset, SettingError, Settings, Values};
use crate::simd::Level;
use block::ParticleBlock;
use bound_layer::{Binding, EffectState, Scene, WindOffset};
use layer_renderer::LayerRenderer;
use std::sync::{Arc, Mutex};

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<ParticlesSettings>(
    "particles",
    "Particles",
    "Draws snow, rain, embers, sparks, bubbles and more",
)
.with_role(Role::Covers);

/// A draft draws one of this many particles.
const DRAFT: i64 = 4;

settings! {
    /// The settings of `particles`.
    pub struct ParticlesSettings {
        /// Which effect to draw when no effect file is given.
        preset: Preset = choice("snow"),
        /// An effect file (TOML) that replaces the preset. `grainfield filters particles=preset=snow --effect` writes a
        /// preset as such a file.
        effect: Option<FileAsset> = file(FileKind::Effect).label("Effect file"),
        /// Multiplies the number of particles: 2 is twice as many as the preset has.
        amount: Animated = number(0.0..=1000.0).default(1.0).soft(0.0..=4.0),
        /// Multiplies the size: 2 is twice as wide.
        size: Animated = number(0.0..=100.0).default(1.0).soft(0.0..=4.0),
        /// Multiplies the speed: 0.5 is slow motion, 0 stands still. An animated speed stretches time itself.
        speed: Animated = number(0.0..=100.0).default(1.0).soft(0.0..=4.0),
        /// Wind to the right (below 0: to the left) in frame heights per second. Each kind of particle takes its own
        /// share. Can be animated unless `speed` is. Default: that of the preset.
        wind: Option<Animated> = number(-100.0..=100.0).soft(-2.0..=2.0),
        /// Replaces the colour of the preset; its brightness is kept. Cannot be animated.
        colour: Option<Animated<[f64; 4]>> = colour(),
        /// Replaces the shapes of the preset by an image with alpha.
        image: Option<ImageAsset> = image(),
        /// Blend mode. Default: that of the preset.
        blend: Option<Blend> = optional_choice(),
        /// Values in which particles are mixed with the frame. Default: that of the effect; presets that add light use
        /// linear, others gamma.
        light: Option<BlendSpace> = optional_choice(),
        /// How much the picture around particles lights them: 0, they shine by themselves; 1, they are as dark as the scene.
        /// Not for images, nor what adds or multiplies, nor over pictures with alpha. Default: that of the effect.
        lit: Option<Animated> = number(0.0..=1.0),
        /// Quick preview: draws one particle in four, each at its final place, with rougher edges.
        draft: bool = switch().default(false),
    }
    with seed
}

/// An effect and the settings beside it, for hosts with their own effects.
#[derive(Clone, Debug)]
pub struct Particles {
    /// The effect.
    pub effect: Effect,
    /// The settings beside it; those that replace a part of the effect are already applied.
    pub set: ParticlesSettings,
}

impl Particles {
    /// An effect without changes.
    pub fn new(effect: Effect) -> Particles {
        Particles { effect, set: ParticlesSettings::read(&Values::new(ParticlesSettings::TABLE)) }
    }

    /// The effect of a preset.
    pub fn preset(preset: Preset) -> Particles {
        Particles::new(presets::preset(preset))
    }
}

impl Particles {
    /// All splats of a frame, in the order of their computation, for tools and measurements.
    ///
    /// # Errors
    /// Those of binding.
    pub fn splats(
        &self,
        input: &Format,
        seed: u64,
        level: Level,
        at: &FrameTime,
    ) -> Result<Vec<Splat>, SettingError> {
        let drawn = self.bound(input, seed, level)?;
        let now = drawn.now(at);
        let scene = drawn.scene(&now);
        let (mut lanes, mut out) = (Box::new(ParticleBlock::empty()), vec![]);
        for layer in &drawn.layers {
            let mut pool = layer.pool().map_err(|e| SettingError::new("amount", e))?;
            pool.seek(now.flick);
            (0..pool.blocks()).for_each(|b| layer.splats(&pool, b, &now, &scene, &mut lanes, &mut out));
        }
        Ok(out)
    }
}

/// The effective effect of these settings: the file's or else the preset's, with the given blend and colour.
///
/// # Errors
/// The effect file has not been read, or the effect cannot be drawn.
pub fn effect(values: &Values) -> Result<Effect, SettingError> {
    ParticlesSettings::read(values).effect()
}

impl ParticlesSettings {
    fn effect(&self) -> Result<Effect, SettingError> {
        let mut effect = match &self.effect {
            None => presets::preset(self.preset),
            Some(file) => file.require::<Effect>().map_err(|e| SettingError::new("effect", e))?.clone(),
        };
        if let Some(blend) = self.blend {
            effect.blend = blend;
            effect.layers.iter_mut().for_each(|layer| layer.blend = None);
        }
        effect.light = self.light.unwrap_or(effect.light);
        if let Some(colour) = &self.colour {
            let Some(colour) = colour.constant() else {
                return Err(SettingError::new("colour", "cannot be animated: give one value"));
            };
            for layer in &mut effect.layers {
                for c in &mut layer.tint.colours {
                    let shade = c[0].max(c[1]).max(c[2]);
                    *c = core::array::from_fn(|i| colour[i] * shade);
                }
            }
        }
        Ok(effect)
    }

    fn particles(&self) -> Result<Particles, SettingError> {
        let effect = self.effect()?;
        let moves = |a: &Animated| a.constant().is_none();
        if self.wind.as_ref().is_some_and(moves) && moves(&self.speed) {
            return Err(SettingError::new(
                "wind",
                "cannot be animated together with speed: make one of them constant",
            ));
        }
        effect.check().map_err(|e| SettingError::new("", e))?;
        Ok(Particles { effect, set: self.clone() })
    }
}

impl Spec for ParticlesSettings {
    fn check(&mut self, _: &Values) -> Result<(), SettingError> {
        self.particles().map(drop)
    }

    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        self.particles()?.bind(input, seed, level)
    }
}

/// How many particles may live at a time with these settings in a format: a proven bound, never above
/// [`MAX_PARTICLES`], more being refused.
///
/// # Errors
/// The effect cannot be drawn, or needs more particles.
pub fn max_alive(values: &Values, format: &Format) -> Result<i64, SettingError> {
    Ok(ParticlesSettings::read(values).particles()?.bound(format, 0, Level::SCALAR)?.alive)
}

impl Particles {
    fn styles(&self) -> Result<Vec<SplatStyle>, SettingError> {
        let read = |picture: &ImageAsset| super::sprites::image(picture.require()?).map(Arc::new);
        let image = self.set.image.as_ref().map(read).transpose();
        let image = image.map_err(|e| SettingError::new("image", e))?;
        let mut styles = Vec::new();
        for (i, layer) in self.effect.layers.iter().enumerate() {
            let blend = layer.blend.unwrap_or(self.effect.blend);
            let (mut shapes, streak) = match &image {
                Some(image) => (vec![Shape::Image(image.clone())], Shape::Image(image.clone())),
                None => {
                    let first = layer.tint.colours.first().copied().unwrap_or_default();
                    let wrong = |e| SettingError::new("", format!("layer {}: {e}", i + 1));
                    layer.form.shapes(first, layer.taper(blend)).map_err(wrong)?
                }
            };
            shapes.push(streak);
            styles.extend(shapes.into_iter().map(|shape| SplatStyle::new(shape, blend)));
        }
        Ok(styles)
    }

    fn bound(&self, input: &Format, seed: u64, level: Level) -> Result<BoundParticles, SettingError> {
        self.effect.check().map_err(|e| SettingError::new("", e))?;
        let mut effect = self.effect.clone();
        for layer in &mut effect.layers {
            // Images have no streaks.
            if self.set.image.is_some() {
                (layer.form, layer.shutter, layer.trail) = (Appearance::Disc(1.0), 0.0, 0.0);
            } else if matches!(layer.form, Appearance::Hair(..) | Appearance::Sprite(_)) {
                layer.shutter = 0.0;
            }
        }
        let (_, most) = self.set.amount.bounds();
        // The number of particles determines the size of the painter's buffers, and the painter determines
        // the representation of colours.
        let styles = self.styles()?;
        let sketch = Overlay::with_space(input, styles.clone(), effect.light, 1, level)?;
        let binding = Binding { effect: &effect, amount: most, seed, overlay: &sketch, level };
        let layers = (0..effect.layers.len()).map(|i| LayerRenderer::new(&binding, i));
        let layers = layers.collect::<Result<Vec<_>, _>>().map_err(|e| SettingError::new("amount", e))?;
        let rooms: Vec<(i64, usize)> = layers.iter().map(LayerRenderer::room).collect();
        let alive = rooms.iter().fold(0i64, |sum, r| sum.saturating_add(r.0));
        if alive > MAX_PARTICLES {
            let problem = format!("an amount of {most} is {}", EffectError::TooMany(alive));
            return Err(SettingError::new("amount", problem));
        }
        let mut overlay = Overlay::with_space(input, styles, effect.light, alive as usize, level)?;
        overlay.painter = overlay.painter.draft(self.set.draft);
        let integral = |a: &Animated| match a {
            Animated::Curve(c) if a.constant().is_none() => Some(Arc::new(Integral::new(c))),
            _ => None,
        };
        let wind = self.set.wind.clone().unwrap_or(Animated::Constant(effect.wind));
        let lit = self.set.lit.clone().unwrap_or(Animated::Constant(effect.lit));
        let can_be_lit = input.alpha == Alpha::None && lit.bounds().1 > 0.0;
        let weights = if can_be_lit { Some(point::weights(input)?) } else { None };
        Ok(BoundParticles {
            lit: weights.map(|weights| (lit, weights)),
            pools: rooms.iter().map(|r| r.1).sum(),
            layers,
            overlay,
            most,
            amount: self.set.amount.clone(),
            size: self.set.size.clone(),
            speed_sum: integral(&self.set.speed),
            speed: self.set.speed.clone(),
            wind_sum: integral(&wind),
            wind,
            every: if self.set.draft { DRAFT } else { 1 },
            alive,
            level,
        })
    }
}

impl Spec for Particles {
    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        Ok(self.bound(input, seed, level)?.boxed())
    }
}

/// Bound to a format.
struct BoundParticles {
    overlay: Overlay,
    layers: Vec<LayerRenderer>,
    /// The size in bytes of the pools of a frame.
    pools: usize,
    /// The highest amount.
    most: f64,
    amount: Animated,
    size: Animated,
    speed: Animated,
    speed_sum: Option<Arc<Integral>>,
    /// How much the picture lights particles, and its luma; `None` where they shine by themselves.
    lit: Option<(Animated, Coefficients)>,
    wind: Animated,
    wind_sum: Option<Arc<Integral>>,
    every: i64,
    /// The bound on particles at a time.
    alive: i64,
    level: Level,
}

/// The state that is kept between frames; without pools at first.
#[derive(Default)]
struct FrameCache {
    pools: Vec<Pool>,
    bins: Bins,
}

impl BoundParticles {
    fn now(&self, at: &FrameTime) -> EffectState {
        let speed = self.speed.at(at);
        // Seconds per unit of a curve's keys: 1, or the duration of a frame.
        let rate = self.overlay.format.rate;
        let frame = if rate > Ratio::ZERO { 1.0 / rate.to_f64() } else { 1.0 / 24.0 };
        let unit = |a: &Animated| match a {
            Animated::Curve(c) if !c.in_seconds() => frame,
            _ => 1.0,
        };
        let clock = flicks(at.time);
        let limit = LAST as f64;
        let flick = match &self.speed_sum {
            Some(sum) => {
                (sum.value(at.frame, at.time) * unit(&self.speed) * FLICKS as f64).clamp(-limit, limit) as i64
            }
            None if speed == 1.0 => clock,
            None => (clock as f64 * speed).clamp(-limit, limit) as i64,
        };
        let wind_offset = self.wind_sum.clone().map(|sum| -> WindOffset {
            let unit = unit(&self.wind);
            let here = match &self.wind {
                Animated::Curve(c) if !c.in_seconds() => at.frame,
                _ => at.time,
            };
            let now = sum.value_at(here);
            // A particle of age `age` in the effect was born `age / speed` ago.
            let per_age = if speed > 0.0 { 1.0 / (speed * unit) } else { 0.0 };
            Arc::new(move |age| {
                let back = (f64::from(age) * per_age * 65_536.0).clamp(0.0, 1e15) as i64;
                let then = here - Ratio::new(back, 65_536).unwrap_or(Ratio::ZERO);
                ((now - sum.value_at(then)) * unit * speed) as f32
            })
        });
        EffectState {
            flick,
            speed: speed as f32,
            size: self.size.at(at) as f32,
            lit: self.lit.as_ref().map_or(0.0, |(lit, _)| lit.at(at) as f32),
            visible: if self.most > 0.0 { (self.amount.at(at) / self.most) as f32 } else { 0.0 },
            wind: self.wind.at(at) as f32,
            wind_offset,
            every: self.every,
        }
    }

    fn scene(&self, now: &EffectState) -> Scene<'_> {
        let tall = self.overlay.size()[1] as f32;
        Scene {
            overlay: &self.overlay,
            tall,
            phases: self.layers.iter().map(|l| l.bound.phases(now.flick)).collect(),
            views: self.layers.iter().map(|l| l.view(now, tall)).collect(),
        }
    }
}

impl Render for BoundParticles {
    type Params = EffectState;
    type State = FrameCache;

    fn at(&self, at: &FrameTime) -> Option<(Plan, EffectState)> {
        let shows = self.amount.at(at) > 0.0 && self.size.at(at) > 0.0;
        let now = self.now(at);
        let mut plan = self.overlay.plan(at);
        if now.lit > 0.0 {
            // Each band looks at the whole picture.
            plan = Plan { reach: Reach::Whole, extra_rows: self.overlay.format.height / 32, ..plan };
        }
        shows.then_some((plan, now))
    }

    fn memory(&self) -> Memory {
        let base = self.overlay.memory();
        Memory { per_frame: base.per_frame + self.pools, ..base }
    }

    fn prepare(
        &self,
        now: &EffectState,
        mut kept: FrameCache,
        host: &Host<'_>,
    ) -> Result<FrameCache, PrepareError> {
        host.check()?;
        if kept.pools.is_empty() {
            let pools = self.layers.iter().map(LayerRenderer::pool);
            kept.pools = pools.collect::<Result<_, _>>().map_err(PrepareError::Failed)?;
        }
        let FrameCache { pools, bins } = &mut kept;
        {
            // Each pool seeks separately.
            let pools: Vec<Mutex<&mut Pool>> = pools.iter_mut().map(Mutex::new).collect();
            host.executor.execute(pools.len(), &|i| {
                lock(&pools[i]).seek(now.flick);
            });
        }
        host.check()?;
        let scene = self.scene(now);
        // Parts of whole blocks of one layer.
        let step = Painter::PART / BLOCK;
        let parts: Vec<(usize, usize)> = pools
            .iter()
            .enumerate()
            .flat_map(|(layer, pool)| (0..pool.blocks()).step_by(step).map(move |b| (layer, b)))
            .collect();
        let make = |part: usize, out: &mut Vec<_>| {
            let Some(&(layer, first)) = parts.get(part) else { return };
            if host.check().is_err() {
                return;
            }
            let pool = &pools[layer];
            let mut lanes = Box::new(ParticleBlock::empty());
            for block in first..(first + step).min(pool.blocks()) {
                self.layers[layer].splats(pool, block, now, &scene, &mut lanes, out);
            }
        };
        self.overlay.painter.bin_with(parts.len(), &make, bins, host.executor);
        host.check()?;
        Ok(kept)
    }

    fn render(&self, now: &EffectState, kept: &FrameCache, band: &mut Band<'_>, scratch: &mut Scratch) {
        let Overlay { painter, format, .. } = &self.overlay;
        let light = self.lit.as_ref().filter(|_| now.lit > 0.0).map(|(_, weights)| {
            band.copy_source();
            Ambient::new(band.source(), format, *weights, self.level).on_solids(now.lit, painter)
        });
        painter.draw_lit(&kept.bins, light.as_ref(), &mut band.output, band.writes, scratch);
    }
}
