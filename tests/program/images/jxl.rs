//! JPEG XL: written without loss, and read with every depth.

use super::{one, open};
use grainfield::source::Missing;
use grainfield_filters::frame::{Frame, Sample};

/// Files of libjxl 0.11.2, without loss.
const FLOAT: &str = "0000000c4a584c200d0a870a00000014667479706a786c20000000006a786c20000000096a786c6c0a000000536a786c63ff0a08107200458b08040100f4004b188b15c2028c7100000036dffcffffffcfffff3f0000ee3f00a85381ffff3f0000004d00002afbefe02d1fb4ffff7f0000009a3f09fd2a586992d302";
const HALF: &str = "0000000c4a584c200d0a870a00000014667479706a786c20000000006a786c20000000096a786c6c0a000000436a786c63ff0a08104600458b08040100b4004b188b15526cb39e2c40cf26d34eb2b1b940100007c0f7bf03a501fcffdf0078addd41b6f50c406e8ffbaa1003";
const GREY: &str = "0000000c4a584c200d0a870a00000014667479706a786c20000000006a786c20000000096a786c6c0a000000376a786c63ff0a08407240d1220804010084004b188b15c202097ed8f8ffff07f4ffbf0400972200808afc1fb5cc0fdc23ac1502";
const TEN: &str =
    "ff0a08101450b408080401007c004b188b150a2501e725c1dde7ba401000ea452f7ab13a384787404bf101390c";
const TWELVE: &str =
    "ff0a08101850b4080804010088004b188b150a2503e72501dc7dae0b0401a072512ecac5aa334e071d08c832f102e430";

fn file(hex: &str) -> Vec<u8> {
    hex.as_bytes().chunks(2).map(|b| u8::from_str_radix(str::from_utf8(b).unwrap(), 16).unwrap()).collect()
}

/// Red, green and blue of each pixel, or grey.
fn samples<T: Sample + Into<f64>>(frame: &Frame) -> Vec<f64> {
    let planes: &[usize] = if frame.format().planes() == 1 { &[0] } else { &[2, 0, 1] };
    let (width, height) = frame.format().plane_size(0);
    let mut all = Vec::new();
    for y in 0..height {
        (0..width)
            .for_each(|x| all.extend(planes.iter().map(|&p| -> f64 { frame.row::<T>(p, y)[x].into() })));
    }
    all
}

#[test]
fn depths_and_floats_are_exact() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jxl");
    let floats = |count: i32, from: f64| (0..count).map(|i| f64::from(i) * 0.5 - from).collect::<Vec<_>>();
    let codes = |step: i32| (0..12).map(|i| f64::from(i * step)).collect::<Vec<_>>();
    for (hex, name, want) in [
        (FLOAT, "gbrpf32", floats(12, 2.0)),
        (GREY, "grayf32", floats(6, 1.0)),
        (TEN, "gbrp10", codes(93)),
        (TWELVE, "gbrp12", codes(372)),
    ] {
        std::fs::write(&path, file(hex)).unwrap();
        let (_, frame) = one(&path);
        assert_eq!(frame.format().name(), name);
        let got = if name.ends_with("f32") { samples::<f32>(&frame) } else { samples::<u16>(&frame) };
        assert_eq!(got, want, "{name}");
        for len in 1..hex.len() / 2 - 1 {
            std::fs::write(&path, &file(hex)[..len]).unwrap();
            assert!(open(&path, Missing::Error).is_err(), "{name} of {len} bytes");
        }
    }
    std::fs::write(&path, file(HALF)).unwrap();
    assert!(open(&path, Missing::Error).err().unwrap().to_string().contains("float of 16 bits"));
}

#[cfg(feature = "ffmpeg")]
#[test]
fn what_is_written_is_read_again() {
    use super::holes::stamp;
    use super::{noisy, plan, write};
    use grainfield::sink::sequence::accepts;
    use grainfield_filters::frame::{Alpha, Format, Primaries, Transfer};
    let dir = tempfile::tempdir().unwrap();
    for (name, size) in [
        ("gray", (67, 41)),
        ("gray16", (1, 1)),
        ("gbrp", (300, 280)),
        ("gbrp16", (67, 41)),
        ("gbrap", (1, 3)),
        ("gbrap16", (67, 41)),
    ] {
        let format = Format::from_name(name, size.0, size.1).unwrap();
        let (primaries, transfer) = (Primaries(9), Transfer::PQ);
        let output = dir.path().join(format!("{name}.####.jxl"));
        let accepted = accepts(output.as_os_str(), &Format { primaries, transfer, ..format }).unwrap();
        assert_eq!(accepted.name(), name);
        let frame = noisy(accepted);
        write(output.as_os_str(), &plan(accepted, None), &[(stamp(7), frame.clone())]).unwrap();
        let (_, read) = one(dir.path().join(format!("{name}.0007.jxl")));
        let (got, want) = (read.format(), frame.format());
        assert_eq!((got.name(), got.transfer, got.alpha), (want.name(), want.transfer, want.alpha));
        assert!(name.starts_with("gray") || got.primaries == primaries, "{name}");
        assert_eq!(read.digest(), frame.digest(), "{name}");
    }
    // As in a PNG: floats become 16 bits, and grey with alpha becomes colour.
    let kept = |name: &str| {
        let format = accepts("a.jxl".as_ref(), &Format::from_name(name, 8, 8).unwrap()).unwrap();
        (format.name(), format.alpha)
    };
    assert_eq!(kept("gbrpf32"), ("gbrp16".into(), Alpha::None));
    assert_eq!(kept("ya16"), ("gbrap16".into(), Alpha::Straight));
    assert_eq!(kept("yuv420p10"), ("gbrp16".into(), Alpha::None));
}
