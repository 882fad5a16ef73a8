//! The packed memory arrays against their rivals, as the paper's tables have it.
//!
//! All rivals run in the same rounds, one after the other, on the same data; a figure is the median of the rounds
//! (with the standard deviation where the paper has one), and a ratio the median of the ratios within a round. Times
//! are this thread's processor time. Before each side of the particles' tables its elements are read once, as the
//! step of a simulation that finds the movers does.
//!
//! `cargo bench -p grainfield-papers --bench pma -- [keys] [rates] [scan] [cells] [order] [big] [quick] [full] [n=N] [percent=P]`: the parts
//! to run (all, if none is named); `big` adds 10 M keys, `quick` makes fewer rounds, `full` the paper's 32 or more of
//! the longest, `n` and `percent` keep the particles' table to one size and one share of movers.

mod cells;
mod keys;
mod rivals;
#[path = "../../../rows/mod.rs"]
mod rows;
mod simd;
#[path = "../../../timing/mod.rs"]
#[allow(unsafe_code)] // asks the C library for the thread's time
mod timing;

use rows::Sheet;
use timing::median;

/// What was asked for.
pub(crate) struct Asked {
    words: Vec<String>,
}

impl Asked {
    fn part(&self, name: &str) -> bool {
        let parts = ["keys", "rates", "scan", "cells", "order"];
        let any = self.words.iter().any(|w| parts.contains(&w.as_str()));
        !any || self.has(name)
    }
    pub(crate) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|w| w == word)
    }
    /// The value of `name=value`.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.words.iter().find_map(|w| w.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
    }
    pub(crate) fn rounds(&self, n: usize) -> usize {
        let least = if self.has("full") { 32 } else { 7 };
        let full = (16_000_000 / n).clamp(least, 61) | 1;
        if self.has("quick") { (full / 4).max(3) | 1 } else { full }
    }
    pub(crate) fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![100_000, 1_000_000];
        if self.has("big") {
            sizes.push(10_000_000);
        }
        sizes
    }
}

/// Times of several rivals over several rounds, in seconds.
pub(crate) struct Table {
    names: Vec<&'static str>,
    times: Vec<Vec<f64>>,
}

impl Table {
    pub(crate) fn new(names: &[&'static str]) -> Table {
        Table { names: names.to_vec(), times: vec![Vec::new(); names.len()] }
    }

    pub(crate) fn time<R>(&mut self, name: &'static str, work: impl FnOnce() -> R) -> R {
        let start = timing::seconds();
        let result = std::hint::black_box(work());
        let seconds = timing::seconds() - start;
        let at = self.names.iter().position(|n| *n == name).unwrap_or_else(|| panic!("no rival {name}"));
        self.times[at].push(seconds);
        result
    }

    /// Median seconds of a rival.
    pub(crate) fn median(&self, name: &str) -> f64 {
        let at = self.names.iter().position(|n| *n == name).unwrap_or(0);
        median(self.times[at].clone())
    }

    /// Least seconds of a rival: what it takes when nothing disturbs.
    pub(crate) fn least(&self, name: &str) -> f64 {
        let at = self.names.iter().position(|n| *n == name).unwrap_or(0);
        self.times[at].iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The median, over the rounds, of a rival's time over another's.
    pub(crate) fn ratio(&self, over: &str, under: &str) -> f64 {
        let of = |name: &str| self.names.iter().position(|n| *n == name).unwrap_or(0);
        let (a, b) = (&self.times[of(over)], &self.times[of(under)]);
        median(a.iter().zip(b).map(|(a, b)| a / b))
    }

    /// The standard deviation of a rival's seconds.
    pub(crate) fn deviation(&self, name: &str) -> f64 {
        let at = self.names.iter().position(|n| *n == name).unwrap_or(0);
        let t = &self.times[at];
        let mean = t.iter().sum::<f64>() / t.len() as f64;
        (t.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / t.len() as f64).sqrt()
    }

    /// Gives out each rival's median and its ratio to the first.
    pub(crate) fn print(&self, title: &str) {
        let mut sheet = Sheet::new(title, &["", "ms", "least", "times the first"]);
        let ours = self.names[0];
        for name in &self.names {
            let (ms, least) = (self.median(name) * 1e3, self.least(name) * 1e3);
            sheet.row([
                (*name).to_owned(),
                format!("{ms:.3}"),
                format!("{least:.3}"),
                format!("{:.2}", self.ratio(name, ours)),
            ]);
        }
        sheet.done();
    }
}

/// A small generator, the same each run.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// Rising numbers below `n`, each with the chance `share`.
    pub(crate) fn some(&mut self, n: usize, share: f64) -> Vec<usize> {
        let bar = (share * u64::MAX as f64) as u64;
        (0..n).filter(|_| share >= 1.0 || self.next() < bar).collect()
    }
}

fn main() {
    let words = std::env::args().skip(1).filter(|w| !w.starts_with("--")).collect();
    let asked = Asked { words };
    if asked.part("keys") {
        keys::table_1(&asked);
    }
    if asked.part("rates") {
        keys::figure_3(&asked);
    }
    if asked.part("scan") {
        keys::table_2(&asked);
    }
    if asked.part("cells") {
        cells::rates(&asked);
    }
    if asked.part("order") {
        cells::scan(&asked);
    }
}
