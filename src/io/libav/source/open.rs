//! Opens a video: decodes the first pictures, derives format and times from them, and finds the frames.

use super::clock::Clock;
use super::{IndexState, Shape, Video, av_error, open_error};
use crate::libav::demux::{ByteSource, Demuxer};
use crate::libav::details::{self, Rates};
use crate::libav::hdr::Hdr;
use crate::libav::index::cache::IndexCache;
use crate::libav::input_url::InputUrl;
use crate::libav::log::{Log, recent_messages};
use crate::libav::picture::{self, field_order};
use crate::libav::pixfmt::Layout;
use crate::libav::raw::Fields;
use crate::libav::reader::{Item, Reader};
use crate::libav::side_data::SourceFile;
use crate::libav::unpack::Unpack;
use crate::media::source::VIDEO;
use crate::media::{Info, Length, Options, SourceError};
use ffmpeg_next::frame;
use grainfield_filters::frame::{FieldOrder, Format};
use grainfield_filters::ratio::Ratio;
use std::collections::VecDeque;
use std::sync::Arc;

/// Files up to this size are indexed when they are opened, so that their length is known.
const INDEX_AT_ONCE: u64 = 1 << 30;
/// The same for [`Length::Header`]: reading it all is as fast as looking for more than its header.
const SMALL: u64 = 2 << 20;
/// The number of pictures that are decoded on opening if the first one lacks a timestamp or a field order.
const AHEAD: usize = 16;

/// The first picture, and the items that were decoded after it.
struct Head {
    first: frame::Video,
    ahead: VecDeque<Item>,
}

impl Head {
    /// Decodes the first picture, and further ones if it lacks a timestamp or a field order.
    fn decode(reader: &mut Reader, name: &str) -> Result<Head, SourceError> {
        let mut head = Head { first: first_picture(reader, name)?, ahead: VecDeque::new() };
        let has_fields = consists_of_fields(details::fields(&reader.demuxer));
        while head.ahead.len() < AHEAD
            && (head.pictures().all(|p| p.timestamp().is_none())
                || (has_fields && head.pictures().all(|p| field_order(p).is_none())))
        {
            match reader.next() {
                Ok(Some(item @ Item::Picture(_))) => head.ahead.push_back(item),
                other => {
                    head.ahead.extend(other.ok().flatten());
                    break;
                }
            }
        }
        Ok(head)
    }

    fn pictures(&self) -> impl Iterator<Item = &frame::Video> {
        let ahead = self.ahead.iter().filter_map(|item| match item {
            Item::Picture(picture) => Some(picture),
            _ => None,
        });
        std::iter::once(&self.first).chain(ahead)
    }

    /// The format of all frames with the nominal rate, else `default_rate`; and notes about assumptions.
    fn format(
        &self,
        reader: &Reader,
        layout: &Layout,
        nominal: Option<Ratio>,
        default_rate: Option<Ratio>,
    ) -> (Format, Vec<String>) {
        let mut format = details::format(&reader.demuxer, &self.first, layout);
        let mut notes = Vec::new();
        // The tag of the container, or what libav's parser makes of the stream, is often wrong.
        let tagged = format.fields;
        let own = self.pictures().find_map(field_order);
        // FFmpeg's filters have made whole frames of fields.
        let deinterlaced = own.is_none() && reader.graph().is_some_and(|graph| graph.takes_fields);
        format.fields = own.unwrap_or(if deinterlaced { FieldOrder::Progressive } else { tagged });
        if consists_of_fields(tagged) && format.fields != tagged && !deinterlaced {
            let (tag, own) = (tagged.name(), format.fields.name());
            notes.push(format!("the stream is tagged as {tag}, but its frames are {own}, which is used"));
        }
        format.rate = nominal.or(default_rate).unwrap_or(Ratio::whole(24));
        if nominal.is_none() {
            notes.push(format!("the input has no frame rate; assuming {} frames per second", format.rate));
        }
        if let Some(text) = &reader.early_error {
            notes.push(format!("data before the first complete frame is skipped: {text}"));
        }
        (format, notes)
    }

    fn clock(&self, reader: &Reader, rate: Ratio) -> Clock {
        let time_base = reader.graph().map_or(reader.demuxer.stream().time_base, |graph| graph.time_base);
        let tick = details::ratio(time_base).unwrap_or(Ratio::ONE);
        Clock::new(tick, 0, rate).beginning(self.pictures().map(|p| p.timestamp()))
    }
}

fn first_picture(reader: &mut Reader, name: &str) -> Result<frame::Video, SourceError> {
    let undecodable = |why: String| Err(invalid(name, format!("no frame can be decoded{why}")));
    match reader.next() {
        Ok(Some(Item::Picture(picture))) => Ok(picture),
        Ok(Some(Item::Damage(text))) => undecodable(format!(": {text}")),
        Ok(Some(Item::Broken(error, text))) => Err(av_error(name, error, &format!("cannot be read{text}"))),
        Ok(Some(Item::Restart) | None) => {
            undecodable(reader.early_error.as_ref().map_or_else(recent_messages, |text| format!(": {text}")))
        }
        Err(error) if reader.has_filters() => {
            Err(invalid(name, format!("FFmpeg's filters: {error}{}", recent_messages())))
        }
        Err(error) => Err(av_error(name, error, "cannot be decoded")),
    }
}

fn consists_of_fields(order: FieldOrder) -> bool {
    matches!(order, FieldOrder::TopFirst | FieldOrder::BottomFirst)
}

/// The rates of the stream after FFmpeg's filters.
fn rates(reader: &Reader) -> Rates {
    let rates = details::rates(&reader.demuxer);
    match reader.graph().map(|graph| (details::ratio(graph.rate), graph.frame_by_frame())) {
        // whether filters of several frames keep a varying rate shows while rendering
        Some((nominal @ Some(_), each)) => Rates { nominal, average: None, variable: rates.variable && each },
        _ => rates,
    }
}

/// Whether frames can be sought before FFmpeg's filters: each depends on one frame and keeps its timestamp.
fn filters_allow_seeking(reader: &Reader) -> bool {
    let own = reader.demuxer.stream().time_base;
    reader.graph().is_none_or(|graph| {
        graph.frame_by_frame() && (graph.time_base.num, graph.time_base.den) == (own.num, own.den)
    })
}

pub(super) fn invalid(name: &str, problem: String) -> SourceError {
    SourceError::Bad { name: name.to_owned(), problem }
}

impl Video {
    pub(super) fn open(name: String, from: ByteSource, options: &Options) -> Result<Video, SourceError> {
        let log = Log::new();
        let _log = log.enter();
        let address = from.address();
        let mut reader =
            Reader::open(from, options.threads.unwrap_or(0)).map_err(|e| open_error(&name, e))?;
        if options.lavfi.as_ref().is_some_and(|text| text.contains('\0')) {
            return Err(invalid(&name, "FFmpeg's filters: the graph contains a zero byte".into()));
        }
        if let Some(text) = details::graph(&reader.demuxer, options.lavfi.as_deref()) {
            reader.filter(text, details::feed(&reader.demuxer));
        }
        let head = Head::decode(&mut reader, &name)?;
        let layout = Layout::new(head.first.format()).map_err(|e| invalid(&name, e.to_string()))?;
        let rates = rates(&reader);
        let (format, notes) = head.format(&reader, &layout, rates.nominal, options.rate);
        format.check().map_err(|e| invalid(&name, e.to_string()))?;
        let clock = head.clock(&reader, format.rate);
        let carried = source_file(&reader.demuxer, &head.first, address.clone(), &clock, rates.variable);
        let forward_only_reason = if filters_allow_seeking(&reader) {
            "a pipe cannot be read backwards; use a file"
        } else {
            "FFmpeg's filters use several frames, so they cannot run backwards"
        };
        let address = address.filter(|_| reader.demuxer.seekable() && filters_allow_seeking(&reader));
        let info = Info {
            name: name.clone(),
            kind: VIDEO,
            format,
            first: 0,
            last: None,
            seekable: address.is_some(),
            variable_rate: rates.variable,
            notes,
            details: details::details(&reader.demuxer, &head.first),
            carried: Some(Arc::new(carried)),
        };
        let Head { first, ahead: mut queue } = head;
        let shape = Some(Shape::new(&first));
        queue.push_front(Item::Picture(first));
        let mut video = Video {
            info,
            address,
            forward_only_reason,
            reader,
            index: IndexState::Untried,
            queue,
            next: 0,
            counting: true,
            ended: false,
            found_by_seeking: false,
            clock,
            last_pts: None,
            shape,
            decoder: Arc::new(Unpack { format, layout, name }),
            mark: None,
            fields_differ: false,
            new_notes: Vec::new(),
            log,
            opened: None,
        };
        video.find_frames(options.length, rates.average)?;
        video.describe();
        Ok(video)
    }

    /// Takes the index from the cache, or makes it if that is cheap or `length` requires it. `average` is an
    /// alternative frame rate.
    fn find_frames(&mut self, length: Length, average: Option<Ratio>) -> Result<(), SourceError> {
        if let Some(exact) = self.exact_index_cache().and_then(|cache| cache.take()) {
            self.index = IndexState::Exact(Box::new(exact));
            // The first picture was decoded without a mark.
            self.queue.clear();
            if let Some(address) = &self.address {
                self.reader.restart(address).map_err(|e| open_error(&self.info.name, e))?;
                self.reader.mark();
            }
            return Ok(());
        }
        let size = self.reader.demuxer.input.bytes().unwrap_or(u64::MAX);
        let read_all = match length {
            Length::Header => size <= SMALL,
            Length::Cheap => size <= INDEX_AT_ONCE,
            Length::Exact => true,
        };
        if read_all {
            self.make_index();
        } else if let Some(address) = &self.address
            && let Some(index) = IndexCache::new(address, self.reader.demuxer.video()).and_then(|c| c.take())
        {
            self.index = IndexState::Packets(index);
        }
        if size <= INDEX_AT_ONCE {
            self.settle_rate(average);
        }
        if length == Length::Exact && matches!(self.index, IndexState::Unreliable) {
            self.make_exact()?;
            self.recount(0)?;
        }
        Ok(())
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
}

/// The data that a sink needs to copy the streams that are not filtered.
fn source_file(
    demuxer: &Demuxer,
    first: &frame::Video,
    address: Option<InputUrl>,
    clock: &Clock,
    variable: bool,
) -> SourceFile {
    let beside = if address.is_none() { demuxer.beside() } else { Vec::new() };
    SourceFile {
        address,
        video: demuxer.video(),
        beside,
        time_base: clock.tick,
        first: clock.first,
        start: demuxer.start(Ratio::whole(clock.first) * clock.tick),
        jumps: demuxer.may_jump(),
        variable,
        turned: details::turn(demuxer).is_some(),
        side_data: picture::side_data(first).into_iter().map(|entry| entry.0).collect(),
        hdr: Hdr::of_frame(first.av()),
    }
}
