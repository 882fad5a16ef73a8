//! The states of jobs and the programs that run them: a status file and locks beside the list.
//!
//! The status file `LIST.status` has one JSON object per line, of which the last one about a job applies; lines are
//! only appended. Every job has a lock file in `LIST.locks`; the program that runs the job holds its lock, and only
//! then writes its status. Another lock protects appending. So programs with the same list share its jobs, and no job
//! is run twice. Claiming a job and looking for jobs that are claimed exclude each other by that other lock, so that a
//! look never makes a claim fail. A look uses the same locks as claims, and sees the processes of all machines that a
//! claim sees; a process id would only mean something on its own machine.
//!
//! The system releases a lock when its program ends in any way: a job in state `running` without a lock was
//! interrupted, and is run again. A network disk must support `flock` between machines, like NFS 4 (whose server
//! releases the locks of a dead client after its lease, usually 90 seconds), NFS 3 with its lock daemon, SMB, Lustre
//! with `-o flock`, and CephFS. If locks are not supported, that is an error; if they are only local (NFS mounted with
//! `local_lock`, Lustre with `localflock`), two machines may run the same job, which does no damage, since only
//! complete files get their final names.

use super::fingerprint::{Change, Fingerprint, Scope};
use super::jobs::{BatchJob, output_name};
use grainfield_io::disk::lines;
use grainfield_io::journal::resume::XxHash64;
use grainfield_io::journal::shard::Shard;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::hash::Hasher;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The beginning of a status file.
const HEAD: &[u8] = b"{\"id\":\"";
/// The largest size of a status file in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// The state of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It was not started, or was interrupted.
    Waiting,
    /// A program runs it.
    Running,
    /// It is complete.
    Done,
    /// It failed.
    Failed,
    /// It was completed, but with other settings or from other files, or its output has changed. Never recorded.
    Stale,
    /// It is left out until it is resumed. Never recorded.
    Postponed,
}

impl State {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Running => "running",
            State::Done => "done",
            State::Failed => "failed",
            State::Stale => "stale",
            State::Postponed => "postponed",
        }
    }
}

/// The state of a job by its last record and the files on the disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobStatus {
    /// The state.
    pub state: State,
    /// The reason for it, if there is one.
    pub reason: Option<String>,
    /// The last record.
    pub record: Option<Record>,
    /// Whether the output is that of an earlier run and is to be replaced as a whole: it is not resumed.
    pub start_over: bool,
}

/// A line of the status file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The identity of the job: see [`Queue::id`].
    pub id: String,
    /// The name of the job.
    pub job: String,
    /// Its state.
    pub state: State,
    /// The number of frames rendered.
    #[serde(default)]
    pub frames: u64,
    /// The reason for a failure or interruption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The machine and the process id.
    pub by: String,
    /// Seconds since 1970.
    pub time: u64,
    /// If it has ended: its options, inputs and output.
    #[serde(default, alias = "made", skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    /// If it has not been completed: whether an existing output is that of an earlier run, to be replaced as a whole.
    #[serde(default, rename = "anew")]
    pub start_over: bool,
}

/// The status file and the locks of a list.
#[derive(Clone, Debug)]
pub struct Queue {
    status: PathBuf,
    locks: PathBuf,
    by: String,
    /// The folders and the shard with which jobs are compared.
    pub scope: Scope,
}

/// The result of claiming a job.
#[derive(Debug)]
pub enum Claim {
    /// Another program runs it.
    Elsewhere,
    /// This program has locked it until the value is dropped; with its state.
    Ours(Box<Lease>, Box<JobStatus>),
}

/// A job that this program has locked.
#[derive(Debug)]
pub struct Lease {
    queue: Queue,
    id: String,
    job: String,
    /// Whether an existing output is that of an earlier run, to be replaced as a whole.
    pub start_over: bool,
    /// Locked while it is open.
    _lock: File,
}

fn beside(list: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(list);
    name.push(ending);
    name.into()
}

impl Queue {
    /// The queue of a list (which need not exist under that name). Creates no files yet.
    pub fn new(list: &Path, outputs: &Path, shard: Option<Shard>) -> Queue {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let by = format!("{}:{}", host.trim(), std::process::id());
        let folder = list.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_path_buf();
        let scope = Scope { folder, outputs: outputs.to_path_buf(), shard };
        Queue { status: beside(list, ".status"), locks: beside(list, ".locks"), by, scope }
    }

    /// The identity of a job: its output, of which a list has one, and the shard, as 16 hexadecimal digits. Options are
    /// no part of it: a job keeps its identity when they change, and two processes never write one output.
    pub fn id(&self, job: &BatchJob) -> String {
        let mut sum = XxHash64::default();
        sum.write(output_name(&self.scope.outputs, &job.output).as_os_str().as_encoded_bytes());
        sum.write(self.scope.shard.map_or(String::new(), |shard| format!(" {shard}")).as_bytes());
        format!("{:016x}", sum.finish())
    }

    /// The status file.
    pub fn status(&self) -> &Path {
        &self.status
    }

    /// The files that are written for jobs: the status file and the locks.
    pub fn writes(&self, jobs: &[BatchJob]) -> Vec<PathBuf> {
        let lock = |name: &str| self.locks.join(format!("{name}.lock"));
        let locks = jobs.iter().map(|job| lock(&self.id(job)));
        [self.status.clone(), lock("status")].into_iter().chain(locks).collect()
    }

    /// The last record of each job, by [`id`](Queue::id). Lines that a crash has cut off are ignored.
    ///
    /// # Errors
    /// The file cannot be read, or is not a status file.
    pub fn read(&self) -> io::Result<BTreeMap<String, Record>> {
        let Some(bytes) = lines::read(&self.status, MAX_BYTES)? else { return Ok(BTreeMap::new()) };
        if !bytes.starts_with(HEAD) && !HEAD.starts_with(&bytes) {
            let problem = "it exists and is not the status file of a batch: rename it";
            return Err(io::Error::new(ErrorKind::InvalidData, problem));
        }
        Ok(parse(&bytes))
    }

    /// The states of jobs.
    ///
    /// # Errors
    /// As [`read`](Queue::read).
    pub fn states(&self, jobs: &[BatchJob]) -> io::Result<Vec<JobStatus>> {
        // no job is claimed before this is released; without the file, none has ever been
        let look = lines::open(&self.locks.join("status.lock"), OpenOptions::new().read(true)).ok();
        let look = look.filter(|lock| lock.lock_shared().is_ok());
        let held = |id: &str| {
            let lock = File::open(self.locks.join(format!("{id}.lock")));
            look.is_some() && lock.is_ok_and(|f| matches!(f.try_lock_shared(), Err(TryLockError::WouldBlock)))
        };
        let mut records = self.read()?;
        let mut last = Vec::new();
        for job in jobs {
            let id = self.id(job);
            let record = records.remove(&id);
            let running = record.as_ref().is_some_and(|r| r.state == State::Running) && held(&id);
            last.push((record, running));
        }
        drop(look);
        Ok(jobs
            .iter()
            .zip(last)
            .map(|(job, (record, running))| self.job_status(job, record, running))
            .collect())
    }

    fn job_status(&self, job: &BatchJob, record: Option<Record>, running: bool) -> JobStatus {
        let state = if job.postponed { State::Postponed } else { State::Waiting };
        let mut now = JobStatus { state, reason: None, record, start_over: false };
        let Some(record) = &now.record else { return now };
        let fingerprint = record.fingerprint.clone().unwrap_or_default();
        now.start_over = record.start_over && self.scope.exists(job);
        match record.state {
            State::Running if running => now.state = State::Running,
            _ if job.postponed => {}
            State::Running => now.reason = Some("interrupted".into()),
            State::Failed if self.scope.is_unchanged(job, &fingerprint) => {
                (now.state, now.reason) = (State::Failed, record.reason.clone());
            }
            State::Failed => {}
            State::Done => match self.scope.change(job, &fingerprint) {
                None => now.state = State::Done,
                Some(Change::Missing(why)) => now.reason = Some(why.into()),
                Some(Change::Stale(why)) => {
                    (now.state, now.reason, now.start_over) = (State::Stale, Some(why), true);
                }
            },
            State::Waiting | State::Stale | State::Postponed => now.reason = record.reason.clone(),
        }
        now
    }

    fn lock_file(&self, name: &str) -> io::Result<File> {
        lines::plain(&self.locks)?;
        std::fs::create_dir_all(&self.locks)?;
        lines::open(&self.locks.join(name), OpenOptions::new().create(true).truncate(false).write(true))
    }

    /// Tries to lock a job.
    ///
    /// # Errors
    /// The locks or the status file cannot be opened, or the disk has no locks.
    pub fn claim(&self, job: &BatchJob) -> io::Result<Claim> {
        let id = self.id(job);
        let lock = self.lock_file(&format!("{id}.lock"))?;
        let look = self.lock_file("status.lock")?;
        look.lock().map_err(without_locks)?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(Claim::Elsewhere),
            Err(TryLockError::Error(e)) => return Err(without_locks(e)),
            Ok(()) => {}
        }
        drop(look);
        // its state is only final after the lock was taken
        let job_status = self.job_status(job, self.read()?.remove(&id), false);
        let start_over = job_status.start_over;
        let lease = Lease { queue: self.clone(), id, job: job.name.clone(), start_over, _lock: lock };
        Ok(Claim::Ours(Box::new(lease), Box::new(job_status)))
    }

    fn append(&self, record: &Record) -> io::Result<()> {
        let lock = self.lock_file("status.lock")?;
        lock.lock().map_err(without_locks)?;
        let mut options = OpenOptions::new();
        let mut file = lines::open(&self.status, options.create(true).read(true).append(true))?;
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        lines::append(&mut file, &line)?;
        file.sync_data()
    }
}

fn without_locks(e: io::Error) -> io::Error {
    let problem = format!(
        "this disk does not support file locks ({e}), which keep several processes from rendering the same job; \
            put the list on another disk, or divide the work into shards"
    );
    io::Error::new(e.kind(), problem)
}

/// The last record of each job in a status file.
pub fn parse(bytes: &[u8]) -> BTreeMap<String, Record> {
    let lines = bytes.split(|&b| b == b'\n').filter(|l| !l.is_empty());
    let records = lines.filter_map(|l| serde_json::from_slice::<Record>(l).ok());
    records.map(|r| (r.id.clone(), r)).collect()
}

impl Lease {
    /// Records the state of the job; with its options and files if it has ended.
    ///
    /// # Errors
    /// The status file cannot be written.
    pub fn set(
        &self,
        state: State,
        frames: u64,
        reason: Option<String>,
        fingerprint: Option<Fingerprint>,
    ) -> io::Result<()> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let (id, job, by) = (self.id.clone(), self.job.clone(), self.queue.by.clone());
        let start_over = self.start_over && state != State::Done;
        self.queue.append(&Record { id, job, state, frames, reason, by, time, fingerprint, start_over })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn queue(list: &Path) -> Queue {
        Queue::new(list, list.parent().unwrap(), None)
    }

    fn job() -> BatchJob {
        BatchJob::new("pattern:bars", "x.y4m")
    }

    fn state(queue: &Queue) -> State {
        queue.states(&[job()]).unwrap().remove(0).state
    }

    #[test]
    fn a_job_is_had_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (queue(&folder.path().join("q.toml")), queue(&folder.path().join("q.toml")));
        let Ok(Claim::Ours(lease, _)) = a.claim(&job()) else { panic!() };
        assert!(matches!(b.claim(&job()), Ok(Claim::Elsewhere)));
        lease.set(State::Running, 0, None, None).unwrap();
        assert_eq!(state(&b), State::Running);
        drop(lease);
        assert_eq!(state(&b), State::Waiting);
        let Ok(Claim::Ours(lease, last)) = b.claim(&job()) else { panic!() };
        assert_eq!(last.record.unwrap().state, State::Running);
        let fingerprint = a.scope.rendered(a.scope.fingerprint(&job()), &job());
        lease.set(State::Failed, 3, Some("no \"room\"\n".into()), Some(fingerprint)).unwrap();
        let read = a.states(&[job()]).unwrap().remove(0);
        assert_eq!((read.state, read.record.unwrap().frames), (State::Failed, 3));
        assert_eq!(read.reason.as_deref(), Some("no \"room\"\n"));
    }

    #[test]
    fn the_spelling_of_an_output_makes_no_other_job() {
        let queue = Queue::new(Path::new("/here/q"), Path::new("/here"), None);
        let id = |output: &str| queue.id(&BatchJob { output: output.into(), ..job() });
        for same in ["./x.y4m", ".//x.y4m", "/here/x.y4m", "hash:x.y4m"] {
            assert_eq!(id(same), id("x.y4m"), "{same}");
        }
        assert_ne!(id("a/x.y4m"), id("x.y4m"));
    }

    /// However often others look, a job that nobody has locked can be claimed.
    #[test]
    fn looking_never_makes_a_claim_fail() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("q.toml");
        let Ok(Claim::Ours(lease, _)) = queue(&list).claim(&job()) else { panic!() };
        lease.set(State::Running, 0, None, None).unwrap();
        drop(lease);
        let ended = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                        state(&queue(&list));
                    }
                });
            }
            let claimed = || matches!(queue(&list).claim(&job()), Ok(Claim::Ours(..)));
            let refused = (0..3000).filter(|_| !claimed()).count();
            ended.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(refused, 0);
        });
    }

    #[test]
    fn links_are_not_followed() {
        let id = queue(Path::new("q")).id(&job());
        for name in ["q.status", "q.locks", &format!("q.locks/{id}.lock"), "q.locks/status.lock"] {
            let folder = tempfile::tempdir().unwrap();
            let (mine, link) = (folder.path().join("mine"), folder.path().join(name));
            if name == "q.locks" {
                std::fs::create_dir(&mine).unwrap();
            } else {
                std::fs::create_dir(folder.path().join("q.locks")).unwrap();
                std::fs::write(&mine, b"mine").unwrap();
            }
            std::os::unix::fs::symlink(&mine, link).unwrap();
            let set = match queue(&folder.path().join("q")).claim(&job()) {
                Ok(Claim::Ours(lease, _)) => lease.set(State::Running, 0, None, None),
                Ok(Claim::Elsewhere) => panic!("{name}"),
                Err(e) => Err(e),
            };
            assert!(set.unwrap_err().to_string().contains("is a link"), "{name}");
            match mine.is_dir() {
                true => assert_eq!(mine.read_dir().unwrap().count(), 0),
                false => assert_eq!(std::fs::read(mine).unwrap(), b"mine", "{name}"),
            }
        }
    }

    #[test]
    fn torn_lines_do_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let queue = queue(&folder.path().join("q"));
        let Ok(Claim::Ours(lease, _)) = queue.claim(&job()) else { panic!() };
        lease.set(State::Running, 0, None, None).unwrap();
        let mut file = OpenOptions::new().append(true).open(queue.status()).unwrap();
        file.write_all(b"{\"id\":\"x\",\"jo").unwrap();
        lease.set(State::Done, 7, None, None).unwrap();
        assert_eq!(queue.read().unwrap()[&queue.id(&job())].state, State::Done);
    }
}
