//! Which options help with an error: the library's messages name settings, not options.

use grainfield_filters::chain::ChainError;
use grainfield_filters::filter::lavfi::SEVERAL_FRAMES;
use grainfield_io::disk::{DiskError, SameFile};
use grainfield_io::journal::resume::ResumeError;
use grainfield_io::sink::SinkError;
use grainfield_io::source::SourceError;
use grainfield_render::batch::output_path::OutputPathError;
use grainfield_render::join::JoinError;
use grainfield_render::matching::{MatchError, NoGrain};
use grainfield_render::pipeline::{Failure, FrameError};
use grainfield_render::session;
use grainfield_render::session::job::{JobError, RequestError};
use grainfield_render::sheet::SheetError;
use std::error::Error;

/// Advice for an error of the library, if options help.
pub(super) fn advice(error: &(dyn Error + 'static)) -> Option<&'static str> {
    if let Some(session::Error::Job(error)) = error.downcast_ref() {
        return for_job(error);
    }
    if let Some(error) = error.downcast_ref::<JobError>() {
        return for_job(error);
    }
    if let Some(error) = error.downcast_ref::<MatchError>() {
        return for_match(error);
    }
    if let Some(Failure::Frame { error, .. }) = error.downcast_ref() {
        return match error {
            FrameError::TimeLost(_) => Some(STRICT),
            FrameError::Source(error) => for_source(error),
            FrameError::Sink(error) => for_sink(error),
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<JoinError>() {
        return for_join(error);
    }
    if let Some(error) = error.downcast_ref::<SinkError>() {
        return for_sink(error);
    }
    if let Some(error) = error.downcast_ref::<SourceError>() {
        return for_source(error);
    }
    match (error.downcast_ref(), error.downcast_ref(), error.downcast_ref()) {
        (Some(OutputPathError::Outside { .. }), ..) => Some("--outside allows that"),
        (_, Some(DiskError::Exists(_)), _) => Some(REPLACE),
        (.., Some(SameFile::Exists(_))) => Some("where the command has -y, it replaces the file"),
        _ => None,
    }
}

const REPLACE: &str = "use -y to replace it";
const STRICT: &str = "without --strict it is a warning";
const FRAMES: &str = "frames are selected by their numbers, which --frame-offset shifts";

fn for_job(error: &JobError) -> Option<&'static str> {
    match error {
        JobError::Strict(_) => Some(STRICT),
        JobError::Endpoints(error) => match error.downcast_ref()? {
            SheetError::NoFilters => Some("give them with -f or --recipe"),
            SheetError::Frames(_) => Some("use every tenth, as in --frames 0-999x10"),
            SheetError::Memory => Some("select fewer with --frames"),
            SheetError::Pipe => None,
        },
        JobError::Request(error) => match error {
            RequestError::PixFmt { .. } => Some("choose another with --pix-fmt, or name another output"),
            RequestError::NoFrame(_) => Some(FRAMES),
            RequestError::Memory(_) => Some("allow more with --memory"),
            RequestError::Segments => Some("leave --segments out"),
            RequestError::ResumeStream(_) => Some("leave --resume out"),
            RequestError::ShardLength => Some("give --frames A-B"),
            RequestError::TwoPassPipe | RequestError::TwoPassParts => Some("leave --two-pass out"),
            _ => None,
        },
        JobError::Chain(ChainError::Setting { error, .. }) if error.problem.contains(SEVERAL_FRAMES) => {
            Some("--lavfi GRAPH runs any of FFmpeg's filters before the chain")
        }
        JobError::Source(error) => for_source(error),
        JobError::Sink(error) => for_sink(error),
        JobError::SameFile(error) => advice(error),
        JobError::Resume(error) => for_resume(error),
        _ => None,
    }
}

fn for_source(error: &SourceError) -> Option<&'static str> {
    match error {
        SourceError::Missing { .. } => Some("--missing hold, black or skip continues without them"),
        SourceError::Protocol { .. } => Some("--allow-protocol allows it"),
        SourceError::NoHeader(_) => {
            Some("--raw WIDTHxHEIGHT:PIXFMT:RATE describes them: --raw 1920x1080:yuv420p:25")
        }
        _ => None,
    }
}

fn for_sink(error: &SinkError) -> Option<&'static str> {
    match error {
        SinkError::Disk(DiskError::Exists(_)) => Some(REPLACE),
        SinkError::InTheWay { .. } => {
            Some("use -y to replace existing files, or --resume to keep them and render the rest")
        }
        SinkError::Encoding { .. } => Some(
            "the options are --codec, --pix-fmt, --crf, --bitrate, --preset, --lossless, --codec-opt and --audio-codec",
        ),
        SinkError::VaryingRate { .. } => Some("--lavfi adds FFmpeg's filters"),
        _ => None,
    }
}

fn for_resume(error: &ResumeError) -> Option<&'static str> {
    matches!(error, ResumeError::Other { .. }).then_some("use -y to render such frames again")
}

fn for_join(error: &JoinError) -> Option<&'static str> {
    match error {
        JoinError::FramesOfFile => Some("leave --frames out"),
        JoinError::ShardsOfSequence => Some("'grainfield join OUTPUT' checks that it is complete"),
        JoinError::SameFile(error) => advice(error),
        JoinError::Record(error) => for_resume(error),
        JoinError::Sink(error) => for_sink(error),
        JoinError::Disk(error) => advice(error),
        JoinError::Source(error) => for_source(error),
        _ => None,
    }
}

fn for_match(error: &MatchError) -> Option<&'static str> {
    match error {
        MatchError::NoFrame(_) | MatchError::NoFrames(_) => Some("select frames of both clips with --frames"),
        MatchError::Source(error) => for_source(error),
        MatchError::Sink(error) => for_sink(error),
        MatchError::Area(..) => Some("choose another with --area"),
        MatchError::NoTiles | MatchError::Tiles(_) => {
            Some("select more, or another part, with --frames and --area")
        }
        MatchError::NoGrain(NoGrain::FewBlocks(_)) => Some(
            "give a clean version with --clean, or select a static shot or part with --frames and --area",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    /// Options that are named exist.
    #[test]
    fn advice_names_options_of_the_program() {
        let mut known = Vec::new();
        for command in crate::cli::commands::Cli::command().get_subcommands() {
            known.extend(command.get_arguments().filter_map(|a| a.get_long().map(str::to_owned)));
        }
        let text = include_str!("advice.rs");
        for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-') {
            if let Some(option) = word.strip_prefix("--").filter(|option| !option.is_empty()) {
                assert!(known.iter().any(|k| k == option), "{word}");
            }
        }
    }
}
