//! Words that stand at the top of an effect file and in settings beside it.

use crate::particle::draw::{Blend, Light};
use crate::settings::Choice;

/// How particles mix with the frame.
pub const BLENDS: &[Choice] = &[
    Choice { id: "over", help: "they cover the frame" },
    Choice { id: "add", help: "their light is added" },
    Choice { id: "screen", help: "their light is added, and what is white stays white" },
    Choice { id: "multiply", help: "they lie on the frame as a slide" },
];

/// The blend of a word of [`BLENDS`].
pub fn blend(word: &str) -> Option<Blend> {
    Some(match word {
        "over" => Blend::Over,
        "add" => Blend::Add,
        "screen" => Blend::Screen,
        "multiply" => Blend::Multiply,
        _ => return None,
    })
}

/// The word of a blend.
pub fn blend_word(blend: Blend) -> &'static str {
    match blend {
        Blend::Over => "over",
        Blend::Add => "add",
        Blend::Screen => "screen",
        Blend::Multiply => "multiply",
    }
}

/// In what they mix with the frame.
pub const LIGHTS: &[Choice] = &[
    Choice { id: "gamma", help: "in the values that the picture holds" },
    Choice { id: "linear", help: "in light itself, as it adds up and covers in front of a lens" },
];

/// The light of a word of [`LIGHTS`].
pub fn light(word: &str) -> Option<Light> {
    Some(match word {
        "gamma" => Light::Gamma,
        "linear" => Light::Linear,
        _ => return None,
    })
}

/// The word of a light.
pub fn light_word(light: Light) -> &'static str {
    match light {
        Light::Gamma => "gamma",
        Light::Linear => "linear",
    }
}
