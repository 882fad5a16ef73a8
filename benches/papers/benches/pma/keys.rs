//! Bare 64-bit keys: the paper's Table 1, Figure 3 and Table 2.

use super::rivals::{extract, isort, merge, qsort, radix};
use super::rows::{Sheet, gate, gate_at_most};
use super::{Asked, Rng, Table, simd};
use grainfield_filters::host::CurrentThread;
use grainfield_filters::simd::Level;
use grainfield_papers::pma::{Batch, Bounds, Pma};

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
        pma.apply(&batch, &CurrentThread).unwrap_or_else(|e| panic!("{e}"));
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
        table.time(OURS, || pma.apply(batch, &CurrentThread)).unwrap_or_else(|e| panic!("{e}"));
        // The last rival's result is the truth.
        self.sorted.copy_from_slice(&self.work);
        assert!(self.pma.iter().map(|(k, ())| k).eq(self.sorted.iter().copied()));
    }
}

/// The paper's Table 1: keys; qsort, insertion sort and packed memory array in ms; how much quicker than qsort.
const PAPER_1: [(usize, &str, &str, &str, &str); 3] = [
    (100_000, "13.4±0.06", "1247±5", "3.86±0.02", "3.5x"),
    (1_000_000, "169±0.6", "-", "38.9±0.06", "4.3x"),
    (10_000_000, "2088±8", "-", "372.2±0.5", "5.6x"),
];

pub(crate) fn table_1(asked: &Asked) {
    let mut sheet = Sheet::new(
        "Table 1: update times in ms, 5 % of the keys get new random keys",
        &[
            "keys",
            "qsort",
            "insertion sort",
            "PMA",
            "qsort / PMA",
            "paper: qsort",
            "isort",
            "PMA",
            "qsort / PMA",
        ],
    );
    sheet
        .note("Median ± standard deviation; the paper's are means of 32 passes on a Xeon E5520 of 2.27 GHz.");
    let mut tables = vec![];
    for (n, q, i, p, r) in PAPER_1.into_iter().filter(|row| asked.sizes().contains(&row.0)) {
        let table = time_1(asked, n);
        let ms = |name| format!("{:.3}±{:.3}", table.median(name) * 1e3, table.deviation(name) * 1e3);
        let isort = if n <= 100_000 { ms("insertion sort") } else { "-".to_owned() };
        let ratio = format!("{:.1}x", table.ratio("qsort (C library)", OURS));
        sheet.row([&n.to_string(), &ms("qsort (C library)"), &isort, &ms(OURS), &ratio, q, i, p, r]);
        tables.push((n, table));
    }
    sheet.done();
    for (n, table) in &tables {
        table.print(&format!("Table 1, all rivals, {n} keys"));
        if *n == 10_000_000 {
            let best = ["sort_unstable", "sort", "radix sort (rdst)", "AVX-512 sort"].into_iter();
            let best = best.filter(|b| simd::present() || *b != "AVX-512 sort").map(|b| table.ratio(b, OURS));
            let work = "keys, 10 M, 5 %, against ";
            gate(&format!("{work}qsort"), table.ratio("qsort (C library)", OURS), 24.0, Some(50.0));
            gate(&format!("{work}the best full sort"), best.fold(f64::INFINITY, f64::min), 4.5, Some(6.0));
            if simd::present() {
                let merge = table.ratio("extract + AVX-512 sort and merge", OURS);
                gate(&format!("{work}AVX-512 merge"), merge, 1.05, Some(1.5));
            }
        }
    }
}

fn time_1(asked: &Asked, n: usize) -> Table {
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
    table
}

pub(crate) fn figure_3(asked: &Asked) {
    let mut sheet = Sheet::new(
        "Figure 3: qsort's time over the PMA's, by share of keys that move",
        &["moves", "keys", "PMA, ms", "qsort / PMA", "paper", "rdst / PMA", "extract + merge / PMA"],
    );
    sheet.note("The paper gives 9x and 2x of the figure's curves in its text, and 5 % in its Table 1.");
    let mut worst = f64::INFINITY;
    for n in asked.sizes() {
        for percent in [1, 2, 5, 10, 20, 30, 40, 50] {
            let names = [OURS, "qsort (C library)", "radix sort (rdst)", "merge"];
            let mut table = Table::new(&names);
            let mut bench = Bench::new(n);
            let rounds = if n >= 10_000_000 && !asked.has("full") { 3 } else { asked.rounds(n).min(15) };
            for _ in 0..rounds {
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
            worst = worst.min(r.min(m));
            let paper = match (percent, n) {
                (1, 10_000_000) => "about 9x",
                (50, 10_000_000) => "2x",
                (5, 100_000) => "3.5x",
                (5, 1_000_000) => "4.3x",
                (5, 10_000_000) => "5.6x",
                _ => "-",
            };
            sheet.row([
                format!("{percent} %"),
                n.to_string(),
                format!("{:.3}", table.median(OURS) * 1e3),
                format!("{q:.1}x"),
                paper.to_owned(),
                format!("{r:.2}x"),
                format!("{m:.2}x"),
            ]);
        }
    }
    sheet.done();
    gate("keys, 1 to 50 %, the worst against the best rival", worst, 0.85, Some(0.95));
}

pub(crate) fn table_2(asked: &Asked) {
    let mut sheet = Sheet::new(
        "Table 2: summing all keys, ms",
        &["keys", "array", "PMA", "ratio", "density", "indirection list", "paper: array", "PMA", "ratio"],
    );
    let paper = [("0.21", "0.78", "3.7"), ("2.2", "8.3", "3.7"), ("22.3", "68.8", "3.1")];
    for (n, paper) in asked.sizes().into_iter().zip(paper) {
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
            let ours = table.time(OURS, || sum_blocks(pma));
            let listed = table.time("indirection list", || {
                list.iter().filter_map(|s| pma.get(*s)).fold(0, |sum: u64, (k, ())| sum.wrapping_add(k))
            });
            assert!(dense == ours && dense == listed);
        }
        let ratio = |name| table.ratio(name, "dense array");
        sheet.row([
            n.to_string(),
            format!("{:.3}", table.median("dense array") * 1e3),
            format!("{:.3}", table.median(OURS) * 1e3),
            format!("{:.2}", ratio(OURS)),
            format!("{:.2}", bench.pma.density()),
            format!("{:.2}", ratio("indirection list")),
            paper.0.to_owned(),
            paper.1.to_owned(),
            paper.2.to_owned(),
        ]);
        gate_at_most(&format!("scan of {n} keys over a dense array"), ratio(OURS), 1.3, Some(1.15));
    }
    sheet.note("The density follows from the paper's sizing: slots are a power of two, at most 70 % full.");
    sheet.done();
}

fn sum(keys: &[u64]) -> u64 {
    keys.iter().fold(0, |sum, k| sum.wrapping_add(*k))
}

/// Sums all keys in steps of eight, the last step of a segment under a mask.
fn sum_blocks(pma: &Pma<u64, ()>) -> u64 {
    const MASKS: [[u64; 8]; 8] = {
        let mut masks = [[0; 8]; 8];
        let mut n = 0;
        while n < 8 {
            let mut i = 0;
            while i < n {
                masks[n][i] = u64::MAX;
                i += 1;
            }
            n += 1;
        }
        masks
    };
    let mut sums = [0u64; 8];
    for (keys, _, n) in pma.blocks() {
        let eights = keys.as_chunks::<8>().0;
        for eight in &eights[..n / 8] {
            sums.iter_mut().zip(eight).for_each(|(s, k)| *s = s.wrapping_add(*k));
        }
        if let Some(eight) = eights.get(n / 8) {
            let mask = &MASKS[n % 8];
            sums.iter_mut().zip(eight).zip(mask).for_each(|((s, k), m)| *s = s.wrapping_add(k & m));
        }
    }
    sums.iter().fold(0, |sum, s| sum.wrapping_add(*s))
}
