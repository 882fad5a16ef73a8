//! The options of jobs, which are those of `render`.

use super::super::args::{CommonArgs, EncodingArgs, FilterArgs, MachineArgs, Render, ReportArgs, SpanArgs};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Args, FromArgMatches};
use grainfield_render::batch::jobs::{BatchJob, JobOption};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

/// Options of `render` that were typed with a pattern, by their long names, in the order of the help, so that the
/// identity of a job does not depend on the spelling of its options.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Words(pub(super) Vec<JobOption>);

impl Words {
    /// The options that affect the contents of an output.
    fn options() -> Vec<clap::Arg> {
        let ids = |command: clap::Command| -> Vec<clap::Arg> { command.get_arguments().cloned().collect() };
        let none = || clap::Command::new("batch");
        let command = CommonArgs::augment_args(EncodingArgs::augment_args(SpanArgs::augment_args(
            FilterArgs::augment_args(none()),
        )));
        let beside = ids(ReportArgs::augment_args(MachineArgs::augment_args(none())));
        let mut all =
            ids(command.arg(clap::Arg::new("segments").long("segments").action(ArgAction::SetTrue)));
        all.retain(|arg| beside.iter().all(|other| other.get_id() != arg.get_id()));
        all
    }
}

impl FromArgMatches for Words {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Words, clap::Error> {
        let mut words = Vec::new();
        for arg in Words::options() {
            let (Some(long), id) = (arg.get_long(), arg.get_id().as_str()) else { continue };
            let typed = matches.value_source(id) == Some(ValueSource::CommandLine);
            for value in matches.get_raw(id).filter(|_| typed).into_iter().flatten() {
                let value = arg.get_action().takes_values().then(|| value.to_owned());
                words.push(JobOption { key: long.into(), value });
            }
        }
        Ok(Words(words))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Words::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Words {
    fn augment_args(command: clap::Command) -> clap::Command {
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        command
    }
}

/// A job as a command line of `render`.
pub(super) fn render_args(job: &BatchJob, output: OsString) -> Result<Box<Render>, clap::Error> {
    let mut line: Vec<OsString> = vec!["render".into()];
    for JobOption { key, value } in &job.options {
        let mut word = OsString::from(format!("--{key}"));
        // as one argument, so that a value that begins with a minus sign is not parsed as an option
        value.iter().for_each(|value| word.extend([OsStr::new("="), value]));
        line.push(word);
    }
    line.extend(["--".into(), job.input.clone(), output]);
    let command = Render::augment_args(clap::Command::new("render"));
    Ok(Box::new(Render::from_arg_matches(&command.try_get_matches_from(line)?)?))
}

/// The error of a command line, without the usage text.
pub(super) fn in_short(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.split("\n\nUsage:").next().unwrap_or(&text);
    let text = text.split("\n\nFor more information").next().unwrap_or(text);
    text.trim().trim_start_matches("error: ").to_owned()
}

/// Checks the options of the jobs of a list with these names, by default of all; the first that 'render' does not have
/// is an error with its line.
pub(super) fn check_options(jobs: &[BatchJob], names: &[String]) -> Result<(), String> {
    // most jobs of a list have the options of another
    let mut fine = BTreeSet::new();
    for (i, job) in jobs.iter().enumerate() {
        if fine.contains(&job.options) || !(names.is_empty() || names.contains(&job.name)) {
            continue;
        }
        if let Err(error) = render_args(job, job.output.clone()) {
            let text = |kind| match error.get(kind) {
                Some(ContextValue::String(text)) => Some(text.as_str()),
                Some(ContextValue::Strings(all)) => all.first().map(String::as_str),
                _ => None,
            };
            let named = |text: &str| text.split([' ', '=']).next().unwrap_or_default().to_owned();
            let option = text(ContextKind::InvalidArg).map(named).unwrap_or_default();
            let place = job.options.iter().position(|o| o.key == option.trim_start_matches('-'));
            let line = place.and_then(|at| job.lines.get(at)).unwrap_or(&job.line);
            let problem = match (error.kind(), text(ContextKind::SuggestedArg)) {
                (ErrorKind::UnknownArgument, suggested) => {
                    let near =
                        suggested.map(|near| format!(" did you mean {}?", near.trim_start_matches('-')));
                    let (wrong, near) = (option.trim_start_matches('-'), near.unwrap_or_default());
                    format!("'grainfield render' has no option {wrong}:{near} see 'grainfield render -h'")
                }
                _ => in_short(&error),
            };
            return Err(format!("line {line}, job {} ({}): {problem}", i + 1, job.name));
        }
        fine.insert(&job.options);
    }
    Ok(())
}
