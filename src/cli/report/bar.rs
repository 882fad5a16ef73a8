//! The progress bar of a terminal.

use super::stats::{ProgressStats, clock, short};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The shortest time between redraws. The line is also redrawn when no frame is finished, so that a stall is visible.
const PER_SECOND: u8 = 10;

/// The longest name beside a bar.
const NAME: usize = 30;

/// A bar that is being shown.
#[derive(Debug)]
pub(super) struct Bar {
    bar: ProgressBar,
    out_time: Arc<Mutex<f64>>,
}

/// The line below the bars of several jobs.
pub(super) fn of_jobs(all: &MultiProgress, jobs: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{pos} of {len} jobs finished, {gone} elapsed")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let style = style.with_key("gone", |s: &ProgressState, w: &mut dyn Write| {
        let _ = w.write_str(&clock(s.elapsed()));
    });
    let bar = all.add(ProgressBar::new(jobs as u64).with_style(style));
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

impl Bar {
    /// Shows it. Draws nothing when standard error is no terminal.
    pub(super) fn new(total: Option<u64>) -> Bar {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr_with_hz(PER_SECOND));
        Bar::dressed(bar, total, "")
    }

    /// One of several, with a name, above the line `last`.
    pub(super) fn beside_others(
        all: &MultiProgress,
        last: Option<&ProgressBar>,
        name: &str,
        total: Option<u64>,
    ) -> Bar {
        let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
        let bar = match last {
            Some(last) => all.insert_before(last, bar),
            None => all.add(bar),
        };
        // the end of a long path has the most information
        let length = name.chars().count();
        let short: String = match length > NAME {
            true => "...".chars().chain(name.chars().skip(length + 3 - NAME)).collect(),
            false => name.to_owned(),
        };
        Bar::dressed(bar.with_prefix(short), total, "{prefix}: ")
    }

    fn dressed(bar: ProgressBar, total: Option<u64>, before: &str) -> Bar {
        let out_time = Arc::new(Mutex::new(0.0));
        let shown_time = Arc::clone(&out_time);
        let template = if total.is_some() {
            "{msg}frame {pos}/{len} [{wide_bar}] {fps} fps {speed}x, {left} left, {gone} elapsed"
        } else {
            "{msg}frame {pos}, {fps} fps {speed}x, {gone} elapsed"
        };
        let style = ProgressStyle::with_template(&format!("{before}{template}"))
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let style = style
            .progress_chars("=> ")
            .with_key("fps", |s: &ProgressState, w: &mut dyn Write| {
                let _ = w.write_str(&short(s.per_sec()));
            })
            .with_key("speed", move |s: &ProgressState, w: &mut dyn Write| {
                let seconds = s.elapsed().as_secs_f64().max(1e-3);
                let shown_time = *shown_time.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = w.write_str(&short(shown_time / seconds));
            })
            .with_key("left", |s: &ProgressState, w: &mut dyn Write| {
                let text = if s.pos() == 0 { "?".into() } else { clock(s.eta()) };
                let _ = w.write_str(&text);
            })
            .with_key("gone", |s: &ProgressState, w: &mut dyn Write| {
                let _ = w.write_str(&clock(s.elapsed()));
            });
        bar.set_style(style);
        bar.enable_steady_tick(Duration::from_millis(250));
        Bar { bar, out_time }
    }

    /// Moves it.
    pub(super) fn step(&self, f: &ProgressStats) {
        *self.out_time.lock().unwrap_or_else(PoisonError::into_inner) = f.step.out_time.to_f64();
        self.bar.set_position(f.step.done + f.step.failed);
        if !self.bar.message().is_empty() {
            self.bar.set_message("");
        }
    }

    /// Shows what the job waits for, until the next frame.
    pub(super) fn simulating(&self, done: u64, all: u64) {
        self.waits(&format!("stepping {done} of {all}"));
    }

    /// Shows a text until the next frame.
    pub(super) fn waits(&self, text: &str) {
        self.bar.set_message(format!("{text}, "));
    }

    /// Removes the bar while other text is written.
    pub(super) fn beside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }

    /// Takes it away.
    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
