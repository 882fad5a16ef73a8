//! The text of a manifest: which files are whole, and what made them.
//!
//! ```text
//! grainfield manifest 1 ~CHECK
//! made KEY {"recipe":"noise=strength=6", ...} ~CHECK
//! asked KEY FRAMES ~CHECK
//! file NUMBER KEY ORIGIN SIZE TIME HASH ~CHECK
//! ```
//!
//! A line is appended in one write before its file gets its name. `CHECK` is the lower half of the line's
//! [XXH64](super::xxh64) in hexadecimal, so that a line which a crash has torn, or two that ran into each other, are
//! seen as such and left out. A later line about a file takes the place of an earlier one.
//!
//! `FRAMES` are all frames of the render, whatever part of them a shard makes. `KEY` is that of the settings ([`JobSettings`](super::JobSettings)), 32 digits; `ORIGIN` of the source's file, `HASH` of the
//! file's bytes, 16 digits each; `SIZE` bytes; `TIME` nanoseconds since 1970.

use super::xxh64;
use grainfield_filters::frame::Ranges;
use std::collections::BTreeMap;

/// The most bytes of a manifest that are read: some two million frames.
pub const MAX_BYTES: u64 = 256 << 20;
/// The longest line.
const MAX_LINE: usize = 1 << 20;
/// What a manifest begins with.
pub(super) const HEAD: &str = "grainfield manifest 1";

/// A file that is whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The frame's number; 0 for a file that holds them all.
    pub number: i64,
    /// The settings that made it.
    pub key: u128,
    /// The source's file it was made from; 0 where that cannot be told.
    pub origin: u64,
    /// Bytes it has.
    pub size: u64,
    /// When it was written, nanoseconds since 1970.
    pub time: i64,
    /// XXH64 of its bytes.
    pub hash: u64,
}

/// What a manifest says.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Manifest {
    /// Settings by key, as JSON.
    pub made: BTreeMap<u128, String>,
    /// Which frames a render by a key was asked for.
    pub asked: BTreeMap<u128, Vec<Ranges>>,
    /// What is said of each file, latest last.
    pub entries: BTreeMap<i64, Vec<Entry>>,
    /// Lines that could not be read.
    pub torn: u64,
}

impl Manifest {
    /// Reads a manifest. Never fails: what is no whole line is counted and left out.
    pub fn parse(bytes: &[u8]) -> Manifest {
        let mut manifest = Manifest::default();
        manifest.add(bytes);
        manifest
    }

    /// Adds what another manifest says.
    pub fn add(&mut self, bytes: &[u8]) {
        for line in bytes.split(|&b| b == b'\n').filter(|l| !l.is_empty()) {
            if self.line(line).is_none() {
                self.torn += 1;
            }
        }
    }

    fn line(&mut self, line: &[u8]) -> Option<()> {
        let line = std::str::from_utf8(line).ok().filter(|l| l.len() <= MAX_LINE)?;
        let (text, sum) = line.rsplit_once(" ~")?;
        if sum != check(text) {
            return None;
        }
        match text.split_once(' ')? {
            ("file", rest) => {
                let entry = entry(rest)?;
                self.entries.entry(entry.number).or_default().push(entry);
            }
            ("asked", rest) => {
                let (key, frames) = rest.split_once(' ')?;
                let (key, frames) = (hex128(key)?, frames.parse().ok()?);
                let asked = self.asked.entry(key).or_default();
                if !asked.contains(&frames) {
                    asked.push(frames);
                }
            }
            ("made", rest) => {
                let (key, text) = rest.split_once(' ')?;
                self.made.insert(hex128(key)?, text.to_owned());
            }
            _ if text == HEAD => {}
            _ => return None,
        }
        Some(())
    }

    /// What is said of the file of a number that has this size and time.
    pub fn find(&self, number: i64, size: u64, time: i64) -> Option<&Entry> {
        let fits = |e: &&Entry| e.size == size && e.time == time;
        self.entries.get(&number)?.iter().rev().find(fits)
    }
}

fn entry(text: &str) -> Option<Entry> {
    let mut words = text.split(' ');
    let mut next = || words.next();
    let entry = Entry {
        number: next()?.parse().ok()?,
        key: hex128(next()?)?,
        origin: hex64(next()?)?,
        size: next()?.parse().ok()?,
        time: next()?.parse().ok()?,
        hash: hex64(next()?)?,
    };
    words.next().is_none().then_some(entry)
}

fn hex128(text: &str) -> Option<u128> {
    (text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit()))
        .then(|| u128::from_str_radix(text, 16).ok())?
}

fn hex64(text: &str) -> Option<u64> {
    (text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit()))
        .then(|| u64::from_str_radix(text, 16).ok())?
}

fn check(text: &str) -> String {
    format!("{:08x}", xxh64(text.as_bytes()) as u32)
}

/// A line with its check and its end.
pub(super) fn line(text: &str) -> String {
    format!("{text} ~{}\n", check(text))
}

impl Entry {
    pub(super) fn line(&self) -> String {
        let Entry { number, key, origin, size, time, hash } = self;
        line(&format!("file {number} {key:032x} {origin:016x} {size} {time} {hash:016x}"))
    }
}

/// The line that says what a key means. `json` is one line.
pub(super) fn made(key: u128, json: &str) -> String {
    line(&format!("made {key:032x} {json}"))
}

/// The line that says which frames a render has.
pub(super) fn asked(key: u128, frames: &str) -> String {
    line(&format!("asked {key:032x} {frames}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: i64) -> Entry {
        Entry { number, key: 7 << 100, origin: 3, size: 10, time: -5, hash: u64::MAX }
    }

    fn sample() -> String {
        line(HEAD)
            + &made(7 << 100, r#"{"recipe":"noise ~x"}"#)
            + &asked(7 << 100, "-3-4")
            + &entry(-3).line()
            + &entry(4).line()
    }

    #[test]
    fn what_is_written_is_read() {
        let read = Manifest::parse(sample().as_bytes());
        assert_eq!(read.torn, 0);
        assert_eq!(read.made[&(7 << 100)], r#"{"recipe":"noise ~x"}"#);
        assert_eq!(read.asked[&(7 << 100)], ["-3-4".parse().unwrap()]);
        assert_eq!(read.entries[&-3], [entry(-3)]);
        assert_eq!(read.find(4, 10, -5), Some(&entry(4)));
        assert_eq!((read.find(4, 11, -5), read.find(5, 10, -5)), (None, None));
    }

    #[test]
    fn the_latest_counts() {
        let later = Entry { hash: 1, ..entry(4) };
        let read = Manifest::parse((sample() + &later.line()).as_bytes());
        assert_eq!(read.find(4, 10, -5), Some(&later));
    }

    #[test]
    fn torn_lines_are_left_out() {
        let text = sample();
        for cut in 0..text.len() {
            let read = Manifest::parse(&text.as_bytes()[..cut]);
            let all = read.entries.values().flatten().all(|e| *e == entry(e.number));
            assert!(all && read.torn <= 1, "{cut}");
            // the next writer begins with a line feed
            let more = [&text.as_bytes()[..cut], b"\n", entry(9).line().as_bytes()].concat();
            assert_eq!(Manifest::parse(&more).entries[&9], [entry(9)], "{cut}");
        }
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 4;
            let read = Manifest::parse(&bytes);
            assert!(read.entries.values().flatten().all(|e| *e == entry(e.number)), "{at}");
        }
    }
}
