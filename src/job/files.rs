//! Files that settings name, read before the first frame.

use super::JobError;
use crate::effect;
use crate::images;
use crate::recipe::Recipe;
use crate::source::SourceError;
use grainfield_filters::frame::Frame;
use grainfield_filters::settings::Value;
use std::path::Path;

/// Reads the images and effect files that settings name.
pub(crate) fn load_files(recipe: &mut Recipe) -> Result<(), JobError> {
    for step in &mut recipe.steps {
        let unread = |value: &Value| match value {
            Value::Image(picture) => picture.frame().is_none(),
            Value::Effect(file) => file.digest().is_none(),
            _ => false,
        };
        let named = step.values.iter_given().filter(|(_, value)| unread(value));
        for (setting, value) in named.map(|(s, v)| (s, v.clone())).collect::<Vec<_>>() {
            let read = match value {
                Value::Effect(file) => {
                    let read = effect::load(Path::new(file.name()))?;
                    let digest = effect::digest(&read);
                    Value::Effect(file.read(read, digest))
                }
                Value::Image(picture) => {
                    let name = format!("{}: {}: {}", step.filter.name, setting.id, picture.name());
                    Value::Image(picture.clone().read(image(picture.name(), name)?))
                }
                other => other,
            };
            let loaded = step.values.set(setting.id, read);
            loaded.map_err(|e| JobError::Usage(format!("{}: {e}", step.filter.name)))?;
        }
    }
    Ok(())
}

/// The picture of a file; `name` is what errors call it.
fn image(file: &str, name: String) -> Result<Frame, JobError> {
    Ok(images::read(Path::new(file)).map_err(|problem| match problem {
        images::Fault::Io(cause) => SourceError::Io { name, cause },
        images::Fault::Bad(problem) => SourceError::Bad { name, problem },
        images::Fault::Differs(_) => {
            SourceError::Bad { name, problem: "the file changes while it is read".into() }
        }
    })?)
}
