//! The main interface of the library: open a clip, get any of its frames with a recipe, render it. Programs find
//! `Clip`, `Recipe`, `Result` and this module in the crate `grainfield`.
//!
//! ```
//! use grainfield_filters::recipe::Recipe;
//! use grainfield_render::session::{Clip, Result};
//!
//! # fn main() -> Result<()> {
//! let clip = Clip::open("pattern:bars:size=64x48:frames=10")?; // indexed once, kept open
//! let mut look: Recipe = "grain=preset=heavy".parse()?;
//! look.steps[0].set("strength", 6.0)?;
//! let picture = clip.frame(7, &look)?; // any frame, now
//! assert_eq!((picture.number, picture.format().width), (7, 64));
//! # Ok(())
//! # }
//! ```
//!
//! A frame has exactly the samples that a render of the same recipe writes. The same frame with other settings neither
//! opens nor decodes anything again: decoded frames are kept up to [`FRAME_BYTES`], and recent recipes stay
//! bound with their states.

mod bound_recipes;
mod cancel;
mod error;
mod forms;
pub mod job;
mod picture;
mod render;

pub use crate::pipeline::{Event, FrameDone, Note, NoteCode, Summary};
pub use crate::session::job::RunError;
pub use cancel::{Cancel, Newest};
pub use error::{Error, ErrorKind, Position};
pub use forms::{describe, recipe, recipe_text};
pub use picture::{Picture, converted};
pub use render::{Render, Running};

use crate::assets::DiskStateCache;
use crate::pipeline::{FrameError, HelperPool, guarded};
use crate::source_frames::{Frames, SourceFrame};
use bound_recipes::{BoundRecipe, BoundRecipes};
use grainfield_filters::frame::{Format, FrameTime};
use grainfield_filters::host::{Host, NoCache, PrepareError, StateCache, lock};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::Recipe;
use grainfield_io::source::{FORWARD_LIMIT, Info};
use job::{NoFrame, Request};
use std::sync::{Arc, OnceLock};

/// The limit on decoded frames that a clip keeps, in bytes, unless its request has a smaller one. A larger frame is
/// not kept.
pub const FRAME_BYTES: usize = 512 << 20;

/// The result of most functions of a session.
pub type Result<T> = std::result::Result<T, Error>;

/// An open input. Clones share it. All methods may be called from many threads.
#[derive(Clone)]
pub struct Clip(Arc<Inner>);

struct Inner {
    /// The request with which the input was opened.
    request: Request,
    /// The properties of the source, with its own frame numbers.
    opened: Info,
    /// The same with the user's frame numbers.
    info: Info,
    /// The format, with the user's overrides of tags.
    format: Format,
    frames: Frames,
    bound: BoundRecipes,
    threads: HelperPool,
    states: Arc<dyn StateCache + Send + Sync>,
    times: OnceLock<Vec<Ratio>>,
}

impl Clip {
    /// Opens a file, numbered images, `-` (standard input) or `pattern:...`, or the input of a request, whose output
    /// and pixel format determine the format of frames.
    ///
    /// # Errors
    /// Of the kinds usage and input.
    pub fn open(request: impl Into<Request>) -> Result<Clip> {
        let request = request.into();
        let states: Arc<dyn StateCache + Send + Sync> = match request.cache.open() {
            Some(cache) => Arc::new(DiskStateCache::new(cache)),
            None => Arc::new(NoCache),
        };
        Clip::open_with(request, states)
    }

    /// The same with another store of simulation states than the request's cache; it also receives the progress of
    /// stepping.
    ///
    /// # Errors
    /// As [`open`](Clip::open).
    pub fn open_with(request: Request, states: Arc<dyn StateCache + Send + Sync>) -> Result<Clip> {
        let cache = request.cache.open();
        let source = request.parse_input().open(&request.source_options(cache))?;
        let opened = source.info().clone();
        job::check_numbers(&request, None, &opened)?;
        let user_number = |n: i64| n + request.frame_offset;
        let format = request.tagged_format(&opened.format);
        let (first, last) = (user_number(opened.first), opened.last.map(user_number));
        let info = Info { first, last, format, ..opened.clone() };
        let limit = request.memory.map_or(FRAME_BYTES, |m| usize::try_from(m).unwrap_or(FRAME_BYTES));
        let frames = Frames::new(source, format, request.frame_offset, limit.min(FRAME_BYTES));
        let helpers = job::threads(&request)? - 1;
        let threads = HelperPool::new(helpers, helpers as isize);
        let bound = BoundRecipes::default();
        Ok(Clip(Arc::new(Inner {
            request,
            opened,
            info,
            format,
            frames,
            bound,
            threads,
            states,
            times: OnceLock::new(),
        })))
    }

    /// The properties of the input, with what the request has in the place of its tags. Frame numbers are those of
    /// [`frame`](Clip::frame).
    pub fn info(&self) -> &Info {
        &self.0.info
    }

    /// Frame `number` with a recipe: by file number in a sequence, else counted from 0, plus the request's offset.
    ///
    /// # Errors
    /// Of the kinds usage (the recipe, no such frame), input, filter and internal.
    pub fn frame(&self, number: i64, recipe: &Recipe) -> Result<Picture> {
        self.frame_cancellable(number, recipe, &Cancel::new())
    }

    /// The same for a viewer, which may cancel it: [`Newest`] cancels earlier requests.
    ///
    /// # Errors
    /// Of the kinds usage (the recipe, no such frame), input, filter, cancelled and internal.
    pub fn frame_cancellable(&self, number: i64, recipe: &Recipe, cancel: &Cancel) -> Result<Picture> {
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let bound_recipe = self.0.bound.get(self, recipe, cancel)?;
        let info = &self.0.info;
        let inside = number >= info.first && info.last.is_none_or(|last| number <= last);
        let found = if inside { self.source_frame(number, cancel)? } else { None };
        let frame = found.ok_or_else(|| NoFrame::new(info, number, 0))?;
        self.filter(&frame, &bound_recipe, cancel)
    }

    /// The frames of these numbers, one after another: `0..100`, or [`Ranges`](grainfield_filters::frame::Ranges). For
    /// whole files a [`render`](Clip::render) is faster, because it reads, filters and writes side by side.
    ///
    /// # Errors
    /// Each frame has a result of its own, as [`frame`](Clip::frame); the iterator goes on after an error.
    pub fn frames<'a>(
        &'a self,
        numbers: impl IntoIterator<Item = i64> + 'a,
        recipe: &'a Recipe,
    ) -> impl Iterator<Item = Result<Picture>> + 'a {
        numbers.into_iter().map(|number| self.frame(number, recipe))
    }

    /// A frame of the source by the user's number.
    fn source_frame(&self, number: i64, cancel: &Cancel) -> Result<Option<Arc<SourceFrame>>> {
        self.0.frames.get(number, cancel.flag()).map_err(|cause| match cause {
            FrameError::Filter(PrepareError::Cancelled) => Error::Cancelled,
            cause => Error::Frame { number, cause },
        })
    }

    fn filter(&self, from: &SourceFrame, bound_recipe: &BoundRecipe, cancel: &Cancel) -> Result<Picture> {
        let mut work = lock(&bound_recipe.work).pop().unwrap_or_default();
        // A copy that is filtered in place: a new frame would be cleared first.
        let mut frame = from.frame.clone();
        let host = Host { executor: &self.0.threads, cache: &*self.0.states, stop: cancel.flag() };
        let stamp = &from.stamp;
        let at = FrameTime::of_time(stamp.number, stamp.time);
        let run = guarded(|| {
            let run = bound_recipe.chain.run(
                &at,
                stamp.duration,
                &mut frame,
                &mut work,
                &bound_recipe.states,
                &host,
            );
            run.map_err(FrameError::from)
        });
        match run {
            Ok(()) => {}
            Err(FrameError::Filter(PrepareError::Cancelled)) => return Err(Error::Cancelled),
            Err(cause) => return Err(Error::Frame { number: stamp.number, cause }),
        }
        lock(&bound_recipe.work).push(work);
        Ok(Picture { number: stamp.number, time: stamp.time, duration: stamp.duration, frame })
    }

    /// The format of the recipe's result for this input, with notes for the user. Everything is bound as for a
    /// frame, but no frames are decoded except those that settings name.
    ///
    /// # Errors
    /// Of the kinds usage and input.
    pub fn check(&self, recipe: &Recipe, cancel: &Cancel) -> Result<(Format, Vec<String>)> {
        let bound_recipe = self.0.bound.get(self, recipe, cancel)?;
        Ok((*bound_recipe.chain.output(), bound_recipe.chain.notes().to_vec()))
    }

    /// The next frame after `number`, or with `back` the last one before it, at which decoding may begin; every frame
    /// where all are independent. `None` if there is none, or the packets of the input do not tell.
    pub fn key_frame(&self, number: i64, back: bool) -> Option<i64> {
        self.0.frames.key_frame(number, back)
    }

    /// When each frame begins, and last when the clip ends, in seconds. Empty at a constant rate, or where times are known
    /// only when frames have been read.
    pub fn frame_times(&self) -> &[Ratio] {
        self.0.times.get_or_init(|| self.0.frames.frame_times().unwrap_or_default())
    }

    /// Whether a frame is kept, or follows soon after the one that was read last. Others of a clip of unknown length
    /// ([`Length::Header`](grainfield_io::source::Length)) are found only after all of it has been read.
    pub fn is_near(&self, number: i64) -> bool {
        self.0.frames.is_near(number, FORWARD_LIMIT)
    }

    /// The frame that stands for this one while a viewer moves fast: itself if it is kept or one of the next few, else the
    /// nearest key frame, which needs no other to be decoded, and is then kept.
    pub fn soonest(&self, number: i64) -> i64 {
        if self.0.frames.is_near(number, 4) {
            return number;
        }
        let entries = [self.key_frame(number.saturating_add(1), true), self.key_frame(number, false)];
        let Some(entry) = entries.into_iter().flatten().min_by_key(|entry| entry.abs_diff(number)) else {
            return number;
        };
        self.0.frames.read_alone(entry);
        entry
    }

    /// The size of the decoded frames that are kept, in bytes: at most [`FRAME_BYTES`].
    pub fn kept_bytes(&self) -> usize {
        self.0.frames.kept_bytes()
    }

    fn inner(&self) -> &Inner {
        &self.0
    }
}

impl std::fmt::Debug for Clip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Clip").field("info", &self.0.info).finish_non_exhaustive()
    }
}
