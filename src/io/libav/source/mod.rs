//! Sources for all containers and codecs of libav.
//!
//! The number of a frame is the rank of its timestamp among those of decoding from the start. If these follow from the
//! packets (`libav::index`), seeking goes to the last entry before a frame from which decoding is exact. Otherwise, or
//! if the decoded frames contradict the packets, everything is decoded once (`libav::index::exact`); if that does not
//! help either, frames are counted from the start, which is slower but always right. This module decodes packets in
//! order; many threads extract the samples of libav's frames in [`Decode::decode`].

mod clock;
mod deinterlaced;
mod exact;
mod make_index;
mod open;
mod seek;

use crate::disk::opened::OpenedFile;
use crate::libav::demux::{ByteSource, OpenError};
use crate::libav::error::AvError;
use crate::libav::index::Index;
use crate::libav::index::exact::{ExactIndex, durations};
use crate::libav::input_url::{InputUrl, InputUrlError, input_url};
use crate::libav::log::{Log, recent_messages};
use crate::libav::picture::{field_order, is_damaged};
use crate::libav::pixfmt;
use crate::libav::raw::Fields;
use crate::libav::reader::{Item, Reader};
use crate::libav::unpack::{Decoded, Unpack};
use crate::libav::versions;
use crate::media::source::FORWARD_LIMIT;
use crate::media::{Decode, FrameStamp, Info, Options, Pending, Slot, Source, SourceError};
use clock::Clock;
use deinterlaced::Deinterlaced;
use ffmpeg_next::frame;
use grainfield_filters::frame::FieldOrder;
use grainfield_filters::ratio::Ratio;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Counting this number of frames from the start is fast enough.
const NEAR_START: i64 = 32;

/// Opens a file, or an address with a protocol in `options.allow_protocol`.
///
/// # Errors
/// The file cannot be opened or has no video, or the options do not fit it.
pub fn open(input: &OsStr, options: &Options) -> Result<Box<dyn Source>, SourceError> {
    let name = Path::new(input).display().to_string();
    let mut address = input_url(input, &options.allow_protocol, &options.stop).map_err(|e| match e {
        InputUrlError::Protocol(protocol) => SourceError::Protocol { name: name.clone(), protocol },
        InputUrlError::Zero => SourceError::Bad { name: name.clone(), problem: e.to_string() },
    })?;
    address.cache = options.cache.clone();
    open_video(name, ByteSource::Address(address), OpenedFile::new(Path::new(input)), options)
}

/// Reads any container from a pipe; `name` is used in messages.
///
/// # Errors
/// The stream has no video, or the options do not fit it.
pub fn from_reader(
    name: String,
    reader: Box<dyn Read + Send>,
    options: &Options,
) -> Result<Box<dyn Source>, SourceError> {
    open_video(name, ByteSource::Reader(reader), None, options)
}

fn open_video(
    name: String,
    from: ByteSource,
    opened: Option<OpenedFile>,
    options: &Options,
) -> Result<Box<dyn Source>, SourceError> {
    let Some(graph) = options.lavfi.as_deref().filter(|graph| deinterlaced::deinterlaces(graph)) else {
        return Ok(Box::new(Video { opened, ..Video::open(name, from, options)? }));
    };
    let unfiltered = Options { lavfi: None, ..options.clone() };
    let video = Video { opened, ..Video::open(name, from, &unfiltered)? };
    Ok(Box::new(Deinterlaced::open(video, graph)?))
}

struct Video {
    info: Info,
    /// The address for a restart; `None` if reading is forward only.
    address: Option<InputUrl>,
    /// The reason for that.
    forward_only_reason: &'static str,
    reader: Reader,
    index: IndexState,
    queue: VecDeque<Item>,
    /// Number of the next frame.
    next: i64,
    /// Whether frames have been counted since the start, as opposed to found by their timestamps.
    counting: bool,
    ended: bool,
    /// Whether the next picture was found by seeking, so that seeking again would not help.
    found_by_seeking: bool,
    clock: Clock,
    /// The last timestamp returned.
    last_pts: Option<i64>,
    /// That of all pictures; `None` if they may differ.
    shape: Option<Shape>,
    decoder: Arc<Unpack>,
    /// The mark of the picture at the head of the queue.
    mark: Option<u32>,
    /// Whether a change of the field order has been reported.
    fields_differ: bool,
    /// Messages to show.
    new_notes: Vec<String>,
    /// libav's messages about the input.
    log: Log,
    /// The file, to notice changes.
    opened: Option<OpenedFile>,
}

/// Properties that must not change within the stream.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    width: i32,
    height: i32,
    pix_fmt: i32,
}

impl Shape {
    fn new(p: &frame::Video) -> Shape {
        let f = p.av();
        Shape { width: f.width, height: f.height, pix_fmt: f.format }
    }

    /// The error if a picture is of another shape; `at` says which one.
    fn changed(self, picture: &frame::Video, decoder: &Unpack, at: &str) -> Option<String> {
        let now = Shape::new(picture);
        let (first, name) = (&decoder.layout.name, pixfmt::name(picture.format()));
        (now != self).then(|| {
            format!(
                "{at} is {}x{} {name}, but the video began as {}x{} {first}; all frames of a video need the same size \
                    and format (FFmpeg's filters scale and format convert them)",
                now.width, now.height, self.width, self.height
            )
        })
    }
}

/// The state of the index.
enum IndexState {
    Untried,
    /// The frames do not follow from the packets, or contradicted them.
    Unreliable,
    /// Frames can only be counted.
    Impossible,
    Packets(Index),
    Exact(Box<ExactIndex>),
}

/// A picture with its number.
struct NumberedFrame {
    picture: frame::Video,
    number: i64,
    pts: i64,
    /// From an exact index: duration in ticks, of the frame and of its packet.
    durations: Option<(i64, i64)>,
}

fn open_error(name: &str, error: OpenError) -> SourceError {
    let name = name.to_owned();
    match error {
        OpenError::Av(e) => av_error(&name, e, "cannot be read as video"),
        other => SourceError::Bad { name, problem: format!("{other}{}", recent_messages()) },
    }
}

fn av_error(name: &str, error: AvError, what: &str) -> SourceError {
    let name = name.to_owned();
    match error.io() {
        // libav returns "invalid argument" for many errors that are not the system's.
        Some(cause) if error.0 != -libc::EINVAL => SourceError::Io { name, cause },
        _ => SourceError::Bad { name, problem: format!("{what}: {error}{}", recent_messages()) },
    }
}

/// The first of `count` frames, or the end of the last, at a time or `after` it.
fn first_from(count: usize, begin: impl Fn(usize) -> Ratio, time: Ratio, after: bool) -> i64 {
    let (mut low, mut high) = (0, count + 1);
    while low < high {
        let middle = low.midpoint(high);
        let begin = begin(middle);
        let earlier = begin < time || after && begin == time;
        (low, high) = if earlier { (middle + 1, high) } else { (low, middle) };
    }
    low as i64
}

impl Video {
    /// Whether reading has stopped before the end of the input.
    fn broken(&self) -> bool {
        self.queue.is_empty() && self.reader.ended()
    }

    fn bad(&self, problem: String) -> SourceError {
        SourceError::Bad { name: self.info.name.clone(), problem }
    }

    fn position_text(&self, pts: Option<i64>) -> String {
        match pts {
            Some(t) => {
                let seconds = self.clock.seconds(t).to_f64();
                format!("frame {}, after {seconds:.3} s", self.next)
            }
            None => format!("frame {}", self.next),
        }
    }

    /// The duration of a frame in ticks, and that of its packet.
    fn durations(&mut self, placed: &NumberedFrame) -> (i64, i64) {
        if let Some(known) = placed.durations {
            return known;
        }
        let next = match &self.index {
            IndexState::Packets(index) => index.frames.get(placed.number as usize + 1).copied(),
            _ => self.peek(),
        };
        let gap = next.map(|t| t.saturating_sub(placed.pts)).filter(|d| *d > 0);
        durations(versions::duration(placed.picture.av()).max(0), gap, self.clock.step)
    }
}

impl Source for Video {
    fn info(&self) -> &Info {
        &self.info
    }

    fn seek(&mut self, number: i64) -> Result<(), SourceError> {
        let _log = self.log.enter();
        self.info.check_number(number)?;
        if number == self.next && !self.ended && !self.broken() {
            return Ok(());
        }
        if self.address.is_none() {
            if number < self.next {
                return Err(self.bad(format!(
                    "frame {number} was requested after frame {}, but {}",
                    self.next - 1,
                    self.forward_only_reason
                )));
            }
            return self.skip_to(number);
        }
        let near = number > self.next && number - self.next <= FORWARD_LIMIT && !self.ended && !self.broken();
        if matches!(self.index, IndexState::Untried) && near {
            return self.skip_to(number);
        }
        self.make_index();
        // After one error, do not trust the index for the rest.
        if self.reader.damaged && matches!(self.index, IndexState::Packets(_)) {
            self.index = IndexState::Unreliable;
        }
        let back = number < self.next || self.ended || self.broken();
        if matches!(self.index, IndexState::Unreliable) && back && number > NEAR_START {
            self.make_exact()?;
            if self.info.last.is_some_and(|last| number > last) {
                return self.seek(number);
            }
        }
        let entry = match (&self.index, self.indexed_pts(number)) {
            (IndexState::Packets(index), Some(target)) => {
                let entry = index.entry_before(target, usize::MAX).map_or(0, |i| index.entries[i].order);
                let here = index.frames.get(self.next as usize).and_then(|t| index.order(*t)).unwrap_or(0);
                Some((entry, here))
            }
            (IndexState::Exact(exact), Some(_)) => {
                Some((exact.seek_point_before(number), exact.get(self.next).map_or(0, |f| f.mark)))
            }
            _ => None,
        };
        if let Some((entry, here)) = entry {
            let near = number >= self.next && entry <= here && !self.ended && !self.broken();
            if !near && entry > 0 {
                return self.seek_exact(number);
            }
        }
        if number < self.next || self.ended || self.broken() {
            return self.recount(number);
        }
        self.skip_to(number)
    }

    fn seek_alone(&mut self, number: i64) -> Result<(), SourceError> {
        let _log = self.log.enter();
        self.info.check_number(number)?;
        self.make_index();
        if self.seek_entry_alone(number)? { Ok(()) } else { self.seek(number) }
    }

    fn next(&mut self, slot: &mut Slot) -> Result<Option<FrameStamp>, SourceError> {
        let _log = self.log.enter();
        slot.pending = None;
        slot.carried = None;
        if self.ended {
            return Ok(None);
        }
        let at = self.position_text(self.last_pts);
        let step = self.step();
        if !matches!(&step, Ok(Some(placed)) if !is_damaged(&placed.picture))
            && let Some(change) = self.opened.as_ref().and_then(OpenedFile::change)
        {
            self.ended = true;
            // the system's, unlike damage that the caller may accept
            let cause = std::io::Error::other(format!("{at}: {change}"));
            return Err(SourceError::Io { name: self.info.name.clone(), cause });
        }
        let Some(placed) = step? else { return Ok(None) };
        let (ticks, packet_duration) = self.durations(&placed);
        let NumberedFrame { picture, number, pts, .. } = placed;
        let (time, duration) = self.clock.time_and_duration(number, pts, ticks);
        let at = format!("frame {number} ({:.3} s)", time.to_f64());
        let stamp = FrameStamp { number, time, duration, carried: None };
        if let Some(first) = self.shape
            && let Some(problem) = first.changed(&picture, &self.decoder, &at)
        {
            let name = self.info.name.clone();
            return Err(SourceError::Unusable { name, problem, stamp: Box::new(stamp) });
        }
        let fields = self.info.format.fields;
        if let Some(order) = field_order(&picture).filter(|order| *order != fields)
            && !std::mem::replace(&mut self.fields_differ, true)
        {
            let name = &self.info.name;
            self.new_notes.push(format!(
                "{name}: {at} is {}, unlike the first frames; all frames are filtered and written as {}",
                order.name(),
                if fields == FieldOrder::Unspecified { FieldOrder::Progressive } else { fields }.name()
            ));
        }
        let damage = is_damaged(&picture).then(|| {
            let messages = std::mem::take(&mut self.reader.decoder_messages);
            format!("{at} is damaged{}", if messages.is_empty() { recent_messages() } else { messages })
        });
        slot.pending = Some(Pending::Opaque(Box::new(Decoded { picture, pts, duration: packet_duration })));
        match damage {
            Some(problem) => {
                let name = self.info.name.clone();
                Err(SourceError::Damaged { name, problem, stamp: Box::new(stamp) })
            }
            None => Ok(Some(stamp)),
        }
    }

    fn key_frame(&mut self, number: i64, back: bool) -> Option<i64> {
        let _log = self.log.enter();
        self.make_index();
        self.adjacent_entry(number, back)
    }

    fn frame_from(&mut self, time: Ratio, after: bool) -> Result<i64, SourceError> {
        let _log = self.log.enter();
        self.find_times()?;
        let count = match self.indexed_count() {
            Some(count) => count,
            // It is unknown whether the rate of a stream is constant.
            None if self.info.variable_rate || !self.reader.demuxer.seekable() => {
                let problem = "frames are selected by time, but their times are known only when they have been read; \
                               use frame numbers, or a file without filters that need several frames";
                return Err(SourceError::Usage { name: self.info.name.clone(), problem: problem.into() });
            }
            None => return Ok(self.info.frame_at_constant_rate(time, after)),
        };
        Ok(first_from(count, |n| self.indexed_time(n), time, after))
    }

    fn frame_times(&mut self) -> Option<Vec<Ratio>> {
        let _log = self.log.enter();
        self.find_times().ok()?;
        let count = self.indexed_count().filter(|_| self.info.variable_rate)?;
        Some((0..=count).map(|n| self.indexed_time(n)).collect())
    }

    fn decoder(&self) -> Arc<dyn Decode> {
        self.decoder.clone()
    }

    fn drain_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.new_notes)
    }
}
