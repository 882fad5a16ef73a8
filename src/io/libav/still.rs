//! Single pictures with libav's codecs: DPX, JPEG 2000 and JPEG XL. A file is one packet.

use super::color::Tag;
use super::error::AvError;
use super::log::{Log, recent_messages};
use super::picture::is_damaged;
use super::pixfmt::{self, Layout, Unsupported};
use super::raw::Fields;
use ffmpeg_next::codec::{Context, Id, decoder, encoder};
use ffmpeg_next::{Dictionary, Packet, frame};
use ffmpeg_sys_next as sys;
use grainfield_filters::frame::{Format, Frame, Primaries, Transfer};

/// Which codec.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Still {
    /// SMPTE 268M.
    Dpx,
    /// A JPEG 2000 code stream.
    J2k,
    /// JPEG 2000 in its own file format.
    Jp2,
    /// JPEG XL, without loss.
    Jxl,
}

/// An error while reading or writing a picture.
#[derive(Debug, thiserror::Error)]
pub enum StillError {
    /// An error of libav, with its messages.
    #[error("{0}{1}")]
    Av(AvError, String),
    /// It decodes to an unsupported picture.
    #[error("{0}")]
    Format(#[from] Unsupported),
    /// This libav lacks the codec.
    #[error("this FFmpeg lacks the codec")]
    NoCodec,
    /// No pixel format of the encoder has these samples.
    #[error("{0} is not supported by the encoder")]
    Shape(String),
}

impl<E: Into<AvError>> From<E> for StillError {
    fn from(e: E) -> StillError {
        StillError::Av(e.into(), recent_messages())
    }
}

impl Still {
    fn codec(self) -> Id {
        match self {
            Still::Dpx => Id::DPX,
            Still::J2k | Still::Jp2 => Id::JPEG2000,
            Still::Jxl => Id::JPEGXL,
        }
    }
}

/// A decoded picture.
pub struct Decoded {
    picture: frame::Video,
    layout: Layout,
    /// Its format; range and rate are not from the file.
    pub format: Format,
}

impl Decoded {
    /// Extracts the samples. Panics unless `out` has this format's shape.
    pub fn unpack(&self, out: &mut Frame) {
        let shape = |f: &Format| (f.width, f.height, f.family, f.depth, f.subsampling, f.has_alpha());
        assert_eq!(shape(&self.format), shape(out.format()));
        self.layout.unpack(&self.picture, out);
    }

    /// libav's name of the pixel format in the file.
    pub fn stored(&self) -> &str {
        &self.layout.name
    }
}

/// Decodes a file's bytes.
///
/// # Errors
/// libav cannot decode the bytes, or their pixel format has no counterpart.
pub fn decode(still: Still, file: &[u8]) -> Result<Decoded, StillError> {
    let _log = Log::new().enter();
    let size = i32::try_from(file.len()).map_err(|_| AvError(-libc::EFBIG))?;
    let codec = decoder::find(still.codec()).ok_or(StillError::NoCodec)?;
    let mut context = Context::new_with_codec(codec);
    let fields = context.av_mut();
    fields.thread_count = 1; // every picture has its own thread
    fields.err_recognition = sys::AV_EF_EXPLODE;
    if still == Still::Dpx {
        // the compression ratio of its run-length code is lower than this
        fields.max_pixels = i64::from(size).saturating_mul(512);
    }
    let mut decoder = context.decoder().open_as(codec)?;
    let mut packet = Packet::new(file.len());
    packet.data_mut().ok_or(AvError::MEMORY)?.copy_from_slice(file);
    decoder.send_packet(&packet)?;
    let mut picture = frame::Video::empty();
    decoder.receive_frame(&mut picture)?;
    if is_damaged(&picture) {
        return Err(AvError(sys::AVERROR_INVALIDDATA).into());
    }
    let layout = Layout::new(picture.format())?;
    let f = picture.av();
    let mut format = layout.format(f.width.max(0) as u32, f.height.max(0) as u32);
    format.primaries = Primaries::from_av(f.color_primaries);
    format.transfer = Transfer::from_av(f.color_trc);
    Ok(Decoded { picture, layout, format })
}

/// Appends a picture as a file. `interleave` writes row `y` as packed samples, for formats that are not planar.
///
/// # Errors
/// libav has no such encoder, or cannot encode the picture.
pub fn encode(
    still: Still,
    frame: &Frame,
    interleave: impl Fn(usize, &mut [u8]),
    out: &mut Vec<u8>,
) -> Result<(), StillError> {
    let _log = Log::new().enter();
    let format = frame.format();
    let packed = match format.name().as_str() {
        "gbrp" => "rgb24",
        "gbrap" => "rgba",
        "gbrp16" => "rgb48le",
        "gbrap16" => "rgba64le",
        _ => "",
    };
    let shape = || StillError::Shape(format.name());
    let found =
        if packed.is_empty() { pixfmt::exact(format).map(Into::into) } else { pixfmt::by_name(packed) };
    let pix_fmt = found.ok_or_else(shape)?;
    let jpeg = matches!(still, Still::J2k | Still::Jp2);
    // libav's own JPEG 2000 encoder loses bits of deep samples.
    let codec = match encoder::find_by_name("libopenjpeg").filter(|_| jpeg) {
        None if jpeg && format.depth.bytes() > 1 => return Err(shape()),
        other => other.or_else(|| encoder::find(still.codec())).ok_or(StillError::NoCodec)?,
    };
    let mut context = Context::new_with_codec(codec);
    let c = context.av_mut();
    (c.width, c.height, c.pix_fmt) = (format.width as i32, format.height as i32, pix_fmt.into());
    c.time_base = sys::AVRational { num: 1, den: 25 };
    (c.color_primaries, c.color_trc) = (format.primaries.to_av(), format.transfer.to_av());
    c.thread_count = 1;
    let mut options = Dictionary::new();
    if jpeg {
        // the lossless wavelet, by the name of each encoder
        options.set("pred", "dwt53");
        options.set("irreversible", "0");
        options.set("format", if still == Still::J2k { "j2k" } else { "jp2" });
        // each resolution halves the sides, and the default of 6 requires 32 samples per side
        let least = format.width.min(format.height).max(1).ilog2() + 1;
        options.set("numresolution", &least.min(6).to_string());
    }
    if still == Still::Jxl {
        options.set("distance", "0");
    }
    let mut encoder = context.encoder().video()?.open_as_with(codec, options)?;
    let mut picture = frame::Video::new(pix_fmt, format.width, format.height);
    picture.set_color_primaries(format.primaries.to_av().into());
    picture.set_color_transfer_characteristic(format.transfer.to_av().into());
    if picture.av().data[0].is_null() {
        return Err(AvError::MEMORY.into());
    }
    if packed.is_empty() {
        Layout::new(pix_fmt)?.pack(frame.as_ref(), &mut picture);
    } else {
        let (stride, bytes) =
            (picture.stride(0), format.width as usize * format.planes() * format.depth.bytes());
        for (y, row) in picture.data_mut(0).chunks_exact_mut(stride).enumerate() {
            row.fill(0);
            interleave(y, &mut row[..bytes]);
        }
    }
    let mut packet = Packet::empty();
    encoder.send_frame(&picture)?;
    encoder.send_eof()?;
    encoder.receive_packet(&mut packet)?;
    out.extend_from_slice(packet.data().unwrap_or_default());
    Ok(())
}
