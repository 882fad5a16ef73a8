//! The positions of frames in a file: every n-th one, recorded while reading, in bounded memory.

/// The largest number of positions; beyond it every second one is dropped.
const MAX_PLACES: usize = 1 << 15;

/// Positions of frames. It only grows at its end, so it is exact: no even spacing is assumed.
#[derive(Debug)]
pub(super) struct Index {
    /// The position of frame `i * step` at `i`.
    places: Vec<u64>,
    step: u64,
}

impl Index {
    /// An index with the position of frame 0.
    pub(super) fn new(first: u64) -> Index {
        Index { places: vec![first], step: 1 }
    }

    /// Records that frame `number` begins at `place`. Earlier frames are ignored; none may be skipped.
    pub(super) fn saw(&mut self, number: u64, place: u64) {
        if number != self.places.len() as u64 * self.step {
            return;
        }
        self.places.push(place);
        if self.places.len() == MAX_PLACES {
            let mut i = 0;
            self.places.retain(|_| {
                i += 1;
                i % 2 == 1
            });
            self.step *= 2;
        }
    }

    /// The nearest recorded frame at or before `number`, and its position.
    pub(super) fn before(&self, number: u64) -> (u64, u64) {
        let i = ((number / self.step) as usize).min(self.places.len() - 1);
        (i as u64 * self.step, self.places[i])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_exact_and_small_over_a_million() {
        let mut index = Index::new(7);
        let place = |n: u64| 7 + n * n;
        for n in 0..1_000_000 {
            index.saw(n, place(n));
            index.saw(n / 2, 0);
        }
        assert!(index.places.len() < MAX_PLACES);
        for n in (0..1_000_000).step_by(977) {
            let (at, where_) = index.before(n);
            assert!(at <= n && n - at < index.step && where_ == place(at));
        }
        assert!(index.before(u64::MAX).0 < 1_000_000);
    }
}
