//! Owners of libav's structures that free them.

use ffmpeg_sys_next as sys;
use std::ffi::{CStr, CString};
use std::ptr;

/// A dictionary of options or tags.
#[derive(Debug)]
pub(crate) struct Dict(pub(crate) *mut sys::AVDictionary);

impl Dict {
    pub(crate) const fn new() -> Dict {
        Dict(ptr::null_mut())
    }

    /// Sets a key; a text that contains a zero byte is left out.
    pub(crate) fn set(&mut self, key: &str, value: &str) {
        if let (Ok(key), Ok(value)) = (CString::new(key), CString::new(value)) {
            // SAFETY: libav copies both strings.
            unsafe { sys::av_dict_set(&mut self.0, key.as_ptr(), value.as_ptr(), 0) };
        }
    }

    /// The keys: after opening, those that were unknown.
    pub(crate) fn keys(&self) -> Vec<String> {
        // SAFETY: the dictionary is ours and does not change during the call.
        unsafe { entries(self.0) }.into_iter().map(|e| e.0).collect()
    }
}

impl Drop for Dict {
    fn drop(&mut self) {
        // SAFETY: ours alone.
        unsafe { sys::av_dict_free(&mut self.0) }
    }
}

/// All keys and values.
///
/// # Safety
/// `dict` must be null or a valid dictionary.
pub(crate) unsafe fn entries(dict: *const sys::AVDictionary) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut last = ptr::null();
    let any = c"";
    loop {
        // SAFETY: guaranteed by the caller; entries and their strings are valid as long as the dictionary is
        // unchanged.
        unsafe {
            last = sys::av_dict_get(dict, any.as_ptr(), last, sys::AV_DICT_IGNORE_SUFFIX).cast_const();
            let Some(entry) = last.as_ref() else { return all };
            let text = |p: *const _| CStr::from_ptr(p).to_string_lossy().into_owned();
            all.push((text(entry.key), text(entry.value)));
        }
    }
}

macro_rules! owner {
    ($(#[$doc:meta])* $name:ident, $av:ident, $alloc:ident, $free:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) struct $name(pub(crate) *mut sys::$av);

        impl $name {
            /// `None` if out of memory.
            pub(crate) fn new() -> Option<$name> {
                // SAFETY: no preconditions; null means out of memory.
                let made = unsafe { sys::$alloc() };
                (!made.is_null()).then_some($name(made))
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: ours alone, freed once.
                unsafe { sys::$free(&mut self.0) }
            }
        }

        // SAFETY: owned by one thread at a time; libav keeps nothing about it in thread-local storage.
        unsafe impl Send for $name {}
    };
}

owner!(
    /// A packet.
    Packet, AVPacket, av_packet_alloc, av_packet_free
);
owner!(
    /// A frame.
    AvFrame, AVFrame, av_frame_alloc, av_frame_free
);

/// An encoder or decoder.
#[derive(Debug)]
pub(crate) struct Codec(pub(crate) *mut sys::AVCodecContext);

impl Codec {
    /// `None` if out of memory.
    ///
    /// # Safety
    /// `codec` must be null or one of libav's static descriptions.
    pub(crate) unsafe fn new(codec: *const sys::AVCodec) -> Option<Codec> {
        // SAFETY: guaranteed by the caller.
        let made = unsafe { sys::avcodec_alloc_context3(codec) };
        (!made.is_null()).then_some(Codec(made))
    }
}

impl Drop for Codec {
    fn drop(&mut self) {
        // SAFETY: ours alone, freed once.
        unsafe { sys::avcodec_free_context(&mut self.0) }
    }
}

// SAFETY: owned by one thread at a time; libav's codecs may be used from different threads one after another.
unsafe impl Send for Codec {}

/// Text from libav, empty for null.
///
/// # Safety
/// `text` must be null or zero-terminated.
pub(crate) unsafe fn text(text: *const std::ffi::c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: guaranteed by the caller.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
