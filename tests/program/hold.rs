//! `--on-error hold`: frames that cannot be decoded are replaced by the last good one, however they are reached.

use crate::util::Session;

fn lines(text: &str) -> Vec<String> {
    text.lines().filter(|l| !l.starts_with('#')).map(str::to_owned).collect()
}

/// The hash of a line.
fn sample(line: &str) -> &str {
    line.rsplit([' ', ',']).next().unwrap()
}

/// Whatever the order and the threads, the frames are those of `whole`.
fn check_every_way(s: &Session, input: &str, whole: &[String]) {
    for threads in [1, 8] {
        let o = s.run(&format!("hash {input} --on-error hold --threads {threads}")).ok();
        assert_eq!(lines(&o.text()), whole, "{input} --threads {threads}");
    }
    let parts = [1, 2, 3].map(|n| s.run(&format!("hash {input} --on-error hold --shard {n}/3")).ok().text());
    assert_eq!(lines(&parts.concat()), whole, "{input} in shards");
    let number = |line: &String| line.split([' ', ',']).next().unwrap().to_owned();
    for line in whole.iter().rev().step_by(8) {
        let one = s.run(&format!("hash {input} --on-error hold --frames {}", number(line))).ok();
        assert_eq!(lines(&one.text()), [line.as_str()], "{input}");
    }
}

#[test]
fn images_that_are_broken_or_missing_are_held() {
    let s = Session::new();
    s.run("render pattern:bars:size=32x16:frames=10 p.####.png -f noise=strength=9 --frame-offset 1000").ok();
    for (good, to) in [(1003, 1004), (1003, 1005), (1006, 1007), (1008, 1009)] {
        s.write(&format!("fine/p.{to}.png"), s.read(&format!("p.{good}.png")));
    }
    for n in [1000, 1001, 1002, 1003, 1006, 1008] {
        s.write(&format!("fine/p.{n}.png"), s.read(&format!("p.{n}.png")));
    }
    let whole = s.read("p.1004.png");
    s.write("p.1004.png", &whole[..whole.len() / 2]);
    s.write("p.1005.png", b"no picture");
    s.write("p.1009.png", b"");
    std::fs::remove_file(s.path("p.1007.png")).unwrap();
    s.run("hash p.####.png").ends(1).says("1007");
    let chain = "-f grain=strength=4";
    let wanted = lines(&s.run(&format!("hash fine/p.####.png {chain}")).ok().text());
    check_every_way(&s, &format!("p.####.png {chain}"), &wanted);
    let o = s.run(&format!("render p.####.png o.####.png {chain} --on-error hold")).ok();
    let o = o.says("frame 1005 is replaced by frame 1003").says("1 of 10 frames are missing");
    o.says("done: 10 frames, 3 of them replaced by the frame before");
    // other treatments of errors are other renders
    s.run(&format!("render p.####.png o.####.png {chain} --on-error skip --resume")).ends(1).says("settings");
    s.run(&format!("render p.####.png o.####.png {chain} --on-error hold --resume"))
        .ok()
        .says("complete already");
    s.run("hash p.####.png --on-error hold --missing skip --frames 1007-1008").ok();
    s.run("analyze p.####.png --on-error hold").ends(2).says("use skip");
    s.write("p.1000.png", b"no picture");
    s.run("hash p.####.png --on-error hold").ends(1).says("p.1000.png");
}

#[test]
fn a_y4m_file_that_is_cut_ends_with_the_last_good_frame() {
    let s = Session::new();
    s.run("render pattern:bars:size=32x16:frames=6 a.y4m -f noise=strength=9").ok();
    let whole = s.read("a.y4m");
    let cut = &whole[..whole.len() - 10];
    s.write("cut.y4m", cut);
    let mut wanted = lines(&s.run("hash a.y4m").ok().text());
    wanted[5] = format!("5 {}", sample(&wanted[4]));
    for o in [s.run("hash cut.y4m --on-error hold"), s.piped("hash - --on-error hold", cut)] {
        assert_eq!(lines(&o.ok().says("frame 5 is replaced by frame 4").text()), wanted);
    }
    assert_eq!(lines(&s.run("hash cut.y4m --on-error hold --frames 5").ok().text()), wanted[5..]);
    // a range without an end is no other render
    for range in ["--frames 0-", "-ss 0", "-t 10"] {
        let o = s.run(&format!("hash cut.y4m --on-error hold {range}")).ok();
        assert_eq!(lines(&o.text()), wanted, "{range}");
        let o = s.run(&format!("hash cut.y4m --on-error skip {range}")).ok().says("1 left out");
        assert_eq!(lines(&o.text()), wanted[..5], "{range}");
    }
    for (on_error, frames) in [("hold", &wanted[..]), ("skip", &wanted[..5])] {
        let shard =
            |i| lines(&s.run(&format!("hash cut.y4m --on-error {on_error} --shard {i}/2")).ok().text());
        assert_eq!([shard(1), shard(2)].concat(), frames, "{on_error}");
    }
    let o = s.run("hash cut.y4m --on-error hold --frames 0-20x3").ends(1);
    assert_eq!(lines(&o.text()), [&*wanted[0], &*wanted[3]]);
    s.run("hash cut.y4m --on-error stop").ends(1);
    // a pipe has only the frames that are selected
    for (frames, exit) in [("4-", 0), ("3,5", 1), ("5", 1)] {
        s.piped(&format!("hash - --on-error hold --frames {frames}"), cut).ends(exit);
    }
}

#[test]
#[cfg(feature = "ffmpeg")]
fn damaged_frames_of_a_video_are_held() {
    let s = Session::new();
    let clip = "-f lavfi -i testsrc2=size=160x96:rate=25:duration=4,noise=alls=12:allf=t:all_seed=5";
    for (name, codec) in [
        ("a.mkv", "-c:v libx264 -g 10 -bf 2 -threads 1"),
        ("a.ts", "-c:v libx264 -g 10 -bf 2 -threads 1"),
        ("b.mkv", "-c:v ffv1 -level 3 -slicecrc 1 -g 1"),
    ] {
        s.tool("ffmpeg", &format!("-nostdin -v error -y {clip} {codec} {name}"));
        let mut bytes = s.read(name);
        let mut at = bytes.len() / 5;
        while at < bytes.len() - 9000 {
            bytes[at] ^= 0x10;
            at += bytes.len() / 9;
        }
        s.write(name, &bytes);
        let concealed = s.run(&format!("hash {name} --on-error skip")).ok();
        let mut wanted = lines(&concealed.text());
        let damaged = |n: usize| concealed.err.contains(&format!("frame {n} ("));
        let mut held = 0;
        for n in 1..wanted.len() {
            if damaged(n) {
                wanted[n] = format!("{n} {}", sample(&wanted[n - 1]));
                held += 1;
            }
        }
        assert!(held > 3, "{name}: {}", concealed.err);
        check_every_way(&s, name, &wanted);
        let o = s.piped("hash - --on-error hold", &bytes).ok();
        assert_eq!(lines(&o.text()), wanted, "{name} through a pipe");
        // held frames have their own times
        s.run(&format!("render {name} held.mkv -y --on-error hold --preset ultrafast")).ok();
        let times = s.tool("ffprobe", "-v error -show_entries packet=pts_time -of csv=p=0 held.mkv").text();
        let mut times: Vec<f64> = times.lines().map(|l| l.trim_end_matches(',').parse().unwrap()).collect();
        times.sort_by(f64::total_cmp);
        assert_eq!(times.len(), wanted.len(), "{name}");
        assert!(times.windows(2).all(|w| (w[1] - w[0] - 0.04).abs() < 0.003), "{name}: {times:?}");
        s.run(&format!("hash {name}")).ends(1);
    }
}

/// A packet whose first unit has an impossible length gives no picture, and the next one has its number.
#[test]
#[cfg(feature = "ffmpeg")]
fn damage_without_a_picture_takes_no_number() {
    let s = Session::new();
    let clip = "-f lavfi -i testsrc2=size=160x96:rate=25:duration=2";
    s.tool("ffmpeg", &format!("-nostdin -v error -y {clip} -c:v libx264 -g 10 -bf 2 -threads 1 a.mp4"));
    let places = "-v error -select_streams v -show_entries packet=pos -of csv=p=0 a.mp4";
    let places = s.tool("ffprobe", places).text();
    let place = |n: usize| places.lines().nth(n).unwrap().trim_matches(',').parse::<usize>().unwrap();
    let mut bytes = s.read("a.mp4");
    for n in [11, 48] {
        bytes[place(n)] = 0xa3;
    }
    s.write("a.mp4", &bytes);
    s.run("hash a.mp4").ends(1);
    for way in ["skip", "hold"] {
        let whole =
            s.run(&format!("hash a.mp4 --on-error {way}")).ok().says("damaged data without a picture");
        let whole = lines(&whole.text());
        assert_eq!(whole.len(), 48, "{way}");
        let parts = |n| lines(&s.run(&format!("hash a.mp4 --on-error {way} --shard {n}/3")).ok().text());
        assert_eq!([parts(1), parts(2), parts(3)].concat(), whole, "{way}");
        let range = s.run(&format!("hash a.mp4 --on-error {way} --frames 8-16")).ok();
        assert_eq!(lines(&range.text()), whole[8..17], "{way}");
    }
}

#[test]
#[cfg(feature = "ffmpeg")]
fn a_video_that_is_cut_ends_with_its_last_picture() {
    let s = Session::new();
    let clip = "-f lavfi -i testsrc2=size=96x64:rate=25:duration=2";
    for (name, codec) in [("held.mkv", "-c:v libx264 -qp 0 -threads 1"), ("plain.mkv", "-c:v ffv1 -g 1")] {
        s.tool("ffmpeg", &format!("-nostdin -v error -y {clip} {codec} {name}"));
        let bytes = s.read(name);
        let cut = &bytes[..bytes.len() / 2];
        s.write("cut.mkv", cut);
        let wanted = s.run("hash cut.mkv --on-error skip").ok().text();
        assert!(lines(&wanted).len() > 15, "{name}: {wanted}");
        for more in ["", "--frames 0-", "--shard 1/1"] {
            let o = s.run(&format!("hash cut.mkv --on-error hold {more}")).ok();
            assert_eq!(o.says("the input is truncated").text(), wanted, "{name} {more}");
        }
        let o = s.piped("hash - --on-error hold", cut).ok();
        assert_eq!(lines(&o.text()), lines(&wanted), "{name} through a pipe");
    }
}

#[test]
#[cfg(feature = "ffmpeg")]
fn frames_of_another_size_are_held() {
    let s = Session::new();
    let mut list = String::new();
    for (name, size) in [("a.ts", "160x96"), ("b.ts", "80x48"), ("c.ts", "160x96")] {
        let clip = format!("-f lavfi -i testsrc2=size={size}:rate=25:duration=0.4");
        let codec = "-c:v libx264 -g 5 -bf 0 -threads 1";
        s.tool("ffmpeg", &format!("-nostdin -v error -y {clip} {codec} {name}"));
        list += &format!("file {name}\n");
    }
    s.write("list", list);
    s.tool("ffmpeg", "-nostdin -v error -y -f concat -i list -c copy sizes.ts");
    let usable = lines(&s.run("hash sizes.ts --on-error skip").ok().says("10 left out").text());
    let mut wanted = usable[..10].to_vec();
    wanted.extend((10..20).map(|n| format!("{n} {}", sample(&usable[9]))));
    wanted.extend_from_slice(&usable[10..]);
    assert_eq!(wanted.len(), 30);
    check_every_way(&s, "sizes.ts", &wanted);
    let o = s.piped("hash - --on-error hold", &s.read("sizes.ts")).ok();
    assert_eq!(lines(&o.says("frame 19 is replaced by frame 9").text()), wanted);
}

/// One frame alone is held like the same frame in a render.
#[test]
fn a_single_frame_is_held() {
    let s = Session::new();
    s.run("render pattern:bars:size=32x16:frames=3 p.####.png -f noise=strength=9").ok();
    s.write("p.0001.png", b"no picture");
    s.run("frame p.####.png 1 out.png").ends(1);
    s.run("frame p.####.png 1 out.png --on-error hold").ok().says("frame 1 is replaced by frame 0");
    assert_eq!(s.read("out.png"), s.read("p.0000.png"));
    let o = s.run("frame p.####.png 9 no.png").ends(2).says("has no frame 9").says("--frame-offset");
    assert!(!o.err.contains("--frames"), "{}", o.err);
}
