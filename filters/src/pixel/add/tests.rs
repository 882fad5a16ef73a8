//! The kernels against the reference, and the reference against its specification.

use super::*;
use crate::noise::lfsr31::{self, Lanes};
use crate::noise::seed::mix64;
use crate::noise::{Distribution, distribution};
use crate::simd::Level;

/// Full-range numbers, starting with the extremes.
fn numbers(n: usize, seed: u64) -> Vec<u16> {
    let extremes = [0, 1, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff];
    (0..n).map(|i| *extremes.get(i % 19).unwrap_or(&(mix64(seed + i as u64) as u16))).collect()
}

const LENGTHS: [usize; 12] = [0, 1, 7, 15, 16, 31, 33, 63, 64, 65, 129, 300];

#[test]
fn integer_kernels_are_the_definition() {
    let scales: Vec<NoiseGain> = [0.0, 0.01, 0.3, 1.0, 6.0, 255.0, 1536.0, 4000.0, 20000.0, 65280.0]
        .into_iter()
        .flat_map(|sd| {
            [Distribution::Sum(1), Distribution::Sum(4), Distribution::H8]
                .map(|distribution| NoiseGain::new(distribution, sd))
        })
        .collect();
    for &level in Level::available() {
        for (i, &scale) in scales.iter().enumerate() {
            for offset in [0, 1, 3] {
                for n in LENGTHS {
                    let samples = numbers(n + offset, 1000 * i as u64);
                    let words = numbers(n + offset, 77 + i as u64);
                    let centred: Vec<i16> = words.iter().map(|w| *w as i16).collect();
                    for legal in [(0, 65535), (4096, 60160), (16, 235)] {
                        for or in [0, 1] {
                            let c = &centred[offset..];
                            let want: Vec<u16> = (0..n)
                                .map(|x| reference(samples[offset + x], c[x] | or, scale, legal))
                                .collect();
                            let mut row = samples.clone();
                            add(level, &mut row[offset..], c, or, scale, legal);
                            assert_eq!(row[offset..], want, "{level} {scale:?} {n} {legal:?}");
                            if legal.1 < 256 && scale.fits_i16() {
                                let (lo, hi) = (legal.0 as u8, legal.1 as u8);
                                let mut row: Vec<u8> = samples.iter().map(|s| *s as u8).collect();
                                let want: Vec<u8> = (0..n)
                                    .map(|x| reference(row[offset + x].into(), c[x] | or, scale, legal) as u8)
                                    .collect();
                                add(level, &mut row[offset..], c, or, scale, (lo, hi));
                                assert_eq!(row[offset..], want, "{level} {scale:?} {n} {legal:?}");
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn float_kernel_is_a_product_and_a_sum_and_keeps_samples_that_are_not_finite() {
    let words: Vec<i16> = numbers(301, 5).iter().map(|w| *w as i16).collect();
    let odd =
        [f32::NAN, f32::from_bits(0xffc1_2345), f32::from_bits(0x7f80_0001), f32::INFINITY, -f32::INFINITY];
    let samples: Vec<f32> = (0..301)
        .map(|i| if i % 7 == 3 { odd[i / 7 % 5] } else { (mix64(i as u64) as u32 as f32) / 4e9 - 0.2 })
        .collect();
    let gain = (6.0 / 255.0 / Distribution::UNIFORM.deviation()) as f32;
    for &level in Level::available() {
        for n in LENGTHS {
            let mut row = samples.clone();
            add_f32(level, &mut row[1..=n], &words[..n], 1, gain);
            for x in 0..n {
                let s = samples[x + 1];
                let want = if s.is_finite() { s + f32::from(words[x] | 1) * gain } else { s };
                assert_eq!(row[x + 1].to_bits(), want.to_bits(), "{level} {n} {x}");
            }
        }
    }
}

/// Mean and standard deviation of rounded noise over all c (k = 1) or a large sample.
fn measured(distribution: Distribution, scale: NoiseGain) -> (f64, f64) {
    let mut all = Vec::new();
    match distribution {
        Distribution::Sum(1) => all.extend((0..=u16::MAX).map(|w| (w | 1) as i16)),
        Distribution::Sum(k) => {
            for i in 0..1_000_000u64 {
                let words: Vec<u16> = (0..u64::from(k)).map(|j| mix64(i * 16 + j + 1) as u16).collect();
                let c = distribution::centred(&words);
                all.extend([c, -c]);
            }
        }
        Distribution::H8 => {
            for i in 0..250_000u64 {
                all.extend(distribution::h8(core::array::from_fn(|j| mix64(i * 8 + j as u64 + 1) as u16)));
            }
        }
    }
    let n = all.len() as f64;
    let (sum, squares) =
        all.iter().map(|&c| f64::from(scale.of(c))).fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    (sum / n, (squares / n).sqrt())
}

#[test]
fn deviation_after_rounding_is_the_requested_one() {
    for sd in [0.1, 0.3, 0.5, 0.577, 0.58, 0.816, 0.82, 1.0, 1.5, 2.0, 6.0, 40.0, 255.0, 1536.0, 65280.0] {
        let (mean, found) = measured(Distribution::Sum(1), NoiseGain::new(Distribution::Sum(1), sd));
        assert!((found / sd - 1.0).abs() < 0.004, "uniform {sd}: {found}");
        // There is no bias; for gains beyond one code per unit of c (where no shift remains) only nearly.
        assert!(mean.abs() <= sd * 1e-4 && (sd > 8191.0 || mean == 0.0), "uniform {sd}: mean {mean}");
    }
    for distribution in [Distribution::Sum(2), Distribution::Sum(4), Distribution::Sum(16), Distribution::H8]
    {
        for sd in [0.3, 0.5, 1.0, 1.5, 6.0, 255.0, 1536.0] {
            let (mean, found) = measured(distribution, NoiseGain::new(distribution, sd));
            assert!((found / sd - 1.0).abs() < 0.004, "{distribution:?} {sd}: {found}");
            // Sums have symmetric pairs; H8 is sampled at random.
            let slack = if distribution == Distribution::H8 { 5.0 / 2e6f64.sqrt() } else { 1e-4 };
            assert!(mean.abs() <= sd * slack, "{distribution:?} {sd}: mean {mean}");
        }
    }
}

#[test]
fn scales_at_the_edges() {
    for none in [0.0, -1.0, f64::NAN] {
        assert!(NoiseGain::new(Distribution::Sum(4), none).is_zero(), "{none}");
    }
    assert_eq!(
        NoiseGain::new(Distribution::Sum(1), f64::INFINITY),
        NoiseGain::new(Distribution::Sum(1), 65535.0)
    );
    for factor in [1e-300, 1e-9, 1e-5, 0.001, 0.5, 1.0, 9.76, 15.9] {
        let scale = NoiseGain::of_factor(factor);
        let made = f64::from(scale.gain) / f64::from(1u32 << scale.shift);
        assert!(scale.is_zero() || (made / factor - 1.0).abs() < 1e-3, "{factor}: {scale:?}");
    }
    assert!(NoiseGain::of_factor(1e-300).is_zero() && NoiseGain::of_factor(f64::NAN).is_zero());
}

/// Compares the fused kernel to the separate passes.
fn compare<T: NoiseSample>(
    level: Level,
    (distribution, scale): (Distribution, NoiseGain),
    n: usize,
    sample: impl Fn(u64) -> T,
    legal: (T, T),
) {
    let lanes = Lanes::of(core::array::from_fn(|l| mix64((n * 16 + l) as u64) as u32));
    let source: Vec<T> = (0..n + 3).map(|x| sample(mix64((x * 7 + n) as u64))).collect();
    let mut want = source.clone();
    let mut words = vec![0; n.next_multiple_of(64)];
    let mut c = vec![0; n.next_multiple_of(64)];
    lfsr31::fill(Level::SCALAR, &mut lanes.clone(), &mut words);
    distribution::centre(Level::SCALAR, distribution, 8, &words, &mut c);
    add(Level::SCALAR, &mut want[1..=n], &c[..n], 0, scale, legal);
    let mut got = source;
    add_lfsr31(level, &mut got[1..=n], &lanes, distribution, scale, legal);
    assert!(got == want, "{level} {distribution:?} {scale:?} {n}");
}

/// Strengths, distributions and the levels with registers.
fn fused_cases<const N: usize>(
    strengths: [f64; N],
) -> impl Iterator<Item = (Level, (Distribution, NoiseGain))> {
    let cases = strengths.into_iter().flat_map(|s| [(s, Distribution::UNIFORM), (s, Distribution::H8)]);
    let cases = cases.map(|(s, distribution)| (distribution, NoiseGain::new(distribution, s)));
    cases.flat_map(|case| Level::available()[1..].iter().map(move |&level| (level, case)))
}

const LONG: [usize; 8] = [511, 512, 513, 767, 1920, 2047, 2048, 2049];

#[test]
fn bytes_are_those_of_filling_and_adding() {
    for (level, case) in fused_cases([0.7, 1.5, 6.0, 13.0, 100.0]) {
        for (n, legal) in (0..300).chain(LONG).flat_map(|n| [(n, (0, 255)), (n, (16, 235))]) {
            compare(level, case, n, |r| r as u8, legal);
        }
    }
}

#[test]
fn words_are_those_of_filling_and_adding() {
    for (level, case) in fused_cases([1.5, 100.0, 1600.0]) {
        let legals = [(0, 65535), (64, 940), (4096, 60160)];
        for (n, legal) in (0..300).chain(LONG).flat_map(|n| legals.map(|legal| (n, legal))) {
            compare(level, case, n, |r| r as u16, legal);
        }
    }
}

#[test]
fn fused_kernels_are_for_one_word_and_noise_of_16_bits() {
    let fuses =
        |distribution, codes| can_fuse(Level::best(), distribution, NoiseGain::new(distribution, codes));
    assert_eq!(fuses(Distribution::UNIFORM, 6.0), Level::best() > Level::SCALAR);
    assert!(!fuses(Distribution::Sum(2), 6.0) && !fuses(Distribution::H8, 20000.0));
    assert!(!can_fuse(Level::SCALAR, Distribution::UNIFORM, NoiseGain::ZERO));
}
