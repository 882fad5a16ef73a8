//! Jobs of a batch, from lists ([`list`](super::list)) or from patterns of inputs and outputs.

use grainfield_io::format::images::pattern::{Pattern, bytes, glob_matches, name};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The largest number of jobs in a list.
pub const MAX_JOBS: usize = 100_000;

/// An option of `render`: its key in lists, and its value; a switch that is on has none.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct JobOption {
    /// The key.
    pub key: String,
    /// The value.
    pub value: Option<OsString>,
}

impl fmt::Display for JobOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)?;
        self.value.iter().try_for_each(|value| write!(f, "={}", value.to_string_lossy()))
    }
}

/// One render, as written in a list.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BatchJob {
    /// The name, which is unique.
    pub name: String,
    /// The input.
    pub input: OsString,
    /// The output.
    pub output: OsString,
    /// Further options of `render`.
    pub options: Vec<JobOption>,
    /// The line of the list for each of them, from 1; empty without a list.
    pub lines: Vec<u32>,
    /// The first line of the job in the list, from 1; 0 without a list.
    pub line: u32,
    /// Whether it is left out until it is resumed.
    pub postponed: bool,
    /// The folder to which files in the options are relative.
    pub folder: PathBuf,
    /// The settings that affect the contents of the output: see [`resolve`](super::fingerprint::resolve).
    pub settings: BTreeMap<String, String>,
}

/// The name of an output, which is the same for all spellings of its path: relative to `folder` if it is there.
pub(super) fn output_name(folder: &Path, output: &OsStr) -> PathBuf {
    let file = output.to_str().and_then(|name| name.strip_prefix("hash:")).map_or(output, OsStr::new);
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let path = absolute(&folder.join(file));
    // joined, since an empty path has no absolute form
    path.strip_prefix(absolute(&folder.join("."))).map(Path::to_path_buf).unwrap_or(path)
}

impl BatchJob {
    /// A job with default options, named by its output.
    pub fn new(input: impl Into<OsString>, output: impl Into<OsString>) -> BatchJob {
        let (input, output) = (input.into(), output.into());
        BatchJob { name: output.to_string_lossy().into_owned(), input, output, ..BatchJob::default() }
    }

    /// Whether its options allow replacing an existing output.
    pub fn overwrites(&self) -> bool {
        self.options.iter().any(|option| option.key == "overwrite")
    }
}

/// A list of jobs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobList {
    /// The folder for outputs, if it is given.
    pub folder: Option<PathBuf>,
    /// In the order of the list.
    pub jobs: Vec<BatchJob>,
}

/// An error in a list, and what would be right.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum JobsError {
    /// Invalid TOML.
    #[error("{0}")]
    Toml(String),
    /// An invalid entry.
    #[error("{place}: {problem}")]
    Bad {
        /// The position.
        place: String,
        /// The problem, and what would be right.
        problem: String,
    },
    /// Two jobs have the same name or output.
    #[error("{a} and {b} have the same {what}: {value}")]
    Twice {
        /// One job.
        a: String,
        /// The other job.
        b: String,
        /// `name` or `output`.
        what: &'static str,
        /// The common value.
        value: String,
    },
    /// The list has no jobs.
    #[error("it has no jobs; add [[job]] with input and output")]
    Empty,
    /// A limit is exceeded.
    #[error("more than {0}")]
    TooMany(&'static str),
}

impl JobsError {
    pub(super) fn bad(place: impl Into<String>, problem: impl Into<String>) -> JobsError {
        JobsError::Bad { place: place.into(), problem: problem.into() }
    }
}

impl JobList {
    /// Returns an error for no jobs, too many, and two with the same name or output, whatever its spelling.
    pub(super) fn check(&self, outputs_folder: &Path) -> Result<(), JobsError> {
        if self.jobs.is_empty() {
            return Err(JobsError::Empty);
        }
        if self.jobs.len() > MAX_JOBS {
            return Err(JobsError::TooMany("100000 jobs"));
        }
        let mut names = BTreeMap::new();
        let mut outputs = BTreeMap::new();
        for (i, job) in self.jobs.iter().enumerate() {
            let twice = |j: usize, what, value: &OsStr| {
                let value = value.to_string_lossy().into_owned();
                let place = |i: usize| match self.jobs[i].line {
                    0 => format!("job {}", i + 1),
                    line => format!("job {} (line {line})", i + 1),
                };
                Err(JobsError::Twice { a: place(j), b: place(i), what, value })
            };
            if let Some(j) = names.insert(job.name.as_str(), i) {
                return twice(j, "name", OsStr::new(&job.name));
            }
            if let Some(j) = outputs.insert(output_name(outputs_folder, &job.output), i) {
                return twice(j, "output", &job.output);
            }
        }
        Ok(())
    }
}

/// The largest number of files and folders that a pattern of inputs may examine.
const MAX_EXAMINED: usize = 10_000_000;

/// Makes a job for each input that matches a pattern with `*` and `?`. `to` names the outputs: `{dir}` is the part
/// of the input's folder that wildcards matched, `{name}` its name without number and extension, and `{ext}` the
/// extension. A sequence (`####`) is one job per folder. `options` are those of `render`.
///
/// # Errors
/// [`JobsError`] if the pattern is invalid, matches no file, or makes two jobs with one output.
pub fn glob(input: &str, to: &str, options: &[JobOption]) -> Result<JobList, JobsError> {
    let mut search = Search { place: format!("'{input}'"), examined: 0 };
    let path = Path::new(input);
    let Some(file) = path.file_name().filter(|_| !input.ends_with('/')) else {
        return Err(JobsError::bad(search.place, "is empty"));
    };
    let pattern =
        Pattern::parse(OsStr::new(file)).map_err(|e| JobsError::bad(&search.place, e.to_string()))?;
    let mut jobs = JobList::default();
    for (folder, found) in search.folders(path.parent().unwrap_or(Path::new("")))? {
        let names = match search.names(&folder) {
            Ok(names) => names,
            // a missing folder contains no inputs
            Err(_) if !folder.exists() => continue,
            Err(e) => return Err(e),
        };
        let inputs = match &pattern {
            // the existing sequences: the wildcard in the name stands for one of them
            Some(pattern) => sequences(file, pattern, &names),
            None => files(file, names, &folder),
        };
        for (file, stem) in inputs {
            let extension = Path::new(&file).extension().unwrap_or_default().to_string_lossy().into_owned();
            let dir = found.to_string_lossy();
            let output = substitute(to, &[("dir", &dir), ("name", &stem), ("ext", &extension)])?.into();
            let input = folder.join(file).into_os_string();
            let name = input.to_string_lossy().into_owned();
            jobs.jobs.push(BatchJob {
                name,
                input,
                output,
                options: options.to_vec(),
                ..BatchJob::default()
            });
            if jobs.jobs.len() > MAX_JOBS {
                return Err(JobsError::TooMany("100000 jobs"));
            }
        }
    }
    if jobs.jobs.is_empty() {
        return Err(JobsError::bad(search.place, "matches no file"));
    }
    jobs.check(Path::new("."))?;
    Ok(jobs)
}

fn is_wild(part: &OsStr) -> bool {
    bytes(part).iter().any(|b| b"*?".contains(b))
}

/// Whether a name matches a pattern, which hidden names never do.
fn matches(pattern: &OsStr, name: &OsStr) -> bool {
    !bytes(name).starts_with(b".") && glob_matches(bytes(pattern), bytes(name))
}

/// A search for inputs.
struct Search {
    /// The pattern, for errors.
    place: String,
    /// The number of files and folders that were examined.
    examined: usize,
}

impl Search {
    /// The folders that match a pattern, with the part that its wildcards matched.
    fn folders(&mut self, pattern: &Path) -> Result<Vec<(PathBuf, PathBuf)>, JobsError> {
        let parts: Vec<Component<'_>> = pattern.components().collect();
        let fixed = parts.iter().take_while(|c| !is_wild(c.as_os_str())).count();
        let root: PathBuf = parts[..fixed].iter().collect();
        let mut folders = vec![(root, PathBuf::new())];
        for part in parts[fixed..].iter().map(|part| part.as_os_str()) {
            let mut next = Vec::new();
            for (folder, found) in folders {
                let names = if is_wild(part) { self.names(&folder)? } else { vec![part.to_owned()] };
                let is_match =
                    |name: &OsString| !is_wild(part) || matches(part, name) && folder.join(name).is_dir();
                next.extend(
                    names.iter().filter(|name| is_match(name)).map(|n| (folder.join(n), found.join(n))),
                );
            }
            folders = next;
        }
        Ok(folders)
    }

    /// The names in a folder, sorted.
    fn names(&mut self, folder: &Path) -> Result<Vec<OsString>, JobsError> {
        let real = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let entries = std::fs::read_dir(real).and_then(|entries| {
            // enough to notice that there are too many
            let names = entries.take(MAX_EXAMINED + 1).map(|entry| Ok(entry?.file_name()));
            names.collect::<io::Result<Vec<_>>>()
        });
        let mut names =
            entries.map_err(|e| JobsError::bad(&self.place, format!("{}: {e}", real.display())))?;
        self.examined += names.len();
        if self.examined > MAX_EXAMINED {
            return Err(JobsError::TooMany("10,000,000 files and folders below the pattern"));
        }
        names.sort();
        Ok(names)
    }
}

/// The files among some names that match a pattern, with their names without extension.
fn files(pattern: &OsStr, names: Vec<OsString>, folder: &Path) -> Vec<(OsString, String)> {
    let stem = |name: &OsStr| Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let files = names.into_iter().filter(|name| matches(pattern, name) && folder.join(name).is_file());
    files.map(|name| (name.clone(), stem(&name))).collect()
}

/// The sequences among some names, as patterns, with the text before the number.
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

/// The text before the placeholder, the placeholder, and the text after it.
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

/// Replaces names in braces by their values.
fn substitute(to: &str, values: &[(&str, &str)]) -> Result<String, JobsError> {
    let mut out = String::new();
    let mut rest = to;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let Some(close) = rest[open..].find('}') else {
            return Err(JobsError::bad(
                "the pattern of outputs",
                format!("'{to}': a closing brace is missing"),
            ));
        };
        let key = &rest[open + 1..open + close];
        let Some((_, value)) = values.iter().find(|v| v.0 == key) else {
            let problem = format!("{{{key}}} is not known; use {{dir}}, {{name}} and {{ext}}");
            return Err(JobsError::bad("the pattern of outputs", problem));
        };
        out.push_str(value);
        rest = &rest[open + close + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// The folder that contains all outputs of a `--to`: the part before the first brace or number.
pub fn fixed(to: &str) -> PathBuf {
    let parts = Path::new(to).parent().unwrap_or(Path::new("")).components();
    parts.take_while(|c| !bytes(c.as_os_str()).contains(&b'{')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let short = |j: &BatchJob| {
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
        assert!(found("s/*/none.####.exr", "x").unwrap_err().contains("matches no file"));
        assert!(found("s/*/plate.####.exr", "out/x.####.exr").unwrap_err().contains("same output"));
        assert!(found("s/*/plate.####.exr", "{what}").unwrap_err().contains("{what}"));
        assert_eq!(fixed("out/x/{dir}/{name}.exr"), Path::new("out/x"));
    }
}
