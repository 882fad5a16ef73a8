//! The tape: copies, noise, and lost signal.

use super::events::LineEvent;
use super::line::{self, Room};
use super::signal::{NoiseRoom, Now, Path, Picture, with_before};
use crate::noise::Distribution;

impl Path {
    /// Records and plays a tape.
    pub(super) fn play(
        &self,
        now: &Now,
        picture: &mut Picture<'_>,
        copy: usize,
        room: &mut Room<'_>,
        noise: &mut NoiseRoom<'_>,
    ) {
        let Some(deck) = self.deck else { return };
        let (level, c) = (self.level, picture.width / 4);
        let back = now.lines.step * self.raster.comb;
        let unit = 1.0 / Distribution::H8.deviation() as f32;
        let [of_luma, of_chroma] = [0, 1].map(|i| (deck.noise[i] * f64::from(now.noise[i])) as f32 * unit);
        let frame = self.noise[1 + copy].frame(now.index);
        let last = copy + 1 == self.generations;
        for i in (0..picture.count()).rev() {
            let number = picture.first + i;
            let (line, event) = (number as u32, &now.events[number]);
            let lost = last && (event.snow > 0.0 || !event.drops.is_empty());
            let y = picture.row(i).into_iter().next().unwrap_or_default();
            if of_luma > 0.0 || lost {
                frame.centred(0, line, noise.words, noise.fine);
                frame.centred(1, line, noise.words, noise.coarse);
            }
            if of_luma > 0.0 {
                line::add_noise(level, y, noise.fine, of_luma);
                line::add_streaks(level, y, noise.coarse, 0.7 * of_luma);
            }
            if lost {
                self.lose(y, event, noise, unit);
            }
            room.filter(y, &now.playback, 1);
            for (plane, rows) in [(2, &mut *picture.u), (3, &mut *picture.v)] {
                if deck.color_under && i >= back {
                    let (row, before) = with_before(rows, i, back, c);
                    line::blend(level, row, before, 0.5, 0.5);
                }
                let row = &mut rows[i * c..][..c];
                if of_chroma > 0.0 {
                    frame.centred(plane, line, noise.words, noise.coarse);
                    line::add_noise(level, row, noise.coarse, of_chroma);
                }
                room.filter(row, &self.tape_chroma, 1);
                if last && event.chroma != 1.0 {
                    row.iter_mut().for_each(|c| *c *= event.chroma);
                }
            }
            if last && deck.color_under {
                let [_, u, v] = picture.row(i);
                line::rotate(level, u, v, event.turn[0], event.turn[1]);
            }
        }
    }

    /// Lost signal in a line.
    fn lose(&self, y: &mut [f32], event: &LineEvent, noise: &NoiseRoom<'_>, unit: f32) {
        if event.snow > 0.0 {
            line::snow(self.level, y, noise.fine, noise.coarse, event.snow, unit);
        }
        for drop in &event.drops {
            let at = |x: i32| x.clamp(0, y.len() as i32) as usize;
            let (start, end) = (at(drop.start), at(drop.end));
            let mut left = 1.0f32;
            for (x, y) in y.iter_mut().enumerate().skip(start) {
                let own = drop.level + 0.12 * f32::from(noise.fine[x]) * unit;
                *y += (own - *y) * left;
                if x >= end {
                    left *= drop.decay;
                    if left < 0.01 {
                        break;
                    }
                }
            }
        }
    }
}
