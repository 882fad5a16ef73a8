//! Sound in containers without times: late, early, with gaps, cut.
#![cfg(feature = "ffmpeg")]

use crate::util::Session;

const FF: &str = "-nostdin -v error -y";

/// A clip of three seconds with its picture from `picture` seconds on, and its sound, a tone from 1.2 s on, from
/// `sound` on.
fn clip(s: &Session, name: &str, (picture, sound): (f64, f64), codec: &str) {
    let begins = 1.2 - sound;
    s.tool(
        "ffmpeg",
        &format!(
            "{FF} -itsoffset {picture} -f lavfi -i testsrc2=size=64x48:rate=25:duration=3 -itsoffset {sound} -f lavfi -i \
             aevalsrc=gte(t\\,{begins})*0.5*cos(6283*t):s=48000:d=3 -map 0 -map 1 -pix_fmt yuv420p -c:v ffv1 {codec} {name}"
        ),
    );
}

/// When the tone begins and ends after the first picture, in seconds, as in a player.
fn heard(s: &Session, file: &str) -> (f64, f64) {
    let start = |kind: &str| -> f64 {
        let line =
            format!("-v error -select_streams {kind} -show_entries stream=start_time -of csv=p=0 {file}");
        let text = s.tool("ffprobe", &line).text();
        text.lines().next().unwrap().trim().parse().unwrap_or(0.0)
    };
    let lag = start("a") - start("v");
    s.tool("ffmpeg", &format!("{FF} -i {file} -map 0:a -ac 1 -ar 48000 -f s16le {file}.s16"));
    let bytes = s.read(&format!("{file}.s16"));
    let loud: Vec<bool> =
        bytes.chunks_exact(2).map(|c| i16::from_le_bytes([c[0], c[1]]).unsigned_abs() > 1000).collect();
    let at = |i: usize| lag + i as f64 / 48000.0;
    (at(loud.iter().position(|l| *l).unwrap()), at(loud.iter().rposition(|l| *l).unwrap()))
}

#[test]
fn sound_keeps_its_place_without_times() {
    let s = Session::new();
    let pcm = "-c:a pcm_s16le";
    clip(&s, "late.mkv", (0.0, 0.7), pcm);
    clip(&s, "late.mp3.mkv", (0.0, 0.7), "-c:a libmp3lame");
    clip(&s, "flac.mkv", (0.0, 0.0), "-c:a flac -frame_size 9600");
    clip(&s, "pcm.mkv", (0.0, 0.0), pcm);
    // missing packets from 1.5 to 2.3 s
    clip(&s, "hole.mkv", (0.0, 0.0), &format!("{pcm} -af aselect=not(between(t\\,1.5\\,2.3))"));
    for (input, out, more, wanted, off) in [
        ("late.mkv", "out.avi", "", (1.2, 3.7), 0.002),
        ("late.mkv", "out.mxf", "--codec mpeg2video", (1.2, 3.0), 0.002),
        ("late.mp3.mkv", "out.avi", "", (1.2, 3.7), 0.06),
        ("flac.mkv", "out.avi", "--frames 23-60", (0.28, 1.52), 0.06),
        ("flac.mkv", "out.mxf", "--codec mpeg2video --frames 23-60", (0.28, 1.52), 0.002),
        ("pcm.mkv", "out.avi", "--frames 23-60", (0.28, 1.52), 0.002),
        ("hole.mkv", "out.avi", "", (1.2, 3.0), 0.002),
        ("hole.mkv", "out.mov", "", (1.2, 3.0), 0.002),
        ("hole.mkv", "out.mxf", "--codec mpeg2video", (1.2, 3.0), 0.002),
    ] {
        s.run(&format!("render {input} {out} -y {more}")).ok();
        let (begin, end) = heard(&s, out);
        let fits = (begin - wanted.0).abs() < off && (end - wanted.1).abs() < off.max(0.2);
        assert!(fits, "{input} to {out} {more}: {begin} to {end} s, not {wanted:?}");
    }
    // samples are unchanged
    s.run("render pcm.mkv same.avi").ok();
    let decoded = |file: &str| s.tool("ffmpeg", &format!("-v error -i {file} -map 0:a -f md5 -")).text();
    assert_eq!(decoded("same.avi"), decoded("pcm.mkv"));
}

#[test]
fn sound_before_the_picture_is_kept_or_named() {
    let s = Session::new();
    clip(&s, "early.mkv", (0.8, 0.0), "-c:a pcm_s16le");
    for (out, more) in [("out.avi", ""), ("out.mxf", "--codec mpeg2video")] {
        s.run(&format!("render early.mkv {out} {more}"))
            .ok()
            .says("0.800 s of stream 1 before the first picture");
        let begin = heard(&s, out).0;
        assert!((begin - 0.4).abs() < 0.002, "{out}: {begin}");
        s.run(&format!("render early.mkv {out} -y --strict {more}")).ends(1);
    }
    let said = s.run("render early.mkv out.mkv").ok().err;
    assert!(!said.contains("before the first picture"), "{said}");
    let begin = heard(&s, "out.mkv").0;
    assert!((begin - 0.4).abs() < 0.002, "{begin}");
    clip(&s, "late.mkv", (0.0, 0.7), "-c:a libmp3lame");
    s.run("render late.mkv copied.avi --audio copy").ok().says("starts with the picture");
}

/// Compressed sound without gaps is copied; otherwise it is encoded again with silence, or its loss is reported.
#[test]
fn holes_of_compressed_sound_are_filled_or_named() {
    let s = Session::new();
    clip(&s, "pcm.mkv", (0.0, 0.0), "-c:a pcm_s16le");
    for codec in ["libmp3lame", "ac3"] {
        // missing packets from 1.5 to 2.3 s
        let gone = "'noise=drop=between(pts*tb\\,1.5\\,2.3)'";
        s.tool("ffmpeg", &format!("{FF} -i pcm.mkv -map 0 -c:v copy -c:a {codec} whole.mkv"));
        s.tool("ffmpeg", &format!("{FF} -i whole.mkv -map 0 -c copy -bsf:a {gone} hole.mkv"));
        s.run("render hole.mkv out.avi -y").ok().says("sound 1").says("encoded as");
        let (begin, end) = heard(&s, "out.avi");
        assert!((begin - 1.2).abs() < 0.06 && (end - 3.0).abs() < 0.1, "{codec}: {begin} to {end} s");
        s.run("render hole.mkv out.avi -y --strict").ends(1);
        s.run("render hole.mkv out.avi -y --audio copy").ok().says("is early after its gap at 1.5");
        // without a gap, and in a container with times
        for line in ["render whole.mkv out.avi -y --strict", "render hole.mkv out.mkv -y --strict"] {
            let said = s.run(line).ok().err;
            assert!(!said.contains("encoded as") && !said.contains("hole"), "{line}: {said}");
        }
        let (begin, end) = heard(&s, "out.mkv");
        assert!(begin < end);
    }
}

#[test]
fn sound_that_outlasts_the_picture_is_kept_or_named() {
    let s = Session::new();
    s.tool(
        "ffmpeg",
        &format!(
            "{FF} -f lavfi -i testsrc2=size=64x48:rate=25:duration=2 -f lavfi -i sine=f=1000:r=48000:d=3 -map 0 -map 1 -pix_fmt \
             yuv420p -c:v ffv1 -c:a pcm_s16le long.mkv"
        ),
    );
    let mxf = "render long.mkv out.mxf --codec mpeg2video -y";
    s.run(mxf).ok().says(" s of stream 1 after the last picture");
    assert!((heard(&s, "out.mxf").1 - 2.0).abs() < 0.1);
    s.run(&format!("{mxf} --strict")).ends(1);
    s.run(&format!("{mxf} --strict --frames 0-24")).ok();
    s.run("render long.mkv out.avi --strict").ok();
    assert!((heard(&s, "out.avi").1 - 3.0).abs() < 0.1);
}

/// What is cut out is in neither picture nor sound, which stay together; subtitles and chapters move along.
#[test]
fn cuts_close_up() {
    let s = Session::new();
    s.write("a.srt", "1\n00:00:00,200 --> 00:00:00,600\nfirst\n\n2\n00:00:01,200 --> 00:00:01,700\ncut\n\n3\n00:00:02,400 --> 00:00:02,800\nlast\n");
    s.write("meta.txt", ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=2000\ntitle=One\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=2000\nEND=4000\ntitle=Two\n");
    // A quiet tone, which is loud from 1.1 to 1.9 s, and begins anew at 2.5 s after a silence of .3 s.
    let tone = "aevalsrc=sin(2765*t)*(0.1+0.8*between(t\\,1.1\\,1.9))*(1-between(t\\,2.2\\,2.5)):s=48000:d=4";
    s.tool(
        "ffmpeg",
        &format!(
            "{FF} -f lavfi -i testsrc2=size=64x48:rate=25:duration=4 -f lavfi -i {tone} -i a.srt -i meta.txt -map_metadata 3 \
             -map_chapters 3 -map 0 -map 1 -map 2 -pix_fmt yuv420p -c:v libx264 -preset ultrafast -bf 2 -c:a aac in.mkv"
        ),
    );
    let cut = "--frames 0-24,50-74,90-99 --preset ultrafast";
    for (out, more) in [
        ("out.mkv", ""),
        ("out.mp4", "--audio-codec aac"),
        ("parts.mkv", "--segment-frames 20"),
        ("joined.mkv", ""),
    ] {
        if out == "joined.mkv" {
            for n in 1..=3 {
                s.run(&format!("render in.mkv {out} {cut} --segment-frames 20 --shard {n}/3")).ok();
            }
            s.run("join joined.mkv").ok();
        } else {
            s.run(&format!("render in.mkv {out} {cut} {more}")).ok();
        }
        let line = format!("-v error -select_streams v -show_entries packet=pts_time -of csv=p=0 {out}");
        let text = s.tool("ffprobe", &line).text();
        let mut times: Vec<f64> = text.lines().map(|l| l.trim_end_matches(',').parse().unwrap()).collect();
        times.sort_by(f64::total_cmp);
        assert_eq!(times.len(), 60, "{out}");
        assert!(times.windows(2).all(|w| (w[1] - w[0] - 0.04).abs() < 0.002), "{out}: {times:?}");
        s.tool(
            "ffmpeg",
            &format!("{FF} -i {out} -map 0:a -ac 1 -ar 48000 -af aresample=async=1 -f s16le {out}.s16"),
        );
        let samples: Vec<i16> =
            s.read(&format!("{out}.s16")).chunks_exact(2).map(|c| i16::from_le_bytes([c[0], c[1]])).collect();
        assert!((samples.len() as f64 / 48000.0 - 2.4).abs() < 0.06, "{out}: {}", samples.len());
        assert!(samples.iter().all(|v| v.unsigned_abs() < 9000), "{out}: the loud part is cut out");
        // the silence from 2.2 to 2.5 s is now from 1.2 to 1.5 s
        let silent = |t: f64| samples[(t * 48000.0) as usize..][..480].iter().all(|v| v.unsigned_abs() < 300);
        assert!([1.23, 1.35, 1.46].into_iter().all(silent), "{out}");
        assert!(![1.16, 1.53].into_iter().any(silent), "{out}");
        let more = "-show_entries packet=pts_time,duration_time -of csv=p=0";
        let subtitles = s.tool("ffprobe", &format!("-v error -select_streams s {more} {out}")).text();
        if out.ends_with("mkv") {
            let near = |line: &str, wanted: [f64; 2]| {
                let numbers = line.split(',').filter_map(|v| v.parse::<f64>().ok());
                numbers.zip([wanted[0] + times[0], wanted[1]]).all(|(a, b)| (a - b).abs() < 0.002)
            };
            let lines: Vec<&str> = subtitles.lines().collect();
            assert!(
                lines.len() == 2 && near(lines[0], [0.2, 0.4]) && near(lines[1], [1.4, 0.4]),
                "{out}: {subtitles}"
            );
        }
        let chapters = s
            .tool("ffprobe", &format!("-v error -show_entries chapter=start_time,end_time -of csv=p=0 {out}"))
            .text();
        if !chapters.is_empty() {
            let line = chapters.lines().last().unwrap();
            let start: f64 = line.split(',').next().unwrap().parse().unwrap();
            assert!((start - times[0] - 1.0).abs() < 0.03, "{out}: {chapters}");
        }
    }
}

/// PCM is cut to the sample at every join, also where times are rounded, and where it is encoded.
#[test]
fn pcm_is_cut_to_the_sample() {
    let s = Session::new();
    // No two places are alike.
    let tone = "aevalsrc=0.9*sin(900*t*t)|0.5*sin(700*t*t):s=48000:d=4";
    let decoded = |file: &str| {
        s.tool("ffmpeg", &format!("{FF} -y -i {file} -map 0:a -f s16le all.s16"));
        s.read("all.s16").chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]).collect::<Vec<_>>()
    };
    for source in ["in.avi", "in.mov", "in.mkv"] {
        s.tool(
            "ffmpeg",
            &format!("{FF} -f lavfi -i testsrc2=size=64x48:rate=25:duration=4 -f lavfi -i {tone} -c:v mjpeg -c:a pcm_s16le {source}"),
        );
        let all = decoded(source);
        assert_eq!(all.len(), 192_000);
        // A second is 48000 samples, a frame 1920.
        for (frames, ranges) in [
            ("0-24,50-74,90-99", vec![0..48_000, 96_000..144_000, 172_800..192_000]),
            ("0-9,11-11,13-98", vec![0..19_200, 21_120..23_040, 24_960..190_080]),
            ("30-39,41-60", vec![57_600..76_800, 78_720..117_120]),
        ] {
            let wanted: Vec<_> = ranges.into_iter().flat_map(|range| all[range].to_vec()).collect();
            for (out, more) in [
                ("out.mkv", ""),
                ("out.avi", "--codec mjpeg"),
                ("out.mov", ""),
                ("flac.mkv", "--audio-codec flac"),
            ] {
                s.run(&format!("render {source} {out} -y --frames {frames} {more}")).ok();
                let got = decoded(out);
                assert_eq!(got.len(), wanted.len(), "{source} {frames} {out}");
                // Matroska rounds to milliseconds where reading begins.
                let exact = source != "in.mkv" || frames.starts_with('0');
                assert!(!exact || got == wanted, "{source} {frames} {out}");
            }
        }
    }
}
