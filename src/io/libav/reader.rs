//! Reads the pictures of an input, from the start or from any number on.

use super::decoder::{Decoder, NextFrame};
use super::demux::{ByteSource, Demuxer, OpenError, Purpose};
use super::error::AvError;
use super::graph::{Graph, GraphInput};
use super::index::Index;
use super::index::entry::intra_only;
use super::index::exact::MAX_FRAMES;
use super::index::exact::SeekPoint;
use super::input_url::InputUrl;
use super::log::{Log, drain, recent_messages};
use super::picture;
use super::raw::Fields;
use super::stage::Stage;
use ffmpeg_next::{Packet, frame};
use ffmpeg_sys_next as sys;
use std::mem;

/// A result of decoding.
pub(crate) enum Item {
    /// A picture.
    Picture(frame::Video),
    /// Data between two pictures that could not be decoded, with libav's message.
    Damage(String),
    /// The input cannot be read any further.
    Broken(AvError, String),
    /// The next part is damaged, so it must be decoded again from the start, on one thread.
    Restart,
}

/// At the end of the input, this number of errors in a row without a picture ends it.
const MAX_ERRORS: u32 = 256;

/// The limit of packets that are read to find the one that was sought.
const MAX_SCAN: u32 = 1 << 14;

/// Decodes an input.
pub(crate) struct Reader {
    pub(crate) demuxer: Demuxer,
    decoder: Decoder,
    threads: usize,
    /// The address for a restart.
    address: Option<InputUrl>,
    /// The number of errors that the decoder had reported when it was last known to be in order; `None` while that is
    /// unknown. The result of decoding damaged data on several threads differs from run to run, so there is only one
    /// thread after the first error.
    error_baseline: Option<u32>,
    /// Number of pictures since the start; `None` after a seek.
    returned: Option<u64>,
    packet: Packet,
    picture: frame::Video,
    /// Whether all packets have been sent.
    drained: bool,
    /// Whether the end has been reached.
    ended: bool,
    /// Whether a picture has been decoded since the start; errors before that are those of a cut stream.
    decoded_any: bool,
    /// Whether the last item was damage, which is reported once until the next picture.
    damage_reported: bool,
    errors: u32,
    /// The error before the first picture.
    pub(crate) early_error: Option<String>,
    /// The message that the input is cut off, reported after all pictures before that point.
    cut: Option<String>,
    /// The decoder's messages about the last picture, if messages are its only sign of damage.
    pub(crate) decoder_messages: String,
    /// Whether damage was found since this was last cleared.
    pub(crate) damaged: bool,
    /// Whether packets are marked with their indices.
    marking: bool,
    /// The index of the next packet.
    rank: u32,
    /// Key packets that have passed, if they are recorded.
    seek_points: Option<Vec<SeekPoint>>,
    stage: Option<Stage>,
}

impl Reader {
    pub(crate) fn open(from: ByteSource, threads: usize) -> Result<Reader, OpenError> {
        let address = from.address();
        let demuxer = Demuxer::open(from, Purpose::Pictures)?;
        let address = address.filter(|_| demuxer.seekable());
        // If the input cannot be reopened, use one thread from the start, unless every picture is independent.
        let intra = intra_only(demuxer.parameters().codec_id);
        let threads = if address.is_none() && !intra { 1 } else { threads };
        let decoder = demuxer.decoder(threads)?;
        Ok(Reader {
            demuxer,
            decoder,
            threads,
            address: address.filter(|_| !intra),
            error_baseline: Some(0),
            returned: Some(0),
            packet: Packet::empty(),
            picture: frame::Video::empty(),
            drained: false,
            ended: false,
            decoded_any: false,
            damage_reported: false,
            errors: 0,
            early_error: None,
            cut: None,
            decoder_messages: String::new(),
            damaged: false,
            marking: false,
            rank: 0,
            seek_points: None,
            stage: None,
        })
    }

    /// Restarts with a newly opened input.
    pub(crate) fn restart(&mut self, address: &InputUrl) -> Result<(), OpenError> {
        let stage = self.stage.take();
        let marking = self.marking;
        *self = Reader::open(ByteSource::Address(address.clone()), self.threads)?;
        (self.stage, self.marking) = (stage, marking);
        self.reset_filters();
        Ok(())
    }

    /// Whether there is damage whose result would depend on the number of threads.
    fn has_new_errors(&self) -> bool {
        self.threads != 1
            && self.address.is_some()
            && self.error_baseline.is_some_and(|n| n != self.decoder.errors())
    }

    /// Restarts on one thread, up to the current position. `false` if that is unknown.
    fn restart_single_threaded(&mut self) -> Result<bool, AvError> {
        self.threads = 1;
        let (Some(returned), Some(address)) = (self.returned, self.address.clone()) else {
            self.damaged = true;
            return Ok(false);
        };
        let (stage, marking, seek_points) = (self.stage.take(), self.marking, self.seek_points.take());
        // Messages of the old decoder's threads would be reported twice.
        let plain = |e| match e {
            OpenError::Av(error) => error,
            _ => AvError(sys::AVERROR_INVALIDDATA),
        };
        self.decoder = self.demuxer.decoder(1).map_err(plain)?;
        drain();
        *self = Reader::open(ByteSource::Address(address), 1).map_err(plain)?;
        (self.marking, self.seek_points) = (marking, seek_points.map(|_| Vec::new()));
        while self.returned.is_some_and(|n| n < returned) {
            if self.decoded()?.is_none() {
                break;
            }
        }
        self.stage = stage;
        Ok(true)
    }

    /// Adds FFmpeg's filters after the decoder. Must be called before the first picture.
    pub(crate) fn filter(&mut self, text: String, feed: GraphInput) {
        self.stage = Some(Stage::new(text, feed));
    }

    pub(crate) fn has_filters(&self) -> bool {
        self.stage.is_some()
    }

    /// The filter graph, after the first picture.
    pub(crate) fn graph(&self) -> Option<&Graph> {
        self.stage.as_ref()?.graph()
    }

    /// Restarts the filters.
    fn reset_filters(&mut self) {
        self.stage.iter_mut().for_each(Stage::reset);
    }

    /// The next picture after the filters, or another item; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Item>, AvError> {
        let Some(mut stage) = self.stage.take() else { return self.decoded() };
        let next = self.filtered(&mut stage);
        self.stage = Some(stage);
        next
    }

    fn filtered(&mut self, stage: &mut Stage) -> Result<Option<Item>, AvError> {
        loop {
            if let Some(picture) = stage.pull()? {
                return Ok(Some(Item::Picture(picture)));
            }
            if stage.ended() {
                return Ok(None);
            }
            match self.decoded()? {
                Some(Item::Picture(p)) if picture::is_damaged(&p) => {
                    return Ok(Some(Item::Damage(format!(
                        "a damaged picture is not filtered{}",
                        recent_messages()
                    ))));
                }
                Some(Item::Picture(p)) => stage.push(Some(p))?,
                Some(other) => return Ok(Some(other)),
                None => stage.push(None)?,
            }
        }
    }

    /// The next decoded picture, or another item; `None` at the end.
    fn decoded(&mut self) -> Result<Option<Item>, AvError> {
        while !self.ended {
            let received = self.decoder.receive(&mut self.picture);
            if !matches!(received, Ok(NextFrame::NeedsInput)) && self.has_new_errors() {
                if self.restart_single_threaded()? {
                    continue;
                }
                return Ok(Some(Item::Restart));
            }
            match received {
                Ok(NextFrame::Frame) => {
                    self.returned = self.returned.map(|n| n + 1);
                    (self.decoded_any, self.damage_reported, self.errors) = (true, false, 0);
                    let messages = self.decoder.decoder_messages();
                    if !messages.is_empty() {
                        self.picture.av_mut().flags |= sys::AV_FRAME_FLAG_CORRUPT;
                        self.decoder_messages = format!(" ({})", messages.join("; "));
                    }
                    return Ok(Some(Item::Picture(mem::replace(&mut self.picture, frame::Video::empty()))));
                }
                Ok(NextFrame::End) => return Ok(self.end()),
                Ok(NextFrame::NeedsInput) if self.drained => return Ok(self.end()),
                Ok(NextFrame::NeedsInput) => {
                    if let Some(item) = self.feed() {
                        return Ok(Some(item));
                    }
                }
                Err(error) => {
                    self.errors += 1;
                    self.ended |= self.drained && self.errors > MAX_ERRORS;
                    let item = self.damage(error);
                    if !self.drained
                        && let Some(other) = self.feed()
                    {
                        return Ok(Some(item.unwrap_or(other)));
                    }
                    if item.is_some() {
                        return Ok(item);
                    }
                }
            }
        }
        Ok(None)
    }

    /// Ends the input. The last item says if it was cut off.
    fn end(&mut self) -> Option<Item> {
        self.ended = true;
        self.cut.take().map(|line| Item::Damage(format!("the input is truncated ({line})")))
    }

    /// Whether nothing more will come.
    pub(crate) fn ended(&self) -> bool {
        match &self.stage {
            Some(stage) => stage.ended(),
            None => self.ended,
        }
    }

    /// Sends the decoder another packet, or the end.
    fn feed(&mut self) -> Option<Item> {
        let sent = match self.demuxer.read(&mut self.packet) {
            Ok(true) => self.send(),
            Ok(false) => {
                self.drained = true;
                let _ = self.decoder.send(None);
                let truncated = drain().into_iter().find(|line| line.contains("truncat"));
                self.cut = Log::here().take_cut().or(truncated);
                return None;
            }
            Err(error) => {
                self.drained = true;
                let _ = self.decoder.send(None);
                return Some(Item::Broken(error, recent_messages()));
            }
        };
        match sent {
            Ok(()) | Err(AvError::AGAIN | AvError::EOF) => None,
            Err(error) => self.damage(error),
        }
    }

    /// Sends the packet that was read to the decoder.
    fn send(&mut self) -> Result<(), AvError> {
        if self.marking {
            let rank = self.rank;
            self.rank = rank.saturating_add(1);
            if let Some(seek_points) = &mut self.seek_points
                && self.packet.is_key()
                && seek_points.len() < MAX_FRAMES
            {
                let p = self.packet.av();
                let seek = self.packet.dts().unwrap_or(p.pts);
                seek_points.push(SeekPoint {
                    rank,
                    size: p.size.max(0) as u32,
                    pos: p.pos,
                    seek,
                    failures: 0,
                });
            }
            picture::mark(&mut self.packet, rank)?;
        }
        self.decoder.send(Some(&self.packet))
    }

    /// Marks packets with their indices from here on; must be called before the first one is read.
    pub(crate) fn mark(&mut self) {
        (self.marking, self.rank) = (true, 0);
    }

    /// Records key packets for [`take_seek_points`](Self::take_seek_points).
    pub(crate) fn record_seek_points(&mut self) {
        self.seek_points = Some(Vec::new());
    }

    /// The recorded key packets.
    pub(crate) fn take_seek_points(&mut self) -> Vec<SeekPoint> {
        self.seek_points.take().unwrap_or_default()
    }

    /// The number of packets, from the first of the stream on, that the decoder has received or skipped.
    pub(crate) fn packets(&self) -> u32 {
        self.rank
    }

    fn damage(&mut self, error: AvError) -> Option<Item> {
        let text = format!("{error}{}", recent_messages());
        if !self.decoded_any {
            self.early_error.get_or_insert(text);
            return None;
        }
        self.damaged = true;
        if mem::replace(&mut self.damage_reported, true) { None } else { Some(Item::Damage(text)) }
    }

    /// Seeks to a point from which `target` can be decoded, and decodes up to it: `None` if it is intact only
    /// when decoding from the start.
    pub(crate) fn seek(&mut self, index: &Index, target: i64) -> Option<frame::Video> {
        let mut limit = index.entries.len();
        // The start is an entry too, but needs no seeking.
        while let Some(i) = index.entry_before(target, limit).filter(|&i| index.entries[i].order > 0) {
            limit = i;
            let errors = self.seek_to_entry(index, i)?;
            // Pictures that lead the entry may refer to others before it, so their errors are expected.
            let errors = (!index.has_leading(i)).then_some(errors);
            if let Some(picture) = self.decode_to(target, index.entries[i].pts, errors) {
                return Some(picture);
            }
        }
        None
    }

    /// The intact picture of the entry with that timestamp. Decoders hold pictures back until they have read some more,
    /// unless the input ends: here it ends for them. Reading goes on after another seek.
    pub(crate) fn entry_alone(&mut self, index: &Index, target: i64) -> Option<frame::Video> {
        let is_entry = |i: &usize| index.entries[*i].pts == target && index.entries[*i].order > 0;
        let i = index.entry_before(target, index.entries.len()).filter(is_entry)?;
        if self.damaged || self.stage.is_some() {
            return None;
        }
        let errors = self.seek_to_entry(index, i)?;
        let _ = self.decoder.send(None);
        self.drained = true;
        let picture = self.decode_to(target, target, Some(errors));
        // What is wrong with it is for the usual way to find out.
        (self.ended, self.damaged) = (true, false);
        picture
    }

    /// Ignores the errors so far.
    pub(crate) fn reset_error_baseline(&mut self) {
        self.error_baseline = Some(self.decoder.errors());
    }

    /// Decodes up to the picture with that timestamp, if it appears and is intact. `errors_at_entry`: the number of errors
    /// before the entry was decoded, unless others are expected before it appears.
    fn decode_to(&mut self, target: i64, entry: i64, errors_at_entry: Option<u32>) -> Option<frame::Video> {
        let mut errors_at_entry = errors_at_entry;
        loop {
            match self.next() {
                Ok(Some(Item::Picture(p))) => {
                    let t = p.timestamp()?;
                    // The concealment of a damaged entry depends on pictures before it.
                    if t >= entry {
                        let before = *errors_at_entry.get_or_insert(self.decoder.errors());
                        self.damaged |= before != self.decoder.errors() || picture::is_damaged(&p);
                    }
                    if t == target && !picture::is_damaged(&p) {
                        self.reset_error_baseline();
                        return Some(p);
                    } else if t >= target {
                        return None;
                    }
                }
                Ok(Some(Item::Damage(_))) => {}
                Ok(Some(Item::Broken(..) | Item::Restart) | None) | Err(_) => return None,
            }
        }
    }

    /// Positions the decoder at the packet of entry `i`, and returns the number of errors before it.
    fn seek_to_entry(&mut self, index: &Index, i: usize) -> Option<u32> {
        let entry = index.entries[i];
        let second = self.ticks_per_second();
        // Indexes of containers are sometimes wrong or missing: try earlier and earlier points.
        let mut back = 0;
        for attempt in 0..8 {
            if self.demuxer.seek(entry.seek.saturating_sub(back)).is_err() {
                return None;
            }
            if self.scan_to_entry(index, i) {
                self.reset_after_seek();
                let errors = self.decoder.errors();
                return self.send().is_ok().then_some(errors);
            }
            back = second << attempt;
        }
        None
    }

    fn ticks_per_second(&self) -> i64 {
        let base = self.demuxer.stream().time_base;
        (i64::from(base.den.max(1)) / i64::from(base.num.max(1))).max(1)
    }

    /// Starts decoding with the packet that was read last.
    fn reset_after_seek(&mut self) {
        drain();
        (self.error_baseline, self.returned) = (None, None);
        (self.drained, self.ended, self.damage_reported, self.decoded_any, self.errors) =
            (false, false, false, true, 0);
        self.decoder.flush();
        self.reset_filters();
    }

    /// Positions the decoder at the packet of a seek point.
    pub(crate) fn seek_to_point(&mut self, seek_point: &SeekPoint) -> bool {
        let second = self.ticks_per_second();
        let timed = seek_point.seek != sys::AV_NOPTS_VALUE;
        // Streams that can be read from any position are; for others the container's seeking comes first.
        let stream = ["mpegts", "mpeg", "h264", "hevc", "mpegvideo", "m4v", "cavsvideo", "vc1", "obu"];
        let by_place = stream.contains(&self.demuxer.input.container().as_str());
        for attempt in 0..6 {
            // A little earlier each time, since reading often begins with a partial packet.
            let moved = if by_place == (attempt < 3) {
                let back = [0, 1 << 14, 1 << 20][attempt as usize % 3];
                self.demuxer.seek_byte((seek_point.pos - back).max(0)).is_ok()
            } else {
                let back = second * [0, 1, 4][attempt as usize % 3];
                timed && self.demuxer.seek(seek_point.seek.saturating_sub(back)).is_ok()
            };
            if moved && self.scan_to_point(seek_point) {
                self.reset_after_seek();
                self.rank = seek_point.rank;
                return self.send().is_ok();
            }
        }
        false
    }

    /// Reads up to the packet of a seek point; `false` if reading begins after it.
    fn scan_to_point(&mut self, seek_point: &SeekPoint) -> bool {
        for _ in 0..MAX_SCAN {
            if !matches!(self.demuxer.read(&mut self.packet), Ok(true)) {
                return false;
            }
            let p = self.packet.av();
            if p.pos == seek_point.pos && p.size.max(0) as u32 == seek_point.size {
                return true;
            }
            if p.pos > seek_point.pos {
                return false;
            }
        }
        false
    }

    /// Reads up to the packet of entry `i`; `false` if reading begins after it.
    fn scan_to_entry(&mut self, index: &Index, i: usize) -> bool {
        let entry = index.entries[i];
        while let Ok(true) = self.demuxer.read(&mut self.packet) {
            let p = self.packet.av();
            match index.order(p.pts) {
                Some(order) if order == entry.order => return p.size as u32 == entry.size,
                Some(order) if order > entry.order => return false,
                // Before it, or the partial first packet after a seek.
                _ => {}
            }
        }
        false
    }
}
