//! Pixels for the page, and parts of frames.

use grainfield_filters::frame::{Format, Frame};

/// Pixels of four bytes: red, green, blue, 255.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rgba {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) bytes: Vec<u8>,
}

impl Rgba {
    pub(super) fn new(width: usize, height: usize) -> Rgba {
        Rgba { width, height, bytes: [0, 0, 0, 255].repeat(width * height) }
    }
}

/// Samples around a region that its conversion may use: chroma is interpolated from neighbours.
pub(super) const MARGIN: usize = 16;

/// The first sample of a part with its margin, and the number of samples.
pub(super) fn span(at: usize, size: usize, all: u32) -> (usize, usize) {
    let all = all as usize;
    let at = at.min(all - 1);
    // Multiples of 8 keep the places of chroma, fields and stripes.
    let from = at.saturating_sub(MARGIN) / 8 * 8;
    (from, (at + size.clamp(1, all - at) + MARGIN).next_multiple_of(8).min(all) - from)
}

/// The part of a frame that begins at a sample of every plane and has the size of `format`.
pub(super) fn cropped(frame: &Frame, format: Format, left: usize, top: usize) -> Frame {
    let mut part = Frame::new(format);
    for p in 0..format.planes() {
        let (sx, sy) = format.plane_subsampling(p);
        let bytes = format.depth.bytes();
        for row in 0..format.plane_size(p).1 {
            let from = &frame.plane(p).row_bytes((top >> sy) + row)[(left >> sx) * bytes..];
            let to = part.row_bytes_mut(p, row);
            to.copy_from_slice(&from[..to.len()]);
        }
    }
    part
}
