//! `batch`: many renders.

use super::args::{CommonArgs, EncodingArgs, FilterArgs, Render, ShardArgs, SpanArgs};
use super::exit::{Exit, Failure, with_causes};
use super::report::{BatchReporter, JobEnd};
use super::resolve::{self, Environment, Resolved};
use super::signals::Signals;
use super::{execute, report};
use clap::{ArgMatches, Args};
use grainfield_filters::host::lock;
use grainfield_io::disk::{Access, FileAccess, FileRef, SameFile, WrittenFiles};
use grainfield_io::format::Formats;
use grainfield_io::format::images::files::sequences;
use grainfield_io::journal::resume::{Resume, file_id};
use grainfield_io::journal::shard::Shard;
use grainfield_io::sink::{Files, Output};
use grainfield_io::source;
use grainfield_render::batch::fingerprint;
use grainfield_render::batch::jobs::{self, BatchJob, JobList, JobOption};
use grainfield_render::batch::list;
use grainfield_render::batch::output_path::output_path;
use grainfield_render::batch::queue::Queue;
use grainfield_render::batch::{self, Counts, Event, JobOutcome};
use grainfield_render::session::job::{DEFAULT_MEMORY, Failure as RunFailure, RunError};
use grainfield_render::session::{self, Summary};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

mod options;
mod status;

pub(super) use options::settings;
use options::{check_options, in_short, render_args, typed_options};

pub(super) const EXAMPLES: &str = "\
Examples:
  A list of jobs, two at a time; the same command on another machine shares the work:
    grainfield batch jobs.toml --jobs 2
  All plates of all shots:
    grainfield batch 'shots/*/plate.####.exr' --to 'out/{dir}/{name}.####.exr' -f grain=preset=35mm
  Print what would be done, print the state, run failed jobs again:
    grainfield batch jobs.toml --dry-run
    grainfield batch jobs.toml --status
    grainfield batch jobs.toml --retry

A list of jobs:
    [all]
    filters = \"grain=preset=35mm\"

    [[job]]
    input = \"shots/010/plate.####.exr\"
    output = \"010/plate.####.exr\"

    [[job]]
    input = \"reel.mkv\"
    output = \"reel.mkv\"
    crf = 16
    segments = true

Exit status: 0 all jobs are done or running in other processes; 1 a job failed, now or earlier;
2 wrong usage; 129, 130 or 143 ended by SIGHUP, SIGINT or SIGTERM.";

/// `batch`.
#[derive(Args, Debug)]
pub(super) struct Batch {
    /// A list of jobs (NAME.toml), or a pattern with * and ? for inputs
    pub(super) input: String,
    /// With a pattern: the output of each input, with {dir}, {name} and {ext}
    ///
    /// {dir} is the part of the folder that wildcards matched, {name} the file name without number and extension.
    #[arg(long, value_name = "OUTPUT")]
    pub(super) to: Option<String>,
    /// Number of jobs at a time
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) jobs: u16,
    /// Only the job with this name, as --status prints it; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(super) job: Vec<String>,
    /// Only print what would be done
    #[arg(long, conflicts_with_all = ["status", "retry"])]
    pub(super) dry_run: bool,
    /// Only print the state of the jobs
    #[arg(long, conflicts_with = "retry")]
    pub(super) status: bool,
    /// With --status or --dry-run: print JSON, one job per line
    #[arg(long)]
    pub(super) json: bool,
    /// Run failed jobs again (so does -y)
    #[arg(long)]
    pub(super) retry: bool,
    /// Allow outputs outside their folder (by '..', links or absolute paths)
    ///
    /// By default they stay in the folder of the list (or its 'folder'), or in the part of --to before the first
    /// brace.
    #[arg(long)]
    pub(super) outside: bool,
    /// Replace existing outputs, also those rendered with other settings
    #[arg(short = 'y', long = "overwrite")]
    pub(super) overwrite: bool,
    #[command(flatten)]
    pub(super) filters: FilterArgs,
    #[command(flatten)]
    pub(super) span: SpanArgs,
    #[command(flatten)]
    pub(super) shard: ShardArgs,
    /// Render videos in segments, so that they can be resumed
    ///
    /// Videos of more than 250 frames always are. When a job is interrupted, complete segments are kept, and the next run
    /// renders the rest; a shorter video is kept as NAME.partial.EXT, and the next run starts over.
    #[arg(long, help_heading = "More than one machine, more than one run")]
    pub(super) segments: bool,
    #[command(flatten)]
    pub(super) encoding: EncodingArgs,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// The command line, and what follows from it.
struct Context<'a> {
    typed: &'a Batch,
    environment: &'a Environment,
    plan: &'a Plan,
}

/// The queue of jobs.
struct Plan {
    jobs: Vec<BatchJob>,
    queue: Queue,
    /// The list, or the name that stands for it.
    list: PathBuf,
    /// If the jobs come from a list, and their options with them.
    listed: Option<Listed>,
}

/// The identity of a list's file when it was last read, and the jobs in it, if it has changed.
type Listed = Mutex<(u64, Option<BTreeSet<String>>)>;

impl Plan {
    fn shard(&self) -> Option<Shard> {
        self.queue.scope.shard
    }

    /// An error of the status file.
    fn status_failure(&self, error: &std::io::Error) -> Failure {
        Failure::failed(format!("{}: {error}", self.queue.status().display()))
    }

    /// Whether a job is still in the list and not postponed: people and the studio edit the list while it is rendered. A
    /// list that cannot be read at the moment still has all jobs.
    fn has(&self, job: &BatchJob) -> bool {
        let Some(listed) = &self.listed else { return true };
        let mut listed = lock(listed);
        let now = self.list.metadata().map_or(0, |meta| file_id(&self.list, &meta));
        if now != listed.0
            && let Ok(list) = read_list(&self.list)
        {
            *listed = (
                now,
                Some(list.jobs.iter().filter(|job| !job.postponed).map(|job| self.queue.id(job)).collect()),
            );
        }
        listed.1.as_ref().is_none_or(|jobs| jobs.contains(&self.queue.id(job)))
    }
}

/// Reads a list of jobs.
fn read_list(path: &Path) -> Result<JobList, Failure> {
    let failed = |text: String| Failure::failed(format!("{}: {text}", path.display()));
    let size = path.metadata().map_err(|e| failed(e.to_string()))?.len();
    if size > list::MAX_TEXT {
        return Err(failed(format!("more than {} bytes", list::MAX_TEXT)));
    }
    let text = std::fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    JobList::parse(&text, folder).map_err(|e| Failure::usage(format!("{}: {e}", path.display())))
}

/// `matches` are those of the whole command line.
pub(super) fn run(typed: Batch, matches: &ArgMatches, environment: &Environment) -> Result<Exit, Failure> {
    let plan = plan(&typed, &matches.subcommand().map_or(Vec::new(), |(_, typed)| typed_options(typed)))?;
    let context = Context { typed: &typed, environment, plan: &plan };
    if typed.status || typed.dry_run {
        let mut access = FileAccess::default();
        access.read("the list of jobs", plan.list.clone());
        access.write("the report", FileRef::Stdout);
        access.check()?;
        return status::look(&context);
    }
    context.check_overwrite()?;
    let signals = Signals::watch()?;
    let report = BatchReporter::new(typed.common.report, plan.jobs.len());
    if plan.listed.is_none() {
        for found in sequences(plan.jobs.iter().map(|job| job.input.clone()).collect()).0 {
            report.say(&format!(
                "{} of the inputs are numbered images: each is rendered by itself as frame 0, with the same noise. If \
                 they are one film, give '{}' to 'grainfield render'",
                found.files, found.pattern
            ));
        }
    }
    let perform = |job: &BatchJob, start: batch::Start<'_>| context.perform(&signals, &report, job, start);
    let on_event = |BatchJob { name, .. }: &BatchJob, event: &Event| match event {
        Event::Before => report.note(name, "done before"),
        Event::FailedBefore(why) => report.note(name, &format!("failed before ({why}); --retry tries again")),
        Event::Stale(why) => report.error(name, &format!("{why}; -y renders it again")),
        Event::Postponed => report.note(name, "postponed"),
        Event::Removed => report.note(name, "no longer in the list, or postponed"),
        Event::Elsewhere => report.note(name, "another process is rendering it"),
        Event::Queue(why) => report.error(name, why),
    };
    let batch = batch::Batch {
        queue: &plan.queue,
        jobs: &plan.jobs,
        at_once: typed.jobs.into(),
        retry: typed.retry || typed.overwrite,
        overwrite: typed.overwrite,
        cancel: &signals.cancel,
        perform: &perform,
        on_event: &on_event,
    };
    let counts = batch.run().map_err(|error| plan.status_failure(&error))?;
    let exit = match &counts {
        Counts { left: 1.., .. } => signals.exit(),
        Counts { failed: 1.., .. } => Exit::Failed,
        _ => Exit::Done,
    };
    report.end(&counts, exit);
    Ok(signals.leave(exit))
}

impl Context<'_> {
    /// Refuses jobs that would write the list, what they or jobs before them read, or what another one writes. A job may
    /// read what one before it has written.
    fn check_overwrite(&self) -> Result<(), SameFile> {
        let Context { typed, plan, .. } = self;
        let mut later = WrittenFiles::default();
        let mut own = FileAccess::default();
        for file in plan.queue.writes(&plan.jobs) {
            own.add(Access::WriteBeside, "a file of the batch,", file);
        }
        own.check_before(&mut later)?;
        let mut all = Vec::new();
        for job in &plan.jobs {
            // an invalid name is reported when it is the job's turn
            let Ok(output) = output_path(&plan.queue.scope.outputs, &job.output, typed.outside, false) else {
                continue;
            };
            let resolved = self.request(job, false).ok();
            let access = match resolved.and_then(|resolved| resolved.request.file_access().ok()) {
                Some(access) => access,
                // its options or its recipe may contain an error, and are read as well
                None => {
                    let parsed = Output::parse(&output, Formats::default());
                    let mut access =
                        parsed.map_or_else(|_| FileAccess::default(), |output| output.writes(plan.shard()));
                    access.read_all("the input", source::reads(&job.input));
                    let render = self.render(job, output).ok();
                    for recipe in render.map_or_else(Vec::new, |render| render.filters.recipe) {
                        access.read("the recipe", recipe);
                    }
                    access
                }
            };
            let mut access = access.in_job(&job.name);
            if plan.listed.is_some() {
                access.read("the list of jobs", plan.list.clone());
            }
            later.add_beside(&access);
            all.push(access);
        }
        for access in all.iter().rev() {
            access.check_before(&mut later)?;
        }
        Ok(())
    }

    /// A job as a command line of `render`.
    fn render(&self, job: &BatchJob, output: OsString) -> Result<Render, Failure> {
        let mut render = *render_args(job, output).map_err(|error| Failure::usage(in_short(&error)))?;
        render.overwrite |= self.typed.overwrite;
        let (own, all) = (&mut render.common.machine, &self.typed.common.machine);
        own.threads = all.threads.or(own.threads);
        own.memory = all.memory.or(own.memory);
        own.level = all.level.or(own.level);
        own.cache = all.cache.clone().or(own.cache.take());
        own.cache_limit = all.cache_limit.or(own.cache_limit);
        self.environment.config.machine(own);
        Ok(render)
    }

    /// The request of a job, and its notes.
    fn request(&self, job: &BatchJob, make: bool) -> Result<Resolved, Failure> {
        let Context { typed, environment, plan } = self;
        let output = output_path(&plan.queue.scope.outputs, &job.output, typed.outside, make)
            .map_err(|e| Failure::from_error(Exit::Failed, &e))?;
        if job.input == OsStr::new("-") {
            return Err(Failure::usage("a job reads files, not standard input"));
        }
        let typed_render = self.render(job, output)?;
        let threads = typed_render.common.machine.threads;
        let mut resolved = resolve::render(typed_render, environment)?;
        let request = &mut resolved.request;
        request.shard = plan.shard();
        let at_once = usize::from(typed.jobs).min(plan.jobs.len()).max(1);
        if threads.is_none() && at_once > 1 {
            let machine = std::thread::available_parallelism().map_or(1, usize::from);
            request.threads = Some(machine.div_ceil(at_once).min(64));
        }
        request.memory = request.memory.or((at_once > 1).then_some(DEFAULT_MEMORY / at_once as u64));
        // a job is resumed where it was interrupted
        if request.resume == Resume::No
            && Output::parse(&request.output, request.formats)
                .is_ok_and(|output| !matches!(output.files(), Files::Nothing | Files::Stream(_)))
        {
            request.resume = Resume::Trust;
        }
        Ok(resolved)
    }

    /// Runs a job, and reports it.
    fn perform(
        &self,
        signals: &Signals,
        report: &BatchReporter,
        job: &BatchJob,
        start: batch::Start<'_>,
    ) -> JobOutcome {
        if !self.plan.has(job) {
            return JobOutcome::Removed;
        }
        let reporter = report.job(&job.name);
        let nothing = Summary::default();
        let end = |exit, error: Option<&str>, partial: Option<&Path>, summary: &Summary| {
            reporter.end(&JobEnd { exit, error, partial, summary: summary.clone(), reader_gone: false });
        };
        let fail = |text: String, partial: Option<&Path>, summary: Summary| {
            end(Exit::Failed, Some(&text), partial, &summary);
            JobOutcome::Failed(text, summary)
        };
        let stopped = |text: String, partial: Option<&Path>, summary: Summary| {
            end(signals.exit(), Some(&text), partial, &summary);
            JobOutcome::Cancelled(text, summary)
        };
        let executed = self.request(job, true).and_then(|Resolved { mut request, notes, .. }| {
            if let Ok(access) = request.file_access() {
                self.plan.queue.scope.add_reads(start.fingerprint, job, access.reads());
            }
            if start.start_over {
                request.resume = Resume::No;
            }
            execute(&reporter, signals, request, &notes, |request| Ok(session::Render::new(request)))
        });
        let (resumable, result) = match executed {
            Ok(Some(executed)) => executed,
            Ok(None) => return stopped("interrupted".into(), None, nothing),
            Err(failure) => return fail(failure.text, None, nothing),
        };
        match result {
            Ok(summary) => {
                end(Exit::Done, None, None, &summary);
                JobOutcome::Done(summary)
            }
            Err(RunError { failure, partial, summary }) => match *failure {
                RunFailure::Cancelled => {
                    let kept = kept(resumable, partial.as_deref(), &summary, reporter.so_far().frames);
                    stopped(kept, partial.as_deref(), summary)
                }
                RunFailure::Closed => fail("the reader of the output has closed it".into(), None, nothing),
                failure => fail(with_causes(&failure), partial.as_deref(), summary),
            },
        }
    }
}

/// The list, its jobs, the folder for outputs, and for a list the identity of its file.
type Found = (PathBuf, Vec<BatchJob>, PathBuf, Option<Listed>);

/// The jobs of a list.
fn from_list(typed: &Batch, options: &[JobOption]) -> Result<Found, Failure> {
    if typed.to.is_some() {
        return Err(Failure::usage("--to applies to patterns; a list names the output of each job"));
    }
    if !options.is_empty() {
        let text = "with a list, put options of 'render' into the list, under [all] or under a job; only \
            --shard, -y, the machine options and the message options go on the command line";
        return Err(Failure::usage(text));
    }
    let path = Path::new(&typed.input);
    let read_id = path.metadata().map_or(0, |meta| file_id(path, &meta));
    let list = read_list(path)?;
    // before the first job, so that a typing error is reported immediately and not after hours of rendering
    check_options(&list.jobs, &typed.job)
        .map_err(|text| Failure::usage(format!("{}: {text}", path.display())))?;
    let folder = list.folder.unwrap_or_else(|| path.parent().unwrap_or(Path::new("")).to_path_buf());
    Ok((path.to_path_buf(), list.jobs, folder, Some(Mutex::new((read_id, None)))))
}

/// The jobs for all inputs that match a pattern.
fn from_pattern(typed: &Batch, options: &[JobOption]) -> Result<Found, Failure> {
    let Some(to) = &typed.to else {
        let input = &typed.input;
        let text = format!("{input}: name a list of jobs NAME.toml; with a pattern, give --to");
        return Err(Failure::usage(text));
    };
    let found = jobs::glob(&typed.input, to, options).map_err(|e| Failure::usage(e.to_string()))?;
    // the part before the first brace is the output folder; the rest of the name is the job's
    let folder = jobs::fixed(to);
    let relative = |job: BatchJob| {
        let output = Path::new(&job.output).strip_prefix(&folder).unwrap_or(Path::new(&job.output)).into();
        BatchJob { output, ..job }
    };
    let jobs = found.jobs.into_iter().map(relative).collect();
    Ok((folder.join("grainfield-batch"), jobs, folder, None))
}

fn plan(typed: &Batch, options: &[JobOption]) -> Result<Plan, Failure> {
    let shard = resolve::shard_of(&typed.shard)?;
    let listed = Path::new(&typed.input).extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    let (list, mut jobs, folder, listed) =
        if listed { from_list(typed, options)? } else { from_pattern(typed, options)? };
    let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
    if let Some(name) = typed.job.iter().find(|name| jobs.iter().all(|job| job.name != **name)) {
        return Err(Failure::usage(format!(
            "--job {name}: there is no job of this name; --status lists them"
        )));
    }
    jobs.retain(|job| typed.job.is_empty() || typed.job.contains(&job.name));
    let queue = Queue::new(&list, &folder, shard);
    fingerprint::resolve(&mut jobs, &queue.scope, settings);
    Ok(Plan { jobs, queue, list, listed })
}

/// Describes the kept part of an interrupted job, of which `rendered` frames were rendered in this run.
fn kept(resumable: bool, partial: Option<&Path>, summary: &Summary, rendered: u64) -> String {
    let place = |word: &str| match partial {
        Some(path) => format!(" {word} {}", path.strip_prefix(".").unwrap_or(path).display()),
        None => String::new(),
    };
    if !resumable {
        let kept = place(&format!("{} are kept as", report::frames(summary.frames)));
        let start_over = if kept.is_empty() { "" } else { "; the next run starts over" };
        return format!("interrupted:{kept}{start_over}").trim_end_matches(':').to_owned();
    }
    let kept = report::frames(summary.frames + summary.skipped);
    let lost = match rendered.saturating_sub(summary.frames) {
        0 => String::new(),
        lost => format!(", {} of an incomplete segment are lost", report::frames(lost)),
    };
    format!("interrupted: {kept} are kept{}{lost}; the next run renders the rest", place("in"))
}
