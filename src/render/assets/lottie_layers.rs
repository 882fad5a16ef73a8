//! The layers of a Lottie animation as sampled tracks: where the middle of each is at every frame, and its scale,
//! rotation and opacity.
//!
//! A layer's transform (`ks`) is position, scale, rotation and anchor, and applies after that of its parent. Layers have
//! one scale for width and height; positions follow their path (`to`, `ti`) at a speed that the keys' handles ease.
//! Source: the Lottie specification, "Layers" and "Transform".

use super::lottie::property_of;
use grainfield_filters::curve::{Curve, MAX_KEYS};
use grainfield_filters::ratio::Ratio;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The largest number of samples of all layers.
const MAX_SAMPLES: usize = 1 << 24;
/// The largest accepted difference between a layer's two scales, as a fraction. The mean is used.
const MAX_SCALE_DIFFERENCE: f64 = 0.02;
/// The largest number of layers in a chain of parents.
const MAX_PARENTS: usize = 64;
/// Number of chords that approximate the length of a path segment.
const CHORDS: usize = 64;

/// The tracks of an animation: a name, the first frame, and a value per frame.
pub(super) type LayerTracks = Vec<(String, i64, Vec<f64>)>;

/// Whether it is a Lottie animation: an object with layers and frames.
pub(super) fn is_animation(value: &Map<String, Value>) -> bool {
    let layers = value.get("layers").and_then(Value::as_array);
    value.contains_key("op") && layers.is_some_and(|l| l.iter().all(Value::is_object))
}

/// The tracks NAME.x, NAME.y, and NAME.scale, NAME.rotation and NAME.opacity where they are not always 1, 0 and 1, of
/// every layer that is drawn; of empty ones (nulls) if there are no others. The lowest layer comes first.
pub(super) fn tracks(animation: &Map<String, Value>) -> Result<LayerTracks, String> {
    let number = |name: &str| animation.get(name).and_then(Value::as_f64);
    let (Some(from), Some(to)) = (number("ip").or(Some(0.0)), number("op")) else {
        return Err("\"ip\" and \"op\" of the animation should be its first frame and its end".into());
    };
    let (from, to) = (from.ceil(), to.ceil());
    let list = animation.get("layers").and_then(Value::as_array).map_or(&[][..], |l| l);
    let frames = to - from;
    if !(1.0..=MAX_KEYS as f64).contains(&frames) || from < 0.0 {
        return Err(format!("the animation should have 1 to {MAX_KEYS} frames, from frame 0 on"));
    }
    if frames * 5.0 * list.len() as f64 > MAX_SAMPLES as f64 {
        return Err(format!(
            "{} layers of {frames} frames have more than {MAX_SAMPLES} samples: split the animation",
            list.len()
        ));
    }
    // Curves start at 0, and keys may be before the first frame.
    let start = list.iter().map(|l| earliest(l, 0)).fold(0.0, f64::min).max(-1e9).floor();
    let assets = animation.get("assets").and_then(Value::as_array).map_or(&[][..], |a| a);
    let assets = assets.iter().filter_map(|a| Some((a.get("id")?.as_str()?, a))).collect();
    let layers = list.iter().zip(unique_names(list)).map(|(layer, name)| {
        Layer::new(layer, &assets, start, name.clone()).map_err(|e| of_layer(&name, &e))
    });
    let layers: Vec<Layer> = layers.collect::<Result<_, _>>()?;
    let numbers = layers.iter().enumerate().filter_map(|(i, l)| Some((l.number?, i))).rev().collect();
    let chains = (0..layers.len()).map(|i| chain(&layers, &numbers, i));
    let chains: Vec<Vec<usize>> = chains.collect::<Result<_, _>>()?;
    let any = layers.iter().any(|l| l.kind == Kind::Drawn);
    let kind = if any { Kind::Drawn } else { Kind::Empty };
    let mut out = Vec::new();
    for (layer, chain) in layers.iter().zip(&chains).rev().filter(|(l, _)| l.kind == kind) {
        let mut columns = [0; 5].map(|_: i32| Vec::with_capacity(frames as usize));
        for frame in (from as i64..).take(frames as usize) {
            let values = sample(layer, chain.iter().map(|&i| &layers[i]), frame, start)?;
            columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        }
        let parts =
            [("x", None), ("y", None), ("scale", Some(1.0)), ("rotation", Some(0.0)), ("opacity", Some(1.0))];
        for ((part, default), column) in parts.into_iter().zip(columns) {
            if default.is_none_or(|default| column.iter().any(|v| *v != default)) {
                out.push((format!("{}.{part}", layer.name), from as i64, column));
            }
        }
    }
    Ok(out)
}

/// The names of layers, numbered where several have the same.
fn unique_names(layers: &[Value]) -> Vec<String> {
    let (mut names, mut counts) = (BTreeSet::new(), BTreeMap::new());
    let unique = layers.iter().enumerate().map(|(i, layer)| {
        let name = layer.get("nm").and_then(Value::as_str).filter(|n| !n.is_empty());
        let name = name.map_or_else(|| format!("layer {}", i + 1), |n| n.chars().take(200).collect());
        let (mut unique, count) = (name.clone(), counts.entry(name.clone()).or_insert(1));
        while !names.insert(unique.clone()) {
            *count += 1;
            unique = format!("{name} ({count})");
        }
        unique
    });
    unique.collect()
}

/// Position, scale, rotation and opacity of a layer at a frame, moved by a chain of layers: itself and its parents.
fn sample<'a>(
    layer: &Layer,
    chain: impl Iterator<Item = &'a Layer>,
    frame: i64,
    start: f64,
) -> Result<[f64; 5], String> {
    let at = Ratio::whole(frame - start as i64);
    let (mut place, mut scale, mut rotation) = (layer.centre, 1.0, 0.0);
    for parent in chain {
        let (size, angle) = (parent.size(at).map_err(|e| of_layer(&parent.name, &e))?, parent.angle(at));
        place = parent.moved(place, at, size, angle);
        (scale, rotation) = (scale * size, rotation + angle);
    }
    let is_shown = (layer.shown.0..layer.shown.1).contains(&(frame as f64));
    let opacity = if is_shown { (layer.opacity.at(at, 0) / 100.0).clamp(0.0, 1.0) } else { 0.0 };
    Ok([place[0], place[1], scale, rotation, opacity])
}

fn of_layer(name: &str, problem: &str) -> String {
    format!("layer '{name}': {problem}")
}

#[derive(PartialEq)]
enum Kind {
    Drawn,
    Empty,
    Other,
}

struct Layer {
    name: String,
    kind: Kind,
    number: Option<i64>,
    parent: Option<i64>,
    /// The first frame in which it is shown, and the first in which it no longer is.
    shown: (f64, f64),
    /// The middle of its picture, from the corner of the picture.
    centre: [f64; 2],
    anchor: ComponentCurves,
    position: Position,
    scale: ComponentCurves,
    rotation: ComponentCurves,
    opacity: ComponentCurves,
}

/// The curves of a property, one per component; without any, a default.
struct ComponentCurves(Vec<Curve>, f64);

impl ComponentCurves {
    fn at(&self, now: Ratio, part: usize) -> f64 {
        self.0.get(part).map_or(self.1, |c| c.value(now, now))
    }
}

enum Position {
    Straight(ComponentCurves),
    /// The index of the previous key plus the eased fraction of the segment to the next one; and the segments.
    Path(ComponentCurves, Vec<Segment>),
}

/// The control points of the cubic Bezier from one key to the next.
struct Segment([[f64; 2]; 4]);

impl Layer {
    fn new(
        layer: &Value,
        assets: &BTreeMap<&str, &Value>,
        start: f64,
        name: String,
    ) -> Result<Layer, String> {
        let none = Map::new();
        let ks = layer.get("ks").and_then(Value::as_object).unwrap_or(&none);
        let integer = |name: &str| layer.get(name).and_then(Value::as_i64);
        let real = |name: &str, or: f64| layer.get(name).and_then(Value::as_f64).unwrap_or(or);
        let read = |name: &str, default: f64| match ks.get(name) {
            Some(property) => component_curves(property, start, default),
            None => Ok(ComponentCurves(Vec::new(), default)),
        };
        if integer("ddd") == Some(1) || ["rx", "ry"].iter().any(|n| ks.contains_key(*n)) {
            return Err("it is three-dimensional: flatten it".into());
        }
        let hidden = layer.get("hd").and_then(Value::as_bool) == Some(true);
        let kind = match integer("ty") {
            Some(0..=2 | 4 | 5) if !hidden => Kind::Drawn,
            Some(3) if !hidden => Kind::Empty,
            _ => Kind::Other,
        };
        let anchor = read("a", 0.0)?;
        let asset = layer.get("refId").and_then(|id| assets.get(id.as_str()?));
        let side = |own: &str, of_asset: &str| {
            let found = layer.get(own).and_then(Value::as_f64);
            found.or_else(|| asset.and_then(|a| a.get(of_asset)).and_then(Value::as_f64))
        };
        // Shapes and text have no size: their anchor is their middle.
        let centre =
            match (integer("ty"), side("w", "w").or(side("sw", "w")), side("h", "h").or(side("sh", "h"))) {
                (Some(0..=2), Some(w), Some(h)) => [0.5 * w, 0.5 * h],
                _ => [0, 1].map(|part| anchor.at(Ratio::ZERO, part)),
            };
        if ks.get("sk").is_some_and(|sk| {
            component_curves(sk, start, 0.0)
                .is_ok_and(|v| v.0.iter().any(|c| c.keys().iter().any(|k| k.value != 0.0)))
        }) {
            return Err("it is skewed, which sprites cannot be".into());
        }
        let rotation = if ks.contains_key("rz") { "rz" } else { "r" };
        Ok(Layer {
            name,
            kind,
            number: integer("ind"),
            parent: integer("parent"),
            shown: (real("ip", f64::MIN), real("op", f64::MAX)),
            centre,
            anchor,
            position: position(ks.get("p"), start)?,
            scale: read("s", 100.0)?,
            rotation: read(rotation, 0.0)?,
            opacity: read("o", 100.0)?,
        })
    }

    fn size(&self, at: Ratio) -> Result<f64, String> {
        let [x, y] = [0, 1].map(|part| self.scale.at(at, part) / 100.0);
        if (x - y).abs() > MAX_SCALE_DIFFERENCE * x.abs().max(y.abs()) || x < 0.0 || y < 0.0 {
            let advice = "sprites have one scale of at least 0: give it one, or delete the layer";
            return Err(format!("it is scaled by {x:.4} and {y:.4}, and {advice}"));
        }
        Ok(0.5 * (x + y))
    }

    /// In degrees.
    fn angle(&self, at: Ratio) -> f64 {
        self.rotation.at(at, 0)
    }

    /// Where a place of the layer is in its parent.
    fn moved(&self, [x, y]: [f64; 2], at: Ratio, size: f64, angle: f64) -> [f64; 2] {
        let (sin, cos) = libm::sincos(angle.to_radians());
        let (x, y) = (size * (x - self.anchor.at(at, 0)), size * (y - self.anchor.at(at, 1)));
        let [px, py] = self.position.at(at);
        [px + x * cos - y * sin, py + x * sin + y * cos]
    }
}

impl Position {
    fn at(&self, now: Ratio) -> [f64; 2] {
        match self {
            Position::Straight(values) => [0, 1].map(|part| values.at(now, part)),
            Position::Path(keys, segments) => {
                let progress = keys.at(now, 0);
                let i = (progress.max(0.0) as usize).min(segments.len().saturating_sub(1));
                segments.get(i).map_or([0.0; 2], |s| s.at(progress - i as f64))
            }
        }
    }
}

impl Segment {
    /// The point at parameter `t`.
    fn place(&self, t: f64) -> [f64; 2] {
        let u = 1.0 - t;
        let weights = [u * u * u, 3.0 * u * u * t, 3.0 * u * t * t, t * t * t];
        [0, 1].map(|k: usize| self.0.iter().zip(weights).map(|(c, w)| c[k] * w).sum())
    }

    /// The point at a fraction of the length. Fractions outside of 0 to 1 extrapolate along the line through both ends.
    fn at(&self, part: f64) -> [f64; 2] {
        let mut along = [0.0; CHORDS + 1];
        let mut before = self.place(0.0);
        for i in 1..=CHORDS {
            let next = self.place(i as f64 / CHORDS as f64);
            along[i] = along[i - 1] + libm::hypot(next[0] - before[0], next[1] - before[1]);
            before = next;
        }
        let ([a, .., b], held) = (self.0, part.clamp(0.0, 1.0));
        let goal = held * along[CHORDS];
        let i = along.partition_point(|l| *l <= goal).clamp(1, CHORDS);
        let (low, high) = (along[i - 1], along[i]);
        let within = if high > low { ((goal - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
        let [x, y] = self.place(((i - 1) as f64 + within) / CHORDS as f64);
        [x + (part - held) * (b[0] - a[0]), y + (part - held) * (b[1] - a[1])]
    }
}

/// The layer and its parents, from the layer up.
fn chain(layers: &[Layer], numbers: &BTreeMap<i64, usize>, index: usize) -> Result<Vec<usize>, String> {
    let fault = |what: String| Err(of_layer(&layers[index].name, &what));
    let (mut chain, mut last) = (vec![index], &layers[index]);
    while let Some(parent) = last.parent {
        let Some(&i) = numbers.get(&parent) else {
            return fault(format!("there is no layer {parent}, its parent"));
        };
        if chain.len() == MAX_PARENTS || chain.contains(&i) {
            return fault(format!("it is its own parent, or has more than {MAX_PARENTS} above it"));
        }
        chain.push(i);
        last = &layers[i];
    }
    Ok(chain)
}

/// The earliest time of a key.
fn earliest(value: &Value, depth: usize) -> f64 {
    let inner = |v: &Value| if depth < 8 { earliest(v, depth + 1) } else { 0.0 };
    match value {
        Value::Object(map) => {
            let own = map.get("t").and_then(Value::as_f64).filter(|_| map.contains_key("s")).unwrap_or(0.0);
            map.values().map(inner).fold(own, f64::min)
        }
        Value::Array(list) => list.iter().map(inner).fold(0.0, f64::min),
        _ => 0.0,
    }
}

/// The keys of an animated property, with times counted from frame `start`.
fn keys(property: &Value, start: f64) -> Option<Vec<Value>> {
    let list = property.get("k").and_then(Value::as_array)?;
    if list.is_empty() || !list.iter().all(Value::is_object) {
        return None;
    }
    let later = |key: &Value| {
        let mut key = key.clone();
        if let Some(t) = key.get("t").and_then(Value::as_f64) {
            // Rounded to thousandths, because programs write times such as 12.9999999.
            key["t"] = json!(libm::round((t - start) * 1000.0) / 1000.0);
        }
        key
    };
    Some(list.iter().map(later).collect())
}

fn component_curves(property: &Value, start: f64, default: f64) -> Result<ComponentCurves, String> {
    let later = keys(property, start).map_or_else(|| property.clone(), Value::Array);
    // A second per frame: keys may be between frames.
    let curves = property_of(&later, "value", Some(Ratio::ONE)).map_err(|e| e.to_string())?;
    Ok(ComponentCurves(curves.into_iter().map(|(_, c)| c).collect(), default))
}

fn position(property: Option<&Value>, start: f64) -> Result<Position, String> {
    let Some(property) = property else { return Ok(Position::Straight(ComponentCurves(Vec::new(), 0.0))) };
    if let (Some(x), Some(y)) = (property.get("x"), property.get("y")) {
        let (x, y) = (component_curves(x, start, 0.0)?, component_curves(y, start, 0.0)?);
        let both = [x.0, y.0].into_iter().filter_map(|c| c.into_iter().next());
        return Ok(Position::Straight(ComponentCurves(both.collect(), 0.0)));
    }
    let pair = |key: &Value, name: &str| {
        let list = key.get(name)?.as_array()?;
        Some([list.first()?.as_f64()?, list.get(1)?.as_f64()?])
    };
    let Some(mut keys) = keys(property, start) else {
        return Ok(Position::Straight(component_curves(property, start, 0.0)?));
    };
    let bent = |key: &Value| ["to", "ti"].iter().any(|n| pair(key, n).is_some_and(|p| p != [0.0; 2]));
    if !keys.iter().any(bent) {
        keys.iter_mut().filter_map(Value::as_object_mut).for_each(|key| {
            key.retain(|name, _| name != "to" && name != "ti");
        });
        return Ok(Position::Straight(component_curves(&Value::Array(keys), 0.0, 0.0)?));
    }
    let mut segments = Vec::new();
    for i in 0..keys.len() {
        let next = keys.get(i + 1);
        let own = |i: usize| pair(&keys[i], "s").or_else(|| pair(&keys[i.checked_sub(1)?], "e"));
        let from = own(i)
            .ok_or_else(|| format!("position, key {}: \"s\" should be a list of two or three", i + 1))?;
        let to = next.and_then(|n| pair(n, "s")).or_else(|| pair(&keys[i], "e")).unwrap_or(from);
        let [out, back] = ["to", "ti"].map(|n| pair(&keys[i], n).unwrap_or([0.0; 2]));
        let at = |a: [f64; 2], by: [f64; 2]| [a[0] + by[0], a[1] + by[1]];
        segments.push(Segment([from, at(from, out), at(to, back), to]));
    }
    for (i, key) in keys.iter_mut().enumerate() {
        key["s"] = json!([i]);
        key.as_object_mut()
            .into_iter()
            .for_each(|key| key.retain(|name, _| !["to", "ti", "e"].contains(&name.as_str())));
    }
    Ok(Position::Path(component_curves(&Value::Array(keys), 0.0, 0.0)?, segments))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<BTreeMap<String, Vec<f64>>, String> {
        let value: Value = serde_json::from_str(text).unwrap();
        let Value::Object(map) = value else { panic!("an object") };
        assert!(is_animation(&map));
        Ok(tracks(&map)?.into_iter().map(|(name, _, v)| (name, v)).collect())
    }

    fn near(got: &[f64], wanted: &[f64]) {
        assert_eq!(got.len(), wanted.len());
        assert!(got.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{got:?} {wanted:?}");
    }

    #[test]
    fn the_middle_of_a_picture_turns_about_its_anchor_and_follows_its_parent() {
        let all = of(r#"{"fr":24,"ip":0,"op":3,"assets":[{"id":"a","w":20,"h":10}],"layers":[
            {"ty":2,"nm":"card","ind":1,"parent":2,"refId":"a","ip":1,"op":3,"ks":{
                "a":{"a":0,"k":[0,5,0]},"p":{"a":0,"k":[100,50,0]},"s":{"a":0,"k":[200,200,100]},
                "r":{"a":1,"k":[{"t":-2,"s":[-180]},{"t":2,"s":[180]}]},"o":{"a":0,"k":50}}},
            {"ty":3,"nm":"null","ind":2,"ks":{"p":{"s":true,"x":{"a":1,"k":[{"t":0,"s":[0]},{"t":2,"s":[8]}]},
                "y":{"a":0,"k":7}},"r":{"a":0,"k":90}}}]}"#)
        .unwrap();
        // The middle is 20 to the right of the anchor, turned by 0, 90, 180 degrees, and then by 90 about the null.
        near(&all["card.x"], &[-50.0, 4.0 - 70.0, 8.0 - 50.0]);
        near(&all["card.y"], &[7.0 + 120.0, 7.0 + 100.0, 7.0 + 80.0]);
        near(&all["card.scale"], &[2.0; 3]);
        near(&all["card.rotation"], &[90.0, 180.0, 270.0]);
        near(&all["card.opacity"], &[0.0, 0.5, 0.5]);
        assert_eq!(all.len(), 5);
    }

    #[test]
    fn paths_are_followed_by_their_length_at_the_speed_of_the_handles() {
        // A half circle, nearly: its middle and its ends are exact by symmetry.
        let path = |ease: &str| {
            of(&format!(
                r#"{{"op":5,"layers":[{{"ty":4,"nm":"s","ks":{{"p":{{"a":1,"k":[
                {{"t":0,"s":[0,0],"to":[0,4],"ti":[0,4]{ease}}},{{"t":4,"s":[6,0]}}]}}}}}}]}}"#
            ))
            .unwrap()
        };
        let even = path("");
        near(&[even["s.x"][0], even["s.x"][2], even["s.x"][4]], &[0.0, 3.0, 6.0]);
        near(&[even["s.y"][0], even["s.y"][2], even["s.y"][4]], &[0.0, 3.0, 0.0]);
        let [x, y] = [&even["s.x"], &even["s.y"]];
        let chords: Vec<f64> = (0..4).map(|i| libm::hypot(x[i + 1] - x[i], y[i + 1] - y[i])).collect();
        assert!((chords[0] / chords[1] - 1.0).abs() < 0.06, "equal lengths: {chords:?}");
        let late = path(r#","o":{"x":1,"y":0},"i":{"x":1,"y":1}"#);
        assert!(late["s.x"][1] < 0.01 && late["s.x"][2] < 0.5, "{late:?}");
    }

    #[test]
    fn layers_of_the_same_name_are_numbered() {
        let layers = ["a", "a (2)", "a", "a"].map(|nm| format!(r#"{{"ty":4,"nm":"{nm}"}}"#)).join(",");
        let all = of(&format!(r#"{{"op":1,"layers":[{layers}]}}"#)).unwrap();
        assert!(all.keys().filter(|k| k.ends_with(".x")).eq(["a (2).x", "a (3).x", "a (4).x", "a.x"]));
    }

    #[test]
    fn what_sprites_cannot_show_is_refused() {
        for (layer, said) in [
            (r#"{"ty":4,"ks":{"s":{"a":0,"k":[100,50]}}}"#, "sprites have one scale"),
            (r#"{"ty":4,"ks":{"sk":{"a":0,"k":5}}}"#, "skewed"),
            (r#"{"ty":4,"ddd":1}"#, "three-dimensional"),
            (r#"{"ty":4,"ind":1,"parent":1}"#, "parent"),
            (r#"{"ty":4,"parent":9}"#, "parent"),
            (r#"{"ty":4,"ks":{"p":{"a":1,"k":[{"t":0}]}}}"#, "\"s\""),
        ] {
            let text = format!(r#"{{"op":2,"layers":[{layer}]}}"#);
            let problem = of(&text).unwrap_err();
            assert!(problem.starts_with("layer 'layer 1'") && problem.contains(said), "{layer}: {problem}");
        }
        assert!(of(r#"{"op":1e9,"layers":[{"ty":4}]}"#).is_err());
        assert!(of(r#"{"ip":-5,"op":2,"layers":[{"ty":4}]}"#).is_err());
    }
}
