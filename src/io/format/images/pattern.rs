//! Names of numbered files: `plate.%05d.exr`, `plate.####.exr`, `plate.@@@.exr`, `plate.$F4.exr`.
//!
//! The placeholder is in the file's name, never in its folder. The first kind that occurs is used, in the order
//! `%d`, `$F`, `#`, `@`; the other characters are then literal. `%%` is a per cent sign in a name with `%d`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The widest padding.
const MAX_WIDTH: usize = 18;

/// The name of a numbered file with a placeholder for the number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    folder: PathBuf,
    before: Vec<u8>,
    width: usize,
    after: Vec<u8>,
}

/// An error in a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The name has two placeholders.
    #[error("the frame number has two places in the name; leave one {0} in it")]
    Twice(&'static str),
    /// The padding is too wide.
    #[error("a frame number of {0} digits: at most {MAX_WIDTH} are possible")]
    Width(usize),
}

/// The position, width and text of a placeholder.
struct Place {
    start: usize,
    end: usize,
    width: usize,
}

/// A name as bytes, which works for every name on Unix in any encoding.
pub fn bytes(name: &OsStr) -> &[u8] {
    name.as_encoded_bytes()
}

/// Bytes of a name as a name.
pub fn name(bytes: Vec<u8>) -> OsString {
    crate::disk::name_of(&bytes).to_owned()
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_digit()).count()
}

fn width_of(text: &[u8]) -> Result<usize, PatternError> {
    let width = text.iter().fold(0usize, |n, d| n.saturating_mul(10).saturating_add((d - b'0').into()));
    if width > MAX_WIDTH { Err(PatternError::Width(width)) } else { Ok(width) }
}

/// Placeholders of one kind, at most two of them.
fn places(text: &[u8], kind: u8) -> Result<Vec<Place>, PatternError> {
    let mut found = Vec::new();
    let mut i = 0;
    while i < text.len() && found.len() < 2 {
        let start = i;
        i += 1;
        if text[start] != kind {
            continue;
        }
        match kind {
            b'%' if text.get(i) == Some(&b'%') => i += 1,
            b'%' => {
                let n = digits(&text[i..]);
                if text.get(i + n) == Some(&b'd') {
                    let width = width_of(&text[i..i + n])?;
                    i += n + 1;
                    found.push(Place { start, end: i, width });
                }
            }
            b'$' if text.get(i) == Some(&b'F') => {
                let n = digits(&text[i + 1..]);
                let width = width_of(&text[i + 1..i + 1 + n])?;
                i += 1 + n;
                found.push(Place { start, end: i, width });
            }
            b'#' | b'@' => {
                while text.get(i) == Some(&kind) {
                    i += 1;
                }
                let width = if kind == b'#' && i - start == 1 { 4 } else { i - start };
                if width > MAX_WIDTH {
                    return Err(PatternError::Width(width));
                }
                found.push(Place { start, end: i, width });
            }
            _ => {}
        }
    }
    Ok(found)
}

impl Pattern {
    /// Parses a pattern; `None` if the name has no placeholder. It is not checked whether a file with that very
    /// name exists.
    ///
    /// # Errors
    /// See [`PatternError`].
    pub fn parse(text: &OsStr) -> Result<Option<Pattern>, PatternError> {
        let full = bytes(text);
        let cut = full.iter().rposition(|&b| std::path::is_separator(b as char)).map_or(0, |i| i + 1);
        let file = &full[cut..];
        for (kind, called) in [(b'%', "%d"), (b'$', "$F"), (b'#', "group of #"), (b'@', "group of @")] {
            let mut found = places(file, kind)?;
            if found.len() > 1 {
                return Err(PatternError::Twice(called));
            }
            let Some(place) = found.pop() else { continue };
            let plain = |part: &[u8]| if kind == b'%' { halve(part) } else { part.to_vec() };
            return Ok(Some(Pattern {
                folder: PathBuf::from(name(full[..cut].to_vec())),
                before: plain(&file[..place.start]),
                width: place.width,
                after: plain(&file[place.end..]),
            }));
        }
        Ok(None)
    }

    /// A pattern from its parts; `width` 0 or 1 means no padding.
    pub(crate) fn new(folder: PathBuf, before: Vec<u8>, width: usize, after: Vec<u8>) -> Pattern {
        Pattern { folder, before, width, after }
    }

    /// The folder of the files; empty for the current one.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A path for the whole pattern: the name with `%04d` for the number, as far as it is UTF-8.
    pub fn open(&self) -> PathBuf {
        let text = self.to_string();
        self.folder.join(Path::new(&text).file_name().unwrap_or_default())
    }

    /// The number as in the name: padded with zeros, including the sign in the width, like C's `printf`.
    pub fn number(&self, number: i64) -> String {
        format!("{number:0width$}", width = self.width)
    }

    /// The name of frame `number`, without the folder. Numbers wider than the padding are written whole.
    pub fn file_name(&self, number: i64) -> OsString {
        name([&self.before, self.number(number).as_bytes(), &self.after].concat())
    }

    /// The file of frame `number`.
    pub fn path(&self, number: i64) -> PathBuf {
        self.folder.join(self.file_name(number))
    }

    /// The number in a file's name (without folder), if the name is exactly that of the number.
    pub fn matches(&self, name: &OsStr) -> Option<i64> {
        let middle = bytes(name).strip_prefix(&self.before[..])?.strip_suffix(&self.after[..])?;
        let text = std::str::from_utf8(middle).ok()?;
        let number = text.parse().ok()?;
        (self.number(number) == text).then_some(number)
    }

    /// The numbers of existing files, ascending.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn scan(&self) -> std::io::Result<Vec<i64>> {
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(self.folder.join("."))? {
            numbers.extend(self.matches(&entry?.file_name()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The extension of the files in lower case; empty if there is none.
    pub fn extension(&self) -> String {
        let after = String::from_utf8_lossy(&self.after).to_lowercase();
        after.rsplit_once('.').map(|(_, ext)| ext.to_owned()).unwrap_or_default()
    }
}

impl std::fmt::Display for Pattern {
    /// Prints the pattern with `%04d` for the number.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = if self.width > 1 { format!("%0{}d", self.width) } else { "%d".into() };
        let file = name([&self.before, number.as_bytes(), &self.after].concat());
        write!(f, "{}", self.folder.join(file).display())
    }
}

/// `%%` as `%`.
fn halve(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut i = 0;
    while i < text.len() {
        out.push(text[i]);
        i += if text[i] == b'%' && text.get(i + 1) == Some(&b'%') { 2 } else { 1 };
    }
    out
}

/// Whether a file's name matches a glob: `*` is any text, `?` any one byte.
pub fn glob_matches(glob: &[u8], text: &[u8]) -> bool {
    let (mut g, mut t) = (0, 0);
    // the position to continue from if the text after the last star does not match
    let mut back: Option<(usize, usize)> = None;
    while t < text.len() {
        match glob.get(g) {
            Some(b'*') => {
                g += 1;
                back = Some((g, t));
            }
            Some(&c) if c == b'?' || c == text[t] => {
                g += 1;
                t += 1;
            }
            _ => {
                let Some((star, from)) = back else { return false };
                g = star;
                t = from + 1;
                back = Some((star, t));
            }
        }
    }
    glob[g..].iter().all(|&c| c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Option<Pattern>, PatternError> {
        Pattern::parse(OsStr::new(text))
    }

    #[test]
    fn table() {
        for (text, number, want) in [
            ("a.%05d.png", 7, "a.00007.png"),
            ("a.%d.png", 7, "a.7.png"),
            ("a%5d.png", 7, "a00007.png"),
            ("a.%04d.png", 10000, "a.10000.png"),
            ("a.%04d.png", -5, "a.-005.png"),
            ("100%%_%02d.png", 3, "100%_03.png"),
            ("a.#.png", 7, "a.0007.png"),
            ("a.##.png", 7, "a.07.png"),
            ("a.####.png", 1001, "a.1001.png"),
            ("a.#####.png", 1001, "a.01001.png"),
            ("a.@.png", 7, "a.7.png"),
            ("a.@@@.png", 7, "a.007.png"),
            ("a.$F4.png", 7, "a.0007.png"),
            ("a.$F.png", 7, "a.7.png"),
            ("x@y/take#2/%s/a.%03d.png", 1, "x@y/take#2/%s/a.001.png"),
            ("take#2_%03d@x.png", 1, "take#2_001@x.png"),
            ("take#2_@@.png", 1, ""),
            ("/abs/####.exr", 12, "/abs/0012.exr"),
        ] {
            let pattern = parse(text).unwrap().unwrap();
            if want.is_empty() {
                assert_eq!(pattern.path(1), Path::new("take00012_@@.png"), "# goes before @");
                continue;
            }
            assert_eq!(pattern.path(number), Path::new(want), "{text}");
            assert_eq!(pattern.matches(&pattern.file_name(number)), Some(number), "{text}");
        }
    }

    #[test]
    fn not_patterns_and_wrong_ones() {
        for text in ["a.png", "50%.png", "%s.png", "a$G.png", "", "/", "dir%d/a.png", "100%%d.png"] {
            assert_eq!(parse(text), Ok(None), "{text}");
        }
        assert_eq!(parse("a%d_%04d.png"), Err(PatternError::Twice("%d")));
        assert_eq!(parse("a#_##.png"), Err(PatternError::Twice("group of #")));
        assert_eq!(parse("a%099999999999999999999999d.png"), Err(PatternError::Width(usize::MAX)));
        assert_eq!(parse(&"#".repeat(19)), Err(PatternError::Width(19)));
    }

    #[test]
    fn only_the_exact_name_matches() {
        let p = parse("a.%04d.png").unwrap().unwrap();
        for (name, want) in [
            ("a.0001.png", Some(1)),
            ("a.9999.png", Some(9999)),
            ("a.10000.png", Some(10000)),
            ("a.00001.png", None),
            ("a.001.png", None),
            ("a.-001.png", Some(-1)),
            ("a.-0001.png", None),
            ("a.+001.png", None),
            ("a..png", None),
            ("a.0x01.png", None),
            ("a.99999999999999999999.png", None),
            ("b.0001.png", None),
            ("a.0001.pngx", None),
        ] {
            assert_eq!(p.matches(OsStr::new(name)), want, "{name}");
        }
        let p = parse("a%d").unwrap().unwrap();
        assert_eq!(p.matches(OsStr::new("a-0")), None);
        assert_eq!(p.matches(OsStr::new("a-9223372036854775808")), Some(i64::MIN));
    }

    #[cfg(unix)]
    #[test]
    fn names_need_not_be_utf8() {
        use std::os::unix::ffi::OsStrExt;
        let p = Pattern::parse(OsStr::from_bytes(b"\xff/\xfe.##.png")).unwrap().unwrap();
        assert_eq!(p.path(5).as_os_str().as_bytes(), b"\xff/\xfe.05.png");
        assert_eq!(p.matches(OsStr::from_bytes(b"\xfe.05.png")), Some(5));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            rng_seed: proptest::test_runner::RngSeed::Fixed(7),
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::with_cases(20_000)
        })]
        #[test]
        fn any_text_is_a_pattern_that_finds_its_own_names_or_none(
            text in "[a%d#@$F0-9/.*?\\-é]{0,12}", number in proptest::num::i64::ANY, shift in 0u32..64,
        ) {
            if let Ok(Some(p)) = parse(&text) {
                let number = number >> shift;
                assert_eq!(p.matches(&p.file_name(number)), Some(number), "{text}");
                assert_eq!(p.path(number).file_name(), Some(p.file_name(number).as_os_str()), "{text}");
            }
        }

        #[test]
        fn a_glob_agrees_with_its_definition(glob in "[ab*?]{0,7}", text in "[ab]{0,7}") {
            fn slow(g: &[u8], t: &[u8]) -> bool {
                match g {
                    [] => t.is_empty(),
                    [b'*', rest @ ..] => (0..=t.len()).any(|i| slow(rest, &t[i..])),
                    [b'?', rest @ ..] => !t.is_empty() && slow(rest, &t[1..]),
                    [c, rest @ ..] => t.first() == Some(c) && slow(rest, &t[1..]),
                }
            }
            assert_eq!(glob_matches(glob.as_bytes(), text.as_bytes()), slow(glob.as_bytes(), text.as_bytes()));
        }
    }

    #[test]
    fn globs() {
        for (glob, text, want) in [
            ("*.png", "a.png", true),
            ("*.png", ".png", true),
            ("*.png", "a.png.x", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b", "ab_a_b", true),
            ("*a*b", "ab_a_", false),
            ("", "", true),
            ("**", "", true),
        ] {
            assert_eq!(glob_matches(glob.as_bytes(), text.as_bytes()), want, "{glob} {text}");
        }
    }
}
