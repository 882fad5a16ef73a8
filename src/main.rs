//! The command line program.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "ffmpeg")]
    grainfield::libav::process::quiet_svt_av1();
    grainfield::cli::run(std::env::args_os()).into()
}
