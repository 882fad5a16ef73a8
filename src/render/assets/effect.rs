//! Reads effect files and the pictures that they name.

use super::text_file::{TextFileError, read_text};
use grainfield_filters::filter::particles::Effect;
use grainfield_filters::recipe::effect::{MAX_TEXT, parse_with};
use grainfield_io::format::images;
use std::path::Path;

/// Reads an effect file and the pictures that it names, relative to its own folder.
///
/// # Errors
/// [`TextFileError`] if the file or a picture cannot be read, or its text is invalid.
pub fn load_effect(path: &Path) -> Result<Effect, TextFileError> {
    load_effect_with(path, None, &|_| Ok(()))
}

/// The same, of a text that will be in the file when there is one; each picture is read only if `allowed` does not
/// refuse its path.
///
/// # Errors
/// As [`load_effect`], and those of `allowed`.
pub fn load_effect_with(
    path: &Path,
    text: Option<&str>,
    allowed: &dyn Fn(&Path) -> Result<(), String>,
) -> Result<Effect, TextFileError> {
    let text = match text {
        Some(text) => text.into(),
        None => read_text(path, "an effect file", MAX_TEXT)?,
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut picture = |name: &str| {
        let path = folder.join(name);
        allowed(&path)?;
        match images::read(&path) {
            Ok(frame) => Ok(Some(frame)),
            Err(images::Fault::Differs(_)) => Err(format!("{} changed while it was read", name)),
            Err(fault) => Err(format!("{}: {fault}", path.display())),
        }
    };
    parse_with(&text, &mut picture)
        .map_err(|e| TextFileError::Says(e.named(&path.to_string_lossy()).to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_filters::recipe::effect::parse;

    #[test]
    fn a_missing_sprite_is_an_error_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        std::fs::write(&path, "[[layer]]\nshape = \"sprite\"\nsprite = \"none.png\"\n").unwrap();
        let error = load_effect(&path).unwrap_err().to_string();
        assert!(error.contains(":3:10: ") && error.contains("none.png"), "{error}");
    }

    #[test]
    fn files_are_identified_by_their_contents() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        std::fs::write(&path, "[[layer]]\nrate = 4 # of them\n").unwrap();
        let effect = load_effect(&path).unwrap();
        assert_eq!(effect, parse("[[layer]]\nrate = 4").unwrap());
        assert!(matches!(load_effect(&folder.path().join("b.toml")), Err(TextFileError::Read { .. })));
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(matches!(load_effect(&path), Err(TextFileError::NoText { .. })));
    }

    #[test]
    fn samples_can_be_drawn() {
        let mut found = 0;
        for entry in
            std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/effects")).unwrap()
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
