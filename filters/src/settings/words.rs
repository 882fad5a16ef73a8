//! Names in messages and in TOML.

use core::fmt::{self, Write};

/// A suggestion such as `did you mean 'strength'?` if one of the names is similar.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    if typed.len() > 64 {
        return None;
    }
    let typed = typed.to_ascii_lowercase();
    let distance = |name: &str| {
        let d = strsim::damerau_levenshtein(&typed, name);
        let is_start = typed.len() >= 2 && name.starts_with(&typed);
        (is_start || d <= (name.len().max(typed.len()) / 3).max(1)).then_some(if is_start { 0 } else { d })
    };
    let best = names.into_iter().filter_map(|n| Some((distance(n)?, n))).min_by_key(|(d, _)| *d)?;
    Some(format!("did you mean '{}'?", best.1))
}

/// Appends `start`, then `words` in lines of at most `width` characters, of which further ones are indented.
pub fn wrap(out: &mut String, start: &str, indent: usize, width: usize, words: &str) {
    let mut line = start.to_owned();
    let mut gap = "";
    for word in words.split_whitespace() {
        if !gap.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            out.extend([line.trim_end(), "\n"]);
            (line, gap) = (" ".repeat(indent), "");
        }
        line.extend([gap, word]);
        gap = " ";
    }
    out.extend([line.trim_end(), "\n"]);
}

/// A name for display: without control characters and of limited length.
pub(crate) struct Printable<'a>(pub(crate) &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printable = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        self.0.chars().take(40).map(printable).try_for_each(|c| f.write_char(c))?;
        f.write_str(if self.0.chars().nth(40).is_some() { "..." } else { "" })
    }
}

/// A string in TOML, with its quotes.
pub fn toml_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found() {
        let names = ["strength", "seed", "static"];
        let near = |t| nearest(t, names);
        assert_eq!(near("strenght").as_deref(), Some("did you mean 'strength'?"));
        assert_eq!(near("STRENGTH").as_deref(), Some("did you mean 'strength'?"));
        assert_eq!(near("str").as_deref(), Some("did you mean 'strength'?"));
        assert_eq!(near("sed").as_deref(), Some("did you mean 'seed'?"));
        assert_eq!(near("colour"), None);
    }
}
