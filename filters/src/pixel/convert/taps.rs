//! Weights of chroma resampling along one axis.

/// The input samples of one output sample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Phase {
    /// The first of them, counted from the start of the output sample's block in the input.
    pub first: i32,
    /// Their weights; the first and the last are not zero.
    pub weights: Vec<i32>,
}

/// Resampling along one axis between grids of `2^s` luma samples a sample, with integer weights that sum to `2^bits`.
/// Beyond the edge the outermost sample is repeated.
///
/// To a finer or equally fine grid: linear interpolation at the exact position. To a grid coarser by `r`: the mean of
/// `r` samples if the position is midway between them (center siting), otherwise a triangle from `-r` to `r` samples
/// around it (left siting: 1 2 1). Constants are preserved exactly, and ramps away from the edges.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taps {
    /// Output samples per block, 1 unless the output is finer: output sample `i` is phase `i % up` of block `i /
    /// up`.
    pub up: usize,
    /// Input samples per block, 1 unless the output is coarser: block `b` starts at input sample `b * down`.
    pub down: usize,
    /// log2 of the sum of weights.
    pub bits: u32,
    /// One for each output sample of a block.
    pub phases: Vec<Phase>,
}

impl Taps {
    /// From a grid `(s, at)` to another: one sample per `2^s` luma samples (`s` at most 2), the first `at`
    /// quarters of a luma sample right of (or below) the first luma sample.
    pub fn new(from: (u8, i32), to: (u8, i32)) -> Taps {
        let up = 1usize << from.0.saturating_sub(to.0);
        let down = 1usize << to.0.saturating_sub(from.0);
        let unit = 4i32 << from.0; // of the input grid, in quarters of a luma sample
        let r = down as i32;
        let exact = |i: usize| {
            let place = ((i as i32) << (to.0 + 2)) + to.1 - from.1;
            let (floor, part) = (place.div_euclid(unit), place.rem_euclid(unit));
            let weight = |n: i32| {
                if r > 1 && 2 * part == unit {
                    // r * r * unit in all, as below
                    let inside = (floor - r / 2 + 1..=floor + r / 2).contains(&n);
                    return if inside { r * unit } else { 0 };
                }
                (r * unit - (n * unit - place).abs()).max(0)
            };
            let used: Vec<i32> = (floor - r..=floor + r + 1).filter(|&n| weight(n) > 0).collect();
            let first = used[0];
            Phase { first, weights: used.into_iter().map(weight).collect() }
        };
        let mut phases: Vec<Phase> = (0..up).map(exact).collect();
        let mut bits = (r * r * unit).ilog2();
        while phases.iter().all(|p| p.weights.iter().all(|w| w % 2 == 0)) {
            phases.iter_mut().flat_map(|p| &mut p.weights).for_each(|w| *w /= 2);
            bits -= 1;
        }
        Taps { up, down, bits, phases }
    }

    /// Whether the samples stay unchanged.
    pub fn is_identity(&self) -> bool {
        (self.up, self.down, self.bits) == (1, 1, 0) && self.phases[0].first == 0
    }

    /// The input sample of the first weight of output sample `i` (perhaps beyond the edge), and the weights.
    pub fn at(&self, i: usize) -> (i64, &[i32]) {
        let phase = &self.phases[i % self.up];
        ((i / self.up * self.down) as i64 + i64::from(phase.first), &phase.weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = ((u8, i32), (u8, i32))> {
        let grids = || (0..=2u8).flat_map(|s| (0..=4 * ((1 << s) - 1)).map(move |at| (s, at)));
        grids().flat_map(move |a| grids().map(move |b| (a, b)))
    }

    #[test]
    fn constants_and_ramps_are_kept() {
        for (from, to) in all() {
            let t = Taps::new(from, to);
            for i in 40..60 {
                let (first, weights) = t.at(i);
                assert_eq!(weights.iter().sum::<i32>(), 1 << t.bits, "{from:?} {to:?}");
                assert!(weights.len() <= 8 && weights.iter().all(|&w| w > 0) && t.bits <= 6);
                // the value of the ramp is the position, in quarters of a luma sample
                let place = |n: i64, g: (u8, i32)| (n << (g.0 + 2)) + i64::from(g.1);
                let got: i64 = (first..).zip(weights).map(|(n, &w)| place(n, from) * i64::from(w)).sum();
                assert_eq!(got, place(i as i64, to) << t.bits, "{from:?} {to:?} {i}");
            }
        }
    }

    #[test]
    fn known_weights() {
        let t = |from, to| {
            let t = Taps::new(from, to);
            t.phases.into_iter().map(|p| (p.first, p.weights)).collect::<Vec<_>>()
        };
        // up, co-sited and centred
        assert_eq!(t((1, 0), (0, 0)), [(0, vec![2]), (0, vec![1, 1])]);
        assert_eq!(t((1, 2), (0, 0)), [(-1, vec![1, 3]), (0, vec![3, 1])]);
        // down, co-sited and centred
        assert_eq!(t((0, 0), (1, 0)), [(-1, vec![1, 2, 1])]);
        assert_eq!(t((0, 0), (1, 2)), [(0, vec![1, 1])]);
        assert_eq!(t((0, 0), (2, 6)), [(0, vec![1, 1, 1, 1])]);
        // a top field: a quarter of its line below
        assert_eq!(t((0, 0), (1, 1)), [(-1, vec![3, 7, 5, 1])]);
        assert!(Taps::new((1, 2), (1, 2)).is_identity());
    }
}
