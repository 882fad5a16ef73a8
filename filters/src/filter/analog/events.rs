//! What the tape does to the lines of a picture: their displacement, lost signal, and dropouts. All of it follows from
//! the seed and the number of the picture.

use super::settings::AnalogSpec;
use crate::filter::flicker::Phase;
use crate::frame::{Format, FrameTime};
use crate::noise::Rng;
use crate::noise::seed::{Layer, key};
use crate::noise::value_noise::{Interpolation, ValueNoise, normal};

/// The largest average number of dropouts, and the trials that draw them.
const MAX_DROPOUTS: f64 = 1000.0;

/// The lines of a picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    /// Number of lines, and 2 if every other one belongs to a second field.
    pub count: usize,
    pub step: usize,
    /// The field of line 0: 1 for the second field of an interlaced source.
    pub field: usize,
    /// The picture's part of a frame: a half for a field.
    pub part: f64,
    /// Samples of a line per sample of a picture 1920 wide.
    pub unit: f64,
}

/// What happens to a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LineEvent {
    /// Movement to the right in samples.
    pub shift: f32,
    /// The part of the line without a signal, 0 to 1.
    pub snow: f32,
    /// The rest of the chroma, 0 to 1.
    pub chroma: f32,
    /// Cosine and sine of the error of the colour's phase.
    pub turn: [f32; 2],
    /// Streaks.
    pub drops: Vec<Drop>,
}

/// A dropout in a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drop {
    /// The first sample, and one after the last.
    pub start: i32,
    pub end: i32,
    /// Luma, and how much of it is left in each further sample of the tail.
    pub level: f32,
    pub decay: f32,
}

/// The events of a filter.
pub(super) struct Events {
    set: AnalogSpec,
    seed: u64,
    drift: Phase,
    smooth: ValueNoise,
}

/// A bump of height 1 that is 0 from a distance of 1 on.
fn bump(x: f64) -> f64 {
    let rest = (1.0 - x * x).max(0.0);
    rest * rest
}

impl Events {
    pub(super) fn new(set: &AnalogSpec, seed: u64, format: &Format) -> Events {
        let smooth = ValueNoise::new(seed, Layer::ANALOG_LINES, Interpolation::Smooth);
        Events { set: set.clone(), seed, drift: Phase::new(&set.tracking_drift, format), smooth }
    }

    /// A number of deviation 1 for a line of a picture; parts are independent.
    fn white(&self, at: &FrameTime, line: usize, part: u32) -> f64 {
        normal(key(self.seed, at.index, Layer::ANALOG_LINES.plane(1 + part), line as u32))
    }

    /// The lines of a picture.
    pub(super) fn at(&self, at: &FrameTime, lines: &Lines) -> Vec<LineEvent> {
        let set = &self.set;
        let [jitter, wave] = [&set.jitter, &set.edge_wave].map(|v| v.at(at) * lines.unit);
        let [heads, tracking, position] =
            [&set.head_switching, &set.tracking, &set.tracking_position].map(|v| v.at(at));
        let [crease, crease_at, phase] =
            [&set.crease, &set.crease_position, &set.chroma_noise].map(|v| v.at(at));
        // Bands leave at one edge and come in at the other.
        let around = |place: f64| {
            let place = (place + 0.2) / 1.4;
            1.4 * (place - libm::floor(place)) - 0.2
        };
        let position = position + if tracking > 0.0 { self.drift.at(at) } else { 0.0 };
        let time = at.frame.to_f64();
        let mut all: Vec<LineEvent> = Vec::with_capacity(lines.count);
        for y in 0..lines.count {
            let (field, line) = (lines.field + y % lines.step, y / lines.step);
            let of_field = lines.count.saturating_sub(y % lines.step).div_ceil(lines.step).max(1);
            // In lines of a field of 240, from the top and from the bottom.
            let scale = 240.0 / of_field as f64;
            let (down, up) = ((line as f64 + 0.5) * scale, (of_field - 1 - line) as f64 * scale);
            let place = down / 240.0;
            // Each field of each frame has its own movement along the lines.
            let own = (2 * at.index as u64).wrapping_add(field as u64) as u32;
            let part = own.wrapping_mul(4);
            let slow = |length: f64, i: u32| self.smooth.value(down / length, part.wrapping_add(i));
            // And one that goes on from picture to picture.
            let wander = |length: f64, i: i64| {
                self.smooth.value(down / length + 0.21 * time + 1e4 * i as f64, u32::MAX)
            };
            let mut event = LineEvent { chroma: 1.0, turn: [1.0, 0.0], ..LineEvent::default() };
            let mut shift = jitter * (0.5 * self.white(at, y, 0) + 0.75 * slow(9.0, 0) + 0.5 * slow(40.0, 1));
            shift += wave * (0.6 * wander(70.0, 0) + 0.25 * wander(23.0, 1));
            let top = (1.0 - down / 28.0).max(0.0);
            shift += wave * 2.5 * top * top * top * (1.0 + 0.4 * self.smooth.value(0.13 * time, 1));
            let mut snow: f64 = 0.0;
            if up < heads {
                // The other head is not in place yet: the line comes late, and the less so the further down.
                let deep = (heads - up) / heads;
                let jump = 30.0 + 8.0 * slow(1e4, 2);
                shift += lines.unit * (jump * (0.35 + 1.5 * deep) + 5.0 * self.white(at, y, 1));
                let edge = if up + scale >= heads { 0.7 } else { 0.24 };
                snow += edge + 0.08 * self.white(at, y, 2);
                event.chroma = 0.35;
            }
            if tracking > 0.0 {
                let half = 0.03 + 0.11 * tracking;
                let near = bump((place - around(position)) / half);
                let second = bump((place - around(position + 0.62)) / (0.6 * half));
                let near = near.max(second * ((tracking - 0.5) * 2.0).max(0.0));
                let worse = (near * (1.0 + 0.35 * self.white(at, y, 3))).max(0.0);
                snow += worse * (0.25 + 0.75 * tracking).min(1.0) + 0.12 * tracking * tracking;
                shift +=
                    lines.unit * near * tracking * (24.0 * slow(5.0, 3) + 9.0 * self.white(at, y, 4) + 14.0);
                event.chroma *= (1.0 - 1.3 * near * tracking).max(0.0) as f32;
            }
            if crease > 0.0 {
                let near = bump((place - around(crease_at)) / 0.02);
                snow += crease * near * (0.8 + 0.3 * self.white(at, y, 5));
                shift += lines.unit * crease * near * 40.0 * (1.0 + 0.3 * self.white(at, y, 6));
            }
            let turn = (0.035 * phase * (0.6 * self.white(at, y, 7) + slow(30.0, 2))).clamp(-1.0, 1.0);
            event.turn = [libm::cos(turn) as f32, libm::sin(turn) as f32];
            event.chroma *= (1.0 + 0.03 * phase * self.white(at, y, 8)).max(0.0) as f32;
            event.shift = shift.clamp(-1e4, 1e4) as f32;
            event.snow = snow.clamp(0.0, 1.0) as f32;
            all.push(event);
        }
        self.dropouts(at, lines, tracking, &mut all);
        all
    }

    fn dropouts(&self, at: &FrameTime, lines: &Lines, tracking: f64, all: &mut [LineEvent]) {
        let mean = (self.set.dropouts.at(at) * (1.0 + tracking) * lines.part).min(MAX_DROPOUTS);
        let of_picture = key(self.seed, at.index, Layer::ANALOG_LINES.plane(63), 0);
        // Many trials of a small probability: nearly a Poisson distribution.
        let trials = libm::ceil(4.0 * mean) as u64;
        let chance = mean / trials.max(1) as f64;
        let width = 1920.0 * lines.unit;
        for i in 0..trials {
            let mut rng = Rng::new(of_picture, i);
            if rng.next_f64() >= chance {
                continue;
            }
            let line = (rng.next_f64() * lines.count as f64) as usize;
            let start = width * rng.range(-0.05, 1.0);
            let r = rng.next_f64();
            let length = width * (0.006 + 0.02 * r + 0.11 * r * r * r * r);
            let bright = rng.next_f64() < 0.8;
            let level = if bright { rng.range(0.75, 1.1) } else { rng.range(-0.15, 0.05) };
            let decay = 1.0 - 1.0 / (0.45 * length + 2.0);
            // Long ones last for another line or two of the field, each time a little shorter.
            let more = (1.0 + 2.4 * r * r) as usize;
            for k in 0..more {
                let Some(event) = all.get_mut(line + k * lines.step) else { break };
                let from = start + width * rng.range(-0.004, 0.004);
                let end = from + length * (1.0 - 0.25 * k as f64);
                let fade = 1.0 - 0.2 * k as f32;
                let level = level as f32;
                event.drops.push(Drop {
                    start: from as i32,
                    end: end as i32,
                    level: if bright { level * fade } else { level },
                    decay: decay as f32,
                });
            }
        }
    }
}
