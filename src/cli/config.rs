//! The configuration file: defaults for options that change no samples.

use super::args::{MachineArgs, ProgressFormat, ReportArgs};
use super::exit::Failure;
use super::values::size;
use clap::ValueEnum;
use grainfield_filters::simd::Isa;
use grainfield_render::assets::read_text;
use serde::de::{Deserialize, Deserializer, Error};
use std::path::{Path, PathBuf};

/// The largest file.
const MOST: usize = 1 << 16;

/// Defaults for the options of the same names.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Settings {
    #[serde(deserialize_with = "threads")]
    threads: Option<u16>,
    #[serde(deserialize_with = "bytes")]
    memory: Option<u64>,
    #[serde(deserialize_with = "level")]
    level: Option<Isa>,
    cache: Option<PathBuf>,
    #[serde(deserialize_with = "bytes")]
    cache_limit: Option<u64>,
    #[serde(deserialize_with = "progress")]
    progress: Option<ProgressFormat>,
    quiet: bool,
    verbose: bool,
    overwrite: bool,
}

fn threads<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u16>, D::Error> {
    let threads = i64::deserialize(from)?;
    let number = u16::try_from(threads).ok().filter(|n| (1..=256).contains(n));
    number.map(Some).ok_or_else(|| D::Error::custom("threads are a number from 1 to 256"))
}

fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    size(&String::deserialize(from)?).map(Some).map_err(D::Error::custom)
}

fn level<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Isa>, D::Error> {
    String::deserialize(from)?.parse().map(Some).map_err(D::Error::custom)
}

fn progress<'de, D: Deserializer<'de>>(from: D) -> Result<Option<ProgressFormat>, D::Error> {
    let word = String::deserialize(from)?;
    let known = || ProgressFormat::value_variants().iter().filter_map(|v| v.to_possible_value());
    let names = || known().map(|v| v.get_name().to_owned()).collect::<Vec<_>>().join(", ");
    ProgressFormat::from_str(&word, false)
        .map(Some)
        .map_err(|_| D::Error::custom(format!("progress is one of {}", names())))
}

/// The configuration, and where it comes from.
#[derive(Clone, Debug, Default)]
pub(super) struct Config {
    /// The folder of the file and of the user's looks.
    pub(super) folder: Option<PathBuf>,
    settings: Settings,
    /// The file and its settings, as text.
    pub(super) about: Option<String>,
}

impl Config {
    /// Reads the file, if there is one and it is not to be ignored.
    pub(super) fn read(ignored: bool) -> Result<Config, Failure> {
        let folder = grainfield_io::disk::user_folder("XDG_CONFIG_HOME", ".config");
        let file = folder.as_ref().map(|f| f.join("config.toml")).filter(|f| !ignored && f.exists());
        let config = Config { folder, ..Config::default() };
        file.map_or(Ok(config.clone()), |file| config.with(&file))
    }

    fn with(self, file: &Path) -> Result<Config, Failure> {
        let text = read_text(file, "a configuration", MOST)?;
        let name = file.display();
        let wrong = |error: toml::de::Error| {
            Failure::usage(format!(
                "{name}: {}\n  --no-config ignores the file",
                error.to_string().trim_end()
            ))
        };
        let settings: Settings = toml::from_str(&text).map_err(wrong)?;
        if settings.quiet && settings.verbose {
            return Err(Failure::usage(format!("{name}: quiet and verbose exclude each other")));
        }
        if settings.cache.as_ref().is_some_and(|cache| !cache.is_absolute()) {
            return Err(Failure::usage(format!("{name}: cache is an absolute path, without ~")));
        }
        let all: toml::Table = toml::from_str(&text).map_err(wrong)?;
        let all: Vec<String> = all.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        Ok(Config { settings, about: Some(format!("configuration {name}: {}", all.join(", "))), ..self })
    }

    /// Whether existing outputs are replaced.
    pub(super) fn overwrites(&self) -> bool {
        self.settings.overwrite
    }

    /// The options of the machine.
    pub(super) fn machine(&self, typed: &mut MachineArgs) {
        let own = &self.settings;
        typed.threads = typed.threads.or(own.threads);
        typed.memory = typed.memory.or(own.memory);
        typed.level = typed.level.or(own.level);
        typed.cache_limit = typed.cache_limit.or(own.cache_limit);
    }

    /// The options of messages.
    pub(super) fn report(&self, typed: &mut ReportArgs) {
        typed.progress = typed.progress.or(self.settings.progress);
        if !typed.quiet && !typed.verbose {
            (typed.quiet, typed.verbose) = (self.settings.quiet, self.settings.verbose);
        }
    }

    /// The cache folder.
    pub(super) fn cache(&self) -> Option<PathBuf> {
        self.settings.cache.clone()
    }
}
