//! Renders, through the files of `grainfield batch`: a list of jobs in the folder in which the studio was started,
//! its status and its locks. Other programs running `grainfield batch` with the same list share the work.

use super::fault::Fault;
use super::recipe::quoted;
use crate::batch::jobs::{Jobs as List, JobsError};
use crate::batch::queue::{Claim, Lease, Queue, State, id};
use crate::disk::Output;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// The name of the list.
pub(super) const LIST: &str = "grainfield-jobs.toml";
/// The largest number of jobs that the page may add.
const MAX_JOBS: usize = 1000;
/// Options that the page may set. Others read or write files, or open protocols.
const OPTIONS: [&str; 7] = ["audio", "bitrate", "codec", "codec-opt", "crf", "pix-fmt", "preset"];
/// Options of encoders that the page may set. Others write files, too: x264 has `stats`.
const ENCODER: [&str; 4] = ["profile=4444", "profile=dnxhr_hqx", "profile=hq", "tune=grain"];
/// The prefix of the lines of a postponed job: for other programs they are comments.
const LATER: &str = "#later ";
/// The largest list that is read, in bytes.
const MAX_TEXT: u64 = 4 << 20;

/// A request for a render.
#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    pub(super) input: String,
    pub(super) output: String,
    /// The filters, as a chain.
    pub(super) filters: String,
    /// `0-99`; all frames if it is missing.
    pub(super) frames: Option<String>,
    /// Further options of `render`, by their long names.
    #[serde(default)]
    pub(super) options: BTreeMap<String, String>,
    /// Whether to replace an existing output.
    #[serde(default)]
    pub(super) overwrite: bool,
}

/// A job in the page.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) name: String,
    input: String,
    options: Vec<String>,
    pub(super) state: &'static str,
    frames: u64,
    reason: Option<String>,
}

/// The list, and the program that runs it.
pub(super) struct Jobs {
    folder: PathBuf,
    /// One change at a time.
    changing: Mutex<()>,
    child: Arc<Mutex<Option<Child>>>,
    /// Jobs that were postponed while the studio runs: they are locked, so that programs that have read the
    /// list before do not run them.
    postponed: Mutex<BTreeMap<String, Box<Lease>>>,
    news: broadcast::Sender<String>,
}

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Jobs {
    pub(super) fn new(folder: &Path, news: broadcast::Sender<String>) -> Jobs {
        Jobs {
            folder: folder.into(),
            changing: Mutex::default(),
            child: Arc::default(),
            postponed: Mutex::default(),
            news,
        }
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
        let written = Output::create(path.as_os_str(), true).and_then(|mut out| {
            out.put(text.as_bytes())?;
            out.finish()
        });
        written.map_err(Fault::new)?;
        self.tell();
        Ok(())
    }

    /// Notifies pages of a change.
    fn tell(&self) {
        let _ = self.news.send(r#"{"type":"jobs"}"#.into());
    }

    fn parsed(&self, text: &str) -> Result<List, Fault> {
        match List::parse(&text.replace(LATER, ""), &self.folder) {
            Err(JobsError::Empty) => Ok(List::default()),
            parsed => parsed.map_err(|e| Fault::new(format!("{LIST}: {e}"))),
        }
    }

    /// All jobs, in order, and whether this studio is running them.
    pub(super) fn rows(&self) -> Result<(Vec<Row>, bool), Fault> {
        let text = self.text()?;
        let list = self.parsed(&text)?;
        let later: Vec<bool> = blocks(&text).1.iter().map(|block| block.starts_with(LATER)).collect();
        let queue = Queue::of(&self.path());
        let known = queue.read().map_err(|e| Fault::new(format!("{}: {e}", queue.status().display())))?;
        let rows = list.jobs.iter().enumerate().map(|(i, job)| {
            let id = id(job, None);
            let record = known.get(&id);
            let state = match record.map(|r| r.state) {
                _ if later.get(i) == Some(&true) => "postponed",
                _ if queue.is_held(&id) => "running",
                // Its program has ended.
                None | Some(State::Waiting | State::Running) => "waiting",
                Some(State::Done) => "done",
                Some(State::Failed) => "failed",
            };
            Row {
                name: job.name.clone(),
                input: job.input.to_string_lossy().into_owned(),
                options: job.options.iter().map(|o| o.to_string_lossy().into_owned()).collect(),
                state,
                frames: record.map_or(0, |r| r.frames),
                reason: record.and_then(|r| r.reason.clone()),
                id,
            }
        });
        Ok((rows.collect(), lock(&self.child).is_some()))
    }

    /// Adds a job at the end.
    pub(super) fn add(&self, asked: &Asked) -> Result<(), Fault> {
        let _one = lock(&self.changing);
        let mut text = self.text()?;
        if self.parsed(&text)?.jobs.len() >= MAX_JOBS {
            return Err(Fault::new(format!("{LIST} has {MAX_JOBS} jobs: remove some")));
        }
        if !asked.overwrite && self.folder.join(&asked.output).exists() {
            return Err(Fault::new(format!(
                "{} exists: choose another name, or allow it to be replaced",
                asked.output
            )));
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text += "\n";
        }
        if !text.is_empty() {
            text += "\n";
        }
        text += "[[job]]\n";
        let mut line = |key: &str, value: &str| text += &format!("{key} = {value}\n");
        line("input", &quoted(&asked.input));
        line("output", &quoted(&asked.output));
        if !asked.filters.is_empty() {
            line("filters", &quoted(&asked.filters));
        }
        if let Some(frames) = &asked.frames {
            line("frames", &quoted(frames));
        }
        for (key, value) in &asked.options {
            if !OPTIONS.contains(&key.as_str()) {
                return Err(Fault::new(format!("{key}: not an option of a render")));
            }
            if key == "codec-opt" && !ENCODER.contains(&value.as_str()) {
                return Err(Fault::new(format!("{value}: not an encoder's option that a page may set")));
            }
            line(key, &quoted(value));
        }
        if asked.overwrite {
            line("overwrite", "true");
        }
        self.parsed(&text)?;
        self.save(&text)
    }

    /// Removes a job, or moves it by one place.
    pub(super) fn change(&self, verb: &str, id: &str) -> Result<(), Fault> {
        let _one = lock(&self.changing);
        let text = self.text()?;
        let (rows, _) = self.rows()?;
        let (head, mut blocks) = blocks(&text);
        if blocks.len() != rows.len() {
            return Err(Fault::new(format!(
                "{LIST} is not laid out as the studio writes it: edit it in a text editor"
            )));
        }
        let Some(at) = rows.iter().position(|row| row.id == id) else {
            return Err(Fault::new("this job no longer exists"));
        };
        let running = rows[at].state == "running";
        let mut other = String::new();
        match verb {
            "postpone" if running => return Err(Fault::new("it is being done: stop it first")),
            "postpone" if !blocks[at].starts_with(LATER) => {
                let name = &rows[at].name;
                // On disks without locks no other program is at work.
                if let Ok(Claim::Ours(lease, _)) = Queue::of(&self.path()).claim(id, name) {
                    lock(&self.postponed).insert(id.to_owned(), lease);
                }
                for line in blocks[at].trim_end().lines() {
                    other += &format!("{}{line}\n", if line.is_empty() { "" } else { LATER });
                }
                blocks[at] = &other;
            }
            "resume" => {
                lock(&self.postponed).remove(id);
                other = blocks[at].replace(LATER, "");
                blocks[at] = &other;
            }
            "remove" if rows[at].state == "running" => {
                return Err(Fault::new("it is running: stop it first"));
            }
            "remove" => {
                lock(&self.postponed).remove(id);
                blocks.remove(at);
            }
            "up" if at > 0 => blocks.swap(at, at - 1),
            "down" if at + 1 < blocks.len() => blocks.swap(at, at + 1),
            _ => {}
        }
        let mut all = head.to_owned();
        for block in blocks {
            all += block.trim_end();
            all += "\n\n";
        }
        self.save(&(all.trim_end().to_owned() + "\n"))
    }

    /// Starts running the list; with `retry` also failed jobs.
    pub(super) fn start(&self, retry: bool) -> Result<(), Fault> {
        let mut child = lock(&self.child);
        if child.is_some() {
            return Ok(());
        }
        let program = std::env::current_exe().map_err(Fault::new)?;
        let mut command = Command::new(program);
        command.arg("batch").arg(self.path()).args(["--progress", "json"]);
        if retry {
            command.arg("--retry");
        }
        let mut started = command
            .current_dir(&self.folder)
            .envs(crate::disk::reach::inherited())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(Fault::new)?;
        let lines = started.stderr.take();
        *child = Some(started);
        drop(child);
        self.tell();
        let (child, news) = (Arc::clone(&self.child), self.news.clone());
        std::thread::spawn(move || {
            for line in lines.into_iter().flat_map(|pipe| BufReader::new(pipe).lines()).map_while(Result::ok)
            {
                let told: serde_json::Value = serde_json::from_str(&line)
                    .unwrap_or_else(|_| serde_json::json!({ "event": "warning", "text": line }));
                let _ = news.send(serde_json::json!({ "type": "job", "told": told }).to_string());
            }
            let ended = lock(&child).take();
            if let Some(mut ended) = ended {
                let _ = ended.wait();
            }
            let _ = news.send(r#"{"type":"jobs"}"#.into());
        });
        Ok(())
    }

    /// Stops the program that runs the list; completed parts are kept.
    pub(super) fn stop(&self) {
        if let Some(child) = &*lock(&self.child)
            && let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        }
    }
}

/// The text before the first job, and that of each job.
fn blocks(text: &str) -> (&str, Vec<&str>) {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.strip_prefix(LATER).unwrap_or(line).trim() == "[[job]]" {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let head = &text[..starts.first().copied().unwrap_or(text.len())];
    (head, starts.iter().zip(ends).map(|(&start, end)| &text[start..end]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(output: &str) -> Asked {
        let options = BTreeMap::from([("crf".to_owned(), "18".to_owned())]);
        let (input, filters) = ("pattern:bars".into(), "noise=strength='0=0;9=\"1'".into());
        Asked { input, output: output.into(), filters, frames: Some("0-9".into()), options, overwrite: false }
    }

    #[test]
    fn jobs_come_go_and_change_places() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join(LIST);
        std::fs::write(
            &list,
            "# mine\n[all]\npreset = 'slow'\n\n[[job]]\ninput = 'a.mkv'\noutput = 'o.mkv' # here\n",
        )
        .unwrap();
        let jobs = Jobs::new(folder.path(), broadcast::channel(4).0);
        jobs.add(&asked("b.mkv")).unwrap();
        jobs.add(&asked("c.mkv")).unwrap();
        assert!(jobs.add(&asked("c.mkv")).is_err(), "twice the same output");
        let names = || jobs.rows().unwrap().0.into_iter().map(|r| r.name).collect::<Vec<_>>();
        assert_eq!(names(), ["o.mkv", "b.mkv", "c.mkv"]);
        let (rows, running) = jobs.rows().unwrap();
        assert!(!running);
        assert_eq!(
            rows[1].options,
            ["--crf=18", "--filters=noise=strength='0=0;9=\"1'", "--frames=0-9", "--preset=slow"]
        );
        jobs.change("up", &rows[2].id).unwrap();
        assert_eq!(names(), ["o.mkv", "c.mkv", "b.mkv"]);
        jobs.change("remove", &rows[1].id).unwrap();
        assert_eq!(names(), ["o.mkv", "c.mkv"]);
        let text = std::fs::read_to_string(list).unwrap();
        assert!(text.starts_with("# mine\n[all]") && text.contains("# here"), "{text}");
        assert!(jobs.change("remove", "nosuch").is_err());
    }

    #[test]
    fn a_postponed_job_is_a_comment_to_other_programs_and_locked() {
        let folder = tempfile::tempdir().unwrap();
        let jobs = Jobs::new(folder.path(), broadcast::channel(4).0);
        jobs.add(&asked("a.mkv")).unwrap();
        jobs.add(&asked("b.mkv")).unwrap();
        let before = std::fs::read_to_string(jobs.path()).unwrap();
        let rows = || jobs.rows().unwrap().0;
        let first = rows()[0].id.clone();
        jobs.change("postpone", &first).unwrap();
        assert_eq!(rows().iter().map(|r| r.state).collect::<Vec<_>>(), ["postponed", "waiting"]);
        // Programs that read the list now do not see it; those that have read it before find it locked.
        let text = std::fs::read_to_string(jobs.path()).unwrap();
        let seen = List::parse(&text, folder.path()).unwrap();
        assert_eq!(seen.jobs.iter().map(|j| j.name.as_str()).collect::<Vec<_>>(), ["b.mkv"]);
        let claim = || matches!(Queue::of(&jobs.path()).claim(&first, "a.mkv"), Ok(Claim::Ours(..)));
        assert!(!claim());
        // It still owns its output, and keeps its place.
        assert!(jobs.add(&asked("a.mkv")).is_err());
        jobs.change("down", &first).unwrap();
        assert_eq!(rows()[1].state, "postponed");
        jobs.change("up", &first).unwrap();
        jobs.change("resume", &first).unwrap();
        assert_eq!(std::fs::read_to_string(jobs.path()).unwrap(), before);
        assert!(claim());
    }

    #[test]
    fn existing_files_are_not_replaced_without_consent() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("b.mkv"), b"mine").unwrap();
        let jobs = Jobs::new(folder.path(), broadcast::channel(4).0);
        assert!(jobs.add(&asked("b.mkv")).is_err());
        jobs.add(&Asked { overwrite: true, ..asked("b.mkv") }).unwrap();
        assert_eq!(jobs.rows().unwrap().0[0].state, "waiting");
    }
}
