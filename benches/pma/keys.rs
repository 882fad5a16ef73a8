//! Bare 64-bit keys: the paper's Table 1, Figure 3 and Table 2.

use super::rivals::{extract, isort, merge, qsort, radix};
use super::{Asked, Rng, Table, simd};
use grainfield_filters::lend::Alone;
use grainfield_filters::pma::{Batch, Bounds, Pma, SEGMENT};
use grainfield_filters::simd::Level;

const OURS: &str = "packed memory array";

struct Bench {
    pma: Pma<u64, ()>,
    /// The same keys, dense.
    sorted: Vec<u64>,
    rng: Rng,
    batch: Batch<u64, ()>,
    moves: Vec<(usize, u64)>,
    work: Vec<u64>,
    movers: Vec<u64>,
    room: Vec<u64>,
    out: Vec<u64>,
}

impl Bench {
    fn new(n: usize) -> Bench {
        let mut rng = Rng(n as u64);
        let mut sorted: Vec<u64> = (0..n).map(|_| rng.next()).collect();
        let mut batch = Batch::default();
        batch.inserts.extend(sorted.iter().map(|k| (*k, ())));
        let mut pma = Pma::new(Bounds::default(), Level::best()).unwrap_or_else(|e| panic!("{e}"));
        pma.apply(&batch, &Alone).unwrap_or_else(|e| panic!("{e}"));
        sorted.sort_unstable();
        let work = vec![0; n];
        Bench {
            pma,
            sorted,
            rng,
            batch,
            moves: Vec::new(),
            work,
            movers: Vec::new(),
            room: vec![0; n + 8],
            out: vec![0; n],
        }
    }

    /// Chooses keys to move, and their new values.
    fn choose(&mut self, share: f64) {
        self.moves.clear();
        let chosen = self.rng.some(self.sorted.len(), share);
        self.moves.extend(chosen.into_iter().map(|i| (i, self.rng.next())));
        self.batch.clear();
        let mut next = self.moves.iter().peekable();
        for (i, slot) in self.pma.held_slots().enumerate() {
            if let Some((_, key)) = next.next_if(|m| m.0 == i) {
                self.batch.moves.push((slot, *key));
            }
        }
    }

    fn rival(&mut self, table: &mut Table, name: &'static str, sort: impl FnOnce(&mut [u64], &mut Vec<u64>)) {
        self.work.copy_from_slice(&self.sorted);
        let (work, moves, room) = (&mut self.work, &self.moves, &mut self.room);
        table.time(name, || {
            for (at, key) in moves {
                work[*at] = *key;
            }
            sort(work, room);
        });
        assert!(self.work.is_sorted(), "{name}");
    }

    fn merging(
        &mut self,
        table: &mut Table,
        name: &'static str,
        sort: impl FnOnce(&mut [u64], &mut Vec<u64>),
        merge: impl FnOnce(&[u64], &[u64], &mut [u64]),
    ) {
        self.work.copy_from_slice(&self.sorted);
        self.out.resize(self.work.len(), 0);
        let out = &mut self.out;
        let (work, moves, movers, room) = (&mut self.work, &self.moves, &mut self.movers, &mut self.room);
        table.time(name, || {
            let kept = extract(work, moves, movers);
            sort(movers, room);
            merge(&work[..kept], movers, out);
        });
        assert!(out.is_sorted(), "{name}");
    }

    fn ours(&mut self, table: &mut Table) {
        let (pma, batch) = (&mut self.pma, &self.batch);
        table.time(OURS, || pma.apply(batch, &Alone)).unwrap_or_else(|e| panic!("{e}"));
        // The last rival's result is the truth.
        self.sorted.copy_from_slice(&self.work);
        assert!(self.pma.iter().map(|(k, ())| k).eq(self.sorted.iter().copied()));
    }
}

pub(crate) fn table_1(asked: &Asked) {
    println!("Table 1: 5 % of the keys get new random keys (the paper: 3.5x, 4.3x, 5.6x against qsort)");
    for n in asked.sizes() {
        let mut names = vec![OURS, "qsort (C library)"];
        if n <= 100_000 {
            names.push("insertion sort");
        }
        names.extend(["sort_unstable", "sort", "radix sort (rdst)", "extract + sort + merge"]);
        if simd::present() {
            names.extend(["AVX-512 sort", "extract + AVX-512 sort and merge"]);
        }
        let mut table = Table::new(&names);
        let mut bench = Bench::new(n);
        for _ in 0..asked.rounds(n) {
            bench.choose(0.05);
            bench.rival(&mut table, "qsort (C library)", |k, _| qsort(k));
            if n <= 100_000 {
                bench.rival(&mut table, "insertion sort", |k, _| isort(k));
            }
            bench.rival(&mut table, "sort", |k, _| k.sort());
            bench.rival(&mut table, "radix sort (rdst)", |k, _| radix(k));
            bench.merging(&mut table, "extract + sort + merge", |k, _| radix(k), merge);
            if simd::present() {
                bench.rival(&mut table, "AVX-512 sort", simd::sort);
                bench.merging(&mut table, "extract + AVX-512 sort and merge", simd::sort, simd::merge);
            }
            bench.rival(&mut table, "sort_unstable", |k, _| k.sort_unstable());
            bench.ours(&mut table);
        }
        table.print(&format!("{n} keys, density {:.2}", bench.pma.density()));
    }
}

pub(crate) fn figure_3(asked: &Asked) {
    println!("Figure 3: rivals' times over ours, by share of keys that move");
    println!("  {:>9} {:>6} {:>9} {:>8} {:>9} {:>9}", "keys", "moves", "ours ms", "qsort", "rdst", "merge");
    for n in asked.sizes() {
        for percent in [1, 2, 5, 10, 20, 30, 40, 50] {
            let names = [OURS, "qsort (C library)", "radix sort (rdst)", "merge"];
            let mut table = Table::new(&names);
            let mut bench = Bench::new(n);
            for _ in 0..asked.rounds(n).min(15) {
                bench.choose(f64::from(percent) / 100.0);
                bench.rival(&mut table, "qsort (C library)", |k, _| qsort(k));
                if simd::present() {
                    bench.merging(&mut table, "merge", simd::sort, simd::merge);
                } else {
                    bench.merging(&mut table, "merge", |k, _| radix(k), merge);
                }
                bench.rival(&mut table, "radix sort (rdst)", |k, _| radix(k));
                bench.ours(&mut table);
            }
            let [q, r, m] = ["qsort (C library)", "radix sort (rdst)", "merge"].map(|x| table.ratio(x, OURS));
            println!(
                "  {n:>9} {percent:>5}% {:>9.3} {q:>7.2}x {r:>8.2}x {m:>8.2}x",
                table.median(OURS) * 1e3
            );
        }
    }
}

pub(crate) fn table_2(asked: &Asked) {
    println!("Table 2: summing all keys (the paper: 3.7, 3.7, 3.1 times a dense array's time)");
    for n in asked.sizes() {
        let mut table = Table::new(&["dense array", OURS, "indirection list"]);
        let mut bench = Bench::new(n);
        bench.choose(0.05);
        bench.rival(&mut Table::new(&["sort"]), "sort", |k, _| k.sort_unstable());
        bench.ours(&mut Table::new(&[OURS]));
        let mut list = Vec::new();
        bench.pma.indirection(&mut list);
        for _ in 0..asked.rounds(n).max(31) {
            let dense = table.time("dense array", || sum(std::hint::black_box(&bench.sorted)));
            let pma = std::hint::black_box(&bench.pma);
            let ours = table.time(OURS, || {
                pma.blocks().map(|(keys, _, n)| sum_block(keys, n)).fold(0, u64::wrapping_add)
            });
            let listed = table.time("indirection list", || {
                list.iter().filter_map(|s| pma.get(*s)).fold(0, |sum: u64, (k, ())| sum.wrapping_add(k))
            });
            assert!(dense == ours && dense == listed);
        }
        table.print(&format!("{n} keys, density {:.2}", bench.pma.density()));
    }
}

fn sum(keys: &[u64]) -> u64 {
    keys.iter().fold(0, |sum, k| sum.wrapping_add(*k))
}

/// Sums the first keys of a segment in steps of eight, the last one with a mask.
fn sum_block(keys: &[u64; SEGMENT], n: usize) -> u64 {
    let mut sums = [0u64; 8];
    let eights = keys.as_chunks::<8>().0;
    for eight in &eights[..n / 8] {
        for (s, k) in sums.iter_mut().zip(eight) {
            *s = s.wrapping_add(*k);
        }
    }
    if let Some(eight) = eights.get(n / 8) {
        for (i, (s, k)) in sums.iter_mut().zip(eight).enumerate() {
            *s = s.wrapping_add(if i < n % 8 { *k } else { 0 });
        }
    }
    sums.iter().fold(0, |sum, s| sum.wrapping_add(*s))
}
