//! The shapes of particles.

use super::super::sprites::image;
use super::hair;
use super::layer::{Appearance, Layer, Sprite};
use crate::particle::Spread;
use crate::particle::draw::{Blend, Shape, ShapeError};
use std::sync::Arc;

impl Sprite {
    /// Whether its pictures move within their frames.
    pub(super) fn moves(&self) -> bool {
        self.offset.iter().chain(&self.scroll).any(|s| *s != Spread::default())
    }
}

impl Layer {
    /// The part of a streak over which it widens. What glows is bright at the head and fades towards where it was when the
    /// shutter opened, flakes and drops are even; the streaks of a trail join.
    pub(super) fn taper(&self, blend: Blend) -> f32 {
        match blend {
            _ if self.trail > 0.0 => 0.0,
            Blend::Add => 0.85,
            _ => 0.3,
        }
    }
}

impl Appearance {
    /// The errors that can be found without the picture.
    pub(super) fn check(&self) -> Result<(), ShapeError> {
        match self {
            Appearance::Disc(soft) => Shape::disc(*soft).map(|_| ()),
            Appearance::Ring(inner, soft) => Shape::ring(*inner, *soft).map(|_| ()),
            Appearance::Polygon(corners, soft) => Shape::polygon(corners, *soft).map(|_| ()),
            Appearance::Hair(..) | Appearance::Sprite(_) => Ok(()),
        }
    }

    /// The number of shapes.
    pub(super) fn pages(&self) -> u32 {
        if let Appearance::Sprite(s) = self { s.columns.max(1).saturating_mul(s.rows.max(1)) } else { 1 }
    }

    /// The shapes of its pages, and of its streak, which tapers by `taper`. `colour` is the colour of hairs.
    pub(super) fn shapes(&self, colour: [f64; 3], taper: f32) -> Result<(Vec<Shape>, Shape), String> {
        let fault = |e: ShapeError| e.to_string();
        let one = |shape: Result<Shape, ShapeError>, soft: f32| {
            Ok((vec![shape.map_err(fault)?], Shape::streak(soft, taper).map_err(fault)?))
        };
        match self {
            Appearance::Disc(soft) => one(Shape::disc(*soft), *soft),
            Appearance::Ring(inner, soft) => one(Shape::ring(*inner, *soft), *soft),
            Appearance::Polygon(corners, soft) => one(Shape::polygon(corners, *soft), *soft),
            Appearance::Hair(bend, thick) => one(
                Ok(Shape::Image(Arc::new(hair::hair(*bend, *thick, colour).map_err(|e| e.to_string())?))),
                1.0,
            ),
            Appearance::Sprite(sprite) => {
                let name = sprite.picture.name();
                let frame = sprite.picture.require()?;
                let whole = image(frame).map_err(|e| format!("{name}: {e}"))?;
                let page = |i: u32| {
                    let part = whole.part(i as usize, sprite.columns as usize, sprite.rows as usize);
                    let part = part.map(|p| if sprite.moves() { p.repeating() } else { p });
                    part.map(|p| Shape::Image(Arc::new(p))).map_err(|e| format!("{name}: {e}"))
                };
                let pages = (0..self.pages()).map(page).collect::<Result<_, _>>()?;
                Ok((pages, Shape::streak(1.0, taper).map_err(fault)?))
            }
        }
    }
}
