//! Errors that can be found before the first frame are reported before it.

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
            .says("frame 1004 is missing: p.1004.png does not exist (all missing frames: 1004-1005, 1007)")
            .says("--missing hold");
    }
    // frames that were not requested do not matter
    s.run("render p.####.png 'out.####.png' --frames 1001-1003").ok();
    s.run("render p.####.png out.####.png --frames 1006 --frame-offset 0").ok();
    s.run("hash p.####.png --frames 1008,1003").ok();
    // nor do they if the user has set how to treat them
    for missing in ["hold", "black", "skip"] {
        s.run(&format!("hash p.####.png --missing {missing}")).ok();
    }
    let o = s.run("hash p.####.png --on-error skip").ok();
    assert_eq!(o.text().lines().count(), 5, "{}", o.err);
    // and complete frames need no source
    s.run("render p.####.png out.####.png --resume").ends(1).says("frame 1004 is missing");
    s.run("render p.####.png out.####.png --resume --frames 1006").ok();
}

#[test]
fn a_single_hole_is_named_once() {
    let s = plates();
    std::fs::remove_file(s.path("p.1004.png")).expect("it was there");
    let o = s.run("hash p.####.png").ends(1).says("p.1004.png does not exist").says("--missing hold");
    assert!(o.out.is_empty());
}

#[test]
fn a_file_in_the_way_stops_before_the_first_frame() {
    let s = plates();
    s.write("out.1006.png", "mine");
    s.write("out.1008.png", "mine");
    let o = s.run("render p.####.png out.####.png").ends(1);
    let o = o.says("out.1006.png exists (and 1 more)").says("use -y to replace existing files, or --resume");
    assert!(!s.path("out.1001.png").exists(), "{}", o.err);
    for more in ["--shard 3/4", "--frames 1005-1007", "--frame-offset 5 --frames 1006-1010"] {
        s.run(&format!("render p.####.png out.####.png {more}")).ends(1).says("exists");
        assert!(!s.path("out.1005.png").exists(), "{more}");
    }
    // frames that it does not write are ignored
    s.run("render p.####.png out.####.png --frames 1001-1003").ok();
    s.run("render p.####.png out.####.png --frames 1004,1005").ok();
    s.run("render p.####.png out.####.png --shard 4/4 --frame-offset 100").ok();
    assert_eq!((s.read("out.1006.png"), s.read("out.1008.png")), (b"mine".to_vec(), b"mine".to_vec()));
    std::fs::remove_file(s.path("p.1006.png")).expect("it was there");
    s.run("render p.####.png out.####.png --missing skip --frames 1006-1007").ok();
    s.run("render p.####.png out.####.png -y --missing hold").ok();
    assert_ne!(s.read("out.1006.png"), b"mine");
}

#[test]
fn invalid_requests_are_wrong_usage() {
    let s = plates();
    s.write("dir/x", "");
    for (line, said) in [
        ("render p.1001.png a.y4m --crf 20", "video files only"),
        ("render p.####.png out.####.png --segments", "--segments"),
        ("render p.####.png out.none", "extension is not known"),
        ("render p.####.png out.png", "give a pattern"),
        ("render p.####.png 'out.*.png'", "use #### or %04d"),
        ("render p.####.png dir", "is a folder"),
        ("render p.####.png hash:dir", "is a folder"),
    ] {
        let o = s.run(line).ends(2).says(said);
        nothing(&s, o);
    }
    // and properties of the disk are not checked here
    for line in ["render p.####.png none/out.####.png", "render p.####.png none/out.y4m", "hash none.y4m"] {
        s.run(line).ends(1);
    }
}

#[cfg(feature = "ffmpeg")]
#[test]
fn a_video_refuses_an_order_that_it_cannot_hold() {
    let s = plates();
    for frames in ["1004-1006,1001-1003", "1003,1003", "1003,1002", "1004-,1001-1002"] {
        let line = format!("render p.####.png out.mkv --frames {frames}");
        let o = s.run(&line).ends(2).says("ascending order");
        nothing(&s, o);
    }
    s.run("render p.####.png a.mkv --frames 1001-1002,1004-").ok();
    s.run("render p.####.png a.y4m --frames 1004-1006,1001-1003,1001").ok();
}

/// The library behaves like the command line.
#[test]
fn the_seed_of_a_recipe_counts_in_the_library() {
    use grainfield::session::job::{Job, JobError, Request, RequestError};
    let s = Session::new();
    let job = |name: &str, threads: Option<usize>| {
        let output = format!("hash:{}", s.path(name).display());
        let recipe =
            "recipe=seed=6,noise=strength=20".parse::<grainfield_filters::recipe::Recipe>().expect("a chain");
        Job::prepare(Request { recipe, threads, ..Request::new("pattern:grey:size=16x8:frames=2", output) })
    };
    job("a", None).expect("a job").run(&|_| {}).expect("it runs");
    let line = "hash pattern:grey:size=16x8:frames=2 -f noise=strength=20 --seed";
    assert_eq!(s.read("a"), s.run(&format!("{line} 6")).ok().out);
    assert_ne!(s.read("a"), s.run(&format!("{line} 0")).ok().out);
    assert!(matches!(job("b", Some(0)).err(), Some(JobError::Request(RequestError::NoThreads))));
}

#[cfg(feature = "ffmpeg")]
#[test]
fn the_cache_is_in_the_named_folder_and_has_a_limit() {
    let s = Session::new();
    let xdg = s.path("xdg").display().to_string();
    s.run("render pattern:grey:size=640x360:frames=40 big.mkv -f noise=strength=200 --codec ffv1 -q").ok();
    let size = std::fs::metadata(s.path("big.mkv")).expect("it is there").len();
    assert!(size > 4 << 20, "{size}");
    let inside = |at: &str| std::fs::read_dir(s.path(at)).map_or(0, |entries| entries.count());
    let run = |cache: &str, more: &str| {
        let mut command = s.command(&format!("frame big.mkv 33 x.png -y {more}"));
        command.env("XDG_CACHE_HOME", &xdg).env("GRAINFIELD_CACHE", cache);
        assert!(command.stderr(std::process::Stdio::null()).status().expect("it starts").success());
    };
    run("none", "");
    run("cache", "--cache none");
    run("cache", "--cache-limit 100");
    assert!(!s.path("xdg").exists() && inside("cache/indexes") == 0);
    run("cache", "");
    assert!(!s.path("xdg").exists() && inside("cache/indexes") > 0);
    let s = s.with_var("GRAINFIELD_CACHE", "cache");
    s.run("cache info").ok();
    s.run("cache clear").ok();
    assert_eq!(std::fs::read_dir(s.path("cache")).expect("it is there").count(), 0);
}

#[cfg(feature = "ffmpeg")]
#[test]
fn a_source_behind_a_protocol_is_known_again() {
    let s = Session::new();
    s.run("render pattern:grey:size=64x36:frames=4 a.mkv -q").ok();
    s.run("render file:a.mkv f.####.png --frames 0-1 -q").ok();
    s.run("render file:a.mkv f.####.png --resume").ok().says("2 of 4 frames are complete already");
    s.run("render pattern:ramp:size=64x36:frames=4 a.mkv -y -q").ok();
    s.run("render file:a.mkv f.####.png --resume").ends(1).says("the source was changed");
}
