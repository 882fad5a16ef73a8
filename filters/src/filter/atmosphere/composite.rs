//! From the grid to the samples of the picture.

use super::grid::{Grid, State};
use crate::filter::Band;
use crate::filter::ambient::Ambient;
use crate::filter::point::mean_alpha;
use crate::for_depth;
use crate::frame::{Alpha, Format, FrameRef, Scratch};
use crate::pixel::convert::{Code, Coefficients};
use crate::pixel::f32_rows::ConvertF32;
use crate::pixel::transfer::{TransferFunction, exp2};
use crate::simd::{Level, multiversion};

/// How rows of the grid become rows of a plane.
pub(super) struct Columns {
    /// For each sample the first of four samples of the grid.
    first: Vec<u32>,
    weights: Vec<[f32; 4]>,
    /// Samples per column of the grid, if all columns are alike.
    per: usize,
}

#[inline(always)]
fn any_body(grid: &[f32], first: &[u32], weights: &[[f32; 4]], out: &mut [f32]) {
    for ((out, first), w) in out.iter_mut().zip(first).zip(weights) {
        let g = &grid[*first as usize..][..4];
        *out = g[0] * w[0] + g[1] * w[1] + g[2] * w[2] + g[3] * w[3];
    }
}

/// The same, where `S` samples share a column: five weights of each, one of which is 0.
#[inline(always)]
fn even_body<const S: usize>(grid: &[f32], weights: &[[f32; S]; 5], out: &mut [f32]) {
    let columns = out.len() / S;
    let g: [&[f32]; 5] = core::array::from_fn(|k| &grid[k..][..columns]);
    let (out, _) = out.as_chunks_mut::<S>();
    for (i, out) in out.iter_mut().enumerate().take(columns) {
        for (s, out) in out.iter_mut().enumerate() {
            let w = |k: usize| g[k][i] * weights[k][s];
            *out = w(0) + w(1) + w(2) + w(3) + w(4);
        }
    }
}

/// Light of a row of the grid: the rest of the picture's white in `gain`, and offsets of G, B and R.
#[inline(always)]
fn scatter_body(
    density: &[f32],
    lit: &[f32],
    around: [([&[f32]; 2], f32); 3],
    (amount, tint, key): (f32, [f32; 3], [f32; 3]),
    gain: &mut [f32],
    offsets: [&mut [f32]; 3],
) {
    let n = gain.len();
    let (density, lit) = (&density[..n], &lit[..n]);
    let [o0, o1, o2] = offsets.map(|o| &mut o[..n]);
    let around = around.map(|([a, b], part)| ([&a[..n], &b[..n]], part));
    for i in 0..n {
        let depth = amount * density[i];
        let passes = exp2(-core::f32::consts::LOG2_E * depth);
        let thin = 1.0 / (1.0 + 0.35 * depth);
        let (soft, hard) = (0.25 + 0.3 * thin, (0.1 + 1.1 * lit[i]) * (0.6 + 0.4 * thin));
        let light = |c: usize| {
            let ([a, b], part) = around[c];
            let near = a[i] + part * (b[i] - a[i]);
            tint[c] * ((0.75 * near + 0.25 * key[c]) * soft + key[c] * hard)
        };
        let (x, y, z) = (light(0), light(1), light(2));
        let most = if x > y { x } else { y };
        let most = if most > z { most } else { z };
        let own = 1.0 - passes;
        gain[i] = passes + most * own;
        (o0[i], o1[i], o2[i]) = (x * own, y * own, z * own);
    }
}

/// From values of white and black to gains and offsets of planes.
#[inline(always)]
fn planes_body(gain: &mut [f32], offsets: [&mut [f32]; 3], matrix: &[[f32; 3]; 3]) {
    let n = gain.len();
    let [o0, o1, o2] = offsets.map(|o| &mut o[..n]);
    for i in 0..n {
        let (x, y, z) = (o0[i], o1[i], o2[i]);
        let most = if x > y { x } else { y };
        let most = if most > z { most } else { z };
        gain[i] -= most;
        let row = |m: [f32; 3]| m[0] * x + m[1] * y + m[2] * z;
        (o0[i], o1[i], o2[i]) = (row(matrix[0]), row(matrix[1]), row(matrix[2]));
    }
}

#[inline(always)]
fn apply_body<T: ConvertF32>(
    from: &[T],
    gain: &[f32],
    offset: &[f32],
    (zero, span, legal): (f32, f32, (f32, f32)),
    to: &mut [T],
) {
    for (((to, from), gain), offset) in to.iter_mut().zip(from).zip(gain).zip(offset) {
        *to = from.replaced(from.less(zero) * gain + offset * span, zero, legal);
    }
}

/// The light of flames and of the picture behind them, which the `glow` of flames lights.
#[inline(always)]
fn burn_body(
    light: &mut [f32],
    [heat, glow]: [&[f32]; 2],
    soot: f32,
    (emission, power, shine): (f32, u32, f32),
) {
    const E: f32 = core::f32::consts::LOG2_E;
    for ((v, heat), glow) in light.iter_mut().zip(heat).zip(glow) {
        let c = 1.25 * heat;
        let raised = if power == 2 { c * c } else { c * c * c };
        let raised = if power == 5 { raised * c * c } else { raised };
        let behind = *v * exp2(-E * soot * c * c / (c + 0.15));
        let shown = if behind > 0.0 { behind } else { 0.0 };
        let dark = 1.0 - behind;
        let dark = if dark > 0.0 { dark } else { 0.0 };
        *v = behind + dark * (1.0 - exp2(-E * (emission * raised + shine * glow * (shown + 0.012))));
    }
}

#[inline(always)]
fn difference_body(row: &mut [f32], value: &[f32], [heat, glow]: [&[f32]; 2]) {
    for (((v, value), heat), glow) in row.iter_mut().zip(value).zip(heat).zip(glow) {
        *v = if heat + glow > 0.0 { *v - value } else { 0.0 };
    }
}

multiversion! {
    fn any(level, grid: &[f32], first: &[u32], weights: &[[f32; 4]], out: &mut [f32]) = any_body;
    fn even2(level, grid: &[f32], weights: &[[f32; 2]; 5], out: &mut [f32]) = even_body::<2>;
    fn even4(level, grid: &[f32], weights: &[[f32; 4]; 5], out: &mut [f32]) = even_body::<4>;
    fn even8(level, grid: &[f32], weights: &[[f32; 8]; 5], out: &mut [f32]) = even_body::<8>;
    fn scatter(
        level, density: &[f32], lit: &[f32], around: [([&[f32]; 2], f32); 3],
        of: (f32, [f32; 3], [f32; 3]), gain: &mut [f32], offsets: [&mut [f32]; 3],
    ) = scatter_body;
    fn planes(level, gain: &mut [f32], offsets: [&mut [f32]; 3], matrix: &[[f32; 3]; 3]) = planes_body;
    fn apply<T: ConvertF32>(
        level, from: &[T], gain: &[f32], offset: &[f32], code: (f32, f32, (f32, f32)), to: &mut [T],
    ) = apply_body;
    pub(super) fn burn(
        level, light: &mut [f32], heat: [&[f32]; 2], soot: f32, ramp: (f32, u32, f32),
    ) = burn_body;
    pub(super) fn difference(level, row: &mut [f32], value: &[f32], heat: [&[f32]; 2]) = difference_body;
}

impl Columns {
    pub(super) fn new(format: &Format, p: usize, grid: &Grid) -> Columns {
        let (first, step) = format.frame_sites(p);
        let places =
            (0..format.plane_size(p).0).map(|x| grid.place(first[0] + x as f64 * step[0], grid.size.0));
        let (first, weights) = places.map(|(i, w)| (i as u32, w.map(|v| v as f32))).unzip();
        let per = grid.step >> format.plane_subsampling(p).0;
        Columns { first, weights, per: if [2, 4, 8].contains(&per) { per } else { 0 } }
    }

    /// The same, as for a plane whose columns are not alike.
    #[cfg(test)]
    pub(super) fn slow(self) -> Columns {
        Columns { per: 0, ..self }
    }

    /// The length of rows that [`widen`](Columns::widen) writes.
    pub(super) fn room(&self) -> usize {
        self.first.len().next_multiple_of(8)
    }

    /// Interpolates a row of the grid.
    pub(super) fn widen(&self, level: Level, grid: &[f32], out: &mut [f32]) {
        fn table<const S: usize>(columns: &Columns) -> (usize, [[f32; S]; 5]) {
            let start = columns.first[0] as usize;
            let mut all = [[0.0; S]; 5];
            for (s, (first, weights)) in columns.first.iter().zip(&columns.weights).take(S).enumerate() {
                weights.iter().enumerate().for_each(|(k, w)| all[*first as usize - start + k][s] = *w);
            }
            (start, all)
        }
        // A narrow plane does not have all places of a column.
        match if self.first.len() < 8 { 0 } else { self.per } {
            2 => {
                let (start, weights) = table::<2>(self);
                let whole = self.first.len().next_multiple_of(2);
                even2(level, &grid[start..], &weights, &mut out[..whole]);
            }
            4 => {
                let (start, weights) = table::<4>(self);
                let whole = self.first.len().next_multiple_of(4);
                even4(level, &grid[start..], &weights, &mut out[..whole]);
            }
            8 => {
                let (start, weights) = table::<8>(self);
                let whole = self.first.len().next_multiple_of(8);
                even8(level, &grid[start..], &weights, &mut out[..whole]);
            }
            _ => any(level, grid, &self.first, &self.weights, out),
        }
    }
}

/// Air over a picture.
pub(super) struct Mixer<'a> {
    pub(super) format: &'a Format,
    pub(super) grid: &'a Grid,
    pub(super) columns: &'a [Columns; 2],
    pub(super) weights: Coefficients,
    pub(super) amount: f32,
    pub(super) tint: [f32; 3],
    pub(super) level: Level,
}

impl Mixer<'_> {
    pub(super) fn render(
        &self,
        state: &State,
        ambient: &Ambient,
        band: &mut Band<'_>,
        scratch: &mut Scratch,
    ) {
        let (f, level, len) = (self.format, self.level, self.grid.size.0);
        let written = || band.writes.iter().filter(|&p| p < f.planes());
        // Rows of the grid that the band depends on.
        let places = written().flat_map(|p| {
            let rows = band.output.plane(p).rows();
            [rows.clone().next(), rows.last()]
                .into_iter()
                .flatten()
                .map(move |y| self.grid.row_place(f, p, y).0)
        });
        let (from, to) = places.fold((usize::MAX, 0), |(from, to), y| (from.min(y), to.max(y + 4)));
        if from >= to {
            return;
        }
        let room = self.columns[0].room().max(self.columns[1].room());
        let all = len * (to - from);
        let ([gain, o0, o1, o2, narrow, wide, offset], scratch) =
            scratch.buffers_and_rest::<f32, 7>([all, all, all, all, len, room, room]);
        let step = self.grid.step as f64;
        let around = ambient.widened(len, self.grid.site(0), step);
        // The brightest parts of the scene, whose colour is softened.
        let white = 0.7152 * ambient.key[0] + 0.0722 * ambient.key[1] + 0.2126 * ambient.key[2];
        let key = ambient.key.map(|k| 1.15 * (0.3 * k + 0.7 * white));
        let curve = TransferFunction::of(f);
        // From G, B and R to planes.
        let same = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let matrix = if f.is_rgb() { same } else { self.weights.to_yuv() };
        let matrix = matrix.map(|row| row.map(|v| v as f32));
        for j in from..to {
            let at = (j - from) * len;
            let gain = &mut gain[at..][..len];
            let [o0, o1, o2] = [&mut *o0, o1, o2].map(|o| &mut o[at..][..len]);
            let around = [0, 1, 2].map(|c| ambient.rows(&around, c, self.grid.site(j)));
            let [density, light] = [&state.density, &state.light].map(|grid| &grid[j * len..][..len]);
            scatter(
                level,
                density,
                light,
                around,
                (self.amount, self.tint, key),
                gain,
                [&mut *o0, &mut *o1, &mut *o2],
            );
            [&mut *gain, &mut *o0, &mut *o1, &mut *o2].into_iter().for_each(|row| curve.encode(level, row));
            planes(level, gain, [o0, o1, o2], &matrix);
        }
        let input = band.source();
        for p in band.writes.iter().filter(|&p| p < f.planes()) {
            let columns = &self.columns[usize::from(f.is_chroma(p))];
            let Code { zero, span, .. } = Code::of(f, p);
            let legal = f.legal(p).map_or((0.0, 0.0), |(lo, hi)| (lo.into(), hi.into()));
            let to = band.output.plane_mut(p);
            for y in to.rows() {
                let (first, by) = self.grid.row_place(f, p, y);
                self.grid.between(level, gain, first - from, by, narrow);
                columns.widen(level, narrow, wide);
                self.grid.between(level, [&*o0, o1, o2][p.min(2)], first - from, by, narrow);
                columns.widen(level, narrow, offset);
                if let Some(a) = f.alpha_plane().filter(|_| f.alpha == Alpha::Premultiplied) {
                    covered(f, input, (a, p, y), wide, offset, scratch);
                }
                let code = (zero as f32, span as f32, legal);
                for_depth!(f.depth, T => apply::<T>(level, input.plane(p).row(y), wide, offset, code, to.row_mut(y)));
            }
        }
    }
}

/// Multiplies offsets by alpha. What is not covered does not change.
fn covered(
    f: &Format,
    input: FrameRef<'_>,
    (a, p, y): (usize, usize, usize),
    gain: &mut [f32],
    offset: &mut [f32],
    scratch: &mut Scratch,
) {
    let [alpha] = scratch.buffers::<f64, 1>([f.plane_size(p).0]);
    mean_alpha(f, input.plane(a), p, y, alpha);
    for ((gain, offset), alpha) in gain.iter_mut().zip(offset).zip(alpha) {
        let is_covered = *alpha > 0.0 && alpha.is_finite();
        (*gain, *offset) = if is_covered { (*gain, *offset * *alpha as f32) } else { (1.0, 0.0) };
    }
}
