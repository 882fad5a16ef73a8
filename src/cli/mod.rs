//! The command line: `args` has the arguments, `resolve` their meaning, and `report` the messages to
//! the user.

mod advice;
mod analyze;
mod args;
mod batch;
mod bound;
mod cache;
mod catalog;
mod commands;
mod config;
mod curve;
mod exit;
mod frei0r;
mod help;
mod join;
mod looks;
mod manual;
mod matching;
mod probe;
mod report;
mod resolve;
mod sheet;
mod signals;
#[cfg(feature = "studio")]
mod studio;
mod terminal;
mod values;

pub use exit::Exit;
use exit::{Failure, with_causes};

use args::ReportArgs;
use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use commands::{Cli, Command};
use config::Config;
use grainfield_filters::catalog::{FILTERS, find};
use grainfield_io::disk::{FileAccess, FileRef, files_in_text, name_of};
use grainfield_io::journal::resume::Resume;
use grainfield_io::source;
use grainfield_render::session::job::{self, Failure as RunFailure, Request, RunError};
use grainfield_render::session::{Error, Render, Summary};
use report::{JobEnd, Reporter, Start};
use resolve::{Environment, Resolved};
use signals::Signals;
use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use terminal::{Errors, Style};

/// Runs the program: `line` is the command line with the program's name in front.
pub fn run(line: impl IntoIterator<Item = OsString>) -> Exit {
    grainfield_io::disk::reach::inherit();
    let mut line: Vec<OsString> = line.into_iter().collect();
    // FFmpeg's names of two letters
    for word in line.iter_mut().take_while(|word| *word != "--") {
        match word.to_str() {
            Some("-ss") => *word = "--start".into(),
            Some("-to") => *word = "--end".into(),
            _ => {}
        }
    }
    // even errors of the command line could not be reported
    if files_in_arguments(&line).check_errors().is_err() {
        return Exit::Usage;
    }
    if line.len() < 2 {
        eprintln_quietly(FIRST_LINES);
        return Exit::Usage;
    }
    let parsed = Cli::command().try_get_matches_from(&line);
    match parsed.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches))) {
        Ok((cli, matches)) => {
            command(cli, &matches).unwrap_or_else(|Failure { exit, text }| report_error(exit, &text))
        }
        Err(error) if error.kind() == ErrorKind::UnknownArgument && ffmpegs(&line).is_some() => {
            report_error(Exit::Usage, &ffmpegs(&line).unwrap_or_default())
        }
        Err(error) => {
            // Help and version are errors to clap, and go to standard output. A closed standard output is
            // ignored.
            let _ = error.print();
            if error.use_stderr() { Exit::Usage } else { Exit::Done }
        }
    }
}

/// The text for a run without arguments.
const FIRST_LINES: &str = "\
Grainfield puts film grain, noise, particles and animated effects on video and image sequences.
  grainfield render in.mp4 out.mp4 -f grain=preset=35mm    put film grain on a video
  grainfield filters                                       list the filters
  grainfield help                                          list the commands and topics";

/// Advice for the first option that is FFmpeg's and not Grainfield's.
fn ffmpegs(line: &[OsString]) -> Option<String> {
    const OPTIONS: [(&[&str], &str); 8] = [
        (&["-i"], "the input is the first argument without an option"),
        (
            &["-vf", "-filter:v", "-filter_complex"],
            "use -f for filters of Grainfield, --lavfi for those of FFmpeg",
        ),
        (&["-c:v", "-codec:v", "-vcodec"], "use --codec"),
        (&["-c:a", "-acodec", "-an"], "use --audio"),
        (&["-crf", "-preset", "-threads"], "options of more than one letter start with --"),
        (&["-b:v"], "use --bitrate"),
        (&["-r", "-framerate"], "use --rate"),
        (&["-pix_fmt"], "use --pix-fmt"),
    ];
    line.iter().skip(1).filter_map(|word| word.to_str()).find_map(|word| {
        let (_, advice) = OPTIONS.iter().find(|(names, _)| names.contains(&word))?;
        Some(format!("{word} is an option of FFmpeg: {advice}"))
    })
}

/// The files named in a command line, all of which may be read: messages must not be written to one of them.
fn files_in_arguments(line: &[OsString]) -> FileAccess {
    let mut access = FileAccess::default();
    if FileRef::Stderr.identity().is_some() {
        for word in line.iter().skip(1) {
            access.read_all("a file of the command line", source::reads(word));
            // `@` and `#` enclose the name of a curve's file
            let pieces = word.as_encoded_bytes().split(|b| b"@#".contains(b)).map(name_of);
            access.read_all("a file of the command line", pieces.flat_map(files_in_text));
        }
    }
    access
}

fn command(Cli { no_config, mut command }: Cli, matches: &ArgMatches) -> Result<Exit, Failure> {
    let environment = Environment::look(Config::read(no_config)?);
    fill_in(&mut command, &environment.config);
    Ok(match command {
        Command::Render(typed) => {
            let (report_args, prints) = (typed.common.report, resolve::prints(&typed.output));
            job(report_args, prints, || resolve::render(*typed, &environment), |r| Ok(Render::new(r)))
        }
        Command::Hash(typed) => {
            job(typed.common.report, true, || resolve::hash(typed, &environment), |r| Ok(Render::new(r)))
        }
        Command::Frame(typed) => {
            let (report_args, prints) = (typed.common.report, resolve::prints(&typed.output));
            job(report_args, prints, || resolve::frame(typed, &environment), |r| Ok(Render::new(r)))
        }
        Command::Batch(typed) => return batch::run(*typed, matches, &environment),
        Command::Join(typed) => return join::run(typed),
        Command::Cache(typed) => return cache::run(typed, &environment),
        Command::Frei0r(typed) => return frei0r::run(typed),
        Command::Analyze(typed) => return analyze::run(typed, &environment),
        Command::Match(typed) => return matching::run(typed, &environment),
        Command::Curve(typed) => return curve::run(typed),
        Command::Sheet(typed) => return sheet::run(typed, &environment),
        #[cfg(feature = "studio")]
        Command::Studio(typed) => return studio::run(typed, &environment),
        Command::Filters(typed) => return filters(&typed),
        Command::Looks => return print(looks::list(environment.config.folder.as_deref())),
        Command::Probe(typed) => return probe(typed, &environment),
        Command::Completions { shell } => return print(manual::completions(shell)),
        Command::Help { topic } => return help::run(topic.as_deref()),
        Command::Man => return print(manual::page().map_err(|e| Failure::failed(e.to_string()))?),
    })
}

/// Fills in options that were not typed. A batch replaces outputs and renders again only if that was typed.
fn fill_in(command: &mut Command, config: &Config) {
    let (common, overwrite) = match command {
        Command::Render(c) => (Some(&mut c.common), Some(&mut c.overwrite)),
        Command::Frame(c) => (Some(&mut c.common), Some(&mut c.overwrite)),
        Command::Hash(c) => (Some(&mut c.common), None),
        Command::Sheet(c) => (Some(&mut c.common), Some(&mut c.overwrite)),
        Command::Analyze(c) => (Some(&mut c.common), Some(&mut c.overwrite)),
        Command::Match(c) => (None, Some(&mut c.overwrite)),
        Command::Join(c) => (None, Some(&mut c.overwrite)),
        // each job fills in the options of the machine after those of its list
        Command::Batch(c) => return config.report(&mut c.common.report),
        _ => (None, None),
    };
    if let Some(overwrite) = overwrite {
        *overwrite |= config.overwrites();
    }
    if let Some(common) = common {
        config.machine(&mut common.machine);
        config.report(&mut common.report);
    }
}

/// `render`, `hash`, `frame`, `sheet` and `analyze`.
fn job(
    report_args: ReportArgs,
    prints: bool,
    resolve: impl FnOnce() -> Result<Resolved, Failure>,
    render: impl FnOnce(Request) -> Result<Render, Error> + Send + 'static,
) -> Exit {
    let report = Reporter::new(report_args, prints);
    let run = || -> Result<Exit, Failure> {
        let Resolved { request, notes, details } = resolve()?;
        let signals = Signals::watch()?;
        // before the first note
        if FileRef::Stderr.identity().is_some() {
            request.file_access()?.check_errors()?;
        }
        let threads = request.threads.map_or_else(|| "one for each processor".into(), |n| n.to_string());
        let level = request.level.map_or_else(|| "the best available".into(), |l| l.to_string());
        report.detail(&format!("{} (key {:032x})", request.recipe.canonical(), request.recipe.key()));
        report.detail(&format!("level {level}, threads: {threads}"));
        details.iter().for_each(|detail| report.detail(detail));
        let resuming = request.resume != Resume::No;
        let Some((resumable, result)) = execute(&report, &signals, request, &notes, render)? else {
            report.fail(signals.exit(), "interrupted before the first frame");
            return Ok(signals.leave(signals.exit()));
        };
        let advice = resumable.then_some(match resuming {
            true => "run the same command again to render the rest",
            false => "run the same command with --resume to render the rest",
        });
        Ok(signals.leave(ended(&report, &signals, result, advice)))
    };
    run().unwrap_or_else(|Failure { exit, text }| {
        report.fail(exit, &text);
        exit
    })
}

type RenderResult = Result<Summary, RunError>;

/// Prepares and runs a render, and reports its notes and events. Returns whether it can be resumed, and its result;
/// `None` if a signal came before the first frame.
fn execute(
    report: &Reporter,
    signals: &Signals,
    mut request: Request,
    notes: &[String],
    render: impl FnOnce(Request) -> Result<Render, Error> + Send + 'static,
) -> Result<Option<(bool, RenderResult)>, Failure> {
    (request.cancel, request.abort) = (signals.cancel.clone(), Arc::clone(&signals.abort));
    notes.iter().for_each(|note| report.note(note));
    let (input, recipe) = (lossy(&request.input), request.recipe.canonical());
    let Some(job) = signals.unless_cancelled(move || render(request)?.prepare()) else { return Ok(None) };
    let job = job?;
    job.notes().iter().for_each(|note| report.note_or_warn(note));
    let (output, resumable) = (lossy(job.output()), job.is_resumable());
    report.begin(&Start { input, output, recipe, total: job.total(), rate: job.rate() });
    let running = job.start();
    running.events().for_each(|event| report.render_event(event));
    Ok(Some((resumable, running.wait())))
}

/// Tells how a job ended.
fn ended(report: &Reporter, signals: &Signals, result: RenderResult, advice: Option<&str>) -> Exit {
    let kept = |text: String, summary: &Summary| match advice {
        Some(advice) if summary.frames + summary.skipped > 0 => {
            format!("{text}\n  finished parts are kept: {advice}")
        }
        _ => text,
    };
    let (exit, error, partial, summary) = match result {
        Ok(summary) => (Exit::Done, None, None, summary),
        Err(RunError { failure, partial, summary }) => match *failure {
            RunFailure::Closed => {
                let summary = report.so_far();
                report.end(&JobEnd {
                    exit: Exit::Done,
                    error: None,
                    partial: None,
                    summary,
                    reader_gone: true,
                });
                return Exit::Done;
            }
            RunFailure::Cancelled => {
                (signals.exit(), Some(kept("interrupted".to_owned(), &summary)), partial, summary)
            }
            failure => (Exit::Failed, Some(kept(with_causes(&failure), &summary)), partial, summary),
        },
    };
    let (error, partial) = (error.as_deref(), partial.as_deref());
    report.end(&JobEnd { exit, error, partial, summary, reader_gone: false });
    exit
}

fn filters(typed: &args::Filters) -> Result<Exit, Failure> {
    if let Some(name) = typed.name.as_ref().filter(|n| typed.effect || n.contains('=')) {
        let step = bound::step(name)?;
        return print(match (typed.effect, typed.json) {
            (true, _) => bound::effect(&step, name)?,
            (false, true) => bound::json(&step)?,
            (false, false) => bound::text(&step)?,
        });
    }
    print(match (&typed.name, typed.json) {
        (None, false) => catalog::list(FILTERS),
        (None, true) => catalog::list_json(FILTERS),
        (Some(name), json) => match find(name) {
            None => return Err(Failure::usage(catalog::unknown(name, FILTERS))),
            Some(filter) if json => catalog::page_json(filter),
            Some(filter) => catalog::page(filter),
        },
    })
}

fn probe(typed: args::Probe, environment: &Environment) -> Result<Exit, Failure> {
    resolve::check_input(&typed.input, environment)?;
    let mut access = typed.source.lavfi.as_deref().map(job::files_in_graph).unwrap_or_default();
    access.read_all("the input", source::reads(&typed.input));
    access.write("the report", FileRef::Stdout);
    access.check().and_then(|()| access.check_external_writes())?;
    let source = source::open(&typed.input, &resolve::source_options(&typed.source, environment))?;
    let info = source.info();
    if typed.json {
        return print(probe::json(info));
    }
    for note in &info.notes {
        eprintln_quietly(&format!("{} {note}", Style::of_stderr().note()));
    }
    print(probe::table(info))
}

/// An error, and how it ends the program.
fn report_error(exit: Exit, text: &str) -> Exit {
    eprintln_quietly(&format!("{} {text}", Style::of_stderr().error()));
    exit
}

/// As `eprintln!`, which would panic when standard error is closed.
fn eprintln_quietly(line: &str) {
    use std::io::Write;
    let _ = writeln!(Errors, "{line}");
}

/// Writes to standard output.
fn print(text: impl AsRef<[u8]>) -> Result<Exit, Failure> {
    terminal::print(text.as_ref()).map_err(|error| Failure::failed(format!("standard output: {error}")))?;
    Ok(Exit::Done)
}

fn lossy(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
