//! Converts random words to numbers that are symmetric about zero and have the chosen distribution.
//!
//! A word read as signed 16 bits has a mean of -1/2, which a strong scale or a temporal filter over many frames would
//! show as a shift of the picture. So the number that is scaled is a *centred* number c.
//!
//! **A sum of k words** (1: uniform; more: the article's binomial) is
//!
//! `c = 2 * sum(w[j] >> t) + k`, j = 0..k, t = 1 + ceil(log2 k), `>>` arithmetic on the word read as signed.
//!
//! Each `2 * (w >> t) + 1` takes the values of the odd numbers from `-(2^(16-t) - 1)` to `2^(16-t) - 1`, all equally
//! often: c is exactly symmetric, and |c| is at most 32767, so that 16-bit lanes never overflow. For one word it is
//! `w | 1`.
//!
//! **H8** makes a nearly normal distribution from one word per pixel. Eight consecutive words of a lane,
//! `v[q] = w[q] >> 3`, go through a Hadamard transform (three rounds of sums and differences), which gives eight numbers that are
//! each a signed sum of all eight words and are uncorrelated with each other. Slot q belongs to the same pixel as word
//! q. It never overflows, its kurtosis is -0.15, and it costs three additions per pixel, while a sum of eight costs
//! seven additions and eight words. (The mean of one slot of eight is -4, of 6689 deviations; the others' is 0.)

use crate::simd::{Level, Vector, multiversion};

/// The largest number of words per pixel.
pub const MAX_SAMPLES: u32 = 16;

/// How the centred number of a pixel is made from words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Distribution {
    /// A sum of this many words, 1 to [`MAX_SAMPLES`].
    Sum(u32),
    /// Eight words make eight pixels by a Hadamard transform: nearly normal.
    H8,
}

impl Distribution {
    /// One word per pixel: all values are equally frequent.
    pub const UNIFORM: Distribution = Distribution::Sum(1);

    /// Words per pixel.
    #[inline(always)]
    pub const fn words(self) -> u32 {
        match self {
            Distribution::Sum(k) => k,
            Distribution::H8 => 1,
        }
    }

    /// Pixels of a lane that are made together, from [`words`](Distribution::words) times as many steps: a *block* is
    /// this many pixels times the lanes.
    #[inline(always)]
    pub const fn slots(self) -> u32 {
        match self {
            Distribution::Sum(_) => 1,
            Distribution::H8 => 8,
        }
    }

    /// The standard deviation of c: exactly `sqrt(k * (4^(16-t) - 1) / 3)` for a sum, 6688.8 for H8.
    pub fn deviation(self) -> f64 {
        // sqrt is correctly rounded on all machines.
        match self {
            Distribution::Sum(k) => {
                let levels = f64::from(1u32 << (16 - shift(k)));
                (f64::from(k) * (levels * levels - 1.0) / 3.0).sqrt()
            }
            Distribution::H8 => (8.0 * (8192.0 * 8192.0 - 1.0) / 12.0f64).sqrt(),
        }
    }
}

/// The shift t of a sum of `samples` words.
#[inline(always)]
pub const fn shift(samples: u32) -> u32 {
    1 + samples.next_power_of_two().trailing_zeros()
}

/// c of one pixel's words, for a sum: the reference.
pub fn centred(words: &[u16]) -> i16 {
    let k = words.len() as u32;
    debug_assert!((1..=MAX_SAMPLES).contains(&k));
    let sum: i32 = words.iter().map(|&w| i32::from(w as i16 >> shift(k))).sum();
    (2 * sum + k as i32) as i16
}

/// c of eight pixels, for H8: the reference.
pub fn h8(words: [u16; 8]) -> [i16; 8] {
    let mut v = words.map(|w| w as i16 >> 3);
    for reach in [4, 2, 1] {
        for q in (0..8).filter(|q| q & reach == 0) {
            (v[q], v[q + reach]) = (v[q] + v[q + reach], v[q] - v[q + reach]);
        }
    }
    v
}

/// `LANES` lanes side by side: pixel block m takes the words of steps k*m .. k*m+k-1, and lane i is its pixel i.
fn sums<const LANES: usize>(samples: u32, words: &[u16], out: &mut [i16]) {
    let (k, t) = (samples as usize, shift(samples));
    for (out, words) in out.chunks_exact_mut(LANES).zip(words.chunks_exact(LANES * k)) {
        out.fill(0);
        for step in words.chunks_exact(LANES) {
            out.iter_mut().zip(step).for_each(|(sum, &w)| *sum += w as i16 >> t);
        }
        out.iter_mut().for_each(|sum| *sum = 2 * *sum + samples as i16);
    }
}

/// Words and pixels are in the same order.
fn transforms<const LANES: usize>(words: &[u16], out: &mut [i16]) {
    for (out, words) in out.chunks_exact_mut(8 * LANES).zip(words.chunks_exact(8 * LANES)) {
        out.iter_mut().zip(words).for_each(|(v, &w)| *v = w as i16 >> 3);
        for reach in [4, 2, 1] {
            for pair in out.chunks_exact_mut(2 * reach * LANES) {
                let (first, second) = pair.split_at_mut(reach * LANES);
                for (a, b) in first.iter_mut().zip(second) {
                    (*a, *b) = (a.wrapping_add(*b), a.wrapping_sub(*b));
                }
            }
        }
    }
}

multiversion! {
    fn centre_registers(
        level, distribution: Distribution, lanes: usize, words: &[u16], out: &mut [i16],
    ) -> bool => centre_body;
}

/// c of whole blocks of pixels, for a stream of 8 or 32 `lanes` in step order: `out.len()` is a multiple of
/// `lanes * distribution.slots()` and `words.len()` is `distribution.words()` times that.
pub fn centre(level: Level, distribution: Distribution, lanes: usize, words: &[u16], out: &mut [i16]) {
    if centre_registers(level, distribution, lanes, words, out) {
        return;
    }
    match (distribution, lanes) {
        (Distribution::Sum(k), 8) => sums::<8>(k, words, out),
        (Distribution::Sum(k), _) => sums::<32>(k, words, out),
        (Distribution::H8, 8) => transforms::<8>(words, out),
        (Distribution::H8, _) => transforms::<32>(words, out),
    }
}

#[inline(always)]
fn centre_body<V: Vector>(
    any: V,
    distribution: Distribution,
    lanes: usize,
    words: &[u16],
    out: &mut [i16],
) -> bool {
    match (distribution, lanes) {
        (Distribution::Sum(k), 8) => sums_8(any, k, words, out),
        (Distribution::Sum(k), _) => sums_32(any, k, words, out),
        (Distribution::H8, 8) => transforms_8(any, words, out),
        (Distribution::H8, _) => transforms_32(any, words, out),
    }
    true
}

/// Adds the registers of successive steps: a register with several steps holds as many partial sums of the pixels
/// of a lane.
#[inline(always)]
fn sums_8<V: Vector>(any: V, samples: u32, words: &[u16], out: &mut [i16]) {
    if V::BYTES > 32 {
        return sums_8(any.lower(), samples, words, out);
    }
    let (k, shift) = (samples as usize, shift(samples));
    let (odd, two) = (any.lower().splat16(samples as i16), V::BYTES / 16);
    for (out, words) in out.chunks_exact_mut(8).zip(words.chunks_exact(8 * k)) {
        let mut sum = any.splat16(0);
        for j in (0..k - k % two).step_by(two) {
            sum = sum.add16(any.load(&words[8 * j..]).shr_i16(shift));
        }
        let mut all = sum.lower();
        if two == 2 {
            all = all.add16(sum.upper());
        }
        if k % two == 1 {
            all = all.add16(odd.load(&words[8 * (k - 1)..]).shr_i16(shift));
        }
        all.add16(all).add16(odd).store(out);
    }
}

/// A register holds some lanes of a step.
#[inline(always)]
fn sums_32<V: Vector>(any: V, samples: u32, words: &[u16], out: &mut [i16]) {
    let (k, shift) = (samples as usize, shift(samples));
    let odd = any.splat16(samples as i16);
    for (out, words) in out.chunks_exact_mut(32).zip(words.chunks_exact(32 * k)) {
        for (i, out) in out.chunks_exact_mut(V::BYTES / 2).enumerate() {
            let [first, steps @ ..] = words.as_chunks::<32>().0 else { return };
            let mut sum = any.load(&first[i * V::BYTES / 2..]).shr_i16(shift);
            for step in steps {
                sum = sum.add16(any.load(&step[i * V::BYTES / 2..]).shr_i16(shift));
            }
            sum.add16(sum).add16(odd).store(out);
        }
    }
}

#[inline(always)]
fn transforms_8<V: Vector>(any: V, words: &[u16], out: &mut [i16]) {
    let mut block = [any; 8];
    for (out, words) in out.chunks_exact_mut(64).zip(words.chunks_exact(64)) {
        for (w, words) in block.iter_mut().zip(words.chunks_exact(V::BYTES / 2)) {
            *w = any.load(words);
        }
        let c = h8_in_order(block);
        for (out, c) in out.chunks_exact_mut(V::BYTES / 2).zip(c) {
            c.store(out);
        }
    }
}

#[inline(always)]
fn transforms_32<V: Vector>(any: V, words: &[u16], out: &mut [i16]) {
    for (out, words) in out.as_chunks_mut::<256>().0.iter_mut().zip(words.as_chunks::<256>().0) {
        for first in (0..32).step_by(V::BYTES / 2) {
            let mut w = [any; 8];
            for (q, w) in w.iter_mut().enumerate() {
                *w = any.load(&words[32 * q + first..]);
            }
            for (q, c) in h8_registers(w).into_iter().enumerate() {
                c.store(&mut out[32 * q + first..]);
            }
        }
    }
}

/// H8 of eight steps in eight registers.
#[inline(always)]
pub(in crate::noise) fn h8_registers<V: Vector>(mut w: [V; 8]) -> [V; 8] {
    for w in w.iter_mut() {
        *w = w.shr_i16(3);
    }
    for reach in [4, 2, 1] {
        butterflies(&mut w, reach);
    }
    w
}

/// Sums and differences of registers at this distance.
#[inline(always)]
fn butterflies<V: Vector>(w: &mut [V], reach: usize) {
    for pair in w.chunks_exact_mut(2 * reach) {
        let (first, second) = pair.split_at_mut(reach);
        for (a, b) in first.iter_mut().zip(second) {
            (*a, *b) = (a.add16(*b), a.sub16(*b));
        }
    }
}

/// H8 of eight steps of eight lanes, in as few registers as possible: steps that share a register are aligned by
/// exchanging parts of two registers. The slots of each two registers come out interleaved: 0 2 and 1 3, or 0 4 2 6 and
/// 1 5 3 7.
#[inline(always)]
pub(crate) fn h8_by_parts<V: Vector>(mut block: [V; 8]) -> [V; 8] {
    let steps = V::BYTES / 16;
    let w = &mut block[..8 / steps];
    for w in w.iter_mut() {
        *w = w.shr_i16(3);
    }
    for reach in [4, 2, 1] {
        if reach >= steps {
            butterflies(w, reach / steps);
            continue;
        }
        for [a, b] in w.as_chunks_mut::<2>().0 {
            (*a, *b) = if reach == 2 {
                (a.lower_halves(*b), a.upper_halves(*b))
            } else {
                (a.even_parts(*b), a.odd_parts(*b))
            };
        }
        butterflies(w, 1);
    }
    block
}

/// The same, in order.
#[inline(always)]
pub(crate) fn h8_in_order<V: Vector>(block: [V; 8]) -> [V; 8] {
    let mut block = h8_by_parts(block);
    if V::BYTES > 16 {
        for [a, b] in block.as_chunks_mut::<2>().0 {
            (*a, *b) = (a.interleave_even_128(*b), a.interleave_odd_128(*b));
        }
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Level;

    #[test]
    fn one_word_is_or_one() {
        for w in 0..=u16::MAX {
            assert_eq!(centred(&[w]), (w | 1) as i16);
        }
    }

    #[test]
    fn symmetric_and_of_the_stated_deviation() {
        for k in 1..=MAX_SAMPLES {
            assert_eq!(centred(&vec![0x7fff; k as usize]), -centred(&vec![0x8000; k as usize]));
            // The deviation of the sum follows from one term over all of its values.
            let t = shift(k);
            let (mut sum, mut squares) = (0i64, 0i64);
            for w in 0..=u16::MAX {
                let term = i64::from(2 * (w as i16 >> t) + 1);
                sum += term;
                squares += term * term;
            }
            assert_eq!(sum, 0);
            let var = f64::from(k) * squares as f64 / 65536.0;
            assert!((Distribution::Sum(k).deviation().powi(2) / var - 1.0).abs() < 1e-12, "{k}");
        }
    }

    #[test]
    fn every_level_is_the_definition() {
        for lanes in [8usize, 32] {
            for k in 1..=MAX_SAMPLES {
                for blocks in 0..6usize {
                    let n = k as usize * blocks * lanes;
                    let mut words: Vec<u16> =
                        (0..n).map(|i| super::super::seed::mix64(i as u64 + 1) as u16).collect();
                    for (i, w) in words.iter_mut().take(n / 2).enumerate() {
                        *w = [0x7fff, 0x8000, 0, 0xffff][i / lanes % 4];
                    }
                    let want: Vec<i16> = (0..blocks * lanes)
                        .map(|x| {
                            let (m, lane) = (x / lanes, x % lanes);
                            let taken: Vec<u16> =
                                (0..k as usize).map(|j| words[(m * k as usize + j) * lanes + lane]).collect();
                            centred(&taken)
                        })
                        .collect();
                    for &level in Level::available() {
                        let mut got = vec![0; blocks * lanes];
                        centre(level, Distribution::Sum(k), lanes, &words, &mut got);
                        assert_eq!(got, want, "{level} {lanes} lanes, {k} words, {blocks} blocks");
                    }
                }
            }
        }
    }

    #[test]
    fn h8_at_every_level_and_at_its_ends() {
        // All words at their minimum: the sum is -32768, which just fits.
        assert_eq!(h8([0x8000; 8]), [-32768, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(h8([8, 0, 0, 0, 0, 0, 0, 0]), [1; 8]);
        assert_eq!(h8([0, 8, 0, 0, 0, 0, 0, 0]), [1, -1, 1, -1, 1, -1, 1, -1]);
        for lanes in [8usize, 32] {
            for blocks in 0..4 {
                let words: Vec<u16> = (0..blocks * 8 * lanes)
                    .map(|i| match i / 7 % 5 {
                        0 => 0x8000,
                        1 => 0x7fff,
                        _ => super::super::seed::mix64(i as u64 + 1) as u16,
                    })
                    .collect();
                for &level in Level::available() {
                    let mut got = vec![0; words.len()];
                    centre(level, Distribution::H8, lanes, &words, &mut got);
                    for m in 0..blocks {
                        for i in 0..lanes {
                            let at = |q: usize| (m * 8 + q) * lanes + i;
                            let want = h8(core::array::from_fn(|q| words[at(q)]));
                            for q in 0..8 {
                                assert_eq!(got[at(q)], want[q], "{level} {lanes} {m} {i} {q}");
                            }
                        }
                    }
                }
            }
        }
    }
}
