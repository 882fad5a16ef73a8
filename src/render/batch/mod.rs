//! Many renders, one after another or several at a time, by one program or several that share the list.
//!
//! A job keeps its options as words of the command line, which the program parses again for each job: so a list accepts
//! exactly what `render` accepts, with the same messages.

pub mod fingerprint;
pub mod jobs;
pub mod list;
pub mod output_path;
pub mod queue;

use crate::session::{Cancel, Summary};
use fingerprint::Fingerprint;
use grainfield_filters::host::lock;
use jobs::BatchJob;
use queue::{Claim, Lease, Queue, Record, State};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The result of a job.
#[derive(Clone, Debug)]
pub enum JobOutcome {
    /// It succeeded.
    Done(Summary),
    /// It failed for this reason.
    Failed(String, Summary),
    /// It was cancelled; with what is kept.
    Cancelled(String, Summary),
    /// It was not begun, because it is no longer in the list, or was postponed.
    Removed,
}

/// An event of a job in the queue.
#[derive(Clone, Debug)]
pub enum Event {
    /// It had been done before.
    Before,
    /// It had failed before, and is not tried again.
    FailedBefore(String),
    /// Its output exists, but is not its result, and may not be replaced; with the reason.
    Stale(String),
    /// It is left out until it is resumed.
    Postponed,
    /// It is no longer in the list, or was postponed.
    Removed,
    /// Another program runs it.
    Elsewhere,
    /// The status file cannot be written, or the lock cannot be taken.
    Queue(String),
}

/// The result of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// Jobs completed in this run.
    pub done: usize,
    /// Jobs that failed, in this run or before.
    pub failed: usize,
    /// Jobs completed before.
    pub before: usize,
    /// Jobs that other programs run.
    pub elsewhere: usize,
    /// Jobs that were interrupted or not started.
    pub left: usize,
    /// Frames rendered.
    pub frames: u64,
    /// Frames that were complete before.
    pub skipped: u64,
    /// Frames left out because of errors.
    pub left_out: u64,
}

/// A queue with everything needed to run it.
pub struct Batch<'a> {
    /// The status file and locks.
    pub queue: &'a Queue,
    /// The jobs.
    pub jobs: &'a [BatchJob],
    /// The number of jobs at a time.
    pub at_once: usize,
    /// Whether to retry failed jobs.
    pub retry: bool,
    /// Whether outputs that are not the results of their jobs are replaced; otherwise only those of jobs that have
    /// the option `overwrite`.
    pub overwrite: bool,
    /// Set to cancel.
    pub cancel: &'a Cancel,
    /// Runs a job, and adds the files that it reads to the record. Called from several threads.
    pub perform: &'a (dyn Fn(&BatchJob, Start<'_>) -> JobOutcome + Sync),
    /// Called for other events of a job.
    pub on_event: &'a (dyn Fn(&BatchJob, &Event) + Sync),
}

/// How a job begins.
pub struct Start<'a> {
    /// Whether an existing output is replaced as a whole instead of being resumed.
    pub start_over: bool,
    /// The record of its options and inputs, without files that only its options name.
    pub fingerprint: &'a mut Fingerprint,
}

impl Batch<'_> {
    /// Runs all jobs that are neither done nor running elsewhere. An error concerns the status file.
    ///
    /// # Errors
    /// The status file cannot be read.
    pub fn run(&self) -> io::Result<Counts> {
        // failures from before this run; new ones belong to this or another program and are not retried
        let old = self.queue.read()?;
        let counts = Mutex::new(Counts::default());
        let elsewhere = Mutex::new(Vec::new());
        let pass = |indices: &[usize], last: bool| {
            let next = AtomicUsize::new(0);
            let work = || {
                while let Some(&index) = indices.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut add = Counts::default();
                    if self.cancel.is_cancelled() {
                        add.left = 1;
                    } else {
                        self.run_job(index, &old, &mut add);
                    }
                    if add.elsewhere > 0 && !last {
                        lock(&elsewhere).push(index);
                        continue;
                    }
                    if add.elsewhere > 0 {
                        (self.on_event)(&self.jobs[index], &Event::Elsewhere);
                    }
                    lock(&counts).add(&add);
                }
            };
            std::thread::scope(|scope| {
                for _ in 1..self.at_once.min(indices.len()) {
                    scope.spawn(work);
                }
                work();
            });
        };
        pass(&(0..self.jobs.len()).collect::<Vec<_>>(), false);
        let mut retried = std::mem::take(&mut *lock(&elsewhere));
        if !retried.is_empty() {
            // another program may have ended without completing it
            retried.sort_unstable();
            pass(&retried, true);
        }
        Ok(counts.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn run_job(&self, index: usize, old: &BTreeMap<String, Record>, counts: &mut Counts) {
        let job = &self.jobs[index];
        let queue_error = |e: io::Error, counts: &mut Counts| {
            counts.failed += 1;
            let status = self.queue.status().display();
            (self.on_event)(job, &Event::Queue(format!("{status}: {e}")));
        };
        let (lease, job_status) = match self.queue.claim(job) {
            Ok(Claim::Elsewhere) => {
                counts.elsewhere += 1;
                return;
            }
            Ok(Claim::Ours(lease, job_status)) => (lease, *job_status),
            Err(e) => return queue_error(e, counts),
        };
        let reason = || job_status.reason.clone().unwrap_or_default();
        match job_status.state {
            State::Done => {
                counts.before += 1;
                return (self.on_event)(job, &Event::Before);
            }
            State::Postponed => return (self.on_event)(job, &Event::Postponed),
            State::Failed if !(self.retry && old.get(&self.queue.id(job)) == job_status.record.as_ref()) => {
                counts.failed += 1;
                return (self.on_event)(job, &Event::FailedBefore(reason()));
            }
            State::Stale if !self.overwrite && !job.overwrites() => {
                counts.failed += 1;
                return (self.on_event)(job, &Event::Stale(reason()));
            }
            _ => {}
        }
        if let Err(e) = lease.set(State::Running, 0, None, None) {
            return queue_error(e, counts);
        }
        let mut fingerprint = self.queue.scope.fingerprint(job);
        let start = Start { start_over: lease.start_over, fingerprint: &mut fingerprint };
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.perform)(job, start))).unwrap_or_else(|_| {
            JobOutcome::Failed(
                "internal error; please report it with the command that led to it".into(),
                Summary::default(),
            )
        });
        let removed = matches!(outcome, JobOutcome::Removed);
        let fingerprint = || Some(self.queue.scope.rendered(fingerprint, job));
        if let Err(e) = counts.record(&lease, outcome, fingerprint) {
            queue_error(e, counts);
        } else if removed {
            (self.on_event)(job, &Event::Removed);
        }
    }
}

impl Counts {
    /// Records the result of a job in the status file, and counts it.
    fn record(
        &mut self,
        lease: &Lease,
        outcome: JobOutcome,
        fingerprint: impl FnOnce() -> Option<Fingerprint>,
    ) -> io::Result<()> {
        let mut count = |s: &Summary| {
            self.frames += s.frames;
            self.skipped += s.skipped;
            self.left_out += s.failed;
            s.frames + s.skipped
        };
        match outcome {
            JobOutcome::Done(s) => {
                lease.set(State::Done, count(&s), None, fingerprint())?;
                self.done += 1;
            }
            JobOutcome::Failed(why, s) => {
                lease.set(State::Failed, count(&s), Some(why), fingerprint())?;
                self.failed += 1;
            }
            JobOutcome::Cancelled(kept, s) => {
                let frames = count(&s);
                self.left += 1;
                lease.set(State::Waiting, frames, Some(kept), None)?;
            }
            JobOutcome::Removed => lease.set(State::Waiting, 0, None, None)?,
        }
        Ok(())
    }

    fn add(&mut self, o: &Counts) {
        self.done += o.done;
        self.failed += o.failed;
        self.before += o.before;
        self.elsewhere += o.elsewhere;
        self.left += o.left;
        self.frames += o.frames;
        self.skipped += o.skipped;
        self.left_out += o.left_out;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Jobs whose outputs are not files, named by their numbers.
    fn jobs(count: usize) -> Vec<BatchJob> {
        let job =
            |i: usize| BatchJob { name: i.to_string(), ..BatchJob::new("pattern:bars", format!("job {i}")) };
        (0..count).map(job).collect()
    }

    fn run(
        queue: &Queue,
        jobs: &[BatchJob],
        retry: bool,
        perform: &(dyn Fn(usize) -> JobOutcome + Sync),
    ) -> Counts {
        let perform: &(dyn Fn(&BatchJob, Start<'_>) -> JobOutcome + Sync) =
            &|job, _| perform(job.name.parse().unwrap());
        let (cancel, on_event, overwrite) = (&Cancel::new(), &|_: &BatchJob, _: &Event| {}, false);
        Batch { queue, jobs, at_once: 3, retry, overwrite, cancel, perform, on_event }.run().unwrap()
    }

    fn queue(folder: &tempfile::TempDir) -> Queue {
        Queue::new(&folder.path().join("q.toml"), folder.path(), None)
    }

    #[test]
    fn every_job_is_done_once_however_many_share_them() {
        let folder = tempfile::tempdir().unwrap();
        let jobs = jobs(40);
        let times: Vec<AtomicUsize> = (0..40).map(|_| AtomicUsize::new(0)).collect();
        let perform = |i: usize| {
            times[i].fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(2));
            JobOutcome::Done(Summary { frames: 1, ..Summary::default() })
        };
        std::thread::scope(|s| {
            let shares: Vec<_> =
                (0..3).map(|_| s.spawn(|| run(&queue(&folder), &jobs, false, &perform))).collect();
            let done: usize = shares.into_iter().map(|share| share.join().unwrap().done).sum();
            assert_eq!(done, 40);
        });
        assert!(times.iter().all(|t| t.load(Ordering::Relaxed) == 1));
        assert_eq!(run(&queue(&folder), &jobs, true, &perform).before, 40);
    }

    #[test]
    fn a_failure_stops_no_other_job_and_is_retried_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let queue = queue(&folder);
        let jobs = jobs(5);
        let fails = |i: usize| match i {
            1 => JobOutcome::Failed("bad".into(), Summary::default()),
            2 => panic!("a fault of ours"),
            3 => JobOutcome::Cancelled("interrupted".into(), Summary::default()),
            _ => JobOutcome::Done(Summary::default()),
        };
        let counts = run(&queue, &jobs, false, &fails);
        assert_eq!((counts.done, counts.failed, counts.left), (2, 2, 1));
        let read = queue.read().unwrap();
        assert_eq!(read[&queue.id(&jobs[1])].reason.as_deref(), Some("bad"));
        assert_eq!(read[&queue.id(&jobs[3])].state, State::Waiting);
        let good = |_: usize| JobOutcome::Done(Summary::default());
        let counts = run(&queue, &jobs, false, &good);
        assert_eq!((counts.done, counts.failed, counts.before), (1, 2, 2));
        let counts = run(&queue, &jobs, true, &good);
        assert_eq!((counts.done, counts.failed, counts.before), (2, 0, 3));
    }
}
