//! Effects, and when they cannot be drawn.

use super::keys::field::{self, Float};
use super::keys::{Key, KeyError, KeyType, keys};
use super::layer::{Appearance, Layer, SpawnArea};
use crate::particle::draw::{Blend, BlendSpace, ShapeError};
use crate::settings::{ChoiceEnum, ImageAsset};

/// The largest number of simultaneous particles of an effect.
pub const MAX_PARTICLES: i64 = 4_000_000;

/// The largest number of layers of an effect.
pub const MAX_LAYERS: usize = 64;

keys! {
    /// An effect.
    pub struct Effect {
        /// Drawn by depth; at the same depth by birth, then in this order.
        layers: Vec<Layer> = Vec::new() => (),
        /// The blend mode of layers without their own.
        blend: Blend = Blend::Over => [
            /// Blend mode.
            "blend": Choice(Blend::CHOICES), "", Effect { blend, .. } => blend;
        ],
        /// Values in which particles are mixed with the frame.
        light: BlendSpace = BlendSpace::Gamma => (Choice(BlendSpace::CHOICES), ""),
        /// How much the picture around particles lights them: 0, they shine by themselves; 1, they are as dark as the scene.
        /// Not for images, nor what adds or multiplies, nor over pictures with alpha.
        lit: f64 = 0.0 => (Number(0.0, 1.0), ""),
        /// Sideways wind, in units per second.
        wind: f64 = 0.0 => [
            /// Wind to the right; below 0, to the left. Each layer follows its own share.
            "wind": Number(-100.0, 100.0), "units per second", Effect { wind, .. } => wind;
        ],
    }
}

/// An error of an effect.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum EffectError {
    /// The value of a key, by its name in effect files, of a layer (counted from 1; 0 is the effect).
    #[error("{}{key}: {wrong}", if *layer == 0 { String::new() } else { format!("layer {layer}: ") })]
    Value {
        /// The layer.
        layer: usize,
        /// The key.
        key: &'static str,
        /// The error.
        wrong: KeyError,
    },
    /// The shape cannot be drawn.
    #[error("layer {0}: {1}")]
    Shape(usize, ShapeError),
    /// No layer or more than [`MAX_LAYERS`].
    #[error("{0} layers: an effect has 1 to {MAX_LAYERS}")]
    Layers(usize),
    /// This number of particles would live at a time.
    #[error(
        "up to {0} particles at a time (at most {MAX_PARTICLES}): lower the amount, the births or the life"
    )]
    TooMany(i64),
}

impl Effect {
    /// The parent layer of a layer: the first with that name that has no parent.
    pub(super) fn parent(&self, index: usize) -> Option<usize> {
        let name = &self.layers.get(index)?.born_of;
        let fits = |l: &Layer| l.name == *name && l.born_of.is_empty();
        if name.is_empty() { None } else { self.layers.iter().position(fits) }
    }

    /// Its pictures.
    pub fn pictures(&self) -> impl Iterator<Item = &ImageAsset> {
        fn sprite(layer: &Layer) -> Option<&ImageAsset> {
            if let Appearance::Sprite(s) = &layer.form { Some(&s.picture) } else { None }
        }
        self.layers.iter().flat_map(|l| sprite(l).into_iter().chain(&l.mask))
    }

    /// Rejects effects that cannot be drawn.
    ///
    /// # Errors
    /// The first layer or setting that cannot be drawn.
    pub fn check(&self) -> Result<(), EffectError> {
        if self.layers.is_empty() || self.layers.len() > MAX_LAYERS {
            return Err(EffectError::Layers(self.layers.len()));
        }
        for key in Effect::keys() {
            (key.check)(self).map_err(|wrong| EffectError::Value { layer: 0, key: key.id, wrong })?;
        }
        self.layers.iter().enumerate().try_for_each(|(i, layer)| {
            layer.check(i + 1)?;
            let lost = !layer.born_of.is_empty() && self.parent(i).is_none();
            let wrong = KeyError::NoLayer;
            if lost { Err(EffectError::Value { layer: i + 1, key: "born-of", wrong }) } else { Ok(()) }
        })
    }
}

impl Layer {
    /// Rejects layers that cannot be drawn; `number` is the number of the layer, for the message.
    ///
    /// # Errors
    /// The first key whose value is out of range, missing, or contradicts another.
    pub fn check(&self, number: usize) -> Result<(), EffectError> {
        let fault = |key, wrong| EffectError::Value { layer: number, key, wrong };
        let missing = match (&self.place, &self.form) {
            (SpawnArea::Mask { .. }, _) if self.mask.is_none() => Some(("place", "mask")),
            (SpawnArea::Path { .. }, _) if self.path.is_none() => Some(("place", "path")),
            (_, Appearance::Polygon(corners, _)) if corners.is_empty() => Some(("shape", "corners")),
            (_, Appearance::Sprite(sprite)) if sprite.picture.name().is_empty() => Some(("shape", "sprite")),
            _ => None,
        };
        if let Some((key, missing)) = missing {
            return Err(fault(key, KeyError::Lacks(missing)));
        }
        for key in Layer::keys() {
            (key.check)(self).map_err(|wrong| fault(key.id, wrong))?;
        }
        let [low, got] = self.place.depth().map(Float::exact);
        if got < low {
            return Err(fault("depth", KeyError::Outside { got, low, high: 1000.0 }));
        }
        let d = self.direction;
        let got = f64::from((d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt());
        if !(1e-3..=1e7).contains(&got) {
            return Err(fault("direction", KeyError::Outside { got, low: 1e-3, high: 1e7 }));
        }
        self.form.check().map_err(|e| EffectError::Shape(number, e))
    }
}

#[cfg(test)]
mod tests {
    use super::super::layer::{ColourBy, Emission, Tint};
    use super::*;
    use crate::particle::Spread;

    #[test]
    fn wrong_effects_are_refused() {
        let with = |layer: Layer| Effect { layers: vec![layer], ..Effect::default() }.check();
        assert_eq!(with(Layer::default()), Ok(()));
        let wrong = with(Layer { life: Spread::between(-1.0, 2.0), ..Layer::default() });
        assert_eq!(wrong.unwrap_err().to_string(), "layer 1: life: -1 is not from 0.001 to 10000");
        assert!(with(Layer { size: Spread::fixed(f32::NAN), ..Layer::default() }).is_err());
        assert!(with(Layer { when: Emission::Steady(1e12), ..Layer::default() }).is_err());
        assert!(with(Layer { opacity_over: vec![[0.5, 1.0], [0.5, 1.0]], ..Layer::default() }).is_err());
        assert!(
            with(Layer { tint: Tint { by: ColourBy::One, colours: vec![] }, ..Layer::default() }).is_err()
        );
        assert!(with(Layer { form: Appearance::Ring(1.0, 0.0), ..Layer::default() }).is_err());
        let none = Effect { layers: vec![], ..Effect::default() };
        assert_eq!(none.check(), Err(EffectError::Layers(0)));
    }
}
