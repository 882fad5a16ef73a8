//! The command line program.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "ffmpeg")]
    grainfield::libav::silence();
    let above = grainfield::cli::Above {
        #[cfg(feature = "studio")]
        studio: grainfield::studio::run,
    };
    grainfield::cli::run(std::env::args_os(), above).into()
}
