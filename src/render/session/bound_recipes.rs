//! Recipes bound to an open source.

use super::{Cancel, Clip, Error};
use crate::session::job::{self, JobError, Request};
use grainfield_filters::chain::{Chain, States, Workspace};
use grainfield_filters::host::lock;
use grainfield_filters::recipe::Recipe;
use std::collections::VecDeque;
use std::fs::Metadata;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// The largest number of bound recipes that are kept.
const MAX_BOUND: usize = 8;

/// The number of those that keep their workspaces: a viewer shows the source and a result in turn.
const WORKING: usize = 2;

/// A recipe bound to a source.
pub(super) struct BoundRecipe {
    key: Key,
    pub(super) chain: Chain,
    pub(super) states: States,
    /// Lent to one request at a time.
    pub(super) work: Mutex<Vec<Workspace>>,
}

/// The key of a bound recipe.
#[derive(PartialEq)]
struct Key {
    recipe: u128,
    /// Size and time of each file that it names.
    files: Vec<Option<(u64, Option<SystemTime>)>>,
}

/// The most recently used ones, newest first.
#[derive(Default)]
pub(super) struct BoundRecipes(Mutex<VecDeque<Arc<BoundRecipe>>>);

impl BoundRecipes {
    /// Returns the bound recipe, and binds it if necessary. Two simultaneous requests for the same new one
    /// may both bind it.
    pub(super) fn get(
        &self,
        clip: &Clip,
        recipe: &Recipe,
        cancel: &Cancel,
    ) -> Result<Arc<BoundRecipe>, Error> {
        let files = job::files_in_recipe(recipe);
        let stamp = |m: Metadata| (m.len(), m.modified().ok());
        let files = files.reads().map(|file| file.path()?.metadata().ok().map(stamp));
        let key = Key { recipe: recipe.key(), files: files.collect() };
        let mut bound = lock(&self.0);
        if let Some(i) = bound.iter().position(|l| l.key == key)
            && let Some(bound_recipe) = bound.remove(i)
        {
            bound.push_front(Arc::clone(&bound_recipe));
            return Ok(bound_recipe);
        }
        drop(bound);
        let bound_recipe = Arc::new(bind(clip, recipe, key, cancel)?);
        let mut bound = lock(&self.0);
        bound.truncate(MAX_BOUND - 1);
        bound.push_front(Arc::clone(&bound_recipe));
        // Of older ones the states are worth their memory, workspaces are not.
        bound.iter().skip(WORKING).for_each(|bound_recipe| lock(&bound_recipe.work).clear());
        Ok(bound_recipe)
    }
}

fn bind(clip: &Clip, recipe: &Recipe, key: Key, cancel: &Cancel) -> Result<BoundRecipe, Error> {
    let inner = clip.inner();
    let mut request = Request { recipe: recipe.clone(), cancel: cancel.clone(), ..inner.request.clone() };
    crate::assets::attach(&mut request.recipe).map_err(JobError::from)?;
    job::check_source_frames(&request)?;
    // Later frames read from it, so it does not end with this request.
    let options = inner.request.source_options(inner.request.cache.open());
    job::load(&mut request, &inner.opened, &options, &mut |number| {
        let found = clip.source_frame(number + inner.request.frame_offset, cancel)?;
        Ok::<_, Error>(found.map(|f| f.frame.clone()))
    })?;
    let options = job::chain_options(&request, &inner.opened, &inner.format)?;
    let output = request.parse_output().map_err(JobError::from)?;
    let chain = Chain::bind::<JobError>(&request.recipe.steps, inner.format, &options, |native| {
        job::target(&request, &output, native)
    })?;
    Ok(BoundRecipe { key, chain, states: States::default(), work: Mutex::default() })
}
