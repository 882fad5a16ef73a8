//! The commands, and the help of the program as a whole.

use super::args::*;
use clap::{Parser, Subcommand};

/// Deterministic noise, grain and effects for video and image sequences.
///
/// Any frame is a pure function of source frame, recipe, seed and frame number. Seek anywhere, render in any order,
/// on any number of threads or machines: the samples are the same.
///
/// An INPUT is a video file, a y4m file or `-` for a stream on standard input, an image, a folder or numbered images
/// (shot.%04d.png, shot.####.png, 'shot.*.png'), or a test signal (pattern:bars). An OUTPUT is a video file (.mp4,
/// .mov, .mkv, .webm ...), a .y4m file or `-`, an image or numbered images, hash: (a hash per frame) or null:
/// (nothing is written).
#[derive(Parser, Debug)]
#[command(name = "grainfield", bin_name = "grainfield", version, max_term_width = 100)]
#[command(arg_required_else_help = true, disable_help_subcommand = true, subcommand_value_name = "COMMAND")]
#[command(after_help = "'grainfield COMMAND -h' lists the options of a command, '--help' explains them.")]
#[command(after_long_help = TOP_EXAMPLES)]
pub(super) struct Cli {
    /// Ignore the configuration file (config.toml in ~/.config/grainfield or XDG_CONFIG_HOME/grainfield)
    #[arg(long, global = true, help_heading = "Messages (on standard error)")]
    pub(super) no_config: bool,
    /// The command.
    #[command(subcommand)]
    pub(super) command: Command,
}

const TOP_EXAMPLES: &str = "\
Examples:
  List the filters, the settings of one, the properties of a clip:
    grainfield filters
    grainfield filters noise
    grainfield probe clip.y4m
  Add noise to a clip:
    grainfield render clip.y4m noisy.y4m -f noise=strength=6
  Between a decoder and an encoder:
    ffmpeg -i in.mp4 -f yuv4mpegpipe -strict -1 - |
      grainfield render - - -f noise=strength=6 | ffmpeg -i - -c:v libx264 out.mp4
  Write one frame, exactly as in the whole render:
    grainfield frame clip.y4m 17 still.png -f noise=strength=6

Exit status: 0 done (also when the reader closes the pipe), 1 failed, 2 wrong usage;
129, 130 or 143 ended by SIGHUP, SIGINT or SIGTERM.

'grainfield COMMAND --help' explains the options of a command.";

/// The commands.
#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Filter the frames of INPUT and write them to OUTPUT
    #[command(after_help = "'--help' explains each option and gives examples.", after_long_help = RENDER_EXAMPLES)]
    Render(Box<Render>),
    /// Print a hash of each frame
    ///
    /// Prints one line per frame: its number and the MD5 of its visible samples (planes in order, little endian). For
    /// the same samples `ffmpeg -f framemd5` prints the same hash.
    #[command(after_help = "'--help' explains each option and gives examples.", after_long_help = HASH_EXAMPLES)]
    Hash(Hash),
    /// Write one frame, exactly as in the whole render
    #[command(after_help = "'--help' explains each option and gives examples.", after_long_help = FRAME_EXAMPLES)]
    Frame(Frame),
    /// Render many inputs: a list of jobs, or all files that match a pattern
    ///
    /// JOBS.toml lists jobs: [[job]] with input, output and the options of 'render' by their long names. A pattern
    /// with * and ? makes one job of each file or sequence that it matches; --to names the output, where {dir}, {name} and
    /// {ext} stand for those of the input. Interrupted jobs continue; a job that fails does not stop the others. A
    /// status file beside the list records the state of each job. Several programs started with the same list share it.
    #[command(after_help = "'--help' explains each option and gives examples.", after_long_help = super::batch::EXAMPLES)]
    Batch(Box<super::batch::Batch>),
    /// Join shards, or check that a sequence is complete
    ///
    /// Checks that every shard exists once, that all were rendered with the same settings from the same source, and
    /// that their bytes are intact; then joins them. Video is not encoded again: packets are copied; sound and
    /// other streams come from the input. For numbered images, every byte is checked against the
    /// manifest in their folder.
    #[command(after_help = "'--help' explains each option and gives examples.", after_long_help = super::join::EXAMPLES)]
    Join(super::join::Join),
    /// Measure noise: strength, spectrum, correlations, distribution
    ///
    /// Measures the difference between INPUT and a clean version of it (--clean), or the difference that filters make
    /// (-f without --clean), or INPUT itself if it is flat, and prints a table. Values are in 8-bit code values at
    /// every depth, per plane: the standard deviation by brightness, the radial power spectrum in dB relative to white
    /// noise, the autocorrelation at lags up to 32, the correlation with earlier frames and between planes, the
    /// histogram against the normal distribution (KS is the Kolmogorov-Smirnov distance), and the moments of sums over
    /// boxes. Sigma is the deviation that white noise shows by chance; a value above 5 is not due to chance.
    ///
    /// Without --clean or -f, brightness and deviation are measured block by block and everything else on the picture
    /// as it is, so that any detail counts as noise. Without --frames the first 24 frames are measured. Memory use does
    /// not depend on the number of frames.
    #[command(after_help = "'--help' explains each option and gives examples.", after_long_help = super::analyze::EXAMPLES)]
    Analyze(super::analyze::Analyze),
    /// Measure the grain of a plate and write a recipe that reproduces it
    ///
    /// Grain is the difference between the plate and the same picture without grain. A recipe of the filter grain,
    /// or a film grain table, is fitted to its strength by brightness, its spectrum, its colour and its correlation in
    /// time, applied to the clean picture and measured again. The report shows how close the match is.
    #[command(name = "match", after_help = "'--help' explains each option and gives examples.", after_long_help = super::matching::EXAMPLES)]
    Match(super::matching::MatchArgs),
    /// Fit, inspect and plot curves and tracks
    ///
    /// Curves animate settings. They are keyframe strings such as '0=0;48~=12', Lottie keyframe lists (.json) or tracks
    /// in a track file (.gfa), which a setting uses as strength=@tracks.gfa#name.
    #[command(after_long_help = super::curve::EXAMPLES)]
    Curve(super::curve::Curves),
    /// Make a contact sheet of INPUT, alone or compared with the source
    ///
    /// Each frame is shown with its number and time. Without --frames, frames are taken at equal intervals over the
    /// whole input.
    #[command(after_help = "'--help' explains each option and gives examples.", after_long_help = super::sheet::EXAMPLES)]
    Sheet(super::sheet::Sheet),
    /// Open the studio: source and result side by side, in the browser
    ///
    /// Serves a page to this machine alone: any frame before and after the filters, settings and curves edited by hand,
    /// and renders. It shows exactly what 'render' writes. It can open and write files below the current folder and
    /// below the folders of the files named here. Ctrl-C ends the studio.
    #[cfg(feature = "studio")]
    #[command(after_long_help = super::studio::EXAMPLES)]
    Studio(super::studio::StudioArgs),
    /// List the filters, or the settings of one
    ///
    /// Without NAME: one line per filter. With NAME: its settings with kind, unit, range, default, and whether they can
    /// be animated.
    Filters(Filters),
    /// List the looks: recipes that --look finds by name
    Looks,
    /// Show the properties of an input: format, colour, frames, rate
    Probe(Probe),
    /// Show or clear the cache
    ///
    /// A filter that is stepped from the first frame on (fluid, flock, sand) keeps its state every 24 frames in a cache
    /// folder, so that any frame is close to a stored one. The folder also holds indexes of videos. The cache may be
    /// deleted at any time; the program makes missing or damaged entries again.
    #[command(after_long_help = super::cache::EXAMPLES)]
    Cache(super::cache::Cached),
    /// Explain a command, a filter or a topic
    ///
    /// Topics: chains, curves, sequences, colour, depth, alpha, resume, shards, batch, farms, measuring,
    /// troubleshooting.
    Help {
        /// A command, a filter or a topic
        topic: Option<String>,
    },
    /// Install the frei0r plugins, for Kdenlive, Shotcut, FFmpeg, GStreamer and others
    #[command(after_long_help = super::frei0r::EXAMPLES)]
    Frei0r(super::frei0r::Frei0r),
    /// Print a completion script for a shell
    #[command(after_long_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(after_long_help = "Example:\n  grainfield man | man -l -")]
    Man,
}

const RENDER_EXAMPLES: &str = "\
Examples:
  Numbered images to numbered images; numbers are kept:
    grainfield render 'shot.####.png' 'out/shot.####.png' -f noise=strength=4 --rate 25
  A part of a clip, with the noise of the whole render:
    grainfield render clip.y4m part.y4m -f noise=strength=6 --frames 100-199
  A recipe file with another seed:
    grainfield render clip.y4m out.y4m --recipe look.toml --seed 7
  A test signal:
    grainfield render pattern:ramp:size=1920x1080:frames=48:format=yuv422p10 ramp.y4m
  The third of eight parts, which can be restarted:
    grainfield render clip.y4m 'out/shot.####.png' -f noise --shard 3/8 --resume
  A long video that can be interrupted and resumed:
    grainfield render in.mkv out.mkv -f grain --segments --resume
  Measure the speed:
    grainfield render clip.y4m null: -f noise=strength=6";

const HASH_EXAMPLES: &str = "\
Examples:
  Compare with another machine:
    grainfield hash clip.y4m -f noise=strength=6 > here.txt
  Frame 17 only:
    grainfield hash clip.y4m -f noise=strength=6 --frames 17
  The second half:
    grainfield hash clip.y4m -f noise=strength=6 --shard 2/2";

const FRAME_EXAMPLES: &str = "\
Examples:
  grainfield frame clip.y4m 17 still.png -f noise=strength=6
  grainfield frame 'shot.####.exr' 1042 still.exr --recipe look.toml";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  grainfield completions bash > ~/.local/share/bash-completion/completions/grainfield
  grainfield completions zsh > ~/.zfunc/_grainfield
  grainfield completions fish > ~/.config/fish/completions/grainfield.fish";
