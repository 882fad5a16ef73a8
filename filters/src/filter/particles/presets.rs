//! The effects that have names.

mod film;
mod flying;
mod light;
mod weather;

use super::effect::Effect;
use super::layer::{Appearance, ColourBy, Emission, Layer, LifeCurve, SpawnArea, Tint};
use crate::choices;
use crate::particle::Spread;
use crate::particle::draw::{Blend, BlendSpace};

choices! {
    /// Effects that have names.
    pub enum Preset {
        /// calm snow
        Snow = "snow",
        /// a snowstorm in strong wind
        Blizzard = "blizzard",
        /// rain, with splashes at the lower edge
        Rain = "rain",
        /// dust floating in light
        DustMotes = "dust-motes",
        /// embers rising from a fire below
        Embers = "embers",
        /// a fountain of sparks
        Sparks = "sparks",
        /// fireflies at dusk
        Fireflies = "fireflies",
        /// tumbling paper
        Confetti = "confetti",
        /// rising soap bubbles
        Bubbles = "bubbles",
        /// large out-of-focus discs of light
        Bokeh = "bokeh",
        /// a slow flight through stars
        Starfield = "starfield",
        /// autumn leaves
        Leaves = "leaves",
        /// stars that become streaks
        Hyperspace = "hyperspace",
        /// hairs that quiver in the gate and disappear
        FilmHairs = "film-hairs",
    }
}

const fn rgb(hex: u32) -> [f64; 3] {
    [(hex >> 16 & 255) as f64 / 255.0, (hex >> 8 & 255) as f64 / 255.0, (hex & 255) as f64 / 255.0]
}

fn mix(hex: &[u32]) -> Tint {
    Tint { by: ColourBy::Mix, colours: hex.iter().map(|h| rgb(*h)).collect() }
}

fn one(hex: &[u32]) -> Tint {
    Tint { by: ColourBy::One, colours: hex.iter().map(|h| rgb(*h)).collect() }
}

fn ageing(hex: &[u32]) -> Tint {
    Tint { by: ColourBy::Life, colours: hex.iter().map(|h| rgb(*h)).collect() }
}

fn between(low: f32, high: f32) -> Spread {
    Spread::between(low, high)
}

fn scaled(spread: Spread, by: f32) -> Spread {
    Spread { base: spread.base * by, offset: spread.offset * by }
}

/// Births per second for `count` simultaneous particles that live for `life` seconds on average.
fn alive(count: f64, life: Spread) -> Emission {
    Emission::Steady(count / f64::from(life.base))
}

const UP: [f32; 3] = [0.0, -1.0, 0.0];

/// The effect of a preset.
pub(super) fn preset(preset: Preset) -> Effect {
    let (layers, blend, wind) = match preset {
        Preset::Blizzard => (weather::blizzard(), Blend::Over, 1.5),
        Preset::Rain => (weather::rain(), Blend::Screen, 0.5),
        Preset::DustMotes => (light::dust_motes(), Blend::Screen, 0.02),
        Preset::Embers => (light::embers(), Blend::Add, 0.04),
        Preset::Sparks => (light::sparks(), Blend::Add, 0.0),
        Preset::Fireflies => (light::fireflies(), Blend::Add, 0.0),
        Preset::Confetti => (flying::confetti(), Blend::Over, 0.0),
        Preset::Bubbles => (flying::bubbles(), Blend::Screen, 0.0),
        Preset::Bokeh => (light::bokeh(), Blend::Add, 0.0),
        Preset::Starfield => (light::starfield(), Blend::Add, 0.0),
        Preset::Leaves => (weather::leaves(), Blend::Over, 0.12),
        Preset::Hyperspace => (light::hyperspace(), Blend::Add, 0.0),
        Preset::FilmHairs => (film::film_hairs(), Blend::Over, 0.0),
        Preset::Snow => (weather::snow(), Blend::Over, 0.05),
    };
    // What glows adds its light as a camera sees it.
    let light = if blend == Blend::Add { BlendSpace::Linear } else { BlendSpace::Gamma };
    let lit = match preset {
        // White is brighter than what is around it.
        Preset::Snow => 0.3,
        Preset::Blizzard => 0.25,
        // They have the light of their colours already.
        Preset::Rain => 0.7,
        Preset::Confetti | Preset::Leaves => 0.35,
        _ => 0.0,
    };
    Effect { layers, blend, wind, light, lit }
}

/// Fades in and out: the fraction of life for each.
fn gently(part: f32) -> LifeCurve {
    vec![[0.0, 0.0], [part, 1.0], [1.0 - part, 1.0], [1.0, 0.0]]
}

/// Full to so much of life, then so much is left, then nothing.
fn fading(at: f32, left: f32) -> LifeCurve {
    vec![[0.0, 1.0], [at, left], [1.0, 0.0]]
}
