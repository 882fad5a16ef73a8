//! Samples in memory as libav's raw video stores them: without padding, in any of its pixel formats.

use super::error::{AvError, check};
use super::pixfmt::{Layout, by_name};
use super::raw::Fields;
use ffmpeg_next::frame;
use ffmpeg_sys_next as sys;
use grainfield_filters::frame::{Format, Frame};

/// The layout of a picture's bytes.
#[derive(Clone, Debug)]
pub struct Packed {
    layout: Layout,
    pix_fmt: sys::AVPixelFormat,
    width: i32,
    height: i32,
    bytes: usize,
}

impl Packed {
    /// That of libav's pixel format of this name; `None` if it has none that can be converted to planes, or if the size
    /// exceeds its limits.
    pub fn new(pix_fmt: &str, width: u32, height: u32) -> Option<Packed> {
        let found = by_name(pix_fmt)?;
        let layout = Layout::new(found).ok()?;
        let (pix_fmt, width, height) =
            (found.into(), i32::try_from(width).ok()?, i32::try_from(height).ok()?);
        // SAFETY: computes a number.
        let bytes = unsafe { sys::av_image_get_buffer_size(pix_fmt, width, height, 1) };
        Some(Packed { layout, pix_fmt, width, height, bytes: usize::try_from(bytes).ok()? })
    }

    /// The format of its planes.
    pub fn format(&self) -> Format {
        self.layout.format(self.width as u32, self.height as u32)
    }

    /// The bytes of a picture.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether it can be written.
    pub fn can_pack(&self) -> bool {
        self.layout.can_pack()
    }

    /// Extracts the planes of a picture of [`bytes`](Packed::bytes) bytes.
    ///
    /// # Errors
    /// Out of memory.
    ///
    /// # Panics
    /// If there are fewer bytes, or the frame has another format or size.
    pub fn unpack(&self, bytes: &[u8], out: &mut Frame) -> Result<(), AvError> {
        assert!(bytes.len() >= self.bytes, "{} of {} bytes", bytes.len(), self.bytes);
        // SAFETY: the bytes are borrowed longer than the picture, which is only read.
        let picture = unsafe { self.picture(bytes.as_ptr().cast_mut()) }?;
        self.layout.unpack(&picture, out);
        Ok(())
    }

    /// Appends a picture.
    ///
    /// # Errors
    /// Out of memory.
    pub fn pack(&self, frame: &Frame, out: &mut Vec<u8>) -> Result<(), AvError> {
        let start = out.len();
        out.resize(start + self.bytes, 0);
        // SAFETY: the new bytes are borrowed exclusively, longer than the picture.
        let mut picture = unsafe { self.picture(out[start..].as_mut_ptr()) }?;
        self.layout.pack(frame.as_ref(), &mut picture);
        Ok(())
    }

    /// # Safety
    /// There must be [`bytes`](Packed::bytes) bytes as long as the picture lives, and they must be writable if it is
    /// written.
    unsafe fn picture(&self, bytes: *mut u8) -> Result<frame::Video, AvError> {
        let mut picture = frame::Video::empty();
        let f = picture.av_mut();
        (f.format, f.width, f.height) = (self.pix_fmt as i32, self.width, self.height);
        let (data, strides) = (f.data.as_mut_ptr(), f.linesize.as_mut_ptr());
        // SAFETY: a frame without buffers, whose pointers become those of the bytes; dropping it does not free them.
        check(unsafe {
            sys::av_image_fill_arrays(data, strides, bytes, self.pix_fmt, self.width, self.height, 1)
        })?;
        Ok(picture)
    }
}
