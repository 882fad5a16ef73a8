//! A chosen encoder, and what libav does not tell about encoders.

use crate::libav::container::{Container, among};
use crate::libav::pixfmt::Layout;
use crate::libav::raw::description;
use ffmpeg_next::Codec;
use ffmpeg_sys_next as sys;
use grainfield_filters::frame::{Format, Siting};
use std::ffi::CStr;

/// An encoder and its parameters.
#[derive(Clone)]
pub(crate) struct Choice {
    pub(crate) codec: Codec,
    /// The format of every picture.
    pub(crate) format: Format,
    pub(crate) pix_fmt: sys::AVPixelFormat,
    pub(crate) layout: Layout,
}

impl Choice {
    /// libav's name of the encoder.
    pub(crate) fn name(&self) -> &str {
        self.codec.name()
    }
}

/// Encoders that neither code fields nor signal that a frame consists of two.
pub(super) const PROGRESSIVE_ONLY: &str = "libx265 libsvtav1 libaom-av1 librav1e libvpx libvpx-vp9 libtheora";

/// Encoders that code fields if an option is set.
pub(super) const INTERLACED_BY_FLAG: &str =
    "libx264 mpeg2video mpeg4 prores_ks prores prores_aw dnxhd libxvid";

/// Encoders whose streams signal the field order, in any container.
pub(super) const SIGNAL_FIELDS: &str =
    "libx264 libx264rgb mpeg2video mpeg4 prores_ks prores prores_aw dnxhd dvvideo ffv1";

/// Encoders that write all of the colour tags into the stream itself.
pub(super) const SIGNAL_COLOR: &str = "libx264 libx264rgb libx265 libsvtav1 libaom-av1 librav1e";

/// Encoders that write all of them except the range.
pub(super) const SIGNAL_COLOR_EXCEPT_RANGE: &str = "mpeg2video prores_ks prores prores_aw";

/// Whether full range is signalled to readers: by the stream, or by Matroska if the stream does not specify it.
/// (QuickTime's field for it is not written.)
pub(super) fn keeps_full_range(to: Container, name: &str) -> bool {
    const LIMITED: &str = "mpeg1video mpeg2video magicyuv prores_ks prores prores_aw libvpx";
    let in_stream = among(SIGNAL_COLOR, name) || among("libvpx-vp9 mjpeg dnxhd", name);
    in_stream || (to.is_matroska() && !among(LIMITED, name))
}

/// The siting of 4:2:0 chroma that readers of an encoder's streams assume by default.
pub(super) fn assumed_siting(name: &str) -> Siting {
    match name {
        "mjpeg" | "libtheora" | "mpeg1video" => Siting::Center,
        "dvvideo" => Siting::TopLeft,
        _ => Siting::Left,
    }
}

/// A private option of an encoder.
pub(super) fn private_option(codec: Codec, name: &CStr) -> Option<&'static sys::AVOption> {
    let class: *const sys::AVClass = description(codec).priv_class;
    if class.is_null() {
        return None;
    }
    // SAFETY: a search in a static class by a pointer to a pointer to it, as libav requires with this flag; its options
    // are static too.
    unsafe {
        let searched = (&raw const class).cast_mut().cast();
        let flag = sys::AV_OPT_SEARCH_FAKE_OBJ;
        sys::av_opt_find(searched, name.as_ptr(), std::ptr::null(), 0, flag).as_ref()
    }
}
