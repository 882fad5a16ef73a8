//! `analyze`: what was typed, and the report as a table.

use super::args::{CommonArgs, FilterArgs, SpanArgs};
use super::exit::{Exit, Failure};
use super::values::check_png;
use super::{job, print, resolve};
use crate::cli::resolve::Environment;
use clap::Args;
use grainfield_io::disk::{FileRef, OutputFile};
use grainfield_render::analyze::{self, Report, ReportHandle};
use grainfield_render::session::job::OnError;
use std::ffi::{OsStr, OsString};

mod table;

pub(super) const EXAMPLES: &str = "\
Examples:
  Measure the grain that another program added:
    grainfield analyze grainy.y4m --clean clip.y4m --plot grain.png
  Measure what a filter does:
    grainfield analyze clip.y4m -f noise=strength=6
  Measure a scanned grey card, without a clean version:
    grainfield analyze 'card.####.png' --json > card.json
  Plot the spectrum of one filter on grey:
    grainfield analyze pattern:grey:size=1920x1080:format=gray16 -f noise=distribution=gaussian --plot noise.png";

/// `analyze`.
#[derive(Args, Debug)]
pub(super) struct Analyze {
    /// File, numbered images, `-` for standard input, or pattern:NAME
    pub(super) input: OsString,
    /// Measure the difference from this clip, frame by frame; first frames correspond
    ///
    /// As INPUT: a file, numbered images, `-` or pattern:NAME. Size and planes must equal those of INPUT; the depth
    /// may differ.
    #[arg(long, value_name = "INPUT2", help_heading = "Report")]
    pub(super) clean: Option<OsString>,
    /// Print JSON instead of the table
    #[arg(long, help_heading = "Report")]
    pub(super) json: bool,
    /// Also plot the result as a PNG image
    #[arg(long, value_name = "OUT.png", help_heading = "Report")]
    pub(super) plot: Option<OsString>,
    /// Replace the plot if it exists
    #[arg(short = 'y', long = "overwrite", help_heading = "Report")]
    pub(super) overwrite: bool,
    #[command(flatten)]
    pub(super) filters: FilterArgs,
    #[command(flatten)]
    pub(super) span: SpanArgs,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Measures, then draws, then prints, so that nothing is printed about a plot that could not be written.
pub(super) fn run(typed: Analyze, environment: &Environment) -> Result<Exit, Failure> {
    let report_handle = ReportHandle::default();
    let (other, json, name, overwrite) =
        (typed.clean.clone(), typed.json, typed.plot.clone(), typed.overwrite);
    name.iter().try_for_each(|name| check_png("--plot ", name, "the plot"))?;
    let title = title(&typed.input, other.as_deref(), &typed.filters.chain);
    let (report_args, mut plot) = (typed.common.report, None);
    let begin = || {
        let resolved = resolved(typed, environment)?;
        resolved.request.check_files()?;
        // Opened at the beginning: failing now is better than after the measurement.
        plot = name.map(|name| OutputFile::create(&name, overwrite)).transpose()?;
        Ok(resolved)
    };
    let handle = report_handle.clone();
    let exit = job(report_args, true, begin, move |request| Ok(analyze::prepare(request, other, &handle)?));
    let (Exit::Done, Some(report)) = (exit, report_handle.report()) else {
        return Ok(exit);
    };
    if let Some(mut plot) = plot {
        plot.put(&analyze::plot::png(&report, &title)?)?;
        plot.finish()?;
    }
    print(if json { json_text(&report, &title) } else { table::text(&report, &title) })
}

fn json_text(report: &Report, title: &str) -> String {
    let mut value = report.json();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("title".into(), title.into());
        fields.insert("unit".into(), "8-bit code values".into());
    }
    format!("{value:#}\n")
}

/// The title of the report.
fn title(input: &OsStr, clean: Option<&OsStr>, chains: &[String]) -> String {
    let mut text = input.to_string_lossy().into_owned();
    if !chains.is_empty() {
        text += " with ";
        text += &chains.join(",");
    }
    match clean {
        Some(clean) => text + " against " + &clean.to_string_lossy(),
        None if !chains.is_empty() => text + " against the same without them",
        None => text,
    }
}

/// The request of the measured render, which writes no frames.
fn resolved(typed: Analyze, environment: &Environment) -> Result<resolve::Resolved, Failure> {
    let Analyze { input, clean, plot, filters, span, common, .. } = typed;
    if span.errors.on_error == OnError::Hold {
        return Err(Failure::usage("--on-error hold: a repeated frame is not noise to measure; use skip"));
    }
    let mut resolved =
        resolve::request(input, "null:".into(), false, filters, Some(span), common, environment)?;
    let beside = &mut resolved.request.beside;
    beside.write("the report", FileRef::Stdout);
    if let Some(plot) = plot {
        beside.write("the plot", &plot);
    }
    if let Some(clean) = clean {
        resolve::check_input(&clean, environment)?;
        grainfield_io::source::reads(&clean)
            .into_iter()
            .for_each(|place| beside.read("the input of --clean", place));
    }
    Ok(resolved)
}
