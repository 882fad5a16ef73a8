//! OpenEXR to OpenEXR without loss.

use super::{next, one, open, plan, write};
use exr::meta::attribute::{AttributeValue, Chromaticities};
use exr::prelude::*;
use grainfield::sink::sequence::accepts;
use grainfield::source::Missing;
use grainfield_filters::frame::{Alpha, Format, Transfer};
use grainfield_filters::ratio::Ratio;
use std::path::Path;

fn channel(name: &str, samples: FlatSamples) -> AnyChannel<FlatSamples> {
    AnyChannel {
        name: Text::from(name),
        sample_data: samples,
        quantize_linearly: false,
        sampling: exr::math::Vec2(1, 1),
    }
}

/// All half floats except signalling NaN, which conversions make quiet.
fn halves(from: u16) -> Vec<f16> {
    (0..1000u16)
        .map(|i| {
            let bits = i.wrapping_mul(67).wrapping_add(from);
            let nan = bits & 0x7c00 == 0x7c00 && bits & 0x03ff != 0;
            f16::from_bits(if nan { bits | 0x0200 } else { bits })
        })
        .collect()
}

fn image(compression: Compression, blocks: Blocks) -> FlatImage {
    let size = exr::math::Vec2(50, 20);
    let encoding = Encoding { compression, blocks, line_order: LineOrder::Increasing };
    let f32s = |from: u32| (0..1000).map(|i| f32::from_bits((i * 4_000_037 + from) & 0xbf7f_ffff)).collect();
    let mut beauty = LayerAttributes::named("beauty");
    beauty.layer_position = exr::math::Vec2(-3, 7);
    beauty.software_name = Some(Text::from("a renderer"));
    beauty.other.insert(Text::from("grade"), AttributeValue::F32(1.25));
    let main = AnyChannels::sort(
        [
            channel("R", FlatSamples::F16(halves(0))),
            channel("G", FlatSamples::F16(halves(11))),
            channel("B", FlatSamples::F32(f32s(5))),
            channel("A", FlatSamples::F16(halves(77))),
            channel("Z", FlatSamples::F32(f32s(9))),
            channel("id", FlatSamples::U32((0..1000).collect())),
            channel("diffuse.R", FlatSamples::F16(halves(3))),
        ]
        .into_iter()
        .collect(),
    );
    let mut normals = LayerAttributes::named("normals");
    normals.layer_position = exr::math::Vec2(100, 0);
    let other = AnyChannels::sort([channel("X", FlatSamples::F16(vec![f16::ONE; 12]))].into_iter().collect());
    let scan = Encoding { compression: Compression::RLE, blocks: Blocks::ScanLines, ..encoding };
    let mut image = Image::from_layers(
        ImageAttributes::new(IntegerBounds::new((0, 0), (64, 64))),
        vec![
            Layer::new(exr::math::Vec2(4, 3), normals, scan, other),
            Layer::new(size, beauty, encoding, main),
        ],
    );
    image.attributes.pixel_aspect = 2.0;
    image.attributes.chromaticities = Some(Chromaticities {
        red: Vec2(0.7, 0.3),
        green: Vec2(0.2, 0.7),
        blue: Vec2(0.1, 0.1),
        white: Vec2(0.3, 0.3),
    });
    image.attributes.other.insert(Text::from("shot"), AttributeValue::Text(Text::from("sq010")));
    Image { attributes: image.attributes, layer_data: image.layer_data.into_iter().collect() }
}

fn read_all(path: &Path) -> FlatImage {
    read_all_flat_layers_from_file(path).unwrap()
}

/// Compares with NaN equal to itself.
fn same(a: &FlatImage, b: &FlatImage) {
    assert_eq!(a.attributes, b.attributes);
    assert_eq!(a.layer_data.len(), b.layer_data.len());
    for (a, b) in a.layer_data.iter().zip(&b.layer_data) {
        assert_eq!((&a.attributes, a.size, a.encoding), (&b.attributes, b.size, b.encoding));
        assert_eq!(a.channel_data.list.len(), b.channel_data.list.len());
        for (a, b) in a.channel_data.list.iter().zip(&b.channel_data.list) {
            assert_eq!(
                (&a.name, a.quantize_linearly, a.sampling),
                (&b.name, b.quantize_linearly, b.sampling)
            );
            let bits = |s: &FlatSamples| match s {
                FlatSamples::F16(v) => (16, v.iter().map(|x| x.to_bits().into()).collect::<Vec<u32>>()),
                FlatSamples::F32(v) => (32, v.iter().map(|x| x.to_bits()).collect()),
                FlatSamples::U32(v) => (0, v.clone()),
            };
            assert!(bits(&a.sample_data) == bits(&b.sample_data), "channel {}", a.name);
        }
    }
}

#[test]
fn layers_windows_attributes_and_bits_survive() {
    for (compression, blocks) in [
        (Compression::Uncompressed, Blocks::ScanLines),
        (Compression::RLE, Blocks::ScanLines),
        (Compression::ZIP1, Blocks::ScanLines),
        (Compression::ZIP16, Blocks::Tiles(Vec2(16, 16))),
        (Compression::PIZ, Blocks::ScanLines),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("in.exr"), dir.path().join("out.exr"));
        image(compression, blocks).write().to_file(&from).unwrap();
        let (stamp, frame) = one(&from);
        let format = *frame.format();
        assert_eq!((format.name().as_str(), format.width, format.height), ("gbrapf32", 50, 20));
        assert_eq!((format.alpha, format.transfer), (Alpha::Premultiplied, Transfer::LINEAR));
        assert_eq!(frame.row::<f32>(2, 0)[1], f16::from_bits(67).to_f32(), "red is plane 2");
        assert!(accepts(to.as_os_str(), &format).unwrap().same_samples(&format));
        write(to.as_os_str(), &plan(format, Some(1)), &[(stamp.clone(), frame.clone())]).unwrap();
        same(&read_all(&from), &read_all(&to));

        // a filter's change is kept, and nothing else changes
        let mut changed = frame;
        changed.row_mut::<f32>(1, 3)[5] = 0.1;
        changed.row_mut::<f32>(2, 3)[5] = 0.1;
        std::fs::remove_file(&to).unwrap();
        write(to.as_os_str(), &plan(format, Some(1)), &[(stamp, changed)]).unwrap();
        let mut want = read_all(&from);
        let main = want.layer_data.iter().position(|l| l.size == Vec2(50, 20)).unwrap();
        for channel in &mut want.layer_data[main].channel_data.list {
            match &mut channel.sample_data {
                FlatSamples::F16(v) if channel.name.eq("R") => v[155] = f16::from_bits(0x2e66), // 0.0999756
                FlatSamples::F32(v) if channel.name.eq("B") => v[155] = 0.1,
                _ => {}
            }
        }
        same(&want, &read_all(&to));
    }
}

/// The types of samples and the compression of a file.
fn stored(path: &Path) -> (Vec<SampleType>, Compression) {
    let image = read_all(path);
    let layer = &image.layer_data[0];
    let of = |c: &AnyChannel<FlatSamples>| match c.sample_data {
        FlatSamples::F16(_) => SampleType::F16,
        FlatSamples::F32(_) => SampleType::F32,
        FlatSamples::U32(_) => SampleType::U32,
    };
    (layer.channel_data.list.iter().map(of).collect(), layer.encoding.compression)
}

#[test]
fn options_choose_how_samples_are_stored() {
    let s = crate::util::Session::new();
    s.run("render pattern:ramp:size=40x30:frames=2 new.@.exr").ok();
    assert_eq!(stored(&s.path("new.0.exr")), (vec![SampleType::F32; 3], Compression::ZIP16));
    let half = "--codec-opt format=half --codec-opt compression=zips";
    s.run(&format!("render new.@.exr half.@.exr --resume {half}")).ok();
    assert_eq!(stored(&s.path("half.1.exr")), (vec![SampleType::F16; 3], Compression::ZIP1));
    s.run(&format!("render new.@.exr half.@.exr --resume {half}")).ok().says("2 of 2 frames are complete");
    s.run("render new.@.exr half.@.exr --resume").ends(1).says("other settings");
    s.run("render half.@.exr again.@.exr -f noise").ok();
    assert_eq!(stored(&s.path("again.1.exr")), (vec![SampleType::F16; 3], Compression::ZIP1));
    for (wrong, said) in [
        ("a.@.exr --codec-opt format=16", "give half or float"),
        ("a.@.exr --codec-opt compression=dwaa", "zips, zip or piz"),
        ("a.@.exr --codec-opt tune=grain", "OpenEXR has the options"),
        ("a.@.exr --crf 3", "video files only"),
        ("a.@.png --codec-opt format=half", "video files only"),
    ] {
        s.run(&format!("render new.@.exr {wrong}")).ends(2).says(said);
    }
}

#[test]
fn luma_alone_and_pictures_from_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("y.exr");
    let channels = AnyChannels::sort([channel("Y", FlatSamples::F16(halves(0)))].into_iter().collect());
    let layer = Layer::new(Vec2(100, 10), LayerAttributes::default(), Encoding::SMALL_LOSSLESS, channels);
    Image::from_layer(layer).write().to_file(&path).unwrap();
    let mut source = open(&path, Missing::Error).unwrap();
    assert_eq!(source.info().format.name(), "grayf32");
    let (mut stamp, frame) = next(&mut *source).unwrap().unwrap();
    stamp.carried = None;
    let out = dir.path().join("z.exr");
    write(out.as_os_str(), &plan(*frame.format(), Some(1)), &[(stamp, frame.clone())]).unwrap();
    let (_, again) = one(&out);
    let bits = |f: &grainfield_filters::frame::Frame| {
        (0..10)
            .flat_map(|y| f.row::<f32>(0, y).iter().map(|v| v.to_bits()).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    assert_eq!(bits(&frame), bits(&again));
}

#[test]
fn subsampled_colour_differences_do_not_panic() {
    // The library cannot write such files, so the head of an ordinary file is changed. OpenEXR stores rows of a
    // subsampled channel only where it has samples, so the blocks of this file have too many bytes: an error, or
    // the luma.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("yc.exr");
    let full = |name| channel(name, FlatSamples::F16(vec![f16::from_f32(0.25); 100]));
    let channels = AnyChannels::sort([full("Y"), full("RY"), full("BY")].into_iter().collect());
    let layer = Layer::new(Vec2(10, 10), LayerAttributes::default(), Encoding::UNCOMPRESSED, channels);
    Image::from_layer(layer).write().to_file(&path).unwrap();
    let good = std::fs::read(&path).unwrap();
    for sampling in [0u8, 1, 2, 3, 10, 200] {
        let mut file = good.clone();
        for name in [b"\0RY\0", b"\0BY\0"] {
            // the list of channels begins with one name, and the zeros of its type end before the other
            let at =
                file.windows(4).position(|w| w == name).or(file.windows(3).position(|w| w == &name[1..]));
            let at = at.unwrap() + if file[at.unwrap()] == 0 { 4 } else { 3 };
            file[at + 8] = sampling;
            file[at + 12] = sampling;
        }
        std::fs::write(&path, file).unwrap();
        let read = open(&path, Missing::Error).and_then(|mut s| next(&mut *s));
        match sampling {
            0 => assert!(read.unwrap_err().to_string().contains("yc.exr")),
            1 => assert_eq!(read.unwrap().unwrap().1.row::<f32>(0, 9), [0.25; 10]),
            _ => match read {
                Ok(frame) => assert_eq!(frame.unwrap().1.format().name(), "grayf32"),
                Err(e) => assert!(e.to_string().contains("yc.exr"), "{e}"),
            },
        }
    }
}

#[test]
fn no_colour_is_an_error_that_lists_channels() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("z.exr");
    let channels = AnyChannels::sort([channel("Z", FlatSamples::F32(vec![0.0; 4]))].into_iter().collect());
    let layer = Layer::new(Vec2(2, 2), LayerAttributes::default(), Encoding::UNCOMPRESSED, channels);
    Image::from_layer(layer).write().to_file(&path).unwrap();
    let text = open(&path, Missing::Error).map(drop).unwrap_err().to_string();
    assert!(text.contains("channels are Z"), "{text}");
}

#[test]
fn a_sequence_has_the_rate_in_the_attribute() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("in.exr"), dir.path().join("out.exr"));
    for (stated, num, den) in [
        (Some((25, 1)), 25, 1),
        (Some((24000, 1001)), 24000, 1001),
        (Some((23976, 1000)), 24000, 1001),
        (Some((0, 1)), 24, 1),
        (Some((25, 0)), 24, 1),
        (Some((-25, 1)), 24, 1),
        (Some((i32::MAX, 1)), 24, 1),
        (None, 24, 1),
    ] {
        let mut image = image(Compression::ZIP16, Blocks::ScanLines);
        image.layer_data.iter_mut().for_each(|layer| layer.attributes.frames_per_second = stated);
        image.write().to_file(&from).unwrap();
        let (stamp, frame) = one(&from);
        let wanted = Ratio::new(num, den).unwrap();
        assert_eq!(frame.format().rate, wanted, "{stated:?}");
        let _ = std::fs::remove_file(&to);
        write(to.as_os_str(), &plan(*frame.format(), Some(1)), &[(stamp.clone(), frame.clone())]).unwrap();
        same(&read_all(&from), &read_all(&to));
        // another rate that was chosen
        let mut faster = frame;
        faster.retag(Format { rate: Ratio::whole(60), ..*faster.format() });
        std::fs::remove_file(&to).unwrap();
        write(to.as_os_str(), &plan(*faster.format(), Some(1)), &[(stamp, faster)]).unwrap();
        let said = (num, den) != (24, 1);
        assert_eq!(one(&to).1.format().rate, if said { Ratio::whole(60) } else { Ratio::whole(24) });
    }
}

/// As compositing programs store it: only what is not empty, with the whole picture around it.
#[test]
fn the_picture_is_the_display_window_around_a_smaller_layer() {
    let dir = tempfile::tempdir().unwrap();
    for (n, position, size) in [(1, (10, 3), (5, 4)), (2, (0, 0), (64, 16)), (3, (63, 15), (1, 1))] {
        let size = exr::math::Vec2(size.0, size.1);
        let filled = |name, first: f32| {
            let samples = (0..size.0 * size.1).map(|i| first + i as f32).collect();
            channel(name, FlatSamples::F32(samples))
        };
        let channels = [("R", 1.0), ("G", 1000.0), ("B", 3000.0), ("A", 5000.0), ("Z", 7000.0)];
        let list = AnyChannels::sort(channels.map(|(name, first)| filled(name, first)).into_iter().collect());
        let layer_position = exr::math::Vec2(position.0 - 7, position.1 + 9);
        let attributes = LayerAttributes { layer_position, ..LayerAttributes::default() };
        let encoding = Encoding {
            compression: Compression::ZIP1,
            blocks: Blocks::ScanLines,
            line_order: LineOrder::Increasing,
        };
        let window = IntegerBounds::new((-7, 9), (64, 16));
        let layers = vec![Layer::new(size, attributes, encoding, list)];
        let image = Image::from_layers(ImageAttributes::new(window), layers);
        image.write().to_file(dir.path().join(format!("box.{n:04}.exr"))).unwrap();
    }
    let source = open(dir.path().join("box.#.exr"), Missing::Error).unwrap();
    assert_eq!((source.info().format.width, source.info().format.height), (64, 16));
    for (n, (left, top), (width, height)) in [(1, (10, 3), (5, 4)), (3, (63, 15), (1, 1))] {
        let (from, to) = (dir.path().join(format!("box.{n:04}.exr")), dir.path().join("out.exr"));
        let (stamp, frame) = one(&from);
        for (p, first) in [1000.0, 3000.0, 1.0, 5000.0].into_iter().enumerate() {
            for (x, y) in (0..16).flat_map(|y| (0..64).map(move |x| (x, y))) {
                let inside = (left..left + width).contains(&x) && (top..top + height).contains(&y);
                let want = if inside { first + ((y - top) * width + x - left) as f32 } else { 0.0 };
                assert_eq!(frame.row::<f32>(p, y)[x], want, "frame {n}, plane {p} at {x},{y}");
            }
        }
        write(to.as_os_str(), &plan(*frame.format(), Some(1)), &[(stamp, frame)]).unwrap();
        let made = read_all(&to);
        assert_eq!(made.attributes.display_window, IntegerBounds::new((-7, 9), (64, 16)));
        let layer = &made.layer_data[0];
        assert_eq!((layer.size, layer.attributes.layer_position), (Vec2(64, 16), Vec2(-7, 9)));
        let depth = layer.channel_data.list.iter().find(|c| c.name.eq("Z")).unwrap();
        let FlatSamples::F32(depth) = &depth.sample_data else { panic!("Z is float") };
        assert_eq!(
            (depth[top * 64 + left], depth.iter().filter(|v| **v != 0.0).count()),
            (7000.0, width * height)
        );
        std::fs::remove_file(&to).unwrap();
    }
}
