//! `studio`: its arguments.

use super::exit::{Exit, Failure};
use super::resolve::Environment;
use super::signals::Signals;
use clap::Args;
use grainfield_studio::Options;
use std::path::PathBuf;

pub(super) const EXAMPLES: &str = "\
Examples:
  grainfield studio in.mp4
  grainfield studio in.mp4 --recipe look.toml
  On a machine without a screen; open the printed address through a tunnel (ssh -L 8321:127.0.0.1:8321 HOST):
    grainfield studio in.mp4 --no-browser --port 8321";

/// `studio`.
#[derive(Args, Clone, Debug)]
pub(super) struct StudioArgs {
    /// File, numbered images or pattern:NAME; the page can open others
    pub input: Option<String>,
    /// The recipe to begin with
    #[arg(long, value_name = "FILE")]
    pub recipe: Option<PathBuf>,
    /// Print the address, do not open a browser
    #[arg(long)]
    pub no_browser: bool,
    /// The port on this machine [default: any free port]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,
    /// A name, with its port, that a tunnel gives this server: host.example:8443
    ///
    /// Requests under any other host name are refused. May be repeated.
    #[arg(long, value_name = "HOST:PORT")]
    pub allow_host: Vec<String>,
    /// A further folder whose files the page can open and write
    ///
    /// May be repeated.
    #[arg(long, value_name = "FOLDER")]
    pub allow_folder: Vec<PathBuf>,
    /// The memory that the frames of open clips may take together
    ///
    /// K, M, G are powers of 1000; KiB, MiB, GiB of 1024.
    #[arg(long, value_name = "SIZE", value_parser = super::values::size, default_value = "1G")]
    pub memory: u64,
    /// The seconds after which an unused clip is closed, and its memory given back
    ///
    /// It opens again when a frame of it is needed.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86400), default_value = "60")]
    pub idle: u64,
}

pub(super) fn run(typed: StudioArgs, environment: &Environment) -> Result<Exit, Failure> {
    let StudioArgs { input, recipe, no_browser, port, allow_host, allow_folder, memory, idle } = typed;
    let cache = environment.cache.clone().filter(|folder| folder.as_os_str() != "none");
    let state = grainfield_io::disk::user_folder("XDG_STATE_HOME", ".local/state");
    let looks = environment.config.folder.as_ref().map(|folder| folder.join("looks"));
    let options = Options {
        input,
        recipe,
        no_browser,
        port,
        allow_host,
        allow_folder,
        memory,
        idle,
        state,
        looks,
        cache,
    };
    grainfield_studio::run(options, super::batch::settings, Signals::watch()?.cancel.flag())
        .map_err(Failure::failed)?;
    Ok(Exit::Done)
}
