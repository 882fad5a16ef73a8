//! Plots the report: six panels in one PNG, with built-in fonts, the same on every machine.

mod panels;
pub(crate) mod style;
mod tracks;

pub use tracks::{MAX_TRACKS, Track, short, tracks};

use super::Report;
use plotters::prelude::*;
use plotters::style::register_font;
use std::error::Error;

/// Size of the picture.
pub const SIZE: (u32, u32) = (1680, 1040);
/// The picture is drawn this many times larger and averaged, for smooth lines.
const FINE: u32 = 2;

/// An error while plotting.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The built-in font cannot be read.
    #[error("the plot's font cannot be read")]
    Font,
    /// The plot cannot be drawn.
    #[error("the plot cannot be drawn: {0}")]
    Draw(Box<dyn Error + Send + Sync>),
    /// The plot cannot be encoded.
    #[error("the plot cannot be encoded: {0}")]
    Png(#[from] png::EncodingError),
}

pub(crate) type Drawn = Result<(), Box<dyn Error + Send + Sync>>;

const REGULAR: &[u8] = include_bytes!("plot/DejaVuSans.ttf");
const BOLD: &[u8] = include_bytes!("plot/DejaVuSans-Bold.ttf");
/// The name under which the fonts are registered.
pub(crate) const FONT: &str = "grainfield";

/// Converts pixels of the finished picture to pixels of the drawing.
pub(crate) const fn px(n: i32) -> i32 {
    n * FINE as i32
}

/// Draws the report under a title.
///
/// # Errors
/// [`PlotError`] if it cannot be drawn.
pub fn png(report: &Report, title: &str) -> Result<Vec<u8>, PlotError> {
    canvas(SIZE, |root| panels::all(root, report, title))
}

/// Registers the fonts.
pub(crate) fn fonts() -> Result<(), PlotError> {
    register_font(FONT, FontStyle::Normal, REGULAR).map_err(|_| PlotError::Font)?;
    register_font(FONT, FontStyle::Bold, BOLD).map_err(|_| PlotError::Font)
}

/// Makes a PNG of the given size; `paint` draws with [`px`] times as many pixels.
pub(crate) fn canvas(
    size: (u32, u32),
    paint: impl FnOnce(&DrawingArea<BitMapBackend<'_>, plotters::coord::Shift>) -> Drawn,
) -> Result<Vec<u8>, PlotError> {
    fonts()?;
    let (width, height) = (size.0 * FINE, size.1 * FINE);
    let mut fine = vec![255; (width * height * 3) as usize];
    {
        let root = BitMapBackend::with_buffer(&mut fine, (width, height)).into_drawing_area();
        paint(&root).map_err(PlotError::Draw)?;
        root.present().map_err(|e| PlotError::Draw(Box::new(e)))?;
    }
    packed(size, &averaged(&fine, size))
}

/// Encodes RGB samples as a PNG.
pub(crate) fn packed(size: (u32, u32), rgb: &[u8]) -> Result<Vec<u8>, PlotError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size.0, size.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgb)?;
    writer.finish()?;
    Ok(bytes)
}

/// Means of blocks of `FINE` x `FINE` pixels.
fn averaged(fine: &[u8], size: (u32, u32)) -> Vec<u8> {
    let (n, row) = (FINE as usize, (size.0 * FINE * 3) as usize);
    let mut small = Vec::with_capacity((size.0 * size.1 * 3) as usize);
    for rows in fine.chunks_exact(row * n) {
        for x in 0..size.0 as usize {
            for c in 0..3 {
                let block = (0..n).flat_map(|dy| (0..n).map(move |dx| dy * row + (x * n + dx) * 3 + c));
                let sum: usize = block.map(|i| usize::from(rows[i])).sum();
                small.push((sum / (n * n)) as u8);
            }
        }
    }
    small
}

#[cfg(test)]
mod tests {
    use super::super::{Accumulator, Tools};
    use super::*;
    use grainfield_filters::frame::{Format, Frame};

    /// Every report, from an empty to a complete one, gives a PNG of the specified size.
    #[test]
    fn every_report_can_be_drawn() {
        for (name, w, h, frames) in [("gray", 1, 1, 0), ("gray", 2, 3, 1), ("yuva420p10", 70, 80, 3)] {
            let format = Format::from_name(name, w, h).unwrap();
            let tools = Tools::new(&format, None);
            let mut accumulator = Accumulator::new(&tools);
            for n in 0..frames {
                let mut frame = Frame::new(format);
                for p in 0..format.planes() {
                    frame
                        .row_bytes_mut(p, 0)
                        .iter_mut()
                        .enumerate()
                        .for_each(|(i, b)| *b = (i as i64 + n) as u8 & 3);
                }
                accumulator.add(n, tools.measure(&frame, None));
            }
            let bytes = png(&accumulator.report(), "a test").unwrap();
            let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
            let reader = decoder.read_info().unwrap();
            assert_eq!((reader.info().width, reader.info().height), SIZE, "{name}");
        }
    }
}
