//! Kernels against their references, at every level.

use super::*;
use crate::noise::distribution::centre;
use crate::noise::seed::{Layer, fnv1a64, mix64};
use crate::noise::{CycleStart, Distribution, Generator, Layout, Shape, Stream};
use crate::pixel::field::mirror;
use crate::simd::Level;

/// Full-range numbers, with runs of both ends among them.
fn wild(n: usize, seed: u64) -> Vec<i16> {
    (0..n)
        .map(|i| match mix64((i / 5) as u64 ^ seed) % 5 {
            0 => i16::MIN,
            1 => i16::MAX,
            _ => mix64(i as u64 + 1 + seed) as i16,
        })
        .collect()
}

/// The kernel at a position, from the definition only.
fn h_at(g: &[i16], x: usize, taps: Taps) -> i16 {
    let at = |d: isize| g[mirror(x as isize + d, g.len())] >> 1;
    let pair = |d: isize| at(-d).wrapping_add(at(d));
    let h = i32::from(at(0)) + i32::from(mulhi(pair(1), taps.a));
    let h = h.clamp(-32768, 32767) + i32::from(mulhi(pair(2), taps.b));
    h.clamp(-32768, 32767) as i16
}

fn n_at(h: [i16; 5], taps: Taps) -> i16 {
    let near = mulhi(h[1].saturating_add(h[3]), taps.a);
    let far = mulhi(h[0].saturating_add(h[4]), taps.b);
    h[2].saturating_add(near).saturating_add(far)
}

const ALL_TAPS: [Taps; 6] = [
    Taps { a: 0, b: 0 },
    Taps { a: 13763, b: 0 },
    Taps { a: 32767, b: 0 },
    Taps { a: 28836, b: 9830 },
    Taps { a: 6554, b: -7864 },
    Taps { a: 0, b: -32767 },
];

#[test]
fn the_plane_of_the_vectors() {
    let (w, h) = (1920usize, 1080usize);
    let shape = Shape::new(&[(1920, 1080)], Layout::Keyed, Distribution::H8).unwrap();
    let stream =
        Stream::new(Generator::Xs64, &shape, CycleStart::Seed(1), Layer::BASE, Level::best()).unwrap();
    for &level in Level::available() {
        let rows: Vec<Vec<i16>> = (0..h)
            .map(|y| {
                let mut words = vec![0; 2048];
                stream.fill_row(0, 0, y as u32, 0..1920, &mut words);
                let mut g = vec![0; 2048];
                centre(level, Distribution::H8, 32, &words, &mut g);
                let halves: Vec<i16> = g[..w].iter().map(|g| g >> 1).collect();
                let mut padded = [&[0; 2][..], &halves, &[0; 2]].concat();
                let mut out = vec![0; w];
                across_halves(level, &mut out, &mut padded, Taps::new(0.21, 0.0));
                out
            })
            .collect();
        let mut bytes = Vec::new();
        let mut out = vec![0; w];
        for y in 0..h {
            let at = |d: isize| &rows[mirror(y as isize + d, h)][..];
            down(level, &mut out, [at(-2), at(-1), at(0), at(1), at(2)], Taps::new(0.21, 0.0));
            if y == 0 {
                assert_eq!(out[..8], [-3906, -7536, -5466, 4098, -4481, -1788, -3366, -407]);
            }
            bytes.extend(out.iter().flat_map(|n| n.to_le_bytes()));
        }
        assert_eq!(fnv1a64(&bytes), 0x0272_15d7_fb4c_abca, "{level}");
    }
}

#[test]
fn passes_are_their_definition_at_every_level_and_width() {
    for width in 1..200usize {
        let pass = Pass {
            step: [1, 2, 4, 64][width % 4],
            across: [32767, -7864, 0, 12000, 1][width % 5],
            down: [-7864, 32767, 20000, 0, 5][width / 5 % 5],
            lift: [0, 3, -2][width % 3],
            shift: [0, 1][width / 25 % 2],
        };
        let row: Vec<i16> = wild(width + 2 * pass.step, width as u64).iter().map(|v| v >> 1).collect();
        let half = |v: i16| i32::from(v) >> 1;
        let across: Vec<i16> = (0..width)
            .map(|x| {
                let pair = half(row[x]) + half(row[x + 2 * pass.step]);
                (half(row[x + pass.step]) + ((pair * i32::from(pass.across)) >> 16)) as i16
            })
            .collect();
        let whole = width.next_multiple_of(32);
        let rows: Vec<Vec<i16>> = (0..2).map(|i| wild(whole, 1000 * i + width as u64)).collect();
        let sat = |v: i32| v.clamp(-32768, 32767);
        let down: Vec<i16> = (0..width)
            .map(|x| {
                let [u, h, d] = [rows[0][x], rows[1][x], across[x]].map(i32::from);
                let sum = sat(h + ((sat(u + d) * i32::from(pass.down)) >> 16));
                (sat(sum + i32::from(pass.lift)) >> pass.shift).clamp(-16384, 16383) as i16
            })
            .collect();
        for &level in Level::available() {
            let halves: Vec<i16> = row.iter().map(|v| v >> 1).collect();
            // At an odd offset, so that no level may rely on alignment.
            let room = vec![7; whole - width];
            let (source, mut out) = ([&[7], &halves[..], &room].concat(), vec![0; width + 1]);
            pass_across(level, &mut out[1..], &source[1..][..halves.len()], &pass);
            assert_eq!(out[1..], across, "{level} {pass:?}");
            for (halved, in_place) in [(false, false), (false, true), (true, false), (true, true)] {
                let (mut out, mut fresh) = (source.clone(), vec![0; whole + 1]);
                let row = (!in_place).then_some(&source[1..]);
                let h = [&rows[0][..], &rows[1]];
                pass_both(level, (&mut out[1..], row), &mut fresh[1..], h, &pass, halved);
                assert_eq!(fresh[1..=width], across, "{level} {pass:?}");
                let same = |(&y, &v): (&i16, &i16)| y == v >> i16::from(halved);
                assert!(out[1..=width].iter().zip(&down).all(same), "{level} {pass:?} {halved} {in_place}");
            }
        }
    }
}

#[test]
fn the_kernel_at_every_level_and_width() {
    for width in 1..300 {
        let taps = ALL_TAPS[width % ALL_TAPS.len()];
        let g = wild(width, width as u64);
        let want: Vec<i16> = (0..width).map(|x| h_at(&g, x, taps)).collect();
        let rows: Vec<Vec<i16>> = (0..5).map(|i| wild(width, 1000 * i + width as u64)).collect();
        let want_down: Vec<i16> =
            (0..width).map(|x| n_at(core::array::from_fn(|i| rows[i][x]), taps)).collect();
        for &level in Level::available() {
            // At an odd offset, so that no level may rely on alignment.
            let mut out = vec![0; width + 1];
            let mut padded = [&[0; 3][..], &g.iter().map(|v| v >> 1).collect::<Vec<_>>(), &[0; 2]].concat();
            across_halves(level, &mut out[1..], &mut padded[1..], taps);
            assert_eq!(out[1..], want, "{level} {width} {taps:?}, halves");
            let five = core::array::from_fn(|i| &rows[i][..]);
            down(level, &mut out[1..], five, taps);
            assert_eq!(out[1..], want_down, "{level} {width} {taps:?}");
        }
    }
}

#[test]
fn black_and_white_are_the_ends_of_the_ramp() {
    for bits in 8..=16u8 {
        let up = |c: u32| (c << (bits - 8)) as u16;
        for (low, high) in [(0, ((1u32 << bits) - 1) as u16), (up(16), up(235))] {
            let ramp = Ramp::new(bits, (low, high));
            assert_eq!((ramp.of(low), ramp.of(high)), (0, 65535), "{bits} {low} {high}");
            assert_eq!((ramp.of(0), ramp.of(u16::MAX)), (0, 65535));
            let mut before = 0;
            for code in low..=high {
                let u = ramp.of(code);
                let exact = 65535.0 * f64::from(code - low) / f64::from(high - low);
                assert!(u >= before && (f64::from(u) - exact).abs() <= 1.5, "{bits} {code} {u} {exact}");
                before = u;
            }
        }
    }
}

fn gains() -> Vec<Gain> {
    let film = |u: f64| 4.0 * u * (1.0 - u) / 3641.0;
    let mut list: Vec<Gain> = [0.5, 3.0, 40.0].iter().map(|s| Gain::new(true, |u| s * film(u))).collect();
    list.push(Gain::new(false, |u| 5.0 * film(u * u)));
    list.push(Gain::new(true, |_| 0.0));
    // For samples of more than 8 bits only: shifts of 16, 15, 14 and 10.
    list.extend([0.2, 0.4, 0.9, 9.0].map(|s| Gain::new(true, |u| s * u)));
    assert!(list.iter().map(|g| g.shift).skip(5).eq([16, 15, 14, 10]));
    list
}

#[test]
fn gains_are_exact_roundings_of_the_factor() {
    for gain in gains().into_iter().chain([Gain::new(true, |u| u), Gain::new(false, |_| 9.0)]) {
        for n in wild(300, 3) {
            for s in [0, 1, 8191, 16383] {
                let exact = f64::from(n) * f64::from(s) / (1u64 << gain.shift) as f64;
                assert_eq!(f64::from(gain.codes(n, s)), (exact + 0.5).floor());
                if gain.fits_i16() {
                    let k = gain.shift - 16;
                    assert_eq!(gain.codes(n, s), (i32::from(mulhi(n, s)) + (1 << (k - 1))) >> k);
                }
            }
        }
        assert!((8..=30).contains(&gain.shift));
    }
    let half = Gain::new(true, |u| u * 0.01);
    let at = |u| f64::from(half.response.of(u)) / f64::from(1u32 << half.shift);
    for u in [0u16, 4096, 10000, 32768, 60000, 65535] {
        assert!((at(u) - 0.01 * f64::from(u) / 65536.0).abs() < 2e-6, "{u}: {}", at(u));
    }
}

#[test]
fn float_samples_at_every_level() {
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.5, 1.5, 0.0, 1e-9, 0.18, 40.0];
    let row: Vec<f32> = (0..301).map(|i| odd.get(i % 13).copied().unwrap_or(i as f32 / 301.0)).collect();
    let light: Vec<f32> = row.iter().rev().copied().collect();
    let n = wild(301, 4);
    let gain = Gain::new(true, |u| 300.0 * u * (1.0 - u) / 3641.0);
    let bits = |v: &[f32]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    type Add = fn(Level, &mut [f32], Option<&[f32]>, &[i16], &Gain);
    let ways: [Add; 3] = [
        add_f32,
        |l, row, light, n, gain| add_linear_f32(l, row, light, n, gain, false),
        |l, row, light, n, gain| add_linear_f32(l, row, light, n, gain, true),
    ];
    for (way, add) in ways.into_iter().enumerate() {
        for light in [None, Some(&light[..])] {
            let mut want = row.clone();
            add(Level::SCALAR, &mut want, light, &n, &gain);
            for (x, v) in want.iter().enumerate().filter(|(x, _)| !row[*x].is_finite()) {
                assert_eq!(v.to_bits(), row[x].to_bits());
            }
            assert!(want.iter().zip(&row).filter(|(a, b)| a != b).count() > 100, "way {way}");
            for &level in Level::available() {
                let mut got = row.clone();
                add(level, &mut got, light, &n, &gain);
                assert_eq!(bits(&got), bits(&want), "{level}, way {way}");
            }
        }
    }
}

#[test]
fn linear_light_is_multiplied() {
    // Grain of one stop: S such that n = 1000 gives 1/17.52.
    let per = 65536.0 / 17.52 / 1000.0;
    let gain = Gain::new(true, |_| per);
    for x in [0.01f32, 0.18, 1.0, 30.0] {
        for (n, factor) in [(1000, 2.0), (-1000, 0.5), (0, 1.0), (3000, 8.0)] {
            let mut row = [x];
            add_linear_f32(Level::best(), &mut row, None, &[n], &gain, false);
            assert!((row[0] / x / factor - 1.0).abs() < 2e-3, "{x} {n} {}", row[0]);
        }
    }
}

#[test]
fn means_of_blocks_at_every_level() {
    for width in 1..70usize {
        for (sx, rows) in [(0, 1), (1, 1), (1, 2), (0, 2), (2, 1), (2, 4), (1, 4)] {
            let all: Vec<Vec<u16>> =
                (0..rows).map(|i| wild(width, i).iter().map(|&v| v as u16).collect()).collect();
            let count = width.div_ceil(1 << sx);
            let block = |x: usize| {
                let columns = (x << sx..(x + 1) << sx).map(|x| x.min(width - 1));
                columns.flat_map(|x| all.iter().map(move |r| u64::from(r[x])))
            };
            let size = rows << sx;
            let narrow: Vec<Vec<u8>> = all.iter().map(|r| r.iter().map(|&v| v as u8).collect()).collect();
            for &level in Level::available() {
                let mut got = vec![0u16; count];
                mean_row(level, &mut got, &all.iter().map(|r| &r[..]).collect::<Vec<_>>(), sx);
                let mut got8 = vec![0u8; count];
                mean_row(level, &mut got8, &narrow.iter().map(|r| &r[..]).collect::<Vec<_>>(), sx);
                for x in 0..count {
                    let mean = |sum: u64| (2 * sum + size) / (2 * size);
                    assert_eq!(u64::from(got[x]), mean(block(x).sum()), "{level} {width} {sx} {rows}");
                    assert_eq!(u64::from(got8[x]), mean(block(x).map(|v| v & 255).sum()), "{level} {width}");
                }
            }
        }
    }
}

#[test]
fn rounding_keeps_the_deviation() {
    for wanted in [0.3, 0.5, 1.0, 2.0, 3.89, 3.91, 10.0] {
        let sd = rounded_sd(wanted);
        // The variance of rounded normal numbers, by adding up their probabilities.
        let below = |x: f64| 0.5 * libm::erfc(-x / (sd * core::f64::consts::SQRT_2));
        let var: f64 = (-80..=80).map(f64::from).map(|k| k * k * (below(k + 0.5) - below(k - 0.5))).sum();
        assert!((var.sqrt() / wanted - 1.0).abs() < 2e-3, "{wanted}: {}", var.sqrt());
    }
    assert_eq!(rounded_sd(0.0), 0.0);
}

/// One field or two, with taps across and down. Rows that are made afresh, or not looked at, are missing.
fn fields<'a>(
    rows: &'a [Vec<i16>],
    white: Option<&'a Vec<i16>>,
    taps: &[[Taps; 2]],
    new: &'a mut [Vec<i16>; 2],
) -> Fields<'a> {
    let mut sources = taps.iter().zip(new).map(|(&[across, down], new)| {
        let fresh = white.map(|white| (&white[..], &mut new[..]));
        let reach = down.reach().max(1);
        let here = |d: usize| d.abs_diff(2) <= reach && !(fresh.is_some() && d == 2 + reach);
        let h = [0, 1, 2, 3, 4].map(|d| if here(d) { &rows[d][..] } else { &[] });
        Sources { h, fresh, across, down }
    });
    Fields { first: sources.next().unwrap(), second: sources.next(), weights: [0; 2], n: &mut [] }
}

#[test]
fn the_last_steps_in_one_pass_at_every_level_and_width() {
    for width in 1..300usize {
        let whole = width.next_multiple_of(TURN);
        let weights = [[32767, 20000], [9000, -32767]][width % 2];
        // Of two fields, across and down.
        let taps = [[width, width / 6], [width / 7, width / 5]].map(|i| i.map(|i| ALL_TAPS[i % 6]));
        let reach = taps.map(|[_, down]| down.reach().max(1));
        let rows: Vec<Vec<i16>> = (0..5).map(|i| wild(whole, 50 * i + width as u64)).collect();
        let g = wild(whole + 2 * MARGIN, 11);
        let h = taps.map(|[across, _]| {
            (0..width).map(|x| h_at(&g[MARGIN..MARGIN + width], x, across)).collect::<Vec<i16>>()
        });
        let mut white: Vec<i16> = g.iter().map(|g| g >> 1).collect();
        halves_end(&mut white, width);
        for (i, gain) in gains().iter().enumerate() {
            let bits = if width % 3 == 0 { 8 } else { 8 + ((width + i) % 9) as u8 };
            let top = ((1u32 << bits) - 1) as u16;
            let up = |c: u32| (c << (bits - 8)) as u16;
            let legal = if width % 2 == 0 { (0, top) } else { (up(16), up(235)) };
            let ramp = Ramp::new(bits, legal);
            let codes = |seed| wild(width, seed).iter().map(|&v| v as u16 & top).collect::<Vec<_>>();
            let (row, other) = (codes(20), codes(30));
            // Skewness 0 takes the steps one by one, and changes nothing but the lowest number.
            let even = Skew::new(|_| 0.0, 1000.0);
            let cases = (0..16).map(|i| (i & 1 != 0, i & 2 != 0, (i & 4 != 0).then_some(&even), i & 8 != 0));
            for (&level, (fresh, lit, skew, two)) in
                Level::available().iter().flat_map(|l| cases.clone().map(move |case| (l, case)))
            {
                let light = lit.then_some(&other[..]);
                let of = |f: usize, x: usize| {
                    let lowest = |d: usize| if fresh && d == 2 + reach[f] { &h[f] } else { &rows[d] };
                    n_at([0, 1, 2, 3, 4].map(|d| lowest(d)[x]), taps[f][1])
                };
                let part = |f: usize, x: usize| i32::from(of(f, x)) * i32::from(weights[f]);
                let sum = |x| ((part(0, x) + part(1, x) + (1 << 14)) >> 15).clamp(-32768, 32767) as i16;
                let n = (0..width).map(|x| if two { sum(x) } else { of(0, x) });
                let n: Vec<i16> = n.map(|n| if skew.is_some() { n.max(-32767) } else { n }).collect();
                let want: Vec<u16> = (0..width)
                    .map(|x| reference(row[x], light.unwrap_or(&row)[x], n[x], ramp, gain, legal))
                    .collect();
                let (mut new, mut room) = ([vec![5; whole], vec![5; whole]], vec![0; 2 * width]);
                let say =
                    format!("{level} {width} {bits} bits, gain {i}, fresh {fresh}, lit {lit}, two {two}");
                let kernel =
                    |bits| RowKernel::codes(level, bits, ramp, gain.clone(), legal).skewed(skew.cloned());
                let mut got = [&[7], &row[..]].concat();
                let made = fields(&rows, fresh.then_some(&white), &taps[..1 + usize::from(two)], &mut new);
                kernel(bits.max(9))
                    .finish((&mut got[1..], None, light), Fields { weights, n: &mut room, ..made });
                assert_eq!(got[1..], want, "{say}");
                if bits == 8 && gain.fits_i16() {
                    let bytes = |v: &[u16]| v.iter().map(|&v| v as u8).collect::<Vec<u8>>();
                    let light = light.map(bytes);
                    assert_eq!(Codes::new(ramp, gain).is_some(), i != 2, "gain {i}");
                    let mut got = [&[7], &bytes(&row)[..]].concat();
                    let made =
                        fields(&rows, fresh.then_some(&white), &taps[..1 + usize::from(two)], &mut new);
                    let made = Fields { weights, n: &mut room, ..made };
                    kernel(8).finish((&mut got[1..], None, light.as_deref()), made);
                    assert_eq!(got[1..], bytes(&want), "{say}");
                }
                if fresh {
                    assert_eq!(new[0][..width], h[0], "{say}");
                    assert!(!two || new[1][..width] == h[1], "{say}");
                }
            }
        }
    }
}
