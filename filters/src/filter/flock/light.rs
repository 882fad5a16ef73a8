//! Light on bodies: day for birds, dusk for bats, a lamp for moths, water for fish; and the haze before them.

use super::figure::Figure;
use super::mesh::{Skin, blend};
use super::vector::{V, add, dot, mul, sub, unit};
use super::view::View;
use crate::math::smoothstep;

/// The light at an agent.
pub(super) struct Light {
    figure: Figure,
    /// The direction to the sun or the lamp, and its strength.
    to: V,
    strong: f32,
    /// The brightness of all light.
    all: f32,
    haze: Option<(V, f32)>,
    /// Replaces the colours.
    colour: Option<V>,
}

const SUN: V = [-0.36, -0.80, -0.48];
const DUSK: V = [0.28, -0.70, 0.657];
const WATER: V = [-0.33, -0.86, -0.39];

/// The eighth power of a number; 0 below 0.
fn eighth(v: f32) -> f32 {
    let v = v.max(0.0);
    let v2 = v * v;
    let v4 = v2 * v2;
    v4 * v4
}

impl Light {
    pub(super) fn new(view: &View<'_>, figure: Figure, p: V) -> Light {
        let params = view.params;
        let (to, strong, all) = match figure {
            Figure::Moth => {
                let to = sub(params.lamp, p);
                (unit(to, SUN), params.lamplight() * 5.0 / (1.0 + dot(to, to) * 45.0), 0.15)
            }
            Figure::Herring => (WATER, 1.0, view.daylight(p)),
            Figure::Bat => (DUSK, 0.30, 1.0),
            _ => (SUN, 0.30, 1.0),
        };
        let (haze, _) = view.haze(p);
        Light {
            figure,
            to,
            strong,
            all,
            haze: haze.map(|(c, part)| (c.map(|v| v as f32), part as f32)),
            colour: params.colour.map(|c| c.map(|v| v as f32)),
        }
    }

    /// The colour of a side of a surface that faces along `n`; `most` is the brightest value of the figure.
    pub(super) fn shade(&self, own: V, skin: &Skin, n: V, most: f32) -> V {
        let mut own = own;
        if let Some(colour) = self.colour {
            let bright = own[0].max(own[1]).max(own[2]);
            own = mul(colour, 0.5 + 0.5 * (bright / most).min(1.0));
        }
        let up = 0.5 - 0.5 * n[1];
        let facing = dot(n, self.to);
        let through = skin.sheer * (-facing).max(0.0);
        // The direction halfway to the viewer.
        let half = unit(add(self.to, [0.0, 0.0, -1.0]), [0.0, 0.0, -1.0]);
        let spot = eighth(dot(n, half));
        let rgb = match self.figure {
            Figure::Moth => {
                let wrapped = ((facing + 0.55) / 1.55).max(0.0);
                let lamp = self.strong * (0.14 + 0.90 * wrapped + 0.85 * through);
                // Fur and wings before the lamp have bright edges.
                let edge = 1.0 - n[2] * n[2];
                let rim = 0.5 * self.strong * self.to[2].max(0.0) * edge * edge;
                let night = self.all * (0.55 + 0.45 * up);
                let tint = [1.0, 0.92, 0.78];
                let shine = self.strong * skin.gloss * spot;
                [0, 1, 2].map(|i: usize| (own[i] * (night + lamp + rim) + shine) * tint[i])
            }
            Figure::Herring => {
                // A mirror reflects bright water above, dim water below.
                let d = -n[2];
                let reflected = [2.0 * d * n[0], 2.0 * d * n[1], 2.0 * d * n[2] + 1.0];
                let above = -reflected[1];
                let water = blend([0.10, 0.25, 0.33], [0.42, 0.60, 0.66], smoothstep(-0.9, 0.15, above));
                let mirror = blend(water, [1.0, 1.0, 0.98], smoothstep(0.15, 0.95, above));
                let flash = eighth(eighth(dot(unit(reflected, [0.0, 0.0, -1.0]), self.to)).sqrt());
                let k = 0.34 + 0.92 * up + 0.18 * facing.max(0.0) + 0.5 * through;
                let part = 0.5 * skin.gloss;
                let body = [0, 1, 2]
                    .map(|i: usize| own[i] * k * (1.0 - part) + mirror[i] * part * (0.35 + 0.8 * own[i]));
                mul(add(body, [1.2 * flash * skin.gloss; 3]), self.all)
            }
            Figure::Bat => {
                // Against the last light, so that it is darker than what it flies over.
                let k = 0.16 + 0.18 * up + 0.5 * self.strong * facing.max(0.0) + 0.35 * through;
                let warm = [1.0 + 0.12 * through, 1.0, 1.0 - 0.06 * through];
                [0, 1, 2].map(|i: usize| own[i] * k * warm[i] + 0.05 * skin.gloss * spot)
            }
            _ => {
                let k = 0.53 + 0.40 * up + self.strong * facing.max(0.0) + 0.55 * through;
                // Shadows are lit by the sky.
                let sky = (1.0 - k).max(0.0);
                let tint = [1.0 - 0.10 * sky, 1.0, 1.0 + 0.18 * sky];
                [0, 1, 2].map(|i: usize| own[i] * k * tint[i] + 0.16 * skin.gloss * spot)
            }
        };
        let rgb = rgb.map(|c| c.clamp(0.0, 1.0));
        match self.haze {
            Some((haze, part)) => blend(rgb, haze, part),
            None => rgb,
        }
    }
}
