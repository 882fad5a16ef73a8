//! Comparisons with a sorted list over long random histories.

use super::*;
use crate::pma::InvariantError;
use crate::pma::total::tests::{Rng, Threads};
use grainfield_filters::host::{CurrentThread, Executor};
use std::sync::atomic::{AtomicUsize, Ordering};

fn empty(cells: u32) -> CellPma<u32> {
    CellPma::new(cells, CellSettings::default(), Level::best()).unwrap()
}

fn read(pma: &CellPma<u32>) -> Vec<(u32, u32)> {
    let mut all = Vec::with_capacity(pma.len());
    pma.for_each_in_order(|cell, _, p| all.push((cell, *p)));
    all
}

fn assert_is(pma: &CellPma<u32>, model: &[(u32, u32)], seed: u64) {
    if let Err(fault) = pma.check() {
        panic!("seed {seed}: {fault}");
    }
    assert!(read(pma) == model, "seed {seed}: other elements");
}

/// Cells of several kinds: spread, few, one, clustered, at the ends.
fn cell(rng: &mut Rng, kind: u64, cells: u32) -> u32 {
    let x = rng.next();
    (match kind % 6 {
        0 | 1 => x % u64::from(cells),
        2 => x % 3 * 700,
        3 => u64::from(cells) - 1,
        4 => (x % 40) * (x >> 32) % 1024,
        _ => [0, u64::from(cells) - 1][(x % 2) as usize],
    } as u32)
        .min(cells - 1)
}

fn random_batch(
    rng: &mut Rng,
    pma: &mut CellPma<u32>,
    model: &mut Vec<(u32, u32)>,
    (moving, leaving, coming): (usize, usize, usize),
    executor: &dyn Executor,
    next_rank: &mut u32,
) -> usize {
    let (kind, cells) = (rng.next(), pma.cells());
    let mut batch = CellBatch::default();
    let mut kept = Vec::with_capacity(model.len());
    pma.for_each(|slot, at, &rank| {
        let x = rng.below(256);
        if x < moving {
            let to = cell(rng, kind, cells);
            batch.moves.push((slot, to));
            kept.push((to, rank));
        } else if x < moving + leaving {
            batch.removes.push(slot);
        } else {
            kept.push((at, rank));
        }
    });
    for _ in 0..coming {
        let item = (cell(rng, kind, cells), *next_rank);
        *next_rank += 1;
        batch.inserts.push(item);
        kept.push(item);
    }
    if kind & 64 != 0 {
        batch.moves.reverse();
    }
    kept.sort_unstable();
    *model = kept;
    pma.apply(&batch, executor).unwrap();
    batch.len()
}

#[test]
fn batches_agree_with_a_sorted_list() {
    let mut changes = 0;
    for seed in 0..60 {
        let mut rng = Rng(seed);
        let cells = [1, 3, 200, 5000, 100_000][rng.below(5)];
        let (mut pma, mut model, mut rank) = (empty(cells), Vec::new(), 0);
        let size = [5, 300, 3000, 30_000][rng.below(4)];
        for _ in 0..30 {
            let rates = match rng.below(7) {
                0 => (0, 0, size),
                1 => (250, 0, 0),
                2 => (3, 200, 1),
                3 => (0, 256, 0),
                4 => (1, 1, size / 50),
                5 => (40, 0, 0),
                _ => (13, 20, size / 10),
            };
            changes += random_batch(&mut rng, &mut pma, &mut model, rates, &CurrentThread, &mut rank);
            assert_is(&pma, &model, seed);
        }
    }
    assert!(changes > 1_000_000, "only {changes} changes");
}

#[test]
fn single_changes_agree_with_a_sorted_list() {
    singles(0..12);
}

#[test]
#[ignore = "two million changes: ./x soak"]
fn millions_of_single_changes_agree_with_a_sorted_list() {
    singles(1000..1340);
}

/// 6,000 single changes for each seed. Bounds and order are checked after each change while there are few elements,
/// otherwise after every 32nd.
fn singles(seeds: core::ops::Range<u64>) {
    for seed in seeds {
        let mut rng = Rng(seed);
        let cells = [1, 40, 3000][rng.below(3)];
        let (mut pma, mut model) = (empty(cells), Vec::<(u32, u32)>::new());
        let mut list = Vec::new();
        for step in 0..6000u32 {
            let growing = (step / 1500) % 2 == 0;
            if rng.below(10) < if growing { 8 } else { 2 } || model.is_empty() {
                let item = (cell(&mut rng, seed, cells), step.wrapping_mul(0x9e37_79b1));
                model.insert(model.partition_point(|m| *m < item), item);
                pma.insert(item.0, item.1).unwrap();
            } else {
                let item = model.remove(rng.below(model.len()));
                pma.cell(item.0, &mut list);
                let slot = list.iter().copied().find(|s| *pma.at(*s) == item.1).unwrap();
                assert_eq!(pma.get(slot), Some((item.0, &item.1)));
                assert_eq!(pma.remove(slot), Some(item));
            }
            if step % 32 == 0 || model.len() <= 100 {
                assert_is(&pma, &model, seed);
            }
            let probe = cell(&mut rng, seed, cells);
            pma.cell(probe, &mut list);
            let (from, to) =
                (model.partition_point(|m| m.0 < probe), model.partition_point(|m| m.0 <= probe));
            assert!(
                list.iter().map(|s| (probe, *pma.at(*s))).eq(model[from..to].iter().copied()),
                "seed {seed}"
            );
        }
    }
}

#[test]
fn everything_in_one_cell_and_out_again() {
    let mut pma = empty(1000);
    let mut batch = CellBatch::default();
    batch.inserts.extend((0..100_000u32).map(|i| (i % 1000, i.wrapping_mul(0x9e37_79b1))));
    pma.apply(&batch, &CurrentThread).unwrap();
    let everything = read(&pma);
    // In small steps, so that the run grows by rebalancing, then all the rest.
    for step in 0..60 {
        batch.clear();
        pma.for_each(|slot, cell, rank| {
            if cell != 500 && (rank % 50 == step || step == 59) {
                batch.moves.push((slot, 500));
            }
        });
        pma.apply(&batch, &CurrentThread).unwrap();
        pma.check().unwrap();
    }
    let mut list = Vec::new();
    pma.cell(500, &mut list);
    assert_eq!(list.len(), 100_000);
    assert!(list.is_sorted_by_key(|s| *pma.at(*s)));
    // And back, by the inverse of the ranks' multiplier.
    let inverse = (0..5).fold(1u32, |x, _| x.wrapping_mul(2u32.wrapping_sub(x.wrapping_mul(0x9e37_79b1))));
    for step in 0..40 {
        pma.update(&[], &CurrentThread, |rank, _| {
            if *rank % 40 == step {
                UpdateAction::Move(rank.wrapping_mul(inverse) % 1000)
            } else {
                UpdateAction::Stay
            }
        })
        .unwrap();
        pma.check().unwrap();
    }
    assert!(read(&pma) == everything);
}

#[test]
fn the_order_read_does_not_depend_on_the_history() {
    let mut rng = Rng(11);
    let (mut pma, mut model, mut rank) = (empty(4000), Vec::new(), 0);
    for _ in 0..40 {
        random_batch(&mut rng, &mut pma, &mut model, (20, 3, 900), &CurrentThread, &mut rank);
    }
    let mut fresh = empty(4000);
    let mut shuffled = model.clone();
    (0..shuffled.len()).for_each(|i| shuffled.swap(i, rng.below(i + 1)));
    fresh.apply(&CellBatch { inserts: shuffled, ..CellBatch::default() }, &CurrentThread).unwrap();
    assert!(read(&fresh) == read(&pma));
    let (mut a, mut b) = (CellIndex::default(), CellIndex::default());
    fresh.index(&mut a);
    pma.index(&mut b);
    assert_eq!(a.cells, b.cells);
    assert!(a.slots.iter().map(|s| fresh.at(*s)).eq(b.slots.iter().map(|s| pma.at(*s))));
}

#[test]
fn batches_and_updates_are_the_same_on_any_number_of_threads() {
    for seed in 0..6 {
        let run = |executor: &dyn Executor| {
            let mut rng = Rng(seed);
            let (mut pma, mut model, mut rank) = (empty(3000), Vec::new(), 0);
            for i in 0..10 {
                let rates = if i == 0 { (0, 0, 60_000) } else { (1 << (i % 8), 3, 800) };
                random_batch(&mut rng, &mut pma, &mut model, rates, executor, &mut rank);
                assert_is(&pma, &model, seed);
                let births = [(7, u32::MAX - i), (2999, u32::MAX - 100 - i)];
                pma.update(&births, executor, |rank, cell| {
                    match (*rank ^ i).wrapping_mul(0x9e37_79b1) >> 24 {
                        0..20 => UpdateAction::Move((cell + 1) % 3000),
                        20..24 => UpdateAction::Move(5),
                        24 => UpdateAction::Gone,
                        _ => UpdateAction::Stay,
                    }
                })
                .unwrap();
                pma.check().unwrap();
                model = read(&pma);
            }
            let mut held = Vec::new();
            pma.for_each(|slot, cell, p| held.push((slot, cell, *p)));
            (held, pma.heads.clone(), pma.moves)
        };
        let alone = run(&CurrentThread);
        for n in [2, 3, 8] {
            assert!(run(&Threads(n)) == alone, "seed {seed}, {n} threads");
        }
    }
}

/// Threads that count their calls.
struct Counted(Threads, AtomicUsize);

impl Executor for Counted {
    fn execute(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.execute(count, task);
    }
    fn width(&self) -> usize {
        self.0.width()
    }
}

#[test]
fn settling_and_rebuilding_are_the_same_on_any_number_of_threads() {
    // Enough moves to overflow segments, but not to rebuild; then enough to rebuild, and a crowd in few cells.
    let run = |threads: usize| {
        let executor = Counted(Threads(threads), AtomicUsize::new(0));
        let (mut rng, mut pma) = (Rng(3), empty(6000));
        let mut batch = CellBatch::default();
        batch.inserts.extend((0..100_000).map(|i| (rng.below(6000) as u32, i)));
        pma.apply(&batch, &executor).unwrap();
        let mut states = vec![];
        let mut asked = vec![executor.1.swap(0, Ordering::Relaxed)];
        for (share, cells, rounds) in [(30, 6000, 12), (140, 6000, 2), (30, 40, 4), (60, 6000, 6)] {
            for _ in 0..rounds {
                batch.clear();
                pma.for_each(|slot, _, _| {
                    if rng.below(256) < share {
                        batch.moves.push((slot, rng.below(cells) as u32));
                    }
                });
                pma.apply(&batch, &executor).unwrap();
                pma.check().unwrap();
            }
            let mut held = vec![];
            pma.for_each(|slot, cell, p| held.push((slot, cell, *p)));
            states.push((held, pma.heads.clone(), pma.moves));
            asked.push(executor.1.swap(0, Ordering::Relaxed));
        }
        (states, asked)
    };
    let (alone, _) = run(1);
    for threads in [2, 8] {
        let (states, asked) = run(threads);
        assert!(states == alone, "{threads} threads");
        // Counting and filling, once and for two batches; placing in each of four, and also rebalancing or building.
        assert!(asked[0] == 2 && asked[2] == 4 && asked[3] > 4, "{asked:?}");
    }
}

#[test]
fn inserting_at_one_point_keeps_to_its_bound() {
    for n in [1u32 << 11, 1 << 13, 1 << 15] {
        let (log, levels) = (f64::from(n).log2(), f64::from(n / 256).log2());
        type Where = fn(u32, u32) -> u32;
        let adverse = 50.0 + 5.0 * levels * levels;
        let places: [(&str, Where, f64); 5] = [
            ("one cell", |_, _| 77, 2.0 * log),
            ("front", |i, n| 2 * n - 1 - i, adverse),
            ("back", |i, _| i, adverse),
            ("middle", |i, n| if i % 2 == 0 { i / 2 } else { n - i / 2 }, adverse),
            ("random", |i, n| Rng(u64::from(i)).next() as u32 % (2 * n), 5.0 * log),
        ];
        for (name, place, most) in places {
            let mut pma = empty(2 * n);
            for i in 0..n {
                pma.insert(place(i, n), i).unwrap();
            }
            pma.check().unwrap();
            let moves = pma.element_moves() as f64 / f64::from(n);
            assert!(moves < most, "{name}: {moves} moves at n = {n}, over {most}");
        }
    }
}

#[test]
fn refused_changes_change_nothing() {
    let mut pma = empty(100);
    (0..1000).for_each(|i| pma.insert(i % 100, i).unwrap());
    let before = read(&pma);
    let mut list = Vec::new();
    pma.cell(5, &mut list);
    let (a, b) = (list[0], list[1]);
    for batch in [
        CellBatch { moves: vec![(a, 5), (a, 6)], ..CellBatch::default() },
        CellBatch { moves: vec![(a, 100)], ..CellBatch::default() },
        CellBatch { inserts: vec![(u32::MAX, 1)], ..CellBatch::default() },
        CellBatch { moves: vec![(a, 5)], removes: vec![b, a], ..CellBatch::default() },
        CellBatch { removes: vec![b, u32::MAX], ..CellBatch::default() },
    ] {
        assert!(pma.apply(&batch, &CurrentThread).is_err());
        assert_is(&pma, &before, 0);
    }
    assert_eq!(pma.insert(100, 1), Err(PmaError::Cell { cell: 100, cells: 100 }));
    let moved = pma.update(&[(100, 7)], &CurrentThread, |_, _| UpdateAction::Move(100));
    assert_eq!(moved, Err(PmaError::Cell { cell: 100, cells: 100 }));
    assert_is(&pma, &before, 0);
    assert!(CellPma::<u32>::new(u32::MAX, CellSettings::default(), Level::SCALAR).is_err());
    let wrong = CellSettings { fill: 0.95, ..CellSettings::default() };
    assert!(CellPma::<u32>::new(1, wrong, Level::SCALAR).unwrap_err().to_string().contains("fill"));
}

#[test]
fn empty_arrays_answer() {
    let mut pma = empty(0);
    assert!(pma.insert(0, 1).is_err());
    pma.apply(&CellBatch::default(), &CurrentThread).unwrap();
    pma.update(&[], &CurrentThread, |_, _| UpdateAction::Gone).unwrap();
    pma.check().unwrap();
    let mut pma = empty(10);
    pma.apply(&CellBatch::default(), &CurrentThread).unwrap();
    let mut list = vec![1];
    pma.cell(3, &mut list);
    pma.cell(30, &mut list);
    assert!(list.is_empty() && read(&pma).is_empty() && pma.get(0).is_none() && pma.remove(0).is_none());
    for round in 0..3 {
        (0..2000).for_each(|i| pma.insert(i % 10, i).unwrap());
        pma.check().unwrap();
        if round == 1 {
            pma.clear();
        } else {
            pma.update(&[], &CurrentThread, |_, _| UpdateAction::Gone).unwrap();
        }
        assert!(pma.is_empty() && read(&pma).is_empty());
        pma.check().unwrap();
    }
}

#[test]
fn the_checker_finds_every_fault() {
    let fresh = || {
        let mut pma = empty(500);
        (0..20_000).for_each(|i| pma.insert(if i % 4 == 0 { 3 } else { i % 500 }, i).unwrap());
        pma.check().unwrap();
        pma
    };
    let held = |pma: &CellPma<u32>| pma.tags.iter().rposition(|t| *t != FREE).unwrap();
    let mut pma = fresh();
    let at = held(&pma);
    pma.tags[at] = FREE;
    assert!(matches!(pma.check(), Err(InvariantError::Mask { .. })));
    let mut pma = fresh();
    let at = held(&pma);
    pma.masks[at / WIDE][at % WIDE / 64] ^= 1 << (at % 64);
    assert!(matches!(pma.check(), Err(InvariantError::Length { .. })));
    let mut pma = fresh();
    pma.route[400] += 1;
    assert!(pma.check().is_err());
    let mut pma = fresh();
    let last = pma.heads.iter().position(|h| h.run > 1).unwrap();
    pma.heads[last].next = NO_ROOM;
    assert!(matches!(pma.check(), Err(InvariantError::Head { .. })));
}
