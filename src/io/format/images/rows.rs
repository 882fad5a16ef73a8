//! Converts between planes and rows of interleaved samples.

use grainfield_filters::frame::{Depth, Family, Format, Frame, Sample};

/// The planes in the order of interleaved samples in files: `R G B A` or `Y A`.
pub(super) fn order(format: &Format) -> &'static [usize] {
    match (format.family, format.has_alpha()) {
        (Family::Gray, false) => &[0],
        (Family::Gray, true) => &[0, 1],
        (_, false) => &[2, 0, 1],
        (_, true) => &[2, 0, 1, 3],
    }
}

/// Distributes row `y` to the planes; `get` converts `B` bytes to a sample.
fn unpack<T: Sample, const B: usize>(
    frame: &mut Frame,
    y: usize,
    row: &[u8],
    get: impl Fn([u8; B]) -> T + Copy,
) {
    let order = order(frame.format());
    let (row, _) = row.as_chunks::<B>();
    let mut frame = frame.as_mut();
    let mut planes = frame.planes_mut().each_mut().into_iter();
    let mut next =
        || planes.next().filter(|p| p.rows().contains(&y)).map_or(&mut [][..], |p| p.row_mut::<T>(y));
    let (p0, p1, p2, p3) = (next(), next(), next(), next());
    match order.len() {
        1 => p0.iter_mut().zip(row).for_each(|(l, s)| *l = get(*s)),
        2 => p0.iter_mut().zip(p1).zip(row.as_chunks().0).for_each(|((l, a), s): (_, &[[u8; B]; 2])| {
            (*l, *a) = (get(s[0]), get(s[1]));
        }),
        3 => p0.iter_mut().zip(p1).zip(p2).zip(row.as_chunks().0).for_each(
            |(((g, b), r), s): (_, &[[u8; B]; 3])| {
                (*r, *g, *b) = (get(s[0]), get(s[1]), get(s[2]));
            },
        ),
        _ => p0.iter_mut().zip(p1).zip(p2).zip(p3).zip(row.as_chunks().0).for_each(
            |((((g, b), r), a), s): (_, &[[u8; B]; 4])| {
                (*r, *g, *b, *a) = (get(s[0]), get(s[1]), get(s[2]), get(s[3]));
            },
        ),
    }
}

/// Interleaves row `y` of the planes; `put` converts a sample to `B` bytes. `out` has the length of the row.
fn pack<T: Sample, const B: usize>(
    frame: &Frame,
    y: usize,
    out: &mut [u8],
    put: impl Fn(T) -> [u8; B] + Copy,
) {
    let (out, _) = out.as_chunks_mut::<B>();
    let row = |p: usize| frame.row::<T>(p, y).iter();
    match order(frame.format()).len() {
        1 => out.iter_mut().zip(row(0)).for_each(|(o, l)| *o = put(*l)),
        2 => out.as_chunks_mut().0.iter_mut().zip(row(0)).zip(row(1)).for_each(|((o, l), a)| {
            *o = [put(*l), put(*a)];
        }),
        3 => out.as_chunks_mut().0.iter_mut().zip(row(0)).zip(row(1)).zip(row(2)).for_each(
            |(((o, g), b), r)| {
                *o = [put(*r), put(*g), put(*b)];
            },
        ),
        _ => out.as_chunks_mut().0.iter_mut().zip(row(0)).zip(row(1)).zip(row(2)).zip(row(3)).for_each(
            |((((o, g), b), r), a)| {
                *o = [put(*r), put(*g), put(*b), put(*a)];
            },
        ),
    }
}

/// Distributes row `y` to the planes; words of 16 bits are big-endian or little-endian.
pub(in crate::format) fn unpack_row(frame: &mut Frame, y: usize, row: &[u8], big: bool) {
    match frame.format().depth {
        Depth::Bits(8) => unpack::<u8, 1>(frame, y, row, |[b]| b),
        Depth::Bits(_) if big => unpack::<u16, 2>(frame, y, row, u16::from_be_bytes),
        Depth::Bits(_) => unpack::<u16, 2>(frame, y, row, u16::from_le_bytes),
        Depth::Float => unpack::<f32, 4>(frame, y, row, f32::from_ne_bytes),
    }
}

/// Interleaves row `y` of the planes; words of 16 bits are big-endian or little-endian.
pub(super) fn pack_row(frame: &Frame, y: usize, out: &mut [u8], big: bool) {
    match frame.format().depth {
        Depth::Bits(8) => pack::<u8, 1>(frame, y, out, |b| [b]),
        Depth::Bits(_) if big => pack::<u16, 2>(frame, y, out, u16::to_be_bytes),
        Depth::Bits(_) => pack::<u16, 2>(frame, y, out, u16::to_le_bytes),
        Depth::Float => pack::<f32, 4>(frame, y, out, f32::to_ne_bytes),
    }
}

/// All rows, interleaved.
pub(super) fn interleaved(frame: &Frame, big: bool) -> Vec<u8> {
    let format = frame.format();
    let line = format.width as usize * order(format).len() * format.depth.bytes();
    let mut data = vec![0; line * format.height as usize];
    data.chunks_exact_mut(line).enumerate().for_each(|(y, row)| pack_row(frame, y, row, big));
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for name in ["gray16", "ya16", "gbrp16", "gbrap16"] {
            let format = Format::from_name(name, 5, 2).unwrap();
            let n = order(&format).len();
            let mut frame = Frame::new(format);
            let row: Vec<u8> = (0..10 * n as u8).map(|i| i.wrapping_mul(37)).collect();
            unpack::<u16, 2>(&mut frame, 1, &row, u16::from_be_bytes);
            if n >= 3 {
                assert_eq!(frame.row::<u16>(2, 1)[0], u16::from_be_bytes([row[0], row[1]]), "red is plane 2");
                assert_eq!(
                    frame.row::<u16>(0, 1)[0],
                    u16::from_be_bytes([row[2], row[3]]),
                    "green is plane 0"
                );
            }
            let mut back = vec![0; row.len()];
            pack::<u16, 2>(&frame, 1, &mut back, u16::to_be_bytes);
            assert_eq!(back, row, "{name}");
        }
    }
}
