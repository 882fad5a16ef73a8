//! The programs that render the jobs.

use super::{JobRow, Jobs, Program};
use crate::fault::Fault;
use grainfield_filters::host::lock;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{ChildStderr, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
    pub(crate) fn start(self: &Arc<Jobs>, retry: bool) {
        let _one = lock(&self.changing);
        let mut current = lock(&self.run);
        if current.is_some() {
            return;
        }
        let run = Arc::clone(current.insert(Arc::new(AtomicBool::new(true))));
        let jobs = Arc::clone(self);
        std::thread::spawn(move || {
            let mut begun = BTreeSet::new();
            while let Some((pid, lines)) = jobs.next(&run, retry, &mut begun) {
                jobs.follow(pid, lines);
            }
            jobs.notify();
        });
    }

    /// Starts the next job that waits and that this run has not started before.
    fn next(
        &self,
        run: &AtomicBool,
        retry: bool,
        begun: &mut BTreeSet<String>,
    ) -> Option<(u32, Option<ChildStderr>)> {
        let _one = lock(&self.changing);
        if !run.load(Ordering::SeqCst) {
            return None;
        }
        let next = self.rows().and_then(|(rows, _)| {
            let mut rows = rows.into_iter();
            let next = rows.find(|row| {
                (row.state == "waiting" || retry && row.state == "failed")
                    && !self.is_live(&row.id)
                    && begun.insert(row.id.clone())
            });
            let Some(row) = next else { return Ok(None) };
            self.spawn(&row, if retry { &["--retry"] } else { &[] }).map(Some)
        });
        match next {
            Ok(Some(started)) => return Some(started),
            Ok(None) => {}
            Err(fault) => self.event(&serde_json::json!({ "event": "warning", "text": fault.text })),
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
        lock(&self.children).push(Program { child, id: row.id.clone(), live: true });
        self.notify();
        Ok(started)
    }

    /// Tells pages what a job's program says, until it ends.
    fn follow(&self, pid: u32, lines: Option<ChildStderr>) {
        for line in lines.into_iter().flat_map(|pipe| BufReader::new(pipe).lines()).map_while(Result::ok) {
            let event: serde_json::Value = serde_json::from_str(&line)
                .unwrap_or_else(|_| serde_json::json!({ "event": "warning", "text": line }));
            self.event(&event);
        }
        let mut children = lock(&self.children);
        let ended = children.iter().position(|program| program.child.id() == pid);
        let ended = ended.map(|at| children.swap_remove(at));
        drop(children);
        // its process id is its own until now
        if let Some(mut ended) = ended {
            let _ = ended.child.wait();
        }
        self.notify();
    }

    pub(super) fn event(&self, event: &serde_json::Value) {
        let _ = self.events.send(serde_json::json!({ "type": "job", "told": event }).to_string());
    }

    /// Ends the programs of this studio, or that of one job: they complete what they have finished. Returns whether
    /// there is any.
    pub(super) fn end(&self, id: Option<&str>) -> bool {
        let mut children = lock(&self.children);
        let mut any = false;
        for program in children.iter_mut().filter(|program| id.is_none_or(|id| program.id == id)) {
            (program.live, any) = (false, true);
            if let Some(pid) = i32::try_from(program.child.id()).ok().and_then(rustix::process::Pid::from_raw)
            {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            }
        }
        any
    }

    /// Ends all that this studio runs.
    pub(crate) fn stop(&self) {
        let _one = lock(&self.changing);
        if let Some(run) = lock(&self.run).take() {
            run.store(false, Ordering::SeqCst);
        }
        self.end(None);
    }
}
