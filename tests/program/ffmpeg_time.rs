//! Times of real containers: rounded, with an offset, wrapped, restarted; the same frames give the same pictures
//! from each.
#![cfg(feature = "ffmpeg")]

use crate::util::Session;

const FF: &str = "-nostdin -v error -y";

/// Filters that depend on the time.
const CHAIN: &str = "-f particles=size=4,fluid=particles=200,flicker,weave --seed 5";

fn lines(text: &str) -> Vec<String> {
    text.lines().filter(|l| !l.starts_with('#')).map(str::to_owned).collect()
}

/// Times of the packets of a kind in seconds, ascending, and their durations.
fn packets(s: &Session, kind: &str, file: &str) -> Vec<(f64, f64)> {
    let line = format!(
        "-v error -select_streams {kind} -show_entries packet=pts_time,duration_time -of csv=p=0 {file}"
    );
    let number = |v: &str| v.parse::<f64>().unwrap_or(0.0);
    let text = s.tool("ffprobe", &line).text();
    let mut all: Vec<_> = text
        .lines()
        .filter_map(|l| l.split_once(','))
        .map(|(t, d)| (number(t), number(d.trim_end_matches(','))))
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

/// The number of frames that the ffmpeg program decodes.
fn shown(s: &Session, file: &str) -> usize {
    lines(&s.tool("ffmpeg", &format!("-v error -i {file} -an -fps_mode passthrough -f framemd5 -")).text())
        .len()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.0021
}

#[test]
fn the_same_frames_are_the_same_from_every_container() {
    let s = Session::new();
    for (rate, frames) in [("24000/1001", 30), ("60000/1001", 20), ("25", 1)] {
        let make = |name: &str, codec: &str| {
            let source = format!("-f lavfi -i testsrc2=size=64x48:rate={rate}");
            s.tool("ffmpeg", &format!("{FF} {source} -frames:v {frames} -pix_fmt gray {codec} {name}"));
        };
        make("in.y4m", "");
        let mut wanted = lines(&s.run(&format!("hash in.y4m {CHAIN}")).ok().text());
        assert_eq!(wanted.len(), frames);
        let avc = "-c:v libx264 -qp 0 -bf 2 -threads 1";
        for (name, codec) in [
            ("a.mkv", "-c:v ffv1"),
            ("offset.mkv", "-c:v ffv1 -output_ts_offset 0.4"),
            ("a.nut", "-c:v ffv1"),
            ("a.avi", "-c:v ffv1"),
            ("b.mkv", avc),
            ("a.mov", avc),
            ("a.ts", avc),
        ] {
            make(name, codec);
            if name == "b.mkv" {
                // x264 converts grey to YUV: other pictures from here on
                s.run(&format!("render {name} same.y4m -y")).ok();
                wanted = lines(&s.run(&format!("hash same.y4m {CHAIN}")).ok().text());
            }
            // AVI and NUT do not store the range
            let chain =
                if codec.contains("ffv1") { format!("{CHAIN} --range full") } else { CHAIN.to_owned() };
            let got = lines(&s.run(&format!("hash {name} {chain}")).ok().text());
            assert_eq!(got, wanted, "{name} at {rate}");
            if name.ends_with("mkv") || name.ends_with("ts") || name.ends_with("nut") {
                let got = lines(&s.piped(&format!("hash - {chain}"), &s.read(name)).ok().text());
                assert_eq!(got, wanted, "{name} through a pipe at {rate}");
                let from = frames / 2;
                let got = lines(&s.run(&format!("hash {name} {chain} --frames {from}-")).ok().text());
                assert_eq!(got, wanted[from..], "{name} from the middle at {rate}");
            }
        }
        make("i%03d.png", "");
        let wanted = lines(&s.run(&format!("hash in.y4m {CHAIN}")).ok().text());
        let got = s.run(&format!("hash i%03d.png {CHAIN} --rate {rate} --frame-offset -1")).ok().text();
        assert_eq!(lines(&got), wanted, "images at {rate}");
        for i in 1..=frames {
            std::fs::remove_file(s.path(&format!("i{i:03}.png"))).unwrap();
        }
    }
}

#[test]
fn interlaced_frames_are_the_same_from_every_container() {
    let s = Session::new();
    let source = "-f lavfi -i testsrc2=size=64x64:rate=30000/1001 -frames:v 20 -pix_fmt yuv420p";
    let field = "-c:v libx264 -qp 0 -x264-params tff=1:threads=1";
    for name in ["a.mp4", "a.mkv", "a.ts"] {
        s.tool("ffmpeg", &format!("{FF} {source} {field} {name}"));
    }
    let hash = |name: &str| lines(&s.run(&format!("hash {name} {CHAIN} --fields frame")).ok().text());
    let wanted = hash("a.mp4");
    assert_eq!(wanted.len(), 20);
    assert_eq!(hash("a.mkv"), wanted);
    assert_eq!(hash("a.ts"), wanted);
}

/// A clip of four seconds with sound, with the times of a transport stream.
fn stream(s: &Session, name: &str, seconds: u32, more: &str) {
    s.tool(
        "ffmpeg",
        &format!(
            "{FF} -f lavfi -i testsrc2=size=96x64:rate=25 -f lavfi -i sine=440:sample_rate=48000 -t {seconds} -pix_fmt \
             yuv420p -c:v mpeg2video -bf 2 -q:v 3 -c:a mp2 {more} {name}"
        ),
    );
}

#[test]
fn everything_begins_at_zero_and_nothing_is_hidden() {
    let s = Session::new();
    // a clock that wraps after three seconds (2^33 / 90000 s), one with a large offset, and the common
    // offsets
    stream(&s, "wraps.ts", 5, "-output_ts_offset 95439.2");
    stream(&s, "far.ts", 5, "-output_ts_offset 50000");
    stream(&s, "a.vob", 5, "");
    for input in ["wraps.ts", "far.ts", "a.vob"] {
        for out in ["out.mp4", "out.mov", "out.mkv"] {
            s.run(&format!("render {input} {out} -y")).ok();
            let (pictures, sound) = (packets(&s, "v", out), packets(&s, "a", out));
            let what = format!("{input} to {out}: {:?}", &pictures[..2]);
            assert_eq!((pictures.len(), shown(&s, out)), (125, 125), "{what}");
            // the result of ffmpeg
            s.tool("ffmpeg", &format!("{FF} -fflags +genpts -i {input} -c copy ff.mkv"));
            let (their, heard) = (packets(&s, "v", "ff.mkv"), packets(&s, "a", "ff.mkv"));
            let lag = |v: &[(f64, f64)], a: &[(f64, f64)]| v[0].0 - a[0].0;
            assert!((pictures[0].0 - their[0].0).abs() < 0.06, "{what} {:?}", &their[..2]);
            assert!((lag(&pictures, &sound) - lag(&their, &heard)).abs() < 0.002, "{what} {:?}", &sound[..2]);
            assert!(
                pictures[0].0 >= 0.0 && sound[0].0 >= 0.0 && sound[0].0.min(pictures[0].0) < 0.03,
                "{what}"
            );
            assert!(pictures.windows(2).all(|w| close(w[1].0 - w[0].0, 0.04)), "{what}");
            let (seen, end) = (pictures[0].0 + 5.0, sound.last().unwrap().0);
            assert!(end < seen + 0.1 && end > seen - 0.2, "{what}: sound ends at {end}");
        }
    }
    // the cut, the segments and the parts agree
    s.run("render far.ts cut.mp4 --frames 50-74").ok();
    assert_eq!((packets(&s, "v", "cut.mp4").len(), packets(&s, "v", "cut.mp4")[0].0), (25, 0.0));
}

#[test]
fn joined_streams_go_on() {
    let s = Session::new();
    for (name, second) in [("ts", "-output_ts_offset 700"), ("mpg", ""), ("vob", ""), ("ts", "")] {
        stream(&s, &format!("a.{name}"), 3, "-output_ts_offset 20");
        stream(&s, &format!("b.{name}"), 2, second);
        let (a, b) = (s.read(&format!("a.{name}")), s.read(&format!("b.{name}")));
        let input = format!("two.{name}");
        s.write(&input, [a, b].concat());
        let whole = lines(&s.run(&format!("hash {input} -f particles --seed 5")).ok().text());
        assert!(whole.len() >= 124, "{input}: {}", whole.len());
        for (out, more) in [("out.mp4", ""), ("out.mkv", "--audio none"), ("out.mkv", "")] {
            s.run(&format!("render {input} {out} -y {more} --preset ultrafast")).ok();
            let pictures = packets(&s, "v", out);
            assert_eq!(
                (pictures.len(), shown(&s, out)),
                (whole.len(), whole.len()),
                "{input} to {out} {more}"
            );
            let even = pictures.windows(2).all(|w| close(w[1].0 - w[0].0, 0.04));
            assert!(even, "{input} to {out} {more}: {pictures:?}");
            if more.is_empty() {
                let sound = packets(&s, "a", out);
                let gap = sound.windows(2).map(|w| w[1].0 - w[0].0).fold(0.0, f64::max);
                assert!(sound.windows(2).all(|w| w[1].0 > w[0].0) && gap < 0.2, "{input} to {out}: {gap}");
                let (end, seen) = (sound.last().unwrap().0, pictures.last().unwrap().0);
                assert!((end - seen).abs() < 0.25, "{input} to {out}: sound to {end}, pictures to {seen}");
            }
        }
        // after the join, the same frames
        let late = lines(&s.run(&format!("hash {input} -f particles --seed 5 --frames 90-")).ok().text());
        assert_eq!(late, whole[90..], "{input}");
        s.run(&format!("render {input} late.mkv -y --frames 90-114 --preset ultrafast")).ok();
        let (pictures, sound) = (packets(&s, "v", "late.mkv"), packets(&s, "a", "late.mkv"));
        assert_eq!((pictures.len(), pictures[0].0), (25, 0.0), "{input}");
        assert!(sound[0].0 < 0.06 && (sound.last().unwrap().0 - 0.97).abs() < 0.1, "{input}: {sound:?}");
    }
}

#[test]
fn durations_behind_filters_of_ffmpeg_are_right() {
    let s = Session::new();
    stream(&s, "in.mkv", 2, "");
    for (graph, count, step) in
        [("fps=12", 24, 1.0 / 12.0), ("fps=50", 100, 0.02), ("minterpolate=fps=50:mi_mode=dup", 98, 0.02)]
    {
        for out in ["out.mp4", "out.mkv"] {
            s.run(&format!("render in.mkv {out} -y --audio none --lavfi {graph}")).ok();
            let pictures = packets(&s, "v", out);
            assert!(pictures.len().abs_diff(count) <= 2, "{graph}: {}", pictures.len());
            for (t, duration) in &pictures {
                assert!((duration - step).abs() < 0.0021, "{graph} to {out}: {duration} s at {t}");
            }
            let line = format!("-v error -show_entries format=duration -of csv=p=0 {out}");
            let length: f64 = s.tool("ffprobe", &line).text().trim().parse().unwrap();
            assert!((length - pictures.len() as f64 * step).abs() < 0.05, "{graph} to {out}: {length} s");
        }
    }
}

#[test]
fn damage_is_patched_the_same_on_any_number_of_threads() {
    let s = Session::new();
    let clip = "-f lavfi -i testsrc2=size=160x96:rate=25:duration=5,noise=alls=12:allf=t:all_seed=5";
    for name in ["a.mkv", "a.ts"] {
        s.tool("ffmpeg", &format!("{FF} {clip} -c:v libx264 -g 25 -bf 2 -threads 1 {name}"));
        let mut bytes = s.read(name);
        let mut at = 9000;
        while at < bytes.len() - 9000 {
            bytes[at] ^= 0x10;
            at += 9973;
        }
        s.write(name, &bytes);
        let theirs = lines(&s.tool("ffmpeg", &format!("-v quiet -threads 1 -i {name} -f framemd5 -")).text());
        let hashes: Vec<&str> = theirs.iter().map(|l| l.rsplit(", ").next().unwrap()).collect();
        s.run(&format!("hash {name}")).ends(1);
        for threads in ["", "--threads 1", "--threads 3", "--threads 8", "--threads 8"] {
            let o = s.run(&format!("hash {name} --on-error skip {threads}")).ok();
            let ours = lines(&o.text());
            let ours: Vec<&str> = ours.iter().map(|l| l.rsplit([' ', ',']).next().unwrap()).collect();
            assert_eq!(ours.len(), hashes.len(), "{name} {threads}: {}", o.err);
            assert_eq!(ours, hashes, "{name} {threads}");
        }
        let parts = |n: u32| lines(&s.run(&format!("hash {name} --on-error skip --shard {n}/3")).ok().text());
        let whole = lines(&s.run(&format!("hash {name} --on-error skip")).ok().text());
        assert_eq!([parts(1), parts(2), parts(3)].concat(), whole, "{name}");
        let o = s.piped("hash - --on-error skip", &bytes).ok();
        assert_eq!(lines(&o.text()), whole, "{name} through a pipe");
    }
}

#[test]
fn windows_media_with_chapters_can_be_read() {
    let s = Session::new();
    let chapter = |from: u32, to: u32, name: &str| {
        format!("[CHAPTER]\nTIMEBASE=1/1000\nSTART={from}\nEND={to}\ntitle={name}\n")
    };
    let text = format!(";FFMETADATA1\n{}{}", chapter(0, 1000, "one"), chapter(1000, 2000, "two"));
    s.write("chapters.txt", text);
    stream(&s, "plain.mkv", 2, "");
    s.tool("ffmpeg", &format!("{FF} -i plain.mkv -i chapters.txt -map 0 -map_metadata 1 -c copy in.mkv"));
    s.run("render in.mkv out.wmv").ok();
    assert_eq!((packets(&s, "v", "out.wmv").len(), shown(&s, "out.wmv")), (50, 50));
    let chapters = s.tool("ffprobe", "-v error -show_chapters -of csv=p=0 out.wmv").text();
    assert!(chapters.contains("one") && chapters.contains("two"), "{chapters}");
    s.run("render in.mkv cut.wmv --frames 0-24").ok().says("chapters");
    assert_eq!(shown(&s, "cut.wmv"), 25);
}

/// Matroska has no times before zero, which libav's muxer leaves out then: frames at the start are known only by their
/// distance from the first one that has a time.
#[test]
fn frames_without_times_at_the_start_come_before_the_others() {
    let s = Session::new();
    for (rate, offset) in [("25", 0.2), ("24000/1001", 0.2085)] {
        let source = format!("-f lavfi -i testsrc2=size=64x48:rate={rate} -frames:v 25 -pix_fmt gray");
        s.tool("ffmpeg", &format!("{FF} {source} -c:v libx264 -qp 0 -bf 3 -g 10 a.mp4"));
        let early =
            format!("-i a.mp4 -c copy -avoid_negative_ts disabled -output_ts_offset -{offset} early.mkv");
        s.tool("ffmpeg", &format!("{FF} {early}"));
        assert!(packets(&s, "v", "early.mkv").iter().filter(|p| p.0 == 0.0).count() > 1, "{rate}: no times");
        s.run("render early.mkv out.mkv --lossless --strict -y").ok();
        s.run("render a.mp4 want.mkv --lossless --strict -y").ok();
        let (got, want) = (packets(&s, "v", "out.mkv"), packets(&s, "v", "want.mkv"));
        assert_eq!(got.len(), 25);
        assert!(got.iter().zip(&want).all(|(a, b)| close(a.0, b.0)), "{rate}: {got:?}");
        // the times that filters see, and seeking
        let hash = |name: &str, more: &str| lines(&s.run(&format!("hash {name} {CHAIN} {more}")).ok().text());
        let whole = hash("a.mp4", "");
        assert_eq!(hash("early.mkv", ""), whole, "{rate}");
        assert_eq!(hash("early.mkv", "--frames 22,3"), [&*whole[22], &*whole[3]], "{rate}");
    }
}
