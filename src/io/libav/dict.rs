//! Dictionaries of tags. The wrapper's take every tag for UTF-8, which files do not promise.

use ffmpeg_sys_next as sys;
use std::ffi::CStr;
use std::ptr;

/// A key and its value.
pub(crate) type Tag = (String, String);

/// All keys and values of a structure's dictionary.
fn entries(dict: &*mut sys::AVDictionary) -> Vec<Tag> {
    let mut all = Vec::new();
    let mut last = ptr::null();
    loop {
        // SAFETY: null or valid, as every structure of libav keeps it; entries and their strings are valid as long as
        // the dictionary is unchanged.
        unsafe {
            last = sys::av_dict_get(*dict, c"".as_ptr(), last, sys::AV_DICT_IGNORE_SUFFIX).cast_const();
            let Some(entry) = last.as_ref() else { return all };
            let text = |p: *const _| CStr::from_ptr(p).to_string_lossy().into_owned();
            all.push((text(entry.key), text(entry.value)));
        }
    }
}

/// A structure of libav with tags.
pub(crate) trait Tagged {
    fn metadata(&self) -> &*mut sys::AVDictionary;

    /// All tags.
    fn tags(&self) -> Vec<Tag> {
        entries(self.metadata())
    }
}

macro_rules! tagged {
    ($($name:ident),*) => {$(
        impl Tagged for sys::$name {
            fn metadata(&self) -> &*mut sys::AVDictionary {
                &self.metadata
            }
        }
    )*};
}

tagged!(AVFormatContext, AVStream, AVChapter);
