//! Runs many inputs, each within its limits.

use super::bound::peak_of;
use super::mutate::{Random, mutate};
use super::{LONGEST, MEMORY, PATIENCE, Target};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The number of understood inputs from which others are made.
const POOL: usize = 512;

/// A fault of an input.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The bytes.
    pub input: Vec<u8>,
    /// The fault.
    pub what: String,
}

/// The result of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Inputs tried.
    pub runs: u64,
    /// Number of those that were understood.
    pub understood: u64,
    /// The longest time of an input, in milliseconds.
    pub slowest: f64,
    /// That input; a busy machine may be the cause.
    pub slow: Vec<u8>,
    /// The largest memory of an input, in bytes.
    pub largest: usize,
    /// Inputs that exceeded a limit.
    pub faults: Vec<Fault>,
}

/// Detects inputs that hang: a thread that is notified of each.
struct Progress {
    input: Arc<Mutex<Vec<u8>>>,
    alive: Sender<()>,
}

impl Progress {
    /// `hung` is called with the input that hangs, and should end the process.
    fn new(hung: impl Fn(&[u8]) + Send + 'static) -> Progress {
        let input = Arc::new(Mutex::new(Vec::new()));
        let (alive, heard) = channel();
        let shared = Arc::clone(&input);
        std::thread::spawn(move || {
            loop {
                match heard.recv_timeout(PATIENCE) {
                    Ok(()) => {}
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        hung(&shared.lock().unwrap_or_else(PoisonError::into_inner));
                    }
                }
            }
        });
        Progress { input, alive }
    }

    fn next(&self, data: &[u8]) {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        input.clear();
        input.extend_from_slice(data);
        // The thread lives as long as this does.
        let _ = self.alive.send(());
    }
}

/// The files of a folder sorted by name; none if there is no folder.
pub fn corpus(folder: &Path) -> std::io::Result<Vec<Vec<u8>>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries: Result<Vec<_>, _> = std::fs::read_dir(folder)?.collect();
    let mut paths: Vec<_> = entries?.into_iter().map(|e| e.path()).filter(|p| p.is_file()).collect();
    paths.sort();
    paths.iter().map(std::fs::read).collect()
}

/// Tries the seeds, the corpus, and `runs` inputs made of them. Ends at the tenth fault. `found` is called for each
/// fault immediately, so that it is not lost if the process crashes later.
pub fn run(
    target: &Target,
    corpus: Vec<Vec<u8>>,
    seed: u64,
    runs: u64,
    mut found: impl FnMut(&Fault),
    hung: impl Fn(&[u8]) + Send + 'static,
) -> Outcome {
    let progress = Progress::new(hung);
    let mut outcome = Outcome::default();
    let mut random = Random(seed);
    let mut pool: Vec<Vec<u8>> = target.seeds.iter().map(|s| s.as_bytes().to_vec()).chain(corpus).collect();
    // Only later inputs are replaced.
    let (kept, mut data) = (pool.len(), Vec::new());
    let mut given = pool.clone().into_iter();
    while outcome.faults.len() < 10 {
        let fresh = match given.next() {
            Some(input) => {
                data = input;
                data.truncate(LONGEST);
                false
            }
            None if outcome.runs >= runs + kept as u64 => break,
            None => {
                let (one, other) = (random.below(pool.len()), random.below(pool.len()));
                data.clone_from(&pool[one]);
                mutate(&mut data, &pool[other], target.words, &mut random);
                true
            }
        };
        progress.next(&data);
        let start = Instant::now();
        let mut understood = Err("nothing".to_owned());
        let held = peak_of(|| {
            understood = catch_unwind(AssertUnwindSafe(|| (target.run)(&data))).map_err(|panic| {
                let text = panic.downcast_ref::<String>().cloned();
                text.or(panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
            });
        });
        let took = start.elapsed();
        outcome.runs += 1;
        if took.as_secs_f64() * 1e3 > outcome.slowest {
            outcome.slowest = took.as_secs_f64() * 1e3;
            outcome.slow.clone_from(&data);
        }
        outcome.largest = outcome.largest.max(held);
        let what = match understood {
            Err(panic) => Some(format!("panics: {panic}")),
            Ok(_) if held > MEMORY => Some(format!("holds {held} bytes")),
            Ok(_) if took > PATIENCE => Some(format!("takes {took:?}")),
            Ok(understood) => {
                outcome.understood += u64::from(understood);
                if understood && fresh {
                    if pool.len() < kept + POOL {
                        pool.push(data.clone());
                    } else {
                        let place = kept + random.below(POOL);
                        pool[place].clone_from(&data);
                    }
                }
                None
            }
        };
        if let Some(what) = what {
            let fault = Fault { input: data.clone(), what };
            found(&fault);
            outcome.faults.push(fault);
        }
    }
    outcome
}
