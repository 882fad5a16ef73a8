//! Measures the grain of a plate without a clean version.
//!
//! If blocks of neighbouring frames differ only by grain, their difference consists of two patterns of it. Such blocks
//! stand still, moved by a whole number of samples, or are plain. If there are too few, plain blocks of single frames
//! are compared with a smooth surface. No denoising is used, since a filter would mistake some grain for picture detail.
//!
//! Motion, texture and compression also make differences. Those of grain have similar variances at one brightness
//! (`cluster`), no excess of large values, and are renewed from frame to frame (`Candidate::renewed`). Blocks without
//! these properties are not used, and [`Evidence`] tells whether the others are grain.

use super::blocks::{Block, SIDE, Spot};
use super::cluster::{BlockLevel, Cluster, densest};
use super::correlation::{Pair, Transform};
use super::motion;
use super::residual::{Area, PlaneGrain, Residual, lagged, over_strength};
use super::spectrum::Plan;
use super::{Field, Moments};
use grainfield_filters::frame::{Format, Frame};

/// With fewer luma blocks, the differences of neighbouring frames are not used.
const LEAST_BLOCKS: usize = 24;
/// A pair of frames with a block variance lower than that of others by this factor shows the same picture.
const SAME: f64 = 0.03;
/// Parts of 8x8 samples with less than this share of the grain's variance have lost it; and the smallest variance for
/// the test, in squared 8-bit codes, which excludes rounding.
const GONE: f64 = 0.05;
const TELLING: f64 = 0.5;
/// The least relative difference of coarse grain that is not chance.
const COARSE: f64 = 0.1;
/// A motion vector must reduce the difference by this factor to be used.
const BETTER: f64 = 0.7;
/// Texture varies more along one direction; few blocks of grain exceed this ratio.
const DIRECTED: f64 = 1.2;
/// The largest number of frames that are compared with surfaces.
const SURFACES: usize = 4;
/// The least uncertainty of the strength, and the addition if everything moves, when blocks only seem still.
const LEAST_BOUND: f64 = 0.03;
const NEARLY_STILL: f64 = 0.15;
/// The smallest correlation in time that is significant (beyond chance and slow motion), and the largest
/// allowed.
const TEMPORAL: [f64; 2] = [0.06, 0.9];
/// The largest excess kurtosis of a block of grain. Edges that move have far more.
const PEAKED: f64 = 1.0;
/// With this share of blocks that are renewed entirely, grain is not correlated in time.
const RENEWED: f64 = 0.12;
/// The range of deviations of `renewed` by chance, and how many of them a block may be off.
const CHANCE: [f64; 2] = [0.03, 0.2];
const NEAR: f64 = 1.5;

/// The method by which grain was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
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
    pub method: Method,
    /// The number of blocks with nothing but grain, and of all blocks.
    pub blocks: (usize, usize),
    /// The share of 8x8 parts without grain, an effect of compression.
    pub gone: f64,
    /// Whether this is grain.
    pub evidence: Evidence,
}

/// Whether differences are grain, by the blocks of luma.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Evidence {
    /// Whether three pictures or more tell grain, which is renewed, from motion, which goes on.
    pub followed: bool,
    /// The share of blocks without an excess of large differences: nearly all of grain.
    pub smooth: f64,
    /// The standard deviation of the logarithm of the variance between blocks of one brightness: 0.05 to 0.25 for grain.
    pub spread: f64,
    /// The share of blocks with far less difference than the grain at their brightness would make.
    pub below: f64,
    /// The relative uncertainty of the strength.
    pub bound: f64,
}

impl Evidence {
    /// Less than this share of smooth blocks is motion; and a larger spread, share without grain, or uncertainty.
    const SMOOTH: f64 = 0.5;
    const SPREAD: f64 = 0.35;
    const BELOW: f64 = 0.3;
    const BOUND: f64 = 0.2;

    /// Whether it is grain.
    pub fn is_grain(&self) -> bool {
        self.smooth >= Evidence::SMOOTH
            && self.spread <= Evidence::SPREAD
            && self.below <= Evidence::BELOW
            && self.bound <= Evidence::BOUND
    }
}

/// A block of luma in one or two frames.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    frames: (usize, Option<usize>),
    at: (usize, usize),
    vector: (i64, i64),
    luma: BlockLevel,
    /// The excess kurtosis of luma.
    kurtosis: f64,
    /// A third frame, where the picture was at minus the vector.
    third: Option<usize>,
    /// The share of the difference that the third frame does not have: 1 for grain, 1 - r for grain with correlation r
    /// to that of the frame before, and less for motion, which goes on. `None` without a third frame.
    renewed: Option<f64>,
    /// Used for chroma only.
    chroma_only: bool,
}

impl Candidate {
    /// The block `luma` of `frames`, which nothing else is known of.
    fn new(frames: (usize, Option<usize>), at: (usize, usize), luma: &Block) -> Candidate {
        Candidate {
            frames,
            at,
            vector: (0, 0),
            luma: luma.level(),
            kurtosis: luma.kurtosis(),
            third: None,
            renewed: None,
            chroma_only: false,
        }
    }
}

struct BlockSampler {
    format: Format,
    /// By frame and plane.
    fields: Vec<Vec<Field>>,
    /// Top left corners of blocks.
    spots: Vec<(usize, usize)>,
}

impl BlockSampler {
    fn new(frames: &[&Frame], area: Option<Area>) -> BlockSampler {
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
        BlockSampler { format, fields, spots }
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
                None => Block::of_one(one, spot, (0, 0)),
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
    fn cubes(&self, p: usize, c: &Candidate) -> Option<Vec<f32>> {
        if self.format.is_chroma(p) {
            return None;
        }
        let of = |n: usize| &self.fields[n][p];
        Block::cubes([of(c.frames.0), of(c.frames.1?), of(c.third?)], self.spot(p, c.at), c.vector)
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

    /// The vector from frame `a` to `b` with the least difference at a place, of those that many blocks share.
    fn vector(&self, a: usize, b: usize, at: (usize, usize), vectors: &[(i64, i64)]) -> Option<(i64, i64)> {
        let spot = self.spot(0, at);
        let of = |v: &(i64, i64)| {
            let block = Block::of_two(&self.fields[a][0], &self.fields[b][0], spot, *v)?;
            Some((block.coarse(spot) * if *v == (0, 0) { BETTER } else { 1.0 }, *v))
        };
        Some(vectors.iter().filter_map(of).min_by(|a, b| a.0.total_cmp(&b.0))?.1)
    }

    /// All blocks of frames `a` and `b`, judged by a `third` frame on the other side of `a`.
    fn pair(&self, a: usize, b: usize, third: Option<usize>, chroma_only: bool) -> Vec<Candidate> {
        let vectors = motion::vectors(&self.fields[a][0], &self.fields[b][0]);
        let of = |n: usize, spot, v| Block::of_two(&self.fields[a][0], &self.fields[n][0], spot, v);
        let at = |at: &(usize, usize)| {
            let vector = self.vector(a, b, *at, &vectors)?;
            let spot = self.spot(0, *at);
            let block = of(b, spot, vector)?;
            let other = match third {
                Some(n) => Some(of(n, spot, (-vector.0, -vector.1))?),
                None => None,
            };
            let renewed = other.map(|other| 2.0 * block.correlation(&other));
            let new = Candidate::new((a, Some(b)), *at, &block);
            Some(Candidate { vector, third, renewed, chroma_only, ..new })
        };
        self.spots.iter().filter_map(at).collect()
    }

    /// All pairs of neighbouring pictures.
    fn neighbours(&self, pictures: &[usize]) -> Vec<Candidate> {
        let pair = |i: usize| match i {
            0 => self.pair(pictures[1], pictures[0], pictures.get(2).copied(), false),
            _ => self.pair(pictures[i], pictures[i + 1], Some(pictures[i - 1]), false),
        };
        (0..pictures.len() - 1).flat_map(pair).collect()
    }

    /// All plain blocks of a frame. Texture goes on in the next picture, if there is one.
    fn plain(&self, n: usize, next: Option<usize>) -> Vec<Candidate> {
        let vectors = next.map(|b| motion::vectors(&self.fields[n][0], &self.fields[b][0]));
        let at = |at: &(usize, usize)| {
            let spot = self.spot(0, *at);
            let block =
                Block::of_one(&self.fields[n][0], spot, (0, 0)).filter(|b| b.direction(spot) < DIRECTED)?;
            let same = |(b, vectors): (usize, &Vec<(i64, i64)>)| {
                let vector = self.vector(n, b, *at, vectors)?;
                Some(block.correlation(&Block::of_one(&self.fields[b][0], spot, vector)?))
            };
            let renewed = next.zip(vectors.as_ref()).map(|next| same(next).map_or(0.0, |same| 1.0 - same));
            Some(Candidate { renewed, ..Candidate::new((n, None), *at, &block) })
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

    /// Measures the planes of blocks.
    fn measure(&self, blocks: &[Candidate], low: bool) -> Vec<PlaneGrain> {
        let planes = self.fields[0].len();
        let chosen: Vec<Vec<bool>> = (0..planes)
            .map(|p| {
                let counts = |c: &Candidate| p > 0 || !c.chroma_only;
                if p == 0 {
                    return blocks.iter().map(counts).collect();
                }
                let levels: Vec<Option<BlockLevel>> =
                    blocks.iter().map(|c| Some(self.block(p, c)?.level())).collect();
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
        for (i, c) in blocks.iter().enumerate() {
            for (p, plane) in all.iter_mut().enumerate().filter(|p| chosen[p.0][i]) {
                plane.two = c.frames.1.is_some();
                let Some(block) = self.block(p, c) else { continue };
                plane.add_bins(&block.grain, &block.bright);
                if let Some(cubes) = self.cubes(p, c) {
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

/// How far blocks of grain are renewed in each picture.
struct Renewal {
    middle: f64,
    spread: f64,
    /// How far the densest place is from the middle, as slow motion of most blocks makes it.
    off: f64,
    /// The correlation of grain with that of the picture before.
    rho: f64,
}

impl Renewal {
    /// `None` if nothing tells. Motion only lowers the numbers, so grain is a dense place among the highest, and chance
    /// is seen above it.
    fn of(all: &[Candidate]) -> Option<Renewal> {
        let smooth = all.iter().filter(|c| c.kurtosis <= PEAKED);
        let mut sorted: Vec<f64> = smooth.filter_map(|c| c.renewed).collect();
        sorted.sort_by(f64::total_cmp);
        let dense = densest(&sorted[sorted.len() - (sorted.len() * 2).div_ceil(5)..]);
        let above = |x: f64| &sorted[sorted.partition_point(|v| *v < x)..];
        let spread = |x: f64| {
            let above = above(x);
            let half = above.get(above.len() / 2).map_or(0.0, |v| v - x);
            (half / 0.6745).clamp(CHANCE[0], CHANCE[1])
        };
        let [near, whole] = [dense - 3.0 * spread(dense), 1.0].map(|x| above(x).len() as f64);
        all.iter().any(|c| c.renewed.is_some()).then(|| {
            if dense > 1.0 - TEMPORAL[0] || whole > RENEWED * near {
                Renewal { middle: 1.0, spread: spread(1.0), off: (1.0 - dense).abs(), rho: 0.0 }
            } else {
                Renewal { middle: dense, spread: spread(dense), off: 0.0, rho: 1.0 - dense }
            }
        })
    }

    fn holds(&self, renewed: f64) -> bool {
        self.rho <= TEMPORAL[1] && (renewed - self.middle).abs() <= NEAR * self.spread
    }
}

/// The blocks of grain.
struct Chosen {
    blocks: Vec<Candidate>,
    cluster: Cluster,
    rho: f64,
    evidence: Evidence,
}

/// Chooses the blocks of grain; `bounds` are blocks with at least the difference that grain makes.
fn choose(all: &[Candidate], bounds: &[Candidate], low: bool) -> Chosen {
    let renewal = Renewal::of(all);
    let holds = |c: &&Candidate| match (&renewal, c.renewed) {
        (Some(renewal), Some(renewed)) => renewal.holds(renewed),
        _ => true,
    };
    let renewed: Vec<&Candidate> = all.iter().filter(holds).collect();
    let levels: Vec<BlockLevel> = renewed.iter().filter(|c| c.kurtosis <= PEAKED).map(|c| c.luma).collect();
    let cluster = Cluster::of(&levels, low);
    let found = renewed.iter().filter(|c| cluster.holds(&c.luma));
    let blocks: Vec<Candidate> = found.clone().filter(|c| c.kurtosis <= PEAKED).map(|c| **c).collect();
    let share = |part: usize, all: usize| part as f64 / all.max(1) as f64;
    let floors: Vec<f64> =
        bounds.iter().filter_map(|c| Some(c.luma.level - cluster.middle(c.luma.bright)?)).collect();
    let low = floors.iter().filter(|d| **d < -4.0 * cluster.spread).count();
    let (rho, off) = renewal.as_ref().map_or((0.0, 0.0), |r| (r.rho, r.off));
    // Blocks that seem still between many that move do so too, and slow motion looks like grain correlated in time.
    let moving = 1.0 - share(blocks.len(), all.len());
    let chance = cluster.spread / (blocks.len().max(1) as f64).sqrt();
    let evidence = Evidence {
        followed: renewal.is_some(),
        smooth: share(blocks.len(), found.count()),
        spread: cluster.spread,
        below: share(low, floors.len()),
        bound: LEAST_BOUND + chance + 0.5 * (off + rho * moving) + NEARLY_STILL * moving,
    };
    Chosen { blocks, cluster, rho, evidence }
}

/// The strength of grain in the same blocks, measured in two ways.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Check {
    /// By the differences of neighbouring frames, and of frames from their clean versions.
    pub strengths: [f64; 2],
    /// The same for means of 4x4 samples. Denoisers leave coarse grain.
    pub coarse: [f64; 2],
    /// The ratio of the covariance of both differences and the variance of the second: 1 if that is all of the grain, and
    /// nothing but grain.
    pub renewed: f64,
    /// The uncertainty of the first strength, relative to it.
    pub bound: f64,
}

impl Check {
    /// Whether the strengths contradict each other.
    pub fn differ(&self) -> bool {
        let off = |[a, b]: [f64; 2]| (b / a - 1.0).abs();
        off(self.strengths) > self.bound + LEAST_BOUND
            || off(self.coarse) > self.bound + COARSE
            || (self.renewed - 1.0).abs() > LEAST_BOUND
    }
}

/// Compares the differences of consecutive frames with those from their clean versions, where they show grain; `None` if
/// nothing shows it.
pub fn check(plates: &[&Frame], clean: &[&Frame], area: Option<Area>) -> Option<Check> {
    let sampler = BlockSampler::new(plates, area);
    let near = sampler.neighbours(&sampler.pictures().0);
    let Chosen { blocks, rho, evidence, .. } = choose(&near, &near, false);
    if blocks.len() < LEAST_BLOCKS || !evidence.is_grain() || !evidence.followed {
        return None;
    }
    let clean: Vec<Field> = clean.iter().map(|f| Field::of(f, 0)).collect();
    let [mut frames, mut cleaned, mut both] = [0.0; 3];
    let mut coarse = [0.0; 2];
    for c in &blocks {
        let n = c.frames.0;
        let spot = sampler.spot(0, c.at);
        let residual = Block::residual(&sampler.fields[n][0], &clean[n], spot)?;
        let own = sampler.block(0, c)?;
        frames += own.variance();
        cleaned += residual.variance();
        both += own.covariance(&residual);
        coarse[0] += own.coarse(spot) / (1.0 - rho);
        coarse[1] += residual.coarse(spot);
    }
    let mean = |sum: f64| (sum / blocks.len() as f64).sqrt();
    Some(Check {
        strengths: [mean(frames / (1.0 - rho)), mean(cleaned)],
        coarse: coarse.map(mean),
        // Two frames have grain in their difference, which is scaled to one.
        renewed: both * std::f64::consts::SQRT_2 / (1.0 - rho) / cleaned,
        bound: evidence.bound,
    })
}

/// Measures the grain of consecutive frames of one format, or of an area of them. Panics without frames.
pub fn measure(frames: &[&Frame], area: Option<Area>) -> Found {
    let sampler = BlockSampler::new(frames, area);
    let (pictures, mut held) = sampler.pictures();
    let near = sampler.neighbours(&pictures);
    let mut chosen = choose(&near, &near, false);
    let mut looked = near.len();
    let mut method = Method::Flat;
    let gone;
    if chosen.blocks.len() >= LEAST_BLOCKS && chosen.evidence.is_grain() {
        let moved = chosen.blocks.iter().filter(|c| c.vector != (0, 0)).count();
        method = if 2 * moved > chosen.blocks.len() { Method::Moved } else { Method::Still };
        gone = sampler.gone(&near, &chosen.cluster);
        // Motion of chroma by half a sample is an integer after two pictures.
        let coarse =
            sampler.format.color_planes().iter().any(|p| sampler.format.plane_subsampling(p) != (0, 0));
        let odd = chosen.blocks.iter().filter(|c| (c.vector.0 | c.vector.1) & 1 != 0).count();
        if coarse && 2 * odd > chosen.blocks.len() {
            let pair = |w: &[usize]| sampler.pair(w[0], w[2], None, true);
            let far: Vec<Candidate> = pictures.windows(3).flat_map(pair).collect();
            chosen.blocks.extend(choose(&far, &far, false).blocks);
        }
    } else {
        let plain = |(i, &n): (usize, &usize)| {
            sampler.plain(n, pictures.get(i + 1).or(i.checked_sub(1).and_then(|i| pictures.get(i))).copied())
        };
        let plain: Vec<Candidate> = pictures.iter().enumerate().take(SURFACES).flat_map(plain).collect();
        chosen = choose(&plain, &near, true);
        looked = plain.len();
        gone = sampler.gone(&plain, &chosen.cluster);
        held = 1;
    }
    let Chosen { blocks, rho, evidence, .. } = chosen;
    let mut planes = sampler.measure(&blocks, method == Method::Flat);
    for plane in &mut planes {
        plane.scale((1.0 / (1.0 - rho)).sqrt());
        let count = plane.overall().1.max(1.0);
        for (k, pair) in (1..).zip(&mut plane.temporal) {
            let held = if held > 1 { (1.0 - f64::from(k) / f64::from(held)).max(0.0) } else { rho.powi(k) };
            *pair = Pair::known(held, count);
        }
    }
    let grain = Residual::known(&sampler.format, planes, frames.len() as u64, held);
    let count = blocks.iter().filter(|c| !c.chroma_only).count();
    Found { grain, method, blocks: (count, looked), gone, evidence }
}

#[cfg(test)]
mod tests;
