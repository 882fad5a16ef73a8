//! One render on several machines: shard `I` of `N` is a contiguous part of the frames, and all shards together
//! contain every frame once.
//!
//! They are the requested frames, in order; shard `I` contains those from `(I - 1) * count / N` up to `I * count /
//! N`, so that no two shards differ by more than one frame. Video is cut on the segment grid by the same rule for
//! segments.
//!
//! The data for joining a shard that is one file is a [`ShardRecord`] in its manifest.

use crate::encoding::{Audio, Subs};
use crate::journal::{Cuts, SourceEnds};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// The largest number of shards of a render.
pub const MAX_SHARDS: u32 = 1_000_000;

/// Kinds of outputs that are one file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Frames after a header.
    Y4m,
    /// Lines.
    Hash,
    /// Frames without a header.
    Raw,
    /// An animated picture, which is written as a whole.
    Animation,
    /// A container; a shard contains only the picture.
    Video,
}

/// The data for joining a shard that is one file, in addition to the entry of the file in the manifest.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ShardRecord {
    /// The shard's number, from 1.
    pub index: u32,
    /// The number of shards.
    pub count: u32,
    /// The kind of file.
    pub kind: Kind,
    /// The input, as given.
    pub input: String,
    /// The number of frames that this shard should have.
    pub wanted: u64,
    /// Data for video.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub video: Option<Video>,
}

/// The data for joining video, in addition to the packets.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Video {
    /// Seconds per tick, numerator and denominator.
    pub tick: (i32, i32),
    /// The ends of the source that all shards together render.
    pub ends: SourceEnds,
    /// Where all shards together leave frames out.
    #[serde(default)]
    pub cuts: Cuts,
    /// How sound is written.
    pub audio: Audio,
    /// The encoder of sound, if it was chosen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub audio_codec: Option<String>,
    /// Its bits per second.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub audio_bitrate: Option<u64>,
    /// The tag of the picture's codec.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tag: Option<String>,
    /// How subtitles are written.
    pub subs: Subs,
    /// Leave chapters out.
    pub no_chapters: bool,
    /// Protocols that the input may use.
    pub allow_protocol: Vec<String>,
}

impl ShardRecord {
    /// Whether the record is valid.
    pub fn is_possible(&self) -> bool {
        let tick = self.video.as_ref().map_or((1, 1), |video| video.tick);
        Shard::new(self.index.into(), self.count).is_ok() && tick.0 > 0 && tick.1 > 0
    }
}

/// Shard `index` of `count`; `index` counts from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    index: u32,
    count: u32,
}

/// The choice of a shard, as given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// `I/N`.
    Given(Shard),
    /// `auto`: both from the environment.
    Auto,
    /// `auto/N`: the index from the environment.
    AutoOf(u32),
}

/// An error in a shard, and what would be right.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ShardError {
    /// Not the text of a shard.
    #[error("a shard is written I/N, with I from 1 to N (3/8), or auto, or auto/N")]
    Form,
    /// The index is out of range.
    #[error("shard {index} of {count}: the index counts from 1 and ends at {count}")]
    Index {
        /// The index.
        index: i64,
        /// The number of shards.
        count: u32,
    },
    /// The number of shards is 0 or too large.
    #[error("{0} shards: 1 to {MAX_SHARDS} are possible")]
    Count(u64),
    /// A variable is not set.
    #[error("{variable} is not set; {advice}")]
    Unset {
        /// The variable.
        variable: &'static str,
        /// The advice.
        advice: &'static str,
    },
    /// A variable is not a number, or is out of range.
    #[error("{variable}={value}: expected {wanted}")]
    Value {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// The expected value.
        wanted: &'static str,
    },
    /// The tasks of the array do not match one render.
    #[error(
        "task {id} of an array that begins at {min} and has {tasks} tasks cannot be mapped to {count} shards: \
         use I/{count}"
    )]
    Part {
        /// The task's number.
        id: i64,
        /// The lowest number in the array.
        min: i64,
        /// The number of tasks of the array.
        tasks: u32,
        /// The number of shards requested.
        count: u32,
    },
}

impl Shard {
    /// Shard `index` (from 1) of `count`.
    ///
    /// # Errors
    /// [`ShardError::Index`] and [`ShardError::Count`].
    pub fn new(index: i64, count: u32) -> Result<Shard, ShardError> {
        if !(1..=MAX_SHARDS).contains(&count) {
            return Err(ShardError::Count(count.into()));
        }
        let fits = u32::try_from(index).ok().filter(|i| (1..=count).contains(i));
        fits.map(|index| Shard { index, count }).ok_or(ShardError::Index { index, count })
    }

    /// From 1.
    pub fn index(self) -> u32 {
        self.index
    }

    /// The number of shards.
    pub fn count(self) -> u32 {
        self.count
    }

    /// The part of `0..items` for this shard: the first, and one after the last.
    pub fn part(self, items: u64) -> (u64, u64) {
        let cut = |i: u32| (u128::from(items) * u128::from(i) / u128::from(self.count)) as u64;
        (cut(self.index - 1), cut(self.index))
    }

    /// `NAME.I-of-N.EXT`: the name of this shard of one file. `I` has as many digits as `N`.
    pub fn named(self, output: &OsStr) -> OsString {
        let path = Path::new(output);
        let mut file = path.file_stem().unwrap_or_default().to_owned();
        file.push(format!(".{self}"));
        if let Some(ext) = path.extension() {
            file.push(".");
            file.push(ext);
        }
        path.with_file_name(file).into_os_string()
    }
}

/// Prints `I-of-N`, as in names of files.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.count.to_string().len();
        write!(f, "{:0digits$}-of-{}", self.index, self.count)
    }
}

fn count(text: &str) -> Result<u32, ShardError> {
    let number = integer(text).ok_or(ShardError::Form)?;
    let count = u64::try_from(number).map_err(|_| ShardError::Form)?;
    u32::try_from(count).ok().filter(|n| (1..=MAX_SHARDS).contains(n)).ok_or(ShardError::Count(count))
}

/// Digits with an optional minus sign.
fn integer(text: &str) -> Option<i64> {
    if text.starts_with('+') { None } else { text.parse().ok() }
}

impl FromStr for Choice {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Choice, ShardError> {
        if text == "auto" {
            return Ok(Choice::Auto);
        }
        let (index, of) = text.split_once('/').ok_or(ShardError::Form)?;
        let count = count(of)?;
        if index == "auto" {
            return Ok(Choice::AutoOf(count));
        }
        Shard::new(integer(index).ok_or(ShardError::Form)?, count).map(Choice::Given)
    }
}

const TASK: &str = "SLURM_ARRAY_TASK_ID";
const INDEX: &str = "JOB_COMPLETION_INDEX";

impl Choice {
    /// Resolves the shard. `look` returns a variable of the environment; it is not called for `I/N`.
    ///
    /// `auto` uses a Slurm job array: `SLURM_ARRAY_TASK_ID`, counted from `_MIN` in steps of `_STEP`, of `_COUNT`.
    /// `auto/N` uses the index from there, else from `JOB_COMPLETION_INDEX`, which counts from 0.
    ///
    /// # Errors
    /// See [`ShardError`].
    pub fn resolve(self, look: impl Fn(&str) -> Option<OsString>) -> Result<Shard, ShardError> {
        let number = |variable: &'static str, wanted| match look(variable).filter(|v| !v.is_empty()) {
            None => Ok(None),
            Some(value) => {
                let text = value.to_string_lossy().into_owned();
                integer(&text).map(Some).ok_or(ShardError::Value { variable, value: text, wanted })
            }
        };
        let wanted = match self {
            Choice::Given(shard) => return Ok(shard),
            Choice::Auto => None,
            Choice::AutoOf(count) => Some(count),
        };
        let Some(id) = number(TASK, "a task's number")? else {
            let Some(count) = wanted else {
                let advice = "the shard 'auto' needs a Slurm job array; elsewhere use auto/N or I/N";
                return Err(ShardError::Unset { variable: TASK, advice });
            };
            let Some(index) = number(INDEX, "an index, 0 or more")? else {
                let advice = "nor is JOB_COMPLETION_INDEX: use I/N";
                return Err(ShardError::Unset { variable: TASK, advice });
            };
            return Shard::new(index.saturating_add(1), count);
        };
        let advice = "Slurm sets it in every task of an array; elsewhere use I/N";
        let need = |variable, wanted| {
            number(variable, wanted).and_then(|n| n.ok_or(ShardError::Unset { variable, advice }))
        };
        let min = need("SLURM_ARRAY_TASK_MIN", "a task's number")?;
        let step = need("SLURM_ARRAY_TASK_STEP", "a step, 1 or more")?;
        let tasks = need("SLURM_ARRAY_TASK_COUNT", "a number of tasks")?;
        let value =
            |variable, value: i64, wanted| ShardError::Value { variable, value: value.to_string(), wanted };
        if step < 1 {
            return Err(value("SLURM_ARRAY_TASK_STEP", step, "a step, 1 or more"));
        }
        let tasks = u32::try_from(tasks)
            .ok()
            .filter(|n| (1..=MAX_SHARDS).contains(n))
            .ok_or_else(|| value("SLURM_ARRAY_TASK_COUNT", tasks, "a number of tasks"))?;
        let away = id.checked_sub(min).filter(|a| *a >= 0 && a % step == 0);
        let away = away.ok_or_else(|| value(TASK, id, "one of the evenly spaced tasks of its array"))?;
        let count = wanted.unwrap_or(tasks);
        // a part of an array that was submitted again: the start of the whole array is unknown
        if count != tasks && min > 1 {
            return Err(ShardError::Part { id, min, tasks, count });
        }
        Shard::new(away / step + 1, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        let shard = |text: &str| text.parse::<Choice>();
        assert_eq!(shard("3/8"), Ok(Choice::Given(Shard { index: 3, count: 8 })));
        assert_eq!((shard("auto"), shard("auto/4")), (Ok(Choice::Auto), Ok(Choice::AutoOf(4))));
        for form in ["", "3", "/", "3/", "/8", "+1/2", "a/2", "1/2/3", "1/-2", " 1/2", "AUTO", "auto/"] {
            assert_eq!(shard(form), Err(ShardError::Form), "{form}");
        }
        for (text, index, count) in [("0/8", 0, 8), ("9/8", 9, 8), ("-1/8", -1, 8)] {
            assert_eq!(shard(text), Err(ShardError::Index { index, count }));
        }
        assert_eq!(shard("1/0"), Err(ShardError::Count(0)));
        assert_eq!(shard("1/9999999999"), Err(ShardError::Count(9_999_999_999)));
    }

    #[test]
    fn parts_are_everything_once() {
        for items in [0, 1, 2, 7, 100, 1001, u64::MAX] {
            for count in [1, 2, 3, 7, 64, 999] {
                let mut at = 0;
                for index in 1..=count {
                    let (first, end) = Shard::new(index.into(), count).unwrap().part(items);
                    assert_eq!(first, at);
                    let even = items / u64::from(count);
                    assert!((even..=even.saturating_add(1)).contains(&(end - first)));
                    at = end;
                }
                assert_eq!(at, items);
            }
        }
    }

    #[test]
    fn names() {
        let named = |i, n, name: &str| Shard::new(i, n).unwrap().named(OsStr::new(name));
        assert_eq!(named(3, 8, "out/a.b.mkv"), "out/a.b.3-of-8.mkv");
        assert_eq!(named(3, 120, "a.y4m"), "a.003-of-120.y4m");
        assert_eq!(named(1, 1, "hashes"), "hashes.1-of-1");
    }

    fn auto(choice: Choice, vars: &[(&str, &str)]) -> Result<(u32, u32), ShardError> {
        let look = |name: &str| vars.iter().find(|v| v.0 == name).map(|v| v.1.into());
        choice.resolve(look).map(|s| (s.index, s.count))
    }

    fn array(id: &str, min: &str, step: &str, count: &str, choice: Choice) -> Result<(u32, u32), ShardError> {
        let vars = [
            ("SLURM_ARRAY_TASK_ID", id),
            ("SLURM_ARRAY_TASK_MIN", min),
            ("SLURM_ARRAY_TASK_STEP", step),
            ("SLURM_ARRAY_TASK_COUNT", count),
            ("JOB_COMPLETION_INDEX", "7"),
        ];
        auto(choice, &vars)
    }

    #[test]
    fn slurm() {
        assert_eq!(array("1", "1", "1", "4", Choice::Auto), Ok((1, 4)));
        assert_eq!(array("3", "0", "1", "4", Choice::Auto), Ok((4, 4)));
        assert_eq!(array("30", "10", "10", "4", Choice::Auto), Ok((3, 4)));
        assert_eq!(array("3", "1", "1", "4", Choice::AutoOf(8)), Ok((3, 8)));
        assert!(matches!(array("7", "1", "2", "3", Choice::Auto), Err(ShardError::Index { .. })));
        assert!(matches!(array("4", "1", "2", "3", Choice::Auto), Err(ShardError::Value { .. })));
        assert!(matches!(array("5", "5", "1", "1", Choice::AutoOf(10)), Err(ShardError::Part { .. })));
        for bad in [("x", "1", "1", "4"), ("1", "", "1", "4"), ("1", "1", "0", "4"), ("1", "1", "1", "-4")] {
            assert!(array(bad.0, bad.1, bad.2, bad.3, Choice::Auto).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn kubernetes_counts_from_0() {
        let index = |value| auto(Choice::AutoOf(4), &[("JOB_COMPLETION_INDEX", value)]);
        assert_eq!((index("0"), index("3")), (Ok((1, 4)), Ok((4, 4))));
        assert!(index("4").is_err() && index("-1").is_err() && index("one").is_err());
        assert!(auto(Choice::Auto, &[("JOB_COMPLETION_INDEX", "0")]).is_err());
        assert!(auto(Choice::AutoOf(4), &[]).is_err());
    }

    #[test]
    fn the_environment_is_not_looked_at_unasked() {
        let shard = Shard::new(1, 2).unwrap();
        assert_eq!(Choice::Given(shard).resolve(|name| panic!("{name}")), Ok(shard));
    }
}
