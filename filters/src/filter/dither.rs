//! `dither`: reduces the bit depth without visible bands.
//!
//! Every chain whose output is shallower than its working depth ends with dither, by default with `mode=uniform`; a
//! `dither` at the end of the recipe sets it. With `bits` the filter can be at any place in the chain and reduces the
//! depth there.
//!
//! Alpha is rounded without noise, so that opaque stays opaque.

#[cfg(test)]
mod tests;

use super::{Band, Entry, Filter, Memory, Plan, Reach, Render, Spec};
use crate::frame::{Depth, Format, FrameTime, Scratch};
use crate::noise::seed::{GOLDEN, Layer, key, mix64};
use crate::noise::{CycleStart, Distribution, Generator, Layout, Shape, ShapeError, Stream};
use crate::pixel::convert::{Code, CodeSample};
use crate::pixel::dither::{Reduce, UniformReduce, blue, high_pass, reduce_row, uniform_noise, uniform_row};
use crate::settings::{ChoiceEnum, SettingError};
use crate::simd::Level;
use crate::{choices, settings};

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<DitherSpec>(
    "dither",
    "Dither",
    "Reduces the bit depth without banding; as the last filter it sets the rounding of the output",
);

settings! {
    struct DitherSpec {
        /// Bits per sample after the filter. Default: those of the output, which requires the filter to be the
        /// last one.
        bits: Option<i64> = integer(8..=16),
        /// Noise that is added before rounding.
        mode: Mode = choice("tpdf"),
    }
    with static, seed
}

choices! {
    /// Noise that is added before rounding.
    pub enum Mode {
        /// triangular white noise: the error has the same variance everywhere
        Tpdf = "tpdf",
        /// triangular noise with less power at low frequencies, in both directions
        HighPass = "hp-tpdf",
        /// a blue-noise mask: least visible; repeats every 64 pixels
        Blue = "blue",
        /// blue noise of less than half a code: exact codes stay exact. The default rounding of every chain
        Uniform = "uniform",
        /// plain rounding
        None = "none",
    }
}

impl Spec for DitherSpec {
    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let to = self.output_format(input);
        if to.depth != input.depth {
            let filter = Dither::new(input, &to, self.mode, seed, level);
            return Ok(filter.map_err(|e| SettingError::new("", e))?.boxed());
        }
        match (self.bits, input.depth) {
            (Some(_), Depth::Float) => Err(SettingError {
                setting: "bits",
                problem: "float samples have no bit depth to reduce: choose an integer pixel format for the output, and \
                          leave bits out"
                    .into(),
            }),
            _ => Ok(Idle.boxed()),
        }
    }

    fn output_format(&self, input: &Format) -> Format {
        match (self.bits, input.depth) {
            (Some(bits), Depth::Bits(deep)) if bits < i64::from(deep) => {
                Format { depth: Depth::Bits(bits as u8), ..*input }
            }
            _ => *input,
        }
    }

    fn wants_16_bits(&self) -> bool {
        false
    }

    fn final_dithering(&self) -> Option<(Mode, bool)> {
        Some((self.mode, self.bits.is_none()))
    }
}

/// Changes nothing.
struct Idle;

impl Render for Idle {
    type Params = ();
    type State = ();
    fn at(&self, _: &FrameTime) -> Option<(Plan, ())> {
        None
    }
    fn render(&self, (): &(), (): &(), _: &mut Band<'_>, _: &mut Scratch) {}
}

/// Reduces the depth without any other change of the format.
pub struct Dither {
    from: Format,
    to: Format,
    mode: Mode,
    seed: u64,
    stream: Stream,
    level: Level,
}

impl Dither {
    /// From a format to one that differs only in its lower depth. Panics for other formats.
    ///
    /// # Errors
    /// A plane is too large or empty.
    pub fn new(
        from: &Format,
        to: &Format,
        mode: Mode,
        seed: u64,
        level: Level,
    ) -> Result<Dither, ShapeError> {
        assert_eq!(Format { depth: from.depth, ..*to }, *from, "dither changes nothing but depth");
        let shrinks = matches!((from.depth, to.depth), (Depth::Bits(a), Depth::Bits(b)) if b < a);
        assert!(shrinks, "dither takes {:?} to less than that, not to {:?}", from.depth, to.depth);
        let distribution = if mode == Mode::Tpdf { Distribution::Sum(2) } else { Distribution::UNIFORM };
        let shape = Shape::of(from, Layout::Keyed, distribution)?;
        let stream = Stream::new(Generator::Xs64, &shape, CycleStart::Seed(seed), Layer::DITHER, level)?;
        Ok(Dither { from: *from, to: *to, mode, seed, stream, level })
    }

    /// One line for users.
    pub fn describe(&self) -> String {
        format!("{} -> {}; dithered ({})", self.from.name(), self.to.name(), self.mode.id())
    }

    fn reduce(&self, p: usize) -> Reduce {
        Reduce::new(Code::of(&self.from, p), Code::of(&self.to, p), self.legal(p))
    }

    fn legal(&self, p: usize) -> (u16, u16) {
        self.to.legal(p).unwrap_or((0, u16::MAX))
    }

    /// The column and row of the mask at which each tile of a row of tiles begins: tiles have the size of the mask, and
    /// each has its own random offset.
    fn tiles(&self, index: i64, p: usize, row: usize, width: usize) -> impl Iterator<Item = [usize; 2]> {
        let row = key(self.seed, index, Layer::DITHER_OFFSET.plane(p as u32), 1 + row as u32);
        (0..width.div_ceil(blue::SIDE) as u64).map(move |x| {
            let place = mix64(row.wrapping_add(x.wrapping_mul(GOLDEN))) as usize;
            [place % blue::SIDE, place / blue::SIDE % blue::SIDE]
        })
    }
}

impl Render for Dither {
    /// The number of the frame, and the rounding of each plane.
    type Params = (i64, Vec<Reduce>);
    type State = ();

    fn at(&self, at: &FrameTime) -> Option<(Plan, Self::Params)> {
        let writes = self.to.all_planes();
        let plan = Plan { reach: Reach::Rows(0), ..Plan::in_place(writes) };
        Some((plan, (at.index, (0..self.to.planes()).map(|p| self.reduce(p)).collect())))
    }

    fn memory(&self) -> Memory {
        Memory {
            fixed: 64 << 10,
            per_frame: 3 * 2 * (self.from.width as usize + 256) + 3 * self.from.width as usize / 8 + 1024,
        }
    }

    fn render(&self, (index, reduce): &Self::Params, (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
        for p in band.writes.iter().filter(|&p| p < self.to.planes()) {
            match self.to.depth {
                Depth::Bits(8) => self.plane::<u8>(p, *index, &reduce[p], band, scratch),
                _ => self.plane::<u16>(p, *index, &reduce[p], band, scratch),
            }
        }
    }
}

impl Dither {
    fn plane<D: CodeSample>(
        &self,
        p: usize,
        index: i64,
        by: &Reduce,
        band: &mut Band<'_>,
        scratch: &mut Scratch,
    ) {
        let (input, output) = (band.source().plane(p), band.output.plane_mut(p));
        let frame = self.stream.frame(index);
        let (width, _) = self.to.plane_size(p);
        let whole = (width + 1).next_multiple_of(self.stream.block());
        let [words, noise] = scratch.buffers::<u16, 2>([2 * whole, whole]);
        let noise: &mut [i16] = bytemuck::cast_slice_mut(noise);
        noise.fill(0);
        let offset = key(self.seed, index, Layer::DITHER_OFFSET.plane(p as u32), 0);
        let mode = if self.to.alpha_plane() == Some(p) { Mode::None } else { self.mode };
        let uniform = UniformReduce::new(Code::of(&self.from, p), Code::of(&self.to, p), self.legal(p));
        let (mut offsets, mut places) = (Vec::new(), Vec::new());
        let mut started = false;
        for y in output.rows() {
            let (out, row) = (output.row_mut::<D>(y), input.row(y));
            match mode {
                Mode::Tpdf => frame.centred(p, y as u32, words, noise),
                Mode::HighPass => {
                    // The words of the row above are those that were drawn for that row.
                    let (above, own) = words.split_at_mut(whole);
                    if started {
                        above.copy_from_slice(own);
                    } else {
                        frame.words(p, y as u32, above);
                    }
                    frame.words(p, y as u32 + 1, own);
                    let rows = [&above[..width + 1], &own[..width + 1]];
                    high_pass(self.level, &mut noise[..width], rows, y % 2 == 1);
                    started = true;
                }
                Mode::Blue => {
                    let (x, down) = (offset as usize % blue::SIDE, (offset >> 32) as usize % blue::SIDE);
                    blue::fill(&mut noise[..width], x, y + down);
                }
                Mode::Uniform => {
                    if offsets.is_empty() || y % blue::SIDE == 0 {
                        offsets.clear();
                        offsets.extend(self.tiles(index, p, y / blue::SIDE, width));
                    }
                    places.clear();
                    places.extend(offsets.iter().map(|[left, down]| blue::place(*left, y + down)));
                    if let Some(uniform) = &uniform {
                        uniform_row(self.level, out, row, &places, uniform);
                        continue;
                    }
                    uniform_noise(&mut noise[..width], &places, by);
                }
                Mode::None => {}
            }
            reduce_row(self.level, out, row, &noise[..width], by);
        }
    }
}
