//! Fused against filling and adding.

use super::super::{Noise, add_u8, add_u16};
use super::*;
use crate::noise::seed::mix64;
use crate::noise::{law, lfsr31};

/// Runs `fused` and the separate passes side by side.
fn compare<T: Copy + PartialEq + core::fmt::Debug>(
    law: Law,
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
    law::centre(Level::SCALAR, law, 8, &words, &mut c);
    add(&mut want[1..=n], Noise::Centred(&c[..n]));
    let mut got = source.clone();
    let done = fused(&mut got[1..=n], &lanes);
    assert_eq!(got, if done { want } else { source }, "{law:?} {n}");
    done
}

const LENGTHS: [usize; 8] = [511, 512, 513, 767, 1920, 2047, 2048, 2049];

#[test]
fn bytes_are_those_of_filling_and_adding() {
    let cases = [1.5, 6.0, 13.0, 100.0].into_iter().flat_map(|s| [(s, Law::UNIFORM), (s, Law::H8)]);
    for ((strength, law), &level) in cases.flat_map(|c| Level::available().iter().map(move |l| (c, l))) {
        let scale = Scale::new(law, strength);
        for (n, legal) in (0..300).chain(LENGTHS).flat_map(|n| [(n, (0, 255)), (n, (16, 235))]) {
            let done = compare(
                law,
                n,
                |r| r as u8,
                |row, lanes| add_lfsr31_u8(level, row, lanes, law, scale, legal),
                |row, noise| add_u8(Level::SCALAR, row, noise, scale, legal),
            );
            assert_eq!(done, level > Level::SCALAR && strength < 40.0);
        }
    }
}

#[test]
fn words_are_those_of_filling_and_adding() {
    let cases = [1.5, 100.0, 1600.0, 20000.0].into_iter().flat_map(|s| [(s, Law::UNIFORM), (s, Law::H8)]);
    for ((strength, law), &level) in cases.flat_map(|c| Level::available().iter().map(move |l| (c, l))) {
        let scale = Scale::new(law, strength);
        let legals = [(0, 65535), (64, 940), (4096, 60160)];
        for (n, legal) in (0..300).chain(LENGTHS).flat_map(|n| legals.map(|legal| (n, legal))) {
            let done = compare(
                law,
                n,
                |r| r as u16,
                |row, lanes| add_lfsr31_u16(level, row, lanes, law, scale, legal),
                |row, noise| add_u16(Level::SCALAR, row, noise, scale, legal),
            );
            assert_eq!(done, level > Level::SCALAR && strength < 10000.0);
        }
    }
}

/// A machine with VBMI never takes these two by itself.
#[test]
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
fn packing_without_vbmi() {
    if Level::best().isa() < Isa::Avx512 {
        return;
    }
    for (law, n) in (0..300).flat_map(|n| [(Law::UNIFORM, n), (Law::H8, n)]) {
        let (scale, legal) = (Scale::new(law, 6.0), (16, 235));
        let job = Job::bytes(scale, legal).unwrap();
        let fused = |row: &mut [u8], lanes: &Lanes| {
            // SAFETY: the level was asked for.
            match law {
                Law::H8 => unsafe { avx512::bytes::<true>(row, lanes, job) },
                _ => unsafe { avx512::bytes::<false>(row, lanes, job) },
            }
            true
        };
        compare(law, n, |r| r as u8, fused, |row, noise| add_u8(Level::SCALAR, row, noise, scale, legal));

        let c: Vec<u16> = (0..n).map(|i| mix64(i as u64 + 5) as u16).collect();
        let source: Vec<u8> = (0..n).map(|x| mix64((x * 7 + n) as u64) as u8).collect();
        let (mut got, mut want) = (source.clone(), source);
        add_u8(Level::SCALAR, &mut want, Noise::Words(&c), scale, legal);
        // SAFETY: as above.
        unsafe { avx512::add_bytes(&mut got, &c, 1, job) };
        assert_eq!(got, want, "{n}");
    }
}

#[test]
fn there_is_none_for_sums() {
    let (law, lanes) = (Law::Sum(2), Lanes::default());
    let scale = Scale::new(law, 6.0);
    assert!(!add_lfsr31_u8(Level::best(), &mut [0], &lanes, law, scale, (0, 255)));
    assert!(!add_lfsr31_u16(Level::best(), &mut [0], &lanes, law, scale, (0, 255)));
}
