//! Saves recipes into the text from which they were opened: comments, the order of settings and the form of values
//! are kept where nothing has changed.

use grainfield_filters::forms::recipe::{OFF, RecipeText, parse, uncommented};
use serde::Deserialize;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table};

/// The origin of a recipe.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Base {
    /// The text that was opened.
    text: String,
    /// For each filter of the recipe, its index in the text.
    origins: Vec<Option<usize>>,
}

/// `base` with the contents of the recipe, whose text is `fresh`; `None` if they cannot be merged.
pub(super) fn merged(base: &Base, page: &RecipeText, fresh: &str) -> Option<String> {
    let saved = parse(&base.text, false).ok()?;
    let mut doc: DocumentMut = uncommented(&base.text).0.parse().ok()?;
    let fresh: DocumentMut = uncommented(fresh).0.parse().ok()?;
    if page.seed != saved.seed {
        match fresh.get("seed") {
            Some(seed) => put(doc.as_table_mut(), "seed", seed),
            None => drop(doc.remove("seed")),
        }
    }
    let none = ArrayOfTables::new();
    let old = match doc.get("filter") {
        None => none.clone(),
        Some(item) => item.as_array_of_tables()?.clone(),
    };
    let new = fresh.get("filter").and_then(Item::as_array_of_tables).unwrap_or(&none);
    let mut filters = ArrayOfTables::new();
    // Tables are written in the order of their positions: these come after all others.
    let first = doc.iter().filter_map(|(_, item)| item.as_table()?.position()).max().unwrap_or(0) + 1;
    for (i, (step, new)) in page.steps.iter().zip(new.iter()).enumerate() {
        let origin = base.origins.get(i).copied().flatten();
        let mut table = match origin.and_then(|k| Some((old.get(k)?, saved.steps.get(k)?))) {
            Some((table, was)) if was.name == step.name => {
                let mut table = table.clone();
                for id in was.values.keys().filter(|id| !step.values.contains_key(*id)) {
                    table.remove(id);
                }
                for (id, value) in &step.values {
                    if was.values.get(id) != Some(value) || !table.contains_key(id) {
                        put(&mut table, id, new.get(id)?);
                    }
                }
                table
            }
            _ => {
                let mut table = new.clone();
                table.decor_mut().set_prefix("\n");
                table
            }
        };
        table.set_position(Some(first + isize::try_from(i).ok()?));
        filters.push(table);
    }
    if filters.is_empty() {
        doc.remove("filter");
    } else {
        doc.insert("filter", Item::ArrayOfTables(filters));
    }
    let text = with_off(&doc.to_string(), page);
    // In any case, the saved text must have the filters that the page shows.
    let RecipeText { steps, seed, .. } = parse(&text, false).ok()?;
    (steps == page.steps && seed == page.seed).then_some(text)
}

/// Sets a value and keeps the comment beside it.
pub(super) fn put(table: &mut Table, id: &str, item: &Item) {
    match (table.get_mut(id).and_then(Item::as_value_mut), item.as_value()) {
        (Some(old), Some(new)) => {
            let decor = old.decor().clone();
            *old = new.clone();
            *old.decor_mut() = decor;
        }
        _ => drop(table.insert(id, item.clone())),
    }
}

/// Marks the lines of filters that are off. Comments above the next filter's header belong to that filter.
pub(super) fn with_off(text: &str, page: &RecipeText) -> String {
    let mut out = String::new();
    let (mut header, mut off) = (0, false);
    let lines: Vec<&str> = text.lines().collect();
    for (i, line) in lines.iter().enumerate() {
        if line.trim_start().starts_with("[[filter]]") {
            off = page.steps.get(header).is_some_and(|s| s.off);
            header += 1;
        }
        let is_next = lines[i..].iter().find(|l| !l.trim().is_empty() && !l.trim_start().starts_with('#'));
        let above =
            is_next.is_none_or(|l| l.trim_start().starts_with('[')) && !line.trim_start().starts_with('[');
        if off && !line.is_empty() && !above {
            out += OFF;
        }
        out += line;
        out += "\n";
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_filters::forms::recipe::{StepText, read, to_toml};

    const TEXT: &str = "# My look.\nversion = 1\n\nseed = 7 # the good one\n\n# First the grain,\n# then the rest.\n[[filter]]\nname = \"grain\"\nsize = 1.50 # not larger\npreset = \"35mm\"\n\n#off [[filter]]\n#off name = \"invert\" # perhaps\n\n# At the end.\n[[filter]]\nname = \"noise\"\nstrength = \"0=0; 24=6\"\n";

    fn save(page: &RecipeText, origins: &[Option<usize>]) -> String {
        let base = Base { text: TEXT.into(), origins: origins.to_vec() };
        let all = read(page);
        assert_eq!(all.faults, []);
        merged(&base, page, &to_toml(&all.all, page)).expect("they go together")
    }

    #[test]
    fn unchanged_values_keep_their_spelling() {
        let mut page = parse(TEXT, false).unwrap();
        let all = [Some(0), Some(1), Some(2)];
        assert_eq!(save(&page, &all), TEXT);
        page.steps[0].values.insert("size".into(), "2".into());
        page.steps[0].values.insert("strength".into(), "3".into());
        page.seed = Some("8".into());
        let text = save(&page, &all);
        assert!(text.contains("size = 2 # not larger\npreset = \"35mm\"\nstrength = 3\n"), "{text}");
        assert!(text.contains("seed = 8 # the good one\n") && text.contains("\"0=0; 24=6\""), "{text}");
        assert!(
            text.starts_with("# My look.") && text.contains("#off name = \"invert\" # perhaps"),
            "{text}"
        );
        // On, off, removed, new, and in another order.
        page.steps[1].off = false;
        page.steps[2].off = true;
        page.steps.swap(0, 2);
        page.steps[2].values.remove("preset");
        page.steps.insert(1, StepText { name: "blur".into(), ..StepText::default() });
        let text = save(&page, &[Some(2), None, Some(1), Some(0)]);
        assert_eq!(parse(&text, false).unwrap(), page);
        assert!(text.contains("# At the end.\n#off [[filter]]\n#off name = \"noise\""), "{text}");
        assert!(
            text.contains("# then the rest.\n[[filter]]\nname = \"grain\"\nsize = 2 # not larger\n"),
            "{text}"
        );
        let none = RecipeText::default();
        assert_eq!(parse(&save(&none, &[]), false).unwrap(), none);
    }

    #[test]
    fn texts_that_cannot_be_merged_are_written_anew() {
        let base = Base { text: "filter = [{ name = \"noise\" }]".into(), origins: vec![Some(0)] };
        let page = parse(&base.text, false).unwrap();
        assert_eq!(merged(&base, &page, "[[filter]]\nname = \"noise\"\n"), None);
        let broken = Base { text: "[[filter".into(), origins: vec![] };
        assert_eq!(merged(&broken, &RecipeText::default(), ""), None);
    }
}
