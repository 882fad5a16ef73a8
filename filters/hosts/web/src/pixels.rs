//! Pictures as a canvas has them: R, G, B and A of each pixel, 8 bits.

use grainfield_filters::frame::{Format, Frame};

/// The number of pixels.
pub(super) fn count(format: &Format) -> usize {
    format.width as usize * format.height as usize
}

/// Separates the channels; alpha is ignored if the frame has none. `rgba` has at least all of its pixels.
pub(super) fn unpack(rgba: &[u8], frame: &mut Frame) {
    let (width, planes) = (frame.format().width as usize, frame.format().planes());
    for (y, from) in rgba.chunks_exact(4 * width).enumerate().take(frame.format().height as usize) {
        // Planes are G, B, R and A.
        for (p, channel) in [1, 2, 0, 3].into_iter().enumerate().take(planes) {
            let row = frame.row_mut::<u8>(p, y);
            row.iter_mut().zip(from.as_chunks::<4>().0).for_each(|(to, pixel)| *to = pixel[channel]);
        }
    }
}

/// Interleaves the channels; alpha is full if the frame has none.
pub(super) fn pack(frame: &Frame, rgba: &mut [u8]) {
    let (width, planes) = (frame.format().width as usize, frame.format().planes());
    for (y, to) in rgba.chunks_exact_mut(4 * width).enumerate().take(frame.format().height as usize) {
        let [g, b, r] = [0, 1, 2].map(|p| frame.row::<u8>(p, y));
        for (x, to) in to.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            *to = [r[x], g[x], b[x], 255];
        }
        if planes == 4 {
            let a = frame.row::<u8>(3, y);
            to.as_chunks_mut::<4>().0.iter_mut().zip(a).for_each(|(to, a)| to[3] = *a);
        }
    }
}
