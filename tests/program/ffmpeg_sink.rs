//! Video files as outputs, checked with the ffmpeg programs.
#![cfg(feature = "ffmpeg")]

use crate::util::{HDR, Session};
use serde_json::Value;

const FF: &str = "-nostdin -v error -y";

/// A session with a clip of 50 frames at 25 fps, with AAC sound (which begins before zero).
fn with_clip() -> Session {
    let s = Session::new();
    s.tool(
        "ffmpeg",
        &format!(
            "{FF} -f lavfi -i testsrc2=size=192x108:rate=25 -f lavfi -i sine=440:sample_rate=48000 -t 2 -pix_fmt \
             yuv420p -c:v libx264 -preset veryfast -c:a aac clip.mp4"
        ),
    );
    s
}

/// A clip with tags, chapters, languages, subtitles and a font.
fn with_rich_clip() -> Session {
    let s = with_clip();
    s.write(
        "meta.txt",
        ";FFMETADATA1\ntitle=A clip\nartist=Nobody\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=800\ntitle=One\n\
         [CHAPTER]\nTIMEBASE=1/1000\nSTART=800\nEND=2000\ntitle=Two\n",
    );
    s.write(
        "subs.srt",
        "1\n00:00:00,200 --> 00:00:00,900\nHello\n\n2\n00:00:01,000 --> 00:00:01,700\nWorld\n",
    );
    s.write("font.ttf", "not really a font");
    s.tool(
        "ffmpeg",
        &format!(
            "{FF} -i clip.mp4 -i subs.srt -i meta.txt -map 0 -map 1 -map_metadata 2 -map_chapters 2 -c copy -c:s srt \
             -metadata:s:a language=fra -metadata:s:s language=deu -disposition:s forced -attach font.ttf \
             -metadata:s:t mimetype=font/ttf -avoid_negative_ts disabled rich.mkv"
        ),
    );
    s
}

fn probe(s: &Session, file: &str) -> Value {
    let out =
        s.tool("ffprobe", &format!("-v error -show_streams -show_format -show_chapters -of json {file}"));
    serde_json::from_str(&out.text()).unwrap()
}

/// The stream of that kind.
fn stream<'a>(probe: &'a Value, kind: &str) -> &'a Value {
    let all = probe["streams"].as_array().unwrap();
    all.iter().find(|s| s["codec_type"] == kind).unwrap_or_else(|| panic!("no {kind} in {probe:#}"))
}

fn kinds(probe: &Value) -> Vec<&str> {
    probe["streams"].as_array().unwrap().iter().map(|s| s["codec_type"].as_str().unwrap()).collect()
}

/// Presentation times of a stream's frames (video) or packets, in microseconds.
fn times(s: &Session, file: &str, stream: &str) -> Vec<i64> {
    let what = if stream == "v:0" { "frame" } else { "packet" };
    let line = format!("-v error -select_streams {stream} -show_entries {what}=pts_time -of csv=p=0 {file}");
    let text = s.tool("ffprobe", &line).text();
    let micro = |t: &str| (t.parse::<f64>().unwrap() * 1e6).round() as i64;
    text.lines().map(|l| l.trim_end_matches(',')).filter(|l| !l.is_empty()).map(micro).collect()
}

/// A hash of each packet of a stream.
fn packets(s: &Session, file: &str, stream: &str) -> Vec<String> {
    let text = s.tool("ffmpeg", &format!("{FF} -i {file} -map 0:{stream} -c copy -f framemd5 -")).text();
    let hash = |l: &str| l.split(',').nth(5).map(|h| h.trim().to_owned());
    text.lines().filter(|l| !l.starts_with('#')).filter_map(hash).collect()
}

fn near(a: &[i64], b: &[i64], most: i64) {
    assert_eq!(a.len(), b.len(), "{a:?} {b:?}");
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= most), "{a:?}\n{b:?}");
}

#[test]
fn times_and_sound_are_the_sources() {
    let s = with_clip();
    let (pictures, sound) = (times(&s, "clip.mp4", "v:0"), packets(&s, "clip.mp4", "a:0"));
    let heard = times(&s, "clip.mp4", "a:0");
    assert!(pictures.len() == 50 && heard[0] < 0, "the clip is one to test with");
    for (file, rounding) in [("out.mp4", 0), ("out.mov", 0), ("out.mkv", 500)] {
        s.run(&format!("render clip.mp4 {file} -f noise=strength=6 --preset veryfast")).ok();
        near(&times(&s, file, "v:0"), &pictures, rounding);
        near(&times(&s, file, "a:0"), &heard, 2 * rounding);
        assert_eq!(packets(&s, file, "a:0"), sound, "{file}");
    }
    // Opus in WebM, which does not support AAC: reported, and the picture keeps its times
    let said = s.run("render clip.mp4 out.webm -f noise=strength=6 --preset 12").ok();
    said.says("sound 1 (aac").says("encoded as opus");
    near(&times(&s, "out.webm", "v:0"), &pictures, 500);
    let p = probe(&s, "out.webm");
    assert_eq!(stream(&p, "audio")["codec_name"], "opus");
    let heard = times(&s, "out.webm", "a:0");
    assert!(heard[0] >= -8000 && heard[0] <= 0 && *heard.last().unwrap() > 1_950_000, "{heard:?}");
    s.run("render clip.mp4 strict.webm --strict").ends(1).says("--strict");
    assert!(!s.files().iter().any(|f| f.contains("strict")), "{:?}", s.files());
    assert!(!s.files().iter().any(|f| f.starts_with('.')), "{:?}", s.files());
}

#[test]
fn everything_beside_the_picture_is_carried() {
    let s = with_rich_clip();
    s.run("render rich.mkv out.mkv --preset veryfast").ok();
    let (a, b) = (probe(&s, "rich.mkv"), probe(&s, "out.mkv"));
    assert_eq!(kinds(&b), kinds(&a));
    for kind in ["audio", "subtitle", "attachment"] {
        let (a, b) = (stream(&a, kind), stream(&b, kind));
        for part in ["codec_name", "disposition", "extradata_size"] {
            assert_eq!(a[part], b[part], "{kind} {part}");
        }
        for tag in ["language", "mimetype", "filename"] {
            assert_eq!(a["tags"][tag], b["tags"][tag], "{kind} {tag}");
        }
    }
    let chapters = |p: &Value| {
        let of = |c: &Value| format!("{} {} {}", c["start_time"], c["end_time"], c["tags"]["title"]);
        p["chapters"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!((chapters(&b), chapters(&b).len()), (chapters(&a), 2));
    assert_eq!(
        (&b["format"]["tags"]["title"], &b["format"]["tags"]["ARTIST"]),
        (&"A clip".into(), &"Nobody".into())
    );
    for of in ["a:0", "s:0"] {
        assert_eq!(packets(&s, "out.mkv", of), packets(&s, "rich.mkv", of));
        near(&times(&s, "out.mkv", of), &times(&s, "rich.mkv", of), 0);
    }

    // MP4: subtitles converted, the font reported as lost, chapters kept
    let said = s.run("render rich.mkv out.mp4 --preset veryfast").ok();
    said.says("mov_text").says("attachment 3");
    let c = probe(&s, "out.mp4");
    assert_eq!(stream(&c, "subtitle")["codec_name"], "mov_text");
    assert_eq!(stream(&c, "audio")["tags"]["language"], "fra");
    assert_eq!((chapters(&c), &c["format"]["tags"]["title"]), (chapters(&a), &"A clip".into()));
    let text = s.tool("ffmpeg", &format!("{FF} -i out.mp4 -map 0:s -f srt -")).text();
    assert!(text.contains("00:00:00,200 --> 00:00:00,900\nHello"), "{text}");

    // and without all of it
    s.run("render rich.mkv bare.mkv --preset veryfast --audio none --subs none --no-chapters").ok();
    let d = probe(&s, "bare.mkv");
    assert!(kinds(&d).iter().all(|k| *k != "audio" && *k != "subtitle") && chapters(&d).is_empty());
}

#[test]
fn a_range_is_cut_out_of_everything() {
    let s = with_rich_clip();
    s.run("render rich.mkv out.mkv --preset veryfast --frames 15-29").ok();
    let p = times(&s, "out.mkv", "v:0");
    assert_eq!((p.len(), p[0], p[14]), (15, 0, 560_000));
    let heard = times(&s, "out.mkv", "a:0");
    assert!(
        (0..22_000).contains(&heard[0]) && (575_000..600_000).contains(heard.last().unwrap()),
        "{heard:?}"
    );
    // starts with the sound from 0.6 s on
    let (whole, part) = (packets(&s, "rich.mkv", "a:0"), packets(&s, "out.mkv", "a:0"));
    let at = times(&s, "rich.mkv", "a:0").iter().position(|&t| t >= 600_000).unwrap();
    assert_eq!(part[..], whole[at..at + part.len()]);
    let probe = probe(&s, "out.mkv");
    let chapters: Vec<_> = probe["chapters"].as_array().unwrap().iter().collect();
    assert_eq!(chapters.len(), 2);
    assert_eq!(
        (&chapters[0]["end_time"], &chapters[1]["end_time"]),
        (&"0.200000".into(), &"0.600000".into())
    );
    let text = s.tool("ffmpeg", &format!("{FF} -i out.mkv -map 0:s -f srt -")).text();
    assert!(text.contains("00:00:00,000 --> 00:00:00,300\nHello"), "{text}");
    assert!(text.contains("00:00:00,400 --> 00:00:00,600\nWorld"), "{text}");
}

#[test]
fn variable_times_are_kept() {
    let s = Session::new();
    s.tool(
        "ffmpeg",
        &format!(
            "{FF} -f lavfi -i testsrc2=size=192x108:rate=30,select='mod(n*n\\,7)-2' -t 2 -fps_mode \
             passthrough -output_ts_offset 0.35 -pix_fmt yuv420p -c:v libx264 -preset veryfast vfr.mkv"
        ),
    );
    let wanted = times(&s, "vfr.mkv", "v:0");
    assert!(wanted[0] == 350_000 && wanted.windows(2).any(|w| w[1] - w[0] > 60_000), "{wanted:?}");
    for file in ["out.mkv", "out.mp4", "out.mov", "out.webm"] {
        let preset = if file == "out.webm" { "12" } else { "veryfast" };
        s.run(&format!("render vfr.mkv {file} --preset {preset}")).ok();
        // the first picture is shown immediately, as with ffmpeg
        let since: Vec<i64> = wanted.iter().map(|t| t - wanted[0]).collect();
        near(&times(&s, file, "v:0"), &since, 0);
    }
}

#[test]
fn hdr_rotation_fields_and_aspect() {
    let s = with_clip();
    let master = "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)";
    s.tool(
        "ffmpeg",
        &format!(
            "{FF} -f lavfi -i testsrc2=size=192x108:rate=25 -t 1 {HDR} -c:v libx265 -preset ultrafast -x265-params \
             log-level=error:hdr10=1:repeat-headers=1:master-display={master}:max-cll=1000,400 hdr.mkv"
        ),
    );
    for (line, file) in [
        ("--preset veryfast", "x264.mkv"),
        ("--preset veryfast", "x264.mp4"),
        ("--codec libx265 --preset ultrafast", "x265.mp4"),
    ] {
        s.run(&format!("render hdr.mkv {file} {line} -f noise=strength=4")).ok();
        let p = probe(&s, file);
        let v = stream(&p, "video");
        assert_eq!(v["pix_fmt"], "yuv420p10le");
        let tags = ["color_range", "color_space", "color_transfer", "color_primaries"]
            .map(|k| v[k].as_str().unwrap());
        assert_eq!(tags, ["tv", "bt2020nc", "smpte2084", "bt2020"], "{file}");
        // in the container and in the stream itself
        let in_container = v["side_data_list"].to_string();
        assert!(
            in_container.contains("34000/50000") || in_container.contains("17/25"),
            "{file}: {in_container}"
        );
        assert!(in_container.contains("Content light level metadata"), "{file}: {in_container}");
        let line =
            format!("-nostdin -v verbose -i {file} -c copy -frames:v 1 -bsf:v trace_headers -f null -");
        let in_stream = s.tool("ffmpeg", &line).err;
        let has = |name: &str, value: &str| in_stream.lines().any(|l| l.contains(name) && l.ends_with(value));
        assert!(has("max_display_mastering_luminance", " = 10000000"), "{file}: {in_stream}");
        assert!(has("max_content_light_level", " = 1000"), "{file}: {in_stream}");
    }

    s.turned("clip.mp4", "rot.mp4", [0, 1, -1, 0]);
    let size = |file: &str| {
        let video = stream(&probe(&s, file), "video").clone();
        let turned = video.to_string().contains("\"rotation\"");
        (video["width"].as_u64().unwrap(), video["height"].as_u64().unwrap(), turned)
    };
    let (width, height, _) = size("clip.mp4");
    assert_eq!(size("rot.mp4"), (width, height, true));
    for file in ["rot2.mp4", "rot2.mov", "rot2.mkv", "rot.y4m", "rot.nut"] {
        let said = s.run(&format!("render rot.mp4 {file}")).ok().err;
        assert_eq!(size(file), (height, width, false), "{file}");
        assert!(!said.contains("rotation"), "{said}");
    }
    assert!(!s.run("sheet rot.mp4 sheet.png").ok().err.contains("rotation"));

    s.tool(
        "ffmpeg",
        &format!(
            "{FF} -f lavfi -i testsrc2=size=192x128:rate=50,interlace=scan=tff,setdar=4/3 -t 1 -vf setfield=tff -pix_fmt \
             yuv420p -c:v mpeg2video -q:v 3 -flags +ildct+ilme inter.mpg"
        ),
    );
    for file in ["inter.mp4", "inter.mkv", "inter.mov"] {
        s.run(&format!("render inter.mpg {file} --preset veryfast")).ok();
        let p = probe(&s, file);
        let v = stream(&p, "video");
        assert_eq!((&v["sample_aspect_ratio"], &v["field_order"]), (&"8:9".into(), &"tt".into()), "{file}");
        let line =
            format!("-v error -show_entries frame=interlaced_frame,top_field_first -of csv=p=0 {file}");
        let frames = s.tool("ffprobe", &line).text();
        assert!(
            frames.lines().filter(|l| !l.is_empty()).all(|l| l.trim_end_matches(',') == "1,1"),
            "{file}: {frames}"
        );
    }
}

#[test]
fn alpha_and_lossless() {
    let s = with_clip();
    s.tool(
        "ffmpeg",
        &format!("{FF} -f lavfi -i testsrc2=size=96x64:rate=25,format=yuva444p10 -t 0.4 -c:v ffv1 alpha.mkv"),
    );
    s.run("render alpha.mkv out.mov -f noise=strength=6").ok();
    let p = probe(&s, "out.mov");
    assert!(stream(&p, "video")["pix_fmt"].as_str().unwrap().starts_with("yuva444p1"), "{p:#}");
    s.run("render alpha.mkv out.mp4")
        .ends(2)
        .says("libx264")
        .says("ffv1")
        .says("the pixel format yuv444p10")
        .says("--pix-fmt");
    s.run("render alpha.mkv opaque.mp4 --pix-fmt yuv420p10").ok();
    assert_eq!(s.files().iter().filter(|f| f.contains("out.mp4")).count(), 0);

    // lossless: the same samples as through y4m
    s.run("render clip.mp4 out.y4m -f noise=strength=6").ok();
    s.run("render clip.mp4 lossless.mkv -f noise=strength=6 --lossless").ok();
    let hashes = |file: &str| s.run(&format!("hash {file}")).ok().text();
    assert_eq!(hashes("lossless.mkv"), hashes("out.y4m"));
    let ffmpegs = |file: &str| {
        let text = s.tool("ffmpeg", &format!("{FF} -i {file} -map 0:v -f framemd5 -")).text();
        text.lines()
            .filter_map(|l| l.rsplit(',').next())
            .filter(|h| h.len() > 30)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(ffmpegs("lossless.mkv"), ffmpegs("out.y4m"));
    // RGB stays RGB, also packed
    s.run("render pattern:ramp:size=31x17:frames=3:format=gbrp rgb.mkv --lossless").ok();
    s.tool("ffmpeg", &format!("{FF} -i rgb.mkv -f framemd5 -pix_fmt gbrp rgb.txt"));
    let ours = s.run("hash pattern:ramp:size=31x17:frames=3:format=gbrp").ok().text();
    let theirs = String::from_utf8(s.read("rgb.txt")).unwrap();
    for line in ours.lines().filter(|l| !l.starts_with('#')) {
        assert!(theirs.contains(line.split_once(' ').unwrap().1), "{ours}\n{theirs}");
    }
    for (file, more) in [
        ("a.mp4", "--codec libx264 --preset ultrafast"),
        ("a.mov", "--codec libx264 --preset ultrafast"),
        ("b.mp4", "--codec libx265 --preset ultrafast"),
        ("a.webm", "--codec libvpx-vp9 --codec-opt deadline=realtime --codec-opt cpu-used=8"),
        ("b.mkv", "--codec libaom-av1 --preset 8"),
        ("c.mkv", "--codec utvideo"),
    ] {
        s.run(&format!("render clip.mp4 {file} -f noise=strength=6 --lossless --frames 0-9 {more}")).ok();
        let (ours, theirs) = (hashes(file), hashes("out.y4m"));
        let part = |t: &str| {
            t.lines().filter(|l| !l.starts_with('#')).take(10).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(part(&ours), part(&theirs), "{file}");
    }
    s.run("render clip.mp4 lossy.mkv --lossless --codec mpeg4")
        .ends(2)
        .says("; ffv1, libx264")
        .says("--codec");
    s.run("render clip.mp4 lossless.webm --lossless").ends(2).says("NAME.m");
}

#[test]
fn sources_that_are_no_files() {
    let s = with_clip();
    s.run("render pattern:bars:size=128x96:frames=24:format=yuv422p10 bars.mp4 --preset veryfast").ok();
    let p = probe(&s, "bars.mp4");
    assert_eq!(
        (&stream(&p, "video")["pix_fmt"], &stream(&p, "video")["nb_frames"]),
        (&"yuv422p10le".into(), &"24".into())
    );
    near(&times(&s, "bars.mp4", "v:0")[..3], &[0, 41_667, 83_333], 1);
    s.run("render pattern:bars:size=64x48:frames=4:format=gbrp rgb.mp4").ok();
    assert_eq!(stream(&probe(&s, "rgb.mp4"), "video")["pix_fmt"], "yuv420p");
    s.run("render clip.mp4 pic.####.png --frames 0-4").ok();
    s.run("render pic.####.png pics.mp4 --rate 24000/1001").ok();
    assert_eq!(stream(&probe(&s, "pics.mp4"), "video")["r_frame_rate"], "24000/1001");
}

#[test]
fn errors_name_the_cause() {
    let s = with_clip();
    s.run("render clip.mp4 a.mp4 --codec nonsense").ends(2).says("no such video encoder");
    s.run("render clip.mp4 a.mp4 --codec-opt nonsense=1").ends(2).says("has no option nonsense");
    s.run("render clip.mp4 a.mp4 --preset nonsense").ends(2).says("preset nonsense");
    s.run("render clip.mp4 a.mp4 --codec mpeg4 --pix-fmt yuv420p10").ends(2).says("libx264").says("--codec");
    s.run("render clip.mp4 a.mp4 --codec vp8").ends(2).says("libx264").says("cannot hold");
    s.run("render clip.mp4 a.y4m --crf 20").ends(2).says("video files only");
    for (codec, scale) in [("libx264", "0 to 51"), ("libx265", "0 to 51"), ("libsvtav1", "0 to 63")] {
        s.run(&format!("render clip.mp4 a.mkv --codec {codec} --crf 70")).ends(2).says(scale);
    }
    s.run("render clip.mp4 a.mp4 --codec-opt grain").ends(2).says("tune=grain");
    s.write("there.mp4", "mine");
    s.run("render clip.mp4 there.mp4").ends(1).says("-y");
    s.run("render clip.mp4 nowhere/a.mp4").ends(1).says("nowhere");
    assert_eq!(
        (s.read("there.mp4"), s.files()),
        (b"mine".into(), vec!["clip.mp4".to_owned(), "there.mp4".into()])
    );
    s.run("render clip.mp4 there.mp4 -y --frames 0-4").ok();
    assert_eq!(times(&s, "there.mp4", "v:0").len(), 5);
}

/// A full disk, here by a limit on the file's size: reported with the name, and the part that was written plays.
#[test]
#[cfg(unix)]
fn a_full_disk_is_reported_and_leaves_a_playable_file() {
    let s = with_clip();
    for (file, kept) in [("out.mp4", false), ("out.mov", false), ("out.mkv", true)] {
        // The same program with a limit.
        let program = env!("CARGO_BIN_EXE_grainfield");
        let line = format!(
            "ulimit -f 3000; exec {program} render pattern:zoneplate:size=320x240:frames=400 {file} -f \
             noise=strength=20 --crf 1 --preset ultrafast"
        );
        let mut command = std::process::Command::new("sh");
        let out = command.args(["-c", &line]).current_dir(s.path("")).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(1), "{said}");
        assert!(said.contains(file) && said.contains("File too large") && !said.contains("panic"), "{said}");
        assert!(!s.files().iter().any(|f| f.starts_with('.') || f == file), "{:?}", s.files());
        let partial = file.replace("out.", "out.partial.");
        assert!(!kept || s.files().contains(&partial), "{:?}: {said}", s.files());
        if s.files().contains(&partial) {
            let frames = times(&s, &partial, "v:0").len();
            assert!(frames > 1, "{partial}: {frames}");
        }
    }
}

/// An interrupted render leaves a playable file under another name.
#[test]
#[cfg(unix)]
fn an_interruption_leaves_a_playable_file() {
    let s = with_clip();
    for file in ["out.mp4", "out.mkv"] {
        let line = format!(
            "render pattern:bars:size=320x240:frames=100000 {file} --preset ultrafast --progress json"
        );
        let mut child = s.command(&line).stderr(std::process::Stdio::piped()).spawn().unwrap();
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
        lines.find(|l| l.as_ref().unwrap().contains("\"frame\":")).expect("progress").unwrap();
        let kill =
            std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        lines.for_each(drop);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let partial = file.replace("out.", "out.partial.");
        assert!(s.files().contains(&partial) && !s.files().contains(&file.to_owned()), "{:?}", s.files());
        assert!(times(&s, &partial, "v:0").len() > 1);
        assert!(!s.files().iter().any(|f| f.starts_with('.')), "{:?}", s.files());
    }
}

/// After a second signal it ends without waiting for the encoder, and keeps what was written until then.
#[test]
#[cfg(unix)]
fn a_second_interruption_leaves_the_written_part() {
    let s = Session::new();
    let line = "render pattern:zoneplate:size=192x108:frames=100000 out.ts -f noise=strength=90 --crf 1 --preset placebo \
                --codec-opt rc-lookahead=60 --progress frames";
    let mut child = s.command(line).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    let written = |name: &String| std::fs::metadata(s.path(name)).is_ok_and(|m| m.len() > 1 << 17);
    while !s.files().iter().any(written) {
        lines.next().expect("it goes on").unwrap();
    }
    for _ in 0..2 {
        let id = child.id().to_string();
        // It may have ended after the first signal.
        let _ = std::process::Command::new("kill").args(["-INT", &id]).status().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(600));
    }
    lines.for_each(drop);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(s.files(), ["out.partial.ts"]);
    let frames = times(&s, "out.partial.ts", "v:0").len();
    // fewer than the encoder holds if it was not flushed
    assert!(frames > 1, "{frames}");
}

#[test]
fn deinterlaced_pictures_are_progressive() {
    let s = Session::new();
    let interlaced =
        "-v error -f lavfi -i testsrc2=s=64x48:r=50:d=0.4 -vf tinterlace=interleave_top,setfield=tff";
    for (name, codec) in [
        ("in.mp4", "libx264 -x264-params tff=1"),
        ("in.ts", "libx264 -x264-params tff=1"),
        ("in.mpg", "mpeg2video -flags +ilme+ildct"),
        ("in.mkv", "ffv1"),
    ] {
        s.tool("ffmpeg", &format!("{interlaced} -pix_fmt yuv420p -c:v {codec} {name}"));
        for (filters, wanted) in [("--lavfi yadif", "progressive"), ("--lavfi hflip", "tt"), ("", "tt")] {
            for out in ["out.mov", "out.mkv"] {
                s.run(&format!("render {name} {out} -y -f noise {filters}")).ok();
                let probe = "-v error -select_streams v -show_entries stream=field_order -of csv=p=0";
                let order = s.tool("ffprobe", &format!("{probe} {out}")).text();
                assert_eq!(order.trim(), wanted, "{name} {filters} {out}");
            }
        }
    }
}
