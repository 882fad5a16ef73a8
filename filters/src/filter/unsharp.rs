//! `unsharp`: an unsharp mask. It adds the difference between the picture and its Gaussian blur.
//!
//! A sample `v` of straight colour with the blurred sample `b` becomes `v + amount s(v - b)`, where `s` reduces the
//! size of a difference by `threshold`, to 0 at least. The Gaussian is that of [`blur`](super::blur), rounded to the
//! depth of the picture; since `amount` multiplies the rounding error, the chain works in 16 bits.
//!
//! For premultiplied colour, `b` is the blurred product divided by the blurred alpha: the mean of the straight colour,
//! weighted by alpha. So no rim appears where alpha changes and colour does not, and samples without coverage are
//! unchanged. Straight colour is blurred with alpha as weight, too: see [`blur`](super::blur).

use super::blur::Blur;
use super::point::mean_alpha;
use super::{Band, Entry, Filter, Memory, Plan, Render, Spec};
use crate::frame::{Alpha, Depth, Format, FrameMut, FrameRef, FrameTime, PlaneMut, PlaneSet, Scratch};
use crate::pixel::convert::Code;
use crate::pixel::f32_rows::ConvertF32;
use crate::pixel::tone::PremultipliedScale;
use crate::settings;
use crate::settings::{Animated, SettingError, Unit};
use crate::simd::{Level, multiversion};

/// The catalog's entry.
pub const ENTRY: Entry =
    Entry::new::<UnsharpSpec>("unsharp", "Unsharp mask", "Sharpens with an unsharp mask");

settings! {
    struct UnsharpSpec {
        /// Share of the difference from the blurred picture that is added: 0.5 is crisp, 1.5 is strong.
        amount: Animated = number(0.0..=10.0).default(1.0).soft(0.0..=3.0),
        /// Size of the details to sharpen: the standard deviation of the Gaussian in luma samples of a picture 1920
        /// wide. 1 is fine, 30 brings out large shapes.
        size: Animated = number(0.0..=200.0).default(1.5).unit(Unit::Pixels).soft(0.0..=30.0),
        /// Differences up to this value are not sharpened, so that noise stays as it is: 0 sharpens all, 1 is from
        /// black to white.
        threshold: Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction).soft(0.0..=0.1),
    }
}

impl Spec for UnsharpSpec {
    fn bind(&self, input: &Format, _: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let blur = Blur::gaussian(input, level);
        let blur = if input.alpha == Alpha::Straight { blur.weighted() } else { blur };
        Ok(Unsharp { format: *input, set: self.clone(), level, blur }.boxed())
    }
}

struct Unsharp {
    format: Format,
    set: UnsharpSpec,
    level: Level,
    blur: Blur,
}

/// How the samples of a plane are sharpened, in codes.
struct Sharpening {
    amount: f32,
    threshold: f32,
    /// The code of nominal zero.
    zero: f32,
    /// The lowest and the highest legal code.
    legal: (f32, f32),
}

/// The parameters at a time.
struct Now {
    /// Horizontal and vertical sigma of each plane.
    sigmas: Vec<[f64; 2]>,
    amount: f64,
    /// The threshold as a nominal value.
    threshold: f64,
}

#[inline(always)]
fn sharpen_body<T: ConvertF32>(row: &mut [T], own: &[T], set: &Sharpening) {
    let &Sharpening { amount, threshold, zero, legal } = set;
    for (row, &own) in row.iter_mut().zip(own) {
        let value = own.less(zero);
        let difference = value - row.less(zero);
        let change = amount * (difference - difference.clamp(-threshold, threshold));
        *row = own.replaced(value + change, zero, legal);
    }
}

multiversion! {
    /// Replaces the blurred samples of a row by the sharpened ones of the picture.
    fn sharpen<T: ConvertF32>(level, row: &mut [T], own: &[T], set: &Sharpening) = sharpen_body::<T>;
}

impl Render for Unsharp {
    type Params = Now;
    type State = ();

    fn at(&self, at: &FrameTime) -> Option<(Plan, Now)> {
        let amount = self.set.amount.at(at);
        if amount <= 0.0 {
            return None;
        }
        let sigma = self.set.size.at(at) * f64::from(self.format.width) / 1920.0;
        let (plan, sigmas) = self.blur.of_sigma(sigma)?;
        let colour = self.format.color_planes();
        // An edge of colour is visible where luma has one; sharpening U and V would cause fringes.
        let writes = colour.filter(|p| !self.format.is_chroma(p));
        let on_request = colour.filter(|p| self.format.is_chroma(p));
        let threshold = self.set.threshold.at(at);
        Some((Plan { writes, on_request, ..plan }, Now { sigmas, amount, threshold }))
    }

    fn memory(&self) -> Memory {
        let (w, h) = (self.format.width as usize, self.format.height as usize);
        // Two rows of f64 and the blurred alpha of premultiplied colour; the blur's scratch is free by then.
        let copies = usize::from(self.format.alpha == Alpha::Premultiplied);
        let alpha = copies * w * h * self.format.depth.bytes();
        let Memory { fixed, per_frame } = self.blur.memory();
        Memory { fixed, per_frame: per_frame + 2 * (8 * w + 64) + alpha }
    }

    fn render(&self, now: &Now, (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
        match self.format.depth {
            Depth::Bits(8) => self.planes::<u8>(now, band, scratch),
            Depth::Bits(_) => self.planes::<u16>(now, band, scratch),
            Depth::Float => self.planes::<f32>(now, band, scratch),
        }
    }
}

impl Unsharp {
    fn planes<T: ConvertF32>(&self, now: &Now, band: &mut Band<'_>, scratch: &mut Scratch) {
        let input = band.source();
        match self.format.alpha_plane() {
            Some(a) if self.format.alpha == Alpha::Premultiplied => {
                self.multiplied::<T>(now, a, input, band, scratch);
            }
            _ => self.straight::<T>(now, input, band, scratch),
        }
    }

    fn straight<T: ConvertF32>(
        &self,
        now: &Now,
        input: FrameRef<'_>,
        band: &mut Band<'_>,
        scratch: &mut Scratch,
    ) {
        // The output holds the blurred samples until they are sharpened in place.
        self.blur.render(&now.sigmas, &(), band, scratch);
        for p in band.writes.iter().filter(|&p| p < self.format.planes()) {
            let code = Code::of(&self.format, p);
            let set = Sharpening {
                amount: now.amount as f32,
                threshold: now.threshold as f32 * code.span as f32,
                zero: code.zero as f32,
                legal: self.format.legal(p).map_or((0.0, 0.0), |(lo, hi)| (lo.into(), hi.into())),
            };
            let (from, to) = (input.plane(p), band.output.plane_mut(p));
            for y in to.rows() {
                sharpen::<T>(self.level, to.row_mut(y), from.row(y), &set);
            }
        }
    }

    /// Premultiplied colour, with alpha in plane `a`.
    fn multiplied<T: ConvertF32>(
        &self,
        now: &Now,
        a: usize,
        input: FrameRef<'_>,
        band: &mut Band<'_>,
        scratch: &mut Scratch,
    ) {
        let (width, height) = self.format.plane_size(a);
        let row_bytes = width * size_of::<T>();
        let ([room], scratch) = scratch.buffers_and_rest::<T, 1>([width * band.rows.len()]);
        self.blur.render(&now.sigmas, &(), band, scratch);
        let mut planes: [PlaneMut<'_>; 4] = Default::default();
        let room = bytemuck::cast_slice_mut(room);
        planes[a] = PlaneMut::of_rows(room, row_bytes, row_bytes, band.rows.clone(), height);
        let output = FrameMut::new(self.format, planes);
        let mut of_alpha =
            Band { rows: band.rows.clone(), input: band.input, output, writes: PlaneSet::one(a) };
        self.blur.render(&now.sigmas, &(), &mut of_alpha, scratch);
        for p in band.writes.iter().filter(|&p| p < self.format.planes()) {
            let low = if self.format.is_chroma(p) { -0.5 } else { 0.0 };
            let scale = PremultipliedScale::new(&self.format, p, (low, low + 1.0));
            let [alpha, soft_alpha] = scratch.buffers::<f64, 2>([self.format.plane_size(p).0; 2]);
            let (from, to) = (input.plane(p), band.output.plane_mut(p));
            for y in to.rows() {
                mean_alpha(&self.format, input.plane(a), p, y, alpha);
                mean_alpha(&self.format, of_alpha.output.plane(a), p, y, soft_alpha);
                let samples = to.row_mut::<T>(y).iter_mut().zip(from.row::<T>(y));
                for ((out, &was), (&alpha, &soft_alpha)) in samples.zip(alpha.iter().zip(&*soft_alpha)) {
                    let value = scale.value(was);
                    let difference = value / alpha - scale.value(*out) / soft_alpha;
                    let change = difference - difference.clamp(-now.threshold, now.threshold);
                    // A small alpha may be rounded to 0 in the blur; then there is no reference.
                    *out = if soft_alpha > 0.0 && soft_alpha.is_finite() && change != 0.0 {
                        scale.sample(was, value + now.amount * change * alpha, alpha)
                    } else {
                        was
                    };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
