//! Numbers and missing frames.

use super::{next, noisy, open, plan, write};
use grainfield::source::{FrameStamp, Missing, SourceError};
use grainfield_filters::frame::Format;
use grainfield_filters::ratio::Ratio;
use std::path::Path;

pub(super) fn stamp(number: i64) -> FrameStamp {
    FrameStamp { number, time: Ratio::ZERO, duration: Ratio::ONE, carried: None }
}

/// PNGs whose first sample is their number.
fn sequence(dir: &Path, numbers: &[i64]) {
    let format = Format::from_name("gray", 3, 2).unwrap();
    let frames: Vec<_> = numbers
        .iter()
        .map(|&n| {
            let mut frame = noisy(format);
            frame.row_mut::<u8>(0, 0)[0] = n as u8;
            (stamp(n), frame)
        })
        .collect();
    write(dir.join("a.####.png").as_os_str(), &plan(format, None), &frames).unwrap();
}

fn read(dir: &Path, missing: Missing) -> Vec<(i64, Result<u8, String>)> {
    let mut source = open(dir.join("a.%04d.png"), missing).unwrap();
    let mut out = Vec::new();
    let mut number = source.info().first;
    loop {
        match next(&mut *source) {
            Ok(None) => return out,
            Ok(Some((stamp, frame))) => {
                number = stamp.number;
                assert_eq!(stamp.time, Ratio::new(number - 1001, 24).unwrap());
                out.push((number, Ok(frame.row::<u8>(0, 0)[0])));
            }
            Err(e) => {
                number += 1;
                out.push((number, Err(e.to_string())));
            }
        }
    }
}

#[test]
fn each_policy() {
    let dir = tempfile::tempdir().unwrap();
    sequence(dir.path(), &[1001, 1002, 1005]);
    let at = |n: i64| (n, Ok(n as u8));
    assert_eq!(
        read(dir.path(), Missing::Hold),
        [at(1001), at(1002), (1003, Ok(1002i64 as u8)), (1004, Ok(1002i64 as u8)), at(1005)]
    );
    assert_eq!(
        read(dir.path(), Missing::Black),
        [at(1001), at(1002), (1003, Ok(0)), (1004, Ok(0)), at(1005)]
    );
    assert_eq!(read(dir.path(), Missing::Skip), [at(1001), at(1002), at(1005)]);
    let got = read(dir.path(), Missing::Error);
    assert_eq!((&got[0], &got[1], &got[4]), (&at(1001), &at(1002), &at(1005)));
    let text = got[2].1.clone().unwrap_err();
    assert!(
        text.contains("frame 1003")
            && text.contains("a.1003.png")
            && text.contains("can be repeated, black or skipped"),
        "{text}"
    );
}

#[test]
fn seeking_goes_by_number() {
    let dir = tempfile::tempdir().unwrap();
    sequence(dir.path(), &[-2, -1, 0, 1, 2, 9999, 10_000]);
    let mut source = open(dir.path().join("a.####.png"), Missing::Skip).unwrap();
    assert_eq!((source.info().first, source.info().last), (-2, Some(10_000)));
    for n in [10_000, -1, 2, 0, 9999, -2] {
        source.seek(n).unwrap();
        let (stamp, frame) = next(&mut *source).unwrap().unwrap();
        assert_eq!((stamp.number, frame.row::<u8>(0, 0)[0]), (n, n as u8));
    }
    for n in [-3, 10_001, i64::MAX, i64::MIN] {
        assert!(source.seek(n).unwrap_err().to_string().contains("the frames are -2 to 10000"));
    }
}

#[test]
fn a_frame_of_another_format_is_named() {
    let dir = tempfile::tempdir().unwrap();
    sequence(dir.path(), &[1, 2]);
    let other = Format::from_name("gbrp16", 5, 2).unwrap();
    write(dir.path().join("a.####.png").as_os_str(), &plan(other, None), &[(stamp(3), noisy(other))])
        .unwrap();
    let mut source = open(dir.path(), Missing::Error).unwrap();
    assert!(next(&mut *source).unwrap().is_some());
    assert!(next(&mut *source).unwrap().is_some());
    let text = next(&mut *source).unwrap_err().to_string();
    let want = "a.0003.png: frame 3 is 5x2 gbrp16, but the sequence began as 3x2 gray";
    assert!(text.contains(want), "{text}");
    assert!(next(&mut *source).unwrap().is_none());
}

#[test]
fn errors_of_opening_name_the_cause() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        std::fs::write(dir.path().join(name), bytes).unwrap();
        open(dir.path().join(name), Missing::Error).map(drop).unwrap_err()
    };
    assert!(file("empty.png", b"").to_string().contains("empty"));
    assert!(file("text.png", b"no image at all").to_string().contains("not an image"));
    assert!(matches!(open(dir.path().join("none.png"), Missing::Error), Err(SourceError::Io { .. })));
    let mut huge = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x80\0\0\0\0\0\0\x01\x08\0\0\0\0".to_vec();
    assert!(file("huge.png", &huge).to_string().contains("2147483648x1"));
    huge[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0x1f, 0xff]);
    assert!(file("bomb.png", &huge).to_string().contains("cannot hold"));
    huge[16..24].copy_from_slice(&[0; 8]);
    assert!(file("zero.png", &huge).to_string().contains("0x0"));
}

/// Black according to the meaning of the samples: neutral chroma, black of the range, no alpha.
#[test]
fn black_is_black_in_every_format() {
    let s = crate::util::Session::new();
    for (name, codec, pix) in [
        ("j2k", "libopenjpeg", "yuv420p"),
        ("deep.j2k", "libopenjpeg", "yuv422p10"),
        ("jp2", "libopenjpeg", "rgb24"),
    ] {
        let ext = name.rsplit('.').next().unwrap();
        let line = format!(
            "-v error -f lavfi -i testsrc2=size=64x48 -frames:v 3 -c:v {codec} -pix_fmt {pix} {name}.%d.{ext}"
        );
        s.tool("ffmpeg", &line);
        std::fs::remove_file(s.path(&format!("{name}.2.{ext}"))).unwrap();
        s.run(&format!("render {name}.@.{ext} {name}.@.png --missing black")).ok();
        let (_, frame) = super::one(s.path(&format!("{name}.2.png")));
        frame.for_each_row(|row| assert!(row.iter().all(|&v| v == 0), "{name}"));
    }
    // the user's option for the meaning of samples applies to these, too
    sequence(&s.path(""), &[1, 3]);
    let y4m = s.run("render a.####.png - --missing black --frames 2 --range limited").ok().out;
    assert!(y4m.ends_with(&[16; 6]), "{:?}", &y4m[y4m.len() - 6..]);
}

#[test]
fn recognising() {
    use grainfield::{sink, source};
    use std::ffi::OsStr;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("clip#1.y4m"), b"YUV4MPEG2").unwrap();
    std::fs::write(dir.path().join("photo"), b"\xff\xd8\xff\xe0").unwrap();
    let there = |name: &str| source::sequence::recognises(dir.path().join(name).as_os_str());
    assert!(there("") && there("photo") && !there("clip#1.y4m"));
    for (input, want) in
        [("a.png", true), ("a.%04d.exr", true), ("a.####", true), ("*.png", true), ("*", true)]
            .into_iter()
            .chain([("a.y4m", false), ("a%d.mp4", false), ("*.mp4", false), ("-", false), ("", false)])
    {
        assert_eq!(source::sequence::recognises(OsStr::new(input)), want, "{input}");
    }
    for (output, want) in [
        ("a.png", true),
        ("dir/", true),
        ("a.####.exr", true),
        ("a.####", true),
        ("take#2.mp4", false),
        ("a.y4m", false),
        ("-", false),
    ] {
        assert_eq!(sink::sequence::recognises(OsStr::new(output)), want, "{output}");
    }
}
