//! `join`: joins shards into one file.

use super::exit::{Exit, Failure};
use super::signals::Signals;
use super::terminal::Style;
use super::{eprintln_quietly, report_error};
use clap::Args;
use grainfield_filters::frame::Ranges;
use grainfield_render::join::{JoinError, join};
use std::ffi::OsString;
use std::path::PathBuf;

pub(super) const EXAMPLES: &str = "\
Examples:
  A video of four shards; sound is copied from the original input:
    grainfield join out.mkv out.1-of-4.mkv out.2-of-4.mkv out.3-of-4.mkv out.4-of-4.mkv
  The same, with shards found by name:
    grainfield join out.mkv
  Check that all frames of a sequence exist, are intact and have the same settings:
    grainfield join 'out/shot.####.exr'
    grainfield join 'out/shot.####.exr' --frames 1001-1100";

/// `join`.
#[derive(Args, Debug)]
pub(super) struct Join {
    /// The joined file to write, or numbered images to check
    pub(super) output: OsString,
    /// The shards, in any order [default: OUTPUT.I-of-N in the folder of the output]
    pub(super) shards: Vec<PathBuf>,
    /// Numbered images: frames that must exist [default: those requested in the render]
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub(super) frames: Option<Ranges>,
    /// Replace the output if it exists
    #[arg(short = 'y', long = "overwrite")]
    pub(super) overwrite: bool,
    /// Print errors only
    #[arg(short, long)]
    pub(super) quiet: bool,
}

pub(super) fn run(typed: Join) -> Result<Exit, Failure> {
    let signals = Signals::watch()?;
    let Join { output, shards, frames, overwrite, quiet } = typed;
    let joined = match join(&output, &shards, frames.as_ref(), overwrite, &signals.cancel) {
        Err(JoinError::Cancelled) => return Ok(report_error(signals.exit(), "interrupted")),
        joined => joined?,
    };
    for warning in &joined.warnings {
        eprintln_quietly(&format!("{} {warning}", Style::of_stderr().warning()));
    }
    if !quiet {
        let (frames, name) = (super::report::frames(joined.frames), output.to_string_lossy());
        eprintln_quietly(&match joined.shards {
            0 => format!("complete: {frames} of {name}"),
            n => format!("done: {n} shards, {frames}, joined in {name}"),
        });
    }
    Ok(Exit::Done)
}
