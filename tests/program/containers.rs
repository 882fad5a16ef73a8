//! Which properties of a clip each container keeps, read back with ffprobe: every lost one has been reported before
//! the first frame.
#![cfg(feature = "ffmpeg")]

use crate::util::{HDR, Session};
use serde_json::Value;
use std::sync::OnceLock;

const FF: &str = "-nostdin -v error -y";

/// Containers, and the options that their pictures need.
const ALL: [(&str, &str); 15] = [
    ("mp4", "--preset ultrafast"),
    ("mov", "--preset ultrafast"),
    ("mkv", "--preset ultrafast"),
    ("webm", "--codec libvpx-vp9 --codec-opt deadline=realtime --codec-opt cpu-used=8"),
    ("ts", "--preset ultrafast"),
    ("m2ts", "--preset ultrafast"),
    ("mpg", "--codec mpeg2video"),
    ("vob", ""),
    ("avi", ""),
    ("flv", "--preset ultrafast"),
    ("ogv", ""),
    ("mxf", ""),
    ("wmv", ""),
    ("nut", "--codec libx264 --preset ultrafast"),
    ("3gp", "--codec libx264 --preset ultrafast"),
];

/// Clips that are made once; every test reads them and writes beside them.
fn clips() -> &'static Session {
    static CLIPS: OnceLock<Session> = OnceLock::new();
    CLIPS.get_or_init(|| {
        let s = Session::new();
        s.write(
            "meta.txt",
            ";FFMETADATA1\ntitle=A-clip\nmood=calm-mood\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=160\ntitle=One\n\
             [CHAPTER]\nTIMEBASE=1/1000\nSTART=160\nEND=400\ntitle=Two\n",
        );
        let picture = "-f lavfi -i testsrc2=size=64x48:rate=25:duration=0.4";
        let tone = "-f lavfi -i sine=440:sample_rate=48000:duration=0.4";
        s.tool(
            "ffmpeg",
            &format!(
                "{FF} {picture} {tone} -i meta.txt -map 0 -map 1 -map_metadata 2 -map_chapters 2 -metadata:s:a \
                 language=fra -vf setsar=r=128/117:max=1000,format=yuv420p,setparams=range=pc:color_primaries=bt709:\
                 color_trc=bt709:colorspace=bt709 -c:v libx264 -preset ultrafast -c:a mp2 in.rich.mkv"
            ),
        );
        s.tool(
            "ffmpeg",
            &format!(
                "{FF} {picture} {HDR} -c:v libx265 -preset ultrafast -x265-params log-level=error:hdr10=1:repeat-headers=1:\
                 master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1):max-cll=1000,400 \
                 in.hdr.mkv"
            ),
        );
        s.tool("ffmpeg", &format!("{FF} {picture} -pix_fmt yuv420p -c:v libx264 -preset ultrafast plain.mp4"));
        s.turned("plain.mp4", "in.turned.mp4", [0, 1, -1, 0]);
        let (mut inputs, mut outputs) = (String::new(), String::new());
        for (i, (_, codec, channels, rate)) in SOUNDS.iter().enumerate() {
            let layout = match channels {
                1 => "mono",
                2 => "stereo",
                6 => "5.1",
                _ => "7.1",
            };
            inputs += &format!("-f lavfi -i aevalsrc=0.2*sin(2000*t):s={rate}:d=1:c={layout} ");
            outputs += &format!("-map {}:a -c:a:{i} {codec} ", i + 1);
        }
        s.tool(
            "ffmpeg",
            &format!(
                "{FF} -f lavfi -i testsrc2=size=64x48:rate=12:duration=1 {inputs} -map 0:v -pix_fmt yuv420p -c:v libx264 \
                 -preset ultrafast {outputs} -strict -2 sounds.mkv"
            ),
        );
        for (i, kind) in SOUNDS.iter().enumerate() {
            s.tool("ffmpeg", &format!("{FF} -i sounds.mkv -map 0:v -map 0:a:{i} -c copy {}.mkv", kind.0));
        }
        s.tool(
            "ffmpeg",
            &format!("{FF} -f lavfi -i testsrc2=size=720x480:rate=25:duration=0.24 -pix_fmt yuv420p -c:v mpeg2video big.mkv"),
        );
        for order in ["tff", "bff"] {
            s.tool(
                "ffmpeg",
                &format!(
                    "{FF} -f lavfi -i testsrc2=size=128x64:rate=60000/1001:duration=0.2,interlace=scan={order} -vf \
                     setfield={order} -pix_fmt yuv420p -c:v mpeg2video -q:v 3 -flags +ildct+ilme {order}.mkv"
                ),
            );
        }
        s
    })
}

/// Sounds: name, encoder, channels, rate.
const SOUNDS: [(&str, &str, u32, u32); 18] = [
    ("aac", "aac", 2, 48000),
    ("aac51", "aac", 6, 48000),
    ("aac22", "aac", 1, 22050),
    ("mp3", "libmp3lame", 2, 44100),
    ("mp2", "mp2", 2, 48000),
    ("ac3", "ac3", 2, 48000),
    ("ac351", "ac3", 6, 48000),
    ("eac351", "eac3", 6, 48000),
    ("dts51", "dca", 6, 48000),
    ("flac", "flac", 2, 48000),
    ("flac51", "flac", 6, 96000),
    ("truehd51", "truehd", 6, 48000),
    ("opus", "libopus", 2, 48000),
    ("opus51", "libopus", 6, 48000),
    ("vorbis", "libvorbis", 2, 44100),
    ("pcm22", "pcm_s16le", 1, 22050),
    ("pcm96", "pcm_s24le", 2, 96000),
    ("pcm71", "pcm_s16le", 8, 48000),
];

fn probe(s: &Session, file: &str, more: &str) -> Value {
    let out = s.tool(
        "ffprobe",
        &format!("-v error -show_streams -show_format -show_chapters {more} -of json {file}"),
    );
    serde_json::from_str(&out.text()).unwrap()
}

fn of_kind<'a>(probe: &'a Value, kind: &str) -> Vec<&'a Value> {
    probe["streams"].as_array().unwrap().iter().filter(|s| s["codec_type"] == kind).collect()
}

/// Renders, and again with `--strict`, which is an error if anything was reported, and changes nothing
/// otherwise.
fn render(s: &Session, input: &str, output: &str, more: &str) -> String {
    let o = s.run(&format!("render {input} {output} {more} -y")).ok();
    let warned = o.err.contains("cannot keep everything");
    let _ = std::fs::remove_file(s.path(&format!("strict.{output}")));
    let strict = s.run(&format!("render {input} strict.{output} {more} --strict -y"));
    strict.ends(i32::from(warned));
    assert_eq!(s.files().contains(&format!("strict.{output}")), !warned, "{output}: {}", o.err);
    o.err
}

/// A property is kept or reported as lost: exactly one of the two.
fn kept_or_named(what: &str, file: &str, kept: bool, said: &str, name: &str) {
    let named = said.lines().filter(|l| l.contains(name)).count();
    assert_eq!(named, usize::from(!kept), "{file}: {what} is kept: {kept}; said is:\n{said}");
}

#[test]
fn words_colour_and_aspect_are_kept_or_named() {
    let s = clips();
    for (container, more) in ALL {
        let file = format!("rich.{container}");
        let said = render(s, "in.rich.mkv", &file, more);
        let p = probe(s, &file, "");
        let text = p.to_string();
        let video = of_kind(&p, "video")[0];
        kept_or_named(
            "chapters",
            &file,
            p["chapters"].as_array().unwrap().len() == 2,
            &said,
            "chapters are lost",
        );
        let tags = said.lines().find(|l| l.contains("tags are lost (")).unwrap_or_default();
        let tags = tags
            .split("; ")
            .find(|c| c.contains("tags are lost (") && !c.contains("colour"))
            .unwrap_or_default();
        kept_or_named("title", &file, text.contains("A-clip"), tags, "title");
        kept_or_named("mood", &file, text.contains("calm-mood"), tags, "mood".to_uppercase().as_str());
        let language = ["\"fra\"", "\"fre\""].iter().any(|l| text.contains(l));
        kept_or_named("language", &file, language, &said, "language");
        let aspect = video["sample_aspect_ratio"] == "128:117";
        kept_or_named("aspect", &file, aspect, &said, "the sample aspect ratio 128:117");
        if said.contains("128:117 becomes") {
            let becomes = format!("becomes {}", video["sample_aspect_ratio"].as_str().unwrap());
            assert!(said.contains(&becomes), "{file}: {becomes}: {said}");
        }
        for (tag, name, value) in [
            ("color_space", "matrix", "bt709"),
            ("color_primaries", "primaries", "bt709"),
            ("color_transfer", "transfer", "bt709"),
            ("color_range", "full range", "pc"),
        ] {
            let lost = said.lines().find(|l| l.contains("colour tags are lost")).unwrap_or_default();
            // the range is converted if it cannot be stored
            let lost = if name == "full range" { &said } else { lost };
            kept_or_named(tag, &file, video[tag] == value, lost, name);
        }
    }
}

#[test]
fn the_mastering_display_is_kept_or_named() {
    let s = clips();
    let more = [
        ("h264", "--codec libx264"),
        ("ts", "--codec libx265 --preset ultrafast"),
        ("mkv", "--codec ffv1"),
        ("nut", "--codec ffv1"),
    ];
    for (container, more) in ALL.into_iter().chain(more) {
        let deep = ["libx26", "ultrafast", "vp9", "ffv1"].iter().any(|able| more.contains(able));
        let more = if deep { more.to_owned() } else { format!("{more} --pix-fmt yuv420p") };
        let file = format!("hdr.{container}");
        let said = render(s, "in.hdr.mkv", &file, &more);
        let line = format!(
            "-v error -read_intervals %+#1 -show_frames -show_streams -select_streams v -of json {file}"
        );
        let text = s.tool("ffprobe", &line).text();
        let mut kept =
            text.contains("Mastering display metadata") && text.contains("Content light level metadata");
        if !kept && text.contains("\"codec_name\": \"h264\"") {
            // players read properties of H.264 that FFmpeg 5.1 does not
            let line =
                format!("-nostdin -v verbose -i {file} -c copy -frames:v 1 -bsf:v trace_headers -f null -");
            let stream = s.tool("ffmpeg", &line).err;
            kept = stream.contains("max_display_mastering_luminance")
                && stream.contains("max_content_light_level");
        }
        kept_or_named("HDR10 data", &file, kept, &said, "HDR10 data is lost");
    }
    for pictures in ["hdr.y4m", "hdr.yuv"] {
        let said = s.run(&format!("render in.hdr.mkv {pictures}")).ok().err;
        assert!(said.contains("HDR10 data is lost: the output stores pictures only"), "{said}");
        assert!(said.contains("colour tags (primaries, transfer)"), "{said}");
    }
    let video = s.tool("ffprobe", "-v error -show_entries stream=codec_name -of csv=p=0 hdr.ts").text();
    assert!(video.starts_with("hevc"), "players show HDR only in HEVC: {video}");
}

#[test]
fn pictures_are_turned_upright_as_ffmpeg_turns_them() {
    let s = clips();
    let samples =
        |o: &str| o.lines().map(|l| l.rsplit([' ', ',']).next().unwrap().to_owned()).collect::<Vec<_>>();
    for (i, [a, b, c, d]) in [
        [0, 1, -1, 0],
        [0, -1, 1, 0],
        [-1, 0, 0, -1],
        [-1, 0, 0, 1],
        [1, 0, 0, -1],
        [0, 1, 1, 0],
        [0, -1, -1, 0],
    ]
    .into_iter()
    .enumerate()
    {
        let file = format!("turned{i}.mp4");
        s.turned("plain.mp4", &file, [a, b, c, d]);
        let theirs = s.tool("ffmpeg", &format!("{FF} -i {file} -f framemd5 -")).text();
        let theirs = samples(&theirs.lines().filter(|l| !l.starts_with('#')).collect::<Vec<_>>().join("\n"));
        let ours = |more: &str| samples(&s.run(&format!("hash {file} -q {more}")).ok().text());
        assert_eq!(ours(""), theirs, "{a} {b} {c} {d}");
        // Frames can still be sought.
        assert_eq!(ours("--frames 7"), theirs[7..8], "{a} {b} {c} {d}");
        let flipped = s.tool("ffmpeg", &format!("{FF} -i {file} -vf hflip -f framemd5 -")).text();
        let flipped =
            samples(&flipped.lines().filter(|l| !l.starts_with('#')).collect::<Vec<_>>().join("\n"));
        for text in ["hflip", "[in]hflip"] {
            assert_eq!(ours(&format!("--lavfi {text}")), flipped, "{a} {b} {c} {d}, then {text}");
        }
    }
}

#[test]
fn upright_pictures_carry_no_rotation() {
    let s = clips();
    for (container, more) in ALL {
        let file = format!("turned.{container}");
        let said = render(s, "in.turned.mp4", &file, more);
        assert!(!probe(s, &file, "").to_string().contains("\"rotation\""), "{file}");
        assert!(!said.contains("rotation"), "{said}");
    }
}

/// Every sound in every container: kept with its duration and all channels, or its conversion was reported.
#[test]
fn every_sound_arrives_in_every_container() {
    let s = clips();
    for (container, more) in ALL {
        // all at once if there may be several, else each separately
        let inputs: Vec<&str> = match container {
            "flv" => SOUNDS.iter().step_by(3).map(|k| k.0).collect(),
            _ => vec!["sounds"],
        };
        for input in inputs {
            let file = format!("{input}.{container}");
            let line = format!("render {input}.mkv sound.{file} {more} -y");
            let said = s.run(&line).ok().err;
            let p = probe(s, &format!("sound.{file}"), "");
            let kinds: Vec<_> = SOUNDS.iter().filter(|k| input == "sounds" || k.0 == input).collect();
            let there = of_kind(&p, "audio");
            assert_eq!(there.len(), kinds.len(), "{file}: {said}");
            let decoded = |i| format!(" -map 0:a:{i} -ac 1 -ar 8000 -f s16le {file}.{i}.s16");
            let outputs: String = (0..there.len()).map(decoded).collect();
            s.tool("ffmpeg", &format!("{FF} -i sound.{file}{outputs}"));
            for (i, (kind, stream)) in kinds.iter().zip(there).enumerate() {
                let what = format!("{} in {file}", kind.0);
                let about = said.split("; ").find(|c| c.contains(&format!("sound {} (", i + 1)));
                let number = |name: &str| stream[name].to_string().trim_matches('"').parse::<u32>().unwrap();
                let channels = number("channels");
                let mixed = about.is_some_and(|c| c.contains(&format!("mixed from {} channels", kind.2)));
                assert_eq!(channels != kind.2, mixed, "{what}: {channels} channels: {said}");
                let rate = number("sample_rate");
                let resampled = about.is_some_and(|c| c.contains(&format!("resampled from {}", kind.3)));
                // Opus always plays at 48 kHz
                let opus = stream["codec_name"] == "opus";
                assert!((rate != kind.3) == resampled || opus, "{what}: {rate} Hz: {said}");
                let decoder = stream["codec_name"].as_str().unwrap();
                let own = kind.1.trim_start_matches("lib").replace("mp3lame", "mp3").replace("dca", "dts");
                // mp4 and nut use one name for both
                let pair = (own.as_str(), decoder);
                let same = decoder == own || [("mp2", "mp3"), ("eac3", "ac3")].contains(&pair);
                assert!(
                    same || about.is_some_and(|c| c.contains(" encoded as ")),
                    "{what}: {decoder}: {said}"
                );
                // decode it: check its length, and that it is not silence
                let samples = s.read(&format!("{file}.{i}.s16"));
                let length = samples.len() as f64 / 16000.0;
                assert!((length - 1.0).abs() < 0.11, "{what}: {length} s: {said}");
                let loud =
                    samples.chunks_exact(2).map(|c| i16::from_le_bytes([c[0], c[1]]).unsigned_abs()).max();
                assert!(loud.unwrap() > 1500, "{what}: {loud:?}");
            }
        }
    }
    s.run("render truehd51.mkv loss.mp4 --strict").ends(1).says("--strict");
    s.run("render truehd51.mkv copied.mp4 --audio copy").ok().says("sound 1 (truehd) is left out");
}

/// Codecs that a container supports although libav's query does not say so are written and read back.
#[test]
fn containers_keep_the_supported_properties() {
    let s = clips();
    for (container, codec, more) in [
        ("mxf", "libx264", ""),
        ("mxf", "jpeg2000", ""),
        ("mxf", "dnxhd", "--codec-opt profile=dnxhr_hq --pix-fmt yuv422p"),
        ("mxf", "prores_ks", "--pix-fmt yuv422p10"),
        ("mov", "utvideo", "--pix-fmt yuv422p"),
        ("mxf", "mpeg2video", ""),
        ("mov", "ffv1", ""),
        ("mov", "cfhd", "--pix-fmt yuv422p10"),
        ("mov", "dnxhd", "--codec-opt profile=dnxhr_hq --pix-fmt yuv422p"),
        ("mpg", "mpeg2video", ""),
        ("mpg", "libx264", ""),
        ("vob", "mpeg2video", ""),
        ("ogv", "vp8", ""),
        ("nut", "ffv1", ""),
        ("ts", "libx265", ""),
        ("wmv", "libx264", ""),
    ] {
        let what = format!("{codec} in {container}");
        s.run(&format!("render big.mkv held.{container} -y --codec {codec} {more}")).ok();
        let text = s.run(&format!("hash held.{container}")).ok().text();
        assert_eq!(text.lines().filter(|l| !l.starts_with('#')).count(), 6, "{what}");
        let p = probe(s, &format!("held.{container}"), "-count_frames");
        let video = of_kind(&p, "video")[0];
        assert_eq!(video["nb_read_frames"], "6", "{what}");
    }
    for (container, codec) in [
        ("mxf", "huffyuv"),
        ("mpg", "ffv1"),
        ("ts", "ffv1"),
        ("webm", "libx264"),
        ("mp4", "huffyuv"),
        ("flv", "mpeg2video"),
    ] {
        s.run(&format!("render big.mkv no.{container} --codec {codec}")).ends(2).says("cannot hold");
    }
}

/// Container, coded pictures and our own probe agree on fields, or their loss is reported.
#[test]
fn fields_are_the_same_in_container_and_stream() {
    let s = clips();
    let orders = [("tff", "1,1", "tt", "top"), ("bff", "1,0", "bb", "bottom")];
    let codecs = [
        ("libx264", "--preset ultrafast"),
        ("libx265", "--preset ultrafast"),
        ("mpeg2video", ""),
        ("mpeg4", ""),
        ("prores_ks", "--pix-fmt yuv422p10"),
        ("ffv1", ""),
    ];
    for (i, (codec, more)) in codecs.into_iter().enumerate() {
        for (j, container) in ["mp4", "mov", "mkv", "ts"].into_iter().enumerate() {
            if ["prores_ks", "ffv1"].contains(&codec) && !["mov", "mkv"].contains(&container) {
                continue;
            }
            // Both orders with the codec that is used most; others in turn.
            let (first, count) = if codec == "libx264" { (0, 2) } else { ((i + j) % 2, 1) };
            for (order, flags, tag, word) in orders.into_iter().skip(first).take(count) {
                let file = format!("{order}.{codec}.{container}");
                let said = s.run(&format!("render {order}.mkv {file} -y --codec {codec} {more}")).ok().err;
                let line = format!(
                    "-v error -show_entries frame=interlaced_frame,top_field_first -of csv=p=0 {file}"
                );
                let frames = s.tool("ffprobe", &line).text();
                let frames: Vec<_> =
                    frames.lines().map(|l| l.trim_end_matches(',')).filter(|l| !l.is_empty()).collect();
                let p = probe(s, &file, "");
                let video = of_kind(&p, "video")[0].clone();
                let told = s.run(&format!("probe {file}")).ok().text();
                if said.contains("field order is lost") {
                    assert!(video["field_order"] != tag && !told.contains(word), "{file}: {video:#} {told}");
                    continue;
                }
                assert!(frames.iter().all(|f| *f == flags), "{file}: {frames:?}");
                let field = video["field_order"].as_str().unwrap_or("unknown");
                assert!([tag, "unknown"].contains(&field), "{file}: {field}");
                assert!(told.contains(word), "{file}: {told}");
                if codec == "libx264" {
                    // whether the fields of a picture are in the declared order
                    let line = format!(
                        "-nostdin -v verbose -i {file} -c copy -frames:v 1 -bsf:v trace_headers -f null -"
                    );
                    let said = s.tool("ffmpeg", &line).err;
                    let pic = said
                        .lines()
                        .find(|l| l.contains(" pic_struct "))
                        .map(str::to_owned)
                        .unwrap_or_default();
                    assert!(pic.ends_with(if order == "tff" { "= 3" } else { "= 4" }), "{file}: {pic}");
                }
            }
        }
    }
}
