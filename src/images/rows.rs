//! Between planes and rows of interleaved samples.

use grainfield_filters::frame::{Family, Format, Frame, Sample};

/// The planes in the order in which files interleave them: `R G B A` or `Y A`.
pub(super) fn order(format: &Format) -> &'static [usize] {
    match (format.family, format.has_alpha()) {
        (Family::Gray, false) => &[0],
        (Family::Gray, true) => &[0, 1],
        (_, false) => &[2, 0, 1],
        (_, true) => &[2, 0, 1, 3],
    }
}

/// Spreads row `y` over the planes; `get` makes a sample of its `B` bytes.
pub(super) fn unpack<T: Sample, const B: usize>(
    frame: &mut Frame,
    y: usize,
    row: &[u8],
    get: impl Fn([u8; B]) -> T + Copy,
) {
    let order = order(frame.format());
    let (row, _) = row.as_chunks::<B>();
    for (c, &p) in order.iter().enumerate() {
        let out = frame.row_mut::<T>(p, y);
        match order.len() {
            1 => out.iter_mut().zip(row).for_each(|(o, s)| *o = get(*s)),
            2 => out.iter_mut().zip(row.as_chunks::<2>().0).for_each(|(o, s)| *o = get(s[c])),
            3 => out.iter_mut().zip(row.as_chunks::<3>().0).for_each(|(o, s)| *o = get(s[c])),
            _ => out.iter_mut().zip(row.as_chunks::<4>().0).for_each(|(o, s)| *o = get(s[c])),
        }
    }
}

/// Gathers row `y` of the planes; `put` makes the `B` bytes of a sample. `out` is as long as the row.
pub(super) fn pack<T: Sample, const B: usize>(
    frame: &Frame,
    y: usize,
    out: &mut [u8],
    put: impl Fn(T) -> [u8; B] + Copy,
) {
    let order = order(frame.format());
    let (out, _) = out.as_chunks_mut::<B>();
    for (c, &p) in order.iter().enumerate() {
        let row = frame.row::<T>(p, y);
        match order.len() {
            1 => out.iter_mut().zip(row).for_each(|(o, s)| *o = put(*s)),
            2 => out.as_chunks_mut::<2>().0.iter_mut().zip(row).for_each(|(o, s)| o[c] = put(*s)),
            3 => out.as_chunks_mut::<3>().0.iter_mut().zip(row).for_each(|(o, s)| o[c] = put(*s)),
            _ => out.as_chunks_mut::<4>().0.iter_mut().zip(row).for_each(|(o, s)| o[c] = put(*s)),
        }
    }
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
