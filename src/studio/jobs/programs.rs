//! The programs that render the jobs.

use super::{JobRow, Jobs, Program, Run};
use crate::fault::Fault;
use grainfield_filters::host::lock;
use grainfield_io::disk::end;
use grainfield_render::batch::fingerprint::resolve;
use grainfield_render::batch::queue::{Claim, Record, State};
use std::io::{BufRead, BufReader};
use std::process::{ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often it is looked whether the programs have ended.
const TICK: Duration = Duration::from_millis(50);

fn is_by(record: &Record, pid: u32) -> bool {
    record.by.ends_with(&format!(":{pid}"))
}

impl Jobs {
    /// Renders one job now, beside those that are running. The user has seen its state: a failure is tried again, and
    /// an output that is out of date is replaced.
    pub(crate) fn start_one(self: &Arc<Jobs>, id: &str) -> Result<(), Fault> {
        let _one = lock(&self.changing);
        let Some(row) = self.rows()?.0.into_iter().find(|row| row.id == id) else {
            return Err(Fault::new("this job no longer exists"));
        };
        if self.is_live(id) && matches!(row.state, "waiting" | "running") {
            return Ok(()); // by `start`
        }
        if row.state == "running" {
            let problem = format!("{} is still being stopped, or runs in another process", row.name);
            return Err(Fault::new(problem));
        }
        let (pid, lines) = self.spawn(&row, if row.state == "stale" { &["-y"] } else { &["--retry"] })?;
        let jobs = Arc::clone(self);
        std::thread::spawn(move || jobs.follow(pid, lines));
        Ok(())
    }

    pub(super) fn is_live(&self, id: &str) -> bool {
        lock(&self.children).iter().any(|program| program.live && program.id == id)
    }

    /// Renders the waiting jobs one after another, also those that are added meanwhile; with `retry` also failed ones.
    /// What runs comes first; a job that was cancelled meanwhile is rendered again after another call.
    pub(crate) fn start(self: &Arc<Jobs>, retry: bool) {
        let _one = lock(&self.changing);
        let mut current = lock(&self.run);
        if let Some(run) = &*current {
            return lock(&run.begun).clear();
        }
        let run = Run { live: AtomicBool::new(true), begun: Mutex::default() };
        let run = Arc::clone(current.insert(Arc::new(run)));
        let jobs = Arc::clone(self);
        std::thread::spawn(move || {
            while run.live.load(Ordering::SeqCst) && !lock(&jobs.children).is_empty() {
                std::thread::sleep(TICK);
            }
            while let Some((pid, lines)) = jobs.next(&run, retry) {
                jobs.follow(pid, lines);
            }
            jobs.notify();
        });
    }

    /// Starts the next job that waits and that this run has not started before.
    fn next(&self, run: &Run, retry: bool) -> Option<(u32, Option<ChildStderr>)> {
        let _one = lock(&self.changing);
        if !run.live.load(Ordering::SeqCst) {
            return None;
        }
        let next = self.rows().and_then(|(rows, _)| {
            let mut rows = rows.into_iter();
            let next = rows.find(|row| {
                (row.state == "waiting" || retry && row.state == "failed")
                    && !self.is_live(&row.id)
                    && lock(&run.begun).insert(row.id.clone())
            });
            let Some(row) = next else { return Ok(None) };
            self.spawn(&row, if retry { &["--retry"] } else { &[] }).map(Some)
        });
        match next {
            Ok(Some(started)) => return Some(started),
            Ok(None) => {}
            Err(fault) => self.event(&serde_json::json!({ "event": "fault", "text": fault.text })),
        }
        lock(&self.run).take();
        None
    }

    /// Starts the program that renders a job; returns its process id and messages.
    fn spawn(&self, row: &JobRow, options: &[&str]) -> Result<(u32, Option<ChildStderr>), Fault> {
        let program = std::env::current_exe().map_err(Fault::new)?;
        let mut command = Command::new(program);
        command.arg("batch").arg(self.path()).args(["--progress", "json"]).args(options);
        let mut child = command
            .arg(format!("--job={}", row.name))
            .current_dir(&self.folder)
            .envs(grainfield_io::disk::reach::inherited())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(Fault::new)?;
        let started = (child.id(), child.stderr.take());
        lock(&self.children).push(Program { child, id: row.id.clone(), live: true, cancelled: false });
        self.notify();
        Ok(started)
    }

    /// Tells pages what a job's program says, until it ends.
    fn follow(&self, pid: u32, lines: Option<ChildStderr>) {
        let mut last = String::new();
        for line in lines.into_iter().flat_map(|pipe| BufReader::new(pipe).lines()).map_while(Result::ok) {
            let event: serde_json::Value = serde_json::from_str(&line).unwrap_or_else(|_| {
                last.clone_from(&line);
                serde_json::json!({ "event": "warning", "text": line })
            });
            self.event(&event);
        }
        // no other program of the job is started meanwhile
        let _one = lock(&self.changing);
        let mut children = lock(&self.children);
        let ended = children.iter().position(|program| program.child.id() == pid);
        let ended = ended.map(|at| children.swap_remove(at));
        drop(children);
        // its process id is its own until now
        if let Some(mut ended) = ended {
            let failed = ended.child.wait().is_ok_and(|status| status.code().is_some_and(|code| code != 0));
            let recorded = match failed {
                true if ended.cancelled => self.cancelled(&ended.id, pid),
                true if ended.live => self.unable(&ended.id, pid, &last),
                _ => Ok(()),
            };
            if let Err(fault) = recorded {
                self.event(&serde_json::json!({ "event": "fault", "text": fault.text }));
            }
        }
        self.notify();
    }

    /// Records that the user, and nothing else, has interrupted a job.
    fn cancelled(&self, id: &str, pid: u32) -> Result<(), Fault> {
        let list = self.parsed(&self.text()?)?;
        let queue = self.queue(&list);
        let Some(job) = list.jobs.iter().find(|job| queue.id(job) == id) else { return Ok(()) };
        let Claim::Ours(lease, now) = queue.claim(job).map_err(Fault::new)? else { return Ok(()) };
        let Some(record) = now.record.filter(|record| is_by(record, pid)) else { return Ok(()) };
        let Some(kept) = record.reason.as_deref().and_then(|reason| reason.strip_prefix("interrupted"))
        else {
            return Ok(());
        };
        let reason = Some(format!("cancelled{kept}"));
        lease.set(record.state, record.frames, reason, record.fingerprint).map_err(Fault::new)
    }

    /// Records that a job failed whose program could not begin it: its entry in the list cannot be read.
    fn unable(&self, id: &str, pid: u32, reason: &str) -> Result<(), Fault> {
        let mut list = self.parsed(&self.text()?)?;
        let queue = self.queue(&list);
        resolve(&mut list.jobs, &queue.scope, self.settings);
        let Some(job) = list.jobs.iter().find(|job| queue.id(job) == id) else { return Ok(()) };
        let Claim::Ours(lease, now) = queue.claim(job).map_err(Fault::new)? else { return Ok(()) };
        if now.state != State::Waiting || now.record.is_some_and(|record| is_by(&record, pid)) {
            return Ok(());
        }
        let fingerprint = queue.scope.rendered(queue.scope.fingerprint(job), job);
        let reason = reason.strip_prefix("error: ").unwrap_or(reason);
        lease.set(State::Failed, 0, Some(reason.into()), Some(fingerprint)).map_err(Fault::new)
    }

    pub(super) fn event(&self, event: &serde_json::Value) {
        let _ = self.events.send(serde_json::json!({ "type": "job", "told": event }).to_string());
    }

    /// Ends the programs of this studio, or that of one job: they complete what they have finished. `cancelled` says whether
    /// the user wants that. Returns whether there is any.
    pub(super) fn end(&self, id: Option<&str>, cancelled: bool) -> bool {
        let mut children = lock(&self.children);
        let mut any = false;
        for program in children.iter_mut().filter(|program| id.is_none_or(|id| program.id == id)) {
            (program.live, program.cancelled, any) = (false, cancelled, true);
            let _ = end(&mut program.child); // it may have ended by itself
        }
        any
    }

    /// Ends all that this studio runs; `cancelled` says whether the user has stopped the renders, not the studio.
    pub(crate) fn stop(&self, cancelled: bool) {
        let _one = lock(&self.changing);
        if let Some(run) = lock(&self.run).take() {
            run.live.store(false, Ordering::SeqCst);
        }
        self.end(None, cancelled);
    }
}
