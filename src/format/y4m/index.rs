//! Where frames begin in a file: every so many frames a place, found as one comes by, in bounded memory.

/// At most so many places are kept; when there are more, every second one is dropped.
const MAX_PLACES: usize = 1 << 15;

/// Places of frames. Grows only at its end, so it is exact: nothing is taken to be evenly spaced.
#[derive(Debug)]
pub(super) struct Index {
    /// The place of frame `i * step` at `i`.
    places: Vec<u64>,
    step: u64,
}

impl Index {
    /// Knows where frame 0 begins.
    pub(super) fn new(first: u64) -> Index {
        Index { places: vec![first], step: 1 }
    }

    /// Frame `number` begins at `place`. Frames already passed are ignored; none may be left out.
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

    /// The nearest known frame not behind `number`, and its place.
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
