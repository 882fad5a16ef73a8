//! The states of jobs and the programs that run them: a status file and locks beside the list.
//!
//! The status file `LIST.status` has one JSON object per line, of which the last one about a job applies; lines are
//! only appended. Every job has a lock file in `LIST.locks`; the program that runs the job holds its lock, and only
//! then writes its status. Another lock protects appending. So programs with the same list share its jobs, and no job
//! is run twice.
//!
//! The system releases a lock when its program ends in any way: a job in state `running` without a lock was
//! interrupted, and is run again. A network disk must support `flock` between machines, like NFS 4 (whose server
//! releases the locks of a dead client after its lease, usually 90 seconds), NFS 3 with its lock daemon, SMB, Lustre
//! with `-o flock`, and CephFS. If locks are not supported, that is an error; if they are only local (NFS mounted with
//! `local_lock`, Lustre with `localflock`), two machines may run the same job, which does no damage, since only
//! complete files get their final names.

use super::jobs::Job;
use crate::disk::lines;
use crate::journal::resume::Xxh64;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
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
}

/// A line of the status file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The identity of the job, independent of its name: see [`id`].
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
}

/// The identity of a job, which covers all its options and its shard: 16 hexadecimal digits.
pub fn id(job: &Job, shard: Option<crate::journal::shard::Shard>) -> String {
    let mut sum = Xxh64::default();
    let mut add = |bytes: &[u8]| {
        sum.update(&(bytes.len() as u64).to_le_bytes());
        sum.update(bytes);
    };
    [job.input.as_encoded_bytes(), job.output.as_encoded_bytes()].into_iter().for_each(&mut add);
    job.options.iter().for_each(|o| add(o.as_encoded_bytes()));
    add(shard.map_or(String::new(), |s| s.to_string()).as_bytes());
    format!("{:016x}", sum.finish())
}

/// The status file and the locks of a list.
#[derive(Clone, Debug)]
pub struct Queue {
    status: PathBuf,
    locks: PathBuf,
    by: String,
}

/// The result of claiming a job.
#[derive(Debug)]
pub enum Claim {
    /// Another program runs it.
    Elsewhere,
    /// This program has locked it until the value is dropped; with its last record.
    Ours(Box<Lease>, Option<Box<Record>>),
}

/// A job that this program has locked.
#[derive(Debug)]
pub struct Lease {
    queue: Queue,
    id: String,
    job: String,
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
    pub fn of(list: &Path) -> Queue {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let by = format!("{}:{}", host.trim(), std::process::id());
        Queue { status: beside(list, ".status"), locks: beside(list, ".locks"), by }
    }

    /// The status file.
    pub fn status(&self) -> &Path {
        &self.status
    }

    /// The files that are written for jobs with these [ids](id): the status file and the locks.
    pub fn writes<'a>(&self, ids: impl Iterator<Item = &'a str>) -> Vec<PathBuf> {
        let lock = |name: &str| self.locks.join(format!("{name}.lock"));
        [self.status.clone(), lock("status")].into_iter().chain(ids.map(lock)).collect()
    }

    /// The last record of each job, by [`id`]. Lines that a crash has cut off are ignored.
    pub fn read(&self) -> io::Result<BTreeMap<String, Record>> {
        let Some(bytes) = lines::read(&self.status, MAX_BYTES)? else { return Ok(BTreeMap::new()) };
        if !bytes.starts_with(HEAD) && !HEAD.starts_with(&bytes) {
            let problem = "it exists and is not the status file of a batch: rename it";
            return Err(io::Error::new(ErrorKind::InvalidData, problem));
        }
        Ok(parse(&bytes))
    }

    /// Whether a program is running a job now.
    pub fn is_held(&self, id: &str) -> bool {
        let lock = File::open(self.locks.join(format!("{id}.lock")));
        lock.is_ok_and(|f| matches!(f.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    fn lock_file(&self, name: &str) -> io::Result<File> {
        lines::plain(&self.locks)?;
        std::fs::create_dir_all(&self.locks)?;
        lines::open(&self.locks.join(name), OpenOptions::new().create(true).truncate(false).write(true))
    }

    /// Tries to lock a job.
    pub fn claim(&self, id: &str, job: &str) -> io::Result<Claim> {
        let lock = self.lock_file(&format!("{id}.lock"))?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(Claim::Elsewhere),
            Err(TryLockError::Error(e)) => return Err(without_locks(e)),
            Ok(()) => {}
        }
        // its state is only final after the lock was taken
        let last = self.read()?.remove(id);
        let lease = Lease { queue: self.clone(), id: id.to_owned(), job: job.to_owned(), _lock: lock };
        Ok(Claim::Ours(Box::new(lease), last.map(Box::new)))
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
            put the list on another disk, or divide the work with --shard"
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
    /// Records the state of the job.
    pub fn set(&self, state: State, frames: u64, reason: Option<String>) -> io::Result<()> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let (id, job, by) = (self.id.clone(), self.job.clone(), self.queue.by.clone());
        self.queue.append(&Record { id, job, state, frames, reason, by, time })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_job_is_had_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (Queue::of(&folder.path().join("q.toml")), Queue::of(&folder.path().join("q.toml")));
        let Ok(Claim::Ours(lease, None)) = a.claim("x", "job") else { panic!() };
        assert!(matches!(b.claim("x", "job"), Ok(Claim::Elsewhere)));
        assert!(b.is_held("x") && !b.is_held("y"));
        lease.set(State::Running, 0, None).unwrap();
        drop(lease);
        assert!(!b.is_held("x"));
        let Ok(Claim::Ours(lease, Some(last))) = b.claim("x", "job") else { panic!() };
        assert_eq!(last.state, State::Running);
        lease.set(State::Failed, 3, Some("no \"room\"\n".into())).unwrap();
        let read = a.read().unwrap();
        assert_eq!((read["x"].state, read["x"].frames), (State::Failed, 3));
        assert_eq!(read["x"].reason.as_deref(), Some("no \"room\"\n"));
    }

    #[test]
    fn links_are_not_followed() {
        for name in ["q.status", "q.locks", "q.locks/x.lock", "q.locks/status.lock"] {
            let folder = tempfile::tempdir().unwrap();
            let (mine, link) = (folder.path().join("mine"), folder.path().join(name));
            if name == "q.locks" {
                std::fs::create_dir(&mine).unwrap();
            } else {
                std::fs::create_dir(folder.path().join("q.locks")).unwrap();
                std::fs::write(&mine, b"mine").unwrap();
            }
            std::os::unix::fs::symlink(&mine, link).unwrap();
            let queue = Queue::of(&folder.path().join("q"));
            let set = match queue.claim("x", "job") {
                Ok(Claim::Ours(lease, _)) => lease.set(State::Running, 0, None),
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
        let queue = Queue::of(&folder.path().join("q"));
        let Ok(Claim::Ours(lease, _)) = queue.claim("x", "job") else { panic!() };
        lease.set(State::Running, 0, None).unwrap();
        let mut file = OpenOptions::new().append(true).open(queue.status()).unwrap();
        file.write_all(b"{\"id\":\"x\",\"jo").unwrap();
        lease.set(State::Done, 7, None).unwrap();
        assert_eq!(queue.read().unwrap()["x"].state, State::Done);
    }
}
