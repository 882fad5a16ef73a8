//! Finds neighbours: sorts agents by cell, and sums over the neighbours of each.
//!
//! The neighbours of an agent are looked for in the cells around its own, after a stable counting sort of all agents by
//! cell. What is around a cell is copied once for all agents in it, in the order of cells and, within each, of ids. Sums
//! over it are made in [`LANES`] parts, of every sixteenth agent, which are added in the end. So they depend on the state
//! alone.

use super::vector::V;
use crate::noise::seed::mix64;
use crate::simd::multiversion;

/// Position, velocity, roll (turns, clockwise seen from behind), and the phase of its wings or fins (turns).
pub(super) type Agent = [f32; 8];

/// The number of agents that are compared at a time.
pub(super) const LANES: usize = 16;
/// The largest number of agents that are evaluated in three cells of a row; of more, so many from an index that changes
/// with cell and step, each standing for several.
pub(super) const CAP: usize = LANES;
/// The largest number of cells.
const CELLS: usize = 1 << 18;

type Lanes = [f32; LANES];

/// The agents of each cell, in order of ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    /// Cells along each axis.
    size: [usize; 3],
    first: V,
    per: f32,
    /// The start of each cell, and the end.
    starts: Vec<u32>,
    /// Ids by cell.
    pub(super) ids: Vec<u32>,
}

impl Cells {
    /// Sorts them; cells are `perception_radius` long, or longer if there would be too many.
    pub(super) fn new(agents: &[Agent], perception_radius: f32) -> Cells {
        let (mut low, mut high) = ([f32::MAX; 3], [f32::MIN; 3]);
        for a in agents {
            for i in 0..3 {
                (low[i], high[i]) = (low[i].min(a[i]), high[i].max(a[i]));
            }
        }
        if agents.is_empty() {
            (low, high) = ([0.0; 3], [0.0; 3]);
        }
        let mut side = 1.001 * perception_radius.max(1e-4);
        let count = |side: f32| [0, 1, 2].map(|i: usize| ((high[i] - low[i]) / side) as usize + 1);
        let limit = CELLS.min(8 * agents.len() + 64);
        while count(side).iter().product::<usize>() > limit {
            side *= 1.25;
        }
        let size = count(side);
        let mut cells = Cells {
            size,
            first: low,
            per: 1.0 / side,
            starts: vec![0; size[0] * size[1] * size[2] + 1],
            ids: vec![0; agents.len()],
        };
        let of: Vec<u32> = agents.iter().map(|a| cells.number(cells.place([a[0], a[1], a[2]]))).collect();
        for c in &of {
            cells.starts[*c as usize + 1] += 1;
        }
        let mut sum = 0;
        for s in &mut cells.starts {
            sum += *s;
            *s = sum;
        }
        let mut next = cells.starts.clone();
        for (id, c) in of.iter().enumerate() {
            let to = &mut next[*c as usize];
            cells.ids[*to as usize] = id as u32;
            *to += 1;
        }
        cells
    }

    #[inline(always)]
    pub(super) fn place(&self, p: V) -> [usize; 3] {
        [0, 1, 2]
            .map(|i: usize| (((p[i] - self.first[i]) * self.per).max(0.0) as usize).min(self.size[i] - 1))
    }

    #[inline(always)]
    pub(super) fn number(&self, [x, y, z]: [usize; 3]) -> u32 {
        ((z * self.size[1] + y) * self.size[0] + x) as u32
    }

    /// Ranges of `ids`, one for each row of adjacent cells along x: all agents that may be in sight of one in the
    /// cell. And how many ranges there are.
    #[inline(always)]
    pub(super) fn around(&self, [x, y, z]: [usize; 3]) -> ([Run; 9], usize) {
        let [w, h, d] = self.size;
        let (from, to) = (x.saturating_sub(1), (x + 1).min(w - 1));
        let (mut runs, mut count) = ([Run::default(); 9], 0);
        for z in z.saturating_sub(1)..=(z + 1).min(d - 1) {
            for y in y.saturating_sub(1)..=(y + 1).min(h - 1) {
                let row = self.number([0, y, z]) as usize;
                let run = Run { from: self.starts[row + from], to: self.starts[row + to + 1] };
                if run.from < run.to {
                    runs[count] = run;
                    count += 1;
                }
            }
        }
        (runs, count)
    }
}

/// A range of slots.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Run {
    pub(super) from: u32,
    pub(super) to: u32,
}

/// Positions and velocities in the order of [`Cells::ids`], number by number; and so many zeros behind them that
/// [`LANES`] numbers can be read from anywhere.
pub(super) struct Sorted {
    numbers: [Vec<f32>; 6],
}

impl Sorted {
    pub(super) fn new(agents: &[Agent], cells: &Cells) -> Sorted {
        let mut numbers = [(); 6].map(|()| vec![0.0; cells.ids.len() + LANES]);
        for (slot, id) in cells.ids.iter().enumerate() {
            let agent = &agents[*id as usize];
            for (of, v) in numbers.iter_mut().zip(agent) {
                of[slot] = *v;
            }
        }
        Sorted { numbers }
    }
}

/// How far an agent sees, and the room that it keeps free around it.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    pub(super) perception_radius: f32,
    pub(super) separation_radius: f32,
}

/// The effect of neighbours on an agent.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Near {
    pub(super) count: f32,
    pub(super) to: V,
    pub(super) velocity: V,
    pub(super) apart: V,
}

/// The number of candidates: those of all runs, and a vector that is written behind the last.
const ROOM: usize = 9 * CAP + LANES;
/// A position out of sight, behind the last candidate.
const NOWHERE: f32 = 1e9;

/// The candidates for neighbours of the agents of a cell.
struct Candidates {
    numbers: [[f32; ROOM]; 6],
    weights: [f32; ROOM],
    slots: [u32; ROOM],
    count: usize,
}

impl Candidates {
    const EMPTY: Candidates =
        Candidates { numbers: [[0.0; ROOM]; 6], weights: [0.0; ROOM], slots: [0; ROOM], count: 0 };

    /// Copies the agents around a cell.
    #[inline(always)]
    fn gather(&mut self, cells: &Cells, sorted: &Sorted, cell: [usize; 3], step: u64) {
        self.count = 0;
        let (runs, count) = cells.around(cell);
        for run in &runs[..count] {
            let len = run.to - run.from;
            let weight = if len > CAP as u32 { len as f32 / CAP as f32 } else { 1.0 };
            for part in looked_at(cells.number(cell), step, *run) {
                self.add(sorted, part, weight);
            }
        }
        let to = self.count..self.count + LANES;
        self.numbers[0][to].fill(NOWHERE);
    }

    /// Adds up to [`LANES`] agents. A full vector is written; the next call overwrites the lanes that are left.
    #[inline(always)]
    fn add(&mut self, sorted: &Sorted, part: Run, weight: f32) {
        let to = self.count..self.count + LANES;
        for (of, numbers) in self.numbers.iter_mut().zip(&sorted.numbers) {
            let from = part.from as usize;
            of[to.clone()].copy_from_slice(&numbers[from..from + LANES]);
        }
        self.weights[to.clone()].fill(weight);
        for (l, slot) in self.slots[to].iter_mut().enumerate() {
            *slot = part.from + l as u32;
        }
        self.count += (part.to - part.from) as usize;
    }

    /// The sums over the agents in sight of the one in `slot`.
    #[inline(always)]
    fn seen(&self, at: V, slot: u32, sight2: f32, per_room: f32) -> Near {
        let mut sums = [[0.0; LANES]; SUMS];
        let [x, y, z, vx, vy, vz] = &self.numbers;
        for n in (0..self.count).step_by(LANES) {
            let (dx, dy, dz) =
                (minus(lanes(x, n), at[0]), minus(lanes(y, n), at[1]), minus(lanes(z, n), at[2]));
            let (weights, slots) = (lanes(&self.weights, n), lanes(&self.slots, n));
            let (mut w, mut k) = ([0.0; LANES], [0.0; LANES]);
            for l in 0..LANES {
                let far2 = dx[l] * dx[l] + dy[l] * dy[l] + dz[l] * dz[l];
                // No shortcut, so that all lanes go at once.
                w[l] = if (far2 < sight2) & (slots[l] != slot) { weights[l] } else { 0.0 };
                let far = far2.sqrt();
                let near = 1.0 - far * per_room;
                let near = if near > 0.0 { near } else { 0.0 };
                k[l] = w[l] * near * near / if far > 1e-7 { far } else { 1e-7 };
            }
            plus(&mut sums[0], &w, &[1.0; LANES]);
            plus(&mut sums[1], &dx, &w);
            plus(&mut sums[2], &dy, &w);
            plus(&mut sums[3], &dz, &w);
            plus(&mut sums[4], &lanes(vx, n), &w);
            plus(&mut sums[5], &lanes(vy, n), &w);
            plus(&mut sums[6], &lanes(vz, n), &w);
            plus(&mut sums[7], &dx, &k);
            plus(&mut sums[8], &dy, &k);
            plus(&mut sums[9], &dz, &k);
        }
        Near::from_sums(&sums)
    }
}

/// The number of sums.
const SUMS: usize = 10;

impl Near {
    // Not inlined: the compiler would take the sums apart for it.
    #[inline(never)]
    fn from_sums(sums: &[Lanes; SUMS]) -> Near {
        let [count, a, b, c, d, e, f, g, h, i] = sums;
        Near {
            count: sum(count),
            to: [sum(a), sum(b), sum(c)],
            velocity: [sum(d), sum(e), sum(f)],
            apart: [-sum(g), -sum(h), -sum(i)],
        }
    }
}

/// The lanes from `n` on.
#[inline(always)]
fn lanes<T: Copy + Default>(of: &[T; ROOM], n: usize) -> [T; LANES] {
    of.get(n..).and_then(|of| of.first_chunk()).copied().unwrap_or_default()
}

#[inline(always)]
fn minus(a: Lanes, b: f32) -> Lanes {
    let mut out = [0.0; LANES];
    for l in 0..LANES {
        out[l] = a[l] - b;
    }
    out
}

/// Adds `b c` to `a`.
#[inline(always)]
fn plus(a: &mut Lanes, b: &Lanes, c: &Lanes) {
    let mut out = [0.0; LANES];
    for l in 0..LANES {
        out[l] = a[l] + b[l] * c[l];
    }
    *a = out;
}

/// The sum of the lanes, by halves.
#[inline(always)]
fn sum(lanes: &Lanes) -> f32 {
    let a: [f32; 8] = core::array::from_fn(|l| lanes[l] + lanes[l + 8]);
    let b: [f32; 4] = core::array::from_fn(|l| a[l] + a[l + 4]);
    (b[0] + b[2]) + (b[1] + b[3])
}

/// At most [`CAP`] agents of a run, as candidates for a cell: from an index on that changes with cell and step, and from the
/// start of the run again.
#[inline(always)]
pub(super) fn looked_at(cell: u32, step: u64, run: Run) -> [Run; 2] {
    let len = run.to - run.from;
    if len <= CAP as u32 {
        return [run, Run { from: run.to, to: run.to }];
    }
    let hash = mix64(u64::from(cell) << 32 ^ u64::from(run.from) ^ step << 20);
    let begin = run.from + (((hash >> 32) * u64::from(len)) >> 32) as u32;
    let first = Run { from: begin, to: run.to.min(begin + CAP as u32) };
    let left = CAP as u32 - (first.to - first.from);
    [first, Run { from: run.from, to: run.from + left }]
}

multiversion! {
    /// The sums over the neighbours of the agents of some slots in a step.
    pub(super) fn near(
        level, reach: Reach, cells: &Cells, sorted: &Sorted, step: u64, first: usize, out: &mut [Near],
    ) = near_body;
}

#[inline(always)]
fn near_body(reach: Reach, cells: &Cells, sorted: &Sorted, step: u64, first: usize, out: &mut [Near]) {
    let (sight2, per_room) =
        (reach.perception_radius * reach.perception_radius, 1.0 / reach.separation_radius);
    let [x, y, z, ..] = &sorted.numbers;
    let mut around = Candidates::EMPTY;
    let mut of = [usize::MAX; 3];
    for (slot, out) in (first..).zip(out) {
        let at = [x[slot], y[slot], z[slot]];
        let cell = cells.place(at);
        if cell != of {
            around.gather(cells, sorted, cell, step);
            of = cell;
        }
        *out = around.seen(at, slot as u32, sight2, per_room);
    }
}
