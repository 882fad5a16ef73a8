//! Reads the files that recipes name.

use super::fault::Fault;
use super::files::Roots;
use grainfield_filters::recipe::{Recipe, effect};
use grainfield_filters::settings::{FileKind, Kind, Value};
use grainfield_io::disk::FileRef;
use grainfield_render::assets::load_effect_with;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

/// Effect files as they are edited, by their names.
pub(super) type Drafts = BTreeMap<String, String>;

/// Reads the files that a recipe names, none of which may lie outside the roots; of an effect that is edited its draft.
pub(super) fn load(
    recipe: &mut Recipe,
    roots: &Roots,
    drafts: &Drafts,
) -> Result<(), (Option<(usize, String)>, Fault)> {
    let named = |step: usize, id: &str| Some((step, id.to_owned()));
    let inside = |path: &Path| roots.existing(&path.to_string_lossy()).map(drop).map_err(|e| e.text);
    for link in &recipe.links {
        roots.existing(&link.file.to_string_lossy()).map_err(|e| (named(link.step, link.setting.id), e))?;
    }
    for (i, step) in recipe.steps.iter_mut().enumerate() {
        let given: Vec<_> = step.iter_given().map(|(s, value)| (s, value.clone())).collect();
        for (setting, value) in given {
            let name = match (setting.kind, &value) {
                (Kind::Image, Value::Image(picture)) => picture.name(),
                (Kind::File(_), Value::File(file)) => file.name(),
                _ => continue,
            };
            if setting.kind.is_word(name) {
                continue;
            }
            if let Kind::File(FileKind::Clip | FileKind::Mask) = setting.kind {
                let files = grainfield_io::source::reads(OsStr::new(name));
                for file in files.iter().filter_map(FileRef::path) {
                    inside(file).map_err(|e| (named(i, setting.id), Fault::new(e)))?;
                }
                // A sequence has no file of its name.
                if files.len() > 1 {
                    continue;
                }
            }
            roots.existing(name).map_err(|e| (named(i, setting.id), e))?;
            if let (Kind::File(FileKind::Effect), Value::File(file)) = (setting.kind, &value) {
                let draft = drafts.get(name).map(String::as_str);
                let at = |e: &dyn std::fmt::Display| (named(i, setting.id), Fault::new(e));
                let effect = load_effect_with(Path::new(name), draft, &inside).map_err(|e| at(&e))?;
                let digest = effect::digest(&effect);
                step.values
                    .set(setting.id, Value::File(file.clone().read(effect, digest)))
                    .map_err(|e| at(&e))?;
            }
        }
    }
    grainfield_render::assets::attach(recipe).map_err(|e| (None, Fault::new(e)))?;
    grainfield_render::session::job::load_files(recipe).map_err(|e| (None, Fault::new(e)))
}
