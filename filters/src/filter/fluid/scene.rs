//! The scenes: the initial liquid and the inflow, in frame heights, with x to the right and y down from the frame's top
//! left corner.

use super::super::mask::Mask;
use super::drops::ParcelPoint;
use crate::host::Executor;
use crate::noise::Rng;
use crate::particle::fluid::{Fluid2d, Fluid2dSettings, FluidError, SignedDistanceField};
use crate::simd::Level;
use core::f64::consts::TAU;
use std::sync::Arc;

/// The kind of scene.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Dam,
    Drop,
    Fountain,
    Pour,
    Rain,
    Shape,
}

/// The space above the frame, in frame heights.
const HEAD: f64 = 0.6;
/// The distance from the frame's edges to the walls in spacings, so that no rim is visible at the edges.
const MARGIN: f64 = 3.0;
/// Depth of the fountain's basin.
const BASIN: f64 = 0.25;
/// The fountain's arcs to either side: distance from the middle, slope, speed relative to the jet's, and width.
const ARCS: [(f64, f64, f64, f64); 2] = [(0.035, 0.28, 0.95, 0.03), (0.1, 0.36, 0.65, 0.022)];

/// How uneven the jets are, of their speed: of the fountain and of the stream; the length of a gust, in frame heights; and
/// how much more some parcels stray.
const ROUGH: [f64; 2] = [0.01, 0.005];
const GUST: f64 = 0.09;
const STRAY: f64 = 5.0;

/// The settings of a scene.
#[derive(Clone, Debug)]
pub(super) struct SceneParams {
    pub(super) kind: Kind,
    pub(super) count: usize,
    /// Frame heights per second squared.
    pub(super) gravity: f64,
    /// 0 to 1.
    pub(super) viscosity: f64,
    pub(super) tension: f64,
    pub(super) seed: u64,
    /// The aspect ratio of the displayed frame.
    pub(super) aspect: f64,
    /// The duration of a frame in seconds.
    pub(super) frame: f64,
    /// The initial liquid, for [`Kind::Shape`]: where the mask is not 0.
    pub(super) shape: Option<Mask>,
    /// The obstacle: where the mask is not 0.
    pub(super) solid: Option<Mask>,
}

/// A scene, ready to run.
#[derive(Clone)]
pub(super) struct Scene {
    params: SceneParams,
    pub(super) set: Fluid2dSettings,
    solid: Option<Arc<SignedDistanceField>>,
    spacing: f64,
    /// The position of the frame's corner in the box.
    origin: [f64; 2],
    /// Steps per frame: an even number, so that fields are at whole steps, too.
    pub(super) steps: u64,
    /// The speed of the inflow.
    jet: f64,
}

/// The largest area of the liquid, for a frame of a given aspect ratio.
fn area(params: &SceneParams) -> f64 {
    let whole = match params.kind {
        Kind::Dam => 0.40 * 0.86 * params.aspect,
        Kind::Drop => 0.30 * params.aspect + 0.126,
        Kind::Fountain => (BASIN + 0.03) * params.aspect,
        Kind::Pour => 0.5 * params.aspect,
        Kind::Rain => 0.4 * params.aspect,
        Kind::Shape => params.shape.as_ref().map_or(0.0, Mask::coverage) * params.aspect,
    };
    whole.max(1e-3)
}

impl Scene {
    pub(super) fn new(mut params: SceneParams) -> Scene {
        // At most as fine as a grid of some million cells over the box.
        let least = params.aspect.max(1.0).sqrt() / 1400.0;
        let spacing = (area(&params) / params.count as f64).sqrt().min(0.1).max(least);
        let radius = 1.9 * spacing;
        let pull = params.gravity.max(0.2);
        let sound = 2.3 * pull.sqrt();
        let viscosity = 0.012 * radius * sound + 0.008 * params.viscosity * params.viscosity * pull.sqrt();
        let max_step = f64::from(Fluid2d::max_step(radius as f32, sound as f32, viscosity as f32));
        let steps = ((params.frame / max_step / 2.0) as u64 + 1).min(MAX_STEPS / 2) * 2;
        let margin = MARGIN * spacing;
        let size = [params.aspect + 2.0 * margin, HEAD + 1.0 + margin];
        let rate = sound / radius;
        let set = Fluid2dSettings {
            size: size.map(|v| v as f32),
            spacing: spacing as f32,
            radius: radius as f32,
            gravity: params.gravity as f32,
            sound: sound as f32,
            viscosity: viscosity as f32,
            cohesion: (0.05 * params.tension * rate * rate) as f32,
            step: (params.frame / steps as f64) as f32,
            max_speed: (1.3 * sound) as f32,
        };
        let origin = [margin, HEAD];
        let jet = match params.kind {
            Kind::Fountain => (2.0 * params.gravity * 0.74).sqrt().max(0.3),
            Kind::Pour => 0.9 * pull.sqrt(),
            _ => 1.3 * pull.sqrt(),
        };
        let solid = params.solid.as_ref().and_then(|mask| {
            // Nodes every three quarters of a spacing, over the frame and a little more.
            mask.distance_field(params.aspect, origin, (1.0 / (0.75 * spacing)).min(2000.0), false)
        });
        params.solid = None;
        Scene { params, set, solid, spacing, origin, steps, jet }
    }

    /// What a parcel's path during the exposure is multiplied with to give its speed relative to one that has fallen
    /// half a frame height.
    pub(super) fn speed(&self) -> f64 {
        2.0 / (self.params.frame * self.params.gravity.max(0.2).sqrt())
    }

    /// The parcels, in frame heights from the frame's corner. A frame is exposed for half of its duration.
    pub(super) fn snapshot(&self, fluid: &Fluid2d) -> Vec<ParcelPoint> {
        let ([left, top], shutter) = (self.origin.map(|v| v as f32), (0.5 * self.params.frame) as f32);
        let point = |(id, [x, y], v): (u32, [f32; 2], [f32; 2])| ParcelPoint {
            at: [x - left, y - top],
            motion: v.map(|v| v * shutter),
            room: self.solid.as_ref().map_or(f32::INFINITY, |s| s.at(x, y).0),
            id,
        };
        fluid.places().map(point).collect()
    }

    /// All parameters of a state, as words.
    pub(super) fn words(&self) -> Vec<u32> {
        let s = &self.set;
        let mut words = vec![self.params.kind as u32, self.params.count as u32];
        words.extend([self.params.seed as u32, (self.params.seed >> 32) as u32]);
        let set =
            [s.size[0], s.size[1], s.spacing, s.radius, s.gravity, s.sound, s.viscosity, s.cohesion, s.step];
        words.extend(set.map(f32::to_bits));
        words.extend([s.max_speed.to_bits(), self.steps as u32]);
        if let Some(solid) = &self.solid {
            words.extend(solid.words());
        }
        if let Some(shape) = &self.params.shape {
            words.extend([u32::MAX, shape.size[0] as u32, shape.size[1] as u32]);
            words.extend(shape.values.iter().map(|v| v.to_bits()));
        }
        words
    }

    fn clear(&self, x: f64, y: f64) -> bool {
        self.solid.as_ref().is_none_or(|s| s.at(x as f32, y as f32).0 > 0.5 * self.spacing as f32)
    }

    /// Parcels on a lattice wherever `inside` is true, over the whole box; slightly irregular, as a regular lattice
    /// would persist.
    fn fill(&self, inside: impl Fn(f64, f64) -> bool) -> Vec<[f32; 4]> {
        let d = self.spacing;
        let [w, h] = self.set.size.map(f64::from);
        let (across, down) = ((w / d) as usize, (h / d) as usize);
        let mut all = Vec::new();
        for j in 0..down {
            for i in 0..across {
                let (x, y) = ((i as f64 + 0.5) * d, h - (j as f64 + 0.5) * d);
                if !inside(x - self.origin[0], y - self.origin[1]) || !self.clear(x, y) {
                    continue;
                }
                let mut rng = Rng::new(self.params.seed, all.len() as u64);
                let (x, y) = (x + rng.range(-0.12, 0.12) * d, y + rng.range(-0.12, 0.12) * d);
                all.push([x.clamp(0.0, w) as f32, y.clamp(0.0, h) as f32, 0.0, 0.0]);
            }
        }
        all.truncate(self.max_parcels());
        all
    }

    /// Parcels on rings around a centre: the rim of a disc that is cut from a lattice has steps.
    fn disc(&self, centre: [f64; 2], radius: f64) -> Vec<[f32; 4]> {
        let d = self.spacing;
        let mut all = Vec::new();
        for ring in 0..((radius / d + 0.5) as u64).max(1) {
            let far = (ring as f64 + 0.5) * d;
            let n = (TAU * far / d + 0.5) as u64;
            let first = Rng::new(self.params.seed ^ 0x7269_6e67, ring).next_f64();
            for i in 0..n {
                let turn = TAU * (i as f64 + first) / n as f64;
                let (x, y) = (centre[0] + far * libm::cos(turn), centre[1] + far * libm::sin(turn));
                if self.clear(x + self.origin[0], y + self.origin[1]) {
                    all.push(self.parcel([x, y], [0.0; 2]));
                }
            }
        }
        all
    }

    /// The largest number of parcels.
    pub(super) fn max_parcels(&self) -> usize {
        max_parcels(self.params.count)
    }

    /// The initial state.
    pub(super) fn start(&self, level: Level) -> Result<Fluid2d, FluidError> {
        let a = self.params.aspect;
        let parcels = match self.params.kind {
            Kind::Dam => self.fill(|x, y| x < 0.40 * a && y > 0.14),
            Kind::Drop => {
                let mut all = self.fill(|_, y| y > 0.70);
                all.extend(self.disc([0.5 * a, 0.26], 0.2));
                all.truncate(self.max_parcels());
                all
            }
            Kind::Fountain => self.fill(|_, y| y > 1.0 - BASIN),
            Kind::Pour | Kind::Rain => Vec::new(),
            Kind::Shape => self.fill(|x, y| {
                let inside = (0.0..a).contains(&x) && (0.0..1.0).contains(&y);
                inside && self.params.shape.as_ref().is_some_and(|m| m.at(x / a, y) > 0.5)
            }),
        };
        self.restore(&parcels, 0, level)
    }

    /// A state of the parcels by number, so many steps after the start.
    pub(super) fn restore(
        &self,
        parcels: &[[f32; 4]],
        step: u64,
        level: Level,
    ) -> Result<Fluid2d, FluidError> {
        Fluid2d::new(self.set, self.solid.clone(), parcels, step, level)
    }

    /// Advances by a step.
    pub(super) fn advance(&self, fluid: &mut Fluid2d, executor: &dyn Executor) {
        let new = self.inflow(fluid);
        fluid.sort_by_cell(&new, executor);
        fluid.step(executor);
    }

    /// The inflow between this step and the next: new parcels, up to the maximum, and then recycled parcels
    /// from the ground.
    fn inflow(&self, fluid: &mut Fluid2d) -> Vec<[f32; 4]> {
        let dt = f64::from(self.set.step);
        let (from, to) = (fluid.steps() as f64 * dt, (fluid.steps() + 1) as f64 * dt);
        // The numbers of parcels that are due at a rate per second.
        let due = |rate: f64| (from * rate) as u64..(to * rate) as u64;
        let mut new = Vec::new();
        match self.params.kind {
            Kind::Dam | Kind::Drop | Kind::Shape => {}
            Kind::Fountain => {
                // Rows are farther apart than at rest: where the jets slow down, they draw together.
                let rate = self.jet / (1.5 * self.spacing);
                // From both ends of the basin alternately.
                let end = |row: u64| if row.is_multiple_of(2) { 0.02 } else { self.params.aspect - 0.02 };
                for row in due(rate) {
                    let born = row as f64 / rate;
                    let sway =
                        1.0 + 0.06 * libm::sin(TAU * 0.21 * born) + 0.03 * libm::sin(TAU * 0.57 * born);
                    let strength = self.jet * (0.98 + 0.02 * libm::sin(TAU * 0.33 * born));
                    for (n, (aside, lean, part, wide)) in (0..).zip(ARCS) {
                        for (side, index) in [(-1.0, 2 * n), (1.0, 2 * n + 1)] {
                            let mouth = [0.5 * self.params.aspect + side * aside, 1.0 - BASIN];
                            let lean = lean * (self.params.aspect / 1.78).min(1.0);
                            let speed = [side * lean * sway * strength, -part * strength];
                            let jet = (mouth, speed, wide, from - born);
                            let rough = (ROUGH[0], index);
                            self.jet_row(fluid, &mut new, row, jet, rough, [end(row), 1.0]);
                        }
                    }
                }
            }
            Kind::Pour => {
                let rate = self.jet / self.spacing;
                for row in due(rate) {
                    let born = row as f64 / rate;
                    let quick = libm::sin(TAU * 0.83 * born) + 0.6 * libm::sin(TAU * 1.9 * born);
                    let sway = 0.04 * libm::sin(TAU * 0.17 * born) + 0.015 * quick;
                    let mouth = [0.30 * self.params.aspect + 0.3 * sway, -0.08];
                    let speed = [sway * self.jet, self.jet];
                    let end = self.params.aspect - 0.02;
                    let jet = (mouth, speed, 0.06, from - born);
                    self.jet_row(fluid, &mut new, row, jet, (ROUGH[1], 0), [end, 1.0]);
                }
            }
            Kind::Rain => {
                // Drops of 1 to 4 parcels one behind the other, mostly of one, in a light wind.
                for drop in due(300.0 * self.params.aspect) {
                    let mut rng = Rng::new(self.params.seed ^ 0x7261_696e, drop);
                    let x = rng.range(-0.01, 1.01) * self.params.aspect;
                    let size = rng.next_f64();
                    let y = -0.04 - 0.12 * rng.next_f64();
                    let speed = self.jet * (1.0 + 0.3 * size);
                    let speed = [speed * rng.range(0.05, 0.09), speed];
                    let behind = |i: u32| y - 0.9 * self.spacing * f64::from(i);
                    let n = 1 + (4.0 * size * size * size * size) as u32;
                    let parcels: Vec<_> = (0..n).map(|i| self.parcel([x, behind(i)], speed)).collect();
                    self.add(fluid, &mut new, &parcels, [rng.next_f64() * self.params.aspect, 1.0]);
                }
            }
        }
        new
    }

    /// A parcel at a position of the frame.
    fn parcel(&self, at: [f64; 2], speed: [f64; 2]) -> [f32; 4] {
        let [w, h] = self.set.size;
        let [x, y] = [0, 1].map(|i: usize| (at[i] + self.origin[i]) as f32);
        [x.clamp(0.0, w), y.clamp(0.0, h), speed[0] as f32, speed[1] as f32]
    }

    /// A row of a jet, from a nozzle of this width, with this speed and age. Gusts and strays of the jet break it up.
    #[allow(clippy::too_many_arguments)]
    fn jet_row(
        &self,
        fluid: &mut Fluid2d,
        new: &mut Vec<[f32; 4]>,
        row: u64,
        (mouth, speed, wide, ago): ([f64; 2], [f64; 2], f64, f64),
        (rough, jet): (f64, u64),
        drain: [f64; 2],
    ) {
        let n = ((wide / self.spacing + 0.5) as i64).max(1);
        // Every second row is shifted by half a parcel.
        let aside = if row.is_multiple_of(2) { 0.25 } else { -0.25 };
        let d = self.spacing;
        let uneven = rough * (speed[0] * speed[0] + speed[1] * speed[1]).sqrt();
        let rng = |key: u64, at: u64| Rng::new(self.params.seed ^ key ^ (jet << 32), at);
        let gust = |at: u64| {
            let mut rng = rng(0x6775_7374, at);
            [0; 2].map(|_| rng.range(-uneven, uneven))
        };
        let at = row as f64 * d / GUST;
        let (before, after, part) = (gust(at as u64), gust(at as u64 + 1), at - at.floor());
        let speed = [0, 1].map(|k: usize| speed[k] + before[k] + (after[k] - before[k]) * part);
        let mut rng = rng(0x7374_7261, row);
        let mut stray = |v: f64| {
            let far = rng.range(-1.0, 1.0);
            v + STRAY * uneven * far * far * far
        };
        let parcels: Vec<_> = (0..n)
            .map(|i| {
                let x = (i as f64 - 0.5 * (n - 1) as f64 + aside) * d;
                let at = [mouth[0] + x + speed[0] * ago, mouth[1] + speed[1] * ago];
                self.parcel(at, speed.map(&mut stray))
            })
            .collect();
        self.add(fluid, new, &parcels, drain);
    }

    fn add(&self, fluid: &mut Fluid2d, new: &mut Vec<[f32; 4]>, parcels: &[[f32; 4]], drain: [f64; 2]) {
        let parcels = parcels.iter().filter(|p| self.clear(f64::from(p[0]), f64::from(p[1])));
        let parcels: Vec<_> = parcels.copied().collect();
        let grows = self.params.kind != Kind::Fountain;
        if grows && fluid.len() + new.len() + parcels.len() <= self.params.count {
            return new.extend(parcels);
        }
        let drain = [0, 1].map(|i: usize| (drain[i] + self.origin[i]) as f32);
        fluid.pump(drain, parcels.len(), |i| parcels[i]);
    }
}

/// The largest number of steps per frame.
const MAX_STEPS: u64 = 1 << 20;

/// The largest number of parcels for a requested number: a lattice does not fit exactly.
pub(super) fn max_parcels(count: usize) -> usize {
    count + count / 8 + 64
}
