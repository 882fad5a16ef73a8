//! The definition of the picture: f64, one sample after the other, all grains for each.

use super::super::sand::{Body, SMALL};
use super::super::{GrainPoint, Ground, Material, Style, direction, snow, unit};

const SPLINE: [f64; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];
/// Cells around the picture for which fields are computed.
const BORDER: isize = 14;

fn smooth(low: f64, high: f64, v: f64) -> f64 {
    let t = ((v - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// A function of cells from the values in a table; cells beyond it are repeated.
struct Table {
    columns: isize,
    rows: isize,
    values: Vec<[f64; 8]>,
}

impl Table {
    fn new(columns: isize, rows: isize, f: impl Fn(isize, isize) -> [f64; 8]) -> Self {
        let places = (-BORDER..rows + BORDER).flat_map(|y| (-BORDER..columns + BORDER).map(move |x| (x, y)));
        Self { columns, rows, values: places.map(|(x, y)| f(x, y)).collect() }
    }

    fn at(&self, x: isize, y: isize) -> [f64; 8] {
        let x = x.clamp(-BORDER, self.columns + BORDER - 1) + BORDER;
        let y = y.clamp(-BORDER, self.rows + BORDER - 1) + BORDER;
        self.values[(y * (self.columns + 2 * BORDER) + x) as usize]
    }

    fn blurred(&self, step: isize) -> Self {
        Self::new(self.columns, self.rows, |x, y| {
            let mut sum = [0.0; 8];
            for (j, b) in (-2..).zip(SPLINE) {
                for (i, a) in (-2..).zip(SPLINE) {
                    let from = self.at(x + i * step, y + j * step);
                    (0..8).for_each(|k| sum[k] += a * b * from[k]);
                }
            }
            sum
        })
    }

    /// Slope of the first value towards the light.
    fn slope(&self, light: [f32; 2], x: isize, y: isize) -> f64 {
        (self.at(x - 1, y)[0] - self.at(x + 1, y)[0]) * f64::from(light[0])
            + (self.at(x, y - 1)[0] - self.at(x, y + 1)[0]) * f64::from(light[1])
    }

    /// Value between cells of `side` samples, by a quadratic spline.
    fn between(&self, x: f64, y: f64, side: f64) -> [f64; 8] {
        let weights = |u: f64| {
            let t = u - u.floor() - 0.5;
            [0.5 * (0.5 - t) * (0.5 - t), 0.75 - t * t, 0.5 * (0.5 + t) * (0.5 + t)]
        };
        let (u, v) = (x / side, y / side);
        let mut sum = [0.0; 8];
        for (j, b) in (-1..).zip(weights(v)) {
            for (i, a) in (-1..).zip(weights(u)) {
                let from = self.at(u.floor() as isize + i, v.floor() as isize + j);
                (0..8).for_each(|k| sum[k] += a * b * from[k]);
            }
        }
        sum
    }
}

/// The fields on the fine cells.
fn cells(ground: &Ground, light: [f32; 2]) -> Table {
    let (cell, columns, rows) = ground.size();
    let raw = |x: isize, y: isize| {
        let (x, y) = (x.clamp(0, columns - 1), y.clamp(0, rows - 1));
        let [mass, r, g, b] = ground.cells()[(y * columns + x) as usize].map(f64::from);
        let scale = 1.0 / (2048.0 * (cell * cell) as f64);
        let colour = scale / 255.0;
        [mass * scale, r * colour, g * colour, b * colour, 0.0, 0.0, 0.0, 0.0]
    };
    let fine = Table::new(columns, rows, raw).blurred(1);
    let coarse = Table::new(columns / 4 + 1, rows / 4 + 1, |x, y| {
        let sum: f64 = (0..16).map(|k| raw(4 * x + k % 4, 4 * y + k / 4)[0]).sum();
        [(sum / 16.0).min(0.76) / 0.76, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    });
    let middle = coarse.blurred(1);
    let deep = middle.blurred(2);
    let shades = Table::new(columns / 4 + 1, rows / 4 + 1, |x, y| {
        let (sx, sy) = (f64::from(light[0]) * 1.8, f64::from(light[1]) * 1.8);
        let (i, j) = (x + sx.floor() as isize, y + sy.floor() as isize);
        let (fx, fy) = (sx - sx.floor(), sy - sy.floor());
        let row = |j| deep.at(i, j)[0] * (1.0 - fx) + deep.at(i + 1, j)[0] * fx;
        let lit = middle.slope(light, x, y) + deep.slope(light, x, y);
        let shade = row(j) * (1.0 - fy) + row(j + 1) * fy;
        [lit, deep.at(x, y)[0], shade, 0.0, 0.0, 0.0, 0.0, 0.0]
    });
    Table::new(columns, rows, |x, y| {
        let [density, r, g, b, ..] = fine.at(x, y);
        let [lit, deep, shade, ..] = shades.between(x as f64 + 0.5, y as f64 + 0.5, 4.0);
        [density, r, g, b, lit, deep, shade, fine.slope(light, x, y)]
    })
}

/// What lies under the grains and how bright they are, by the fields of a cell.
fn under(f: &[f64; 8]) -> [f64; 8] {
    let [density, r, g, b, lit, deep, shade, relief] = *f;
    let inside = smooth(0.34, 0.62, density.max(deep - 0.3));
    let dark = 0.46 * inside / density.max(0.02);
    let alpha = inside + (1.0 - inside) * 0.30 * smooth(0.02, 0.5, density);
    let body = 1.20 - 0.07 * deep - 0.18 * shade + 0.22 * (lit * 0.75).clamp(-0.5, 0.5);
    let gain = body + (relief * 0.5).clamp(-0.3, 0.25);
    [r * dark, g * dark, b * dark, alpha, gain, 0.0, 0.0, 0.0]
}

/// What lies under the grains for each sample.
pub(super) fn fields(ground: &Ground, style: &Style, width: usize, height: usize) -> Vec<[f64; 8]> {
    let (cell, columns, rows) = ground.size();
    let cells = cells(ground, style.light);
    let cells = match style.material {
        Material::Snow => cells,
        _ => Table::new(columns, rows, |x, y| under(&cells.at(x, y))),
    };
    (0..width * height)
        .map(|k| cells.between((k % width) as f64 + 0.5, (k / width) as f64 + 0.5, cell as f64))
        .collect()
}

/// Splits a sample's fields into what lies under the grains and the brightness.
pub(super) fn inside(f: &[f64; 8]) -> ([f64; 4], f64) {
    ([f[0], f[1], f[2], f[3]], f[4])
}

pub(super) fn picture(
    ground: &Ground,
    style: &Style,
    grains: &[GrainPoint],
    width: usize,
    height: usize,
) -> Vec<[f64; 4]> {
    let table = cells(ground, style.light);
    let cell = ground.size().0 as f64;
    let density = |g: &GrainPoint| {
        table.at((f64::from(g.x) / cell).floor() as isize, (f64::from(g.y) / cell).floor() as isize)[0]
    };
    let fields = fields(ground, style, width, height);
    let samples = fields.iter().enumerate().map(|(k, f)| {
        let (x, y) = ((k % width) as f64 + 0.5, (k / width) as f64 + 0.5);
        if style.material == Material::Snow {
            let mut sample = [0.0; 4];
            grains.iter().for_each(|g| flake(g, density(g), x, y, &mut sample));
            surface(f, &mut sample);
            grains.iter().for_each(|g| glint(g, density(g), x, y, &mut sample));
            return sample;
        }
        let (mut sample, gain) = inside(f);
        grains.iter().for_each(|g| grain(style, &Body::new(style, g), x, y, &mut sample));
        let alpha = sample[3];
        let [r, g, b] = [0, 1, 2].map(|k| (sample[k] * gain).clamp(0.0, alpha));
        [r, g, b, alpha]
    });
    samples.collect()
}

/// A grain of sand over a sample.
fn grain(style: &Style, body: &Body, x: f64, y: f64, sample: &mut [f64; 4]) {
    let [lx, ly] = style.light.map(f64::from);
    let radius = f64::from(body.radius);
    let (dx, dy) = (x - f64::from(body.x), y - f64::from(body.y));
    let rgb = body.rgb.map(f64::from);
    if body.radius < SMALL {
        let cover = (radius + 0.5 - (dx * dx + dy * dy).sqrt()).clamp(0.0, 1.0);
        let lit = 1.0 + 0.30 / (radius + 0.4) * (dx * lx + dy * ly);
        (0..3).for_each(|k| sample[k] += cover * (rgb[k] * lit - sample[k]));
        sample[3] += cover * (1.0 - sample[3]);
        return;
    }
    let h = body.hash;
    let (u, v) = (dx / radius, dy / radius);
    let [ax, ay] = direction(unit(h, 8)).map(f64::from);
    let (p, q) = (u * ax + v * ay, (v * ax - u * ay) * (1.0 + 0.22 * f64::from(unit(h, 16))));
    let round = p * p + q * q;
    let sides = [0, 1, 2].map(|k: u32| {
        let turns = unit(h, 8) + 0.33 * k as f32 + 0.22 * unit(h, 16 + 4 * k);
        let [nx, ny] = direction(turns).map(f64::from);
        let cut = 0.66 + 0.34 * f64::from(unit(h, 6 * k + 3));
        ((u * nx + v * ny) / cut, nx * lx + ny * ly)
    });
    let most = sides.iter().fold(f64::MIN, |m, s| m.max(s.0));
    let cover = ((1.0 - round.sqrt().max(most)) * radius + 0.5).clamp(0.0, 1.0);
    let depth = 0.62 * ((radius - 0.6) * 0.4).clamp(0.25, 1.0);
    let (su, sv) = (u + 0.28 * lx, v + 0.28 * ly);
    let shadow = depth * (1.24 - (su * su + sv * sv).sqrt()).clamp(0.0, 1.0);
    let facet: f64 = sides.iter().map(|s| s.1 * (1.0 + 5.0 * (s.0 - most)).max(0.0)).sum();
    let flat = 0.25 + 0.35 * f64::from(unit(h, 24));
    let facet = 0.24 * facet * ((most - flat) * 5.0).clamp(0.0, 1.0);
    let lit = 1.06 + 0.20 * (u * lx + v * ly) + facet - 0.22 * round * round.min(1.0);
    let (gu, gv) = (u - 0.38 * lx, v - 0.38 * ly);
    let near = (1.0 - 5.0 * (gu * gu + gv * gv)).max(0.0);
    let spark = f64::from(body.gloss) * near * near;
    for k in 0..3 {
        sample[k] *= (1.0 - cover) * (1.0 - shadow);
        sample[k] += cover * (rgb[k] * lit + spark);
    }
    sample[3] += cover * (1.0 - sample[3]);
}

/// The body of snow over a sample.
fn surface(f: &[f64; 8], sample: &mut [f64; 4]) {
    let [density, .., lit, deep, shade, relief] = *f;
    let alpha = smooth(0.16, 0.52, density.max(deep - 0.3));
    let relief = (relief * 0.4).clamp(-0.25, 0.25) * (1.1 - deep);
    let lit = (lit * 0.75).clamp(-0.6, 0.6);
    let blue = 1.0 - (0.96 - 0.03 * deep - 0.10 * shade + 0.16 * lit + relief);
    let blue = blue.clamp(-0.1, 0.6);
    for (k, part) in [1.30, 0.88, 0.38].into_iter().enumerate() {
        let colour = (f[k + 1] / density.max(0.02) * (1.0 - part * blue)).clamp(0.0, 1.0);
        sample[k] += alpha * (colour - sample[k]);
    }
    sample[3] += alpha * (1.0 - sample[3]);
}

/// A single flake over a sample.
fn flake(g: &GrainPoint, density: f64, x: f64, y: f64, sample: &mut [f64; 4]) {
    let radius = 1.15 * f64::from(g.radius);
    let (dx, dy) = (x - f64::from(g.x), y - f64::from(g.y));
    let t = (radius + 1.0 - (dx * dx + 1.5 * dy * dy).sqrt()) / (0.6 * radius + 1.0);
    let alpha = (1.0 - smooth(0.45, 0.75, density)) * smooth(0.0, 1.0, t);
    let blue = (0.10 + 0.16 * dy / radius).clamp(0.0, 0.3);
    for (k, part) in [1.4, 0.9, 0.3].into_iter().enumerate() {
        sample[k] += alpha * (f64::from(g.rgb[k]) * (1.0 - part * blue) - sample[k]);
    }
    sample[3] += alpha * (1.0 - sample[3]);
}

/// A glint on snow.
fn glint(g: &GrainPoint, density: f64, x: f64, y: f64, sample: &mut [f64; 4]) {
    let (dx, dy) = (x - f64::from(g.x), y - f64::from(g.y));
    let strength = f64::from(snow::glint(g)) * smooth(0.3, 0.5, density);
    let light = strength * (1.0 - 0.7 * (dx * dx + dy * dy)).max(0.0);
    (0..3).for_each(|k| sample[k] += light * (sample[3] - sample[k]));
}
