//! Effects that cannot be drawn.

use super::effect::{Effect, Layer, MAX_LAYERS, MAX_PARTICLES};
use super::keys::{KeyError, KeyType, KeyValue, LAYER};
use crate::particle::draw::ShapeError;
use core::fmt;

/// An error of an effect.
#[derive(Clone, PartialEq, Debug)]
pub enum EffectError {
    /// The value of a key, by its name in effect files, of a layer (counted from 1; 0 is the effect).
    Value {
        /// The layer.
        layer: usize,
        /// The key.
        key: &'static str,
        /// The error.
        wrong: KeyError,
    },
    /// The shape cannot be drawn.
    Shape(usize, ShapeError),
    /// No layer or more than [`MAX_LAYERS`].
    Layers(usize),
    /// This number of particles would live at a time.
    TooMany(i64),
}

impl fmt::Display for EffectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EffectError::Value { layer: 0, key, wrong } => write!(f, "{key}: {wrong}"),
            EffectError::Value { layer, key, wrong } => write!(f, "layer {layer}: {key}: {wrong}"),
            EffectError::Shape(layer, e) => write!(f, "layer {layer}: {e}"),
            EffectError::Layers(n) => write!(f, "{n} layers: an effect has 1 to {MAX_LAYERS}"),
            EffectError::TooMany(n) => write!(
                f,
                "up to {n} particles at a time (at most {MAX_PARTICLES}): lower the amount, the births or the life"
            ),
        }
    }
}

impl core::error::Error for EffectError {}

/// The range of the wind of an effect, in units per second.
pub const WIND: KeyType = KeyType::Number { min: -100.0, max: 100.0 };

impl Effect {
    /// Rejects effects that cannot be drawn.
    pub fn check(&self) -> Result<(), EffectError> {
        if self.layers.is_empty() || self.layers.len() > MAX_LAYERS {
            return Err(EffectError::Layers(self.layers.len()));
        }
        let wind = WIND.check(&KeyValue::Number(self.wind));
        wind.map_err(|wrong| EffectError::Value { layer: 0, key: "wind", wrong })?;
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
    pub fn check(&self, number: usize) -> Result<(), EffectError> {
        let fault = |key, wrong| EffectError::Value { layer: number, key, wrong };
        for key in LAYER {
            if let Some(item) = key.get(self) {
                key.key_type.check(&item).map_err(|wrong| fault(key.id, wrong))?;
            }
        }
        let [low, got] = self.place.depth().map(f64::from);
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
