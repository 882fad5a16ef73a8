//! Renders: begun, watched, cancelled, waited for.

use super::frames::lock;
use super::job::{Endpoints, Job, NamedEndpoints, Request, RunError};
use super::{Cancel, Clip, Error, Event, Note, Summary};
use crate::pipeline::{Failure, FrameError};
use crate::source::Source;
use grainfield_filters::frame::Ranges;
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::Recipe;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Events that are kept for somebody who listens slowly.
const EVENTS: usize = 4096;

/// A render that is described and not begun.
pub struct Render {
    request: Request,
    source: Option<Box<dyn Source>>,
    ends: Box<dyn Endpoints>,
}

impl Render {
    /// What a request says: its own input, opened for this render alone.
    pub fn new(request: Request) -> Render {
        Render { request, source: None, ends: Box::new(NamedEndpoints) }
    }

    /// The same, between other ends. The request's output then only tells which formats are accepted.
    pub fn between(request: Request, ends: impl Endpoints + 'static) -> Render {
        Render { request, source: None, ends: Box::new(ends) }
    }

    /// Only these frames, in this order, by the numbers that the user sees. Without it: all.
    #[must_use]
    pub fn frames(mut self, frames: Ranges) -> Render {
        self.request.frames = Some(frames);
        self
    }

    /// Where the frames go: a file, a pattern, `-`, `hash:`, `hash:FILE` or `null:`. Without it the clip's own request
    /// decides; that of [`open`](super::open) is `hash:`, which prints.
    #[must_use]
    pub fn to(mut self, output: impl Into<OsString>) -> Render {
        self.request.output = output.into();
        self.ends = Box::new(NamedEndpoints);
        self
    }

    /// Everything else: how the output is encoded, whether it may be replaced, shards, threads.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Request)) -> Render {
        change(&mut self.request);
        self
    }

    /// Checks everything and begins. Nothing bears the output's name before [`Running::wait`] has returned well.
    ///
    /// # Errors
    /// Of the kinds usage, input and output.
    pub fn start(self) -> Result<Running, Error> {
        Ok(self.prepare()?.start())
    }

    /// Opens and checks everything, and does not begin.
    ///
    /// # Errors
    /// Of the kinds usage, input and output.
    pub fn prepare(self) -> Result<Prepared, Error> {
        let Render { request, source, mut ends } = self;
        let cancel = Cancel::of(Arc::clone(&request.stop));
        let job = Job::reading(request, source, &mut *ends)?;
        Ok(Prepared { job, cancel })
    }
}

impl Clip {
    /// A render of a recipe, from a second opening of the input, so that previews may go on. A pipe can be read once:
    /// see [`into_render`](Clip::into_render).
    ///
    /// ```
    /// use grainfield::session::Event;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let file = folder.path().join("out.y4m");
    /// let clip = grainfield::open("pattern:bars:size=64x48:frames=10").unwrap();
    /// let look = grainfield_filters::recipe::Recipe::parse_chain("noise=strength=8").unwrap();
    /// let render = clip.render(&look).frames("2-5".parse().unwrap()).to(&file).start().unwrap();
    /// for event in render.events() {
    ///     if let Event::Frame(frame) = event {
    ///         println!("frame {} of {:?}", frame.done, frame.total);
    ///     }
    /// }
    /// assert_eq!(render.wait().unwrap().frames, 4);
    /// ```
    pub fn render(&self, recipe: &Recipe) -> Render {
        let request =
            Request { recipe: recipe.clone(), stop: Arc::default(), ..self.inner().request.clone() };
        Render::new(request)
    }

    /// A render that reads from the clip itself, which shows no frames from then on but those that it has kept.
    pub fn into_render(self, recipe: &Recipe) -> Render {
        // The source hears the stop alone that it was opened with.
        let request = Request { recipe: recipe.clone(), ..self.inner().request.clone() };
        Render { source: self.inner().frames.take(), ..Render::new(request) }
    }
}

/// A render that is ready to begin. Nothing bears the output's name yet; dropping it leaves nothing behind.
pub struct Prepared {
    job: Job,
    cancel: Cancel,
}

impl Prepared {
    /// What is written: the output, or what a shard of it is called.
    pub fn output(&self) -> &OsStr {
        self.job.output()
    }

    /// What the user should know before the first frame, losses last.
    pub fn notes(&self) -> &[Note] {
        self.job.notes()
    }

    /// How many frames there will be, if that is known.
    pub fn total(&self) -> Option<u64> {
        self.job.total()
    }

    /// Frames a second of the output.
    pub fn rate(&self) -> Ratio {
        self.job.output_rate()
    }

    /// Whether a later render can go on with what is there when this one is broken off.
    pub fn is_resumable(&self) -> bool {
        self.job.is_resumable()
    }

    /// Begins.
    pub fn start(self) -> Running {
        let shared = Arc::new(Shared::default());
        let (told, stop) = (Told(Arc::clone(&shared)), Arc::clone(self.cancel.flag()));
        let job = self.job;
        let run = move || job.run(&|event| told.0.push(event), &stop);
        let thread = std::thread::Builder::new().name("render".into()).spawn(run);
        Running { shared, cancel: self.cancel, thread: thread.ok() }
    }
}

/// A render that runs. Dropping it cancels it, and waits until what there is has been left playable.
pub struct Running {
    shared: Arc<Shared>,
    cancel: Cancel,
    /// `None` where the system gives no thread.
    thread: Option<JoinHandle<Result<Summary, RunError>>>,
}

impl Running {
    /// What happens, until nothing more will; waits for it. An event is given once, and none after
    /// [`wait`](Running::wait). A render ends only when its events have been taken or it is waited for.
    pub fn events(&self) -> impl Iterator<Item = Event> + '_ {
        std::iter::from_fn(|| self.shared.next())
    }

    /// Asks for an end. What has been written is finalised and named `NAME.partial.EXT`.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// What [`cancel`](Running::cancel) sets, for other threads.
    pub fn canceller(&self) -> Cancel {
        self.cancel.clone()
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// Of the kinds input, output, filter, interrupted and internal, with what is left of the output.
    pub fn wait(mut self) -> Result<Summary, RunError> {
        let failed = |text: String| {
            let error = FrameError::Panic(text);
            let failure = Box::new(Failure::Frame { number: None, time: None, error });
            RunError::Failed { failure, partial: None, summary: Summary::default() }
        };
        self.shared.leave();
        match self.thread.take() {
            None => Err(failed("the system cannot start another thread".into())),
            Some(thread) => thread.join().unwrap_or_else(|_| Err(failed("the render has panicked".into()))),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.cancel.cancel();
            self.shared.leave();
            // What it ended with was not asked for.
            let _ = thread.join();
        }
    }
}

#[derive(Default)]
struct Shared {
    events: Mutex<Events>,
    changed: Condvar,
}

/// Events on their way.
#[derive(Default)]
struct Events {
    list: VecDeque<Event>,
    /// The last is among them.
    ended: bool,
    /// Nobody listens any more.
    unheard: bool,
}

impl Shared {
    /// Waits for room while somebody listens. Frames are worked on meanwhile.
    fn push(&self, event: Event) {
        let mut events = lock(&self.events);
        while events.list.len() >= EVENTS && !events.unheard {
            events = self.changed.wait(events).unwrap_or_else(PoisonError::into_inner);
        }
        if !events.unheard {
            events.list.push_back(event);
            self.changed.notify_all();
        }
    }

    /// The next event, waited for. `None` when there are no more.
    fn next(&self) -> Option<Event> {
        let mut events = lock(&self.events);
        loop {
            match events.list.pop_front() {
                None if events.ended => return None,
                None => events = self.changed.wait(events).unwrap_or_else(PoisonError::into_inner),
                event => {
                    self.changed.notify_all();
                    return event;
                }
            }
        }
    }

    fn leave(&self) {
        lock(&self.events).unheard = true;
        self.changed.notify_all();
    }
}

/// Ends the events when it goes, also by a panic.
struct Told(Arc<Shared>);

impl Drop for Told {
    fn drop(&mut self) {
        lock(&self.0.events).ended = true;
        self.0.changed.notify_all();
    }
}
