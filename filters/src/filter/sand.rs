//! `sand`: grains that fall, pile up at their angle of repose, and sleep; or the picture itself, which crumbles into them.
//!
//! The grains are simulated in diameters ([`crate::particle::sand`]), with a constant time step, and drawn in tiles, one
//! texel per luma sample.
//!
//! | module | what it holds |
//! |---|---|
//! | `scene` | where grains come from, what acts on them, and the picture that crumbles |
//! | `snapshot` | what a frame needs of the grains |
//! | `layer` | the tiles of a frame |
//! | `draw` | how grains are drawn |

mod draw;
mod layer;
mod scene;
mod snapshot;
#[cfg(test)]
mod tests;

use super::mask::{Side, check_obstacle, obstacle};
use super::splats::Overlay;
use super::stepped::{self, Clock, RECENT, SimulationTrack, Stepped};
use super::{Band, Entry, Filter, Memory, Plan, Render, Role, Simulate, Spec};
use crate::frame::{Format, FrameTime, Scratch};
use crate::host::{Executor, Host, PrepareError};
use crate::particle::draw::{Bins, Blend, BlendSpace, Picture, Shape, SplatStyle};
use crate::particle::sand::Grain;
use crate::settings::{Animated, ImageAsset, SettingError, Unit, Values};
use crate::simd::Level;
use crate::{choices, settings};
use draw::Material;
use layer::{Layer, SandLook};
use scene::{Scene, Source, State};
use snapshot::Snapshot;

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<SandSpec>(
    "sand",
    "Sand",
    "Simulates grains that fall, pile up and come to rest: sand, snow, leaves, or the crumbling picture",
)
.with_role(Role::Covers);

/// The most grains that may be asked for.
pub const MAX_GRAINS: i64 = 1_000_000;

settings! {
    struct SandSpec {
        /// Where the grains come from.
        source: Source = choice("pour"),
        /// What the grains are.
        material: Material = choice("sand"),
        /// Diameter of the largest grains in pixels, for a picture 1920 pixels wide.
        size: f64 = fixed(1.2..=64.0).default(4.0).logarithmic(),
        /// The most grains at a time. When so many are there, no more come.
        grains: i64 = integer(1..=MAX_GRAINS).default(100_000).logarithmic(),
        /// Grains that come per second.
        flow: Animated = number(0.0..=1e6).default(600.0).soft(0.0..=20_000.0).only_when("source", &["pour", "sky"]),
        /// Point from which they are poured. A curve moves it. Default: above the middle of the frame.
        position: Option<Animated<[f64; 2]>> = position(-1e6..=1e6).unit(Unit::Pixels).only_when("source", &["pour"]),
        /// Width of the stream in frame widths.
        spread: f64 = fixed(0.0..=1.0).default(0.05).only_when("source", &["pour"]),
        /// Time the grains have already fallen at the first frame of the source.
        start: f64 = fixed(0.0..=600.0).default(0.0).unit(Unit::Seconds).soft(0.0..=20.0),
        /// Runs backwards from this time to the start, and then stays, so that what has crumbled assembles. 0: forwards.
        backwards: f64 = fixed(0.0..=600.0).default(0.0).unit(Unit::Seconds).soft(0.0..=20.0),
        /// Number of the source frame whose picture crumbles.
        picture_frame: Option<ImageAsset> = source_frame().unit(Unit::Frames).group("Picture"),
        /// Time in which the whole picture crumbles.
        duration: f64 = fixed(0.04..=600.0).default(4.0).unit(Unit::Seconds).soft(0.5..=20.0).group("Picture"),
        /// How far the front of the crumbling has come: 0 is nothing, 1 is everything. What has crumbled stays so. Default:
        /// from 0 to 1 over the duration.
        front: Option<Animated> = number(0.0..=1.0).unit(Unit::Fraction).group("Picture"),
        /// Direction in which the front moves, clockwise from the right.
        direction: f64 = fixed(-360.0..=360.0).default(0.0).unit(Unit::Degrees).group("Picture"),
        /// Width of the front.
        softness: f64 = fixed(0.0..=1.0).default(0.25).unit(Unit::Fraction).group("Picture"),
        /// Colour behind the picture.
        behind: Animated<[f64; 4]> = colour().default([0.0, 0.0, 0.0, 1.0]).group("Picture"),
        /// Gravity in frame heights per second squared.
        gravity: Animated = number(0.0..=20.0).default(1.6).soft(0.0..=5.0).group("Motion"),
        /// Highest speed of a fall in frame heights per second; lower is lighter.
        fall: f64 = fixed(0.02..=20.0).default(3.0).soft(0.05..=5.0).group("Motion"),
        /// Tangent of the steepest slope at which grains rest: 0.7 is dry sand, 1.1 is snow.
        friction: Animated = number(0.55..=1.2).default(0.7).group("Motion"),
        /// Speed, in frame heights per second, at which the shaking ground throws up grains of the surface, so that heaps
        /// become flatter. 0 is off.
        shaking: Animated = number(0.0..=4.0).default(0.0).soft(0.0..=0.5).group("Motion"),
        /// Wind to the right in frame widths per second.
        wind: Animated = number(-4.0..=4.0).default(0.0).soft(-1.0..=1.0).group("Motion"),
        /// Speed of swirls in the air in frame heights per second.
        gusts: Animated = number(0.0..=4.0).default(0.0).soft(0.0..=1.0).group("Motion"),
        /// Grains per second that the wind lifts from the surface.
        drift: Animated = number(0.0..=1e6).default(0.0).soft(0.0..=10_000.0).group("Motion"),
        /// Grains per second that melt away from the surface.
        melt: Animated = number(0.0..=1e6).default(0.0).soft(0.0..=10_000.0).group("Motion"),
        /// Whether the bottom of the frame is solid.
        floor: bool = switch().default(true).group("Obstacle"),
        /// Width of a hole in the floor through which grains leave, in frame widths.
        drain: Animated = number(0.0..=1.0).default(0.0).group("Obstacle"),
        /// Centre of the drain, in frame widths from the left.
        drain_at: Animated = number(0.0..=1.0).default(0.5).group("Obstacle"),
        /// Whether the sides of the frame are solid.
        walls: bool = switch().default(false).group("Obstacle"),
        /// An image, stretched over the frame, whose bright areas are solid. Transparent areas count as dark.
        obstacle: Option<ImageAsset> = image().group("Obstacle"),
        /// Number of a source frame whose bright areas are solid for the whole clip. Replaces the image.
        obstacle_frame: Option<ImageAsset> = source_frame().unit(Unit::Frames).group("Obstacle"),
        /// Which areas of the obstacle are solid.
        solid: Side = choice("bright").group("Obstacle"),
        /// Brightness at the edge of the obstacle.
        threshold: f64 = fixed(0.0..=1.0).default(0.5).unit(Unit::Fraction).group("Obstacle"),
        /// Opacity of a line along the obstacle, as of glass.
        outline: Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction).group("Obstacle"),
        /// Colour of the grains. Default: that of the material; the picture's own where it crumbles.
        colour: Option<Animated<[f64; 4]>> = colour().group("Look"),
        /// Part of the frame's time for which the shutter is open: motion blur of falling grains.
        shutter: f64 = fixed(0.0..=1.0).default(0.5).unit(Unit::Fraction).group("Look"),
        /// Values in which grains are mixed with the frame.
        light: BlendSpace = choice("gamma").group("Look"),
    }
    presets "Sets several settings at once. A setting that you give overrides the preset." {
        /// a stream of sand that piles up
        "pour" = "source=pour:start=5:size=2.5:flow=1600:spread=0.1:friction=0.55",
        /// sand that runs through an hourglass
        "hourglass" = "source=hourglass:start=0.4:size=3.5:grains=60000:outline=0.45:gravity=1.2",
        /// wind that carries sand over a dune
        "dune" = "spread=0.5:start=10:size=3:flow=20000:grains=60000:wind=0.2:gusts=0.08:drift=4000:friction=0.62:fall=1.5",
        /// snow that settles and grows to drifts
        "snowfall" = "material=snow:source=sky:start=14:size=5:flow=900:grains=200000:fall=0.16:gusts=0.05:wind=0.02:friction=1.1",
        /// ash that drifts down and covers everything
        "ash" = "material=ash:source=sky:start=12:size=10:flow=160:grains=40000:fall=0.09:gusts=0.1:friction=1",
        /// confetti that rains down and gathers on the ground
        "confetti" = "material=confetti:source=sky:start=4:size=14:flow=180:grains=20000:fall=0.3:gusts=0.16:friction=0.9",
        /// autumn leaves that swirl down and gather on the ground
        "leaves" = "material=leaves:source=sky:start=6:size=26:flow=14:grains=6000:fall=0.2:gusts=0.22:wind=0.05:friction=1",
        /// coins that pour down
        "coins" = "material=coins:source=pour:size=34:flow=30:spread=0.14:friction=0.6",
        /// the picture crumbles from left to right and blows away; give the frame as picture_frame=0
        "dissolve" = "material=picture:source=picture:size=3:grains=400000:wind=0.35:gusts=0.25:gravity=0.5:fall=0.35:floor=false",
    }
    with seed
}

choices! {
    for Source {
        /// a stream from a point
        Pour = "pour",
        /// the whole width of the sky
        Sky = "sky",
        /// the upper half of an hourglass, which is an obstacle
        Hourglass = "hourglass",
        /// the picture of the frame `picture_frame`, which crumbles
        Picture = "picture",
    }
}

choices! {
    for Material {
        /// grains of sand, lit from the upper left
        Sand = "sand",
        /// a soft surface of snow
        Snow = "snow",
        /// grains without shades of their own, for pictures that crumble
        Picture = "picture",
        /// pieces of coloured paper
        Confetti = "confetti",
        /// leaves in autumn
        Leaves = "leaves",
        /// grey flakes
        Ash = "ash",
        /// coins of metal
        Coins = "coins",
    }
}

impl Spec for SandSpec {
    fn check(&mut self, _: &Values) -> Result<(), SettingError> {
        if self.source == Source::Picture && self.picture_frame.is_none() {
            return Err(SettingError::new(
                "picture_frame",
                "source=picture needs a frame that crumbles: picture_frame=0",
            ));
        }
        check_obstacle(self.obstacle.as_ref(), self.obstacle_frame.as_ref())
    }

    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        Ok(self.bound(input, seed, level)?.boxed_simulation())
    }
}

impl SandSpec {
    fn bound(&self, input: &Format, seed: u64, level: Level) -> Result<SandFilter, SettingError> {
        stepped::aspect(input, 16.0)?;
        let images = (self.obstacle.as_ref(), self.obstacle_frame.as_ref());
        let mask = obstacle(images.0, images.1, self.threshold, self.solid)?;
        let picture = self.picture_frame.as_ref().filter(|_| self.source == Source::Picture);
        let picture = picture
            .map(|p| p.require().map_err(|e| SettingError::new("picture_frame", e)).cloned())
            .transpose()?;
        let rate = stepped::rate(input);
        let scene = Scene::new(self, input, seed, 1.0 / rate.to_f64(), mask, picture)?;
        let text = format!("sand 1 {}", scene.key());
        let clock = Clock::new(input, scene.steps, self.start, text.bytes().map(u64::from));
        let styles = vec![SplatStyle::new(Shape::Picture, Blend::Over)];
        let overlay = Overlay::with_space(input, styles, self.light, layer::most_pictures(input), level)?;
        Ok(SandFilter { set: self.clone(), overlay, scene, clock, level })
    }
}

struct SandFilter {
    set: SandSpec,
    overlay: Overlay,
    scene: Scene,
    clock: Clock,
    level: Level,
}

/// The data that a frame is drawn from.
#[derive(Default)]
struct SandFrame {
    snapshot: Snapshot,
    bins: Bins,
}

/// The sand at a time.
struct SandAt {
    steps: u64,
    appearance: SandLook,
}

impl Render for SandFilter {
    type Params = SandAt;
    type State = SandFrame;

    fn at(&self, at: &FrameTime) -> Option<(Plan, SandAt)> {
        let mut steps = self.clock.steps(at);
        if self.set.backwards > 0.0 {
            let all = libm::floor(self.set.backwards * self.clock.rate.to_f64()) as u64 * self.clock.frame;
            steps = (all + 2 * self.clock.preroll_steps).saturating_sub(steps).max(self.clock.preroll_steps);
        }
        let appearance = SandLook {
            colour: self.set.colour.as_ref().map(|c| c.at(at)),
            behind: self.set.behind.at(at),
            outline: self.set.outline.at(at) as f32,
            shutter: (self.set.shutter / self.clock.rate.to_f64()) as f32,
        };
        Some((self.overlay.plan(at), SandAt { steps, appearance }))
    }

    fn memory(&self) -> Memory {
        let base = self.overlay.memory();
        let grains = self.set.grains as usize;
        let [w, h] = self.overlay.picture_size();
        let pictures = Picture::most_bytes(w * h, h);
        // Each drawn tile is kept once, and each thread has a row of tiles.
        let [across, down] = self.scene.shown();
        let tiles = size_of::<[f32; 4]>() * across * (down + 8 * layer::SIDE);
        // The array and its old form, the lists of a step, the saved form, and the latest frames, if all grains move.
        let each = 2 * size_of::<Grain>() + 7 * 24 + RECENT * 20;
        Memory {
            fixed: grains * each + self.scene.bytes() + tiles + 2 * w * h + (1 << 20),
            per_frame: base.per_frame + pictures + grains * 16 + 2 * w * h,
        }
    }

    fn prepare(&self, now: &SandAt, mut near: SandFrame, host: &Host<'_>) -> Result<SandFrame, PrepareError> {
        host.check()?;
        let layer = Layer {
            overlay: &self.overlay,
            scene: &self.scene,
            material: self.set.material,
            appearance: &now.appearance,
            level: self.level,
        };
        let pictures = layer.pictures(&near.snapshot, host.executor);
        host.check()?;
        let painter = &self.overlay.painter;
        let splats: Vec<_> =
            pictures.iter().enumerate().map(|(i, picture)| painter.splat_of(picture, i, 0)).collect();
        painter.bin(&splats, &mut near.bins, host.executor);
        near.bins.set_pictures(pictures);
        Ok(near)
    }

    fn render(&self, _: &SandAt, frame: &SandFrame, band: &mut Band<'_>, scratch: &mut Scratch) {
        self.overlay.painter.draw(&frame.bins, &mut band.output, band.writes, scratch);
    }
}

impl Stepped<6> for SandFilter {
    const NAME: &'static str = "sand";
    type State = State;
    type Snapshot = Snapshot;

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn start(&self) -> Result<State, PrepareError> {
        self.scene.start(self.level).map_err(PrepareError::Failed)
    }

    fn advance(&self, state: &mut State, steps: u64, executor: &dyn Executor) {
        self.scene.advance(state, &self.clock.time(steps), steps, executor);
    }

    fn snapshot(&self, state: &mut State) -> Snapshot {
        let rows = self.scene.rows as f32;
        state.snapshot.update(&mut state.sand, self.scene.crumbled(state.front), rows);
        state.snapshot.clone()
    }

    fn items(&self, state: &State) -> Vec<[f32; 6]> {
        state.items()
    }

    fn restore(&self, items: Vec<[f32; 6]>, _: u64) -> Option<State> {
        let mut state = self.scene.start(self.level).ok()?;
        state.restore(&items).then_some(state)
    }
}

impl Simulate for SandFilter {
    type Simulation = SimulationTrack<State, Snapshot>;

    fn step(
        &self,
        now: &SandAt,
        track: &mut Option<Self::Simulation>,
        host: &Host<'_>,
    ) -> Result<SandFrame, PrepareError> {
        Ok(SandFrame { snapshot: stepped::snapshot(self, now.steps, track, host)?, bins: Bins::default() })
    }
}
