//! Parses graphs of FFmpeg's filters: the names of filters, and their options, of which those without a key have the key
//! `""`.

use super::token;

/// The filters of a graph in order.
pub fn filters(mut graph: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut found = Vec::new();
    while !graph.is_empty() {
        if let Some(label) = graph.trim_start().strip_prefix('[') {
            graph = label.split_once(']').map_or("", |(_, rest)| rest);
            continue;
        }
        let text = token(&mut graph, ",;[]");
        let (name, options) = text.split_once('=').unwrap_or((&text, ""));
        let name = name.trim().split('@').next().unwrap_or_default().to_owned();
        found.push((name, pairs(options)));
        if !graph.starts_with('[') {
            graph = graph.get(1..).unwrap_or_default();
        }
    }
    found
}

/// Parses `KEY=VALUE:KEY=VALUE` with FFmpeg's quoting.
pub fn pairs(mut text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    while !text.is_empty() {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
        let key = match text.split_once('=') {
            Some((key, rest)) if key.trim().chars().all(plain) => {
                text = rest;
                key.trim()
            }
            _ => "",
        };
        found.push((key.to_owned(), token(&mut text, ":")));
        text = text.get(1..).unwrap_or_default();
    }
    found
}
