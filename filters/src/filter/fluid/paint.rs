//! From the surface to samples: what is behind is seen bent, tinted by depth, darker where the surface leans, and with
//! lights on it.

use super::surface::{EDGE, Node, Surface};
use crate::simd::{Level, multiversion};

/// How it looks at a moment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Look {
    /// How much of the tint there is where it is deepest, 0 to 1.
    pub(super) tint: f32,
    /// How far a lean of 1 bends, in frame heights.
    pub(super) bend: f32,
    /// How bright lights are, 0 to 1.
    pub(super) shine: f32,
}

/// Where the samples of a row lie, in frame heights from the frame's corner.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Row {
    pub(super) y: f32,
    pub(super) x: f32,
    /// From sample to sample.
    pub(super) step: f32,
    /// Samples in a frame height, across and down, for what is bent.
    pub(super) scale: [f32; 2],
}

/// What the samples of a row show: how much liquid covers each; from where behind it is seen, in samples; and the parts of
/// what is behind, of the tint and of white in what is seen (the rest is black). Where nothing covers, the rest means
/// nothing.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    pub(super) cover: &'a mut [f32],
    pub(super) x: &'a mut [f32],
    pub(super) y: &'a mut [f32],
    pub(super) back: &'a mut [f32],
    pub(super) tint: &'a mut [f32],
    pub(super) white: &'a mut [f32],
}

impl Seen<'_> {
    /// The first samples.
    pub(super) fn first(&mut self, n: usize) -> Seen<'_> {
        Seen {
            cover: &mut self.cover[..n],
            x: &mut self.x[..n],
            y: &mut self.y[..n],
            back: &mut self.back[..n],
            tint: &mut self.tint[..n],
            white: &mut self.white[..n],
        }
    }
}

/// Half of the stretch of amounts over which the edge runs.
const SOFT: f32 = 0.05;
/// Farthest that anything bends, in frame heights.
pub(super) const FARTHEST: f32 = 0.08;
/// The direction half way between the light, from above on the left, and the eye.
const HALF: [f32; 3] = [-0.34, -0.52, 0.784];
/// Where the light comes from, in the plane of the picture; a surface that rises away from it faces it.
const LIGHT: [f32; 2] = [0.55, 0.83];

multiversion! {
    /// What the samples of a row show. `line` has room for a row of nodes.
    pub(super) fn see(level, surface: &Surface, look: &Look, row: &Row, line: &mut [Node], out: &mut Seen<'_>) = see_body;
}

#[inline(always)]
fn see_body(surface: &Surface, look: &Look, row: &Row, line: &mut [Node], out: &mut Seen<'_>) {
    let [w, h] = surface.size;
    let v = ((row.y - surface.origin[1]) * surface.per).clamp(0.0, (h - 1) as f32);
    let j = (v as usize).min(h - 2);
    let f = v - j as f32;
    let (up, low) = (&surface.nodes[j * w..(j + 1) * w], &surface.nodes[(j + 1) * w..(j + 2) * w]);
    let line = &mut line[..w];
    for ((to, a), b) in line.iter_mut().zip(up).zip(low) {
        for k in 0..4 {
            to[k] = a[k] + (b[k] - a[k]) * f;
        }
    }
    let n = out.cover.len();
    let (cover, xs, ys) = (&mut out.cover[..n], &mut out.x[..n], &mut out.y[..n]);
    let (back, tint, white) = (&mut out.back[..n], &mut out.tint[..n], &mut out.white[..n]);
    // Amount, lean and depth at each sample, in the places of what follows from them.
    for k in 0..n {
        let x = row.x + k as f32 * row.step;
        let u = ((x - surface.origin[0]) * surface.per).clamp(0.0, (w - 1) as f32);
        let i = (u as usize).min(w - 2);
        let f = u - i as f32;
        let (a, b) = (&line[i], &line[i + 1]);
        cover[k] = a[0] + (b[0] - a[0]) * f;
        xs[k] = a[1] + (b[1] - a[1]) * f;
        ys[k] = a[2] + (b[2] - a[2]) * f;
        back[k] = a[3] + (b[3] - a[3]) * f;
    }
    for k in 0..n {
        let (sx, sy, deep) = (xs[k], ys[k], back[k]);
        let c = (cover[k] - (EDGE - SOFT)) * (0.5 / SOFT);
        let c = if c > 0.0 { c } else { 0.0 };
        let c = if c < 1.0 { c } else { 1.0 };
        cover[k] = c * c * (3.0 - 2.0 * c);
        let inv = 1.0 / (1.0 + (sx * sx + sy * sy)).sqrt();
        // A surface that rises to the right faces left.
        let shine = (HALF[2] - (sx * HALF[0] + sy * HALF[1])) * inv;
        let shine = if shine > 0.0 { shine } else { 0.0 };
        let s2 = shine * shine;
        let s4 = s2 * s2;
        let s16 = s4 * s4 * s4 * s4;
        let s64 = s16 * s16 * s16 * s16;
        let spark = s64 * s16 * s16 * s4;
        let lean = 1.0 - inv;
        // The sky is mirrored where the surface faces up.
        let sky = if sy > 0.0 { lean * sy * inv } else { 0.0 };
        // Ripples towards the light are brighter, those away from it darker.
        let relief = (sx * LIGHT[0] + sy * LIGHT[1]) * inv * look.shine;
        let glow = if relief > 0.0 { 0.16 * relief } else { 0.0 };
        let shade = if relief < 0.0 { -0.30 * relief } else { 0.0 };
        let light = look.shine * (0.95 * spark + 0.6 * sky) + glow;
        let light = if light < 1.0 { light } else { 1.0 };
        let dark = 0.5 * lean + shade;
        let much = look.tint * deep * (0.35 + 0.65 * deep);
        let far = look.bend * (0.35 + 0.65 * deep);
        let (bx, by) = (far * sx, far * sy);
        let length = (bx * bx + by * by).sqrt();
        let limit = if length > FARTHEST { FARTHEST / length } else { 1.0 };
        let left = (1.0 - light) * (1.0 - dark);
        xs[k] = bx * limit * row.scale[0];
        ys[k] = by * limit * row.scale[1];
        back[k] = left * (1.0 - much);
        tint[k] = left * much;
        white[k] = light;
    }
}

/// A kind of sample.
pub(super) trait Code: crate::frame::Sample {
    /// Lays a row over the picture, where nothing is transparent.
    fn lay(level: Level, seen: &Seen<'_>, y: usize, behind: Behind<'_, Self>, inks: Inks, out: &mut [Self]);
    fn wide(self) -> f32;
    /// Rounded, within 0 and `top`.
    fn of(v: f32, top: f32) -> Self;
}

impl Code for u8 {
    fn lay(level: Level, seen: &Seen<'_>, y: usize, behind: Behind<'_, u8>, inks: Inks, out: &mut [u8]) {
        lay_u8(level, seen, y, behind, inks, out);
    }
    #[inline(always)]
    fn wide(self) -> f32 {
        f32::from(self)
    }
    #[inline(always)]
    fn of(v: f32, top: f32) -> u8 {
        (v + 0.5).min(top) as u8
    }
}

impl Code for u16 {
    fn lay(level: Level, seen: &Seen<'_>, y: usize, behind: Behind<'_, u16>, inks: Inks, out: &mut [u16]) {
        lay_u16(level, seen, y, behind, inks, out);
    }
    #[inline(always)]
    fn wide(self) -> f32 {
        f32::from(self)
    }
    #[inline(always)]
    fn of(v: f32, top: f32) -> u16 {
        (v + 0.5).min(top) as u16
    }
}

impl Code for f32 {
    fn lay(level: Level, seen: &Seen<'_>, y: usize, behind: Behind<'_, f32>, inks: Inks, out: &mut [f32]) {
        lay_f32(level, seen, y, behind, inks, out);
    }
    #[inline(always)]
    fn wide(self) -> f32 {
        self
    }
    #[inline(always)]
    fn of(v: f32, _: f32) -> f32 {
        // Which of two that are no numbers comes out of a sum is the compiler's choice.
        if v.is_nan() { f32::NAN } else { v }
    }
}

/// Samples of a plane to read: from the first row on, so many apart.
#[derive(Clone, Copy)]
pub(super) struct Behind<'a, T> {
    pub(super) samples: &'a [T],
    pub(super) stride: usize,
    pub(super) size: [usize; 2],
}

impl<T: Code> Behind<'_, T> {
    /// Between four samples; beyond the edges as at them.
    #[inline(always)]
    pub(super) fn at(&self, x: f32, y: f32) -> f32 {
        let [w, h] = self.size;
        let x = x.max(0.0).min((w - 1) as f32);
        let y = y.max(0.0).min((h - 1) as f32);
        let (i, j) = (x as usize, y as usize);
        let (fx, fy) = (x - i as f32, y - j as f32);
        let (right, low) = ((i + 1).min(w - 1), (j + 1).min(h - 1));
        let at = |i: usize, j: usize| self.samples[j * self.stride + i].wide();
        let (a, b, c, d) = (at(i, j), at(right, j), at(i, low), at(right, low));
        let (top, bottom) = (a + (b - a) * fx, c + (d - c) * fx);
        top + (bottom - top) * fy
    }
}

/// What the colours are in a plane: the code of black, and what tint and white add to it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Inks {
    pub(super) zero: f32,
    pub(super) tint: f32,
    pub(super) white: f32,
    pub(super) top: f32,
}

multiversion! {
    fn lay_u8(level, seen: &Seen<'_>, y: usize, behind: Behind<'_, u8>, inks: Inks, out: &mut [u8]) = lay_body;
    fn lay_u16(level, seen: &Seen<'_>, y: usize, behind: Behind<'_, u16>, inks: Inks, out: &mut [u16]) = lay_body;
    fn lay_f32(level, seen: &Seen<'_>, y: usize, behind: Behind<'_, f32>, inks: Inks, out: &mut [f32]) = lay_body;
}

/// Lays a row over the picture, where nothing is transparent.
#[inline(always)]
fn lay_body<T: Code>(seen: &Seen<'_>, y: usize, behind: Behind<'_, T>, inks: Inks, out: &mut [T]) {
    let own = &behind.samples[y * behind.stride..][..out.len()];
    out.copy_from_slice(own);
    let n = out.len();
    let (cover, sx, sy) = (&seen.cover[..n], &seen.x[..n], &seen.y[..n]);
    let (part, tint, white) = (&seen.back[..n], &seen.tint[..n], &seen.white[..n]);
    for (x, (out, own)) in out.iter_mut().zip(own).enumerate() {
        let cover = cover[x];
        if cover <= 0.0 {
            continue;
        }
        let back = behind.at(x as f32 + sx[x], y as f32 + sy[x]);
        let film = inks.zero + (back - inks.zero) * part[x] + inks.tint * tint[x] + inks.white * white[x];
        let v = if cover < 1.0 { own.wide() + (film - own.wide()) * cover } else { film };
        *out = T::of(v, inks.top);
    }
}

/// Alpha beside colour, in the colour's own place: samples across and down of an alpha plane in one of colour.
#[derive(Clone, Copy)]
pub(super) struct Veil<'a, T> {
    pub(super) alpha: Behind<'a, T>,
    /// Code of full alpha.
    pub(super) full: f32,
    /// From a place in the colour plane to one in alpha's: `at * by + first`.
    pub(super) by: [f32; 2],
    pub(super) first: [f32; 2],
    /// Colour is not multiplied by alpha.
    pub(super) straight: bool,
}

impl<T: Code> Veil<'_, T> {
    #[inline(always)]
    fn at(&self, x: f32, y: f32) -> f32 {
        let a = self.alpha.at(x * self.by[0] + self.first[0], y * self.by[1] + self.first[1]);
        a / self.full
    }
}

/// The same where the picture has alpha; `colour` is `None` for alpha itself.
pub(super) fn lay_veiled<T: Code>(
    seen: &Seen<'_>,
    y: usize,
    behind: Behind<'_, T>,
    veil: Veil<'_, T>,
    colour: Option<Inks>,
    out: &mut [T],
) {
    let own = &behind.samples[y * behind.stride..][..out.len()];
    for (k, (out, own)) in out.iter_mut().zip(own).enumerate() {
        let cover = seen.cover[k];
        if cover <= 0.0 {
            *out = *own;
            continue;
        }
        let (x, y) = (k as f32, y as f32);
        let (bx, by) = (x + seen.x[k], y + seen.y[k]);
        let (own_a, back_a) = (veil.at(x, y), veil.at(bx, by));
        let film_a = 1.0 - seen.back[k] * (1.0 - back_a);
        let alpha = own_a + (film_a - own_a) * cover;
        let Some(inks) = colour else {
            *out = T::of(alpha * veil.full, veil.full);
            continue;
        };
        let (mut back, mut near) = (behind.at(bx, by) - inks.zero, own.wide() - inks.zero);
        if veil.straight {
            (back, near) = (back * back_a, near * own_a);
        }
        let film = back * seen.back[k] + inks.tint * seen.tint[k] + inks.white * seen.white[k];
        let mut v = near + (film - near) * cover;
        if veil.straight {
            v = if alpha > 0.0 { v / alpha } else { 0.0 };
        }
        *out = T::of(inks.zero + v, inks.top);
    }
}
