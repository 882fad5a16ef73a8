//! `denoise`: removes noise and grain by non-local means.
//!
//! Each sample becomes the mean of the samples around it, and around the same place in neighbouring frames, weighted by
//! the similarity of the 3 by 3 samples around each (Buades, Coll and Morel, "A non-local algorithm for image denoising",
//! 2005). Noise of the standard deviation `s` alone makes the mean square `d` of their differences `2 s^2`; as in
//! "Non-local means denoising" (Image Processing On Line, 2011) only what exceeds that counts against them. The weight is
//! `(1 - (d - 2 s^2) / (k s^2))^2`, limited to 0 to 1, where `k` follows from `detail` and is smaller for neighbouring
//! frames; the sample itself has the weight 1. So a sample that resembles no other stays, and where a neighbouring frame
//! shows something else, it has no weight.
//!
//! U and V share their weights, and so do R, G and B. The picture is mirrored at its edges. Samples that are not finite
//! and those without coverage resemble no other. The mean lies between samples of the picture, so legal codes stay legal.

use super::point::mean_alpha;
use super::second::{Conversion, conversion, converted, part};
use super::{Band, Entry, Filter, Memory, Plan, Reach, Render, Spec};
use crate::for_depth;
use crate::frame::{
    Alpha, Depth, Format, Frame, FrameRef, FrameTime, PictureStructure, PlaneSet, Scratch, SourceFrames,
};
use crate::host::{Host, PrepareError};
use crate::pixel::convert::Code;
use crate::pixel::denoise::{MARGIN, Search, Strip, add_similar, average};
use crate::pixel::f32_rows::{ConvertF32, from_f32, to_f32};
use crate::pixel::tone::PremultipliedScale;
use crate::settings;
use crate::settings::{Animated, Setting, SettingError, Settings, Unit, Values};
use crate::simd::Level;
use core::ops::Range;
use std::sync::Arc;

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<DenoiseSpec>(
    "denoise",
    "Denoise",
    "Removes noise and grain, and keeps edges and texture (non-local means)",
);

settings! {
    struct DenoiseSettings {
        /// Standard deviation of the noise that is removed, whatever the depth: 2 is fine grain, 4 is obvious, 10 is heavy.
        /// Too much removes faint texture, too little leaves grain.
        strength: Animated = number(0.0..=100.0).default(4.0).unit(Unit::Code8).soft(0.0..=20.0),
        /// Strength in U and V relative to luma. RGB has one strength.
        chroma: Animated = number(0.0..=4.0).default(1.0).soft(0.0..=2.0),
        /// How alike places must be to be averaged: at 0 most are, for the cleanest picture; at 1 few, so that faint texture
        /// stays and some noise, too.
        detail: Animated = number(0.0..=1.0).default(0.5).unit(Unit::Fraction),
        /// How far it looks in the frame, in samples: 2 averages up to 25 samples, 4 up to 81 in three times the time.
        search: i64 = integer(1..=5).default(2).soft(1.0..=4.0),
        /// Frames before and after each that are averaged, too: what does not move gets cleaner without getting softer. Only
        /// as the first filter, and of a source that can be read more than once.
        frames: i64 = integer(0..=3).default(0).unit(Unit::Frames).group("Time"),
    }
}

/// The settings, and the source for neighbouring frames.
struct DenoiseSpec {
    set: DenoiseSettings,
    source: Option<Arc<dyn SourceFrames>>,
}

impl Settings for DenoiseSpec {
    const TABLE: &'static [Setting] = DenoiseSettings::TABLE;

    fn read(values: &Values) -> DenoiseSpec {
        DenoiseSpec { set: DenoiseSettings::read(values), source: values.source().cloned() }
    }
}

impl Spec for DenoiseSpec {
    fn reads_source_frames(&self) -> bool {
        self.set.frames > 0
    }

    fn bind(&self, input: &Format, _: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let neighbours = match &self.source {
            _ if self.set.frames == 0 => None,
            Some(source) => {
                let whole = Format { picture: PictureStructure::Frame, ..*input };
                let steps = conversion(source.format(), &whole, level);
                let steps = steps.map_err(|e| SettingError::new("frames", e))?;
                Some(Neighbours { source: Arc::clone(source), steps })
            }
            None => {
                let problem = "it needs the frames around each frame: give a file, or frames=0";
                return Err(SettingError::new("frames", problem));
            }
        };
        let reach = self.set.search.max(1) as usize + 1;
        Ok(Denoise { format: *input, set: self.set.clone(), reach, neighbours, level }.boxed())
    }
}

struct Denoise {
    format: Format,
    set: DenoiseSettings,
    /// The farthest row that a sample depends on.
    reach: usize,
    neighbours: Option<Neighbours>,
    level: Level,
}

/// The frames of the source, and their conversion to the format of the filter.
struct Neighbours {
    source: Arc<dyn SourceFrames>,
    steps: Conversion,
}

/// The parameters at a time.
struct Now {
    frame: i64,
    /// What counts in the picture itself and in its neighbours, for each plane.
    searches: [[Search; 2]; 4],
}

/// The value of a sample that resembles no other: its squared difference from any sample is beyond all limits, and yet
/// sums of squares are finite.
const UNLIKE: f32 = 1e18;

/// The part of `k` for neighbouring frames. What moves over something of nearly the same brightness would leave a trace
/// with more; what stands still needs no more.
const NEIGHBOURS: f64 = 0.3;

/// Luma rows for which sums are computed together, at most.
const STRIP: usize = 32;

impl Render for Denoise {
    type Params = Now;
    /// The neighbouring frames that exist, in order, with their numbers.
    type State = Vec<(i64, Frame)>;

    fn at(&self, at: &FrameTime) -> Option<(Plan, Now)> {
        let k = 14.0 - 11.0 * self.set.detail.at(at);
        let top = self.format.depth.bits().map_or(1.0, |_| f64::from(self.format.codes().1));
        let sigma = |p: usize| {
            let factor = if self.format.is_chroma(p) { self.set.chroma.at(at) } else { 1.0 };
            self.set.strength.at(at) * factor * top / 255.0
        };
        let searches = [0, 1, 2, 3].map(|p| {
            [(self.reach - 1, k), (1, NEIGHBOURS * k)].map(|(radius, k)| {
                let differences = 9.0 * self.group(p).len() as f64;
                let slope = (1.0 / (differences * k * sigma(p) * sigma(p))).min(1e30);
                Search { radius, top: ((2.0 + k) / k) as f32, slope: slope as f32 }
            })
        });
        let writes = self.format.color_planes().filter(|p| sigma(p) > 0.0);
        let rows = |p: usize| (self.reach << self.format.plane_subsampling(p).1) as u32;
        let reach = Reach::Rows(writes.iter().map(rows).max()?);
        let frame = at.split(self.format.picture).0;
        let state = self.neighbours.as_ref().map(|_| u128::from(frame as u64));
        Some((Plan { reach, state, ..Plan::in_place(writes) }, Now { frame, searches }))
    }

    fn memory(&self) -> Memory {
        let strip = |p: usize| {
            let strip = self.strip(self.group(p), STRIP);
            let near = usize::from(self.neighbours.is_some()) * strip.samples();
            4 * (strip.samples() + near + strip.sums() + strip.block_sums()) + 8 * strip.width + 5 * 64
        };
        let most = (0..self.format.planes()).map(strip).max().unwrap_or(0);
        let frames = if self.neighbours.is_some() { 2 * self.set.frames as usize + 2 } else { 0 };
        let whole = Format { picture: PictureStructure::Frame, ..self.format };
        Memory { fixed: 0, per_frame: most + frames * whole.frame_bytes() }
    }

    fn prepare(
        &self,
        now: &Now,
        mut near: Vec<(i64, Frame)>,
        host: &Host<'_>,
    ) -> Result<Vec<(i64, Frame)>, PrepareError> {
        let Some(neighbours) = &self.neighbours else { return Ok(Vec::new()) };
        let mut frames = Vec::new();
        for distance in (-self.set.frames..=self.set.frames).filter(|n| *n != 0) {
            host.check()?;
            let number = now.frame.saturating_add(distance);
            if let Some(i) = near.iter().position(|(of, _)| *of == number) {
                frames.push(near.swap_remove(i));
            } else if let Some(frame) = neighbours.source.frame(number)? {
                frames.push((number, converted(&neighbours.steps, &frame)));
            }
        }
        Ok(frames)
    }

    fn render(&self, now: &Now, frames: &Vec<(i64, Frame)>, band: &mut Band<'_>, scratch: &mut Scratch) {
        let near: Vec<FrameRef<'_>> = frames.iter().map(|(_, frame)| part(frame, &self.format)).collect();
        let written = band.writes.filter(|p| p < self.format.planes());
        let mut done = PlaneSet::NONE;
        for p in written.iter() {
            if !done.has(p) {
                let group = self.group(p);
                done = group.clone().fold(done, |done, p| done | PlaneSet::one(p));
                for_depth!(self.format.depth, T => self.planes::<T>(now, &near, group, band, scratch));
            }
        }
    }
}

impl Denoise {
    /// The planes that share their weights with plane `p`.
    fn group(&self, p: usize) -> Range<usize> {
        match () {
            () if self.format.alpha_plane() == Some(p) => p..p + 1,
            () if self.format.is_rgb() => 0..3,
            () if self.format.is_chroma(p) => 1..3,
            () => p..p + 1,
        }
    }

    fn strip(&self, group: Range<usize>, rows: usize) -> Strip {
        let width = self.format.plane_size(group.start).0;
        Strip { planes: group.len(), width, rows, reach: self.reach }
    }

    fn planes<T: ConvertF32>(
        &self,
        now: &Now,
        near: &[FrameRef<'_>],
        group: Range<usize>,
        band: &mut Band<'_>,
        scratch: &mut Scratch,
    ) {
        let input = band.source();
        let [within, around] = &now.searches[group.start];
        let rows = band.output.plane(group.start).rows();
        let step = rows.len().div_ceil(rows.len().div_ceil(STRIP).max(1)).max(1);
        for y in rows.clone().step_by(step) {
            let strip = self.strip(group.clone(), step.min(rows.end - y));
            let others = usize::from(!near.is_empty()) * strip.samples();
            let ([own, other, block_sums, sums], scratch) = scratch.buffers_and_rest::<f32, 4>([
                strip.samples(),
                others,
                strip.block_sums(),
                strip.sums(),
            ]);
            let [alpha] = scratch.buffers::<f64, 1>([strip.width]);
            self.read::<T>(&input, &strip, (group.start, y), own, alpha);
            sums.fill(0.0);
            add_similar(self.level, &strip, own, None, within, block_sums, sums);
            for picture in near {
                self.read::<T>(picture, &strip, (group.start, y), other, alpha);
                add_similar(self.level, &strip, own, Some(other), around, block_sums, sums);
            }
            let (weights, changes) = sums.split_at_mut(strip.rows * strip.stride());
            for (p, changes) in group.clone().zip(changes.chunks_exact_mut(weights.len())) {
                average(self.level, weights, changes);
                if band.writes.has(p) {
                    self.write::<T>(&input, &strip, (p, y), (own, changes), alpha, band);
                }
            }
        }
    }

    /// Reads the samples of a strip that begins with row `y`, and those around it, from the planes from `first` on.
    fn read<T: ConvertF32>(
        &self,
        picture: &FrameRef<'_>,
        strip: &Strip,
        (first, y): (usize, usize),
        out: &mut [f32],
        alpha: &mut [f64],
    ) {
        let (height, reach) = (picture.plane(first).height(), strip.reach as isize);
        for i in -reach..strip.rows as isize + reach {
            let from = mirrored(y as isize + i, height);
            let straight = self.premultiplied().map(|a| {
                mean_alpha(&self.format, picture.plane(a), first, from, alpha);
                &*alpha
            });
            for p in 0..strip.planes {
                let row = &mut out[strip.row(p, i)..][..strip.stride()];
                let (own, samples) =
                    (&mut row[MARGIN..][..strip.width], picture.plane(first + p).row::<T>(from));
                let zero = straight.map_or(0, |_| Code::of(&self.format, first + p).zero);
                to_f32(self.level, samples, zero as f32, own);
                if let Some(alpha) = straight {
                    own.iter_mut().zip(alpha).for_each(|(v, a)| *v = (f64::from(*v) / a) as f32);
                }
                if self.format.depth == Depth::Float || straight.is_some() {
                    own.iter_mut().filter(|v| !v.is_finite()).for_each(|v| *v = UNLIKE);
                }
                row[..MARGIN].fill(0.0);
                row[MARGIN + strip.width..].fill(0.0);
                for x in (1..=reach).flat_map(|x| [-x, strip.width as isize - 1 + x]) {
                    row[MARGIN.wrapping_add_signed(x)] = row[MARGIN + mirrored(x, strip.width)];
                }
            }
        }
    }

    /// Writes the changed samples of plane `p`, from row `y` on.
    fn write<T: ConvertF32>(
        &self,
        input: &FrameRef<'_>,
        strip: &Strip,
        (p, y): (usize, usize),
        (own, changes): (&[f32], &mut [f32]),
        alpha: &mut [f64],
        band: &mut Band<'_>,
    ) {
        let nth = p - self.group(p).start;
        let (from, to) = (input.plane(p), band.output.plane_mut(p));
        let low = if self.format.is_chroma(p) { -0.5 } else { 0.0 };
        let (scale, code) =
            (PremultipliedScale::new(&self.format, p, (low, low + 1.0)), Code::of(&self.format, p));
        for (i, changes) in changes.chunks_exact_mut(strip.stride()).enumerate() {
            let own = &own[strip.row(nth, i as isize) + MARGIN..][..strip.width];
            let (changes, y) = (&mut changes[MARGIN..][..strip.width], y + i);
            let (before, after) = (from.row::<T>(y), to.row_mut::<T>(y));
            after.copy_from_slice(before);
            let Some(a) = self.premultiplied() else {
                changes.iter_mut().zip(own).for_each(|(change, own)| *change += own);
                from_f32(self.level, changes, 0.0, (0.0, 65535.0), after);
                continue;
            };
            mean_alpha(&self.format, input.plane(a), p, y, alpha);
            for ((after, change), alpha) in after.iter_mut().zip(changes).zip(&*alpha) {
                if *change != 0.0 {
                    let value = scale.value(*after) + f64::from(*change) / f64::from(code.span) * alpha;
                    *after = scale.sample(*after, value, *alpha);
                }
            }
        }
    }

    /// The plane of alpha with which colour is multiplied.
    fn premultiplied(&self) -> Option<usize> {
        self.format.alpha_plane().filter(|_| self.format.alpha == Alpha::Premultiplied)
    }
}

/// The place of a sample beyond the edges of `len` samples: mirrored at the first and the last, which are not repeated.
fn mirrored(i: isize, len: usize) -> usize {
    let last = len as isize - 1;
    let inside = if i > last { 2 * last - i } else { i.abs() };
    inside.clamp(0, last) as usize
}

#[cfg(test)]
mod tests;
