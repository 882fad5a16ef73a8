//! Turns pictures upright and back to their stored orientation, by Exif's numbers.

use grainfield_filters::frame::{Depth, Format, Frame, Sample};
use grainfield_filters::ratio::Ratio;

/// A description of an orientation.
pub(super) fn name(orientation: u8) -> &'static str {
    match orientation {
        2 => "mirrored",
        3 => "turned by 180 degrees",
        4 => "upside down, mirrored",
        5 => "with rows and columns swapped",
        6 => "turned by 90 degrees anticlockwise",
        7 => "with rows and columns swapped, turned by 180 degrees",
        8 => "turned by 90 degrees clockwise",
        _ => "upright",
    }
}

/// The format of a stored picture after it is turned upright.
pub(super) fn upright_format(stored: &Format, orientation: u8) -> Format {
    if orientation < 5 {
        return *stored;
    }
    let aspect = stored.aspect.recip().unwrap_or(Ratio::ZERO);
    Format { width: stored.height, height: stored.width, aspect, ..*stored }
}

/// Turns a stored picture upright. Planes must have the same size.
pub(super) fn upright(stored: &Frame, orientation: u8) -> Frame {
    let format = stored.format();
    assert_eq!(format.subsampling, (0, 0), "pictures with an orientation are grey or R, G and B");
    let mut frame = Frame::new(upright_format(format, orientation));
    match format.depth {
        Depth::Bits(8) => turn::<u8>(stored, &mut frame, orientation),
        Depth::Bits(_) => turn::<u16>(stored, &mut frame, orientation),
        Depth::Float => turn::<f32>(stored, &mut frame, orientation),
    }
    frame
}

/// Turns an upright picture back to its stored orientation.
pub(super) fn stored(frame: &Frame, orientation: u8) -> Frame {
    // a quarter turn is the inverse of the other one, all others are their own inverse
    upright(
        frame,
        match orientation {
            6 => 8,
            8 => 6,
            other => other,
        },
    )
}

fn turn<T: Sample>(from: &Frame, to: &mut Frame, orientation: u8) {
    let (w, h) = (from.format().width as usize, from.format().height as usize);
    for p in 0..from.format().planes() {
        for y in 0..to.format().height as usize {
            for (x, out) in to.row_mut::<T>(p, y).iter_mut().enumerate() {
                let (x, y) = match orientation {
                    2 => (w - 1 - x, y),
                    3 => (w - 1 - x, h - 1 - y),
                    4 => (x, h - 1 - y),
                    5 => (y, x),
                    6 => (y, h - 1 - x),
                    7 => (w - 1 - y, h - 1 - x),
                    8 => (w - 1 - y, x),
                    _ => (x, y),
                };
                *out = from.row::<T>(p, y)[x];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exif 2.3, table of tag 274: the visible positions of the stored first row and first column.
    #[test]
    fn the_first_row_and_column_follow_exif() {
        let mut from = Frame::new(Format::from_name("gray", 3, 2).unwrap());
        for y in 0..2 {
            from.row_mut::<u8>(0, y).copy_from_slice(&[[1, 2, 3], [4, 5, 6]][y]);
        }
        let seen = |o| {
            let frame = upright(&from, o);
            assert!(stored(&frame, o) == from, "{o} there and back");
            (0..frame.format().height as usize).map(|y| frame.row::<u8>(0, y).to_vec()).collect::<Vec<_>>()
        };
        assert_eq!(seen(1), [[1, 2, 3], [4, 5, 6]]);
        assert_eq!(seen(2), [[3, 2, 1], [6, 5, 4]]); // top, right
        assert_eq!(seen(3), [[6, 5, 4], [3, 2, 1]]); // bottom, right
        assert_eq!(seen(4), [[4, 5, 6], [1, 2, 3]]); // bottom, left
        assert_eq!(seen(5), [[1, 4], [2, 5], [3, 6]]); // left, top
        assert_eq!(seen(6), [[4, 1], [5, 2], [6, 3]]); // right, top
        assert_eq!(seen(7), [[6, 3], [5, 2], [4, 1]]); // right, bottom
        assert_eq!(seen(8), [[3, 6], [2, 5], [1, 4]]); // left, bottom
    }
}
