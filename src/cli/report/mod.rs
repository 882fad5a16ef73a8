//! Progress and messages for the user on standard error, in one of several forms.

mod bar;
mod batch;
mod ffmpeg;
mod json;
mod stats;

use super::args::{ProgressFormat, ReportArgs};
use super::exit::Exit;
use super::terminal::{Errors, Style};
use bar::Bar;
pub(super) use batch::BatchReporter;
use grainfield_filters::ratio::Ratio;
use grainfield_render::session::{Event as Happened, FrameDone, Note, Summary};
use json::Event;
use stats::{ProgressStats, clock, short};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The shortest time between progress events for programs; frames between two events are not reported.
const EVERY: Duration = Duration::from_millis(500);

/// The amount of messages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

/// In what form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Bar,
    Json,
    Frames,
    Ffmpeg,
    Plain,
}

impl Form {
    fn is_json(self) -> bool {
        matches!(self, Form::Json | Form::Frames)
    }
}

/// The form and the amount of messages.
fn report_mode(say: ReportArgs, crowded: bool) -> (Form, Verbosity) {
    let form = match say.progress {
        ProgressFormat::Json => Form::Json,
        ProgressFormat::Frames => Form::Frames,
        ProgressFormat::Ffmpeg => Form::Ffmpeg,
        ProgressFormat::None => Form::Plain,
        _ if say.quiet || !io::stderr().is_terminal() => Form::Plain,
        ProgressFormat::Auto if crowded => Form::Plain,
        ProgressFormat::Auto | ProgressFormat::Bar => Form::Bar,
    };
    let verbosity = match (say.quiet, say.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    };
    (form, verbosity)
}

/// Properties that are reported before the first frame.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) input: String,
    pub(super) output: String,
    /// The canonical text of the recipe.
    pub(super) recipe: String,
    pub(super) total: Option<u64>,
    pub(super) rate: Ratio,
}

/// Properties that are reported after the last frame.
#[derive(Clone, Debug)]
pub(super) struct JobEnd<'a> {
    pub(super) exit: Exit,
    /// The error.
    pub(super) error: Option<&'a str>,
    /// The remaining part of the output.
    pub(super) partial: Option<&'a Path>,
    pub(super) summary: Summary,
    /// The reader has closed the output: no closing line for people.
    pub(super) hushed: bool,
}

/// Reports to the user.
pub(super) struct Reporter {
    form: Form,
    verbosity: Verbosity,
    style: Style,
    state: Mutex<State>,
}

struct State {
    err: Box<dyn Write + Send>,
    bar: Option<Bar>,
    output: String,
    begun: Instant,
    reported: Option<Duration>,
    last: Option<ProgressStats>,
    /// Whether it has been said that the job is ending.
    finishing: bool,
}

impl Reporter {
    /// On standard error. `printing`: frames, or lines for them, go to standard output.
    pub(super) fn new(say: ReportArgs, printing: bool) -> Reporter {
        // Lines on the same terminal would break the bar.
        let crowded = printing && io::stdout().is_terminal();
        let (form, verbosity) = report_mode(say, crowded);
        Reporter::to(Box::new(Errors), form, verbosity, Style::of_stderr())
    }

    fn to(err: Box<dyn Write + Send>, form: Form, verbosity: Verbosity, style: Style) -> Reporter {
        let begun = Instant::now();
        let state = State {
            err,
            bar: None,
            output: String::new(),
            begun,
            reported: None,
            last: None,
            finishing: false,
        };
        Reporter { form, verbosity, style, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Said only with `-v`.
    pub(super) fn detail(&self, text: &str) {
        if self.verbosity >= Verbosity::Verbose {
            self.note(text);
        }
    }

    /// A loss. It is reported even with `--quiet`; `--strict` makes it an error.
    fn warn(&self, text: &str) {
        let line = match self.form {
            form if form.is_json() => Event::Warning { text }.line(),
            _ => format!("{} {text}", self.style.warning()),
        };
        self.state().line(&line);
    }

    /// The first frame is about to come.
    pub(super) fn begin(&self, start: &Start) {
        let mut state = self.state();
        state.begun = Instant::now();
        state.output.clone_from(&start.output);
        match self.form {
            Form::Json | Form::Frames => state.line(&Event::started(start).line()),
            Form::Bar => state.bar = Some(Bar::new(start.total)),
            Form::Ffmpeg | Form::Plain => {}
        }
    }

    /// There are no more frames.
    pub(super) fn end(&self, ending: &JobEnd<'_>) {
        let mut state = self.state();
        if let Some(bar) = state.bar.take() {
            bar.end();
        }
        let elapsed = state.begun.elapsed();
        if let Some(last) = &mut state.last {
            last.elapsed = elapsed;
        }
        match self.form {
            Form::Json | Form::Frames => {
                let line = Event::ended(ending, state.last.as_ref()).line();
                return state.line(&line);
            }
            Form::Ffmpeg => {
                if let Some(last) = state.last {
                    state.text(&ffmpeg::block(&last, true));
                }
            }
            Form::Bar | Form::Plain => {}
        }
        if let Some(error) = ending.error {
            state.line(&format!("{} {error}", self.style.error()));
        }
        if let Some(partial) = ending.partial {
            let count = frames(ending.summary.frames);
            state.line(&format!("partial result: {} ({count})", partial.display()));
        }
        if ending.error.is_none() && !ending.hushed && self.verbosity > Verbosity::Quiet {
            let text = closing(&ending.summary, state.last.as_ref(), elapsed, &state.output);
            state.line(&text);
        }
    }

    /// The progress of the job, for an end that does not report it.
    pub(super) fn so_far(&self) -> Summary {
        let step = self.state().last.map(|f| f.step);
        step.map_or_else(Summary::default, |s| Summary { frames: s.done, failed: s.failed, skipped: 0 })
    }

    /// An error before the first frame.
    pub(super) fn fail(&self, exit: Exit, error: &str) {
        self.end(&JobEnd {
            exit,
            error: Some(error),
            partial: None,
            summary: Summary::default(),
            hushed: false,
        });
    }
}

impl Reporter {
    /// Something has happened.
    pub(super) fn event(&self, event: Happened) {
        match event {
            Happened::Frame(frame) => self.step(&frame),
            Happened::Simulating { done, all } => self.simulating(done, all),
            Happened::Finishing { held } => self.finishing(held),
            Happened::Note(note) => self.say(&note),
        }
    }

    /// Something the user should know.
    pub(super) fn say(&self, note: &Note) {
        if note.code.is_loss() { self.warn(&note.text) } else { self.note(&note.text) }
    }

    fn step(&self, step: &FrameDone) {
        let mut state = self.state();
        let now = ProgressStats { step: *step, elapsed: state.begun.elapsed() };
        state.last = Some(now);
        if let Some(bar) = &state.bar {
            return bar.step(&now);
        }
        if self.form == Form::Frames {
            state.line(&Event::frame(step).line());
        }
        if !state.is_due() {
            return;
        }
        match self.form {
            Form::Json | Form::Frames => state.line(&Event::progress(&now).line()),
            Form::Ffmpeg => state.text(&ffmpeg::block(&now, false)),
            Form::Bar | Form::Plain => {}
        }
    }

    fn simulating(&self, done: u64, all: u64) {
        let mut state = self.state();
        if let Some(bar) = &state.bar {
            bar.simulating(done, all);
        } else if self.form.is_json() && state.is_due() {
            state.line(&Event::Simulating { done, all }.line());
        }
    }

    fn finishing(&self, held: u64) {
        let mut state = self.state();
        let first = !std::mem::replace(&mut state.finishing, true);
        match (self.form, &state.bar) {
            (form, _) if form.is_json() => state.line(&Event::Finishing { held }.line()),
            (_, Some(bar)) => bar.waits(&finishing(held)),
            _ if first && self.verbosity > Verbosity::Quiet => {
                let line = format!("{} {}", self.style.note(), finishing(held));
                state.line(&line);
            }
            _ => {}
        }
    }

    /// Something the user should know.
    pub(super) fn note(&self, text: &str) {
        if self.verbosity == Verbosity::Quiet {
            return;
        }
        let line = match self.form {
            form if form.is_json() => Event::Note { text }.line(),
            _ => format!("{} {text}", self.style.note()),
        };
        self.state().line(&line);
    }
}

impl State {
    /// Whether to report progress to programs now.
    fn is_due(&mut self) -> bool {
        let elapsed = self.begun.elapsed();
        let due = self.reported.is_none_or(|reported| elapsed.saturating_sub(reported) >= EVERY);
        if due {
            self.reported = Some(elapsed);
        }
        due
    }

    fn line(&mut self, line: &str) {
        self.text(&format!("{line}\n"));
    }

    /// In one piece, so that lines of other programs on the same terminal do not come in between. Nothing can be
    /// done when standard error itself cannot be written.
    fn text(&mut self, text: &str) {
        let State { err, bar, .. } = self;
        let mut write = || {
            let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
        };
        match bar {
            Some(bar) => bar.beside(write),
            None => write(),
        }
    }
}

/// What a job waits for that is to stop.
fn finishing(held: u64) -> String {
    let waits = match held {
        0 => String::new(),
        1 => ": the encoder still holds 1 frame".into(),
        n => format!(": the encoder still holds {n} frames"),
    };
    format!("finishing{waits}; Ctrl-C again ends at once")
}

pub(super) fn frames(n: u64) -> String {
    if n == 1 { "1 frame".into() } else { format!("{n} frames") }
}

/// `done: 150 frames to out.y4m in 0:02 (71.4 fps, 2.98x)`
fn closing(summary: &Summary, last: Option<&ProgressStats>, elapsed: Duration, output: &str) -> String {
    let mut text = format!("done: {}", frames(summary.frames));
    if summary.failed > 0 {
        text += &format!(", {} left out", summary.failed);
    }
    if summary.skipped > 0 {
        text += &format!(", {} kept", summary.skipped);
    }
    if !matches!(output, "" | "-" | "hash:" | "null:") {
        text += &format!(" to {output}");
    }
    let seconds = elapsed.as_secs_f64();
    text +=
        &if seconds < 60.0 { format!(" in {} s", short(seconds)) } else { format!(" in {}", clock(elapsed)) };
    if let Some(f) = last.filter(|f| f.step.done > 1) {
        text += &format!(" ({} fps, {}x)", short(f.fps()), short(f.speed()));
    }
    text
}

#[cfg(test)]
mod tests;
