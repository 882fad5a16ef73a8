//! `dust`: specks, hairs and blotches on the film, different in every frame.
//!
//! The pieces of a frame depend only on the seed and the frame number; both fields of a frame show the same ones. Their
//! number is random with the given mean. Most specks are small and a few are large. A speck consists of one to three
//! fragments with torn edges, a hair of a chain of short streaks that bends at random, a blotch of several soft, thin
//! spots.

use super::splats::{Overlay, SplatFilter};
use super::{Entry, Filter, Render, Role, Spec};
use crate::frame::{Format, FrameTime};
use crate::host::PrepareError;
use crate::noise::Rng;
use crate::particle::draw::{Blend, Shape, ShapeError, Splat, SplatStyle};
use crate::settings;
use crate::settings::{Animated, SettingError, Unit};
use crate::simd::Level;

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<DustSpec>(
    "dust",
    "Dust",
    "Draws specks, hairs and blotches of an old print, new in every frame",
)
.with_role(Role::Covers);

/// The largest average number of pieces per frame.
const MAX_COUNT: f64 = 1000.0;
/// The number of streaks of a hair.
const HAIR_STREAKS: usize = 40;
/// The largest number of splats of a piece.
const MAX_SPLATS: usize = HAIR_STREAKS;

settings! {
    struct DustSpec {
        /// Average number of pieces per frame.
        amount: Animated = number(0.0..=MAX_COUNT).default(8.0).soft(0.0..=50.0),
        /// Median size of the specks in pixels of a picture 1080 rows high. A few are several times as large. Hairs and
        /// blotches scale with it.
        size: Animated = number(0.5..=100.0).default(6.0).unit(Unit::Pixels).logarithmic(),
        /// Share of the pieces that are hairs.
        hairs: Animated = number(0.0..=1.0).default(0.08).unit(Unit::Fraction),
        /// Share of the pieces that are blotches: large, soft and thin.
        blotches: Animated = number(0.0..=1.0).default(0.05).unit(Unit::Fraction),
        /// Share of the pieces that are light: dust on the negative, which prints white. The others lie on the print
        /// and are dark.
        light: Animated = number(0.0..=1.0).default(0.3).unit(Unit::Fraction),
        /// Opacity of the pieces.
        strength: Animated = number(0.0..=1.0).default(0.9).unit(Unit::Fraction),
    }
    with seed
}

/// The number of shapes for fragments of specks.
const SPECK_SHAPES: usize = 48;
/// The style of hairs, and of soft spots.
const HAIR: u16 = SPECK_SHAPES as u16;
const SOFT: u16 = HAIR + 1;

/// A convex fragment with a few corners on an ellipse.
fn speck_shape(rng: &mut Rng) -> Result<Shape, ShapeError> {
    let corners = 4 + (rng.next_f64() * 5.0) as usize;
    let points: Vec<[f32; 2]> = (0..corners)
        .map(|i| {
            let turn = (i as f64 + rng.range(-0.35, 0.35)) / corners as f64;
            let (sin, cos) = libm::sincos(turn * core::f64::consts::TAU);
            [cos as f32, sin as f32]
        })
        .collect();
    Shape::polygon(&points, 0.25)
}

/// Fragments, a streak of a hair, and a soft spot. They do not depend on the seed, which only affects their
/// placement.
fn shapes() -> Result<Vec<Shape>, ShapeError> {
    let mut shapes = Vec::new();
    let mut rng = Rng::new(0, 0);
    while shapes.len() < SPECK_SHAPES {
        // Random corners that are too far apart do not surround the centre; such shapes are rejected.
        shapes.extend(speck_shape(&mut rng));
    }
    shapes.push(Shape::streak(0.7, 0.0)?);
    shapes.push(Shape::disc(1.0)?);
    Ok(shapes)
}

impl Spec for DustSpec {
    fn wants_16_bits(&self) -> bool {
        false
    }

    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let shapes = shapes().map_err(|e| SettingError::new("", e))?;
        let styles = shapes.into_iter().map(|shape| SplatStyle::new(shape, Blend::Over)).collect();
        let most = (4.0 * MAX_COUNT) as usize * MAX_SPLATS;
        let overlay = Overlay::new(input, styles, most, level)?;
        Ok(Dust { overlay, set: self.clone(), seed }.boxed())
    }
}

struct Dust {
    overlay: Overlay,
    set: DustSpec,
    seed: u64,
}

/// A piece before it is drawn.
struct Piece {
    at: [f64; 2],
    size: f64,
    colour: [u16; 3],
    strength: f64,
}

impl Dust {
    fn all(&self, at: &FrameTime) -> Vec<Splat> {
        let at = &at.whole_frame();
        let DustSpec { amount, size, hairs, blotches, light, strength } = &self.set;
        let [amount, size, hairs, blotches, light, strength] =
            [amount, size, hairs, blotches, light, strength].map(|v| v.at(at));
        let number = at.frame.to_f64().floor();
        let frame = Rng::new(self.seed, number as i64 as u64).next_f64().to_bits();
        // Some frames are dirtier than others.
        let mut rng = Rng::new(self.seed ^ frame, u64::MAX);
        let amount = amount * rng.range(0.5, 1.5);
        // Many trials with a probability of at most a quarter each: approximately a Poisson distribution.
        let chances = (4.0 * amount).ceil().min(4.0 * MAX_COUNT) as u64;
        let chance = amount / chances.max(1) as f64;
        let [width, height] = self.overlay.size();
        let mut out = Vec::new();
        for i in 0..chances {
            let mut rng = Rng::new(self.seed ^ frame, i);
            if rng.next_f64() >= chance {
                continue;
            }
            let kind = rng.next_f64();
            let is_light = rng.next_f64() < light;
            let shade = if is_light { rng.range(0.86, 1.0) } else { rng.range(0.0, 0.09) };
            // Dust on the negative prints slightly warm; dirt on the print is never entirely black.
            let colour = if is_light {
                [shade, 0.985 * shade, 0.94 * shade]
            } else {
                [shade, 0.9 * shade, 0.8 * shade]
            };
            let piece = Piece {
                at: [rng.range(0.0, width), rng.range(0.0, height)],
                size: size * self.overlay.unit(),
                colour: self.overlay.painter.colour(colour),
                strength: strength * rng.range(0.7, 1.0),
            };
            if kind < hairs {
                self.hair(&piece, &mut rng, &mut out);
            } else if kind < hairs + blotches {
                self.blotch(&piece, &mut rng, &mut out);
            } else {
                self.speck(&piece, &mut rng, &mut out);
            }
        }
        out
    }

    fn put(&self, piece: &Piece, splat: Splat, style: u16, strength: f64, out: &mut Vec<Splat>) {
        let rank = out.len() as u64;
        out.push(Splat { rank, style, colour: piece.colour, ..splat }.faded(strength as f32));
    }

    fn speck(&self, piece: &Piece, rng: &mut Rng, out: &mut Vec<Splat>) {
        let r = rng.next_f64();
        // From a third of the size up; half of them are smaller than it, one in fifty is larger than three
        // times it.
        let size = 0.5 * piece.size * (0.35 + 0.9 * r + 2.6 * r * r * r * r * r * r * r * r);
        let long = rng.range(1.0, 2.2);
        let turn = rng.next_f64();
        let bits = 1 + (rng.next_f64() * 3.0) as usize;
        for bit in 0..bits {
            let part = if bit == 0 { 1.0 } else { rng.range(0.35, 0.7) };
            let away = if bit == 0 { 0.0 } else { 0.75 * size };
            let (sin, cos) = libm::sincos(rng.next_f64() * core::f64::consts::TAU);
            let at = [piece.at[0] + away * cos * self.overlay.narrow(), piece.at[1] + away * sin];
            let half = [size * part * long.sqrt(), size * part / long.sqrt()];
            let splat = self.overlay.splat(at, half, turn + rng.range(-0.1, 0.1));
            let style = (rng.next_f64() * SPECK_SHAPES as f64) as u16;
            self.put(piece, splat, style, piece.strength, out);
        }
    }

    fn hair(&self, piece: &Piece, rng: &mut Rng, out: &mut Vec<Splat>) {
        let step = piece.size * rng.range(0.25, 0.8);
        let joints = (HAIR_STREAKS as f64 * rng.range(0.4, 1.0)) as usize;
        let thick = (0.16 * piece.size * rng.range(0.7, 1.3)).max(0.45);
        let mut turn = rng.next_f64();
        let mut bend = rng.range(-0.012, 0.012);
        let mut at = piece.at;
        for _ in 0..joints {
            bend = 0.9 * bend + rng.range(-0.011, 0.011);
            turn += bend;
            let (sin, cos) = libm::sincos(turn * core::f64::consts::TAU);
            let next = [at[0] + step * cos * self.overlay.narrow(), at[1] + step * sin];
            let middle = [0.5 * (at[0] + next[0]), 0.5 * (at[1] + next[1])];
            let splat = self.overlay.splat(middle, [0.5 * step + thick, thick], turn);
            self.put(piece, splat, HAIR, piece.strength, out);
            at = next;
        }
    }

    fn blotch(&self, piece: &Piece, rng: &mut Rng, out: &mut Vec<Splat>) {
        let size = piece.size * rng.range(2.5, 7.0);
        let bits = 12 + (rng.next_f64() * 12.0) as usize;
        for bit in 0..bits {
            let away = size * if bit == 0 { 0.0 } else { 0.75 * rng.next_f64().sqrt() };
            let (sin, cos) = libm::sincos(rng.next_f64() * core::f64::consts::TAU);
            let at = [piece.at[0] + away * cos * self.overlay.narrow(), piece.at[1] + away * sin];
            let (half, long) = (size * rng.range(0.35, 0.85), rng.range(0.8, 1.25));
            let half = [half * long, half / long];
            let splat = self.overlay.splat(at, half, rng.next_f64());
            self.put(piece, splat, SOFT, 0.2 * piece.strength, out);
        }
    }
}

impl SplatFilter for Dust {
    fn overlay(&self) -> &Overlay {
        &self.overlay
    }

    fn shows(&self, at: &FrameTime) -> bool {
        let at = &at.whole_frame();
        self.set.amount.at(at) > 0.0 && self.set.strength.at(at) > 0.0
    }

    fn splats(&self, at: &FrameTime) -> Result<Vec<Splat>, PrepareError> {
        Ok(self.all(at))
    }
}

#[cfg(test)]
mod tests {
    use super::super::splats::tests::is_as_defined;
    use super::*;
    use crate::ratio::Ratio;
    use crate::settings::{Settings, Values};

    fn dust(text: &str) -> Dust {
        dust_on("yuv420p", vec![], text)
    }

    fn dust_on(format: &str, styles: Vec<SplatStyle>, text: &str) -> Dust {
        // Like `bind`, but unboxed.
        let format = Format::from_name(format, 320, 240).unwrap();
        let overlay = Overlay::new(&format, styles, 20_000, Level::SCALAR).unwrap();
        Dust { overlay, set: DustSpec::read(&Values::parse(DustSpec::TABLE, text).unwrap()), seed: 1 }
    }

    fn at(frame: i64) -> FrameTime {
        FrameTime::of_frame(frame, Ratio::whole(24))
    }

    #[test]
    fn the_mean_number_is_the_amount() {
        let dust = dust("amount=8:hairs=0:blotches=1");
        // A blotch has many splats; count pieces by their colour, which is unique.
        let mut pieces = 0usize;
        let mut all = Vec::new();
        for frame in 0..1000 {
            let mut splats = dust.splats(&at(frame)).unwrap();
            splats.dedup_by_key(|s| s.colour);
            pieces += splats.len();
            all.push(splats.len());
        }
        assert!((7600..8400).contains(&pieces), "{pieces}");
        assert!(all.iter().any(|n| *n < 4) && all.iter().any(|n| *n > 13));
    }

    #[test]
    fn it_is_drawn_as_defined() {
        let shapes = shapes().unwrap();
        let styles = || shapes.iter().map(|s| SplatStyle::new(s.clone(), Blend::Over)).collect();
        let dust = dust_on("gray", styles(), "amount=40:hairs=0.3:size=4");
        (0..3).for_each(|n| is_as_defined(&dust, &shapes, &at(n), 100));
    }

    #[test]
    fn both_fields_of_a_frame_show_the_same() {
        // Curves in frames and in seconds.
        let dust = dust("amount=0=0;12=40:light=0s=0;1s=1:size=7=3;8=30:hairs=7=0;8=1");
        let first = at(7);
        let late = Ratio::new(1, 48).unwrap();
        let second = FrameTime { index: 15, frame: first.frame + Ratio::HALF, time: first.time + late, late };
        assert_eq!(dust.splats(&first).unwrap(), dust.splats(&second).unwrap());
        assert_ne!(dust.splats(&first).unwrap(), dust.splats(&at(8)).unwrap());
        assert_eq!(dust.splats(&at(-3)).unwrap(), dust.splats(&at(-3)).unwrap());
    }
}
