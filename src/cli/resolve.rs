//! The conversion of arguments to a [`Request`], including the recipe file and the environment.

use super::args::{
    CommonArgs, EncodingArgs, FilterArgs, Frame, FrameArgs, Hash, Render, ResumeArgs, ShardArgs, SourceArgs,
    SpanArgs,
};
use super::config::Config;
use super::exit::Failure;
use super::looks::{self, Look};
use grainfield_filters::curve::Animate;
use grainfield_filters::frame::Spans;
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::{Problem, Recipe, RecipeError};
use grainfield_filters::settings::{Animated, Value};
use grainfield_filters::simd::{Isa, IsaError, Level};
use grainfield_io::disk::FileAccess;
use grainfield_io::format::Formats;
use grainfield_io::journal::resume::Resume;
use grainfield_io::journal::segments::DEFAULT_FRAMES;
use grainfield_io::journal::shard::Shard;
use grainfield_io::sink::encoding::Audio;
use grainfield_io::sink::{Encoding, Files, Output};
use grainfield_io::source;
use grainfield_render::assets::load_grain_table;
use grainfield_render::session;
use grainfield_render::session::job::{Cache, OnError, Request};
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::path::PathBuf;

/// The environment variable that lowers the level.
const LEVEL_VARIABLE: &str = "GRAINFIELD_LEVEL";

/// The environment variable that names the cache folder.
const CACHE_VARIABLE: &str = "GRAINFIELD_CACHE";

/// Advice for a filter that does not exist here.
fn elsewhere(error: &RecipeError) -> String {
    match &error.parts().problem {
        Problem::UnknownFilter(name) if error.parts().hint.is_none() => {
            if let Some(way) = in_ffmpeg(name) {
                return format!("\n  FFmpeg has a filter of that name, which runs {way}");
            }
            "\n  'grainfield filters' lists the filters".to_owned()
        }
        _ => String::new(),
    }
}

/// How FFmpeg's filter of this name runs, if there is one.
#[cfg(feature = "ffmpeg")]
fn in_ffmpeg(name: &str) -> Option<String> {
    use grainfield_io::libav::{has_filter, is_frame_by_frame};
    has_filter(name).then(|| match is_frame_by_frame(name) {
        true => format!("at any place of the chain: -f \"lavfi='{name}=...'\""),
        false => format!("before the filters of -f: --lavfi {name}=..."),
    })
}

#[cfg(not(feature = "ffmpeg"))]
fn in_ffmpeg(_: &str) -> Option<String> {
    None
}

/// Filters that change nothing, because the settings that do are not given.
fn idle(recipe: &Recipe) -> Vec<String> {
    let idle = recipe.steps.iter().filter(|step| match step.filter.name {
        "fade" => step.values.given("amount").is_none(),
        "overlay" => step.values.given("file").is_none(),
        "levels" | "color" | "transform" | "crop" | "pad" | "lut" | "lavfi" => {
            step.values.iter_given().next().is_none()
        }
        _ => false,
    });
    idle.map(|step| {
        let name = step.filter.name;
        format!("{name} changes nothing with these settings; 'grainfield filters {name}' lists them")
    })
    .collect()
}

/// Curves of one key, which are constant: often the shell has cut a longer one at `;`.
fn constant_curves(recipe: &Recipe) -> Vec<String> {
    fn lone<T: Animate>(value: &Animated<T>) -> bool {
        matches!(value, Animated::Curve(curve) if curve.keys().len() == 1)
    }
    let mut notes = Vec::new();
    for step in &recipe.steps {
        for setting in step.values.settings() {
            let single = match step.values.given(setting.id) {
                Some(Value::Number(v)) => lone(v),
                Some(Value::Position(v)) => lone(v),
                Some(Value::Colour(v)) => lone(v),
                _ => false,
            };
            if single {
                notes.push(format!(
                    "{}: {} is a curve with one key, so it never changes. If you typed more keys, put the whole \
                        chain in double quotes: ';' ends a shell command",
                    step.filter.name, setting.id
                ));
            }
        }
    }
    notes
}

/// The environment of the program.
#[derive(Clone, Debug)]
pub(super) struct Environment {
    pub(super) config: Config,
    pub(super) level: Option<OsString>,
    /// The default cache folder.
    pub(super) cache: Option<PathBuf>,
    pub(super) stdin_is_terminal: bool,
    pub(super) stdout_is_terminal: bool,
}

impl Environment {
    pub(super) fn look(config: Config) -> Environment {
        Environment {
            cache: std::env::var_os(CACHE_VARIABLE)
                .filter(|v| !v.is_empty())
                .map(PathBuf::from)
                .or_else(|| config.cache())
                .or_else(grainfield_io::disk::cache::default_folder),
            level: std::env::var_os(LEVEL_VARIABLE).filter(|v| !v.is_empty()),
            config,
            stdin_is_terminal: io::stdin().is_terminal(),
            stdout_is_terminal: io::stdout().is_terminal(),
        }
    }
}

/// A request, and notes about the options.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) request: Request,
    pub(super) notes: Vec<String>,
    /// The configuration and the looks, for `--verbose`.
    pub(super) details: Vec<String>,
}

pub(super) fn render(typed: Render, environment: &Environment) -> Result<Resolved, Failure> {
    let Render { input, output, overwrite, filters, span, shard, resume, encoding, common } = typed;
    let mut resolved = request(input, output, overwrite, filters, Some(span), common, environment)?;
    if let Some(table) = &encoding.film_grain_table {
        resolved.request.beside.read("the film grain table", table.clone());
    }
    resolved.request.encoding = encoding_of(encoding)?;
    resolved.request.shard = shard_of(&shard)?;
    let ResumeArgs { resume, verify, segments, segment_frames } = resume;
    resolved.request.resume = match (resume, verify) {
        (false, _) => Resume::No,
        (true, false) => Resume::Trust,
        (true, true) => Resume::Verify,
    };
    let segments = segments || segment_frames.is_some();
    resolved.request.segments = segments.then(|| segment_frames.unwrap_or(DEFAULT_FRAMES));
    Ok(resolved)
}

pub(super) fn hash(typed: Hash, environment: &Environment) -> Result<Resolved, Failure> {
    let Hash { input, filters, span, shard, common } = typed;
    let mut resolved = request(input, "hash:".into(), false, filters, Some(span), common, environment)?;
    resolved.request.shard = shard_of(&shard)?;
    Ok(resolved)
}

/// The environment is read only for `auto`.
pub(super) fn shard_of(typed: &ShardArgs) -> Result<Option<Shard>, Failure> {
    let shard = typed.shard.map(|choice| choice.resolve(|name| std::env::var_os(name))).transpose();
    shard.map_err(|error| Failure::usage(format!("--shard: {error}")))
}

pub(super) fn frame(typed: Frame, environment: &Environment) -> Result<Resolved, Failure> {
    let Frame { input, number, output, overwrite, filters, errors, common } = typed;
    let frames = FrameArgs { frames: Some(number), ..FrameArgs::default() };
    let span = SpanArgs { frames, errors };
    request(input, output, overwrite, filters, Some(span), common, environment)
}

fn encoding_of(typed: EncodingArgs) -> Result<Encoding, Failure> {
    let film_grain = typed.film_grain_table.map(|path| load_grain_table(&path)).transpose()?;
    if matches!(typed.audio, Audio::Copy | Audio::None)
        && (typed.audio_codec.is_some() || typed.audio_bitrate.is_some())
    {
        return Err(Failure::usage(
            "--audio-codec and --audio-bitrate encode sound, but --audio says that it is not encoded",
        ));
    }
    Ok(Encoding {
        codec: typed.codec,
        options: typed.codec_opt,
        crf: typed.crf,
        preset: typed.preset,
        bitrate: typed.bitrate,
        lossless: typed.lossless,
        film_grain: film_grain.map(|(table, _)| table.into()),
        audio: typed.audio,
        audio_codec: typed.audio_codec,
        audio_bitrate: typed.audio_bitrate,
        tag: typed.tag,
        two_pass: typed.two_pass,
        pass: None,
        subs: typed.subs,
        no_chapters: typed.no_chapters,
        repeatable: false,
    })
}

/// Whether frames, or lines for them, go to standard output.
pub(super) fn prints(output: &OsStr) -> bool {
    let files = Output::parse(output, Formats::default()).map(|output| output.files());
    matches!(files, Ok(Files::Stream(name)) if name.is_empty() || name == "-")
}

/// How `probe` opens its input.
pub(super) fn source_options(typed: &SourceArgs, environment: &Environment) -> source::Options {
    let cache = Cache { folder: cache_folder(None, environment), limit: None };
    source::Options {
        rate: typed.rate,
        missing: typed.missing,
        allow_protocol: typed.allow_protocol.clone(),
        raw: typed.raw.clone(),
        lavfi: typed.lavfi.clone(),
        cache: cache.open(),
        ..source::Options::default()
    }
}

/// Refuses to read a video from a terminal.
pub(super) fn check_input(input: &OsStr, environment: &Environment) -> Result<(), Failure> {
    if input == "-" && environment.stdin_is_terminal {
        return Err(Failure::usage(
            "'-' reads from standard input, which is a terminal: pipe a video into it, or name a file",
        ));
    }
    Ok(())
}

pub(super) fn request(
    input: OsString,
    output: OsString,
    overwrite: bool,
    filters: FilterArgs,
    span: Option<SpanArgs>,
    common: CommonArgs,
    environment: &Environment,
) -> Result<Resolved, Failure> {
    let CommonArgs { source, frame_offset, picture, machine, report: _ } = common;
    let (level, mut notes) = level(machine.level, environment.level.as_deref())?;
    let mut details: Vec<String> = environment.config.about.iter().cloned().collect();
    let mut beside = FileAccess::default();
    let recipe = recipe(&filters, environment, &mut beside, &mut details)?;
    notes.extend(constant_curves(&recipe));
    notes.extend(idle(&recipe));
    check_input(&input, environment)?;
    if output != "hash:" && environment.stdout_is_terminal && prints(&output) {
        return Err(Failure::usage(format!(
            "'{}' writes to standard output, which is a terminal: pipe it into a program, or name a file",
            output.display()
        )));
    }
    let (frames, on_error) = match span {
        Some(span) => (frames(&span.frames)?, span.errors.on_error),
        None => (None, OnError::Stop),
    };
    let request = Request {
        recipe,
        frames,
        frame_offset,
        rate: source.rate,
        threads: machine.threads.map(usize::from),
        memory: machine.memory,
        level: Some(level.isa()),
        fields: picture.fields,
        overwrite,
        pix_fmt: picture.pix_fmt,
        matrix: picture.matrix,
        range: picture.range,
        transfer: picture.transfer.unwrap_or_default(),
        missing: source.missing,
        allow_protocol: source.allow_protocol,
        raw: source.raw,
        lavfi: source.lavfi,
        on_error,
        strict: picture.strict,
        cache: Cache { folder: cache_folder(machine.cache, environment), limit: machine.cache_limit },
        beside,
        ..Request::new(input, output)
    };
    Ok(Resolved { request, notes, details })
}

/// The requested frames, by numbers or times.
pub(super) fn frames(typed: &FrameArgs) -> Result<Option<Spans>, Failure> {
    let end = typed.end.or(typed.duration.map(|duration| typed.start.unwrap_or(Ratio::ZERO) + duration));
    if typed.start.is_none() && end.is_none() {
        return Ok(typed.frames.clone());
    }
    if end.is_some_and(|end| end <= typed.start.unwrap_or(Ratio::ZERO)) {
        return Err(Failure::usage("the end (-to, or -t) must be later than the start"));
    }
    Ok(Some(Spans::between(typed.start, end)))
}

/// The filters of the recipes, then those of each `-f` in order. The last given seed is used.
fn recipe(
    typed: &FilterArgs,
    environment: &Environment,
    beside: &mut FileAccess,
    details: &mut Vec<String>,
) -> Result<Recipe, Failure> {
    let mut recipe = Recipe::default();
    for typed in &typed.recipe {
        let (path, is_file) = match looks::find(typed, environment.config.folder.as_deref())? {
            Look::BuiltIn(name) => (PathBuf::from(name), false),
            Look::File(path) => (path, true),
        };
        recipe.append(session::recipe(&path).map_err(|e| match e {
            session::Error::Recipe(e) => Failure::usage(format!("{e}{}", elsewhere(&e))),
            e => e.into(),
        })?);
        details.push(format!("{}recipe {}", if is_file { "" } else { "built-in " }, path.display()));
        if is_file {
            beside.read("the recipe", path);
        }
    }
    for chain in &typed.chain {
        let more = chain.parse::<Recipe>();
        recipe.append(more.map_err(|e| Failure::usage(format!("in -f: {e}{}", elsewhere(&e))))?);
    }
    recipe.seed = typed.seed.or(recipe.seed);
    if typed.draft {
        recipe.draft();
    }
    grainfield_render::assets::attach(&mut recipe)?;
    Ok(recipe)
}

/// The cache folder: as typed, else from the environment; `none` is no folder.
pub(super) fn cache_folder(typed: Option<PathBuf>, environment: &Environment) -> Option<PathBuf> {
    typed.or_else(|| environment.cache.clone()).filter(|folder| folder.as_os_str() != "none")
}

/// The lowest of the machine's level, `--level` and the environment variable.
fn level(typed: Option<Isa>, variable: Option<&OsStr>) -> Result<(Level, Vec<String>), Failure> {
    let best = Level::best();
    let mut level = best;
    let mut notes = Vec::new();
    if let Some(isa) = typed {
        match Level::of(isa) {
            Some(l) => level = level.min(l),
            None => notes.push(format!("this machine does not support {isa}: using {best}")),
        }
    }
    if let Some(value) = variable {
        let isa = value.to_str().and_then(|v| v.parse::<Isa>().ok());
        let isa = isa.ok_or_else(|| {
            Failure::usage(format!("{LEVEL_VARIABLE}={}: {IsaError}", value.to_string_lossy()))
        })?;
        level = Level::of(isa).map_or(level, |l| level.min(l));
    }
    Ok((level, notes))
}

#[cfg(test)]
mod tests {
    use super::super::commands::{Cli, Command};
    use super::super::exit::Exit;
    use super::*;
    use clap::Parser;
    use grainfield_filters::frame::ColorRange;
    use grainfield_filters::recipe::MAX_TEXT;

    fn pipes() -> Environment {
        Environment {
            config: Config::default(),
            cache: None,
            level: None,
            stdin_is_terminal: false,
            stdout_is_terminal: false,
        }
    }

    fn resolve(line: &str, environment: &Environment) -> Result<Resolved, Failure> {
        let words = std::iter::once("grainfield").chain(line.split_whitespace());
        match Cli::try_parse_from(words).unwrap().command {
            Command::Render(r) => render(*r, environment),
            Command::Hash(h) => hash(h, environment),
            Command::Frame(f) => frame(f, environment),
            other => panic!("{other:?}"),
        }
    }

    fn request_of(line: &str) -> Request {
        resolve(line, &pipes()).unwrap().request
    }

    #[test]
    fn defaults() {
        let r = request_of("render in.y4m out.y4m");
        assert_eq!(
            (r.input.as_os_str(), r.output.as_os_str()),
            (OsStr::new("in.y4m"), OsStr::new("out.y4m"))
        );
        assert!(r.recipe.steps.is_empty() && r.frames.is_none() && !r.overwrite && !r.strict);
        assert_eq!((r.recipe.seed, r.frame_offset, r.threads, r.memory), (None, 0, None, None));
        assert_eq!(r.level, Some(Level::best().isa()));
        assert_eq!((r.missing, r.on_error), (source::Missing::Error, OnError::Stop));
    }

    #[test]
    fn a_draft_is_another_recipe() {
        let of = |more: &str| request_of(&format!("render a b {more} -f noise,particles=preset=rain")).recipe;
        let (whole, draft) = (of(""), of("--draft"));
        assert!(draft.canonical().contains("draft=true") && draft.key() != whole.key());
        assert_eq!(draft.steps[0].values, whole.steps[0].values);
    }

    #[test]
    fn everything_typed_arrives() {
        let r = request_of(
            "render - - --seed 0xff --frames -5--1 --frame-offset -1001 --rate 24000/1001 --threads 3 --memory 400M \
             --level scalar --fields field -y --pix-fmt yuv420p10 --matrix bt2020nc --range full --missing hold \
             --on-error skip --strict --progress none -q",
        );
        assert_eq!((r.recipe.seed, r.frame_offset), (Some(255), -1001));
        assert_eq!((r.threads, r.memory), (Some(3), Some(400_000_000)));
        let frames = r.frames.unwrap().numbers().unwrap();
        assert!(frames.contains(-5) && frames.contains(-1) && !frames.contains(0));
        assert_eq!(r.rate.map(|r| r.to_string()).as_deref(), Some("24000/1001"));
        assert_eq!(r.level, Some(Isa::Scalar));
        assert_eq!(r.fields, grainfield_render::session::job::Fields::Field);
        assert_eq!(r.pix_fmt.as_deref(), Some("yuv420p10"));
        assert_eq!(r.matrix, Some(grainfield_filters::frame::Matrix::BT2020NC));
        assert_eq!(r.range, Some(ColorRange::Full));
        assert_eq!((r.missing, r.on_error), (source::Missing::Hold, OnError::Skip));
        assert!(r.overwrite && r.strict);
    }

    #[test]
    fn ffmpegs_words_for_range_are_understood() {
        for (word, range) in
            [("tv", ColorRange::Limited), ("limited", ColorRange::Limited), ("pc", ColorRange::Full)]
        {
            assert_eq!(request_of(&format!("render a b --range {word}")).range, Some(range));
        }
    }

    #[test]
    fn the_last_seed_is_used() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("look.toml");
        std::fs::write(&path, "seed = 5").unwrap();
        let look = format!("render a b --recipe {}", path.display());
        let seed = |line: &str| request_of(line).recipe.seed;
        assert_eq!(seed("render a b"), None);
        assert_eq!(seed(&look), Some(5));
        assert_eq!(seed(&format!("{look} -f recipe=seed=6")), Some(6));
        assert_eq!(seed(&format!("{look} -f recipe=seed=6 --seed 7")), Some(7));
    }

    #[test]
    fn hash_and_frame_are_renders() {
        assert_eq!(request_of("hash in.y4m").output, "hash:");
        let r = request_of("frame in.y4m -3 out.png");
        assert_eq!(r.output, "out.png");
        let frames = r.frames.unwrap().numbers().unwrap();
        assert!(frames.contains(-3) && !frames.contains(-2) && !frames.contains(-4));
    }

    #[test]
    fn the_lower_level_is_taken() {
        let with = |typed, variable: &str| level(typed, Some(OsStr::new(variable))).map(|l| l.0);
        assert_eq!(with(None, "scalar").unwrap(), Level::SCALAR);
        assert_eq!(with(Some(Isa::Scalar), "avx512").unwrap(), Level::SCALAR);
        assert_eq!(with(Some(Isa::Avx512), "scalar").unwrap(), Level::SCALAR);
        assert_eq!(with(None, "avx512vbmi").unwrap(), Level::best());
        let wrong = with(None, "mmx").unwrap_err();
        assert!(wrong.exit == Exit::Usage && wrong.text.starts_with("GRAINFIELD_LEVEL=mmx: "), "{wrong:?}");
        let (l, notes) = level(Some(Isa::Avx512Vbmi), None).unwrap();
        assert_eq!((l, notes.is_empty()), (Level::best(), Level::of(Isa::Avx512Vbmi).is_some()));
    }

    #[test]
    fn terminals_are_no_pipes() {
        let terminal = Environment { stdin_is_terminal: true, stdout_is_terminal: true, ..pipes() };
        for (line, text) in [
            ("render - out.y4m", "'-' reads from standard input"),
            ("render in.y4m -", "'-' writes to standard output"),
        ] {
            let error = resolve(line, &terminal).unwrap_err();
            assert!(error.exit == Exit::Usage && error.text.starts_with(text), "{error:?}");
        }
        assert!(resolve("render in.y4m out.y4m", &terminal).is_ok());
        assert!(resolve("hash in.y4m", &terminal).is_ok());
    }

    #[test]
    fn recipes_that_are_none() {
        let missing = resolve("render a b --recipe /nowhere/look.toml", &pipes()).unwrap_err();
        assert_eq!(missing.exit, Exit::Failed);
        assert!(missing.text.starts_with("/nowhere/look.toml: "), "{missing:?}");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("look.toml");
        let invalid = [
            (b"\xff\xfe".to_vec(), "a recipe is UTF-8 text".to_owned()),
            (vec![b' '; MAX_TEXT + 1], format!("a recipe has at most {MAX_TEXT} bytes")),
        ];
        for (bytes, problem) in invalid {
            std::fs::write(&path, bytes).unwrap();
            let error = resolve(&format!("render a b --recipe {}", path.display()), &pipes()).unwrap_err();
            assert_eq!(error.exit, Exit::Usage);
            assert!(error.text.ends_with(&problem), "{error:?}");
        }
    }
}
