//! Progress and messages for the user on standard error, in one of several forms: of one render, or of the jobs of a
//! batch, which differ in the name of the job in front of each message.

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
use grainfield_filters::host::lock;
use grainfield_filters::ratio::Ratio;
use grainfield_render::session::{Event as RenderEvent, FrameDone, Note, Summary};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget};
use json::Event;
use serde::Serialize;
use stats::{ProgressStats, clock, short};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
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

/// The form of the progress.
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

/// Standard error with its bars.
struct Console {
    form: Form,
    verbosity: Verbosity,
    style: Style,
    bars: MultiProgress,
    err: Mutex<Box<dyn Write + Send>>,
}

impl Console {
    /// `crowded`: standard output is on the same terminal, so that its lines would break a bar.
    fn new(args: ReportArgs, crowded: bool) -> Console {
        let form = match args.progress.unwrap_or(ProgressFormat::Auto) {
            ProgressFormat::Json => Form::Json,
            ProgressFormat::Frames => Form::Frames,
            ProgressFormat::Ffmpeg => Form::Ffmpeg,
            ProgressFormat::None => Form::Plain,
            _ if args.quiet || !io::stderr().is_terminal() => Form::Plain,
            ProgressFormat::Auto if crowded => Form::Plain,
            ProgressFormat::Auto | ProgressFormat::Bar => Form::Bar,
        };
        let verbosity = match (args.quiet, args.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        };
        Console::to(Box::new(Errors), form, verbosity, Style::of_stderr())
    }

    fn to(err: Box<dyn Write + Send>, form: Form, verbosity: Verbosity, style: Style) -> Console {
        let target = match form {
            Form::Bar => ProgressDrawTarget::stderr_with_hz(bar::PER_SECOND),
            _ => ProgressDrawTarget::hidden(),
        };
        let bars = MultiProgress::with_draw_target(target);
        Console { form, verbosity, style, bars, err: Mutex::new(err) }
    }

    /// Writes in one piece, so that lines of other programs on the same terminal do not come in between. Nothing can be
    /// done when standard error itself cannot be written.
    fn text(&self, text: &str) {
        let write = || {
            let mut err = lock(&self.err);
            let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
        };
        if self.form == Form::Bar { self.bars.suspend(write) } else { write() }
    }

    fn line(&self, line: &str) {
        self.text(&format!("{line}\n"));
    }

    fn event(&self, job: Option<&str>, event: &Event<'_>) {
        self.line(&event.line(job));
    }

    /// A message: its first word, and for programs its event.
    fn message(&self, word: &str, job: Option<&str>, text: &str, event: &Event<'_>) {
        match self.form.is_json() {
            true => self.event(job, event),
            false => self.line(&format!("{word} {}{text}", prefix(job))),
        }
    }

    fn note(&self, job: Option<&str>, text: &str) {
        if self.verbosity > Verbosity::Quiet {
            self.message(self.style.note(), job, text, &Event::Note { text });
        }
    }

    /// A loss. It is reported even with `--quiet`; `--strict` makes it an error.
    fn warn(&self, job: Option<&str>, text: &str) {
        self.message(self.style.warning(), job, text, &Event::Warning { text });
    }

    /// An error before the end of a job. Programs get it as a warning, because the result has an event of its own.
    fn error(&self, job: Option<&str>, text: &str) {
        self.message(self.style.error(), job, text, &Event::Warning { text });
    }
}

/// The name of a job in front of its messages.
fn prefix(job: Option<&str>) -> String {
    job.map_or(String::new(), |job| format!("{job}: "))
}

/// Properties that are reported before the first frame.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Start {
    pub(super) input: String,
    pub(super) output: String,
    /// The canonical text of the recipe.
    pub(super) recipe: String,
    pub(super) total: Option<u64>,
    #[serde(serialize_with = "ratio_text")]
    pub(super) rate: Ratio,
}

fn ratio_text<S: serde::Serializer>(value: &Ratio, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
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
    pub(super) reader_gone: bool,
}

/// Reports a render.
pub(super) struct Reporter {
    console: Arc<Console>,
    /// The name of the job of a batch.
    job: Option<String>,
    /// The bar that counts the jobs of a batch.
    jobs_bar: Option<ProgressBar>,
    state: Mutex<State>,
}

struct State {
    bar: Option<Bar>,
    output: String,
    begun: Instant,
    reported: Option<Duration>,
    last: Option<ProgressStats>,
    /// Whether it has been reported that the render is ending.
    finishing: bool,
}

impl Reporter {
    /// On standard error. `printing`: frames, or lines for them, go to standard output.
    pub(super) fn new(args: ReportArgs, printing: bool) -> Reporter {
        let console = Console::new(args, printing && io::stdout().is_terminal());
        Reporter::with_console(Arc::new(console), None, None)
    }

    fn with_console(console: Arc<Console>, job: Option<String>, jobs_bar: Option<ProgressBar>) -> Reporter {
        let (output, begun) = (String::new(), Instant::now());
        let state = State { bar: None, output, begun, reported: None, last: None, finishing: false };
        Reporter { console, job, jobs_bar, state: Mutex::new(state) }
    }

    fn event(&self, event: &Event<'_>) {
        self.console.event(self.job.as_deref(), event);
    }

    /// A note that is printed only with `-v`.
    pub(super) fn detail(&self, text: &str) {
        if self.console.verbosity >= Verbosity::Verbose {
            self.note(text);
        }
    }

    pub(super) fn note(&self, text: &str) {
        self.console.note(self.job.as_deref(), text);
    }

    /// A note of the render.
    pub(super) fn note_or_warn(&self, note: &Note) {
        match note.code.is_loss() {
            true => self.console.warn(self.job.as_deref(), &note.text),
            false => self.note(&note.text),
        }
    }

    /// The first frame is about to come.
    pub(super) fn begin(&self, start: &Start) {
        let mut state = lock(&self.state);
        state.begun = Instant::now();
        match self.console.form {
            Form::Json | Form::Frames => self.event(&Event::Started(start)),
            Form::Bar => {
                let (bars, last) = (&self.console.bars, self.jobs_bar.as_ref());
                state.bar = Some(Bar::new(bars, last, self.job.as_deref(), start.total));
            }
            Form::Ffmpeg | Form::Plain => {}
        }
        if self.job.is_none() {
            state.output.clone_from(&start.output);
        }
    }

    /// There are no more frames.
    pub(super) fn end(&self, end: &JobEnd<'_>) {
        let mut state = lock(&self.state);
        if let Some(bar) = state.bar.take() {
            bar.end();
        }
        self.jobs_bar.iter().for_each(|bar| bar.inc(1));
        let elapsed = state.begun.elapsed();
        if let Some(last) = &mut state.last {
            last.elapsed = elapsed;
        }
        let (console, job) = (&self.console, self.job.as_deref());
        if console.form.is_json() {
            return self.event(&Event::ended(end, state.last.as_ref()));
        }
        if let (Form::Ffmpeg, None, Some(last)) = (console.form, job, &state.last) {
            console.text(&ffmpeg::block(last, true));
        }
        if let Some(error) = end.error {
            console.error(job, error);
        }
        // the error of a job names it
        if let (None, Some(partial)) = (job, end.partial) {
            let count = frames(end.summary.frames);
            console.line(&format!("partial result: {} ({count})", partial.display()));
        }
        if end.error.is_none() && !end.reader_gone && console.verbosity > Verbosity::Quiet {
            let text = closing(&end.summary, state.last.as_ref(), elapsed, &state.output);
            console.line(&format!("{}{text}", prefix(job)));
        }
    }

    /// The progress of the render, for an end that does not report it.
    pub(super) fn so_far(&self) -> Summary {
        let step = lock(&self.state).last.map(|f| f.step);
        step.map_or_else(Summary::default, |s| Summary {
            frames: s.done,
            failed: s.failed,
            ..Summary::default()
        })
    }

    /// An error before the first frame.
    pub(super) fn fail(&self, exit: Exit, error: &str) {
        let summary = Summary::default();
        self.end(&JobEnd { exit, error: Some(error), partial: None, summary, reader_gone: false });
    }

    /// An event of the render.
    pub(super) fn render_event(&self, event: RenderEvent) {
        match event {
            RenderEvent::Frame(frame) => self.step(&frame),
            RenderEvent::Simulating { done, all } => self.simulating(done, all),
            RenderEvent::Pass { number, of } => self.pass(number, of),
            RenderEvent::Finishing { held } => self.finishing(held),
            RenderEvent::Note(note) => self.note_or_warn(&note),
        }
    }

    fn step(&self, step: &FrameDone) {
        let mut state = lock(&self.state);
        let now = ProgressStats { step: *step, elapsed: state.begun.elapsed() };
        state.last = Some(now);
        if let Some(bar) = &state.bar {
            return bar.step(&now);
        }
        if self.console.form == Form::Frames {
            self.event(&Event::frame(step));
        }
        if !state.is_due() {
            return;
        }
        match self.console.form {
            Form::Json | Form::Frames => self.event(&Event::progress(&now)),
            Form::Ffmpeg if self.job.is_none() => self.console.text(&ffmpeg::block(&now, false)),
            _ => {}
        }
    }

    fn simulating(&self, done: u64, all: u64) {
        let mut state = lock(&self.state);
        if let Some(bar) = &state.bar {
            bar.waits(&format!("stepping {done} of {all}"));
        } else if self.console.form.is_json() && state.is_due() {
            self.event(&Event::Simulating { done, all });
        }
    }

    fn pass(&self, number: u32, of: u32) {
        let mut state = lock(&self.state);
        (state.begun, state.reported, state.last) = (Instant::now(), None, None);
        match &state.bar {
            Some(bar) => bar.begin_pass(number, of),
            None if self.console.form.is_json() => self.event(&Event::Pass { number, of }),
            None => self.note(&format!("pass {number} of {of}")),
        }
    }

    fn finishing(&self, held: u64) {
        let mut state = lock(&self.state);
        let first = !std::mem::replace(&mut state.finishing, true);
        let text = || {
            let waits = match held {
                0 => String::new(),
                n => format!(": {} in work or held by the encoder", frames(n)),
            };
            format!("finishing{waits}; Ctrl-C again ends at once")
        };
        match (&state.bar, self.console.form.is_json()) {
            (Some(bar), _) => bar.waits(&text()),
            (None, true) => self.event(&Event::Finishing { held }),
            (None, false) if first && self.job.is_none() => self.note(&text()),
            _ => {}
        }
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
    if summary.held > 0 {
        text += &format!(", {} of them replaced by the frame before", summary.held);
    }
    if summary.skipped > 0 {
        text += &format!(", {} kept", summary.skipped);
    }
    if !matches!(output, "" | "-" | "null:") && !output.ends_with(':') {
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
