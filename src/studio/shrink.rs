//! Smaller pictures: each pixel is the mean of the area that it covers.

use super::fault::Fault;
use super::pixels::{Rgba, cropped, span};
use grainfield_filters::filter::convert::assumed_matrix;
use grainfield_filters::frame::{Depth, Format, Frame};
use grainfield_render::session::converted;
use std::num::NonZero;
use std::thread;

/// The rows of a band: fewer are not worth a thread.
const BAND: usize = 128;

/// A whole frame, converted and [reduced], in bands of rows on a thread each.
pub(super) fn banded(frame: &Frame, [width, height]: [usize; 2]) -> Result<Rgba, Fault> {
    let (columns, rows) = (frame.format().width as usize, frame.format().height as usize);
    let (width, height) = (width.clamp(1, columns), height.clamp(1, rows));
    let (across, down) = (Taps::new(columns, width), weights(rows, height));
    let mut out = Rgba::new(width, height);
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let bands = (rows / BAND).clamp(1, threads).min(height);
    let each = height.div_ceil(bands);
    thread::scope(|scope| {
        let parts = down.chunks(each).zip(out.bytes.chunks_mut(4 * width * each));
        let work = |(down, to)| band(frame, &across, down, to);
        let mut parts: Vec<_> = parts.collect();
        let own = parts.pop();
        let spawned: Vec<_> = parts
            .into_iter()
            .map(|part| thread::Builder::new().spawn_scoped(scope, move || work(part)))
            .collect();
        own.map_or(Ok(()), work)?;
        // A panic is passed on.
        spawned.into_iter().try_for_each(|band| {
            band.map_err(Fault::new)?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    Ok(out)
}

/// The rows of a smaller picture that cover `down`.
fn band(frame: &Frame, across: &Taps, down: &[(usize, Vec<f64>)], to: &mut [u8]) -> Result<(), Fault> {
    let (Some((first, _)), Some((last, parts))) = (down.first(), down.last()) else { return Ok(()) };
    let mut format = *frame.format();
    let all = f64::from(format.width) * f64::from(format.height);
    let (top, rows) = span(*first, last + parts.len() - first, format.height);
    // By the height of the whole frame.
    format.matrix = assumed_matrix(&format).0;
    format.height = rows as u32;
    let rgb = converted(&cropped(frame, format, 0, top), "gbrp")?;
    let mut sums = vec![0.0f32; format.width as usize];
    for ((first, parts), to) in down.iter().zip(to.chunks_exact_mut(4 * across.first.len())) {
        for (p, c) in [(0, 1), (1, 2), (2, 0)] {
            sums.fill(0.0);
            for (row, &part) in (*first..).zip(parts) {
                let part = part as f32;
                sums.iter_mut()
                    .zip(rgb.row::<u8>(p, row - top))
                    .for_each(|(s, v)| *s += f32::from(*v) * part);
            }
            across.means(&sums, all, to, c);
        }
    }
    Ok(())
}

/// The [weights] of a row, as many for each pixel.
struct Taps {
    first: Vec<usize>,
    count: usize,
    parts: Vec<f64>,
}

impl Taps {
    fn new(from: usize, to: usize) -> Taps {
        let all = weights(from, to);
        let count = all.iter().map(|(_, parts)| parts.len()).max().unwrap_or(1);
        let mut taps = Taps { first: Vec::with_capacity(to), count, parts: vec![0.0; count * to] };
        for ((first, parts), to) in all.iter().zip(taps.parts.chunks_exact_mut(count)) {
            let start = (*first).min(from - count);
            to[first - start..][..parts.len()].copy_from_slice(parts);
            taps.first.push(start);
        }
        taps
    }

    /// The means of sums of rows, rounded half up, into byte `c` of each pixel. `all` is the sum of all weights.
    fn means(&self, sums: &[f32], all: f64, to: &mut [u8], c: usize) {
        // Sums are whole numbers; a sum and a half is never nearer than 1 / (2 * all) to where the quotient is rounded down to
        // another code, which is more than the product can be wrong.
        let (half, by) = ((all / 2.0).floor() + 0.5, 1.0 / all);
        let parts = self.parts.chunks_exact(self.count);
        for ((first, parts), to) in self.first.iter().zip(parts).zip(to.chunks_exact_mut(4)) {
            let sum = sums[*first..].iter().zip(parts).fold(0.0, |sum, (v, part)| sum + f64::from(*v) * part);
            to[c] = ((sum + half) * by) as u8;
        }
    }
}

/// Reduces by the mean of the area that each pixel covers, computed exactly and rounded half up; never
/// enlarges.
pub(super) fn reduced(from: Rgba, size: Option<[usize; 2]>) -> Rgba {
    let Some([width, height]) = size else { return from };
    let (width, height) = (width.clamp(1, from.width), height.clamp(1, from.height));
    if (width, height) == (from.width, from.height) {
        return from;
    }
    // Sums are whole numbers that the floats hold exactly: down at most 255 times the height of a picture, below 2^24;
    // across and down 255 times its pixels, below 2^53.
    let all = (from.width * from.height) as f64;
    let (across, down) = (weights(from.width, width), weights(from.height, height));
    let mut sums = vec![0.0f32; 4 * from.width];
    let mut bytes = vec![0; 4 * width * height];
    for ((first, parts), to) in down.iter().zip(bytes.chunks_exact_mut(4 * width)) {
        sums.fill(0.0);
        for (row, &part) in from.bytes.chunks_exact(4 * from.width).skip(*first).zip(parts) {
            sums.iter_mut().zip(row).for_each(|(sum, v)| *sum += f32::from(*v) * part as f32);
        }
        for ((first, parts), to) in across.iter().zip(to.chunks_exact_mut(4)) {
            let mut pixel = [0.0f64; 4];
            for (sum, &part) in sums[4 * first..].chunks_exact(4).zip(parts) {
                for c in 0..4 {
                    pixel[c] += f64::from(sum[c]) * part;
                }
            }
            // A mean is at least 1 / (2 * all) away from where it is rounded to another code, which is more than the
            // division can be wrong.
            to.copy_from_slice(&pixel.map(|sum| ((2.0 * sum + all) / (2.0 * all)) as u8));
        }
    }
    Rgba { width, height, bytes }
}

/// All planes in one size, by the mean of the area that each sample covers; whole numbers become 16 bits.
pub(super) fn shrunk(frame: &Frame, [width, height]: [usize; 2]) -> Frame {
    let from = *frame.format();
    let (width, height) = (width.clamp(1, from.width as usize), height.clamp(1, from.height as usize));
    let depth = if from.depth == Depth::Float { Depth::Float } else { Depth::Bits(16) };
    // By the height of the whole frame.
    let matrix = assumed_matrix(&from).0;
    let (w, h) = (width as u32, height as u32);
    let mut small = Frame::new(Format { width: w, height: h, subsampling: (0, 0), depth, matrix, ..from });
    for p in 0..from.planes() {
        let (columns, rows) = from.plane_size(p);
        let (across, down) = (weights(columns, width), weights(rows, height));
        let all = (columns * rows) as f32;
        // The middle of chroma and the ends of the range are other codes in 16 bits.
        let (scale, middle) = match from.depth {
            Depth::Bits(bits) if from.full_range() => {
                let middle = if from.is_chroma(p) { (1u32 << (bits - 1)) as f32 } else { 0.0 };
                (65535.0 / ((1u32 << bits) - 1) as f32, middle)
            }
            Depth::Bits(bits) => ((1u32 << (16 - bits)) as f32, 0.0),
            Depth::Float => (1.0, 0.0),
        };
        let mut sums = vec![0.0f32; columns];
        for (y, (first, parts)) in down.iter().enumerate() {
            sums.fill(0.0);
            for (row, &part) in (*first..).zip(parts) {
                let part = part as f32;
                match from.depth.bytes() {
                    1 => sums
                        .iter_mut()
                        .zip(frame.row::<u8>(p, row))
                        .for_each(|(s, v)| *s += f32::from(*v) * part),
                    2 => sums
                        .iter_mut()
                        .zip(frame.row::<u16>(p, row))
                        .for_each(|(s, v)| *s += f32::from(*v) * part),
                    _ => sums.iter_mut().zip(frame.row::<f32>(p, row)).for_each(|(s, v)| *s += *v * part),
                }
            }
            let means = across.iter().map(|(first, parts)| {
                sums[*first..].iter().zip(parts).fold(0.0, |sum, (v, part)| sum + v * *part as f32) / all
            });
            if depth == Depth::Float {
                small.row_mut::<f32>(p, y).iter_mut().zip(means).for_each(|(to, v)| *to = v);
            } else {
                let zero = if middle > 0.0 { 32768.5 } else { 0.5 };
                // The cast saturates.
                let code = |v: f32| ((v - middle) * scale + zero) as u16;
                small.row_mut::<u16>(p, y).iter_mut().zip(means).for_each(|(to, v)| *to = code(v));
            }
        }
    }
    small
}

/// For each of `to` samples: the first of the `from` samples that it covers, and the covered lengths of that and the
/// following ones, in units of 1/`to` of a sample.
fn weights(from: usize, to: usize) -> Vec<(usize, Vec<f64>)> {
    (0..to)
        .map(|i| {
            let (start, end) = (i * from, (i + 1) * from);
            let first = start / to;
            let last = (end - 1) / to;
            let part = |s: usize| (((s + 1) * to).min(end) - (s * to).max(start)) as f64;
            (first, (first..=last).map(part).collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(width: usize, height: usize) -> Rgba {
        let mut p = Rgba::new(width, height);
        for (i, to) in p.bytes.chunks_exact_mut(4).enumerate() {
            let (x, y) = (i % width, i / width);
            to[..3].copy_from_slice(&[(x * 37 + y * 11) as u8, (x * 5) as u8, (y * 91) as u8]);
        }
        p
    }

    #[test]
    fn smaller_is_the_mean_of_the_area() {
        let from = made(7, 5);
        for (width, height) in [(3, 2), (7, 1), (1, 5), (6, 4), (1, 1)] {
            let to = reduced(from.clone(), Some([width, height]));
            for y in 0..height {
                for x in 0..width {
                    for c in 0..3 {
                        // The reference: the overlap of each sample with the pixel.
                        let overlap = |s: usize, i: usize, from: usize, to: usize| {
                            let (a, b) = ((i * from) as f64 / to as f64, ((i + 1) * from) as f64 / to as f64);
                            ((s + 1) as f64).min(b) - (s as f64).max(a)
                        };
                        let mut sum = 0.0;
                        for sy in 0..5 {
                            for sx in 0..7 {
                                let w =
                                    overlap(sx, x, 7, width).max(0.0) * overlap(sy, y, 5, height).max(0.0);
                                sum += w * f64::from(from.bytes[4 * (sy * 7 + sx) + c]);
                            }
                        }
                        let mean = sum * (width * height) as f64 / 35.0;
                        let got = f64::from(to.bytes[4 * (y * width + x) + c]);
                        assert!(
                            (got - mean).abs() <= 0.5 + 1e-9,
                            "{width}x{height} at {x},{y}: {got} {mean}"
                        );
                    }
                }
            }
        }
    }

    /// Bands are the whole frame, converted and reduced at once.
    #[test]
    fn bands_are_the_whole_picture() {
        for name in ["yuv420p", "yuv422p10", "yuv411p", "gbrp16", "grayf32", "yuva444p"] {
            for (width, height) in [(97, 603), (1, 1), (3, 700)] {
                let mut frame = Frame::new(Format::from_name(name, width, height).unwrap());
                for p in 0..frame.format().planes() {
                    for y in 0..frame.format().plane_size(p).1 {
                        let code =
                            |x: usize| ((x * x + 31 * y + 7919 * p) as u32).wrapping_mul(2_654_435_761) >> 9;
                        match frame.format().depth {
                            Depth::Bits(8) => {
                                (0..).zip(frame.row_mut::<u8>(p, y)).for_each(|(x, s)| *s = code(x) as u8)
                            }
                            Depth::Bits(bits) => (0..)
                                .zip(frame.row_mut::<u16>(p, y))
                                .for_each(|(x, s)| *s = (code(x) & ((1 << bits) - 1)) as u16),
                            Depth::Float => (0..)
                                .zip(frame.row_mut::<f32>(p, y))
                                .for_each(|(x, s)| *s = (code(x) & 255) as f32 / 255.0),
                        }
                    }
                }
                let whole = crate::picture::show(&frame, &Default::default()).unwrap();
                for size in [[40, 301], [96, 602], [97, 603], [1, 1], [5000, 3], [7, 5]] {
                    let got = banded(&frame, size).unwrap();
                    assert!(got == reduced(whole.clone(), Some(size)), "{name} {width}x{height} {size:?}");
                }
            }
        }
    }
}
