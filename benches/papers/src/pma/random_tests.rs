//! Random operations, compared with a sorted list.

use super::{Batch, Bounds, Pma};
use crate::simd::Level;
use grainfield_filters::host::CurrentThread;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The largest number of elements of a run, so that long inputs stay fast.
const MOST: usize = 1 << 14;

/// Numbers from bytes; zero at the end.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }
    fn number(&mut self) -> u64 {
        u64::from_le_bytes(core::array::from_fn(|_| self.byte()))
    }
    /// Keys that collide: few, near the ends, or anywhere.
    fn key(&mut self) -> u64 {
        match self.byte() % 4 {
            0 => u64::from(self.byte() % 8),
            1 => u64::MAX - u64::from(self.byte() % 4),
            2 => u64::from(self.byte()) << 32,
            _ => self.number(),
        }
    }
}

/// Reads operations from `bytes`, applies them to an array and to a list, and compares them.
fn total(bytes: &[u8]) {
    let mut from = Reader(bytes);
    let bounds = match from.byte() % 3 {
        0 => Bounds::PAPER,
        1 => Bounds { tau0: 1.0, tauh: 0.9, rhoh: 0.4, rho0: 0.0 },
        _ => Bounds { tau0: 0.75, tauh: 0.7, rhoh: 0.34, rho0: 0.3 },
    };
    let level = if from.byte() % 2 == 0 { Level::SCALAR } else { Level::best() };
    let mut pma = Pma::<u64, u32>::new(bounds, level).unwrap();
    let mut model: Vec<(u64, u32)> = Vec::new();
    let mut rank = 0u32;
    while !from.0.is_empty() {
        match from.byte() % 4 {
            0 => {
                let item = (from.key(), rank);
                rank += 1;
                if model.len() < MOST {
                    model.insert(model.partition_point(|m| *m < item), item);
                    pma.insert(item.0, item.1).unwrap();
                }
            }
            1 if !model.is_empty() => {
                let item = model.remove(from.number() as usize % model.len());
                let slot = pma.find_ranked(item.0, item.1).unwrap();
                assert_eq!(pma.remove(slot), Some(item));
            }
            2 => {
                // Every element at a multiple of the step moves or is removed; some are inserted.
                let mut batch = Batch::default();
                let (step, phase) = (usize::from(from.byte()) + 1, usize::from(from.byte()));
                let (key, goes, coming) = (from.key(), from.byte() % 2 == 0, from.byte());
                let mut kept = Vec::new();
                for (i, (slot, item)) in pma.held_slots().zip(&model).enumerate() {
                    match (i + phase) % step {
                        0 => {
                            batch.moves.push((slot, key));
                            kept.push((key, item.1));
                        }
                        1 if goes => batch.removes.push(slot),
                        _ => kept.push(*item),
                    }
                }
                for i in 0..u64::from(coming) {
                    if kept.len() < MOST {
                        let item = (key.wrapping_add(i * u64::from(coming % 3)), rank);
                        rank += 1;
                        batch.inserts.push(item);
                        kept.push(item);
                    }
                }
                kept.sort_unstable();
                model = kept;
                pma.apply(&batch, &CurrentThread).unwrap();
            }
            _ => {
                let (low, high) = (from.key(), from.key());
                let right = model.iter().filter(|m| (low..=high).contains(&m.0));
                assert!(pma.range(low..=high).map(|(k, v)| (k, *v)).eq(right.copied()));
            }
        }
        pma.check().unwrap();
        assert!(pma.iter().map(|(k, v)| (k, *v)).eq(model.iter().copied()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_operations_equal_those_on_a_list(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        total(&bytes);
    }
}

#[test]
fn an_empty_array_is_read_and_updated() {
    total(&[0, 0, 191, 0, 0, 42]);
}
