//! The effects that have names.

mod film;
mod flying;
mod light;
mod weather;

use super::effect::{Effect, Form, Layer, Over, Place, Tint, When};
use crate::particle::Spread;
use crate::particle::draw::Blend;
use crate::settings::Choice;

/// Their names, and what each is.
pub const PRESETS: &[Choice] = &[
    Choice { id: "snow", help: "calm snow" },
    Choice { id: "blizzard", help: "a snowstorm in strong wind" },
    Choice { id: "rain", help: "rain, with splashes at the lower edge" },
    Choice { id: "dust-motes", help: "dust that hangs in the light" },
    Choice { id: "embers", help: "embers that rise from a fire below" },
    Choice { id: "sparks", help: "a fountain of sparks" },
    Choice { id: "fireflies", help: "fireflies at dusk" },
    Choice { id: "confetti", help: "paper that tumbles down" },
    Choice { id: "bubbles", help: "soap bubbles that rise" },
    Choice { id: "smoke", help: "a plume of smoke from below" },
    Choice { id: "bokeh", help: "large discs of light out of focus" },
    Choice { id: "starfield", help: "a slow flight through stars" },
    Choice { id: "leaves", help: "autumn leaves" },
    Choice { id: "hyperspace", help: "stars that become streaks" },
    Choice { id: "film-dust", help: "dust on a print: other specks in every frame" },
    Choice { id: "film-hairs", help: "hairs in the gate, that quiver and go" },
];

const fn rgb(hex: u32) -> [f64; 3] {
    [(hex >> 16 & 255) as f64 / 255.0, (hex >> 8 & 255) as f64 / 255.0, (hex & 255) as f64 / 255.0]
}

fn mix(hex: &[u32]) -> Tint {
    Tint::Mix(hex.iter().map(|h| rgb(*h)).collect())
}

fn one(hex: &[u32]) -> Tint {
    Tint::One(hex.iter().map(|h| rgb(*h)).collect())
}

fn ageing(hex: &[u32]) -> Tint {
    Tint::Life(hex.iter().map(|h| rgb(*h)).collect())
}

fn between(low: f32, high: f32) -> Spread {
    Spread::between(low, high)
}

/// Births a second of something that lives for `life` seconds on average, for `count` at a time.
fn alive(count: f64, life: Spread) -> When {
    When::Steady(count / f64::from(life.base))
}

const UP: [f32; 3] = [0.0, -1.0, 0.0];

/// The effect of a name; snow for one that is not known.
pub(super) fn preset(name: &str) -> Effect {
    let (layers, blend, wind) = match name {
        "blizzard" => (weather::blizzard(), Blend::Over, 1.5),
        "rain" => (weather::rain(), Blend::Screen, 0.5),
        "dust-motes" => (light::dust_motes(), Blend::Screen, 0.02),
        "embers" => (light::embers(), Blend::Add, 0.04),
        "sparks" => (light::sparks(), Blend::Add, 0.0),
        "fireflies" => (light::fireflies(), Blend::Add, 0.0),
        "confetti" => (flying::confetti(), Blend::Over, 0.0),
        "bubbles" => (flying::bubbles(), Blend::Screen, 0.0),
        "smoke" => (flying::smoke(), Blend::Over, 0.03),
        "bokeh" => (light::bokeh(), Blend::Screen, 0.0),
        "starfield" => (light::starfield(), Blend::Screen, 0.0),
        "leaves" => (weather::leaves(), Blend::Over, 0.12),
        "hyperspace" => (light::hyperspace(), Blend::Add, 0.0),
        "film-dust" => (film::film_dust(), Blend::Over, 0.0),
        "film-hairs" => (film::film_hairs(), Blend::Over, 0.0),
        _ => (weather::snow(), Blend::Over, 0.05),
    };
    Effect { layers, blend, wind, light: Default::default() }
}

/// Comes and goes gently: the part of life that each takes.
fn gently(part: f32) -> Over {
    vec![[0.0, 0.0], [part, 1.0], [1.0 - part, 1.0], [1.0, 0.0]]
}

/// Full to so much of life, then so much is left, then nothing.
fn fading(at: f32, left: f32) -> Over {
    vec![[0.0, 1.0], [at, left], [1.0, 0.0]]
}
