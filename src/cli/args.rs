//! The arguments of the command line. Reads no file and no environment variable.
//!
//! Width: help never takes more than 100 columns, and less on a narrower terminal (`max_term_width` of the command; a test
//! looks at every page). The first line of a doc comment is the short help (`-h`) and should fit one line beside its
//! option; the rest is for `--help`.

use super::values::{self, Keywords};
use clap::{Args, ValueEnum};
use grainfield_filters::frame::{ColorRange, Matrix, Spans};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::simd::Isa;
use grainfield_io::journal::shard::Choice;
use grainfield_io::sink::encoding::{Audio, Subs};
use grainfield_io::source::Missing;
use grainfield_io::source::raw::RawVideo;
use grainfield_render::session::job::{Fields, OnError};
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
    ("stop|fail", OnError::Stop, "Stop the render; finished frames are kept as NAME.partial.EXT"),
    ("skip", OnError::Skip, "Leave the frame out, report it and continue"),
    ("hold", OnError::Hold, "Repeat the last good frame of the input in place of one that cannot be decoded"),
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
    ("neon", Isa::Neon, ""),
    ("sse2", Isa::Sse2, ""),
    ("avx2", Isa::Avx2, ""),
    ("avx512", Isa::Avx512, ""),
    ("avx512vbmi", Isa::Avx512Vbmi, ""),
]);

/// `render`.
#[derive(Args, Clone, Debug)]
pub(super) struct Render {
    /// File, numbered images, `-` for standard input, or pattern:NAME
    pub(super) input: OsString,
    /// File, numbered images, `-` for standard output (y4m), nut:, raw:, hash: or null:
    ///
    /// nut: and raw: also write to standard output: a NUT stream, which keeps alpha, depth, times and sound, or samples
    /// without a header. raw:FILE, NAME.yuv and NAME.raw are files of such samples.
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
    /// Renders the missing frames of numbered images, or the missing segments of a video. Existing
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
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=grainfield_io::journal::segments::MAX_FRAMES))]
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
    /// encoders. Those of graphics cards (hevc_nvenc, hevc_qsv, h264_amf) work where FFmpeg, the driver and the card have
    /// them, except those that take only frames in the card's memory (vaapi).
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
    /// Encode twice, so that the bit rate goes where it is needed: libx264, libx265, libvpx-vp9, libaom-av1
    ///
    /// The first pass filters and encodes everything to measure it, and writes no video. Needs a file as input, and
    /// --bitrate for libx264 and libx265.
    #[arg(long, conflicts_with = "lossless")]
    pub(super) two_pass: bool,
    /// Tag of the codec in mp4, mov and avi: hvc1, hev1 [default: hvc1 for HEVC, which QuickTime plays]
    #[arg(long, value_name = "TAG")]
    pub(super) tag: Option<String>,
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
    /// Encode sound with this encoder or codec, with FFmpeg's name: aac, libopus, flac, pcm_s24le
    ///
    /// Channels and loudness stay. Without it sound is copied where the container allows that.
    #[arg(long, value_name = "NAME")]
    pub(super) audio_codec: Option<String>,
    /// Bits per second of each sound, which is then encoded: 192k
    #[arg(long, value_name = "RATE", value_parser = values::size)]
    pub(super) audio_bitrate: Option<u64>,
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
    /// Number of the frame, or the time at which it is shown: 17, 12.5s, 00:01:00, 50%
    ///
    /// The number is that of the file in a sequence, else counted from 0.
    #[arg(value_name = "N", value_parser = values::frame, allow_negative_numbers = true)]
    pub(super) number: Spans,
    /// The image (or .y4m) to write
    pub(super) output: OsString,
    /// Replace the output if it exists
    #[arg(short = 'y', long = "overwrite")]
    pub(super) overwrite: bool,
    #[command(flatten)]
    pub(super) filters: FilterArgs,
    #[command(flatten)]
    pub(super) errors: ErrorArgs,
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
    /// TOML file with filters, or a look by its name: look.toml, super8; may be repeated
    ///
    /// Filters of several recipes are added up in the order of the options; those of -f follow them. A name without '.'
    /// and '/' is that of a look: one of your own (NAME.toml in the folder looks of the configuration folder) or a
    /// built-in one. 'grainfield looks' lists them.
    #[arg(long, visible_alias = "look", value_name = "FILE|NAME")]
    pub(super) recipe: Vec<PathBuf>,
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
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Frames")]
pub(super) struct FrameArgs {
    /// These frames only: 17, 1001-1100, 1-10x2, 5,7,9-12, 12.5s-00:01:00, 25%-50%, tc:01:00:10:00-
    ///
    /// 1-10x2 is every second frame from 1 on. Numbers count over the whole input, after --frame-offset: file numbers
    /// in a sequence, else from 0. A frame looks the same in whatever range it is rendered.
    ///
    /// Times (12.5s, 500ms, [HH:]MM:SS.fraction) count from the first frame, and percentages from there to the end;
    /// tc:HH:MM:SS:FF is a timecode of the input. A range begins with the first frame at or after its time; a time,
    /// percentage or timecode as its end is not included, so 0s-10s and 10s-20s have no frame in common. A single time
    /// is the frame that is shown then.
    #[arg(long, value_name = "RANGE", value_parser = values::frames, allow_hyphen_values = true)]
    pub(super) frames: Option<Spans>,
    /// Start at this time: 90, 00:01:30, 1500ms (FFmpeg's -ss)
    ///
    /// Starts with the first frame at or after it. Also written -ss.
    #[arg(long, alias = "ss", value_name = "TIME", value_parser = values::time, conflicts_with = "frames")]
    pub(super) start: Option<Ratio>,
    /// End before this time of the input (FFmpeg's -to)
    ///
    /// A frame at this time is not included. Also written -to.
    #[arg(long, value_name = "TIME", value_parser = values::time, conflicts_with_all = ["frames", "duration"])]
    pub(super) end: Option<Ratio>,
    /// End after this time, counted from the start (FFmpeg's -t)
    #[arg(short = 't', long, alias = "t", value_name = "TIME", value_parser = values::time, conflicts_with = "frames")]
    pub(super) duration: Option<Ratio>,
}

/// Which frames, and what happens if one fails.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Frames")]
pub(super) struct SpanArgs {
    #[command(flatten)]
    pub(super) frames: FrameArgs,
    #[command(flatten)]
    pub(super) errors: ErrorArgs,
}

/// What happens if a frame fails.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Frames")]
pub(super) struct ErrorArgs {
    /// What happens when a frame fails
    ///
    /// With skip and hold the exit status is 0, each such frame is reported, and the closing line counts them. hold also
    /// repeats the image before a missing one of a sequence; if no good frame comes before, the render stops.
    #[arg(long, value_name = "WHAT", value_parser = ON_ERROR, default_value = "stop")]
    pub(super) on_error: OnError,
}

/// How the input is read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Input")]
pub(super) struct SourceArgs {
    /// Frames per second of images, or of an input without a rate [default: that of the header, else 24]
    ///
    /// 25, 23.976 or 24000/1001. Of images, only DPX, Cineon and OpenEXR state a rate in their headers; that of the first
    /// file counts.
    #[arg(long, value_name = "R", value_parser = values::rate, allow_hyphen_values = true)]
    pub(super) rate: Option<Ratio>,
    /// What happens when a number is missing in a sequence
    #[arg(long, value_name = "WHAT", value_parser = MISSING, default_value = "error")]
    pub(super) missing: Missing,
    /// The input is samples without a header: 1920x1080:yuv420p:25
    ///
    /// Its size, its pixel format with FFmpeg's name (yuv422p10le, rgb24, gbrp10le, gray16le, rgba64le, nv12 ...) and its
    /// frames per second, by default those of --rate. INPUT is a file or -.
    #[arg(long, value_name = "WxH:F[:R]")]
    pub(super) raw: Option<RawVideo>,
    /// Run FFmpeg's own filters first: bwdif, 'scale=1280:-2,hqdn3d'
    ///
    /// A filter graph in FFmpeg's syntax with one input and one output. A frame may depend on earlier ones, so single
    /// frames and ranges are read from the start, unless every filter in the graph is known to work on single frames
    /// (scale, crop, format), but for one that deinterlaces all of them (bwdif, yadif, w3fdif, estdif).
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
    pub(super) report: ReportArgs,
}

/// The interpretation of samples.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Picture")]
pub(super) struct PictureArgs {
    /// Pixel format of the output, with FFmpeg's name: yuv420p10, gray16, gbrp
    ///
    /// Default: that of the input, or the nearest that the output can hold. Conversions are announced. Raw samples may be
    /// packed (rgb24, rgba64le, nv12).
    #[arg(long, value_name = "F", value_parser = values::pix_fmt)]
    pub(super) pix_fmt: Option<String>,
    /// YUV matrix of the input, in place of its tag: bt709, smpte170m, bt2020nc ...
    ///
    /// With FFmpeg's names. Default: the tag; without a tag smpte170m up to 576 lines, bt709 above, with a note.
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
    /// converts nothing, auto is the default.
    #[arg(long, value_name = "[T:]T", value_parser = values::transfer)]
    pub(super) transfer: Option<grainfield_render::session::job::TransferChoice>,
    /// How interlaced frames are filtered
    #[arg(long, value_name = "HOW", value_parser = FIELDS, default_value = "auto")]
    pub(super) fields: Fields,
    /// Treat every warning about a loss as an error
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
    /// Holds states of fluid, flock and sand, and indexes of videos. Default: the environment variable GRAINFIELD_CACHE, else
    /// grainfield in XDG_CACHE_HOME or ~/.cache.
    #[arg(long, value_name = "DIR")]
    pub(super) cache: Option<PathBuf>,
    /// Largest size of the cache; the least recently used entries are deleted first [default: 2G]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(super) cache_limit: Option<u64>,
}

/// Messages on standard error.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = "Messages (on standard error)")]
pub(super) struct ReportArgs {
    /// How progress is reported [default: auto]
    #[arg(long, value_name = "HOW")]
    pub(super) progress: Option<ProgressFormat>,
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
