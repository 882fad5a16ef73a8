//! Properties that an output loses are reported once, and kept ones are not.
#![cfg(feature = "ffmpeg")]

use crate::util::{HDR, Session};

const FF: &str = "-nostdin -v error -y";
const PICTURE: &str = "-f lavfi -i testsrc2=size=64x48:rate=25:duration=0.8";

#[test]
fn a_tiff_does_not_report_the_loss_of_its_own_encoding() {
    let s = Session::new();
    s.tool("ffmpeg", &format!("{FF} {PICTURE} -frames:v 1 -pix_fmt rgb24 -compression_algo lzw in.tif"));
    s.run("render in.tif own.tif").ok();
    let said = s.run("render own.tif out.exr").ok().err;
    assert!(!said.contains("tag "), "{said}");
}

#[test]
fn fields_and_sample_shapes_are_kept_or_named() {
    let s = Session::new();
    s.tool(
        "ffmpeg",
        &format!(
            "{FF} -f lavfi -i testsrc2=size=128x64:rate=50:duration=0.2,interlace=scan=tff -vf setfield=tff -pix_fmt \
             yuv420p -c:v mpeg2video -flags +ildct+ilme tff.mkv"
        ),
    );
    let codecs =
        [("huffyuv", "--pix-fmt yuv422p"), ("rawvideo", ""), ("mjpeg", ""), ("mpeg4", ""), ("ffv1", "")];
    for container in ["avi", "nut", "mkv"] {
        for (codec, more) in codecs {
            let file = format!("{codec}.{container}");
            let said = s.run(&format!("render tff.mkv {file} --codec {codec} {more}")).ok().err;
            let kept = s.run(&format!("probe {file}")).ok().text().contains("top field first");
            assert_eq!(said.contains("field order is lost"), !kept, "{file}: {said}");
        }
    }
    s.run("render tff.mkv strict.avi --codec rawvideo --strict").ends(1);
    s.tool(
        "ffmpeg",
        &format!("{FF} {PICTURE} -vf setsar=r=717/400:max=1000 -c:v ffv1 -pix_fmt yuv420p sar.mkv"),
    );
    s.run("render sar.mkv sar.avi --codec mpeg4").ok().says("the sample aspect ratio 717:400");
}

/// Streams' titles, `forced`, covers: read back with ffprobe.
#[test]
fn properties_of_streams_are_kept_or_named() {
    let s = Session::new();
    s.write("s.srt", "1\n00:00:00,000 --> 00:00:00,500\nhello\n");
    s.tool(
        "ffmpeg",
        &format!(
            "{FF} {PICTURE} -f lavfi -i sine=440:duration=0.8 -i s.srt -map 0 -map 1 -map 2 -pix_fmt yuv420p -c:v libx264 \
             -preset ultrafast -c:a aac -c:s srt -metadata:s:a title=A-title -disposition:s:0 forced in.mkv"
        ),
    );
    s.tool(
        "ffmpeg",
        &format!(
            "{FF} {PICTURE} -f lavfi -i color=red:s=64x64 -map 0 -map 1 -frames:v:1 1 -pix_fmt:v:0 yuv420p -c:v:0 libx264 \
             -c:v:1 png -disposition:v:1 attached_pic cover.mp4"
        ),
    );
    for container in ["mp4", "mov", "mkv", "ts", "nut", "avi", "flv"] {
        let codec = if container == "nut" { "--codec libx264" } else { "" };
        let file = format!("out.{container}");
        let said = s.run(&format!("render in.mkv {file} {codec}")).ok().err;
        let text = s.tool("ffprobe", &format!("-v error -show_streams -of json {file}")).text();
        assert_eq!(
            said.contains("the title of stream 1 is lost"),
            !text.contains("\"title\": \"A-title\""),
            "{file}: {said}"
        );
        let forced = text.contains("\"forced\": 1");
        let named =
            said.contains("'forced' of stream 2 is lost") || said.contains("subtitle 2 (subrip) is left out");
        assert_eq!(named, !forced, "{file}: {said}");
        let file = format!("cover.out.{container}");
        let said = s.run(&format!("render cover.mp4 {file} {codec}")).ok().err;
        let text = s.tool("ffprobe", &format!("-v error -show_streams -of json {file}")).text();
        let kept = text.contains("\"attached_pic\": 1");
        assert_eq!(said.contains("cover 1 (png) is left out"), !kept, "{file}: {said}");
    }
}

#[test]
fn digital_video_keeps_its_shape_and_timecode_without_a_warning() {
    let s = Session::new();
    for shape in ["4/3", "16/9"] {
        let more = format!("-vf setdar={shape},setfield=bff -c:v dvvideo -timecode 01:02:03:04");
        let picture = "-f lavfi -i testsrc2=size=720x576:rate=25:duration=0.4 -pix_fmt yuv420p";
        s.tool("ffmpeg", &format!("{FF} {picture} {more} in.dv"));
        let said = s.run("render in.dv out.dv -y -f noise").ok().err;
        assert!(!said.contains("lost"), "{said}");
        let told = |file: &str| {
            let entries = "stream=sample_aspect_ratio:format_tags=timecode";
            s.tool("ffprobe", &format!("-v error -show_entries {entries} -of csv {file}")).text()
        };
        assert!(told("in.dv").contains("01:02:03:04"));
        assert_eq!(told("in.dv"), told("out.dv"));
    }
}

#[test]
fn hidden_sound_does_not_come_back() {
    let s = Session::new();
    let picture = PICTURE.replace("0.8", "2");
    s.tool(
        "ffmpeg",
        &format!("{FF} {picture} -f lavfi -i sine=440:duration=2 -pix_fmt yuv420p -c:v libx264 -g 50 -c:a aac in.mp4"),
    );
    s.tool("ffmpeg", &format!("{FF} -ss 0.3 -i in.mp4 -c copy cut.mp4"));
    s.run("render cut.mp4 cut.mkv").ok();
    let start = s.tool("ffprobe", "-v error -show_entries format=start_time -of csv=p=0 cut.mkv").text();
    // no more than the decoder's pre-roll
    assert!(start.trim().parse::<f64>().unwrap() > -0.05, "{start}");
}

/// A pipe is read once, for the picture.
#[test]
fn other_streams_of_a_pipe_are_named_if_there_are_any() {
    let s = Session::new();
    for (name, sound, options, said) in [
        ("nut", "-f lavfi -i sine=440:duration=0.8 -c:a aac", "", true),
        ("matroska", "-f lavfi -i sine=440:duration=0.8 -c:a flac", "", true),
        ("nut", "-f lavfi -i sine=440:duration=0.8 -c:a aac", "--audio none", false),
        ("nut", "", "", false),
        ("matroska", "", "--strict", false),
    ] {
        s.tool("ffmpeg", &format!("{FF} {PICTURE} {sound} -pix_fmt yuv420p -c:v ffv1 -f {name} in.pipe"));
        let out = s.piped(&format!("render - out.mkv -y {options}"), &s.read("in.pipe")).ok();
        assert_eq!(out.err.contains("audio ("), said, "{name} {sound} {options}: {}", out.err);
        assert_eq!(out.err.contains("cannot keep"), said, "{name} {sound} {options}: {}", out.err);
    }
}

#[test]
fn colour_tags_that_pictures_cannot_store_are_named() {
    let s = Session::new();
    let colour = |tags: [&str; 3], file: &str| {
        let [primaries, transfer, matrix] = tags;
        let tags = format!("color_primaries={primaries}:color_trc={transfer}:colorspace={matrix}");
        let tagged = format!("-vf format=yuv444p,setparams={tags}");
        s.tool("ffmpeg", &format!("{FF} {PICTURE} -frames:v 1 {tagged} -c:v libx264 {file}"));
    };
    colour(["bt2020", "smpte2084", "bt2020nc"], "hdr.mp4");
    colour(["bt709", "bt709", "bt709"], "hd.mp4");
    colour(["smpte170m", "smpte170m", "smpte170m"], "sd.mp4");
    for kind in ["y4m", "tif", "jpg"] {
        s.run(&format!("render hdr.mp4 hdr.{kind}")).ok().says("colour tags (primaries, transfer)");
        for input in ["hd", "sd"] {
            let said = s.run(&format!("render {input}.mp4 {input}.{kind}")).ok().err;
            assert!(!said.contains("colour tags"), "{input}.{kind}: {said}");
        }
    }
}

#[test]
fn headers_of_films_and_photographs_are_named_in_videos() {
    let s = Session::new();
    s.tool("ffmpeg", &format!("{FF} {PICTURE} -frames:v 1 -pix_fmt rgb24 in.dpx"));
    // the project's name, 200 bytes from 260 on
    let mut dpx = s.read("in.dpx");
    dpx[260..265].copy_from_slice(b"Ocean");
    std::fs::write(s.path("in.dpx"), dpx).unwrap();
    for out in ["out.mp4", "out.mov", "out.y4m"] {
        let more = if out.ends_with("y4m") { "" } else { "--pix-fmt yuv420p" };
        s.run(&format!("render in.dpx {out} {more}")).ok().says("project");
    }
}

#[test]
fn time_codes_of_a_part_are_those_of_its_frames() {
    let s = Session::new();
    let make = |picture: &str, first: &str, more: &str, file: &str| {
        let codec = "-pix_fmt yuv420p -c:v libx264 -bf 2";
        s.tool("ffmpeg", &format!("{FF} {picture} {more} {codec} -timecode {first} {file}"));
    };
    let told = |file: &str| s.tool("ffprobe", &format!("-v error -show_format -show_streams {file}")).text();
    make(PICTURE, "01:02:03:04", "", "tc.mov");
    make(&PICTURE.replace("=25", "=30000/1001"), "00:00:59;20", "", "drop.mov");
    for (input, wanted) in [("tc.mov", "timecode=01:02:03:14\n"), ("drop.mov", "timecode=00:01:00;02\n")] {
        for (out, more) in
            [("part.mov", ""), ("part.mkv", ""), ("part.avi", ""), ("part.mxf", "--codec mpeg2video")]
        {
            let said = s.run(&format!("render {input} {out} -y --frames 10-19 {more}")).ok().err;
            assert!(told(out).to_lowercase().contains(wanted), "{input} to {out}: {said} {}", told(out));
            assert!(!said.contains("time code is that of"), "{input} to {out}: {said}");
            assert!(!said.contains("data 1"), "{input} to {out}: {said}");
        }
    }
    s.run("render tc.mov part.ts").ok().says("the time code is lost");
    make(PICTURE, "01:02:03:04", "-vf select=not(mod(n\\,7)) -fps_mode vfr", "uneven.mov");
    s.run("render uneven.mov part.mov -y --frames 1-2").ok().says("the time code is that of");
    s.run("render tc.mov part.mov -y --frames 1-2 --lavfi fps=50").ok().says("the time code is that of");
    let whole = s.run("render tc.mov whole.mov").ok().err;
    assert!(!whole.contains("time code"), "{whole}");
    let kept = s.run("render tc.mov whole.mkv").ok().err;
    assert!(!kept.contains("data 1"), "{kept}");
}

/// Full range is signalled to readers, or converted to limited range with a note: the picture is the same.
#[test]
fn full_range_is_kept_or_becomes_limited() {
    let s = Session::new();
    let picture = "-f lavfi -i testsrc2=size=720x480:rate=25 -frames:v 2";
    s.tool(
        "ffmpeg",
        &format!("{FF} {picture} -pix_fmt yuv422p -color_range pc -colorspace bt709 -c:v ffv1 in.mkv"),
    );
    let luma = |file: &str| -> f64 {
        let line = format!("-v error -i {file} -frames:v 1 -pix_fmt rgb24 -f rawvideo -");
        let samples = s.tool("ffmpeg", &line).out;
        samples.iter().map(|v| f64::from(*v)).sum::<f64>() / samples.len() as f64
    };
    let wanted = luma("in.mkv");
    for (codec, out, more) in [
        ("prores_ks", "mov", "--pix-fmt yuv422p10"),
        ("mpeg2video", "mkv", ""),
        ("mpeg2video", "mp4", ""),
        ("mpeg4", "mov", "--pix-fmt yuv420p"),
        ("libvpx", "webm", "--pix-fmt yuv420p"),
        ("cfhd", "mov", "--pix-fmt yuv422p10"),
        ("mjpeg", "mov", ""),
        ("libx264", "ts", ""),
        ("huffyuv", "mkv", ""),
        ("huffyuv", "mov", ""),
    ] {
        let file = format!("{codec}.{out}");
        let said = s.run(&format!("render in.mkv {file} --codec {codec} {more}")).ok().err;
        let probed = s.run(&format!("probe {file}")).ok().text();
        let kept = probed.lines().any(|l| l.contains(" range ") && l.ends_with(" full"));
        let named = said.contains("full range becomes limited") || said.contains("(full range)");
        assert_eq!(named, !kept, "{file}: {said} {probed}");
        let got = luma(&file);
        let right = (got - wanted).abs() < 1.5;
        assert!(right || said.contains("(full range)"), "{file}: {got}, not {wanted}");
        s.run(&format!("render in.mkv strict.{out} -y --codec {codec} {more} --strict"))
            .ends(i32::from(named));
    }
}

#[test]
fn a_matrix_of_rgb_on_colour_differences_is_ignored() {
    let s = Session::new();
    let picture = "-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 1";
    for format in ["yuv444p10le", "yuv422p10le"] {
        // prores_aw writes no tag for this matrix
        let tagged = format!("-vf format={format},setparams=colorspace=bt470bg -c:v prores_aw");
        s.tool("ffmpeg", &format!("{FF} {picture} {tagged} in.mov"));
        let probed = s.run("probe in.mov").ok().text();
        let matrix = probed.lines().find(|l| l.trim().starts_with("matrix")).unwrap();
        assert!(!matrix.contains("rgb") && !matrix.contains("gbr"), "{format}: {matrix}");
        s.run("render in.mov out.png -y").ok();
    }
    let tagged = "-pix_fmt yuv422p10le -c:v ffv1 -colorspace bt470bg";
    s.tool("ffmpeg", &format!("{FF} {picture} {tagged} in.mkv"));
    s.run("render in.mkv out.mov --codec prores_aw").ok();
    let line = "-v error -show_entries frame=color_space -of csv=p=0 out.mov";
    assert!(s.tool("ffprobe", line).text().contains("smpte170m"));
}

#[test]
fn webm_has_an_encoder_for_small_pictures() {
    let s = Session::new();
    s.tool("ffmpeg", &format!("{FF} {PICTURE} -frames:v 2 -pix_fmt yuv420p -c:v libx264 in.mp4"));
    s.run("render in.mp4 out.webm").ok().says("libvpx-vp9");
}

#[test]
fn the_siting_of_chroma_is_kept_or_named() {
    let s = Session::new();
    let picture = "-f lavfi -i testsrc2=size=128x96:rate=25 -frames:v 2 -pix_fmt yuv420p";
    for (number, siting) in ["left", "center", "topleft"].into_iter().enumerate() {
        let input = format!("{siting}.mp4");
        s.tool("ffmpeg", &format!("{FF} {picture} -c:v libx264 -x264-params chromaloc={number} {input}"));
        for (codec, out) in [
            ("libx264", "mov"),
            ("ffv1", "mkv"),
            ("ffv1", "mov"),
            ("ffv1", "avi"),
            ("mpeg4", "mp4"),
            ("mjpeg", "mov"),
            ("libtheora", "ogv"),
            ("rawvideo", "nut"),
        ] {
            let file = format!("{siting}-{codec}.{out}");
            let said = s.run(&format!("render {input} {file} --codec {codec} --pix-fmt yuv420p")).ok().err;
            let line = format!(
                "-v error -select_streams v:0 -show_entries stream=chroma_location -of csv=p=0 {file}"
            );
            let read = String::from_utf8_lossy(&s.tool("ffprobe", &line).out).trim().to_owned();
            let read = if read == "unspecified" { "left".to_owned() } else { read };
            assert_eq!(read != siting, said.contains("chroma siting"), "{file}: {read}, {said}");
        }
    }
}

/// Languages, in either code of ISO 639-2, and dispositions: read back with ffprobe.
#[test]
fn languages_and_dispositions_are_kept_or_named() {
    let s = Session::new();
    let sounds = [
        ("deu", "default+comment"),
        ("fre", "original"),
        ("zul", "dub"),
        ("swe", "hearing_impaired"),
        ("eng", "karaoke"),
        ("nld", "visual_impaired"),
    ];
    let (mut inputs, mut outputs) = (String::new(), "-map 0".to_owned());
    for (i, (language, disposition)) in sounds.iter().enumerate() {
        inputs += " -f lavfi -i sine=440:duration=0.2";
        outputs += &format!(
            " -map {} -metadata:s:a:{i} language={language} -disposition:a:{i} {disposition}",
            i + 1
        );
    }
    let picture = PICTURE.replace("0.8", "0.2");
    let codecs = "-metadata:s:v language=ces -pix_fmt yuv420p -c:v mpeg4 -c:a";
    s.tool("ffmpeg", &format!("{FF} {picture} {inputs} {outputs} {codecs} mp2 in.mkv"));
    // Matroska stores no 'karaoke'
    s.tool("ffmpeg", &format!("{FF} {picture} {inputs} {outputs} {codecs} mp2 in.nut"));
    let same = [("ces", "cze"), ("deu", "ger"), ("fre", "fra"), ("swe", "sve"), ("nld", "dut")];
    for input in ["in.mkv", "in.nut"] {
        for (out, codec) in [
            ("mp4", "mpeg4"),
            ("mov", "mpeg4"),
            ("mkv", "mpeg4"),
            ("webm", "libvpx"),
            ("ts", "mpeg4"),
            ("nut", "mpeg4"),
            ("avi", "mpeg4"),
            ("mxf", "mpeg2video"),
        ] {
            let file = format!("out.{out}");
            let said = s.run(&format!("render {input} {file} -y --codec {codec}")).ok().err;
            let lost = |what: &str, stream: usize| {
                let clause = said.split("; ").find(|c| c.contains(&format!("{what} of stream ")));
                let numbers = clause.and_then(|c| c.split(" of stream ").nth(1)?.split(" is lost").next());
                numbers.is_some_and(|n| n.split(", ").any(|n| n == stream.to_string()))
            };
            let text =
                |file: &str| s.tool("ffprobe", &format!("-v error -show_streams -of json {file}")).text();
            let [was, is] = [text(input), text(&file)]
                .map(|text| serde_json::from_str::<serde_json::Value>(&text).expect("JSON"));
            for i in 0..7 {
                let of = |file: &serde_json::Value| {
                    let language = &file["streams"][i]["tags"]["language"];
                    language.as_str().unwrap_or("und").to_owned()
                };
                let (was_in, is_in) = (of(&was), of(&is));
                let equal = |pair: &(&str, &str)| {
                    [(pair.0, pair.1), (pair.1, pair.0)].contains(&(was_in.as_str(), is_in.as_str()))
                };
                let kept = was_in == is_in || same.iter().any(equal);
                assert_eq!(lost("the language", i), !kept, "{file}: {i}: {was_in}, {is_in}: {said}");
                for (flag, set) in was["streams"][i]["disposition"].as_object().expect("an object") {
                    // the first stream of a kind is the default one anyway
                    if *set == 1 && !(flag == "default" && i < 2) {
                        let kept = is["streams"][i]["disposition"][flag] == 1;
                        assert_eq!(lost(&format!("'{flag}'"), i), !kept, "{file}: {i}: {flag}: {said}");
                    }
                }
            }
        }
    }
    s.run("render in.mkv strict.mov --codec mpeg4 --strict").ends(1).says("'comment' of stream 1 is lost");
}

#[test]
fn tags_of_streams_and_places_are_kept_or_named() {
    let s = Session::new();
    let picture = PICTURE.replace("0.8", "0.2");
    let tone = "-f lavfi -i sine=440:duration=0.2";
    let tags = "-metadata:s:a mood=calm-mood -metadata location=+12.3-045.6/ -timecode 01:02:03:04";
    let codecs = "-pix_fmt yuv420p -c:v libx264 -preset ultrafast -c:a aac";
    s.tool("ffmpeg", &format!("{FF} {picture} {tone} {tags} {codecs} in.mkv"));
    s.tool("ffmpeg", &format!("{FF} {picture} {tone} {tags} {codecs} in.mov"));
    for (out, codec) in
        [("mp4", "libx264"), ("mov", "libx264"), ("mkv", "libx264"), ("ts", "libx264"), ("nut", "ffv1")]
    {
        let file = format!("out.{out}");
        let said = s.run(&format!("render in.mkv {file} --codec {codec}")).ok().err;
        let text = s.tool("ffprobe", &format!("-v error -show_streams -of json {file}")).text();
        let named = said.to_lowercase().contains("tags of stream 1 are lost (mood)");
        assert_eq!(named, !text.contains("calm-mood"), "{file}: {said}");
    }
    // libav's second name of the place, and the track of the time code
    s.run("render in.mov same.mp4 --strict").ok();
    let said = s.run("render in.mov out.mxf --codec mpeg2video").ok().err;
    assert!(!said.contains("data 2") && said.contains("tags are lost (location)"), "{said}");
}

/// Properties of the picture for which no encoder or few containers have a place.
#[test]
fn views_and_data_of_frames_are_kept_or_named() {
    let s = Session::new();
    let picture = "-f lavfi -i testsrc2=size=128x96:rate=25:duration=0.2 -pix_fmt yuv420p";
    s.tool(
        "ffmpeg",
        &format!(
            "{FF} {picture} -c:v libx264 -preset ultrafast -metadata:s:v stereo_mode=left_right views.mkv"
        ),
    );
    for (out, codec) in [
        ("mp4", "libx264"),
        ("mov", "libx264"),
        ("mkv", "libx264"),
        ("webm", "libvpx"),
        ("ts", "libx264"),
        ("avi", "mpeg4"),
        ("mxf", "mpeg2video"),
        ("nut", "ffv1"),
    ] {
        let file = format!("views.out.{out}");
        let said = s.run(&format!("render views.mkv {file} --codec {codec}")).ok().err;
        let told = s.tool("ffprobe", &format!("-v error -show_streams {file}")).text();
        // of the two boxes in MP4, newer versions write one without the arrangement, and read that one
        let kept = told.contains("side by side") || s.read(&file).windows(4).any(|w| w == b"st3d");
        assert_eq!(said.contains("stereo 3D"), !kept, "{file}: {said}");
    }
    // HDR10+ of SMPTE ST 2094-40, as a message before every slice
    let params = "-x265-params log-level=none:keyint=1";
    s.tool("ffmpeg", &format!("{FF} {picture} -c:v libx265 -preset ultrafast {HDR} {params} plain.hevc"));
    let head = [0, 0, 1, 0x4e, 1, 4, 22, 0xb5, 0, 0x3c, 0, 1, 4, 1, 0x40];
    let message = [&head[..], &[0x11; 11], &[1, 0x11, 0x11, 0x80]].concat();
    let plain = s.read("plain.hevc");
    let mut plus = Vec::new();
    for (i, byte) in plain.iter().enumerate() {
        // a slice of a picture that others need not precede
        if plain[i..].starts_with(&[0, 0, 1])
            && plain.get(i + 3).is_some_and(|b| (16..=21).contains(&(b >> 1)))
        {
            plus.extend_from_slice(&message);
        }
        plus.push(*byte);
    }
    s.write("plus.hevc", plus);
    s.tool("ffmpeg", &format!("{FF} -f hevc -i plus.hevc -c copy plus.mp4"));
    let frames = s.tool("ffprobe", "-v error -show_frames plus.mp4").text();
    assert!(frames.contains("HDR Dynamic Metadata SMPTE2094-40"), "the clip has it: {frames}");
    for codec in ["libx265", "libx264", "ffv1"] {
        s.run(&format!("render plus.mp4 plus.mkv -y --codec {codec}")).ok().says("HDR10+ data are lost");
    }
    s.run("render plus.mp4 strict.mkv --strict").ends(1).says("HDR10+");
}
