//! The command line program.

use std::process::ExitCode;

fn main() -> ExitCode {
    grainfield::cli::run(std::env::args_os()).into()
}
