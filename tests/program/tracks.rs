//! Track files: seeking gives the same as playing, in memory that does not grow with the file.

use crate::bound::peak_of;
use crate::util::Session;
use grainfield::assets::{self, open_tracks};
use grainfield_filters::curve::{Curve, Key, KeyTime, Shape};
use grainfield_filters::ratio::Ratio;

const FRAMES: i64 = 100_000;
const TRACKS: usize = 2000;

/// Tracks with keys 40 to 1000 frames apart, of all shapes with different reach.
fn tracks() -> Vec<(String, Curve)> {
    let shapes = [Shape::Linear, Shape::Smooth, Shape::BSpline, Shape::Hold];
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64
    };
    let mut track = |i: usize| {
        let (mut at, mut keys, step) = (0, Vec::new(), 40 + 12 * (i as i64 % 80));
        while at <= FRAMES {
            let value = (random() % 100_000) as f64 / 1000.0;
            keys.push(Key { at: KeyTime::Frame(at), value, shape: shapes[i % 4] });
            at += 1 + random() % (2 * step);
        }
        (format!("t{i}"), Curve::new(keys).expect("a curve"))
    };
    (0..TRACKS).map(&mut track).collect()
}

fn sum(values: &[f64]) -> u64 {
    values.iter().fold(0, |h: u64, v| (h ^ v.to_bits()).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(7))
}

#[test]
fn a_large_file_is_played_and_sought_in_little_memory() {
    let s = Session::new();
    let path = s.path("all.gfa");
    let tracks = tracks();
    let keys: usize = tracks.iter().map(|t| t.1.keys().len()).sum();
    assets::write(path.as_os_str(), false, &tracks, Ratio::whole(5000)).expect("written");

    // The expected values, from evaluating the curves one by one at some frames.
    let asked: Vec<(i64, u64)> = (0..30)
        .map(|i| (i * 7919 * 7) % FRAMES)
        .map(|n| (n, sum(&tracks.iter().map(|t| t.1.value_at(Ratio::whole(n))).collect::<Vec<_>>())))
        .collect();
    let twelfth = tracks[12].1.clone();
    drop(tracks);

    let mut played = vec![0u64; (FRAMES / 11 + 1) as usize];
    let mut opened = None;
    let most = peak_of(|| {
        let file = opened.insert(open_tracks(&path).expect("opened"));
        let mut head = file.start().expect("started");
        // Playing: every eleventh frame.
        for (i, sum_there) in played.iter_mut().enumerate() {
            file.seek(&mut head, Ratio::whole(11 * i as i64)).expect("played");
            *sum_there = sum(head.values());
        }
        // Seeking: frames all over the file, backwards and forwards.
        for k in 0..120i64 {
            let i = (k * 7907) % (FRAMES / 11);
            file.seek(&mut head, Ratio::whole(11 * i)).expect("sought");
            assert_eq!(sum(head.values()), played[i as usize], "frame {}", 11 * i);
        }
        for (n, want) in asked {
            file.seek(&mut head, Ratio::whole(n)).expect("sought");
            assert_eq!(sum(head.values()), want, "frame {n}");
        }
    });
    let file = opened.expect("opened");
    let (packed, unpacked) = file.verify().expect("whole");
    println!("{keys} keys, {packed} bytes packed, {unpacked} unpacked; {most} bytes of memory at most");
    assert!(most < 4_000_000, "{most}");
    assert!(unpacked > 3 * most as u64, "{unpacked}");
    // Random values compress worse than those of an animation, for which the article has a factor of 2.
    assert!(2 * unpacked >= 3 * packed, "{unpacked} {packed}");
    assert_eq!(file.curve("t12").expect("read"), Some(twelfth));

    // Other jump frames, the same values.
    let other = s.path("other.gfa");
    assets::reindex(&file, Ratio::whole(20_000), other.as_os_str(), false).expect("written");
    let other = open_tracks(&other).expect("opened");
    assert!(other.jumps() < file.jumps());
    let mut head = other.start().expect("started");
    for i in [9000, 5, 4711] {
        other.seek(&mut head, Ratio::whole(11 * i)).expect("sought");
        assert_eq!(sum(head.values()), played[i as usize]);
    }

    // Damaged or cut at any position: rejected, with the position.
    let good = s.read("all.gfa");
    for k in 0..60usize {
        let at = (k * 104_729 * 31) % good.len();
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        s.write("bad.gfa", &bad);
        let said = match open_tracks(&s.path("bad.gfa")).and_then(|f| f.verify()) {
            Err(e) => e.to_string(),
            Ok(_) => panic!("byte {at} of {} may be anything", good.len()),
        };
        assert!(said.contains("at byte"), "{said}");
        s.write("cut.gfa", &good[..at]);
        let said = open_tracks(&s.path("cut.gfa")).expect_err("cut").to_string();
        assert!(said.contains("cut off") && said.contains(&format!("at byte {at}")) || at < 12, "{said}");
    }
}

#[test]
fn sprites_follow_the_tracks_of_a_file() {
    let s = Session::new();
    let track = |name: String, keys: &[(i64, f64)]| {
        let key = |&(at, value): &(i64, f64)| Key { at: KeyTime::Frame(at), value, shape: Shape::Linear };
        (name, Curve::new(keys.iter().map(key).collect()).expect("a curve"))
    };
    let mut tracks = Vec::new();
    for i in 0..40 {
        let start = f64::from(i) * 4.0;
        tracks.push(track(format!("s{i}.x"), &[(0, start), (20, 160.0 - start), (400, 3.0)]));
        tracks.push(track(format!("s{i}.y"), &[(0, 90.0 - start / 2.0), (50, start / 2.0)]));
        tracks.push(track(format!("s{i}.scale"), &[(0, 0.05), (30, 0.2)]));
    }
    assets::write(s.path("t.gfa").as_os_str(), false, &tracks, Ratio::whole(10)).expect("written");
    let hash = |more: &str| {
        let run = s.run(&format!("hash pattern:grey:size=160x90:frames=60 -f sprites=tracks=t.gfa {more}"));
        run.ok().text().lines().filter(|l| !l.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    };
    let whole = hash("--threads 4");
    assert_eq!(whole.len(), 60);
    assert_ne!(whole[3].split(',').next_back(), whole[4].split(',').next_back());
    // Any frames, in any order and on any number of threads.
    let last = |line: &String| line.rsplit([',', ' ']).next().map(str::to_owned);
    let some: Vec<_> = hash("--frames 7,8,41,59 --threads 1").iter().map(last).collect();
    assert_eq!(some, [7, 8, 41, 59].map(|i: usize| last(&whole[i])));

    s.write("x.csv", "frame,a.x,a.size\n0,1,2\n9,3,4\n");
    s.run("curve fit x.csv x.gfa --error 0.1").ok();
    let sprites = |file: &str| s.run(&format!("hash pattern:grey:frames=9 -f sprites=tracks={file}"));
    sprites("x.gfa").ends(2).says("a.size").says("rotation");
    sprites("none.gfa").ends(1).says("none.gfa");
    s.write("text.gfa", "no tracks");
    sprites("text.gfa").says("text.gfa").says("not a track file");
}
