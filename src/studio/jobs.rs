//! Renders, through the files of `grainfield batch`: a list of jobs in the folder in which the studio was started,
//! its status and its locks. Other programs running `grainfield batch` with the same list share the work. Each job is
//! rendered by a program of its own, so that it can be cancelled alone.

mod programs;
mod request;

pub(super) use request::{JobRequest, check_options, transfer};

use super::fault::Fault;
use super::list::{LIST, document, jobs, remove, swap};
use grainfield_filters::host::lock;
use grainfield_io::disk;
use grainfield_render::batch::fingerprint::{Resolve, resolve};
use grainfield_render::batch::jobs::{BatchJob, JobList, JobsError};
use grainfield_render::batch::output_path::output_path;
use grainfield_render::batch::queue::{Claim, Queue, State};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use tokio::sync::broadcast;
use toml_edit::value;

/// The largest number of jobs that the page may add.
const MAX_JOBS: usize = 1000;
/// The largest list that is read, in bytes.
const MAX_TEXT: u64 = 4 << 20;

/// What a page asks for a job; without a job, `Start`, `Retry` and `Stop` are about all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verb {
    Start,
    /// As `Start`, with the jobs that have failed.
    Retry,
    Stop,
    Up,
    Down,
    Cancel,
    Postpone,
    /// Shows the folder of the finished file.
    Show,
    Resume,
    Remove,
}

/// A job in the page.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct JobRow {
    pub(super) id: String,
    pub(super) name: String,
    input: String,
    output: String,
    options: Vec<String>,
    pub(super) state: &'static str,
    frames: u64,
    reason: Option<String>,
    /// The program that renders it, or has done so last.
    by: Option<String>,
    /// Whether this studio has started the program that renders it, and tells its progress.
    here: bool,
}

impl JobRow {
    pub(super) fn has_output(&self, output: &str) -> bool {
        self.output == output
    }
}

/// A program that renders a job.
struct Program {
    child: Child,
    /// The [id](Queue::id) of the job.
    id: String,
    /// Whether it renders the job: cleared when it was told to end, which takes some time, so that the job can be started
    /// again by another program meanwhile.
    live: bool,
    /// Whether the user has told it to end.
    cancelled: bool,
}

/// The waiting jobs, as they are rendered one after another.
struct Run {
    /// Cleared to end it.
    live: AtomicBool,
    /// The jobs that it has started, which it does not start again unasked.
    begun: Mutex<BTreeSet<String>>,
}

/// The list, and the programs that render its jobs.
pub(super) struct Jobs {
    folder: PathBuf,
    /// One change at a time.
    changing: Mutex<()>,
    children: Mutex<Vec<Program>>,
    /// While the waiting jobs are rendered one after another.
    run: Mutex<Option<Arc<Run>>>,
    events: broadcast::Sender<String>,
    settings: Resolve,
}

impl Jobs {
    pub(super) fn new(folder: &Path, events: broadcast::Sender<String>, settings: Resolve) -> Arc<Jobs> {
        Arc::new(Jobs {
            folder: folder.into(),
            changing: Mutex::default(),
            children: Mutex::default(),
            run: Mutex::default(),
            events,
            settings,
        })
    }

    fn path(&self) -> PathBuf {
        self.folder.join(LIST)
    }

    fn text(&self) -> Result<String, Fault> {
        let path = self.path();
        match path.symlink_metadata() {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(String::new()),
            Err(e) => return Err(Fault::new(format!("{LIST}: {e}"))),
            Ok(meta) if !meta.is_file() || meta.len() > MAX_TEXT => {
                return Err(Fault::new(format!("{LIST}: not a list of jobs")));
            }
            Ok(_) => {}
        }
        std::fs::read_to_string(path).map_err(|e| Fault::new(format!("{LIST}: {e}")))
    }

    fn save(&self, text: &str) -> Result<(), Fault> {
        // A rename replaces the list atomically, so that readers never see half of it.
        let path = self.path();
        let written = disk::OutputFile::create(path.as_os_str(), true).and_then(|mut out| {
            out.put(text.as_bytes())?;
            out.finish()
        });
        written.map_err(Fault::new)?;
        self.notify();
        Ok(())
    }

    /// Notifies pages of a change.
    fn notify(&self) {
        let _ = self.events.send(r#"{"type":"jobs"}"#.into());
    }

    fn parsed(&self, text: &str) -> Result<JobList, Fault> {
        match JobList::parse(text, &self.folder) {
            Err(JobsError::Empty) => Ok(JobList::default()),
            parsed => parsed.map_err(|e| Fault::new(format!("{LIST}: {e}"))),
        }
    }

    fn queue(&self, list: &JobList) -> Queue {
        Queue::new(&self.path(), list.folder.as_deref().unwrap_or(&self.folder), None)
    }

    /// The output of a job that is done.
    pub(super) fn finished(&self, id: &str) -> Result<PathBuf, Fault> {
        let list = self.parsed(&self.text()?)?;
        let at = self.rows()?.0.iter().position(|row| row.id == id && row.state == "done");
        let job = at.and_then(|at| list.jobs.get(at)).ok_or_else(|| Fault::new("this job is not done"))?;
        output_path(&self.queue(&list).scope.outputs, &job.output, true, false)
            .map_err(Fault::new)
            .map(PathBuf::from)
    }

    /// The folder of complete segments of a job, relative to that of the list.
    fn segments(&self, queue: &Queue, job: &BatchJob) -> Option<String> {
        let folder = queue.scope.segments(job)?;
        Some(folder.strip_prefix(&self.folder).unwrap_or(&folder).display().to_string())
    }

    /// All jobs, in order, and whether this studio is running some.
    pub(super) fn rows(&self) -> Result<(Vec<JobRow>, bool), Fault> {
        let mut list = self.parsed(&self.text()?)?;
        let queue = self.queue(&list);
        resolve(&mut list.jobs, &queue.scope, self.settings);
        let states = queue.states(&list.jobs);
        let states = states.map_err(|e| Fault::new(format!("{}: {e}", queue.status().display())))?;
        let rows = list.jobs.iter().zip(states).map(|(job, standing)| JobRow {
            id: queue.id(job),
            name: job.name.clone(),
            input: job.input.to_string_lossy().into_owned(),
            output: job.output.to_string_lossy().into_owned(),
            options: job.options.iter().map(ToString::to_string).collect(),
            state: standing.state.name(),
            frames: standing.record.as_ref().map_or(0, |r| r.frames),
            reason: standing.reason,
            by: standing.record.map(|r| r.by),
            here: lock(&self.children).iter().any(|program| program.id == queue.id(job)),
        });
        Ok((rows.collect(), lock(&self.run).is_some() || !lock(&self.children).is_empty()))
    }

    /// Cancels, postpones or removes a job, which ends it if it is running, or moves it by one place. Returns the
    /// folder of segments that a removed job leaves.
    pub(super) fn change(&self, verb: Verb, id: &str) -> Result<Option<String>, Fault> {
        let _one = lock(&self.changing);
        let text = self.text()?;
        let (list, (rows, _)) = (self.parsed(&text)?, self.rows()?);
        let mut document = document(&text)?;
        let Some(at) = rows.iter().position(|row| row.id == id) else {
            return Err(Fault::new("this job no longer exists"));
        };
        // while it is locked, no process begins it; later ones see the changed list
        let takes = matches!(verb, Verb::Postpone | Verb::Remove);
        let claim = takes.then(|| self.queue(&list).claim(&list.jobs[at]));
        let elsewhere = matches!(claim, Some(Ok(Claim::Elsewhere))) || !takes && rows[at].state == "running";
        if (takes || verb == Verb::Cancel) && !self.end(Some(id), true) && elsewhere {
            let by = rows[at].by.as_deref().unwrap_or("unknown");
            return Err(Fault::new(format!("another process is rendering it ({by}): stop it there")));
        }
        match verb {
            Verb::Start | Verb::Retry | Verb::Stop | Verb::Show | Verb::Cancel => return Ok(None),
            Verb::Postpone => drop(jobs(&mut document)?[at].insert("postponed", value(true))),
            Verb::Resume => drop(jobs(&mut document)?[at].remove("postponed")),
            Verb::Remove => remove(&mut document, at)?,
            Verb::Up if at > 0 => swap(&mut document, at - 1)?,
            Verb::Down if at + 1 < rows.len() => swap(&mut document, at)?,
            Verb::Up | Verb::Down => {}
        }
        self.save(&document.to_string())?;
        let queue = self.queue(&list);
        Ok((verb == Verb::Remove).then(|| self.segments(&queue, &list.jobs[at])).flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn request(output: &str) -> JobRequest {
        let options = BTreeMap::from([("crf".to_owned(), "18".to_owned())]);
        let (input, filters) = ("pattern:bars".into(), "noise=strength='0=0;9=\"1'".into());
        JobRequest {
            input,
            output: output.into(),
            filters,
            frames: Some("0-9".into()),
            options,
            overwrite: false,
            replaces: None,
        }
    }

    #[test]
    fn jobs_come_go_and_change_places() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join(LIST);
        std::fs::write(
            &list,
            "# mine\n[all]\npreset = 'slow'\n\n[[job]]\ninput = 'a.y4m'\noutput = 'o.y4m' # here\n",
        )
        .unwrap();
        let jobs = Jobs::new(folder.path(), broadcast::channel(4).0, |_, _| BTreeMap::new());
        jobs.add(&request("b.y4m")).unwrap();
        jobs.add(&request("c.y4m")).unwrap();
        let twice = jobs.add(&request("c.y4m")).unwrap_err().text;
        assert!(twice.starts_with("c.y4m is in the queue and waiting"), "{twice}");
        let names = || jobs.rows().unwrap().0.into_iter().map(|r| r.name).collect::<Vec<_>>();
        assert_eq!(names(), ["o.y4m", "b.y4m", "c.y4m"]);
        let (rows, running) = jobs.rows().unwrap();
        assert!(!running);
        assert_eq!(
            rows[1].options,
            ["crf=18", "filters=noise=strength='0=0;9=\"1'", "frames=0-9", "preset=slow"]
        );
        jobs.change(Verb::Up, &rows[2].id).unwrap();
        assert_eq!(names(), ["o.y4m", "c.y4m", "b.y4m"]);
        jobs.change(Verb::Remove, &rows[1].id).unwrap();
        assert_eq!(names(), ["o.y4m", "c.y4m"]);
        let text = std::fs::read_to_string(list).unwrap();
        assert!(text.starts_with("# mine\n[all]") && text.contains("# here"), "{text}");
        assert!(jobs.change(Verb::Remove, "nosuch").is_err());
    }

    /// Other tables and comments of the list survive changes of its jobs.
    #[test]
    fn changes_of_a_job_change_no_other_part_of_the_list() {
        let folder = tempfile::tempdir().unwrap();
        let jobs = Jobs::new(folder.path(), broadcast::channel(4).0, |_, _| BTreeMap::new());
        let job = |name: &str, more: &str| {
            format!("# of {name}\n[[job]]\ninput = 'pattern:bars'\noutput = '{name}'{more}\n")
        };
        let (a, b) = (job("a.y4m", "\nfilters = \"\"\"\n[[job]]\n#later x\"\"\""), job("b.y4m", " # here"));
        let all = "\n# of all\n[all]\nthreads = 2\n# end\n";
        let list = format!("# mine\n\n{a}\n{b}{all}");
        let changed = |verbs: &[Verb], at: usize| {
            std::fs::write(jobs.path(), &list).unwrap();
            let id = jobs.rows().unwrap().0[at].id.clone();
            for verb in verbs {
                jobs.change(*verb, &id).unwrap();
            }
            std::fs::read_to_string(jobs.path()).unwrap()
        };
        assert_eq!(changed(&[Verb::Remove], 1), format!("# mine\n\n{a}{all}"));
        assert_eq!(changed(&[Verb::Remove], 0), format!("# mine\n\n{b}{all}"));
        assert_eq!(changed(&[Verb::Up], 1), format!("# mine\n\n{b}\n{a}{all}"));
        assert_eq!(changed(&[Verb::Down, Verb::Up], 0), list);
        assert_eq!(changed(&[Verb::Postpone], 1), format!("# mine\n\n{a}\n{b}postponed = true\n{all}"));
        assert_eq!(changed(&[Verb::Postpone, Verb::Resume], 0), list);
        let text = changed(&[Verb::Remove], 0);
        jobs.add(&request("c.y4m")).unwrap();
        assert!(std::fs::read_to_string(jobs.path()).unwrap().starts_with(text.trim_end()));
    }

    #[test]
    fn a_postponed_job_is_left_out_by_other_programs() {
        let folder = tempfile::tempdir().unwrap();
        let jobs = Jobs::new(folder.path(), broadcast::channel(4).0, |_, _| BTreeMap::new());
        jobs.add(&request("a.y4m")).unwrap();
        jobs.add(&request("b.y4m")).unwrap();
        let before = std::fs::read_to_string(jobs.path()).unwrap();
        let rows = || jobs.rows().unwrap().0;
        let first = rows()[0].id.clone();
        jobs.change(Verb::Postpone, &first).unwrap();
        assert_eq!(rows().iter().map(|r| r.state).collect::<Vec<_>>(), ["postponed", "waiting"]);
        // It still owns its output, and keeps its place.
        assert!(jobs.add(&request("a.y4m")).is_err());
        jobs.change(Verb::Down, &first).unwrap();
        assert_eq!(rows()[1].state, "postponed");
        jobs.change(Verb::Up, &first).unwrap();
        jobs.change(Verb::Resume, &first).unwrap();
        assert_eq!(std::fs::read_to_string(jobs.path()).unwrap(), before);
    }

    #[test]
    fn segments_of_an_earlier_job_are_not_replaced_without_consent() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("b.y4m.segments")).unwrap();
        let jobs = Jobs::new(folder.path(), broadcast::channel(4).0, |_, _| BTreeMap::new());
        let refused = jobs.add(&request("b.y4m")).unwrap_err().text;
        assert!(refused.starts_with("b.y4m.segments exists"), "{refused}");
        let id = jobs.add(&JobRequest { overwrite: true, ..request("b.y4m") }).unwrap();
        // complete segments of the same settings are used
        let list = jobs.parsed(&jobs.text().unwrap()).unwrap();
        assert!(!jobs.queue(&list).states(&list.jobs).unwrap()[0].start_over);
        assert_eq!(jobs.change(Verb::Remove, &id).unwrap().as_deref(), Some("b.y4m.segments"));
    }

    #[test]
    fn jobs_that_can_only_fail_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let jobs = Jobs::new(folder.path(), broadcast::channel(4).0, |_, _| BTreeMap::new());
        std::fs::write(folder.path().join("a.y4m"), b"").unwrap();
        std::os::unix::fs::symlink(jobs.path(), folder.path().join("list.y4m")).unwrap();
        let status = folder.path().join(format!("{LIST}.status"));
        std::fs::write(&status, b"").unwrap();
        std::os::unix::fs::symlink(status, folder.path().join("status.y4m")).unwrap();
        jobs.add(&request("b.y4m")).unwrap();
        for output in ["a.y4m", "./a.y4m", "list.y4m", "status.y4m", LIST, "./b.y4m"] {
            let wanted = JobRequest { input: "a.y4m".into(), overwrite: true, ..request(output) };
            assert!(jobs.add(&wanted).is_err(), "{output}");
        }
        assert_eq!(jobs.rows().unwrap().0.len(), 1);
    }

    #[test]
    fn existing_files_are_not_replaced_without_consent() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("b.y4m"), b"mine").unwrap();
        let jobs = Jobs::new(folder.path(), broadcast::channel(4).0, |_, _| BTreeMap::new());
        assert!(jobs.add(&request("b.y4m")).is_err());
        jobs.add(&JobRequest { overwrite: true, ..request("b.y4m") }).unwrap();
        assert_eq!(jobs.rows().unwrap().0[0].state, "waiting");
    }

    /// A job that waits is changed where it stands: its comments, its name and what else is in the list stay.
    #[test]
    fn a_waiting_job_is_changed_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let jobs = Jobs::new(folder.path(), broadcast::channel(4).0, |_, _| BTreeMap::new());
        let list = "# mine\n[[job]]\ninput = 'pattern:bars'\noutput = 'a.y4m'\n\n# of b\n[[job]]\ninput = 'pattern:ramp' # its own\n\
                    postponed = true\noutput = 'b.y4m' # here\ncodec_opt = 'tune=grain'\n\n[[job]]\ninput = 'pattern:grey'\noutput = 'c.y4m'\n";
        std::fs::write(jobs.path(), list).unwrap();
        let id = |at: usize| jobs.rows().unwrap().0[at].id.clone();
        let change = |at: usize, output: &str, overwrite| {
            jobs.add(&JobRequest { replaces: Some(id(at)), overwrite, ..request(output) }).map_err(|e| e.text)
        };
        change(1, "d.y4m", false).unwrap();
        let text = std::fs::read_to_string(jobs.path()).unwrap();
        assert!(text.contains("# of b\n[[job]]\ninput = 'pattern:ramp' # its own\n"), "{text}");
        assert!(text.contains("output = \"d.y4m\" # here\n") && !text.contains("codec_opt"), "{text}");
        let rows = jobs.rows().unwrap().0;
        assert_eq!(rows.iter().map(|r| &*r.name).collect::<Vec<_>>(), ["a.y4m", "d.y4m", "c.y4m"]);
        assert_eq!((rows[1].state, rows[1].options.len()), ("postponed", 3));
        // Nothing is lost if it cannot be: the name is another job's, the file exists, the job is rendered, or is gone.
        std::fs::write(folder.path().join("e.y4m"), b"mine").unwrap();
        let before = std::fs::read_to_string(jobs.path()).unwrap();
        assert!(change(1, "a.y4m", true).unwrap_err().starts_with("a.y4m is in the queue and waiting"));
        assert!(change(1, "e.y4m", false).unwrap_err().starts_with("e.y4m exists"));
        let all = jobs.parsed(&before).unwrap();
        let lease = jobs.queue(&all).claim(&all.jobs[1]);
        assert!(change(1, "f.y4m", false).unwrap_err().contains("is being rendered"));
        drop(lease);
        let gone = JobRequest { replaces: Some("nosuch".into()), ..request("f.y4m") };
        assert!(jobs.add(&gone).is_err());
        assert_eq!(std::fs::read_to_string(jobs.path()).unwrap(), before);
        // Its own name is no obstacle; what the whole list has is changed there.
        change(1, "d.y4m", false).unwrap();
        std::fs::write(jobs.path(), format!("[all]\npreset = 'slow'\n{before}")).unwrap();
        assert!(change(1, "d.y4m", false).unwrap_err().contains("preset=slow"));
    }
}
