//! `overlay`: a second picture, sequence or video over the picture.
//!
//! The clip is resampled to its place by the kernels of [`transform`](super::transform) and mixed in R, G and B at luma
//! resolution, by the formulas of [`Blend`], on colours that are multiplied by their alpha. Only differences are added to
//! the picture, so that samples under nothing keep their codes. What interpolation loses of subsampled chroma would stay
//! under the clip; it is removed in proportion to the clip's alpha, but for added light.

use super::convert::{divide, multiply};
use super::point::key;
use super::rgb::ThroughRgb;
use super::second::{Second, part};
use super::transform::{Placement, Resampler, turn};
use super::{Band, Entry, Filter, Memory, Plan, Reach, Render, Role, Spec};
use crate::frame::{
    Alpha, Depth, Format, Frame, FrameMut, FrameRef, FrameTime, PlaneSet, Scratch, SecondInput,
};
use crate::host::{Host, PrepareError};
use crate::particle::draw::{Blend, BlendSpace};
use crate::pixel::convert::Code;
use crate::pixel::f32_rows::{ConvertF32, from_f32, to_f32};
use crate::pixel::resample::{Edge, InterpolationKernel};
use crate::pixel::transfer::TransferFunction;
use crate::ratio::Ratio;
use crate::settings::{Animated, FileAsset, FileKind, SettingError, Unit};
use crate::simd::{Level, multiversion};
use crate::{choices, for_depth, settings};
use std::sync::Arc;

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<OverlaySpec>(
    "overlay",
    "Overlay",
    "Composites a second picture, sequence or video over the picture",
)
.with_role(Role::Covers);

settings! {
    struct OverlaySpec {
        /// Picture, image sequence or video, with or without alpha. A sequence follows at the rate of the source. Without a
        /// clip nothing is shown.
        file: Option<FileAsset> = file(FileKind::Clip),
        /// Blend mode.
        blend: Blend = choice("over"),
        /// Values in which the clip is mixed with the picture.
        light: BlendSpace = choice("gamma"),
        /// Position of the clip's middle, in fractions of the picture's width and height.
        position: Animated<[f64; 2]> = position(-9.0..=10.0).default([0.5; 2]).unit(Unit::Fraction).soft(0.0..=1.0),
        /// Magnification: at 1 the clip just fits into the picture.
        size: Animated = number(0.01..=100.0).default(1.0).soft(0.05..=4.0).logarithmic(),
        /// Rotates the clip clockwise.
        rotate: Animated = number(-36000.0..=36000.0).default(0.0).unit(Unit::Degrees).soft(-180.0..=180.0),
        /// Time of the source at which the clip begins.
        start: f64 = fixed(-1e6..=1e6).default(0.0).unit(Unit::Seconds).soft(0.0..=60.0).group("Time"),
        /// Time of the clip that is shown then.
        skip: f64 = fixed(0.0..=1e6).default(0.0).unit(Unit::Seconds).soft(0.0..=60.0).group("Time"),
        /// Speed of the clip: 0.5 is slow motion.
        speed: f64 = fixed(0.0..=1000.0).default(1.0).soft(0.0..=4.0).group("Time"),
        /// What follows the last picture of the clip.
        end: End = choice("hold").group("Time"),
    }
}

choices! {
    /// What follows the last picture.
    enum End {
        /// the last picture stays
        Hold = "hold",
        /// the clip begins again
        Loop = "loop",
        /// nothing is shown
        Stop = "stop",
    }
}

impl Spec for OverlaySpec {
    fn bind(&self, input: &Format, _: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let Some(file) = &self.file else { return Ok(Nothing.boxed()) };
        let clip = file.require::<Arc<dyn SecondInput>>().map_err(|e| SettingError::new("file", e))?;
        let clip = Second::new(Arc::clone(clip), input, level).map_err(|e| SettingError::new("file", e))?;
        let resampler = Resampler::new(clip.format(), level, InterpolationKernel::Bicubic, Edge::Color)?;
        // Alpha changes, so products with it are mixed as they are, and not divided by it on the way.
        let alpha = if input.has_alpha() { Alpha::Straight } else { Alpha::None };
        let colors = Format { alpha, ..*input };
        let rgb = ThroughRgb::adding(&colors, level)?;
        let subsampled = input.subsampling != (0, 0) && self.blend != Blend::Add;
        let interpolated = subsampled.then(|| ThroughRgb::new(&colors, level)).transpose()?;
        let curve = TransferFunction::of(input);
        Ok(ClipOverlay {
            set: self.clone(),
            clip,
            resampler,
            rgb,
            interpolated,
            curve,
            format: *input,
            level,
        }
        .boxed())
    }
}

/// The filter without a clip.
struct Nothing;

impl Render for Nothing {
    type Params = ();
    type State = ();

    fn at(&self, _: &FrameTime) -> Option<(Plan, ())> {
        None
    }

    fn render(&self, (): &(), (): &(), _: &mut Band<'_>, _: &mut Scratch) {}
}

struct ClipOverlay {
    set: OverlaySpec,
    clip: Second,
    resampler: Resampler,
    rgb: ThroughRgb,
    /// Interpolates chroma and averages it again.
    interpolated: Option<ThroughRgb>,
    curve: TransferFunction,
    format: Format,
    level: Level,
}

/// Seconds as a multiple of a microsecond.
fn seconds(v: f64) -> Ratio {
    Ratio::new(libm::round(v * 1e6) as i64, 1_000_000).unwrap_or(Ratio::ZERO)
}

impl ClipOverlay {
    /// The place of the picture that is shown at a time; `None` if there is none.
    fn place(&self, at: &FrameTime) -> Option<i64> {
        let since = at.whole_frame().time - seconds(self.set.start);
        if since < Ratio::ZERO {
            return None;
        }
        let mut time = seconds(self.set.skip) + since * seconds(self.set.speed);
        if let Some(end) = self.clip.end().filter(|end| time >= *end && *end > Ratio::ZERO) {
            match self.set.end {
                End::Hold => {}
                End::Loop => time = time - end * Ratio::whole(time.checked_div(end)?.floor()),
                End::Stop => return None,
            }
        }
        Some(self.clip.place(time))
    }

    /// The mapping of the picture's samples to those of the clip, which is stretched to the size of the picture.
    fn placement(&self, at: &FrameTime) -> Placement {
        let (own, format) = (self.clip.input_format(), &self.format);
        let frame = [f64::from(format.width), f64::from(format.height)];
        // Width over height of the clip, and of the picture, as displayed.
        let shown = |f: &Format| f64::from(f.width) * f.shape() / f64::from(f.height);
        let wider = shown(own) / shown(format);
        let fit = if wider > 1.0 { [1.0, 1.0 / wider] } else { [wider, 1.0] };
        let size = self.set.size.at(at);
        let (sin, cos) = turn(self.set.rotate.at(at));
        let aspect = format.shape();
        let by = [0, 1].map(|i: usize| 1.0 / (size * fit[i]));
        let matrix = [[by[0] * cos, by[0] * sin / aspect], [-by[1] * sin * aspect, by[1] * cos]];
        let middle = self.set.position.at(at);
        let shift = [0, 1].map(|i: usize| {
            0.5 * frame[i] - matrix[i][0] * middle[0] * frame[0] - matrix[i][1] * middle[1] * frame[1]
        });
        // Rounding must not move the exact centre.
        let same = matrix == Placement::SAME.matrix && middle == [0.5; 2];
        Placement { matrix, shift: if same { [0.0; 2] } else { shift }, ..Placement::SAME }
    }

    /// Alpha of the picture under the clip.
    fn alpha_after(&self, below: f32, a: f32) -> f32 {
        match self.set.blend {
            Blend::Over | Blend::Screen => below + a * (1.0 - below),
            Blend::Add => (below + a).min(1.0),
            Blend::Multiply => below,
        }
    }

    /// Replaces rows of `[r, g, b]` by the differences that the clip makes to them. `clip` has its colours and alpha,
    /// `alpha` that of the picture, if it has any. `room` is memory for three rows.
    fn mix(&self, [r, g, b]: [&mut [f32]; 3], clip: [&[f32]; 4], alpha: Option<&[f32]>, room: &mut [f32]) {
        let n = r.len();
        let (base, room) = room.split_at_mut(n);
        let (over, after) = room.split_at_mut(n);
        let linear = self.set.light == BlendSpace::Linear;
        let (straight, clips) = (self.format.alpha == Alpha::Straight, self.format.depth != Depth::Float);
        let [cg, cb, cr, a] = clip;
        for (row, color) in [(r, cr), (g, cg), (b, cb)] {
            base.copy_from_slice(row);
            let over = if linear {
                over.copy_from_slice(color);
                divide(over, a);
                self.curve.linearize(self.level, over);
                // Light without coverage, as of flames, stays.
                multiply(over, a, false);
                &*over
            } else {
                color
            };
            if let Some(alpha) = alpha.filter(|_| !straight && linear) {
                divide(row, alpha);
            }
            if linear {
                self.curve.linearize(self.level, row);
            }
            if let Some(alpha) = alpha.filter(|_| straight || linear) {
                multiply(row, alpha, straight);
            }
            blend(self.level, self.set.blend, row, over, a);
            if let Some(alpha) = alpha.filter(|_| straight || linear) {
                after
                    .iter_mut()
                    .zip(alpha)
                    .zip(a)
                    .for_each(|((to, below), a)| *to = self.alpha_after(*below, *a));
                divide(row, after);
            }
            if linear {
                self.curve.encode(self.level, row);
            }
            if alpha.is_some() && linear && !straight {
                multiply(row, after, false);
            }
            // Added light ends at white.
            let top = if clips && self.set.blend == Blend::Add { 1.0 } else { f32::MAX };
            difference(self.level, row, base, over, a, top);
        }
    }

    /// Removes the part of chroma that interpolation loses, which is in `input` and not in `same`, where the clip covers
    /// it.
    fn remove_lost<T: ConvertF32>(
        &self,
        clip: FrameRef<'_>,
        input: FrameRef<'_>,
        same: &FrameMut<'_>,
        band: &mut Band<'_>,
        room: &mut [f32],
    ) {
        let (sx, sy) = self.format.subsampling;
        for p in band.writes.iter().filter(|&p| p < self.format.planes() && self.format.is_chroma(p)) {
            let Code { zero, .. } = Code::of(&self.format, p);
            let legal = self.format.legal(p).map_or((0.0, 0.0), |(lo, hi)| (lo.into(), hi.into()));
            let to = band.output.plane_mut(p);
            for y in to.rows() {
                let rows = (y << sy)..((y + 1) << sy).min(clip.plane(3).height());
                let out = to.row_mut::<T>(y);
                let n = out.len();
                let (row, rest) = room.split_at_mut(n);
                let (sums, rest) = rest.split_at_mut(n);
                let (before, after) = rest.split_at_mut(n);
                let after = &mut after[..n];
                to_f32(self.level, out, zero as f32, row);
                to_f32(self.level, input.plane(p).row::<T>(y), 0.0, before);
                to_f32(self.level, same.plane(p).row::<T>(y), 0.0, after);
                sums.fill(0.0);
                rows.clone().for_each(|y| add_sums(self.level, sx, clip.plane(3).row(y), sums));
                let columns = [1 << sx, self.format.width as usize - ((n - 1) << sx)];
                let counts = columns.map(|columns| (rows.len() * columns) as f32);
                remove(self.level, counts, sums, before, after, row);
                from_f32(self.level, row, zero as f32, legal, out);
            }
        }
    }
}

impl Render for ClipOverlay {
    type Params = (i64, Placement);
    type State = Option<Frame>;

    fn at(&self, at: &FrameTime) -> Option<(Plan, Self::Params)> {
        let place = self.place(at)?;
        let placement = self.placement(at);
        let state = Some(placement.key() ^ key(&[place as f64]));
        let writes = match self.set.blend {
            Blend::Multiply => self.format.color_planes(),
            _ => self.format.all_planes(),
        };
        let reach = Reach::Rows(self.rgb.reach());
        Some((Plan { reach, state, ..Plan::in_place(writes) }, (place, placement)))
    }

    fn memory(&self) -> Memory {
        let rows = 5 * (self.format.width as usize + 64) * 4;
        Memory {
            fixed: 0,
            per_frame: 2 * self.clip.memory()
                + 2 * self.rgb.memory()
                + Scratch::picture_bytes(&self.format, self.format.height as usize)
                + self.resampler.memory(100.0)
                + rows,
        }
    }

    fn second(&self, at: &FrameTime) -> Option<(&dyn SecondInput, i64)> {
        Some((self.clip.input(), self.place(at)?))
    }

    fn prepare(
        &self,
        (place, placement): &Self::Params,
        _: Option<Frame>,
        host: &Host<'_>,
    ) -> Result<Option<Frame>, PrepareError> {
        host.check()?;
        let picture = self.clip.picture(*place)?;
        if *placement == Placement::SAME {
            return Ok(Some(picture));
        }
        let mut placed = Frame::new(*picture.format());
        let rows = 0..placed.format().height as usize;
        let plans = self.resampler.prepare(placement);
        let (input, output) = (Some(picture.as_ref()), placed.as_mut());
        let mut band = Band { rows, input, output, writes: PlaneSet::ALL };
        self.resampler.render(&(*placement, [0.0; 4]), &plans, &mut band, &mut Scratch::default());
        Ok(Some(placed))
    }

    fn render(&self, _: &Self::Params, picture: &Option<Frame>, band: &mut Band<'_>, scratch: &mut Scratch) {
        let (Some(picture), input) = (picture, band.source()) else { return };
        let picture = part(picture, &self.format);
        let width = self.format.width as usize;
        let top = self.format.depth.bits().map_or(1.0, |_| f32::from(self.format.codes().1));
        let ([own, rows], scratch) = scratch.buffers_and_rest::<f32, 2>([width, 4 * width]);
        let clip = |y: usize| [0, 1, 2, 3].map(|p| picture.plane(p).row::<f32>(y));
        let alpha = self.format.alpha_plane();
        let read_alpha = |a: usize, y: usize, out: &mut [f32]| {
            for_depth!(self.format.depth, T => to_f32::<T>(self.level, input.plane(a).row(y), 0.0, out));
            out.iter_mut().for_each(|v| *v /= top);
        };
        self.rgb.render(band, scratch, &mut |y: usize, _: &mut [f32], colors: [&mut [f32]; 3]| {
            if let Some(a) = alpha {
                read_alpha(a, y, own);
            }
            self.mix(colors, clip(y), alpha.map(|_| &*own), rows);
        });
        if let Some(through) = &self.interpolated {
            let (mut same, scratch) = scratch.picture(self.format, &band.rows);
            let mut of_same = Band {
                rows: band.rows.clone(),
                input: Some(input),
                output: same.reborrow(),
                writes: band.writes,
            };
            through.render(&mut of_same, scratch, |_, _, _| ());
            for_depth!(self.format.depth, T => self.remove_lost::<T>(picture, input, &same, band, rows));
        }
        let Some(a) = alpha.filter(|a| band.writes.has(*a)) else { return };
        for y in band.rows.clone() {
            read_alpha(a, y, own);
            own.iter_mut().zip(clip(y)[3]).for_each(|(own, a)| *own = self.alpha_after(*own, *a) * top);
            for_depth!(self.format.depth, T => {
                let to = band.output.plane_mut(a).row_mut::<T>(y);
                to.copy_from_slice(input.plane(a).row(y));
                from_f32::<T>(self.level, own, 0.0, (0.0, top), to);
            });
        }
    }
}

/// The row with the clip: `over` is a row of its colours times its alpha `a`.
#[inline(always)]
fn blend_body(blend: Blend, row: &mut [f32], over: &[f32], a: &[f32]) {
    let each = row.iter_mut().zip(over).zip(a);
    match blend {
        Blend::Over => each.for_each(|((v, c), a)| *v = c + *v * (1.0 - a)),
        Blend::Add => each.for_each(|((v, c), _)| *v += c),
        // Beyond white, where the formula would darken, the brighter of both.
        Blend::Screen => each.for_each(|((v, c), _)| {
            let most = if *v > *c { *v } else { *c };
            *v = if most > 1.0 { most } else { *v + c * (1.0 - *v) };
        }),
        Blend::Multiply => each.for_each(|((v, c), a)| *v = *v * (1.0 - a) + *v * c),
    }
}

/// What is more in `row` than in `base`: nothing where there is no clip. Values end at `top`, or at the base above it.
#[inline(always)]
fn difference_body(row: &mut [f32], base: &[f32], over: &[f32], a: &[f32], top: f32) {
    for (((v, base), c), a) in row.iter_mut().zip(base).zip(over).zip(a) {
        let top = if *base > top { *base } else { top };
        let more = if *v < top { *v } else { top } - base;
        *v = if *a == 0.0 && *c == 0.0 { 0.0 } else { more };
    }
}

/// Adds the sums of the samples that subsampling makes one of.
#[inline(always)]
fn add_sums_body(sx: u8, row: &[f32], sums: &mut [f32]) {
    match sx {
        0 => row.iter().zip(sums).for_each(|(v, sum)| *sum += v),
        // A constant length makes it a vector loop.
        1 => row.chunks(2).zip(sums).for_each(|(v, sum)| *sum += v.iter().sum::<f32>()),
        _ => row.chunks(1 << sx).zip(sums).for_each(|(v, sum)| *sum += v.iter().sum::<f32>()),
    }
}

/// Takes from `row` what `after` lacks of `before`, times the mean of sums of so many samples, the last of its own number.
#[inline(always)]
fn remove_body([count, last]: [f32; 2], sums: &[f32], before: &[f32], after: &[f32], row: &mut [f32]) {
    let end = row.len().saturating_sub(1);
    for (range, count) in [(0..end, count), (end..row.len(), last)] {
        let lost = before[range.clone()].iter().zip(&after[range.clone()]);
        for ((v, sum), (before, after)) in row[range.clone()].iter_mut().zip(&sums[range]).zip(lost) {
            *v -= sum / count * (before - after);
        }
    }
}

multiversion! {
    fn blend(level, blend: Blend, row: &mut [f32], over: &[f32], a: &[f32]) = blend_body;
    fn difference(level, row: &mut [f32], base: &[f32], over: &[f32], a: &[f32], top: f32) = difference_body;
    fn add_sums(level, sx: u8, row: &[f32], sums: &mut [f32]) = add_sums_body;
    fn remove(level, counts: [f32; 2], sums: &[f32], before: &[f32], after: &[f32], row: &mut [f32]) = remove_body;
}

#[cfg(test)]
mod tests;
