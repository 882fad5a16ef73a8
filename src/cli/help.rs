//! `help`: a command, a filter, or a page of the handbook.

use super::commands::Cli;
use super::{Exit, Failure, catalog, print};
use clap::CommandFactory;
use grainfield_filters::catalog::{FILTERS, find};
use grainfield_filters::recipe::nearest;

const PICTURES: &str = include_str!("../../docs/src/pictures.md");
const LARGE_JOBS: &str = include_str!("../../docs/src/large-jobs.md");

/// Words, and the page of the handbook that explains them.
const TOPICS: [(&[&str], &str); 6] = [
    (&["chains", "recipes", "presets"], include_str!("../../docs/src/recipes.md")),
    (&["curves", "tracks", "keys"], include_str!("../../docs/src/curves.md")),
    (&["sequences", "colour", "color", "depth", "alpha", "formats", "fields"], PICTURES),
    (&["resume", "shards", "segments", "batch", "farms"], LARGE_JOBS),
    (&["measuring"], include_str!("../../docs/src/measuring.md")),
    (&["troubleshooting"], include_str!("../../docs/src/troubleshooting.md")),
];

pub(super) fn run(topic: Option<&str>) -> Result<Exit, Failure> {
    let mut top = Cli::command();
    top.build();
    let Some(topic) = topic else {
        return print(top.render_long_help().to_string());
    };
    if let Some(command) = top.find_subcommand_mut(topic) {
        return print(command.render_long_help().to_string());
    }
    if let Some((_, page)) = TOPICS.iter().find(|(words, _)| words.contains(&topic)) {
        return print(page);
    }
    if let Some(filter) = find(topic) {
        return print(catalog::page(filter));
    }
    let commands: Vec<String> = top.get_subcommands().map(|c| c.get_name().to_owned()).collect();
    let words = TOPICS.iter().flat_map(|(words, _)| words.iter().copied());
    let names = commands.iter().map(String::as_str).chain(FILTERS.iter().map(|f| f.name)).chain(words);
    let advice = nearest(topic, names).unwrap_or_else(|| {
        let topics: Vec<&str> = TOPICS.iter().map(|(words, _)| words[0]).collect();
        format!("topics are {}; 'grainfield help' lists the commands", topics.join(", "))
    });
    Err(Failure::usage(format!("there is no help on '{topic}': {advice}")))
}
