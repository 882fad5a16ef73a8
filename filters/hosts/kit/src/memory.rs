//! Stores states of simulations in memory, since a host's user did not ask for files.

use grainfield_filters::host::{StateCache, lock};
use std::collections::VecDeque;
use std::sync::Mutex;

/// The limit in bytes.
const LIMIT: usize = 256 << 20;

/// The most recent states, up to a limit.
#[derive(Debug, Default)]
pub(super) struct MemoryCache {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    states: VecDeque<(u128, Vec<u8>)>,
    bytes: usize,
}

impl StateCache for MemoryCache {
    fn get(&self, key: u128) -> Option<Vec<u8>> {
        let kept = lock(&self.kept);
        kept.states.iter().find(|(k, _)| *k == key).map(|(_, state)| state.clone())
    }

    fn put(&self, key: u128, bytes: &[u8]) {
        let mut kept = lock(&self.kept);
        if bytes.len() > LIMIT || kept.states.iter().any(|(k, _)| *k == key) {
            return;
        }
        kept.bytes += bytes.len();
        kept.states.push_back((key, bytes.to_vec()));
        while kept.bytes > LIMIT {
            let Some((_, oldest)) = kept.states.pop_front() else { break };
            kept.bytes -= oldest.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_first() {
        let cache = MemoryCache::default();
        let third = vec![7; LIMIT / 3 + 1];
        (0..4).for_each(|key| cache.put(key, &third));
        cache.put(9, &vec![0; LIMIT + 1]);
        let found: Vec<bool> = [0, 1, 2, 3, 9].iter().map(|&key| cache.get(key).is_some()).collect();
        assert_eq!(found, [false, false, true, true, false]);
        assert_eq!(cache.get(3), Some(third));
    }
}
