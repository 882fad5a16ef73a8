//! `batch --status` and `--dry-run`: the state of each job.

use super::super::exit::Exit;
use super::super::resolve::Environment;
use super::super::{lossy, printed, report, report_error, terminal};
use super::{Batch, Plan, request};
use crate::batch::queue::{Record, State};
use serde::Serialize;
use std::collections::BTreeSet;
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
pub(super) fn look(typed: &Batch, plan: &Plan, environment: &Environment) -> Exit {
    let records = match plan.queue.read() {
        Ok(records) => records,
        Err(error) => {
            return report_error(Exit::Failed, &format!("{}: {error}", plan.queue.status().display()));
        }
    };
    let mut text = String::new();
    let mut counts = [0usize; 4];
    let mut wrong = 0;
    for (id, job) in &plan.jobs {
        let record: Option<&Record> = records.get(id);
        let state = match record.map(|r| r.state) {
            // its process has ended, or has not recorded its state yet
            Some(State::Running) if !plan.queue.is_held(id) => State::Waiting,
            Some(state) => state,
            None => State::Waiting,
        };
        counts[state as usize] += 1;
        let asked =
            if typed.dry_run { request(typed, plan, environment, job, false) } else { Err(String::new()) };
        let error = asked.as_ref().err().filter(|_| typed.dry_run).cloned();
        wrong += usize::from(error.is_some());
        let line = Line {
            job: &job.name,
            state,
            input: lossy(&job.input),
            output: match &asked {
                Ok(resolved) => lossy(&resolved.request.output),
                Err(_) => lossy(&job.output),
            },
            frames: record.map_or(0, |r| r.frames),
            reason: record.filter(|_| state != State::Done).and_then(|r| r.reason.as_deref()),
            by: record.map(|r| r.by.as_str()),
            error,
        };
        // writing to memory does not fail
        let _ = if typed.json {
            writeln!(text, "{}", serde_json::to_string(&line).unwrap_or_default())
        } else {
            people(&mut text, &line, typed.dry_run)
        };
    }
    if !typed.json {
        let [waiting, running, done, failed] = counts;
        let _ = writeln!(text, "{waiting} waiting, {running} running, {done} done, {failed} failed");
        let listed: BTreeSet<&String> = plan.jobs.iter().map(|(id, _)| id).collect();
        let others = records.keys().filter(|id| !listed.contains(id)).count();
        if others > 0 {
            let _ = writeln!(
                text,
                "{others} more were recorded with other inputs, outputs or options: give --status the options of that run"
            );
        }
    }
    match printed(terminal::print(text.as_bytes())) {
        Exit::Done if wrong > 0 => Exit::Failed,
        exit => exit,
    }
}

fn people(text: &mut String, line: &Line<'_>, dry: bool) -> std::fmt::Result {
    let state = match line.state {
        State::Waiting => "waiting",
        State::Running => "running",
        State::Done => "done",
        State::Failed => "failed",
    };
    write!(text, "{state:<8} {}", line.job)?;
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
