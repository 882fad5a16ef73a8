//! Shared parts of the integration tests: renders to hashes through the library.
#![allow(dead_code, unreachable_pub)] // each test file uses a part of it

use grainfield::session::Render;
use grainfield::session::job::Request;
use grainfield_filters::recipe::Recipe;

/// A request to hash `input` through `chain`, changed by `change`.
pub fn hashes(input: &str, chain: &str, change: impl FnOnce(&mut Request)) -> Vec<(i64, String)> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hashes.txt");
    let mut output = std::ffi::OsString::from("hash:");
    output.push(&file);
    let mut request = Request::new(input, output);
    request.recipe = chain.parse::<Recipe>().unwrap_or_else(|e| panic!("{e}"));
    change(&mut request);
    let running = Render::new(request).start().unwrap_or_else(|e| panic!("{input} {chain}: {e}"));
    running.wait().unwrap_or_else(|e| panic!("{input} {chain}: {e}"));
    parse(&std::fs::read_to_string(file).unwrap())
}

/// Lines "NUMBER HASH".
pub fn parse(text: &str) -> Vec<(i64, String)> {
    let line = |l: &str| l.split_once(' ').map(|(n, h)| (n.parse().unwrap(), h.to_owned()));
    text.lines().filter(|l| !l.starts_with('#')).map(|l| line(l).unwrap_or_else(|| panic!("'{l}'"))).collect()
}
