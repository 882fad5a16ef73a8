//! `scratches`: vertical scratches that run along the film.
//!
//! The film is one strip, on which frame n extends from n to n + 1, its top first. A scratch begins at some position of
//! the strip, continues for some frames and usually ends within a frame. Its sideways movement and its depth are
//! functions of the position on the strip, so that it continues from the bottom of one frame to the top of the next.
//! Scratches are born at a constant rate along the strip, in closed form: the ones that touch a frame follow from its
//! number.

use super::splats::{Overlay, SplatFilter};
use super::{Entry, Filter, Render, Role, Spec};
use crate::frame::{Format, FrameTime};
use crate::host::PrepareError;
use crate::math::smooth;
use crate::noise::Rng;
use crate::particle::draw::{Blend, Shape, ShapeError, Splat, SplatStyle};
use crate::particle::{Births, ConstantRate, FLICKS, flicks};
use crate::settings;
use crate::settings::{Animated, SettingError, Unit};
use crate::simd::Level;

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<ScratchSpec>(
    "scratches",
    "Scratches",
    "Draws vertical scratches of an old print that last for some frames and wander",
)
.with_role(Role::Covers);

/// The largest number at a time.
const MAX_COUNT: f64 = 100.0;
/// The longest mean life in frames, and the longest life relative to the mean.
const MAX_LIFE: f64 = 1000.0;
const LIFE_SPREAD: f64 = 2.5;
/// The longest delay of a scratch's start after its birth, in births.
const MAX_DELAY: f64 = 4.0;
/// The largest number of births that are examined.
const MAX_BIRTHS: i64 = 4000;
/// The largest number of segments of a frame's height.
const MAX_SEGMENTS: usize = 136;

settings! {
    struct ScratchSpec {
        /// Average number of scratches at a time.
        amount: Animated = number(0.0..=MAX_COUNT).default(3.0).soft(0.0..=20.0),
        /// Average number of frames that a scratch lasts.
        life: Animated = number(0.1..=MAX_LIFE).default(14.0).unit(Unit::Frames).logarithmic(),
        /// Average width of a scratch in pixels of a picture 1080 rows high.
        width: Animated = number(0.1..=50.0).default(1.6).unit(Unit::Pixels).logarithmic(),
        /// How far a scratch strays to either side, in pixels of a picture 1080 rows high.
        wander: Animated = number(0.0..=500.0).default(9.0).unit(Unit::Pixels).soft(0.0..=100.0),
        /// Share of the scratches that are light: through the emulsion. The others are dark.
        light: Animated = number(0.0..=1.0).default(0.65).unit(Unit::Fraction),
        /// Share of the light scratches that do not reach the base of colour film: green, where they tear the uppermost
        /// layer alone (magenta), or yellow (cyan below it).
        colored: Animated = number(0.0..=1.0).default(0.4).unit(Unit::Fraction),
        /// Depth of the scratches.
        strength: Animated = number(0.0..=1.0).default(0.55).unit(Unit::Fraction),
    }
    with seed
}

/// A rate in the form of births, at least one birth in a million frames.
fn millionths(rate: f64) -> f64 {
    (rate * 1e6 + 0.5).floor().clamp(1.0, 1e9) / 1e6
}

impl Spec for ScratchSpec {
    fn wants_16_bits(&self) -> bool {
        false
    }

    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let fault = |problem: String| SettingError::new("", problem);
        let square = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
        let shape = Shape::polygon(&square, 0.0).map_err(|e: ShapeError| fault(e.to_string()))?;
        // The birth rate is that of the highest number at any time; a random part of the births is shown to
        // match the current number.
        let ((_, most), (shortest, longest)) = (self.amount.bounds(), self.life.bounds());
        let rate = millionths(most / shortest);
        let births = ConstantRate::new(rate).map_err(|e| fault(e.to_string()))?;
        let alive = (rate * (longest * LIFE_SPREAD + 1.0)).ceil().min(f64::from(MAX_BIRTHS as u32));
        let most = alive as usize * 2 * MAX_SEGMENTS;
        let overlay = Overlay::new(input, vec![SplatStyle::new(shape, Blend::Over)], most, level)?;
        Ok(Scratches { overlay, births, rate, set: self.clone(), seed }.boxed())
    }
}

struct Scratches {
    overlay: Overlay,
    /// Births in a time base whose seconds are frames.
    births: ConstantRate,
    /// Births per frame.
    rate: f64,
    set: ScratchSpec,
    seed: u64,
}

/// A smooth random function, -1 to 1, of a position, with a new value at every integer.
fn random_curve(seed: u64, place: f64) -> f64 {
    let whole = place.floor();
    let value = |n: f64| Rng::new(seed, n as i64 as u64).range(-1.0, 1.0);
    let t = smooth(place - whole);
    value(whole) * (1.0 - t) + value(whole + 1.0) * t
}

impl Scratches {
    fn all(&self, at: &FrameTime) -> Vec<Splat> {
        let at = &at.whole_frame();
        let number = at.frame;
        let top = flicks(number);
        let bottom = top.saturating_add(FLICKS);
        let (amount, life) = (self.set.amount.at(at), self.set.life.at(at));
        // The fraction of the births to show.
        let seen = amount / (self.rate * life);
        let longest = ((life * LIFE_SPREAD + MAX_DELAY / self.rate) * FLICKS as f64) as i64 + 1;
        let last = self.births.born(bottom);
        // Never more than the limit; the youngest take precedence.
        let first = self.births.born(top.saturating_sub(longest)).max(last.saturating_sub(MAX_BIRTHS));
        let mut out = Vec::new();
        for scratch in first..last {
            let mut rng = Rng::new(self.seed, scratch as u64);
            if rng.next_f64() >= seen {
                continue;
            }
            // Births are evenly spaced; each scratch starts up to some births later.
            let start = (scratch as f64 + 1.0 + MAX_DELAY * rng.next_f64()) / self.rate - number.to_f64();
            // Mostly short, a few long, with a mean of one.
            let r = rng.next_f64();
            let length = life * (0.3 + 0.6 * r + (LIFE_SPREAD - 0.9) * r * r * r);
            self.scratch(at, number.to_f64(), start, length, &mut rng, &mut out);
        }
        out
    }

    /// The splats of a scratch from `start` (in frames from the top of this one) on.
    fn scratch(
        &self,
        at: &FrameTime,
        number: f64,
        start: f64,
        length: f64,
        rng: &mut Rng,
        out: &mut Vec<Splat>,
    ) {
        let end = start + length;
        if end <= 0.0 || start >= 1.0 {
            return;
        }
        let [width, height] = self.overlay.size();
        let (unit, (step, _)) = (self.overlay.unit(), self.overlay.format.field_rows());
        let own = rng.next_f64().to_bits();
        let middle = rng.range(-0.02, 1.02) * width;
        let half = 0.5 * unit * self.set.width.at(at) * rng.range(0.5, 1.0) * rng.range(0.7, 2.0);
        let is_light = rng.next_f64() < self.set.light.at(at);
        let shade = if is_light { rng.range(0.8, 1.0) } else { rng.range(0.0, 0.1) };
        let deep = self.set.strength.at(at) * rng.range(0.45, 1.0);
        let wander = self.set.wander.at(at) * unit;
        let drift = rng.range(-1.0, 1.0);
        let broken = rng.range(-0.5, 1.2);
        let (layers, twin, apart) = (rng.next_f64(), rng.next_f64(), unit * rng.range(4.0, 16.0));
        let colored = self.set.colored.at(at);
        let colour = match is_light {
            false => [shade; 3],
            true if layers < 0.6 * colored => [0.35 * shade, 0.9 * shade, 0.4 * shade],
            true if layers < colored => [0.95 * shade, 0.85 * shade, 0.3 * shade],
            true => [shade, shade, 0.93 * shade],
        };
        let colour = self.overlay.painter.colour(colour);
        // Both edges of a grain of grit cut, so one in five scratches is a pair.
        let lines = if twin < 0.2 { 2 } else { 1 };
        // Segments of whole rows of luma and chroma in every field, so that they join without a seam.
        let rows = ((height / MAX_SEGMENTS as f64 / 8.0).ceil() * 8.0).max(8.0);
        let mut y = 0.0;
        while y < height {
            let next = (y + rows).min(height);
            // The position in frames from the top of this one, and along the strip.
            let here = 0.5 * (y + next) / height;
            let place = number + here;
            let age = here - start;
            let fade = (age * 12.0).min((end - here) * 12.0).clamp(0.0, 1.0);
            // Sometimes it almost disappears.
            let depth = (0.75
                + broken
                + random_curve(own ^ 1, place * 5.0)
                + 0.5 * random_curve(own ^ 2, place * 23.0))
            .clamp(0.0, 1.0);
            let strength = deep * fade * depth;
            if strength > 0.004 {
                let aside = random_curve(own ^ 3, place * 0.21)
                    + 0.22 * random_curve(own ^ 4, place * 1.3)
                    + 0.05 * random_curve(own ^ 5, place * 7.0);
                let x = middle + wander * self.overlay.narrow() * (aside + drift * age / length.max(1.0));
                // In a field, too, segments end between rows; the position of the cuts is not visible.
                let [middle, tall] = [0.5 * (y + next), 0.5 * (next - y)].map(|v| (v / step) as f32);
                for line in 0..lines {
                    let second = f64::from(line);
                    let (x, half) = (x + second * apart * self.overlay.narrow(), half * (1.0 - 0.4 * second));
                    let splat = Splat::new([x as f32, middle], [half as f32, tall]);
                    out.push(Splat { rank: out.len() as u64, colour, ..splat }.faded(strength as f32));
                }
            }
            y = next;
        }
    }
}

impl SplatFilter for Scratches {
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

    fn scratches(text: &str) -> Scratches {
        scratches_on("yuv420p", text)
    }

    fn square() -> Shape {
        Shape::polygon(&[[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]], 0.0).unwrap()
    }

    fn scratches_on(format: &str, text: &str) -> Scratches {
        let set = ScratchSpec::read(&Values::parse(ScratchSpec::TABLE, text).unwrap());
        let format = Format::from_name(format, 640, 480).unwrap();
        let style = SplatStyle::new(square(), Blend::Over);
        let rate = millionths(set.amount.constant().unwrap() / set.life.constant().unwrap());
        let overlay = Overlay::new(&format, vec![style], 2000, Level::SCALAR).unwrap();
        Scratches { overlay, births: ConstantRate::new(rate).unwrap(), rate, set, seed: 5 }
    }

    fn at(frame: i64) -> FrameTime {
        FrameTime::of_frame(frame, Ratio::whole(24))
    }

    #[test]
    fn it_is_drawn_as_defined() {
        let s = scratches_on("gray", "amount=8:wander=40");
        (5..8).for_each(|n| is_as_defined(&s, &[square()], &at(n), 100));
    }

    #[test]
    fn a_scratch_goes_on_from_frame_to_frame() {
        let s = scratches("amount=6:wander=60:width=5");
        let mut met = 0;
        for frame in 1000..1040 {
            // Identify a scratch by colour and width, which are constant.
            let (above, below) = (s.splats(&at(frame)).unwrap(), s.splats(&at(frame + 1)).unwrap());
            for last in above.iter().filter(|p| p.y > 470 * 256 && p.opacity > 6000) {
                let same =
                    |p: &&Splat| p.y < 10 * 256 && p.colour == last.colour && p.half[0] == last.half[0];
                for first in below.iter().filter(same) {
                    met += 1;
                    assert!((first.x - last.x).abs() < 256, "{frame}: {} {}", first.x, last.x);
                }
            }
        }
        assert!(met > 40, "{met}");
    }

    #[test]
    fn the_mean_number_is_the_amount() {
        // The number of scratches that cross the middle row is the number at a time.
        for (amount, life) in [("5", "20"), ("30", "0.5"), ("5", "300")] {
            let s = scratches(&format!("amount={amount}:life={life}:strength=1:light=1"));
            let mut pieces = 0;
            for frame in 0..400 {
                let mut middle: Vec<_> = s
                    .splats(&at(frame * 37))
                    .unwrap()
                    .into_iter()
                    .filter(|p| (236 * 256..244 * 256).contains(&p.y))
                    .collect();
                middle.dedup_by_key(|p| p.colour);
                pieces += middle.len();
            }
            let (mean, want) = (f64::from(pieces as u32) / 400.0, amount.parse::<f64>().unwrap());
            // Some are interrupted there.
            assert!((0.6 * want..1.15 * want).contains(&mean), "{amount} {life}: {mean}");
        }
    }

    #[test]
    fn torn_layers_show_green_and_yellow() {
        // The colours [G, B, R] of light scratches: white, or without magenta, or without magenta and cyan.
        let all = |text: &str| -> Vec<[u16; 3]> {
            let s = scratches_on("gbrp", text);
            (0..60).flat_map(|n| s.splats(&at(n * 50)).unwrap()).map(|p| p.colour).collect()
        };
        let white = |c: &&[u16; 3]| f64::from(c[1]) > 0.85 * f64::from(c[0]);
        let plain = all("light=1:colored=0");
        assert!(!plain.is_empty() && plain.iter().all(|c| white(&c)));
        let torn = all("light=1:colored=1");
        let green = torn.iter().filter(|c| c[2] < c[0] / 2).count();
        let yellow = torn.iter().filter(|c| c[2] > c[0]).count();
        assert!(green > 0 && yellow > 0 && green + yellow == torn.len(), "{green} {yellow} {}", torn.len());
        assert!(all("light=0:colored=1").iter().all(|c| white(&c)));
    }

    #[test]
    fn curves_bound_how_many_there_may_be() {
        let values = Values::parse(ENTRY.settings, "amount=0=0;10=100:life=0=0.1;10=1000").unwrap();
        let format = Format::from_name("gray", 64, 64).unwrap();
        let filter = ENTRY.bind(&values, &format, 1, Level::SCALAR).unwrap();
        assert!(filter.memory().per_frame < 1 << 30);
    }
}
