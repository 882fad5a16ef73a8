//! Measures the grain of a plate without a clean version.
//!
//! If blocks of neighbouring frames differ only by grain, their difference consists of two patterns of it. Such blocks
//! stand still, moved by a whole number of samples, or are plain; they are recognised by similar variances (`cluster`).
//! If there are too few, plain blocks of single frames are compared with a smooth surface. No denoising is used, since
//! a filter would mistake some grain for picture detail.

use super::blocks::{Block, SIDE, Spot};
use super::cluster::{Cluster, Level, NOTHING};
use super::correlation::{Pair, Transform};
use super::motion;
use super::residual::{Area, BACK, PlaneGrain, Residual, lagged, over_strength};
use super::spectrum::Plan;
use super::{Field, Moments};
use grainfield_filters::frame::{Format, Frame};
use std::collections::BTreeMap;

/// With fewer luma blocks, the differences of neighbouring frames are not used.
const LEAST_BLOCKS: usize = 24;
/// A pair of frames with a block variance lower than that of others by this factor shows the same picture.
const SAME: f64 = 0.03;
/// Parts of 8x8 samples with less than this share of the grain's variance have lost it; and the smallest variance for
/// the test, in squared 8-bit codes, which excludes rounding.
const GONE: f64 = 0.05;
const TELLING: f64 = 0.5;
/// A motion vector must reduce the difference by this factor to be used.
const BETTER: f64 = 0.7;
/// Texture varies more along one direction; few blocks of grain exceed this ratio.
const DIRECTED: f64 = 1.2;
/// The largest number of frames that are compared with surfaces, and of distant pairs of frames.
const SURFACES: usize = 4;
const FURTHER: usize = 3;
/// The smallest correlation in time that is significant (beyond chance and slow motion), and the largest
/// allowed.
const TEMPORAL: [f64; 2] = [0.06, 0.9];

/// The method by which grain was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Differences of neighbouring frames, mostly where the picture stands still.
    Still,
    /// The same, mostly where the picture moves by whole samples.
    Moved,
    /// Plain parts of single frames.
    Flat,
}

/// The result.
#[derive(Debug)]
pub struct Found {
    /// The grain, with spectra in tiles of 32x32 samples.
    pub grain: Residual,
    /// The method.
    pub way: Way,
    /// The number of blocks with nothing but grain, and of all blocks.
    pub blocks: (usize, usize),
    /// The number of frames without repeated ones.
    pub pictures: usize,
    /// The share of 8x8 parts without grain, an effect of compression.
    pub gone: f64,
}

/// A block of luma in one or two frames.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    frames: (usize, Option<usize>),
    at: (usize, usize),
    vector: (i64, i64),
    luma: Level,
    /// Used for chroma only.
    chroma_only: bool,
}

struct Shot {
    format: Format,
    /// By frame and plane.
    fields: Vec<Vec<Field>>,
    /// Top left corners of blocks.
    spots: Vec<(usize, usize)>,
}

impl Shot {
    fn new(frames: &[&Frame], area: Option<Area>) -> Shot {
        let format = *frames[0].format();
        let planes = format.color_planes().iter().count();
        let fields = frames.iter().map(|f| (0..planes).map(|p| Field::of(f, p)).collect()).collect();
        let (width, height) = format.plane_size(0);
        let area = area.unwrap_or(Area { x: 0, y: 0, width, height });
        // Align to whole chroma samples.
        let (left, top) = (area.x.next_multiple_of(4), area.y.next_multiple_of(4));
        let (right, bottom) = ((area.x + area.width).min(width), (area.y + area.height).min(height));
        let rows = (top..(bottom + 1).saturating_sub(SIDE)).step_by(SIDE);
        let columns = (left..(right + 1).saturating_sub(SIDE)).step_by(SIDE);
        let spots = rows.flat_map(|y| columns.clone().map(move |x| (x, y))).collect();
        Shot { format, fields, spots }
    }

    fn spot(&self, p: usize, (x, y): (usize, usize)) -> Spot {
        let (sx, sy) = self.format.plane_subsampling(p);
        Spot { x: x >> sx, y: y >> sy, width: SIDE >> sx, height: SIDE >> sy }
    }

    /// The grain in a plane of a block; for chroma with luma's brightness.
    fn block(&self, p: usize, c: &Candidate) -> Option<Block> {
        let of = |p: usize| {
            let spot = self.spot(p, c.at);
            let one = &self.fields[c.frames.0][p];
            match c.frames.1 {
                None => Block::of_one(one, spot),
                Some(other) => {
                    let (sx, sy) = self.format.plane_subsampling(p);
                    let (dx, dy) = c.vector;
                    if dx.trailing_zeros() < u32::from(sx) || dy.trailing_zeros() < u32::from(sy) {
                        return None;
                    }
                    Block::of_two(one, &self.fields[other][p], spot, (dx >> sx, dy >> sy))
                }
            }
        };
        let own = of(p)?;
        if !self.format.is_chroma(p) {
            return Some(own);
        }
        let luma = Field { width: SIDE, height: SIDE, data: of(0)?.bright };
        let (sx, sy) = self.format.plane_subsampling(p);
        Some(Block { bright: luma.shrunk(sx, sy).data, ..own })
    }

    /// See [`Block::cubes`]; not for chroma, whose grain is symmetric.
    fn cubes(&self, p: usize, c: &Candidate, third: usize) -> Option<Vec<f32>> {
        if self.format.is_chroma(p) {
            return None;
        }
        let of = |n: usize| &self.fields[n][p];
        Block::cubes([of(c.frames.0), of(c.frames.1?), of(third)], self.spot(p, c.at), c.vector)
    }

    fn level(&self, p: usize, c: &Candidate) -> Option<Level> {
        let block = self.block(p, c)?;
        Some(Level { bright: block.brightness(), level: block.variance().max(NOTHING).ln() })
    }

    /// The frames with distinct pictures, and the average number of frames for each.
    fn pictures(&self) -> (Vec<usize>, u32) {
        let middle = |n: usize| {
            let pair = |at: &(usize, usize)| {
                let (a, b) = (&self.fields[n - 1][0], &self.fields[n][0]);
                Some(Block::of_two(a, b, self.spot(0, *at), (0, 0))?.variance())
            };
            let mut all: Vec<f64> = self.spots.iter().filter_map(pair).collect();
            all.sort_by(f64::total_cmp);
            all.get(all.len() / 2).copied().unwrap_or(0.0)
        };
        let steps: Vec<f64> = (1..self.fields.len()).map(middle).collect();
        let most = steps.iter().copied().fold(0.0, f64::max);
        let new: Vec<usize> = (1..self.fields.len()).filter(|&n| steps[n - 1] > SAME * most).collect();
        let held = match new[..] {
            [] => 1.0,
            [n] => n.max(self.fields.len() - n) as f64,
            [first, .., last] => (last - first) as f64 / (new.len() - 1) as f64,
        };
        let held = if new.len() + 1 == self.fields.len() { 1 } else { held.round() as u32 };
        (std::iter::once(0).chain(new).collect(), held.max(1))
    }

    /// All blocks of two frames.
    fn pair(&self, a: usize, b: usize, chroma_only: bool) -> Vec<Candidate> {
        let vectors = motion::vectors(&self.fields[a][0], &self.fields[b][0]);
        let at = |at: &(usize, usize)| {
            let spot = self.spot(0, *at);
            let of = |v: &(i64, i64)| {
                let block = Block::of_two(&self.fields[a][0], &self.fields[b][0], spot, *v)?;
                Some((block.coarse(spot) * if *v == (0, 0) { BETTER } else { 1.0 }, *v))
            };
            let (_, vector) = vectors.iter().filter_map(of).min_by(|a, b| a.0.total_cmp(&b.0))?;
            let nothing = Level { bright: 0.0, level: 0.0 };
            let c = Candidate { frames: (a, Some(b)), at: *at, vector, luma: nothing, chroma_only };
            Some(Candidate { luma: self.level(0, &c)?, ..c })
        };
        self.spots.iter().filter_map(at).collect()
    }

    /// All plain blocks of a frame.
    fn plain(&self, n: usize) -> Vec<Candidate> {
        let at = |at: &(usize, usize)| {
            let spot = self.spot(0, *at);
            let block = Block::of_one(&self.fields[n][0], spot)?;
            let luma = Level { bright: block.brightness(), level: block.variance().max(NOTHING).ln() };
            let c = Candidate { frames: (n, None), at: *at, vector: (0, 0), luma, chroma_only: false };
            (block.direction(spot) < DIRECTED).then_some(c)
        };
        self.spots.iter().filter_map(at).collect()
    }

    /// The share of small parts that have lost their grain.
    fn gone(&self, all: &[Candidate], cluster: &Cluster) -> f64 {
        let (mut gone, mut count) = (0usize, 0usize);
        for c in all {
            let Some(expected) = cluster.middle(c.luma.bright).map(f64::exp).filter(|e| *e >= TELLING) else {
                continue;
            };
            let Some(block) = self.block(0, c) else { continue };
            let parts = block.parts(self.spot(0, c.at));
            gone += parts.iter().filter(|v| **v < GONE * expected).count();
            count += parts.len();
        }
        gone as f64 / count.max(1) as f64
    }

    /// The correlation between successive pictures of grain with exponentially decreasing correlation, from the
    /// growth of differences with distance.
    fn temporal(&self, pictures: &[usize], near: &[Candidate]) -> f64 {
        let of = |all: &[Candidate]| {
            let levels: Vec<Level> = all.iter().map(|c| c.luma).collect();
            let cluster = Cluster::of(&levels, false);
            (levels.iter().filter(|l| cluster.holds(l)).count(), cluster)
        };
        let (count, first) = of(near);
        let per_pair = count as f64 / (pictures.len().max(2) - 1) as f64;
        let mut growth = Vec::new();
        for k in 2..=BACK.min(pictures.len().saturating_sub(1)) {
            let starts = (0..pictures.len() - k).take(FURTHER);
            let pairs = starts.len() as f64;
            let all: Vec<Candidate> =
                starts.flat_map(|i| self.pair(pictures[i], pictures[i + k], false)).collect();
            let (found, cluster) = of(&all);
            if found < LEAST_BLOCKS || (found as f64) < 0.4 * per_pair * pairs {
                break;
            }
            let (mut sum, mut weight) = (0.0, 0.0);
            for c in all.iter().filter(|c| cluster.holds(&c.luma)) {
                let (a, b) = (first.middle(c.luma.bright), cluster.middle(c.luma.bright));
                if let (Some(a), Some(b)) = (a, b) {
                    sum += b - a;
                    weight += 1.0;
                }
            }
            if weight > 0.0 {
                growth.push((sum / weight).exp());
            }
        }
        if growth.is_empty() {
            return 0.0;
        }
        let off = |rho: f64| -> f64 {
            let grown = |k: usize| (1.0 - rho.powi(k as i32 + 2)) / (1.0 - rho);
            growth.iter().enumerate().map(|(k, g)| (g - grown(k)).powi(2)).sum()
        };
        let best = (0..=90).map(|i| f64::from(i) / 100.0).min_by(|&a, &b| off(a).total_cmp(&off(b)));
        best.filter(|r| (TEMPORAL[0]..=TEMPORAL[1]).contains(r)).unwrap_or(0.0)
    }

    /// Measures the planes of blocks.
    fn measure(&self, blocks: &[Candidate], low: bool) -> Vec<PlaneGrain> {
        let planes = self.fields[0].len();
        let chosen: Vec<Vec<bool>> = (0..planes)
            .map(|p| {
                let counts = |c: &Candidate| p > 0 || !c.chroma_only;
                if p == 0 {
                    return blocks.iter().map(counts).collect();
                }
                let levels: Vec<Option<Level>> = blocks.iter().map(|c| self.level(p, c)).collect();
                let cluster = Cluster::of(&levels.iter().flatten().copied().collect::<Vec<_>>(), low);
                levels.iter().map(|l| l.as_ref().is_some_and(|l| cluster.holds(l))).collect()
            })
            .collect();
        let mut all: Vec<PlaneGrain> = (0..planes)
            .map(|p| {
                let spot = self.spot(p, (0, 0));
                PlaneGrain::new(&Plan::new(spot.width, spot.height))
            })
            .collect();
        // Where the picture goes on in the same way for a third frame, that frame.
        let pairs = blocks.iter().filter(|c| !c.chroma_only);
        let next: BTreeMap<_, _> = pairs.map(|c| ((c.frames.0, c.at, c.vector), c.frames.1)).collect();
        let third = |c: &Candidate| *next.get(&(c.frames.1?, c.at, c.vector))?;
        for (i, c) in blocks.iter().enumerate() {
            for (p, plane) in all.iter_mut().enumerate().filter(|p| chosen[p.0][i]) {
                plane.two = c.frames.1.is_some();
                let Some(block) = self.block(p, c) else { continue };
                plane.add_bins(&block.grain, &block.bright);
                if let Some(cubes) = third(c).and_then(|n| self.cubes(p, c, n)) {
                    plane.add_cubes(&cubes, &block.bright);
                }
            }
        }
        let scales: Vec<_> = all.iter().map(PlaneGrain::scales).collect();
        let transform = Transform::default();
        let mut first = 0;
        for group in blocks.chunk_by(|a, b| a.frames == b.frames) {
            let mut sheets: Vec<[Field; 2]> = self.fields[0]
                .iter()
                .map(|f| [(); 2].map(|()| Field::from_fn(f.width, f.height, |_, _| 0.0)))
                .collect();
            for (i, c) in group.iter().enumerate() {
                let normal = |p: usize| {
                    let spot = self.spot(p, c.at);
                    let block = chosen[p][first + i].then(|| self.block(p, c)).flatten()?;
                    let data = over_strength(&scales[p], &block.grain, &block.bright);
                    Some(Field { width: spot.width, height: spot.height, data })
                };
                let fields: Vec<Option<Field>> = (0..planes).map(normal).collect();
                for (p, field) in fields.iter().enumerate() {
                    let Some(field) = field else { continue };
                    let plane = &mut all[p];
                    plane.spectrum.add(field);
                    plane.moments.merge(&Moments::of(field.data.iter().map(|&v| f64::from(v))));
                    let spot = self.spot(p, c.at);
                    for y in 0..spot.height {
                        let range = (spot.y + y) * sheets[p][0].width + spot.x;
                        let range = range..range + spot.width;
                        sheets[p][0].data[range.clone()].copy_from_slice(field.row(y));
                        sheets[p][1].data[range].fill(1.0);
                    }
                    let before = if self.format.is_chroma(p) { 0 } else { p.saturating_sub(1) };
                    if let (1.., Some(other)) = (p, &fields[before]) {
                        let (sx, sy) = self.format.plane_subsampling(p);
                        let other = other.shrunk(sx, sy);
                        plane.channel.add(&other.data, &field.data);
                        if self.format.is_chroma(p) {
                            lagged(&mut plane.luma, &other, field);
                        }
                    }
                }
            }
            first += group.len();
            for (plane, [grain, mask]) in all.iter_mut().zip(&sheets) {
                plane.auto.add_masked(grain, mask, &transform);
            }
        }
        all
    }
}

fn choose(all: &[Candidate], low: bool) -> (Vec<Candidate>, Cluster) {
    let levels: Vec<Level> = all.iter().map(|c| c.luma).collect();
    let cluster = Cluster::of(&levels, low);
    (all.iter().filter(|c| cluster.holds(&c.luma)).copied().collect(), cluster)
}

/// Measures the grain of consecutive frames of one format, or of an area of them. Panics without frames.
pub fn measure(frames: &[&Frame], area: Option<Area>) -> Found {
    let shot = Shot::new(frames, area);
    let (pictures, mut held) = shot.pictures();
    let near: Vec<Candidate> = pictures.windows(2).flat_map(|w| shot.pair(w[0], w[1], false)).collect();
    let (mut blocks, cluster) = choose(&near, false);
    let (way, looked, gone, rho);
    if blocks.len() >= LEAST_BLOCKS {
        let moved = blocks.iter().filter(|c| c.vector != (0, 0)).count();
        way = if 2 * moved > blocks.len() { Way::Moved } else { Way::Still };
        (looked, gone) = (near.len(), shot.gone(&near, &cluster));
        rho = shot.temporal(&pictures, &near);
        // Motion of chroma by half a sample is an integer after two pictures.
        let coarse = shot.format.color_planes().iter().any(|p| shot.format.plane_subsampling(p) != (0, 0));
        let odd = blocks.iter().filter(|c| (c.vector.0 | c.vector.1) & 1 != 0).count();
        if coarse && 2 * odd > blocks.len() {
            let far = pictures.windows(3).flat_map(|w| shot.pair(w[0], w[2], true)).collect::<Vec<_>>();
            blocks.extend(choose(&far, false).0);
        }
    } else {
        let plain: Vec<Candidate> = pictures.iter().take(SURFACES).flat_map(|&n| shot.plain(n)).collect();
        let (found, cluster) = choose(&plain, true);
        (blocks, way, looked, rho) = (found, Way::Flat, plain.len(), 0.0);
        gone = shot.gone(&plain, &cluster);
        held = 1;
    }
    let mut planes = shot.measure(&blocks, way == Way::Flat);
    for plane in &mut planes {
        plane.scale((1.0 / (1.0 - rho)).sqrt());
        let count = plane.overall().1.max(1.0);
        for (k, pair) in (1..).zip(&mut plane.temporal) {
            let held = if held > 1 { (1.0 - f64::from(k) / f64::from(held)).max(0.0) } else { rho.powi(k) };
            *pair = Pair::known(held, count);
        }
    }
    let grain = Residual::known(&shot.format, planes, frames.len() as u64, held);
    let count = blocks.iter().filter(|c| !c.chroma_only).count();
    Found { grain, way, blocks: (count, looked), pictures: pictures.len(), gone }
}
