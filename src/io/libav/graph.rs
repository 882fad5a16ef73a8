//! FFmpeg's filters, which run after decoding and before all other filters (`--lavfi`).

use super::error::{AvError, check};
use super::owned::{AvFrame, NO_MEMORY, Received};
use super::versions::set_duration;
use ffmpeg_sys_next as sys;
use std::ffi::{CStr, CString};
use std::ptr;

/// Filters whose output frame depends only on the input frame of the same time.
const FRAME_BY_FRAME: &[&str] = &[
    "alphaextract",
    "avgblur",
    "bilateral",
    "boxblur",
    "buffer",
    "buffersink",
    "cas",
    "colorbalance",
    "colorchannelmixer",
    "colorcontrast",
    "colorcorrect",
    "colorlevels",
    "colormatrix",
    "colorspace",
    "colortemperature",
    "convolution",
    "copy",
    "crop",
    "curves",
    "drawbox",
    "drawgrid",
    "eq",
    "exposure",
    "extractplanes",
    "fillborders",
    "format",
    "gblur",
    "hflip",
    "histeq",
    "hqx",
    "hue",
    "huesaturation",
    "il",
    "lenscorrection",
    "limiter",
    "lut",
    "lut1d",
    "lut3d",
    "lutrgb",
    "lutyuv",
    "median",
    "monochrome",
    "negate",
    "noformat",
    "null",
    "pad",
    "pixscope",
    "prewitt",
    "rotate",
    "scale",
    "setdar",
    "setfield",
    "setparams",
    "setrange",
    "setsar",
    "shuffleplanes",
    "smartblur",
    "sobel",
    "super2xsai",
    "swapuv",
    "transpose",
    "unsharp",
    "vflip",
    "vibrance",
    "vignette",
    "xbr",
    "zscale",
];

/// Names in a filter's expressions that depend on more than the frame: its number since the start, random
/// numbers, stored values, and its position in the file.
const MORE_THAN_A_FRAME: &[&str] = &["n", "N", "random", "st", "ld", "pos"];

/// The properties of the frames for which a graph is made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct GraphInput {
    pub(crate) time_base: (i32, i32),
    pub(crate) rate: (i32, i32),
    pub(crate) aspect: (i32, i32),
}

impl GraphInput {
    /// Ticks per frame at the nominal rate.
    fn step(&self) -> i64 {
        let [num, den, tick_num, tick_den] =
            [self.rate.1, self.rate.0, self.time_base.0, self.time_base.1].map(i64::from);
        (num * tick_den).checked_div(den * tick_num).unwrap_or(1).max(1)
    }
}

/// Whether libavfilter has a filter of this name.
pub fn has_filter(name: &str) -> bool {
    let Ok(name) = CString::new(name) else { return false };
    // SAFETY: the name is valid during the call; the result is static or null.
    !unsafe { sys::avfilter_get_by_name(name.as_ptr()) }.is_null()
}

/// A chain of FFmpeg's filters with one input and one output.
pub(crate) struct Graph {
    graph: *mut sys::AVFilterGraph,
    source: *mut sys::AVFilterContext,
    sink: *mut sys::AVFilterContext,
    frame_by_frame: bool,
    /// Duration in ticks of a frame that does not specify one.
    step: i64,
    /// The end of the last picture that was sent.
    end: i64,
}

// SAFETY: used by one thread at a time; libav manages its own threads.
unsafe impl Send for Graph {}

/// Whether an expression in the text depends on more than the frame.
fn looks_beyond(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c| !word(c)).any(|w| MORE_THAN_A_FRAME.contains(&w))
}

impl Graph {
    /// Builds the graph for pictures like `first`.
    pub(crate) fn new(text: &CStr, first: &AvFrame, feed: GraphInput) -> Result<Graph, AvError> {
        let f = first.get();
        let mut arguments = format!(
            "video_size={}x{}:pix_fmt={}:time_base={}/{}:pixel_aspect={}/{}",
            f.width, f.height, f.format, feed.time_base.0, feed.time_base.1, feed.aspect.0, feed.aspect.1
        );
        if feed.rate.0 > 0 && feed.rate.1 > 0 {
            arguments += &format!(":frame_rate={}/{}", feed.rate.0, feed.rate.1);
        }
        if cfg!(ffmpeg_7_0) {
            arguments += &format!(":colorspace={}:range={}", f.colorspace as i32, f.color_range as i32);
        }
        let arguments = CString::new(arguments).map_err(|_| NO_MEMORY)?;
        // SAFETY: `own` frees the graph and all filters in it on an early return; the lists of open ends are always
        // freed, and libav copies all strings.
        unsafe {
            let graph = sys::avfilter_graph_alloc();
            if graph.is_null() {
                return Err(NO_MEMORY);
            }
            let mut own = Graph {
                graph,
                source: ptr::null_mut(),
                sink: ptr::null_mut(),
                frame_by_frame: false,
                step: feed.step(),
                end: 0,
            };
            let create = |to: &mut *mut sys::AVFilterContext, kind: &CStr, name: &CStr, arguments| {
                let filter = sys::avfilter_get_by_name(kind.as_ptr());
                check(sys::avfilter_graph_create_filter(
                    to,
                    filter,
                    name.as_ptr(),
                    arguments,
                    ptr::null_mut(),
                    graph,
                ))
            };
            create(&mut own.source, c"buffer", c"in", arguments.as_ptr())?;
            create(&mut own.sink, c"buffersink", c"out", ptr::null())?;
            let (mut outputs, mut inputs) = (sys::avfilter_inout_alloc(), sys::avfilter_inout_alloc());
            let built = if outputs.is_null() || inputs.is_null() {
                Err(NO_MEMORY)
            } else {
                (*outputs).name = sys::av_strdup(c"in".as_ptr());
                (*outputs).filter_ctx = own.source;
                (*inputs).name = sys::av_strdup(c"out".as_ptr());
                (*inputs).filter_ctx = own.sink;
                check(sys::avfilter_graph_parse_ptr(
                    graph,
                    text.as_ptr(),
                    &mut inputs,
                    &mut outputs,
                    ptr::null_mut(),
                ))
            };
            sys::avfilter_inout_free(&mut inputs);
            sys::avfilter_inout_free(&mut outputs);
            built?;
            // Checked before libav adds conversions, which depend on one frame only.
            let names = (0..(*graph).nb_filters as usize).map(|i| {
                let filter = *(*graph).filters.add(i);
                CStr::from_ptr((*(*filter).filter).name).to_str().unwrap_or("")
            });
            own.frame_by_frame = names.into_iter().all(|n| FRAME_BY_FRAME.contains(&n))
                && !text.to_str().is_ok_and(looks_beyond);
            check(sys::avfilter_graph_config(graph, ptr::null_mut()))?;
            Ok(own)
        }
    }

    /// Whether each output frame depends only on the input frame of the same time.
    pub(crate) fn frame_by_frame(&self) -> bool {
        self.frame_by_frame
    }

    /// Sends a picture with its timestamp; `None` ends the input.
    pub(crate) fn push(&mut self, picture: Option<&AvFrame>) -> Result<(), AvError> {
        const KEEP_REF: i32 = 8; // AV_BUFFERSRC_FLAG_KEEP_REF
        let Some(picture) = picture else {
            // Filters that produce frames at their own rate need the end of the last frame. SAFETY: a configured graph.
            return check(unsafe { sys::av_buffersrc_close(self.source, self.end, 0) }).map(|_| ());
        };
        let frame = picture.as_ptr();
        // SAFETY: a valid frame; filters use only `pts`.
        unsafe {
            (*frame).pts = (*frame).best_effort_timestamp;
            let duration = picture.duration();
            self.end = (*frame).pts.saturating_add(if duration > 0 { duration } else { self.step });
        }
        // SAFETY: a configured graph, and a valid frame, of which a reference is taken.
        check(unsafe { sys::av_buffersrc_add_frame_flags(self.source, frame, KEEP_REF) }).map(|_| ())
    }

    /// Receives a picture.
    pub(crate) fn pull(&mut self, into: &mut AvFrame) -> Result<Received, AvError> {
        // SAFETY: a configured graph and a blank frame.
        match check(unsafe { sys::av_buffersink_get_frame(self.sink, into.as_ptr()) }) {
            Ok(_) => {
                let frame = into.as_ptr();
                // SAFETY: a valid frame; its readers use the best-effort timestamp.
                unsafe {
                    (*frame).best_effort_timestamp = (*frame).pts;
                    // Filters that produce new frames keep the durations of their input frames.
                    if !self.frame_by_frame {
                        set_duration(&mut *frame, 0);
                    }
                }
                Ok(Received::Frame)
            }
            Err(AvError::AGAIN) => Ok(Received::NeedsInput),
            Err(AvError::EOF) => Ok(Received::End),
            Err(error) => Err(error),
        }
    }

    /// Seconds per tick of the output.
    pub(crate) fn time_base(&self) -> sys::AVRational {
        // SAFETY: a configured graph.
        unsafe { sys::av_buffersink_get_time_base(self.sink) }
    }

    /// Frames per second of the output; 0 if unknown.
    pub(crate) fn rate(&self) -> sys::AVRational {
        // SAFETY: a configured graph.
        unsafe { sys::av_buffersink_get_frame_rate(self.sink) }
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: allocated in `new`, freed once, with all its filters.
        unsafe { sys::avfilter_graph_free(&mut self.graph) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_that_look_beyond_the_frame() {
        assert!(
            looks_beyond("crop=x=n*2") && looks_beyond("scale,lut=random(0)") && looks_beyond("hue=s=sin(N)")
        );
        assert!(!looks_beyond("scale=1280:-2:flags=lanczos,format=yuv420p,crop=iw/2:ih/2"));
        assert!(FRAME_BY_FRAME.is_sorted());
    }
}
