//! Rules that can be checked from the sources: no circles of imports, where `unsafe` is allowed, and
//! which functions must not compute samples.
//!
//! Tests inside the sources are exempt from all rules but those about `unsafe` and length.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the crates' sources. What a crate may use of another one is refused by the compiler.
const CRATES: &[&str] = &["filters/src", "src/io", "src/measure", "src/render", "src/studio", "src"];

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

/// The modules of a crate, and the files of each folder with their subfolders of the same name, import each other
/// without loops.
#[test]
fn files_import_each_other_in_one_order() {
    let mut faults = Vec::new();
    for folder in CRATES {
        let others = CRATES.iter().filter(|other| other.starts_with(&format!("{folder}/")));
        let others: Vec<String> = others.map(|other| format!("{other}/")).collect();
        let sources = sources(folder);
        let files: Vec<(Vec<&str>, &str)> = sources
            .iter()
            .filter(|s| !s.shipped.is_empty() && !others.iter().any(|other| s.path.starts_with(other)))
            .map(|s| (place_of(&s.path[folder.len() + 1..]), &*s.shipped))
            .collect();
        faults.extend(loops(&files).into_iter().map(|fault| format!("{folder}: {fault}")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The module path of a file of a crate; empty for `lib.rs`.
fn place_of(path: &str) -> Vec<&str> {
    path.trim_end_matches(".rs").split('/').filter(|n| !["lib", "mod", "main"].contains(n)).collect()
}

/// A description of the loop of each folder that has one among its files.
fn loops(files: &[(Vec<&str>, &str)]) -> Vec<String> {
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
        let within = |name: &&str| all.contains(name) && reached(graph, name).contains(name);
        let arrows = all.iter().map(|name| {
            let used: Vec<&str> = graph[name].iter().copied().filter(within).collect();
            format!("{name} -> {}", used.join(" "))
        });
        let text = format!("{folder}: a loop of imports: {}", arrows.collect::<Vec<_>>().join(", "));
        (!all.is_empty()).then_some(text)
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
            "src" => s.path.starts_with("src/io/libav/"),
            _ => s.path.contains("/src/simd") || is_arch_file(&parts),
        };
        if !may && words(&s.code).any(|w| w == "unsafe") {
            faults.push(format!("{}: unsafe", s.path));
        }
        if parts[0] == "src" && s.code.contains("core::arch") {
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
    let shipped = without_tests(code);
    let mut used = paths(&shipped, &[]);
    used.iter_mut().for_each(|path| path.truncate(1));
    used.dedup();
    assert_eq!(used.concat(), ["noise", "frame", "pixel", "gf2"]);
    assert!(without_tests("#[cfg(test)] mod tests; fn f() {}").contains("fn f"));
    let files = [
        (vec!["filter", "a"], "use super::{b::{X, c}, super::pixel};"),
        (vec!["filter", "b"], "use super::d::*; crate::filter::e::f()"),
        (vec!["filter", "e"], "use super::Filter;"),
        (vec!["filter", "d", "deep"], "use super::super::a::Y; use super::twin;"),
        (vec!["filter", "d", "twin"], "use crate::pixel::add;"),
    ];
    assert_eq!(loops(&files), ["filter: a loop of imports: a -> b, b -> d, d -> a"]);
    assert!(loops(&files[..3]).is_empty(), "{:?}", loops(&files[..3]));
    assert_eq!(place_of("noise/lfsr.rs"), ["noise", "lfsr"]);
    assert!(place_of("lib.rs").is_empty() && place_of("main.rs").is_empty());
}
