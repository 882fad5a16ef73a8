//! Metadata beside the samples, and samples of every kind of PNG.

use super::holes::stamp;
use super::{noisy, one, plan, write};
use grainfield::format::images::{Density, Meta, Unit};
use grainfield::sink::sequence::accepts;
use grainfield_filters::frame::{Format, Primaries, Transfer};
use grainfield_filters::ratio::Ratio;
use png::{BitDepth, ColorType};
use std::path::Path;
use std::sync::Arc;

fn icc(space: &[u8; 4]) -> Vec<u8> {
    let mut icc = vec![7; 300];
    icc[16..20].copy_from_slice(space);
    icc
}

fn encoded(info: png::Info<'_>, data: &[u8], extra: Option<([u8; 4], &[u8])>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = png::Encoder::with_info(&mut out, info).unwrap().write_header().unwrap();
    if let Some((name, chunk)) = extra {
        writer.write_chunk(png::chunk::ChunkType(name), chunk).unwrap();
    }
    writer.write_image_data(data).unwrap();
    drop(writer);
    out
}

fn info(color: ColorType, depth: BitDepth, width: u32, height: u32) -> png::Info<'static> {
    let mut info = png::Info::with_size(width, height);
    info.color_type = color;
    info.bit_depth = depth;
    info
}

/// Writes what was read under another name, and reads that.
fn through(path: &Path, ext: &str) -> Arc<Meta> {
    let (stamp, frame) = one(path);
    let out = path.with_extension(format!("out.{ext}"));
    let format = accepts(out.as_os_str(), frame.format()).unwrap();
    assert_eq!(format.name(), frame.format().name(), "the test needs no conversion");
    write(out.as_os_str(), &plan(format, Some(1)), &[(stamp, frame.clone())]).unwrap();
    let (stamp, again) = one(&out);
    if ext != "jpg" {
        frame.for_each_row(|_| ());
        assert!((0..format.planes()).all(|p| {
            (0..format.height as usize).all(|y| frame.plane(p).row_bytes(y) == again.plane(p).row_bytes(y))
        }));
    }
    stamp.carried.unwrap().downcast::<Meta>().unwrap()
}

#[test]
fn profile_and_resolution_survive() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.png");
    let mut head = info(ColorType::Rgb, BitDepth::Eight, 2, 1);
    head.icc_profile = Some(icc(b"RGB ").into());
    head.pixel_dims = Some(png::PixelDimensions { xppu: 11811, yppu: 11811, unit: png::Unit::Meter });
    head.source_gamma = Some(png::ScaledFloat::from_scaled(45455));
    head.exif_metadata = Some(b"II*\0\x08\0\0\0\0\0\0\0\0\0"[..].into());
    head.uncompressed_latin1_text.push(png::text_metadata::TEXtChunk::new("Shot", "plate 7"));
    std::fs::write(&path, encoded(head, &[1, 2, 3, 4, 5, 6], Some((*b"cICP", &[9, 16, 0, 1])))).unwrap();

    let meta = through(&path, "png");
    let png = meta.png.as_ref().unwrap();
    assert_eq!(meta.icc, Some(icc(b"RGB ")));
    assert_eq!(png.gama_chunk, Some(png::ScaledFloat::from_scaled(45455)));
    assert_eq!(png.pixel_dims.unwrap().xppu, 11811);
    assert_eq!(png.uncompressed_latin1_text[0].text, "plate 7");
    assert!(meta.exif.is_some());
    let cicp = png.coding_independent_code_points.unwrap();
    assert_eq!((cicp.color_primaries, cicp.transfer_function), (9, 16));
    let (_, frame) = one(&path);
    assert_eq!((frame.format().primaries, frame.format().transfer), (Primaries::BT2020, Transfer::PQ));

    for ext in ["tiff", "jpg", "webp"] {
        let meta = through(&path, ext);
        assert_eq!(meta.icc, Some(icc(b"RGB ")), "{ext}");
        match (ext, meta.density) {
            ("webp", _) => {}
            (_, Some(Density { x, y, unit: Unit::Inch })) => {
                assert!((x - 300.0).abs() < 0.01 && x == y, "{ext} {x}");
            }
            (_, other) => panic!("{ext}: {other:?}"),
        }
    }
    // and back again
    let meta = through(&path.with_extension("out.tiff"), "png");
    assert_eq!(meta.icc, Some(icc(b"RGB ")));
    assert_eq!(meta.png.as_ref().unwrap().pixel_dims.unwrap().xppu, 11811);
}

#[test]
fn a_profile_of_another_kind_of_pixels_is_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.png");
    let format = Format::from_name("gray", 4, 4).unwrap();
    let mut stamp = stamp(0);
    stamp.carried = Some(Arc::new(Meta { icc: Some(icc(b"RGB ")), ..Meta::default() }));
    write(path.as_os_str(), &plan(format, Some(1)), &[(stamp, noisy(format))]).unwrap();
    let meta = one(&path).0.carried.unwrap().downcast::<Meta>().unwrap();
    assert_eq!(meta.icc, None);
}

#[test]
fn srgb_and_aspect_are_tags() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.png");
    let mut format = Format::from_name("gbrp", 4, 4).unwrap();
    format.primaries = Primaries::BT709;
    format.transfer = Transfer::SRGB;
    format.aspect = Ratio::new(4, 3).unwrap();
    write(path.as_os_str(), &plan(format, Some(1)), &[(stamp(0), noisy(format))]).unwrap();
    let (stamp, frame) = one(&path);
    assert_eq!(frame.format().aspect, Ratio::new(4, 3).unwrap());
    assert_eq!((frame.format().primaries, frame.format().transfer), (Primaries::BT709, Transfer::SRGB));
    let meta = stamp.carried.unwrap().downcast::<Meta>().unwrap();
    assert!(meta.png.as_ref().unwrap().srgb.is_some());
}

#[test]
fn palettes_bits_and_transparent_colours_are_expanded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.png");
    let check = |info: png::Info<'_>, data: &[u8], name: &str, planes: &[&[u8]]| {
        std::fs::write(&path, encoded(info, data, None)).unwrap();
        let (_, frame) = one(&path);
        assert_eq!(frame.format().name(), name);
        for (p, want) in planes.iter().enumerate() {
            assert_eq!(frame.plane(p).row_bytes(0), *want, "{name} plane {p}");
        }
    };
    let mut palette = info(ColorType::Indexed, BitDepth::Two, 3, 1);
    palette.palette = Some(vec![1, 2, 3, 4, 5, 6, 7, 8, 9].into());
    check(palette.clone(), &[0b00_01_10_00], "gbrp", &[&[2, 5, 8], &[3, 6, 9], &[1, 4, 7]]);
    palette.trns = Some(vec![10, 20].into());
    check(palette, &[0b00_01_10_00], "gbrap", &[&[2, 5, 8], &[3, 6, 9], &[1, 4, 7], &[10, 20, 255]]);
    let one = BitDepth::One;
    check(
        info(ColorType::Grayscale, one, 9, 1),
        &[0b1010_1010, 0x80],
        "gray",
        &[&[255, 0, 255, 0, 255, 0, 255, 0, 255]],
    );
    check(info(ColorType::Grayscale, BitDepth::Four, 2, 1), &[0x3f], "gray", &[&[51, 255]]);
    let mut gray = info(ColorType::Grayscale, BitDepth::Eight, 2, 1);
    gray.trns = Some(vec![0, 7].into());
    check(gray, &[7, 8], "ya8", &[&[7, 8], &[0, 255]]);
    check(info(ColorType::Grayscale, BitDepth::Eight, 1, 1), &[99], "gray", &[&[99]]);
}

#[test]
fn further_pictures_are_reported() {
    use grainfield::source::{self, Options};
    let dir = tempfile::tempdir().unwrap();
    let told = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        source::open(path.as_os_str(), &Options::default()).unwrap().info().notes.join("\n")
    };
    let format = Format::from_name("gbrp", 3, 2).unwrap();
    let encoded = |name: &str| {
        let path = dir.path().join(name);
        write(path.as_os_str(), &plan(format, Some(1)), &[(stamp(0), super::noisy(format))]).unwrap();
        std::fs::read(path).unwrap()
    };
    let (mut tiff, webp) = (encoded("a.tif"), encoded("a.webp"));
    assert_eq!((told("one.tif", &tiff), told("one.webp", &webp)), (String::new(), String::new()));
    // the offset of the next directory follows the entries of the first
    let word = |at: usize| u32::from_le_bytes(tiff[at..at + 4].try_into().unwrap()) as usize;
    let first = word(4);
    let next = first + 2 + 12 * usize::from(u16::from_le_bytes([tiff[first], tiff[first + 1]]));
    assert_eq!(word(next), 0);
    tiff[next] = 8;
    assert_eq!(told("two.tif", &tiff), "a TIFF with more than one picture: only its first is read");
    // an animation of a single picture, the original one
    let frame = &webp[12..];
    let three = |n: usize| (n as u32).to_le_bytes()[..3].to_vec();
    let chunk = |name: &[u8], body: &[u8]| [name, &(body.len() as u32).to_le_bytes(), body].concat();
    let head = [&[2, 0, 0, 0][..], &three(2), &three(1)].concat();
    let one = [&three(0)[..], &three(0), &three(2), &three(1), &three(40), &[0], frame].concat();
    let body =
        [b"WEBP".to_vec(), chunk(b"VP8X", &head), chunk(b"ANIM", &[0; 6]), chunk(b"ANMF", &one)].concat();
    let moving = chunk(b"RIFF", &body);
    assert_eq!(told("moving.webp", &moving), "", "all of it is read");
}
