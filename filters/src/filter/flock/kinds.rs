//! The habits of the kinds of animals, and the constants that follow from the settings.

use super::FlockSpec;
use super::figure::Figure;
use super::rules::{MODES, Mode, Rules, scale};
use super::vector::{cross, mul, unit};
use crate::choices;
use crate::noise::Rng;
use crate::particle::fluid::SignedDistanceField;
use std::sync::Arc;

choices! {
    for Figure {
        /// a dark bird with pointed wings
        Starling = "starling",
        /// a white bird with long wings that also glides
        Gull = "gull",
        /// a silver herring, lit from above
        Herring = "herring",
        /// a moth, lit by the lamp at the goal
        Moth = "moth",
        /// a bat with fingered wings
        Bat = "bat",
    }
}

/// The motion of a kind of animal.
struct Habit {
    /// Beats per second.
    beats: f64,
    /// The largest acceleration, in speeds per second.
    agility: f64,
    /// The elevation of the view, as the sine of the angle.
    below: f64,
    /// The damping of vertical speed, per second: birds and fish keep their height, moths hardly.
    vertical_damping: f64,
    /// Height and depth of its space relative to the width.
    space: [f64; 2],
    /// Random changes of direction per second.
    wander_rate: f64,
}

const fn habit(figure: Figure) -> Habit {
    match figure {
        Figure::Starling => Habit {
            beats: 7.3,
            agility: 5.0,
            below: 0.45,
            vertical_damping: 1.2,
            space: [0.72, 0.9],
            wander_rate: 0.7,
        },
        Figure::Gull => Habit {
            beats: 1.9,
            agility: 1.6,
            below: 0.34,
            vertical_damping: 3.2,
            space: [0.75, 0.9],
            wander_rate: 0.35,
        },
        Figure::Herring => Habit {
            beats: 2.4,
            agility: 3.4,
            below: -0.12,
            vertical_damping: 5.0,
            space: [0.66, 0.8],
            wander_rate: 0.8,
        },
        Figure::Moth => Habit {
            beats: 15.0,
            agility: 11.0,
            below: -0.5,
            vertical_damping: 0.3,
            space: [1.0, 1.0],
            wander_rate: 4.5,
        },
        Figure::Bat => Habit {
            beats: 5.6,
            agility: 8.0,
            below: 0.45,
            vertical_damping: 1.0,
            space: [0.8, 0.9],
            wander_rate: 2.6,
        },
    }
}

/// The longest time step, in seconds.
const LONGEST: f64 = 1.0 / 46.0;

/// The number of steps of a frame of so many seconds: an even number.
pub(super) fn steps(frame: f64) -> u64 {
    2 * libm::ceil(frame / (2.0 * LONGEST)).clamp(1.0, 256.0) as u64
}

/// The number of neighbours of an agent in a flock that fills half of its space evenly.
const NEIGHBOURS: f64 = 12.0;

/// The waves of the wind in a home with a half axis of `size`.
fn winds(seed: u64, size: f64) -> [Mode; MODES] {
    let mut rng = Rng::new(seed ^ 0x0077_696e_6473, 0);
    core::array::from_fn(|i| {
        // Horizontally in every direction, less in height and depth; the longest axis first.
        let k = unit(
            [rng.range(-1.0, 1.0), rng.range(-0.8, 0.8), rng.range(-0.8, 0.8)].map(|v| v as f32),
            [1.0, 0.0, 0.0],
        );
        let other = [rng.range(-1.0, 1.0), rng.range(-0.6, 0.6), rng.range(-0.8, 0.8)].map(|v| v as f32);
        let direction = unit(cross(k, other), [0.0, 0.0, 1.0]);
        let waves = (0.30 + 0.22 * i as f64) / size;
        Mode {
            k: mul(k, waves as f32),
            direction: mul(direction, (0.8 - 0.08 * i as f64) as f32),
            rate: rng.range(0.06, 0.16) * if i % 2 == 0 { 1.0 } else { -1.0 },
            phase: rng.next_f64(),
        }
    })
}

/// The rules, and wing beats per second.
pub(super) fn rules(
    set: &FlockSpec,
    seed: u64,
    aspect: f64,
    dt: f64,
    solid: Option<Arc<SignedDistanceField>>,
) -> (Rules, f32) {
    let habit = habit(set.figure);
    let near = f64::from(scale((0.5 * set.depth) as f32));
    let wide = 0.5 * set.spread * aspect / near;
    let high = 0.5 * set.spread * habit.space[0] / near;
    // In a narrow frame the vertical space is as large as the horizontal one.
    let home = [wide, high.max(0.3 * wide.min(1.0)), 0.5 * set.depth * habit.space[1]].map(|v| v.max(0.02));
    let volume = 0.5 * 4.19 * home[0] * home[1] * home[2];
    let perception_radius = libm::cbrt(NEIGHBOURS / 4.19 * volume / set.agents as f64);
    // In frame heights; the wings of a body fit within the space.
    let span = set.size.bounds().1 / 1920.0 * aspect;
    let separation_radius = (0.42 * perception_radius).max(0.75 * span).min(0.5);
    let perception_radius = perception_radius.max(1.6 * separation_radius).min(0.8);
    let cos = (1.0 - habit.below * habit.below).sqrt();
    let rules = Rules {
        agents: set.agents as usize,
        predators: set.predators as usize,
        seed,
        aspect: aspect as f32,
        dt: dt as f32,
        speed: set.speed as f32,
        perception_radius: perception_radius as f32,
        separation_radius: separation_radius as f32,
        separation: set.separation as f32,
        alignment: set.alignment as f32,
        cohesion: set.cohesion as f32,
        wander: set.wander as f32,
        erratic: set.erratic as f32,
        wander_rate: habit.wander_rate,
        // Gulls circle together.
        circle: if set.figure == Figure::Gull { 0.7 } else { 0.0 },
        waves: set.waves as f32,
        pull: set.pull as f32,
        vertical_damping: habit.vertical_damping as f32,
        agility: habit.agility as f32,
        up: [0.0, -cos as f32, habit.below as f32],
        home: home.map(|v| v as f32),
        wind: winds(seed, home[0].max(home[1])),
        solid,
    };
    (rules, (habit.beats * set.flap) as f32)
}
