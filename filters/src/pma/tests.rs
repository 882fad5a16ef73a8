//! Comparisons with a sorted map over random histories.

use super::*;
use crate::fixed;
use core::ops::Range;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A payload of 20 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Grain {
    id: u32,
    data: [u32; 4],
}

impl Ranked for Grain {
    type Rank = u32;
    fn rank(&self) -> u32 {
        self.id
    }
}

fn grain(id: u32) -> Grain {
    Grain { id, data: [id; 4] }
}

/// SplitMix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u32) -> u32 {
        (self.next() % u64::from(n.max(1))) as u32
    }
}

fn empty<P: Ranked>(cells: u32) -> CellPma<P> {
    CellPma::new(cells, CellSettings::default(), Level::best()).unwrap()
}

fn read<P: Ranked>(pma: &CellPma<P>, cells: Range<u32>) -> Vec<(u32, P)> {
    let mut all = Vec::new();
    pma.read(cells, |cell, slot, p| {
        assert!(pma.payload(slot).rank() == p.rank());
        all.push((cell, *p));
    });
    all
}

/// An array and its twin: a map from cell and rank to the payload.
struct Pair {
    pma: CellPma<Grain>,
    twin: BTreeMap<(u32, u32), Grain>,
    next_id: u32,
}

/// Cells of a distribution: anywhere, few, the first and last, near one another.
fn pick_cell(rng: &mut Rng, kind: u32, cells: u32) -> u32 {
    let cell = match kind % 4 {
        0 => rng.below(cells),
        1 => rng.below(3) * 700,
        2 => [0, cells - 1][rng.below(2) as usize],
        _ => cells / 3 + rng.below(40) * rng.below(20),
    };
    cell.min(cells - 1)
}

impl Pair {
    fn new(cells: u32, settings: CellSettings, level: Level) -> Pair {
        Pair { pma: CellPma::new(cells, settings, level).unwrap(), twin: BTreeMap::new(), next_id: 0 }
    }

    /// Moves and removes so many of 256 elements and inserts some, in one batch; then compares.
    fn change(&mut self, rng: &mut Rng, moves: u32, removes: u32, inserts: u32) {
        let (kind, cells) = (rng.below(4), self.pma.cells());
        let mut batch = CellBatch::default();
        let mut twin = BTreeMap::new();
        self.pma.for_each(|slot, cell, p| {
            let dice = rng.below(256);
            if dice < moves {
                let to = pick_cell(rng, kind, cells);
                batch.moves.push((slot, to));
                twin.insert((to, p.id), *p);
            } else if dice < moves + removes {
                batch.removes.push(slot);
            } else {
                twin.insert((cell, p.id), *p);
            }
        });
        for _ in 0..inserts {
            let (cell, id) = (pick_cell(rng, kind, cells), self.next_id.wrapping_mul(0x9e37_79b1));
            self.next_id += 1;
            batch.inserts.push((cell, grain(id)));
            twin.insert((cell, id), grain(id));
        }
        if rng.below(2) == 0 {
            batch.moves.reverse();
        }
        self.twin = twin;
        self.pma.apply(&batch).unwrap();
        self.compare(rng);
    }

    /// Overwrites some payloads.
    fn overwrite(&mut self, rng: &mut Rng) {
        let mut slots = Vec::new();
        self.pma.read(0..self.pma.cells(), |cell, slot, p| slots.push((cell, slot, p.id)));
        for (cell, slot, id) in slots {
            if rng.below(4) == 0 {
                let data = core::array::from_fn(|_| rng.below(u32::MAX));
                self.pma.payload_mut(slot).data = data;
                self.twin.insert((cell, id), Grain { id, data });
            }
        }
        self.compare(rng);
    }

    fn compare(&self, rng: &mut Rng) {
        self.pma.check();
        assert_eq!(self.pma.len(), self.twin.len());
        let cells = self.pma.cells();
        let from = pick_cell(rng, 0, cells);
        let few = from..from.saturating_add(rng.below(300)).min(cells);
        for range in [0..cells, few, from..from + 1, cells - 1..u32::MAX, from..from, cells..cells] {
            let twin = self.twin.range((range.start, 0)..(range.end.max(range.start), 0));
            let read = read(&self.pma, range.clone());
            assert!(read.iter().copied().eq(twin.map(|((cell, _), p)| (*cell, *p))), "{range:?}");
        }
    }
}

/// Half of the arrays are never rebuilt for speed.
fn settings(kind: u32) -> CellSettings {
    [
        CellSettings::default(),
        CellSettings { fill: 0.4, rebuild: 1.0 },
        CellSettings { fill: 0.9, rebuild: 1.0 },
    ][kind as usize % 3]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..fixed(1) })]

    #[test]
    fn batches_agree_with_a_sorted_map(
        cells in prop::sample::select(vec![1u32, 3, 200, 5000, 100_000]),
        kind in 0u32..6,
        size in prop::sample::select(vec![5u32, 300, 3000, 10_000]),
        steps in prop::collection::vec((0u32..9, any::<u64>()), 1..16),
    ) {
        let level = if kind < 3 { Level::best() } else { Level::SCALAR };
        let mut pair = Pair::new(cells, settings(kind), level);
        for (step, seed) in steps {
            let rng = &mut Rng(seed);
            match step {
                0 => pair.change(rng, 0, 0, size),
                1 => pair.change(rng, 250, 0, 0),
                2 => pair.change(rng, 3, 200, 1),
                3 => pair.change(rng, 0, 256, 0),
                4 => pair.change(rng, 1, 1, size / 50),
                5 => pair.change(rng, 40, 0, 0),
                6 => pair.change(rng, 13, 20, size / 10),
                7 => pair.change(rng, 0, 0, 1),
                _ => pair.overwrite(rng),
            }
        }
    }
}

#[test]
fn one_cell_gets_ten_thousand_and_loses_them() {
    for kind in 0..3 {
        let (mut pair, rng) = (Pair::new(3000, settings(kind), Level::best()), &mut Rng(u64::from(kind)));
        pair.change(rng, 0, 0, 20_000);
        for cell in [1000, 0, 2999] {
            while read(&pair.pma, cell..cell + 1).len() < 10_000 {
                let mut batch = CellBatch::default();
                batch.inserts.extend((0..700).map(|i| (cell, grain(pair.next_id + i))));
                pair.next_id += 700;
                pair.twin.extend(batch.inserts.iter().map(|(cell, p)| ((*cell, p.id), *p)));
                pair.pma.apply(&batch).unwrap();
            }
            pair.compare(rng);
        }
        for _ in 0..20 {
            pair.change(rng, 10, 30, 10);
        }
    }
}

#[test]
fn the_order_read_does_not_depend_on_the_history() {
    let (mut pair, rng) = (Pair::new(4000, settings(0), Level::best()), &mut Rng(11));
    for _ in 0..40 {
        pair.change(rng, 20, 3, 900);
    }
    let mut inserts: Vec<_> = pair.twin.iter().map(|((cell, _), p)| (*cell, *p)).collect();
    for i in 0..inserts.len() {
        inserts.swap(i, rng.below(i as u32 + 1) as usize);
    }
    let mut fresh = empty(4000);
    fresh.apply(&CellBatch { inserts, ..CellBatch::default() }).unwrap();
    assert!(read(&fresh, 0..4000) == read(&pair.pma, 0..4000));
    assert!(fresh.memory() < pair.pma.memory());
}

#[test]
fn inserting_at_one_point_keeps_to_its_bound() {
    for n in [1u32 << 11, 1 << 14] {
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
            let mut changed = 0;
            for i in 0..n {
                let before = pma.slots.clone();
                pma.apply(&CellBatch { inserts: vec![(place(i, n), i + 1)], ..CellBatch::default() })
                    .unwrap();
                let same = before.iter().zip(&pma.slots).filter(|(a, b)| a == b).count();
                changed += pma.slots.len() - same;
            }
            pma.check();
            let writes = changed as f64 / f64::from(n);
            assert!(writes < most, "{name}: {writes} writes at n = {n}, over {most}");
        }
    }
}

#[test]
fn refused_changes_change_nothing() {
    let mut pma = empty(100);
    pma.apply(&CellBatch { inserts: (0..1000).map(|i| (i % 100, i)).collect(), ..CellBatch::default() })
        .unwrap();
    let before = read(&pma, 0..100);
    let mut slots = Vec::new();
    pma.read(5..6, |_, slot, _| slots.push(slot));
    let (a, b) = (slots[0], slots[1]);
    let many: Vec<_> = (0..2000).map(|i| (7, 1000 + i)).collect();
    for batch in [
        CellBatch { moves: vec![(a, 5), (a, 6)], ..CellBatch::default() },
        CellBatch { moves: vec![(a, 100)], ..CellBatch::default() },
        CellBatch { inserts: vec![(u32::MAX, 1)], ..CellBatch::default() },
        CellBatch { moves: vec![(a, 5)], removes: vec![b, a], ..CellBatch::default() },
        CellBatch { removes: vec![b, u32::MAX], ..CellBatch::default() },
        CellBatch { removes: vec![b, b], inserts: many, ..CellBatch::default() },
    ] {
        assert!(pma.apply(&batch).is_err());
        pma.check();
        assert!(read(&pma, 0..100) == before);
    }
    assert!(CellPma::<u32>::new(u32::MAX, CellSettings::default(), Level::SCALAR).is_err());
    let wrong = CellSettings { fill: 0.95, ..CellSettings::default() };
    assert!(CellPma::<u32>::new(1, wrong, Level::SCALAR).unwrap_err().to_string().contains("fill"));
}

#[test]
fn empty_arrays_are_read_and_changed() {
    let mut pma = empty::<u32>(0);
    assert!(pma.apply(&CellBatch { inserts: vec![(0, 1)], ..CellBatch::default() }).is_err());
    pma.apply(&CellBatch::default()).unwrap();
    let mut pma = empty::<u32>(10);
    pma.apply(&CellBatch::default()).unwrap();
    assert!(pma.apply(&CellBatch { removes: vec![0], ..CellBatch::default() }).is_err());
    assert!(read(&pma, 0..10).is_empty());
    for round in 0..3 {
        let inserts = (0..2000).map(|i| (i % 10, i)).collect();
        pma.apply(&CellBatch { inserts, ..CellBatch::default() }).unwrap();
        pma.check();
        if round == 1 {
            pma.clear();
        } else {
            let mut batch = CellBatch::default();
            pma.for_each(|slot, _, _| batch.removes.push(slot));
            pma.apply(&batch).unwrap();
        }
        pma.check();
        assert!(pma.is_empty() && read(&pma, 0..10).is_empty());
    }
}
