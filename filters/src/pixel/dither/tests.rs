//! The kernels against the reference, and the mask.

use super::*;
use crate::noise::seed::{fnv1a64, mix64};

fn codes() -> Vec<(Code, Code, (u16, u16))> {
    let mut all = Vec::new();
    for deep in [9, 10, 12, 16u8] {
        for bits in 8..deep {
            let up = |c: u32| (c << (bits - 8)) as u16;
            for full in [false, true] {
                let legal = if full { (0, ((1u32 << bits) - 1) as u16) } else { (up(16), up(235)) };
                all.push((Code::luma(deep, full), Code::luma(bits, full), legal));
                all.push((Code::chroma(deep, full), Code::chroma(bits, full), legal));
            }
        }
    }
    all
}

#[test]
fn without_noise_it_is_plain_rounding() {
    use crate::pixel::convert::Scale;
    for (from, to, legal) in codes() {
        let (by, scale) = (Reduce::new(from, to, legal), Scale::new(from, to));
        for v in 0..=from.top {
            let (a, b) = (i32::from(by.one(v, 0)), i32::from(scale.one(v)));
            // Values exactly between two codes may be rounded either way, since 1/257 is not a binary
            // fraction.
            assert!(
                (a - b).abs() <= i32::from(from.top < 65535 && to.top != 255),
                "{from:?} {to:?} {v}: {a} {b}"
            );
        }
    }
}

#[test]
fn rows_at_every_level() {
    for (from, to, legal) in codes() {
        let by = Reduce::new(from, to, legal);
        for width in [0, 1, 7, 31, 64, 129, 300] {
            // Every third is near black.
            let code = |i: usize| mix64(i as u64 + 1) as u16 >> (if i % 3 == 2 { 8 } else { 0 });
            let row: Vec<u16> = (0..width).map(|i| code(i) & from.top).collect();
            let noise: Vec<i16> = (0..width)
                .map(|i| match i % 5 {
                    0 => i16::MIN,
                    1 => i16::MAX,
                    _ => mix64(i as u64 + 99) as i16,
                })
                .collect();
            let want: Vec<u16> = row.iter().zip(&noise).map(|(&v, &r)| by.one(v, r)).collect();
            for &level in Level::available() {
                let mut out = vec![0u16; width + 1];
                reduce_row(level, &mut out[1..], &row, &noise, &by);
                assert_eq!(out[1..], want, "{level} {width}");
                if to.top == 255 {
                    let mut out = vec![0u8; width];
                    reduce_row(level, &mut out, &row, &noise, &by);
                    assert!(out.iter().zip(&want).all(|(&a, &b)| u16::from(a) == b), "{level} {width}");
                }
                let words: Vec<u16> = noise.iter().map(|&n| n as u16).chain([7]).collect();
                let above: Vec<u16> = words.iter().map(|w| w.wrapping_mul(40503)).collect();
                for odd in [false, true] {
                    let mut out = vec![0; width];
                    high_pass(level, &mut out, [&above, &words], odd);
                    for x in 0..width {
                        let beside = if (x % 2 == 1) == odd { words[x] } else { above[x + 1] };
                        assert_eq!(i32::from(out[x]), i32::from(words[x + 1] / 2) - i32::from(beside / 2));
                    }
                }
                if let Some(uniform) = UniformReduce::new(from, to, legal) {
                    let places: Vec<usize> =
                        (0..width.div_ceil(64)).map(|i| blue::place(7 * i % 64, 63 - i)).collect();
                    let levels = blue::levels(uniform.shift);
                    let want: Vec<u16> =
                        (0..width).map(|x| uniform.one(row[x], levels[places[x / 64] + x % 64])).collect();
                    let mut out = vec![7u16; width + 1];
                    uniform_row(level, &mut out[1..], &row, &places, &uniform);
                    assert_eq!(out[1..], want, "{level} {width}");
                    if to.top == 255 {
                        let mut out = vec![7u8; width];
                        uniform_row(level, &mut out, &row, &places, &uniform);
                        assert!(out.iter().zip(&want).all(|(&a, &b)| u16::from(a) == b), "{level} {width}");
                    } else {
                        // The same as the general form.
                        let mut noise = vec![0; width];
                        uniform_noise(&mut noise, &places, &by);
                        assert!((0..width).all(|x| by.one(row[x], noise[x]) == want[x]), "{from:?} {to:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn uniform_noise_leaves_exact_codes_and_no_mean() {
    use crate::pixel::convert::Scale;
    for shift in 1..=8 {
        let levels = blue::levels(shift).iter();
        assert_eq!(levels.map(|l| l >> shift).max(), Some(0), "{shift}");
    }
    for (from, to, legal) in codes().into_iter().filter(|c| c.0.top == 65535) {
        let up = Scale::new(to, from);
        let by = Reduce::new(from, to, legal);
        let bytes = UniformReduce::new(from, to, legal).filter(|_| to.top == 255);
        for code in 0..=to.top {
            let v = up.one(code);
            for level in 0..256u16 {
                // The limits of the mask's level: ranks of 4096.
                for rank in [16 * level, 16 * level + 15] {
                    let r = blue::uniform(rank, by.uniform_part());
                    // Full-range chroma of 0 was clipped in the conversion to 16 bits.
                    let exact = by.one(v, 0) == code && v > 0;
                    assert!(by.one(v, r) == code || !exact, "{from:?} {to:?} {code} {r}");
                }
                if let Some(bytes) = &bytes {
                    assert_eq!(bytes.one(v, level), code, "{from:?} {to:?} {level}");
                }
            }
        }
        if let Some(bytes) = &bytes {
            // Between codes, the mean of all levels is the deep code.
            for v in (from.zero as u16 + 3000..50000).step_by(97) {
                let mean = (0..256).map(|l| f64::from(bytes.one(v, l))).sum::<f64>() / 256.0;
                let want = f64::from(to.zero)
                    + (f64::from(v) - f64::from(from.zero)) * f64::from(to.span) / f64::from(from.span);
                assert!((mean - want).abs() < 0.01, "{from:?} {v}: {mean} for {want}");
            }
        }
    }
}

#[test]
fn legal_samples_stay_legal_and_others_may_stay() {
    let by = Reduce::new(Code::luma(16, false), Code::luma(8, false), (16, 235));
    assert_eq!((by.one(16 << 8, i16::MIN), by.one(235 << 8, i16::MAX)), (16, 235));
    assert_eq!((by.one(10 << 8, i16::MIN), by.one(250 << 8, i16::MAX)), (10, 250));
    assert_eq!((by.one(100 << 8, i16::MIN), by.one(100 << 8, 32767)), (99, 101));
}

#[test]
fn the_mask_has_each_rank_once_and_is_frozen() {
    let ranks = blue::ranks();
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    assert!(sorted.iter().enumerate().all(|(i, &r)| i == usize::from(r)));
    let bytes: Vec<u8> = ranks.iter().flat_map(|r| r.to_le_bytes()).collect();
    assert_eq!(fnv1a64(&bytes), 0x9454_bb2b_805b_c4e5);
}

#[test]
fn the_mask_is_blue_at_every_threshold() {
    let ranks = blue::ranks();
    for part in [0.05, 0.2, 0.5, 0.8] {
        let limit = (part * 4096.0) as u16;
        let on = |x: usize, y: usize| f64::from(u8::from(ranks[y % 64 * 64 + x % 64] < limit)) - part;
        // Boxes of 8x8 have nearly the expected number of points: white noise would have a variance of 64 p (1 - p).
        let mut sum = 0.0;
        for (y, x) in (0..64).flat_map(|y| (0..64).map(move |x| (y, x))) {
            let count: f64 = (0..64).map(|i| on(x + i % 8, y + i / 8)).sum();
            sum += count * count;
        }
        let ratio = sum / 4096.0 / (64.0 * part * (1.0 - part));
        // A small number of points cannot be distributed as evenly.
        assert!(ratio < if part < 0.1 { 0.3 } else { 0.15 }, "{part}: {ratio}");
    }
    let noise = blue::triangular();
    let variance = noise.iter().map(|&r| (f64::from(r) / 32768.0).powi(2)).sum::<f64>() / 4096.0;
    assert!((variance * 6.0 - 1.0).abs() < 0.01, "{variance}");
    let mut row = [0; 150];
    blue::fill(&mut row, 60, 130);
    for (x, &r) in row.iter().enumerate() {
        assert_eq!(r, noise[2 * 64 + (60 + x) % 64]);
    }
}
