//! Every input that fuzzing has found, and some thousands made from them, in every run of the tests. `./x fuzz`
//! makes millions with the same functions, in `tests/fuzz`.
#![allow(dead_code, unreachable_pub, missing_docs)] // a copy of the package of fuzz targets

#[path = "../fuzz/src/lib.rs"]
pub(crate) mod fuzz;

use fuzz::bound::peak_of;
use fuzz::{MEMORY, Target, campaign};
use std::path::Path;

/// The same inputs in every run.
const SEED: u64 = 7;

fn hold(name: &'static str, runs: u64) {
    let target: Target = fuzz::find(name).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(name);
    let corpus = campaign::corpus(&folder).unwrap();
    let found = |fault: &campaign::Fault| println!("{}: {}", fault.what, fault.input.escape_ascii());
    let outcome = campaign::run(&target, corpus, SEED, runs, found, move |input| {
        eprintln!("seed {SEED}: an input of {name} hangs: {}", input.escape_ascii());
        std::process::exit(1);
    });
    println!("{name}, seed {SEED}: {} tried, {} understood", outcome.runs, outcome.understood);
    assert!(outcome.faults.is_empty(), "{name}: seed {SEED}: see the faults above");
    // Mutants that are all invalid would test nothing.
    assert!(outcome.understood * 100 > outcome.runs, "{name}: {} of {}", outcome.understood, outcome.runs);
}

#[test]
fn y4m() {
    hold("y4m", 3000);
}

#[test]
fn chain() {
    hold("chain", 5000);
}

#[test]
fn toml() {
    hold("toml", 5000);
}

#[test]
fn curve() {
    hold("curve", 5000);
}

#[test]
fn ranges() {
    hold("ranges", 5000);
}

#[test]
fn pattern() {
    hold("pattern", 5000);
}

#[test]
fn tracks() {
    hold("tracks", 3000);
}

#[test]
fn state() {
    hold("state", 3000);
}

#[test]
fn lottie() {
    hold("lottie", 3000);
}

#[test]
fn samples() {
    hold("samples", 3000);
}

#[test]
fn manifest() {
    hold("manifest", 3000);
}

#[test]
fn jobs() {
    hold("jobs", 3000);
}

#[test]
fn status() {
    hold("status", 3000);
}

#[test]
fn effect() {
    hold("effect", 3000);
}

#[test]
fn film_grain() {
    hold("film_grain", 3000);
}

/// Faults are detected: a panic, and memory beyond the limit.
#[test]
fn faults_are_found() {
    let target = |run| Target { name: "", run, words: &["!"], seeds: &["abc"] };
    let panics = target(|data: &[u8]| {
        assert!(!data.contains(&b'!'), "an exclamation");
        true
    });
    let mut told = Vec::new();
    let outcome = campaign::run(&panics, Vec::new(), SEED, 500, |f| told.push(f.input.clone()), |_| {});
    assert!(outcome.faults.len() == 10 && outcome.faults[0].what.contains("an exclamation"), "{outcome:?}");
    assert_eq!(told, outcome.faults.iter().map(|f| f.input.clone()).collect::<Vec<_>>(), "each is told");
    let greedy = target(|data: &[u8]| !vec![1u8; data.len() * (MEMORY / 3 - 100)].is_empty());
    let outcome = campaign::run(&greedy, vec![b"abcd".to_vec()], SEED, 0, |_| {}, |_| {});
    assert_eq!(outcome.faults.len(), 1, "{outcome:?}");
    assert_eq!(outcome.faults[0].input, b"abcd");
    let held = peak_of(|| drop(vec![0u8; 5000]));
    assert!((5000..6000).contains(&held), "{held}");
}
