//! Progress as newline-delimited JSON: every line an object with an `event`.

use super::figures::Figures;
use super::{Ending, Start};
use serde_json::{Value, json};

pub(super) fn started(start: &Start) -> Value {
    json!({
        "event": "started",
        "input": start.input,
        "output": start.output,
        "filters": start.filters,
        "total": start.total,
        "rate": start.rate.to_string(),
    })
}

pub(super) fn progress(f: &Figures) -> Value {
    json!({
        "event": "progress",
        "frame": f.step.done,
        "number": f.step.number,
        "total": f.step.total,
        "failed": f.step.failed,
        "fps": rounded(f.fps()),
        "out_time_us": f.out_time_us(),
        "eta_s": f.eta().map(|d| d.as_secs()),
        "speed": rounded(f.speed()),
    })
}

pub(super) fn note(text: &str) -> Value {
    json!({ "event": "note", "text": text })
}

/// `done` or `failed`, with the exit code the program will end with.
pub(super) fn ended(ending: &Ending<'_>, f: Option<&Figures>) -> Value {
    let mut event = json!({
        "event": if ending.error.is_none() { "done" } else { "failed" },
        "exit": ending.exit.code(),
        "frames": ending.summary.frames,
        "failed": ending.summary.failed,
    });
    let mut put = |key: &str, value: Value| event[key] = value;
    if let Some(error) = ending.error {
        put("message", error.into());
    }
    if let Some(partial) = ending.partial {
        put("partial", partial.to_string_lossy().into());
    }
    if let Some(f) = f {
        put("seconds", rounded(f.elapsed.as_secs_f64()).into());
        put("fps", rounded(f.fps()).into());
    }
    event
}

fn rounded(x: f64) -> f64 {
    (x * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::sample;
    use super::*;
    use crate::cli::exit::Exit;
    use crate::job::Summary;
    use std::path::Path;

    #[test]
    fn events() {
        let p = progress(&sample());
        assert_eq!(p["event"], "progress");
        assert_eq!((&p["frame"], &p["number"], &p["total"]), (&json!(48), &json!(1048), &json!(100)));
        assert_eq!(
            (&p["fps"], &p["speed"], &p["out_time_us"]),
            (&json!(12.0), &json!(0.5), &json!(2_000_000))
        );
        let ending = Ending {
            exit: Exit::Failed,
            error: Some("clip.y4m: ends inside frame 12"),
            partial: Some(Path::new("out.partial.y4m")),
            summary: Summary { frames: 12, failed: 0 },
        };
        let e = ended(&ending, None);
        assert_eq!((&e["event"], &e["exit"], &e["frames"]), (&json!("failed"), &json!(1), &json!(12)));
        assert_eq!(e["partial"], "out.partial.y4m");
    }
}
