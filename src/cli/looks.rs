//! Recipes by name: the user's own, and the built-in ones.

use super::exit::Failure;
use grainfield_filters::recipe::nearest;
use grainfield_render::assets::{BUILT_IN, about, built_in, own_looks, short_name};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where a recipe is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Look {
    File(PathBuf),
    BuiltIn(&'static str),
}

/// The user's own recipes, by name.
fn own(config: Option<&Path>) -> BTreeMap<String, PathBuf> {
    config.map(|folder| own_looks(&folder.join("looks"))).unwrap_or_default()
}

/// The recipe of a name, or the file: a name is a word without '.' and '/'. The user's own come first.
pub(super) fn find(typed: &Path, config: Option<&Path>) -> Result<Look, Failure> {
    let Some(name) = typed.to_str().filter(|name| !name.contains(['.', '/', '\\'])) else {
        return Ok(Look::File(typed.to_owned()));
    };
    let own = own(config);
    if let Some(path) = own.get(name) {
        return Ok(Look::File(path.clone()));
    }
    if let Some((file, _)) = built_in(name) {
        return Ok(Look::BuiltIn(file));
    }
    if typed.exists() {
        return Ok(Look::File(typed.to_owned()));
    }
    let names = BUILT_IN.iter().map(|(file, _)| short_name(file)).chain(own.keys().map(String::as_str));
    let near = nearest(name, names).map_or_else(String::new, |near| format!(" {near}"));
    Err(Failure::usage(format!(
        "there is no look '{name}':{near} 'grainfield looks' lists all; to read a file, write its name with .toml"
    )))
}

/// All looks with the first sentence about each.
pub(super) fn list(config: Option<&Path>) -> String {
    let mut all: BTreeMap<String, String> =
        BUILT_IN.iter().map(|(file, text)| (short_name(file).to_owned(), about(text))).collect();
    for (name, path) in own(config) {
        all.insert(name, path.display().to_string());
    }
    let width = all.keys().map(String::len).max().unwrap_or(0);
    let lines = all.iter().map(|(name, about)| format!("{name:width$}  {about}\n"));
    let folder = config.map_or_else(|| "~/.config/grainfield".into(), |folder| folder.display().to_string());
    format!("{}\nYour own: {folder}/looks/NAME.toml. Use: --look NAME\n", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_filters::recipe::Recipe;

    #[test]
    fn every_recipe_of_the_samples_is_built_in() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/recipes");
        let files = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path());
        let mut names: Vec<_> = files.map(|f| f.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        names.sort();
        // They name files.
        names.retain(|name| name != "lut" && name != "overlay");
        assert!(BUILT_IN.iter().map(|(file, _)| *file).eq(names.iter()));
        for (file, text) in BUILT_IN {
            assert!(Recipe::parse_toml(text).is_ok(), "{file}");
            assert!(about(text).ends_with('.'), "{file}: {}", about(text));
        }
    }

    #[test]
    fn own_looks_come_before_built_in_ones() {
        let config = tempfile::tempdir().unwrap();
        let of = |name: &str| find(Path::new(name), Some(config.path()));
        assert!(matches!(of("super8"), Ok(Look::BuiltIn("look-super8"))));
        assert!(matches!(of("look-vhs"), Ok(Look::BuiltIn("look-vhs"))));
        std::fs::create_dir(config.path().join("looks")).unwrap();
        let own = config.path().join("looks/super8.toml");
        std::fs::write(&own, "").unwrap();
        assert_eq!(of("super8").ok(), Some(Look::File(own)));
        for file in ["super8.toml", "./super8", "a/b"] {
            assert_eq!(of(file).ok(), Some(Look::File(file.into())));
        }
        assert!(of("supr8").unwrap_err().text.contains("super8"));
        assert!(list(Some(config.path())).contains("looks/super8.toml"));
    }
}
