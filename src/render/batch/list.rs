//! Lists of jobs, as TOML.
//!
//! ```toml
//! version = 1                  # may be left out
//! folder = "out"               # folder for outputs; default: the folder of this file
//!
//! [all]                        # options of all jobs; those of a job override them
//! recipe = "look.toml"
//!
//! [[job]]
//! name = "shot 10"             # default: the output
//! input = "shots/010/plate.####.exr"
//! output = "010/plate.####.exr"
//! filters = "grain=preset=35mm"
//! frames = "1001-1100"
//! crf = 18                     # any option of 'grainfield render', by its long name
//! segments = true
//! postponed = true             # left out until this line is removed
//! ```
//!
//! Inputs and files in options are relative to the folder of the list, outputs to `folder`.

use super::jobs::{BatchJob, JobList, JobOption, JobsError, MAX_JOBS};
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The version of the format.
const VERSION: i64 = 1;
/// The largest size of a list in bytes.
pub const MAX_TEXT: u64 = 16 << 20;
/// The largest total size of the options of all jobs in bytes; those under `[all]` count for each job.
const MAX_OPTIONS: usize = 256 << 20;

/// Options of the command line of `batch`, and those that a job has in another form.
const REFUSED_OPTIONS: [&str; 9] =
    ["shard", "resume", "verify", "progress", "quiet", "verbose", "help", "input", "output"];

type Item<'a> = Spanned<DeValue<'a>>;
/// The entries of a job or of `[all]`, by key: the line of the key, and the value.
type Settings<'t, 'a> = BTreeMap<&'t str, (u32, &'t Item<'a>)>;

impl JobList {
    /// Parses a list; `folder` is the folder of its file.
    ///
    /// # Errors
    /// [`JobsError`] with the line.
    pub fn parse(text: &str, folder: &Path) -> Result<JobList, JobsError> {
        if text.len() as u64 > MAX_TEXT {
            return Err(JobsError::TooMany("16 MiB of text"));
        }
        let document = DeTable::parse(text).map_err(|e| JobsError::Toml(e.to_string()))?;
        let reader = Reader { folder, lines: Lines::new(text) };
        reader.list(document.get_ref())
    }
}

/// The positions of lines.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Lines {
        Lines(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// The line of a byte position, from 1.
    fn at(&self, byte: usize) -> u32 {
        self.0.partition_point(|&start| start <= byte) as u32
    }
}

struct Reader<'t> {
    folder: &'t Path,
    lines: Lines,
}

fn bad<T>(line: u32, place: &str, problem: &str) -> Result<T, JobsError> {
    Err(JobsError::bad(format!("line {line}, {place}"), problem))
}

impl Reader<'_> {
    fn list(&self, document: &DeTable<'_>) -> Result<JobList, JobsError> {
        let mut jobs = JobList::default();
        let mut all = Settings::new();
        let mut list: &[Item<'_>] = &[];
        for (key, item) in document {
            let line = self.lines.at(key.span().start);
            match (key.get_ref().as_ref(), item.get_ref()) {
                ("version", DeValue::Integer(n)) if n.as_str().parse() == Ok(VERSION) => {}
                ("version", _) => {
                    return bad(line, "version", &format!("this program reads only version = {VERSION}"));
                }
                ("folder", DeValue::String(text)) => jobs.folder = Some(self.folder.join(text.as_ref())),
                ("folder", _) => return bad(line, "folder", "must be a string in quotes"),
                ("all", DeValue::Table(table)) => all = self.settings(table),
                ("all", _) => {
                    return bad(line, "all", "must be a table: [all], then one line for each option");
                }
                ("job", DeValue::Array(array)) => list = array,
                ("job", _) => {
                    return bad(line, "job", "must be written [[job]], with two brackets, once for each job");
                }
                (other, _) => {
                    let right = "only version, folder, [all] and [[job]] are possible here; put options of all \
                        jobs under [all], those of one job under its [[job]]";
                    return bad(line, other, right);
                }
            }
        }
        if list.len() > MAX_JOBS {
            return Err(JobsError::TooMany("100000 jobs"));
        }
        let mut bytes = 0;
        for (i, item) in list.iter().enumerate() {
            let (place, line) = (format!("job {}", i + 1), self.lines.at(item.span().start));
            let DeValue::Table(own) = item.get_ref() else {
                return bad(line, &place, "a job must be a table: [[job]], then one line for each option");
            };
            let mut settings = all.clone();
            settings.extend(self.settings(own));
            let job = self.job(&place, line, settings)?;
            bytes += job
                .options
                .iter()
                .map(|o| o.key.len() + o.value.as_ref().map_or(0, |v| v.len()) + size_of_val(o))
                .sum::<usize>();
            if bytes > MAX_OPTIONS {
                return Err(JobsError::TooMany("256 MiB of options, those of [all] counted for each job"));
            }
            jobs.jobs.push(job);
        }
        jobs.check(jobs.folder.as_deref().unwrap_or(self.folder))?;
        Ok(jobs)
    }

    fn settings<'t, 'a>(&self, table: &'t DeTable<'a>) -> Settings<'t, 'a> {
        table.iter().map(|(k, v)| (k.get_ref().as_ref(), (self.lines.at(k.span().start), v))).collect()
    }

    fn job(&self, place: &str, line: u32, mut settings: Settings<'_, '_>) -> Result<BatchJob, JobsError> {
        let mut text = |key: &str| match settings.remove(key) {
            None => Ok(None),
            Some((line, item)) => match item.get_ref() {
                DeValue::String(text) if !text.is_empty() && !text.contains('\0') => {
                    Ok(Some(text.to_string()))
                }
                _ => bad(line, &format!("{place}, {key}"), "must be a string in quotes, and not empty"),
            },
        };
        let (name, input, output) = (text("name")?, text("input")?, text("output")?);
        let (Some(input), Some(output)) = (input, output) else {
            let near = |key: &&str| grainfield_filters::recipe::nearest(key, ["input", "output"]);
            if let Some((key, near)) = settings.keys().find_map(|key| Some((*key, near(key)?))) {
                let place = format!("{place}, {key}");
                return bad(settings[key].0, &place, &format!("is not an option; {near}"));
            }
            let right = "a job has an input and an output: input = \"...\" and output = \"...\"";
            return bad(line, place, right);
        };
        let postponed = match settings.remove("postponed").map(|(line, item)| (line, item.get_ref())) {
            None => false,
            Some((_, DeValue::Boolean(postponed))) => *postponed,
            Some((line, _)) => return bad(line, &format!("{place}, postponed"), "must be true or false"),
        };
        let (mut options, mut lines) = (Vec::new(), Vec::new());
        for (key, (line, item)) in settings {
            let place = format!("{place}, {key}");
            if REFUSED_OPTIONS.contains(&key)
                || !key.bytes().all(|b| b.is_ascii_lowercase() || b"-_".contains(&b))
            {
                return bad(line, &place, "is not an option that a job can have: see 'grainfield render -h'");
            }
            let key = key.replace('_', "-");
            let values = match item.get_ref() {
                DeValue::Boolean(given) => {
                    options.extend(given.then_some(JobOption { key, value: None }));
                    lines.extend(given.then_some(line));
                    continue;
                }
                DeValue::Array(values) => values.iter().collect(),
                _ => vec![item],
            };
            for value in values {
                let text = Self::argument(value.get_ref());
                let text = text.or_else(|problem| bad(line, &place, problem))?;
                options.push(JobOption { key: key.clone(), value: Some(text.into()) });
                lines.push(line);
            }
        }
        let input = match input.as_str() {
            text if text.starts_with("pattern:") => input.into(),
            text => self.folder.join(text).into_os_string(),
        };
        let folder = self.folder.to_path_buf();
        let job = BatchJob { options, lines, line, postponed, folder, ..BatchJob::new(input, output) };
        Ok(match name {
            Some(name) => BatchJob { name, ..job },
            None => job,
        })
    }

    /// The value of an option as text.
    fn argument(value: &DeValue<'_>) -> Result<String, &'static str> {
        Ok(match value {
            DeValue::String(text) if text.contains('\0') => return Err("it contains a zero byte"),
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(n) => {
                let number = i64::from_str_radix(n.as_str(), n.radix());
                number.map_err(|_| "is too large a number")?.to_string()
            }
            DeValue::Float(x) => x.as_str().parse::<f64>().map_err(|_| "is not a number")?.to_string(),
            _ => return Err("must be a string, a number, true or false, or a list of these"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<JobList, String> {
        JobList::parse(text, Path::new("/here")).map_err(|e| e.to_string())
    }

    #[test]
    fn lists() {
        let text = "folder='out'\n[all]\ncrf=18\nrecipe='a.toml'\n[[job]]\ninput='a.mp4'\noutput='b.mkv'\ncrf=20\n\
                    segments=true\nlossless=false\ncodec_opt=['a=1','b=2']\n[[job]]\nname='x'\ninput='pattern:bars'\n\
                    output='c.y4m'\nrate=0.5\nseed=0xff\nfilm_grain_table='a.tbl'";
        let jobs = parse(text).unwrap();
        assert_eq!(jobs.folder.as_deref(), Some(Path::new("/here/out")));
        let [a, b] = &jobs.jobs[..] else { panic!() };
        assert_eq!((a.name.as_str(), a.input.to_str()), ("b.mkv", Some("/here/a.mp4")));
        let options = ["codec-opt=a=1", "codec-opt=b=2", "crf=20", "recipe=a.toml", "segments"];
        let text = |job: &BatchJob| job.options.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(text(a), options);
        assert_eq!((a.line, &a.lines[..]), (5, &[11, 11, 8, 4, 9][..]));
        assert_eq!((b.name.as_str(), b.input.to_str()), ("x", Some("pattern:bars")));
        assert_eq!(text(b), ["crf=18", "film-grain-table=a.tbl", "rate=0.5", "recipe=a.toml", "seed=255"]);
        assert_eq!(b.line, 12);
    }

    #[test]
    fn errors_name_their_line() {
        let job = "[[job]]\ninput='a'\noutput='b'\n";
        for (text, part) in [
            ("", "no job"),
            ("\nversion=2", "line 2, version: this program reads only version = 1"),
            ("job=3", "line 1, job: must be written [[job]]"),
            ("[job]\ninput='a'", "line 1, job: must be written [[job]]"),
            ("\n\njobs=3", "line 3, jobs: only version"),
            ("folder=3", "line 1, folder: must be a string"),
            ("all=3", "line 1, all: must be a table"),
            ("job=[3]", "line 1, job 1"),
            ("# a list\n[[job]]\ninput='a'", "line 2, job 1: a job has an input and an output"),
            (
                "[[job]]\ninput='a'\nouput='b'",
                "line 3, job 1, ouput: is not an option; did you mean 'output'?",
            ),
            ("[[job]]\ninput=3\noutput='b'", "line 2, job 1, input"),
            (&format!("{job}shard='1/2'"), "line 4, job 1, shard: is not an option"),
            (&format!("{job}postponed=1"), "line 4, job 1, postponed: must be true or false"),
            (&format!("{job}CRF=1"), "line 4, job 1, CRF: is not an option"),
            (&format!("{job}crf={{a=1}}"), "line 4, job 1, crf: must be a string, a number"),
            (&format!("{job}crf=99999999999999999999"), "line 4, job 1, crf: is too large"),
            (&format!("{job}{job}"), "job 1 (line 1) and job 2 (line 4) have the same name"),
            (&format!("{job}{job}name='c'"), "same output"),
            (&format!("{job}[[job]]\ninput='a'\noutput='.//b'"), "same output: .//b"),
            (&format!("{job}[[job]]\ninput='a'\noutput='/here/b'"), "same output: /here/b"),
            ("[[job]]\ninput=", "line 2, column 7"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    /// Common options are not copied without limit.
    #[test]
    fn options_of_all_jobs_are_bounded() {
        let mut text = format!("[all]\nfilters='{}'\n", "x".repeat(1 << 20));
        for i in 0..300 {
            text += &format!("[[job]]\ninput='a'\noutput='{i}'\n");
        }
        assert!(parse(&text).unwrap_err().contains("256 MiB of options"));
    }
}
