//! Noise that is not white: octaves, stretched by an integrator, or correlated in time.
//!
//! A field is a function of the address, like white noise, so any band of rows of any frame can be computed
//! independently.
//!
//! **In time**, the white number of frame t is replaced by a sum of white numbers of several frames with the same
//! deviation. `ar1`: frames t, t-1, ... t-M+1 with weights rho^k, where M is chosen so that the omitted weight is less
//! than half a percent. `pink`: ten staggered layers (Voss and McCartney), of which layer j changes every 2^j frames,
//! midway between the changes of the others; its power falls by 10 dB a decade down to 1/1024 of the frame rate.
//!
//! **Octaves**: octave 0 is white, octave j is as coarse as a raster 2^j coarser. It begins as white numbers on a
//! raster 2^(j-1) coarser. From the coarsest up, the sum so far is upsampled with the taps (1 5 10 10 5 1)/16, the next
//! octave is added, and the sum is smoothed by (1 2 1)/4. Almost no power is left above half the frequency of the
//! coarser raster, so all samples have the same statistics: the differences of neighbours have the same variance at
//! every position, to 2 %. Weights are persistence^j divided by the octave's deviation after filtering, normalised so
//! that the sum has the given strength as its deviation over all positions and many frames, to 2 %. In a single frame a
//! coarse octave has few samples, so the frame's deviation varies and its mean is not 0.
//!
//! **Lengths**: the integrator of [`crate::pixel::field`], horizontally from some samples before the row's start, then
//! vertically. Vertically it restarts at every block of rows, some rows before the block, so that a band depends only
//! on its own blocks. The error of the restart is below 1/500.
//!
//! Octaves and lengths of subsampled chroma are scaled to look as long as those of luma; the same holds for fields,
//! whose rows are twice as far apart.

use crate::frame::{Format, FrameTime, MAX_SIDE, Parity, PictureStructure};
use crate::noise::seed::Layer;
use crate::noise::stream::StreamFrame;
use crate::noise::{ShapeError, Stream};
use crate::pixel::field::{
    FIELD_SD, Pole, SHIFT, accumulate, ar1_columns, ar1_row, ar1_weights, begin_sum, interpolate_rows,
    mirror, round_saturate, smooth_columns, smooth_row, upsample_2x_row, weight,
};
use crate::settings::Animated;
use crate::simd::Level;

/// The correlation of noise in time.
#[derive(Clone, Debug)]
pub(super) enum Temporal {
    None,
    /// An autoregressive process with this correlation from frame to frame.
    Ar1(Animated),
    Pink,
}

/// The correlation of noise in space.
#[derive(Clone, Debug)]
pub(super) enum Space {
    /// The number of octaves, and the persistence.
    Octaves(u32, Animated),
    /// Horizontal and vertical lengths, in luma samples.
    Lengths([u32; 2]),
}

#[derive(Clone, Debug)]
pub(super) struct FieldSettings {
    pub space: Space,
    pub temporal: Temporal,
}

/// Layers of 1/f noise in time.
const VOICES: u32 = 10;

/// The smallest number of rows of a block; see [`Plane::block`].
const BLOCK: usize = 64;

/// Rows of a coarser raster that are kept: the one that contains a finer row, and its neighbours.
const KEPT: usize = 3;

/// The parameters of a field for one plane.
#[derive(Clone, Debug)]
pub(super) struct Plane {
    /// The coarseness of each octave relative to the plane, as a power of two, horizontally and vertically.
    coarseness: Vec<[u32; 2]>,
    /// The remaining variance of each octave's white numbers at full resolution.
    powers: Vec<f64>,
    size: (usize, usize),
    poles: [Option<Pole>; 2],
    /// Samples and rows before the first that are computed as run-up.
    warm: [usize; 2],
}

impl Plane {
    pub(super) fn new(size: (usize, usize), subsampling: [u32; 2], space: &Space) -> Plane {
        let mut plane =
            Plane { coarseness: vec![[0; 2]], powers: vec![1.0], size, poles: [None; 2], warm: [0; 2] };
        match space {
            Space::Octaves(count, _) => {
                plane.coarseness = (0..*count).map(|j| subsampling.map(|s| j.saturating_sub(s))).collect();
                let power = |by: &[u32; 2]| power(size.0, by[0]) * power(size.1, by[1]);
                plane.powers = plane.coarseness.iter().map(power).collect();
            }
            Space::Lengths(lengths) => {
                for i in (0..2).filter(|&i| lengths[i] > 0) {
                    let length = f64::from(lengths[i]) / f64::from(1u32 << subsampling[i]);
                    plane.poles[i] = Some(Pole::new(length));
                    plane.warm[i] = Pole::warm_up(length);
                }
            }
        }
        plane
    }

    /// Width and height of the raster of octave `k`, without the run-up.
    pub(super) fn raster(&self, k: usize) -> (usize, usize) {
        let halved = |n: usize, by: u32| (1..by).fold(n, |n, _| n.div_ceil(2));
        (halved(self.size.0, self.coarseness[k][0]), halved(self.size.1, self.coarseness[k][1]))
    }

    /// The rows from one start of the integrator to the next: at least as many as the run-up, which then costs at most
    /// as much as the rows themselves.
    pub(super) fn block(&self) -> usize {
        self.warm[1].next_multiple_of(BLOCK).max(BLOCK)
    }

    /// The weight of every octave.
    pub(super) fn weights(&self, persistence: f64) -> Vec<f64> {
        let mut weights = vec![1.0];
        for k in 1..self.coarseness.len() {
            weights.push(weights[k - 1] * persistence);
        }
        let norm = weights.iter().map(|w: &f64| w * w).sum::<f64>().sqrt();
        weights.iter().zip(&self.powers).map(|(w, power)| w / norm / power.sqrt()).collect()
    }
}

/// A coarse raster with more samples is treated as one without edges.
const FEW: usize = 80;

/// The remaining variance of white numbers of an octave whose raster is coarser by a power of two than one of `len`
/// samples: the mean over all samples, without edges if the coarse raster has more than [`FEW`].
pub(super) fn power(len: usize, coarseness: u32) -> f64 {
    if coarseness == 0 {
        return 1.0;
    }
    let mut lengths = vec![len.max(1)];
    for k in 1..coarseness as usize {
        lengths.push(lengths[k - 1].div_ceil(2));
    }
    if lengths[coarseness as usize - 1] > FEW {
        let spread = |pulse: &[f64], by: usize, taps: &[f64]| {
            let mut fine = vec![0.0; by * pulse.len() + taps.len()];
            for (i, v) in pulse.iter().enumerate() {
                taps.iter().enumerate().for_each(|(j, w)| fine[by * i + j] += v * w);
            }
            fine
        };
        let smooth = |pulse: &[f64]| spread(pulse, 1, &[0.25, 0.5, 0.25]);
        let upsample = |pulse: &[f64]| spread(pulse, 2, &[0.0625, 0.3125, 0.625, 0.625, 0.3125, 0.0625]);
        let pulse = (1..coarseness).fold(smooth(&[1.0]), |pulse, _| smooth(&upsample(&pulse)));
        return pulse.iter().map(|v| v * v).sum::<f64>() / f64::from(1u32 << (coarseness - 1));
    }
    // The weights of the coarse raster's samples in each sample.
    let coarse = lengths[lengths.len() - 1];
    let mut rows: Vec<[f64; FEW]> = vec![[0.0; FEW]; coarse];
    rows.iter_mut().enumerate().for_each(|(i, row)| row[i] = 1.0);
    let smoothed = |rows: &[[f64; FEW]]| -> Vec<[f64; FEW]> {
        let row = |i: usize| {
            let at = |d: isize| &rows[mirror(i as isize + d, rows.len())];
            core::array::from_fn(|c| 0.25 * at(-1)[c] + 0.5 * at(0)[c] + 0.25 * at(1)[c])
        };
        (0..rows.len()).map(row).collect()
    };
    rows = smoothed(&rows);
    for &len in lengths.iter().rev().skip(1) {
        let row = |i: usize| {
            let [near, beside, other] = around(i, rows.len()).map(|c| &rows[c]);
            core::array::from_fn(|c| 0.625 * near[c] + 0.3125 * beside[c] + 0.0625 * other[c])
        };
        rows = smoothed(&(0..len).map(row).collect::<Vec<_>>());
    }
    rows.iter().flatten().map(|w| w * w).sum::<f64>() / rows.len() as f64
}

/// The coarse samples, of `len`, around sample `i`: the nearest, the next one on the side of `i`, and the one on
/// the other side.
fn around(i: usize, len: usize) -> [usize; KEPT] {
    let (half, by) = ((i / 2) as isize, if i.is_multiple_of(2) { -1 } else { 1 });
    [half, half + by, half - by].map(|c| mirror(c, len))
}

/// The number of frames that ar1 sums: about those after which `rho` to their number is below 0.1.
pub(super) fn window(rho: f64) -> usize {
    match rho {
        r if r <= 0.0 => 1,
        r if r <= 0.1 => 2,
        r if r <= 0.3 => 3,
        r if r <= 0.5 => 6,
        r if r <= 0.7 => 8,
        r if r <= 0.8 => 12,
        _ => 24,
    }
}

impl Temporal {
    /// Layer, frame and weight of all terms of a frame; the squares of the weights sum to 1.
    pub(super) fn sum(&self, at: &FrameTime, t: i64) -> Vec<(u32, i64, f64)> {
        match self {
            Temporal::None => vec![(0, t, 1.0)],
            Temporal::Ar1(rho) => {
                let rho = rho.at(at);
                let weights = ar1_weights(rho, window(rho));
                (0..).zip(weights).map(|(j, w)| (0, t.wrapping_sub(j), w)).collect()
            }
            Temporal::Pink => {
                let frame = |j: u32| if j == 0 { t } else { t.wrapping_add(1 << (j - 1)) >> j };
                (0..VOICES).map(|j| (j, frame(j), 1.0 / f64::from(VOICES).sqrt())).collect()
            }
        }
    }

    fn voices(&self) -> u32 {
        if matches!(self, Temporal::Pink) { VOICES } else { 1 }
    }
}

/// A field for pictures of one format.
pub(super) struct Field {
    planes: Vec<Plane>,
    /// All layers in time of octave 0, then those of octave 1, and so on.
    streams: Vec<Stream>,
    settings: FieldSettings,
    picture: PictureStructure,
}

/// White rows of each octave, and their weights without the plane's factor.
pub(super) struct Parts<'a> {
    octaves: Vec<Vec<(StreamFrame<'a>, f64)>>,
    persistence: f64,
}

impl Field {
    /// Makes a field for a format; `stream` makes the stream of a layer over planes of the given sizes.
    pub(super) fn new(
        format: &Format,
        settings: &FieldSettings,
        stream: impl Fn(&[(u32, u32)], Layer) -> Result<Stream, ShapeError>,
    ) -> Result<Field, ShapeError> {
        let interlaced = !matches!(format.picture, PictureStructure::Frame);
        // Streams have the shape of the larger field.
        let whole = if interlaced { format.field(Parity::Top) } else { *format };
        let of = |format: &Format| -> Vec<Plane> {
            let plane = |p| {
                let (sx, sy) = format.plane_subsampling(p);
                let subsampling = [u32::from(sx), u32::from(sy) + u32::from(interlaced)];
                Plane::new(format.plane_size(p), subsampling, &settings.space)
            };
            (0..format.planes()).map(plane).collect()
        };
        let largest = of(&whole);
        let octaves = largest.iter().map(|p| p.coarseness.len()).max().unwrap_or(1);
        let mut streams = Vec::new();
        for k in 0..octaves {
            // The limit on the width is harmless: rows of a wider raster would only begin nearer to each
            // other.
            let side = |n: usize, warm: usize| (n + warm).clamp(1, MAX_SIDE as usize) as u32;
            let size = |plane: &Plane| {
                let (w, h) = plane.raster(k);
                (side(w, plane.warm[0]), side(h, plane.warm[1]))
            };
            let sizes: Vec<(u32, u32)> = largest.iter().map(size).collect();
            for voice in 0..settings.temporal.voices() {
                streams.push(stream(&sizes, Layer::of(k as u32, voice))?);
            }
        }
        Ok(Field { planes: of(format), streams, settings: settings.clone(), picture: format.picture })
    }

    /// The number of streams.
    pub(super) fn streams(&self) -> usize {
        self.streams.len()
    }

    /// All terms of a picture. With `fixed` every frame uses those of frame 0.
    pub(super) fn parts(&self, at: &FrameTime) -> Parts<'_> {
        let (t, parity) = at.split(self.picture);
        let sum = self.settings.temporal.sum(at, t);
        let voices = self.settings.temporal.voices() as usize;
        let octaves = self.streams.chunks(voices).map(|streams| {
            let part = |&(voice, t, w): &(u32, i64, f64)| {
                let stream = &streams[voice as usize];
                (
                    stream.frame(t.wrapping_mul(self.picture.per_frame()).wrapping_add(parity)),
                    w * FIELD_SD / stream.distribution().deviation(),
                )
            };
            sum.iter().map(part).collect()
        });
        let persistence = if let Space::Octaves(_, p) = &self.settings.space { p.at(at) } else { 1.0 };
        Parts { octaves: octaves.collect(), persistence }
    }

    /// Pixels that the streams generate at a time.
    fn block(&self) -> usize {
        self.streams[0].block()
    }

    fn buffer_sizes(&self, p: usize) -> BufferSizes {
        let plane = &self.planes[p];
        let generated = (plane.size.0 + plane.warm[0]).next_multiple_of(self.block());
        let words = generated * self.streams[0].distribution().words() as usize;
        let rasters = (0..plane.coarseness.len())
            .map(|k| {
                let (width, next) =
                    (plane.raster(k).0, plane.raster((k + 1).min(plane.coarseness.len() - 1)).0);
                [KEPT * line(width), line(width + 2), KEPT * line(width), line(next + 2)]
            })
            .collect();
        BufferSizes { generated: line(generated), words: line(words), state: line(plane.size.0), rasters }
    }

    /// The number of `i32` of memory that rows of plane `p` need.
    pub(super) fn buffer_len(&self, p: usize) -> usize {
        let buffer = self.buffer_sizes(p);
        let narrow = buffer.words
            + 2 * buffer.generated
            + buffer.state
            + buffer.rasters.iter().flatten().sum::<usize>();
        buffer.generated + narrow.div_ceil(2)
    }

    /// Rows of plane `p`, with the numbers of plane `source`, in the given memory.
    pub(super) fn rows<'a>(
        &'a self,
        parts: &Parts<'a>,
        p: usize,
        source: usize,
        level: Level,
        buffer: &'a mut [i32],
    ) -> Rows<'a> {
        let plane = &self.planes[p];
        let sizes = self.buffer_sizes(p);
        let (sum, rest) = buffer.split_at_mut(sizes.generated);
        let mut rest = bytemuck::cast_slice_mut::<i32, i16>(rest);
        let mut take = |n: usize| {
            let (head, tail) = core::mem::take(&mut rest).split_at_mut(n);
            rest = tail;
            head
        };
        let words = bytemuck::cast_slice_mut(take(sizes.words));
        let (g, h, state) = (take(sizes.generated), take(sizes.generated), take(sizes.state));
        let weights = plane.weights(parts.persistence);
        let rasters = (0..plane.coarseness.len()).map(|k| {
            let [smooth, padded, kept, narrow] = sizes.rasters[k];
            let next = (k + 1 < plane.coarseness.len()).then(|| plane.coarseness[k + 1]);
            let halved = |i: usize| next.is_some_and(|n| n[i].max(1) > plane.coarseness[k][i].max(1));
            Raster {
                size: plane.raster(k),
                parts: parts.octaves[k].iter().map(|(frame, w)| (*frame, weight(w * weights[k]))).collect(),
                smoothed: plane.coarseness[k].map(|by| by > 0),
                smooth: Kept { rows: take(smooth), has: [NONE; KEPT] },
                padded: take(padded),
                halved: [halved(0), halved(1)],
                coarser: Kept { rows: take(kept), has: [NONE; KEPT] },
                narrow: take(narrow),
            }
        });
        let rasters = rasters.collect();
        let white = WhiteSource { source, block: self.block(), level, words, g, sum };
        Rows { plane, rasters, white, h, state, last: None }
    }
}

struct BufferSizes {
    generated: usize,
    words: usize,
    state: usize,
    /// For each octave: its rows that are kept for smoothing, and one with its ends; rows of the next coarser one,
    /// and one of those with its ends.
    rasters: Vec<[usize; 4]>,
}

const NONE: usize = usize::MAX;

/// The memory of a row, rounded up to cache lines.
fn line(width: usize) -> usize {
    width.next_multiple_of(32)
}

/// Rows of one plane; computing them in order is cheapest.
pub(super) struct Rows<'a> {
    plane: &'a Plane,
    rasters: Vec<Raster<'a>>,
    white: WhiteSource<'a>,
    h: &'a mut [i16],
    /// The state of the vertical integrator, and its row.
    state: &'a mut [i16],
    last: Option<usize>,
}

/// The raster of one octave.
struct Raster<'a> {
    size: (usize, usize),
    parts: Vec<(StreamFrame<'a>, i16)>,
    /// Whether this octave and all coarser ones are smoothed here, horizontally and vertically.
    smoothed: [bool; 2],
    /// Rows of their sum, smoothed horizontally.
    smooth: Kept<'a>,
    /// A row with padding at its ends.
    padded: &'a mut [i16],
    /// Whether the next coarser octave has half as many samples, horizontally and vertically.
    halved: [bool; 2],
    /// Its rows, upsampled to this width.
    coarser: Kept<'a>,
    /// One of its rows, with padding at its ends.
    narrow: &'a mut [i16],
}

/// Some consecutive rows.
struct Kept<'a> {
    rows: &'a mut [i16],
    has: [usize; KEPT],
}

impl Kept<'_> {
    fn row(&self, y: usize, width: usize) -> &[i16] {
        &self.rows[line(width) * (y % KEPT)..][..width]
    }

    /// The slot of row `y` if it has not been computed yet.
    fn missing(&mut self, y: usize, width: usize) -> Option<&mut [i16]> {
        let has = core::mem::replace(&mut self.has[y % KEPT], y);
        (has != y).then(|| &mut self.rows[line(width) * (y % KEPT)..][..width])
    }
}

/// The source of white rows.
struct WhiteSource<'a> {
    source: usize,
    block: usize,
    level: Level,
    words: &'a mut [u16],
    g: &'a mut [i16],
    sum: &'a mut [i32],
}

impl WhiteSource<'_> {
    /// Writes row `y` of the weighted sum of white rows to `out`; with `add` adds it.
    fn row(&mut self, parts: &[(StreamFrame<'_>, i16)], y: usize, out: &mut [i16], add: bool) {
        let n = out.len();
        let sum = &mut self.sum[..n];
        begin_sum(self.level, sum, if add { Some(out) } else { None });
        for (frame, weight) in parts.iter().filter(|p| p.1 != 0) {
            let g = &mut self.g[..n.next_multiple_of(self.block)];
            frame.centred(self.source, y as u32, self.words, g);
            accumulate(self.level, sum, &self.g[..n], *weight);
        }
        round_saturate(self.level, out, sum, SHIFT, -32767);
    }
}

impl Rows<'_> {
    /// Writes row `y` to `out`, which has the width of the plane.
    pub(super) fn row(&mut self, y: usize, out: &mut [i16]) {
        let [across, down] = self.plane.poles;
        if across.is_none() && down.is_none() {
            return octaves(&mut self.rasters, &mut self.white, y, out);
        }
        let Some(pole) = down else {
            self.across(y, out.len());
            return out.copy_from_slice(&self.h[self.plane.warm[0]..][..out.len()]);
        };
        // Row numbers of the stream, which begins with the run-up of the first block.
        let (block, warm) = (self.plane.block(), self.plane.warm[1]);
        let start = y / block * block;
        let from = match self.last {
            Some(last) if (start..=y).contains(&last) => last + 1 + warm,
            _ => {
                self.state[..out.len()].fill(0);
                start
            }
        };
        for i in from..=y + warm {
            self.across(i, out.len());
            let h = &self.h[self.plane.warm[0]..][..out.len()];
            ar1_columns(self.white.level, &mut self.state[..out.len()], h, pole);
        }
        self.last = Some(y);
        out.copy_from_slice(&self.state[..out.len()]);
    }

    /// Computes row `i` of the stream into `h`, with horizontal integration.
    fn across(&mut self, i: usize, width: usize) {
        let h = &mut self.h[..width + self.plane.warm[0]];
        self.white.row(&self.rasters[0].parts, i, h, false);
        if let Some(pole) = self.plane.poles[0] {
            ar1_row(h, pole);
        }
    }
}

/// Row `y` of the first raster: its own octave and all coarser ones.
fn octaves(rasters: &mut [Raster<'_>], white: &mut WhiteSource<'_>, y: usize, out: &mut [i16]) {
    let Some(this) = rasters.first() else { return };
    let (level, height, width) = (white.level, this.size.1, out.len());
    if !this.smoothed[1] {
        return smoothed_across(rasters, white, y, out);
    }
    let rows = [-1, 0, 1].map(|d| mirror(y as isize + d, height));
    for row in rows {
        // The memory is moved out while it is written, since other parts of the raster are borrowed too.
        let mut smooth =
            core::mem::replace(&mut rasters[0].smooth, Kept { rows: &mut [], has: [NONE; KEPT] });
        if let Some(place) = smooth.missing(row, width) {
            smoothed_across(rasters, white, row, place);
        }
        rasters[0].smooth = smooth;
    }
    smooth_columns(level, out, rows.map(|row| rasters[0].smooth.row(row, width)));
}

/// The same, before vertical smoothing.
fn smoothed_across(rasters: &mut [Raster<'_>], white: &mut WhiteSource<'_>, y: usize, out: &mut [i16]) {
    let Some((this, coarser)) = rasters.split_first_mut() else { return };
    let (level, width) = (white.level, out.len());
    if let Some((next_width, next_height)) = coarser.first().map(|next| next.size) {
        let rows = if this.halved[1] { around(y, next_height) } else { [y; KEPT] };
        for c in rows {
            let Some(place) = this.coarser.missing(c, width) else { continue };
            if this.halved[0] {
                let narrow = &mut this.narrow[..next_width + 2];
                octaves(coarser, white, c, &mut narrow[1..=next_width]);
                upsample_2x_row(level, place, narrow);
            } else {
                octaves(coarser, white, c, place);
            }
        }
        let rows = rows.map(|c| this.coarser.row(c, width));
        if this.halved[1] {
            interpolate_rows(level, out, rows);
        } else {
            out.copy_from_slice(rows[0]);
        }
        white.row(&this.parts, y, out, true);
    } else {
        white.row(&this.parts, y, out, false);
    }
    if this.smoothed[0] {
        let padded = &mut this.padded[..width + 2];
        padded[1..=width].copy_from_slice(out);
        smooth_row(level, out, padded);
    }
}
