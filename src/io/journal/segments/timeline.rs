//! Times of packets that come from several encoders in sequence.

use crate::journal::PacketRecord;

/// Times of a packet, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Time {
    /// Presentation time.
    pub pts: i64,
    /// Decoding time: not after the presentation time, and after those of all packets before it.
    pub dts: i64,
    /// Duration.
    pub duration: i64,
    /// libav's flags.
    pub flags: i32,
}

/// Computes the times of packets in decoding order from their records.
///
/// Each encoder has chosen decoding times for its own packets, which may decrease from one segment to the next, so
/// they are computed again. With `d` the largest number of places by which a packet precedes packets that are shown
/// earlier, the decoding time of packet `i` is the presentation time of the picture of rank `i - d`. x264 does the
/// same with a whole stream. Equal presentation times are separated by a tick.
pub fn timeline(shown: &[PacketRecord]) -> Vec<Time> {
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
        flags: shown[i].2,
    };
    rank.iter().enumerate().map(time).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(shown: &[(i64, i64)]) -> Vec<i64> {
        let shown: Vec<PacketRecord> = shown.iter().map(|t| (t.0, t.1, 0)).collect();
        let all = timeline(&shown);
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
        // the second segment has pictures of longer duration, for which its encoder would begin far before
        // zero
        let slow = [(0, 1), (3, 1), (1, 1), (2, 1), (4, 100), (304, 100), (104, 100), (204, 100)];
        check(&slow);
    }

    #[test]
    fn equal_times_are_set_apart() {
        let all = timeline(&[(5, 1, 0), (5, 1, 0), (6, 1, 0)]);
        assert_eq!(all.iter().map(|t| t.pts).collect::<Vec<_>>(), [5, 6, 7]);
    }
}
