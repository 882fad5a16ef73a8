//! Open clips, and the memory that they take.
//!
//! A clip is opened by its header. The first frame that is asked for starts a scan of the whole file on a thread of its
//! own, one at a time, after which the clip's length is exact.
//!
//! One bound holds for all clips: a quarter for decoded frames of a clip, an eighth for finished frames, a quarter for
//! requests in progress. Of several clips those that were used last stay open within half of it; others are closed, and
//! opened again when they are needed.

use super::error_response::ErrorResponse;
use super::fault::Fault;
use grainfield_filters::forms::recipe::DEINTERLACERS;
use grainfield_filters::frame::{ColorRange, Format, Frame, Matrix, Transfer};
use grainfield_filters::host::{StateCache, lock};
use grainfield_filters::ratio::{Ratio, broadcast_rate};
use grainfield_io::source::raw::RawVideo;
use grainfield_io::source::{Info, Length};
use grainfield_render::assets::DiskStateCache;
use grainfield_render::session::job::{Cache, Request};
use grainfield_render::session::{Cancel, Clip};
use serde_json::json;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::broadcast;

/// The largest number of clips that are known.
const MAX_CLIPS: usize = 64;
/// The largest number of threads of a clip: each thread of a decoder has a frame in progress.
const MAX_THREADS: usize = 8;
/// The number of frames that a decoder keeps: at most 16 references, and those in progress.
const DECODER: usize = 16 + MAX_THREADS;
/// The picture that starts a scan is sent first.
const LATER: Duration = Duration::from_millis(200);
/// How often a request that waits looks whether it is still wanted.
const TICK: Duration = Duration::from_millis(20);

/// A frame: clip, recipe, number.
pub(super) type Which = (u32, u128, i64);

/// A finished frame.
pub(super) struct Finished {
    pub(super) frame: Frame,
    hash: OnceLock<String>,
}

impl Finished {
    /// The MD5 of its samples, as `grainfield hash` prints it.
    pub(super) fn hash(&self) -> &str {
        self.hash.get_or_init(|| format!("{:032x}", self.frame.digest()))
    }
}

/// What stands in the place of the tags of an input, by the options of the command line; `transfer` is that of the input.
pub(super) type Tags = BTreeMap<String, String>;

/// An input, FFmpeg's filters before all others, what its samples are if it has no header, and what replaces its tags.
#[derive(Clone)]
pub(super) struct Opening {
    pub(super) input: OsString,
    pub(super) lavfi: Option<String>,
    pub(super) raw: Option<RawVideo>,
    pub(super) tags: Tags,
}

impl Opening {
    /// Returns an error for a graph that a page may not run. An empty one is none.
    pub(super) fn new(
        input: OsString,
        lavfi: Option<String>,
        raw: Option<&str>,
        tags: Tags,
    ) -> Result<Opening, Fault> {
        retag(&mut Request::default(), &tags)?;
        let lavfi = lavfi.filter(|graph| !graph.is_empty());
        let raw = raw.map(str::parse).transpose().map_err(Fault::new)?;
        match lavfi.iter().find(|graph| !DEINTERLACERS.contains(&graph.as_str())) {
            Some(graph) => Err(Fault::new(format!("{graph}: not a graph that a page may run"))),
            None => Ok(Opening { input, lavfi, raw, tags }),
        }
    }
}

/// Replaces the tags of the input; returns an error for a value that is not known.
fn retag(request: &mut Request, tags: &Tags) -> Result<(), Fault> {
    for (name, value) in tags {
        let known = match &**name {
            "matrix" => {
                request.matrix = Matrix::from_name(value);
                request.matrix.is_some()
            }
            "transfer" => {
                request.transfer.input = Transfer::from_name(value);
                request.transfer.input.is_some()
            }
            "range" => {
                let ranges = [ColorRange::Limited, ColorRange::Full];
                request.range = ranges.into_iter().find(|range| range.name() == value);
                request.range.is_some()
            }
            "rate" => {
                request.rate =
                    broadcast_rate(value).or_else(|| value.parse().ok()).filter(|rate| *rate > Ratio::ZERO);
                request.rate.is_some()
            }
            _ => false,
        };
        if !known {
            return Err(Fault::new(format!("{name} '{value}' is not known")));
        }
    }
    Ok(())
}

/// A clip that a page has opened.
struct Entry {
    id: u32,
    from: Opening,
    /// `None` while it is closed.
    clip: Option<Clip>,
    format: Format,
    scan: Scan,
    used: Instant,
    stop: Cancel,
}

/// The state of the scan for the length.
#[derive(PartialEq, Eq)]
enum Scan {
    NotYet,
    Running,
    Ended,
}

/// All open clips.
pub(super) struct Clips {
    all: Mutex<Vec<Entry>>,
    finished: Mutex<Vec<(Which, Arc<Finished>)>>,
    /// The bound on memory, in bytes.
    memory: usize,
    /// Bytes of the requests in progress.
    working: Mutex<usize>,
    room_freed: Condvar,
    /// Held by the scan that runs.
    scanning: Mutex<()>,
    cache: Cache,
    events: broadcast::Sender<String>,
}

impl Clips {
    pub(super) fn new(memory: u64, cache: Cache, events: broadcast::Sender<String>) -> Clips {
        Clips {
            all: Mutex::default(),
            finished: Mutex::default(),
            memory: usize::try_from(memory).unwrap_or(usize::MAX),
            working: Mutex::new(0),
            room_freed: Condvar::new(),
            scanning: Mutex::default(),
            cache,
            events,
        }
    }

    fn read(&self, from: &Opening, length: Length, cancel: &Cancel) -> Result<Clip, Fault> {
        let memory = Some(self.memory as u64 / 4);
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS));
        let (cache, cancel, threads) = (self.cache.clone(), cancel.clone(), Some(threads));
        let Opening { input, lavfi, raw, tags } = from.clone();
        let mut request =
            Request { cache, length, memory, cancel, threads, lavfi, raw, ..Request::new(input, "hash:") };
        retag(&mut request, &tags)?;
        let kept = request.cache.open().map(DiskStateCache::new);
        let states = NotifyingStates { kept, events: self.events.clone() };
        Ok(Clip::open_with(request, Arc::new(states))?)
    }

    /// Opens an input; `cancel` ends also later reads of it.
    pub(super) fn open(&self, from: Opening, cancel: &Cancel) -> Result<u32, Fault> {
        let clip = self.read(&from, Length::Header, cancel)?;
        let mut all = lock(&self.all);
        let id = all.iter().map(|e| e.id).max().unwrap_or(0) + 1;
        if all.len() >= MAX_CLIPS {
            let oldest = all.iter().min_by_key(|e| e.used).map(|e| e.id);
            all.retain(|e| Some(e.id) != oldest);
        }
        let (format, stop) = (clip.info().format, cancel.clone());
        all.push(Entry {
            id,
            from,
            clip: Some(clip),
            format,
            scan: Scan::NotYet,
            used: Instant::now(),
            stop,
        });
        drop(all);
        self.close_oldest(id);
        Ok(id)
    }

    /// With what a clip was opened.
    pub(super) fn opening(&self, id: u32) -> Option<Opening> {
        lock(&self.all).iter().find(|e| e.id == id).map(|e| e.from.clone())
    }

    /// A clip, opened again if it was closed.
    pub(super) fn get(&self, id: u32) -> Result<Clip, ErrorResponse> {
        let gone = || ErrorResponse::gone("the clip is no longer open");
        let (from, stop) = {
            let mut all = lock(&self.all);
            let entry = all.iter_mut().find(|e| e.id == id).ok_or_else(gone)?;
            entry.used = Instant::now();
            match &entry.clip {
                Some(clip) => return Ok(clip.clone()),
                None => (entry.from.clone(), entry.stop.clone()),
            }
        };
        let clip = self.read(&from, Length::Header, &stop)?;
        let mut all = lock(&self.all);
        let entry = all.iter_mut().find(|e| e.id == id).ok_or_else(gone)?;
        // The rate may be another one before the scan.
        if (Format { rate: entry.format.rate, ..clip.info().format }) != entry.format {
            all.retain(|e| e.id != id);
            return Err(ErrorResponse::gone("the file has changed since it was opened"));
        }
        let clip = entry.clip.get_or_insert(clip).clone();
        drop(all);
        self.close_oldest(id);
        Ok(clip)
    }

    /// The same, when it can deliver this frame soon: other frames wait for the scan.
    pub(super) fn ready(
        self: &Arc<Clips>,
        id: u32,
        number: i64,
        cancel: &Cancel,
    ) -> Result<Clip, ErrorResponse> {
        loop {
            let clip = self.get(id)?;
            if clip.info().last.is_some() || clip.is_near(number) || !self.scan(id, Duration::ZERO) {
                return Ok(clip);
            }
            if cancel.is_cancelled() {
                return Err(ErrorResponse::gone("no longer needed"));
            }
            std::thread::sleep(TICK);
        }
    }

    /// Starts the scan of a clip of unknown length; `false` if there is none to wait for.
    fn scan(self: &Arc<Clips>, id: u32, after: Duration) -> bool {
        let mut all = lock(&self.all);
        let Some(entry) = all.iter_mut().find(|e| e.id == id) else { return false };
        let unknown = entry.clip.as_ref().is_some_and(|clip| clip.info().last.is_none());
        if !unknown || entry.scan != Scan::NotYet {
            return entry.scan == Scan::Running;
        }
        entry.scan = Scan::Running;
        let (from, stop) = (entry.from.clone(), entry.stop.clone());
        drop(all);
        let own = Arc::clone(self);
        std::thread::spawn(move || {
            std::thread::sleep(after);
            let read = {
                let _turn = lock(&own.scanning);
                own.read(&from, Length::Exact, &stop)
            };
            if let Some(entry) = lock(&own.all).iter_mut().find(|e| e.id == id) {
                entry.scan = Scan::Ended;
                if let Ok(clip) = read {
                    entry.format = clip.info().format;
                    entry.clip = Some(clip);
                }
            }
            let _ = own.events.send(json!({ "type": "clip", "id": id }).to_string());
        });
        true
    }

    /// A finished frame; `make` makes it.
    pub(super) fn finished(
        self: &Arc<Clips>,
        which: Which,
        cancel: &Cancel,
        make: impl FnOnce(&Clip) -> Result<Frame, ErrorResponse>,
    ) -> Result<Arc<Finished>, ErrorResponse> {
        let clip = self.ready(which.0, which.2, cancel)?;
        if let Some((_, found)) = lock(&self.finished).iter().find(|(w, _)| *w == which) {
            return Ok(Arc::clone(found));
        }
        let finished = Arc::new(Finished { frame: make(&clip)?, hash: OnceLock::new() });
        let mut all = lock(&self.finished);
        let most = (self.memory / 8 / finished.frame.bytes().max(1)).max(2);
        while all.len() >= most {
            all.remove(0);
        }
        all.push((which, Arc::clone(&finished)));
        drop(all);
        self.close_oldest(which.0);
        self.scan(which.0, LATER);
        Ok(finished)
    }

    /// Waits until a request for a frame of a clip has room: its samples, and the pixels that are made of them.
    pub(super) fn room(&self, id: u32, cancel: &Cancel) -> Result<Reserved<'_>, ErrorResponse> {
        let bytes = cost(&self.get(id)?.info().format);
        let mut working = lock(&self.working);
        while *working > 0 && *working + bytes > self.memory / 4 {
            if cancel.is_cancelled() {
                return Err(ErrorResponse::gone("no longer needed"));
            }
            working = self.room_freed.wait_timeout(working, TICK).unwrap_or_else(PoisonError::into_inner).0;
        }
        *working += bytes;
        Ok(Reserved(self, bytes))
    }

    /// Closes the clips that were used longest ago until the others are within half of the bound.
    fn close_oldest(&self, keep: u32) {
        let mut all = lock(&self.all);
        loop {
            let bytes =
                |e: &Entry| e.clip.as_ref().map_or(0, |c| c.kept_bytes() + DECODER * e.format.frame_bytes());
            if all.iter().map(bytes).sum::<usize>() <= self.memory / 2 {
                return;
            }
            let others = all.iter_mut().filter(|e| e.clip.is_some() && e.id != keep);
            let Some(oldest) = others.min_by_key(|e| e.used) else { return };
            oldest.close();
        }
    }

    /// Closes clips that were not used for some time, and forgets their frames.
    pub(super) fn close_idle(&self, time: Duration) {
        let mut closed = Vec::new();
        for entry in lock(&self.all).iter_mut().filter(|e| e.clip.is_some() && e.used.elapsed() >= time) {
            entry.close();
            closed.push(entry.id);
        }
        if !closed.is_empty() {
            lock(&self.finished).retain(|((id, ..), _)| !closed.contains(id));
            #[cfg(feature = "ffmpeg")]
            grainfield_io::libav::process::release_free_memory();
        }
    }

    /// Ends all reading.
    pub(super) fn stop(&self) {
        lock(&self.all).iter().for_each(|entry| entry.stop.cancel());
    }
}

impl Entry {
    fn close(&mut self) {
        self.clip = None;
        if self.scan == Scan::Ended {
            self.scan = Scan::NotYet;
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// The room of a request in progress.
pub(super) struct Reserved<'a>(&'a Clips, usize);

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        *lock(&self.0.working) -= self.1;
        self.0.room_freed.notify_all();
    }
}

/// The memory of a request for a frame: the frame, its copy and a filter's, and pixels at two depths.
fn cost(format: &Format) -> usize {
    3 * format.frame_bytes() + 24 * format.width as usize * format.height as usize
}

/// The number of the last frame, as far as the header says it.
pub(super) fn announced(info: &Info) -> i64 {
    let duration = info.details.iter().find(|(key, _)| key == "container duration");
    let seconds: Option<f64> = duration.and_then(|(_, text)| text.strip_suffix(" s")?.parse().ok());
    let count = seconds.map_or(1.0, |s| (s * info.format.rate.to_f64()).round());
    info.first + (count as i64 - 1).max(0)
}

/// Stores states of simulations in the cache of the program, and reports their progress to pages.
struct NotifyingStates {
    kept: Option<DiskStateCache>,
    events: broadcast::Sender<String>,
}

impl StateCache for NotifyingStates {
    fn get(&self, key: u128) -> Option<Vec<u8>> {
        self.kept.as_ref()?.get(key)
    }
    fn put(&self, key: u128, bytes: &[u8]) {
        if let Some(kept) = &self.kept {
            kept.put(key, bytes);
        }
    }
    fn simulating(&self, done: u64, all: u64) {
        let _ = self.events.send(json!({ "type": "simulating", "done": done, "all": all }).to_string());
    }
}
