//! A layer bound to a picture: the position and appearance of each particle.

use super::super::splats::Overlay;
use super::curve_rate::{CurveRate, Pulses, peak};
use super::effect::Effect;
use super::layer::{Appearance, ColourBy, Emission, Layer, Page, SpawnArea, life_value};
use super::spawn_offset::SpawnOffset;
use crate::frame::PictureStructure;
use crate::noise::seed::mix64;
use crate::particle::draw::Painter;
use crate::particle::{
    Births, Bursts, ConstantRate, Draws, Emitter, EmitterShape, FLICKS, Kind, Parameter, STANDARD, Spread,
    View,
};
use crate::ratio::Ratio;
use crate::simd::Level;
use std::sync::Arc;

/// The number of random numbers of a particle besides the standard ones, each -1 to 1: whether it is shown at a reduced
/// amount, colour, opacity, and three phases.
pub(super) const EXTRA: usize = 6;
/// Steps of a tint, and of its shades.
pub(super) const TINTS: usize = 64;
pub(super) const SHADES: usize = 16;
/// Steps of a value over life.
pub(super) const LIFE: usize = 64;
/// The nearest depth that is drawn.
pub(super) const MIN_DEPTH: f32 = 0.02;
/// The number of waves of the swirl field.
const WAVES: usize = 5;

/// The displacement by wind during the last so many seconds.
pub(super) type WindOffset = Arc<dyn Fn(f32) -> f32 + Send + Sync>;

/// The state of the effect in a frame.
pub(super) struct EffectState {
    /// The time of the effect.
    pub(super) flick: i64,
    /// The seconds of the effect per second of the picture.
    pub(super) speed: f32,
    /// The factor of sizes.
    pub(super) size: f32,
    /// How much the picture lights particles.
    pub(super) lit: f32,
    /// The fraction of visible particles.
    pub(super) visible: f32,
    /// The current wind speed, and the displacement by an animated wind during the last so many seconds.
    pub(super) wind: f32,
    pub(super) wind_offset: Option<WindOffset>,
    /// One of this many particles is drawn, by number.
    pub(super) every: i64,
}

/// One transversal wave of the swirl field: its displacement is perpendicular to its direction, so the sum has
/// no divergence.
pub(super) struct Wave {
    pub(super) direction: [f32; 3],
    pub(super) amplitude: [f32; 3],
    /// Turns per second, and the phase at time 0.
    pub(super) rate: f64,
    phase: f64,
}

pub(super) struct BoundLayer {
    pub(super) layer: Layer,
    pub(super) kind: Kind,
    pub(super) emitter: Emitter,
    pub(super) waves: Vec<Wave>,
    pub(super) colours: Vec<[u16; 3]>,
    pub(super) size_over: LifeTable,
    pub(super) opacity_over: LifeTable,
    /// The periods of positions in x, y and z; 0 is none.
    pub(super) wrap: [f32; 3],
    pub(super) middle: [f32; 3],
    pub(super) depth: [f32; 2],
    /// Styles of the painter: the particle (the first of its pages), and its streak.
    pub(super) styles: [u16; 2],
    /// The number of pages.
    pub(super) pages: u16,
    /// The parent layer.
    pub(super) parent: Option<Box<BoundLayer>>,
    /// The birthplaces, if the pool does not have them.
    pub(super) spawn_offset: Option<SpawnOffset>,
    /// Its index in the effect, for the order of drawing.
    pub(super) order: i64,
    pub(super) layers: i64,
    pub(super) level: Level,
    /// The aspect ratio of the displayed picture.
    pub(super) aspect: f32,
    /// Luma samples per row height, horizontally.
    pub(super) narrow: f32,
}

/// A value over life, in equal steps.
pub(super) struct LifeTable {
    /// Values, and the difference to the next.
    pub(super) steps: [[f32; 2]; LIFE],
    /// Whether it is constant.
    pub(super) still: bool,
}

impl LifeTable {
    fn new(points: &[[f32; 2]]) -> LifeTable {
        let at = |i: usize| life_value(points, i as f32 / LIFE as f32);
        let steps = core::array::from_fn(|i| [at(i), at(i + 1) - at(i)]);
        LifeTable { still: steps.iter().all(|s| *s == [steps[0][0], 0.0]), steps }
    }
}

/// The distance by which a volume extends beyond the view.
fn margin(layer: &Layer) -> f32 {
    let turning = layer.sway[0].abs().max(layer.sway[1].abs());
    0.05 + 2.0 * layer.size.reach()
        + layer.focus[1]
        + layer.swirl
        + turning
        + (layer.shutter + layer.trail) * layer.speed.reach()
}

/// The box in which particles are born, the periods with which they wrap, and the fraction of the layer's rate that
/// applies to the box.
struct Geometry {
    middle: [f32; 3],
    half: [f32; 3],
    wrap: [f32; 3],
    rate_share: f64,
}

impl Geometry {
    fn new(layer: &Layer, depth: [f32; 2], aspect: f32, margin: f32) -> Geometry {
        let ends = |[a, b]: [f32; 2]| ((a + b) * 0.5, (b - a).abs() * 0.5);
        let (z, deep) = ends(depth);
        match layer.place {
            SpawnArea::Box { x, y, .. } => {
                let ((x, wide), (y, tall)) = (ends(x), ends(y));
                let middle = [(x - 0.5) * aspect, y - 0.5, z];
                Geometry { middle, half: [wide * aspect, tall, deep], wrap: [0.0; 3], rate_share: 1.0 }
            }
            // Moved to their birthplaces by `spawn_offset`.
            SpawnArea::Disc { .. }
            | SpawnArea::Edge { .. }
            | SpawnArea::Mask { .. }
            | SpawnArea::Path { .. } => {
                Geometry { middle: [0.0; 3], half: [0.0; 3], wrap: [0.0; 3], rate_share: 1.0 }
            }
            SpawnArea::Volume { z: [_, far] } | SpawnArea::Tunnel { z: [_, far] } => {
                let mut half = [far * aspect * 0.5 + margin, far * 0.5 + margin, deep];
                let (mut middle, mut wrap) = ([0.0, 0.0, z], half.map(|h| 2.0 * h));
                if matches!(layer.place, SpawnArea::Volume { .. }) || deep == 0.0 {
                    wrap[2] = 0.0;
                }
                if layer.floor.is_some() {
                    // A particle that ends below is not wrapped to the top, but born there.
                    (middle[1], half[1], wrap[1]) = (-half[1], 0.0, 0.0);
                }
                Geometry { middle, half, wrap, rate_share: f64::from(aspect) / (16.0 / 9.0) }
            }
        }
    }
}

/// The kind of a layer's particles.
fn kind_of(layer: &Layer) -> Result<Kind, String> {
    let mut standard = [Spread::default(); STANDARD];
    for (slot, value) in [
        (Parameter::Life, layer.life),
        (Parameter::Speed, layer.speed),
        (Parameter::AccelX, Spread::fixed(layer.pull[0])),
        (Parameter::AccelY, Spread::fixed(layer.pull[1])),
        (Parameter::AccelZ, Spread::fixed(layer.pull[2])),
        (Parameter::Size, layer.size),
        (Parameter::Growth, layer.growth),
        (Parameter::Angle, layer.angle),
        (Parameter::Spin, layer.spin),
    ] {
        standard[slot as usize] = value;
    }
    let extra = vec![Spread { base: 0.0, offset: 1.0 }; EXTRA];
    Kind::new(standard, extra).map_err(|e| e.to_string())
}

/// The births of a layer: `amount` times those of the effect, of which a fraction applies to the box.
fn births(
    emission: &Emission,
    (amount, rate_share): (f64, f64),
    rate: Ratio,
) -> Result<Arc<dyn Births>, String> {
    Ok(match emission {
        Emission::Steady(steady) => {
            Arc::new(ConstantRate::new(steady * amount * rate_share).map_err(|e| e.to_string())?)
        }
        Emission::Pulses { every, count } => Arc::new(Pulses::new(*every, count * amount * rate_share)),
        Emission::Curve(curve) => {
            let most = peak(curve).map_err(|v| format!("a rate of {v} births per second"))?;
            Arc::new(CurveRate::new(curve, most, amount * rate_share, rate))
        }
        Emission::Bursts(all) => {
            let count = |n: f64| (n * amount * rate_share + 0.5) as u32;
            let list: Vec<(i64, u32)> =
                all.iter().map(|[t, n]| ((t * FLICKS as f64) as i64, count(*n))).collect();
            Arc::new(Bursts::new(&list).map_err(|e| e.to_string())?)
        }
    })
}

/// The inputs of the binding of an effect.
#[derive(Clone, Copy)]
pub(super) struct Binding<'a> {
    pub(super) effect: &'a Effect,
    /// The highest amount.
    pub(super) amount: f64,
    pub(super) seed: u64,
    pub(super) overlay: &'a Overlay,
    pub(super) level: Level,
}

impl BoundLayer {
    pub(super) fn new(binding: &Binding<'_>, index: usize) -> Result<BoundLayer, String> {
        let Binding { effect, amount, seed, overlay, level } = *binding;
        let mut layer = effect.layers[index].clone();
        // Each layer has styles for its pages and its streak.
        let first: u32 = effect.layers[..index].iter().map(|l| l.form.pages() + 1).sum();
        let pages = layer.form.pages();
        let (styles, pages) = ([first as u16, (first + pages) as u16], pages as u16);
        let [width, height] = overlay.size();
        let narrow = overlay.narrow();
        let aspect = (width / narrow / height) as f32;
        let mut depth = layer.place.depth();
        // Layers that share particles have the same margin, so that positions are the same.
        let same = effect.layers.iter().filter(|l| l.stream == layer.stream);
        let margin = same.map(margin).fold(0.0, f32::max);
        let Geometry { middle, half, mut wrap, rate_share } = Geometry::new(&layer, depth, aspect, margin);
        let kind = kind_of(&layer)?;
        let cap = 1.0 - libm::cos(f64::from(layer.cone) * core::f64::consts::TAU);
        let shape =
            EmitterShape::new(middle, half, layer.direction, cap as f32).map_err(|e| e.to_string())?;
        let births = births(&layer.when, (amount, rate_share), overlay.format.rate)?;
        let parent = effect.parent(index).map(|parent| BoundLayer::new(binding, parent));
        let parent = parent.transpose()?.map(Box::new);
        let seed = mix64(seed ^ mix64(layer.stream));
        let spawn_offset = SpawnOffset::new(&layer, seed, aspect, overlay.format.rate)?;
        if spawn_offset.is_some() {
            // The other passes treat them like particles from a box.
            layer.place = SpawnArea::Box { x: [0.5; 2], y: [0.5; 2], z: depth };
        }
        if let Some(parent) = &parent {
            depth = parent.depth;
            layer.place = SpawnArea::Box { x: [0.5; 2], y: [0.5; 2], z: depth };
            wrap = [0.0; 3];
        }
        let emitter = Emitter { seed, kind: index as u16, births, shape };
        Ok(BoundLayer {
            colours: colours(&layer, &overlay.painter),
            size_over: LifeTable::new(&layer.size_over),
            opacity_over: LifeTable::new(&layer.opacity_over),
            waves: waves(&layer),
            kind,
            emitter,
            wrap,
            middle,
            depth,
            styles,
            pages,
            order: index as i64,
            spawn_offset,
            parent,
            layers: effect.layers.len() as i64,
            level,
            aspect,
            narrow: narrow as f32,
            layer,
        })
    }

    /// The page that a particle shows, by the fraction of its life, its age and a random number.
    #[inline(always)]
    pub(super) fn page(&self, share: f32, age: f32, extra: f32) -> u16 {
        let Appearance::Sprite(sprite) = &self.layer.form else { return 0 };
        let (pages, chance) = (f32::from(self.pages), extra * 0.5 + 0.5);
        let page = match sprite.page {
            Page::Chance => chance * pages,
            Page::Life => share * pages,
            Page::Time => {
                let turns = chance + age * sprite.page_rate / pages;
                (turns - turns.floor()) * pages
            }
        };
        (page as u16).min(self.pages - 1)
    }

    /// The shift of a particle's picture in its frame, which is stored as its colour: see
    /// [`Image::repeating`](crate::particle::draw::Image::repeating). `bits` continue its random numbers.
    #[inline(always)]
    pub(super) fn shift(&self, bits: u32, age: f32) -> Option<[u16; 3]> {
        let Appearance::Sprite(sprite) = &self.layer.form else { return None };
        if !sprite.moves() {
            return None;
        }
        let mut draws = Draws::from_bits(bits);
        let [x, y] = [0, 1].map(|a| {
            let (offset, scroll) = (sprite.offset[a].at(draws.draw()), sprite.scroll[a].at(draws.draw()));
            let at = f64::from(offset) + f64::from(scroll) * f64::from(age);
            // A whole turn is the starting position.
            ((at - at.floor()) * 65536.0 + 0.5) as u32 as u16
        });
        Some([x, y, 0])
    }

    /// The phases of the waves at a time, in turns from 0 to 1.
    pub(super) fn phases(&self, flick: i64) -> Vec<f32> {
        let seconds = flick as f64 / FLICKS as f64;
        let at = |w: &Wave| {
            let turns = w.phase + w.rate * seconds;
            (turns - turns.floor()) as f32
        };
        self.waves.iter().map(at).collect()
    }
}

/// The common data of all layers of a frame.
pub(super) struct Scene<'a> {
    pub(super) overlay: &'a Overlay,
    /// Rows of the frame.
    pub(super) tall: f32,
    /// The waves of each layer.
    pub(super) phases: Vec<Vec<f32>>,
    /// For each layer, the region of positions that may be visible.
    pub(super) views: Vec<View>,
}

impl Scene<'_> {
    /// Whether the picture is a field of a frame.
    #[inline(always)]
    pub(super) fn field(&self) -> bool {
        self.overlay.format.picture != PictureStructure::Frame
    }
}

fn colours(layer: &Layer, painter: &Painter) -> Vec<[u16; 3]> {
    let given = &layer.tint.colours;
    let mut all = Vec::with_capacity(SHADES * TINTS);
    for shade in 0..SHADES {
        let part = shade as f64 / (SHADES - 1) as f64;
        for i in 0..TINTS {
            let at = (i as f64 + 0.5) / TINTS as f64;
            let colour = match layer.tint.by {
                ColourBy::One => given[((at * given.len() as f64) as usize).min(given.len() - 1)],
                ColourBy::Mix | ColourBy::Life => {
                    let at = at * (given.len() - 1) as f64;
                    let (a, b) = (at as usize, (at as usize + 1).min(given.len() - 1));
                    let f = at - a as f64;
                    core::array::from_fn(|c| given[a][c] + (given[b][c] - given[a][c]) * f)
                }
            };
            all.push(painter.colour(colour.map(|c| c * part)));
        }
    }
    all
}

/// Waves in directions that follow the golden angle around the sphere, with increasing wavelengths and amplitudes
/// that add up to the layer's swirl.
fn waves(layer: &Layer) -> Vec<Wave> {
    let golden = 2.399_963_229_728_653;
    let share = layer.swirl / (0.5 * WAVES as f32);
    (0..if layer.swirl > 0.0 { WAVES } else { 0 })
        .map(|i| {
            let n = i as f64;
            let up = 0.85 - 1.7 * (n + 0.5) / WAVES as f64;
            let (s, c) = libm::sincos(golden * n + 0.7);
            let flat = (1.0 - up * up).sqrt();
            // Small along z: motion towards the camera and back is hardly visible.
            let direction = [flat * c, up, 0.4 * flat * s];
            let short = 1.0 / (f64::from(layer.swirl_size) * (0.7 + 0.31 * n));
            // Perpendicular to the direction: its component along it is removed.
            let mut amplitude = [direction[1], -direction[0], 0.3 * s];
            let along = (0..3).map(|a| amplitude[a] * direction[a]).sum::<f64>()
                / (0..3).map(|a| direction[a] * direction[a]).sum::<f64>();
            (0..3).for_each(|a| amplitude[a] -= along * direction[a]);
            Wave {
                direction: direction.map(|v| (v * short) as f32),
                amplitude: amplitude.map(|v| v as f32 * share * (0.7 + 0.15 * i as f32)),
                rate: f64::from(layer.swirl_rate) * (1.3 - 0.17 * n) * if i % 2 == 0 { 1.0 } else { -1.0 },
                phase: 0.618 * n,
            }
        })
        .collect()
}
