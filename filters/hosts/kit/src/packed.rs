//! Pictures with interleaved channels, the usual layout of images.

use grainfield_filters::frame::{Alpha, ColorRange, Depth, Family, Format, Frame, Sample};
use grainfield_filters::frame::{Matrix, Primaries, Transfer};

/// The planes for channels in the order R G B A, or grey and alpha; `None` for other counts.
pub fn planes(channels: usize) -> Option<&'static [usize]> {
    Some(match channels {
        1 => &[0],
        2 => &[0, 1],
        3 => &[2, 0, 1],
        4 => &[2, 0, 1, 3],
        _ => return None,
    })
}

/// The format of such a picture, as for an image file: straight alpha, full range, sRGB.
pub fn format(width: u32, height: u32, channels: usize, depth: Depth) -> Format {
    let grey = channels < 3;
    let family = if grey { Family::Gray } else { Family::Rgb };
    Format {
        alpha: if channels.is_multiple_of(2) { Alpha::Straight } else { Alpha::None },
        range: ColorRange::Full,
        matrix: if grey { Matrix::UNSPECIFIED } else { Matrix::RGB },
        primaries: Primaries::BT709,
        transfer: Transfer::SRGB,
        ..Format::new(width, height, family, depth, (0, 0))
    }
}

/// Separates the channels of row `y`. `order` has the plane of each.
fn unpack_row<T: Sample>(packed: &[T], order: &[usize], y: usize, frame: &mut Frame) {
    for (channel, &p) in order.iter().enumerate() {
        let row = frame.row_mut::<T>(p, y);
        for (to, from) in row.iter_mut().zip(packed[channel..].iter().step_by(order.len())) {
            *to = *from;
        }
    }
}

/// Separates channels: rows of `frame`'s width without gaps. `order` has the plane of each channel. Panics if the frame
/// has another sample type or size.
pub fn unpack<T: Sample>(packed: &[T], order: &[usize], frame: &mut Frame) {
    let width = frame.format().width as usize * order.len();
    packed.chunks_exact(width).enumerate().for_each(|(y, row)| unpack_row(row, order, y, frame));
}

/// Interleaves channels.
pub fn pack<T: Sample>(frame: &Frame, order: &[usize], packed: &mut [T]) {
    let width = frame.format().width as usize * order.len();
    for (y, to) in packed.chunks_exact_mut(width).enumerate() {
        for (channel, &p) in order.iter().enumerate() {
            for (to, from) in to[channel..].iter_mut().step_by(order.len()).zip(frame.row::<T>(p, y)) {
                *to = *from;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_come_apart_and_together() {
        for channels in 1..=4 {
            let order = planes(channels).unwrap();
            let mut frame = Frame::new(format(3, 2, channels, Depth::Bits(16)));
            let packed: Vec<u16> = (0..3 * 2 * channels as u16).collect();
            unpack(&packed, order, &mut frame);
            let mut again = vec![0; packed.len()];
            pack(&frame, order, &mut again);
            assert_eq!(again, packed);
            if channels == 4 {
                // G of the second pixel of the second row.
                assert_eq!(frame.row::<u16>(0, 1)[1], 17);
                assert_eq!(frame.row::<u16>(3, 0), [3, 7, 11]);
            }
        }
        assert!(planes(0).is_none() && planes(5).is_none());
    }
}
