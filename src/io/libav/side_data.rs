//! Data that an FFmpeg source passes to an FFmpeg sink beside the frames, in `Info::carried` and `FrameStamp::carried`.

use super::hdr::Hdr;
use super::interrupt::StopFlag;
use ffmpeg_sys_next as sys;
use grainfield_filters::ratio::Ratio;
use std::ffi::CString;

/// Data about the whole input, enough to open it a second time and copy what is not filtered. The sink reads
/// all other data (streams, tags, chapters, side data) itself.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The address for `avformat_open_input`, including the protocol; `None` for a pipe, which cannot be read
    /// twice.
    pub url: Option<CString>,
    /// Allowed protocols, as libav's `protocol_whitelist`.
    pub protocols: CString,
    /// Ends reads that stand still.
    pub stop: StopFlag,
    /// The stream that is filtered.
    pub video: usize,
    /// Seconds per tick of that stream.
    pub time_base: Ratio,
    /// Timestamp of frame 0 of that stream, in its ticks.
    pub first: i64,
    /// Seconds that are subtracted from all times, so that the first of the input's streams begins at zero.
    pub start: Ratio,
    /// Whether timestamps may restart in the middle, so that seeking by time is not possible.
    pub jumps: bool,
    /// Whether frame durations vary.
    pub variable: bool,
    /// The kinds of side data of frame 0.
    pub side_data: Vec<sys::AVFrameSideDataType>,
    /// HDR metadata of frame 0.
    pub(crate) hdr: Hdr,
}

/// Data about one frame.
pub struct FrameSideData {
    /// Presentation timestamp in ticks of [`SourceFile::time_base`].
    pub pts: i64,
    /// Duration in ticks; 0 if the container does not specify it.
    pub duration: i64,
    /// A frame without pixels that has all other properties (side data, flags, tags), for
    /// `av_frame_copy_props`.
    props: *mut sys::AVFrame,
}

// SAFETY: only `new` writes the frame; afterwards it is only read.
unsafe impl Send for FrameSideData {}
// SAFETY: as above.
unsafe impl Sync for FrameSideData {}

impl FrameSideData {
    /// Copies the properties of a decoded frame; `None` if out of memory.
    ///
    /// # Safety
    /// `frame` must be a valid frame.
    pub unsafe fn new(frame: *const sys::AVFrame, pts: i64, duration: i64) -> Option<FrameSideData> {
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
            Some(FrameSideData { pts, duration, props })
        }
    }

    /// The properties.
    pub fn props(&self) -> &sys::AVFrame {
        // SAFETY: allocated in `new`, and freed with `self`.
        unsafe { &*self.props }
    }
}

impl Drop for FrameSideData {
    fn drop(&mut self) {
        // SAFETY: allocated in `new`, owned by this alone, freed once.
        unsafe { sys::av_frame_free(&mut self.props) }
    }
}
