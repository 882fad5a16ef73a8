//! The last steps of a row in one pass: horizontal and vertical kernels, response and addition.
//!
//! Each separate step moves more bytes through the L1 cache than the picture moves through memory. The fused pass
//! stores only two rows, the samples and the h for the rows below, and the loads of one step overlap with the
//! arithmetic of another. The output is bit-identical to that of the single steps.

use super::apply::{KernelParams, add_u8, add_u16};
use super::kernel::{Taps, pad};
use super::response::{Gain, Ramp};
use super::{arch, kernel};
use crate::simd::Level;

/// Samples of an iteration: rows of h are written and read in whole iterations.
pub const TURN: usize = 64;

/// Padding before and after a halved row of white noise.
pub const MARGIN: usize = 32;

/// The inputs of a row of n.
#[derive(Debug)]
pub struct Sources<'a> {
    /// Rows h at y-2 to y+2, in whole [iterations](TURN). Only as many are read as the taps reach; if there is a
    /// fresh row, the lowest of them is not read.
    pub h: [&'a [i16]; 5],
    /// For the lowest row that the taps reach: the white row `[margin.., g >> 1, .., margin..]`, from [`halves_end`],
    /// and the output for its h.
    pub fresh: Option<(&'a [i16], &'a mut [i16])>,
    /// The kernel along rows.
    pub across: Taps,
    /// The kernel along columns.
    pub down: Taps,
}

/// Mirrors the ends of a halved row of `width` white numbers after a [`MARGIN`].
pub fn halves_end(row: &mut [i16], width: usize) {
    pad(&mut row[MARGIN - kernel::PAD..MARGIN + width + kernel::PAD]);
}

impl Sources<'_> {
    /// Makes n step by step.
    pub fn n(&mut self, level: Level, out: &mut [i16]) {
        assert!(self.suffice(out.len()));
        let reach = self.down.reach();
        let mut h = self.h;
        if let Some((white, fresh)) = &mut self.fresh {
            let padded = &white[MARGIN - kernel::PAD..MARGIN + out.len() + kernel::PAD];
            kernel::across_halves_rows(level, &mut fresh[..out.len()], padded, self.across);
            h[2 + reach.max(1)] = fresh;
        }
        for (d, h) in [2, 1, 0, 1, 2].into_iter().zip(&mut h) {
            if d > reach {
                *h = self.h[2];
            }
        }
        kernel::down(level, out, h, self.down);
    }

    /// Whether the inputs and outputs are long enough for a row of `width`.
    pub(super) fn suffice(&self, width: usize) -> bool {
        let whole = width.next_multiple_of(TURN);
        let reach = if self.down.reach() == 2 { 2 } else { 1 };
        let old = if self.fresh.is_some() { 2 + reach } else { 3 + reach };
        self.h[2 - reach..old].iter().all(|h| h.len() >= whole)
            && self
                .fresh
                .as_ref()
                .is_none_or(|(white, h)| white.len() >= whole + 2 * MARGIN && h.len() >= whole)
    }
}

/// The response of 8-bit samples, by code: S, and its low and high bytes.
#[derive(Clone, PartialEq, Debug)]
pub struct Codes {
    pub(super) words: [i16; 256],
    pub(super) low: [u8; 256],
    pub(super) high: [u8; 256],
    pub(super) shift: u32,
}

impl Codes {
    /// `None` for grain of more than a signed byte.
    pub fn new(ramp: Ramp, gain: &Gain) -> Option<Box<Codes>> {
        let all: [i16; 256] = core::array::from_fn(|code| gain.response.of(ramp.of(code as u16)));
        let most = all.iter().copied().max().unwrap_or(0);
        let fits = gain.fits_i16() && gain.codes(i16::MIN, most) >= -128 && gain.codes(i16::MAX, most) <= 127;
        fits.then(|| {
            let [low, high] = [0, 1].map(|i| all.map(|s| s.to_le_bytes()[i]));
            Box::new(Codes { words: all, low, high, shift: gain.shift })
        })
    }
}

/// Computes n from the inputs and adds it as [`add_u8`] would; `codes` is the response of `gain`. `n` is a buffer of
/// as many numbers as there are samples. Panics if rows are too short, and for gains as [`add_u8`].
pub fn finish_u8(
    level: Level,
    row: &mut [u8],
    light: Option<&[u8]>,
    (sources, n): (&mut Sources<'_>, &mut [i16]),
    (ramp, gain, codes): (Ramp, &Gain, Option<&Codes>),
    legal: (u8, u8),
) {
    assert!(gain.fits_i16() && sources.suffice(row.len()) && light.is_none_or(|l| l.len() == row.len()));
    let done = codes.is_some_and(|codes| arch::finish_codes(level, row, light, sources, codes, legal))
        || KernelParams::new(ramp, gain)
            .is_some_and(|params| arch::finish(level, row, light, sources, &params, legal));
    if !done {
        sources.n(level, n);
        add_u8(level, row, light, n, ramp, gain, legal);
    }
}

/// The same for samples of 9 to 16 bits, as [`add_u16`].
pub fn finish_u16(
    level: Level,
    row: &mut [u16],
    light: Option<&[u16]>,
    (sources, n): (&mut Sources<'_>, &mut [i16]),
    (ramp, gain): (Ramp, &Gain),
    legal: (u16, u16),
) {
    assert!(sources.suffice(row.len()) && light.is_none_or(|l| l.len() == row.len()));
    let params = KernelParams::new(ramp, gain);
    if !params.is_some_and(|params| arch::finish(level, row, light, sources, &params, legal)) {
        sources.n(level, n);
        add_u16(level, row, light, n, ramp, gain, legal);
    }
}
