//! What lies beside a shard of one file, as `SHARD.shard`: what made it, which part it is, and what joining it needs.

use super::{MAX_SHARDS, Shard};
use crate::encoding::{Audio, Subs};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The version of the format.
const VERSION: u32 = 1;
/// The most bytes of a note: some two million pictures of a video.
pub const MAX_BYTES: u64 = 64 << 20;

/// What a note begins with.
const HEAD: &[u8] = b"{\"grainfield_shard\":";

/// What is known of a shard.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Sidecar {
    /// The version of the format.
    pub grainfield_shard: u32,
    /// From 1.
    pub index: u32,
    /// How many there are.
    pub count: u32,
    /// What kind of file.
    pub kind: Kind,
    /// The key of the settings, 32 hexadecimal digits.
    pub key: String,
    /// The settings, as JSON.
    pub made: String,
    /// What the source was known by, 16 hexadecimal digits.
    pub origin: String,
    /// The input, as typed.
    pub input: String,
    /// Which frames all shards together are.
    pub frames: String,
    /// How many frames this shard should have.
    pub wanted: u64,
    /// How many it has.
    pub written: u64,
    /// Bytes of the shard.
    pub size: u64,
    /// XXH64 of its bytes, 16 hexadecimal digits.
    pub hash: String,
    /// What only video has.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub video: Option<Video>,
}

/// Kinds of shards that are one file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Frames one after the other behind a header.
    Y4m,
    /// Lines.
    Hash,
    /// A container with the picture alone.
    Video,
}

/// What joining video needs beside the packets.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Video {
    /// Seconds a tick, numerator and denominator.
    pub tick: (i32, i32),
    /// When each picture is shown and how long, in ticks, in the order of the packets.
    pub times: Vec<(i64, i64)>,
    /// Whether the first frame of all shards is the source's first, and the last its last.
    pub whole: (bool, bool),
    /// What becomes of the sound.
    pub audio: Audio,
    /// What becomes of subtitles.
    pub subs: Subs,
    /// Chapters are left out.
    pub no_chapters: bool,
    /// Protocols that the input may name.
    pub allow_protocol: Vec<String>,
}

/// What is wrong with a note.
#[derive(Debug, thiserror::Error)]
pub enum SidecarError {
    /// There is none, or it cannot be read.
    #[error("{}: {cause}; each shard needs its .shard file in the same folder", path.display())]
    Io {
        /// The note.
        path: PathBuf,
        /// The system's word.
        #[source]
        cause: io::Error,
    },
    /// It is none.
    #[error("{}: not a valid .shard file: {problem}", path.display())]
    Bad {
        /// The note.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

/// The note's name.
pub fn beside(shard: &Path) -> PathBuf {
    let mut name = OsString::from(shard);
    name.push(".shard");
    name.into()
}

impl Sidecar {
    /// A note without what is known only when the shard is whole.
    pub fn new(
        shard: Shard,
        kind: Kind,
        key: u128,
        made: &str,
        origin: u64,
        input: &str,
        frames: String,
    ) -> Sidecar {
        Sidecar {
            grainfield_shard: VERSION,
            index: shard.index(),
            count: shard.count(),
            kind,
            key: format!("{key:032x}"),
            made: made.to_owned(),
            origin: format!("{origin:016x}"),
            input: input.to_owned(),
            frames,
            wanted: 0,
            written: 0,
            size: 0,
            hash: String::new(),
            video: None,
        }
    }

    /// Reads the text of a note and checks that it can be one.
    pub fn parse(text: &[u8]) -> Result<Sidecar, String> {
        if text.len() as u64 > MAX_BYTES {
            return Err(format!("it is larger than {MAX_BYTES} bytes"));
        }
        let note: Sidecar = serde_json::from_slice(text).map_err(|e| e.to_string())?;
        if note.grainfield_shard != VERSION {
            return Err(format!("version {}; this program reads version {VERSION}", note.grainfield_shard));
        }
        if !(1..=MAX_SHARDS).contains(&note.count) || !(1..=note.count).contains(&note.index) {
            return Err(format!("shard {} of {}", note.index, note.count));
        }
        if let Some(video) = &note.video
            && (video.tick.0 <= 0 || video.tick.1 <= 0)
        {
            return Err(format!("a tick of {}/{} seconds", video.tick.0, video.tick.1));
        }
        Ok(note)
    }

    /// Reads the note beside a shard.
    pub fn read(shard: &Path) -> Result<Sidecar, SidecarError> {
        let path = beside(shard);
        let mut text = Vec::new();
        let read = File::open(&path).and_then(|f| f.take(MAX_BYTES + 1).read_to_end(&mut text));
        if let Err(cause) = read {
            return Err(SidecarError::Io { path, cause });
        }
        Sidecar::parse(&text).map_err(|problem| SidecarError::Bad { path, problem })
    }

    /// Refuses a file in the note's place that begins as no note does: somebody else's.
    pub fn check(shard: &Path) -> io::Result<()> {
        let path = beside(shard);
        let mut head = Vec::new();
        match File::open(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            file => file?.take(HEAD.len() as u64).read_to_end(&mut head)?,
        };
        if HEAD.starts_with(&head) {
            return Ok(());
        }
        let problem = format!("{} exists and is not a .shard file: rename it", path.display());
        Err(io::Error::new(io::ErrorKind::InvalidData, problem))
    }

    /// Writes the note beside a shard, in one step.
    pub fn write(&self, shard: &Path) -> io::Result<()> {
        Sidecar::check(shard)?;
        let path = beside(shard);
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let text = serde_json::to_vec(self)?;
        let mut file = crate::disk::Temporary::for_file(&path, folder)?;
        io::Write::write_all(&mut file, &text)?;
        file.file()?.sync_data()?;
        file.persist(&path).map_err(|(_, e)| e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.1-of-2.mkv");
        let shard = Shard::new(1, 2).unwrap();
        let mut note = Sidecar::new(shard, Kind::Video, 7, "{}", 3, "in.mkv", "0-9".into());
        note.video = Some(Video {
            tick: (1, 24),
            times: vec![(0, 1), (2, 1), (1, 1)],
            whole: (true, false),
            audio: Audio::Copy,
            subs: Subs::Auto,
            no_chapters: false,
            allow_protocol: vec![],
        });
        assert!(matches!(Sidecar::read(&path), Err(SidecarError::Io { .. })));
        note.write(&path).unwrap();
        assert_eq!(Sidecar::read(&path).unwrap(), note);
        assert_eq!(beside(&path), folder.path().join("a.1-of-2.mkv.shard"));
    }

    #[test]
    fn what_is_none_is_refused() {
        let shard = Shard::new(1, 2).unwrap();
        let note = Sidecar::new(shard, Kind::Y4m, 7, "{}", 3, "in.y4m", "0-9".into());
        for change in [
            |n: &mut Sidecar| n.index = 3,
            |n: &mut Sidecar| n.index = 0,
            |n: &mut Sidecar| n.count = u32::MAX,
            |n: &mut Sidecar| n.grainfield_shard = 2,
        ] {
            let mut other = note.clone();
            change(&mut other);
            assert!(Sidecar::parse(&serde_json::to_vec(&other).unwrap()).is_err());
        }
        assert!(Sidecar::parse(b"{}").is_err() && Sidecar::parse(b"\xff").is_err());
    }
}
