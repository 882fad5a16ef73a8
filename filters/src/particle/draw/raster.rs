//! The texels of a picture in rows, their halvings, and sums over rectangles of them.

use super::draw_plane::Premultiplied;

/// Texels in rows, of which only a part may be kept; the others are empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Raster {
    pub(super) size: [usize; 2],
    /// Width and height of the picture; of a repeating picture, the remainder after the last whole texel is not read.
    pub(super) period: [f32; 2],
    /// For each row, the column of the first texel that is kept, and the texels.
    pub(super) rows: Vec<(u32, Vec<Premultiplied>)>,
}

impl Raster {
    /// A picture of all its texels.
    pub(super) fn new(size: [usize; 2], period: [f32; 2], texels: &[Premultiplied]) -> Raster {
        let mut raster = Raster { period, ..Raster::empty(size[0]) };
        for row in texels.chunks(size[0]) {
            raster.push(row);
        }
        raster
    }

    /// A picture without rows yet.
    pub(super) fn empty(width: usize) -> Raster {
        Raster { size: [width, 0], ..Raster::default() }
    }

    /// Adds a row, of which the texels from the first to the last that is not empty are kept; returns these.
    #[inline(always)]
    pub(super) fn push(&mut self, row: &[Premultiplied]) -> &mut [Premultiplied] {
        let from = row.iter().position(|t| t[3] > 0.0).unwrap_or(0);
        let to = row.iter().rposition(|t| t[3] > 0.0).map_or(from, |i| i + 1);
        self.rows.push((from as u32, row[from..to].to_vec()));
        self.size[1] += 1;
        self.rows.last_mut().map_or(&mut [], |row| &mut row.1)
    }

    /// Adds the rows of another one.
    pub(super) fn append(&mut self, mut other: Raster) {
        self.rows.append(&mut other.rows);
        self.size[1] = self.rows.len();
    }

    /// The size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let texels: usize = self.rows.iter().map(|row| row.1.capacity()).sum();
        self.rows.capacity() * size_of::<(u32, Vec<Premultiplied>)>() + texels * size_of::<Premultiplied>()
    }

    /// The first column and the texels that are kept of a row.
    #[inline(always)]
    pub(super) fn row(&self, y: usize) -> (usize, &[Premultiplied]) {
        self.rows.get(y).map_or((0, &[]), |(from, texels)| (*from as usize, texels))
    }

    #[inline(always)]
    pub(super) fn texel(&self, x: usize, y: usize) -> Premultiplied {
        let (from, row) = self.row(y);
        row.get(x.wrapping_sub(from)).copied().unwrap_or_default()
    }

    /// Each texel is the mean of two by two; beyond the edges is zero.
    pub(super) fn halved(&self) -> Raster {
        self.reduced(|_, _| 1.0, |sum, _| sum.map(|s| 0.25 * s))
    }

    /// Each texel is the mean of those of two by two that are in the picture.
    pub(super) fn halved_around(&self) -> Raster {
        // The fraction of a texel within the picture.
        let wide = |a: usize, i: usize| (self.period[a] - i as f32).clamp(0.0, 1.0);
        self.reduced(|x, y| wide(0, x) * wide(1, y), |sum, all| sum.map(|s| s / all))
    }

    /// The weighted sums of two by two texels, and the sums of weights, made into texels.
    fn reduced(
        &self,
        weight: impl Fn(usize, usize) -> f32,
        mean: impl Fn(Premultiplied, f32) -> Premultiplied,
    ) -> Raster {
        let size = self.size.map(|s| s.div_ceil(2));
        let mut texels = Vec::with_capacity(size[0] * size[1]);
        for (y, x) in (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (y, x))) {
            let (mut sum, mut all) = ([0.0f32; 4], 0.0);
            for (i, j) in [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| (2 * x + i, 2 * y + j)) {
                let part = weight(i, j);
                if part > 0.0 && i < self.size[0] && j < self.size[1] {
                    let texel = self.texel(i, j);
                    sum = core::array::from_fn(|c| sum[c] + part * texel[c]);
                    all += part;
                }
            }
            texels.push(mean(sum, all));
        }
        Raster::new(size, self.period.map(|p| 0.5 * p), &texels)
    }

    /// The sum of texels, weighted by their overlap with a rectangle.
    #[inline(always)]
    pub(super) fn sum(&self, [left, right]: [f32; 2], [top, bottom]: [f32; 2], sum: &mut Premultiplied) {
        // `as` saturates and turns NaN into 0.
        let columns = [left.max(0.0) as i32, right.max(0.0).ceil() as i32];
        for (y, down) in self.rows_between(top, bottom) {
            add_texels(self.row(y), columns, [left, right], down, sum);
        }
    }

    /// The rows between two positions, and the height of the part of each that is between them.
    #[inline(always)]
    pub(super) fn rows_between(&self, top: f32, bottom: f32) -> impl Iterator<Item = (usize, f32)> {
        let rows = top.max(0.0) as usize..(bottom.max(0.0).ceil() as usize).min(self.rows.len());
        rows.map(move |y| (y, bottom.min((y + 1) as f32) - top.max(y as f32)))
    }
}

/// Adds the texels of a row, which begin at column `from`, weighted by their overlap with a stretch from `left` to `right`,
/// which is in the columns from `low` up to `high`.
#[inline(always)]
pub(super) fn add_texels(
    (from, row): (usize, &[Premultiplied]),
    [low, high]: [i32; 2],
    [left, right]: [f32; 2],
    down: f32,
    sum: &mut Premultiplied,
) {
    let from = from as i32;
    let (x0, x1) = (low.max(from), high.min(from + row.len() as i32));
    let texels = row.get((x0 - from) as usize..(x1 - from).max(0) as usize).unwrap_or(&[]);
    for (x, texel) in (x0..).zip(texels) {
        let part = down * (right.min((x + 1) as f32) - left.max(x as f32));
        for (s, t) in sum.iter_mut().zip(texel) {
            *s += t * part;
        }
    }
}
