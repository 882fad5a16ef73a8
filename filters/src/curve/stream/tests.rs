//! Playing forward, seeking and evaluating curves one by one must give the same bits.

use super::format::HEAD_BYTES;
use super::*;
use crate::curve::tests::{curve_of, fixed, shape};
use crate::curve::{Curve, Key, KeyTime, Shape};
use crate::ratio::Ratio;
use crate::simd::Level;
use proptest::prelude::*;

fn r(n: i64, d: i64) -> Ratio {
    Ratio::new(n, d).unwrap()
}

/// Tracks of any shape and extrapolation, all in frames or all in seconds.
fn tracks() -> impl Strategy<Value = Vec<Curve>> {
    let one = curve_of::<f64>(shape(), -10.0..10.0);
    (proptest::collection::vec(one, 1..12), any::<bool>()).prop_map(|(all, seconds)| {
        let track = |c: Curve| {
            let at =
                |k: &Key| if seconds { KeyTime::Seconds(k.when()) } else { KeyTime::Frame(k.when().floor()) };
            let mut keys: Vec<Key> = c.keys().iter().map(|k| Key { at: at(k), ..*k }).collect();
            keys.dedup_by_key(|k| k.at);
            Curve::new(keys).unwrap().with_extrapolation(c.before(), c.after())
        };
        all.into_iter().map(track).collect()
    })
}

fn bytes(tracks: &[Curve], every: Ratio) -> Vec<u8> {
    let mut out = Vec::new();
    write(tracks, every, &mut out).unwrap();
    out
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

fn asked(tracks: &[Curve], now: Ratio) -> Vec<u64> {
    bits(&tracks.iter().map(|t| t.value_at(now)).collect::<Vec<_>>())
}

/// A curve with many keys of one shape, from a simple random generator.
fn walk(n: usize, step: i64, shape: Shape, mut state: u64) -> Curve {
    let mut at = 0;
    let keys = (0..n).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let value = (state >> 44) as f64 / 4096.0;
        let key = Key { at: KeyTime::Frame(at), value, shape };
        at += 1 + (state >> 33) as i64 % step;
        key
    });
    Curve::new(keys.collect()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..fixed() })]

    #[test]
    fn playing_seeking_and_single_queries_are_equal(
        tracks in tracks(), every in 1i64..60, seeks in proptest::collection::vec(-40i64..500, 1..20),
        den in prop_oneof![Just(1i64), Just(2), Just(3), Just(1001)],
    ) {
        let all = Tracks::open(bytes(&tracks, r(every, 1))).unwrap();
        prop_assert_eq!(all.tracks(), tracks.len());
        for (i, track) in tracks.iter().enumerate() {
            let whole = all.track(i).unwrap();
            prop_assert_eq!(whole.as_ref(), Some(track));
        }
        prop_assert_eq!(all.track(tracks.len()).unwrap(), None);
        prop_assert_eq!(all.keys(), tracks.iter().map(|t| t.keys().len() as u64).sum::<u64>());
        let mut head = all.start().unwrap();
        for i in -50..900 {
            let now = r(i, 2);
            all.seek(&mut head, now).unwrap();
            prop_assert_eq!(bits(head.values()), asked(&tracks, now), "played to {}", now);
        }
        for n in seeks {
            let now = r(n, 1) + r(1, den);
            all.seek(&mut head, now).unwrap();
            prop_assert_eq!(bits(head.values()), asked(&tracks, now), "sought {}", now);
            let mut fresh = all.start().unwrap();
            all.seek(&mut fresh, now).unwrap();
            prop_assert_eq!(bits(fresh.values()), bits(head.values()));
        }
    }

    #[test]
    fn jump_frames_can_be_put_elsewhere(tracks in tracks(), a in 1i64..40, b in 1i64..40) {
        let one = bytes(&tracks, r(a, 1));
        let mut other = Vec::new();
        reindex(&Tracks::open(one).unwrap(), r(b, 1), &mut other).unwrap();
        prop_assert_eq!(other, bytes(&tracks, r(b, 1)));
    }

    #[test]
    fn arranged_bytes_come_back(tracks in tracks(), junk in proptest::collection::vec(any::<u8>(), 0..200), cut in any::<prop::sample::Index>()) {
        let bytes = bytes(&tracks, r(20, 1));
        let seconds = bytes[12] == 1;
        let (mut at, mut pieces) = (HEAD_BYTES as usize, vec![&bytes[..HEAD_BYTES as usize], &junk, &[]]);
        while at + 40 < bytes.len() {
            let length = 16 + u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
            pieces.push(&bytes[at..at + length]);
            at += length;
        }
        pieces.push(&bytes[at..]);
        for piece in pieces {
            let mut arranged = to_columns(piece, seconds);
            let back = from_columns(&arranged);
            prop_assert_eq!(back.as_deref(), Some(piece));
            // No bytes may cause a panic.
            let i = cut.index(arranged.len());
            arranged[i] ^= 0x41;
            let _ = from_columns(&arranged);
            let _ = from_columns(&arranged[..i]);
        }
        let _ = from_columns(&junk);
    }

    #[test]
    fn damage_is_refused_or_harmless(tracks in tracks(), at in any::<prop::sample::Index>(), flip in 1u8..) {
        let good = bytes(&tracks, r(20, 1));
        let mut bad = good.clone();
        let i = at.index(bad.len());
        bad[i] ^= flip;
        let play = |bytes: Vec<u8>| -> Result<Vec<u64>, StreamError> {
            let all = Tracks::open(bytes)?;
            let mut head = all.start()?;
            let mut out = Vec::new();
            for i in (0..400).step_by(7).chain([10, 350]) {
                all.seek(&mut head, r(i, 1))?;
                out.extend(bits(head.values()));
            }
            Ok(out)
        };
        // A checksum of 64 bits detects every change of one byte; a jump frame that is not used is not read.
        match play(bad) {
            Ok(values) => prop_assert_eq!(values, play(good.clone()).unwrap()),
            Err(e) => prop_assert!(e.at <= good.len() as u64, "{}", e),
        }
        let mut cut = good.clone();
        cut.truncate(i);
        let e = play(cut).unwrap_err();
        prop_assert!(e.at <= i as u64 && matches!(e.problem, StreamProblem::Short), "{}", e);
    }

    #[test]
    fn bytes_with_the_right_checksums_may_say_anything(tracks in tracks(), at in any::<prop::sample::Index>(), put in any::<u8>()) {
        // The same damage with every checksum recomputed: nothing may panic or hang.
        let mut bad = bytes(&tracks, r(20, 1));
        let i = at.index(bad.len());
        bad[i] = put;
        let mut place = HEAD_BYTES as usize;
        while let Some(length) = bad.get(place + 4..place + 8) {
            let end = place + 16 + u32::from_le_bytes(length.try_into().unwrap()) as usize;
            if end + 40 > bad.len() {
                break;
            }
            let sum = super::format::checksum(&[&bad[place..place + 8], &bad[place + 16..end]]);
            bad[place + 8..place + 16].copy_from_slice(&sum.to_le_bytes());
            place = end;
        }
        let tail = bad.len() - 40;
        let sum = super::format::checksum(&[&bad[tail..tail + 32]]);
        bad[tail + 32..].copy_from_slice(&sum.to_le_bytes());
        let Ok(all) = Tracks::open(bad) else { return Ok(()) };
        let Ok(mut head) = all.start() else { return Ok(()) };
        for i in (0..400).step_by(7).chain([10, 350]) {
            if all.seek(&mut head, r(i, 1)).is_err() {
                break;
            }
        }
        let _ = reindex(&all, r(9, 1), &mut Vec::new());
    }
}

/// Mostly simple tracks, sometimes others, with times beyond the limit of simple ones.
fn simple_tracks() -> impl Strategy<Value = Vec<Curve>> {
    let slope = || prop_oneof![-5.0f64..5.0, Just(0.0), Just(-0.0)];
    let hermite = (slope(), slope()).prop_map(|(leave, arrive)| Shape::Hermite { leave, arrive });
    let shape = prop_oneof![
        8 => Just(Shape::Hold), 8 => Just(Shape::Linear), 16 => hermite, 1 => shape(),
    ];
    let step = prop_oneof![20 => 1i64..9, 1 => Just(1 << 23)];
    let value = prop_oneof![8 => -10.0f64..10.0, 1 => Just(0.0), 1 => Just(-0.0)];
    let keys = proptest::collection::vec((step, value, shape), 1..20);
    let track = (keys, -5i64..20).prop_map(|(keys, mut at)| {
        let key = |(step, value, shape)| {
            at += step;
            Key { at: KeyTime::Frame(at), value, shape }
        };
        Curve::new(keys.into_iter().map(key).collect()).unwrap()
    });
    proptest::collection::vec(track, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..fixed() })]

    #[test]
    fn compact_tracks_are_equal_at_every_level(
        tracks in simple_tracks(), every in 1i64..60, seeks in proptest::collection::vec((-40i64..300, 1i64..5), 1..20),
        strides in proptest::collection::vec(1i64..60, 1..20),
    ) {
        // The spacing suits many short tracks; a rare long one must not cause too many jump frames.
        let longest = tracks.iter().map(|t| t.keys()[t.keys().len() - 1].when().floor()).max().unwrap();
        let all = Tracks::open(bytes(&tracks, r(every.max(longest >> 10), 1))).unwrap();
        for level in Level::available() {
            let mut head = all.start().unwrap();
            head.fast.level = *level;
            let mut now = -30;
            // In small and large steps, through halves; then random seeks, through thirds and fifths.
            for stride in strides.iter().cycle().take(60) {
                now += stride;
                all.seek(&mut head, r(now, 4)).unwrap();
                prop_assert_eq!(bits(head.values()), asked(&tracks, r(now, 4)), "{} to {}/4", level, now);
            }
            for (n, den) in &seeks {
                all.seek(&mut head, r(*n, *den)).unwrap();
                prop_assert_eq!(bits(head.values()), asked(&tracks, r(*n, *den)), "{} at {}/{}", level, n, den);
            }
            for late in [longest - 1, longest, longest + 1] {
                all.seek(&mut head, r(late, 1)).unwrap();
                prop_assert_eq!(bits(head.values()), asked(&tracks, r(late, 1)), "{} at {}", level, late);
            }
        }
    }
}

#[test]
fn long_streams_play_in_little_memory() {
    // Several chunks, dense and sparse keys, every shape that needs later keys.
    let shapes = [Shape::Linear, Shape::Smooth, Shape::BSpline, Shape::Hold];
    let tracks: Vec<Curve> =
        (0..60).map(|i| walk(3 + i * 60, 1 + i as i64 % 7, shapes[i % 4], i as u64)).collect();
    let bytes = bytes(&tracks, r(500, 1));
    let length = bytes.len();
    let all = Tracks::open(bytes).unwrap();
    let mut head = all.start().unwrap();
    for i in 0..4000 {
        all.seek(&mut head, r(i, 1)).unwrap();
        if i % 97 == 0 {
            assert_eq!(bits(head.values()), asked(&tracks, r(i, 1)), "{i}");
        }
    }
    let mut state = 1u64;
    for _ in 0..60 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let now = r((state >> 33) as i64 % 16_000, 2);
        all.seek(&mut head, now).unwrap();
        assert_eq!(bits(head.values()), asked(&tracks, now), "{now}");
    }
    assert!(head.memory() < length / 4, "{} of {length}", head.memory());
}

#[test]
fn invalid_streams_are_refused() {
    let c = |t: &str| t.parse::<Curve>().unwrap();
    let fails = |tracks: &[Curve], every| write(tracks, every, &mut Vec::new()).unwrap_err();
    assert!(matches!(fails(&[c("0=1"), c("0s=1")], r(1, 1)), TrackError::Mixed(1)));
    assert!(matches!(fails(&[c("0=1")], Ratio::ZERO), TrackError::Spacing));
    assert!(matches!(fails(&[c("0=1;9=2;9000000=3;9000001=4")], r(1, 1)), TrackError::Jumps));
    let none = Tracks::open(bytes(&[], r(1, 1))).unwrap();
    let mut head = none.start().unwrap();
    none.seek(&mut head, r(7, 1)).unwrap();
    assert!(head.values().is_empty());
    let open = |bytes: Vec<u8>| Tracks::open(bytes).unwrap_err().to_string();
    assert_eq!(
        open(b"0=0;48=12 and more".to_vec()),
        "not a track file: write one with this program (at byte 0)"
    );
    assert_eq!(open(Vec::new()), "the track file is cut off (at byte 0)");
    let mut newer = bytes(&[c("0=1")], r(1, 1));
    newer[8] = 2;
    assert_eq!(open(newer), "a track file of version 2; this program reads version 1 (at byte 8)");
}

#[test]
fn the_bytes_are_frozen() {
    let tracks = [
        "0=1;10~=2;20(bspline)=3;25A=4;30=5",
        "5(bezier .1 2 .9 -1)=0;7(hermite 1 2)=1;9|=3;>extrapolate",
        "<mirror;3=0;9~=1;12=5;>repeat",
    ];
    let tracks: Vec<Curve> = tracks.iter().map(|t| t.parse().unwrap()).collect();
    let sum = super::format::checksum(&[&bytes(&tracks, r(8, 1))]);
    assert_eq!(format!("{sum:016x}"), "dfac2a7bcd02bbb9");
}
