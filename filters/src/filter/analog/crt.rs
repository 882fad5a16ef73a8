//! The picture tube: in linear light, lines drawn by a beam that widens with its current, the glass's bloom, its
//! curvature, and the mask.
//!
//! A line of light `L` at a distance `d` of lines adds `15/16 L/r (1 - (d/r)^2)^2` up to `d = r`, with `r` from 0.4 to
//! 0.8 by the square root of its light: the profile has the same sum for any `r`.

use super::glass::{beam, corners, interleave, masked, places, stretch};
use super::line::{Room, blend, modulate_row};
use super::settings::{AnalogSpec, Mask};
use super::signal::Picture;
use super::system::gaussian;
use crate::frame::{Format, FrameTime};
use crate::pixel::transfer::TransferFunction;
use crate::simd::Level;
use core::ops::Range;

/// A tube, bound.
pub(super) struct Crt {
    /// Width and height of the output's picture.
    size: [usize; 2],
    /// Rows of the mask, one after the other, for R, G and B.
    masks: Vec<[Vec<f32>; 3]>,
    kind: Mask,
    /// Rows after which a mask's pattern repeats.
    pitch: usize,
    curve: TransferFunction,
    level: Level,
}

/// The parameters of a picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tube {
    scanlines: f32,
    mask: f32,
    bloom: f32,
    curve: f64,
}

impl Tube {
    /// Whether the glass glows.
    pub(super) fn has_bloom(&self) -> bool {
        self.bloom > 0.0
    }
}

/// Lines of light, from line `first`, and what the glass adds.
pub(super) struct Light<'a> {
    pub first: usize,
    /// Lines of the whole picture, and samples of one.
    pub lines: usize,
    pub width: usize,
    pub rgb: [&'a [f32]; 3],
    pub glow: [&'a [f32]; 3],
}

/// How much of the sample at `x` lies within `from..to` of a period.
fn covered(x: f64, period: f64, from: f64, to: f64) -> f64 {
    let start = x - period * libm::floor(x / period);
    let part = |offset: f64| ((start + 1.0).min(to + offset) - start.max(from + offset)).max(0.0);
    part(0.0) + part(period) + part(-period)
}

/// The part of light that a mask lets through where it is closed.
const LEAK: f64 = 0.12;

impl Crt {
    pub(super) fn new(set: &AnalogSpec, format: &Format, level: Level) -> Crt {
        let (width, height) = format.plane_size(0);
        let period = (set.mask_size * f64::from(format.width) / 1920.0).max(3.0);
        let pitch =
            (period * if set.tube_mask == Mask::Shadow { 1.732 } else { 3.0 }).round().max(4.0) as usize;
        // A row of stripes, moved by a part of the period, dimmed in every other triple.
        let row = |moved: f64, dim: [f64; 2]| {
            [0.0, 1.0, 2.0].map(|stripe| {
                let open = |x: usize, odd: usize| {
                    let from = (stripe / 3.0 + moved + odd as f64) * period;
                    covered(x as f64, 2.0 * period, from, from + 0.94 * period / 3.0) * dim[odd]
                };
                let value = |x: usize| LEAK + (1.0 - LEAK) * (open(x, 0) + open(x, 1));
                (0..width).map(|x| (value(x) / (LEAK + (1.0 - LEAK) * 0.94 / 3.0)) as f32).collect()
            })
        };
        let masks = match set.tube_mask {
            Mask::None => vec![[0, 1, 2].map(|_| vec![1.0; width])],
            Mask::Aperture => vec![row(0.0, [1.0; 2])],
            Mask::Slot => vec![row(0.0, [1.08; 2]), row(0.0, [0.3, 1.08]), row(0.0, [1.08, 0.3])],
            Mask::Shadow => {
                vec![row(0.0, [1.15; 2]), row(0.5, [1.15; 2]), row(0.0, [0.7; 2]), row(0.5, [0.7; 2])]
            }
        };
        Crt {
            size: [width, height],
            masks,
            kind: set.tube_mask,
            pitch,
            curve: TransferFunction::of(format),
            level,
        }
    }

    /// The parameters at a time; `None` if there is no tube.
    pub(super) fn at(&self, set: &AnalogSpec, at: &FrameTime, lines: usize) -> Option<Tube> {
        let strength = set.crt.at(at);
        if strength <= 0.0 {
            return None;
        }
        // Too few rows for a line cannot show gaps: they would beat with the rows.
        let rows = self.size[1] as f64 / lines.max(1) as f64;
        let room = ((rows - 1.4) / 1.2).clamp(0.0, 1.0);
        Some(Tube {
            scanlines: (strength * set.scanlines.at(at) * room) as f32,
            mask: if self.kind == Mask::None { 0.0 } else { (0.55 * strength) as f32 },
            bloom: (strength * set.bloom.at(at)) as f32,
            curve: 0.16 * strength * set.curvature.at(at),
        })
    }

    /// Lines of the glass's blur in each direction.
    pub(super) fn reach(lines: usize) -> usize {
        (lines / 40).clamp(1, 16)
    }

    /// The place of a row in the height of the glass, from -1 to 1.
    fn height(&self, y: usize) -> f64 {
        (2.0 * y as f64 + 1.0) / self.size[1] as f64 - 1.0
    }

    /// The lines from which these rows are made, of a picture of so many.
    pub(super) fn needed(&self, tube: &Tube, rows: &Range<usize>, lines: usize) -> Range<usize> {
        let line = |v: f64| (v + 1.0) * 0.5 * lines as f64;
        let ends = [rows.start, rows.end.saturating_sub(1)].map(|y| self.height(y));
        let all = ends.into_iter().flat_map(|v| [v, v * (1.0 + tube.curve)]);
        let (least, most) = all.fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)));
        let reach = Crt::reach(lines) as f64 + 3.0;
        let clip = |v: f64| v.clamp(0.0, lines as f64) as usize;
        clip(line(least) - reach)..clip(line(most) + reach)
    }

    /// Makes light of R, G and B, and the glow of the glass.
    pub(super) fn light(
        &self,
        tube: &Tube,
        rgb: [&mut [f32]; 3],
        glow: [&mut [f32]; 3],
        lines: usize,
        picture: &mut Picture<'_>,
        room: &mut Room<'_>,
    ) {
        let (w, c, count) = (picture.width, picture.width / 4, picture.count());
        let reach = Crt::reach(lines);
        let across = gaussian(1.6 * reach as f64, reach);
        let down = gaussian(2.0 * reach as f64, reach);
        for (rgb, glow) in rgb.into_iter().zip(glow) {
            self.curve.linearize(self.level, rgb);
            if tube.bloom <= 0.0 {
                continue;
            }
            for i in 0..count {
                let row = &mut picture.u[i * c..][..c];
                for (to, four) in row.iter_mut().zip(rgb[i * w..][..w].chunks_exact(4)) {
                    let sum = (four[0] + four[1]) + (four[2] + four[3]);
                    *to = if sum > 0.0 { 0.25 * sum } else { 0.0 };
                }
                room.filter(row, &across, 1);
            }
            for i in 0..count {
                let sum = &mut picture.v[..c];
                sum.fill(0.0);
                for (k, &weight) in down.iter().enumerate() {
                    // Beyond the picture there is no light; the lines at the ends of a band have none that need it.
                    if let Some(at) = (i + k).checked_sub(reach).filter(|at| *at < count) {
                        blend(self.level, sum, &picture.u[at * c..][..c], 1.0, weight);
                    }
                }
                let to = &mut glow[i * w..][..w];
                to.fill(0.0);
                modulate_row(self.level, to, sum, sum, ([tube.bloom; 4], [0.0; 4]));
            }
        }
    }

    /// A row of the output: values of R, G and B. The last are room for two rows as wide as output and line, and
    /// for seven lines.
    pub(super) fn row(
        &self,
        tube: &Tube,
        light: &Light<'_>,
        y: usize,
        out: [&mut [f32]; 3],
        [cover, place, quads]: [&mut [f32]; 3],
    ) {
        let (w, n) = (light.width, light.lines);
        let v = self.height(y);
        let (cover, place) = (&mut cover[..self.size[0]], &mut place[..w]);
        let (lines, quads) = quads.split_at_mut(3 * w);
        let quads: &mut [[f32; 4]] = bytemuck::cast_slice_mut(&mut quads[..4 * w]);
        places(self.level, place, v as f32, tube.curve as f32, n as f32);
        let wide = 1.0 + 0.8 * tube.curve * v * v;
        let step = wide * w as f64 / self.size[0] as f64;
        let from = 0.5 * w as f64 * (1.0 - wide) + 0.5 * step - 0.5;
        self.cover(tube, v, wide, cover);
        let mask = &self.masks[self.pattern(y)];
        // The nearest line, for places above the first one too.
        let nearest = |place: f32| (place + 64.5) as i64 - 64;
        let mut start = 0;
        while start < w {
            // Columns with the same three lines.
            let middle = nearest(place[start]);
            let end = (start..w).find(|&i| nearest(place[i]) != middle).unwrap_or(w);
            place[start..end].iter_mut().for_each(|p| *p -= middle as f32);
            for (channel, line) in lines.chunks_exact_mut(w).enumerate() {
                let at = |k: i64, rows: &'_ [f32]| {
                    let line = (middle + k).clamp(0, n as i64 - 1) as usize;
                    line.saturating_sub(light.first).min(rows.len() / w - 1) * w
                };
                let rows = light.rgb[channel];
                let three = [-1, 0, 1].map(|k| &rows[at(k, rows)..][start..end]);
                let line = &mut line[start..end];
                beam(self.level, line, three, &place[start..end], tube.scanlines);
                if tube.bloom > 0.0 {
                    let rows = light.glow[channel];
                    blend(self.level, line, &rows[at(0, rows)..][start..end], 1.0, 1.0);
                }
            }
            start = end;
        }
        interleave(self.level, quads, lines);
        let [r, g, b] = out;
        stretch(self.level, [&mut *r, &mut *g, &mut *b], quads, from as f32, step as f32);
        for (channel, out) in [r, g, b].into_iter().enumerate() {
            masked(self.level, out, &mask[channel], tube.mask, cover);
            self.curve.encode(self.level, out);
        }
    }

    /// The row of the mask.
    const fn pattern(&self, y: usize) -> usize {
        let (at, half) = (y % self.pitch, self.pitch / 2);
        match self.kind {
            Mask::None | Mask::Aperture => 0,
            Mask::Slot if at == 0 => 1,
            Mask::Slot if at == half => 2,
            Mask::Slot => 0,
            Mask::Shadow => (at >= half) as usize + if at == 0 || at == half { 2 } else { 0 },
        }
    }

    /// How much of each sample lies on the glass: with rounded corners, and darker towards them.
    fn cover(&self, tube: &Tube, v: f64, wide: f64, cover: &mut [f32]) {
        if tube.curve <= 0.0 {
            cover.fill(1.0);
            return;
        }
        let radius = 0.05 + tube.curve.min(0.3) * 0.4;
        let sharp = radius * self.size[0] as f64 / 6.0;
        corners(self.level, cover, [v, wide, tube.curve, radius, sharp].map(|v| v as f32));
    }
}
