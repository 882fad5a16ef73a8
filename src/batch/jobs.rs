//! Lists of jobs: as TOML, or as a pattern of inputs and one of outputs.
//!
//! ```toml
//! version = 1                  # may be left out
//! folder = "out"               # where outputs go; may be left out: the folder of this file
//!
//! [all]                        # options of every job; its own win
//! recipe = "look.toml"
//!
//! [[job]]
//! name = "shot 10"             # may be left out: the output
//! input = "shots/010/plate.####.exr"
//! output = "010/plate.####.exr"
//! filters = "grain=preset=35mm"
//! frames = "1001-1100"
//! crf = 18                     # any option of 'grainfield render', by its long name
//! segments = true
//! ```
//!
//! Relative inputs and files of options are looked for in the folder of the list, outputs in `folder`.

use crate::images::pattern::{Pattern, bytes, glob_matches, name};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Component, Path, PathBuf};
use toml::Value;

/// The version of the format.
const VERSION: i64 = 1;
/// The most bytes of a list.
pub const MAX_TEXT: u64 = 16 << 20;
/// The most jobs of a list.
pub const MAX_JOBS: usize = 100_000;

/// One render, as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// What it is called; no two jobs are called the same.
    pub name: String,
    /// The input.
    pub input: OsString,
    /// The output.
    pub output: OsString,
    /// Further words of the command line of `render`.
    pub options: Vec<OsString>,
}

/// A list of jobs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Jobs {
    /// Where outputs go, if it is said.
    pub folder: Option<PathBuf>,
    /// In the order they are written.
    pub jobs: Vec<Job>,
}

/// What is wrong with a list, and what would be right.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum JobsError {
    /// It is no TOML.
    #[error("{0}")]
    Toml(String),
    /// Something in it is not as it should be.
    #[error("{place}: {problem}")]
    Bad {
        /// Where.
        place: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// Two jobs would write the same.
    #[error("{a} and {b} have the same {what}: {value}")]
    Twice {
        /// One.
        a: String,
        /// The other.
        b: String,
        /// Their name or their output.
        what: &'static str,
        /// What it is.
        value: String,
    },
    /// There is none.
    #[error("there is no job in it; write [[job]] with input and output")]
    Empty,
    /// Too much.
    #[error("more than {0}")]
    Most(&'static str),
}

fn bad<T>(place: impl fmt::Display, problem: impl Into<String>) -> Result<T, JobsError> {
    Err(JobsError::Bad { place: place.to_string(), problem: problem.into() })
}

/// Options whose value is a file that is looked for in the folder of the list.
const FILES: [&str; 1] = ["recipe"];
/// Options that are asked for on the command line of `batch` alone, or that a job says otherwise.
const NOT: [&str; 9] =
    ["shard", "resume", "verify", "progress", "quiet", "verbose", "help", "input", "output"];

impl Jobs {
    /// Reads a list; `folder` is the one it lies in.
    pub fn parse(text: &str, folder: &Path) -> Result<Jobs, JobsError> {
        if text.len() as u64 > MAX_TEXT {
            return Err(JobsError::Most("16 MiB of text"));
        }
        let table: toml::Table = toml::from_str(text).map_err(|e| JobsError::Toml(e.to_string()))?;
        let mut jobs = Jobs::default();
        let mut all: BTreeMap<String, Value> = BTreeMap::new();
        let mut list = Vec::new();
        for (key, value) in table {
            match (key.as_str(), value) {
                ("version", Value::Integer(VERSION)) => {}
                ("version", value) => {
                    return bad("version", format!("this program reads version {VERSION}, not {value}"));
                }
                ("folder", Value::String(text)) => jobs.folder = Some(folder.join(text)),
                ("all", Value::Table(table)) => all.extend(table),
                ("job", Value::Array(array)) => list = array,
                (other, _) => {
                    return bad(
                        other,
                        "only version, folder, [all] and [[job]] stand here, each in its form",
                    );
                }
            }
        }
        if list.len() > MAX_JOBS {
            return Err(JobsError::Most("100000 jobs"));
        }
        for (i, value) in list.into_iter().enumerate() {
            let place = format!("job {}", i + 1);
            let Value::Table(own) = value else { return bad(place, "a job is a table: [[job]]") };
            let mut settings = all.clone();
            settings.extend(own);
            jobs.jobs.push(job(&place, settings, folder)?);
        }
        jobs.check()?;
        Ok(jobs)
    }

    fn check(&self) -> Result<(), JobsError> {
        if self.jobs.is_empty() {
            return Err(JobsError::Empty);
        }
        if self.jobs.len() > MAX_JOBS {
            return Err(JobsError::Most("100000 jobs"));
        }
        let mut names = BTreeMap::new();
        let mut outputs = BTreeMap::new();
        for (i, job) in self.jobs.iter().enumerate() {
            let twice = |j: usize, what, value: &OsStr| {
                let value = value.to_string_lossy().into_owned();
                Err(JobsError::Twice {
                    a: format!("job {}", j + 1),
                    b: format!("job {}", i + 1),
                    what,
                    value,
                })
            };
            if let Some(j) = names.insert(job.name.as_str(), i) {
                return twice(j, "name", OsStr::new(&job.name));
            }
            if let Some(j) = outputs.insert(job.output.as_os_str(), i) {
                return twice(j, "output", &job.output);
            }
        }
        Ok(())
    }
}

fn job(place: &str, mut settings: BTreeMap<String, Value>, folder: &Path) -> Result<Job, JobsError> {
    let mut text = |key: &str| match settings.remove(key) {
        None => Ok(None),
        Some(Value::String(text)) if !text.is_empty() && !text.contains('\0') => Ok(Some(text)),
        Some(_) => bad(format!("{place}, {key}"), "is a text in quotes, and not empty"),
    };
    let (name, input, output) = (text("name")?, text("input")?, text("output")?);
    let (Some(input), Some(output)) = (input, output) else {
        return bad(place, "a job has an input and an output");
    };
    let mut options = Vec::new();
    for (key, value) in settings {
        let place = format!("{place}, {key}");
        if NOT.contains(&key.as_str()) || !key.bytes().all(|b| b.is_ascii_lowercase() || b"-_".contains(&b)) {
            return bad(place, "is no option that a job can have: see 'grainfield render -h'");
        }
        let option = format!("--{}", key.replace('_', "-"));
        let values = match value {
            Value::Boolean(true) => {
                options.push(option.into());
                continue;
            }
            Value::Boolean(false) => continue,
            Value::Array(values) => values,
            one => vec![one],
        };
        for value in values {
            let text = match value {
                Value::String(text) if text.contains('\0') => {
                    return bad(place, "there is a zero byte in it");
                }
                Value::String(text) if FILES.contains(&key.as_str()) => {
                    folder.join(text).to_string_lossy().into_owned()
                }
                Value::String(text) => text,
                Value::Integer(n) => n.to_string(),
                Value::Float(x) => x.to_string(),
                _ => return bad(place, "is a text, a number, true or false, or a list of these"),
            };
            // in one word, so that a value that begins with a minus sign is not taken for an option
            options.push(format!("{option}={text}").into());
        }
    }
    let input = match input.as_str() {
        text if text.starts_with("pattern:") => input.into(),
        text => folder.join(text).into_os_string(),
    };
    let name = name.unwrap_or_else(|| output.clone());
    Ok(Job { name, input, output: output.into(), options })
}

/// The most files and folders that a pattern of inputs looks at.
const MAX_SEEN: usize = 10_000_000;

/// Jobs for all inputs that a pattern with `*` and `?` finds, each with an output by `to`, in which `{dir}` is the
/// input's folder as far as wildcards have found it, `{name}` its name without number and extension, and `{ext}` the
/// extension. A sequence (`####`) is one job a folder. `options` are those of `render`.
pub fn glob(input: &str, to: &str, options: &[OsString]) -> Result<Jobs, JobsError> {
    let place = format!("'{input}'");
    let path = Path::new(input);
    let Some(file) = path.file_name().filter(|_| !input.ends_with('/')) else {
        return bad(place, "names no file");
    };
    let pattern = match Pattern::parse(OsStr::new(file)) {
        Err(e) => return bad(place, e.to_string()),
        Ok(pattern) => pattern,
    };
    let wild = |part: &OsStr| bytes(part).iter().any(|b| b"*?".contains(b));
    let parts: Vec<Component<'_>> = path.parent().unwrap_or(Path::new("")).components().collect();
    let fixed = parts.iter().take_while(|c| !wild(c.as_os_str())).count();
    let root: PathBuf = parts[..fixed].iter().collect();
    let mut folders = vec![(root, PathBuf::new())];
    let mut seen = 0;
    for part in &parts[fixed..] {
        let mut next = Vec::new();
        for (folder, found) in folders {
            if !wild(part.as_os_str()) {
                next.push((folder.join(part), found.join(part)));
                continue;
            }
            for name in listed(&folder, &mut seen, &place)? {
                let hidden = bytes(&name).starts_with(b".");
                if !hidden
                    && glob_matches(bytes(part.as_os_str()), bytes(&name))
                    && folder.join(&name).is_dir()
                {
                    next.push((folder.join(&name), found.join(&name)));
                }
            }
        }
        folders = next;
    }
    let mut jobs = Jobs::default();
    for (folder, found) in folders {
        let mut add = |file: &OsStr, stem: String| -> Result<(), JobsError> {
            let extension = Path::new(file).extension().unwrap_or_default().to_string_lossy().into_owned();
            let dir = found.to_string_lossy();
            let output = substitute(to, &[("dir", &dir), ("name", &stem), ("ext", &extension)])?;
            let input = folder.join(file).into_os_string();
            let name = input.to_string_lossy().into_owned();
            jobs.jobs.push(Job { name, input, output: output.into(), options: options.to_vec() });
            if jobs.jobs.len() > MAX_JOBS { Err(JobsError::Most("100000 jobs")) } else { Ok(()) }
        };
        let names = match listed(&folder, &mut seen, &place) {
            Ok(names) => names,
            // a folder that is not there holds no input
            Err(_) if !folder.exists() => continue,
            Err(e) => return Err(e),
        };
        match &pattern {
            // which sequences there are: the wildcard in the name stands for one of them
            Some(pattern) => {
                for (sequence, stem) in sequences(file, pattern, &names) {
                    add(&sequence, stem)?;
                }
            }
            None => {
                for name in &names {
                    let hidden = bytes(name).starts_with(b".");
                    if !hidden && glob_matches(bytes(file), bytes(name)) && folder.join(name).is_file() {
                        let stem =
                            Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
                        add(name, stem)?;
                    }
                }
            }
        }
    }
    if jobs.jobs.is_empty() {
        return bad(place, "finds no file");
    }
    jobs.check()?;
    Ok(jobs)
}

fn listed(folder: &Path, seen: &mut usize, place: &str) -> Result<Vec<OsString>, JobsError> {
    let real = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut names = Vec::new();
    let entries = std::fs::read_dir(real);
    for entry in entries.or_else(|e| bad(place, format!("{}: {e}", real.display())))? {
        names.push(entry.or_else(|e| bad(place, format!("{}: {e}", real.display())))?.file_name());
        *seen += 1;
        if *seen > MAX_SEEN {
            return Err(JobsError::Most("10000000 files and folders under the pattern"));
        }
    }
    names.sort();
    Ok(names)
}

/// The sequences among some names, as patterns, with what stands before the number.
fn sequences(file: &OsStr, pattern: &Pattern, names: &[OsString]) -> Vec<(OsString, String)> {
    let trimmed = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        text.trim_end_matches(['.', '_', '-', ' ']).to_owned()
    };
    let (before, place, after) = split(bytes(file));
    if !before.iter().chain(after).any(|b| b"*?".contains(b)) {
        let any = names.iter().any(|n| pattern.matches(n).is_some());
        return if any { vec![(file.to_owned(), trimmed(before))] } else { Vec::new() };
    }
    let mut found: BTreeMap<OsString, String> = BTreeMap::new();
    for text in names.iter().map(|n| bytes(n)).filter(|n| !n.starts_with(b".")) {
        // every run of digits may be the number
        let mut at = 0;
        while at < text.len() {
            let digits = text[at..].iter().take_while(|b| b.is_ascii_digit()).count();
            if digits == 0 {
                at += 1;
                continue;
            }
            let (head, tail) = (&text[..at], &text[at + digits..]);
            if glob_matches(before, head) && glob_matches(after, tail) {
                let named = name([head, place, tail].concat());
                let fits = Pattern::parse(&named)
                    .ok()
                    .flatten()
                    .is_some_and(|p| p.matches(&name(text.to_vec())).is_some());
                if fits {
                    found.insert(named, trimmed(head));
                }
            }
            at += digits;
        }
    }
    found.into_iter().collect()
}

/// What stands before the number's place, the place, and what stands behind it.
fn split(text: &[u8]) -> (&[u8], &[u8], &[u8]) {
    let start = ["%", "$F", "#", "@"].iter().find_map(|mark| {
        let mark = mark.as_bytes();
        text.windows(mark.len()).position(|w| w == mark)
    });
    let start = start.unwrap_or(text.len());
    let rest = &text[start..];
    let len = match rest.first() {
        Some(b'%') => rest.iter().position(|&b| b == b'd').map_or(rest.len(), |i| i + 1),
        Some(b'$') => 2 + rest.iter().skip(2).take_while(|b| b.is_ascii_digit()).count(),
        Some(&mark) => rest.iter().take_while(|&&b| b == mark).count(),
        None => 0,
    };
    (&text[..start], &rest[..len.min(rest.len())], &rest[len.min(rest.len())..])
}

/// Puts values in the places of their names in braces.
fn substitute(to: &str, values: &[(&str, &str)]) -> Result<String, JobsError> {
    let mut out = String::new();
    let mut rest = to;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let Some(close) = rest[open..].find('}') else {
            return bad("--to", format!("'{to}': a brace is not closed"));
        };
        let key = &rest[open + 1..open + close];
        let Some((_, value)) = values.iter().find(|v| v.0 == key) else {
            return bad("--to", format!("{{{key}}} is none of {{dir}}, {{name}} and {{ext}}"));
        };
        out.push_str(value);
        rest = &rest[open + close + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// The folder that all outputs of a `--to` are in: what stands before the first brace or number.
pub fn fixed(to: &str) -> PathBuf {
    let parts = Path::new(to).parent().unwrap_or(Path::new("")).components();
    parts.take_while(|c| !bytes(c.as_os_str()).contains(&b'{')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Jobs, String> {
        Jobs::parse(text, Path::new("/here")).map_err(|e| e.to_string())
    }

    #[test]
    fn lists() {
        let text = "folder='out'\n[all]\ncrf=18\nrecipe='a.toml'\n[[job]]\ninput='a.mp4'\noutput='b.mkv'\ncrf=20\n\
                    segments=true\nlossless=false\ncodec_opt=['a=1','b=2']\n[[job]]\nname='x'\ninput='pattern:bars'\n\
                    output='c.y4m'";
        let jobs = parse(text).unwrap();
        assert_eq!(jobs.folder.as_deref(), Some(Path::new("/here/out")));
        let [a, b] = &jobs.jobs[..] else { panic!() };
        assert_eq!((a.name.as_str(), a.input.to_str()), ("b.mkv", Some("/here/a.mp4")));
        let options =
            ["--codec-opt=a=1", "--codec-opt=b=2", "--crf=20", "--recipe=/here/a.toml", "--segments"];
        assert_eq!(a.options, options);
        assert_eq!((b.name.as_str(), b.input.to_str()), ("x", Some("pattern:bars")));
        assert_eq!(b.options, ["--crf=18", "--recipe=/here/a.toml"]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let job = "[[job]]\ninput='a'\noutput='b'\n";
        for (text, part) in [
            ("", "no job"),
            ("version=2", "reads version 1"),
            ("job=3", "only version"),
            ("job=[3]", "job 1"),
            ("[[job]]\ninput='a'", "an input and an output"),
            ("[[job]]\ninput=3\noutput='b'", "job 1, input"),
            (&format!("{job}shard='1/2'"), "no option"),
            (&format!("{job}CRF=1"), "no option"),
            (&format!("{job}crf={{a=1}}"), "a number"),
            (&format!("{job}{job}"), "same name"),
            (&format!("{job}{job}name='c'"), "same output"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn patterns_find_jobs() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        for file in [
            "s/b/plate.0001.exr",
            "s/b/plate.0002.exr",
            "s/a/plate.0007.exr",
            "s/a/other.0001.exr",
            "s/c/x.txt",
        ] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, b"").unwrap();
        }
        let found = |input: &str, to: &str| {
            let jobs = glob(&format!("{root}/{input}"), to, &[]).map_err(|e| e.to_string())?;
            let short = |j: &Job| {
                let input = j.input.to_str().unwrap().strip_prefix(root).unwrap().to_owned();
                (input, j.output.to_str().unwrap().to_owned())
            };
            Ok::<_, String>(jobs.jobs.iter().map(short).collect::<Vec<_>>())
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            found("s/*/plate.####.exr", "out/{dir}/{name}.####.exr").unwrap(),
            [
                pair("/s/a/plate.####.exr", "out/a/plate.####.exr"),
                pair("/s/b/plate.####.exr", "out/b/plate.####.exr")
            ]
        );
        assert_eq!(
            found("s/a/*.####.exr", "{name}.%d.{ext}").unwrap(),
            [pair("/s/a/other.####.exr", "other.%d.exr"), pair("/s/a/plate.####.exr", "plate.%d.exr")]
        );
        assert_eq!(found("?/c/*.txt", "{dir}/{name}.mkv").unwrap(), [pair("/s/c/x.txt", "s/c/x.mkv")]);
        assert!(found("s/*/none.####.exr", "x").unwrap_err().contains("finds no file"));
        assert!(found("s/*/plate.####.exr", "out/x.####.exr").unwrap_err().contains("same output"));
        assert!(found("s/*/plate.####.exr", "{what}").unwrap_err().contains("{what}"));
        assert_eq!(fixed("out/x/{dir}/{name}.exr"), Path::new("out/x"));
    }
}
