//! What an FFmpeg source hands to an FFmpeg sink past the filters, by way of `Info::carried` and `FrameStamp::carried`.

use super::interrupt::StopFlag;
use super::sink::hdr::Hdr;
use ffmpeg_sys_next as sys;
use grainfield_filters::ratio::Ratio;
use std::ffi::CString;

/// Of the whole input: enough to open it a second time and copy what is not filtered. All else (streams, tags,
/// chapters, side data) the sink reads itself.
#[derive(Clone, Debug)]
pub struct Container {
    /// What `avformat_open_input` was called with, protocol and all; `None` for a pipe, which cannot be read twice.
    pub url: Option<CString>,
    /// Protocols that may be used for it, as libav's `protocol_whitelist`.
    pub protocols: CString,
    /// Ends reads that stand still.
    pub stop: StopFlag,
    /// The stream that is filtered.
    pub video: usize,
    /// Seconds a tick of that stream.
    pub time_base: Ratio,
    /// Timestamp of frame 0 of that stream, in its ticks.
    pub first: i64,
    /// Seconds that are taken away from all times, so that the first of the input's streams begins at zero.
    pub start: Ratio,
    /// Timestamps may begin anew in the middle, so no place is found by its time.
    pub jumps: bool,
    /// Frames last differently long.
    pub variable: bool,
    /// Frame 0 has closed captions.
    pub captions: bool,
    /// What frame 0 says of the screen it was mastered on.
    pub(crate) hdr: Hdr,
}

/// Of one frame.
pub struct FrameCarry {
    /// Presentation timestamp in ticks of [`Container::time_base`].
    pub pts: i64,
    /// Ticks it is shown; 0 when the container does not say.
    pub duration: i64,
    /// A frame without pixels that holds everything else (side data, flags, tags), for `av_frame_copy_props`.
    props: *mut sys::AVFrame,
}

// SAFETY: the frame is written by `new` alone; afterwards it is only read.
unsafe impl Send for FrameCarry {}
// SAFETY: as above.
unsafe impl Sync for FrameCarry {}

impl FrameCarry {
    /// Takes over the properties of a decoded frame; `None` when memory is out.
    ///
    /// # Safety
    /// `frame` must be a valid frame.
    pub unsafe fn new(frame: *const sys::AVFrame, pts: i64, duration: i64) -> Option<FrameCarry> {
        // SAFETY: a new frame without buffers, into which libav copies reference-counted properties.
        unsafe {
            let mut props = sys::av_frame_alloc();
            if props.is_null() {
                return None;
            }
            if sys::av_frame_copy_props(props, frame) < 0 {
                sys::av_frame_free(&mut props);
                return None;
            }
            Some(FrameCarry { pts, duration, props })
        }
    }

    /// The properties. Valid as long as `self`.
    pub fn props(&self) -> *const sys::AVFrame {
        self.props
    }
}

impl Drop for FrameCarry {
    fn drop(&mut self) {
        // SAFETY: allocated in `new`, owned by this alone, freed once.
        unsafe { sys::av_frame_free(&mut self.props) }
    }
}
