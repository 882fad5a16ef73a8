//! Errors in recipes, shown with their position.

use crate::settings::{Printable, ValueProblem};
use std::fmt;
use std::ops::Range;

/// The kind of an error in a recipe.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Problem {
    /// The text is longer than [`MAX_TEXT`](super::MAX_TEXT) bytes.
    #[error("a recipe has at most {} bytes", super::MAX_TEXT)]
    TooLong,
    /// More than [`MAX_STEPS`](super::MAX_STEPS) filters.
    #[error("a recipe has at most {} filters", super::MAX_STEPS)]
    TooManySteps,
    /// The name of a filter is missing.
    #[error("the name of a filter is missing here")]
    NoFilter,
    /// There is no filter of this name.
    #[error("{}", unknown_filter(.0))]
    UnknownFilter(String),
    /// The filter has no setting of this name; the filter is empty for the recipe itself.
    #[error("{} '{}'", without(.0), Printable(.1))]
    UnknownSetting(String, String),
    /// The name of a setting is missing before `=`.
    #[error("the name of a setting is missing before '='")]
    NoSetting,
    /// A value without a name that is not the first setting.
    #[error(
        "only the first value can omit its name: write name=value, separated by ':'; a time with ':' needs quotes, as in \
         \"enable='00:01:00-'\""
    )]
    Unnamed,
    /// The name of a filter is followed by something other than `=`.
    #[error("settings follow '=': write {0}=name=value")]
    NoEquals(&'static str),
    /// The setting has no value.
    #[error("'{name}' needs a value: write {name}=value", name = Printable(.0))]
    NoValue(String),
    /// The setting is given twice.
    #[error("'{}' is given twice", Printable(.0))]
    Twice(String),
    /// The value of this setting is invalid.
    #[error("{}: {}", Printable(.0), .1)]
    Value(String, ValueProblem),
    /// This character has a meaning in FFmpeg's graphs but not here.
    #[error("{}", graph(*.0))]
    Graph(char),
    /// A quote that is not closed.
    #[error("this quote is not closed")]
    OpenQuote,
    /// Nothing follows a backslash.
    #[error("a backslash protects the character after it; none follows")]
    OpenEscape,
    /// The pseudo filter `recipe` must come first.
    #[error("'recipe' is not a filter: it must come first and sets the seed")]
    NotFirst,
    /// A recipe of another version of the format.
    #[error("this program reads recipes of version {}; update the program for newer ones", super::VERSION)]
    Version,
    /// Invalid TOML, with the parser's message.
    #[error("{0}")]
    Toml(String),
    /// The TOML value should be of this kind.
    #[error("expected {0}")]
    Expected(&'static str),
    /// An error in an effect file.
    #[error("{0}")]
    Effect(String),
    /// A table lacks this entry.
    #[error("'{0}' is missing here")]
    Lacks(&'static str),
}

fn unknown_filter(name: &str) -> String {
    let (name, digit) = (Printable(name), name.starts_with(|c: char| c.is_ascii_digit()));
    // A decimal comma ends a filter, so the next name begins with a digit.
    let comma =
        if digit { ": ',' separates filters, and numbers have a decimal point, as in 0.5" } else { "" };
    format!("there is no filter '{name}'{comma}")
}

/// What has no setting of a name.
fn without(filter: &str) -> String {
    match filter {
        "" => "a recipe has no entry".into(),
        "key" | "curve" => format!("a {filter} has no entry"),
        _ => format!("'{filter}' has no setting"),
    }
}

fn graph(c: char) -> String {
    let more = match c {
        ';' => ", as in strength='0=0;48=12'; separate filters with ','",
        _ => "; filters have no named inputs or outputs",
    };
    format!("'{c}' needs quotes around the value{more}")
}

/// An error in a recipe, and its position. [`Display`](fmt::Display) shows the message, the line and a caret under
/// the character, without colour; [`parts`](RecipeError::parts) are for other layouts.
#[derive(Clone, PartialEq, Debug)]
pub struct RecipeError(Box<Parts>);

/// The parts of a [`RecipeError`].
#[derive(Clone, PartialEq, Debug)]
pub struct Parts {
    /// The kind of the error.
    pub problem: Problem,
    /// The byte range in the whole text; empty if something is missing there.
    pub span: Range<usize>,
    /// A suggestion.
    pub hint: Option<String>,
    /// The name of the file, if there is one: see [`RecipeError::named`].
    pub file: Option<String>,
    /// The line in which the span begins, from 1.
    pub line: usize,
    /// The character of the line at which the span begins, from 1.
    pub column: usize,
    /// That line, shortened around the span if it is long, with control characters replaced.
    pub excerpt: String,
    /// The part of the excerpt that the span covers, in characters; never empty.
    pub marked: Range<usize>,
}

/// The position and kind of an error, and a suggestion.
pub(super) type Fault = (Range<usize>, Problem, Option<String>);

impl RecipeError {
    /// The error of a fault in `text`.
    pub(super) fn of(text: &str, (at, problem, hint): Fault) -> RecipeError {
        RecipeError::new(text, at, problem).hint(hint)
    }

    /// An error at `span` of `text`; the span is extended to whole characters.
    pub(crate) fn new(text: &str, span: Range<usize>, problem: Problem) -> RecipeError {
        let start = text.floor_char_boundary(span.start.min(text.len()));
        let end = text.ceil_char_boundary(span.end.min(text.len())).max(start);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let (before, after) = (&text[line_start..start], &text[start..line_end]);
        let column = before.chars().count();
        let length = text[start..end.min(line_end)].chars().count().max(1);
        let (excerpt, from) = excerpt(before, after, length);
        RecipeError(Box::new(Parts {
            problem,
            span: start..end,
            hint: None,
            file: None,
            line: text[..line_start].matches('\n').count() + 1,
            column: column + 1,
            marked: from..from + length.min(WIDTH - BEFORE),
            excerpt,
        }))
    }

    /// The same error with a suggestion.
    pub(crate) fn hint(mut self, hint: Option<String>) -> RecipeError {
        self.0.hint = hint;
        self
    }

    /// The same error for a text from a file: the message begins with `NAME:LINE:COLUMN: `.
    #[must_use]
    pub fn named(mut self, file: &str) -> RecipeError {
        self.0.file = Some(file.to_owned());
        self
    }

    /// The kind of the error.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// All parts of the error.
    pub fn parts(&self) -> &Parts {
        &self.0
    }
}

/// Characters of a line that are shown.
const WIDTH: usize = 100;
/// The largest number of characters before the marked part in a shortened line.
const BEFORE: usize = 60;

/// The part of a line that is shown, and the index of its first marked character.
fn excerpt(before: &str, after: &str, length: usize) -> (String, usize) {
    let count = before.chars().count();
    let whole = count + after.chars().count() <= WIDTH;
    let skip = if whole { 0 } else { count.saturating_sub(BEFORE) };
    let take = if whole { usize::MAX } else { WIDTH - (count - skip) };
    let mut out = String::from(if skip > 0 { "..." } else { "" });
    let from = out.len() + count - skip;
    let printable = |c: char| match c {
        '\t' => ' ',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    out.extend(before.chars().skip(skip).map(printable));
    out.extend(after.trim_end_matches('\r').chars().take(take.max(length.min(WIDTH))).map(printable));
    if after.chars().nth(take).is_some() {
        out.push_str("...");
    }
    (out, from)
}

impl fmt::Display for RecipeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = &self.0;
        if let Some(file) = &p.file {
            write!(f, "{}:{}:{}: ", Printable(file), p.line, p.column)?;
        }
        write!(f, "{}", p.problem)?;
        if !p.excerpt.is_empty() {
            write!(f, "\n  {}\n  {:from$}^", p.excerpt, "", from = p.marked.start)?;
            write!(f, "{:~<more$}", "", more = p.marked.len() - 1)?;
        }
        match &p.hint {
            Some(hint) => write!(f, " {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for RecipeError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, span: Range<usize>) -> String {
        RecipeError::new(text, span, Problem::NoSetting).to_string()
    }

    #[test]
    fn the_caret_is_under_the_character() {
        let e = at("größe=6", 0..8);
        assert!(e.ends_with("\n  größe=6\n  ^~~~~~"), "{e}");
        let e = at("é=ü", 3..3);
        assert!(e.ends_with("\n  é=ü\n    ^"), "{e}");
        let e = at("ab", 2..2);
        assert!(e.ends_with("\n  ab\n    ^"), "{e}");
        let e = at("one\ntwo\tx\u{1b}\nthree", 4..13);
        assert!(e.ends_with("\n  two x\u{fffd}\n  ^~~~~~"), "{e}");
        // In the middle of a character, and beyond the end of the text.
        assert!(at("é", 1..1).ends_with("\n  é\n  ^"));
        assert!(at("x", 7..9).ends_with("\n  x\n   ^"));
    }

    #[test]
    fn long_lines_are_cut_round_the_place() {
        let text = format!("{}HERE{}", "é".repeat(500), "b".repeat(500));
        let e = RecipeError::new(&text, 1000..1004, Problem::NoSetting);
        let p = e.parts();
        let marked: String = p.excerpt.chars().skip(p.marked.start).take(p.marked.len()).collect();
        assert_eq!(marked, "HERE");
        assert!(p.excerpt.chars().count() <= WIDTH + 6);
        assert!(p.excerpt.starts_with("...é") && p.excerpt.ends_with("b..."));
        assert_eq!((p.line, p.column), (1, 501));
        let all = RecipeError::new(&text, 0..text.len(), Problem::NoSetting);
        assert!(all.parts().marked.end <= all.parts().excerpt.chars().count());
    }

    #[test]
    fn files_are_named_with_line_and_column() {
        let e = RecipeError::new("a\nbéc", 5..6, Problem::NoSetting).named("look.toml");
        assert!(e.to_string().starts_with("look.toml:2:3: the name"), "{e}");
    }
}
