//! Many renders, one after another or several at a time, by one program or several that share the list.

pub mod jobs;
pub mod list;
pub mod output_path;
pub mod queue;

use crate::session::job::Summary;
use jobs::Job;
use queue::{Claim, Lease, Queue, Record, State};
use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The result of a job.
#[derive(Clone, Debug)]
pub enum End {
    /// It succeeded.
    Done(Summary),
    /// It failed for this reason.
    Failed(String, Summary),
    /// It was cancelled.
    Stopped(Summary),
}

/// An event of a job in the queue.
#[derive(Clone, Debug)]
pub enum Event {
    /// It had been done before.
    Before,
    /// It had failed before, and is not tried again.
    FailedBefore(String),
    /// Another program runs it.
    Elsewhere,
    /// The status file cannot be written, or the lock cannot be taken.
    Queue(String),
}

/// The result of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
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
    /// The jobs, each with its [`queue::id`].
    pub jobs: &'a [(String, Job)],
    /// The number of jobs at a time.
    pub at_once: usize,
    /// Whether to retry failed jobs.
    pub retry: bool,
    /// Set to cancel.
    pub stop: &'a AtomicBool,
    /// Runs a job. Called from several threads.
    pub perform: &'a (dyn Fn(usize, &Job) -> End + Sync),
    /// Called for other events of a job.
    pub tell: &'a (dyn Fn(usize, &Job, &Event) + Sync),
}

impl Batch<'_> {
    /// Runs all jobs that are neither done nor running elsewhere. An error concerns the status file.
    pub fn run(&self) -> io::Result<Tally> {
        // failures from before this run; new ones belong to this or another program and are not retried
        let old = self.queue.read()?;
        let tally = Mutex::new(Tally::default());
        let elsewhere = Mutex::new(Vec::new());
        let pass = |places: &[usize], last: bool| {
            let next = AtomicUsize::new(0);
            let work = || {
                while let Some(&place) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut add = Tally::default();
                    if self.stop.load(Ordering::Relaxed) {
                        add.left = 1;
                    } else {
                        self.one(place, &old, &mut add);
                    }
                    if add.elsewhere > 0 && !last {
                        elsewhere.lock().unwrap_or_else(PoisonError::into_inner).push(place);
                        continue;
                    }
                    if add.elsewhere > 0 {
                        (self.tell)(place, &self.jobs[place].1, &Event::Elsewhere);
                    }
                    tally.lock().unwrap_or_else(PoisonError::into_inner).add(&add);
                }
            };
            std::thread::scope(|scope| {
                for _ in 1..self.at_once.min(places.len()) {
                    scope.spawn(work);
                }
                work();
            });
        };
        pass(&(0..self.jobs.len()).collect::<Vec<_>>(), false);
        let mut again = std::mem::take(&mut *elsewhere.lock().unwrap_or_else(PoisonError::into_inner));
        if !again.is_empty() {
            // another program may have tested the lock only briefly, or may have ended
            std::thread::sleep(Duration::from_millis(100));
            again.sort_unstable();
            pass(&again, true);
        }
        Ok(tally.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn one(&self, place: usize, old: &BTreeMap<String, Record>, tally: &mut Tally) {
        let (id, job) = &self.jobs[place];
        let fault = |e: io::Error, tally: &mut Tally| {
            tally.failed += 1;
            let status = self.queue.status().display();
            (self.tell)(place, job, &Event::Queue(format!("{status}: {e}")));
        };
        let (lease, last) = match self.queue.claim(id, &job.name) {
            Ok(Claim::Elsewhere) => {
                tally.elsewhere += 1;
                return;
            }
            Ok(Claim::Ours(lease, last)) => (lease, last),
            Err(e) => return fault(e, tally),
        };
        match &last {
            Some(r) if r.state == State::Done => {
                tally.before += 1;
                return (self.tell)(place, job, &Event::Before);
            }
            Some(r) if r.state == State::Failed && !(self.retry && old.get(id) == Some(&**r)) => {
                tally.failed += 1;
                let reason = r.reason.clone().unwrap_or_default();
                return (self.tell)(place, job, &Event::FailedBefore(reason));
            }
            _ => {}
        }
        if let Err(e) = lease.set(State::Running, 0, None) {
            return fault(e, tally);
        }
        let end = catch_unwind(AssertUnwindSafe(|| (self.perform)(place, job))).unwrap_or_else(|_| {
            End::Failed(
                "internal error; please report it with the command that led to it".into(),
                Summary::default(),
            )
        });
        if let Err(e) = ended(&lease, end, tally) {
            fault(e, tally);
        }
    }
}

/// Records the result of a job.
fn ended(lease: &Lease, end: End, tally: &mut Tally) -> io::Result<()> {
    let mut count = |s: &Summary| {
        tally.frames += s.frames;
        tally.skipped += s.skipped;
        tally.left_out += s.failed;
        s.frames + s.skipped
    };
    match end {
        End::Done(s) => {
            let frames = count(&s);
            lease.set(State::Done, frames, None)?;
            tally.done += 1;
        }
        End::Failed(why, s) => {
            let frames = count(&s);
            lease.set(State::Failed, frames, Some(why))?;
            tally.failed += 1;
        }
        End::Stopped(s) => {
            let frames = count(&s);
            tally.left += 1;
            lease.set(State::Waiting, frames, Some("interrupted".into()))?;
        }
    }
    Ok(())
}

impl Tally {
    fn add(&mut self, o: &Tally) {
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

    fn jobs(count: usize) -> Vec<(String, Job)> {
        let job = |i: usize| {
            let name = format!("job {i}");
            let (input, output) = (name.clone().into(), name.clone().into());
            Job { name, input, output, options: vec![], lines: vec![], line: 0 }
        };
        (0..count).map(job).map(|job| (queue::id(&job, None), job)).collect()
    }

    fn run(
        queue: &Queue,
        jobs: &[(String, Job)],
        retry: bool,
        perform: &(dyn Fn(usize, &Job) -> End + Sync),
    ) -> Tally {
        let stop = AtomicBool::new(false);
        Batch { queue, jobs, at_once: 3, retry, stop: &stop, perform, tell: &|_, _, _| {} }.run().unwrap()
    }

    #[test]
    fn every_job_is_done_once_however_many_share_them() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("q.toml");
        let jobs = jobs(40);
        let times: Vec<AtomicUsize> = (0..40).map(|_| AtomicUsize::new(0)).collect();
        let perform = |i: usize, _: &Job| {
            times[i].fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(2));
            End::Done(Summary { frames: 1, ..Summary::default() })
        };
        std::thread::scope(|s| {
            let shares: Vec<_> =
                (0..3).map(|_| s.spawn(|| run(&Queue::of(&list), &jobs, false, &perform))).collect();
            let done: usize = shares.into_iter().map(|share| share.join().unwrap().done).sum();
            assert_eq!(done, 40);
        });
        assert!(times.iter().all(|t| t.load(Ordering::Relaxed) == 1));
        assert_eq!(run(&Queue::of(&list), &jobs, true, &perform).before, 40);
    }

    #[test]
    fn a_failure_stops_no_other_job_and_is_retried_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let queue = Queue::of(&folder.path().join("q.toml"));
        let jobs = jobs(5);
        let fails = |i: usize, _: &Job| match i {
            1 => End::Failed("bad".into(), Summary::default()),
            2 => panic!("a fault of ours"),
            3 => End::Stopped(Summary::default()),
            _ => End::Done(Summary::default()),
        };
        let tally = run(&queue, &jobs, false, &fails);
        assert_eq!((tally.done, tally.failed, tally.left), (2, 2, 1));
        let read = queue.read().unwrap();
        assert_eq!(read[&jobs[1].0].reason.as_deref(), Some("bad"));
        assert_eq!(read[&jobs[3].0].state, State::Waiting);
        let good = |_: usize, _: &Job| End::Done(Summary::default());
        let tally = run(&queue, &jobs, false, &good);
        assert_eq!((tally.done, tally.failed, tally.before), (1, 2, 2));
        let tally = run(&queue, &jobs, true, &good);
        assert_eq!((tally.done, tally.failed, tally.before), (2, 0, 3));
    }
}
