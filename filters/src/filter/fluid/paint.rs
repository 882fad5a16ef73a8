//! Converts the surface to samples: the picture behind is refracted, tinted by depth, darker where the surface leans,
//! and with lights on it.

use super::drops::{Droplet, Streak};
use super::surface::{EDGE, Node, Surface, row_between};
use crate::math::smooth;
use crate::pixel::f32_rows::ConvertF32;
use crate::simd::multiversion;

/// The appearance in a frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct LiquidLook {
    /// The opacity of a sixteenth of the depth at its maximum, 0 to 1: see [`layer`].
    pub(super) tint: f32,
    /// The refraction at a slope of 1, in frame heights.
    pub(super) bend: f32,
    /// The brightness of highlights, 0 to 1.
    pub(super) shine: f32,
}

/// The opacity of each of sixteen equal layers whose total opacity is `whole`, 0 to 1, by the Beer-Lambert law.
pub(super) fn layer(whole: f64) -> f32 {
    (1.0 - (1.0 - whole).max(0.0).sqrt().sqrt().sqrt().sqrt()) as f32
}

/// The positions of the samples of a row, in frame heights from the frame's corner.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Row {
    pub(super) y: f32,
    pub(super) x: f32,
    /// The distance between samples.
    pub(super) step: f32,
    /// Samples per frame height, horizontally and vertically, for refraction.
    pub(super) scale: [f32; 2],
    /// The light of the scene at this height, and cells of it per frame height.
    pub(super) light: [f32; LIGHTS[0]],
    pub(super) lights: f32,
}

/// The cells of the light, across and down.
pub(super) const LIGHTS: [usize; 2] = [16, 9];
/// The brightness of the scene in each cell, normally 1.
pub(super) type SceneLight = [[f32; LIGHTS[0]]; LIGHTS[1]];

/// The cell before a place in cells, and the distance from its centre.
#[inline(always)]
fn cell(at: f32, n: usize) -> (usize, f32) {
    let t = at - 0.5;
    let t = if t > 0.0 { t } else { 0.0 };
    let i = (t as usize).min(n - 2);
    let f = t - i as f32;
    (i, if f < 1.0 { f } else { 1.0 })
}

/// The light at a height of the frame, 0 to 1.
pub(super) fn light_row(light: &SceneLight, y: f32) -> [f32; LIGHTS[0]] {
    let (j, f) = cell(y * LIGHTS[1] as f32, LIGHTS[1]);
    core::array::from_fn(|i| light[j][i] + (light[j + 1][i] - light[j][i]) * f)
}

/// The appearance of the samples of a row: the coverage by liquid; the refracted position behind it, in samples; and
/// the weights of the background, of the tint and of white (the rest is black). Without coverage, the other values have
/// no meaning.
#[derive(Debug)]
pub(super) struct RowShading<'a> {
    pub(super) cover: &'a mut [f32],
    pub(super) x: &'a mut [f32],
    pub(super) y: &'a mut [f32],
    pub(super) back: &'a mut [f32],
    pub(super) tint: &'a mut [f32],
    pub(super) white: &'a mut [f32],
}

impl RowShading<'_> {
    /// The first samples.
    pub(super) fn first(&mut self, n: usize) -> RowShading<'_> {
        RowShading {
            cover: &mut self.cover[..n],
            x: &mut self.x[..n],
            y: &mut self.y[..n],
            back: &mut self.back[..n],
            tint: &mut self.tint[..n],
            white: &mut self.white[..n],
        }
    }
}

/// Half of the range of amounts over which the edge fades.
const SOFT: f32 = 0.05;
/// The depth of a droplet.
const DROP_DEPTH: f32 = 0.1;
/// What the tint and the highlights keep in darkness, and the most that they have of the usual.
const DIM_TINT: f32 = 0.1;
const DIM_WHITE: f32 = 0.3;
const BRIGHT_TINT: f32 = 1.2;
/// The light that the deepest liquid loses.
const DARK_DEPTH: f32 = 0.15;
/// The largest refraction, in frame heights.
pub(super) const MAX_OFFSET: f32 = 0.08;
/// The half vector between the light, from above on the left, and the viewer.
const HALF: [f32; 3] = [-0.32, -0.49, 0.811];
/// The direction of the light, in the plane of the picture; a surface that rises away from it faces it.
const LIGHT: [f32; 2] = [0.55, 0.83];

/// The brightness of the reflected light, the sky, slopes towards the light, and light that passes through a rim; and of
/// grazing reflections at the edges.
const SPARK: f32 = 1.1;
const SKY: f32 = 0.6;
const RELIEF: f32 = 0.14;
const THROUGH: f32 = 0.6;
const GRAZING: f32 = 0.8;
/// Tall windows on both sides: where the normal points for their reflections, how far these reach, and their brightness.
const WINDOWS: [(f32, f32); 2] = [(-0.5, 0.3), (0.55, 0.12)];
const WINDOW: f32 = 0.15;
/// The darkening of slopes, of rims that face the light, and of slopes away from it.
const RIM_DARK: f32 = 0.30;
const RIM_SHADE: f32 = 0.4;
const SHADE: f32 = 0.20;

multiversion! {
    /// Computes the row. `line` is a buffer for a row of nodes.
    pub(super) fn shade_row(level, surface: &Surface, look: &LiquidLook, row: &Row, line: &mut [Node], out: &mut RowShading<'_>) = shade_row_body;
}

#[inline(always)]
fn shade_row_body(
    surface: &Surface,
    look: &LiquidLook,
    row: &Row,
    line: &mut [Node],
    out: &mut RowShading<'_>,
) {
    let [w, h] = surface.size;
    let v = ((row.y - surface.origin[1]) * surface.per).clamp(0.0, (h - 1) as f32);
    let j = (v as usize).min(h - 2);
    let f = v - j as f32;
    let line = &mut line[..w];
    row_between(&surface.nodes, w, (j, f), line);
    let (n, x0, step) = (out.cover.len(), row.x, row.step);
    out.cover.fill(0.0);
    let pixel = 1.0 / row.scale[1];
    let pixel = if pixel > row.step { pixel } else { row.step };
    // The samples of a droplet.
    let samples = |streak: &Streak| {
        let [first, last] = streak.span().map(|x| (x - x0) / step);
        let first = if first > 0.0 { first as usize } else { 0 };
        first.min(n)..(if last >= 0.0 { last as usize + 1 } else { 0 }).clamp(first.min(n), n)
    };
    // Opacity before smoothing, slope and depth at each sample; the results replace them in place.
    let RowShading { cover, x: xs, y: ys, back, tint, white } = out;
    for k in spans(line, row, surface, n).flatten() {
        let u = ((x0 + k as f32 * step - surface.origin[0]) * surface.per).clamp(0.0, (w - 1) as f32);
        let i = (u as usize).min(w - 2);
        let f = u - i as f32;
        let (a, b) = (&line[i], &line[i + 1]);
        let c = (a[0] + (b[0] - a[0]) * f - (EDGE - SOFT)) * (0.5 / SOFT);
        let c = if c > 0.0 { c } else { 0.0 };
        cover[k] = if c < 1.0 { c } else { 1.0 };
        xs[k] = a[1] + (b[1] - a[1]) * f;
        ys[k] = a[2] + (b[2] - a[2]) * f;
        back[k] = a[3] + (b[3] - a[3]) * f;
        white[k] = a[4] + (b[4] - a[4]) * f;
    }
    for streak in surface.drops.near(row.y, pixel).map(|d: &Droplet| Streak::new(d, row.y, pixel)) {
        for k in samples(&streak) {
            let Some((seen, [sx, sy])) = streak.at(x0 + k as f32 * step) else { continue };
            if cover[k] == 0.0 {
                (xs[k], ys[k], back[k], white[k]) = (0.0, 0.0, 0.0, 0.0);
            }
            // In front of what there is.
            let both = cover[k] + seen - cover[k] * seen;
            let by = seen / both;
            cover[k] = both;
            xs[k] += (sx - xs[k]) * by;
            ys[k] += (sy - ys[k]) * by;
            back[k] += (DROP_DEPTH - back[k]) * by;
            white[k] += (streak.gleam() - white[k]) * by;
        }
    }
    let mut to = 0;
    while let Some(dry) = cover[to..].iter().position(|c| *c > 0.0) {
        let from = to + dry;
        to = from + cover[from..].iter().position(|c| *c <= 0.0).unwrap_or(n - from);
        let mut run = RowShading {
            cover: &mut cover[from..to],
            x: &mut xs[from..to],
            y: &mut ys[from..to],
            back: &mut back[from..to],
            tint: &mut tint[from..to],
            white: &mut white[from..to],
        };
        shade(look, row, from, &mut run);
    }
}

/// Shades samples from `from` on, which have an opacity before smoothing, a slope, a depth and a gleam.
#[inline(always)]
fn shade(look: &LiquidLook, row: &Row, from: usize, out: &mut RowShading<'_>) {
    let n = out.cover.len();
    let (cover, xs, ys) = (&mut out.cover[..n], &mut out.x[..n], &mut out.y[..n]);
    let (back, tint, white) = (&mut out.back[..n], &mut out.tint[..n], &mut out.white[..n]);
    for k in 0..n {
        let (sx, sy, deep) = (xs[k], ys[k], back[k]);
        cover[k] = smooth(cover[k]);
        let inv = 1.0 / (1.0 + (sx * sx + sy * sy)).sqrt();
        let lean = 1.0 - inv;
        // A surface that rises to the right faces left.
        let spark = (HALF[2] - (sx * HALF[0] + sy * HALF[1])) * inv;
        let spark = if spark > 0.0 { spark } else { 0.0 };
        let s2 = spark * spark;
        let s4 = s2 * s2;
        let s16 = s4 * s4 * s4 * s4;
        // Tiny numbers are slow.
        let s64 = s16 * s16 * s16 * s16;
        let s64 = if s64 > 1e-6 { s64 } else { 0.0 };
        let spark = s64 * s64 * s64 * s64;
        // The sky is reflected where the surface faces up, in proportion to the slope.
        let sky = if sy > 0.0 { lean * sy * inv } else { 0.0 };
        let faces = (sx * LIGHT[0] + sy * LIGHT[1]) * inv;
        let (lit, away) = if faces > 0.0 { (faces, 0.0) } else { (0.0, -faces) };
        // On nearly flat parts the side towards the light is brighter; a steep rim lets light through, that comes out
        // bright on the side away from it.
        let flat = inv * inv;
        let light = SPARK * spark + SKY * sky + RELIEF * flat * lit + THROUGH * (1.0 - flat) * away;
        let light = light + GRAZING * (lean * lean * lean) + white[k];
        let (nx, upright) = (-sx * inv, 1.0 - 1.4 * (sy * inv) * (sy * inv));
        let upright = if upright > 0.0 { upright } else { 0.0 };
        let mut windows = 0.0;
        for (towards, bright) in WINDOWS {
            let off = (nx - towards) * (1.0 / WINDOW);
            let near = 1.0 - off * off;
            let near = if near > 0.0 { near } else { 0.0 };
            windows += bright * (near * near);
        }
        let light = look.shine * (light + windows * upright);
        let light = if light < 1.0 { light } else { 1.0 };
        let dark = RIM_DARK * lean + look.shine * (RIM_SHADE * lit * lit + SHADE * flat * away);
        let dark = if dark < 1.0 { dark } else { 1.0 };
        // Sixteen layers, each with the same transmission.
        let one = 1.0 - look.tint * deep;
        let one = one * one;
        let one = one * one;
        let one = one * one;
        let clear = one * one;
        let far = look.bend * (0.35 + 0.65 * deep);
        let (bx, by) = (far * sx, far * sy);
        let length = (bx * bx + by * by).sqrt();
        let limit = if length > MAX_OFFSET { MAX_OFFSET / length } else { 1.0 };
        let left = (1.0 - light) * (1.0 - dark);
        let (i, f) = cell((row.x + (from + k) as f32 * row.step) * row.lights, LIGHTS[0]);
        let bright = row.light[i] + (row.light[i + 1] - row.light[i]) * f;
        let bright_tint = DIM_TINT + (1.0 - DIM_TINT) * bright;
        let bright_tint = if bright_tint < BRIGHT_TINT { bright_tint } else { BRIGHT_TINT };
        let bright_white = DIM_WHITE + (1.0 - DIM_WHITE) * bright;
        let bright_white = if bright_white < 1.0 { bright_white } else { 1.0 };
        xs[k] = bx * limit * row.scale[0];
        ys[k] = by * limit * row.scale[1];
        back[k] = left * clear;
        tint[k] = left * (1.0 - clear) * bright_tint * (1.0 - DARK_DEPTH * deep);
        white[k] = light * bright_white;
    }
}

/// The ranges of samples in which there may be liquid.
#[inline(always)]
fn spans(
    line: &[Node],
    row: &Row,
    surface: &Surface,
    n: usize,
) -> impl Iterator<Item = core::ops::Range<usize>> {
    let some = |node: &Node| node[0] > EDGE - SOFT;
    // A node affects samples up to its neighbours.
    let sample = |node: f32| (node / surface.per + surface.origin[0] - row.x) / row.step;
    let (mut node, mut done) = (0, 0);
    core::iter::from_fn(move || {
        let first = node + line[node..].iter().position(some)?;
        node = first + line[first..].iter().position(|node| !some(node)).unwrap_or(line.len() - first);
        let from = (sample(first as f32 - 1.0).max(0.0) as usize).saturating_sub(1).clamp(done, n);
        done = (sample(node as f32).max(0.0) as usize + 2).clamp(from, n);
        Some(from..done)
    })
}

/// A sample type.
pub(super) trait PaintSample: ConvertF32 {
    /// Rounded and clamped to 0 and `top`. Float is not limited; if `v` or `own` is not finite, the result is
    /// `own`.
    fn round(v: f32, own: Self, top: f32) -> Self;
}

macro_rules! integer_codes {
    ($($t:ty)*) => {$(
        impl PaintSample for $t {
            #[inline(always)]
            fn round(v: f32, _: $t, top: f32) -> $t {
                (v + 0.5).min(top) as $t
            }
        }
    )*};
}

integer_codes!(u8 u16);

impl PaintSample for f32 {
    #[inline(always)]
    fn round(v: f32, own: f32, _: f32) -> f32 {
        if v.is_finite() && own.is_finite() { v } else { own }
    }
}

/// The samples of a plane, from the first row on, and their stride.
#[derive(Clone, Copy)]
pub(super) struct Backdrop<'a, T> {
    pub(super) samples: &'a [T],
    pub(super) stride: usize,
    pub(super) size: [usize; 2],
}

impl<T: PaintSample> Backdrop<'_, T> {
    /// Bilinear interpolation; the edge is repeated.
    #[inline(always)]
    pub(super) fn at(&self, x: f32, y: f32) -> f32 {
        let [w, h] = self.size;
        let x = x.max(0.0).min((w - 1) as f32);
        let y = y.max(0.0).min((h - 1) as f32);
        let (i, j) = (x as usize, y as usize);
        let (fx, fy) = (x - i as f32, y - j as f32);
        let (right, low) = ((i + 1).min(w - 1), (j + 1).min(h - 1));
        let at = |i: usize, j: usize| self.samples[j * self.stride + i].number();
        let (a, b, c, d) = (at(i, j), at(right, j), at(i, low), at(right, low));
        let (top, bottom) = (a + (b - a) * fx, c + (d - c) * fx);
        top + (bottom - top) * fy
    }
}

/// The colours in a plane: the code of black, and the contributions of tint and white.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct PlaneColors {
    pub(super) zero: f32,
    pub(super) tint: f32,
    pub(super) white: f32,
    pub(super) top: f32,
    /// There is no refraction.
    pub(super) still: bool,
}

multiversion! {
    /// Composes a row onto the picture, if nothing is transparent.
    pub(super) fn composite<T: PaintSample>(
        level, seen: &RowShading<'_>, y: usize, backdrop: Backdrop<'_, T>, plane_colors: PlaneColors, out: &mut [T],
    ) = composite_body::<T>;
}

#[inline(always)]
fn composite_body<T: PaintSample>(
    seen: &RowShading<'_>,
    y: usize,
    backdrop: Backdrop<'_, T>,
    plane_colors: PlaneColors,
    out: &mut [T],
) {
    let own = &backdrop.samples[y * backdrop.stride..][..out.len()];
    out.copy_from_slice(own);
    let n = out.len();
    let (cover, sx, sy) = (&seen.cover[..n], &seen.x[..n], &seen.y[..n]);
    let (part, tint, white) = (&seen.back[..n], &seen.tint[..n], &seen.white[..n]);
    for (x, (out, own)) in out.iter_mut().zip(own).enumerate() {
        let cover = cover[x];
        if cover <= 0.0 {
            continue;
        }
        let back =
            if plane_colors.still { own.number() } else { backdrop.at(x as f32 + sx[x], y as f32 + sy[x]) };
        let film = plane_colors.zero
            + (back - plane_colors.zero) * part[x]
            + plane_colors.tint * tint[x]
            + plane_colors.white * white[x];
        let v = if cover < 1.0 { own.number() + (film - own.number()) * cover } else { film };
        *out = T::round(v, *own, plane_colors.top);
    }
}

/// Alpha at the positions of colour: samples of an alpha plane per sample of colour, horizontally and
/// vertically.
#[derive(Clone, Copy)]
pub(super) struct AlphaPlane<'a, T> {
    pub(super) alpha: Backdrop<'a, T>,
    /// Code of full alpha.
    pub(super) full: f32,
    /// From an index in the colour plane to one in alpha's: `at * by + first`.
    pub(super) by: [f32; 2],
    pub(super) first: [f32; 2],
    /// Colour is not premultiplied.
    pub(super) straight: bool,
}

impl<T: PaintSample> AlphaPlane<'_, T> {
    #[inline(always)]
    fn at(&self, x: f32, y: f32) -> f32 {
        let a = self.alpha.at(x * self.by[0] + self.first[0], y * self.by[1] + self.first[1]);
        a / self.full
    }
}

/// The same for a picture with alpha; `colour` is `None` for alpha itself.
pub(super) fn composite_with_alpha<T: PaintSample>(
    seen: &RowShading<'_>,
    y: usize,
    backdrop: Backdrop<'_, T>,
    alpha_plane: AlphaPlane<'_, T>,
    colour: Option<PlaneColors>,
    out: &mut [T],
) {
    let own = &backdrop.samples[y * backdrop.stride..][..out.len()];
    for (k, (out, own)) in out.iter_mut().zip(own).enumerate() {
        let cover = seen.cover[k];
        if cover <= 0.0 {
            *out = *own;
            continue;
        }
        let (x, y) = (k as f32, y as f32);
        let (bx, by) = (x + seen.x[k], y + seen.y[k]);
        let (own_a, back_a) = (alpha_plane.at(x, y), alpha_plane.at(bx, by));
        let film_a = 1.0 - seen.back[k] * (1.0 - back_a);
        let alpha = own_a + (film_a - own_a) * cover;
        let Some(plane_colors) = colour else {
            *out = T::round(alpha * alpha_plane.full, *own, alpha_plane.full);
            continue;
        };
        let (mut back, mut near) =
            (backdrop.at(bx, by) - plane_colors.zero, own.number() - plane_colors.zero);
        if alpha_plane.straight {
            (back, near) = (back * back_a, near * own_a);
        }
        let film =
            back * seen.back[k] + plane_colors.tint * seen.tint[k] + plane_colors.white * seen.white[k];
        let mut v = near + (film - near) * cover;
        if alpha_plane.straight {
            v = if alpha > 0.0 { v / alpha } else { 0.0 };
        }
        *out = T::round(plane_colors.zero + v, *own, plane_colors.top);
    }
}
