//! Sources for all containers and codecs of libav.
//!
//! The number of a frame is the rank of its timestamp among those of decoding from the start. If these follow from the
//! packets (`libav::index`), seeking goes to the last entry before a frame from which decoding is exact. Otherwise, or
//! if the decoded frames contradict the packets, everything is decoded once (`libav::index::exact`); if that does not
//! help either, frames are counted from the start, which is slower but always right. This module decodes packets in
//! order; many threads extract the samples of libav's frames in [`Decode::decode`].

mod clock;
mod exact;
mod make_index;
mod seek;

use crate::disk::opened::OpenedFile;
use crate::libav::demux::{ByteSource, OpenError};
use crate::libav::details::{self, Rates};
use crate::libav::error::AvError;
use crate::libav::hdr::Hdr;
use crate::libav::index::Index;
use crate::libav::index::cache::IndexCache;
use crate::libav::index::exact::{ExactIndex, durations};
use crate::libav::input_url::{InputUrl, input_url};
use crate::libav::log::{Log, recent_messages};
use crate::libav::picture::{self, field_order, is_damaged};
use crate::libav::pixfmt::{self, Layout};
use crate::libav::raw::Fields;
use crate::libav::reader::{Item, Reader};
use crate::libav::side_data::SourceFile;
use crate::libav::unpack::{Decoded, Unpack};
use crate::libav::versions;
use crate::media::{Decode, FrameStamp, Info, Length, Options, Pending, Slot, Source, SourceError};
use clock::Clock;
use ffmpeg_next::frame;
use grainfield_filters::frame::{FieldOrder, Format};
use grainfield_filters::ratio::Ratio;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Files up to this size are indexed when they are opened, so that their length is known.
const INDEX_AT_ONCE: u64 = 1 << 30;
/// The same for [`Length::Header`]: reading it all is as fast as looking for more than its header.
const SMALL: u64 = 2 << 20;
/// Counting this number of frames from the start is fast enough.
const NEAR_START: i64 = 32;
/// The number of pictures that are decoded on opening if the first one lacks a timestamp or a field order.
const AHEAD: usize = 16;
/// Decoding this number of frames is faster than making an index.
const NEAR: i64 = 48;

/// Opens a file, or an address with a protocol in `options.allow_protocol`.
///
/// # Errors
/// The file cannot be opened or has no video, or the options do not fit it.
pub fn open(input: &OsStr, options: &Options) -> Result<Box<dyn Source>, SourceError> {
    let name = Path::new(input).display().to_string();
    let mut place = input_url(input, &options.allow_protocol, &options.stop)
        .map_err(|e| SourceError::Bad { name: name.clone(), problem: e.to_string() })?;
    place.cache = options.cache.clone();
    let opened = OpenedFile::new(Path::new(input));
    Ok(Box::new(Video { opened, ..Video::open(name, ByteSource::Place(place), options)? }))
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
    Ok(Box::new(Video::open(name, ByteSource::Reader(reader), options)?))
}

struct Video {
    info: Info,
    /// The address for a restart; `None` if reading is forward only.
    place: Option<InputUrl>,
    /// The reason for that.
    backwards: &'static str,
    reader: Reader,
    index: IndexState,
    queue: VecDeque<Item>,
    /// Number of the next frame.
    next: i64,
    /// Whether frames have been counted since the start, as opposed to found by their timestamps.
    counting: bool,
    ended: bool,
    /// Whether the next picture was found by seeking, so that seeking again would not help.
    reached: bool,
    clock: Clock,
    /// The last timestamp returned.
    last_pts: Option<i64>,
    shape: Shape,
    decoder: Arc<Unpack>,
    /// Whether FFmpeg's filters are used: an index of their pictures differs from that of the file.
    filtered: bool,
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

    fn describe(self, p: &frame::Video) -> String {
        format!("{}x{} {}", self.width, self.height, pixfmt::name(p.format()))
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

/// The pictures at the start.
fn pictures<'a>(
    first: &'a frame::Video,
    ahead: &'a VecDeque<Item>,
) -> impl Iterator<Item = &'a frame::Video> {
    let picture = |item: &'a Item| match item {
        Item::Picture(picture) => Some(picture),
        _ => None,
    };
    std::iter::once(first).chain(ahead.iter().filter_map(picture))
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

impl Video {
    fn open(name: String, from: ByteSource, options: &Options) -> Result<Video, SourceError> {
        let log = Log::new();
        let _log = log.enter();
        let place = from.place();
        let mut reader =
            Reader::open(from, options.threads.unwrap_or(0)).map_err(|e| open_error(&name, e))?;
        let bad = |problem: String| SourceError::Bad { name: name.clone(), problem };
        if let Some(text) = &options.lavfi {
            if text.contains('\0') {
                return Err(bad("--lavfi: the graph contains a zero byte".into()));
            }
            reader.filter(text.clone(), details::feed(&reader.demuxer));
        }
        let first = match reader.next() {
            Ok(Some(Item::Picture(p))) => p,
            Ok(Some(Item::Damage(text))) => return Err(bad(format!("no frame can be decoded: {text}"))),
            Ok(Some(Item::Broken(error, text))) => {
                return Err(av_error(&name, error, &format!("cannot be read{text}")));
            }
            Ok(Some(Item::Restart) | None) => {
                let why = reader.early.map_or_else(recent_messages, |text| format!(": {text}"));
                return Err(bad(format!("no frame can be decoded{why}")));
            }
            Err(error) if options.lavfi.is_some() => {
                return Err(bad(format!("--lavfi: {error}{}", recent_messages())));
            }
            Err(error) => return Err(av_error(&name, error, "cannot be decoded")),
        };
        let tagged = details::fields(&reader.demuxer);
        let fielded = matches!(tagged, FieldOrder::TopFirst | FieldOrder::BottomFirst);
        let mut ahead = VecDeque::new();
        while ahead.len() < AHEAD
            && (pictures(&first, &ahead).all(|p| p.timestamp().is_none())
                || (fielded && pictures(&first, &ahead).all(|p| field_order(p).is_none())))
        {
            match reader.next() {
                Ok(Some(Item::Picture(p))) => ahead.push_back(Item::Picture(p)),
                other => {
                    ahead.extend(other.ok().flatten());
                    break;
                }
            }
        }
        let layout = Layout::of(first.format()).map_err(|e| bad(e.to_string()))?;
        let demuxer = &reader.demuxer;
        let rates = details::rates(demuxer);
        let mut format = details::format(demuxer, &first, &layout);
        let filtered = reader.graph().map(|g| (g.time_base, details::ratio(g.rate), g.frame_by_frame()));
        let rates = match filtered {
            // whether filters of several frames keep a varying rate shows while rendering
            Some((_, rate @ Some(_), each)) => {
                Rates { nominal: rate, average: None, variable: rates.variable && each }
            }
            _ => rates,
        };
        format.rate = rates.nominal.or(options.rate).unwrap_or(Ratio::whole(24));
        format.check().map_err(|e| bad(e.to_string()))?;

        let mut notes = Vec::new();
        // The tag of the container, or what libav's parser makes of the stream, is often wrong.
        format.fields = pictures(&first, &ahead).find_map(field_order).unwrap_or(tagged);
        if fielded && format.fields != tagged {
            let (tag, own) = (tagged.name(), format.fields.name());
            notes.push(format!("the stream is tagged as {tag}, but its frames are {own}, which is used"));
        }
        if rates.nominal.is_none() {
            notes.push(format!("the input has no frame rate; assuming {} frames per second", format.rate));
        }
        if let Some(text) = &reader.early {
            notes.push(format!("data before the first complete frame is skipped: {text}"));
        }
        let stream = demuxer.stream();
        let time_base = filtered.map_or(stream.time_base, |f| f.0);
        let tick = Ratio::new(time_base.num.into(), time_base.den.into())
            .filter(|t| *t > Ratio::ZERO)
            .unwrap_or(Ratio::ONE);
        let times = pictures(&first, &ahead).map(|p| p.timestamp());
        let clock = Clock::new(tick, 0, format.rate).beginning(times);
        let carried = SourceFile {
            place: place.clone(),
            video: demuxer.video(),
            time_base: tick,
            first: clock.first,
            start: demuxer.start(Ratio::whole(clock.first) * tick),
            jumps: demuxer.may_jump(),
            variable: rates.variable,
            side_data: picture::side_data(&first).into_iter().map(|entry| entry.0).collect(),
            hdr: Hdr::of_frame(first.av()),
        };
        // Filters that depend on more than a frame allow reading forward only.
        let steady = filtered
            .is_none_or(|f| f.2 && (f.0.num, f.0.den) == (stream.time_base.num, stream.time_base.den));
        let seekable = place.is_some() && demuxer.seekable() && steady;
        let backwards = if steady {
            "a pipe cannot be read backwards; use a file"
        } else {
            "the filters of --lavfi use several frames, so they cannot run backwards"
        };
        let bytes = demuxer.input.bytes();
        let info = Info {
            name: name.clone(),
            kind: crate::media::source::VIDEO,
            format,
            first: 0,
            last: None,
            seekable,
            variable_rate: rates.variable,
            notes,
            details: details::details(demuxer, &first),
            carried: Some(Arc::new(carried)),
        };
        let shape = Shape::new(&first);
        ahead.push_front(Item::Picture(first));
        let mut video = Video {
            info,
            place: place.filter(|_| seekable),
            backwards,
            reader,
            index: IndexState::Untried,
            queue: ahead,
            next: 0,
            counting: true,
            ended: false,
            reached: false,
            clock,
            last_pts: None,
            shape,
            decoder: Arc::new(Unpack { format, layout, name }),
            filtered: options.lavfi.is_some(),
            mark: None,
            fields_differ: false,
            new_notes: Vec::new(),
            log,
            opened: None,
        };
        let kept = || {
            let place = video.place.as_ref()?;
            IndexCache::new(place, video.reader.demuxer.video())?.take()
        };
        if let Some(exact) = video.exact_index_cache().and_then(|s| s.take_exact()) {
            video.index = IndexState::Exact(Box::new(exact));
            // The first picture was decoded without a mark.
            video.queue.clear();
            if let Some(place) = video.place.clone() {
                video.reader.restart(&place).map_err(|e| open_error(&video.info.name, e))?;
                video.reader.mark();
            }
        } else {
            let size = bytes.unwrap_or(u64::MAX);
            let all = match options.length {
                Length::Header => size <= SMALL,
                Length::Cheap => size <= INDEX_AT_ONCE,
                Length::Exact => true,
            };
            if all {
                video.make_index();
            } else if let Some(index) = kept() {
                video.index = IndexState::Packets(index);
            }
            if size <= INDEX_AT_ONCE {
                video.settle_rate(rates.average);
            }
            if options.length == Length::Exact && matches!(video.index, IndexState::Unreliable) {
                video.make_exact()?;
                video.recount(0)?;
            }
        }
        video.describe();
        Ok(video)
    }

    /// Uses the other rate if the first does not match the timestamps and this one does.
    fn settle_rate(&mut self, average: Option<Ratio>) {
        let (IndexState::Packets(index), Some(rate)) = (&self.index, average) else { return };
        let other = Clock::new(self.clock.tick, self.clock.first, rate);
        let even = |clock: &Clock| index.frames.iter().zip(0..).all(|(t, n)| clock.is_regular(n, *t));
        if !even(&self.clock) && even(&other) {
            let Unpack { name, format, layout } = &*self.decoder;
            let format = Format { rate, ..*format };
            (self.clock, self.info.format) = (other, format);
            self.decoder = Arc::new(Unpack { name: name.clone(), format, layout: layout.clone() });
        }
    }

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
        let past = self.info.last.is_some_and(|last| number > last);
        if number < 0 || past {
            let range = match self.info.last {
                Some(last) => format!("0 to {last}"),
                None => "from 0".into(),
            };
            return Err(self.bad(format!("frame {number} was requested; the frames are {range}")));
        }
        if number == self.next && !self.ended && !self.broken() {
            return Ok(());
        }
        if self.place.is_none() {
            if number < self.next {
                return Err(self.bad(format!(
                    "frame {number} was requested after frame {}, but {}",
                    self.next - 1,
                    self.backwards
                )));
            }
            return self.skip_to(number);
        }
        let near = number > self.next && number - self.next <= NEAR && !self.ended && !self.broken();
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
        let entry = match (&self.index, self.promised(number)) {
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
                return self.reach(number);
            }
        }
        if number < self.next || self.ended || self.broken() {
            return self.recount(number);
        }
        self.skip_to(number)
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
            return Err(self.bad(format!("{at}: {change}")));
        }
        let Some(placed) = step? else { return Ok(None) };
        let (ticks, packet_duration) = self.durations(&placed);
        let NumberedFrame { picture, number, pts, .. } = placed;
        let (time, duration) = self.clock.time_and_duration(number, pts, ticks);
        let at = format!("frame {number} ({:.3} s)", time.to_f64());
        let shape = Shape::new(&picture);
        if shape != self.shape {
            let first = format!("{}x{} {}", self.shape.width, self.shape.height, self.decoder.layout.name);
            let now = shape.describe(&picture);
            return Err(self.bad(format!(
                "{at} is {now}, but the video began as {first}; all frames of a video need the same size and \
                    format (use --lavfi with scale and format)"
            )));
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
        let stamp = FrameStamp { number, time, duration, carried: None };
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

    fn decoder(&self) -> Arc<dyn Decode> {
        self.decoder.clone()
    }

    fn drain_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.new_notes)
    }
}
