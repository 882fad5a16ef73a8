//! The host's maps, clips and frames as owned values.
#![allow(unsafe_code)] // every call is to a function of the host

use crate::ffi::{self, Api};
use grainfield_filters::frame::Format;
use host_kit::HostError;
use host_kit::planes::Address;
use std::ffi::{CStr, CString, c_char, c_int};

/// The host's functions.
#[derive(Clone, Copy)]
pub(crate) struct Host(&'static Api);

impl Host {
    /// # Safety
    ///
    /// `api` must come from the host; its functions stay valid as long as the process.
    pub(crate) unsafe fn new(api: *const Api) -> Host {
        // SAFETY: guaranteed by the caller.
        Host(unsafe { &*api })
    }

    pub(crate) fn api(self) -> &'static Api {
        self.0
    }
}

pub(crate) fn fail<T>(text: impl Into<String>) -> Result<T, HostError> {
    Err(HostError(text.into()))
}

/// A text for the host: cut at a zero byte, which our texts do not contain.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// A map of the host for reading: the arguments of a call, or the properties of a frame.
#[derive(Clone, Copy)]
pub(crate) struct MapRef {
    host: Host,
    map: *const ffi::Map,
}

impl MapRef {
    /// # Safety
    ///
    /// `map` must live as long as this.
    pub(crate) unsafe fn new(host: Host, map: *const ffi::Map) -> MapRef {
        MapRef { host, map }
    }

    /// The number of values.
    pub(crate) fn count(self, key: &str) -> usize {
        // SAFETY: the map lives, and the key is zero-terminated.
        let count = unsafe { (self.host.0.map_num_elements)(self.map, c_text(key).as_ptr()) };
        usize::try_from(count).unwrap_or(0)
    }

    fn value<T>(
        self,
        key: &str,
        i: usize,
        get: unsafe extern "C" fn(*const ffi::Map, *const c_char, c_int, *mut c_int) -> T,
    ) -> Option<T> {
        let (mut error, i) = (0, c_int::try_from(i).ok()?);
        // SAFETY: as above; a missing value, or one of another type, is an error.
        let value = unsafe { get(self.map, c_text(key).as_ptr(), i, &mut error) };
        (error == 0).then_some(value)
    }

    pub(crate) fn int(self, key: &str) -> Option<i64> {
        self.value(key, 0, self.host.0.map_get_int)
    }

    pub(crate) fn float(self, key: &str) -> Option<f64> {
        self.value(key, 0, self.host.0.map_get_float)
    }

    pub(crate) fn text(self, key: &str, i: usize) -> Option<String> {
        let data = self.value(key, i, self.host.0.map_get_data)?;
        let size = usize::try_from(self.value(key, i, self.host.0.map_get_data_size)?).ok()?;
        // SAFETY: the host's data has this size and lives as long as the map.
        let bytes = unsafe { core::slice::from_raw_parts(data.cast::<u8>(), size) };
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    pub(crate) fn clip(self, key: &str, i: usize) -> Option<Clip> {
        let node = self.value(key, i, self.host.0.map_get_node)?;
        Some(Clip { host: self.host, node })
    }

    pub(crate) fn frame(self, key: &str) -> Option<Picture> {
        let frame = self.value(key, 0, self.host.0.map_get_frame)?;
        Some(Picture { host: self.host, frame })
    }
}

/// A clip: a reference to a node of the host.
pub(crate) struct Clip {
    host: Host,
    pub(crate) node: *mut ffi::Node,
}

// SAFETY: the host's nodes may be used from any thread.
unsafe impl Send for Clip {}
// SAFETY: as above.
unsafe impl Sync for Clip {}

impl Drop for Clip {
    fn drop(&mut self) {
        // SAFETY: we own the reference.
        unsafe { (self.host.0.free_node)(self.node) }
    }
}

impl Clip {
    pub(crate) fn info(&self) -> ffi::VideoInfo {
        // SAFETY: a clip's information lives as long as the clip.
        unsafe { *(self.host.0.get_video_info)(self.node) }
    }

    pub(crate) fn request(&self, n: c_int, context: *mut ffi::FrameContext) {
        // SAFETY: called while the host requests a frame.
        unsafe { (self.host.0.request_frame_filter)(n, self.node, context) }
    }

    /// A frame that has been requested.
    pub(crate) fn requested(&self, n: c_int, context: *mut ffi::FrameContext) -> Result<Picture, HostError> {
        // SAFETY: called after the host has made all requested frames.
        let frame = unsafe { (self.host.0.get_frame_filter)(n, self.node, context) };
        if frame.is_null() { fail("the host gave no frame") } else { Ok(Picture { host: self.host, frame }) }
    }

    /// Waits for a frame. Only while a filter is created.
    pub(crate) fn frame(&self, n: c_int) -> Result<Picture, HostError> {
        let mut text = [0 as c_char; 512];
        // SAFETY: the host writes a zero-terminated text of at most this size.
        let frame = unsafe { (self.host.0.get_frame)(n, self.node, text.as_mut_ptr(), text.len() as c_int) };
        if frame.is_null() {
            // SAFETY: as above.
            let text = unsafe { CStr::from_ptr(text.as_ptr()) };
            return Err(HostError(format!("frame {n}: {}", text.to_string_lossy())));
        }
        Ok(Picture { host: self.host, frame })
    }
}

/// A frame for reading: a reference to it.
pub(crate) struct Picture {
    host: Host,
    pub(crate) frame: *const ffi::Frame,
}

// SAFETY: the host's frames may be read and released on any thread; they are not written once there is a reference.
unsafe impl Send for Picture {}
// SAFETY: as above.
unsafe impl Sync for Picture {}

impl Drop for Picture {
    fn drop(&mut self) {
        // SAFETY: we own the reference.
        unsafe { (self.host.0.free_frame)(self.frame) }
    }
}

/// The host's number of our plane `p`: its order is R, G, B, ours is G, B, R.
fn own_plane(format: &Format, p: usize) -> c_int {
    let rgb = format.family == grainfield_filters::frame::Family::Rgb;
    if rgb { [1, 2, 0][p % 3] } else { p as c_int }
}

impl Picture {
    pub(crate) fn properties(&self) -> MapRef {
        // SAFETY: the properties live as long as the frame, and the caller drops them before it.
        MapRef { host: self.host, map: unsafe { (self.host.0.get_frame_properties_ro)(self.frame) } }
    }

    /// Whether it has this format and size.
    pub(crate) fn is_of(&self, info: &ffi::VideoInfo) -> bool {
        // SAFETY: the frame lives, and every format has a plane 0.
        unsafe {
            let size =
                ((self.host.0.get_frame_width)(self.frame, 0), (self.host.0.get_frame_height)(self.frame, 0));
            *(self.host.0.get_video_frame_format)(self.frame) == info.format
                && size == (info.width, info.height)
        }
    }

    /// Its colour planes in our order.
    pub(crate) fn planes(&self, format: &Format) -> Vec<Address<*const u8>> {
        let of = |p| {
            let p = own_plane(format, p);
            // SAFETY: the frame has this format, so it has the plane.
            unsafe {
                Address {
                    start: (self.host.0.get_read_ptr)(self.frame, p),
                    stride: (self.host.0.get_stride)(self.frame, p),
                }
            }
        };
        format.color_planes().iter().map(of).collect()
    }
}

/// A new frame.
pub(crate) struct NewPicture {
    host: Host,
    frame: *mut ffi::Frame,
}

impl Drop for NewPicture {
    fn drop(&mut self) {
        // SAFETY: we own the reference.
        unsafe { (self.host.0.free_frame)(self.frame) }
    }
}

impl NewPicture {
    /// A frame with the properties of another one; samples are undefined.
    pub(crate) fn new(host: Host, info: &ffi::VideoInfo, like: &Picture, core: *mut ffi::Core) -> NewPicture {
        // SAFETY: the host has provided the format, and the other frame lives.
        let frame =
            unsafe { (host.0.new_video_frame)(&info.format, info.width, info.height, like.frame, core) };
        NewPicture { host, frame }
    }

    /// Its colour planes in our order.
    pub(crate) fn planes(&mut self, format: &Format) -> Vec<Address<*mut u8>> {
        let of = |p| {
            let p = own_plane(format, p);
            // SAFETY: the frame has this format, so it has the plane.
            unsafe {
                Address {
                    start: (self.host.0.get_write_ptr)(self.frame, p),
                    stride: (self.host.0.get_stride)(self.frame, p),
                }
            }
        };
        format.color_planes().iter().map(of).collect()
    }

    pub(crate) fn set_text(&mut self, key: &str, text: &str) {
        let size = c_int::try_from(text.len()).unwrap_or(0);
        // SAFETY: the frame is exclusively ours; the host copies this number of bytes of the text.
        unsafe {
            let map = (self.host.0.get_frame_properties_rw)(self.frame);
            let (set, text) = (self.host.0.map_set_data, c_text(text));
            set(map, c_text(key).as_ptr(), text.as_ptr(), size, ffi::TYPE_UTF8, ffi::REPLACE);
        }
    }

    pub(crate) fn set_int(&mut self, key: &str, value: i64) {
        // SAFETY: the frame is exclusively ours, and the key is zero-terminated.
        unsafe {
            let map = (self.host.0.get_frame_properties_rw)(self.frame);
            (self.host.0.map_set_int)(map, c_text(key).as_ptr(), value, ffi::REPLACE);
        }
    }

    pub(crate) fn set_frame(&mut self, key: &str, frame: NewPicture) {
        // SAFETY: the frame is exclusively ours; the host takes over our reference to the other one.
        unsafe {
            let map = (self.host.0.get_frame_properties_rw)(self.frame);
            (self.host.0.map_consume_frame)(map, c_text(key).as_ptr(), frame.into_raw(), ffi::REPLACE);
        }
    }

    /// Passes our reference to the host.
    pub(crate) fn into_raw(self) -> *const ffi::Frame {
        let frame = self.frame;
        core::mem::forget(self);
        frame
    }
}
