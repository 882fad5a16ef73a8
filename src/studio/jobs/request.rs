//! Jobs that the page adds, and those that it changes.

use super::{Claim, JobRow, Jobs, MAX_JOBS, State};
use crate::fault::Fault;
use crate::keep::put;
use crate::list::{LIST, document, jobs, remove};
use grainfield_filters::forms::recipe::DEINTERLACERS;
use grainfield_filters::frame::Transfer;
use grainfield_filters::host::lock;
use grainfield_filters::settings::toml_string;
use grainfield_io::format::Formats;
use grainfield_io::sink::Output;
use grainfield_io::source;
use grainfield_render::batch::jobs::{BatchJob, JobOption};
use grainfield_render::batch::output_path::output_path;
use grainfield_render::batch::queue::Queue;
use grainfield_render::session::job::OutputTransfer;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml_edit::{Item, Table};

/// Options that the page may set. Others read or write files, or open protocols.
const OPTIONS: [&str; 15] = [
    "audio",
    "audio-codec",
    "bitrate",
    "codec",
    "codec-opt",
    "crf",
    "lavfi",
    "matrix",
    "on-error",
    "pix-fmt",
    "preset",
    "range",
    "rate",
    "raw",
    "transfer",
];
/// Options of encoders that the page may set. Others write files, too: x264 has `stats`.
const ENCODER: [&str; 7] = [
    "profile=4444",
    "profile=dnxhr_hqx",
    "profile=hq",
    "tune=animation",
    "tune=film",
    "tune=grain",
    "x264-params=vbv-maxrate=12000:vbv-bufsize=12000",
];

/// A request for a render.
#[derive(Debug, Deserialize)]
pub(crate) struct JobRequest {
    pub(crate) input: String,
    pub(crate) output: String,
    /// The filters, as a chain.
    pub(crate) filters: String,
    /// `0-99`; all frames if it is missing.
    pub(crate) frames: Option<String>,
    /// Further options of `render`, by their long names.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, String>,
    /// Whether to replace an existing output.
    #[serde(default)]
    pub(crate) overwrite: bool,
    /// The id of the waiting job that it changes; its input stays.
    #[serde(default)]
    pub(crate) replaces: Option<String>,
}

impl Jobs {
    /// Returns an error if a job would write a file of the queue or its own input.
    fn check_files(&self, queue: &Queue, job: &BatchJob) -> Result<(), Fault> {
        let output = output_path(&queue.scope.outputs, &job.output, true, false).map_err(Fault::new)?;
        let mut access = Output::parse(&output, Formats::default()).map_err(Fault::new)?.writes(None);
        access.read_all("the input", source::reads(&job.input));
        for file in queue.writes(&[]).into_iter().chain([self.path()]) {
            access.write("a file of the queue,", file);
        }
        access.check().map_err(Fault::new)
    }

    /// Adds a job at the end, or changes the one that the request replaces where it stands, in place of one that has ended
    /// or was interrupted and had the same output; returns its id.
    pub(crate) fn add(&self, request: &JobRequest) -> Result<String, Fault> {
        let _one = lock(&self.changing);
        check_options(&request.options)?;
        let mut text = self.text()?;
        let (list, rows) = (self.parsed(&text)?, self.rows()?.0);
        let replaced = request.replaces.as_ref().map(|old| {
            let at = rows.iter().position(|row| row.id == *old);
            at.ok_or_else(|| Fault::new("this job no longer exists"))
        });
        let mut replaced = replaced.transpose()?;
        if replaced.is_none() && list.jobs.len() >= MAX_JOBS {
            return Err(Fault::new(format!("{LIST} has {MAX_JOBS} jobs: remove some")));
        }
        let queue = self.queue(&list);
        let claim = |job: &BatchJob| match queue.claim(job).map_err(Fault::new)? {
            Claim::Elsewhere => {
                let name = job.output.to_string_lossy();
                Err(Fault::new(format!("{name} is being rendered: cancel that first")))
            }
            Claim::Ours(lease, status) => Ok((lease, status)),
        };
        // no process begins it while it is changed
        let mut held = replaced.map(|at| claim(&list.jobs[at])).transpose()?;
        let own = BatchJob::new(&request.input, &request.output);
        let there =
            if queue.scope.exists(&own) { Some(request.output.clone()) } else { self.segments(&queue, &own) };
        if let Some(there) = there.filter(|_| !request.overwrite) {
            return Err(Fault::new(format!(
                "{there} exists: choose another name, or allow it to be replaced"
            )));
        }
        let id = queue.id(&own);
        let has_name = |at: &usize| rows[*at].id == id || rows[*at].name == request.output;
        if let Some(at) = (0..rows.len()).filter(|at| Some(*at) != replaced).find(has_name) {
            let JobRow { id: old, state, reason, .. } = &rows[at];
            // a job that has not been started yet is not lost
            let ended =
                matches!(*state, "done" | "failed" | "stale") || *state == "waiting" && reason.is_some();
            if !ended || *old != id {
                return Err(Fault::new(format!(
                    "{} is in the queue and {state}: remove it there, or choose another name",
                    request.output
                )));
            }
            let mut document = document(&text)?;
            remove(&mut document, at)?;
            text = document.to_string();
            replaced = replaced.map(|own| own - usize::from(at < own));
        }
        let written = request.written();
        let at = match replaced {
            Some(at) => {
                let mut document = document(&text)?;
                set(&mut *jobs(&mut document)?[at], &written)?;
                text = document.to_string();
                at
            }
            None => {
                text.truncate(text.trim_end().len());
                text += if text.is_empty() { "[[job]]\n" } else { "\n\n[[job]]\n" };
                text += &format!("input = {}\n", toml_string(&request.input));
                written.iter().for_each(|(key, value)| text += &format!("{key} = {value}\n"));
                self.parsed(&text)?.jobs.len() - 1
            }
        };
        let changed = self.parsed(&text)?.jobs.swap_remove(at);
        let is_other = |option: &&JobOption| option.key != "overwrite" && !has(&written, &option.key);
        if let Some(other) = replaced.and_then(|_| changed.options.iter().find(is_other)) {
            let problem = format!("{LIST} gives {} the option {other}, too: change it there", request.output);
            return Err(Fault::new(problem));
        }
        self.check_files(&queue, &changed)?;
        let same = request.replaces.as_ref() == Some(&id);
        let (mut lease, status) = match held.take_if(|_| same) {
            Some(held) => held,
            None => claim(&own)?,
        };
        // it is rendered again, even if the output is the result of the same settings
        if request.overwrite || status.record.is_some() {
            lease.start_over = request.overwrite;
            lease.set(State::Waiting, 0, None, None).map_err(Fault::new)?;
        }
        self.save(&text)?;
        // the program that has rendered it before is about to end
        lock(&self.children)
            .iter_mut()
            .filter(|program| program.id == id)
            .for_each(|program| program.live = false);
        Ok(id)
    }
}

fn has(lines: &[(&str, String)], key: &str) -> bool {
    lines.iter().any(|(other, _)| *other == key)
}

impl JobRequest {
    /// The lines of the job in the list, but for its input: keys, and values as TOML.
    fn written(&self) -> Vec<(&str, String)> {
        let given = [
            ("output", Some(&self.output)),
            ("filters", Some(&self.filters)),
            ("frames", self.frames.as_ref()),
        ];
        let given =
            given.into_iter().filter_map(|(key, value)| Some((key, value.filter(|v| !v.is_empty())?)));
        let options = self.options.iter().map(|(key, value)| (key.as_str(), value));
        let overwrite = self.overwrite.then(|| ("overwrite", "true".to_owned()));
        given.chain(options).map(|(key, value)| (key, toml_string(value))).chain(overwrite).collect()
    }
}

/// Gives a job of the list these lines in the place of those that it has. Its name, its input and whether it is postponed
/// stay, and so do comments.
fn set(job: &mut Table, written: &[(&str, String)]) -> Result<(), Fault> {
    let old: Vec<String> = job.iter().map(|(key, _)| key.to_owned()).collect();
    for key in old {
        if !["name", "input", "postponed"].contains(&&*key) && !has(written, &key) {
            job.remove(&key);
        }
    }
    for (key, text) in written {
        let value: toml_edit::Value = text.parse().map_err(Fault::new)?;
        put(job, key, &Item::Value(value));
    }
    Ok(())
}

/// The transfer of an output, by FFmpeg's name, perhaps after that of the input.
pub(crate) fn transfer(text: &str) -> Option<OutputTransfer> {
    match text.rsplit(':').next()? {
        "auto" => Some(OutputTransfer::Auto),
        "keep" => Some(OutputTransfer::Passthrough),
        name => Transfer::from_name(name).filter(|t| *t != Transfer::UNSPECIFIED).map(OutputTransfer::As),
    }
}

/// Returns an error for options that a page may not set.
pub(crate) fn check_options(options: &BTreeMap<String, String>) -> Result<(), Fault> {
    for (key, value) in options {
        if !OPTIONS.contains(&key.as_str()) {
            return Err(Fault::new(format!("{key}: not an option of a render")));
        }
        if key == "crf" && !value.parse::<f64>().is_ok_and(|crf| crf.is_finite() && crf >= 0.0) {
            return Err(Fault::new(format!("{value}: quality is a number from 0; lower is better")));
        }
        if key == "lavfi" && !DEINTERLACERS.contains(&value.as_str()) {
            return Err(Fault::new(format!("{value}: not a graph that a page may run")));
        }
        if key == "audio-codec" && value != "aac" {
            return Err(Fault::new(format!("{value}: not an encoder of sound that a page may choose")));
        }
        if key == "transfer" && transfer(value).is_none() {
            return Err(Fault::new(format!("{value}: not a transfer")));
        }
        if key == "codec-opt" && !ENCODER.contains(&value.as_str()) {
            return Err(Fault::new(format!("{value}: not an encoder's option that a page may set")));
        }
    }
    Ok(())
}
