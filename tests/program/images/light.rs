//! Straight and premultiplied alpha, linear and display light, from file to file.

use super::holes::stamp;
use super::{one, plan, write};
use crate::util::Session;
use grainfield_filters::frame::{Alpha, Format, Frame, Transfer};

fn srgb(l: f64) -> f64 {
    if l <= 0.0031308 { l * 12.92 } else { 1.055 * l.powf(1.0 / 2.4) - 0.055 }
}

/// Straight linear colours and alphas: a row each.
const PIXELS: [[f64; 4]; 5] = [
    [0.5, 0.18, 0.02, 1.0],
    [0.5, 0.18, 0.02, 0.5],
    [1.0, 0.001, 0.75, 0.25],
    [0.0, 0.0, 0.0, 0.0],
    [2.0, 0.25, -0.1, 0.75],
];

fn exr(s: &Session) {
    let format = Format {
        alpha: Alpha::Premultiplied,
        transfer: Transfer::LINEAR,
        ..Format::from_name("gbrapf32", 2, 5).unwrap()
    };
    let mut frame = Frame::new(format);
    for (y, [r, g, b, a]) in PIXELS.into_iter().enumerate() {
        for (p, v) in [g * a, b * a, r * a, a].into_iter().enumerate() {
            frame.row_mut::<f32>(p, y).fill(v as f32);
        }
    }
    write(s.path("a.exr").as_os_str(), &plan(format, Some(1)), &[(stamp(0), frame)]).unwrap();
}

#[test]
fn openexr_becomes_png_and_comes_back() {
    let s = Session::new();
    exr(&s);
    let run = s.run("render a.exr a.png").ok();
    assert!(
        run.err.contains("linear light -> sRGB") && run.err.contains("premultiplied -> straight"),
        "{}",
        run.err
    );
    let (_, png) = one(s.path("a.png"));
    assert_eq!((png.format().name().as_str(), png.format().alpha), ("gbrap16", Alpha::Straight));
    for (y, [r, g, b, a]) in PIXELS.into_iter().enumerate() {
        for (p, v) in [srgb(g), srgb(b), srgb(r), a].into_iter().enumerate() {
            let want = v.clamp(0.0, 1.0) * 65535.0;
            let got = f64::from(png.row::<u16>(p, y)[1]);
            assert!((want - got).abs() <= 0.75, "row {y} plane {p}: {got} for {want}");
        }
    }
    // and back: the PNG has no transfer tag, so sRGB is assumed, with a note
    let run = s.run("render a.png b.exr").ok();
    assert!(
        run.err.contains("sRGB -> linear light") && run.err.contains("straight -> premultiplied"),
        "{}",
        run.err
    );
    let (_, back) = one(s.path("b.exr"));
    for (y, [r, g, b, a]) in PIXELS.into_iter().enumerate() {
        for (p, v) in [g, b, r].into_iter().enumerate() {
            let want = v.clamp(0.0, 1.0) * a;
            let got = f64::from(back.row::<f32>(p, y)[0]);
            assert!((want - got).abs() < 4e-5, "row {y} plane {p}: {got} for {want}");
        }
    }
}

#[test]
fn transfer_overrides_the_tags() {
    let s = Session::new();
    exr(&s);
    let code = |file: &str, y: usize| f64::from(one(s.path(file)).1.row::<u16>(2, y)[0]) / 65535.0;
    s.run("render a.exr keep.png --transfer keep").ok();
    assert!((code("keep.png", 1) - 0.5).abs() < 1e-4, "straight, and linear still");
    s.run("render a.exr hd.png --transfer bt709").ok();
    assert!((code("hd.png", 1) - 0.5f64.powf(1.0 / 2.4)).abs() < 1e-4);
    s.run("render a.exr same.png --transfer srgb:srgb").ok();
    assert!((code("same.png", 1) - 0.5).abs() < 1e-4, "the input is said to be sRGB");
    s.run("render keep.png light.exr --transfer linear:linear").ok();
    let (_, frame) = one(s.path("light.exr"));
    assert!((frame.row::<f32>(2, 1)[0] - 0.25).abs() < 1e-4);
    s.run("render a.exr x.png --transfer nonsense").ends(2);
}

#[test]
fn other_formats_get_their_usual_transfer() {
    let s = Session::new();
    exr(&s);
    s.run("render a.exr a.tif").ok();
    let (_, tiff) = one(s.path("a.tif"));
    assert_eq!((tiff.format().alpha, tiff.format().transfer), (Alpha::Premultiplied, Transfer::LINEAR));
    assert_eq!(tiff.row::<f32>(2, 1)[0], 0.25);
    s.run("render a.exr i.tif --pix-fmt gbrap16").ok();
    let (_, tiff) = one(s.path("i.tif"));
    assert_eq!(tiff.format().alpha, Alpha::Premultiplied);
    assert!((f64::from(tiff.row::<u16>(2, 1)[0]) / 65535.0 - srgb(0.5) * 0.5).abs() < 2e-5);
    s.run("render a.exr n.png --pix-fmt gbrp16").ok();
    // without alpha: the picture over black
    assert!((f64::from(one(s.path("n.png")).1.row::<u16>(2, 1)[0]) / 65535.0 - srgb(0.25)).abs() < 2e-5);
}

/// Video is BT.709 display light, straight.
#[test]
fn prores_4444_takes_openexr() {
    let s = Session::new();
    let format = Format {
        alpha: Alpha::Premultiplied,
        transfer: Transfer::LINEAR,
        ..Format::from_name("gbrapf32", 64, 64).unwrap()
    };
    let mut frame = Frame::new(format);
    for p in 0..4 {
        (0..64).for_each(|y| frame.row_mut::<f32>(p, y).fill(if p == 3 { 0.5 } else { 0.18 * 0.5 }));
    }
    write(s.path("a.1.exr").as_os_str(), &plan(format, Some(1)), &[(stamp(0), frame)]).unwrap();
    let run = s.run("render a.1.exr a.mov --codec prores_ks --pix-fmt yuva444p10").ok();
    assert!(run.err.contains("premultiplied -> straight"), "{}", run.err);
    let told =
        s.tool("ffprobe", "-v error -show_entries stream=color_transfer,pix_fmt -of csv=p=0 a.mov").text();
    assert!(told.contains("bt709") && told.contains("yuva444p"), "{told}");
    let raw = s.tool("ffmpeg", "-v error -i a.mov -f rawvideo -pix_fmt yuva444p16le -").out;
    let sample = |p: usize| f64::from(u16::from_le_bytes([raw[p * 8192 + 4000], raw[p * 8192 + 4001]]));
    let luma = (sample(0) / 256.0 - 16.0) / 219.0;
    assert!((luma - 0.18f64.powf(1.0 / 2.4)).abs() < 0.01, "{luma}");
    assert!((sample(3) / 65535.0 - 0.5).abs() < 0.01);
}

/// Film density has no transfer curve: values stay, and converting it is an error with advice.
#[test]
fn density_is_not_converted() {
    let s = Session::new();
    let format = Format::from_name("gbrp10", 4, 4).unwrap();
    let format = grainfield::sink::sequence::accepts("a.cin".as_ref(), &format).unwrap();
    let frame = super::noisy(format);
    write(s.path("a.cin").as_os_str(), &plan(format, Some(1)), &[(stamp(0), frame.clone())]).unwrap();
    s.run("render a.cin a.exr").ok();
    let (_, exr) = one(s.path("a.exr"));
    assert!((exr.row::<f32>(0, 0)[0] * 1023.0 - f32::from(frame.row::<u16>(0, 0)[0])).abs() < 1e-3);
    let run = s.run("render a.cin b.exr --transfer linear").ends(2);
    assert!(run.err.contains("density") && run.err.contains("--transfer"), "{}", run.err);
}

#[test]
fn what_is_brighter_than_white_stays_where_the_output_has_room() {
    let s = Session::new();
    s.run("frame pattern:ramp:size=64x8:format=gbrp16 0 a.png").ok();
    s.run("frame a.png 0 a.exr -f levels=white=0.5 --transfer keep").ok();
    let (_, frame) = one(s.path("a.exr"));
    let most = frame.row::<f32>(0, 3).iter().fold(0.0, |a: f32, b| a.max(*b));
    assert!((most - 2.0).abs() < 0.01, "{most}");
}
