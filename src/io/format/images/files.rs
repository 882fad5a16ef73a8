//! Finds the files of an input: one file, a pattern, a glob, or the contents of a folder.

use super::Kind;
use super::pattern::{Pattern, bytes, glob_matches, name};
use crate::media::SourceError;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The largest number of sequences that an error lists.
const LISTED: usize = 8;

/// Numbered files, ascending, not empty.
#[derive(Clone, Debug)]
pub enum Files {
    /// Names follow from numbers.
    Pattern(Pattern, Vec<i64>),
    /// Names do not follow from numbers.
    List(Vec<(i64, PathBuf)>),
}

impl Files {
    /// The number of files.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        match self {
            Files::Pattern(_, numbers) => numbers.len(),
            Files::List(list) => list.len(),
        }
    }

    /// The number of the `i`th.
    pub fn number(&self, i: usize) -> i64 {
        match self {
            Files::Pattern(_, numbers) => numbers[i],
            Files::List(list) => list[i].0,
        }
    }

    /// The `i`th.
    pub fn path(&self, i: usize) -> PathBuf {
        match self {
            Files::Pattern(pattern, numbers) => pattern.path(numbers[i]),
            Files::List(list) => list[i].1.clone(),
        }
    }

    /// The index of the file with this number, or else the index before which it would be.
    ///
    /// # Errors
    /// The index of the next file if there is none with this number.
    pub fn position(&self, number: i64) -> Result<usize, usize> {
        match self {
            Files::Pattern(_, numbers) => numbers.binary_search(&number),
            Files::List(list) => list.binary_search_by_key(&number, |e| e.0),
        }
    }

    /// The first and the last number of each gap, ascending.
    pub fn holes(&self) -> Vec<(i64, i64)> {
        let pairs = (1..self.len()).map(|i| (self.number(i - 1), self.number(i)));
        // adjacent numbers have none between; the others allow + 1 without overflow
        pairs.filter(|(a, b)| a + 1 < *b).map(|(a, b)| (a + 1, b - 1)).collect()
    }

    /// The name of a missing file, if it can be known.
    pub fn expected(&self, number: i64) -> Option<PathBuf> {
        match self {
            Files::Pattern(pattern, _) => Some(pattern.path(number)),
            Files::List(_) => None,
        }
    }
}

fn io(name: &Path, cause: std::io::Error) -> SourceError {
    SourceError::Io { name: name.display().to_string(), cause }
}

fn bad(name: &OsStr, problem: String) -> SourceError {
    SourceError::Bad { name: Path::new(name).display().to_string(), problem }
}

/// Whether a name contains `*` or `?` after its folder.
pub fn is_glob(input: &OsStr) -> bool {
    Path::new(input).file_name().is_some_and(|f| bytes(f).iter().any(|b| matches!(b, b'*' | b'?')))
}

/// Finds the files of an input. An existing file of that name comes first, then patterns, then globs.
///
/// # Errors
/// See [`SourceError`].
pub fn find(input: &OsStr) -> Result<Files, SourceError> {
    let path = Path::new(input);
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => return folder(input, path, None),
        Ok(meta) if meta.is_file() => return Ok(Files::List(vec![(0, path.to_path_buf())])),
        Ok(_) => return Err(bad(input, "is neither a file nor a folder; an image must be a file".into())),
        Err(_) => {}
    }
    match Pattern::parse(input) {
        Err(e) => Err(bad(input, e.to_string())),
        Ok(Some(pattern)) => numbered(input, pattern),
        Ok(None) if is_glob(input) => {
            let glob = path.file_name().unwrap_or_default();
            let parent = path.parent().unwrap_or(Path::new(""));
            folder(input, parent, Some(bytes(glob)))
        }
        Ok(None) => match std::fs::metadata(path) {
            Err(cause) => Err(io(path, cause)),
            Ok(_) => Err(bad(input, "changed while it was being read".into())),
        },
    }
}

fn numbered(input: &OsStr, pattern: Pattern) -> Result<Files, SourceError> {
    let numbers = pattern.scan().map_err(|cause| io(pattern.folder(), cause))?;
    if !numbers.is_empty() {
        return Ok(Files::Pattern(pattern, numbers));
    }
    let there = match names(pattern.folder(), None) {
        Ok(names) if !names.is_empty() => format!("; there is {}", describe(&group(names))),
        _ => String::new(),
    };
    Err(bad(
        input,
        format!("no file matches this pattern (for example {}){there}", pattern.path(1).display()),
    ))
}

/// Names of visible image files in a folder, in natural order.
fn names(folder: &Path, glob: Option<&[u8]>) -> std::io::Result<Vec<OsString>> {
    let real = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(real)? {
        let name = entry?.file_name();
        let hidden = bytes(&name).starts_with(b".");
        if hidden || Kind::from_name(&name).is_none() || glob.is_some_and(|g| !glob_matches(g, bytes(&name)))
        {
            continue;
        }
        names.push(name);
    }
    names.sort_by(|a, b| natural(bytes(a), bytes(b)));
    Ok(names)
}

fn folder(input: &OsStr, folder: &Path, glob: Option<&[u8]>) -> Result<Files, SourceError> {
    let names = names(folder, glob).map_err(|cause| io(folder, cause))?;
    let kinds = Kind::extensions();
    if names.is_empty() {
        return Err(bad(input, format!("holds no image ({kinds})")));
    }
    let mut groups = group(names);
    if groups.len() == 1
        && let Some(group) = groups.pop()
    {
        return group.files(input, folder);
    }
    if glob.is_some() && groups.iter().all(|g| g.files.len() == 1) {
        // not a sequence: pictures in the order of their names
        let mut names: Vec<OsString> =
            groups.into_iter().flat_map(|g| g.files).map(|(_, name)| name).collect();
        names.sort_by(|a, b| natural(bytes(a), bytes(b)));
        let list = names.into_iter().enumerate().map(|(i, name)| (i as i64, folder.join(name)));
        return Ok(Files::List(list.collect()));
    }
    Err(bad(input, format!("holds more than one sequence: {}; name one of them", describe(&groups))))
}

/// Files whose names differ only in one number.
struct Group {
    before: Vec<u8>,
    after: Vec<u8>,
    /// The number as written, and the name.
    files: Vec<(Option<String>, OsString)>,
}

impl Group {
    fn numbers(&self) -> Option<Vec<i64>> {
        self.files.iter().map(|(text, _)| text.as_ref()?.parse().ok()).collect()
    }

    /// The narrowest padding that fits these names.
    fn pattern(&self, folder: &Path) -> Pattern {
        let width = self.files.iter().filter_map(|(text, _)| Some(text.as_ref()?.len())).min().unwrap_or(0);
        let padded =
            self.files.iter().any(|(t, _)| t.as_ref().is_some_and(|t| t.starts_with('0') && t.len() > 1));
        let width = if padded || width > 1 { width } else { 0 };
        Pattern::new(folder.to_path_buf(), self.before.clone(), width, self.after.clone())
    }

    fn files(self, input: &OsStr, folder: &Path) -> Result<Files, SourceError> {
        let Some(mut numbers) = self.numbers() else {
            let list = self.files.into_iter().enumerate();
            return Ok(Files::List(list.map(|(i, (_, name))| (i as i64, folder.join(name))).collect()));
        };
        let pattern = self.pattern(folder);
        if self.files.iter().zip(&numbers).all(|((_, name), &n)| pattern.file_name(n) == *name) {
            numbers.sort_unstable();
            return Ok(Files::Pattern(pattern, numbers));
        }
        let mut list: Vec<_> =
            numbers.into_iter().zip(self.files).map(|(n, (_, name))| (n, folder.join(name))).collect();
        list.sort();
        if let Some(pair) = list.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let (a, b) = (pair[0].1.display(), pair[1].1.display());
            return Err(bad(
                input,
                format!("{a} and {b} have the same number; move one of them to another folder"),
            ));
        }
        Ok(Files::List(list))
    }
}

/// The positions of digits in a name's stem, including a minus sign that cannot be a hyphen.
fn runs(text: &[u8]) -> Vec<(usize, usize)> {
    let stem = text.iter().rposition(|&b| b == b'.').unwrap_or(text.len());
    let mut runs = Vec::new();
    let mut i = 0;
    while i < stem {
        if !text[i].is_ascii_digit() {
            i += 1;
            continue;
        }
        let sign = i > 0 && text[i - 1] == b'-' && (i == 1 || matches!(text[i - 2], b'.' | b'_' | b' '));
        let start = if sign { i - 1 } else { i };
        while i < stem && text[i].is_ascii_digit() {
            i += 1;
        }
        runs.push((start, i));
    }
    runs
}

/// Groups names into sequences: the number is the run of digits that varies, else the last one.
fn group(names: Vec<OsString>) -> Vec<Group> {
    let mut templates: BTreeMap<Vec<u8>, Vec<OsString>> = BTreeMap::new();
    for name in names {
        let text = bytes(&name);
        let mut template = Vec::new();
        let mut from = 0;
        for (start, end) in runs(text) {
            template.extend_from_slice(&text[from..start]);
            template.push(0); // no name contains this byte
            from = end;
        }
        template.extend_from_slice(&text[from..]);
        templates.entry(template).or_default().push(name);
    }
    let mut groups: BTreeMap<(Vec<u8>, Vec<u8>), Group> = BTreeMap::new();
    for names in templates.into_values() {
        let first = bytes(&names[0]).to_vec();
        let first_runs = runs(&first);
        let varies = |k: usize| {
            names.iter().any(|n| {
                let (start, end) = runs(bytes(n))[k];
                bytes(n)[start..end] != first[first_runs[k].0..first_runs[k].1]
            })
        };
        let varying: Vec<usize> = (0..first_runs.len()).filter(|&k| varies(k)).collect();
        let which = if let [k] = varying[..] { Some(k) } else { first_runs.len().checked_sub(1) };
        for name in names {
            let text = bytes(&name);
            let (start, end) = which.map_or((text.len(), text.len()), |k| runs(text)[k]);
            let key = (text[..start].to_vec(), text[end..].to_vec());
            let number = which.map(|_| String::from_utf8_lossy(&text[start..end]).into_owned());
            let (before, after) = key.clone();
            let group = groups.entry(key).or_insert(Group { before, after, files: Vec::new() });
            group.files.push((number, name));
        }
    }
    groups.into_values().collect()
}

/// A sequence among files' names.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// The pattern, as `shot.####.png`.
    pub pattern: String,
    /// The first number.
    pub first: i64,
    /// The last number.
    pub last: i64,
    /// The number of files.
    pub files: usize,
}

/// The sequences among files' names, and the files that stand alone.
pub fn sequences(names: Vec<OsString>) -> (Vec<Sequence>, Vec<OsString>) {
    let (images, mut alone): (Vec<_>, Vec<_>) = names.into_iter().partition(|n| Kind::from_name(n).is_some());
    let mut found = Vec::new();
    for group in group(images) {
        let pattern = group.pattern(Path::new(""));
        let numbers = group.numbers().filter(|all| {
            all.len() > 1 && group.files.iter().zip(all).all(|((_, name), &n)| pattern.file_name(n) == *name)
        });
        match numbers.as_ref().and_then(|all| Some((*all.iter().min()?, *all.iter().max()?))) {
            Some((first, last)) => {
                found.push(Sequence { pattern: pattern.to_string(), first, last, files: group.files.len() })
            }
            None => alone.extend(group.files.into_iter().map(|(_, name)| name)),
        }
    }
    (found, alone)
}

/// Describes the groups, for an error.
fn describe(groups: &[Group]) -> String {
    let mut parts: Vec<String> = groups
        .iter()
        .take(LISTED)
        .map(|g| {
            let numbers = g.numbers().filter(|_| g.files.len() > 1);
            match numbers.as_ref().and_then(|n| Some((n.iter().min()?, n.iter().max()?))) {
                Some((first, last)) => {
                    format!("{} {first}-{last} ({} files)", g.pattern(Path::new("")), g.files.len())
                }
                None => g.files.first().map(|f| Path::new(&f.1).display().to_string()).unwrap_or_default(),
            }
        })
        .collect();
    if groups.len() > LISTED {
        parts.push(format!("and {} more", groups.len() - LISTED));
    }
    parts.join(", ")
}

/// Compares names, with numbers in them compared as numbers.
pub fn natural(a: &[u8], b: &[u8]) -> Ordering {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i].is_ascii_digit() && b[j].is_ascii_digit() {
            let run = |t: &[u8], from: usize| {
                let end = t[from..].iter().position(|c| !c.is_ascii_digit()).map_or(t.len(), |n| from + n);
                let zeros = t[from..end].iter().take_while(|&&c| c == b'0').count();
                (from + zeros, end)
            };
            let ((si, ei), (sj, ej)) = (run(a, i), run(b, j));
            let order = (ei - si).cmp(&(ej - sj)).then_with(|| a[si..ei].cmp(&b[sj..ej]));
            if order != Ordering::Equal {
                return order;
            }
            (i, j) = (ei, ej);
        } else {
            if a[i] != b[j] {
                return a[i].cmp(&b[j]);
            }
            i += 1;
            j += 1;
        }
    }
    (a.len() - i).cmp(&(b.len() - j)).then_with(|| a.cmp(b))
}

/// A name for a message.
pub fn shown(input: &OsStr) -> String {
    Path::new(&name(bytes(input).to_vec())).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str], input: &str) -> Result<Vec<(i64, String)>, String> {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::write(dir.path().join(name), b"").unwrap();
        }
        let files = find(dir.path().join(input).as_os_str()).map_err(|e| e.to_string())?;
        Ok((0..files.len())
            .map(|i| (files.number(i), files.path(i).file_name().unwrap().to_string_lossy().into_owned()))
            .collect())
    }

    fn list(items: &[(i64, &str)]) -> Vec<(i64, String)> {
        items.iter().map(|(n, s)| (*n, (*s).to_owned())).collect()
    }

    #[test]
    fn inputs() {
        let seq = ["a.1001.png", "a.1002.png", "a.1004.png", ".hidden.png", "notes.txt"];
        let want = list(&[(1001, "a.1001.png"), (1002, "a.1002.png"), (1004, "a.1004.png")]);
        for input in ["a.%04d.png", "a.####.png", "a.%d.png", "a.*.png", "a.1?0?.png", "", "*"] {
            assert_eq!(found(&seq, input).unwrap(), want, "{input}");
        }
        assert_eq!(found(&seq, "a.1002.png").unwrap(), list(&[(0, "a.1002.png")]));
        assert_eq!(found(&["a%02d.png", "a01.png"], "a%02d.png").unwrap(), list(&[(0, "a%02d.png")]));
        assert_eq!(found(&["take#2.png"], "take#2.png").unwrap(), list(&[(0, "take#2.png")]));
        assert_eq!(
            found(&["f1.png", "f10.png", "f9.png"], "*.png").unwrap(),
            list(&[(1, "f1.png"), (9, "f9.png"), (10, "f10.png")])
        );
        assert_eq!(
            found(&["zoo.png", "bar.png", "b2.png"], "*.png").unwrap(),
            list(&[(0, "b2.png"), (1, "bar.png"), (2, "zoo.png")])
        );
        assert_eq!(
            found(&["a_0001_v2.png", "a_0002_v2.png"], "").unwrap(),
            list(&[(1, "a_0001_v2.png"), (2, "a_0002_v2.png")])
        );
        assert_eq!(
            found(&["a.-001.png", "a.0000.png", "a.0001.png"], "").unwrap(),
            list(&[(-1, "a.-001.png"), (0, "a.0000.png"), (1, "a.0001.png")])
        );
        assert_eq!(
            found(&["a-0001.png", "a-0002.png"], "").unwrap(),
            list(&[(1, "a-0001.png"), (2, "a-0002.png")])
        );
        assert_eq!(found(&["a.png"], "").unwrap(), list(&[(0, "a.png")]));
        assert_eq!(found(&["a.5.png", "a.10.png"], "").unwrap(), list(&[(5, "a.5.png"), (10, "a.10.png")]));
        assert_eq!(found(&["a.05.png", "a.6.png"], "").unwrap(), list(&[(5, "a.05.png"), (6, "a.6.png")]));
    }

    #[test]
    fn errors_help() {
        let mixed = ["a.01.png", "a.02.png", "b.01.exr", "c.png"];
        let text = found(&mixed, "").unwrap_err();
        assert!(text.contains("a.%02d.png 1-2 (2 files), b.01.exr, c.png"), "{text}");
        let text = found(&mixed, "a.%04d.png").unwrap_err();
        assert!(text.contains("a.0001.png") && text.contains("a.%02d.png 1-2"), "{text}");
        assert!(found(&[], "").unwrap_err().contains("holds no image"));
        assert!(found(&[], "*.png").unwrap_err().contains("holds no image"));
        assert!(found(&[], "a.png").unwrap_err().contains("No such file"));
        assert!(found(&["a.1.png", "a.01.png"], "").unwrap_err().contains("same number"));
        assert!(found(&[], "a.#_#.png").unwrap_err().contains("two places"));
    }

    #[test]
    fn natural_order() {
        let mut names = ["a10", "a9", "a09", "a", "b1", "a1b2", "a1b10", "a99999999999999999999999"];
        names.sort_by(|a, b| natural(a.as_bytes(), b.as_bytes()));
        assert_eq!(names, ["a", "a1b2", "a1b10", "a09", "a9", "a10", "a99999999999999999999999", "b1"]);
    }
}
