//! Masks: where a filter applies. A mask is a grey picture of 16 bits, made by filters like any other picture: drawn,
//! read from a second input, or keyed from the picture itself, then blurred and inverted.

use super::blur::Blur;
use super::convert::multiply;
use super::point::{key, mean_alpha, weights};
use super::rgb::ThroughRgb;
use super::second::{Second, part};
use super::transform::{Mover, Placement, Resampler};
use super::{Band, Filter, Memory, Plan, Reach, Render};
use crate::for_depth;
use crate::frame::{
    Alpha, ColorRange, Depth, Family, Format, Frame, FrameMut, FrameRef, FrameTime, PlaneSet, Scratch,
    SecondInput,
};
use crate::host::{Host, PrepareError};
use crate::pixel::f32_rows::to_f32;
use crate::pixel::resample::{Edge, InterpolationKernel};
use crate::pixel::transfer::TransferFunction;
use crate::settings::common::{
    MASK, MASK_AT, MASK_COLOR, MASK_FEATHER, MASK_HEIGHT, MASK_HIGH, MASK_INVERT, MASK_LOW, MASK_MAX_ASPECT,
    MASK_NEAR, MASK_ROUND, MASK_SOFT, MASK_WIDTH, WHERE, WHERE_OVER,
};
use crate::settings::{Animated, FileAsset, SettingError, Values};
use crate::simd::Level;
use std::sync::Arc;

/// The value of a sample where the filter applies fully.
pub const FULL: u16 = 65535;

/// The kind of a mask.
#[derive(Clone)]
enum Kind {
    Clip(Arc<dyn SecondInput>),
    Ellipse,
    Rectangle,
    Key(Measure),
}

/// What a key measures at each sample of the picture.
#[derive(Clone)]
enum Measure {
    Alpha,
    Luma,
    Color,
    Change(Arc<dyn SecondInput>),
}

impl Kind {
    fn of(common: &Values) -> Result<Option<Kind>, SettingError> {
        let (mask, change): (Option<FileAsset>, Option<FileAsset>) = (common.read(MASK), common.read(WHERE));
        let clip = |setting, file: &FileAsset| {
            let clip = file.require::<Arc<dyn SecondInput>>().cloned();
            clip.map_err(|e| SettingError::new(setting, e))
        };
        Ok(match (mask, change) {
            (None, None) => None,
            (Some(_), Some(_)) => {
                return Err(SettingError::new(
                    WHERE,
                    "it is a mask of its own: give only one of `mask` and `where`",
                ));
            }
            (None, Some(file)) => Some(Kind::Key(Measure::Change(clip(WHERE, &file)?))),
            (Some(file), None) => Some(match file.name() {
                "ellipse" => Kind::Ellipse,
                "rectangle" => Kind::Rectangle,
                "alpha" => Kind::Key(Measure::Alpha),
                "luma" => Kind::Key(Measure::Luma),
                "color" => Kind::Key(Measure::Color),
                _ => Kind::Clip(clip(MASK, &file)?),
            }),
        })
    }
}

/// The filters that make a mask.
pub struct Matte {
    /// The filters in order. The results of all have the [`format`](self::format()) of masks.
    pub filters: Vec<Box<dyn Filter>>,
    /// Whether the first begins with the picture before the step, and not with a mask of arbitrary contents.
    pub reads_picture: bool,
    /// Whether all frames have the same mask.
    pub is_constant: bool,
}

/// The format of masks for pictures of a format.
pub fn format(picture: &Format) -> Format {
    Format {
        family: Family::Gray,
        depth: Depth::Bits(16),
        subsampling: (0, 0),
        range: ColorRange::Full,
        alpha: Alpha::None,
        ..*picture
    }
}

/// The mask of a step for pictures of a format (frames or fields), from its common settings; `None` if it has none.
///
/// # Errors
/// A file has not been read, or does not fit the picture.
pub fn bind(common: &Values, picture: &Format, level: Level) -> Result<Option<Matte>, SettingError> {
    let Some(kind) = Kind::of(common)? else { return Ok(None) };
    let mask = format(picture);
    let mut filters: Vec<Box<dyn Filter>> = Vec::new();
    let (place, feather) = (Place::of(common), common.read::<Animated>(MASK_FEATHER));
    let mut is_constant = place.is_constant() && feather.constant().is_some();
    let reads_picture = matches!(kind, Kind::Key(_));
    match kind {
        Kind::Key(measure) => filters.push(Key::new(measure, common, picture, level)?.boxed()),
        Kind::Clip(clip) => {
            let clip = Second::new(clip, picture, level).map_err(|e| SettingError::new(MASK, e))?;
            let clip = clip.paired(common.details());
            let luma = luma_weights(clip.input_format())?[0];
            let shown = Shown { clip, format: mask, luma };
            is_constant &= shown.clip.is_still();
            filters.push(shown.boxed());
            let resampler = Resampler::new(&mask, level, InterpolationKernel::Bicubic, Edge::Color)?;
            let at = move |at: &FrameTime| (place.placement(&mask, at), [0.0, 0.0, 0.0, 1.0]);
            filters.push(Mover { resampler, farthest: 1.0 / MIN_SIZE, at }.boxed());
        }
        Kind::Ellipse | Kind::Rectangle => {
            let is_ellipse = matches!(kind, Kind::Ellipse);
            filters.push(Shape { place, is_ellipse, format: mask }.boxed());
        }
    }
    if feather.constant() != Some(0.0) {
        filters.push(Blur::animated(&mask, feather, level).boxed());
    }
    if common.read(MASK_INVERT) {
        filters.push(Inverted.boxed());
    }
    Ok(Some(Matte { filters, reads_picture, is_constant }))
}

/// The sample of a weight from 0 to 1; 0 for one that is not a number.
fn sample_of(weight: f32) -> u16 {
    (weight * f32::from(FULL) + 0.5) as u16
}

/// The weights of G, B and R in luma, U and V.
fn luma_weights(format: &Format) -> Result<[[f32; 3]; 3], SettingError> {
    Ok(weights(format)?.to_yuv().map(|row| row.map(|w| w as f32)))
}

/// The smallest size of a placed mask, as a fraction of the picture's.
const MIN_SIZE: f64 = 0.01;

/// Where a mask lies in the picture.
struct Place {
    at: Animated<[f64; 2]>,
    size: [Animated; 2],
    max_aspect: Option<f64>,
    round: Animated,
}

impl Place {
    fn of(common: &Values) -> Place {
        let size = [common.read(MASK_WIDTH), common.read(MASK_HEIGHT)];
        let (at, max_aspect) = (common.read(MASK_AT), common.read(MASK_MAX_ASPECT));
        Place { at, size, max_aspect, round: common.read(MASK_ROUND) }
    }

    fn is_constant(&self) -> bool {
        let mut numbers = self.size.iter().chain([&self.round]);
        self.at.constant().is_some() && numbers.all(|number| number.constant().is_some())
    }

    /// The centre and half of the size, in luma samples of the frame.
    fn area(&self, format: &Format, at: &FrameTime) -> ([f64; 2], [f64; 2]) {
        let frame = [f64::from(format.width), f64::from(format.height)];
        let (at, size) = (self.at.at(at), [self.size[0].at(at), self.size[1].at(at)]);
        let mut half = [0, 1].map(|i: usize| 0.5 * size[i].max(MIN_SIZE) * frame[i]);
        if let Some(aspect) = self.max_aspect {
            half[0] = half[0].min(aspect * half[1] / format.shape()).max(0.5 * MIN_SIZE * frame[0]);
        }
        ([0, 1].map(|i| at[i] * frame[i]), half)
    }

    fn placement(&self, format: &Format, at: &FrameTime) -> Placement {
        let frame = [f64::from(format.width), f64::from(format.height)];
        let (centre, half) = self.area(format, at);
        let scale = [0, 1].map(|i| 0.5 * frame[i] / half[i]);
        let shift = [0, 1].map(|i| 0.5 * frame[i] - scale[i] * centre[i]);
        Placement { matrix: [[scale[0], 0.0], [0.0, scale[1]]], shift, ..Placement::SAME }
    }
}

/// The luma of a second input, times its alpha.
struct Shown {
    clip: Second,
    format: Format,
    /// The weights of G, B and R in luma.
    luma: [f32; 3],
}

impl Render for Shown {
    type Params = i64;
    type State = Option<Frame>;

    fn at(&self, at: &FrameTime) -> Option<(Plan, i64)> {
        let place = self.clip.place_at(at);
        Some((Plan { state: Some(key(&[place as f64])), ..Plan::in_place(PlaneSet::one(0)) }, place))
    }

    fn memory(&self) -> Memory {
        Memory { fixed: 0, per_frame: self.clip.memory() }
    }

    fn second(&self, at: &FrameTime) -> Option<(&dyn SecondInput, i64)> {
        Some((self.clip.input(), self.clip.place_at(at)))
    }

    fn prepare(&self, place: &i64, _: Option<Frame>, host: &Host<'_>) -> Result<Option<Frame>, PrepareError> {
        host.check()?;
        self.clip.picture(*place).map(Some)
    }

    fn render(&self, _: &i64, picture: &Option<Frame>, band: &mut Band<'_>, _: &mut Scratch) {
        let Some(picture) = picture else { return };
        let from = part(picture, &self.format);
        let to = band.output.plane_mut(0);
        for y in to.rows() {
            let [g, b, r] = [0, 1, 2].map(|p| from.plane(p).row::<f32>(y));
            for (x, sample) in to.row_mut::<u16>(y).iter_mut().enumerate() {
                *sample = sample_of(self.luma[0] * g[x] + self.luma[1] * b[x] + self.luma[2] * r[x]);
            }
        }
    }
}

/// A drawn ellipse or rectangle.
struct Shape {
    place: Place,
    is_ellipse: bool,
    format: Format,
}

impl Render for Shape {
    /// The centre and half of the size, and the radius of the corners.
    type Params = ([f64; 2], [f64; 2], f64);
    type State = ();

    fn at(&self, at: &FrameTime) -> Option<(Plan, Self::Params)> {
        let (centre, half) = self.place.area(&self.format, at);
        let shorter = half[1].min(half[0] * self.format.shape());
        Some((Plan::in_place(PlaneSet::one(0)), (centre, half, shorter * self.place.round.at(at))))
    }

    fn render(&self, &(centre, half, radius): &Self::Params, (): &(), band: &mut Band<'_>, _: &mut Scratch) {
        // The positions of samples in the frame, also for rows of a field.
        let (first, step) = self.format.frame_sites(0);
        let to = band.output.plane_mut(0);
        for y in to.rows() {
            let v = first[1] + step[1] * y as f64 - centre[1];
            for (x, sample) in to.row_mut::<u16>(y).iter_mut().enumerate() {
                let u = first[0] + x as f64 - centre[0];
                let covered = if self.is_ellipse {
                    ellipse([u, v], half)
                } else {
                    rectangle([u, v], half, radius, self.format.shape())
                };
                *sample = sample_of(covered as f32);
            }
        }
    }
}

/// The part of a sample at a distance from the centre that a rectangle covers, whose corners have a radius in rows.
/// `shape`: the width of a sample in rows.
fn rectangle(at: [f64; 2], half: [f64; 2], radius: f64, shape: f64) -> f64 {
    // From the centre of the circle in the corner.
    let corner = [shape * (at[0].abs() - half[0]) + radius, at[1].abs() - half[1] + radius];
    if corner[0] > 0.0 && corner[1] > 0.0 && radius > 0.0 {
        let distance = (corner[0] * corner[0] + corner[1] * corner[1]).sqrt();
        return (0.5 + radius - distance).clamp(0.0, 1.0);
    }
    let part = |i: usize| ((at[i] + 0.5).min(half[i]) - (at[i] - 0.5).max(-half[i])).clamp(0.0, 1.0);
    part(0) * part(1)
}

/// The part of a sample that an ellipse covers, from the distance to its edge along the gradient.
fn ellipse(at: [f64; 2], half: [f64; 2]) -> f64 {
    let [u, v] = [at[0] / half[0], at[1] / half[1]];
    let radius = (u * u + v * v).sqrt();
    let [gu, gv] = [u / half[0], v / half[1]];
    let gradient = (gu * gu + gv * gv).sqrt();
    // In the centre there is no gradient.
    if gradient == 0.0 { 1.0 } else { (0.5 + (1.0 - radius) * radius / gradient).clamp(0.0, 1.0) }
}

/// Inverts a mask.
struct Inverted;

impl Render for Inverted {
    type Params = ();
    type State = ();

    fn at(&self, _: &FrameTime) -> Option<(Plan, ())> {
        Some((Plan::in_place(PlaneSet::one(0)), ()))
    }

    fn render(&self, (): &(), (): &(), band: &mut Band<'_>, _: &mut Scratch) {
        let to = band.output.plane_mut(0);
        to.rows().for_each(|y| to.row_mut::<u16>(y).iter_mut().for_each(|v| *v = FULL - *v));
    }
}

/// A mask from the colours of the picture.
struct Key {
    measure: Measure,
    /// The second input of [`Measure::Change`].
    clean: Option<Second>,
    range: [Animated; 2],
    color: Animated<[f64; 4]>,
    near: Animated,
    soft: Animated,
    over: Animated,
    /// Averages the squares of differences.
    blur: Blur,
    squares: Format,
    format: Format,
    level: Level,
    rgb: ThroughRgb,
    yuv: [[f32; 3]; 3],
}

/// The parameters of a key at a time.
struct KeyNow {
    /// The picture of the second input.
    place: i64,
    /// The lower and upper end of the range of the measure in which the mask is full.
    range: [f32; 2],
    /// The distance from the range at which it is empty.
    soft: f32,
    /// U and V of the colour.
    color: [f32; 2],
    sigmas: Option<Vec<[f64; 2]>>,
    reach: usize,
}

/// Standard deviation, in samples of a picture 1920 wide, of the Gaussian by which squared differences are averaged.
const CHANGE_SIGMA: f64 = 3.0;

impl Key {
    fn new(measure: Measure, common: &Values, format: &Format, level: Level) -> Result<Key, SettingError> {
        if matches!(measure, Measure::Alpha) && format.alpha_plane().is_none() {
            return Err(SettingError::new(MASK, format!("{} has no alpha", format.name())));
        }
        let range: [Animated; 2] = [common.read(MASK_LOW), common.read(MASK_HIGH)];
        if let [Some(low), Some(high)] = [range[0].constant(), range[1].constant()]
            && low > high
        {
            let problem =
                format!("{low} is above {MASK_HIGH}={high}: give a lower one, or {MASK_INVERT}=true");
            return Err(SettingError::new(MASK_LOW, problem));
        }
        let rgb = ThroughRgb::new(format, level)?;
        let mut clean = None;
        if let Measure::Change(clip) = &measure {
            let own = clip.format().map_err(|e| SettingError::new(WHERE, e))?;
            if (own.width, own.height) != (format.width, format.height) {
                let problem = format!(
                    "it has {} x {} samples and the picture {} x {}: give the picture before the change in the same size",
                    own.width, own.height, format.width, format.height
                );
                return Err(SettingError::new(WHERE, problem));
            }
            let second = Second::new(Arc::clone(clip), format, level);
            clean = Some(second.map_err(|e| SettingError::new(WHERE, e))?.paired(common.details()));
        }
        let squares = Format { family: Family::Gray, alpha: Alpha::None, ..rgb.rgb };
        Ok(Key {
            measure,
            clean,
            range,
            color: common.read(MASK_COLOR),
            near: common.read(MASK_NEAR),
            soft: common.read(MASK_SOFT),
            over: common.read(WHERE_OVER),
            blur: Blur::gaussian(&squares, level),
            squares,
            format: *format,
            level,
            rgb,
            yuv: luma_weights(format)?,
        })
    }

    /// The measure of a row of straight G, B and R.
    fn measure(&self, now: &KeyNow, [g, b, r]: [&[f32]; 3], out: &mut [f32]) {
        let mix = |w: [f32; 3], x: usize| w[0] * g[x] + w[1] * b[x] + w[2] * r[x];
        for (x, out) in out.iter_mut().enumerate() {
            *out = match self.measure {
                Measure::Color => {
                    let d = [1, 2].map(|i: usize| mix(self.yuv[i], x) - now.color[i - 1]);
                    (d[0] * d[0] + d[1] * d[1]).sqrt()
                }
                _ => mix(self.yuv[0], x),
            };
        }
    }

    /// The root of the mean square of the differences from the clean picture around each sample of the rows of `out`: of
    /// products with alpha, as displayed, because the same step of linear light is visible in shadows only.
    fn changes(
        &self,
        now: &KeyNow,
        input: FrameRef<'_>,
        clean: &Frame,
        out: &mut FrameMut<'_>,
        scratch: &mut Scratch,
    ) {
        let rows = out.plane(0).rows();
        let height = self.squares.plane_size(0).1;
        let wide = rows.start.saturating_sub(now.reach)..(rows.end + now.reach).min(height);
        let (mut rgb, scratch) = scratch.picture(self.rgb.rgb, &wide);
        self.rgb.read(input, rgb.reborrow(), scratch);
        let clean = part(clean, &self.format);
        let (mut squares, scratch) = scratch.picture(self.squares, &wide);
        let is_linear = TransferFunction::of(&self.format) == TransferFunction::Linear;
        let is_straight = self.format.alpha == Alpha::Straight;
        let ([other, alpha], scratch) = scratch.buffers_and_rest::<f32, 2>([self.format.width as usize; 2]);
        let ([means], scratch) = scratch.buffers_and_rest::<f64, 1>([self.format.width as usize]);
        for y in wide {
            let row = squares.plane_mut(0).row_mut::<f32>(y);
            row.fill(0.0);
            if let Some(a) = self.format.alpha_plane() {
                mean_alpha(&self.format, input.plane(a), 0, y, means);
                alpha.iter_mut().zip(&*means).for_each(|(alpha, mean)| *alpha = *mean as f32);
            }
            for p in 0..3 {
                let own = rgb.plane_mut(p).row_mut::<f32>(y);
                other.copy_from_slice(clean.plane(p).row(y));
                if self.format.has_alpha() {
                    multiply(own, alpha, is_straight);
                }
                for (a, b) in own.iter_mut().zip(&mut *other) {
                    if !(a.is_finite() && b.is_finite()) {
                        (*a, *b) = (0.0, 0.0);
                    }
                }
                if is_linear {
                    TransferFunction::Srgb.encode(self.level, own);
                    TransferFunction::Srgb.encode(self.level, other);
                }
                for ((sum, a), b) in row.iter_mut().zip(&*own).zip(&*other) {
                    let d = a - b;
                    *sum += if d.is_finite() { d * d } else { 0.0 };
                }
            }
        }
        match &now.sigmas {
            Some(sigmas) => {
                let (input, writes) = (Some(squares.as_ref()), PlaneSet::one(0));
                let mut band = Band { rows: rows.clone(), input, output: out.reborrow(), writes };
                self.blur.render(sigmas, &(), &mut band, scratch);
            }
            None => rows
                .clone()
                .for_each(|y| out.plane_mut(0).row_mut::<f32>(y).copy_from_slice(squares.plane(0).row(y))),
        }
        for y in rows {
            out.plane_mut(0).row_mut::<f32>(y).iter_mut().for_each(|v| *v = (*v * (1.0 / 3.0)).sqrt());
        }
    }
}

impl Render for Key {
    type Params = KeyNow;
    type State = Option<Frame>;

    fn at(&self, at: &FrameTime) -> Option<(Plan, KeyNow)> {
        let place = self.clean.as_ref().map_or(0, |clean| clean.place_at(at));
        let [r, g, b, _] = self.color.at(at).map(|v| v as f32);
        let color = [1, 2].map(|i: usize| self.yuv[i][0] * g + self.yuv[i][1] * b + self.yuv[i][2] * r);
        let over = (self.over.at(at) / 255.0).max(1e-5) as f32;
        let [low, high] = [0, 1].map(|i: usize| self.range[i].at(at) as f32);
        let (range, soft) = match self.measure {
            Measure::Color => ([0.0, self.near.at(at) as f32], self.soft.at(at) as f32),
            Measure::Change(_) => ([2.0 * over, f32::MAX], over),
            Measure::Luma | Measure::Alpha => ([low, high], self.soft.at(at) as f32),
        };
        let blur = self
            .clean
            .as_ref()
            .and_then(|_| self.blur.of_sigma(CHANGE_SIGMA * f64::from(self.format.width) / 1920.0));
        let reach = match blur.as_ref().map(|(plan, _)| plan.reach) {
            Some(Reach::Rows(rows)) => rows as usize,
            _ => 0,
        };
        let mut plan = Plan::in_place(PlaneSet::one(0));
        plan.reach = Reach::Rows(self.rgb.reach() + reach as u32);
        plan.extra_rows = 2 * reach as u32;
        plan.state = self.clean.as_ref().map(|_| key(&[place as f64]));
        let soft = soft.max(1e-6);
        Some((plan, KeyNow { place, range, soft, color, sigmas: blur.map(|blur| blur.1), reach }))
    }

    fn memory(&self) -> Memory {
        let pictures = 3 * Scratch::picture_bytes(&self.rgb.rgb, self.format.height as usize);
        let clean = self.clean.as_ref().map_or(0, Second::memory);
        let rows = 16 * self.format.width as usize + 192;
        let per_frame = pictures + clean + self.blur.memory().per_frame + self.rgb.memory() + rows;
        Memory { fixed: 0, per_frame }
    }

    fn second(&self, at: &FrameTime) -> Option<(&dyn SecondInput, i64)> {
        self.clean.as_ref().map(|clean| (clean.input(), clean.place_at(at)))
    }

    fn prepare(
        &self,
        now: &KeyNow,
        _: Option<Frame>,
        host: &Host<'_>,
    ) -> Result<Option<Frame>, PrepareError> {
        host.check()?;
        self.clean.as_ref().map(|clean| clean.picture(now.place)).transpose()
    }

    fn render(&self, now: &KeyNow, clean: &Option<Frame>, band: &mut Band<'_>, scratch: &mut Scratch) {
        let input = band.source();
        let rows = band.rows.clone();
        let (mut measured, scratch) = scratch.picture(self.squares, &rows);
        if let Some(clean) = clean {
            self.changes(now, input, clean, &mut measured, scratch);
        } else if let (Measure::Alpha, Some(alpha)) = (&self.measure, self.format.alpha_plane()) {
            let top = self.format.depth.bits().map_or(1.0, |_| f32::from(self.format.codes().1));
            for y in rows.clone() {
                let row = measured.plane_mut(0).row_mut::<f32>(y);
                for_depth!(self.format.depth, T => to_f32::<T>(self.level, input.plane(alpha).row(y), 0.0, row));
                row.iter_mut().for_each(|v| *v /= top);
            }
        } else {
            let (mut rgb, scratch) = scratch.picture(self.rgb.rgb, &rows);
            self.rgb.read(input, rgb.reborrow(), scratch);
            for y in rows.clone() {
                let planes = [0, 1, 2].map(|p| rgb.plane(p).row::<f32>(y));
                self.measure(now, planes, measured.plane_mut(0).row_mut(y));
            }
        }
        let [low, high] = now.range;
        let by = 1.0 / now.soft;
        for y in rows {
            let to = band.output.plane_mut(0).row_mut::<u16>(y);
            for (to, v) in to.iter_mut().zip(measured.plane(0).row::<f32>(y)) {
                let beyond = if *v < low { low - *v } else { *v - high };
                // Where the measure is NaN, the mask is empty.
                *to = sample_of(if beyond <= 0.0 { 1.0 } else { 1.0 - beyond * by });
            }
        }
    }
}
