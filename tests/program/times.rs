//! Frames by time, percentage and timecode, wherever frames are named.

use crate::util::Session;

/// The lines of a hash, or those of these frames.
fn hashes(s: &Session, line: &str) -> Vec<String> {
    let text = s.run(&format!("hash {line}")).ok().text();
    text.lines().filter(|l| !l.starts_with('#')).map(str::to_owned).collect()
}

#[cfg(feature = "ffmpeg")]
fn numbers(s: &Session, line: &str) -> Vec<usize> {
    let number = |line: &String| line.split([',', ' ']).next().unwrap().parse().unwrap();
    hashes(s, line).iter().map(number).collect()
}

const CLIP: &str = "pattern:bars:size=32x16:frames=50:rate=25";

#[test]
fn options_of_ffmpeg_select_by_time() {
    let s = Session::new();
    for (typed, frames) in [
        ("-ss 1 -to 00:00:01.2", "25-29"),
        ("-ss 990ms -t 0.21", "25-29"),
        ("--start 1s --duration 200ms", "25-29"),
        ("-ss 00:01.96", "49"),
        ("-to 0.08", "0-1"),
        ("-t 99:00:00", "0-49"),
        ("-ss 0.001 -to 0.041", "1"),
        ("--frames 1s-1.2s,0-1,50%", "25-29,0-1,25"),
        ("--frames 96%-", "48-49"),
        ("--frames 40-00:02x3", "40-49x3"),
        ("--frame-offset 1000 -ss 1 -t 0.2", "1025-1029 --frame-offset 1000"),
    ] {
        let wanted = hashes(&s, &format!("{CLIP} --frames {frames}"));
        assert_eq!(hashes(&s, &format!("{CLIP} {typed}")), wanted, "{typed}");
    }
    s.run(&format!("frame {CLIP} 00:01.01 a.png -f noise=strength=9")).ok();
    s.run(&format!("frame {CLIP} 25 b.png -f noise=strength=9")).ok();
    assert_eq!(s.read("a.png"), s.read("b.png"));
    for (typed, says) in [
        ("-ss 2", "2s is after the end"),
        ("-ss 1 -to 1", "later than the start"),
        ("-ss 1.01 -t 0.01", "no frame begins within 1.01s-1.02s"),
        ("-ss 1:2:3:4", "a time is"),
        ("-to 1 -t 1", "cannot be used with"),
        ("--frames 0s-1s,3s-2s", "'3s-2s': the end must be later"),
        ("--frames 5,1.5h", "'.5h': '.' is not part"),
        ("--frames 01:00:00:00", "tc:HH:MM:SS:FF"),
        ("--frames tc:01:00:00:00", "no start timecode"),
        ("--frames 120%", "from 0% to 100%"),
    ] {
        s.run(&format!("hash {CLIP} {typed}")).ends(2).says(says);
    }
    s.run(&format!("frame {CLIP} 1s-2s c.png")).ends(2).says("one frame is a number or a time");
}

#[test]
fn enable_and_keys_take_times_and_percentages() {
    let s = Session::new();
    let of = |chain: &str| hashes(&s, &format!("{CLIP} -f {chain}"));
    for (times, frames) in [
        ("invert=enable=1s-1.2s+0", "invert=enable=25-29+0"),
        ("invert=enable=00\\:01-00\\:01.2", "invert=enable=25-29"),
        ("invert=enable=50%-60%", "invert=enable=25-29"),
        ("invert=enable=1960ms-", "invert=enable=49-"),
        ("fade=amount=0%=0\\;50%=1\\;100%=0", "fade=amount=0=0\\;25=1\\;49=0"),
        ("fade=amount=0=0\\;100%=1", "fade=amount=0=0\\;-1=1"),
        ("fade=amount=500ms=0\\;1s=1", "fade=amount=0.5s=0\\;00\\:01=1"),
    ] {
        assert_eq!(of(times), of(frames), "{times}");
    }
    // a sequence's first number is 0 %
    s.run(&format!("render {CLIP} s.####.png --frames 0-10 --frame-offset 0")).ok();
    let offset = "s.####.png --frame-offset 1000 -f";
    assert_eq!(
        hashes(&s, &format!("{offset} fade=amount=0%=0\\;100%=1")),
        hashes(&s, &format!("{offset} fade=amount=1000=0\\;1010=1"))
    );
    for (chain, says) in [
        ("invert=enable=1s", "a single time is not possible here"),
        ("invert=enable=1s-2sx2", "begin the range with a frame number"),
        ("invert=enable=tc\\:01\\:00\\:00\\:00-", "a timecode is not possible here"),
        ("fade=amount=0=0\\;120%=1", "from 0% to 100%"),
        ("fade=amount=0s=0\\;100%=1", "all in seconds, or all in frames and percent"),
    ] {
        s.run(&format!("hash {CLIP} -f {chain}")).ends(2).says(says);
    }
}

#[test]
fn a_pipe_may_end_before_a_time() {
    let s = Session::new();
    s.run(&format!("render {CLIP} in.y4m")).ok();
    let y4m = s.read("in.y4m");
    let piped = |line: &str| s.piped(&format!("hash - {line}"), &y4m);
    let lines = |line: &str| piped(line).ok().text().lines().count();
    assert_eq!((lines("-ss 1 -t 0.2"), lines("-t 10"), lines("-ss 1.96 -to 10")), (5, 50, 1));
    piped("-ss 3 -to 10").ends(1).says("frame 75");
    piped("--frames 0-60").ends(1).says("frame 50");
    for line in ["--frames 50%-", "-f invert=enable=50%-", "-f fade=amount=0%=0\\;100%=1"] {
        piped(line).ends(2).says("known length");
    }
    assert_eq!(lines("-f invert=enable=1s-"), 50);
}

#[test]
#[cfg(feature = "ffmpeg")]
fn times_are_exact_where_the_rate_varies() {
    let s = Session::new();
    let uneven =
        "-nostdin -v error -y -f lavfi -i testsrc2=size=64x48:rate=24000/1001:duration=4 -fps_mode vfr";
    // durations of one to three frames, and a hole of a second
    let times = "-vf setpts='(N+floor(N/3)+2*floor(N/7)+if(gte(N\\,40)\\,24\\,0))*1001/24000/TB'";
    for name in ["a.mkv", "a.mp4"] {
        s.tool(
            "ffmpeg",
            &format!("{uneven} {times} -c:v libx264 -bf 2 -g 12 -threads 1 -pix_fmt yuv420p {name}"),
        );
        let list = "-v error -select_streams v -show_entries packet=pts_time -of csv=p=0";
        let text = s.tool("ffprobe", &format!("{list} {name}")).text();
        let mut shown: Vec<f64> = text.lines().map(|l| l.trim_end_matches(',').parse().unwrap()).collect();
        shown.sort_by(f64::total_cmp);
        let first = shown[0];
        shown.iter_mut().for_each(|t| *t -= first);
        for (start, end) in [(0.0, 1.0), (0.5, 2.345), (2.2, 3.4), (3.0, 1000.0)] {
            let within = |t: f64| t >= start - 1e-6 && t < end - 1e-6;
            let wanted: Vec<_> = (0..shown.len()).filter(|n| within(shown[*n])).collect();
            assert_eq!(numbers(&s, &format!("{name} -ss {start} -to {end}")), wanted, "{name} {start} {end}");
            let numbers = format!("{}-{}", wanted[0], wanted[wanted.len() - 1]);
            let enabled = |range: &str| hashes(&s, &format!("{name} -f invert=enable={range}"));
            assert_eq!(enabled(&format!("{start}s-{end}s")), enabled(&numbers), "{name} {start} {end}");
        }
        // within the hole the frame before it is shown
        let before = shown.windows(2).position(|two| two[1] - two[0] > 0.9).unwrap();
        let within = shown[before] + 0.5;
        assert_eq!(numbers(&s, &format!("{name} --frames {within:.3}s")), [before], "{name}");
        // the parts of two shards are those of one render
        let one = hashes(&s, &format!("{name} -ss 0.5 -to 3"));
        let two = [1, 2].map(|i| hashes(&s, &format!("{name} -ss 0.5 -to 3 --shard {i}/2")));
        assert_eq!(two.concat(), one, "{name}");
    }
    s.piped("hash - -ss 1", &s.read("a.mkv")).ends(2).says("use frame numbers");
}

#[test]
#[cfg(feature = "ffmpeg")]
fn timecodes_count_from_that_of_the_clip() {
    let s = Session::new();
    let source = "-nostdin -v error -y -f lavfi -i testsrc2=size=64x48";
    let end = "-frames:v 60 -c:v mpeg4 -g 5";
    s.tool("ffmpeg", &format!("{source}:rate=25 {end} -timecode 01:00:10:00 a.mov"));
    s.tool("ffmpeg", &format!("{source}:rate=30000/1001 {end} -timecode '00:00:59;20' drop.mov"));
    for (typed, frames) in [
        ("a.mov --frames tc:01:00:11:00-tc:01:00:11:05", 25..30),
        ("a.mov --frames tc:01:00:12:05-", 55..60),
        ("a.mov --frames tc:01:00:10:10", 10..11),
        ("drop.mov --frames 'tc:00:00:59;29-tc:00:01:00;04'", 9..12),
    ] {
        assert_eq!(numbers(&s, typed), frames.collect::<Vec<_>>(), "{typed}");
    }
    s.run("probe a.mov").ok();
    for typed in ["tc:01:00:09:24-", "'tc:01:00:11;00-'", "tc:01:00:11:25-"] {
        s.run(&format!("hash a.mov --frames {typed}")).ends(2).says("there is no such timecode");
    }
    s.run("hash a.mov --frames tc:01:00:13:00-").ends(2).says("after the end");
}

/// Resuming finds the same frames, whether they were named by time or by number.
#[test]
#[cfg(feature = "ffmpeg")]
fn a_render_by_time_resumes() {
    let s = Session::new();
    s.run(&format!("render {CLIP} in.mkv --lossless")).ok();
    let line = "render in.mkv o.####.png -f noise=strength=3 --resume";
    s.run(&format!("{line} -ss 1 -t 0.2")).ok();
    std::fs::remove_file(s.path("o.0027.png")).unwrap();
    s.run(&format!("{line} --frames 25-29")).ok().says("4 of 5 frames are complete already");
    s.write("jobs.toml", "[[job]]\ninput='in.mkv'\noutput='b.y4m'\nstart=1\nduration='200ms'\n");
    s.run("batch jobs.toml").ok();
    assert_eq!(hashes(&s, "b.y4m").len(), 5);
}

/// Their fields are read byte by byte here, after SMPTE ST 268 and the layout of OpenEXR files.
#[cfg(feature = "ffmpeg")]
#[test]
fn scans_of_a_video_have_its_timecode_and_rate() {
    let s = Session::new();
    let source = "-y -loglevel error -f lavfi -i testsrc2=size=64x36:rate=30000/1001";
    s.tool("ffmpeg", &format!("{source} -frames:v 20 -timecode '00:00:59;20' drop.mov"));
    s.run("render drop.mov d.%04d.dpx --frames 9-10 -q --strict").ok();
    let word = |file: &[u8], at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap());
    for (name, code) in [("d.0009.dpx", 0x0000_5929), ("d.0010.dpx", 0x0001_0002)] {
        let file = s.read(name);
        assert_eq!(word(&file, 1920), code, "{name}");
        assert!((f32::from_bits(word(&file, 1940)) - 29.97).abs() < 0.001, "{name}");
    }
    // Their numbers are the output's.
    s.run("render drop.mov e.%04d.exr --frames 110 --frame-offset 100 -q --strict").ok();
    let file = s.read("e.0110.exr");
    let value = |attribute: &str| {
        let at = file.windows(attribute.len()).position(|w| w == attribute.as_bytes()).unwrap();
        let at = at + attribute.len() + 4;
        [0, 4].map(|n| u32::from_le_bytes(file[at + n..at + n + 4].try_into().unwrap()))
    };
    // Bit 6 is drop frame.
    assert_eq!(value("timeCode\0timecode\0")[0], 0x0001_0042);
    assert_eq!(value("framesPerSecond\0rational\0"), [30000, 1001]);
    // What other files cannot hold is told.
    s.run("render drop.mov p.%04d.png --frames 9 -q").ok().says("the timecode");
}
