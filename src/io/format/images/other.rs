//! TIFF, JPEG, WebP, BMP, TGA and QOI, by the image library.
//!
//! Only the first of several pictures is read. The samples of a JPEG depend on the library, and are not covered by the
//! guarantee of equal samples.

use super::{
    Fault, Header, Input, Kind, MAX_BYTES, Meta, Unit, accept, check_held, check_size, fitting_icc,
    orientation, rows, tagged, tags, tiff,
};
use grainfield_filters::frame::{Alpha, Depth, Family, Format, Frame, Transfer};
use image::codecs::bmp::{BmpDecoder, BmpEncoder};
use image::codecs::jpeg::{JpegDecoder, JpegEncoder, PixelDensity, PixelDensityUnit};
use image::codecs::qoi::{QoiDecoder, QoiEncoder};
use image::codecs::tga::{TgaDecoder, TgaEncoder};
use image::codecs::tiff::TiffDecoder;
use image::codecs::webp::{WebPDecoder, WebPEncoder};
use image::{ColorType, ExtendedColorType, ImageDecoder, ImageEncoder, ImageError, Limits};
use std::io::Cursor;

/// The quality of JPEG files: 1 to 100.
const JPEG_QUALITY: u8 = 95;

/// Pictures up to this size in bytes are within the library's own limits.
const DEFAULT_BYTES: u64 = 64 << 20;

/// The highest compression ratio of a family, with a margin.
fn ratio(kind: Kind) -> u64 {
    match kind {
        // deflate up to 1032, LZW up to about 1400
        Kind::Tiff => 1 << 12,
        // every block of 8x8 takes at least one bit, and may be scaled up 4 by 4 in three planes
        Kind::Jpeg => 1 << 15,
        // runs of up to 128 pixels of 4 bytes in one, of 62 in one, and of 255 in two
        Kind::Tga | Kind::Qoi | Kind::Bmp => 1 << 10,
        // a plain picture takes no bits: the limit is that of the format, a side of 16384
        _ => u64::MAX,
    }
}

fn fault(kind: Kind, e: ImageError) -> Fault {
    match e {
        ImageError::IoError(e) => e.into(),
        ImageError::Unsupported(e) => {
            Fault::Bad(format!("this variant of {} is not supported: {e}", kind.label()))
        }
        ImageError::Limits(e) => Fault::Bad(format!("too large a {}: {e}", kind.label())),
        e => Fault::Bad(format!("the {} is damaged: {e}", kind.label())),
    }
}

/// The pixels of the image library.
const COLOR_TYPES: [(ColorType, Family, Depth, Alpha); 10] = [
    (ColorType::L8, Family::Gray, Depth::Bits(8), Alpha::None),
    (ColorType::La8, Family::Gray, Depth::Bits(8), Alpha::Straight),
    (ColorType::Rgb8, Family::Rgb, Depth::Bits(8), Alpha::None),
    (ColorType::Rgba8, Family::Rgb, Depth::Bits(8), Alpha::Straight),
    (ColorType::L16, Family::Gray, Depth::Bits(16), Alpha::None),
    (ColorType::La16, Family::Gray, Depth::Bits(16), Alpha::Straight),
    (ColorType::Rgb16, Family::Rgb, Depth::Bits(16), Alpha::None),
    (ColorType::Rgba16, Family::Rgb, Depth::Bits(16), Alpha::Straight),
    (ColorType::Rgb32F, Family::Rgb, Depth::Float, Alpha::None),
    (ColorType::Rgba32F, Family::Rgb, Depth::Float, Alpha::Straight),
];

type Boxed<'a> = Box<dyn ImageDecoder + 'a>;

fn decoder(kind: Kind, file: &[u8]) -> Result<(Boxed<'_>, Format, Meta), Fault> {
    let reader = Cursor::new(file);
    let mut decoder: Boxed<'_> = match kind {
        Kind::Tiff => match (TiffDecoder::new(reader), tiff::FloatTiff::open(file)) {
            (Err(ImageError::Unsupported(_)), Some(floats)) => Box::new(floats),
            (decoder, _) => Box::new(decoder.map_err(|e| fault(kind, e))?),
        },
        Kind::Webp => Box::new(WebPDecoder::new(reader).map_err(|e| fault(kind, e))?),
        Kind::Bmp => Box::new(BmpDecoder::new(reader).map_err(|e| fault(kind, e))?),
        Kind::Tga => Box::new(TgaDecoder::new(reader).map_err(|e| fault(kind, e))?),
        Kind::Qoi => Box::new(QoiDecoder::new(reader).map_err(|e| fault(kind, e))?),
        _ => {
            // the library fills in the missing part of a truncated JPEG
            if !file.windows(2).rev().any(|pair| pair == [0xff, 0xd9]) {
                return Err(Fault::Bad("the file ends inside the picture".into()));
            }
            Box::new(JpegDecoder::new(reader).map_err(|e| fault(kind, e))?)
        }
    };
    let (width, height) = decoder.dimensions();
    let color = decoder.color_type();
    let (width, height) = check_size(width.into(), height.into(), color.bytes_per_pixel().into())?;
    check_held(file.len() as u64, (width, height), decoder.total_bytes(), ratio(kind))?;
    // before the limits are raised, which the library's TIFF decoder would then also apply to tags
    let meta = meta(kind, file, &mut decoder);
    if decoder.total_bytes() > DEFAULT_BYTES {
        let mut limits = Limits::default();
        limits.max_alloc = Some(2 * MAX_BYTES);
        decoder.set_limits(limits).map_err(|e| fault(kind, e))?;
    }
    let found = COLOR_TYPES.iter().find(|row| row.0 == color);
    let &(_, family, depth, alpha) =
        found.ok_or_else(|| Fault::Bad(format!("pixels of the type {color:?} are not supported")))?;
    let mut meta = meta;
    meta.tiff.iter_mut().for_each(|t| t.read_alpha(alpha != Alpha::None));
    let kept = meta.tiff.as_ref().and_then(|t| t.alpha());
    let alpha = kept.filter(|_| alpha != Alpha::None).unwrap_or(alpha);
    // float pictures are linear by convention: there is no tag for it
    let transfer = if depth == Depth::Float { Transfer::LINEAR } else { Transfer::UNSPECIFIED };
    let format = Format { alpha, transfer, ..Format::new(width, height, family, depth, (0, 0)) };
    Ok((decoder, tagged(format), meta))
}

fn meta(kind: Kind, file: &[u8], decoder: &mut Boxed<'_>) -> Meta {
    let cmyk = matches!(decoder.original_color_type(), ExtendedColorType::Cmyk8 | ExtendedColorType::Cmyk16);
    // an unreadable profile is not a reason to fail
    let icc = decoder.icc_profile().ok().flatten();
    if kind == Kind::Tiff {
        let tiff = tiff::TiffMetadata::read(file).map(Box::new);
        let density = tiff.as_ref().and_then(|t| t.density());
        let orientation = tiff.as_ref().map_or(1, |t| t.orientation());
        let more = tiff.as_ref().is_some_and(|t| t.has_more());
        return Meta { cmyk, more, icc, density, orientation, tiff, ..Meta::default() };
    }
    let density = if kind == Kind::Jpeg { tags::jfif_density(file) } else { None };
    let exif = decoder.exif_metadata().ok().flatten();
    let cmyk = kind == Kind::Jpeg && tags::jpeg_components(file) == Some(4);
    let more = kind == Kind::Webp && tags::moves_in_webp(file);
    Meta { cmyk, more, icc, density, orientation: orientation(exif.as_deref()), exif, ..Meta::default() }
}

pub(super) fn probe(kind: Kind, input: Input) -> Result<Header, Fault> {
    let file = input.contents()?;
    let (decoder, format, meta) = decoder(kind, &file)?;
    let details = vec![("stored".to_owned(), format!("{:?}", decoder.original_color_type()).to_lowercase())];
    let mut notes = Vec::new();
    if meta.cmyk {
        notes.push("CMYK is converted to RGB without a profile: colours are approximate".to_owned());
    }
    match kind {
        Kind::Tiff if meta.more => {
            notes.push("a TIFF with more than one picture: only its first is read".to_owned());
        }
        Kind::Webp if meta.more => {
            notes.push("an animated WebP: only its first picture is read".to_owned());
        }
        _ => {}
    }
    Ok(Header { kind, format, meta, details, notes })
}

pub(super) fn decode(kind: Kind, input: Input, want: &Format, frame: &mut Frame) -> Result<Meta, Fault> {
    let file = input.contents()?;
    let (decoder, format, meta) = decoder(kind, &file)?;
    accept(&format, want, frame)?;
    let line = format.width as usize * rows::order(&format).len() * format.depth.bytes();
    let mut data = vec![0; line * format.height as usize];
    if decoder.total_bytes() != data.len() as u64 {
        return Err(Fault::Bad(format!("the {} is damaged: its sizes contradict each other", kind.label())));
    }
    decoder.read_image_boxed(&mut data).map_err(|e| fault(kind, e))?;
    let native = cfg!(target_endian = "big");
    data.chunks_exact(line).enumerate().for_each(|(y, row)| rows::unpack_row(frame, y, row, native));
    Ok(meta)
}

pub(super) fn encode(kind: Kind, frame: &Frame, meta: Option<&Meta>, out: &mut Vec<u8>) -> Result<(), Fault> {
    let format = frame.format();
    let described = |row: &&(ColorType, Family, Depth, Alpha)| {
        (row.1, row.2, row.3 != Alpha::None) == (format.family, format.depth, format.has_alpha())
    };
    let found = COLOR_TYPES.iter().find(described);
    let color = found
        .map(|row| ExtendedColorType::from(row.0))
        .ok_or_else(|| Fault::Bad(format!("{} cannot hold {}", kind.label(), format.name())))?;
    let data = rows::interleaved(frame, cfg!(target_endian = "big"));
    if kind == Kind::Tiff {
        return tiff::encode(format, &data, meta, out);
    }
    let (w, h) = (format.width, format.height);
    let icc = fitting_icc(meta, format);
    let exif = meta.and_then(|m| m.exif.as_deref());
    let density = meta.and_then(|m| m.density);
    let written = match kind {
        Kind::Bmp => BmpEncoder::new(out).write_image(&data, w, h, color),
        Kind::Tga => TgaEncoder::new(out).write_image(&data, w, h, color),
        Kind::Qoi => QoiEncoder::new(out).write_image(&data, w, h, color),
        Kind::Webp => {
            let mut encoder = WebPEncoder::new_lossless(out);
            set(&mut encoder, icc, exif);
            encoder.write_image(&data, w, h, color)
        }
        _ => {
            let mut encoder = JpegEncoder::new_with_quality(out, JPEG_QUALITY);
            set(&mut encoder, icc, exif);
            if let Some((x, y, unit)) = density.map(|d| match (d.unit, d.per_inch()) {
                (Unit::Centimetre, _) => (d.x, d.y, PixelDensityUnit::Centimeters),
                (_, Some((x, y))) => (x, y, PixelDensityUnit::Inches),
                (_, None) => (d.x, d.y, PixelDensityUnit::PixelAspectRatio),
            }) {
                let round = |v: f64| (v + 0.5).clamp(1.0, 65535.0) as u16;
                encoder.set_pixel_density(PixelDensity { density: (round(x), round(y)), unit });
            }
            encoder.write_image(&data, w, h, color)
        }
    };
    written.map_err(|e| match e {
        ImageError::IoError(e) => Fault::Io(e),
        e => Fault::Bad(format!("cannot be written as {}: {e}", kind.label())),
    })
}

/// Sets profile and Exif data, if the encoder supports them.
fn set(encoder: &mut impl ImageEncoder, icc: Option<&[u8]>, exif: Option<&[u8]>) {
    if let Some(icc) = icc {
        let _ = encoder.set_icc_profile(icc.to_vec());
    }
    if let Some(exif) = exif {
        let _ = encoder.set_exif_metadata(exif.to_vec());
    }
}
