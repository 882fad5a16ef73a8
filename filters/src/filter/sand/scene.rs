//! Where grains come from, what acts on them, and the picture that crumbles.

use super::super::mask::Mask;
use super::SandSpec;
use super::snapshot::Snapshot;
use crate::frame::{Family, Format, Frame, FrameTime};
use crate::host::Executor;
use crate::math::smooth;
use crate::noise::seed::mix64;
use crate::noise::value_noise::uniform;
use crate::particle::fluid::SignedDistanceField;
use crate::particle::sand::{BORDER, Flyer, Forces, Sand, SandSettings, Solids};
use crate::settings::SettingError;
use crate::simd::Level;
use std::sync::Arc;

/// The source of the grains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    Pour,
    Sky,
    Hourglass,
    Picture,
}

/// The largest fall in a step, in diameters: with more, piles become soft, and above a third they do not come to rest.
const SOFT: f64 = 0.2;
/// Rows of the lattice of a picture that crumbles, per diameter: triangles.
const ROW: f64 = 0.866_025_403_784_438_6;
/// Jolts per second and column.
const JOLTS: f64 = 8.0;
/// The fall of friction in a second with which there are as many.
const FULL_FALL: f64 = 0.5;
/// Fractions of a birth in the state.
const PARTS: f64 = 1_048_576.0;

/// A picture that crumbles: grains on a lattice of triangles, which are let go when the front has passed.
#[derive(Clone, Debug)]
struct Crumbling {
    columns: u32,
    /// When each grain is let go, 0 to 1, ascending, and its number.
    order: Vec<(f32, u32)>,
    /// When each is let go, by number.
    front: Vec<f32>,
    /// The colour of each.
    colours: Vec<[f32; 3]>,
}

/// A scene, ready to run.
pub(super) struct Scene {
    set: SandSpec,
    seed: u64,
    pub(super) sand: SandSettings,
    /// Luma rows of the frame per diameter.
    pub(super) rows: f64,
    /// Luma samples of the frame per diameter.
    pub(super) samples: f64,
    /// Diameters per frame height.
    height: f64,
    /// Steps per frame: an even number, so that fields are at whole steps, too.
    pub(super) steps: u64,
    crumbling: Option<Crumbling>,
}

/// The state of a scene.
pub(super) struct State {
    pub(super) sand: Sand,
    /// The number of grains that have come.
    born: u32,
    /// Fractions of a grain, in [`PARTS`].
    carry: u32,
    /// How far the front has come.
    pub(super) front: f32,
    /// The friction of the last step.
    friction: f32,
    pub(super) snapshot: Snapshot,
}

impl State {
    /// The first item holds what does not belong to a grain.
    pub(super) fn items(&self) -> Vec<[f32; 6]> {
        let [from, to] = self.sand.drain();
        let (born, carry) = (f32::from_bits(self.born), f32::from_bits(self.carry));
        let mut items = vec![[born, carry, self.front, from, to, self.friction]];
        items.extend(self.sand.items());
        items
    }

    pub(super) fn restore(&mut self, items: &[[f32; 6]]) -> bool {
        let Some(([born, carry, front, from, to, friction], grains)) = items.split_first() else {
            return false;
        };
        (self.born, self.carry) = (born.to_bits(), carry.to_bits());
        (self.front, self.friction) = (*front, *friction);
        self.sand.open([*from, *to]);
        self.sand.restore(grains)
    }
}

/// Half of the width of an hourglass at a height from its middle, in frame heights.
fn hourglass(y: f64, neck: f64) -> f64 {
    const WIDTH: f64 = 0.27;
    let t = ((y - 0.5).abs() * 2.15).min(1.0);
    neck + (WIDTH - neck) * smooth(t).sqrt()
}

/// Half of the width of the neck, in diameters.
const NECK: f64 = 2.5;
/// The top and bottom of the glass, in frame heights.
const GLASS: [f64; 2] = [0.04, 0.96];

impl Scene {
    pub(super) fn new(
        set: &SandSpec,
        input: &Format,
        seed: u64,
        frame: f64,
        mask: Option<Mask>,
        picture: Option<Arc<Frame>>,
    ) -> Result<Scene, SettingError> {
        let [w, h] = [f64::from(input.width), f64::from(input.height)];
        let rows = set.size * w * input.shape() / 1920.0;
        let samples = rows / input.shape();
        let size = [(w / samples) as f32, (h / rows) as f32];
        if size.iter().any(|v| *v > 16_000.0) {
            return Err(SettingError::new("size", "the frame is too large for grains of this size"));
        }
        let height = h / rows;
        let fall = set.gravity.bounds().1 * height;
        let mut steps = 2u64;
        while fall * (frame / steps as f64) * (frame / steps as f64) > SOFT && steps < 64 {
            steps += 2;
        }
        let aspect = w / h * input.shape();
        let obstacle = obstacle(set, mask, height, aspect);
        let sand = SandSettings {
            size,
            step: (frame / steps as f64) as f32,
            solids: Solids { floor: set.floor, walls: set.walls, obstacle, ..Solids::default() },
        };
        let crumbling = picture.map(|picture| Crumbling::new(set, &picture, size, seed));
        Ok(Scene { set: set.clone(), seed, sand, rows, samples, height, steps, crumbling })
    }

    /// A text of everything that affects a state.
    pub(super) fn key(&self) -> String {
        let set = &self.set;
        let walls: Option<Vec<u32>> = self.sand.solids.obstacle.as_ref().map(|o| o.words().collect());
        let position = set.position.as_ref().map(ToString::to_string);
        let (sand, seed) = (&self.sand, self.seed);
        let front = set.front.as_ref().map(ToString::to_string);
        let air = [&set.gravity, &set.wind, &set.gusts, &set.drift, &set.melt];
        let ground = [&set.flow, &set.friction, &set.shaking, &set.drain, &set.drain_at];
        let curves = [air, ground].concat();
        let curves = curves.iter().map(ToString::to_string).collect::<Vec<_>>();
        let order = self.crumbling.as_ref().map(|c| (c.columns, c.front.len()));
        let fixed = (
            set.source,
            set.grains,
            set.spread,
            set.fall,
            set.start,
            set.duration,
            set.direction,
            set.softness,
        );
        // Positions are given in samples, whose size is not in that of the scene.
        let numbers = (self.samples, self.rows, sand.size, sand.step, sand.solids.floor, sand.solids.walls);
        format!("{seed} {fixed:?} {numbers:?} {curves:?} {position:?} {front:?} {order:?} {walls:?}")
    }

    /// The size in bytes of what does not grow with the grains.
    pub(super) fn bytes(&self) -> usize {
        let [w, h] = self.sand.size.map(|v| (v + 2.0 * BORDER) as usize + 1);
        // Cells in Z order reach to the next power of two.
        let cells = w.next_power_of_two() * h.next_power_of_two().min(2 * h);
        let lattice = self.crumbling.as_ref().map_or(0, |c| c.front.len() * 24);
        cells * 34 + lattice + self.sand.solids.obstacle.as_ref().map_or(0, |o| o.bytes())
    }

    /// Columns and rows of the displayed frame, in luma rows.
    pub(super) fn shown(&self) -> [usize; 2] {
        // Sizes in diameters are rounded.
        self.sand.size.map(|v| (f64::from(v) * self.rows - 0.01) as usize + 1)
    }

    pub(super) fn start(&self, level: Level) -> Result<State, String> {
        let sand = Sand::new(self.sand.clone(), level).map_err(|e| e.to_string())?;
        let snapshot = Snapshot::new(self.shown(), self.rows);
        Ok(State { sand, born: 0, carry: 0, front: 0.0, friction: 0.0, snapshot })
    }

    /// Advances a state that was reached after so many steps.
    pub(super) fn advance(&self, state: &mut State, at: &FrameTime, steps: u64, executor: &dyn Executor) {
        let set = &self.set;
        let height = self.height;
        let time = f64::from(self.sand.step);
        let gravity = set.gravity.at(at);
        let per_step = |rate: f64, salt: u64| {
            let count = rate * time;
            let part = uniform(mix64(self.seed ^ mix64(steps ^ salt)));
            (count + part) as u32
        };
        let [w, columns] = [self.sand.size[0], self.sand.size[0] + 1.0].map(f64::from);
        let friction = set.friction.at(at) as f32;
        let (shaking, middle, half) = (set.shaking.at(at), set.drain_at.at(at), 0.5 * set.drain.at(at));
        let drain =
            if half > 0.0 { [middle - half, middle + half].map(|v| (v * w) as f32) } else { [0.0; 2] };
        // While friction falls, the surface begins to slide: the faster it falls, the more grains do.
        let falls = (f64::from(state.friction - friction) / (time * FULL_FALL)).clamp(0.0, 1.0);
        let (jolts, jolt) = match shaking > 0.0 {
            true => (JOLTS, shaking * height),
            false => (JOLTS * falls, (0.5 * gravity * height).sqrt()),
        };
        let forces = Forces {
            gravity: (gravity * height) as f32,
            friction,
            shaken: per_step(columns * jolts, 1 << 62),
            jolt: jolt as f32,
            drain,
            drag: (gravity.max(0.1) / set.fall) as f32,
            wind: (set.wind.at(at) * w) as f32,
            gusts: (set.gusts.at(at) * height) as f32,
            lifted: per_step(set.drift.at(at), 1 << 60),
            melted: per_step(set.melt.at(at), 1 << 61),
            time: (steps as f64 * time) as f32,
            seed: self.seed,
            number: steps,
        };
        state.friction = friction;
        let arrivals = match &self.crumbling {
            Some(crumbling) => {
                let front =
                    set.front.as_ref().map_or(steps as f64 * time / set.duration, |front| front.at(at));
                let front = (front as f32).min(1.0).max(state.front);
                let mut arrivals = crumbling.between(state.front, front, steps);
                // Grains without room vanish.
                arrivals.truncate(self.room(state));
                state.front = front;
                arrivals
            }
            None => self.arrivals(state, at, steps),
        };
        // The numbers of grains are limited, so the array has room.
        let _ = state.sand.step(&forces, &arrivals, executor);
    }

    /// The number of grains that may come.
    fn room(&self, state: &State) -> usize {
        (self.set.grains as usize).saturating_sub(state.sand.len() + state.sand.flying().len())
    }

    /// The new grains of a step.
    fn arrivals(&self, state: &mut State, at: &FrameTime, steps: u64) -> Vec<Flyer> {
        let set = &self.set;
        let room = self.room(state);
        if set.source == Source::Hourglass {
            return if steps == 0 { self.hourglass_filling(state, room) } else { Vec::new() };
        }
        let due = set.flow.at(at) * f64::from(self.sand.step) * PARTS + f64::from(state.carry);
        let count = ((due / PARTS) as usize).min(room);
        state.carry = (due % PARTS) as u32;
        let [w, h] = self.sand.size.map(f64::from);
        let mut out = Vec::with_capacity(count);
        for _ in 0..count {
            let id = state.born;
            state.born += 1;
            let hash = |n: u64| uniform(mix64(self.seed ^ mix64(u64::from(id) << 8 | n)));
            let (place, velocity) = if set.source == Source::Sky {
                // As many come in from the side as the wind carries across it.
                let wind = set.wind.at(at) * w;
                let (across, down) = (wind.abs() * h, set.fall * self.height * w);
                // Beside the frame, too, so that the heap does not end at its sides.
                let beside = (0.06 * w).min(f64::from(BORDER) - 4.0);
                let place = match (hash(5) * (across + down) < across, wind > 0.0) {
                    (true, true) => [-2.0, hash(0) * h],
                    (true, false) => [w + 2.0, hash(0) * h],
                    _ => [hash(0) * (w + 2.0 * beside) - beside, -2.0 - 6.0 * hash(1)],
                };
                (place, [wind, set.fall * self.height])
            } else {
                let [x, y] = set.position.as_ref().map_or([0.5 * w, -3.0], |p| {
                    let [x, y] = p.at(at);
                    [x / self.samples, y / self.rows]
                });
                // Denser in the middle.
                let aside = (hash(0) + hash(1) - 1.0) * set.spread * w;
                let speed = 0.4 * self.height;
                (
                    [x + aside, y - 4.0 * hash(2)],
                    [(hash(3) - 0.5) * 0.06 * speed, speed * (0.9 + 0.2 * hash(4))],
                )
            };
            out.push(Flyer { id, at: place.map(|v| v as f32), velocity: velocity.map(|v| v as f32) });
        }
        out
    }

    /// The grains in the upper half of the hourglass.
    fn hourglass_filling(&self, state: &mut State, room: usize) -> Vec<Flyer> {
        let [w, h] = self.sand.size;
        let neck = NECK / self.height;
        let mut out = Vec::new();
        let rows = (0.46 * h) as u32;
        for row in 0..rows {
            let y = 0.48 * h - row as f32 * 0.9;
            for column in 0..w as u32 {
                let x = column as f32 + 0.5 * (row & 1) as f32;
                let far = f64::from((x - 0.5 * w).abs()) / self.height;
                let is_free = far < hourglass(f64::from(y) / self.height, neck)
                    && self.sand.solids.obstacle.as_ref().is_none_or(|o| o.at(x, y).0 > 0.6);
                if is_free && y > GLASS[0] as f32 * h + 1.0 && out.len() < room {
                    out.push(Flyer { id: state.born, at: [x, y], velocity: [0.0; 2] });
                    state.born += 1;
                }
            }
        }
        out
    }

    /// The colour of a grain of the picture.
    pub(super) fn colour(&self, id: u32) -> Option<[f32; 3]> {
        self.crumbling.as_ref()?.colours.get(id as usize).copied()
    }

    /// The picture's grains that still stand once the front has come so far: their places.
    pub(super) fn standing(
        &self,
        front: f32,
        columns: [f32; 2],
        rows: [f32; 2],
        mut f: impl FnMut(u32, [f32; 2]),
    ) {
        let Some(crumbling) = &self.crumbling else { return };
        let first = (f64::from(rows[0]) / ROW).max(0.0) as u32;
        for row in first.. {
            let [_, y] = crumbling.place(row * crumbling.columns);
            if y > rows[1] || (row * crumbling.columns) as usize >= crumbling.front.len() {
                break;
            }
            for column in columns[0].max(0.0) as u32..crumbling.columns {
                let id = row * crumbling.columns + column;
                let at = crumbling.place(id);
                if at[0] > columns[1] {
                    break;
                }
                if crumbling.front[id as usize] >= front {
                    f(id, at);
                }
            }
        }
    }

    /// Whether a picture crumbles, and how far the front has come.
    pub(super) fn crumbled(&self, front: f32) -> Option<f32> {
        self.crumbling.as_ref().map(|_| front)
    }
}

/// The obstacle of a mask and of the hourglass.
fn obstacle(
    set: &SandSpec,
    mask: Option<Mask>,
    height: f64,
    aspect: f64,
) -> Option<Arc<SignedDistanceField>> {
    let is_glass = set.source == Source::Hourglass;
    if mask.is_none() && !is_glass {
        return None;
    }
    let border = f64::from(BORDER);
    // Nodes per diameter: large grains need more of them.
    let per = (set.size / 4.0).clamp(0.5, 4.0);
    let size = [aspect * height, height].map(|v| ((v + 2.0 * border) * per) as usize + 2);
    let neck = NECK / height;
    let inside = (0..size[0] * size[1]).map(|i| {
        let [x, y] = [i % size[0], i / size[0]].map(|n| (n as f64 / per - border) / height);
        let in_frame = (0.0..aspect).contains(&x) && (0.0..1.0).contains(&y);
        let is_masked = mask.as_ref().is_some_and(|m| in_frame && m.at(x / aspect, y) > 0.5);
        let far = (x - 0.5 * aspect).abs();
        let glass = hourglass(y, neck);
        let is_wall = far > glass && far < glass + 0.05 || far <= glass && y > GLASS[1];
        is_masked || is_glass && is_wall && (GLASS[0]..GLASS[1] + 0.05).contains(&y)
    });
    let inside: Vec<bool> = inside.collect();
    SignedDistanceField::new(size, [-BORDER; 2], per as f32, &inside).map(Arc::new)
}

impl Crumbling {
    fn new(set: &SandSpec, picture: &Frame, size: [f32; 2], seed: u64) -> Crumbling {
        let [w, h] = size.map(f64::from);
        let columns = w as u32 + 1;
        let rows = (h / ROW) as u32 + 1;
        let count = u64::from(columns) * u64::from(rows);
        let mut crumbling = Crumbling { columns, order: Vec::new(), front: Vec::new(), colours: Vec::new() };
        let (cos, sin) = {
            let turn = set.direction / 360.0 * core::f64::consts::TAU;
            (libm::cos(turn), libm::sin(turn))
        };
        let reach = 0.5 * (w * cos.abs() + h * sin.abs());
        let format = picture.format();
        let texels = format.plane_size(0);
        for id in 0..count as u32 {
            let [x, y] = crumbling.place(id).map(f64::from);
            let along = ((x - 0.5 * w) * cos + (y - 0.5 * h) * sin) / reach * 0.5 + 0.5;
            let noise = 0.35 * uniform(mix64(seed ^ mix64(u64::from(id)))) + 0.65 * patches(seed, x, y);
            let part = (along + set.softness * noise) / (1.0 + set.softness);
            crumbling.front.push(part.clamp(0.0, 0.999_999) as f32);
            let texel = |t: f64, of: f64, n: usize| ((t / of * n as f64).max(0.0) as usize).min(n - 1);
            let at = (texel(x, w, texels.0), texel(y, h, texels.1));
            let value = |p: usize| picture.value(p, at.0, at.1).clamp(0.0, 1.0);
            crumbling.colours.push(match format.family {
                Family::Rgb => [value(2), value(0), value(1)],
                _ => [value(0); 3],
            });
        }
        crumbling.order = crumbling.front.iter().copied().zip(0..).collect();
        crumbling.order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        crumbling
    }

    fn place(&self, id: u32) -> [f32; 2] {
        let (row, column) = (id / self.columns, id % self.columns);
        [column as f32 + 0.5 * (row & 1) as f32, (f64::from(row) * ROW) as f32 + 0.4]
    }

    /// The grains that are let go while the front moves.
    fn between(&self, from: f32, to: f32, steps: u64) -> Vec<Flyer> {
        let at = |front: f32| self.order.partition_point(|o| o.0 < front);
        let all = if to >= 1.0 { self.order.len() } else { at(to) };
        let mut out: Vec<Flyer> = self.order[at(from).min(all)..all]
            .iter()
            .map(|(_, id)| {
                let hash = mix64(u64::from(*id) << 32 ^ steps);
                let velocity =
                    [uniform(hash) as f32 - 0.5, uniform(mix64(hash)) as f32 - 0.5].map(|v| 8.0 * v);
                Flyer { id: *id, at: self.place(*id), velocity }
            })
            .collect();
        out.sort_unstable_by_key(|flyer| flyer.id);
        out
    }
}

/// Smooth noise, 0 to 1, in patches of 24 and 8 diameters.
fn patches(seed: u64, x: f64, y: f64) -> f64 {
    let octave = |size: f64, salt: u64| {
        let (u, v) = (x / size, y / size);
        let (i, j) = (libm::floor(u), libm::floor(v));
        let (fx, fy) = (u - i, v - j);
        let corner = |a: f64, b: f64| {
            uniform(mix64(seed ^ mix64(((i + a) as i64 as u64) << 32 ^ (j + b) as i64 as u64 ^ salt)))
        };
        let mix = |a: f64, b: f64, t: f64| a + (b - a) * smooth(t);
        mix(mix(corner(0.0, 0.0), corner(1.0, 0.0), fx), mix(corner(0.0, 1.0), corner(1.0, 1.0), fx), fy)
    };
    0.65 * octave(24.0, 1 << 62) + 0.35 * octave(8.0, 1 << 63)
}
