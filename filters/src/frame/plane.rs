//! Borrowed planes and pictures. Rows have their numbers in the whole picture, even if only a band of it is
//! borrowed.

use super::{Format, Parity};
use core::ops::Range;

/// A sample type: `u8`, `u16` or `f32`. Kernels rely on their sizes, so there are no others:
///
/// ```compile_fail,E0277
/// impl grainfield_filters::frame::Sample for u32 {}
/// ```
pub trait Sample: sealed::Sealed + bytemuck::Pod + PartialOrd + Send + Sync + 'static {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! samples {
    ($($t:ty)*) => {$(
        impl sealed::Sealed for $t {}
        impl Sample for $t {}
    )*};
}
samples!(u8 u16 f32);

/// A view of rows of a plane.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlaneRef<'a> {
    data: &'a [u8],
    stride: usize,
    row_bytes: usize,
    first: usize,
    count: usize,
    height: usize,
}

/// A mutable view of rows of a plane.
#[derive(Debug, Default)]
pub struct PlaneMut<'a> {
    data: &'a mut [u8],
    stride: usize,
    row_bytes: usize,
    first: usize,
    count: usize,
    height: usize,
}

fn check(len: usize, stride: usize, row_bytes: usize, count: usize) {
    assert!(stride >= row_bytes, "a stride of {stride} bytes is less than a row of {row_bytes}");
    let needed = if count == 0 { 0 } else { (count - 1) * stride + row_bytes };
    assert!(len >= needed, "a plane of {count} rows needs {needed} bytes, got {len}");
}

impl<'a> PlaneRef<'a> {
    /// A whole plane of `height` rows of `row_bytes` bytes, `stride` bytes apart. Panics if `data` is too short.
    pub fn new(data: &'a [u8], stride: usize, row_bytes: usize, height: usize) -> PlaneRef<'a> {
        check(data.len(), stride, row_bytes, height);
        PlaneRef { data, stride, row_bytes, first: 0, count: height, height }
    }

    /// The range of rows in this view, numbered as in the whole picture.
    pub fn rows(&self) -> Range<usize> {
        self.first..self.first + self.count
    }

    /// The height of the whole plane.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Row `y` (numbered as in the whole picture) as bytes.
    pub fn row_bytes(&self, y: usize) -> &'a [u8] {
        let start = (y - self.first) * self.stride;
        &self.data[start..start + self.row_bytes]
    }

    /// Row `y` as samples. Panics if `T` is not the plane's sample type (size or alignment) or `y` is outside the
    /// view.
    pub fn row<T: Sample>(&self, y: usize) -> &'a [T] {
        bytemuck::cast_slice(self.row_bytes(y))
    }

    /// All samples from the view's first row on, and the row stride in samples. Panics like
    /// [`row`](PlaneRef::row), and if the stride is not a whole number of samples.
    pub fn samples<T: Sample>(&self) -> (&'a [T], usize) {
        let size = size_of::<T>();
        assert!(self.stride.is_multiple_of(size), "a stride of {} bytes for samples of {size}", self.stride);
        let whole = self.data.len() / size * size;
        (bytemuck::cast_slice(&self.data[..whole]), self.stride / size)
    }

    /// The rows of one field, numbered as in the field.
    pub fn field(&self, parity: Parity) -> PlaneRef<'a> {
        let field = FieldRows::new(self.first, self.count, self.height, parity);
        let start = (field.skip * self.stride).min(self.data.len());
        let FieldRows { first, count, height, .. } = field;
        PlaneRef { data: &self.data[start..], stride: 2 * self.stride, first, count, height, ..*self }
    }
}

/// The rows of a field within rows of a frame.
struct FieldRows {
    /// Rows of the frame before the first of the field.
    skip: usize,
    first: usize,
    count: usize,
    height: usize,
}

impl FieldRows {
    fn new(first: usize, count: usize, height: usize, parity: Parity) -> FieldRows {
        let odd = (parity == Parity::Bottom) as usize;
        let skip = (first + odd) % 2;
        let count = (count + 1).saturating_sub(skip) / 2;
        FieldRows { skip, first: (first + skip) / 2, count, height: (height + 1 - odd) / 2 }
    }
}

impl<'a> PlaneMut<'a> {
    /// A whole plane of `height` rows of `row_bytes` bytes, `stride` bytes apart. Panics if `data` is too short.
    pub fn new(data: &'a mut [u8], stride: usize, row_bytes: usize, height: usize) -> PlaneMut<'a> {
        check(data.len(), stride, row_bytes, height);
        PlaneMut { data, stride, row_bytes, first: 0, count: height, height }
    }

    /// The rows `rows` of a plane of `height` rows, for intermediate results of a filter. Panics if `data` is too
    /// short.
    pub fn of_rows(
        data: &'a mut [u8],
        stride: usize,
        row_bytes: usize,
        rows: Range<usize>,
        height: usize,
    ) -> PlaneMut<'a> {
        check(data.len(), stride, row_bytes, rows.len());
        PlaneMut { data, stride, row_bytes, first: rows.start, count: rows.len(), height }
    }

    /// The range of rows in this view, numbered as in the whole picture.
    pub fn rows(&self) -> Range<usize> {
        self.first..self.first + self.count
    }

    /// The height of the whole plane.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Row `y` (numbered as in the whole picture) as bytes.
    pub fn row_bytes_mut(&mut self, y: usize) -> &mut [u8] {
        let start = (y - self.first) * self.stride;
        &mut self.data[start..start + self.row_bytes]
    }

    /// Row `y` as samples. Panics if `T` is not the plane's sample type or `y` is outside the view.
    pub fn row_mut<T: Sample>(&mut self, y: usize) -> &mut [T] {
        bytemuck::cast_slice_mut(self.row_bytes_mut(y))
    }

    /// An immutable view of the same rows.
    pub fn as_ref(&self) -> PlaneRef<'_> {
        PlaneRef {
            data: self.data,
            stride: self.stride,
            row_bytes: self.row_bytes,
            first: self.first,
            count: self.count,
            height: self.height,
        }
    }

    /// A shorter borrow of the same rows.
    pub fn reborrow(&mut self) -> PlaneMut<'_> {
        PlaneMut {
            data: self.data,
            stride: self.stride,
            row_bytes: self.row_bytes,
            first: self.first,
            count: self.count,
            height: self.height,
        }
    }

    /// Splits the view before row `y`.
    pub fn split_at_row(self, y: usize) -> (PlaneMut<'a>, PlaneMut<'a>) {
        let y = y.clamp(self.first, self.first + self.count);
        let above = y - self.first;
        let cut = (above * self.stride).min(self.data.len());
        let (a, b) = self.data.split_at_mut(cut);
        let (stride, row_bytes, height) = (self.stride, self.row_bytes, self.height);
        (
            PlaneMut { data: a, stride, row_bytes, first: self.first, count: above, height },
            PlaneMut { data: b, stride, row_bytes, first: y, count: self.count - above, height },
        )
    }

    /// The rows of one field, numbered as in the field.
    pub fn field(self, parity: Parity) -> PlaneMut<'a> {
        let FieldRows { skip, first, count, height } =
            FieldRows::new(self.first, self.count, self.height, parity);
        let start = (skip * self.stride).min(self.data.len());
        PlaneMut {
            data: &mut self.data[start..],
            stride: 2 * self.stride,
            row_bytes: self.row_bytes,
            first,
            count,
            height,
        }
    }
}

/// A view of a picture or of a band of its rows.
#[derive(Clone, Copy, Debug)]
pub struct FrameRef<'a> {
    /// The format.
    pub format: Format,
    planes: [PlaneRef<'a>; 4],
}

impl<'a> FrameRef<'a> {
    /// Makes a picture of its planes; those past `format.planes()` are ignored.
    pub fn new(format: Format, planes: [PlaneRef<'a>; 4]) -> FrameRef<'a> {
        FrameRef { format, planes }
    }

    /// Plane `p`.
    pub fn plane(&self, p: usize) -> PlaneRef<'a> {
        self.planes[p]
    }

    /// One field as a separate picture.
    pub fn field(&self, parity: Parity) -> FrameRef<'a> {
        FrameRef { format: self.format.field(parity), planes: self.planes.map(|p| p.field(parity)) }
    }
}

/// A mutable view of a picture or of a band of its rows.
#[derive(Debug)]
pub struct FrameMut<'a> {
    /// The format of the whole picture.
    pub format: Format,
    planes: [PlaneMut<'a>; 4],
}

impl<'a> FrameMut<'a> {
    /// Makes a picture of its planes; those past `format.planes()` are ignored.
    pub fn new(format: Format, planes: [PlaneMut<'a>; 4]) -> FrameMut<'a> {
        FrameMut { format, planes }
    }

    /// Plane `p`, mutable.
    pub fn plane_mut(&mut self, p: usize) -> &mut PlaneMut<'a> {
        &mut self.planes[p]
    }

    /// A view of plane `p`.
    pub fn plane(&self, p: usize) -> PlaneRef<'_> {
        self.planes[p].as_ref()
    }

    /// An immutable view of the same rows.
    pub fn as_ref(&self) -> FrameRef<'_> {
        FrameRef::new(self.format, self.planes.each_ref().map(PlaneMut::as_ref))
    }

    /// All planes, mutable.
    pub fn planes_mut(&mut self) -> &mut [PlaneMut<'a>; 4] {
        &mut self.planes
    }

    /// A shorter borrow of the same rows.
    pub fn reborrow(&mut self) -> FrameMut<'_> {
        let [a, b, c, d] = &mut self.planes;
        FrameMut { format: self.format, planes: [a.reborrow(), b.reborrow(), c.reborrow(), d.reborrow()] }
    }

    /// Splits the view before luma row `y`, which must be a multiple of the chroma block height.
    pub fn split_at_row(self, y: usize) -> (FrameMut<'a>, FrameMut<'a>) {
        let format = self.format;
        let mut p = 0;
        let pairs = self.planes.map(|plane| {
            let (_, sy) = format.plane_subsampling(p);
            p += 1;
            plane.split_at_row(y.div_ceil(1 << sy))
        });
        let [a, b, c, d] = pairs;
        (FrameMut { format, planes: [a.0, b.0, c.0, d.0] }, FrameMut { format, planes: [a.1, b.1, c.1, d.1] })
    }

    /// The rows of one field, as a separate picture or a part of one.
    pub fn field(self, parity: Parity) -> FrameMut<'a> {
        FrameMut { format: self.format.field(parity), planes: self.planes.map(|p| p.field(parity)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_bands_meet_every_row_once() {
        for height in 1..12usize {
            let mut data = vec![0u8; height * 5];
            for cut in (0..=height).step_by(2) {
                data.fill(0);
                let (a, b) = PlaneMut::new(&mut data, 5, 3, height).split_at_row(cut);
                for mut part in [a, b] {
                    for parity in [Parity::Top, Parity::Bottom] {
                        let odd = (parity == Parity::Bottom) as u8;
                        let mut field = part.reborrow().field(parity);
                        for y in field.rows() {
                            let row = 2 * y + usize::from(odd);
                            field.row_mut::<u8>(y).fill(row as u8 + 1);
                        }
                        let rows = field.rows();
                        let same = part.as_ref().field(parity);
                        assert_eq!(same.rows(), rows);
                        assert!(rows.into_iter().all(|y| same.row::<u8>(y) == [(2 * y) as u8 + 1 + odd; 3]));
                    }
                }
                for y in 0..height {
                    assert_eq!(&data[5 * y..5 * y + 3], &[y as u8 + 1; 3], "height {height} cut {cut}");
                }
            }
        }
    }
}
