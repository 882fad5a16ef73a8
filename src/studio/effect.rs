//! Effect files of particles for the editor: their keys, their values, and changes of single keys that keep the rest
//! of the file as it is.

use super::error_response::{ErrorResponse, Json};
use super::fault::Fault;
use super::keep::put;
use super::state::{Answer, Shared, answer};
use axum::extract::State;
use axum::response::IntoResponse;
use grainfield_filters::filter::particles::keys::KeyType;
use grainfield_filters::filter::particles::{Layer, MAX_LAYERS, effect};
use grainfield_filters::forms::recipe::RecipeFault;
use grainfield_filters::recipe::{Recipe, effect as files};
use serde::Deserialize;
use serde_json::{Value, json};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

/// A request about an effect.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum From {
    /// The text of a file.
    Text(String),
    /// A chain of one filter, whose effect is converted to a text.
    Chain(String),
}

/// A change.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase", tag = "do")]
enum Change {
    /// Sets a key to a TOML value, or removes it; without a layer it is a key of the whole effect.
    Set { layer: Option<usize>, key: String, value: Option<String> },
    /// Inserts a copy of a layer after it.
    Copy { layer: usize },
    /// Removes a layer.
    Remove { layer: usize },
    /// Exchanges a layer with the one before it.
    Up { layer: usize },
}

#[derive(Deserialize)]
pub(super) struct EffectRequest {
    #[serde(flatten)]
    from: From,
    #[serde(default)]
    change: Option<Change>,
}

/// The keys of a layer.
pub(super) async fn keys() -> impl IntoResponse {
    let all = Layer::keys().map(|key| {
        let mut answer =
            json!({ "id": key.id, "unit": key.unit, "help": key.help, "takes": key.key_type.to_string() });
        let (kind, more) = match key.key_type {
            KeyType::Number(min, max) => ("number", json!({ "min": min, "max": max })),
            KeyType::Integer(max) => ("whole", json!({ "min": 0, "max": max })),
            KeyType::Spread(min, max) => ("spread", json!({ "min": min, "max": max })),
            KeyType::Over(max) => ("over", json!({ "min": 0, "max": max })),
            KeyType::Choice(all) => {
                ("choice", json!({ "choices": all.iter().map(|c| c.id).collect::<Vec<_>>() }))
            }
            KeyType::Name => ("word", json!({})),
            KeyType::Picture => ("picture", json!({})),
            KeyType::Colours => ("colours", json!({})),
            KeyType::Rate(max) => ("rate", json!({ "min": 0, "max": max })),
            KeyType::Path => ("path", json!({})),
            _ => ("toml", json!({})),
        };
        answer["kind"] = kind.into();
        if let (Some(answer), Value::Object(more)) = (answer.as_object_mut(), more) {
            answer.extend(more);
        }
        answer
    });
    Json(json!({ "layer": all.collect::<Vec<_>>(), "most": MAX_LAYERS }))
}

/// Applies a change to an effect, and returns its values.
pub(super) async fn read(State(studio): Shared, Json(request): Json<EffectRequest>) -> Answer {
    answer(&studio, move |_, _| {
        let mut text = match request.from {
            From::Text(text) => text,
            From::Chain(chain) => {
                let recipe = chain.parse::<Recipe>().map_err(RecipeFault::from)?;
                let step = recipe.steps.first().ok_or_else(|| Fault::new("an effect has no filter"))?;
                files::print_explained(&effect(&step.values).map_err(Fault::new)?)
            }
        };
        if let Some(change) = &request.change {
            text = changed(&text, change)?;
        }
        files::parse_with(&text, &mut |_| Ok(None)).map_err(RecipeFault::from)?;
        let doc: DocumentMut = text.parse().map_err(Fault::new)?;
        let layers = doc.get("layer").and_then(Item::as_array_of_tables);
        let layers: Vec<Value> = layers.into_iter().flat_map(ArrayOfTables::iter).map(values).collect();
        Ok(json!({ "text": text, "effect": values(&doc), "layers": layers }))
    })
    .await
}

/// The values of a table, as TOML.
fn values(table: &Table) -> Value {
    let all = table.iter().filter_map(|(key, item)| {
        let mut value = item.as_value()?.clone();
        value.decor_mut().clear();
        Some((key.to_owned(), Value::String(value.to_string())))
    });
    Value::Object(all.collect())
}

fn changed(text: &str, change: &Change) -> Result<String, ErrorResponse> {
    let mut doc: DocumentMut = text.parse().map_err(Fault::new)?;
    let mut layers = doc.get("layer").and_then(Item::as_array_of_tables).cloned().unwrap_or_default();
    let gone = || Fault::new("there is no such layer any more");
    match change {
        Change::Set { layer, key, value: new } => {
            let table = match layer {
                Some(layer) => layers.get_mut(*layer).ok_or_else(gone)?,
                None => doc.as_table_mut(),
            };
            match new {
                None => drop(table.remove(key)),
                Some(new) => {
                    let new: toml_edit::Value =
                        new.parse().map_err(|_| Fault::new(format!("{key}: '{new}' is not a value")))?;
                    put(table, key, &value(new));
                }
            }
        }
        Change::Copy { layer } | Change::Remove { layer } | Change::Up { layer } => {
            let mut all: Vec<Table> = layers.iter().cloned().collect();
            match change {
                _ if *layer >= all.len() => return Err(gone().into()),
                Change::Copy { .. } => {
                    let mut copy = all[*layer].clone();
                    // Two layers must not have the same name.
                    copy.remove("name");
                    all.insert(layer + 1, copy);
                }
                Change::Remove { .. } => drop(all.remove(*layer)),
                _ if *layer > 0 => all.swap(*layer, layer - 1),
                _ => {}
            }
            let positions = all.iter().filter_map(Table::position).min().unwrap_or(1);
            layers = ArrayOfTables::new();
            for (table, at) in all.into_iter().zip(positions..) {
                let mut table = table;
                table.set_position(Some(at));
                layers.push(table);
            }
        }
    }
    if !layers.is_empty() {
        doc.insert("layer", Item::ArrayOfTables(layers));
    } else if doc.contains_key("layer") {
        return Err(Fault::new("an effect has at least one layer").into());
    }
    Ok(doc.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Sparks.\nversion = 1\nwind = 0.5 # a breeze\n\n# The core.\n[[layer]]\nrate = 40 # few\nlife = [1, 2]\n\n[[layer]]\nrate = 9\n";

    #[test]
    fn single_keys_change_and_all_else_stays() {
        let set = |layer, key: &str, value: Option<&str>| Change::Set {
            layer,
            key: key.into(),
            value: value.map(str::to_owned),
        };
        let text = changed(TEXT, &set(Some(0), "rate", Some("\"0=0;24=60\""))).unwrap();
        assert_eq!(text, TEXT.replace("rate = 40 # few", "rate = \"0=0;24=60\" # few"));
        assert_eq!(changed(TEXT, &set(None, "wind", Some("1"))).unwrap(), TEXT.replace("0.5", "1"));
        assert_eq!(changed(TEXT, &set(Some(0), "life", None)).unwrap(), TEXT.replace("life = [1, 2]\n", ""));
        let text = changed(TEXT, &Change::Up { layer: 1 }).unwrap();
        assert!(text.find("rate = 9") < text.find("# The core.\n[[layer]]\nrate = 40"), "{text}");
        let text = changed(TEXT, &Change::Copy { layer: 0 }).unwrap();
        assert_eq!(text.matches("rate = 40 # few").count(), 2);
        assert!(files::parse(&text).is_ok());
        let text = changed(TEXT, &Change::Remove { layer: 0 }).unwrap();
        assert!(!text.contains("rate = 40") && text.contains("rate = 9"));
        assert!(changed(&text, &Change::Remove { layer: 0 }).is_err(), "the last one stays");
        assert!(changed(TEXT, &Change::Up { layer: 7 }).is_err());
        assert!(changed(TEXT, &set(Some(0), "rate", Some("[1"))).is_err());
    }
}
