//! `match`: its arguments, and the report of the match's quality.

use super::args::{FrameArgs, SourceArgs};
use super::exit::{Exit, Failure};
use super::signals::Signals;
use super::terminal::Style;
use super::values::check_png;
use super::{eprintln_quietly, print, report_error, resolve};
use crate::cli::resolve::Environment;
use clap::Args;
use grainfield_io::disk::{Access, FileAccess, FileRef, OutputFile};
use grainfield_measure::blind::Method;
use grainfield_measure::residual::Area;
use grainfield_render::matching::{
    self, Blind, Doubt, Match, MatchError, Measured, Options, PlaneMatch, PlateGrain, Shot, plot,
};
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::sync::Arc;

pub(super) const EXAMPLES: &str = "\
Examples:
  A recipe that puts the plate's grain on the composite:
    grainfield match plate.mov --clean degrained.mov -o grain.toml
    grainfield render comp.mov final.mov --recipe grain.toml
  The same for an encoder: a film grain table, from a still part of frames 100 to 115:
    grainfield match plate.mov --clean degrained.mov -o grain.tbl --frames 100-115 --area 200,100,640,360
  The plate's own grain instead of generated grain, kept in a file that the recipe names:
    grainfield match plate.mov --clean degrained.mov --keep own.y4m -o grain.toml
  Without a clean version, from still parts of the first 16 frames:
    grainfield match plate.mov -o grain.toml --frames 0-15
  A report and a plot only, without a recipe file:
    grainfield match plate.mov --clean degrained.mov --plot grain.png";

/// `match`.
#[derive(Args, Debug)]
pub(super) struct MatchArgs {
    /// The plate: file, numbered images, or pattern:NAME
    pub(super) input: OsString,
    /// The same plate without grain; first frames correspond
    ///
    /// Size, planes and range must equal those of the plate; the depth may differ. Without it, grain is measured in
    /// blocks in which neighbouring frames differ only by grain: blocks that stand still or move by whole samples, or,
    /// if there are too few, plain ones.
    #[arg(long, value_name = "INPUT2")]
    pub(super) clean: Option<OsString>,
    /// Recipe (.toml) or film grain table (.tbl) to write [default: only the report]
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    pub(super) output: Option<OsString>,
    #[command(flatten)]
    pub(super) frames: FrameArgs,
    /// Measure only this area, in luma samples
    #[arg(long, value_name = "X,Y,W,H", value_parser = area)]
    pub(super) area: Option<Area>,
    /// Keep the plate's own grain in a file (.y4m; .png for RGB) for grain=plate=FILE; the recipe of -o then uses it
    ///
    /// Requires --clean. Writes squares of the difference, divided by the strength of the grain at their brightness.
    #[arg(long, value_name = "FILE", requires = "clean")]
    pub(super) keep: Option<OsString>,
    /// Plot plate and match as a PNG image
    #[arg(long, value_name = "OUT.png")]
    pub(super) plot: Option<OsString>,
    /// Print the report as JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Replace the outputs if they exist
    #[arg(short = 'y', long = "overwrite")]
    pub(super) overwrite: bool,
    #[command(flatten)]
    pub(super) source: SourceArgs,
}

fn area(text: &str) -> Result<Area, String> {
    let numbers: Option<Vec<usize>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[x, y, width, height])
            if width > 0 && height > 0 && [x, y, width, height].iter().all(|n| *n <= 1 << 16) =>
        {
            Ok(Area { x, y, width, height })
        }
        _ => Err("an area is four whole numbers: X,Y,W,H, as in 200,100,640,360".into()),
    }
}

/// A fitted look.
struct Fitted {
    /// The text of the output.
    text: String,
    /// A chain for `-f`, where it is a recipe.
    chain: Option<String>,
    matched: Match,
    frames: (i64, i64, usize),
    /// The evidence, without a clean version.
    blind: Option<Blind>,
    /// Why the strength is not certain.
    doubt: Option<Doubt>,
    kept: Option<PlateGrain>,
}

fn ends_with(name: &OsString, extension: &str) -> bool {
    name.to_str().is_some_and(|n| n.to_ascii_lowercase().ends_with(extension))
}

pub(super) fn run(typed: MatchArgs, environment: &Environment) -> Result<Exit, Failure> {
    let as_table = is_table(typed.output.as_ref())?;
    check_files(&typed, environment)?;
    // Opened at the beginning: failing now is better than after the work.
    let create = |name: &Option<OsString>| {
        name.as_ref().map(|name| OutputFile::create(name, typed.overwrite)).transpose()
    };
    let (output, drawing) = (create(&typed.output)?, create(&typed.plot)?);
    let signals = Signals::watch()?;
    let mut source = resolve::source_options(&typed.source, environment);
    source.stop = Arc::clone(signals.cancel.flag());
    let options = Options {
        frames: resolve::frames(&typed.frames)?,
        area: typed.area,
        source,
        cancel: signals.cancel.clone(),
    };
    let (plate, clean, keep) = (typed.input.clone(), typed.clean.clone(), typed.keep.clone());
    let work = move || fit(&plate, clean.as_deref(), keep.as_deref(), as_table, &options);
    let Some(fitted) = signals.unless_cancelled(work) else {
        return Ok(report_error(signals.exit(), "interrupted"));
    };
    let fitted = fitted?;
    let title = format!("{} and its match", typed.input.to_string_lossy());
    let plotted = drawing.map(|file| (file, plot::png(&fitted.matched, &title)));
    if let Some(mut file) = output {
        file.put(fitted.text.as_bytes())?;
        file.finish()?;
    }
    if let Some((mut file, png)) = plotted {
        file.put(&png?)?;
        file.finish()?;
    }
    if let (Some(name), Some(kept)) = (&typed.keep, &fitted.kept) {
        kept.write(name, typed.overwrite).map_err(|error| Failure::from_error(Exit::Failed, &error))?;
    }
    warn(&fitted);
    for name in [&typed.output, &typed.plot, &typed.keep].into_iter().flatten() {
        eprintln_quietly(&format!("wrote {}", name.to_string_lossy()));
    }
    if let Some(name) = &typed.output {
        let name = name.to_string_lossy();
        let next = if as_table {
            format!("render INPUT OUT.mkv --codec libaom-av1 --film-grain-table {name}")
        } else {
            format!("render INPUT OUTPUT --recipe {name}")
        };
        eprintln_quietly(&format!("next: grainfield {next}"));
    }
    print(if typed.json { format!("{:#}\n", as_json(&fitted)) } else { as_text(&fitted) })
}

/// Whether the output is a film grain table instead of a recipe.
fn is_table(output: Option<&OsString>) -> Result<bool, Failure> {
    match output {
        Some(name) if ends_with(name, ".tbl") => Ok(true),
        Some(name) if !ends_with(name, ".toml") => Err(Failure::usage(format!(
            "{}: name the output NAME.toml (recipe) or NAME.tbl (film grain table)",
            name.to_string_lossy()
        ))),
        _ => Ok(false),
    }
}

/// Returns an error for inputs that cannot be read, and for outputs that are inputs.
fn check_files(typed: &MatchArgs, environment: &Environment) -> Result<(), Failure> {
    typed.plot.iter().try_for_each(|name| check_png("--plot ", name, "the plot"))?;
    let mut access = FileAccess::default();
    let clean = typed.clean.as_ref().map(|clean| ("the input of --clean", clean));
    for (what, input) in std::iter::once(("the plate", &typed.input)).chain(clean) {
        resolve::check_input(input, environment)?;
        access.read_all(what, grainfield_io::source::reads(input));
    }
    access.write("the report", FileRef::Stdout);
    for (what, name) in [("the match", &typed.output), ("the plot", &typed.plot)] {
        name.iter().for_each(|name| access.write(what, name));
    }
    if let Some(name) = &typed.keep {
        access.add(Access::WriteExternal, "the plate's grain", name);
    }
    access.check()?;
    if !typed.overwrite {
        access.check_external_writes().map_err(|error| Failure::from_error(Exit::Failed, &error))?;
    }
    Ok(())
}

/// Measures the plate's grain and fits a look to it; keeps the grain itself if a file for it is named.
fn fit(
    plate: &OsStr,
    clean: Option<&OsStr>,
    keep: Option<&OsStr>,
    as_table: bool,
    options: &Options,
) -> Result<Fitted, MatchError> {
    let shot = Shot::read(plate, clean, options)?;
    let Measured { grain, blind, doubt } = shot.measure()?;
    let kept = match keep {
        Some(name) => {
            matching::check_name(name, shot.format())?;
            Some(matching::keep(&shot, &grain)?)
        }
        None => None,
    };
    let (text, chain, matched) = if as_table {
        let found = matching::table(&shot, &grain)?;
        (found.table.to_string(), None, found.matched)
    } else {
        let name = keep.map(OsStr::to_string_lossy);
        let own = name.as_ref().zip(kept.as_ref()).map(|(name, kept)| (&**name, &kept.plate));
        let found = matching::recipe(&shot, &grain, own)?;
        (found.recipe.to_toml(), Some(found.recipe.to_chain()), found.matched)
    };
    Ok(Fitted { text, chain, matched, frames: shot.frames(), blind, doubt, kept })
}

fn warn(fitted: &Fitted) {
    let warn = |text: String| eprintln_quietly(&format!("{} {text}", Style::of_stderr().warning()));
    if let Some(kept) = fitted.kept.as_ref().filter(|kept| kept.repeats()) {
        warn(format!(
            "{} patches were kept: some appear twice in frames of this size, which need {}; measure more of the \
             plate with --frames",
            kept.plate.count(),
            kept.cells.div_ceil(4)
        ));
    }
    if let Some(blind) = fitted.blind.filter(Blind::degrained_by_codec) {
        warn(format!(
            "in {:.0} % of the plate's parts of 8x8 samples grain is missing, because compression removed it: the \
             film had more and finer grain than is measured here; match a less compressed plate",
            100.0 * blind.gone
        ));
    }
    if let Some(doubt) = &fitted.doubt {
        warn(format!("the strength is not certain: {doubt}"));
    }
}

/// The name of a method in JSON, and its description.
fn method(method: Method) -> (&'static str, &'static str) {
    match method {
        Method::Still => ("still", "differences of neighbouring frames, mostly where blocks stand still"),
        Method::Moved => {
            ("moved", "differences of neighbouring frames, mostly where blocks move by whole samples")
        }
        Method::Flat => ("flat", "plain blocks of single frames, including their texture"),
    }
}

fn as_json(fitted: &Fitted) -> Value {
    let plane = |p: &PlaneMatch| {
        let both = |[plate, rendered]: [f64; 2]| json!({ "plate": plate, "match": rendered });
        let points: Vec<Value> = p
            .points
            .iter()
            .map(|p| {
                json!({
                    "brightness": p.brightness, "samples": p.samples, "counts": p.counts,
                    "plate": p.plate, "match": p.rendered,
                })
            })
            .collect();
        json!({
            "name": p.name,
            "strength": points,
            "strength_rms": p.strength_rms,
            "strength_worst": p.strength_worst,
            "spectrum_db": p.spectrum_db,
            "aspect_db": both(p.aspect_db),
            "temporal": both(p.temporal),
            "channel": both(p.channel),
            "skew": both(p.skew),
            "kurtosis": both(p.kurtosis),
        })
    };
    let (first, last, count) = fitted.frames;
    json!({
        "unit": "8-bit code values",
        "frames": { "first": first, "last": last, "count": count },
        "evidence": fitted.blind.map(|b| json!({
            "from": method(b.method).0,
            "blocks": b.blocks.0,
            "blocks_looked_at": b.blocks.1,
            "frames_held": b.held,
            "lost": b.gone,
            "compressed": b.degrained_by_codec(),
            "strength_bound": b.bound,
        })),
        "certain": fitted.doubt.is_none(),
        "doubt": fitted.doubt.map(|d| d.to_string()),
        "chain": fitted.chain,
        "kept": fitted.kept.as_ref().map(|k| json!({ "patches": k.plate.count(), "side": k.plate.side() })),
        "planes": fitted.matched.planes.iter().map(plane).collect::<Vec<_>>(),
    })
}

fn as_text(fitted: &Fitted) -> String {
    let mut text = String::new();
    let mut line = |part: std::fmt::Arguments<'_>| {
        let _ = text.write_fmt(part); // a String takes all
        text.push('\n');
    };
    let (first, last, count) = fitted.frames;
    line(format_args!("{count} frames from {first} to {last}; strength in 8-bit code values"));
    if let Some(blind) = &fitted.blind {
        let (used, all) = blind.blocks;
        line(format_args!("no clean version: {}; {used} of {all} blocks", method(blind.method).1));
        line(format_args!("strength is known to {:.0} %", 100.0 * blind.bound));
        if blind.held > 1 {
            line(format_args!("each picture and its grain stay for {} frames", blind.held));
        }
    }
    if let Some(doubt) = &fitted.doubt {
        line(format_args!("not certain: {doubt}"));
    }
    for p in &fitted.matched.planes {
        line(format_args!(""));
        line(format_args!("{}  brightness      samples    plate    match", p.name));
        for at in &p.points {
            let few = if at.counts { "" } else { "   too few samples" };
            line(format_args!(
                "{:>14.0} {:>12.0} {:>8.2} {:>8.2}{few}",
                at.brightness, at.samples, at.plate, at.rendered
            ));
        }
        if p.points.iter().all(|p| !p.counts) {
            line(format_args!("   too few samples to tell how near the match is"));
            continue;
        }
        line(format_args!(
            "   strength off by {:.1} % rms, {:.1} % at worst; spectrum off by {:.2} dB rms",
            100.0 * p.strength_rms,
            100.0 * p.strength_worst,
            p.spectrum_db
        ));
        let pair = |what: &str, [plate, rendered]: [f64; 2], unit: &str| {
            format!("   {what:<34}{plate:>8.2}{unit} {rendered:>8.2}{unit}")
        };
        line(format_args!("{}", pair("finer across than down", p.aspect_db, " dB")));
        line(format_args!("{}", pair("correlation with the frame before", p.temporal, "")));
        if p.name != "y" && p.name != "g" {
            let other = if matches!(p.name, "u" | "v") {
                "correlation with luma"
            } else {
                "correlation with the plane before"
            };
            line(format_args!("{}", pair(other, p.channel, "")));
        }
        if !matches!(p.name, "u" | "v") {
            line(format_args!("{}", pair("skew, by the slope of strength", p.skew, "")));
        }
        line(format_args!("{}", pair("excess kurtosis", p.kurtosis, "")));
    }
    if let Some(kept) = &fitted.kept {
        let (count, side) = (kept.plate.count(), kept.plate.side());
        line(format_args!(""));
        line(format_args!("kept {count} patches of {side}x{side} samples of the plate's own grain"));
    }
    if let Some(chain) = &fitted.chain {
        line(format_args!(""));
        line(format_args!("-f {chain}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_four_numbers() {
        assert_eq!(area("1, 2,30,40"), Ok(Area { x: 1, y: 2, width: 30, height: 40 }));
        for bad in ["", "1,2,3", "1,2,0,4", "1,2,3,4,5", "-1,2,3,4", "1,2,3,99999999"] {
            assert!(area(bad).is_err(), "{bad}");
        }
    }
}
