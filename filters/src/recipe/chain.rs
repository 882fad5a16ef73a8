//! Parses the `-f` chain.

use super::assemble::{StepBuilder, find, setting, value_hint};
use super::error::{Fault, Problem, RecipeError};
use super::lex::{Cell, Token, lex};
use super::{MAX_STEPS, MAX_TEXT, RECIPE, Recipe, VERSION};
use crate::catalog::Entry;
use crate::settings::nearest;
use crate::settings::{Kind, Setting, Value};
use std::ops::Range;

/// The settings of [`RECIPE`].
static HEAD_SETTINGS: [Setting; 2] = [
    Setting::new("seed", "The seed of the recipe.", Kind::Seed),
    Setting::new("version", "The version of the recipe's format.", Kind::Integer { min: 0, max: i64::MAX }),
];

/// The characters between two separators, without surrounding white space.
struct Piece<'a> {
    cells: &'a [Cell],
    /// The position, also if it is empty.
    at: usize,
}

impl<'a> Piece<'a> {
    fn new(cells: &'a [Cell], at: usize) -> Piece<'a> {
        let blank = |c: &Cell| c.c.is_ascii_whitespace() && !c.protected;
        let start = cells.iter().position(|c| !blank(c)).unwrap_or(cells.len());
        let end = cells.iter().rposition(|c| !blank(c)).map_or(start, |i| i + 1);
        Piece { cells: &cells[start..end], at }
    }

    fn text(&self) -> String {
        self.cells.iter().map(|c| c.c).collect()
    }

    /// The byte range in the chain.
    fn span(&self) -> Range<usize> {
        match self.cells {
            [] => self.at..self.at,
            [first, .., last] => first.start..last.end,
            [one] => one.start..one.end,
        }
    }

    /// The byte range in the chain of a range of [`text`](Piece::text).
    fn span_of(&self, bytes: Range<usize>) -> Range<usize> {
        let mut at = 0;
        let mut inside = self.cells.iter().filter(|c| {
            let start = at;
            at += c.c.len_utf8();
            if bytes.is_empty() { start >= bytes.start } else { at > bytes.start && start < bytes.end }
        });
        match inside.next() {
            None => self.span().end..self.span().end,
            Some(first) if bytes.is_empty() => first.start..first.start,
            Some(first) => first.start..inside.next_back().unwrap_or(first).end,
        }
    }

    /// Splits at the first `=`, which must be protected or not, as given.
    fn split(&self, protected: bool) -> Option<(Piece<'a>, Piece<'a>)> {
        let i = self.cells.iter().position(|c| c.c == '=' && c.protected == protected)?;
        let at = self.cells[i].start;
        Some((Piece::new(&self.cells[..i], at), Piece::new(&self.cells[i + 1..], at + 1)))
    }
}

/// Parses a chain of the filters in `table`.
pub(super) fn parse(text: &str, table: &'static [Entry]) -> Result<Recipe, RecipeError> {
    if text.len() > MAX_TEXT {
        return Err(RecipeError::new(text, MAX_TEXT..text.len(), Problem::TooLong));
    }
    let tokens = lex(text).map_err(|(at, problem)| RecipeError::new(text, at, problem))?;
    read(&tokens, text.len(), table).map_err(|fault| RecipeError::of(text, fault))
}

fn read(tokens: &[Token], end: usize, table: &'static [Entry]) -> Result<Recipe, Fault> {
    let mut recipe = Recipe::default();
    let mut cells: Vec<Cell> = Vec::new();
    let mut filter: Option<Part> = None;
    let mut first = true;
    // A virtual comma ends the last filter.
    let last = Token::Comma(end);
    let all = tokens.iter().chain(std::iter::once(&last));
    let count = tokens.len();
    for (i, token) in all.enumerate() {
        let (at, ends) = match token {
            Token::Cell(c) => {
                cells.push(*c);
                continue;
            }
            Token::Colon(at) => (*at, false),
            Token::Comma(at) => (*at, true),
        };
        let piece = Piece::new(&cells, at);
        // An empty chain is a recipe of no filters.
        if i == count && first && filter.is_none() && piece.cells.is_empty() {
            break;
        }
        let mut part = match filter.take() {
            None => begin(&piece, ends, first, table)?,
            Some(mut part) => {
                part.argument(&piece, false)?;
                part
            }
        };
        cells.clear();
        if !ends {
            filter = Some(part);
            continue;
        }
        first = false;
        match &mut part {
            Part::Head { seed, .. } => recipe.seed = *seed,
            Part::Step(_) if recipe.steps.len() == MAX_STEPS => {
                return Err((at..at, Problem::TooManySteps, None));
            }
            Part::Step(_) => {}
        }
        if let Part::Step(draft) = part {
            draft.finish(&mut recipe);
        }
    }
    Ok(recipe)
}

/// The part being parsed: a filter, or the pseudo filter with settings of the whole recipe.
enum Part {
    Step(Box<StepBuilder>),
    Head { seed: Option<u64>, seen: Vec<&'static str> },
}

/// Parses `name`, or `name=` and the first argument.
fn begin(piece: &Piece<'_>, ends: bool, first: bool, table: &'static [Entry]) -> Result<Part, Fault> {
    let (name, rest) = piece.split(false).map_or((None, None), |(n, r)| (Some(n), Some(r)));
    let name = name.as_ref().unwrap_or(piece);
    let text = name.text();
    if text.is_empty() {
        return Err((name.span(), Problem::NoFilter, None));
    }
    let mut part = if text == RECIPE {
        if !first {
            return Err((name.span(), Problem::NotFirst, None));
        }
        Part::Head { seed: None, seen: Vec::new() }
    } else {
        Part::Step(Box::new(StepBuilder::new(
            find(table, &text).map_err(|(p, hint)| (name.span(), p, hint))?,
        )))
    };
    match rest {
        Some(rest) => part.argument(&rest, true)?,
        None if !ends => {
            let name = if let Part::Step(d) = &part { d.filter().name } else { RECIPE };
            return Err((piece.at..piece.at + 1, Problem::NoEquals(name), None));
        }
        None => {}
    }
    Ok(part)
}

impl Part {
    /// Parses `name=value`, or the value of the first setting.
    fn argument(&mut self, piece: &Piece<'_>, first: bool) -> Result<(), Fault> {
        // A keyframe string contains '=' too, but begins with a digit or a minus.
        let named = piece.split(false).filter(|(name, _)| {
            let c = name.cells.first().map_or('a', |c| c.c);
            !(c.is_ascii_digit() || c == '-')
        });
        // Quotes around both name and value are accepted.
        let quoted = || piece.split(true).filter(|(name, _)| self.find(&name.text()).is_ok());
        let named = named.or_else(quoted);
        if let Some((name, value)) = named {
            let id = name.text();
            if id.is_empty() {
                return Err((name.span(), Problem::NoSetting, None));
            }
            let setting = self.find(&id).map_err(|(p, hint)| (name.span(), p, hint))?;
            self.first_time(setting).map_err(|p| (name.span(), p, None))?;
            if value.cells.is_empty() {
                return Err((value.span(), Problem::NoValue(id), None));
            }
            return self.value(setting, &value);
        }
        let text = piece.text();
        if let Ok(setting) = self.find(&text) {
            return Err((piece.span(), Problem::NoValue(setting.id.to_owned()), None));
        }
        let Some(setting) = self.settings().first().filter(|_| first && !text.is_empty()) else {
            return Err((piece.span(), Problem::Unnamed, None));
        };
        self.first_time(setting).map_err(|p| (piece.span(), p, None))?;
        self.value(setting, piece)
    }

    fn settings(&self) -> &'static [Setting] {
        match self {
            Part::Step(draft) => draft.filter().settings,
            Part::Head { .. } => &HEAD_SETTINGS,
        }
    }

    fn find(&self, id: &str) -> Result<&'static Setting, (Problem, Option<String>)> {
        match self {
            Part::Step(draft) => setting(draft.filter(), id),
            Part::Head { .. } => HEAD_SETTINGS.iter().find(|s| s.id == id).ok_or_else(|| {
                let near = nearest(id, HEAD_SETTINGS.iter().map(|s| s.id));
                (Problem::UnknownSetting(RECIPE.to_owned(), id.to_owned()), near)
            }),
        }
    }

    fn first_time(&mut self, setting: &'static Setting) -> Result<(), Problem> {
        match self {
            Part::Step(draft) => draft.first_time(setting),
            Part::Head { seen, .. } if seen.contains(&setting.id) => {
                Err(Problem::Twice(setting.id.to_owned()))
            }
            Part::Head { seen, .. } => {
                seen.push(setting.id);
                Ok(())
            }
        }
    }

    fn value(&mut self, setting: &'static Setting, piece: &Piece<'_>) -> Result<(), Fault> {
        let text = piece.text();
        if let Part::Step(draft) = self
            && draft.link(setting, &text)
        {
            return Ok(());
        }
        let value = setting.parse(&text).map_err(|e| {
            let hint = value_hint(&e.problem, text.trim_ascii());
            (piece.span_of(e.at), Problem::Value(setting.id.to_owned(), e.problem), hint)
        })?;
        match (self, value) {
            (Part::Step(draft), value) => draft.set(setting, value).map_err(|p| (piece.span(), p, None)),
            (Part::Head { seed, .. }, Value::Seed(s)) => {
                *seed = Some(s);
                Ok(())
            }
            (Part::Head { .. }, Value::Integer(VERSION)) => Ok(()),
            (Part::Head { .. }, _) => Err((piece.span(), Problem::Version, None)),
        }
    }
}
