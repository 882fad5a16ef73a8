//! The fused kernels against filling and adding.

use super::super::{Noise, add_u8, add_u16};
use super::*;
use crate::noise::seed::mix64;
use crate::noise::{distribution, lfsr31};

/// Compares `fused` to the separate passes.
fn compare<T: Copy + PartialEq + core::fmt::Debug>(
    distribution: Distribution,
    n: usize,
    sample: impl Fn(u64) -> T,
    fused: impl Fn(&mut [T], &Lanes) -> bool,
    add: impl Fn(&mut [T], Noise<'_>),
) -> bool {
    let lanes = Lanes::of(core::array::from_fn(|l| mix64((n * 16 + l) as u64) as u32));
    let source: Vec<T> = (0..n + 3).map(|x| sample(mix64((x * 7 + n) as u64))).collect();
    let mut want = source.clone();
    let mut words = vec![0; n.next_multiple_of(64)];
    let mut c = vec![0; n.next_multiple_of(64)];
    lfsr31::fill_halves(Level::SCALAR, &mut lanes.clone(), &mut words);
    distribution::centre(Level::SCALAR, distribution, 8, &words, &mut c);
    add(&mut want[1..=n], Noise::Centred(&c[..n]));
    let mut got = source.clone();
    let done = fused(&mut got[1..=n], &lanes);
    assert_eq!(got, if done { want } else { source }, "{distribution:?} {n}");
    done
}

const LENGTHS: [usize; 8] = [511, 512, 513, 767, 1920, 2047, 2048, 2049];

#[test]
fn bytes_are_those_of_filling_and_adding() {
    let cases =
        [1.5, 6.0, 13.0, 100.0].into_iter().flat_map(|s| [(s, Distribution::UNIFORM), (s, Distribution::H8)]);
    for ((strength, distribution), &level) in
        cases.flat_map(|c| Level::available().iter().map(move |l| (c, l)))
    {
        let scale = Scale::new(distribution, strength);
        for (n, legal) in (0..300).chain(LENGTHS).flat_map(|n| [(n, (0, 255)), (n, (16, 235))]) {
            let done = compare(
                distribution,
                n,
                |r| r as u8,
                |row, lanes| add_lfsr31_u8(level, row, lanes, distribution, scale, legal),
                |row, noise| add_u8(Level::SCALAR, row, noise, scale, legal),
            );
            assert_eq!(done, level > Level::SCALAR && strength < 40.0);
        }
    }
}

#[test]
fn words_are_those_of_filling_and_adding() {
    let cases = [1.5, 100.0, 1600.0, 20000.0]
        .into_iter()
        .flat_map(|s| [(s, Distribution::UNIFORM), (s, Distribution::H8)]);
    for ((strength, distribution), &level) in
        cases.flat_map(|c| Level::available().iter().map(move |l| (c, l)))
    {
        let scale = Scale::new(distribution, strength);
        let legals = [(0, 65535), (64, 940), (4096, 60160)];
        for (n, legal) in (0..300).chain(LENGTHS).flat_map(|n| legals.map(|legal| (n, legal))) {
            let done = compare(
                distribution,
                n,
                |r| r as u16,
                |row, lanes| add_lfsr31_u16(level, row, lanes, distribution, scale, legal),
                |row, noise| add_u16(Level::SCALAR, row, noise, scale, legal),
            );
            assert_eq!(done, level > Level::SCALAR && strength < 10000.0);
        }
    }
}

#[test]
fn there_is_none_for_sums() {
    let (distribution, lanes) = (Distribution::Sum(2), Lanes::default());
    let scale = Scale::new(distribution, 6.0);
    assert!(!add_lfsr31_u8(Level::best(), &mut [0], &lanes, distribution, scale, (0, 255)));
    assert!(!add_lfsr31_u16(Level::best(), &mut [0], &lanes, distribution, scale, (0, 255)));
}
