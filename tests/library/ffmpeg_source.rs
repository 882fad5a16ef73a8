//! Reading video: every frame as the ffmpeg program decodes it, and any frame found by its number the same as when
//! decoding from the start.
#![cfg(feature = "ffmpeg")]

use crate::video::{Random, Seen, all, ffmpeg, framemd5, next, open, open_with, try_ffmpeg};
use grainfield::source::{Options, Slot, Source};
use grainfield_filters::ratio::Ratio;
use std::path::{Path, PathBuf};

/// Moving, noisy and small.
const CLIP: &str = "-f lavfi -i testsrc2=size=64x48:rate=25:duration=3.2,noise=alls=24:allf=t:all_seed=5";
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const SEEKS: u64 = 100;

fn seen_from(source: &mut dyn Source, number: i64) -> Seen {
    source.seek(number).unwrap_or_else(|e| panic!("seek {number}: {e}"));
    let seen = next(source, &mut Slot::default()).unwrap_or_else(|e| panic!("{number}: {e}"));
    seen.unwrap_or_else(|| panic!("{number}: the end"))
}

/// Expectations in addition to equal frames.
#[derive(Clone, Copy)]
struct Expect {
    /// Whether ffmpeg's frames are the same.
    ffmpeg: bool,
    /// Whether frames are found without decoding from the start.
    indexed: bool,
}

const INDEXED: Expect = Expect { ffmpeg: true, indexed: true };
const COUNTED: Expect = Expect { ffmpeg: true, indexed: false };

/// Decodes from the start, compares with ffmpeg, then seeks.
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
    for i in 0..SEEKS {
        let n = random.below(whole.len() as u64);
        let run = 1 + random.below(3);
        // A key frame alone, from which reading does not go on.
        if i % 2 == 0
            && let Some(entry) = source.key_frame(n as i64 + 1, true)
        {
            source.seek_alone(entry).unwrap_or_else(|e| panic!("{name}: alone {entry}: {e}"));
            let alone = next(&mut *source, &mut Slot::default()).unwrap().unwrap();
            assert_eq!(alone, whole[entry as usize], "{name}: {entry} alone (seed {SEED:#x})");
        }
        let first = seen_from(&mut *source, n as i64);
        assert_eq!(first, whole[n as usize], "{name}: seek {i} to {n} (seed {SEED:#x})");
        for n in n + 1..(n + run).min(whole.len() as u64) {
            let seen = next(&mut *source, &mut Slot::default()).unwrap().unwrap();
            assert_eq!(seen, whole[n as usize], "{name}: {n} behind seek {i} (seed {SEED:#x})");
        }
    }
    // To the end and back.
    let last = whole.len() - 1;
    assert_eq!(source.info().last, Some(last as i64), "{name}: known by now");
    let told = source.drain_notes();
    assert_eq!(told.len(), usize::from(!expect.indexed), "{name}: {told:?}");
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
    // A transport stream cut at arbitrary positions.
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
fn missing_and_wrong_indexes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let h264 = "-c:v libx264 -g 15 -bf 3";
    // A file without a keyframe table declares every sample a keyframe.
    let file = made(folder, "all_keys.mp4", h264);
    patch(&file, |b| {
        let at = find(b, b"stss");
        b[at..at + 4].copy_from_slice(b"free");
    });
    check(&file, INDEXED);
    // All cues point to the last cluster.
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
    // No cues, and no length.
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
    // With only a cover, the cover is the picture.
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
        ("prores.mov", "-c:v prores_ks -profile:v 3", INDEXED),
        ("ffv1.mkv", "-c:v ffv1 -level 3 -g 10 -pix_fmt yuv444p10", INDEXED),
        ("ffv1_old.avi", "-c:v ffv1 -level 1 -g 10", INDEXED),
        ("mjpeg.avi", "-c:v mjpeg -q:v 3", INDEXED),
        ("theora.ogv", "-c:v libtheora -g 12 -q:v 7", INDEXED),
        ("gif.gif", "-r 20", Expect { ffmpeg: false, indexed: false }),
        ("tff.mp4", "-vf setfield=tff -c:v libx264 -flags +ildct+ilme -x264-params tff=1:keyint=12", INDEXED),
        ("utvideo.avi", "-c:v utvideo -pix_fmt gbrp", INDEXED),
        ("cinepak.mov", "-c:v cinepak", Expect { ffmpeg: false, indexed: false }),
    ] {
        println!("{name}");
        check(&made(folder.path(), name, args), expect);
    }
}

/// Streams that are decoded once completely, since their frames do not follow from their packets.
#[test]
fn packets_that_do_not_tell_frames() {
    let folder = tempfile::tempdir().unwrap();
    let fields = "-vf setfield=tff -c:v libx264 -flags +ildct+ilme -x264-params tff=1:keyint=12";
    for (name, args) in [
        ("mpeg4.avi", "-c:v mpeg4 -g 12 -bf 2 -q:v 3"),
        ("h264.avi", "-c:v libx264 -g 12 -bf 3"),
        ("raw.h264", "-c:v libx264 -g 12 -bf 3"),
        ("open.h264", "-c:v libx264 -x264-params open-gop=1:keyint=14:bframes=3:b-pyramid=normal"),
        ("raw.hevc", "-c:v libx265 -x265-params log-level=error:keyint=12:pools=1"),
        ("tff.ts", fields),
        ("tff.mpg", fields),
        ("refresh.h264", "-c:v libx264 -x264-params intra-refresh=1:keyint=16:bframes=2:threads=1"),
    ] {
        println!("{name}");
        check(&made(folder.path(), name, args), COUNTED);
    }
}

/// Every pixel format of raw video, compared with ffmpeg's conversion to planes.
#[test]
fn packed_formats_come_out_whole() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut tested = 0;
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
        let clip = "-f lavfi -i testsrc2=size=50x38:rate=5:duration=0.6,noise=alls=24:allf=t";
        // Formats that this ffmpeg's scaler cannot make are left out; the number of the others is checked
        // below.
        let made = format!("{clip} -pix_fmt {format} -c:v rawvideo -f nut a.nut");
        // NUT stores some formats as others.
        if !try_ffmpeg(folder, &made) || crate::video::pix_fmt(&folder.join("a.nut")) != format {
            println!("{format}: ffmpeg cannot make it");
            continue;
        }
        tested += 1;
        let file = folder.join("a.nut");
        let mut source = open(&file);
        let name = source.info().format.name();
        let ours: Vec<String> = all(&mut *source).into_iter().map(|s| s.hash).collect();
        // Narrow samples are widened by repeating their bits; swscale may use another rule.
        if matches!(format, "rgb565be" | "rgb565le" | "bgr555be" | "rgb8") {
            assert_eq!((name.as_str(), ours.len()), ("gbrp", 3), "{format}");
            continue;
        }
        // swscale does not support the other byte order of float.
        let plain = if format.ends_with("f32be") { format.replace("be", "le") } else { name.clone() };
        // (nor palettes to planes, except through packed samples)
        let palette = ["-vf", "format=rgba,format=gbrap"];
        let args = ["-sws_flags", "bitexact+accurate_rnd+full_chroma_int", "-pix_fmt", &plain];
        let args = if format == "pal8" { &palette[..] } else { &args[..] };
        let theirs = framemd5(&file, args);
        if theirs.is_empty() {
            println!("{format}: ffmpeg cannot make {plain} of it");
            continue;
        }
        assert_eq!(ours, theirs, "{format} as {name}");
    }
    assert!(tested > 30, "{tested}");
}

/// Formats that no container can store, made by FFmpeg's filters.
#[test]
fn packed_formats_equal_planar_ones() {
    let folder = tempfile::tempdir().unwrap();
    let file = made(folder.path(), "a.mkv", "-frames:v 3 -c:v ffv1");
    let hashes = |graph: String| -> (String, Vec<String>) {
        let options = Options { lavfi: Some(graph.clone()), ..Options::default() };
        let mut source = open_with(&file, &options).unwrap_or_else(|e| panic!("{graph}: {e}"));
        let name = source.info().format.name();
        (name, all(&mut *source).into_iter().map(|s| s.hash).collect())
    };
    for (planar, packed) in [
        ("yuv420p10le", "p010le"),
        ("yuv420p10le", "p010be"),
        ("yuv420p16le", "p016le"),
        ("yuv444p", "nv24"),
        ("yuv444p", "nv42"),
        ("yuva444p16le", "ayuv64le"),
        ("grayf32le", "grayf32be"),
        ("gbrp12le", "gbrp12be"),
        ("gbrp16le", "rgb48be"),
        ("yuv422p", "uyvy422"),
    ] {
        let ours = hashes(format!("format={planar},format={packed}"));
        assert!(ours == hashes(format!("format={planar}")), "{packed} is not {planar} but {}", ours.0);
    }
}

#[test]
fn samples_above_the_largest_code_become_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.raw"), [0xff, 0xff, 0x34, 0x02].repeat(4 * 2 * 3 / 2)).unwrap();
    ffmpeg(folder.path(), "-f rawvideo -pix_fmt yuv444p10le -s 4x2 -i a.raw -c copy a.nut");
    let mut source = open(folder.path().join("a.nut"));
    let mut slot = Slot::default();
    let stamp = source.next(&mut slot).unwrap().unwrap();
    source.decoder().decode(&stamp, &mut slot).unwrap();
    assert_eq!(slot.frame.plane(0).row::<u16>(0), [1023, 0x234, 1023, 0x234]);
}

/// FFmpeg's filters before ours: the same frames as ffmpeg's, with seeking only where it is exact.
#[test]
fn ffmpegs_filters() {
    let folder = tempfile::tempdir().unwrap();
    let file = made(folder.path(), "a.mp4", "-c:v libx264 -g 12 -bf 2");
    let with = |graph: &str| Options { lavfi: Some(graph.into()), ..Options::default() };
    for (graph, seeks) in [
        ("crop=32:24:8:8,hflip", true),
        ("scale=96:72:flags=bicubic,format=yuv444p", true),
        ("null", true),
        ("hqdn3d", false),
        ("fps=50", false),
        ("tblend=average", false),
        ("crop=32:24:n:8", false),
    ] {
        let mut source = open_with(&file, &with(graph)).unwrap_or_else(|e| panic!("{graph}: {e}"));
        assert_eq!((source.info().seekable, source.info().last.is_some()), (seeks, seeks), "{graph}");
        let whole = all(&mut *source);
        let ours: Vec<&str> = whole.iter().map(|s| s.hash.as_str()).collect();
        let theirs = framemd5(&file, &["-map", "0:v:0", "-vf", graph]);
        assert!(ours == theirs, "{graph}: {} frames, ffmpeg has {}", ours.len(), theirs.len());
        let mut source = open_with(&file, &with(graph)).unwrap();
        assert_eq!(seen_from(&mut *source, 41), whole[41], "{graph}");
        match source.seek(7) {
            Ok(()) => {
                assert!(seeks, "{graph}");
                assert_eq!(next(&mut *source, &mut Slot::default()).unwrap().unwrap(), whole[7], "{graph}");
            }
            Err(e) => assert!(!seeks && e.to_string().contains("FFmpeg's filters"), "{graph}: {e}"),
        }
    }
    let rate = open_with(&file, &with("fps=50")).unwrap().info().format.rate;
    assert_eq!(rate.to_string(), "50");
    let error = open_with(&file, &with("nosuchfilter=1")).err().unwrap().to_string();
    assert!(error.contains("FFmpeg's filters") && error.contains("nosuchfilter"), "{error}");
    let error = open_with(&file, &with("[in]split[a][b]")).err().unwrap().to_string();
    assert!(error.contains("FFmpeg's filters"), "{error}");
}

/// Deinterlacers see neighbours, and any frame can be sought all the same: by its number and by its time, at the ends of the
/// clip and of its groups of pictures, in files whose frames the packets tell and in those that are counted.
#[test]
fn deinterlaced_frames_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let clip = format!("{CLIP} -vf tinterlace=interleave_top,fieldorder=tff -flags +ilme+ildct");
    for (name, args, graphs) in [
        (
            "a.mpg",
            "-c:v mpeg2video -g 9 -bf 2 -q:v 3",
            &["bwdif", "bwdif=mode=send_frame", "yadif", "yadif=1", "w3fdif", "estdif", "estdif=mode=frame"]
                [..],
        ),
        ("b.mkv", "-c:v libx264 -g 12 -bf 2", &["bwdif=send_field:bff,scale=32:-2", "crop=iw:ih-8,bwdif=0"]),
        (
            "varying.mkv",
            "-vf tinterlace=interleave_top,select=mod(n\\,3) -fps_mode vfr -c:v ffv1",
            &["bwdif"],
        ),
        ("counted.264", "-c:v libx264 -g 12 -bf 2", &["bwdif"]),
        ("one.mkv", "-c:v ffv1 -frames:v 1", &["bwdif", "yadif"]),
        ("two.mkv", "-c:v ffv1 -frames:v 2", &["bwdif", "yadif"]),
    ] {
        ffmpeg(folder, &format!("{clip} {args} {name}"));
        let file = folder.join(name);
        for graph in graphs {
            let options = Options { lavfi: Some((*graph).into()), ..Options::default() };
            let opened = || open_with(&file, &options).unwrap_or_else(|e| panic!("{name} {graph}: {e}"));
            let mut source = opened();
            let whole = all(&mut *source);
            let ours: Vec<&str> = whole.iter().map(|s| s.hash.as_str()).collect();
            let theirs = framemd5(&file, &["-map", "0:v:0", "-vf", graph]);
            assert!(ours == theirs, "{name} {graph}: {} frames, ffmpeg has {}", ours.len(), theirs.len());
            let info = source.info().clone();
            let last = (name != "counted.264").then_some(whole.len() as i64 - 1);
            assert_eq!((info.last, info.seekable), (last, true), "{name} {graph}: {:?}", info.details);
            assert_eq!(info.format.fields.name(), "progressive", "{name} {graph}");
            let mut random = Random(SEED);
            for _ in 0..20 {
                let n = random.below(whole.len() as u64) as usize;
                assert_eq!(seen_from(&mut *source, n as i64), whole[n], "{name} {graph}: {n}");
                assert_eq!(seen_from(&mut *opened(), n as i64), whole[n], "{name} {graph}: {n}, anew");
                let time: Ratio = whole[n].time.parse().unwrap();
                assert_eq!(source.frame_from(time, false).unwrap(), n as i64, "{name} {graph}");
            }
        }
    }
}

/// DPX and JPEG 2000 sequences, read like ffmpeg and written without loss.
#[test]
fn film_sequences() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let clip = "-f lavfi -i testsrc2=size=64x48:rate=5:duration=0.6 -start_number 1001";
    for (name, args, format) in [
        ("a.%04d.dpx", "-pix_fmt gbrp10be", "gbrp10"),
        ("b.%04d.dpx", "-pix_fmt gbrp12le", "gbrp12"),
        ("c.%04d.dpx", "-pix_fmt rgb48le", "gbrp16"),
        ("d.%04d.dpx", "-pix_fmt rgb24", "gbrp"),
        ("e.%04d.dpx", "-pix_fmt rgba", "gbrap"),
        ("f.%04d.jp2", "-pix_fmt rgb24", "gbrp"),
        ("g.%04d.j2k", "-format j2k -pix_fmt rgb48le", "gbrp16"),
        ("h.%04d.jp2", "-pix_fmt gray", "gray"),
    ] {
        ffmpeg(folder, &format!("{clip} {args} {name}"));
        let mut source = open(folder.join(name));
        let info = source.info().clone();
        assert_eq!(
            (info.format.name().as_str(), info.first, info.last),
            (format, 1001, Some(1003)),
            "{name}"
        );
        let ours: Vec<String> = all(&mut *source).into_iter().map(|s| s.hash).collect();
        let mut image = std::process::Command::new("ffmpeg");
        image.args(["-v", "error", "-start_number", "1001", "-i", name, "-pix_fmt", &info.format.name()]);
        let out = image.args(["-f", "framemd5", "-"]).current_dir(folder).output().unwrap();
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let theirs: Vec<&str> = text
            .lines()
            .filter(|l| !l.starts_with('#'))
            .map(|l| l.rsplit(',').next().unwrap().trim())
            .collect();
        assert_eq!(ours, theirs, "{name}");
        // Written again and read back.
        let extension = name.rsplit('.').next().unwrap();
        let copy = folder.join(format!("copy_{}.####.{extension}", &name[..1]));
        let request = grainfield::session::job::Request::new(folder.join(name), copy.clone());
        let job = grainfield::session::job::Job::prepare(request).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(!job.notes().iter().any(|note| note.code.is_loss()), "{name}: {:?}", job.notes());
        job.run(&|_| {}).unwrap_or_else(|e| panic!("{name}: {e}"));
        let again: Vec<String> = all(&mut *open(&copy)).into_iter().map(|s| s.hash).collect();
        assert_eq!(again, ours, "{name} written");
    }
    let bytes = std::fs::read(folder.join("a.1001.dpx")).unwrap();
    std::fs::write(folder.join("cut.dpx"), &bytes[..bytes.len() / 2]).unwrap();
    let error = open_with(folder.join("cut.dpx"), &Options::default()).err().unwrap().to_string();
    assert!(error.contains("cut.dpx") && error.contains("DPX"), "{error}");
}
