//! FFmpeg's filters, which run after decoding and before all other filters.

use super::decoder::NextFrame;
use super::error::AvError;
use super::raw::Fields;
use super::versions::{duration, set_duration};
use ffmpeg_next::{filter, frame};
use ffmpeg_sys_next as sys;
use std::ffi::CStr;

/// Filters whose output frame depends only on the input frame of the same time.
const FRAME_BY_FRAME: &str = "\
    alphaextract avgblur bilateral boxblur buffer buffersink cas chromahold chromakey chromanr chromashift \
    colorbalance colorchannelmixer colorcontrast colorcorrect colorhold colorize colorkey colorlevels \
    colormatrix colorspace colortemperature convolution copy crop curves dctdnoiz deflate delogo despill \
    dilation drawbox drawgrid edgedetect eq erosion exposure extractplanes fftfilt fillborders floodfill \
    format gblur geq gradfun grayworld hflip histeq hqx hsvhold hsvkey hue huesaturation il inflate kirsch \
    lenscorrection limiter lumakey lut lut1d lut3d lutrgb lutyuv median monochrome negate nlmeans noformat \
    null pad pixscope prewitt pseudocolor removegrain rgbashift roberts rotate sab scale scharr \
    selectivecolor setdar setfield setparams setrange setsar shear shuffleplanes smartblur sobel super2xsai \
    swaprect swapuv tonemap transpose unsharp v360 vflip vibrance vignette xbr yaepblur zscale";

/// Names in a filter's expressions that depend on more than the frame: its number since the start, random
/// numbers, stored values, and its position in the file.
const MORE_THAN_A_FRAME: &[&str] = &["n", "N", "random", "st", "ld", "pos"];

/// The properties of the frames for which a graph is made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct GraphInput {
    pub(crate) time_base: (i32, i32),
    pub(crate) rate: (i32, i32),
    pub(crate) aspect: (i32, i32),
    /// The most threads of a filter; 0 for as many as the machine has.
    pub(crate) threads: i32,
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
    !name.contains('\0') && filter::find(name).is_some()
}

/// Whether libavfilter has a filter of this name whose output frame depends only on the input frame of the same time.
pub fn is_frame_by_frame(name: &str) -> bool {
    frame_by_frame().any(|known| known == name)
}

/// A chain of FFmpeg's filters with one input and one output.
pub(crate) struct Graph {
    /// The ends of the chain, which `_graph` owns; they are valid until it is dropped.
    source: filter::Context,
    sink: filter::Context,
    _graph: filter::Graph,
    frame_by_frame: bool,
    /// Whether libav has added conversions between pixel formats.
    pub(crate) converts: bool,
    /// Seconds per tick of the output.
    pub(crate) time_base: sys::AVRational,
    /// Frames per second of the output; 0 if unknown.
    pub(crate) rate: sys::AVRational,
    /// Duration in ticks of a frame that does not specify one.
    step: i64,
    /// The end of the last picture that was sent.
    end: i64,
    /// Whether a picture that was sent consists of two fields.
    pub(crate) takes_fields: bool,
}

// SAFETY: used by one thread at a time; libav manages its own threads.
unsafe impl Send for Graph {}

/// The names of the filters whose output frame depends only on the input frame of the same time.
pub(super) fn frame_by_frame() -> impl Iterator<Item = &'static str> {
    FRAME_BY_FRAME.split_whitespace()
}

/// The first name in the text that depends on more than the frame if it is part of an expression.
pub(super) fn beyond(text: &str) -> Option<&str> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c| !word(c)).find(|w| MORE_THAN_A_FRAME.contains(w))
}

impl Graph {
    /// Builds the graph for pictures like `first`.
    pub(crate) fn new(text: &str, first: &frame::Video, feed: GraphInput) -> Result<Graph, AvError> {
        let f = first.av();
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
        let mut graph = filter::Graph::new();
        // SAFETY: our own graph, which has no filters yet.
        unsafe { (*graph.as_mut_ptr()).nb_threads = feed.threads };
        let mut add = |kind, name, arguments| {
            graph.add(&filter::find(kind).ok_or(ffmpeg_next::Error::FilterNotFound)?, name, arguments)
        };
        let source = add("buffer", "in", &*arguments)?;
        let sink = add("buffersink", "out", "")?;
        graph.output("in", 0)?.input("out", 0)?.parse(text)?;
        // Checked before libav adds conversions, which depend on one frame only.
        let frame_by_frame = names(&graph).iter().all(|n| is_frame_by_frame(n)) && beyond(text).is_none();
        let parsed = names(&graph).len();
        graph.validate()?;
        let converts = names(&graph).len() > parsed;
        // SAFETY: a filter of a configured graph.
        let (time_base, rate) = unsafe {
            let sink = sink.as_ptr();
            (sys::av_buffersink_get_time_base(sink), sys::av_buffersink_get_frame_rate(sink))
        };
        let step = feed.step();
        let (end, takes_fields) = (0, false);
        Ok(Graph {
            source,
            sink,
            _graph: graph,
            frame_by_frame,
            converts,
            time_base,
            rate,
            step,
            end,
            takes_fields,
        })
    }

    /// Whether each output frame depends only on the input frame of the same time.
    pub(crate) fn frame_by_frame(&self) -> bool {
        self.frame_by_frame
    }

    /// Width and height of its output.
    pub(crate) fn size(&self) -> (usize, usize) {
        // SAFETY: the sink of a configured graph.
        let (width, height) = unsafe {
            let sink = self.sink.as_ptr();
            (sys::av_buffersink_get_w(sink), sys::av_buffersink_get_h(sink))
        };
        (width.max(0) as usize, height.max(0) as usize)
    }

    /// Sends a picture with its timestamp; `None` ends the input.
    pub(crate) fn push(&mut self, picture: Option<frame::Video>) -> Result<(), AvError> {
        let mut source = self.source.source();
        let Some(mut picture) = picture else {
            // Filters that produce frames at their own rate need the end of the last frame.
            return Ok(source.close(self.end)?);
        };
        self.takes_fields |= picture.is_interlaced();
        // Filters use only `pts`.
        let timestamp = picture.timestamp();
        picture.set_pts(timestamp);
        let ticks = match duration(picture.av()) {
            ticks @ 1.. => ticks,
            _ => self.step,
        };
        self.end = picture.av().pts.saturating_add(ticks);
        Ok(source.add(&picture)?)
    }

    /// Receives a picture.
    pub(crate) fn pull(&mut self, into: &mut frame::Video) -> Result<NextFrame, AvError> {
        let received = NextFrame::new(self.sink.sink().frame(into))?;
        if let NextFrame::Frame = received {
            let frame = into.av_mut();
            // Its readers use the best-effort timestamp.
            frame.best_effort_timestamp = frame.pts;
            // Filters that produce new frames keep the durations of their input frames.
            if !self.frame_by_frame {
                set_duration(frame, 0);
            }
        }
        Ok(received)
    }
}

/// The names of the filters in a graph.
fn names(graph: &filter::Graph) -> Vec<&str> {
    // SAFETY: the graph has this number of filters, whose names are static strings.
    let name = |i| unsafe {
        let filter = *(*graph.as_ptr()).filters.add(i);
        CStr::from_ptr((*(*filter).filter).name)
    };
    // SAFETY: as above.
    let count = unsafe { (*graph.as_ptr()).nb_filters };
    (0..count as usize).map(|i| name(i).to_str().unwrap_or("")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_that_look_beyond_the_frame() {
        assert!(
            ["crop=x=n*2", "scale,lut=random(0)", "hue=s=sin(N)"].map(beyond)
                == ["n", "random", "N"].map(Some)
        );
        assert_eq!(beyond("scale=1280:-2:flags=lanczos,format=yuv420p,crop=iw/2:ih/2"), None);
        assert!(FRAME_BY_FRAME.split(' ').is_sorted());
    }
}
