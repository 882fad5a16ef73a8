//! The kernels against the reference, and the reference against its specification.

use super::*;
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
    let scales: Vec<Scale> = [0.0, 0.01, 0.3, 1.0, 6.0, 255.0, 1536.0, 4000.0, 20000.0, 65280.0]
        .into_iter()
        .flat_map(|sd| {
            [Distribution::Sum(1), Distribution::Sum(4), Distribution::H8]
                .map(|distribution| Scale::new(distribution, sd))
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
                        let noises: [(Noise<'_>, Vec<i16>); 2] = [
                            (Noise::Words(&words[offset..]), words.iter().map(|w| (w | 1) as i16).collect()),
                            (Noise::Centred(&centred[offset..]), centred.clone()),
                        ];
                        for (noise, c) in noises {
                            let want: Vec<u16> = (offset..n + offset)
                                .map(|x| reference(samples[x], c[x], scale, legal))
                                .collect();
                            let mut row = samples.clone();
                            add_u16(level, &mut row[offset..], noise, scale, legal);
                            assert_eq!(row[offset..], want, "{level} {scale:?} {n} {legal:?}");
                            if legal.1 < 256 && scale.fits_i16() {
                                let (lo, hi) = (legal.0 as u8, legal.1 as u8);
                                let mut row: Vec<u8> = samples.iter().map(|s| *s as u8).collect();
                                let want: Vec<u8> = (offset..n + offset)
                                    .map(|x| reference(row[x].into(), c[x], scale, legal) as u8)
                                    .collect();
                                add_u8(level, &mut row[offset..], noise, scale, (lo, hi));
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
    let words = numbers(301, 5);
    let odd =
        [f32::NAN, f32::from_bits(0xffc1_2345), f32::from_bits(0x7f80_0001), f32::INFINITY, -f32::INFINITY];
    let samples: Vec<f32> = (0..301)
        .map(|i| if i % 7 == 3 { odd[i / 7 % 5] } else { (mix64(i as u64) as u32 as f32) / 4e9 - 0.2 })
        .collect();
    let gain = (6.0 / 255.0 / Distribution::UNIFORM.deviation()) as f32;
    for &level in Level::available() {
        for n in LENGTHS {
            let mut row = samples.clone();
            add_f32(level, &mut row[1..=n], Noise::Words(&words[..n]), gain);
            for x in 0..n {
                let s = samples[x + 1];
                let want = if s.is_finite() { s + f32::from((words[x] | 1) as i16) * gain } else { s };
                assert_eq!(row[x + 1].to_bits(), want.to_bits(), "{level} {n} {x}");
            }
        }
    }
}

/// Mean and standard deviation of rounded noise over all c (k = 1) or a large sample.
fn measured(distribution: Distribution, scale: Scale) -> (f64, f64) {
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
        let (mean, found) = measured(Distribution::Sum(1), Scale::new(Distribution::Sum(1), sd));
        assert!((found / sd - 1.0).abs() < 0.004, "uniform {sd}: {found}");
        // There is no bias; for gains beyond one code per unit of c (where no shift remains) only nearly.
        assert!(mean.abs() <= sd * 1e-4 && (sd > 8191.0 || mean == 0.0), "uniform {sd}: mean {mean}");
    }
    for distribution in [Distribution::Sum(2), Distribution::Sum(4), Distribution::Sum(16), Distribution::H8]
    {
        for sd in [0.3, 0.5, 1.0, 1.5, 6.0, 255.0, 1536.0] {
            let (mean, found) = measured(distribution, Scale::new(distribution, sd));
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
        assert!(Scale::new(Distribution::Sum(4), none).is_zero(), "{none}");
    }
    assert_eq!(Scale::new(Distribution::Sum(1), f64::INFINITY), Scale::new(Distribution::Sum(1), 65535.0));
    for factor in [1e-300, 1e-9, 1e-5, 0.001, 0.5, 1.0, 9.76, 15.9] {
        let scale = Scale::of_factor(factor);
        assert!(scale.is_zero() || (scale.factor() / factor - 1.0).abs() < 1e-3, "{factor}: {scale:?}");
    }
    assert!(Scale::of_factor(1e-300).is_zero() && Scale::of_factor(f64::NAN).is_zero());
}
