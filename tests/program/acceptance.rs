//! The main uses of the program: real clips through pipes, sequences compared with y4m, single frames and ranges
//! compared with the whole, errors that leave something usable, and memory that does not grow.

use crate::util::Session;
use std::time::Duration;

/// `ffmpeg` in the session's folder.
fn ffmpeg(s: &Session, line: &str) {
    s.tool("ffmpeg", &format!("-nostdin -v error -y {line}"));
}

#[test]
fn video_goes_through_pipes_on_both_sides() {
    let s = Session::new();
    ffmpeg(&s, "-f lavfi -i testsrc2=size=160x90:rate=30000/1001:duration=5 -c:v mpeg4 in.mp4");
    ffmpeg(&s, "-i in.mp4 -f yuv4mpegpipe in.y4m");
    let out = s.piped("render - - -f noise=strength=6", &s.read("in.y4m")).ok();
    s.write("out.y4m", &out.out);
    let (a, b) = (s.run("hash out.y4m").ok(), s.run("hash in.y4m -f noise=strength=6").ok());
    assert_eq!(a.out, b.out, "by pipe and by file");
    assert_eq!(a.text().lines().count(), 150);
}

#[test]
fn a_grey_sequence_is_the_same_as_grey_video() {
    for (format, y4m) in [("gray", "gray"), ("gray16", "gray16le")] {
        let s = Session::new();
        let source = "-f lavfi -i testsrc2=size=101x67:rate=24:duration=0.5";
        ffmpeg(&s, &format!("{source} -pix_fmt {format} -start_number 1001 plate.%04d.png"));
        ffmpeg(&s, &format!("{source} -pix_fmt {y4m} -strict -1 -f yuv4mpegpipe plate.y4m"));
        let a = s.run("hash plate.####.png -f noise --range full --frame-offset -1001").ok();
        let b = s.run("hash plate.y4m -f noise --range full").ok();
        assert_eq!(a.text().lines().count(), 12);
        assert_eq!(a.text(), b.text(), "{format}");
        let c = s.run("hash plate.####.png -f noise --range full");
        assert!(c.text().starts_with("1001 "), "{}", c.text());
        assert_ne!(a.text().lines().next(), c.text().lines().next(), "the number keys the noise");
    }
}

#[test]
fn one_frame_and_ranges_are_as_in_the_whole_render() {
    let s = Session::new();
    ffmpeg(&s, "-f lavfi -i testsrc2=size=120x68:rate=25:duration=2 -pix_fmt yuv422p10 -strict -1 clip.y4m");
    let whole = s.run("hash clip.y4m -f noise=strength=9").text();
    let line = |n: usize| whole.lines().nth(n).unwrap().to_owned();
    assert_eq!(s.run("hash clip.y4m -f noise=strength=9 --frames 17-17").text().trim(), line(17));
    s.run("render clip.y4m part.y4m -f noise=strength=9 --frames 10-19").ok();
    let part: Vec<String> = s.run("hash part.y4m --frame-offset 10").text().lines().map(Into::into).collect();
    assert_eq!(part, (10..20).map(line).collect::<Vec<_>>());
    // A still is a conversion of the same frame.
    s.run("frame clip.y4m 17 still.png -f noise=strength=9").ok();
    s.run("frame part.y4m 7 again.png").ok();
    assert_eq!(s.read("still.png"), s.read("again.png"));
}

#[test]
fn a_truncated_input_keeps_the_complete_frames() {
    let s = Session::new();
    ffmpeg(&s, "-f lavfi -i testsrc2=size=64x48:rate=25:duration=1 clip.y4m");
    let bytes = s.read("clip.y4m");
    s.write("cut.y4m", &bytes[..bytes.len() - 100]);
    s.run("render cut.y4m out.y4m -f noise").ends(1).says("cut.y4m").says("frame 24").says("out.partial.y4m");
    assert_eq!(s.files(), ["clip.y4m", "cut.y4m", "out.partial.y4m"]);
    assert_eq!(s.run("hash out.partial.y4m").text(), s.run("hash clip.y4m -f noise --frames 0-23").text());
    s.run("render cut.y4m out.y4m -f noise --on-error skip").ok().says("left out");
}

#[test]
fn files_that_are_not_inputs_are_named_by_kind() {
    let s = Session::new();
    s.write("empty.y4m", b"");
    s.write("garbage.y4m", b"\x00\x01\x02garbage and nothing else\n\n\n");
    s.write("shot.1001.png", b"not a picture");
    s.write("header.y4m", b"YUV4MPEG2 W64 H48 F25:1\n");
    for (line, wanted) in [
        ("render empty.y4m out.y4m", "empty"),
        ("render garbage.y4m out.y4m", "YUV4MPEG2"),
        ("render shot.####.png out.y4m", "shot.1001.png"),
        ("render header.y4m out.y4m", "no frames"),
        ("render missing.y4m out.y4m", "missing.y4m"),
        ("render pattern:bras out.y4m", "bars"),
    ] {
        s.run(line).ends(1).says(wanted);
        assert!(!s.path("out.y4m").exists(), "{line} left an output");
    }
}

#[test]
fn outputs_that_cannot_be_are_refused_before_the_first_frame() {
    let s = Session::new();
    s.write("there.y4m", b"precious");
    for (line, code, wanted) in [
        ("render pattern:bars there.y4m", 1, "-y"),
        ("render pattern:bars nowhere/out.y4m", 1, "nowhere"),
        ("render pattern:bars still.png", 2, "####"),
        ("render pattern:bars out.xyz", 2, "out.xyz"),
    ] {
        s.run(line).ends(code).says(wanted);
    }
    assert_eq!(s.read("there.y4m"), b"precious");
    assert_eq!(s.files(), ["there.y4m"], "nothing is left behind");
    s.run("render pattern:bars:size=16x16:frames=2 there.y4m -y").ok();
    s.run("render there.y4m there.y4m -y -f noise").ends(2).says("the input are the same file");
    assert_eq!(s.run("hash there.y4m").text().lines().count(), 2, "the input is still whole");
    s.run("render pattern:bars:frames=3 /dev/full").ends(1).says("space");
}

#[test]
fn memory_does_not_grow_with_length() {
    let s = Session::new();
    for (line, most) in [
        ("render pattern:bars:size=64x36:frames=1000000 null: --progress none", 200),
        ("render pattern:bars:size=3840x2160:frames=60:format=yuv420p10 null: -f noise --threads 2", 400),
        (
            "render pattern:bars:size=3840x2160:frames=24:format=yuv420p10 null: -f noise --threads 2 --pix-fmt gbrp",
            400,
        ),
    ] {
        let mut child = s.command(line).stderr(std::process::Stdio::null()).spawn().unwrap();
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0;
        let code = loop {
            // The peak so far, in kB; not available after the process has ended.
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let kb = text
                .lines()
                .find_map(|l| l.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
            peak = peak.max(kb.unwrap_or(0));
            if let Some(code) = child.try_wait().unwrap() {
                break code;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        assert!(code.success(), "{line}");
        assert!(peak > 1000, "the peak was not seen: {peak} kB");
        assert!(peak < most * 1000, "{line}: {peak} kB");
    }
}
