//! `blur`: Gaussian or directional blur.
//!
//! **Gaussian**: below a sigma of 4 samples of the plane, it is separable, vertical then horizontal, with weights out
//! to 3.5 sigma. For larger sigmas the plane is halved until sigma is less than 4 samples there, blurred, and interpolated;
//! the variance of halving and interpolation is subtracted from that of the Gaussian. The result is within 0.2 % of the
//! range of the exact Gaussian, half a code of 8 bits.
//!
//! **Directional**: the mean along a line of `length` through the sample, in steps of at most half a sample, each
//! interpolated between the four samples around it; the sum is rounded once.
//!
//! Beyond the edges of the picture, the outermost samples are repeated. For weights and rounding see
//! [`crate::pixel::resample`].
//!
//! **Alpha** weights the colour: a sample becomes the blurred product of straight colour and alpha, divided by the blurred
//! alpha. So transparent samples, whatever their colour, leave no rim. Without alpha among the planes, alpha stays and
//! colour is put back under it; with it, alpha is blurred as colour is, and premultiplied samples are blurred as they
//! are. Samples stay where no alpha is near, and premultiplied ones without coverage.

mod gaussian;
mod line;
#[cfg(test)]
mod tests;

use super::point::mean_alpha;
use super::{Band, Entry, Filter, Memory, Plan, Reach, Render, Spec};
use crate::for_depth;
use crate::frame::{Alpha, Depth, Format, FrameTime, PlaneMut, PlaneRef, PlaneSet, Scratch};
use crate::pixel::convert::Code;
use crate::pixel::f32_rows::{ConvertF32, from_f32, to_f32};
use crate::pixel::resample::{Kernel, carry, smooth::Smooth};
use crate::settings::{Animated, SettingError, Unit};
use crate::simd::Level;
use crate::{choices, settings};
use gaussian::Axis;

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<BlurSpec>("blur", "Blur", "Blurs in all directions or along a line");

settings! {
    struct BlurSpec {
        /// Shape of the blur.
        mode: Mode = choice("gaussian"),
        /// Standard deviation of the Gaussian in samples of a picture 1920 wide, so that the look does not depend on
        /// the resolution. 1 is soft, 5 is out of focus, 50 is a backdrop.
        sigma: Animated =
            number(0.0..=500.0).default(2.0).unit(Unit::Pixels).soft(0.0..=50.0).only_when("mode", &["gaussian"]),
        /// Direction of the line: 0 is horizontal, 90 vertical, clockwise between.
        angle: Animated = number(-36000.0..=36000.0)
            .default(0.0)
            .unit(Unit::Degrees)
            .soft(-180.0..=180.0)
            .only_when("mode", &["directional"]),
        /// Length of the line in samples of a picture 1920 wide.
        length: Animated = number(0.0..=400.0).default(20.0).unit(Unit::Pixels).only_when("mode", &["directional"]),
    }
}

choices! {
    /// How it blurs.
    enum Mode {
        /// Gaussian in all directions; see `sigma`
        Gaussian = "gaussian",
        /// along a line, like motion blur; see `angle` and `length`
        Directional = "directional",
    }
}

impl Spec for BlurSpec {
    fn bind(&self, input: &Format, _: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let blur =
            Blur { format: *input, set: self.clone(), level, carries: true, weighs: input.has_alpha() };
        Ok(blur.boxed())
    }
}

/// A bound blur; other filters use its Gaussian through [`Blur::gaussian`].
pub(super) struct Blur {
    format: Format,
    set: BlurSpec,
    level: Level,
    /// Whether a non-finite sum is replaced by the source's sample.
    carries: bool,
    /// Whether colour is weighted by alpha.
    weighs: bool,
}

/// One degree in radians.
const RADIAN: f64 = core::f64::consts::PI / 180.0;

/// A smaller blurred alpha is none.
const LEAST_WEIGHT: f32 = 1e-20;

/// A smaller sigma or length is not visible.
const LEAST: f64 = 0.05;

/// One plane of one frame, from input to output.
struct Job<'a, 'b> {
    level: Level,
    bits: u8,
    input: PlaneRef<'a>,
    output: &'a mut PlaneMut<'b>,
    width: usize,
}

impl Blur {
    /// Luma samples per sample of a picture 1920 wide.
    fn scale(&self) -> f64 {
        f64::from(self.format.width) / 1920.0
    }

    /// A Gaussian for another filter: pass the result of [`of_sigma`](Blur::of_sigma) to [`render`](Render::render). A
    /// float sample of the output is not finite if its sum is not.
    pub(super) fn gaussian(format: &Format, level: Level) -> Blur {
        Blur::animated(format, Animated::Constant(0.0), level)
    }

    /// The same with a sigma of its own, in samples of a picture 1920 wide.
    pub(super) fn animated(format: &Format, sigma: Animated, level: Level) -> Blur {
        let [angle, length] = [0.0; 2].map(Animated::Constant);
        Blur {
            format: *format,
            set: BlurSpec { mode: Mode::Gaussian, sigma, angle, length },
            level,
            carries: false,
            weighs: false,
        }
    }

    /// The same, with colour weighted by alpha.
    pub(super) fn weighted(self) -> Blur {
        Blur { weighs: self.format.has_alpha(), ..self }
    }

    /// The plan and parameters for this sigma, in luma samples of the frame; `None` if the blur is not visible.
    pub(super) fn of_sigma(&self, sigma: f64) -> Option<(Plan, Vec<[f64; 2]>)> {
        let planes = || (0..self.format.planes()).map(|p| (p, self.sigmas(sigma, p)));
        let rows = |(p, [_, down]): (usize, [f64; 2])| self.steps(p)[1] * Axis::new(down).reach() as f64;
        let reach = planes().map(rows).fold(0.0, f64::max);
        let extra_rows = if reach > 60.0 { reach as u32 } else { 0 };
        (sigma >= LEAST).then(|| (Plan { extra_rows, ..self.plan(reach) }, planes().map(|p| p.1).collect()))
    }

    /// The plan for a reach of so many rows.
    fn plan(&self, reach: f64) -> Plan {
        let reach = Reach::Rows(libm::ceil(reach) as u32);
        let on_request = self.format.alpha_planes();
        Plan { reach, on_request, ..Plan::in_place(self.format.color_planes()) }
    }

    /// Horizontal and vertical sigma in samples of plane `p`.
    fn sigmas(&self, sigma: f64, p: usize) -> [f64; 2] {
        self.steps(p).map(|step| sigma / step)
    }

    /// Luma samples of the frame per sample of plane `p`, horizontally and vertically.
    fn steps(&self, p: usize) -> [f64; 2] {
        let (sx, sy) = self.format.plane_subsampling(p);
        let (rows, _) = self.format.field_rows();
        [f64::from(1u32 << sx), f64::from(1u32 << sy) * rows]
    }

    /// The vector of the line in samples of plane `p`.
    fn vector(&self, at: &FrameTime, p: usize) -> [f64; 2] {
        let angle = self.set.angle.at(at).rem_euclid(360.0);
        let length = self.scale() * self.set.length.at(at);
        let (sin, cos) = match angle {
            0.0 | 180.0 => (0.0, 1.0),
            90.0 | 270.0 => (1.0, 0.0),
            a => (libm::sin(a * RADIAN), libm::cos(a * RADIAN)),
        };
        let [sx, sy] = self.steps(p);
        [cos * length / sx, sin * length / sy]
    }

    /// The plane of alpha by which colour is weighted if these planes are written. Premultiplied colour that is blurred
    /// together with alpha needs no weights.
    fn weights(&self, writes: PlaneSet) -> Option<usize> {
        let together = |a: &usize| self.format.alpha == Alpha::Premultiplied && writes.has(*a);
        self.format.alpha_plane().filter(|a| self.weighs && !together(a))
    }

    /// The distance in rows of a plane at which it reads.
    fn reach(&self, far: [f64; 2]) -> usize {
        if self.set.mode == Mode::Directional {
            line::taps(far).iter().map(|tap| tap.0.0.unsigned_abs() as usize).max().unwrap_or(0)
        } else {
            Axis::new(far[1]).reach()
        }
    }

    /// Plane `p` of colour, weighted by the plane `a` of alpha.
    fn weighted_plane<T: ConvertF32>(
        &self,
        far: [f64; 2],
        (p, a): (usize, usize),
        band: &mut Band<'_>,
        scratch: &mut Scratch,
    ) {
        let (format, input) = (&self.format, band.source());
        let ((width, height), zero) = (format.plane_size(p), Code::of(format, p).zero as f32);
        let legal = format.legal(p).map_or((0.0, 0.0), |(lo, hi)| (lo.into(), hi.into()));
        let is_multiplied = format.alpha == Alpha::Premultiplied;
        let (rows, reach) = (band.output.plane(p).rows(), self.reach(far));
        let wide = rows.start.saturating_sub(reach)..(rows.end + reach).min(height);
        let lens = [wide.len(), wide.len(), rows.len(), rows.len()].map(|count| width * count);
        let ([products, weights, sums, shares], scratch) = scratch.buffers_and_rest::<f32, 4>(lens);
        let ([alpha], scratch) = scratch.buffers_and_rest::<f64, 1>([width]);
        let [mut products, mut weights] =
            [products, weights].map(|data| gaussian::plane(data, width, wide.clone(), height));
        let [mut sums, mut shares] =
            [sums, shares].map(|data| gaussian::plane(data, width, rows.clone(), height));
        for y in wide {
            let (product, weight) = (products.row_mut::<f32>(y), weights.row_mut::<f32>(y));
            mean_alpha(format, input.plane(a), p, y, alpha);
            to_f32::<T>(self.level, input.plane(p).row(y), zero, product);
            for ((v, weight), alpha) in product.iter_mut().zip(weight).zip(&*alpha) {
                *weight = if *alpha > 0.0 && alpha.is_finite() { *alpha as f32 } else { 0.0 };
                if !is_multiplied {
                    *v = if *weight > 0.0 { *v * *weight } else { 0.0 };
                }
            }
        }
        for (from, to) in [(&products, &mut sums), (&weights, &mut shares)] {
            let job = Job { level: self.level, bits: 0, input: from.as_ref(), output: to, width };
            self.plane::<f32>(far, job, scratch);
        }
        let (from, to) = (input.plane(p), band.output.plane_mut(p));
        for y in rows {
            let (own, out) = (from.row::<T>(y), to.row_mut::<T>(y));
            out.copy_from_slice(own);
            if is_multiplied {
                mean_alpha(format, input.plane(a), p, y, alpha);
            } else {
                alpha.fill(1.0);
            }
            let (sum, share) = (sums.row_mut::<f32>(y), shares.row_mut::<f32>(y));
            for ((sum, share), (own, alpha)) in sum.iter_mut().zip(share).zip(own.iter().zip(&*alpha)) {
                let is_covered = *share > LEAST_WEIGHT && *alpha > 0.0 && alpha.is_finite();
                *sum = if is_covered { *sum / *share * *alpha as f32 } else { own.less(zero) };
            }
            from_f32::<T>(self.level, sum, zero, legal, out);
        }
    }

    fn plane<T: Kernel<Wide: Smooth>>(&self, far: [f64; 2], job: Job<'_, '_>, scratch: &mut Scratch) {
        if self.set.mode == Mode::Directional {
            line::render::<T>(job, far, scratch);
        } else {
            gaussian::render::<T>(job, far.map(Axis::new), scratch);
        }
    }
}

impl Render for Blur {
    /// For each plane the horizontal and vertical sigma, or the vector of the line.
    type Params = Vec<[f64; 2]>;
    type State = ();

    fn at(&self, at: &FrameTime) -> Option<(Plan, Self::Params)> {
        if self.set.mode == Mode::Gaussian {
            return self.of_sigma(self.scale() * self.set.sigma.at(at));
        }
        let length = self.scale() * self.set.length.at(at);
        let planes = (0..self.format.planes()).map(|p| self.vector(at, p)).collect();
        (length >= LEAST).then(|| (self.plan(0.5 * length + 4.0), planes))
    }

    fn memory(&self) -> Memory {
        let (w, h) = (self.format.width as usize, self.format.height as usize);
        let bytes = self.format.depth.bytes().max(2);
        let (bytes, weighted) = match self.weighs {
            true => (4, 4 * (4 * w * h + 64) + 8 * w + 64),
            false => (bytes, 0),
        };
        // A line needs some rows.
        Memory { fixed: 0, per_frame: gaussian::memory(w, h, bytes) + 64 * (w + 4096) + weighted }
    }

    fn render(&self, planes: &Self::Params, (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
        let input = band.source();
        let weights = self.weights(band.writes);
        for p in band.writes.iter().filter(|&p| p < self.format.planes()) {
            let (width, height) = self.format.plane_size(p);
            if width == 0 || height == 0 {
                continue;
            }
            if let Some(a) = weights.filter(|a| *a != p) {
                for_depth!(self.format.depth, T => self.weighted_plane::<T>(planes[p], (p, a), band, scratch));
                continue;
            }
            let bits = self.format.depth.bits().unwrap_or(0);
            let output = band.output.plane_mut(p);
            let job = Job { level: self.level, bits, input: input.plane(p), output, width };
            match self.format.depth {
                Depth::Bits(8) => self.plane::<u8>(planes[p], job, scratch),
                Depth::Bits(_) => self.plane::<u16>(planes[p], job, scratch),
                Depth::Float => {
                    self.plane::<f32>(planes[p], job, scratch);
                    if !self.carries {
                        continue;
                    }
                    let output = band.output.plane_mut(p);
                    output.rows().for_each(|y| carry(self.level, output.row_mut(y), input.plane(p).row(y)));
                }
            }
        }
    }
}

/// Copies a row into the middle of a longer one and repeats its end samples.
fn pad<T: Copy>(padded: &mut [T], row: &[T], before: usize) {
    let (first, last) = (row[0], row[row.len() - 1]);
    padded[..before].fill(first);
    padded[before..before + row.len()].copy_from_slice(row);
    padded[before + row.len()..].fill(last);
}
