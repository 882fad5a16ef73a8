//! Grains of sand in the order of their cells, of which most are asleep: the packed memory array beside a counting sort
//! of all, the awake grains apart from the sorted sleepers, and a hash grid.
//!
//! `cargo bench -p grainfield-papers --bench sand_order [-- steps=N]`. 2 % of the grains are awake, in 1.5 % of the
//! blocks of 16 x 16 cells. In each step a quarter of them changes cells, .05 % of all grains are removed and as many
//! inserted, and 1 % of the awake fall asleep while as many others wake. Then all grains of the active blocks are read
//! in order: by cell, then by number. Every side makes the same changes and reads the same grains. Microseconds per step
//! of changes and reading, medians, in this thread's processor time.
#![allow(unsafe_code)] // the clock is a foreign function
#![allow(missing_docs, unreachable_pub)]

#[path = "../../rows/mod.rs"]
mod rows;
#[path = "../../timing/mod.rs"]
mod timing;

use core::hash::{BuildHasherDefault, Hasher};
use core::ops::Range;
use grainfield_filters::pma::{CellBatch, CellPma, CellSettings, Ranked};
use grainfield_filters::simd::{Isa, Level};
use grainfield_filters::zorder;
use rows::{Sheet, gate};
use std::collections::HashMap;
use timing::{median, time};

/// Steps that a side makes in a row; the first of them is not timed, as the caches are another side's.
const BURST: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Grain {
    id: u32,
    position: [u16; 2],
    velocity: [u16; 2],
    color: u32,
    awake: u32,
}

impl Ranked for Grain {
    type Rank = u32;
    fn rank(&self) -> u32 {
        self.id
    }
}

/// A grain as it has been read: its cell, and where its side keeps it.
type Seen = (u32, u32, Grain);

fn hash(a: u64, b: u64) -> u64 {
    let z = (a ^ b << 32).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The grid, and its active blocks.
struct World {
    n: usize,
    size: [u16; 2],
    cells: u32,
    /// Ranges of cells, ascending.
    active: Vec<Range<u32>>,
    /// For each block, its index among the active ones, or `u32::MAX`.
    rank: Vec<u32>,
}

impl World {
    fn new(n: usize) -> World {
        // About one grain per cell.
        let bits = n.next_power_of_two().ilog2();
        let size = [1 << bits.div_ceil(2), 1 << (bits / 2)];
        let blocks = (1usize << bits) / 256;
        let all = (blocks as f64 * 0.015).round().max(1.0) as usize;
        let parts = all.min(4);
        let mut rank = vec![u32::MAX; blocks];
        let mut active = vec![];
        let mut count = 0;
        for part in 0..parts {
            let (first, len) = ((2 * part + 1) * blocks / (2 * parts), all / parts);
            active.push(256 * first as u32..256 * (first + len) as u32);
            rank[first..first + len].iter_mut().zip(count..).for_each(|(rank, i)| *rank = i);
            count += len as u32;
        }
        World { n, size, cells: 1 << bits, active, rank }
    }

    fn active_cell(&self, random: u64) -> u32 {
        let range = &self.active[random as usize % self.active.len()];
        range.start + (random >> 8) as u32 % (range.end - range.start)
    }

    fn is_active(&self, cell: u32) -> bool {
        self.rank[cell as usize / 256] != u32::MAX
    }

    fn grain(&self, id: u32, cell: u32, awake: bool) -> Grain {
        let (x, y) = zorder::position(cell);
        Grain { id, position: [x, y], velocity: [0; 2], color: id, awake: u32::from(awake) }
    }

    /// All grains at the beginning, by cell and number.
    fn grains(&self) -> Vec<(u32, Grain)> {
        let awake = self.n / 50;
        let mut all: Vec<_> = (0..self.n as u32)
            .map(|id| {
                let random = hash(u64::from(id), 77);
                let awake = (id as usize) < awake;
                let cell = if awake { self.active_cell(random) } else { random as u32 % self.cells };
                // Numbers without order.
                (cell, self.grain(id.wrapping_mul(0x9e37_79b1), cell, awake))
            })
            .collect();
        all.sort_unstable_by_key(|(cell, grain)| (*cell, grain.id));
        all
    }
}

/// The changes of a step. Each names a grain as it was read.
#[derive(Default)]
struct Changes {
    moves: Vec<(Seen, u32)>,
    removes: Vec<Seen>,
    inserts: Vec<(u32, Grain)>,
    /// Grains that fall asleep or wake.
    turns: Vec<Seen>,
}

impl Changes {
    /// What happens depends on the grains alone.
    fn choose(&mut self, world: &World, step: usize, seen: &[Seen]) {
        self.moves.clear();
        self.removes.clear();
        self.inserts.clear();
        self.turns.clear();
        for grain in seen {
            let random = hash(u64::from(grain.2.id), step as u64);
            let share = (random >> 32) as f64 / 4294967296.0;
            if grain.2.awake == 0 {
                if share < 0.0136 {
                    self.turns.push(*grain);
                }
            } else if share < 0.25 {
                let (x, y) = zorder::position(grain.0);
                let (x, y) = match random % 4 {
                    0 => (x.saturating_sub(1), y),
                    1 => ((x + 1).min(world.size[0] - 1), y),
                    _ => (x, (y + 1).min(world.size[1] - 1)),
                };
                let to = zorder::number(x, y);
                if to != grain.0 && world.is_active(to) {
                    self.moves.push((*grain, to));
                }
            } else if share < 0.275 {
                self.removes.push(*grain);
            } else if share < 0.285 {
                self.turns.push(*grain);
            }
        }
        for i in 0..world.n / 2000 {
            let random = hash(i as u64, step as u64 | 1 << 30);
            let cell = world.active_cell(random);
            self.inserts.push((cell, world.grain((random >> 32) as u32, cell, true)));
        }
    }
}

/// A way to keep grains in order.
trait Side {
    /// Takes the changes in the form that the side wants, untimed.
    fn prepare(&mut self, _: &Changes) {}
    fn apply(&mut self, world: &World, changes: &Changes);
    /// Reads the grains of the active blocks in order.
    fn read(&mut self, world: &World, seen: &mut Vec<Seen>);
    /// The part of the last `apply` that a step without falling asleep and waking would not have had.
    fn merging(&self) -> f64 {
        0.0
    }
}

fn turned(grain: &Grain) -> Grain {
    Grain { awake: 1 - grain.awake, ..*grain }
}

struct Array {
    pma: CellPma<Grain>,
    batch: CellBatch<Grain>,
}

impl Array {
    fn new(world: &World, level: Level) -> Array {
        let batch = CellBatch { inserts: world.grains(), ..CellBatch::default() };
        let pma = CellPma::new(world.cells, CellSettings::default(), level);
        let mut pma = pma.unwrap_or_else(|e| panic!("{e}"));
        pma.apply(&batch).unwrap_or_else(|e| panic!("{e}"));
        Array { pma, batch }
    }
}

impl Side for Array {
    fn prepare(&mut self, changes: &Changes) {
        self.batch.clear();
        self.batch.moves.extend(changes.moves.iter().map(|(seen, to)| (seen.1, *to)));
        self.batch.removes.extend(changes.removes.iter().map(|seen| seen.1));
        self.batch.inserts.extend_from_slice(&changes.inserts);
    }

    fn apply(&mut self, _: &World, changes: &Changes) {
        for (_, slot, grain) in &changes.turns {
            *self.pma.payload_mut(*slot) = turned(grain);
        }
        self.pma.apply(&self.batch).unwrap_or_else(|e| panic!("{e}"));
    }

    fn read(&mut self, world: &World, seen: &mut Vec<Seen>) {
        for range in &world.active {
            self.pma.read(range.clone(), |cell, slot, grain| seen.push((cell, slot, *grain)));
        }
    }
}

/// A stable counting sort of all.
struct Sorted {
    cells: [Vec<u32>; 2],
    items: [Vec<Grain>; 2],
    starts: Vec<u32>,
}

impl Sorted {
    fn new(world: &World) -> Sorted {
        let (cells, items): (Vec<_>, Vec<_>) = world.grains().into_iter().unzip();
        let mut side = Sorted { cells: [cells, vec![]], items: [items, vec![]], starts: vec![] };
        side.sort(world);
        side
    }

    fn sort(&mut self, world: &World) {
        let ([from, cells], [items, to]) = (&mut self.cells, &mut self.items);
        self.starts.clear();
        self.starts.resize(world.cells as usize + 2, 0);
        // Removed grains are in a cell after the last. Placing grains moves each start to that of the next cell.
        from.iter().for_each(|cell| self.starts[*cell as usize + 1] += 1);
        let mut sum = 0;
        for start in &mut self.starts[1..] {
            sum += core::mem::replace(start, sum);
        }
        cells.resize(from.len(), 0);
        to.resize(from.len(), items[0]);
        for (cell, item) in from.iter().zip(items.iter()) {
            let at = &mut self.starts[*cell as usize + 1];
            cells[*at as usize] = *cell;
            to[*at as usize] = *item;
            *at += 1;
        }
        self.cells.swap(0, 1);
        self.items.swap(0, 1);
        let len = self.starts[world.cells as usize] as usize;
        self.cells[0].truncate(len);
        self.items[0].truncate(len);
    }
}

impl Side for Sorted {
    fn apply(&mut self, world: &World, changes: &Changes) {
        for (_, at, grain) in &changes.turns {
            self.items[0][*at as usize] = turned(grain);
        }
        for ((_, at, _), to) in &changes.moves {
            self.cells[0][*at as usize] = *to;
        }
        for (_, at, _) in &changes.removes {
            self.cells[0][*at as usize] = world.cells;
        }
        self.cells[0].extend(changes.inserts.iter().map(|i| i.0));
        self.items[0].extend(changes.inserts.iter().map(|i| i.1));
        self.sort(world);
    }

    fn read(&mut self, world: &World, seen: &mut Vec<Seen>) {
        for cell in world.active.iter().flat_map(Clone::clone) {
            let (from, to) = (self.starts[cell as usize], self.starts[cell as usize + 1]);
            let first = seen.len();
            seen.extend((from..to).map(|at| (cell, at, self.items[0][at as usize])));
            seen[first..].sort_unstable_by_key(|seen| seen.2.id);
        }
    }
}

/// Sleepers in a sorted list, and the awake sorted alone.
struct Apart {
    sleepers: [Vec<(u32, Grain)>; 2],
    awake: [Vec<(u32, Grain)>; 2],
    starts: Vec<u32>,
    merging: f64,
}

const AWAKE: u32 = 1 << 31;

impl Apart {
    fn new(world: &World) -> Apart {
        let (awake, sleepers) = world.grains().into_iter().partition(|(_, grain)| grain.awake == 1);
        Apart { sleepers: [sleepers, vec![]], awake: [awake, vec![]], starts: vec![], merging: 0.0 }
    }

    /// Removes those that wake, and adds those that fall asleep.
    fn merge(&mut self, turns: &[Seen]) {
        let [from, to] = &mut self.sleepers;
        to.clear();
        let mut copied = 0;
        for (cell, at, grain) in turns {
            // Both kinds are in reading order.
            let end = if at & AWAKE == 0 {
                *at as usize
            } else {
                let rest = &from[copied..];
                copied + rest.partition_point(|(c, g)| (*c, g.id) < (*cell, grain.id))
            };
            to.extend_from_slice(&from[copied..end]);
            copied = end;
            if at & AWAKE == 0 {
                copied += 1;
            } else {
                to.push((*cell, turned(grain)));
            }
        }
        to.extend_from_slice(&from[copied..]);
        self.sleepers.swap(0, 1);
    }
}

impl Side for Apart {
    fn apply(&mut self, world: &World, changes: &Changes) {
        self.merging = if changes.turns.is_empty() { 0.0 } else { time(|| self.merge(&changes.turns)) };
        let awake = &mut self.awake[0];
        for ((_, at, _), to) in &changes.moves {
            awake[(at ^ AWAKE) as usize].0 = *to;
        }
        let asleep = changes.turns.iter().filter(|seen| seen.1 & AWAKE != 0);
        for (_, at, _) in changes.removes.iter().chain(asleep) {
            awake[(at ^ AWAKE) as usize].0 = u32::MAX;
        }
        let waking = changes.turns.iter().filter(|seen| seen.1 & AWAKE == 0);
        awake.extend(waking.map(|(cell, _, grain)| (*cell, turned(grain))));
        awake.extend_from_slice(&changes.inserts);
        awake.retain(|(cell, _)| *cell != u32::MAX);
        // A counting sort by active cell.
        let [from, to] = &mut self.awake;
        let index = |cell: u32| (world.rank[cell as usize / 256] * 256 + cell % 256) as usize;
        self.starts.clear();
        self.starts.resize(world.rank.iter().filter(|rank| **rank != u32::MAX).count() * 256, 0);
        from.iter().for_each(|(cell, _)| self.starts[index(*cell)] += 1);
        let mut sum = 0;
        for start in &mut self.starts {
            sum += core::mem::replace(start, sum);
        }
        to.resize(from.len(), from[0]);
        for item in from.iter() {
            let at = &mut self.starts[index(item.0)];
            to[*at as usize] = *item;
            *at += 1;
        }
        for group in to.chunk_by_mut(|a, b| a.0 == b.0) {
            group.sort_unstable_by_key(|(_, grain)| grain.id);
        }
        self.awake.swap(0, 1);
    }

    fn read(&mut self, world: &World, seen: &mut Vec<Seen>) {
        let part = |all: &[(u32, Grain)], range: &Range<u32>| {
            let [from, to] = [range.start, range.end].map(|end| all.partition_point(|item| item.0 < end));
            from..to
        };
        let (sleepers, awake) = (&self.sleepers[0], &self.awake[0]);
        for range in &world.active {
            let (a, b) = (part(sleepers, range), part(awake, range));
            let mut a = sleepers[a.clone()].iter().zip(a.start as u32..).peekable();
            for ((cell, grain), at) in awake[b.clone()].iter().zip(b.start as u32..) {
                while let Some(((c, g), at)) = a.next_if(|((c, g), _)| (*c, g.id) < (*cell, grain.id)) {
                    seen.push((*c, at, *g));
                }
                seen.push((*cell, at | AWAKE, *grain));
            }
            seen.extend(a.map(|((c, g), at)| (*c, at, *g)));
        }
    }

    fn merging(&self) -> f64 {
        self.merging
    }
}

/// Hashes a cell by a product.
#[derive(Default)]
struct CellHasher(u64);

impl Hasher for CellHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {}
    fn write_u32(&mut self, cell: u32) {
        let product = u64::from(cell).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }
}

/// A list of grains for each cell that is not empty.
struct HashGrid(HashMap<u32, Vec<Grain>, BuildHasherDefault<CellHasher>>);

impl HashGrid {
    fn new(world: &World) -> HashGrid {
        let mut grid = HashGrid(HashMap::default());
        world.grains().into_iter().for_each(|(cell, grain)| grid.insert(cell, grain));
        grid
    }

    fn insert(&mut self, cell: u32, grain: Grain) {
        self.0.entry(cell).or_default().push(grain);
    }

    fn remove(&mut self, (cell, _, grain): &Seen) {
        if let Some(list) = self.0.get_mut(cell) {
            list.retain(|g| g.id != grain.id);
        }
    }
}

impl Side for HashGrid {
    fn apply(&mut self, _: &World, changes: &Changes) {
        for (cell, _, grain) in &changes.turns {
            let list = self.0.get_mut(cell).into_iter().flatten();
            list.filter(|g| g.id == grain.id).for_each(|g| *g = turned(grain));
        }
        for (seen, to) in &changes.moves {
            self.remove(seen);
            self.insert(*to, seen.2);
        }
        changes.removes.iter().for_each(|seen| self.remove(seen));
        changes.inserts.iter().for_each(|(cell, grain)| self.insert(*cell, *grain));
    }

    fn read(&mut self, world: &World, seen: &mut Vec<Seen>) {
        for cell in world.active.iter().flat_map(Clone::clone) {
            let first = seen.len();
            seen.extend(self.0.get(&cell).into_iter().flatten().map(|grain| (cell, 0, *grain)));
            seen[first..].sort_unstable_by_key(|seen| seen.2.id);
        }
    }
}

/// A side with its grains of the active blocks, and its times.
struct Run {
    side: Box<dyn Side>,
    seen: Vec<Seen>,
    apply: Vec<f64>,
    read: Vec<f64>,
    merging: Vec<f64>,
}

impl Run {
    fn new(side: Box<dyn Side>, world: &World) -> Run {
        let mut run = Run { side, seen: vec![], apply: vec![], read: vec![], merging: vec![] };
        run.side.read(world, &mut run.seen);
        run
    }

    fn step(&mut self, world: &World, changes: &mut Changes, step: usize) {
        changes.choose(world, step, &self.seen);
        self.side.prepare(changes);
        let apply = time(|| self.side.apply(world, changes));
        self.seen.clear();
        let read = time(|| self.side.read(world, &mut self.seen));
        if !step.is_multiple_of(BURST) {
            self.apply.push(apply);
            self.read.push(read);
            self.merging.push(self.side.merging());
        }
    }

    /// Microseconds per step, and the part of it that is merging.
    fn times(&self) -> (f64, f64) {
        let sums = self.apply.iter().zip(&self.read).map(|(apply, read)| (apply + read) * 1e6);
        (median(sums), median(self.merging.iter().copied()) * 1e6)
    }
}

fn main() {
    // Built by `cargo test`, too, where it has nothing to do.
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    let asked = std::env::args().find_map(|a| a.strip_prefix("steps=")?.parse::<usize>().ok());
    let Some(level) = Level::of(Isa::Avx2) else {
        println!("needs AVX2");
        return;
    };
    let columns = [
        "grains",
        "awake",
        "change cells",
        "counting sort, us",
        "array, us",
        "its changes alone",
        "sort / array",
        "sort / awake apart",
        "the same, none turns",
        "sort / hash grid",
    ];
    let mut sheet = Sheet::new("Grains of sand by cell, 2 % of them awake: time per step", &columns);
    let mut least = f64::INFINITY;
    for n in [10_000, 100_000, 1_000_000] {
        let world = World::new(n);
        let sides: [Box<dyn Side>; 4] = [
            Box::new(Sorted::new(&world)),
            Box::new(Array::new(&world, level)),
            Box::new(Apart::new(&world)),
            Box::new(HashGrid::new(&world)),
        ];
        let mut runs = sides.map(|side| Run::new(side, &world));
        let mut changes = Changes::default();
        let bursts = asked.unwrap_or(20_000_000 / n).clamp(100, 1000) / BURST;
        let (mut moved, mut awake) = (0, 0);
        for burst in 0..bursts {
            for run in &mut runs {
                for step in 0..BURST {
                    run.step(&world, &mut changes, burst * BURST + step);
                }
            }
            moved += changes.moves.len();
            awake += runs[0].seen.iter().filter(|seen| seen.2.awake == 1).count();
            let grains = |run: &Run| run.seen.iter().map(|seen| (seen.0, seen.2)).collect::<Vec<_>>();
            let expected = grains(&runs[0]);
            assert!(runs.iter().all(|run| grains(run) == expected), "all sides read the same");
        }
        let [(sort, _), (array, _), (apart, merging), (grid, _)] = runs.each_ref().map(Run::times);
        if n == 1_000_000 {
            least = sort / array;
        }
        sheet.row([
            n.to_string(),
            format!("{:.1} %", 100.0 * awake as f64 / (bursts * n) as f64),
            format!("{:.2} %", 100.0 * moved as f64 / (bursts * n) as f64),
            format!("{sort:.0}"),
            format!("{array:.1}"),
            format!("{:.1}", median(runs[1].apply.iter().copied()) * 1e6),
            format!("{:.1}x", sort / array),
            format!("{:.1}x", sort / apart),
            format!("{:.1}x", sort / (apart - merging)),
            format!("{:.1}x", sort / grid),
        ]);
    }
    sheet.note("Awake apart: sleepers in a sorted list, which is merged when a grain falls asleep or wakes.");
    sheet.done();
    gate("1 M grains, 2 % awake, against a counting sort of all", least, 5.0, Some(20.0));
}
