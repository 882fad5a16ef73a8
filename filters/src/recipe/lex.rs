//! Splits a chain into characters and separators, and resolves quotes and backslashes.
//!
//! FFmpeg parses a chain twice: first `' \ , ; [ ]` between filters, then `' \ :` between settings in the result.
//! This lexer works in one pass and marks each character as protected or not. All usual spellings mean the same as
//! in FFmpeg. Three rules are simpler: quotes also protect `:`, one backslash is enough before it, and `clip:0` as a value
//! needs neither.
//!
//! | written | means |
//! |---|---|
//! | `'a:b,c'` | `a:b,c` |
//! | `a\:b`, `a\\:b`, `a\\\:b`, `'a\:b'` | `a:b` |
//! | `a\,b` | `a,b` |
//! | `a\'b`, `a\\\'b`, `'a'\''b'` | `a'b` |
//! | `a\\\\b`, `'a\\b'` | `a\b` |

use super::error::Problem;
use std::ops::Range;

/// A character of a name or value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) c: char,
    /// The position in the text, including the backslashes before it.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether quotes or a backslash protect it, so that it is not a separator.
    pub(super) protected: bool,
}

/// One part of a chain.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Cell(Cell),
    /// `:` and its position.
    Colon(usize),
    /// `,` and its position.
    Comma(usize),
}

/// Splits a chain into characters and the separators of settings and filters.
pub(super) fn lex(text: &str) -> Result<Vec<Token>, (Range<usize>, Problem)> {
    let mut out = Vec::new();
    let mut chars = text.char_indices().peekable();
    let mut quote: Option<usize> = None;
    // The position of a backslash that is left after FFmpeg's first parse: it protects the next character.
    let mut escape: Option<usize> = None;
    while let Some((at, c)) = chars.next() {
        let mut end = at + c.len_utf8();
        let (mut c, mut protected) = (c, quote.is_some());
        if c == '\'' {
            quote = if quote.is_some() { None } else { Some(at) };
            continue;
        }
        if c == '\\' && quote.is_none() {
            let Some((next_at, next)) = chars.next() else {
                return Err((at..end, Problem::OpenEscape));
            };
            end = next_at + next.len_utf8();
            (c, protected) = (next, next != '\\');
        }
        // FFmpeg's second parse.
        if let Some(start) = escape.take() {
            if !protected && matches!(c, ',' | ';' | '[' | ']') {
                return Err((start..at, Problem::OpenEscape));
            }
            out.push(Token::Cell(Cell { c, start, end, protected: true }));
        } else if c == '\\' {
            escape = Some(at);
        } else if protected {
            out.push(Token::Cell(Cell { c, start: at, end, protected }));
        } else {
            match c {
                ',' => out.push(Token::Comma(at)),
                // No setting begins with a digit: the value is the name of a clip that a host gives.
                ':' if ends_in_clip(&out) && chars.peek().is_some_and(|(_, next)| next.is_ascii_digit()) => {
                    out.push(Token::Cell(Cell { c, start: at, end, protected: true }));
                }
                ':' => out.push(Token::Colon(at)),
                ';' | '[' | ']' => return Err((at..end, Problem::Graph(c))),
                _ => out.push(Token::Cell(Cell { c, start: at, end, protected })),
            }
        }
    }
    match (quote, escape) {
        (Some(at), _) => Err((at..at + 1, Problem::OpenQuote)),
        (_, Some(at)) => Err((at..at + 1, Problem::OpenEscape)),
        _ => Ok(out),
    }
}

fn ends_in_clip(tokens: &[Token]) -> bool {
    let last = tokens.iter().rev().map_while(|t| if let Token::Cell(cell) = t { Some(cell.c) } else { None });
    last.take(5).eq("pilc=".chars())
}

/// Quotes a value so that `lex` returns it unchanged.
pub fn quoted(value: &str, out: &mut String) {
    let special = |c: char| matches!(c, '\\' | '\'' | ':' | ',' | ';' | '[' | ']') || c.is_whitespace();
    if !value.is_empty() && !value.contains(special) {
        out.push_str(value);
        return;
    }
    out.push('\'');
    for c in value.chars() {
        match c {
            '\'' => out.push_str("'\\''"),
            '\\' => out.push_str("\\\\"),
            c => out.push(c),
        }
    }
    out.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixed;
    use proptest::prelude::*;

    fn read(text: &str) -> String {
        let show = |t: Token| match t {
            Token::Cell(c) => c.c,
            Token::Colon(_) => '⋮',
            Token::Comma(_) => '‚',
        };
        lex(text).unwrap().into_iter().map(show).collect()
    }

    #[test]
    fn quoting_is_that_of_ffmpeg() {
        for text in [r"a\:b", r"a\\:b", r"a\\\:b", r"'a\:b'", "'a:b'", "a':'b"] {
            assert_eq!(read(text), "a:b", "{text}");
        }
        for text in [r"a\'b", r"a\\\'b", r"'a'\''b'"] {
            assert_eq!(read(text), "a'b", "{text}");
        }
        for text in [r"a\\\\b", r"'a\\b'"] {
            assert_eq!(read(text), r"a\b", "{text}");
        }
        assert_eq!(read(r"a\,b\;c\[d\]"), "a,b;c[d]");
        assert_eq!(read("'a,b;c[d]'"), "a,b;c[d]");
        // The examples from FFmpeg's manual.
        assert_eq!(
            read(r"text=this is a \\\'string\\\'\\: may contain one\, or more\, special characters"),
            "text=this is a 'string': may contain one, or more, special characters"
        );
        assert_eq!(read("a=b:c=d,e"), "a=b⋮c=d‚e");
        assert_eq!(read("a=clip:0:b=clip:c=clip:12,clip:0"), "a=clip:0⋮b=clip⋮c=clip:12‚clip⋮0");
    }

    #[test]
    fn unclosed_quotes_are_refused() {
        for (text, at, problem) in [
            ("a='b", 2..3, Problem::OpenQuote),
            (r"a=b\", 3..4, Problem::OpenEscape),
            (r"a=b\\", 3..4, Problem::OpenEscape),
            (r"é\\,b", 2..4, Problem::OpenEscape),
            (r"'b\'", 2..3, Problem::OpenEscape),
            ("a;b", 1..2, Problem::Graph(';')),
            ("[in]a", 0..1, Problem::Graph('[')),
        ] {
            assert_eq!(lex(text), Err((at, problem)), "{text}");
        }
    }

    proptest! {
        #![proptest_config(fixed(4))]

        #[test]
        fn quoting_is_undone(value in r"[a-c\\':,;\[\] é]{0,12}") {
            let mut text = String::new();
            quoted(&value, &mut text);
            prop_assert_eq!(read(&text), value);
        }

        #[test]
        fn no_text_panics(text in r"[a\\':,;= é]{0,16}") {
            if let Ok(tokens) = lex(&text) {
                for t in tokens {
                    if let Token::Cell(c) = t {
                        prop_assert!(text[c.start..c.end].ends_with(c.c));
                    }
                }
            }
        }
    }
}
