//! The options of jobs, which are those of `render`.

use super::super::args::{MachineArgs, Render, ReportArgs};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use grainfield_render::batch::fingerprint::Scope;
use grainfield_render::batch::jobs::{BatchJob, JobOption};
use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::LazyLock;

/// The command `render`.
static RENDER: LazyLock<Command> = LazyLock::new(|| Render::augment_args(Command::new("render")));

/// The options of `render` that a job may have, with their long names, in the order of the help. Others belong to a run.
fn options() -> impl Iterator<Item = (&'static Arg, &'static str)> {
    let run = ReportArgs::augment_args(MachineArgs::augment_args(Command::new("render")));
    let run: Vec<_> = run.get_arguments().map(|arg| arg.get_id().clone()).collect();
    let of_run = move |arg: &Arg| {
        run.contains(arg.get_id())
            || ["overwrite", "resume", "shard", "verify"].contains(&arg.get_id().as_str())
    };
    RENDER.get_arguments().filter(move |arg| !of_run(arg)).filter_map(|arg| Some((arg, arg.get_long()?)))
}

/// The options of jobs that were typed with a pattern.
pub(super) fn typed_options(matches: &ArgMatches) -> Vec<JobOption> {
    let typed = |(arg, long): (&Arg, &str)| {
        let id = arg.get_id().as_str();
        // `batch` does not have all of them
        let values = matches.try_get_raw(id).ok()??;
        let given = matches.value_source(id) == Some(ValueSource::CommandLine);
        let value = |value: &OsStr| arg.get_action().takes_values().then(|| value.to_owned());
        let option = |text: &OsStr| JobOption { key: long.into(), value: value(text) };
        Some(values.filter(|_| given).map(option).collect::<Vec<_>>())
    };
    options().filter_map(typed).flatten().collect()
}

/// The settings of a job that affect the contents of its output, with defaults.
pub(in crate::cli) fn settings(job: &BatchJob, scope: &Scope) -> BTreeMap<String, String> {
    // an error is reported when it is the job's turn
    let Ok(matches) = matches(job, "") else { return [(format!("{:?}", job.options), String::new())].into() };
    let setting = |(arg, long): (&Arg, &str)| {
        let file = arg.get_value_parser().type_id() == TypeId::of::<PathBuf>();
        let text = |value: &OsStr| match file {
            true => scope.relative(&job.folder.join(value)),
            false => value.to_string_lossy().into_owned(),
        };
        let values: Vec<String> = matches.get_raw(arg.get_id().as_str())?.map(text).collect();
        (long != "strict").then(|| (long.to_owned(), values.join(" ")))
    };
    options().filter_map(setting).collect()
}

/// Parses a job as a command line of `render`.
fn matches(job: &BatchJob, output: impl Into<OsString>) -> Result<ArgMatches, clap::Error> {
    let mut line: Vec<OsString> = vec!["render".into()];
    for JobOption { key, value } in &job.options {
        let mut word = OsString::from(format!("--{key}"));
        // as one argument, so that a value that begins with a minus sign is not parsed as an option
        value.iter().for_each(|value| word.extend([OsStr::new("="), value]));
        line.push(word);
    }
    line.extend(["--".into(), job.input.clone(), output.into()]);
    RENDER.clone().try_get_matches_from(line)
}

/// The arguments of `render` for a job.
pub(super) fn render_args(job: &BatchJob, output: OsString) -> Result<Box<Render>, clap::Error> {
    let mut render = Box::new(Render::from_arg_matches(&matches(job, output)?)?);
    for file in render.filters.recipe.iter_mut().chain(&mut render.encoding.film_grain_table) {
        *file = job.folder.join(&*file);
    }
    Ok(render)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_and_defaults_make_no_other_settings() {
        let scope = Scope { folder: "here".into(), outputs: "here".into(), shard: None };
        let of = |options: &[&str], folder: &str| {
            let option = |text: &&str| match text.split_once('=') {
                Some((key, value)) => JobOption { key: key.into(), value: Some(value.into()) },
                None => JobOption { key: text.to_string(), value: None },
            };
            let options = options.iter().map(option).collect();
            let job = BatchJob { options, folder: folder.into(), ..BatchJob::new("a", "b") };
            settings(&job, &scope)
        };
        let plain = of(&["filters=-1,x", "recipe=a.toml"], "here");
        let same = ["look=here/a.toml", "audio=auto", "threads=3", "strict", "overwrite", "filters=-1,x"];
        assert_eq!(of(&same, ""), plain);
        assert_eq!((plain["recipe"].as_str(), plain["filters"].as_str()), ("a.toml", "-1,x"));
        for other in ["recipe=b.toml", "audio=none", "filters=y", "frame-offset=1", "draft", "nothing=3"] {
            assert_ne!(of(&["filters=-1,x", "recipe=a.toml", other], "here"), plain, "{other}");
        }
    }
}
