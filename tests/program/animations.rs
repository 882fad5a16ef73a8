//! Animated pictures: GIF, PNG and WebP, in and out; and variants of TIFF.
#![cfg(feature = "ffmpeg")]

use crate::util::Session;

const FF: &str = "-nostdin -v error -y";

/// The times at which frames of a file are shown, as FFmpeg reads them.
fn times(s: &Session, file: &str) -> Vec<f64> {
    let line = format!("-v error -show_entries frame=pts_time -of csv=p=0 {file}");
    let text = s.tool("ffprobe", &line).text().replace(',', "");
    text.lines().filter(|line| !line.is_empty()).map(|line| line.parse().unwrap()).collect()
}

/// A clip of six frames at 24 per second, in which the fourth lasts twice as long.
fn with_clip() -> Session {
    let s = Session::new();
    let clip = "testsrc2=size=48x32:rate=24:duration=0.3,noise=alls=60:allf=t,select=not(eq(n\\,4))";
    s.tool("ffmpeg", &format!("{FF} -f lavfi -i {clip} -fps_mode vfr -pix_fmt gbrp -c:v ffv1 in.mkv"));
    s
}

#[test]
fn gifs_keep_times_and_colours() {
    let s = with_clip();
    s.run("render in.mkv out.gif").ok().says("256 colours a frame");
    let (want, got) = (times(&s, "in.mkv"), times(&s, "out.gif"));
    assert_eq!(got.len(), want.len());
    assert!(got.iter().zip(&want).all(|(a, b)| (a - b).abs() <= 0.011), "{got:?} {want:?}");
    assert!(
        s.read("out.gif").windows(19).any(|part| part == b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0"),
        "forever"
    );
    // few colours are exact, and many are near on average over places
    s.run("render pattern:bars:size=64x36:frames=1:format=gbrp bars.gif").ok();
    let line = "-v error -i bars.gif -f rawvideo -pix_fmt gbrp -";
    let raw = s.run("render pattern:bars:size=64x36:frames=1:format=gbrp raw:").ok().out;
    assert!(s.tool("ffmpeg", line).out == raw, "bars");
    s.run("render pattern:ramp:size=256x64:frames=1:format=gbrp -f noise=strength=4 ramp.gif").ok();
    let gif = s.tool("ffmpeg", "-v error -i ramp.gif -f rawvideo -pix_fmt gbrp -").out;
    let raw = s.run("render pattern:ramp:size=256x64:frames=1:format=gbrp raw: -f noise=strength=4").ok().out;
    for (a, b) in gif.chunks(256 * 16).zip(raw.chunks(256 * 16)) {
        let mean = |part: &[u8]| part.iter().map(|v| f64::from(*v)).sum::<f64>() / part.len() as f64;
        assert!((mean(a) - mean(b)).abs() < 1.5, "{} {}", mean(a), mean(b));
    }
    // transparent or opaque, deep and grey pictures, one pixel
    let rgba: Vec<u8> = (0..2 * 64).flat_map(|i| [255, i as u8, 0, (i * 37) as u8]).collect();
    s.write("alpha.raw", &rgba);
    s.run("render alpha.raw alpha.gif --raw 8x8:rgba:10").ok().says("either transparent or opaque");
    s.run("render alpha.raw strict.gif --raw 8x8:rgba:10 --strict").ends(1);
    let got = s.tool("ffmpeg", "-v error -i alpha.gif -fps_mode passthrough -f rawvideo -pix_fmt rgba -").out;
    for (got, want) in got.chunks(4).zip(rgba.chunks(4)) {
        assert_eq!(got[3], if want[3] >= 128 { 255 } else { 0 });
        assert!(got[3] == 0 || got[..3] == want[..3], "{got:?} {want:?}");
    }
    for format in ["gray16", "yuva444p12", "gbrpf32"] {
        s.run(&format!("render pattern:ramp:size=1x1:frames=2:format={format} one.gif -y")).ok();
        assert_eq!(times(&s, "one.gif").len(), 2);
    }
    for (line, says) in [
        ("render in.mkv out.gif -y --crf 20", "apply to video files only"),
        ("render in.mkv out.gif -y --shard 1/2", "is written as a whole"),
        ("render in.mkv out.gif -y --frames 3,1", "order"),
    ] {
        s.run(line).ends(2).says(says);
    }
    assert_eq!(s.run("hash out.gif").ok().text().lines().count(), want.len(), "what was written is read");
}

#[test]
fn animated_png_and_webp_are_written_and_read() {
    let s = with_clip();
    let want = times(&s, "in.mkv");
    s.run("render in.mkv out.apng").ok();
    let got = times(&s, "out.apng");
    assert!(
        got.len() == want.len() && got.iter().zip(&want).all(|(a, b)| (a - b).abs() < 0.002),
        "{got:?} {want:?}"
    );
    let hashes = s.run("hash in.mkv").ok().text();
    assert_eq!(s.run("hash out.apng").ok().text(), hashes);
    let at = s.read("out.apng").windows(4).position(|part| part == b"acTL").unwrap();
    assert_eq!(s.read("out.apng")[at + 4..at + 12], [0, 0, 0, want.len() as u8, 0, 0, 0, 0], "forever");
    s.write("same.png", s.read("out.apng"));
    assert_eq!(s.run("hash same.png").ok().text(), hashes, "known by its contents");
    s.run("render pattern:ramp:size=9x7:frames=2:format=yuv420p10 deep.apng").ok().says("rgb48be");
    // a WebP of several frames is an animation, that of one frame an image
    s.run("render in.mkv out.webp --lossless").ok();
    let pixels = s.run("render in.mkv raw: --pix-fmt rgb24").ok().out;
    let got = s.run("render out.webp raw: --pix-fmt rgb24").ok().out;
    // the library rounds where it puts a frame over the one before
    assert!(got.len() == pixels.len() && got.iter().zip(&pixels).all(|(a, b)| a.abs_diff(*b) <= 1));
    assert!(got[..48 * 32 * 3] == pixels[..48 * 32 * 3], "without loss");
    let probe = s.run("probe out.webp").ok().text();
    assert!(
        probe.contains("animated WebP") && probe.contains(&format!("frames     {}", want.len())),
        "{probe}"
    );
    s.run("render out.webp back.mkv --codec ffv1").ok();
    let got = times(&s, "back.mkv");
    assert!(got.iter().zip(&want).all(|(a, b)| (a - b).abs() < 0.003), "{got:?} {want:?}");
    let backwards = s.run("hash out.webp --frames 3,1").ok().text();
    let all = s.run("hash out.webp").ok().text();
    let lines: Vec<&str> = all.lines().collect();
    assert_eq!(backwards.lines().collect::<Vec<_>>(), [lines[3], lines[1]]);
    s.run("frame in.mkv 2 still.webp").ok();
    assert!(s.run("probe still.webp").ok().text().contains("kind       image"));
    s.run("render in.mkv parts.webp --segments").ends(2).says("is written as a whole");
    let bytes = s.read("out.webp");
    for cut in [40, bytes.len() / 2, bytes.len() - 3] {
        s.write("cut.webp", &bytes[..cut]);
        let ended = s.run("hash cut.webp");
        assert!(ended.code == Some(0) || ended.code == Some(1), "{}", ended.err);
        assert!(!ended.err.contains("panicked"), "{}", ended.err);
    }
}

/// A TIFF of two grey samples.
fn tiff(compression: u16, bits: u16, data: &[u8]) -> Vec<u8> {
    let entries = [
        (256, 2),
        (257, 1),
        (258, bits),
        (259, compression),
        (262, 1),
        (273, 8),
        (277, 1),
        (278, 1),
        (279, data.len() as u16),
        (339, 3),
    ];
    let mut file = [b"II*\0", &(8 + data.len() as u32).to_le_bytes()[..], data].concat();
    file.extend((entries.len() as u16).to_le_bytes());
    for (tag, value) in entries {
        file.extend([tag, 3, 1, 0, value, 0].into_iter().flat_map(u16::to_le_bytes));
    }
    file.extend([0; 4]);
    file
}

#[test]
fn variants_of_tiff_are_read_or_named() {
    let s = Session::new();
    // 1.5 and -2 as half floats and as floats
    s.write("half.tif", tiff(1, 16, &[0, 0x3e, 0, 0xc0]));
    s.write("float.tif", tiff(1, 32, &[1.5f32.to_le_bytes(), (-2f32).to_le_bytes()].concat()));
    let raw: Vec<u8> = [1.5f32, -2.0].repeat(3).into_iter().flat_map(f32::to_le_bytes).collect();
    for file in ["half.tif", "float.tif"] {
        assert_eq!(s.run(&format!("render {file} raw:")).ok().out, raw, "{file}");
    }
    s.write("zstd.tif", tiff(50_000, 16, &[0; 4]));
    s.run("hash zstd.tif").ends(1).says("ZSTD");
    s.write("cut.tif", &tiff(1, 16, &[0; 4])[..20]);
    s.run("hash cut.tif").ends(1);
}

/// Frames at a distance are shown until the next one begins.
#[test]
fn frames_at_a_distance_keep_their_times() {
    let s = Session::new();
    for (out, wanted) in [("step.gif", [0.0, 0.1, 0.2, 0.3]), ("step.apng", [0.0, 0.1, 0.2, 0.3])] {
        s.run(&format!("render pattern:zoneplate:size=48x32:frames=20:rate=50 {out} --frames 0-19x5")).ok();
        assert_eq!(times(&s, out), wanted, "{out}");
    }
}

/// A cut is no standing picture.
#[test]
fn cuts_close_up() {
    let s = Session::new();
    let clip = "testsrc2=size=48x32:rate=25:duration=2";
    s.tool("ffmpeg", &format!("{FF} -f lavfi -i {clip} -pix_fmt gbrp -c:v ffv1 in.mkv"));
    for out in ["cut.gif", "cut.apng"] {
        s.run(&format!("render in.mkv {out} --frames 0-9,30-34")).ok();
        let wanted: Vec<f64> = (0..15).map(|n| f64::from(n) * 0.04).collect();
        let times = times(&s, out);
        let close = times.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 0.002);
        assert!(times.len() == 15 && close, "{out}: {times:?}");
    }
}
