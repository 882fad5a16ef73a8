//! The command line: [`args`](self) has the arguments, `resolve` their meaning, and `report` the messages to
//! the user.

mod analyze;
mod args;
mod batch;
mod bound;
mod cache;
mod catalog;
mod commands;
mod curve;
mod exit;
mod frei0r;
mod help;
mod join;
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

use args::ReportArgs;
use clap::Parser;
use clap::error::ErrorKind;
use commands::{Cli, Command};
use grainfield_filters::catalog::{FILTERS, find};
use grainfield_io::disk::{Place, SameFile, Uses};
use grainfield_io::journal::resume::Resume;
use grainfield_io::source;
use grainfield_render::session::job::{Request, RunError};
use grainfield_render::session::{Error, Render, Summary};
use report::{JobEnd, Reporter, Start};
use resolve::{Environment, ResolveError, Resolved};
use signals::Signals;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use terminal::{Errors, Style};

/// Runs the program: `line` is the command line with the program's name in front.
pub fn run(line: impl IntoIterator<Item = OsString>) -> Exit {
    grainfield_io::disk::reach::inherit();
    let line: Vec<OsString> = line.into_iter().collect();
    // even errors of the command line could not be reported
    if by_words(&line).check_errors().is_err() {
        return Exit::Usage;
    }
    if line.len() < 2 {
        eprintln_quietly(FIRST_LINES);
        return Exit::Usage;
    }
    match Cli::try_parse_from(&line) {
        Ok(cli) => command(cli.command),
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
    const OPTIONS: [(&[&str], &str); 9] = [
        (&["-ss", "-t", "-to"], "use --frames with frame numbers, as in --frames 75-149"),
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
fn by_words(line: &[OsString]) -> Uses {
    let mut uses = Uses::default();
    if Place::Errors.identity().is_some() {
        for word in line.iter().skip(1) {
            source::reads(word).into_iter().for_each(|place| uses.read("a file of the command line", place));
            // `@` and `#` enclose the name of a curve's file
            let pieces = word.as_bytes().split(|b| b"@#".contains(b)).map(OsStr::from_bytes);
            let inside = pieces.flat_map(grainfield_io::disk::same::inside);
            inside.for_each(|path| uses.read("a file of the command line", Place::Path(path)));
        }
    }
    uses
}

fn command(command: Command) -> Exit {
    let environment = Environment::look();
    match command {
        Command::Render(typed) => {
            let (say, prints) = (typed.common.say, resolve::prints(&typed.output));
            job(say, prints, || resolve::render(typed, &environment), |r| Ok(Render::new(r)))
        }
        Command::Hash(typed) => {
            job(typed.common.say, true, || resolve::hash(typed, &environment), |r| Ok(Render::new(r)))
        }
        Command::Frame(typed) => {
            let (say, prints) = (typed.common.say, resolve::prints(&typed.output));
            job(say, prints, || resolve::frame(typed, &environment), |r| Ok(Render::new(r)))
        }
        Command::Batch(typed) => batch::run(*typed, &environment),
        Command::Join(typed) => join::run(typed),
        Command::Cache(typed) => cache::run(typed, &environment),
        Command::Frei0r(typed) => frei0r::run(typed),
        Command::Analyze(typed) => analyze::run(typed, &environment),
        Command::Match(typed) => matching::run(typed, &environment),
        Command::Curve(typed) => curve::run(typed),
        Command::Sheet(typed) => sheet::run(typed, &environment),
        #[cfg(feature = "studio")]
        Command::Studio(typed) => studio::run(typed, &environment),
        Command::Filters(typed) => filters(&typed),
        Command::Probe(typed) => probe(typed, &environment),
        Command::Completions { shell } => printed(terminal::print(&manual::completions(shell))),
        Command::Help { topic } => help::run(topic.as_deref()),
        Command::Man => printed(manual::page().and_then(|page| terminal::print(&page))),
    }
}

/// `render`, `hash`, `frame` and `analyze`.
fn job(
    say: ReportArgs,
    prints: bool,
    resolve: impl FnOnce() -> Result<Resolved, ResolveError>,
    render: impl FnOnce(Request) -> Result<Render, Error> + Send + 'static,
) -> Exit {
    let report = Reporter::new(say, prints);
    let fail = |exit, text: &str| {
        report.fail(exit, text);
        exit
    };
    let Resolved { mut request, notes } = match resolve() {
        Ok(resolved) => resolved,
        Err(error) => return fail(error.exit(), &chain(&error)),
    };
    let signals = match Signals::watch() {
        Ok(signals) => signals,
        Err(error) => return fail(Exit::Failed, &format!("signals cannot be watched: {error}")),
    };
    (request.stop, request.abort) = (Arc::clone(&signals.stop), Arc::clone(&signals.abort));
    // before the first note
    if Place::Errors.identity().is_some()
        && let Err(error) = request.uses().and_then(|uses| Ok(uses.check_errors()?))
    {
        return fail(Exit::Usage, &chain(&error));
    }
    notes.iter().for_each(|note| report.note(note));
    let recipe = request.recipe.canonical();
    let threads = request.threads.map_or_else(|| "one for each processor".into(), |n| n.to_string());
    let level = request.level.map_or_else(|| "the best available".into(), |l| l.to_string());
    report.detail(&format!("{recipe} (key {:032x})", request.recipe.key()));
    report.detail(&format!("level {level}, threads: {threads}"));
    let input = lossy(&request.input);
    let resuming = request.resume != Resume::No;

    let prepared = match signals.unless_stopped(move || render(request)?.prepare()) {
        Some(Ok(prepared)) => prepared,
        Some(Err(error)) => return fail(Exit::of(error.kind()), &chain(&error)),
        None => return signals.leave(fail(signals.exit(), "interrupted before the first frame")),
    };
    prepared.notes().iter().for_each(|note| report.say(note));
    let output = lossy(prepared.output());
    report.begin(&Start { input, output, recipe, total: prepared.total(), rate: prepared.rate() });
    let advice = prepared.is_resumable().then_some(match resuming {
        true => "run the same command again to render the rest",
        false => "run the same command with --resume to render the rest",
    });
    let running = prepared.start();
    running.events().for_each(|event| report.event(event));
    signals.leave(ended(&report, &signals, running.wait(), advice))
}

/// Tells how a job ended.
fn ended(
    report: &Reporter,
    signals: &Signals,
    result: Result<Summary, RunError>,
    advice: Option<&str>,
) -> Exit {
    let kept = |text: String, summary: &Summary| match advice {
        Some(advice) if summary.frames + summary.skipped > 0 => {
            format!("{text}\n  finished parts are kept: {advice}")
        }
        _ => text,
    };
    let (exit, error, partial, summary) = match result {
        Ok(summary) => (Exit::Done, None, None, summary),
        Err(RunError::ClosedPipe) => {
            let summary = report.so_far();
            report.end(&JobEnd { exit: Exit::Done, error: None, partial: None, summary, hushed: true });
            return Exit::Done;
        }
        Err(RunError::Failed { failure, partial, summary }) => {
            (Exit::Failed, Some(kept(chain(&failure), &summary)), partial, summary)
        }
        Err(RunError::Interrupted { partial, summary }) => {
            (signals.exit(), Some(kept("interrupted".to_owned(), &summary)), partial, summary)
        }
    };
    let (error, partial) = (error.as_deref(), partial.as_deref());
    report.end(&JobEnd { exit, error, partial, summary, hushed: false });
    exit
}

fn filters(typed: &args::Filters) -> Exit {
    if let Some(name) = typed.name.as_ref().filter(|n| typed.effect || n.contains('=')) {
        let text = bound::step(name).and_then(|step| match (typed.effect, typed.json) {
            (true, _) => bound::effect(&step, name),
            (false, true) => bound::json(&step),
            (false, false) => bound::text(&step),
        });
        return match text {
            Ok(text) => printed(terminal::print(text.as_bytes())),
            Err(e) => report_error(if e.is_usage() { Exit::Usage } else { Exit::Failed }, &chain(&e)),
        };
    }
    let text = match (&typed.name, typed.json) {
        (None, false) => catalog::list(FILTERS),
        (None, true) => catalog::list_json(FILTERS),
        (Some(name), json) => match find(name) {
            None => return report_error(Exit::Usage, &catalog::unknown(name, FILTERS)),
            Some(filter) if json => catalog::page_json(filter),
            Some(filter) => catalog::page(filter),
        },
    };
    printed(terminal::print(text.as_bytes()))
}

fn probe(typed: args::Probe, environment: &Environment) -> Exit {
    if let Err(error) = resolve::check_input(&typed.input, environment) {
        return report_error(error.exit(), &chain(&error));
    }
    let mut uses =
        typed.source.lavfi.as_deref().map(grainfield_render::session::job::by_graph).unwrap_or_default();
    source::reads(&typed.input).into_iter().for_each(|place| uses.read("the input", place));
    uses.write("the report", Place::Output);
    if let Err(error) = uses.check().and_then(|()| uses.check_asked()) {
        return report_error(Exit::Usage, &chain(&error));
    }
    match grainfield_render::session::job::probe(
        &typed.input,
        &resolve::source_options(&typed.source, environment),
    ) {
        Err(error) => report_error(if error.is_usage() { Exit::Usage } else { Exit::Failed }, &chain(&error)),
        Ok(info) if typed.json => printed(terminal::print(probe::json(&info).as_bytes())),
        Ok(info) => {
            for note in &info.notes {
                eprintln_quietly(&format!("{} {note}", Style::of_stderr().note()));
            }
            printed(terminal::print(probe::table(&info).as_bytes()))
        }
    }
}

/// Refuses to print into a file that is read.
fn prints(reads: impl IntoIterator<Item = Place>, role: &str) -> Result<(), SameFile> {
    let mut uses = Uses::default();
    reads.into_iter().for_each(|place| uses.read(role, place));
    uses.write("the report", Place::Output);
    uses.check()
}

/// An error, and how it ends the program.
fn report_error(exit: Exit, text: &str) -> Exit {
    eprintln_quietly(&format!("{} {text}", Style::of_stderr().error()));
    exit
}

/// As `eprintln!`, which would panic when standard error is closed.
fn eprintln_quietly(line: &str) {
    use io::Write;
    let _ = writeln!(Errors, "{line}");
}

/// How printing ends the program.
fn printed(result: io::Result<()>) -> Exit {
    match result {
        Ok(()) => Exit::Done,
        Err(error) => report_error(Exit::Failed, &format!("standard output: {error}")),
    }
}

fn lossy(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

/// An error with its causes, one per line, without those that the text above contains.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let reason = cause.to_string();
        if !text.contains(&reason) {
            text += "\n  because: ";
            text += &reason;
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests;
