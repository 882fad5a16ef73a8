//! `frei0r`: installs the plugins where programs look for them.

use super::exit::{Exit, Failure};
use super::{catalog, print};
use clap::{Args, Subcommand};
use grainfield_filters::catalog::{FILTERS, find};
use grainfield_io::disk::OutputFile;
use std::path::PathBuf;

pub(super) const EXAMPLES: &str = "\
Examples:
  Install all plugins: one for each filter, and one for recipes:
    grainfield frei0r install
  Install two of them:
    grainfield frei0r install grain dust
  Use one in FFmpeg; the second parameter is the frame rate of the clip:
    ffmpeg -i in.mov -vf \"frei0r=filter_name=grainfield_grain:filter_params=preset=35mm|24\" out.mov";

/// The names of the library in an installation and in a build by Cargo.
const LIBRARIES: [&str; 2] = ["../lib/grainfield/frei0r.so", "libgrainfield_frei0r.so"];

/// `frei0r`.
#[derive(Args, Debug)]
pub(super) struct Frei0r {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Copy the plugins to the folder in which programs look for them; existing copies are replaced
    Install(Install),
}

#[derive(Args, Debug)]
struct Install {
    /// Filters [default: all of them, and `recipe`, the plugin `grainfield`, which takes any chain]
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// The folder [default: ~/.frei0r-1/lib]
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// The library that is copied [default: the one that was installed with this program]
    #[arg(long, value_name = "FILE")]
    plugin: Option<PathBuf>,
}

pub(super) fn run(typed: Frei0r) -> Result<Exit, Failure> {
    let What::Install(Install { filters, to, plugin }) = typed.what;
    if let Some(unknown) = filters.iter().find(|f| *f != "recipe" && *f != "all" && find(f).is_none()) {
        return Err(Failure::usage(catalog::unknown(unknown, FILTERS)));
    }
    let all = filters.is_empty() || filters.iter().any(|f| f == "all");
    let wanted = |name: &str| all || filters.iter().any(|f| f == name);
    let names = FILTERS.iter().map(|f| f.name).filter(|name| wanted(name));
    let files = names.map(|name| format!("grainfield_{}.so", name.replace('-', "_")));
    let files: Vec<String> = files.chain(wanted("recipe").then(|| "grainfield.so".to_owned())).collect();
    let home = || std::env::home_dir().filter(|home| home.is_absolute());
    let Some(folder) = to.or_else(|| home().map(|home| home.join(".frei0r-1/lib"))) else {
        return Err(Failure::usage("HOME is not set: name a folder with --to DIR"));
    };
    let Some(library) = plugin.or_else(installed) else {
        let text = "the plugin library is not in the folder of this program: name it with --plugin FILE \
            (libgrainfield_frei0r.so)";
        return Err(Failure::failed(text));
    };
    let bytes = std::fs::read(&library).and_then(|bytes| std::fs::create_dir_all(&folder).map(|()| bytes));
    let bytes =
        bytes.map_err(|e| Failure::failed(format!("{} to {}: {e}", library.display(), folder.display())))?;
    // Copies: the system's loader treats two links to one file as one library.
    for file in &files {
        let mut output = OutputFile::create(folder.join(file).as_os_str(), true)?;
        output.put(&bytes)?;
        output.finish()?;
    }
    print(format!("{}: {} plugins\n", folder.display(), files.len()))
}

/// The library that came with this program.
fn installed() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    LIBRARIES.iter().map(|name| program.with_file_name(name)).find(|path| path.is_file())
}
