//! Noise that is not white: octaves blended, drawn out by an integrator, or hanging together in time.
//!
//! A field is a function of the address, as white noise is, so any band of rows of any frame is made alone.
//!
//! **In time**, where a white number of frame t stood, stands a sum of white numbers of several frames, of the same
//! deviation. `ar1`: frames t, t-1, ... t-M+1 with weights rho^k, where M is chosen so that what is left out is less
//! than half a percent. `pink`: ten staggered layers (Voss and McCartney), of which layer j changes every 2^j frames and in
//! the middle between the changes of the others; its power falls by 10 dB a decade down to 1/1024 of the frame rate.
//!
//! **Octaves**: octave 0 is white, octave j is as coarse as a raster 2^j coarser. It begins as white numbers on a raster
//! 2^(j-1) coarser. From the coarsest up, the sum so far is widened by the taps (1 5 10 10 5 1)/16, the next octave is
//! added to it, and both are softened by (1 2 1)/4. So little is left above half the frequency of the coarser raster that
//! all samples have the same statistics: neighbours differ equally at every place, to 2 %. Weights are persistence^j
//! over the octave's own deviation (taps average it down), normalised, so that the whole has the strength wanted: its
//! variance over all places and many frames, to 2 %. A frame in which a coarse octave has few samples has more or less
//! than that, and a mean.
//!
//! **Lengths**: the integrator of [`crate::pixel::field`], across from some samples before the row's start, then down.
//! Down it starts anew at every block of rows, some rows before the block, so that a band needs no more than its own
//! blocks. What is left of the true past is below 1/500.
//!
//! Chroma of half the raster has octaves and lengths that look as long as luma's; so have fields, whose rows lie twice
//! as far apart.

use crate::frame::{Format, FrameTime, MAX_SIDE, Parity, PictureStructure};
use crate::noise::seed::Layer;
use crate::noise::stream::StreamFrame;
use crate::noise::{ShapeError, Stream};
use crate::pixel::field::{
    DEVIATION, Pole, accumulate, along, begin, between, follow, round_saturate, soften_across, soften_down,
    weight, widen,
};
use crate::pixel::grain::mirror;
use crate::settings::Animated;
use crate::simd::Level;

/// How noise hangs together in time.
#[derive(Clone, Debug)]
pub(super) enum Temporal {
    None,
    /// By a correlation from frame to frame.
    Ar1(Animated),
    Pink,
}

/// How it hangs together in space.
#[derive(Clone, Debug)]
pub(super) enum Space {
    /// How many, and the persistence.
    Octaves(u32, Animated),
    /// Across and down, in luma samples.
    Lengths([u32; 2]),
}

#[derive(Clone, Debug)]
pub(super) struct FieldSettings {
    pub space: Space,
    pub temporal: Temporal,
}

/// Layers of 1/f noise in time.
const VOICES: u32 = 10;

/// The rows of a block, at least; see [`Plane::block`].
const BLOCK: usize = 64;

/// Rows that are kept of a coarser raster: the one that a finer row lies in, and its neighbours.
const KEPT: usize = 3;

/// A plane's part of a field.
#[derive(Clone, Debug)]
pub(super) struct Plane {
    /// How many times as coarse as the plane octave 0, 1 ... is, as a power of two, across and down.
    coarseness: Vec<[u32; 2]>,
    /// The variance that is left of each octave's white numbers at the full raster.
    powers: Vec<f64>,
    size: (usize, usize),
    poles: [Option<Pole>; 2],
    /// Samples and rows before the first that are made to warm up.
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

    /// Width and height of the raster of octave `k`, without what warms up.
    pub(super) fn raster(&self, k: usize) -> (usize, usize) {
        let halved = |n: usize, by: u32| (1..by).fold(n, |n, _| n.div_ceil(2));
        (halved(self.size.0, self.coarseness[k][0]), halved(self.size.1, self.coarseness[k][1]))
    }

    /// The rows from one start of the integrator to the next: no fewer than warm up, so that that costs at most as much
    /// as the rows themselves.
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

/// Samples of a coarse raster beyond which its edges need not be looked at.
const FEW: usize = 80;

/// What is left of the variance of white numbers of an octave so many times (a power of two) as coarse as a raster of
/// `len` samples: the mean over all of them, and over a raster without edges where the coarse one has more than [`FEW`].
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
        let soften = |pulse: &[f64]| spread(pulse, 1, &[0.25, 0.5, 0.25]);
        let widen = |pulse: &[f64]| spread(pulse, 2, &[0.0625, 0.3125, 0.625, 0.625, 0.3125, 0.0625]);
        let pulse = (1..coarseness).fold(soften(&[1.0]), |pulse, _| soften(&widen(&pulse)));
        return pulse.iter().map(|v| v * v).sum::<f64>() / f64::from(1u32 << (coarseness - 1));
    }
    // The weights with which each sample takes those of the coarse raster.
    let coarse = lengths[lengths.len() - 1];
    let mut rows: Vec<[f64; FEW]> = vec![[0.0; FEW]; coarse];
    rows.iter_mut().enumerate().for_each(|(i, row)| row[i] = 1.0);
    let softened = |rows: &[[f64; FEW]]| -> Vec<[f64; FEW]> {
        let row = |i: usize| {
            let at = |d: isize| &rows[mirror(i as isize + d, rows.len())];
            core::array::from_fn(|c| 0.25 * at(-1)[c] + 0.5 * at(0)[c] + 0.25 * at(1)[c])
        };
        (0..rows.len()).map(row).collect()
    };
    rows = softened(&rows);
    for &len in lengths.iter().rev().skip(1) {
        let row = |i: usize| {
            let [near, beside, other] = around(i, rows.len()).map(|c| &rows[c]);
            core::array::from_fn(|c| 0.625 * near[c] + 0.3125 * beside[c] + 0.0625 * other[c])
        };
        rows = softened(&(0..len).map(row).collect::<Vec<_>>());
    }
    rows.iter().flatten().map(|w| w * w).sum::<f64>() / rows.len() as f64
}

/// The coarse samples, of `len`, that sample `i` lies among: the nearest, the one beside both, and the one on the
/// other side of the nearest.
fn around(i: usize, len: usize) -> [usize; KEPT] {
    let (half, by) = ((i / 2) as isize, if i.is_multiple_of(2) { -1 } else { 1 });
    [half, half + by, half - by].map(|c| mirror(c, len))
}

/// Frames that ar1 sums.
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
    /// Layer, frame and weight of all that a frame sums; the squares of the weights sum to 1.
    pub(super) fn sum(&self, at: &FrameTime, t: i64) -> Vec<(u32, i64, f64)> {
        match self {
            Temporal::None => vec![(0, t, 1.0)],
            Temporal::Ar1(rho) => {
                let rho = rho.at(at);
                let mut weights = vec![1.0];
                for j in 1..window(rho) {
                    weights.push(weights[j - 1] * rho);
                }
                let norm = weights.iter().map(|w: &f64| w * w).sum::<f64>().sqrt();
                (0..).zip(weights).map(|(j, w)| (0, t.wrapping_sub(j), w / norm)).collect()
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

/// A field over pictures of one format.
pub(super) struct Field {
    planes: Vec<Plane>,
    /// Of octave 0 all layers in time, then of octave 1, and so on.
    streams: Vec<Stream>,
    way: FieldSettings,
    picture: PictureStructure,
}

/// White rows of each octave, and their weights without the plane's.
pub(super) struct Parts<'a> {
    octaves: Vec<Vec<(StreamFrame<'a>, f64)>>,
    persistence: f64,
}

impl Field {
    /// Lays a field over a format; `stream` lays a stream of a layer over planes of the sizes given.
    pub(super) fn new(
        format: &Format,
        way: &FieldSettings,
        stream: impl Fn(&[(u32, u32)], Layer) -> Result<Stream, ShapeError>,
    ) -> Result<Field, ShapeError> {
        let interlaced = !matches!(format.picture, PictureStructure::Frame);
        // Streams have the shape of the larger field.
        let whole = if interlaced { format.field(Parity::Top) } else { *format };
        let of = |format: &Format| -> Vec<Plane> {
            let plane = |p| {
                let (sx, sy) = format.plane_subsampling(p);
                let subsampling = [u32::from(sx), u32::from(sy) + u32::from(interlaced)];
                Plane::new(format.plane_size(p), subsampling, &way.space)
            };
            (0..format.planes()).map(plane).collect()
        };
        let largest = of(&whole);
        let octaves = largest.iter().map(|p| p.coarseness.len()).max().unwrap_or(1);
        let mut streams = Vec::new();
        for k in 0..octaves {
            // A raster that is a little wider than any picture only lets its rows begin nearer to each other.
            let side = |n: usize, warm: usize| (n + warm).clamp(1, MAX_SIDE as usize) as u32;
            let size = |plane: &Plane| {
                let (w, h) = plane.raster(k);
                (side(w, plane.warm[0]), side(h, plane.warm[1]))
            };
            let sizes: Vec<(u32, u32)> = largest.iter().map(size).collect();
            for voice in 0..way.temporal.voices() {
                streams.push(stream(&sizes, Layer::of(k as u32, voice))?);
            }
        }
        Ok(Field { planes: of(format), streams, way: way.clone(), picture: format.picture })
    }

    /// How many streams it has.
    pub(super) fn streams(&self) -> usize {
        self.streams.len()
    }

    /// All that a picture takes. With `fixed` every frame takes what frame 0 does.
    pub(super) fn parts(&self, at: &FrameTime) -> Parts<'_> {
        let (t, parity) = at.split(self.picture);
        let sum = self.way.temporal.sum(at, t);
        let voices = self.way.temporal.voices() as usize;
        let octaves = self.streams.chunks(voices).map(|streams| {
            let part = |&(voice, t, w): &(u32, i64, f64)| {
                let stream = &streams[voice as usize];
                (
                    stream.frame(t.wrapping_mul(self.picture.per_frame()).wrapping_add(parity)),
                    w * DEVIATION / stream.distribution().deviation(),
                )
            };
            sum.iter().map(part).collect()
        });
        let persistence = if let Space::Octaves(_, p) = &self.way.space { p.at(at) } else { 1.0 };
        Parts { octaves: octaves.collect(), persistence }
    }

    /// Pixels that the streams make at a time.
    fn block(&self) -> usize {
        self.streams[0].block()
    }

    fn buffer_sizes(&self, p: usize) -> BufferSizes {
        let plane = &self.planes[p];
        let drawn = (plane.size.0 + plane.warm[0]).next_multiple_of(self.block());
        let words = drawn * self.streams[0].distribution().words() as usize;
        let rasters = (0..plane.coarseness.len())
            .map(|k| {
                let (width, next) =
                    (plane.raster(k).0, plane.raster((k + 1).min(plane.coarseness.len() - 1)).0);
                [KEPT * line(width), line(width + 2), KEPT * line(width), line(next + 2)]
            })
            .collect();
        BufferSizes { drawn: line(drawn), words: line(words), state: line(plane.size.0), rasters }
    }

    /// How many `i32` of memory rows of plane `p` need.
    pub(super) fn buffer_len(&self, p: usize) -> usize {
        let room = self.buffer_sizes(p);
        let narrow = room.words + 2 * room.drawn + room.state + room.rasters.iter().flatten().sum::<usize>();
        room.drawn + narrow.div_ceil(2)
    }

    /// Rows of plane `p`, with the numbers of plane `source`, in the memory lent.
    pub(super) fn rows<'a>(
        &'a self,
        parts: &Parts<'a>,
        p: usize,
        source: usize,
        level: Level,
        room: &'a mut [i32],
    ) -> Rows<'a> {
        let plane = &self.planes[p];
        let sizes = self.buffer_sizes(p);
        let (sum, rest) = room.split_at_mut(sizes.drawn);
        let mut rest = bytemuck::cast_slice_mut::<i32, i16>(rest);
        let mut take = |n: usize| {
            let (head, tail) = core::mem::take(&mut rest).split_at_mut(n);
            rest = tail;
            head
        };
        let words = bytemuck::cast_slice_mut(take(sizes.words));
        let (g, h, state) = (take(sizes.drawn), take(sizes.drawn), take(sizes.state));
        let weights = plane.weights(parts.persistence);
        let rasters = (0..plane.coarseness.len()).map(|k| {
            let [soft, padded, kept, narrow] = sizes.rasters[k];
            let next = (k + 1 < plane.coarseness.len()).then(|| plane.coarseness[k + 1]);
            let halved = |i: usize| next.is_some_and(|n| n[i].max(1) > plane.coarseness[k][i].max(1));
            Raster {
                size: plane.raster(k),
                parts: parts.octaves[k].iter().map(|(frame, w)| (*frame, weight(w * weights[k]))).collect(),
                softened: plane.coarseness[k].map(|by| by > 0),
                soft: Kept { rows: take(soft), has: [NONE; KEPT] },
                padded: take(padded),
                halved: [halved(0), halved(1)],
                coarser: Kept { rows: take(kept), has: [NONE; KEPT] },
                narrow: take(narrow),
            }
        });
        let rasters = rasters.collect();
        let draw = WhiteSource { source, block: self.block(), level, words, g, sum };
        Rows { plane, rasters, draw, h, state, last: None }
    }
}

struct BufferSizes {
    drawn: usize,
    words: usize,
    state: usize,
    /// For each octave: its rows kept to be softened and one with its ends; rows kept of the next coarser one and one
    /// of those with its ends.
    rasters: Vec<[usize; 4]>,
}

const NONE: usize = usize::MAX;

/// A row's place in memory begins at a cache line.
fn line(width: usize) -> usize {
    width.next_multiple_of(32)
}

/// Rows of one plane, cheapest in order.
pub(super) struct Rows<'a> {
    plane: &'a Plane,
    rasters: Vec<Raster<'a>>,
    draw: WhiteSource<'a>,
    h: &'a mut [i16],
    /// Of the integrator down, and the row that it stands at.
    state: &'a mut [i16],
    last: Option<usize>,
}

/// The raster of one octave.
struct Raster<'a> {
    size: (usize, usize),
    parts: Vec<(StreamFrame<'a>, i16)>,
    /// Whether this octave and all coarser ones are softened here, across and down.
    softened: [bool; 2],
    /// Rows of their sum, softened across.
    soft: Kept<'a>,
    /// A row with room at its ends.
    padded: &'a mut [i16],
    /// Whether the next coarser octave has half as many samples, across and down.
    halved: [bool; 2],
    /// Rows of it, widened to this width.
    coarser: Kept<'a>,
    /// A row of it, with room at its ends.
    narrow: &'a mut [i16],
}

/// Some rows that follow each other.
struct Kept<'a> {
    rows: &'a mut [i16],
    has: [usize; KEPT],
}

impl Kept<'_> {
    fn row(&self, y: usize, width: usize) -> &[i16] {
        &self.rows[line(width) * (y % KEPT)..][..width]
    }

    /// The place of row `y`, if it is not there yet.
    fn missing(&mut self, y: usize, width: usize) -> Option<&mut [i16]> {
        let has = core::mem::replace(&mut self.has[y % KEPT], y);
        (has != y).then(|| &mut self.rows[line(width) * (y % KEPT)..][..width])
    }
}

/// What white rows are drawn with.
struct WhiteSource<'a> {
    source: usize,
    block: usize,
    level: Level,
    words: &'a mut [u16],
    g: &'a mut [i16],
    sum: &'a mut [i32],
}

impl WhiteSource<'_> {
    /// Row `y` of the weighted sum of white rows into `out`, upon what stands there if `upon`.
    fn row(&mut self, parts: &[(StreamFrame<'_>, i16)], y: usize, out: &mut [i16], upon: bool) {
        let n = out.len();
        let sum = &mut self.sum[..n];
        begin(self.level, sum, if upon { Some(out) } else { None });
        for (frame, weight) in parts.iter().filter(|p| p.1 != 0) {
            frame
                .row(self.source, y as u32, 0)
                .centred(self.words, &mut self.g[..n.next_multiple_of(self.block)]);
            accumulate(self.level, sum, &self.g[..n], *weight);
        }
        round_saturate(self.level, out, sum);
    }
}

impl Rows<'_> {
    /// Row `y`, into `out`, which is as long as the plane is wide.
    pub(super) fn row(&mut self, y: usize, out: &mut [i16]) {
        let [across, down] = self.plane.poles;
        if across.is_none() && down.is_none() {
            return octaves(&mut self.rasters, &mut self.draw, y, out);
        }
        let Some(pole) = down else {
            self.across(y, out.len());
            return out.copy_from_slice(&self.h[self.plane.warm[0]..][..out.len()]);
        };
        // Row numbers of the stream, which begins where the first block warms up.
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
            follow(self.draw.level, &mut self.state[..out.len()], h, pole);
        }
        self.last = Some(y);
        out.copy_from_slice(&self.state[..out.len()]);
    }

    /// Row `i` of the stream, drawn out along the row, into h.
    fn across(&mut self, i: usize, width: usize) {
        let h = &mut self.h[..width + self.plane.warm[0]];
        self.draw.row(&self.rasters[0].parts, i, h, false);
        if let Some(pole) = self.plane.poles[0] {
            along(h, pole);
        }
    }
}

/// Row `y` of the first raster: its own octave and all coarser ones.
fn octaves(rasters: &mut [Raster<'_>], draw: &mut WhiteSource<'_>, y: usize, out: &mut [i16]) {
    let Some(this) = rasters.first() else { return };
    let (level, height, width) = (draw.level, this.size.1, out.len());
    if !this.softened[1] {
        return across_softened(rasters, draw, y, out);
    }
    let rows = [-1, 0, 1].map(|d| mirror(y as isize + d, height));
    for row in rows {
        // The memory is taken out while it is written, since the rest of the raster is at work too.
        let mut soft = core::mem::replace(&mut rasters[0].soft, Kept { rows: &mut [], has: [NONE; KEPT] });
        if let Some(place) = soft.missing(row, width) {
            across_softened(rasters, draw, row, place);
        }
        rasters[0].soft = soft;
    }
    soften_down(level, out, rows.map(|row| rasters[0].soft.row(row, width)));
}

/// The same, before it is softened down.
fn across_softened(rasters: &mut [Raster<'_>], draw: &mut WhiteSource<'_>, y: usize, out: &mut [i16]) {
    let Some((this, coarser)) = rasters.split_first_mut() else { return };
    let (level, width) = (draw.level, out.len());
    if let Some((next_width, next_height)) = coarser.first().map(|next| next.size) {
        let rows = if this.halved[1] { around(y, next_height) } else { [y; KEPT] };
        for c in rows {
            let Some(place) = this.coarser.missing(c, width) else { continue };
            if this.halved[0] {
                let narrow = &mut this.narrow[..next_width + 2];
                octaves(coarser, draw, c, &mut narrow[1..=next_width]);
                widen(level, place, narrow);
            } else {
                octaves(coarser, draw, c, place);
            }
        }
        let rows = rows.map(|c| this.coarser.row(c, width));
        if this.halved[1] {
            between(level, out, rows);
        } else {
            out.copy_from_slice(rows[0]);
        }
        draw.row(&this.parts, y, out, true);
    } else {
        draw.row(&this.parts, y, out, false);
    }
    if this.softened[0] {
        let padded = &mut this.padded[..width + 2];
        padded[1..=width].copy_from_slice(out);
        soften_across(level, out, padded);
    }
}
