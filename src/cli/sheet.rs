//! `sheet`: its arguments.

use super::args::{CommonArgs, FilterArgs, SpanArgs};
use super::exit::{Exit, Failure};
use super::values::{Keywords, check_png};
use super::{job, resolve};
use crate::cli::resolve::Environment;
use clap::Args;
use grainfield_io::disk::OutputFile;
use grainfield_render::sheet::{self, Compare, Layout, Thumbnails};
use std::ffi::OsString;

pub(super) const EXAMPLES: &str = "\
Examples:
  An overview of a clip:
    grainfield sheet clip.mp4 sheet.png
  Compare every tenth frame with the source:
    grainfield sheet clip.mp4 sheet.png --recipe look.toml --frames 0-119x10 --compare split
  Show where the filter changes the picture:
    grainfield sheet clip.mp4 sheet.png -f noise=strength=8 --compare diff --columns 2";

const COMPARE: Keywords<Compare> = Keywords(&[
    ("side", Compare::Side, "Source on the left, filtered on the right"),
    ("split", Compare::Split, "Left half source, right half filtered"),
    ("diff", Compare::Diff, "Difference between the two, multiplied by 8"),
]);

/// `sheet`.
#[derive(Args, Debug)]
pub(super) struct Sheet {
    /// File, numbered images, `-` for standard input, or pattern:NAME
    pub(super) input: OsString,
    /// The PNG image to write
    pub(super) output: OsString,
    /// Compare with the source
    #[arg(long, value_name = "HOW", value_parser = COMPARE, help_heading = "Sheet")]
    pub(super) compare: Option<Compare>,
    /// Frames per row [default: chosen from the number of frames]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=40), help_heading = "Sheet")]
    pub(super) columns: Option<u32>,
    /// Width of the sheet in pixels
    #[arg(long, value_name = "W", value_parser = clap::value_parser!(u32).range(160..=12000), default_value = "1600", help_heading = "Sheet")]
    pub(super) width: u32,
    /// Replace the output if it exists
    #[arg(short = 'y', long = "overwrite", help_heading = "Sheet")]
    pub(super) overwrite: bool,
    #[command(flatten)]
    pub(super) filters: FilterArgs,
    #[command(flatten)]
    pub(super) span: SpanArgs,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

pub(super) fn run(typed: Sheet, environment: &Environment) -> Result<Exit, Failure> {
    check_png("", &typed.output, "a sheet")?;
    let layout = Layout { width: typed.width, columns: typed.columns, compare: typed.compare };
    let mut title = typed.input.to_string_lossy().into_owned();
    let recipe = typed.filters.recipe.iter().map(|r| r.to_string_lossy().into_owned());
    let with: Vec<String> = recipe.chain(typed.filters.chain.iter().cloned()).collect();
    if !with.is_empty() {
        title = format!("{title} with {}", with.join(", "));
    }
    let (report_args, thumbnails) = (typed.common.report, Thumbnails::default());
    let (taken, mut output) = (thumbnails.clone(), None);
    let begin = || {
        let Sheet { input, output: name, overwrite, filters, span, common, .. } = typed;
        let to = name.clone();
        let resolved = resolve::request(input, to, overwrite, filters, Some(span), common, environment)?;
        resolved.request.check_files()?;
        // Opened at the beginning: failing now is better than after the rendering.
        output = Some(OutputFile::create(&name, overwrite)?);
        Ok(resolved)
    };
    let exit = job(report_args, false, begin, move |r| sheet::prepare(r, layout, &taken));
    let (Exit::Done, Some(mut output)) = (exit, output) else {
        return Ok(exit);
    };
    output.put(&sheet::png(&thumbnails, &layout, &title)?)?;
    output.finish()?;
    Ok(Exit::Done)
}
