//! Reading video: every frame as the ffmpeg program decodes it, and any frame found by its number the same as when
//! decoding from the start.
#![cfg(feature = "ffmpeg")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod video;

use grainfield::source::{Slot, Source};
use std::path::{Path, PathBuf};
use video::{Random, Seen, all, ffmpeg, framemd5, next, open};

/// Moving, noisy, small.
const CLIP: &str = "-f lavfi -i testsrc2=size=64x48:rate=25:duration=3.2,noise=alls=24:allf=t:all_seed=5";
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const SEEKS: u64 = 100;

fn seen_from(source: &mut dyn Source, number: i64) -> Seen {
    source.seek(number).unwrap_or_else(|e| panic!("seek {number}: {e}"));
    let seen = next(source, &mut Slot::default()).unwrap_or_else(|e| panic!("{number}: {e}"));
    seen.unwrap_or_else(|| panic!("{number}: the end"))
}

/// What a case expects beside equal frames.
#[derive(Clone, Copy)]
struct Expect {
    /// Whether ffmpeg's own frames are the same.
    ffmpeg: bool,
    /// Whether frames are found without decoding from the start.
    indexed: bool,
}

const INDEXED: Expect = Expect { ffmpeg: true, indexed: true };
const COUNTED: Expect = Expect { ffmpeg: true, indexed: false };

/// Decodes from the start, compares with ffmpeg, then seeks about.
fn check(file: &Path, expect: Expect) {
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let mut source = open(file);
    let known = source.info().last;
    assert_eq!(known.is_some(), expect.indexed, "{name}: last {known:?}: {:?}", source.info().details);
    let whole = all(&mut *source);
    assert!(whole.len() > 20, "{name}: only {} frames", whole.len());
    if let Some(last) = known {
        assert_eq!(last + 1, whole.len() as i64, "{name}: the number of frames");
    }
    assert!(whole.iter().enumerate().all(|(i, s)| s.number == i as i64), "{name}: numbers");
    if expect.ffmpeg {
        let theirs = framemd5(file, &["-map", "0:v:0"]);
        let ours: Vec<&str> = whole.iter().map(|s| s.hash.as_str()).collect();
        assert_eq!(theirs.len(), ours.len(), "{name}: as many frames as ffmpeg");
        let differs = (0..ours.len()).find(|&i| ours[i] != theirs[i]);
        assert_eq!(differs, None, "{name}: first frame that differs from ffmpeg's");
    }
    let mut random = Random(SEED);
    let mut source = open(file);
    // Counting from the start each time is slow.
    let seeks = if expect.indexed { SEEKS } else { SEEKS / 5 };
    for i in 0..seeks {
        let n = random.below(whole.len() as u64);
        let run = 1 + random.below(3);
        let first = seen_from(&mut *source, n as i64);
        assert_eq!(first, whole[n as usize], "{name}: seek {i} to {n} (seed {SEED:#x})");
        for n in n + 1..(n + run).min(whole.len() as u64) {
            let seen = next(&mut *source, &mut Slot::default()).unwrap().unwrap();
            assert_eq!(seen, whole[n as usize], "{name}: {n} behind seek {i} (seed {SEED:#x})");
        }
    }
    // To the end and back.
    let last = whole.len() - 1;
    assert_eq!(seen_from(&mut *source, last as i64), whole[last], "{name}: the last");
    assert!(next(&mut *source, &mut Slot::default()).unwrap().is_none(), "{name}: behind the last");
    assert_eq!(seen_from(&mut *source, 0), whole[0], "{name}: back to the first");
    assert!(source.seek(-1).is_err());
}

fn made(folder: &Path, name: &str, args: &str) -> PathBuf {
    ffmpeg(folder, &format!("{CLIP} {args} {name}"));
    folder.join(name)
}

/// The same stream in mp4, Matroska and a transport stream.
fn in_three(args: &str) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.mp4", "a.mkv", "a.ts"] {
        check(&made(folder.path(), name, args), INDEXED);
    }
}

#[test]
fn h264_closed_gops() {
    in_three("-c:v libx264 -g 12 -bf 3 -threads 1");
}

#[test]
fn h264_open_gops() {
    in_three("-c:v libx264 -x264-params open-gop=1:keyint=14:bframes=3:b-pyramid=normal:threads=1");
}

#[test]
fn hevc_open_gops() {
    in_three(
        "-c:v libx265 -x265-params keyint=14:min-keyint=14:open-gop=1:bframes=3:log-level=error:pools=1",
    );
}

#[test]
fn h264_intra_refresh() {
    in_three("-c:v libx264 -x264-params intra-refresh=1:keyint=16:bframes=2:threads=1");
}

#[test]
fn hevc_intra_refresh() {
    in_three("-c:v libx265 -x265-params intra-refresh=1:keyint=16:bframes=2:log-level=error:pools=1");
}

#[test]
fn variable_rate() {
    let folder = tempfile::tempdir().unwrap();
    let vfr =
        "-vf select='not(eq(mod(n\\,7)\\,3)+eq(mod(n\\,11)\\,5))' -fps_mode vfr -c:v libx264 -g 10 -bf 2";
    for name in ["a.mp4", "a.mkv"] {
        let file = made(folder.path(), name, vfr);
        check(&file, INDEXED);
        assert!(open(&file).info().variable_rate, "{name}");
        let seen = all(&mut *open(&file));
        let uneven = seen.windows(2).any(|w| w[0].duration != w[1].duration);
        assert!(uneven, "{name}: durations");
    }
}

#[test]
fn cut_at_a_cra() {
    let folder = tempfile::tempdir().unwrap();
    let hevc =
        "-c:v libx265 -x265-params keyint=20:min-keyint=20:open-gop=1:bframes=4:log-level=error:pools=1";
    made(folder.path(), "whole.mkv", hevc);
    made(folder.path(), "whole.ts", hevc);
    ffmpeg(folder.path(), "-ss 1.0 -i whole.mkv -c copy cut.mkv");
    ffmpeg(folder.path(), "-ss 1.0 -i whole.mkv -c copy cut.mp4");
    ffmpeg(folder.path(), "-ss 1.0 -i whole.mkv -c copy cut.ts");
    for name in ["cut.mkv", "cut.mp4", "cut.ts"] {
        check(&folder.path().join(name), INDEXED);
    }
    // A transport stream cut anywhere.
    let bytes = std::fs::read(folder.path().join("whole.ts")).unwrap();
    let from = bytes.len() / 188 * 2 / 5 * 188;
    std::fs::write(folder.path().join("torn.ts"), &bytes[from..]).unwrap();
    let torn = open(folder.path().join("torn.ts"));
    let indexed = torn.info().last.is_some();
    check(&folder.path().join("torn.ts"), Expect { ffmpeg: false, indexed });
}

#[test]
fn h264_open_gop_cut() {
    let folder = tempfile::tempdir().unwrap();
    made(
        folder.path(),
        "whole.mkv",
        "-c:v libx264 -x264-params open-gop=1:keyint=20:min-keyint=20:bframes=3",
    );
    for name in ["cut.mkv", "cut.mp4"] {
        ffmpeg(folder.path(), &format!("-ss 1.0 -i whole.mkv -c copy {name}"));
        check(&folder.path().join(name), Expect { ffmpeg: false, indexed: true });
    }
}

#[test]
fn first_timestamps() {
    let folder = tempfile::tempdir().unwrap();
    let h264 = "-c:v libx264 -g 12 -bf 3";
    for (name, args) in [
        ("late.mkv", "-output_ts_offset 5.28"),
        ("late.mp4", "-output_ts_offset 5.28 -movflags +faststart"),
        ("late.ts", "-output_ts_offset 3600.5"),
        ("negative.mp4", "-movflags negative_cts_offsets"),
        ("negative.mkv", "-avoid_negative_ts disabled"),
        ("early.mkv", "-output_ts_offset -0.4 -avoid_negative_ts disabled"),
        ("fragments.mp4", "-movflags frag_keyframe+empty_moov"),
        ("a.flv", ""),
        ("a.mov", ""),
        ("ntsc.mp4", "-r 30000/1001"),
        ("ntsc.mkv", "-r 24000/1001"),
    ] {
        let file = made(folder.path(), name, &format!("{h264} {args}"));
        // Matroska loses timestamps below zero.
        check(&file, if name == "early.mkv" { COUNTED } else { INDEXED });
        assert_eq!(all(&mut *open(&file))[0].time, "0", "{name}");
        assert!(!open(&file).info().variable_rate, "{name}");
    }
}

#[test]
fn edit_lists() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path(), "whole.mp4", "-c:v libx264 -g 25 -bf 3");
    ffmpeg(folder.path(), "-ss 0.7 -i whole.mp4 -c copy cut.mp4");
    check(&folder.path().join("cut.mp4"), INDEXED);
    ffmpeg(folder.path(), "-ss 1.5 -i whole.mp4 -t 1.1 -c copy both.mov");
    check(&folder.path().join("both.mov"), INDEXED);
}

/// Replaces bytes of a file in place.
fn patch(file: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(file).unwrap();
    change(&mut bytes);
    std::fs::write(file, bytes).unwrap();
}

fn find(bytes: &[u8], what: &[u8]) -> usize {
    bytes.windows(what.len()).position(|w| w == what).unwrap()
}

#[test]
fn indexes_that_are_missing_or_lie() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let h264 = "-c:v libx264 -g 15 -bf 3";
    // Every sample is a keyframe, says a file without a table of them.
    let file = made(folder, "all_keys.mp4", h264);
    patch(&file, |b| {
        let at = find(b, b"stss");
        b[at..at + 4].copy_from_slice(b"free");
    });
    check(&file, INDEXED);
    // All cues lead to the last cluster.
    let file = made(folder, "cues.mkv", &format!("{h264} -cluster_time_limit 300"));
    patch(&file, |b| {
        let cues = b.windows(4).rposition(|w| w == [0x1c, 0x53, 0xbb, 0x6b]).unwrap();
        let places: Vec<usize> = (cues..b.len() - 4).filter(|&i| b[i] == 0xf1 && b[i + 1] == 0x82).collect();
        let last = *places.last().unwrap();
        let value = [b[last + 2], b[last + 3]];
        assert!(places.len() > 3);
        places.iter().for_each(|&i| b[i + 2..i + 4].copy_from_slice(&value));
    });
    check(&file, INDEXED);
    // No cues at all, and no length.
    ffmpeg(folder, &format!("{CLIP} {h264} -f matroska -live 1 live.mkv"));
    check(&folder.join("live.mkv"), INDEXED);
    let file = made(folder, "no_index.avi", "-c:v mjpeg -q:v 3");
    patch(&file, |b| {
        let at = b.windows(4).rposition(|w| w == b"idx1").unwrap();
        b.truncate(at);
    });
    check(&file, INDEXED);
}

#[test]
fn attached_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    ffmpeg(folder, "-f lavfi -i testsrc=size=640x480:duration=0.04 cover.png");
    made(folder, "a.mp4", "-c:v libx264 -g 12");
    for maps in ["-map 0 -map 1 -disposition:v:1 attached_pic", "-map 1 -map 0 -disposition:v:0 attached_pic"]
    {
        ffmpeg(folder, &format!("-i a.mp4 -i cover.png {maps} -c copy b.mp4"));
        let source = open(folder.join("b.mp4"));
        assert_eq!((source.info().format.width, source.info().last), (64, Some(79)), "{maps}");
    }
    check(&folder.join("b.mp4"), Expect { ffmpeg: false, indexed: true });
    // Nothing but a cover: that is the picture.
    ffmpeg(
        folder,
        "-f lavfi -i sine=duration=1 -i cover.png -map 0 -map 1 -c:v copy -disposition:v attached_pic c.m4a",
    );
    let mut source = open(folder.join("c.m4a"));
    assert_eq!(all(&mut *source).len(), 1);
}

#[test]
fn other_codecs() {
    let folder = tempfile::tempdir().unwrap();
    for (name, args, expect) in [
        ("vp8.webm", "-c:v libvpx -g 20 -auto-alt-ref 1 -lag-in-frames 10 -b:v 300k", INDEXED),
        ("vp9.webm", "-c:v libvpx-vp9 -g 20 -auto-alt-ref 1 -lag-in-frames 10 -b:v 200k", INDEXED),
        ("vp9.mp4", "-c:v libvpx-vp9 -g 20 -b:v 200k", INDEXED),
        ("av1.mkv", "-c:v libaom-av1 -cpu-used 8 -g 20 -b:v 200k", INDEXED),
        ("av1.mp4", "-c:v libaom-av1 -cpu-used 8 -g 20 -b:v 200k", INDEXED),
        ("mpeg2.ts", "-c:v mpeg2video -g 12 -bf 2 -q:v 3", INDEXED),
        ("mpeg2.mkv", "-c:v mpeg2video -g 12 -bf 2 -q:v 3", INDEXED),
        ("mpeg2.mpg", "-c:v mpeg2video -g 12 -bf 2 -q:v 3", INDEXED),
        ("mpeg4.mp4", "-c:v mpeg4 -g 12 -bf 2 -q:v 3", INDEXED),
        ("mpeg4.avi", "-c:v mpeg4 -g 12 -bf 2 -q:v 3", COUNTED),
        ("prores.mov", "-c:v prores_ks -profile:v 3", INDEXED),
        ("ffv1.mkv", "-c:v ffv1 -level 3 -g 10 -pix_fmt yuv444p10", INDEXED),
        ("ffv1_old.avi", "-c:v ffv1 -level 1 -g 10", INDEXED),
        ("mjpeg.avi", "-c:v mjpeg -q:v 3", INDEXED),
        ("theora.ogv", "-c:v libtheora -g 12 -q:v 7", INDEXED),
        ("raw.h264", "-c:v libx264 -g 12 -bf 3", COUNTED),
        ("raw.hevc", "-c:v libx265 -x265-params log-level=error:keyint=12", COUNTED),
        ("gif.gif", "-r 20", Expect { ffmpeg: false, indexed: false }),
        ("tff.ts", "-vf setfield=tff -c:v libx264 -flags +ildct+ilme -x264-params tff=1:keyint=12", COUNTED),
        ("tff.mp4", "-vf setfield=tff -c:v libx264 -flags +ildct+ilme -x264-params tff=1:keyint=12", INDEXED),
        ("utvideo.avi", "-c:v utvideo -pix_fmt gbrp", INDEXED),
        ("cinepak.mov", "-c:v cinepak", COUNTED),
    ] {
        println!("{name}");
        check(&made(folder.path(), name, args), expect);
    }
}

/// Every pixel format that raw video can have, against ffmpeg's own conversion to planes.
#[test]
fn packed_formats_come_out_whole() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for format in [
        "nv12",
        "nv21",
        "nv16",
        "nv24",
        "p010le",
        "p010be",
        "p016le",
        "p210le",
        "p416le",
        "yuyv422",
        "uyvy422",
        "yvyu422",
        "rgb24",
        "bgr24",
        "rgba",
        "bgra",
        "argb",
        "abgr",
        "0rgb",
        "rgb0",
        "rgb48le",
        "rgb48be",
        "rgba64be",
        "bgra64le",
        "gbrp12be",
        "yuv420p10be",
        "yuv444p16be",
        "gray10be",
        "gray16be",
        "ya8",
        "ya16be",
        "grayf32be",
        "gbrpf32be",
        "y210le",
        "x2rgb10le",
        "yuv410p",
        "yuv411p",
        "yuv440p",
        "yuva444p12le",
        "gbrap10le",
        "uyyvyy411",
        "v30xle",
        "ayuv64le",
        "gray12le",
        "monow",
        "monob",
        "pal8",
        "rgb565be",
        "rgb565le",
        "bgr555be",
        "rgb8",
    ] {
        let known =
            std::process::Command::new("ffmpeg").args(["-hide_banner", "-pix_fmts"]).output().unwrap();
        let known = String::from_utf8_lossy(&known.stdout).into_owned();
        if !known.lines().any(|l| l.split_whitespace().nth(1) == Some(format)) {
            continue;
        }
        let clip = "-f lavfi -i testsrc2=size=50x38:rate=5:duration=0.6,noise=alls=24:allf=t";
        ffmpeg(folder, &format!("{clip} -pix_fmt {format} -c:v rawvideo -f nut a.nut"));
        let file = folder.join("a.nut");
        let mut source = open(&file);
        let name = source.info().format.name();
        let ours: Vec<String> = all(&mut *source).into_iter().map(|s| s.hash).collect();
        // Narrow samples are widened by repeating their bits, where swscale may do otherwise.
        if matches!(format, "rgb565be" | "rgb565le" | "bgr555be" | "rgb8") {
            assert_eq!((name.as_str(), ours.len()), ("gbrp", 3), "{format}");
            continue;
        }
        // swscale does not know float's other byte order.
        let plain = if format.ends_with("f32be") { format.replace("be", "le") } else { name.clone() };
        let args = ["-sws_flags", "bitexact+accurate_rnd+full_chroma_int", "-pix_fmt", &plain];
        let theirs = framemd5(&file, &args);
        if theirs.is_empty() {
            println!("{format}: ffmpeg cannot make {plain} of it");
            continue;
        }
        assert_eq!(ours, theirs, "{format} as {name}");
    }
}
