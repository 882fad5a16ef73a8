//! The progress bar of a terminal.

use super::stats::{ProgressStats, clock, short};
use grainfield_filters::host::lock;
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The most redraws in a second. The line is also redrawn when no frame is finished, so that a stall is visible.
pub(super) const PER_SECOND: u8 = 10;

/// The longest name beside a bar.
const NAME: usize = 30;

/// A bar that is being shown.
#[derive(Debug)]
pub(super) struct Bar {
    bar: ProgressBar,
    /// The name of the job, before everything else.
    name: String,
    out_time: Arc<Mutex<f64>>,
}

/// The line below the bars of several jobs.
pub(super) fn counting_jobs(all: &MultiProgress, jobs: usize) -> ProgressBar {
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
    /// Shows it, above the line `last` if there is one; with a name for a job of several. Draws nothing when standard
    /// error is no terminal.
    pub(super) fn new(
        all: &MultiProgress,
        last: Option<&ProgressBar>,
        name: Option<&str>,
        total: Option<u64>,
    ) -> Bar {
        let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
        let bar = match last {
            Some(last) => all.insert_before(last, bar),
            None => all.add(bar),
        };
        // the end of a long path has the most information
        let name = name.map(|name| match name.chars().count() {
            length if length > NAME => "...".chars().chain(name.chars().skip(length + 3 - NAME)).collect(),
            _ => name.to_owned(),
        });
        let name = name.map_or_else(String::new, |name| format!("{name}: "));
        let bar = bar.with_prefix(name.clone());
        let out_time = Arc::new(Mutex::new(0.0));
        let shown_time = Arc::clone(&out_time);
        let template = if total.is_some() {
            "{msg}frame {pos}/{len} [{wide_bar}] {fps} fps {speed}x, {left} left, {gone} elapsed"
        } else {
            "{msg}frame {pos}, {fps} fps {speed}x, {gone} elapsed"
        };
        let style = ProgressStyle::with_template(&format!("{{prefix}}{template}"))
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let style = style
            .progress_chars("=> ")
            .with_key("fps", |s: &ProgressState, w: &mut dyn Write| {
                let _ = w.write_str(&short(s.per_sec()));
            })
            .with_key("speed", move |s: &ProgressState, w: &mut dyn Write| {
                let seconds = s.elapsed().as_secs_f64().max(1e-3);
                let shown_time = *lock(&shown_time);
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
        Bar { bar, name, out_time }
    }

    /// Begins again, for one of several passes.
    pub(super) fn begin_pass(&self, number: u32, of: u32) {
        self.bar.set_prefix(format!("{}pass {number} of {of}: ", self.name));
        self.bar.reset();
    }

    /// Moves it.
    pub(super) fn step(&self, f: &ProgressStats) {
        *lock(&self.out_time) = f.step.out_time.to_f64();
        self.bar.set_position(f.step.done + f.step.failed);
        if !self.bar.message().is_empty() {
            self.bar.set_message("");
        }
    }

    /// Shows a text until the next frame.
    pub(super) fn waits(&self, text: &str) {
        self.bar.set_message(format!("{text}, "));
    }

    /// Takes it away.
    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
