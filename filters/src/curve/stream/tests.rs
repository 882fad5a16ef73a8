//! Playing forward, seeking and evaluating curves one by one must give the same bits.

use super::format::{ChunkHead, HEAD_BYTES, INDEX, JUMP, POINTS, POINTS_BYTES, TAIL_BYTES, chunk};
use super::*;
use crate::curve::tests::{curve_of, shape};
use crate::curve::{Curve, Key, KeyTime, Shape};
use crate::fixed;
use crate::ratio::Ratio;
use crate::simd::Level;
use miniz_oxide::inflate::decompress_to_vec;
use proptest::prelude::*;
use std::sync::Arc;

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

fn named(tracks: &[Curve]) -> Vec<(String, Curve)> {
    tracks.iter().enumerate().map(|(i, track)| (format!("t{i}"), track.clone())).collect()
}

fn bytes(tracks: &[Curve], every: Ratio) -> Vec<u8> {
    let mut out = Vec::new();
    write(&named(tracks), every, &mut out).unwrap();
    out
}

fn open(bytes: Vec<u8>) -> Result<Tracks, StreamError> {
    Tracks::open(Arc::new(bytes))
}

/// The kinds and contents of all chunks.
fn chunks(bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let (mut rest, mut chunks) = (&bytes[HEAD_BYTES as usize..bytes.len() - TAIL_BYTES as usize], Vec::new());
    while let Some((head, after)) = rest.split_first_chunk() {
        let head = ChunkHead::parse(*head);
        let (packed, after) = after.split_at(head.packed as usize);
        chunks.push((head.kind, decompress_to_vec(packed).unwrap()));
        rest = after;
    }
    chunks
}

/// The stream with other contents of its chunks. Right positions of jump frames stay right.
fn with_chunks(good: &[u8], chunks: Vec<(u32, Vec<u8>)>) -> Vec<u8> {
    let (head, tail) = (&good[..HEAD_BYTES as usize], &good[good.len() - TAIL_BYTES as usize..]);
    let (mut out, mut old, mut moved) = (head.to_vec(), HEAD_BYTES, std::collections::BTreeMap::new());
    for (kind, mut content) in chunks {
        moved.insert(old.to_le_bytes(), (out.len() as u64).to_le_bytes());
        if kind == INDEX {
            for (from, to) in &moved {
                let places = content.windows(8).enumerate().filter(|(_, w)| w == from);
                let places: Vec<usize> = places.map(|(i, _)| i).collect();
                places.into_iter().for_each(|i| content[i..i + 8].copy_from_slice(to));
            }
        }
        old += 16 + u64::from(ChunkHead::parse(*good[old as usize..].first_chunk().unwrap()).packed);
        out.extend(chunk(kind, &content).unwrap());
    }
    let mut tail = tail.to_vec();
    if let Some(end) = moved.get(&tail[..8]) {
        tail[..8].copy_from_slice(end);
    }
    let sum = crc32fast::hash(&tail[..TAIL_BYTES as usize - 4]);
    tail[TAIL_BYTES as usize - 4..].copy_from_slice(&sum.to_le_bytes());
    out.extend(tail);
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
    #![proptest_config(ProptestConfig { cases: 200, ..fixed(11) })]

    #[test]
    fn playing_seeking_and_single_queries_are_equal(
        tracks in tracks(), every in 1i64..60, seeks in proptest::collection::vec(-40i64..500, 1..20),
        den in prop_oneof![Just(1i64), Just(2), Just(3), Just(1001)],
    ) {
        let all = open(bytes(&tracks, r(every, 1))).unwrap();
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
        reindex(&open(one).unwrap(), r(b, 1), &mut other).unwrap();
        prop_assert_eq!(other, bytes(&tracks, r(b, 1)));
    }

    #[test]
    fn damage_is_refused_or_harmless(tracks in tracks(), at in any::<prop::sample::Index>(), flip in 1u8..) {
        let good = bytes(&tracks, r(20, 1));
        let mut bad = good.clone();
        let i = at.index(bad.len());
        bad[i] ^= flip;
        let play = |bytes: Vec<u8>| -> Result<Vec<u64>, StreamError> {
            let all = open(bytes)?;
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
        prop_assert!(e.at <= i as u64 && (matches!(e.problem, StreamProblem::Short) || i == 0), "{}", e);
    }

    #[test]
    fn bytes_with_the_right_checksums_may_say_anything(tracks in tracks(), at in any::<prop::sample::Index>(), put in any::<u8>()) {
        // The same damage inside the chunks, which are whole: nothing may panic or hang.
        let good = bytes(&tracks, r(20, 1));
        let mut chunks = chunks(&good);
        let mut i = at.index(chunks.iter().map(|(_, content)| content.len()).sum());
        for (_, content) in &mut chunks {
            if let Some(byte) = content.get_mut(i) {
                *byte = put;
                break;
            }
            i -= content.len();
        }
        let bad = with_chunks(&good, chunks);
        let Ok(all) = open(bad) else { return Ok(()) };
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
    #![proptest_config(ProptestConfig { cases: 120, ..fixed(11) })]

    #[test]
    fn compact_tracks_are_equal_at_every_level(
        tracks in simple_tracks(), every in 1i64..60, seeks in proptest::collection::vec((-40i64..300, 1i64..5), 1..20),
        strides in proptest::collection::vec(1i64..60, 1..20),
    ) {
        // The spacing suits many short tracks; a rare long one must not cause too many jump frames.
        let longest = tracks.iter().map(|t| t.keys()[t.keys().len() - 1].when().floor()).max().unwrap();
        let all = open(bytes(&tracks, r(every.max(longest >> 10), 1))).unwrap();
        for level in Level::available() {
            let mut head = all.start().unwrap();
            head.segments.level = *level;
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
    let all = open(bytes).unwrap();
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
    let fails = |tracks: &[Curve], every| write(&named(tracks), every, &mut Vec::new()).unwrap_err();
    assert!(matches!(fails(&[c("0=1"), c("0s=1")], r(1, 1)), TrackError::Mixed(name) if name == "t1"));
    assert!(matches!(fails(&[c("0=1")], Ratio::ZERO), TrackError::Spacing));
    assert!(matches!(fails(&[c("0=1;9=2;9000000=3;9000001=4")], r(1, 1)), TrackError::Jumps));
    for names in [["", "b"], ["a", "a"], ["a\nb", "c"]] {
        let tracks = names.map(|name| (name.to_owned(), c("0=1")));
        let refused = write(&tracks, r(1, 1), &mut Vec::new());
        assert!(matches!(refused, Err(TrackError::Name(..))), "{names:?}");
    }
    let none = open(bytes(&[], r(1, 1))).unwrap();
    let mut head = none.start().unwrap();
    none.seek(&mut head, r(7, 1)).unwrap();
    assert!(head.values().is_empty());
    let open = |bytes: Vec<u8>| open(bytes).unwrap_err().to_string();
    let text = "not a track file: 'grainfield curve fit' writes one (at byte 0 of the file)";
    assert_eq!(open(b"0=0;48=12 and more".to_vec()), text);
    assert_eq!(open(Vec::new()), text);
    let mut other = bytes(&[c("0=1")], r(1, 1));
    other[8] = VERSION as u8 + 1;
    assert!(
        open(other.clone()).starts_with("a track file of version 3; this program reads version 2 (at byte 8")
    );
    other[8] = 1;
    assert!(open(other).starts_with("a track file of version 1, which this program no longer reads"));
}

#[test]
fn no_chunk_takes_more_memory_than_its_kind_can_need() {
    let good = bytes(&["0=1;9=2".parse().unwrap()], r(100, 1));
    let mut chunks = chunks(&good);
    assert_eq!((chunks[0].0, chunks[1].0), (JUMP, POINTS));
    for (i, long) in [(0, 1000), (1, POINTS_BYTES + 1000)] {
        let content = core::mem::replace(&mut chunks[i].1, vec![0; long]);
        let all = open(with_chunks(&good, chunks.clone())).unwrap();
        let refused = all.start().and_then(|mut head| all.seek(&mut head, r(5, 1)).map(|()| head));
        assert!(refused.unwrap_err().to_string().contains("a chunk is too long"));
        chunks[i].1 = content;
    }
    open(with_chunks(&good, chunks)).unwrap().verify().unwrap();
}

#[test]
fn the_bytes_are_frozen() {
    let tracks = [
        "0=1;10~=2;20(bspline)=3;25A=4;30=5",
        "5(bezier .1 2 .9 -1)=0;7(hermite 1 2)=1;9|=3;>extrapolate",
        "<mirror;3=0;9~=1;12=5;>repeat",
    ];
    let tracks: Vec<Curve> = tracks.iter().map(|t| t.parse().unwrap()).collect();
    // The compressed bytes depend on the version of the compressor.
    let contents: Vec<u8> = chunks(&bytes(&tracks, r(8, 1))).into_iter().flat_map(|(_, c)| c).collect();
    assert_eq!(format!("{:08x}", crc32fast::hash(&contents)), "aa2d5d45");
}
