//! Any container and codec as a source.
//!
//! Frames are numbered by the rank of their timestamps among those that decoding from the start puts out. Where the
//! packets tell which those are (`ffmpeg::index`), reading goes on at the last place before a wanted frame
//! from which decoding is known to be exact; elsewhere frames are counted from the start, which is slower and always
//! right. Packets are decoded in order here; taking the samples out of libav's frames is left to
//! [`Decode::decode`], which many threads do.

use super::carry::Container;
use super::demux::{OpenError, Origin};
use super::details::{self, Rates};
use super::error::AvError;
use super::index::cache::Shelf;
use super::index::{self, Index};
use super::own::Picture;
use super::pixfmt::{self, Layout};
use super::place::{Place, place};
use super::reader::{Item, Reader, said};
use super::unpack::{Decoded, Unpack};
use crate::source::{Decode, Info, Options, Pending, Slot, Source, SourceError, Stamp};
use grainfield_filters::ratio::Ratio;
use std::collections::VecDeque;
use std::ffi::{CString, OsStr};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Files of at most so many bytes are read through once at the start, so that their length is known.
const INDEX_AT_ONCE: u64 = 1 << 30;
/// Opens a file, or what a protocol in `options.allow_protocol` leads to.
pub fn open(input: &OsStr, options: &Options) -> Result<Box<dyn Source>, SourceError> {
    let name = Path::new(input).display().to_string();
    let place = place(input, &options.allow_protocol)
        .map_err(|e| SourceError::Bad { name: name.clone(), problem: e.to_string() })?;
    let from = Origin::Place(place.clone());
    Ok(Box::new(Video::open(name, from, Some(place), options)?))
}

/// Reads any container from a pipe; `name` is what messages call it.
pub fn from_reader(
    name: String,
    reader: Box<dyn Read + Send>,
    options: &Options,
) -> Result<Box<dyn Source>, SourceError> {
    Ok(Box::new(Video::open(name, Origin::Reader(reader), None, options)?))
}

/// Ticks, and what a tick is.
#[derive(Clone, Copy)]
struct Clock {
    tick: Ratio,
    first: i64,
    /// Ticks of one frame at the nominal rate, rounded; at least 1.
    step: i64,
}

impl Clock {
    fn seconds(&self, ticks: i64) -> Ratio {
        // Timestamps beyond what a ratio holds are nonsense anyway, and must not overflow.
        const MOST: i64 = 1 << 52;
        Ratio::whole(ticks.clamp(-MOST, MOST)) * self.tick
    }
}

struct Video {
    info: Info,
    /// To begin anew; `None` where reading goes forward only.
    place: Option<Place>,
    /// Why it does.
    backwards: &'static str,
    reader: Reader,
    index: Lookup,
    queue: VecDeque<Item>,
    /// Number of the next frame.
    next: i64,
    /// Frames have been counted since the start, as against found by their timestamps.
    counting: bool,
    ended: bool,
    /// The next picture is one that was sought, so nothing better can be had by seeking it.
    reached: bool,
    clock: Clock,
    /// The timestamp given last.
    last_pts: Option<i64>,
    shape: Shape,
    decoder: Arc<Unpack>,
}

/// What must not change in the middle.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    width: i32,
    height: i32,
    pix_fmt: i32,
}

impl Shape {
    fn of(p: &Picture) -> Shape {
        let f = p.get();
        Shape { width: f.width, height: f.height, pix_fmt: f.format }
    }

    fn said(self, p: &Picture) -> String {
        format!("{}x{} {}", self.width, self.height, pixfmt::name(p.pix_fmt()))
    }
}

/// The index, as far as it has been made.
enum Lookup {
    NotYet,
    None,
    There(Index),
}

/// A picture with its place.
struct Placed {
    picture: Picture,
    number: i64,
    pts: i64,
}

fn open_error(name: &str, error: OpenError) -> SourceError {
    let name = name.to_owned();
    match error {
        OpenError::Av(e) => av_error(&name, e, "cannot be read as video"),
        other => SourceError::Bad { name, problem: format!("{other}{}", said()) },
    }
}

fn av_error(name: &str, error: AvError, what: &str) -> SourceError {
    let name = name.to_owned();
    match error.io() {
        // libav says "invalid argument" for much that is not the system's.
        Some(cause) if error.0 != -libc::EINVAL => SourceError::Io { name, cause },
        _ => SourceError::Bad { name, problem: format!("{what}: {error}{}", said()) },
    }
}

impl Video {
    fn open(
        name: String,
        from: Origin,
        place: Option<Place>,
        options: &Options,
    ) -> Result<Video, SourceError> {
        super::log::drain();
        let threads = options.threads.unwrap_or(0);
        let mut reader = Reader::open(from, threads).map_err(|e| open_error(&name, e))?;
        if let Some(text) = &options.lavfi {
            let text = CString::new(text.as_str()).map_err(|_| SourceError::Bad {
                name: name.clone(),
                problem: "--lavfi: there is a zero byte in the graph".into(),
            })?;
            reader.filter(text, details::feed(&reader.demuxer));
        }
        let first = match reader.next() {
            Ok(Some(Item::Picture(p))) => p,
            Ok(Some(Item::Damage(text))) => {
                return Err(SourceError::Bad { name, problem: format!("no frame can be decoded: {text}") });
            }
            Ok(Some(Item::Broken(error, text))) => {
                let what = format!("cannot be read{text}");
                return Err(av_error(&name, error, &what));
            }
            Ok(None) => {
                let why = reader.early.map_or_else(said, |text| format!(": {text}"));
                return Err(SourceError::Bad { name, problem: format!("no frame can be decoded{why}") });
            }
            Err(error) if options.lavfi.is_some() => {
                let problem = format!("--lavfi: {error}{}", said());
                return Err(SourceError::Bad { name, problem });
            }
            Err(error) => return Err(av_error(&name, error, "cannot be decoded")),
        };
        let bad = |problem: String| SourceError::Bad { name: name.clone(), problem };
        let layout = Layout::of(first.pix_fmt()).map_err(|e| bad(e.to_string()))?;
        let demuxer = &reader.demuxer;
        let rates = details::rates(demuxer);
        let mut format = details::format(demuxer, &first, &layout);
        let filtered = reader.graph().map(|g| (g.time_base(), details::ratio(g.rate()), g.frame_by_frame()));
        let rates = match filtered {
            Some((_, rate @ Some(_), _)) => Rates { nominal: rate, average: None, variable: rates.variable },
            _ => rates,
        };
        format.rate = rates.nominal.or(options.rate).unwrap_or(Ratio::whole(24));
        format.check().map_err(|e| bad(e.to_string()))?;

        let mut notes = Vec::new();
        if rates.nominal.is_none() {
            notes.push(format!("no frame rate is given; {} frames a second are assumed", format.rate));
        }
        if let Some(text) = &reader.early {
            notes.push(format!("data before the first whole frame is left out: {text}"));
        }
        let stream = demuxer.stream(demuxer.video());
        let time_base = filtered.map_or(stream.time_base, |f| f.0);
        let tick = Ratio::new(time_base.num.into(), time_base.den.into())
            .filter(|t| *t > Ratio::ZERO)
            .unwrap_or(Ratio::ONE);
        let per_frame = format.rate.recip().and_then(|d| d.checked_div(tick)).unwrap_or(Ratio::ONE);
        let step = (per_frame + Ratio::HALF).floor().max(1);
        let clock = Clock { tick, first: first.timestamp().unwrap_or(0), step };
        let carried = Container {
            url: place.as_ref().map(|p| p.url.clone()),
            protocols: place.as_ref().map_or_else(Default::default, |p| p.protocols.clone()),
            video: demuxer.video(),
            time_base: tick,
            first: clock.first,
        };
        // Through filters that look beyond a frame there is only one way, and that is forward.
        let steady = filtered
            .is_none_or(|f| f.2 && (f.0.num, f.0.den) == (stream.time_base.num, stream.time_base.den));
        let seekable = place.is_some() && demuxer.seekable() && steady;
        let backwards = if steady {
            "a pipe cannot be read backwards; use a file"
        } else {
            "the filters of --lavfi look at more than one frame, so they cannot go backwards"
        };
        let bytes = demuxer.bytes();
        let info = Info {
            name: name.clone(),
            kind: "video",
            format,
            first: 0,
            last: None,
            seekable,
            variable_rate: rates.variable,
            notes,
            details: details::details(demuxer, &first),
            carried: Some(Arc::new(carried)),
        };
        let shape = Shape::of(&first);
        let mut video = Video {
            info,
            place: place.filter(|_| seekable),
            backwards,
            reader,
            index: Lookup::NotYet,
            queue: VecDeque::from([Item::Picture(first)]),
            next: 0,
            counting: true,
            ended: false,
            reached: false,
            clock,
            last_pts: None,
            shape,
            decoder: Arc::new(Unpack { format, layout, name }),
        };
        let kept = || {
            let place = video.place.as_ref()?;
            Shelf::of(place, video.reader.demuxer.video())?.take()
        };
        if bytes.is_some_and(|n| n <= INDEX_AT_ONCE) || options.length {
            video.make_index();
        } else if let Some(index) = kept() {
            video.index = Lookup::There(index);
        }
        video.describe();
        Ok(video)
    }

    /// Makes the index, if there is none and there can be one.
    fn make_index(&mut self) {
        if let Lookup::NotYet = self.index {
            self.index = match &self.place {
                Some(place) => match index::make(place, self.reader.demuxer.video()) {
                    Ok(index) => Lookup::There(index),
                    Err(why) => {
                        let text = format!("frames are counted by decoding: {why}");
                        self.info.details.push(("index".into(), text));
                        Lookup::None
                    }
                },
                None => Lookup::None,
            };
            super::log::drain();
        }
    }

    /// What the index tells about the whole.
    fn describe(&mut self) {
        let Lookup::There(index) = &self.index else { return };
        let info = &mut self.info;
        info.last = Some(index.frames.len() as i64 - 1);
        let constant = |rate: Ratio| {
            // Containers round timestamps to their ticks.
            let slack = self.clock.tick * Ratio::whole(2);
            index.frames.iter().enumerate().all(|(i, t)| {
                let ideal = Ratio::whole(i as i64).checked_div(rate).unwrap_or(Ratio::ZERO);
                let off = self.clock.seconds(t.saturating_sub(self.clock.first)) - ideal;
                off <= slack && Ratio::ZERO - off <= slack
            })
        };
        let rates = details::rates(&self.reader.demuxer);
        let fits = [Some(info.format.rate), rates.average].into_iter().flatten().find(|r| constant(*r));
        info.variable_rate = fits.is_none() && index.frames.len() > 1;
        info.details.push(("entry points".into(), index.entries.len().to_string()));
    }

    /// The next item of the stream.
    fn fetch(&mut self) -> Result<Option<Item>, SourceError> {
        if let Some(item) = self.queue.pop_front() {
            return Ok(Some(item));
        }
        let at = self.place_said(self.last_pts);
        self.reader.next().map_err(|e| av_error(&self.info.name, e, &format!("fails at {at}")))
    }

    /// The timestamp of the picture after the present one; what comes before it is kept.
    fn peek(&mut self) -> Option<i64> {
        let of = |item: &Item| match item {
            Item::Picture(p) => Some(p.timestamp()),
            _ => None,
        };
        if let Some(found) = self.queue.iter().find_map(of) {
            return found;
        }
        while let Ok(Some(item)) = self.reader.next() {
            let found = of(&item);
            let broken = matches!(item, Item::Broken(..));
            self.queue.push_back(item);
            if found.is_some() || broken {
                return found.flatten();
            }
        }
        None
    }

    /// The next picture with its number, or the error that stands in its place.
    fn step(&mut self) -> Result<Option<Placed>, SourceError> {
        loop {
            let picture = match self.fetch()? {
                None => {
                    // Decoders drop pictures behind some entry points that they would give from the start.
                    if !self.counting && self.promised(self.next).is_some() {
                        self.reach(self.next)?;
                        continue;
                    }
                    self.ended = true;
                    return Ok(None);
                }
                Some(Item::Damage(text)) => {
                    return Err(
                        self.bad(format!("damaged data at {}: {text}", self.place_said(self.last_pts)))
                    );
                }
                Some(Item::Broken(error, text)) => {
                    let what = format!("cannot be read on after {}{text}", self.place_said(self.last_pts));
                    return Err(av_error(&self.info.name, error, &what));
                }
                Some(Item::Picture(picture)) => picture,
            };
            let pts = picture.timestamp().unwrap_or_else(|| {
                self.last_pts.map_or(self.clock.first, |t| t.saturating_add(self.clock.step))
            });
            if self.counting {
                if matches!(self.index, Lookup::There(_)) && self.promised(self.next) != Some(pts) {
                    // What decoding from the start gives is right, so the index is wrong.
                    self.index = Lookup::None;
                }
            } else if self.promised(self.next) != Some(pts) || (picture.damaged() && !self.reached) {
                self.reach(self.next)?;
                continue;
            }
            self.reached = false;
            self.last_pts = Some(pts);
            let number = self.next;
            self.next += 1;
            return Ok(Some(Placed { picture, number, pts }));
        }
    }

    /// The timestamp of a frame, by the index.
    fn promised(&self, number: i64) -> Option<i64> {
        match &self.index {
            Lookup::There(index) => index.frames.get(usize::try_from(number).ok()?).copied(),
            _ => None,
        }
    }

    /// Makes `number` the next frame, wherever reading stands: from the nearest place that gives it, else from the
    /// start.
    fn reach(&mut self, number: i64) -> Result<(), SourceError> {
        self.queue.clear();
        if let (Lookup::There(index), Some(target)) = (&self.index, self.promised(number))
            && let Some(picture) = self.reader.seek(index, target)
        {
            self.last_pts = self.promised(number - 1);
            self.queue.push_back(Item::Picture(picture));
            (self.next, self.counting, self.ended, self.reached) = (number, false, false, true);
            return Ok(());
        }
        self.recount(number)
    }

    /// Begins anew, and counts up to frame `number`.
    fn recount(&mut self, number: i64) -> Result<(), SourceError> {
        let Some(place) = &self.place else {
            return Err(self.bad(self.backwards.into()));
        };
        self.reader.restart(place).map_err(|e| open_error(&self.info.name, e))?;
        self.queue.clear();
        (self.next, self.counting, self.ended, self.last_pts) = (0, true, false, None);
        self.skip_to(number)
    }

    /// Decodes and drops what comes before frame `number`.
    fn skip_to(&mut self, number: i64) -> Result<(), SourceError> {
        while self.next < number {
            match self.step() {
                Ok(Some(_)) => {}
                Ok(None) => {
                    let there = self.next;
                    return Err(
                        self.bad(format!("frame {number} was asked for, but there are only {there} frames"))
                    );
                }
                // Told only to those who ask for what is damaged.
                Err(_) if !self.ended && !self.broken() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether reading has come to an end that is not the input's.
    fn broken(&self) -> bool {
        self.queue.is_empty() && self.reader.ended()
    }

    fn bad(&self, problem: String) -> SourceError {
        SourceError::Bad { name: self.info.name.clone(), problem }
    }

    fn place_said(&self, pts: Option<i64>) -> String {
        match pts {
            Some(t) => {
                let seconds = self.clock.seconds(t.saturating_sub(self.clock.first)).to_f64();
                format!("frame {}, behind {seconds:.3} s", self.next)
            }
            None => format!("frame {}", self.next),
        }
    }

    /// How long a frame is shown, in ticks, and how long its packet says.
    fn durations(&mut self, placed: &Placed) -> (i64, i64) {
        let said = placed.picture.duration();
        let next = match &self.index {
            Lookup::There(index) => index.frames.get(placed.number as usize + 1).copied(),
            _ => self.peek(),
        };
        let gap = next.map(|t| t.saturating_sub(placed.pts)).filter(|d| *d > 0);
        let shown = gap.unwrap_or(if said > 0 { said } else { self.clock.step });
        (shown, if said > 0 { said } else { gap.unwrap_or(0) })
    }
}

impl Source for Video {
    fn info(&self) -> &Info {
        &self.info
    }

    fn seek(&mut self, number: i64) -> Result<(), SourceError> {
        let past = self.info.last.is_some_and(|last| number > last);
        if number < 0 || past {
            let range = match self.info.last {
                Some(last) => format!("0 to {last}"),
                None => "from 0".into(),
            };
            return Err(self.bad(format!("frame {number} was asked for; there are frames {range}")));
        }
        if number == self.next && !self.ended && !self.broken() {
            return Ok(());
        }
        if self.place.is_none() {
            if number < self.next {
                return Err(self.bad(format!(
                    "frame {number} was asked for after frame {}, and {}",
                    self.next - 1,
                    self.backwards
                )));
            }
            return self.skip_to(number);
        }
        self.make_index();
        if let Lookup::There(index) = &self.index
            && let Some(target) = self.promised(number)
        {
            let entry = index.entry_before(target, usize::MAX).map_or(0, |i| index.entries[i].order);
            let here = index.frames.get(self.next as usize).and_then(|t| index.order(*t)).unwrap_or(0);
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

    fn next(&mut self, slot: &mut Slot) -> Result<Option<Stamp>, SourceError> {
        slot.pending = None;
        slot.carried = None;
        if self.ended {
            return Ok(None);
        }
        let Some(placed) = self.step()? else { return Ok(None) };
        let (shown, said_duration) = self.durations(&placed);
        let Placed { picture, number, pts } = placed;
        let time = self.clock.seconds(pts.saturating_sub(self.clock.first));
        let at = format!("frame {number} ({:.3} s)", time.to_f64());
        let shape = Shape::of(&picture);
        if shape != self.shape {
            let first = format!("{}x{} {}", self.shape.width, self.shape.height, self.decoder.layout.name);
            let now = shape.said(&picture);
            return Err(self.bad(format!(
                "{at} is {now}, but the video began as {first}; frames of one video must be alike (--lavfi with \
                 scale and format makes them so)"
            )));
        }
        if picture.damaged() {
            let words = std::mem::take(&mut self.reader.words);
            let words = if words.is_empty() { said() } else { words };
            return Err(self.bad(format!("{at} is damaged{words}")));
        }
        let duration = self.clock.seconds(shown);
        slot.pending = Some(Pending::Opaque(Box::new(Decoded { picture, pts, duration: said_duration })));
        Ok(Some(Stamp { number, time, duration, carried: None }))
    }

    fn decoder(&self) -> Arc<dyn Decode> {
        self.decoder.clone()
    }
}
