//! TIFF: tags, alpha, compression, orientation; files made byte by byte here.

use super::one;
use crate::util::Session;
use grainfield_filters::frame::Alpha;

/// A value of a tag: type and bytes.
pub(super) type Tag = (u16, u16, Vec<u8>);

fn ascii(tag: u16, text: &str) -> Tag {
    (tag, 2, [text.as_bytes(), &[0]].concat())
}

pub(super) fn shorts(tag: u16, values: &[u16]) -> Tag {
    (tag, 3, values.iter().flat_map(|v| v.to_be_bytes()).collect())
}

/// A big-endian file of one strip.
pub(super) fn file(
    width: u16,
    height: u16,
    samples: u16,
    photometric: u16,
    more: Vec<Tag>,
    data: &[u8],
) -> Vec<u8> {
    let mut tags = vec![
        shorts(256, &[width]),
        shorts(257, &[height]),
        shorts(258, &vec![8; samples.into()]),
        shorts(262, &[photometric]),
        shorts(277, &[samples]),
        shorts(278, &[height]),
        (273, 4, 8u32.to_be_bytes().to_vec()),
        (279, 4, (data.len() as u32).to_be_bytes().to_vec()),
    ];
    if !more.iter().any(|t| t.0 == 259) {
        tags.push(shorts(259, &[1]));
    }
    tags.extend(more);
    tags.sort();
    let mut out = b"MM\0\x2a\0\0\0\0".to_vec();
    out.extend_from_slice(data);
    out.resize(out.len().next_multiple_of(2), 0);
    let first = out.len();
    out[4..8].copy_from_slice(&(first as u32).to_be_bytes());
    let mut behind = first + 2 + 12 * tags.len() + 4;
    let mut values = Vec::new();
    out.extend((tags.len() as u16).to_be_bytes());
    for (tag, kind, bytes) in &tags {
        let size = [1, 1, 1, 2, 4, 8, 1, 1][usize::from(*kind)];
        out.extend(tag.to_be_bytes());
        out.extend(kind.to_be_bytes());
        out.extend(((bytes.len() / size) as u32).to_be_bytes());
        if bytes.len() <= 4 {
            let mut place = bytes.clone();
            place.resize(4, 0);
            out.extend(place);
        } else {
            out.extend((behind as u32).to_be_bytes());
            behind += bytes.len();
            values.extend_from_slice(bytes);
        }
    }
    out.extend([0; 4]);
    out.extend(values);
    out
}

/// The value of a tag in a little-endian file's first directory.
fn tag(file: &[u8], wanted: u16) -> Option<Vec<u8>> {
    let short = |at: usize| u16::from_le_bytes([file[at], file[at + 1]]);
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let first = word(4);
    let at = (0..usize::from(short(first))).map(|i| first + 2 + 12 * i).find(|&at| short(at) == wanted)?;
    let size = [1, 1, 1, 2, 4, 8, 1, 1][usize::from(short(at + 2))] * word(at + 4);
    let place = if size <= 4 { at + 8 } else { word(at + 8) };
    Some(file[place..place + size].to_vec())
}

#[test]
fn tags_and_compression_stay() {
    let s = Session::new();
    let ratio = |tag, n: u32| (tag, 5, [n.to_be_bytes(), 1u32.to_be_bytes()].concat());
    let tags = vec![
        ascii(270, "a plate of the harbour"),
        shorts(274, &[6]),
        ratio(282, 300),
        ratio(283, 150),
        shorts(296, &[2]),
        ascii(305, "Scanner 3"),
        ascii(315, "Some Artist"),
        ascii(33432, "Copyright Somebody"),
        (700, 1, b"<x:xmpmeta/>".to_vec()),
    ];
    s.write("a.tif", file(2, 1, 3, 2, tags.clone(), &[1, 2, 3, 4, 5, 6]));
    let run = s.run("render a.tif b.tif --strict").ok();
    assert!(run.err.contains("upright"), "{}", run.err);
    let out = s.read("b.tif");
    for (code, kind, value) in tags {
        let got = tag(&out, code).unwrap_or_else(|| panic!("tag {code} is gone"));
        match kind {
            1 | 2 => assert_eq!(got, value, "{code}"),
            3 => assert_eq!(got[0], value[1], "{code}"),
            _ => assert_eq!(
                u32::from_le_bytes(got[..4].try_into().unwrap()).to_be_bytes(),
                value[..4],
                "{code}"
            ),
        }
    }
    assert_eq!((tag(&out, 256).unwrap()[0], tag(&out, 257).unwrap()[0]), (2, 1), "stored as it was");
    let (_, frame) = one(s.path("b.tif"));
    assert_eq!((frame.format().width, frame.format().height), (1, 2));
    assert_eq!((frame.row::<u8>(2, 0)[0], frame.row::<u8>(2, 1)[0]), (1, 4));
    // compressed in the same way by ffmpeg
    for (name, code) in [("lzw", 5), ("deflate", 8), ("packbits", 32773u16), ("raw", 1)] {
        let line = format!(
            "-v error -f lavfi -i testsrc2=size=64x48 -frames:v 1 -pix_fmt rgb24 -compression_algo {name} {name}.tif"
        );
        s.tool("ffmpeg", &line);
        s.run(&format!("render {name}.tif {name}.out.tif")).ok();
        let got = tag(&s.read(&format!("{name}.out.tif")), 259).unwrap();
        assert_eq!(u16::from_le_bytes([got[0], got[1]]), code, "{name}");
        let raw = |f: &str| s.tool("ffmpeg", &format!("-v error -i {f} -f rawvideo -pix_fmt rgb24 -")).out;
        assert!(raw(&format!("{name}.tif")) == raw(&format!("{name}.out.tif")), "{name}");
    }
    // other formats report them
    let run = s.run("render a.tif c.png --strict");
    assert_ne!(run.code, Some(0));
    for part in ["the artist", "the copyright", "the description", "XMP"] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
}

#[test]
fn alpha_follows_the_tag() {
    let s = Session::new();
    for (extra, alpha) in [(1, Alpha::Premultiplied), (2, Alpha::Straight)] {
        s.write("a.tif", file(1, 1, 4, 2, vec![shorts(338, &[extra])], &[10, 20, 30, 128]));
        let (_, frame) = one(s.path("a.tif"));
        assert_eq!(frame.format().alpha, alpha);
        s.run("render a.tif b.tif -y").ok();
        assert_eq!(tag(&s.read("b.tif"), 338).unwrap()[0], extra as u8, "said again");
        s.run("render a.tif b.png -y").ok();
        let (_, png) = one(s.path("b.png"));
        let want = if extra == 1 { [20, 40, 60, 128] } else { [10, 20, 30, 128] };
        assert_eq!([2, 0, 1, 3].map(|p| png.row::<u8>(p, 0)[0]), want, "{extra}");
    }
    // also from a picture in another format
    s.run("render b.png c.tif").ok();
    assert_eq!(tag(&s.read("c.tif"), 338).unwrap()[0], 2);
}

#[test]
fn cmyk_is_reported_and_an_error_with_strict() {
    let s = Session::new();
    s.write("a.tif", file(1, 1, 4, 5, Vec::new(), &[0, 255, 255, 0]));
    let run = s.run("render a.tif b.tif").ok();
    assert!(run.err.contains("CMYK"), "{}", run.err);
    let (_, frame) = one(s.path("b.tif"));
    assert_eq!([2, 0, 1].map(|p| frame.row::<u8>(p, 0)[0]), [255, 0, 0]);
    let run = s.run("render a.tif c.tif --strict");
    assert!(run.code != Some(0) && run.err.contains("CMYK"), "{}", run.err);
}
