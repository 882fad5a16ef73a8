//! The filters for a host.

use super::{Argument, HostError, chain_text, guarded};
use grainfield_filters::recipe::Recipe;
use grainfield_filters::settings::{Kind, Value};
use std::path::Path;

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
        let recipe = text.parse::<Recipe>().map_err(|e| HostError::of(&e))?;
        Look { recipe }.read()
    }

    /// Reads a recipe file, or a built-in recipe by its name, as for `--recipe`.
    ///
    /// # Errors
    /// The file, or one that it names, cannot be read or is invalid.
    pub fn of_file(path: &Path) -> Result<Look, HostError> {
        let recipe = grainfield::session::recipe(path).map_err(|e| HostError::of(&e))?;
        Look { recipe }.read()
    }

    /// One filter, by name, with its arguments.
    ///
    /// # Errors
    /// There is no such filter or setting, a value is invalid, or a file that it names cannot be read.
    pub fn of_filter(name: &str, arguments: &[Argument]) -> Result<Look, HostError> {
        Look::of_chain(&chain_text(name, arguments))
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

    fn read(mut self) -> Result<Look, HostError> {
        guarded(|| {
            grainfield::assets::attach(&mut self.recipe).map_err(|e| HostError::of(&e))?;
            grainfield::session::job::load_files(&mut self.recipe).map_err(|e| HostError::of(&e))?;
            Ok(self)
        })
    }
}
