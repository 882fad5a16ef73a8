//! `cache`: the data that are kept between runs.

use super::exit::{Exit, Failure};
use super::print;
use super::resolve::{self, Environment};
use clap::{Args, Subcommand};
use grainfield_io::disk::cache::{Cache, DEFAULT_LIMIT};
use std::path::PathBuf;

pub(super) const EXAMPLES: &str = "\
Examples:
  Print size and place of the cache:
    grainfield cache info
  Delete it:
    grainfield cache clear";

/// `cache`.
#[derive(Args, Debug)]
pub(super) struct Cached {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Print the folder and the size of the cache
    Info(Place),
    /// Delete the whole cache; safe while it is in use
    Clear(Place),
}

#[derive(Args, Debug)]
struct Place {
    /// The folder [default: GRAINFIELD_CACHE, else grainfield in XDG_CACHE_HOME or ~/.cache]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

pub(super) fn run(typed: Cached, environment: &Environment) -> Result<Exit, Failure> {
    let (place, clear) = match typed.what {
        What::Info(place) => (place, false),
        What::Clear(place) => (place, true),
    };
    let Some(folder) = resolve::cache_folder(place.cache, environment) else {
        return Err(Failure::usage("no cache folder: set one with --cache DIR"));
    };
    let cache = Cache::new(&folder, DEFAULT_LIMIT);
    let result = if clear { cache.clear() } else { cache.usage() };
    let name = folder.display();
    let usage = result.map_err(|error| Failure::failed(format!("{name}: {error}")))?;
    let what = if clear { "deleted" } else { "holds" };
    print(format!("{name} {what} {} files, {:.1} MB\n", usage.files, usage.bytes as f64 / 1e6))
}
