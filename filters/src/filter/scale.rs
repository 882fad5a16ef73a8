//! `scale`: another size.
//!
//! Every sample of the output lies at a place of the input, whose frames cover the same area: luma and chroma at their
//! [sites](Format::frame_sites), each field at its own rows. The samples around it are weighted by the kernel: vertically,
//! rounded to 16 bits, then horizontally. When the picture is reduced, the kernel is wider in proportion, to avoid
//! aliasing. Beyond the edges, the outermost samples are repeated. The picture keeps its shape on the screen: the shape
//! of its samples changes instead ([`Format::aspect`]).
//!
//! The chain converts what has straight alpha to premultiplied R, G and B, so that transparent samples have no weight,
//! and for `light=linear` to linear light; and both back ([`Spec::working_format`]).

#[cfg(test)]
mod tests;

use super::convert::with_matrix_of;
use super::{Band, Entry, Filter, Memory, Plan, Reach, Render, Role, Spec};
use crate::frame::{Alpha, Depth, Family, FieldOrder, Format, FrameTime, MAX_SIDE, Scratch, Transfer};
use crate::pixel::resample::{Axis, InterpolationKernel, Kernel, Pass, Warp, Windows, convolve_rows};
use crate::ratio::Ratio;
use crate::settings::{SettingError, Values};
use crate::simd::Level;
use crate::{choices, for_depth, settings};

/// The catalog's entry.
pub const ENTRY: Entry =
    Entry::new::<ScaleSpec>("scale", "Scale", "Changes the size of the picture").with_role(Role::Moves);

settings! {
    struct ScaleSpec {
        /// New width in samples. 0, or left out: it follows from the height, so that shapes do not change, as an even
        /// number.
        width: i64 = integer(0..=MAX_SIDE as i64).default(0).soft(0.0..=3840.0),
        /// New height in rows. 0, or left out: it follows from the width; interlaced, in multiples of four.
        height: i64 = integer(0..=MAX_SIDE as i64).default(0).soft(0.0..=2160.0),
        /// What happens if both are given and have another ratio than the picture has.
        fit: Fit = choice("stretch"),
        /// Interpolation between samples. All but nearest average when they reduce the picture.
        kernel: InterpolationKernel = choice("bicubic"),
        /// Whether values are averaged, or light. Linear light keeps the brightness of fine detail.
        light: Light = choice("gamma"),
    }
}

choices! {
    enum Fit {
        /// the picture gets this size
        Stretch = "stretch",
        /// the picture keeps the ratio of its sides, and gets the largest size that is not larger
        Inside = "inside",
    }
}

choices! {
    enum Light {
        /// values, as most programs do
        Gamma = "gamma",
        /// light, by the picture's transfer characteristic
        Linear = "linear",
    }
}

impl ScaleSpec {
    /// Width and height of the output.
    fn size(&self, input: &Format) -> Result<(u32, u32), SettingError> {
        let (old, wanted) = ([input.width, input.height].map(u64::from), [self.width, self.height]);
        let wanted = wanted.map(|side| side as u64);
        let fields =
            matches!(input.fields, FieldOrder::TopFirst | FieldOrder::BottomFirst | FieldOrder::Mixed);
        // Whole chroma samples of 4:2:0 in any format, which encoders need, too.
        let blocks = [2, if fields { 4 } else { 2 }];
        // Side `i` from the other one, which is `from`: the nearest number of whole blocks, at least one.
        let follow = |i: usize, from: u64| {
            if from == old[1 - i] {
                return old[i];
            }
            let exact = (from * old[i], old[1 - i] * blocks[i]);
            ((2 * exact.0 + exact.1) / (2 * exact.1)).max(1) * blocks[i]
        };
        let [width, height] = match wanted {
            [0, 0] => old,
            [width, 0] => [width, follow(1, width)],
            [0, height] => [follow(0, height), height],
            [width, height] if self.fit == Fit::Stretch => [width, height],
            [width, height] if width * old[1] <= height * old[0] => [width, follow(1, width).min(height)],
            [width, height] => [follow(0, height).min(width), height],
        };
        let most = u64::from(MAX_SIDE);
        if width > most || height > most {
            let (setting, side) = if width > most { ("height", width) } else { ("width", height) };
            let problem = format!("the other side would be {side}, and the largest is {MAX_SIDE}: give both");
            return Err(SettingError::new(setting, problem));
        }
        Ok((width as u32, height as u32))
    }
}

impl Spec for ScaleSpec {
    fn bind(&self, input: &Format, _: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        self.size(input)?;
        bind(input, &self.output_format(input), self.kernel, level)
    }

    fn output_format(&self, input: &Format) -> Format {
        let (width, height) = self.size(input).unwrap_or((input.width, input.height));
        resized(input, width, height)
    }

    fn working_format(&self, input: &Format) -> Format {
        if self.kernel == InterpolationKernel::Nearest || self.output_format(input) == *input {
            return *input;
        }
        let linear = self.light == Light::Linear && input.transfer != Transfer::LINEAR;
        if !linear && input.alpha != Alpha::Straight {
            return *input;
        }
        let transfer = if linear { Transfer::LINEAR } else { input.transfer };
        Format { transfer, ..products(input) }
    }

    fn check(&mut self, _: &Values) -> Result<(), SettingError> {
        if (self.width, self.height) == (0, 0) {
            let problem = "the new size is missing: give width, height or both, as in scale=width=1280";
            return Err(SettingError::new("width", problem));
        }
        Ok(())
    }
}

/// The format of the same pictures as float R, G and B, or grey, multiplied by alpha if there is one: products can be
/// averaged without a rim of what is transparent.
pub(super) fn products(input: &Format) -> Format {
    let rgb = input.float_rgb(if input.has_alpha() { Alpha::Premultiplied } else { Alpha::None });
    let gray = input.family == Family::Gray;
    let (family, matrix) = if gray { (input.family, input.matrix) } else { (rgb.family, rgb.matrix) };
    Format { family, matrix, ..rgb }
}

/// The format of a picture of another size that covers the same area.
pub(super) fn resized(input: &Format, width: u32, height: u32) -> Format {
    let mut output = Format { width, height, ..*input };
    if input.aspect > Ratio::ZERO {
        let ratio = |a: u32, b: u32| Ratio::new(a.into(), b.into()).unwrap_or(Ratio::ONE);
        output.aspect = input.aspect * ratio(input.width, width) * ratio(height, input.height);
    }
    with_matrix_of(input, output)
}

/// Binds a resampler between two formats that differ in size only; premultiplied colour, and values as they are.
///
/// # Errors
/// The input has no samples for a plane of the output.
pub(super) fn bind(
    from: &Format,
    to: &Format,
    kernel: InterpolationKernel,
    level: Level,
) -> Result<Box<dyn Filter>, SettingError> {
    let empty = |f: &Format, p| {
        let (width, height) = f.plane_size(p);
        width == 0 || height == 0
    };
    if (0..from.planes()).any(|p| empty(from, p) && !empty(to, p)) {
        let problem =
            format!("{} rows have no chroma in the bottom field, so it cannot be scaled", from.height);
        return Err(SettingError::new("", problem));
    }
    Ok(for_depth!(from.depth, T => Resize::<T>::new(from, to, kernel, level).boxed()))
}

/// The tables of planes whose samples lie alike.
struct Grid<T: Warp> {
    across: Windows<T::Sum>,
    down: Axis<T::Sum>,
}

struct Resize<T: Warp> {
    from: Format,
    to: Format,
    level: Level,
    grids: Vec<Grid<T>>,
    /// The grid of each plane.
    of_plane: [usize; 4],
}

impl<T: Warp> Resize<T> {
    fn new(from: &Format, to: &Format, kernel: InterpolationKernel, level: Level) -> Resize<T> {
        let mut resize = Resize { from: *from, to: *to, level, grids: Vec::new(), of_plane: [0; 4] };
        for p in 0..from.planes() {
            let known = (0..p).find(|&q| from.sites(q) == from.sites(p) && to.sites(q) == to.sites(p));
            resize.of_plane[p] = known.map_or(resize.grids.len(), |q| resize.of_plane[q]);
            if known.is_none() {
                resize.grids.push(Grid::new(from, to, kernel, p));
            }
        }
        resize
    }
}

impl<T: Warp> Grid<T> {
    fn new(from: &Format, to: &Format, kernel: InterpolationKernel, p: usize) -> Grid<T> {
        let across = Windows::new::<T>(axis::<T>(from, to, kernel, p, 0), from.plane_size(p).0);
        Grid { across, down: axis::<T>(from, to, kernel, p, 1) }
    }
}

/// The windows of plane `p` across (0) or down (1), between two formats that differ in size, sites and depth only.
pub(super) fn axis<T: Kernel>(
    from: &Format,
    to: &Format,
    kernel: InterpolationKernel,
    p: usize,
    i: usize,
) -> Axis<T::Sum> {
    let ratio =
        [(from.width, to.width), (from.height, to.height)].map(|(a, b)| f64::from(a) / f64::from(b))[i];
    let ((old, old_step), (new, new_step)) = (from.frame_sites(p), to.frame_sites(p));
    let [len, count] = [from, to].map(|f| <[usize; 2]>::from(f.plane_size(p))[i]);
    let place = |n: usize| ((new[i] + n as f64 * new_step[i]) * ratio - old[i]) / old_step[i];
    Axis::new::<T>(kernel, (0..count).map(place), new_step[i] * ratio / old_step[i], len)
}

impl<T: Warp> Render for Resize<T> {
    type Params = ();
    type State = ();

    fn at(&self, _: &FrameTime) -> Option<(Plan, ())> {
        let plan = Plan { reach: Reach::Whole, ..Plan::in_place(self.to.all_planes()) };
        (self.from != self.to).then_some((plan, ()))
    }

    fn memory(&self) -> Memory {
        let grids = self.grids.iter();
        let tables = grids.map(|g| g.across.bytes() + g.down.at.len() * (8 + 4 * g.down.taps)).sum();
        let width = self.from.width.max(self.to.width) as usize;
        Memory { fixed: tables, per_frame: 8 * (width + Windows::<T::Sum>::ROOM) + 128 }
    }

    fn render(&self, (): &(), (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
        let input = band.source();
        let bits = self.from.depth.bits().unwrap_or(0);
        for p in band.writes.iter().filter(|&p| p < self.to.planes()) {
            let Grid { across, down } = &self.grids[self.of_plane[p]];
            let (plane, output) = (input.plane(p), band.output.plane_mut(p));
            let ((width, _), (new_width, _)) = (self.from.plane_size(p), self.to.plane_size(p));
            let lens = [width.max(new_width), width + Windows::<T::Sum>::ROOM];
            let [acc, wide] = scratch.buffers::<u32, 2>(lens);
            let acc: &mut [T::Sum] = bytemuck::cast_slice_mut(acc);
            let wide = &mut bytemuck::cast_slice_mut::<u32, T::Wide>(wide)[..lens[1]];
            for y in output.rows() {
                let (top, weights) = down.window(y);
                let row = |k: usize| plane.row::<T>(top + k);
                let to = (bits, Pass::Widen);
                convolve_rows(self.level, (&mut wide[..width], acc), weights, row, to);
                let out = output.row_mut::<T>(y);
                across.row(self.level, out, &mut acc[..new_width], wide, bits);
                // What is not finite comes from the nearest sample only.
                if self.from.depth == Depth::Float {
                    let near = plane.row::<T>(down.nearest[y] as usize);
                    for (out, &x) in out.iter_mut().zip(&across.axis.nearest) {
                        *out = if out.number().is_finite() { *out } else { near[x as usize] };
                    }
                }
            }
        }
    }
}
