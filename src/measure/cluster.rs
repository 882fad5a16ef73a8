//! Selects the blocks with nothing but grain.
//!
//! Blocks of grain of one brightness have similar variances; motion and texture increase them. So the mode of the
//! variances of a brightness is that of grain, and blocks far from it are excluded, on both sides so that the selection
//! does not change the mean.

/// Number of brightness bins, as for strength.
const BINS: usize = super::residual::BINS;
/// The number of blocks for a reliable mode; neighbouring bins are added if there are fewer.
const ENOUGH: usize = 24;
/// The smallest number of blocks.
const LEAST: usize = 6;
/// The number of neighbouring bins on each side that may be added.
const MOST_WIDE: usize = 2;
/// The smallest and largest standard deviation of the logarithm of the variance between blocks.
const SPREAD: [f64; 2] = [0.03, 0.5];

/// A variance of zero, as of repeated blocks, whose grain is unknown.
pub(super) const NOTHING: f64 = 1e-6;

/// A block's brightness in 8-bit codes, and the logarithm of its variance.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockLevel {
    pub(super) bright: f64,
    pub(super) level: f64,
}

fn bin(bright: f64) -> usize {
    (bright / 256.0 * BINS as f64).clamp(0.0, BINS as f64 - 1.0) as usize
}

/// The mode of sorted numbers, by the half-sample method: the narrowest half, and of that the narrowest half,
/// and so on.
pub(super) fn densest(sorted: &[f64]) -> f64 {
    let mut part = sorted;
    while part.len() > 3 {
        let half = part.len().div_ceil(2);
        let width = |i: usize| part[i + half - 1] - part[i];
        let Some(best) = (0..=part.len() - half).min_by(|&a, &b| width(a).total_cmp(&width(b))) else {
            break;
        };
        part = &part[best..best + half];
    }
    part.iter().sum::<f64>() / part.len().max(1) as f64
}

/// The level of grain by brightness, and its spread.
#[derive(Debug)]
pub(super) struct Cluster {
    middle: [Option<f64>; BINS],
    pub(super) spread: f64,
}

impl Cluster {
    /// With `low`, most blocks have texture, so the mode is searched among the lowest variances.
    pub(super) fn of(blocks: &[BlockLevel], low: bool) -> Cluster {
        let mut by_bin: [Vec<f64>; BINS] = Default::default();
        let some = |b: &&BlockLevel| b.level > NOTHING.ln();
        blocks.iter().filter(some).for_each(|b| by_bin[bin(b.bright)].push(b.level));
        let around = |i: usize| {
            let wide = |w: usize| by_bin[i.saturating_sub(w)..(i + w + 1).min(BINS)].concat();
            let mut all = wide(0);
            for w in 1..=MOST_WIDE {
                if !by_bin[i].is_empty() && all.len() < ENOUGH {
                    all = wide(w);
                }
            }
            all.sort_by(f64::total_cmp);
            all
        };
        let lists: Vec<Vec<f64>> = (0..BINS).map(around).collect();
        let mut middle: Vec<Option<f64>> = lists
            .iter()
            .map(|l| {
                (l.len() >= LEAST).then(|| densest(if low { &l[..(l.len() * 2 / 5).max(LEAST)] } else { l }))
            })
            .collect();
        // The spread comes from lower variances, which only grain has.
        let mut below: Vec<f64> = blocks
            .iter()
            .filter(some)
            .filter_map(|b| middle[bin(b.bright)].map(|m| m - b.level).filter(|d| *d > 0.0))
            .collect();
        below.sort_by(f64::total_cmp);
        let spread = below.get(below.len() / 2).map_or(SPREAD[0], |m| m / 0.6745).clamp(SPREAD[0], SPREAD[1]);
        for _ in 0..3 {
            for (m, list) in middle.iter_mut().zip(&lists) {
                let Some(m) = m else { continue };
                let near: Vec<f64> =
                    list.iter().copied().filter(|l| (l - *m).abs() <= 2.5 * spread).collect();
                if !near.is_empty() {
                    *m = near.iter().sum::<f64>() / near.len() as f64;
                }
            }
        }
        Cluster { middle: std::array::from_fn(|i| middle[i]), spread }
    }

    /// The level of grain at a brightness, if it is known.
    pub(super) fn middle(&self, bright: f64) -> Option<f64> {
        self.middle[bin(bright)]
    }

    pub(super) fn holds(&self, b: &BlockLevel) -> bool {
        self.middle(b.bright).is_some_and(|m| (b.level - m).abs() <= 3.0 * self.spread)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::normal;
    use super::*;

    /// Two of three blocks have texture; those of grain are found without bias.
    #[test]
    fn grain_is_where_levels_are_dense() {
        let noise = normal(900, 2, 4);
        let blocks: Vec<BlockLevel> = (0..900)
            .map(|i| {
                let bright = f64::from(i % 8) * 30.0 + 10.0;
                let grain = bright / 100.0 + 0.08 * f64::from(noise.row(0)[i as usize]);
                let texture =
                    if i % 3 == 0 { 0.0 } else { 0.5 + 2.0 * f64::from(noise.row(1)[i as usize]).abs() };
                BlockLevel { bright, level: grain + texture }
            })
            .collect();
        let found = Cluster::of(&blocks, false);
        let (mut kept, mut wrong) = (0, 0);
        for (i, b) in blocks.iter().enumerate().filter(|b| found.holds(b.1)) {
            kept += 1;
            wrong += usize::from(i % 3 != 0);
            assert!((found.middle(b.bright).unwrap() - b.bright / 100.0).abs() < 0.08, "{b:?}");
        }
        assert!((270..330).contains(&kept) && wrong < 12, "{kept} {wrong}");
    }

    /// Most blocks have the same texture, a quarter has none.
    #[test]
    fn of_two_dense_places_the_lower_is_found() {
        let noise = normal(800, 1, 7);
        let level = |i: usize| {
            let texture = if i.is_multiple_of(4) { 0.0 } else { 0.8 };
            BlockLevel { bright: 100.0, level: 1.0 + texture + 0.1 * f64::from(noise.row(0)[i]) }
        };
        let blocks: Vec<BlockLevel> = (0..800).map(level).collect();
        let middle = |low| Cluster::of(&blocks, low).middle(100.0).unwrap();
        assert!((middle(true) - 1.0).abs() < 0.03 && (middle(false) - 1.8).abs() < 0.03);
    }

    #[test]
    fn few_blocks_say_nothing() {
        let few = [BlockLevel { bright: 10.0, level: 0.0 }; 5];
        assert!(!Cluster::of(&few, false).holds(&few[0]));
        assert!(!Cluster::of(&[], false).holds(&few[0]));
    }
}
