//! Effect files: their text and the pictures that they name.

use crate::format::images;
use grainfield_filters::filter::particles::Effect;
use grainfield_filters::recipe::RecipeError;
use grainfield_filters::recipe::effect::{MAX_TEXT, parse_with};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Why an effect file cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum EffectFileError {
    /// It cannot be read.
    #[error("{}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// It is no text, or too long.
    #[error("{}: an effect file is UTF-8 text of at most 1 MiB", .0.display())]
    NoText(PathBuf),
    /// What it says is wrong.
    #[error("{0}")]
    Says(RecipeError),
}

impl EffectFileError {
    /// Whether writing something else would help, as against the file not being there.
    pub fn is_usage(&self) -> bool {
        !matches!(self, EffectFileError::Read { .. })
    }
}

/// Reads an effect file and the pictures that it names, relative to its own folder.
pub fn load_effect(path: &Path) -> Result<Effect, EffectFileError> {
    let failed = |cause| EffectFileError::Read { path: path.into(), cause };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_TEXT as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    let text = String::from_utf8(bytes).ok().filter(|t| t.len() <= MAX_TEXT);
    let text = text.ok_or_else(|| EffectFileError::NoText(path.into()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut picture = |name: &str| match images::read(&folder.join(name)) {
        Ok(frame) => Ok(Some(frame)),
        Err(images::Fault::Io(e)) => Err(format!("{}: {e}", folder.join(name).display())),
        Err(images::Fault::Bad(problem)) => Err(format!("{}: {problem}", folder.join(name).display())),
        Err(images::Fault::Differs(_)) => Err(format!("{} changes while it is read", name)),
    };
    parse_with(&text, &mut picture).map_err(|e| EffectFileError::Says(e.named(&path.to_string_lossy())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_filters::recipe::effect::parse;

    #[test]
    fn a_missing_sprite_is_said_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        std::fs::write(&path, "[[layer]]\nshape = \"sprite\"\nsprite = \"none.png\"\n").unwrap();
        let error = load_effect(&path).unwrap_err().to_string();
        assert!(error.contains(":3:10: ") && error.contains("none.png"), "{error}");
    }

    #[test]
    fn files_are_read_and_known_by_what_they_say() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        std::fs::write(&path, "[[layer]]\nrate = 4 # of them\n").unwrap();
        let effect = load_effect(&path).unwrap();
        assert_eq!(effect, parse("[[layer]]\nrate = 4").unwrap());
        assert!(matches!(load_effect(&folder.path().join("b.toml")), Err(EffectFileError::Read { .. })));
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(matches!(load_effect(&path), Err(EffectFileError::NoText(_))));
    }

    #[test]
    fn samples_can_be_drawn() {
        let mut found = 0;
        for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/effects")).unwrap()
        {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "toml") {
                load_effect(&path).unwrap_or_else(|e| panic!("{e}")).check().unwrap();
                found += 1;
            }
        }
        assert!(found > 0);
    }
}
