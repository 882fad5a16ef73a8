//! The arguments of the command line. Reads no file and no environment variable.
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
    ("field", Fields::Field, "Two fields; top field first unless the input says otherwise"),
]);
const MISSING: Keywords<Missing> = Keywords(&[
    ("error", Missing::Error, "Refuse the sequence before the first frame"),
    ("hold", Missing::Hold, "Repeat the previous picture"),
    ("black", Missing::Black, "A black picture (transparent if there is alpha)"),
    ("skip", Missing::Skip, "Leave the frame out"),
]);
const ON_ERROR: Keywords<OnError> = Keywords(&[
    ("stop", OnError::Stop, "Stop the render; finished frames are kept as NAME.partial.EXT"),
    ("skip", OnError::Skip, "Leave the frame out, report it and continue"),
]);
const RANGE: Keywords<ColorRange> = Keywords(&[
    ("limited|tv", ColorRange::Limited, "16-235 in 8 bits, FFmpeg's tv"),
    ("full|pc", ColorRange::Full, "0-255 in 8 bits, FFmpeg's pc"),
]);
const AUDIO: Keywords<Audio> = Keywords(&[
    ("auto", Audio::Auto, "Copy if the container allows it, else encode"),
    ("copy", Audio::Copy, "Copy or leave out"),
    ("encode", Audio::Encode, "Always encode"),
    ("none", Audio::None, "Leave out"),
]);
const SUBS: Keywords<Subs> = Keywords(&[
    ("auto", Subs::Auto, "Copy if the container allows it, else convert text subtitles"),
    ("copy", Subs::Copy, "Copy or leave out"),
    ("none", Subs::None, "Leave out"),
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
    Render(Render),
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
    /// Show the properties of an input: format, colour, frames, rate
    Probe(Probe),
    /// Show or clear the cache
    ///
    /// A filter that is stepped from the first frame on (fluid, flock) keeps its state every 24 frames in a cache
    /// folder, so that any frame is close to a stored one. The cache may be deleted at any time; missing or damaged
    /// states are computed again.
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

/// `render`.
#[derive(Args, Clone, Debug)]
pub(super) struct Render {
    /// File, numbered images, `-` for standard input, or pattern:NAME
    pub(super) input: OsString,
    /// File, numbered images, `-` for standard output, hash: or null:
    ///
    /// The output gets its final name when it is complete; until then, and after an error or an interruption, it is
    /// called NAME.partial.EXT.
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
    /// Render part I of N only, counted from 1: 3/8, auto, auto/8
    ///
    /// Parts are contiguous and together contain every frame once. Videos are cut between segments; 'grainfield join'
    /// joins them. A part of a single file is called NAME.I-of-N.EXT. 'auto' takes I and N from a Slurm job array;
    /// 'auto/N' takes I from there or from JOB_COMPLETION_INDEX (Kubernetes).
    #[arg(long, value_name = "I/N")]
    pub(super) shard: Option<Choice>,
}

/// Treatment of existing files.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "More than one machine, more than one run")]
pub(super) struct ResumeArgs {
    /// Keep the finished part of an earlier run and render the rest
    ///
    /// Renders the missing frames of numbered images, or the missing segments of a video (with --segments). Existing
    /// frames that were rendered with other settings or from another source are an error; -y renders them again. A
    /// hidden manifest beside the output, with size and time of each file, records what is complete.
    #[arg(long)]
    pub(super) resume: bool,
    /// With --resume: check every byte of the finished part
    #[arg(long, requires = "resume")]
    pub(super) verify: bool,
    /// Render a video in segments, so that it can be resumed
    ///
    /// Segments are kept in the folder OUTPUT.segments and joined at the end without encoding again.
    #[arg(long)]
    pub(super) segments: bool,
    /// Frames per segment, counted from frame 0 of the input [default: 250]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=crate::journal::segments::MAX_FRAMES))]
    pub(super) segment_frames: Option<u64>,
}

/// How a video file is written.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Video files (NAME.mp4, .mkv, .mov, .webm ...)")]
pub(super) struct EncodingArgs {
    /// Encoder or codec, with FFmpeg's name: libx265, hevc, prores_ks
    ///
    /// The default follows from the output's name: libx264 for mp4, mov and mkv (libx265 for HDR and above 10 bits),
    /// libsvtav1 or VP9 for webm, prores_ks for mov with alpha, ffv1 for mkv with alpha. 'ffmpeg -encoders' lists all
    /// encoders.
    #[arg(long, value_name = "NAME")]
    pub(super) codec: Option<String>,
    /// Option of the encoder, with FFmpeg's name; may be repeated
    ///
    /// For example tune=grain or threads=8. By default the number of encoder threads follows from the picture size and
    /// is the same on every machine, because the output of some encoders depends on it.
    #[arg(long, value_name = "K=V", value_parser = values::pair, allow_hyphen_values = true)]
    pub(super) codec_opt: Vec<(String, String)>,
    /// Constant quality on the encoder's scale; lower is better [default: 18 for libx264]
    #[arg(long, value_name = "Q", value_parser = values::quality)]
    pub(super) crf: Option<f64>,
    /// The encoder's preset: veryfast, slow, 8
    #[arg(long, value_name = "NAME")]
    pub(super) preset: Option<String>,
    /// Bits per second: 8M, 2500k; with --crf, the highest rate
    #[arg(long, value_name = "RATE", value_parser = values::size)]
    pub(super) bitrate: Option<u64>,
    /// Encode without loss: FFV1 unless --codec says otherwise (mkv)
    #[arg(long, conflicts_with_all = ["crf", "bitrate"])]
    pub(super) lossless: bool,
    /// Film grain table (filmgrn1) to write into the stream, so that players add the grain
    ///
    /// Only libaom takes it: --codec libaom-av1. 'grainfield match PLATE -o grain.tbl' writes one.
    #[arg(long, value_name = "FILE")]
    pub(super) film_grain_table: Option<PathBuf>,
    /// How sound is written
    #[arg(long, value_name = "WHAT", value_parser = AUDIO, default_value = "auto")]
    pub(super) audio: Audio,
    /// How subtitles are written
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
    /// Number of the frame: the file number in a sequence, else counted from 0
    #[arg(value_name = "N", value_parser = values::frame, allow_negative_numbers = true)]
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
    /// A filter, to list its settings; with settings (NAME=KEY=VALUE:...), to show its memory use
    ///
    /// With settings: the memory that the filter needs at 1920x1080, and the largest number of particles at a time.
    pub(super) name: Option<String>,
    /// As JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Print the effect of these settings of 'particles' as an effect file
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

/// The filters.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Filters")]
pub(super) struct FilterArgs {
    /// Filters, as name=key=value:key=value,name2=...
    ///
    /// The syntax is that of FFmpeg's -vf; a backslash escapes, single quotes protect. Numbers can be animated:
    /// '0=0;48=12' goes from 0 at frame 0 to 12 at frame 48. Every filter takes enable=FRAMES, planes= and opacity=.
    /// May be repeated: filters of --recipe come first, then each -f in order; the last seed is used. 'grainfield
    /// filters' lists the filters.
    #[arg(short = 'f', long = "filters", value_name = "CHAIN", allow_hyphen_values = true, value_parser = values::chain)]
    pub(super) chain: Vec<String>,
    /// TOML file with filters; those of -f follow them
    #[arg(long, value_name = "FILE")]
    pub(super) recipe: Option<PathBuf>,
    /// Quick preview of filters that support it
    ///
    /// Particles: one in four, each at its final place, with rougher edges. Fluid: coarser, without refraction. Flock:
    /// simpler bodies. The motion of both is final. A draft has another recipe key, so a resumed render never mixes it
    /// with final frames.
    #[arg(long)]
    pub(super) draft: bool,
    /// Start of all random numbers, decimal or 0x hex [default: the recipe's, else 0]
    ///
    /// The same seed gives the same noise on every machine, on any number of threads.
    #[arg(long, value_name = "N", value_parser = values::seed, allow_hyphen_values = true)]
    pub(super) seed: Option<u64>,
}

/// Which frames.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Frames")]
pub(super) struct SpanArgs {
    /// Render these frames only: 17, 1001-1100, 1-10x2, 5,7,9-12, -5--1
    ///
    /// 1-10x2 is every second frame from 1 on. Numbers count over the whole input, after --frame-offset: file numbers
    /// in a sequence, else from 0. A frame looks the same in whatever range it is rendered.
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub(super) frames: Option<Ranges>,
    /// What happens when a frame fails
    #[arg(long, value_name = "WHAT", value_parser = ON_ERROR, default_value = "stop")]
    pub(super) on_error: OnError,
}

/// How the input is read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Input")]
pub(super) struct SourceArgs {
    /// Frames per second of an input without a rate [default: 24]
    ///
    /// Images have no rate. 25, 23.976 or 24000/1001.
    #[arg(long, value_name = "R", value_parser = values::rate, allow_hyphen_values = true)]
    pub(super) rate: Option<Ratio>,
    /// What happens when a number is missing in a sequence
    #[arg(long, value_name = "WHAT", value_parser = MISSING, default_value = "error")]
    pub(super) missing: Missing,
    /// Run FFmpeg's own filters first: yadif, 'scale=1280:-2,hqdn3d'
    ///
    /// A filter graph in FFmpeg's syntax with one input and one output. A frame may depend on earlier ones, so single
    /// frames and ranges are read from the start, unless every filter in the graph is known to work on single frames
    /// (scale, crop, format).
    #[arg(long, value_name = "GRAPH", allow_hyphen_values = true)]
    pub(super) lavfi: Option<String>,
    /// Allow a protocol in INPUT: http, concat
    ///
    /// By default only files are read, and files that they refer to. May be repeated.
    #[arg(long, value_name = "NAME")]
    pub(super) allow_protocol: Vec<String>,
}

/// The rest of what `render`, `hash` and `frame` share.
#[derive(Args, Clone, Debug)]
pub(super) struct CommonArgs {
    #[command(flatten)]
    pub(super) source: SourceArgs,
    /// Add N to every frame number
    ///
    /// Ranges, keys of curves, random numbers, hashes and names of output files use the new number. With --frame-offset
    /// -1001 a sequence that starts at 1001 behaves like one that starts at 0.
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

/// The interpretation of samples.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Picture")]
pub(super) struct PictureArgs {
    /// Pixel format of the output, with FFmpeg's name: yuv420p10, gray16, gbrp
    ///
    /// Default: that of the input, or the nearest that the output can hold. Conversions are announced.
    #[arg(long, value_name = "F", value_parser = values::pix_fmt)]
    pub(super) pix_fmt: Option<String>,
    /// YUV matrix of the input, in place of its tag: bt709, smpte170m, bt2020nc ...
    ///
    /// With FFmpeg's names. Default: the tag; without a tag bt709 from 720 lines up, smpte170m below, with a note.
    #[arg(long, value_name = "M", value_parser = values::matrix(), hide_possible_values = true)]
    pub(super) matrix: Option<Matrix>,
    /// Range of the input, in place of its tag
    #[arg(long, value_name = "RANGE", value_parser = RANGE)]
    pub(super) range: Option<ColorRange>,
    /// Transfer characteristic of the output, or INPUT:OUTPUT: srgb, bt709, linear, pq, hlg ... or keep
    ///
    /// With FFmpeg's names. Default: linear in OpenEXR and float TIFF; in integer formats that of a display (srgb for
    /// RGB, bt709 for YUV) if the input is linear float, else that of the input. INPUT replaces the input's tag;
    /// without a tag RGB and full-range grey count as srgb, everything else as bt709 (displayed by BT.1886). keep
    /// converts nothing.
    #[arg(long, value_name = "[T:]T", value_parser = values::transfer)]
    pub(super) transfer: Option<crate::session::job::TransferChoice>,
    /// How interlaced frames are filtered
    #[arg(long, value_name = "HOW", value_parser = FIELDS, default_value = "auto")]
    pub(super) fields: Fields,
    /// Treat every warning about a loss or an assumption as an error
    #[arg(long)]
    pub(super) strict: bool,
}

/// Limits of the machine. They never change a sample.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Machine (never changes a sample)")]
pub(super) struct MachineArgs {
    /// Threads [default: as many as the machine has]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) threads: Option<u16>,
    /// Memory for frame buffers: 400M, 2GiB
    ///
    /// K, M, G are powers of 1000; KiB, MiB, GiB of 1024. Less memory means fewer frames at the same time, but at least
    /// one.
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(super) memory: Option<u64>,
    /// Highest instruction set to use
    ///
    /// Default: the best of the machine. The environment variable GRAINFIELD_LEVEL does the same; the lower of the two
    /// is used.
    #[arg(long, value_name = "LEVEL", value_parser = LEVEL)]
    pub(super) level: Option<Isa>,
    /// Cache folder, or none
    ///
    /// Holds states of stepped filters (fluid, flock). Default: the environment variable GRAINFIELD_CACHE, else
    /// grainfield in XDG_CACHE_HOME or ~/.cache.
    #[arg(long, value_name = "DIR")]
    pub(super) cache: Option<PathBuf>,
    /// Largest size of the cache; least recently used states are deleted first [default: 2G]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(super) cache_limit: Option<u64>,
}

/// Messages on standard error.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = "Messages (on standard error)")]
pub(super) struct ReportArgs {
    /// How progress is reported
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub(super) progress: ProgressFormat,
    /// Print only errors and warnings of losses
    #[arg(short, long, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Also print the recipe with all its settings, the level and the number of threads
    #[arg(short, long)]
    pub(super) verbose: bool,
}

/// `--progress`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum ProgressFormat {
    /// A bar if standard error is a terminal and shows no other output
    Auto,
    /// A bar
    Bar,
    /// One JSON object per line: started, progress, note, finishing, done, failed
    Json,
    /// The same, with a line for each frame
    Frames,
    /// Key=value blocks like FFmpeg's: frame, fps, out_time_us, speed, progress=continue|end
    Ffmpeg,
    /// Only the closing line
    None,
}
