//! Single pictures in formats of film and cinema with libav's codecs: DPX and JPEG 2000. A file is one
//! packet.

use super::color::Tag;
use super::error::{AvError, check};
use super::log::{Log, said};
use super::owned::{AvFrame, NO_MEMORY, Packet};
use super::pixfmt::{self, Layout, Unsupported};
use ffmpeg_sys_next as sys;
use grainfield_filters::frame::{Format, Frame, Primaries, Transfer};
use std::ffi::CStr;
use std::ptr;

/// Which codec.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Still {
    /// SMPTE 268M.
    Dpx,
    /// A JPEG 2000 code stream.
    J2k,
    /// JPEG 2000 in its own file format.
    Jp2,
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

impl From<AvError> for StillError {
    fn from(e: AvError) -> StillError {
        StillError::Av(e, said())
    }
}

impl Still {
    fn codec(self) -> sys::AVCodecID {
        match self {
            Still::Dpx => sys::AVCodecID::AV_CODEC_ID_DPX,
            Still::J2k | Still::Jp2 => sys::AVCodecID::AV_CODEC_ID_JPEG2000,
        }
    }
}

/// A codec's context.
struct Context(*mut sys::AVCodecContext);

impl Context {
    /// # Safety
    /// `codec` must be null or one of libav's static descriptions.
    unsafe fn new(codec: *const sys::AVCodec) -> Result<Context, StillError> {
        if codec.is_null() {
            return Err(StillError::NoCodec);
        }
        // SAFETY: guaranteed by the caller; returns a new context or null.
        let context = unsafe { sys::avcodec_alloc_context3(codec) };
        if context.is_null() { Err(NO_MEMORY.into()) } else { Ok(Context(context)) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: allocated in `new`, freed once.
        unsafe { sys::avcodec_free_context(&mut self.0) }
    }
}

/// A decoded picture.
pub struct Decoded {
    picture: AvFrame,
    layout: Layout,
    /// Its format; range and rate are not from the file.
    pub format: Format,
}

impl Decoded {
    /// Extracts the samples. Panics unless `out` has this format's shape.
    pub fn unpack(&self, out: &mut Frame) {
        let shape = |f: &Format| (f.width, f.height, f.family, f.depth, f.subsampling, f.has_alpha());
        assert_eq!(shape(&self.format), shape(out.format()));
        // SAFETY: layout and format were made from this frame, and the shape has just been compared.
        unsafe { self.layout.unpack(self.picture.get(), out) }
    }

    /// libav's name of the pixel format in the file.
    pub fn stored(&self) -> &str {
        &self.layout.name
    }
}

/// Decodes a file's bytes.
pub fn decode(still: Still, file: &[u8]) -> Result<Decoded, StillError> {
    let _log = Log::new().enter();
    let size = i32::try_from(file.len()).map_err(|_| AvError(-libc::EFBIG))?;
    let packet = Packet::new()?;
    let picture = AvFrame::new()?;
    // SAFETY: the packet gets a buffer of the file's size, with libav's padding; the decoder is open when it is
    // used.
    unsafe {
        let codec = sys::avcodec_find_decoder(still.codec());
        let context = Context::new(codec)?;
        (*context.0).thread_count = 1; // every picture has its own thread
        (*context.0).err_recognition = sys::AV_EF_EXPLODE;
        if still == Still::Dpx {
            // the compression ratio of its run-length code is lower than this
            (*context.0).max_pixels = i64::from(size).saturating_mul(512);
        }
        check(sys::avcodec_open2(context.0, codec, ptr::null_mut()))?;
        check(sys::av_new_packet(packet.as_ptr(), size))?;
        ptr::copy_nonoverlapping(file.as_ptr(), (*packet.as_ptr()).data, file.len());
        check(sys::avcodec_send_packet(context.0, packet.as_ptr()))?;
        check(sys::avcodec_receive_frame(context.0, picture.as_ptr()))?;
    }
    if picture.damaged() {
        return Err(AvError(sys::AVERROR_INVALIDDATA).into());
    }
    let layout = Layout::of(picture.pix_fmt())?;
    let f = picture.get();
    let mut format = layout.format(f.width.max(0) as u32, f.height.max(0) as u32);
    format.primaries = Primaries::from_av(f.color_primaries);
    format.transfer = Transfer::from_av(f.color_trc);
    Ok(Decoded { picture, layout, format })
}

/// Appends a picture as a file. `interleave` writes row `y` as packed samples, for formats that are not planar.
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
    let found = if packed.is_empty() { pixfmt::exact(format) } else { pixfmt::by_name(packed) };
    let pix_fmt = found.ok_or_else(shape)?;
    let packet = Packet::new()?;
    let picture = AvFrame::new()?;
    // SAFETY: the frame gets buffers of the size and format that are written then; the encoder is open when it is
    // used.
    unsafe {
        let jpeg = matches!(still, Still::J2k | Still::Jp2);
        // libav's own JPEG 2000 encoder loses bits of deep samples.
        let own = sys::avcodec_find_encoder(still.codec());
        let other = sys::avcodec_find_encoder_by_name(c"libopenjpeg".as_ptr());
        let codec = if jpeg && !other.is_null() { other } else { own };
        if jpeg && codec == own && format.depth.bytes() > 1 {
            return Err(shape());
        }
        let context = Context::new(codec)?;
        let c = &mut *context.0;
        (c.width, c.height, c.pix_fmt) = (format.width as i32, format.height as i32, pix_fmt);
        c.time_base = sys::AVRational { num: 1, den: 25 };
        (c.color_primaries, c.color_trc) = (format.primaries.to_av(), format.transfer.to_av());
        c.thread_count = 1;
        let set = |key: &CStr, value: &CStr| {
            sys::av_opt_set((*context.0).priv_data, key.as_ptr(), value.as_ptr(), 0);
        };
        if jpeg {
            // the lossless wavelet, by the name of each encoder
            set(c"pred", c"dwt53");
            set(c"irreversible", c"0");
            set(c"format", if still == Still::J2k { c"j2k" } else { c"jp2" });
            // each resolution halves the sides, and the default of 6 requires 32 samples per side
            let least = format.width.min(format.height).max(1).ilog2() + 1;
            if least < 6 {
                sys::av_opt_set_int((*context.0).priv_data, c"numresolution".as_ptr(), i64::from(least), 0);
            }
        }
        check(sys::avcodec_open2(context.0, codec, ptr::null_mut()))?;
        let f = &mut *picture.as_ptr();
        (f.width, f.height, f.format) = (format.width as i32, format.height as i32, pix_fmt as i32);
        (f.color_primaries, f.color_trc) = (format.primaries.to_av(), format.transfer.to_av());
        check(sys::av_frame_get_buffer(f, 0))?;
        if packed.is_empty() {
            Layout::of(pix_fmt)?.pack(frame, f);
        } else {
            let line = format.width as usize * format.planes() * format.depth.bytes();
            for y in 0..format.height as usize {
                let start = f.data[0].offset(y as isize * f.linesize[0] as isize);
                ptr::write_bytes(start, 0, line);
                interleave(y, std::slice::from_raw_parts_mut(start, line));
            }
        }
        check(sys::avcodec_send_frame(context.0, f))?;
        check(sys::avcodec_send_frame(context.0, ptr::null()))?;
        check(sys::avcodec_receive_packet(context.0, packet.as_ptr()))?;
    }
    out.extend_from_slice(packet.data());
    Ok(())
}
