//! The path of a signal: connection, then tape, copy by copy, then time base.
//!
//! The lines of a band come with some above it, from which the first ones depend: each step that looks at a line before
//! makes one more line of these wrong, and none of the band. Steps go from the bottom to the top, so that the line before
//! is still the one that came in.

use super::events::{LineEvent, Lines};
use super::line::{self, Room};
use super::settings::AnalogSpec;
use super::system::{
    Carrier, Comb, Connection, Deck, Raster, System, Tape, band_pass, gaussian, low_pass, peaked,
};
use crate::frame::FrameTime;
use crate::noise::seed::Layer;
use crate::noise::{CycleStart, Distribution, Generator, Layout, Shape, ShapeError, Stream};
use crate::simd::Level;

/// Samples like the outermost ones beyond the ends of a line: what a camera sends beyond the visible part.
const OVERSCAN: usize = 10;
/// Distance of the neighbours with which players peak, in samples.
const PEAKING: usize = 3;

/// A connection and a tape, bound.
pub(super) struct Path {
    pub raster: Raster,
    system: System,
    connection: Connection,
    comb: Comb,
    pub deck: Option<Deck>,
    pub generations: usize,
    pub level: Level,
    /// The noise of the connection and of each copy: of luma, and of four times as long samples of luma, U and V.
    pub noise: Vec<Stream>,
    /// The filters of the connection: of luma and of two colour differences, and the band around the carrier.
    luma: Vec<f32>,
    chroma: [Vec<f32>; 2],
    /// What a receiver passes of a colour difference.
    received: Vec<f32>,
    band: Vec<f32>,
    /// The filters of the tape.
    tape_luma: Vec<f32>,
    pub tape_chroma: Vec<f32>,
}

/// The parameters of a picture.
#[derive(Clone, Debug)]
pub(super) struct Now {
    pub lines: Lines,
    /// The carrier of each line.
    pub carriers: Vec<Carrier>,
    pub events: Vec<LineEvent>,
    pub index: i64,
    pub snow: f32,
    pub ghost: f32,
    pub saturation: f32,
    /// Cosine and sine of the wrong phase.
    pub hue: [f32; 2],
    /// Noise of luma and chroma.
    pub noise: [f32; 2],
    /// Samples by which chroma comes late.
    pub delay: f32,
    /// The player's filter of luma.
    pub playback: Vec<f32>,
}

/// Lines of a picture in memory: those from `first` to `first + y.len() / width`.
pub(super) struct Picture<'a> {
    pub first: usize,
    pub width: usize,
    pub y: &'a mut [f32],
    pub u: &'a mut [f32],
    pub v: &'a mut [f32],
}

/// Room for the noise of a line.
pub(super) struct NoiseRoom<'a> {
    pub words: &'a mut [u16],
    pub fine: &'a mut [i16],
    pub coarse: &'a mut [i16],
}

/// The samples of the noise of a line, in whole blocks of the generator, and one more for interpolation.
pub(super) const fn noise_len(samples: usize) -> usize {
    (samples + 1).next_multiple_of(256)
}

impl Picture<'_> {
    pub(super) fn count(&self) -> usize {
        self.y.len() / self.width
    }

    pub(super) fn row(&mut self, i: usize) -> [&mut [f32]; 3] {
        let (w, c) = (self.width, self.width / 4);
        [&mut self.y[i * w..][..w], &mut self.u[i * c..][..c], &mut self.v[i * c..][..c]]
    }
}

/// Row `i` of `n` samples and the one `back` rows above it.
pub(super) fn with_before(rows: &mut [f32], i: usize, back: usize, n: usize) -> (&mut [f32], &[f32]) {
    let (above, here) = rows.split_at_mut(i * n);
    (&mut here[..n], &above[(i - back) * n..][..n])
}

impl Path {
    pub(super) fn new(set: &AnalogSpec, lines: usize, seed: u64, level: Level) -> Result<Path, ShapeError> {
        let raster = set.system.raster();
        let (sampling, cycles) = (4.0 * raster.carrier, raster.carrier);
        let deck = set.tape.deck();
        let (width, height) = (raster.width as u32, lines.max(1) as u32);
        let quarter = (width / 4 + 1, height);
        let sizes = [(width, height), quarter, quarter, quarter];
        let shape = Shape::new(&sizes, Layout::Keyed, Distribution::H8)?;
        let streams = if deck.is_some() { 1 + set.generations as u32 } else { 1 };
        let noise = (0..streams).map(|i| {
            let layer = Layer(Layer::ANALOG.0 + i);
            Stream::new(Generator::Xs64, &shape, CycleStart::Seed(seed), layer, level)
        });
        let composite = set.connection == Connection::Composite;
        let tape = deck.unwrap_or(Deck { luma: 5.0, chroma_rise: 0.2, noise: [0.0; 2], color_under: false });
        Ok(Path {
            raster,
            system: set.system,
            connection: set.connection,
            comb: set.comb,
            deck,
            generations: if set.tape == Tape::None { 0 } else { set.generations as usize },
            level,
            noise: noise.collect::<Result<_, _>>()?,
            luma: low_pass(if composite { raster.luma } else { 5.5 } / sampling, 8, false),
            chroma: raster.chroma.map(|mhz| low_pass(mhz / cycles, 7, false)),
            received: low_pass(if set.system == System::Ntsc { 1.4 } else { 1.3 } / cycles, 4, true),
            band: band_pass(if composite && set.comb == Comb::Line { 1.1 } else { 0.75 } / sampling),
            tape_luma: low_pass(tape.luma / sampling, 10, false),
            tape_chroma: gaussian(tape.chroma_rise * cycles, 6),
        })
    }

    /// Lines above a picture's own on which they depend.
    pub(super) fn lead(&self, step: usize) -> usize {
        let before = match self.system {
            System::Ntsc => self.raster.comb,
            System::Pal | System::Secam => self.raster.comb + 1,
        };
        step * (before + self.generations * self.raster.comb)
    }

    /// The parameters of a picture; `frame` and `field` are its numbers.
    pub(super) fn now(
        &self,
        set: &AnalogSpec,
        at: &FrameTime,
        lines: Lines,
        events: Vec<LineEvent>,
        frame: i64,
    ) -> Now {
        let carriers = (0..lines.count).map(|y| {
            let (field, line) = (lines.field + y % lines.step, y / lines.step);
            self.raster.carrier(frame, field as i64, line as i64)
        });
        let carriers = carriers.collect();
        let angle = set.hue.at(at).to_radians();
        let delay = set.chroma_delay.at(at) * lines.unit * self.generations as f64;
        Now {
            lines,
            carriers,
            events,
            index: at.index,
            snow: (set.snow.at(at) / 255.0) as f32,
            ghost: set.ghost.at(at) as f32,
            saturation: set.saturation.at(at) as f32,
            hue: [libm::cos(angle) as f32, libm::sin(angle) as f32],
            noise: [set.noise.at(at) as f32, set.chroma_noise.at(at) as f32],
            delay: delay as f32,
            playback: peaked(&self.tape_luma, set.sharpen.at(at), PEAKING),
        }
    }

    /// Sends the lines of a picture.
    pub(super) fn send(
        &self,
        now: &Now,
        picture: &mut Picture<'_>,
        room: &mut Room<'_>,
        noise: &mut NoiseRoom<'_>,
    ) {
        self.encode(now, picture, room, noise);
        self.decode(now, picture, room);
        for copy in 0..self.generations {
            self.play(now, picture, copy, room, noise);
        }
        if self.generations == 0 {
            return;
        }
        for i in 0..picture.count() {
            let event = &now.events[picture.first + i];
            let [y, u, v] = picture.row(i);
            room.shift(y, event.shift, OVERSCAN);
            let by = (event.shift + now.delay) * 0.25;
            room.shift(u, by, OVERSCAN / 4);
            room.shift(v, by, OVERSCAN / 4);
        }
    }

    /// Limits the bands, sets amplitude and phase of the colour, and modulates it.
    fn encode(&self, now: &Now, picture: &mut Picture<'_>, room: &mut Room<'_>, noise: &mut NoiseRoom<'_>) {
        let level = self.level;
        let composite = self.connection == Connection::Composite;
        let snow = now.snow / Distribution::H8.deviation() as f32;
        let frame = self.noise[0].frame(now.index);
        for i in 0..picture.count() {
            let carrier = now.carriers[picture.first + i];
            let line = (picture.first + i) as u32;
            let [y, u, v] = picture.row(i);
            room.filter(y, &self.luma, 1);
            if self.connection != Connection::Component {
                if self.system == System::Ntsc {
                    // I and Q: U and V turned by 33 degrees.
                    line::rotate(level, u, v, COS_33, -SIN_33);
                    room.filter(u, &self.chroma[1], 1);
                    room.filter(v, &self.chroma[0], 1);
                    line::rotate(level, u, v, COS_33, SIN_33);
                } else {
                    room.filter(u, &self.chroma[0], 1);
                    room.filter(v, &self.chroma[1], 1);
                }
            }
            // A wrong phase turns the colour the other way in every other line of PAL.
            let [cos, sin] = now.hue;
            if sin != 0.0 && self.system != System::Secam {
                let sin = if self.system == System::Pal && carrier.odd { -sin } else { sin };
                line::rotate(level, u, v, cos, sin);
            }
            if now.saturation != 1.0 {
                u.iter_mut().for_each(|c| *c *= now.saturation);
                v.iter_mut().for_each(|c| *c *= now.saturation);
            }
            if composite && self.system != System::Secam {
                line::modulate(level, y, (u, v), carrier, self.system == System::Pal);
            }
            if snow > 0.0 {
                frame.centred(0, line, noise.words, noise.fine);
                line::add_noise(level, y, noise.fine, snow);
                if !composite || self.system == System::Secam {
                    // The noise of a frequency is stronger than that of an amplitude.
                    let by = if self.system == System::Secam && composite { 4.0 } else { 1.5 };
                    for (plane, c) in [(2, &mut *u), (3, &mut *v)] {
                        frame.centred(plane, line, noise.words, noise.coarse);
                        line::add_noise(level, c, noise.coarse, snow * by);
                    }
                }
            }
            if now.ghost != 0.0 {
                let late = y.len() / 40;
                room.more[late..].copy_from_slice(&y[..y.len() - late]);
                room.more[..late].fill(y[0]);
                // The gain of a receiver keeps white where it was.
                let gain = 1.0 / (1.0 + now.ghost.max(-0.5));
                line::blend(level, y, room.more, gain, gain * now.ghost);
            }
        }
    }

    /// Parts chroma from luma.
    fn decode(&self, now: &Now, picture: &mut Picture<'_>, room: &mut Room<'_>) {
        let (level, step) = (self.level, now.lines.step);
        let (w, c) = (picture.width, picture.width / 4);
        let composite = self.connection == Connection::Composite;
        if composite {
            let back = step * self.raster.comb;
            for i in (0..picture.count()).rev() {
                let carrier = now.carriers[picture.first + i];
                let carried = core::mem::take(&mut room.more);
                if self.comb == Comb::Line && self.system != System::Secam && i >= back {
                    let (y, before) = with_before(picture.y, i, back, w);
                    carried.copy_from_slice(y);
                    line::blend(level, carried, before, 0.5, -0.5);
                } else {
                    carried.copy_from_slice(&picture.y[i * w..][..w]);
                }
                room.filter(carried, &self.band, 4);
                let [y, u, v] = picture.row(i);
                line::blend(level, y, carried, 1.0, -1.0);
                if self.system == System::Secam {
                    // Luma near the carrier disturbs its frequency: "fire".
                    let (a, b) = (&mut room.sum[..c], &mut room.wide[..c]);
                    line::demodulate(level, carried, (&mut *a, b), carrier, false);
                    line::blend(level, u, a, 1.0, FIRE);
                    line::blend(level, v, a, 1.0, -FIRE);
                } else {
                    line::demodulate(level, carried, (&mut *u, &mut *v), carrier, self.system == System::Pal);
                }
                room.more = carried;
                room.filter(u, &self.received, 1);
                room.filter(v, &self.received, 1);
            }
        }
        if self.connection == Connection::Component || self.system == System::Ntsc {
            return;
        }
        // The delay line: the mean of two lines, or the other colour difference from the line before.
        for i in (step..picture.count()).rev() {
            let odd = now.carriers[picture.first + i].odd;
            if self.system == System::Pal || odd {
                let own = if self.system == System::Pal { 0.5 } else { 0.0 };
                let (u, before) = with_before(picture.u, i, step, c);
                line::blend(level, u, before, own, 1.0 - own);
            }
            if self.system == System::Pal || !odd {
                let own = if self.system == System::Pal { 0.5 } else { 0.0 };
                let (v, before) = with_before(picture.v, i, step, c);
                line::blend(level, v, before, own, 1.0 - own);
            }
        }
    }
}

/// How far luma near the carrier of SECAM disturbs its frequency.
const FIRE: f32 = 0.8;
/// Cosine and sine of 33 degrees.
const COS_33: f32 = 0.838_670_6;
const SIN_33: f32 = 0.544_639;

#[cfg(test)]
mod tests;
