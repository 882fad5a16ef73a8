//! Scopes: the distribution of a frame's samples, as pictures 256 high.

use super::fault::Fault;
use super::pixels::Rgba;
use grainfield_filters::frame::Frame;
use grainfield_render::session::converted;

/// Width of a waveform.
const COLUMNS: usize = 512;

/// The scopes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Scope {
    /// The number of samples of each value, for red, green and blue.
    Histogram,
    /// The values of luma, by the column of the picture.
    Waveform,
    /// The values of red, green and blue, side by side.
    Parade,
    /// Chroma: U to the right, V upwards.
    Vectorscope,
}

pub(super) fn draw(frame: &Frame, scope: Scope) -> Result<Rgba, Fault> {
    Ok(match scope {
        Scope::Histogram => histogram(&converted(frame, "gbrp")?),
        Scope::Waveform => {
            let luma = converted(frame, "yuv444p")?;
            waves(&luma, &[(0, [255; 3])])
        }
        Scope::Parade => {
            waves(&converted(frame, "gbrp")?, &[(2, [255, 0, 0]), (0, [0, 255, 0]), (1, [0, 90, 255])])
        }
        Scope::Vectorscope => vectors(&converted(frame, "yuv444p")?),
    })
}

fn histogram(rgb: &Frame) -> Rgba {
    let mut counts = [[0u64; 256]; 3];
    for (plane, to) in [(2, 0), (0, 1), (1, 2)] {
        for y in rgb.plane(plane).rows() {
            rgb.row::<u8>(plane, y).iter().for_each(|&v| counts[to][usize::from(v)] += 1);
        }
    }
    // The ends hold all clipped samples and would flatten the rest.
    let top = counts.iter().flat_map(|c| &c[1..255]).max().copied().unwrap_or(0).max(1);
    let mut out = Rgba::new(256, 256);
    for (c, counts) in counts.iter().enumerate() {
        for (x, &n) in counts.iter().enumerate() {
            let height = (n * 250).div_ceil(top).min(256) as usize;
            // The area is dim with a bright line at its top: where areas of several colours overlap, the mixture
            // is not a colour of the picture.
            for y in 256 - height..256 {
                out.bytes[4 * (y * 256 + x) + c] = if y < 258 - height { 235 } else { 56 };
            }
        }
    }
    out
}

/// Counts of values by column, each plane in its part of the width.
fn waves(frame: &Frame, planes: &[(usize, [u8; 3])]) -> Rgba {
    let mut out = Rgba::new(COLUMNS, 256);
    let part = COLUMNS / planes.len();
    for (i, &(plane, colour)) in planes.iter().enumerate() {
        let mut counts = vec![0u64; part * 256];
        for y in frame.plane(plane).rows() {
            let row = frame.row::<u8>(plane, y);
            for (x, &v) in row.iter().enumerate() {
                counts[(255 - usize::from(v)) * part + x * part / row.len()] += 1;
            }
        }
        let place = |n: usize| (n / part) * COLUMNS + i * part + n % part;
        brighten(&mut out, &counts, place, colour);
    }
    out
}

fn vectors(yuv: &Frame) -> Rgba {
    let mut counts = vec![0u64; 256 * 256];
    for y in yuv.plane(1).rows() {
        for (&u, &v) in yuv.row::<u8>(1, y).iter().zip(yuv.row::<u8>(2, y)) {
            counts[(255 - usize::from(v)) * 256 + usize::from(u)] += 1;
        }
    }
    let mut out = Rgba::new(256, 256);
    brighten(&mut out, &counts, |n| n, [255; 3]);
    out
}

/// Brightness is the square root of the count, so that single samples are visible beside many.
fn brighten(out: &mut Rgba, counts: &[u64], place: impl Fn(usize) -> usize, colour: [u8; 3]) {
    let top = counts.iter().max().copied().unwrap_or(0).max(1);
    for (n, &count) in counts.iter().enumerate().filter(|(_, c)| **c > 0) {
        let light = (count * 215 * 215 / top).isqrt() as u8 + 40;
        for (c, on) in colour.iter().enumerate() {
            out.bytes[4 * place(n) + c] = (u16::from(light) * u16::from(*on) / 255) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_filters::frame::{Depth, Family, Format, Matrix};

    fn flat(g: u8, b: u8, r: u8) -> Frame {
        let format = Format { matrix: Matrix::RGB, ..Format::new(5, 3, Family::Rgb, Depth::Bits(8), (0, 0)) };
        let mut frame = Frame::new(format);
        for (p, v) in [g, b, r].into_iter().enumerate() {
            (0..3).for_each(|y| frame.row_mut::<u8>(p, y).fill(v));
        }
        frame
    }

    fn lit(p: &Rgba, c: usize) -> Vec<(usize, usize)> {
        let all = p.bytes.chunks_exact(4).enumerate().filter(|(_, v)| v[c] > 0);
        all.map(|(i, _)| (i % p.width, i / p.width)).collect()
    }

    #[test]
    fn flat_pictures_are_where_they_should_be() {
        let frame = flat(100, 50, 200);
        let p = draw(&frame, Scope::Histogram).unwrap();
        assert!(lit(&p, 0).iter().all(|at| at.0 == 200) && lit(&p, 1).iter().all(|at| at.0 == 100));
        let p = draw(&frame, Scope::Parade).unwrap();
        // Red in the left third, at the height of its value.
        assert!(lit(&p, 0).iter().all(|&(x, y)| x < 170 && y == 55), "{:?}", lit(&p, 0));
        assert!(lit(&p, 2).iter().all(|&(x, y)| (340..512).contains(&x) && y == 205));
        let p = draw(&flat(90, 90, 90), Scope::Vectorscope).unwrap();
        assert_eq!(lit(&p, 0), [(128, 127)]);
    }
}
