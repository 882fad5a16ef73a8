//! Cineon: files made byte by byte here; what is kept, and what is rejected.

use super::holes::stamp;
use super::{next, noisy, one, open, plan, write};
use crate::util::Session;
use grainfield::format::images::{Meta, read};
use grainfield::sink::sequence::accepts;
use grainfield::source::Missing;
use grainfield_filters::frame::{Format, Matrix, Transfer};
use std::path::Path;

/// A file like a scanner's: two by two pixels, 10 bits, with a film's edge code, a slate and user data.
struct File {
    bytes: Vec<u8>,
    little: bool,
}

/// Red, green, blue, row by row.
const PIXELS: [[u32; 3]; 4] = [[0, 1, 2], [1023, 512, 95], [685, 300, 7], [4, 5, 1022]];

impl File {
    fn word(&mut self, at: usize, value: u32) {
        let bytes = if self.little { value.to_le_bytes() } else { value.to_be_bytes() };
        self.bytes[at..at + 4].copy_from_slice(&bytes);
    }

    fn with(mut self, at: usize, byte: u8) -> File {
        self.bytes[at] = byte;
        self
    }

    fn new(little: bool) -> File {
        let mut file = File { bytes: vec![0; 2048 + 12 + 16], little };
        file.word(0, 0x802a_5fd7);
        file.word(4, 2060);
        file.word(8, 1024);
        file.word(12, 1024);
        file.word(16, 12);
        file.word(20, 2076);
        file.bytes[24..28].copy_from_slice(b"V4.5");
        file.bytes[193] = 3;
        for i in 0..3 {
            let at = 196 + 28 * i;
            file.bytes[at + 1] = i as u8 + 1;
            file.bytes[at + 2] = 10;
            file.word(at + 4, 2);
            file.word(at + 8, 2);
            file.word(at + 20, 1023);
            file.word(at + 24, 2.046f32.to_bits());
        }
        file.bytes[681] = 5;
        file.bytes[844..850].copy_from_slice(b"Genesi");
        file.word(972, 160.0f32.to_bits());
        file.word(976, 160.0f32.to_bits());
        file.bytes[1024..1027].copy_from_slice(&[2, 45, 3]);
        file.word(1028, 123_456);
        file.word(1032, 7890);
        file.word(1068, 17);
        file.word(1072, 24.0f32.to_bits());
        file.bytes[1108..1115].copy_from_slice(b"SC 12/3");
        file.bytes[2048..2060].copy_from_slice(b"user's bytes");
        for (i, [r, g, b]) in PIXELS.into_iter().enumerate() {
            file.word(2060 + 4 * i, r * 0x40_0000 + g * 0x1000 + b * 4);
        }
        file
    }

    /// Other depths, without padding.
    fn deep(little: bool, bits: u8, value: impl Fn(usize) -> u16) -> File {
        let mut file = File::new(little);
        file.bytes.truncate(2060);
        (0..3).for_each(|i| file.bytes[198 + 28 * i] = bits);
        file.bytes[681] = 0;
        for v in (0..12).map(value) {
            match (bits, little) {
                (8, _) => file.bytes.push(v as u8),
                (_, true) => file.bytes.extend(v.to_le_bytes()),
                (_, false) => file.bytes.extend(v.to_be_bytes()),
            }
        }
        file
    }
}

fn pixels(path: &Path) -> Vec<[u32; 3]> {
    let frame = read(path).unwrap();
    let sample = |p, x, y| match frame.format().depth.bytes() {
        1 => u32::from(frame.row::<u8>(p, y)[x]),
        _ => u32::from(frame.row::<u16>(p, y)[x]),
    };
    let place = |i: usize| (i % 2, i / 2);
    (0..4).map(place).map(|(x, y)| [2, 0, 1].map(|p| sample(p, x, y))).collect()
}

#[test]
fn both_byte_orders_are_read_and_written_again_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    for little in [false, true] {
        let (path, out) =
            (dir.path().join(format!("{little}.cin")), dir.path().join(format!("{little}2.cin")));
        let file = File::new(little);
        std::fs::write(&path, &file.bytes).unwrap();
        assert_eq!(pixels(&path), PIXELS, "little: {little}");
        let source = open(&path, Missing::Error).unwrap();
        let info = source.info();
        assert_eq!(info.format.name(), "gbrp10");
        assert_eq!((info.format.matrix, info.format.transfer), (Matrix::RGB, Transfer::DENSITY));
        assert!(info.notes.iter().any(|n| n.contains("logarithmic")), "{:?}", info.notes);
        let said = format!("{:?}", info.details);
        let parts =
            ["123456", "7890", "\"17\"", "\"45\"", "SC 12/3", "Genesi", "12 bytes", "three to a word"];
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");

        let (stamp, frame) = one(&path);
        write(out.as_os_str(), &plan(*frame.format(), Some(1)), &[(stamp, frame)]).unwrap();
        assert_eq!(std::fs::read(&out).unwrap(), file.bytes, "little: {little}");
    }
}

#[test]
fn other_depths_and_padded_lines_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.cin");
    for little in [false, true] {
        for (bits, scale) in [(8, 20), (16, 5000)] {
            let file = File::deep(little, bits, |i| i as u16 * scale);
            std::fs::write(&path, &file.bytes).unwrap();
            let want: Vec<[u32; 3]> =
                (0..4).map(|i| [0, 1, 2].map(|c| (i * 3 + c) * u32::from(scale))).collect();
            assert_eq!(pixels(&path), want, "{bits} bits, little: {little}");
        }
        let mut file = File::new(little);
        file.word(684, 5);
        file.bytes.splice(2068..2068, [9; 5]);
        std::fs::write(&path, &file.bytes).unwrap();
        assert_eq!(pixels(&path), PIXELS);
    }
}

#[test]
fn a_header_without_film_is_filled_up() {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("a.cin"), dir.path().join("b.cin"));
    for little in [false, true] {
        let mut file = File::new(little);
        file.bytes.drain(1024..2060);
        [(4, 1024), (12, 0), (16, 0)].into_iter().for_each(|(at, value)| file.word(at, value));
        std::fs::write(&path, &file.bytes).unwrap();
        assert_eq!(pixels(&path), PIXELS);
        assert!(!format!("{:?}", open(&path, Missing::Error).unwrap().info().details).contains("edge"));
        let (stamp, frame) = one(&path);
        let plan = grainfield::sink::Plan { overwrite: true, ..plan(*frame.format(), Some(1)) };
        write(out.as_os_str(), &plan, &[(stamp, frame)]).unwrap();
        assert_eq!(pixels(&out), PIXELS);
        let written = std::fs::read(&out).unwrap();
        let rate: [u8; 4] = written[1072..1076].try_into().unwrap();
        let rate = if little { u32::from_le_bytes(rate) } else { u32::from_be_bytes(rate) };
        assert_eq!((written.len(), rate), (2064, 0x7f80_0000), "not given, in this file's byte order");
    }
}

#[test]
fn other_kinds_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("odd.cin");
    let new = || File::new(false);
    for (file, part) in [
        (new().with(193, 1), "1 channels"),
        (new().with(192, 1), "upside down"),
        (new().with(192, 99), "orientation 99"),
        (new().with(226, 8), "channel 2"),
        (new().with(197, 3).with(253, 1), "another order"),
        (new().with(680, 2), "interleaving 2"),
        (new().with(681, 6), "packing 6"),
        (new().with(682, 1), "signed"),
        (new().with(198, 12).with(226, 12).with(254, 12), "12 bits"),
        (new().with(4, 1), "at byte"),
        (new().with(6, 0).with(7, 0), "at byte"),
        (new().with(200, 0xff).with(228, 0xff).with(256, 0xff), "width and height"),
        (new().with(201, 0).with(203, 0).with(231, 0).with(259, 0), "width and height"),
        (new().with(202, 9).with(230, 9).with(258, 9), "ends inside"),
        (new().with(684, 9), "ends inside"),
    ] {
        std::fs::write(&path, &file.bytes).unwrap();
        let error = open(&path, Missing::Error).err().unwrap().to_string();
        assert!(error.contains(part) && error.contains("odd.cin"), "{part}: {error}");
    }
    let whole = new().bytes;
    for len in [4, 1023, 1024, 2059, 2060, 2075] {
        std::fs::write(&path, &whole[..len]).unwrap();
        let error = open(&path, Missing::Error).err().unwrap().to_string();
        assert!(error.contains("odd.cin"), "{len} bytes: {error}");
    }
}

#[test]
fn pictures_without_a_header_get_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.cin");
    for (name, is) in
        [("yuva444p12", "gbrp10"), ("gray", "gbrp10"), ("gbrap16", "gbrp10"), ("gbrp", "gbrp10")]
    {
        let format = accepts(path.as_os_str(), &Format::from_name(name, 7, 3).unwrap()).unwrap();
        assert_eq!(format.name(), is, "{name}");
        assert_eq!(accepts(path.as_os_str(), &format).unwrap(), format);
    }
    let frame = noisy(Format::from_name("gbrp10", 7, 3).unwrap());
    write(path.as_os_str(), &plan(*frame.format(), Some(1)), &[(stamp(0), frame.clone())]).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 2048 + 7 * 3 * 4);
    assert_eq!(bytes[..8], [0x80, 0x2a, 0x5f, 0xd7, 0, 0, 8, 0]);
    assert_eq!(bytes[20..24], (bytes.len() as u32).to_be_bytes());
    assert_eq!(
        (&bytes[193..194], &bytes[196..208]),
        (&[3][..], &[0, 1, 10, 255, 0, 0, 0, 7, 0, 0, 0, 3][..])
    );
    let again = read(&path).unwrap();
    assert!((0..3).all(|p| (0..3).all(|y| frame.row::<u16>(p, y) == again.row::<u16>(p, y))));
    let (stamp, _) = next(&mut *open(&path, Missing::Error).unwrap()).unwrap().unwrap();
    let meta = stamp.carried.unwrap().downcast::<Meta>().unwrap();
    assert!(meta.density.is_none() && meta.cineon.is_some());
}

#[test]
fn sequences_keep_numbers_and_edge_codes() {
    let s = Session::new();
    for (number, count) in [(1001, 10), (1002, 11), (1004, 13)] {
        let mut file = File::new(number == 1002);
        file.word(1032, count);
        s.write(&format!("plate.{number}.cin"), &file.bytes);
    }
    s.run("render plate.####.cin out.####.cin").ends(1).says("plate.1003.cin");
    for name in ["out.1001.cin", "out.1002.cin"] {
        std::fs::remove_file(s.path(name)).ok();
    }
    s.run("render plate.####.cin out.####.cin --missing black").ok().says("logarithmic");
    for number in [1001, 1002, 1004] {
        let name = |stem| format!("{stem}.{number}.cin");
        assert_eq!(s.read(&name("out")), s.read(&name("plate")), "{number}");
    }
    // black, with the same film data, but without the edge code of another frame
    let hole = s.read("out.1003.cin");
    assert_eq!((&hole[1024..1026], &hole[1032..1036], hole[1108]), (&[2, 45][..], &[0xff; 4][..], b'S'));
    assert!(hole[2060..].iter().all(|&b| b == 0));
    s.run("hash plate.1001.cin").ok();
    s.run("probe plate.1001.cin").ok();
    s.run("render pattern:bars:size=64x36:frames=1 bars.cin").ok().says("film density");
    assert_eq!(s.read("bars.cin").len(), 2048 + 64 * 36 * 4);
    s.write("plate.1005.cin", &s.read("plate.1004.cin")[..2070]);
    s.run("render plate.####.cin cut.####.cin --missing hold --frames 1004-").ends(1).says("plate.1005.cin");
}
