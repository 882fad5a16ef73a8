//! Comparisons with a sorted list over long random histories.

use super::*;
use crate::pma::InvariantError;
use core::ops::Bound;
use grainfield_filters::host::{CurrentThread, Executor};

/// A seeded generator: every test prints its seed on failure.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Real threads, as in the program.
pub(crate) struct Threads(pub(crate) usize);

impl Executor for Threads {
    fn execute(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for i in 0..count {
                scope.spawn(move || task(i));
            }
        });
    }
    fn width(&self) -> usize {
        self.0
    }
}

fn empty<K: Key, V: Ranked>() -> Pma<K, V> {
    Pma::new(Bounds::default(), Level::best()).unwrap()
}

fn assert_is<K: Key>(pma: &Pma<K, u32>, model: &[(K, u32)], seed: u64) {
    if let Err(fault) = pma.check() {
        panic!("seed {seed}: {fault}");
    }
    assert!(pma.iter().map(|(k, v)| (k, *v)).eq(model.iter().copied()), "seed {seed}: other elements");
}

/// Keys of several kinds: spread, few, at the ends, clustered.
fn key(rng: &mut Rng, kind: u64) -> u64 {
    let x = rng.next();
    match kind % 5 {
        0 => x,
        1 => x % 7,
        2 => [0, u64::MAX, 1, u64::MAX - 1][(x % 4) as usize],
        3 => (1 << 40) | (x % 1000),
        _ => x >> (x % 64),
    }
}

#[test]
fn single_changes_agree_with_a_sorted_list() {
    singles(0..24);
}

#[test]
#[ignore = "two million changes: ./x soak"]
fn millions_of_single_changes_agree_with_a_sorted_list() {
    singles(1000..1250);
}

/// 8,000 single changes for each seed. Bounds and order are checked after each change while there are few elements, as
/// for most seeds, otherwise after every sixteenth.
fn singles(seeds: core::ops::Range<u64>) {
    for seed in seeds {
        let mut rng = Rng(seed);
        let (mut pma, mut model) = (empty::<u64, u32>(), Vec::new());
        let target = [10, 60, 300, 3000][rng.below(4)];
        for step in 0..8000u32 {
            // Grows to the target and shrinks, alternately.
            let growing = (step / (2 * target as u32).max(500)).is_multiple_of(2);
            if rng.below(10) < if growing { 8 } else { 2 } || model.is_empty() {
                let item = (key(&mut rng, seed), step);
                let at = model.partition_point(|m| *m < item);
                model.insert(at, item);
                pma.insert(item.0, item.1).unwrap();
            } else {
                let item = model.remove(rng.below(model.len()));
                let slot = pma.find_ranked(item.0, item.1).unwrap();
                assert_eq!(pma.get(slot), Some((item.0, &item.1)));
                assert_eq!(pma.remove(slot), Some(item));
            }
            if step % 16 == 0 || model.len() <= 300 {
                assert_is(&pma, &model, seed);
            }
            let probe = key(&mut rng, seed);
            let first = model.iter().position(|m| m.0 == probe);
            assert_eq!(pma.find(probe).map(|s| pma.keys[s as usize]), first.map(|_| probe), "seed {seed}");
            if let (Some(slot), Some(first)) = (pma.find(probe), first) {
                assert_eq!(pma.vals[slot as usize], model[first].1, "seed {seed}: not the first of its key");
            }
        }
        assert_is(&pma, &model, seed);
    }
}

/// Applies one random batch to both; `share` of 256 elements move, and as many are removed or inserted.
fn random_batch(
    rng: &mut Rng,
    pma: &mut Pma<u64, u32>,
    model: &mut Vec<(u64, u32)>,
    (moving, leaving, coming): (usize, usize, usize),
    executor: &dyn Executor,
    next_rank: &mut u32,
) -> usize {
    let kind = rng.next();
    let mut batch = Batch::default();
    let mut kept = Vec::with_capacity(model.len());
    for (slot, item) in pma.held_slots().zip(model.iter()) {
        let x = rng.below(256);
        if x < moving {
            let key = key(rng, kind);
            batch.moves.push((slot, key));
            kept.push((key, item.1));
        } else if x < moving + leaving {
            batch.removes.push(slot);
        } else {
            kept.push(*item);
        }
    }
    for _ in 0..coming {
        let item = (key(rng, kind), *next_rank);
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
    for seed in 100..140 {
        let mut rng = Rng(seed);
        let (mut pma, mut model, mut rank) = (empty(), Vec::new(), 0);
        let size = [5, 100, 2000, 30_000][rng.below(4)];
        for _ in 0..40 {
            let rates = match rng.below(6) {
                0 => (0, 0, size),
                1 => (250, 0, 0),
                2 => (3, 200, 1),
                3 => (0, 256, 0),
                4 => (1, 1, size / 50),
                _ => (13, 20, size / 10),
            };
            changes += random_batch(&mut rng, &mut pma, &mut model, rates, &CurrentThread, &mut rank);
            assert_is(&pma, &model, seed);
        }
    }
    assert!(changes > 1_000_000, "only {changes} changes");
}

#[test]
fn a_batch_is_the_same_on_any_number_of_threads() {
    for seed in 200..206 {
        let run = |executor: &dyn Executor| {
            let mut rng = Rng(seed);
            let (mut pma, mut model, mut rank) = (empty(), Vec::new(), 0);
            for i in 0..12 {
                let rates = if i == 0 { (0, 0, 40_000) } else { (1 << (i % 7), 3, 800) };
                random_batch(&mut rng, &mut pma, &mut model, rates, executor, &mut rank);
                assert_is(&pma, &model, seed);
            }
            let held: Vec<_> =
                pma.held_slots().map(|s| (s, pma.keys[s as usize], pma.vals[s as usize])).collect();
            (held, pma.masks.clone(), pma.heads.clone(), pma.moves)
        };
        let alone = run(&CurrentThread);
        for n in [2, 3, 8] {
            assert!(run(&Threads(n)) == alone, "seed {seed}, {n} threads");
        }
    }
}

#[test]
fn batch_and_single_changes_mix() {
    let mut rng = Rng(7);
    let (mut pma, mut model, mut rank) = (empty(), Vec::new(), 0);
    for _ in 0..200 {
        random_batch(&mut rng, &mut pma, &mut model, (5, 10, 40), &CurrentThread, &mut rank);
        for _ in 0..10 {
            let item = (key(&mut rng, 0), rank);
            rank += 1;
            pma.insert(item.0, item.1).unwrap();
            let at = model.partition_point(|m| *m < item);
            model.insert(at, item);
        }
        assert_is(&pma, &model, 7);
    }
}

#[test]
fn every_allowed_bound_works() {
    for (i, (tau0, tauh, rhoh, rho0)) in [
        (1.0, 0.99, 0.49, 0.48),
        (1.0, 0.0625, 0.03, 0.0),
        (0.701, 0.7, 0.3, 0.299),
        (0.5, 0.4, 0.1, 0.0),
        (0.92, 0.7, 0.01, 0.0),
    ]
    .into_iter()
    .enumerate()
    {
        let mut rng = Rng(i as u64);
        let mut pma = Pma::new(Bounds { tau0, tauh, rhoh, rho0 }, Level::best()).unwrap();
        let (mut model, mut rank) = (Vec::new(), 0);
        for step in 0..100 {
            let rates = if step % 20 < 10 { (20, 5, 100) } else { (20, 60, 3) };
            random_batch(&mut rng, &mut pma, &mut model, rates, &CurrentThread, &mut rank);
            assert_is(&pma, &model, i as u64);
            for _ in 0..40 {
                let item = (key(&mut rng, 3), rank);
                rank += 1;
                pma.insert(item.0, item.1).unwrap();
                model.insert(model.partition_point(|m| *m < item), item);
                assert_is(&pma, &model, i as u64);
            }
            for _ in 0..30 {
                let item = model.remove(rng.below(model.len()));
                assert_eq!(pma.remove(pma.find_ranked(item.0, item.1).unwrap()), Some(item));
                assert_is(&pma, &model, i as u64);
            }
        }
    }
}

/// Element moves per insertion, over `n` insertions of keys from `key`.
fn cost(n: u64, key: impl Fn(u64) -> u64) -> f64 {
    let mut pma = empty::<u64, ()>();
    for i in 0..n {
        pma.insert(key(i), ()).unwrap();
    }
    pma.check().unwrap();
    assert_eq!(pma.len() as u64, n);
    pma.element_moves() as f64 / n as f64
}

#[test]
fn element_moves_keep_to_their_bounds() {
    for n in [1u64 << 12, 1 << 15, 1 << 18] {
        let log = (n as f64).log2();
        let random = cost(n, |i| Rng(i).next());
        assert!(random < 2.5 * log, "random: {random} moves at n = {n}");
        // Always before all, always after all, always in the middle, all equal.
        type Adversary = (&'static str, fn(u64) -> u64);
        let adversaries: [Adversary; 4] = [
            ("front", |i| u64::MAX - i),
            ("back", |i| i),
            ("middle", |i| if i % 2 == 0 { i } else { u64::MAX - i }),
            ("equal", |_| 5),
        ];
        for (name, key) in adversaries {
            let moves = cost(n, key);
            assert!(moves < 0.8 * log * log, "{name}: {moves} moves at n = {n}");
        }
    }
}

#[test]
fn removing_costs_no_more_than_inserting() {
    let mut pma = empty::<u64, ()>();
    let n = 1u64 << 16;
    for i in 0..n {
        pma.insert(i, ()).unwrap();
    }
    let before = pma.element_moves();
    // The adversary takes the smallest one each time.
    for i in 0..n {
        let slot = pma.find(i).unwrap();
        pma.remove(slot).unwrap();
        if i % 64 == 0 {
            pma.check().unwrap();
        }
    }
    assert!(pma.is_empty());
    assert_eq!(pma.slots(), SEGMENT);
    let each = (pma.element_moves() - before) as f64 / n as f64;
    assert!(each < 0.8 * 16.0 * 16.0, "{each} moves");
}

#[test]
fn a_batch_at_one_point_is_one_rebalance() {
    let mut pma = empty::<u64, u32>();
    let mut batch = Batch::default();
    batch.inserts.extend((0..100_000).map(|i| (u64::from(i) << 20, i)));
    pma.apply(&batch, &CurrentThread).unwrap();
    let before = pma.element_moves();
    batch.clear();
    batch.inserts.extend((0..20_000).map(|i| (500 << 20 | 1, 200_000 + i)));
    pma.apply(&batch, &CurrentThread).unwrap();
    pma.check().unwrap();
    assert!(pma.element_moves() - before <= 120_000);
    assert_eq!(pma.range(500 << 20 | 1..=500 << 20 | 1).count(), 20_000);
}

#[test]
fn ranges_spans_and_lists() {
    let mut pma = empty::<i32, u32>();
    let model: Vec<(i32, u32)> = (0..5000u32).map(|i| (i as i32 / 10 * 3 - 700, i)).collect();
    let batch = Batch { inserts: model.iter().rev().copied().collect(), ..Batch::default() };
    pma.apply(&batch, &CurrentThread).unwrap();
    let mut rng = Rng(3);
    for _ in 0..500 {
        let (a, b) = (rng.below(2000) as i32 - 800, rng.below(2000) as i32 - 800);
        let right = |f: &dyn Fn(i32) -> bool| model.iter().filter(|m| f(m.0)).count();
        assert_eq!(pma.range(a..b).count(), right(&|k| a <= k && k < b));
        assert_eq!(pma.range(a..=b).count(), right(&|k| a <= k && k <= b));
        assert_eq!(pma.range(a..).count(), right(&|k| a <= k));
        assert_eq!(pma.range(..b).count(), right(&|k| k < b));
        assert_eq!(pma.range((Bound::Excluded(a), Bound::Unbounded)).count(), right(&|k| a < k));
    }
    assert!(pma.range(..).eq(pma.iter()));
    let mut list = Vec::new();
    pma.indirection(&mut list);
    assert!(list.iter().map(|&s| pma.get(s).map(|(k, v)| (k, *v))).eq(model.iter().map(|m| Some(*m))));
    let mut spans = Vec::new();
    pma.spans(&mut spans);
    assert_eq!(spans.len(), 500);
    assert!(spans.iter().all(|&(k, first, last)| pma.find(k) == Some(first) && last > first));
    let runs: usize = pma.runs().map(|(k, v)| k.len().min(v.len())).sum();
    assert_eq!(runs, 5000);
    let blocks = pma.blocks().flat_map(|(keys, vals, n)| keys[..n].iter().zip(&vals[..n]));
    assert!(blocks.map(|(k, v)| (*k, *v)).eq(model.iter().copied()));
}

#[test]
fn a_refused_batch_changes_nothing() {
    let mut pma = empty::<u64, u32>();
    for i in 0..1000 {
        pma.insert(u64::from(i), i).unwrap();
    }
    let before: Vec<_> = pma.iter().map(|(k, v)| (k, *v)).collect();
    let (a, b) = (pma.find(10).unwrap(), pma.find(20).unwrap());
    for batch in [
        Batch { moves: vec![(a, 5), (a, 6)], ..Batch::default() },
        Batch { moves: vec![(a, 5)], removes: vec![b, a], ..Batch::default() },
        Batch { removes: vec![b, u32::MAX], ..Batch::default() },
        Batch { moves: vec![(b, 1)], removes: vec![pma.slots() as u32], ..Batch::default() },
    ] {
        let refused = pma.apply(&batch, &CurrentThread).unwrap_err();
        assert!(matches!(refused, PmaError::Vacant { .. }), "{refused}");
        assert_is(&pma, &before, 0);
    }
    assert_eq!(pma.get(u32::MAX), None);
    assert_eq!(pma.remove(u32::MAX), None);
    assert!(pma.get_mut(a).is_some());
}

#[test]
fn empty_arrays_answer() {
    let mut pma = empty::<u64, u32>();
    assert_eq!((pma.find(0), pma.iter().count(), pma.range(..).count()), (None, 0, 0));
    assert_eq!(pma.range(3..5).count(), 0);
    pma.apply(&Batch::default(), &CurrentThread).unwrap();
    pma.check().unwrap();
    pma.insert(u64::MAX, 1).unwrap();
    pma.insert(0, 2).unwrap();
    pma.clear();
    pma.check().unwrap();
    assert!(pma.is_empty() && pma.find(0).is_none());
    pma.apply(&Batch { inserts: vec![(3, 3)], ..Batch::default() }, &CurrentThread).unwrap();
    assert_eq!(pma.iter().map(|(k, _)| k).collect::<Vec<_>>(), [3]);
}

#[test]
fn the_checker_finds_every_fault() {
    let fresh = || {
        let mut pma = empty::<u64, u32>();
        (0..1000).for_each(|i| pma.insert(u64::from(i) * 3, i).unwrap());
        pma
    };
    let mut pma = fresh();
    pma.keys.swap(70, 71);
    assert!(matches!(pma.check(), Err(InvariantError::Order { .. })));
    let mut pma = fresh();
    pma.masks[3] ^= 1;
    assert!(matches!(pma.check(), Err(InvariantError::Length { .. })));
    let mut pma = fresh();
    pma.masks[3] <<= 1;
    assert!(matches!(pma.check(), Err(InvariantError::Mask { .. })));
    let mut pma = fresh();
    pma.heads[2].0 += 10_000;
    assert!(matches!(pma.check(), Err(InvariantError::Head { .. })));
    let mut pma = fresh();
    pma.len -= pma.count(4) - 1;
    pma.masks[4] = 1;
    assert!(matches!(pma.check(), Err(InvariantError::Density { .. })));
}

#[test]
fn bare_keys_agree_at_every_level() {
    for seed in 300..330 {
        let run = |level: Level| {
            let mut rng = Rng(seed);
            let mut pma = Pma::<u64, ()>::new(Bounds::default(), level).unwrap();
            let mut model: Vec<u64> = Vec::new();
            let size = [50, 700, 9000, 40_000][seed as usize % 4];
            for step in 0..25 {
                let (kind, share) = (rng.next(), 1 << rng.below(9));
                let mut batch = Batch::default();
                let mut kept = Vec::new();
                for (slot, k) in pma.held_slots().zip(&model) {
                    match rng.below(512) {
                        x if x < share => {
                            let key = key(&mut rng, kind);
                            batch.moves.push((slot, key));
                            kept.push(key);
                        }
                        511 => batch.removes.push(slot),
                        _ => kept.push(*k),
                    }
                }
                for _ in 0..if step == 0 { size } else { rng.below(size / 10) } {
                    let key = key(&mut rng, kind);
                    batch.inserts.push((key, ()));
                    kept.push(key);
                }
                kept.sort_unstable();
                model = kept;
                pma.apply(&batch, &CurrentThread).unwrap();
                assert_eq!(pma.check(), Ok(()), "seed {seed}, {level}");
                assert!(pma.iter().map(|(k, ())| k).eq(model.iter().copied()), "seed {seed}, {level}");
            }
            (pma.held_slots().map(|s| (s, pma.keys[s as usize])).collect::<Vec<_>>(), pma.moves)
        };
        let right = run(Level::SCALAR);
        for &level in Level::available() {
            assert!(run(level) == right, "seed {seed}, {level}");
        }
    }
}
