//! Data that an FFmpeg source passes to an FFmpeg sink beside the frames, in `Info::carried` and `FrameStamp::carried`.

use super::hdr::Hdr;
use super::input_url::InputUrl;
use super::raw::Fields;
use ffmpeg_next::Frame;
use ffmpeg_sys_next as sys;
use grainfield_filters::ratio::Ratio;

/// Data about the whole input, enough to open it a second time and copy what is not filtered. The sink reads
/// all other data (streams, tags, chapters, side data) itself.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// `None` for a pipe, which cannot be read twice.
    pub(crate) address: Option<InputUrl>,
    /// The stream that is filtered.
    pub video: usize,
    /// The other streams of a pipe, in a few words each: `audio (aac)`.
    pub beside: Vec<String>,
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
    /// Whether frames are turned upright, as the display matrix of the stream says.
    pub turned: bool,
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
    props: Frame,
}

impl FrameSideData {
    /// Copies the properties of a decoded frame; `None` if out of memory.
    pub(crate) fn new(frame: &Frame, pts: i64, duration: i64) -> Option<FrameSideData> {
        // SAFETY: a new frame without buffers, or null, into which libav copies reference-counted properties.
        unsafe {
            let mut props = Frame::empty();
            let to = props.as_mut_ptr();
            let copied = !to.is_null() && sys::av_frame_copy_props(to, frame.as_ptr()) >= 0;
            copied.then_some(FrameSideData { pts, duration, props })
        }
    }

    /// The properties.
    pub(crate) fn props(&self) -> &sys::AVFrame {
        self.props.av()
    }
}
