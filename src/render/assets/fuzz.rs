//! Entry points for fuzzing: each accepts any bytes and must not panic, hang, or use memory out of proportion to
//! them.

use super::{lottie, read_samples, to_lottie};
use grainfield_filters::curve::fit::{FitShape, fit};
use grainfield_filters::curve::stream::{Tracks, reindex};
use grainfield_filters::curve::{Animate, Curve};
use grainfield_filters::ratio::Ratio;
use md5::Digest;
use std::sync::Arc;

/// Reads a `.gfa` file: opens it, verifies all its chunks, plays it and seeks in it.
pub fn gfa(bytes: &[u8]) {
    let Ok(all) = Tracks::open(Arc::new(bytes.to_vec())) else { return };
    let _ = all.verify();
    let _ = all.track(0);
    let Ok(mut head) = all.start() else { return };
    for n in [0, 1, 2, 7, 30, 500, 3, 100_000, 12, -5] {
        if all.seek(&mut head, Ratio::whole(n)).is_err() {
            return;
        }
    }
    let _ = reindex(&all, Ratio::whole(1000), &mut std::io::sink());
}

/// Reads a jump frame of the cache under the key stored in it.
pub fn state(bytes: &[u8]) {
    let key = bytes.get(12..28).and_then(|k| k.first_chunk()).map_or(0, |k| u128::from_le_bytes(*k));
    let _ = super::unpack_state(key, bytes);
    // Repair the checksum, to reach the code behind it.
    if let Some(body) = bytes.len().checked_sub(16) {
        let mut whole = bytes[..body].to_vec();
        let sum = md5::Md5::digest(&whole);
        whole.extend_from_slice(&sum);
        if let Some(state) = super::unpack_state(key, &whole) {
            assert!(
                super::pack_state(key, &state)
                    .is_ok_and(|file| super::unpack_state(key, &file) == Some(state))
            );
        }
    }
}

/// Parses a keyframe string of numbers, positions and colours; what parses must print and parse to the same.
pub fn keyframes(bytes: &[u8]) {
    fn one<T: Animate>(text: &str) {
        if let Ok(curve) = text.parse::<Curve<T>>() {
            let again = curve.to_string().parse::<Curve<T>>();
            assert!(again.as_ref() == Ok(&curve), "{text:?} prints as {curve}, which reads as {again:?}");
            let curve = curve.resolve(Some(100)).unwrap_or(curve);
            for n in [i64::MIN, -1, 0, 1, 50, i64::MAX] {
                let _ = curve.value_at(Ratio::whole(n));
            }
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        one::<f64>(text);
        one::<[f64; 2]>(text);
        one::<[f64; 4]>(text);
    }
}

/// Parses a Lottie keyframe list, with and without a rate, and writes it.
pub fn lottie_json(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for rate in [None, Ratio::new(30_000, 1001)] {
        for (_, curve) in lottie(text, "v", rate).into_iter().flatten() {
            let _ = to_lottie(&curve);
        }
    }
}

/// Reads samples in CSV or JSON, and fits short tracks.
pub fn samples(bytes: &[u8]) {
    for (_, samples) in read_samples(bytes).into_iter().flatten() {
        if samples.len() <= 64 {
            for shape in FitShape::ALL {
                let _ = fit(&samples, shape, 0.5);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    /// Truncated and modified files of all kinds.
    #[test]
    fn damaged_examples_do_no_harm() {
        let mut gfa = Vec::new();
        let tracks = [("a", "0=1;10~=2;20(bspline)=3;30=5"), ("b", "3=0;9~=1;12=5;>repeat")]
            .map(|(name, text)| (name.to_owned(), text.parse().unwrap()));
        grainfield_filters::curve::stream::write(&tracks, super::Ratio::whole(8), &mut gfa).unwrap();
        type Example<'a> = (&'a [u8], fn(&[u8]));
        let state = super::super::pack_state(1 << 80, &[7; 300]).unwrap();
        let animation = br#"{"op":3,"assets":[{"id":"a","w":2,"h":2}],"layers":[{"ty":2,"refId":"a","nm":"n","ind":1,"parent":2,
            "ks":{"p":{"a":1,"k":[{"t":0,"s":[0,0],"to":[0,4],"ti":[0,4]},{"t":2,"s":[6,0]}]},"r":{"a":0,"k":9}}},
            {"ty":3,"ind":2,"ks":{"s":{"a":0,"k":[50,50]},"a":{"a":0,"k":[1,2]},"o":{"a":0,"k":70}}}]}"#;
        let examples: [Example<'_>; 7] = [
            (&gfa, super::gfa),
            (&state, super::state),
            (b"<mirror;0=1;48~=2;50(bezier 0 1 1 0)=3;60s", super::keyframes),
            (
                br#"[{"t":0,"s":[1],"o":{"x":[0.3],"y":[0]},"i":{"x":[0.7],"y":[1]}},{"t":9,"s":[2]}]"#,
                super::lottie_json,
            ),
            (b"frame,x\n0,1\n1,5\n2,1e99\n3,4\n", super::samples),
            (b"{\"x\":[[0,1],[7,2],[9,1e-300]]}", super::samples),
            (animation, super::samples),
        ];
        let mut state = 1u64;
        for (good, entry) in examples {
            entry(good);
            for _ in 0..300 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let mut bad = good.to_vec();
                bad[(state >> 33) as usize % good.len()] = (state >> 25) as u8;
                bad.truncate(if state >> 62 == 0 { (state >> 30) as usize % good.len() } else { good.len() });
                entry(&bad);
            }
        }
    }
}
