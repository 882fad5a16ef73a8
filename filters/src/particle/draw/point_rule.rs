//! The points at which a cell is sampled.

/// The most points along a side of a cell.
pub(super) const MAX_SUBSAMPLES: usize = 16;

/// The points along a side of a cell whose width is 1, from its middle, and their weights.
pub(super) struct PointRule {
    pub(super) n: usize,
    points: [[f32; 2]; MAX_SUBSAMPLES],
    /// Whether the weights differ; they are 1 otherwise.
    pub(super) weighted: bool,
    /// The factor from sums over a cell to means.
    pub(super) scale: f32,
}

impl PointRule {
    /// The rule of Gauss and Legendre with `n` points, from those of -1 to 1 that are not negative and their weights.
    const fn gauss<const HALF: usize>(n: usize, half: [[f32; 2]; HALF]) -> PointRule {
        let mut points = [[0.0; 2]; MAX_SUBSAMPLES];
        let mut i = 0;
        while i < HALF {
            let [at, weight] = half[i];
            points[n / 2 + i] = [0.5 * at, weight];
            points[(n - 1) / 2 - i] = [-0.5 * at, weight];
            i += 1;
        }
        PointRule { n, points, weighted: n > 2, scale: 0.25 }
    }

    /// The middles of `n` equal parts.
    const fn equal(n: usize) -> PointRule {
        let part = 1.0 / n as f32;
        let mut points = [[0.0; 2]; MAX_SUBSAMPLES];
        let mut i = 0;
        while i < n {
            points[i] = [(i as f32 + 0.5) * part - 0.5, 1.0];
            i += 1;
        }
        PointRule { n, points, weighted: false, scale: part * part }
    }

    /// The rule of `n` points.
    pub(super) fn of_points(n: u32) -> &'static PointRule {
        static ONE: PointRule = PointRule::equal(1);
        static TWO: PointRule = PointRule::gauss(2, [[0.577_350_26, 1.0]]);
        static THREE: PointRule = PointRule::gauss(3, [[0.0, 0.888_888_9], [0.774_596_7, 0.555_555_6]]);
        static FOUR: PointRule =
            PointRule::gauss(4, [[0.339_981_04, 0.652_145_15], [0.861_136_3, 0.347_854_85]]);
        static SIX: PointRule = PointRule::gauss(
            6,
            [[0.238_619_2, 0.467_913_93], [0.661_209_4, 0.360_761_57], [0.932_469_5, 0.171_324_49]],
        );
        static EIGHT: PointRule = PointRule::gauss(
            8,
            [
                [0.183_434_64, 0.362_683_78],
                [0.525_532_4, 0.313_706_65],
                [0.796_666_5, 0.222_381_03],
                [0.960_289_86, 0.101_228_54],
            ],
        );
        static SIXTEEN: PointRule = PointRule::equal(16);
        match n {
            0 | 1 => &ONE,
            2 => &TWO,
            3 => &THREE,
            4 => &FOUR,
            5 | 6 => &SIX,
            7 | 8 => &EIGHT,
            _ => &SIXTEEN,
        }
    }

    pub(super) fn points(&self) -> &[[f32; 2]] {
        &self.points[..self.n.min(MAX_SUBSAMPLES)]
    }
}
