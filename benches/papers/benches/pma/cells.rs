//! Particles of 32 bytes in cell order.

use super::rivals::qsort_pairs;
use super::rows::{Sheet, gate, gate_at_most};
use super::{Asked, Rng, Table};
use grainfield_filters::pma::{CellBatch, CellPma, CellSettings, Ranked};
use grainfield_filters::simd::Level;
use grainfield_papers::pma::CellIndex;

const OURS: &str = "packed memory array";
const COUNTING: &str = "counting sort";
const MERGING: &str = "extract + sort + merge";
const NAMES: [&str; 4] = [OURS, COUNTING, MERGING, "pairs, qsort, gather, copy"];
/// Steps that a side makes in a row.
const BURST: usize = 3;
/// Elements a cell holds on average.
const EACH: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
#[repr(C, align(32))]
struct Particle {
    id: u64,
    rest: [u64; 3],
}

impl Ranked for Particle {
    type Rank = u64;
    fn rank(&self) -> u64 {
        self.id
    }
}

/// Particles and their cells in dense arrays, in the order of the cells.
#[derive(Clone)]
struct Dense {
    cells: Vec<u32>,
    items: Vec<Particle>,
}

impl Dense {
    /// Reads all, as a step does before it sorts.
    fn read(&self) {
        let sum = self.cells.iter().zip(&self.items).fold(0, |sum, (c, p)| sum ^ u64::from(*c) ^ p.id);
        std::hint::black_box(sum);
    }
}

/// A rival: particles in dense arrays in the order of their cells, a second pair of arrays, and room.
struct Rival {
    now: Dense,
    next: Dense,
    /// Places that change their cells in this step, and the new cells.
    moves: Vec<(usize, u32)>,
    counts: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    movers: Vec<(u32, Particle)>,
}

/// Which particles move in a step, and where to: every side is asked to do the same.
#[derive(Clone, Copy)]
struct Movers {
    share: f64,
    near: bool,
    cells: u32,
    step: u64,
}

impl Movers {
    fn goal(&self, id: u64, cell: u32) -> Option<u32> {
        let x = Rng(id ^ self.step << 40).next();
        if self.share < 1.0 && x >= (self.share * u64::MAX as f64) as u64 {
            return None;
        }
        let cells = self.cells;
        Some(if self.near {
            // One of the six neighbours of a grid of 64 x 64 x n.
            let step = [1, cells - 1, 64, cells - 64, 4096 % cells, cells - 4096 % cells][(x % 6) as usize];
            (cell + step) % cells
        } else {
            (Rng(x).next() % u64::from(cells)) as u32
        })
    }
}

impl Rival {
    fn new(dense: &Dense) -> Rival {
        let (moves, counts, pairs, movers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Rival { now: dense.clone(), next: dense.clone(), moves, counts, pairs, movers }
    }

    fn choose(&mut self, movers: Movers) {
        self.moves.clear();
        let all = self.now.cells.iter().zip(&self.now.items).enumerate();
        self.moves.extend(all.filter_map(|(i, (cell, p))| movers.goal(p.id, *cell).map(|to| (i, to))));
        // Evicts the caches as a step does, which reads all data before it sorts; the choice has read them,
        // too, but has also written.
        self.now.read();
    }

    /// Histogram, sums, and every particle to its new place.
    fn counting(&mut self, cells: u32) {
        let Rival { now: from, next: to, moves, counts, .. } = self;
        for (at, cell) in moves.iter() {
            from.cells[*at] = *cell;
        }
        counts.clear();
        counts.resize(cells as usize, 0);
        for cell in &from.cells {
            counts[*cell as usize] += 1;
        }
        let mut sum = 0;
        for c in counts.iter_mut() {
            sum += core::mem::replace(c, sum);
        }
        for (cell, item) in from.cells.iter().zip(&from.items) {
            let at = &mut counts[*cell as usize];
            to.cells[*at as usize] = *cell;
            to.items[*at as usize] = *item;
            *at += 1;
        }
        core::mem::swap(from, to);
    }

    /// Takes the movers out, sorts them, and merges them with those that stay.
    fn merging(&mut self) {
        let Rival { now: from, next: to, moves, movers, .. } = self;
        movers.clear();
        movers.extend(moves.iter().map(|(at, cell)| (*cell, from.items[*at])));
        movers.sort_unstable_by_key(|m| m.0);
        let (mut next, mut out) = (0, 0);
        let mut gone = moves.iter().map(|m| m.0).peekable();
        for (i, (cell, item)) in from.cells.iter().zip(&from.items).enumerate() {
            if gone.next_if_eq(&i).is_some() {
                continue;
            }
            while next < movers.len() && movers[next].0 < *cell {
                (to.cells[out], to.items[out]) = movers[next];
                out += 1;
                next += 1;
            }
            to.cells[out] = *cell;
            to.items[out] = *item;
            out += 1;
        }
        for m in &movers[next..] {
            (to.cells[out], to.items[out]) = *m;
            out += 1;
        }
        core::mem::swap(from, to);
    }

    /// The paper's reference: pairs, qsort of the pairs, gather, copy back.
    fn reference(&mut self) {
        let Rival { now: old, next: spare, moves, pairs, .. } = self;
        for (at, cell) in moves.iter() {
            old.cells[*at] = *cell;
        }
        pairs.clear();
        pairs.extend(old.cells.iter().zip(0u32..).map(|(c, i)| (*c, i)));
        qsort_pairs(pairs);
        for (to, (cell, i)) in spare.items.iter_mut().zip(spare.cells.iter_mut()).zip(pairs.iter()) {
            *to.0 = old.items[*i as usize];
            *to.1 = *cell;
        }
        old.items.copy_from_slice(&spare.items);
        old.cells.copy_from_slice(&spare.cells);
    }
}

struct Bench {
    pma: CellPma<Particle>,
    cells: u32,
    batch: CellBatch<Particle>,
    rivals: [Rival; 3],
    step: u64,
}

impl Bench {
    fn new(n: usize, fill: f64) -> Bench {
        let cells = (n / EACH) as u32;
        let mut rng = Rng(7);
        let mut batch = CellBatch::default();
        for id in 0..n as u64 {
            let cell = (rng.next() % u64::from(cells)) as u32;
            batch.inserts.push((cell, Particle { id, rest: [id, 1, 2] }));
        }
        let settings = CellSettings { fill, ..CellSettings::default() };
        let mut pma = CellPma::new(cells, settings, Level::best()).unwrap_or_else(|e| panic!("{e}"));
        pma.apply(&batch).unwrap_or_else(|e| panic!("{e}"));
        batch.inserts.sort_unstable();
        let dense = Dense {
            cells: batch.inserts.iter().map(|i| i.0).collect(),
            items: batch.inserts.iter().map(|i| i.1).collect(),
        };
        let rivals = [0; 3].map(|_| Rival::new(&dense));
        Bench { pma, cells, batch: CellBatch::default(), rivals, step: 0 }
    }

    /// Every side makes the same [`BURST`] steps, one side after the other, and the first of a side does not count. So
    /// each finds the memory it works on as it left it in the step before, as in a program that sorts in one way: with
    /// sides that take turns step by step, what was measured at 100,000 was whose second buffer had been written last.
    fn burst(&mut self, share: f64, near: bool, table: &mut Table) {
        let cells = self.cells;
        let movers = |step: usize| Movers { share, near, cells, step: self.step + step as u64 };
        let mut unused = Table::new(&NAMES);
        for step in 0..BURST {
            let table = if step == 0 { &mut unused } else { &mut *table };
            let movers = movers(step);
            self.batch.clear();
            let moves = &mut self.batch.moves;
            self.pma.for_each(|slot, cell, p| moves.extend(movers.goal(p.id, cell).map(|to| (slot, to))));
            let mut sum = 0;
            self.pma.for_each(|_, cell, p| sum ^= u64::from(cell) ^ p.id);
            std::hint::black_box(sum);
            let (pma, batch) = (&mut self.pma, &self.batch);
            table.time(OURS, || pma.apply(batch)).unwrap_or_else(|e| panic!("{e}"));
        }
        for (rival, name) in self.rivals.iter_mut().zip(&NAMES[1..]) {
            for step in 0..BURST {
                let table = if step == 0 { &mut unused } else { &mut *table };
                rival.choose(movers(step));
                table.time(name, || match *name {
                    COUNTING => rival.counting(cells),
                    MERGING => rival.merging(),
                    _ => rival.reference(),
                });
                assert!(rival.now.cells.is_sorted());
            }
        }
        self.step += BURST as u64;
    }

    /// All hold the same particles in the same cells.
    fn compare(&self) {
        let mut ours = Vec::new();
        self.pma.read(0..self.cells, |cell, _, p| ours.push((cell, *p)));
        for rival in &self.rivals {
            let mut dense: Vec<_> =
                rival.now.cells.iter().copied().zip(rival.now.items.iter().copied()).collect();
            dense.sort_unstable();
            assert!(ours == dense);
        }
    }
}

pub(crate) fn rates(asked: &Asked) {
    let mut sheet = Sheet::new(
        format!("32-byte particles in cell order, {EACH} a cell: rivals' times over the PMA's"),
        &["particles", "to", "moves", "PMA, ms", COUNTING, MERGING, "reference"],
    );
    sheet.note(
        "Each side makes its steps in bursts of three, the first untimed; medians of same-step ratios.",
    );
    sheet.note("The reference is the paper's: pairs, qsort of the pairs, gather, copy back.");
    let sizes =
        if asked.has("full") { vec![100_000, 1_000_000, 4_000_000] } else { vec![100_000, 1_000_000] };
    let (mut worst, mut small, mut least) = (f64::INFINITY, f64::INFINITY, [f64::INFINITY; 4]);
    for n in sizes {
        for near in [true, false] {
            for percent in [0.5, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0] {
                let differs = |name: &str, value: f64| asked.number(name).is_some_and(|v| v != value);
                if differs("percent", percent) || differs("n", n as f64) {
                    continue;
                }
                let mut table = Table::new(&NAMES);
                let mut bench = Bench::new(n, CellSettings::default().fill);
                bench.burst(percent / 100.0, near, &mut Table::new(&NAMES));
                for _ in 0..asked.rounds(n).min(15) {
                    bench.burst(percent / 100.0, near, &mut table);
                }
                bench.compare();
                let [c, m, r] = [NAMES[1], NAMES[2], NAMES[3]].map(|x| table.ratio(x, OURS));
                if n >= 1_000_000 {
                    worst = worst.min(c.min(m).min(r));
                } else {
                    small = small.min(c.min(m).min(r));
                }
                if n == 1_000_000 && percent == 0.5 {
                    least[0] = least[0].min(c);
                }
                if n == 1_000_000 && percent == 5.0 {
                    for (least, now) in least[1..].iter_mut().zip([r, c, m]) {
                        *least = least.min(now);
                    }
                }
                sheet.row([
                    n.to_string(),
                    if near { "near by" } else { "anywhere" }.to_owned(),
                    format!("{percent} %"),
                    format!("{:.3}", table.median(OURS) * 1e3),
                    format!("{c:.2}x"),
                    format!("{m:.2}x"),
                    format!("{r:.2}x"),
                ]);
            }
        }
    }
    sheet.done();
    let work = "32-byte particles, 1 M,";
    gate(&format!("{work} 5 % against the paper's reference"), least[1], 30.0, Some(50.0));
    gate(&format!("{work} 5 % against counting sort"), least[2], 5.0, Some(8.0));
    gate(&format!("{work} 5 % against extract + merge"), least[3], 3.0, Some(5.0));
    gate(&format!("{work} 0.5 % against counting sort"), least[0], 21.0, Some(40.0));
    gate(&format!("{work} any rate, the worst against the best rival"), worst, 0.85, Some(0.95));
    gate("32-byte particles, 100 k, any rate, the worst against the best rival", small, 0.85, Some(0.95));
}

pub(crate) fn scan(asked: &Asked) {
    for n in [100_000, 1_000_000] {
        let mut bench = Bench::new(n, CellSettings::default().fill);
        let mut table = Table::new(&["dense array", "in slot order", "in order", "index"]);
        for _ in 0..3 {
            bench.burst(0.05, true, &mut Table::new(&NAMES));
        }
        let mut index = CellIndex::default();
        for _ in 0..asked.rounds(n).max(15) {
            let (pma, dense) = (std::hint::black_box(&bench.pma), std::hint::black_box(&bench.rivals[0].now));
            let mix = |sum: u64, cell: u32, p: &Particle| sum.wrapping_add(u64::from(cell) ^ p.rest[0]);
            let right = table.time("dense array", || {
                dense.cells.iter().zip(&dense.items).fold(0, |sum, (c, p)| mix(sum, *c, p))
            });
            let slots = table.time("in slot order", || {
                let mut sum = 0;
                pma.for_each(|_, cell, p| sum = mix(sum, cell, p));
                sum
            });
            let order = table.time("in order", || {
                let mut sum = 0;
                pma.read(0..pma.cells(), |cell, _, p| sum = mix(sum, cell, p));
                sum
            });
            table.time("index", || index.fill(pma));
            assert!(slots == right && order == right);
        }
        table.print(&format!(
            "Going through {n} particles of 32 bytes, density {:.2}: our time over a dense array's",
            bench.pma.len() as f64 / bench.pma.slots() as f64
        ));
        let tax = table.ratio("in slot order", "dense array");
        gate_at_most(&format!("scan of {n} particles over a dense array"), tax, 1.3, Some(1.15));
    }
}
