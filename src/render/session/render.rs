//! Renders: start, events, cancellation and result.

use super::job::{Endpoints, Job, NamedEndpoints, Request, RunError};
use super::{Cancel, Clip, Error, Event, FrameDone, Summary};
use crate::pipeline::{Failure, FrameError};
use grainfield_filters::frame::Spans;
use grainfield_filters::host::lock;
use grainfield_filters::recipe::Recipe;
use std::ffi::OsString;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// The number of events that are kept for a slow listener.
const EVENTS: usize = 4096;

/// A render that has not been prepared yet.
pub struct Render {
    request: Request,
    endpoints: Box<dyn Endpoints>,
}

impl Render {
    /// A render of a request, which opens its input separately.
    pub fn new(request: Request) -> Render {
        Render { request, endpoints: Box::new(NamedEndpoints) }
    }

    /// The same with another source and sink. The request's output then only determines the accepted formats.
    pub fn between(request: Request, endpoints: impl Endpoints + 'static) -> Render {
        Render { request, endpoints: Box::new(endpoints) }
    }

    /// Renders only these frames, in this order, by the user's numbers, as `0..100`, `3..=5` or `7..`, or as the command
    /// line takes them (`"2s-5s".parse::<Spans>()`); by default all. A number that the clip does not have is an error, a
    /// time beyond its end is the end.
    #[must_use]
    pub fn frames(mut self, frames: impl Into<Spans>) -> Render {
        self.request.frames = Some(frames.into());
        self
    }

    /// The encoder (`libx265`) or codec (`hevc`) of a video file, by FFmpeg's names.
    #[must_use]
    pub fn codec(self, name: &str) -> Render {
        self.with(|request| request.encoding.codec = Some(name.to_owned()))
    }

    /// Constant quality of a video file, on the encoder's scale; lower is better.
    #[must_use]
    pub fn crf(self, crf: f64) -> Render {
        self.with(|request| request.encoding.crf = Some(crf))
    }

    /// Sets the output: a file, a pattern, `-`, `hash:`, `hash:FILE` or `null:`. By default it is that of the clip's
    /// request, or `hash:`, which prints. Replaces endpoints that were given otherwise.
    #[must_use]
    pub fn to(mut self, output: impl Into<OsString>) -> Render {
        self.request.output = output.into();
        self.endpoints = Box::new(NamedEndpoints);
        self
    }

    /// Replaces files of the output's name. Without it, such a file is an error.
    #[must_use]
    pub fn overwrite(self) -> Render {
        self.with(|request| request.overwrite = true)
    }

    /// Changes all other options: encoding, shards, threads.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Request)) -> Render {
        change(&mut self.request);
        self
    }

    /// Renders, and calls `progress` after each frame. The output gets its final name at the end.
    ///
    /// # Errors
    /// Of all kinds. [`Error::Run`] has the partial result.
    pub fn run(self, mut progress: impl FnMut(&FrameDone)) -> Result<Summary, Error> {
        let running = self.start()?;
        for event in running.events() {
            if let Event::Frame(frame) = event {
                progress(&frame);
            }
        }
        Ok(running.wait()?)
    }

    /// Checks everything and starts. The output gets its final name only when [`Running::wait`] succeeds.
    ///
    /// # Errors
    /// Of the kinds usage, input and output.
    pub fn start(self) -> Result<Running, Error> {
        Ok(self.prepare()?.start())
    }

    /// Opens and checks everything without starting.
    ///
    /// # Errors
    /// Of the kinds usage, input and output.
    pub fn prepare(mut self) -> Result<Job, Error> {
        Ok(Job::prepare_with(self.request, &mut *self.endpoints)?)
    }
}

impl Clip {
    /// A render of a recipe, which opens the input a second time, so that the clip still gives frames. A pipe can be read
    /// only once: render it with [`Render::new`] instead of opening a clip.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let file = folder.path().join("out.y4m");
    /// let clip = grainfield_render::session::Clip::open("pattern:bars:size=64x48:frames=10").unwrap();
    /// let look = "noise=strength=8".parse().unwrap();
    /// let render = clip.render(&look).frames(2..6).to(&file);
    /// let summary = render.run(|frame| println!("frame {} of {:?}", frame.done, frame.total)).unwrap();
    /// assert_eq!(summary.frames, 4);
    /// ```
    pub fn render(&self, recipe: &Recipe) -> Render {
        let fresh = self.inner().request.clone();
        let request =
            Request { recipe: recipe.clone(), cancel: Cancel::new(), abort: Arc::default(), ..fresh };
        Render::new(request)
    }
}

impl Job {
    /// Starts it on a thread of its own.
    pub fn start(self) -> Running {
        let (sender, receiver) = mpsc::sync_channel(EVENTS);
        let cancel = self.cancel();
        // Without a listener, events are dropped.
        let run = move || self.run(&|event| drop(sender.send(event)));
        let thread = std::thread::Builder::new().name("render".into()).spawn(run);
        Running { events: Some(Mutex::new(receiver)), cancel, thread: thread.ok() }
    }
}

/// A running render. Dropping it cancels it, and waits until the partial result is playable.
pub struct Running {
    /// `None` if nobody listens any more.
    events: Option<Mutex<Receiver<Event>>>,
    cancel: Cancel,
    /// `None` if the system could not start a thread.
    thread: Option<JoinHandle<Result<Summary, RunError>>>,
}

impl Running {
    /// The events until the end of the render, waiting for each. An event is returned once, and none after
    /// [`wait`](Running::wait). You need not take them: the render waits when 4096 have not been taken, until they are or
    /// `wait` is called.
    pub fn events(&self) -> impl Iterator<Item = Event> + '_ {
        std::iter::from_fn(|| lock(self.events.as_ref()?).recv().ok())
    }

    /// Cancels the render, from any thread. Frames that are being filtered are dropped; the part that was written is
    /// completed and named `NAME.partial.EXT`, or `NAME.partial-2.EXT` if that exists: see [`RunError::partial`].
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// Of the kinds input, output, filter, cancelled and internal, with the partial result.
    pub fn wait(mut self) -> Result<Summary, RunError> {
        let failed = |text: String| {
            let error = FrameError::Panic(text);
            let failure = Box::new(Failure::Frame { number: None, time: None, error });
            RunError { failure, partial: None, summary: Summary::default() }
        };
        self.events = None;
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
            self.events = None;
            // The result was not requested.
            let _ = thread.join();
        }
    }
}
