//! The driver: `drive [TARGET|all] [RUNS] [SEED]`. Needs no special compiler. Faults are written to the corpus
//! immediately; the ordinary tests run the corpus.

use grainfield_fuzz::bound::Counted;
use grainfield_fuzz::{TARGETS, Target, campaign, find};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

#[global_allocator]
static COUNTED: Counted = Counted;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let name = args.first().map_or("all", String::as_str);
    let targets: Vec<Target> = match (name, find(name)) {
        ("all", _) => TARGETS.to_vec(),
        (_, Some(target)) => vec![target],
        (_, None) => {
            let all: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
            eprintln!("there is no target \"{name}\": there are {}, and all", all.join(", "));
            return ExitCode::from(2);
        }
    };
    let number = |i: usize, default: u64| match args.get(i) {
        None => Ok(default),
        Some(text) => text.parse::<u64>().map_err(|_| format!("\"{text}\" is no whole number")),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    let (runs, seed) = match (number(1, 1_000_000), number(2, now)) {
        (Ok(runs), Ok(seed)) => (runs, seed),
        (Err(e), _) | (_, Err(e)) => {
            eprintln!("{e}: drive [TARGET|all] [RUNS] [SEED]");
            return ExitCode::from(2);
        }
    };
    // A panic is a fault, and is reported as one.
    std::panic::set_hook(Box::new(|_| {}));
    let mut bad = false;
    for target in targets {
        bad |= !drive(&target, runs, seed);
    }
    if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn drive(target: &Target, runs: u64, seed: u64) -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
    let corpus = match campaign::corpus(&folder) {
        Ok(corpus) => corpus,
        Err(e) => {
            eprintln!("{}: {e}", folder.display());
            return false;
        }
    };
    println!("{}: {runs} inputs from seed {seed}", target.name);
    let (start, place) = (Instant::now(), folder.clone());
    let found = |fault: &campaign::Fault| println!("{}: {}", keep(&folder, &fault.input), fault.what);
    let outcome = campaign::run(target, corpus, seed, runs, found, move |input| {
        println!("hangs: {}", keep(&place, input));
        std::process::exit(1);
    });
    let again = (0..3).map(|_| {
        let start = Instant::now();
        let _ = std::panic::catch_unwind(|| (target.run)(&outcome.slow));
        start.elapsed().as_secs_f64() * 1e3
    });
    let again = again.fold(f64::INFINITY, f64::min);
    println!(
        "{}: {} tried, {} understood, slowest {:.1} ms (again: {again:.1}), most memory {} kB, {:.0} s",
        target.name,
        outcome.runs,
        outcome.understood,
        outcome.slowest,
        outcome.largest / 1024,
        start.elapsed().as_secs_f64()
    );
    outcome.faults.is_empty()
}

/// Writes a faulty input; returns its path.
fn keep(folder: &Path, input: &[u8]) -> String {
    let hash =
        input.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3));
    let file: PathBuf = folder.join(format!("{hash:016x}"));
    match std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, input)) {
        Ok(()) => file.display().to_string(),
        Err(e) => format!("{}: {e}; the input is {}", file.display(), input.escape_ascii()),
    }
}
