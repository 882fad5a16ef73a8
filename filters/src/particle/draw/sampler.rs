//! Means of a sprite's picture over cells.
//!
//! A picture is a raster of squares of one colour each (texels). A cell gets the mean of the picture over a rectangle
//! around the cell's centre, rotated like the picture, as large as the cell but not smaller than a texel: at scale 1 a
//! sprite on whole samples is copied exactly, between samples it is interpolated linearly, and when it is reduced every
//! texel counts. If a rectangle would contain many texels, the picture is halved once or more first.
//!
//! A repeating picture is shifted within its own frame: the part that leaves on one side enters on the other. The
//! rectangle is clipped to the frame and reads the picture as if copies were adjacent on all sides.

use super::super::arch::whole;
use super::draw_plane::{self, Premultiplied};
use super::image::Image;
use super::raster::{Raster, add_texels};
use super::rasterize::{Bounds, CellBlock, F32x16, LANES};
use super::splat::{SIZES, Splat};
use crate::pixel::convert::Coefficients;
use crate::pixel::transfer::TransferFunction;
use crate::simd::Level;

/// A picture in the colours of a painter, with its halvings.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    halvings: Vec<Raster>,
    repeats: bool,
}

/// The number of texels along the shorter and the longer side of a cell from which on a halved picture is read.
const HALVED: [f32; 2] = [4.0, 16.0];

/// From R, G and B (0 to 1, as displayed) multiplied by alpha to the working colours of a painter.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColourConversion {
    pub(super) matrix: Option<Coefficients>,
    pub(super) grey: bool,
    pub(super) curve: TransferFunction,
    pub(super) level: Level,
}

impl ColourConversion {
    /// Converts many texels.
    #[inline(always)]
    pub(super) fn convert_row(&self, texels: &mut [Premultiplied]) {
        let (Some(matrix), false, TransferFunction::Linear) = (self.matrix, self.grey, self.curve) else {
            return texels.iter_mut().for_each(|texel| *texel = self.convert(*texel));
        };
        let rows = matrix.to_yuv();
        // Columns of the matrix, so that a texel is one register.
        let [g, b, r]: [[f64; 4]; 3] = core::array::from_fn(|c| [rows[0][c], rows[1][c], rows[2][c], 0.0]);
        for texel in texels {
            let from = texel.map(f64::from);
            let alpha = texel[3];
            *texel = core::array::from_fn(|k| (g[k] * from[1] + b[k] * from[2] + r[k] * from[0]) as f32);
            texel[3] = alpha;
        }
    }

    #[inline(always)]
    pub(super) fn convert(&self, [r, g, b, alpha]: Premultiplied) -> Premultiplied {
        let [y, u, v] = draw_plane::nominal(self.matrix, [r, g, b].map(f64::from)).map(|v| v as f32);
        let mut texel = if self.grey { [y, 0.0, 0.0, alpha] } else { [y, u, v, alpha] };
        if self.curve != TransferFunction::Linear && alpha > 0.0 {
            let colours = &mut texel[..3];
            colours.iter_mut().for_each(|v| *v /= alpha);
            self.curve.linearize(self.level, colours);
            colours.iter_mut().for_each(|v| *v *= alpha);
        }
        texel
    }
}

impl Prepared {
    pub(super) fn new(image: &Image, colours: &ColourConversion) -> Prepared {
        let texels: Vec<_> = image.texels.iter().map(|t| colours.convert(*t)).collect();
        let mut last = Raster::new(image.size, image.size.map(|s| s as f32), &texels);
        let mut halvings = Vec::new();
        while last.size.iter().any(|s| *s > 1) {
            let next = if image.repeats { last.halved_around() } else { last.halved() };
            halvings.push(core::mem::replace(&mut last, next));
        }
        halvings.push(last);
        Prepared { halvings, repeats: image.repeats }
    }

    /// The picture at a splat's size, turned by this cosine and sine, for cells of a size.
    pub(super) fn sampler(&self, splat: &Splat, [cos, sin]: [f32; 2], cell: [f32; 2]) -> Sampler<'_> {
        let [rx, ry] = splat.half.map(|h| f32::from(h) * (1.0 / SIZES));
        let size = self.halvings[0].size.map(|s| s as f32);
        let mut per = [0.5 * size[0] / rx, 0.5 * size[1] / ry];
        let mut middle = size.map(|s| 0.5 * s);
        let long = |a: f32, b: f32| (a * a + b * b).sqrt();
        let mut wide =
            [per[0] * long(cell[0] * cos, cell[1] * sin), per[1] * long(cell[0] * sin, cell[1] * cos)];
        let mut halving = 0;
        let too_many = |w: [f32; 2]| w[0].min(w[1]) >= HALVED[0] || w[0].max(w[1]) >= HALVED[1];
        while too_many(wide) && halving + 1 < self.halvings.len() {
            halving += 1;
            per = per.map(|v| 0.5 * v);
            middle = middle.map(|v| 0.5 * v);
            wide = wide.map(|v| 0.5 * v);
        }
        let raster = &self.halvings[halving];
        let shift = |a: usize| f32::from(splat.colour[a]) * (1.0 / 65536.0) * raster.period[a];
        let shift = if self.repeats { Some([shift(0), shift(1)]) } else { None };
        Sampler::new(raster, [cos, sin], per, middle, wide, shift)
    }

    /// The size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.halvings.iter().map(Raster::bytes).sum()
    }
}

/// A stretch cut to a frame and moved back around in it: in two pieces, of which the second may be empty.
#[inline(always)]
fn around(low: f32, high: f32, period: f32, shift: f32) -> [[f32; 2]; 2] {
    let (low, high) = (low.max(0.0), high.min(period));
    // None of it is in the frame, or it is NaN.
    if low.partial_cmp(&high) != Some(core::cmp::Ordering::Less) {
        return [[0.0; 2]; 2];
    }
    let long = high - low;
    let from = if low < shift { low - shift + period } else { low - shift };
    [[from, (from + long).min(period)], [0.0, from + long - period]]
}

/// A picture at a size and angle, read cell by cell.
pub(super) struct Sampler<'a> {
    raster: &'a Raster,
    cos: f32,
    sin: f32,
    /// Texels in a luma sample, and the texel in the middle.
    per: [f32; 2],
    middle: [f32; 2],
    /// Half a rectangle in texels, and 1 over its area.
    half: [f32; 2],
    share: f32,
    /// The shift of a repeating picture, in texels.
    shift: Option<[f32; 2]>,
}

impl<'a> Sampler<'a> {
    /// A raster with `per` texels in a luma sample around `middle`, rotated by a cosine and sine, for cells `wide`
    /// texels wide and high.
    pub(super) fn new(
        raster: &'a Raster,
        [cos, sin]: [f32; 2],
        per: [f32; 2],
        middle: [f32; 2],
        wide: [f32; 2],
        shift: Option<[f32; 2]>,
    ) -> Sampler<'a> {
        let wide = wide.map(|w| w.max(1.0));
        let half = wide.map(|w| 0.5 * w);
        Sampler { raster, cos, sin, per, middle, half, share: 1.0 / (wide[0] * wide[1]), shift }
    }

    /// The region of cell centres that take a part of the picture.
    pub(super) fn bounds(&self) -> Bounds {
        let half = [0, 1].map(|a| {
            let beyond = self.raster.size[a] as f32 - self.middle[a];
            // With a margin for the precision of positions.
            (beyond.max(self.middle[a]) + self.half[a]) / self.per[a] * (257.0 / 256.0) + 0.25
        });
        Bounds { cos: self.cos, sin: self.sin, half, round: f32::INFINITY }
    }

    /// Whether columns of cells are columns of texels.
    pub(super) fn is_upright(&self) -> bool {
        self.cos == 1.0 && self.sin == 0.0 && self.shift.is_none()
    }

    /// For an upright picture, the cells of row `j` of a block that stored texels may reach, and their texels if cells are
    /// texels.
    #[inline(always)]
    pub(super) fn columns(&self, block: &CellBlock<'_>, j: usize) -> ([usize; 2], Option<&[Premultiplied]>) {
        let v = block.down(j) * self.per[1] + self.middle[1];
        let (top, bottom) =
            ((v - self.half[1]).max(0.0) as usize, (v + self.half[1]).max(0.0).ceil() as usize);
        let (mut low, mut high) = (usize::MAX, 0);
        for (from, row) in (top..bottom.min(self.raster.rows.len())).map(|y| self.raster.row(y)) {
            (low, high) = (low.min(from), high.max(from + row.len()));
        }
        if low >= high {
            return ([0, 0], None);
        }
        let start = block.across(0)[0] * self.per[0] + self.middle[0];
        let step = block.cell()[0] * self.per[0];
        let most = block.size[0] as i32;
        let copied = step == 1.0 && self.half == [0.5; 2];
        if copied && start - 0.5 == (start - 0.5).floor() && v - 0.5 == top as f32 {
            let first = (start - 0.5) as i32;
            let cells = [low as i32 - first, high as i32 - first].map(|i| i.clamp(0, most) as usize);
            let texels = self.raster.row(top).1;
            let skipped = (first + cells[0] as i32 - low as i32) as usize;
            return (cells, texels.get(skipped..));
        }
        // A cell more on either side, for the precision of positions.
        let from = whole((low as f32 - self.half[0] - start) / step - 1.0, 0, most);
        let to = whole((high as f32 + self.half[0] - start) / step + 2.0, 0, most);
        ([from as usize, to as usize], None)
    }

    /// The texel at a cell's centre, for drafts.
    pub(super) fn nearest(&self, at: [f32; 2]) -> [f32; 4] {
        let mut place = self.texel(at);
        if let Some(shift) = self.shift {
            for ((v, shift), period) in place.iter_mut().zip(shift).zip(self.raster.period) {
                if !(0.0..period).contains(v) {
                    return [0.0; 4];
                }
                *v -= if *v < shift { shift - period } else { shift };
            }
        }
        let [u, v] = place;
        // `as` saturates and turns NaN into 0.
        if u >= 0.0 && v >= 0.0 { self.raster.texel(u as usize, v as usize) } else { [0.0; 4] }
    }

    /// A position in texels.
    #[inline(always)]
    fn texel(&self, at: [f32; 2]) -> [f32; 2] {
        let u = (at[0] * self.cos + at[1] * self.sin) * self.per[0] + self.middle[0];
        let v = (at[1] * self.cos - at[0] * self.sin) * self.per[1] + self.middle[1];
        [u, v]
    }

    /// Calls `put` with [`Sampler::cell`] of `count` cells of a row of an upright picture, `across` and `dy` luma samples
    /// from the splat's centre. Values that are constant along a row are computed once.
    #[inline(always)]
    pub(super) fn upright_cells(
        &self,
        across: &F32x16,
        dy: f32,
        count: usize,
        mut put: impl FnMut(usize, &Premultiplied),
    ) {
        let v = dy * self.per[1] + self.middle[1];
        let (top, bottom) = (v - self.half[1], v + self.half[1]);
        let u = across.map(|x| x * self.per[0] + self.middle[0]);
        let (left, right) = (u.map(|u| u - self.half[0]), u.map(|u| u + self.half[0]));
        let (low, high) = (left.map(|v| v.max(0.0) as i32), right.map(|v| v.max(0.0).ceil() as i32));
        let mut sums = [[0.0f32; 4]; LANES];
        for (y, down) in self.raster.rows_between(top, bottom) {
            let row = self.raster.row(y);
            for (l, sum) in sums.iter_mut().enumerate().take(count) {
                add_texels(row, [low[l], high[l]], [left[l], right[l]], down, sum);
            }
        }
        for (l, sum) in sums.into_iter().enumerate().take(count) {
            put(l, &sum.map(|s| s * self.share));
        }
    }

    /// The mean around a cell's centre, `at` luma samples from the splat's: nominal values multiplied by alpha, and
    /// alpha.
    #[inline(always)]
    pub(super) fn cell(&self, at: [f32; 2]) -> [f32; 4] {
        let [u, v] = self.texel(at);
        let (left, right) = (u - self.half[0], u + self.half[0]);
        let (top, bottom) = (v - self.half[1], v + self.half[1]);
        let mut sum = [0.0f32; 4];
        match self.shift {
            None => self.raster.sum([left, right], [top, bottom], &mut sum),
            Some([x, y]) => {
                let [across, down] = self.raster.period;
                for rows in around(top, bottom, down, y) {
                    for columns in around(left, right, across, x) {
                        self.raster.sum(columns, rows, &mut sum);
                    }
                }
            }
        }
        sum.map(|s| s * self.share)
    }
}

#[cfg(test)]
mod tests {
    use super::super::coverage::rotation;
    use super::*;
    use crate::noise::seed::mix64;

    fn texels(size: [usize; 2]) -> Vec<[f32; 4]> {
        let any = |i: usize| (mix64(i as u64) >> 40) as f32 / (1u64 << 24) as f32;
        (0..size[0] * size[1]).map(|i| [0, 1, 2, 3].map(|c| any(4 * i + c))).collect()
    }

    const DIRECT: ColourConversion =
        ColourConversion { matrix: None, grey: false, curve: TransferFunction::Linear, level: Level::SCALAR };

    /// Every cell against the definition in f64: the picture beside itself on all sides, moved, cut to its frame, its
    /// mean taken over the cell's rectangle. Halved pictures are means of the texels that there are.
    #[test]
    fn repeating_pictures_are_moved_around() {
        let mut worst = 0.0f64;
        let mut halved = 0;
        for (case, size) in [[1, 1], [3, 1], [7, 5], [8, 6], [13, 29], [64, 3]].into_iter().enumerate() {
            let texels = texels(size);
            let image = Image::new(size[0], size[1], &texels).unwrap().repeating();
            let prepared = Prepared::new(&image, &DIRECT);
            for n in 0..60u64 {
                let any = |k: u64, top: u64| mix64(n * 16 + k + 977 * case as u64) % top;
                let half = [any(0, 200) + 8, any(1, 200) + 8].map(|h| h as u16);
                let shift =
                    if n == 0 { [0, 65535] } else { [any(2, 65536), any(3, 65536)].map(|s| s as u16) };
                let angle = if n % 3 == 0 { 0 } else { any(4, 65536) as u16 };
                let splat =
                    Splat { half, angle, colour: [shift[0], shift[1], 0], ..Splat::new([0.0; 2], [1.0; 2]) };
                let cell = [1.0f32, 2.0][(n % 2) as usize];
                let sampler = prepared.sampler(&splat, rotation(splat.angle), [cell, cell]);
                let level = prepared.halvings.iter().position(|r| core::ptr::eq(r, sampler.raster)).unwrap();
                halved += usize::from(level > 0);
                let step = (1usize << level) as f64;
                let (sin, cos) = libm::sincos(f64::from(angle) / 65536.0 * core::f64::consts::TAU);
                let wide = |a: usize| {
                    let [c, s] = if a == 0 { [cos, sin] } else { [sin, cos] };
                    let per = 0.5 * size[a] as f64 / step / (f64::from(half[a]) / 16.0);
                    (per * f64::from(cell) * libm::hypot(c, s)).max(1.0)
                };
                let wide = [wide(0), wide(1)];
                for at in [[0.0f32, 0.0], [0.3, -0.8], [-3.1, 2.2], [5.0, 5.5], [-11.5, 0.5], [40.0, 0.0]] {
                    let (x, y) = (f64::from(at[0]), f64::from(at[1]));
                    let turned = [x * cos + y * sin, y * cos - x * sin];
                    // How much of each texel lies in the rectangle, along an axis.
                    let shares = |a: usize| -> Vec<f64> {
                        let period = size[a] as f64 / step;
                        let middle = turned[a] * period / (f64::from(half[a]) / 8.0) + 0.5 * period;
                        let low = (middle - 0.5 * wide[a]).max(0.0);
                        let high = (middle + 0.5 * wide[a]).min(period);
                        let shift = f64::from(shift[a]) / 65536.0 * period;
                        let share = |i: usize| {
                            let [from, to] = [i as f64, (i as f64 + 1.0).min(period)];
                            let once = |turn: f64| {
                                let by = shift + turn * period;
                                (high.min(to + by) - low.max(from + by)).max(0.0)
                            };
                            once(-1.0) + once(0.0) + once(1.0)
                        };
                        (0..size[a].div_ceil(1 << level)).map(share).collect()
                    };
                    let (across, down) = (shares(0), shares(1));
                    let mut want = [0.0f64; 4];
                    for (j, v) in down.iter().enumerate() {
                        for (i, u) in across.iter().enumerate() {
                            let block = |a: usize, i: usize| i << level..((i + 1) << level).min(size[a]);
                            let all = block(0, i).len() * block(1, j).len();
                            for (x, y) in block(1, j).flat_map(|y| block(0, i).map(move |x| (x, y))) {
                                let t = texels[y * size[0] + x].map(f64::from);
                                let part = u * v / all as f64 / (wide[0] * wide[1]);
                                // Planes are G, B and R.
                                for (w, c) in
                                    want.iter_mut().zip([t[1] * t[3], t[2] * t[3], t[0] * t[3], t[3]])
                                {
                                    *w += c * part;
                                }
                            }
                        }
                    }
                    let got = sampler.cell(at).map(f64::from);
                    for (g, w) in got.iter().zip(want) {
                        worst = worst.max((g - w).abs());
                    }
                }
            }
        }
        assert!(worst < 2e-5 && halved > 15, "{worst} {halved}");
    }

    #[test]
    fn one_that_does_not_repeat_stays() {
        let image = Image::new(7, 5, &texels([7, 5])).unwrap();
        let prepared = Prepared::new(&image, &DIRECT);
        let splat = Splat::new([0.0; 2], [3.5, 2.5]);
        let of = |splat: Splat| prepared.sampler(&splat, rotation(splat.angle), [1.0; 2]).cell([0.5, 1.0]);
        assert_eq!(of(splat), of(Splat { colour: [999, 5000, 7], ..splat }));
    }
}
