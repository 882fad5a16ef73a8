//! JPEG XL: read by the crate jxl-oxide, written without loss by FFmpeg's encoder.
//!
//! FFmpeg 5.1 reads it, too, but cuts float pictures off at black and white. Only the first of several pictures is read.

use super::{Fault, Header, Input, Kind, Meta, accept, check_size, rows, tagged};
use grainfield_filters::frame::{Alpha, Depth, Family, Format, Frame, Primaries, Transfer};
use jxl_oxide::image::BitDepth;
use jxl_oxide::{AllocTracker, ExtraChannelType, JxlImage, PixelFormat};

/// Bytes that the decoder may take for what does not follow from the size of the picture.
const TABLES: usize = 256 << 20;

/// Bytes that it may take for each sample: it has several planes of 32 bits.
const EACH: usize = 64;

fn undecodable(e: impl std::fmt::Display) -> Fault {
    Fault::Bad(format!("the JPEG XL cannot be decoded: {e}"))
}

fn open(input: Input) -> Result<(JxlImage, Format, Meta), Fault> {
    let tracker = AllocTracker::with_limit(TABLES);
    let image = JxlImage::builder().alloc_tracker(tracker.clone()).read(input.reader).map_err(undecodable)?;
    let header = &image.image_header().metadata;
    let unsupported = |what: String| Fault::Bad(format!("this variant of JPEG XL is not supported: {what}"));
    let depth = match header.bit_depth {
        BitDepth::FloatSample { bits_per_sample: 32, .. } => Depth::Float,
        // jxl-oxide 0.12 makes 2^-15 of a half float of 0
        BitDepth::FloatSample { bits_per_sample, .. } => {
            return Err(unsupported(format!("float of {bits_per_sample} bits; save it with 32")));
        }
        BitDepth::IntegerSample { bits_per_sample } => match bits_per_sample {
            0..=8 => Depth::Bits(8),
            9 => Depth::Bits(9),
            10 => Depth::Bits(10),
            11 | 12 => Depth::Bits(12),
            13 | 14 => Depth::Bits(14),
            15 | 16 => Depth::Bits(16),
            bits => return Err(unsupported(format!("integers of {bits} bits (at most 16, or float)"))),
        },
    };
    let family = match image.pixel_format() {
        PixelFormat::Gray | PixelFormat::Graya => Family::Gray,
        PixelFormat::Rgb | PixelFormat::Rgba => Family::Rgb,
        PixelFormat::Cmyk | PixelFormat::Cmyka => return Err(unsupported("CMYK; convert it to RGB".into())),
    };
    let alpha = header.ec_info.iter().find_map(|channel| match channel.ty {
        ExtraChannelType::Alpha { alpha_associated: true } => Some(Alpha::Premultiplied),
        ExtraChannelType::Alpha { .. } => Some(Alpha::Straight),
        _ => None,
    });
    let format = Format::new(1, 1, family, depth, (0, 0));
    let format = Format { alpha: alpha.unwrap_or(Alpha::None), ..format };
    let bytes = (format.planes() * format.depth.bytes()) as u64;
    let (width, height) = check_size(image.width().into(), image.height().into(), bytes)?;
    tracker.expand_limit((width as usize * height as usize).saturating_mul(format.planes() * EACH));
    if !image.is_loading_done() {
        return Err(Fault::Bad("the file ends inside the picture".into()));
    }
    let mut format = tagged(Format { width, height, ..format });
    let cicp = image.rendered_cicp();
    if let Some([primaries, transfer, ..]) = cicp {
        (format.primaries, format.transfer) = (Primaries(primaries), Transfer(transfer));
    } else if depth == Depth::Float {
        // by convention
        format.transfer = Transfer::LINEAR;
    }
    // what the codes of H.273 cannot say
    let icc = cicp.is_none().then(|| image.rendered_icc());
    // It may repeat the orientation, which is that of the samples already.
    let exif = image.aux_boxes().first_exif().is_ok_and(|exif| exif.has_data());
    let fields = exif.then(|| "Exif".to_owned()).into_iter().collect();
    let more = image.num_loaded_keyframes() > 1;
    Ok((image, format, Meta { more, icc, fields, ..Meta::default() }))
}

pub(super) fn probe(input: Input) -> Result<Header, Fault> {
    let (image, format, meta) = open(input)?;
    let header = &image.image_header().metadata;
    let coding = if header.xyb_encoded { "XYB" } else { "its own colours" };
    let stored = match header.bit_depth {
        BitDepth::IntegerSample { bits_per_sample } => format!("{bits_per_sample} bits, {coding}"),
        BitDepth::FloatSample { bits_per_sample, .. } => format!("float of {bits_per_sample} bits, {coding}"),
    };
    let notes = meta.more.then(|| "an animated JPEG XL: only its first picture is read".to_owned());
    let (details, notes) = (vec![("stored".to_owned(), stored)], notes.into_iter().collect());
    Ok(Header { kind: Kind::Jxl, format, meta, details, notes })
}

pub(super) fn decode(input: Input, want: &Format, frame: &mut Frame) -> Result<Meta, Fault> {
    let (image, format, meta) = open(input)?;
    accept(&format, want, frame)?;
    let render = image.render_frame(0).map_err(undecodable)?;
    let mut stream = render.stream();
    let samples = format.width as usize * format.planes();
    if (stream.width(), stream.height(), stream.channels() as usize)
        != (format.width, format.height, format.planes())
    {
        return Err(undecodable("its sizes contradict each other"));
    }
    let (mut row, mut bytes) = (vec![0f32; samples], Vec::with_capacity(4 * samples));
    let most = format.depth.bits().map_or(0.0, |bits| f64::from((1u32 << bits) - 1));
    // exact: a float has more bits, and a double has enough for a half more
    let code = |v: &f32| (f64::from(*v) * most + 0.5).clamp(0.0, most) as u16;
    for y in 0..format.height as usize {
        stream.write_to_buffer(&mut row);
        bytes.clear();
        match format.depth {
            Depth::Float => row.iter().for_each(|v| bytes.extend(v.to_ne_bytes())),
            Depth::Bits(8) => bytes.extend(row.iter().map(|v| code(v) as u8)),
            Depth::Bits(_) => row.iter().for_each(|v| bytes.extend(code(v).to_le_bytes())),
        }
        rows::unpack_row(frame, y, &bytes, false);
    }
    Ok(meta)
}
