//! The light of a picture around each place: a small blurred copy in linear light, by which air and solid things are lit.
//!
//! The copy has cells of about a fortieth of the width. Each is the light of the mean value of the samples in up to eight of
//! its rows, blurred with its neighbours. Samples that are not finite count as black.

use crate::for_depth;
use crate::frame::{Alpha, Format, FrameRef};
use crate::particle::draw::{Painter, SceneLight};
use crate::pixel::convert::{Code, Coefficients};
use crate::pixel::f32_rows::ConvertF32;
use crate::pixel::transfer::TransferFunction;
use crate::simd::{Level, multiversion};

/// The copy. Channels are in the order G, B, R.
pub(super) struct Ambient {
    /// Columns and rows.
    size: (usize, usize),
    /// The side of a cell in luma samples of the frame.
    cell: usize,
    /// Its rows of the picture, which may be a field.
    rows: usize,
    light: [Vec<f32>; 3],
    /// The light of the brightest parts, of which nothing is blurred away: that of the lamps or the sky of the scene.
    pub(super) key: [f32; 3],
}

/// Light above this counts as this: a few lamps of a float picture must not light everything.
const MOST: f32 = 4.0;
/// The least and the most light on solid things: white ones are seen on black, and before a white sky, which is behind them.
const DIMMEST: f32 = 0.1;
const BRIGHTEST: f32 = 0.75;
const LANES: usize = 16;

#[inline(always)]
fn sum_body<T: ConvertF32>(row: &[T]) -> f32 {
    let finite = |v: &T| if v.number().is_finite() { v.number() } else { 0.0 };
    let chunks = row.chunks_exact(LANES);
    let rest: f32 = chunks.remainder().iter().map(finite).sum();
    let mut sums = [0.0; LANES];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, v)| *sum += finite(v));
    }
    sums.iter().sum::<f32>() + rest
}

multiversion! {
    fn sum<T: ConvertF32>(level, row: &[T]) -> f32 = sum_body;
}

impl Ambient {
    /// Looks at a picture whose luma has these weights.
    pub(super) fn new(input: FrameRef<'_>, format: &Format, weights: Coefficients, level: Level) -> Ambient {
        let (width, height) = format.plane_size(0);
        let cell = (width / 40).max(1).next_multiple_of(8);
        let rows = cell / format.field_rows().0 as usize;
        let size = (width.div_ceil(cell), height.div_ceil(rows).max(1));
        let mean = |p: usize, x: usize, y: usize| -> f32 {
            let ((sx, sy), (w, h)) = (format.plane_subsampling(p), format.plane_size(p));
            let (x, y) = (
                (x * cell) >> sx..(((x + 1) * cell) >> sx).min(w),
                (y * rows) >> sy..(((y + 1) * rows) >> sy).min(h),
            );
            let Code { zero, span, .. } = Code::of(format, p);
            let every = (y.len() / 8).max(1);
            let (mut total, mut count) = (0.0, 0.0);
            for row in y.step_by(every) {
                for_depth!(format.depth, T => total += sum(level, &input.plane(p).row::<T>(row)[x.clone()]));
                count += x.len() as f32;
            }
            if count > 0.0 { (total / count - zero as f32) / span as f32 } else { 0.0 }
        };
        let mut light = [(); 3].map(|()| Vec::with_capacity(size.0 * size.1));
        let back = weights.to_rgb().map(|row| row.map(|v| v as f32));
        for (x, y) in (0..size.1).flat_map(|y| (0..size.0).map(move |x| (x, y))) {
            let alpha = match format.alpha_plane() {
                Some(p) if format.alpha == Alpha::Premultiplied => mean(p, x, y).max(1e-3),
                _ => 1.0,
            };
            let planes = [0, 1, 2]
                .map(|p| if p < format.color_planes().iter().count() { mean(p, x, y) / alpha } else { 0.0 });
            let rgb = match () {
                () if format.is_rgb() => planes,
                () if format.is_chroma(1) => {
                    back.map(|m| m[0] * planes[0] + m[1] * planes[1] + m[2] * planes[2])
                }
                () => [planes[0]; 3],
            };
            light.iter_mut().zip(rgb).for_each(|(all, v)| all.push(v));
        }
        let curve = TransferFunction::of(format);
        for all in &mut light {
            curve.linearize(level, all);
            all.iter_mut().for_each(|v| *v = if *v > 0.0 { v.min(MOST) } else { 0.0 });
        }
        // Bright cells weigh more, by the square of their light.
        let luma = |i: usize| luminance(light.each_ref().map(|channel| channel[i]));
        let (mut key, mut all) = ([0.0; 3], 1e-9);
        for i in 0..light[0].len() {
            let weight = luma(i) * luma(i);
            all += weight;
            key.iter_mut().zip(&light).for_each(|(key, light)| *key += weight * light[i]);
        }
        let key = key.map(|v| v / all);
        light.iter_mut().for_each(|channel| (0..3).for_each(|_| blur(channel, size)));
        Ambient { size, cell, rows, light, key }
    }

    /// The light on solid things anywhere in the picture: from around them, and from where it is bright. `lit` is its part, the rest is white.
    pub(super) fn on_solids(&self, lit: f32, painter: &Painter) -> SceneLight {
        let key = luminance(self.key);
        let [green, blue, red] = &self.light;
        let around = green.iter().zip(blue).zip(red).map(|((g, b), r)| luminance([*g, *b, *r]));
        let light = around.map(|near| DIMMEST + (0.75 * (near + key)).min(BRIGHTEST - DIMMEST));
        let light = light.map(|light| 1.0 + lit * (light - 1.0));
        painter.scene_light(light.collect(), self.size.into(), [self.cell, self.rows])
    }

    /// The copy with rows of `len` samples, `step` luma samples apart, the first at `first`: rows of G, then B, then R.
    pub(super) fn widened(&self, len: usize, first: f64, step: f64) -> Vec<f32> {
        let place = |i: usize| between((first + i as f64 * step) / self.cell as f64 - 0.5, self.size.0);
        let places: Vec<(usize, usize, f32)> = (0..len).map(place).collect();
        let rows = self.light.iter().flat_map(|light| light.chunks_exact(self.size.0));
        rows.flat_map(|row| places.iter().map(|&(a, b, part)| row[a] + part * (row[b] - row[a]))).collect()
    }

    /// The two rows of a [widened](Ambient::widened) channel around the luma row `y` of the frame, and the second's part.
    pub(super) fn rows<'a>(&self, wide: &'a [f32], channel: usize, y: f64) -> ([&'a [f32]; 2], f32) {
        let len = wide.len() / (3 * self.size.1);
        let (a, b, part) = between(y / self.cell as f64 - 0.5, self.size.1);
        ([a, b].map(|j| &wide[(channel * self.size.1 + j) * len..][..len]), part)
    }
}

/// The luminance of G, B and R by BT.709.
fn luminance([green, blue, red]: [f32; 3]) -> f32 {
    0.7152 * green + 0.0722 * blue + 0.2126 * red
}

/// The two samples around a place among `count`, and the second's part.
fn between(place: f64, count: usize) -> (usize, usize, f32) {
    let place = place.clamp(0.0, (count - 1) as f64);
    let first = place as usize;
    (first, (first + 1).min(count - 1), (place - first as f64) as f32)
}

/// The binomial mean of three by three cells.
fn blur(cells: &mut [f32], (width, height): (usize, usize)) {
    let old = cells.to_vec();
    let near = |i: usize, count: usize| [i.saturating_sub(1), i, (i + 1).min(count - 1)];
    for (i, out) in cells.iter_mut().enumerate() {
        let line = |y: usize| {
            let [a, b, c] = near(i % width, width).map(|x| old[y * width + x]);
            a + 2.0 * b + c
        };
        let [a, b, c] = near(i / width, height).map(line);
        *out = (a + 2.0 * b + c) * (1.0 / 16.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::point::weights;
    use crate::filter::testing::{FORMATS, format, noise};
    use crate::frame::{Format, Frame, Parity, PictureStructure};

    fn of(source: &Frame, level: Level) -> Ambient {
        let f = source.format();
        Ambient::new(source.as_ref(), f, weights(f).unwrap(), level)
    }

    #[test]
    fn the_light_is_that_of_the_place_and_the_key_that_of_the_bright_parts() {
        let f = format("gbrp16", 640, 360);
        for f in [f, Format { picture: PictureStructure::Field(Parity::Top), ..f }] {
            let mut source = Frame::new(f);
            for (p, y) in (0..3).flat_map(|p| (0..f.plane_size(p).1).map(move |y| (p, y))) {
                // The right half is orange.
                source.row_mut::<u16>(p, y)[320..].fill([30_000, 0, 60_000][p]);
            }
            let ambient = of(&source, Level::best());
            let wide = ambient.widened(641, 0.0, 1.0);
            for (c, code) in [30_000.0, 0.0, 60_000.0].into_iter().enumerate() {
                let want = TransferFunction::Srgb.light(code / 65_535.0) as f32;
                let ([a, b], part) = ambient.rows(&wide, c, 180.0);
                assert!(a == b && (0.0..=1.0).contains(&part));
                assert!(
                    a[0] == 0.0 && (a[640] - want).abs() < 1e-4 && a.is_sorted(),
                    "{c} {} {want}",
                    a[640]
                );
                assert!((ambient.key[c] - want).abs() < 1e-4, "{c}: {}", ambient.key[c]);
            }
        }
    }

    #[test]
    fn any_picture_gives_numbers_that_are_the_same_at_every_level() {
        for &(name, width, height) in FORMATS {
            let source = noise(format(name, width, height));
            let [first, ..] = Level::available() else { panic!() };
            let want = of(&source, *first);
            assert!(want.light.iter().flatten().chain(&want.key).all(|v| (0.0..=MOST).contains(v)), "{name}");
            for level in Level::available() {
                assert!(of(&source, *level).light == want.light, "{name} {level}");
            }
        }
    }
}
