//! The command line program.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "ffmpeg")]
    grainfield::ffmpeg::silence();
    grainfield::cli::run(std::env::args_os()).into()
}
