//! What was typed. Touches nothing outside: no file, no environment.
//!
//! Width: help never takes more than 100 columns, and less on a narrower terminal (`max_term_width` below; a test
//! looks at every page). The first line of a doc comment is the short help (`-h`) and should fit one line beside its
//! option; the rest is for `--help`.

use super::values::{self, Keywords};
use crate::journal::shard::Choice;
use crate::session::job::{Fields, OnError};
use crate::sink::encoding::{Audio, Subs};
use crate::source::Missing;
use clap::{Args, Parser, Subcommand, ValueEnum};
use grainfield_filters::frame::{ColorRange, Matrix, Ranges};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::simd::Isa;
use std::ffi::OsString;
use std::path::PathBuf;

const FIELDS: Keywords<Fields> = Keywords(&[
    ("auto", Fields::Auto, "As the input is tagged"),
    ("frame", Fields::Frame, "Whole frames, whatever the tag says"),
    ("field", Fields::Field, "Two fields; the top one first unless the input says otherwise"),
]);
const MISSING: Keywords<Missing> = Keywords(&[
    ("error", Missing::Error, "Stop there"),
    ("hold", Missing::Hold, "Repeat the picture before it"),
    ("black", Missing::Black, "A black picture (transparent if there is alpha)"),
    ("skip", Missing::Skip, "No frame at all"),
]);
const ON_ERROR: Keywords<OnError> = Keywords(&[
    ("stop", OnError::Stop, "End the render; what there is is kept as NAME.partial.EXT"),
    ("skip", OnError::Skip, "Leave the frame out, say so, and go on"),
]);
const RANGE: Keywords<ColorRange> = Keywords(&[
    ("limited|tv", ColorRange::Limited, "16-235 in 8 bits, FFmpeg's tv"),
    ("full|pc", ColorRange::Full, "0-255 in 8 bits, FFmpeg's pc"),
]);
const AUDIO: Keywords<Audio> = Keywords(&[
    ("auto", Audio::Auto, "Copied where the container takes it, else encoded"),
    ("copy", Audio::Copy, "Copied or left out"),
    ("encode", Audio::Encode, "Encoded in any case"),
    ("none", Audio::None, "Left out"),
]);
const SUBS: Keywords<Subs> = Keywords(&[
    ("auto", Subs::Auto, "Copied where the container takes them, else text is rewritten"),
    ("copy", Subs::Copy, "Copied or left out"),
    ("none", Subs::None, "Left out"),
]);
const LEVEL: Keywords<Isa> = Keywords(&[
    ("scalar", Isa::Scalar, ""),
    ("sse2", Isa::Sse2, ""),
    ("avx2", Isa::Avx2, ""),
    ("avx512", Isa::Avx512, ""),
    ("avx512vbmi", Isa::Avx512Vbmi, ""),
]);

/// Deterministic noise, grain and effects for video and image sequences.
///
/// Any frame is a pure function of source frame, recipe, seed and frame number: seek anywhere, render in any order,
/// on any number of threads or machines, and get the same samples.
///
/// An INPUT is a video file, a y4m file or `-` for a stream on standard input, an image, a folder or numbered images
/// (shot.%04d.png, shot.####.png, 'shot.*.png'), or a test signal (pattern:bars). An OUTPUT is a video file (.mp4,
/// .mov, .mkv, .webm ...), a .y4m file or `-`, an image or numbered images, hash: (a line for each frame) or null:
/// (nothing).
#[derive(Parser, Debug)]
#[command(name = "grainfield", bin_name = "grainfield", version, max_term_width = 100)]
#[command(arg_required_else_help = true, disable_help_subcommand = true, subcommand_value_name = "COMMAND")]
#[command(after_help = "'grainfield COMMAND -h' lists a command's options, '--help' explains them.")]
#[command(after_long_help = TOP_EXAMPLES)]
pub(super) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Command,
}

const TOP_EXAMPLES: &str = "\
Examples:
  See what there is:
    grainfield filters
    grainfield filters noise
    grainfield probe clip.y4m
  Film noise on a clip, new in every frame:
    grainfield render clip.y4m noisy.y4m -f noise=strength=6
  Between two programs:
    ffmpeg -i in.mp4 -f yuv4mpegpipe -strict -1 - |
      grainfield render - - -f noise=strength=6 | ffmpeg -i - -c:v libx264 out.mp4
  One frame, exactly as in the whole render:
    grainfield frame clip.y4m 17 still.png -f noise=strength=6

Exit status: 0 done (also when the reader closes the pipe), 1 failed, 2 wrong usage,
129 hung up, 130 interrupted, 143 terminated.

'grainfield COMMAND --help' explains a command's options.";

/// The commands.
#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Take frames from INPUT, filter them, write them to OUTPUT
    #[command(after_help = "'--help' explains each option and gives examples.", after_long_help = RENDER_EXAMPLES)]
    Render(Render),
    /// Print a hash of every frame's samples
    ///
    /// Prints a line for each frame: its number and the MD5 of its visible samples, planes in order, little endian.
    /// It is what `ffmpeg -f framemd5` prints for the same samples.
    #[command(after_help = "'--help' explains each option and gives examples.", after_long_help = HASH_EXAMPLES)]
    Hash(Hash),
    /// Write one frame, exactly as in the whole render
    #[command(after_help = "'--help' explains each option and gives examples.", after_long_help = FRAME_EXAMPLES)]
    Frame(Frame),
    /// Do many renders: a list of jobs, or all inputs that a pattern finds
    ///
    /// JOBS.toml lists jobs ([[job]] with input, output and the options of 'render' by their long names). A pattern
    /// with * and ? makes a job of every file or sequence it finds, written to --to, where {dir}, {name} and {ext}
    /// stand for the input's. Jobs go on where they were broken off, and one that fails stops none. What became of
    /// each stands in a status file beside the list; programs that are given the same list share it.
    #[command(after_help = "'--help' explains each option and gives examples.", after_long_help = super::batch::EXAMPLES)]
    Batch(Box<super::batch::Batch>),
    /// Put shards together, or check that a sequence is whole
    ///
    /// Checks that the shards are all there, each once, of the same settings and the same source, and that their bytes
    /// are those that were written; then puts them together. Video is not encoded again: packets are copied, and
    /// sound and all else beside the picture comes from the input. Of numbered images every byte is checked against
    /// the manifest in their folder.
    #[command(after_help = "'--help' explains each option and gives examples.", after_long_help = super::join::EXAMPLES)]
    Join(super::join::Join),
    /// Measure noise: its spectrum, correlations, distribution
    ///
    /// Measures a picture that is more or less flat, the difference of INPUT and a clean twin (--clean), or the
    /// difference that filters make (-f without --clean), and prints a table. All in 8-bit code values, whatever the
    /// depth, plane by plane: the standard deviation by brightness, the radial power spectrum in dB against white
    /// noise, the autocorrelation at lags up to 32, the correlation with earlier frames and between planes, the
    /// histogram against the normal distribution (KS is the distance of Kolmogorov and Smirnov), and the moments of
    /// sums over boxes. Sigma is the deviation that chance gives white noise: beyond 5 something is there.
    ///
    /// Without a twin, brightness and deviation are taken block by block, and the rest from the picture as it is: what
    /// is not flat is measured as if it were noise. Without --frames the first 24 frames are measured. Memory does not
    /// grow with their number.
    #[command(after_help = "'--help' explains each option and gives examples.", after_long_help = super::analyze::EXAMPLES)]
    Analyze(super::analyze::Analyze),
    /// Fit, tell about and draw curves and tracks
    ///
    /// Curves are what settings move by: keyframe strings such as '0=0;48~=12', Lottie keyframe lists (.json) and track
    /// files (.gfa), from which a setting takes one as strength=@tracks.gfa#name.
    #[command(after_long_help = super::curve::EXAMPLES)]
    Curve(super::curve::Curves),
    /// Put frames of INPUT on one picture, alone or against the source
    ///
    /// A contact sheet: each frame with its number and time. Without --frames some are taken evenly over the whole
    /// input.
    #[command(after_help = "'--help' explains each option and gives examples.", after_long_help = super::sheet::EXAMPLES)]
    Sheet(super::sheet::Sheet),
    /// List the filters, or one filter's settings
    ///
    /// Without NAME: every filter in a line. With NAME: its settings with kind, unit, range, default, and whether
    /// they may move over time.
    Filters(Filters),
    /// Tell what an input is: format, colour, frames, rate
    Probe(Probe),
    /// Tell what is kept between runs, or delete it
    ///
    /// A filter that must be stepped from the first frame on (fluid) keeps its state every 24 frames in a cache folder,
    /// so that any frame is near to a known one. Nothing in it is needed: what is gone or damaged is made again.
    #[command(after_long_help = super::cache::EXAMPLES)]
    Cache(super::cache::Cached),
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
  Numbered images in, numbered images out, the numbers kept:
    grainfield render 'shot.####.png' 'out/shot.####.png' -f noise=strength=4 --rate 25
  A part of a clip; the noise is that of the whole clip:
    grainfield render clip.y4m part.y4m -f noise=strength=6 --frames 100-199
  The same look from a recipe file, with another seed:
    grainfield render clip.y4m out.y4m --recipe look.toml --seed 7
  A test signal:
    grainfield render pattern:ramp:size=1920x1080:frames=48:format=yuv422p10 ramp.y4m
  A part of the work, on the third of eight machines; killed and begun again:
    grainfield render clip.y4m 'out/shot.####.png' -f noise --shard 3/8 --resume
  A long video that may be broken off and resumed:
    grainfield render in.mkv out.mkv -f grain --segments --resume
  How fast is it?
    grainfield render clip.y4m null: -f noise=strength=6";

const HASH_EXAMPLES: &str = "\
Examples:
  Is it the same on the other machine?
    grainfield hash clip.y4m -f noise=strength=6 > here.txt
  The line of frame 17:
    grainfield hash clip.y4m -f noise=strength=6 --frames 17
  The second half of the lines:
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

/// `render`.
#[derive(Args, Clone, Debug)]
pub(super) struct Render {
    /// File, numbered images, `-` for standard input, or pattern:NAME
    pub(super) input: OsString,
    /// File, numbered images, `-` for standard output, hash: or null:
    ///
    /// The result gets its name only when it is whole; what an error or an interruption leaves is called
    /// NAME.partial.EXT.
    pub(super) output: OsString,
    /// Replace the output if it exists
    #[arg(short = 'y', long = "overwrite")]
    pub(super) overwrite: bool,
    #[command(flatten)]
    pub(super) filters: FilterArgs,
    #[command(flatten)]
    pub(super) span: SpanArgs,
    #[command(flatten)]
    pub(super) shard: ShardArgs,
    #[command(flatten)]
    pub(super) resume: ResumeArgs,
    #[command(flatten)]
    pub(super) encoding: EncodingArgs,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Which part of the frames.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "More than one machine, more than one run")]
pub(super) struct ShardArgs {
    /// Only part I of N, with I from 1: 3/8, auto, auto/8
    ///
    /// Parts are contiguous, and all together are every frame once; of a video they are cut between segments, and
    /// 'grainfield join' puts them together. What is one file is called NAME.I-of-N.EXT. 'auto' goes by a Slurm job
    /// array; 'auto/N' takes I from there or from JOB_COMPLETION_INDEX (Kubernetes), and N as given.
    #[arg(long, value_name = "I/N")]
    pub(super) shard: Option<Choice>,
}

/// What is there already.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "More than one machine, more than one run")]
pub(super) struct ResumeArgs {
    /// Keep what an earlier run has made, and make the rest
    ///
    /// Of numbered images the frames that are missing are made, of a video with --segments the segments. What is there
    /// but was made by other settings or from another source is an error, or with -y made anew. What is whole is told
    /// by the hidden manifest beside the output, and by size and time.
    #[arg(long)]
    pub(super) resume: bool,
    /// With --resume: read every byte of what is there and check it
    #[arg(long, requires = "resume")]
    pub(super) verify: bool,
    /// Render a video in segments, so that it can be resumed
    ///
    /// They are kept in the folder OUTPUT.segments, and joined at the end without being encoded again.
    #[arg(long)]
    pub(super) segments: bool,
    /// Frames of a segment, counted from frame 0 of the input [default: 250]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=crate::journal::segments::MAX_FRAMES))]
    pub(super) segment_frames: Option<u64>,
}

/// How a video file is written.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Video files (NAME.mp4, .mkv, .mov, .webm ...)")]
pub(super) struct EncodingArgs {
    /// Encoder or codec by FFmpeg's names: libx265, hevc, prores_ks
    ///
    /// Default by the output's name: libx264 for mp4, mov and mkv (libx265 beyond 10 bits), libsvtav1 or VP9 for
    /// webm, prores_ks for mov with alpha. 'ffmpeg -encoders' lists what there is.
    #[arg(long, value_name = "NAME")]
    pub(super) codec: Option<String>,
    /// An option of the encoder as FFmpeg names it; may be repeated
    ///
    /// For instance tune=grain, or threads=8: encoders get as many threads as the picture's size asks for, the same
    /// on every machine, since some make other pictures with another number.
    #[arg(long, value_name = "K=V", value_parser = values::pair, allow_hyphen_values = true)]
    pub(super) codec_opt: Vec<(String, String)>,
    /// Constant quality on the encoder's scale, lower is better [default: 18 for libx264]
    #[arg(long, value_name = "Q", value_parser = values::quality)]
    pub(super) crf: Option<f64>,
    /// The encoder's preset: veryfast, slow, 8
    #[arg(long, value_name = "NAME")]
    pub(super) preset: Option<String>,
    /// Bits a second: 8M, 2500k
    #[arg(long, value_name = "RATE", value_parser = values::size)]
    pub(super) bitrate: Option<u64>,
    /// Lose nothing: FFV1 unless --codec says otherwise (mkv)
    #[arg(long, conflicts_with_all = ["crf", "bitrate"])]
    pub(super) lossless: bool,
    /// What becomes of the sound
    #[arg(long, value_name = "WHAT", value_parser = AUDIO, default_value = "auto")]
    pub(super) audio: Audio,
    /// What becomes of subtitles
    #[arg(long, value_name = "WHAT", value_parser = SUBS, default_value = "auto")]
    pub(super) subs: Subs,
    /// Leave chapters out
    #[arg(long)]
    pub(super) no_chapters: bool,
}

/// `hash`.
#[derive(Args, Debug)]
pub(super) struct Hash {
    /// File, numbered images, `-` for standard input, or pattern:NAME
    pub(super) input: OsString,
    #[command(flatten)]
    pub(super) filters: FilterArgs,
    #[command(flatten)]
    pub(super) span: SpanArgs,
    #[command(flatten)]
    pub(super) shard: ShardArgs,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// `frame`.
#[derive(Args, Debug)]
pub(super) struct Frame {
    /// File, numbered images, `-` for standard input, or pattern:NAME
    pub(super) input: OsString,
    /// The frame's number: a file's own in a sequence, else counted from 0
    #[arg(value_name = "N", allow_negative_numbers = true)]
    pub(super) number: i64,
    /// The image (or .y4m) to write
    pub(super) output: OsString,
    /// Replace the output if it exists
    #[arg(short = 'y', long = "overwrite")]
    pub(super) overwrite: bool,
    #[command(flatten)]
    pub(super) filters: FilterArgs,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// `filters`.
#[derive(Args, Debug)]
pub(super) struct Filters {
    /// One filter, to see all its settings; with settings (NAME=KEY=VALUE:...), to see what it takes with them
    ///
    /// With settings: how much memory the filter needs at 1920x1080, and how many particles there may be at a time.
    pub(super) name: Option<String>,
    /// As JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Write the effect that these settings of 'particles' amount to, as an effect file to start from
    #[arg(long, requires = "name", conflicts_with = "json")]
    pub(super) effect: bool,
}

/// `probe`.
#[derive(Args, Debug)]
pub(super) struct Probe {
    /// File, numbered images, `-` for standard input, or pattern:NAME
    pub(super) input: OsString,
    /// As JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) source: SourceArgs,
}

/// What happens to the picture.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Filters")]
pub(super) struct FilterArgs {
    /// Filters, as name=key=value:key=value,name2=...
    ///
    /// As FFmpeg's -vf. A backslash escapes, quotes protect. A number may move: '0=0;48=12' goes from 0 in frame 0
    /// to 12 in frame 48. Every filter also takes enable=FRAMES, planes= and opacity=. May be given several times;
    /// filters of --recipe come first, then each -f as typed; the last seed wins. 'grainfield filters' lists what
    /// there is.
    #[arg(short = 'f', long = "filters", value_name = "CHAIN", allow_hyphen_values = true)]
    pub(super) chain: Vec<String>,
    /// Filters from a TOML file; those of -f come after them
    #[arg(long, value_name = "FILE")]
    pub(super) recipe: Option<PathBuf>,
    /// A quick look: filters that can show a part of what they draw do so
    ///
    /// Particles: one in four, each where it will be, with edges that are less smooth. Fluid: coarser and not bent, moving
    /// as it will. The recipe is another one then, so a draft is never taken for the real thing.
    #[arg(long)]
    pub(super) draft: bool,
    /// What all randomness starts from; decimal or 0x hex [default: the recipe's, else 0]
    ///
    /// The same seed gives the same noise on every machine, on any number of threads.
    #[arg(long, value_name = "N", value_parser = values::seed, allow_hyphen_values = true)]
    pub(super) seed: Option<u64>,
}

/// Which frames.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Frames")]
pub(super) struct SpanArgs {
    /// Only these: 17, 1001-1100, 1-10x2, 5,7,9-12, -5--1
    ///
    /// 1-10x2 is every second frame from 1 on. The numbers are those of the whole input, after --frame-offset: a file's own in a
    /// sequence, else counted from 0. A frame looks the same whatever range it is rendered in.
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub(super) frames: Option<Ranges>,
    /// When one frame fails
    #[arg(long, value_name = "WHAT", value_parser = ON_ERROR, default_value = "stop")]
    pub(super) on_error: OnError,
}

/// How the input is read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Input")]
pub(super) struct SourceArgs {
    /// Frames a second of an input that has no rate of its own [default: 24]
    ///
    /// Images have none. 25, 23.976 or 24000/1001.
    #[arg(long, value_name = "R", value_parser = values::rate, allow_hyphen_values = true)]
    pub(super) rate: Option<Ratio>,
    /// When a number is missing in a sequence
    #[arg(long, value_name = "WHAT", value_parser = MISSING, default_value = "error")]
    pub(super) missing: Missing,
    /// Run FFmpeg's own filters first: yadif, 'scale=1280:-2,hqdn3d'
    ///
    /// A graph in FFmpeg's words with one input and one output. It works frame after frame: single frames and ranges
    /// are read from the start, unless every filter in it is known to look at one frame alone (scale, crop, format).
    #[arg(long, value_name = "GRAPH", allow_hyphen_values = true)]
    pub(super) lavfi: Option<String>,
    /// Let INPUT name a protocol: http, concat
    ///
    /// Without it only files are read, and what a file refers to. May be given several times.
    #[arg(long, value_name = "NAME")]
    pub(super) allow_protocol: Vec<String>,
}

/// The rest of what `render`, `hash` and `frame` share.
#[derive(Args, Clone, Debug)]
pub(super) struct CommonArgs {
    #[command(flatten)]
    pub(super) source: SourceArgs,
    /// Add N to every frame number before anything looks at it
    ///
    /// Ranges, keys, seeds, hashes and the names of output files see the new number. A sequence that starts at 1001
    /// behaves like one from 0 with --frame-offset -1001.
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        hide_default_value = true,
        allow_hyphen_values = true,
        help_heading = "Input"
    )]
    pub(super) frame_offset: i64,
    #[command(flatten)]
    pub(super) picture: PictureArgs,
    #[command(flatten)]
    pub(super) machine: MachineArgs,
    #[command(flatten)]
    pub(super) say: ReportArgs,
}

/// What the samples mean.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Picture")]
pub(super) struct PictureArgs {
    /// Pixel format of the output, by FFmpeg's names: yuv420p10, gray16, gbrp
    ///
    /// Default: the input's, or the nearest the output can hold. A conversion is announced.
    #[arg(long, value_name = "F", value_parser = values::pix_fmt)]
    pub(super) pix_fmt: Option<String>,
    /// The input's YUV matrix, whatever its tag says: bt709, smpte170m, bt2020nc ...
    ///
    /// By FFmpeg's names. Default: the tag; without one bt709 from 720 lines up, smpte170m below, and it is said.
    #[arg(long, value_name = "M", value_parser = values::matrix(), hide_possible_values = true)]
    pub(super) matrix: Option<Matrix>,
    /// The input's range, whatever its tag says
    #[arg(long, value_name = "RANGE", value_parser = RANGE)]
    pub(super) range: Option<ColorRange>,
    /// What light the output's values stand for, or INPUT:OUTPUT: srgb, bt709, linear, pq, hlg ... or keep
    ///
    /// By FFmpeg's names. Default: linear in OpenEXR and float TIFF; in integers that of a display (srgb as R, G and B,
    /// bt709 as Y, U and V) where the input is linear float, else the input's. INPUT overrides the input's tag; without
    /// one R, G and B and full-range grey are taken for srgb, all else for bt709 (shown by BT.1886). keep converts
    /// nothing.
    #[arg(long, value_name = "[T:]T", value_parser = values::transfer)]
    pub(super) transfer: Option<crate::session::job::TransferChoice>,
    /// How interlaced frames are filtered
    #[arg(long, value_name = "HOW", value_parser = FIELDS, default_value = "auto")]
    pub(super) fields: Fields,
    /// Take every warning about something lost or assumed as an error
    #[arg(long)]
    pub(super) strict: bool,
}

/// What the machine may spend. Never changes a sample.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Machine (never changes a sample)")]
pub(super) struct MachineArgs {
    /// Threads [default: as many as the machine has]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) threads: Option<u16>,
    /// Memory for frame buffers: 400M, 2GiB
    ///
    /// K, M, G are steps of 1000; KiB, MiB, GiB of 1024. Less memory means fewer frames at the same time; there is
    /// always room for one.
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(super) memory: Option<u64>,
    /// Use at most these instructions
    ///
    /// Default: the best the machine has. The environment variable GRAINFIELD_LEVEL says the same; the lower of the
    /// two is taken.
    #[arg(long, value_name = "LEVEL", value_parser = LEVEL)]
    pub(super) level: Option<Isa>,
    /// Folder for what can be made again, or none
    ///
    /// States of filters that must be stepped (fluid). Default: the environment variable GRAINFIELD_CACHE, else
    /// grainfield in XDG_CACHE_HOME or ~/.cache.
    #[arg(long, value_name = "DIR")]
    pub(super) cache: Option<PathBuf>,
    /// At most so much of it; what was used longest ago goes first [default: 2G]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(super) cache_limit: Option<u64>,
}

/// What is said on standard error.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = "Messages (on standard error)")]
pub(super) struct ReportArgs {
    /// How progress is told
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub(super) progress: ProgressFormat,
    /// Only errors
    #[arg(short, long, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// More: the recipe as understood, level, threads
    #[arg(short, long)]
    pub(super) verbose: bool,
}

/// `--progress`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum ProgressFormat {
    /// A bar if standard error is a terminal and no frames are printed on it
    Auto,
    /// A bar, on a terminal
    Bar,
    /// A JSON object a line: started, progress, note, done, failed
    Json,
    /// The same, and a line for every frame: frame
    Frames,
    /// FFmpeg's key=value blocks: frame, fps, out_time_us, speed, progress=continue|end
    Ffmpeg,
    /// Nothing but the closing line
    None,
}
