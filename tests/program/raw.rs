//! Samples without a header, and NUT streams on pipes.

use crate::util::Session;

/// Twelve frames of 6x3 grey, which are 18 bytes each.
fn bytes(frames: usize) -> Vec<u8> {
    (0..frames * 18).map(|i| (i * 7) as u8).collect()
}

#[test]
fn samples_come_out_as_they_went_in() {
    let s = Session::new();
    s.write("in.yuv", bytes(5));
    for output in ["out.raw", "raw:out", "raw:"] {
        let out = s.run(&format!("render in.yuv {output} --raw 6x3:gray:25")).ok().says("6x3:gray:25");
        let file = output.trim_start_matches("raw:");
        assert_eq!(if file.is_empty() { out.out } else { s.read(file) }, bytes(5), "{output}");
    }
    let piped = s.piped("hash - --raw 6x3:gray --frames 3-", &bytes(5)).ok().says("assuming 24 frames");
    assert_eq!(piped.text(), s.run("hash in.yuv --raw 6x3:gray:24 --frames 3-").ok().text());
    assert_eq!(s.run("probe in.yuv --raw 6x3:gray:23.976").ok().text().matches("24000/1001").count(), 1);
    // words are little endian, and codes above the largest become it
    let words = [[0u8, 2], [255, 3], [0, 4], [255, 255]].concat();
    let out = s.piped("render - raw: --raw 2x2:gray10le:25", &words).ok().out;
    assert_eq!(out, [[0u8, 2], [255, 3], [255, 3], [255, 3]].concat());
    for i in 1..=2 {
        s.run(&format!("render in.yuv parts.raw -f noise --raw 6x3:gray:25 --shard {i}/2")).ok();
    }
    s.run("join parts.raw").ok();
    s.run("render in.yuv whole.raw -f noise --raw 6x3:gray:25").ok();
    assert!(s.read("parts.raw") == s.read("whole.raw") && s.read("whole.raw") != bytes(5));
}

#[test]
fn wrong_descriptions_are_errors() {
    let s = Session::new();
    s.write("in.yuv", bytes(5));
    s.write("empty.yuv", b"");
    s.run("hash in.yuv --raw 6x4:gray")
        .ends(1)
        .says("its 90 bytes are 3 frames of gray 6x4 (24 bytes each) and 18 bytes");
    s.run("hash empty.yuv --raw 6x3:gray").ends(1).says("its 0 bytes are 0 frames");
    s.run("hash nothing.yuv --raw 6x3:gray").ends(1).says("nothing.yuv");
    s.run("hash in.yuv --raw 6:gray").ends(2).says("WIDTHxHEIGHT:PIXFMT:RATE");
    s.run("hash in.yuv --raw 6x3:grey").ends(2).says("'grey' is not known");
    s.run("hash in.yuv --raw 60000x60000:gray").ends(2).says("a picture of 60000x60000 gray");
    s.piped("hash - --raw 6x3:gray", &bytes(5)[..85])
        .ends(1)
        .says("ends inside frame 4, after 13 of 18 bytes");
    s.piped("hash - --raw 6x3:gray --frames 9", &bytes(5)).ends(1).says("only 5 frames");
    #[cfg(feature = "ffmpeg")]
    s.run("hash in.yuv").ends(2).says("--raw 1920x1080:yuv420p:25");
    #[cfg(feature = "ffmpeg")]
    s.run("render in.yuv out.raw --raw 6x3:gray --pix-fmt rgb565le").ends(2).says("rgb565le is only read");
    assert_eq!(s.files(), ["empty.yuv", "in.yuv"]);
}

/// FFmpeg reads and writes the same bytes, also where samples are packed.
#[test]
#[cfg(feature = "ffmpeg")]
fn packed_samples_are_ffmpegs() {
    let s = Session::new();
    let clip = "-nostdin -v error -y -f lavfi -i testsrc2=size=10x6:rate=25 -frames:v 3 -f rawvideo -pix_fmt";
    for name in ["rgb24", "rgba64le", "nv12", "ya16le", "rgb48be", "gbrapf32le", "yuv410p", "yuva422p12le"] {
        s.tool("ffmpeg", &format!("{clip} {name} in.raw"));
        s.run(&format!("render in.raw out.raw -y --raw 10x6:{name}:25 --pix-fmt {name}")).ok();
        assert!(s.read("in.raw") == s.read("out.raw"), "{name}");
    }
    s.tool("ffmpeg", &format!("{clip} yuv420p10le in.raw"));
    s.run("render in.raw high.raw --raw 10x6:yuv420p10le:25 --pix-fmt p010le").ok();
    s.run("render high.raw out.raw -y --raw 10x6:p010le:25").ok();
    assert!(s.read("in.raw") == s.read("out.raw") && s.read("in.raw") != s.read("high.raw"));
    // read only, or converted
    s.tool("ffmpeg", &format!("{clip} rgb48be be.raw"));
    s.tool(
        "ffmpeg",
        "-nostdin -v error -y -f rawvideo -s 10x6 -pix_fmt rgb48be -i be.raw -f rawvideo -pix_fmt gbrp16le le.raw",
    );
    s.run("render be.raw out.raw -y --raw 10x6:rgb48be:25").ok();
    assert!(s.read("le.raw") == s.read("out.raw"));
    s.run("render be.raw out.png --raw 10x6:rgb48be:25 --frames 0 --pix-fmt rgb24").ok();
    assert!(s.run("probe out.png").ok().text().contains("gbrp (rgb, 8 bits)"));
}

/// A clip whose frames last for different times, with alpha, 10 bits and sound.
#[test]
#[cfg(feature = "ffmpeg")]
fn nut_pipes_keep_alpha_depth_times_and_sound() {
    let s = Session::new();
    s.tool(
        "ffmpeg",
        "-nostdin -v error -y -f lavfi -i testsrc2=size=32x18:rate=25,select=lt(mod(n\\,4)\\,3),format=yuva444p10le -f lavfi \
         -i sine=440 -t 0.4 -fps_mode vfr -c:v ffv1 -c:a pcm_s16le in.mkv",
    );
    let stream = s.run("render in.mkv nut: -f noise").ok();
    let times = |file: &str| {
        let line = format!("-v error -select_streams v -show_entries frame=pts_time -of csv=p=0 {file}");
        s.tool("ffprobe", &line).text().replace(',', "")
    };
    s.write("out.nut", &stream.out);
    assert_eq!(times("out.nut"), times("in.mkv"));
    let sound = |file: &str| s.tool("ffmpeg", &format!("-v error -i {file} -map 0:a -f md5 -")).text();
    assert_eq!(sound("out.nut"), sound("in.mkv"));
    let want = s.run("hash in.mkv -f noise").ok().text();
    assert_eq!(s.piped("hash -", &stream.out).ok().text(), want);
    assert!(s.run("probe out.nut").ok().text().contains("yuva444p10"));
    // formats that raw video has no name for
    let deep = s.run("render pattern:bars:size=16x16:frames=2:format=gbrpf32 nut:").ends(2);
    deep.says("gbrpf32 cannot be encoded without loss");
    let grey = s.run("render pattern:bars:size=16x16:frames=2:format=ya8 nut:").ok().out;
    let hashes = s.run("hash pattern:bars:size=16x16:frames=2:format=ya8").ok().text();
    assert_eq!(s.piped("hash -", &grey).ok().text(), hashes);
}
