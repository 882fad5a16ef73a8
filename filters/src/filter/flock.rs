//! `flock`: starlings, gulls, fish, moths and bats that fly or swim in a flock through the picture.
//!
//! Agents follow C. Reynolds, *Flocks, Herds, and Schools: A Distributed Behavioral Model* (1987): each makes room for its
//! neighbours, flies as they do and stays near them; it is also drawn home, blown by a wind, and flees predators and threats.
//! They move in a space behind the frame in steps of one length. The flock never sees the moving picture; its
//! obstacle is an image, or one frame of the source.
//!
//! | module | contents |
//! |---|---|
//! | `rules` | one step: rules, motion |
//! | `near` | neighbours, and the sums over them |
//! | `kinds` | the habits of the kinds of animals |
//! | `view` | from agents to splats |
//! | `figure` | simple bodies, of three ellipsoids |
//! | `portrait` | pictures of single agents, drawn anew for each frame |
//! | `bird` `bat` `moth` `fish` | their bodies |
//! | `mesh` `light` `raster` | surfaces, how they are lit, and how they become samples |

mod bat;
mod bird;
mod figure;
mod fish;
mod kinds;
mod light;
mod mesh;
mod moth;
mod near;
mod portrait;
mod raster;
mod rules;
#[cfg(test)]
mod tests;
mod vector;
mod view;

use super::mask::{Side, check_obstacle, obstacle};
use super::splats::Overlay;
use super::stepped::{self, Clock, RECENT, SimulationTrack, Stepped};
use super::{Band, Entry, Filter, Memory, Plan, Render, Role, Simulate, Spec};
use crate::frame::{Format, FrameTime, Scratch};
use crate::host::{Executor, Host, PrepareError, lock};
use crate::particle::draw::{Bins, Blend, BlendSpace, MAX_STYLES, Picture, Shape, Splat, SplatStyle, rank};
use crate::particle::fluid::SignedDistanceField;
use crate::settings;
use crate::settings::{Animated, ImageAsset, SettingError, Unit, Values};
use crate::simd::Level;
use figure::Figure;
use portrait::RenderBuffers;
use rules::{AGENTS_PER_TASK, Agent, Rules, StepState, scale};
use std::sync::{Arc, Mutex};
use view::{Area, FrameParams, LAMP, LIGHT, SPLATS, View};

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<FlockSpec>(
    "flock",
    "Flock",
    "Lets a flock fly or swim through the picture: starlings, seagulls, fish, moths at a lamp, bats",
)
.with_role(Role::Covers);

/// The largest number of agents.
pub const MAX_AGENTS: i64 = 100_000;
/// The number of pictures per task.
const PICTURES_PER_TASK: usize = 4;
/// Pictures of a frame have at most so many texels for each of its samples, and [`FREE`] more. The nearest agents have them.
const TEXELS: f64 = 1.5;
const FREE: f64 = 65536.0;
/// Nodes of the grid of solid areas per frame height.
const OBSTACLE_NODES: f64 = 180.0;

settings! {
    struct FlockSpec {
        /// The kind of animal: how it looks and moves.
        figure: Figure = choice("starling"),
        /// Number of agents. With more of them each sees less far, so that it has as many neighbours.
        agents: i64 = integer(1..=MAX_AGENTS).default(2500).logarithmic(),
        /// Wing span, or length of a fish, in the plane of the frame. Farther ones look smaller.
        size: Animated = number(0.0..=2000.0).default(15.0).unit(Unit::Pixels).soft(4.0..=200.0),
        /// Speed in frame heights per second.
        speed: f64 = fixed(0.01..=10.0).default(0.55).soft(0.05..=2.0),
        /// Time the flock has already flown at the first frame of the source.
        start: f64 = fixed(0.0..=600.0).default(3.0).unit(Unit::Seconds).soft(0.0..=20.0),
        /// Size of the space that the flock keeps to: 1 fills the frame.
        spread: f64 = fixed(0.02..=4.0).default(0.6).soft(0.1..=1.5),
        /// Depth of that space in frame heights: 0 is flat.
        depth: f64 = fixed(0.0..=6.0).default(1.4).soft(0.0..=3.0),
        /// How strongly agents make room for neighbours.
        separation: f64 = fixed(0.0..=8.0).default(1.0).soft(0.0..=3.0).group("Rules"),
        /// How strongly they fly as their neighbours do.
        alignment: f64 = fixed(0.0..=8.0).default(1.0).soft(0.0..=3.0).group("Rules"),
        /// How strongly they stay near their neighbours.
        cohesion: f64 = fixed(0.0..=8.0).default(1.0).soft(0.0..=3.0).group("Rules"),
        /// Strength of the slow wind that stretches and folds the flock.
        wander: f64 = fixed(0.0..=8.0).default(1.0).soft(0.0..=3.0).group("Rules"),
        /// How erratic the way of each agent is.
        erratic: f64 = fixed(0.0..=4.0).default(0.05).soft(0.0..=1.0).group("Rules"),
        /// Strength of the waves of turns that run through the flock, which show as dark bands.
        waves: f64 = fixed(0.0..=4.0).default(1.0).soft(0.0..=2.0).group("Rules"),
        /// Point that the flock circles and, for moths, place of the lamp, from the top left corner of the frame.
        /// Default: the middle of the frame.
        goal: Option<Animated<[f64; 2]>> = position(-1e6..=1e6).unit(Unit::Pixels).group("Goals"),
        /// How strongly the flock is drawn to the goal.
        pull: f64 = fixed(0.0..=8.0).default(1.0).soft(0.0..=3.0).group("Goals"),
        /// Number of predators that chase the flock.
        predators: i64 = integer(0..=16).default(0).group("Goals"),
        /// Point that agents flee, from the top left corner of the frame. A curve moves it. Default: none.
        threat: Option<Animated<[f64; 2]>> = position(-1e6..=1e6).unit(Unit::Pixels).group("Goals"),
        /// An image, stretched over the frame, whose bright areas agents fly around. Transparent areas count as dark.
        obstacle: Option<ImageAsset> = image().group("Obstacle"),
        /// Number of a source frame whose bright areas are solid for the whole clip. Replaces the image.
        obstacle_frame: Option<ImageAsset> = source_frame().unit(Unit::Frames).group("Obstacle"),
        /// Which areas of the obstacle are solid.
        solid: Side = choice("bright").group("Obstacle"),
        /// Brightness at the edge of the obstacle.
        threshold: f64 = fixed(0.0..=1.0).default(0.5).unit(Unit::Fraction).group("Obstacle"),
        /// Replaces the colours of the figure; their brightness is kept.
        colour: Option<Animated<[f64; 4]>> = colour().group("Look"),
        /// How much haze hides the farthest agents.
        haze: Animated = number(0.0..=1.0).default(0.55).unit(Unit::Fraction).group("Look"),
        /// Colour of the haze. Default: far agents become transparent.
        haze_colour: Option<Animated<[f64; 4]>> = colour().group("Look"),
        /// Part of the frame's time for which the shutter is open: motion blur.
        shutter: f64 = fixed(0.0..=1.0).default(0.5).unit(Unit::Fraction).group("Look"),
        /// Multiplies how often wings or fins beat.
        flap: f64 = fixed(0.0..=8.0).default(1.0).soft(0.0..=3.0).group("Look"),
        /// Brightness of a lamp that is drawn at the goal of moths. 0 draws none: they fly around one in the picture.
        glow: Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction).only_when("figure", &["moth"]).group("Look"),
        /// Values in which agents are mixed with the frame.
        light: BlendSpace = choice("gamma").group("Look"),
        /// Replaces the figure: an image with alpha, seen from above, that faces right.
        image: Option<ImageAsset> = image().group("Sheet"),
        /// Number of pictures side by side in the image, for a flip-book of one beat of the wings.
        columns: i64 = integer(1..=256).default(1).group("Sheet"),
        /// Number of rows of pictures in the image.
        rows: i64 = integer(1..=256).default(1).group("Sheet"),
        /// Quick preview: simple bodies with rougher edges. The motion is the same.
        draft: bool = switch().default(false),
    }
    presets "Sets several settings at once. A setting that you give overrides the preset." {
        /// a murmuration of starlings at dusk, with a falcon in it
        "starlings" = "figure=starling:agents=12000:size=7.5:speed=0.24:start=16:depth=0.8:alignment=1.6:cohesion=1.1:pull=2.2:erratic=0.15:predators=1:shutter=0.3",
        /// seagulls that glide and circle
        "seagulls" = "figure=gull:agents=24:size=118:speed=0.26:separation=4:spread=1.3:depth=1.8:waves=0:cohesion=0.1:alignment=0.3:wander=0.6:erratic=0.2:haze=0.35",
        /// a school of fish that turns together
        "fish" = "figure=herring:agents=420:size=92:speed=0.34:start=8:spread=1:depth=3:separation=2:alignment=3:cohesion=0.25:wander=0.7:pull=1.3:waves=0.4:erratic=0.2:haze=0.72:haze_colour=#1f5570",
        /// moths that flutter around a lamp, which is drawn with them; glow=0 leaves it out
        "moths" = "figure=moth:glow=0.8:agents=44:size=46:speed=0.46:spread=0.26:depth=0.7:alignment=0:cohesion=0:wander=0.5:erratic=0.65:waves=0:pull=2.6:haze=0:shutter=0.4",
        /// bats on the hunt
        "bats" = "figure=bat:agents=34:size=116:speed=0.75:spread=0.95:depth=2.2:alignment=0.5:cohesion=0.25:wander=0.8:erratic=0.45:waves=0:haze=0.52:shutter=0.25",
    }
    with seed
}

impl Spec for FlockSpec {
    fn check(&mut self, _: &Values) -> Result<(), SettingError> {
        check_obstacle(self.obstacle.as_ref(), self.obstacle_frame.as_ref())
    }

    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        Ok(self.bound(input, seed, level)?.boxed_simulation())
    }
}

/// The number of pictures of an image, and half their width and height for a span of 1.
type FlipBook = Option<(usize, [f32; 2])>;

impl FlockSpec {
    fn bound(&self, input: &Format, seed: u64, level: Level) -> Result<Flock, SettingError> {
        let aspect = stepped::aspect(input, 64.0)?;
        let solid = self.solid(aspect)?;
        let (shapes, flip_book) = self.shapes()?;
        let agents = (self.agents + self.predators) as usize;
        let unit = f64::from(input.width) / 1920.0 * input.shape() * 0.5;
        // The lamp alone has to be mixed in R, G and B.
        let lamp = self.figure == Figure::Moth && self.image.is_none();
        let blend = |i: usize| if lamp && i == usize::from(LIGHT) { Blend::Screen } else { Blend::Over };
        let styles = (0..).zip(shapes).map(|(i, shape)| SplatStyle::new(shape, blend(i))).collect();
        let full = !self.draft && view::detailed(self.size.bounds().1 * unit);
        let each = if flip_book.is_some() { 1 } else { SPLATS };
        let mut overlay = Overlay::with_space(input, styles, self.light, agents * each + LAMP.len(), level)?;
        overlay.painter = overlay.painter.draft(self.draft);
        let rate = stepped::rate(input);
        let steps = kinds::steps(1.0 / rate.to_f64());
        let (rules, beats) = kinds::rules(self, seed, aspect, 1.0 / (rate.to_f64() * steps as f64), solid);
        // Everything that a state depends on.
        let walls: Vec<u32> = rules.solid.iter().flat_map(|s| s.words().collect::<Vec<_>>()).collect();
        let plain = Rules { solid: None, ..rules.clone() };
        let points = [&self.goal, &self.threat].map(|p| p.as_ref().map(ToString::to_string));
        // Points are given in samples.
        let (depth, size) = (self.depth, overlay.size());
        let text = format!(
            "flock 4 {plain:?} {points:?} {size:?} {beats} {} {rate:?} {depth} {walls:?}",
            self.start
        );
        let clock = Clock::new(input, steps, self.start, text.bytes().map(u64::from));
        Ok(Flock { set: self.clone(), overlay, flip_book, full, unit, clock, rules, beats, level })
    }

    fn solid(&self, aspect: f64) -> Result<Option<Arc<SignedDistanceField>>, SettingError> {
        let images = (self.obstacle.as_ref(), self.obstacle_frame.as_ref());
        let mask = obstacle(images.0, images.1, self.threshold, self.solid)?;
        let nodes = OBSTACLE_NODES.min(4000.0 / aspect.max(1.0));
        Ok(mask.and_then(|mask| mask.distance_field(aspect, [0.0; 2], nodes, true)))
    }

    /// Shapes of the styles, and the flip-book.
    fn shapes(&self) -> Result<(Vec<Shape>, FlipBook), SettingError> {
        let mut shapes = view::shapes().map_err(|e| SettingError::new("", e))?.to_vec();
        let Some(picture) = &self.image else { return Ok((shapes, None)) };
        let most = MAX_STYLES - shapes.len();
        let (parts, size) = super::sprites::sheet(picture, self.columns, self.rows, most)?;
        let [w, h] = size.map(|v| v as f32);
        let count = parts.len();
        shapes.extend(parts.into_iter().map(|part| Shape::Image(Arc::new(part))));
        Ok((shapes, Some((count, [w / w.max(h), h / w.max(h)]))))
    }
}

struct Flock {
    set: FlockSpec,
    overlay: Overlay,
    flip_book: FlipBook,
    full: bool,
    /// Rows of half a pixel of a picture 1920 wide.
    unit: f64,
    clock: Clock,
    rules: Rules,
    beats: f32,
    level: Level,
}

/// The data that a frame is drawn from.
#[derive(Default)]
struct FlockFrame {
    agents: Arc<Vec<Agent>>,
    bins: Bins,
}

impl Flock {
    /// A point of the frame, in its samples, in frame heights.
    fn point(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [w, h] = self.overlay.size();
        [x / w * f64::from(self.rules.aspect), y / h]
    }

    /// The middle of the home.
    fn home(&self, at: &FrameTime) -> [f32; 3] {
        let (a, z) = (f64::from(self.rules.aspect), 0.5 * self.set.depth);
        let [x, y] = self.set.goal.as_ref().map_or([0.5 * a, 0.5], |p| self.point(p.at(at)));
        let s = f64::from(scale(z as f32));
        [0.5 * a + (x - 0.5 * a) / s, 0.5 + (y - 0.5) / s, z].map(|v| v.clamp(-50.0, 50.0) as f32)
    }

    /// The state besides the agents before a step.
    fn step_state(&self, step: u64) -> StepState {
        let at = self.clock.time(step);
        let threat =
            self.set.threat.as_ref().map(|p| self.point(p.at(&at)).map(|v| v.clamp(-50.0, 50.0) as f32));
        StepState { step, home: self.home(&at), threat }
    }

    fn view<'a>(&'a self, params: &'a FrameParams) -> View<'a> {
        View {
            overlay: &self.overlay,
            rules: &self.rules,
            figure: self.set.figure,
            beats: self.beats,
            depth: self.set.depth as f32,
            full: self.full,
            flip_book: self.flip_book,
            params,
        }
    }
}

/// An agent without a picture.
const NONE: u32 = u32::MAX;

impl Flock {
    /// The largest number of texels of a frame's pictures, and of one.
    fn texels(&self) -> [usize; 2] {
        let size = self.overlay.picture_size().map(|s| s as f64);
        let half = view::largest(self.set.size.bounds().1 * self.unit);
        let one = portrait::largest_area(half, size, self.overlay.narrow());
        let all = one * (self.rules.agents + self.rules.predators) as f64;
        [all.min(TEXELS * size[0] * size[1] + FREE) as usize, one as usize]
    }

    /// The pictures of the nearest agents, and the number of each agent's, or [`NONE`].
    fn pictures(
        &self,
        view: &View<'_>,
        agents: &[Agent],
        executor: &dyn Executor,
    ) -> (Vec<Picture>, Vec<u32>) {
        if !self.full {
            return (Vec::new(), Vec::new());
        }
        let mut wanted: Vec<(u64, u32, Area)> = (0..)
            .zip(agents)
            .filter_map(|(id, a)| Some((rank(a[2], id), id as u32, view.portrayed(a, id as u64)?)))
            .collect();
        wanted.sort_unstable_by_key(|w| core::cmp::Reverse(w.0));
        let mut left = self.texels()[0];
        wanted.retain(|(.., area)| {
            let fits = area.texels() <= left;
            left -= if fits { area.texels() } else { 0 };
            fits
        });
        let mut which = vec![NONE; agents.len()];
        for (index, (_, id, _)) in wanted.iter().enumerate() {
            which[*id as usize] = index as u32;
        }
        let mut pictures = vec![Picture::default(); wanted.len()];
        let free_buffers: Mutex<Vec<RenderBuffers>> = Mutex::default();
        {
            let parts: Vec<Mutex<&mut [Picture]>> =
                pictures.chunks_mut(PICTURES_PER_TASK).map(Mutex::new).collect();
            executor.execute(parts.len(), &|part| {
                let mut buffers = lock(&free_buffers).pop().unwrap_or_default();
                let mut out = lock(&parts[part]);
                for (picture, (_, id, area)) in out.iter_mut().zip(&wanted[part * PICTURES_PER_TASK..]) {
                    let pose = view.pose(&agents[*id as usize], u64::from(*id));
                    *picture = view.picture(&pose, area, &mut buffers);
                }
                lock(&free_buffers).push(buffers);
            });
        }
        (pictures, which)
    }
}

impl Render for Flock {
    type Params = FrameParams;
    type State = FlockFrame;

    fn at(&self, at: &FrameTime) -> Option<(Plan, FrameParams)> {
        let steps = self.clock.steps(at);
        let rgb = |colour: &Option<Animated<[f64; 4]>>| {
            colour.as_ref().map(|c| {
                let [r, g, b, _] = c.at(at);
                [r, g, b]
            })
        };
        let params = FrameParams {
            steps,
            half: (self.set.size.at(at) * self.unit) as f32,
            haze: self.set.haze.at(at) as f32,
            haze_colour: rgb(&self.set.haze_colour),
            colour: rgb(&self.set.colour),
            shutter: (self.set.shutter / self.clock.rate.to_f64()) as f32,
            glow: self.set.glow.at(at) as f32,
            lamp: self.home(at),
            time: steps as f64 * f64::from(self.rules.dt),
        };
        Some((self.overlay.plan(at), params))
    }

    fn memory(&self) -> Memory {
        let agents = (self.rules.agents + self.rules.predators) * size_of::<Agent>();
        let base = self.overlay.memory();
        let walls = self.rules.solid.as_ref().map_or(0, |s| s.bytes());
        // Kept frames; before and after a step, sorted, as bytes; cells.
        let [most, one] = self.texels();
        let count = self.rules.agents + self.rules.predators;
        let (mut pictures, mut buffers) = (0, 0);
        if self.full {
            let [w, h] = self.overlay.picture_size();
            pictures = Picture::most_bytes(most, most.min(count * h)) + count * (size_of::<Picture>() + 4);
            // One for each of a few threads.
            buffers = 4 * (raster::strip_bytes(w.min(one)) + (1 << 20));
        }
        Memory {
            fixed: base.fixed + agents * (RECENT + 8) + (4 << 20) + walls + buffers,
            per_frame: base.per_frame + agents + pictures,
        }
    }

    fn prepare(
        &self,
        now: &FrameParams,
        mut near: FlockFrame,
        host: &Host<'_>,
    ) -> Result<FlockFrame, PrepareError> {
        host.check()?;
        let view = self.view(now);
        let agents = near.agents.clone();
        let (pictures, which) = self.pictures(&view, &agents, host.executor);
        host.check()?;
        // The lamp is a part of its own.
        let parts = agents.len().div_ceil(AGENTS_PER_TASK) + 1;
        let make = |part: usize, out: &mut Vec<Splat>| {
            let from = part * AGENTS_PER_TASK;
            if from >= agents.len() {
                return if part + 1 == parts {
                    view.lamp(out)
                };
            }
            let to = (from + AGENTS_PER_TASK).min(agents.len());
            for (id, agent) in (from as u64..).zip(&agents[from..to]) {
                match which.get(id as usize).copied().unwrap_or(NONE) {
                    NONE => view.splats(agent, id, out),
                    index => out.push(view.splat_of(agent, id, &pictures[index as usize], index as usize)),
                }
            }
        };
        self.overlay.painter.bin_with(parts, &make, &mut near.bins, host.executor);
        near.bins.set_pictures(pictures);
        Ok(near)
    }

    fn render(&self, _: &FrameParams, frame: &FlockFrame, band: &mut Band<'_>, scratch: &mut Scratch) {
        self.overlay.painter.draw(&frame.bins, &mut band.output, band.writes, scratch);
    }
}

impl Stepped<8> for Flock {
    const NAME: &'static str = "flock";
    type State = Arc<Vec<Agent>>;
    type Snapshot = Arc<Vec<Agent>>;

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn start(&self) -> Result<Self::State, PrepareError> {
        Ok(Arc::new(self.rules.start(self.step_state(0).home)))
    }

    fn advance(&self, agents: &mut Self::State, steps: u64, executor: &dyn Executor) {
        *agents =
            Arc::new(self.rules.step(agents, &self.step_state(steps), self.beats, self.level, executor));
    }

    fn snapshot(&self, agents: &mut Self::State) -> Self::Snapshot {
        agents.clone()
    }

    fn items(&self, agents: &Self::State) -> Vec<Agent> {
        agents.to_vec()
    }

    fn restore(&self, agents: Vec<Agent>, _: u64) -> Option<Self::State> {
        (agents.len() == self.rules.agents + self.rules.predators).then(|| Arc::new(agents))
    }
}

impl Simulate for Flock {
    type Simulation = SimulationTrack<Arc<Vec<Agent>>, Arc<Vec<Agent>>>;

    fn step(
        &self,
        now: &FrameParams,
        track: &mut Option<Self::Simulation>,
        host: &Host<'_>,
    ) -> Result<FlockFrame, PrepareError> {
        Ok(FlockFrame { agents: stepped::snapshot(self, now.steps, track, host)?, bins: Bins::default() })
    }
}
