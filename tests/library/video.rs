//! Shared parts of the tests of reading video: clips made by the ffmpeg program, and frames as hashes.
#![allow(dead_code, unreachable_pub)] // each test file uses a part of it

use grainfield::source::{self, Options, Slot, Source};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs ffmpeg in `folder`; arguments are divided at spaces. Fails the test if ffmpeg does.
pub fn ffmpeg(folder: &Path, args: &str) {
    let words: Vec<&str> = args.split_whitespace().collect();
    ffmpeg_words(folder, &words);
}

/// Runs ffmpeg in `folder`; returns whether it succeeded.
pub fn try_ffmpeg(folder: &Path, args: &str) -> bool {
    let mut command = Command::new("ffmpeg");
    command.args(["-nostdin", "-hide_banner", "-loglevel", "quiet", "-y"]).args(args.split_whitespace());
    command.current_dir(folder).status().expect("ffmpeg must be installed (./x test does it)").success()
}

/// Runs ffmpeg in `folder`.
pub fn ffmpeg_words(folder: &Path, words: &[&str]) {
    let out = Command::new("ffmpeg")
        .args(["-nostdin", "-hide_banner", "-loglevel", "error", "-y"])
        .args(words)
        .current_dir(folder)
        .output()
        .expect("ffmpeg must be installed (./x test does it)");
    assert!(out.status.success(), "ffmpeg {words:?}: {}", String::from_utf8_lossy(&out.stderr));
}

/// The MD5s of a stream's frames, from ffmpeg.
pub fn framemd5(file: &Path, more: &[&str]) -> Vec<String> {
    let out = Command::new("ffmpeg")
        .args(["-nostdin", "-hide_banner", "-loglevel", "fatal", "-i"])
        .arg(file)
        .args(["-an", "-sn", "-fps_mode", "passthrough"])
        .args(more)
        .args(["-f", "framemd5", "-"])
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let hash = |l: &str| l.rsplit(',').next().unwrap().trim().to_owned();
    text.lines().filter(|l| !l.starts_with('#')).map(hash).collect()
}

/// The pixel format that ffmpeg reports for a file's video.
pub fn pix_fmt(file: &Path) -> String {
    let args = ["-v", "error", "-show_entries", "stream=pix_fmt", "-of", "csv=p=0"];
    let out = Command::new("ffprobe").args(args).arg(file).output().unwrap();
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

/// A frame as a test sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub number: i64,
    pub hash: String,
    /// Seconds, as a ratio's text.
    pub time: String,
    pub duration: String,
}

/// The next frame, decoded and hashed.
pub fn next(source: &mut dyn Source, slot: &mut Slot) -> Result<Option<Seen>, source::SourceError> {
    let Some(stamp) = source.next(slot)? else { return Ok(None) };
    source.decoder().decode(&stamp, slot)?;
    let hash = format!("{:032x}", slot.frame.digest());
    let (time, duration) = (stamp.time.to_string(), stamp.duration.to_string());
    Ok(Some(Seen { number: stamp.number, hash, time, duration }))
}

/// Every frame, from the start.
pub fn all(source: &mut dyn Source) -> Vec<Seen> {
    let mut slot = Slot::default();
    let mut list = Vec::new();
    while let Some(seen) = next(source, &mut slot).unwrap_or_else(|e| panic!("{e}")) {
        list.push(seen);
    }
    list
}

pub fn open(file: impl AsRef<Path>) -> Box<dyn Source> {
    open_with(file, &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

pub fn open_with(file: impl AsRef<Path>, options: &Options) -> Result<Box<dyn Source>, source::SourceError> {
    source::open(file.as_ref().as_os_str(), options)
}

/// A generator; a failing test prints its seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// `folder/name`
pub fn at(folder: &Path, name: &str) -> PathBuf {
    folder.join(name)
}
