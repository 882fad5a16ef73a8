//! The filters for a host.

use super::HostError;
use grainfield_filters::frame::SecondInput;
use grainfield_filters::recipe::{Recipe, RecipeError};
use grainfield_filters::settings::{Kind, Setting, Value};
#[cfg(feature = "files")]
use std::path::Path;
use std::sync::Arc;

/// Filters in order, with the seed, and the files that they name, already read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    pub(super) recipe: Recipe,
}

impl Look {
    /// Parses a chain, as for `-f`.
    ///
    /// # Errors
    /// The text is not a chain, or a file that it names cannot be read.
    pub fn of_chain(text: &str) -> Result<Look, HostError> {
        Look::parse(text)?.read(&[])
    }

    /// Parses a chain and reads no file.
    ///
    /// # Errors
    /// The text is not a chain.
    pub fn parse(text: &str) -> Result<Look, HostError> {
        text.parse().map(Look::unread).map_err(|e: RecipeError| HostError::of(&e))
    }

    /// The filters of a recipe.
    ///
    /// # Errors
    /// A file that it names cannot be read.
    pub fn of_recipe(recipe: Recipe) -> Result<Look, HostError> {
        Look { recipe }.read(&[])
    }

    /// The filters of a recipe, of which no file is read.
    pub fn unread(recipe: Recipe) -> Look {
        Look { recipe }
    }

    /// Reads a recipe file, or a built-in recipe by its name, as for `--recipe`.
    ///
    /// # Errors
    /// The file, or one that it names, cannot be read or is invalid.
    #[cfg(feature = "files")]
    pub fn of_file(path: &Path) -> Result<Look, HostError> {
        Look::open(path)?.read(&[])
    }

    /// Reads a recipe file and none that it names.
    ///
    /// # Errors
    /// The file cannot be read or is invalid.
    #[cfg(feature = "files")]
    pub fn open(path: &Path) -> Result<Look, HostError> {
        grainfield::session::recipe(path).map(Look::unread).map_err(|e| HostError::of(&e))
    }

    /// Appends the filters of another look, whose seed, if given, replaces this one's.
    #[must_use]
    pub fn then(mut self, more: Look) -> Look {
        self.recipe.append(more.recipe);
        self
    }

    /// Sets the seed, as with `--seed`; `None` keeps that of the recipe.
    #[must_use]
    pub fn seeded(mut self, seed: Option<u64>) -> Look {
        self.recipe.seed = seed.or(self.recipe.seed);
        self
    }

    /// The recipe.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Frames of the source that settings name: the filter, the setting, and the number as given.
    pub fn source_frames(&self) -> Vec<(usize, &'static str, String)> {
        let steps = self.recipe.steps.iter().enumerate();
        let named = |(i, step): (usize, &'_ grainfield_filters::chain::Step)| {
            let all = step.values.iter_given().filter(|(s, _)| s.kind == Kind::SourceFrame);
            all.map(|(s, value)| (i, s.id, value.to_string())).collect::<Vec<_>>()
        };
        steps.flat_map(named).collect()
    }

    /// Supplies a frame of the source, in R, G and B, for one of [`source_frames`](Look::source_frames).
    ///
    /// # Errors
    /// The setting does not take the frame.
    pub fn give_source_frame(
        &mut self,
        (step, id): (usize, &str),
        frame: grainfield_filters::frame::Frame,
    ) -> Result<(), HostError> {
        let values = &mut self.recipe.steps[step].values;
        let Some(Value::Image(named)) = values.given(id) else { return Ok(()) };
        let read = Value::Image(named.clone().read(frame));
        values.set(id, read).map_err(|e| HostError::of(&e))
    }

    /// Supplies clips of the host to the settings that name them (`clip:0` is the first), and reads the files that others
    /// name.
    ///
    /// # Errors
    /// No setting names one of the clips, or a file cannot be read.
    pub fn read(mut self, clips: &[Arc<dyn SecondInput>]) -> Result<Look, HostError> {
        let mut unused: Vec<usize> = (0..clips.len()).collect();
        for step in &mut self.recipe.steps {
            let number = |(setting, value): (&Setting, &Value)| match value {
                Value::File(file) => Some((setting.id, setting.kind.clip_number(file.name())?, file.clone())),
                _ => None,
            };
            for (id, number, file) in step.iter_given().filter_map(number).collect::<Vec<_>>() {
                let Some(clip) = clips.get(number) else { continue };
                unused.retain(|n| *n != number);
                let read = Value::File(file.read(Arc::clone(clip), number as u128));
                step.set_value(id, read).map_err(|e| HostError::of(&e))?;
            }
        }
        match unused.first() {
            None => self.read_files(),
            Some(n) => Err(HostError(format!(
                "clips: no setting that takes a picture, sequence or video names clip:{n}: name it, as in \
                 grain=where=clip:{n}, or leave the clip out"
            ))),
        }
    }

    #[cfg(feature = "files")]
    fn read_files(mut self) -> Result<Look, HostError> {
        super::guarded(|| {
            grainfield::assets::attach(&mut self.recipe).map_err(|e| HostError::of(&e))?;
            grainfield::session::job::load_files(&mut self.recipe).map_err(|e| HostError::of(&e))?;
            Ok(self)
        })
    }

    #[cfg(not(feature = "files"))]
    fn read_files(self) -> Result<Look, HostError> {
        let file = self.files().into_iter().next();
        file.map_or(Ok(self), |(_, id, name)| Err(HostError(format!("{id}={name}: there are no files here"))))
    }

    /// The files that settings name: the filter, the setting, and the name.
    pub fn files(&self) -> Vec<(usize, &'static str, String)> {
        let mut all: Vec<_> =
            self.recipe.links.iter().map(|link| (link.step, link.setting.id, link.to_string())).collect();
        for (i, step) in self.recipe.steps.iter().enumerate() {
            for (setting, value) in step.iter_given() {
                let name = value.to_string();
                if matches!(setting.kind, Kind::Image | Kind::File(_)) && !setting.kind.is_word(&name) {
                    all.push((i, setting.id, name));
                }
            }
        }
        all
    }
}
