//! PPM and PGM: files made byte by byte here; what is written, what is lost, and what is rejected.

use super::{noisy, one, open, plan, write};
use crate::util::Session;
use grainfield::sink::sequence::accepts;
use grainfield::source::Missing;
use grainfield_filters::frame::Format;

/// The text of the error for a file of these bytes.
fn refused(s: &Session, file: &[u8]) -> String {
    s.write("bad.ppm", file);
    open(s.path("bad.ppm"), Missing::Error).err().unwrap().to_string()
}

#[test]
fn files_are_a_header_of_text_and_samples() {
    let s = Session::new();
    for (name, format, head) in [
        ("a.ppm", "gbrp", "P6\n3 2\n255\n"),
        ("a.pnm", "gbrp16", "P6\n3 2\n65535\n"),
        ("a.pgm", "gray", "P5\n3 2\n255\n"),
        ("grey.ppm", "gray16", "P5\n3 2\n65535\n"),
    ] {
        let frame = noisy(accepts(name.as_ref(), &Format::from_name(format, 3, 2).unwrap()).unwrap());
        write(
            s.path(name).as_os_str(),
            &plan(*frame.format(), Some(1)),
            &[(super::holes::stamp(0), frame.clone())],
        )
        .unwrap();
        let file = s.read(name);
        assert_eq!(&file[..head.len()], head.as_bytes());
        assert_eq!(file.len(), head.len() + frame.format().frame_bytes());
        let first = frame.plane(frame.format().planes() - 1).row_bytes(0);
        // big-endian; the first sample is red or grey
        let sample = if head.contains("65535") { vec![first[1], first[0]] } else { vec![first[0]] };
        assert_eq!(&file[head.len()..][..sample.len()], sample);
    }
}

#[test]
fn any_highest_value_is_scaled_to_all_codes() {
    let s = Session::new();
    for max in [1u64, 15, 100, 254, 255, 256, 1000, 1023, 4095, 16_383, 40_000, 65_534, 65_535] {
        // the last one is above the highest
        let values: Vec<u64> = (0..=200).map(|i| i * max / 200).chain([max + 1]).collect();
        let deep = max > 255;
        let kept = |v: u64| if deep { v <= 65_535 } else { v <= 255 };
        let values: Vec<u64> = values.into_iter().filter(|&v| kept(v)).collect();
        let mut file = format!("P5 {} 1 {max}\n", values.len()).into_bytes();
        for &v in &values {
            file.extend(if deep { (v as u16).to_be_bytes().to_vec() } else { vec![v as u8] });
        }
        s.write("a.pgm", &file);
        let (_, frame) = one(s.path("a.pgm"));
        let full = if deep { 65_535 } else { 255 };
        let want = values.iter().map(|&v| (v.min(max) as f64 * full as f64 / max as f64).round() as u64);
        let got: Vec<u64> = if deep {
            frame.row::<u16>(0, 0).iter().map(|&v| v.into()).collect()
        } else {
            frame.row::<u8>(0, 0).iter().map(|&v| v.into()).collect()
        };
        assert_eq!(got, want.collect::<Vec<_>>(), "highest value {max}");
    }
}

#[test]
fn headers_with_comments_and_any_white_space() {
    let s = Session::new();
    for head in [
        "P6\n# made by hand\n2 1\n255\n",
        "P6#1\n#\n\n  2# 9 9\r1\t# 7\n#\n00255 ",
        "P6\r\n2\r\n1\r\n255\n",
        "P6 2 1 255# the end of this line is the white space before the samples\n",
    ] {
        s.write("a.ppm", [head.as_bytes(), b"#12345"].concat());
        let (_, frame) = one(s.path("a.ppm"));
        let planes = [0, 1, 2].map(|p| frame.row::<u8>(p, 0).to_vec());
        assert_eq!(planes, [b"14".to_vec(), b"25".to_vec(), b"#3".to_vec()], "{head:?}");
    }
}

#[test]
fn refusals_name_the_accepted_values() {
    let s = Session::new();
    for (file, part) in [
        ("P6 2 1 255\n12345", "ends inside the picture"),
        ("P6 2 1 256\n1234567890", "ends inside the picture"),
        ("P6 2 1", "ends inside the picture"),
        ("P6 2 # 1 255\n123456", "ends inside the picture"),
        ("P6 2 -1 255\n123456", "'-' instead of a digit"),
        ("P6 2 \u{e9} 255\n123456", "'\\xc3' instead of a digit"),
        ("P6 0 1 255\n123456", "must be 1 to"),
        ("P6 99999999999999999999999 1 255\n", "must be 1 to"),
        ("P6 2 1 0\n123456", "1 to 65535"),
        ("P6 2 1 65536\n123456", "1 to 65535"),
        ("P3 1 1 255\n1 2 3\n", "not an image of a known kind"),
    ] {
        let error = refused(&s, file.as_bytes());
        assert!(error.contains(part) && error.contains("bad.ppm"), "{file:?}: {error}");
    }
    let rgb = Format::from_name("gbrp", 2, 2).unwrap();
    let error = accepts("a.PGM".as_ref(), &rgb).unwrap_err().to_string();
    assert!(error.contains("--pix-fmt gray"), "{error}");
}

#[test]
fn sequences_and_losses() {
    let s = Session::new();
    s.run("render pattern:bars:size=64x36:frames=3:format=gbrp16 a.####.ppm").ok();
    s.run("render a.####.ppm b.####.ppm --strict --frame-offset 0").ok();
    assert_eq!(s.read("a.0002.ppm"), s.read("b.0002.ppm"));
    s.run("probe a.0001.ppm").ok();
    s.run("render a.####.ppm c.####.pgm").ends(2).says("--pix-fmt gray");
    s.run("render a.####.ppm c.####.pgm --pix-fmt gray").ok();
    assert!(s.read("c.0000.pgm").starts_with(b"P5\n64 36\n255\n"));
    // no alpha, and one picture a file
    let said = s.run("render pattern:transparent:size=64x36:frames=1 alpha.ppm").ok().err;
    assert!(said.contains("warning: alpha is lost"), "{said}");
    s.run("render pattern:transparent:size=64x36:frames=1 alpha.ppm -y --strict").ends(1).says("alpha");
    let film = [s.read("a.0000.ppm"), s.read("a.0001.ppm")].concat();
    s.write("film.ppm", &film);
    s.run("render film.ppm d.ppm").ok().says("all pictures but the first");
    s.write("line.ppm", [&film[..film.len() / 2], b"\n"].concat());
    s.run("render line.ppm e.ppm --strict").ok();
    if cfg!(feature = "ffmpeg") {
        s.write("text.ppm", b"P3 1 1 255\n1 2 3\n");
        s.run("probe text.ppm").ok();
    }
}
