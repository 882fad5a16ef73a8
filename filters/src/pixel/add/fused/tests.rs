//! Fused against filling and adding.

use super::super::{Noise, add_u8, add_u16};
use super::*;
use crate::noise::Law;
use crate::noise::lfsr31;
use crate::noise::seed::mix64;

/// Runs `fused` and filling and adding side by side.
fn compare<T: Copy + PartialEq + core::fmt::Debug>(
    level: Level,
    n: usize,
    sample: impl Fn(u64) -> T,
    fused: impl Fn(&mut [T], &Lanes) -> bool,
    add: impl Fn(&mut [T], Noise<'_>),
) -> bool {
    let lanes = Lanes::of(core::array::from_fn(|l| mix64((n * 16 + l) as u64) as u32));
    let source: Vec<T> = (0..n + 3).map(|x| sample(mix64((x * 7 + n) as u64))).collect();
    let mut want = source.clone();
    let mut words = vec![0; n.next_multiple_of(8)];
    lfsr31::fill_halves(Level::SCALAR, &mut lanes.clone(), &mut words);
    add(&mut want[1..=n], Noise::Words(&words[..n]));
    let mut got = source.clone();
    let done = fused(&mut got[1..=n], &lanes);
    assert_eq!(got, if done { want } else { source }, "{level} {n}");
    done
}

const LENGTHS: [usize; 8] = [511, 512, 513, 767, 1920, 2047, 2048, 2049];

#[test]
fn bytes_are_those_of_filling_and_adding() {
    for &level in Level::available() {
        for strength in [1.5, 6.0, 30.0, 60.0] {
            let scale = Scale::new(Law::UNIFORM, strength);
            for (n, legal) in (0..300).chain(LENGTHS).flat_map(|n| [(n, (0, 255)), (n, (16, 235))]) {
                let done = compare(
                    level,
                    n,
                    |r| r as u8,
                    |row, lanes| add_uniform_u8(level, row, lanes, scale, legal),
                    |row, noise| add_u8(Level::SCALAR, row, noise, scale, legal),
                );
                assert_eq!(done, level > Level::SCALAR && strength < 40.0);
            }
        }
    }
}

#[test]
fn words_are_those_of_filling_and_adding() {
    for &level in Level::available() {
        for strength in [1.2, 100.0, 4000.0, 20000.0] {
            let scale = Scale::new(Law::UNIFORM, strength);
            let legals = [(0, 65535), (64, 940), (4096, 60160)];
            for (n, legal) in (0..300).chain(LENGTHS).flat_map(|n| legals.map(|legal| (n, legal))) {
                let done = compare(
                    level,
                    n,
                    |r| r as u16,
                    |row, lanes| add_uniform_u16(level, row, lanes, scale, legal),
                    |row, noise| add_u16(Level::SCALAR, row, noise, scale, legal),
                );
                assert_eq!(done, level > Level::SCALAR && strength < 10000.0);
            }
        }
    }
}
