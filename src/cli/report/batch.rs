//! Reports of several jobs at a time: a bar for each on a terminal, otherwise lines; for programs the same events as
//! of one job, each with its `job`.

use super::bar::{self, Bar};
use super::json::Event;
use super::stats::{ProgressStats, clock, short};
use super::{EVERY, Form, JobEnd, ReportArgs, Start, Verbosity, report_mode};
use crate::cli::exit::Exit;
use crate::cli::terminal::Style;
use grainfield_render::batch::Tally;
use grainfield_render::session::{Event as Happened, FrameDone, Note};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget};
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Reports the progress of a batch.
pub(in crate::cli) struct BatchReporter {
    form: Form,
    verbosity: Verbosity,
    style: Style,
    bars: MultiProgress,
    /// Below the bars of the jobs: the number of jobs, and how many have finished.
    all: Option<ProgressBar>,
    err: Mutex<io::Stderr>,
    begun: Instant,
}

/// Reports the progress of one job.
pub(in crate::cli) struct JobReporter<'a> {
    many: &'a BatchReporter,
    job: String,
    state: Mutex<State>,
}

struct State {
    bar: Option<Bar>,
    begun: Instant,
    reported: Option<Duration>,
    last: Option<ProgressStats>,
}

impl BatchReporter {
    /// Of so many jobs.
    pub(in crate::cli) fn new(say: ReportArgs, jobs: usize) -> BatchReporter {
        let (form, verbosity) = report_mode(say, false);
        let target = if form == Form::Bar {
            ProgressDrawTarget::stderr_with_hz(10)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bars = MultiProgress::with_draw_target(target);
        let all = (form == Form::Bar && jobs > 1).then(|| bar::of_jobs(&bars, jobs));
        BatchReporter {
            form,
            verbosity,
            style: Style::of_stderr(),
            bars,
            all,
            err: Mutex::new(io::stderr()),
            begun: Instant::now(),
        }
    }

    /// A job that is about to begin.
    pub(in crate::cli) fn one(&self, job: &str) -> JobReporter<'_> {
        let state = State { bar: None, begun: Instant::now(), reported: None, last: None };
        JobReporter { many: self, job: job.to_owned(), state: Mutex::new(state) }
    }

    fn line(&self, line: &str) {
        let write = || {
            let mut err = self.err.lock().unwrap_or_else(PoisonError::into_inner);
            // errors of standard error itself are ignored
            let _ = err.write_all(format!("{line}\n").as_bytes());
        };
        if self.form == Form::Bar { self.bars.suspend(write) } else { write() }
    }

    fn event(&self, job: Option<&str>, event: &Event<'_>) {
        self.line(&event.line_of(job));
    }

    /// A message about the batch, or about a job that is not running.
    pub(in crate::cli) fn note(&self, job: Option<&str>, text: &str) {
        if self.verbosity == Verbosity::Quiet {
            return;
        }
        match self.form {
            form if form.is_json() => self.event(job, &Event::Note { text }),
            _ => self.line(&format!("{} {}{text}", self.style.note(), named(job))),
        }
    }

    pub(in crate::cli) fn error(&self, job: Option<&str>, text: &str) {
        match self.form {
            form if form.is_json() => self.event(job, &Event::Warning { text }),
            _ => self.line(&format!("{} {}{text}", self.style.error(), named(job))),
        }
    }

    /// A job has finished, or will not be started.
    pub(in crate::cli) fn over(&self) {
        if let Some(all) = &self.all {
            all.inc(1);
        }
    }

    /// The end of all.
    pub(in crate::cli) fn end(&self, tally: &Tally, exit: Exit) {
        if let Some(all) = &self.all {
            all.finish_and_clear();
        }
        let elapsed = self.begun.elapsed();
        if self.form.is_json() {
            return self.event(None, &Event::batch(tally, exit, elapsed));
        }
        if self.verbosity > Verbosity::Quiet {
            self.line(&closing(tally, elapsed));
        }
    }
}

fn named(job: Option<&str>) -> String {
    job.map_or(String::new(), |job| format!("{job}: "))
}

/// `5 jobs done, 1 failed; 1200 frames, 300 kept in 0:34 (35.3 fps)`
fn closing(t: &Tally, elapsed: Duration) -> String {
    let mut text = format!("{} {} done", t.done, if t.done == 1 { "job" } else { "jobs" });
    for (count, what) in [
        (t.failed, "failed"),
        (t.before, "done before"),
        (t.elsewhere, "in other processes"),
        (t.left, "left"),
    ] {
        if count > 0 {
            text += &format!(", {count} {what}");
        }
    }
    text += &format!("; {}", super::frames(t.frames));
    for (count, what) in [(t.skipped, "kept"), (t.left_out, "left out")] {
        if count > 0 {
            text += &format!(", {count} {what}");
        }
    }
    text += &format!(" in {}", clock(elapsed));
    if t.frames > 1 && elapsed.as_secs_f64() > 0.0 {
        text += &format!(" ({} fps)", short(t.frames as f64 / elapsed.as_secs_f64()));
    }
    text
}

impl JobReporter<'_> {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::cli) fn begin(&self, start: &Start) {
        let mut state = self.state();
        state.begun = Instant::now();
        match self.many.form {
            Form::Bar => {
                state.bar =
                    Some(Bar::beside_others(&self.many.bars, self.many.all.as_ref(), &self.job, start.total))
            }
            form if form.is_json() => self.many.event(Some(&self.job), &Event::started(start)),
            _ => {}
        }
    }

    /// The number of frames rendered so far.
    pub(in crate::cli) fn frames(&self) -> u64 {
        self.state().last.map_or(0, |last| last.step.done)
    }

    fn warn(&self, text: &str) {
        match self.many.form {
            form if form.is_json() => self.many.event(Some(&self.job), &Event::Warning { text }),
            _ => self.many.line(&format!("{} {}: {text}", self.many.style.warning(), self.job)),
        }
    }

    pub(in crate::cli) fn end(&self, ending: &JobEnd<'_>) {
        let mut state = self.state();
        if let Some(bar) = state.bar.take() {
            bar.end();
        }
        self.many.over();
        let elapsed = state.begun.elapsed();
        if let Some(last) = &mut state.last {
            last.elapsed = elapsed;
        }
        match (self.many.form, ending.error) {
            (form, _) if form.is_json() => {
                self.many.event(Some(&self.job), &Event::ended(ending, state.last.as_ref()));
            }
            (_, Some(error)) => self.many.error(Some(&self.job), error),
            (_, None) if self.many.verbosity > Verbosity::Quiet => {
                let text = super::closing(&ending.summary, state.last.as_ref(), elapsed, "");
                self.many.line(&format!("{}: {text}", self.job));
            }
            _ => {}
        }
    }
}

impl JobReporter<'_> {
    /// Something has happened.
    pub(in crate::cli) fn event(&self, event: Happened) {
        match event {
            Happened::Frame(frame) => self.step(&frame),
            Happened::Simulating { done, all } => self.simulating(done, all),
            Happened::Finishing { held } => match &self.state().bar {
                Some(bar) => bar.waits(&super::finishing(held)),
                None if self.many.form.is_json() => {
                    self.many.event(Some(&self.job), &Event::Finishing { held });
                }
                None => {}
            },
            Happened::Note(note) => self.say(&note),
        }
    }

    /// Something the user should know.
    pub(in crate::cli) fn say(&self, note: &Note) {
        if note.code.is_loss() { self.warn(&note.text) } else { self.note(&note.text) }
    }

    fn step(&self, step: &FrameDone) {
        let mut state = self.state();
        let now = ProgressStats { step: *step, elapsed: state.begun.elapsed() };
        state.last = Some(now);
        if let Some(bar) = &state.bar {
            return bar.step(&now);
        }
        if self.many.form == Form::Frames {
            self.many.event(Some(&self.job), &Event::frame(step));
        }
        if !self.many.form.is_json()
            || state.reported.is_some_and(|reported| now.elapsed.saturating_sub(reported) < EVERY)
        {
            return;
        }
        state.reported = Some(now.elapsed);
        self.many.event(Some(&self.job), &Event::progress(&now));
    }

    fn simulating(&self, done: u64, all: u64) {
        if let Some(bar) = &self.state().bar {
            bar.simulating(done, all);
        }
    }

    /// Something the user should know.
    pub(in crate::cli) fn note(&self, text: &str) {
        self.many.note(Some(&self.job), text);
    }
}
