//! A frame's samples depend on source, recipe, seed and number, and on nothing else: not on threads, bands or
//! memory, nor on which other frames are rendered, or in which order.

use crate::support::hashes;
use grainfield::session::job::{Fields, Request};

/// Odd sizes, in formats with subsampling of every kind, alpha, float, high and low depth.
const INPUTS: &[&str] = &[
    "pattern:bars:size=131x97:frames=12:format=yuv420p",
    "pattern:ramp:size=257x33:frames=12:format=yuv422p10",
    "pattern:zoneplate:size=64x48:frames=12:format=gray16",
    "pattern:transparent:size=77x40:frames=12:format=gbrap",
    "pattern:ramp:size=90x31:frames=12:format=gbrpf32",
    "pattern:checker:size=1x1:frames=12:format=yuv411p",
];

const CHAINS: &[&str] = &[
    "noise=strength=7",
    "noise=strength=9:distribution=binomial:samples=3:layout=sequential,noise=strength=2",
    "noise=strength='0=0;11=30':opacity=0.5,noise=planes=0",
    "grain=strength='0=4;11=30':size=9:temporal=0.3,dither=mode=blue",
];

fn check(what: &str, change: impl Fn(&mut Request)) {
    for input in INPUTS {
        for chain in CHAINS {
            let want = hashes(input, chain, |r| r.threads = Some(1));
            assert_eq!(want.len(), 12);
            let got = hashes(input, chain, &change);
            assert_eq!(got, want, "{input} {chain}: {what}");
        }
    }
}

#[test]
fn frames_differ_from_each_other_and_from_the_source() {
    for input in INPUTS {
        let plain = hashes(input, "", |_| {});
        let noisy = hashes(input, "noise=strength=20", |_| {});
        for i in 0..12 {
            assert_ne!(plain[i].1, noisy[i].1, "{input}: frame {i} is untouched");
            // A single pixel may have the same noise twice.
            if !input.contains("1x1") {
                assert!(noisy[..i].iter().all(|f| f.1 != noisy[i].1), "{input}: frame {i} repeats");
            }
        }
    }
}

#[test]
fn threads_do_not_matter() {
    for threads in [2, 3, 16] {
        check(&format!("{threads} threads"), |r| r.threads = Some(threads));
    }
}

#[test]
fn bands_do_not_matter() {
    // Memory for one frame at a time: the other threads render bands.
    check("bands", |r| {
        r.threads = Some(5);
        r.memory = Some(1 << 20);
    });
}

#[test]
fn order_and_company_do_not_matter() {
    for order in ["11,10,9,8,7,6,5,4,3,2,1,0", "7,2,11,0,9,4,1,10,3,8,5,6"] {
        for input in INPUTS {
            for chain in CHAINS {
                let want = hashes(input, chain, |_| {});
                let mut got = hashes(input, chain, |r| r.frames = Some(order.parse().unwrap()));
                got.sort();
                let mut want_sorted = want.clone();
                want_sorted.sort();
                assert_eq!(got, want_sorted, "{input} {chain}");
                let alone = hashes(input, chain, |r| r.frames = Some("7".parse().unwrap()));
                assert_eq!(alone, want[7..8], "{input} {chain}: frame 7 alone");
                let mut parts = hashes(input, chain, |r| r.frames = Some("0-4".parse().unwrap()));
                parts.extend(hashes(input, chain, |r| r.frames = Some("5-".parse().unwrap())));
                assert_eq!(parts, want, "{input} {chain}: two ranges");
            }
        }
    }
}

#[test]
fn the_number_decides_not_the_place() {
    let input = "pattern:grey:size=32x32:frames=40:format=gray";
    let late = hashes(input, "noise", |r| r.frames = Some("30-39".parse().unwrap()));
    let moved = hashes(input, "noise", |r| {
        r.frame_offset = 25;
        r.frames = Some("30-39".parse().unwrap());
    });
    assert_eq!(late, moved, "a grey source is the same everywhere, so its number alone decides");
}

#[test]
fn fields_of_interlaced_frames_are_pictures_of_their_own() {
    let input = "pattern:grey:size=32x32:frames=4:format=gray";
    let frame = hashes(input, "noise", |_| {});
    let field = hashes(input, "noise", |r| r.fields = Fields::Field);
    assert!(frame.iter().zip(&field).all(|(a, b)| a.1 != b.1));
    for threads in [1, 7] {
        let again = hashes(input, "noise", |r| {
            r.fields = Fields::Field;
            r.threads = Some(threads);
        });
        assert_eq!(again, field);
    }
}

/// Filters with states that advance from frame to frame, in a separate test because they need more memory.
#[test]
fn particles_follow_from_the_number_too() {
    const CHAIN: &str = "particles=preset=embers:amount=1:size=3";
    for input in &INPUTS[..4] {
        let want = hashes(input, CHAIN, |r| r.threads = Some(1));
        let got = hashes(input, CHAIN, |r| r.threads = Some(16));
        assert_eq!(got, want, "{input}: threads");
        let got = hashes(input, CHAIN, |r| {
            r.threads = Some(5);
            r.memory = Some(160 << 20);
        });
        assert_eq!(got, want, "{input}: bands");
        let got = hashes(input, CHAIN, |r| r.frames = Some("11,10,9,8,7,6,5,4,3,2,1,0".parse().unwrap()));
        assert!(got.iter().rev().eq(&want), "{input}: order");
    }
}
