//! Access to libav's structures beyond the wrapper's accessors.
//!
//! `ffmpeg-next` owns contexts, packets and frames, and frees them. It has accessors for few of their fields; a borrow of
//! the structure itself has all of them, as long as its owner is borrowed.

use super::dict::Dict;
use super::error::{AvError, check};
use ffmpeg_next::codec::Parameters;
use ffmpeg_next::decoder::{Decoder, Opened};
use ffmpeg_next::packet::{Mut, Ref};
use ffmpeg_next::{Codec, Frame, Packet, codec, format};
use ffmpeg_sys_next as sys;
use grainfield_filters::ratio::Ratio;

/// An owner of one of libav's structures.
pub(crate) trait Fields {
    /// The structure.
    type Av;

    fn av(&self) -> &Self::Av;
    fn av_mut(&mut self) -> &mut Self::Av;
}

macro_rules! fields {
    ($($owner:ty: $av:ident),*) => {$(
        impl Fields for $owner {
            type Av = sys::$av;

            fn av(&self) -> &sys::$av {
                // SAFETY: the owner's pointer is valid as long as the owner.
                unsafe { &*self.as_ptr() }
            }

            fn av_mut(&mut self) -> &mut sys::$av {
                // SAFETY: as above; the owner is borrowed exclusively.
                unsafe { &mut *self.as_mut_ptr() }
            }
        }
    )*};
}

fields! {
    codec::Context: AVCodecContext,
    format::context::Input: AVFormatContext,
    format::context::Output: AVFormatContext,
    Frame: AVFrame,
    Packet: AVPacket,
    Parameters: AVCodecParameters
}

/// libav's description of a codec.
pub(crate) fn description(codec: Codec) -> &'static sys::AVCodec {
    // SAFETY: descriptions are static.
    unsafe { &*codec.as_ptr() }
}

/// The streams of a context.
pub(crate) fn streams(context: &sys::AVFormatContext) -> &[&sys::AVStream] {
    match context.nb_streams as usize {
        0 => &[],
        // SAFETY: the list has this number of streams, none of them null, and changes with the context only.
        count => unsafe { std::slice::from_raw_parts(context.streams.cast_const().cast(), count) },
    }
}

/// A stream of a context, to be changed.
pub(crate) fn stream_mut(context: &mut sys::AVFormatContext, index: usize) -> Option<&mut sys::AVStream> {
    // SAFETY: the index is within the list, and the context is borrowed exclusively.
    (index < context.nb_streams as usize).then(|| unsafe { &mut **context.streams.add(index) })
}

/// The codec parameters of a stream.
pub(crate) fn parameters(stream: &sys::AVStream) -> &sys::AVCodecParameters {
    // SAFETY: every stream has parameters, as long as it lives.
    unsafe { &*stream.codecpar }
}

/// The codec parameters of a stream, to be changed.
pub(crate) fn parameters_mut(stream: &mut sys::AVStream) -> &mut sys::AVCodecParameters {
    // SAFETY: as above; the stream is borrowed exclusively.
    unsafe { &mut *stream.codecpar }
}

/// Sets the codec parameters of a stream.
pub(crate) fn set_parameters(to: &mut sys::AVStream, from: &sys::AVCodecParameters) -> Result<(), AvError> {
    // SAFETY: both are valid; libav copies what they point to.
    check(unsafe { sys::avcodec_parameters_copy(to.codecpar, from) }).map(drop)
}

/// The codec's header.
pub(crate) fn extra(par: &sys::AVCodecParameters) -> &[u8] {
    match usize::try_from(par.extradata_size) {
        // SAFETY: libav keeps this number of bytes as long as the parameters live.
        Ok(size) if !par.extradata.is_null() => unsafe { std::slice::from_raw_parts(par.extradata, size) },
        _ => &[],
    }
}

/// Replaces the codec's header.
pub(crate) fn set_extra(par: &mut sys::AVCodecParameters, extra: &[u8]) -> Result<(), AvError> {
    let size = i32::try_from(extra.len()).map_err(|_| AvError::MEMORY)?;
    let new = if extra.is_empty() { std::ptr::null_mut() } else { duplicate(extra)? };
    // SAFETY: the old bytes are libav's, and nothing else refers to them.
    unsafe { sys::av_free(par.extradata.cast()) };
    (par.extradata, par.extradata_size) = (new, size);
    Ok(())
}

/// A copy of bytes for a structure of libav, which frees them, with the padding that readers expect.
pub(crate) fn duplicate(bytes: &[u8]) -> Result<*mut u8, AvError> {
    // SAFETY: new memory of this size, or null.
    unsafe {
        let new = sys::av_mallocz(bytes.len() + sys::AV_INPUT_BUFFER_PADDING_SIZE as usize).cast::<u8>();
        if new.is_null() {
            return Err(AvError::MEMORY);
        }
        new.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        Ok(new)
    }
}

/// Opens a codec whose context was made for it. The options that it does not have remain; the wrapper drops them.
pub(crate) fn open(context: &mut codec::Context, options: &mut Dict) -> Result<(), AvError> {
    // SAFETY: a context with a codec, and a dictionary of ours.
    check(unsafe { sys::avcodec_open2(context.as_mut_ptr(), std::ptr::null(), options.as_mut_ptr()) })
        .map(drop)
}

/// A decoder for a stream, not open yet.
pub(crate) fn decoder(stream: &sys::AVStream, codec: Codec) -> Result<Decoder, AvError> {
    let mut context = codec::Context::new_with_codec(codec);
    // SAFETY: both are valid; libav copies what the parameters point to.
    check(unsafe { sys::avcodec_parameters_to_context(context.as_mut_ptr(), stream.codecpar) })?;
    context.av_mut().pkt_timebase = stream.time_base;
    Ok(context.decoder())
}

/// Opens libav's decoder for a stream.
pub(crate) fn open_decoder(stream: &sys::AVStream) -> Result<Opened, AvError> {
    let codec = ffmpeg_next::decoder::find(parameters(stream).codec_id.into());
    let codec = codec.ok_or(AvError(-libc::ENOSYS))?;
    Ok(decoder(stream, codec)?.open_as(codec)?)
}

/// Whether a codec returned a frame or a packet; `false` if it has none yet, or none any more.
pub(crate) fn received(result: Result<(), ffmpeg_next::Error>) -> Result<bool, AvError> {
    match result.map_err(AvError::from) {
        Ok(()) => Ok(true),
        Err(AvError::AGAIN | AvError::EOF) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Sets the usual layout of a number of channels.
pub(crate) fn set_channels(layout: &mut sys::AVChannelLayout, channels: i32) {
    // SAFETY: a valid layout, which libav overwrites.
    unsafe { sys::av_channel_layout_default(layout, channels) }
}

/// libav's fraction; `None` if it does not fit 32 bits.
pub(crate) fn rational(r: Ratio) -> Option<sys::AVRational> {
    Some(sys::AVRational { num: r.num().try_into().ok()?, den: r.den().try_into().ok()? })
}
