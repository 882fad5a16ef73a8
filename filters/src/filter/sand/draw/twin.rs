//! Sand in f64, sample by sample over all grains and without tiles: what the fast drawing must compute.

use super::tests::{draw, pile, style};
use super::*;

const TAPS: [f64; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];

/// Density, colours times density, relief and the density around, in a cell.
type Fields = [f64; 6];

/// Cells of the picture. Around it, its edge is repeated.
struct Mass {
    count: [usize; 2],
    cells: Vec<[f64; 4]>,
}

impl Mass {
    fn new(style: &Style, grains: &[GrainPoint], side: f64) -> Mass {
        let count = style.size.map(|v| (v / side as usize).max(1));
        let mut cells = vec![[0.0; 4]; count[0] * count[1]];
        for grain in grains {
            let (u, v) = (f64::from(grain.x) / side - 0.5, f64::from(grain.y) / side - 0.5);
            let radius = f64::from(grain.radius.min(1.2 * style.radius)) / side;
            let [r, g, b] = grain.rgb.map(f64::from);
            let area = core::f64::consts::PI * radius * radius;
            for (y, x) in [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)] {
                let near =
                    |v: f64, over: f64, n: usize| (v.floor() + over).clamp(0.0, n as f64 - 1.0) as usize;
                let weight = (1.0 - (u.floor() + x - u).abs()) * (1.0 - (v.floor() + y - v).abs());
                let cell = &mut cells[near(v, y, count[1]) * count[0] + near(u, x, count[0])];
                cell.iter_mut().zip([1.0, r, g, b]).for_each(|(sum, c)| *sum += weight * area * c);
            }
        }
        Mass { count, cells }
    }

    fn at(&self, x: i64, y: i64, k: usize) -> f64 {
        let [x, y] =
            [(x, 0), (y, 1)].map(|(v, axis): (i64, usize)| v.clamp(0, self.count[axis] as i64 - 1) as usize);
        self.cells[y * self.count[0] + x][k]
    }

    fn blurred(&self, x: i64, y: i64, k: usize) -> f64 {
        blur(1, |dx, dy| self.at(x + dx, y + dy, k))
    }

    fn fields(&self, style: &Style, x: i64, y: i64) -> Fields {
        let [lx, ly] = style.light.map(f64::from);
        let [d, r, g, b] = [0, 1, 2, 3].map(|k| self.blurred(x, y, k));
        let slope = |dx: i64, dy: i64| self.blurred(x - dx, y - dy, 0) - self.blurred(x + dx, y + dy, 0);
        let deep = blur(2, |dx, dy| self.blurred(x + dx, y + dy, 0));
        [d, r, g, b, slope(1, 0) * lx + slope(0, 1) * ly, deep]
    }
}

fn blur(step: i64, f: impl Fn(i64, i64) -> f64) -> f64 {
    let taps = || (-2..=2).zip(TAPS);
    taps()
        .flat_map(|(j, v)| taps().map(move |(i, u)| (i, j, u * v)))
        .map(|(i, j, t)| t * f(step * i, step * j))
        .sum()
}

fn smooth(low: f64, high: f64, v: f64) -> f64 {
    let t = ((v - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The colour under the grains, and the brightness of the surface.
fn under([d, r, g, b, relief, deep]: Fields) -> [f64; 5] {
    let inside = smooth(0.34, 0.62, d.max(1.3 * deep - 0.3));
    let [r, g, b] = [r, g, b].map(|c| 0.46 * inside * c / d.max(0.02));
    let shadow = 0.12 * smooth(0.02, 0.5, d);
    [r, g, b, inside + (1.0 - inside) * shadow, 1.0 + (0.4 * relief).clamp(-0.25, 0.2)]
}

/// Values of a byte of a hash, 0 to 1.
fn byte(hash: u32, shift: u32) -> f64 {
    f64::from(hash >> shift & 0xFF) / 255.0
}

fn turned(turns: f64) -> [f64; 2] {
    let wave = |t: f64| {
        let t = t - (t + 0.5).floor();
        8.0 * t - 16.0 * t * t.abs()
    };
    let (c, s) = (wave(turns + 0.25), wave(turns));
    [c, s].map(|v| v / (c * c + s * s).sqrt())
}

/// Draws a grain over the samples of the picture.
fn draw_grain(style: &Style, grain: &GrainPoint, samples: &mut [[f64; 4]]) {
    let (h, g) = (hash(grain.id), hash(hash(grain.id)));
    let (nominal, own) = (f64::from(style.radius), f64::from(grain.radius));
    let radius = own.min(1.2 * nominal) * (0.98 + 0.4 * byte(h, 0) * byte(h, 0) * byte(h, 0));
    let [x, y] = [(grain.x, 8), (grain.y, 16)]
        .map(|(v, s)| f64::from(v) + 0.5 * own.min(nominal) * (byte(h, s) - 0.5));
    let (tone, kind, strength) =
        (byte(h, 24), byte(g, 0), if style.material == Material::Picture { 0.35 } else { 1.0 });
    let dark = if kind < 0.07 { 1.0 - 0.42 * strength } else { 1.0 };
    let shade = (1.0 + strength * (0.3 * tone - 0.15)) * dark;
    let (white, gloss) =
        if kind > 0.91 { ((0.25 + 2.5 * (kind - 0.91)) * strength, 0.3) } else { (0.0, 0.06) };
    let warm = 0.05 * strength * (byte(g, 8) - 0.5);
    let tint = [1.0 + warm, 1.0, 1.0 - 1.6 * warm];
    let rgb = [0, 1, 2].map(|k: usize| {
        let base = f64::from(grain.rgb[k]) * tint[k] * shade;
        base + white * ([1.0, 0.97, 0.9][k] - base)
    });
    let [lx, ly] = style.light.map(f64::from);
    let [ax, ay] = turned(byte(g, 8));
    let facets = [0, 1, 2].map(|k: u32| {
        let [u, v] = turned(byte(g, 8) + 0.33 * f64::from(k) + 0.22 * byte(g, 16 + 4 * k));
        (u, v, 0.66 + 0.34 * byte(g, 6 * k + 3))
    });
    for (i, sample) in samples.iter_mut().enumerate() {
        let (dx, dy) = ((i % style.size[0]) as f64 + 0.5 - x, (i / style.size[0]) as f64 + 0.5 - y);
        if radius < 1.3 {
            let cover = (radius + 0.5 - (dx * dx + dy * dy).sqrt()).clamp(0.0, 1.0);
            let lit = 1.0 + 0.3 / (radius + 0.4) * (dx * lx + dy * ly);
            for k in 0..4 {
                let new = if k < 3 { rgb[k] * lit } else { 1.0 };
                sample[k] += cover * (new - sample[k]);
            }
            continue;
        }
        let (u, v) = (dx / radius, dy / radius);
        let (p, q) = (u * ax + v * ay, (v * ax - u * ay) * (1.0 + 0.22 * byte(g, 16)));
        let round = p * p + q * q;
        let far = facets.map(|(fx, fy, cut)| (u * fx + v * fy) / cut);
        let most = far[0].max(far[1]).max(far[2]);
        let cover = ((1.0 - round.sqrt().max(most)) * radius + 0.5).clamp(0.0, 1.0);
        let (su, sv) = (u + 0.28 * lx, v + 0.28 * ly);
        let depth = 0.62 * (0.4 * (radius - 0.6)).clamp(0.25, 1.0);
        let shadow = depth * (1.24 - (su * su + sv * sv).sqrt()).clamp(0.0, 1.0);
        let facet: f64 = facets
            .iter()
            .zip(far)
            .map(|((fx, fy, _), far)| (fx * lx + fy * ly) * (1.0 - 5.0 * (most - far)).max(0.0))
            .sum();
        let facet = 0.24 * facet * (5.0 * (most - 0.25 - 0.35 * byte(g, 24))).clamp(0.0, 1.0);
        let lit = 1.06 + 0.2 * (u * lx + v * ly) + facet - 0.22 * round * round.min(1.0);
        let (gu, gv) = (u - 0.38 * lx, v - 0.38 * ly);
        let near = (1.0 - 5.0 * (gu * gu + gv * gv)).max(0.0);
        let spark = gloss * near * near;
        for k in 0..3 {
            sample[k] = sample[k] * (1.0 - cover) * (1.0 - shadow) + cover * (rgb[k] * lit + spark);
        }
        sample[3] += cover * (1.0 - sample[3]);
    }
}

fn reference(style: &Style, grains: &[GrainPoint]) -> Vec<[f64; 4]> {
    let side = cell_size(style.radius) as f64;
    let mass = Mass::new(style, grains, side);
    let [width, height] = style.size;
    // A quadratic spline over three cells across and three down.
    let weights = |v: usize| {
        let place = (v as f64 + 0.5) / side;
        let t = place - place.floor() - 0.5;
        (place.floor() as i64, [0.5 * (0.5 - t) * (0.5 - t), 0.75 - t * t, 0.5 * (0.5 + t) * (0.5 + t)])
    };
    let mut gains = Vec::new();
    let mut samples: Vec<[f64; 4]> = (0..width * height)
        .map(|i| {
            let ((x, across), (y, down)) = (weights(i % width), weights(i / width));
            let mut sum = [0.0; 5];
            for (k, (i, j)) in (0..9).map(|k| (k, (k % 3, k / 3))) {
                let cell = under(mass.fields(style, x + k as i64 % 3 - 1, y + k as i64 / 3 - 1));
                sum.iter_mut().zip(cell).for_each(|(sum, v)| *sum += across[i] * down[j] * v);
            }
            gains.push(sum[4]);
            [sum[0], sum[1], sum[2], sum[3]]
        })
        .collect();
    grains.iter().for_each(|grain| draw_grain(style, grain, &mut samples));
    samples
        .iter()
        .zip(gains)
        .map(|([r, g, b, a], gain)| {
            let [r, g, b] = [r, g, b].map(|c| (c * gain).clamp(0.0, a.min(1.0)));
            [r, g, b, a.min(1.0)]
        })
        .collect()
}

#[test]
fn sand_is_that_of_the_twin() {
    for material in [Material::Sand, Material::Picture] {
        for (radius, size) in [(0.6f32, [61, 47]), (1.0, [40, 33]), (1.6, [64, 50]), (5.5, [70, 90])] {
            let style = Style { level: Level::best(), ..style(material, radius, size) };
            let grains = pile(size[0], size[1], radius);
            let want = reference(&style, &grains);
            let fast = draw(&style, Tile { x: 0, y: 0, width: size[0], height: size[1] }, &grains);
            for (i, (fast, want)) in fast.iter().zip(want).enumerate() {
                let far = (0..4).map(|k| (f64::from(fast[k]) - want[k]).abs()).fold(0.0, f64::max);
                assert!(far < 1e-3, "{material:?} {radius} sample {i}: {fast:?}, not {want:?}");
            }
        }
    }
}
