//! Changes of the list of jobs, which leave its other tables and its comments as they are.

use super::fault::Fault;
use toml_edit::{DocumentMut, Item, RawString, Table};

/// The name of the list.
pub(super) const LIST: &str = "grainfield-jobs.toml";

pub(super) fn document(text: &str) -> Result<DocumentMut, Fault> {
    text.parse().map_err(|e| Fault::new(format!("{LIST}: {e}")))
}

/// The jobs of a list, in order.
pub(super) fn jobs(list: &mut DocumentMut) -> Result<Vec<&mut Table>, Fault> {
    match list.get_mut("job").and_then(Item::as_array_of_tables_mut) {
        Some(jobs) => Ok(jobs.iter_mut().collect()),
        None => Err(Fault::new(format!("{LIST} has its jobs in one line: edit it in a text editor"))),
    }
}

/// The text above a job: what belongs to its place in the list, and the comments directly above it, which are its own.
fn above(job: &Table) -> (String, String) {
    let text = job.decor().prefix().and_then(RawString::as_str).unwrap_or_default();
    let own = text.split_inclusive('\n').rev().take_while(|line| !line.trim().is_empty());
    let (place, own) = text.split_at(text.len() - own.map(str::len).sum::<usize>());
    (place.to_owned(), own.to_owned())
}

/// Exchanges a job and the next one.
pub(super) fn swap(list: &mut DocumentMut, at: usize) -> Result<(), Fault> {
    let mut jobs = jobs(list)?;
    let [a, b] = &mut jobs[at..at + 2] else { return Ok(()) };
    let ((place_a, own_a), (place_b, own_b)) = (above(a), above(b));
    a.decor_mut().set_prefix(place_b + &own_a);
    b.decor_mut().set_prefix(place_a + &own_b);
    let place = a.position();
    a.set_position(b.position());
    b.set_position(place);
    Ok(())
}

/// Removes a job. Comments that are not its own stay.
pub(super) fn remove(list: &mut DocumentMut, at: usize) -> Result<(), Fault> {
    let removed = jobs(list)?[at].clone();
    if let Some(jobs) = list.get_mut("job").and_then(Item::as_array_of_tables_mut) {
        jobs.remove(at);
    }
    let kept = above(&removed).0;
    if kept.trim().is_empty() {
        return Ok(());
    }
    let tables = list.iter_mut().flat_map(|(_, item)| match item {
        Item::Table(table) => vec![table],
        Item::ArrayOfTables(tables) => tables.iter_mut().collect(),
        _ => vec![],
    });
    let next =
        tables.filter(|table| table.position() > removed.position()).min_by_key(|table| table.position());
    match next {
        Some(next) => {
            let prefix = next.decor().prefix().and_then(RawString::as_str).unwrap_or_default();
            let prefix = kept.trim_end().to_owned() + "\n" + prefix;
            next.decor_mut().set_prefix(prefix);
        }
        None => list.set_trailing(kept + list.trailing().as_str().unwrap_or_default()),
    }
    Ok(())
}
