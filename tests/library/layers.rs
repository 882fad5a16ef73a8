//! Rules that can be checked from the sources: which modules may import which, where `unsafe` is allowed, and
//! which functions must not compute samples.
//!
//! A module imports only from rows below its own, never sideways. A new module gets a line in [`FILTERS`] or
//! [`PROGRAM`]. Tests inside the sources are exempt from all rules but those about `unsafe` and length.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules and their rows.
type Rows = &'static [(&'static str, u32)];

/// The modules of `filters/src`. `catalog` is below `chain`, which consists of its entries.
const FILTERS: Rows = &[
    ("ratio", 0),
    ("simd", 0),
    ("lend", 0),
    ("gf2", 0),
    ("curve", 1),
    ("frame", 1),
    // A macro of `settings`: macros are at the crate root, in whatever module they are defined.
    ("choices", 1),
    ("film_grain", 1),
    ("settings", 2),
    ("plate", 2),
    ("noise", 2),
    ("pixel", 3),
    ("particle", 4),
    ("filter", 5),
    ("catalog", 6),
    ("chain", 7),
    ("recipe", 8),
];

/// The modules of `src`. `media` defines the interfaces of sources and sinks, so it is below their implementations; the
/// tables of inputs and outputs are above.
const PROGRAM: Rows = &[
    ("disk", 0),
    ("encoding", 0),
    ("journal", 1),
    ("media", 2),
    ("libav", 3),
    ("format", 4),
    ("source", 5),
    ("sink", 5),
    ("assets", 5),
    ("pipeline", 6),
    ("session", 7),
    ("analyze", 8),
    ("batch", 8),
    ("join", 8),
    ("matching", 9),
    ("sheet", 9),
    ("cli", 10),
    ("studio", 11),
];

/// Floating-point functions of std whose last bit may differ between machines or releases, and `mul_add`, which
/// rounds once with hardware support and is slow without.
const INEXACT: &[&str] = &[
    "mul_add", "sin", "cos", "tan", "sin_cos", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh",
    "asinh", "acosh", "atanh", "exp", "exp2", "exp_m1", "ln", "ln_1p", "log", "log2", "log10", "powf",
    "powi", "cbrt", "hypot", "gamma", "ln_gamma",
];

const LONGEST: usize = 600;

struct Source {
    /// Relative to the root of the repository, with `/`.
    path: String,
    /// The original text.
    text: String,
    /// Without comments and literals.
    code: String,
    /// `code` without parts that are only compiled for tests.
    shipped: String,
}

#[test]
fn modules_import_downwards_only() {
    let mut faults = Vec::new();
    for (folder, rows) in [("filters/src", FILTERS), ("src", PROGRAM)] {
        let row = |name: &str| rows.iter().find(|r| r.0 == name).map(|r| r.1);
        // a separate crate
        for s in sources(folder).iter().filter(|s| !s.path.starts_with("src/measure/")) {
            let Some(own) = module_of(&s.path, folder) else { continue };
            let Some(own_row) = row(own) else {
                faults.push(format!("{}: the module '{own}' has no row in tests/library/layers.rs", s.path));
                continue;
            };
            for used in imports(&s.shipped).into_iter().filter(|u| *u != own) {
                match row(used) {
                    Some(r) if r < own_row => {}
                    Some(r) => {
                        faults.push(format!("{}: {own} (row {own_row}) imports {used} (row {r})", s.path))
                    }
                    None => faults.push(format!("{}: imports '{used}', which has no row", s.path)),
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Folders of `filters/src` whose files still import each other in a loop, which should be removed; no folder
/// may be added.
const LOOPS: &[&str] = &["pixel/grain"];

/// The files of a folder, each with its subfolder of the same name, import each other without loops.
#[test]
fn files_of_a_module_import_each_other_in_one_order() {
    let sources = sources("filters/src");
    let files: Vec<(Vec<&str>, &str)> =
        sources.iter().filter(|s| !s.shipped.is_empty()).map(|s| (place_of(&s.path), &*s.shipped)).collect();
    let faults: Vec<String> =
        loops(&files).into_iter().filter(|l| !LOOPS.contains(&&*l.0)).map(|l| l.1).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The module path of a file of `filters/src`; empty for `lib.rs`.
fn place_of(path: &str) -> Vec<&str> {
    let names = path.trim_start_matches("filters/src/").trim_end_matches(".rs").split('/');
    names.filter(|n| !["lib", "mod"].contains(n)).collect()
}

/// Each folder with a loop among its files, and a description of the loop.
fn loops(files: &[(Vec<&str>, &str)]) -> Vec<(String, String)> {
    // For each folder, which of its modules imports which.
    let mut graphs: BTreeMap<String, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    for (own, code) in files {
        for used in paths(code, own) {
            let Some(at) = (0..own.len().min(used.len())).find(|&i| own[i] != used[i]) else { continue };
            let known = files.iter().any(|(place, _)| place.get(..=at) == Some(&used[..=at]));
            if known {
                graphs.entry(own[..at].join("/")).or_default().entry(own[at]).or_default().insert(used[at]);
            }
        }
    }
    let found = graphs.iter().filter_map(|(folder, graph)| {
        let all: Vec<&str> =
            graph.keys().copied().filter(|name| reached(graph, name).contains(name)).collect();
        (!all.is_empty())
            .then(|| (folder.clone(), format!("{folder}: {} import each other in a loop", all.join(", "))))
    });
    found.collect()
}

/// All modules that are imported, directly or indirectly.
fn reached<'a>(graph: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut next: Vec<&str> = graph.get(from).into_iter().flatten().copied().collect();
    while let Some(name) = next.pop() {
        if seen.insert(name) {
            next.extend(graph.get(name).into_iter().flatten());
        }
    }
    seen
}

/// All paths in stripped code that begin with `crate` or `super`, from the root of the crate, as far as they may name
/// modules.
fn paths<'a>(code: &'a str, own: &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = ["crate::", "super::"].iter().filter_map(|w| rest.find(w)).min() {
        let mut base = own.to_vec();
        rest = &rest[at..];
        if let Some(behind) = rest.strip_prefix("crate::") {
            (base, rest) = (Vec::new(), behind);
        }
        while let Some(behind) = rest.strip_prefix("super::") {
            base.pop();
            rest = behind;
        }
        rest = tree(rest, &base, &mut found);
    }
    found
}

/// Reads a path, or a list of them in braces; returns the rest.
fn tree<'a>(code: &'a str, base: &[&'a str], found: &mut Vec<Vec<&'a str>>) -> &'a str {
    if let Some(mut rest) = code.strip_prefix('{') {
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            match rest.strip_prefix('}') {
                Some(behind) => return behind,
                None if rest.is_empty() => return rest,
                None => {
                    let behind = tree(rest, base, found);
                    // Skip anything that is not a path, such as `as name` and `*`.
                    rest = if behind.len() < rest.len() { behind } else { rest.get(1..).unwrap_or_default() };
                }
            }
        }
    }
    let end = code.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(code.len());
    let mut path = base.to_vec();
    path.extend((end > 0).then(|| &code[..end]));
    let behind = &code[end..];
    match behind.strip_prefix("::") {
        Some(more) if end > 0 => tree(more, &path, found),
        _ => {
            found.push(path);
            behind
        }
    }
}

#[test]
fn unsafe_is_only_in_the_allowed_files() {
    let mut faults = Vec::new();
    for s in ["benches/papers/src", "filters/src", "src"].into_iter().flat_map(sources) {
        let parts: Vec<&str> = s.path.split('/').collect();
        let may = match parts[0] {
            "src" => parts[1] == "libav",
            _ => s.path.contains("/src/simd") || is_arch_file(&parts),
        };
        if !may && words(&s.code).any(|w| w == "unsafe") {
            faults.push(format!("{}: unsafe", s.path));
        }
        if parts[0] == "src" && parts[1] != "libav" && s.code.contains("core::arch") {
            faults.push(format!("{}: intrinsics belong to the filters crate", s.path));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Files of kernels for an instruction set: in a folder `arch`, or named after one (`x86.rs`, `lfsr_sse2.rs`).
fn is_arch_file(parts: &[&str]) -> bool {
    let (file, folders) = parts.split_last().expect("a path has parts");
    let last_word = file.trim_end_matches(".rs").rsplit('_').next().unwrap_or_default();
    folders.contains(&"arch") || ["arch", "x86", "sse2", "avx2", "avx512", "neon"].contains(&last_word)
}

#[test]
fn samples_are_made_of_exact_arithmetic() {
    let mut faults = Vec::new();
    for s in sources("filters/src") {
        for name in INEXACT {
            for call in [format!(".{name}("), format!("f32::{name}"), format!("f64::{name}")] {
                let whole = |(at, _): &(usize, &str)| {
                    !s.shipped[at + call.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
                        || call.ends_with('(')
                };
                if s.shipped.match_indices(&call).any(|m| whole(&m)) {
                    faults.push(format!("{}: {call}: use + - * / sqrt, or the pinned libm", s.path));
                }
            }
        }
        for word in ["HashMap", "HashSet", "std::time", "std::fs", "std::env", "std::thread"] {
            if s.shipped.contains(word) {
                faults.push(format!("{}: {word} is not for the filters crate", s.path));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn files_are_short() {
    let mut faults = Vec::new();
    for s in ["src", "filters", "tests", "benches"].into_iter().flat_map(sources) {
        let lines = s.text.lines().count();
        if lines > LONGEST {
            faults.push(format!("{}: {lines} lines, {LONGEST} are the limit", s.path));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// `filters/src/noise/lfsr.rs` and `filters/src/noise.rs` belong to `noise`; `lib.rs` and `main.rs` to none.
fn module_of<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let name = path.strip_prefix(folder)?.split('/').nth(1)?;
    let name = name.strip_suffix(".rs").unwrap_or(name);
    (!["lib", "main"].contains(&name)).then_some(name)
}

/// The modules named after `crate::`, also inside braces.
fn imports(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        if let Some(list) = rest.strip_prefix('{') {
            // `use crate::{a, b::{c, d}};`: the names at depth 0.
            let (mut depth, mut fresh) = (0, true);
            for (i, c) in list.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => fresh = true,
                    c if depth == 0 && fresh && (c.is_alphabetic() || c == '_') => {
                        found.extend(words(&list[i..]).next());
                        fresh = false;
                    }
                    _ => {}
                }
            }
        } else {
            found.extend(words(rest).next().filter(|_| rest.starts_with(|c: char| c.is_alphabetic())));
        }
    }
    // Macros are at the crate root, in whatever module they are defined; they are used by name, as
    // `crate::name!`.
    found
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty())
}

/// All Rust files below a folder; none if there is no such folder.
fn sources(folder: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    walk(&root.join(folder), &mut files);
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let path = file.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
            let text = fs::read_to_string(&file).expect("a source is text");
            let code = strip(&text);
            let tests_only =
                path.ends_with("tests.rs") || path.ends_with("/testing.rs") || path.contains("/tests/");
            let shipped = if tests_only { String::new() } else { without_tests(&code) };
            Source { path, text, code, shipped }
        })
        .collect()
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|e| e.expect("the folder can be read").path()) {
        if path.is_dir() {
            if path.file_name().is_some_and(|n| n != "target") {
                walk(&path, files);
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

/// The code without comments, and with literals emptied.
fn strip(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let (mut out, mut i) = (String::new(), 0);
    while i < chars.len() {
        let c = chars[i];
        let in_word = i > 0 && (at(i - 1).is_alphanumeric() || at(i - 1) == '_');
        if c == '/' && at(i + 1) == '/' {
            while i < chars.len() && chars[i] != '\n' {
                i += 1;
            }
        } else if c == '/' && at(i + 1) == '*' {
            let mut depth = 0;
            loop {
                match (at(i), at(i + 1)) {
                    ('/', '*') => (depth, i) = (depth + 1, i + 2),
                    ('*', '/') => (depth, i) = (depth - 1, i + 2),
                    _ => i += 1,
                }
                if depth == 0 || i >= chars.len() {
                    break;
                }
            }
        } else if (c == 'r' && (!in_word || at(i - 1) == 'b'))
            && (at(i + 1) == '"' || at(i + 1) == '#' && (at(i + 2) == '"' || at(i + 2) == '#'))
        {
            let hashes = chars[i + 1..].iter().take_while(|c| **c == '#').count();
            i += 2 + hashes;
            while i < chars.len()
                && !(chars[i] == '"'
                    && chars[i + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes)
            {
                i += 1;
            }
            i += 1 + hashes;
            out.push_str("\"\"");
        } else if c == '"' {
            i += 1;
            while i < chars.len() && chars[i] != '"' {
                i += if chars[i] == '\\' { 2 } else { 1 };
            }
            i += 1;
            out.push_str("\"\"");
        } else if c == '\'' && (at(i + 1) == '\\' || at(i + 2) == '\'') {
            // A character literal, not a lifetime.
            i += if at(i + 1) == '\\' { 3 } else { 2 };
            while i < chars.len() && chars[i] != '\'' {
                i += 1;
            }
            i += 1;
            out.push_str("' '");
        } else {
            out.push(c);
            i += 1;
        }
    }
    out
}

/// Stripped code without the items after `#[cfg(test)]`.
fn without_tests(code: &str) -> String {
    let mut out = String::new();
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]") {
        out.push_str(&rest[..at]);
        let item = &rest[at..];
        let (mut depth, mut end) = (0, item.len());
        for (i, c) in item.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 && (c == '}' || c == ';') {
                end = i + 1;
                break;
            }
        }
        rest = &item[end..];
    }
    out + rest
}

#[test]
fn the_reader_of_sources_reads() {
    let code = strip(
        "a /* unsafe /* */ unsafe */ b // unsafe\nc \"unsafe \\\" unsafe\" r#\"unsafe \" \"# '\"' 'x' &'a d '\\'' e",
    );
    assert!(!code.contains("unsafe"), "{code}");
    assert_eq!(words(&code).collect::<String>(), "abcade", "{code}");
    let code = "use crate::{noise::{a, b}, frame}; x = crate::pixel::add; #[cfg(test)] mod tests { use crate::chain; } use crate::gf2;";
    assert_eq!(imports(&without_tests(code)), ["noise", "frame", "pixel", "gf2"]);
    assert!(without_tests("#[cfg(test)] mod tests; fn f() {}").contains("fn f"));
    let files = [
        (vec!["filter", "a"], "use super::{b::{X, c}, super::pixel};"),
        (vec!["filter", "b"], "use super::d::*; crate::filter::e::f()"),
        (vec!["filter", "e"], "use super::Filter;"),
        (vec!["filter", "d", "deep"], "use super::super::a::Y; use super::twin;"),
        (vec!["filter", "d", "twin"], "use crate::pixel::add;"),
    ];
    assert_eq!(loops(&files), [("filter".into(), "filter: a, b, d import each other in a loop".into())]);
    assert!(loops(&files[..3]).is_empty(), "{:?}", loops(&files[..3]));
    assert_eq!(module_of("filters/src/noise/lfsr.rs", "filters/src"), Some("noise"));
    assert_eq!(module_of("filters/src/gf2.rs", "filters/src"), Some("gf2"));
    assert_eq!(module_of("src/lib.rs", "src"), None);
}
