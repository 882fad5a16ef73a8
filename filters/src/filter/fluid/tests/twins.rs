//! The slow references: the surface, its appearance and its compositing in f64, each by its definition.
//!
//! The fast versions may differ only by rounding in f32, by parts of 2^-24; whole-number counts are equal in both.

use super::super::drops::{Droplet, ParcelPoint};
use super::super::paint::{MAX_OFFSET, layer};
use super::super::surface::{EDGE, Shape, Surface};
use super::super::*;
use super::{bound, picture};
use crate::filter::point::{nominal, weights};
use crate::frame::FrameRef;
use crate::frame::sites::{PICTURES, SITINGS, frame_place, place};
use crate::frame::{Alpha, Frame};
use crate::host::{CurrentThread, NoCache};
use crate::noise::seed::mix64;
use crate::pixel::convert::Code;
use crate::ratio::Ratio;
use std::sync::atomic::AtomicBool;

type Grid = Vec<Vec<f64>>;

/// The mean of a grid under a round kernel `(1 - r^2)^3`, separable; the edge is repeated.
fn smooth(grid: &Grid, radius: f64) -> Grid {
    let n = radius as i64;
    let line = |d: i64| (1.0 - (d as f64 / radius).powi(2)).max(0.0).powi(3);
    let sum: f64 = (-n..=n).map(line).sum();
    let (w, h) = (grid[0].len() as i64, grid.len() as i64);
    let at = |x: i64, y: i64| grid[y.clamp(0, h - 1) as usize][x.clamp(0, w - 1) as usize];
    let mean = |x: i64, y: i64| -> f64 {
        let all = (-n..=n).flat_map(|j| (-n..=n).map(move |i| (i, j)));
        all.map(|(i, j)| line(i) * line(j) * at(x + i, y + j)).sum::<f64>() / (sum * sum)
    };
    (0..h).map(|y| (0..w).map(|x| mean(x, y)).collect()).collect()
}

/// Half the difference of the neighbours of a node, horizontally and vertically.
fn slope(grid: &Grid, x: usize, y: usize) -> [f64; 2] {
    let (w, h) = (grid[0].len(), grid.len());
    let across = grid[y][(x + 1).min(w - 1)] - grid[y][x.saturating_sub(1)];
    let down = grid[(y + 1).min(h - 1)][x] - grid[y.saturating_sub(1)][x];
    [0.5 * across, 0.5 * down]
}

/// Parcels shared out among the nodes around them, in whole parts of `unit` each way, each times its own value.
fn shared(on: &Surface, size: [usize; 2], per: f32, half: f32, unit: f64, of: &[(ParcelPoint, f64)]) -> Grid {
    let mut grid = vec![vec![0.0; size[0]]; size[1]];
    for (place, value) in of {
        // The position of a parcel in nodes has single precision.
        let [u, v] = [0, 1].map(|k: usize| f64::from((place.at[k] - on.origin[k]) * per - half));
        if u < 0.0 || v < 0.0 || u >= (size[0] - 1) as f64 || v >= (size[1] - 1) as f64 {
            continue;
        }
        let part = |t: f64| (t.fract() * unit).floor() / unit;
        for (i, j) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let by = |t: f64, k: usize| if k == 0 { 1.0 - part(t) } else { part(t) };
            grid[v as usize + j][u as usize + i] += by(u, i) * by(v, j) * value;
        }
    }
    grid
}

/// A parcel at three points of its path, each with a third of `value`.
fn along(place: &ParcelPoint, value: f64) -> impl Iterator<Item = (ParcelPoint, f64)> {
    let at = |by: f32| [0, 1].map(|k: usize| place.at[k] + by * place.motion[k]);
    [-0.33, 0.0, 0.33].map(|by| (ParcelPoint { at: at(by), ..*place }, value / 3.0)).into_iter()
}

/// The foam at every node: bubbles of parcels whose neighbours differ in speed.
fn slow_foam(shape: &Shape, places: &[ParcelPoint], fast: &Surface, coarse: [usize; 2], by: usize) -> Grid {
    let (per, spacing) = (f64::from(fast.per), f64::from(shape.spacing));
    let far = fast.per / by as f32;
    let speed = |p: &ParcelPoint| p.motion.map(|v| f64::from(v * shape.speed * 256.0).trunc() / 256.0);
    let mean = |of: &dyn Fn([f64; 2]) -> f64| {
        let all: Vec<_> = places.iter().map(|p| (*p, of(speed(p)))).collect();
        smooth(&shared(fast, coarse, far, 0.0, 64.0, &all), (0.024 * f64::from(far)).max(1.5))
    };
    let (mass, u, v) = (mean(&|_| 1.0), mean(&|v| v[0]), mean(&|v| v[1]));
    let energy = mean(&|[u, v]| u * u + v * v);
    let spread = |i: usize, j: usize| {
        let [u, v, energy] = [&u, &v, &energy].map(|of| of[j][i] / mass[j][i].max(1.0 / 4096.0));
        (energy - u * u - v * v).max(0.0).sqrt()
    };
    let mut bubbles = Vec::new();
    for place in places {
        let own = shared(fast, coarse, far, 0.0, 64.0, &[(*place, 1.0)]);
        let nodes = (0..coarse[1]).flat_map(|j| (0..coarse[0]).map(move |i| (i, j)));
        let near: f64 = nodes.filter(|(i, j)| own[*j][*i] > 0.0).map(|(i, j)| own[j][i] * spread(i, j)).sum();
        let wild = ((near - 0.05) / 0.16).clamp(0.0, 1.0);
        for k in 0..2 {
            let hash = mix64(2 * u64::from(place.id) + k + (1 << 41));
            let many = (hash >> 40) % 256;
            let part = (wild * 64.0).floor() / 64.0 * (64 + many * many / 256) as f64 / 149.0;
            let away = [hash % 256, (hash >> 8) % 256].map(|v| v as f32 / 256.0 - 0.5);
            let at = [0, 1].map(|k: usize| place.at[k] + shape.spacing * away[k]);
            bubbles.extend(along(&ParcelPoint { at, ..*place }, 0.5 * part * (spacing * per).powi(2)));
        }
    }
    smooth(&shared(fast, fast.size, fast.per, 0.0, 256.0, &bubbles), (0.8 * spacing * per).max(1.5))
}

/// Amount, slope, depth and whiteness at every node.
fn slow(shape: &Shape, places: &[ParcelPoint], fast: &Surface) -> Vec<[f64; 5]> {
    let [w, h] = fast.size;
    let (per, spacing) = (f64::from(fast.per), f64::from(shape.spacing));
    let one = spacing * per;
    let all: Vec<(ParcelPoint, f64)> = places.iter().flat_map(|p| along(p, one * one)).collect();
    let blob = ((1.9 + 3.6 * f64::from(shape.smoothness)) * one).max(1.5);
    let mut coverage = smooth(&shared(fast, fast.size, fast.per, 0.0, 256.0, &all), blob);
    // Isolated parcels are not part of the surface.
    let n = blob as i64;
    let sum: f64 = (-n..=n).map(|d| (1.0 - (d as f64 / blob).powi(2)).max(0.0).powi(3)).sum();
    let alone = (one / sum).powi(2);
    let apart: Vec<(ParcelPoint, f64)> = places
        .iter()
        .flat_map(|p| {
            let lone = shared(fast, fast.size, fast.per, 0.0, 256.0, &[(*p, 1.0)]);
            let nodes = (0..h).flat_map(|y| (0..w).map(move |x| (x, y)));
            let near: f64 = nodes.map(|(x, y)| lone[y][x] * coverage[y][x]).sum();
            let inside = lone.iter().flatten().any(|v| *v > 0.0) && alone < 0.42;
            let part = ((0.42 - near) / (0.42 - alone)).clamp(0.0, 1.0);
            along(p, if inside { one * one * (part * 256.0).floor() / 256.0 } else { 0.0 })
        })
        .collect();
    let apart = smooth(&shared(fast, fast.size, fast.per, 0.0, 256.0, &apart), blob);
    for (coverage, apart) in coverage.iter_mut().flatten().zip(apart.iter().flatten()) {
        // What is left of a sum that should be zero is less than any count.
        *coverage = if *coverage - apart < 1e-9 { 0.0 } else { *coverage - apart };
    }
    // The coarse grid: means of so many nodes in each direction; beyond the frame the edge is repeated.
    let by = ((0.024 * fast.per / 2.5) as usize).max(1);
    let before = (-f64::from(fast.origin[0]) * per).round() as usize;
    let coarse = [w.div_ceil(by) + 1, h.div_ceil(by) + 1];
    let within = |at: usize, n: usize| {
        let from = (at * by).clamp(before, n - before - 1);
        from..(from + by).min(n - before)
    };
    let mean = |i: usize, j: usize| {
        let nodes = within(j, h).flat_map(|y| within(i, w).map(move |x| (x, y)));
        let values: Vec<f64> = nodes.map(|(x, y)| coverage[y][x].min(1.0)).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let deep: Grid = (0..coarse[1]).map(|j| (0..coarse[0]).map(|i| mean(i, j)).collect()).collect();
    let far = per / by as f64;
    let thin = smooth(&deep, (0.04 * far).max(1.5));
    let deep = smooth(&deep, (0.12 * far).max(1.5));
    let high: Vec<(ParcelPoint, f64)> =
        places.iter().flat_map(|p| along(p, (mix64(u64::from(p.id) + 1) >> 56) as f64 - 128.0)).collect();
    let waves = smooth(&shared(fast, coarse, fast.per / by as f32, 0.5, 64.0, &high), (0.024 * far).max(1.5));
    let tall = (spacing * far).powi(2) / 74.0 * (0.024 / spacing).max(1.0) * 0.04 * 0.024;
    let tall = tall * f64::from(shape.ripples);
    let land: Grid = (0..coarse[1])
        .map(|j| {
            (0..coarse[0])
                .map(|i| 0.75 * 0.12 * deep[j][i] + 1.3 * 0.04 * thin[j][i] + tall * waves[j][i])
                .collect()
        })
        .collect();
    // Interpolation of four coarse nodes, each at the centre of the nodes that it averages.
    let between = |x: usize, y: usize, of: &dyn Fn(usize, usize) -> f64| {
        let place = |t: usize, k: usize| {
            let t = ((t as f64 + 0.5) / by as f64 - 0.5).max(0.0);
            let i = (t as usize).min(coarse[k] - 2);
            (i, (t - i as f64).min(1.0))
        };
        let ((i, fx), (j, fy)) = (place(x, 0), place(y, 1));
        let row = |j: usize| of(i, j) * (1.0 - fx) + of(i + 1, j) * fx;
        row(j) * (1.0 - fy) + row(j + 1) * fy
    };
    // Light gathers where rays that a ripple bends meet, a hundredth of the frame's height behind it.
    let gather = |i: usize, j: usize| {
        let (right, low) = ((i + 1).min(coarse[0] - 1), (j + 1).min(coarse[1] - 1));
        let around =
            waves[j][i.saturating_sub(1)] + waves[j][right] + waves[j.saturating_sub(1)][i] + waves[low][i];
        let bulge = tall * (around - 4.0 * waves[j][i]) * far * far;
        0.1 * (1.0 / (1.0 + 0.01 * bulge).max(0.25) - 0.8).max(0.0)
    };
    let foam = slow_foam(shape, places, fast, coarse, by);
    let mut nodes = Vec::new();
    for (y, x) in (0..h).flat_map(|y| (0..w).map(move |x| (y, x))) {
        let t = ((coverage[y][x] - f64::from(EDGE)) / (0.95 - f64::from(EDGE))).clamp(0.0, 1.0);
        let full = t * (2.0 - t);
        // The rim is a parabola over the amount, 2.2 / 3 radii high.
        let rim = 2.2 * blob / 3.0 * (2.0 - 2.0 * t) / (0.95 - f64::from(EDGE));
        let own = slope(&coverage, x, y);
        let lean = |k: usize| rim * own[k] + full * far * between(x, y, &|i, j| slope(&land, i, j)[k]);
        let d = between(x, y, &|i, j| deep[j][i]).max(0.0);
        let white = 0.9 * foam[y][x] / (1.0 + foam[y][x]) + full * d * between(x, y, &gather);
        let wet = [coverage[y][x], lean(0), lean(1), full * d.powf(1.5), white];
        nodes.push(if coverage[y][x] > 0.0 { wet } else { [0.0; 5] });
    }
    nodes
}

/// The amount is a sum of some hundred terms of at most a few: 1e-5. Leans are differences of two times `rim`, some ten
/// at these sizes: 1e-3. The isolated part of a parcel is cut down to a 256th, and where f32 cuts differently one parcel is
/// one 256th off, in few places.
#[test]
fn the_surface_is_as_defined() {
    for (smoothness, ripples, spacing, draft) in
        [(0.3, 1.0, 0.03, false), (0.0, 3.0, 0.04, false), (1.0, 0.0, 0.03, false), (0.3, 1.0, 0.025, true)]
    {
        let shape = Shape { aspect: 1.3, spacing, smoothness, ripples, row: 1.0 / 60.0, draft, speed: 4.0 };
        let places: Vec<ParcelPoint> = (0..260u32)
            .map(|id| {
                let unit = |k: u32| (mix64(u64::from(5 * id + k) + 5) >> 40) as f32 / (1 << 24) as f32;
                // A heap of parcels and flying ones, some of them outside the frame.
                let at = match id {
                    0..200 => [0.2 + 0.5 * unit(0), 0.65 + 0.4 * unit(1)],
                    _ => [1.5 * unit(0) - 0.1, 1.2 * unit(1) - 0.1],
                };
                ParcelPoint { at, motion: [3, 4].map(|k| 0.1 * (unit(k) - 0.5)), room: f32::INFINITY, id }
            })
            .collect();
        let fast = shape.surface(Level::best(), &places);
        for &level in Level::available() {
            assert!(shape.surface(level, &places).nodes == fast.nodes, "{level}");
        }
        let mut turned = places.clone();
        turned.reverse();
        assert!(shape.surface(Level::best(), &turned).nodes == fast.nodes, "the order of parcels counts");
        let want = slow(&shape, &places, &fast);
        let mut off = 0;
        for (got, want) in fast.nodes.iter().zip(&want) {
            let worst =
                (0..5).map(|k| (f64::from(got[k]) - want[k]).abs() / [1e-5, 1e-3, 1e-3, 1e-4, 1e-3][k]);
            let worst = worst.fold(0.0, f64::max);
            assert!(worst < 400.0, "{smoothness}: {got:?} {want:?}");
            off += usize::from(worst > 1.0);
        }
        assert!(off * 50 < want.len(), "{smoothness} {draft}: {off} of {}", want.len());
        let drops = (0..60).flat_map(|y| fast.drops.near(y as f32 / 60.0, 0.01)).count();
        assert!(fast.nodes.iter().any(|node| node[4] > 0.3));
        assert!(drops > 20, "{smoothness} {draft}: {drops}");
    }
}

/// The appearance at a position of the frame.
struct Sight {
    cover: f64,
    /// Frame heights.
    bend: [f64; 2],
    back: f64,
    tint: f64,
    white: f64,
}

/// The opacity of a droplet before smoothing, and the slope of its surface: the part of the time in which a disc that
/// moves evenly along its path covers the position, and the normal of a ball at the nearest point of the path.
fn streak(drop: &Droplet, [x, y]: [f64; 2], pixel: f64) -> Option<(f64, [f64; 2])> {
    let [x, y] = [x - f64::from(drop.at[0]), y - f64::from(drop.at[1])];
    let [u, v] = drop.reach.map(f64::from);
    let path = u.hypot(v);
    let way = if path > 0.0 { [u / path, v / path] } else { [0.0, 1.0] };
    let own = f64::from(drop.radius);
    let (r, half) = (own.max(0.85 * pixel), path.max(0.5 * pixel));
    let (along, across) = (x * way[0] + y * way[1], y * way[0] - x * way[1]);
    let wide = (r * r - across * across).max(0.0).sqrt();
    let time = ((along + wide).min(half) - (along - wide).max(-half)) / (2.0 * half) * own / r;
    if wide == 0.0 || time <= 0.0 {
        return None;
    }
    let near = along.clamp(-path, path);
    let ball = [x - near * way[0], y - near * way[1]].map(|v| v / r);
    let lens = (own / (3.0 * pixel)).min(1.0);
    let up = (1.0 - (ball[0] * ball[0] + ball[1] * ball[1]).min(0.85)).sqrt();
    Some(((1.5 * time.sqrt()).min(1.0), ball.map(|v| -lens * v / up)))
}

/// At a position in frame heights, for samples that are `pixel` apart.
fn sight(surface: &Surface, depth: f64, bend: f64, shine: f64, [x, y]: [f64; 2], pixel: f64) -> Sight {
    let [w, h] = surface.size;
    let place = |t: f64, k: usize, n: usize| {
        let t = ((t - f64::from(surface.origin[k])) * f64::from(surface.per)).clamp(0.0, (n - 1) as f64);
        let i = (t as usize).min(n - 2);
        (i, t - i as f64)
    };
    let ((i, fx), (j, fy)) = (place(x, 0, w), place(y, 1, h));
    let node = |k: usize| {
        let at = |i: usize, j: usize| f64::from(surface.nodes[j * w + i][k]);
        let row = |j: usize| at(i, j) * (1.0 - fx) + at(i + 1, j) * fx;
        row(j) * (1.0 - fy) + row(j + 1) * fy
    };
    let mut gleam = node(4);
    let (amount, mut sx, mut sy, mut deep) = (node(0), node(1), node(2), node(3));
    let mut c = ((amount - (f64::from(EDGE) - 0.05)) / 0.1).clamp(0.0, 1.0);
    for drop in surface.drops.near(y as f32, pixel as f32) {
        let Some((seen, slope)) = streak(drop, [x, y], pixel) else { continue };
        let both = 1.0 - (1.0 - c) * (1.0 - seen);
        // The colour of what covers, each by its opacity, the droplet in front.
        let over = |old: f64, new: f64| (old * (both - seen) + new * seen) / both;
        (sx, sy, deep) = (over(sx, slope[0]), over(sy, slope[1]), over(deep, 0.1));
        let path = f64::from(drop.reach[0]).hypot(f64::from(drop.reach[1]));
        let radius = f64::from(drop.radius).max(0.85 * pixel);
        let (short, lens) =
            (2.0 * radius / (path + 2.0 * radius), (f64::from(drop.radius) / (3.0 * pixel)).min(1.0));
        gleam = over(gleam, 0.55 * (1.0 - short * lens));
        c = both;
    }
    // The normal of a height that rises by (sx, sy).
    let length = (sx * sx + sy * sy + 1.0).sqrt();
    let normal = [-sx / length, -sy / length, 1.0 / length];
    let dot = |v: [f64; 3]| (0..3).map(|k| normal[k] * v[k]).sum::<f64>();
    let spark = dot([-0.32, -0.49, 0.811]).max(0.0).powi(256);
    let lean = 1.0 - normal[2];
    let sky = lean * (-normal[1]).max(0.0);
    let towards = dot([-0.55, -0.83, 0.0]);
    let (lit, away) = (towards.max(0.0), (-towards).max(0.0));
    let flat = normal[2] * normal[2];
    let window = |at: f64| (1.0 - ((normal[0] - at) / 0.15).powi(2)).max(0.0).powi(2);
    let windows = (0.3 * window(-0.5) + 0.12 * window(0.55)) * (1.0 - 1.4 * normal[1] * normal[1]).max(0.0);
    let through = 0.14 * flat * lit + 0.6 * (1.0 - flat) * away;
    let light = shine * (1.1 * spark + 0.6 * sky + through + 0.8 * lean.powi(3) + gleam + windows);
    let dark = 0.3 * lean + shine * (0.4 * lit * lit + 0.2 * flat * away);
    let (light, dark) = (light.min(1.0), dark.min(1.0));
    let layer = 1.0 - (1.0 - depth).powf(1.0 / 16.0);
    let clear = (1.0 - layer * deep).powi(16);
    let far = 0.035 * bend * (0.35 + 0.65 * deep);
    let pull = far * (sx * sx + sy * sy).sqrt();
    let far = if pull > f64::from(MAX_OFFSET) { far * f64::from(MAX_OFFSET) / pull } else { far };
    let left = (1.0 - light) * (1.0 - dark);
    Sight {
        cover: c * c * (3.0 - 2.0 * c),
        bend: [far * sx, far * sy],
        back: left * clear,
        tint: left * (1.0 - clear) * (1.0 - 0.15 * deep),
        white: light,
    }
}

/// The samples of a plane as numbers, and interpolation between them.
struct Plane {
    values: Vec<f64>,
    size: [usize; 2],
}

impl Plane {
    fn from_frame(frame: &FrameRef<'_>, p: usize) -> Plane {
        let (w, h) = frame.format.plane_size(p);
        let row = |y: usize| -> Vec<f64> {
            match frame.format.depth.bytes() {
                1 => frame.plane(p).row::<u8>(y).iter().map(|v| f64::from(*v)).collect(),
                2 => frame.plane(p).row::<u16>(y).iter().map(|v| f64::from(*v)).collect(),
                _ => frame.plane(p).row::<f32>(y).iter().map(|v| f64::from(*v)).collect(),
            }
        };
        Plane { values: (0..h).flat_map(row).collect(), size: [w, h] }
    }

    fn at(&self, x: f64, y: f64) -> f64 {
        let [w, h] = self.size;
        let (x, y) = (x.clamp(0.0, (w - 1) as f64), y.clamp(0.0, (h - 1) as f64));
        // Weights of a tent over all samples nearby.
        let mut sum = 0.0;
        for j in y as usize..(y as usize + 2).min(h) {
            for i in x as usize..(x as usize + 2).min(w) {
                let by = (1.0 - (x - i as f64).abs()).max(0.0) * (1.0 - (y - j as f64).abs()).max(0.0);
                sum += by * self.values[j * w + i];
            }
        }
        sum
    }
}

/// The light of a scene: the mean luma of 4 by 4 samples in each of 16 by 9 cells, over 0.4; transparent ones count less.
/// Three tenths of it are the mean of all cells.
fn light(source: &Frame, format: &Format) -> Grid {
    let frame = source.as_ref();
    let planes: Vec<Plane> = (0..format.planes()).map(|p| Plane::from_frame(&frame, p)).collect();
    let nominal = |p: usize, i: usize, j: usize| {
        let (code, [w, h]) = (Code::of(format, p), planes[p].size);
        let v = planes[p].values[j * h / 36 * w + i * w / 64];
        ((v - f64::from(code.zero)) / f64::from(code.span)).clamp(0.0, 1.0)
    };
    let cell = |i: usize, j: usize| {
        let (mut sum, mut all) = (0.0, 0.0);
        for (i, j) in (4 * i..4 * i + 4).flat_map(|i| (4 * j..4 * j + 4).map(move |j| (i, j))) {
            let luma = match format.is_rgb() {
                true => 0.7152 * nominal(0, i, j) + 0.0722 * nominal(1, i, j) + 0.2126 * nominal(2, i, j),
                false => nominal(0, i, j),
            };
            let alpha = format.alpha_plane().map_or(1.0, |a| nominal(a, i, j));
            sum += if format.alpha == Alpha::Straight { luma * alpha } else { luma };
            all += alpha;
        }
        if all > 0.0 { sum / all / 0.4 } else { 1.0 }
    };
    let cells: Grid = (0..9).map(|j| (0..16).map(|i| cell(i, j)).collect()).collect();
    let mean = cells.iter().flatten().sum::<f64>() / 144.0;
    cells.iter().map(|row| row.iter().map(|v| 0.7 * v + 0.3 * mean).collect()).collect()
}

/// Interpolation of the light at a position in widths and heights of the frame.
fn light_at(cells: &Grid, [x, y]: [f64; 2]) -> f64 {
    let place = |t: f64, n: usize| {
        let t = (t * n as f64 - 0.5).clamp(0.0, (n - 1) as f64);
        let i = (t as usize).min(n - 2);
        (i, t - i as f64)
    };
    let ((i, fx), (j, fy)) = (place(x, 16), place(y, 9));
    let row = |j: usize| cells[j][i] * (1.0 - fx) + cells[j][i + 1] * fx;
    row(j) * (1.0 - fy) + row(j + 1) * fy
}

/// A whole picture against the slow twin: how far it is off at most, in parts of the highest code beside rounding, and
/// how many samples are wet.
fn check(format: Format, settings: &[(&str, &str)], n: i64) -> (f64, usize) {
    let filter = bound(settings, &format, Level::best());
    let at = FrameTime::of_frame(n, Ratio::whole(24));
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &AtomicBool::new(false) };
    let now = filter.at(&at).unwrap();
    let stepped = filter.step(&now, &mut None, &host).unwrap();
    let state = filter.prepare(&now, Some(stepped), &host).unwrap();
    let shown: &FluidFrame = state.downcast_ref().unwrap();
    let surface: &Surface = shown.surface.as_ref().unwrap();
    let source = picture(format);
    let mut out = Frame::new(format);
    let rows = out.as_mut().plane(0).rows();
    let writes = now.plan.writes;
    let mut band = Band { rows, input: Some(source.as_ref()), output: out.as_mut(), writes };
    filter.render(&now, Some(&state), &mut band, &mut Scratch::default());
    let number = |id: &str, usual: f64| {
        settings.iter().find(|(k, _)| *k == id).map_or(usual, |(_, v)| v.parse().unwrap())
    };
    let bend = number("refraction", 1.0);
    let top = format.depth.bits().map_or(1.0, |b| f64::from((1u32 << b) - 1));
    let round = format.depth.bits().map_or(0.0, |_| 0.5);
    let colour = [0.05, 0.33, 0.56, 1.0];
    let plane_colors = |rgba: [f64; 4], p: usize| {
        nominal(&format, weights(&format).unwrap(), rgba)[p] * f64::from(Code::of(&format, p).span)
    };
    let (apart, _) = format.field_rows();
    let tall = f64::from(format.height);
    let aspect = if format.aspect > Ratio::ZERO { format.aspect.to_f64() } else { 1.0 };
    let cells = light(&source, &format);
    let (mut worst, mut covered_span) = (0f64, 0);
    for p in 0..format.planes() {
        let backdrop = Plane::from_frame(&source.as_ref(), p);
        let got = Plane::from_frame(&out.as_ref(), p);
        let (sx, sy) = format.plane_subsampling(p);
        let [wide, high] = [sx, sy].map(|s| f64::from(1u32 << s));
        let [x0, y0] = place(&format, p, 0, 0);
        let zero = f64::from(Code::of(&format, p).zero);
        let alpha_plane = format.alpha_plane().map(|a| Plane::from_frame(&source.as_ref(), a));
        for (j, i) in (0..backdrop.size[1]).flat_map(|j| (0..backdrop.size[0]).map(move |i| (j, i))) {
            let [x, y] = frame_place(&format, p, i as i64, j as i64);
            let at = [x * aspect / tall, y / tall];
            let own = backdrop.values[j * backdrop.size[0] + i];
            // Samples of the plane per frame height.
            let by = [tall / (aspect * wide), tall / (apart * high)];
            let pixel = (1.0 / by[0]).max(1.0 / by[1]);
            let seen = sight(surface, number("depth", 0.55), bend, number("shine", 0.8), at, pixel);
            let (bx, by) = (i as f64 + seen.bend[0] * by[0], j as f64 + seen.bend[1] * by[1]);
            let back = backdrop.at(bx, by);
            let light = light_at(&cells, [at[0] * tall / (aspect * f64::from(format.width)), at[1]]);
            let lights = [(0.1 + 0.9 * light).min(1.2), (0.3 + 0.7 * light).min(1.0)];
            let ink = [plane_colors(colour, p) * lights[0], plane_colors([1.0; 4], p) * lights[1]];
            let want = match &alpha_plane {
                None => {
                    let film = zero + (back - zero) * seen.back + ink[0] * seen.tint + ink[1] * seen.white;
                    own * (1.0 - seen.cover) + film * seen.cover
                }
                Some(alpha_plane) => {
                    // The luma positions coincide with alpha's samples.
                    let at = |i: f64, j: f64| alpha_plane.at(x0 + i * wide - 0.5, y0 + j * high - 0.5) / top;
                    let (own_a, back_a) = (at(i as f64, j as f64), at(bx, by));
                    let film_a = back_a * seen.back + 1.0 - seen.back;
                    let alpha = own_a * (1.0 - seen.cover) + film_a * seen.cover;
                    let straight = format.alpha == Alpha::Straight;
                    let (own_part, back_part) = if straight { (own_a, back_a) } else { (1.0, 1.0) };
                    let film =
                        (back - zero) * back_part * seen.back + ink[0] * seen.tint + ink[1] * seen.white;
                    let v = (own - zero) * own_part * (1.0 - seen.cover) + film * seen.cover;
                    let v = if straight && alpha > 0.0 { v / alpha } else { v };
                    match () {
                        () if format.alpha_plane() == Some(p) => alpha * top,
                        () if seen.cover == 0.0 => own,
                        () => zero + v,
                    }
                }
            };
            let want = if round > 0.0 { want.clamp(0.0, top) } else { want };
            let off = (got.values[j * got.size[0] + i] - want).abs() - round;
            worst = worst.max(off / top);
            covered_span += usize::from(seen.cover > 0.0);
        }
    }
    (worst, covered_span)
}

/// A light is a power of 256: 256 roundings of some 2^-24 of it, 2e-5; a bend is off by 1e-5 samples, times the step
/// between neighbours, which may be all there is, and a droplet is steep at its rim. Where alpha divides, it is at least a
/// tenth in this picture.
const BOUND: f64 = 4e-4;

#[test]
fn refraction_and_compositing_equal_the_definition() {
    let formats = "gray gray10 gray16 grayf32 ya8 ya16 yuv420p yuv420p10 yuv422p yuv422p10 yuv411p yuv410p yuv440p \
                   yuv444p yuv444p12 yuv444p16 yuva420p yuva422p10 yuva444p gbrp gbrp16 gbrpf32 gbrap gbrapf32";
    let mut seen = 0;
    for name in formats.split(' ') {
        for (w, h) in [(67, 45), (1, 1), (9, 5), (2, 3)] {
            let format = Format::from_name(name, w, h).unwrap();
            for settings in [
                &[("particles", "300"), ("start", "0.3")][..],
                &[
                    ("scene", "rain"),
                    ("particles", "200"),
                    ("start", "2"),
                    ("refraction", "4"),
                    ("shine", "1"),
                ],
            ] {
                let (off, covered_span) = check(format, settings, 3);
                assert!(off < BOUND, "{name} {w}x{h} {settings:?}: {off}");
                seen += covered_span;
            }
        }
    }
    assert!(seen > 10_000, "{seen}");
}

#[test]
fn sitings_fields_and_long_samples_are_as_defined() {
    let base = Format::from_name("yuv420p", 66, 46).unwrap();
    let dam = &[("particles", "300"), ("start", "0.3"), ("refraction", "3"), ("depth", "0.9")][..];
    for siting in SITINGS {
        for picture in PICTURES {
            let (off, covered_span) = check(Format { siting, picture, ..base }, dam, 3);
            assert!(off < BOUND && covered_span > 200, "{siting:?} {picture:?}: {off} {covered_span}");
        }
    }
    let long = Format { aspect: Ratio::new(4, 3).unwrap(), ..base };
    assert!(check(long, dam, 3).0 < BOUND);
    let multiplied = Format { alpha: Alpha::Premultiplied, ..Format::from_name("gbrapf32", 41, 33).unwrap() };
    assert!(check(multiplied, dam, 3).0 < BOUND);
    // A draft has no refraction.
    let draft = &[("particles", "300"), ("start", "0.3"), ("draft", "1"), ("refraction", "0")][..];
    assert!(check(base, draft, 3).0 < BOUND);
}

#[test]
fn sixteen_layers_transmit_the_product() {
    for whole in [0.0, 0.1, 0.55, 0.99, 1.0] {
        let left = (1.0 - f64::from(layer(whole))).powi(16);
        assert!((left - (1.0 - whole)).abs() < 2e-6, "{whole}: {left}");
    }
}
