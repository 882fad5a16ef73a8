//! Sampled tracks from CSV and JSON.
//!
//! CSV, with commas, semicolons or tabs between the fields, `#` before comments:
//!
//! ```text
//! frame,x,y          a column for each track; an empty field means no sample
//! 0,960,540
//! 1,961.5,540.25
//!
//! frame,name,value   a line for each sample
//! 0,x,960
//! 0,y,540
//! ```
//!
//! The column of times is named `frame` (or `f`), or `time` (`t`, `seconds`, `s`) for seconds such as 1.5, 1001/24
//! or 00:00:01.5. Without a line of names, the first column is the frame and the tracks are named 1, 2, ...
//!
//! JSON: `{"x": [0.5, 0.75], "y": [[0, 1], [8, 2]]}` (from frame 0 on, or pairs of frame and value), or rows, as in
//! `[{"frame": 0, "x": 0.5, "y": 1}]`, where `time` is in seconds; or a Lottie animation, whose layers are sampled at each
//! frame.

use super::lottie_layers;
use grainfield_filters::curve::fit::Sample;
use grainfield_filters::curve::stream::{MAX_TRACKS, check_name};
use grainfield_filters::curve::{KeyTime, MAX_KEYS, MAX_VALUE};
use grainfield_filters::ratio::Ratio;
use serde_json::Value;
use std::collections::BTreeMap;

/// The largest file that is read, in bytes.
const MAX_BYTES: usize = 256 << 20;

/// Tracks by name, in order of appearance.
pub type Table = Vec<(String, Vec<Sample>)>;

/// An error in a file of samples.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{}{problem}", .line.map_or(String::new(), |n| format!("line {n}: ")))]
pub struct ImportError {
    /// The line, from 1, if it is known.
    pub line: Option<usize>,
    /// The error.
    pub problem: ImportProblem,
}

/// See [`ImportError`].
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ImportProblem {
    /// The file is not UTF-8 text.
    #[error("it is not UTF-8 text")]
    Text,
    /// The file is too large.
    #[error("it is larger than 256 MiB")]
    Large,
    /// Invalid JSON.
    #[error("not valid JSON: {0}")]
    Json(String),
    /// JSON of an unexpected form.
    #[error(
        "expected {{\"x\": [0.5, 0.75]}}, {{\"x\": [[0, 0.5], [8, 0.75]]}} or [{{\"frame\": 0, \"x\": 0.5}}]; {0}"
    )]
    Form(String),
    /// A Lottie animation that cannot be converted.
    #[error("{0}")]
    Lottie(String),
    /// An invalid time.
    #[error("'{0}' is not a {1}")]
    Time(String, &'static str),
    /// An invalid number.
    #[error("'{0}' is not a number from -1e100 to 1e100 (track '{1}')")]
    Value(String, String),
    /// A line with a different number of fields.
    #[error("{0} fields, and the first line has {1}")]
    Fields(usize, usize),
    /// The first line has no column of times.
    #[error(
        "the first column is called '{0}': call it frame, or time for seconds; columns are separated by commas, \
         semicolons or tabs"
    )]
    NoTime(String),
    /// Times without values, or values without times.
    #[error(
        "there is only one column: put the frame first, then the tracks, separated by commas, semicolons or tabs"
    )]
    Alone,
    /// Two columns have the same name.
    #[error("two columns are called '{0}'")]
    Twice(String),
    /// An invalid name.
    #[error("a track cannot be called '{0}': 1 to 255 bytes without control characters")]
    Name(String),
    /// Times that do not increase.
    #[error("track '{0}' has two samples at {1}, or its times are not ascending there")]
    Order(String, KeyTime),
    /// Too many tracks or samples.
    #[error("more than {MAX_TRACKS} tracks, or {MAX_KEYS} samples of one")]
    Many,
    /// The file has no samples.
    #[error("it has no samples")]
    Empty,
}

use ImportProblem as P;

fn fault<T>(line: impl Into<Option<usize>>, problem: ImportProblem) -> Result<T, ImportError> {
    Err(ImportError { line: line.into(), problem })
}

/// Reads samples from the bytes of a file: JSON if it begins like JSON, else CSV.
///
/// # Errors
/// [`ImportError`] if the file is too large, is not text, or is invalid.
pub fn read_samples(bytes: &[u8]) -> Result<Table, ImportError> {
    if bytes.len() > MAX_BYTES {
        return fault(None, P::Large);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return fault(None, P::Text) };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with(['{', '[']) { json(text) } else { csv(text) }
}

/// Tracks while they are read.
#[derive(Default)]
struct TrackBuilder {
    names: BTreeMap<String, usize>,
    tracks: Table,
}

impl TrackBuilder {
    fn track(&mut self, name: &str, line: Option<usize>) -> Result<usize, ImportError> {
        if let Some(i) = self.names.get(name) {
            return Ok(*i);
        }
        if check_name(name).is_err() {
            return fault(line, P::Name(name.escape_debug().take(80).collect()));
        }
        if self.tracks.len() == MAX_TRACKS {
            return fault(line, P::Many);
        }
        self.names.insert(name.into(), self.tracks.len());
        self.tracks.push((name.into(), Vec::new()));
        Ok(self.tracks.len() - 1)
    }

    fn add(&mut self, track: usize, at: KeyTime, value: f64, line: Option<usize>) -> Result<(), ImportError> {
        let (name, samples) = &mut self.tracks[track];
        let later = samples.last().is_none_or(|last| match (last.0, at) {
            (KeyTime::Frame(a), KeyTime::Frame(b)) => a < b,
            (KeyTime::Seconds(a), KeyTime::Seconds(b)) => a < b,
            _ => false,
        });
        if !later {
            return fault(line, P::Order(name.clone(), at));
        }
        if samples.len() == MAX_KEYS {
            return fault(line, P::Many);
        }
        samples.push((at, value));
        Ok(())
    }

    fn finish(mut self) -> Result<Table, ImportError> {
        self.tracks.retain(|t| !t.1.is_empty());
        if self.tracks.is_empty() { fault(None, P::Empty) } else { Ok(self.tracks) }
    }
}

/// Whether a column of this name contains times, and if so, whether in seconds.
fn unit(name: &str) -> Option<bool> {
    match name.to_ascii_lowercase().as_str() {
        "frame" | "f" | "frames" => Some(false),
        "time" | "t" | "seconds" | "s" => Some(true),
        _ => None,
    }
}

fn time(text: &str, seconds: bool, line: Option<usize>) -> Result<KeyTime, ImportError> {
    let at = if !seconds {
        let integer =
            text.split_once('.').filter(|(_, part)| part.bytes().all(|b| b == b'0')).map_or(text, |t| t.0);
        integer.parse().ok().map(KeyTime::Frame)
    } else if text.contains(':') {
        text.parse().ok()
    } else {
        text.trim_end_matches('s').parse().ok().filter(|t| *t >= Ratio::ZERO).map(KeyTime::Seconds)
    };
    let what = if seconds { "time: write 1.5, 1001/24 or 00:00:01.5" } else { "frame: a whole number" };
    at.ok_or_else(|| ImportError { line, problem: P::Time(text.chars().take(40).collect(), what) })
}

fn number(text: &str, name: &str, line: Option<usize>) -> Result<f64, ImportError> {
    match text.parse::<f64>() {
        Ok(v) if v.abs() <= MAX_VALUE => Ok(v + 0.0),
        _ => fault(line, P::Value(text.chars().take(40).collect(), name.into())),
    }
}

/// The fields of a line; a field may be quoted.
fn fields(line: &str, separator: char) -> Vec<String> {
    let (mut all, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            '"' => quoted = !quoted,
            c if c == separator && !quoted => all.push(std::mem::take(&mut field).trim().to_owned()),
            c => field.push(c),
        }
    }
    all.push(field.trim().to_owned());
    all
}

/// Samples from CSV.
///
/// # Errors
/// [`ImportError`] with the line.
pub fn csv(text: &str) -> Result<Table, ImportError> {
    // A tab at the end is an empty field, so lines are not trimmed.
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
    let is_data = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let mut lines = lines.filter(|(_, line)| is_data(line)).peekable();
    let Some(&(first_line, first)) = lines.peek() else { return fault(None, P::Empty) };
    let separator = [';', '\t'].into_iter().find(|c| first.contains(*c)).unwrap_or(',');
    let mut names = fields(first, separator);
    if names.len() == 1 && (unit(&names[0]).is_some() || names[0].parse::<f64>().is_ok()) {
        return fault(first_line, P::Alone);
    }
    let headless = names.iter().all(|n| n.parse::<f64>().is_ok());
    let mut seconds = false;
    if headless {
        names = (0..names.len()).map(|i| i.to_string()).collect();
    } else {
        lines.next();
        match names.first().and_then(|n| unit(n)) {
            Some(s) => seconds = s,
            None => return fault(first_line, P::NoTime(names[0].chars().take(40).collect())),
        }
    }
    let mut gather = TrackBuilder::default();
    let lower: Vec<String> = names.iter().map(|n| n.to_ascii_lowercase()).collect();
    let long = !headless && lower.len() == 3 && lower[1] == "name" && lower[2] == "value";
    let mut columns = Vec::new();
    if !long {
        for (i, name) in names.iter().enumerate().skip(1) {
            if names[1..i].contains(name) {
                return fault(first_line, P::Twice(name.clone()));
            }
            columns.push(gather.track(name, Some(first_line))?);
        }
    }
    for (n, line) in lines {
        let row = fields(line, separator);
        if row.len() != names.len() {
            return fault(n, P::Fields(row.len(), names.len()));
        }
        let (line, at) = (Some(n), time(&row[0], seconds, Some(n))?);
        if long {
            let track = gather.track(&row[1], line)?;
            gather.add(track, at, number(&row[2], &row[1], line)?, line)?;
            continue;
        }
        for (track, cell) in columns.iter().zip(&row[1..]).filter(|(_, cell)| !cell.is_empty()) {
            let value = number(cell, &names[track + 1], line)?;
            gather.add(*track, at, value, line)?;
        }
    }
    gather.finish()
}

/// Samples from JSON.
///
/// # Errors
/// [`ImportError`] if the JSON has another form.
pub fn json(text: &str) -> Result<Table, ImportError> {
    let value: Value = serde_json::from_str(text)
        .map_err(|e| ImportError { line: Some(e.line()), problem: P::Json(e.to_string()) })?;
    let form = |what: &str| ImportError { line: None, problem: P::Form(what.into()) };
    let finite = |v: &Value, name: &str| number(&v.to_string(), name, None);
    let mut gather = TrackBuilder::default();
    match &value {
        Value::Object(animation) if lottie_layers::is_animation(animation) => {
            let tracks = lottie_layers::tracks(animation)
                .map_err(|problem| ImportError { line: None, problem: P::Lottie(problem) })?;
            for (name, first, values) in tracks {
                let track = gather.track(&name, None)?;
                for (at, value) in (first..).zip(values) {
                    gather.add(track, KeyTime::Frame(at), finite(&value.into(), &name)?, None)?;
                }
            }
        }
        Value::Object(tracks) => {
            for (name, list) in tracks {
                let Value::Array(list) = list else {
                    return Err(form(&format!("'{}' is not a list", name.escape_debug())));
                };
                let track = gather.track(name, None)?;
                for (i, sample) in list.iter().enumerate() {
                    let (at, value) = match sample {
                        Value::Array(pair) if pair.len() == 2 => {
                            (time(&pair[0].to_string(), false, None)?, &pair[1])
                        }
                        Value::Number(_) => (KeyTime::Frame(i as i64), sample),
                        _ => return Err(form("a sample is a number, or a frame and a number")),
                    };
                    gather.add(track, at, finite(value, name)?, None)?;
                }
            }
        }
        Value::Array(rows) => {
            for row in rows {
                let Value::Object(row) = row else { return Err(form("a row is an object")) };
                let when = row.iter().find_map(|(k, v)| Some((k, unit(k)?, v)));
                let (key, seconds, when) = when.ok_or_else(|| form("a row needs \"frame\" or \"time\""))?;
                let text = when.as_str().map_or_else(|| when.to_string(), str::to_owned);
                let at = time(&text, seconds, None)?;
                for (name, value) in row.iter().filter(|(k, v)| *k != key && !v.is_null()) {
                    let track = gather.track(name, None)?;
                    gather.add(track, at, finite(value, name)?, None)?;
                }
            }
        }
        _ => return Err(form("found another type")),
    }
    gather.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match read_samples(text.as_bytes()) {
            Ok(table) => table
                .iter()
                .map(|(name, s)| {
                    format!("{name}:{}", s.iter().map(|s| format!(" {}={}", s.0, s.1)).collect::<String>())
                })
                .collect::<Vec<_>>()
                .join("; "),
            Err(e) => e.to_string(),
        }
    }

    #[test]
    fn all_forms_say_the_same() {
        let same = "x: 0=1 2=2.5; y: 0=-3 1=4";
        for text in [
            "frame,x,y\n0,1,-3\n1,,4\n2,2.5,\n",
            "\u{feff}# a tracker\r\nFrame;x;\"y\"\r\n\r\n0;1;-3\r\n1;;4\r\n2.0;2.5;\r\n",
            "f\tx\ty\n0\t1\t-3\n1\t\t4\n2\t2.5\t\n",
            "frame,name,value\n0,x,1\n0,y,-3\n2,x,2.5\n1,y,4\n",
            "{\"x\": [[0, 1], [2, 2.5]], \"y\": [-3, 4]}",
            "[{\"frame\":0,\"x\":1,\"y\":-3},{\"frame\":1,\"x\":null,\"y\":4},{\"frame\":2,\"x\":2.5}]",
        ] {
            assert_eq!(shown(text), same, "{text}");
        }
        assert_eq!(shown("0,5\n1,6\n"), "1: 0=5 1=6");
        assert_eq!(shown("time,x\n00:01.5,1\n1001/24,2\n"), "x: 1.5s=1 1001/24s=2");
        assert_eq!(shown("[{\"time\":1.5,\"x\":1}]"), "x: 1.5s=1");
    }

    #[test]
    fn faults_are_named() {
        for (text, said) in [
            ("", "it has no samples"),
            ("frame,x\n", "it has no samples"),
            (
                "name,value\nx,1",
                "line 1: the first column is called 'name': call it frame, or time for seconds; columns are separated by \
                 commas, semicolons or tabs",
            ),
            (
                "0 1\n1 2\n",
                "line 1: the first column is called '0 1': call it frame, or time for seconds; columns are separated by \
                 commas, semicolons or tabs",
            ),
            (
                "5\n6\n7\n",
                "line 1: there is only one column: put the frame first, then the tracks, separated by commas, \
                    semicolons or tabs",
            ),
            ("frame,x\n0,1\n1,2,3", "line 3: 3 fields, and the first line has 2"),
            ("frame,x\n0,one", "line 2: 'one' is not a number from -1e100 to 1e100 (track 'x')"),
            ("frame,x\n1.5,1", "line 2: '1.5' is not a frame: a whole number"),
            ("time,x\n-1,1", "line 2: '-1' is not a time: write 1.5, 1001/24 or 00:00:01.5"),
            (
                "frame,x\n1,1\n1,2",
                "line 3: track 'x' has two samples at 1, or its times are not ascending there",
            ),
            ("frame,x,x\n1,1,1", "line 1: two columns are called 'x'"),
            ("frame,x\n0,nan", "line 2: 'nan' is not a number from -1e100 to 1e100 (track 'x')"),
        ] {
            assert_eq!(shown(text), said);
        }
        for bad in ["{", "[1]", "{\"x\":1}", "[{}]", "{\"x\":[\"a\"]}", "\u{0}", "{\"\":[1]}"] {
            assert!(read_samples(bad.as_bytes()).is_err(), "{bad}");
        }
        assert_eq!(read_samples(b"\xff").map_err(|e| e.problem), Err(P::Text));
    }
}
