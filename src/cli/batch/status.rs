//! `batch --status` and `--dry-run`: the state of each job.

use super::super::exit::{Exit, Failure};
use super::super::{lossy, print, report};
use super::Context;
use grainfield_render::batch::queue::State;
use serde::Serialize;
use std::fmt::Write;

/// The state of a job, for people and programs.
#[derive(Serialize)]
struct Line<'a> {
    job: &'a str,
    state: State,
    input: String,
    output: String,
    frames: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// `--status` and `--dry-run`.
pub(super) fn look(context: &Context<'_>) -> Result<Exit, Failure> {
    let Context { typed, plan, .. } = context;
    let states = plan.queue.states(&plan.jobs).map_err(|error| plan.status_failure(&error))?;
    let mut text = String::new();
    let mut counts = [0usize; 6];
    let mut wrong = 0;
    for (job, standing) in plan.jobs.iter().zip(&states) {
        let (state, record) = (standing.state, standing.record.as_ref());
        counts[state as usize] += 1;
        let resolved = typed.dry_run.then(|| context.request(job, false)).transpose();
        wrong += usize::from(resolved.is_err());
        let line = Line {
            job: &job.name,
            state,
            input: lossy(&job.input),
            output: match &resolved {
                Ok(Some(resolved)) => lossy(&resolved.request.output),
                _ => lossy(&job.output),
            },
            frames: record.map_or(0, |r| r.frames),
            reason: standing.reason.as_deref(),
            by: record.map(|r| r.by.as_str()),
            error: resolved.err().map(|failure| failure.text),
        };
        // writing to memory does not fail
        let _ = if typed.json {
            writeln!(text, "{}", serde_json::to_string(&line).unwrap_or_default())
        } else {
            people(&mut text, &line, typed.dry_run)
        };
    }
    if !typed.json {
        let [waiting, running, done, failed, stale, postponed] = counts;
        let stale = if stale > 0 { format!(", {stale} stale: -y renders them again") } else { String::new() };
        let postponed = if postponed > 0 { format!(", {postponed} postponed") } else { String::new() };
        let _ = writeln!(
            text,
            "{waiting} waiting, {running} running, {done} done, {failed} failed{stale}{postponed}"
        );
    }
    let exit = print(text)?;
    Ok(if wrong > 0 { Exit::Failed } else { exit })
}

fn people(text: &mut String, line: &Line<'_>, dry: bool) -> std::fmt::Result {
    write!(text, "{:<9} {}", line.state.name(), line.job)?;
    if dry {
        write!(text, ": {} -> {}", line.input, line.output)?;
    }
    if line.frames > 0 {
        write!(text, " ({})", report::frames(line.frames))?;
    }
    for why in [line.reason, line.error.as_deref()].into_iter().flatten() {
        write!(text, ": {}", why.replace('\n', " "))?;
    }
    writeln!(text)
}
