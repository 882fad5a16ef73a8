//! The command line program.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "ffmpeg")]
    grainfield::libav::silence();
    grainfield::cli::run(std::env::args_os()).into()
}
