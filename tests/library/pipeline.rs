//! The pipeline with faulty sources and sinks: order, errors, cancellation, blocked reads.

use grainfield::disk::PartialOutput;
use grainfield::pipeline::{Failure, FrameError, FrameList, Outcome, Plan, Setup, run};
use grainfield::session::job::{Event, FrameDone, OnError};
use grainfield::sink::{Encode, Plain, Rescue, Sink, SinkError};
use grainfield::source::{Decode, FrameStamp, Info, Pending, Slot, Source, SourceError};
use grainfield_filters::chain::{Chain, ChainError, Fields, Options};
use grainfield_filters::frame::{Format, Frame};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::simd::Level;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn format() -> Format {
    Format::from_name("gray", 5, 3).unwrap()
}

/// Frames 0 to `last`, each filled with its number; some of them are faulty in various ways.
struct Fake {
    info: Info,
    at: i64,
    bad: Vec<i64>,
    /// Blocks before this frame until the sender is dropped.
    stuck: Option<(i64, Receiver<()>)>,
}

struct FakeDecode {
    panics: Option<i64>,
}

impl Decode for FakeDecode {
    fn decode(&self, stamp: &FrameStamp, slot: &mut Slot) -> Result<(), SourceError> {
        assert_ne!(Some(stamp.number), self.panics, "a fault on purpose");
        slot.frame.reset(format());
        // Later frames overtake earlier ones.
        std::thread::sleep(Duration::from_micros(500 * (5 - stamp.number.rem_euclid(5)) as u64));
        for y in 0..3 {
            slot.frame.row_mut::<u8>(0, y).fill(stamp.number as u8);
        }
        Ok(())
    }
}

impl Source for Fake {
    fn info(&self) -> &Info {
        &self.info
    }
    fn seek(&mut self, number: i64) -> Result<(), SourceError> {
        self.at = number;
        Ok(())
    }
    fn next(&mut self, slot: &mut Slot) -> Result<Option<FrameStamp>, SourceError> {
        if self.info.last.is_some_and(|last| self.at > last) {
            return Ok(None);
        }
        let number = self.at;
        if let Some((at, wait)) = &self.stuck
            && *at == number
        {
            let _ = wait.recv();
        }
        self.at += 1;
        if self.bad.contains(&number) {
            return Err(SourceError::Bad { name: "fake".into(), problem: "this frame is bad".into() });
        }
        slot.pending = Some(Pending::Number(number));
        let time = Ratio::new(number, 24).unwrap();
        Ok(Some(FrameStamp { number, time, duration: Ratio::new(1, 24).unwrap(), carried: None }))
    }
    fn drain_notes(&mut self) -> Vec<String> {
        assert!(self.at < 30 || self.bad.first() != Some(&i64::MIN), "notes on purpose");
        Vec::new()
    }
    fn decoder(&self) -> Arc<dyn Decode> {
        Arc::new(FakeDecode { panics: self.info.notes.first().and_then(|n| n.parse().ok()) })
    }
}

#[derive(Default)]
struct Log {
    frames: Vec<(i64, u8)>,
    finished: bool,
    abandoned: bool,
}

struct Note {
    log: Arc<Mutex<Log>>,
    full_after: usize,
}

struct Copy;
impl Encode for Copy {
    fn encode(&self, _: &FrameStamp, frame: &Frame, out: &mut Vec<u8>) -> Result<(), SinkError> {
        out.extend_from_slice(frame.row::<u8>(0, 0));
        Ok(())
    }
}

impl Sink for Note {
    fn encoder(&self) -> Arc<dyn Encode> {
        Arc::new(Copy)
    }
    fn write(&mut self, stamp: &FrameStamp, frame: &Frame, encoded: &[u8]) -> Result<(), SinkError> {
        let mut log = self.log.lock().unwrap();
        if log.frames.len() == self.full_after {
            return Err(SinkError::io("fake".into(), std::io::ErrorKind::StorageFull.into()));
        }
        assert_eq!(encoded, frame.row::<u8>(0, 0));
        log.frames.push((stamp.number, encoded[0]));
        Ok(())
    }
    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        self.log.lock().unwrap().finished = true;
        Ok(())
    }
    fn abandon(self: Box<Self>) -> Result<PartialOutput, SinkError> {
        self.log.lock().unwrap().abandoned = true;
        Ok(PartialOutput { partial: Some("fake.partial".into()), frames: None })
    }
}

/// Where a sink hangs or panics.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Call {
    Write(i64),
    Finish,
    Abandon,
}

/// A sink whose encoder is slow, hangs or panics.
#[derive(Clone, Default)]
struct Slow {
    fails: Option<(Call, bool)>,
    delay: Duration,
    calls: Arc<AtomicU64>,
    written: Arc<AtomicU64>,
    /// Set when the call that hangs or panics is reached.
    reached: Arc<AtomicBool>,
    rescued: Arc<AtomicBool>,
}

impl Slow {
    fn reach(&self, call: Call) {
        std::thread::sleep(self.delay);
        self.calls.fetch_add(1, Ordering::Relaxed);
        if let Some((_, panics)) = self.fails.filter(|fails| fails.0 == call) {
            self.reached.store(true, Ordering::Relaxed);
            assert!(!panics, "a fault on purpose");
            loop {
                std::thread::park();
            }
        }
    }
}

impl Rescue for Slow {
    fn end(&self) -> Result<PartialOutput, SinkError> {
        self.rescued.store(true, Ordering::Relaxed);
        Ok(PartialOutput {
            partial: Some("rescued".into()),
            frames: Some(self.written.load(Ordering::Relaxed)),
        })
    }
    fn progress(&self) -> (u64, u64) {
        (3, self.calls.load(Ordering::Relaxed))
    }
}

impl Sink for Slow {
    fn encoder(&self) -> Arc<dyn Encode> {
        Arc::new(Plain)
    }
    fn rescue(&self) -> Result<Arc<dyn Rescue>, SinkError> {
        Ok(Arc::new(self.clone()))
    }
    fn write(&mut self, stamp: &FrameStamp, _: &Frame, _: &[u8]) -> Result<(), SinkError> {
        self.reach(Call::Write(stamp.number));
        self.written.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        self.reach(Call::Finish);
        Ok(())
    }
    fn abandon(self: Box<Self>) -> Result<PartialOutput, SinkError> {
        self.reach(Call::Abandon);
        Ok(PartialOutput { partial: Some("abandoned".into()), frames: None })
    }
}

#[derive(Default)]
struct NoProgress {
    held: AtomicU64,
    steps: Mutex<Vec<FrameDone>>,
    notes: Mutex<Vec<String>>,
}
impl NoProgress {
    fn tell(&self, event: Event) {
        match event {
            Event::Frame(frame) => self.steps.lock().unwrap().push(frame),
            Event::Note(note) => self.notes.lock().unwrap().push(note.text),
            Event::Finishing { held } => self.held.store(held, Ordering::Relaxed),
            _ => {}
        }
    }
}

struct Case {
    last: Option<i64>,
    wanted: Option<FrameList>,
    offset: i64,
    bad: Vec<i64>,
    panics: Option<i64>,
    stuck: Option<(i64, Receiver<()>)>,
    full_after: usize,
    slots: usize,
    on_error: OnError,
    /// Another sink than a [`Note`].
    slow: Option<Slow>,
    abort: Arc<AtomicBool>,
    patience: Duration,
}

impl Default for Case {
    fn default() -> Case {
        Case {
            last: Some(99),
            wanted: None,
            offset: 0,
            bad: Vec::new(),
            panics: None,
            stuck: None,
            full_after: usize::MAX,
            slots: 4,
            on_error: OnError::Stop,
            slow: None,
            abort: Arc::default(),
            patience: grainfield::pipeline::PATIENCE,
        }
    }
}

fn play(case: Case, cancelled: &Arc<AtomicBool>) -> (Outcome, Arc<Mutex<Log>>, NoProgress) {
    let info = Info {
        name: "fake".into(),
        kind: "fake",
        format: format(),
        first: 0,
        last: case.last,
        seekable: true,
        variable_rate: false,
        notes: case.panics.iter().map(|n| n.to_string()).collect(),
        details: Vec::new(),
        carried: None,
    };
    let source = Box::new(Fake { info, at: 0, bad: case.bad, stuck: case.stuck });
    let options = Options { seed: 0, level: Level::best(), first: 0, last: None, fields: Fields::Frame };
    let chain = Arc::new(Chain::bind::<ChainError>(&[], format(), &options, |f| Ok(*f)).unwrap());
    let log = Arc::new(Mutex::new(Log::default()));
    let sink: Box<dyn Sink> = match case.slow {
        Some(slow) => Box::new(slow),
        None => Box::new(Note { log: Arc::clone(&log), full_after: case.full_after }),
    };
    let plan = Plan {
        source,
        wanted: case.wanted,
        offset: case.offset,
        total: None,
        to_end: false,
        may_end_early: false,
    };
    let setup = Setup {
        plan,
        chain,
        sink,
        slots: case.slots,
        threads: case.slots,
        on_error: case.on_error,
        reopen: None,
        store: Arc::new(grainfield_filters::host::NoCache),
        constant_rate: None,
        cancelled: Arc::clone(cancelled),
        abort: case.abort,
        patience: case.patience,
    };
    let quiet = NoProgress::default();
    let outcome = run(setup, &|event| quiet.tell(event));
    (outcome, log, quiet)
}

fn go(case: Case) -> (Outcome, Log, NoProgress) {
    let (outcome, log, quiet) = play(case, &Arc::new(AtomicBool::new(false)));
    let log = std::mem::take(&mut *log.lock().unwrap());
    (outcome, log, quiet)
}

fn frames(wanted: &str) -> Option<FrameList> {
    Some(FrameList::all(wanted.parse().unwrap()))
}

#[test]
fn frames_come_in_order_on_any_number_of_threads() {
    for slots in [1, 2, 3, 16, 64] {
        let (outcome, log, quiet) = go(Case { slots, ..Case::default() });
        assert!(outcome.failure.is_none());
        assert_eq!(log.frames, (0..100).map(|n| (n, n as u8)).collect::<Vec<_>>(), "{slots} slots");
        assert!(log.finished && !log.abandoned);
        assert_eq!(outcome.summary.frames, 100);
        let last = *quiet.steps.lock().unwrap().last().unwrap();
        assert_eq!((last.done, last.number, last.out_time), (100, 99, Ratio::new(100, 24).unwrap()));
    }
}

#[test]
fn chosen_frames_come_in_the_order_chosen_and_the_offset_counts_first() {
    let (_, log, _) =
        go(Case { wanted: frames("1010,1003-1005,1090-1099x3"), offset: 1000, ..Case::default() });
    let numbers: Vec<i64> = log.frames.iter().map(|f| f.0).collect();
    assert_eq!(numbers, [1010, 1003, 1004, 1005, 1090, 1093, 1096, 1099]);
    assert_eq!(log.frames[0].1, 10, "the picture is the source's frame 10");
}

#[test]
fn a_source_that_ends_before_the_range_does_is_an_error() {
    let (outcome, log, _) = go(Case { wanted: frames("98-101"), ..Case::default() });
    let text = outcome.failure.map(|f| f.to_string());
    assert_eq!(text.as_deref(), Some("fake ends after frame 99, but frame 100 was requested"));
    assert!(log.abandoned && !log.finished);
    assert_eq!(log.frames.len(), 2);
    let (outcome, log, _) = go(Case { wanted: frames("98-"), ..Case::default() });
    assert!(outcome.failure.is_none() && log.finished);
    assert_eq!(log.frames.len(), 2);
}

#[test]
fn a_source_without_frames_is_an_error() {
    let (outcome, log, _) = go(Case { last: Some(-1), ..Case::default() });
    assert!(matches!(outcome.failure, Some(Failure::Frame { error: FrameError::Nothing { .. }, .. })));
    assert!(log.abandoned);
}

#[test]
fn a_bad_frame_ends_it_or_is_left_out() {
    for panics in [None, Some(51)] {
        let case = || Case { bad: vec![50], panics, ..Case::default() };
        let (outcome, log, _) = go(case());
        let text = outcome.failure.unwrap().to_string();
        assert_eq!(text, "frame 50: fake: this frame is bad");
        assert_eq!(log.frames.len(), 50, "what came before is whole");
        assert!(log.abandoned && !log.finished);
        let (outcome, log, quiet) = go(Case { on_error: OnError::Skip, ..case() });
        assert!(outcome.failure.is_none());
        let failed = 1 + u64::from(panics.is_some());
        assert_eq!((outcome.summary.frames, outcome.summary.failed), (100 - failed, failed));
        assert!(log.finished);
        let notes = quiet.notes.lock().unwrap();
        assert_eq!(notes[0], "left out: frame 50: fake: this frame is bad");
        if panics.is_some() {
            assert!(
                notes[1].contains("frame 51 (2.125 s): internal error") && notes[1].contains("on purpose")
            );
        }
    }
}

#[test]
fn a_full_disk_ends_it_even_when_bad_frames_are_left_out() {
    let (outcome, log, _) = go(Case { full_after: 7, on_error: OnError::Skip, ..Case::default() });
    let text = outcome.failure.unwrap().to_string();
    assert!(text.starts_with("frame 7 (0.292 s): fake: "), "{text}");
    assert_eq!(log.frames.len(), 7);
    assert_eq!(outcome.partial, Some("fake.partial".into()));
}

#[test]
fn a_stop_keeps_finished_frames_and_does_not_wait_for_a_stuck_read() {
    for slots in [1, 4] {
        let (hold, stuck) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            asked.store(true, Ordering::Relaxed);
        });
        let begin = Instant::now();
        let (outcome, log, _) = play(Case { stuck: Some((20, stuck)), slots, ..Case::default() }, &stop);
        assert!(begin.elapsed() < Duration::from_secs(10), "it hangs with the read");
        assert!(matches!(outcome.failure, Some(Failure::Cancelled)));
        assert_eq!(log.lock().unwrap().frames.len(), 20, "everything read before is written");
        assert!(log.lock().unwrap().abandoned);
        drop(hold);
    }
}

/// Sets a flag when another one is set, or after a time.
fn after(reached: &Arc<AtomicBool>, most: Duration, then: &Arc<AtomicBool>) {
    let (reached, then, begun) = (Arc::clone(reached), Arc::clone(then), Instant::now());
    std::thread::spawn(move || {
        while !reached.load(Ordering::Relaxed) && begun.elapsed() < most {
            std::thread::sleep(Duration::from_millis(1));
        }
        then.store(true, Ordering::Relaxed);
    });
}

/// A watchdog, far below the patience of the pipeline.
const SOON: Duration = Duration::from_secs(30);

#[test]
fn a_stop_waits_for_a_slow_sink() {
    let (delay, patience) = (Duration::from_millis(150), Duration::from_millis(1500));
    let slow = Slow { delay, ..Slow::default() };
    let stop = Arc::default();
    after(&Arc::default(), Duration::from_millis(100), &stop);
    let slots = 12;
    let (outcome, _, quiet) =
        play(Case { slow: Some(slow.clone()), slots, patience, ..Case::default() }, &stop);
    assert!(matches!(outcome.failure, Some(Failure::Cancelled)));
    assert!(!slow.rescued.load(Ordering::Relaxed), "it was never still for as long as the patience");
    assert_eq!(outcome.partial, Some("abandoned".into()));
    let written = slow.written.load(Ordering::Relaxed);
    assert!(written >= 12 && outcome.summary.frames == written, "what was read is written: {written}");
    assert!(quiet.held.load(Ordering::Relaxed) >= 3, "what it waits for is told");
}

#[test]
fn a_sink_that_hangs_or_panics_is_ended_from_outside() {
    for call in [Call::Write(0), Call::Write(20), Call::Finish, Call::Abandon] {
        for (panics, aborted) in [(false, false), (false, true), (true, false)] {
            let slow = Slow { fails: Some((call, panics)), ..Slow::default() };
            let (stop, abort) = (Arc::default(), Arc::default());
            let patience = if aborted { SOON * 10 } else { Duration::from_millis(300) };
            if call == Call::Abandon {
                after(&Arc::default(), Duration::from_millis(20), &stop);
            } else if !panics {
                after(&slow.reached, SOON, &stop);
            }
            if aborted {
                after(&slow.reached, SOON, &abort);
            }
            // it does not end before the stop
            let last = if call == Call::Abandon { None } else { Some(99) };
            let (slow, begun) = (slow, Instant::now());
            let case = Case { slow: Some(slow.clone()), last, abort, patience, ..Case::default() };
            let (outcome, ..) = play(case, &stop);
            let what = format!("{call:?}, panics {panics}, aborted {aborted}: {outcome:?}");
            assert!(begun.elapsed() < SOON, "{what}");
            // after a panic in a write the sink can still be abandoned
            let rescued = !(panics && matches!(call, Call::Write(_)));
            assert_eq!(slow.rescued.load(Ordering::Relaxed), rescued, "{what}");
            let partial = if rescued { "rescued" } else { "abandoned" };
            assert_eq!(outcome.partial, Some(partial.into()), "{what}");
            assert_eq!(outcome.summary.frames, slow.written.load(Ordering::Relaxed), "{what}");
            let text = outcome.failure.as_ref().map(|f| f.to_string()).unwrap_or_default();
            match panics && call != Call::Abandon {
                true => assert!(text.contains("internal error") && text.contains("on purpose"), "{what}"),
                false => assert_eq!(text, "cancelled", "{what}"),
            }
        }
    }
}

#[test]
fn a_panic_between_frames_ends_the_render() {
    let begun = Instant::now();
    // the notes of the source are taken by the thread that reads
    let (outcome, log, _) = go(Case { bad: vec![i64::MIN], ..Case::default() });
    assert!(begun.elapsed() < SOON);
    let text = outcome.failure.unwrap().to_string();
    assert!(text.contains("internal error") && text.contains("notes on purpose"), "{text}");
    assert!(log.abandoned);
}
