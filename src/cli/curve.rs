//! `curve`: fitting, describing and drawing curves.

use super::exit::{Exit, Failure, with_causes};
use super::values::{Keywords, check_png};
use super::{eprintln_quietly, print};
use clap::{Args, Subcommand};
use grainfield_filters::curve::fit::{FitShape, Sample, deviation, fit};
use grainfield_filters::curve::{Curve, KeyTime};
use grainfield_filters::ratio::Ratio;
use grainfield_io::disk::{FileAccess, FileRef, OutputFile};
use grainfield_render::analyze::plot::{MAX_TRACKS, Track, short, tracks};
use grainfield_render::assets::{self, Table, open_tracks};
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

pub(super) const EXAMPLES: &str = "\
Examples:
  A tracker's export as keyframe strings, at most half a pixel off:
    grainfield curve fit track.csv --error 0.5
  The same as a track file, for strength=@tracks.gfa#x in a recipe:
    grainfield curve fit track.csv tracks.gfa --error 0.5 --shape hermite
  Print and plot its contents:
    grainfield curve info tracks.gfa
    grainfield curve plot track.csv track.png --error 0.5
    grainfield curve plot '0~=0;48~=12;96=4' curve.png";

const SHAPES: Keywords<FitShape> = Keywords(&[
    ("linear", FitShape::Linear, "Straight lines"),
    ("smooth", FitShape::Smooth, "Smooth, without overshooting the keys"),
    (
        "hermite",
        FitShape::Hermite,
        "Cubics with a slope at each key; needs the fewest keys for most camera paths",
    ),
    ("bezier", FitShape::Bezier, "Cubics with two handles, as in animation programs"),
]);

/// `curve`.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, subcommand_value_name = "WHAT")]
pub(super) struct Curves {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Fit curves with few keys to samples
    ///
    /// Prints a keyframe string and the number of keys for each track, or writes OUT according to its name: a track
    /// file (.gfa), TOML (.toml) or Lottie keyframe lists (.json). No sample is farther from its curve than --error.
    #[command(after_long_help = EXAMPLES)]
    Fit(Fit),
    /// Describe a track file, a file of curves or a keyframe string
    Info(Info),
    /// Draw samples, keys and the error as a PNG image
    #[command(after_long_help = EXAMPLES)]
    Plot(Plot),
}

#[derive(Args, Debug)]
struct FitArgs {
    /// Largest distance of a sample from its curve
    ///
    /// In the unit of the samples. Default: a thousandth of the range of the track's values.
    #[arg(long, value_name = "E", value_parser = bound, allow_hyphen_values = true)]
    error: Option<f64>,
    /// Shape between keys [default: smooth; in a .json hermite]
    ///
    /// Lottie keys need handles, which smooth curves do not have.
    #[arg(long, value_name = "SHAPE", value_parser = SHAPES)]
    shape: Option<FitShape>,
    /// Only this track; may be repeated
    #[arg(long, value_name = "NAME")]
    track: Vec<String>,
    /// Frames per second, for Lottie keys between frames
    #[arg(long, value_name = "R", value_parser = super::values::rate, allow_hyphen_values = true)]
    rate: Option<Ratio>,
}

#[derive(Args, Debug)]
struct Fit {
    /// Samples in CSV or JSON, `-` for standard input
    ///
    /// CSV: a column frame (or time, in seconds) and one for each track, or the columns frame,name,value. JSON:
    /// {"x": [0.5, 0.75]}, {"x": [[0, 0.5], [8, 0.75]]} or [{"frame": 0, "x": 0.5}]. A Lottie animation gives the tracks
    /// NAME.x, NAME.y, NAME.scale, NAME.rotation and NAME.opacity of each layer.
    input: OsString,
    /// NAME.gfa, NAME.toml or NAME.json [default: keyframe strings on standard output]
    output: Option<OsString>,
    #[command(flatten)]
    fit: FitArgs,
    /// Spacing of a track file's jump frames, in the keys' unit
    ///
    /// More jump frames make seeking quicker and the file larger. 'curve info FILE.gfa --jumps N -o OUT.gfa' changes it
    /// later.
    #[arg(long, value_name = "N", value_parser = super::values::positive, default_value = "1000")]
    jumps: Ratio,
    /// Replace the output if it exists
    #[arg(short = 'y', long = "overwrite")]
    overwrite: bool,
}

#[derive(Args, Debug)]
struct Info {
    /// A .gfa file, a .json keyframe list, or a keyframe string such as '0=0;48~=12'
    curve: OsString,
    /// Print this track's keyframe string
    #[arg(long, value_name = "NAME")]
    track: Option<String>,
    /// Copy the .gfa file to OUT (-o) with this spacing of jump frames
    #[arg(long, value_name = "N", value_parser = super::values::positive, requires = "output")]
    jumps: Option<Ratio>,
    /// Where the copy goes
    #[arg(short = 'o', long, value_name = "OUT.gfa", requires = "jumps")]
    output: Option<OsString>,
    /// Replace the copy if it exists
    #[arg(short = 'y', long = "overwrite")]
    overwrite: bool,
}

#[derive(Args, Debug)]
struct Plot {
    /// Samples (CSV or JSON) to fit, a .gfa file, a .json keyframe list, or a keyframe string
    input: OsString,
    /// The image to write
    output: OsString,
    #[command(flatten)]
    fit: FitArgs,
    /// Replace the image if it exists
    #[arg(short = 'y', long = "overwrite")]
    overwrite: bool,
}

fn bound(text: &str) -> Result<f64, String> {
    let good = text.parse().ok().filter(|e: &f64| (0.0..=1e100).contains(e));
    good.ok_or_else(|| "an error bound is a number, 0 or more: 0.5".to_owned())
}

/// Refuses to write a file that is read; without an output, standard output is written.
fn check_overwrite(input: &OsStr, output: Option<&OsStr>) -> Result<(), Failure> {
    let place = |name: &OsStr| FileRef::Path(name.into());
    let mut access = FileAccess::default();
    access.read("the input", if input == "-" { FileRef::Stdin } else { place(input) });
    access.write(
        "the output",
        output.map_or(FileRef::Stdout, |o| if o == "-" { FileRef::Stdout } else { place(o) }),
    );
    Ok(access.check()?)
}

pub(super) fn run(typed: Curves) -> Result<Exit, Failure> {
    print(match typed.what {
        What::Fit(typed) => run_fit(&typed)?,
        What::Info(typed) => run_info(&typed)?,
        What::Plot(typed) => run_plot(&typed)?,
    })
}

fn read(input: &OsStr) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    // One byte more than the limit, to detect files that are too long.
    let limit = (256 << 20) + 1;
    let done = if input == "-" {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(input).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    done.map_err(|e| Failure::failed(format!("{}: {e}", input.to_string_lossy())))?;
    Ok(bytes)
}

/// The samples of the selected tracks of a file.
fn samples(input: &OsStr, wanted: &[String]) -> Result<Table, Failure> {
    let name = input.to_string_lossy();
    let mut table =
        assets::read_samples(&read(input)?).map_err(|e| Failure::failed(format!("{name}: {e}")))?;
    for track in wanted {
        if !table.iter().any(|t| t.0 == *track) {
            return Err(no_track(&name, track, table.iter().map(|t| t.0.as_str())));
        }
    }
    table.retain(|t| wanted.is_empty() || wanted.contains(&t.0));
    Ok(table)
}

/// The curve through the samples of a track; `shape` is the default.
fn fitted(name: &str, samples: Vec<Sample>, args: &FitArgs, shape: FitShape) -> Result<Track, Failure> {
    let low = samples.iter().map(|s| s.1).fold(f64::INFINITY, f64::min);
    let high = samples.iter().map(|s| s.1).fold(f64::NEG_INFINITY, f64::max);
    let bound = args.error.unwrap_or((high - low) / 1000.0);
    let curve = fit(&samples, args.shape.unwrap_or(shape), bound)
        .map_err(|e| Failure::failed(format!("track '{name}': {e}")))?;
    let far = deviation(&curve, &samples).map_or(0.0, |d| d.1);
    let worst = format!("largest error {} (bound {})", short(far), short(bound));
    let legend = format!("{name}: {} keys for {} samples, {worst}", curve.keys().len(), samples.len());
    Ok(Track { legend, samples, curve, bound })
}

fn extension(name: &OsStr) -> String {
    Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase()
}

fn run_fit(typed: &Fit) -> Result<String, Failure> {
    let kind = typed.output.as_deref().map(|o| (o, extension(o)));
    if let Some((name, kind)) = &kind
        && !["gfa", "toml", "json"].contains(&kind.as_str())
    {
        return Err(Failure::usage(format!(
            "{}: name the output NAME.gfa (track file), NAME.toml or NAME.json (Lottie)",
            name.to_string_lossy()
        )));
    }
    check_overwrite(&typed.input, typed.output.as_deref())?;
    let lottie = kind.as_ref().is_some_and(|(_, kind)| kind == "json");
    let shape = if lottie { FitShape::Hermite } else { FitShape::Smooth };
    let (mut curves, mut legends) = (Vec::new(), Vec::new());
    for (name, samples) in samples(&typed.input, &typed.fit.track)? {
        let track = fitted(&name, samples, &typed.fit, shape)?;
        curves.push((name, track.curve));
        legends.push(track.legend);
    }
    legends.iter().for_each(|legend| eprintln_quietly(legend));
    let Some((output, kind)) = kind else {
        // A single track is printed as a value that can be pasted.
        return Ok(match &curves[..] {
            [(_, curve)] => format!("{curve}\n"),
            all => all.iter().map(|(name, curve)| format!("{name}: {curve}\n")).collect(),
        });
    };
    let text = match kind.as_str() {
        "gfa" => {
            assets::write(output, typed.overwrite, &curves, typed.jumps)?;
            return Ok(String::new());
        }
        "toml" => {
            let name = |name: &str| name.replace('\\', "\\\\").replace('"', "\\\"");
            curves.iter().map(|(n, curve)| format!("\"{}\" = \"{curve}\"\n", name(n))).collect()
        }
        _ => {
            let mut map = serde_json::Map::new();
            for (name, curve) in curves {
                let list = assets::to_lottie(&curve).map_err(|e| {
                    Failure::usage(format!(
                        "track '{name}': {e}; --shape bezier, hermite and linear have handles"
                    ))
                })?;
                map.insert(name, list);
            }
            format!("{:#}\n", serde_json::Value::Object(map))
        }
    };
    put(output, typed.overwrite, text.as_bytes())?;
    Ok(String::new())
}

fn put(output: &OsStr, overwrite: bool, bytes: &[u8]) -> Result<(), Failure> {
    let mut file = OutputFile::create(output, overwrite)?;
    file.put(bytes)?;
    Ok(file.finish()?)
}

/// Curves by name, from a file or a keyframe string.
fn curves(input: &OsStr, rate: Option<Ratio>) -> Result<Vec<(String, Curve)>, Failure> {
    let text = input.to_string_lossy();
    match extension(input).as_str() {
        "gfa" => {
            let file = open_tracks(Path::new(input)).map_err(|e| named(&text, e))?;
            let all = file.names().iter().map(|name| {
                let curve = file.curve(name).map_err(|e| named(&text, e))?;
                Ok((name.clone(), curve.ok_or_else(|| Failure::usage("there is no such track"))?))
            });
            all.take(64).collect()
        }
        "json" => {
            let bytes = read(input)?;
            let json = String::from_utf8(bytes)
                .map_err(|_| Failure::usage(format!("{text}: it is not UTF-8 text")))?;
            assets::lottie(&json, "value", rate).map_err(|e| named(&text, e))
        }
        _ if text.contains('=') => match text.parse::<Curve>() {
            Ok(curve) => Ok(vec![("curve".into(), curve)]),
            Err(e) => {
                let at = text.get(..e.at.start).map_or(0, |t| t.chars().count());
                Err(Failure::usage(format!("{e}\n  {text}\n  {}^", " ".repeat(at))))
            }
        },
        _ => match assets::one(Path::new(input), None) {
            Ok(curve) => Ok(vec![("curve".into(), curve)]),
            Err(e) => Err(named(&text, e)),
        },
    }
}

fn no_track<'a>(name: &str, track: &str, names: impl Iterator<Item = &'a str>) -> Failure {
    Failure::usage(format!("{name}: {}", assets::no_track(track, names)))
}

fn named(name: &str, e: impl Error + 'static) -> Failure {
    let text = with_causes(&e);
    Failure::failed(if text.starts_with(name) { text } else { format!("{name}: {text}") })
}

fn about(name: &str, curve: &Curve) -> String {
    let keys = curve.keys();
    let (first, last) = (keys.first().map(|k| k.at), keys.last().map(|k| k.at));
    let low = keys.iter().map(|k| k.value).fold(f64::INFINITY, f64::min);
    let high = keys.iter().map(|k| k.value).fold(f64::NEG_INFINITY, f64::max);
    let span = match (first, last) {
        (Some(a), Some(b)) if a != b => format!("{a} to {b}"),
        (Some(a), _) => format!("at {a}"),
        _ => String::new(),
    };
    let rules = match (curve.before().name(), curve.after().name()) {
        ("hold", "hold") => String::new(),
        (before, after) => format!(", {before} before, {after} after"),
    };
    let s = if keys.len() == 1 { "" } else { "s" };
    format!("{name}: {} key{s}, {span}, values {} to {}{rules}\n", keys.len(), short(low), short(high))
}

fn run_info(typed: &Info) -> Result<String, Failure> {
    check_overwrite(&typed.curve, typed.output.as_deref())?;
    let name = typed.curve.to_string_lossy();
    if extension(&typed.curve) != "gfa" {
        if typed.jumps.is_some() {
            return Err(Failure::usage(format!("{name}: only a .gfa file has jump frames")));
        }
        let all = curves(&typed.curve, None)?;
        let wanted = |t: &&(String, Curve)| typed.track.as_ref().is_none_or(|w| *w == t.0);
        let text: String = all
            .iter()
            .filter(wanted)
            .map(|(n, c)| if typed.track.is_some() { format!("{c}\n") } else { about(n, c) })
            .collect();
        return if text.is_empty() {
            Err(no_track(&name, typed.track.as_deref().unwrap_or_default(), all.iter().map(|t| t.0.as_str())))
        } else {
            Ok(text)
        };
    }
    let file = open_tracks(Path::new(&typed.curve)).map_err(|e| named(&name, e))?;
    if let (Some(every), Some(output)) = (typed.jumps, &typed.output) {
        assets::reindex(&file, every, output, typed.overwrite)?;
        return Ok(String::new());
    }
    if let Some(track) = &typed.track {
        return match file.curve(track).map_err(|e| named(&name, e))? {
            Some(curve) => Ok(format!("{curve}\n")),
            None => Err(no_track(&name, track, file.names().iter().map(String::as_str))),
        };
    }
    let (size, unpacked) = file.verify().map_err(|e| named(&name, e))?;
    let mut text = format!("{name}\n");
    let unit = if file.in_seconds() { "seconds" } else { "frames" };
    let _ = writeln!(text, "  tracks       {}, keys in {unit}", file.tracks());
    let _ = writeln!(text, "  keys         {}", file.keys());
    let _ = writeln!(text, "  jump frames  {}", file.jumps());
    let ratio = unpacked as f64 / size.max(1) as f64;
    let _ = writeln!(text, "  size         {size} bytes, {unpacked} unpacked ({ratio:.1} to 1)");
    let names = file.names();
    let shown: Vec<String> = names.iter().take(40).map(|n| n.escape_debug().to_string()).collect();
    let more = if names.len() > 40 { format!(", and {} more", names.len() - 40) } else { String::new() };
    let _ = writeln!(text, "  names        {}{more}", shown.join(", "));
    Ok(text)
}

fn run_plot(typed: &Plot) -> Result<String, Failure> {
    check_png("", &typed.output, "the plot")?;
    check_overwrite(&typed.input, Some(&typed.output))?;
    let text = typed.input.to_string_lossy();
    let kind = extension(&typed.input);
    // A keyframe string or a track file holds curves; CSV and the other JSON hold samples.
    let is_curve = kind == "gfa" || (kind != "csv" && text.contains('='));
    let mut all: Vec<Track> = Vec::new();
    let found = if is_curve {
        curves(&typed.input, typed.fit.rate)
    } else {
        match samples(&typed.input, &typed.fit.track) {
            Ok(table) => {
                for (name, samples) in table.into_iter().take(MAX_TRACKS) {
                    all.push(fitted(&name, samples, &typed.fit, FitShape::Smooth)?);
                }
                Ok(Vec::new())
            }
            // A keyframe list is JSON, too.
            Err(fault) if kind == "json" => curves(&typed.input, typed.fit.rate).map_err(|_| fault),
            Err(fault) => Err(fault),
        }
    };
    for (name, curve) in found?.into_iter().take(MAX_TRACKS) {
        if typed.fit.track.is_empty() || typed.fit.track.contains(&name) {
            if curve.keys().iter().any(|k| matches!(k.at, KeyTime::Frame(..0) | KeyTime::Percent(_))) {
                return Err(Failure::usage(
                    "a plot cannot show keys in percent or counted from the end: write the frame number",
                ));
            }
            let legend = about(&name, &curve).trim_end().to_owned();
            all.push(Track { legend, samples: Vec::new(), curve, bound: 0.0 });
        }
    }
    if all.is_empty() {
        return Err(Failure::usage(format!("{text}: it has no such track")));
    }
    put(&typed.output, typed.overwrite, &tracks(&all)?)?;
    Ok(String::new())
}
