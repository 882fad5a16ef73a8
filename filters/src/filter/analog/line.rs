//! What happens along one line: filters, modulation, noise and displacement. Lines are `f32`; each colour difference has
//! one sample for four of luma, in the middle of a cycle of the subcarrier.

use super::system::Carrier;
use crate::pixel::resample::{Pass, convolve_row};
use crate::simd::{Level, multiversion};

/// Samples beyond either end of a line in [`Room::wide`].
pub(super) const MARGIN: usize = 256;

/// Memory for the work on a line.
pub(super) struct Room<'a> {
    pub level: Level,
    /// A line with [`MARGIN`] at both ends.
    pub wide: &'a mut [f32],
    /// A line.
    pub sum: &'a mut [f32],
    pub more: &'a mut [f32],
}

impl Room<'_> {
    /// The line in the middle of `wide`, continued at both ends with the same period of 1 or 4 samples.
    fn widen(&mut self, line: &[f32], reach: usize, period: usize) {
        let n = line.len();
        self.wide[MARGIN..][..n].copy_from_slice(line);
        for i in 0..reach {
            self.wide[MARGIN - 1 - i] = self.wide[MARGIN - 1 - i + period];
            self.wide[MARGIN + n + i] = self.wide[MARGIN + n + i - period];
        }
    }

    /// Filters a line. Beyond the ends the outermost samples are repeated: one, or for a modulated line the four of a
    /// cycle.
    pub(super) fn filter(&mut self, line: &mut [f32], taps: &[f32], period: usize) {
        self.widen(line, taps.len() / 2, period);
        let from = &self.wide[MARGIN - taps.len() / 2..];
        convolve_row(self.level, (line, &mut *self.sum), from, taps, (0, Pass::Direct));
    }

    /// Moves a line to the right by a number of samples, with a cubic between samples. Beyond the ends there are a few
    /// samples like the outermost one, then black.
    pub(super) fn shift(&mut self, line: &mut [f32], by: f32, overscan: usize) {
        if by == 0.0 {
            return;
        }
        let by = by.clamp(-(MARGIN as f32 - 4.0), MARGIN as f32 - 4.0);
        let n = line.len();
        self.wide[..MARGIN].fill(0.0);
        self.wide[MARGIN + n..].fill(0.0);
        self.widen(line, overscan, 1);
        // Sample i is at i - by: whole samples and a fraction to the right of them.
        let whole = (-by).floor();
        let f = -by - whole;
        let taps = [
            f * (-0.5 + f * (1.0 - 0.5 * f)),
            1.0 + f * f * (1.5 * f - 2.5),
            f * (0.5 + f * (2.0 - 1.5 * f)),
            f * f * (0.5 * f - 0.5),
        ];
        let first = (MARGIN as f32 + whole) as usize - 1;
        let from = &self.wide[first..];
        convolve_row(self.level, (line, &mut *self.sum), from, &taps, (0, Pass::Direct));
    }
}

/// The sine and cosine of a cycle of the subcarrier, four samples from a phase.
pub(super) fn cycle(phase: usize) -> ([f32; 4], [f32; 4]) {
    const SINE: [f32; 8] = [0.0, 1.0, 0.0, -1.0, 0.0, 1.0, 0.0, -1.0];
    let from = |at: usize| [0, 1, 2, 3].map(|i| SINE[(at + i) % 4]);
    (from(phase), from(phase + 1))
}

#[inline(always)]
fn modulate_body(line: &mut [f32], u: &[f32], v: &[f32], (sine, cosine): ([f32; 4], [f32; 4])) {
    let last = u.len() - 1;
    let of = |c: &[f32], k: usize| {
        let (a, b, d) = (c[k.max(1) - 1], c[k], c[(k + 1).min(last)]);
        [0.375 * a + 0.625 * b, 0.125 * a + 0.875 * b, 0.875 * b + 0.125 * d, 0.625 * b + 0.375 * d]
    };
    for (k, line) in line.chunks_exact_mut(4).enumerate().take(last + 1) {
        let (u, v) = (of(u, k), of(v, k));
        for i in 0..4 {
            line[i] += u[i] * sine[i] + v[i] * cosine[i];
        }
    }
}

/// A colour difference of each cycle: of its two samples in the carrier's phase, the nearer one to the middle weighs
/// three quarters, so that the mean lies there.
#[inline(always)]
fn demodulate_body(line: &[f32], out: &mut [f32], carrier: [f32; 4]) {
    let w = [0.25 * carrier[0], 0.75 * carrier[1], 0.75 * carrier[2], 0.25 * carrier[3]];
    for (out, c) in out.iter_mut().zip(line.chunks_exact(4)) {
        *out = c[0] * w[0] + c[1] * w[1] + c[2] * w[2] + c[3] * w[3];
    }
}

#[inline(always)]
fn blend_body(line: &mut [f32], other: &[f32], own: f32, by: f32) {
    for (x, y) in line.iter_mut().zip(other) {
        *x = *x * own + *y * by;
    }
}

#[inline(always)]
fn rotate_body(a: &mut [f32], b: &mut [f32], cos: f32, sin: f32) {
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (*a * cos - *b * sin, *a * sin + *b * cos);
    }
}

#[inline(always)]
fn add_noise_body(line: &mut [f32], noise: &[i16], by: f32) {
    for (x, n) in line.iter_mut().zip(noise) {
        *x += f32::from(*n) * by;
    }
}

/// Noise of a quarter of the rate: a linear interpolation between its values.
#[inline(always)]
fn add_streaks_body(line: &mut [f32], noise: &[i16], by: f32) {
    for (line, n) in line.chunks_exact_mut(4).zip(noise.windows(2)) {
        let (a, b) = (f32::from(n[0]) * by, f32::from(n[1]) * by);
        for (x, part) in line.iter_mut().zip([0.125, 0.375, 0.625, 0.875]) {
            *x += a + (b - a) * part;
        }
    }
}

/// A lost signal: within patches of the line some 20 samples long, noise without colour. `amount` 0 is nowhere, 1 is
/// everywhere. `by` makes the deviation of the noises 1.
#[inline(always)]
fn snow_body(line: &mut [f32], fine: &[i16], coarse: &[i16], amount: f32, by: f32) {
    let mut left = [0.0; 4];
    for ((line, fine), coarse) in line.chunks_exact_mut(4).zip(fine.chunks_exact(4)).zip(coarse) {
        left = [f32::from(*coarse) * by, left[0], left[1], left[2]];
        let slow = (left[0] + left[1]) * 0.6 + (left[2] + left[3]) * 0.37;
        let lost = (slow * 0.75 + 4.2 * amount - 2.3) * 1.3;
        let lost = if lost > 0.0 { lost } else { 0.0 };
        let lost = if lost < 1.0 { lost } else { 1.0 };
        let snow = 0.45 + 0.28 * slow;
        for (x, n) in line.iter_mut().zip(fine) {
            *x += (snow + 0.18 * f32::from(*n) * by - *x) * lost;
        }
    }
}

multiversion! {
    /// Adds the colour differences times these weights, which repeat every four samples.
    pub(super) fn modulate_row(level, line: &mut [f32], u: &[f32], v: &[f32], carrier: ([f32; 4], [f32; 4])) = modulate_body;
    fn demodulate_row(level, line: &[f32], out: &mut [f32], carrier: [f32; 4]) = demodulate_body;
    /// `line = line own + other by`.
    pub(super) fn blend(level, line: &mut [f32], other: &[f32], own: f32, by: f32) = blend_body;
    /// Turns the vectors (a, b) by an angle with this cosine and sine.
    pub(super) fn rotate(level, a: &mut [f32], b: &mut [f32], cos: f32, sin: f32) = rotate_body;
    /// Adds noise times `by`.
    pub(super) fn add_noise(level, line: &mut [f32], noise: &[i16], by: f32) = add_noise_body;
    /// Adds noise that has one number for four samples, and one more.
    pub(super) fn add_streaks(level, line: &mut [f32], noise: &[i16], by: f32) = add_streaks_body;
    /// Replaces the line by noise in patches.
    pub(super) fn snow(level, line: &mut [f32], fine: &[i16], coarse: &[i16], amount: f32, by: f32) = snow_body;
}

/// Adds a subcarrier with the colour differences to luma. With `alternate`, odd lines carry the opposite of V (PAL).
pub(super) fn modulate(
    level: Level,
    line: &mut [f32],
    (u, v): (&[f32], &[f32]),
    carrier: Carrier,
    alternate: bool,
) {
    let (sine, cosine) = cycle(carrier.phase);
    let sign = if alternate && carrier.odd { -1.0 } else { 1.0 };
    modulate_row(level, line, u, v, (sine, cosine.map(|c| c * sign)));
}

/// The colour differences of a subcarrier.
pub(super) fn demodulate(
    level: Level,
    line: &[f32],
    (u, v): (&mut [f32], &mut [f32]),
    carrier: Carrier,
    alternate: bool,
) {
    let (sine, cosine) = cycle(carrier.phase);
    let sign = if alternate && carrier.odd { -1.0 } else { 1.0 };
    demodulate_row(level, line, u, sine);
    demodulate_row(level, line, v, cosine.map(|c| c * sign));
}
