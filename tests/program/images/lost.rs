//! Properties that are lost are reported, and an error on request; a picture's own properties are used.

use super::holes::stamp;
use super::tiff::{file, shorts};
use super::{noisy, one, plan, write};
use crate::util::Session;
use exr::prelude::*;
use grainfield_filters::frame::{Format as Picture, Transfer};

/// It succeeds with this warning, and fails with `--strict`.
fn names(s: &Session, line: &str, part: &str) {
    warns(s, line, part);
    s.run(&format!("{line} -y --strict")).ends(1).says(part);
}

fn warns(s: &Session, line: &str, part: &str) {
    let said = s.run(&format!("{line} -y")).ok().err;
    let warned = said.lines().any(|l| l.starts_with("warning:") && l.contains(part));
    assert!(warned, "{line}: {part:?} is not in {said}");
}

fn keeps(s: &Session, line: &str) {
    s.run(&format!("{line} -y --strict")).ok();
}

/// A PNG of 2x1 pixels RGB, the second chunk as given.
fn png(name: &[u8; 4], chunk: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut info = ::png::Info::with_size(2, 1);
    (info.color_type, info.bit_depth) = (::png::ColorType::Rgb, ::png::BitDepth::Eight);
    let mut writer = ::png::Encoder::with_info(&mut out, info).unwrap().write_header().unwrap();
    writer.write_chunk(::png::chunk::ChunkType(*name), chunk).unwrap();
    writer.write_image_data(&[128, 64, 255, 0, 10, 200]).unwrap();
    drop(writer);
    out
}

#[test]
fn the_gamma_of_a_png() {
    let s = Session::new();
    // linear light has a tag
    s.write("linear.png", png(b"gAMA", &100_000u32.to_be_bytes()));
    assert_eq!(one(s.path("linear.png")).1.format().transfer, Transfer::LINEAR);
    keeps(&s, "render linear.png out.png");
    assert!(s.read("out.png").windows(8).any(|w| w == b"gAMA\0\x01\x86\xa0"), "the chunk stays");
    keeps(&s, "render linear.png out.exr");
    let (_, light) = one(s.path("out.exr"));
    assert!((light.row::<f32>(2, 0)[0] - 128.0 / 255.0).abs() < 1e-4, "light stays light");
    for out in ["out.tif", "out.jpg", "out.webp", "out.y4m"] {
        names(&s, &format!("render linear.png {out}"), "transfer");
    }
    #[cfg(feature = "ffmpeg")]
    keeps(&s, "render linear.png out.dpx");
    // any other gamma is reported
    s.write("other.png", png(b"gAMA", &55_556u32.to_be_bytes()));
    keeps(&s, "render other.png out.png");
    for out in ["out.tif", "out.exr", "out.y4m"] {
        names(&s, &format!("render other.png {out}"), "the gamma 0.55556");
    }
    // the gamma of nearly all files stands for sRGB
    s.write("usual.png", png(b"gAMA", &45_455u32.to_be_bytes()));
    keeps(&s, "render usual.png out.tif");
    let wide = [31_270u32, 32_900, 70_800, 29_200, 17_000, 79_700, 13_100, 4_600];
    s.write("wide.png", png(b"cHRM", &wide.map(u32::to_be_bytes).concat()));
    keeps(&s, "render wide.png out.png");
    names(&s, "render wide.png out.tif", "the chromaticities");
}

#[test]
fn a_png_of_wrong_checksums() {
    let s = Session::new();
    let good = png(b"tEXt", b"a\0b");
    s.write("good.png", &good);
    keeps(&s, "render good.png out.png");
    let at = |name: &[u8]| good.windows(4).position(|w| w == name).unwrap();
    let (data, end) = (at(b"IDAT"), at(b"IEND"));
    // the checksum of the data, then that of its chunk, and of both, of the last byte of data before them
    for (name, place) in [("crc.png", end - 5), ("data.png", data + 6)] {
        let mut bad = good.clone();
        bad[place] ^= 1;
        s.write(name, bad);
        s.run(&format!("render {name} out.png -y")).ends(1).says(name);
    }
    let mut sum = good.clone();
    sum[end - 9] ^= 1;
    let crc = png_crc(&sum[data..end - 8]);
    sum[end - 8..end - 4].copy_from_slice(&crc.to_be_bytes());
    s.write("sum.png", sum);
    s.run("render sum.png out.png -y").ends(1).says("sum.png");
    // of a text after the picture, which affects no sample
    let text = b"tEXta\0b";
    let mut late = good[..end - 4].to_vec();
    late.extend(3u32.to_be_bytes());
    late.extend(text);
    late.extend([1, 2, 3, 4]);
    late.extend(&good[end - 4..]);
    s.write("late.png", late);
    s.run("render late.png out.png -y").ok();
}

/// The cyclic redundancy check of PNG, annex D.
fn png_crc(bytes: &[u8]) -> u32 {
    let step = |c: u32| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 };
    !bytes.iter().fold(u32::MAX, |sum, &b| (0..8).fold(sum ^ u32::from(b), |c, _| step(c)))
}

#[test]
fn channels_of_a_tiff_beside_the_colours() {
    let s = Session::new();
    s.write("one.tif", file(1, 1, 4, 2, vec![shorts(338, &[0])], &[10, 20, 30, 99]));
    s.write("alpha.tif", file(1, 1, 4, 2, vec![shorts(338, &[2])], &[10, 20, 30, 99]));
    for out in ["out.tif", "out.png", "out.y4m"] {
        names(&s, &format!("render one.tif {out}"), "an extra channel");
    }
    keeps(&s, "render alpha.tif out.tif");
    s.write("grey.tif", file(2, 1, 1, 1, Vec::new(), &[1, 2]));
    keeps(&s, "render grey.tif out.tif");
}

/// A baseline JPEG of 8x8 pixels with four components of the middle value.
fn cmyk() -> Vec<u8> {
    let mut f = vec![0xff, 0xd8];
    let mut segment = |marker: u8, body: &[u8]| {
        f.extend([0xff, marker]);
        f.extend((body.len() as u16 + 2).to_be_bytes());
        f.extend(body);
    };
    segment(0xee, b"Adobe\0\x64\0\0\0\0\0");
    segment(0xdb, &[[0].as_slice(), &[1; 64]].concat());
    segment(0xc0, &[8, 0, 8, 0, 8, 4, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0]);
    // one code of one bit each: no difference, and the end of the block
    for class in [0x00, 0x10] {
        segment(0xc4, &[[class, 1].as_slice(), &[0; 15], &[0]].concat());
    }
    segment(0xda, &[4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0]);
    f.extend([0, 0xff, 0xd9]);
    f
}

#[test]
fn inks_of_a_jpeg() {
    let s = Session::new();
    s.write("inks.jpg", cmyk());
    for out in ["out.png", "out.jpg", "out.y4m"] {
        names(&s, &format!("render inks.jpg {out}"), "CMYK");
    }
    let format = Picture::from_name("gbrp", 8, 8).unwrap();
    write(s.path("light.jpg").as_os_str(), &plan(format, Some(1)), &[(stamp(0), noisy(format))]).unwrap();
    keeps(&s, "render light.jpg out.png");
}

#[test]
fn pictures_behind_the_first() {
    let s = Session::new();
    let single = file(1, 1, 3, 2, Vec::new(), &[1, 2, 3]);
    s.write("single.tif", &single);
    // another directory after the first, with the same contents
    let first = u32::from_be_bytes(single[4..8].try_into().unwrap()) as usize;
    let count = usize::from(u16::from_be_bytes([single[first], single[first + 1]]));
    let mut pages = single.clone();
    let second = pages.len().next_multiple_of(2);
    pages.resize(second, 0);
    pages.extend_from_slice(&single[first..first + 2 + 12 * count + 4]);
    let next = first + 2 + 12 * count;
    pages[next..next + 4].copy_from_slice(&(second as u32).to_be_bytes());
    s.write("pages.tif", &pages);
    for out in ["out.png", "out.tif", "out.y4m"] {
        names(&s, &format!("render pages.tif {out}"), "all pictures but the first");
    }
    keeps(&s, "render single.tif out.tif");
}

#[test]
fn layers_and_attributes_of_openexr() {
    let s = Session::new();
    let layer = |name: &str, channels: &[&str]| {
        let list = channels.iter().map(|c| AnyChannel::new(*c, FlatSamples::F32(vec![0.5; 4])));
        let mut attributes = LayerAttributes::named(name);
        attributes.owner = Some(Text::from("Somebody"));
        attributes.other.insert("shot".into(), attribute::AttributeValue::Text("12".into()));
        Layer::new((2, 2), attributes, Encoding::UNCOMPRESSED, AnyChannels::sort(list.collect()))
    };
    let layers = vec![layer("beauty", &["R", "G", "B", "A", "Z"]), layer("mask", &["Y"])];
    let attributes = ImageAttributes::new(IntegerBounds::from_dimensions((2, 2)));
    Image::from_layers(attributes, layers).write().to_file(s.path("in.exr")).unwrap();
    keeps(&s, "render in.exr out.exr");
    for out in ["out.png", "out.tif", "out.y4m"] {
        for part in ["channels (beauty.Z, mask.Y)", "the owner", "attributes (shot)"] {
            warns(&s, &format!("render in.exr {out}"), part);
        }
    }
    names(&s, "render in.exr out.tif", "the owner");
    names(&s, "render in.exr out.exr --pix-fmt gbrpf32", "channels (beauty.Z, mask.Y)");
    let said = s.run("render out.png plain.exr").ok().err + &s.run("render plain.exr plain.tif").ok().err;
    assert!(!said.contains("warning:"), "{said}");
}
