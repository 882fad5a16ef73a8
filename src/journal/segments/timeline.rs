//! The times of packets that come from several encoders, one behind the other.

/// When a packet is shown and decoded, and how long it is shown, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Time {
    /// When it is shown.
    pub pts: i64,
    /// When it is decoded: not after it is shown, and after all packets before it.
    pub dts: i64,
    /// How long it is shown.
    pub duration: i64,
}

/// Times for packets in the order of decoding, given when each is shown and how long.
///
/// Each encoder has chosen times of decoding that suit its own packets; behind one another they may go backwards. So
/// they are chosen anew: with `d` the largest number of places by which a packet comes before those shown earlier,
/// packet `i` is decoded when the picture of rank `i - d` is shown. That is what x264 does with a stream as a whole.
/// Equal times of showing are set apart by a tick.
pub fn timeline(shown: &[(i64, i64)]) -> Vec<Time> {
    let mut order: Vec<usize> = (0..shown.len()).collect();
    order.sort_by_key(|&i| shown[i].0);
    let mut rank = vec![0; shown.len()];
    let mut sorted: Vec<i64> = Vec::with_capacity(shown.len());
    for (r, &i) in order.iter().enumerate() {
        rank[i] = r;
        let after = sorted.last().map_or(i64::MIN, |last| last.saturating_add(1));
        sorted.push(shown[i].0.max(after));
    }
    let delay = rank.iter().enumerate().map(|(i, r)| i.saturating_sub(*r)).max().unwrap_or(0);
    let time = |(i, r): (usize, &usize)| Time {
        pts: sorted[*r],
        dts: match i.checked_sub(delay) {
            Some(place) => sorted[place],
            None => sorted[i].saturating_sub(sorted[delay]).saturating_add(sorted[0]),
        },
        duration: shown[i].1,
    };
    rank.iter().enumerate().map(time).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(shown: &[(i64, i64)]) -> Vec<i64> {
        let all = timeline(shown);
        assert!(all.is_sorted_by(|a, b| a.dts < b.dts), "{all:?}");
        assert!(all.iter().all(|t| t.dts <= t.pts), "{all:?}");
        all.iter().map(|t| t.dts).collect()
    }

    #[test]
    fn without_reordering_packets_are_decoded_when_shown() {
        assert_eq!(check(&[(0, 1), (1, 1), (7, 1)]), [0, 1, 7]);
        assert_eq!(check(&[]), [0; 0]);
    }

    #[test]
    fn with_reordering_before() {
        // I P B B, twice
        let shown = [(0, 1), (3, 1), (1, 1), (2, 1), (4, 1), (7, 1), (5, 1), (6, 1)];
        assert_eq!(check(&shown), [-1, 0, 1, 2, 3, 4, 5, 6]);
        // the second with pictures that last longer: its own encoder would have begun far before zero
        let slow = [(0, 1), (3, 1), (1, 1), (2, 1), (4, 100), (304, 100), (104, 100), (204, 100)];
        check(&slow);
    }

    #[test]
    fn equal_times_are_set_apart() {
        let all = timeline(&[(5, 1), (5, 1), (6, 1)]);
        assert_eq!(all.iter().map(|t| t.pts).collect::<Vec<_>>(), [5, 6, 7]);
    }
}
