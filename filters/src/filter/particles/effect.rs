//! The parts of an effect: layers, each an emitter with one kind of particle and one appearance.
//!
//! Positions are in a space in front of a camera: x to the right, y down, z away. At depth 1 a unit is a frame height
//! and (0, 0) the middle of the picture; at depth z everything is z times as small. So effects do not depend on the
//! frame size.

use super::super::sprites::image;
use super::hair;
use crate::curve::Curve;
use crate::particle::draw::{Blend, BlendSpace, Shape, ShapeError};
use crate::particle::{Births, FLICKS, LAST, Spread};
use crate::settings::ImageAsset;
use std::sync::Arc;

/// The largest number of simultaneous particles of an effect.
pub const MAX_PARTICLES: i64 = 4_000_000;

/// The largest number of layers of an effect.
pub const MAX_LAYERS: usize = 64;

/// An effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Drawn by depth; at the same depth by birth, then in this order.
    pub layers: Vec<Layer>,
    /// The blend mode of layers without their own.
    pub blend: Blend,
    /// Sideways wind, in units per second.
    pub wind: f64,
    /// The values in which particles are blended with the frame.
    pub light: BlendSpace,
}

/// When particles are born.
#[derive(Clone, Debug, PartialEq)]
pub enum Emission {
    /// A constant number per second, including the time before the first frame.
    Steady(f64),
    /// Several at a time, at regular intervals in seconds.
    Pulses {
        /// Seconds between bursts.
        every: f64,
        /// The number of births of each burst.
        count: f64,
    },
    /// A number per second that follows a curve of the effect's time.
    Curve(Curve),
    /// Bursts at these times: seconds, and the number of births.
    Bursts(Vec<[f64; 2]>),
}

/// Where particles are born.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpawnArea {
    /// Anywhere in the view between two depths. A particle that leaves at a side comes in at the other, out of
    /// sight.
    Volume {
        /// Nearest depth, above 0.
        near: f32,
        /// Farthest depth.
        far: f32,
    },
    /// The same, and a particle that passes the camera starts again at the far end.
    Tunnel {
        /// Nearest depth, above 0.
        near: f32,
        /// Farthest depth.
        far: f32,
    },
    /// In a box, which may be reduced to a line or a point.
    Box {
        /// Left and right, in frame widths from the left edge, as seen at depth 1.
        x: [f32; 2],
        /// Top and bottom, in frame heights from the top edge, as seen at depth 1.
        y: [f32; 2],
        /// Nearest and farthest depth.
        z: [f32; 2],
    },
    /// In a disc.
    Disc {
        /// Its centre, in frame widths and heights from the top left corner, as seen at depth 1.
        centre: [f32; 2],
        /// Its radius.
        radius: f32,
        /// Nearest and farthest depth.
        z: [f32; 2],
    },
    /// Beyond an edge of the frame, just out of sight.
    Edge {
        /// Which edge.
        side: Side,
        /// Nearest and farthest depth.
        z: [f32; 2],
    },
    /// In the bright areas of the layer's `mask`, which is stretched over the frame.
    Mask {
        /// Nearest and farthest depth.
        z: [f32; 2],
    },
    /// At the position of the layer's `path` at the time of birth.
    Path {
        /// Nearest and farthest depth.
        z: [f32; 2],
    },
}

/// An edge of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Above.
    Top,
    /// Below.
    Bottom,
    /// On the left.
    Left,
    /// On the right.
    Right,
}

impl SpawnArea {
    /// Nearest and farthest depth.
    pub(super) fn depth(&self) -> [f32; 2] {
        match *self {
            SpawnArea::Volume { near, far } | SpawnArea::Tunnel { near, far } => [near, far],
            SpawnArea::Box { z, .. }
            | SpawnArea::Disc { z, .. }
            | SpawnArea::Edge { z, .. }
            | SpawnArea::Mask { z }
            | SpawnArea::Path { z } => z,
        }
    }
}

/// The appearance of a particle.
#[derive(Clone, Debug, PartialEq)]
pub enum Appearance {
    /// A disc; the number is the part of the radius that fades.
    Disc(f32),
    /// A ring: the hole's radius, and the part of the band that fades.
    Ring(f32, f32),
    /// A convex polygon around the middle, and the part that fades.
    Polygon(Vec<[f32; 2]>, f32),
    /// A hair: how far it bends from end to end, in turns, and half its thickness in half widths. It has the first of
    /// the layer's colours.
    Hair(f32, f32),
    /// A picture, or the pages of a flip-book. It keeps its own colours.
    Sprite(Sprite),
}

/// A picture for particles.
#[derive(Clone, Debug, PartialEq)]
pub struct Sprite {
    /// The picture with alpha.
    pub picture: ImageAsset,
    /// The number of columns of pages.
    pub columns: u32,
    /// The number of rows of pages.
    pub rows: u32,
    /// The page that a particle shows.
    pub page: Page,
    /// Pages per second, for [`Page::Time`].
    pub page_rate: f32,
    /// The offset of the picture (or page) to the right and down within its frame at birth, in its widths and
    /// heights. Parts that leave the frame at one side come in at the other.
    pub offset: [Spread; 2],
    /// The change of the offset per second.
    pub scroll: [Spread; 2],
}

impl Sprite {
    /// Whether its pictures move within their frames.
    pub(super) fn moves(&self) -> bool {
        self.offset.iter().chain(&self.scroll).any(|s| *s != Spread::default())
    }
}

/// Which page of a flip-book a particle shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// A random page.
    Chance,
    /// From the first at birth to the last at death.
    Life,
    /// In order from a random page, repeatedly.
    Time,
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

    /// The shapes of its pages, and of its streak. `colour` is the colour of hairs.
    pub(super) fn shapes(&self, colour: [f64; 3]) -> Result<(Vec<Shape>, Shape), String> {
        let fault = |e: ShapeError| e.to_string();
        let one = |shape: Result<Shape, ShapeError>, soft: f32| {
            Ok((vec![shape.map_err(fault)?], Shape::streak(soft).map_err(fault)?))
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
                let frame = sprite.picture.frame().ok_or_else(|| format!("{name} has not been read"))?;
                let whole = image(frame).map_err(|e| format!("{name}: {e}"))?;
                let page = |i: u32| {
                    let part = whole.part(i as usize, sprite.columns as usize, sprite.rows as usize);
                    let part = part.map(|p| if sprite.moves() { p.repeating() } else { p });
                    part.map(|p| Shape::Image(Arc::new(p))).map_err(|e| format!("{name}: {e}"))
                };
                let pages = (0..self.pages()).map(page).collect::<Result<_, _>>()?;
                Ok((pages, Shape::streak(1.0).map_err(fault)?))
            }
        }
    }
}

/// The colours of particles. Red, green and blue are as displayed, 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Tint {
    /// A random one of these.
    One(Vec<[f64; 3]>),
    /// A random colour between the first and the last.
    Mix(Vec<[f64; 3]>),
    /// From the first at birth to the last at death.
    Life(Vec<[f64; 3]>),
}

impl Tint {
    pub(super) fn colours(&self) -> &[[f64; 3]] {
        match self {
            Tint::One(c) | Tint::Mix(c) | Tint::Life(c) => c,
        }
    }
}

/// A value over life: 0 is birth, 1 death; linear between points, which are in ascending order.
pub type LifeCurve = Vec<[f32; 2]>;

/// One emitter with one kind of particle. Lengths are in units (frame heights at depth 1), times in seconds, angles in
/// turns.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Layers with equal stream, births and place have the same particles, for example a glow around a spark.
    pub stream: u64,
    /// The name for other layers.
    pub name: String,
    /// The name of the parent layer, whose particles' deaths are the births of this layer, in place of `when`
    /// and `place`; empty for none.
    pub born_of: String,
    /// Number of births for each dead particle.
    pub children: u32,
    /// The fraction of the parent's velocity that they start with.
    pub inherit: f32,
    /// The times of birth. In a volume: for a frame of 16:9; other frames in proportion.
    pub when: Emission,
    /// The birthplaces.
    pub place: SpawnArea,
    /// For [`SpawnArea::Mask`]: the picture.
    pub mask: Option<ImageAsset>,
    /// For [`SpawnArea::Path`]: the birthplace, in frame widths and heights from the top left corner, over the effect's
    /// time.
    pub path: Option<Curve<[f64; 2]>>,
    /// The direction of the start.
    pub direction: [f32; 3],
    /// Half the angle of spread around it, 0 to 0.5.
    pub cone: f32,
    /// The lifetime.
    pub life: Spread,
    /// The floor, on which they end earlier when they fall to it, in frame heights from the top edge, as seen at their
    /// depth; `None` is nowhere. In a volume or tunnel they then fall from above it. The position before swirl and
    /// sway counts.
    pub floor: Option<Spread>,
    /// The speed of the start.
    pub speed: Spread,
    /// Gravity and lift, units per second squared.
    pub pull: [f32; 3],
    /// The loss of speed per second by friction: v is proportional to exp(-drag t).
    pub drag: f32,
    /// The fraction of the wind's speed that they have from the start.
    pub wind: f32,
    /// The displacement by a smooth turbulence field.
    pub swirl: f32,
    /// Length scale of that field.
    pub swirl_size: f32,
    /// The number of changes of the field per second.
    pub swirl_rate: f32,
    /// The age at which it has its full effect.
    pub swirl_age: f32,
    /// The amplitude of individual sway, x and y.
    pub sway: [f32; 2],
    /// Its frequency per second.
    pub sway_rate: f32,
    /// Half their width.
    pub size: Spread,
    /// The growth of it per second.
    pub growth: Spread,
    /// The factor of size over life.
    pub size_over: LifeCurve,
    /// The angle at birth.
    pub angle: Spread,
    /// Turns per second.
    pub spin: Spread,
    /// Tumbles per second: they look narrow and wide alternately, and darker when narrow.
    pub tumble: f32,
    /// Height over width.
    pub squash: f32,
    /// Opacity, 0 to 1.
    pub opacity: Spread,
    /// The factor of opacity over life.
    pub opacity_over: LifeCurve,
    /// The depth of twinkling in opacity, 0 to 1.
    pub twinkle: f32,
    /// Its frequency per second.
    pub twinkle_rate: f32,
    /// The colour.
    pub tint: Tint,
    /// The shape.
    pub form: Appearance,
    /// The blend mode; `None` is that of the effect.
    pub blend: Option<Blend>,
    /// The offset of drawing from the position, in their half widths.
    pub aside: [f32; 2],
    /// Exposure time: moving particles become streaks.
    pub shutter: f32,
    /// The time for which a trail stays visible, in the effect's time; 0 is no trail.
    pub trail: f32,
    /// The number of streaks of a trail.
    pub trail_steps: u32,
    /// The fading of a streak with its length: 0 is none, 1 preserves its total light.
    pub thin: f32,
    /// The depth in focus, and the half width of the blur at infinite depth; 0 is no blur.
    pub focus: [f32; 2],
}

impl Default for Layer {
    fn default() -> Layer {
        Layer {
            stream: 0,
            name: String::new(),
            born_of: String::new(),
            children: 1,
            inherit: 0.0,
            when: Emission::Steady(100.0),
            place: SpawnArea::Volume { near: 0.5, far: 3.0 },
            mask: None,
            path: None,
            direction: [0.0, 1.0, 0.0],
            cone: 0.0,
            life: Spread::between(5.0, 6.0),
            floor: None,
            speed: Spread::fixed(0.0),
            pull: [0.0; 3],
            drag: 0.0,
            wind: 1.0,
            swirl: 0.0,
            swirl_size: 1.0,
            swirl_rate: 0.1,
            swirl_age: 0.0,
            sway: [0.0; 2],
            sway_rate: 0.3,
            size: Spread::fixed(0.003),
            growth: Spread::fixed(0.0),
            size_over: vec![[0.0, 1.0]],
            angle: Spread::fixed(0.0),
            spin: Spread::fixed(0.0),
            tumble: 0.0,
            squash: 1.0,
            opacity: Spread::fixed(1.0),
            opacity_over: vec![[0.0, 0.0], [0.08, 1.0], [0.92, 1.0], [1.0, 0.0]],
            twinkle: 0.0,
            twinkle_rate: 1.0,
            tint: Tint::Mix(vec![[1.0; 3]]),
            form: Appearance::Disc(1.0),
            blend: None,
            aside: [0.0; 2],
            shutter: 0.0,
            trail: 0.0,
            trail_steps: 8,
            thin: 1.0,
            focus: [1.0, 0.0],
        }
    }
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
}

/// The value of a list over life at `t`, 0 to 1.
pub(super) fn life_value(points: &[[f32; 2]], t: f32) -> f32 {
    let after = points.partition_point(|p| p[0] <= t);
    match (after.checked_sub(1).and_then(|i| points.get(i)), points.get(after)) {
        (Some(a), Some(b)) => a[1] + (b[1] - a[1]) * ((t - a[0]) / (b[0] - a[0])),
        (Some(p), None) | (None, Some(p)) => p[1],
        (None, None) => 1.0,
    }
}

/// Births in pulses, for all times; number 0 is the first of the pulse at time 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pulses {
    every: i64,
    count: i64,
}

impl Pulses {
    pub(super) fn new(every: f64, count: f64) -> Pulses {
        Pulses { every: ((every * FLICKS as f64) as i64).max(1), count: (count + 0.5) as i64 }
    }
}

impl Births for Pulses {
    fn born(&self, at: i64) -> i64 {
        (at.clamp(-LAST, LAST).div_euclid(self.every) + 1).saturating_mul(self.count)
    }

    fn most(&self, _: i64, _: i64, life: i64) -> i64 {
        (life.max(0) / self.every + 1).saturating_mul(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::EffectError;
    use super::*;

    #[test]
    fn values_over_life_are_straight_between_points() {
        let points = [[0.0, 0.0], [0.5, 1.0], [1.0, 0.5]];
        for (t, want) in [(0.0, 0.0), (0.25, 0.5), (0.5, 1.0), (0.75, 0.75), (1.0, 0.5), (2.0, 0.5)] {
            assert_eq!(life_value(&points, t), want);
        }
        assert_eq!(life_value(&[[0.3, 0.7]], 0.0), 0.7);
    }

    #[test]
    fn pulses_come_all_at_once() {
        let pulses = Pulses::new(0.5, 10.0);
        assert_eq!([-1, 0, FLICKS / 2 - 1, FLICKS / 2].map(|t| pulses.born(t)), [0, 10, 10, 20]);
        let mut times = [0; 64];
        pulses.times(crate::simd::Level::SCALAR, -10, &mut times);
        assert_eq!([times[0], times[9], times[10], times[20]], [-FLICKS / 2, -FLICKS / 2, 0, FLICKS / 2]);
        for life in [1, FLICKS / 2, FLICKS / 2 + 1, 3 * FLICKS] {
            let most = (0..40).map(|i| i * FLICKS / 20);
            let most = most.map(|t| pulses.born(t) - pulses.born(t - life)).max().unwrap();
            assert!(pulses.most(0, FLICKS, life) >= most);
        }
    }

    #[test]
    fn wrong_effects_are_refused() {
        let with = |layer: Layer| {
            Effect { layers: vec![layer], blend: Blend::Over, wind: 0.0, light: BlendSpace::Gamma }.check()
        };
        assert_eq!(with(Layer::default()), Ok(()));
        let wrong = with(Layer { life: Spread::between(-1.0, 2.0), ..Layer::default() });
        assert_eq!(wrong.unwrap_err().to_string(), "layer 1: life: -1 is not from 0.001 to 10000");
        assert!(with(Layer { size: Spread::fixed(f32::NAN), ..Layer::default() }).is_err());
        assert!(with(Layer { when: Emission::Steady(1e12), ..Layer::default() }).is_err());
        assert!(with(Layer { opacity_over: vec![[0.5, 1.0], [0.5, 1.0]], ..Layer::default() }).is_err());
        assert!(with(Layer { tint: Tint::One(vec![]), ..Layer::default() }).is_err());
        assert!(with(Layer { form: Appearance::Ring(1.0, 0.0), ..Layer::default() }).is_err());
        let none = Effect { layers: vec![], blend: Blend::Over, wind: 0.0, light: BlendSpace::Gamma };
        assert_eq!(none.check(), Err(EffectError::Layers(0)));
    }
}
