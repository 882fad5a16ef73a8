//! The text of a manifest: the complete files, and their settings.
//!
//! ```text
//! grainfield manifest 3 ~CHECK
//! {"settings":[KEY,"{\"recipe\":\"noise=strength=6\", ...}"]} ~CHECK
//! {"request":[KEY,"1-100"]} ~CHECK
//! {"shard":[[0,HASH],{"index":1,"count":8,"kind":"video", ...}]} ~CHECK
//! {"hdr":[[0,HASH],{"display":null,"light":[1000,400]}]} ~CHECK
//! {"packets":[[0,HASH],0,[[0,1,1],[1,1,0], ...]]} ~CHECK
//! {"file":{"number":0,"key":KEY, ...}} ~CHECK
//! ```
//!
//! A line is appended in one write before its file gets its name. `CHECK` is the lower half of the line's
//! [XXH64](super::xxh64) in hexadecimal, so that lines that a crash has cut off or merged are detected and ignored. A
//! later line about a file replaces an earlier one.
//!
//! The request is all frames of the render, also in the manifest of a shard. `KEY` is that of the settings
//! ([`JobSettings`](super::JobSettings)), `HASH` that of a file's bytes, after the file's number.
//!
//! The [`JoinRecord`] of a shard or segment comes before the line of its file: `packets` on as many lines as necessary,
//! each with the index of its first packet.

use super::xxh64;
use crate::journal::shard::ShardRecord;
use crate::journal::{Hdr, JoinRecord, PacketRecord};
use grainfield_filters::frame::Ranges;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The largest manifest that is read, in bytes: about eight million files, or fifty million packets of video.
pub const MAX_BYTES: u64 = 1 << 30;
/// The longest line.
const MAX_LINE: usize = 1 << 20;
/// The number of packets on one line.
const PACKETS: usize = 10_000;
/// The first line of a manifest.
pub(super) const HEAD: &str = "grainfield manifest 3";

/// The entry of a complete file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The number of the frame or segment; 0 for a file with all frames.
    pub number: i64,
    /// The number of frames in it.
    pub frames: u64,
    /// The key of its settings.
    pub key: u128,
    /// The identity of the source file; 0 if it is unknown.
    pub source_hash: u64,
    /// The size in bytes.
    pub size: u64,
    /// The time of the last change, nanoseconds since 1970.
    pub time: i64,
    /// XXH64 of the bytes.
    pub hash: u64,
}

/// The number of a file, and the checksum of its bytes, which two segments may share.
pub type FileId = (i64, u64);

/// A line after the first.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line<'a> {
    Settings(u128, Cow<'a, str>),
    Request(u128, Cow<'a, str>),
    Shard(FileId, Cow<'a, ShardRecord>),
    Hdr(FileId, Hdr),
    Packets(FileId, usize, Cow<'a, [PacketRecord]>),
    File(Entry),
}

/// The contents of a manifest.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Manifest {
    /// Settings by key, as JSON.
    pub settings: BTreeMap<u128, String>,
    /// The requested frames of renders, by key.
    pub frames: BTreeMap<u128, Vec<Ranges>>,
    /// The entries of each file, latest last.
    pub entries: BTreeMap<i64, Vec<Entry>>,
    /// The data for joining shards and segments.
    pub joins: BTreeMap<FileId, JoinRecord>,
    /// The number of lines that could not be read.
    pub torn: u64,
}

impl Manifest {
    /// Parses a manifest. Never fails: invalid lines are counted and ignored.
    pub fn parse(bytes: &[u8]) -> Manifest {
        let mut manifest = Manifest::default();
        manifest.add(bytes);
        manifest
    }

    /// Adds the contents of another manifest.
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
        if text == HEAD {
            return Some(());
        }
        match serde_json::from_str(text).ok()? {
            Line::File(entry) => self.entries.entry(entry.number).or_default().push(entry),
            Line::Request(key, frames) => {
                let frames = frames.parse().ok()?;
                let known = self.frames.entry(key).or_default();
                if !known.contains(&frames) {
                    known.push(frames);
                }
            }
            Line::Shard(file, shard) => {
                let shard = Some(shard.into_owned()).filter(ShardRecord::is_possible)?;
                self.joins.entry(file).or_default().shard = Some(shard);
            }
            Line::Hdr(file, hdr) => self.joins.entry(file).or_default().hdr = hdr,
            Line::Packets(file, index, packets) => {
                let known = &mut self.joins.entry(file).or_default().packets;
                // the same file may have been written before
                known.truncate(index);
                if known.len() < index {
                    return None;
                }
                known.extend_from_slice(&packets);
            }
            Line::Settings(key, text) => {
                self.settings.insert(key, text.into_owned());
            }
        }
        Some(())
    }

    /// The entry of the file with this number, size and time.
    pub fn find(&self, number: i64, size: u64, time: i64) -> Option<&Entry> {
        let fits = |e: &&Entry| e.size == size && e.time == time;
        self.entries.get(&number)?.iter().rev().find(fits)
    }
}

fn check(text: &str) -> String {
    format!("{:08x}", xxh64(text.as_bytes()) as u32)
}

/// A line with its checksum and line end.
pub(super) fn line(text: &str) -> String {
    format!("{text} ~{}\n", check(text))
}

impl Line<'_> {
    fn text(&self) -> String {
        // a line can always be serialised
        line(&serde_json::to_string(self).unwrap_or_default())
    }
}

impl Entry {
    /// The number and the checksum.
    pub fn id(&self) -> FileId {
        (self.number, self.hash)
    }

    pub(super) fn line(&self) -> String {
        Line::File(*self).text()
    }
}

/// The lines with the data for joining a file.
pub(super) fn join_lines(file: FileId, join: &JoinRecord) -> String {
    let shard = join.shard.iter().map(|shard| Line::Shard(file, Cow::Borrowed(shard)));
    let hdr = (join.hdr != Hdr::default()).then_some(Line::Hdr(file, join.hdr));
    let packets = join.packets.chunks(PACKETS).enumerate();
    let packets = packets.map(|(i, packets)| Line::Packets(file, i * PACKETS, packets.into()));
    shard.chain(hdr).chain(packets).map(|line| line.text()).collect()
}

/// The lines with the settings of a key, as JSON, and the requested frames.
pub(super) fn job_lines(key: u128, settings: &str, frames: &str) -> String {
    Line::Settings(key, settings.into()).text() + &Line::Request(key, frames.into()).text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::{Audio, Subs};
    use crate::journal::shard::{Kind, Video};
    use crate::journal::{Cuts, SourceEnds};

    fn video() -> JoinRecord {
        let video = Video {
            tick: (1, 24),
            ends: SourceEnds { first: true, last: false },
            cuts: Cuts { frames: vec![40, -7], counts: vec![3, 4], total: 5 },
            audio: Audio::Copy,
            audio_codec: Some("opus".into()),
            audio_bitrate: None,
            tag: None,
            subs: Subs::Auto,
            no_chapters: false,
            allow_protocol: vec!["x\n~".into()],
        };
        let input = "in\n ~.mkv".into();
        let shard =
            ShardRecord { index: 1, count: 2, kind: Kind::Video, input, wanted: 5, video: Some(video) };
        let packets = (0..PACKETS as i64 + 1).map(|i| (i - 1, 1, (i % 5) as i32)).collect();
        let hdr = Hdr { display: Some([7; 22]), light: None };
        JoinRecord { shard: Some(shard), packets, hdr }
    }

    #[test]
    fn records_of_shards_are_read() {
        let lines = join_lines((3, 7), &video());
        assert_eq!(lines.lines().count(), 4);
        // the same shard rendered again
        let read = Manifest::parse(lines.repeat(2).as_bytes());
        assert_eq!((read.torn, &read.joins[&(3, 7)]), (0, &video()));
        let read = |lines: &str| Manifest::parse(lines.as_bytes()).joins[&(3, 7)].packets.len();
        let ends: Vec<usize> = lines.match_indices('\n').map(|(at, _)| at + 1).collect();
        assert_eq!([2, 3].map(|line| read(&lines[..ends[line]])), [PACKETS, PACKETS + 1]);
        assert_eq!(read(&(lines[..ends[1]].to_owned() + &lines[ends[2]..])), 0, "a line is missing");
        for change in [
            |n: &mut ShardRecord| n.index = 3,
            |n: &mut ShardRecord| n.index = 0,
            |n: &mut ShardRecord| n.count = u32::MAX,
            |n: &mut ShardRecord| n.video.as_mut().unwrap().tick.0 = 0,
        ] {
            let mut other = video();
            change(other.shard.as_mut().unwrap());
            assert_eq!(Manifest::parse(join_lines((3, 7), &other).as_bytes()).joins[&(3, 7)].shard, None);
        }
    }

    fn entry(number: i64) -> Entry {
        Entry { number, frames: 1, key: 7 << 100, source_hash: 3, size: 10, time: -5, hash: u64::MAX }
    }

    fn sample() -> String {
        line(HEAD)
            + &job_lines(7 << 100, r#"{"recipe":"noise ~x"}"#, "-3-4")
            + &entry(-3).line()
            + &entry(4).line()
    }

    #[test]
    fn a_written_manifest_is_read() {
        let read = Manifest::parse(sample().as_bytes());
        assert_eq!(read.torn, 0);
        assert_eq!(read.settings[&(7 << 100)], r#"{"recipe":"noise ~x"}"#);
        assert_eq!(read.frames[&(7 << 100)], ["-3-4".parse().unwrap()]);
        assert_eq!(read.entries[&-3], [entry(-3)]);
        assert_eq!(read.find(4, 10, -5), Some(&entry(4)));
        assert_eq!((read.find(4, 11, -5), read.find(5, 10, -5)), (None, None));
    }

    #[test]
    fn checksums_are_xxh64_with_seed_0() {
        for (text, sum) in [("", 0xef46_db37_51d8_e999), ("abc", 0x44bc_2cf5_ad77_0999)] {
            assert_eq!(xxh64(text.as_bytes()), sum, "{text}");
        }
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
