//! Choices for encoding: sound, two passes, tags of codecs, encoders of graphics cards.
#![cfg(feature = "ffmpeg")]

use crate::util::Session;

/// A clip of ten frames with sound of six channels.
fn with_clip() -> Session {
    let s = Session::new();
    s.tool(
        "ffmpeg",
        "-nostdin -v error -y -f lavfi -i testsrc2=size=64x48:rate=25 -f lavfi -i sine=440:sample_rate=48000 -t 0.4 -c:v \
         ffv1 -pix_fmt yuv420p -af volume=0.2,pan=5.1|FL=c0|FR=0.1*c0|FC=c0|LFE=c0|BL=0.5*c0|BR=c0 -c:a pcm_s16le in.mkv",
    );
    s
}

/// The entries of a stream of a file.
fn entry(s: &Session, file: &str, stream: &str, entries: &str) -> String {
    let line = format!("-v error -select_streams {stream} -show_entries stream={entries} -of csv=p=0 {file}");
    s.tool("ffprobe", &line).text().trim().to_owned()
}

#[test]
fn sound_is_encoded_as_asked() {
    let s = with_clip();
    let md5 = |file: &str| s.tool("ffmpeg", &format!("-v error -i {file} -map 0:a -f md5 -")).text();
    s.run("render in.mkv out.mkv --audio-codec flac").ok();
    assert_eq!(entry(&s, "out.mkv", "a", "codec_name,channel_layout"), "flac,5.1");
    assert_eq!(md5("out.mkv"), md5("in.mkv"), "no sample changes");
    s.run("render in.mkv out.mp4 --audio-bitrate 96k").ok();
    assert_eq!(entry(&s, "out.mp4", "a", "codec_name,channel_layout"), "aac,5.1");
    let size = |file: &str| {
        let line = format!("-v error -select_streams a -show_entries packet=size -of csv=p=0 {file}");
        let sizes = s.tool("ffprobe", &line).text().replace(',', "");
        sizes.lines().filter(|line| !line.is_empty()).map(|line| line.parse::<u64>().unwrap()).sum::<u64>()
    };
    s.run("render in.mkv more.mp4 --audio-codec aac --audio-bitrate 384k").ok();
    assert!(size("more.mp4") > 2 * size("out.mp4"), "{} {}", size("more.mp4"), size("out.mp4"));
    for i in [1, 2] {
        s.run(&format!("render in.mkv parts.mkv --audio-codec flac --segment-frames 5 --shard {i}/2")).ok();
    }
    s.run("join parts.mkv").ok();
    assert_eq!(md5("parts.mkv"), md5("in.mkv"));
    for (line, code, says) in [
        ("out.mkv --audio-codec nothing", 2, "sound as nothing: this FFmpeg has no such encoder"),
        ("out.webm --audio-codec aac", 2, "webm cannot hold sound as aac; use opus or vorbis"),
        ("out.mkv --audio-codec flac --audio-bitrate 64k", 2, "has no bit rate"),
        ("out.mkv --audio copy --audio-codec aac", 2, "--audio says that it is not encoded"),
        ("out.y4m --audio-codec aac", 2, "apply to video files only"),
    ] {
        s.run(&format!("render in.mkv {line} -y")).ends(code).says(says);
    }
}

#[test]
fn two_passes_share_measurements_that_are_removed() {
    let s = with_clip();
    std::fs::create_dir(s.path("tmp")).unwrap();
    let temporary = s.path("tmp").display().to_string();
    let s = s.with_var("TMPDIR", &temporary);
    let contains = |file: &str, text: &str| String::from_utf8_lossy(&s.read(file)).contains(text);
    for (codec, file, mark) in [
        ("libx264", "x264.mp4", "rc=2pass"),
        ("libx265", "x265.mkv", "stats-read=2"),
        ("libvpx-vp9", "vp9.webm", ""),
        ("libaom-av1", "av1.mkv", ""),
    ] {
        let options = format!("--codec {codec} --two-pass --bitrate 200k --audio none");
        let said = s.run(&format!("render in.mkv {file} {options} --progress json -f noise")).ok().err;
        assert!(said.contains(r#"{"event":"pass","number":1,"of":2}"#), "{said}");
        assert_eq!(said.matches(r#""event":"progress""#).count(), 2, "the first frame of each pass: {said}");
        assert!(contains(file, mark), "{file}: {mark}");
        assert_eq!(entry(&s, file, "v", "width"), "64");
        assert_eq!(s.run(&format!("hash {file}")).ok().text().lines().count(), 10, "{file}");
    }
    s.run("render in.mkv x264.mp4 -y --two-pass --bitrate 100k").ok().says("note: pass 2 of 2");
    assert!(std::fs::read_dir(&temporary).unwrap().next().is_none());
    s.run("render in.mkv x264.mp4 --two-pass --bitrate 100k").ends(1).says("exists");
    for (line, says) in [
        ("in.mkv out.mp4 --two-pass", "give a bit rate, and no quality"),
        ("in.mkv out.mkv --two-pass --bitrate 1M --codec ffv1", "ffv1 has no second pass; libx264"),
        ("in.mkv out.mkv --two-pass --bitrate 1M --segments", "two passes measure a whole video"),
        ("- out.mkv --two-pass --bitrate 1M", "a pipe cannot be read twice"),
        ("in.mkv out.y4m --two-pass", "apply to video files only"),
    ] {
        s.run(&format!("render {line}")).ends(2).says(says);
    }
    assert!(
        !s.files().iter().any(|file| file.contains("out.") || file.contains("partial")),
        "{:?}",
        s.files()
    );
}

#[test]
fn tags_of_codecs_are_chosen() {
    let s = with_clip();
    for (tag, more) in [("hvc1", ""), ("hev1", "--tag hev1")] {
        s.run(&format!("render in.mkv {tag}.mp4 --codec libx265 --audio none {more}")).ok();
        assert_eq!(entry(&s, &format!("{tag}.mp4"), "v", "codec_tag_string"), tag);
    }
    s.run("render in.mkv out.mp4 --tag xyzw").ends(2).says("xyzw");
    s.run("render in.mkv out.mp4 --tag hevc1").ends(2).says("a tag is four letters");
    s.run("render in.mkv out.mkv --tag hvc1").ends(2).says("mp4, mov and avi have them");
}

#[test]
fn an_encoder_of_a_missing_card_says_so() {
    let s = with_clip();
    let encoders = s.tool("ffmpeg", "-v error -encoders").text();
    if !encoders.contains("hevc_nvenc") || std::path::Path::new("/dev/nvidia0").exists() {
        return println!("skipped: no encoder, or a card");
    }
    let said = s.run("render in.mkv out.mkv --codec hevc_nvenc").ends(1);
    said.says("the encoder hevc_nvenc cannot be opened").says("libcuda");
}
