//! What can be known before the first frame is told before the first frame.

use crate::util::{Outcome, Session};

/// A sequence of frames 1001 to 1008.
fn plates() -> Session {
    let s = Session::new();
    s.run("render pattern:ramp:size=16x8:frames=8 p.####.png --frame-offset 1001").ok();
    s
}

fn nothing(s: &Session, o: Outcome) -> Outcome {
    assert!(!s.files().iter().any(|f| f.contains("out.")), "{:?}\n{}", s.files(), o.err);
    o
}

#[test]
fn a_hole_stops_before_the_first_frame() {
    let s = plates();
    for n in [1004, 1005, 1007] {
        std::fs::remove_file(s.path(&format!("p.{n}.png"))).expect("it was there");
    }
    for more in ["", "--frames 1001-1008", "--shard 1/1", "--frame-offset 10"] {
        let o = s.run(&format!("render p.####.png out.####.png {more}")).ends(1);
        nothing(&s, o)
            .says("frame 1004 is missing: there is no p.1004.png (missing in all: 1004-1005, 1007)")
            .says("--missing hold");
    }
    // what is not asked for does not matter
    s.run("render p.####.png 'out.####.png' --frames 1001-1003").ok();
    s.run("render p.####.png out.####.png --frames 1006 --frame-offset 0").ok();
    s.run("hash p.####.png --frames 1008,1003").ok();
    // nor do they where the user has said what becomes of them
    for missing in ["hold", "black", "skip"] {
        s.run(&format!("hash p.####.png --missing {missing}")).ok();
    }
    let o = s.run("hash p.####.png --on-error skip").ok();
    assert_eq!(o.text().lines().count(), 5, "{}", o.err);
    // and what is whole needs no source
    s.run("render p.####.png out.####.png --resume").ends(1).says("frame 1004 is missing");
    s.run("render p.####.png out.####.png --resume --frames 1006").ok();
}

#[test]
fn a_single_hole_is_named_once() {
    let s = plates();
    std::fs::remove_file(s.path("p.1004.png")).expect("it was there");
    let o = s.run("hash p.####.png").ends(1).says("there is no p.1004.png; --missing hold");
    assert!(o.out.is_empty());
}

#[test]
fn a_file_in_the_way_stops_before_the_first_frame() {
    let s = plates();
    s.write("out.1006.png", "mine");
    s.write("out.1008.png", "mine");
    let o = s.run("render p.####.png out.####.png").ends(1);
    let o = o.says("out.1006.png exists (and 1 more); say -y to replace what is there, or --resume");
    assert!(!s.path("out.1001.png").exists(), "{}", o.err);
    for more in ["--shard 3/4", "--frames 1005-1007", "--frame-offset 5 --frames 1006-1010"] {
        s.run(&format!("render p.####.png out.####.png {more}")).ends(1).says("exists");
        assert!(!s.path("out.1005.png").exists(), "{more}");
    }
    // what it does not write is not in the way
    s.run("render p.####.png out.####.png --frames 1001-1003").ok();
    s.run("render p.####.png out.####.png --frames 1004,1005").ok();
    s.run("render p.####.png out.####.png --shard 4/4 --frame-offset 100").ok();
    assert_eq!((s.read("out.1006.png"), s.read("out.1008.png")), (b"mine".to_vec(), b"mine".to_vec()));
    std::fs::remove_file(s.path("p.1006.png")).expect("it was there");
    s.run("render p.####.png out.####.png --missing skip --frames 1006-1007").ok();
    s.run("render p.####.png out.####.png -y --missing hold").ok();
    assert_ne!(s.read("out.1006.png"), b"mine");
}
