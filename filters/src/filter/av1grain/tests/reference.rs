//! The specification's pseudocode (section 7.18.3), unchanged, over whole arrays.
//! `sub` is `(subX, subY)`.

use super::super::gaussian::GAUSSIAN;
use crate::film_grain::Params;
use crate::frame::{Depth, Format, Frame};

struct Grain<'a> {
    p: &'a Params,
    depth: u32,
    planes: usize,
    sub: (usize, usize),
    register: u16,
    noise: [Vec<Vec<i32>>; 3],
}

fn round2(x: i32, n: u32) -> i32 {
    if n == 0 { x } else { (x + (1 << (n - 1))) >> n }
}

impl Grain<'_> {
    fn random(&mut self, bits: u32) -> usize {
        let r = u32::from(self.register);
        let bit = (r ^ (r >> 1) ^ (r >> 3) ^ (r >> 12)) & 1;
        let r = (r >> 1) | (bit << 15);
        self.register = r as u16;
        ((r >> (16 - bits)) & ((1 << bits) - 1)) as usize
    }

    fn clip(&self, v: i32) -> i32 {
        let center = 128 << (self.depth - 8);
        v.clamp(-center, (256 << (self.depth - 8)) - 1 - center)
    }

    fn points(&self, plane: usize) -> usize {
        self.p.points[if plane > 0 && self.p.chroma_from_luma { 0 } else { plane }].len()
    }

    fn white(&mut self, w: usize, h: usize, any: bool) -> Vec<Vec<i32>> {
        let shift = 12 - self.depth + u32::from(self.p.grain_shift);
        let mut rows = vec![vec![0; w]; h];
        for v in rows.iter_mut().flatten() {
            *v = if any { round2(GAUSSIAN[self.random(11)].into(), shift) } else { 0 };
        }
        rows
    }

    fn generate(&mut self, seed: u16) -> [Vec<Vec<i32>>; 3] {
        self.register = seed;
        let (lag, shift) = (i32::from(self.p.lag), u32::from(self.p.coefficient_shift));
        let coefficient = |plane: usize, pos: usize| -> i32 { self.p.coefficients[plane][pos].into() };
        let has_luma = !self.p.points[0].is_empty();
        let mut luma = self.white(82, 73, has_luma);
        for y in 3..73i32 {
            for x in 3..82 - 3i32 {
                let (mut s, mut pos) = (0, 0);
                for row in -lag..=0 {
                    for col in -lag..=lag {
                        if row == 0 && col == 0 {
                            break;
                        }
                        s += luma[(y + row) as usize][(x + col) as usize] * coefficient(0, pos);
                        pos += 1;
                    }
                }
                let at = luma[y as usize][x as usize];
                luma[y as usize][x as usize] = self.clip(at + round2(s, shift));
            }
        }
        let (sub_x, sub_y) = self.sub;
        let (w, h) = (if sub_x > 0 { 44 } else { 82 }, if sub_y > 0 { 38 } else { 73 });
        let mut chroma = [1, 2].map(|plane| {
            self.register = seed ^ if plane == 1 { 0xb524 } else { 0x49d8 };
            let any = !self.p.points[plane].is_empty() || self.p.chroma_from_luma;
            self.white(w, h, any)
        });
        for (plane, grain) in [1, 2].into_iter().zip(&mut chroma) {
            for y in 3..h as i32 {
                for x in 3..w as i32 - 3 {
                    let (mut s, mut pos) = (0, 0);
                    for row in -lag..=0 {
                        for col in -lag..=lag {
                            let c = coefficient(plane, pos);
                            if row == 0 && col == 0 {
                                if has_luma {
                                    let mut sum = 0;
                                    let luma_x = ((x as usize - 3) << sub_x) + 3;
                                    let luma_y = ((y as usize - 3) << sub_y) + 3;
                                    for i in 0..=sub_y {
                                        for j in 0..=sub_x {
                                            sum += luma[luma_y + i][luma_x + j];
                                        }
                                    }
                                    s += round2(sum, (sub_x + sub_y) as u32) * c;
                                }
                                break;
                            }
                            s += grain[(y + row) as usize][(x + col) as usize] * c;
                            pos += 1;
                        }
                    }
                    let at = grain[y as usize][x as usize];
                    grain[y as usize][x as usize] = self.clip(at + round2(s, shift));
                }
            }
        }
        let [cb, cr] = chroma;
        [luma, cb, cr]
    }

    fn scaling(&self, plane: usize) -> [i32; 256] {
        let points = &self.p.points[if plane > 0 && self.p.chroma_from_luma { 0 } else { plane }];
        let (x_of, y_of) = (|i: usize| i32::from(points[i][0]), |i: usize| i32::from(points[i][1]));
        let mut lut = [0; 256];
        if points.is_empty() {
            return lut;
        }
        for x in 0..x_of(0) {
            lut[x as usize] = y_of(0);
        }
        for i in 0..points.len() - 1 {
            let (dy, dx) = (y_of(i + 1) - y_of(i), x_of(i + 1) - x_of(i));
            let delta = dy * ((65536 + (dx >> 1)) / dx);
            for x in 0..dx {
                lut[(x_of(i) + x) as usize] = y_of(i) + ((x * delta + 32768) >> 16);
            }
        }
        for x in x_of(points.len() - 1)..256 {
            lut[x as usize] = y_of(points.len() - 1);
        }
        lut
    }

    fn scale_lut(&self, lut: &[i32; 256], index: i32) -> i32 {
        let shift = self.depth - 8;
        let x = (index >> shift) as usize;
        let rem = index - ((x as i32) << shift);
        if self.depth == 8 || x == 255 {
            return lut[x];
        }
        lut[x] + round2((lut[x + 1] - lut[x]) * rem, shift)
    }

    #[allow(clippy::needless_range_loop)] // as the specification writes it
    fn make_noise(&mut self, seed: u16, w: usize, h: usize, grain: &[Vec<Vec<i32>>; 3]) {
        let overlap = self.p.overlap;
        let mut stripes: Vec<[Vec<Vec<i32>>; 3]> = Vec::new();
        for (luma_num, _) in (0..h.div_ceil(2)).step_by(16).enumerate() {
            self.register = seed;
            self.register ^= (((luma_num * 37 + 178) & 255) << 8) as u16;
            self.register ^= ((luma_num * 173 + 105) & 255) as u16;
            let mut stripe: [Vec<Vec<i32>>; 3] = core::array::from_fn(|_| vec![vec![0; w + 64]; 34]);
            for x in (0..w.div_ceil(2)).step_by(16) {
                let rand = self.random(8);
                let (offset_x, offset_y) = (rand >> 4, rand & 15);
                for plane in 0..self.planes {
                    let (sub_x, sub_y) = if plane > 0 { self.sub } else { (0, 0) };
                    let at_x = if sub_x > 0 { 6 + offset_x } else { 9 + offset_x * 2 };
                    let at_y = if sub_y > 0 { 6 + offset_y } else { 9 + offset_y * 2 };
                    for i in 0..34 >> sub_y {
                        for j in 0..34 >> sub_x {
                            let mut g = grain[plane][at_y + i][at_x + j];
                            let at = if sub_x == 0 { x * 2 + j } else { x + j };
                            let old = stripe[plane][i][at];
                            if sub_x == 0 {
                                if j < 2 && overlap && x > 0 {
                                    g = if j == 0 { old * 27 + g * 17 } else { old * 17 + g * 27 };
                                    g = self.clip(round2(g, 5));
                                }
                            } else if j == 0 && overlap && x > 0 {
                                g = self.clip(round2(old * 23 + g * 22, 5));
                            }
                            stripe[plane][i][at] = g;
                        }
                    }
                }
            }
            stripes.push(stripe);
        }
        for plane in 0..self.planes {
            let (sub_x, sub_y) = if plane > 0 { self.sub } else { (0, 0) };
            let (w, h) = ((w + sub_x) >> sub_x, (h + sub_y) >> sub_y);
            self.noise[plane] = vec![vec![0; w]; h];
            for (y, x) in (0..h).flat_map(|y| (0..w).map(move |x| (y, x))) {
                let luma_num = y >> (5 - sub_y);
                let i = y - (luma_num << (5 - sub_y));
                let mut g = stripes[luma_num][plane][i][x];
                if sub_y == 0 {
                    if i < 2 && luma_num > 0 && overlap {
                        let old = stripes[luma_num - 1][plane][i + 32][x];
                        g = if i == 0 { old * 27 + g * 17 } else { old * 17 + g * 27 };
                        g = self.clip(round2(g, 5));
                    }
                } else if i < 1 && luma_num > 0 && overlap {
                    let old = stripes[luma_num - 1][plane][i + 16][x];
                    g = self.clip(round2(old * 23 + g * 22, 5));
                }
                self.noise[plane][y][x] = g;
            }
        }
    }

    fn add(&self, picture: &mut [Vec<Vec<i32>>], identity: bool, clip: bool) {
        let (w, h) = (picture[0][0].len(), picture[0].len());
        let (low, high, high_chroma) = if clip {
            let high = 235 << (self.depth - 8);
            (16 << (self.depth - 8), high, if identity { high } else { 240 << (self.depth - 8) })
        } else {
            let high = (256 << (self.depth - 8)) - 1;
            (0, high, high)
        };
        let shift = u32::from(self.p.scaling_shift);
        let (sub_x, sub_y) = self.sub;
        let top = (1 << self.depth) - 1;
        for plane in 1..self.planes {
            if self.points(plane) == 0 || sub_x + sub_y == 2 && self.points(0) == 0 {
                continue;
            }
            let lut = self.scaling(plane);
            let mix = self.p.index[plane - 1];
            for y in 0..(h + sub_y) >> sub_y {
                for x in 0..(w + sub_x) >> sub_x {
                    let (luma_x, luma_y) = (x << sub_x, y << sub_y);
                    let next = (luma_x + 1).min(w - 1);
                    let average = if sub_x > 0 {
                        round2(picture[0][luma_y][luma_x] + picture[0][luma_y][next], 1)
                    } else {
                        picture[0][luma_y][luma_x]
                    };
                    let orig = picture[plane][y][x];
                    let merged = if self.p.chroma_from_luma {
                        average
                    } else {
                        let combined =
                            average * (i32::from(mix.luma) - 128) + orig * (i32::from(mix.own) - 128);
                        ((combined >> 6) + ((i32::from(mix.offset) - 256) << (self.depth - 8))).clamp(0, top)
                    };
                    let noise = round2(self.scale_lut(&lut, merged) * self.noise[plane][y][x], shift);
                    picture[plane][y][x] = (orig + noise).clamp(low, high_chroma);
                }
            }
        }
        if self.points(0) > 0 {
            let lut = self.scaling(0);
            for (row, noise) in picture[0].iter_mut().zip(&self.noise[0]) {
                for (v, &g) in row.iter_mut().zip(noise) {
                    *v = (*v + round2(self.scale_lut(&lut, *v) * g, shift)).clamp(low, high);
                }
            }
        }
    }
}

/// The picture with grain. Panics unless it has 8, 10 or 12 bits.
pub(super) fn grained(source: &Frame, params: &Params, seed: u16) -> Frame {
    let format: Format = *source.format();
    let Depth::Bits(depth @ (8 | 10 | 12)) = format.depth else { panic!("{format:?}") };
    let planes = format.color_planes().iter().count();
    let sub = (usize::from(format.subsampling.0), usize::from(format.subsampling.1));
    let mut picture: Vec<Vec<Vec<i32>>> = (0..planes)
        .map(|p| {
            let (w, h) = format.plane_size(p);
            let at = |x, y| crate::filter::testing::at(source, p, x, y) as i32;
            (0..h).map(|y| (0..w).map(|x| at(x, y)).collect()).collect()
        })
        .collect();
    let mut grain =
        Grain { p: params, depth: depth.into(), planes, sub, register: 0, noise: Default::default() };
    let templates = grain.generate(seed);
    let (w, h) = format.plane_size(0);
    grain.make_noise(seed, w, h, &templates);
    grain.add(&mut picture, format.is_rgb(), params.clip && !format.full_range());
    let mut out = source.clone();
    for (p, rows) in picture.iter().enumerate() {
        for (y, row) in rows.iter().enumerate() {
            for (x, &v) in row.iter().enumerate() {
                match depth {
                    8 => out.row_mut::<u8>(p, y)[x] = v as u8,
                    _ => out.row_mut::<u16>(p, y)[x] = v as u16,
                }
            }
        }
    }
    out
}
