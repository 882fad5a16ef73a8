//! A layer of an effect: an emitter with one kind of particle and one appearance, and its keys in effect files.
//!
//! Positions are in a space in front of a camera: x to the right, y down, z away. At depth 1 a unit is a frame height
//! and (0, 0) the middle of the picture; at depth z everything is z times as small. So effects do not depend on the
//! frame size.

use super::curve_rate::peak;
use super::keys::field::{self, Fault, Field, Value, choice, curve, number};
use super::keys::{Key, KeyError, KeyType, LoadPicture, keys};
use crate::choices;
use crate::curve::Curve;
use crate::particle::Spread;
use crate::particle::draw::Blend;
use crate::settings::{Choice, ChoiceEnum, ImageAsset, toml_string};

/// The largest number of columns and rows of a flip-book.
const MAX_PAGES: u64 = 32;

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
        /// Nearest and farthest depth, above 0.
        z: [f32; 2],
    },
    /// The same, and a particle that passes the camera starts again at the far end.
    Tunnel {
        /// Nearest and farthest depth, above 0.
        z: [f32; 2],
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

choices! {
    /// An edge of the frame.
    pub enum Side {
        /// above
        Top = "top",
        /// below
        Bottom = "bottom",
        /// on the left
        Left = "left",
        /// on the right
        Right = "right",
    }
}

impl SpawnArea {
    /// Nearest and farthest depth.
    pub(super) fn depth(&self) -> [f32; 2] {
        match *self {
            SpawnArea::Volume { z }
            | SpawnArea::Tunnel { z }
            | SpawnArea::Box { z, .. }
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

impl Default for Sprite {
    fn default() -> Sprite {
        let (picture, page, still) = (ImageAsset::named(""), Page::Chance, [Spread::default(); 2]);
        Sprite { picture, columns: 1, rows: 1, page, page_rate: 12.0, offset: still, scroll: still }
    }
}

choices! {
    /// Which page of a flip-book a particle shows.
    pub enum Page {
        /// a random one
        Chance = "chance",
        /// from the first at birth to the last at death
        Life = "life",
        /// in turn, from a random first one
        Time = "time",
    }
}

choices! {
    /// How a particle chooses among the colours.
    pub enum ColourBy {
        /// a random one of the colours
        One = "one",
        /// a random mix of the first and the last
        Mix = "mix",
        /// from the first at birth to the last at death
        Life = "life",
    }
}

/// The colours of particles. Red, green and blue are as displayed, 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Tint {
    /// How a particle chooses among them.
    pub by: ColourBy,
    /// The colours.
    pub colours: Vec<[f64; 3]>,
}

/// A value over life: 0 is birth, 1 death; linear between points, which are in ascending order.
pub type LifeCurve = Vec<[f32; 2]>;

/// Implements [`Field`] for an enum with data: a word stands for a variant with default data.
macro_rules! variants {
    ($t:ty { $($(#[doc = $help:literal])+ $word:literal = $default:expr),* $(,)? }) => {
        impl $t {
            const CHOICES: &'static [Choice] = &[$(Choice::new($word, concat!($($help),+))),*];
        }

        impl Field for $t {
            fn read(value: &Value<'_>, of: KeyType, _: LoadPicture<'_>) -> Result<$t, Fault> {
                let which = choice(Self::CHOICES, value)?;
                [$($default),*].into_iter().nth(which).ok_or_else(|| Fault::expected(value, of))
            }

            fn print(&self) -> Option<String> {
                let same = |v: &$t| core::mem::discriminant(v) == core::mem::discriminant(self);
                [$($default),*].iter().position(same).map(|i| toml_string(Self::CHOICES[i].id))
            }
        }
    };
}

variants! {
    SpawnArea {
        /// anywhere in view between two depths; particles that drift out come in on the other side
        "volume" = SpawnArea::Volume { z: [0.5, 3.0] },
        /// the same, and particles that pass the camera start again at the far end
        "tunnel" = SpawnArea::Tunnel { z: [0.5, 3.0] },
        /// in a box, which may be a line or a point
        "box" = SpawnArea::Box { x: [0.0, 1.0], y: [0.0, 1.0], z: [1.0; 2] },
        /// in a disc
        "disc" = SpawnArea::Disc { centre: [0.5; 2], radius: 0.1, z: [1.0; 2] },
        /// just beyond an edge of the frame
        "edge" = SpawnArea::Edge { side: Side::Top, z: [1.0; 2] },
        /// where an image, stretched over the frame, is bright
        "mask" = SpawnArea::Mask { z: [1.0; 2] },
        /// at a point that follows a curve
        "path" = SpawnArea::Path { z: [1.0; 2] },
    }
}

variants! {
    Appearance {
        /// a disc
        "disc" = Appearance::Disc(1.0),
        /// a ring
        "ring" = Appearance::Ring(0.7, 1.0),
        /// a convex polygon
        "polygon" = Appearance::Polygon(Vec::new(), 0.0),
        /// a thin curved line in the first of the colours
        "hair" = Appearance::Hair(0.4, 0.01),
        /// an image with its own colours
        "sprite" = Appearance::Sprite(Sprite::default()),
    }
}

impl Field for Emission {
    fn read(value: &Value<'_>, of: KeyType, _: LoadPicture<'_>) -> Result<Emission, Fault> {
        match value.get_ref().as_str() {
            Some(_) => curve(value, of).map(Emission::Curve),
            None => number(value).map(Emission::Steady).ok_or_else(|| Fault::expected(value, of)),
        }
    }

    fn print(&self) -> Option<String> {
        match self {
            Emission::Steady(rate) => rate.print(),
            Emission::Curve(curve) => Some(toml_string(&curve.to_string())),
            Emission::Pulses { .. } | Emission::Bursts(_) => None,
        }
    }

    fn check(&self, of: KeyType) -> Result<(), KeyError> {
        match self {
            Emission::Steady(rate) => rate.check(of),
            Emission::Curve(curve) => {
                curve.resolve(0, None).map_err(|_| KeyError::End)?;
                peak(curve).unwrap_or_else(|wrong| wrong).check(of)
            }
            Emission::Pulses { .. } | Emission::Bursts(_) => Ok(()),
        }
    }
}

keys! {
    /// One emitter with one kind of particle. Lengths are in units (frame heights at depth 1), times in seconds, angles in
    /// turns.
    pub struct Layer {
        /// Layers of the same stream, births and place have the same particles: a glow around a spark.
        stream: u64 = 0 => (Integer(u32::MAX as u64), ""),
        /// The name that `born-of` refers to.
        name: String = String::new() => (Name, ""),
        /// Particles are born where and when particles of this layer die. Replaces `rate` and `place`.
        born_of as "born-of": String = String::new() => (Name, ""),
        /// Number of births for each dead particle.
        children: u32 = 1 => (Integer(10_000), ""),
        /// Share of the dead particle's velocity that they start with.
        inherit: f32 = 0.0 => (Number(-10.0, 10.0), ""),
        /// The times of birth. In a volume: for a frame of 16:9; other frames in proportion.
        when: Emission = Emission::Steady(100.0) => [
            /// How often particles are born, also before the first frame. A curve counts the effect's time in frames
            /// or, with an s, in seconds. In a volume or tunnel the rate is for a 16:9 frame; other shapes have more
            /// or fewer in proportion.
            "rate": Rate(1e8), "births per second", Layer { when: when @ (Emission::Steady(_) | Emission::Curve(_)), .. } => when;
            /// Replaces `rate`: bursts per second, each with `count` births.
            "every": Number(0.001, 1e6), "seconds", Layer { when: Emission::Pulses { every, .. }, .. } => every;
            /// Number of births in each burst.
            "count": Number(0.0, 1e8), "births", Layer { when: Emission::Pulses { count, .. }, .. } => count;
            /// Replaces `rate`: numbers of births at given times.
            "bursts": Bursts, "seconds, births", Layer { when: Emission::Bursts(all), .. } => all;
        ],
        /// The birthplaces.
        place: SpawnArea = SpawnArea::Volume { z: [0.5, 3.0] } => [
            /// Where particles are born.
            "place": Choice(SpawnArea::CHOICES), "", Layer { place, .. } => place;
            /// Nearest and farthest distance from the camera.
            "depth": Numbers(2, 0.01, 1000.0), "units", Layer {
                place: SpawnArea::Volume { z } | SpawnArea::Tunnel { z } | SpawnArea::Box { z, .. } | SpawnArea::Disc { z, .. }
                    | SpawnArea::Edge { z, .. } | SpawnArea::Mask { z } | SpawnArea::Path { z },
                ..
            } => z;
            /// Left and right side of a box, from the left edge of the frame, as seen at depth 1.
            "x": Numbers(2, -100.0, 100.0), "frame widths", Layer { place: SpawnArea::Box { x, .. }, .. } => x,
                "place = \"box\"";
            /// Top and bottom of a box, from the top edge of the frame, as seen at depth 1.
            "y": Numbers(2, -100.0, 100.0), "frame heights", Layer { place: SpawnArea::Box { y, .. }, .. } => y,
                "place = \"box\"";
            /// Centre of a disc, from the top left corner of the frame, as seen at depth 1. Default: the middle of
            /// the frame.
            "centre": Numbers(2, -100.0, 100.0), "frame widths, heights",
                Layer { place: SpawnArea::Disc { centre, .. }, .. } => centre, "place = \"disc\"";
            /// Radius of a disc. Default: 0.1.
            "radius": Number(0.0, 100.0), "units", Layer { place: SpawnArea::Disc { radius, .. }, .. } => radius,
                "place = \"disc\"";
            /// Which edge of the frame.
            "edge": Choice(Side::CHOICES), "", Layer { place: SpawnArea::Edge { side, .. }, .. } => side, "place = \"edge\"";
            /// Image of a mask; its name is relative to the folder of this file. Brighter and more opaque areas have
            /// more births.
            "mask": Picture, "", Layer { place: SpawnArea::Mask { .. }, mask, .. } => mask, "place = \"mask\"";
            /// Place of births over time, from the top left corner of the frame. Keys count frames from the clip's
            /// first, whatever number its file has.
            "path": Path, "frame widths, heights", Layer { place: SpawnArea::Path { .. }, path, .. } => path,
                "place = \"path\"";
        ],
        /// The picture of [`SpawnArea::Mask`].
        mask: Option<ImageAsset> = None => (),
        /// The birthplace of [`SpawnArea::Path`] over the effect's time, in frame widths and heights from the top left
        /// corner.
        path: Option<Curve<[f64; 2]>> = None => (),
        /// Direction at birth: right, down, away. Its length does not matter.
        direction: [f32; 3] = [0.0, 1.0, 0.0] => (Numbers(3, -1e6, 1e6), ""),
        /// Largest angle from that direction: 0.5 is any direction.
        cone: f32 = 0.0 => (Number(0.0, 0.5), "turns"),
        /// How long particles live.
        life: Spread = Spread::between(5.0, 6.0) => (Spread(0.001, 10_000.0), "seconds"),
        /// Height at which falling particles end, from the top edge of the frame, as seen at their depth. Default:
        /// none. In a volume or tunnel they then fall from above.
        floor: Option<Spread> = None => (Spread(-100.0, 100.0), "frame heights"),
        /// Speed at birth.
        speed: Spread = Spread::fixed(0.0) => (Spread(-1000.0, 1000.0), "units per second"),
        /// Gravity and lift: right, down, away.
        pull: [f32; 3] = [0.0; 3] => (Numbers(3, -1000.0, 1000.0), "units per second squared"),
        /// Friction: the speed decays as exp(-drag t).
        drag: f32 = 0.0 => (Number(0.0, 100.0), "1/second"),
        /// Share of the effect's wind that they follow, from birth on.
        wind: f32 = 1.0 => (Number(-100.0, 100.0), ""),
        /// How far a smooth turbulence field displaces them.
        swirl: f32 = 0.0 => (Number(0.0, 10.0), "units"),
        /// Length scale of that field.
        swirl_size as "swirl-size": f32 = 1.0 => (Number(0.01, 1000.0), "units"),
        /// How often the field changes.
        swirl_rate as "swirl-rate": f32 = 0.1 => (Number(0.0, 100.0), "1/second"),
        /// Age at which it has its full effect.
        swirl_age as "swirl-age": f32 = 0.0 => (Number(0.0, 1000.0), "seconds"),
        /// How far each particle sways on its own: sideways, and up and down.
        sway: [f32; 2] = [0.0; 2] => (Numbers(2, -10.0, 10.0), "units"),
        /// How often it sways.
        sway_rate as "sway-rate": f32 = 0.3 => (Number(0.0, 100.0), "1/second"),
        /// Half the width.
        size: Spread = Spread::fixed(0.003) => (Spread(0.0, 10.0), "units"),
        /// Growth: added to the size each second.
        growth: Spread = Spread::fixed(0.0) => (Spread(-10.0, 10.0), "units per second"),
        /// Factor of the size over life.
        size_over as "size-over": LifeCurve = vec![[0.0, 1.0]] => (Over(100.0), ""),
        /// Rotation at birth, clockwise.
        angle: Spread = Spread::fixed(0.0) => (Spread(-1000.0, 1000.0), "turns"),
        /// Speed of rotation.
        spin: Spread = Spread::fixed(0.0) => (Spread(-1000.0, 1000.0), "turns per second"),
        /// How often they tumble: they alternate between wide and narrow, and are darker when narrow.
        tumble: f32 = 0.0 => (Number(0.0, 100.0), "1/second"),
        /// Height over width.
        squash: f32 = 1.0 => (Number(0.01, 100.0), ""),
        /// Opacity: 0 is invisible.
        opacity: Spread = Spread::fixed(1.0) => (Spread(0.0, 1.0), ""),
        /// Factor of the opacity over life.
        opacity_over as "opacity-over": LifeCurve =
            vec![[0.0, 0.0], [0.08, 1.0], [0.92, 1.0], [1.0, 0.0]] => (Over(1.0), ""),
        /// Depth of twinkling: how far the opacity drops.
        twinkle: f32 = 0.0 => (Number(0.0, 1.0), ""),
        /// How often they twinkle.
        twinkle_rate as "twinkle-rate": f32 = 1.0 => (Number(0.0, 100.0), "1/second"),
        /// The colours.
        tint: Tint = Tint { by: ColourBy::Mix, colours: vec![[1.0; 3]] } => [
            /// As displayed: "#rrggbb", a name such as "gold", or [red, green, blue] from 0 to 1.
            "colours": Colours, "", Layer { tint: Tint { colours, .. }, .. } => colours;
            /// How a particle chooses among the colours.
            "colour-by": Choice(ColourBy::CHOICES), "", Layer { tint: Tint { by, .. }, .. } => by;
        ],
        /// The shape.
        form: Appearance = Appearance::Disc(1.0) => [
            /// Shape of the particles.
            "shape": Choice(Appearance::CHOICES), "", Layer { form, .. } => form;
            /// Share of the radius (of a ring: of its band) that fades: 0 is a hard edge. Default: 1, for a polygon
            /// 0.
            "soft": Number(0.0, 1.0), "", Layer {
                form: Appearance::Disc(soft) | Appearance::Ring(_, soft) | Appearance::Polygon(_, soft), ..
            } => soft, "discs, rings and polygons";
            /// Radius of a ring's hole relative to the ring. Default: 0.7.
            "hole": Number(0.0, 0.999), "", Layer { form: Appearance::Ring(hole, _), .. } => hole, "shape = \"ring\"";
            /// Corners of a convex polygon around the middle, in order; x to the right, y down.
            "corners": Corners, "half widths", Layer { form: Appearance::Polygon(corners, _), .. } => corners,
                "shape = \"polygon\"";
            /// How far a hair bends from end to end. Default: 0.4.
            "bend": Number(-4.0, 4.0), "turns", Layer { form: Appearance::Hair(bend, _), .. } => bend, "shape = \"hair\"";
            /// Half the thickness of a hair. Default: 0.01.
            "thick": Number(0.001, 1.0), "half widths", Layer { form: Appearance::Hair(_, thick), .. } => thick,
                "shape = \"hair\"";
            /// Image of a sprite, with alpha; its name is relative to the folder of this file.
            "sprite": Picture, "", Layer { form: Appearance::Sprite(Sprite { picture, .. }), .. } => picture,
                "shape = \"sprite\"";
            /// Number of flip-book pages side by side in the image. Default: 1.
            "columns": Integer(MAX_PAGES), "", Layer { form: Appearance::Sprite(Sprite { columns, .. }), .. } => columns,
                "shape = \"sprite\"";
            /// Number of rows of pages. Default: 1.
            "rows": Integer(MAX_PAGES), "", Layer { form: Appearance::Sprite(Sprite { rows, .. }), .. } => rows,
                "shape = \"sprite\"";
            /// Which page a particle shows.
            "page-by": Choice(Page::CHOICES), "", Layer { form: Appearance::Sprite(Sprite { page, .. }), .. } => page,
                "shape = \"sprite\"";
            /// Pages per second when they turn by time. Default: 12.
            "page-rate": Number(0.0, 1000.0), "pages per second",
                Layer { form: Appearance::Sprite(Sprite { page_rate, .. }), .. } => page_rate, "shape = \"sprite\"";
            /// Shift of the image to the right within the sprite; what leaves on one side returns on the other. With
            /// a flip-book, the shift is that of a page.
            "offset-x": Spread(-100.0, 100.0), "widths",
                Layer { form: Appearance::Sprite(Sprite { offset: [x, _], .. }), .. } => x, "shape = \"sprite\"";
            /// The same, down.
            "offset-y": Spread(-100.0, 100.0), "heights",
                Layer { form: Appearance::Sprite(Sprite { offset: [_, y], .. }), .. } => y, "shape = \"sprite\"";
            /// Speed of that shift to the right.
            "scroll-x": Spread(-100.0, 100.0), "widths per second",
                Layer { form: Appearance::Sprite(Sprite { scroll: [x, _], .. }), .. } => x, "shape = \"sprite\"";
            /// The same, down.
            "scroll-y": Spread(-100.0, 100.0), "heights per second",
                Layer { form: Appearance::Sprite(Sprite { scroll: [_, y], .. }), .. } => y, "shape = \"sprite\"";
        ],
        /// Blend mode of this layer, if it differs from the effect's.
        blend: Option<Blend> = None => (Choice(Blend::CHOICES), ""),
        /// Offset of the drawn shape from the particle, for a highlight on a bubble.
        aside: [f32; 2] = [0.0; 2] => (Numbers(2, -100.0, 100.0), "half widths"),
        /// Exposure time: moving particles become streaks.
        shutter: f32 = 0.0 => (Number(0.0, 10.0), "seconds"),
        /// Duration of the trail, which gets narrower and fainter; 0 is no trail.
        trail: f32 = 0.0 => (Number(0.0, 100.0), "seconds"),
        /// Number of streaks in a trail. Each counts as a particle.
        trail_steps as "trail-steps": u32 = 8 => (Integer(64), ""),
        /// How much a streak fades with its length: 0 is not at all, 1 keeps its total light.
        thin: f32 = 1.0 => (Number(0.0, 1.0), ""),
        /// The depth in focus, and the half width of the blur at infinite depth; 0 is no blur.
        focus: [f32; 2] = [1.0, 0.0] => [
            /// Depth of focus.
            "focus" [false]: Number(0.01, 1000.0), "units", Layer { focus: [focus, _], .. } => focus;
            /// Radius of the blur at infinite depth; 0 is no blur.
            "blur" [false]: Number(0.0, 1.0), "units", Layer { focus: [_, blur], .. } => blur;
        ],
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_over_life_are_straight_between_points() {
        let points = [[0.0, 0.0], [0.5, 1.0], [1.0, 0.5]];
        for (t, want) in [(0.0, 0.0), (0.25, 0.5), (0.5, 1.0), (0.75, 0.75), (1.0, 0.5), (2.0, 0.5)] {
            assert_eq!(life_value(&points, t), want);
        }
        assert_eq!(life_value(&[[0.3, 0.7]], 0.0), 0.7);
    }
}
