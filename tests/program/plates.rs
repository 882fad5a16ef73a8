//! Particles alone, as pictures with alpha for compositing in another program.

use crate::util::Session;
use grainfield::format::images;
use grainfield_filters::frame::{Alpha, Depth, Frame};

const PLATE: &str = "pattern:transparent:size=128x72:frames=3";
const CHAIN: &str = "-f particles=preset=embers:amount=2:size=3 -q";

/// Premultiplied R, G, B, and alpha, 0 to 1, row by row.
fn laid(frame: &Frame) -> Vec<[f32; 4]> {
    let format = frame.format();
    let (w, h) = format.plane_size(0);
    let top = if let Depth::Bits(bits) = format.depth { ((1u32 << bits) - 1) as f32 } else { 1.0 };
    let at = |p: usize, x: usize, y: usize| match format.depth.bytes() {
        1 => f32::from(frame.row::<u8>(p, y)[x]) / top,
        2 => f32::from(frame.row::<u16>(p, y)[x]) / top,
        _ => frame.row::<f32>(p, y)[x],
    };
    let mut all = Vec::new();
    for y in 0..h {
        for x in 0..w {
            let a = at(3, x, y);
            let by = if format.alpha == Alpha::Straight { a } else { 1.0 };
            // Added light may exceed white in float pictures.
            all.push([at(2, x, y) * by, at(0, x, y) * by, at(1, x, y) * by, a].map(|v| v.min(1.0)));
        }
    }
    all
}

fn close(a: &[[f32; 4]], b: &[[f32; 4]], most: f32, what: &str) {
    assert_eq!(a.len(), b.len());
    let worst = a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst <= most, "{what}: {worst}");
}

#[test]
fn particles_alone_have_the_same_alpha_everywhere() {
    let s = Session::new();
    s.run(&format!("render {PLATE}:format=gbrapf32:alpha=premultiplied p.%03d.exr {CHAIN} --transfer keep"))
        .ok();
    let exr = images::read(&s.path("p.002.exr")).unwrap();
    assert_eq!((exr.format().alpha, exr.format().depth), (Alpha::Premultiplied, Depth::Float));
    let want = laid(&exr);
    let seen = want.iter().filter(|p| p[3] > 0.5).count();
    assert!(seen > 20 && want.iter().any(|p| p[3] == 0.0), "{seen}");
    // Straight, in 8 and in 16 bits.
    for (format, most) in [("gbrap", 0.01), ("gbrap16", 0.001)] {
        s.run(&format!("render {PLATE}:format={format} s.%03d.png {CHAIN} -y")).ok();
        let png = images::read(&s.path("s.002.png")).unwrap();
        assert_eq!(png.format().alpha, Alpha::Straight);
        close(&laid(&png), &want, most, format);
    }
}

#[cfg(feature = "ffmpeg")]
#[test]
fn alpha_survives_in_video_files() {
    let s = Session::new();
    s.run(&format!("render {PLATE} s.%03d.png {CHAIN}")).ok();
    let want = laid(&images::read(&s.path("s.002.png")).unwrap());
    // FFV1 is lossless; ProRes 4444 is compressed 10-bit YUV.
    for (file, codec, most) in [("p.mkv", "ffv1", 0.0), ("p.mov", "prores_ks", 0.12)] {
        s.run(&format!("render {PLATE} {file} --codec {codec} {CHAIN}")).ok();
        s.run(&format!("frame {file} 2 back.png -q -y")).ok();
        let back = images::read(&s.path("back.png")).unwrap();
        assert!(back.format().has_alpha(), "{file}");
        close(&laid(&back), &want, most, file);
    }
}
