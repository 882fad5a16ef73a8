//! Conversion of keys to layers.

use super::super::effect::{Appearance, Emission, Layer, Page, Side, SpawnArea, Sprite, Tint};
use super::{Key, KeyError, KeyValue, exact};
use crate::particle::Spread;

/// The keys of a sprite.
const SPRITE: &[&str] =
    &["sprite", "columns", "rows", "page-by", "page-rate", "offset-x", "offset-y", "scroll-x", "scroll-y"];

/// A layer being built.
#[derive(Debug, Default)]
pub struct LayerBuilder {
    layer: Layer,
    given: Vec<(&'static Key, KeyValue)>,
}

impl LayerBuilder {
    /// Sets a checked value; the last one counts. Rejects values that the layer does not take.
    pub fn put(&mut self, key: &'static Key, item: KeyValue) -> Result<(), KeyError> {
        key.key_type.check(&item)?;
        match key.set {
            Some(set) => set(&mut self.layer, &item),
            None => self.given.push((key, item)),
        }
        Ok(())
    }

    fn item(&self, id: &str) -> Option<&KeyValue> {
        self.given.iter().rev().find(|(k, _)| k.id == id).map(|(_, item)| item)
    }

    fn number(&self, id: &str) -> Option<f64> {
        if let Some(KeyValue::Number(v)) = self.item(id) { Some(*v) } else { None }
    }

    fn word(&self, id: &str) -> Option<&'static str> {
        if let Some(KeyValue::Choice(word)) = self.item(id) { Some(*word) } else { None }
    }

    fn pair(&self, id: &str) -> Option<[f32; 2]> {
        match self.item(id) {
            Some(KeyValue::Numbers(all)) if all.len() == 2 => Some([all[0] as f32, all[1] as f32]),
            _ => None,
        }
    }

    /// Rejects keys that require a missing one.
    fn only(&self, ids: &[&'static str], with: &'static str) -> Result<(), (&'static str, KeyError)> {
        match ids.iter().find(|id| self.item(id).is_some()) {
            Some(id) => Err((id, KeyError::With(with))),
            None => Ok(()),
        }
    }

    /// The layer, or the key that conflicts with others, and why.
    pub fn finish(mut self) -> Result<Layer, (&'static str, KeyError)> {
        self.layer.when = self.when()?;
        self.layer.place = self.place()?;
        self.layer.tint = self.tint();
        self.layer.form = self.form()?;
        Ok(self.layer)
    }

    fn when(&self) -> Result<Emission, (&'static str, KeyError)> {
        // The alternatives that are given.
        let ways: Vec<&'static str> =
            ["rate", "bursts", "every"].into_iter().filter(|id| self.item(id).is_some()).collect();
        if let [first, second, ..] = ways[..] {
            return Err((second, KeyError::Beside(first)));
        }
        if let Some(count) = self.number("count") {
            return match self.number("every") {
                Some(every) => Ok(Emission::Pulses { every, count }),
                None => Err(("count", KeyError::Lacks("every"))),
            };
        }
        match ways.first().and_then(|id| self.item(id)) {
            Some(KeyValue::Curve(curve)) => Ok(Emission::Curve(curve.clone())),
            Some(KeyValue::Points(all)) => Ok(Emission::Bursts(all.clone())),
            Some(KeyValue::Number(rate)) if ways == ["rate"] => Ok(Emission::Steady(*rate)),
            Some(_) => Err(("every", KeyError::Lacks("count"))),
            None => Ok(self.layer.when.clone()),
        }
    }

    fn place(&mut self) -> Result<SpawnArea, (&'static str, KeyError)> {
        let word = self.word("place").unwrap_or("volume");
        let deep = matches!(word, "volume" | "tunnel");
        let [near, far] = self.pair("depth").unwrap_or(if deep { [0.5, 3.0] } else { [1.0; 2] });
        if far < near {
            let (got, low, high) = (exact(far), exact(near), 1000.0);
            return Err(("depth", KeyError::Outside { got, low, high }));
        }
        // The keys of each place.
        let own: [(&str, &[&'static str], &'static str); 5] = [
            ("box", &["x", "y"], "place = \"box\""),
            ("disc", &["centre", "radius"], "place = \"disc\""),
            ("edge", &["edge"], "place = \"edge\""),
            ("mask", &["mask"], "place = \"mask\""),
            ("path", &["path"], "place = \"path\""),
        ];
        own.iter().filter(|o| o.0 != word).try_for_each(|(_, ids, with)| self.only(ids, with))?;
        let (sides, z) = (|id| self.pair(id).unwrap_or([0.0, 1.0]), [near, far]);
        Ok(match word {
            "tunnel" => SpawnArea::Tunnel { near, far },
            "box" => SpawnArea::Box { x: sides("x"), y: sides("y"), z },
            "disc" => {
                let radius = self.number("radius").unwrap_or(0.1) as f32;
                SpawnArea::Disc { centre: self.pair("centre").unwrap_or([0.5; 2]), radius, z }
            }
            "edge" => {
                let side = match self.word("edge") {
                    Some("bottom") => Side::Bottom,
                    Some("left") => Side::Left,
                    Some("right") => Side::Right,
                    _ => Side::Top,
                };
                SpawnArea::Edge { side, z }
            }
            "mask" => {
                let Some(KeyValue::Picture(mask)) = self.item("mask") else {
                    return Err(("place", KeyError::Lacks("mask")));
                };
                self.layer.mask = Some(mask.clone());
                SpawnArea::Mask { z }
            }
            "path" => {
                let Some(KeyValue::Path(path)) = self.item("path") else {
                    return Err(("place", KeyError::Lacks("path")));
                };
                self.layer.path = Some(path.clone());
                SpawnArea::Path { z }
            }
            _ => SpawnArea::Volume { near, far },
        })
    }

    fn tint(&self) -> Tint {
        let colours = match self.item("colours") {
            Some(KeyValue::Colours(all)) => all.clone(),
            _ => vec![[1.0; 3]],
        };
        match self.word("colour-by") {
            Some("one") => Tint::One(colours),
            Some("life") => Tint::Life(colours),
            _ => Tint::Mix(colours),
        }
    }

    fn form(&self) -> Result<Appearance, (&'static str, KeyError)> {
        let word = self.word("shape").unwrap_or("disc");
        let number = |id, or: f64| self.number(id).unwrap_or(or) as f32;
        // The keys of each shape.
        let own: [(&str, &[&'static str], &'static str); 4] = [
            ("ring", &["hole"], "shape = \"ring\""),
            ("polygon", &["corners"], "shape = \"polygon\""),
            ("hair", &["bend", "thick"], "shape = \"hair\""),
            ("sprite", SPRITE, "shape = \"sprite\""),
        ];
        own.iter().filter(|o| o.0 != word).try_for_each(|(_, ids, with)| self.only(ids, with))?;
        match word {
            "ring" => Ok(Appearance::Ring(number("hole", 0.7), number("soft", 1.0))),
            "polygon" => match self.item("corners") {
                Some(KeyValue::Points(all)) => {
                    let corners = all.iter().map(|c| c.map(|v| v as f32)).collect();
                    Ok(Appearance::Polygon(corners, number("soft", 0.0)))
                }
                _ => Err(("shape", KeyError::Lacks("corners"))),
            },
            "hair" => {
                self.only(&["soft"], "discs, rings and polygons")?;
                Ok(Appearance::Hair(number("bend", 0.4), number("thick", 0.01)))
            }
            "sprite" => {
                self.only(&["soft"], "discs, rings and polygons")?;
                let Some(KeyValue::Picture(picture)) = self.item("sprite") else {
                    return Err(("shape", KeyError::Lacks("sprite")));
                };
                let whole = |id| match self.item(id) {
                    Some(KeyValue::Integer(n)) => (*n).max(1) as u32,
                    _ => 1,
                };
                let page = match self.word("page-by") {
                    Some("life") => Page::Life,
                    Some("time") => Page::Time,
                    _ => Page::Chance,
                };
                let (picture, page_rate) = (picture.clone(), number("page-rate", 12.0));
                let [columns, rows] = ["columns", "rows"].map(whole);
                let own =
                    |id| if let Some(KeyValue::Spread(s)) = self.item(id) { *s } else { Spread::default() };
                let [offset, scroll] =
                    [["offset-x", "offset-y"], ["scroll-x", "scroll-y"]].map(|a| a.map(own));
                Ok(Appearance::Sprite(Sprite { picture, columns, rows, page, page_rate, offset, scroll }))
            }
            _ => Ok(Appearance::Disc(number("soft", 1.0))),
        }
    }
}
