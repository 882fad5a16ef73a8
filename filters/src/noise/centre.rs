//! From words to numbers that are symmetric about zero.
//!
//! A word read as signed 16 bits has a mean of -1/2, which a filter of many frames or a strong scale would show as a
//! shift of the picture. So what is scaled is
//!
//! `c = 2 * sum(w[j] >> t) + k`, j = 0..k, t = 1 + ceil(log2 k), `>>` arithmetic on the word read as signed.
//!
//! Each `2 * (w >> t) + 1` takes the odd numbers from `-(2^(16-t) - 1)` to `2^(16-t) - 1`, all equally often: c is
//! exactly symmetric, and |c| is at most 32767, so that 16-bit lanes never overflow. For one word it is `w | 1`.

use super::MAX_SAMPLES;
use crate::simd::multiversion;

/// The shift t of a sum of `samples` words.
#[inline(always)]
pub const fn shift(samples: u32) -> u32 {
    1 + samples.next_power_of_two().trailing_zeros()
}

/// The standard deviation of c, exactly `sqrt(k * (4^(16-t) - 1) / 3)`.
pub fn deviation(samples: u32) -> f64 {
    let levels = f64::from(1u32 << (16 - shift(samples)));
    // sqrt is correctly rounded on every machine.
    (f64::from(samples) * (levels * levels - 1.0) / 3.0).sqrt()
}

/// c of one pixel's words: the definition.
pub fn centred(words: &[u16]) -> i16 {
    let k = words.len() as u32;
    debug_assert!((1..=MAX_SAMPLES).contains(&k));
    let sum: i32 = words.iter().map(|&w| i32::from(w as i16 >> shift(k))).sum();
    (2 * sum + k as i32) as i16
}

/// `LANES` lanes side by side: pixel block m takes the words of steps k*m .. k*m+k-1, and lane i is its pixel i.
#[inline(always)]
fn sums<const LANES: usize>(samples: u32, words: &[u16], out: &mut [i16]) {
    let (k, t) = (samples as usize, shift(samples));
    for (out, words) in out.chunks_exact_mut(LANES).zip(words.chunks_exact(LANES * k)) {
        let mut sum = [0i16; LANES];
        for step in words.chunks_exact(LANES) {
            for i in 0..LANES {
                sum[i] += step[i] as i16 >> t;
            }
        }
        for i in 0..LANES {
            out[i] = 2 * sum[i] + samples as i16;
        }
    }
}

#[inline(always)]
fn sums_body(lanes: usize, samples: u32, words: &[u16], out: &mut [i16]) {
    match lanes {
        8 => sums::<8>(samples, words, out),
        _ => sums::<32>(samples, words, out),
    }
}

multiversion! {
    /// c of whole blocks of pixels, for a stream of 8 or 32 `lanes` in step order: `out.len()` is a multiple of
    /// `lanes` and `words.len()` is `samples` times that.
    pub fn centre(level, lanes: usize, samples: u32, words: &[u16], out: &mut [i16]) = sums_body;
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
            // One term, all its values, gives the deviation of the sum.
            let t = shift(k);
            let (mut sum, mut squares) = (0i64, 0i64);
            for w in 0..=u16::MAX {
                let term = i64::from(2 * (w as i16 >> t) + 1);
                sum += term;
                squares += term * term;
            }
            assert_eq!(sum, 0);
            let var = f64::from(k) * squares as f64 / 65536.0;
            assert!((deviation(k) * deviation(k) / var - 1.0).abs() < 1e-12, "{k}");
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
                        centre(level, lanes, k, &words, &mut got);
                        assert_eq!(got, want, "{level} {lanes} lanes, {k} words, {blocks} blocks");
                    }
                }
            }
        }
    }
}
