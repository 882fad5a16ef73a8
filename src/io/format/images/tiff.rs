//! Metadata of TIFF, and its writer.
//!
//! The writer keeps orientation, texts (description, artist, copyright, software ...), XMP, IPTC, Photoshop's and Geo
//! tags and all others that do not describe the layout of samples, the resolution, and a lossless compression.
//! Directories that the first one refers to (Exif, GPS, smaller pictures) are not kept, nor are DNG's tags, which
//! would declare the picture as raw.

use super::{Density, Fault, Meta, Unit, fitting_icc};
use ::tiff::decoder::ifd::Value;
use ::tiff::decoder::{Decoder, DecodingResult};
use ::tiff::encoder::colortype::{ColorType, Gray8, Gray16, RGB8, RGB16, RGB32Float};
use ::tiff::encoder::{Compression, DeflateLevel, Rational, TiffEncoder, TiffValue};
use ::tiff::tags::{ByteOrder, CompressionMethod, ExtraSamples, ResolutionUnit, Tag, Type, ValueBuffer};
use ::tiff::{Directory, TiffError, TiffResult};
use grainfield_filters::frame::{Alpha, Depth, Family, Format};
use image::error::{DecodingError, ImageFormatHint};
use image::{ImageDecoder, ImageError, ImageResult};
use std::io::Cursor;

/// The largest total size of tags that are kept, in bytes; the library reads up to a million bytes of each.
const MAX_TAGS: usize = 16 << 20;

const DNG: std::ops::RangeInclusive<u16> = 50706..=52551;

/// The metadata of a TIFF.
pub struct TiffMetadata {
    tags: Vec<(Tag, ValueBuffer)>,
    compression: CompressionMethod,
    left: Vec<u16>,
    more: bool,
    density: Option<Density>,
    orientation: u8,
    alpha: Option<Alpha>,
    /// Channels besides colour and alpha.
    further: u16,
}

impl std::fmt::Debug for TiffMetadata {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tags: Vec<u16> = self.tags.iter().map(|t| t.0.to_u16()).collect();
        f.debug_struct("TiffMetadata")
            .field("tags", &tags)
            .field("compression", &self.compression)
            .finish_non_exhaustive()
    }
}

/// Whether a tag describes the layout of samples, or is written separately.
fn is_structure(tag: u16) -> bool {
    matches!(tag, 254..=259 | 262..=266 | 273 | 274 | 277..=284 | 288..=293 | 296 | 317 | 320..=325 | 332..=334 | 336..=347)
        || matches!(tag, 512..=532 | 34675)
}

fn is_lost(tag: u16) -> bool {
    matches!(tag, 301 | 330 | 34665 | 34853 | 40965) || DNG.contains(&tag)
}

impl TiffMetadata {
    /// The metadata of a file, as far as they can be read.
    pub(super) fn read(file: &[u8]) -> Option<TiffMetadata> {
        let mut decoder = Decoder::new(Cursor::new(file)).ok()?;
        let mut ifd = decoder.image_ifd();
        let number = |v: Option<u64>| v.and_then(|v| u16::try_from(v).ok());
        let mut kept = TiffMetadata {
            tags: Vec::new(),
            compression: CompressionMethod::None,
            left: Vec::new(),
            more: false,
            density: None,
            orientation: 1,
            alpha: None,
            further: 0,
        };
        let method = number(ifd.find_tag_unsigned(Tag::Compression).ok().flatten()).unwrap_or(1);
        kept.compression = CompressionMethod::from_u16_exhaustive(method);
        let orientation = number(ifd.find_tag_unsigned(Tag::Orientation).ok().flatten());
        kept.orientation = orientation.filter(|o| (1..=8).contains(o)).unwrap_or(1) as u8;
        let extra = ifd.find_tag_unsigned_vec::<u16>(Tag::ExtraSamples).ok().flatten().unwrap_or_default();
        kept.alpha = extra.first().map(|&e| if e == 1 { Alpha::Premultiplied } else { Alpha::Straight });
        let mut count = |tag| number(ifd.find_tag_unsigned(tag).ok().flatten());
        let colors = match count(Tag::PhotometricInterpretation) {
            Some(0 | 1 | 3 | 4) => 1,
            Some(5) => 4,
            _ => 3,
        };
        kept.further = count(Tag::SamplesPerPixel).unwrap_or(1).saturating_sub(colors);
        let mut rational = |tag| match ifd.find_tag(tag).ok().flatten()? {
            Value::Rational(n, d) if n > 0 && d > 0 => Some(f64::from(n) / f64::from(d)),
            _ => None,
        };
        if let (Some(x), Some(y)) = (rational(Tag::XResolution), rational(Tag::YResolution)) {
            let unit = match number(ifd.find_tag_unsigned(Tag::ResolutionUnit).ok().flatten()) {
                Some(1) => Unit::None,
                Some(3) => Unit::Centimetre,
                _ => Unit::Inch, // the default of TIFF
            };
            kept.density = Some(Density { x, y, unit });
        }
        let all: Vec<(Tag, Type)> =
            ifd.directory().iter().map(|(tag, entry)| (tag, entry.field_type())).collect();
        let mut room = MAX_TAGS;
        for (tag, kind) in all {
            let code = tag.to_u16();
            if is_structure(code) {
                continue;
            }
            let mut value = ValueBuffer::empty(kind);
            let places = matches!(kind, Type::IFD | Type::IFD8 | Type::LONG8 | Type::SLONG8);
            let read = room > 0
                && !places
                && !is_lost(code)
                && matches!(ifd.find_tag_buf(tag, &mut value), Ok(Some(_)));
            let fits = room.checked_sub(value.as_bytes().len());
            if let (true, Some(left)) = (read, fits) {
                room = left;
                value.set_byte_order(ByteOrder::native());
                kept.tags.push((tag, value));
            } else {
                room = if read { 0 } else { room };
                kept.left.push(code);
            }
        }
        kept.more = decoder.more_images();
        Some(kept)
    }

    /// Whether there is another page, or a thumbnail.
    pub(super) fn has_more(&self) -> bool {
        self.more
    }

    pub(super) fn orientation(&self) -> u8 {
        self.orientation
    }

    pub(super) fn density(&self) -> Option<Density> {
        self.density
    }

    /// Sets whether the first extra channel was read as alpha.
    pub(super) fn read_alpha(&mut self, read: bool) {
        self.further = self.further.saturating_sub(read.into());
    }

    /// The meaning of its first extra sample.
    pub(super) fn alpha(&self) -> Option<Alpha> {
        self.alpha
    }

    /// Its compression, if that is lossless.
    fn compression(&self) -> Option<Compression> {
        Some(match self.compression {
            CompressionMethod::None => Compression::Uncompressed,
            CompressionMethod::LZW => Compression::Lzw,
            CompressionMethod::Deflate | CompressionMethod::OldDeflate => {
                Compression::Deflate(DeflateLevel::default())
            }
            CompressionMethod::PackBits => Compression::Packbits,
            _ => return None,
        })
    }

    /// The metadata that are lost, in a TIFF or in another kind of file.
    pub(super) fn lost(&self, in_tiff: bool) -> Vec<String> {
        let mut list = Vec::new();
        match self.further {
            0 => {}
            1 => list.push("an extra channel".into()),
            n => list.push(format!("{n} extra channels")),
        }
        if in_tiff && self.compression().is_none() {
            list.push(format!("the compression {:?} (written uncompressed)", self.compression));
        }
        let tags = self.tags.iter().map(|t| t.0.to_u16()).filter(|_| !in_tiff);
        let mut dng = false;
        for tag in tags.chain(self.left.iter().copied()) {
            if !DNG.contains(&tag) {
                list.push(label(tag));
            } else if !dng {
                dng = true;
                list.push("DNG's tags".into());
            }
        }
        list
    }
}

/// The name of a tag.
fn label(tag: u16) -> String {
    let known = match tag {
        269 => "the document name",
        270 => "the description",
        271 | 272 => "the camera",
        285 => "the page name",
        297 => "the page number",
        301 => "the transfer function",
        305 => "the software",
        306 => "the date",
        315 => "the artist",
        316 => "the computer",
        318 => "the white point",
        319 => "the primaries",
        330 => "smaller pictures",
        700 => "XMP",
        33432 => "the copyright",
        33723 => "IPTC",
        34377 => "Photoshop's data",
        34665 => "Exif",
        34853 => "GPS",
        _ => return format!("tag {tag}"),
    };
    known.into()
}

/// A TIFF of half floats, or of grey floats, which the image library does not read: it becomes RGB of floats.
pub(super) struct FloatTiff<'a> {
    decoder: Decoder<Cursor<&'a [u8]>>,
    size: (u32, u32),
    channels: usize,
}

impl<'a> FloatTiff<'a> {
    /// `None` if the file is of another variant.
    pub(super) fn open(file: &'a [u8]) -> Option<FloatTiff<'a>> {
        let decoder = Decoder::new(Cursor::new(file)).ok()?;
        // the size is checked before anything is read
        let mut decoder = decoder.with_limits(::tiff::decoder::Limits::unlimited());
        let size = decoder.dimensions().ok()?;
        let (bits, channels) = match decoder.colortype().ok()? {
            ::tiff::ColorType::Gray(bits) => (bits, 1),
            ::tiff::ColorType::RGB(bits) => (bits, 3),
            ::tiff::ColorType::RGBA(bits) => (bits, 4),
            _ => return None,
        };
        let formats: Vec<u16> = decoder.find_tag_unsigned_vec(Tag::SampleFormat).ok()??;
        let apart = decoder.find_tag_unsigned::<u16>(Tag::PlanarConfiguration).ok()? == Some(2);
        let floats = formats.iter().all(|&format| format == 3) && (bits == 16 || bits == 32);
        (floats && !apart).then_some(FloatTiff { decoder, size, channels })
    }
}

impl ImageDecoder for FloatTiff<'_> {
    fn dimensions(&self) -> (u32, u32) {
        self.size
    }

    fn color_type(&self) -> image::ColorType {
        if self.channels == 4 { image::ColorType::Rgba32F } else { image::ColorType::Rgb32F }
    }

    fn read_image(mut self, out: &mut [u8]) -> ImageResult<()> {
        let hint = || ImageFormatHint::Exact(image::ImageFormat::Tiff);
        let damaged = |e: TiffError| ImageError::Decoding(DecodingError::new(hint(), e));
        let samples: Vec<f32> = match self.decoder.read_image().map_err(damaged)? {
            DecodingResult::F16(samples) => samples.into_iter().map(|v| v.to_f32()).collect(),
            DecodingResult::F32(samples) => samples,
            _ => Vec::new(),
        };
        let same = if self.channels == 1 { 3 } else { 1 };
        let all = samples.iter().flat_map(|v| std::iter::repeat_n(v, same));
        out.as_chunks_mut::<4>().0.iter_mut().zip(all).for_each(|(o, v)| *o = v.to_ne_bytes());
        Ok(())
    }

    fn read_image_boxed(self: Box<Self>, out: &mut [u8]) -> ImageResult<()> {
        (*self).read_image(out)
    }
}

/// Appends a picture as a file; `data` are its interleaved samples.
pub(super) fn encode(
    format: &Format,
    data: &[u8],
    meta: Option<&Meta>,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let mut file = Cursor::new(Vec::new());
    let written = match (format.family, format.depth) {
        (Family::Gray, Depth::Bits(8)) => write::<Gray8>(&mut file, format, data, meta),
        (Family::Gray, Depth::Bits(_)) => write::<Gray16>(&mut file, format, &wide(data), meta),
        (_, Depth::Bits(8)) => write::<RGB8>(&mut file, format, data, meta),
        (_, Depth::Bits(_)) => write::<RGB16>(&mut file, format, &wide(data), meta),
        (_, Depth::Float) => write::<RGB32Float>(&mut file, format, &real(data), meta),
    };
    out.append(&mut file.into_inner());
    written.map_err(|e| match e {
        TiffError::IoError(e) => Fault::Io(e),
        e => Fault::Bad(format!("cannot be written as TIFF: {e}")),
    })
}

fn wide(data: &[u8]) -> Vec<u16> {
    data.as_chunks().0.iter().map(|s| u16::from_ne_bytes(*s)).collect()
}

fn real(data: &[u8]) -> Vec<f32> {
    data.as_chunks().0.iter().map(|s| f32::from_ne_bytes(*s)).collect()
}

fn write<C: ColorType>(
    file: &mut Cursor<Vec<u8>>,
    format: &Format,
    data: &[C::Inner],
    meta: Option<&Meta>,
) -> TiffResult<()>
where
    [C::Inner]: TiffValue,
{
    let kept = meta.and_then(|m| m.tiff.as_deref());
    let compression = kept.and_then(TiffMetadata::compression).unwrap_or_default();
    let mut tiff = TiffEncoder::new(file)?.with_compression(compression);
    let mut image = tiff.new_image::<C>(format.width, format.height)?;
    match format.alpha {
        Alpha::None => {}
        Alpha::Straight => image.extra_samples(&[ExtraSamples::UnassociatedAlpha])?,
        Alpha::Premultiplied => image.extra_samples(&[ExtraSamples::AssociatedAlpha])?,
    }
    for (tag, value) in kept.iter().flat_map(|k| &k.tags) {
        image.encoder().write_tag_buf(*tag, value)?;
    }
    if let Some(icc) = fitting_icc(meta, format) {
        let entry = image.encoder().write_entry_bytes(Type::UNDEFINED, icc)?;
        let mut directory = Directory::empty();
        directory.extend([(Tag::IccProfile, entry)]);
        image.encoder().extend_from(&directory);
    }
    if let Some(orientation @ 2..) = meta.map(|m| m.orientation) {
        image.encoder().write_tag(Tag::Orientation, u16::from(orientation))?;
    }
    if let Some(density) = meta.and_then(|m| m.density) {
        let (x, y, unit) = match (density.unit, density.per_inch()) {
            (Unit::Centimetre, _) => (density.x, density.y, ResolutionUnit::Centimeter),
            (_, Some((x, y))) => (x, y, ResolutionUnit::Inch),
            (_, None) => (density.x, density.y, ResolutionUnit::None),
        };
        image.resolution_unit(unit);
        image.x_resolution(rational(x));
        image.y_resolution(rational(y));
    }
    image.write_data(data)
}

/// An integer is exact; other values have ten thousandths, for example 300 dots per inch in metres.
fn rational(value: f64) -> Rational {
    let fraction = |d: f64| Rational { n: (value * d + 0.5).clamp(1.0, u32::MAX.into()) as u32, d: d as u32 };
    let exact = fraction(1.0);
    if (f64::from(exact.n) - value).abs() < 1e-9 { exact } else { fraction(10_000.0) }
}
