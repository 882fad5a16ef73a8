//! Floor, walls and obstacles.

use super::grain::Body;
use crate::particle::fluid::SignedDistanceField;
use std::sync::Arc;

/// Floor, walls and obstacles.
#[derive(Clone, Debug, Default)]
pub struct Solids {
    /// The bottom of the frame is solid.
    pub floor: bool,
    /// The start and the end of its hole.
    pub drain: [f32; 2],
    /// The left and right sides of the frame are solid.
    pub walls: bool,
    /// An obstacle.
    pub obstacle: Option<Arc<SignedDistanceField>>,
}

/// The contact of a body with something solid: the normal, and the overlap.
pub(super) type SolidContact = ([f32; 2], f32);

impl Solids {
    /// The solids that a body overlaps, or misses by less than `gap`; `size` is that of the frame. Overlaps of solids
    /// that it misses are below zero.
    #[inline(always)]
    pub(super) fn contacts(&self, body: &Body, gap: f32, size: [f32; 2], mut f: impl FnMut(SolidContact)) {
        let ([x, y], r) = (body.at, body.radius);
        let mut test = |normal, overlap: f32| {
            if overlap > -gap {
                f((normal, overlap));
            }
        };
        if let Some(obstacle) = &self.obstacle {
            let (distance, normal) = obstacle.at(x, y);
            test(normal, r - distance);
        }
        // Grains below the floor do not touch it, so it does not push them back up.
        if self.has_floor(x) && y < size[1] + 1.0 {
            test([0.0, -1.0], y + r - size[1]);
        }
        if self.walls {
            test([1.0, 0.0], r - x);
            test([-1.0, 0.0], x + r - size[0]);
        }
    }

    #[inline(always)]
    fn has_floor(&self, x: f32) -> bool {
        self.floor && !(self.drain[0] < x && x < self.drain[1])
    }

    /// The distance from a place to the nearest solid, below 0 in it.
    pub(super) fn distance(&self, [x, y]: [f32; 2], size: [f32; 2]) -> f32 {
        let mut nearest = self.obstacle.as_ref().map_or(f32::MAX, |o| o.at(x, y).0);
        if self.has_floor(x) {
            nearest = nearest.min(size[1] - y);
        }
        if self.walls {
            nearest = nearest.min(x).min(size[0] - x);
        }
        nearest
    }
}
