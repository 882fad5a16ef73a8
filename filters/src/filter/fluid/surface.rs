//! Converts parcels to a surface: the amount of liquid at the nodes of a grid, the slope of the surface, and its depth.
//!
//! Parcels are counted into the nodes in whole numbers, so that their order is no matter; the counts are smoothed by a
//! round kernel, which makes blobs that run together. Each parcel is counted along its path during the exposure, so that
//! fast liquid is drawn out to sheets and threads.

use super::drops::{Droplet, Droplets, ParcelPoint};
use crate::noise::seed::mix64;
use crate::simd::{Level, multiversion};

/// At a node: the amount of liquid (1 inside), the slope along x and y, the depth, 0 to 1, and how white it is.
pub(super) type Node = [f32; 5];

/// A surface over the frame.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    /// The numbers of columns and rows of nodes.
    pub(super) size: [usize; 2],
    /// The position of node 0, in frame heights from the frame's corner.
    pub(super) origin: [f32; 2],
    /// Nodes per frame height.
    pub(super) per: f32,
    pub(super) nodes: Vec<Node>,
    pub(super) drops: Droplets,
}

/// A grid for counting parcels.
#[derive(Clone, Copy)]
struct NodeGrid {
    size: [usize; 2],
    /// The position of node 0, along both axes.
    first: f32,
    per: f32,
}

impl NodeGrid {
    /// The four nodes around a position, and the weight of each, in 1/65536.
    fn shares(&self, at: [f32; 2]) -> Option<[(usize, u32); 4]> {
        corners(self.size, at.map(|v| (v - self.first) * self.per), 256)
    }

    /// The nodes along the path of a parcel, and the weight of each, in 1/65536.
    fn along(&self, place: ParcelPoint) -> impl Iterator<Item = (usize, u32)> {
        let at = move |by: f32| [0, 1].map(|k: usize| place.at[k] + by * place.motion[k]);
        PATH.into_iter().filter_map(move |by| self.shares(at(by))).flatten()
    }
}

/// The four nodes around a place in nodes, and the weight of each, in 1/`unit` squared.
fn corners([w, h]: [usize; 2], [u, v]: [f32; 2], unit: u32) -> Option<[(usize, u32); 4]> {
    if !(u >= 0.0 && v >= 0.0 && u < (w - 1) as f32 && v < (h - 1) as f32) {
        return None;
    }
    let (i, j) = (u as usize, v as usize);
    let part = |t: f32, whole: usize| ((t - whole as f32) * unit as f32) as u32;
    let (fx, fy) = (part(u, i), part(v, j));
    let n = j * w + i;
    Some([
        (n, (unit - fx) * (unit - fy)),
        (n + 1, fx * (unit - fy)),
        (n + w, (unit - fx) * fy),
        (n + w + 1, fx * fy),
    ])
}

/// The slope at a node, from its neighbours; the edge is repeated.
#[inline(always)]
fn slope([w, h]: [usize; 2], [x, y]: [usize; 2], per: f32, at: impl Fn(usize) -> f32) -> [f32; 2] {
    let (left, right) = (x.saturating_sub(1), (x + 1).min(w - 1));
    let (up, down) = (y.saturating_sub(1), (y + 1).min(h - 1));
    let dx = (at(y * w + right) - at(y * w + left)) * (0.5 * per);
    let dy = (at(down * w + x) - at(up * w + x)) * (0.5 * per);
    [dx, dy]
}

/// Row `y` of the nodes of a grid, between two of its rows.
#[inline(always)]
pub(super) fn row_between(nodes: &[Node], w: usize, (y, part): (usize, f32), out: &mut [Node]) {
    let (up, low) = (&nodes[y * w..(y + 1) * w], &nodes[(y + 1) * w..(y + 2) * w]);
    for ((out, a), b) in out.iter_mut().zip(up).zip(low) {
        for k in 0..out.len() {
            out[k] = a[k] + (b[k] - a[k]) * part;
        }
    }
}

/// Nodes `at` to `at + by`, pushed inwards where they are among the first or last `before` of `n`.
fn within(at: usize, by: usize, before: usize, n: usize) -> (usize, usize) {
    let last = n - before - 1;
    let from = at.clamp(before, last);
    (from, (from + by).min(last + 1))
}

/// The parameters of a surface.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Shape {
    /// The aspect ratio of the frame.
    pub(super) aspect: f32,
    /// Spacing of parcels, in frame heights.
    pub(super) spacing: f32,
    /// 0 to 1.
    pub(super) smoothness: f32,
    /// The strength of ripples, normally 1.
    pub(super) ripples: f32,
    /// The height of a luma row in frame heights: the resolution limit.
    pub(super) row: f32,
    /// For drafts: half of the resolution.
    pub(super) draft: bool,
    /// What a parcel's motion is multiplied with to give its speed, 1 for one that falls half a frame height.
    pub(super) speed: f32,
}

/// Where along its path a parcel is counted.
const PATH: [f32; 3] = [-0.33, 0.0, 0.33];
/// Liquid is where the amount is larger than this.
pub(super) const EDGE: f32 = 0.26;
/// The rim has its full height at this amount.
const FULL: f32 = 0.95;
/// Radii of the depth's kernel and of the ripples', in frame heights.
const WIDE: f32 = 0.12;
const RIPPLE: f32 = 0.024;
/// Nodes of the coarse grid per radius of ripples.
const RIPPLE_NODES: f32 = 2.5;
/// The heights of the rim, in radii of the blobs, of the bulk, in radii of the depth's kernel, of what is thinner, in radii
/// of its kernel, and of a ripple in its radii.
const RIM: f32 = 2.2;
const BULK: f32 = 0.75;
const ROUND: f32 = 1.3;
const RUFFLED: f32 = 0.04;
/// Below this amount parcels count as isolated, and become droplets.
const SPARSE: f32 = 0.42;
/// The radius of thin parts, in frame heights.
const THIN: f32 = 0.04;
/// The spread of speeds nearby at which parcels begin to foam, and over which they come to foam wholly.
const CALM: f32 = 0.05;
const WILD: f32 = 0.16;
/// The radius of bubbles in spacings, and how white foam is.
const BUBBLES: f32 = 0.8;
const WHITE: f32 = 0.9;
/// Spray flies off where there is less than this, from parcels at least so wild.
const OPEN: f32 = 0.75;
const TORN: f32 = 0.15;
/// The depth at which ripples gather light, in frame heights, and the brightness of that.
const BED: f32 = 0.01;
const CAUSTIC: f32 = 0.1;

/// A row of weights of a round kernel `(1 - r^2)^3` with a radius in nodes, normalised to a sum of 1.
fn weights(radius: f32) -> Vec<f32> {
    let n = radius as i32;
    let raw: Vec<f32> = (-n..=n)
        .map(|i| {
            let r = i as f32 / radius;
            let t = 1.0 - r * r;
            if t > 0.0 { t * t * t } else { 0.0 }
        })
        .collect();
    let sum: f32 = raw.iter().sum();
    raw.iter().map(|w| w / sum).collect()
}

multiversion! {
    /// `to += from * by`.
    fn add_row(level, to: &mut [f32], from: &[f32], by: f32) = add_body;
}

#[inline(always)]
fn add_body(to: &mut [f32], from: &[f32], by: f32) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from * by;
    }
}

/// Smooths a grid horizontally and vertically; the edge is repeated.
fn smooth(level: Level, grid: &mut [f32], [w, h]: [usize; 2], weights: &[f32], spare: &mut Vec<f32>) {
    let n = weights.len() / 2;
    let mut wide = vec![0f32; w + 2 * n];
    for row in grid.chunks_exact_mut(w) {
        wide[..n].fill(row[0]);
        wide[n..n + w].copy_from_slice(row);
        wide[n + w..].fill(row[w - 1]);
        row.fill(0.0);
        for (k, by) in weights.iter().enumerate() {
            add_row(level, row, &wide[k..k + w], *by);
        }
    }
    spare.clear();
    spare.resize(w * h, 0.0);
    for (y, out) in spare.chunks_exact_mut(w).enumerate() {
        for (k, by) in weights.iter().enumerate() {
            let from = (y + k).saturating_sub(n).min(h - 1) * w;
            add_row(level, out, &grid[from..from + w], *by);
        }
    }
    grid.copy_from_slice(spare);
}

impl Shape {
    /// The numbers of columns and rows of nodes, nodes per frame height, and the number of nodes before the
    /// frame.
    fn grid(&self) -> ([usize; 2], f32, usize) {
        let node = (0.5 * self.spacing).max(self.row);
        let per = 1.0 / if self.draft { 2.0 * node } else { node };
        let before = (2.5 * self.spacing * per) as usize + 2;
        let n = |v: f32| (v * per) as usize + 2 + 2 * before;
        ([n(self.aspect), n(1.0)], per, before)
    }

    /// The number of nodes per node of the coarse grid.
    fn coarse(&self, per: f32) -> usize {
        ((RIPPLE * per / RIPPLE_NODES) as usize).max(1)
    }

    /// The size in bytes of a surface and its buffers.
    pub(super) fn bytes(&self) -> usize {
        let ([w, h], per, _) = self.grid();
        let by = self.coarse(per);
        w * h * (size_of::<Node>() + 60) + w * h / (by * by) * 80 + (1 << 16)
    }

    /// The surface of parcels, whose positions are in frame heights from the frame's corner, each with its number.
    pub(super) fn surface(&self, level: Level, places: &[ParcelPoint]) -> Surface {
        let (size, per, before) = self.grid();
        let [w, h] = size;
        let first = -(before as f32) / per;
        let on = NodeGrid { size, first, per };
        let mut counts = vec![0u32; w * h];
        for (at, by) in places.iter().flat_map(|p| on.along(*p)) {
            counts[at] = counts[at].saturating_add(by);
        }
        // A parcel represents its fraction of the area.
        let one = self.spacing * per;
        let unit = one * one / (65536.0 * PATH.len() as f32);
        let blob = (1.9 + 3.6 * self.smoothness) * one;
        let round = weights(blob.max(1.5));
        let mut spare = Vec::new();
        let mut smoothed = |counts: &[u32]| {
            let mut grid: Vec<f32> = counts.iter().map(|n| *n as f32 * unit).collect();
            smooth(level, &mut grid, size, &round, &mut spare);
            grid
        };
        let mut coverage = smoothed(&counts);
        // The amount of a single parcel.
        let middle = round[round.len() / 2] * one;
        let wild = self.wild(level, (size, per, first), places);
        let mut drops = self.drops(&coverage, &mut counts, on, middle * middle, places);
        if !drops.is_empty() {
            coverage = smoothed(&counts);
        }
        let deep = self.depth(level, &coverage, (size, before), per, first, places);
        let foam = self.foam(level, on, places, &wild, &mut spare);
        drops.extend(self.spray(&coverage, on, places, &wild));
        let rim = RIM * blob / (3.0 * per);
        let mut nodes = Vec::with_capacity(w * h);
        let across: Vec<(usize, f32)> = (0..w).map(|x| deep.place(x, 0)).collect();
        let mut line = vec![Node::default(); deep.size[0]];
        for y in 0..h {
            row_between(&deep.nodes, deep.size[0], deep.place(y, 1), &mut line);
            for (x, (i, f)) in across.iter().enumerate() {
                let at = coverage[y * w + x];
                if at <= 0.0 {
                    nodes.push([0.0; 5]);
                    continue;
                }
                let [dx, dy] = slope(size, [x, y], per, |at| coverage[at]);
                let t = ((at - EDGE) / (FULL - EDGE)).clamp(0.0, 1.0);
                let steep = rim * (2.0 - 2.0 * t) / (FULL - EDGE);
                let (a, b) = (&line[*i], &line[i + 1]);
                let [d, gx, gy, bright] = [0, 1, 2, 4].map(|k: usize| a[k] + (b[k] - a[k]) * f);
                let full = t * (2.0 - t);
                let foam = foam.get(y * w + x).map_or(0.0, |v| v / (1.0 + v));
                let white = WHITE * foam + full * d * bright;
                nodes.push([at, steep * dx + full * gx, steep * dy + full * gy, d * d.sqrt() * full, white]);
            }
        }
        Surface { size, origin: [first; 2], per, nodes, drops: Droplets::new(drops) }
    }

    /// Takes isolated parcels out of the counts and makes droplets of them: a blob is larger than a parcel.
    fn drops(
        &self,
        coverage: &[f32],
        counts: &mut [u32],
        on: NodeGrid,
        alone: f32,
        places: &[ParcelPoint],
    ) -> Vec<Droplet> {
        let mut drops = Vec::new();
        for place in places.iter().filter(|_| alone < SPARSE) {
            let Some(shares) = on.shares(place.at) else { continue };
            let near: f32 = shares.iter().map(|(at, by)| coverage[*at] * (*by as f32 / 65536.0)).sum();
            let part = ((SPARSE - near) / (SPARSE - alone)).min(1.0);
            if part <= 0.0 {
                continue;
            }
            for (at, by) in on.along(*place) {
                counts[at] = counts[at].saturating_sub((by * (part * 256.0) as u32) >> 8);
            }
            drops.extend(Droplet::of(place, self.spacing, part));
        }
        drops
    }

    /// How wildly the liquid moves around each parcel, 0 to 1: the spread of the speeds nearby.
    fn wild(
        &self,
        level: Level,
        (size, per, first): ([usize; 2], f32, f32),
        places: &[ParcelPoint],
    ) -> Vec<f32> {
        let by = self.coarse(per);
        let size = size.map(|n| n.div_ceil(by) + 1);
        let per = per / by as f32;
        // The mass, the momentum and the energy.
        let mut sums = vec![[0i64; 4]; size[0] * size[1]];
        let shares = |p: &ParcelPoint| corners(size, p.at.map(|v| (v - first) * per), 64);
        for place in places {
            let [u, v] = place.motion.map(|v| (v * self.speed * 256.0) as i64);
            for (at, by) in shares(place).into_iter().flatten() {
                let all = [1, u, v, u * u + v * v].map(|v| v * i64::from(by));
                sums[at].iter_mut().zip(all).for_each(|(sum, v)| *sum += v);
            }
        }
        let mut spare = Vec::new();
        let round = weights((RIPPLE * per).max(1.5));
        let [mass, u, v, energy] = core::array::from_fn(|k| {
            let mut grid: Vec<f32> = sums.iter().map(|sum| sum[k] as f32).collect();
            smooth(level, &mut grid, size, &round, &mut spare);
            grid
        });
        let at = |n: usize| {
            let [u, v, energy] = [u[n], v[n], energy[n]].map(|v| v / mass[n].max(1.0));
            let spread = energy - (u * u + v * v);
            if spread > 0.0 { spread.sqrt() / 256.0 } else { 0.0 }
        };
        let parcel = |p: &ParcelPoint| {
            let spread: f32 =
                shares(p).into_iter().flatten().map(|(n, by)| at(n) * (by as f32 / 4096.0)).sum();
            ((spread - CALM) / WILD).clamp(0.0, 1.0)
        };
        places.iter().map(parcel).collect()
    }

    /// The bubbles of wild parcels at the nodes. Each parcel has its own two clusters, so that they move with the flow.
    fn foam(
        &self,
        level: Level,
        on: NodeGrid,
        places: &[ParcelPoint],
        wild: &[f32],
        spare: &mut Vec<f32>,
    ) -> Vec<f32> {
        if wild.iter().all(|wild| *wild <= 0.0) {
            return Vec::new();
        }
        let mut counts = vec![0u64; on.size[0] * on.size[1]];
        for (place, wild) in places.iter().zip(wild).filter(|(_, wild)| **wild > 0.0) {
            for k in 0..2 {
                let hash = mix64(2 * u64::from(place.id) + k + (1 << 41));
                let many = hash >> 40 & 0xff;
                let part = (wild * 64.0) as u64 * (64 + ((many * many) >> 8));
                let away = [0, 8].map(|b: u32| (hash >> b & 0xff) as f32 / 256.0 - 0.5);
                let at = [0, 1].map(|k: usize| place.at[k] + self.spacing * away[k]);
                for (at, by) in on.along(ParcelPoint { at, ..*place }) {
                    counts[at] += u64::from(by) * part;
                }
            }
        }
        let one = self.spacing * on.per;
        let unit = one * one / (2.0 * 65536.0 * 64.0 * 149.0 * PATH.len() as f32);
        let mut grid: Vec<f32> = counts.iter().map(|n| *n as f32 * unit).collect();
        smooth(level, &mut grid, on.size, &weights((BUBBLES * one).max(1.5)), spare);
        grid
    }

    /// The fine drops that wild parcels at the surface throw off.
    fn spray(&self, coverage: &[f32], on: NodeGrid, places: &[ParcelPoint], wild: &[f32]) -> Vec<Droplet> {
        let mut drops = Vec::new();
        for (place, wild) in places.iter().zip(wild).filter(|(_, wild)| **wild > TORN) {
            let Some(shares) = on.shares(place.at) else { continue };
            let near: f32 = shares.iter().map(|(at, by)| coverage[*at] * (*by as f32 / 65536.0)).sum();
            if near < OPEN {
                drops.extend(Droplet::spray(place, self.spacing, *wild));
            }
        }
        drops
    }

    fn depth(
        &self,
        level: Level,
        coverage: &[f32],
        ([w, h], before): ([usize; 2], usize),
        per: f32,
        first: f32,
        places: &[ParcelPoint],
    ) -> DepthGrid {
        let by = self.coarse(per);
        let size = [w.div_ceil(by) + 1, h.div_ceil(by) + 1];
        let mut grid = vec![0f32; size[0] * size[1]];
        for (j, row) in grid.chunks_exact_mut(size[0]).enumerate() {
            for (i, out) in row.iter_mut().enumerate() {
                // Beyond the frame the edge is repeated.
                let (x0, x1) = within(i * by, by, before, w);
                let (y0, y1) = within(j * by, by, before, h);
                let mut sum = 0.0;
                for y in y0..y1 {
                    for v in &coverage[y * w + x0..y * w + x1] {
                        sum += if *v < 1.0 { *v } else { 1.0 };
                    }
                }
                *out = sum / ((x1 - x0) * (y1 - y0)) as f32;
            }
        }
        let mut spare = Vec::new();
        let per = per / by as f32;
        let mut thin = grid.clone();
        smooth(level, &mut thin, size, &weights((THIN * per).max(1.5)), &mut spare);
        smooth(level, &mut grid, size, &weights((WIDE * per).max(1.5)), &mut spare);
        let mut waves = self.waves(size, per, first, places);
        smooth(level, &mut waves, size, &weights((RIPPLE * per).max(1.5)), &mut spare);
        let [w, h] = size;
        let (bulk, round) = (BULK * WIDE, ROUND * THIN);
        let mut nodes = Vec::with_capacity(w * h);
        for y in 0..h {
            for x in 0..w {
                let [dx, dy] = slope(size, [x, y], per, |at| bulk * grid[at] + round * thin[at] + waves[at]);
                // Light gathers under what bulges.
                let bulge = waves[y * w + x.saturating_sub(1)]
                    + waves[y * w + (x + 1).min(w - 1)]
                    + waves[y.saturating_sub(1) * w + x]
                    + waves[(y + 1).min(h - 1) * w + x]
                    - 4.0 * waves[y * w + x];
                let gather = 1.0 / (1.0 + BED * per * per * bulge).max(0.25);
                nodes.push([grid[y * w + x], dx, dy, 0.0, CAUSTIC * (gather - 0.8).max(0.0)]);
            }
        }
        DepthGrid { nodes, size, by }
    }

    /// Every parcel keeps an individual height, so that ripples move with the flow.
    fn waves(&self, [w, h]: [usize; 2], per: f32, first: f32, places: &[ParcelPoint]) -> Vec<f32> {
        let mut counts = vec![0i32; w * h];
        for place in places {
            let high = (mix64(u64::from(place.id) + 1) >> 56) as i32 - 128;
            for by in PATH {
                // A coarse node is at the centre of the nodes that it averages.
                let at = [0, 1].map(|k: usize| (place.at[k] + by * place.motion[k] - first) * per - 0.5);
                for (at, by) in corners([w, h], at, 64).into_iter().flatten() {
                    counts[at] = counts[at].saturating_add(by as i32 * high);
                }
            }
        }
        // The random sum of so many parcels grows with the square root of their number.
        let one = self.spacing * per;
        let many = (RIPPLE / self.spacing).max(1.0);
        let unit = one * one / (4096.0 * 74.0 * PATH.len() as f32) * many * (RUFFLED * RIPPLE * self.ripples);
        counts.iter().map(|n| *n as f32 * unit).collect()
    }
}

/// Depth and its slope, over a coarser grid.
struct DepthGrid {
    nodes: Vec<Node>,
    size: [usize; 2],
    by: usize,
}

impl DepthGrid {
    /// The coarse node before a fine one along an axis, and the distance from it.
    fn place(&self, at: usize, axis: usize) -> (usize, f32) {
        // A coarse node is at the centre of the nodes that it averages.
        let t = ((at as f32 + 0.5) / self.by as f32 - 0.5).max(0.0);
        let i = (t as usize).min(self.size[axis] - 2);
        (i, (t - i as f32).min(1.0))
    }
}
