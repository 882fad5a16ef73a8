use super::*;

/// Every code of a depth, starting within a vector.
fn codes(bits: u8) -> Vec<u16> {
    (0..1u32 << bits).map(|x| x as u16).collect()
}

const LINES: &[(f64, f64)] = &[
    (1.0, 0.0),
    (0.0, 0.5),
    (0.3, 0.1),
    (1.7, -0.2),
    (-1.0, 1.0),
    (16.0, -3.0),
    (-16.0, 9.0),
    (0.999_99, 0.0),
    (2.0, 7.0),
    (3.0, -70.0),
    (1.0, -1.5),
];

#[test]
fn lines_are_the_definition_at_every_level_and_near_the_exact_line() {
    for bits in [8u8, 10, 12, 16] {
        let top = ((1u32 << bits) - 1) as u16;
        for &(gain, part) in LINES {
            let offset = part * f64::from(top);
            for (lo, hi, keep) in [
                (0, top, false),
                (16 << (bits - 8), 235 << (bits - 8), false),
                (16 << (bits - 8), 235 << (bits - 8), true),
            ] {
                let line = Affine::new(bits, gain, offset, (lo, hi), keep);
                let want: Vec<u16> = codes(bits).iter().map(|&x| line.of(x)).collect();
                for (&x, &w) in codes(bits).iter().zip(&want) {
                    let (lo, hi) = if keep { (lo.min(x), hi.max(x)) } else { (lo, hi) };
                    let exact = (f64::from(x) * gain + offset).clamp(lo.into(), hi.into());
                    let off = (f64::from(w) - exact).abs();
                    assert!(
                        off <= 0.5 + if bits == 8 { 1.0 / 80.0 } else { 1.0 / 16384.0 },
                        "{bits} {gain} {offset} {keep} at {x}: {w}, {exact}"
                    );
                }
                for &level in Level::available() {
                    for skip in [0, 1, 37] {
                        if bits == 8 {
                            let mut row: Vec<u8> = codes(8)[skip..].iter().map(|&x| x as u8).collect();
                            affine_u8(level, &mut row, &line);
                            assert!(
                                row.iter().zip(&want[skip..]).all(|(&a, &b)| u16::from(a) == b),
                                "{level} {gain} {offset} {lo}"
                            );
                        } else {
                            let mut row = codes(bits)[skip..].to_vec();
                            affine_u16(level, &mut row, &line);
                            assert!(row == want[skip..], "{level} {bits} {gain} {offset}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_power_is_near_the_exact_one_and_keeps_samples_that_are_not_finite() {
    for exponent in [0.1, 1.0 / 2.2, 1.0, 2.4, 10.0] {
        let power = Power::new(exponent, 0.1, 1.25, 0.5, 0.25);
        let mut row: Vec<f32> = (0..5000).map(|i| i as f32 * 4e-4 - 0.3).collect();
        row.extend([f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-30, 3e38, -3e38]);
        let source = row.clone();
        for &level in Level::available() {
            let mut got = source.clone();
            power.apply(level, &mut got);
            for (&x, &g) in source.iter().zip(&got) {
                assert_eq!(g.to_bits(), power.of(x).to_bits(), "{level} {x}");
                if !x.is_finite() {
                    assert_eq!(g.to_bits(), x.to_bits());
                    continue;
                }
                let v = f64::from((x - 0.1f32) * 1.25f32);
                let v = if v > 0.0 { libm::pow(v, exponent) } else { v };
                let exact = v * 0.5 + 0.25;
                if exact.abs() < 1e30 {
                    let bound =
                        1e-6 * (1.0 + exact.abs()) + 1.3e-7 * (exponent * (exponent - 1.0)).abs() * v.abs();
                    assert!((f64::from(g) - exact).abs() <= bound, "{exponent} at {x}: {g} {exact}");
                }
            }
        }
    }
}

#[test]
fn tables_are_looked_up_at_every_level() {
    let table = Table::new(8, |x| (x * 167 + 29) & 255);
    let source: Vec<u8> = (0..777u32).map(|i| ((i * 40503) >> 3) as u8).collect();
    for &level in Level::available() {
        for (skip, end) in [(0, 777), (1, 300), (3, 35), (7, 7), (0, 64)] {
            let mut row = source.clone();
            table.apply_u8(level, &mut row[skip..end]);
            for (i, (&was, &is)) in source.iter().zip(&row).enumerate() {
                let want = if (skip..end).contains(&i) { (u32::from(was) * 167 + 29) as u8 } else { was };
                assert_eq!(is, want, "{level} {skip} at {i}");
            }
        }
    }
}

#[test]
fn steep_lines_of_8_bits_are_tables_of_the_same() {
    for &(gain, part) in LINES {
        let line = Affine::new(8, gain, part * 255.0, (16, 235), true);
        for &level in Level::available() {
            let mut row: Vec<u8> = (0..=255).collect();
            Tone::line(line).apply(level, Depth::Bits(8), &mut row);
            let want: Vec<u8> = (0..=255).map(|x| line.of(x) as u8).collect();
            assert_eq!(row, want, "{level} {gain}");
        }
    }
}

#[test]
fn codes_that_there_are_not_become_the_same_at_every_level() {
    for &(gain, part) in LINES {
        for limits in [(0, 1023, false), (64, 940, true)] {
            let line = Affine::new(10, gain, part * 1023.0, (limits.0, limits.1), limits.2);
            let source: Vec<u16> = (0..65536u32).map(|x| x as u16).collect();
            let mut want = source.clone();
            affine_u16(Level::SCALAR, &mut want, &line);
            for &level in Level::available() {
                let mut got = source.clone();
                affine_u16(level, &mut got, &line);
                assert!(got == want, "{level} {gain} {part}");
            }
        }
    }
}

#[test]
fn results_of_codes_are_looked_up_at_every_level_and_length() {
    let scrambled: [u16; 256] = core::array::from_fn(|x| ((40503 * x as u32) >> 3) as u16);
    let wide: Vec<u16> = (0..1024u32).map(|x| ((40503 * x) >> 5) as u16).collect();
    let (row, mut out) = ([0, 1, 700, 1023, 1024, 65535], [0; 6]);
    CodeMap::new(wide.clone(), (0, u16::MAX)).row_u16(&mut out, &row);
    assert_eq!(out, [0, 1, 700, 1023, 1023, 1023].map(|code: usize| wide[code]));
    for words in [scrambled, core::array::from_fn(|x| (x as u16) << 8)] {
        let map = CodeMap::new(words.to_vec(), (0, u16::MAX));
        let row: Vec<u8> = (0..700u32).map(|i| ((i * 48271) >> 5) as u8).collect();
        for &level in Level::available() {
            for (start, len) in [(0, 0), (1, 1), (3, 31), (1, 64), (5, 129), (0, 700)] {
                let row = &row[start..start + len];
                let mut out = vec![0; len];
                map.row_u8(level, &mut out, row);
                let want: Vec<u16> = row.iter().map(|&x| words[usize::from(x)]).collect();
                assert_eq!(out, want, "{level}, {start}, {len}");
            }
        }
    }
}

#[test]
fn words_along_a_line_have_it_and_others_have_none() {
    let row: Vec<u8> = (0..=255).chain(3..=201).collect();
    let check = |words: Vec<u16>, legal: (u16, u16)| {
        let map = CodeMap::new(words.clone(), legal);
        for &level in Level::available() {
            let mut out = vec![0; row.len()];
            map.row_u8(level, &mut out, &row);
            assert!(out.iter().zip(&row).all(|(&o, &code)| o == words[usize::from(code)]), "{level}");
        }
        map.is_fast()
    };
    let mut lines = 0;
    for legal in [(0, u16::MAX), (4096, 60160)] {
        for i in 1..40 {
            for (offset, keep) in [(0.3, true), (-3000.0, true), (0.3, false), (5000.0, false)] {
                let line = Affine::new(16, 0.0497 * f64::from(i), offset, legal, keep);
                lines += i32::from(check((0..256).map(|code| line.of(code << 8)).collect(), legal));
            }
        }
        // A single code that is off has to be found.
        let mut words: Vec<u16> = (0..256).map(|code| 128 * code + 7000).collect();
        assert!(check(words.clone(), legal));
        words[133] += 1;
        assert!(!check(words, legal));
        assert!(!check((0..256u16).map(|code| code * code).collect(), legal));
    }
    assert!(lines > 280, "{lines} of 312");
}
