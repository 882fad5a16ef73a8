//! Means of a picture over sixteen cells at a time: the same, to the bit, as those of the [sampler](super::sampler)
//! cell by cell.
#![allow(clippy::needless_range_loop)] // a lane is an index into many arrays

use super::super::arch::whole;
use super::rasterize::{Block, F32x16, LANES};
use super::sampler::{MARGIN, Sampler};

/// The largest number of texels across a cell.
const MOST: usize = 4;

/// Along an axis of the picture: the texel at the low end of each of sixteen cells, and how much of that and of the
/// next ones the cell takes.
#[derive(Clone, Copy)]
pub(super) struct Overlap {
    first: [i32; LANES],
    part: [F32x16; MOST],
    /// How many of the parts there are.
    used: usize,
    step: Step,
}

/// The distance of neighbouring cells in texels. Those one or two apart, as they mostly are, are read as vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    One,
    Two,
    Any,
}

impl Overlap {
    pub(super) const EMPTY: Overlap =
        Overlap { first: [0; LANES], part: [[0.0; LANES]; MOST], used: 0, step: Step::Any };

    /// Of cells with these middles, `half` a cell on either side of them, and a picture of `size` texels.
    #[inline(always)]
    fn set(&mut self, middle: &F32x16, half: f32, size: usize) {
        let size = size as i32;
        let (mut low, mut high, mut first) = ([0.0; LANES], [0.0; LANES], [0i32; LANES]);
        for l in 0..LANES {
            (low[l], high[l]) = (middle[l] - half, middle[l] + half);
            let below = if low[l] < 0.0 { 1 } else { 0 };
            // Cells outside are left so far outside that sixteen of them are read from the margin.
            first[l] = whole(low[l], -(MARGIN as i32 / 2), size + MARGIN as i32 / 2) - below;
        }
        self.used = 0;
        for k in 0..MOST {
            let (mut wide, mut any) = ([0.0f32; LANES], [0u32; LANES]);
            for l in 0..LANES {
                let x = first[l] + k as i32;
                let (from, to) = (x as f32, (x + 1) as f32);
                let from = if low[l] > from { low[l] } else { from };
                let to = if high[l] < to { high[l] } else { to };
                let inside = (x >= 0) & (x < size) & (to > from);
                wide[l] = if inside { to - from } else { 0.0 };
                any[l] = wide[l].to_bits();
            }
            self.part[k] = wide;
            if any.iter().fold(0, |all, any| all | any) != 0 {
                self.used = k + 1;
            }
        }
        self.first = first;
    }

    /// Sets the distance of the cells, where all are in a row.
    #[inline(always)]
    fn set_step(&mut self) {
        let (first, mut off) = (&self.first, [[0; LANES]; 2]);
        for l in 0..LANES {
            (off[0][l], off[1][l]) = (first[l] - (first[0] + l as i32), first[l] - (first[0] + 2 * l as i32));
        }
        self.step = match off.map(|off| off.iter().fold(0, |any, off| any | off) == 0) {
            [true, _] => Step::One,
            [_, true] => Step::Two,
            _ => Step::Any,
        };
    }
}

impl Sampler<'_> {
    /// Whether sixteen cells can be sampled at a time: the picture is not repeated, and a cell has few texels.
    pub(super) fn is_simple(&self) -> bool {
        self.shift.is_none() && self.half.iter().all(|half| 2.0 * half <= (MOST - 1) as f32)
    }

    /// Whether the columns of cells are columns of texels, in a picture that is kept in planes.
    pub(super) fn is_upright(&self) -> bool {
        self.cos == 1.0 && self.sin == 0.0 && !self.raster.planes[0].is_empty()
    }

    /// The texels of sixteen columns of a block from column `at` on, of a picture that is upright.
    #[inline(always)]
    pub(super) fn columns(&self, block: &Block<'_>, at: usize, out: &mut Overlap) {
        let (dx, mut u) = (block.across(at), [0.0; LANES]);
        for l in 0..LANES {
            u[l] = dx[l] * self.per[0] + self.middle[0];
        }
        out.set(&u, self.half[0], self.raster.size[0]);
        out.set_step();
    }

    /// The texels of sixteen rows of a block from row `at` on, of a picture that is upright.
    #[inline(always)]
    pub(super) fn rows(&self, block: &Block<'_>, at: usize, out: &mut Overlap) {
        let mut v = [0.0; LANES];
        for l in 0..LANES {
            v[l] = block.down(at + l) * self.per[1] + self.middle[1];
        }
        out.set(&v, self.half[1], self.raster.size[1]);
    }

    /// Components `of` of [`cell`](Sampler::cell) for sixteen columns, in row `r` of sixteen.
    #[inline(always)]
    pub(super) fn upright<const N: usize>(
        &self,
        columns: &Overlap,
        (rows, r): (&Overlap, usize),
        of: [usize; N],
        out: &mut [F32x16; 4],
    ) {
        // One body for each, so that none computes the addresses of another.
        match columns.step {
            Step::One => self.upright_by::<N, 1>(columns, (rows, r), of, out),
            Step::Two => self.upright_by::<N, 2>(columns, (rows, r), of, out),
            Step::Any => self.upright_by::<N, 0>(columns, (rows, r), of, out),
        }
    }

    #[inline(always)]
    fn upright_by<const N: usize, const STEP: usize>(
        &self,
        columns: &Overlap,
        (rows, r): (&Overlap, usize),
        of: [usize; N],
        out: &mut [F32x16; 4],
    ) {
        let r = r % LANES;
        let w = self.raster.size[0] as i32;
        let mut sum = [[0.0; LANES]; N];
        for (j, down) in rows.part.iter().enumerate() {
            if j >= rows.used {
                break;
            }
            let from = MARGIN as i32 + (rows.first[r] + j as i32) * w;
            let mut parts = [[0.0; LANES]; MOST];
            for (part, wide) in parts.iter_mut().zip(&columns.part) {
                for l in 0..LANES {
                    part[l] = down[r] * wide[l];
                }
            }
            for c in 0..N {
                let (plane, sum) = (&self.raster.planes[of[c]][..], &mut sum[c]);
                // Rows outside have no part.
                let texels = plane.get((from + columns.first[0]) as usize..).unwrap_or(&[]);
                if STEP == 1 {
                    let Some(texels) = texels.first_chunk::<{ LANES + MOST }>() else { continue };
                    for k in 0..MOST {
                        if k >= columns.used {
                            break;
                        }
                        for l in 0..LANES {
                            sum[l] += texels[l + k] * parts[k][l];
                        }
                    }
                } else if STEP == 2 {
                    let Some(texels) = texels.first_chunk::<{ 2 * LANES + MOST }>() else { continue };
                    for k in 0..MOST {
                        if k >= columns.used {
                            break;
                        }
                        for l in 0..LANES {
                            sum[l] += texels[2 * l + k] * parts[k][l];
                        }
                    }
                } else {
                    for k in 0..columns.used.min(MOST) {
                        let mut texels = [0.0; LANES];
                        for l in 0..LANES {
                            let at = (from + columns.first[l] + k as i32) as usize;
                            texels[l] = plane.get(at).copied().unwrap_or_default();
                        }
                        for l in 0..LANES {
                            sum[l] += texels[l] * parts[k][l];
                        }
                    }
                }
            }
        }
        for c in 0..N {
            for l in 0..LANES {
                out[of[c]][l] = sum[c][l] * self.share;
            }
        }
    }

    /// [`cell`](Sampler::cell) for sixteen cells of a block from column `at` on, in a row `dy` luma samples from the
    /// centre.
    #[inline(always)]
    pub(super) fn turned(&self, block: &Block<'_>, at: usize, dy: f32, out: &mut [F32x16; 4]) {
        let (dx, mut u, mut v) = (block.across(at), [0.0; LANES], [0.0; LANES]);
        for l in 0..LANES {
            u[l] = (dx[l] * self.cos + dy * self.sin) * self.per[0] + self.middle[0];
            v[l] = (dy * self.cos - dx[l] * self.sin) * self.per[1] + self.middle[1];
        }
        let [w, h] = self.raster.size;
        let (mut columns, mut rows) = (Overlap::EMPTY, Overlap::EMPTY);
        columns.set(&u, self.half[0], w);
        rows.set(&v, self.half[1], h);
        let texels = &self.raster.texels[..];
        for l in 0..LANES {
            let mut sum = [0.0; 4];
            for (j, down) in rows.part.iter().enumerate().take(rows.used) {
                let row = (rows.first[l] + j as i32) * w as i32 + columns.first[l];
                for (i, wide) in columns.part.iter().enumerate().take(columns.used) {
                    // A texel outside has no part.
                    let Some(texel) = texels.get((row + i as i32) as usize) else { continue };
                    let part = down[l] * wide[l];
                    for c in 0..4 {
                        sum[c] += texel[c] * part;
                    }
                }
            }
            for c in 0..4 {
                out[c][l] = sum[c] * self.share;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::coverage::rotation;
    use super::super::draw_plane::DrawPlane;
    use super::super::image::Image;
    use super::super::rasterize::WIDE;
    use super::super::sampler::Prepared;
    use super::super::splat::Splat;
    use super::*;
    use crate::frame::Format;
    use crate::noise::seed::mix64;
    use crate::pixel::transfer::TransferFunction;
    use crate::simd::Level;

    fn texels(size: [usize; 2]) -> Vec<[f32; 4]> {
        let any = |i: usize| (mix64(i as u64) >> 40) as f32 / (1u64 << 24) as f32;
        (0..size[0] * size[1]).map(|i| [0, 1, 2, 3].map(|c| any(4 * i + c))).collect()
    }

    #[test]
    fn sixteen_cells_at_a_time_are_cell_by_cell() {
        let (mut cases, mut covered) = ([0, 0], [0, 0]);
        for (kind, name) in ["gbrap", "yuv420p", "yuv422p"].into_iter().enumerate() {
            let format = Format::from_name(name, 64, 64).unwrap();
            let places: Vec<DrawPlane> = (0..format.planes()).map(|p| DrawPlane::of(&format, p)).collect();
            for (case, size) in
                [[1, 1], [7, 5], [32, 32], [64, 3], [120, 90], [200, 150]].into_iter().enumerate()
            {
                let image = Image::new(size[0], size[1], &texels(size)).unwrap();
                let prepared = Prepared::of(&image, &places, None, TransferFunction::Linear, Level::best());
                for n in 0..90u64 {
                    let any = |k: u64, top: u64| mix64(n * 16 + k + 977 * (7 * kind + case) as u64) % top;
                    // Some at their own size, and some of these on whole samples; some turned.
                    let mut half = [any(0, 900) + 8, any(1, 900) + 8].map(|h| h as u16);
                    let mut at = [any(2, 1 << 14), any(3, 1 << 14)].map(|v| v as i32);
                    if n % 3 > 0 {
                        half = size.map(|s| 8 * s as u16);
                        at = if n % 3 == 1 { at.map(|v| v & !127) } else { at };
                    }
                    let angle = [0, any(5, 65536) as u16, 1 << 14][(n / 3 % 3) as usize];
                    let splat = Splat { half, angle, x: at[0], y: at[1], ..Splat::new([0.0; 2], [1.0; 2]) };
                    let cells = &places[n as usize % places.len()].cells;
                    let sampler = prepared.sampler(&splat, rotation(angle), cells.size());
                    if !sampler.is_simple() {
                        continue;
                    }
                    let upright = sampler.is_upright();
                    cases[usize::from(upright)] += 1;
                    let first = [any(4, 9) as i32 - 4, 0];
                    let block = Block { cells, aspect: 1.0, first, size: [WIDE, 32], centre: at };
                    for (row, from) in (0..32).flat_map(|row| [0, 5, 23, 48].map(|from| (row, from))) {
                        let dy = cells.offset(1, at[1], row as i32);
                        let mut got = [[0.0; LANES]; 4];
                        if upright {
                            let (mut columns, mut rows) = (Overlap::EMPTY, Overlap::EMPTY);
                            sampler.columns(&block, from, &mut columns);
                            sampler.rows(&block, row / LANES * LANES, &mut rows);
                            sampler.upright(&columns, (&rows, row), [3, 1], &mut got);
                            sampler.upright(&columns, (&rows, row), [0, 3, 2], &mut got);
                        } else {
                            sampler.turned(&block, from, dy, &mut got);
                        }
                        for l in 0..LANES {
                            let dx = cells.offset(0, at[0], block.first[0] + (from + l) as i32);
                            let want = sampler.cell([dx, dy]);
                            for c in 0..4 {
                                let (got, want) = (got[c][l].to_bits(), want[c].to_bits());
                                assert_eq!(got, want, "{name} {size:?} {n} {row} {from} {l} {c}");
                            }
                            covered[usize::from(upright)] += usize::from(want[3] > 0.0);
                        }
                    }
                }
            }
        }
        let enough = |few: [usize; 2], most| few.iter().all(|n| *n > most);
        assert!(enough(cases, 300) && enough(covered, 10_000), "{cases:?} {covered:?}");
    }
}
