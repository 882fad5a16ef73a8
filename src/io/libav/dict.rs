//! Dictionaries of options and tags. The wrapper's take every tag for UTF-8, which files do not promise.

use ffmpeg_sys_next as sys;
use std::ffi::{CStr, CString};
use std::{mem, ptr};

/// A key and its value.
pub(crate) type Tag = (String, String);

/// A dictionary of options or tags.
#[derive(Debug)]
pub(crate) struct Dict(*mut sys::AVDictionary);

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
        entries(&self.0).into_iter().map(|tag| tag.0).collect()
    }

    /// For calls that take options and leave those that they do not know.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut *mut sys::AVDictionary {
        &mut self.0
    }
}

impl Drop for Dict {
    fn drop(&mut self) {
        // SAFETY: ours alone.
        unsafe { sys::av_dict_free(&mut self.0) }
    }
}

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
    fn metadata_mut(&mut self) -> &mut *mut sys::AVDictionary;

    /// All tags.
    fn tags(&self) -> Vec<Tag> {
        entries(self.metadata())
    }

    /// Adds tags, in place of those of the same names.
    fn add_tags(&mut self, tags: impl IntoIterator<Item = Tag>) {
        let mut own = Dict(mem::replace(self.metadata_mut(), ptr::null_mut()));
        tags.into_iter().for_each(|(key, value)| own.set(&key, &value));
        mem::swap(self.metadata_mut(), &mut own.0);
    }
}

macro_rules! tagged {
    ($($name:ident),*) => {$(
        impl Tagged for sys::$name {
            fn metadata(&self) -> &*mut sys::AVDictionary {
                &self.metadata
            }

            fn metadata_mut(&mut self) -> &mut *mut sys::AVDictionary {
                &mut self.metadata
            }
        }
    )*};
}

tagged!(AVFormatContext, AVStream, AVChapter);
