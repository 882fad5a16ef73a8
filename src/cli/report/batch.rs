//! Reports of several jobs at a time: a bar for each on a terminal, otherwise lines; for programs the same events as
//! of one job, each with its `job`.

use super::json::Event;
use super::stats::{clock, short};
use super::{Console, Form, ReportArgs, Reporter, Verbosity, bar};
use crate::cli::exit::Exit;
use grainfield_render::batch::Counts;
use indicatif::ProgressBar;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Reports the progress of a batch.
pub(in crate::cli) struct BatchReporter {
    console: Arc<Console>,
    /// Below the bars of the jobs: the number of jobs, and how many have finished.
    jobs_bar: Option<ProgressBar>,
    begun: Instant,
}

impl BatchReporter {
    /// Of so many jobs.
    pub(in crate::cli) fn new(args: ReportArgs, jobs: usize) -> BatchReporter {
        let console = Console::new(args, false);
        let jobs_bar =
            (console.form == Form::Bar && jobs > 1).then(|| bar::counting_jobs(&console.bars, jobs));
        BatchReporter { console: Arc::new(console), jobs_bar, begun: Instant::now() }
    }

    /// Reports a job that is about to begin.
    pub(in crate::cli) fn job(&self, name: &str) -> Reporter {
        Reporter::with_console(Arc::clone(&self.console), Some(name.to_owned()), self.jobs_bar.clone())
    }

    /// A note on the whole batch.
    pub(in crate::cli) fn say(&self, text: &str) {
        self.console.note(None, text);
    }

    /// A message about a job that will not be started.
    pub(in crate::cli) fn note(&self, job: &str, text: &str) {
        self.jobs_bar.iter().for_each(|bar| bar.inc(1));
        self.console.note(Some(job), text);
    }

    /// An error of a job that will not be started.
    pub(in crate::cli) fn error(&self, job: &str, text: &str) {
        self.jobs_bar.iter().for_each(|bar| bar.inc(1));
        self.console.error(Some(job), text);
    }

    /// The end of all.
    pub(in crate::cli) fn end(&self, counts: &Counts, exit: Exit) {
        self.jobs_bar.iter().for_each(ProgressBar::finish_and_clear);
        let elapsed = self.begun.elapsed();
        if self.console.form.is_json() {
            self.console.event(None, &Event::batch(counts, exit, elapsed));
        } else if self.console.verbosity > Verbosity::Quiet {
            self.console.line(&closing(counts, elapsed));
        }
    }
}

/// `5 jobs done, 1 failed; 1200 frames, 300 kept in 0:34 (35.3 fps)`
fn closing(t: &Counts, elapsed: Duration) -> String {
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
