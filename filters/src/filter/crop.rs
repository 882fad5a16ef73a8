//! `crop` and `pad`: a part of the picture, and the picture on a larger one. Samples are copied, not resampled.
//!
//! Chroma samples and fields stay where they are, so the picture begins at a whole chroma sample, and in interlaced video
//! at a row of the same field. It may end anywhere.

#[cfg(test)]
mod tests;

use super::convert::with_matrix_of;
use super::point::{nominal, weights};
use super::{Band, Entry, Filter, Plan, Reach, Render, Role, Spec};
use crate::frame::{Alpha, FieldOrder, Format, FrameTime, MAX_SIDE, PictureStructure, Scratch};
use crate::pixel::convert::{Code, Coefficients};
use crate::pixel::resample::Kernel;
use crate::settings::{Animated, SettingError, Values};
use crate::simd::Level;
use crate::{for_depth, settings};
use core::marker::PhantomData;

/// The catalog's entry of crop.
pub const CROP: Entry =
    Entry::new::<CropSpec>("crop", "Crop", "Removes columns and rows at the edges").with_role(Role::Moves);

/// The catalog's entry of pad.
pub const PAD: Entry =
    Entry::new::<PadSpec>("pad", "Pad", "Adds a border of one colour").with_role(Role::Moves);

settings! {
    struct CropSpec {
        /// Columns to remove on the left: whole chroma samples, so an even number for 4:2:0.
        left: i64 = integer(0..=MAX_SIDE as i64).default(0).soft(0.0..=400.0),
        /// Columns to remove on the right: any number.
        right: i64 = integer(0..=MAX_SIDE as i64).default(0).soft(0.0..=400.0),
        /// Rows to remove at the top: whole chroma samples, of both fields.
        top: i64 = integer(0..=MAX_SIDE as i64).default(0).soft(0.0..=400.0),
        /// Rows to remove at the bottom: any number.
        bottom: i64 = integer(0..=MAX_SIDE as i64).default(0).soft(0.0..=400.0),
    }
}

settings! {
    struct PadSpec {
        /// Columns to add on the left: whole chroma samples, so an even number for 4:2:0.
        left: i64 = integer(0..=MAX_SIDE as i64).default(0).soft(0.0..=400.0),
        /// Columns to add on the right: any number.
        right: i64 = integer(0..=MAX_SIDE as i64).default(0).soft(0.0..=400.0),
        /// Rows to add at the top: whole chroma samples, of both fields.
        top: i64 = integer(0..=MAX_SIDE as i64).default(0).soft(0.0..=400.0),
        /// Rows to add at the bottom: any number.
        bottom: i64 = integer(0..=MAX_SIDE as i64).default(0).soft(0.0..=400.0),
        /// Width of the result, with the picture in the middle, instead of `left` and `right`. 0: as those say.
        width: i64 = integer(0..=MAX_SIDE as i64).default(0).soft(0.0..=3840.0),
        /// Height of the result, with the picture in the middle, instead of `top` and `bottom`. 0: as those say.
        height: i64 = integer(0..=MAX_SIDE as i64).default(0).soft(0.0..=2160.0),
        /// Colour of the border, with its alpha. Default: black; transparent in pictures with alpha.
        color: Animated<[f64; 4]> = colour().default([0.0; 4]),
    }
}

/// Columns and rows from which on a picture may begin: whole chroma blocks, of both fields.
fn blocks(format: &Format) -> [i64; 2] {
    let (sx, sy) = format.subsampling;
    let fields = matches!(format.fields, FieldOrder::TopFirst | FieldOrder::BottomFirst | FieldOrder::Mixed)
        || format.picture != PictureStructure::Frame;
    [1 << sx, (1 << sy) << u8::from(fields)]
}

/// Returns an error unless a side is whole blocks.
fn whole(setting: &'static str, value: i64, block: i64) -> Result<(), SettingError> {
    if value % block == 0 {
        return Ok(());
    }
    let (below, above) = (value / block * block, value / block * block + block);
    let problem = format!("{value} would split chroma samples or fields here: give {below} or {above}");
    Err(SettingError::new(setting, problem))
}

impl CropSpec {
    /// The size of the output.
    fn size(&self, input: &Format) -> Result<[u32; 2], SettingError> {
        let [x, y] = blocks(input);
        whole("left", self.left, x)?;
        whole("top", self.top, y)?;
        let side = |setting, size: u32, cut: i64, what| {
            let left = i64::from(size) - cut;
            if left > 0 {
                return Ok(left as u32);
            }
            Err(SettingError::new(
                setting,
                format!("this removes {cut} of {size} {what}: leave at least one"),
            ))
        };
        Ok([
            side("right", input.width, self.left + self.right, "columns")?,
            side("bottom", input.height, self.top + self.bottom, "rows")?,
        ])
    }
}

impl Spec for CropSpec {
    fn bind(&self, input: &Format, _: u64, _: Level) -> Result<Box<dyn Filter>, SettingError> {
        self.size(input)?;
        Ok(placed(
            *input,
            self.output_format(input),
            [-self.left, -self.top],
            Animated::Constant([0.0; 4]),
            None,
        ))
    }

    fn output_format(&self, input: &Format) -> Format {
        sized(input, self.size(input))
    }

    fn wants_16_bits(&self) -> bool {
        false
    }
}

impl PadSpec {
    /// The size of the output, and the place of the input in it.
    fn size(&self, input: &Format) -> Result<([u32; 2], [i64; 2]), SettingError> {
        let blocks = blocks(input);
        let side = |i: usize, old: u32, wanted: i64, names: [&'static str; 2], sides: [i64; 2]| {
            let old = i64::from(old);
            let (before, size) = match wanted {
                0 => (sides[0], old + sides[0] + sides[1]),
                wanted => ((wanted - old) / 2 / blocks[i] * blocks[i], wanted),
            };
            if size < old {
                let problem = format!("the picture has {old}: give as many or more, or crop it");
                return Err(SettingError::new(names[0], problem));
            }
            if size > MAX_SIDE.into() {
                let problem = format!("this makes {size}, and the most is {MAX_SIDE}");
                return Err(SettingError::new(names[1], problem));
            }
            whole(names[1], before, blocks[i])?;
            Ok((size as u32, before))
        };
        let across = side(0, input.width, self.width, ["width", "left"], [self.left, self.right])?;
        let down = side(1, input.height, self.height, ["height", "top"], [self.top, self.bottom])?;
        Ok(([across.0, down.0], [across.1, down.1]))
    }
}

impl Spec for PadSpec {
    fn bind(&self, input: &Format, _: u64, _: Level) -> Result<Box<dyn Filter>, SettingError> {
        let (_, at) = self.size(input)?;
        Ok(placed(*input, self.output_format(input), at, self.color.clone(), Some(weights(input)?)))
    }

    fn output_format(&self, input: &Format) -> Format {
        sized(input, self.size(input).map(|(size, _)| size))
    }

    fn check(&mut self, _: &Values) -> Result<(), SettingError> {
        for (setting, all, sides) in
            [("width", self.width, [self.left, self.right]), ("height", self.height, [self.top, self.bottom])]
        {
            if all > 0 && sides != [0; 2] {
                let problem = "this puts the picture in the middle: leave it out, or the two sides";
                return Err(SettingError::new(setting, problem));
            }
        }
        Ok(())
    }

    fn wants_16_bits(&self) -> bool {
        false
    }
}

/// The format of the output; that of the input for settings that are refused when they are bound.
fn sized(input: &Format, size: Result<[u32; 2], SettingError>) -> Format {
    let [width, height] = size.unwrap_or([input.width, input.height]);
    with_matrix_of(input, Format { width, height, ..*input })
}

fn placed(
    from: Format,
    to: Format,
    at: [i64; 2],
    color: Animated<[f64; 4]>,
    weights: Option<Coefficients>,
) -> Box<dyn Filter> {
    for_depth!(from.depth, T => Placed::<T> { from, to, at, color, weights, sample: PhantomData }.boxed())
}

/// The picture, or a part of it, at a place of another one.
struct Placed<T> {
    from: Format,
    to: Format,
    /// The luma sample of the output at which the input begins; negative if it begins outside.
    at: [i64; 2],
    color: Animated<[f64; 4]>,
    /// For the colour; `None` if it is not visible.
    weights: Option<Coefficients>,
    sample: PhantomData<T>,
}

impl<T: Kernel> Placed<T> {
    /// The colour as samples.
    fn samples(&self, [r, g, b, a]: [f64; 4]) -> [T; 4] {
        let Some(weights) = self.weights else { return [T::from_f64(0.0); 4] };
        let by = if self.to.alpha == Alpha::Premultiplied { a } else { 1.0 };
        let values = nominal(&self.to, weights, [r * by, g * by, b * by, a]);
        let top = self.to.depth.bits().map(|_| f64::from(self.to.codes().1));
        [0, 1, 2, 3].map(|p| {
            let code = Code::of(&self.to, p);
            let value = f64::from(code.zero) + values[p] * f64::from(code.span);
            T::from_f64(top.map_or(value, |top| value.clamp(0.0, top)))
        })
    }
}

impl<T: Kernel> Render for Placed<T> {
    type Params = [T; 4];
    type State = ();

    fn at(&self, at: &FrameTime) -> Option<(Plan, [T; 4])> {
        let plan = Plan { reach: Reach::Whole, ..Plan::in_place(self.to.all_planes()) };
        (self.from != self.to).then(|| (plan, self.samples(self.color.at(at))))
    }

    fn render(&self, color: &[T; 4], (): &(), band: &mut Band<'_>, _: &mut Scratch) {
        let input = band.source();
        let rows = if self.from.picture == PictureStructure::Frame { 1 } else { 2 };
        for p in band.writes.iter().filter(|&p| p < self.to.planes()) {
            let ((sx, sy), (width, height)) = (self.to.plane_subsampling(p), self.from.plane_size(p));
            let (x, y) = (self.at[0] >> sx, (self.at[1] >> sy) / rows);
            let (before, skipped) = (x.max(0) as usize, (-x).max(0) as usize);
            let (from, to) = (input.plane(p), band.output.plane_mut(p));
            for row in to.rows() {
                let source = row as i64 - y;
                let out = to.row_mut::<T>(row);
                if !(0..height as i64).contains(&source) {
                    out.fill(color[p]);
                    continue;
                }
                let end = (before + width - skipped).min(out.len());
                out[..before].fill(color[p]);
                out[before..end].copy_from_slice(&from.row::<T>(source as usize)[skipped..][..end - before]);
                out[end..].fill(color[p]);
            }
        }
    }
}
