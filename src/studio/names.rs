//! The names of files in the texts of recipes. In a file they are relative to its folder, as for the command line; in the
//! page to the folder in which the studio was started.

use super::keep::{put, with_off};
use grainfield_filters::forms::recipe::{parse, setting, uncommented};
use grainfield_filters::settings::{Kind, Setting};
use std::path::{Component, Path, PathBuf};
use toml_edit::{DocumentMut, Item, value};

/// The text of a recipe whose names are relative to one folder, with names that are relative to another. What is no recipe
/// stays as it is.
pub(super) fn moved(text: &str, from: &Path, to: &Path) -> String {
    let document = || uncommented(text).0.parse::<DocumentMut>().ok();
    let (Ok(page), Some(mut doc)) = (parse(text, false), document()) else { return text.into() };
    let Some(filters) = doc.get_mut("filter").and_then(Item::as_array_of_tables_mut) else {
        return text.into();
    };
    let mut changed = false;
    for (table, step) in filters.iter_mut().zip(&page.steps) {
        for (id, was) in &step.values {
            let Ok(setting) = setting(&step.name, id) else { continue };
            if let Some(now) = renamed(setting, was, from, to).filter(|now| now != was) {
                put(table, id, &value(now));
                changed = true;
            }
        }
    }
    if changed { with_off(&doc.to_string(), &page) } else { text.into() }
}

/// The value of a setting with the name of its file changed; `None` if it names no file by a relative name.
fn renamed(setting: &Setting, value: &str, from: &Path, to: &Path) -> Option<String> {
    let (at, name) = match setting.kind {
        Kind::Image | Kind::File(_) if !setting.kind.is_word(value) => ("", value),
        kind if kind.animatable() => ("@", value.trim_ascii().strip_prefix('@')?),
        _ => return None,
    };
    if name.is_empty() || name.starts_with("pattern:") || Path::new(name).is_absolute() {
        return None;
    }
    let path = without_dots(&from.join(name));
    let new = match path.strip_prefix(to) {
        Ok(rest) => rest.to_path_buf(),
        // In a folder below: it leads up, so that both can move together.
        Err(_) => match (to.strip_prefix(from), path.strip_prefix(from)) {
            (Ok(below), Ok(rest)) => below.iter().map(|_| "..").collect::<PathBuf>().join(rest),
            _ => path,
        },
    };
    let new = new.to_str()?;
    Some(format!("{at}{}{new}", if at.is_empty() && setting.kind.is_word(new) { "./" } else { "" }))
}

/// A path without `.` and `..`.
fn without_dots(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_the_same_file_in_another_folder() {
        let text = |lut: &str, mask: &str, track: &str| {
            format!(
                "# A look.\n[[filter]]\nname = \"lut\"\nfile = \"{lut}\" # the print\nmask = \"{mask}\"\n\n#off [[filter]]\n#off name = \"noise\"\n#off strength = \"@{track}#a\"\n"
            )
        };
        let here = text("print.cube", "luma", "t/a.gfa");
        let [home, sub, looks] = ["/home/a", "/home/a/sub/b", "/looks"].map(Path::new);
        let below = text("../../print.cube", "luma", "../../t/a.gfa");
        assert_eq!(moved(&here, home, sub), below);
        assert_eq!(moved(&below, sub, home), here);
        assert_eq!(moved(&here, home, looks), text("/home/a/print.cube", "luma", "/home/a/t/a.gfa"));
        assert_eq!(moved(&here, home, home), here);
        // A file whose name is a word stays a file.
        let file = text("p.cube", "./luma", "a.gfa");
        assert_eq!(moved(&file, sub, home), text("sub/b/p.cube", "sub/b/luma", "sub/b/a.gfa"));
        assert_eq!(moved(&text("sub/b/p.cube", "sub/b/luma", "sub/b/a.gfa"), home, sub), file);
        assert_eq!(moved("[[filter", home, sub), "[[filter");
    }
}
