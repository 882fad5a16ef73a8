//! `fluid`: a liquid in front of the picture that breaks, falls, spouts and rains, and refracts the picture behind it.
//!
//! The liquid is simulated by smoothed particle hydrodynamics in a box with the frame's shape ([`Fluid2d`]), with a
//! constant time step. The obstacle is an image or one frame of the source, so the simulation does not depend on the
//! moving picture.
//!
//! | module | what it holds |
//! |---|---|
//! | `scene` | the initial liquid, the inflow, and the constants |
//! | `drops` | isolated parcels: streaks of a few droplets each |
//! | `surface` | conversion of the other parcels to a surface on a grid |
//! | `paint`, `composite` | conversion of the surface to samples, and of rows and planes |

mod composite;
mod drops;
mod paint;
mod scene;
mod surface;
#[cfg(test)]
mod tests;

use super::mask::{Mask, Side, check_obstacle, obstacle};
use super::point::{key, weights};
use super::stepped::{self, Clock, RECENT, SimulationTrack, Stepped};
use super::{Band, Entry, Filter, Memory, Plan, Reach, Render, Role, Simulate, Spec};
use crate::for_depth;
use crate::frame::{Format, FrameTime, Scratch};
use crate::host::{Executor, Host, PrepareError};
use crate::particle::fluid::Fluid2d;
use crate::pixel::convert::Coefficients;
use crate::settings::{Animated, ImageAsset, SettingError, Unit, Values};
use crate::simd::Level;
use crate::{choices, settings};
use composite::SurfaceLayer;
use drops::{DROPLETS, Droplet, ParcelPoint, SPRAY};
use paint::LiquidLook;
use scene::{Kind, Scene, SceneParams};
use std::sync::Arc;
use surface::{Shape, Surface};

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<FluidSpec>(
    "fluid",
    "Fluid",
    "Simulates a liquid in front of the picture: a dam break, a fountain, rain",
)
.with_role(Role::Covers);

/// The most parcels that may be asked for.
pub const MAX_PARCELS: i64 = 200_000;
settings! {
    struct FluidSpec {
        /// The arrangement of the liquid. It starts at the first frame of the source.
        scene: Kind = choice("dam"),
        /// Number of parcels when the liquid is complete. More parcels give finer detail and need more, shorter steps.
        particles: i64 = integer(100..=MAX_PARCELS).default(12_000).logarithmic(),
        /// Gravity in frame heights per second squared. Lower values look larger and slower.
        gravity: f64 = fixed(0.0..=20.0).default(1.6).soft(0.0..=5.0),
        /// Thickness: 0 is water, 1 is honey.
        viscosity: f64 = fixed(0.0..=1.0).default(0.0).unit(Unit::Fraction),
        /// Surface tension. Higher values make larger drops.
        tension: f64 = fixed(0.0..=1.0).default(0.3).label("Surface tension").unit(Unit::Fraction),
        /// Time the liquid has already run at the first frame of the source.
        start: f64 = fixed(0.0..=600.0).default(0.0).unit(Unit::Seconds).soft(0.0..=20.0),
        /// With scene=shape: an image, stretched over the frame, whose bright areas become liquid. Transparent areas
        /// count as dark.
        shape: Option<ImageAsset> = image().refused_unless("scene", &["shape"]),
        /// An image, stretched over the frame, whose bright areas are solid. Transparent areas count as dark.
        obstacle: Option<ImageAsset> = image(),
        /// Number of a source frame whose bright areas are solid for the whole clip. Replaces the image.
        obstacle_frame: Option<ImageAsset> = source_frame().unit(Unit::Frames),
        /// Which areas of the obstacle are solid.
        solid: Side = choice("bright"),
        /// Brightness at the edge of the shape and of the obstacle.
        threshold: f64 = fixed(0.0..=1.0).default(0.5).unit(Unit::Fraction),
        /// Colour that the liquid takes on with depth. Its alpha multiplies `depth`.
        tint: Animated<[f64; 4]> = colour().default([0.05, 0.33, 0.56, 1.0]).group("Look"),
        /// Strength of the tint where the liquid is deepest: 0 is clear, 1 hides the picture.
        depth: Animated = number(0.0..=1.0).default(0.55).unit(Unit::Fraction).group("Look"),
        /// How far the liquid bends the picture behind it: 0 is not at all, 1 is water, 2 is twice as far.
        refraction: Animated = number(0.0..=4.0).default(1.0).group("Look"),
        /// Brightness of the highlights on the surface.
        shine: Animated = number(0.0..=1.0).default(0.8).unit(Unit::Fraction).group("Look"),
        /// Smoothness of the surface: 0 shows each drop, 1 merges them.
        smoothness: f64 = fixed(0.0..=1.0).default(0.3).unit(Unit::Fraction).group("Look"),
        /// Strength of small waves on the surface: 0 is flat.
        ripples: f64 = fixed(0.0..=4.0).default(1.0).group("Look"),
        /// Quick preview: no refraction and a coarser surface. The motion is the same.
        draft: bool = switch().default(false),
    }
    with seed
}

choices! {
    for Kind {
        /// a dam on the left that breaks
        Dam = "dam",
        /// a large drop that falls into a pool
        Drop = "drop",
        /// a fountain in a basin
        Fountain = "fountain",
        /// poured from above until the frame is half full, without end
        Pour = "pour",
        /// rain that fills the lower part of the frame, and goes on
        Rain = "rain",
        /// the bright areas of the image `shape` become liquid
        Shape = "shape",
    }
}

impl Spec for FluidSpec {
    fn check(&mut self, _: &Values) -> Result<(), SettingError> {
        if self.scene == Kind::Shape && self.shape.is_none() {
            return Err(SettingError::new("shape", "scene=shape needs an image: shape=FILE.png"));
        }
        check_obstacle(self.obstacle.as_ref(), self.obstacle_frame.as_ref())
    }

    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let read = |picture| Mask::new("shape", picture, self.threshold, Side::Bright);
        let shape = self.shape.as_ref().map(read).transpose()?;
        if shape.as_ref().is_some_and(|mask| mask.coverage() < 0.001) {
            return Err(SettingError::new(
                "shape",
                "almost nothing in it is brighter than `threshold`: lower it",
            ));
        }
        let images = (self.obstacle.as_ref(), self.obstacle_frame.as_ref());
        let solid = obstacle(images.0, images.1, self.threshold, self.solid)?;
        let aspect = stepped::aspect(input, 16.0)?;
        let scene = Scene::new(SceneParams {
            kind: self.scene,
            count: self.particles as usize,
            gravity: self.gravity,
            viscosity: self.viscosity,
            tension: self.tension,
            seed,
            aspect,
            frame: 1.0 / stepped::rate(input).to_f64(),
            shape,
            solid,
        });
        let surface = Shape {
            aspect: aspect as f32,
            spacing: scene.set.spacing,
            smoothness: self.smoothness as f32,
            ripples: self.ripples as f32,
            row: 1.0 / input.height as f32,
            draft: self.draft,
            speed: scene.speed() as f32,
        };
        let words = b"fluid 5".iter().map(|b| u64::from(*b)).chain(scene.words().into_iter().map(u64::from));
        let clock = Clock::new(input, scene.steps, self.start, words);
        // Some pictures have no colours.
        let weights = weights(input)?;
        let fluid = Fluid {
            set: self.clone(),
            format: *input,
            level,
            sample: input.shape() as f32,
            scene,
            surface,
            clock,
            weights,
        };
        Ok(fluid.boxed_simulation())
    }
}

struct Fluid {
    set: FluidSpec,
    format: Format,
    level: Level,
    /// Sample aspect ratio.
    sample: f32,
    scene: Scene,
    surface: Shape,
    clock: Clock,
    weights: Coefficients,
}

/// Positions of parcels, in frame heights from the frame's corner.
type ParcelPoints = Arc<Vec<ParcelPoint>>;

/// The contents of a frame.
#[derive(Default)]
struct FluidFrame {
    places: ParcelPoints,
    surface: Option<Surface>,
}

/// The state of the fluid in a frame.
struct FluidAt {
    steps: u64,
    look: LiquidLook,
    /// Red, green, blue, alpha.
    tint: [f64; 4],
}

impl Fluid {
    fn look(&self, at: &FrameTime, alpha: f64) -> LiquidLook {
        LiquidLook {
            tint: paint::layer(self.set.depth.at(at) * alpha),
            bend: if self.set.draft { 0.0 } else { (0.035 * self.set.refraction.at(at)) as f32 },
            shine: self.set.shine.at(at) as f32,
        }
    }
}

impl Render for Fluid {
    type Params = FluidAt;
    type State = FluidFrame;

    fn at(&self, at: &FrameTime) -> Option<(Plan, FluidAt)> {
        let all = self.format.all_planes();
        let (steps, tint) = (self.clock.steps(at), self.set.tint.at(at));
        let state = Some(key(&[steps as f64]));
        let plan = Plan { reach: Reach::Whole, state, ..Plan::in_place(all) };
        Some((plan, FluidAt { steps, look: self.look(at, tint[3]), tint }))
    }

    fn memory(&self) -> Memory {
        let parcels = self.scene.max_parcels();
        let cells = (self.scene.set.size[0] * self.scene.set.size[1])
            / (self.scene.set.radius * self.scene.set.radius);
        // Two positions of a parcel, its sums, its saved form, and its positions in the latest frames.
        let each = 2 * 20 + 12 + 24 + 40 + size_of::<ParcelPoint>() * RECENT;
        let row = self.format.width as usize * 6 * 4;
        Memory {
            fixed: parcels * each + cells as usize * 8 + (1 << 20),
            per_frame: parcels * (size_of::<ParcelPoint>() + (DROPLETS + SPRAY) * size_of::<Droplet>() + 4)
                + self.surface.bytes()
                + row
                + (1 << 16),
        }
    }

    fn prepare(&self, _: &FluidAt, near: FluidFrame, host: &Host<'_>) -> Result<FluidFrame, PrepareError> {
        host.check()?;
        Ok(FluidFrame { surface: Some(self.surface.surface(self.level, &near.places)), ..near })
    }

    fn render(&self, now: &FluidAt, frame: &FluidFrame, band: &mut Band<'_>, scratch: &mut Scratch) {
        let Some(surface) = &frame.surface else { return };
        let layer = SurfaceLayer {
            format: &self.format,
            level: self.level,
            look: now.look,
            tint: now.tint,
            weights: self.weights,
            sample: self.sample,
        };
        for_depth!(self.format.depth, T => layer.composite::<T>(surface, band, scratch));
    }
}

impl Stepped<4> for Fluid {
    const NAME: &'static str = "fluid";
    type State = Fluid2d;
    type Snapshot = ParcelPoints;

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn start(&self) -> Result<Fluid2d, PrepareError> {
        self.scene.start(self.level).map_err(|e| PrepareError::Failed(e.to_string()))
    }

    fn advance(&self, fluid: &mut Fluid2d, _: u64, executor: &dyn Executor) {
        self.scene.advance(fluid, executor);
    }

    fn snapshot(&self, fluid: &mut Fluid2d) -> ParcelPoints {
        Arc::new(self.scene.snapshot(fluid))
    }

    fn items(&self, fluid: &Fluid2d) -> Vec<[f32; 4]> {
        fluid.parcels()
    }

    fn restore(&self, parcels: Vec<[f32; 4]>, steps: u64) -> Option<Fluid2d> {
        let few = parcels.len() <= self.scene.max_parcels();
        few.then(|| self.scene.restore(&parcels, steps, self.level).ok())?
    }
}

impl Simulate for Fluid {
    type Simulation = SimulationTrack<Fluid2d, ParcelPoints>;

    fn step(
        &self,
        now: &FluidAt,
        track: &mut Option<Self::Simulation>,
        host: &Host<'_>,
    ) -> Result<FluidFrame, PrepareError> {
        Ok(FluidFrame { places: stepped::snapshot(self, now.steps, track, host)?, surface: None })
    }
}
