//! Access to libav's structures beyond the wrapper's accessors.
//!
//! `ffmpeg-next` owns contexts, packets and frames, and frees them. It has accessors for few of their fields; a borrow of
//! the structure itself has all of them, as long as its owner is borrowed.

use ffmpeg_next::codec::Parameters;
use ffmpeg_next::packet::{Mut, Ref};
use ffmpeg_next::{Frame, Packet, codec, format};
use ffmpeg_sys_next as sys;

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

/// The streams of a context.
pub(crate) fn streams(context: &sys::AVFormatContext) -> &[&sys::AVStream] {
    match context.nb_streams as usize {
        0 => &[],
        // SAFETY: the list has this number of streams, none of them null, and changes with the context only.
        count => unsafe { std::slice::from_raw_parts(context.streams.cast_const().cast(), count) },
    }
}

/// The codec parameters of a stream.
pub(crate) fn parameters(stream: &sys::AVStream) -> &sys::AVCodecParameters {
    // SAFETY: every stream has parameters, as long as it lives.
    unsafe { &*stream.codecpar }
}

/// The codec's header.
pub(crate) fn extra(par: &sys::AVCodecParameters) -> &[u8] {
    match usize::try_from(par.extradata_size) {
        // SAFETY: libav keeps this number of bytes as long as the parameters live.
        Ok(size) if !par.extradata.is_null() => unsafe { std::slice::from_raw_parts(par.extradata, size) },
        _ => &[],
    }
}
