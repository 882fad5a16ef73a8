//! FFmpeg's filters as members of a chain: each sees one picture at a time.

use super::color::tag;
use super::decoder::NextFrame;
use super::error::AvError;
use super::graph::{Graph, GraphInput, beyond, frame_by_frame, has_filter, is_frame_by_frame};
use super::log::{Log, recent_messages};
use super::pixfmt::{self, Layout};
use super::raw::Fields;
use crate::disk::graph::filters;
use ffmpeg_next::format::Pixel;
use ffmpeg_next::frame;
use grainfield_filters::filter::lavfi::SEVERAL_FRAMES;
use grainfield_filters::frame::{Depth, ExternalFilter, FilterLibrary, Format, Frame, FrameRef};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::nearest;

/// FFmpeg's filters that look at one frame. Each frame has a graph of its own, on one thread: some of these filters keep
/// random numbers or rounding errors from one frame to the next (`vignette`, `histeq`, `colorspace`).
#[derive(Clone, Copy, Debug)]
pub struct FfmpegFilters;

/// The largest number of samples in a plane of a result.
const MAX_PIXELS: usize = 1 << 28;

/// Filters that say they take float formats, and in FFmpeg 5.1 write beyond their buffers then, which ends the program.
const CRASHES_ON_FLOAT: [&str; 1] = ["boxblur"];

/// For FFmpeg's conversions, which are then the same on every machine.
const SCALING: &str = "sws_flags=bicubic+accurate_rnd+full_chroma_int+bitexact;";

impl FilterLibrary for FfmpegFilters {
    fn bind(&self, text: &str, input: &Format) -> Result<Box<dyn ExternalFilter>, String> {
        check(text)?;
        let bits = (8..=input.depth.bits().unwrap_or(16)).rev().map(Depth::Bits);
        let takes_float = !filters(text).iter().any(|(name, _)| CRASHES_ON_FLOAT.contains(&name.as_str()));
        let float = (input.depth == Depth::Float && takes_float).then_some(Depth::Float);
        let depths = float.into_iter().chain(bits);
        let mut found: Option<Member> = None;
        for format in depths.map(|depth| Format { depth, ..*input }) {
            let Some(packed) = pixfmt::packed_as(&format) else { continue };
            let member = Member::new(text, format, packed)?;
            let fits = !member.converts;
            // If a graph converts at every depth, by itself, it does so from the deepest integers: FFmpeg would clip float
            // samples, too.
            if fits || (found.is_none() && format.depth != Depth::Float) {
                found = Some(member);
            }
            if fits {
                break;
            }
        }
        let found = found.ok_or_else(|| format!("FFmpeg has no pixel format like {}", input.name()))?;
        // What fails does so before the first frame.
        let _log = found.log.enter();
        let mut black = found.picture(Ratio::ZERO)?;
        (0..black.planes()).for_each(|plane| black.data_mut(plane).fill(0));
        found.run(black)?;
        Ok(Box::new(found))
    }
}

/// Returns an error for a graph that could see more than one frame, or a file, before FFmpeg gets it.
fn check(text: &str) -> Result<(), String> {
    for (place, (name, options)) in (1..).zip(filters(text)) {
        let fail = |problem: &str| Err(format!("filter {place} of the graph, '{name}', {problem}"));
        if !has_filter(&name) {
            let near =
                nearest(&name, frame_by_frame()).unwrap_or_else(|| "'ffmpeg -filters' lists all".into());
            return fail(&format!("is none of FFmpeg's: {near}"));
        }
        if !is_frame_by_frame(&name) || name.starts_with("buffer") {
            return fail(&format!("{SEVERAL_FRAMES}: let FFmpeg run it before the chain"));
        }
        for (i, (key, value)) in options.iter().enumerate() {
            let unnamed = key.is_empty() && i > 0 && ["curves", "selectivecolor"].contains(&&*name);
            if unnamed
                || key.starts_with('/')
                || ["psfile", "plot"].contains(&&**key)
                || name.starts_with("lut") && name.ends_with('d')
            {
                return fail(
                    "may name a file there, and graphs in a chain use none: name other options, and use `lut` for tables",
                );
            }
            if let Some(word) = beyond(value) {
                return fail(&format!("uses '{word}', which does not follow from the frame and its time"));
            }
        }
    }
    if text.contains('\0') { Err("the graph contains a zero byte".into()) } else { Ok(()) }
}

/// A graph bound to a format.
struct Member {
    text: String,
    input: Format,
    pix_fmt: Pixel,
    layout: Layout,
    size: (usize, usize),
    /// Whether FFmpeg converts between pixel formats.
    converts: bool,
    time_base: (i32, i32),
    log: Log,
}

impl Member {
    fn new(text: &str, input: Format, (pix_fmt, layout): (Pixel, Layout)) -> Result<Member, String> {
        let text = format!("{SCALING}{text},format={}", pixfmt::name(pix_fmt));
        // Parts of the ticks of a regular rate, at which times are exact.
        let ticks = input.rate.num().checked_mul(1000).and_then(|ticks| i32::try_from(ticks).ok());
        let time_base = (1, ticks.unwrap_or(1_000_000));
        let (size, converts, log) = ((0, 0), false, Log::new());
        let mut member = Member { text, input, pix_fmt, layout, size, converts, time_base, log };
        let _log = member.log.enter();
        let graph = member.graph(&member.picture(Ratio::ZERO)?)?;
        (member.size, member.converts) = (graph.size(), graph.converts);
        let (width, height) = member.size;
        if width.saturating_mul(height) > MAX_PIXELS {
            return Err(format!("it makes pictures of {width}x{height}, and the limit is 2^28 samples"));
        }
        Ok(member)
    }

    /// A picture for the graph, of arbitrary samples.
    fn picture(&self, time: Ratio) -> Result<frame::Video, String> {
        let (width, height) = self.input.plane_size(0);
        let mut picture = frame::Video::new(self.pix_fmt, width as u32, height as u32);
        let f = picture.av_mut();
        if f.data[0].is_null() {
            return Err(AvError::MEMORY.to_string());
        }
        tag(f, &self.input);
        f.pts = (time * Ratio::whole(self.time_base.1.into()) + Ratio::HALF).floor();
        f.best_effort_timestamp = f.pts;
        Ok(picture)
    }

    /// Builds the graph for pictures like `first`.
    fn graph(&self, first: &frame::Video) -> Result<Graph, String> {
        let pair = |ratio: Ratio| Some((i32::try_from(ratio.num()).ok()?, i32::try_from(ratio.den()).ok()?));
        let [rate, aspect] = [self.input.rate, self.input.aspect].map(|r| pair(r).unwrap_or((0, 1)));
        let feed = GraphInput { time_base: self.time_base, rate, aspect, threads: 1 };
        let graph = Graph::new(&self.text, first, feed).map_err(failed)?;
        if graph.frame_by_frame() { Ok(graph) } else { Err(format!("it {SEVERAL_FRAMES}")) }
    }

    /// Sends a picture through a new graph.
    fn run(&self, picture: frame::Video) -> Result<frame::Video, String> {
        let mut graph = self.graph(&picture)?;
        let mut made = frame::Video::empty();
        graph.push(Some(picture)).map_err(failed)?;
        let one = matches!(graph.pull(&mut made).map_err(failed)?, NextFrame::Frame);
        let more =
            one && !matches!(graph.pull(&mut frame::Video::empty()).map_err(failed)?, NextFrame::NeedsInput);
        let size = (made.width() as usize, made.height() as usize);
        if !one || more || (size, made.format()) != (self.size, self.pix_fmt) {
            return Err("FFmpeg's filters have not made one frame of the expected size of a frame".into());
        }
        Ok(made)
    }
}

impl ExternalFilter for Member {
    fn input(&self) -> &Format {
        &self.input
    }

    fn size(&self) -> (usize, usize) {
        self.size
    }

    fn filter(&self, picture: FrameRef<'_>, time: Ratio, out: &mut Frame) -> Result<(), String> {
        let _log = self.log.enter();
        let mut sent = self.picture(time)?;
        self.layout.pack(picture, &mut sent);
        self.layout.unpack(&self.run(sent)?, out);
        Ok(())
    }
}

fn failed(error: AvError) -> String {
    format!("FFmpeg: {error}{}", recent_messages())
}
