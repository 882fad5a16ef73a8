//! The density of the air on a coarse grid.
//!
//! Positions are in samples of a picture 1920 wide. Eddies of three sizes move them, each from where the ones before have
//! moved them; octaves of noise there, the finer ones after more eddies, make structures that are drawn out to filaments.
//! Each octave and eddy drifts and changes at a speed of its own, so shapes curl while they drift. A plume's positions are
//! those at its source: the flow takes a structure upwards in proportion to its width, so structures grow as they rise, and
//! the height above the source becomes a logarithm. Flames are alike, but stretch.

use super::noise::{Octave, values, warp};
use super::settings::Shape;
use crate::math::smoothstep;
use crate::simd::{Level, multiversion};

/// Everything that the density of a moment depends on. Lengths are in samples of a picture 1920 wide.
#[derive(Clone, Debug)]
pub(super) struct Air {
    pub(super) shape: Shape,
    pub(super) seed: u64,
    pub(super) coverage: f64,
    pub(super) scale: f64,
    pub(super) stretch: f64,
    pub(super) turbulence: f64,
    pub(super) filaments: f64,
    pub(super) billows: f64,
    pub(super) softness: f64,
    pub(super) origin: [f64; 2],
    pub(super) width: f64,
    pub(super) height: f64,
    /// The lower edge of the picture.
    pub(super) floor: f64,
    /// The way to the right and upwards so far, and how far shapes have changed.
    pub(super) drift: [f64; 2],
    pub(super) change: f64,
    pub(super) gusts: f64,
    /// How far to the right a plume goes while it rises by 1.
    pub(super) lean: f64,
}

impl Air {
    pub(super) fn is_flames(&self) -> bool {
        self.shape == Shape::Flames
    }

    /// The numbers that a state depends on.
    pub(super) fn words(&self) -> Vec<f64> {
        let a = self;
        let seed = [a.seed >> 32, a.seed & 0xffff_ffff].map(|v| v as f64);
        vec![
            seed[0],
            seed[1],
            a.coverage,
            a.scale,
            a.stretch,
            a.turbulence,
            a.filaments,
            a.billows,
            a.softness,
            a.origin[0],
            a.origin[1],
            a.width,
            a.height,
            a.drift[0],
            a.drift[1],
            a.change,
            a.gusts,
            a.lean,
        ]
    }
}

/// How much a plume widens while it rises by 1.
pub(super) const SPREAD: f64 = 0.42;
/// Size of the finest heaps, in parts of the scale.
const FINEST: f64 = 0.052;
/// How much the speed of flames grows over their height.
pub(super) const SPEEDUP: f64 = 1.6;

/// The noise of a moment.
pub(super) struct Octaves {
    /// With the distance by which they move positions.
    pub(super) eddies: Vec<(Octave, f32)>,
    pub(super) octaves: [Octave; 5],
    pub(super) gusts: [Octave; 2],
}

impl Octaves {
    pub(super) fn new(air: &Air) -> Octaves {
        let Air { scale, stretch, change, .. } = *air;
        let [x, y] = [air.drift[0], -air.drift[1]];
        let is_flames = air.is_flames();
        // A plume and flames lean with the wind: nothing drifts sideways.
        let x = if air.shape == Shape::Plume || is_flames { 0.0 } else { x };
        // Size, stretch, speed as a part of the air's, and turning.
        let octave = |number: u32, size: f64, stretch: f64, speed: f64, turn: f64| {
            let size = [size * stretch, size];
            Octave::new(air.seed, number, size, [x * speed, y * speed], turn * change)
        };
        let root = stretch.sqrt();
        // The displacement is a part of the eddy's size.
        let eddy = |(number, part, stretch, speed, turn, amount): (u32, f64, f64, f64, f64, f64)| {
            let amount = amount * part * part * scale * scale * air.turbulence;
            (octave(number, part * scale, stretch, speed, turn), amount as f32)
        };
        let gust = |number, size: f64, speed: f64| {
            Octave::new(air.seed, number, [size * 1.8, size], [x * speed, 0.0], 0.4 * change)
        };
        let gusts = [gust(21, 1100.0, 1.3), gust(22, 420.0, 1.15)];
        let (eddies, octaves) = if is_flames {
            let eddies = [(31, 1.5, 1.0, 0.75, 0.9, 0.222), (32, 0.6, 1.0, 0.9, 1.6, 0.3)];
            let octaves = [(41, 0.9, 0.65, 1.0, 0.5), (42, 0.45, 0.7, 1.05, 0.9), (43, 0.2, 0.8, 1.1, 1.4)];
            let [a, b, c] = octaves.map(|(n, part, s, v, t)| octave(n, part * scale, s * stretch, v, t));
            let slow = octave(44, 2.6 * scale, stretch, 0.6, 0.6);
            (eddies.map(eddy).to_vec(), [a, b, c, slow, slow])
        } else {
            let eddies = [
                (1, 1.3, stretch, 0.72, 0.35, 0.13),
                (2, 0.61, root, 0.85, 0.6, 0.12),
                (3, 0.27, root, 0.93, 1.0, 0.045),
            ];
            let octaves = [
                (11, 1.0, stretch, 1.0, 0.2),
                (12, 0.47, root, 1.03, 0.3),
                (13, 0.22, root, 1.06, 0.45),
                (14, 0.11, 1.0, 1.1, 0.7),
                (15, FINEST, 1.0, 1.15, 0.9),
            ];
            (eddies.map(eddy).to_vec(), octaves.map(|(n, part, s, v, t)| octave(n, part * scale, s, v, t)))
        };
        Octaves { eddies, octaves, gusts }
    }
}

/// What all samples of a row have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The first position, and the distance between positions.
    pub(super) x: [f32; 2],
    pub(super) y: f32,
    /// What is added to the noise, and the factor of the density.
    pub(super) more: f32,
    pub(super) by: f32,
    /// The height above the source, in heights of flames.
    pub(super) above: f32,
}

impl Row {
    /// The row at height `y` of a picture whose sites begin at `x[0]` and are `x[1]` apart.
    pub(super) fn new(air: &Air, x: [f64; 2], y: f64) -> Row {
        let up = air.origin[1] - y;
        let plain = Row {
            x: x.map(|v| v as f32),
            y: y as f32,
            more: (1.6 * (air.coverage - 0.5) + 0.35) as f32,
            by: 1.0,
            above: (up / air.height) as f32,
        };
        let lean = if up > 0.0 { air.lean * up * up / (up + 0.3 * air.height) } else { 0.0 };
        match air.shape {
            Shape::Everywhere => plain,
            Shape::Ground => {
                let above = ((air.floor - y) / air.height).max(0.0);
                let by = 1.2 * libm::exp(-0.9 * above * above);
                let more = plain.more + 0.42 * (1.0 - above).max(-1.5) as f32;
                Row { more, by: by as f32, ..plain }
            }
            Shape::Plume => {
                let width = air.width + SPREAD * up.max(0.0);
                let scale = air.width / width;
                let x = [(x[0] - air.origin[0] - lean) * scale, x[1] * scale];
                let log = libm::log((1.0 + SPREAD * up / air.width).max(0.05)) / SPREAD * air.width;
                let ends =
                    |low: f64, high: f64, v: f64| f64::from(smoothstep(low as f32, high as f32, v as f32));
                let fades = ends(-40.0, 60.0, up) * (1.0 - ends(0.4 * air.height, air.height, up));
                let by = 1.3 * fades * (0.25 + 0.75 * scale.sqrt());
                Row { x: x.map(|v| v as f32), y: -log as f32, by: by as f32, ..plain }
            }
            Shape::Flames => {
                let above = up / air.height;
                let log = libm::log((1.0 + SPEEDUP * above.max(-0.2)).max(0.05)) / SPEEDUP * air.height;
                let x = [x[0] - air.origin[0] - lean, x[1]];
                Row { x: x.map(|v| v as f32), y: -log as f32, more: 0.0, ..plain }
            }
        }
    }
}

/// The settings of a moment, for rows of samples.
#[derive(Clone, Copy, Debug)]
struct Mix {
    is_plume: bool,
    width: f32,
    filaments: f32,
    billows: f32,
    /// The factor of the finest heaps: 0 where the grid is too coarse for them.
    finest: f32,
    softness: f32,
    gusts: f32,
}

#[inline(always)]
fn ridge(v: f32) -> f32 {
    let r = 1.0 - 2.0 * v.abs();
    if r > 0.0 { r } else { 0.0 }
}

/// [`smoothstep`] without a branch.
#[inline(always)]
fn step(low: f32, high: f32, v: f32) -> f32 {
    let t = (v - low) * (1.0 / (high - low));
    let t = if t > 0.0 { t } else { 0.0 };
    let t = if t < 1.0 { t } else { 1.0 };
    t * t * (3.0 - 2.0 * t)
}

/// The density of a row: `noise` are its octaves, `moved` the positions after the largest eddies, and in `out` is the
/// factor of gusts.
#[inline(always)]
fn air_body(noise: [&[f32]; 5], moved: &[f32], row: Row, mix: Mix, out: &mut [f32]) {
    let n = out.len();
    let [a, b, c, d, e] = noise.map(|v| &v[..n]);
    let moved = &moved[..n];
    for i in 0..n {
        let (a, b, c, d, e) = (a[i], b[i], c[i], d[i], e[i]);
        let wisps = a * 0.9 + b * 0.48 + c * 0.24 + d * 0.11;
        let heaps = a * 1.3 - 0.5 + b.abs() * 0.95 + c.abs() * 0.55 + d.abs() * 0.32 + e.abs() * mix.finest;
        // A plume is densest along its axis, which eddies bend.
        let u = moved[i] / mix.width;
        let straight = (row.x[0] + i as f32 * row.x[1]) / mix.width;
        let axis = if mix.is_plume { 0.65 - 1.7 * u * u } else { 0.0 };
        let within = if mix.is_plume { 1.0 - step(0.8, 1.7, straight.abs()) } else { 1.0 };
        let v = wisps + (heaps - wisps) * mix.billows + row.more + axis;
        let v = if v > 0.0 { v } else { 0.0 };
        let body = v * v / (v + 0.35 * mix.softness + 1e-6);
        let f = ridge(b * 1.6 + 0.3 * c) * 0.45 + ridge(c * 1.6) * 0.33 + ridge(d * 1.6) * 0.22;
        let part = mix.filaments * (1.0 - 0.7 * step(0.4, 1.3, body));
        let gust = 1.0 - mix.gusts + mix.gusts * 1.4 * step(-0.25, 0.5, out[i]);
        out[i] = body * (1.0 - part + part * 3.0 * f * f * f) * within * row.by * gust;
    }
}

/// The heat of a row of flames.
#[inline(always)]
fn flames_body(noise: [&[f32]; 5], row: Row, width: f32, out: &mut [f32]) {
    let n = out.len();
    let [a, b, c, d, _] = noise.map(|v| &v[..n]);
    let above = if row.above > 0.0 { row.above } else { 0.0 };
    let rough = 0.3 + 0.95 * if above < 1.0 { above } else { 1.0 };
    let begins = step(-0.05, 0.06, row.above);
    for i in 0..n {
        let v = a[i] * 0.8 + b[i] * 0.45 + c[i] * 0.2;
        let u = (row.x[0] + i as f32 * row.x[1]) / width;
        let side = 1.0 - 4.0 * u * u;
        let side = if side > -1.0 { side } else { -1.0 };
        let high = 0.25 + 0.75 * if side > 0.02 { side } else { 0.02 };
        let top = 1.0 + 0.5 * d[i];
        let top = high * if top > 0.2 { top } else { 0.2 };
        let heat = v * rough + 0.8 - 1.15 * above / top;
        let heat = if heat > 0.0 { heat } else { 0.0 };
        // Faint threads go out.
        let heat = 1.1 * heat * heat / (heat + 0.12);
        out[i] = heat * begins * step(-0.15, 0.35, side + v * 0.3);
    }
}

multiversion! {
    fn air(level, noise: [&[f32]; 5], moved: &[f32], row: Row, mix: Mix, out: &mut [f32]) = air_body;
    fn flames(level, noise: [&[f32]; 5], row: Row, width: f32, out: &mut [f32]) = flames_body;
}

/// Computes the density, or the heat of flames, of rows of the grid: `out` has several of `len` samples, whose positions
/// `place` gives by their number.
pub(super) fn rows(
    level: Level,
    (at, octaves): (&Air, &Octaves),
    len: usize,
    place: impl Fn(usize) -> Row,
    out: &mut [f32],
) {
    let mut rows = vec![0.0; 8 * len];
    let (noise, places) = rows.split_at_mut(5 * len);
    let mut places = places.chunks_exact_mut(len);
    let (Some(xs), Some(ys), Some(moved)) = (places.next(), places.next(), places.next()) else { return };
    let is_flames = at.is_flames();
    let mix = Mix {
        is_plume: at.shape == Shape::Plume,
        width: at.width as f32,
        filaments: at.filaments as f32,
        billows: at.billows as f32,
        finest: 0.0,
        softness: at.softness as f32,
        gusts: at.gusts as f32,
    };
    for (y, out) in out.chunks_exact_mut(len).enumerate() {
        let row = place(y);
        if row.by == 0.0 {
            out.fill(0.0);
            continue;
        }
        let plain =
            |xs: &mut [f32]| (0..).zip(xs).for_each(|(i, x): (i32, _)| *x = row.x[0] + i as f32 * row.x[1]);
        plain(xs);
        ys.fill(row.y);
        out.fill(0.0);
        if at.gusts > 0.0 && !is_flames {
            values(level, xs, ys, &octaves.gusts[0], out);
            values(level, xs, ys, &octaves.gusts[1], moved);
            out.iter_mut().zip(&*moved).for_each(|(a, b)| *a += 0.4 * b);
        }
        // Flames sway more the higher they are.
        let by = if is_flames { 0.15 + 0.9 * row.above.clamp(0.0, 1.5) } else { 1.0 };
        let mut noise = noise.chunks_exact_mut(len);
        let mut all: [&mut [f32]; 5] = core::array::from_fn(|_| noise.next().unwrap_or_default());
        let wanted = if is_flames || at.billows <= 0.0 { 0.0 } else { (at.scale * FINEST) as f32 / row.x[1] };
        let finest = 0.2 * step(1.5, 3.0, wanted);
        for (k, octave) in octaves.octaves.iter().enumerate().take(if finest > 0.0 { 5 } else { 4 }) {
            if let Some((eddy, amount)) = octaves.eddies.get(k).filter(|_| !is_flames) {
                warp(level, xs, ys, eddy, *amount);
            }
            if is_flames && k == 0 {
                octaves.eddies.iter().for_each(|(eddy, amount)| warp(level, xs, ys, eddy, by * amount));
            }
            values(level, xs, ys, octave, all[k]);
            if k == 0 {
                moved.copy_from_slice(xs);
            }
        }
        let noise = all.each_mut().map(|v| &**v);
        if is_flames {
            flames(level, noise, row, mix.width, out);
        } else {
            air(level, noise, moved, row, Mix { finest, ..mix }, out);
        }
    }
}
