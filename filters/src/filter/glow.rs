//! `glow` and `halation`: the light of highlights, spread over their surroundings.
//!
//! Both work on R, G and B in linear light, by the transfer of the picture. With `m` the largest of the three, the
//! highlight of a colour is its part `c / m`, for halation with a luma as `m`: `c` is 0 below the threshold's light `t`, `m - t` above it, and a parabola
//! between `t - k` and `t + k`, `k` being the knee's part of `t`. Each channel of the highlights is blurred with its own
//! radius by the Gaussian of [`blur`](super::blur) and multiplied by the strength and the tint; a channel with a smaller
//! radius than the widest of the tinted ones gets less by the square of their ratio, so it is not the brightest around
//! small lights.
//!
//! - Glow adds that light, as mist on a lens does.
//! - Halation adds only what exceeds the highlight itself: light that passes through the film and returns from its base
//!   exposes the layers around a highlight, red most and farthest, green less, blue not. So areas wide and evenly bright
//!   keep their colour. The base passes red above all: of the highlight's green and blue, only as much as it has red
//!   counts, so a green light has no green rim.
//!
//! No channel falls. Integer samples approach white without reaching it: of the room `w` between a value and white, an
//! addition `a` takes `a w / (a + w)`. Chroma is changed by the differences only.
//!
//! Highlights count by their alpha. In premultiplied pictures the light is added to the products, that is to the picture
//! over black: in linear light this is the sum that is right over any background, also where nothing is covered. In
//! pictures of straight alpha it is added to the straight colour, because light without coverage cannot be stored there.

use super::blur::Blur;
use super::point::mean_alpha;
use super::rgb::ThroughRgb;
use super::{Band, Entry, Filter, Memory, Plan, Reach, Render, Spec};
use crate::frame::{Alpha, Depth, Format, FrameMut, FrameRef, FrameTime, PlaneSet, Scratch};
use crate::pixel::transfer::TransferFunction;
use crate::settings;
use crate::settings::{Animated, SettingError, Unit};
use crate::simd::{Level, multiversion};

/// The catalog's entry of glow.
pub const GLOW: Entry =
    Entry::new::<GlowSpec>("glow", "Glow", "Spreads the light of highlights, like mist on a lens");

/// The catalog's entry of halation.
pub const HALATION: Entry =
    Entry::new::<HalationSpec>("halation", "Halation", "Puts a red rim around highlights, as film does");

settings! {
    struct GlowSpec {
        /// Part of the highlights' light that is added. Around what is cut out it needs premultiplied alpha, as OpenEXR has:
        /// files of straight alpha (PNG, TIFF) store no light where nothing is covered.
        strength: Animated = number(0.0..=4.0).default(0.4).soft(0.0..=1.0),
        /// Value from which colours glow: 0 is black, 1 white.
        threshold: Animated = number(0.0..=1.0).default(0.6).unit(Unit::Fraction),
        /// Softness of the threshold, as a part of its light.
        knee: Animated = number(0.0..=1.0).default(0.5).unit(Unit::Fraction),
        /// Standard deviation of the blur in samples of a picture 1920 wide.
        radius: Animated = number(0.0..=300.0).default(30.0).unit(Unit::Pixels).soft(0.0..=100.0),
        /// Colour by which the added light is multiplied.
        tint: Animated<[f64; 4]> = colour().default([1.0, 1.0, 1.0, 1.0]),
    }
}

settings! {
    struct HalationSpec {
        /// Part of the highlights' light that is added around them. Around what is cut out it needs premultiplied alpha, as
        /// OpenEXR has: files of straight alpha (PNG, TIFF) store no light where nothing is covered.
        strength: Animated = number(0.0..=4.0).default(1.0).soft(0.0..=2.0),
        /// Luma from which colours cause halation: 0 is black, 1 white.
        threshold: Animated = number(0.0..=1.0).default(0.75).unit(Unit::Fraction),
        /// Softness of the threshold, as a part of its light.
        knee: Animated = number(0.0..=1.0).default(0.5).unit(Unit::Fraction),
        /// Standard deviation of the blur of the red layer, in samples of a picture 1920 wide.
        red: Animated = number(0.0..=300.0).default(12.0).unit(Unit::Pixels).soft(0.0..=50.0),
        /// The same for the green layer. A layer with half of the widest radius gets a quarter of the light.
        green: Animated = number(0.0..=300.0).default(6.0).unit(Unit::Pixels).soft(0.0..=50.0),
        /// The same for the blue layer. It has no effect while `tint` has no blue.
        blue: Animated = number(0.0..=300.0).default(0.0).unit(Unit::Pixels).soft(0.0..=50.0),
        /// Colour by which the added light is multiplied: green makes the rim orange.
        tint: Animated<[f64; 4]> = colour().default([1.0, 0.7, 0.0, 1.0]),
    }
}

impl Spec for GlowSpec {
    fn bind(&self, input: &Format, _: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let GlowSpec { strength, threshold, knee, radius, tint } = self.clone();
        let radii = [radius.clone(), radius.clone(), radius];
        Glow::bind(input, Set { strength, threshold, knee, radii, tint, is_rim: false }, level)
    }
}

impl Spec for HalationSpec {
    fn bind(&self, input: &Format, _: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let HalationSpec { strength, threshold, knee, red, green, blue, tint } = self.clone();
        let radii = [red, green, blue];
        Glow::bind(input, Set { strength, threshold, knee, radii, tint, is_rim: true }, level)
    }
}

/// The settings of either.
struct Set {
    strength: Animated,
    threshold: Animated,
    knee: Animated,
    /// The radii of R, G and B.
    radii: [Animated; 3],
    tint: Animated<[f64; 4]>,
    /// Whether only the light beyond that of the highlight itself is added.
    is_rim: bool,
}

struct Glow {
    format: Format,
    set: Set,
    /// To the straight colours, whose highlights it takes.
    rgb: ThroughRgb,
    /// To what the light is added to, and back.
    sums: ThroughRgb,
    blur: Blur,
    curve: TransferFunction,
    level: Level,
}

/// The parameters at a time.
struct Now {
    knee: Knee,
    /// The part of light that is added to R, G and B.
    amounts: [f32; 3],
    /// The planes G, B and R that are blurred, their sigmas, and the blur's reach in rows.
    blurred: PlaneSet,
    sigmas: Vec<[f64; 2]>,
    reach: usize,
}

/// The threshold in light, and half of the width of its soft part.
#[derive(Clone, Copy)]
struct Knee {
    threshold: f32,
    half: f32,
}

/// Light above this counts as an invalid sample and causes no glow.
const MOST: f32 = 1e6;

/// R, G and B as planes of G, B and R.
const PLANES: [usize; 3] = [2, 0, 1];

#[inline(always)]
fn highlights_body([r, g, b]: [&mut [f32]; 3], knee: Knee, is_rim: bool) {
    let n = r.len();
    let (g, b) = (&mut g[..n], &mut b[..n]);
    let Knee { threshold, half } = knee;
    let by = 0.25 / half;
    let light = |v: f32| if v > 0.0 && v < MOST { v } else { 0.0 };
    for i in 0..n {
        let [x, y, z] = [light(r[i]), light(g[i]), light(b[i])];
        let m = if x > y { x } else { y };
        let m = if m > z { m } else { z };
        // A deep red is no highlight of film: all layers together make one.
        let m = if is_rim { 0.25 * (x + 2.0 * y + z) } else { m };
        let over = m - threshold;
        let inside = over + half;
        let inside = if inside > 0.0 { inside } else { 0.0 };
        let soft = inside * inside * by;
        let part = if over > half { over } else { soft };
        let by = if m > 0.0 { part / m } else { 0.0 };
        let most = if is_rim { x } else { MOST };
        let (y, z) = (if y < most { y } else { most }, if z < most { z } else { most });
        (r[i], g[i], b[i]) = (x * by, y * by, z * by);
    }
}

/// From the sums of a channel's values and light to differences of values, bent below white if there is one.
#[inline(always)]
fn differences_body(row: &mut [f32], values: &[f32], added: &[f32], has_white: bool) {
    for ((out, v), added) in row.iter_mut().zip(values).zip(added) {
        let (room, more) = (1.0 - v, *out - v);
        let bent = if room > 0.0 { more * (room / (more + room)) } else { 0.0 };
        *out = if *added > 0.0 && more > 0.0 { if has_white { bent } else { more } } else { 0.0 };
    }
}

/// The light that is added to a channel.
#[inline(always)]
fn added_body(added: &mut [f32], blurred: &[f32], own: &[f32], amount: f32, is_rim: bool) {
    for ((added, blurred), own) in added.iter_mut().zip(blurred).zip(own) {
        let own = if is_rim { *own } else { 0.0 };
        let more = blurred - own;
        *added = if more > 0.0 { amount * more } else { 0.0 };
    }
}

multiversion! {
    fn highlights(level, rows: [&mut [f32]; 3], knee: Knee, is_rim: bool) = highlights_body;
    fn differences(level, row: &mut [f32], values: &[f32], added: &[f32], has_white: bool) = differences_body;
    fn added(level, out: &mut [f32], blurred: &[f32], own: &[f32], amount: f32, is_rim: bool) = added_body;
}

impl Glow {
    fn bind(format: &Format, set: Set, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let rgb = ThroughRgb::new(format, level)?;
        // Products as they are.
        let alpha = if format.alpha == Alpha::Premultiplied { Alpha::Straight } else { format.alpha };
        let sums = ThroughRgb::adding(&Format { alpha, ..*format }, level)?;
        let blur = Blur::gaussian(&rgb.rgb, level);
        let curve = TransferFunction::of(format);
        Ok(Glow { format: *format, set, rgb, sums, blur, curve, level }.boxed())
    }

    /// The highlights of these rows, as planes of G, B and R.
    fn highlights(&self, now: &Now, input: FrameRef<'_>, rows: &mut FrameMut<'_>, scratch: &mut Scratch) {
        let [alpha] = scratch.buffers::<f64, 1>([self.format.width as usize]);
        let [g, b, r, _] = rows.planes_mut();
        for y in g.rows() {
            let rows = [r.row_mut::<f32>(y), g.row_mut(y), b.row_mut(y)];
            let [r, g, b] = rows.map(|row| {
                self.curve.linearize(self.level, row);
                row
            });
            highlights(self.level, [r, g, b], now.knee, self.set.is_rim);
            if let Some(a) = self.format.alpha_plane() {
                mean_alpha(&self.format, input.plane(a), 0, y, alpha);
                // Premultiplied light without coverage counts as it is.
                let least = if self.format.alpha == Alpha::Straight { f64::NEG_INFINITY } else { 0.0 };
                for (v, a) in [r, g, b].into_iter().flat_map(|row| row.iter_mut().zip(&*alpha)) {
                    *v *= if *a > least && a.is_finite() { a.max(0.0) as f32 } else { 1.0 };
                }
            }
        }
    }
}

impl Render for Glow {
    type Params = Now;
    type State = ();

    fn at(&self, at: &FrameTime) -> Option<(Plan, Now)> {
        let set = &self.set;
        let strength = set.strength.at(at);
        let tint = set.tint.at(at);
        let radii = [0, 1, 2].map(|c| set.radii[c].at(at));
        let tint = [0, 1, 2].map(|c| TransferFunction::Srgb.light(tint[c]));
        let tinted = (0..3).filter(|&c| tint[c] > 0.0);
        let widest = tinted.fold(0.0, |widest: f64, c| widest.max(radii[c]));
        let amounts = [0, 1, 2].map(|c| {
            let part = radii[c] / widest.max(1e-9);
            strength * tint[c] * part * part
        });
        let threshold = self.curve.light(set.threshold.at(at)).max(0.0);
        // A hard knee is a very narrow one.
        let half = (threshold * set.knee.at(at)).max(1e-6);
        let mut now = Now {
            knee: Knee { threshold: threshold as f32, half: half as f32 },
            amounts: amounts.map(|a| a as f32),
            blurred: PlaneSet::NONE,
            sigmas: vec![[0.0; 2]; 4],
            reach: 0,
        };
        for c in (0..3).filter(|&c| amounts[c] > 0.0) {
            let Some((plan, sigmas)) = self.blur.of_sigma(radii[c] * f64::from(self.format.width) / 1920.0)
            else {
                continue;
            };
            let Reach::Rows(rows) = plan.reach else { continue };
            now.blurred = now.blurred | PlaneSet::one(PLANES[c]);
            now.sigmas[PLANES[c]] = sigmas[PLANES[c]];
            now.reach = now.reach.max(rows as usize);
        }
        if now.blurred.is_empty() {
            return None;
        }
        let reach = Reach::Rows(self.sums.reach() + now.reach as u32);
        let extra_rows = 2 * now.reach as u32;
        Some((Plan { reach, extra_rows, ..Plan::in_place(self.format.color_planes()) }, now))
    }

    fn memory(&self) -> Memory {
        let rows = self.format.height as usize;
        let pictures = 2 * Scratch::picture_bytes(&self.rgb.rgb, rows);
        let rooms = self.rgb.memory().max(self.sums.memory()) + 8 * self.format.width as usize + 64;
        Memory { fixed: 0, per_frame: pictures + self.blur.memory().per_frame + rooms }
    }

    fn render(&self, now: &Now, (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
        let input = band.source();
        let height = self.rgb.rgb.plane_size(0).1;
        let rows = self.sums.around(&band.rows);
        let wide = rows.start.saturating_sub(now.reach)..(rows.end + now.reach).min(height);
        let (mut bright, scratch) = scratch.picture(self.rgb.rgb, &wide);
        self.rgb.read(input, bright.reborrow(), scratch);
        self.highlights(now, input, &mut bright, scratch);
        let (mut soft, scratch) = scratch.picture(self.rgb.rgb, &rows);
        let output = soft.reborrow();
        let mut of_blur = Band { rows, input: Some(bright.as_ref()), output, writes: now.blurred };
        self.blur.render(&now.sigmas, &(), &mut of_blur, scratch);
        let has_white = self.format.depth != Depth::Float;
        let width = self.format.width as usize;
        self.sums.render(band, scratch, |y, room, rows| {
            let (values, more) = room.split_at_mut(width);
            for (c, row) in rows.into_iter().enumerate() {
                let p = PLANES[c];
                if !now.blurred.has(p) {
                    row.fill(0.0);
                    continue;
                }
                let (blurred, own) = (soft.plane(p).row::<f32>(y), bright.plane(p).row::<f32>(y));
                added(self.level, more, blurred, own, now.amounts[c], self.set.is_rim);
                if !more.iter().any(|more| *more > 0.0) {
                    row.fill(0.0);
                    continue;
                }
                values.copy_from_slice(row);
                self.curve.linearize(self.level, row);
                row.iter_mut().zip(&*more).for_each(|(light, more)| *light += more);
                self.curve.encode(self.level, row);
                differences(self.level, row, values, more, has_white);
            }
        });
    }
}

#[cfg(test)]
mod tests;
