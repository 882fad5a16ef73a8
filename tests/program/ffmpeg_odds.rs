//! Unusual videos, as after a crash, from a camera's card or a test bench: cut off, empty, tiny, with varying
//! times.
#![cfg(feature = "ffmpeg")]

use crate::util::Session;

const FF: &str = "-nostdin -v error -y -f lavfi -i testsrc2=size=96x64:rate=25:duration=2";

/// The lines of a hash.
fn lines(s: &Session, line: &str) -> Vec<String> {
    s.run(line).text().lines().map(str::to_owned).collect()
}

#[test]
fn all_that_is_left_of_a_cut_video_comes_before_the_error() {
    let s = Session::new();
    // a codec with reordering, and one without
    for (name, codec) in [("held.mkv", "-c:v libx264 -qp 0 -threads 1"), ("plain.mkv", "-c:v ffv1 -g 1")] {
        s.tool("ffmpeg", &format!("{FF} {codec} {name}"));
        let whole = lines(&s, &format!("hash {name}"));
        assert_eq!(whole.len(), 50);
        let bytes = s.read(name);
        for part in [4, 10, 25, 40] {
            let cut = format!("cut{part}.{name}");
            s.write(&cut, &bytes[..bytes.len() * part / 50]);
            let o = s.run(&format!("hash {cut}")).ends(1).says("the input is truncated");
            assert!(!o.err.contains("@ 0x"), "an address: {}", o.err);
            let got: Vec<_> = o.text().lines().map(str::to_owned).collect();
            assert!(got.len() + 4 > part && got.len() < part + 4, "{cut}: {} frames", got.len());
            assert_eq!(got, whole[..got.len()], "{cut}");
            for more in ["--shard 1/1", "--segments", "--frames 0-"] {
                let line = format!("render {cut} out.mkv -y {more}");
                let o = s.run(&line).ends(1).says("the input is truncated");
                assert!(!o.err.contains("done"), "{line}: {}", o.err);
            }
            s.run(&format!("hash {cut} --frames 0-{}", got.len() - 1)).ok();
            let skipping = s.run(&format!("hash {cut} --on-error skip")).ok();
            assert_eq!(skipping.text(), o.text(), "{cut}");
        }
    }
}

/// Messages of libav arrive in one place, from which each job of a batch gets its own.
#[test]
fn no_job_removes_messages_about_another() {
    let s = Session::new();
    s.tool("ffmpeg", &format!("{FF} -c:v libx264 -qp 0 whole.mkv"));
    let bytes = s.read("whole.mkv");
    let mut list = String::new();
    for i in 0..24 {
        s.write(&format!("cut{i}.mkv"), &bytes[..bytes.len() * (i + 20) / 50]);
        list += &format!("[[job]]\ninput = 'cut{i}.mkv'\noutput = 'out{i}.y4m'\n");
    }
    s.write("jobs.toml", list);
    let o = s.run("batch jobs.toml --jobs 8").ends(1).says("0 jobs done, 24 failed");
    assert_eq!(o.err.matches("the input is truncated").count(), 24, "{}", o.err);
}

#[test]
fn an_empty_file_is_called_empty() {
    let s = Session::new();
    s.write("empty.mp4", "");
    s.run("probe empty.mp4").ends(1).says("error: empty.mp4: is empty\n");
}

#[test]
fn pictures_of_a_few_samples_are_lossless_too() {
    let s = Session::new();
    let formats = ["yuv420p", "gbrp", "yuva444p10", "gray16"];
    for (i, size) in ["1x1", "2x1", "1x5", "5x1", "3x3", "7x2", "15x16", "16x16", "1x40"].iter().enumerate() {
        for format in [formats[i % 4], formats[(i + 1) % 4]] {
            let pattern = format!("pattern:zoneplate:size={size}:frames=3:format={format}");
            s.run(&format!("render {pattern} tiny.mkv --lossless -y -f noise=strength=40")).ok();
            // 8-bit RGB may come back under another name; only the samples matter
            let same = format!("--pix-fmt {format}");
            let (was, is) = (
                lines(&s, &format!("hash {pattern} -f noise=strength=40")),
                lines(&s, &format!("hash tiny.mkv {same}")),
            );
            assert_eq!(was, is, "{size} {format}");
        }
    }
}

#[test]
fn uneven_times_are_reported() {
    let s = Session::new();
    // the first 10 of 50 frames and then every fifth: they last until the end of the 46th
    s.tool(
        "ffmpeg",
        &format!(
            "{FF} -vf select=lt(n\\,10)+not(mod(n\\,5)) -fps_mode vfr -c:v libx264 -preset veryfast uneven.mp4"
        ),
    );
    let text = s.run("probe uneven.mp4").ok().text();
    let line = |name: &str| text.lines().find(|l| l.trim().starts_with(name)).map(str::to_owned);
    assert!(line("rate").unwrap().contains("variable"), "{text}");
    assert!(line("frames").unwrap().contains("18"), "{text}");
    assert!(line("shown for").unwrap().contains("1.840 s"), "{text}");
    assert_eq!(line("duration"), None, "{text}");
}

#[test]
fn chroma_subsampled_by_four_is_lossless_at_every_size() {
    let s = Session::new();
    let wide = (16..40).step_by(7).flat_map(|w| [("yuv411p", w, 16), ("yuv410p", 16, w), ("yuv420p", w, w)]);
    let sizes = [("yuv411p", 350, 16), ("yuv411p", 638, 16), ("yuv410p", 70, 50), ("yuv420p", 351, 291)];
    for (format, width, height) in wide.chain(sizes) {
        let pattern = format!("pattern:zoneplate:size={width}x{height}:frames=1:format={format}");
        s.run(&format!("render {pattern} a.mkv --lossless -y -f noise=strength=40")).ok();
        let (was, is) = (format!("hash {pattern} -f noise=strength=40"), "hash a.mkv");
        assert_eq!(lines(&s, &was), lines(&s, is), "{format} {width}x{height}");
    }
}

#[test]
fn a_crop_from_the_left_is_exact() {
    let s = Session::new();
    s.tool("ffmpeg", &format!("{FF} -frames:v 3 -c:v libx264 plain.mp4"));
    s.tool(
        "ffmpeg",
        "-v error -i plain.mp4 -c copy -bsf:v h264_metadata=crop_left=6:crop_right=10 cropped.mp4",
    );
    assert!(s.run("probe cropped.mp4").ok().text().contains("80x64"));
    let line = "-v error -flags unaligned -i cropped.mp4 -f framemd5 -";
    let text = s.tool("ffmpeg", line).text();
    let theirs: Vec<&str> = text
        .lines()
        .filter(|l| !l.starts_with('#'))
        .filter_map(|l| l.rsplit_once(", ").map(|l| l.1.trim()))
        .collect();
    let ours = lines(&s, "hash cropped.mp4");
    let ours: Vec<&str> = ours.iter().filter_map(|l| l.split_once(' ').map(|l| l.1)).collect();
    assert_eq!((ours.len(), ours), (3, theirs));
}

/// The order of fields by the content of the pictures, as FFmpeg's `idet` counts it, and by the flags of the frames.
fn field_order(s: &Session, file: &str) -> (String, bool) {
    let text = s.tool("ffmpeg", &format!("-nostats -i {file} -vf idet -f null -")).err;
    // newer versions of the filter report twice, first of no frames
    let found = text.lines().rev().find_map(|l| l.split_once("Multi frame detection:")).unwrap().1;
    let flags = "-v error -show_entries frame=interlaced_frame,top_field_first -of csv=p=0";
    let flags = s.tool("ffprobe", &format!("{flags} {file}")).text();
    let bottom = flags.lines().filter(|l| !l.is_empty()).all(|l| l.starts_with("1,0"));
    (found.split_whitespace().collect::<Vec<_>>().join(" "), bottom)
}

#[test]
fn the_field_order_is_that_of_the_frames() {
    let s = Session::new();
    let source = "-nostdin -v error -y -f lavfi -i testsrc2=size=176x144:rate=50:duration=0.6 \
                  -vf tinterlace=interleave_bottom,setfield=bff";
    for (codec, name) in [
        ("libx264 -qp 0", "a.mkv"),
        ("libx264 -bf 2", "a.mp4"),
        ("libx264", "a.ts"),
        ("prores_ks", "a.mov"),
        ("ffv1", "b.mkv"),
        ("mpeg2video", "b.ts"),
    ] {
        s.tool("ffmpeg", &format!("{source} -c:v {codec} -flags +ilme+ildct {name}"));
        assert!(s.run(&format!("probe {name}")).ok().text().contains("bottom field first"), "{name}");
        let told = s.run(&format!("render {name} out.{name} -f invert --strict")).ok().err;
        // FFmpeg wrote the tag of MPEG-2 right
        let wrong = codec != "mpeg2video";
        assert_eq!(
            told.contains("tagged as top field first, but its frames are bottom field first"),
            wrong,
            "{told}"
        );
        let (found, flagged) = field_order(&s, &format!("out.{name}"));
        assert!(found.starts_with("TFF: 0 BFF: ") && !found.contains("BFF: 0 "), "{name}: {found}");
        assert!(flagged, "{name}: every frame is flagged");
        let again = s.run(&format!("probe out.{name}")).ok().text();
        assert!(again.contains("bottom field first"), "{name}: {again}");
        // from any frame
        let all = lines(&s, &format!("hash {name} -f noise"));
        assert_eq!(lines(&s, &format!("hash {name} -f noise --frames 9,3")), [&*all[9], &*all[3]], "{name}");
    }
}

/// Two streams in one file, with the top and then the bottom field first.
#[test]
fn a_field_order_that_changes_is_reported() {
    let s = Session::new();
    let part = |order: &str, x264: &str| {
        let source = "-nostdin -v error -y -f lavfi -i testsrc2=size=96x64:rate=50:duration=0.8";
        let coded = format!("-c:v libx264 -qp 0 -x264-params {x264}=1 -flags +ilme+ildct {x264}.ts");
        s.tool("ffmpeg", &format!("{source} -vf tinterlace=interleave_{order},setfield={x264} {coded}"));
        s.read(&format!("{x264}.ts"))
    };
    s.write("both.ts", [part("top", "tff"), part("bottom", "bff")].concat());
    let told = s.run("render both.ts out.mkv -f invert").ok().err;
    let note = "frame 20 (0.800 s) is bottom field first, unlike the first frames; all frames are filtered and \
                written as top field first";
    assert!(told.contains(note), "{told}");
    assert_eq!(told.matches("unlike the first frames").count(), 1, "{told}");
    let hash = |more: &str| lines(&s, &format!("hash both.ts -f noise {more}"));
    let all = hash("");
    assert_eq!(hash("--frames 25,3"), [&*all[25], &*all[3]]);
}

/// Sizes at which encoders damaged memory, or wrote what no decoder reads.
#[test]
fn small_pictures_are_encoded_or_refused_with_the_least_size() {
    let s = Session::new();
    let render = |codec: &str, size: &str, format: &str, out: &str| {
        let pattern = format!("pattern:zoneplate:size={size}:frames=6:format={format}");
        s.run(&format!("render {pattern} {out} -y --codec {codec} -f noise"))
    };
    for (codec, size, format) in [
        ("libx265", "34x16", "yuv420p"),
        ("libx265", "35x17", "yuv444p"),
        ("libx265", "16x98", "yuv420p10"),
        ("libtheora", "18x8", "yuv420p"),
        ("vc2", "35x17", "yuv420p"),
    ] {
        render(codec, size, format, "small.mkv").ok();
        assert_eq!(lines(&s, "hash small.mkv").len(), 6, "{codec} {size}");
    }
    for (codec, size, least) in [
        ("libx265", "8x64", "16x16"),
        ("hevc", "64x8", "16x16"),
        ("librav1e", "8x8", "16x16"),
        ("libsvtav1", "64x62", "64x64"),
        ("libtheora", "16x64", "18x1"),
    ] {
        let said = render(codec, size, "yuv420p", "no.mkv").ends(2).err;
        let wanted = format!("encodes pictures of {least} and more, and this one is {size}; libx264");
        assert!(said.contains(&wanted) && !s.files().contains(&"no.mkv".into()), "{codec} {size}: {said}");
    }
    render("qtrle", "48x48", "gbrp", "no.mkv").ends(2).says("matroska cannot hold qtrle");
}
