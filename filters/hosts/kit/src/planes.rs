//! Planes of a host, given by address.
#![allow(unsafe_code)] // hosts pass addresses, widths and strides

use super::HostError;
use grainfield_filters::frame::{Format, FrameMut, FrameRef, PlaneMut, PlaneRef};

/// The start of a plane of a host, and its stride in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Address<P> {
    /// The first sample.
    pub start: P,
    /// Bytes from row to row.
    pub stride: isize,
}

/// The size in bytes of a plane of this format, if rows go downwards and are aligned to samples.
fn length(
    format: &Format,
    p: usize,
    start: usize,
    stride: isize,
) -> Result<(usize, usize, usize, usize), HostError> {
    let (width, height) = format.plane_size(p);
    let size = format.depth.bytes();
    let row = width * size;
    let stride = usize::try_from(stride).ok().filter(|s| *s >= row && s.is_multiple_of(size));
    let stride =
        stride.ok_or_else(|| HostError(format!("plane {p}: rows must lie at least {row} bytes apart")))?;
    if start == 0 || !start.is_multiple_of(size) {
        return Err(HostError(format!("plane {p} does not begin on a whole sample of {size} bytes")));
    }
    Ok(((height - 1) * stride + row, stride, row, height))
}

/// A picture for reading.
///
/// # Safety
///
/// Each address must be that of all rows of the format's plane, which must live and not be written for `'a`.
///
/// # Errors
/// The rows of a plane overlap, or it does not begin on a whole sample.
pub unsafe fn read<'a>(format: Format, planes: &[Address<*const u8>]) -> Result<FrameRef<'a>, HostError> {
    let mut all = [PlaneRef::default(); 4];
    for (p, (to, from)) in all.iter_mut().zip(planes).enumerate().take(format.planes()) {
        let (bytes, stride, row, height) = length(&format, p, from.start.addr(), from.stride)?;
        // SAFETY: guaranteed by the caller; not null after `length`.
        let data = unsafe { core::slice::from_raw_parts(from.start, bytes) };
        *to = PlaneRef::new(data, stride, row, height);
    }
    Ok(FrameRef::new(format, all))
}

/// A picture for writing.
///
/// # Safety
///
/// As [`read`], and nobody else may read or write the rows, nor may two planes overlap.
///
/// # Errors
/// As [`read`].
pub unsafe fn write<'a>(format: Format, planes: &[Address<*mut u8>]) -> Result<FrameMut<'a>, HostError> {
    let mut all: [PlaneMut<'a>; 4] = Default::default();
    for (p, (to, from)) in all.iter_mut().zip(planes).enumerate().take(format.planes()) {
        let (bytes, stride, row, height) = length(&format, p, from.start.addr(), from.stride)?;
        // SAFETY: guaranteed by the caller; not null after `length`.
        let data = unsafe { core::slice::from_raw_parts_mut(from.start, bytes) };
        *to = PlaneMut::new(data, stride, row, height);
    }
    Ok(FrameMut::new(format, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_and_odd_addresses_refused() {
        let format = Format::from_name("yuv420p10", 6, 4).unwrap();
        let data: Vec<u16> = (0..64).collect();
        let at = |start: usize, stride| Address { start: data[start..].as_ptr().cast::<u8>(), stride };
        let planes = [at(0, 16), at(32, 8), at(48, 8)];
        // SAFETY: each plane is inside `data`.
        let frame = unsafe { read(format, &planes) }.unwrap();
        assert_eq!(frame.plane(0).row::<u16>(3), &data[24..30]);
        assert_eq!(frame.plane(2).row::<u16>(1), &data[52..55]);
        for stride in [-16, 10, 13] {
            let bad = [Address { stride, ..planes[0] }, planes[1], planes[2]];
            // SAFETY: rejected before anything is read.
            assert!(unsafe { read(format, &bad) }.is_err(), "{stride}");
        }
        let odd = [Address { start: planes[0].start.wrapping_add(1), stride: 16 }, planes[1], planes[2]];
        // SAFETY: as above.
        assert!(unsafe { read(format, &odd) }.is_err());
    }
}
