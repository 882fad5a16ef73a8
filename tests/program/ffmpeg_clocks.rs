//! Containers and encoders with no clock but the frame rate: every picture in its place, with the sound in sync.
#![cfg(feature = "ffmpeg")]

use crate::util::Session;

const FF: &str = "-nostdin -v error -y";

/// Times of the pictures, and the start and end of the sound.
fn times(s: &Session, file: &str) -> (Vec<f64>, (f64, f64)) {
    let entries = "packet=codec_type,pts_time,dts_time,duration_time";
    let text = s.tool("ffprobe", &format!("-v error -show_entries {entries} -of csv=p=0 {file}")).text();
    let packets = |kind: &str| -> Vec<(f64, f64)> {
        let all: Vec<_> = text
            .lines()
            .filter_map(|l| l.strip_prefix(kind)?.strip_prefix(','))
            .filter(|l| l.split(',').count() >= 3)
            .map(|l| {
                let f: Vec<Option<f64>> = l.split(',').map(|v| v.parse().ok()).collect();
                (f[0], f[1], f[2].unwrap_or(0.0))
            })
            .collect();
        let told = all.iter().any(|p| p.0.is_some());
        let mut all: Vec<_> =
            all.into_iter().filter_map(|p| Some((if told { p.0 } else { p.1 }?, p.2))).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    };
    let sound = packets("audio");
    let ends = (sound[0].0, sound.last().map(|l| l.0 + l.1).unwrap());
    (packets("video").into_iter().map(|p| p.0).collect(), ends)
}

/// A clip of 60 frames at 30000/1001 fps with two seconds of sound.
fn clip(s: &Session, name: &str, more: &str) {
    s.tool(
        "ffmpeg",
        &format!(
            "{FF} -f lavfi -i testsrc2=size=96x64:rate=30000/1001 -f lavfi -i sine=440:sample_rate=48000 -t 2 -pix_fmt \
             yuv420p {more} {name}"
        ),
    );
}

#[test]
fn a_rate_is_all_that_some_containers_know() {
    let s = Session::new();
    clip(&s, "in.mp4", "-c:v libx264 -preset veryfast -bf 2 -c:a aac");
    // ticks of 90000 and a first picture after zero; and ticks of a millisecond
    clip(&s, "in.ts", "-c:v mpeg2video -q:v 3 -c:a mp2");
    clip(&s, "in.mkv", "-c:v libx264 -preset veryfast -c:a mp2");
    let step = 1001.0 / 30000.0;
    let outputs = [
        ("out.avi", ""),
        ("out.avi", "--codec libx264"),
        ("out.avi", "--codec mjpeg"),
        ("out.mxf", "--codec mpeg2video"),
        ("out.mpg", ""),
        ("out.mkv", "--codec mpeg2video"),
        ("out.mp4", "--codec mpeg4"),
        ("out.ogv", ""),
    ];
    for (turn, (out, more)) in outputs.into_iter().enumerate() {
        // A whole file, each kind in turn, and a part of the one with the most difficult times.
        let whole = ["in.mp4", "in.ts", "in.mkv"][turn % 3];
        for (input, part, wanted) in [(whole, "", 60), ("in.ts", "--frames 7-39", 33)] {
            let what = format!("{input} to {out} {more} {part}");
            s.run(&format!("render {input} {out} -y {more} {part}")).ok();
            let decoded = s.run(&format!("hash {out}")).ok().text().lines().count();
            assert_eq!(decoded, wanted, "{what}");
            let (pictures, sound) = times(&s, out);
            for t in &pictures {
                let places = (t - pictures[0]) / step;
                assert!((places - places.round()).abs() * step < 0.002, "{what}: a frame at {t} s");
            }
            let length = (pictures.last().unwrap() - pictures[0]) / step;
            // MPEG-4 in AVI has an empty packet after its first picture, and MPEG-PS readers do not report the time
            // of the last one; the same holds for files from ffmpeg
            assert!((length - (wanted - 1) as f64).abs() < 1.1, "{what}: {length} frames long");
            // AAC begins slightly earlier; sound of the same duration ends with the pictures
            let begin = sound.0 - pictures[0];
            assert!(begin.abs() < 0.06, "{what}: sound {begin} s off");
            let end = sound.1 - pictures.last().unwrap() - step;
            assert!(end.abs() < 0.08, "{what}: sound ends {end} s off");
        }
    }
}

#[test]
fn uneven_times_on_an_even_grid_are_reported() {
    let s = Session::new();
    s.tool(
        "ffmpeg",
        &format!(
            "{FF} -f lavfi -i testsrc2=size=96x64:rate=25:duration=2 -vf select=lt(n\\,10)+not(mod(n\\,5)) -fps_mode vfr \
             -c:v libx264 -preset veryfast uneven.mp4"
        ),
    );
    s.run("render uneven.mp4 out.avi").ok().says("multiples of 1/25 s");
    s.run("render uneven.mp4 strict.avi --strict").ends(1);
    s.run("render uneven.mp4 out.y4m").ok().says("timestamps are lost");
    s.run("render uneven.mp4 out.##.png").ok().says("timestamps are lost");
    s.run("hash uneven.mp4 --strict").ok();
    let o = s.run("render uneven.mp4 out.mkv --strict").ok();
    assert!(!o.err.contains("multiples"), "{}", o.err);
    // 18 pictures, the last at 45/25 s
    let text = s.tool("ffprobe", "-v error -show_entries packet=dts_time,size -of csv=p=0 out.avi").text();
    let there: Vec<&str> = text.lines().filter(|l| !l.ends_with(",0")).collect();
    assert_eq!(there.len(), 18, "{text}");
    assert!(there[17].starts_with("1.8"), "{text}");
}

#[test]
fn times_that_become_uneven_during_the_render_are_reported() {
    let s = Session::new();
    let make = |rate: u32, more: &str| {
        let source = format!("-f lavfi -i testsrc2=size=96x64:rate={rate}:duration=2");
        s.tool("ffmpeg", &format!("{FF} {source} -pix_fmt yuv420p -c:v mpeg2video -g 5 -bf 0 {more}"));
    };
    make(25, "-vf select=lt(n\\,10)+not(mod(n\\,5)) -fps_mode vfr uneven.mkv");
    make(25, "even.ts");
    make(50, "fast.ts");
    s.write("joined.ts", [s.read("even.ts"), s.read("fast.ts")].concat());
    let told = |input: &str, bytes: &[u8], more: &str| {
        for out in ["out.y4m", "out.###.png", "out.avi"] {
            let what = format!("render {input} {out} {more} -y");
            let o = s.piped(&what, bytes).ok();
            assert_eq!(o.err.matches("timestamps are lost").count(), 1, "{what}: {}", o.err);
            if input == "-" && out == "out.avi" {
                // rejected because of properties that a pipe lacks
                continue;
            }
            s.piped(&format!("{what} --strict"), bytes).ends(1).says("timestamps are lost");
            let o = s.piped(&format!("{what} --strict --on-error skip"), bytes).ends(1);
            assert!(o.err.contains("timestamps are lost"), "{what}: {}", o.err);
        }
        s.piped(&format!("render {input} out.mkv {more} -y --audio none --codec libx264"), bytes).ok();
    };
    told("-", &s.read("uneven.mkv"), "");
    told("joined.ts", b"", "");
    told("even.ts", b"", "--lavfi setpts=2*PTS");
    told("even.ts", b"", "--lavfi select=not(mod(n\\,3))");
    for (input, more) in
        [("even.ts", ""), ("-", ""), ("even.ts", "--lavfi fps=10"), ("even.ts", "--frames 7-20")]
    {
        for out in ["out.y4m", "out.###.png"] {
            let what = format!("render {input} {out} -y --strict {more}");
            let o = s.piped(&what, &s.read("even.ts")).ok();
            assert!(!o.err.contains("times"), "{what}: {}", o.err);
        }
    }
}

#[test]
fn rates_that_a_container_hides_are_found() {
    let s = Session::new();
    let pictures = |rate: &str, more: &str| {
        s.tool(
            "ffmpeg",
            &format!("{FF} -f lavfi -i testsrc2=size=64x48:rate={rate} -pix_fmt yuv420p {more}"),
        );
    };
    let hashes = |file: &str| s.run(&format!("hash {file} -f flicker,weave --seed 5")).ok().text();
    for rate in ["1000/33", "2997/100", "2997/125", "250000/10427", "30000/1001", "25"] {
        pictures(rate, "-frames:v 30 -c:v libx264 -qp 0 -bf 0 a.avi");
        s.tool("ffmpeg", &format!("{FF} -i a.avi -fps_mode passthrough a.y4m"));
        assert_eq!(hashes("a.avi"), hashes("a.y4m"), "{rate}");
        let probed = s.run("probe a.avi").ok().text();
        assert!(probed.contains(&format!(" {rate}")) && !probed.contains("variable"), "{rate}: {probed}");
    }
    // fields counted, frames shown
    s.tool("ffmpeg", &format!("{FF} -i a.avi -c copy -r 25 a.mp4"));
    s.tool("ffmpeg", &format!("{FF} -i a.mp4 -c copy fields.avi"));
    let probed = s.run("probe fields.avi").ok().text();
    assert!(probed.contains(" 25\n") && !probed.contains("variable"), "{probed}");
    pictures("30000/1001", "-frames:v 9 -c:v flv1 a.flv");
    for o in [s.run("probe a.flv").ok(), s.piped("probe -", &s.read("a.flv")).ok()] {
        assert!(o.text().contains("30000/1001"), "{}", o.text());
    }
}

#[test]
fn uneven_times_are_refused_or_lost_where_every_frame_lasts_equally() {
    let s = Session::new();
    // ticks of a frame, and finer ones
    for scale in [25, 12_800] {
        let uneven = "-vf fps=25,select=lt(n\\,10)+not(mod(n\\,5)) -fps_mode vfr";
        let codecs = format!("-c:v libx264 -preset veryfast -bf 0 -c:a aac -video_track_timescale {scale}");
        clip(&s, "uneven.mov", &format!("{uneven} {codecs} -y"));
        for out in ["out.mxf", "out.gxf", "out.dv"] {
            let o = s.run(&format!("render uneven.mov {out} --pix-fmt yuv420p")).ends(2);
            let o = o.says("shows every frame for the same time");
            assert!(
                o.err.contains("fps=25 ")
                    && o.err.contains("--lavfi")
                    && !s.files().contains(&out.to_owned()),
                "{}",
                o.err
            );
        }
        let o = s.run("render uneven.mov held.mxf -y --lavfi fps=25").ok();
        assert!(!o.err.contains("timestamps"), "{}", o.err);
        let (pictures, sound) = times(&s, "held.mxf");
        assert!(pictures.len() > 45 && (sound.1 - pictures.len() as f64 / 25.0).abs() < 0.1, "{sound:?}");
        for out in ["out.h264", "out.m2v"] {
            let line = format!("render uneven.mov {out} --audio none");
            s.run(&format!("{line} -y")).ok().says("timestamps are lost: every frame is shown for 1/25 s");
            s.run(&format!("{line} -y --strict")).ends(1).says("timestamps are lost");
        }
    }
}
