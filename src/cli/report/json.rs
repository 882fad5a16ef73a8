//! Progress as newline-delimited JSON: every line an object that begins with its `event`.

use super::stats::ProgressStats;
use super::{JobEnd, Start};
use crate::cli::exit::Exit;
use grainfield_render::batch::Counts;
use grainfield_render::session::{FrameDone, Summary};
use serde::Serialize;
use std::time::Duration;

/// A line. Field names are part of the interface.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(super) enum Event<'a> {
    /// The first frame is about to come.
    Started(&'a Start),
    /// Frames written, frames left out, the last one's number.
    Progress {
        frame: u64,
        number: i64,
        total: Option<u64>,
        failed: u64,
        fps: f64,
        out_time_us: i64,
        speed: f64,
        eta_s: Option<u64>,
    },
    /// The next frame takes long: frames that a simulation has been stepped towards it, of all.
    Simulating { done: u64, all: u64 },
    /// One frame: its number, whether it was left out, and how many have been written.
    Frame { number: i64, left_out: bool, frame: u64 },
    /// One of several passes over the video begins.
    Pass { number: u32, of: u32 },
    /// The job is to stop, and waits for frames that are not finished.
    Finishing { held: u64 },
    /// Something the user should know.
    Note { text: &'a str },
    /// Something will be lost.
    Warning { text: &'a str },
    /// The end of several jobs.
    Batch(Batch<'a>),
    /// The end, when all went well.
    Done(End<'a>),
    /// The end, when not.
    Failed(End<'a>),
}

/// The end: the exit status, frames written, left out and kept, and further properties.
#[derive(Serialize)]
pub(super) struct End<'a> {
    exit: u8,
    #[serde(flatten)]
    summary: &'a Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fps: Option<f64>,
}

/// The end of several jobs.
#[derive(Serialize)]
pub(super) struct Batch<'a> {
    exit: u8,
    #[serde(flatten)]
    counts: &'a Counts,
    seconds: f64,
    fps: f64,
}

/// A line about one job of several.
#[derive(Serialize)]
struct Of<'a, 'b> {
    #[serde(flatten)]
    event: &'a Event<'b>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<&'a str>,
}

impl<'a> Event<'a> {
    pub(super) fn batch(counts: &'a Counts, exit: Exit, elapsed: Duration) -> Event<'a> {
        let seconds = elapsed.as_secs_f64();
        let fps = if seconds > 0.0 { rounded(counts.frames as f64 / seconds) } else { 0.0 };
        Event::Batch(Batch { exit: exit.code(), counts, seconds: rounded(seconds), fps })
    }

    /// The line, with the job it is about, without its end.
    pub(super) fn line(&self, job: Option<&str>) -> String {
        // numbers and text under fixed names always convert to JSON; otherwise an empty object is correct, too
        serde_json::to_string(&Of { event: self, job }).unwrap_or_else(|_| "{}".into())
    }

    pub(super) fn progress(f: &ProgressStats) -> Event<'a> {
        Event::Progress {
            frame: f.step.done,
            number: f.step.number,
            total: f.step.total,
            failed: f.step.failed,
            fps: rounded(f.fps()),
            out_time_us: f.out_time_us(),
            speed: rounded(f.speed()),
            eta_s: f.eta().map(|d| d.as_secs()),
        }
    }

    pub(super) fn frame(s: &FrameDone) -> Event<'a> {
        Event::Frame { number: s.number, left_out: s.left_out, frame: s.done }
    }

    pub(super) fn ended(e: &'a JobEnd<'a>, f: Option<&ProgressStats>) -> Event<'a> {
        let end = End {
            exit: e.exit.code(),
            summary: &e.summary,
            message: e.error,
            partial: e.partial.map(|p| p.to_string_lossy().into_owned()),
            seconds: f.map(|f| rounded(f.elapsed.as_secs_f64())),
            fps: f.map(|f| rounded(f.fps())),
        };
        if e.error.is_none() { Event::Done(end) } else { Event::Failed(end) }
    }
}

fn rounded(x: f64) -> f64 {
    (x * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::super::stats::tests::sample;
    use super::*;
    use crate::cli::exit::Exit;
    use std::path::Path;

    #[test]
    fn events() {
        let expected = r#"{"event":"progress","frame":48,"number":1048,"total":100,"failed":0,"fps":12.0,"out_time_us":2000000,"speed":0.5,"eta_s":4}"#;
        assert_eq!(Event::progress(&sample()).line(None), expected);
        assert_eq!(Event::Note { text: "a \"b\"\n" }.line(None), r#"{"event":"note","text":"a \"b\"\n"}"#);
        let ending = JobEnd {
            exit: Exit::Failed,
            error: Some("clip.y4m: ends inside frame 12"),
            partial: Some(Path::new("out.partial.y4m")),
            summary: Summary { frames: 12, ..Summary::default() },
            reader_gone: false,
        };
        let expected = r#"{"event":"failed","exit":1,"frames":12,"failed":0,"message":"clip.y4m: ends inside frame 12","partial":"out.partial.y4m"}"#;
        assert_eq!(Event::ended(&ending, None).line(None), expected);
        let done = JobEnd { exit: Exit::Done, error: None, partial: None, ..ending };
        let expected = r#"{"event":"done","exit":0,"frames":12,"failed":0,"seconds":4.0,"fps":12.0}"#;
        assert_eq!(Event::ended(&done, Some(&sample())).line(None), expected);
    }
}
